"""What was found once of a state of the sources, kept so that nobody has to find it again.

Whether golden runs still come out as stated, and what an evaluator says of a given network, depends
on the sources behind them and on nothing else. What was found is kept in ``data/cache/confirmed``,
one file for each question; ``data/confirmed.json`` publishes it for the sources of the repository,
so that a fresh copy need not compile and repeat everything before it uses its records::

    {"0123456789abcdef": [], "123456789abcdef0": {"win_rate": 0.25}}

The keys are hashes of the question, with the sources in it: whoever edits them asks anew. After an
edit that is to be published: ``python -m afterstate.commands.reproduce confirm``.
"""

import contextlib
import functools
import json
from contextvars import ContextVar
from pathlib import Path

import numba
import numpy as np

from ..files import read_json, write_text
from .identity import key_of

PUBLISHED = "confirmed.json"
LIBRARIES = {"numba": numba.__version__, "numpy": np.__version__}  # they have a part in all numbers

_collected = ContextVar("what was asked, with its answers", default=None)


def once(data: Path, question: dict, find, compute: bool = True):
    """Return what `find` returns, from what is kept or published if it was asked before.

    Parameters
    ----------
    data : Path
        The data directory.
    question : dict
        JSON data that names the sources and everything else that the answer depends on.
    find : callable
        Without arguments; its answer must be JSON data, a list or a dictionary.
    compute : bool
        Whether `find` is called if nothing is known; else None is returned.
    """
    key = key_of(question | LIBRARIES)
    answer = _known(data, key)
    if answer is None and compute:
        answer = find()
        write_text(_kept(data, key), json.dumps(answer))
    if answer is not None and _collected.get() is not None:
        _collected.get()[key] = answer
    return answer


@contextlib.contextmanager
def collecting():
    """Within this context all answers are collected; it gives the dictionary of them."""
    answers = {}
    token = _collected.set(answers)
    try:
        yield answers
    finally:
        _collected.reset(token)


def publish(data: Path, answers: dict) -> None:
    """Write ``data/confirmed.json``, one answer a line."""
    entries = [f'"{key}": {json.dumps(answers[key])}' for key in sorted(answers)]
    write_text(Path(data) / PUBLISHED, "{\n" + ",\n".join(entries) + "\n}\n")


def _kept(data, key):
    return Path(data) / "cache" / "confirmed" / f"{key}.json"


def _known(data, key):
    """Return an answer, or None; a broken file is as good as none: the answer is found again."""
    with contextlib.suppress(OSError, ValueError):
        answer = json.loads(_kept(data, key).read_text(encoding="utf-8"))
        if isinstance(answer, (list, dict)):
            return answer
    file = Path(data) / PUBLISHED
    with contextlib.suppress(FileNotFoundError):
        return _published(file, file.stat().st_mtime_ns).get(key)
    return None


@functools.lru_cache(maxsize=4)
def _published(file, _changed) -> dict:
    answers = read_json(file)
    wrong = [key for key, answer in answers.items() if not isinstance(answer, (list, dict))]
    if wrong:
        raise ValueError(f"{file}: {wrong[0]} is no list or mapping: restore it (git checkout)")
    return answers
