"""Records: what a run was, what came out of it and where it was made, as small JSON files named by their key.

    data/records/<study>/train-<key>.json     one training: parameters, learning statistics, cost, checksum of the weights
    data/records/<study>/eval-<key>.json      one evaluation of one training: a learning curve, or the final value

A key is a hash of everything that determines the numbers: parameters, game, versions, and the seed path (study, arm,
run). An evaluation has a key of its own, so a corrected opponent never touches a training. Parameters that are at their
default are left out of the key but not out of the record: a learner can get a new parameter without losing its records,
and :func:`find` notices when a default has changed since.
"""
import contextlib
import dataclasses
import difflib
import functools
import hashlib
import inspect
import json
import platform
import re
import subprocess
import sys
from datetime import datetime, timezone
from pathlib import Path

import llvmlite
import numba
import numpy as np

from .files import write_text
from .kernel import PACKAGE, source_hash
from .parameters import check_parameters

NUMERIC_SOURCES = ("kernel.py", "rules.py", "game.py", "ntuple.py", "tuples.py", "td.py", "td_memory.py", "td_parameters.py", "minimax.py", "players.py", "arena.py",
                   "lookahead.py", "uct.py", "mcts.py", "positional.py", "evaluators.py", "engines.py", "connect4_oracle.py", "gtp.py")


def canonical(value):
    """Return `value` as plain JSON data: tuples as lists, numpy numbers as Python's.

    Raises
    ------
    TypeError, ValueError
        If it holds something that a record can not say exactly (an object, nan, infinity).
    """
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, (float, np.floating)):
        if not np.isfinite(value):
            raise ValueError(f"{value!r} can not be recorded: give a finite number or None")
        return float(value)
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, (list, tuple, range, np.ndarray)):
        return [canonical(v) for v in value]
    if isinstance(value, dict) and all(isinstance(k, str) for k in value):
        return {k: canonical(v) for k, v in value.items()}
    raise TypeError(f"{value!r} can not be recorded: use numbers, words, lists and dictionaries of them")


