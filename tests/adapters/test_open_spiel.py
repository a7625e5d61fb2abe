"""OpenSpiel: its small games as ours, ours as its own, its bots as our players."""

import pickle
from types import SimpleNamespace

import cloudpickle
import numpy as np
import pyspiel
import pytest
from open_spiel.python.algorithms import minimax

from afterstate import arena, games, players
from afterstate.adapters import open_spiel
from afterstate.games import conformance
from afterstate.learners import td
from sample_games import dice, take_game

NIM = games.load("nim", heaps=2, stones=2)
CONNECT4 = games.load("connect4")


@pytest.fixture(scope="module")
def theirs():
    return open_spiel.from_spiel("tic_tac_toe")


@pytest.mark.slow
def test_a_game_of_theirs_conforms_and_has_all_its_states(theirs):
    conformance.check(theirs)
    assert theirs.num_codes.tolist() == [3] * 9 and theirs.players == 2
    with pytest.raises(ValueError, match="numbered from 0 to 5477"):
        theirs.over([5478])
    s = theirs.after([4, 0])
    assert theirs.render(s) == "o..\n.x.\n..." and theirs.parse(theirs.render(s)) == s
    assert theirs.action_name(s, 8) == "x(2,2)"
    with pytest.raises(ValueError, match="no states of tic_tac_toe are written 'x'"):
        theirs.parse("x")


@pytest.mark.slow
def test_it_is_the_game_that_we_have_ourselves(theirs):
    ours, random = games.load("tictactoe"), np.random.default_rng(1)
    for _ in range(30):
        s, t = ours.start(), theirs.start()
        while not ours.over(s):
            assert sorted(ours.legal(s)) == sorted(theirs.legal(t)) and not theirs.over(t)
            action = random.choice(ours.legal(s))
            assert ours.player(s) == theirs.player(t)
            s, t = ours.play(s, action), theirs.play(t, action)
        assert theirs.over(t) and np.array_equal(ours.score(s), theirs.score(t))


@pytest.mark.slow
def test_learners_searches_and_other_processes_take_it(theirs):
    session = td.Session(theirs, {"tuples": [[0, 1, 2]]}, seed=1)
    session.train(20)
    assert session.moves > 100
    hexes, nim = (open_spiel.from_spiel(n) for n in ("hex(board_size=2)", "nim(pile_sizes=1;2)"))
    assert len(hexes.num_codes) == 4 and hexes.num_codes.min() > 2  # an observation in planes
    boards = {tuple(nim.board(s)) for s in (nim.start(), nim.after([0]), nim.after([1]))}
    assert len(boards) == 3
    again = pickle.loads(cloudpickle.dumps(theirs))
    assert again.identity == theirs.identity and open_spiel.twin(again).name == "tic_tac_toe"
    nim = open_spiel.from_spiel("nim(pile_sizes=1;2;3,is_misere=False)")  # the nim sum is 0: lost
    assert arena.match(nim, [players.Random(), players.MaxN(9)], seed=1).scores[1] == 1.0


@pytest.mark.slow
def test_tables_too_large_for_machine_code_are_played_too():
    """A walk along 300,000 states; numba keeps the address of such arrays, not the arrays."""
    n = 300_000
    steps = np.arange(n, dtype=np.int32)
    ends = (steps == n - 1).astype(np.int8)
    walk = open_spiel.Table(
        first=np.append(steps, n - 1).astype(np.int32),
        moves=np.zeros(n - 1, np.int32),
        targets=steps[1:].copy(),
        players=np.zeros(n, np.int32),
        ends=ends,
        scores=np.where(ends[:, None] == 1, [1.0, -1.0], 0.0),
        codes=(steps % 7)[:, None].astype(np.int32),
        texts=["walk"] * n,
        names={},
    )
    game = open_spiel.game_of(walk, pyspiel.load_game("tic_tac_toe"))
    for s in ([0], [123_456], [n - 2]):
        assert game.play(s, 0) == s[0] + 1 and game.board(s) == s[0] % 7
    assert game.over([n - 1]) and game.score([n - 1]).tolist() == [1.0, -1.0]
    with pytest.raises(ValueError, match="300000 states of tic_tac_toe are written 'walk'"):
        game.parse("walk")


