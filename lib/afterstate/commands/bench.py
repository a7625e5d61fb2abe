"""``make bench``: training speed per CPU second, start-up time and memory of every setting that the studies use.

Speeds are of one process, late in training (after a warm-up), by ``time.process_time``; the fastest
of three repeats counts, because other load on the machine can only slow a repeat down. Random
look-ups in a table that exceeds the caches bound n-tuple learning, so their latency on this machine
stands beside the figures.
"""

import itertools
import os
import platform
import subprocess
import sys
import tempfile
import time

import numpy as np

from ..files import reports_directory, write_text
from ..games.catalogue import load, names
from ..kernel.compile import kernel
from ..kernel.random import new_rng, random_int
from ..learners import tabular, td
from ..search import mcts, min_max
from ..studies.records import machine
from . import bench_2048, bench_processes

REPEATS = 3
SECONDS = 1.0
LATENCY_ENTRIES = 1 << 24  # 128 MiB of int64

SETTINGS = {  # name: (game, parameters of the learner)
    "Tic-Tac-Toe, one 9-tuple": ("tictactoe", dict(alpha=[1.0, 0.5], epsilon=[0.1, 0.0])),
    "Nim 3x5, one 3-tuple, lambda 0.5, TC-id": (
        "nim",
        dict(alpha=0.5, epsilon=0.1, lambda_=0.5, tc="id", tuples="nim-1x3"),
    ),
    "Nim3P 3x5, two 3-tuples, lambda 0.5, TC-id": (
        "nim3p",
        dict(
            alpha=0.2,
            epsilon=0.15,
            lambda_=0.5,
            horizon_cut=0.01,
            trace="RESET",
            tc="id",
            tuples="nim3p-2x3",
            choose_start=True,
            learn_from_random=False,
        ),
    ),
    "ConnectFour, 70 8-tuples, TC-EXP (after few episodes)": ("connect4", bench_processes.CONNECT4),
    "Hex 6x6, 25 6-tuples, TC-id": (
        "hex",
        dict(
            alpha=[1.0, 0.5],
            epsilon=0.2,
            tc="id",
            choose_start=True,
            tuples={"random_walk": 25, "length": 6},
        ),
    ),
    "Othello, 50 6-tuples, lambda 0.5, TC-EXP": (
        "othello",
        dict(
            alpha=0.2,
            epsilon=0.2,
            lambda_=0.5,
            horizon_cut=0.01,
            tc="exp",
            choose_start=True,
            learn_from_random=False,
            tuples="othello-50x6",
        ),
    ),
    "2048, four 6-tuples, TC-id (after few episodes)": ("game2048", bench_2048.PAPER),
}
TABLES = {"Tic-Tac-Toe": "tictactoe", "Kalah": "kalah", "Nine Men's Morris": "morris"}
# name: (game, its parameters, iterations per CPU second of the original and of OpenSpiel's C++
# player on such a machine)
UCT = {
    "ConnectFour": ("connect4", {}, "168,000", "53,800"),
    "Othello": ("othello", {}, "11,000", "1,980"),
    "Hex 6x6": ("hex", {"size": 6}, "14,200", "46,400"),
    "Nim3P 3x5": ("nim3p", {}, "", ""),
}
UCT_ITERATIONS = 10_000
MIN_MAX = {"Nine Men's Morris, to depth 4": ("morris", 4), "Kalah, to depth 6": ("kalah", 6)}
MIN_MAX_POSITIONS = 30
START = """
import sys, time
began = time.time()
from afterstate import games
from afterstate.learners import td
session = td.Session(games.load("tictactoe"), {}, 1)
session.train(1)
print(time.time() - began)
"""
EVERYTHING = """
import time
began = time.time()
import numpy as np
from afterstate import arena, games, players
from afterstate.games import counts
from afterstate.learners import td
from afterstate.search import max_n, mcts, solver
for name in games.names():
    game = games.load(name)
    session = td.Session(game, {"tc": "exp", "tuples": [[0, 1]]}, 1)
    session.train(1)
    arena.matches(game, {"a": session, "b": players.Random()})
    if game.deterministic:
        counts.perft(game, 2)
mcts.search(games.load("tictactoe"), games.load("tictactoe").start(), 3)
max_n.values(games.load("tictactoe"), games.load("tictactoe").start(), 3)
solver.Solver(games.load("tictactoe"), table_bits=10).value(games.load("tictactoe").start())
print(time.time() - began)
"""
NEW_GAME = """
import time
from afterstate import games
from afterstate.learners import td
from afterstate.games.game import Game
td.Session(games.load("tictactoe"), {}, 1).train(1)
began = time.time()
def start(s, rng): s[0] = 21; s[1] = 0
def legal(s, moves):
    n = 0
    for k in range(min(3, s[0])):
        moves[n] = k; n += 1
    return n
def play(s, action): s[0] -= action + 1; s[1] = 1 - s[1]
def player(s): return s[1]
def over(s): return s[0] == 0
def score(s, r):
    r[0] = r[1] = 0.0
    if s[0] == 0: r[s[1]] = -1.0; r[1 - s[1]] = 1.0
def board(s, codes): codes[0] = s[0]
game = Game("subtract", start=start, legal=legal, play=play, player=player, over=over, score=score, board=board,
            players=2, actions=3, max_legal=3, size=2, num_codes=[22])
td.Session(game, {}, 1).train(1)
print(time.time() - began)
"""


@kernel
def _chase(table, steps):
    at = 0
    for _ in range(steps):
        at = table[at]
    return at


