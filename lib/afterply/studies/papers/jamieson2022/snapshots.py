"""Snapshots Q-p, the table after p percent of N training games, and their tournaments.

A result is stable (Convergence-ST) if the running percentage of games not lost changes by at most 1
over the next 20 games. In other readings of the paper training games decide, and agents learn in
tournaments.
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
WINDOW, FLUCTUATION = 20, 1.0  # of Convergence-ST
SEATS = ("first", "second")
OWN, PERFECT = OPPONENTS = "own teacher", "Nd-Min-Max"  # of the games that must not be lost
POINTS = {"wins": 3, "draws": 1, "losses": 0}
AS_SECOND = {"wins": "losses", "draws": "draws", "losses": "wins"}
PERCENTS = (10, 20, 30, 40, 50, 60, 70, 80, 90, 100)
MIN_MAX = {"D-Min-Max": "first", "Nd-Min-Max": "random"}
PLAYERS = ("Q-100", "Q-50", "M_det", "M_Ndet", "R")


def opponent(game, net: QTable, name: str, depth: int = FULL_DEPTH, n: int = 0) -> Agent:
    """Return a player by its name in the paper; ValueError if there is none."""
    if name == OWN:  # of a twin: the same table, or the second one
        if net.teacher is not None:
            return Agent(net.teacher)
        return learned(net.of(net.learners - 1))
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
    measures, seats = QTable, ("first",)
    name = property(lambda self: f"games as first against {self.opponent}")

    def _measure(self, game, net, seed):
        me, rows = learned(net), []
        other = opponent(game, net, self.opponent, self.depth)
        for seat in self.seats:
            pair = (me, other) if seat == "first" else (other, me)
            out = agents.contest(game, *pair, self.games, seed_from(seed, seat))
            won, lost = (out.wins, out.losses)[:: 1 if seat == "first" else -1]
            rows += rows_of({"wins": won, "losses": lost}, opponent=self.opponent, seat=seat)
        return rows


@dataclass(frozen=True)
class GamesAgainst(GamesAsFirst):
    """The same in both seats; with `losses_only` only the losses of both together, no seat."""

    losses_only: bool = False
    seats = SEATS
    name = property(lambda self: f"games against {self.opponent}")

    def _measure(self, game, net, seed):
        rows = super()._measure(game, net, seed)
        losses = sum(row["value"] for row in rows if row["measure"] == "losses")
        return rows_of({"losses": losses}, opponent=self.opponent) if self.losses_only else rows


@dataclass(frozen=True)
class ConvergedTeacher(Evaluator):
    """Of a converged teacher: whether it is one, and its training games till then and after that.

    Measures of the player ``teacher``: ``converged`` (100 or 0), ``games``, ``unbeaten``.
    Deviations: D11.
    """

    extra: int = EXTRA
    name, measures = "converged teacher", QTable

    def _measure(self, game, net, seed):
        if net.teacher is None:
            raise ValueError("this table had no teacher but its twin")
        found = net.teacher.net
        converged = 100.0 * (found.unbeaten >= self.extra)
        values = {"converged": converged, "games": found.episode, "unbeaten": found.unbeaten}
        return rows_of(values, player="teacher")


@dataclass(frozen=True)
class Tournament(Evaluator):
    """Every player in the first seat against every player, itself included.

    Measures of each player in the seat ``first`` with each opponent: ``wins``, ``draws``,
    ``losses``, ``distinct`` (different games); and its ``points``: of the first seat, as printed,
    and of both (no seat). A `label` is the variant of all rows. `n` are the training games of
    Q-100, `games` those of each ordered pair.
    Source: [jamieson2022] Tables 7 to 9. Deviations: D13, D19.
    """

    n: int = 8_000
    games: int = 100
    depth: int = FULL_DEPTH
    players: tuple = PLAYERS
    label: str = ""
    name, measures = "tournament", QTable

    def _measure(self, game, net, seed):
        seated = {name: opponent(game, net, name, self.depth, self.n) for name in self.players}
        rows, first, second = [], dict.fromkeys(seated, 0), dict.fromkeys(seated, 0)
        variant = {"variant": self.label.removesuffix(": ")} if self.label else {}
        for a, b in product(seated, repeat=2):
            out = self._play(game, seated[a], seated[b], seed_from(seed, a, b))
            counts = {what: getattr(out, what) for what in (*POINTS, "distinct")}
            rows += rows_of(counts, player=a, opponent=b, seat="first", **variant)
            first[a] += sum(worth * counts[what] for what, worth in POINTS.items())
            second[b] += sum(worth * counts[AS_SECOND[what]] for what, worth in POINTS.items())
        for name in seated:
            rows += rows_of({"points": first[name]}, player=name, seat="first", **variant)
            rows += rows_of({"points": first[name] + second[name]}, player=name, **variant)
        return rows

    def _play(self, game, first, second, seed):
        return agents.contest(game, first, second, self.games, seed)


def stable_at(not_lost) -> int | None:
    """Return after how many games the running percentage of games not lost is stable, or None."""
    running = 100.0 * np.cumsum(np.asarray(not_lost, float)) / np.arange(1, len(not_lost) + 1)
    for n in range(len(running) - WINDOW):
        if np.abs(running[n + 1 : n + 1 + WINDOW] - running[n]).max() <= FLUCTUATION + 1e-9:
            return n + 1
    return None


def can_be_stable(n: int) -> bool:
    """Return whether any series of games is stable after `n` of them: after 1, and from 33 on."""
    for lost in range(1, n):
        possible = {lost}  # losses after k games
        for k in range(n + 1, n + 1 + WINDOW):
            following = {now for before in possible for now in (before, before + 1)}
            near = FLUCTUATION + 1e-9
            possible = {now for now in following if abs(100.0 * now / k - 100.0 * lost / n) <= near}
        if possible:
            return True
    return n == 1  # if all games ended alike, whatever follows was stable before as well


@dataclass(frozen=True)
class Stability(Evaluator):
    """Games until the result of a pairing is stable, mean over repeated contests.

    Measures of each player Q-p with each opponent: ``stable_after`` (games; what never is stable
    counts as `games`) and ``unstable`` (percent of contests not stable within `games` games); and
    ``largest_stable_after`` of all pairings.
    Source: [jamieson2022] Table 6. Deviations: D12, D13.
    """

    n: int = 8_000
    percents: tuple[int, ...] = (20, 40, 60, 80)
    opponents: tuple = ("rand", "Nd-Min-Max", "D-Min-Max", "Q-50", "Q-100")
    games: int = 1_000
    repeats: int = 10
    depth: int = FULL_DEPTH
    name, measures = "stability", QTable

    def _measure(self, game, net, seed):
        rows, largest = [], 0.0
        for p, name in product(self.percents, self.opponents):
            pair = f"Q-{p} vs {name}"
            sides = [opponent(game, net, who, self.depth, self.n) for who in (f"Q-{p}", name)]
            seeds = (seed_from(seed, pair, k) for k in range(self.repeats))
            contests = (agents.contest(game, *sides, self.games, one) for one in seeds)
            trials = [stable_at(played.results >= 0) for played in contests]
            after = np.mean([self.games if t is None else t for t in trials])
            unstable = 100.0 * np.mean([t is None for t in trials])
            values = {"stable_after": after, "unstable": unstable}
            rows += rows_of(values, player=f"Q-{p}", opponent=name)
            largest = max(largest, after)
        return rows + rows_of({"largest_stable_after": largest})


@dataclass(frozen=True)
class Baseline(Evaluator):
    """The three pairings of Min-Max and a random player; the trained table plays no part.

    Measures: ``won``, ``lost``, ``drawn`` in percent, of the player in the seat ``first``.
    Source: [jamieson2022] Table 5. Deviations: D8.
    """

    games: int = 10_000
    name, settings = "baseline", {"ties": "first", "depth": FULL_DEPTH}

    def _measure(self, game, net, seed):
        best, random, rows = "Min-Max agent", "Random agent", []
        seated = {best: min_max(game), random: chance(game)}
        for a, b in ((best, random), (random, best), (best, best)):
            out = agents.contest(game, seated[a], seated[b], self.games, seed_from(seed, a, b))
            counts = {"won": out.wins, "lost": out.losses, "drawn": out.draws}
            shares = {what: 100.0 * number / self.games for what, number in counts.items()}
            rows += rows_of(shares, player=a, opponent=b, seat="first")
        return rows


@dataclass(frozen=True)
class ExactStrength(Evaluator):
    """Exact results of Q-p against a random player and the non-deterministic Min-Max.

    Measures: ``won`` and ``lost`` in percent, of the player Q-p with opponent and seat.
    """

    n: int = 8_000
    percents: tuple[int, ...] = PERCENTS
    name, measures = "exact strength", QTable

    def _measure(self, game, net, seed):
        rows, names = [], [f"Q-{p}" for p in self.percents]
        play = {
            name: exact.policy(game, opponent(game, net, name, n=self.n))
            for name in (*names, "rand", PERFECT)
        }
        for me, other in product(names, ("rand", PERFECT)):
            first = exact.outcome(game, play[me], play[other])
            second = exact.outcome(game, play[other], play[me])
            mine = {"first": (first.win, first.loss), "second": (second.loss, second.win)}
            for seat, (won, lost) in mine.items():
                shares = {"won": 100.0 * won, "lost": 100.0 * lost}
                rows += rows_of(shares, player=me, opponent=other, seat=seat)
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

    name, measures = "training games", QTable

    def _measure(self, game, net, seed):
        if net.outcomes is None:
            raise ValueError("this table was not made by a training: nobody counted its games")
        rows = []
        for seat, numbers in zip(SEATS, net.outcomes.tolist()):
            rows += rows_of(dict(zip(POINTS, numbers)), seat=seat, variant="training")
        return rows


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
