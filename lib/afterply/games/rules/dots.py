"""Dots and Boxes: lines between dots; who draws the fourth side of a box has it and goes on.

::

    specification   dots
    players         to 4
    actions         the line
    cells           lines, 1 = drawn; for each player the number of boxes
    reward          loss, draw, win, at the end; of more players 0 to 1
    checked         against plain sets and lists
    coordinates     none: dots, lines and boxes have a column and a row, the first dot is a1

       a b c d e f g      lines row by row: 3 of a row of dots, 4 down from it, ...
     1 + 0 + 1 + 2 +
     2 3   4   5   6      state (int32)
     3 + 7 + 8 + 9 +       s[0 .. lines-1]   1 = drawn
                           then for each box   0 = open, else whose it is, counted from 1
     action = line         then              player to move

Of three or four players those with most boxes share a reward of 1. Known, by search: on 1 x 1 and
1 x 3 boxes the second player wins, on 2 x 2 the first; 1 x 2 is a draw. Source: Lucas (1895),
L'arithmetique amusante.
"""

import numpy as np

from ...checks import whole
from ...kernel.compile import kernel
from .. import drawing as draw
from ..drawing import COLOURS, INK, PAD, SOFT, Drawing, Look, Place
from ..game import Game
from . import LETTERS, SIDES, empty, irreversible, lines_of, named, pay_best, symmetries

SIDE = 64  # of a box in pictures
MAX_LINES = 64  # what a word of the key holds
NAMES = [name[0] for name in COLOURS]  # of players in texts
SETTINGS = {"alpha": 1.0, "epsilon": [0.1, 0.0], "tc": "exp", "episodes": 300_000}


@kernel
def number_of(s, value, first, n):
    """Return how many of the `n` numbers from the first on have a value."""
    count = 0
    for i in range(first, first + n):
        count += s[i] == value
    return count


@kernel
def is_closed(s, sides, box):
    """Return whether all four lines of a box are drawn; `sides` has a row for each box."""
    return s[sides[box, 0]] & s[sides[box, 1]] & s[sides[box, 2]] & s[sides[box, 3]] != 0


def _drawing(rows, columns, number, lines) -> Drawing:
    """Return the drawing; `number` is the number of each line and box, by its row and column."""
    left = PAD + 22
    by_line = {}
    boxes = []
    dots_and_letters = []
    for row in range(2 * rows + 1):
        for column in range(2 * columns + 1):
            x = left + SIDE * column / 2
            y = left + SIDE * row / 2
            k = number.get((row, column))
            if k is None:
                dots_and_letters.append(draw.circle(x, y, 5, INK))
            elif k < lines:
                by_line[k] = _line((x, y), k, f"{LETTERS[column]}{row + 1}", column % 2 == 1)
            else:
                boxes.append(Place((x, y), None, k, looks=OWNERS))
            if row == 0:
                dots_and_letters.append(draw.text_at(x, PAD + 6, LETTERS[column], 12, SOFT))
            if column == 0:
                dots_and_letters.append(draw.text_at(PAD + 4, y + 4, row + 1, 12, SOFT))
    return Drawing(
        places=[by_line[k] for k in range(lines)],
        looks={1: Look(fill=INK)},
        others=boxes,
        above=dots_and_letters,
        width=left + SIDE * columns + PAD + 34,  # there is room for the values of the last lines
        height=left + SIDE * rows + PAD + 16,
        sides=tuple(COLOURS),
    )


def _line(middle, k, name, is_across) -> Place:
    """Return the place of a line between two dots, with its value beside it."""
    if is_across:
        return Place(middle, draw.box(SIDE - 16, 12, rx=3), k, name, value_at=(0, 20, 11))
    return Place(middle, draw.box(12, SIDE - 16, rx=3), k, name, value_at=(25, 4, 11))


def _owner(name, colour) -> Look:
    """Return the look of a box that belongs to a player."""
    half = SIDE / 2 - 8
    box = draw.rect(-half, -half, 2 * half, 2 * half, colour, "none")
    return Look(box + draw.text_at(0, 6, name[0], 18))


OWNERS = {1 + player: _owner(*colour) for player, colour in enumerate(COLOURS.items())}


