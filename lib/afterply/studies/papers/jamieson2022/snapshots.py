"""Snapshots Q-p, the table after p percent of N training games, and their tournaments.

A result is stable (Convergence-ST) if the running percentage of games not lost changes by at most 1
over the next 20 games. In other readings of the paper the training games themselves decide whether
a training has converged, or agents go on learning in tournaments.
"""

import re
from dataclasses import dataclass
from itertools import product

import numpy as np

from ....arena import exact
from ....kernel.random import seed_from
from ....learners.parameters import check_parameters
from ....learners.tabular import FIRST_TRACE, PARAMETERS, compile_parameters, learn
from ....networks import table_games
from ....networks.table import QTable
from ....players import agents
from ....players.agents import Agent, chance, learned, min_max
from ....search.best_moves import FULL_DEPTH
from ...evaluators import Evaluator
from ...results import rows_of

EXTRA = 5_000  # training games after Convergence-FS without a loss
# Convergence-ST: the percentage changes by at most FLUCTUATION over the next WINDOW games
WINDOW = 20
FLUCTUATION = 1.0
ROUNDING = 1e-9  # a change by FLUCTUATION may come out larger by less than this
SEATS = ("first", "second")
OWN = "own teacher"
PERFECT = "Nd-Min-Max"
OPPONENTS = (OWN, PERFECT)  # of the games that must not be lost
POINTS = {"wins": 3, "draws": 1, "losses": 0}
AS_SECOND = {"wins": "losses", "draws": "draws", "losses": "wins"}
PERCENTS = (10, 20, 30, 40, 50, 60, 70, 80, 90, 100)
MIN_MAX = {"D-Min-Max": "first", "Nd-Min-Max": "random"}
PLAYERS = ("Q-100", "Q-50", "M_det", "M_Ndet", "R")


