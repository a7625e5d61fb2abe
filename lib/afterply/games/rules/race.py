"""A race with a die, a small Ludo: two tokens each go once round a ring and send others back.

::

    specification   race
    players         to 4
    actions         0 = the front token, 1 = the rear one
    cells           two for each player, how far a token is: 0 = yard, 21 = home; the throw
    chance          a throw of one die, 1 to 6
    reward          loss, win, at the end; of more players 0 or 1
    start           the first throw
    checked         against plain lists and sets
    coordinates     none: a move is named by the cell of its token

    numbers of cells          state (int32)
     1  2  3  4  5  6          s[2p], s[2p+1]   how far the tokens of player p are, the front one
    20              7                           first
    ...                        then             player to move
    16 15 14 13 12 11          then             the throw; in the afterstate 0

Rules: one token moves as many cells as were thrown; from the yard it comes on the ring with any
throw. Player p begins at cell 1 + 20 p // players; after 20 cells a token is at home. Where it
ends, tokens of others go back to their yards. A six gives another turn. Who has both tokens at home
first wins.
"""

import numpy as np

from ...checks import whole
from ...kernel.random import random_int
from .. import drawing as draw
from ..drawing import ANY, CELL, COLOURS, PAD, PAPER, SOFT, Drawing, Look, Place
from ..game import Game
from . import named, pay_best

RING = 20  # cells of the ring
SIDES = 6  # sides of the die
YARD, HOME = 0, RING + 1
# row and column of each cell of the ring: the upper and the right side, then the two others
PLACES = [(0, column) for column in range(5)] + [(row, 5) for row in range(5)]
PLACES += [(5 - row, 5 - column) for row, column in PLACES]
NAMES = tuple(COLOURS)
# pairs of tokens say more here than more of them at once: what is rare is learned slowly
SETTINGS = {"alpha": 0.5, "epsilon": 0.1, "tc": "exp", "episodes": 200_000}


def _drawing(first, cell_of) -> Drawing:
    """Return the drawing of the ring, with yards and homes inside it.

    `first` are the cells where the players begin; ``cell_of(player, gone)`` names the cell of a
    token that has gone so many cells.
    """

    def corner(player, gone):
        """Return the upper left corner of a cell; inside the ring is a row for each player."""
        inside = {YARD: (1 + player, 1), HOME: (1 + player, 4)}
        row, column = inside.get(gone, PLACES[(first[player] + gone - 1) % RING])
        return PAD + CELL * column, PAD + 22 + CELL * row

    behind = []
    for cell in range(1, HOME):
        x, y = corner(0, cell)
        behind.append(draw.rect(x, y, CELL, CELL, PAPER))
        behind.append(draw.text_at(x + CELL - 13, y + 32, cell, 10, SOFT))
    tokens = []
    for player, colour in zip(range(len(first)), COLOURS.values()):
        for gone in (HOME, 1, YARD):
            x, y = corner(player, gone)
            edge = {"stroke": colour, "stroke_width": 3, "rx": 6}
            behind.append(draw.rect(x + 3, y + 3, CELL - 6, CELL - 6, "none", **edge))
        x, y = corner(player, YARD)
        behind.append(draw.text_at(x + 2 * CELL, y + 32, "\u25c2 yard  home \u25b8", 11))
        for token in (0, 1):
            middles = {}
            names = {}
            for gone in range(HOME + 1):
                x, y = corner(player, gone)
                middles[gone] = (x + 17, y + 16 + 24 * token)
                names[gone] = f"from {cell_of(player, gone)}"
            stone = {ANY: Look(draw.stone(colour, 9))}
            place = 2 * player + token
            shape = draw.disc(12, stroke="none")
            tokens.append(Place(middles, shape, place, names, stone, value_at=(25, 4, 9)))
    names_of_players = {p: Look(_words(f"{name} to move")) for p, name in enumerate(NAMES)}
    number = {ANY: Look(_words("thrown: {},")), 0: draw.NOTHING}
    thrown = len(tokens)
    return Drawing(
        places=tokens,
        others=[
            Place((PAD, PAD + 12), None, thrown, looks=number),
            Place((PAD + 86, PAD + 12), None, thrown + 1, looks=names_of_players),
        ],
        behind=behind,
        width=2 * PAD + 6 * CELL,
        height=2 * PAD + 22 + 6 * CELL,
        sides=NAMES[: len(first)],
    )


def _words(text) -> str:
    """Return a text that begins at a place."""
    return draw.text_at(0, 0, text, 13, anchor="start")


