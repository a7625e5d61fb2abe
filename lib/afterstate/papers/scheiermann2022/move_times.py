"""Times of a move of several players, ours and the paper's: the tables of the notebooks.

Source: [scheiermann2022] Sec. IV-D, Tables III and IV.
"""

import numpy as np
import pandas as pd

from ...reports.times import ALL_OF_IT, TRAINING, ratio_of_means, seconds

ALONE, TREE_SEARCH, SEARCHED = "alone", "MCTS", "Wrapped"


def milliseconds(arm, runs, results) -> dict:
    """Return player -> CPU milliseconds of a move in each run of an arm, without the training's."""
    return {
        player: [1000.0 * spent for spent in per_run.values()]
        for player, per_run in seconds(arm, runs, results).items()
        if player not in (TRAINING, ALL_OF_IT)
    }


def times_table(ours: dict, printed: dict) -> pd.DataFrame:
    """Return the times of a move of several players, ours and a paper's, and their ratios.

    The ratio to the tree search is the better one: the agent alone is asked from Python, which
    takes a good part of its time. ours: player -> Interval of CPU milliseconds; printed: player ->
    milliseconds. NaN where nothing is known.
    """
    search = next((player for player in ours if player.startswith(TREE_SEARCH)), None)
    means, rows = {player: interval.mean for player, interval in ours.items()}, []
    for player, interval in ours.items():
        row = {
            "player": player,
            "ours, ms": interval.mean,
            "95% low": np.maximum(interval.low, 0.0),  # no move takes less than no time
            "95% high": interval.high,
            "paper, ms": float(printed.get(player, np.nan)),
        }
        for other, name in ((search, "MCTS"), (ALONE, "the agent alone")):
            for times, whose in ((means, "ours"), (printed, "paper")):
                known = player in times and times.get(other)
                row[f"times {name}, {whose}"] = times[player] / times[other] if known else np.nan
        rows.append(row)
    return pd.DataFrame(rows)


def searched_trainings(arm, runs, results, printed: dict) -> pd.DataFrame:
    """Return what a training would cost whose moves are found by the search, as a multiple of ours.

    Every move is made as before and searched besides, so the factor is 1 + the time of a searched
    move by that of a move of the training. printed: player -> factor. One row for each wrapped
    player.
    """
    per_run, rows = seconds(arm, runs, results), []
    for player in (name for name in per_run if name.startswith(SEARCHED)):
        ratio, number = ratio_of_means(per_run, player, TRAINING)
        if number:
            factors = {"factor, ours": 1.0 + ratio.mean, "factor, paper": printed.get(player)}
            rows.append({"moves of the training by": player, **factors})
    return pd.DataFrame(rows).astype({"factor, paper": float}) if rows else pd.DataFrame()
