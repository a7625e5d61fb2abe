"""Snapshots of tabular agents and their tournaments, as [jamieson2022] defines them.

Q-p: the table after p percent of N training games. When a training has converged:
:mod:`afterstate.evaluators.convergence`; tables of the results:
:mod:`afterstate.evaluators.snapshot_tables`.
"""

import re
from dataclasses import dataclass, replace

import numpy as np

from ..arena import exact
from ..arena.contest import contest
from ..checks import one_of, whole
from ..kernel.random import seed_from
from ..networks.table import QTable
from ..players.agents import FULL_DEPTH, Agent, chance, learned, min_max
from .base import Evaluator, table_of
from .convergence import stable_at

POINTS = {"wins": 3, "draws": 1, "losses": 0}
SHORT_GAMES = 2  # of the short version of an evaluator whose Min-Max has to search
MIN_MAX = {"D-Min-Max": "first", "Nd-Min-Max": "random"}
PLAYERS = ("Q-100", "Q-50", "M_det", "M_Ndet", "R")


def opponent(game, net: QTable, name: str, depth: int = FULL_DEPTH, n: int = 0) -> Agent:
    """Return a player by its name in the paper.

    It is the own teacher, Q-p (the table after p percent of `n` games), Min-Max, or random.

    Raises
    ------
    ValueError
        If there is no such player.
    """
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


class Contests(Evaluator):
    """An evaluator whose agents play games of a contest; it has the fields `games` and `depth`."""

    few = {"games": SHORT_GAMES}  # of the short version

    def __post_init__(self):
        for field in ("n", "games", "repeats"):
            if hasattr(self, field):
                whole(field, getattr(self, field))
        whole("depth", self.depth, FULL_DEPTH)

    def short(self) -> "Contests":
        """Return the same with fewer games.

        Itself if Min-Max looks to the end of the game, whose moves are searched once for all games.
        """
        few = {field: min(number, getattr(self, field)) for field, number in self.few.items()}
        return self if self.depth == FULL_DEPTH else replace(self, **few)

    def extent(self, game) -> int:
        """Return the number of games of each pair."""
        return self.games * getattr(self, "repeats", 1)


@dataclass(frozen=True)
class GamesAgainst(Contests):
    """Evaluator of a learning curve: greedy games in both seats against one opponent.

    Metrics: ``<opponent>:first:wins``, ``:first:losses``, ``:second:wins``, ``:second:losses``,
    numbers of `games` games each; or only ``<opponent>:losses``, in both seats together.

    Parameters
    ----------
    opponent : str
        As for :func:`opponent`; "own teacher" is the frozen teacher, for a twin its own present
        table.
    games : int
        In each seat.
    depth : int
        Of Min-Max.
    losses_only : bool
        Keeps the records of long curves small.

    Source: [jamieson2022] Figs. 2 and 3. Deviations: D2, D7, D9.
    """

    opponent: str = "own teacher"
    games: int = 100
    depth: int = FULL_DEPTH
    losses_only: bool = False
    version: int = 1

    @property
    def name(self) -> str:
        """Name in records."""
        return f"games against {self.opponent}"

    def __call__(self, game, agent, seed: int = 0) -> dict:
        """Return metric -> value."""
        net = table_of(game, agent)
        me, other = learned(net), opponent(game, net, self.opponent, self.depth)
        first = contest(game, me, other, self.games, seed_from(seed, "first"))
        second = contest(game, other, me, self.games, seed_from(seed, "second"))
        if self.losses_only:
            return {f"{self.opponent}:losses": first.losses + second.wins}
        return {
            f"{self.opponent}:first:wins": first.wins,
            f"{self.opponent}:first:losses": first.losses,
            f"{self.opponent}:second:wins": second.losses,
            f"{self.opponent}:second:losses": second.wins,
        }


@dataclass(frozen=True)
class Tournament(Contests):
    """Matches: every player in the first seat against every player, itself included.

    Metrics: ``<first> vs <second>:wins``, ``:draws``, ``:losses``, ``:distinct`` (different games),
    ``<player>:points`` (first seat only, as printed) and ``<player>:points of both seats``; all of
    them after `label`, which tells two tournaments of one study apart.

    Parameters
    ----------
    n : int
        Training games of Q-100.
    games : int
        For each ordered pair.

    Source: [jamieson2022] Tables 7 to 9. Deviations: D13, D19.
    """

    n: int = 8_000
    games: int = 100
    depth: int = FULL_DEPTH
    players: tuple = PLAYERS
    label: str = ""
    version: int = 1
    name: str = "tournament"

    def __call__(self, game, agent, seed: int = 0) -> dict:
        """Return metric -> value."""
        net = table_of(game, agent)
        agents = {name: opponent(game, net, name, self.depth, self.n) for name in self.players}

        def play(a, b):
            return contest(game, agents[a], agents[b], self.games, seed_from(seed, a, b))

        return cells_and_points(agents, play, self.label)


