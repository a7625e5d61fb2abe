"""What is measured of agents of ConnectFour, Hex from won positions, and 2048."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ...arena.matches import match, starts_after, starts_all, win_rate
from ...evaluators import Evaluator, played
from ...games.calls import call_chance, call_legal, call_over, call_play, call_score, call_start
from ...games.rules.game2048 import MAX_SCORE, exponents
from ...identity import identity
from ...kernel.compile import kernel
from ...kernel.random import best_of, new_rng, seed_from
from ...networks.lookup import read_action_values
from ...networks.ntuple import Network
from ...players.perfect import Perfect, value


@dataclass(frozen=True)
class PerfectPlay(Evaluator):
    """Matches of a ConnectFour agent against a perfect player X from the empty board.

    Metrics: ``score_first:X``, the mean score in [-1, 1]; ``win_rate_first_only:X``, in percent,
    (1 + score_first) / 4, as the original software takes for granted that nobody scores as second
    player against perfect play; with ``roles="both"`` also ``score_second:X``, and ``win_rate:X``.
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
            first, *second = table[table.player == "agent"].groupby("seat").score.mean().tolist()
            found[f"score_first:{name}"] = first
            found[f"win_rate_first_only:{name}"] = 25.0 * (1.0 + first)
            for score in second:
                found[f"score_second:{name}"] = score
                found[f"win_rate:{name}"] = 25.0 * (2.0 + (first + score))
        return found


@dataclass(frozen=True)
class Mistakes(Evaluator):
    """How often an agent that plays itself gives away the value of its position, by ply.

    Metrics: ``mistakes:all`` and ``mistakes:ply 07`` ..., percent of the moves made at that ply,
    from 0, that lower the game-theoretic value for the mover. Every sequence of `opening` plies
    opens one game and is not judged. Source: [konen2021] Sec. 3.2 (how good is TD-FARL).
    """

    opening: int = 2
    name, heavy, needs = "mistakes in self-play", True, "bitbully"

    def _measure(self, game, agent, seed):
        wrong = {}
        for k, start in enumerate(starts_all(game, self.opening)):
            moves = match(game, [agent] * 2, start, seed_from(seed, k)).moves
            for ply, before, after in judge(game, [*start.actions, *moves])[self.opening :]:
                wrong.setdefault(f"ply {ply:02d}", []).append(after < before)
        wrong = {"all": sum(wrong.values(), [])} | dict(sorted(wrong.items()))
        return {f"mistakes:{of}": 100.0 * sum(each) / len(each) for of, each in wrong.items()}


def judge(game, actions) -> list[tuple[int, int, int]]:
    """Return (ply, value before, value after) for the mover of every action: 1, 0 or -1."""
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


# 6 x 6: no first ply, or one on half of the board: 1 + 21
HEX_STARTS = ((), *((6 * row + column,) for row in range(6) for column in range(6 - row)))
# 6 x 6: (actions, the agent's seat), in all of them that of the player to move. Matches between
# searches bear that out for 0, 2, 12 and 24; 14 and 18 are open.
HEX_WON_STARTS = (((), 0), *(((cell,), 1) for cell in (0, 2, 12, 14, 18, 24)))
TILES = (1024, 2048, 4096, 8192, 16384)


@dataclass(frozen=True)
class WonStarts(Evaluator):
    """Matches against one opponent from positions that are won in theory, on the winning side.

    Metrics: ``win_rate_won:<opponent>`` in percent and ``score_won:<opponent>``. `starts` are pairs
    of the actions to the start position and the agent's seat. Source: [konen2021] Sec. 3.3.
    """

    name: str
    opponent: Callable
    starts: tuple = HEX_WON_STARTS
    episodes: int = 3
    _opponent = property(lambda self: identity(self.opponent))
    settings = property(lambda self: {"kind": "won starts", "opponent": self._opponent})

    def _measure(self, game, agent, seed):
        players, scores = {"agent": agent, self.name: self.opponent()}, []
        for k, (actions, seat) in enumerate(self.starts):
            seats = [("agent", self.name) if seat == 0 else (self.name, "agent")]
            start = starts_after(game, [actions])
            table = played(game, players, start, self.episodes, seed_from(seed, k), seats)
            scores += table[table.player == "agent"].score.tolist()
        return {
            f"win_rate_won:{self.name}": 100.0 * win_rate(scores, game.score_range),
            f"score_won:{self.name}": float(np.mean(scores)),
        }


@kernel
def play_greedily(rules, net, s, moves, values, rng, work, found):
    """Play one greedy game of a single player, up to the state `s`."""
    # found: the number of moves, the sum of V over all afterstates, and V of the last one
    reward = work[1]
    call_start(rules, s, rng)
    found[0] = found[1] = found[2] = 0.0
    while not call_over(rules, s):
        n = call_legal(rules, s, moves)
        read_action_values(rules, net, s, moves, n, 1.0, work, values)
        call_score(rules, s, reward)
        before, best = reward[0], best_of(values, n, rng)
        call_play(rules, s, moves[best])
        call_score(rules, s, reward)
        found[2] = values[best] - (reward[0] - before)
        found[0] += 1.0
        found[1] += found[2]
        call_chance(rules, s, rng)


@dataclass(frozen=True)
class Scores2048(Evaluator):
    """Greedy games of 2048: how many points, how far, and what the network says of the end.

    Metrics: ``score``, the mean points of a game; ``score_best``; ``moves``; ``tile:2048`` ..., the
    percent of the games that reach this tile; ``mean_value``, mean V over all afterstates, in
    points; ``end_value``, that of a game's last one. The greedy choice does not discount.
    Source: [konen2021] Table 1. Deviations: D18, D41, D54.
    """

    games: int = 50
    measures, settings = Network, {"gamma": 1.0}
    name = property(lambda self: f"{self.games} games of 2048")

    def _measure(self, game, net, seed):
        if game.name != "game2048":
            raise ValueError(f"this evaluator plays game2048 only, not {game!r}")
        states, found = np.zeros((self.games, game.size), np.int32), np.zeros((self.games, 3))
        point = MAX_SCORE / game.score_range[1]
        memory = np.zeros(game.max_legal, np.int32), np.zeros(game.max_legal)
        for k in range(self.games):
            rng = new_rng(seed_from(seed, k))
            play_greedily(game.rules, net.arrays, states[k], *memory, rng, net._work, found[k])
        largest = np.array([2 ** max(exponents(s)) for s in states])
        scores = states[:, 2].astype(float)
        return {
            "score": float(scores.mean()),
            "score_best": float(scores.max()),
            "moves": float(found[:, 0].mean()),
            "mean_value": float(point * found[:, 1].sum() / found[:, 0].sum()),
            "end_value": float(point * found[:, 2].mean()),
        } | {f"tile:{tile}": 100.0 * float((largest >= tile).mean()) for tile in TILES}
