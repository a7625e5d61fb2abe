"""Small games that several tests share."""

import numpy as np

from afterstate.games.game import Game
from afterstate.kernel.random import random_int


def race(**changed):
    """A race in a notebook cell: two players add 1 or 2, who reaches 5 wins."""

    def start(s, rng):
        s[0] = s[1] = 0

    def legal(s, moves):
        moves[0], moves[1] = 0, 1
        return 2

    def play(s, action):
        s[0] = min(5, s[0] + action + 1)
        s[1] = 1 - s[1]

    def player(s):
        return s[1]

    def over(s):
        return s[0] >= 5

    def score(s, r):
        r[0] = r[1] = 0.0
        if s[0] >= 5:
            r[1 - s[1]] = 1.0
            r[s[1]] = -1.0

    def board(s, cells):
        cells[0] = s[0]

    rules = {
        "start": start,
        "legal": legal,
        "play": play,
        "player": player,
        "over": over,
        "score": score,
        "board": board,
        "players": 2,
        "actions": 2,
        "max_legal": 2,
        "size": 2,
        "num_codes": [6],
    }
    return Game("race", **(rules | changed))


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
        num_codes=[13],
        score_range=(0.0, 2.0),
        **more,
    )
