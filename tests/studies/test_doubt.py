"""Records of edited sources: what makes them doubtful, and what clears or refuses them."""

import json
import shutil
import subprocess
import sys

import pytest

from afterstate import games
from afterstate.evaluators.snapshots import Tournament
from afterstate.files import data_directory
from afterstate.games.rules import tictactoe
from afterstate.kernel import source
from afterstate.kernel.source import PACKAGE
from afterstate.learners import tabular, td
from afterstate.studies import golden, identity, jobs, runs
from afterstate.studies.identity import evaluator_identity, numeric_sources, source_version
from small_studies import Weights, golden_run, make, provenances, record_files


def edit_sources(monkeypatch):
    """As if a file behind the numbers had been saved again."""
    for module in (jobs, runs):
        monkeypatch.setattr(module, "numeric_sources", lambda *_: "edited")


@pytest.mark.slow
def test_records_of_edited_sources_need_the_golden_run(place, monkeypatch, capsys):
    made = make()
    edit_sources(monkeypatch)
    # the golden run came out as stated: an edit that changed no number
    assert provenances(make()) == {"recorded"}
    path = place / "data" / "golden.json"
    stated = json.loads(path.read_text())
    stated["td"]["runs"][0]["checksum"] = "0" * 16
    path.write_text(json.dumps(stated))
    before = record_files(place)
    again = make()
    assert provenances(again) == {"trained here"} and record_files(place) == before
    said = capsys.readouterr().err
    assert (
        "came out different" in said
        and "raise VERSION" in said
        and said.count("came out different") == 1
    )
    path.unlink()
    assert provenances(make()) == {"trained here"} and "does not have the golden runs" in (
        capsys.readouterr().err
    )
    monkeypatch.undo()
    assert made.arms["FARL"][0].job.sources != "edited"


@pytest.mark.slow
def test_records_of_an_edited_evaluator_are_refused(place, monkeypatch, capsys):
    make(curve=())
    before = {p: p.read_bytes() for p in (place / "data" / "records").rglob("*.json")}
    edit_sources(monkeypatch)
    monkeypatch.setattr(runs, "_probes", {})
    assert provenances(make(curve=())) == {"recorded"}
    monkeypatch.setattr(runs, "_probes", {})
    monkeypatch.setattr(
        Weights, "__call__", lambda self, game, net, seed: {"mass": -1.0, "seed": 0.0}
    )
    made = make(curve=())
    assert made.runs().groupby("kind")["provenance"].unique().map(list).to_dict() == {
        "train": ["recorded"],
        "eval": ["trained here"],
    }
    assert "evaluator weights says something else" in capsys.readouterr().err
    assert {p: p.read_bytes() for p in before} == before


def test_golden_is_not_overwritten_without_a_new_version(place, monkeypatch):
    path = place / "data" / "golden.json"
    stated = json.loads(path.read_text())
    stated["td"]["runs"][0]["checksum"] = "0" * 16
    path.write_text(json.dumps(stated))
    with pytest.raises(ValueError, match="VERSION is still"):
        golden.write(td, place / "data")
    monkeypatch.setattr(td, "VERSION", td.VERSION + 1)
    assert golden.write(td, place / "data")["runs"][0]["checksum"] == golden_run()["checksum"]
    assert golden.check(td, place / "data")[0] == golden.PASSED


# ----------------------------------------------------------------------------------- rules of games


@pytest.mark.slow
def test_changed_rules_without_a_new_version_are_noticed(place, monkeypatch, capsys):
    make(curve=())
    before = record_files(place)
    edit_sources(monkeypatch)
    assert provenances(make(curve=())) == {"recorded"}
    path = place / "data" / "playthroughs.json"
    # what the rules said when the records were made, for rules that say something else today
    path.write_text(
        path.read_text().replace(golden.play_through(games.load("tictactoe")), "0" * 16)
    )
    assert provenances(make(curve=())) == {"trained here"} and record_files(place) == before
    said = capsys.readouterr().err
    assert said.count("playthroughs of tictactoe") == 1 and "its rules changed" in said
    with pytest.raises(ValueError, match="playthroughs of tictactoe changed but its version"):
        golden.write_games([], place / "data")
    path.unlink()
    assert provenances(make(curve=())) == {"trained here"}
    assert "does not have the playthroughs of tictactoe" in capsys.readouterr().err


@pytest.mark.parametrize("rule", ["legal", "play", "over", "score", "board", "player"])
def test_a_playthrough_sees_every_rule(rule):
    game = games.load("nim", heaps=2, stones=2)
    rules = {name: game.rule(name) for name in ("start", "legal", "play", "player", "over")}
    rules |= {name: game.rule(name) for name in ("score", "board")}
    whole = {"legal": no_second, "play": pass_on, "over": early, "score": half, "board": ones}
    changed = (whole | {"player": first_only})[rule]
    made = [
        games.Game(
            "mine",
            players=game.players,
            actions=game.actions,
            max_legal=game.max_legal,
            size=game.size,
            num_codes=game.num_codes,
            **chosen,
        )
        for chosen in (rules, rules | {rule: changed})
    ]
    assert golden.play_through(made[0]) != golden.play_through(made[1])


def no_second(s, moves):
    moves[0] = 0 if s[0] > 0 else 2  # one stone of the first heap that has any
    return 1


