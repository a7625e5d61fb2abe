"""The learners that come with the package: every module with a ``NAME``, also of one paper."""

import importlib
import pkgutil
from pathlib import Path
from types import ModuleType

PACKAGE = Path(__file__).parents[1]


def learners() -> dict[str, ModuleType]:
    """Return all learners by name, from this folder and those of single papers."""
    found = {}
    for folder in (PACKAGE / "learners", *sorted((PACKAGE / "papers").glob("*/"))):
        package = ".".join([PACKAGE.name, *folder.relative_to(PACKAGE).parts])
        for _, name, _ in pkgutil.iter_modules([str(folder)]):
            if "\nNAME = " in (folder / f"{name}.py").read_text(encoding="utf-8"):
                module = importlib.import_module(f"{package}.{name}")
                found[module.NAME] = module
    return found
