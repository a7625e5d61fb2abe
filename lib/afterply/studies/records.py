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

Each line ends with the checksum of its text, so that an edited digit is noticed. A record is
appended as one whole line; a line that a killed process left half written is dropped on reading.

A record says by which sources it was made (`digest`; the oldest records have none). One that was
made again with the same checksum and results says by which sources: ``"confirmed": {"digest": ...,
"date": ...}``.
"""

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

from ..files import file_digest, once, one_writer, parse_json, published_file, read_json, write_text
from ..identity import package_file
from ..kernel.source import PACKAGE, import_closure, source_hash
from ..learners.parameters import check_parameters
from .results import key

REMEDY = "restore it (git checkout) or delete that line"
# What many records share: a tidy file states each of these values once, in its first line.
SHARED = ("evaluator", "game", "learner", "made", "parameters", "rows")
# Together they are one shared value, "made"; `lost_commit` is one that no history has any more.
MADE = ("commit", "date", "digest", "dirty", "lost_commit", "machine", "versions")
SUM = '"sum":"'  # what follows in a line is the checksum of the text before it
WRITING_SECONDS = 120.0  # at most, until another process has written what it has to this file
SHORTEST_RUN = 4  # numbers that are written as [first, step, count]


def canonical(value):
    """Return `value` as plain JSON data; TypeError or ValueError for objects, nan, infinity."""
    return json.loads(json.dumps(value, default=_plain, allow_nan=False))


def _plain(value):
    """Return what JSON does not know as what it knows; TypeError if there is nothing like it."""
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

    ``keys.json`` holds the default of each parameter by learner and version, and the digest of each
    content by name. No entry ever changes, whatever learners and files do. A parameter that joins
    later gets its neutral value there. What is not in it stands in the keys.
    """
    return read_json(Path(__file__).with_name("keys.json"))


def parameters_in_key(learner, parameters: dict) -> dict:
    """Return those parameters that are not as in the first records of the learner's version."""
    first = {}
    if package_file(learner) is not None:
        first = frozen()["defaults"].get(f"{learner.NAME} {learner.VERSION}", {})
    changed = {}
    for name, value in parameters.items():
        if name not in first or first[name] != value:
            changed[name] = value
    return changed


def contents_in_key(digests: dict) -> dict:
    """Return {"contents": digests of what names stand for}, of those not as in first records."""
    first = frozen()["contents"]
    changed = {name: digest for name, digest in digests.items() if first.get(name) != digest}
    return {"contents": changed} if changed else {}


def contents_of_parameters(learner, parameters: dict) -> dict:
    """Return what the parameters of a learner name: "tuples nim-1x3" -> digest of the content."""
    digests = {}
    for name, declared in learner.PARAMETERS.items():
        if not declared.content:
            continue
        value = parameters[name]
        content = once((declared.content, repr(value)), lambda: declared.content(value))
        if content is not None:
            digests[f"{name} {value}"] = key_of({"content": content})
    return digests


def contents_of_files(names) -> dict:
    """Return the digests of published files: name -> digest."""
    digests = {}
    for name in names:
        path = published_file(name)
        digests[name] = once(("digest", path), lambda: file_digest(path))
    return digests


def learner_parameters(learner, given: dict, episodes: int) -> dict:
    """Return all parameters of a learner as records hold them: `given` over its DEFAULTS."""
    defaults = dict(learner.DEFAULTS)
    check_parameters(learner.PARAMETERS, given)
    parameters = {}
    for name, value in canonical(defaults | given).items():
        parameters[name] = _like(defaults[name], value)
    if "episodes" in defaults:
        parameters["episodes"] = episodes
    return parameters


def _like(default, value):
    """Write whole numbers as floats where the default is one: 1 and 1.0 are the same parameter."""
    if isinstance(value, list):
        return [_like(default, part) for part in value]
    if isinstance(default, float) and isinstance(value, int):
        return float(value)
    return value


