"""A study: bad input, full disks, failed arms, comparison, figures without runs."""

import json
import os

import pandas as pd
import pytest

from afterstate import games
from afterstate.kernel.compile import CacheError
from afterstate.learners import td
from afterstate.studies import run_states, runs
from afterstate.studies.study import Study
from small_studies import SMALL, make


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


def test_a_view_shows_results_under_another_name(place):
    made = make()
    before = made.table()
    made.view("FARL, in kilograms", "FARL", {"kilograms": "mass", "nothing": "not measured"})
    shown = made.table().query("arm == 'FARL, in kilograms'")
    own = before.query("arm == 'FARL' and metric == 'mass'")
    assert set(shown.metric) == {"kilograms"} and shown.value.tolist() == own.value.tolist()
    assert made.table().query("arm == 'FARL'").equals(before.query("arm == 'FARL'"))
    for name, arm in (("FARL", "FARL"), ("other", "no such arm")):
        with pytest.raises(ValueError, match="needs a new name"):
            made.view(name, arm, {})


def test_a_failed_arm_leaves_the_study_as_it_was(place, monkeypatch):
    def broken(game, net, seed):
        return {"win_rate": float("nan")}

    made = make(params=SMALL | {"runs": 1})
    before = made.runs()
    game = games.load("tictactoe")
    for wrong in (dict(final=[broken]), dict(curve=[broken]), dict(curve=["no evaluator"])):
        with pytest.raises(ValueError, match="'broken' must return|is no evaluator"):
            made.run("no-FARL", td, game=game, farl="off", **wrong)
    pd.testing.assert_frame_equal(made.runs(), before)
    assert list(made.arms) == ["FARL"] and len(made.finish()) == len(before)


def test_half_written_files_of_killed_processes_are_swept(place):
    folder = place / "data" / "records" / "tiny"
    folder.mkdir(parents=True)
    old, young = folder / ".train-1.json.7.tmp", folder / ".train-2.json.8.tmp"
    for path in (old, young):
        path.touch()
    os.utime(old, (0, 0))
    Study("tiny")
    assert not old.exists() and young.exists()