def lookup_latency() -> float:
    """Return the nanoseconds of one dependent random look-up in a table of 128 MiB."""
    order = np.arange(LATENCY_ENTRIES, dtype=np.int64)
    rng = new_rng(0)
    _cycle(order, rng)
    _chase(order, 1000)
    best = np.inf
    for _ in range(REPEATS):
        began = time.process_time()
        _chase(order, 2_000_000)
        best = min(best, time.process_time() - began)
    return best / 2_000_000 * 1e9


@kernel
def _cycle(order, rng):
    """Shuffle into one cycle through all entries (Sattolo), so that a chase visits everything."""
    for i in range(order.shape[0] - 1, 0, -1):
        j = random_int(rng, i)
        order[i], order[j] = order[j], order[i]


def training_speed(session) -> float:
    """Return the moves per CPU second of a training, after as many episodes as run in a second."""
    session.train(1)
    # the first is the warm-up
    return max(bench_processes.moves_per_second(session, SECONDS) for _ in range(REPEATS + 1))


def fastest(step) -> float:
    """Return the units per CPU second of a function that returns how many it has done: the fastest repeat, after a warm-up."""
    step()
    return max(bench_processes.per_second(step, SECONDS) for _ in range(REPEATS))


def uct_speed(game) -> float:
    """Return the iterations per CPU second of a UCT search from the start with random games to the end."""
    memory = mcts.TreeSearch(game, UCT_ITERATIONS, mcts.limits_of(game, rollout_depth=None))
    seeds = itertools.count()

    def step():
        memory.run(game.start(), UCT_ITERATIONS, next(seeds))
        return UCT_ITERATIONS

    return fastest(step)


def min_max_speed(game, depth: int) -> float:
    """Return the positions per CPU second of alpha-beta searches for the best action, from positions of random games."""
    searcher, rng, states = min_max.Searcher(game, depth), np.random.default_rng(1), []
    for plies in range(0, 2 * MIN_MAX_POSITIONS, 2):
        state = game.start()
        for _ in range(plies):
            if not game.over(state):
                state = game.next(state, rng.choice(game.legal(state)))
        states.append(state)

    def step():
        found = 0
        for state in states:
            searcher.values(state, min_max.FIRST)
            found += searcher.positions
        return found

    return fastest(step)


def uct_table() -> list[str]:
    """Measure UCT for the games that exist; return the lines of a table."""
    lines = [
        (
            f"| UCT, {UCT_ITERATIONS:,} iterations from the start, tree depth 10 | iterations per"
            " CPU second | original | OpenSpiel (C++) |"
        ),
        "|---|--:|--:|--:|",
    ]
    for name, (game, parameters, original, openspiel) in UCT.items():
        if game in names():
            lines.append(
                f"| {name} | {uct_speed(load(game, **parameters)):,.0f} | {original} |"
                f" {openspiel} |"
            )
            print(lines[-1], flush=True)
    return lines


def start_up() -> dict[str, float]:
    """Return seconds of new processes until a first training step: nothing compiled, everything compiled, and a new game."""
    with tempfile.TemporaryDirectory() as cache:
        environment = os.environ | {"AFTERSTATE_CACHE": cache}
        names = {
            "cold (nothing compiled), Tic-Tac-Toe only": START,
            "warm (kernels in the cache)": START,
            "a game new in this process, kernels warm": NEW_GAME,
        }
        found = {
            name: min(
                _seconds(code, environment)
                for _ in range(1 if name.startswith("cold") else REPEATS)
            )
            for name, code in names.items()
        }
    with tempfile.TemporaryDirectory() as cache:
        return found | {
            "cold, every game, learner, search and player": _seconds(
                EVERYTHING, os.environ | {"AFTERSTATE_CACHE": cache}
            )
        }


def _seconds(code, environment) -> float:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True
    )
    return float(done.stdout.split()[-1])


def main() -> int:
    """Measure everything, print it and write ``reports/paper/bench.md``."""
    lines = [
        "# Benchmarks",
        "",
        (
            f"{machine()['cpu']} (kernels for {machine()['target']}), Python"
            f" {platform.python_version()}, one process."
        ),
        "",
        f"A dependent random look-up in 128 MiB takes {lookup_latency():.0f} ns.",
        "",
        "| training | moves per CPU second |",
        "|---|--:|",
    ]
    for name, (game, parameters) in SETTINGS.items():
        lines.append(
            f"| {name} |"
            f" {training_speed(td.Session(load(game), {'episodes': 10**9, **parameters}, seed=1)):,.0f} |"
        )
        print(lines[-1], flush=True)
    lines += ["", "| tabular Q-learning, taught by its twin | moves per CPU second |", "|---|--:|"]
    lines += [
        f"| {name} | {training_speed(tabular.Session(load(game), {}, seed=1)):,.0f} |"
        for name, game in TABLES.items()
    ]
    lines += bench_2048.lines()
    lines += ["", *uct_table()]
    lines += [
        "",
        "| Min-Max, the best action of positions from random games | positions per CPU second |",
        "|---|--:|",
    ]
    lines += [
        f"| {name} | {min_max_speed(load(game), depth):,.0f} |"
        for name, (game, depth) in MIN_MAX.items()
    ]
    lines += [
        "",
        "| start of a new process, until the first training step | seconds |",
        "|---|--:|",
    ]
    lines += [f"| {name} | {seconds:.1f} |" for name, seconds in start_up().items()]
    lines += bench_processes.lines()
    lines += ["", f"Peak memory of this process: {bench_processes.peak():.0f} MiB.", ""]
    target = reports_directory() / "paper" / "bench.md"
    write_text(target, "\n".join(lines))
    print("\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
