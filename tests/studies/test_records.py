"""Keys of runs, and records: used, compared, edited, damaged."""

import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from afterstate.commands import reproduce
from afterstate.files import data_directory
from afterstate.learners import td, td_parameters
from afterstate.studies import jobs, records, run_states, runs, tables
from afterstate.studies.identity import canonical, key_of, learner_parameters
from afterstate.studies.settings import Selection, for_notebook
from small_studies import SMALL, Weights, edit_record, make, planned, provenances, record_files


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
    monkeypatch.setattr(runs, "_trained", None)
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


@pytest.mark.slow
def test_records_are_used_and_the_table_is_the_same(place):
    first = make(arms=("FARL", "no-FARL"))
    assert provenances(first) == {"trained here"} and len(record_files(place)) == 2 * 3 * 3
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
    assert list(rows.columns) == tables.COLUMNS and sorted(rows["episode"].unique()) == [
        150,
        300,
        400,
    ]
    assert not rows.duplicated(["arm", "run", "episode", "metric"]).any()
    assert first.net("FARL", 1).checksum() == second.net("FARL", 1).checksum()


@pytest.mark.slow
def test_a_corrected_evaluator_never_retrains(place, monkeypatch):
    make(curve=())
    monkeypatch.setattr(runs, "_trained", None)  # whoever calls it fails
    made = make(curve=(), final=(Weights(2.0),))
    assert made.runs().groupby("kind")["provenance"].unique().map(list).to_dict() == {
        "train": ["recorded"],
        "eval": ["trained here"],
    }


def forget_weights(place):
    for path in (place / "data" / "cache").rglob("*.npz"):
        path.unlink()


def masses(study):
    return study.table().query("metric == 'mass'")["value"].to_numpy()


@pytest.mark.slow
def test_weights_that_are_gone_are_trained_again(place):
    first = make(curve=())
    forget_weights(place)
    second = make(curve=(), final=(Weights(2.0),))
    assert np.array_equal(2.0 * masses(first), masses(second))
    assert (
        second.net("FARL", 0).checksum()
        == first.arms["FARL"][0].records[first.arms["FARL"][0].job.key]["checksum"]
    )


@pytest.mark.slow
def test_weights_that_another_process_writes_over_are_evaluated_all_the_same(place, monkeypatch):
    first = make(curve=())
    write, given, tasks = runs._write_checkpoint, run_states.parallel, []

    def written_over(job, session, done):
        write(job, session, done)
        job.checkpoint.unlink()

    def noted(work, *rest):
        tasks.extend(work)
        return given(work, *rest)

    forget_weights(place)
    monkeypatch.setattr(runs, "_write_checkpoint", written_over)
    monkeypatch.setattr(run_states, "parallel", noted)
    second = make(curve=(), final=(Weights(3.0), Weights(2.0)))
    assert np.array_equal(2.0 * masses(first), masses(second))
    # one process trains a run again for both of its evaluations
    assert [(kind, len(evaluators)) for kind, _, evaluators, *_ in tasks] == [("evaluate", 2)] * 3


@pytest.mark.slow
def test_a_missing_curve_repeats_the_run_and_checks_the_weights(place):
    make(curve=())
    made = make(curve=(Weights(),))
    kinds = made.runs().groupby("kind")["provenance"].unique().map(sorted).to_dict()
    assert kinds == {"train": ["recorded"], "eval": ["recorded", "trained here"]}
    path = made.records.path("train", made.arms["FARL"][0].job.key)
    edit_record(path, checksum="0" * 16)
    again = make(curve=(Weights(3.0),))
    assert (
        "re-run here: differs" in provenances(again)
        and again.runs().query("run == 1")["provenance"].ne("re-run here: differs").all()
    )


@pytest.mark.slow
def test_quick_profile_reads_and_writes_no_records(place):
    make()
    before = record_files(place)
    made = make(profile="quick", params=SMALL | {"runs": 2})
    assert provenances(made) == {"trained here"} and record_files(place) == before
    made.finish()
    assert (place / "reports" / "quick" / "data" / "tiny.results.csv").exists()


