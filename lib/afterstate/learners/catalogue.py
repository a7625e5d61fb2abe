"""The learners that come with the package: every module with a ``Session``, also of one paper."""

import importlib
import pkgutil
from pathlib import Path
from types import ModuleType

PACKAGE = Path(__file__).parents[1]


def learners() -> dict[str, ModuleType]:
    """Return all learners by name; adding a file with NAME, VERSION and Session adds one.

    It stands in this folder, or in that of the only paper that needs it.
    """
    folders = [PACKAGE / "learners", *sorted((PACKAGE / "papers").glob("*/"))]
    modules = [
        importlib.import_module(
            ".".join([PACKAGE.name, *folder.relative_to(PACKAGE).parts, found.name])
        )
        for folder in folders
        for found in pkgutil.iter_modules([str(folder)])
        if "\nNAME = " in (folder / f"{found.name}.py").read_text(encoding="utf-8")
    ]
    return {module.NAME: module for module in modules}


def names() -> list[str]:
    """Return the names of all learners, sorted."""
    return sorted(learners())
