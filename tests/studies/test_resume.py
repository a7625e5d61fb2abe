"""Interruption: a run that is killed or stopped ends bit for bit like an undisturbed one."""

import contextlib
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import pytest

from afterply.files import read_npz, write_npz
from afterply.kernel.source import PACKAGE
from afterply.studies import runs
from afterply.studies.records import read
from small_studies import TUPLES, declare, make, record_file, with_other_weights

RUN = {"runs": 2, "episodes": 100_000, "eval_every": 30_000}
CHILD = """
import os, sys
from pathlib import Path
from afterply import games
from afterply.learners import td
from afterply.studies import runs
from afterply.studies.study import Study
runs.CHECKPOINT_SECONDS = 0.0

class Mass:
    name, version = "mass", 1
    def __call__(self, game, net, seed):
        print("measuring", flush=True)
        Path(os.environ["AFTERPLY_DATA"], f"measured.{os.getpid()}").touch()
        return {"mass": float(abs(net.weights.astype("f8")).sum()), "seed": float(seed % 997)}

if __name__ == "__main__":
    study = Study("tiny", profile="paper", params=RUN, workers=int(sys.argv[1]))
    print("started", flush=True)
    study.arm("FARL", td, game=games.load("tictactoe"), curve=[Mass()], final=[Mass()])
    study.run()
    print("finished", flush=True)
""".replace("RUN", repr(RUN))

ENDLESS = CHILD.replace("100000", "100000000")
MATCHES = """
import os, time
from pathlib import Path
from afterply import arena, games

def slow(state):
    Path(os.environ["AFTERPLY_DATA"], f"measured.{os.getpid()}").touch()
    time.sleep(100)

if __name__ == "__main__":
    arena.matches(games.load("nim"), {"a": slow, "b": slow}, workers=2)
"""


@pytest.fixture
def place(place, monkeypatch):
    """An empty data directory with the child script beside it."""
    monkeypatch.setenv("PYTHONPATH", str(PACKAGE.parent))
    (place / "child.py").write_text(CHILD)
    return place


def child(place, num_workers=1):
    def heed_ctrl_c():  # a runner in the background of a shell hands down that SIGINT is ignored
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    command = [sys.executable, str(place / "child.py"), str(num_workers)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(command, start_new_session=True, preexec_fn=heed_ctrl_c, **pipes)


def wait_for(process, word):
    return any(word in line for line in process.stdout)


def child_whose_two_workers_are_at_work(place, script=ENDLESS):
    """Start what does not end by itself."""
    (place / "child.py").write_text(script)
    process, deadline = child(place, num_workers=2), time.monotonic() + 120
    while len(list((place / "data").glob("measured.*"))) < 2 and time.monotonic() < deadline:
        time.sleep(0.1)
    return process


def forget(place):
    for name in ("records", "cache"):
        shutil.rmtree(place / "data" / name)


def outcome(place):
    """Everything in the records but cost, and the place and time of making."""
    _, found = read(record_file(place))
    names = "kind key run checksum rows episode values statistics parameters".split()
    return {key: {k: r[k] for k in names if k in r} for key, r in found.items()}


@pytest.mark.slow
def test_kills_at_random_moments_change_nothing(place):
    seed = random.randrange(10**6)
    print(f"seed of the moments: {seed}")
    moments = random.Random(seed)
    kills = 0
    while kills < 3:
        process = child(place, num_workers=1 + kills % 2)
        begun = wait_for(process, "started")
        time.sleep(moments.uniform(0.0, 1.5))
        # it was done before its moment came: an undisturbed end counts as no kill
        if process.poll() is not None:
            assert process.returncode == 0, process.stderr.read()
            forget(place)
            continue
        assert begun, process.stderr.read()
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        kills += 1
    disturbed = child(place)
    _, errors = disturbed.communicate(timeout=120)
    assert disturbed.returncode == 0, errors
    after_kills = outcome(place)
    forget(place)
    child(place).communicate(timeout=120)
    assert outcome(place) == after_kills and len(after_kills) == 6


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")
@pytest.mark.parametrize("script", [ENDLESS, MATCHES], ids=["study", "matches"])
def test_workers_do_not_outlive_a_process_that_is_killed(place, script):
    process = child_whose_two_workers_are_at_work(place, script)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and (
        living := [p for p in Path("/proc").glob("[0-9]*/stat") if in_session(p, process.pid)]
    ):
        time.sleep(0.2)
    assert not living


def in_session(stat, session):
    """Whether a process of /proc belongs to a session and lives; joblib's caretaker goes last."""
    with contextlib.suppress(OSError, IndexError):
        fields = stat.read_text().rpartition(")")[2].split()
        caretaker = b"resource_tracker" in stat.with_name("cmdline").read_bytes()
        return int(fields[3]) == session and fields[0] != "Z" and not caretaker
    return False


@pytest.mark.slow
def test_ctrl_c_stops_soon_and_keeps_what_is_finished(place):
    process = child(place)
    for _ in range(4):  # points of the first run; the second run is next
        assert wait_for(process, "measuring")
    time.sleep(0.2)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=20)
    assert process.returncode != 0 and "KeyboardInterrupt" in errors
    kept = outcome(place)
    assert [r["run"] for r in kept.values() if r["kind"] == "train"] == [0]
    again = child(place)
    assert "finished" in again.communicate(timeout=60)[0]
    assert kept.items() <= outcome(place).items()


