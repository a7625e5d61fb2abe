"""The command line: notebooks and their parameters, the plan, the budget, records, failures."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import nbformat
import pandas as pd
import pytest

from afterply import games
from afterply.commands import execute, publishing, reproduce
from afterply.files import data_directory
from afterply.kernel.source import PACKAGE
from afterply.learners import td
from afterply.studies import notebooks, question
from afterply.studies.profiles import declared_in
from afterply.studies.records import Records, read, sources_behind
from small_studies import make_place, with_other_weights, write_notebook

PARAMETERS = 'profile = "quick"\nruns = 2\nepisodes = 300\nalpha = 1.0'
PROFILE = "profile: paper\nruns: 3\nepisodes: 500\nalpha: 1.0\n"
STUDY = """
from afterply import games
from afterply.learners import td
from afterply.studies.study import Study

def mass(game, net, seed):
    rate = float(abs(net.weights).mean() % 100)
    return [{"measure": "win_rate", "opponent": "Max-N-10", "value": rate}]
mass.version = 1

params = dict(runs=runs, episodes=episodes, eval_every=100, alpha=alpha)
study = Study("tictactoe", profile=profile, paper="konen2021", params=params, workers=1)
"""
ARMS = """
for arm, farl in {"FARL": "on", "no-FARL": "off"}.items():
    study.arm(arm, td, game=games.load("tictactoe"), curve=[mass], final=[mass], farl=farl,
              tuples=[[0, 1, 2], [4]])
"""
RESULTS = ["study.compare()[['verdict']]", "_ = study.finish()"]


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A small project: one study notebook with a paper profile."""
    make_place(tmp_path, monkeypatch)
    (tmp_path / "data" / "profiles" / "paper").mkdir(parents=True)
    monkeypatch.setattr(reproduce, "learners", lambda: {"td": td})
    write_notebook(notebook_of(tmp_path), PARAMETERS, STUDY, ARMS, *RESULTS, arms=2)
    (tmp_path / "data" / "profiles" / "paper" / "10_tictactoe.yaml").write_text(PROFILE)
    return tmp_path


def notebook_of(place):
    return place / "notebooks" / "10_tictactoe.ipynb"


def runs_table(profile="paper"):
    (study,), _ = reproduce.collect(reproduce.find(["10"]), profile)
    return study.runs()


def contents(place):
    """Path -> content and time of what is published, without pages that git ignores."""
    folders = [place / "data" / "records", place / "reports" / "paper"]
    files = [file for folder in folders for file in folder.rglob("*") if file.is_file()]
    kept = [file for file in files if not any(map(file.match, (*publishing.NOT_KEPT, ".*")))]
    return {file: (file.read_bytes(), file.stat().st_mtime_ns) for file in kept}


def records(place):
    return read(place / "data" / "records" / "tictactoe.jsonl")[1]


def test_wrong_command_lines(place, capsys):
    for words, message in (
        ("notebook 10_tictactoe rums=3", "did you mean 'runs'"),
        ("notebook 10_tictactoe runs", "not of the form NAME=VALUE"),
        ("notebook 99", "there is no notebook 99"),
        ("plan 99", "there is no notebook 99"),
    ):
        assert reproduce.main(words.split()) == 2 and message in capsys.readouterr().err


def test_what_a_user_saves_beside_our_notebooks_is_run_only_by_its_name(place):
    for name in ("00_start_here", "10_tictactoe-Copy1", "50_mine"):
        write_notebook(place / "notebooks" / f"{name}.ipynb", PARAMETERS)
    for names, found in (
        ((), ["00_start_here", "10_tictactoe"]),
        (["10_tictactoe"], ["10_tictactoe"]),
        (["50"], ["50_mine"]),
    ):
        assert [path.stem for path in reproduce.find(names)] == found


def test_budget(monkeypatch):
    for text, seconds in (("", 0), ("15", 900), ("all", float("inf")), ("0", 0)):
        monkeypatch.setenv("BUDGET", text)
        assert reproduce.budget() == seconds
    for text in ("much", "-1", "nan"):
        monkeypatch.setenv("BUDGET", text)
        with pytest.raises(ValueError, match="must be CPU minutes, such as 15, or all"):
            reproduce.budget()


