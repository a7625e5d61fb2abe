"""A study: bad input, full disks, failed arms, views, derived results, missing runs."""

import pandas as pd
import pytest

from afterstate import games
from afterstate.files import CacheError
from afterstate.learners import td
from afterstate.studies import runs, work
from afterstate.studies.study import Study
from small_studies import SMALL, Weights, declare, make, record_lines


@pytest.mark.parametrize(
    "given, message",
    [
        ({"runs": 0}, "runs must be a whole number of at least 1, not 0"),
        ({"runs": 2.0}, "runs must be a whole number of at least 1, not 2.0"),
        ({"episodes": "many"}, "episodes must be .*not 'many'"),
        ({"epsilom": 0.1}, "no parameter 'epsilom': did you mean 'epsilon'"),
        ({"farl": "yes"}, "farl='yes' must be one of"),
        ({"curve": ["no evaluator"]}, "is no evaluator"),
    ],
)
def test_bad_arms_name_the_value_and_the_remedy(place, given, message):
    with pytest.raises(ValueError, match=message):
        Study("tiny", "paper", SMALL).arm("FARL", td, game=games.load("tictactoe"), **given)


def test_bad_studies_and_bad_questions(place):
    for options, message in (
        ({"name": "a/b"}, "must be plain names"),
        ({"workers": 0}, "workers must be a whole number of at least 1, not 0"),
    ):
        with pytest.raises(ValueError, match=message):
            Study(**({"name": "tiny"} | options))
    made = declare()
    with pytest.raises(LookupError, match="no run 7 of 'FARL'"):
        made.net("FARL", 7)
    with pytest.raises(ValueError, match="no paper None; there are"):
        made.compare()
    for name, arm in (("FARL", "FARL"), ("other", "no such arm")):
        with pytest.raises(ValueError, match="needs a new name"):
            made.view(name, arm, {})
    counts = {"runs": 2, "episodes": 5, "eval_every": 5}  # globals() give only these
    assert Study("x", params=counts | {"__name__": "__main__", "alpha": 1}).params == counts


def test_a_cache_that_cannot_be_written_is_named(place, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(runs, "write_npz", full)
        with pytest.raises(CacheError, match="cannot be written .No space left.*make room"):
            make()
    (place / "other").mkdir()
    (place / "other" / "cache").write_text("a file where the directory should be")
    monkeypatch.setenv("AFTERSTATE_DATA", str(place / "other"))
    with pytest.raises(CacheError, match="cache directory .*cannot be written.*AFTERSTATE_DATA"):
        Study("tiny")


def test_a_page_of_records_trains_nothing(place, monkeypatch):
    monkeypatch.setenv("AFTERSTATE_BATCH", "10_some")
    made = make()
    assert made.table().empty and not record_lines(place)
    assert "Unfinished: 3 of 3 runs of FARL are missing." in made.unfinished()
    figure = made.figure(None, "learning", pd.DataFrame(), "How to read it.")
    assert figure is None and not (made.reports / "figures").exists()
    made.finish()
    assert (place / "reports" / "paper" / "data" / "tiny.runs.csv").exists()


def test_views_and_derived_results(place):
    made = make()
    before = made.table()
    made.view("FARL, in kilograms", "FARL", {"kilograms": "mass", "nothing": "not measured"})
    made.derive("FARL", lambda curve: {"first": curve.mass.iloc[0]})
    made.derive("FARL", lambda curve: {"twice": 2 * curve["first"].dropna().iloc[0]})
    table = made.table()
    own = before.query("arm == 'FARL' and metric == 'mass'")
    shown = table.query("arm == 'FARL, in kilograms'")
    assert set(shown.metric) == {"kilograms"} and shown.value.tolist() == own.value.tolist()
    first = own[own.episode == 150].value.to_numpy()
    assert table.query("metric == 'first' and episode == 400").value.tolist() == first.tolist()
    assert table.query("metric == 'twice'").value.tolist() == (2 * first).tolist()


def test_a_failing_evaluator_is_named_and_keeps_what_is_finished(place):
    def broken(game, net, seed):
        return {"win_rate": float("nan")}

    with pytest.raises(ValueError, match="'broken' must return"):
        make(final=(broken,), curve=())
    assert len(record_lines(place)) == 3  # the trainings


def test_what_is_missing_costs_what_the_arm_or_else_the_study_has_cost(place):
    known = list(make(arms=("FARL", "no-FARL")).records.by_key.values())
    many = declare(arms=("FARL", "new"), params=SMALL | {"runs": 4})
    own = [r["cost"]["cpu_seconds"] for r in known if r["arm"] == "FARL"]
    every = [r["cost"]["cpu_seconds"] for r in known]
    for arm, expected in (("FARL", sum(own) / 3), ("new", sum(every) / 6)):
        run = many.arms[arm][3]
        assert len(run.due) == 3 and many.missing_cost(run) == pytest.approx(expected)


class Handle:
    """A place in a page that remembers what was shown there."""

    shown = []

    def update(self, picture):
        self.shown.append(picture)


def test_the_live_curve_grows_and_leaves_nothing(place, monkeypatch):
    study = Study("tiny", params=SMALL | {"episodes": 4000, "eval_every": 200}, workers=1)
    study.arm("FARL", td, game=games.load("tictactoe"), curve=[Weights()])
    run = study.arms["FARL"][0]
    with work._live_curve([run]):
        assert not run.job.live.exists(), "nobody watches"
    monkeypatch.setattr(work, "in_notebook", lambda: True)
    monkeypatch.setattr(work, "REDRAW", 0.01)
    monkeypatch.setattr("IPython.display.display", lambda *_, display_id: Handle())
    with work._live_curve([run]):
        runs.train(run.job)
        while not Handle.shown:  # the thread has some points to draw
            pass
    assert len(Handle.shown) >= 2 and Handle.shown[-1].data == "" and not run.job.live.exists()
