"""How strong weakened players of a table are: every way at every dial, rated in one pool."""

from dataclasses import dataclass
from itertools import product

import numpy as np
import pandas as pd

from ....arena import ratings
from ....kernel.random import seed_from
from ....networks.table import QTable
from ....opponents.rating_pool import cyclic, meet, pool, prepare, published_pool, rate, shared_copy
from ....opponents.weaken import DIALS, METHODS, weakened
from ....players.agents import FULL_DEPTH, learned
from ....players.basic import Careless, Greedy
from ....players.saved import zoo_file
from ....stats import mean_interval
from ...evaluators import Evaluator
from ...results import rows_of, select

WORTH = np.array([1.0, 0.5, 0.0])  # of a win, a draw, a loss


@dataclass(frozen=True)
class Ladder(Evaluator):
    """Every way of weakening at every dial, rated in the pool, then against each other.

    Measures of each way (the `player`) at each `dial`: what
    :func:`afterply.opponents.rating_pool.rate` returns. Of all together: ``cycles``, ``triples``,
    and ``misfit``, the root mean square difference between the scores against each other and those
    that the ratings predict, in percent.
    """

    n: int = 8_000  # training games of the full table
    methods: tuple = METHODS  # none: only the table itself, as the player ``table`` at dial 1
    dials: tuple = DIALS
    depth: int = FULL_DEPTH  # of Min-Max in the pool
    games: int = 0  # for each ordered pair of a rating; 0: exact
    meetings: int = 0  # for each ordered pair of the players against each other; 0: exact
    version = 3
    name = "ladder"
    measures = QTable

    def _measure(self, game, net, seed):
        game = shared_copy(game)
        reference_players = pool(game, self.depth, self.games)
        prepared = {}  # name -> player that differs from all others
        rated = {}  # name -> what `rate` returns
        for name, player in self._rungs(game, net, seed):
            prepared[name] = prepare(game, player, self.games)
            seed_of_rung = seed_from(seed, name)
            rated[name] = rate(game, prepared[name], reference_players, seed_of_rung)
        for name, same in self._same(game).items():
            rated[name] = rated[same]
        rows = []
        for name, (way, dial) in self._names().items():
            rows += rows_of(rated[name], player=way, dial=dial)
        if len(prepared) > 2:
            strengths = np.array([rated[name]["rating"] for name in prepared]) / ratings.ELO
            in_pool = reference_players.model
            model = ratings.Model(list(prepared), strengths, in_pool.first, in_pool.draw)
            rows += self._round_robin(game, prepared, model, seed)
        return rows

    def _names(self) -> dict:
        """Return the name of each rung, from which its seed derives -> its way and dial."""
        rungs = [("table", 1.0)]
        if self.methods:
            rungs = product(self.methods, self.dials)
        return {f"{way} {dial:g}": (way, dial) for way, dial in rungs}

    def _rungs(self, game, net, seed):
        """Yield the name and player of each rung, without those that are the same as another."""
        same = self._same(game)
        for name, (method, dial) in self._names().items():
            if not self.methods:
                yield name, learned(net)
            elif name not in same:
                yield name, weakened(net, method, dial, seed_from(seed, method), self.n)

    def _same(self, game) -> dict:
        """Return name -> name of the rung that is the same player."""
        # At dial 1 all ways have the full table. At 0 those that choose at random are one player,
        # unless a turn has several actions: then their random moves differ.
        methods_at = {1.0: self.methods, 0.0: []}
        if game.rules.compound == 1:
            methods_at[0.0] = [method for method in self.methods if method != "noise"]
        names = {}
        for dial, methods in methods_at.items():
            if dial in self.dials:
                for method in methods[1:]:
                    names[f"{method} {dial:g}"] = f"{methods[0]} {dial:g}"
        return names

    def _round_robin(self, game, players, model, seed) -> list:
        """Return how the players score against each other: cycles, triples and misfit."""
        names = list(players)
        size = len(names)
        score = np.full((size, size), 0.5)  # mean score of a row against a column
        square = np.full((size, size), 0.25)  # mean squared score
        expected = np.full((size, size), 0.5)  # mean score that the ratings predict
        below = np.tril_indices(size, -1)
        for i, j in zip(*below):
            shares = self._shares(game, players, names[i], names[j], seed)
            score[i, j] = shares @ WORTH
            score[j, i] = 1 - score[i, j]
            square[i, j] = shares @ WORTH**2
            square[j, i] = shares[::-1] @ WORTH**2
            as_first = model.probabilities(names[i], names[j])
            as_second = model.probabilities(names[j], names[i])[::-1]
            expected[i, j] = (as_first + as_second) @ WORTH / 2
        error = np.zeros_like(score)
        if self.meetings:
            variance = np.maximum(square - score**2, 0.0)
            error = np.sqrt(variance / (2 * self.meetings))
        cycles, triples = cyclic(score, error)
        mean_square = np.mean((score - expected)[below] ** 2)
        misfit = round(100.0 * float(np.sqrt(mean_square)), 6)
        return rows_of({"cycles": cycles, "triples": triples, "misfit": misfit})

    def _shares(self, game, players, a, b, seed):
        """Return which shares of the games `a` wins, draws and loses against `b`, in both seats."""
        as_first, _ = meet(game, players[a], players[b], self.meetings, seed_from(seed, a, b))
        as_second, _ = meet(game, players[b], players[a], self.meetings, seed_from(seed, b, a))
        return (as_first + as_second[::-1]) / 2


