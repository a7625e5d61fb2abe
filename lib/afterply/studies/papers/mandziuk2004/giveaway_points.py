"""Points in give-away checkers, in training and against new opponents; tables and comparisons.

A won game gives 1 point, a draw 1/2; all numbers are percentages of the points that could be won.
Weights are tested `after` numbers of training games, as far as they were kept, else the last ones.
Learners of the same number have the same initial weights, seat and opponents, those of one
repetition the same opponents in the strong phase and in the test: independent are repetitions.

Source: [mandziuk2004] Sec. 4, Table 1, Fig. 1.
"""

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ....arena.matches import match, starts_all
from ....files import data_directory, read_npz
from ....games.catalogue import load as load_game
from ....kernel.random import seed_from
from ....players.wrapped import Wrapped
from ....stats import mean_interval
from ...evaluators import Evaluator
from ...reports.figures import OWN_COLOURS, curve_data, in_our_style, legend
from ...reports.picture import DARK, GREY, RED, SIZE, Picture
from ...reports.summaries import finals, intervals
from ...results import LIKE, key, rows_of, select
from . import td_search
from .linear import F22_NAMES, NUM_FEATURES, Linear
from .linear_search import DRAW, WIN, Player, matches, random_weights
from .td_search import GROUP, read_learners, write_learners

OPENING = 2  # plies played before an agent meets a linear one: 49 ways


def points(results) -> float:
    """Return the points of some games (0 loss, 1 draw, 2 win) in percent."""
    return 50.0 * float(np.mean(results))


