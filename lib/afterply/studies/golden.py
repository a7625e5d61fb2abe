"""Golden runs and playthroughs: whether learners and games are still those of their versions.

``data/golden.json`` holds tiny trainings of every learner, which together depend on each of its
parameters and on each default, with what they are at some checkpoints; ``data/playthroughs.json``
the checksum of random games of every game that has records. Whoever changes numbers raises the
VERSION and writes both anew (``make golden``).
"""

import contextlib
import hashlib
import json
from collections.abc import Iterator
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
PLAYTHROUGHS = 10  # random games of a playthrough ...
MAX_PLIES = 200  # ... each cut off there


def _new_run(game, parameters, seed):
    """Return a golden run for a learner that has none yet, without its checkpoints."""
    spec = {"name": game, "params": {}}
    return {"game": spec, "parameters": parameters, "episodes": 200, "seed": seed}


NEW_RUNS = [
    _new_run("tictactoe", {"tuples": [[0, 1, 2], [4]]}, seed=1),
    _new_run("nim", {}, seed=2),
    _new_run("nim3p", {}, seed=3),
]


class Checkpoint(NamedTuple):
    """What a golden run is after some episodes."""

    episode: int
    moves: int
    mean_size: float  # of all floats that are learned, to six digits
    checksum: str

    def __str__(self):
        return f"{self.moves} moves, mean size of what is learned {self.mean_size:g}"


def repeat(learner, run: dict) -> Iterator[Checkpoint]:
    """Train one golden run and yield its checkpoints, the end last."""
    parameters = defaults(learner.PARAMETERS) | run["parameters"]
    session = learner.Session(load_spec(run["game"]), parameters, run["seed"])
    for part in range(1, CHECKPOINTS + 1):
        stop = part * run["episodes"] // CHECKPOINTS
        session.train(stop - session.episode)
        yield Checkpoint(
            episode=session.episode,
            moves=session.moves,
            mean_size=_mean_size(session.state_dict().values()),
            checksum=session.net.checksum(),
        )


def _mean_size(arrays) -> float:
    """Return the mean of the absolute values of all floats, to six digits."""
    floats = [np.abs(array).ravel() for array in arrays if array.dtype.kind == "f"]
    sizes = np.concatenate(floats).astype(np.float64)
    return float(f"{sizes.mean():.6g}") if sizes.size else 0.0


def difference(learner, run: dict) -> str:
    """Return where a golden run leaves what is stated of it, or an empty text."""
    for now, stated in zip(repeat(learner, run), run["checkpoints"], strict=True):
        then = Checkpoint(*stated)
        if now.checksum != then.checksum:
            parameters = ", ".join(f"{name}={value!r}" for name, value in run["parameters"].items())
            where = f"{run['game']['name']} with {parameters or 'all defaults'}"
            return f"{where}, after {now.episode} episodes: {now}; it was {then}"
    return ""


def play_through(game) -> str:
    """Play some random games and return a checksum of all that the rules say on the way."""
    digest = hashlib.sha256()
    for seed in range(PLAYTHROUGHS):
        rng = new_rng(seed)
        start = game.random_start(rng)[0] if seed % 2 else game.start(seed)
        for state in random_game(game, start, rng, MAX_PLIES):
            facts = [
                game.board(state).tolist(),
                game.score(state).tolist(),
                game.legal(state).tolist(),
                game.over(state),
                game.key(state),
            ]
            digest.update(json.dumps([state.tolist(), *facts]).encode())
            if not game.over(state):
                digest.update(b"%d" % game.player(state))
    return digest.hexdigest()[:16]


def changed(learner, game) -> str:
    """Return how learner and game differ from what their versions stand for, or an empty text.

    A mark in the cache says which sources, compilers and kinds of processors came out as stated.
    """
    sources = sources_behind(game, learner)
    place = {
        "sources": sources,
        "target": machine()["target"],
        "game": game.identity,
        "learner": identity(learner),
        "versions": provenance()["versions"],  # of Python, numpy and numba
    }
    mark = data_directory() / "cache" / "golden" / key_of(place)
    if mark.exists():
        return ""
    change = _changed_learner(learner) or _changed_game(game)
    if not change:
        write_text(mark, sources + "\n")
    return change


