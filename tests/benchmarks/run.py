"""``make bench``: speed per CPU second beside OpenSpiel's and this machine's limits, and cost.

Writes ``reports/paper/bench.md`` with ``bench.svg`` in ten minutes. Speeds are of one process, in
units per CPU second; the fastest repeat counts, because other load on the machine can only slow a
repeat down. Programs that cannot be run here are quoted as ratios only, in ``elsewhere.md``.
"""

import itertools
import platform
import random
import tempfile
from pathlib import Path

import numpy as np

from afterply import games
from afterply.files import reports_directory, write_text
from afterply.games.calls import call_finish, call_start
from afterply.kernel.compile import kernel
from afterply.kernel.random import new_rng
from afterply.learners import sarsa, tabular, td
from afterply.search import mcts
from afterply.search.puct import Search
from afterply.studies.records import machine
from oldest import said_by

from . import scale
from .scale import REPEATS, TABLES, fastest, session_of, step_of, training_speed

UCT_ITERATIONS, PUCT_ITERATIONS = 10_000, 1_000
LONGEST = 10_000  # plies of a random game

# as in [konen2021], for a training late enough to be typical
CONNECT4 = dict(alpha=3.7, epsilon=[0.1, 0.0], tc="exp", tuples="connect4-70x8")
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
METHODS = {"SARSA": "sarsa", "Q-learning": "q"}  # these store a Q per action
GAMES = {  # name: (our game, its parameters, OpenSpiel's game, its parameters)
    "ConnectFour": ("connect4", {}, "connect_four", {}),
    "Othello": ("othello", {}, "othello", {}),
    "Hex 6x6": ("hex", {"size": 6}, "hex", {"board_size": 6}),
    "Tic-Tac-Toe": ("tictactoe", {}, "tic_tac_toe", {}),
}
NETWORKS = {  # name: (what the row says, n-tuples of the wrapped network)
    "ConnectFour": ("ConnectFour, 70 8-tuples", "connect4-70x8"),
    "Othello": ("Othello, 100 7-tuples", _walks(100, 7)["tuples"]),
}
START = """
import time
began = time.time()
from afterply import games
from afterply.learners import td
td.Session(games.load("tictactoe"), td.DEFAULTS, 1).train(1)
print(time.time() - began)
"""
NEW_GAME = f"""{START}
import sample_games
began = time.time()
td.Session(sample_games.take_game(), tuples=[[0]], seed=1).train(1)
print(time.time() - began)
"""


def table(head: str, rows) -> list[str]:
    """Return a table in Markdown: its head, with cells between bars, and its rows."""
    lines = ["", head, "|---" + "|--:" * (head.count("|") - 2) + "|"]
    for row in rows:
        lines.append("| " + " | ".join(map(str, row)) + " |")
        print(lines[-1], flush=True)
    return lines


def trainings() -> list[str]:
    """Measure the trainings of each learner, and how near they come to what memory allows."""
    rows, plain = [], []
    for name, (game, parameters) in SETTINGS.items():
        session = session_of(game, parameters)
        speed, reads = training_speed(session), scale.look_ups(session)
        seconds = scale.seconds_of_reads(session)
        rows.append((name, f"{speed:,.0f}", f"{reads:,.0f}", f"{100 * speed * seconds:.0f}%"))
        slow = scale.plain_speed(game, parameters)
        plain.append((name, f"{speed:,.0f}", f"{slow:,.0f}", f"{speed / slow:,.0f}"))
    sessions = {
        f"{name}, a table taught by its twin": tabular.Session(games.load(game), {}, 1)
        for name, game in TABLES.items()
    }
    for name, method in METHODS.items():
        changed = CONNECT4 | {"method": method}
        sessions[f"ConnectFour, 70 8-tuples, {name}"] = session_of("connect4", changed, sarsa)
    others = [(name, f"{training_speed(session):,.0f}") for name, session in sessions.items()]
    limit = (
        "The share is the time that as many random reads of a table of this size take, which do not"
        " wait for each other, of the time of a move. The weights that a move looks at are those of"
        " all afterstates between which it chooses; a few of them are read once for several, and"
        " many are still in a cache, so that a share above 100% is possible."
    )
    return [
        *table("| training | moves per CPU second | weights a move | share of the limit |", rows),
        *("", limit),
        *table("| other trainings | moves per CPU second |", others),
        *table("| the same algorithm | here | plain Python and numpy | ratio |", plain),
    ]


def our_uct(game):
    memory = mcts.TreeSearch(game, UCT_ITERATIONS, rollout_depth=None)
    seeds = itertools.count()
    return step_of(UCT_ITERATIONS, lambda: memory.run(game.start(), UCT_ITERATIONS, next(seeds)))


@kernel
def _random_games(rules, s, moves, number, rng):
    for _ in range(number):
        call_start(rules, s, rng)
        call_finish(rules, s, moves, LONGEST, rng)


def our_random_games(game):
    given = game.rules, game.start(), np.zeros(game.rules.max_legal, np.int32), 1000, new_rng(1)
    return step_of(1000, lambda: _random_games(*given))