@dataclass(frozen=True)
class Snapshot(Evaluator):
    """A network as it is during its training, rated in the pool of the game's published agent.

    Measures: what :func:`afterply.opponents.rating_pool.rate` returns.
    """

    games: int = 50  # against each reference player, in each seat
    name = "snapshot"
    measures = object

    def reads(self, game) -> tuple:
        """Return the file of the published agent."""
        return (zoo_file(game),)

    def _measure(self, game, net, seed):
        reference_players = published_pool(shared_copy(game), self.games)
        rows = []
        for name, columns, player in self._rungs(net):
            rated = rate(game, player, reference_players, seed_from(seed, name))
            rows += rows_of(rated, **columns)
        return rows

    def _rungs(self, net):
        """Yield the name of a rung, from which its seed derives, its columns and its player."""
        yield "now", {}, Greedy(net)


@dataclass(frozen=True)
class CarelessNetwork(Snapshot):
    """A network that makes random moves, rated in the same pool: player ``careless`` by dial."""

    dials: tuple = DIALS
    name = "careless network"

    def _rungs(self, net):
        for dial in self.dials:
            columns = {"player": "careless", "dial": dial}
            yield f"careless {dial:g}", columns, Careless(net, 1.0 - dial)


def by_games(table: pd.DataFrame, arm: str) -> pd.DataFrame:
    """Return the ratings of all snapshots of an arm as :func:`rungs` does.

    The dial is the part of the training that is done; at 0 stands random play, with rating 0.
    """
    rows = select(table, arm=arm, measure="rating")
    snapshots = rows.assign(method="snapshots", dial=rows.episode / rows.episode.max())
    random_play = snapshots.drop_duplicates("run").assign(dial=0.0, value=0.0)
    ladder = pd.concat([random_play, snapshots])
    return ladder[["method", "dial", "run", "value"]].reset_index(drop=True)


def rungs(table: pd.DataFrame, arm: str, measure: str = "rating") -> pd.DataFrame:
    """Return the values of all rungs of an arm: method, dial, run, value."""
    rows = select(table, arm=arm, measure=measure, player=..., dial=...)
    rows = rows.reindex(columns=["player", "dial", "run", "value"])
    rows = rows.astype({"player": object}).rename(columns={"player": "method"})
    return rows.reset_index(drop=True)


def trained(table: pd.DataFrame, ladders: dict) -> pd.DataFrame:
    """Return the ratings of ladders that are made of trainings, as :func:`rungs` does.

    Parameters
    ----------
    table : DataFrame
        Results of a study.
    ladders : dict
        Method -> arms at equal steps of the dial up to 1. At 0 stands the random player.
    """
    full_tables = select(table, measure="rating", player=["table", METHODS[0]], dial=1)
    rungs_of_ladders = []
    for method, arms in ladders.items():
        for k, arm in enumerate(arms, 1):
            of_arm = full_tables[full_tables.arm == arm]
            for run, rating in zip(of_arm.run, of_arm.value):
                rungs_of_ladders.append((method, k / len(arms), run, rating))
        runs = set(full_tables[full_tables.arm.isin(arms)].run)
        for run in sorted(runs):
            rungs_of_ladders.append((method, 0.0, run, 0.0))
    return pd.DataFrame(rungs_of_ladders, columns=["method", "dial", "run", "value"])


def smoothness(ladder: pd.DataFrame) -> pd.DataFrame:
    """Return how even the ladders of :func:`rungs` are, one row a method, the evenest first.

    Returns
    -------
    DataFrame
        `method`, `runs`, `rungs`; `range`: mean rating difference from dial 0 to 1;
        `largest_step`, with its 95% interval `low` to `high`: of neighbours, in percent of the
        range; `least`: the least possible largest step; `wrong_steps`: to a lower rating, in
        percent; `spread`: standard deviation over runs, mean over the dials between the ends.
    """
    rows = []
    for method, group in ladder.groupby("method", sort=False):
        by_dial = group.pivot(index="run", columns="dial", values="value").sort_index(axis=1)
        num_runs, num_rungs = by_dial.shape
        if num_rungs < 3:
            continue
        steps = by_dial.diff(axis=1).iloc[:, 1:].to_numpy()
        ranges = (by_dial.iloc[:, -1] - by_dial.iloc[:, 0]).to_numpy()
        largest_steps = 100.0 * np.abs(steps).max(axis=1) / np.abs(ranges)
        mean, low, high = mean_interval(largest_steps)
        row = {
            "method": method,
            "runs": num_runs,
            "rungs": num_rungs,
            "range": ranges.mean(),
            "least": 100.0 / steps.shape[1],
            "largest_step": mean,
            "low": low,
            "high": high,
            "wrong_steps": 100.0 * (steps < 0).mean(),
            "spread": by_dial.iloc[:, 1:-1].std(ddof=1).mean(),
        }
        rows.append(row)
    columns = "method runs rungs range least largest_step low high wrong_steps spread".split()
    return pd.DataFrame(rows, columns=columns).sort_values("largest_step", ignore_index=True)
