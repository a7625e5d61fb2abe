"""Engines of others and packages that only tests use: where they are, and what is missing.

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
    named = {word.strip() for word in os.environ.get("AFTERPLY_HIDE", "").split(",")} - {""}
    known = {"all", *ENGINES, *ORACLES}
    if not named <= known:
        wrong, right = (", ".join(sorted(names)) for names in (named - known, known))
        raise ValueError(f"AFTERPLY_HIDE names {wrong}; there are {right}")
    return bool(named & {"all", name})


def lacks(name: str) -> str:
    """Return what an engine of `ENGINES` lacks here, with the remedy; "" if it can play."""
    if one_of("an optional engine", name, ENGINES) == "bitbully":
        packages = ("bitbully", "bitbully_databases")
        here = not hidden(name) and all(map(importlib.util.find_spec, packages))
        what = "the perfect ConnectFour player BitBully (optional, licence AGPL-3)"
        return "" if here else f"{what} is not installed; `make engines` does it"
    program, remedy = rhino_program(), "`apt install grhino` on Debian and Ubuntu"
    if name == "edax":
        (program, weights), remedy = edax_files(), NAME_EDAX
        if not program:
            return f"Edax: download program and data/eval.dat from {EDAX_SITE} and {remedy}"
    if not shutil.which(program):
        return f"{name} needs {program}, which is not there or not executable: {remedy}"
    if name == "edax" and not weights.exists():
        return f"edax needs its weights, {weights}: they are on its release page, too"
    return ""


def rhino_program() -> str:
    """Return where gtp-rhino is, or would be."""
    where = shutil.which("gtp-rhino") or "/usr/games/gtp-rhino"
    return where + (", hidden by AFTERPLY_HIDE" if hidden("gtp-rhino") else "")


def edax_files() -> tuple[str, Path]:
    """Return program ("" if nobody named it in the variable EDAX) and weights of Edax."""
    program = None if hidden("edax") else chosen_place("EDAX")
    places = "data/eval.dat", "eval.dat", "../data/eval.dat"
    beside = [(program or Path()).parent / place for place in places]
    weights = next((file for file in beside if file.exists()), beside[0])
    return str(program or ""), weights