@pytest.mark.slow
def test_reproduce_from_nothing_to_recorded_to_differs(place, monkeypatch, capsys):
    assert reproduce.main(["plan"]) == 0
    assert re.search("tictactoe +6 +0 ", capsys.readouterr().out)
    monkeypatch.setenv("BUDGET", "all")
    assert reproduce.main(["reproduce"]) == 0
    assert set(runs_table()["provenance"]) == {"recorded"} and len(records(place)) == 18
    before = contents(place)
    monkeypatch.delenv("BUDGET")
    capsys.readouterr()
    assert reproduce.main(["reproduce", "--repeats", "4"]) == 0
    said = capsys.readouterr().out
    assert contents(place) == before and "came out as it was" in said
    assert "4 recorded runs were made again" in said and "4 identical, 0 different" in said

    path = place / "data" / "records" / "tictactoe.jsonl"
    with_other_weights(path)
    assert reproduce.main(["reproduce"]) == 1
    said = capsys.readouterr().out
    assert "0 identical, 6 different" in said and "DIFFERS: tictactoe / FARL / run 0" in said
    assert not [p for p in place.rglob("*") if ".tmp" in p.name]
    text = (place / "reports" / "paper" / "10_tictactoe.ipynb").read_text()
    assert str(place) not in text and "papermill" not in json.loads(text)["metadata"]


@pytest.mark.slow
def test_recorded_runs_again_and_trainings_with_new_seeds(place, monkeypatch, capsys):
    monkeypatch.setenv("BUDGET", "all")
    reproduce.make_missing(reproduce.collect(reproduce.find())[0], float("inf"))
    path = place / "data" / "records" / "tictactoe.jsonl"
    before = path.read_text()
    capsys.readouterr()
    assert reproduce.main("repeat 10 --runs 2 --seed 5".split()) == 0
    said = capsys.readouterr().out
    assert "2 recorded runs were made again (drawn with seed 5): 2 identical, 0 different." in said

    def means(result="win_rate, opponent Max-N-10", runs=3):
        words = f"afresh 10 tictactoe FARL no-FARL --runs {runs} --result".split()
        assert reproduce.main([*words, result]) == 0
        lines = re.findall(r"^(.*), win.*: (.*) \((\d+) runs\); recorded: (.*) \((\d+) runs\)$",
                           capsys.readouterr().out, re.MULTILINE)  # fmt: skip
        return {arm: (float(new), int(n), float(old), int(m)) for arm, new, n, old, m in lines}

    first, table = means(), pd.DataFrame(records(place).values())
    for arm, (new, n, old, m) in first.items():
        done = table[(table.arm == arm) & (table.kind == "final")]
        place_of = done.rows.iloc[0].index({"measure": "win_rate", "opponent": "Max-N-10"})
        recorded = [values[place_of][-1] for values in done["values"]]
        assert old == pytest.approx(sum(recorded) / len(recorded), rel=1e-5) and m == len(recorded)
        assert n == 3 and new != old  # three seeds, and not those of the records
    assert len(first) == 2 and means() == first and path.read_text() == before
    assert means(runs=2)["FARL"][0] != first["FARL"][0]
    (study,), _ = reproduce.collect(reproduce.find())
    with pytest.raises(ValueError, match="no arm 'FRAL': did you mean 'FARL'"):
        question.afresh(study, "FRAL", 1)
    with_other_weights(path)
    assert reproduce.main("repeat 10 --runs 6".split()) == 1
    assert "DIFFERS: tictactoe / " in capsys.readouterr().out


@pytest.mark.slow
def test_what_comes_out_again_under_other_sources_is_confirmed(place, capsys):
    reproduce.make_missing(reproduce.collect(reproduce.find())[0], float("inf"))
    path = place / "data" / "records" / "tictactoe.jsonl"
    kept = Records(path)
    for record in kept.by_key.values():
        record["digest"] = "0" * 16 if record["arm"] == "FARL" else None
    kept.tidy()
    assert not runs_table()["confirmed"].any()
    assert reproduce.main("repeat 10 --runs 4 --confirm".split()) == 0
    assert "4 recorded runs were made again (the cheapest unconfirmed): 4 identical" in (
        capsys.readouterr().out
    )
    told = runs_table().groupby(["arm", "run"])["confirmed"].all()
    assert told.sum() == 4 and len(told) == 6
    (digest,) = {
        one["confirmed"]["digest"] for one in records(place).values() if "confirmed" in one
    }
    assert digest == sources_behind(games.load("tictactoe"), td)
    assert reproduce.main("repeat 10 --runs 9 --confirm".split()) == 0
    assert "2 recorded runs were made again" in capsys.readouterr().out
    assert runs_table()["confirmed"].all()


