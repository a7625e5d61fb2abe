"""Records: what a run was, what came out of it and where it was made, as small JSON files named by their key.

    data/records/<study>/train-<key>.json     one training: parameters, learning statistics, cost, checksum of the weights
    data/records/<study>/eval-<key>.json      one evaluation of one training: a learning curve, or the final value

A key is a hash of everything that determines the numbers: parameters, game, versions, and the seed
path (study, arm, run). An evaluation has a key of its own, so a corrected opponent never touches a
training. Parameters that are at their default are left out of the key but not out of the record: a
learner can get a new parameter without losing its records, and :func:`find` notices when a default
has changed since.
"""

import functools
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

from ..files import write_text
from ..kernel.compile import PACKAGE
from .identity import canonical

# --------------------------------------------------------------------------------------- provenance


@functools.cache
def machine() -> dict:
    """Return the CPU model and the target that kernels are compiled for."""
    cpu = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        models = re.findall(
            r"^model name\s*:\s*(.+)$", info.read_text(errors="replace"), re.MULTILINE
        )
        cpu = models[0].strip() if models else cpu
    elif sys.platform == "darwin":
        cpu = _command("sysctl", "-n", "machdep.cpu.brand_string") or cpu
    return {"cpu": cpu, "target": numba.config.CPU_NAME or llvmlite.binding.get_host_cpu_name()}


@functools.cache
def commit() -> dict:
    """Return the git commit of the package and whether its sources differ from it (None outside a repository)."""
    revision = _command("git", "-C", str(PACKAGE), "rev-parse", "HEAD")
    return {
        "commit": revision,
        "dirty": (
            bool(_command("git", "-C", str(PACKAGE), "status", "--porcelain", "--", "."))
            if revision
            else None
        ),
    }


def _command(*words) -> str | None:
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def provenance(sources: str) -> dict:
    """Return where and with what a record is made: commit, date, machine, versions, hash of the numeric sources."""
    versions = {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": numba.__version__,
    }
    return {
        **commit(),
        "date": datetime.now(timezone.utc).strftime("%Y-%m-%d"),
        "machine": machine(),
        "versions": versions,
        "sources": sources,
    }


# -------------------------------------------------------------------------------------------- files


def as_text(record: dict) -> str:
    """Return a record as JSON: sorted keys, one entry a line, lists of numbers on one line."""
    text = json.dumps(
        canonical(record), sort_keys=True, indent=1, ensure_ascii=False, allow_nan=False
    )
    return (
        re.sub(
            r"\[[^\[\]{}\"]*\]",
            lambda found: re.sub(r"\s+", " ", found[0]).replace("[ ", "[").replace(" ]", "]"),
            text,
        )
        + "\n"
    )


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
            All present parameters; the record's must not contradict them (a default may have
            changed since).

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
            raise ValueError(
                f"the record {path} is damaged ({error}): restore it (git checkout) or delete it"
            ) from error
        if not isinstance(record, dict) or record.get("key") != key:
            raise ValueError(
                f"the record {path} does not hold the key {key}: restore it (git checkout) or"
                " delete it"
            )
        changed = [
            n
            for n, v in record.get("parameters", {}).items()
            if parameters is not None and n in parameters and canonical(parameters[n]) != v
        ]
        return None if changed else record

    def write(self, record: dict) -> Path:
        """Write a record as a whole or not at all; return its path."""
        path = self.path("train" if record["kind"] == "train" else "eval", record["key"])
        write_text(path, as_text(record))
        return path

    def all(self, kind: str) -> list[dict]:
        """Return all readable records of a kind, sorted by file name.

        A file is read again only if it has changed.
        """
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