def pass_on(s, action):
    s[0] = s[1] = 0


def early(s):
    return s[0] == 0


def half(s, r):
    r[0], r[1] = 0.5, 0.5


def ones(s, codes):
    codes[0] = codes[1] = 1


def first_only(s):
    return 0


@pytest.mark.slow
def test_the_stored_playthroughs_come_out_as_stated():
    stored = json.loads((data_directory() / "playthroughs.json").read_text())
    for entry in stored.values():
        if entry["game"]["name"] in ("tictactoe", "nim", "kalah"):
            (game,) = golden.current([entry["game"]])
            assert golden.play_through(game) == entry["checksum"], entry["game"]


# ------------------------------------------------------------------------------ closures of sources


def morris_closure():
    things = [tabular, games.load("morris").rule("play"), Tournament]
    files = {identity.source_file(thing).relative_to(PACKAGE).as_posix() for thing in things}
    return sorted(set().union(*map(source.import_closure, files)))


@pytest.mark.slow
def test_an_edit_of_any_file_behind_a_record_makes_it_doubtful(tmp_path, monkeypatch):
    """Each file of the closure is edited in a copy of the package, whose sources are read anew."""
    copy = tmp_path / "afterstate"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    game, evaluator, closure = games.load("morris"), Tournament(n=10, games=2), morris_closure()
    assert {"games/rules/_morris_board.py", "learners/tabular.py", "evaluators/snapshots.py"} <= {
        *closure
    }
    assert "search/min_max.py" in closure and "reports/figures.py" not in closure
    sources = {name: (copy / name).read_bytes() for name in source.SOURCES}
    before = sources_of(monkeypatch, sources, game, evaluator)
    for name in closure:
        (copy / name).write_bytes(sources[name] + b"# edited\n")
        read = {n: (copy / n).read_bytes() for n in sources}
        assert sources_of(monkeypatch, read, game, evaluator) != before, name
        (copy / name).write_bytes(sources[name])
    aside = sources | {"reports/figures.py": b"# edited"}
    assert sources_of(monkeypatch, aside, game, evaluator) == before


def sources_of(monkeypatch, sources, game, evaluator):
    for name, content in sources.items():
        monkeypatch.setitem(source.SOURCES, name, content)
    source.import_closure.cache_clear()
    identity._hash_of_closures.cache_clear()
    return numeric_sources(game, tabular, evaluator)


SHOW = """
from afterstate import games
from afterstate.learners import tabular
from afterstate.studies.identity import numeric_sources
print(numeric_sources(games.load("morris"), tabular))
"""


@pytest.mark.slow
def test_a_process_of_an_edited_package_has_other_sources(tmp_path):
    shutil.copytree(PACKAGE, tmp_path / PACKAGE.name)
    told = [run_copy(tmp_path)]
    with open(tmp_path / PACKAGE.name / "games/rules/_morris_board.py", "a") as file:
        file.write("# edited")
    assert run_copy(tmp_path) != told[0]


def run_copy(place):
    done = subprocess.run(
        [sys.executable, "-c", SHOW],
        env={"PYTHONPATH": str(place), "AFTERSTATE_CACHE": str(place / "cache")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


# ----------------------------------------------------------------- versions of home-made evaluators


def make_constant(constant):
    def evaluator(game, net, seed):
        return {"constant": constant}

    return evaluator


@pytest.mark.slow
def test_what_a_factory_puts_into_an_evaluator_is_in_its_version(place):
    first = make(final=(make_constant(1.0),), curve=())
    second = make(final=(make_constant(2.0),), curve=())
    for made, constant in ((first, 1.0), (second, 2.0)):
        assert set(made.table().query("metric == 'constant'")["value"]) == {constant}
    assert source_version(make_constant(1.0)) == source_version(make_constant(1.0))


class Holder:
    """An evaluator without version whose state is in its attributes."""

    name = "holder"

    def __init__(self, **state):
        vars(self).update(state)

    def __call__(self, game, net, seed):
        return {"x": HELPERS[0](self.factor)}


HELPERS = [abs]


def both(constant):
    one, two = make_constant(1.0), make_constant(constant)
    return lambda *args: one(*args) | two(*args)


def test_attributes_helpers_and_defaults_are_in_the_version(monkeypatch):
    one = evaluator_identity(Holder(factor=1.0))
    assert one == evaluator_identity(Holder(factor=1.0)) != evaluator_identity(Holder(factor=2.0))
    monkeypatch.setattr(sys.modules[__name__], "HELPERS", [make_constant(3.0)])
    assert evaluator_identity(Holder(factor=1.0)) != one
    versions = {source_version(lambda x, by=by: [x + k + by for k in range(3)]) for by in (1, 2)}
    assert len(versions) == 2
    # two functions of one maker in one evaluator: both count, not only the first
    assert source_version(both(2.0)) != source_version(both(3.0))
    with pytest.raises(ValueError, match="needs a version.*set its attribute version"):
        evaluator_identity(Holder(factor=iter([1])))


def test_games_and_packages_are_told_by_their_names():
    game = games.load("tictactoe")
    same = source_version(lambda net: (game.identity, tictactoe.GAMES, json.dumps({})))
    assert same.startswith("source-")
