"""The study machinery: keys, records, the long table, workers, Dask, refused records, bad input."""

import ast
import json
import os
import shutil
import subprocess
import sys
import time
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from afterstate import games
from afterstate.commands import reproduce
from afterstate.files import data_directory
from afterstate.kernel.compile import PACKAGE, CacheError
from afterstate.learners import tabular, td, td_parameters
from afterstate.studies import golden, jobs, parallel, plan, run_states, runs, study
from afterstate.studies.identity import NUMERIC_SOURCES, canonical, key_of, learner_parameters
from afterstate.studies.progress import Progress, clock
from afterstate.studies.study import Study

TUPLES = [[0, 1, 2], [4]]
SMALL = {"runs": 3, "episodes": 400, "eval_every": 150, "tuples": TUPLES}


class Weights:
    """A cheap evaluator: facts of the weights, so a wrong bit shows."""

    name, version = "weights", 1

    def __init__(self, factor=1.0):
        self.settings = {"factor": factor}

    def __call__(self, game, net, seed):
        return {
            "mass": self.settings["factor"] * float(np.abs(net.weights.astype(np.float64)).sum()),
            "seed": float(seed % 997),
        }


@pytest.fixture
def place(tmp_path, monkeypatch):
    """An empty data and report directory, with the golden runs of the present td."""
    shutil.copytree(data_directory() / "papers", tmp_path / "data" / "papers")
    monkeypatch.setenv("AFTERSTATE_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("AFTERSTATE_REPORTS", str(tmp_path / "reports"))
    for name in ("RECORDS", "DASK", "WORKERS", "AFTERSTATE_SELECTION"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "data" / "golden.json").write_text(
        json.dumps({"td": {"version": td.VERSION, "runs": [golden_run()]}})
    )
    return tmp_path


def golden_run(cache={}):
    run = {
        "game": {"name": "tictactoe", "params": {}},
        "parameters": {"tuples": TUPLES},
        "episodes": 50,
        "seed": 1,
    }
    if not cache:
        cache["checksum"] = golden.repeat(td, run)
    return run | cache


def make(
    profile="paper",
    arms=("FARL",),
    workers=1,
    curve=(Weights(),),
    final=(Weights(),),
    name="tiny",
    params=SMALL,
    **options,
):
    made = Study(name, profile=profile, params=params, workers=parallel, **options)
    for arm in arms:
        made.run(
            arm,
            td,
            game=games.load("tictactoe"),
            curve=curve,
            final=final,
            farl="on" if arm == "FARL" else "off",
        )
    return made


def files(place):
    return sorted(p.name for p in (place / "data" / "records").rglob("*.json"))


def provenances(made):
    return set(made.runs()["provenance"])


# --------------------------------------------------------------------------------------------- keys


def test_key_is_stable():
    """These literals may change only together with every committed record."""
    assert key_of({"b": [1, 2.5, None, True], "a": {"x": "é", "y": 1e-4}}) == "84d5b2ea0b35479a"
    learner = SimpleNamespace(
        __name__="stub", NAME="stub", VERSION=1, DEFAULTS={"alpha": 0.5, "beta": 1}
    )
    game = SimpleNamespace(identity={"name": "g", "params": {}, "version": 1})
    job = jobs.Job("s", "arm", 0, game, learner, {"alpha": 0.25, "beta": 1}, 10, 5, (), (), None)
    jobs.learner_identity, kept = (lambda _: {"name": "stub", "version": 1}), jobs.learner_identity
    try:
        assert job.key == "4dbda4a0026a19b1"
    finally:
        jobs.learner_identity = kept


def test_key_does_not_depend_on_how_a_number_is_written():
    a = learner_parameters(td, {"alpha": [1, 0.5], "epsilon": 0}, 100)
    b = learner_parameters(td, {"epsilon": np.float64(0.0), "alpha": (1.0, 0.5)}, 100)
    assert key_of(a) == key_of(b) and a["episodes"] == 100


def test_a_new_parameter_of_the_learner_leaves_keys_alone_but_a_changed_default_is_noticed(
    place, monkeypatch
):
    first = make()
    monkeypatch.setitem(td_parameters.DEFAULTS, "new_parameter", 3)
    monkeypatch.delattr(td, "PARAMETERS")
    monkeypatch.setattr(runs, "train", None)
    assert provenances(make()) == {"recorded"}
    monkeypatch.undo()
    record = json.loads(first.records.path("train", first.arms["FARL"][0].job.key).read_text())
    parameters = record["parameters"] | {"gamma": 0.9}
    assert first.records.find("train", record["key"], parameters) is None
    assert first.records.find("train", record["key"], record["parameters"]) == record


@pytest.mark.parametrize("value", [float("nan"), {1: 2}, object(), [float("inf")]])
def test_only_exact_values_are_recorded(value):
    with pytest.raises((TypeError, ValueError), match="can not be recorded"):
        canonical(value)


# ------------------------------------------------------------------------------------------ records


def test_records_are_used_and_the_table_is_the_same(place):
    first = make(arms=("FARL", "no-FARL"))
    assert provenances(first) == {"trained here"} and len(files(place)) == 2 * 3 * 3
    before = {p: p.read_bytes() for p in (place / "data" / "records").rglob("*.json")}
    assert all(len(content) < 5000 for content in before.values())
    second = make(arms=("no-FARL", "FARL"))
    assert provenances(second) == {"recorded"}
    assert {p: p.read_bytes() for p in before} == before
    order = ["arm", "run", "metric", "episode"]
    pd.testing.assert_frame_equal(
        first.table().sort_values(order, ignore_index=True),
        second.table().sort_values(order, ignore_index=True),
    )
    rows = first.table()
    assert list(rows.columns) == study.COLUMNS and sorted(rows["episode"].unique()) == [
        150,
        300,
        400,
    ]
    assert not rows.duplicated(["arm", "run", "episode", "metric"]).any()
    assert first.net("FARL", 1).checksum() == second.net("FARL", 1).checksum()


def test_a_corrected_evaluator_never_retrains(place, monkeypatch):
    make(curve=())
    monkeypatch.setattr(runs, "train", None)  # whoever calls it fails
    made = make(curve=(), final=(Weights(2.0),))
    assert made.runs().groupby("kind")["provenance"].unique().map(list).to_dict() == {
        "train": ["recorded"],
        "eval": ["trained here"],
    }


def test_weights_that_are_gone_are_trained_again(place):
    first = make(curve=())
    for path in (place / "data" / "cache").rglob("*.npz"):
        path.unlink()
    second = make(curve=(), final=(Weights(2.0),))
    mass = [
        t.query("metric == 'mass'")["value"].to_numpy() for t in (first.table(), second.table())
    ]
    assert np.array_equal(2.0 * mass[0], mass[1])
    assert (
        second.net("FARL", 0).checksum()
        == first.arms["FARL"][0].records[first.arms["FARL"][0].job.key]["checksum"]
    )


def test_a_missing_curve_repeats_the_run_and_checks_the_weights(place):
    make(curve=())
    made = make(curve=(Weights(),))
    kinds = made.runs().groupby("kind")["provenance"].unique().map(sorted).to_dict()
    assert kinds == {"train": ["recorded"], "eval": ["recorded", "trained here"]}
    path = made.records.path("train", made.arms["FARL"][0].job.key)
    path.write_text(path.read_text().replace(json.loads(path.read_text())["checksum"], "0" * 16))
    again = make(curve=(Weights(3.0),))
    assert (
        "re-run here: differs" in provenances(again)
        and again.runs().query("run == 1")["provenance"].ne("re-run here: differs").all()
    )


def test_quick_profile_reads_and_writes_no_records(place):
    make()
    before = files(place)
    made = make(profile="quick", params=SMALL | {"runs": 2})
    assert provenances(made) == {"trained here"} and files(place) == before
    made.finish()
    assert (place / "reports" / "quick" / "data" / "tiny.results.csv").exists()


def test_ignored_records_are_compared(place):
    make()
    made = make(records="ignore")
    assert provenances(made) == {"re-run here: identical"}
    path = made.records.path("train", made.arms["FARL"][2].job.key)
    path.write_text(path.read_text().replace(json.loads(path.read_text())["checksum"], "0" * 16))
    again = make(records="ignore")
    assert set(again.runs().query("run == 2")["provenance"]) == {"re-run here: differs"}
    assert set(again.runs().query("run < 2")["provenance"]) == {"re-run here: identical"}
    assert '"checksum": "' + "0" * 16 in path.read_text()  # the evidence stays


def test_selection_leaves_other_runs_missing_with_an_estimate(place, monkeypatch):
    make(params=SMALL | {"runs": 1})
    with study.planning() as planned_runs:
        planned = make()
    assert [o.complete for o in planned_runs] == [True, False, False] and provenances(planned) == {
        "recorded",
        "missing",
    }
    chosen = {"again": [planned_runs[0].job.key], "missing": [planned_runs[2].job.key]}
    (place / "selection.json").write_text(json.dumps(chosen))
    monkeypatch.setenv("AFTERSTATE_SELECTION", str(place / "selection.json"))
    made = make()
    table = made.finish()
    assert table.groupby("run")["provenance"].unique().map(list).to_dict() == {
        0: ["re-run here: identical"],
        1: ["missing"],
        2: ["trained here"],
    }
    lacking = table.query("provenance == 'missing'")["estimated_cpu_seconds"]
    assert lacking.notna().all() and (lacking >= 0).all()
    assert made.unfinished() == "Unfinished: 1 of 3 runs of FARL are missing."
    assert set(made.table()["run"]) == {0, 2}


def test_a_damaged_record_is_named(place):
    made = make()
    path = made.records.path("train", made.arms["FARL"][0].job.key)
    path.write_text(path.read_text()[:100])
    with pytest.raises(ValueError, match=f"{path.name} is damaged.*git checkout"):
        make()


# ------------------------------------------------------------------------------------------- golden


def test_records_of_edited_sources_need_the_golden_run(place, monkeypatch, capsys):
    made = make()
    monkeypatch.setattr(runs, "numeric_sources", lambda game, learner: "edited")
    # the golden run came out as stated: an edit that changed no number
    assert provenances(make()) == {"recorded"}
    path = place / "data" / "golden.json"
    stated = json.loads(path.read_text())
    stated["td"]["runs"][0]["checksum"] = "0" * 16
    path.write_text(json.dumps(stated))
    before = files(place)
    again = make()
    assert provenances(again) == {"trained here"} and files(place) == before
    said = capsys.readouterr().err
    assert (
        "came out different" in said
        and "raise VERSION" in said
        and said.count("came out different") == 1
    )
    path.unlink()
    assert provenances(make()) == {"trained here"} and "no golden run" in capsys.readouterr().err
    monkeypatch.undo()
    assert made.arms["FARL"][0].job.sources != "edited"


def test_every_file_with_a_player_or_an_evaluator_is_a_numeric_source():
    """An edit there must make its records doubtful, or they would be taken for what the edited code measures."""
    listed = {*NUMERIC_SOURCES, *tabular.SOURCES}
    for file in sorted(PACKAGE.glob("*.py")):
        methods = {
            part.name
            for node in ast.walk(ast.parse(file.read_text()))
            if isinstance(node, ast.ClassDef)
            for part in node.body
            if isinstance(part, ast.FunctionDef)
        }
        assert (
            not methods & {"choose", "__call__"}
            or file.name in listed
            or file.name.startswith("bench")
        ), file.name
    assert {"uct.py", "lookahead.py", "connect4_oracle.py"} <= listed, "what they search with"
    assert all((PACKAGE / name).exists() for name in listed)


def test_records_of_an_edited_evaluator_are_refused(place, monkeypatch, capsys):
    make(curve=())
    before = {p: p.read_bytes() for p in (place / "data" / "records").rglob("*.json")}
    monkeypatch.setattr(runs, "numeric_sources", lambda game, learner: "edited")
    monkeypatch.setattr(runs, "_probes", {})
    assert provenances(make(curve=())) == {"recorded"}
    monkeypatch.setattr(runs, "_probes", {})
    monkeypatch.setattr(
        Weights, "__call__", lambda self, game, net, seed: {"mass": -1.0, "seed": 0.0}
    )
    made = make(curve=())
    assert made.runs().groupby("kind")["provenance"].unique().map(list).to_dict() == {
        "train": ["recorded"],
        "eval": ["trained here"],
    }
    assert "evaluator weights says something else" in capsys.readouterr().err
    assert {p: p.read_bytes() for p in before} == before


def test_golden_is_not_overwritten_without_a_new_version(place, monkeypatch):
    path = place / "data" / "golden.json"
    stated = json.loads(path.read_text())
    stated["td"]["runs"][0]["checksum"] = "0" * 16
    path.write_text(json.dumps(stated))
    with pytest.raises(ValueError, match="VERSION is still"):
        golden.write(td, place / "data")
    monkeypatch.setattr(td, "VERSION", td.VERSION + 1)
    assert golden.write(td, place / "data")["runs"][0]["checksum"] == golden_run()["checksum"]
    assert golden.check(td, place / "data")[0] == golden.PASSED


# ------------------------------------------------------------ what optional programs are needed for


class Needy(Weights):
    """An evaluator that needs a program, which is there or not."""

    name, there = "needy", False

    def lacks(self):
        return "" if self.there else "the program X: install it"

    def __call__(self, game, net, seed):
        assert self.there
        return {"win_rate:X": 50.0}


def test_a_final_evaluation_that_lacks_something_is_left_out_and_the_rest_is_made(
    place, monkeypatch, capsys
):
    final = (Weights(), Needy())
    made = make(final=final)
    assert (
        capsys.readouterr().err.count(
            "tiny: not measured here: needy (3 runs): needs the program X: install it"
        )
        == 1
    )
    assert made.runs().groupby("evaluator")["provenance"].unique().map(list).to_dict() == {
        "": ["trained here"],
        "weights": ["trained here"],
        "needy": ["missing"],
    }
    assert set(made.runs().query("evaluator == 'needy'")["estimated_cpu_seconds"]) == {0.0}
    made.finish()
    assert "tiny: 3 runs: 3 trained here. Not measured: needy (3 runs)." in capsys.readouterr().out
    assert all(o.finished for o in made.arms["FARL"]) and all(
        o.complete for o in planned(final=final)
    )

    monkeypatch.setattr(runs, "train", None)  # nothing is trained again ...
    assert make(final=final).unfinished() == "Not measured: needy (3 runs)."
    monkeypatch.setattr(Needy, "there", True)
    assert [len(o.due) for o in planned(final=final)] == [1, 1, 1]
    made = make(final=final)  # ... when the program is there at last, either
    assert made.unfinished() == "" and provenances(made) == {"recorded", "trained here"}
    assert (
        set(made.table().query("metric == 'win_rate:X'")["value"]) == {50.0}
        and len(files(place)) == 3 * 4
    )

    monkeypatch.setattr(Needy, "there", False)  # and elsewhere its records count without it
    made = make(final=final)
    assert provenances(made) == {"recorded"} and made.unfinished() == ""


def planned(**options):
    with study.planning() as outcomes:
        make(**options)
    return outcomes


def test_a_repeated_run_leaves_out_what_can_not_be_repeated(place, monkeypatch):
    monkeypatch.setattr(Needy, "there", True)
    make(final=(Needy(),))
    monkeypatch.setattr(Needy, "there", False)
    made = make(final=(Needy(),), records="ignore")
    labels = made.runs().groupby("evaluator")["provenance"].unique().map(list).to_dict()
    assert labels == {
        "": ["re-run here: identical"],
        "weights": ["re-run here: identical"],
        "needy": ["recorded"],
    }
    assert reproduce.repeat(made.arms["FARL"][0], made.arms["FARL"]) == "identical"


def test_a_curve_that_lacks_something_blocks_the_training(place, capsys):
    made = make(curve=(Needy(),))
    assert (
        provenances(made) == {"missing"}
        and not files(place)
        and made.unfinished() == "Unfinished: 3 of 3 runs of FARL are missing."
    )
    assert "tiny: nothing can be trained here: the program X: install it" in capsys.readouterr().err
    assert "Not trained here: tiny (3 runs): needs the program X" in "\n".join(
        plan.lines(planned(curve=(Needy(),)))
    )


def test_the_plan_names_what_is_needed_and_does_not_count_it(place):
    outcomes = planned(final=(Weights(), Needy()))
    assert "Not measured here: tiny, needy (3 runs): needs the program X: install it" in plan.lines(
        outcomes
    )
    assert len(plan.select(outcomes, float("inf"), 1)["missing"]) == 3
    make(final=(Weights(), Needy()))
    outcomes = planned(final=(Weights(), Needy()))
    chosen = plan.select(outcomes, float("inf"), 1)
    assert (
        chosen["missing"] == []
        and len(chosen["again"]) == 1
        and sum(map(plan.missing_cost, outcomes)) == 0
    )


# ------------------------------------------------------------------------------------------ workers


def test_one_and_two_workers_and_any_order_of_arms_give_the_same(place):
    one = make(profile="quick", arms=("FARL", "no-FARL"), workers=1)
    two = make(profile="quick", arms=("no-FARL", "FARL"), workers=2)
    order = ["arm", "run", "metric", "episode"]
    pd.testing.assert_frame_equal(
        one.table().sort_values(order, ignore_index=True),
        two.table().sort_values(order, ignore_index=True),
    )
    sums = [
        {
            (o.job.arm, o.job.run): o.records[o.job.key]["checksum"]
            for arm in s.arms.values()
            for o in arm
        }
        for s in (one, two)
    ]
    assert sums[0] == sums[1] and len(set(sums[0].values())) == 6


class HeavyWeights(Weights):
    heavy = True  # in the evaluation process of the workers' machine


def test_dask_cluster_gives_the_same(place):
    pytest.importorskip("distributed")
    expected = make(profile="quick", params=SMALL | {"runs": 2})
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(PACKAGE.parent), os.path.dirname(__file__)])
    }
    started = []
    try:
        scheduler = place / "scheduler.json"
        quiet = {"env": environment, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        started.append(
            subprocess.Popen(
                [
                    sys.executable,
                    "-m",
                    "distributed.cli.dask_scheduler",
                    "--port",
                    "0",
                    "--no-dashboard",
                    "--scheduler-file",
                    str(scheduler),
                ],
                **quiet,
            )
        )
        started.append(
            subprocess.Popen(
                [
                    sys.executable,
                    "-m",
                    "distributed.cli.dask_worker",
                    "--nworkers",
                    "2",
                    "--nthreads",
                    "1",
                    "--no-dashboard",
                    "--scheduler-file",
                    str(scheduler),
                    "--local-directory",
                    str(place / "dask"),
                ],
                **quiet,
            )
        )
        deadline = time.monotonic() + 40
        while not scheduler.exists() and time.monotonic() < deadline:
            time.sleep(0.1)
        made = make(
            profile="quick",
            params=SMALL | {"runs": 2},
            curve=(HeavyWeights(),),
            dask=json.loads(scheduler.read_text())["address"],
        )
    finally:
        for process in reversed(started):
            process.terminate()
            process.wait(20)
    pd.testing.assert_frame_equal(expected.table(), made.table())


def test_dask_that_is_not_there(place, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr(parallel, "DASK_TIMEOUT", "1s")
    with pytest.raises(
        ConnectionError, match="no Dask scheduler answers at 'tcp://127.0.0.1:9'.*dask scheduler"
    ):
        make(profile="quick", dask="tcp://127.0.0.1:9")
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ImportError, match="pip install 'afterstate\\[cluster\\]'"):
        make(profile="quick", dask="tcp://127.0.0.1:9")


def test_other_sources_on_a_worker_are_an_error(place):
    job = make(profile="quick").arms["FARL"][0].job
    with pytest.raises(RuntimeError, match="same version on all machines"):
        runs.perform(("train", job, (), True, "other"))
    here = job.sources
    # as it arrives from a study with other sources: what a job has computed once travels with it
    vars(job)["sources"] = "the study's"
    with pytest.raises(
        RuntimeError, match=f"other sources of afterstate .{here}. than the study .the study's."
    ):
        runs.perform(("train", job, (), True, job.sources))


def test_a_failing_evaluator_is_named_and_keeps_what_is_finished(place):
    def broken(game, net, seed):
        return {"win_rate": float("nan")}

    with pytest.raises(ValueError, match="'broken' must return"):
        make(final=(broken,), curve=())
    assert len(files(place)) == 3  # the trainings


# ---------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    "given, message",
    [
        ({"runs": 0}, "runs=0 must be a whole number of at least 1"),
        ({"runs": 2.0}, "runs=2.0 must be a whole number"),
        ({"episodes": "many"}, "episodes='many' must be"),
        ({"eval_every": -1}, "eval_every=-1 must be"),
        ({"epsilon": -0.1}, "epsilon=-0.1 must be at least|epsilon=-0.1 must be between"),
        ({"epsilom": 0.1}, "no parameter 'epsilom': did you mean 'epsilon'"),
        ({"farl": "yes"}, "farl='yes' must be one of"),
        ({"sigmoid": 1}, "sigmoid=1 must be True or False"),
        ({"final_": []}, "no parameter 'final_': did you mean 'final'"),
    ],
)
def test_bad_parameters_name_the_value_and_the_remedy(place, given, message):
    made = Study("tiny", params=SMALL)
    with pytest.raises(ValueError, match=message):
        made.run("FARL", td, game=games.load("tictactoe"), **given)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"name": "a/b"}, "must be plain names"),
        ({"records": "maybe"}, "RECORDS='maybe' must be"),
        ({"workers": 0}, "workers=0 must be"),
    ],
)
def test_bad_study(place, options, message):
    with pytest.raises(ValueError, match=message):
        Study(**({"name": "tiny"} | options))


