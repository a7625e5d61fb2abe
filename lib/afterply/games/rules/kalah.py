"""Kalah(houses, seeds), also called Mancala: sow seeds round the board; who has more wins.

::

    specification   kalah
    actions         the mover's house, in the direction of sowing
    cells           the seeds of all houses, then of both stores
    reward          loss, draw, win, at the end
    checked         against OpenSpiel, published results
    coordinates     A to F are the first player's houses in the order of sowing, a to f the other's

    houses 6, seeds 4                         state (int32)
          12  11  10   9   8   7  <- second   s[0 .. h-1]    first player's houses   (h = houses)
     13                                 6     s[h]           first player's store
           0   1   2   3   4   5  <- first    s[h+1 .. 2h]   second player's houses
                                              s[2h+1]        second player's store
     numbers = places in the state            s[2h+2]        bit 0: player to move, 1: over
     seeds go round counter-clockwise

Rules: all seeds of a house are sown one by one, passing over the opponent's store. The last seed in
the own store gives another turn. The last seed in an own empty house takes the opposite seeds, if
there are any, with itself into the own store (with `empty_capture`, itself also where there are
none). The game ends as soon as one side's houses are empty; the seeds in the houses are then their
owner's.

With `margin`, the reward is the difference of the seeds, paid as they come into the stores. The
n-tuples, and the key, then see the houses only, because the seeds won are no part of what is to
come. Heuristic: difference of the stores, divided by all seeds + 1. Known: first player's margin in
(6,4): +8, with empty capture +10; 6, 35, 185, 942, 4,690, 23,233 sequences of 1 to 6 sowings.
Source: [jamieson2022] "Mancala"; [irving2000] (empty capture).
"""

import itertools

import numpy as np

from ...checks import whole
from .. import boards as draw
from ..boards import CELL, LINE, MARKED, PAD, PAPER, SOFT
from ..game import Game
from . import LETTERS, irreversible, named, sum_of

OVER = 2  # bit of the last number of a state


# those of Othello, a game as long, with n-tuples of two houses, which hold many seeds each
SETTINGS = {"alpha": 0.5, "epsilon": [0.2, 0.05], "lambda_": 0.5, "tc": "exp"}
SETTINGS |= {"choose_start": True, "episodes": 300_000}