def sources_behind(game, learner) -> str:
    """Return the hash of the package's files behind a learner and a game, imports included."""
    files = set()
    for name in (package_file(learner), package_file(game.functions["play"])):
        if name is not None:
            files.update(import_closure(name))
    return source_hash(*sorted(files)) if files else ""


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
        new = [canonical(record) for record in records if record["key"] not in self.by_key]
        if new:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            text = "".join(map(_line, new))
            with one_writer(self.path, WRITING_SECONDS), open(self.path, "a+b") as file:
                file.seek(0)
                end_of_lines = file.read().rfind(b"\n") + 1
                file.seek(end_of_lines)
                file.truncate()  # what a killed process left of its last line
                file.write(text.encode())
                file.flush()
                os.fsync(file.fileno())
        self.by_key |= {record["key"]: record for record in new}

    def tidy(self) -> None:
        """Write the file anew: the hashes of the sources first, then all records sorted by key."""
        if not self.path.exists():
            return
        with one_writer(self.path, WRITING_SECONDS):
            sources, by_key = read(self.path)  # another process may have added some
            self.sources = sources | self.sources
            self.by_key = by_key | self.by_key
            shared = {}
            lines = []
            for key_of_record in sorted(self.by_key):
                lines.append(_line(_with_references(self.by_key[key_of_record], shared)))
            head = {"study": self.path.stem, "sources": self.sources, "shared": shared}
            text = "".join([_line(head), *lines])
            if text.encode() != self.path.read_bytes():
                write_text(self.path, text)


def join(path, others) -> int:
    """Add the records of other files of a study, as of other machines; return how many are new.

    ValueError if two of one key hold other results: then nothing is written.
    """
    joined = Records(path)
    num_before = len(joined.by_key)
    for other in others:
        sources, by_key = read(other)
        for key_of_record, record in by_key.items():
            known = joined.by_key.setdefault(key_of_record, record)
            if not same_results(known, record):
                place = f"{record['arm']} run {record['run']}"
                raise ValueError(f"{other} and {path} differ in {place}: {REMEDY} in one of them")
        for name, digest in sources.items():
            if joined.sources.setdefault(name, digest) != digest:
                joined.sources[name] = ""  # golden runs are asked before the next use
    if len(joined.by_key) > num_before:
        joined.path.parent.mkdir(parents=True, exist_ok=True)
        joined.path.touch()
        joined.tidy()
    return len(joined.by_key) - num_before


def read(path) -> tuple[dict, dict]:
    """Return the hashes of sources that a file states, and its records by key."""
    sources = {}
    shared = {}
    records = {}
    if not Path(path).exists():
        return sources, records
    *lines, rest = Path(path).read_bytes().split(b"\n")
    if rest:
        print(f"{path}: the last line was cut off and counts as missing", file=sys.stderr)
    for number, line in enumerate(lines, 1):
        try:
            content = _checked(line)
            if "sources" in content:
                sources = content["sources"]
                shared = content.get("shared", {})
            else:
                record = _without_references(content, shared)
                records[record["key"]] = _unpack(record)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"{path}:{number}: damaged ({error}): {REMEDY}") from error
    return sources, records


def _checked(line: bytes) -> dict:
    """Return what a line says; ValueError if it is not what was written."""
    text, mark, _ = line.rpartition(SUM.encode())
    if not mark:
        raise ValueError("no checksum")
    content = parse_json(line)
    if content.pop("sum") != _sum(text):
        raise ValueError("its text is not the one that was written")
    return content


