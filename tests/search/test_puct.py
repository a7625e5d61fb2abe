"""PUCT: equal to a plain Python version node by node, converging to exact values, the same whoever
gives the values, re-rooted without a trace.
"""

import hashlib

import numpy as np
import pytest

from afterstate import games
from afterstate.files import data_directory
from afterstate.kernel.random import new_rng
from afterstate.networks import ntuple
from afterstate.search import max_n
from afterstate.search.puct_search import Search
from afterstate.search.puct_tree import NONE, PASS, ROOT, TERMINAL
from many import one_in
from oracles.puct_games import (
    connect4,
    dice1,
    dice2,
    dump,
    late,
    line,
    network,
    othello,
    searched,
    tictactoe,
)
from oracles.reference_puct import Puct, linear, softmax


def compare(search, node, plain):
    """Assert that a node and all below it are those of the plain version; return how many nodes
    there are, and how many passes.
    """
    t, num, passes = search.tree, 1, 0
    assert t.state[node].tobytes() == plain.state.tobytes()
    assert t.player[node] == (TERMINAL if plain.player is None else plain.player)
    if plain.player is None or plain.N is None:
        assert t.num_slots[node] == 0 or plain.N is None
        return 1, 0
    slots = range(t.first[node], t.first[node] + t.num_slots[node])
    assert [PASS if a == "pass" else a for a in plain.actions] == t.action[slots].tolist()
    assert t.visits[slots].tolist() == plain.N
    assert t.sums[slots].tolist() == plain.W
    np.testing.assert_allclose(t.prior[slots], plain.P, rtol=1e-15)
    for k, slot in enumerate(slots):
        children, child = {}, t.node[slot]
        while child != NONE:
            children[t.state[child].tobytes()] = child
            child = t.sibling[child]
        assert set(children) == {state for j, state in plain.children if j == k}
        for state, child in children.items():
            below = plain.children[k, state]
            passes += below.player is not None and below.player == plain.player or below.passing
            more, more_passes = compare(search, child, below)
            num, passes = num + more, passes + more_passes
    return num, passes


# ------------------------------------------------------------ the plain Python version

CASES = {
    "tictactoe": (tictactoe, tictactoe.start(), 700, {}),
    "tictactoe, little exploration": (tictactoe, tictactoe.start(), 300, {"c_puct": 0.2}),
    "connect4": (connect4, connect4.start(), 400, {}),
    "connect4, late": (connect4, late(connect4, 20, 3), 500, {}),
    "connect4, linear priors": (connect4, late(connect4, 8, 4), 300, {"prior": "linear"}),
    "connect4, low unvisited": (connect4, late(connect4, 8, 4), 300, {"unvisited": -0.5}),
    "connect4, two plies": (connect4, late(connect4, 8, 4), 300, {"max_depth": 2}),
    "othello": (othello, othello.start(), 150, {}),
    "othello, late": (othello, late(othello, 54, 5), 800, {}),
    "othello, pass nodes": (othello, late(othello, 54, 5), 800, {"pass_nodes": True}),
    "one player": (line, line.start(), 500, {}),
    "one player, limited": (line, line.start(), 500, {"max_depth": 3}),
}


@pytest.mark.parametrize("case", one_in(3, CASES))
def test_same_tree_as_the_plain_version(case):
    game, state, iterations, settings = CASES[case]
    net = network(game)
    search = searched(game, net, state, iterations, **settings)
    plain_settings = settings | ({"prior": linear} if "prior" in settings else {"prior": softmax})
    plain = Puct(game, net.action_values, state, **plain_settings)
    num, passes = compare(search, ROOT, plain.run(iterations))
    assert num == search.tree.used[1] and plain.root.N and sum(plain.root.N) == iterations - 1
    assert (
        passes > 0
        if "late" in case and game is othello or "pass" in case
        else passes == 0 or game is line
    )


def test_drawn_chance_is_that_of_the_plain_version():
    """With rewards at the end only, so that the printed algorithm needs no more than the draw."""
    net = network(dice2)
    search = searched(dice2, net, dice2.start(), 400, seed=7, path_rewards=False)
    plain = Puct(dice2, net.action_values, dice2.start(), rng=new_rng(7))
    assert compare(search, ROOT, plain.run(400))[0] == search.tree.used[1]


# ------------------------------------------------------------ exact values


