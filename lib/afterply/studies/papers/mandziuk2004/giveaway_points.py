"""Points in give-away checkers, in training and against new opponents; tables and comparisons.

A won game gives 1 point, a draw 1/2; all numbers are percentages of the points that could be won.
Weights are tested `after` numbers of training games if they were kept then; if none of these were
kept, the last weights are tested.

Learners of the same number have the same initial weights, seat and opponents. Those of one
repetition have the same opponents in the strong phase and in the test. So only repetitions are
independent.

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
    """Yield numbers of training games, and the results of the weights that were kept after them."""
    num_games = len(net.results)
    weights_after = {**net.snapshots, num_games: net.weights}
    kept = [episode for episode in after if episode in weights_after]
    for episode in kept or [num_games]:
        yield episode, matches(net.with_weights(weights_after[episode], depth), opponents)


@dataclass(frozen=True)
class RecentPoints(Evaluator):
    """Points of the last training games, one round: ``points``. Source: [mandziuk2004] Fig. 1."""

    games: int = 25
    name = "giveaway recent points"
    measures = Linear

    def _measure(self, game, net, seed):
        return [{"measure": "points", "value": points(net.results[-self.games :])}]


@dataclass(frozen=True)
class TrainingPoints(Evaluator):
    """Points of the training games, by blocks: ``points``, variant "training", ``after`` the block.

    `block` is the number of games between two changes of alpha and lambda.
    Source: [mandziuk2004] Table 1 (a), (b).
    """

    block: int = 2500
    name = "giveaway training"
    measures = Linear

    def _measure(self, game, net, seed):
        num_games = len(net.results)
        rows = []
        for start in range(0, num_games, self.block):
            end = min(start + self.block, num_games)
            values = {"points": points(net.results[start:end])}
            rows += rows_of(values, variant="training", after=end)
        return rows


@dataclass(frozen=True)
class TestPoints(Evaluator):
    """Points against random opponents that no learner has met; a group meets the same.

    Measures, variant "test", with the number of games ``after`` which the weights were kept:
    ``points``, ``won``, ``drawn``.
    Source: [mandziuk2004] Sec. 4 (testing phase), Table 1 (c), (d). Deviations: D6, D10.
    """

    opponents: int = 1000
    after: tuple[int, ...] = (7500, 10000)
    name = "giveaway test"
    measures = Linear
    settings = {"pool": 0}

    def _measure(self, game, net, seed):
        opponents = strangers(net, self.opponents)
        rows = []
        for episode, results in tested(net, self.after, opponents):
            values = {
                "points": points(results),
                "won": 100.0 * float((results == WIN).mean()),
                "drawn": 100.0 * float((results == DRAW).mean()),
            }
            rows += rows_of(values, variant="test", after=episode)
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
    name = "giveaway points at depth"
    measures = Linear

    def _measure(self, game, net, seed):
        opponents = strangers(net, self.opponents)
        rows = []
        for episode, results in tested(net, self.after, opponents, self.depth):
            rows += rows_of({"points": points(results)}, depth=self.depth, after=episode)
        return rows


@dataclass(frozen=True)
class PointsWithout(Evaluator):
    """Points of :class:`PointsAtDepth` with all weights, and with each of the weights set to 0.

    Measure: ``points`` with all weights, and `without` the feature of each number, from 1. Nothing
    is trained again.
    """

    opponents: int = 400
    name = "giveaway points without a feature"
    measures = Linear

    def _measure(self, game, net, seed):
        opponents = strangers(net, self.opponents)
        rows = rows_of({"points": points(matches(net, opponents))})
        for k in range(NUM_FEATURES):
            reduced = net.with_weights(net.weights)
            reduced.weights[k] = 0.0
            rows += rows_of({"points": points(matches(reduced, opponents))}, without=k + 1)
        return rows


@dataclass(frozen=True)
class AgainstLinear(Evaluator):
    """Points of an agent of any kind against ten trained linear ones.

    A game begins after each sequence of two plies, in either seat. The linear agents play in the
    seats in which they were trained.

    Measure: ``points``, with the `opponent` and the `iterations` of the agent's search.
    """

    learners: str  # file of ``write_learners``, relative to the data directory
    method: str = "LL"  # whose first ten vectors play
    depth: int = 1  # look-ahead of the linear agents, in turns
    linear_iterations: int = 0  # if not 0, of a PUCT search of theirs instead
    iterations: int = 0  # of a PUCT search of the agent; 0: it is greedy
    stride: int = 1  # only every n-th opening
    name = "giveaway against linear"
    version = 2
    measures = object

    def reads(self, game) -> tuple:
        """Return the file of the linear agents."""
        return (self.learners,)

    def _measure(self, game, net, seed):
        player = net
        if self.iterations:
            player = Wrapped(net, self.iterations)
        rivals = self.rivals(game)
        half = GROUP // 2
        scores = []
        for k, opening in enumerate(starts_all(game, OPENING)[:: self.stride]):
            # 0 and 1 in the seeds are the seats of the linear agent
            first = rivals[k % half]
            as_second = match(game, (first, player), opening, seed_from(seed, "linear", k, 0))
            scores.append(as_second.scores[1])
            second = rivals[half + k % half]
            as_first = match(game, (player, second), opening, seed_from(seed, "linear", k, 1))
            scores.append(as_first.scores[0])
        return rows_of({"points": 50.0 * float(np.mean(scores) + 1.0)}, **self.columns)

    @property
    def columns(self) -> dict:
        """Who meets whom: columns of the row."""
        columns = {"opponent": f"depth {self.depth}"}
        if self.linear_iterations:
            columns["opponent"] = f"PUCT-{self.linear_iterations}"
        if self.iterations:
            columns["iterations"] = self.iterations
        return columns

    def rivals(self, game) -> list:
        """Return the linear agents, the first five of them for the first seat."""
        training, vectors = read_learners(data_directory() / self.learners)
        features = training["parameters"]["features"]
        players = []
        for k, weights in enumerate(vectors[self.method][:GROUP]):
            seat = int(k >= GROUP // 2)
            net = Linear(game, features, seat, self.depth, weights=weights)
            if self.linear_iterations:
                players.append(Wrapped(net, self.linear_iterations))
            else:
                players.append(Player(net))
        return players


UNITS = ("learners", "repetitions")  # what an interval is over; a repetition is a mean of GROUP
COMPARISON = ["comparison", "unit", "values", "mean", "low", "high"]


def statistics(study, arm: str) -> list:
    """Return weights and counts at the end of each training of an arm; None if it is missing."""
    statistics_of_runs = []
    for run in study.arms.get(arm, ()):
        record = run.records.get(run.job.key)
        if record:
            statistics_of_runs.append(record.get("statistics"))
        else:
            statistics_of_runs.append(None)
    return statistics_of_runs


def weights_of(study, arm: str) -> list:
    """Return the weights that the finished trainings of an arm have learned."""
    return [of_run["weights"] for of_run in statistics(study, arm) if of_run]


def keep_weights(study, file: str, session, arms: dict) -> int:
    """Keep the weights of arms in a file; return how many learners of each can go on from it.

    Only whole groups are kept, that are complete in all arms. What the file holds stays.

    Parameters
    ----------
    study : Study
        The study of the random phase. If it makes missing runs, all learners are counted: it has to
        keep their weights again before they go on.
    file : str
        The file, relative to the data directory.
    session : Session
        One with the parameters of the training.
    arms : dict
        Method -> arm.
    """
    path = data_directory() / file
    kept = {}
    if path.exists() and not study.quick:
        _, kept = read_npz(path)
    num_kept = min(len(kept.get(method, ())) for method in arms)
    finished = {method: _before_a_gap(study, arm) for method, arm in arms.items()}
    num_finished = _in_whole_groups(min(len(vectors) for vectors in finished.values()))
    if num_finished > num_kept:
        to_keep = {}
        for method, vectors in finished.items():
            own_kept = kept.get(method, ())[:num_kept]
            to_keep[method] = [*own_kept, *vectors[num_kept:num_finished]]
        write_learners(path, session, to_keep)
    if study.computes:
        return _in_whole_groups(min(len(study.arms[arm]) for arm in arms.values()))
    return max(num_finished, num_kept)


def _before_a_gap(study, arm):
    """Return the learned weights of the runs of an arm before the first one that is missing."""
    vectors = []
    for of_run in statistics(study, arm):
        if not of_run:
            break
        vectors.append(of_run["weights"])
    return vectors


def _in_whole_groups(num_learners):
    """Return how many of some learners are in whole groups."""
    return num_learners // GROUP * GROUP


def declare_reading(study, reading, phase: str, **common) -> None:
    """Declare a reading's arms of a phase, "random" or "strong"."""
    game = load_game("giveaway", **reading.parameters)
    for arm in reading.arms.values():
        method, _, rest = arm.partition(", ")
        if rest.startswith(f"{phase} opponents"):
            settings = common | reading.settings
            study.arm(arm, td_search, game=game, method=method, **settings)


