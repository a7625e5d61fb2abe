"""Small games that several tests share."""

import numpy as np

from afterstate.games.game import Game
from afterstate.kernel.random import random_int


def take_game(dice=False, extra_turn=False, listed=True):
    """Players take 1 or 2 coins of 12 and keep them; a die may take one more away.

    Coins left 6 or 3: an extra turn.
    """

    def start(s, rng):
        s[0], s[1], s[2], s[3] = 12, 0, 0, 0

    def legal(s, moves):
        moves[0], moves[1] = 0, 1
        return min(2, s[0])

    def play(s, action):
        s[0] -= action + 1
        s[1 + s[3]] += action + 1
        if not (extra_turn and s[0] % 3 == 0):
            s[3] = 1 - s[3]

    def player(s):
        return s[3]

    def over(s):
        return s[0] <= 0

    def score(s, r):
        r[0], r[1] = s[1] / 8.0, s[2] / 8.0 + (0.0625 if s[0] == 0 and s[3] == 0 else 0.0)

    def board(s, cells):
        cells[0] = s[0]

    def chance(s, rng):
        s[0] = max(0, s[0] - random_int(rng, 4) // 3)

    def outcomes(s):
        return 2

    def outcome(s, k):
        s[0] = max(0, s[0] - k)
        return 0.25 if k else 0.75

    def key(s, k):  # without the coins won: rewards so far are not part of a position
        k[0], k[1] = np.uint64(s[0]), np.uint64(s[3])

    more = (
        {"chance": chance} | ({"outcomes": outcomes, "outcome": outcome} if listed else {})
        if dice
        else {}
    )
    return Game(
        "take",
        start=start,
        legal=legal,
        play=play,
        player=player,
        over=over,
        score=score,
        board=board,
        key=key,
        players=2,
        actions=2,
        max_legal=2,
        size=4,
        values=[13],
        score_range=(0.0, 2.0),
        **more,
    )


def race():
    """Two players throw 1 - 3, or for a fee 1 - 6, pips forward on a track of 12.

    Every pip counts a little, the end counts 1.
    """

    # place and place, who moves, throw announced (in afterstates), long throws of both
    def start(s, rng):
        s[:] = 0

    def legal(s, moves):
        moves[0], moves[1] = 0, 1
        return 2

    def play(s, action):
        s[3] = action + 1
        s[4 + s[2]] += action

    def chance(s, rng):
        s[s[2]] += 1 + random_int(rng, 3 * s[3])
        s[2], s[3] = 1 - s[2], 0

    def player(s):
        return s[2]

    def over(s):
        return max(s[0], s[1]) >= 12

    def score(s, r):
        for p in range(2):
            r[p] = 0.01 * s[p] - 0.02 * s[4 + p] + (1.0 if s[p] >= 12 else 0.0)

    def board(s, codes):
        codes[0], codes[1], codes[2] = s[0], s[1], s[3]

    return Game(
        "race",
        start=start,
        legal=legal,
        play=play,
        chance=chance,
        player=player,
        over=over,
        score=score,
        board=board,
        players=2,
        actions=2,
        max_legal=2,
        size=6,
        values=[18, 18, 3],
    )


def chain(length):
    """One player walks from 0 to `length` one step at a time; the end is worth 1."""

    def start(s, rng):
        s[0] = 0

    def legal(s, moves):
        moves[0] = 0
        return 1

    def play(s, action):
        s[0] += 1

    def player(s):
        return 0

    def over(s):
        return s[0] == length

    def score(s, r):
        r[0] = 1.0 if s[0] == length else 0.0

    def board(s, codes):
        codes[0] = s[0]

    return Game(
        "chain",
        start=start,
        legal=legal,
        play=play,
        player=player,
        over=over,
        score=score,
        board=board,
        players=1,
        actions=1,
        max_legal=1,
        size=1,
        values=[length + 1],
    )
