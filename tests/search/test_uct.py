"""UCT step by step: equal to a plain Python version, within its limits, the same everywhere."""

import hashlib
import itertools
import math

import numpy as np
import pytest

from afterstate import games
from afterstate.kernel.functions import log
from afterstate.kernel.random import new_rng, random_int
from afterstate.players.searching import MCTS
from afterstate.search import mcts, uct
from afterstate.search.uct import NONE, ROOT, TERMINAL
from oldest import said_by_the_oldest
from sample_games import dice, double_turns

tictactoe, nim3p, connect4 = games.load("tictactoe"), games.load("nim3p"), games.load("connect4")
dice1, dice2, double = dice(1, 4), dice(2, 2), double_turns(12)


class Node:
    """A position of the plain version.

    `children` are edges (action, {key: Node}, [visits, rewards]).
    """

    def __init__(self, game, state):
        self.state, self.player = state, game.player(state)
        self.visits, self.sums = 0, np.zeros(game.players)
        self.untried, self.edges = game.legal(state).tolist(), []


class Edge:
    """An action of a node, and the positions that it has led to."""

    def __init__(self, action, num_players):
        self.action, self.outcomes, self.visits, self.sums = action, {}, 0, np.zeros(num_players)


def plain_search(game, state, iterations, k, tree_depth, rollout_depth, seed):
    """UCT as in a textbook; it draws random numbers in the same order.

    Returns action -> (visits, mean rewards).
    """
    rng, root = new_rng(seed), Node(game, state)
    low, high = game.score_range

    def pick(node):
        means = [edge.sums[node.player] / edge.visits for edge in node.edges]
        textbook = [
            mean + k * math.sqrt(math.log(node.visits + 1) / (edge.visits + 1e-6))
            for mean, edge in zip(means, node.edges)
        ]
        bounds = [
            mean + k * math.sqrt(log(node.visits + 1.0)) * (1 / math.sqrt(edge.visits + 1e-6))
            for mean, edge in zip(means, node.edges)
        ]
        # differently rounded only, and ties are exact ones
        assert bounds == pytest.approx(textbook, rel=1e-12)
        best, ties = 0, 1
        for i in range(1, len(bounds)):
            if bounds[i] > bounds[best]:
                best, ties = i, 1
            elif bounds[i] == bounds[best]:
                ties += 1
                best = i if random_int(rng, ties) == 0 else best
        return node.edges[best]

    for _ in range(iterations):
        node, depth, path, grown = root, 0, [root], False
        while not grown and depth < tree_depth and not game.over(node.state):
            if node.untried:
                i = random_int(rng, len(node.untried))
                node.untried[0], node.untried[i] = node.untried[i], node.untried[0]
                node.edges.append(Edge(node.untried.pop(0), game.players))
                edge, grown = node.edges[-1], True
            else:
                edge = pick(node)
            following = game.chance(game.play(node.state, edge.action), rng)
            if game.key(following) not in edge.outcomes:
                edge.outcomes[game.key(following)], grown = Node(game, following), True
            node, depth = edge.outcomes[game.key(following)], depth + 1
            path += [edge, node]
        s = node.state
        while depth < rollout_depth and not game.over(s):
            legal = game.legal(s)
            s, depth = game.chance(game.play(s, legal[random_int(rng, len(legal))]), rng), depth + 1
        for place in path:
            place.visits += 1
            place.sums += (game.score(s) - low) / (high - low)
    return {
        edge.action: (edge.visits, low + edge.sums / edge.visits * (high - low))
        for edge in root.edges
    }


CASES = [
    (tictactoe, 400, {}),
    (nim3p, 400, {}),
    (double, 400, {}),
    (dice1, 400, {}),
    (dice2, 400, {}),
    (connect4, 150, {}),
    (nim3p, 9, {}),
    (tictactoe, 300, {"tree_depth": 2}),
    (dice1, 300, {"tree_depth": 2}),
    (double, 300, {"rollout_depth": 3, "k": 0.3}),
]


