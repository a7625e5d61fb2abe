"""Monte Carlo tree search: convergence to exact values, the player, and what is refused."""

from functools import partial

import numpy as np
import pytest

from afterstate import arena, games, players
from afterstate.evaluators.matches import NIM3P_MCTS, Matches
from afterstate.games.game import Game
from afterstate.kernel.random import new_rng
from afterstate.players.searching import MCTS
from afterstate.search import max_n, mcts
from sample_games import dice, double_turns

tictactoe, nim3p, connect4 = games.load("tictactoe"), games.load("nim3p"), games.load("connect4")
dice1, dice2, double = dice(1, 4), dice(2, 2), double_turns(12)


def chosen(game, state, iterations, seed=0, **limits):
    found = mcts.search(game, state, iterations, seed=seed, **limits)
    return found, int(found.visits.argmax())


@pytest.mark.slow
def test_tictactoe_keeps_the_value_of_every_position():
    frontier, seen = [tictactoe.start()], set()
    while frontier:
        s = frontier.pop()
        if tictactoe.key(s) not in seen:
            seen.add(tictactoe.key(s))
            frontier += [tictactoe.play(s, a) for a in tictactoe.legal(s)]
            if not tictactoe.over(s) and len(seen) % 12 == 0:
                exact = max_n.values(tictactoe, s, 9)[:, tictactoe.player(s)]
                found, best = chosen(tictactoe, s, 2000)
                assert exact[best] == exact.max(), tictactoe.render(s)
                if exact.max() == 1:
                    assert found.values[best, tictactoe.player(s)] > 0.5
    assert len(seen) == 5478


@pytest.mark.parametrize(
    "text, action",
    [("x x . o o . . . .", 2), ("x . . o o . x . .", 5), ("x . . . o . . . x", None)],
    ids=["win", "block", "no corner"],
)
def test_forced_moves(text, action):
    player = MCTS(2000)
    for seed in range(5):
        player.new_match(tictactoe, [], 0, seed)
        found = player.choose(tictactoe.parse(text))
        assert found == action if action is not None else found in (1, 3, 5, 7)


@pytest.mark.parametrize(
    "game",
    [
        games.load("nim", heaps=2, stones=3),
        games.load("nim3p", heaps=2, stones=3),
        games.load("nim3p", heaps=3, stones=2),
        double,
    ],
)
def test_best_action_is_that_of_max_n(game):
    rng, states = np.random.default_rng(1), [game.start()]
    for _ in range(12):
        s = game.start()
        while not game.over(s):
            states.append(s)
            s = game.play(s, rng.choice(game.legal(s)))
    for s in states:
        exact = max_n.values(game, s, 20)
        mover = game.player(s)
        found, best = chosen(game, s, 5000, tree_depth=None, rollout_depth=None)
        assert exact[best, mover] == exact[:, mover].max(), game.render(s)
        np.testing.assert_allclose(found.values[best], exact[best], atol=0.25)


def test_the_same_player_may_move_twice():
    """Five stones and two moves in a row: taking 2 and then 3 wins, or 3 and then 2.

    A sign that flips every ply would lose.
    """
    s = double.parse("5 0")
    found, best = chosen(double, s, 3000)
    assert found.values[best].tolist() == pytest.approx([1, -1], abs=0.1) and found.actions[
        best
    ] in (1, 2)
    assert found.values[0, 0] < 0.5  # one stone: four remain, at most three may be taken


@pytest.mark.parametrize(
    "game, k", [(dice1, 0.3), (dice2, 2**0.5)], ids=["one player", "two players"]
)
def test_chance_converges_to_expectimax(game, k):
    s = game.start()
    for _ in range(3):
        exact = max_n.values(game, s, 10)
        found, best = chosen(game, s, 60_000, k=k)
        mover = game.player(s)
        assert (
            abs(exact[0, mover] - exact[1, mover]) > 0.05
            and exact[best, mover] == exact[:, mover].max()
        )
        np.testing.assert_allclose(
            found.values[best], exact[best], atol=0.03 * (game.score_range[1] - game.score_range[0])
        )
        s = game.next(s, game.legal(s)[best], new_rng(3))


def test_one_throw_has_its_known_mean():
    """The last throw with p points: 3/4 p + (2 + 3 + 4)/4, beating p + 2 only below one point."""
    s = dice1.parse("0 0 3 0")
    found = mcts.search(dice1, s, 20_000)
    assert found.actions.tolist() == [1, 0] and found.values[:, 0] == pytest.approx(
        [2.25, 2.0], abs=0.05
    )
    found = mcts.search(dice1, dice1.parse("6 0 3 0"), 20_000)
    assert found.values[:, 0] == pytest.approx([6.75, 8.0], abs=0.4)


