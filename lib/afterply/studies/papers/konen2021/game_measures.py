"""What is measured of agents of ConnectFour, Hex from won positions, and 2048."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ....arena.matches import match, starts_after, starts_all, win_rate
from ....games.calls import call_chance, call_legal, call_over, call_play, call_score, call_start
from ....games.rules.game2048 import MAX_SCORE, exponents
from ....identity import identity
from ....kernel.compile import kernel
from ....kernel.random import best_of, new_rng, seed_from
from ....networks.lookup import read_action_values
from ....networks.ntuple import Network
from ....opponents.perfect import Perfect, value
from ...evaluators import Evaluator, played
from ...results import rows_of


@dataclass(frozen=True)
class PerfectPlay(Evaluator):
    """Matches of a ConnectFour agent against a perfect player X from the empty board.

    Measures, with the opponent: ``score`` with a seat, the mean in [-1, 1]; ``win_rate`` in the
    first seat, in percent, (1 + score) / 4, as the original software takes for granted that nobody
    scores as second player against perfect play; with ``roles="both"`` also ``score`` in the second
    seat, and ``win_rate`` over both.
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
        rows = []
        for name in self.opponents:
            seats = [("agent", name), (name, "agent")][: 2 if self.roles == "both" else 1]
            players = {"agent": agent, name: Perfect(name)}
            table = played(game, players, None, self.episodes, seed, seats)
            first, *second = table[table.player == "agent"].groupby("seat").score.mean().tolist()
            score = {"measure": "score", "opponent": name}
            rate = {"measure": "win_rate", "opponent": name}
            rows += [
                score | {"seat": "first", "value": first},
                rate | {"seat": "first", "value": 25.0 * (1.0 + first)},
            ]
            for last in second:
                rows += [
                    score | {"seat": "second", "value": last},
                    rate | {"value": 25.0 * (2.0 + (first + last))},
                ]
        return rows


@dataclass(frozen=True)
class Mistakes(Evaluator):
    """How often an agent that plays itself gives away the value of its position, by ply.

    Measure: ``mistakes``, percent of all moves that lower the game-theoretic value for the mover,
    and the same of the moves at each ``ply``, from 0. Every sequence of `opening` plies opens one
    game and is not judged. Source: [konen2021] Sec. 3.2 (how good is TD-FARL).
    """

    opening: int = 2
    name, heavy, needs = "mistakes in self-play", True, "bitbully"

    def _measure(self, game, agent, seed):
        wrong = {}
        for k, start in enumerate(starts_all(game, self.opening)):
            moves = match(game, [agent] * 2, start, seed_from(seed, k)).moves
            for ply, before, after in judge(game, [*start.actions, *moves])[self.opening :]:
                wrong.setdefault(ply, []).append(after < before)
        every, rows = sum(wrong.values(), []), []
        for columns, each in [({}, every), *(({"ply": p}, wrong[p]) for p in sorted(wrong))]:
            percent = 100.0 * sum(each) / len(each)
            rows.append({"measure": "mistakes", **columns, "value": percent})
        return rows


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

    Measures: ``first_move``, with the ``move``, its probability in percent (equal values share it),
    and ``first_move_lead``, by how much the best first move is valued above the second best.
    """

    name, measures = "first moves", object

    def _measure(self, game, net, seed):
        start = game.start()
        values = np.asarray(net.action_values(start))
        best = values == values.max()
        shares = 100.0 * best / best.sum()
        names = [game.action_name(start, action) for action in game.legal(start)]
        rows = [
            {"measure": "first_move", "move": name, "value": float(share)}
            for name, share in zip(names, shares)
        ]
        lead = float(np.diff(np.sort(values)[-2:]).sum())
        return [*rows, {"measure": "first_move_lead", "value": lead}]


# 6 x 6: no first ply, or one on half of the board: 1 + 21
HEX_STARTS = ((), *((6 * row + column,) for row in range(6) for column in range(6 - row)))
# 6 x 6: (actions, the agent's seat), in all of them that of the player to move. Matches between
# searches bear that out for 0, 2, 12 and 24; 14 and 18 are open.
HEX_WON_STARTS = (((), 0), *(((cell,), 1) for cell in (0, 2, 12, 14, 18, 24)))
TILES = (1024, 2048, 4096, 8192, 16384)


@dataclass(frozen=True)
class WonStarts(Evaluator):
    """Matches against one opponent from positions that are won in theory, on the winning side.

    Measures, with the opponent and the variant "won starts": ``win_rate`` in percent and ``score``.
    `starts` are pairs of the actions to the start position and the agent's seat.
    Source: [konen2021] Sec. 3.3.
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
        found = {
            "win_rate": 100.0 * win_rate(scores, game.score_range),
            "score": float(np.mean(scores)),
        }
        return rows_of(found, opponent=self.name, variant="won starts")


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

    Measures: ``score``, the mean points of a game; ``score_best``; ``moves``; ``reached``, with the
    ``tile``, the percent of the games that reach it; ``mean_value``, mean V over all afterstates,
    in points; ``end_value``, that of a game's last one. The greedy choice does not discount.
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
        means = {
            "score": float(scores.mean()),
            "score_best": float(scores.max()),
            "moves": float(found[:, 0].mean()),
            "mean_value": float(point * found[:, 1].sum() / found[:, 0].sum()),
            "end_value": float(point * found[:, 2].mean()),
        }
        reached = {tile: 100.0 * float((largest >= tile).mean()) for tile in TILES}
        tiles = ({"measure": "reached", "tile": tile, "value": v} for tile, v in reached.items())
        return [*rows_of(means), *tiles]
