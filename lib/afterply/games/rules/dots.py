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
from .. import boards as draw
from ..boards import COLOURS, INK, MARKED, PAD, PAPER, SOFT
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


def _drawn_box(x, y, owner):
    """Draw the box around a point; `owner` is 0 as long as it is nobody's."""
    colours = (PAPER, *COLOURS.values())
    names = (" ", *NAMES)
    half = SIDE / 2 - 8
    box = draw.rect(x - half, y - half, 2 * half, 2 * half, colours[owner], "none")
    return draw.element("g", box + draw.text_at(x, y + 6, names[owner], 18))


def _drawn_line(action, x, y, is_across, fill, value):
    """Draw the line of an action around a point, with its value beside it."""
    if is_across:
        width, height = SIDE - 16, 12
        label = draw.label(x, y + 20, value, 11, PAPER)
    else:
        width, height = 12, SIDE - 16
        label = draw.label(x + 25, y + 4, value, 11, PAPER)
    line = draw.rect(x - width / 2, y - height / 2, width, height, fill, rx=3)
    return draw.place(action, line, label)


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

    names = {k: f"{LETTERS[c]}{r + 1}" for (r, c), k in number.items()}

    def svg(s, values, last):
        left = PAD + 22
        boxes_first = sorted(grid, key=lambda cell: cell not in inside)  # lines lie above them
        parts = []
        for r, c in boxes_first:
            x = left + SIDE * c / 2
            y = left + SIDE * r / 2
            k = number.get((r, c))
            if k is None:
                parts.append(draw.circle(x, y, 5, INK))
            elif k >= lines:
                parts.append(_drawn_box(x, y, owner=s[k]))
            else:
                is_across = c % 2 == 1
                fill = line_colour(s, k, values, last)
                parts.append(_drawn_line(k, x, y, is_across, fill, values.get(k)))
            if r == 0:
                parts.append(draw.text_at(x, PAD + 6, LETTERS[c], 12, SOFT))
            if c == 0:
                parts.append(draw.text_at(PAD + 4, y + 4, r + 1, 12, SOFT))
        room_for_values = 34 if values else 0
        size_x = left + SIDE * columns + PAD + room_for_values
        size_y = left + SIDE * rows + PAD + 16
        return draw.document(parts, size_x, size_y, values)

    def line_colour(s, line, values, last):
        if line == last:
            return MARKED
        if s[line]:
            return INK
        return draw.value_colour(values.get(line))

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
        **named(legal, play, player, over, score, board, key, irreversible),
        **named(render, svg, fault),
        start=empty,
        action_name=lambda s, action: names[action],
        players=players,
        actions=lines,
        size=turn + 1,
        num_codes=[2] * lines + [boxes + 1] * players,
        layout=[[number.get((r, c), -1) for c in range(width)] for r in range(height)],
        marks=range(players + 1),
        drawn_codes=lambda s: s[:turn],
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