def opponent(game, net: QTable, name: str, depth: int = FULL_DEPTH, n: int = 0) -> Agent:
    """Return a player by its name in the paper.

    Parameters
    ----------
    game : Game
        The game of the table.
    net : QTable
        The trained table.
    name : str
        ``OWN``, "Q-p" with a percentage p, "D-Min-Max" or "M_det", "Nd-Min-Max" or "M_Ndet",
        "rand" or "R". Others raise ValueError.
    depth : int
        Look-ahead of Min-Max.
    n : int
        Training games of Q-100.
    """
    if name == OWN:
        if net.teacher is not None:
            return Agent(net.teacher)
        return learned(net.of(net.learners - 1))  # a twin: the second table, or the same one
    if isinstance(name, str) and re.fullmatch(r"Q-\d+", name):
        return learned(net.snapshot(n * int(name[2:]) // 100))
    kind = {"M_det": "D-Min-Max", "M_Ndet": "Nd-Min-Max"}.get(str(name), str(name))
    if kind in MIN_MAX:
        return min_max(game, MIN_MAX[kind], depth)
    if kind in ("rand", "R"):
        return chance(game)
    known = ", ".join(map(repr, (OWN, "Q-p", *MIN_MAX, "rand")))
    raise ValueError(f"there is no player {name!r}: say one of {known}")


@dataclass(frozen=True)
class GamesAsFirst(Evaluator):
    """Greedy games of the learner as player 1: wins and losses, with opponent and seat.

    `depth` is that of Min-Max. Source: [jamieson2022] Figs. 2 and 3. Deviations: D2, D7, D9.
    """

    opponent: str = OWN
    games: int = 100
    depth: int = FULL_DEPTH
    measures = QTable
    seats = ("first",)
    name = property(lambda self: f"games as first against {self.opponent}")

    def _measure(self, game, net, seed):
        learner = learned(net)
        other = opponent(game, net, self.opponent, self.depth)
        rows = []
        for seat in self.seats:
            seed_of_seat = seed_from(seed, seat)
            # A contest counts the wins and losses of the player in the first seat.
            if seat == "first":
                contest = agents.contest(game, learner, other, self.games, seed_of_seat)
                counts = {"wins": contest.wins, "losses": contest.losses}
            else:
                contest = agents.contest(game, other, learner, self.games, seed_of_seat)
                counts = {"wins": contest.losses, "losses": contest.wins}
            rows += rows_of(counts, opponent=self.opponent, seat=seat)
        return rows


@dataclass(frozen=True)
class GamesAgainst(GamesAsFirst):
    """The same in both seats; with `losses_only` only the losses of both seats together."""

    losses_only: bool = False
    seats = SEATS
    name = property(lambda self: f"games against {self.opponent}")

    def _measure(self, game, net, seed):
        rows = super()._measure(game, net, seed)
        if not self.losses_only:
            return rows
        losses = sum(row["value"] for row in rows if row["measure"] == "losses")
        return rows_of({"losses": losses}, opponent=self.opponent)


@dataclass(frozen=True)
class ConvergedTeacher(Evaluator):
    """Whether the teacher of a training has converged itself.

    Measures of the player ``teacher``: ``converged`` (100 or 0), ``games`` (of its training), and
    ``unbeaten`` (those at the end without a loss; it has converged from `extra` on).
    Deviations: D11.
    """

    extra: int = EXTRA
    name = "converged teacher"
    measures = QTable

    def _measure(self, game, net, seed):
        if net.teacher is None:
            raise ValueError("this table had no teacher but its twin")
        teacher = net.teacher.net
        values = {
            "converged": 100.0 * (teacher.unbeaten >= self.extra),
            "games": teacher.episode,
            "unbeaten": teacher.unbeaten,
        }
        return rows_of(values, player="teacher")


@dataclass(frozen=True)
class Tournament(Evaluator):
    """Every player in the first seat against every player, itself included.

    Measures:

    - of each player in the seat ``first`` with each opponent: ``wins``, ``draws``, ``losses`` and
      ``distinct`` (different games);
    - ``points`` of each player: in the first seat, as printed, and in both seats (no seat).

    A `label` is the variant of all rows. `n` is the number of training games of Q-100, `games` that
    of the games of each ordered pair.
    Source: [jamieson2022] Tables 7 to 9. Deviations: D13, D19.
    """

    n: int = 8_000
    games: int = 100
    depth: int = FULL_DEPTH
    players: tuple = PLAYERS
    label: str = ""
    name = "tournament"
    measures = QTable

    def _measure(self, game, net, seed):
        agents_by_name = {}
        for name in self.players:
            agents_by_name[name] = opponent(game, net, name, self.depth, self.n)
        in_first_seat = dict.fromkeys(agents_by_name, 0)  # points
        in_second_seat = dict.fromkeys(agents_by_name, 0)
        variant = {}
        if self.label:
            variant["variant"] = self.label.removesuffix(": ")
        rows = []
        for a, b in product(agents_by_name, repeat=2):
            seed_of_pair = seed_from(seed, a, b)
            contest = self._play(game, agents_by_name[a], agents_by_name[b], seed_of_pair)
            counts = {
                "wins": contest.wins,
                "draws": contest.draws,
                "losses": contest.losses,
                "distinct": contest.distinct,
            }
            rows += rows_of(counts, player=a, opponent=b, seat="first", **variant)
            for outcome, worth in POINTS.items():
                in_first_seat[a] += worth * counts[outcome]
                in_second_seat[b] += worth * counts[AS_SECOND[outcome]]
        for name, of_first_seat in in_first_seat.items():
            of_both_seats = of_first_seat + in_second_seat[name]
            rows += rows_of({"points": of_first_seat}, player=name, seat="first", **variant)
            rows += rows_of({"points": of_both_seats}, player=name, **variant)
        return rows

    def _play(self, game, first, second, seed):
        return agents.contest(game, first, second, self.games, seed)


def stable_at(not_lost) -> int | None:
    """Return after how many games the running percentage of games not lost is stable, or None."""
    num_games = np.arange(1, len(not_lost) + 1)
    running = 100.0 * np.cumsum(np.asarray(not_lost, float)) / num_games
    for n in range(len(running) - WINDOW):
        following = running[n + 1 : n + 1 + WINDOW]
        if np.abs(following - running[n]).max() <= FLUCTUATION + ROUNDING:
            return n + 1
    return None


def can_be_stable(n: int) -> bool:
    """Return whether any series of games is stable after `n` of them: after 1, and from 33 on."""
    for lost in range(1, n):
        # Numbers of losses after k games with which the series has been stable up to there.
        possible = {lost}
        for k in range(n + 1, n + 1 + WINDOW):
            following = set()
            for losses in possible:
                following |= {losses, losses + 1}
            possible = set()
            for losses in following:
                if abs(100.0 * losses / k - 100.0 * lost / n) <= FLUCTUATION + ROUNDING:
                    possible.add(losses)
        if possible:
            return True
    return n == 1  # if all games ended alike, the series was stable before as well


@dataclass(frozen=True)
class Stability(Evaluator):
    """Games until the result of a pairing is stable, mean over repeated contests.

    Measures of each player Q-p with each opponent: ``stable_after`` (games; a contest that is never
    stable counts as `games`) and ``unstable`` (percent of contests that are not stable within
    `games` games); and ``largest_stable_after`` of all pairings.
    Source: [jamieson2022] Table 6. Deviations: D12, D13.
    """

    n: int = 8_000
    percents: tuple[int, ...] = (20, 40, 60, 80)
    opponents: tuple = ("rand", "Nd-Min-Max", "D-Min-Max", "Q-50", "Q-100")
    games: int = 1_000
    repeats: int = 10
    depth: int = FULL_DEPTH
    name = "stability"
    measures = QTable

    def _measure(self, game, net, seed):
        rows = []
        largest = 0.0
        for percent, other in product(self.percents, self.opponents):
            values = self._stability(game, net, f"Q-{percent}", other, seed)
            rows += rows_of(values, player=f"Q-{percent}", opponent=other)
            largest = max(largest, values["stable_after"])
        return rows + rows_of({"largest_stable_after": largest})

    def _stability(self, game, net, player, other, seed):
        """Return the measures of a pairing."""
        first = opponent(game, net, player, self.depth, self.n)
        second = opponent(game, net, other, self.depth, self.n)
        games_until_stable = []
        is_unstable = []
        for k in range(self.repeats):
            seed_of_contest = seed_from(seed, f"{player} vs {other}", k)
            contest = agents.contest(game, first, second, self.games, seed_of_contest)
            games = stable_at(contest.results >= 0)
            is_unstable.append(games is None)
            if games is None:
                games = self.games
            games_until_stable.append(games)
        return {
            "stable_after": np.mean(games_until_stable),
            "unstable": 100.0 * np.mean(is_unstable),
        }


@dataclass(frozen=True)
class Baseline(Evaluator):
    """The three pairings of Min-Max and a random player; the trained table plays no part.

    Measures: ``won``, ``lost``, ``drawn`` in percent, of the player in the seat ``first``.
    Source: [jamieson2022] Table 5. Deviations: D8.
    """

    games: int = 10_000
    name = "baseline"
    settings = {"ties": "first", "depth": FULL_DEPTH}

    def _measure(self, game, net, seed):
        best = "Min-Max agent"
        random = "Random agent"
        players = {best: min_max(game), random: chance(game)}
        rows = []
        for a, b in ((best, random), (random, best), (best, best)):
            seed_of_pair = seed_from(seed, a, b)
            contest = agents.contest(game, players[a], players[b], self.games, seed_of_pair)
            percents = {
                "won": 100.0 * contest.wins / self.games,
                "lost": 100.0 * contest.losses / self.games,
                "drawn": 100.0 * contest.draws / self.games,
            }
            rows += rows_of(percents, player=a, opponent=b, seat="first")
        return rows


@dataclass(frozen=True)
class ExactStrength(Evaluator):
    """Exact results of Q-p against a random player and the non-deterministic Min-Max.

    Measures: ``won`` and ``lost`` in percent, of the player Q-p with opponent and seat.
    """

    n: int = 8_000
    percents: tuple[int, ...] = PERCENTS
    name = "exact strength"
    measures = QTable

    def _measure(self, game, net, seed):
        snapshots = [f"Q-{percent}" for percent in self.percents]
        opponents = ("rand", PERFECT)
        policies = {}
        for name in (*snapshots, *opponents):
            policies[name] = exact.policy(game, opponent(game, net, name, n=self.n))
        rows = []
        for snapshot, other in product(snapshots, opponents):
            # An outcome is that of the player in the first seat.
            as_first = exact.outcome(game, policies[snapshot], policies[other])
            as_second = exact.outcome(game, policies[other], policies[snapshot])
            in_first = {"won": 100.0 * as_first.win, "lost": 100.0 * as_first.loss}
            in_second = {"won": 100.0 * as_second.loss, "lost": 100.0 * as_second.win}
            rows += rows_of(in_first, player=snapshot, opponent=other, seat="first")
            rows += rows_of(in_second, player=snapshot, opponent=other, seat="second")
        return rows


def milestones(n: int, percents=PERCENTS) -> list[int]:
    """Return the training games after which a table must be kept for Q-p."""
    return sorted({n * p // 100 for p in percents})


@dataclass(frozen=True)
class TrainingGames(Evaluator):
    """Results of all training games so far, in which the learner explores: no game is played.

    Measures of each seat, variant ``training``: ``wins``, ``draws``, ``losses``.
    Source: [jamieson2022] Sec. "Stopping Criteria For Training". Deviations: D10, D22.
    """

    name = "training games"
    measures = QTable

    def _measure(self, game, net, seed):
        if net.outcomes is None:
            raise ValueError("this table was not made by a training: nobody counted its games")
        rows = []
        for seat, counts in zip(SEATS, net.outcomes.tolist()):
            rows += rows_of(dict(zip(POINTS, counts)), seat=seat, variant="training")
        return rows


@dataclass(frozen=True)
class LossesOfAllKinds(Evaluator):
    """Losses that may decide about convergence: in greedy games and in training, of each seat.

    The measure is ``losses``: with the opponent, of greedy games against the own teacher as in
    `GamesAgainst`; of the variant ``training``, of all training games so far.
    Source: [jamieson2022] Sec. "Stopping Criteria For Training". Deviations: D10, D22.
    """

    games: int = 100
    name = "losses of all kinds"
    measures = QTable

    def _measure(self, game, net, seed):
        rows = GamesAgainst(games=self.games)(game, net, seed)
        rows += TrainingGames()(game, net, seed)
        return [row for row in rows if row["measure"] == "losses"]


def learning_contest(game, first, second, params, games=100, seed=0) -> table_games.ContestResult:
    """Play games as :func:`players.agents.contest`; greedy agents learn in copies of tables."""
    par = compile_parameters(check_parameters(PARAMETERS, params))
    learns, nets = [], []
    for agent in (first, second):
        is_learner = agent.kind in (table_games.GREEDY, table_games.GREEDY_FIRST)
        learns.append(is_learner)
        nets.append(agent.net.copy() if is_learner else agent.side.net)
    traces = [table_games.new_trace(FIRST_TRACE), table_games.new_trace(FIRST_TRACE)]
    work = table_games.new_work(game, seed)
    result = table_games.new_result(games)
    policies = first.side.policy, second.side.policy
    for number in range(games):
        _play_to_the_end(game, policies, nets, tuple(learns), traces, work)
        for seat in range(2):
            if learns[seat]:
                learn(nets[seat].table, par, work.score, traces[seat])
        table_games.write_result(work, result, number)
    return result


def _play_to_the_end(game, policies, nets, learns, traces, work):
    """Play one game; where it stops, make room or search a position, and let it go on."""
    while True:
        tables = nets[0].table, nets[1].table  # a table that grows has new arrays
        status = table_games.play_game(
            game.rules, 0, policies, tables, learns, tuple(traces), work, True
        )
        if status == table_games.DONE:
            return
        seat = game.player(work.state)
        if status == table_games.MISSING:
            nets[seat].add(work.state)
        elif status == table_games.TABLE_FULL:
            nets[seat].grow()
        else:
            size = 2 * len(traces[seat].player)
            traces[seat] = table_games.new_trace(size, traces[seat])


@dataclass(frozen=True)
class LearningTournament(Tournament):
    """A tournament whose greedy agents go on learning, each pair from the trained tables.

    Source: [jamieson2022] Tables 7 to 9. Deviations: D13, D19, D24.
    """

    params: tuple = ()  # (str, value) of the learning: those of the training
    name = "tournament of learners"

    def _play(self, game, first, second, seed):
        return learning_contest(game, first, second, dict(self.params), self.games, seed)