def keep_reading(study, reading, folder: str, depth: int) -> tuple[str, int | None]:
    """Keep what learners of a reading have learned from random opponents; return file and number.

    Without such learners the file is that of the paper's text, and the number None.
    """
    random_phase = {}  # method -> arm
    for arm in reading.arms.values():
        if ", random opponents" in arm:
            random_phase[arm[:2]] = arm
    if not random_phase:
        return f"{folder}.npz", None
    first_word = reading.id.partition("-")[0]
    file = f"{folder}-{first_word}.npz"
    game = load_game("giveaway", **reading.parameters)
    session = td_search.Session(game, depth=depth, **reading.settings)
    return file, keep_weights(study, file, session, random_phase)


def mean_weights(study) -> pd.DataFrame:
    """Return the mean weights after each phase: LL with its 95% interval over learners, and LB."""
    columns = {}
    for phase in ("random", "strong"):
        of_ll = _intervals_of_weights(weights_of(study, f"LL, {phase} opponents"))
        of_lb = _intervals_of_weights(weights_of(study, f"LB, {phase} opponents"))
        columns[phase, "LL"] = [mean for mean, _, _ in of_ll]
        columns[phase, "low"] = [low for _, low, _ in of_ll]
        columns[phase, "high"] = [high for _, _, high in of_ll]
        columns[phase, "LB"] = [mean for mean, _, _ in of_lb]
    return pd.DataFrame(columns, index=F22_NAMES)


