"""Processes that are killed (kill -9) at random moments and begun again, until one ends by itself.

What is then in their folder must be what an undisturbed process leaves. A kind is a script, which
goes on with what it finds, and what counts as its result.
"""

import functools
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from afterply.files import read_npz
from afterply.kernel.source import PACKAGE
from afterply.studies.records import read
from small_studies import make_place, write_notebook

MOST_AT_ONCE = 4  # kills of one process and its successors, before they may end
LONGEST = 600  # seconds of an undisturbed process

TRAIN = """
import sys
from pathlib import Path
from afterply.commands import train
from afterply.commands.cli import main
train.CHECKPOINT_SECONDS = train.CHECKPOINT_RATIO = 0.0
train.CHUNK_SECONDS = 0.02
words = ["train", "tictactoe", "--episodes=8000", "--seed=5", "--out=a.npz"]
words += ["--resume"] if Path("a.npz.part").exists() else []
words += ["--force"] if Path("a.npz").exists() else []
sys.exit(main(words))
"""

MATCHES = """
from pathlib import Path
from afterply import arena, games, players
game = games.load("connect4")
who = {"a": players.MCTS(200), "b": players.MCTS(400), "c": players.Random()}
table = arena.matches(game, who, episodes=2, seed=4, path="matches.jsonl")
Path("table.csv").write_text(table.to_csv())
"""

PLAYER = """
from afterply import games
game = games.load("nim", heaps=1, stones=3)
def player(state):
    legal = game.legal(state)
    return legal[(int(state.sum()) * NUMBER + len(legal)) % len(legal)]
"""

LEAGUE = """
import sys
from afterply.commands.cli import main
words = ["league", "players", "--game=nim:heaps=1:stones=3", "--episodes=1", "--seed=3"]
sys.exit(main([*words, "--seconds=60"]))
"""

STUDY = """
from afterply import games
from afterply.learners import td
from afterply.studies import runs
from afterply.studies.study import Study
from small_studies import TUPLES, Weights
runs.CHECKPOINT_SECONDS = runs.CHECKPOINT_RATIO = 0.0

def study(**where):
    params = {"runs": 3, "episodes": 12_000, "eval_every": 4_000, "tuples": TUPLES}
    made = Study("tiny", profile="paper", params=params, **where)
    for arm, farl in (("FARL", "on"), ("none", "off")):
        shared = {"curve": [Weights()], "final": [Weights()]}
        made.arm(arm, td, game=games.load("tictactoe"), farl=farl, **shared)
    return made
"""

ALONE = """
if __name__ == "__main__":
    study(workers=1).run()
"""

CLUSTER = """
import os
import subprocess
import sys
import threading
from pathlib import Path

PORT = 20_000 + os.getpid() % 20_000
ADDRESS = f"tcp://127.0.0.1:{PORT}"
PROGRAM = [sys.executable, "-m"]
WORKER = ["distributed.cli.dask_worker", ADDRESS, "--nthreads=1", "--no-nanny", "--no-dashboard"]
COMMANDS = [
    [*PROGRAM, "distributed.cli.dask_scheduler", f"--port={PORT}", "--no-dashboard"],
    *[[*PROGRAM, *WORKER, "--local-directory=dask"]] * 2,
]
over = threading.Event()

def keep_alive():
    "Start a scheduler and two workers, and again what is killed, as a cluster's manager does."
    running = [None] * len(COMMANDS)
    while not over.wait(0.1):
        for place, command in enumerate(COMMANDS):
            if running[place] is None or running[place].poll() is not None:
                quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
                running[place] = subprocess.Popen(command, **quiet)
                pids = " ".join(str(one.pid) for one in running if one)
                Path("others.new").write_text(pids)
                os.replace("others.new", "others")
    for process in running:
        process.kill()

if __name__ == "__main__":
    manager = threading.Thread(target=keep_alive)
    manager.start()
    try:
        while True:
            try:
                study(dask=ADDRESS).run()
                break
            except ConnectionError as error:
                print(error, file=sys.stderr)
    finally:
        over.set()
        manager.join()
"""

