"""How speeds and memory are measured.

Speeds are units per CPU second (``time.process_time``) of one process, after a warm-up; the fastest
repeat counts, because other load on the machine can only slow a repeat down.
"""

import re
import time
from itertools import chain, repeat
from pathlib import Path

from afterstate import games
from afterstate.learners import td

REPEATS, SECONDS = 3, 1.0
# as in [konen2021], for a training late enough to be typical
CONNECT4 = dict(alpha=3.7, epsilon=[0.1, 0.0], tc="exp", tuples="connect4-70x8")


def per_second(step) -> float:
    """Return the units per CPU second of a function that returns how many it has done."""
    done, began = 0, time.process_time()
    while (spent := time.process_time() - began) < SECONDS:
        done += step()
    return done / spent


def fastest(step) -> float:
    """Return the units per CPU second of the fastest repeat, after a warm-up."""
    step()
    return max(per_second(step) for _ in range(REPEATS))


def session_of(game: str, parameters: dict, learner=td):
    """Return a training that does not come near its last episode."""
    return learner.Session(games.load(game), {"episodes": 10**9, **parameters}, seed=1)


def moves_of(session):
    """Return a function that trains a chunk of episodes and returns how many moves they had."""
    chunks = chain((16 << k for k in range(8)), repeat(4096))  # they grow

    def step():
        before = session.moves
        session.train(next(chunks))
        return session.moves - before

    return step


def training_speed(session) -> float:
    """Return the moves per CPU second of a training, after some seconds of it."""
    session.train(1)
    return max(per_second(moves_of(session)) for _ in range(REPEATS + 1))  # the first warms up


def peak_memory() -> float:
    """Return the peak memory of this process in MiB."""
    # getrusage of a child begins with the peak of the process that started it
    status = Path("/proc/self/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+) kB", status).group(1)) / 1024


def table(head: str, rows) -> list[str]:
    """Return a table in Markdown: its head, with cells between bars, and its rows."""
    lines = ["", head, "|---" + "|--:" * (head.count("|") - 2) + "|"]
    for row in rows:
        lines.append("| " + " | ".join(map(str, row)) + " |")
        print(lines[-1], flush=True)
    return lines
