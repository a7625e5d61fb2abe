"""Dots and Boxes: lines between dots; who draws the fourth side of a box has it and goes on.

::

    specification   dots
    players         or three, or four
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

Who has most boxes wins; of three or four players those with most share a reward of 1. Known, by
search: on 1 x 1 and 1 x 3 boxes the second player wins, on 2 x 2 the first; 1 x 2 is a draw.
Source: Lucas (1895), L'arithmetique amusante.
"""

import numpy as np

from ...checks import whole
from .. import boards as draw
from ..boards import COLOURS, INK, MARKED, PAD, PAPER, SOFT
from ..game import Game
from . import LETTERS, MARKS, irreversible, lines_of, named, pay_best, symmetries

SIDE = 64  # of a box in pictures
MAX_LINES = 64  # what a word of the key holds
NAMES = "yrbg"  # of players in texts, as their colours: yellow, red, blue, green
SETTINGS = {"alpha": 1.0, "epsilon": [0.1, 0.0], "tc": "exp", "episodes": 300_000}


def dots(rows: int = 3, columns: int = 3, players: int = 2):
    """Make the game on `rows` x `columns` boxes for two to four players; at most 64 lines."""
    whole("rows", rows, 1)
    whole("columns", columns, 1)
    whole("players", players, 2, len(MARKS))
    boxes, lines = rows * columns, rows * (columns + 1) + columns * (rows + 1)
    if lines > MAX_LINES:
        raise ValueError(
            f"rows={rows}, columns={columns} have {lines} lines: take fewer, for {MAX_LINES}"
        )
    # dots, lines and boxes lie on a grid; {row and column: place in the state}
    height, width, turn = 2 * rows + 1, 2 * columns + 1, lines + boxes
    grid = [divmod(k, width) for k in range(height * width)]
    inside = [(r, c) for r, c in grid if r % 2 and c % 2]
    number = {at: k for k, at in enumerate([at for at in grid if sum(at) % 2] + inside)}
    around = ((-1, 0), (0, -1), (0, 1), (1, 0))
    sides = np.array([[number[r + down, c + right] for down, right in around] for r, c in inside])
    beside = [np.flatnonzero((sides == line).any(axis=1)) for line in range(lines)]
    boxes_at = np.array([[found[0], found[-1]] for found in beside])

    def start(s, rng):
        for i in range(turn + 1):
            s[i] = 0

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

    def player(s):
        return s[turn]

    def over(s):
        for box in range(boxes):
            if s[lines + box] == 0:
                return False
        return True

    def score(s, r):
        running = False
        for p in range(players):
            r[p] = 0.0
        for box in range(boxes):
            running |= s[lines + box] == 0
            r[max(0, s[lines + box] - 1)] += 1.0
        if not running:
            pay_best(r, players)
            return
        for p in range(players):
            r[p] = 0.0

    def board(s, codes):
        for line in range(lines):
            codes[line] = s[line]
        for p in range(players):
            codes[lines + p] = 0
            for box in range(boxes):
                codes[lines + p] += s[lines + box] == 1 + p

    def key(s, words):
        words[0], words[1] = np.uint64(0), np.uint64(s[turn])
        for line in range(lines):
            words[0] |= np.uint64(s[line]) << np.uint64(line)
        for box in range(boxes):
            if s[lines + box]:
                words[1] += np.uint64(1) << np.uint64(8 * s[lines + box])

    def fault(s):
        if not 0 <= s[turn] < players or not {*s[:lines].tolist()} <= {0, 1}:
            return "a line is drawn or not, and players are counted from 0"
        for owner, beside in zip(s[lines:turn].tolist(), sides):
            if not 0 <= owner <= players or (owner > 0) != s[beside].all():
                return "a box is somebody's if its four lines are drawn, and only then"
        return None

    def render(s):
        marks = {at: ". "[k >= lines] for at, k in number.items() if s[k] == 0}
        marks |= {at: "|-"[at[1] % 2] for at, k in number.items() if s[k] and k < lines}
        marks |= {at: NAMES[s[k] - 1] for at, k in number.items() if s[k] and k >= lines}
        return "\n".join([*lines_of([marks.get(at, "+") for at in grid], width), told(s)])

    def told(s):
        have = s[lines:turn].tolist()
        boxes_of = ", ".join(f"{NAMES[p]} {have.count(1 + p)}" for p in range(players))
        return f"{NAMES[s[turn]]} to move; boxes: {boxes_of}"

    names = {k: f"{LETTERS[c]}{r + 1}" for (r, c), k in number.items()}

    def svg(s, values, last):
        parts, left = [], PAD + 22
        for (r, c), k in reversed(number.items()):  # boxes lie below lines
            x, y = left + SIDE * c / 2, left + SIDE * r / 2
            if k >= lines:
                fill, half = COLOURS[s[k] - 1] if s[k] else PAPER, SIDE / 2 - 8
                box = draw.rect(x - half, y - half, 2 * half, 2 * half, fill, "none")
                name = draw.text_at(x, y + 6, NAMES[s[k] - 1] if s[k] else "", 18)
                parts.append(draw.element("g", box + name))
                continue
            long, thick, value = SIDE - 16, 12, values.get(k)
            w, h = (long, thick) if c % 2 else (thick, long)
            fill = MARKED if k == last else INK if s[k] else draw.value_colour(value)
            at = (x, y + 20) if c % 2 else (x + 25, y + 4)
            drawn = draw.rect(x - w / 2, y - h / 2, w, h, fill, rx=3)
            parts.append(draw.place(k, drawn, draw.label(*at, value, 11, PAPER)))
        for k, (r, c) in enumerate(grid):
            x, y = left + SIDE * c / 2, left + SIDE * r / 2
            if not (r % 2 or c % 2):
                parts.append(draw.circle(x, y, 5, INK))
            if r == 0:
                parts.append(draw.text_at(x, PAD + 6, LETTERS[c], 12, SOFT))
            if c == 0:
                parts.append(draw.text_at(PAD + 4, y + 4, r + 1, 12, SOFT))
        size = left + SIDE * columns + PAD + 34 * bool(values), left + SIDE * rows + PAD + 16
        return draw.document(parts, *size, values)

    on_lines = [k for k, at in enumerate(grid) if sum(at) % 2]
    turned = [[number[grid[board[k]]] for k in on_lines] for board in symmetries(height, width)]
    counts = range(lines, lines + players)
    # the lines of four boxes of each corner and, one player's after the other, the number of boxes
    blocks = {
        (y, x): [
            k for k, (r, c) in enumerate(inside) if r // 2 - y in (0, 1) and c // 2 - x in (0, 1)
        ]
        for y in range(max(1, rows // 2))
        for x in range(max(1, columns // 2))
    }
    tuples = [[*np.unique(sides[b]).tolist(), count] for b in blocks.values() for count in counts]
    return Game(
        "dots",
        **named(start, legal, play, player, over, score, board, key, irreversible),
        **named(render, svg, fault),
        action_name=lambda s, action: names[action],
        players=players,
        actions=lines,
        max_legal=lines,
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


GAMES = {"dots": dots}
