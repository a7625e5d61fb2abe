"""Hashes of the sources of the package: files with all that they import."""

import functools
import hashlib
import re
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]
# A relative import at the left margin: dots, module, names. To parse whole files takes long.
IMPORT = re.compile(r"^from (\.+)([.\w]*) import (\([^)]*\)|.*)", re.MULTILINE)
# File -> text, read once: a file that is edited later is not what this process runs, so its new
# text must not stand in the records of this process.
SOURCES = {
    path.relative_to(PACKAGE).as_posix(): path.read_text(encoding="utf-8")
    for path in sorted(PACKAGE.rglob("*.py"))
}


def source_hash(*names: str) -> str:
    """Return 16 hex digits that stand for the text of these files of the package, or of all.

    The texts are those that this process runs.
    """
    files = names or SOURCES
    text = "".join(f"{file}\0{SOURCES[file]}\0" for file in files)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@functools.cache
def import_closure(file: str) -> frozenset:
    """Return a file, relative to the package, and all files that it imports, also indirectly."""
    closure = set()
    waiting = [file]
    while waiting:
        candidate = waiting.pop()
        if candidate in SOURCES and candidate not in closure:
            closure.add(candidate)
            waiting += imported(candidate)
    return frozenset(closure)


@functools.cache
def imported(file: str) -> list[str]:
    """Return the files that a file may import; some of them may not exist.

    In ``from ..games import calls`` both ``games`` and ``calls`` may be modules or packages.
    """
    files = []
    folders = file.split("/")
    for dots, module, names in IMPORT.findall(SOURCES[file]):
        parts = [*folders[: -len(dots)], *module.split(".")]
        for name in ("", *re.findall(r"\w+", names)):
            path = "/".join(part for part in [*parts, name] if part)
            files.append(f"{path}.py")
            files.append(f"{path}/__init__.py".lstrip("/"))
    return files