@pytest.mark.slow
def test_ctrl_c_while_workers_train_is_said_once(place):
    process = child_whose_two_workers_are_at_work(place)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode != 0 and errors.count("Traceback") == 1, errors
    # joblib's own caretaker may warn of a semaphore that was removed while its process ended
    said = [x for x in errors.splitlines() if not re.search("resource_tracker|warnings.warn", x)]
    assert said[-1] == "KeyboardInterrupt", errors


# ------------------------------------------------------------ in this process


def make_job():
    params = {"runs": 1, "episodes": 2000, "eval_every": 700, "tuples": TUPLES}
    return declare(params=params, final=()).arms["FARL"][0].job


def interrupt(job, after):
    """Train with a checkpoint at every chunk until some episodes are done."""
    done = []

    def report(episodes):
        done.append(episodes)
        if sum(done) >= after:
            raise KeyboardInterrupt

    job.checkpoint.unlink(missing_ok=True)
    with pytest.MonkeyPatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(runs, "CHECKPOINT_SECONDS", -1.0)
        patched.setattr(runs, "CHECKPOINT_RATIO", 0)
        runs.train(job, job.keys, report=report)


def outcome_of(job, report=None):
    """What a training to the end gives."""
    found = runs.train(job, job.keys, report=report)
    return [(r["checksum"], r.get("values"), r.get("statistics")) for r in found]


def test_resume_continues_instead_of_starting_again(place):
    job, steps = make_job(), []
    undisturbed = outcome_of(job)
    interrupt(job, 1200)
    assert outcome_of(job, steps.append) == undisturbed
    assert sum(steps) == 2000 and steps[0] > 100  # the first report is what the checkpoint held
    steps.clear()
    assert outcome_of(job, steps.append) == undisturbed
    assert steps == [2000], "a finished run is not trained again"


def test_a_record_that_says_something_else_stops_a_new_training(place):
    made = make(final=(), curve=())
    run = made.arms["FARL"][0]
    run.job.checkpoint.unlink()
    with_other_weights(record_file(place))
    with pytest.raises(RuntimeError, match="are not those of its record"):
        make(curve=())


def test_a_checkpoint_that_is_damaged_or_of_other_sources_is_not_continued(place):
    job = make_job()
    undisturbed = outcome_of(job)
    whole = job.checkpoint.read_bytes()
    for damaged in (b"", whole[: len(whole) // 2], b"no archive" * 100):
        job.checkpoint.write_bytes(damaged)
        with pytest.warns(UserWarning, match=f"{job.key}.npz is damaged.*starts from nothing"):
            assert outcome_of(job) == undisturbed
    meta, arrays = read_npz(job.checkpoint)
    arrays["weights"] = arrays["weights"][:-1]
    write_npz(job.checkpoint, meta, arrays)
    with pytest.warns(UserWarning, match="does not fit this run.*starts from nothing"):
        assert outcome_of(job) == undisturbed
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(runs, "sources_behind", lambda *_: "edited")
        interrupt(job, 1000)
    steps = []
    assert outcome_of(job, steps.append) == undisturbed and steps[0] == 0
    interrupt(job, 1000)
    meta, arrays = read_npz(job.checkpoint)
    for curve in meta["curves"].values():  # as an earlier version wrote it
        curve["points"] = {"episode": [500, 1000], "mass": [1.0, 2.0]}
    write_npz(job.checkpoint, meta, arrays)
    with pytest.warns(UserWarning, match="has no rows, it is of an earlier version"):
        assert outcome_of(job) == undisturbed


@pytest.mark.slow
def test_a_flipped_byte_never_changes_a_result(place):
    job = make_job()
    undisturbed = outcome_of(job)
    interrupt(job, 1000)
    data = job.checkpoint.read_bytes()
    seed = random.randrange(10**6)
    print(f"seed of the positions: {seed}")
    draw, noticed = random.Random(seed), 0
    for _ in range(12):
        where = draw.randrange(len(data))
        flipped = bytes([data[where] ^ (1 << draw.randrange(8))])
        job.checkpoint.write_bytes(data[:where] + flipped + data[where + 1 :])
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            assert outcome_of(job) == undisturbed, f"byte {where}"
        noticed += any("is damaged" in str(w.message) for w in caught)
    assert noticed > 0
