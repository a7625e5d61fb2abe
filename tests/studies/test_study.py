"""A study: bad input, full disks, failed arms, views, derived results, missing runs."""

import pandas as pd
import pytest

from afterstate import games
from afterstate.files import CacheError
from afterstate.learners import td
from afterstate.studies import live, runs
from afterstate.studies import progress as progress_module
from afterstate.studies.progress import Progress, clock, is_progress
from afterstate.studies.study import Study
from small_studies import SMALL, Weights, make, record_lines


@pytest.mark.parametrize(
    "given, message",
    [
        ({"runs": 0}, "runs must be a whole number of at least 1, not 0"),
        ({"runs": 2.0}, "runs must be a whole number of at least 1, not 2.0"),
        ({"episodes": "many"}, "episodes must be .*not 'many'"),
        ({"eval_every": -1}, "eval_every must be .*not -1"),
        ({"epsilom": 0.1}, "no parameter 'epsilom': did you mean 'epsilon'"),
        ({"farl": "yes"}, "farl='yes' must be one of"),
    ],
)
def test_bad_parameters_name_the_value_and_the_remedy(place, given, message):
    with pytest.raises(ValueError, match=message):
        Study("tiny", params=SMALL).arm("FARL", td, game=games.load("tictactoe"), **given)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"name": "a/b"}, "must be plain names"),
        ({"workers": 0}, "workers must be a whole number of at least 1, not 0"),
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


def test_globals_give_only_the_counts(place):
    counts = {"runs": 2, "episodes": 5, "eval_every": 5}
    made = Study("tiny", params=counts | {"__name__": "__main__", "alpha": "a module"})
    assert made.params == counts


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
    for name, arm in (("FARL", "FARL"), ("other", "no such arm")):
        with pytest.raises(ValueError, match="needs a new name"):
            made.view(name, arm, {})


def test_a_failing_evaluator_is_named_and_keeps_what_is_finished(place):
    def broken(game, net, seed):
        return {"win_rate": float("nan")}

    with pytest.raises(ValueError, match="'broken' must return"):
        make(final=(broken,), curve=())
    assert len(record_lines(place)) == 3  # the trainings
    with pytest.raises(ValueError, match="is no evaluator"):
        make(curve=["no evaluator"])


# ------------------------------------------------------------------------------- what a reader sees


def test_progress_is_lines_in_a_pipe(monkeypatch, capsys):
    monkeypatch.setattr(progress_module, "PATIENCE", -1.0)
    with Progress(100, "training") as progress:
        for _ in range(50):
            progress.advance(2)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 10 and all(map(is_progress, lines))
    assert lines[0].startswith("training: 10%") and "left" in lines[0] and "done in" in lines[-1]
    others = ["holds: 5% of the games are drawn", "nim / FARL: 2 runs: 2 recorded"]
    assert not any(map(is_progress, others))
    assert [clock(s) for s in (3, 100, 4000, 40 * 3600)] == ["3 s", "1.7 min", "67 min", "40 h"]


def test_progress_in_place_may_show_that_nothing_is_done_yet(capsys):
    with Progress(100, "training") as progress:
        progress.in_place = True
        progress.shown -= 1.0  # the first report came late: a large network had to be made
        progress.advance(0)
        progress.advance(100)
    text = capsys.readouterr().out
    assert "training: 0%" in text and "just begun" in text and "done in" in text


class Handle:
    """A place in a page that remembers what was shown there."""

    made = []

    def __init__(self, first):
        self.shown = [first]
        self.made.append(self)

    def update(self, picture):
        self.shown.append(picture)


def test_the_live_curve_grows_and_leaves_nothing(place):
    study = Study("tiny", params=SMALL | {"episodes": 4000, "eval_every": 200}, workers=1)
    study.arm("FARL", td, game=games.load("tictactoe"), curve=[Weights()])
    job = study.arms["FARL"][0].job
    with live.while_training([job], show=Handle, redraw=0.01):
        runs.train(job)
        while not Handle.made:  # the thread has some points to draw
            pass
    shown = Handle.made[0].shown
    assert len(shown) >= 2 and shown[-1]._repr_html_() == "" and not live.folder(job).exists()
    with live.while_training([job]):
        assert not live.folder(job).exists(), "nobody watches"