def key_of(content: dict) -> str:
    """Return the key of a piece of JSON data: 16 hex digits, the same for the same content in any order."""
    text = json.dumps(canonical(content), sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def source_version(thing) -> str:
    """Return the version of a function, class or object without one of its own: a hash of its source."""
    target = _definition(thing)
    try:
        if inspect.isclass(target):  # the source of a class from a notebook can not be had as a whole
            own = sorted(vars(target).items())
            text = "".join(inspect.getsource(f) if inspect.isfunction(f) else f"{n}={f!r}" for n, f in own if inspect.isfunction(f) or n[:2] != "__")
        else:
            text = inspect.getsource(target)
    except (OSError, TypeError) as error:
        raise ValueError(f"the source of {target!r} can not be read, so it needs a version: set its attribute version (VERSION)") from error
    return "source-" + hashlib.sha256(text.encode()).hexdigest()[:12]


def learner_identity(learner) -> dict:
    """Return name and version of a learner; one from a notebook has the hash of its source as version."""
    name = getattr(learner, "NAME", None) or learner.__name__.rpartition(".")[2]
    return {"name": name, "version": learner.VERSION if in_package(learner) else source_version(learner)}


def evaluator_identity(evaluator) -> dict:
    """Return name, version and settings of an evaluator; a plain function has its name and the hash of its source."""
    name = getattr(evaluator, "name", None) or getattr(evaluator, "__name__", None)
    if not name:
        raise ValueError(f"{evaluator!r} is no evaluator: give a function (game, net, seed) -> {{metric: value}} with a name, such as arena.TICTACTOE")
    version = getattr(evaluator, "version", None)
    settings = {}
    for field in dataclasses.fields(evaluator) if dataclasses.is_dataclass(evaluator) else ():
        if not field.compare:
            continue
        with contextlib.suppress(TypeError):  # an opponent made by a function: its name and the identity speak for it
            settings[field.name] = canonical(getattr(evaluator, field.name))
    settings |= canonical(getattr(evaluator, "settings", None) or {}) | canonical(getattr(evaluator, "identity", None) or {})
    settings = {k: v for k, v in settings.items() if k not in ("name", "version")}
    return {"name": name, "version": source_version(evaluator) if version is None else version, "settings": settings}


def lacks(evaluator) -> str:
    """Return what an optional evaluator needs and does not find here, with the remedy; empty if nothing."""
    return evaluator.lacks() if hasattr(evaluator, "lacks") else ""


def source_file(thing) -> Path | None:
    """Return the file that defines a module, class, function or object, or None."""
    try:
        return Path(inspect.getsourcefile(_definition(thing)) or "").resolve()
    except (TypeError, OSError):  # typed at a prompt or in a notebook
        return None


def _definition(thing):
    return thing if inspect.isroutine(thing) or inspect.isclass(thing) or inspect.ismodule(thing) else type(thing)


def in_package(thing) -> bool:
    """Return whether something is defined in this package, whose versions a golden run guards."""
    file = source_file(thing)
    return file is not None and file.is_relative_to(PACKAGE)


def learner_parameters(learner, given: dict, episodes: int) -> dict:
    """Return all parameters of a learner: its DEFAULTS with `given` on top, checked, in the form that records hold.

    Raises
    ------
    ValueError
        If a name is unknown (with the closest one) or a value has the wrong type.
    """
    defaults = dict(learner.DEFAULTS)
    for name in set(given) - set(defaults):
        near = difflib.get_close_matches(name, [*defaults, "runs", "episodes", "eval_every", "curve", "final"], 1)
        hint = f"did you mean {near[0]!r}?" if near else f"it has {', '.join(sorted(defaults))}"
        raise ValueError(f"the learner {learner_identity(learner)['name']} has no parameter {name!r}: {hint}")
    if hasattr(learner, "PARAMETERS"):
        check_parameters(learner.PARAMETERS, defaults, given)
    for name, value in given.items():
        kinds = {bool: bool, int: int, float: (int, float, list, tuple)}.get(type(defaults[name]), object)
        if not isinstance(value, kinds) or isinstance(value, bool) and type(defaults[name]) is not bool and kinds is not object:
            raise ValueError(f"{name}={value!r} has the wrong type; the default is {defaults[name]!r}")
    full = {name: _like(defaults[name], value) for name, value in canonical(defaults | given).items()}
    return full | {"episodes": episodes} if "episodes" in defaults else full


def _like(default, value):
    """Write whole numbers as floats where the default is one, so that 1 and 1.0 are the same parameter."""
    if isinstance(value, list):
        return [_like(default, v) for v in value]
    return float(value) if isinstance(default, float) and isinstance(value, int) else value


def numeric_sources(game, learner) -> str:
    """Return the hash of all sources of the package that decide the numbers of a run: :data:`NUMERIC_SOURCES`, game, learner and its SOURCES."""
    names = NUMERIC_SOURCES + tuple(getattr(learner, "SOURCES", ()))
    files = [source_file(learner), source_file(game._arguments["play"])] + [PACKAGE / name for name in names]
    inside = {p.relative_to(PACKAGE).as_posix() for p in files if p is not None and p.is_relative_to(PACKAGE) and p.exists()}
    return source_hash(*sorted(inside))


# ------------------------------------------------------------------------------------------------ provenance

@functools.cache
def machine() -> dict:
    """Return the CPU model and the target that kernels are compiled for."""
    cpu = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        models = re.findall(r"^model name\s*:\s*(.+)$", info.read_text(errors="replace"), re.MULTILINE)
        cpu = models[0].strip() if models else cpu
    elif sys.platform == "darwin":
        cpu = _command("sysctl", "-n", "machdep.cpu.brand_string") or cpu
    return {"cpu": cpu, "target": numba.config.CPU_NAME or llvmlite.binding.get_host_cpu_name()}


@functools.cache
def commit() -> dict:
    """Return the git commit of the package and whether its sources differ from it (None outside a repository)."""
    revision = _command("git", "-C", str(PACKAGE), "rev-parse", "HEAD")
    return {"commit": revision, "dirty": bool(_command("git", "-C", str(PACKAGE), "status", "--porcelain", "--", ".")) if revision else None}


def _command(*words) -> str | None:
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def provenance(sources: str) -> dict:
    """Return where and with what a record is made: commit, date, machine, versions, hash of the numeric sources."""
    versions = {"python": platform.python_version(), "numpy": np.__version__, "numba": numba.__version__}
    return {**commit(), "date": datetime.now(timezone.utc).strftime("%Y-%m-%d"), "machine": machine(), "versions": versions, "sources": sources}


# ----------------------------------------------------------------------------------------------------- files

def as_text(record: dict) -> str:
    """Return a record as JSON: sorted keys, one entry a line, lists of numbers on one line."""
    text = json.dumps(canonical(record), sort_keys=True, indent=1, ensure_ascii=False, allow_nan=False)
    return re.sub(r"\[[^\[\]{}\"]*\]", lambda found: re.sub(r"\s+", " ", found[0]).replace("[ ", "[").replace(" ]", "]"), text) + "\n"


class Records:
    """The records of one study in a directory.

    Parameters
    ----------
    directory : Path
        ``data/records/<study>``; made with the first record.
    """

    def __init__(self, directory):
        self.directory = Path(directory)
        self._known = {}  # what all() has read: {path: (time of its last change, record)}

    def path(self, kind: str, key: str) -> Path:
        """Return the file of a record of kind "train" or "eval"."""
        return self.directory / f"{kind}-{key}.json"

    def find(self, kind: str, key: str, parameters: dict | None = None) -> dict | None:
        """Return the record with this key, or None if there is none that fits.

        Parameters
        ----------
        parameters : dict, optional
            All present parameters; the record's must not contradict them (a default may have changed since).

        Raises
        ------
        ValueError
            If the file is damaged.
        """
        path = self.path(kind, key)
        try:
            record = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        except (ValueError, UnicodeDecodeError) as error:
            raise ValueError(f"the record {path} is damaged ({error}): restore it (git checkout) or delete it") from error
        if not isinstance(record, dict) or record.get("key") != key:
            raise ValueError(f"the record {path} does not hold the key {key}: restore it (git checkout) or delete it")
        changed = [n for n, v in record.get("parameters", {}).items() if parameters is not None and n in parameters and canonical(parameters[n]) != v]
        return None if changed else record

    def write(self, record: dict) -> Path:
        """Write a record as a whole or not at all; return its path."""
        path = self.path("train" if record["kind"] == "train" else "eval", record["key"])
        write_text(path, as_text(record))
        return path

    def all(self, kind: str) -> list[dict]:
        """Return all readable records of a kind, sorted by file name; a file is read again only if it has changed."""
        found = []
        for path in sorted(self.directory.glob(f"{kind}-*.json")):
            changed = path.stat().st_mtime_ns
            if self._known.get(path, (None, None))[0] != changed:
                try:
                    self._known[path] = changed, json.loads(path.read_text(encoding="utf-8"))
                except ValueError:
                    continue  # find() names it when it is needed
            found.append(self._known[path][1])
        return found
