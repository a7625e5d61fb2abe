"""A race with a die, a small Ludo: two tokens each go once round a ring and send others back.

::

    specification   race
    players         or three, or four
    actions         0 = the front token, 1 = the rear one
    cells           two for each player, how far a token is: 0 = yard, 21 = home; the throw
    chance          a throw of one die, 1 to 6
    reward          loss, win, at the end; of more players 0 or 1
    start           the first throw
    checked         against plain lists and sets
    coordinates     none: a move is named by the cell of its token

    cells are numbered along the ring   state (int32)
     1  2  3  4  5  6                    s[2p], s[2p+1]   how far the tokens of player p are,
    20              7                                     the front one first
    19              8                    then             player to move
    18              9                    then             the throw, 0 = to be thrown
    17             10
    16 15 14 13 12 11

Rules: one token moves as many cells as were thrown; from the yard it comes on the ring with any
throw. Players begin at cells 1 + 20 p // players and go clockwise; beyond the 20th cell of its way
a token is at home. Where it ends, tokens of others go back to their yards; one's own may share a
cell. A six gives another turn. Who has both tokens at home first wins. As no chance is left in the
afterstate, the throw is 0 there.
"""

import numpy as np

from ...checks import whole
from ...kernel.random import random_int
from .. import boards as draw
from ..boards import CELL, COLOURS, INK, PAD, PAPER, SOFT
from ..game import Game
from . import MARKS, named, pay_best

RING, SIDES = 20, 6  # cells of the ring, sides of the die
HOME = RING + 1
PLACES = [*((0, c) for c in range(5)), *((r, 5) for r in range(5))]
PLACES += [(5 - r, 5 - c) for r, c in PLACES]  # row and column of each cell
NAMES = "yellow", "red", "blue", "green"
# pairs of tokens say more here than more of them at once: what is rare is learned slowly
SETTINGS = {"alpha": 0.5, "epsilon": 0.1, "tc": "exp", "episodes": 200_000}


