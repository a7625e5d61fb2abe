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
from ...kernel.compile import kernel
from .. import drawing as draw
from ..drawing import ANY, CELL, PAD, SOFT, Drawing, Place
from ..game import Game
from . import LETTERS, irreversible, named, sum_of

OVER = 2  # bit of the last number of a state

# those of Othello, a game as long, with n-tuples of two houses, which hold many seeds each
SETTINGS = {
    "alpha": 0.5,
    "epsilon": [0.2, 0.05],
    "lambda_": 0.5,
    "tc": "exp",
    "choose_start": True,
    "episodes": 300_000,
}


@kernel
def store_of(who, h):
    """Return the place of a player's store, which follows the player's `h` houses."""
    return (h + 1) * who + h


@kernel
def sow(s, who, house, h):
    """Sow the seeds of a house one by one; return the place of the last one."""
    place = (h + 1) * who + house
    foreign_store = store_of(1 - who, h)
    last_place = 2 * h + 1
    hand = s[place]
    s[place] = 0
    while hand > 0:
        place = 0 if place == last_place else place + 1
        if place != foreign_store:
            s[place] += 1
            hand -= 1
    return place


@kernel
def is_own_house(place, who, h):
    """Return whether a place is one of a player's houses."""
    store = store_of(who, h)
    return store - h <= place < store


@kernel
def capture(s, place, who, h):
    """Take the seed of a house, and those of the opposite house, into a player's store."""
    opposite = 2 * h - place
    s[store_of(who, h)] += 1 + s[opposite]
    s[place] = 0
    s[opposite] = 0


@kernel
def a_side_is_empty(s, h):
    """Return whether the houses of one player hold no seeds."""
    return sum_of(s, 0, h) == 0 or sum_of(s, h + 1, h) == 0


def _drawing(h) -> Drawing:
    """Return the drawing of `h` houses of each player: the first player's below, stores outside."""
    top = PAD + 18
    seeds = {ANY: draw.mark("{}", 20)}
    places = []
    letters = []
    for house in range(2 * h):
        is_first = house < h
        column = house if is_first else 2 * h - 1 - house
        x = PAD + CELL * (column + 1.5)
        y = top + CELL * (1.75 if is_first else 0.5)
        name = LETTERS[house % h].upper() if is_first else LETTERS[house % h]
        shape = draw.disc(24, stroke_width=2)
        places.append(Place((x, y), shape, house, name, seeds, value_at=(0, 18, 11)))
        letters.append(draw.text_at(x, y + (41 if is_first else -30), name, 12, SOFT))
    stores = []
    number_of_store = {ANY: draw.mark("{}", 22)}
    for store, column in ((2 * h, h + 1.5), (2 * h + 1, 0.5)):
        middle = (PAD + CELL * column, top + 7 + CELL)
        shape = draw.box(CELL - 8, 2 * CELL, rx=18)
        stores.append(Place(middle, shape, store, looks=number_of_store))
    return Drawing(
        places=places,
        others=stores,
        behind=letters,
        width=2 * PAD + CELL * (h + 2),
        height=top + 2.25 * CELL + PAD + 18,
        sides=("lower row", "upper row"),
    )


