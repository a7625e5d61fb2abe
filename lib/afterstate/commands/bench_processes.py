"""``make bench``: trainings side by side, and the peak memory of training and evaluation.

Two processes that train at the same time share caches and memory, and on many machines the CPUs are
two threads of one core. How much of the loss is due to the latter shows a control that uses no
memory at all: arithmetic in registers.
"""

import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from itertools import chain, repeat
from pathlib import Path

import numpy as np

from ..evaluators.connect4 import PerfectPlay
from ..games.catalogue import load
from ..kernel.compile import kernel
from ..learners import td
from ..players import connect4_oracle
from ..studies import jobs, runs
from ..studies.identity import learner_parameters

SECONDS = 1.0
REPEATS = 7
CONNECT4 = dict(alpha=3.7, epsilon=[0.1, 0.0], tc="exp", tuples="connect4-70x8")
CHILD = (
    "import sys\nfrom afterstate.commands import bench_processes\nbench_processes.{}(*sys.argv[1:])"
)


@kernel
def _arithmetic(steps):
    x = np.uint64(1)
    for _ in range(steps):
        x ^= x << np.uint64(13)
        x ^= x >> np.uint64(7)
        x ^= x << np.uint64(17)
    return x


def per_second(step, seconds: float = SECONDS) -> float:
    """Return the units per CPU second of a function that returns how many it has done."""
    done, began = 0, time.process_time()
    while (spent := time.process_time() - began) < seconds:
        done += step()
    return done / spent


def moves_per_second(session, seconds: float = SECONDS) -> float:
    """Return the moves per CPU second of a training, over as many episodes as run in `seconds`."""
    # chunks that grow
    chunks = chain((16 << k for k in range(8)), repeat(4096))

    def step():
        before = session.moves
        session.train(next(chunks))
        return session.moves - before

    return per_second(step, seconds)


def _arithmetic_step() -> int:
    _arithmetic(1_000_000)
    return 1_000_000


def work(what: str) -> None:
    """Print the steps per CPU second of "training" or "arithmetic" for every line of input.

    Runs in a process of its own.
    """
    if what == "training":
        session = td.Session(load("connect4"), {"episodes": 5_000_000, **CONNECT4}, seed=1)
        session.train(4000)
    print("ready", flush=True)
    for _ in sys.stdin:
        print(
            moves_per_second(session) if what == "training" else per_second(_arithmetic_step),
            flush=True,
        )


def side_by_side(what: str) -> tuple[float, float]:
    """Return the median steps per CPU second of one process alone, and of each of two at once.

    Measured in turns.
    """
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", CHILD.format("work"), what],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    try:
        _round(processes, go=False)
        # the first is the warm-up
        rounds = [(_round(processes[k % 2 :][:1]), _round(processes)) for k in range(REPEATS + 1)][
            1:
        ]
        return statistics.median(rate for alone, _ in rounds for rate in alone), statistics.median(
            rate for _, both in rounds for rate in both
        )
    finally:
        for process in processes:
            process.stdin.close()
            process.wait()
            process.stdout.close()


def _round(processes, go=True):
    """Let processes work at the same time; return what each of them prints."""
    for process in processes if go else ():
        process.stdin.write("go\n")
        process.stdin.flush()
    said = [process.stdout.readline() for process in processes]
    return [float(line) for line in said] if go else said


class Peak:
    """Evaluate like another evaluator.

    The result is the peak memory of the process that does it, in MiB.
    """

    name, version = "peak memory", 1

    def __init__(self, evaluator):
        self.evaluator, self.heavy = evaluator, getattr(evaluator, "heavy", False)

    def __call__(self, game, net, seed):
        """Return the peak of this process after an evaluation."""
        self.evaluator(game, net, seed)
        return {"mebibytes": peak()}


def peak() -> float:
    """Return the peak memory of this process in MiB."""
    status = Path("/proc/self/status")
    if status.exists():  # getrusage of a child begins with the peak of the process that started it
        return int(re.search(r"VmHWM:\s+(\d+) kB", status.read_text()).group(1)) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (
        2**20 if sys.platform == "darwin" else 1024
    )


def memory(cache: str) -> None:
    """Train ConnectFour a little, with curve and checkpoint, and read that back; print the peaks.

    Those of training and evaluation, in a process of its own.
    """
    curve = (Peak(PerfectPlay(roles="first")),) if connect4_oracle.available() else ()
    job = jobs.Job(
        "bench",
        "memory",
        0,
        load("connect4"),
        td,
        learner_parameters(td, CONNECT4, 20_000),
        20_000,
        10_000,
        curve,
        (),
        Path(cache),
    )
    for _ in range(2):  # the second time everything is in the checkpoint
        records = runs.train(job, curve)
    print(peak(), *[max(record["points"]["mebibytes"]) for record in records[1:]])


def memory_peaks() -> list[float]:
    """Return the peak memory in MiB of a training process and of the evaluation process.

    The latter where the engine is installed.
    """
    with tempfile.TemporaryDirectory() as cache:
        done = subprocess.run(
            [sys.executable, "-c", CHILD.format("memory"), cache],
            capture_output=True,
            text=True,
            check=True,
        )
    return [float(word) for word in done.stdout.split()]


def lines() -> list[str]:
    """Return the rows for the report."""
    text = ["", "| two processes side by side | alone | each of two | loss |", "|---|--:|--:|--:|"]
    for what, unit, size in (
        ("training", "ConnectFour training, 1,000 moves per CPU second", 1e3),
        ("arithmetic", "control: arithmetic in registers, million steps per CPU second", 1e6),
    ):
        alone, both = side_by_side(what)
        text.append(
            f"| {unit} | {alone / size:,.0f} | {both / size:,.0f} |"
            f" {100 * (1 - both / alone):.0f}% |"
        )
    peaks = memory_peaks() + [None]
    text += [
        "",
        "| peak memory, ConnectFour study | MiB |",
        "|---|--:|",
        f"| training process | {peaks[0]:.0f} |",
        (
            "| evaluation process with the perfect player |"
            f" {f'{peaks[1]:.0f}' if peaks[1] else 'not measured: make engines'} |"
        ),
    ]
    return text
