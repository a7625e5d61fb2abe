"""Times of a move beside those of a paper: milliseconds, and the ratios that machines share."""

import numpy as np
import pandas as pd

from ..stats import Interval, mean_interval

ALONE, TREE_SEARCH, SEARCHED = "alone", "MCTS", "Wrapped"
TRAINING, ALL_OF_IT = "training", "all of it"


def times_table(ours: dict, printed: dict) -> pd.DataFrame:
    """Return the times of a move of several players, ours and a paper's, and their ratios.

    Machines differ, ratios of two players on one machine less so. That to the tree search is the
    better one: the agent alone is asked from Python, which takes a good part of its time.

    Parameters
    ----------
    ours : dict
        Player -> :class:`afterstate.stats.Interval` of CPU milliseconds; "alone" is the agent
        alone, a name that begins with "MCTS" the tree search.
    printed : dict
        Player -> milliseconds in the paper, as far as it has them.

    Returns
    -------
    DataFrame
        One row a player; NaN where nothing is known.

    Examples
    --------
    >>> from afterstate.stats import mean_interval
    >>> ours = {"alone": mean_interval([0.1]), "MCTS-100": mean_interval([2.0])}
    >>> times_table(ours, {"alone": 0.5, "MCTS-100": 5.0})["times MCTS, paper"].tolist()
    [0.1, 1.0]
    """
    tree_search = next((player for player in ours if player.startswith(TREE_SEARCH)), None)
    means = {player: interval.mean for player, interval in ours.items()}
    rows = [
        {
            "player": player,
            "ours, ms": interval.mean,
            "95% low": np.maximum(interval.low, 0.0),  # no move takes less than no time
            "95% high": interval.high,
            "paper, ms": float(printed.get(player, np.nan)),
            "times MCTS, ours": _ratio(means, player, tree_search),
            "times MCTS, paper": _ratio(printed, player, tree_search),
            "times the agent alone, ours": _ratio(means, player, ALONE),
            "times the agent alone, paper": _ratio(printed, player, ALONE),
        }
        for player, interval in ours.items()
    ]
    return pd.DataFrame(rows)


def _ratio(times, player, other):
    return times[player] / times[other] if player in times and times.get(other) else float("nan")


def seconds(arm, runs, results, provenances=None) -> dict:
    """Return player -> run -> CPU seconds of a move in the runs of an arm.

    They are what the evaluations "moves of <player>" cost, by the number of moves that they found.
    The player "training" is the agent while it learns; "all of it" has the seconds of the training.

    Parameters
    ----------
    arm : str
    runs, results : DataFrame or None
        ``study.runs()`` and ``study.table()``; None if there are none.
    provenances : sequence of str, optional
        Only runs that come from there (default: all that have a cost).

    Examples
    --------
    >>> runs = pd.DataFrame({"arm": ["a"], "run": [0], "kind": ["eval"], "moves": [None],
    ...     "evaluator": ["moves of alone"], "cpu_seconds": [2.0]})
    >>> results = pd.DataFrame({"arm": ["a"], "run": [0], "metric": "moves:alone", "value": [4.0]})
    >>> seconds("a", runs, results)
    {'alone': {0: 0.5}}
    """
    if runs is None or results is None:
        return {}
    mine = runs[runs["arm"] == arm].dropna(subset="cpu_seconds")
    if provenances is not None:
        mine = mine[mine["provenance"].isin(provenances)]
    made = results[(results["arm"] == arm) & results["metric"].str.startswith("moves:")]
    made = made.set_index(["run", "metric"])["value"].to_dict()
    found = {}
    for row in mine.itertuples():
        named = str(row.evaluator).startswith("moves of ")
        player = str(row.evaluator).removeprefix("moves of ") if named else TRAINING
        moves = made.get((row.run, f"moves:{player}")) if named else row.moves
        if (named or row.kind == "train") and moves and moves > 0:
            found.setdefault(player, {})[row.run] = row.cpu_seconds / moves
        if row.kind == "train":
            found.setdefault(ALL_OF_IT, {})[row.run] = row.cpu_seconds
    return found


def milliseconds(arm, runs, results) -> dict:
    """Return player -> CPU milliseconds of a move in each run of an arm that has a cost.

    Without those of the training; see :func:`seconds`.
    """
    found = seconds(arm, runs, results)
    return {
        player: [1000.0 * spent for spent in per_run.values()]
        for player, per_run in found.items()
        if player not in (TRAINING, ALL_OF_IT)
    }


def ratio_of_means(per_run, player, other):
    """Return the ratio of the mean times of two players, and of how many agents it is.

    Its t interval is that of what is left of each agent once the ratio is known: agents differ in
    their machines, so both times of an agent belong together.

    Parameters
    ----------
    per_run : dict
        As :func:`seconds` returns it.
    player, other : str

    Returns
    -------
    Interval or None
        None if no agent has both.
    int

    Examples
    --------
    >>> ratio_of_means({"alone": {0: 1.0}, "MCTS-5": {0: 4.0}}, "MCTS-5", "alone")
    (Interval(mean=4.0, low=nan, high=nan), 1)
    """
    runs = sorted(set(per_run.get(player, {})) & set(per_run.get(other, {})))
    if not runs:
        return None, 0
    upper, lower = (np.array([per_run[name][run] for run in runs]) for name in (player, other))
    ratio = upper.mean() / lower.mean()
    _, low, high = mean_interval(ratio + (upper - ratio * lower) / lower.mean())
    return Interval(float(ratio), low, high), len(runs)


def searched_trainings(arm, runs, results, printed: dict) -> pd.DataFrame:
    """Return what a training would cost whose moves are found by the search, as a multiple of ours.

    Every move is made as before and searched besides, so the factor is 1 + the time of a searched
    move by that of a move of the training.

    Parameters
    ----------
    arm, runs, results
        As for :func:`seconds`.
    printed : dict
        Player -> factor in the paper, as far as it has them.

    Returns
    -------
    DataFrame
        One row for each wrapped player.
    """
    per_run = seconds(arm, runs, results)
    rows = []
    for player in (name for name in per_run if name.startswith(SEARCHED)):
        ratio, number = ratio_of_means(per_run, player, TRAINING)
        if number:
            theirs = float(printed.get(player, np.nan))
            factors = {"factor, ours": 1.0 + ratio.mean, "factor, paper": theirs}
            rows.append({"moves of the training by": player, **factors})
    return pd.DataFrame(rows)
