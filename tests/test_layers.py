"""The architecture holds: who may import whom, no circle, files and functions of readable size."""

import ast
from functools import cache
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "lib" / "afterstate"

# What each room may import, besides itself; rooms stand above those that they import.
GROUND = {"checks", "digits", "files", "stats", "kernel"}
UNDER_PLAY = {"checks", "files", "kernel"}  # what games are played and learnt with
MAY_IMPORT = {
    "checks": set(),
    "digits": set(),
    "files": set(),
    "stats": set(),
    "kernel": set(),
    "games": {"kernel", "checks"},
    "networks": UNDER_PLAY | {"games"},
    "search": {"kernel", "checks", "games", "networks"},
    "players": UNDER_PLAY | {"games", "networks", "search"},
    "learners": UNDER_PLAY | {"games", "networks", "search", "players"},
    "adapters": {"kernel", "checks", "games"},
    "screen": UNDER_PLAY | {"games", "networks", "search", "players"},
    "arena": GROUND | {"games", "networks", "search", "players", "screen"},
    "evaluators": GROUND
    | {"games", "networks", "search", "players", "learners", "screen", "arena"},
    "papers": {"digits", "files", "stats"},
    "reports": {"digits", "files", "stats", "papers"},
    "studies": GROUND | {"games", "networks", "learners", "papers", "reports"},
    "commands": None,  # everything
}
# imported where they are used
OPTIONAL = {"bitbully", "distributed", "IPython", "open_spiel", "pdoc", "pyspiel"}
# seconds, for few commands
SLOW_TO_IMPORT = {
    *("anywidget", "joblib", "matplotlib", "nbconvert", "nbformat", "papermill", "seaborn"),
    "scipy",  # scipy.stats
    "traitlets",
}
MOST_LINES = 400
MOST_FUNCTION_LINES = 60
LARGE_FUNCTIONS = {  # makers of games whose rules share constants, and hold nothing else
    "games/rules/hex.py:hex",
    "games/rules/kalah.py:kalah",
    "games/rules/tictactoe.py:tictactoe",
}

FILES = sorted(path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py"))


def room(file: str) -> str:
    """Return the room of a file: its package, or the file itself at the top."""
    return file.split("/")[0].removesuffix(".py")


@cache
def tree_of(file: str) -> ast.Module:
    """Return the syntax tree of a file."""
    return ast.parse((PACKAGE / file).read_text(encoding="utf-8"))


@cache
def imports(file: str) -> list[tuple[str, bool, int]]:
    """Return what a file imports: (file or third-party package, inside a function, line)."""
    found = []
    tree = tree_of(file)
    inside = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, (ast.FunctionDef, ast.Lambda))
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [(a.name.split(".")[0], id(node) in inside, node.lineno) for a in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            found.append((node.module.split(".")[0], id(node) in inside, node.lineno))
        elif isinstance(node, ast.ImportFrom):
            folder = Path(file).parents[node.level - 1]
            base = folder.joinpath(*(node.module or "").split("."))
            for alias in node.names:
                submodule = base / f"{alias.name}.py"
                package = base / alias.name / "__init__.py"
                for target in (submodule, package, base.with_suffix(".py"), base / "__init__.py"):
                    if (PACKAGE / target).is_file():
                        found.append((target.as_posix(), id(node) in inside, node.lineno))
                        break
                else:
                    raise AssertionError(f"{file}:{node.lineno} imports what is not there")
    return found


@pytest.mark.parametrize("file", FILES)
def test_imports_follow_the_table(file):
    assert room(file) in MAY_IMPORT or file == "__init__.py", f"{file} is in no room of the table"
    for target, inside, line in imports(file):
        assert target != "afterstate", f"{file}:{line}: inside the library imports are relative"
        if not target.endswith(".py"):
            assert not inside or target in OPTIONAL | SLOW_TO_IMPORT, (
                f"{file}:{line} imports {target} inside a function: only optional packages are"
            )
            continue
        allowed = MAY_IMPORT[room(file)]
        assert allowed is None or room(target) in allowed | {room(file)}, (
            f"{file}:{line} imports {target}: {room(file)} may import {', '.join(sorted(allowed))}"
        )
        assert not inside, f"{file}:{line} imports {target} inside a function: move it to the top"
        if Path(file).name != "__init__.py" and Path(target).name == "__init__.py":
            plain = target in ("games/rules/__init__.py", f"{room(file)}/__init__.py")
            assert plain, f"{file}:{line} imports from {target}: name the module that defines it"


def test_no_circles():
    graph = {file: {t for t, _, _ in imports(file) if t.endswith(".py")} for file in FILES}
    state = {}

    def visit(file, path):
        assert state.get(file) != "open", "circle: " + " -> ".join([*path, file])
        if file not in state:
            state[file] = "open"
            for target in sorted(graph[file]):
                if Path(target).name != "__init__.py":
                    visit(target, [*path, file])
            state[file] = "done"

    for file in FILES:
        if Path(file).name != "__init__.py":
            visit(file, [])


@pytest.mark.parametrize("file", FILES)
def test_files_and_functions_can_be_read_at_a_sitting(file):
    text = (PACKAGE / file).read_text(encoding="utf-8")
    lines = text.splitlines()
    assert len(lines) <= MOST_LINES, f"{file} has {len(lines)} lines: split it"
    wide = [k for k, line in enumerate(lines, 1) if len(line) > 100]
    assert not wide, f"{file}: lines {wide} have more than 100 characters"
    for node in ast.walk(tree_of(file)):
        if isinstance(node, ast.FunctionDef) and f"{file}:{node.name}" not in LARGE_FUNCTIONS:
            size = node.end_lineno - node.lineno + 1
            doc = node.body[0] if ast.get_docstring(node) else None
            size -= doc.end_lineno - doc.lineno + 1 if doc else 0
            assert size <= MOST_FUNCTION_LINES, f"{file}:{node.name} has {size} lines: split it"


def test_the_table_has_no_way_back():
    """A room stands above all that it may import, so no two rooms may import each other."""
    height = {}

    def stand(name):
        if name not in height:
            height[name] = -1
            below = MAY_IMPORT[name] if MAY_IMPORT[name] is not None else MAY_IMPORT.keys() - {name}
            height[name] = 1 + max((stand(other) for other in below), default=-1)
        assert height[name] >= 0, f"{name} stands above itself"
        return height[name]

    assert max(map(stand, MAY_IMPORT)) <= 8
