"""Tables and curves of [jamieson2022] made from the results of its studies."""

import numpy as np
import pandas as pd

from ...stats import cell, fixed
from .snapshots import PLAYERS, POINTS

COLUMNS = ["arm", "run", "episode", "metric", "value"]  # of what ``figures.learning_curves`` draws


def point(curve: pd.DataFrame, episode: int, games: int = 100) -> dict:
    """Return wins, draws and losses in the first seat at one checkpoint: for ``Study.derive``."""
    if episode not in curve.index or "own teacher:first:wins" not in curve:
        return {}
    won, lost = (float(curve.loc[episode, f"own teacher:first:{w}"]) for w in ("wins", "losses"))
    counts = {"wins": won, "draws": games - won - lost, "losses": lost}
    return {f"evaluation_{episode}:{what}": count for what, count in counts.items()}


def _last(table, arm):
    rows = table[table.arm == arm]
    return rows[rows.episode == rows.episode.max()]


def means(table: pd.DataFrame, arm: str) -> dict:
    """Return metric -> mean over runs of an arm's last values."""
    return _last(table, arm).groupby("metric").value.mean().to_dict()


def _shares(by_name: dict) -> pd.DataFrame:
    """Return series by (run, episode), in percent, as a table of curves."""
    parts = [s.rename("value").reset_index().assign(arm=name) for name, s in by_name.items()]
    return pd.concat(parts, ignore_index=True).assign(metric="share")[COLUMNS]


def outcome_curves(table: pd.DataFrame, arm: str, last: int, games: int = 100) -> pd.DataFrame:
    """Return the curves of Figs. 2 and 3: percent of `games` in the first seat, up to `last`."""
    rows = table[(table.arm == arm) & (table.episode <= last)]
    columns = ["own teacher:first:wins", "own teacher:first:losses"]
    wide = rows.pivot(index=["run", "episode"], columns="metric", values="value")
    wide = wide.reindex(columns=columns).dropna()
    won, lost = (100.0 * wide[column] / games for column in columns)
    draws = 100.0 - won - lost
    return _shares({"learning agent wins": won, "draws": draws, "teaching agent wins": lost})


def training_curves(table: pd.DataFrame, arm: str, last: int) -> pd.DataFrame:
    """Return shares of the training games between two checkpoints, as :func:`outcome_curves`."""
    rows = table[(table.arm == arm) & (table.episode <= last)]
    rows = rows[rows.metric.str.startswith("training:")]
    what = rows.metric.str.rsplit(":", n=1).str[1]
    counts = rows.groupby(["run", "episode", what.rename("what")]).value.sum().unstack("what")
    if counts.empty:
        return pd.DataFrame(columns=COLUMNS)
    block = counts.groupby("run").diff().fillna(counts)
    shares = 100.0 * block.div(block.sum(axis=1), axis=0)
    names = {"wins": "learning agent wins", "draws": "draws", "losses": "teaching agent wins"}
    return _shares({name: shares[k] for k, name in names.items()})


def running_shares(results) -> pd.DataFrame:
    """Return running percentages over a series of games (Figs. 4 and 5), as outcome_curves."""
    number = np.arange(1, len(results) + 1)
    keep = (number <= 50) | (number % 50 == 0)
    index = pd.MultiIndex.from_product([[0], number[keep]], names=["run", "episode"])
    signs = {"player 1 wins": 1, "draws": 0, "player 2 wins": -1}
    shares = {name: 100.0 * np.cumsum(results == sign) / number for name, sign in signs.items()}
    return _shares({name: pd.Series(share[keep], index) for name, share in shares.items()})


def crosstable(values: dict, players=PLAYERS, label: str = "") -> pd.DataFrame:
    """Return a tournament as the paper prints it: the player of a row is the first.

    `values` are those of :class:`snapshots.Tournament`, or means over runs.
    """

    def show(*metrics):
        known = all(label + metric in values for metric in metrics)
        return cell(fixed(values[label + metric], 0) for metric in metrics) if known else "-"

    rows = [
        [show(*(f"{a} vs {b}:{what}" for what in POINTS)) for b in players]
        + [show(f"{a}:points"), show(f"{a}:points of both seats")]
        for a in players
    ]
    index = pd.Index(players, name="P1/P2")
    return pd.DataFrame(rows, index, [*players, "Points", "both seats"])


def as_results(table: pd.DataFrame, arm: str, players=PLAYERS, label: str = "") -> pd.DataFrame:
    """Return the tournaments of all runs of an arm, as :mod:`arena.ratings` reads them."""
    wide = _last(table, arm).pivot(index="run", columns="metric", values="value")
    found = [
        (a, b, *(wide.loc[run, f"{label}{a} vs {b}:{what}"] for what in POINTS), run)
        for run in wide.index
        for a in players
        for b in players
        if f"{label}{a} vs {b}:wins" in wide
    ]
    return pd.DataFrame(found, columns=["first", "second", *POINTS, "run"])
