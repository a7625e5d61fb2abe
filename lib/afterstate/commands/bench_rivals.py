"""Rivals in the same run: OpenSpiel's C++ player and random games beside ours, on this machine.

Figures of programs that can not be run here are quoted as ratios only, with machine and date: a
speed from another machine says nothing beside one from this.
"""

import importlib.util
import itertools
import random

import numpy as np

from ..games.calls import call_start
from ..games.catalogue import load
from ..kernel.compile import kernel
from ..kernel.random import new_rng
from ..search import mcts
from ..search.mcts import rollout
from .bench_processes import per_second

UCT_ITERATIONS = 10_000
REPEATS, SECONDS = 3, 1.0
LONGEST = 10_000  # plies of a random game
# name: (our game, its parameters, OpenSpiel's game, its parameters)
GAMES = {
    "ConnectFour": ("connect4", {}, "connect_four", {}),
    "Othello": ("othello", {}, "othello", {}),
    "Hex 6x6": ("hex", {"size": 6}, "hex", {"board_size": 6}),
    "Tic-Tac-Toe": ("tictactoe", {}, "tic_tac_toe", {}),
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
def _random_games(rules, s, moves, games, rng):
    for _ in range(games):
        call_start(rules, s, rng)
        rollout(rules, s, moves, LONGEST, rng)


def fastest(step) -> float:
    """Return the units per CPU second of a function that returns how many it has done.

    The fastest repeat, after a warm-up.
    """
    step()
    return max(per_second(step, SECONDS) for _ in range(REPEATS))


def ours(game) -> tuple[float, float]:
    """Return UCT iterations and random games per CPU second, both from the start."""
    memory = mcts.TreeSearch(game, UCT_ITERATIONS, mcts.limits_of(game, rollout_depth=None))
    seeds, rng = itertools.count(), new_rng(1)
    state, moves = game.start(), np.zeros(game.rules.max_legal, np.int32)

    def search():
        memory.run(game.start(), UCT_ITERATIONS, next(seeds))
        return UCT_ITERATIONS

    def play():
        _random_games(game.rules, state, moves, 1000, rng)
        return 1000

    return fastest(search), fastest(play)


def openspiel(name: str, parameters: dict) -> tuple[float, float]:
    """Return the same of OpenSpiel: its C++ player, and C++ states driven from Python."""
    return openspiel_search(name, parameters), openspiel_games(name, parameters)


def openspiel_search(name: str, parameters: dict) -> float:
    """Return iterations per CPU second of OpenSpiel's C++ player, from the start."""
    import pyspiel

    game = pyspiel.load_game(name, parameters)

    def search():
        rollouts = pyspiel.RandomRolloutEvaluator(1, 1)
        bot = pyspiel.MCTSBot(game, rollouts, 2**0.5, UCT_ITERATIONS, 1000, False, 1, False)
        bot.mcts_search(game.new_initial_state())
        return UCT_ITERATIONS

    return fastest(search)


def openspiel_games(name: str, parameters: dict) -> float:
    """Return random games per CPU second of OpenSpiel's C++ states, driven from Python."""
    import pyspiel

    game, choose = pyspiel.load_game(name, parameters), random.Random(1).choice

    def play():
        for _ in range(50):
            state = game.new_initial_state()
            while not state.is_terminal():
                state.apply_action(choose(state.legal_actions()))
        return 50

    return fastest(play)


def beside(speed: float, rival: float | None, digits: int = 1) -> str:
    """Return the two cells of a rival's speed and of the ratio, also where there is no rival."""
    return f"{rival:,.0f} | {speed / rival:.{digits}f}" if rival else "not installed | "


def lines() -> list[str]:
    """Measure; return the lines of the tables."""
    searches, plays = [], []
    installed = importlib.util.find_spec("pyspiel") is not None
    for name, (game, parameters, theirs, options) in GAMES.items():
        mine = ours(load(game, **parameters))
        other = openspiel(theirs, options) if installed else ()
        for rows, speed, rival in zip((searches, plays), mine, other or (None, None), strict=True):
            rows.append(f"| {name} | {speed:,.0f} | {beside(speed, rival)} |")
            print(rows[-1], flush=True)
    return [
        "",
        f"| UCT, {UCT_ITERATIONS:,} iterations from the start, per CPU second | ours |"
        " OpenSpiel's MCTSBot (C++) | ratio |",
        "|---|--:|--:|--:|",
        *searches,
        "",
        "| random games per CPU second | ours | OpenSpiel (C++ states, driven from Python) |"
        " ratio |",
        "|---|--:|--:|--:|",
        *plays,
        *ELSEWHERE.rstrip().split("\n"),
    ]
