"""Keys of runs, and records: used, repeated, torn, damaged, doubted after an edit."""

import json
import subprocess
from types import SimpleNamespace

import numba
import numpy as np
import pandas as pd
import pytest

from afterply import games
from afterply.commands import reproduce
from afterply.files import read_json
from afterply.identity import identity
from afterply.learners import tabular, td
from afterply.opponents import optional
from afterply.studies import golden, records, runs
from afterply.studies.study import Study
from small_studies import (
    SMALL,
    Needy,
    Weights,
    declare,
    make,
    provenances,
    record_file,
    record_lines,
    sorted_table,
    with_other_weights,
    write_json,
)


def test_key_is_stable(monkeypatch):
    """These literals may change only together with every committed record."""
    assert (
        records.key_of({"b": [1, 2.5, None, True], "a": {"x": "é", "y": 1e-4}})
        == "84d5b2ea0b35479a"
    )
    learner = SimpleNamespace(NAME="stub", VERSION=1, PARAMETERS={}, Session=None)
    game = SimpleNamespace(identity={"name": "g", "params": {}, "version": 1})
    monkeypatch.setattr(runs, "identity", lambda _: {"name": "stub", "version": 1})
    monkeypatch.setattr(records, "package_file", lambda _: "stub.py")
    monkeypatch.setitem(records.frozen()["defaults"], "stub 1", {"alpha": 0.5, "beta": 1})
    what = (0, game, learner, {"alpha": 0.25, "beta": 1}, 10, 5, (), (), None)
    assert runs.Job("s", "another label", "arm", *what).key == "4dbda4a0026a19b1"


def test_key_does_not_depend_on_how_a_number_is_written():
    a = records.learner_parameters(td, {"alpha": [1, 0.5], "epsilon": 0}, 100)
    b = records.learner_parameters(td, {"epsilon": np.float64(0.0), "alpha": (1.0, 0.5)}, 100)
    assert records.key_of(a) == records.key_of(b) and a["episodes"] == 100
    assert records.canonical({"a": (np.int32(1), range(2))}) == {"a": [1, [0, 1]]}
    for value in (float("nan"), object(), [float("inf")], {3}):
        with pytest.raises((TypeError, ValueError)):
            records.canonical(value)


def test_a_constant_rate_of_exploration_stands_in_keys_as_before_it_could_fall():
    def in_key(**given):
        full = records.learner_parameters(tabular, given, 100)
        return records.parameters_in_key(tabular, full)

    assert in_key() == in_key(epsilon=0.3) == {}
    assert in_key(epsilon=0.1) == {"epsilon": 0.1}
    falling = {"epsilon": [1.0, 0.0], "epsilon_games": 20_000}
    assert in_key(epsilon=(1, 0), epsilon_games=20_000) == falling


@pytest.mark.slow
def test_records_are_used_and_the_table_is_the_same_also_under_another_label(place):
    first = make(arms=("FARL", "no-FARL"))
    assert provenances(first) == {"trained here"}
    before = record_file(place).read_bytes()
    assert len(before.splitlines()) == 2 * 3 * 3
    second = make(arms=("no-FARL", "FARL"))
    assert provenances(second) == {"recorded"} and record_file(place).read_bytes() == before
    rows = first.table()
    pd.testing.assert_frame_equal(sorted_table(first), sorted_table(second))
    assert list(rows.columns) == ["study", "arm", "run", "episode", "measure", "value"]
    assert sorted(rows.episode.unique()) == [150, 300, 400]
    assert not rows.duplicated(["arm", "run", "episode", "measure"]).any()
    assert first.net("FARL", 1).checksum() == second.net("FARL", 1).checksum()
    shared = {"game": games.load("tictactoe"), "curve": [Weights()], "final": [Weights()]}
    second.arm("another", td, seeded_as="FARL", farl="on", **shared)
    assert provenances(second) == {"recorded"} and "another" in set(second.table().arm)