def cells_and_points(agents, play, label: str = "") -> dict:
    """Return metric -> value of a tournament, as :class:`Tournament` names them.

    Parameters
    ----------
    agents : names of players
    play : callable
        (first, second) -> result of their games.
    label : str
        Before every metric.
    """
    found = {}
    for a in agents:
        for b in agents:
            out = play(a, b)
            found |= {
                f"{a} vs {b}:{what}": getattr(out, what)
                for what in ("wins", "draws", "losses", "distinct")
            }
    for a in agents:
        found[f"{a}:points"] = sum(
            POINTS[what] * found[f"{a} vs {b}:{what}"] for b in agents for what in POINTS
        )
        as_second = {"wins": "losses", "draws": "draws", "losses": "wins"}
        found[f"{a}:points of both seats"] = found[f"{a}:points"] + sum(
            POINTS[what] * found[f"{b} vs {a}:{as_second[what]}"] for b in agents for what in POINTS
        )
    return {label + metric: value for metric, value in found.items()}


@dataclass(frozen=True)
class Stability(Contests):
    """Matches: games until the result of a pairing is stable, mean over repeated contests.

    What never is counts as `games`.

    Metrics: ``<Q-p> vs <opponent>:stable_episodes`` and ``:unstable`` (percent of contests not
    stable within `games` games).

    Source: [jamieson2022] Table 6. Deviations: D12, D13.
    """

    n: int = 8_000
    percents: tuple = (20, 40, 60, 80)
    opponents: tuple = ("rand", "Nd-Min-Max", "D-Min-Max", "Q-50", "Q-100")
    games: int = 1_000
    repeats: int = 10
    depth: int = FULL_DEPTH
    version: int = 1
    name: str = "stability"
    few = {"games": 10 * SHORT_GAMES, "repeats": 1}

    def __call__(self, game, agent, seed: int = 0) -> dict:
        """Return metric -> value."""
        net = table_of(game, agent)
        found = {}
        for p in self.percents:
            for name in self.opponents:
                me, other, pair = (
                    opponent(game, net, f"Q-{p}", self.depth, self.n),
                    opponent(game, net, name, self.depth, self.n),
                    f"Q-{p} vs {name}",
                )
                trials = [
                    stable_at(
                        contest(game, me, other, self.games, seed_from(seed, pair, k)).results >= 0
                    )
                    for k in range(self.repeats)
                ]
                found[f"{pair}:stable_episodes"] = np.mean(
                    [self.games if t is None else t for t in trials]
                )
                found[f"{pair}:unstable"] = 100.0 * np.mean([t is None for t in trials])
        return found | {
            "largest:stable_episodes": max(
                v for k, v in found.items() if k.endswith(":stable_episodes")
            )
        }


@dataclass(frozen=True)
class Baseline(Evaluator):
    """Matches: the three pairings of Min-Max and a random player; the trained table plays no part.

    Source: [jamieson2022] Table 5. Deviations: D8.
    """

    games: int = 10_000
    ties: str = "first"
    depth: int = FULL_DEPTH
    version: int = 1
    name: str = "baseline"

    def __post_init__(self):
        whole("games", self.games), whole("depth", self.depth, FULL_DEPTH)
        one_of("ties", self.ties, ("first", "random"))

    def __call__(self, game, agent, seed: int = 0) -> dict:
        """Return metric -> value, in percent."""
        agents = {
            "Min-Max agent": min_max(game, self.ties, self.depth),
            "Random agent": chance(game),
        }
        found = {}
        for a, b in (
            ("Min-Max agent", "Random agent"),
            ("Random agent", "Min-Max agent"),
            ("Min-Max agent", "Min-Max agent"),
        ):
            out = contest(game, agents[a], agents[b], self.games, seed_from(seed, a, b))
            found |= {
                f"{a} vs {b}:{metric}": 100.0 * count / self.games
                for metric, count in (
                    ("player_1_wins", out.wins),
                    ("player_2_wins", out.losses),
                    ("draws", out.draws),
                )
            }
        return found


@dataclass(frozen=True)
class ExactStrength(Evaluator):
    """Matches: exact results of Q-p against a random player and the non-deterministic Min-Max.

    Metrics: ``<Q-p> vs <opponent>:first:loss`` and so on, in percent, in both seats, by
    :mod:`afterstate.arena.exact`: no game is sampled.
    """

    n: int = 8_000
    percents: tuple = (10, 20, 30, 40, 50, 60, 70, 80, 90, 100)
    version: int = 1
    name: str = "exact strength"

    def __post_init__(self):
        whole("n", self.n)

    def __call__(self, game, agent, seed: int = 0) -> dict:
        """Return metric -> value."""
        net = table_of(game, agent)
        others = {
            name: exact.policy(game, opponent(game, net, name)) for name in ("rand", "Nd-Min-Max")
        }
        found = {}
        for p in self.percents:
            me = exact.policy(game, opponent(game, net, f"Q-{p}", n=self.n))
            for name, other in others.items():
                first, second = exact.outcome(game, me, other), exact.outcome(game, other, me)
                for seat, (win, loss) in {
                    "first": (first.win, first.loss),
                    "second": (second.loss, second.win),
                }.items():
                    found |= {
                        f"Q-{p} vs {name}:{seat}:win": 100.0 * win,
                        f"Q-{p} vs {name}:{seat}:loss": 100.0 * loss,
                    }
        return found


def milestones(n: int, percents=(10, 20, 30, 40, 50, 60, 70, 80, 90, 100)) -> list[int]:
    """Return the training games after which a table must be kept for Q-p of all these p.

    Examples
    --------
    >>> milestones(8_000, percents=(50, 100))
    [4000, 8000]
    """
    return sorted({n * p // 100 for p in percents})
