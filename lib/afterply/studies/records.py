"""The records of a study, and what their keys are made of.

::

    data/records/<study>.jsonl, a line for each training and each evaluation
        {"study": ..., "sources": {"<learner> <version> <game>": hash of their sources, ...},
         "shared": {hash: parameters, an evaluator or what else many records have alike, ...}}
        {"key": ..., "kind": "train", "arm": ..., "run": ..., "parameters": ..., "checksum": ...}
        {"key": ..., "kind": "curve" or "final", "train": ..., "evaluator": ..., "points": ...}

A key is a hash of all that determines the numbers: learner, game and evaluator with their versions,
parameters, and the seed path (study, arm, run). An evaluation has a key of its own, so a corrected
opponent never touches a training. A record is appended as one whole line; what a killed process
left half written is dropped on reading.
"""

import contextlib
import dataclasses
import functools
import hashlib
import json
import os
import platform
import re
import subprocess
import sys
from datetime import datetime, timezone
from pathlib import Path

import llvmlite
import numba
import numpy as np

from ..files import write_text
from ..kernel.source import PACKAGE, code_version, file_in_package, import_closure, source_hash
from ..learners.parameters import check_parameters

REMEDY = "restore it (git checkout) or delete that line"
# what many records have alike: a tidy file states each of these values once, in its first line
SHARED = ("evaluator", "game", "learner", "made", "parameters")
MADE = ("commit", "date", "dirty", "machine", "versions")  # together one value, "made"


def canonical(value):
    """Return `value` as plain JSON data; TypeError or ValueError for objects, nan, infinity."""
    return json.loads(json.dumps(value, default=_plain, allow_nan=False))


def _plain(value):
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    if isinstance(value, range):
        return list(value)
    raise TypeError(
        f"{value!r} cannot be recorded: use numbers, words, lists and dictionaries of them"
    )


def key_of(content: dict) -> str:
    """Return the key of data: 16 hex digits, the same for the same content in any order."""
    text = json.dumps(canonical(content), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def learner_identity(learner) -> dict:
    """Return name and version of a learner; one of a notebook has the hash of its code."""
    version = learner.VERSION if file_in_package(learner) else code_version(learner)
    return {"name": learner.NAME, "version": version}


def evaluator_name(evaluator) -> str:
    """Return the name of an evaluator; a plain function has its own."""
    name = getattr(evaluator, "name", None) or getattr(evaluator, "__name__", None)
    if not name:
        raise ValueError(
            f"{evaluator!r} is no evaluator: give a function (game, net, seed) -> {{metric: value}}"
            " with a name"
        )
    return name


def evaluator_identity(evaluator) -> dict:
    """Return name, version (a plain function: the hash of its code) and settings."""
    settings = {}
    for field in dataclasses.fields(evaluator) if dataclasses.is_dataclass(evaluator) else ():
        # an opponent made by a function: the name and the settings speak for it
        with contextlib.suppress(TypeError):
            if field.compare:
                settings[field.name] = canonical(getattr(evaluator, field.name))
    settings |= canonical(getattr(evaluator, "settings", None) or {})
    version = getattr(evaluator, "version", None)
    return {
        "name": evaluator_name(evaluator),
        "version": code_version(evaluator) if version is None else version,
        "settings": {k: v for k, v in settings.items() if k not in ("name", "version")},
    }


def learner_parameters(learner, given: dict, episodes: int) -> dict:
    """Return all parameters of a learner as records hold them: `given` over its DEFAULTS."""
    defaults = dict(learner.DEFAULTS)
    check_parameters(learner.PARAMETERS, given)
    full = {n: _like(defaults[n], value) for n, value in canonical(defaults | given).items()}
    return full | {"episodes": episodes} if "episodes" in defaults else full


def _like(default, value):
    """Write whole numbers as floats where the default is one: 1 and 1.0 are the same parameter."""
    if isinstance(value, list):
        return [_like(default, v) for v in value]
    return float(value) if isinstance(default, float) and isinstance(value, int) else value


def sources_behind(game, learner) -> str:
    """Return the hash of the package's files behind a learner and a game, imports included."""
    names = {file_in_package(learner), file_in_package(game.functions["play"])} - {None}
    return source_hash(*sorted(set().union(*map(import_closure, names)))) if names else ""


class Records:
    """The records of one study by key, in a file that is made with the first of them."""

    def __init__(self, path):
        self.path = Path(path)
        self.sources, self.by_key = read(self.path)

    def find(self, key: str, parameters: dict) -> dict | None:
        """Return the record with this key; None without one, or if a default has changed."""
        record = self.by_key.get(key, {})
        stated = record.get("parameters", {}).items()
        changed = any(n in parameters and parameters[n] != value for n, value in stated)
        return None if changed else record or None

    def add(self, records: list[dict]) -> None:
        """Append new records, each as a whole line at once."""
        new = [canonical(r) for r in records if r["key"] not in self.by_key]
        if new:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with _locked(self.path) as file:
                whole = file.read().rfind(b"\n") + 1
                file.seek(whole)
                file.truncate()  # what a killed process left of its last line
                file.write("".join(map(_line, new)).encode())
                file.flush()
                os.fsync(file.fileno())
        self.by_key |= {record["key"]: record for record in new}

    def tidy(self) -> None:
        """Write the file anew: the hashes of the sources first, then all records sorted by key."""
        if not self.path.exists():
            return
        with _locked(self.path):
            stated, self.by_key = read(self.path)  # another process may have added some
            self.sources = stated | self.sources
            head = {"study": self.path.stem, "sources": self.sources, "shared": {}}
            records = (self.by_key[key] for key in sorted(self.by_key))
            lines = [_line(_with_references(record, head["shared"])) for record in records]
            text = "".join([_line(head), *lines])
            if text.encode() != self.path.read_bytes():
                write_text(self.path, text)


def read(path) -> tuple[dict, dict]:
    """Return the hashes of sources that a file states, and its records by key."""
    lines = Path(path).read_bytes().split(b"\n") if Path(path).exists() else [b""]
    sources, shared, records = {}, {}, {}
    if lines.pop():
        print(f"{path}: the last line was cut off and counts as missing", file=sys.stderr)
    for number, line in enumerate(lines, 1):
        try:
            record = json.loads(line)
            if "sources" in record:
                sources, shared = record["sources"], record.get("shared", {})
            else:
                own = [name for name in SHARED if isinstance(record.get(name), str)]
                record |= {name: shared[record[name]] for name in own}
                records[record["key"]] = _unpack(record | record.pop("made", {}))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"{path}:{number}: damaged ({error}): {REMEDY}") from error
    return sources, records


