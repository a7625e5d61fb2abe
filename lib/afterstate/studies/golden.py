"""Golden runs and playthroughs: whether learners and games are still those of their versions.

``data/golden.json`` holds, for every learner, its version and a few tiny trainings with the
checksums of their weights::

    {"td": {"version": 1, "runs": [{"game": {"name": "nim", "params": {}}, "parameters": {},
                                    "episodes": 200, "seed": 1, "checksum": "..."}]}}

``data/playthroughs.json`` holds, for every game that has records, the checksum of some random games
of it, by the key of the game's identity::

    {"0123456789abcdef": {"game": {"name": "nim", "params": {...}, "version": 1}, "checksum": ...}}

Records made by other sources of the package are used only if both come out as stated. Whoever
changes the numbers of a learner raises its VERSION, whoever changes the rules of a game raises the
game's, and both write the files anew: ``python -m afterstate.commands.reproduce golden --write``.
"""

import contextlib
import functools
import hashlib
import json
from pathlib import Path

from ..files import write_text
from ..games.catalogue import load_spec
from ..kernel.random import new_rng, random_int
from .confirmations import once
from .identity import canonical, closure_hash, key_of, learner_identity
from .records import as_text, machine

PASSED, CHANGED, ABSENT, UNKNOWN = "passed", "changed", "absent", "not checked"
WRITE = "python -m afterstate.commands.reproduce golden --write"
PLAYTHROUGHS, MAX_PLIES = 10, 200  # random games of a playthrough, each cut off there
NEW_RUNS = (
    {
        "game": {"name": "tictactoe", "params": {}},
        "parameters": {"tuples": [[0, 1, 2], [4]]},
        "episodes": 200,
        "seed": 1,
    },
    {"game": {"name": "nim", "params": {}}, "parameters": {}, "episodes": 200, "seed": 2},
    {"game": {"name": "nim3p", "params": {}}, "parameters": {}, "episodes": 200, "seed": 3},
)

# ------------------------------------------------------------------------------------- what is done


def repeat(learner, run: dict) -> str:
    """Train one golden run and return the checksum of its weights."""
    session = learner.Session(load_spec(run["game"]), dict(run["parameters"]), run["seed"])
    session.train(run["episodes"])
    return session.net.checksum()


def play_through(game) -> str:
    """Play some random games and return a checksum of all that the rules say on the way.

    That is states, players, boards, keys, legal actions and scores.
    """
    digest = hashlib.sha256()
    for seed in range(PLAYTHROUGHS):
        rng = new_rng(seed)
        state = game.random_start(rng)[0] if seed % 2 else game.start(seed)
        for _ in range(MAX_PLIES):
            over, legal = game.over(state), game.legal(state)
            facts = [state, game.board(state), game.score(state), legal]
            facts = [values.tolist() for values in facts]
            facts += [over, game.key(state) if game.rules.key else None]
            digest.update(json.dumps(facts).encode())
            if over:
                break
            digest.update(b"%d" % game.player(state))
            state = game.next(state, legal[random_int(rng, len(legal))], rng)
    return digest.hexdigest()[:16]


# ----------------------------------------------------------------------------------------- checking


def check(learner, data: Path, compute: bool = True, here: bool = False) -> tuple[str, str]:
    """Repeat the golden runs of a learner, once per state of the sources behind them.

    Parameters
    ----------
    learner : module with NAME, VERSION, DEFAULTS, Session
    data : Path
        The data directory: it holds golden.json, and the outcome goes to its cache.
    compute : bool
        Whether they are repeated if this has not been done; else the outcome is UNKNOWN.
    here : bool
        Whether they must have been repeated on this kind of processor, as before new records.
        That the sources are still those of stored records was found on any.

    Returns
    -------
    (str, str)
        PASSED, CHANGED, ABSENT or UNKNOWN, and a sentence that says what to do.
    """
    identity = learner_identity(learner)
    if str(identity["version"]).startswith("source-"):
        return PASSED, "the version is the hash of the source"
    what = f"the golden runs of {identity['name']} version {identity['version']}"
    entry = _read(data / "golden.json").get(identity["name"])
    if entry is None or entry["version"] != identity["version"] or not entry["runs"]:
        return ABSENT, f"{data / 'golden.json'} does not have {what}: run {WRITE}"

    def wrong():
        pairs = [(run, repeat(learner, run)) for run in entry["runs"]]
        return [
            f"{run['game']['name']}: {found} instead of {run['checksum']}"
            for run, found in pairs
            if found != run["checksum"]
        ]

    games = tuple({as_text(run["game"]): None for run in entry["runs"]})
    question = {"sources": _closure_with(learner, games), "entry": entry}
    if here:
        question["target"] = machine()["target"]
    advice = f"raise VERSION and run {WRITE}"
    return _verdict(what, once(data, question, wrong, compute), "its numbers", advice)