@pytest.mark.parametrize(
    "name, words",
    [
        ("kuhn_poker", "has chance"),
        ("pig", "has chance"),
        ("matrix_pd", "has simultaneous moves"),
        ("phantom_ttt", "has hidden information"),
        ("connect_four", "connect_four.. has more than 1,000 states.*raise max_states"),
        ("no_such_game", "OpenSpiel has no game 'no_such_game'"),
    ],
)
def test_what_can_not_be_a_table_is_refused(name, words):
    with pytest.raises(ValueError, match=words):
        open_spiel.from_spiel(name, max_states=1_000)


class Secret:
    """A game and its states: three moves, of which nobody is shown how many were made."""

    def __init__(self, fewer, moves=()):
        self.fewer, self.moves = fewer, list(moves)
        self.history = lambda: self.moves
        self.returns = lambda: [0.0]
        self.is_terminal = lambda: len(self.moves) == 3
        self.action_to_string = lambda player, action: str(action)
        self.get_type = lambda: SimpleNamespace(provides_observation_tensor=False)
        self.num_distinct_actions = lambda: 3
        self.min_utility, self.max_utility = lambda: 0.0, lambda: 1.0
        self.apply_action = self.moves.append

    def child(self, *action):
        return Secret(self.fewer, [*self.moves, *action])

    new_initial_state = child

    def legal_actions(self):
        number = 3 - len(self.moves) if self.fewer else 2
        return [] if self.is_terminal() else list(range(number))

    def current_player(self):
        return pyspiel.PlayerId.TERMINAL if self.is_terminal() else 0

    def __str__(self):
        return "?"


def test_what_does_not_show_how_it_goes_on_is_refused():
    with pytest.raises(ValueError, match="does not determine what is legal"):
        open_spiel._table_of(Secret(fewer=True), 100)
    secret = Secret(fewer=False)
    with pytest.raises(ValueError, match="does not determine how it goes on"):
        open_spiel._compare(open_spiel.game_of(open_spiel._table_of(secret, 100), secret), secret)


@pytest.mark.parametrize(
    "game",
    [CONNECT4, games.load("nim3p"), games.load("kalah"), NIM, dice(2, 2), take_game(dice=True)],
    ids=lambda game: game.name,
)
def test_a_game_of_ours_passes_their_random_simulations(game):
    pyspiel.random_sim_test(
        open_spiel.to_spiel(game, max_game_length=500), num_sims=3, serialize=True, verbose=False
    )


def test_their_algorithms_solve_our_game():
    value, best = minimax.alpha_beta_search(open_spiel.to_spiel(NIM))
    assert value == -1.0  # two equal heaps: whoever moves second copies
    three = games.load("nim", heaps=1, stones=3)
    assert minimax.alpha_beta_search(open_spiel.to_spiel(three)) == (1.0, 2)


def test_what_they_observe_are_our_cells():
    game = open_spiel.to_spiel(NIM)
    assert game.get_type().short_name == "afterstate_nim_heaps_2_stones_2"
    state = game.new_initial_state()
    state.apply_action(1)  # two from the first heap
    assert state.observation_tensor(0) == [1, 0, 0, 0, 0, 1, 0, 1]
    assert state.observation_string(1) == "0 2 : 1"
    assert state.information_state_string(0) == state.history_str() != ""
    assert state.action_to_string(1, 3) == "2 from heap 2"


@pytest.mark.slow
def test_chance_is_listed_with_its_probabilities_or_refused():
    state = open_spiel.to_spiel(take_game(dice=True)).new_initial_state()
    state.apply_action(0)
    assert state.is_chance_node() and state.chance_outcomes() == [(0, 0.75), (1, 0.25)]
    before = state.clone()
    state.apply_action(1)
    assert before.is_chance_node() and not state.is_chance_node()
    assert state.s[0] == 10 and state.current_player() == 1
    with pytest.raises(ValueError, match="game2048 begins at random"):
        open_spiel.to_spiel(games.load("game2048"))
    with pytest.raises(ValueError, match="does not list its chance outcomes"):
        open_spiel.to_spiel(take_game(dice=True, listed=False))
    general = open_spiel.to_spiel(games.load("nim", heaps=1, stones=1), zero_sum=False)
    assert general.get_type().utility == pyspiel.GameType.Utility.GENERAL_SUM


