"""Rubik's cubes: how many twists one is from solved, exactly, and how many an agent solves.

Distances are in the half-turn metric, and the last twist does not matter: the way to the solved
cube may begin by undoing it. All sequences of twists are tried, the short ones first, until one
ends in a table of all states of at most five twists, which is made on first use in a second.
"""

import functools
from collections import defaultdict
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from ....arena.matches import play_on
from ....checks import one_of, whole
from ....games.calls import copy_into
from ....games.rules.cube import CUBES, SOLVED, corner_key, edge_key, twist, twist_randomly
from ....kernel.compile import kernel
from ....kernel.random import new_rng, seed_from
from ....players.basic import wrap
from ....players.wrapped import Wrapped
from ...evaluators import Evaluator
from ...reports.figures import STYLES, interval_of, learning_curves
from ...reports.summaries import with_logs
from ...results import rows_of, select

FAR = -1  # what `distances` gives beyond the limit
LIMIT = 11  # default limit of distances: no 2x2x2 is farther
LEVELS = 5  # of the table
TABLE_BITS = 20
MASK = np.uint64(2**TABLE_BITS - 1)
KEY_BITS = np.uint64(40)  # of the corners in a table entry; above is the distance + 1, or 0: empty
KEY_MASK = np.uint64(2**40 - 1)
WORDS = len(SOLVED)  # numbers of a 3x3x3 state without the last twist


def distances(game, states, limit: int = LIMIT) -> np.ndarray:
    """Return the distances of cubes from the solved one, in half turns.

    Parameters
    ----------
    game : Game
        ``cube2`` or ``cube3``.
    states : array_like of int32 [n, size]
        The cubes.
    limit : int
        The greatest distance that is looked for, 5 to 20.

    Returns
    -------
    ndarray of int8 [n]
        The distances; ``FAR`` beyond the limit.

    Examples
    --------
    >>> from afterply import games
    >>> game = games.load("cube3")
    >>> distances(game, [game.parse("after R U R' U'")]).tolist()
    [4]
    """
    one_of("the game", game.name, CUBES)
    whole("limit", limit, LEVELS, 20)
    words = game.size - 1  # of a state without the last twist
    table, _ = near(words)
    scratch = np.zeros_like(SOLVED)
    numbers = []
    for state in states:
        cube = SOLVED.copy()  # the edges of a 2x2x2 stay at home
        cube[:words] = game._state(state)[:words]
        numbers.append(_search(table, cube, scratch, words, game.actions, limit - LEVELS))
    return np.array(numbers, np.int8)


@functools.cache
def near(words) -> tuple[np.ndarray, list]:
    """Return all states (of 2 or 5 words) of at most five twists, and how many per distance.

    The states are a hash table, uint64 [2**20, 2]: the key of the corners with the distance + 1
    above it, and the key of the edges.
    """
    table = np.zeros((2**TABLE_BITS, 2), np.uint64)
    slot = _slot(table, SOLVED)
    table[slot, 0] = corner_key(SOLVED) | np.uint64(1) << KEY_BITS
    table[slot, 1] = edge_key(SOLVED)
    actions = 9 if words == 2 else 18
    level = SOLVED[None, :]  # the states of the present distance
    sizes = [1]
    for distance in range(1, LEVELS + 1):
        twisted = np.repeat(level, actions, axis=0)
        num_new = _add(table, twisted, words, actions, np.uint64(distance + 1))
        level = twisted[:num_new]
        sizes.append(num_new)
    return table, sizes


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
def _add(table, states, words, actions, mark):
    """Twist states and add them with `mark` = distance + 1; return how many are new, in front."""
    n = 0
    for i in range(states.shape[0]):
        twist(states[i], words, i % actions)
        at = _slot(table, states[i])
        if table[at, 0] == 0:
            table[at, 0] = corner_key(states[i]) | mark << KEY_BITS
            table[at, 1] = edge_key(states[i])
            copy_into(states[n], states[i], WORDS)
            n += 1
    return n


@kernel
def _search(table, s, scratch, words, actions, most):
    """Return the distance of a state: try all sequences of at most `most` twists; FAR if none."""
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
    """Return an unsolved cube after random twists, no two in a row of the same face (D15)."""
    state = game.parse("after")
    twist_randomly(state, game.size - 1, game.actions, whole("twists", twists), new_rng(seed))
    return state


