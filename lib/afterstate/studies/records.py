"""Records: what a run was, what came out of it and where it was made, as small JSON files.

They are named by their keys::

    data/records/<study>/train-<key>.json     one training: parameters, learning statistics, cost,
                                              checksum of the weights
    data/records/<study>/eval-<key>.json      one evaluation of one training: a learning curve, or
                                              the final value

A key is a hash of everything that determines the numbers: parameters, game, versions, and the seed
path (study, arm, run). An evaluation has a key of its own, so a corrected opponent never touches a
training. Parameters that are at their default are left out of the key but not out of the record: a
learner can get a new parameter without losing its records, and :meth:`Records.find` notices when a
default has changed since.

The entry ``content`` of a record is a hash of all others, so that an edited number is noticed.
"""

import contextlib
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
from ..kernel.source import PACKAGE
from .identity import canonical, key_of_plain

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
    """Return the git commit of the package and whether its sources differ from it.

    Both are None outside a repository.
    """
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
    """Return where and with what a record is made.

    `sources` is the hash of the sources behind its numbers.
    """
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


def content_hash(record: dict) -> str:
    """Return the hash of everything in a record but the entry ``content``, where it is stated."""
    return key_of_plain({name: value for name, value in record.items() if name != "content"})


def read(path: Path) -> dict:
    """Return the record in a file.

    Raises
    ------
    ValueError
        Naming the file and the remedy, if it is damaged or was edited.
    """
    remedy = "restore it (git checkout) or delete it"
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, UnicodeDecodeError) as error:
        raise ValueError(f"the record {path} is damaged ({error}): {remedy}") from error
    if not isinstance(record, dict) or path.stem != f"{_kind(record)}-{record.get('key')}":
        raise ValueError(
            f"the record {path} does not hold the key {path.stem.partition('-')[2]}: {remedy}"
        )
    if record.get("content") != content_hash(record):
        raise ValueError(
            f"the record {path} was edited: its content has the hash {content_hash(record)}, but it"
            f" states {record.get('content')}: {remedy}"
        )
    return record


def _kind(record) -> str:
    return "train" if record.get("kind") == "train" else "eval"


def damaged(directory: Path) -> list[str]:
    """Return what is wrong with the records of all studies, one sentence for each such file."""
    found = []
    for path in sorted(Path(directory).glob("*/*.json")):
        try:
            read(path)
        except (OSError, ValueError) as error:
            found.append(str(error))
    return found


def games(directory: Path) -> list[dict]:
    """Return the identities of all games that have readable records of trainings."""
    found = {}
    for path in sorted(Path(directory).glob("*/train-*.json")):
        with contextlib.suppress(OSError, ValueError):
            game = read(path)["game"]
            found.setdefault(key_of_plain(game), game)
    return list(found.values())


class Records:
    """The records of one study in a directory; each file is read once, and again if it changes.

    Parameters
    ----------
    directory : Path
        ``data/records/<study>``; made with the first record.
    """

    def __init__(self, directory):
        self.directory = Path(directory)
        self._known = {}  # {path: ((time of its last change, its size), record)}

    def path(self, kind: str, key: str) -> Path:
        """Return the file of a record of kind "train" or "eval"."""
        return self.directory / f"{kind}-{key}.json"

    def find(self, kind: str, key: str, parameters: dict | None = None) -> dict | None:
        """Return the record with this key, or None if there is none that fits.

        An empty file is what a machine that lost its power leaves: it counts as none and is named.

        Parameters
        ----------
        parameters : dict, optional
            All present parameters; the record's must not contradict them (a default may have
            changed since).

        Raises
        ------
        ValueError
            If the file is damaged or was edited.
        """
        path = self.path(kind, key)
        try:
            record = self._read(path)
        except FileNotFoundError:
            return None
        except ValueError:
            if path.stat().st_size:
                raise
            print(f"the record {path} is empty and counts as missing", file=sys.stderr)
            return None
        changed = [
            n
            for n, v in record.get("parameters", {}).items()
            if parameters is not None and n in parameters and canonical(parameters[n]) != v
        ]
        return None if changed else record

    def write(self, record: dict) -> Path:
        """Write a record, with the hash of its content, as a whole or not at all.

        Returns
        -------
        Path
            Its file.
        """
        path = self.path(_kind(record), record["key"])
        record = canonical(record)
        write_text(path, as_text(record | {"content": content_hash(record)}))
        return path

    def all(self, kind: str) -> list[dict]:
        """Return all readable records of a kind, sorted by file name."""
        found = []
        for path in sorted(self.directory.glob(f"{kind}-*.json")):
            with contextlib.suppress(ValueError):  # find() names it when it is needed
                found.append(self._read(path))
        return found

    def _read(self, path):
        status = path.stat()
        state = status.st_mtime_ns, status.st_size
        if self._known.get(path, (None, None))[0] != state:
            self._known[path] = state, read(path)
        return self._known[path][1]
