"""Snapshots of tabular agents and their tournaments, as [jamieson2022] defines them.

Q-p: the table after p percent of N training games. When a training has converged:
:mod:`afterstate.evaluators.convergence`.
"""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from ..arena import exact
from ..arena.contest import contest
from ..kernel.random import seed_from
from ..networks.table import QTable
from ..players.agents import FULL_DEPTH, Agent, chance, learned, min_max
from .convergence import stable_at

POINTS = {"wins": 3, "draws": 1, "losses": 0}
SHORT_GAMES = 2  # of the short version of an evaluator whose Min-Max has to search
MIN_MAX = {"D-Min-Max": "first", "Nd-Min-Max": "random"}
PLAYERS = ("Q-100", "Q-50", "M_det", "M_Ndet", "R")


def opponent(game, net: QTable, name: str, depth: int = FULL_DEPTH, n: int = 0) -> Agent:
    """Return a player by its name in the paper: own teacher, Q-p (p percent of `n` games), Min-Max, or random.

    Raises
    ------
    ValueError
        If there is no such player.
    """
    if name == "own teacher":
        # a twin: the same table, or the second one
        return net.teacher or learned(net.of(net.learners - 1))
    if name.startswith("Q-"):
        return learned(net.snapshot(n * int(name[2:]) // 100))
    name = {"M_det": "D-Min-Max", "M_Ndet": "Nd-Min-Max"}.get(name, name)
    if name in MIN_MAX:
        return min_max(game, MIN_MAX[name], depth)
    if name in ("rand", "R"):
        return chance(game)
    raise ValueError(
        f"there is no player {name!r}: say 'own teacher', 'Q-p', {', '.join(map(repr, MIN_MAX))} or"
        " 'rand'"
    )


def _shorter(evaluator, **few):
    """Return an evaluator with fewer games.

    Itself if Min-Max looks to the end of the game, whose moves are searched once for all games.
    """
    return evaluator if evaluator.depth == FULL_DEPTH else replace(evaluator, **few)


@dataclass(frozen=True)
class Checkpoint:
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

    def __call__(self, game, net, seed: int = 0) -> dict:
        """Return metric -> value."""
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

    def short(self) -> "Checkpoint":
        """Return the evaluation whose outcome tells whether this one still measures the same (see ``runs.probe``)."""
        return _shorter(self, games=min(self.games, SHORT_GAMES))

    def extent(self, game) -> int:
        """Return the number of games."""
        return self.games


@dataclass(frozen=True)
class Tournament:
    """Matches: every player in the first seat against every player, himself included.

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

    def __call__(self, game, net, seed: int = 0) -> dict:
        """Return metric -> value."""
        agents = {name: opponent(game, net, name, self.depth, self.n) for name in self.players}
        found = {}
        for a in agents:
            for b in agents:
                out = contest(game, agents[a], agents[b], self.games, seed_from(seed, a, b))
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
                POINTS[what] * found[f"{b} vs {a}:{as_second[what]}"]
                for b in agents
                for what in POINTS
            )
        return {self.label + metric: value for metric, value in found.items()}

    def short(self) -> "Tournament":
        """Return the evaluation whose outcome tells whether this one still measures the same (see ``runs.probe``)."""
        return _shorter(self, games=min(self.games, SHORT_GAMES))

    def extent(self, game) -> int:
        """Return the number of games of each pair."""
        return self.games


@dataclass(frozen=True)
class Stability:
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

    def __call__(self, game, net, seed: int = 0) -> dict:
        """Return metric -> value."""
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

    def short(self) -> "Stability":
        """Return the evaluation whose outcome tells whether this one still measures the same (see ``runs.probe``)."""
        return _shorter(self, games=min(self.games, 10 * SHORT_GAMES), repeats=1)

    def extent(self, game) -> int:
        """Return the number of games of each pair."""
        return self.games * self.repeats


@dataclass(frozen=True)
class Baseline:
    """Matches: the three pairings of Min-Max and a random player; the trained table plays no part.

    Source: [jamieson2022] Table 5. Deviations: D8.
    """

    games: int = 10_000
    ties: str = "first"
    depth: int = FULL_DEPTH
    version: int = 1
    name: str = "baseline"

    def __call__(self, game, net, seed: int = 0) -> dict:
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
class Strength:
    """Matches: exact results of Q-p against a random player and against the non-deterministic Min-Max, both seats.

    Metrics: ``<Q-p> vs <opponent>:first:loss`` and so on, in percent, by
    :mod:`afterstate.arena.exact`: no game is sampled.
    """

    n: int = 8_000
    percents: tuple = (10, 20, 30, 40, 50, 60, 70, 80, 90, 100)
    version: int = 1
    name: str = "exact strength"

    def __call__(self, game, net, seed: int = 0) -> dict:
        """Return metric -> value."""
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
    """Return the training games after which a table must be kept, so that there is Q-p for all these p.

    Examples
    --------
    >>> milestones(8_000, percents=(50, 100))
    [4000, 8000]
    """
    return sorted({n * p // 100 for p in percents})


# ------------------------------------------------------------------------------------- from results


def point(curve: pd.DataFrame, episode: int, games: int = 100) -> dict:
    """Return wins, draws and losses in the first seat at one checkpoint: a function for ``Study.derive``; nothing if it was not measured."""
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
    """Return the curves of Figs. 2 and 3 as a table for ``plots.learning_curves``: wins, draws and losses of the learner in the first seat, in percent.

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


def running_shares(results, every: int = 50) -> pd.DataFrame:
    """Return the running percentages of wins, draws and losses over a series of games, as Figs. 4 and 5 show them (same form as above)."""
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
    """Return a tournament as the paper prints it: wins:draws:losses of the row's player in the first seat; "-" where there is no result.

    Parameters
    ----------
    values : dict metric -> number, as :class:`Tournament` returns (or means over runs)
    label : str
        Of the tournament.
    """

    def show(*metrics):
        return (
            ":".join(f"{values[label + m]:.0f}" for m in metrics)
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
    """Return the tournaments of all runs of an arm as the long table that :mod:`afterstate.arena.ratings` reads."""
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
