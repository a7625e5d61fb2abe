"""UCT: equal to a plain Python version, converging to exact values, the same tree everywhere."""

import hashlib
import math
from types import SimpleNamespace

import numpy as np
import pytest

from afterply import games
from afterply.kernel.functions import log
from afterply.kernel.random import new_rng, random_int
from afterply.players.searching import MCTS
from afterply.search import max_n, mcts
from afterply.search.mcts import ROOT
from many import one_in
from oldest import said_by_the_oldest
from sample_games import dice, take_game

tictactoe, nim3p, connect4 = (games.load(name) for name in ("tictactoe", "nim3p", "connect4"))
dice1, dice2, double = dice(1, 4), dice(2, 2), take_game(extra_turn=True)


def place(**more):
    """A position of the plain version, or an action of one."""
    return SimpleNamespace(visits=0, sums=0.0, **more)


def position(game, state):
    untried = game.legal(state).tolist()
    return place(state=state, player=game.player(state), untried=untried, edges=[])


def plain_search(game, state, iterations, k, tree_depth, rollout_depth, seed):
    """UCT as in a textbook, with random numbers in the same order: action -> (visits, means)."""
    rng, root = new_rng(seed), position(game, state)
    low, high = game.score_range

    def pick(node):
        bounds = []
        for edge in node.edges:
            mean = edge.sums[node.player] / edge.visits
            width = k * math.sqrt(log(node.visits + 1.0))
            bounds.append(mean + width * (1 / math.sqrt(edge.visits + 1e-6)))
            textbook = k * math.sqrt(math.log(node.visits + 1) / (edge.visits + 1e-6))
            # differently rounded only, and ties are exact ones
            assert bounds[-1] == pytest.approx(mean + textbook, rel=1e-12)
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
                node.edges.append(place(action=node.untried.pop(0), outcomes={}))
                edge, grown = node.edges[-1], True
            else:
                edge = pick(node)
            following = game.chance(game.play(node.state, edge.action), rng)
            if game.key(following) not in edge.outcomes:
                edge.outcomes[game.key(following)], grown = position(game, following), True
            node, depth = edge.outcomes[game.key(following)], depth + 1
            path += [edge, node]
        s = node.state
        while depth < rollout_depth and not game.over(s):
            legal = game.legal(s)
            s, depth = game.chance(game.play(s, legal[random_int(rng, len(legal))]), rng), depth + 1
        for one in path:
            one.visits += 1
            one.sums = one.sums + (game.score(s) - low) / (high - low)
    return {
        edge.action: (edge.visits, low + edge.sums / edge.visits * (high - low))
        for edge in root.edges
    }


CASES = [
    *[(game, 150, {}) for game in (tictactoe, nim3p, double, dice1, dice2)],
    (connect4, 150, {}),
    (nim3p, 9, {}),
    (tictactoe, 150, {"tree_depth": 2}),
    (dice1, 150, {"tree_depth": 2}),
    (double, 150, {"rollout_depth": 3, "k": 0.3}),
]


@pytest.mark.slow
@pytest.mark.parametrize("game, iterations, limits", one_in(4, CASES))
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


def chosen(game, state, iterations, seed=0, **limits):
    found = mcts.search(game, state, iterations, seed=seed, **limits)
    return found, int(found.visits.argmax())


@pytest.mark.parametrize("game, k", [(dice1, 0.3), (dice2, 2**0.5)], ids=["one", "two"])
def test_chance_converges_to_expectimax(game, k):
    s, (low, high) = game.start(), game.score_range
    for _ in range(3):
        exact = max_n.values(game, s, 10)
        found, best = chosen(game, s, 60_000, k=k)
        mover = exact[:, game.player(s)]
        assert abs(mover[0] - mover[1]) > 0.05 and mover[best] == mover.max()
        np.testing.assert_allclose(found.values[best], exact[best], atol=0.03 * (high - low))
        s = game.next(s, game.legal(s)[best], new_rng(3))


