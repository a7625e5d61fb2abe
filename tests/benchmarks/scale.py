"""What trainings and searches cost as they grow, and how near they come to what memory allows.

Every number is of this run on this machine.
"""

import itertools
import multiprocessing
import os
import re
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.ticker import NullFormatter

from afterply import games
from afterply.kernel.compile import kernel
from afterply.kernel.random import new_rng, random_bits
from afterply.learners import tabular, td
from afterply.search import mcts
from afterply.search.puct import Search
from afterply.studies.reports import picture
from afterply.studies.reports.figures import STYLES, in_our_style
from afterply.studies.reports.picture import GREY
from oracles.reference_td import Reference, Splitmix64

REPEATS, SECONDS = 3, 0.5
CHUNK = 1_000  # episodes of a training between two looks at the clock
LINKING = 4.0  # seconds of a training until it runs linked
READS = 1 << 22
WALKS = dict(alpha=3.7, epsilon=0.1, tc="exp", episodes=10**9)
LENGTHS, NUMBERS = (3, 4, 5, 6, 7, 8), (5, 10, 20, 40, 80, 160)
BOARDS, PLAYERS, ITERATIONS = (4, 6, 8, 11), (2, 3, 4), (100, 1_000, 10_000, 100_000, 1_000_000)
BOARD_OF_MANY = {"rows": 6, "columns": 6, "k": 4}
SYMMETRIC = {"tictactoe": "Tic-Tac-Toe\n8", "connect4": "ConnectFour\n2", "othello": "Othello\n8"}
SYMMETRIC |= {"cube2": "Cube 2x2x2\n24"}
TABLES = {"Tic-Tac-Toe": "tictactoe", "Kalah": "kalah", "Nine Men's Morris": "morris"}
ALLOWED = "memory allows"
EPISODES = (1_000, 10_000, 100_000)
OF_MEMORY = {"Tic-Tac-Toe": "tictactoe", "Hex": "hex", "Connect\nFour": "connect4"}
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

    linked = time.monotonic() + LINKING
    while time.monotonic() < linked:
        step()
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


@dataclass
class Panel:
    """Measured curves over one axis: name of a curve -> its values at `x`."""

    title: str
    across: str
    up: str
    x: list
    curves: dict


def session_of(name: str, parameters: dict, learner=td, **options):
    """Return a training of a game, made with `options`, that does not come near its end."""
    given = learner.DEFAULTS | {"episodes": 10**9} | parameters
    return learner.Session(games.load(name, **options), given, seed=1)


def seconds_of_reads(session) -> float:
    """Return how long the reads of a move take if they do not wait for each other."""
    return 1e-9 * read_time(session.net.arrays.weights.nbytes) * look_ups(session)


def _table_size(session) -> int:
    """Return the bytes of weights and counters."""
    return session.net.arrays.weights.nbytes + session.net.arrays.counters.nbytes


def _trainings(title: str, across: str, by_size: dict) -> Panel:
    """Measure trainings by their size, and what memory allows: as many independent reads."""
    here, allowed = [], []
    for session in by_size.values():
        here.append(training_speed(session))
        allowed.append(1.0 / seconds_of_reads(session))
    curves = {"here": here, ALLOWED: allowed}
    return Panel(title, across, "moves per CPU second", list(by_size), curves)


def _sizes_of_trainings() -> list[Panel]:
    lengths = {}
    for length in LENGTHS:
        session = session_of("connect4", _walk(40, length))
        lengths[round(_table_size(session) / 2**20, 2)] = session
    numbers = {number: session_of("connect4", _walk(number, 6)) for number in NUMBERS}
    boards = {size: session_of("hex", _walk(40, 6), size=size) for size in BOARDS}
    players = {}
    for number in PLAYERS:
        players[number] = session_of("tictactoe", _walk(40, 6), **BOARD_OF_MANY, players=number)
    return [
        _trainings("ConnectFour, 40 tuples of 3 to 8 cells", "MiB of tables", lengths),
        _trainings("ConnectFour, tuples of 6 cells", "tuples", numbers),
        _trainings("Hex, 40 tuples of 6 cells", "cells on a side", boards),
        _trainings("Tic-Tac-Toe, 6 x 6, 40 tuples", "players", players),
    ]


def _symmetries() -> Panel:
    """Measure trainings with and without symmetric boards: the games have 8, 2, 8 and 24."""
    speeds = {"symmetric boards": [], "one board": []}
    for game in SYMMETRIC:
        for name, switch in zip(speeds, (True, False)):
            session = session_of(game, _walk(20, 5) | {"symmetries": switch, "max_plies": 100})
            speeds[name].append(training_speed(session))
    title = "20 tuples of 5 cells"
    return Panel(title, "", "moves per CPU second", [*SYMMETRIC.values()], speeds)


