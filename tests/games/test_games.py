"""Every game conforms.

The small games equal what is known about them and tiny versions of their rules.
"""

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


def load(variant):
    return games.load(variant[0], **variant[1])


@pytest.fixture(scope="module", params=ALL, ids=str)
def game(request):
    return load(request.param)


HEAVY = {"cube2", "cube3", "game2048", "morris", "othello"}


@pytest.mark.parametrize(
    "variant",
    [pytest.param(v, marks=pytest.mark.slow if v[0] in HEAVY else ()) for v in ALL],
    ids=str,
)
def test_every_game_conforms(variant):
    report = conformance.check(load(variant), games=10, seed=5)
    assert report.checks["states"] > 10 and "conforms" in str(report)


@pytest.mark.slow
@settings(max_examples=20, deadline=None, derandomize=True)
@given(picks=st.lists(st.integers(0, 10**6), max_size=60))
def test_every_state_of_any_play_conforms(game, picks):
    checker, s = conformance.Checker(game), game.start(len(picks))
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
    classes = {
        min(tuple(game.board(s)[where].tolist()) for where in game.symmetries) for s in positions
    }
    assert len(classes) == 765
    assert counts.num_games(game, 9) == 255_168
    assert [counts.perft(game, d) for d in range(1, 10)] == [
        9,
        72,
        504,
        3024,
        15120,
        54720,
        148176,
        200448,
        127872,
    ]
    solution = max_n.solve(game)
    assert solution.value.tolist() == [0, 0] and (solution.positions, solution.terminal) == (
        5478,
        958,
    )


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
    assert [game.action_name(s, a) for a in good] == [
        "5 from heap 1",
        "5 from heap 2",
        "5 from heap 3",
    ]


def test_nim3p_outcome():
    assert max_n.solve(games.load("nim3p")).value.tolist() == [1.0, 0.2, 0.0]


# ------------------------------------------------------------------------ tiny independent versions


def lines(rows, columns, k):
    """All sets of k cells in a line."""
    for r, c, (down, right) in itertools.product(
        range(rows), range(columns), ((0, 1), (1, 0), (1, 1), (1, -1))
    ):
        cells = [(r + i * down, c + i * right) for i in range(k)]
        if all(0 <= a < rows and 0 <= b < columns for a, b in cells):
            yield {a * columns + b for a, b in cells}


@pytest.mark.parametrize(
    "rows, columns, k", [(3, 3, 3), (3, 4, 3), (2, 5, 3), (4, 4, 4), (1, 4, 2)]
)
def test_mnk_against_sets_of_cells(rows, columns, k):
    game, winning = (
        games.load("tictactoe", rows=rows, columns=columns, k=k),
        list(lines(rows, columns, k)),
    )
    random = np.random.default_rng(3)
    for _ in range(60):
        s, taken = game.start(), ([], [])
        for ply in itertools.count():
            won = [any(line <= set(mine) for line in winning) for mine in taken]
            free = [c for c in range(rows * columns) if c not in taken[0] + taken[1]]
            assert game.over(s) == (any(won) or not free)
            assert game.score(s).tolist() == [won[0] - won[1], won[1] - won[0]]
            if game.over(s):
                break
            assert game.player(s) == ply % 2 and game.legal(s).tolist() == free
            assert game.board(s).tolist() == [
                2 if c in taken[0] else 0 if c in taken[1] else 1 for c in range(rows * columns)
            ]
            move = int(random.choice(free))
            taken[ply % 2].append(move)
            s = game.play(s, move)


def nim_value(heaps, players, take, end):
    """Rewards by turn order (mover first) under best play, straight from the definition.

    `end` = rewards at the end.
    """
    memo = {}

    def value(heaps):
        if sum(heaps) == 0:
            return end
        if heaps not in memo:
            best = None
            for h, t in itertools.product(range(len(heaps)), range(1, take + 1)):
                if t <= heaps[h]:
                    after = value(tuple(sorted(n - t * (i == h) for i, n in enumerate(heaps))))
                    mine = (after[-1], *after[:-1])  # who moves now is last in turn after this move
                    best = mine if best is None or mine[0] > best[0] else best
            memo[heaps] = best
        return memo[heaps]

    return value(tuple(sorted(heaps)))


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
    game = games.load(name, **params)
    take = params.get("take") or params.get("stones", 5)
    for s in all_positions(game)[::7]:
        ours, heaps, mover = max_n.solve(game, s).value, s[:-1].tolist(), s[-1]
        theirs = nim_value(heaps, game.players, take, end)
        assert [ours[(mover + i) % game.players] for i in range(game.players)] == pytest.approx(
            theirs
        )


