"""Rubik's cubes: how many twists one is from solved, exactly, and how many an agent solves.

Distances are in the half-turn metric, and the last twist does not matter: the way to the solved
cube may begin by undoing it. All sequences of twists are tried, the short ones first, until one
ends in a table of all states of at most five twists, which is made on first use in a second.
"""

import functools
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
from ...results import select

FAR = -1  # what `distances` gives beyond the limit
LIMIT = 11  # of distances unless given: no 2x2x2 is farther
LEVELS = 5  # of the table
TABLE_BITS = 20
MASK = np.uint64(2**TABLE_BITS - 1)
KEY_BITS = np.uint64(40)  # of the corners in a table entry; above is the distance + 1, or 0: empty
KEY_MASK = np.uint64(2**40 - 1)
WORDS = len(SOLVED)  # numbers of a 3x3x3 state without the last twist


def distances(game, states, limit: int = LIMIT) -> np.ndarray:
    """Return the distances, int8 [n], of states (int32 [n, size]); FAR beyond `limit`, 5 to 20.

    >>> from afterply import games
    >>> game = games.load("cube3")
    >>> distances(game, [game.parse("after R U R' U'")]).tolist()
    [4]
    """
    one_of("the game", game.name, CUBES), whole("limit", limit, LEVELS, 20)
    cubes, words = np.tile(SOLVED, (len(states), 1)), game.size - 1
    for each, state in zip(cubes, states):
        each[:words] = game._state(state)[:words]  # the 2x2x2 has its edges at home
    table, scratch, most = near(words)[0], np.zeros_like(SOLVED), limit - LEVELS
    found = [_search(table, each, scratch, words, game.actions, most) for each in cubes]
    return np.array(found, np.int8)


@functools.cache
def near(words) -> tuple[np.ndarray, list]:
    """Return all states (of 2 or 5 words) of at most five twists, and how many per distance."""
    # the table is uint64 [2**20, 2]: corners with the distance + 1 above them, and edges
    table, level, sizes = np.zeros((2**TABLE_BITS, 2), np.uint64), SOLVED[None, :], [1]
    table[_slot(table, SOLVED)] = corner_key(SOLVED) | np.uint64(1) << KEY_BITS, edge_key(SOLVED)
    actions = 9 if words == 2 else 18
    for depth in range(LEVELS):
        level = np.repeat(level, actions, axis=0)
        level = level[: _add(table, level, words, actions, np.uint64(depth + 2))]
        sizes.append(len(level))
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

    Measures: ``solved_rate`` of all cubes with `twists`, in percent, and of those scrambled by 11,
    with the column `twists`, for `twists` and `also`. With `by_distance` the same and how many
    cubes that are, ``cubes``, by `distance`, the number of twists that solve the cube at best. With
    a search rows have its `iterations`, and `c_puct` and `variant` (unvisited-1, path-rewards) if
    they are not the default.
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
        how = self._how
        words = [f"iterations {self.iterations}"] if how else []
        words += [f"c_puct {self.c_puct:g}"] if "c_puct" in how else []
        words += [how["variant"].replace("-", " ")] if "variant" in how else []
        return ", ".join(["solved cubes", *words])

    @property
    def settings(self) -> dict:
        """A part of the key."""
        otherwise = {"unvisited": self.unvisited, "path_rewards": self.path_rewards}
        return otherwise if any(otherwise.values()) else {}

    @property
    def _how(self) -> dict:
        """The columns of the search, which say what is not the default."""
        words = {f"unvisited-{self.unvisited:g}": self.unvisited, "path-rewards": self.path_rewards}
        columns = {
            "iterations": self.iterations,
            "c_puct": 0 if self.c_puct == 1.0 else self.c_puct,
            "variant": ", ".join(filter(words.get, words)),
        }
        return {k: v for k, v in columns.items() if v} if self.iterations else {}

    def _measure(self, game, net, seed):
        if game.name not in CUBES:
            raise ValueError(f"{self.name} are measured of cube2 and cube3, not of {game.name}")
        how, groups, player = self._how, {}, wrap(net)
        if self.iterations:
            names = ("iterations", "c_puct", "max_depth", "step_reward")
            search = {name: getattr(self, name) for name in (*names, *self.settings)}
            player = Wrapped(net, **search)
        for twists in (*self.also, *self.twists):
            seeds = [seed_from(seed, "cube", twists, k) for k in range(self.cubes)]
            states = np.array([scramble(game, twists, each) for each in seeds])
            solved = [self._solves(game, player, s, each) for s, each in zip(states, seeds)]
            groups["twists", twists] = solved
            if self.by_distance:
                for away, one in zip(distances(game, states, max(LEVELS, twists)), solved):
                    groups.setdefault(("distance", int(away)), []).append(one)
        every = [one for twists in self.twists for one in groups["twists", twists]]
        found = [{"measure": "solved_rate", **how, "value": 100.0 * float(np.mean(every))}]
        for (name, number), members in sorted(groups.items()):
            row = how | {name: number}
            rate = 100.0 * float(np.mean(members))
            found.append({"measure": "solved_rate", **row, "value": rate})
            if name == "distance":
                found.append({"measure": "cubes", **row, "value": float(len(members))})
        return found

    def _solves(self, game, player, state, seed) -> bool:
        player.new_match(game, [], 0, seed)
        return game.over(play_on(game, [player], state, new_rng(seed), self.max_steps)[0])


