"""The records of a study: one file, a line of JSON for each training and each evaluation.

::

    data/records/<study>.jsonl
        {"study": ..., "sources": {"<learner> <version> <game>": hash of their sources, ...}}
        {"key": ..., "kind": "train", "arm": ..., "run": ..., "parameters": ..., "checksum": ...}
        {"key": ..., "kind": "curve" or "final", "train": ..., "evaluator": ..., "points": ...}

A key is a hash of all that determines the numbers: learner, game and evaluator with their versions,
parameters, and the seed path (study, arm, run). An evaluation has a key of its own, so a corrected
opponent never touches a training. A record is appended as one whole line; what a killed process
left half written is dropped on reading.
"""

import contextlib
import functools
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
from ..kernel.source import PACKAGE
from .identity import canonical

REMEDY = "restore it (git checkout) or delete that line"


class Records:
    """The records of one study by key, in a file that is made with the first of them."""

    def __init__(self, path):
        self.path = Path(path)
        self.sources, self.by_key = read(self.path)

    def find(self, key: str, parameters: dict | None = None) -> dict | None:
        """Return the record with this key, or None.

        A record whose `parameters` differ does not count: parameters at their default are not part
        of a key, and a default may have changed since.
        """
        record, wanted = self.by_key.get(key), parameters or {}
        stated = record.get("parameters", {}) if record else {}
        changed = any(n in wanted and wanted[n] != value for n, value in stated.items())
        return None if changed else record

    def add(self, records: list[dict]) -> None:
        """Append new records, each as a whole line at once."""
        new = [canonical(r) for r in records if r["key"] not in self.by_key]
        text = "".join(_line(record) for record in new)
        if text:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with _locked(self.path) as file:
                whole = file.read().rfind(b"\n") + 1
                file.seek(whole)
                file.truncate()  # what a killed process left of its last line
                file.write(text.encode())
                file.flush()
                os.fsync(file.fileno())
        self.by_key |= {record["key"]: record for record in new}

    def tidy(self, sources: dict | None = None) -> None:
        """Write the file anew: the hashes of `sources` first, then all records sorted by key."""
        if not self.path.exists():
            return
        with _locked(self.path):
            stated, self.by_key = read(self.path)  # another process may have added some
            self.sources = stated | (sources or {})
            head = {"study": self.path.stem, "sources": self.sources}
            ordered = (self.by_key[key] for key in sorted(self.by_key))
            text = "".join(map(_line, [head, *ordered]))
            if text.encode() != self.path.read_bytes():
                write_text(self.path, text)


def read(path) -> tuple[dict, dict]:
    """Return the hashes of sources that a file of records states, and its records by key.

    Raises
    ------
    ValueError
        For a damaged line, naming file and line. A last line that a killed process left half
        written is dropped.
    """
    try:
        lines = Path(path).read_text(encoding="utf-8").split("\n")
    except FileNotFoundError:
        return {}, {}
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is damaged ({error}): {REMEDY}") from error
    sources, records = {}, {}
    if lines.pop():
        print(f"{path}: the last line was cut off and counts as missing", file=sys.stderr)
    for number, line in enumerate(lines, 1):
        try:
            record = json.loads(line)
            if "sources" in record:
                sources = record["sources"]
            else:
                records[record["key"]] = record
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f"{path}:{number}: damaged ({error}): {REMEDY}") from error
    return sources, records


def _line(record: dict) -> str:
    return json.dumps(record, sort_keys=True, separators=(",", ":"), allow_nan=False) + "\n"


@contextlib.contextmanager
def _locked(path):
    """Open a file of records, and keep other processes of this study from writing meanwhile."""
    with open(path.with_name(f".{path.name}.lock"), "w") as guard:
        with contextlib.suppress(ImportError):  # not on Windows
            import fcntl

            fcntl.flock(guard, fcntl.LOCK_EX)
        with open(path, "r+b" if path.exists() else "w+b") as file:
            yield file


# ------------------------------------------------------------ where it is made


@functools.cache
def machine() -> dict:
    """Return the CPU model and the target that kernels are compiled for."""
    info, models = Path("/proc/cpuinfo"), []
    if info.exists():
        models = re.findall(r"(?m)^model name\s*:\s*(.+?)\s*$", info.read_text(errors="replace"))
    elif sys.platform == "darwin":
        models = [_command("sysctl", "-n", "machdep.cpu.brand_string")]
    cpu = next(filter(None, models), platform.processor() or platform.machine())
    return {"cpu": cpu, "target": numba.config.CPU_NAME or llvmlite.binding.get_host_cpu_name()}


@functools.cache
def provenance() -> dict:
    """Return where and with what records are made: commit, date, machine, versions."""
    revision = _command("git", "-C", str(PACKAGE), "rev-parse", "HEAD")
    changed = revision and _command("git", "-C", str(PACKAGE), "status", "--porcelain", "--", ".")
    versions = {"numpy": np.__version__, "numba": numba.__version__}
    return {
        "commit": revision,
        "dirty": bool(changed) if revision else None,
        "date": datetime.now(timezone.utc).strftime("%Y-%m-%d"),
        "machine": machine(),
        "versions": {"python": platform.python_version()} | versions,
    }


def _command(*words) -> str | None:
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
