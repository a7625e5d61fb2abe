"""Which studies and runs a notebook has: its code, as far as they need it, without any training.

Of a notebook's statements only those are executed that make studies or runs, and those that bind
what these read, so that no result is computed and no figure drawn.
"""

import ast
import contextlib
import io
import json
import traceback
import warnings
from pathlib import Path

from ..studies.plan import planning

# methods that change what they belong to
CHANGES = {"append", "extend", "insert", "add", "update", "setdefault", "pop", "remove", "sort"}


def collect(path: Path, parameters: dict) -> tuple[list, str]:
    """Return the studies of a notebook, with their runs.

    Parameters
    ----------
    path : Path
        The notebook.
    parameters : dict
        Values for those that its cell tagged "parameters" declares.

    Returns
    -------
    (list of Study, str)
        The studies, and a note if a statement that makes studies or runs failed.
    """
    note, names = "", {"__name__": "__main__", "display": lambda *shown: None}
    with (
        planning() as studies,
        contextlib.redirect_stdout(io.StringIO()),
        warnings.catch_warnings(action="ignore"),
    ):
        for where, statements, declares in _cells(path):
            for statement in statements:
                note = _execute(statement, where, names) or note
            if declares:
                names.update(parameters)
    return studies, note


def _cells(path):
    """Return the needed statements of each code cell: (where, statements, tagged parameters)."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    found = []
    for number, cell in enumerate((c for c in cells if c["cell_type"] == "code"), 1):
        lines = "".join(cell["source"]).splitlines()
        plain = "\n".join("pass" if line.startswith(("%", "!")) else line for line in lines)
        declares = "parameters" in cell["metadata"].get("tags", ())
        found.append((f"{path.name}, code cell {number}", ast.parse(plain).body, declares))
    kept = {id(s) for s in needed([s for _, statements, _ in found for s in statements])}
    return [(where, [s for s in listed if id(s) in kept], tag) for where, listed, tag in found]


def needed(statements: list[ast.stmt]) -> list[ast.stmt]:
    """Return the statements that make studies or runs, and those that bind what they read."""
    while statements and not makes_runs(statements[-1]):
        statements = statements[:-1]
    late = set()  # what functions read when they are called, perhaps bound after them
    while True:
        kept, wanted = [], set(late)
        for statement in reversed(statements):
            bound = _bound(statement)
            if makes_runs(statement) or bound & wanted:
                kept.append(statement)
                if isinstance(statement, (ast.Assign, ast.Import, ast.ImportFrom)):
                    wanted -= bound - _changed(statement) - late
                wanted |= _read(statement)
        functions = [_read(s) for s in kept if isinstance(s, (ast.FunctionDef, ast.ClassDef))]
        if late.issuperset(set().union(*functions)):
            return kept[::-1]
        late = late.union(*functions)


def _read(statement) -> set[str]:
    """Return the names that a statement reads."""
    names = [node for node in ast.walk(statement) if isinstance(node, ast.Name)]
    return {node.id for node in names if isinstance(node.ctx, ast.Load)}


def makes_runs(statement: ast.stmt) -> bool:
    """Return whether a statement calls Study(...) or .run(...)."""
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
        return False
    called = [node.func for node in ast.walk(statement) if isinstance(node, ast.Call)]
    names = [getattr(f, "id", getattr(f, "attr", "")) for f in called]
    methods = [f.attr for f in called if isinstance(f, ast.Attribute)]
    return "Study" in names or "run" in methods


def _bound(statement) -> set[str]:
    """Return the names that a statement binds or whose values it changes."""
    inner = [
        name
        for node in ast.walk(statement)
        if isinstance(node, ast.comprehension)
        for name in ast.walk(node.target)
    ]
    stored = {
        node.id
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node not in inner
    }
    for node in ast.walk(statement):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            stored.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            stored |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
    return stored | _changed(statement)


def _changed(statement) -> set[str]:
    """Return the names of the collections and objects that a statement changes."""
    found = set()
    for node in ast.walk(statement):
        if isinstance(node, (ast.Subscript, ast.Attribute)) and isinstance(node.ctx, ast.Store):
            found.add(_root(node))
        elif isinstance(node, ast.AugAssign):
            found.add(_root(node.target))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in CHANGES:
                found.add(_root(node.func))
    return found - {None}


def _root(node) -> str | None:
    while isinstance(node, (ast.Subscript, ast.Attribute)):
        node = node.value
    return getattr(node, "id", None)


def _execute(statement, where, names) -> str:
    """Execute a statement, which may fail because it needs results that are not there yet.

    Return a note if it was one that makes studies or runs.
    """
    try:
        exec(compile(ast.Module([statement], []), where, "exec"), names)
    except Exception as error:
        if makes_runs(statement):
            return f"{where}: {traceback.format_exception_only(error)[-1].strip()}"
    return ""
