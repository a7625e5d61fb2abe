"""What is measured of agents of ConnectFour, Hex from won positions, and 2048."""

from collections import defaultdict
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
from ....players.searching import MaxN
from ...evaluators import Evaluator, played
from ...results import rows_of


@dataclass(frozen=True)
class PerfectPlay(Evaluator):
    """Matches of a ConnectFour agent against perfect players from the empty board.

    Measures, for each `opponent`:

    - ``score`` in the first `seat`: the mean score of a match, in [-1, 1];
    - ``win_rate`` in the first `seat`, in percent: (1 + score) / 4, since the original software
      assumes that nobody scores against perfect play as second player;
    - with ``roles="both"`` also ``score`` in the second `seat`, and ``win_rate`` over both seats.

    Source: [konen2021] Sec. 3.2, Fig. 4, Table 1. Deviations: D36, D45.
    """

    opponents: tuple = ("AB", "AB-DL")  # or "AB-DL-8"
    roles: Literal["both", "first"] = "both"  # "first": as first player only (learning curves)
    episodes: int = 40  # matches against each opponent in each role
    heavy = True
    needs = "bitbully"
    settings = {"player_version": Perfect.version}

    def __post_init__(self):
        super().__post_init__()
        for name in self.opponents:
            Perfect(name)  # raises ValueError for a name that it does not know

    @property
    def name(self) -> str:
        """Name in keys."""
        words = ["perfect play", self.roles]
        if self.opponents != ("AB", "AB-DL"):
            words.append(" and ".join(self.opponents))
        return ", ".join(words)

    def _measure(self, game, agent, seed):
        rows = []
        for name in self.opponents:
            rows += self._rows_against(name, game, agent, seed)
        return rows

    def _rows_against(self, name, game, agent, seed):
        """Return the rows of one perfect player."""
        players = {"agent": agent, name: Perfect(name)}
        seats = [("agent", name)]
        if self.roles == "both":
            seats.append((name, "agent"))
        table = played(game, players, None, self.episodes, seed, seats)
        scores = table[table.player == "agent"].groupby("seat").score.mean().tolist()
        score = {"measure": "score", "opponent": name}
        win_rate_of = {"measure": "win_rate", "opponent": name}
        first = scores[0]
        rows = [
            score | {"seat": "first", "value": first},
            win_rate_of | {"seat": "first", "value": 25.0 * (1.0 + first)},
        ]
        if self.roles == "both":
            second = scores[1]
            rows.append(score | {"seat": "second", "value": second})
            rows.append(win_rate_of | {"value": 25.0 * (2.0 + (first + second))})
        return rows


@dataclass(frozen=True)
class Mistakes(Evaluator):
    """How often an agent that plays itself gives away the value of its position, by ply.

    Measure: ``mistakes``, percent of all moves that lower the game-theoretic value for the mover,
    and the same of the moves at each ``ply``, from 0. Every sequence of `opening` plies opens one
    game and is not judged. Source: [konen2021] Sec. 3.2 (how good is TD-FARL).
    """

    opening: int = 2
    name = "mistakes in self-play"
    heavy = True
    needs = "bitbully"

    def _measure(self, game, agent, seed):
        mistakes = []  # of each move, whether it lowers the value
        mistakes_at = defaultdict(list)  # ply -> the same of the moves there
        for k, start in enumerate(starts_all(game, self.opening)):
            moves = match(game, [agent, agent], start, seed_from(seed, k)).moves
            judged = judge(game, [*start.actions, *moves])
            for ply, before, after in judged[self.opening :]:
                mistakes.append(after < before)
                mistakes_at[ply].append(after < before)
        rows = rows_of({"mistakes": _percent(mistakes)})
        for ply, of_ply in sorted(mistakes_at.items()):
            rows += rows_of({"mistakes": _percent(of_ply)}, ply=ply)
        return rows