@dataclass(frozen=True)
class Solved(Evaluator):
    """How many scrambled cubes an agent solves within some twists, with or without the wrapper.

    Measures:

    - ``solved_rate``, in percent: of all cubes scrambled with one of the numbers `twists`; and with
      the column `twists` of those scrambled with each number of `twists` and `also`;
    - with `by_distance` ``solved_rate`` and ``cubes``, the number of cubes, by `distance`: the
      least number of twists that solve the cube.

    With a search rows have its `iterations`, and `c_puct` and `variant` (unvisited-1, path-rewards)
    if they are not the default.
    Source: [scheiermann2022] Sec. IV-C, Fig. 7. Deviations: D6, D7, D10, D14, D15, D16, D26.
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
    # the paper is silent on these, and they stand in keys only if one of them is not the default
    unvisited: float = field(default=0.0, compare=False)  # value of an action never visited: D26
    path_rewards: bool = field(default=False, compare=False)  # each twist on the path costs: D10
    measures = object

    @property
    def name(self) -> str:
        """A part of the key."""
        columns = self._columns_of_search
        words = ["solved cubes"]
        if self.iterations:
            words.append(f"iterations {self.iterations}")
        if "c_puct" in columns:
            words.append(f"c_puct {self.c_puct:g}")
        if "variant" in columns:
            words.append(columns["variant"].replace("-", " "))
        return ", ".join(words)

    @property
    def settings(self) -> dict:
        """A part of the key."""
        silent_points = {"unvisited": self.unvisited, "path_rewards": self.path_rewards}
        if any(silent_points.values()):
            return silent_points
        return {}

    @property
    def _columns_of_search(self) -> dict:
        """The columns of the search, which say what is not the default."""
        if not self.iterations:
            return {}
        columns = {"iterations": self.iterations}
        if self.c_puct not in (0, 1.0):
            columns["c_puct"] = self.c_puct
        variants = []
        if self.unvisited:
            variants.append(f"unvisited-{self.unvisited:g}")
        if self.path_rewards:
            variants.append("path-rewards")
        if variants:
            columns["variant"] = ", ".join(variants)
        return columns

    def _measure(self, game, net, seed):
        if game.name not in CUBES:
            raise ValueError(f"{self.name} are measured of cube2 and cube3, not of {game.name}")
        by_twists, by_distance = self._solve_all(game, self._player(net), seed)
        all_solved = []
        for twists in self.twists:
            all_solved += by_twists[twists]
        search = self._columns_of_search
        rows = rows_of({"solved_rate": _percent(all_solved)}, **search)
        for distance, solved in sorted(by_distance.items()):
            values = {"solved_rate": _percent(solved), "cubes": float(len(solved))}
            rows += rows_of(values, **search, distance=distance)
        for twists, solved in sorted(by_twists.items()):
            rows += rows_of({"solved_rate": _percent(solved)}, **search, twists=twists)
        return rows

    def _player(self, net):
        """Return the agent, or the agent wrapped by the search."""
        if not self.iterations:
            return wrap(net)
        return Wrapped(
            net,
            iterations=self.iterations,
            c_puct=self.c_puct,
            max_depth=self.max_depth,
            step_reward=self.step_reward,
            **self.settings,
        )

    def _solve_all(self, game, player, seed):
        """Return whether each cube is solved: number of twists -> list, and distance -> list."""
        by_twists = {}
        by_distance = defaultdict(list)
        for twists in (*self.also, *self.twists):
            seeds = [seed_from(seed, "cube", twists, k) for k in range(self.cubes)]
            cubes = np.array([scramble(game, twists, seed_of_cube) for seed_of_cube in seeds])
            solved = []
            for cube, seed_of_cube in zip(cubes, seeds):
                solved.append(self._solves(game, player, cube, seed_of_cube))
            by_twists[twists] = solved
            if self.by_distance:
                limit = max(LEVELS, twists)
                for distance, is_solved in zip(distances(game, cubes, limit), solved):
                    by_distance[int(distance)].append(is_solved)
        return by_twists, by_distance

    def _solves(self, game, player, cube, seed) -> bool:
        """Return whether a player solves a cube within `max_steps` twists."""
        player.new_match(game, [], 0, seed)
        last_state, _ = play_on(game, [player], cube, new_rng(seed), self.max_steps)
        return game.over(last_state)


def _percent(solved):
    """Return how many of some cubes are solved, in percent."""
    return 100.0 * float(np.mean(solved))


TITLES = {"cube2": "2x2x2", "cube3": "3x3x3"}
LOOK = {"label": "solved cubes in percent", "score_axis": False}
LOGGED = {"TCL-base": "TCL-base", "1,000 iterations, c_puct 10": "TCL-wrap"}  # line -> in the log
SEARCHES = {  # how the search reads two silent points (D10, D26) -> the variant of its rows
    "as in the original": "",
    "actions never visited count 1": "unvisited-1",
    "twists on the path cost 0.04, too": "path-rewards",
}


def ratio(rows, most):
    """Return the rate with `most` iterations divided by that without: for ``Study.derive``."""
    last = rows[rows["episode"] == rows["episode"].max()]
    alone = select(last, measure="solved_rate")["value"].tolist()
    wrapped = select(last, measure="solved_rate", iterations=most)["value"].tolist()
    if alone and wrapped and alone[0] > 0:
        return {"solved_rate_ratio": wrapped[0] / alone[0]}
    return {}


def draw_iterations(finals):
    """Draw Fig. 7 (a): solved cubes by iterations; finals: study -> rows of its last episode."""
    lines = (  # c_puct, study, look
        (1, "cube2", STYLES[1] | {"linestyle": "-"}),
        (1, "cube3", STYLES[0] | {"linestyle": "-"}),
        (10, "cube2", STYLES[1] | {"marker": "^", "linestyle": ":"}),
        (10, "cube3", STYLES[0] | {"marker": "v", "linestyle": ":"}),
    )
    parts = []
    styles = {}
    for c_puct, study, style in lines:
        line = f"{TITLES[study]}, c_puct {c_puct}"
        styles[line] = style
        alone = select(finals[study], measure="solved_rate").assign(iterations=0)
        search = {"iterations": ...}
        if c_puct != 1:
            search["c_puct"] = c_puct
        wrapped = select(finals[study], measure="solved_rate", **search)
        parts += [alone.assign(arm=line), wrapped.assign(arm=line)]
    return learning_curves(
        pd.concat(parts),
        list(styles),
        x="iterations",
        xlabel="iterations of the search before each twist (0 = TCL-base)",
        title="Rubik's cubes solved within 20 twists, by iterations of the search",
        styles=styles,
        **LOOK,
    )


def lines_of(final):
    """Return the lines of Fig. 7 (b), the agent alone and its searches: name -> their columns."""
    lines = {"TCL-base": {}}
    for iterations in _numbers_of_iterations(final):
        lines[f"{iterations:,} iterations"] = {"iterations": iterations}
    with_c_puct_10 = _numbers_of_iterations(final, c_puct=10)
    if len(with_c_puct_10):
        most = with_c_puct_10[-1]
        lines[f"{most:,} iterations, c_puct 10"] = {"iterations": most, "c_puct": 10}
    return lines


def _numbers_of_iterations(final, **columns):
    """Return with which numbers of iterations cubes were solved, in ascending order."""
    rows = select(final, measure="solved_rate", iterations=..., **columns)
    return sorted(rows["iterations"].astype(int).unique())


def draw_solved(finals, what, fewest=0, logs=None):
    """Draw Fig. 7 (b): solved cubes by "twists" or "distance", alone and with the searches.

    Parameters
    ----------
    finals : dict
        Study, "cube2" or "cube3" -> the rows of its last episode. Each has a panel.
    what : str
        The column of the x-axis, "twists" or "distance".
    fewest : int
        Cubes that a distance needs to be shown.
    logs : dict, optional
        The original's results: study -> agent -> number of twists -> percent.
    """
    parts = []
    curves_of_logs = {}
    panels = {}
    names = {}
    styles = {}
    for study, final in finals.items():
        lines = lines_of(final)
        looks = _styles_of(lines)
        of_study = {line: f"{TITLES[study]}, {line}" for line in looks}
        for line, search in lines.items():
            rows = select(final, measure="solved_rate", **search, **{what: ...})
            if fewest:
                counts = select(final, measure="cubes", **search, **{what: ...})
                cubes = counts.groupby(what)["value"].sum()
                rows = rows[rows[what].map(cubes) >= fewest]
            parts.append(rows.assign(arm=of_study[line]))
        for line, agent in LOGGED.items() if logs else ():
            curves_of_logs[of_study[f"{line}, original"]] = logs[study][agent]
        panels[TITLES[study]] = list(of_study.values())
        names |= {unique: line for line, unique in of_study.items()}
        styles |= {unique: looks[line] for line, unique in of_study.items()}
    xlabel = "twists from solved, exactly"
    if what == "twists":
        xlabel = "scrambling twists"
    return learning_curves(
        with_logs(pd.concat(parts), curves_of_logs, what),
        list(names),
        x=what,
        xlabel=xlabel,
        logs=list(curves_of_logs),
        title="Cubes solved within 20 twists",
        styles=styles,
        panels=panels,
        names=names,
        **LOOK,
    )


def _styles_of(lines):
    """Return the look of lines, and of those of the original, dotted and of the same colour."""
    styles = {}
    for k, line in enumerate(lines):
        styles[line] = STYLES[k % len(STYLES)] | {"linestyle": "-"}
    for line in LOGGED:
        styles[f"{line}, original"] = styles.get(line, STYLES[6]) | {"linestyle": ":"}
    return styles


def far_and_near(final, iterations):
    """Return how many of the far and of the near cubes the searches of SEARCHES solve."""
    rows = []
    for label, variant in SEARCHES.items():
        for number in iterations:
            if not number:
                continue  # the agent alone
            search = {"measure": "solved_rate", "iterations": number, "variant": variant}
            far = select(final, **search)["value"]
            near = select(final, **search, twists=[3, 4]).groupby("run")["value"].mean()
            if len(far) and len(near):
                of_far = interval_of("solved_rate", far)
                of_near = interval_of("solved_rate", near)
                rows.append((label, number, len(far), *of_far, *of_near))
    columns = [
        *("search", "iterations", "agents"),
        *("11 to 13 twists", "95% low", "95% high"),
        *("3 and 4 twists", "low (95%)", "high (95%)"),
    ]
    return pd.DataFrame(rows, columns=columns)