@pytest.mark.parametrize(
    "name, params, weight, short, long, error",
    [
        ("tictactoe", {}, 0.0, 1_000, 100_000, 0.05),
        ("tictactoe", {}, 0.3, 1_000, 100_000, 0.05),
        ("hex", {"size": 3}, 0.0, 1_000, 100_000, 0.05),
        ("hex", {"size": 3}, 0.3, 1_000, 100_000, 0.05),
        pytest.param("hex", {"size": 4}, 0.0, 20_000, 1_500_000, 0.35, marks=pytest.mark.slow),
    ],
)
def test_converges_to_minimax_for_every_first_move(name, params, weight, short, long, error):
    """Below an error of 1 the winner after every first move is the right one.

    On the 4 x 4 board of Hex no more than that is shown, with a margin.
    """
    game = games.load(name, **params)
    net = network(game, weight=weight)
    far, near = [], []
    moves = game.legal(game.start())
    if name == "hex":  # the other half is the same board turned round
        moves = moves[: -(-len(moves) // 2)]
    for action in moves:
        s = game.play(game.start(), action)
        exact = max_n.values(game, s, game.cells)[:, game.player(s)].max()
        for errors, iterations in ((far, short), (near, long)):
            found = searched(game, net, s, iterations).found()
            errors.append(abs(found.values[np.argmax(found.visits)] - exact))
    assert max(near) < error and np.mean(near) < np.mean(far)


@pytest.mark.parametrize(
    "settings", [{"chance": "drawn"}, {"chance": "enumerated"}], ids=["drawn", "enumerated"]
)
@pytest.mark.parametrize(
    "game, scale", [(dice1, 0.1), (dice2, 1.0)], ids=["one player", "two players"]
)
def test_chance_converges_to_expectimax(game, scale, settings):
    """The base agent knows nothing; one player's points are scaled to about 1 and come along the
    path.
    """
    s, errors = game.start(), []
    for _ in range(3):
        exact = max_n.values(game, s, 10)[:, game.player(s)]
        before = (
            game.score(s)[0] if game is dice1 else 0.0
        )  # the search counts what is still to come
        for iterations in (100, 30_000):
            search = searched(
                game,
                lambda state: np.zeros(len(game.legal(state))),
                s,
                iterations,
                seed=1,
                scale=scale,
                **settings,
            )
            found = search.found()
            best = np.argmax(found.visits)
            errors.append(abs(found.values[best] - (exact[best] - before)))
        assert abs(exact[0] - exact[1]) > 0.05 and exact[best] == exact.max()
        s = game.next(s, found.actions[best], new_rng(3))
    assert max(errors[1::2]) < 0.03 / scale and np.mean(errors[1::2]) < np.mean(errors[::2])


def test_an_enumerated_afterstate_is_first_worth_its_expectation():
    """Last throw, two points: 3/4 * 2 + (2 + 3 + 4)/4 - 2 = 1.75 to come, after one visit already;
    a safe move brings 2.
    """
    search = searched(
        dice1,
        lambda s: np.zeros(2),
        dice1.parse("2 0 3 0"),
        3,
        chance="enumerated",
        scale=0.1,
        c_puct=10.0,
    )
    assert search.found().visits.tolist() == [1, 1] and search.found().values == pytest.approx(
        [1.75, 2.0]
    )
    search.run(41)  # then the four outcomes take turns
    t = search.tree
    drawn = [t.drawn[node] for node in range(t.used[1]) if t.chance[node] == 0.25]
    assert (
        len(drawn) == 4
        and max(drawn) - min(drawn) <= 1
        and sum(drawn) == search.found().visits[0] - 1
    )


# ------------------------------------------------------------ invariances


@pytest.mark.parametrize(
    "game, plies",
    [(tictactoe, 0), (connect4, 6), (othello, 50), (line, 0)],
    ids=lambda v: getattr(v, "name", ""),
)
def test_the_same_tree_with_and_without_re_rooting(game, plies):
    net, state = network(game), late(game, plies, 5)
    search = searched(game, net, state, 400)
    for more in (300, 200):
        found = search.found()
        k = int(np.argmax(found.visits))
        state = game.play(state, found.actions[k])
        assert search.follow([(found.actions[k], state)])
        assert dump(search) == dump(searched(game, net, state, int(found.visits[k])))
        search.run(more)
        assert dump(search) == dump(searched(game, net, state, int(found.visits[k]) + more))


def test_re_rooting_keeps_everything_below_a_drawn_next_state():
    net, state = network(dice1), dice1.start()
    search = searched(dice1, net, state, 500, chance="enumerated")
    t = search.tree
    slot = t.first[ROOT] + int(np.argmax(t.visits[t.first[ROOT] : t.first[ROOT] + 2]))
    child = t.sibling[t.node[slot]] if t.sibling[t.node[slot]] != NONE else t.node[slot]
    below, after = dump(search, child), t.state[child].copy()
    assert search.follow([(t.action[slot], after)]) and dump(search) == below
    assert search.tree.used[1] < 500 and (search.state == after).all()


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"leaf_value": "state"},
        {"prior": "linear", "gamma": 0.9},
        {"pass_nodes": True},
        {"leaf_value": "rollout"},
        {"step_reward": -0.1, "path_rewards": True},
    ],
    ids=str,
)
@pytest.mark.parametrize(
    "game, plies", [(connect4, 6), (othello, 52), (dice1, 0)], ids=lambda v: getattr(v, "name", "")
)
def test_a_plain_object_gives_the_same_tree_as_the_network(game, plies, settings):
    net = network(game)

    class Plain:
        def action_values(self, state, gamma=1.0):
            return net.action_values(state, gamma).tolist()

        def value(self, state, player):
            return net.value(state, player)

    state = late(game, plies, 5) if plies else game.start()
    chances = ("drawn", "enumerated") if game is dice1 else ("drawn",)
    for chance in chances:
        ours, theirs = (
            searched(game, base, state, 150, seed=3, chance=chance, **settings)
            for base in (net, Plain())
        )
        assert dump(ours) == dump(theirs)


