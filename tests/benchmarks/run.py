"""``make bench``: speed per CPU second beside rivals, start-up time and memory.

Writes ``reports/paper/bench.md``; ``measure.py`` says what a speed is.
"""

import os
import platform
import subprocess
import sys
import tempfile

from afterstate import arena, games
from afterstate.files import reports_directory, write_text
from afterstate.learners import sarsa, tabular
from afterstate.players.perfect import Perfect
from afterstate.studies.records import machine

from . import measure, rivals
from .measure import CONNECT4, REPEATS, session_of, table, training_speed

ALONE = dict(alpha=1.0, epsilon=0.0, tc="id", sigmoid=False)
CUBE = ALONE | dict(alpha=0.25, tc_init=1e-4, learn_from_random=False, step_reward=-0.04)
LAMBDA = dict(lambda_=0.5, horizon_cut=0.01)
CHOSEN = dict(choose_start=True, learn_from_random=False)
NIM = dict(alpha=0.5, epsilon=0.1, lambda_=0.5, tc="id", tuples="nim-1x3")
NIM3P = dict(alpha=0.2, epsilon=0.15, trace="RESET", tc="id", tuples="nim3p-2x3")
HEX = dict(alpha=[1.0, 0.5], epsilon=0.2, tc="id", choose_start=True)
OTHELLO = dict(alpha=0.2, epsilon=0.2, tc="exp", tuples="othello-50x6")


def _walks(number, length):
    return {"tuples": {"random_walk": number, "length": length}}


SETTINGS = {  # name: (game, parameters of the learner)
    "Tic-Tac-Toe, one 9-tuple": ("tictactoe", dict(alpha=[1.0, 0.5], epsilon=[0.1, 0.0])),
    "Nim 3x5, one 3-tuple, lambda 0.5, TC-id": ("nim", NIM),
    "Nim3P 3x5, two 3-tuples, lambda 0.5, TC-id": ("nim3p", NIM3P | LAMBDA | CHOSEN),
    "ConnectFour, 70 8-tuples, TC-EXP (after few episodes)": ("connect4", CONNECT4),
    "Hex 6x6, 25 6-tuples, TC-id": ("hex", HEX | _walks(25, 6)),
    "Othello, 50 6-tuples, lambda 0.5, TC-EXP": ("othello", OTHELLO | LAMBDA | CHOSEN),
    "2048, four 6-tuples, TC-id (after few episodes)": ("game2048", ALONE | {"tuples": "2048-4x6"}),
    "Cube 2x2x2, 60 7-tuples, TC-id": ("cube2", CUBE | _walks(60, 7) | {"max_plies": 16}),
    "Cube 3x3x3, 120 7-tuples, TC-id": ("cube3", CUBE | _walks(120, 7) | {"max_plies": 13}),
}
TABLES = {"Tic-Tac-Toe": "tictactoe", "Kalah": "kalah", "Nine Men's Morris": "morris"}
METHODS = {"SARSA": "sarsa", "Q-learning": "q"}  # these store a Q per action
START = """
import time
began = time.time()
from afterstate import games
from afterstate.learners import td
session = td.Session(games.load("tictactoe"), {}, 1)
session.train(1)
print(time.time() - began)
"""
NEW_GAME = """
import time
import sample_games
from afterstate import games
from afterstate.learners import td
td.Session(games.load("tictactoe"), {}, 1).train(1)
began = time.time()
td.Session(sample_games.take_game(), {"tuples": [[0]]}, 1).train(1)
print(time.time() - began)
"""
MEMORY = "from benchmarks import run\nrun.memory()"


def trainings() -> list[str]:
    """Measure the trainings of each learner."""
    sessions = {name: session_of(*setting) for name, setting in SETTINGS.items()}
    for name, game in TABLES.items():
        sessions[f"{name}, a table taught by its twin"] = tabular.Session(games.load(game), {}, 1)
    for name, method in METHODS.items():
        changed = CONNECT4 | {"method": method}
        sessions[f"ConnectFour, 70 8-tuples, {name}"] = session_of("connect4", changed, sarsa)
    rows = [(name, f"{training_speed(session):,.0f}") for name, session in sessions.items()]
    return table("| training | moves per CPU second |", rows)


def memory() -> None:
    """Train ConnectFour and play against the perfect player if it is here; print the peaks."""
    session = session_of("connect4", CONNECT4)
    session.train(20_000)
    print(f"{measure.peak_memory():.0f}")
    try:
        arena.match(session.net.game, [session.net, Perfect("AB")], seed=1)
        print(f"{measure.peak_memory():.0f}")
    except ImportError:
        print("not measured: make engines")


def starts() -> list[str]:
    """Measure memory, and starts of new processes until a first training step."""
    what = ("ConnectFour training", "the same, after a match with the perfect player")
    peaks = _said_by(MEMORY).split("\n")
    lines = table("| peak memory | MiB |", zip(what, peaks))
    rows = []
    with tempfile.TemporaryDirectory() as cache:
        for name, code, times in (
            ("cold (nothing compiled), Tic-Tac-Toe only", START, 1),
            ("warm (kernels in the cache)", START, REPEATS),
            ("a game new in this process, kernels warm", NEW_GAME, REPEATS),
        ):
            seconds = min(float(_said_by(code, AFTERSTATE_CACHE=cache)) for _ in range(times))
            rows.append((name, f"{seconds:.1f}"))
    return lines + table("| new process, until the first training step | seconds |", rows)


def _said_by(code, **settings) -> str:
    env = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))} | settings
    return subprocess.check_output([sys.executable, "-c", code], text=True, env=env).strip()


PARTS = trainings, rivals.lines, starts


def main() -> None:
    """Measure everything, print it and write the report."""
    here = machine()
    lines = [
        "# Benchmarks",
        "",
        f"{here['cpu']} (kernels for {here['target']}), Python {platform.python_version()}, one"
        " process. Rivals are measured in the same run, or left out.",
    ]
    for number, part in enumerate(PARTS, 1):
        print(f"part {number} of {len(PARTS)}", flush=True)
        lines += part()
    write_text(reports_directory() / "paper" / "bench.md", "\n".join([*lines, ""]))


if __name__ == "__main__":
    main()
