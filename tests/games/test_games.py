"""Every game conforms; the small games equal what is known about them and plain versions."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from afterstate import games
from afterstate.games import conformance, counts
from afterstate.games.game import Game
from afterstate.search import max_n
from sample_games import race

VARIANTS = [
    ("tictactoe", {}),
    ("tictactoe", {"rows": 3, "columns": 4, "k": 3}),
    ("tictactoe", {"rows": 2, "columns": 5, "k": 3}),
    ("nim", {}),
    ("nim", {"misere": True}),
    ("nim", {"heaps": 4, "stones": 3, "take": 2}),
    ("nim", {"heaps": 6, "stones": 2}),
    ("nim3p", {}),
    ("nim3p", {"extra_rule": False, "take": 2}),
]
ALL = VARIANTS + [(name, {}) for name in games.names() if (name, {}) not in VARIANTS]
HEAVY = {"cube2", "cube3", "game2048", "morris", "othello"}


@pytest.fixture(scope="module", params=ALL, ids=str)
def game(request):
    return games.load(request.param[0], **request.param[1])


@pytest.mark.parametrize(
    "variant",
    [pytest.param(v, marks=pytest.mark.slow if v[0] in HEAVY else ()) for v in ALL],
    ids=str,
)
def test_every_game_conforms(variant):
    report = games.check(games.load(variant[0], **variant[1]), games=10, seed=5)
    assert report.checks["states"] > 10 and "conforms" in str(report)


@pytest.mark.slow
@settings(max_examples=20, deadline=None, derandomize=True)
@given(picks=st.lists(st.integers(0, 10**6), max_size=60))
def test_every_state_of_any_play_conforms(game, picks):
    checker, s = conformance.Report(game), game.start(len(picks))
    for pick in picks:
        moves = checker.state(s)
        if not moves:
            break
        action = moves[pick % len(moves)]
        checker.play(s, action)
        s = game.next(s, action)
    checker.state(s)


# ------------------------------------------------------------------------------------- known counts
def all_positions(game):
    """All reachable states by key, found by plain breadth-first search."""
    found, frontier = {}, [game.start()]
    while frontier:
        s = frontier.pop()
        if game.key(s) not in found:
            found[game.key(s)] = s
            frontier += [game.play(s, a) for a in game.legal(s)]
    return list(found.values())


@pytest.mark.slow
def test_tictactoe_counts():
    game = games.load("tictactoe")
    positions = all_positions(game)
    ends = [game.score(s)[0] for s in positions if game.over(s)]
    assert len(positions) == 5478 and len(ends) == 958
    assert [ends.count(result) for result in (1, -1, 0)] == [626, 316, 16]
    assert sum(len(game.legal(s)) for s in positions) == 16_167
    boards = [game.board(s) for s in positions]
    assert len({min(tuple(b[row].tolist()) for row in game.symmetries) for b in boards}) == 765
    paths = [9, 72, 504, 3024, 15120, 54720, 148176, 200448, 127872]
    assert [counts.perft(game, d) for d in range(1, 10)] == paths
    found = max_n.solve(game)
    assert found.value.tolist() == [0, 0] and (found.positions, found.terminal) == (5478, 958)


def test_nim_losing_positions():
    game = games.load("nim")
    lost = []
    for heaps in itertools.product(range(6), repeat=3):
        s = game.parse(" ".join(map(str, heaps)) + " : 0")
        value = max_n.solve(game, s).value[0]
        assert value == (-1 if heaps[0] ^ heaps[1] ^ heaps[2] == 0 else 1)
        if value == -1:
            lost.append(heaps)
    assert len(lost) == 28 and (0, 0, 0) in lost
    s = game.start()
    good = [a for a, v in zip(game.legal(s), max_n.values(game, s, 15)[:, 0]) if v == 1]
    assert [game.action_name(s, a) for a in good] == [f"5 from heap {k}" for k in (1, 2, 3)]


# ------------------------------------------------------------------------ tiny independent versions
def lines(rows, columns, k):
    """All sets of k cells in a line."""
    ways = ((0, 1), (1, 0), (1, 1), (1, -1))
    for r, c, (down, right) in itertools.product(range(rows), range(columns), ways):
        cells = [(r + i * down, c + i * right) for i in range(k)]
        if all(0 <= a < rows and 0 <= b < columns for a, b in cells):
            yield {a * columns + b for a, b in cells}


@pytest.mark.parametrize(
    "rows, columns, k", [(3, 3, 3), (3, 4, 3), (2, 5, 3), (4, 4, 4), (1, 4, 2)]
)
def test_mnk_against_sets_of_cells(rows, columns, k):
    game, cells = games.load("tictactoe", rows=rows, columns=columns, k=k), range(rows * columns)
    winning, random = list(lines(rows, columns, k)), np.random.default_rng(3)
    for _ in range(60):
        s, taken = game.start(), ([], [])
        for ply in itertools.count():
            won = [any(line <= set(mine) for line in winning) for mine in taken]
            free = [c for c in cells if c not in taken[0] + taken[1]]
            assert game.over(s) == (any(won) or not free)
            assert game.score(s).tolist() == [won[0] - won[1], won[1] - won[0]]
            if game.over(s):
                break
            assert game.player(s) == ply % 2 and game.legal(s).tolist() == free
            codes = [2 if c in taken[0] else 0 if c in taken[1] else 1 for c in cells]
            assert game.board(s).tolist() == codes
            move = int(random.choice(free))
            taken[ply % 2].append(move)
            s = game.play(s, move)


def nim_value(heaps, take, end, memo):
    """Rewards by turn order (mover first) under best play; `end` = rewards at the end."""
    if sum(heaps) == 0:
        return end
    if heaps not in memo:
        best = None
        for h, t in itertools.product(range(len(heaps)), range(1, take + 1)):
            if t <= heaps[h]:
                left = tuple(sorted(n - t * (i == h) for i, n in enumerate(heaps)))
                after = nim_value(left, take, end, memo)
                mine = (after[-1], *after[:-1])  # who moves now is last in turn after this move
                best = mine if best is None or mine[0] > best[0] else best
        memo[heaps] = best
    return memo[heaps]


@pytest.mark.parametrize(
    "name, params, end",
    [
        ("nim", {}, (-1, 1)),
        ("nim", {"misere": True}, (1, -1)),
        ("nim", {"heaps": 4, "stones": 3, "take": 2}, (-1, 1)),
        ("nim", {"heaps": 2, "stones": 7, "take": 3, "misere": True}, (1, -1)),
        ("nim3p", {}, (1, 0.2, 0)),
        ("nim3p", {"take": 2, "stones": 3}, (1, 0.2, 0)),
    ],
)
def test_nim_against_its_definition(name, params, end):
    game, memo = games.load(name, **params), {}
    take = params.get("take") or params.get("stones", 5)
    for s in all_positions(game)[::7]:
        ours, mover = max_n.solve(game, s).value, s[-1]
        theirs = nim_value(tuple(sorted(s[:-1].tolist())), take, end, memo)
        in_turn = [ours[(mover + i) % game.players] for i in range(game.players)]
        assert in_turn == pytest.approx(theirs)


# ------------------------------------------------------ the check finds what is wrong in a new game
def bad_legal(s, moves):
    moves[0], moves[1] = 1, 1
    return 2


def scattered_legal(s, moves):
    moves[0], moves[1], moves[2] = 0, 2, 1
    return 3


def bad_score(s, r):
    r[0], r[1] = 3.0 if s[0] >= 5 else 0.0, 0.0


def bad_key(s, k):
    k[0] = k[1] = np.uint64(s[0] // 2)


def touching_over(s):
    s[0] += 1
    return s[0] >= 5


def step(s, rng):
    s[0] = min(5, s[0] + 1 - (rng[0] & np.uint64(1)))
    rng[0] = rng[0] * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)


def lopsided(s, k):
    s[0] = min(5, s[0] + k)
    return 0.4


def unlike(s, k):
    s[0] = min(5, s[0] + k)
    return 0.9 - 0.8 * k


@pytest.mark.slow
@pytest.mark.parametrize(
    "changed, message",
    [
        ({"legal": bad_legal}, "distinct"),
        ({"legal": scattered_legal, "actions": 4, "max_legal": 3, "compound": 2}, "side by side"),
        ({"score": bad_score}, "score_range"),
        ({"key": bad_key}, "stands for two positions"),
        ({"over": touching_over}, "changes the state"),
        ({"parse": lambda text: [0, 0]}, "parse"),
        ({"chance": step, "outcomes": lambda s: 2, "outcome": lopsided}, "add up to 0.8"),
        ({"chance": step, "outcomes": lambda s: 2, "outcome": unlike}, r"of 2000 has p = 0\.[19]"),
    ],
    ids=lambda x: x if isinstance(x, str) else "",
)
def test_the_check_finds(changed, message):
    with pytest.raises(conformance.NotConforming, match=message):
        games.check(race(**changed), games=10)


def altered(change):
    """Tic-Tac-Toe with other action symmetries."""
    arguments = dict(games.load("tictactoe")._arguments)
    arguments["action_symmetries"] = change([list(row) for row in arguments["action_symmetries"]])
    return Game(**arguments)


def test_the_check_finds_a_wrong_symmetry():
    """Actions turned like the cells, but with two exchanged: a group, yet another one."""
    exchanged = [1, 0, *range(2, 9)]
    wrong = altered(lambda rows: [[exchanged[row[exchanged[a]]] for a in range(9)] for row in rows])
    with pytest.raises(conformance.NotConforming, match="commute with symmetry"):
        games.check(wrong, games=2)


@pytest.mark.parametrize(
    "change, message",
    [
        (
            lambda rows: [rows[k] for k in (0, 2, 1, 3, 4, 5, 6, 7)],
            "1 and then 1 .* takes action 0 to",
        ),
        (lambda rows: [np.argsort(row) for row in rows], "symmetry 1 and then 4 is symmetry"),
        (lambda rows: "none", "table of whole numbers"),
    ],
    ids=["rows exchanged", "inverse", "a word"],
)
def test_action_symmetries_follow_one_another_like_the_symmetries(change, message):
    with pytest.raises(ValueError, match=message):
        altered(change)
