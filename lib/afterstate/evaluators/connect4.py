"""What is measured of ConnectFour agents: matches against perfect play, and mistakes by ply."""

from dataclasses import dataclass

import numpy as np

from ..arena.matches import match, matches
from ..arena.starts import starts_all
from ..checks import one_of, whole
from ..kernel.random import seed_from
from ..players import optional
from ..players.perfect import Perfect, keep_answers, oracle
from .base import Evaluator


@dataclass(frozen=True)
class PerfectPlay(Evaluator):
    """Matches of a ConnectFour agent against a perfect player from the empty board.

    Calling it with ``(game, agent, seed)`` returns, for opponent X in `opponents`:

    - ``score_first:X``   mean score of the agent as first player, in [-1, 1];
    - ``win_rate_first_only:X``   percent, (1 + score_first) / 4: as the original software computes
      the rate of both roles, taking for granted that nobody scores as second player against perfect
      play;
    - with ``roles="both"`` also ``score_second:X`` and ``win_rate:X``, percent, the rate of both
      roles as played.

    Parameters
    ----------
    opponents : tuple of str
        Of ``"AB"``, ``"AB-DL"`` and ``"AB-DL-8"``.
    roles : {"first", "both"}
        As first player only (learning curves) or in both roles.
    episodes : int
        Matches against each opponent in each role, at least 1.

    Raises
    ------
    ValueError
        If `roles` or an opponent is unknown.
    RuntimeError
        If a match fails.

    Source: [konen2021] Sec. 3.2, Fig. 4, Table 1. Deviations: D36, D45.
    """

    opponents: tuple = ("AB", "AB-DL")
    roles: str = "both"
    episodes: int = 40
    version: int = 1
    heavy = True  # the engine lives in the evaluation process only

    def __post_init__(self):
        one_of("roles", self.roles, ("first", "both")), whole("episodes", self.episodes)
        for name in self.opponents:
            Perfect(name)

    @property
    def name(self) -> str:
        """Name of the measurement in records."""
        return f"perfect play, {self.roles}" + (
            "" if self.opponents == ("AB", "AB-DL") else f", {' and '.join(self.opponents)}"
        )

    @property
    def settings(self) -> dict:
        """What a record says besides name and version."""
        return {
            "opponents": list(self.opponents),
            "roles": self.roles,
            "episodes": self.episodes,
            "player_version": Perfect.version,
        }

    def lacks(self) -> str:
        """Return what is missing to measure, with the remedy, or an empty text."""
        return optional.lacks("bitbully")

    def matches(self, game, agent, opponent: str, seed: int = 0):
        """Return the long table of the matches against one opponent."""
        seats = [("agent", opponent)] + ([(opponent, "agent")] if self.roles == "both" else [])
        return matches(
            game,
            {"agent": agent, opponent: Perfect(opponent)},
            None,
            self.episodes,
            seed,
            seats=seats,
        )

    def __call__(self, game, agent, seed: int = 0) -> dict[str, float]:
        """Return metric -> value."""
        found = {}
        for name in self.opponents:
            table = self.matches(game, agent, name, seed)
            failed = table[table.error != ""]
            if len(failed):
                raise RuntimeError(
                    f"{len(failed) // 2} of the {len(table) // 2} matches against {name} failed; "
                    f"the first: {failed.error.iloc[0]}"
                )
            score = table[table.player == "agent"].groupby("seat").score.mean()
            found |= {
                f"score_first:{name}": float(score[0]),
                f"win_rate_first_only:{name}": 25.0 * (1.0 + float(score[0])),
            }
            if self.roles == "both":
                found |= {
                    f"score_second:{name}": float(score[1]),
                    f"win_rate:{name}": 25.0 * (2.0 + float(score[0] + score[1])),
                }
        keep_answers()
        return found


@dataclass(frozen=True)
class Mistakes(Evaluator):
    """How often an agent that plays itself gives away the value of its position, by ply.

    Calling it with ``(game, agent, seed)`` returns ``mistakes:all`` and ``mistakes:ply 07`` ...,
    percent of the moves made at that ply (the first ply of a game is 0) that lower the
    game-theoretic value for the mover.

    Parameters
    ----------
    opening : int
        Every sequence of so many plies opens one game; these moves are not judged.

    Source: [konen2021] Sec. 3.2 (how good is TD-FARL). Deviations: none.
    """

    opening: int = 2
    name: str = "mistakes in self-play"
    version: int = 1
    heavy = True

    def __post_init__(self):
        whole("opening", self.opening, 0)

    def lacks(self) -> str:
        """Return what is missing to measure, with the remedy, or an empty text."""
        return optional.lacks("bitbully")

    def __call__(self, game, agent, seed: int = 0) -> dict[str, float]:
        """Return metric -> percent."""
        made, wrong = np.zeros(42, np.int64), np.zeros(42, np.int64)
        for k, start in enumerate(starts_all(game, self.opening)):
            moves = match(game, [agent] * 2, start, seed_from(seed, k)).moves
            for ply, before, after in judge(game, [*start.actions, *moves])[self.opening :]:
                made[ply] += 1
                wrong[ply] += after < before
        keep_answers()
        rates = {
            f"mistakes:ply {ply:02d}": 100.0 * float(wrong[ply]) / int(made[ply])
            for ply in np.flatnonzero(made)
        }
        return {"mistakes:all": 100.0 * float(wrong.sum()) / int(made.sum())} | rates


def judge(game, actions) -> list[tuple[int, int, int]]:
    """Return (ply, value before, value after) for the mover of every action of a game.

    The game begins with the empty board.

    Values are 1 = won, 0 = drawn, -1 = lost under perfect play; a lower value after than before is
    a mistake.

    Examples
    --------
    >>> from afterstate import games
    >>> from afterstate.players import optional
    >>> from afterstate.evaluators.connect4 import judge
    >>> found = [(0, 1, 1), (1, -1, -1)]
    >>> judge(games.load("connect4"), [3, 0]) if not optional.lacks("bitbully") else found
    [(0, 1, 1), (1, -1, -1)]
    """
    s, rows = game.start(), []
    for ply, action in enumerate(actions):
        before, player = oracle().value(s, "sign"), game.player(s)
        s = game.play(s, action)
        after = int(game.score(s)[player]) if game.over(s) else -oracle().value(s, "sign")
        rows.append((ply, before, after))
    return rows
