"""PUCT: equal to a plain Python version node by node, converging to exact values, the same whoever
gives the values, re-rooted without a trace.
"""

import hashlib

import numpy as np
import pytest

from afterply import games
from afterply.files import data_directory
from afterply.games.rules.game2048 import MAX_SCORE
from afterply.kernel.random import new_rng
from afterply.networks import ntuple
from afterply.players import Wrapped
from afterply.search import max_n
from afterply.search.mcts import UNLIMITED
from afterply.search.puct import NONE, PASS, ROOT, TERMINAL, Search
from many import one_in
from oracles.puct_games import connect4, dice1, dice2, dump, late, network, othello, searched
from oracles.reference_puct import Puct
from sample_games import race, take_game

cube2, tictactoe = games.load("cube2"), games.load("tictactoe")


def nodes_after(t, slot):
    """The nodes that a slot leads to, the latest first."""
    found, child = [], t.node[slot]
    while child != NONE:
        found.append(child)
        child = t.sibling[child]
    return found


def compare(search, node, plain):
    """Assert that all from a node on are those of the plain version; count nodes and passes."""
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
        children = {t.state[child].tobytes(): child for child in nodes_after(t, slot)}
        assert set(children) == {state for j, state in plain.children if j == k}
        for state, child in children.items():
            below = plain.children[k, state]
            passes += below.player is not None and below.player == plain.player or below.passing
            more, more_passes = compare(search, child, below)
            num, passes = num + more, passes + more_passes
    return num, passes


