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
from .. import boards as draw
from ..boards import CELL, PAD, SOFT
from ..calls import copy_into
from ..game import Game
from . import irreversible, named, sum_of

STONE = "#d9d9d9"


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
    return _game("nim", heaps, stones, take, rewards)


def nim3p(
    heaps: int = 3, stones: int = 5, take: int | None = None, extra_rule: bool = True
) -> Game:
    """Make three-player Nim; with the `extra_rule`, the player before the last taker gets 0.2."""
    second = 0.2 if extra_rule else 0.0
    return _game("nim3p", heaps, stones, take, (1.0, second, 0.0))


def _game(name, heaps, stones, take, rewards):
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

    def svg(s, values, last):
        # places are the numbers of stones and then the actions: a circle and all to its right
        parts, left, top = [], PAD + 22, PAD + 22 * bool(values)
        taken = {} if last is None else {last // take: last % take + 1}
        for h in range(heaps):
            y = top + CELL * (h + 0.5)
            parts.append(draw.place(h, draw.text_at(PAD + 8, y + 5, s[h], 14, SOFT)))
            for number in range(s[h], -taken.get(h, 0), -1):
                x, action = left + CELL * (s[h] - number + 0.5), h * take + number - 1
                if number < 1:
                    parts.append(draw.circle(x, y, 22, "none", stroke_dasharray="3 3"))
                    continue
                value = values.get(heaps + action) if number <= take else None
                fill = draw.value_colour(value, STONE)
                drawn = draw.circle(x, y, 24, fill) + draw.label(x, y + 5, value, 12, fill)
                parts.append(draw.place(heaps + action, drawn) if number <= take else drawn)
        title = "a circle: taking it and all to its right" if values else ""
        width, height = left + CELL * stones + PAD, top + CELL * heaps + PAD
        return draw.document(parts, width, height, values, title)

    lowest = -1.0 if players == 2 else 0.0  # reward
    return Game(
        name,
        **named(start, legal, play, player, over, score, board, irreversible),
        **named(render, parse, svg, fault),
        action_name=lambda s, action: f"{action % take + 1} from heap {action // take + 1}",
        touch=lambda s, action: [heaps + action],
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
