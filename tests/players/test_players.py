"""Players: choices, ties, seeds, functions as players, and errors that say what is wrong."""

import pickle

import numpy as np
import pytest

from afterstate import arena, games, players
from afterstate.kernel.random import new_rng, pick_best
from afterstate.networks import ntuple
from afterstate.players.saved import named
from afterstate.search import max_n

game = games.load("tictactoe")


def choices(player, s, n=300):
    found = []
    for seed in range(n):
        player.new_match(game, [], game.player(s), seed)
        found.append(player.choose(s))
    return found


def test_random_is_uniform_and_follows_its_seed():
    s = game.parse("x o x . . . o . .")
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


def test_maxn_takes_every_best_action_and_values_are_the_movers():
    s = game.parse("x . . o . . . . .")
    rows = max_n.values(game, s, 10)[:, 0]
    best = game.legal(s)[rows == rows.max()].tolist()
    assert len(best) > 1 and sorted(set(choices(players.MaxN(10), s))) == best
    # x to move wins at once at cell 2
    player, s = players.MaxN(10), game.parse("x x . . o . . . o")
    player.new_match(game, [], 0, 1)
    assert player.values(s).max() == 1 and player.choose(s) == 2


def test_greedy_maximises_reward_plus_value():
    net = ntuple.Network(game, [range(9)])
    player = players.Greedy(net)
    # V = 0 everywhere: the reward of the win decides
    assert choices(player, game.parse("x x . o o . . . ."), 20) == [2] * 20
    s = game.start()
    assert set(choices(player, s)) == set(range(9))  # all equal: at random
    net.weights[:] = np.random.default_rng(1).normal(size=net.weights.shape)
    expected = [net.value(game.play(s, a), 0) for a in range(9)]
    assert player.values(s) == pytest.approx(expected, abs=1e-6)
    best = set(np.flatnonzero(np.array(expected) > max(expected) - 1e-9).tolist())
    assert set(choices(player, s, 50)) <= best
    net.weights[:] = 5.0  # tanh of this is almost 1 everywhere, but not at the end of the game
    assert player.values(game.parse("x o x x o o o x .")).tolist() == [0.0]


def test_wrap_and_duplicate():
    def first(state):
        return 0

    made = players.wrap(first)
    assert made.name == "first" and made.choose(None) == 0
    net = ntuple.Network(games.load("nim"), [range(3)])
    one = players.wrap(net)
    assert isinstance(one, players.Greedy)
    assert players.duplicate(one) is not one and players.duplicate(one).net is net
    with pytest.raises(TypeError, match=r"is a class.*MaxN\(\)"):
        players.wrap(players.MaxN)
    other = pickle.loads(pickle.dumps(players.MaxN(4)))
    assert choices(other, game.start(), 20) == choices(players.MaxN(4), game.start(), 20)


@pytest.mark.parametrize("action", [4, 2.0, None])
def test_illegal_action_names_player_action_and_legal(action):
    def stubborn(state):
        return action

    start = arena.Start(game.play(game.start(), 4), [4])
    said = rf"stubborn in seat 1 .* {action!r}; legal here: \[0, 1, 2, 3, 5, 6, 7, 8\]"
    with pytest.raises(arena.IllegalAction, match=said):
        arena.match(game, [players.Random(), stubborn], start)


def test_words_name_players_and_wrong_ones_are_errors():
    for word, name in (("mcts:20", "MCTS-20"), ("zoo:5", "zoo tictactoe, 5 iterations")):
        assert named(game, word).name == name
    for word in ("mcts:x", "random:3", "perfekt", "gone.npz"):
        with pytest.raises(ValueError, match=word.partition(":")[2] or word):
            named(game, word)
