"""Tables and curves of [jamieson2022] made from the results of its studies."""

import numpy as np
import pandas as pd

from ..digits import cell, fixed
from .snapshots import PLAYERS


def point(curve: pd.DataFrame, episode: int, games: int = 100) -> dict:
    """Return wins, draws and losses in the first seat at one checkpoint.

    A function for ``Study.derive``; nothing if it was not measured.
    """
    if episode not in curve.index or "own teacher:first:wins" not in curve:
        return {}
    won, lost = (
        float(curve.loc[episode, f"own teacher:first:{what}"]) for what in ("wins", "losses")
    )
    return {
        f"evaluation_{episode}:wins": won,
        f"evaluation_{episode}:draws": games - won - lost,
        f"evaluation_{episode}:losses": lost,
    }


def means(table: pd.DataFrame, arm: str) -> dict:
    """Return metric -> mean over runs of an arm's last values, from a study's table.

    Nothing if there are no results yet.
    """
    rows = table[table.arm == arm]
    return rows[rows.episode == rows.episode.max()].groupby("metric").value.mean().to_dict()


def outcome_curves(
    table: pd.DataFrame, arm: str, last: int, games: int = 100, opponent: str = "own teacher"
) -> pd.DataFrame:
    """Return the curves of Figs. 2 and 3 as a table for ``figures.learning_curves``.

    They are wins, draws and losses of the learner in the first seat, in percent.

    Parameters
    ----------
    table : DataFrame of a study
    arm : str
    last : int
        Up to this episode.
    games : int
        Behind each point.
    """
    rows = table[(table.arm == arm) & (table.episode <= last)]
    wide = (
        rows.pivot(index=["run", "episode"], columns="metric", values="value")
        .reindex(columns=[f"{opponent}:first:wins", f"{opponent}:first:losses"])
        .dropna()
    )
    won, lost = (100.0 * wide[f"{opponent}:first:{what}"] / games for what in ("wins", "losses"))
    parts = {"learning agent wins": won, "draws": 100.0 - won - lost, "teaching agent wins": lost}
    long = pd.concat(
        [values.rename("value").reset_index().assign(arm=name) for name, values in parts.items()],
        ignore_index=True,
    )
    return long.assign(metric="share")[["arm", "run", "episode", "metric", "value"]]


def training_curves(table: pd.DataFrame, arm: str, last: int) -> pd.DataFrame:
    """Return the results of training games as a table for ``figures.learning_curves``.

    They are wins, draws and losses of the learner between two checkpoints, in percent, from the
    counts of ``learning.TrainingGames``; otherwise as :func:`outcome_curves`.
    """
    rows = table[(table.arm == arm) & (table.episode <= last)]
    rows = rows[rows.metric.str.startswith("training:")]
    what = rows.metric.str.rsplit(":", n=1).str[1]
    counts = rows.groupby(["run", "episode", what.rename("what")]).value.sum().unstack("what")
    if counts.empty:
        return pd.DataFrame(columns=["arm", "run", "episode", "metric", "value"])
    block = counts.groupby("run").diff().fillna(counts)
    shares = 100.0 * block.div(block.sum(axis=1), axis=0)
    names = {"wins": "learning agent wins", "draws": "draws", "losses": "teaching agent wins"}
    parts = [shares[k].rename("value").reset_index().assign(arm=name) for k, name in names.items()]
    long = pd.concat(parts, ignore_index=True).assign(metric="share")
    return long[["arm", "run", "episode", "metric", "value"]]


def running_shares(results, every: int = 50) -> pd.DataFrame:
    """Return running percentages of wins, draws and losses over a series of games (Figs. 4 and 5).

    The table has the form of :func:`outcome_curves`.
    """
    number = np.arange(1, len(results) + 1)
    keep = (number <= every) | (number % every == 0)
    parts = [
        pd.DataFrame(
            {
                "arm": name,
                "run": 0,
                "episode": number[keep],
                "metric": "share",
                "value": (100.0 * np.cumsum(results == sign) / number)[keep],
            }
        )
        for name, sign in (("player 1 wins", 1), ("draws", 0), ("player 2 wins", -1))
    ]
    return pd.concat(parts, ignore_index=True)


def crosstable(values: dict, players=PLAYERS, label: str = "") -> pd.DataFrame:
    """Return a tournament as the paper prints it.

    A cell holds win : draw : loss of the row's player in the first seat, "-" where there is none.

    Parameters
    ----------
    values : dict metric -> number, as :class:`snapshots.Tournament` returns (or means over runs)
    label : str
        Of the tournament.
    """

    def show(*metrics):
        return (
            cell(fixed(values[label + m], 0) for m in metrics)
            if all(label + m in values for m in metrics)
            else "-"
        )

    rows = [
        [
            *(
                show(*(f"{a} vs {b}:{what}" for what in ("wins", "draws", "losses")))
                for b in players
            ),
            show(f"{a}:points"),
            show(f"{a}:points of both seats"),
        ]
        for a in players
    ]
    return pd.DataFrame(
        rows, index=pd.Index(players, name="P1/P2"), columns=[*players, "Points", "both seats"]
    )


def as_results(table: pd.DataFrame, arm: str, players=PLAYERS, label: str = "") -> pd.DataFrame:
    """Return the tournaments of all runs of an arm, as :mod:`arena.ratings` reads them."""
    rows = table[table.arm == arm]
    wide = rows[rows.episode == rows.episode.max()].pivot(
        index="run", columns="metric", values="value"
    )
    found = [
        (
            a,
            b,
            *(wide.loc[run, f"{label}{a} vs {b}:{what}"] for what in ("wins", "draws", "losses")),
            run,
        )
        for run in wide.index
        for a in players
        for b in players
        if f"{label}{a} vs {b}:wins" in wide
    ]
    return pd.DataFrame(found, columns=["first", "second", "wins", "draws", "losses", "run"])
