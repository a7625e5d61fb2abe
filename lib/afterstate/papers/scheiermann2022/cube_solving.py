"""Rubik's cubes: how many twists one is from solved, exactly, and how many an agent solves.

Distances are in the half-turn metric, and the last twist does not matter: the way to the solved
cube may begin by undoing it. All sequences of twists are tried, the short ones first, until one
ends in a table of all states of at most five twists, which is made on first use in a second.
"""

import functools
from dataclasses import dataclass

import numpy as np

from ...arena.matches import play_on
from ...checks import one_of, whole
from ...evaluators import Evaluator
from ...games.calls import copy_into
from ...games.rules import cube
from ...games.rules.cube import GAMES, SOLVED, corner_key, edge_key, is_solved, twist
from ...kernel.compile import kernel
from ...kernel.random import new_rng, random_int, seed_from
from ...players.basic import wrap
from ...players.wrapped import Wrapped

FAR = -1  # what `distances` gives beyond the limit
LIMIT = 11  # of distances unless given: no 2x2x2 is farther
LEVELS = 5  # of the table
TABLE_BITS = 20
MASK = np.uint64(2**TABLE_BITS - 1)
KEY_BITS = np.uint64(40)  # of the corners in a table entry; above is the distance + 1, or 0: empty
KEY_MASK = np.uint64(2**40 - 1)
WORDS = len(SOLVED)  # numbers of a 3x3x3 state without the last twist


