"""One scale of strength for the players of :mod:`afterstate.weaken`, and for whoever is to be compared with them.

A *pool* of reference players, Min-Max with several rates of random moves, meet each other and get ratings
(:func:`afterstate.ratings.fit`, the random player has 0). Everybody else is placed among them one at a time, so a rating
does not depend on who else is rated. Where all positions can be listed, results are exact and no game is sampled.
"""
import json
from dataclasses import dataclass
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import pandas as pd

from . import exact, ratings
from .kernel import seed_from
from .stats import mean_interval
from .teachers import FULL_DEPTH, Agent, chance, contest, learned, min_max
from .weaken import DIALS, METHODS, weakened

CARELESS = (1.0, 0.8, 0.6, 0.4, 0.2, 0.0)  # rates of random moves of the reference players
EXACT_GAMES = 1_000                        # so many games an exact result counts as, beside the prior
POOL_GAMES, POOL_FACTOR = 200, 10          # an ordered pair of the pool plays so many games, or so many times those of a rating if that is less:
                                           # its errors are in every rating
EDGE = 0.01                                # "beats" means a mean score above one half by more than this


class Side(NamedTuple):
    """A player who waits for opponents: an agent, and its policy where results are exact."""

    agent: Agent
    policy: np.ndarray | None


def side(game, agent: Agent, games: int) -> Side:
    """Prepare an agent for :func:`meet`."""
    return Side(agent, exact.policy(game, agent) if games == 0 else None)


def meet(game, first: Side, second: Side, games: int, seed: int):
    """Return (shares of wins, draws and losses of the first: float64[3], different games) of `games` games; 0 = exact, without games."""
    if games == 0:
        return np.array(exact.outcome(game, first.policy, second.policy)), 0
    out = contest(game, first.agent, second.agent, games, seed)
    return np.array([out.wins, out.draws, out.losses]) / games, out.distinct


class Pool(NamedTuple):
    """The reference players, with their ratings."""

    sides: dict           # name -> Side
    model: ratings.Model  # strengths are counted from the random player's
    games: int


_pools, _games = WeakKeyDictionary(), {}


def _one(game):
    """Return the same object for all copies of a game in this process: every task of a study brings one, and searches and pools are kept by object."""
    return _games.setdefault(json.dumps(game.identity, sort_keys=True), game) if game.spec else game


def pool(game, depth: int = FULL_DEPTH, games: int = 0) -> Pool:
    """Return the reference players of a game: non-deterministic Min-Max with the rates ``CARELESS`` of random moves.

    Parameters
    ----------
    game : Game
    depth : int
        Of Min-Max.
    games : int
        For each ordered pair of a rating; 0 = exact results (games whose positions can be listed). The reference players themselves
        meet in ten times as many, up to ``POOL_GAMES``, and never in fewer.
    """
    kept = _pools.setdefault(game, {})
    if (depth, games) not in kept:
        sides = {}
        for rate in CARELESS:
            agent = chance(game) if rate == 1.0 else min_max(game, "random", depth, rate)
            sides[f"Min-Max, {rate:g} random" if rate < 1.0 else "random"] = side(game, agent, games)
        number = max(games, min(POOL_GAMES, POOL_FACTOR * games))
        rows = [(a, b, *(number or EXACT_GAMES) * meet(game, sides[a], sides[b], number, seed_from("pool", a, b))[0])
                for a in sides for b in sides if a != b]
        model = ratings.fit(pd.DataFrame(rows, columns=["first", "second", "wins", "draws", "losses"]))
        zero = model.strength[model.players.index("random")]
        kept[depth, games] = Pool(sides, model._replace(strength=model.strength - zero), games)
    return kept[depth, games]


