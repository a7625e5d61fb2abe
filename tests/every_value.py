"""Every kind of value in every place of a public call: what becomes of some 15,000 bad calls.

    python tests/every_value.py [STEP]     every STEP-th call (default: each), and the count

A call ends as one of `ENDS`. An error is *clear* if a `raise` of this package made it (or an
operating system that names the file) and its text names the value or its type; whatever comes from
within, such as an IndexError of numpy, is *unclear*. What takes longer than `LONGEST` seconds is
*late*, what no signal ends is a *hang*.
"""

import json
import linecache
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import traceback
from collections import Counter
from pathlib import Path

from afterply.kernel.source import PACKAGE
from test_bad_calls import NAMES, TABLE, filled, words

ENDS = ("accepted", "clear", "unclear", "late", "hang", "crash")
LONGEST = 5  # seconds of one call, longer than anything compiles here
COMPILING = 600  # until the first call
HANGING = 90  # seconds without a word, after which a process is ended

VALUES = """
None; True; 0; -1; 1.5; nan; inf; 10**30; -(10**30); 2**31; 2**64 - 1; 1j; np.int8(-1)
np.float32('nan'); np.datetime64('2020'); ''; '3'; 'x' * 5000; '\\ud800'; 'a\\0b'; b'x'; 'no'
[]; [1]; [[1, 2]]; ['a']; [None]; [10**30]; circle; {}; {'a': 1}; {1: 'a'}; {'rng': 3}; knot; set()
(1, 2); range(3); np.zeros(0); np.zeros(3); np.array('a'); np.array([1, None]); pd.DataFrame()
Path('nowhere'); Path('.'); object(); object; print; math; iter([]); ...; one; net; game; state
""".replace("\n", ";").split(";")
VALUES = [value.strip() for value in VALUES if value.strip()]

NOT_OURS = ("**{", "games.assign")  # where Python or pandas answers, and not this package
MORE = """
game.action_name(state, _)
game.action_name(_, 0)
game.view(state, values=_)
game.view(state, last=_)
game.view(_)
game.parse(_)
nim.parse(_)
game.chance(state, _)
game.next(state, 4, _)
game.random_start(_)
g2048.random_start(_)
g2048.next(g2048.start(), 0, _)
game.after(_)
game.over(_)
game.score(_)
game.key(_)
game.board(_)
game.player(_)
game.outcomes(_)
game.places(state, _)
game.render(_)
game.to_array(_)
load('hex', size=3).from_array([[0] * 3] * 3, player=_)
games_.from_file(_)
games_.load(_)
session.load_state_dict(_)
sarsa_.load_state_dict(_)
learner.load_state_dict(_)
learner.load_state_dict(learner.state_dict() | {'weights': _})
session.load_state_dict(session.state_dict() | {'q': _})
learner.train(_)
td.Session.load(_)
tabular.Session.load(_)
players.load(_)
players.load('agent.npz', _)
players.zoo(_)
ntuple.load(_, game)
table.load(_, game)
learner.save(_)
net.save(_)
q.save(_)
saved.save(_)
saved.export_card(_)
saved.export_card('card.md', licence=_)
learner.save('noted.npz', _)
learner.save('noted.npz', resumable=_)
net.save('net.npz', _)
ntuple.Network(game, [[0]], sigmoid=_)
ntuple.Network(game, [[0]], distinct_symmetries=_)
ntuple.Network(game, [[0]], symmetries=_)
ntuple.Network(game, [[0]], shared_tables=_)
ntuple.Network(game, [[0]], per_action=_)
ntuple.Network(game, [[0]], tc_init=_)
ntuple.Network(game, [[0]], weight_init=_)
ntuple.make_tuples(game, _, rng)
QTable(game, _)
QTable(game, initial=_)
QTable(game, ties=_)
q.put(state, _, 0.5)
q.put(state, 0, _)
q.snapshot(_)
q.load_arrays(_)
q.load_arrays(q.arrays() | {'q': _})
arena.matches(nim, both, strict=_)
arena.matches(nim, both, forfeit=_)
arena.matches(nim, both, path=_)
arena.match(game, [one, one], max_plies=_)
arena.seatings(game, _)
arena.seatings(game, ['a', 'b'], _)
arena.summary(_)
arena.starts_after(game, _)
arena.tournament(nim, _)
arena.tournament(nim, both, starts=_)
agent(_)
agent(state, seed=_)
agent(state, _)
saved(state, seed=_)
saved(_)
saved.values(_)
one.playing(game, _)
max_n.values(game, state, _)
max_n.values(_, state, 3)
max_n.solve(nim, _)
max_n.solve(_)
mcts.search(_, state, 5)
mcts.search(game, _, 5)
mcts.search(game, state, 5, k=_)
mcts.search(game, state, 5, tree_depth=_)
opponents.named(game, _)
opponents.named(_, 'random')
player_file.PlayerFile(_)
player_file.PlayerFile('player.py', _)
player_file.PlayerFile('player.py', megabytes=_)
league(_, game)
league('players', _)
league('players', game, _)
league('players', game, seed=_)
league('players', game, seconds=_)
league('players', game, megabytes=_)
screen.page(_)
screen.replay(game, _, [0])
screen.replay(game, [state, state], _)
own_paper.judge(_)
own_paper.judge('claims.yaml', _)
own_paper.judge('claims.yaml', 'runs.csv', out=_)
own_paper.judge('claims.yaml', pd.DataFrame({'arm': [_], 'run': [0], 'measure': 'a', 'value': 1}))
own_paper.judge('claims.yaml', pd.DataFrame({'arm': 'a', 'run': [_], 'measure': 'a', 'value': 1}))
own_paper.judge('claims.yaml', pd.DataFrame({'arm': 'a', 'run': 0, 'measure': [_], 'value': 1}))
own_paper.judge('claims.yaml', pd.DataFrame({'arm': 'a', 'run': 0, 'measure': 'a', 'value': [_]}))
Study(_)
Study('mine', _)
Study('mine', workers=_)
sweep(game, td, _, episodes=5)
sweep(game, td, 1, episodes=_)
sweep(game, _, 1, episodes=5)
kernel.new_rng(_)
""".strip().splitlines()

