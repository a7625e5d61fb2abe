"""Three profiles, and arms of one's own: what a change may be, and that nothing published moves."""

import os
import re
import sys

import pytest
import yaml

from afterply import games
from afterply.learners import td
from afterply.studies import Study, explore, opened
from afterply.studies.profiles import changes_of
from afterply.studies.records import Records
from afterply.studies.results import LIKE, select
from afterply.studies.runs import Limit
from small_studies import SMALL, TUPLES, Weights, record_file

NAME = "10_tictactoe"
VALUES = {"runs": 3, "episodes": 400, "eval_every": 150}


@pytest.fixture
def place(place, monkeypatch):
    """A project with a notebook's profiles, whose recorded runs have been made."""
    monkeypatch.delenv("AFTERPLY_PROFILE", raising=False)
    for kind in ("quick", "paper"):
        file = place / "data" / "profiles" / kind / f"{NAME}.yaml"
        file.parent.mkdir(parents=True)
        file.write_text(yaml.safe_dump(VALUES if kind == "paper" else VALUES | {"runs": 2}))
    made = declare("paper")  # a name, not a setup: it trains
    made.run()
    made.finish()
    return place


def declare(profile, **arm):
    study = Study("tiny", profile, SMALL | VALUES, workers=1)
    shared = {"game": games.load("tictactoe"), "curve": [Weights()], "final": [Weights(2.0)]}
    for name in ("FARL", "no-FARL"):
        study.arm(name, td, farl="on" if name == "FARL" else "off", **shared | arm)
    return study


def explored(mine):
    return declare(opened(NAME, "recorded", mine))


def all_files(place):
    """Whatever lies in the project, but for the cache."""
    return {
        path: path.read_bytes()
        for path in sorted(place.rglob("*"))
        if path.is_file() and "cache" not in path.parts and not path.name.endswith(".lock")
    }


def test_recorded_shows_the_records_and_trains_nothing(place):
    kept = Records(record_file(place))
    kept.sources = {"td 1 of a game": "other sources"}  # golden runs stand for these, too
    kept.tidy()
    before = all_files(place)
    study = explored({})
    rows = select(study.table(), measure="mass", run=0, arm="FARL")
    assert rows.episode.tolist() == [150, 300, 400]
    assert not study.own and LIKE not in study.table() and not study.computes
    study.finish()
    assert all_files(place) == before


@pytest.mark.slow
def test_an_own_arm_is_drawn_beside_the_recorded_ones_and_nothing_else_moves(
    place, capsys, monkeypatch
):
    before = all_files(place)
    study = explored({"lambda_": 0.5})
    (own,) = study.own
    assert own.name == "mine: lambda_=0.5" and own.like == "FARL" and len(own.runs) == 3
    said = capsys.readouterr().out
    of = "mine: lambda_=0.5 less the recorded tiny / FARL (3 and 3 runs, 95% intervals):"
    assert said.count(of) == 1
    assert re.search(r"mass: after 400 games [+-]", said) and "mean of 3 checkpoints" in said
    rows, other = study.table(), Study("other", study.setup, SMALL | VALUES)
    for cell, times in ((0, 0), (1, 1)):  # in the cell that said it, and in a later one
        monkeypatch.setattr(sys.modules[Study.__module__], "cell", lambda cell=cell: cell)
        other.show(None, rows, "A figure of two studies.")
        assert capsys.readouterr().out.count(of) == times
    other.show(None, rows[rows.arm != own.name], "A figure without it.")
    assert of not in capsys.readouterr().out
    mine = rows[rows[LIKE] == "FARL"]
    assert set(mine.arm) == {own.name} and set(mine.run) == {0, 1, 2}
    assert set(mine.episode) == {150, 300, 400}
    recorded = rows[rows[LIKE] == ""]
    assert recorded.drop(columns=LIKE).equals(explored({}).table())
    made = {path for path in all_files(place) if path not in before}
    assert {path.relative_to(place).as_posix() for path in made} == {"data/mine/tiny.jsonl"}
    assert {path: text for path, text in all_files(place).items() if path in before} == before
    again = explored({"lambda_": 0.5})  # from its records, not trained again
    assert all(not run.due for run in again._own or explore.own_arms(again)[0].runs)
    assert again.table().equals(rows)


