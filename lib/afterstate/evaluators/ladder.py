"""How strong the weaker players of a table are: every way at every dial, rated in one pool."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..arena import ratings
from ..arena.rating_pool import cyclic, meet, pool, prepare, rate, shared_copy
from ..checks import fraction, one_of, whole
from ..kernel.random import seed_from
from ..players.agents import FULL_DEPTH, learned
from ..players.weaken import DIALS, METHODS, weakened
from ..stats import mean_interval
from .base import Evaluator, table_of


@dataclass(frozen=True)
class Ladder(Evaluator):
    """Matches: every way of weakening at every dial, rated in the pool.

    Then all of them against each other.

    Metrics: ``<method> <dial>:rating``, ``:score``, ``:loss`` (and ``:distinct`` where games are
    sampled), as :func:`rate` returns them; ``cycles``, ``triples`` and ``misfit``: the root of the
    mean squared difference between the scores of the players against each other and those that
    their ratings predict, in percent.

    Parameters
    ----------
    n : int
        Training games of the full table.
    methods : tuple of str
        Of ``METHODS``; empty: only the table itself, as ``table 1``.
    dials : tuple of float
    depth : int
        Of Min-Max in the pool.
    games : int
        For each ordered pair of a rating; 0 = exact.
    meetings : int
        For each ordered pair of the players against each other; 0 = exact.
    """

    n: int = 8_000
    methods: tuple = METHODS
    dials: tuple = DIALS
    depth: int = FULL_DEPTH
    games: int = 0
    meetings: int = 0
    version: int = 2
    name: str = "ladder"

    def __post_init__(self):
        whole("n", self.n), whole("depth", self.depth, 0)
        whole("games", self.games, 0), whole("meetings", self.meetings, 0)
        for method in self.methods:
            one_of("methods", method, METHODS)
        for dial in self.dials:
            fraction("dials", dial)

    def __call__(self, game, agent, seed: int = 0) -> dict:
        """Return metric -> value."""
        game, net = shared_copy(game), table_of(game, agent)
        among, found, sides = pool(game, self.depth, self.games), {}, {}
        for name, agent in self._rungs(game, net, seed):
            sides[name] = prepare(game, agent, self.games)
            found[name] = rate(game, sides[name], among, seed_from(seed, name))
        found |= {name: found[same] for name, same in self._same(game).items()}
        values = {
            f"{name}:{metric}": value
            for name, row in found.items()
            for metric, value in row.items()
        }
        return values | (
            self._round_robin(game, among, sides, found, seed) if len(sides) > 2 else {}
        )

    def _rungs(self, game, net, seed):
        """Yield the name of every different player, and the player.

        All ways have the same table at dial 1, and those that choose at random the same player at
        0.
        """
        if not self.methods:
            yield "table 1", learned(net)
        twice = self._same(game)
        for method in self.methods:
            for dial in self.dials:
                if f"{method} {dial:g}" not in twice:
                    yield (
                        f"{method} {dial:g}",
                        weakened(net, method, dial, seed_from(seed, method), self.n),
                    )

    def _same(self, game) -> dict:
        """Return name -> name of the same player."""
        # else random moves differ
        at_random = (
            [method for method in self.methods if method != "noise"]
            if game.rules.compound == 1
            else []
        )
        groups = {1.0: self.methods, 0.0: at_random}
        return {
            f"{method} {dial:g}": f"{group[0]} {dial:g}"
            for dial, group in groups.items()
            if dial in self.dials
            for method in group[1:]
        }

    def _round_robin(self, game, among, sides, found, seed) -> dict:
        names, size = list(sides), len(sides)
        score, squares, expected = (
            np.full((size, size), 0.5),
            np.full((size, size), 0.25),
            np.full((size, size), 0.5),
        )
        model = ratings.Model(
            names,
            np.array([found[name]["rating"] for name in names]) / ratings.ELO,
            among.model.first,
            among.model.draw,
        )
        worth = np.array([1.0, 0.5, 0.0])
        for i in range(size):
            for j in range(i):
                first, _ = meet(
                    game,
                    sides[names[i]],
                    sides[names[j]],
                    self.meetings,
                    seed_from(seed, names[i], names[j]),
                )
                second, _ = meet(
                    game,
                    sides[names[j]],
                    sides[names[i]],
                    self.meetings,
                    seed_from(seed, names[j], names[i]),
                )
                mine = (first + second[::-1]) / 2
                score[i, j], squares[i, j] = mine @ worth, mine @ worth**2
                score[j, i], squares[j, i] = 1 - score[i, j], mine[::-1] @ worth**2
                expected[i, j] = (
                    (
                        model.probabilities(names[i], names[j])
                        + model.probabilities(names[j], names[i])[::-1]
                    )
                    @ worth
                    / 2
                )
        error = (
            np.sqrt(np.maximum(squares - score**2, 0.0) / (2 * self.meetings))
            if self.meetings
            else np.zeros_like(score)
        )
        below = np.tril_indices(size, -1)
        cycles, triples = cyclic(score, error)
        return {
            "cycles": cycles,
            "triples": triples,
            "misfit": 100.0 * float(np.sqrt(np.mean((score - expected)[below] ** 2))),
        }


def rungs(table: pd.DataFrame, arm: str, metric: str = "rating") -> pd.DataFrame:
    """Return the values of all rungs of an arm from a study's table: method, dial, run, value."""
    rows = table[(table.arm == arm) & table.metric.str.fullmatch(rf".+ [\d.]+:{metric}")]
    names = rows.metric.str.extract(rf"(.+) ([\d.]+):{metric}")
    return pd.DataFrame(
        {"method": names[0], "dial": names[1].astype(float), "run": rows.run, "value": rows.value}
    ).reset_index(drop=True)