SETUP = """
import numpy as np
import os
from pathlib import Path

from afterply import games as games_, kernel, screen
from afterply.learners import sarsa
from afterply.league import league
from afterply.networks import table
from afterply.opponents import player_file
from afterply.search import max_n
from afterply.studies import Study, sweep
from afterply.studies.reports import own_paper

circle = [1]
circle.append(circle)
knot = {}
knot["a"] = knot
rng = kernel.new_rng(1)
learner, sarsa_ = td.Session(game, seed=1), sarsa.Session(game, seed=1)
learner.train(5)
learner.save("agent.npz", resumable=True)
saved = players.load("agent.npz")
os.makedirs("players", exist_ok=True)
for place in ("player.py", "players/only.py"):
    Path(place).write_text("def player(state): return 0")
Path("claims.yaml").write_text('''
claims:
- {id: one, place: {table: 1, row: a, column: b}, value: 1, unit: score, arm: a, metric: won}
''')
Path("runs.csv").write_text("arm,run,measure,value\\na,0,won,1\\n")
"""


class Late(BaseException):
    """A call took too long."""


def all_calls() -> list:
    """Return every call with every value: (call, value)."""
    calls = [call for call, _ in TABLE if not any(mark in call for mark in NOT_OURS)] + MORE
    return [(call, value) for call in dict.fromkeys(calls) for value in VALUES]


def end_of(call, value, known) -> tuple:
    """Return how a call ends, and the text of its error."""
    meant = eval(value, known)
    signal.alarm(LONGEST)
    try:
        eval(filled(call, "_meant"), known | {"_meant": meant})
    except Late:
        return "late", ""
    except Exception as error:
        signal.alarm(0)
        text = f"{type(error).__name__}: {error}"
        return "clear" if _is_clear(error, text, value, meant) else "unclear", text
    finally:
        signal.alarm(0)
    return "accepted", ""


def _is_clear(error, text, value, meant) -> bool:
    names_file = isinstance(error, OSError) and error.filename is not None
    return names_file or (_is_ours(error) and _is_named(text, value, meant))


def _is_ours(error) -> bool:
    """Return whether a `raise` of this package made the error."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    line = linecache.getline(last.filename, last.lineno).strip()
    return Path(last.filename).is_relative_to(PACKAGE) and line.startswith("raise")


def _is_named(text, value, meant) -> bool:
    try:
        names = [*words(value, meant), type(meant).__name__]
    except (RecursionError, ValueError, TypeError):
        names = [value, type(meant).__name__]
    return any(str(name).lower() in text.lower() for name in names)


def _raise_late(number, frame):
    raise Late


def try_from(first, step):
    """Print, from one call on, before each its number and after it how it ended."""
    said, sys.stdout = sys.stdout, open(os.devnull, "w")
    signal.signal(signal.SIGALRM, _raise_late)
    folder = tempfile.mkdtemp()
    os.environ["AFTERPLY_REPORTS"] = folder
    os.chdir(folder)
    known = {}
    exec(NAMES, known)
    exec(SETUP, known)
    calls = all_calls()
    for number in range(first, len(calls), step):
        print(json.dumps([number]), file=said, flush=True)
        end = end_of(*calls[number], known)
        print(json.dumps([number, *end]), file=said, flush=True)


def tried(step=1, first=0):
    """Yield (call, value, end, text) of every `step`-th call from one on, each tried once."""
    calls = all_calls()
    number = first
    while number < len(calls):
        code = f"import every_value; every_value.try_from({number}, {step})"
        paths = os.pathsep.join([str(PACKAGE.parent), str(Path(__file__).parent)])
        process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-c", code],
            env=os.environ | {"PYTHONPATH": paths},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        lines = queue.Queue()
        reader = threading.Thread(target=_read, args=(process, lines), daemon=True)
        reader.start()
        errors = []
        threading.Thread(target=lambda: errors.append(process.stderr.read()), daemon=True).start()
        begun = False
        while True:
            try:
                line = lines.get(timeout=HANGING if begun else COMPILING)
            except queue.Empty:
                process.kill()
                assert begun, f"nothing begins: {errors}"
                yield (*calls[number], "hang", "")
                break
            if line is None:  # the process has ended
                if number >= len(calls):
                    break
                assert begun, f"nothing begins: {errors}"
                yield (*calls[number], "crash", f"status {process.wait()}")
                break
            begun = True
            number, *end = json.loads(line)
            if end:
                yield (*calls[number], *end)
                number += step
        if number < len(calls) and begun and (line is None or not end):
            number += step


def _read(process, lines):
    for line in process.stdout:
        lines.put(line)
    lines.put(None)


def main():
    """Try them all, and print the count and what was not clear."""
    ends = Counter()
    for call, value, end, text in tried(int(sys.argv[1]) if len(sys.argv) > 1 else 1):
        ends[end] += 1
        if end not in ("accepted", "clear"):
            print(f"{end}: {filled(call, value)}: {text[:150]!r}", flush=True)
    bad = ends.total() - ends["accepted"]
    print(f"{ends.total():,} calls: {dict(ends)}; unclear {100 * ends['unclear'] / bad:.1f}%")


if __name__ == "__main__":
    main()