def random_bot(game, seat, seed):
    return pyspiel.make_uniform_random_bot(seat, seed)


RANDOM = open_spiel.Bot(random_bot, "OpenSpiel random")


def test_their_search_beats_random_and_the_seed_decides():
    strong = open_spiel.mcts(300)
    for seats in ([strong, players.Random()], [players.Random(), strong]):
        one = arena.match(CONNECT4, seats, seed=2)
        assert one.scores[seats.index(strong)] == 1.0
        assert one.moves == arena.match(CONNECT4, seats, seed=2).moves
    assert strong.name == "OpenSpiel-MCTS-300"
    twice = arena.match(CONNECT4, [open_spiel.mcts(20)] * 2, seed=1)
    assert CONNECT4.over(twice.states[-1])


@pytest.mark.parametrize(
    "name, params, known",
    [
        *((name, {}, True) for name in ("tictactoe", "othello", "nim", "kalah")),
        ("hex", {"size": 4}, True),
        ("nim", {"misere": True, "take": 5}, True),
        ("nim", {"take": 2}, False),
        ("tictactoe", {"rows": 4}, False),
        ("kalah", {"houses": 3}, False),
        ("nim3p", {}, False),
    ],
)
def test_bots_play_their_game_or_ours(name, params, known):
    game = games.load(name, **params)
    assert (open_spiel.twin(game) is not None) == known
    for seed in range(4):
        seats = [RANDOM, players.Random(), RANDOM][: game.players]
        result = arena.match(game, seats, seed=seed)
        assert game.over(result.states[-1])
        if known and name != "othello":  # passes are actions of their own there
            other = pyspiel.load_game(open_spiel.twin(game).name).new_initial_state()
            for state, action in zip(result.states, result.moves):
                other.apply_action(open_spiel.twin(game).action(game.player(state), action))
            assert other.is_terminal() and other.returns() == result.scores.tolist()


def test_their_search_in_python_plays_what_they_do_not_have():
    three = games.load("nim3p", heaps=1, stones=3)
    strong = open_spiel.mcts(60)
    result = arena.match(three, [RANDOM, strong, RANDOM], start=(three.after([0]), []), seed=1)
    assert result.moves[0] in (0, 1) and len(result.moves) == 2 - result.moves[0]


@pytest.mark.slow
def test_positions_are_known_by_their_moves_or_by_themselves(theirs):
    middle = CONNECT4.after([3, 3, 2])
    assert arena.match(CONNECT4, [RANDOM] * 2, start=(middle, [3, 3, 2]), seed=1).moves
    full = CONNECT4.after([0] * 6)
    with pytest.raises(ValueError, match="knows a position by its moves"):
        arena.match(CONNECT4, [RANDOM] * 2, start=(full, []), seed=1)
    kalah = games.load("kalah", houses=3)
    assert arena.match(kalah, [RANDOM] * 2, start=(kalah.after([0]), []), seed=1).moves
    assert arena.match(theirs, [open_spiel.mcts(500), RANDOM], seed=1).scores[0] == 1.0


def test_a_bot_travels_and_what_is_none_is_refused():
    bot = open_spiel.mcts(10)
    bot.new_match(CONNECT4, [], 0, 1)
    again = pickle.loads(pickle.dumps(bot))
    again.new_match(CONNECT4, [], 0, 1)
    assert again.choose(CONNECT4.start()) == bot.choose(CONNECT4.start())
    with pytest.raises(TypeError, match="a function .game, seat, seed."):
        open_spiel.Bot(pyspiel.load_game("tic_tac_toe"))
    with pytest.raises(ValueError, match="simulations must be a whole number"):
        open_spiel.mcts(0)


class Listener(pyspiel.Bot):
    """Plays the first legal action and hears what others do."""

    def __init__(self, heard):
        super().__init__()
        self.step = lambda state: state.legal_actions()[0]
        self.inform_action = lambda state, player, action: heard.append((player, action))


def test_a_bot_hears_what_the_other_does():
    heard = []
    listener = open_spiel.Bot(lambda *_: Listener(heard))
    moves = arena.match(CONNECT4, [players.Random(), listener], seed=1).moves
    assert heard == [(0, action) for action in moves[::2]]