def test_what_two_minutes_do_not_reach_goes_on_with_the_next_run_of_the_cells(
    place, monkeypatch, capsys
):
    whole = explored({"lambda_": 0.5, "name": "whole"})
    whole.table()
    limits = iter([Limit(0.0), Limit()])
    monkeypatch.setattr(explore, "_limit", lambda *_: next(limits))
    first = explored({"lambda_": 0.5, "runs": 2})
    assert first.table().query("like == 'FARL'").empty, "it has come to no checkpoint"
    said = capsys.readouterr().out
    assert "mine: lambda_=0.5 is not drawn yet: FARL was first measured after 150 games" in said
    assert "and it is at 1. Run the cells again, and it goes on" in said
    assert all(run.job.key not in run.records for run in first.own[0].runs)
    second = explored({"lambda_": 0.5, "runs": 2})
    assert set(second.table().query("like == 'FARL'").episode) == {150, 300, 400}


def test_a_run_goes_on_to_its_first_point_but_not_for_ever(place, monkeypatch):
    """A busy machine would otherwise train for two minutes and draw nothing."""
    monkeypatch.setattr(explore, "MINUTES", 1e-6)
    (own,) = explored({"lambda_": 0.5, "runs": 2}).own
    at = [explore._episode(run.job) for run in own.runs]
    assert min(at) >= 150, "the recorded arm was first measured there"
    (own,) = explored({"lambda_": 0.5, "runs": 2, "minutes": 0.01}).own
    assert explore._limit(explored({}), own, 1) == Limit(0.3), "who says a time means it"
    limit = Limit(2.0, first=150, until_first=5.0)
    assert not limit.is_over(4.0, 149) and limit.is_over(4.0, 150) and limit.is_over(5.0, 149)


def test_only_checkpoints_that_all_own_runs_have_are_shown(place):
    study = explored({"lambda_": 0.5, "runs": 2})
    (own,) = study.own
    short = own.runs[1]
    points = next(iter(explore._points(short)))
    for key in list(short.records):
        record = short.records[key]
        if "values" in record:
            kept = {"episode": record["episode"][:1], "values": [v[:1] for v in record["values"]]}
            short.records[key] = record | kept
    assert len(points["episode"]) == 3
    shown = explore.table_of(study, own)
    assert set(shown.episode) == {150, 400}, "400 is where all were evaluated at the end"


@pytest.mark.parametrize(
    "mine, message",
    [
        ({"lamda": 0.5}, r"no parameter 'lamda': did you mean 'lambda_'\? Here it is 0.0"),
        ({"teacher": "x"}, "no parameter 'teacher': you can set .*alpha"),
        ({"tc": "non"}, "tc='non' must be one of"),
        ({"alpha": -1.0}, "alpha=-1.0 must be"),
        ({"farl": "on"}, "mine changes nothing: FARL has farl='on' already"),
        ({"like": "no-farl"}, "no arm 'no-farl': like is one of FARL, no-FARL"),
        ({"alpha": 0.5, "runs": 0}, "runs must be a whole number"),
        ({"alpha": 0.5, "minutes": "two"}, "minutes must be a number"),
        ({"alpha": 0.5, "minutes": 0}, "minutes must be a number"),
        ({"alpha": 0.5, "study": "big"}, "no study 'big': study is one of tiny"),
        ({"alpha": 0.5, "game": 3}, "game=3 must be settings"),
        ({"alpha": 0.5, "name": "FARL"}, "'FARL' is an arm of the study: choose another name"),
        ("half", "nothing was kept as 'half'; there is none yet"),
    ],
)
def test_a_slip_is_told_with_its_remedy(place, mine, message):
    with pytest.raises(ValueError, match=message):
        explored(mine).table()
    assert not (place / "data" / "mine").exists()