def _searches() -> Panel:
    """Measure searches of ConnectFour by iterations: UCT, and PUCT with a network."""
    game = games.load("connect4")
    net = session_of("connect4", _walk(40, 6)).net
    rates = {"UCT": [], "PUCT, 40 tuples of 6": []}
    for iterations in ITERATIONS:
        search, seeds = mcts.TreeSearch(game, iterations, rollout_depth=None), itertools.count()
        work = step_of(iterations, lambda: search.run(game.start(), iterations, next(seeds)))
        rates["UCT"].append(fastest(work))
        wrapped = Search(game, net, iterations)

        def grow():
            wrapped.plant(game.start(), next(seeds))
            wrapped.run(iterations)

        rates["PUCT, 40 tuples of 6"].append(fastest(step_of(iterations, grow)))
    title = "ConnectFour, from the start"
    return Panel(title, "iterations", "iterations per CPU second", list(ITERATIONS), rates)


def _speed(parameters: dict) -> float:
    """Return the moves per CPU second of ConnectFour."""
    return training_speed(session_of("connect4", parameters))


def _side_by_side() -> Panel:
    """Measure trainings side by side, with tables in huge pages, if there are any, and small."""
    cores = os.cpu_count() or 1
    processes = sorted({*itertools.takewhile(lambda n: n < cores, (1, 2, 4, 8, 16, 32)), cores})
    speeds = {}
    for tables, length in (("4 MiB", 6), ("60 MiB", 8)):
        for pages, advice in (("huge", "1"), ("small", "0")):
            os.environ["NUMPY_MADVISE_HUGEPAGE"] = advice  # for new processes
            each = speeds[f"{tables}, {pages} pages"] = []
            for number in processes:
                with multiprocessing.get_context("spawn").Pool(number) as pool:
                    each.append(float(np.mean(pool.map(_speed, [_walk(40, length)] * number))))
    del os.environ["NUMPY_MADVISE_HUGEPAGE"]
    title = "ConnectFour, trainings side by side"
    return Panel(title, "processes", "moves per CPU second, each", processes, speeds)


def _peak(game: str) -> int:
    """Return the peak memory of this process, in MiB, after some training with usual settings."""
    session = td.Session(games.load(game), seed=1)
    session.train(20)
    return round(int(re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())[1]) / 1024)


def _peaks() -> Panel:
    with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        memory = pool.map(_peak, OF_MEMORY.values(), chunksize=1)
    title = "Trainings with usual settings"
    return Panel(title, "", "MiB of the process, at the peak", [*OF_MEMORY], {"peak": memory})


def _trees() -> Panel:
    """Measure the memory of trees by iterations of one search."""
    game = games.load("connect4")
    net = session_of("connect4", _walk(40, 6)).net
    sizes = {"UCT": [], "PUCT": []}
    for iterations in ITERATIONS:
        uct = mcts.TreeSearch(game, iterations, rollout_depth=None)
        uct.run(game.start(), iterations, 1)
        sizes["UCT"].append(sum(array.nbytes for array in uct.tree) / 2**20)
        puct = Search(game, net, iterations)
        puct.plant(game.start(), 1)
        puct.run(iterations)
        sizes["PUCT"].append(puct.nbytes / 2**20)
    return Panel("ConnectFour, trees", "iterations", "MiB", list(ITERATIONS), sizes)


def _q_tables() -> Panel:
    """Measure the memory of the Q-tables of two learners by their episodes."""
    sizes = {}
    for name, game in TABLES.items():
        session = tabular.Session(games.load(game), {}, 1)
        sizes[name] = []
        for episodes in EPISODES:
            session.train(episodes - session.episode)
            arrays = session.state_dict().values()
            sizes[name].append(sum(array.nbytes for array in arrays) / 2**20)
    return Panel("Q-tables", "episodes", "MiB", list(EPISODES), sizes)


def measure() -> list[Panel]:
    """Return everything, measured: speed first, then memory."""
    speeds = [*_sizes_of_trainings(), _symmetries(), _searches(), _side_by_side()]
    return [*speeds, _peaks(), _trees(), _q_tables()]


def _tick(value) -> str:
    return f"{value:.2g}" if value < 10 else f"{value:,.0f}"


@in_our_style
def draw(panels: list[Panel]):
    """Draw panels, two beside two."""
    rows = -(-len(panels) // 2)
    figure = picture.Picture(figsize=(10.0, 3.6 * rows), layout="constrained")
    for axes, panel in zip(figure.subplots(rows, 2).flat, panels):
        for number, (name, values) in enumerate(panel.curves.items()):
            if panel.across:
                style = STYLES[number] | ({"color": GREY} if name == ALLOWED else {})
                axes.plot(panel.x, values, label=name, **style)
            else:
                width = 0.8 / len(panel.curves)
                places = np.arange(len(panel.x)) + (number + 0.5) * width - 0.4
                axes.bar(places, values, width, color=STYLES[number]["color"], label=name)
        if panel.across:
            axes.set_xscale("log")
            axes.set_xticks(panel.x, [_tick(value) for value in panel.x])
            axes.minorticks_off()
        else:
            axes.set_xticks(range(len(panel.x)), panel.x)
        if panel.up == "MiB" or ALLOWED in panel.curves:
            axes.set_yscale("log")
            axes.yaxis.set_minor_formatter(NullFormatter())
        else:
            axes.set_ylim(0, None)
        axes.yaxis.set_major_formatter("{x:,g}" if panel.up == "MiB" else "{x:,.0f}")
        axes.set(title=panel.title, xlabel=panel.across, ylabel=panel.up)
        if len(panel.curves) > 1:
            axes.legend(framealpha=0.6)
    return figure
