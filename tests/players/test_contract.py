"""The contract of players, tried on every player of the package; choices, ties, seeds, words."""

import importlib
import inspect
import pkgutil
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from afterply import arena, games, opponents, players
from afterply.kernel.random import new_rng, pick_best
from afterply.networks import ntuple
from afterply.networks.ntuple import Network
from afterply.networks.table import QTable
from afterply.opponents import gtp, optional, perfect, words
from afterply.opponents.words import named, word_for
from afterply.players import agents, positional
from afterply.studies.papers.mandziuk2004 import linear_search
from afterply.studies.papers.mandziuk2004.linear import Linear

TICTACTOE, OTHELLO, NIM = games.load("tictactoe"), games.load("othello"), games.load("nim")
GIVEAWAY = games.load("giveaway")


def a_table():
    """A table with different values for some moves of the start."""
    net = QTable(TICTACTOE)
    for action in range(6):
        net.put(TICTACTOE.start(), action, action / 5)
    return net


def a_linear_player():
    weights = linear_search.random_weights(1, "contract")[0]
    return linear_search.Player(Linear(GIVEAWAY, weights=weights))


def first(state):
    return int(TICTACTOE.legal(state)[0])


CASES = {  # name -> (how to make it, its game, whether it can play another one)
    "random": (players.Random, TICTACTOE, True),
    "greedy": (lambda: players.Greedy(Network(TICTACTOE, [range(9)])), TICTACTOE, False),
    "function": (lambda: players.Function(first), TICTACTOE, None),
    "Max-N": (lambda: players.MaxN(3), TICTACTOE, True),
    "Min-Max": (lambda: players.MinMax(3, ties="random"), TICTACTOE, True),
    "MCTS": (lambda: players.MCTS(40), TICTACTOE, True),
    "wrapped": (lambda: players.Wrapped(a_table(), 40), TICTACTOE, False),
    "linear": (a_linear_player, GIVEAWAY, False),
    "random agent": (lambda: agents.chance(TICTACTOE), TICTACTOE, False),
    "greedy agent": (lambda: agents.learned(a_table(), epsilon=0.1), TICTACTOE, False),
    "softmax agent": (lambda: agents.learned(a_table(), temperature=0.5), TICTACTOE, False),
    "Min-Max agent": (lambda: agents.min_max(TICTACTOE, "random"), TICTACTOE, False),
    "careless": (lambda: players.Careless(players.MaxN(3), 0.5), TICTACTOE, True),
    "ladder": (lambda: words.at_strength(TICTACTOE, 300), TICTACTOE, False),
    "saved": (lambda: players.zoo("tictactoe"), TICTACTOE, False),
    "Bench": (positional.Bench, OTHELLO, False),
    "AB": (partial(perfect.Perfect, "AB"), games.load("connect4"), False),
    "Rhino": (gtp.Rhino, OTHELLO, False),
}
ENGINES = {"AB": "bitbully", "Rhino": "gtp-rhino"}
ELSEWHERE = {"Edax", "Player", "Seated", "BestValue"}  # Edax is a program that may be absent
ELSEWHERE |= {"PlayerFile"}  # whose files are in arena/test_league.py


def needs(name):
    lack = optional.lacks(ENGINES[name]) if name in ENGINES else ""
    marks = [pytest.mark.engine, pytest.mark.skipif(bool(lack), reason=lack or "here")]
    return pytest.param(*CASES[name], marks=marks if name in ENGINES else (), id=name)


every_player = pytest.mark.parametrize("make, game, any_game", list(map(needs, CASES)))


def test_every_class_of_players_is_tried_here():
    found = set()
    for folder in (players, opponents):
        for info in pkgutil.iter_modules(folder.__path__):
            module = importlib.import_module(f"{folder.__name__}.{info.name}")
            for name, thing in vars(module).items():
                if inspect.isclass(thing) and hasattr(thing, "new_match"):
                    found.add(name)
    assert found == {type(make()).__name__ for make, *_ in CASES.values()} | ELSEWHERE


@every_player
def test_it_keeps_the_contract(make, game, any_game):
    player, state = make(), game.start()
    assert players.wrap(player) is player and isinstance(player.name, str)
    for seats in ([player, players.Random()], [players.Random(), player], [player, player]):
        one = arena.match(game, seats, seed=1)
        arena.match(game, seats, seed=2)  # whatever was played before
        assert arena.match(game, seats, seed=1).moves == one.moves
        assert game.over(game.after(one.moves))
    player.new_match(game, [], 0, 5)
    before = state.copy()
    action = player.choose(state)
    assert action in game.legal(state)
    if hasattr(player, "values"):
        values = player.values(state)
        assert values.shape == (len(game.legal(state)),) and values.dtype == np.float64
    getattr(player, "observe", lambda *_: None)(action, game.play(state, action))
    assert np.array_equal(state, before)
    seen = one.moves if isinstance(player, gtp.Player) else []  # it knows a position by its moves
    player.new_match(game, seen, 0, 5)
    with pytest.raises(ValueError, match="the game is over, there is nothing to search"):
        player.choose(game.after(one.moves))
    getattr(player, "close", lambda: None)()
    if any_game:
        player.new_match(NIM, [], 0, 1)
        assert player.choose(NIM.start()) in NIM.legal(NIM.start())
    elif any_game is False:
        with pytest.raises(ValueError, match="nim"):
            player.new_match(NIM, [], 0, 1)