def kalah(
    houses: int = 6, seeds: int = 4, empty_capture: bool = False, margin: bool = False
) -> Game:
    """Make Kalah with `houses` of each player and `seeds` in each, as many as fit into a key.

    With `empty_capture` a last seed in an own empty house is taken into the store although the
    opposite house is empty; with `margin` the reward is the difference of the seeds.
    """
    whole("houses", houses, 1)
    whole("seeds", seeds, 1)
    total = 2 * houses * seeds
    bits = total.bit_length()  # of a word of the key for each house
    if (houses + 1) * bits > 63:
        raise ValueError(
            f"houses={houses}, seeds={seeds} do not fit into a key: (houses + 1) * {bits} bits must"
            " be at most 63; take fewer"
        )
    bits = np.uint64(bits)
    h = houses
    places = 2 * houses + 2
    MOVER = places
    size = places + 1
    sees_stores = not margin
    num_seen = h + 1 if sees_stores else h  # places of each player

    # The rules

    def start(s, rng):
        s[:] = seeds
        s[h] = 0
        s[places - 1] = 0
        s[MOVER] = 0

    def legal(s, moves):
        first = (h + 1) * (s[MOVER] & 1)
        n = 0
        for i in range(h):
            moves[n] = i  # without a branch: overwritten by the next one if this house is empty
            n += np.int64(s[first + i] > 0)
        return n

    def play(s, action):
        who = s[MOVER] & 1
        last = sow(s, who, action, h)
        if is_own_house(last, who, h) and s[last] == 1:  # it was empty
            if empty_capture or s[2 * h - last] > 0:
                capture(s, last, who, h)
        if a_side_is_empty(s, h):
            s[MOVER] = OVER
        elif last == store_of(who, h):
            s[MOVER] = who  # another turn
        else:
            s[MOVER] = 1 - who

    def player(s):
        return s[MOVER] & 1

    def over(s):
        return s[MOVER] >= OVER

    def score(s, r):
        lead = s[h] - s[places - 1]
        if s[MOVER] >= OVER:  # the seeds in the houses are their owner's
            lead += sum_of(s, 0, h) - sum_of(s, h + 1, h)
        if margin:
            r[0] = np.float64(lead)
        elif s[MOVER] >= OVER:
            r[0] = np.float64(lead > 0) - np.float64(lead < 0)
        else:
            r[0] = 0.0
        r[1] = 0.0 - r[0]

    # What networks and searches see

    def board(s, codes):
        for i in range(h):
            codes[i] = s[i]
            codes[h + i] = s[h + 1 + i]
        if sees_stores:
            codes[2 * h] = s[h]
            codes[2 * h + 1] = s[places - 1]

    def key(s, words):
        for who in range(2):
            word = np.uint64(s[MOVER]) if who == 1 else np.uint64(0)
            for i in range(num_seen):
                word = word << bits | np.uint64(s[(h + 1) * who + i])
            words[who] = word

    def heuristic(s):
        return (s[h] - s[places - 1]) / (total + 1.0)

    # Texts, arrays and states from outside

    def from_codes(codes, player, stores=(0, 0)):
        if sees_stores:
            first, second = codes[2 * h :]
        else:
            first, second = (whole("stores", seeds, 0) for seeds in stores)
        s = np.array([*codes[:h], first, *codes[h : 2 * h], second, player], np.int32)
        held = s[:places].sum()
        if held != total:
            message = f"houses and stores hold {held} seeds instead of {total}"
            if not sees_stores:
                message += f", the stores {first} and {second}"
            raise ValueError(message)
        if not both_sides_have_seeds(s):
            s[MOVER] = OVER
        return s

    def both_sides_have_seeds(s):
        return s[:h].any() and s[h + 1 : places - 1].any()

    def render(s):
        upper = " ".join(f"{seeds:2}" for seeds in s[2 * h : h : -1])
        lower = " ".join(f"{seeds:2}" for seeds in s[:h])
        between = " " * len(upper)
        mover = "first" if s[MOVER] & 1 == 0 else "second"
        return f"   {upper}\n{s[2 * h + 1]:2} {between} {s[h]:2}  {mover} to move\n   {lower}"

    def fault(s):
        held = int(s[:places].sum(dtype=np.int64))
        if held != total or s[:places].min() < 0:
            return f"there are {held} seeds instead of {total}, or somewhere less than none"
        turns = (0, 1) if both_sides_have_seeds(s) else (OVER,)
        if s[MOVER] not in turns:
            return f"{s[MOVER]} is no turn here"
        return None

    # What the drawing shows: the houses of both, their stores, and who is to move

    def shown(s, numbers):
        for i in range(h):
            numbers[i] = s[i]
            numbers[h + i] = s[h + 1 + i]
        numbers[2 * h] = s[h]
        numbers[2 * h + 1] = s[places - 1]
        numbers[MOVER] = s[MOVER]

    def touch(numbers, action, places):
        places[0] = h * (numbers[MOVER] & 1) + action
        return 1

    cells = 2 * h + 2 if sees_stores else 2 * h
    first_store = [2 * h] if sees_stores else []
    second_store = [2 * h + 1] if sees_stores else []
    return Game(
        "kalah",
        title="Kalah",
        aim=(
            "The player with more seeds in the store at the right end of the own row wins. A "
            "move sows the seeds of one of your houses one by one, counter-clockwise: end in "
            "your store and you move again, end in an empty house of yours and you take the "
            "seeds opposite."
        ),
        **named(start, legal, play, player, over, score, board, key, irreversible),
        **named(render, fault, from_codes, shown, touch),
        drawing=_drawing(h),
        num_shown=size,
        heuristic=None if margin else heuristic,
        players=2,
        actions=h,
        size=size,
        num_codes=[total + 1] * cells,
        layout=[[*second_store, *reversed(range(h, 2 * h))], [*range(h), *first_store]],
        score_range=(-float(total), float(total)) if margin else (-1.0, 1.0),
        start_scheme=(0.5, 1),
        neighbours=_neighbours(h, first_store, second_store),
        settings=SETTINGS | {"tuples": list(map(list, itertools.combinations(range(cells), 2)))},
        version=1,
    )


def _neighbours(h, first_store, second_store):
    """Return for each cell those before and behind it in the order of sowing, and the opposite."""
    ring = [*range(h), *first_store, *range(h, 2 * h), *second_store]
    neighbours = [set() for _ in ring]
    for place, cell in enumerate(ring):
        next_cell = ring[(place + 1) % len(ring)]
        neighbours[cell] |= {ring[place - 1], next_cell}
    for house in range(2 * h):
        neighbours[house].add(2 * h - 1 - house)
    return [sorted(cells) for cells in neighbours]
