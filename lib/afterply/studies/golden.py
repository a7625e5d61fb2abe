"""Golden runs and playthroughs: whether learners and games are still those of their versions.

``data/golden.json`` holds tiny trainings of every learner with the checksums of their weights,
``data/playthroughs.json`` the checksum of random games of every game that has records. Whoever
changes numbers raises the VERSION and writes both anew (``make golden``).
"""

import contextlib
import hashlib
import json

from ..files import data_directory, published_file, read_json, write_text
from ..games.catalogue import load_spec, names
from ..games.conformance import random_game
from ..kernel.random import new_rng
from .records import canonical, key_of, learner_identity, machine, sources_behind

PLAYTHROUGHS, MAX_PLIES = 10, 200  # random games of a playthrough, each cut off there
NEW_RUNS = [
    {"game": {"name": name, "params": {}}, "parameters": given, "episodes": 200, "seed": seed}
    for seed, (name, given) in enumerate(
        {"tictactoe": {"tuples": [[0, 1, 2], [4]]}, "nim": {}, "nim3p": {}}.items(), 1
    )
]


def repeat(learner, run: dict) -> str:
    """Train one golden run and return the checksum of its weights."""
    session = learner.Session(load_spec(run["game"]), dict(run["parameters"]), run["seed"])
    session.train(run["episodes"])
    return session.net.checksum()


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
    about |= {"game": game.identity, "learner": learner_identity(learner)}
    # which sources and kinds of processors came out as stated
    mark = data_directory() / "cache" / "golden" / key_of(about)
    if mark.exists():
        return ""
    found = _changed_learner(learner, **about["learner"]) or _changed_game(game)
    if not found:
        write_text(mark, about["sources"] + "\n")
    return found


def _changed_learner(learner, name, version) -> str:
    if str(version).startswith("source-"):  # a home-made one: its code is its version
        return ""
    what, entry = f"the learner {name} version {version}", _stored("golden").get(name)
    if entry is None or entry["version"] != version:
        return f"{what} has no golden runs in data/golden.json: make golden"
    runs = [run for run in entry["runs"] if repeat(learner, run) != run["checksum"]]
    wrong = ", ".join(run["game"]["name"] for run in runs)
    remedy = "undo the edit, or raise its VERSION and make golden"
    return f"{what} gives other numbers now ({wrong}): {remedy}" if wrong else ""


def _changed_game(game) -> str:
    identity = canonical(game.identity)
    if identity["name"] not in names():  # a home-made game answers for its own version
        return ""
    what = f"the game {identity['name']} {identity['params']} version {identity['version']}"
    entry = _stored("playthroughs").get(key_of(identity))
    if entry is None:
        return f"{what} has no playthrough in data/playthroughs.json: make golden"
    if entry["checksum"] == play_through(game):
        return ""
    return f"{what} has other rules now: undo the edit, or raise its version and make golden"


def _stored(name) -> dict:
    path = published_file(f"{name}.json")
    return read_json(path) if path.exists() else {}


def write(learners: dict, identities: list[dict]) -> None:
    """Write golden runs and playthroughs anew; ValueError if only the numbers changed."""
    known, stored = _stored("golden"), _stored("playthroughs")
    runs, games, same = dict(known), {}, []
    for name, learner in learners.items():
        version = learner_identity(learner)["version"]
        old = known.get(name, {"version": None, "runs": NEW_RUNS})
        new = [{**run, "checksum": repeat(learner, run)} for run in old["runs"]]
        same += [name] * (old["version"] == version and new != old["runs"])
        runs[name] = {"version": version, "runs": new}
    for game in current([entry["game"] for entry in stored.values()] + identities):
        key = key_of(game.identity)
        games[key] = {"game": canonical(game.identity), "checksum": play_through(game)}
        same += [game.name] * (stored.get(key, games[key]) != games[key])
    if same:
        raise ValueError(
            f"the numbers of {', '.join(same)} changed but not the version: raise it, or undo it"
        )
    for name, entries in (("golden", runs), ("playthroughs", games)):
        text = json.dumps(entries, indent=1, sort_keys=True) + "\n"
        write_text(data_directory() / f"{name}.json", text)


def current(identities: list[dict]) -> list:
    """Return the games of the package with these identities; older versions are left out."""
    found = []
    for identity in {key_of(identity): identity for identity in identities}.values():
        with contextlib.suppress(ValueError):  # not of the package, or has no such parameter
            found.append(load_spec(identity))
    return [game for game in found if canonical(game.identity) in identities]