def test_what_a_cell_measured_by_the_clock_stays_while_its_source_is_the_same(tmp_path):
    def made(shown, source="took()", tags=("clock",)):
        stream = nbformat.v4.new_output("stream", name="stdout", text=shown)
        cell = nbformat.v4.new_code_cell(source, id="a", outputs=[stream])
        cell.metadata["tags"] = [*tags]
        return nbformat.v4.new_notebook(cells=[cell])

    copy = tmp_path / "copy.ipynb"
    assert "1.5 s" in execute.without_traces(made("1.5 s"), copy)  # there is no copy yet
    copy.write_text(execute.without_traces(made("1.5 s"), copy))
    assert execute.without_traces(made("1.7 s"), copy) == copy.read_text()
    for other in (made("1.7 s", "took(2)"), made("1.7 s", tags=())):
        text = execute.without_traces(other, copy)
        assert "1.7 s" in text and "1.5 s" not in text


def test_a_copy_shows_its_picture_before_any_code():
    new = nbformat.v4
    said = new.new_output("stream", name="stdout", text="130 recorded")
    drawn = new.new_output("execute_result", {"image/svg+xml": "<svg/>"}, execution_count=2)
    cells = [
        new.new_markdown_cell("the answer"),
        new.new_code_cell("declare()"),
        new.new_code_cell("draw()", metadata={"tags": ["picture"]}, outputs=[said, drawn]),
    ]
    notebook = new.new_notebook(cells=cells)
    execute.picture_first(notebook)
    answer, picture, _, made = notebook.cells
    assert answer.source == "the answer" and made.outputs == [said]
    assert [output.data for output in picture.outputs] == [drawn.data]
    nbformat.validate(notebook)
    compiled = compile(picture.source, "picture", "exec")
    assert compiled.co_names == (), "whoever runs the copy computes nothing there"

    plain = new.new_notebook(cells=cells[:2])
    execute.picture_first(plain)
    assert len(plain.cells) == 2, "a notebook without such a cell stays as it is"


@pytest.mark.slow
def test_quick_with_a_failing_notebook(place):
    study = 'from afterply.studies.study import Study\nstudy = Study("broken")'
    path = place / "notebooks" / "05_broken.ipynb"
    (place / "data" / "profiles" / "paper" / "05_broken.yaml").write_text(PROFILE)
    broken = write_notebook(path, PARAMETERS, study, 'raise RuntimeError("no luck")')
    command = [sys.executable, "-m", "afterply.commands.reproduce", "quick"]  # as make does
    done = subprocess.run(command, capture_output=True, text=True)
    said = done.stdout
    assert done.returncode == 1, done.stderr
    assert "05  FAILED: RuntimeError: no luck" in said and re.search(r"(?m)^10 .* s$", said)
    assert "tictactoe: 4 runs: 4 recorded" not in said, "what notebooks print is in the log"
    log = (place / "reports" / "quick" / "log.txt").read_text()
    assert "tictactoe: 4 runs: 4 recorded" in log
    assert "05  FAILED" in log
    assert set(runs_table("quick")["provenance"]) == {"recorded"}, "those of this pass"
    marked = json.loads((place / "reports" / "quick" / broken.name).read_text())
    assert marked["metadata"]["failed"] and "no luck" in marked["cells"][0]["source"]
    nbformat.validate(nbformat.from_dict(marked))
    assert not list((place / "data").glob("records/*.jsonl"))