def test_a_new_parameter_leaves_keys_alone_where_it_is_neutral(place, monkeypatch):
    make()
    monkeypatch.setitem(td.DEFAULTS, "new_parameter", 3)
    monkeypatch.setitem(td.PARAMETERS, "new_parameter", td.PARAMETERS["beta"])
    monkeypatch.setitem(records.frozen()["defaults"]["td 1"], "new_parameter", 3)
    assert provenances(make()) == {"recorded"}


def test_what_a_changed_default_makes_is_kept_and_found_again(place, monkeypatch):
    first = make()
    monkeypatch.setitem(td.DEFAULTS, "gamma", 0.9)
    second = make()
    assert provenances(second) == {"trained here"} and provenances(make()) == {"recorded"}
    assert not sorted_table(first).equals(sorted_table(second))


@pytest.mark.slow
def test_a_corrected_evaluator_never_retrains_unless_weights_are_gone(place, monkeypatch):
    first = make(curve=())
    with monkeypatch.context() as patched:
        patched.setattr(runs, "_trained", None)  # whoever calls it fails
        second = make(curve=(), final=(Weights(2.0),))
    kinds = second.runs().groupby("kind")["provenance"].unique().map(list).to_dict()
    assert kinds == {"train": ["recorded"], "eval": ["trained here"]}
    for path in (place / "data" / "cache").rglob("*.npz"):
        path.unlink()
    third = make(curve=(), final=(Weights(3.0),))
    mass = [made.table().query("measure == 'mass'")["value"] for made in (first, second, third)]
    assert np.array_equal(2.0 * mass[0], mass[1]) and np.allclose(3.0 * mass[0], mass[2])
    assert len(record_lines(place)) == 3 * 4


# ------------------------------------------------------------ the file