TITLES = {"cube2": "2x2x2", "cube3": "3x3x3"}
LOOK = {"label": "solved cubes in percent", "score_axis": False}
LOGGED = {"TCL-base": "TCL-base", "1,000 iterations, c_puct 10": "TCL-wrap"}  # line -> in the log
SEARCHES = {  # how the search reads two silent points (D10, D26) -> the variant of its rows
    "as in the original": "",
    "actions never visited count 1": "unvisited-1",
    "twists on the path cost 0.04, too": "path-rewards",
}


def ratio(rows, most):
    """Return the rate with `most` iterations by that without: for ``Study.derive``."""
    last = rows[rows["episode"] == rows["episode"].max()]
    alone, wrapped = (
        select(last, measure="solved_rate", iterations=n)["value"].tolist() for n in (None, most)
    )
    known = alone and alone[0] > 0 and wrapped
    return {"solved_rate_ratio": wrapped[0] / alone[0]} if known else {}


def draw_iterations(finals):
    """Draw Fig. 7 (a): solved cubes by iterations; finals: study -> rows of its last episode."""
    marks = {(1, "cube2"): "o-", (1, "cube3"): "s-", (10, "cube2"): "^:", (10, "cube3"): "v:"}
    parts, styles = [], {}
    for (c_puct, study), (marker, line) in marks.items():
        arm, how = f"{TITLES[study]}, c_puct {c_puct}", {} if c_puct == 1 else {"c_puct": c_puct}
        alone = select(finals[study], measure="solved_rate").assign(iterations=0)
        wrapped = select(finals[study], measure="solved_rate", iterations=..., **how)
        parts += [alone.assign(arm=arm), wrapped.assign(arm=arm)]
        color = "#0077bb" if study == "cube2" else "#cc3311"
        styles[arm] = {"color": color, "marker": marker, "linestyle": line}
    look = {"title": "Rubik's cubes solved within 20 twists, by iterations of the search"}
    look["xlabel"] = "iterations of the search before each twist (0 = TCL-base)"
    look |= {"x": "iterations", "styles": styles}
    return learning_curves(pd.concat(parts), [*styles], **LOOK, **look)


def lines_of(final):
    """Return the lines of Fig. 7 (b), the agent alone and its searches: name -> their columns."""
    of = {"measure": "solved_rate", "iterations": ...}
    numbers, of_10 = (
        sorted(select(final, **of, c_puct=c_puct)["iterations"].astype(int).unique())
        for c_puct in (None, 10)
    )
    lines = {"TCL-base": {}} | {f"{n:,} iterations": {"iterations": n} for n in numbers}
    for n in of_10[-1:]:
        lines[f"{n:,} iterations, c_puct 10"] = {"iterations": n, "c_puct": 10}
    return lines


def draw_solved(study, final, what, fewest=0, log=None):
    """Draw Fig. 7 (b): solved cubes by "twists" or "distance", alone and with the searches."""
    # final: rows of its last episode; fewest: cubes that a distance needs to be shown; log: the
    # original's results, by agent
    lines, parts = lines_of(final), []
    for line, how in lines.items():
        rows = select(final, measure="solved_rate", **how, **{what: ...})
        if fewest:
            cubes = select(final, measure="cubes", **how, **{what: ...}).groupby(what)["value"]
            rows = rows[rows[what].map(cubes.sum()) >= fewest]
        parts.append(rows.assign(arm=line))
    logs = {f"{line}, original": log[agent] for line, agent in LOGGED.items()} if log else {}
    styles = {line: STYLES[k % len(STYLES)] | {"linestyle": "-"} for k, line in enumerate(lines)}
    for line in LOGGED:
        styles[f"{line}, original"] = styles.get(line, STYLES[6]) | {"linestyle": ":"}
    look = {"title": f"{TITLES[study]} cubes solved within 20 twists", "styles": styles}
    look["xlabel"] = "scrambling twists" if what == "twists" else "twists from solved, exactly"
    rows = with_logs(pd.concat(parts), logs, what)
    return learning_curves(rows, [*lines, *logs], x=what, logs=[*logs], **LOOK, **look)


def far_and_near(final, iterations):
    """Return how many of the far and of the near cubes the searches of SEARCHES solve."""
    rows = []
    for label, variant in SEARCHES.items():
        for n in filter(None, iterations):
            of = {"measure": "solved_rate", "iterations": n, "variant": variant}
            far = select(final, **of)["value"]
            near = select(final, **of, twists=[3, 4]).groupby("run")["value"].mean()
            if len(far) and len(near):
                both = (*interval_of("solved_rate", far), *interval_of("solved_rate", near))
                rows.append((label, n, len(far), *both))
    columns = ["agents", "11 to 13 twists", "95% low", "95% high", "3 and 4 twists"]
    return pd.DataFrame(rows, columns=["search", "iterations", *columns, "low (95%)", "high (95%)"])
