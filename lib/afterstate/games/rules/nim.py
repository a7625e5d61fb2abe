"""Nim for two players, and Nim3P for three: take any number of stones from one heap.

::

    specification   nim                                    nim3p
    players         2                                      3
    actions         15, at most 15 legal: heap and number  15, at most 15 legal: heap and number
    cells           3 of 6 codes: stones in a heap         3 of 6 codes: stones in a heap
    symmetries      1
    chance          none
    reward          -1 to 1: loss, win, at the end         0 to 1: 0.2 for the second, at the end
    start           the default with probability 0.5, else 1 random ply
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
from ..boards import heaps_svg
from ..game import Game
from . import irreversible, named


def nim(heaps: int = 3, stones: int = 5, take: int | None = None, misere: bool = False):
    """Make two-player Nim; a move takes at most `take` stones (default: a whole heap)."""
    take = _check(heaps, stones, take)

    def score(s, r):
        total = 0
        for h in range(heaps):
            total += s[h]
        r[0] = r[1] = 0.0
        if total == 0:
            winner = s[heaps] if misere else 1 - s[heaps]  # the last taker's opponent is to move
            r[winner] = 1.0
            r[1 - winner] = -1.0

    return _game("nim", 2, heaps, stones, take, score)


def nim3p(heaps: int = 3, stones: int = 5, take: int | None = None, extra_rule: bool = True):
    """Make three-player Nim; with the `extra_rule`, the player before the last taker gets 0.2."""
    take = _check(heaps, stones, take)
    second = 0.2 if extra_rule else 0.0

    def score(s, r):
        total = 0
        for h in range(heaps):
            total += s[h]
        r[0] = r[1] = r[2] = 0.0
        if total == 0:
            winner = s[heaps]  # the turn has passed on from the last taker to the winner
            r[winner] = 1.0
            r[(winner + 1) % 3] = second

    return _game("nim3p", 3, heaps, stones, take, score)


def _check(heaps, stones, take) -> int:
    """Check the sizes; return the most stones that a move may take."""
    whole("heaps", heaps, 1)
    whole("stones", stones, 1)
    return stones if take is None else min(whole("take", take, 1), stones)


def _game(name, players, heaps, stones, take, score):
    """Make either game; all but the score is the same."""

    def start(s, rng):
        for h in range(heaps):
            s[h] = stones
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
        for h in range(heaps):
            if s[h] > 0:
                return False
        return True

    def board(s, codes):
        for h in range(heaps):
            codes[h] = s[h]

    def fault(s):
        if 0 <= s[heaps] < players:
            return None
        return f"player {s[heaps]} is to move, and players are 0 to {players - 1}"

    def render(s):
        return " ".join(map(str, s[:heaps])) + f" : {s[heaps]}"

    def parse(text):
        left, colon, right = text.partition(":")
        numbers = [*left.split(), right.strip()]
        if not colon or len(numbers) != heaps + 1 or not all(n.isdigit() for n in numbers):
            raise ValueError(
                f"a position is {heaps} heap sizes, a colon and the player to move, such as '3 0 5"
                f" : 1', not {text!r}"
            )
        s = np.array([*map(int, numbers)], np.int32)
        if s[:heaps].max() > stones or s[heaps] >= players:
            raise ValueError(
                f"heaps hold at most {stones} stones, players are 0 to {players - 1}, not {text!r}"
            )
        return s

    def action_name(s, action):
        return f"{action % take + 1} from heap {action // take + 1}"

    def svg(s, values=None, last=None):
        return heaps_svg(s[:heaps].tolist(), values=values, take=take, last=last, size=stones)

    return Game(
        name,
        **named(start, legal, play, player, over, score, board, irreversible),
        **named(render, parse, action_name, svg, fault),
        players=players,
        actions=heaps * take,
        max_legal=heaps * take,
        size=heaps + 1,
        num_codes=[stones + 1] * heaps,
        score_range=(-1.0 if players == 2 else 0.0, 1.0),
        start_scheme=(0.5, 1),
        version=1,
    )


GAMES = {"nim": nim, "nim3p": nim3p}
