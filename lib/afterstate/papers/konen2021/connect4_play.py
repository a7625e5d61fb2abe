"""ConnectFour agents against perfect play, their mistakes by ply, and what agents play first."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from ...arena.matches import match, starts_all
from ...evaluators import Evaluator, played
from ...kernel.random import seed_from
from ...players.perfect import Perfect, value


@dataclass(frozen=True)
class PerfectPlay(Evaluator):
    """Matches of a ConnectFour agent against a perfect player from the empty board.

    Metrics, for opponent X in `opponents`:

    - ``score_first:X``   mean score as first player, in [-1, 1];
    - ``win_rate_first_only:X``   percent, (1 + score_first) / 4: the original software takes for
      granted that nobody scores as second player against perfect play;
    - with ``roles="both"`` also ``score_second:X``, and ``win_rate:X`` of both roles.

    Source: [konen2021] Sec. 3.2, Fig. 4, Table 1. Deviations: D36, D45.
    """

    opponents: tuple = ("AB", "AB-DL")  # or "AB-DL-8"
    roles: Literal["both", "first"] = "both"  # "first": as first player only (learning curves)
    episodes: int = 40  # matches against each opponent in each role
    heavy, needs, settings = True, "bitbully", {"player_version": Perfect.version}

    def __post_init__(self):
        super().__post_init__()
        for name in self.opponents:
            Perfect(name)

    @property
    def name(self) -> str:
        """Name in keys."""
        unusual = self.opponents != ("AB", "AB-DL")
        return ", ".join(["perfect play", self.roles, *unusual * [" and ".join(self.opponents)]])

    def _measure(self, game, agent, seed):
        found = {}
        for name in self.opponents:
            seats = [("agent", name), (name, "agent")][: 2 if self.roles == "both" else 1]
            players = {"agent": agent, name: Perfect(name)}
            table = played(game, players, None, self.episodes, seed, seats)
            score = table[table.player == "agent"].groupby("seat").score.mean()
            found[f"score_first:{name}"] = float(score[0])
            found[f"win_rate_first_only:{name}"] = 25.0 * (1.0 + float(score[0]))
            if self.roles == "both":
                found[f"score_second:{name}"] = float(score[1])
                found[f"win_rate:{name}"] = 25.0 * (2.0 + float(score[0] + score[1]))
        return found


@dataclass(frozen=True)
class Mistakes(Evaluator):
    """How often an agent that plays itself gives away the value of its position, by ply.

    Metrics: ``mistakes:all`` and ``mistakes:ply 07`` ..., percent of the moves made at that ply,
    from 0, that lower the game-theoretic value for the mover. Every sequence of `opening` plies
    opens one game and is not judged.

    Source: [konen2021] Sec. 3.2 (how good is TD-FARL). Deviations: none.
    """

    opening: int = 2
    name, heavy, needs = "mistakes in self-play", True, "bitbully"
    may_be_0 = ("opening",)

    def _measure(self, game, agent, seed):
        made, wrong = np.zeros(42, np.int64), np.zeros(42, np.int64)
        for k, start in enumerate(starts_all(game, self.opening)):
            moves = match(game, [agent] * 2, start, seed_from(seed, k)).moves
            for ply, before, after in judge(game, [*start.actions, *moves])[self.opening :]:
                made[ply] += 1
                wrong[ply] += after < before
        rates = {
            f"mistakes:ply {ply:02d}": 100.0 * float(wrong[ply]) / int(made[ply])
            for ply in np.flatnonzero(made)
        }
        return {"mistakes:all": 100.0 * float(wrong.sum()) / int(made.sum())} | rates


def judge(game, actions) -> list[tuple[int, int, int]]:
    """Return (ply, value before, value after) for the mover of every action from the empty board.

    Values are 1 = won, 0 = drawn, -1 = lost under perfect play; a mistake lowers them.
    """
    s, rows = game.start(), []
    for ply, action in enumerate(actions):
        before, player = value(s, exact=False), game.player(s)
        s = game.play(s, action)
        after = int(game.score(s)[player]) if game.over(s) else -value(s, exact=False)
        rows.append((ply, before, after))
    return rows


@dataclass(frozen=True)
class FirstMoves(Evaluator):
    """How a greedy agent opens the game.

    Metrics: ``first_move:<action>``, its probability in percent (equal values share it), and
    ``first_move_lead``, by how much the best first move is valued above the second best.
    """

    name, measures = "first moves", object

    def _measure(self, game, net, seed):
        start = game.start()
        values = np.asarray(net.action_values(start))
        best = values == values.max()
        shares = 100.0 * best / best.sum()
        names = [game.action_name(start, action) for action in game.legal(start)]
        moves = {f"first_move:{name}": float(share) for name, share in zip(names, shares)}
        return moves | {"first_move_lead": float(np.diff(np.sort(values)[-2:]).sum())}