def race(players: int = 2):
    """Make the race for two to four players."""
    whole("players", players, 2, len(MARKS))
    tokens, turn, thrown = 2 * players, 2 * players, 2 * players + 1
    first = np.array([RING * p // players for p in range(players)])  # cells where players begin

    def start(s, rng):
        for i in range(tokens + 1):
            s[i] = 0
        s[thrown] = 1 + random_int(rng, SIDES)

    def legal(s, moves):
        front, rear = s[2 * s[turn]], s[2 * s[turn] + 1]
        moves[0] = 1 if front == HOME else 0
        moves[1] = 1
        return 1 if front == HOME or front == rear else 2

    def play(s, action):
        who, throw = s[turn], s[thrown]
        own = 2 * who
        gone = min(s[own + action] + throw, HOME)
        s[own + action], s[thrown] = gone, 0
        for p in range(players):
            for k in range(2 * p, 2 * p + 2):
                here = (first[p] + s[k] - first[who] - gone) % RING == 0
                if p != who and here and 0 < s[k] < HOME and gone < HOME:
                    s[k] = 0
            if s[2 * p] < s[2 * p + 1]:
                s[2 * p], s[2 * p + 1] = s[2 * p + 1], s[2 * p]
        if s[own + 1] < HOME and throw < SIDES:
            s[turn] = (who + 1) % players

    def player(s):
        return s[turn]

    def over(s):
        return s[2 * s[turn] + 1] == HOME

    def score(s, r):
        for p in range(players):
            r[p] = np.float64(s[2 * p + 1] == HOME)
        if s[2 * s[turn] + 1] == HOME:
            pay_best(r, players)

    def board(s, codes):
        for i in range(tokens):
            codes[i] = s[i]
        codes[tokens] = s[thrown]

    def outcomes(s):
        return 1 if s[2 * s[turn] + 1] == HOME else SIDES

    def outcome(s, k):
        if s[2 * s[turn] + 1] == HOME:
            return 1.0
        s[thrown] = 1 + k
        return 1.0 / SIDES

    def chance(s, rng):
        if s[2 * s[turn] + 1] != HOME:
            s[thrown] = 1 + random_int(rng, SIDES)

    def cell_of(p, gone):
        """Return the number of a cell as it is drawn, or what else is there."""
        return {0: "yard", HOME: "home"}.get(int(gone), 1 + (first[p] + int(gone) - 1) % RING)

    def fault(s):
        if not 0 <= s[turn] < players:
            return f"player {s[turn]} is to move, and players are 0 to {players - 1}"
        pairs = s[:tokens].reshape(players, 2).tolist()
        if any(not HOME >= front >= rear >= 0 for front, rear in pairs):
            return f"a token is nowhere, or the front one is behind: {pairs}"
        cells = [{*map(cell_of, (p, p), pair)} - {"yard", "home"} for p, pair in enumerate(pairs)]
        if sum(map(len, cells)) > len(set().union(*cells)):
            return "tokens of two players are on one cell"
        winners = [p for p, pair in enumerate(pairs) if pair[1] == HOME]
        ended = winners == [s[turn]] and s[thrown] == 0
        return None if ended or not winners else f"after the end {winners} have won"

    def render(s):
        lines = [
            f"{NAMES[p]:7}{cell_of(p, s[2 * p])} {cell_of(p, s[2 * p + 1])}" for p in range(players)
        ]
        return "\n".join([*lines, f"{NAMES[s[turn]]} has thrown {s[thrown]}"])

    def action_name(s, action):
        return f"from {cell_of(s[turn], s[2 * s[turn] + action])}"

    def svg(s, values, last):
        top, parts = PAD + 30, []

        def corner(p, gone):
            # of a cell of the ring, or of a row inside it, with the yard on the left
            row, column = {0: (1 + p, 1), HOME: (1 + p, 4)}.get(
                gone, PLACES[(first[p] + gone - 1) % RING]
            )
            return PAD + CELL * column, top + CELL * row

        for cell in range(RING):
            x, y = corner(0, 1 + cell)
            parts.append(draw.rect(x, y, CELL, CELL, PAPER))
            parts.append(draw.text_at(x + CELL - 13, y + 16, 1 + cell, 10, SOFT))
        for p in range(players):
            edge = {"stroke": COLOURS[p], "stroke_width": 3, "rx": 6}
            for gone in (0, 1, HOME):
                x, y = corner(p, gone)
                parts.append(draw.rect(x + 3, y + 3, CELL - 6, CELL - 6, "none", **edge))
            x, y = corner(p, 0)
            parts.append(
                draw.text_at(x + 2 * CELL, y + CELL / 2 + 4, "\u25c2 yard  home \u25b8", 11)
            )
        for place in range(tokens):
            x, y = corner(place // 2, int(s[place]))
            y += 17 + 22 * (place % 2)
            drawn = draw.stone(x + 16, y, 10, COLOURS[place // 2])
            value = values.get(place)
            if value is not None:
                fill = draw.value_colour(value)
                drawn += draw.rect(x + 22, y - 7, CELL - 24, 14, fill, rx=3)
                drawn += draw.label(x + 38, y + 4, value, 10, fill)
            parts.append(draw.place(place, drawn))
        mover = draw.stone(PAD + 10, PAD + 11, 10, COLOURS[s[turn]])
        name = draw.text_at(PAD + 26, PAD + 16, f"{NAMES[s[turn]]} throws", 14, anchor="start")
        parts.append(draw.element("g", mover + name))
        die = draw.rect(PAD + 150, PAD, 23, 23, PAPER, INK, rx=4)
        number = draw.text_at(PAD + 161.5, PAD + 17, s[thrown] or "", 16, font_weight="bold")
        parts.append(draw.element("g", die + number))
        if last is not None:
            moved = f"{('front', 'rear')[last]} token moved"
            parts.append(draw.text_at(PAD + 190, PAD + 16, moved, 12, SOFT, "start"))
        return draw.document(parts, 2 * PAD + 6 * CELL, top + 6 * CELL + PAD, values)

    pairs = [[a, b] for a in range(tokens) for b in range(a)]
    return Game(
        "race",
        **named(start, legal, play, player, over, score, board, outcomes, outcome, chance),
        **named(render, action_name, svg, fault),
        touch=lambda s, action: [2 * s[turn] + action],
        players=players,
        actions=2,
        max_legal=2,
        size=tokens + 2,
        num_codes=[HOME + 1] * tokens + [SIDES + 1],
        from_codes=lambda codes, player: np.array([*codes[:-1], player, codes[-1]], np.int32),
        score_range=(-1.0 if players == 2 else 0.0, 1.0),
        settings=SETTINGS | {"tuples": pairs},
        version=1,
    )


GAMES = {"race": race}