def rate(game, given: Agent | Side, among: Pool, seed: int = 0) -> dict:
    """Return rating (Elo points above the random player), score and loss against it (percent, both seats), and the share of different games."""
    me = given if isinstance(given, Side) else side(game, given, among.games)
    rows, weight, different = [], among.games or EXACT_GAMES, 0
    for name, other in among.sides.items():
        first, a = meet(game, me, other, among.games, seed_from(seed, name, "first"))
        second, b = meet(game, other, me, among.games, seed_from(seed, name, "second"))
        rows += [(name, *weight * first, True), (name, *weight * second[::-1], False)]
        different += a + b
    rows = pd.DataFrame(rows, columns=["opponent", "wins", "draws", "losses", "first"])
    against = rows[rows.opponent == "random"][["wins", "draws", "losses"]].sum() / (2 * weight)
    prior = ratings.PRIOR * weight / EXACT_GAMES  # half a draw among few games would lift every weak player
    found = {"rating": ratings.ELO * ratings.place(among.model, rows, prior), "score": 100.0 * (against.wins + against.draws / 2), "loss": 100.0 * against.losses}
    return found | ({"distinct": 100.0 * different / (weight * len(rows))} if among.games else {})


def cyclic(score, error) -> tuple[int, int]:
    """Return how many triples are cycles (each beats the next), and how many triples have three sure results.

    Parameters
    ----------
    score : float64[players, players]
        Mean score of the row's player over both seats, in [0, 1].
    error : float64[players, players]
        Its standard error; 0 where it is exact.
    """
    beats = (score > 0.5 + np.maximum(EDGE, 1.96 * error)) & ~np.eye(len(score), dtype=bool)
    decided = (beats | beats.T).astype(np.int64)
    beats = beats.astype(np.int64)
    return int(np.trace(beats @ beats @ beats)) // 3, int(np.trace(decided @ decided @ decided)) // 6


# ------------------------------------------------------------------------------------------------ in a study

@dataclass(frozen=True)
class Ladder:
    """Evaluator: every way of weakening at every dial, rated in the pool; then all of them against each other.

    Metrics: ``<method> <dial>:rating``, ``:score``, ``:loss`` (and ``:distinct`` where games are sampled), as :func:`rate` returns
    them; ``cycles``, ``triples`` and ``misfit``: the root of the mean squared difference between the scores of the players
    against each other and those that their ratings predict, in percent.

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
    version: int = 1
    name: str = "ladder"

    def __call__(self, game, net, seed: int = 0) -> dict:
        """Return metric -> value."""
        game = _one(game)
        among, found, sides = pool(game, self.depth, self.games), {}, {}
        for name, agent in self._rungs(game, net, seed):
            sides[name] = side(game, agent, self.games)
            found[name] = rate(game, sides[name], among, seed_from(seed, name))
        found |= {name: found[same] for name, same in self._same(game).items()}
        values = {f"{name}:{metric}": value for name, row in found.items() for metric, value in row.items()}
        return values | (self._round_robin(game, among, sides, found, seed) if len(sides) > 2 else {})

    def _rungs(self, game, net, seed):
        """Give every different player once: all ways have the same table at dial 1, and those that choose at random the same player at 0."""
        if not self.methods:
            yield "table 1", learned(net)
        twice = self._same(game)
        for method in self.methods:
            for dial in self.dials:
                if f"{method} {dial:g}" not in twice:
                    yield f"{method} {dial:g}", weakened(net, method, dial, seed_from(seed, method), self.n)

    def _same(self, game) -> dict:
        """Return name -> name of the same player."""
        at_random = [method for method in self.methods if method != "noise"] if game.rules.compound == 1 else []  # else random moves differ
        groups = {1.0: self.methods, 0.0: at_random}
        return {f"{method} {dial:g}": f"{group[0]} {dial:g}" for dial, group in groups.items() if dial in self.dials for method in group[1:]}

    def _round_robin(self, game, among, sides, found, seed) -> dict:
        names, size = list(sides), len(sides)
        score, squares, expected = np.full((size, size), 0.5), np.full((size, size), 0.25), np.full((size, size), 0.5)
        model = ratings.Model(names, np.array([found[name]["rating"] for name in names]) / ratings.ELO, among.model.first, among.model.draw)
        worth = np.array([1.0, 0.5, 0.0])
        for i in range(size):
            for j in range(i):
                first, _ = meet(game, sides[names[i]], sides[names[j]], self.meetings, seed_from(seed, names[i], names[j]))
                second, _ = meet(game, sides[names[j]], sides[names[i]], self.meetings, seed_from(seed, names[j], names[i]))
                mine = (first + second[::-1]) / 2
                score[i, j], squares[i, j] = mine @ worth, mine @ worth**2
                score[j, i], squares[j, i] = 1 - score[i, j], mine[::-1] @ worth**2
                expected[i, j] = (model.probabilities(names[i], names[j]) + model.probabilities(names[j], names[i])[::-1]) @ worth / 2
        error = np.sqrt(np.maximum(squares - score**2, 0.0) / (2 * self.meetings)) if self.meetings else np.zeros_like(score)
        below = np.tril_indices(size, -1)
        cycles, triples = cyclic(score, error)
        return {"cycles": cycles, "triples": triples, "misfit": 100.0 * float(np.sqrt(np.mean((score - expected)[below] ** 2)))}


def rungs(table: pd.DataFrame, arm: str, metric: str = "rating") -> pd.DataFrame:
    """Return the values of all rungs of an arm from a study's table: method, dial, run, value."""
    rows = table[(table.arm == arm) & table.metric.str.fullmatch(rf".+ [\d.]+:{metric}")]
    names = rows.metric.str.extract(rf"(.+) ([\d.]+):{metric}")
    return pd.DataFrame({"method": names[0], "dial": names[1].astype(float), "run": rows.run, "value": rows.value}).reset_index(drop=True)