FOUR, LATE = late(connect4, 8, 4), late(othello, 54, 5)
KALAH = games.load("kalah", houses=3, seeds=2, margin=True)  # rewards on the way, extra turns
NIM3P, COINS = games.load("nim3p"), take_game(extra_turn=True, players=3)
LOSSES = take_game(dice=True, extra_turn=True, players=3)
DISCOUNTED = {"gamma": 0.9, "step_reward": -0.1, "scale": 0.2, "max_depth": 4}
CASES = {
    "tictactoe": (tictactoe, tictactoe.start(), 700, {}),
    "tictactoe, little exploration": (tictactoe, tictactoe.start(), 300, {"c_puct": 0.2}),
    "connect4, late": (connect4, late(connect4, 20, 3), 500, {}),
    "connect4, linear priors": (connect4, FOUR, 300, {"prior": "linear"}),
    "connect4, equal priors": (connect4, FOUR, 300, {"prior": "uniform"}),
    "connect4, low unvisited": (connect4, FOUR, 300, {"unvisited": -0.5}),
    "connect4, two plies": (connect4, FOUR, 300, {"max_depth": 2}),
    "connect4, scaled": (connect4, FOUR, 300, {"scale": 3.0}),
    "othello, late": (othello, LATE, 800, {}),
    "othello, pass nodes": (othello, LATE, 800, {"pass_nodes": True}),
    "othello, late, V": (othello, LATE, 500, {"pass_nodes": True, "leaf_value": "state"}),
    "kalah": (KALAH, KALAH.start(), 500, {"scale": 7.0}),
    "kalah, discounted": (KALAH, KALAH.start(), 500, DISCOUNTED | {"leaf_value": "state"}),
    "kalah, whole scores": (KALAH, KALAH.start(), 300, {"path_rewards": False, "scale": 0.2}),
    "cube": (cube2, cube2.start(3), 300, {"max_depth": 3}),
    "cube, rewards": (cube2, cube2.start(3), 300, {"max_depth": 3, "path_rewards": True}),
    "dice for two": (dice2, dice2.start(), 400, {"path_rewards": False}),
    "dice for two, rewards": (dice2, dice2.start(), 400, {"step_reward": -0.1}),
    "dice": (dice1, dice1.start(), 400, {"scale": 0.1, "gamma": 0.9, "step_reward": -0.3}),
    "nim3p": (NIM3P, NIM3P.start(), 500, {}),
    "nim3p, shared": (NIM3P, NIM3P.start(), 500, {"others": "share"}),
    "nim3p, V": (NIM3P, NIM3P.start(), 300, {"leaf_value": "state"}),
    "coins": (COINS, COINS.start(), 500, {"gamma": 0.875, "step_reward": -0.125}),
    "coins, shared": (COINS, COINS.start(), 500, {"others": "share", "leaf_value": "state"}),
    "coins, chance": (LOSSES, LOSSES.start(), 500, {}),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", one_in(3, CASES))
def test_same_tree_as_the_plain_version(case):
    game, state, iterations, settings = CASES[case]
    net = network(game)
    search = searched(game, net, state, iterations, seed=7, **settings)
    rng = None if game.deterministic else new_rng(7)
    if game.players > 2:  # what a fair share is
        total = search.par.total
        settings = {"total": total, "unvisited": total / game.players} | settings
    plain = Puct(game, net, state, rng, **(game.search_settings | settings))
    num, passes = compare(search, ROOT, plain.run(iterations))
    assert num == search.tree.used[1] and sum(plain.root.N) == iterations - 1
    assert (passes > 0) == (state is LATE) or game.players != 2 or game in (dice2, KALAH)


@pytest.mark.parametrize("limit", [None, 3])
def test_the_same_searches_in_a_kept_tree_whatever_its_depth_limit(limit):
    """The limit counts from the root of the present search; a solved cube beyond it counts -1."""
    net, player = network(cube2), Wrapped(network(cube2), 100, max_depth=limit)
    for twists in ("U L2", "F U2 L", "L F2 U L'", "U F' L2 F U"):
        state = cube2.parse(f"after {twists}")
        settings = cube2.search_settings | {"max_depth": limit}
        assert same_in_kept_trees(player, Puct(cube2, net, state, **settings), state) > 0


def same_in_kept_trees(player, plain, state):
    """Compare the searches of five moves in a row; count the moves."""
    player.new_match(plain.game, [], 0, 0)
    for number in range(5):
        if plain.game.over(state):
            return number
        search = player.search(state)
        compare(search, ROOT, plain.run(100))
        action = int(search.found().actions[np.argmax(plain.root.N)])
        state = plain.follow(action)
        player.observe(action, state)
    return 5


@pytest.mark.parametrize("others", ["next", "share"])
def test_the_same_searches_in_a_kept_tree_for_three(others):
    net = network(NIM3P)
    player, total = Wrapped(net, 100, others=others), Search(NIM3P, net).par.total
    assert total == pytest.approx(1.2)  # the rewards are 1, 0.2 and 0
    fair = {"others": others, "total": total, "unvisited": total / 3}
    state = NIM3P.start()
    assert same_in_kept_trees(player, Puct(NIM3P, net, state, **fair), state) >= 3


@pytest.mark.parametrize(
    "name, size, weight, short, long, error",
    [
        ("tictactoe", {}, 0.0, 1_000, 100_000, 0.05),
        ("tictactoe", {}, 0.3, 1_000, 100_000, 0.05),
        ("hex", {"size": 3}, 0.0, 1_000, 100_000, 0.05),
        ("hex", {"size": 3}, 0.3, 1_000, 100_000, 0.05),
    ],
)
def test_converges_to_minimax_for_every_first_move(name, size, weight, short, long, error):
    """With an error below 1 the winner after every first move is the right one."""
    game, far, near = games.load(name, **size), [], []
    net, moves = network(game, weight=weight), game.legal(game.start())
    if name == "hex":  # the other half is the same board turned round
        moves = moves[: -(-len(moves) // 2)]
    for action in moves:
        s = game.play(game.start(), action)
        exact = max_n.values(game, s, game.cells)[:, game.player(s)].max()
        for errors, iterations in ((far, short), (near, long)):
            found = searched(game, net, s, iterations).found()
            errors.append(abs(found.values[np.argmax(found.visits)] - exact))
    assert max(near) < error and np.mean(near) < np.mean(far)


@pytest.mark.parametrize("chance", ["drawn", "enumerated"])
@pytest.mark.parametrize("game, scale", [(dice1, 0.1), (dice2, 1.0)], ids=["one", "two players"])
def test_chance_converges_to_expectimax(game, scale, chance):
    """The base agent knows nothing; one player's points are scaled to about 1."""
    s, errors = game.start(), []
    for _ in range(3):
        exact = max_n.values(game, s, 10)[:, game.player(s)]
        before = game.score(s)[0] if game is dice1 else 0.0  # a search counts what is to come
        for iterations in (100, 30_000):
            nothing = lambda state: np.zeros(len(game.legal(state)))  # noqa: E731
            how = {"seed": 1, "scale": scale, "chance": chance}
            found = searched(game, nothing, s, iterations, **how).found()
            best = np.argmax(found.visits)
            errors.append(abs(found.values[best] - (exact[best] - before)))
        assert abs(exact[0] - exact[1]) > 0.05 and exact[best] == exact.max()
        s = game.next(s, found.actions[best], new_rng(3))
    assert max(errors[1::2]) < 0.03 / scale and np.mean(errors[1::2]) < np.mean(errors[::2])


def test_an_enumerated_afterstate_is_first_worth_its_expectation():
    """Last throw, two points: 3/4 * 2 + (2 + 3 + 4)/4 - 2 = 1.75 to come, after one visit already;
    a safe move brings 2.
    """
    s, how = dice1.parse("2 0 3 0"), {"chance": "enumerated", "scale": 0.1, "c_puct": 10.0}
    search = searched(dice1, lambda s: np.zeros(2), s, 3, **how)
    assert search.found().visits.tolist() == [1, 1]
    assert search.found().values == pytest.approx([1.75, 2.0])
    search.run(41)  # then the four outcomes take turns
    t = search.tree
    drawn = [t.drawn[node] for node in range(t.used[1]) if t.chance[node] == 0.25]
    assert len(drawn) == 4 and max(drawn) - min(drawn) <= 1
    assert sum(drawn) == search.found().visits[0] - 1


def follow_and_compare(search, action, after, **settings):
    """Follow a move; the tree is the one that as many iterations make from there."""
    assert search.follow([(action, after)])
    game, iterations = search.game, int(search.tree.total[ROOT]) + 1
    assert dump(search) == dump(searched(game, search.base, after, iterations, **settings))
    return iterations


@pytest.mark.parametrize("game, plies", [(tictactoe, 0), (connect4, 6), (othello, 50)], ids=str)
def test_the_same_tree_with_and_without_re_rooting(game, plies):
    net, state = network(game), late(game, plies, 5)
    search = searched(game, net, state, 400)
    for more in (300, 200):
        found = search.found()
        k = int(np.argmax(found.visits))
        state = game.play(state, found.actions[k])
        assert follow_and_compare(search, found.actions[k], state) == found.visits[k]
        search.run(more)
        assert dump(search) == dump(searched(game, net, state, int(found.visits[k]) + more))


def test_re_rooting_behind_a_pass_leaves_no_trace():
    net, state, how = network(othello), late(othello, 54, 18), {"pass_nodes": True}
    after = othello.play(state, 15)
    assert othello.player(after) == othello.player(state)
    search, again = (searched(othello, net, state, 800, **how) for _ in range(2))
    assert follow_and_compare(again, 15, after, **how) > 700
    action = again.found().actions[0]
    last = othello.play(after, action)
    follow_and_compare(again, action, last, **how)
    assert search.follow([(15, after), (action, last)])
    assert dump(search) == dump(again)


@pytest.mark.parametrize("name", ["game2048", "dice"])
def test_re_rooting_at_an_enumerated_next_state_leaves_no_trace(name):
    game = dice1 if name == "dice" else games.load(name)
    net, state, settings = network(game, num_cells=3), game.start(1), {"chance": "enumerated"}
    search = searched(game, net, state, 600, **settings)
    for _ in range(3):
        t, found = search.tree, search.found()
        k = int(np.argmax(found.visits))
        after = max(nodes_after(t, t.first[ROOT] + k), key=lambda child: t.total[child])
        follow_and_compare(search, found.actions[k], t.state[after].copy(), **settings)
        search.run(300)


OBJECT = [
    {},
    {"leaf_value": "state"},
    {"prior": "linear", "gamma": 0.9},
    {"pass_nodes": True},
    {"leaf_value": "rollout"},
    {"step_reward": -0.1, "path_rewards": True},
]
PLAYED = [(connect4, 6, "drawn"), (othello, 52, "drawn"), (dice1, 0, "drawn")]


@pytest.mark.parametrize("settings", OBJECT, ids=str)
@pytest.mark.parametrize("game, plies, chance", [*PLAYED, (dice1, 0, "enumerated")], ids=str)
def test_a_plain_object_gives_the_same_tree_as_the_network(game, plies, chance, settings):
    net = network(game)

    class Plain:
        def action_values(self, state, gamma=1.0):
            return net.action_values(state, gamma).tolist()

        def value(self, state, player):
            return net.value(state, player)

    state = late(game, plies, 5) if plies else game.start()
    ours, theirs = (
        searched(game, base, state, 150, seed=3, chance=chance, **settings)
        for base in (net, Plain())
    )
    assert dump(ours) == dump(theirs)


def test_settings_that_are_not_given_suit_the_game():
    # random games that need not end are cut
    net, state = network(cube2, num_cells=2), cube2.parse("after U L2 F'")
    assert np.nanmin(searched(cube2, net, state, 50, leaf_value="rollout").found().values) >= 0.0

    def par(game, **given):
        return Search(game, network(game, num_cells=1), 10, **given).par

    cube = par(cube2)
    assert (cube.max_depth, cube.step_reward, cube.path_rewards) == (50, -0.04, False)
    assert par(cube2, max_depth=None, step_reward=0.0).max_depth == UNLIMITED
    assert par(games.load("game2048")).scale == 100.0
    assert par(games.load("game2048", raw_score=True)).scale == 100.0 / MAX_SCORE
    assert par(games.load("game2048"), scale=1.0).scale == 1.0
    assert par(dice1).scale == 1 / 16 and par(connect4).scale == 1.0
    mine = race(search_settings={"scale": 0.5, "c_puct": 2.0})
    for given, own in ((par(mine), 2.0), (par(mine, c_puct=3.0), 3.0)):
        assert (given.scale, given.c_puct) == (0.5, own)


GOLDEN = {  # actions and visits; sums of values, bit for bit
    "tictactoe": ("93fafc7a5eef", "5973c4b089dd"),
    "nim": ("84a3a87df762", "78471a2203e9"),
    "connect4": ("1c3be6de0ada", "7dfc0e8c5a11"),
    "hex": ("bb588472c425", "4cc7a208bace"),
    "othello": ("6ee05a246ecb", "1d8e952fbc58"),
    "game2048": ("55576d37f3b4", "b649e3ab2794"),
    "morris": ("e62669816e51", "668f91c34ac3"),
    "kalah": ("d1107f90470b", "331216458155"),
    "cube2": ("9f5456177dc3", "fff96a9d02f5"),
    "cube3": ("8b713fdcfb97", "aa80bfbdb3c0"),
    "checkers": ("7b6ffc40eaca", "5debc9367620"),
    "giveaway": ("7b6ffc40eaca", "5debc9367620"),
}  # the same for a generic processor; in checkers and giveaway the first moves are the same
TRAINED = ("connect4", "hex", "othello")  # with published weights, the others random


@pytest.mark.parametrize("name", GOLDEN)
def test_golden_tree(name):
    game = games.load(name, **({"size": 6} if name == "hex" else {}))
    if name in TRAINED:
        net = ntuple.load(data_directory() / "models" / f"{name}.npz", game)
    else:
        net = network(game, num_cells=2)
    plain = {"scale": 1.0, "max_depth": None, "step_reward": 0.0}
    search = searched(game, net, game.start(1), 300, seed=1, **plain)
    sums = search.tree.sums[: search.tree.used[0]] + 0.0  # one zero, not two
    found = repr(flatten(search)).encode(), sums.tobytes()
    assert tuple(hashlib.sha256(part).hexdigest()[:12] for part in found) == GOLDEN[name]


def flatten(search, node=ROOT):
    """Actions and visits of all nodes, parents first."""
    t = search.tree
    if not t.num_slots[node]:
        return []
    block = slice(t.first[node], t.first[node] + t.num_slots[node])
    rows = [(t.action[block].tolist(), t.visits[block].tolist())]
    for slot in range(block.start, block.stop):
        for child in nodes_after(t, slot):
            rows += flatten(search, child)
    return rows