@pytest.mark.slow
def test_a_plan_runs_tagged_cells_trains_nothing_and_takes_the_cheapest_first(place):
    more = 'study.arm("not tagged", td, game=games.load("tictactoe"))'
    cells = STUDY, "study.arm()", ARMS + "asked = study.table()", "nothing.there", more
    path = write_notebook(notebook_of(place), PARAMETERS, *cells, arms=4)
    before = os.environ.get("AFTERPLY_BATCH", "")
    (study,), note = notebooks.planned(path, notebooks.profile_parameters(path, "paper"))
    assert os.environ["AFTERPLY_BATCH"] == before
    runs = [run for _, run in reproduce.runs_of([study])]
    assert "TypeError" in note and all(run.due for run in runs)  # the first that went wrong
    assert list(study.arms) == ["FARL", "no-FARL"]
    assert [run.job.episodes for run in runs] == [500] * 6
    study.missing_cost = lambda run: 10.0 * (6 - runs.index(run))
    assert reproduce.make_missing([study], 35.0) == 2
    assert [bool(run.due) for run in runs] == [True] * 4 + [False] * 2


def test_a_notebook_without_the_tag_is_told_what_to_tag(place, capsys):
    path = write_notebook(notebook_of(place), PARAMETERS, STUDY, ARMS, *RESULTS)
    assert reproduce.main(["plan"]) == 1
    said = capsys.readouterr().out
    assert 'lack runs: 10_tictactoe.ipynb: no cell has the tag "arms": tag all cells' in said
    own = write_notebook(place / "notebooks" / "00_start_here.ipynb", PARAMETERS, "print(1)")
    assert notebooks.planned(own, {}) == ([], "")
    write_notebook(path, PARAMETERS, STUDY, ARMS, *RESULTS, arms=1)
    assert reproduce.main(["plan", "10"]) == 0 and "no cell" not in capsys.readouterr().out


@pytest.mark.slow
def test_a_notebook_that_runs_again_leaves_the_same_file(place):
    table = "import pandas as pd\npd.DataFrame({'a': [1]}).style.hide(axis='index')"
    pieces = "import time\nfor k in range(20):\n    print(k, flush=True)\n    time.sleep(0.02)"
    path = place / "notebooks" / "11_tables.ipynb"
    study = STUDY + ARMS + "study.run()"  # the second time its runs are there
    write_notebook(path, PARAMETERS, study, table, table, pieces, "print(runs)")
    target, made = place / "reports" / "quick" / "11_tables.ipynb", []
    for _ in range(2):
        assert reproduce.main(["notebook", "11_tables", "runs=7"]) == 0
        made.append(target.read_text(encoding="utf-8"))
    assert not (place / "reports" / "quick" / "index.md").exists(), "no report of one notebook"
    assert "T_table0_row0_col0" in made[0] and "T_table1_row0_col0" in made[0]
    assert '"7\\n"' in made[0] and made[0] == made[1]


def git(place, *words):
    command = ["git", "-C", place, "-c", "user.name=a", "-c", "user.email=b", *words]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("git"), reason="needs git")
def test_a_clean_tree_is_the_proof_and_what_differs_is_said_before(place, monkeypatch, capsys):
    (place / ".gitignore").write_text("cache/\nlog.txt\n*.html\nstyle.css\nstaging/\nmine/\n.*\n")
    git(place, "init", "-q")
    for budget, trained in (("", 0), ("all", 18)):  # nothing is trained without being asked
        monkeypatch.setenv("BUDGET", budget)
        assert reproduce.main(["reproduce", "--repeats", "0"]) == 0
        said = capsys.readouterr().out
        assert len(records(place)) == trained if trained else not (place / "data/records").exists()
    first = said.index("6 missing run(s) are trained now and added to data/records: tictactoe")
    assert first < said.index("published file(s) come out otherwise") < said.index("than they were")
    git(place, "add", ".")
    git(place, "commit", "-qm", "one")
    monkeypatch.delenv("BUDGET")
    committed = contents(place)
    for edited in ("10_tictactoe.ipynb", "index.md", "konen2021.md"):
        (place / "reports" / "paper" / edited).write_text("somebody's")
        assert reproduce.main(["report"] if edited.endswith("md") else ["reproduce"]) == 0
        said = capsys.readouterr().out
        assert "1 published file(s) come out otherwise" in said and edited in said
        assert "Every page, figure and number came out as committed." in said
        assert git(place, "status", "--porcelain") == ""
        assert {file: one[0] for file, one in contents(place).items()} == {
            file: one[0] for file, one in committed.items()
        }
    file = place / "data" / "profiles" / "paper" / "10_tictactoe.yaml"
    file.write_text(file.read_text() + "# edited\n")
    assert reproduce.main(["report"]) == 0
    said = capsys.readouterr().out
    assert "1 published file(s) are not as they are committed" in said and file.name in said


