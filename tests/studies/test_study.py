"""A study: bad input, full disks, derived results, missing and golden runs; workers and Dask."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from unittest import mock

import pandas as pd
import pytest

from afterply import games, learners
from afterply.checks import to_install
from afterply.files import data_directory, read_json
from afterply.kernel.source import PACKAGE
from afterply.learners import td
from afterply.studies import cluster, golden, runs
from afterply.studies.results import select
from afterply.studies.study import Study
from oldest import said_by_the_oldest
from small_studies import SMALL, Weights, declare, make, record_lines, sorted_table

STORED = read_json(data_directory() / "golden.json")
RUNS = [
    pytest.param(name, run, id=f"{name}-{run['game']['name']}-{k}")
    for name, entry in STORED.items()
    for k, run in enumerate(entry["runs"])
]
REPEAT = """
from afterply import learners
from afterply.studies import golden
from studies.test_study import STORED
for name, entry in STORED.items():
    *_, end = golden.repeat(learners.learners()[name], entry["runs"][0])
    print(end.checksum)
"""


@pytest.mark.parametrize(
    "given, message",
    [
        ({"runs": 0}, "runs must be a whole number of at least 1, not 0"),
        ({"runs": 2.0}, "runs must be a whole number of at least 1, not 2.0"),
        ({"episodes": "many"}, "episodes must be .*not 'many'"),
        ({"curve": ["no evaluator"]}, "is no evaluator"),
    ],
)
def test_bad_arms_name_the_value_and_the_remedy(place, given, message):
    with pytest.raises(ValueError, match=message):
        Study("tiny", "paper", SMALL).arm("FARL", td, game=games.load("tictactoe"), **given)


def test_bad_studies_and_bad_questions(place):
    with pytest.raises(ValueError, match="must be plain names"):
        Study("a/b")
    with pytest.raises(ValueError, match="workers must be a whole number of at least 1, not 0"):
        Study("tiny", workers=0)
    made = declare()
    with pytest.raises(LookupError, match="no run 7 of 'FARL'"):
        made.net("FARL", 7)
    with pytest.raises(ValueError, match="no paper None; there are"):
        made.compare()
    counts = {"runs": 2, "episodes": 5, "eval_every": 5}  # globals() give only these
    assert Study("x", params=counts | {"__name__": "__main__", "alpha": 1}).params == counts


def test_a_cache_that_cannot_be_written_is_named(place, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("numpy.savez_compressed", full)
        with pytest.raises(OSError, match="npz cannot be written .No space left.*make room"):
            make()
    assert not list(place.rglob("*.tmp"))
    (place / "other").mkdir()
    (place / "other" / "cache").write_text("a file where the directory should be")
    monkeypatch.setenv("AFTERPLY_DATA", str(place / "other"))
    with pytest.raises(OSError, match="cache directory .*cannot be written.*AFTERPLY_DATA"):
        Study("tiny")


def test_a_page_of_records_trains_nothing(place, monkeypatch):
    monkeypatch.setenv("AFTERPLY_BATCH", "10_some")
    made = make()
    assert made.table().empty and not record_lines(place)
    assert "Not recorded: 3 of 3 runs of FARL." in made.unfinished()
    assert made.show(None, pd.DataFrame(), "How to read it.") is None
    assert set(made.finish().provenance) == {"missing"}
    assert not (place / "reports").exists() and not (place / "data" / "records").exists()


def test_derived_results(place):
    made = make()
    own = made.table().query("arm == 'FARL' and measure == 'mass'")
    made.derive("FARL", lambda rows: {"first": select(rows, measure="mass").value.iloc[0]})
    made.derive(
        "FARL", lambda rows: [{"measure": "twice", "of": "first", "value": 2 * first(rows)}]
    )
    table = made.table()
    firsts = own[own.episode == 150].value.to_numpy()
    assert select(table, measure="first", episode=400).value.tolist() == firsts.tolist()
    assert select(table, measure="twice").empty, "its column is filled"
    assert select(table, measure="twice", of="first").value.tolist() == (2 * firsts).tolist()
    made.derive("FARL", lambda rows: {}, curve=False)
    ends = made.table().query("arm == 'FARL'")
    assert set(ends.episode) == {400}
    assert len(ends) == (table.query("arm == 'FARL'").episode == 400).sum()


def first(rows):
    return select(rows, measure="first").value.iloc[0]


def test_the_points_of_a_curve_have_the_same_rows(place):
    def growing(game, net, seed):
        calls.append(seed)
        return {f"measure {k}": 1.0 for k in range(len(calls))}

    calls = []
    with pytest.raises(ValueError, match="must return the same rows at every point"):
        make(curve=(growing,), final=())


def test_a_final_value_stands_in_the_place_of_the_last_of_a_curve(place):
    made = make(curve=(Weights(1.0),), final=(Weights(2.0),))
    mass = select(made.table(), measure="mass", run=0).set_index("episode").value
    assert mass.index.tolist() == [150, 300, 400]
    alone = select(make(curve=(Weights(1.0),), final=()).table(), measure="mass", run=0).value
    assert mass[400] == 2 * alone.iloc[-1] and mass[300] == alone.iloc[1]


def test_a_failing_evaluator_is_named_and_keeps_what_is_finished(place):
    def broken(game, net, seed):
        return {"win_rate": float("nan")}

    with pytest.raises(ValueError, match="'broken' must return"):
        make(final=(broken,), curve=())
    assert len(record_lines(place)) == 3  # the trainings


def test_a_training_that_diverges_is_a_result_and_stops_no_other(place, capfd):
    for _ in range(2):  # made, then read
        made = declare()
        made.arm("wild", td, game=games.load("tictactoe"), alpha=50.0, sigmoid=False)
        assert set(made.table().arm) == {"FARL"}
        assert made.unfinished() == "Diverged: wild run 0, wild run 1, wild run 2."
        assert made.finish().query("arm == 'wild'").kind.tolist() == ["train"] * 3
    assert capfd.readouterr().err.count("lower alpha=50.0, or use sigmoid=True") == 3


def test_of_many_runs_only_the_first_leave_a_network(place, monkeypatch):
    monkeypatch.setattr(runs, "NETWORKS_KEPT", 1)
    monkeypatch.setattr(runs, "TOGETHER", 2)
    made = make()
    assert [run.job.checkpoint.exists() for run in made.arms["FARL"]] == [True, False, False]
    assert not any(run.due for run in made.arms["FARL"]) and len(record_lines(place)) == 9


def test_what_is_missing_costs_what_the_arm_or_else_the_study_has_cost(place):
    known = list(make(arms=("FARL", "no-FARL")).records.by_key.values())
    many = declare(arms=("FARL", "new"), params=SMALL | {"runs": 4})
    own = [r["cost"]["cpu_seconds"] for r in known if r["arm"] == "FARL"]
    every = [r["cost"]["cpu_seconds"] for r in known]
    for arm, expected in (("FARL", sum(own) / 3), ("new", sum(every) / 6)):
        run = many.arms[arm][3]
        assert len(run.due) == 3 and many.missing_cost(run) == pytest.approx(expected)


# Golden runs: the same bits on every kind of processor


@pytest.mark.parametrize("name, run", RUNS)
def test_golden_run_comes_out_as_stated(name, run):
    learner = learners.learners()[name]
    assert STORED[name]["version"] == learner.VERSION, f"{name} has another version: make golden"
    assert golden.difference(learner, run) == "", (
        f"the numbers of {name} changed: raise its VERSION and run make golden, or undo the edit"
    )


def other_values(parameter):
    """Return values that a default might become."""
    default, kind = parameter.default, parameter.kind
    if kind == "switch":
        return [not default]
    if kind == "choice":
        return parameter.choices[1:]
    if kind == "list":
        return [[1], [2, 3], [50]]
    near = (default + 1, default // 20) if kind == "whole" else (0.75, 0.5, 0.3)
    return [value for value in near if value != default and parameter.problem(value) is None]


# parameters without a type, and what they might become; a file alone has no effect
OTHERS = {"tuples": [[[0, 1], [2]]], "schedule": [[[5, 1e-2, 0.5]]], "opponents": ["strong"]}
NO_EFFECT = {"learners"}


@pytest.mark.slow
@pytest.mark.parametrize("name", STORED)
def test_a_golden_run_notices_a_change_of_any_default(name, monkeypatch):
    learner = learners.learners()[name]

    def notices(parameter, run):
        try:
            return parameter not in run["parameters"] and golden.difference(learner, run) != ""
        except ValueError:  # the new value does not go with the run's
            return True

    unnoticed = []
    for parameter, declared in learner.PARAMETERS.items():
        values = OTHERS[parameter] if parameter in OTHERS else other_values(declared)
        found = False
        for value in values:
            changed = declared._replace(default=value)
            monkeypatch.setitem(learner.PARAMETERS, parameter, changed)
            found = found or any(notices(parameter, run) for run in STORED[name]["runs"])
        monkeypatch.setitem(learner.PARAMETERS, parameter, declared)
        unnoticed += [] if found else [parameter]
    assert set(unnoticed) <= NO_EFFECT


def test_a_failing_golden_run_says_where_it_leaves_what_was_stated(monkeypatch):
    run = STORED["td"]["runs"][0]
    later = [
        *run["checkpoints"][:2],
        *([n, m, size, "0"] for n, m, size, _ in run["checkpoints"][2:]),
    ]
    said = golden.difference(learners.td, run | {"checkpoints": later})
    assert "tictactoe with alpha=[1.0, 0.5]" in said and "after 180 episodes" in said
    assert "moves, mean size of what is learned" in said


@pytest.mark.slow
def test_golden_runs_have_the_same_bits_without_vector_instructions():
    """The first run of each learner: everything is compiled for it."""
    stated = [entry["runs"][0]["checkpoints"][-1][-1] for entry in STORED.values()]
    assert said_by_the_oldest(REPEAT, timeout=900).split() == stated


# Worker processes and a cluster give what one process gives


@pytest.mark.slow
def test_one_and_two_workers_and_any_order_of_arms_give_the_same(place):
    one = make("quick", ("FARL", "no-FARL"), workers=1)
    one.records.path.unlink()
    two = make("quick", ("no-FARL", "FARL"), workers=2)
    pd.testing.assert_frame_equal(sorted_table(one), sorted_table(two))
    sums = [
        {(run.job.arm, run.job.run): run.records[run.job.key]["checksum"] for run in runs}
        for study in (one, two)
        for runs in [[run for arm in study.arms.values() for run in arm]]
    ]
    assert sums[0] == sums[1] and len(set(sums[0].values())) == 6


@pytest.mark.slow
def test_a_cluster_gives_the_same_whatever_its_workers_are(place, monkeypatch, capfd):
    """One worker is sound, one has other sources, one is stopped as by SIGSTOP."""
    distributed = pytest.importorskip("distributed")
    expected = make("quick")
    expected.records.path.unlink()
    other = place / "other" / "afterply"
    shutil.copytree(PACKAGE, other, ignore=shutil.ignore_patterns("__pycache__"))
    with open(other / "learners" / "td.py", "a") as file:
        file.write("# edited\n")
    file = place / "scheduler.json"
    shared = ["--no-dashboard", "--scheduler-file", str(file)]
    alone = ["--nthreads", "1", "--no-nanny", "--local-directory", str(place / "dask")]
    started = []

    def start(name, package, *options):
        paths = os.pathsep.join(map(str, (package.parent, Path(__file__).parents[1])))
        command = [sys.executable, "-m", f"distributed.cli.dask_{name}", *options, *shared]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        env = os.environ | {"PYTHONPATH": paths}
        started.append(subprocess.Popen(command, env=env, **quiet))
        return started[-1]

    try:
        start("scheduler", PACKAGE, "--port", "0")
        stopped = start("worker", PACKAGE, *alone)
        for package in (other, PACKAGE):
            start("worker", package, *alone)
        deadline = time.monotonic() + 40
        while not file.exists() and time.monotonic() < deadline:
            time.sleep(0.1)
        address = read_json(file)["address"]
        with distributed.Client(address, set_as_default=False) as client:
            client.wait_for_workers(3, timeout=40)
        stopped.send_signal(signal.SIGSTOP)
        monkeypatch.setattr(cluster, "SILENT_SECONDS", 8.0)
        made = make("quick", dask=address)
    finally:
        for process in reversed(started):
            process.kill()
            process.wait(20)
    pd.testing.assert_frame_equal(sorted_table(expected), sorted_table(made))
    said = capfd.readouterr().err
    assert "is left out: this worker has other sources" in said
    assert "has been silent for 8 s: others do what it does" in said
    keys = [json.loads(line).get("key") for line in made.records.path.read_text().splitlines()]
    assert len(keys) == len(set(keys))


class SilentCluster:
    """Two workers that say something when `last_seen` changes; "a" has the first task."""

    def __init__(self):
        self.last_seen = {"a": 0, "b": 0}
        self.given = []  # the workers that each task was given to

    def scheduler_info(self, n_workers):
        return {"workers": {name: {"last_seen": seen} for name, seen in self.last_seen.items()}}

    def submit(self, *call, workers, **options):
        self.given.append(workers)
        return mock.Mock(key=len(self.given))

    def processing(self):
        return {"a": range(1, 2), "b": range(2, 99)}


def test_what_silent_workers_hold_waits_for_a_sound_one(monkeypatch):
    client = SilentCluster()
    monkeypatch.setattr(cluster, "SILENT_SECONDS", -1.0)
    tasks = cluster._Tasks(client, None, [()])
    for _ in range(2):  # nobody has said anything since the look before
        tasks.look_for_silent_workers()
    assert tasks.left_out == {"a", "b"} and client.given == [None]
    client.last_seen["b"] = 1
    for _ in range(2):  # given once
        monkeypatch.setattr(cluster, "SILENT_SECONDS", 60.0)
        tasks.look_for_silent_workers()
        assert client.given == [None, ["b"]]


@pytest.mark.slow
def test_dask_that_is_not_there(place, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr(cluster, "TIMEOUT", "1s")
    with pytest.raises(ConnectionError, match="no Dask scheduler answers at 'tcp://127.0.0.1:9'"):
        make("quick", dask="tcp://127.0.0.1:9")
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ImportError, match=f"'distributed': {re.escape(to_install('cluster'))}"):
        make("quick", dask="tcp://127.0.0.1:9")


def test_other_sources_on_a_worker_are_an_error(place):
    job = declare().arms["FARL"][0].job
    with pytest.raises(RuntimeError, match="other sources of afterply .*same version on all"):
        runs._in_worker(os.getpid(), "other", 0, runs.train, job)