def test_beats_random_in_connect4():
    table = arena.matches(
        connect4, {"MCTS": MCTS(1000), "Random": players.Random()}, episodes=10, seed=5
    )
    mine = table[table.player == "MCTS"]
    assert (table.error == "").all() and len(mine) == 20 and (mine.score == 1).sum() >= 19


def test_more_iterations_play_better():
    table = arena.matches(connect4, {"strong": MCTS(800), "weak": MCTS(20)}, episodes=15, seed=5)
    assert table[table.player == "strong"].score.mean() > 0.6


def test_player_is_the_same_whatever_it_was_asked_before():
    s, t = connect4.start(), connect4.after([3])
    first, second = MCTS(300), MCTS(300)
    first.new_match(connect4, [], 0, 9)
    expected = first.choose(s), first.values(s).tolist()
    second.new_match(nim3p, [], 0, 1)
    second.choose(nim3p.start())
    second.new_match(connect4, [], 0, 9)
    second.values(t)
    assert (second.choose(s), second.values(s).tolist()) == expected
    memory = second.memory
    second.new_match(connect4, [], 1, 10)
    assert (
        second.memory is memory
        and second.copy().memory is None
        and second.copy().name == "MCTS-300"
    )


def test_final_move_by_mean_or_visits():
    by = {}
    for final in ("mean", "visits"):
        by[final] = set()
        for seed in range(40):
            player = MCTS(30, final=final)
            player.new_match(connect4, [], 0, seed)
            action, found = player.choose(connect4.start()), player.search(connect4.start())
            worth = found.visits if final == "visits" else found.values[:, 0]
            assert worth[action] == worth.max()
            by[final].add((seed, action))
    assert by["mean"] != by["visits"]


def test_few_iterations_choose_among_the_tried():
    player = MCTS(2)
    player.new_match(connect4, [], 0, 1)
    values = player.values(connect4.start())
    assert np.isfinite(values).sum() == 2 and np.isfinite(values[player.choose(connect4.start())])


def test_evaluator_of_nim3p():
    assert NIM3P_MCTS.settings["opponent"] == {
        "player": "MCTS",
        "version": 1,
        "arguments": [5000, {}],
    }
    found = Matches(
        "MCTS-200", partial(MCTS, 200, tree_depth=5), starts=("random", 3), metrics=("score",)
    )
    assert found.settings["opponent"]["arguments"] == [200, {"tree_depth": 5}]
    scores = [
        found(nim3p, agent, seed=1)["score:MCTS-200"]
        for agent in (players.MaxN(15), players.Random())
    ]
    assert scores == [
        found(nim3p, agent, seed=1)["score:MCTS-200"]
        for agent in (players.MaxN(15), players.Random())
    ]
    assert scores[0] > scores[1]


def test_bad_input_is_named():
    s = tictactoe.start()
    for name, value in (
        ("iterations", 0),
        ("iterations", 1.5),
        ("iterations", True),
        ("iterations", mcts.MAX_ITERATIONS + 1),
        ("tree_depth", 0),
        ("rollout_depth", -1),
        ("k", -0.1),
        ("k", float("nan")),
        ("k", "1"),
        ("reward_range", (1, 1)),
        ("reward_range", 5),
        ("reward_range", (0, float("inf"))),
    ):
        for call in (partial(mcts.search, tictactoe, s), MCTS):
            with pytest.raises(ValueError, match=f"{name}.*{str(value)[:4].replace('(', '.')}"):
                call(**({"iterations": 10} | {name: value}))
    with pytest.raises(ValueError, match="final must be one of 'mean', 'visits', not 'best'"):
        MCTS(final="best")
    over = tictactoe.parse("x x x o o . . . .")
    with pytest.raises(ValueError, match="game is over"):
        mcts.search(tictactoe, over, 10)
    player = MCTS(10)
    player.new_match(tictactoe, [], 0, 0)
    with pytest.raises(ValueError, match="game is over"):
        player.choose(over)
    with pytest.raises(ValueError, match="vector of 11"):
        mcts.search(tictactoe, np.zeros(3, np.int32), 10)


def test_a_game_that_would_write_outside_is_refused():
    def legal(s, moves):
        for k in range(5):
            moves[k] = 0
        return 5

    broken = Game(
        "broken",
        **{
            name: double._arguments[name]
            for name in ("start", "play", "player", "over", "score", "board")
        },
        legal=legal,
        players=2,
        actions=3,
        max_legal=3,
        size=2,
        num_codes=[13],
    )
    with pytest.raises(ValueError, match="writes more than 3 values"):
        mcts.search(broken, broken.start(), 10)