QUICK = """
import sys
from afterply.commands import reproduce
sys.exit(reproduce.main(["quick"]))
"""

NOTEBOOK = """
from afterply import games
from afterply.learners import td
from afterply.studies.study import Study

def mass(game, net, seed):
    rate = float(abs(net.weights).mean() % 100)
    return [{"measure": "win_rate", "opponent": "Max-N-10", "value": rate}]
mass.version = 1

params = dict(runs=runs, episodes=episodes, eval_every=2000)
study = Study("tiny", profile=profile, paper="konen2021", params=params, workers=1)
for arm, farl in {"FARL": "on", "no-FARL": "off"}.items():
    study.arm(arm, td, game=games.load("tictactoe"), curve=[mass], final=[mass], farl=farl,
              tuples=[[0, 1, 2], [4]])
"""


@dataclass(frozen=True)
class Kind:
    """A kind of process: its script, what it begins with, and its result."""

    name: str
    script: str
    prepare: Callable
    result: Callable


def nothing(folder):
    """Begin with an empty folder."""


def write_players(folder):
    """Write two players of a league."""
    (folder / "players").mkdir()
    for number in (1, 2):
        text = PLAYER.replace("NUMBER", str(number))
        (folder / "players" / f"p{number}.py").write_text(text)


@functools.cache
def study_place() -> Path:
    """Return a folder with what a study needs, to be copied."""
    folder = Path(tempfile.mkdtemp(prefix="nightly_study_"))
    with pytest.MonkeyPatch.context() as monkeypatch:
        make_place(folder, monkeypatch)
    return folder


def copy_place(folder):
    """Begin with an empty data directory."""
    shutil.copytree(study_place(), folder, dirs_exist_ok=True)


@functools.cache
def notebook_place() -> Path:
    """Return a folder with one notebook, which declares a small study; its cells have names."""
    folder = Path(tempfile.mkdtemp(prefix="nightly_notebook_"))
    cells = NOTEBOOK, "study.compare()[['verdict']]", "_ = study.finish()"
    parameters = 'profile = "quick"\nruns = 2\nepisodes = 6000'
    write_notebook(folder / "notebooks" / "10_tictactoe.ipynb", parameters, *cells, arms=1)
    profile = folder / "data" / "profiles" / "paper" / "10_tictactoe.yaml"
    profile.parent.mkdir(parents=True)
    profile.write_text("profile: paper\nruns: 3\nepisodes: 9000\n")
    return folder


def copy_project(folder):
    """Begin with a project of one notebook."""
    copy_place(folder)
    shutil.copytree(notebook_place(), folder, dirs_exist_ok=True)


def weights(folder):
    """Return what an agent's file says, but for what it has cost, and all its numbers."""
    meta, arrays = read_npz(folder / "a.npz")
    kept = {key: value for key, value in meta.items() if key != "training"}
    bits = {name: (str(a.dtype), a.shape, a.tobytes()) for name, a in arrays.items()}
    return json.dumps(kept, sort_keys=True), bits


def table(folder):
    """Return the table of all matches."""
    return (folder / "table.csv").read_text()


def page(folder):
    """Return the page of a league."""
    return (folder / "players" / "league.html").read_text()


def records(folder, place="data"):
    """Return everything in the records but cost, and the place and time of making."""
    (path,) = (folder / place / "records").rglob("tiny.jsonl")
    _, found = read(path)
    names = "kind key run checksum rows episode values statistics parameters".split()
    return {key: {name: one[name] for name in names if name in one} for key, one in found.items()}


def made_by_quick(folder):
    """Return records and all pages, figures and notebooks, but for those that tell times."""
    made = folder / "reports" / "quick"
    pages = {}
    for file in sorted(made.rglob("*")):
        if file.is_file() and "records" not in file.parts and file.stem not in ("log", "made"):
            pages[str(file.relative_to(made))] = file.read_bytes()
    return records(folder, "reports/quick"), pages


