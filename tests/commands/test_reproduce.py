"""The command line: notebooks and their parameters, the plan, the budget, records, failures."""

import json
import os
import shutil
import time
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pandas as pd
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from afterstate import files, games
from afterstate.commands import notebooks, planning, reproduce
from afterstate.learners import td
from afterstate.studies import golden, plan
from afterstate.studies.settings import VARIABLES, Selection
from small_studies import edit_record

TUPLES = [[0, 1, 2], [4]]
PARAMETERS = """
profile = "quick"
runs = 2
episodes = 300
alpha = 1.0
label = "a"
fast = True
layers = [1, 2]
"""
STUDY = """
from afterstate import games
from afterstate.learners import td
from afterstate.studies.study import Study

def mass(game, net, seed):
    return {"win_rate:Max-N-10": float(abs(net.weights).mean() % 100)}
mass.version = 1

params = dict(runs=runs, episodes=episodes, eval_every=100, alpha=alpha)
study = Study("tictactoe", profile=profile, paper="konen2021", params=params, workers=1)
"""
RUNS = """
for arm, farl in {"FARL": "on", "no-FARL": "off"}.items():
    study.run(arm, td, game=games.load("tictactoe"), curve=[mass], final=[mass], farl=farl,
              tuples=[[0, 1, 2], [4]])
"""