def test_a_torn_line_is_dropped_and_made_again_and_a_damaged_one_is_named(place, capsys):
    whole = make()
    lines = record_lines(place)
    for cut in (10, len(lines[-1]) // 2, len(lines[-1]) - 1):
        record_file(place).write_text("\n".join(lines[:-1]) + "\n" + lines[-1][:cut])
        again = make()
        assert "tiny.jsonl: the last line was cut off" in capsys.readouterr().err
        pd.testing.assert_frame_equal(again.table(), whole.table())
        assert provenances(again) == {"recorded", "trained here"}
        assert provenances(make()) == {"recorded"}, "what was appended after the torn line counts"
    for damaged in (b'{"key": "a"', b"[]", b"\xff{}"):
        record_file(place).write_bytes(damaged + b"\n" + lines[0].encode() + b"\n")
        with pytest.raises(ValueError, match=r"tiny.jsonl:1: damaged .*restore it \(git checkout"):
            declare()


def test_finishing_sorts_the_file_and_states_its_sources(place):
    made = make(arms=("FARL", "no-FARL"), curve=())
    made.finish()
    head, *lines = map(json.loads, record_lines(place))
    stated = [records.sources_behind(games.load("tictactoe"), td)]
    assert head["study"] == "tiny" and list(head["sources"].values()) == stated
    assert [r["key"] for r in lines] == sorted(r["key"] for r in lines) and len(lines) == 12
    assert {line[name] for line in lines for name in records.SHARED if name in line} == {
        *head["shared"]
    }
    assert records.read(record_file(place))[1] == made.records.by_key


@pytest.mark.parametrize("episodes", [[10, 20, 30, 40], [0, 10, 30], [5], [1, 7, 8, 9, 10, 8]])
def test_numbers_at_even_steps_are_short_in_the_file(tmp_path, episodes):
    rates = [0.0] * len(episodes) + [0.1, 0.2, 0.3, 0.4, 50.0]
    record = {"key": "a", "rows": [{"measure": "rate"}], "episode": episodes, "values": [rates]}
    records.Records(tmp_path / "tiny.jsonl").add([record])
    assert records.read(tmp_path / "tiny.jsonl") == ({}, {"a": record})
    text = (tmp_path / "tiny.jsonl").read_text()
    assert ("[10,10,4]" in text and "[0,0,4]" in text) == (episodes == [10, 20, 30, 40])
    assert ("[7,1,4]" in text) == (episodes[0] == 1)


def test_no_edited_digit_is_believed(place):
    make().finish()
    text, random = record_file(place).read_text(), np.random.default_rng(3)
    digits = [place for place, letter in enumerate(text) if letter.isdigit()]
    for at in random.choice(digits, 60, replace=False):
        other = str((int(text[at]) + 1) % 10)
        record_file(place).write_text(text[:at] + other + text[at + 1 :])
        with pytest.raises(ValueError, match=r"tiny.jsonl:\d+: damaged"):
            declare()


def test_records_of_several_machines_are_joined(place, tmp_path):
    """Each machine makes a share of the runs, which the order of arms does not change."""
    whole, shares = make(), []
    names = [run.job.key for run in whole.arms["FARL"]]
    for part in ((1, 2), (2, 2)):
        machine = tmp_path / str(part[0]) / "tiny.jsonl"
        kept = records.Records(machine)
        for run in whole.arms["FARL"]:
            if reproduce.is_in(run, part):
                shares.append(run.job.key)
                kept.add(list(run.records.values()))
        kept.sources = dict(whole.records.sources)
        kept.tidy()
    assert sorted(shares) == sorted(names)
    whole.finish()
    before = record_file(place).read_bytes()
    record_file(place).unlink()
    machines = [str(tmp_path / str(number)) for number in (1, 2)]
    assert reproduce.main(["join", *machines]) == 0
    assert record_file(place).read_bytes() == before
    assert reproduce.main(["join", *machines[:1]]) == 0  # a second time changes nothing
    assert record_file(place).read_bytes() == before
    other = next(path for path in tmp_path.glob("?/tiny.jsonl") if records.read(path)[1])
    with_other_weights(other)
    assert reproduce.main(["join", str(other)]) == 2
    assert reproduce.main(["join", str(tmp_path / "none")]) == 2
    assert record_file(place).read_bytes() == before


@pytest.mark.parametrize("text", ["0/3", "4/3", "3", "a/b", "1/0"])
def test_a_share_that_is_none_is_named(monkeypatch, text):
    monkeypatch.setenv("SHARE", text)
    with pytest.raises(ValueError, match=f"SHARE='{text}' must be one of some equal shares"):
        reproduce.share()


def test_records_of_one_key_are_compared_row_by_row():
    rows = [{"measure": "wins", "opponent": name} for name in ("A", "B")]
    one = {"checksum": "c", "rows": rows, "episode": [5], "values": [[1], [2]]}
    assert records.same_results(one, one | {"rows": rows[::-1], "values": [[2.0], [1.0]]})
    for other in (
        {"values": [[2], [1]]},
        {"rows": rows[:1], "values": [[1]]},
        {"episode": [6]},
        {"checksum": "d"},
    ):
        assert not records.same_results(one, one | other)


# ------------------------------------------------------------ golden runs guard


def break_golden(place):
    stated = read_json(place / "data" / "golden.json")
    stated["td"]["runs"][0]["checkpoints"][3][-1] = "0" * 16
    write_json(place / "data" / "golden.json", stated)


def break_playthrough(place):
    path = place / "data" / "playthroughs.json"
    found = golden.play_through(games.load("tictactoe"))
    path.write_text(path.read_text().replace(found, "0" * 16))


@pytest.mark.slow
@pytest.mark.parametrize("spoil, said", [(break_golden, "VERSION"), (break_playthrough, "version")])
def test_changed_numbers_without_a_new_version_are_noticed(place, capsys, spoil, said):
    make(curve=()).finish()
    before = record_file(place).read_bytes()
    spoil(place)  # as if the numbers were others now
    assert provenances(make(curve=())) == {"recorded"}, "the stated sources are these"
    head, *lines = before.decode().splitlines(keepends=True)
    other = records._checked(head.strip().encode()) | {"sources": {"x": "y"}}
    record_file(place).write_text("".join([records._line(other), *lines]))
    for path in (place / "data" / "cache" / "golden").iterdir():
        path.unlink()
    edited = record_file(place).read_bytes()
    assert provenances(make(curve=())) == {"trained here"}
    error = capsys.readouterr().err
    assert f"raise its {said} and make golden" in error and "not used and not written" in error
    assert record_file(place).read_bytes() == edited
    with pytest.raises(ValueError, match="changed but not the version"):
        golden.write({"td": td}, [])


@pytest.mark.parametrize("package", [np, numba], ids=["numpy", "numba"])
def test_golden_runs_are_asked_again_with_another_version(place, monkeypatch, package):
    game = games.load("tictactoe")
    assert golden.changed(td, game) == ""
    break_golden(place)
    assert golden.changed(td, game) == "", "a mark says that they came out as stated"
    monkeypatch.setattr(golden, "provenance", records.provenance.__wrapped__)  # says it anew
    monkeypatch.setattr(package, "__version__", "99.0")
    assert "td version" in golden.changed(td, game)


def test_runs_of_several_games_are_each_checked(place, capsys):
    study = Study("tiny", profile="paper", params=SMALL | {"runs": 1}, workers=1)
    for name in ("nim", "tictactoe"):
        study.arm(name, td, game=games.load(name))
    break_playthrough(place)  # of the second game
    runs = [run for arm in study.arms.values() for run in arm]
    assert not study.check_sources(runs) and len(study.records.sources) == 1  # that of Nim
    assert "the game tictactoe" in capsys.readouterr().err


# ------------------------------------------------------------ what has no version of its own


def make_constant(constant):
    def evaluator(game, net, seed):
        return {"constant": constant}

    return evaluator


class Holder(Weights):
    """An evaluator without version whose state is in its attributes."""

    version = None

    def __init__(self, state):
        self.state = state


def test_attributes_closures_and_defaults_are_in_the_version(place):
    for constant in (1.0, 2.0):
        study = make(final=(make_constant(constant),), curve=())
        assert set(study.table().query("measure == 'constant'")["value"]) == {constant}
    states = [1, 2, np.arange(3), np.arange(4), make_constant(1)]
    states += [games.load("nim", heaps=heaps) for heaps in (2, 3)]
    assert len({identity(Holder(state))["content"] for state in states}) == len(states)
    with pytest.raises(ValueError, match="needs a version"):
        identity(Holder(one for one in []))


def test_what_is_not_here_is_not_measured(place):
    made = make(final=(Weights(), Needy()), params=SMALL | {"runs": 1})
    assert set(made.runs().query("evaluator == 'needy'")["provenance"]) == {"missing"}
    assert "Not recorded: needy (1 run)" in made.unfinished()
    blocked = make(arms=("no-FARL",), curve=(Needy(),))
    assert provenances(blocked) == {"missing"}, "nothing is trained without its curve"
    assert "Not recorded: 3 of 3 runs of no-FARL, needy (3 runs)." in blocked.unfinished()


def test_what_is_recorded_is_said_alike_whatever_programs_are_installed(place, monkeypatch, capsys):
    make(params=SMALL | {"runs": 2})
    monkeypatch.setenv("AFTERPLY_BATCH", "10_some")  # a page, which makes nothing
    said = []
    for why in ("", "it is not installed"):
        monkeypatch.setattr(optional, "lacks", lambda name, why=why: why)
        capsys.readouterr()
        for curve, arms in ((), ("FARL",)), ((Needy(),), ("FARL", "no-FARL")):
            one = declare(curve=curve, arms=arms, final=(Weights(), Needy()))
            one.finish()
            table = one.runs().to_json()
            said.append((why, capsys.readouterr().out, one.caption("How."), table))
    assert [one[1:] for one in said[:2]] == [one[1:] for one in said[2:]]
    assert "3 runs: 1 missing, 2 recorded." in said[0][1] and "needy (3 runs)" in said[0][2]


def test_a_record_names_its_sources_and_no_commit_of_a_repository_around_it(tmp_path, monkeypatch):
    repository = tmp_path / "somebody's"
    package = repository / "venv" / "afterply"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    subprocess.run(["git", "init", "-q", repository], check=True)
    monkeypatch.setattr(records, "PACKAGE", package)
    assert records.provenance.__wrapped__()["commit"] is None
    job = runs.Job("s", "a", "a", 0, games.load("nim"), td, {}, 10, 10, (), (), tmp_path)
    said = job.record("key", None, 0.0)
    assert said["digest"] == records.sources_behind(games.load("nim"), td) != ""