@pytest.mark.parametrize("chance", ["drawn", "enumerated"])
def test_the_tree_does_not_depend_on_its_first_size(chance):
    """Arrays that are full in the middle of a descent grow, and the descent begins anew."""
    net, dumps = network(dice1), []
    for first_size in (10, 3_000):
        search = Search(dice1, net, first_size, chance=chance, scale=0.1)
        search.plant(dice1.start(), 1)
        search.run(1_500)
        dumps.append(dump(search))
    assert dumps[0] == dumps[1]


def test_the_value_of_the_state_itself():
    net, s = network(connect4), late(connect4, 6, 1)
    search = searched(connect4, net, s, 2, leaf_value="state")
    k, p = int(np.argmax(search.found().visits)), connect4.player(s)
    assert search.found().values[k] == net.value(connect4.play(s, search.found().actions[k]), p)


def test_what_lies_too_deep_counts_minus_one():
    search = searched(line, lambda s: np.zeros(3), line.start(), 200, max_depth=1)
    t = search.tree
    assert t.used[1] == 4 and all(
        v == -1.0
        for node in range(1, 4)
        for v in t.mean[t.first[node] : t.first[node] + 3][
            t.visits[t.first[node] : t.first[node] + 3] > 0
        ]
    )


# ------------------------------------------------------------ golden trees

GOLDEN = {
    "tictactoe": "93fafc7a5eef",
    "nim": "84a3a87df762",
    "connect4": "1c3be6de0ada",
    "hex": "bb588472c425",
    "othello": "6ee05a246ecb",
    "game2048": "55576d37f3b4",
    "morris": "e62669816e51",
    "kalah": "d1107f90470b",
    "cube2": "9f5456177dc3",
    "cube3": "8b713fdcfb97",
    "checkers": "7b6ffc40eaca",
    "giveaway": "7b6ffc40eaca",
}  # the same for a generic processor; in checkers and giveaway the first moves are the same
TRAINED = ("connect4", "hex", "othello")  # with published weights, the others random


@pytest.mark.parametrize(
    "name, params",
    [
        ("tictactoe", {}),
        ("nim", {}),
        ("connect4", {}),
        ("hex", {"size": 6}),
        ("othello", {}),
        ("game2048", {}),
        ("morris", {}),
        ("kalah", {}),
        ("cube2", {}),
        ("cube3", {}),
        ("checkers", {}),
        ("giveaway", {}),
    ],
    ids=lambda v: v if isinstance(v, str) else "",
)
def test_golden_tree(name, params):
    game = games.load(name, **params)
    if name in TRAINED:
        net = ntuple.load(data_directory() / "models" / f"{name}.npz", game)
    else:
        net = network(game, num_cells=2)
    search = searched(game, net, game.start(1), 300, seed=1)
    text = repr([(t[0], t[1]) for t in flatten(search)])
    assert hashlib.sha256(text.encode()).hexdigest()[:12] == GOLDEN[name]


def flatten(search, node=ROOT):
    """Actions and visits of all nodes, parents first."""
    t = search.tree
    block = slice(t.first[node], t.first[node] + t.num_slots[node])
    rows = [(t.action[block].tolist(), t.visits[block].tolist())] if t.num_slots[node] else []
    for slot in range(block.start, block.stop) if t.num_slots[node] else ():
        child = t.node[slot]
        while child != NONE:
            rows += flatten(search, child)
            child = t.sibling[child]
    return rows
