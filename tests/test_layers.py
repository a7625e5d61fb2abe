"""The architecture holds: who may import whom, and no circle."""

import ast
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from afterply.kernel.source import imported

PACKAGE = Path(__file__).parents[1] / "lib" / "afterply"

# the three wings, their rooms from the ground upwards; a room may import itself and those below it
CORE = [
    "checks foreign",
    "files processes stats",
    "kernel",
    "identity",
    "games",
    "networks",
    "search",
    "learners",
    "players",
    "arena",
]
EXTRAS = ["adapters opponents", "screen", "league"]
STUDY = [
    "studies.results studies.sources",
    "studies.evaluators",
    "studies.papers",
    "studies.reports",
    "studies",
    "studied",  # studies/papers/<key>: what only one paper needs
]
ORDER = [*CORE, *EXTRAS, *STUDY, "commands"]
PLAYING = {"kernel", "games", "networks", "search", "players", "learners", "arena", "screen"}
NEVER = {
    "studies.papers": PLAYING,
    "studies.reports": PLAYING - {"kernel", "games"},
    "adapters": PLAYING - {"kernel", "games", "players"},
}
HEIGHT = {name: height for height, names in enumerate(ORDER) for name in names.split()}
FILES = sorted(path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py"))


def room(file: str) -> str:
    """Return the room of a file: its package, or the file itself where it stands alone."""
    parts = file.removesuffix(".py").split("/")
    if parts[:2] == ["studies", "papers"] and parts[2][-4:].isdigit():
        return "studied"
    within = ".".join(parts[:2])
    return within if within in HEIGHT else parts[0]


@cache
def imports(file: str) -> list[tuple[str, int]]:
    """Return what a file imports, also in functions: (file or third-party package, line)."""
    found = []
    for node in ast.walk(ast.parse((PACKAGE / file).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [(alias.name.split(".")[0], node.lineno) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            found.append((node.module.split(".")[0], node.lineno))
        elif isinstance(node, ast.ImportFrom):
            base = Path(file).parents[node.level - 1].joinpath(*(node.module or "").split("."))
            for alias in node.names:
                places = (base / f"{alias.name}.py", base / alias.name / "__init__.py")
                places += (base.with_suffix(".py"), base / "__init__.py")
                target = next(place for place in places if (PACKAGE / place).is_file())
                found.append((target.as_posix(), node.lineno))
    return found


@pytest.mark.parametrize("file", [file for file in FILES if file != "__init__.py"])
def test_imports_point_downwards(file):
    own = room(file)
    for target, line in imports(file):
        assert target != "afterply", f"{file}:{line}: inside the library imports are relative"
        if target.endswith(".py"):
            other = room(target)
            below = HEIGHT[other] < HEIGHT[own] and other not in NEVER.get(own, ())
            assert other == own or below, f"{file}:{line} imports {target}"


def test_no_circles():
    modules = [file for file in FILES if Path(file).name != "__init__.py"]
    TopologicalSorter({f: {t for t, _ in imports(f) if t in modules} for f in modules}).prepare()


def test_names_of_files_are_unique():
    own = [file for file in FILES if Path(file).name != "__init__.py"]
    # of each paper the figures that its pages show
    names = [
        Path(file).name for file in own if not (room(file) == "studied" and "/figures" in file)
    ]
    assert sorted(set(names)) == sorted(names)


def test_machine_code_depends_on_all_that_its_file_imports():
    """Files without kernels may import late, to start at once or to do without an extra."""
    with_kernels = [f for f in FILES if "kernel/compile.py" in {target for target, _ in imports(f)}]
    assert len(with_kernels) > 20
    for file in with_kernels:
        missed = {target for target, _ in imports(file) if target in FILES} - {*imported(file)}
        assert not missed, file