def dots(rows: int = 3, columns: int = 3, players: int = 2) -> Game:
    """Make the game on `rows` x `columns` boxes for two to four players; at most 64 lines."""
    whole("rows", rows, 1)
    whole("columns", columns, 1)
    whole("players", players, 2, len(NAMES))
    boxes = rows * columns
    lines = rows * (columns + 1) + columns * (rows + 1)
    if lines > MAX_LINES:
        raise ValueError(f"rows={rows}, columns={columns} have {lines} lines, more than 64")
    turn = lines + boxes
    # Dots, lines and boxes lie on a grid: dots where row and column are even, boxes where both are
    # odd, lines elsewhere. `number` is the place of a line or a box in the state.
    height = 2 * rows + 1
    width = 2 * columns + 1
    grid = [divmod(k, width) for k in range(height * width)]
    outside = [(r, c) for r, c in grid if (r + c) % 2]
    inside = [(r, c) for r, c in grid if r % 2 and c % 2]
    number = {at: k for k, at in enumerate(outside + inside)}
    # [boxes, 4] the lines around each box
    sides = np.array([[number[r + down, c + right] for down, right in SIDES] for r, c in inside])
    # of each line its one or two boxes, and the same as [lines, 2], where one box stands twice
    boxes_beside = [np.flatnonzero((sides == line).any(axis=1)) for line in range(lines)]
    boxes_at = np.array([[beside[0], beside[-1]] for beside in boxes_beside])

    # The rules

    def legal(s, moves):
        n = 0
        for line in range(lines):
            if s[line] == 0:
                moves[n] = line
                n += 1
        return n

    def play(s, action):
        who = s[turn]
        goes_on = False
        s[action] = 1
        for box in boxes_at[action]:
            if is_closed(s, sides, box):
                s[lines + box] = 1 + who
                goes_on = True
        if not goes_on:
            s[turn] = (who + 1) % players

    def player(s):
        return s[turn]

    def over(s):
        return number_of(s, 0, lines, boxes) == 0

    def score(s, r):
        if number_of(s, 0, lines, boxes) > 0:  # a box is open
            for p in range(players):
                r[p] = 0.0
            return
        for p in range(players):
            r[p] = np.float64(number_of(s, 1 + p, lines, boxes))
        pay_best(r, players)

    # What networks and searches see

    def board(s, codes):
        for line in range(lines):
            codes[line] = s[line]
        for p in range(players):
            codes[lines + p] = number_of(s, 1 + p, lines, boxes)

    def key(s, words):  # whose a box is does not matter, but how many there are
        words[0] = np.uint64(0)
        words[1] = np.uint64(s[turn])
        for line in range(lines):
            words[0] |= np.uint64(s[line]) << np.uint64(line)
        for p in range(players):
            words[1] = words[1] << np.uint64(8) | np.uint64(number_of(s, 1 + p, lines, boxes))

    # Texts and states from outside

    def fault(s):
        if not 0 <= s[turn] < players or not {*s[:lines].tolist()} <= {0, 1}:
            return "a line is drawn or not, and players are counted from 0"
        for owner, closed in zip(s[lines:turn], s[sides].all(axis=1)):
            owners = range(1, players + 1) if closed else [0]
            if owner not in owners:
                return "a box is somebody's if its four lines are drawn, and only then"
        return None

    def render(s):
        marks = dict.fromkeys(grid, "+")
        for (r, c), k in number.items():
            if k >= lines:
                marks[r, c] = (" ", *NAMES)[s[k]]
            elif s[k]:
                marks[r, c] = "|-"[c % 2]
            else:
                marks[r, c] = "."
        points = [f"{NAMES[p]} {number_of(s, 1 + p, lines, boxes)}" for p in range(players)]
        below = f"{NAMES[s[turn]]} to move; boxes: {', '.join(points)}"
        return "\n".join([*lines_of([*marks.values()], width), below])

    def shown(s, numbers):
        for i in range(turn):
            numbers[i] = s[i]

    # Symmetries of the lines: the grid is turned, and its lines follow one another as before.
    turned = []
    for image in symmetries(height, width):
        cells = [grid[cell] for cell in image]
        turned.append([number[r, c] for r, c in cells if (r + c) % 2])
    counts = list(range(lines, lines + players))  # the cells with the players' numbers of boxes
    neighbours = [np.unique(sides[beside]).tolist() for beside in boxes_beside]
    lowest = -1.0 if players == 2 else 0.0  # reward
    return Game(
        "dots",
        title="Dots and Boxes",
        aim=(
            "The player who closes more boxes wins. A move draws a line between two dots; the "
            "fourth side of a box gives you the box and another move."
        ),
        **named(legal, play, player, over, score, board, key, irreversible),
        **named(render, fault, shown),
        drawing=_drawing(rows, columns, number, lines),
        num_shown=turn,
        start=empty,
        players=players,
        actions=lines,
        size=turn + 1,
        num_codes=[2] * lines + [boxes + 1] * players,
        layout=[[number.get((r, c), -1) for c in range(width)] for r in range(height)],
        marks=range(players + 1),
        from_codes=lambda codes, player: np.array([*codes, player], np.int32),
        score_range=(lowest, 1.0),
        symmetries=[[*row, *counts] for row in turned],
        action_symmetries=np.argsort(turned, axis=1).tolist(),
        start_scheme=(0.5, 1),
        neighbours=neighbours + [counts] * players,
        settings=SETTINGS | {"tuples": _tuples(rows, columns, inside, sides, counts)},
        version=1,
    )


def _tuples(rows, columns, inside, sides, counts):
    """Return n-tuples: the lines around an inner dot, and one player's number of boxes.

    The inner dots are those of one quarter of the board, of which the symmetries make all others.
    """
    tuples = []
    for y, x in np.ndindex(max(rows, 2) // 2, max(columns, 2) // 2):
        row = 2 * y + 2
        column = 2 * x + 2
        touching = [abs(r - row) == 1 and abs(c - column) == 1 for r, c in inside]
        lines = np.unique(sides[touching]).tolist()
        tuples += [[*lines, count] for count in counts]
    return tuples
