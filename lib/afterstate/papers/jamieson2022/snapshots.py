"""Snapshots Q-p, the table after p percent of N training games, and their tournaments."""

import re
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ...arena import exact
from ...arena.contest import contest
from ...evaluators import Evaluator
from ...kernel.random import seed_from
from ...networks.table import QTable
from ...players.agents import FULL_DEPTH, Agent, chance, learned, min_max
from .convergence import stable_at

POINTS = {"wins": 3, "draws": 1, "losses": 0}
AS_SECOND = {"wins": "losses", "draws": "draws", "losses": "wins"}
PERCENTS = (10, 20, 30, 40, 50, 60, 70, 80, 90, 100)
MIN_MAX = {"D-Min-Max": "first", "Nd-Min-Max": "random"}
PLAYERS = ("Q-100", "Q-50", "M_det", "M_Ndet", "R")


def opponent(game, net: QTable, name: str, depth: int = FULL_DEPTH, n: int = 0) -> Agent:
    """Return a player by its name in the paper; ValueError if there is none."""
    if name == "own teacher":
        # a twin: the same table, or the second one
        return net.teacher or learned(net.of(net.learners - 1))
    if isinstance(name, str) and re.fullmatch(r"Q-\d+", name):
        return learned(net.snapshot(n * int(name[2:]) // 100))
    kind = {"M_det": "D-Min-Max", "M_Ndet": "Nd-Min-Max"}.get(str(name), str(name))
    if kind in MIN_MAX:
        return min_max(game, MIN_MAX[kind], depth)
    if kind in ("rand", "R"):
        return chance(game)
    raise ValueError(
        f"there is no player {name!r}: say 'own teacher', 'Q-p', {', '.join(map(repr, MIN_MAX))} or"
        " 'rand'"
    )


@dataclass(frozen=True)
class GamesAgainst(Evaluator):
    """Greedy games in both seats against one opponent, for a learning curve.

    Metrics: ``<opponent>:first:wins``, ``:first:losses``, ``:second:wins``, ``:second:losses``,
    numbers of `games` games each; with `losses_only`, which keeps records small, only
    ``<opponent>:losses`` of both seats. `depth` is that of Min-Max.

    Source: [jamieson2022] Figs. 2 and 3. Deviations: D2, D7, D9.
    """

    opponent: str = "own teacher"
    games: int = 100
    depth: int = FULL_DEPTH
    losses_only: bool = False
    measures, may_be_0 = QTable, ("depth",)

    name = property(lambda self: f"games against {self.opponent}")

    def _measure(self, game, net, seed):
        name = self.opponent
        me, other = learned(net), opponent(game, net, name, self.depth)
        first = contest(game, me, other, self.games, seed_from(seed, "first"))
        second = contest(game, other, me, self.games, seed_from(seed, "second"))
        if self.losses_only:
            return {f"{name}:losses": first.losses + second.wins}
        return {
            f"{name}:first:wins": first.wins,
            f"{name}:first:losses": first.losses,
            f"{name}:second:wins": second.losses,
            f"{name}:second:losses": second.wins,
        }


@dataclass(frozen=True)
class Tournament(Evaluator):
    """Every player in the first seat against every player, itself included.

    Metrics, after `label`: ``<first> vs <second>:wins``, ``:draws``, ``:losses``, ``:distinct``
    (different games), ``<player>:points`` (first seat only, as printed) and ``<player>:points of
    both seats``. `n` are the training games of Q-100, `games` those of each ordered pair.

    Source: [jamieson2022] Tables 7 to 9. Deviations: D13, D19.
    """

    n: int = 8_000
    games: int = 100
    depth: int = FULL_DEPTH
    players: tuple = PLAYERS
    label: str = ""
    name, measures, may_be_0 = "tournament", QTable, ("depth",)

    def _measure(self, game, net, seed):
        found = {}
        agents = {name: opponent(game, net, name, self.depth, self.n) for name in self.players}
        for a in agents:
            for b in agents:
                out = self._play(game, agents[a], agents[b], seed_from(seed, a, b))
                for what in (*POINTS, "distinct"):
                    found[f"{a} vs {b}:{what}"] = getattr(out, what)
        for a in agents:
            points = sum(
                POINTS[what] * found[f"{a} vs {b}:{what}"] for b in agents for what in POINTS
            )
            found[f"{a}:points"] = points
            found[f"{a}:points of both seats"] = points + sum(
                POINTS[what] * found[f"{b} vs {a}:{AS_SECOND[what]}"]
                for b in agents
                for what in POINTS
            )
        return {self.label + metric: value for metric, value in found.items()}

    def _play(self, game, first, second, seed):
        return contest(game, first, second, self.games, seed)


@dataclass(frozen=True)
class Stability(Evaluator):
    """Games until the result of a pairing is stable, mean over repeated contests.

    Metrics: ``<Q-p> vs <opponent>:stable_episodes``, where what never is stable counts as `games`,
    and ``:unstable`` (percent of contests not stable within `games` games).

    Source: [jamieson2022] Table 6. Deviations: D12, D13.
    """

    n: int = 8_000
    percents: tuple[int, ...] = (20, 40, 60, 80)
    opponents: tuple = ("rand", "Nd-Min-Max", "D-Min-Max", "Q-50", "Q-100")
    games: int = 1_000
    repeats: int = 10
    depth: int = FULL_DEPTH
    name, measures, may_be_0 = "stability", QTable, ("depth",)

    def _measure(self, game, net, seed):
        found, largest = {}, "largest:stable_episodes"
        for mine, name in ((f"Q-{p}", name) for p in self.percents for name in self.opponents):
            pair = f"{mine} vs {name}"
            me, other = (opponent(game, net, who, self.depth, self.n) for who in (mine, name))
            contests = (
                contest(game, me, other, self.games, seed_from(seed, pair, k))
                for k in range(self.repeats)
            )
            trials = [stable_at(played.results >= 0) for played in contests]
            games = np.mean([self.games if t is None else t for t in trials])
            found[f"{pair}:stable_episodes"] = games
            found[f"{pair}:unstable"] = 100.0 * np.mean([t is None for t in trials])
        return found | {largest: max(v for k, v in found.items() if k.endswith(":stable_episodes"))}


@dataclass(frozen=True)
class Baseline(Evaluator):
    """The three pairings of Min-Max and a random player; the trained table plays no part.

    Source: [jamieson2022] Table 5. Deviations: D8.
    """

    games: int = 10_000
    ties: Literal["first", "random"] = "first"
    depth: int = FULL_DEPTH
    name, may_be_0 = "baseline", ("depth",)

    def _measure(self, game, net, seed):
        best, found = "Min-Max agent", {}
        agents = {best: min_max(game, self.ties, self.depth), "Random agent": chance(game)}
        for a, b in ((best, "Random agent"), ("Random agent", best), (best, best)):
            out = contest(game, agents[a], agents[b], self.games, seed_from(seed, a, b))
            counts = (out.wins, out.losses, out.draws)
            for metric, count in zip(("player_1_wins", "player_2_wins", "draws"), counts):
                found[f"{a} vs {b}:{metric}"] = 100.0 * count / self.games
        return found


@dataclass(frozen=True)
class ExactStrength(Evaluator):
    """Exact results of Q-p against a random player and the non-deterministic Min-Max.

    Metrics: ``<Q-p> vs <opponent>:first:loss`` and so on, in percent, in both seats.
    """

    n: int = 8_000
    percents: tuple[int, ...] = PERCENTS
    name, measures = "exact strength", QTable

    def _measure(self, game, net, seed):
        found = {}
        others = {
            name: exact.policy(game, opponent(game, net, name)) for name in ("rand", "Nd-Min-Max")
        }
        for p in self.percents:
            me = exact.policy(game, opponent(game, net, f"Q-{p}", n=self.n))
            for name, other in others.items():
                first, second = exact.outcome(game, me, other), exact.outcome(game, other, me)
                shares = {"first:win": first.win, "first:loss": first.loss}
                shares |= {"second:win": second.loss, "second:loss": second.win}
                found |= {f"Q-{p} vs {name}:{what}": 100.0 * v for what, v in shares.items()}
        return found


def milestones(n: int, percents=PERCENTS) -> list[int]:
    """Return the training games after which a table must be kept for Q-p.

    >>> milestones(8_000, percents=(50, 100))
    [4000, 8000]
    """
    return sorted({n * p // 100 for p in percents})
