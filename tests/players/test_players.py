"""Players: choices, ties, seeds, functions as players, and errors that say what is wrong."""

import copy
import pickle

import numpy as np
import pytest

from afterstate import arena, games, players
from afterstate.kernel.random import new_rng, pick_best
from afterstate.networks import ntuple
from afterstate.search import max_n


@pytest.fixture(scope="module")
def game():
    return games.load("tictactoe")


def choices(player, game, s, n=300):
    found = []
    for seed in range(n):
        player.new_match(game, [], game.player(s), seed)
        found.append(player.choose(s))
    return found


def test_random_is_uniform_and_follows_its_seed(game):
    s = game.parse("x o x . . . o . .")
    found = choices(players.Random(), game, s, 1000)
    assert found == choices(players.Random(), game, s, 1000)
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


def test_maxn_takes_every_best_action(game):
    s = game.parse("x . . o . . . . .")
    rows = max_n.values(game, s, 10)[:, 0]
    best = game.legal(s)[rows == rows.max()].tolist()
    found = choices(players.MaxN(10), game, s)
    assert len(best) > 1 and sorted(set(found)) == best
    assert players.MaxN(10).name == "Max-N-10"


def test_maxn_values_are_the_movers(game):
    # x to move wins at once at cell 2
    player, s = players.MaxN(10), game.parse("x x . . o . . . o")
    player.new_match(game, [], 0, 1)
    assert player.values(s).max() == 1 and player.choose(s) == 2
    three = games.load("nim3p")
    s = three.play(three.start(), 4)
    player.new_match(three, [], 1, 1)
    assert np.array_equal(player.values(s), max_n.values(three, s, 10)[:, 1])


def test_greedy_maximises_reward_plus_value(game):
    net = ntuple.Network(game, [range(9)])
    player = players.Greedy(net)
    s = game.parse("x x . o o . . . .")
    # V = 0 everywhere: the reward of the win decides
    assert choices(player, game, s, 20) == [2] * 20
    s = game.start()
    assert set(choices(player, game, s)) == set(range(9))  # all equal: at random
    net.weights[:] = np.random.default_rng(1).normal(size=net.weights.shape)
    expected = [net.value(game.play(s, a), 0) for a in range(9)]
    player.new_match(game, [], 0, 1)
    assert player.values(s) == pytest.approx(expected, abs=1e-6)
    assert set(choices(player, game, s, 50)) <= set(
        np.flatnonzero(np.array(expected) > max(expected) - 1e-9).tolist()
    )


def test_terminal_afterstates_are_worth_their_reward_only(game):
    net = ntuple.Network(game, [range(9)])
    net.weights[:] = 5.0  # tanh of this is almost 1 everywhere, but not at the end of the game
    player, s = players.Greedy(net), game.parse("x o x x o o o x .")
    player.new_match(game, [], 0, 1)
    assert player.values(s).tolist() == [0.0]


def test_wrap():
    def first(state):
        return 0

    class Odd:
        pass

    made = players.wrap(first)
    assert made.name == "first" and made.choose(None) == 0
    maxn = players.MaxN(3)
    assert players.wrap(maxn) is maxn
    net = ntuple.Network(games.load("nim"), [range(3)])
    assert isinstance(players.wrap(net), players.Greedy)
    for wrong in (3, "Random", None, Odd()):
        with pytest.raises(TypeError, match="function state -> action"):
            players.wrap(wrong)
    with pytest.raises(TypeError, match=r"is a class.*MaxN\(\)"):
        players.wrap(players.MaxN)


def test_duplicate_shares_weights_and_keeps_seats_apart():
    net = ntuple.Network(games.load("nim"), [range(3)])
    one = players.Greedy(net)
    assert players.duplicate(one) is not one and players.duplicate(one).net is net


def test_unplayed_players_can_be_copied_and_pickled(game):
    for player in (players.Random(), players.MaxN(4)):
        for other in (copy.deepcopy(player), pickle.loads(pickle.dumps(player))):
            assert choices(other, game, game.start(), 20) == choices(player, game, game.start(), 20)


def test_bad_players_are_errors(game):
    with pytest.raises(ValueError, match="at least 1, not 0"):
        players.MaxN(0)
    with pytest.raises(ValueError, match="'action' or 'turn'"):
        players.MaxN(3, unit="ply")
    with pytest.raises(ValueError, match="action_values.*not list"):
        players.Greedy([1, 2])
    with pytest.raises(ValueError, match="gamma must be a number between 0 and 1, not 1.5"):
        players.Greedy(ntuple.Network(game, [range(9)]), gamma=1.5)
    other = players.Greedy(ntuple.Network(games.load("nim"), [range(3)]))
    with pytest.raises(ValueError, match="made for <game nim.*load the right weights"):
        arena.match(game, [other, players.Random()])


@pytest.mark.parametrize("action", [4, 9, -1, 2.0, None, "a1"])
def test_illegal_action_names_player_action_and_legal(game, action):
    def stubborn(state):
        return action

    start = arena.Start(game.play(game.start(), 4), [4])
    with pytest.raises(arena.IllegalAction) as caught:
        arena.match(game, [players.Random(), stubborn], start)
    for part in ("stubborn", "seat 1", repr(action), "[0, 1, 2, 3, 5, 6, 7, 8]"):
        assert part in str(caught.value)


def test_human_names_moves_and_may_give_up(monkeypatch, capsys):
    game = games.load("tictactoe")
    answers = iter(["z9", "b2", "0", "c1", "q"])
    monkeypatch.setattr("builtins.input", lambda prompt: next(answers))
    played = []
    with pytest.raises(KeyboardInterrupt, match="given up"):
        arena.match(
            game, [players.Human(), lambda s: played.append(s) or int(game.legal(s)[-1])], seed=1
        )
    text = capsys.readouterr().out
    assert "'z9' is not a move here" in text  # asked again
    assert "x" in text and "o" in text  # the board is shown
    # b2 is the centre; c1 is taken, q gives up
    assert [int(game.board(s)[4]) for s in played] == [2, 2]
