"""Hashes of the sources of the package: files with all that they import."""

import functools
import hashlib
import re
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]
# an import at the left margin: dots, module, names; whole files take long to parse
IMPORT = re.compile(r"^from (\.+)([.\w]*) import (\([^)]*\)|.*)", re.MULTILINE)
# read once: what is edited later is not what this process runs, and must not sign its numbers
SOURCES = {
    path.relative_to(PACKAGE).as_posix(): path.read_text(encoding="utf-8")
    for path in sorted(PACKAGE.rglob("*.py"))
}


def source_hash(*names: str) -> str:
    """Return 16 hex digits of some files of the package, or all, as this process imported them."""
    text = "".join(f"{name}\0{SOURCES[name]}\0" for name in names or SOURCES)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@functools.cache
def import_closure(file: str) -> frozenset:
    """Return a file, relative to the package, and all files that it imports, also indirectly."""
    found, ahead = set(), [file]
    while ahead:
        file = ahead.pop()
        if file not in found and file in SOURCES:
            found.add(file)
            ahead += imported(file)
    return frozenset(found)


@functools.cache
def imported(file: str) -> list[str]:
    """Return the files that one may import: those of the modules, and of the names if modules."""
    files = []
    for dots, module, names in IMPORT.findall(SOURCES[file]):
        base = [*file.split("/")[: -len(dots)], *module.split(".")]
        for name in ("", *re.findall(r"\w+", names)):
            path = "/".join(filter(None, [*base, name]))
            files += [f"{path}.py", f"{path}/__init__.py".lstrip("/")]
    return files