def write_notebook(path, *cells, parameters=PARAMETERS):
    notebook = new_notebook(
        metadata={
            "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"},
            "language_info": {"name": "python"},
        }
    )
    notebook.cells = [
        new_code_cell(parameters, metadata={"tags": ["parameters"]}),
        *map(new_code_cell, cells),
    ]
    nbformat.write(notebook, path)
    return path


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A small project: one study notebook with a paper profile."""
    shutil.copytree(files.data_directory() / "papers", tmp_path / "data" / "papers")
    for file in files.data_directory().glob("*.yaml"):
        shutil.copy(file, tmp_path / "data")
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "data" / "profiles" / "paper").mkdir(parents=True)
    monkeypatch.setenv("AFTERSTATE_DATA", str(tmp_path / "data"))
    for name in VARIABLES:
        if name not in ("AFTERSTATE_DATA", "AFTERSTATE_CACHE"):
            monkeypatch.delenv(name, raising=False)
    run = {
        "game": {"name": "tictactoe", "params": {}},
        "parameters": {"tuples": TUPLES},
        "episodes": 50,
        "seed": 1,
    }
    monkeypatch.setattr(reproduce.catalogue, "learners", lambda: {"td": td})
    stated = {"td": {"version": td.VERSION, "runs": [run | {"checksum": golden.repeat(td, run)}]}}
    (tmp_path / "data" / "golden.json").write_text(json.dumps(stated))
    golden.write_games([games.load("tictactoe").identity], tmp_path / "data")
    write_notebook(
        tmp_path / "notebooks" / "10_tictactoe.ipynb",
        STUDY,
        RUNS,
        "study.compare()[['verdict']]",
        "_ = study.finish()",
    )
    (tmp_path / "data" / "profiles" / "paper" / "10_tictactoe.yaml").write_text(
        "profile: paper\nruns: 3\nepisodes: 500\nalpha: 1.0\nlabel: a\nfast: true\nlayers: [1, 2]\n"
    )
    return tmp_path


def runs_table(place, profile="paper"):
    return pd.read_csv(place / "reports" / profile / "data" / "tictactoe.runs.csv")


def no_traces(place):
    return not [p for p in place.rglob("*") if ".tmp" in p.name or ".part" in p.name]


# --------------------------------------------------------------------------------------- parameters


@pytest.mark.parametrize(
    "words, message",
    [
        (["notebook", "10_tictactoe", "rums=3"], "did you mean 'runs'"),
        (["notebook", "10_tictactoe", "--profile", "quick", "rums=3"], "did you mean 'runs'"),
        (["notebook", "10_tictactoe", "runs"], "must be written name=value"),
        (["notebook", "99"], "there is no notebook '99'"),
        (["plan", "99"], "there is no notebook '99'"),
    ],
)
def test_wrong_command_lines(place, capsys, words, message):
    assert reproduce.main(words) == 2 and message in capsys.readouterr().err


@pytest.mark.parametrize("words", [["plan", "--all"], ["notebook", "10", "runs=1", "--all"]])
def test_unknown_options_end_with_usage(words, capsys):
    with pytest.raises(SystemExit):
        reproduce.main(words)
    assert "unrecognized arguments: --all" in capsys.readouterr().err


# ----------------------------------------------------------------------------------- the whole path


@pytest.mark.slow
def test_reproduce_from_nothing_to_recorded_to_differs(place, monkeypatch, capsys):
    assert reproduce.main(["plan"]) == 0
    assert "In all 6 runs" in capsys.readouterr().out
    monkeypatch.setenv("BUDGET", "0")
    assert reproduce.main(["reproduce"]) == 0
    table = runs_table(place)
    assert set(table["provenance"]) == {"missing"} and table["estimated_cpu_seconds"].notna().all()
    page = (place / "reports" / "paper" / "index.md").read_text()
    assert "missing" in page and not list((place / "data" / "records").rglob("*.json"))

    monkeypatch.setenv("BUDGET", "all")
    assert reproduce.main(["reproduce"]) == 0
    assert set(runs_table(place)["provenance"]) == {"trained here"}
    monkeypatch.setenv("BUDGET", "1")
    assert reproduce.main(["reproduce"]) == 0
    counts = runs_table(place).query("kind == 'train'")["provenance"].value_counts().to_dict()
    assert counts == {"recorded": 5, "re-run here: identical": 1}
    said = capsys.readouterr().out
    assert "drawn with seed" in said and "tictactoe / FARL: 3 runs" in said
    assert reproduce.main(["verify-records", "--n", "2", "--seed", "1"]) == 0
    assert capsys.readouterr().out.count(": identical") == 2

    for path in (place / "data" / "records").rglob("train-*.json"):
        edit_record(path, checksum="0" * 16)
    assert reproduce.main(["reproduce"]) == 1
    assert "re-run here: differs" in set(runs_table(place)["provenance"])
    assert reproduce.main(["verify-records", "--n", "1"]) == 1
    assert no_traces(place)
    executed = place / "reports" / "paper" / "10_tictactoe.ipynb"
    text = executed.read_text()
    assert (
        str(place) not in text
        and "papermill" not in json.loads(text)["metadata"]
        and executed.with_suffix(".html").exists()
    )


@pytest.mark.slow
def test_quick_with_a_failing_notebook(place, capsys):
    write_notebook(
        place / "notebooks" / "05_broken.ipynb",
        'from afterstate.studies.study import Study\nstudy = Study("broken")',
        'raise RuntimeError("no luck")',
    )
    old = place / "reports" / "quick" / "data" / "broken.results.csv"
    old.parent.mkdir(parents=True)
    old.write_text("study,arm,run,episode,metric,value\n")
    assert reproduce.main(["quick"]) == 1
    said = capsys.readouterr().out
    assert "05_broken: FAILED: RuntimeError: no luck" in said and "10_tictactoe: done" in said
    assert (
        not old.exists()
        and no_traces(place)
        and set(runs_table(place, "quick")["provenance"]) == {"trained here"}
    )
    marked = json.loads((place / "reports" / "quick" / "05_broken.ipynb").read_text())
    assert marked["metadata"]["failed"] and "no luck" in marked["cells"][0]["source"]
    nbformat.validate(nbformat.from_dict(marked))
    assert not list((place / "data").glob("records/**/*.json"))


def collect(path):
    studies, note = planning.collect(path, notebooks.profile_parameters(path, "paper"))
    return plan.states_of(studies), note


@pytest.mark.slow
def test_plan_goes_on_after_a_cell_that_needs_results(place):
    path = write_notebook(
        place / "notebooks" / "10_tictactoe.ipynb",
        STUDY,
        "best = study.table()['value'].iloc[0]",
        RUNS + "study.run()\nnothing.there",
    )
    outcomes, note = collect(path)
    # the failure in cell 3 hides no run
    assert len(outcomes) == 6 and "code cell 4: TypeError" in note
    assert [o.job.episodes for o in outcomes] == [500] * 6 and not any(o.complete for o in outcomes)


@pytest.mark.slow
def test_budget_takes_the_cheapest_first_and_one_recorded_run_per_paper(place):
    outcomes, _ = collect(place / "notebooks" / "10_tictactoe.ipynb")
    costs = {o.job.key: 10.0 * (k + 1) for k, o in enumerate(outcomes)}
    replaced, plan.missing_cost = plan.missing_cost, lambda o: costs[o.job.key]
    try:
        chosen, seconds = plan.select(outcomes, 35.0, seed=1)
        everything, _ = plan.select(outcomes, float("inf"), seed=1)
    finally:
        plan.missing_cost = replaced
    keys = [state.job.key for state in outcomes]
    assert chosen == Selection(frozenset(), frozenset(keys[:2])) and seconds == 30.0
    assert everything.missing == frozenset(keys)


@pytest.mark.slow
def test_one_notebook_with_parameters(place, capsys):
    assert reproduce.main(["notebook", "10_tictactoe", "runs=1", "alpha=0.5"]) == 0
    assert runs_table(place, "quick")["run"].max() == 0


@pytest.mark.slow
def test_a_notebook_that_runs_again_leaves_the_same_file(place):
    table = "import pandas as pd\npd.DataFrame({'a': [1]}).style.hide(axis='index')"
    pieces = "import time\nfor k in range(20):\n    print(k, flush=True)\n    time.sleep(0.02)"
    path = write_notebook(place / "notebooks" / "11_tables.ipynb", table, table, pieces)
    target = notebooks.execute(path, "quick", {"runs": 1})
    before = target.read_text(encoding="utf-8")
    assert "T_table0_row0_col0" in before and "T_table1_row0_col0" in before
    notebooks.execute(path, "quick", {"runs": 1})
    assert target.read_text(encoding="utf-8") == before


@pytest.mark.slow
def test_golden_command(place, capsys):
    assert reproduce.main(["golden"]) == 0 and "came out as stated" in capsys.readouterr().out
    path = place / "data" / "golden.json"
    path.write_text(
        path.read_text().replace(
            json.loads(path.read_text())["td"]["runs"][0]["checksum"], "0" * 16
        )
    )
    assert reproduce.main(["golden"]) == 1 and "came out different" in capsys.readouterr().out
    assert (
        reproduce.main(["golden", "--write"]) == 2 and "VERSION is still" in capsys.readouterr().err
    )
    path.unlink()
    assert reproduce.main(["golden", "--write"]) == 0 and reproduce.main(["golden"]) == 0


def test_a_failed_notebook_loses_its_own_old_results_only(tmp_path, monkeypatch):
    """The figures of "connect4-wrapper" begin with the name of the study "connect4", too."""
    monkeypatch.setenv("AFTERSTATE_REPORTS", str(tmp_path))
    study = SimpleNamespace(name="connect4")
    monkeypatch.setattr(notebooks, "collect", lambda path, parameters: ([study], None))
    gone = {"data/connect4.runs.csv", "figures/connect4-learning.svg"}
    kept = {"data/connect4-wrapper.runs.csv", "figures/connect4-wrapper-play.svg"}
    for name in gone | kept | {"figures/connect4-new.svg"}:
        (tmp_path / "paper" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "paper" / name).touch()
    os.utime(tmp_path / "paper" / "figures" / "connect4-new.svg", (2e9, 2e9))
    started = time.time() + 60
    notebooks.mark_failed(Path("12_connect4.ipynb"), "paper", ValueError("boom"), started)
    left = {p.relative_to(tmp_path / "paper").as_posix() for p in tmp_path.rglob("connect4*")}
    assert left == kept | {"figures/connect4-new.svg"}
    assert "boom" in (tmp_path / "paper" / "12_connect4.ipynb").read_text()
