"""Hex: OpenSpiel and plain flood fill as other implementations, small boards solved, swap."""

import numpy as np
import pyspiel
import pytest

from afterstate import games
from afterstate.search import max_n
from oracles.spiel_games import compare

game, pie = games.load("hex"), games.load("hex", swap=True)
STEPS = ((-1, 0), (0, -1), (0, 1), (1, 0), (1, -1), (-1, 1))


def joined(codes, size, who):
    """Whether a player's stones join its two sides: flood fill over a list of cell codes."""
    own = {(c // size, c % size) for c, code in enumerate(codes) if code == 1 + who}
    reached = {cell for cell in own if cell[who ^ 1] == 0}
    border = list(reached)
    while border:
        r, c = border.pop()
        new = ({(r + down, c + right) for down, right in STEPS} & own) - reached
        reached |= new
        border += new
    return any(cell[who ^ 1] == size - 1 for cell in reached)


@pytest.mark.slow
@pytest.mark.parametrize(
    "size, num_games", [(6, 10_000), (3, 300), (4, 300), (5, 300), (7, 200), (9, 100), (11, 100)]
)
def test_random_games_equal_openspiel(size, num_games):
    ours, oracle = games.load("hex", size=size), pyspiel.load_game(f"hex(board_size={size})")
    # there the first player joins the rows
    ends, _ = compare(ours, oracle, num_games, lambda cell, _: size * (cell % size) + cell // size)
    assert min(ends[1], ends[-1]) > num_games // 10 and ends[0] == 0


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
                assert ours.over(s) == joined(codes, size, ply % 2)
                assert ours.board(s).tolist() == codes.tolist()
                winner = ply % 2
        assert [joined(codes, size, who) for who in (0, 1)] == [winner == 0, winner == 1]
        assert ours.score(s)[winner] == 1 and ours.score(s).sum() == 0


@pytest.mark.parametrize("size", [5, 9, 13])
def test_long_chains(size):
    """A winding chain that fills every second row: the longest way of the search."""
    ours, random, chain = games.load("hex", size=size), np.random.default_rng(0), []
    for row in range(0, size, 2):
        chain += range(size * row, size * row + size)
        chain += [size * (row + 1) + (size - 1 if row % 4 else 0)] if row + 2 < size else []
    for _ in range(20):
        s, codes = ours.start(), np.zeros(size * size, int)
        for cell in random.permutation(chain).tolist():
            if ours.over(s):
                break
            s[-1] = 0  # the first player moves again
            s, codes[cell] = ours.play(s, cell), 1
            assert ours.over(s) == joined(codes, size, 0)


def test_small_boards_solved():
    three = games.load("hex", size=3)
    values = [max_n.solve(three, three.after([cell])).value[0] for cell in range(9)]
    assert values == [-1, 1, 1, -1, 1, -1, 1, 1, -1]  # by brute force over lists of codes
    assert max_n.solve(three).value.tolist() == [1, -1]
    # the first player wins, by strategy stealing; with the swap rule the second
    assert max_n.solve(games.load("hex", size=2)).value.tolist() == [1, -1]
    assert max_n.solve(games.load("hex", size=3, swap=True)).value.tolist() == [-1, 1]


def test_swap_takes_the_stone_over():
    """A game after a swap has the same winner as the mirrored one with exchanged players."""
    assert pie.legal(pie.start()).tolist() == list(range(36))
    for cell in range(36):
        first = pie.play(pie.start(), cell)
        assert pie.legal(first).tolist() == [c for c in range(36) if c != cell] + [36]
        assert pie.action_name(first, 36) == "swap"
        taken, mirrored = pie.play(first, 36), 6 * (cell % 6) + cell // 6
        assert pie.board(taken).tolist() == [2 * (c == mirrored) for c in range(36)]
        assert pie.legal(taken).tolist() == [c for c in range(36) if c != mirrored]
        assert pie.player(taken) == 0 and np.array_equal(pie.parse(pie.render(taken)), taken)
    random = np.random.default_rng(2)
    for opening in range(36):
        s, plain = pie.after([opening, 36]), game.after([opening])
        while not game.over(plain):
            action = int(random.choice(game.legal(plain)))
            plain, s = game.play(plain, action), pie.play(s, 6 * (action % 6) + action // 6)
            assert pie.over(s) == game.over(plain)
            assert pie.score(s).tolist() == game.score(plain).tolist()[::-1]
    for actions in ([0, 1], [0, 36, 5], [0, 1, 2]):
        assert 36 not in pie.legal(pie.after(actions))
    with pytest.raises(ValueError, match="action 36 is not legal"):
        game.play(game.play(game.start(), 0), 36)


def test_text_forms_and_errors():
    s = game.after([14, 15, 20])
    text = game.render(s)
    assert text.split("\n")[2:4] == ["  . . x o . .", "   . . x . . ."]
    assert text.endswith("o to move") and np.array_equal(game.parse(text), s)
    assert [game.action_name(s, a) for a in (0, 5, 14, 35)] == ["a1", "f1", "c3", "f6"]
    with pytest.raises(ValueError, match="36 marks"):
        game.parse("x o")
    with pytest.raises(ValueError, match="2 x and 1 o do not fit x to move"):
        game.parse(text.replace("o to move", "x to move"))
    with pytest.raises(ValueError, match="o, to move, has joined its sides already"):
        games.load("hex", size=3).parse("o x x o . x o . x o to move")


def test_neighbours_and_symmetry():
    found = [sorted(game.neighbours[cell]) for cell in (0, 5, 14)]
    assert found == [[1, 6], [4, 10, 11], [8, 9, 13, 15, 19, 20]]
    assert all(c in game.neighbours[d] for c in range(36) for d in game.neighbours[c])
    assert game.symmetries.tolist() == [list(range(36)), list(range(36))[::-1]]
