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

WORTH = np.array([1.0, 0.5, 0.0])


@dataclass(frozen=True)
class Ladder(Evaluator):
    """Every way of weakening at every dial, rated in the pool, then against each other.

    Measures of each way (player) at each dial: what :func:`afterply.opponents.rating_pool.rate`
    returns; besides ``cycles``, ``triples``, and ``misfit``: the root of the mean squared
    difference between the scores against each other and those that the ratings predict, in percent.
    """

    n: int = 8_000  # training games of the full table
    methods: tuple = METHODS  # none: only the table itself, as the player ``table`` at dial 1
    dials: tuple = DIALS
    depth: int = FULL_DEPTH  # of Min-Max in the pool
    games: int = 0  # for each ordered pair of a rating; 0: exact
    meetings: int = 0  # for each ordered pair of the players against each other; 0: exact
    version, name, measures = 3, "ladder", QTable

    def _measure(self, game, net, seed):
        game, found, sides = shared_copy(game), {}, {}
        among = pool(game, self.depth, self.games)
        for name, rung in self._rungs(game, net, seed):
            sides[name] = prepare(game, rung, self.games)
            found[name] = rate(game, sides[name], among, seed_from(seed, name))
        found |= {name: found[same] for name, same in self._same(game).items()}
        rows = []
        for name, (player, dial) in self._names().items():
            rows += rows_of(found[name], player=player, dial=dial)
        strengths = np.array([found[name]["rating"] for name in sides]) / ratings.ELO
        model = ratings.Model(list(sides), strengths, among.model.first, among.model.draw)
        return rows + (self._round_robin(game, sides, model, seed) if len(sides) > 2 else [])

    def _names(self) -> dict:
        # name, from which seeds derive -> way and dial
        every = product(self.methods, self.dials) if self.methods else [("table", 1.0)]
        return {f"{player} {dial:g}": (player, dial) for player, dial in every}

    def _rungs(self, game, net, seed):
        twice = self._same(game)
        for name, (method, dial) in self._names().items():
            if not self.methods:
                yield name, learned(net)
            elif name not in twice:
                yield name, weakened(net, method, dial, seed_from(seed, method), self.n)

    def _same(self, game) -> dict:
        # name -> name of the same player: all ways have the same table at dial 1, those that choose
        # at random the same player at 0 (unless a turn has several actions: random moves differ)
        random = [m for m in self.methods if m != "noise" and game.rules.compound == 1]
        return {
            f"{method} {dial:g}": f"{group[0]} {dial:g}"
            for dial, group in {1.0: self.methods, 0.0: random}.items()
            if dial in self.dials
            for method in group[1:]
        }

    def _round_robin(self, game, sides, model, seed) -> list:
        names, size = list(sides), len(sides)
        score, expected = np.full((size, size), 0.5), np.full((size, size), 0.5)
        squares, below = np.full((size, size), 0.25), np.tril_indices(size, -1)
        for i, j in zip(*below):
            a, b = names[i], names[j]
            first, _ = meet(game, sides[a], sides[b], self.meetings, seed_from(seed, a, b))
            second, _ = meet(game, sides[b], sides[a], self.meetings, seed_from(seed, b, a))
            mine = (first + second[::-1]) / 2
            score[i, j], squares[i, j] = mine @ WORTH, mine @ WORTH**2
            score[j, i], squares[j, i] = 1 - score[i, j], mine[::-1] @ WORTH**2
            predicted = model.probabilities(a, b) + model.probabilities(b, a)[::-1]
            expected[i, j] = predicted @ WORTH / 2
        error = np.zeros_like(score)
        if self.meetings:
            error = np.sqrt(np.maximum(squares - score**2, 0.0) / (2 * self.meetings))
        cycles, triples = cyclic(score, error)
        misfit = round(100.0 * float(np.sqrt(np.mean((score - expected)[below] ** 2))), 6)
        return rows_of({"cycles": cycles, "triples": triples, "misfit": misfit})


@dataclass(frozen=True)
class Snapshot(Evaluator):
    """A network as it is during its training, rated in the pool of the game's published agent.

    Measures: what :func:`afterply.opponents.rating_pool.rate` returns.
    """

    games: int = 50  # against each reference player, in each seat
    name, measures = "snapshot", object

    def reads(self, game) -> tuple:
        """Return the file of the published agent."""
        return (zoo_file(game),)

    def _measure(self, game, net, seed):
        among, rows = published_pool(shared_copy(game), self.games), []
        for name, columns, player in self._rungs(net):
            rated = rate(game, player, among, seed_from(seed, name))
            rows += rows_of(rated, **columns)
        return rows

    def _rungs(self, net):
        yield "now", {}, Greedy(net)  # the name, from which its seed derives, columns and player


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
    """Return the ratings of all snapshots of an arm as :func:`rungs` does; at 0 is random play."""
    rows = select(table, arm=arm, measure="rating")
    rows = rows.assign(method="snapshots", dial=rows.episode / rows.episode.max())
    start = rows.drop_duplicates("run").assign(dial=0.0, value=0.0)
    return pd.concat([start, rows])[["method", "dial", "run", "value"]].reset_index(drop=True)


def rungs(table: pd.DataFrame, arm: str, measure: str = "rating") -> pd.DataFrame:
    """Return the values of all rungs of an arm: method, dial, run, value."""
    rows = select(table, arm=arm, measure=measure, player=..., dial=...)
    rows = rows.reindex(columns=["player", "dial", "run", "value"])
    rows = rows.astype({"player": object}).rename(columns={"player": "method"})
    return rows.reset_index(drop=True)


def trained(table: pd.DataFrame, ladders: dict) -> pd.DataFrame:
    """Return the ratings of ladders that are made of trainings, as :func:`rungs` does."""
    # ladders: method -> arms at equal steps of the dial up to 1; at 0 the random player is put in
    full = select(table, measure="rating", player=["table", METHODS[0]], dial=1)
    found = []
    for method, arms in ladders.items():
        for k, arm in enumerate(arms, 1):
            rows = full[full.arm == arm]
            found += [(method, k / len(arms), *row) for row in zip(rows.run, rows.value)]
        found += [(method, 0.0, run, 0.0) for run in sorted(set(full[full.arm.isin(arms)].run))]
    return pd.DataFrame(found, columns=["method", "dial", "run", "value"])


def smoothness(ladder: pd.DataFrame) -> pd.DataFrame:
    """Return how even the ladders of :func:`rungs` are, one row a method, the evenest first."""
    # largest step: of neighbours, in percent of that from dial 0 to 1; least: the least possible
    # one; wrong steps: to a lower rating; spread: sd over runs, mean over the dials inside
    rows = []
    for method, group in ladder.groupby("method", sort=False):
        wide = group.pivot(index="run", columns="dial", values="value").sort_index(axis=1)
        if wide.shape[1] < 3:
            continue
        steps = wide.diff(axis=1).iloc[:, 1:].to_numpy()
        whole = (wide.iloc[:, -1] - wide.iloc[:, 0]).to_numpy()
        largest = mean_interval(100.0 * np.abs(steps).max(axis=1) / np.abs(whole))
        found = (method, *wide.shape, whole.mean(), 100.0 / steps.shape[1], *largest)
        spread = wide.iloc[:, 1:-1].std(ddof=1).mean()
        rows.append((*found, 100.0 * (steps < 0).mean(), spread))
    columns = "method runs rungs range least largest_step low high wrong_steps spread".split()
    return pd.DataFrame(rows, columns=columns).sort_values("largest_step", ignore_index=True)
