"""Engines of other authors, and packages that only tests use: where they are, and what is missing.

``AFTERPLY_HIDE`` names what is treated as not installed, separated by commas, or ``all``.
"""

import importlib.util
import os
import shutil
from pathlib import Path

from ..checks import one_of
from ..files import chosen_place

ENGINES = ("bitbully", "gtp-rhino", "edax")
ORACLES = ("jax", "pgx", "rust_reversi")  # independent rules of games; only tests import them
EDAX_SITE = "https://github.com/abulmo/edax-reversi/releases"
NAME_EDAX = "name the program, `make reproduce EDAX=/path/to/edax`"


def hidden(name: str) -> bool:
    """Return whether AFTERPLY_HIDE hides one of `ENGINES` or `ORACLES`."""
    words = os.environ.get("AFTERPLY_HIDE", "").split(",")
    hidden_names = {word.strip() for word in words} - {""}
    known_names = {"all", *ENGINES, *ORACLES}
    unknown_names = hidden_names - known_names
    if unknown_names:
        wrong = ", ".join(sorted(unknown_names))
        right = ", ".join(sorted(known_names))
        raise ValueError(f"AFTERPLY_HIDE names {wrong}; there are {right}")
    return "all" in hidden_names or name in hidden_names


def lacks(name: str) -> str:
    """Return what an engine of `ENGINES` lacks here, with the remedy; "" if it can play."""
    one_of("an optional engine", name, ENGINES)
    if name == "bitbully":
        return _bitbully_lacks()
    if name == "gtp-rhino":
        return _program_lacks(name, rhino_program(), "`apt install grhino` on Debian and Ubuntu")
    return _edax_lacks()


def _bitbully_lacks() -> str:
    """Return :func:`lacks` of BitBully, which is a Python package."""
    packages = ("bitbully", "bitbully_databases")
    is_here = not hidden("bitbully") and all(map(importlib.util.find_spec, packages))
    if is_here:
        return ""
    what = "the perfect ConnectFour player BitBully (optional, licence AGPL-3)"
    return f"{what} is not installed; `make engines` does it"


def _edax_lacks() -> str:
    """Return :func:`lacks` of Edax, which needs a program and a file of weights."""
    program, weights = edax_files()
    if not program:
        return f"Edax: download program and data/eval.dat from {EDAX_SITE} and {NAME_EDAX}"
    lacking = _program_lacks("edax", program, NAME_EDAX)
    if lacking:
        return lacking
    if not weights.exists():
        return f"edax needs its weights, {weights}: they are on its release page, too"
    return ""


def _program_lacks(name, program, remedy) -> str:
    """Return that a program cannot be run; "" if it can."""
    if shutil.which(program):
        return ""
    return f"{name} needs {program}, which is not there or not executable: {remedy}"


def rhino_program() -> str:
    """Return where gtp-rhino is, or would be."""
    program = shutil.which("gtp-rhino") or "/usr/games/gtp-rhino"
    if hidden("gtp-rhino"):
        return f"{program}, hidden by AFTERPLY_HIDE"
    return program


def edax_files() -> tuple[str, Path]:
    """Return program ("" if nobody named it in the variable EDAX) and weights of Edax."""
    program = None if hidden("edax") else chosen_place("EDAX")
    folder = program.parent if program else Path()
    places = [folder / "data/eval.dat", folder / "eval.dat", folder / "../data/eval.dat"]
    weights = next((place for place in places if place.exists()), places[0])
    return str(program or ""), weights