def strangers(net, number: int) -> np.ndarray:
    """Return the weights of the random opponents that a learner's group meets in the test."""
    return random_weights(number, 0, net.run // GROUP, "test")


def tested(net, after, opponents, depth=None):
    """Yield the numbers of training games with the results of the weights kept after them."""
    played = len(net.results)
    known = {**net.snapshots, played: net.weights}
    for episode in [n for n in after if n in known] or [played]:
        yield episode, matches(net.with_weights(known[episode], depth), opponents)


@dataclass(frozen=True)
class RecentPoints(Evaluator):
    """Points of the last training games, one round: ``points``. Source: [mandziuk2004] Fig. 1."""

    games: int = 25
    name, measures = "giveaway recent points", Linear

    def _measure(self, game, net, seed):
        return [{"measure": "points", "value": points(net.results[-self.games :])}]


@dataclass(frozen=True)
class TrainingPoints(Evaluator):
    """Points of the training games, by blocks: ``points``, variant "training", ``after`` the block.

    `block` is the number of games between two changes of alpha and lambda.
    Source: [mandziuk2004] Table 1 (a), (b).
    """

    block: int = 2500
    name, measures = "giveaway training", Linear

    def _measure(self, game, net, seed):
        played, block = len(net.results), self.block
        columns = {"measure": "points", "variant": "training"}
        return [
            columns | {"after": min(a + block, played), "value": points(net.results[a : a + block])}
            for a in range(0, played, block)
        ]


@dataclass(frozen=True)
class TestPoints(Evaluator):
    """Points against random opponents that no learner has met; a group meets the same.

    Measures, variant "test", with the number of games ``after`` which the weights were kept:
    ``points``, ``won``, ``drawn``.
    Source: [mandziuk2004] Sec. 4 (testing phase), Table 1 (c), (d). Deviations: D6, D10.
    """

    opponents: int = 1000
    after: tuple[int, ...] = (7500, 10000)
    name, measures, settings = "giveaway test", Linear, {"pool": 0}

    def _measure(self, game, net, seed):
        rows = []
        for n, results in tested(net, self.after, strangers(net, self.opponents)):
            found = {
                "points": points(results),
                "won": 100.0 * float((results == WIN).mean()),
                "drawn": 100.0 * float((results == DRAW).mean()),
            }
            rows += rows_of(found, variant="test", after=n)
        return rows


@dataclass(frozen=True)
class PointsAtDepth(Evaluator):
    """Points against the first opponents of :class:`TestPoints`, both sides at a given depth.

    Measure: ``points``, with the ``depth`` and the games ``after`` which the weights were kept,
    however deep the training searched.
    """

    depth: int = 4
    opponents: int = 400
    after: tuple[int, ...] = (2500, 10000)
    name, measures = "giveaway points at depth", Linear

    def _measure(self, game, net, seed):
        found = tested(net, self.after, strangers(net, self.opponents), self.depth)
        columns = {"measure": "points", "depth": self.depth}
        return [columns | {"after": n, "value": points(results)} for n, results in found]


@dataclass(frozen=True)
class PointsWithout(Evaluator):
    """Points of :class:`PointsAtDepth` with all weights, and with each of the weights set to 0.

    Measure: ``points``, and the same ``without`` the feature of a number. Nothing is trained again.
    """

    opponents: int = 400
    name, measures = "giveaway points without a feature", Linear

    def _measure(self, game, net, seed):
        opponents = strangers(net, self.opponents)
        rows = [{"measure": "points", "value": points(matches(net, opponents))}]
        for k in range(NUM_FEATURES):
            less = net.with_weights(net.weights)
            less.weights[k] = 0.0
            found = points(matches(less, opponents))
            rows.append({"measure": "points", "without": k + 1, "value": found})
        return rows


@dataclass(frozen=True)
class AgainstLinear(Evaluator):
    """Points of an agent of any kind against ten trained linear ones: ``points``, with `columns`.

    Games begin after each way to play two plies, against a linear agent in either seat, which is
    that of its training.
    """

    learners: str  # file of ``write_learners``, relative to the data directory
    method: str = "LL"  # whose first ten vectors play
    depth: int = 1  # look-ahead of the linear agents, in turns
    linear_iterations: int = 0  # if not 0, of a PUCT search of theirs instead
    iterations: int = 0  # of a PUCT search of the agent; 0: it is greedy
    stride: int = 1  # only every n-th opening
    name, version, measures = "giveaway against linear", 2, object

    def reads(self, game) -> tuple:
        """Return the file of the linear agents."""
        return (self.learners,)

    def _measure(self, game, net, seed):
        rivals, scores, half = self.rivals(game), [], GROUP // 2
        mine = Wrapped(net, self.iterations) if self.iterations else net
        for k, opening in enumerate(starts_all(game, OPENING)[:: self.stride]):
            for seat in (0, 1):  # of the linear agent
                rival = rivals[half * seat + k % half]
                pair = (rival, mine) if seat == 0 else (mine, rival)
                chance = seed_from(seed, "linear", k, seat)
                scores.append(match(game, pair, opening, chance).scores[1 - seat])
        return [{"measure": "points", **self.columns, "value": 50.0 * float(np.mean(scores) + 1.0)}]

    @property
    def columns(self) -> dict:
        """Who meets whom: columns of the row."""
        searching = self.linear_iterations
        theirs = {"opponent": f"PUCT-{searching}" if searching else f"depth {self.depth}"}
        return theirs | ({"iterations": self.iterations} if self.iterations else {})

    def rivals(self, game) -> list:
        """Return the linear agents, the first five of them for the first seat."""
        meta, vectors = read_learners(data_directory() / self.learners)
        features, searching = meta["parameters"]["features"], self.linear_iterations
        nets = [
            Linear(game, features, int(k >= GROUP // 2), self.depth, weights=weights)
            for k, weights in enumerate(vectors[self.method][:GROUP])
        ]
        return [Wrapped(net, searching) if searching else Player(net) for net in nets]


UNITS = ("learners", "repetitions")  # what an interval is over; a repetition is a mean of GROUP
COMPARISON = ["comparison", "unit", "values", "mean", "low", "high"]


def statistics(study, arm: str) -> list:
    """Return weights and counts at the end of each training of an arm; None if it is missing."""
    found = (run.records.get(run.job.key) for run in study.arms.get(arm, ()))
    return [record and record.get("statistics") for record in found]


def weights_of(study, arm: str) -> list:
    """Return the weights that the finished trainings of an arm have learned."""
    return [counts["weights"] for counts in statistics(study, arm) if counts]


def keep_weights(study, file: str, session, arms: dict) -> int:
    """Keep the weights of arms, name -> arm, in a file; return how many of each go on from it.

    If this study makes missing runs, these are all: it has to keep them again before they go on.
    """
    # only whole groups that are complete in all arms; what the file holds stays
    vectors = {
        name: [counts and counts["weights"] for counts in statistics(study, arm)]
        for name, arm in arms.items()
    }
    ends = [[*rows, None].index(None) for rows in vectors.values()]
    finished, path = min(ends) // GROUP * GROUP, data_directory() / file
    there = read_npz(path)[1] if path.exists() and not study.quick else {}
    known = min(len(there.get(name, ())) for name in vectors)
    if finished > known:
        rows = {m: [*there.get(m, ())[:known], *w[known:finished]] for m, w in vectors.items()}
        write_learners(path, session, rows)
    if study.computes:
        return min(len(study.arms[arm]) for arm in arms.values()) // GROUP * GROUP
    return max(finished, known)


def declare_reading(study, reading, phase: str, **common) -> None:
    """Declare a reading's arms of a phase, "random" or "strong"."""
    game = load_game("giveaway", **reading.parameters)
    for arm in reading.arms.values():
        method, _, rest = arm.partition(", ")
        if rest.startswith(f"{phase} opponents"):
            study.arm(arm, td_search, game=game, method=method, **common | reading.settings)


def keep_reading(study, reading, folder: str, depth: int) -> tuple[str, int | None]:
    """Keep what learners of a reading have learned from random opponents; return file and number.

    Without such learners the file is that of the paper's text, and the number None.
    """
    first = {arm[:2]: arm for arm in reading.arms.values() if ", random opponents" in arm}
    if not first:
        return f"{folder}.npz", None
    file = f"{folder}-{reading.id.partition('-')[0]}.npz"
    game = load_game("giveaway", **reading.parameters)
    session = td_search.Session(game, depth=depth, **reading.settings)
    return file, keep_weights(study, file, session, first)


def mean_weights(study) -> pd.DataFrame:
    """Return the mean weights after each phase: LL with its 95% interval over learners, and LB."""
    columns, unknown = {}, [(math.nan,) * 3] * len(F22_NAMES)
    for phase in ("random", "strong"):
        for method, names in (("LL", ("LL", "low", "high")), ("LB", ("LB",))):
            vectors = weights_of(study, f"{method}, {phase} opponents")
            ends = zip(*([mean_interval(one) for one in zip(*vectors)] or unknown))
            columns |= {(phase, name): list(values) for name, values in zip(names, ends)}
    return pd.DataFrame(columns, index=F22_NAMES)


def by_run(table: pd.DataFrame, arm: str, column: str, **columns) -> pd.DataFrame:
    """Return the values at the end of an arm's trainings: a row for each run, by one column."""
    rows = finals(select(table, arm=arm, **columns))
    return rows.pivot(index="run", columns=column, values="value")


def phase_table(table: pd.DataFrame, phase: str, kind: str, methods, printed: dict) -> pd.DataFrame:
    """Return one part of Table 1: for each number of games what the paper prints, and ours."""
    # kind: the variant "training" or "test"; printed: (arm, key of the columns) -> text
    # sd: between learners
    parts, of = {}, {"measure": "points", "variant": kind}
    for method in methods:
        arm, rows = f"{method}, {phase} opponents", {}
        for after, values in by_run(table, arm, "after", **of, after=...).items():
            measured = values.dropna()  # a run may have been trained and not yet tested
            paper = printed.get((arm, key(of | {"after": after})), "-")
            more = {"sd": measured.std(), "learners": len(measured)}
            rows[int(after)] = {"paper": paper} | mean_interval(measured)._asdict() | more
        if rows:
            parts[method] = pd.DataFrame.from_dict(rows, orient="index")
    made = pd.concat(parts, axis=1) if parts else pd.DataFrame(index=[])
    return made.sort_index().rename_axis("games")


def paired(table: pd.DataFrame, arm: str, other: str, columns, unit: str = "learners") -> pd.Series:
    """Return arm minus other by number of the `unit`; `after` several games their mean counts."""
    of = {"after": ...} | columns
    both = (by_run(table, name, "after", **of) for name in (arm, other))
    mine, others = next(both).align(next(both), axis=1)
    difference = (mine.mean(axis=1, skipna=False) - others.mean(axis=1, skipna=False)).dropna()
    if unit == "learners":
        return difference
    groups = difference.groupby(difference.index // GROUP)
    return groups.mean()[groups.count() == GROUP]


def comparison(table: pd.DataFrame, pairs: dict, units=UNITS) -> pd.DataFrame:
    """Return differences with 95% t intervals; pairs: name -> (arm, other, columns)."""
    both = [(name, unit) for name in pairs for unit in units]
    found = ((name, unit, paired(table, *pairs[name], unit)) for name, unit in both)
    return intervals(found, COMPARISON)


def compared_methods(table: pd.DataFrame) -> pd.DataFrame:
    """Return LL less LB and less 3L, in training and at the last test, as `comparison`."""
    tests = select(table, measure="points", variant="test", after=...)["after"]
    measures = {"training": {"variant": "training"}, "test": {"variant": "test"}}
    measures["test"] |= {"after": tests.max()} if len(tests) else {}
    pairs = {
        f"LL - {other}, {phase} opponents, {what}": (
            f"LL, {phase} opponents",
            f"{other}, {phase} opponents",
            {"measure": "points"} | columns,
        )
        for other in ("LB", "3L")
        for phase in ("strong", "random")
        for what, columns in measures.items()
    }
    return comparison(table, pairs)


def played_without(table: pd.DataFrame, arm: str) -> pd.DataFrame:
    """Return what an arm's learners lose when one of their weights is set to 0, as `comparison`."""
    whole = finals(select(table, arm=arm, measure="points")).set_index("run")["value"]
    less = by_run(table, arm, "without", measure="points", without=...)
    found = (
        (f"without {F22_NAMES[int(k) - 1]}", "learners", (values - whole).dropna())
        for k, values in less.items()
    )
    return intervals(found, COMPARISON)


@in_our_style
def draw_histories(table, arms, label, title=""):
    """Draw one panel for each arm: all learners (10% to 90%), and the one with the most points."""
    points = select(table, measure="points")
    arms, columns = [arm for arm in arms if (points.arm == arm).any()], []
    size = SIZE[0] * 1.25, 0.8 + 2.9 * max(1, -(-len(arms) // 2))
    figure = Picture(figsize=size, layout="constrained")
    grid = figure.subplots(max(1, -(-len(arms) // 2)), 2, sharex=True, sharey=True, squeeze=False)
    for axes, arm in zip(grid.flat, arms):
        wide = points[points.arm == arm].pivot(index="episode", columns="run", values="value")
        best = wide.mean().idxmax()
        low, high = (wide.quantile(share, axis=1) for share in (0.1, 0.9))
        shown = {"learners": wide.count(axis=1), "mean": wide.mean(axis=1)}
        shown |= {"low": low, "high": high, "best": wide[best]}
        columns.append(pd.DataFrame(shown).assign(arm=arm, number=best))
        span = axes.fill_between(wide.index, low, high, color=GREY, alpha=0.35)
        span.set(linewidth=0, label="8 of 10 learners")
        axes.plot(wide[best], color=RED, linewidth=0.7, label="best learner")
        axes.plot(shown["mean"], color=DARK, label="mean of all learners")
        own = points[points[LIKE] == arm] if LIKE in points else points[:0]
        for k, (name, mine) in enumerate(own.groupby("arm", sort=False)):
            found = curve_data(mine, [name]).set_index("episode")
            look = {"color": OWN_COLOURS[(k + 1) % len(OWN_COLOURS)]}  # the first is that of means
            number = int(found["runs"].max())
            named = f"{name} ({number} run{'s' * (number > 1)}), mean and 95% interval"
            axes.plot(found["mean"], linewidth=2.2, label=named, **look)
            band = axes.fill_between(found.index, found["low"], found["high"], alpha=0.3, **look)
            band.set(linewidth=0)
            columns.append(found[["mean", "low", "high"]].assign(arm=name))
        learners = shown["learners"].max()
        axes.set_title(f"{arm}: {learners} learners, best: no. {best + 1}", fontsize=10.5)
    for axes in grid.flat[len(arms) :]:
        axes.set_visible(False)
    for axes in grid[-1]:
        axes.set_xlabel("training games")
    figure.supylabel(label, fontsize=11)
    figure.suptitle(title, fontsize=12)
    if arms:
        handles, labels = figure.axes[0].get_legend_handles_labels()
        legend(figure, 3, handles=handles, labels=labels)
    return figure, pd.concat(columns).reset_index() if columns else pd.DataFrame()
