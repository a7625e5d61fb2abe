"""What was found once of a state of the sources, kept so that nobody has to find it again.

Whether golden runs still come out as stated, and what an evaluator says of a given network, depends
on the sources behind them, and on the files of ``data`` that a question names; both are in its key.
What was found is kept in ``data/cache/confirmed``, one file for each question;
``data/confirmed.json`` publishes it for the sources of the repository, so that a fresh copy need
not compile and repeat everything before it uses its records::

    {"0123456789abcdef": [], "123456789abcdef0": {"win_rate": 0.25}}

The keys are hashes of the question, with the sources in it: whoever edits them asks anew. After an
edit that is to be published: ``python -m afterstate.commands.reproduce confirm``.
"""

import contextlib
import functools
import hashlib
import json
from contextvars import ContextVar
from pathlib import Path

import numba
import numpy as np

from ..files import read_json, write_text
from .identity import key_of, of_package
from .runs import probe, probed

PUBLISHED = "confirmed.json"
LIBRARIES = {"numba": numba.__version__, "numpy": np.__version__}  # they have a part in all numbers

_collected = ContextVar("what was asked, with its answers", default=None)


def once(data: Path, question: dict, find, compute: bool = True, keep=lambda: True):
    """Return what `find` returns, from what is kept or published if it was asked before.

    While answers are collected, published ones do not count: they are found again.

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
    keep : callable
        Asked after `find`: whether its answer may be kept.
    """
    key, collected = key_of(question | _files(data, question) | LIBRARIES), _collected.get()
    answer = _known(data, key, collected is None)
    if answer is None and compute:
        answer = find()
        if not keep():
            return answer
        write_text(_kept(data, key), json.dumps(answer))
    if answer is not None and collected is not None:
        collected[key] = answer
    return answer


def _files(data, question) -> dict:
    """Return the hashes of the files of `data` that a question names, such as lists of n-tuples."""
    words = set(_words(question))
    if isinstance(question.get("parameters", {}).get("tuples"), str):
        words.add("ntuples.yaml")
    found = {word: _file_hash(Path(data) / word) for word in sorted(words) if "." in word}
    return {word: each for word, each in found.items() if each}


def _words(value):
    """Give all texts among the values of JSON data."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _words(part)


def _file_hash(file) -> str:
    with contextlib.suppress(OSError, ValueError):
        return _hash_of(file, file.stat().st_mtime_ns) if file.is_file() else ""
    return ""


@functools.lru_cache(maxsize=64)
def _hash_of(file, _changed) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()[:16]


def said(job, evaluator, key: str, data: Path) -> dict:
    """Return what :func:`runs.probe` does, for the record with this key.

    Found once for a state of the sources, unless it or its opponent has code elsewhere, or is a
    program whose version nobody states.
    """
    if not of_package(evaluator):
        return probe(job, evaluator)
    question = probed(job, evaluator) | {"sources": job.sources_behind(key)}
    seconds = getattr(evaluator, "cpu_seconds", lambda: 0.0)  # of programs that it has started
    return once(data, question, lambda: probe(job, evaluator), keep=lambda: not seconds())


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


def _known(data, key, published):
    """Return an answer, or None; a broken file is as good as none: the answer is found again."""
    with contextlib.suppress(OSError, ValueError):
        answer = json.loads(_kept(data, key).read_text(encoding="utf-8"))
        if isinstance(answer, (list, dict)):
            return answer
    file = Path(data) / PUBLISHED
    if not published:
        return None
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
