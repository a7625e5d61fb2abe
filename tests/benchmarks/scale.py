"""What a training costs as it grows, and how near it comes to what memory allows.

Every number is of this run on this machine.
"""

import itertools
import multiprocessing
import os
import re
import time
from pathlib import Path

import numpy as np

from afterply import games
from afterply.kernel.compile import kernel
from afterply.kernel.random import new_rng, random_bits
from afterply.learners import td
from afterply.studies.reports import picture
from afterply.studies.reports.figures import in_our_style
from oracles.reference_td import Reference, Splitmix64

REPEATS, SECONDS = 3, 1.0
CHUNK = 1_000  # episodes of a training between two looks at the clock
LINKING = 3.0  # seconds until a training runs linked
READS = 1 << 22
WALKS = dict(alpha=3.7, epsilon=0.1, tc="exp", episodes=10**9)
LENGTHS, NUMBERS = (3, 4, 5, 6, 7, 8), (5, 10, 20, 40, 80, 160)
OF_MEMORY = {"Tic-Tac-Toe": "tictactoe", "Hex": "hex", "ConnectFour": "connect4"}
OF_MEMORY |= {"Othello": "othello", "2048": "game2048"}


def fastest(step) -> float:
    """Return the units per CPU second of a function that returns how many units it has done."""

    def per_second():
        done, began = 0, time.process_time()
        while (spent := time.process_time() - began) < SECONDS:
            done += step()
        return done / spent

    return max(per_second() for _ in range(REPEATS + 1))  # the first is a warm-up


def step_of(units: int, work):
    """Return a step for `fastest`: some work of known size."""

    def step():
        work()
        return units

    return step


def training_speed(session) -> float:
    """Return the moves per CPU second of a training."""

    def step():
        before = session.moves
        session.train(CHUNK)
        return session.moves - before

    step()
    time.sleep(LINKING)
    return fastest(step)


@kernel
def _read(table, number, rng):
    # numbers that do not depend on each other: as many reads as the processor can are under way
    total, mask = 0.0, np.uint64(table.shape[0] - 1)
    for _ in range(number):
        total += table[random_bits(rng) & mask]
    return total


@kernel
def _chase(table, number):
    at = np.uint32(0)
    for _ in range(number):
        at = table[at]
    return at


def read_time(size: int) -> float:
    """Return the nanoseconds of a random read in a table of at least so many bytes."""
    table, rng = np.ones(1 << max(10, (size // 4 - 1).bit_length()), np.float32), new_rng(1)
    return 1e9 / fastest(step_of(READS, lambda: _read(table, READS, rng)))


def chase_time(size: int) -> float:
    """Return the nanoseconds of a read whose address is what the read before has found."""
    order = np.random.default_rng(1).permutation(size // 4).astype(np.uint32)
    table = np.empty_like(order)
    table[order] = np.roll(order, -1)
    return 1e9 / fastest(step_of(READS, lambda: _chase(table, READS)))


def look_ups(session) -> float:
    """Return the weights that a move looks at: those of all afterstates that it may make."""
    game, rng, draw, numbers = session.game, new_rng(1), np.random.default_rng(1), []
    for seed in range(20):
        s = game.start(seed)
        while not game.over(s) and len(numbers) < 100 * (seed + 1):
            legal = game.legal(s)
            numbers.append(len(legal))
            s = game.next(s, int(draw.choice(legal)), rng)
    return float(np.mean(numbers)) * len(session.net.arrays.offset)


def plain_speed(game: str, parameters: dict) -> float:
    """Return the moves per CPU second of Algorithm 2 in plain Python and numpy."""
    session = td.Session(games.load(game), td.DEFAULTS | {"episodes": 10**6} | parameters, 1)
    slow = Reference(session.game, session.net.tuples, session.params, Splitmix64(1))

    def step():
        before = slow.moves
        slow.train(1)
        return slow.moves - before

    return fastest(step)


def _walk(number: int, length: int) -> dict:
    return WALKS | {"tuples": {"random_walk": number, "length": length}}


def _speed(parameters: dict) -> tuple[float, float]:
    """Return moves per CPU second of ConnectFour, and the MiB of weights and counters."""
    session = td.Session(games.load("connect4"), td.DEFAULTS | parameters, 1)
    arrays = session.net.arrays
    size = (arrays.weights.nbytes + arrays.counters.nbytes) / 2**20
    return training_speed(session), size


def _memory(game: str) -> int:
    """Return the peak memory of this process, in MiB, after some training with usual settings."""
    session = td.Session(games.load(game), seed=1)
    session.train(20)
    return round(int(re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())[1]) / 1024)


def _side_by_side(processes: int) -> float:
    """Return the moves per CPU second of each of some processes that train side by side."""
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        return float(np.mean([speed for speed, _ in pool.map(_speed, [_walk(40, 6)] * processes)]))


def measure() -> dict:
    """Return the points of each panel: title -> (label of x, label of y, x values, y values)."""
    speed = "moves per CPU second"
    lengths = np.transpose([_speed(_walk(40, length)) for length in LENGTHS])
    numbers = [_speed(_walk(number, 6)) for number in NUMBERS]
    cores = os.cpu_count() or 1
    processes = sorted({*itertools.takewhile(lambda n: n < cores, (1, 2, 4, 8, 16, 32)), cores})
    with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        memory = pool.map(_memory, OF_MEMORY.values(), chunksize=1)
    size, amount = "MiB of weights and counters", "MiB at the peak"
    trained = [_side_by_side(n) for n in processes]
    return {
        "40 tuples of 3 to 8 cells": (size, speed, *lengths[::-1]),
        "5 to 160 tuples of 6 cells": ("tuples", speed, NUMBERS, [v for v, _ in numbers]),
        "40 tuples of 6 cells": ("processes side by side", f"{speed}, each", processes, trained),
        "memory of a training with usual settings": ("", amount, list(OF_MEMORY), memory),
    }


@in_our_style
def draw(panels: dict):
    """Draw the panels that :func:`measure` returns, two beside two."""
    figure = picture.Picture(figsize=(10.0, 7.4), layout="constrained")
    for axes, (title, (across, up, x, y)) in zip(figure.subplots(2, 2).flat, panels.items()):
        if across:
            axes.plot(x, y, marker="o", color="#0077bb")
            axes.set_xscale("log", base=2)
            axes.set_xticks(x, [f"{value:.2g}" if value < 10 else f"{value:.0f}" for value in x])
            axes.minorticks_off()
        else:
            axes.bar(x, y, color="#0077bb")
        axes.set(title=title, xlabel=across, ylabel=up, ylim=(0, None))
        axes.yaxis.set_major_formatter("{x:,.0f}")
    return figure