def _intervals_of_weights(vectors):
    """Return (mean, low, high) of each weight over some learners; NaN without any."""
    if not vectors:
        return [(math.nan, math.nan, math.nan)] * NUM_FEATURES
    return [mean_interval(of_feature) for of_feature in zip(*vectors)]


def by_run(table: pd.DataFrame, arm: str, column: str, **columns) -> pd.DataFrame:
    """Return the values at the end of an arm's trainings: a row for each run, by one column."""
    rows = finals(select(table, arm=arm, **columns))
    return rows.pivot(index="run", columns=column, values="value")


def phase_table(table: pd.DataFrame, phase: str, kind: str, methods, printed: dict) -> pd.DataFrame:
    """Return one part of Table 1: for each number of games what the paper prints, and ours.

    Parameters
    ----------
    table : DataFrame
        Results of a study.
    phase : str
        "random" or "strong".
    kind : str
        The variant of the points, "training" or "test".
    methods : sequence of str
        The methods, which begin the names of arms.
    printed : dict
        (arm, key of the columns) -> what the paper prints.

    Returns
    -------
    DataFrame
        A row for each number of games; for each method the paper's text, our mean with its
        interval, the standard deviation between learners, and their number.
    """
    columns = {"measure": "points", "variant": kind}
    parts = {}
    for method in methods:
        arm = f"{method}, {phase} opponents"
        rows = {}
        for after, values in by_run(table, arm, "after", **columns, after=...).items():
            measured = values.dropna()  # a run may have been trained and not yet tested
            rows[int(after)] = {
                "paper": printed.get((arm, key(columns | {"after": after})), "-"),
                **mean_interval(measured)._asdict(),
                "sd": measured.std(),
                "learners": len(measured),
            }
        if rows:
            parts[method] = pd.DataFrame.from_dict(rows, orient="index")
    part_of_table = pd.DataFrame(index=[])
    if parts:
        part_of_table = pd.concat(parts, axis=1)
    return part_of_table.sort_index().rename_axis("games")


