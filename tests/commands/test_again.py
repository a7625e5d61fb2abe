"""A recorded run made again, a whole arm, and a variant of it with its verdicts."""

import re

import pandas as pd
import pytest

from afterply.commands import reproduce
from afterply.commands.again import _changes
from afterply.opponents import optional
from afterply.studies import question
from afterply.studies.reports.among import among
from small_studies import (
    Needy,
    Weights,
    declare,
    make,
    make_place,
    record_file,
    record_lines,
    with_other_weights,
)

NAMES = ("FARL", "no-FARL", "FARL, as the original software", "A/B", "tutorial's 3")
CLAIMS = """
key: tiny2026
title: A tiny paper
authors: [T. Iny]
year: 2026
url: https://example.org/tiny
claims:
  - {id: tiny2026/table1/a, place: {table: '1', row: r, column: c}, value: 15, unit: percent,
     study: tiny, arm: FARL, metric: mass}
statements:
  - id: heavy
    says: it is heavy
    place: {section: '1'}
    test: bound
    parts:
      - {value: {study: tiny, arm: FARL, metric: mass}, above: 1}
      - {value: {study: tiny, arm: no-FARL, metric: mass}, above: 1}
"""


@pytest.fixture
def place(tmp_path, monkeypatch):
    """An empty place for a small study, which stands for those of the notebooks."""
    make_place(tmp_path, monkeypatch)
    monkeypatch.setattr(question, "find", lambda: [tmp_path])
    monkeypatch.setattr(question, "collect", lambda paths: ([declare(arms=NAMES)], []))
    return tmp_path


def cached(place):
    return sorted((file.name, file.stat().st_mtime_ns) for file in place.rglob("*.npz"))


@pytest.mark.parametrize(
    "text, arm, number",
    [
        ("tiny/FARL/2", "FARL", 2),
        ("tiny / FARL / run 2", "FARL", 2),  # as `repeat` says what differs
        ("tiny/FARL", "FARL", None),
        ("tiny/FARL, as the original software/0", "FARL, as the original software", 0),
        ("tiny/A/B", "A/B", None),
        ("tiny/A/B/1", "A/B", 1),
        ("tiny/tutorial's 3/1", "tutorial's 3", 1),
    ],
)
def test_names_of_runs_and_arms(place, text, arm, number):
    study, *found = question.named(text)
    assert (study.name, *found) == ("tiny", arm, number)


@pytest.mark.parametrize(
    "words, message",
    [
        ([""], "say which run or arm: make again RUN="),
        (["tiny"], "is not of the form STUDY/ARM"),
        (["tinny/FARL/0"], "there is no study 'tinny': did you mean 'tiny'"),
        (["tiny/farl/0"], "has no arm 'farl': did you mean 'FARL' or 'no-FARL'"),
        (["tiny/xyz"], "has no arm 'xyz': there are FARL, no-FARL"),
        (["tiny/FARL/3"], "no run '3': its runs are 0 to 2"),
        (["tiny/FARL/one"], "no run 'one': its runs are 0 to 2"),
        (["tiny/FARL/0"], "is not recorded"),
        (["tiny/FARL", "--switch", "alpa=0.5"], "did you mean 'alpha'"),
        (["tiny/FARL", "--switch", "alpha"], "not of the form NAME=VALUE"),
        (["tiny/FARL", "--switch", "alpha=much"], "alpha='much' must be a number"),
        (["tiny/FARL", "--switch", "alpha=1"], "has alpha=1 already"),
        (["tiny/FARL", "--switch", "farl=on"], "has farl=on already"),
        (["tiny/FARL", "--switch", "alpha=0.5", "--runs", "few"], "RUNS='few' must be a whole"),
    ],
)
def test_what_is_not_there_is_refused_with_what_is_near(place, capsys, words, message):
    assert reproduce.main(["again", *words]) == 2
    assert message in capsys.readouterr().err and not record_lines(place)


def test_switches_are_read_as_the_learner_declares_them(place):
    text = "alpha=0.5, epsilon=[0.1, 0.0],farl=off, distinct_symmetries=False , tc=id"
    assert _changes("tiny/FARL", text) == {
        **{"alpha": 0.5, "epsilon": [0.1, 0.0], "farl": "off"},
        **{"distinct_symmetries": False, "tc": "id"},
    }


@pytest.mark.slow
def test_a_run_that_comes_out_leaves_records_and_cache_as_they_are(place, capsys):
    make()
    before, nets = record_file(place).read_bytes(), cached(place / "data")
    assert reproduce.main(["again", "tiny/FARL/1"]) == 0
    said = capsys.readouterr().out
    assert "weights: as recorded" in said and "weights, curve: as recorded (3 points)" in said
    assert "IDENTICAL: " in said and "of CPU time when recorded" in said
    assert record_file(place).read_bytes() == before and cached(place / "data") == nets
    assert (place / "reports" / "mine" / "again-tiny-FARL-1.svg").exists()
    found = question.again("tiny/FARL", declare())
    assert "3 identical" in found.text and not found.differs and "<svg" in found._repr_html_()
    assert set(found.data["kind"]) == {"recorded", "made again"}


@pytest.mark.slow
def test_what_differs_is_named_with_its_first_checkpoint(place, capsys):
    study = make()
    records = study.records.by_key.values()
    (curve,) = [one for one in records if (one["kind"], one["run"]) == ("curve", 1)]
    mass = curve["rows"].index({"measure": "mass"})
    for point in (1, 2):  # of those after 150, 300 and 400 episodes
        curve["values"][mass][point] += 1.0
    study.records.tidy()
    capsys.readouterr()
    assert reproduce.main(["again", "tiny/FARL"]) == 1
    said = capsys.readouterr().out
    assert re.search(r"run 1: .*DIFFERS, first after 300 episodes: mass is \S+, recorded", said)
    assert "2 of 3 checkpoints differ" in said and "run 0: as recorded" in said
    assert "DIFFERS: tiny/FARL/1 (2 identical)" in said

    with_other_weights(record_file(place))
    assert reproduce.main(["again", "tiny/FARL/0"]) == 1
    said = capsys.readouterr().out
    assert "weights: DIFFERS, it ended with" in said and "recorded is the checksum 0000" in said