def _percent(flags):
    """Return how many of some flags are true, in percent."""
    return 100.0 * sum(flags) / len(flags)


def judge(game, actions) -> list[tuple[int, int, int]]:
    """Return (ply, value before, value after) of every action, with the values of the mover.

    Parameters
    ----------
    game : Game
        ConnectFour.
    actions : sequence of int
        Those of a game, from its start.

    Returns
    -------
    list of tuple
        One for each action. A value is that of perfect play: 1 (won), 0 or -1.
    """
    state = game.start()
    rows = []
    for ply, action in enumerate(actions):
        player = game.player(state)
        before = value(state, exact=False)
        state = game.play(state, action)
        if game.over(state):
            after = int(game.score(state)[player])
        else:
            after = -value(state, exact=False)  # the other player is to move
        rows.append((ply, before, after))
    return rows


@dataclass(frozen=True)
class FirstMoves(Evaluator):
    """How a greedy agent opens the game.

    Measures: ``first_move``, with the ``move``, its probability in percent (equal values share it),
    and ``first_move_lead``, by how much the best first move is valued above the second best.
    """

    name = "first moves"
    measures = object

    def _measure(self, game, net, seed):
        start = game.start()
        values = np.asarray(net.action_values(start))
        is_best = values == values.max()
        shares = 100.0 * is_best / is_best.sum()
        rows = []
        for action, share in zip(game.legal(start), shares):
            move = game.action_name(start, action)
            rows.append({"measure": "first_move", "move": move, "value": float(share)})
        two_best = np.sort(values)[-2:]
        lead = float(np.diff(two_best).sum())  # 0 if there is only one move
        rows.append({"measure": "first_move_lead", "value": lead})
        return rows


def _hex_starts():
    """Return the actions to 22 positions of 6x6 Hex: the empty board, and a stone on half of it."""
    starts = [()]
    for row in range(6):
        # The other half of the board is this one, rotated.
        for column in range(6 - row):
            starts.append((6 * row + column,))
    return tuple(starts)


HEX_STARTS = _hex_starts()
# 6x6 Hex: (actions, the agent's seat). The agent is the player to move, and wins by the original's
# list. Matches between searches confirm the winner after 0, 2, 12 and 24; 14 and 18 are open.
HEX_WON_STARTS = (((), 0), *(((cell,), 1) for cell in (0, 2, 12, 14, 18, 24)))
TILES = (1024, 2048, 4096, 8192, 16384)
LARGE_TILES = (2048, 4096, 8192, 16384, 32768)