@pytest.mark.slow
@pytest.mark.parametrize(
    "game, iterations, limits", CASES, ids=[f"{g.name}-{g.players}-{n}-{x}" for g, n, x in CASES]
)
def test_search_equals_the_plain_version(game, iterations, limits):
    limits = dict(k=2**0.5, tree_depth=10, rollout_depth=200) | limits
    for seed in range(3):
        plain = plain_search(game, game.start(), iterations, seed=seed, **limits)
        found = mcts.search(game, game.start(), iterations, seed=seed, **limits)
        assert found.actions.tolist() == game.legal(game.start()).tolist()
        for action, visits, values in zip(found.actions.tolist(), found.visits, found.values):
            expected = plain.get(action, (0, np.full(game.players, np.nan)))
            assert visits == expected[0]
            np.testing.assert_allclose(values, expected[1], rtol=0, atol=1e-9)


def nodes_of(tree, chance):
    """All nodes below the root as (slot, children that were tried, is it an afterstate)."""
    todo = [(ROOT, False)]
    while todo:
        slot, after = todo.pop()
        if after:
            children, outcome = [], tree.first[slot]
            while outcome != NONE:
                children.append(int(outcome))
                outcome = tree.sibling[outcome]
        else:
            children = [int(tree.first[slot]) + i for i in range(tree.num_tried[slot])]
        todo += [(child, chance and not after) for child in children]
        yield slot, children, after


@pytest.mark.parametrize(
    "game",
    [tictactoe, nim3p, connect4, double, dice1, dice2],
    ids=lambda g: f"{g.name}-{g.players}",
)
def test_visits_and_sums_add_up(game):
    found = mcts.search(game, game.start(), 3000, seed=4)
    tree, slots = found.tree, set()
    for slot, children, after in nodes_of(tree, not game.deterministic):
        visits = int(tree.visits[slot])
        below = sum(int(tree.visits[child]) for child in children)
        if after or slot == ROOT:
            assert visits == below
        elif tree.player[slot] == TERMINAL:
            assert not children
        else:
            # the first visit was its own rollout; none below the depth limit
            assert below in (visits - 1, 0)
        assert 0 <= tree.sums[slot].min() and tree.sums[slot].max() <= visits
        slots.add(slot)
    assert len(slots) <= tree.used[0] <= len(tree.action)
    assert tree.visits[ROOT] == found.visits.sum() == 3000 and found.visits.min() > 0


def test_tree_depth_bounds_the_tree():
    def height(depth):
        tree = mcts.search(connect4, connect4.start(), 3000, tree_depth=depth).tree
        level, found = [ROOT], 0
        while level:
            level = [
                c
                for slot in level
                if tree.num_tried[slot]
                for c in range(tree.first[slot], tree.first[slot] + tree.num_tried[slot])
            ]
            found += bool(level)
        return found

    assert [height(depth) for depth in (1, 2, 3)] == [1, 2, 3] and height(None) > 3


def test_rollout_depth_counts_from_the_root():
    """Ten stones, at most three a move: no game ends within three actions, so scores are 0."""
    s = double.parse("10 0")
    assert (mcts.search(double, s, 200, rollout_depth=3, tree_depth=3).values == 0).all()
    assert (mcts.search(double, s, 200, rollout_depth=4, tree_depth=3).values != 0).any()
    assert dice1.score_range == (0, 16) and mcts.search(
        dice1, dice1.start(), 50, rollout_depth=1, tree_depth=1
    ).values[1, 0] == pytest.approx(2.0)


def test_reward_range_changes_exploration_but_not_the_unit():
    """A range twice as wide halves all differences, which is the same as twice the exploration.

    So does the original's [-1, 1] for Nim3P.
    """

    def run(**changed):
        return mcts.search(nim3p, nim3p.start(), 5000, seed=2, **changed)

    plain, wide, doubled = run(), run(reward_range=(0.0, 2.0)), run(k=2 * 2**0.5)
    assert wide.visits.tolist() == doubled.visits.tolist() != plain.visits.tolist()
    np.testing.assert_allclose(wide.values, doubled.values, atol=1e-12)
    original = run(reward_range=(-1.0, 1.0))
    assert original.visits.std() < 0.6 * plain.visits.std()
    np.testing.assert_allclose(original.values, plain.values, atol=0.1)


