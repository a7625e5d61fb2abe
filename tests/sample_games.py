"""Small games that several tests share."""

from functools import cache
from unittest import mock

import numpy as np

from afterply.games.calls import SIGNATURES
from afterply.games.game import Game
from afterply.kernel.random import random_int


def rules_in(names, but=()) -> dict:
    """The rules among the names of a function, as arguments of a game."""
    return {rule: names[rule] for rule in SIGNATURES if rule in names and rule not in but}


def later(name, **definition) -> Game:
    """Make a game whose rules are compiled when it is first played.

    Every worker imports all tests, and plays the games of a few of them.
    """
    with mock.patch.object(Game, "_rules_of_package", return_value=True):
        return Game(name, **definition)


def from_zero(s, rng):
    s[:] = 0


def two_actions(s, moves):
    moves[0], moves[1] = 0, 1
    return 2


def first_number(s, cells):
    cells[0] = s[0]


def race(**changed):
    """A race in a notebook cell: two players add 1 or 2, who reaches 5 wins."""

    def start(s, rng):
        s[0] = s[1] = 0

    def play(s, action):
        s[0] = min(5, s[0] + action + 1)
        s[1] = 1 - s[1]

    def score(s, r):
        r[0] = r[1] = 0.0
        if s[0] >= 5:
            r[1 - s[1]] = 1.0
            r[s[1]] = -1.0

    rules = rules_in(locals()) | dict(legal=two_actions, board=first_number)
    rules |= dict(player=lambda s: s[1], over=lambda s: s[0] >= 5)
    sizes = dict(players=2, actions=2, max_legal=2, size=2, num_codes=[6])
    make = Game if changed else later  # an error in a rule is raised where the game is defined
    return make("race", **(rules | sizes | changed))


@cache  # a game of a test is compiled in every process
def take_game(dice=False, extra_turn=False, listed=True, players=2):
    """Players take 1 or 2 coins, of 12 or for three of 15, and keep them; a die may take one more.

    Coins left 6 or 3: an extra turn.
    """
    coins, mover, unit = 6 + 3 * players, 1 + players, 8.0 * (players - 1)

    def start(s, rng):
        s[:] = 0
        s[0] = coins

    def legal(s, moves):
        moves[0], moves[1] = 0, 1
        return min(2, s[0])

    def play(s, action):
        s[0] -= action + 1
        s[1 + s[mover]] += action + 1
        if not (extra_turn and s[0] % 3 == 0):
            s[mover] = (s[mover] + 1) % players

    def score(s, r):
        for p in range(players):
            r[p] = s[1 + p] / unit
        if players == 2 and s[0] == 0 and s[mover] == 0:
            r[1] += 0.0625

    def chance(s, rng):
        s[0] = max(0, s[0] - random_int(rng, 4) // 3)

    def outcome(s, k):
        s[0] = max(0, s[0] - k)
        return 0.25 if k else 0.75

    def key(s, k):  # without the coins won: rewards so far are not part of a position
        k[0], k[1] = np.uint64(s[0]), np.uint64(s[mover])

    absent = set() if listed else {"outcome"}
    rules = rules_in(locals(), absent if dice else {"chance", "outcome"})
    rules |= {"outcomes": lambda s: 2} if dice and listed else {}
    rules |= dict(board=first_number, player=lambda s: s[mover], over=lambda s: s[0] <= 0)
    sizes = dict(players=players, actions=2, max_legal=2, size=2 + players, num_codes=[1 + coins])
    return later("take", **rules, **sizes, score_range=(0.0, 2.0 if players == 2 else 1.0))


@cache
def dice(num_players, rounds):
    """A game with chance: each move is 2 points, or a throw that adds 2, 3 or 4 or loses all."""

    # s: points of both, plies, is a throw due
    def legal(s, moves):
        moves[0], moves[1] = 1, 0
        return 2

    def play(s, action):
        if action == 0:
            s[s[2] % num_players] += 2
        s[2] += 1
        s[3] = action

    def outcome(s, k):
        if s[3] == 0:
            return 1.0
        mover = (s[2] - 1) % num_players
        s[mover] = 0 if k == 0 else s[mover] + k + 1
        s[3] = 0
        return 0.25

    def chance(s, rng):
        if s[3]:
            mover, k = (s[2] - 1) % num_players, random_int(rng, 4)
            s[mover] = 0 if k == 0 else s[mover] + k + 1
            s[3] = 0

    def score(s, r):
        r[0] = s[0]
        if num_players == 2:
            won = np.float64(s[0] > s[1]) - np.float64(s[0] < s[1])
            r[0] = won if s[2] == 2 * rounds else 0.0
            r[1] = -r[0]

    rules = rules_in(locals()) | dict(start=from_zero, board=first_number)
    rules |= dict(outcomes=lambda s: 4 if s[3] else 1, player=lambda s: s[2] % num_players)
    sizes = dict(players=num_players, actions=2, max_legal=2, size=4, num_codes=[64])
    score_range = (0.0, 4.0 * rounds) if num_players == 1 else (-1.0, 1.0)
    over = {"over": lambda s: s[2] == rounds * num_players}
    return later("dice", **rules, **over, **sizes, score_range=score_range)


@cache
def track():
    """Two players throw 1 - 3, or for a fee 1 - 6, pips forward on a track of 12.

    Every pip counts a little, the end counts 1.
    """

    # s: place and place, who moves, throw announced (in afterstates), long throws of both
    def play(s, action):
        s[3] = action + 1
        s[4 + s[2]] += action

    def chance(s, rng):
        s[s[2]] += 1 + random_int(rng, 3 * s[3])
        s[2], s[3] = 1 - s[2], 0

    def score(s, r):
        for p in range(2):
            r[p] = 0.01 * s[p] - 0.02 * s[4 + p] + (1.0 if s[p] >= 12 else 0.0)

    def board(s, codes):
        codes[0], codes[1], codes[2] = s[0], s[1], s[3]

    rules = rules_in(locals()) | dict(start=from_zero, legal=two_actions, player=lambda s: s[2])
    sizes = dict(players=2, actions=2, max_legal=2, size=6, num_codes=[18, 18, 3])
    return later("race", **rules, **sizes, over=lambda s: max(s[0], s[1]) >= 12)


@cache
def chain(length):
    """One player walks from 0 to `length` one step at a time; the end is worth 1."""

    def legal(s, moves):
        moves[0] = 0
        return 1

    def play(s, action):
        s[0] += 1

    def score(s, r):
        r[0] = 1.0 if s[0] == length else 0.0

    rules = rules_in(locals()) | dict(start=from_zero, board=first_number)
    rules |= dict(player=lambda s: 0, over=lambda s: s[0] == length)
    sizes = dict(players=1, actions=1, max_legal=1, size=1, num_codes=[length + 1])
    return later("chain", **rules, **sizes)