def _changed_learner(learner) -> str:
    """Return how a learner of the package gives other numbers than its golden runs."""
    if not in_package(learner):  # the hash of its code is part of every key
        return ""
    what = f"the learner {learner.NAME} version {learner.VERSION}"
    entry = _stored("golden").get(learner.NAME)
    if entry is None or entry["version"] != learner.VERSION:
        return f"{what} has no golden runs in data/golden.json: make golden"
    differences = list(filter(None, (difference(learner, run) for run in entry["runs"])))
    if not differences:
        return ""
    where = differences[0]
    if len(differences) > 1:
        where += f", and {len(differences) - 1} more"
    remedy = "undo the edit, or raise its VERSION and make golden"
    return f"{what} gives other numbers now ({where}): {remedy}"


def _changed_game(game) -> str:
    """Return how a game of the package has other rules than its playthrough."""
    if game.content is not None:  # home-made: the hash of its rules is part of every key
        return ""
    stated = canonical(game.identity)
    what = f"the game {stated['name']} {stated['params']} version {stated['version']}"
    entry = _stored("playthroughs").get(key_of(stated))
    if entry is None:
        return f"{what} has no playthrough in data/playthroughs.json: make golden"
    if entry["checksum"] == play_through(game):
        return ""
    return f"{what} has other rules now: undo the edit, or raise its version and make golden"


def _stored(name) -> dict:
    """Return what a published file of golden runs or playthroughs holds."""
    path = published_file(f"{name}.json")
    return read_json(path) if path.exists() else {}


def write(learners: dict, games: list) -> None:
    """Write golden runs and playthroughs anew; ValueError if only the numbers changed.

    Playthroughs are those of `games`, and of what the catalogue has with a stored identity.
    """
    runs, changed_learners = _golden_runs(learners)
    playthroughs, changed_games = _playthroughs(games)
    names = changed_learners + changed_games
    if names:
        raise ValueError(
            f"the numbers of {', '.join(names)} changed but not the version: raise it, or undo it"
        )
    for name, content in (("golden", runs), ("playthroughs", playthroughs)):
        text = json.dumps(content, indent=1, sort_keys=True) + "\n"
        write_text(data_directory() / f"{name}.json", text)


def _golden_runs(learners):
    """Return all golden runs, those of some learners anew, and whose numbers alone changed."""
    stored = _stored("golden")
    golden_runs = dict(stored)
    changed_names = []
    for name, learner in learners.items():
        known = stored.get(name, {"version": None, "runs": NEW_RUNS})
        runs = []
        for run in known["runs"]:
            runs.append({**run, "checkpoints": list(map(list, repeat(learner, run)))})
        if known["version"] == learner.VERSION and known["runs"] != runs:
            changed_names.append(name)
        golden_runs[name] = {"version": learner.VERSION, "runs": runs}
    return golden_runs, changed_names


def _playthroughs(games):
    """Return playthroughs by the key of their game, and the games whose rules alone changed."""
    stored = _stored("playthroughs")
    games_by_key = {key_of(game.identity): game for game in games if game.content is None}
    for game in current([entry["game"] for entry in stored.values()]):
        games_by_key.setdefault(key_of(game.identity), game)
    entries = {}
    changed_names = []
    for key, game in games_by_key.items():
        entry = {"game": canonical(game.identity), "checksum": play_through(game)}
        if key in stored and stored[key] != entry:
            changed_names.append(game.name)
        entries[key] = entry
    return entries, changed_names


def current(identities: list[dict]) -> list:
    """Return the games of the package with these identities; older versions are left out."""
    games = []
    for spec in identities:
        with contextlib.suppress(ValueError):  # not of the package, or has no such parameter
            games.append(load_spec(spec))
    return [game for game in games if canonical(game.identity) in identities]