@dataclass(frozen=True)
class WonStarts(Evaluator):
    """Matches against one opponent from positions that are won in theory, on the winning side.

    Measures, with the `opponent` and the `variant` "won starts": ``win_rate``, in percent, and
    ``score``, the mean in the game's unit. `starts` are pairs of the actions to the start position
    and the agent's seat.
    Source: [konen2021] Sec. 3.3.
    """

    name: str
    opponent: Callable
    starts: tuple = HEX_WON_STARTS
    episodes: int = 3
    _opponent = property(lambda self: identity(self.opponent))
    settings = property(lambda self: {"kind": "won starts", "opponent": self._opponent})

    def _measure(self, game, agent, seed):
        players = {"agent": agent, self.name: self.opponent()}
        scores = []
        for k, (actions, agents_seat) in enumerate(self.starts):
            pairing = ("agent", self.name)
            if agents_seat == 1:
                pairing = (self.name, "agent")
            start = starts_after(game, [actions])
            table = played(game, players, start, self.episodes, seed_from(seed, k), [pairing])
            scores += table[table.player == "agent"].score.tolist()
        values = {
            "win_rate": 100.0 * win_rate(scores, game.score_range),
            "score": float(np.mean(scores)),
        }
        return rows_of(values, opponent=self.name, variant="won starts")


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

    Measures:

    - ``score`` and ``score_best``: mean and greatest number of points of a game;
    - ``moves``: mean number of moves;
    - ``reached``, with the ``tile``: games that reach it, in percent;
    - ``mean_value``: mean V over all afterstates, in points;
    - ``end_value``: mean V of the last afterstate of a game, in points.

    The greedy choice does not discount.
    Source: [konen2021] Table 1. Deviations: D18, D41, D54.
    """

    games: int = 50
    measures = Network
    settings = {"gamma": 1.0}
    name = property(lambda self: f"{self.games} games of 2048")

    def _measure(self, game, net, seed):
        if game.name != "game2048":
            raise ValueError(f"this evaluator plays game2048 only, not {game!r}")
        states, sums = self._play(game, net, seed)
        moves = sums[:, 0]
        sums_of_values = sums[:, 1]
        last_values = sums[:, 2]
        points = states[:, 2].astype(float)
        points_of_a_reward = MAX_SCORE / game.score_range[1]
        rows = rows_of(
            {
                "score": float(points.mean()),
                "score_best": float(points.max()),
                "moves": float(moves.mean()),
                "mean_value": float(points_of_a_reward * sums_of_values.sum() / moves.sum()),
                "end_value": float(points_of_a_reward * last_values.mean()),
            }
        )
        return rows + _reached(states, TILES)

    def _play(self, game, net, seed):
        """Play the games; return their last states, and the numbers of :func:`play_greedily`."""
        states = np.zeros((self.games, game.size), np.int32)
        sums = np.zeros((self.games, 3))
        moves = np.zeros(game.max_legal, np.int32)
        values = np.zeros(game.max_legal)
        for k in range(self.games):
            rng = new_rng(seed_from(seed, k))
            state = states[k]
            play_greedily(game.rules, net.arrays, state, moves, values, rng, net._work, sums[k])
        return states, sums


def _reached(states, tiles, **columns) -> list[dict]:
    """Return the percentage of some last states with each tile, or a larger one."""
    largest_tiles = np.array([2 ** max(exponents(state)) for state in states])
    rows = []
    for tile in tiles:
        percent = 100.0 * float((largest_tiles >= tile).mean())
        rows.append({"measure": "reached", "tile": tile, **columns, "value": percent})
    return rows


@dataclass(frozen=True)
class Searched2048(Scores2048):
    """Games of 2048 with an expectimax search around the network; depth 1 is the network alone.

    Measures, all with the `depth` of the search, in moves:

    - ``score``, ``score_best`` and ``score_sd``: mean, greatest number and standard deviation of
      the points of a game;
    - ``moves``: mean number of moves;
    - ``reached``, with the ``tile``: games that reach it, in percent.
    """

    depth: int = 1
    name = property(lambda self: f"{self.games} games of 2048, {self.depth} plies")

    def _measure(self, game, net, seed):
        states, moves = self._ends(game, net, seed)
        points = states[:, 2].astype(float)
        values = {
            "score": float(points.mean()),
            "score_best": float(points.max()),
            "score_sd": float(points.std()),
            "moves": float(np.mean(moves)),
        }
        rows = rows_of(values, depth=self.depth)
        return rows + _reached(states, LARGE_TILES, depth=self.depth)

    def _ends(self, game, net, seed):
        """Play the games; return their last states, and how many moves each took."""
        if self.depth == 1:  # without Python between two moves
            states, sums = self._play(game, net, seed)
            return states, sums[:, 0]
        player = MaxN(self.depth, leaf=net)
        states = []
        moves = []
        for k in range(self.games):
            seed_of_game = seed_from(seed, k)
            player.new_match(game, [], 0, seed_from(seed_of_game, "ties"))
            rng = new_rng(seed_of_game)
            state = game.start(seed_of_game)
            num_moves = 0
            while not game.over(state):
                state = game.next(state, player.choose(state), rng)
                num_moves += 1
            states.append(state)
            moves.append(num_moves)
        return np.array(states), moves