@pytest.mark.parametrize("game", [connect4, dice2], ids=["connect4", "dice"])
def test_chunks_and_growth_change_nothing(game):
    limits = mcts.limits_of(game)
    whole = mcts.search(game, game.start(), 2000, seed=7)
    for slots, chunk in itertools.product((None, game.max_legal + 2), (1, 7, 5000)):
        memory = mcts.TreeSearch(game, 2000, limits)
        if slots is not None:
            memory.tree = mcts._new_tree(game, slots)
        for seed in (3, 7):  # the second search in the same memory
            found = memory.run(game.start(), 2000, seed, chunk)
        assert (
            found.visits.tolist() == whole.visits.tolist()
            and found.values.tolist() == whole.values.tolist()
        )
        assert (
            found.tree.used[0] == whole.tree.used[0] <= len(found.tree.action) <= memory.most_slots
        )


def test_the_bound_of_slots_is_never_exceeded():
    for game, iterations in itertools.product(
        (connect4, dice2, nim3p, tictactoe), (1, 2, 3, 10, 200)
    ):
        memory = mcts.TreeSearch(
            game, iterations, mcts.limits_of(game, tree_depth=None, rollout_depth=None)
        )
        memory.tree = mcts._new_tree(game, memory.most_slots)
        found = memory.run(game.start(), iterations, 1)
        assert (
            len(found.tree.action) == memory.most_slots >= found.tree.used[0]
            and found.tree.visits[ROOT] == iterations
        )


def test_logarithms_beyond_the_table_are_the_same(monkeypatch):
    whole = mcts.search(connect4, connect4.start(), 500, seed=3)
    monkeypatch.setattr(mcts, "LOG_ENTRIES", 5)
    assert (
        mcts.search(connect4, connect4.start(), 500, seed=3).visits.tolist()
        == whole.visits.tolist()
    )


def test_an_interrupted_search_leaves_nothing_behind(monkeypatch):
    player, calls = MCTS(5000), []

    def interrupted(*arguments):
        calls.append(arguments[4])
        if len(calls) == 2:
            raise KeyboardInterrupt
        return iterate(*arguments)

    player.new_match(connect4, [], 0, 1)
    iterate = uct.iterate
    monkeypatch.setattr(mcts, "iterate", interrupted)
    with pytest.raises(KeyboardInterrupt):
        player.choose(connect4.start())
    assert calls == [mcts.CHUNK] * 2
    assert player.search(connect4.start()).visits.sum() == 5000


def test_same_seed_same_search():
    runs = [
        mcts.search(connect4, connect4.start(), 500, seed=seed).visits.tolist()
        for seed in (1, 1, 2)
    ]
    assert runs[0] == runs[1] != runs[2]


GOLDEN = "from search.test_uct import fingerprint; print(fingerprint())"


def fingerprint():
    """Visits and means of three searches, and a hash of the visits and sums of all their nodes."""
    digest, shown = hashlib.sha256(), []
    for game, actions in ((connect4, [3, 3, 2]), (nim3p, [0])):
        found = mcts.search(game, game.after(actions), 3000, seed=11)
        for slot, children, _ in nodes_of(found.tree, False):
            digest.update(
                f"{slot} {children} {found.tree.action[slot]} {found.tree.visits[slot]}".encode()
                + found.tree.sums[slot].tobytes()
            )
        shown.append(found.visits.tolist())
    return f"{shown} {digest.hexdigest()[:16]}"


GOLDEN_SEARCH = (
    "[[335, 1110, 320, 292, 538, 267, 138], [210, 257, 156, 215, 210, 283, 223, 254, 174, 248, 135,"
    " 281, 194, 160]] 8e5b66b33812dd01"
)


@pytest.mark.slow
@pytest.mark.parametrize("cpu", ["here", "generic"])
def test_golden_search(cpu):
    """The same tree to the last bit, also with the oldest instructions only.

    If it was changed on purpose, raise MCTS.version.
    """
    if cpu == "here":
        assert fingerprint() == GOLDEN_SEARCH
        return
    assert said_by_the_oldest(GOLDEN, timeout=240).strip() == GOLDEN_SEARCH