def distances(game, states, limit: int = LIMIT) -> np.ndarray:
    """Return the distances of states (int32 [n, size]) of ``cube2`` or ``cube3``, int8 [n].

    They are FAR (-1) beyond `limit`, 5 to 20. A ``cube3`` of nine twists takes 10 ms, and every
    twist more 20 times as long. Raises ValueError if the game or a state is no cube.

    >>> from afterstate import games
    >>> game = games.load("cube3")
    >>> distances(game, [game.parse("after R U R' U'")]).tolist()
    [4]
    """
    one_of("the game", game.name, GAMES), whole("limit", limit, LEVELS, 20)
    states = np.ascontiguousarray(states, np.int32)
    if states.ndim != 2 or states.shape[1] != game.size:
        raise ValueError(
            f"states of {game.name} are an array [n, {game.size}], not of shape {states.shape}"
        )
    cubes, words = np.tile(SOLVED, (len(states), 1)), game.size - 1
    cubes[:, :words] = states[:, :words]  # the 2x2x2 has its edges at home
    # every cubie once; twists need not lead there
    codes = (cubes[:, :, None] >> 8 * np.arange(4) & 255).reshape(len(cubes), -1)
    corners, edges = np.split(codes, [cube.NUM_CORNERS], axis=1)
    good = (np.sort(corners // 4) == np.arange(cube.NUM_CORNERS)).all(axis=1)
    good &= (np.sort(edges // 2) == np.arange(cube.NUM_EDGES)).all(axis=1)
    good &= (corners % 4 < 3).all(axis=1)
    if not good.all():
        k = int(np.argmin(good))
        where = f"state {k} of {len(states)}, {states[k].tolist()},"
        raise ValueError(f"{where} is no cube: take states from the game's start, play or parse")
    table, scratch, most = near(words)[0], np.zeros_like(SOLVED), limit - LEVELS
    found = [_search(table, each, scratch, words, game.actions, most) for each in cubes]
    return np.array(found, np.int8)


@functools.cache
def near(words) -> tuple[np.ndarray, list]:
    """Return the table of all states of at most five twists, and how many there are per distance.

    words: of a state, 2 or 5. The table is uint64 [2**20, 2]: corners with the distance + 1 above
    them, and edges.
    """
    table, level, sizes = np.zeros((2**TABLE_BITS, 2), np.uint64), SOLVED[None, :].copy(), [1]
    _add(table, level, np.uint64(1))
    for depth in range(LEVELS):
        level = np.repeat(level, 9 if words == 2 else 18, axis=0)
        _twist_each(level, words, len(level) // sizes[-1])
        level = level[: _add(table, level, np.uint64(depth + 2))]
        sizes.append(len(level))
    return table, sizes


@kernel
def _twist_each(states, words, actions):
    for i in range(states.shape[0]):
        twist(states[i], words, i % actions)


@kernel
def _slot(table, s):
    """Return the entry of a state, or the empty one where it belongs (open addressing)."""
    corners, edges = corner_key(s), edge_key(s)
    h = (corners * np.uint64(0x9E3779B97F4A7C15)) ^ (edges * np.uint64(0xC2B2AE3D27D4EB4F))
    h = (h ^ h >> np.uint64(29)) * np.uint64(0xFF51AFD7ED558CCD)
    at = h >> np.uint64(64 - TABLE_BITS)
    while table[at, 0] != 0 and (table[at, 0] & KEY_MASK != corners or table[at, 1] != edges):
        at = (at + np.uint64(1)) & MASK
    return at


@kernel
def _add(table, states, mark):
    """Add states with `mark` = distance + 1; bring new ones to the front, return their number."""
    n = 0
    for i in range(states.shape[0]):
        at = _slot(table, states[i])
        if table[at, 0] == 0:
            table[at, 0] = corner_key(states[i]) | mark << KEY_BITS
            table[at, 1] = edge_key(states[i])
            copy_into(states[n], states[i], WORDS)
            n += 1
    return n


@kernel
def _search(table, s, scratch, words, actions, most):
    for length in range(most + 1):
        for number in range(actions**length):  # its digits are the twists
            copy_into(scratch, s, WORDS)
            for _ in range(length):
                twist(scratch, words, number % actions)
                number //= actions
            known = table[_slot(table, scratch), 0] >> KEY_BITS
            if known > 0:
                return np.int64(known) - 1 + length
    return FAR


def scramble(game, twists: int, seed: int = 0) -> np.ndarray:
    """Return a cube after random twists, no two in a row of the same face, that is not solved.

    The state knows no last twist.

    Source: [scheiermann2022] Sec. IV-C. Deviations: D15.
    """
    rng, words = new_rng(seed), game.size - 1
    whole("twists", twists)
    while True:
        state, face = game.parse("after"), -1
        for _ in range(twists):
            action = int(random_int(rng, game.actions - (3 if face >= 0 else 0)))
            if face >= 0 and action >= 3 * face:  # every twist of another face
                action += 3
            face = action // 3
            twist(state, words, action)  # it may come out solved on the way
        if not is_solved(state, words):
            return state


@dataclass(frozen=True)
class Solved(Evaluator):
    """How many scrambled cubes an agent solves within some twists, with or without the wrapper.

    Metrics, in percent: ``solved_rate`` of all cubes with `twists`, and ``solved_rate:twists-11``
    of those scrambled by 11, for `twists` and `also`. With `by_distance`
    ``solved_rate:distance-09`` and how many cubes that are, ``cubes:distance-09``, by the number of
    twists that solve the cube at best. With `iterations` the names go on, as in
    ``solved_rate:iterations-200:c_puct-10:twists-11``.

    Source: [scheiermann2022] Sec. IV-C, Fig. 7. Deviations: D6, D7, D14, D15, D16.
    """

    twists: tuple[int, ...] = (11, 12, 13)  # of the scrambles
    also: tuple[int, ...] = ()  # further ones, which do not count in ``solved_rate``
    cubes: int = 200  # scrambled with each number of twists
    iterations: int = 0  # of the wrapper before every twist; 0: the agent alone
    c_puct: float = 1.0  # D6
    max_steps: int = 20  # after which a cube counts as unsolved: D14
    max_depth: int = 50  # of the wrapper: D7
    step_reward: float = -0.04  # as in the training: D16
    by_distance: bool = True  # whether the rates by exact distance are given, too
    measures, may_be_0 = object, ("iterations",)

    name = property(lambda self: f"solved cubes{self._how.replace(':', ', ').replace('-', ' ')}")

    @property
    def _how(self) -> str:
        constant = "" if self.c_puct == 1.0 else f":c_puct-{self.c_puct:g}"
        return f":iterations-{self.iterations}{constant}" if self.iterations else ""

    def _measure(self, game, net, seed):
        if game.name not in GAMES:
            raise ValueError(f"{self.name} are measured of cube2 and cube3, not of {game.name}")
        how, groups = self._how, {}
        player = Wrapped(net, **self._search()) if self.iterations else wrap(net)
        for twists in (*self.also, *self.twists):
            seeds = [seed_from(seed, "cube", twists, k) for k in range(self.cubes)]
            states = np.array([scramble(game, twists, each) for each in seeds])
            solved = [self._solves(game, player, s, each) for s, each in zip(states, seeds)]
            groups[f"twists-{twists}"] = solved
            if self.by_distance:
                for away, one in zip(distances(game, states, max(LEVELS, twists)), solved):
                    groups.setdefault(f"distance-{away:02d}", []).append(one)
        every = [one for twists in self.twists for one in groups[f"twists-{twists}"]]
        found = {f"solved_rate{how}": 100.0 * float(np.mean(every))}
        for name, members in sorted(groups.items()):
            found[f"solved_rate{how}:{name}"] = 100.0 * float(np.mean(members))
            if name.startswith("distance"):
                found[f"cubes{how}:{name}"] = float(len(members))
        return found

    def _search(self) -> dict:
        names = ("iterations", "c_puct", "max_depth", "step_reward")
        return {name: getattr(self, name) for name in names}

    def _solves(self, game, player, state, seed) -> bool:
        player.new_match(game, [], 0, seed)
        return game.over(play_on(game, [player], state, new_rng(seed), self.max_steps)[0])


@dataclass(frozen=True)
class SolvedOtherwise(Solved):
    """How many cubes are solved with settings of the search that the paper is silent on.

    Metrics as ``solved_rate:iterations-200:unvisited-1:path-rewards:twists-11``.

    Source: beyond [scheiermann2022]. Deviations: D10, D26.
    """

    iterations: int = 100
    unvisited: float = 0.0  # the mean value of an action that was never visited: D26
    path_rewards: bool = False  # whether the cost of every twist on the path counts: D10
    may_be_0 = ()

    @property
    def _how(self) -> str:
        value = f":unvisited-{self.unvisited:g}" if self.unvisited != 0.0 else ""
        return super()._how + value + (":path-rewards" if self.path_rewards else "")

    def _search(self) -> dict:
        return super()._search() | {"unvisited": self.unvisited, "path_rewards": self.path_rewards}
