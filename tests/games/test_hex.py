"""Hex: OpenSpiel and plain flood fill as other implementations, small boards solved, swap."""

import numpy as np
import pyspiel
import pytest

from afterstate import games
from afterstate.arena.matches import advance
from afterstate.games import conformance
from afterstate.games.svg import MARKED, view
from afterstate.kernel.random import new_rng
from afterstate.search import max_n
from oracles.solver import Solver

game, pie = games.load("hex"), games.load("hex", swap=True)


def joined(codes, size, who):
    """Whether a player's stones join its two sides: flood fill over a list of cell codes."""
    own = {(c // size, c % size) for c, code in enumerate(codes) if code == 1 + who}
    reached = {cell for cell in own if cell[who ^ 1] == 0}
    border = list(reached)
    while border:
        r, c = border.pop()
        for beside in (
            (r - 1, c),
            (r + 1, c),
            (r, c - 1),
            (r, c + 1),
            (r + 1, c - 1),
            (r - 1, c + 1),
        ):
            if beside in own and beside not in reached:
                reached.add(beside)
                border.append(beside)
    return any(cell[who ^ 1] == size - 1 for cell in reached)


@pytest.mark.slow
@pytest.mark.parametrize(
    "params", [{}, {"size": 4, "swap": True}, {"size": 11}, {"size": 15}, {"size": 2}]
)
def test_conforms(params):
    report = conformance.check(
        games.load("hex", **params), games=20 if params.get("size", 6) < 11 else 4
    )
    assert report.notes == [] and report.checks["terminal states"] >= 4


@pytest.mark.slow
@pytest.mark.parametrize(
    "size, num_games", [(6, 10_000), (3, 300), (4, 300), (5, 300), (7, 200), (9, 100), (11, 100)]
)
def test_random_games_equal_openspiel(size, num_games):
    ours, oracle, random = (
        games.load("hex", size=size),
        pyspiel.load_game(f"hex(board_size={size})"),
        np.random.default_rng(1),
    )
    rng, moves, score = new_rng(0), np.zeros(ours.max_legal, np.int32), np.zeros(2)
    # there the first player joins the rows
    other = [size * (cell % size) + cell // size for cell in range(size * size)]
    wins = [0, 0]
    for _ in range(num_games):
        s, theirs = ours.start(), oracle.new_initial_state()
        player, n = advance(ours.rules, s, -1, rng, moves, score)
        for number in random.integers(1 << 30, size=size * size).tolist():
            legal = moves[:n].tolist()
            assert (
                player == theirs.current_player()
                and sorted(other[a] for a in legal) == theirs.legal_actions()
            )
            action = legal[number % n]
            player, n = advance(ours.rules, s, action, rng, moves, score)
            theirs.apply_action(other[action])
            if player < 0 or theirs.is_terminal():
                break
        assert player < 0 and theirs.is_terminal()
        assert score.tolist() == theirs.returns() and abs(score[0]) == 1
        wins[int(score[0] < 0)] += 1
    assert min(wins) > num_games // 10


@pytest.mark.slow
@pytest.mark.parametrize("size", [2, 3, 6, 11, 15])
def test_full_boards_have_one_winner(size):
    ours, random = games.load("hex", size=size), np.random.default_rng(size)
    for _ in range(60):
        order, codes = random.permutation(size * size), np.zeros(size * size, int)
        s = ours.start()
        for ply, cell in enumerate(order.tolist()):
            codes[cell] = 1 + ply % 2
            if not ours.over(s):
                s = ours.play(s, cell)
                assert (
                    ours.over(s) == joined(codes, size, ply % 2)
                    and ours.board(s).tolist() == codes.tolist()
                )
                winner = ply % 2
        assert [joined(codes, size, who) for who in (0, 1)] == [winner == 0, winner == 1]
        assert ours.score(s)[winner] == 1 and ours.score(s).sum() == 0


def snake(size):
    """Cells of a winding chain that fills every second row: the longest way of the search."""
    cells = []
    for row in range(0, size, 2):
        columns = range(size) if row % 4 else range(size)[::-1]
        cells += [size * row + c for c in columns]
        if row + 2 < size:
            cells.append(size * (row + 1) + (size - 1 if row % 4 else 0))
    return cells


@pytest.mark.parametrize("size", [5, 9, 13])
def test_long_chains(size):
    ours, chain, random = games.load("hex", size=size), snake(size), np.random.default_rng(0)
    for _ in range(20):
        stones = random.permutation(chain).tolist()
        s, codes = ours.start(), np.zeros(size * size, int)
        for cell in stones:
            if ours.over(s):
                break
            s[-1] = 0  # the first player moves again
            s, codes[cell] = ours.play(s, cell), 1
            assert ours.over(s) == joined(codes, size, 0)


def brute_force(codes, size, who):
    """The winner under best play, 0 or 1, straight from the rules."""
    winner = 1 - who
    for cell in range(size * size):
        if codes[cell] == 0 and winner != who:
            after = codes[:cell] + (1 + who,) + codes[cell + 1 :]
            if after not in known:
                known[after] = (
                    who if joined(after, size, who) else brute_force(after, size, 1 - who)
                )
            winner = known[after]
    return winner


known = {}


def test_small_boards_solved():
    three = games.load("hex", size=3)
    values = Solver(three).values(three.start())
    assert values.tolist() == [
        1 - 2 * brute_force(tuple(int(c == cell) for c in range(9)), 3, 1) for cell in range(9)
    ]
    assert max_n.solve(three).value.tolist() == [1, -1] and values[4] == 1 and values[0] == -1
    for size in (2, 4):
        ours = games.load("hex", size=size)
        # the first player wins: strategy stealing
        assert Solver(ours).value(ours.start()) == 1


def test_random_starts():
    rng, kinds = new_rng(4), {0: 0, 1: 0}
    for _ in range(400):
        _, actions = game.random_start(rng)
        kinds[len(actions)] += 1
    assert 150 < kinds[0] < 250


# ---------------------------------------------------------------------------------------- swap rule


def test_swap_takes_the_stone_over():
    start = pie.start()
    assert (
        pie.actions == 37 and pie.max_legal == 36 and pie.legal(start).tolist() == list(range(36))
    )
    for cell in range(36):
        first = pie.play(start, cell)
        assert (
            pie.legal(first).tolist() == [c for c in range(36) if c != cell] + [36]
            and pie.action_name(first, 36) == "swap"
        )
        taken = pie.play(first, 36)
        mirrored = 6 * (cell % 6) + cell // 6
        assert (
            pie.board(taken).tolist() == [2 * (c == mirrored) for c in range(36)]
            and pie.player(taken) == 0
        )
        assert pie.legal(taken).tolist() == [c for c in range(36) if c != mirrored]
        assert not pie.over(taken) and np.array_equal(pie.parse(pie.render(taken)), taken)
    for actions in ([0, 1], [0, 36, 5], [0, 1, 2]):
        assert 36 not in pie.legal(pie.after(actions))
    with pytest.raises(ValueError, match="action 36 is not legal"):
        game.play(game.play(game.start(), 0), 36)


def test_swap_is_the_same_as_changing_sides():
    """A game after a swap has the same winner as the mirrored one with exchanged players."""
    random = np.random.default_rng(2)
    for _ in range(50):
        opening = int(random.integers(36))
        s, plain = pie.after([opening, 36]), game.after([opening])
        while not game.over(plain):
            action = int(random.choice(game.legal(plain)))
            plain, s = game.play(plain, action), pie.play(s, 6 * (action % 6) + action // 6)
            assert (
                pie.over(s) == game.over(plain)
                and pie.score(s).tolist() == game.score(plain).tolist()[::-1]
            )


def test_swap_turns_the_result_of_small_boards():
    assert max_n.solve(games.load("hex", size=3, swap=True)).value.tolist() == [-1, 1]


# ------------------------------------------------------------------------------------ text, picture


def test_text_forms_and_errors():
    s = game.after([14, 15, 20])
    text = game.render(s)
    assert text.split("\n")[2:4] == ["  . . x o . .", "   . . x . . ."] and text.endswith(
        "o to move"
    )
    assert np.array_equal(game.parse(text), s)
    assert [game.action_name(s, a) for a in (0, 5, 14, 35)] == ["a1", "f1", "c3", "f6"]
    with pytest.raises(ValueError, match="36 marks"):
        game.parse("x o")
    with pytest.raises(ValueError, match="2 x and 1 o do not fit x to move"):
        game.parse(text.replace("o to move", "x to move"))
    three = games.load("hex", size=3)
    with pytest.raises(ValueError, match="o has joined its sides already"):
        three.parse("o x x o . x o . x o to move")
    for size in (1, 16, 6.0, True):
        with pytest.raises(ValueError, match="size .*must be (a whole number from 2 to 15|int)"):
            games.load("hex", size=size)
    with pytest.raises(ValueError, match="swap .* must be bool"):
        games.load("hex", swap=1)


def test_neighbours_and_symmetry():
    assert (
        sorted(game.neighbours[0]) == [1, 6]
        and sorted(game.neighbours[5]) == [4, 10, 11]
        and sorted(game.neighbours[14]) == [8, 9, 13, 15, 19, 20]
    )
    assert all(c in game.neighbours[d] for c in range(36) for d in game.neighbours[c])
    assert game.symmetries.tolist() == [list(range(36)), list(range(36))[::-1]]


def test_picture():
    s = pie.after([14])
    drawing = view(pie, s, values={0: 0.25, 36: -0.5}, last=14)._repr_svg_()
    assert (
        drawing.count("<polygon") == 36
        and drawing.count("+0.25") == 1
        and "swap: -0.50" in drawing
        and drawing.count("<circle") == 2  # the stone, and the mark of the last move
    )
    taken = view(pie, pie.play(s, 36), last=36)._repr_svg_()
    assert MARKED in taken
