"""``make bench``: speed per CPU second beside rivals, start-up time and memory.

Speeds are of one process, late in training (after a warm-up), by ``time.process_time``; the fastest
of three repeats counts, because other load on the machine can only slow a repeat down. Beside the
trainings stands the share of the machine's own limit of random look-ups (``bench_lookups.py``).
"""

import os
import platform
import subprocess
import sys
import tempfile

import numpy as np

from ..files import reports_directory, write_text
from ..games.catalogue import load
from ..learners import sarsa, tabular, td
from ..search import min_max
from ..studies.records import machine
from . import bench_2048, bench_linear, bench_lookups, bench_processes, bench_rivals, bench_wrapped
from .make_agents import CUBE

REPEATS = 3
SECONDS = 1.0


def cube(num_tuples: int, max_plies: int) -> dict:
    """Return the parameters of [scheiermann2022] for a cube."""
    return CUBE | {"tuples": {"random_walk": num_tuples, "length": 7}, "max_plies": max_plies}


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
    "Cube 2x2x2, 60 7-tuples, TC-id": ("cube2", cube(60, 16)),
    "Cube 3x3x3, 120 7-tuples, TC-id": ("cube3", cube(120, 13)),
}
ALGORITHMS = {  # with the same n-tuples and parameters; SARSA and Q-learning store a Q per action
    "TD-learning": (td, {}),
    "SARSA": (sarsa, {"method": "sarsa"}),
    "Q-learning": (sarsa, {"method": "q"}),
}
TABLES = {"Tic-Tac-Toe": "tictactoe", "Kalah": "kalah", "Nine Men's Morris": "morris"}
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
from afterstate.search import max_n, mcts
for name in games.names():
    game = games.load(name)
    session = td.Session(game, {"tc": "exp", "tuples": [[0, 1]], "max_plies": 100}, 1)
    session.train(1)
    if game.players == 1:
        continue
    arena.matches(game, {"a": session, "b": players.Random()})
    if game.deterministic:
        counts.perft(game, 2)
mcts.search(games.load("tictactoe"), games.load("tictactoe").start(), 3)
max_n.values(games.load("tictactoe"), games.load("tictactoe").start(), 3)
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
game = Game("subtract", start=start, legal=legal, play=play, player=player, over=over, score=score,
            board=board, players=2, actions=3, max_legal=3, size=2, num_codes=[22])
td.Session(game, {}, 1).train(1)
print(time.time() - began)
"""


def training_speed(session) -> float:
    """Return the moves per CPU second of a training, after as many episodes as run in a second."""
    session.train(1)
    # the first is the warm-up
    return max(bench_processes.moves_per_second(session, SECONDS) for _ in range(REPEATS + 1))


def min_max_speed(game, depth: int) -> float:
    """Return the positions per CPU second of alpha-beta searches for the best action.

    From positions of random games.
    """
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

    return bench_rivals.fastest(step)


def start_up() -> dict[str, float]:
    """Return seconds of new processes until a first training step.

    With nothing compiled, with everything compiled, and for a new game.
    """
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


def training_lines() -> list[str]:
    """Measure the trainings; return the lines of two tables."""
    lines = ["| training | moves per CPU second | share of the look-up limit |", "|---|--:|--:|"]
    for name, (game, parameters) in SETTINGS.items():
        session = td.Session(load(game), {"episodes": 10**9, **parameters}, seed=1)
        speed = training_speed(session)
        lines.append(f"| {name} | {speed:,.0f} | {bench_lookups.share(session, speed)} |")
        print(lines[-1], flush=True)
    lines += ["", "| tabular Q-learning, taught by its twin | moves per CPU second |", "|---|--:|"]
    return lines + [
        f"| {name} | {training_speed(tabular.Session(load(game), {}, seed=1)):,.0f} |"
        for name, game in TABLES.items()
    ]


def algorithm_lines() -> list[str]:
    """Measure TD-learning, SARSA and Q-learning on ConnectFour; return the lines of a table."""
    what = "ConnectFour, 70 8-tuples, TC-EXP (after few episodes)"
    lines = [
        "",
        f"| {what} | moves per CPU second | of TD-learning | weights |",
        "|---|--:|--:|--:|",
    ]
    speeds, game = {}, load("connect4")
    for name, (learner, own) in ALGORITHMS.items():
        parameters = {"episodes": 10**9, **bench_processes.CONNECT4, **own}
        session = learner.Session(game, parameters, seed=1)
        speeds[name] = training_speed(session)
        part = speeds[name] / speeds["TD-learning"]
        lines.append(
            f"| {name} | {speeds[name]:,.0f} | {part:.2f} | {session.net.weights.size:,} |"
        )
    return lines


def search_lines() -> list[str]:
    """Measure Min-Max; return the lines of a table."""
    what = "Min-Max, the best action of positions from random games"
    return ["", f"| {what} | positions per CPU second |", "|---|--:|"] + [
        f"| {name} | {min_max_speed(load(game), depth):,.0f} |"
        for name, (game, depth) in MIN_MAX.items()
    ]


def start_lines() -> list[str]:
    """Measure starts of new processes; return the lines of a table."""
    what = "start of a new process, until the first training step"
    return ["", f"| {what} | seconds |", "|---|--:|"] + [
        f"| {name} | {seconds:.1f} |" for name, seconds in start_up().items()
    ]


PARTS = (
    training_lines,
    algorithm_lines,
    bench_2048.lines,
    bench_rivals.lines,
    bench_wrapped.lines,
    search_lines,
    bench_linear.lines,
    bench_processes.lines,
    start_lines,  # compiles everything twice: the last, and the longest
)


def main() -> int:
    """Measure everything, print it and write ``reports/paper/bench.md``."""
    here = machine()
    head = [
        "# Benchmarks",
        "",
        f"{here['cpu']} (kernels for {here['target']}), Python {platform.python_version()}, one"
        " process. Rivals are measured in the same run, or left out.",
        "",
        "A random look-up in 128 MiB that waits for the one before takes"
        f" {bench_lookups.chase_latency():.0f} ns.",
        "",
    ]
    lines = [*head]
    for number, part in enumerate(PARTS, 1):
        print(f"part {number} of {len(PARTS)}", flush=True)
        lines += part()
    lines += ["", f"Peak memory of this process: {bench_processes.peak():.0f} MiB.", ""]
    write_text(reports_directory() / "paper" / "bench.md", "\n".join(lines))
    print("\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