def paired(table: pd.DataFrame, arm: str, other: str, columns, unit: str = "learners") -> pd.Series:
    """Return arm minus other by number of the `unit`; `after` several games their mean counts."""
    selection = {"after": ...} | columns
    of_arm = by_run(table, arm, "after", **selection)
    of_other = by_run(table, other, "after", **selection)
    # The same columns for both: where one of them has no value, there is no difference.
    aligned, aligned_other = of_arm.align(of_other, axis=1)
    mean_of_arm = aligned.mean(axis=1, skipna=False)
    mean_of_other = aligned_other.mean(axis=1, skipna=False)
    difference = (mean_of_arm - mean_of_other).dropna()
    if unit == "learners":
        return difference
    groups = difference.groupby(difference.index // GROUP)
    return groups.mean()[groups.count() == GROUP]


def comparison(table: pd.DataFrame, pairs: dict, units=UNITS) -> pd.DataFrame:
    """Return differences with 95% t intervals; pairs: name -> (arm, other, columns)."""
    groups = []
    for name, (arm, other, columns) in pairs.items():
        for unit in units:
            groups.append((name, unit, paired(table, arm, other, columns, unit)))
    return intervals(groups, COMPARISON)


def compared_methods(table: pd.DataFrame) -> pd.DataFrame:
    """Return LL less LB and less 3L, in training and at the last test, as `comparison`."""
    in_training = {"measure": "points", "variant": "training"}
    in_test = {"measure": "points", "variant": "test"}
    tests = select(table, **in_test, after=...)["after"]
    if len(tests):
        in_test["after"] = tests.max()
    pairs = {}
    for other in ("LB", "3L"):
        for phase in ("strong", "random"):
            name = f"LL - {other}, {phase} opponents"
            arms = (f"LL, {phase} opponents", f"{other}, {phase} opponents")
            pairs[f"{name}, training"] = (*arms, in_training)
            pairs[f"{name}, test"] = (*arms, in_test)
    return comparison(table, pairs)


def played_without(table: pd.DataFrame, arm: str) -> pd.DataFrame:
    """Return what an arm's learners lose when one of their weights is set to 0, as `comparison`."""
    with_all = finals(select(table, arm=arm, measure="points")).set_index("run")["value"]
    groups = []
    for number, values in by_run(table, arm, "without", measure="points", without=...).items():
        feature = F22_NAMES[int(number) - 1]
        groups.append((f"without {feature}", "learners", (values - with_all).dropna()))
    return intervals(groups, COMPARISON)


@in_our_style
def draw_histories(table, arms, label, title=""):
    """Draw one panel for each arm: all learners (10% to 90%), and the one with the most points.

    Parameters
    ----------
    table : DataFrame
        Results of a study: points by episode and run.
    arms : list of str
        The arms. Those without results have no panel.
    label, title : str
        Of the y-axes, and of the figure.
    """
    rows = select(table, measure="points")
    with_rows = [arm for arm in arms if (rows.arm == arm).any()]
    num_rows = max(1, math.ceil(len(with_rows) / 2))
    size = (SIZE[0] * 1.25, 0.8 + 2.9 * num_rows)
    figure = Picture(figsize=size, layout="constrained")
    grid = figure.subplots(num_rows, 2, sharex=True, sharey=True, squeeze=False)
    parts = []
    for axes, arm in zip(grid.flat, with_rows):
        parts.append(_draw_learners(axes, rows, arm))
        parts += _draw_own_arms(axes, rows, arm)
    for axes in grid.flat[len(with_rows) :]:
        axes.set_visible(False)
    for axes in grid[-1]:
        axes.set_xlabel("training games")
    figure.supylabel(label, fontsize=11)
    figure.suptitle(title, fontsize=12)
    if not parts:
        return figure, pd.DataFrame()
    handles, labels = figure.axes[0].get_legend_handles_labels()
    legend(figure, 3, handles=handles, labels=labels)
    return figure, pd.concat(parts).reset_index()


def _draw_learners(axes, rows, arm):
    """Draw mean, range and best of an arm's learners; return the numbers by episode."""
    by_learner = rows[rows.arm == arm].pivot(index="episode", columns="run", values="value")
    best = by_learner.mean().idxmax()
    numbers = pd.DataFrame(
        {
            "learners": by_learner.count(axis=1),
            "mean": by_learner.mean(axis=1),
            "low": by_learner.quantile(0.1, axis=1),
            "high": by_learner.quantile(0.9, axis=1),
            "best": by_learner[best],
        }
    )
    span = axes.fill_between(
        by_learner.index, numbers["low"], numbers["high"], color=GREY, alpha=0.35
    )
    span.set(linewidth=0, label="8 of 10 learners")
    axes.plot(numbers["best"], color=RED, linewidth=0.7, label="best learner")
    axes.plot(numbers["mean"], color=DARK, label="mean of all learners")
    learners = numbers["learners"].max()
    axes.set_title(f"{arm}: {learners} learners, best: no. {best + 1}", fontsize=10.5)
    return numbers.assign(arm=arm, number=best)


def _draw_own_arms(axes, rows, arm):
    """Draw the means of arms of one's own that change an arm; return their numbers by episode."""
    if LIKE not in rows:
        return []
    parts = []
    for k, (name, of_arm) in enumerate(rows[rows[LIKE] == arm].groupby("arm", sort=False)):
        curve = curve_data(of_arm, [name]).set_index("episode")
        color = OWN_COLOURS[(k + 1) % len(OWN_COLOURS)]  # the first is that of means
        num_runs = int(curve["runs"].max())
        runs = "1 run" if num_runs == 1 else f"{num_runs} runs"
        label = f"{name} ({runs}), mean and 95% interval"
        axes.plot(curve["mean"], linewidth=2.2, label=label, color=color)
        band = axes.fill_between(curve.index, curve["low"], curve["high"], alpha=0.3, color=color)
        band.set(linewidth=0)
        parts.append(curve[["mean", "low", "high"]].assign(arm=name))
    return parts