KINDS = [
    Kind("train", TRAIN, nothing, weights),
    Kind("matches", MATCHES, nothing, table),
    Kind("league", LEAGUE, write_players, page),
    Kind("study", STUDY + ALONE, copy_place, records),
    Kind("study, two workers", STUDY + ALONE.replace("1", "2"), copy_place, records),
    Kind("study, Dask", STUDY + CLUSTER, copy_place, records),
    Kind("quick", QUICK, copy_project, made_by_quick),
]


@contextmanager
def new_folder(kind):
    """Make a folder for one trial; it is removed."""
    folder = Path(tempfile.mkdtemp(prefix="nightly_"))
    try:
        kind.prepare(folder)
        (folder / "script.py").write_text(kind.script)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def begun(folder):
    """Start the script in a session of its own."""
    paths = [str(PACKAGE.parent), str(Path(__file__).resolve().parent.parent)]
    places = {
        name: str(folder / name[9:].lower()) for name in ("AFTERPLY_DATA", "AFTERPLY_REPORTS")
    }
    data = places if (folder / "data").exists() else {}
    return subprocess.Popen(
        [sys.executable, "script.py"],
        cwd=folder,
        env=os.environ | data | {"PYTHONPATH": os.pathsep.join(paths)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=(folder / "errors").open("w"),
        start_new_session=True,
    )


def end_of(process, folder, seconds) -> str | None:
    """Wait for the end; return None after status 0, "" if time is over, else what it said."""
    try:
        status = process.wait(seconds)
    except subprocess.TimeoutExpired:
        return ""
    return None if status == 0 else f"status {status}: {(folder / 'errors').read_text()[-500:]}"


def kill_all_of(process):
    """Kill a process and all of its session at once."""
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def kill_one_of(process, folder, moments) -> bool:
    """Kill all of a session, or one of the others that its script has named; return if all."""
    others = []
    if (folder / "others").exists():  # such as a scheduler and its workers
        others = (folder / "others").read_text().split()
    victim = moments.choice(["all", *others]) if others else "all"
    if victim == "all":
        kill_all_of(process)
    else:
        with suppress(ProcessLookupError):  # it has just ended by itself
            os.kill(int(victim), signal.SIGKILL)
    return victim == "all"


@functools.cache
def undisturbed(kind) -> tuple:
    """Return the result of a process that nobody disturbs, and its seconds when all is compiled."""
    for _ in range(2):
        with new_folder(kind) as folder:
            start = time.monotonic()
            process = begun(folder)
            try:
                said = end_of(process, folder, LONGEST)
            except BaseException:
                kill_all_of(process)
                raise
            if said is not None:
                raise RuntimeError(f"{kind.name}, undisturbed: {said or 'takes too long'}")
            found = kind.result(folder), time.monotonic() - start
    return found


def one_trial(kind, seed, number, most) -> tuple:
    """Kill at most `most` times, then compare; return the number of kills, and what was wrong."""
    expected, seconds = undisturbed(kind)
    moments = random.Random(f"{seed} {kind.name} {number}")
    planned = min(most, moments.randint(1, MOST_AT_ONCE))
    kills = 0
    with new_folder(kind) as folder:
        process = begun(folder)
        try:
            while True:
                is_to_end = kills == planned
                wait = LONGEST if is_to_end else moments.uniform(0.1, 1.0) * seconds
                said = end_of(process, folder, wait)
                if said is None:  # it may have ended before its moment came
                    break
                if said:
                    return kills, [f"{kind.name}, trial {number}: after {kills} kills, {said}"]
                if is_to_end:
                    kill_all_of(process)
                    return kills, [f"{kind.name}, trial {number}: does not end after a kill"]
                kills += 1
                if kill_one_of(process, folder, moments):
                    process = begun(folder)
        except BaseException:
            kill_all_of(process)
            raise
        found = kind.result(folder)
    wrong = [] if found == expected else [f"{kind.name}, trial {number}: another result"]
    return kills, wrong