def _sum(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()[:8]


def _with_references(record: dict, shared: dict) -> dict:
    """Return a record with the hashes of what it shares with others; `shared` takes these up."""
    made = {}
    own = {}
    for name, value in record.items():
        if name in MADE:
            made[name] = value
        else:
            own[name] = value
    own["made"] = made
    for name in SHARED:
        if name in own:
            reference = key_of(own[name])[:8]
            shared[reference] = own[name]
            own[name] = reference
    return own


def _without_references(record: dict, shared: dict) -> dict:
    """Return a record with what its hashes stand for."""
    full = dict(record)
    for name in SHARED:
        if isinstance(record.get(name), str):
            full[name] = shared[record[name]]
    made = full.pop("made", {})
    return full | made


def _unpack(record: dict) -> dict:
    """Write out episodes and values, of which a file holds runs as [first, step, count]."""
    if "values" in record:
        record["episode"] = _unpacked(record["episode"])
        record["values"] = [_unpacked(values) for values in record["values"]]
    return record


def _unpacked(values: list) -> list:
    """Return numbers with each [first, step, count] written out."""
    if list not in set(map(type, values)):
        return values
    numbers = []
    for value in values:
        if not isinstance(value, list):
            numbers.append(value)
            continue
        first, step, count = value
        numbers.append(first)
        numbers += [first + k * step for k in range(1, count)]
    return numbers


def _packed(values: list) -> list:
    """Write four or more numbers with one step as [first, step, count]; floats have step 0."""
    numbers = [_shortest(value) for value in values]
    packed = []
    start = 0
    while start < len(numbers):
        step, count = _run_from(numbers, start)
        if count >= SHORTEST_RUN:
            packed.append([numbers[start], step, count])
            start += count
        else:
            packed.append(numbers[start])
            start += 1
    return packed


def _shortest(value):
    """Write 3.0 as 3: pages read all points as floats."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _run_from(numbers, start):
    """Return step and count of the numbers from `start` on that follow each other with one step."""
    first = numbers[start]
    step = 0
    if isinstance(first, int) and start + 1 < len(numbers):
        step = numbers[start + 1] - first
    count = 1
    while start + count < len(numbers) and numbers[start + count] == first + count * step:
        count += 1
    return step, count


def _line(record: dict) -> str:
    """Return a record as the line of a file, which ends with the checksum of its text."""
    if "values" in record:  # a fifth of the text of a curve that seldom changes
        values = [_packed(values) for values in record["values"]]
        record = record | {"episode": _packed(record["episode"]), "values": values}
    text = json.dumps(record, sort_keys=True, separators=(",", ":"), allow_nan=False)
    text = text.removesuffix("}") + ","
    return f'{text}{SUM}{_sum(text.encode())}"}}\n'


def made_by(record: dict) -> set:
    """Return the digests of the sources that made a record, or made it again without a change."""
    digests = {record.get("digest"), record.get("confirmed", {}).get("digest")}
    return digests - {None}


def same_results(one: dict, other: dict) -> bool:
    """Return whether two records of one key hold the same weights and the same numbers."""
    return (
        one.get("checksum") == other.get("checksum")
        and one.get("episode") == other.get("episode")
        and _values(one) == _values(other)
    )


def _values(record):
    """Return the values of a record by the columns of their row."""
    rows = record.get("rows", ())
    values = record.get("values", ())
    return dict(zip(map(key, rows), values, strict=True))


@functools.cache
def machine() -> dict:
    """Return the CPU model and the target that kernels are compiled for."""
    target = numba.config.CPU_NAME or llvmlite.binding.get_host_cpu_name()
    return {"cpu": _cpu_model(), "target": target}


def _cpu_model():
    """Return the name of the processor, as exactly as the system says it."""
    info = Path("/proc/cpuinfo")
    text = info.read_text(errors="replace") if info.exists() else ""
    model = re.search(r"(?m)^model name\s*:\s*(.+?)\s*$", text)
    if model:
        return model[1]
    return platform.processor() or platform.machine()


@functools.cache
def provenance() -> dict:
    """Return where and with what records are made: commit, date, machine, versions.

    The commit is that of the package's own repository. A package that is installed within another
    repository has none. The digest of a record's sources says what was really run.
    """
    revision = None
    is_dirty = None
    if _git("ls-files", "--error-unmatch", "__init__.py"):
        revision = _git("rev-parse", "--short=12", "HEAD")
    if revision:
        is_dirty = bool(_git("status", "--porcelain", "--", "."))
    return {
        "commit": revision,
        "dirty": is_dirty,
        "date": datetime.now(timezone.utc).strftime("%Y-%m-%d"),
        "machine": machine(),
        "versions": {
            "python": platform.python_version(),
            "numpy": np.__version__,
            "numba": numba.__version__,
        },
    }


def _git(*words) -> str | None:
    """Return what git says about the package, or None if it fails or is not there."""
    try:
        result = subprocess.run(["git", "-C", PACKAGE, *words], capture_output=True, text=True)
    except OSError:
        return None
    return result.stdout.strip() if result.returncode == 0 else None
