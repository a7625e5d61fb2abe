"""Notebooks, read without running them: what they import exists, and no variable hides it."""

import ast
import inspect
import re

import pytest

from afterstate import papers
from afterstate.commands import reproduce

EXERCISES = sorted(reproduce.folder().glob("class/*.ipynb"))
RESULTS = re.compile(r"\.(table|compare|figure|net|runs|finish)\(")  # of a study


def code_of(path) -> ast.Module:
    lines = "\n".join(source for source, _ in reproduce.code_cells(path)).split("\n")
    return ast.parse("\n".join("pass" if x.startswith(("%", "!")) else x for x in lines))


def imported(tree) -> dict:
    """Name -> what the notebook's import statements bind to it."""
    names, imports = {}, [n for n in tree.body if isinstance(n, (ast.Import, ast.ImportFrom))]
    exec(compile(ast.Module(imports, []), "imports of a notebook", "exec"), names)
    return names


@pytest.mark.parametrize("path", reproduce.find() + EXERCISES, ids=lambda path: path.stem)
def test_names_exist_and_are_not_hidden_cells_are_short_and_arms_come_before_results(path):
    tree = code_of(path)
    names = imported(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            module = names.get(node.value.id)
            assert not inspect.ismodule(module) or hasattr(module, node.attr), ast.unparse(node)
    variables = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    bound = {node.id for node in variables if isinstance(node.ctx, ast.Store)}
    assert not bound & set(names), "a variable has the name of something imported"
    cells = reproduce.code_cells(path)
    for source, tags in cells:
        lines = source.split("\n")
        assert len(lines) <= 15 or "parameters" in tags, f"a cell of {len(lines)} lines:\n{source}"
        assert all(len(line) <= 110 for line in lines), max(lines, key=len)
    declaring = [k for k, (source, _) in enumerate(cells) if reproduce.declares(source)]
    for source, _ in cells[: max(declaring, default=0)]:
        assert not RESULTS.search(source), f"asked before the last arm is declared:\n{source}"


@pytest.mark.slow
@pytest.mark.parametrize(
    "path", reproduce.find([*"10 11 12 13 14 15".split()]), ids=lambda p: p.stem
)
def test_an_arm_of_ones_own_stands_beside_those_of_the_paper(path):
    def keys(**given):
        quick = {"profile": "paper", "software_runs": 0}
        studies, note = reproduce.planned(path, quick | given)
        assert not note
        jobs = [run.job for _, run in reproduce.runs_of(studies)]
        return {(job.study, job.arm, job.key) for job in jobs}

    papers_arms = keys()
    together = keys(alpha=0.5, epsilon="[0.2, 0.1]", tuples=[[0, 1, 2]])
    assert papers_arms < together
    assert {arm for _, arm, _ in together - papers_arms} == {"yours"}
    assert not any(arm == "yours" for _, arm, _ in papers_arms)
    claimed = {claim.arm for claim in papers.load("konen2021").claims}
    assert "yours" not in claimed