def _with_references(record: dict, shared: dict) -> dict:
    made = {name: record[name] for name in MADE if name in record}
    record = {name: value for name, value in record.items() if name not in made} | {"made": made}
    keys = {name: key_of(record[name])[:8] for name in SHARED if name in record}
    shared |= {key: record[name] for name, key in keys.items()}
    return record | keys


def _unpack(record: dict) -> dict:
    """Write out the points of a curve, of which a file holds runs as [first, step, count]."""
    for name, values in record.get("points", {}).items():
        runs = (v if isinstance(v, list) else (v, 0, 1) for v in values)
        unpacked = (v + k * step if k else v for v, step, count in runs for k in range(count))
        record["points"][name] = list(unpacked)
    return record


def _packed(values: list) -> list:
    """Write four or more numbers with one step as [first, step, count]; floats have step 0."""
    # 3.0 is written as 3: pages read all points as floats
    values = [int(v) if isinstance(v, float) and v.is_integer() else v for v in values]
    found, k = [], 0
    while k < len(values):
        first, end = values[k], k + 1
        step = values[end] - first if end < len(values) and isinstance(first, int) else 0
        while end < len(values) and values[end] == first + (end - k) * step:
            end += 1
        found += [[first, step, end - k]] if end - k > 3 else [first]
        k = end if end - k > 3 else k + 1
    return found


def _line(record: dict) -> str:
    if "points" in record:  # a fifth of the text of a curve that seldom changes
        points = {name: _packed(values) for name, values in record["points"].items()}
        record = record | {"points": points}
    return json.dumps(record, sort_keys=True, separators=(",", ":"), allow_nan=False) + "\n"


@contextlib.contextmanager
def _locked(path):
    with open(path.with_name(f".{path.name}.lock"), "w") as guard:
        with contextlib.suppress(ImportError):  # not on Windows
            import fcntl

            fcntl.flock(guard, fcntl.LOCK_EX)
        with open(path, "r+b" if path.exists() else "w+b") as file:
            yield file


@functools.cache
def machine() -> dict:
    """Return the CPU model and the target that kernels are compiled for."""
    info = Path("/proc/cpuinfo")
    text = info.read_text(errors="replace") if info.exists() else ""
    model = re.search(r"(?m)^model name\s*:\s*(.+?)\s*$", text)
    cpu = model[1] if model else platform.processor() or platform.machine()
    return {"cpu": cpu, "target": numba.config.CPU_NAME or llvmlite.binding.get_host_cpu_name()}


@functools.cache
def provenance() -> dict:
    """Return where and with what records are made: commit, date, machine, versions."""
    revision = _git("rev-parse", "--short=12", "HEAD")
    changed = _git("status", "--porcelain", "--", ".")
    versions = {"numpy": np.__version__, "numba": numba.__version__}
    return {
        "commit": revision,
        "dirty": bool(changed) if revision else None,
        "date": datetime.now(timezone.utc).strftime("%Y-%m-%d"),
        "machine": machine(),
        "versions": {"python": platform.python_version()} | versions,
    }


def _git(*words) -> str | None:
    try:
        done = subprocess.run(["git", "-C", PACKAGE, *words], capture_output=True, text=True)
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None