def test_missing_runs_and_arms_are_named(place):
    made = make()
    with pytest.raises(LookupError, match="no run 7 of 'FARL'"):
        made.net("FARL", 7)
    with pytest.raises(ValueError, match="say which paper"):
        made.compare()


def test_cache_that_can_not_be_written_is_named(place):
    (place / "data" / "cache").write_text("a file where the directory should be")
    with pytest.raises(
        CacheError, match="cache directory .*cache can not be written.*AFTERSTATE_DATA"
    ):
        Study("tiny")


def test_full_disk_while_training_is_named(place, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(runs, "write_npz", full)
    with pytest.raises(CacheError, match="can not be written .No space left on device.: make room"):
        make()


# ----------------------------------------------------------------------------------------- the rest


def test_globals_give_only_the_counts(place):
    made = Study(
        "tiny",
        params={
            "__name__": "__main__",
            "runs": 2,
            "episodes": 5,
            "eval_every": 5,
            "alpha": "a module",
        },
    )
    assert made.params == {"runs": 2, "episodes": 5, "eval_every": 5}


def test_progress_is_lines_in_a_pipe(monkeypatch, capsys):
    monkeypatch.setattr(parallel, "PATIENCE", -1.0)
    with Progress(100, "training") as progress:
        for _ in range(50):
            progress.advance(2)
    lines = capsys.readouterr().out.splitlines()
    assert (
        len(lines) == 10
        and lines[0].startswith("training: 10%")
        and "left" in lines[0]
        and "done in" in lines[-1]
    )
    assert [clock(s) for s in (3, 100, 4000, 40 * 3600)] == ["3 s", "1.7 min", "67 min", "40 h"]


def test_progress_in_place_may_show_that_nothing_is_done_yet(monkeypatch, capsys):
    monkeypatch.setattr(parallel, "_watched", lambda: True)
    with Progress(100, "training") as progress:
        progress.shown -= 1.0  # the first report came late: a large network had to be made
        progress.advance(0)
        progress.advance(100)
    assert (
        "training: 0%" in (text := capsys.readouterr().out)
        and "just begun" in text
        and "done in" in text
    )


def test_compare_on_another_cpu(place):
    made = make(params=SMALL | {"runs": 5})
    outcome = made.arms["FARL"][0]
    stored = [json.loads(json.dumps(r)) for r in outcome.records.values()]
    siblings = [r for o in made.arms["FARL"] for r in o.records.values() if r["kind"] != "train"]
    again = [r | {"checksum": "1" * 16} for r in stored]
    assert run_states.compare(stored, stored, siblings) == "identical"
    assert run_states.compare(stored, again, siblings) == "differs"
    for record in stored:
        record["machine"] = {"cpu": "another", "target": "another"}
    assert run_states.compare(stored, again, siblings) == "agrees"
    far = [
        r
        | (
            {"points": {k: [1e9 * x for x in v] for k, v in r["points"].items()}}
            if r["kind"] != "train"
            else {}
        )
        for r in again
    ]
    assert run_states.compare(stored, far, siblings) == "differs"
    assert run_states.compare(stored, again, siblings[:2]) == "differs"


def test_a_figure_without_runs_is_a_gap_not_an_error(place, capsys):
    made = Study("tiny")
    assert made.figure(None, "learning", pd.DataFrame(), "How to read it.") is None
    assert (
        "no runs to draw in the figure 'learning'" in capsys.readouterr().out
        and not (made.reports / "figures").exists()
    )
