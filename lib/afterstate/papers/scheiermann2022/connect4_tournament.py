"""The ConnectFour tournament of a wrapped agent, the agent alone, a perfect player, and MCTS."""

from dataclasses import dataclass
from itertools import permutations
from typing import Literal

from ...arena.matches import win_rate
from ...evaluators import Evaluator, played
from ...players.perfect import BLIND_STONES, Perfect, keep_answers
from ...players.searching import MCTS
from ...players.wrapped import Wrapped

WRAPPED, ALONE, SEARCH = "TCL-wrap", "TCL-base", "MCTS"  # as Table II names them
OUTCOMES = ("wins", "ties", "losses")
TREE_DEPTH = 40  # of MCTS


def _versions(*kinds) -> dict:
    versions = {kind.__name__: kind.version for kind in kinds}
    return {"player_versions": versions, "tree_depth": TREE_DEPTH}


@dataclass(frozen=True)
class Pairings(Evaluator):
    """All ordered pairs of the tournament's players, from the empty board.

    Metrics, for every pair: ``TCL-base v MCTS:wins``, ``:ties`` and ``:losses`` of the first
    player, in a hundred matches.

    Source: [scheiermann2022] Sec. IV-B, Table II. Deviations: D19, D22.
    """

    episodes: int = 100  # matches of a pair
    iterations: int = 1000  # of the wrapped agent
    mcts_iterations: int = 10_000
    perfect: Literal["", *BLIND_STONES] = ""  # with it only the pairs in which it takes part
    measures, settings = object, _versions(Wrapped, MCTS, Perfect)

    heavy = property(lambda self: bool(self.perfect))
    needs = property(lambda self: "bitbully" if self.perfect else "")

    @property
    def name(self) -> str:
        """A part of the key."""
        name = f"tournament, {self.iterations} and {self.mcts_iterations} iterations"
        return name + (f", {self.perfect}" if self.perfect else "")

    def _measure(self, game, net, seed):
        found, players = {}, {WRAPPED: Wrapped(net, self.iterations), ALONE: net}
        players[SEARCH] = MCTS(self.mcts_iterations, tree_depth=TREE_DEPTH)
        if self.perfect:
            players[self.perfect] = Perfect(self.perfect)
        pairs = [p for p in permutations(players, 2) if not self.perfect or self.perfect in p]
        table = played(game, players, None, self.episodes, seed, pairs)
        names = table.pivot(index="match", columns="seat", values="player")
        scores = table[table.seat == 0].set_index("match").score
        for first, second in pairs:
            own = scores[(names[0] == first) & (names[1] == second)]
            shares = ((own > 0).mean(), (own == 0).mean(), (own < 0).mean())
            for outcome, share in zip(OUTCOMES, shares):
                found[f"{first} v {second}:{outcome}"] = 100.0 * float(share)
        if self.perfect:
            keep_answers()
        return found


def won_games_rates(cells: dict, players) -> dict[str, float]:
    """Return the rate of games won of every player, in percent, a tie as half a game.

    `cells` are those of :class:`Pairings`, of every ordered pair.

    Source: [scheiermann2022] Table II (last column). Deviations: D22.
    """
    points = dict.fromkeys(players, 0.0)
    for first, second in permutations(players, 2):
        wins, ties, losses = (cells[f"{first} v {second}:{outcome}"] for outcome in OUTCOMES)
        points[first] += wins + ties / 2
        points[second] += losses + ties / 2
    return {name: total / (2 * (len(points) - 1)) for name, total in points.items()}


@dataclass(frozen=True)
class AsSecond(Evaluator):
    """How often the agent, wrapped with more and more iterations, wins as second against MCTS.

    Metrics: ``win_rate_second:MCTS:iterations-50`` ... in percent, a tie as half a game; 0
    iterations are the agent alone.

    Source: [scheiermann2022] Sec. IV-B, Fig. 6.
    """

    iterations: tuple[int, ...] = (0, 10, 20, 50, 100, 200, 500, 1000)
    episodes: int = 25
    mcts_iterations: int = 10_000
    measures, settings = object, _versions(Wrapped, MCTS)

    may_be_0 = ("iterations",)
    name = property(lambda self: f"second against MCTS-{self.mcts_iterations}")

    def _measure(self, game, net, seed):
        found = {}
        for n in self.iterations:
            players = {
                SEARCH: MCTS(self.mcts_iterations, tree_depth=TREE_DEPTH),
                "agent": Wrapped(net, n) if n else net,
            }
            table = played(game, players, None, self.episodes, seed, [(SEARCH, "agent")])
            rate = win_rate(table[table.player == "agent"].score, game.score_range)
            found[f"win_rate_second:{SEARCH}:iterations-{n}"] = 100.0 * rate
        return found