def trained(table: pd.DataFrame, ladders: dict) -> pd.DataFrame:
    """Return the ratings of ladders that are made of trainings, as :func:`rungs` does; the random player is put in at dial 0.

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
            parts.append(pd.DataFrame({"method": method, "dial": (k + 1) / len(arms), "run": rows.run, "value": rows.value}))
        parts.append(pd.DataFrame({"method": method, "dial": 0.0, "run": sorted(set(full[full.arm.isin(arms)].run)), "value": 0.0}))
    return pd.concat([part for part in parts if len(part)] or parts[:1], ignore_index=True)


def smoothness(ladder: pd.DataFrame) -> pd.DataFrame:
    """Return how even the ladders of opponents are, one row a method.

    Fixed before the first run. In each run a ladder has a rating at every dial; its *largest step* is the greatest distance of neighbouring
    rungs, up or down, in percent of the distance from dial 0 to dial 1 (the least possible is 100 percent / number of steps),
    and its *wrong steps* are those on which a higher dial has a lower rating. *Spread* is the standard deviation over
    runs of the rating at one dial, mean over the dials between 0 and 1: what one does not know of an opponent before it is rated.

    Parameters
    ----------
    ladder : DataFrame method, dial, run, value, as :func:`rungs` returns

    Returns
    -------
    DataFrame
        method, runs, rungs, range (Elo points), least (possible step), largest_step with low and high (95% interval over runs), wrong_steps,
        spread; the evenest first.
    """
    rows = []
    for method, group in ladder.groupby("method", sort=False):
        wide = group.pivot(index="run", columns="dial", values="value").sort_index(axis=1)
        if wide.shape[1] < 3:
            continue
        steps = wide.diff(axis=1).iloc[:, 1:].to_numpy()
        whole = (wide.iloc[:, -1] - wide.iloc[:, 0]).to_numpy()
        largest = mean_interval(100.0 * np.abs(steps).max(axis=1) / np.abs(whole))
        rows.append((method, len(wide), wide.shape[1], whole.mean(), 100.0 / steps.shape[1], *largest, 100.0 * (steps < 0).mean(), wide.iloc[:, 1:-1].std(ddof=1).mean()))
    columns = ["method", "runs", "rungs", "range", "least", "largest_step", "low", "high", "wrong_steps", "spread"]
    return pd.DataFrame(rows, columns=columns).sort_values("largest_step", ignore_index=True)
