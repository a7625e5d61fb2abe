"""What was found of a state of the sources: kept, published, asked anew after an edit."""

import json
import shutil

import pytest

from afterstate.commands import reproduce
from afterstate.evaluators.costs import Size
from afterstate.learners import td
from afterstate.studies import confirmations, golden, runs
from afterstate.studies.identity import of_package
from small_studies import Weights, make, planned, provenances
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
    def again():
        monkeypatch.setattr(runs, "_probes", {})
        return provenances(make(curve=(), final=(Size(),)))

    assert again() == {"trained here"}
    edit_sources(monkeypatch)
    with confirmations.collecting() as answers:
        assert again() == {"recorded"}
    assert len(answers) == 3  # golden run, playthroughs, evaluator
    confirmations.publish(place / "data", answers)
    shutil.rmtree(place / "data" / "cache" / "confirmed")
    with monkeypatch.context() as nothing:
        nothing.setattr(runs, "_trained", None)
        nothing.setattr(golden, "repeat", None)
        nothing.setattr(golden, "play_through", None)
        assert again() == {"recorded"}
    assert runs._probes == {}
    # an edited answer lets no record pass that says something else ...
    wrong = {key: {"bytes": 0.0} if isinstance(a, dict) else a for key, a in answers.items()}
    assert wrong != answers
    confirmations.publish(place / "data", wrong)
    assert "trained here" in again()
    assert "says something else" in capsys.readouterr().err
    # ... and is not published again: while answers are collected, they are found anew
    with confirmations.collecting() as found:
        assert again() == {"recorded"} and found == answers


def test_files_of_data_that_a_question_names_belong_to_it(place):
    question = {"parameters": {"tuples": "some-list"}, "by": {"settings": ["models/a.npz"]}}
    assert asked(place, question) == ([1], 1) and asked(place, question) == ([1], 0)
    (place / "data" / "models").mkdir()
    (place / "data" / "models" / "a.npz").write_bytes(b"weights")
    assert asked(place, question) == ([1], 1) and asked(place, question) == ([1], 0)
    lists = place / "data" / "ntuples.yaml"
    lists.write_text(lists.read_text() + "\n# another list\n")
    assert asked(place, question) == ([1], 1)
    assert asked(place, question, keep=lambda: False) == ([1], 0)


def test_what_may_not_be_kept_is_asked_each_time(place):
    with confirmations.collecting() as answers:
        assert [asked(place, keep=lambda: False) for _ in range(2)] == [([1], 1)] * 2
    assert answers == {}


def test_code_from_elsewhere_is_asked_each_time():
    """Its version may have been forgotten, and its files are not among the sources."""
    assert of_package(Size()) and not of_package(Weights())


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


@pytest.mark.slow
def test_the_command_publishes_all_or_nothing(place, monkeypatch, capsys):
    make(curve=(), final=(Size(),))
    edit_sources(monkeypatch)
    notes = []
    monkeypatch.setattr(
        reproduce, "collect", lambda *_: (planned(curve=(), final=(Size(),)), notes)
    )
    file = place / "data" / "confirmed.json"
    assert reproduce.main(["confirm"]) == 0 and len(json.loads(file.read_text())) == 3
    file.unlink()
    notes.append("a notebook that could not be planned")
    assert reproduce.main(["confirm"]) == 1 and not file.exists()
    notes.clear()
    monkeypatch.setattr(runs, "_probes", {})
    monkeypatch.setattr(Size, "__call__", lambda self, game, agent, seed=0: {"num_weights": 1.0})
    shutil.rmtree(place / "data" / "cache" / "confirmed")
    assert reproduce.main(["confirm"]) == 1 and not file.exists()
    said = capsys.readouterr().out
    assert "3 records refused" in said and "Nothing is published" in said
