"""The records of a study, and what their keys are made of.

::

    data/records/<study>.jsonl, a line for each training and each evaluation
        {"study": ..., "sources": {"<learner> <version> <game>": hash of their sources, ...},
         "shared": {hash: parameters, an evaluator or what else many records have alike, ...}}
        {"key": ..., "kind": "train", "arm": ..., "run": ..., "parameters": ..., "checksum": ...}
        {"key": ..., "kind": "curve" or "final", "train": ..., "evaluator": ...,
         "rows": [{"measure": ..., ...}, ...], "episode": [...], "values": [[...], ...]}

The columns of a row stand in `rows`, its value at each episode in `values`; see
`afterply.studies.results`. A key is a hash of all that determines the numbers: learner, game and
evaluator with their versions, parameters, and the seed path (study, arm, run). An evaluation has a
key of its own, so a corrected opponent never touches a training.

Each line ends with the checksum of its text, so that no edited digit is believed. A record is
appended as one whole line; what a killed process left half written is dropped on reading.

A record says by which sources it was made (`digest`; none in those made before records said it).
One that was made again with the same checksum and results says that, too: ``"confirmed":
{"digest": ..., "date": ...}``.
"""

import contextlib
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

from ..files import file_digest, published_file, read_json, write_text
from ..identity import package_file
from ..kernel.source import PACKAGE, import_closure, source_hash
from ..learners.parameters import check_parameters
from .results import key

REMEDY = "restore it (git checkout) or delete that line"
# what many records have alike: a tidy file states each of these values once, in its first line
SHARED = ("evaluator", "game", "learner", "made", "parameters", "rows")
# together one value, "made"; `lost_commit` is one that is in no history any more
MADE = ("commit", "date", "digest", "dirty", "lost_commit", "machine", "versions")
SUM = '"sum":"'  # what follows in a line is the checksum of the text before it


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


@functools.cache
def frozen() -> dict:
    """Return what keys leave out, since the first records had it so: defaults and contents.

    ``keys.json`` never changes, whatever learners and files do: by learner and version the default
    of each parameter, and by name the digest of each content. A parameter that joins later gets its
    neutral value there. What is not in it stands in the keys.
    """
    return read_json(Path(__file__).with_name("keys.json"))


def parameters_in_key(learner, parameters: dict) -> dict:
    """Return those parameters that are not as in the first records of the learner's version."""
    of_package = package_file(learner) is not None
    left_out = frozen()["defaults"].get(f"{learner.NAME} {learner.VERSION}") if of_package else None
    known = (left_out or {}).items()
    return {name: value for name, value in parameters.items() if (name, value) not in known}


def contents_in_key(digests: dict) -> dict:
    """Return {"contents": digests of what names stand for}, of those not as in first records."""
    known = frozen()["contents"]
    changed = {name: digest for name, digest in digests.items() if known.get(name) != digest}
    return {"contents": changed} if changed else {}


def contents_of_parameters(learner, parameters: dict) -> dict:
    """Return what the parameters of a learner name: "tuples nim-1x3" -> digest of the content."""
    digests = {}
    for name, declared in learner.PARAMETERS.items():
        content = declared.content and declared.content(parameters[name])
        if content is not None:
            digests[f"{name} {parameters[name]}"] = key_of({"content": content})
    return digests


def contents_of_files(names) -> dict:
    """Return the digests of published files: name -> digest."""
    return {name: file_digest(published_file(name)) for name in names}


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
    names = {package_file(learner), package_file(game.functions["play"])} - {None}
    return source_hash(*sorted(set().union(*map(import_closure, names)))) if names else ""


class Records:
    """The records of one study by key, in a file that is made with the first of them."""

    def __init__(self, path):
        self.path = Path(path)
        self.sources, self.by_key = read(self.path)

    def find(self, key: str) -> dict | None:
        """Return the record with this key, or None."""
        return self.by_key.get(key)

    def find_all(self, keys) -> dict:
        """Return the records that there are of some keys, by key."""
        return {key: self.by_key[key] for key in keys if key in self.by_key}

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
            stated, found = read(self.path)  # another process may have added some
            self.sources, self.by_key = stated | self.sources, found | self.by_key
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
            record = _checked(line)
            if "sources" in record:
                sources, shared = record["sources"], record.get("shared", {})
            else:
                own = [name for name in SHARED if isinstance(record.get(name), str)]
                record |= {name: shared[record[name]] for name in own}
                records[record["key"]] = _unpack(record | record.pop("made", {}))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"{path}:{number}: damaged ({error}): {REMEDY}") from error
    return sources, records


def _checked(line: bytes) -> dict:
    """Return what a line says; ValueError if it is not what was written."""
    text, found, _ = line.rpartition(SUM.encode())
    if not found:
        raise ValueError("no checksum")
    record = json.loads(line)
    if record.pop("sum") != _sum(text):
        raise ValueError("its text is not the one that was written")
    return record


def _sum(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()[:8]


def _with_references(record: dict, shared: dict) -> dict:
    made = {name: record[name] for name in MADE if name in record}
    record = {name: value for name, value in record.items() if name not in made} | {"made": made}
    keys = {name: key_of(record[name])[:8] for name in SHARED if name in record}
    shared |= {key: record[name] for name, key in keys.items()}
    return record | keys


def _unpack(record: dict) -> dict:
    """Write out episodes and values, of which a file holds runs as [first, step, count]."""
    if "values" in record:
        record["episode"] = _unpacked(record["episode"])
        record["values"] = [_unpacked(values) for values in record["values"]]
    return record


def _unpacked(values: list) -> list:
    runs = (v if isinstance(v, list) else (v, 0, 1) for v in values)
    return [v + k * step if k else v for v, step, count in runs for k in range(count)]


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
    if "values" in record:  # a fifth of the text of a curve that seldom changes
        values = [_packed(values) for values in record["values"]]
        record = record | {"episode": _packed(record["episode"]), "values": values}
    text = json.dumps(record, sort_keys=True, separators=(",", ":"), allow_nan=False)
    text = text.removesuffix("}") + ","
    return f'{text}{SUM}{_sum(text.encode())}"}}\n'


def made_by(record: dict) -> set:
    """Return the digests of the sources that made a record, or made it again without a change."""
    return {record.get("digest"), record.get("confirmed", {}).get("digest")} - {None}


def same_results(one: dict, other: dict) -> bool:
    """Return whether two records of one key hold the same weights and the same numbers."""
    return all(one.get(name) == other.get(name) for name in ("checksum", "episode")) and (
        _values(one) == _values(other)
    )


def _values(record):
    return dict(zip(map(key, record.get("rows", ())), record.get("values", ()), strict=True))


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
    """Return where and with what records are made: commit, date, machine, versions.

    The commit is that of the package's own repository; one that is installed within a repository
    of something else has none. What was really run is told by the digest of a record's sources.
    """
    tracked = _git("ls-files", "--error-unmatch", "__init__.py")
    revision = tracked and _git("rev-parse", "--short=12", "HEAD")
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