@pytest.mark.parametrize(
    "old, new, words",
    [
        ({"values": [[1.0, 2.0]]}, {"values": [[1.0, 2.5]]}, "first after 20 episodes: m is 2.5"),
        ({"values": [[1.0, 2.0]]}, {"values": [[1.0]], "episode": [10]}, "m is None, recorded 2.0"),
        ({"values": [[1.0]], "episode": [10]}, {"values": [[1.0, 2.0]]}, "recorded None"),
        ({"values": [[1.0, 2.0]]}, {"rows": [{"measure": "k"}]}, "first after 10 episodes"),
        (
            {"values": [[1.0, 2.0]]},
            {"values": [[1.0, 2.0]], "checksum": "b"},
            "ended with the checksum b",
        ),
    ],
)
def test_first_difference(old, new, words):
    one = {"kind": "curve", "rows": [{"measure": "m"}], "episode": [10, 20], "checksum": "a"}
    full = {"values": [[1.0, 2.0]]}
    assert words in question.first_difference(one | full | old, one | full | new)


@pytest.mark.parametrize(
    "made, differs, words",
    [
        ({"diverged": "after game 7"}, False, "weights: as recorded (after game 7)"),
        ({"diverged": "after game 8"}, True, "ended with after game 8, recorded is after game 7"),
        ({"checksum": "b"}, True, "ended with the checksum b, recorded is after game 7"),
    ],
)
def test_a_run_that_diverged_must_do_so_again_at_the_same_game(place, made, differs, words):
    run = declare().arms["FARL"][0]
    one = {"key": run.job.key, "kind": "train", "checksum": None}
    run.records[run.job.key] = one | {"diverged": "after game 7"}
    same, wrong = question.differences(run, {run.job.key: one | made})
    assert bool(wrong) == differs and words in (wrong or same)[0] and len(same + wrong) == 1


@pytest.mark.slow
def test_what_cannot_be_measured_here_is_said_and_the_rest_compared(place, monkeypatch):
    needy = [(Weights(), Needy()), (Weights(),)]  # in the curve, where it would stop the run
    for curve, final in (needy, needy[::-1]):
        with monkeypatch.context() as there:
            there.setattr(optional, "lacks", lambda name: "")
            make(curve=curve, final=final)
        found = question.again("tiny/FARL/0", declare(curve=curve, final=final))
        assert re.search(r"needy, \w+: not measured here, Edax", found.text)
        assert "IDENTICAL" in found.text and found.text.count("as recorded") == 3


@pytest.mark.slow
def test_a_variant_has_seeds_of_its_own_and_leaves_no_record(place, capsys):
    make(arms=("FARL", "no-FARL"))
    before, nets = record_file(place).read_bytes(), cached(place / "data")
    words = ["again", "tiny/FARL/1", "--switch", "alpha=0.5, lambda_=0.3", "--runs", "2"]
    assert reproduce.main(words) == 0
    said = capsys.readouterr().out
    assert "2 runs with fresh seeds, about" in said and "none is recorded" in said
    assert "No published value and no statement rests on tiny/FARL." in said
    assert record_file(place).read_bytes() == before and cached(place / "data") == nets
    assert len(list((place / "reports" / "mine").glob("again-tiny-FARL-1-alpha*.svg"))) == 1
    one, two, other = (
        question.variant("tiny/FARL", declare(), runs=2, alpha=alpha) for alpha in (0.5, 0.5, 0.4)
    )
    assert one.text == two.text != other.text
    assert "mass" in one._repr_html_()


@pytest.mark.slow
def test_a_variant_sets_the_verdicts_of_its_arm_beside_the_recorded_ones(place):
    (place / "data" / "papers" / "tiny2026.yaml").write_text(CLAIMS)
    study = make(arms=("FARL", "no-FARL"))
    found = question.variant("tiny/FARL", study, alpha=0.0001)
    value, statement = found.table.to_dict("records")
    assert value["printed"] == "15" and value["recorded"].endswith("(3 runs)")
    assert (value["verdict"], value["new verdict"]) == ("inconclusive", "not reproduced")
    # three runs are too few to show that a mean lies above 1
    assert (statement["verdict"], statement["new verdict"]) == ("undecided", "does not hold")
    assert "alpha=0.0001: does not hold: " in found.text and "2 of 2 verdicts differ." in found.text
    both = question.variant("tiny/no-FARL", study, alpha=0.0001, runs=2).table
    assert both["verdict"].tolist() == ["undecided"]  # rests on this arm as well


@pytest.mark.parametrize("one_point", [True, False])
def test_runs_of_one_point_stand_side_by_side(one_point):
    episodes = [9] if one_point else [9, 18]
    rows = [(run, episode, float(run)) for run in range(4) for episode in episodes]
    table = pd.DataFrame(rows, columns=["run", "episode", "value"])
    figure, data = among(table, table[table.run == 2], {2}, "m")
    assert data.groupby("kind").run.nunique().to_dict() == {
        **{"recorded": 4, "made again": 1, "as recorded": 1}
    }
    (axes,) = figure.axes
    assert axes.get_xlabel() == ("run" if one_point else "training episodes")
    assert len(axes.lines) == (3 if one_point else 6)
