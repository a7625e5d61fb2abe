"""Rivals in the same run: OpenSpiel's searches and random games beside ours, on this machine.

Programs that can not be run here are quoted as ratios only, with machine and date.
"""

import importlib.util
import itertools
import random

import numpy as np

from afterstate import games
from afterstate.games.calls import call_start
from afterstate.kernel.compile import kernel
from afterstate.kernel.random import new_rng
from afterstate.learners import td
from afterstate.search import mcts
from afterstate.search.mcts import rollout
from afterstate.search.puct import Search

from .measure import fastest, table

UCT_ITERATIONS, PUCT_ITERATIONS = 10_000, 1_000
LONGEST = 10_000  # plies of a random game
GAMES = {  # name: (our game, its parameters, OpenSpiel's game, its parameters)
    "ConnectFour": ("connect4", {}, "connect_four", {}),
    "Othello": ("othello", {}, "othello", {}),
    "Hex 6x6": ("hex", {"size": 6}, "hex", {"board_size": 6}),
    "Tic-Tac-Toe": ("tictactoe", {}, "tic_tac_toe", {}),
}
NETWORKS = {  # name: (what the row says, n-tuples of the wrapped network)
    "ConnectFour": ("ConnectFour, 70 8-tuples", "connect4-70x8"),
    "Othello": ("Othello, 100 7-tuples", {"random_walk": 100, "length": 7}),
}
ELSEWHERE = """
Ratios measured elsewhere, both programs side by side: ours divided by the other, work per CPU
second, on one 2.5 GHz Cascade Lake core on 22 November 2026. GBG is the Java software of
[konen2021], on one thread; TDL2048+ is a C++ program for 2048 alone (in brackets with transparent
huge pages for it).

| work | beside GBG | beside TDL2048+ |
|---|--:|--:|
| training: ConnectFour, 70 8-tuples, TC-EXP | 9.1 | |
| training: Othello, 50 6-tuples and 100 7-tuples | 7.9, 7.9 | |
| training: 2048, four 6-tuples, with TC | 10 | 0.51 (0.37) |
| training: 2048, four 6-tuples, without TC | 9.1 | 0.39 (0.32) |
| training: Hex 6x6; Tic-Tac-Toe; Nim3P | 14.8; 4.8; 4.2 | |
| UCT, 10,000 iterations: ConnectFour; Othello; Hex 6x6 | 9.5; 30; 20 | |
| PUCT around a network, 1,000 iterations: ConnectFour; Othello | about 7 to 10; 3 to 6 | |
| training: cube 2x2x2; 3x3x3 | about 10.3; 10.8 | |

The last two rows were not measured side by side: GBG's rates there (24,000 to 31,000 and 5,000 to
10,000 iterations, 22,500 and 5,500 moves a second) against ours on another machine, scaled by what
each of the two makes of the ConnectFour training.
"""


@kernel
def _random_games(rules, s, moves, number, rng):
    for _ in range(number):
        call_start(rules, s, rng)
        rollout(rules, s, moves, LONGEST, rng)


# each returns a step, which does some work and returns how many units it was
def our_uct(game):
    memory = mcts.TreeSearch(game, UCT_ITERATIONS, mcts.limits_of(game, rollout_depth=None))
    seeds = itertools.count()

    def step():
        memory.run(game.start(), UCT_ITERATIONS, next(seeds))
        return UCT_ITERATIONS

    return step


def our_random_games(game):
    rng, state, moves = new_rng(1), game.start(), np.zeros(game.rules.max_legal, np.int32)

    def step():
        _random_games(game.rules, state, moves, 1000, rng)
        return 1000

    return step


def our_puct(game, tuples):
    """PUCT searches from the start, each in a new tree, around a network of random weights."""
    net = td.Session(game, {"episodes": 1, "tuples": tuples, "distinct_symmetries": False}, 1).net
    net.weights[:] = np.random.default_rng(1).normal(0.0, 0.05, net.weights.shape)
    search, seeds = Search(game, net, PUCT_ITERATIONS), itertools.count()

    def step():
        search.plant(game.start(), next(seeds))
        search.run(PUCT_ITERATIONS)
        return PUCT_ITERATIONS

    return step


def their_uct(name: str, parameters: dict):
    game = pyspiel().load_game(name, parameters)

    def step():
        rollouts = pyspiel().RandomRolloutEvaluator(1, 1)
        bot = pyspiel().MCTSBot(game, rollouts, 2**0.5, UCT_ITERATIONS, 1000, False, 1, False)
        bot.mcts_search(game.new_initial_state())
        return UCT_ITERATIONS

    return step


def their_random_games(name: str, parameters: dict):
    game, choose = pyspiel().load_game(name, parameters), random.Random(1).choice

    def step():
        for _ in range(50):
            state = game.new_initial_state()
            while not state.is_terminal():
                state.apply_action(choose(state.legal_actions()))
        return 50

    return step


def pyspiel():
    return importlib.import_module("pyspiel")


def beside(ours, theirs, *arguments, digits: int = 1) -> tuple[str, str, str]:
    """Measure our step and a rival's; return both and the ratio, also where there is no rival."""
    speed = fastest(ours)
    if importlib.util.find_spec("pyspiel") is None:
        return f"{speed:,.0f}", "not installed", ""
    rival = fastest(theirs(*arguments))
    return f"{speed:,.0f}", f"{rival:,.0f}", f"{speed / rival:.{digits}f}"


def lines() -> list[str]:
    uct, plays, puct = [], [], []
    for name, (ours, parameters, *theirs) in GAMES.items():
        game = games.load(ours, **parameters)
        uct.append((name, *beside(our_uct(game), their_uct, *theirs)))
        plays.append((name, *beside(our_random_games(game), their_random_games, *theirs)))
        if name in NETWORKS:
            what, tuples = NETWORKS[name]
            puct.append((what, *beside(our_puct(game, tuples), their_uct, *theirs, digits=2)))
    a, b = f"{UCT_ITERATIONS:,}", f"{PUCT_ITERATIONS:,}"
    return [
        *table(f"| UCT, {a} iterations, per CPU second | ours | OpenSpiel's (C++) | ratio |", uct),
        *table("| random games per CPU second | ours | OpenSpiel (from Python) | ratio |", plays),
        *table(f"| PUCT around a network, {b} iterations | ours | OpenSpiel's UCT | ratio |", puct),
        *ELSEWHERE.rstrip().split("\n"),
    ]