def race(players: int = 2) -> Game:
    """Make the race for two to four players."""
    whole("players", players, 2, len(NAMES))
    tokens = 2 * players
    turn = tokens  # places in the state
    thrown = tokens + 1
    size = tokens + 2
    first = np.array([RING * p // players for p in range(players)])  # cells where players begin

    # The rules

    def start(s, rng):
        s[:] = 0
        s[thrown] = 1 + random_int(rng, SIDES)

    def legal(s, moves):
        front = s[2 * s[turn]]
        rear = s[2 * s[turn] + 1]
        moves[0] = 1 if front == HOME else 0
        moves[1] = 1
        return 1 if front == HOME or front == rear else 2

    def play(s, action):
        who = s[turn]
        throw = s[thrown]
        gone = min(s[2 * who + action] + throw, HOME)
        s[2 * who + action] = gone
        s[thrown] = 0
        for p in range(players):
            for k in range(2 * p, 2 * p + 2):
                same_cell = (first[p] + s[k] - first[who] - gone) % RING == 0
                if p != who and same_cell and YARD < s[k] < HOME and gone < HOME:
                    s[k] = YARD
            if s[2 * p] < s[2 * p + 1]:  # the front token stands first
                s[2 * p], s[2 * p + 1] = s[2 * p + 1], s[2 * p]
        if s[2 * who + 1] < HOME and throw < SIDES:
            s[turn] = (who + 1) % players

    def chance(s, rng):
        s[thrown] = 1 + random_int(rng, SIDES)

    def player(s):
        return s[turn]

    def over(s):
        return s[2 * s[turn] + 1] == HOME

    def score(s, r):
        for p in range(players):
            r[p] = np.float64(s[2 * p + 1] == HOME)
        if s[2 * s[turn] + 1] == HOME:  # who has won is still to move
            pay_best(r, players)

    # What networks and searches see

    def board(s, codes):
        for i in range(tokens):
            codes[i] = s[i]
        codes[tokens] = s[thrown]

    def outcomes(s):
        return SIDES

    def outcome(s, k):
        s[thrown] = 1 + k
        return 1.0 / SIDES

    # Texts, arrays and states from outside

    def cell_of(p, gone):
        """Return where a player's token is: "yard", "home", or the number of its cell."""
        if gone == YARD:
            return "yard"
        if gone == HOME:
            return "home"
        return 1 + (first[p] + int(gone) - 1) % RING

    def fault(s):
        pairs = s[:tokens].reshape(players, 2).tolist()
        if not 0 <= s[turn] < players:
            return f"player {s[turn]} is to move, and players are 0 to {players - 1}"
        if any(not HOME >= front >= rear >= 0 for front, rear in pairs):
            return f"a token is nowhere, or the front one is behind: {pairs}"
        owners = {}  # who has a token on a cell of the ring
        for p, pair in enumerate(pairs):
            for gone in pair:
                if YARD < gone < HOME and owners.setdefault(cell_of(p, gone), p) != p:
                    return "tokens of two players are on one cell"
        winners = [p for p, (_, rear) in enumerate(pairs) if rear == HOME]
        if winners and winners != [s[turn]]:
            return f"after the end players {winners} have won"
        return None

    def throw_in_words(s):
        return f"{NAMES[s[turn]]} has thrown {s[thrown]}"

    def render(s):
        lines = []
        for p, (front, rear) in enumerate(s[:tokens].reshape(players, 2)):
            lines.append(f"{NAMES[p]:7}{cell_of(p, front)} {cell_of(p, rear)}")
        return "\n".join([*lines, throw_in_words(s)])

    def shown(s, numbers):
        for i in range(tokens):
            numbers[i] = s[i]
        numbers[tokens] = s[thrown]
        numbers[tokens + 1] = s[turn]

    def touch(numbers, action, places):
        places[0] = 2 * numbers[tokens + 1] + action
        return 1

    pairs_of_tokens = []
    for token in range(tokens):
        pairs_of_tokens += [[token, other] for other in range(token)]
    lowest = -1.0 if players == 2 else 0.0  # reward
    return Game(
        "race",
        title="A race with a die",
        aim=(
            "The first player with both tokens at home wins. A move takes one token as many "
            "cells on as the die shows; tokens of others on that cell go back to their yards, "
            "and a six gives another turn."
        ),
        **named(start, legal, play, player, over, score, board, outcomes, outcome, chance),
        **named(render, fault, shown, touch),
        drawing=_drawing(first, cell_of),
        num_shown=size,
        players=players,
        actions=2,
        size=size,
        num_codes=[HOME + 1] * tokens + [SIDES + 1],
        from_codes=lambda codes, player: np.array([*codes[:-1], player, codes[-1]], np.int32),
        score_range=(lowest, 1.0),
        settings=SETTINGS | {"tuples": pairs_of_tokens},
        version=1,
    )