# ---------------------------------------------------------------------------------------- bad input


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="no game 'tictacto': did you mean 'tictactoe'"):
        games.load("tictacto")
    with pytest.raises(ValueError, match="no parameter 'heap'.*heaps=3"):
        games.load("nim", heap=4)
    with pytest.raises(ValueError, match="stones must be a whole number of at least 1, not -1"):
        games.load("nim", stones=-1)
    with pytest.raises(ValueError, match="columns=99"):
        games.load("tictactoe", columns=99)
    game = games.load("tictactoe")
    s = game.play(game.start(), 4)
    with pytest.raises(ValueError, match=r"action 4 is not legal.*\[0, 1, 2, 3, 5"):
        game.play(s, 4)
    with pytest.raises(ValueError, match="action 9 is not legal"):
        game.play(s, 9)
    with pytest.raises(ValueError, match=r"vector of 11 int32, not .* of shape \(9,\)"):
        game.legal(np.zeros(9, np.int32))
    with pytest.raises(ValueError, match="9 marks"):
        game.parse("x o x")
    with pytest.raises(ValueError, match="depth must be"):
        counts.perft(game, -1)


# ------------------------------------------------------ the suite finds what is wrong in a new game


def bad_legal(s, moves):
    moves[0], moves[1] = 1, 1
    return 2


def many_legal(s, moves):
    for i in range(5):
        moves[i] = i
    return 5


def scattered_legal(s, moves):
    moves[0], moves[1], moves[2] = 0, 2, 1
    return 3


def bad_player(s):
    return 2


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


def two(s):
    return 2


def lopsided(s, k):
    s[0] = min(5, s[0] + k)
    return 0.4


def test_suite_accepts_a_game_from_a_notebook():
    assert conformance.check(race(), games=5).checks["terminal states"] == 5


@pytest.mark.slow
@pytest.mark.parametrize(
    "changed, message",
    [
        ({"legal": bad_legal}, "distinct"),
        ({"legal": many_legal}, "more than 2 values"),
        ({"player": bad_player}, "'player' gives 2"),
        ({"legal": scattered_legal, "actions": 4, "max_legal": 3, "compound": 2}, "side by side"),
        ({"score": bad_score}, "score_range"),
        ({"num_codes": [4]}, "cell 0 has the code"),
        ({"key": bad_key}, "stands for two positions"),
        ({"over": touching_over}, "changes the state"),
        ({"parse": lambda text: [0, 0]}, "parse"),
        ({"chance": step, "outcomes": two, "outcome": lopsided}, "add up to 0.8"),
    ],
    ids=lambda x: x if isinstance(x, str) else "",
)
def test_suite_finds(changed, message):
    with pytest.raises(conformance.NotConforming, match=message):
        conformance.check(race(**changed), games=10)


def test_suite_finds_a_wrong_symmetry():
    """Actions turned like the cells, but with two exchanged: a group, yet another one."""
    arguments, exchanged = dict(games.load("tictactoe")._arguments), [1, 0, *range(2, 9)]
    arguments["action_symmetries"] = [
        [exchanged[row[exchanged[a]]] for a in range(9)] for row in arguments["action_symmetries"]
    ]
    with pytest.raises(conformance.NotConforming, match="commute with symmetry"):
        conformance.check(Game(arguments.pop("name"), **arguments), games=2)


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda rows: rows[:-1], "there are 8 symmetries, but 7 rows of action_symmetries"),
        (
            lambda rows: rows[:3] + [[0] * 9] + rows[4:],
            "each row of action_symmetries must be a permutation",
        ),
        (
            lambda rows: [rows[k] for k in (0, 2, 1, 3, 4, 5, 6, 7)],
            "symmetry 1 and then 1 is symmetry 2, but action_symmetries takes action 0",
        ),
        (
            lambda rows: [np.argsort(row).tolist() for row in rows],
            "symmetry 1 and then 4 is symmetry",
        ),
        (lambda rows: "none", "table of whole numbers"),
    ],
    ids=["a row less", "no permutation", "rows exchanged", "inverse", "a word"],
)
def test_action_symmetries_follow_one_another_like_the_symmetries(change, message):
    arguments = dict(games.load("tictactoe")._arguments)
    arguments["action_symmetries"] = change([list(row) for row in arguments["action_symmetries"]])
    with pytest.raises(ValueError, match=message):
        Game(arguments.pop("name"), **arguments)