@every_player
def test_it_is_asked_like_a_function_and_no_match_is_disturbed(make, game, any_game):
    player, s = make(), game.start()
    if isinstance(player, players.Player) and not hasattr(player, "needs"):
        agent = player.playing(game)
        after = game.play(s, agent(s))
        both = agent(np.array([s, after]))
        assert both.dtype == np.int64 and both.tolist() == [agent(s), agent(after)]
        assert both[1] in game.legal(after)
        plain = arena.match(game, [player, players.Random()], seed=1).moves

        def nosy(state):
            agent(state)
            return rival.choose(state)

        rival = players.Random()
        rival.new_match(game, [], 1, 5)
        one = arena.match(game, [agent, nosy], seed=1).moves
        rival.new_match(game, [], 1, 5)
        assert arena.match(game, [agent, rival.choose], seed=1).moves == one
        assert arena.match(game, [player, players.Random()], seed=1).moves == plain


def test_who_is_asked_must_know_the_game_and_the_game_must_go_on():
    for player in (players.Random(), players.MCTS(5), players.Function(first)):
        with pytest.raises(ValueError, match=f"{player.name} does not know its game"):
            player(TICTACTOE.start())
    agent = players.zoo("nim")
    with pytest.raises(ValueError, match="the game is over"):
        agent(NIM.parse("0 0 0 : 1"))
    with pytest.raises(ValueError, match="plays connect4|needs|vector"):
        agent([1, 2])
    random = players.Random().playing(NIM)
    assert len({random(NIM.start(), seed) for seed in range(30)}) > 5


def choices(player, s, n=300):
    found = []
    for seed in range(n):
        player.new_match(TICTACTOE, [], TICTACTOE.player(s), seed)
        found.append(player.choose(s))
    return found


def test_random_is_uniform_and_follows_its_seed():
    s = TICTACTOE.parse("x o x . . . o . .")
    found = choices(players.Random(), s, 1000)
    assert found == choices(players.Random(), s, 1000)
    share = np.unique_counts(found)
    assert share.values.tolist() == [3, 4, 5, 7, 8] and abs(share.counts - 200).max() < 60


def test_pick_best_breaks_exact_ties_only():
    values = np.array([0.5, 1.0, 1.0 - 1e-15, 1.0, -np.inf])
    rng = new_rng(4)
    picked = [pick_best(values, rng) for _ in range(400)]
    assert set(picked) == {1, 3} and 150 < picked.count(1) < 250
    before = rng.copy()
    # nothing to decide, nothing drawn
    assert pick_best(np.array([-2.0, -1.0]), rng) == 1 and rng[0] == before[0]


def test_greedy_maximises_reward_plus_value():
    net = ntuple.Network(TICTACTOE, [range(9)])
    player = players.Greedy(net)
    # V = 0 everywhere: the reward of the win decides
    assert choices(player, TICTACTOE.parse("x x . o o . . . ."), 20) == [2] * 20
    s = TICTACTOE.start()
    assert set(choices(player, s)) == set(range(9))  # all equal: at random
    net.weights[:] = np.random.default_rng(1).normal(size=net.weights.shape)
    values = player.values(s)
    assert set(choices(player, s, 50)) <= set(np.flatnonzero(values > values.max() - 1e-9).tolist())


def test_wrap_and_duplicate():
    made = players.wrap(first)
    assert made.name == "first" and made.choose(TICTACTOE.start()) == 0
    net = ntuple.Network(games.load("nim"), [range(3)])
    one = players.wrap(net)
    assert isinstance(one, players.Greedy)
    assert players.duplicate(one) is not one and players.duplicate(one).net is net
    # only a session is taken by its network
    for carrier in (SimpleNamespace(net=net), SimpleNamespace(net=net, train=3)):
        with pytest.raises(TypeError, match="carries a network: give that"):
            players.wrap(carrier)
    assert players.wrap(SimpleNamespace(net=net, train=lambda num_episodes: None)).net is net


def test_words_name_players_and_wrong_ones_are_errors():
    for word, name in (("mcts:20", "MCTS-20"), ("zoo:5", "zoo tictactoe, 5 iterations")):
        assert named(TICTACTOE, word).name == name
    wrong = {"mcts:x": "'x' in 'mcts:x' is no whole number", "random:3": "names no player"}
    wrong |= {"elo": "names no player", "zoo:5:5": "names no player", "zoo:²": "no whole number"}
    for word, said in wrong.items():
        with pytest.raises(ValueError, match=said):
            named(TICTACTOE, word)


NAMES = ["mine.npz", "run 10:30.npz", "mcts:5.npz", "-x.npz", "mine", "random", "mcts:5", "5:5"]
NAMES += ["zoo", "x.npz:20", "{a} $HOME;'.npz", "deep/mine.npz", "deep/zoo:3", "x.npz.part"]


@pytest.mark.parametrize("name", NAMES)
def test_every_name_of_a_file_has_a_word_that_finds_it(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    Path("deep").mkdir()
    players.zoo("tictactoe").save(name)
    checksum = players.zoo("tictactoe").net.checksum()
    for place in (name, tmp_path / name):
        word = word_for(place)
        assert named(TICTACTOE, word).net.checksum() == checksum
        alone = named(TICTACTOE, word).name
        assert named(TICTACTOE, f"{word}:7").name == f"{alone}, 7 iterations"
        assert not word.startswith("-")  # else a command takes it for an option


def test_a_word_that_could_be_two_files_or_misses_its_end_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    players.zoo("tictactoe").save("mine.npz")
    for word, said in (
        ("mine", "there is no file mine, but mine.npz: write that"),
        ("mine:20", "there is no file mine, but mine.npz"),
        ("yours.npz:20", "there is no file yours.npz"),
        (".", "'.' names no player"),
    ):
        with pytest.raises(ValueError, match=said):
            named(TICTACTOE, word)
    players.zoo("tictactoe").save("mine.npz:20")
    with pytest.raises(ValueError, match="'mine.npz:20' is a file, and 'mine.npz' .*rename one"):
        named(TICTACTOE, "mine.npz:20")
