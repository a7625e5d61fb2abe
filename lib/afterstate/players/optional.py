"""Engines of others and packages that only tests use: where they are, and what is missing.

``AFTERSTATE_HIDE`` names what is treated as not installed, separated by commas, or ``all``: so the
whole library can be tried as on a machine that has none of it.
"""

import importlib.util
import os
import shutil
from pathlib import Path

from ..checks import one_of

ENGINES = ("bitbully", "gtp-rhino", "edax")
ORACLES = ("jax", "pgx", "rust_reversi")  # independent rules of games; only tests import them
RHINO_REMEDY = "`apt install grhino` on Debian and Ubuntu"
EDAX_SITE = "https://github.com/abulmo/edax-reversi/releases"


def hidden(name: str) -> bool:
    """Return whether AFTERSTATE_HIDE hides one of `ENGINES` or `ORACLES`."""
    named = {word.strip() for word in os.environ.get("AFTERSTATE_HIDE", "").split(",")} - {""}
    known = {"all", *ENGINES, *ORACLES}
    if not named <= known:
        raise ValueError(
            f"AFTERSTATE_HIDE names {', '.join(sorted(named - known))}; there are"
            f" {', '.join(sorted(known))}"
        )
    return bool(named & {"all", name})


def lacks(name: str) -> str:
    """Return what an engine of `ENGINES` lacks here, with the remedy; "" if it can play."""
    if one_of("an optional engine", name, ENGINES) == "bitbully":
        packages = ("bitbully", "bitbully_databases")
        here = not hidden(name) and all(map(importlib.util.find_spec, packages))
        what = "the perfect ConnectFour player BitBully (optional, licence AGPL-3)"
        return "" if here else f"{what} is not installed; `make engines` does it"
    if name == "gtp-rhino":
        return program_lacks("gtp-rhino", rhino_program(), RHINO_REMEDY)
    return edax_lacks("Edax", *edax_files())


def program_lacks(who: str, program: str, remedy: str) -> str:
    """Return that a player's program is not there, with the remedy, or ""."""
    if shutil.which(program):
        return ""
    there = "is not executable" if Path(program).exists() else "is not there"
    what = "is a directory" if Path(program).is_dir() else there
    return f"{who} needs the program {program}, which {what}: {remedy}"


def rhino_program() -> str:
    """Return where gtp-rhino is, or would be: games are not on everybody's path."""
    where = shutil.which("gtp-rhino") or "/usr/games/gtp-rhino"
    return where + (", hidden by AFTERSTATE_HIDE" if hidden("gtp-rhino") else "")


def edax_files(path: str | None = None) -> tuple[str, Path]:
    """Return program ("" if nobody named it) and weights of Edax; default: variable EDAX."""
    given = "" if hidden("edax") else path or os.environ.get("EDAX") or ""
    program = Path(given).expanduser().absolute()
    near = program.parent
    beside = [near / "data/eval.dat", near / "eval.dat", near.parent / "data/eval.dat"]
    weights = next((file for file in beside if file.exists()), beside[0])
    return str(program) if given else "", weights


def edax_lacks(who: str, program: str, weights: Path) -> str:
    """Return what Edax lacks, with the remedy, or ""."""
    if not program:
        how = "name the program, `make reproduce EDAX=/path/to/edax`"
        return f"Edax: download program and data/eval.dat from {EDAX_SITE} and {how}"
    lacking = program_lacks(who, program, "name the program itself, EDAX=/path/to/edax")
    if lacking or weights.exists():
        return lacking
    return f"{who} needs its weights, {weights}: they are on its release page, too"
