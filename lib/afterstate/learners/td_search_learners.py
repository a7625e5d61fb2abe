"""The learners of the random phase in a file: opponents and beginning of the strong phase."""

import json
from pathlib import Path

import numpy as np

from ..files import read_npz, write_npz
from ..networks.linear import NUM_FEATURES, as_weights

GROUP = 10  # learners of one study
PHASE = (
    "method",
    "opponents",
    "learners",
    "extra_opponents",
    "snapshots",
    "start",
    "without",
)  # differ by arm


def write_learners(path, session, vectors: dict) -> None:
    """Write the weight vectors of all learners after the random phase, with how they were trained.

    Parameters
    ----------
    path : str or Path
    session : Session
        Of one of the trainings.
    vectors : dict method -> float64 [runs, 22]
        Rows by number of run, whole groups of ten. More groups may be
        written later: the vectors of the first stay as they are.
    """
    vectors = {method: np.array([as_weights(w) for w in rows]) for method, rows in vectors.items()}
    write_npz(path, {"kind": "learners", **_training(session)}, vectors)


def keep_learners(path, session, vectors: dict, anew: bool = False) -> int:
    """Write the vectors of the learners that have finished the random phase, as far as it goes.

    What the file holds already stays, because later trainings began with it.

    Parameters
    ----------
    path : str or Path
    session : Session
        Of one of the trainings.
    vectors : dict method -> list of float64 [22], by number of run
        None for a run that has not finished. Whole groups of ten are written.
    anew : bool
        Whether a file that is there is replaced.

    Returns
    -------
    int
        Learners of each method in the file; 0 if there is none.
    """
    finished = min(
        next((k for k, w in enumerate(rows) if w is None), len(rows)) for rows in vectors.values()
    )
    finished -= finished % GROUP
    there = {} if anew or not Path(path).exists() else read_npz(path)[1]
    known = min((len(there.get(method, ())) for method in vectors), default=0)
    if finished <= known:
        return known
    rows = {
        method: [*there.get(method, ())[:known], *given[known:finished]]
        for method, given in vectors.items()
    }
    write_learners(path, session, rows)
    return finished


def _training(session) -> dict:
    """Return what the vectors of the random phase depend on, besides method and run."""
    shared = {name: value for name, value in session.params.items() if name not in PHASE}
    told = {"version": session.version, "game": session.game.identity, "parameters": shared}
    return json.loads(json.dumps(told))


def read_learners(path, session) -> dict:
    """Return the vectors after the random phase, {method: float64[runs, 22]}, that fit a session.

    Raises
    ------
    ValueError
        If the file is damaged, does not hold this run, or its learners had another version, game or
        parameters.
    """
    meta, arrays = read_npz(path)
    if meta.get("kind") != "learners":
        raise ValueError(f"{path} holds {meta.get('kind')!r}, not learners")
    for name, value in _training(session).items():
        if meta[name] != value:
            raise ValueError(
                f"{path} holds learners with {name}={meta[name]!r}, not {value!r}: "
                "train the random phase again"
            )
    method, run = session.params["method"], session.run
    if not {"LL", "LB", method} <= set(arrays) or any(wrong(arrays[m], run) for m in arrays):
        raise ValueError(
            f"{path} must hold the vectors of whole groups of {GROUP} learners by LL, LB and "
            f"{method}, among them run {run}"
        )
    return arrays


def wrong(rows, run) -> bool:
    """Return whether these are no vectors of whole groups with this run among them."""
    return rows.ndim != 2 or rows.shape[1] != NUM_FEATURES or len(rows) % GROUP or len(rows) <= run
