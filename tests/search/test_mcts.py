"""UCT: equal to a plain Python version step by step, converging to exact values."""

import hashlib
import itertools
import math
import os
import subprocess
import sys
from functools import partial

import numpy as np
import pytest

from afterstate import arena, games, players
from afterstate.evaluators.matches import NIM3P_MCTS, Matches
from afterstate.games.game import Game
from afterstate.kernel.compile import PACKAGE, cache_root
from afterstate.kernel.functions import log
from afterstate.kernel.random import new_rng, random_int
from afterstate.players.searching import MCTS
from afterstate.search import max_n, mcts, uct
from afterstate.search.uct import NONE, ROOT, TERMINAL

tictactoe, nim3p, connect4 = games.load("tictactoe"), games.load("nim3p"), games.load("connect4")


# -------------------------------------------------------------------------------------- small games


def dice(num_players, rounds):
    """A game with chance: each move is 2 points, or a throw that adds 2, 3 or 4 or loses all."""

    def start(s, rng):
        s[0] = s[1] = s[2] = s[3] = 0  # points of both, plies, is a throw due

    def legal(s, moves):
        moves[0], moves[1] = 1, 0
        return 2

    def play(s, action):
        if action == 0:
            s[s[2] % num_players] += 2
        s[2] += 1
        s[3] = action

    def outcomes(s):
        return 4 if s[3] else 1

    def outcome(s, k):
        if s[3] == 0:
            return 1.0
        mover = (s[2] - 1) % num_players
        s[mover] = 0 if k == 0 else s[mover] + k + 1
        s[3] = 0
        return 0.25

    def chance(s, rng):
        if s[3]:
            mover, k = (s[2] - 1) % num_players, random_int(rng, 4)
            s[mover] = 0 if k == 0 else s[mover] + k + 1
            s[3] = 0

    def player(s):
        return s[2] % num_players

    def over(s):
        return s[2] == rounds * num_players

    def score(s, r):
        if num_players == 1:
            r[0] = s[0]
        else:
            r[0] = np.float64(s[2] == rounds * num_players) * (
                np.float64(s[0] > s[1]) - np.float64(s[0] < s[1])
            )
            r[1] = -r[0]

    def board(s, codes):
        codes[0] = s[0]

    return Game(
        "dice",
        start=start,
        legal=legal,
        play=play,
        chance=chance,
        outcomes=outcomes,
        outcome=outcome,
        player=player,
        over=over,
        score=score,
        board=board,
        players=num_players,
        actions=2,
        max_legal=2,
        size=4,
        num_codes=[64],
        score_range=(0.0, 4.0 * rounds) if num_players == 1 else (-1.0, 1.0),
    )


def double_turns(stones):
    """Take one to three stones, everybody twice in a row; the last stone wins."""

    def start(s, rng):
        s[0], s[1] = stones, 0

    def legal(s, moves):
        for k in range(min(3, s[0])):
            moves[k] = k
        return min(3, s[0])

    def play(s, action):
        s[0] -= action + 1
        s[1] += 1

    def player(s):
        return s[1] // 2 % 2

    def over(s):
        return s[0] == 0

    def score(s, r):
        r[0] = r[1] = 0.0
        if s[0] == 0:
            last = (s[1] - 1) // 2 % 2
            r[last], r[1 - last] = 1.0, -1.0

    def board(s, codes):
        codes[0] = s[0]

    return Game(
        "double turns",
        start=start,
        legal=legal,
        play=play,
        player=player,
        over=over,
        score=score,
        board=board,
        players=2,
        actions=3,
        max_legal=3,
        size=2,
        num_codes=[stones + 1],
    )


dice1, dice2, double = dice(1, 4), dice(2, 2), double_turns(12)


# ------------------------------------------------------------------------------------ plain version


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


# -------------------------------------------------------------------------------------- convergence


def chosen(game, state, iterations, seed=0, **limits):
    found = mcts.search(game, state, iterations, seed=seed, **limits)
    return found, int(found.visits.argmax())


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


# ----------------------------------------------------------------------------------------- the tree


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


# ------------------------------------------------------------------------------- memory, repetition


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


GOLDEN = """
import hashlib
from test_mcts import fingerprint
print(fingerprint())
"""


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


@pytest.mark.parametrize("cpu", ["here", "generic"])
def test_golden_search(cpu):
    """The same tree to the last bit, also with the oldest instructions only.

    If it was changed on purpose, raise MCTS.version.
    """
    if cpu == "here":
        assert fingerprint() == GOLDEN_SEARCH
        return
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(PACKAGE.parent), os.path.dirname(__file__)]),
        "NUMBA_CPU_NAME": "generic",
        "AFTERSTATE_CACHE": str(cache_root() / "generic"),
    }
    environment.pop("NUMBA_CPU_FEATURES", None)
    done = subprocess.run(
        [sys.executable, "-c", GOLDEN], env=environment, capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == GOLDEN_SEARCH


# --------------------------------------------------------------------------------------- the player


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


# ---------------------------------------------------------------------------------------- bad input


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
    with pytest.raises(ValueError, match="final must be 'mean' or 'visits', not 'best'"):
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
