"""Evaluations of Hex: matches from positions that are won in theory."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..arena.matches import matches, win_rate
from ..arena.starts import starts_after
from ..checks import whole
from ..kernel.random import seed_from
from .base import Evaluator
from .matches import Matches

# 6 x 6: no first ply, or one on half of the board: 1 + 21
HEX_STARTS = ((), *((6 * row + column,) for row in range(6) for column in range(6 - row)))
# 6 x 6: (actions, the agent's seat), in all of them that of the player to move. Matches between
# searches bear that out for 0, 2, 12 and 24; 14 and 18 are open.
HEX_WON_STARTS = (((), 0), *(((cell,), 1) for cell in (0, 2, 12, 14, 18, 24)))


@dataclass(frozen=True)
class WonStarts(Evaluator):
    """Matches against one opponent from positions that are won in theory.

    The agent is always on the winning side. Calling it with ``(game, agent, seed)`` returns
    ``win_rate_won:<opponent>`` in percent and ``score_won:<opponent>``.

    Parameters
    ----------
    name : str
        The opponent's name in the metrics.
    opponent : callable
        Makes the opponent, such as ``partial(players.MCTS, 1000)``.
    starts : sequence of (actions, seat)
        The actions to the start position, and the agent's seat.
    episodes : int
        Matches for every start, at least 1.

    Raises
    ------
    RuntimeError
        If a match fails.

    Source: [konen2021] Sec. 3.3. Deviations: D40.

    Examples
    --------
    >>> from afterstate import games, players
    >>> from afterstate.evaluators.hex import WonStarts
    >>> easy = WonStarts("random", players.Random, (((0, 3, 1, 4), 0),))
    >>> easy(games.load("hex", size=3), players.MaxN(5), seed=1)["win_rate_won:random"]
    100.0
    """

    name: str
    opponent: Callable
    starts: tuple = HEX_WON_STARTS
    episodes: int = 3
    version: int = 1

    def __post_init__(self):
        whole("episodes", self.episodes)

    @property
    def settings(self) -> dict:
        """What a record says about the evaluation besides name and version."""
        opponent = Matches(self.name, self.opponent).settings["opponent"]
        return {
            "kind": "won starts",
            "opponent": opponent,
            "starts": [[list(actions), seat] for actions, seat in self.starts],
            "episodes": self.episodes,
        }

    def __call__(self, game, agent, seed: int = 0) -> dict[str, float]:
        """Return metric -> value."""
        players, scores = {"agent": agent, self.name: self.opponent()}, []
        for k, (actions, seat) in enumerate(self.starts):
            seats = [("agent", self.name) if seat == 0 else (self.name, "agent")]
            table = matches(
                game,
                players,
                starts_after(game, [actions]),
                self.episodes,
                seed_from(seed, k),
                seats,
            )
            failed = table[table.error != ""]
            if len(failed):
                raise RuntimeError(
                    f"{len(failed) // 2} of {self.episodes} matches against {self.name} from"
                    f" {list(actions)} failed; the first: {failed.error.iloc[0]}"
                )
            scores += table[table.player == "agent"].score.tolist()
        return {
            f"win_rate_won:{self.name}": 100.0 * win_rate(scores, game.score_range),
            f"score_won:{self.name}": float(np.mean(scores)),
        }
