"""Golden runs and playthroughs: whether learners and games are still those of their versions.

``data/golden.json`` holds tiny trainings of every learner, which together depend on each of its
parameters and on each default, with what they are at some checkpoints; ``data/playthroughs.json``
the checksum of random games of every game that has records. Whoever changes numbers raises the
VERSION and writes both anew (``make golden``).
"""

import contextlib
import hashlib
import json
from typing import NamedTuple

import numpy as np

from ..files import data_directory, published_file, read_json, write_text
from ..games.catalogue import load_spec
from ..games.conformance import random_game
from ..identity import identity, in_package
from ..kernel.random import new_rng
from ..learners.parameters import defaults
from .records import canonical, key_of, machine, provenance, sources_behind

CHECKPOINTS = 5  # of a golden run, at equal distances
PLAYTHROUGHS, MAX_PLIES = 10, 200  # random games of a playthrough, each cut off there
NEW_RUNS = [
    {"game": {"name": name, "params": {}}, "parameters": given, "episodes": 200, "seed": seed}
    for seed, (name, given) in enumerate(
        {"tictactoe": {"tuples": [[0, 1, 2], [4]]}, "nim": {}, "nim3p": {}}.items(), 1
    )
]


class Checkpoint(NamedTuple):
    """What a golden run is after some episodes."""

    episode: int
    moves: int
    mean_size: float  # of all floats that are learned, to six digits
    checksum: str

    def __str__(self):
        return f"{self.moves} moves, mean size of what is learned {self.mean_size:g}"


def repeat(learner, run: dict) -> list[Checkpoint]:
    """Train one golden run and return its checkpoints, the end last."""
    parameters = defaults(learner.PARAMETERS) | run["parameters"]
    session = learner.Session(load_spec(run["game"]), parameters, run["seed"])
    found = []
    for part in range(1, CHECKPOINTS + 1):
        session.train(part * run["episodes"] // CHECKPOINTS - session.episode)
        size = _mean_size(session.state_dict().values())
        found.append(Checkpoint(session.episode, session.moves, size, session.net.checksum()))
    return found


def _mean_size(arrays) -> float:
    floats = [np.abs(array).ravel() for array in arrays if array.dtype.kind == "f"]
    together = np.concatenate(floats).astype(np.float64)
    return float(f"{together.mean():.6g}") if together.size else 0.0


def difference(learner, run: dict) -> str:
    """Return where a golden run leaves what is stated of it, or an empty text."""
    stated = [Checkpoint(*one) for one in run["checkpoints"]]
    for now, then in zip(repeat(learner, run), stated, strict=True):
        if now.checksum != then.checksum:
            given = ", ".join(f"{name}={value!r}" for name, value in run["parameters"].items())
            where = f"{run['game']['name']} with {given or 'all defaults'}"
            return f"{where}, after {now.episode} episodes: {now}; it was {then}"
    return ""


def play_through(game) -> str:
    """Play some random games and return a checksum of all that the rules say on the way."""
    digest = hashlib.sha256()
    for seed in range(PLAYTHROUGHS):
        rng = new_rng(seed)
        state = game.random_start(rng)[0] if seed % 2 else game.start(seed)
        for s in random_game(game, state, rng, MAX_PLIES):
            arrays = s, game.board(s), game.score(s), game.legal(s)
            facts = [*(array.tolist() for array in arrays), game.over(s), game.key(s)]
            digest.update(json.dumps(facts).encode())
            if not game.over(s):
                digest.update(b"%d" % game.player(s))
    return digest.hexdigest()[:16]


def changed(learner, game) -> str:
    """Return how learner and game differ from what their versions stand for, or an empty text."""
    about = {"sources": sources_behind(game, learner), "target": machine()["target"]}
    about |= {"game": game.identity, "learner": identity(learner)}
    about["versions"] = provenance()["versions"]  # of Python, numpy and numba
    # which sources, compilers and kinds of processors came out as stated
    mark = data_directory() / "cache" / "golden" / key_of(about)
    if mark.exists():
        return ""
    found = _changed_learner(learner) or _changed_game(game)
    if not found:
        write_text(mark, about["sources"] + "\n")
    return found


def _changed_learner(learner) -> str:
    if not in_package(learner):  # the hash of its code is part of every key
        return ""
    name, version = learner.NAME, learner.VERSION
    what, entry = f"the learner {name} version {version}", _stored("golden").get(name)
    if entry is None or entry["version"] != version:
        return f"{what} has no golden runs in data/golden.json: make golden"
    wrong = [found for run in entry["runs"] if (found := difference(learner, run))]
    others = f", and {len(wrong) - 1} more" if len(wrong) > 1 else ""
    remedy = "undo the edit, or raise its VERSION and make golden"
    return f"{what} gives other numbers now ({wrong[0]}{others}): {remedy}" if wrong else ""


def _changed_game(game) -> str:
    if game.content is not None:  # home-made: the hash of its rules is part of every key
        return ""
    about = canonical(game.identity)
    what = f"the game {about['name']} {about['params']} version {about['version']}"
    entry = _stored("playthroughs").get(key_of(about))
    if entry is None:
        return f"{what} has no playthrough in data/playthroughs.json: make golden"
    if entry["checksum"] == play_through(game):
        return ""
    return f"{what} has other rules now: undo the edit, or raise its version and make golden"


def _stored(name) -> dict:
    path = published_file(f"{name}.json")
    return read_json(path) if path.exists() else {}


def write(learners: dict, games: list) -> None:
    """Write golden runs and playthroughs anew; ValueError if only the numbers changed.

    Playthroughs are those of `games`, and of what the catalogue has with a stored identity.
    """
    known, stored = _stored("golden"), _stored("playthroughs")
    runs, entries, same = dict(known), {}, []
    for name, learner in learners.items():
        version = learner.VERSION
        old = known.get(name, {"version": None, "runs": NEW_RUNS})
        new = [{**run, "checkpoints": list(map(list, repeat(learner, run)))} for run in old["runs"]]
        same += [name] * (old["version"] == version and new != old["runs"])
        runs[name] = {"version": version, "runs": new}
    of_package = {key_of(game.identity): game for game in games if game.content is None}
    for game in current([entry["game"] for entry in stored.values()]):
        of_package.setdefault(key_of(game.identity), game)
    for key, game in of_package.items():
        entries[key] = {"game": canonical(game.identity), "checksum": play_through(game)}
        if stored.get(key, entries[key]) != entries[key]:
            same.append(game.name)
    if same:
        raise ValueError(
            f"the numbers of {', '.join(same)} changed but not the version: raise it, or undo it"
        )
    for name, content in (("golden", runs), ("playthroughs", entries)):
        text = json.dumps(content, indent=1, sort_keys=True) + "\n"
        write_text(data_directory() / f"{name}.json", text)


def current(identities: list[dict]) -> list:
    """Return the games of the package with these identities; older versions are left out."""
    found = []
    for spec in identities:
        with contextlib.suppress(ValueError):  # not of the package, or has no such parameter
            found.append(load_spec(spec))
    return [game for game in found if canonical(game.identity) in identities]
