"""Golden runs: tiny trainings with known checksums.

They tell whether the numbers of a learner are still those of its version.

``data/golden.json`` holds, for every learner, its version and a few trainings::

    {"td": {"version": 1, "runs": [{"game": {"name": "nim", "params": {}}, "parameters": {}, "episodes": 200, "seed": 1, "checksum": "..."}]}}

Records made by other sources of the package are used only after the golden runs have come out as
stated. Whoever changes the numbers of a learner raises its VERSION and writes the file anew:
``python -m afterstate.commands.reproduce golden --write``.
"""

import json
from pathlib import Path

from ..files import write_text
from ..games.catalogue import load_spec
from ..kernel.compile import source_hash
from .identity import key_of, learner_identity
from .records import as_text, machine

PASSED, CHANGED, ABSENT = "passed", "changed", "absent"
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


def repeat(learner, run: dict) -> str:
    """Train one golden run and return the checksum of its weights."""
    session = learner.Session(load_spec(run["game"]), dict(run["parameters"]), run["seed"])
    session.train(run["episodes"])
    return session.net.checksum()


def check(learner, data: Path) -> tuple[str, str]:
    """Repeat the golden runs of a learner, once per state of the sources, and return the outcome with an explanation.

    Parameters
    ----------
    learner : module with NAME, VERSION, DEFAULTS, Session
    data : Path
        The data directory: it holds golden.json, and the outcome goes to its cache.

    Returns
    -------
    (str, str)
        PASSED, CHANGED or ABSENT, and a sentence that says what to do.
    """
    identity = learner_identity(learner)
    if str(identity["version"]).startswith("source-"):
        return PASSED, "the version is the hash of the source"
    write_it = "python -m afterstate.commands.reproduce golden --write"
    entry = _read(data).get(identity["name"])
    if entry is None or entry["version"] != identity["version"] or not entry["runs"]:
        return (
            ABSENT,
            (
                f"{data / 'golden.json'} has no golden run of {identity['name']} version"
                f" {identity['version']}: run {write_it}"
            ),
        )
    known = (
        data
        / "cache"
        / "golden"
        / f"{key_of({'sources': source_hash(), 'target': machine()['target'], 'entry': entry})}.json"
    )
    if known.exists():
        wrong = json.loads(known.read_text())
    else:
        wrong = [
            f"{run['game']['name']}: {found} instead of {run['checksum']}"
            for run in entry["runs"]
            if (found := repeat(learner, run)) != run["checksum"]
        ]
        known.parent.mkdir(parents=True, exist_ok=True)
        write_text(known, json.dumps(wrong))
    if not wrong:
        return (
            PASSED,
            (
                f"the golden runs of {identity['name']} version {identity['version']} came out as"
                " stated"
            ),
        )
    return (
        CHANGED,
        (
            f"the golden runs of {identity['name']} version {identity['version']} came out"
            f" different ({'; '.join(wrong)}): its numbers changed, its version did not. Records of"
            " this version are refused and none is written. Undo the edit, or raise VERSION and"
            f" run {write_it}"
        ),
    )


def write(learner, data: Path) -> dict:
    """Train the golden runs of a learner and write their checksums to golden.json.

    Return its entry.

    Raises
    ------
    ValueError
        If the checksums changed although the version did not.
    """
    stored, identity = _read(data), learner_identity(learner)
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


def _read(data: Path) -> dict:
    path = data / "golden.json"
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise ValueError(f"{path} is damaged ({error}): restore it (git checkout)") from error