@pytest.mark.slow
def test_ignored_records_are_compared(place):
    make()
    made = make(records="ignore")
    assert provenances(made) == {"re-run here: identical"}
    path = made.records.path("train", made.arms["FARL"][2].job.key)
    edit_record(path, checksum="0" * 16)
    again = make(records="ignore")
    assert set(again.runs().query("run == 2")["provenance"]) == {"re-run here: differs"}
    assert set(again.runs().query("run < 2")["provenance"]) == {"re-run here: identical"}
    assert '"checksum": "' + "0" * 16 in path.read_text()  # the evidence stays


@pytest.mark.slow
def test_selection_leaves_other_runs_missing_with_an_estimate(place):
    make(params=SMALL | {"runs": 1})
    runs_planned = planned()
    assert [state.complete for state in runs_planned] == [True, False, False]
    keys = [state.job.key for state in runs_planned]
    with for_notebook("10_tictactoe", Selection(frozenset(keys[:1]), frozenset(keys[2:]))):
        made = make()
    table = made.finish()
    assert table.groupby("run")["provenance"].unique().map(list).to_dict() == {
        0: ["re-run here: identical"],
        1: ["missing"],
        2: ["trained here"],
    }
    lacking = table.query("provenance == 'missing'")["estimated_cpu_seconds"]
    assert lacking.notna().all() and (lacking >= 0).all()
    told = made.unfinished()
    assert told.startswith("Unfinished: 1 of 3 runs of FARL are missing. make reproduce BUDGET=all")
    assert set(made.table()["run"]) == {0, 2}


@pytest.mark.slow
def test_trained_runs_that_lack_evaluations_are_not_said_to_be_missing(place):
    make(params=SMALL | {"runs": 2})
    with for_notebook("10_tictactoe", Selection(frozenset(), frozenset())):
        made = make(final=(Weights(2.0),))
    assert made.unfinished().startswith(
        "Unfinished: 1 of 3 runs of FARL, evaluations of 2 of 3 runs of FARL are missing. make "
    )


@pytest.mark.slow
def test_a_damaged_record_is_named(place):
    made = make()
    path = made.records.path("train", made.arms["FARL"][0].job.key)
    path.write_text(path.read_text()[:100])
    with pytest.raises(ValueError, match=f"{path.name} is damaged.*git checkout"):
        make()


# ------------------------------------------------------------------------------ edited and spoilt


@pytest.mark.slow
def test_an_edited_number_is_an_error_that_names_the_file(place, capsys):
    made = make()
    key = next(key for _, _, key in made.arms["FARL"][1].job.evaluations)
    path = made.records.path("eval", key)
    record = json.loads(path.read_text())
    assert record["content"] == records.content_hash(record)
    record["points"]["mass"][-1] += 0.5
    path.write_text(records.as_text(record))
    with pytest.raises(ValueError, match=f"{path.name} was edited.*git checkout"):
        make()
    assert [path.name in told for told in records.damaged(place / "data" / "records")] == [True]
    assert reproduce.verify_records(1) == 1
    assert f"DAMAGED: the record {path} was edited" in capsys.readouterr().out
    edit_record(path)  # who states the hash anew says that the change is meant
    assert not records.damaged(place / "data" / "records") and make()
    del record["content"]
    path.write_text(records.as_text(record))
    with pytest.raises(ValueError, match="states None"):
        make()


def test_a_record_under_another_name_is_named(place):
    made = make()
    path = made.records.path("train", made.arms["FARL"][0].job.key)
    other = made.records.path("train", made.arms["FARL"][1].job.key)
    other.write_text(path.read_text())
    with pytest.raises(ValueError, match=f"{other.name} does not hold the key"):
        make()


def test_an_empty_record_is_named_and_made_again(place, capsys):
    made = make()
    path = made.records.path("train", made.arms["FARL"][0].job.key)
    good = json.loads(path.read_text())["checksum"]
    path.write_text("")
    assert [path.name in told for told in records.damaged(place / "data" / "records")] == [True]
    make()
    assert f"{path} is empty and counts as missing" in capsys.readouterr().err
    assert json.loads(path.read_text())["checksum"] == good


def test_all_records_of_the_repository_state_their_content():
    assert records.damaged(data_directory() / "records") == []
