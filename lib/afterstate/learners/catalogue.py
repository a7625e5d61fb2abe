"""The learners that come with the package: every module of this folder that has a ``Session``."""

import importlib
import pkgutil
from types import ModuleType

from . import __name__ as package
from . import __path__ as folder


def learners() -> dict[str, ModuleType]:
    """Return all learners by name; adding a file with NAME, VERSION and Session adds one."""
    modules = (
        importlib.import_module(f"{package}.{found.name}") for found in pkgutil.iter_modules(folder)
    )
    return {module.NAME: module for module in modules if hasattr(module, "Session")}