@pytest.mark.slow
def test_no_notebook_run_alone_and_no_interruption_changes_what_is_published(
    place, monkeypatch, capsys
):
    monkeypatch.setenv("BUDGET", "all")
    assert reproduce.main(["reproduce", "--repeats", "0"]) == 0
    monkeypatch.delenv("BUDGET")
    (place / "reports" / "paper" / "index.md").write_text("former")
    before = contents(place)
    for profile, folder in (("quick", "quick"), ("paper", "mine")):
        assert reproduce.main(["notebook", "10", "--profile", profile]) == 0
        assert (place / "reports" / folder / "10_tictactoe.html").exists()

    def stopped(*given):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(reproduce.report_builder.pages, "write", stopped)
        capsys.readouterr()
        assert reproduce.main(["reproduce", "--repeats", "0"]) == 130
        assert "Nothing that is published has changed." in capsys.readouterr().err
    bad = place / "notebooks" / "10_tictactoe.ipynb"
    bad.write_text(bad.read_text().replace("study.compare", "study.compere"))
    assert reproduce.main(["reproduce", "--repeats", "0"]) == 1
    assert "FAILED: 10_tictactoe: AttributeError" in capsys.readouterr().out
    assert contents(place) == before


@pytest.mark.slow
def test_ctrl_c_ends_the_kernels_and_publishes_nothing(place):
    path = write_notebook(place / "notebooks" / "10_tictactoe.ipynb", PARAMETERS, STUDY, arms=1)
    cells = json.loads(path.read_text())
    cells["cells"][-1]["source"] = "import os, time, pathlib\n"
    cells["cells"][-1]["source"] += (
        "pathlib.Path('pid').write_text(str(os.getpid()))\ntime.sleep(99)"
    )
    cells["cells"][-1]["metadata"]["tags"] = []
    path.write_text(json.dumps(cells))
    command = [sys.executable, "-m", "afterply.commands.reproduce", "reproduce", "--repeats", "0"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    heed = "import signal, runpy, sys; signal.signal(signal.SIGINT, signal.default_int_handler);"
    heed += "sys.argv = sys.argv[1:]; runpy.run_module(sys.argv[0], run_name='__main__')"
    command[1:3] = ["-c", heed, command[2]]
    process = subprocess.Popen(command, **pipes)
    deadline = time.monotonic() + 300
    while not (place / "pid").exists() or not (place / "pid").read_text():
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130 and "Nothing that is published has changed." in errors
    with pytest.raises(ProcessLookupError):
        os.kill(int((place / "pid").read_text()), 0)
    assert not contents(place)


@pytest.mark.slow
def test_a_notebook_runs_in_this_interpreter_whatever_kernels_there_are(place, monkeypatch):
    spec = place / "jupyter" / "kernels" / "python3"
    spec.mkdir(parents=True)
    other = {"argv": ["false"], "display_name": "of the cluster", "language": "python"}
    (spec / "kernel.json").write_text(json.dumps(other))
    monkeypatch.setenv("JUPYTER_PATH", str(place / "jupyter"))
    asked = f"import sys; sys.executable == {sys.executable!r}"
    write_notebook(place / "notebooks" / "11_who.ipynb", PARAMETERS, asked)
    assert reproduce.main(["notebook", "11_who"]) == 0
    made = nbformat.read(place / "reports" / "quick" / "11_who.ipynb", 4)
    assert made.cells[-1].outputs[0].data["text/plain"] == "True"
    own = write_notebook(place / "12_who.ipynb", "1", f"{asked} or 1 / 0")
    command = [sys.executable, "-m", "pytest", "--nbval-lax", "--nbval-current-env", str(own)]
    done = subprocess.run([*command, "--rootdir", str(place)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@pytest.mark.slow
def test_golden_command(place, capsys):
    of_all = json.loads((place / "data" / "playthroughs.json").read_text())
    two = {key: one for key, one in of_all.items() if one["game"]["name"] in ("tictactoe", "nim")}
    (place / "data" / "playthroughs.json").write_text(json.dumps(two))
    assert reproduce.main(["golden"]) == 0 and "2 of 2 arms have" in capsys.readouterr().out
    path = place / "data" / "golden.json"
    stated = json.loads(path.read_text())["td"]["runs"][0]["checkpoints"][-1][-1]
    path.write_text(path.read_text().replace(stated, "0" * 16))
    shutil.rmtree(place / "data" / "cache")
    assert reproduce.main(["golden"]) == 1 and "other numbers" in capsys.readouterr().err
    assert reproduce.main(["golden", "--write"]) == 2
    assert "changed but not the version" in capsys.readouterr().err
    path.unlink()
    assert reproduce.main(["golden", "--write"]) == 0 and reproduce.main(["golden"]) == 0


# Parameters of notebooks: a profile states all of them, and nothing unknown passes in silence

DECLARED = 'profile = "quick"\nruns = 2\nalpha = 1.0\nlabel = "a"\nfast = True\nlayers = [1, 2]'
DECLARED += "\ntuples = None"
STATED = "profile: paper\nruns: 3\nalpha: 2\nlabel: b\nfast: false\nlayers: []\ntuples: null\n"


@pytest.fixture
def file(tmp_path, monkeypatch):
    """The profile of a notebook that declares seven parameters."""
    write_notebook(tmp_path / "notebooks" / "10_some.ipynb", DECLARED)
    path = tmp_path / "data" / "profiles" / "paper" / "10_some.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(STATED)
    monkeypatch.setenv("AFTERPLY_DATA", str(tmp_path / "data"))
    return path


def parameters_of(file, profile="paper"):
    path = file.parents[3] / "notebooks" / f"{file.stem}.ipynb"
    return notebooks.profile_parameters(path, profile)


def test_a_right_profile(file):
    stated = {"profile": "paper", "runs": 3, "alpha": 2, "label": "b", "fast": False, "layers": []}
    stated["tuples"] = None
    assert parameters_of(file) == stated and parameters_of(file, "quick") == {"profile": "quick"}
    source = "runs = 1  # 0 = none\nkept = sorted([2])"
    assert declared_in(source) == {"runs": 1, "kept": "sorted([2])"}


@pytest.mark.parametrize(
    "old, new, message",
    [
        (STATED, "", "some.yaml: .*a mapping of fields"),
        ("layers: []\n", "", "some.yaml: without layers it would run their quick values"),
        ("runs: 3", "rums: 3", "some.yaml: rums=3: did you mean 'runs'.*declares .*runs=2"),
        ("runs: 3", "runs: many", "some.yaml: runs='many' is of another type.*runs=2"),
        ("layers: []", "layers: 3", "layers=3 is of another type.*layers=.*a letter wrong"),
        ("runs: 3", "runs: [3", "some.yaml: not valid YAML: .*line 3"),
        ("layers: []", "layers: [3, 1O]", "layers=.*is of another type"),
    ],
)
def test_a_wrong_profile_is_an_error_that_names_it(file, old, new, message):
    file.write_text(STATED.replace(old, new))
    with pytest.raises(ValueError, match=message):
        parameters_of(file)
    file.unlink()
    with pytest.raises(FileNotFoundError, match="some.yaml"):  # and is not the quick one
        parameters_of(file)


@pytest.mark.parametrize("path", sorted(data_directory().glob("profiles/*/*.yaml")), ids=str)
def test_every_profile_fits_its_notebook(path):
    notebook = notebooks.folder() / f"{path.stem}.ipynb"
    assert notebooks.profile_parameters(notebook, path.parent.name)["profile"] == path.parent.name


@pytest.mark.slow
@pytest.mark.parametrize(
    "given, message",
    [
        (["epsiode", "500"], "epsiode=500: .*The notebook declares profile='quick'"),
        (["runs", "3"], ""),
    ],
)
def test_papermill_refuses_what_the_notebook_does_not_declare(tmp_path, given, message):
    source = "from afterply.studies import opened\nopened('10_tictactoe', profile)"
    path = write_notebook(tmp_path / "10_some.ipynb", DECLARED, source, "print('went on')")
    done = subprocess.run(
        [sys.executable, "-m", "papermill", str(path), str(tmp_path / "out.ipynb"), "-p", *given],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(PACKAGE.parent)},
        timeout=300,
    )
    assert (done.returncode == 0) == (message == "")
    assert re.search(message, done.stderr)