def our_puct(game, tuples):
    """PUCT searches from the start, each in a new tree, around a network of random weights."""
    net = td.Session(game, td.DEFAULTS, 1, tuples=tuples, distinct_symmetries=False).net
    net.weights[:] = np.random.default_rng(1).normal(0.0, 0.05, net.weights.shape)
    search, seeds = Search(game, net, PUCT_ITERATIONS), itertools.count()

    def work():
        search.plant(game.start(), next(seeds))
        search.run(PUCT_ITERATIONS)

    return step_of(PUCT_ITERATIONS, work)


def their_uct(name: str, parameters: dict):
    import pyspiel

    game = pyspiel.load_game(name, parameters)

    def work():
        rollouts = pyspiel.RandomRolloutEvaluator(1, 1)
        bot = pyspiel.MCTSBot(game, rollouts, 2**0.5, UCT_ITERATIONS, 1000, False, 1, False)
        bot.mcts_search(game.new_initial_state())

    return step_of(UCT_ITERATIONS, work)


def their_random_games(name: str, parameters: dict):
    import pyspiel

    game, choose = pyspiel.load_game(name, parameters), random.Random(1).choice

    def work():
        state = game.new_initial_state()
        while not state.is_terminal():
            state.apply_action(choose(state.legal_actions()))

    return step_of(1, work)


def beside(ours, theirs, *arguments, digits: int = 1) -> tuple[str, str, str]:
    """Measure our step and a rival's; return both and the ratio, also where there is no rival."""
    speed = fastest(ours)
    try:
        rival = fastest(theirs(*arguments))
    except ImportError:
        return f"{speed:,.0f}", "not installed", ""
    return f"{speed:,.0f}", f"{rival:,.0f}", f"{speed / rival:.{digits}f}"


def rivals() -> list[str]:
    """Measure searches and random games beside OpenSpiel's."""
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
        "",
        *Path(__file__).with_name("elsewhere.md").read_text().splitlines(),
    ]


def starts() -> list[str]:
    """Measure starts of new processes until a first training step."""
    rows = []
    with tempfile.TemporaryDirectory() as cache:
        for name, code, times in (
            ("nothing compiled", START, 1),
            ("kernels in the cache", START, REPEATS),
            ("of a game new in the process", NEW_GAME, REPEATS),
        ):
            seconds = min(
                float(said_by(code, AFTERPLY_CACHE=cache).split()[-1]) for _ in range(times)
            )
            rows.append((f"first training step, {name}, seconds", f"{seconds:.1f}"))
    return table("| new processes | |", rows)


def memory_of_machine() -> list[str]:
    """Measure how long a random read takes, and name caches and huge pages."""
    sizes = [2**k for k in (18, 20, 22, 24, 25, 26, 27)]
    rows = [
        (f"{size / 2**20:g}", f"{scale.read_time(size):.1f}", f"{scale.chase_time(size):.1f}")
        for size in sizes
    ]
    head = "| table, MiB | ns a random read | ns, if each waits for the one before |"
    return [f"Caches: {_caches()}. Huge pages: {_huge_pages()}.", *table(head, rows)]


def _caches() -> str:
    found = []
    for place in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        level, kind, size = ((place / x).read_text().strip() for x in ("level", "type", "size"))
        found += [f"L{level} {size}"] if kind != "Instruction" else []
    return ", ".join(found) or "unknown"


def _huge_pages() -> str:
    file = Path("/sys/kernel/mm/transparent_hugepage/enabled")
    return file.read_text().partition("[")[2].partition("]")[0] if file.exists() else "unknown"


def growth(folder) -> list[str]:
    """Measure what trainings and searches cost as they grow; write the picture."""
    panels = scale.measure()
    write_text(folder / "bench.svg", scale.draw(panels).svg())
    lines = ["", "## How cost grows", "", "![Speed and memory by size](bench.svg)"]
    for panel in panels:
        rows = []
        for name, values in panel.curves.items():
            digits = ",.0f" if min(values) >= 100 else ",.3g"
            rows.append([name, *(f"{value:{digits}}" for value in values)])
        sizes = " | ".join(
            f"{x:,}" if isinstance(x, int) else str(x).replace("\n", " ") for x in panel.x
        )
        of = f": {panel.across}" if panel.across else ""
        lines += table(f"| {panel.title}, {panel.up}{of} | {sizes} |", rows)
    return lines


def main() -> None:
    """Measure everything, print it and write the report."""
    here, folder = machine(), reports_directory() / "paper"
    said = (
        f"{here['cpu']} (kernels for {here['target']}), Python {platform.python_version()}, one"
        " process. Rivals are measured in the same run, or left out."
    )
    parts = [*memory_of_machine(), *trainings(), *rivals(), *starts(), *growth(folder)]
    tried = Path(__file__).with_name("tried.md").read_text()
    write_text(folder / "bench.md", "\n".join(["# Benchmarks", "", said, *parts, "", tried]))


if __name__ == "__main__":
    main()