def trained(table: pd.DataFrame, ladders: dict) -> pd.DataFrame:
    """Return the ratings of ladders that are made of trainings, as :func:`rungs` does.

    The random player is put in at dial 0.

    Parameters
    ----------
    table : DataFrame of a study
    ladders : dict method -> list of arms, the full training last
        The first arm stands at the dial 1 / number of arms, the last one at 1.
    """
    full = table[table.metric.isin(["table 1:rating", f"{METHODS[0]} 1:rating"])]
    parts = [pd.DataFrame(columns=["method", "dial", "run", "value"])]
    for method, arms in ladders.items():
        for k, arm in enumerate(arms):
            rows = full[full.arm == arm]
            parts.append(
                pd.DataFrame(
                    {
                        "method": method,
                        "dial": (k + 1) / len(arms),
                        "run": rows.run,
                        "value": rows.value,
                    }
                )
            )
        parts.append(
            pd.DataFrame(
                {
                    "method": method,
                    "dial": 0.0,
                    "run": sorted(set(full[full.arm.isin(arms)].run)),
                    "value": 0.0,
                }
            )
        )
    return pd.concat([part for part in parts if len(part)] or parts[:1], ignore_index=True)


def smoothness(ladder: pd.DataFrame) -> pd.DataFrame:
    """Return how even the ladders of opponents are, one row a method.

    Fixed before the first run. In each run a ladder has a rating at every dial; its *largest step*
    is the greatest distance of neighbouring rungs, up or down, in percent of the distance from dial
    0 to dial 1 (the least possible is 100 percent / number of steps), and its *wrong steps* are
    those on which a higher dial has a lower rating. *Spread* is the standard deviation over runs of
    the rating at one dial, mean over the dials between 0 and 1: what one does not know of an
    opponent before it is rated.

    Parameters
    ----------
    ladder : DataFrame method, dial, run, value, as :func:`rungs` returns

    Returns
    -------
    DataFrame
        method, runs, rungs, range (Elo points), least (possible step), largest_step with low and
        high (95% interval over runs), wrong_steps, spread; the evenest first.
    """
    rows = []
    for method, group in ladder.groupby("method", sort=False):
        wide = group.pivot(index="run", columns="dial", values="value").sort_index(axis=1)
        if wide.shape[1] < 3:
            continue
        steps = wide.diff(axis=1).iloc[:, 1:].to_numpy()
        whole = (wide.iloc[:, -1] - wide.iloc[:, 0]).to_numpy()
        largest = mean_interval(100.0 * np.abs(steps).max(axis=1) / np.abs(whole))
        rows.append(
            (
                method,
                len(wide),
                wide.shape[1],
                whole.mean(),
                100.0 / steps.shape[1],
                *largest,
                100.0 * (steps < 0).mean(),
                wide.iloc[:, 1:-1].std(ddof=1).mean(),
            )
        )
    columns = [
        "method",
        "runs",
        "rungs",
        "range",
        "least",
        "largest_step",
        "low",
        "high",
        "wrong_steps",
        "spread",
    ]
    return pd.DataFrame(rows, columns=columns).sort_values("largest_step", ignore_index=True)
