"""Matches in every seat against copies of one opponent: the evaluation that most studies use."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial

import pandas as pd

from ..arena.matches import matches, win_rate
from ..arena.starts import STARTS
from ..checks import whole
from ..players.searching import MCTS, MaxN
from .base import Evaluator


@dataclass(frozen=True)
class Matches(Evaluator):
    """A measurement of a trained agent: matches in every seat against copies of one opponent.

    Calling it with ``(game, agent, seed)`` returns metric -> value. The agent is a network (played
    greedily), a training session, or a player. Metrics are ``win_rate:<opponent>`` in percent and
    ``score:<opponent>`` in the game's unit; failed matches do not count, and appear as
    ``errors:<opponent>``.

    Parameters
    ----------
    name : str
        The opponent's name in the metrics.
    opponent : callable
        Makes the opponent, such as ``partial(players.MaxN, 10)``.
    starts : (str, int or tuple)
        ``("upto", plies)``, ``("all", plies)``, ``("random", number)`` or
        ``("after", (actions, ...))``.
    episodes : int
        Matches for every start and seat.
    metrics : tuple of str
        Of ``"win_rate"`` and ``"score"``.
    version : int
        Raised when the numbers change.
    probe_starts : (str, int or tuple), optional
        Fewer starts, for opponents that think long: :meth:`short` plays these.

    Raises
    ------
    ValueError
        If starts, episodes or metrics are not of these kinds.
    RuntimeError
        If all matches fail.

    Source: [konen2021] Sec. 3.3, Table 1, App. A.6.

    Examples
    --------
    >>> from afterstate import games, players
    >>> from afterstate.evaluators.matches import NIM
    >>> NIM(games.load("nim"), players.MaxN(15), seed=3)["win_rate:Max-N-15"]
    50.0
    """

    name: str
    opponent: Callable
    starts: tuple = ("upto", 0)
    episodes: int = 1
    metrics: tuple = ("win_rate", "score")
    version: int = 1
    # no part of what is measured, nor of what records say
    probe_starts: tuple | None = field(default=None, compare=False)

    def __post_init__(self):
        whole("episodes", self.episodes)
        if not callable(self.opponent):
            raise ValueError(f"opponent must make a player when called, not {self.opponent!r}")
        for starts in (self.starts, self.probe_starts or self.starts):
            if not isinstance(starts, tuple) or len(starts) != 2 or starts[0] not in STARTS:
                raise ValueError(f"starts must be ({' or '.join(STARTS)}, number), not {starts!r}")
        unknown = set(self.metrics) - {"win_rate", "score"}
        if unknown or not self.metrics:
            raise ValueError(f"metrics must be of win_rate and score, not {self.metrics!r}")

    def short(self) -> "Matches":
        """Return the same matches from fewer starts."""
        return replace(self, starts=self.probe_starts or self.starts)

    def extent(self, game) -> int:
        """Return the number of start positions."""
        return len(self._starts(game, 0))

    def _starts(self, game, seed):
        scheme, number = self.starts
        return STARTS[scheme](game, number, seed)

    @property
    def settings(self) -> dict:
        """What a record says about the evaluation besides name and version."""
        kind = getattr(self.opponent, "func", self.opponent)
        opponent = {
            "player": kind.__name__,
            "version": getattr(kind, "version", 1),
            "arguments": [
                *getattr(self.opponent, "args", ()),
                getattr(self.opponent, "keywords", {}),
            ],
        }
        return {
            "opponent": opponent,
            "starts": list(self.starts),
            "episodes": self.episodes,
            "metrics": list(self.metrics),
        }

    def lacks(self) -> str:
        """Return what the opponent needs and does not find here, or an empty text."""
        kind = getattr(self.opponent, "func", self.opponent)
        return self.opponent().lacks() if hasattr(kind, "lacks") else ""

    def cpu_seconds(self) -> float:
        """Return the CPU seconds of the programs that opponents of this kind have run as."""
        kind = getattr(self.opponent, "func", self.opponent)
        return kind.cpu_seconds() if hasattr(kind, "cpu_seconds") else 0.0

    def matches(self, game, agent, seed: int = 0) -> pd.DataFrame:
        """Play the matches and return their long table; the agent's name in it is ``agent``."""
        return matches(
            game,
            {"agent": agent, self.name: self.opponent()},
            self._starts(game, seed),
            self.episodes,
            seed,
            seats="first",
        )

    def __call__(self, game, agent, seed: int = 0) -> dict[str, float]:
        """Return metric -> value."""
        table = self.matches(game, agent, seed)
        mine = table[table.player == "agent"]
        errors = int((mine.error != "").sum())
        if errors == len(mine):
            raise RuntimeError(
                f"all {errors} matches against {self.name} failed; the first: {mine.error.iloc[0]}"
            )
        found = {
            "win_rate": 100.0 * win_rate(mine.score, game.score_range),
            "score": float(mine.score.mean()),
        }
        result = {f"{metric}:{self.name}": found[metric] for metric in self.metrics}
        return result | ({f"errors:{self.name}": float(errors)} if errors else {})


TICTACTOE = Matches("Max-N-10", partial(MaxN, 10), starts=("upto", 1))
NIM = Matches("Max-N-15", partial(MaxN, 15), starts=("random", 10))
NIM3P = Matches(
    "Max-N-15", partial(MaxN, 15), starts=("random", 10), episodes=10, metrics=("score",)
)
NIM3P_MCTS = Matches(
    "MCTS-5000", partial(MCTS, 5000), starts=("random", 10), episodes=3, metrics=("score",)
)