def check_game(game, data: Path, compute: bool = True) -> tuple[str, str]:
    """Play a game's random games again, once per state of its rules.

    Parameters and what is returned are those of :func:`check`.
    """
    identity = game.identity
    if str(identity["version"]).startswith("source-"):
        return PASSED, "the version is the hash of the source"
    what = f"the playthroughs of {identity['name']} {identity['params']}"
    what += f" version {identity['version']}"
    entry = _read(data / "playthroughs.json").get(key_of(identity))
    if entry is None:
        return ABSENT, f"{data / 'playthroughs.json'} does not have {what}: run {WRITE}"

    def wrong():
        found = play_through(game)
        return [f"{found} instead of {entry['checksum']}"] * (found != entry["checksum"])

    question = {"sources": closure_hash(game.rule("play"), game), "entry": entry}
    advice = f"raise the version of the game and run {WRITE}"
    return _verdict(what, once(data, question, wrong, compute), "its rules", advice)


@functools.cache
def _closure_with(learner, games: tuple) -> str:
    """Return the hash of the sources behind a learner and games, given as JSON text."""
    return closure_hash(learner, *(load_spec(json.loads(game)).rule("play") for game in games))


def _verdict(what, wrong, changed, advice):
    if wrong is None:
        return UNKNOWN, f"{what} have not been repeated yet"
    if not wrong:
        return PASSED, f"{what} came out as stated"
    return (
        CHANGED,
        f"{what} came out different ({'; '.join(wrong)}): {changed} changed, its version did not."
        f" Records of this version are refused and none is written. Undo the edit, or {advice}",
    )


# ------------------------------------------------------------------------------------------ writing


def write(learner, data: Path) -> dict:
    """Train the golden runs of a learner and write their checksums to golden.json.

    Returns
    -------
    dict
        Its entry.

    Raises
    ------
    ValueError
        If the checksums changed although the version did not.
    """
    stored, identity = _read(data / "golden.json"), learner_identity(learner)
    old = stored.get(identity["name"], {"version": None, "runs": NEW_RUNS})
    runs = [{**run, "checksum": repeat(learner, run)} for run in old["runs"]]
    changed = [
        run["game"]["name"]
        for run, before in zip(runs, old["runs"])
        if before.get("checksum") not in (None, run["checksum"])
    ]
    if changed and old["version"] == identity["version"]:
        raise ValueError(
            f"the golden runs of {identity['name']} on {', '.join(changed)} changed but its VERSION"
            f" is still {identity['version']}: raise it, or undo the edit"
        )
    stored[identity["name"]] = {"version": identity["version"], "runs": runs}
    write_text(data / "golden.json", as_text(stored))
    return stored[identity["name"]]


def write_games(identities: list[dict], data: Path) -> dict:
    """Play random games of the package's games and write their checksums to playthroughs.json.

    Parameters
    ----------
    identities : list of {"name", "params", "version"}
        Of the games that have records; games of an older version are left out, those that are in
        the file already stay.

    Returns
    -------
    dict
        The entries by the key of the game.

    Raises
    ------
    ValueError
        If a checksum changed although the version did not.
    """
    stored, found = _read(data / "playthroughs.json"), {}
    for game in current([entry["game"] for entry in stored.values()] + identities):
        key = key_of(game.identity)
        found[key] = {"game": game.identity, "checksum": play_through(game)}
        if key in stored and stored[key] != found[key]:
            raise ValueError(
                f"the playthroughs of {game.name} changed but its version is still {game.version}:"
                " raise it, or undo the edit"
            )
    write_text(data / "playthroughs.json", as_text(found))
    return found


def current(identities: list[dict]) -> list:
    """Return the games of the package with these identities; older versions are left out."""
    found = []
    for identity in {key_of(identity): identity for identity in identities}.values():
        with contextlib.suppress(ValueError):  # not of the package, or has no such parameter
            found.append(load_spec(identity))
    return [game for game in found if canonical(game.identity) in identities]


def _read(path: Path) -> dict:
    try:
        return _parsed(path, path.stat().st_mtime_ns)
    except FileNotFoundError:
        return {}


@functools.lru_cache(maxsize=8)
def _parsed(path, _changed):
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))
        if not all(isinstance(entry, dict) for entry in entries.values()):
            raise ValueError("it must hold an object of objects")
    except (ValueError, AttributeError) as error:
        raise ValueError(
            f"{path} is damaged ({error}): restore it (git checkout), or delete it and run {WRITE}"
        ) from error
    return entries
