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

SIDE, MAX_LINES = 64, 64  # of a box in pictures; what a word of the key holds
NAMES = [name[0] for name in COLOURS]  # of players in texts
SETTINGS = {"alpha": 1.0, "epsilon": [0.1, 0.0], "tc": "exp", "episodes": 300_000}


@kernel
def number_of(s, value, first, n):
    """Return how many of the `n` numbers from the first on have a value."""
    found = 0
    for i in range(first, first + n):
        found += s[i] == value
    return found


def dots(rows: int = 3, columns: int = 3, players: int = 2) -> Game:
    """Make the game on `rows` x `columns` boxes for two to four players; at most 64 lines."""
    whole("rows", rows, 1)
    whole("columns", columns, 1)
    whole("players", players, 2, len(NAMES))
    boxes, lines = rows * columns, rows * (columns + 1) + columns * (rows + 1)
    if lines > MAX_LINES:
        raise ValueError(f"rows={rows}, columns={columns} have {lines} lines, more than 64")
    # dots, lines and boxes lie on a grid; `number` is the place in the state, by row and column
    height, width, turn = 2 * rows + 1, 2 * columns + 1, lines + boxes
    grid = [divmod(k, width) for k in range(height * width)]
    inside = [(r, c) for r, c in grid if r % 2 and c % 2]
    number = {at: k for k, at in enumerate([at for at in grid if sum(at) % 2] + inside)}
    sides = np.array([[number[r + down, c + right] for down, right in SIDES] for r, c in inside])
    beside = [np.flatnonzero((sides == line).any(axis=1)) for line in range(lines)]
    boxes_at = np.array([[found[0], found[-1]] for found in beside])

    def legal(s, moves):
        n = 0
        for line in range(lines):
            if s[line] == 0:
                moves[n] = line
                n += 1
        return n

    def play(s, action):
        who, again = s[turn], False
        s[action] = 1
        for box in boxes_at[action]:
            if s[sides[box, 0]] & s[sides[box, 1]] & s[sides[box, 2]] & s[sides[box, 3]]:
                s[lines + box], again = 1 + who, True
        s[turn] = who if again else (who + 1) % players

    def score(s, r):
        ended = number_of(s, 0, lines, boxes) == 0
        for p in range(players):
            r[p] = np.float64(number_of(s, 1 + p, lines, boxes)) if ended else 0.0
        if ended:
            pay_best(r, players)

    def board(s, codes):
        for line in range(lines):
            codes[line] = s[line]
        for p in range(players):
            codes[lines + p] = number_of(s, 1 + p, lines, boxes)

    def key(s, words):  # whose a box is does not matter, but how many there are
        words[0], words[1] = np.uint64(0), np.uint64(s[turn])
        for line in range(lines):
            words[0] |= np.uint64(s[line]) << np.uint64(line)
        for p in range(players):
            words[1] = words[1] << np.uint64(8) | np.uint64(number_of(s, 1 + p, lines, boxes))

    def fault(s):
        if not 0 <= s[turn] < players or not {*s[:lines].tolist()} <= {0, 1}:
            return "a line is drawn or not, and players are counted from 0"
        for owner, drawn in zip(s[lines:turn], s[sides].all(axis=1)):
            if not drawn <= owner <= players * drawn:
                return "a box is somebody's if its four lines are drawn, and only then"
        return None

    def render(s):
        marks = dict.fromkeys(grid, "+")
        for (r, c), k in number.items():
            marks[r, c] = (" ", *NAMES)[s[k]] if k >= lines else "|-"[c % 2] if s[k] else "."
        have = ", ".join(f"{NAMES[p]} {number_of(s, 1 + p, lines, boxes)}" for p in range(players))
        told = f"{NAMES[s[turn]]} to move; boxes: {have}"
        return "\n".join([*lines_of([*marks.values()], width), told])

    names = {k: f"{LETTERS[c]}{r + 1}" for (r, c), k in number.items()}

    def svg(s, values, last):
        parts, left = [], PAD + 22
        places = [(at, left + SIDE * at[1] / 2, left + SIDE * at[0] / 2) for at in grid]
        for (r, c), x, y in sorted(places, key=lambda place: place[0] not in inside):
            k = number.get((r, c))
            if k is None:
                parts.append(draw.circle(x, y, 5, INK))
            elif k >= lines:
                fill, half = (PAPER, *COLOURS.values())[s[k]], SIDE / 2 - 8
                box = draw.rect(x - half, y - half, 2 * half, 2 * half, fill, "none")
                owner = draw.text_at(x, y + 6, (" ", *NAMES)[s[k]], 18)
                parts.append(draw.element("g", box + owner))
            else:
                value, (w, h) = values.get(k), (SIDE - 16, 12) if c % 2 else (12, SIDE - 16)
                fill = MARKED if k == last else INK if s[k] else draw.value_colour(value)
                drawn = draw.rect(x - w / 2, y - h / 2, w, h, fill, rx=3)
                at = (x, y + 20) if c % 2 else (x + 25, y + 4)
                parts.append(draw.place(k, drawn, draw.label(*at, value, 11, PAPER)))
            if r == 0:
                parts.append(draw.text_at(x, PAD + 6, LETTERS[c], 12, SOFT))
            if c == 0:
                parts.append(draw.text_at(PAD + 4, y + 4, r + 1, 12, SOFT))
        size = left + SIDE * columns + PAD + 34 * bool(values), left + SIDE * rows + PAD + 16
        return draw.document(parts, *size, values)

    turned = [
        [number[grid[board[k]]] for k, at in enumerate(grid) if sum(at) % 2]
        for board in symmetries(height, width)
    ]
    # the lines around inner dots, half of a board, and one player's number of boxes
    counts, tuples = range(lines, lines + players), []
    for y, x in np.ndindex(max(rows, 2) // 2, max(columns, 2) // 2):
        near = [abs(r - 2 * y - 2) == abs(c - 2 * x - 2) == 1 for r, c in inside]
        tuples += [[*np.unique(sides[near]).tolist(), count] for count in counts]
    return Game(
        "dots",
        **named(legal, play, score, board, key, irreversible),
        **named(render, svg, fault),
        start=empty,
        player=lambda s: s[turn],
        over=lambda s: number_of(s, 0, lines, boxes) == 0,
        action_name=lambda s, action: names[action],
        players=players,
        actions=lines,
        size=turn + 1,
        num_codes=[2] * lines + [boxes + 1] * players,
        layout=[[number.get((r, c), -1) for c in range(width)] for r in range(height)],
        marks=range(players + 1),
        drawn_codes=lambda s: s[:turn],
        from_codes=lambda codes, player: np.array([*codes, player], np.int32),
        score_range=(-1.0 if players == 2 else 0.0, 1.0),
        symmetries=[[*row, *counts] for row in turned],
        action_symmetries=np.argsort(turned, axis=1).tolist(),
        start_scheme=(0.5, 1),
        neighbours=[np.unique(sides[found]).tolist() for found in beside] + [[*counts]] * players,
        settings=SETTINGS | {"tuples": tuples},
        version=1,
    )
