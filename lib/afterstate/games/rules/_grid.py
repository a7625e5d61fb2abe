"""What the games on grids of cells share: neighbours, symmetries, and marks as text."""

import numpy as np

LETTERS = "abcdefghijklmnopqrstuvwxyz"
SIDES = ((-1, 0), (0, -1), (0, 1), (1, 0))  # steps (down, right) to the cells that share a side
AROUND = ((-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1))
HEXAGON = ((-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0))


def neighbours(rows, columns, steps=SIDES) -> list:
    """Return for each cell, row by row, the cells that are one of the steps away."""

    def beside(row, column):
        cells = [(row + down, column + right) for down, right in steps]
        return [columns * r + c for r, c in cells if 0 <= r < rows and 0 <= c < columns]

    return [beside(row, column) for row in range(rows) for column in range(columns)]


def symmetries(rows, columns) -> list:
    """Return rotations and reflections of the grid (four that keep its shape if not square)."""
    grid = np.arange(rows * columns).reshape(rows, columns)
    turns = (0, 1, 2, 3) if rows == columns else (0, 2)
    boards = [np.rot90(b, t).ravel().tolist() for b in (grid, grid[:, ::-1]) for t in turns]
    return [b for k, b in enumerate(boards) if b not in boards[:k]]


def lines_of(marks, columns) -> list:
    """Return the lines of a board's text, from its marks row by row."""
    return [" ".join(marks[k : k + columns]) for k in range(0, len(marks), columns)]


def read_marks(text, cells, endings=("",), first="") -> tuple:
    """Return the marks of a position, a list row by row, and the words that follow them.

    Raises ValueError unless there are as many marks as cells, and then one of the endings; `first`
    says in the message which row comes first.
    """
    words = text.split()
    marks, ending = words[:cells], " ".join(words[cells:])
    if len(marks) != cells or not set(marks) <= {"x", "o", "."} or ending not in endings:
        then = f", then {' or '.join(map(repr, endings))}" if any(endings) else ""
        raise ValueError(
            f"a position is {cells} marks x, o or . separated by blanks{first}{then}, not {text!r}"
        )
    return marks, ending


def turn_of(marks) -> int:
    """Return who is to move, 0 = x; raises ValueError if x can not have moved first."""
    num_x, num_o = marks.count("x"), marks.count("o")
    if num_x - num_o not in (0, 1):
        raise ValueError(
            f"x moves first, so there are as many x as o or one more, not {num_x} and {num_o}"
        )
    return num_x - num_o