@pytest.mark.parametrize("game", [nim3p, dice2], ids=["nim3p", "chance"])
def test_a_tree_that_grew_is_the_same_and_one_without_room_says_how_far_it_came(game, monkeypatch):
    at_once = mcts.search(game, game.start(), 3000, seed=4)
    monkeypatch.setattr(mcts, "FIRST_ITERATIONS", 1)
    monkeypatch.setattr(mcts, "CHUNK", 10)
    memory = mcts.TreeSearch(game, 3000)
    small = len(memory.tree.action)
    grown = memory.run(game.start(), 3000, 4, chunk=10)
    assert len(memory.tree.action) > 8 * small
    for one, other in zip(at_once, grown):
        np.testing.assert_array_equal(one, other)
    monkeypatch.setattr(mcts, "memory", lambda: 0)
    with pytest.raises(MemoryError, match=r"after 1 iterations .* ask for fewer"):
        mcts.TreeSearch(game, 3000).run(game.start(), 3000, 4, chunk=1)


def test_reward_range_changes_exploration_but_not_the_unit():
    """A range twice as wide halves all differences, which is the same as twice the exploration."""
    plain, wide, doubled = (
        mcts.search(nim3p, nim3p.start(), 5000, seed=2, **changed)
        for changed in ({}, {"reward_range": (0.0, 2.0)}, {"k": 2 * 2**0.5})
    )
    assert wide.visits.tolist() == doubled.visits.tolist() != plain.visits.tolist()
    np.testing.assert_allclose(wide.values, doubled.values, atol=1e-12)


def run(game, state, iterations, seed, chunk=1000):
    """Search in a memory that was used before; return what was found, and the tree."""
    memory = mcts.TreeSearch(game, iterations)
    memory.run(state, iterations, seed + 1, chunk)
    return memory.run(state, iterations, seed, chunk), memory.tree


@pytest.mark.parametrize("game", [connect4, dice2], ids=["connect4", "dice"])
def test_chunks_and_a_memory_used_before_change_nothing(game):
    whole = mcts.search(game, game.start(), 2000, seed=7)
    for chunk in (1, 7, 5000):
        found, _ = run(game, game.start(), 2000, 7, chunk)
        assert np.array_equal(found.visits, whole.visits)
        assert np.array_equal(found.values, whole.values)


GOLDEN_SEARCH = (
    "[[335, 1110, 320, 292, 538, 267, 138], [210, 257, 156, 215, 210, 283, 223, 254, 174, 248, 135,"
    " 281, 194, 160]] 8e5b66b33812dd01"
)


def fingerprint():
    """Visits and means of two searches, and a hash of the visits and sums of all their nodes."""
    digest, shown = hashlib.sha256(), []
    for game, actions in ((connect4, [3, 3, 2]), (nim3p, [0])):
        found, tree = run(game, game.after(actions), 3000, 11)
        todo = [ROOT]
        while todo:
            slot = todo.pop()
            children = [int(tree.first[slot]) + i for i in range(tree.num_tried[slot])]
            todo += children
            digest.update(f"{slot} {children} {tree.action[slot]} {tree.visits[slot]}".encode())
            digest.update(tree.sums[slot].tobytes())
        shown.append(found.visits.tolist())
    return f"{shown} {digest.hexdigest()[:16]}"


@pytest.mark.slow
@pytest.mark.parametrize("cpu", ["here", "generic"])
def test_golden_search(cpu):
    """The same tree to the last bit, also with the oldest instructions only.

    If it was changed on purpose, raise MCTS.version.
    """
    code = "from search.test_mcts import fingerprint; print(fingerprint())"
    said = fingerprint() if cpu == "here" else said_by_the_oldest(code, timeout=240).strip()
    assert said == GOLDEN_SEARCH


def test_the_move_has_the_best_mean_of_those_tried():
    for seed in range(20):
        player = MCTS(30)
        player.new_match(connect4, [], 0, seed)
        action, found = player.choose(connect4.start()), player.search(connect4.start())
        assert found.values[action, 0] == found.values[:, 0].max()
    player = MCTS(2)
    player.new_match(connect4, [], 0, 1)
    values = player.values(connect4.start())
    assert np.isfinite(values).sum() == 2 and np.isfinite(values[player.choose(connect4.start())])
