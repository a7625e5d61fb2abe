"""Notebooks: what they import exists, no variable hides it, and exercises know what is right."""

import ast
import contextlib
import inspect
import io
import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from afterply.commands import reproduce, strip
from afterply.files import contents_read_once
from afterply.studies import notebooks
from afterply.studies.study import Study

CLASS = notebooks.folder() / "class"
RIGHT, WRONG, OPEN = "right: ", "not yet", "not solved yet: "
EXERCISES = sorted(CLASS.glob("*.ipynb"))
OURS = notebooks.find()
DECLARING = [path for path in OURS if path.stem not in notebooks.WITHOUT_RECORDS]
ASKING = "table run runs make show net compare finish unfinished".split()  # of a study


def code_of(path) -> ast.Module:
    lines = "\n".join(source for source, _ in notebooks.code_cells(path)).split("\n")
    return ast.parse("\n".join("pass" if x.startswith(("%", "!")) else x for x in lines))


def imported(tree) -> dict:
    """Name -> what the notebook's import statements bind to it."""
    names, imports = {}, [n for n in tree.body if isinstance(n, (ast.Import, ast.ImportFrom))]
    exec(compile(ast.Module(imports, []), "imports of a notebook", "exec"), names)
    return names


@pytest.mark.parametrize("path", OURS + EXERCISES, ids=lambda path: path.stem)
def test_names_exist_and_are_not_hidden_and_cells_are_short(path):
    tree = code_of(path)
    names = imported(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            module = names.get(node.value.id)
            assert not inspect.ismodule(module) or hasattr(module, node.attr), ast.unparse(node)
    variables = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    bound = {node.id for node in variables if isinstance(node.ctx, ast.Store)}
    assert not bound & set(names), "a variable has the name of something imported"
    cells = notebooks.code_cells(path)
    for source, tags in cells:
        lines = source.split("\n")
        assert len(lines) <= 15 or "parameters" in tags, f"a cell of {len(lines)} lines:\n{source}"
        assert all(len(line) <= 110 for line in lines), max(lines, key=len)


def planned(path, profile):
    """Studies and note of a notebook of which no declaring cell may ask for a result."""

    def refused(*given, **named):
        raise AssertionError("a cell with the tag arms asks for a result")

    with pytest.MonkeyPatch.context() as patched, contents_read_once():
        for name in ASKING:
            patched.setattr(Study, name, refused)
        return notebooks.planned(path, notebooks.profile_parameters(path, profile))


@pytest.fixture(scope="module", params=DECLARING, ids=lambda path: path.stem)
def declared(request):
    """What a notebook declares of its paper: the tests of one notebook share it."""
    return planned(request.param, "paper")


@pytest.mark.slow
def test_no_tagged_cell_asks_for_a_result(declared):
    studies, note = declared
    assert not note and studies


@pytest.mark.slow
@pytest.mark.parametrize("path", DECLARING, ids=lambda path: path.stem)
def test_no_tagged_cell_asks_for_a_result_at_quick_scale(path):
    studies, note = planned(path, "quick")
    assert not note and studies


def test_tagged_cells_declare_all_that_has_records(declared):
    studies, _ = declared
    jobs = [run.job for _, run in reproduce.runs_of(studies)]
    keys, arms = {key for job in jobs for key in job.keys}, {(job.study, job.arm) for job in jobs}
    for study in studies:
        for key, record in study.records.by_key.items():
            known = key in keys or (study.name, record["arm"]) in arms
            assert known, f"tag the cell that declares {record['arm']} with arms"


@pytest.mark.slow
def test_a_plan_has_strong_phases_only_of_learners_that_are_kept():
    (path,) = notebooks.find(["40"])
    (study,), note = notebooks.planned(path, notebooks.profile_parameters(path, "paper"))
    assert not note
    for runs in study.arms.values():
        runs[-1].job.session()  # an error without its learner


def committed(path) -> str:
    """Return a notebook as git has it: the file may have been run, which is no fault of it."""
    command = ["git", "-C", path.parent, "show", f":./{path.name}"]
    with contextlib.suppress(OSError):
        if found := subprocess.run(command, capture_output=True).stdout:
            return found.decode()
    return path.read_text(encoding="utf-8")


def saved(text, sources=()) -> str:
    """Return a notebook as JupyterLab saves it when all cells were run, some with a new source."""
    made = json.loads(text)
    made["metadata"] |= {"kernelspec": {"display_name": "Python 3 (ipykernel)", "name": "own"}}
    made["metadata"]["language_info"] |= {"version": "3.13.1", "file_extension": ".py"}
    for number, cell in enumerate(made["cells"]):
        cell["metadata"] |= {"scrolled": True, "execution": {"iopub.status.busy": "now"}}
        if cell["cell_type"] == "code":
            shown = {"name": "stdout", "output_type": "stream", "text": ["DOES NOT HOLD: x\n"]}
            cell |= {"execution_count": number + 1, "outputs": [shown]}
        cell["source"] = dict(sources).get(number, cell["source"])
    return json.dumps(made, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


@pytest.mark.parametrize("path", OURS + EXERCISES, ids=lambda path: path.stem)
def test_git_sees_of_a_notebook_that_was_run_only_what_was_edited(path):
    text = committed(path)
    assert strip.stripped(text, text) == text
    assert saved(text) != text and strip.stripped(saved(text), text) == text
    cells = json.loads(text)["cells"]
    for number in range(len(cells)):
        told = strip.stripped(saved(text, {number: ["edited = 1\n", "edited"]}), text)
        now = json.loads(told)["cells"]
        assert now[number]["source"] == ["edited = 1\n", "edited"]
        assert now[:number] + now[number + 1 :] == cells[:number] + cells[number + 1 :]
        assert strip.stripped(told, told) == told


def test_a_new_notebook_and_a_file_that_is_none_pass_the_filter():
    cell = {"cell_type": "code", "id": "a", "metadata": {"tags": ["nbval-check-output"]}}
    cell |= {"execution_count": 3, "outputs": [{"text": ["holds"]}], "source": ["1"]}
    other = cell | {"id": "b", "metadata": {}}
    text = json.dumps({"cells": [cell, other], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    made = json.loads(strip.stripped(text))["cells"]
    assert made == [cell, other | {"execution_count": None, "outputs": []}]
    for text in ("", "<<<<<<< HEAD\n{}", "[1]", '{"cells": 3, "metadata": {}}', '"text"'):
        assert strip.stripped(text, text) == text


@pytest.mark.skipif(not shutil.which("git"), reason="needs git")
def test_the_filter_in_a_clone(tmp_path):
    def git(*words):
        command = ["git", "-C", tmp_path, "-c", "user.name=a", "-c", "user.email=b", *words]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    root, place = notebooks.folder().parent, tmp_path / "notebooks" / "10_tictactoe.ipynb"
    place.parent.mkdir()
    text = committed(root / "notebooks" / place.name)
    place.write_text(text, encoding="utf-8")
    shutil.copy(root / ".gitattributes", tmp_path)
    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "one")
    place.write_text(saved(text), encoding="utf-8")
    assert git("status", "--porcelain")  # a clone that nobody set up needs no filter
    (command,) = re.findall(r"\(FILTER\)\.clean '(.+?)'", (root / "Makefile").read_text())
    command = command.replace("$(PY)", shlex.quote(sys.executable)).replace("lib/", f"{root}/lib/")
    git("config", "filter.afterply.clean", command)
    assert git("diff") == ""  # though "status" names the file, for its size, until it is added
    strip.saved(os_path=str(place), model={}, contents_manager=None)  # as JupyterLab calls it
    assert git("status", "--porcelain") == ""
    place.write_text(saved(text, {2: ["edited"]}), encoding="utf-8")
    strip.saved(os_path=str(place))
    assert git("status", "--porcelain") == " M notebooks/10_tictactoe.ipynb\n", "not staged"
    new = place.with_name("new.ipynb")
    new.write_text(text, encoding="utf-8")
    strip.saved(os_path=str(new))
    assert "?? notebooks/new.ipynb" in git("status", "--porcelain")
    new.unlink()
    lines = git("diff", "--numstat").split()
    assert int(lines[0]) <= 3 and '"edited"' in git("diff")
    git("add", ".")
    assert "DOES NOT HOLD" not in git("show", ":notebooks/10_tictactoe.ipynb")


def checks_of(path, solution) -> list:
    """Run an exercise with a solution in its place; return what its checks print."""
    names, lines = {}, []
    for source, tags in notebooks.code_cells(path):
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(source, names)
            if "solution" in tags:
                exec(solution, names)
        lines = printed.getvalue().splitlines()
    return lines  # of the last cell


def test_there_are_five_exercises_with_solutions():
    solutions = [CLASS / "solutions" / f"{path.stem}.py" for path in EXERCISES]
    assert len(EXERCISES) == 5 and all(map(Path.is_file, solutions))
    for path in EXERCISES:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        (said,) = ["".join(c["outputs"][0]["text"]) for c in cells if c.get("outputs")]
        assert all(line.startswith(OPEN) for line in said.splitlines())


@pytest.mark.slow
@pytest.mark.parametrize(
    "name, right, wrong",
    [
        ("1_tuple_network", "", ""),
        ("1_tuple_network", "CODES * number", "2 * number"),
        ("1_tuple_network", "weights[i][index(codes, cells)] +=", "weights[i] +="),
        ("2_eligibility_traces", "", ""),
        ("2_eligibility_traces", "(0.0 if over else values[after])", "values[after]"),
        ("2_eligibility_traces", "    traces *= lambda_\n", ""),
        ("3_exploration", "", ""),
        ("3_exploration", "rng.choice(np.flatnonzero(values == values.max()))", "values.argmax()"),
        ("3_exploration", "rng.random() < epsilon", "rng.random() < epsilon / 2"),
        ("4_wrapper", "", ""),
        ("4_wrapper", "        value = -value\n", ""),
        ("4_wrapper", "np.sqrt(visits.sum())", "visits.sum()"),
        ("5_tournament", "", ""),
        ("5_tournament", "return threat", "pass"),
        ("5_tournament", "-difference / 400", "difference / 400"),
    ],
)
def test_a_solution_is_right_and_a_wrong_one_is_not(name, right, wrong):
    solution = (CLASS / "solutions" / f"{name}.py").read_text(encoding="utf-8")
    assert right in solution
    said = checks_of(CLASS / f"{name}.ipynb", solution.replace(right, wrong, 1))
    assert all(line.startswith((RIGHT, WRONG)) for line in said) and len(said) > 5
    assert all(line.startswith(RIGHT) for line in said) == (not right), said
