"""What was found of a state of the sources: kept, published, asked anew after an edit."""

import json
import shutil

import pytest

from afterstate.learners import td
from afterstate.studies import confirmations, golden, runs
from small_studies import make, provenances
from studies.test_doubt import edit_sources


def asked(place, question=None, answer=(1,), **options):
    calls = []
    found = confirmations.once(
        place / "data",
        question or {"of": "a test"},
        lambda: calls.append(1) or list(answer),
        **options,
    )
    return found, len(calls)


def test_an_answer_is_found_once_for_each_question(place):
    assert asked(place, compute=False) == (None, 0)
    assert asked(place) == ([1], 1)
    assert asked(place) == ([1], 0) == asked(place, compute=False)
    assert asked(place, {"of": "another test"}, answer=()) == ([], 1)
    for path in (place / "data" / "cache" / "confirmed").glob("*.json"):
        path.write_text("")  # a machine that lost its power
    assert asked(place) == ([1], 1)


def test_other_libraries_ask_anew(place, monkeypatch):
    asked(place)
    monkeypatch.setattr(confirmations, "LIBRARIES", {"numba": "0.0"})
    assert asked(place) == ([1], 1)


def test_published_answers_save_the_work(place):
    with confirmations.collecting() as answers:
        asked(place)
        asked(place, {"of": "another test"}, answer=[{"win_rate": 0.5}])
    assert len(answers) == 2
    confirmations.publish(place / "data", answers)
    shutil.rmtree(place / "data" / "cache" / "confirmed")
    assert asked(place) == ([1], 0)
    assert asked(place, {"of": "another test"}) == ([{"win_rate": 0.5}], 0)
    assert asked(place, {"of": "a third"}) == ([1], 1)


@pytest.mark.parametrize("text", ["{", "[]", '{"0123456789abcdef": 3}'])
def test_a_damaged_file_of_published_answers_is_named(place, text):
    (place / "data" / "confirmed.json").write_text(text)
    with pytest.raises(ValueError, match=r"confirmed\.json.*git checkout"):
        asked(place)


@pytest.mark.slow
def test_doubted_records_are_used_by_published_answers_alone(place, monkeypatch, capsys):
    make(curve=())
    edit_sources(monkeypatch)
    monkeypatch.setattr(runs, "_probes", {})
    with confirmations.collecting() as answers:
        assert provenances(make(curve=())) == {"recorded"}
    confirmations.publish(place / "data", answers)
    shutil.rmtree(place / "data" / "cache" / "confirmed")
    monkeypatch.setattr(runs, "_probes", {})
    with monkeypatch.context() as nothing:
        nothing.setattr(runs, "train", None)
        nothing.setattr(golden, "repeat", None)
        nothing.setattr(golden, "play_through", None)
        assert provenances(make(curve=())) == {"recorded"}
    assert runs._probes == {}
    # an edited answer lets no record pass that says something else
    wrong = {key: {"mass": 0.0} if isinstance(a, dict) else a for key, a in answers.items()}
    assert wrong != answers
    confirmations.publish(place / "data", wrong)
    assert "trained here" in provenances(make(curve=()))
    assert "says something else" in capsys.readouterr().err


def test_new_records_ask_for_the_golden_runs_on_this_kind_of_processor(place, monkeypatch):
    calls = []
    whole = golden.repeat
    monkeypatch.setattr(golden, "repeat", lambda *a: calls.append(a) or whole(*a))
    with confirmations.collecting() as answers:
        assert golden.check(td, place / "data")[0] == golden.PASSED
    confirmations.publish(place / "data", answers)
    shutil.rmtree(place / "data" / "cache" / "confirmed")
    assert golden.check(td, place / "data")[0] == golden.PASSED and len(calls) == 1
    assert golden.check(td, place / "data", here=True)[0] == golden.PASSED and len(calls) == 2
    kept = json.loads((place / "data" / "confirmed.json").read_text())
    assert list(kept.values()) == [[]]


def test_what_is_never_recorded_is_not_probed(place, monkeypatch):
    monkeypatch.setattr(runs, "_probes", {})
    made = make(profile="quick")
    assert provenances(made) == {"trained here"} and runs._probes == {}
    assert provenances(make()) == {"trained here"} and len(runs._probes) == 1
    assert made.table().drop(columns="study").equals(make().table().drop(columns="study"))
