"""The curve that grows while a study trains: in a notebook that is watched, and only there."""

import contextlib
import sys
import types

import pytest

from afterstate import games
from afterstate.learners import td
from afterstate.reports.picture import Picture
from afterstate.studies import live, progress, run_states
from afterstate.studies.study import Study
from small_studies import SMALL


class Handle:
    """A place in a page that remembers what was shown there."""

    def __init__(self, first):
        self.shown = [first]

    def update(self, picture):
        self.shown.append(picture)


def percent(game, net, seed):
    return {"mass": float(abs(net.weights).sum()), "win_rate:nobody": 40.0}


@pytest.fixture
def watched(monkeypatch):
    """Somebody watches: every curve that is made, and a thread that never wakes by itself."""
    curves = []

    def while_training(tasks, _):
        job = next(job for _, job, curve, *_ in tasks if curve)
        curves.append(live.LiveCurve(job, Handle, redraw=1e6))
        return curves[-1]

    monkeypatch.setattr(run_states, "while_training", while_training)
    return curves


def test_the_curve_grows_and_leaves_nothing(place, watched, monkeypatch):
    study, seen = Study("tiny", params=SMALL, workers=1), []
    accept = run_states._accept

    def accepted(state, record, records):
        if record["kind"] == "train":
            seen.append((watched[0].draw(), len(watched[0].points())))
        return accept(state, record, records)

    monkeypatch.setattr(run_states, "_accept", accepted)
    study.run("FARL", td, game=games.load("tictactoe"), curve=[percent])
    (curve,) = watched
    assert seen == [(True, 3), (True, 6), (True, 9)]
    assert isinstance(curve.handle.shown[0], Picture)
    axes = curve.handle.shown[0].axes[0]
    assert (axes.get_title(), axes.get_ylabel()) == ("tiny / FARL, so far", "win_rate:nobody")
    assert isinstance(curve.handle.shown[-1], live.Blank) and not curve.place.exists()
    assert not curve._thread.is_alive() and curve.handle.shown[-1]._repr_html_() == ""


def test_what_is_not_new_is_not_drawn_again(place, watched):
    study = Study("tiny", params=SMALL | {"runs": 1}, workers=1)
    study.run("FARL", td, game=games.load("tictactoe"), curve=[percent])
    job = study.states[0].job
    with live.LiveCurve(job, Handle, redraw=1e6) as curve:
        live.tell(job, [{"episode": [10], "score:X": [0.5]}])
        assert not curve.draw() and curve.handle is None  # one point is no curve
        live.tell(job, [{"episode": [10, 20], "score:X": [0.5, 0.6]}])
        assert curve.draw() and not curve.draw() and len(curve.handle.shown) == 1
        assert curve.points().value.tolist() == [0.5, 0.6]
    live.tell(job, [{"episode": [10, 20, 30], "score:X": [0.5, 0.6, 0.7]}])
    assert not curve.place.exists()  # nobody watches: nothing is written


def test_the_thread_redraws_by_itself(place, watched):
    study = Study("tiny", params=SMALL | {"runs": 1}, workers=1)
    study.run("FARL", td, game=games.load("tictactoe"), curve=[percent])
    drawn = live.threading.Event()

    def show(picture):
        drawn.set()
        return Handle(picture)

    with live.LiveCurve(study.states[0].job, show, redraw=0.01):
        live.tell(study.states[0].job, [{"episode": [10, 20], "score:X": [0.5, 0.6]}])
        assert drawn.wait(30)


def test_only_a_kernel_that_somebody_watches_draws(monkeypatch):
    task = (
        "train",
        types.SimpleNamespace(study="s", arm="a", cache=live.Path("nowhere")),
        [1],
        False,
    )
    assert isinstance(live.while_training([task], False), contextlib.nullcontext)
    assert isinstance(live.while_training([task], True), live.LiveCurve)
    assert isinstance(live.while_training([], True), contextlib.nullcontext)
    kernel = types.SimpleNamespace(get_ipython=lambda: type("ZMQInteractiveShell", (), {})())
    monkeypatch.setitem(sys.modules, "IPython", kernel)
    monkeypatch.delenv("AFTERSTATE_BATCH", raising=False)
    assert progress.in_notebook()
    monkeypatch.setenv("AFTERSTATE_BATCH", "10_tictactoe")  # a command executes it as a page
    assert not progress.in_notebook()
    terminal = types.SimpleNamespace(get_ipython=lambda: type("TerminalShell", (), {})())
    monkeypatch.setitem(sys.modules, "IPython", terminal)
    monkeypatch.delenv("AFTERSTATE_BATCH")
    assert not progress.in_notebook()