def kalah(
    houses: int = 6, seeds: int = 4, empty_capture: bool = False, margin: bool = False
) -> Game:
    """Make Kalah with `houses` of each player and `seeds` in each, as many as fit into a key.

    With `empty_capture` a last seed in an own empty house is taken into the store although the
    opposite house is empty; with `margin` the reward is the difference of the seeds.
    """
    whole("houses", houses, 1)
    whole("seeds", seeds, 1)
    bits = (2 * houses * seeds).bit_length()
    if (houses + 1) * bits > 63:
        raise ValueError(
            f"houses={houses}, seeds={seeds} do not fit into a key: (houses + 1) * {bits} bits must"
            " be at most 63; take fewer"
        )
    bits = np.uint64(bits)
    h, places, total = houses, 2 * houses + 2, 2 * houses * seeds
    MOVER, sees_stores = places, not margin

    def start(s, rng):
        s[:] = seeds
        s[h] = s[places - 1] = s[MOVER] = 0

    def legal(s, moves):
        first, n = (h + 1) * (s[MOVER] & 1), 0
        for i in range(h):
            moves[n] = i  # without a branch: overwritten by the next one if this house is empty
            n += np.int64(s[first + i] > 0)
        return n

    def play(s, action):
        who = s[MOVER] & 1
        first = (h + 1) * who
        store, foreign = first + h, (h + 1) * (1 - who) + h
        at = first + action
        hand = s[at]
        s[at] = 0
        while hand > 0:
            at = 0 if at == places - 1 else at + 1
            if at != foreign:
                s[at] += 1
                hand -= 1
        opposite = 2 * h - at
        if first <= at < store and s[at] == 1 and (empty_capture or s[opposite] > 0):
            s[store] += 1 + s[opposite]
            s[at] = s[opposite] = 0
        over = sum_of(s, 0, h) == 0 or sum_of(s, h + 1, h) == 0
        s[MOVER] = OVER if over else who if at == store else 1 - who

    def score(s, r):
        difference = s[h] - s[places - 1]
        if s[MOVER] >= OVER:
            difference += sum_of(s, 0, h) - sum_of(s, h + 1, h)
        if not margin:
            sign = np.int64(difference > 0) - np.int64(difference < 0)
            difference = sign if s[MOVER] >= OVER else 0
        r[0] = np.float64(difference)
        r[1] = 0.0 - r[0]

    def board(s, codes):
        for i in range(h):
            codes[i], codes[h + i] = s[i], s[h + 1 + i]
        if sees_stores:
            codes[2 * h], codes[2 * h + 1] = s[h], s[places - 1]

    def key(s, words):
        for who in range(2):
            word = np.uint64(s[MOVER]) if who == 1 else np.uint64(0)
            for i in range(h + 1 if sees_stores else h):
                word = word << bits | np.uint64(s[(h + 1) * who + i])
            words[who] = word

    def heuristic(s):
        return (s[h] - s[places - 1]) / (total + 1.0)

    def from_codes(codes, player, stores=(0, 0)):
        first, second = codes[2 * h :] if sees_stores else (whole("stores", n, 0) for n in stores)
        s = np.array([*codes[:h], first, *codes[h : 2 * h], second, player], np.int32)
        if s[:places].sum() != total:
            held = f"houses and stores hold {s[:places].sum()} seeds instead of {total}"
            raise ValueError(held + ("" if sees_stores else f", the stores {first} and {second}"))
        if not (s[:h].any() and s[h + 1 : places - 1].any()):
            s[MOVER] = OVER
        return s

    def render(s):
        upper, lower = (" ".join(f"{n:2}" for n in row) for row in (s[2 * h : h : -1], s[:h]))
        return (
            f"   {upper}\n{s[2 * h + 1]:2} {' ' * len(upper)} {s[h]:2} "
            f" {'first' if s[-1] & 1 == 0 else 'second'} to move\n   {lower}"
        )

    def fault(s):
        *places, turn = s.tolist()
        if sum(places) != total or min(places) < 0:
            return f"there are {sum(places)} seeds instead of {total}, or somewhere less than none"
        running = any(places[:h]) and any(places[h + 1 : -1])
        return None if turn in ((0, 1) if running else (OVER,)) else f"{turn} is no turn here"

    def svg(s, values, last):
        parts, top, seeds = [], PAD + 18, [*s[:h], *s[h + 1 : 2 * h + 1]]
        # the other player's house, or the mover's own after an extra turn: the empty one is marked
        origins = [] if last is None else [h * (1 - (s[-1] & 1)) + last, h * (s[-1] & 1) + last]
        origin = next((house for house in origins if not seeds[house]), None)
        for house in range(2 * h):
            first = house < h
            x = PAD + CELL * ((house if first else 2 * h - 1 - house) + 1.5)
            y = top + CELL * (1.75 if first else 0.5)
            edge, thick = (MARKED, 5) if house == origin else (LINE, 2)
            value, fill = values.get(house), draw.value_colour(values.get(house))
            drawn = draw.circle(x, y, 24, fill, edge, stroke_width=thick)
            drawn += draw.label(x, y + 7 * (value is None), int(seeds[house]), 20, fill)
            parts.append(draw.place(house, drawn, draw.label(x, y + 16, value, 11, fill)))
            name = LETTERS[house % h].upper() if first else LETTERS[house % h]
            parts.append(draw.text_at(x, y + (41 if first else -30), name, 12, SOFT))
        for store, x in ((2 * h, PAD + CELL * (h + 1) + 4), (2 * h + 1, PAD + 4)):
            drawn = draw.rect(x, top + 7, CELL - 8, 2 * CELL, PAPER, rx=18)
            number = s[h] if store == 2 * h else s[2 * h + 1]
            text = draw.text_at(x + CELL / 2 - 4, top + 1.25 * CELL, number, 22, font_weight="bold")
            parts.append(draw.place(store, drawn, text))
        width, height = 2 * PAD + CELL * (h + 2), top + 2.25 * CELL + PAD + 18
        return draw.document(parts, width, height, values)

    first, second = ([2 * h], [2 * h + 1]) if sees_stores else ([], [])
    ring = [*range(h), *first, *range(h, 2 * h), *second]  # the cells in the order of sowing
    cells = len(ring)
    beside = {cell: {ring[k - 1], ring[(k + 1) % cells]} for k, cell in enumerate(ring)}
    for house in range(2 * h):
        beside[house].add(2 * h - 1 - house)  # which lies opposite
    return Game(
        "kalah",
        **named(start, legal, play, score, board, key, irreversible),
        **named(render, svg, fault, from_codes),
        player=lambda s: s[MOVER] & 1,
        over=lambda s: s[MOVER] >= OVER,
        heuristic=None if margin else heuristic,
        action_name=lambda s, action: LETTERS[action] if s[-1] & 1 else LETTERS[action].upper(),
        touch=lambda s, action: [h * (s[-1] & 1) + action],
        players=2,
        actions=h,
        size=places + 1,
        num_codes=[total + 1] * cells,
        layout=[[*second, *reversed(range(h, 2 * h))], [*range(h), *first]],
        score_range=(-float(total), float(total)) if margin else (-1.0, 1.0),
        start_scheme=(0.5, 1),
        neighbours=[sorted(beside[cell]) for cell in range(cells)],
        settings=SETTINGS | {"tuples": list(map(list, itertools.combinations(range(cells), 2)))},
        version=1,
    )