@pytest.mark.slow
def test_what_is_kept_under_a_name_is_shown_by_it(place):
    change = {"like": "no-FARL", "lambda_": 0.5, "name": "half"}
    made = explored(change).table()
    again = explored("half")
    assert not any(run.due for run in explore.own_arms(again)[0].runs)
    assert again.table().equals(made) and set(made.query("like == 'no-FARL'").arm) == {"half"}
    both = explored(["half", {"alpha": 0.3, "runs": 1}]).table()
    assert {"half", "mine: alpha=0.3"} <= set(both.arm)


@pytest.mark.parametrize(
    "given, changes",
    [
        (None, []),
        ({}, []),
        ({"a": 1}, [{"a": 1}]),
        ("{a: 1}", [{"a": 1}]),  # as papermill -p gives it
        ("[{a: 1}, half]", [{"a": 1}, "half"]),
        ("half", ["half"]),
    ],
)
def test_changes_are_told_in_several_ways(given, changes):
    assert changes_of(given) == changes


def test_a_profile_has_a_purpose_and_is_refused_for_others(place, monkeypatch):
    assert opened(NAME).profile == "recorded" and opened(NAME).runs == 3
    assert opened(NAME, "quick").runs == 2
    for profile, mine, message in (
        ("paper", {}, "only 'make reproduce' runs the profile 'paper'"),
        ("quick", {"alpha": 0.5}, "does not go with profile='quick'"),
        ("papre", {}, "must be one of recorded, quick, paper"),
        ("recorded", [3], "must be like"),
    ):
        with pytest.raises(ValueError, match=message):
            opened(NAME, profile, mine)
    monkeypatch.setenv("AFTERPLY_PROFILE", "quick")
    assert opened(NAME).profile == "quick" and opened(NAME, mine={"tc": "id"}).profile == "recorded"
    monkeypatch.setenv("AFTERPLY_PROFILE", "paper")
    with pytest.raises(ValueError, match="AFTERPLY_PROFILE='paper' must be 'quick'"):
        opened(NAME)


# ------------------------------------------------- nothing foreign under the name of the paper


def published(monkeypatch, place, **arm):
    """Declare as a command does, with the digest that is stated of the right declaration."""
    monkeypatch.setenv("AFTERPLY_BATCH", NAME)
    file = place / "data" / "profiles" / "paper" / f"{NAME}.yaml"
    right = declare(opened(NAME, "paper")).declared()
    file.write_text(yaml.safe_dump(VALUES | {"keys": {"tiny": right}}))
    return declare(opened(NAME, "paper"), **arm)


def test_the_profile_paper_declares_what_its_file_states(place, monkeypatch):
    before = record_file(place).read_bytes()
    study = published(monkeypatch, place)
    assert len(study.table()) and set(study.runs().provenance) == {"recorded"}
    for foreign in (
        {"alpha": 0.3},
        {"runs": 2},
        {"episodes": 100},
        {"eval_every": 50},
        {"curve": [Weights(3.0)]},
        {"final": []},
        {"game": games.load("nim")},
        {"tuples": TUPLES[:1]},
        {"seeded_as": "other"},
    ):
        study = published(monkeypatch, place, **foreign)
        for ask in (study.table, study.runs, study.finish):
            with pytest.raises(ValueError, match="study 'tiny' does not declare what"):
                ask()
    more = published(monkeypatch, place)
    more.arm("further", td, game=games.load("tictactoe"), runs=1)
    with pytest.raises(ValueError, match="nothing is read or written"):
        more.table()
    assert record_file(place).read_bytes() == before


def test_an_edited_cell_is_told_what_it_changes(place, monkeypatch):
    with pytest.raises(ValueError, match=r"FARL: no records with alpha=0.3"):
        published(monkeypatch, place, alpha=0.3).table()
    monkeypatch.delenv("AFTERPLY_BATCH")
    study = declare(opened(NAME), alpha=0.3)
    assert study.table().empty and "FARL: no records with alpha=0.3: undo" in study.unfinished()


def test_what_the_digest_says_does_not_depend_on_engines(place, monkeypatch):
    monkeypatch.setenv("AFTERPLY_HIDE", "all")
    hidden = declare("paper").declared()
    monkeypatch.delenv("AFTERPLY_HIDE")
    assert declare("paper").declared() == hidden
    assert os.environ.get("AFTERPLY_BATCH", "") == ""
