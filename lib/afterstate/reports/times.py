"""Times of a move beside those of a paper: milliseconds, and the ratios that machines share."""

import pandas as pd

ALONE, TREE_SEARCH = "alone", "MCTS"


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
            "95% low": interval.low,
            "95% high": interval.high,
            "paper, ms": printed.get(player),
            "times MCTS, ours": _ratio(means, player, tree_search),
            "times MCTS, paper": _ratio(printed, player, tree_search),
            "times the agent alone, ours": _ratio(means, player, ALONE),
            "times the agent alone, paper": _ratio(printed, player, ALONE),
        }
        for player, interval in ours.items()
    ]
    return pd.DataFrame(rows).astype({"paper, ms": float}) if rows else pd.DataFrame(rows)


def _ratio(times, player, other):
    return times[player] / times[other] if player in times and times.get(other) else float("nan")
