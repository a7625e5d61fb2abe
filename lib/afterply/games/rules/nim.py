"""Nim for two players, and Nim3P for three: take any number of stones from one heap.

::

    specification   nim                                    nim3p
    actions         heap and number
    cells           stones in a heap
    reward          loss, win, at the end                  0.2 for the second, at the end
    checked         against OpenSpiel and the definition   against the definition
    coordinates     none: a move is the number of stones and the heap, the first one above

    heaps 3, stones 5     state (int32)
    0: o o o o o          s[0 .. heaps-1]   stones left in each heap
    1: o o o o o          s[heaps]          player to move
    2: o o o o o
                          action = heap * take + (number taken - 1)
                          take = the most that one move may take

Nim: the player who takes the last stone wins; in misere play that player loses. Nim3P: the player
who takes the last stone gets 0, the next one in turn 1, and the one after that 0.2 if the extra
rule is on, else 0. Known: Nim 3x5 has 27 non-terminal losing positions and 3 winning first moves
out of 15; perfect play in Nim3P 3x5 gives (1, 0.2, 0). Source: [konen2021] Sec. 3.3, Table 1, App.
A.6.6 and A.6.7.
"""

import numpy as np

from ...checks import whole
from .. import drawing as draw
from ..calls import copy_into
from ..drawing import ANY, CELL, PAD, SOFT, Drawing, Look, Place
from ..game import Game
from . import irreversible, named, sum_of

STONE = "#d9d9d9"
MOVES = "A move takes stones from one heap: a click takes a circle and all to its right."


# as in [konen2021] App. A.6.6 and A.6.7, one n-tuple of all heaps: seconds
SETTINGS = {"alpha": 0.5, "lambda_": 0.5, "tc": "id", "episodes": 20_000}
SETTINGS3P = {
    "alpha": 0.2,
    "epsilon": 0.15,
    "lambda_": 0.5,
    "horizon_cut": 0.01,
    "tc": "id",
    "choose_start": True,
    "learn_from_random": False,
    "trace": "RESET",
    "episodes": 300_000,
}


def nim(heaps: int = 3, stones: int = 5, take: int | None = None, misere: bool = False) -> Game:
    """Make two-player Nim; a move takes at most `take` stones (default: a whole heap)."""
    rewards = (1.0, -1.0) if misere else (-1.0, 1.0)
    aim = f"Whoever takes the last stone {'loses' if misere else 'wins'}. {MOVES}"
    return _game("nim", aim, heaps, stones, take, rewards)


def nim3p(
    heaps: int = 3, stones: int = 5, take: int | None = None, extra_rule: bool = True
) -> Game:
    """Make three-player Nim; with the `extra_rule`, the player before the last taker gets 0.2."""
    second = 0.2 if extra_rule else 0.0
    aim = f"Whoever takes the last stone gets nothing, and the next player wins. {MOVES}"
    return _game("nim3p", aim, heaps, stones, take, (1.0, second, 0.0))


def _drawing(heaps, stones) -> Drawing:
    """Return the drawing: a row of circles for each heap, of which a click takes one and the rest.

    Where stones have been taken, empty circles remain.
    """
    left = PAD + 22
    places = []
    sizes = []
    size = {ANY: Look(draw.text_at(0, 5, "{}", 14, SOFT))}
    for heap in range(heaps):
        y = PAD + 22 + CELL * (heap + 0.5)
        sizes.append(Place((PAD + 8, y), None, heap, looks=size))
        for k in range(stones):
            x = left + CELL * (k + 0.5)
            is_there = {number: Look(fill=STONE) for number in range(k + 1, stones + 1)}
            shape = draw.disc(24)
            places.append(Place((x, y), shape, heap, looks=is_there, value_at=(0, 5, 12)))
    rule = draw.text_at(
        PAD, PAD + 12, "a circle: taking it and all to its right", 13, anchor="start"
    )
    return Drawing(
        places=places,
        others=sizes,
        behind=[rule],
        width=max(left + CELL * stones + PAD, 336),
        height=PAD + 22 + CELL * heaps + PAD,
    )


def _game(name, aim, heaps, stones, take, rewards):
    """Make either game; the first of the `rewards` is of the player after the last taker."""
    whole("heaps", heaps, 1)
    whole("stones", stones, 1)
    take = stones if take is None else min(whole("take", take, 1), stones)
    players = len(rewards)
    rewards = np.array(rewards)

    # The rules

    def start(s, rng):
        s[:] = stones
        s[heaps] = 0

    def legal(s, moves):
        n = 0
        for h in range(heaps):
            for t in range(min(s[h], take)):
                moves[n] = h * take + t
                n += 1
        return n

    def play(s, action):
        s[action // take] -= action % take + 1
        s[heaps] = (s[heaps] + 1) % players

    def player(s):
        return s[heaps]

    def over(s):
        return sum_of(s, 0, heaps) == 0

    def score(s, r):
        left = sum_of(s, 0, heaps)
        for k in range(players):
            r[(s[heaps] + k) % players] = rewards[k] if left == 0 else 0.0

    def board(s, codes):
        copy_into(codes, s, heaps)

    # Texts, arrays and states from outside

    def fault(s):
        if 0 <= s[heaps] < players:
            return None
        return f"player {s[heaps]} is to move, and players are 0 to {players - 1}"

    def render(s):
        return " ".join(map(str, s[:heaps])) + f" : {s[heaps]}"

    def parse(text):
        before_colon, _, mover = text.partition(":")
        words = [*before_colon.split(), mover.strip()]
        numbers = [int(word) if word.isdigit() else -1 for word in words]
        limits = [stones] * heaps + [players - 1]
        in_limits = [0 <= number <= limit for number, limit in zip(numbers, limits)]
        if len(numbers) != len(limits) or not all(in_limits):
            raise ValueError(
                f"a position is {heaps} heaps of at most {stones} stones, a colon and the player to"
                f" move, 0 to {players - 1}, such as '3 0 5 : 1', not {text!r}"
            )
        return np.array(numbers, np.int32)

    def touch(heap_sizes, action, places):
        heap = action // take
        places[0] = heap * stones + heap_sizes[heap] - action % take - 1
        return 1

    lowest = -1.0 if players == 2 else 0.0  # reward
    return Game(
        name,
        title="Nim" if players == 2 else "Nim for three",
        aim=aim,
        **named(start, legal, play, player, over, score, board, irreversible),
        **named(render, parse, fault, touch),
        drawing=_drawing(heaps, stones),
        names={a: f"{a % take + 1} from heap {a // take + 1}" for a in range(heaps * take)},
        players=players,
        actions=heaps * take,
        size=heaps + 1,
        num_codes=[stones + 1] * heaps,
        from_codes=lambda codes, player: np.array([*codes, player], np.int32),
        score_range=(lowest, 1.0),
        start_scheme=(0.5, 1),
        settings=SETTINGS if players == 2 else SETTINGS3P,
        progress=None if players == 2 else ("mcts:100", 1, " points"),
        version=1,
    )
