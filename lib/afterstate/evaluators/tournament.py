"""The ConnectFour tournament of a wrapped agent, the agent alone, a perfect player, and MCTS."""

from dataclasses import dataclass, field, replace
from itertools import permutations

from ..arena.matches import win_rate
from ..checks import whole
from ..players import optional
from ..players.perfect import BLIND_STONES, Perfect, keep_answers
from ..players.searching import MCTS
from ..players.wrapped import Wrapped
from .base import Evaluator, valued
from .playing import played

WRAPPED, ALONE, SEARCH = "TCL-wrap", "TCL-base", "MCTS"  # as Table II names them
OUTCOMES = ("wins", "ties", "losses")
TREE_DEPTH = 40  # of MCTS


@dataclass(frozen=True)
class Pairings(Evaluator):
    """All ordered pairs of the tournament's players, so many matches each from the empty board.

    Calling it with ``(game, agent, seed)``, where the agent is a network or a training session,
    gives for every pair ``TCL-base v MCTS:wins``, ``:ties`` and ``:losses`` of the first player, in
    a hundred matches.

    Parameters
    ----------
    episodes : int
        Matches of a pair.
    iterations : int
        Of the wrapped agent.
    mcts_iterations : int
        Of MCTS, whose tree is at most 40 actions deep.
    perfect : "AB-DL", "AB-DL-8", "AB" or ""
        With it, only the pairs in which this player takes part, which needs an engine; without, the
        pairs of the three others.

    Raises
    ------
    RuntimeError
        If a match fails.

    Source: [scheiermann2022] Sec. IV-B, Table II. Deviations: D19, D22.
    """

    episodes: int = 100
    iterations: int = 1000
    mcts_iterations: int = 10_000
    perfect: str = ""
    version: int = 1
    # as in Wrapping
    said: str = field(default="", compare=False)

    def __post_init__(self):
        for name in ("episodes", "iterations", "mcts_iterations"):
            whole(name, getattr(self, name))
        if self.perfect and self.perfect not in BLIND_STONES:
            raise ValueError(f"perfect must be '' or one of {', '.join(BLIND_STONES)}")

    @property
    def heavy(self) -> bool:
        """Whether it brings the engine into its process."""
        return bool(self.perfect)

    @property
    def name(self) -> str:
        """Name of the measurement in records."""
        return self.said or (
            f"tournament, {self.iterations} and {self.mcts_iterations} iterations"
            + (f", {self.perfect}" if self.perfect else "")
        )

    @property
    def settings(self) -> dict:
        """What a record says besides name, version and fields."""
        versions = {kind.__name__: kind.version for kind in (Wrapped, MCTS, Perfect)}
        return {"player_versions": versions, "tree_depth": TREE_DEPTH}

    def lacks(self) -> str:
        """Return what is missing to measure, with the remedy, or an empty text."""
        return optional.lacks("bitbully") if self.perfect else ""

    def short(self) -> "Pairings":
        """Return two matches of a pair with less search."""
        few = {"episodes": min(self.episodes, 2), "iterations": min(self.iterations, 50)}
        return replace(self, mcts_iterations=min(self.mcts_iterations, 500), said=self.name, **few)

    def extent(self, game) -> int:
        """Return the matches of a pair times the iterations of both searches."""
        return self.episodes * (self.iterations + self.mcts_iterations)

    def players(self, agent) -> dict:
        """Return the players by name."""
        found = {
            WRAPPED: Wrapped(valued(agent), self.iterations),
            ALONE: valued(agent),
            SEARCH: MCTS(self.mcts_iterations, tree_depth=TREE_DEPTH),
        }
        return found | ({self.perfect: Perfect(self.perfect)} if self.perfect else {})

    def __call__(self, game, agent, seed: int = 0) -> dict[str, float]:
        """Return metric -> value."""
        players = self.players(agent)
        pairs = [p for p in permutations(players, 2) if not self.perfect or self.perfect in p]
        table, found = played(game, players, None, self.episodes, seed, pairs), {}
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

    Parameters
    ----------
    cells : dict
        "first v second:wins" -> games of a hundred, for every ordered pair.
    players : sequence of str

    Source: [scheiermann2022] Table II (last column). Deviations: D22.

    Examples
    --------
    >>> from afterstate.evaluators.tournament import won_games_rates
    >>> a, b = {"wins": 90, "ties": 4, "losses": 6}, {"wins": 10, "ties": 0, "losses": 90}
    >>> cells = {f"A v B:{k}": v for k, v in a.items()} | {f"B v A:{k}": v for k, v in b.items()}
    >>> won_games_rates(cells, ["A", "B"])
    {'A': 91.0, 'B': 9.0}
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

    Calling it with ``(game, agent, seed)`` gives ``win_rate_second:MCTS:iterations-50`` ... in
    percent, a tie as half a game; 0 iterations are the agent alone.

    Parameters
    ----------
    iterations : tuple of int
    episodes : int
        Matches for each of them, from the empty board.
    mcts_iterations : int
        Of MCTS, which begins.

    Raises
    ------
    RuntimeError
        If a match fails.

    Source: [scheiermann2022] Sec. IV-B, Fig. 6.
    """

    iterations: tuple = (0, 10, 20, 50, 100, 200, 500, 1000)
    episodes: int = 25
    mcts_iterations: int = 10_000
    version: int = 1
    said: str = field(default="", compare=False)

    def __post_init__(self):
        whole("episodes", self.episodes), whole("mcts_iterations", self.mcts_iterations)
        for n in self.iterations:
            whole("iterations", n, 0)

    @property
    def name(self) -> str:
        """Name of the measurement in records."""
        return self.said or f"second against MCTS-{self.mcts_iterations}"

    @property
    def settings(self) -> dict:
        """What a record says besides name, version and fields."""
        versions = {kind.__name__: kind.version for kind in (Wrapped, MCTS)}
        return {"player_versions": versions, "tree_depth": TREE_DEPTH}

    def short(self) -> "AsSecond":
        """Return two matches each with less search."""
        few = {"episodes": min(self.episodes, 2), "iterations": self.iterations[:3]}
        return replace(self, mcts_iterations=min(self.mcts_iterations, 500), said=self.name, **few)

    def extent(self, game) -> int:
        """Return the matches times the iterations of both searches."""
        return self.episodes * sum(n + self.mcts_iterations for n in self.iterations)

    def __call__(self, game, agent, seed: int = 0) -> dict[str, float]:
        """Return metric -> value."""
        found = {}
        for n in self.iterations:
            players = {
                SEARCH: MCTS(self.mcts_iterations, tree_depth=TREE_DEPTH),
                "agent": Wrapped(valued(agent), n) if n else valued(agent),
            }
            table = played(game, players, None, self.episodes, seed, [(SEARCH, "agent")])
            rate = win_rate(table[table.player == "agent"].score, game.score_range)
            found[f"win_rate_second:{SEARCH}:iterations-{n}"] = 100.0 * rate
        return found
