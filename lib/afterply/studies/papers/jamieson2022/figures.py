"""The figures of [jamieson2022] that pages and notebooks show.

A function returns the figure, every number that is drawn, and how to read it. Those of `FIGURES`
take the studies of the paper by name.
"""

import pandas as pd

from ....players import agents
from ...reports import figures
from ...reports.summaries import PANEL, finals
from ...results import select
from .snapshot_tables import (
    KALAH,
    OUTCOMES,
    RUNNING,
    TEACHERS,
    lost_curves,
    outcome_curves,
    points,
    running_shares,
    training_curves,
)
from .snapshots import OWN, PERCENTS, PERFECT, PLAYERS, SEATS, Baseline, Tournament

TICTACTOE = "tictactoe-q"
TWIN = "Q-learning Twin"
PERFECT_TEACHER = "Non-deterministic Min-Max"


def _games(study, arm):
    """Return how many games with its own teacher a learner plays at each checkpoint."""
    curve = study.arms[arm][0].job.curve
    return next(evaluator.games for evaluator in curve if evaluator.opponent == OWN)


def _of_twin(study, kind):
    """Return the evaluator of this kind that the twin has at its end."""
    final = study.arms[TWIN][0].job.final
    return next(evaluator for evaluator in final if type(evaluator) is kind)


def fig2_and_3(studies):
    """Draw Figs. 2 and 3: learning against a twin, and against the non-deterministic Min-Max."""
    study = studies[TICTACTOE]
    ends = {TWIN: 13_000, PERFECT_TEACHER: 11_000}
    curves = {}
    for arm, last in ends.items():
        curves[f"teacher: {arm}"] = outcome_curves(study.table(), arm, last, _games(study, arm))
    figure, data = _beside_each_other(
        curves,
        OUTCOMES,
        title="Tic-Tac-Toe: games against the own teacher",
        label="percent of games",
        xlabel="training games",
    )
    return (
        figure,
        data,
        "Greedy games of the learning agent in the first seat against its teacher, as in Figs. 2"
        " and 3 of the paper: mean over runs with 95% intervals. The curves end at the paper's"
        " point of convergence plus 5,000 games.",
        list(ends),
    )


def fig4_and_5(studies):
    """Draw Figs. 4 and 5: how the percentages of a contest with Min-Max become stable."""
    study = studies[TICTACTOE]
    game = study.arms[TWIN][0].job.game
    games = _of_twin(study, Baseline).games
    firsts = {"Min-Max against Min-Max": agents.min_max, "Random against Min-Max": agents.chance}
    curves = {}
    distinct = []
    for number, (title, first) in enumerate(firsts.items(), 4):
        players = first(game), agents.min_max(game)
        contest = agents.contest(game, *players, games=games, seed=number)
        curves[title] = running_shares(contest.results)
        distinct.append(f"{contest.distinct:,}")
    figure, data = _beside_each_other(
        curves,
        RUNNING,
        title="Tic-Tac-Toe: the result so far",
        label="percent of the games so far",
        xlabel="games so far",
    )
    figure.axes[0].set_xscale("log")
    figure.axes[0].xaxis.set_major_formatter("{x:,.0f}")
    return (
        figure,
        data,
        "Percentages over the games played so far, as in Figs. 4 and 5 of the paper. Of"
        f" {games:,} games {' and '.join(distinct)} are different.",
        [],
    )


def _beside_each_other(curves, outcomes, **more):
    """Draw the outcomes of several contests, title -> their curves, in a panel each."""
    parts = []
    panels = {}
    names = {}
    styles = {}
    for title, of_title in curves.items():
        lines = {outcome: f"{title}, {outcome}" for outcome in outcomes}
        parts.append(of_title.assign(arm=of_title["arm"].map(lines)))
        panels[title] = list(lines.values())
        for outcome, line in lines.items():
            names[line] = outcome
            styles[line] = figures.arm_style(outcome, list(outcomes))
    lines = list(names)
    return figures.learning_curves(
        pd.concat(parts), lines, panels=panels, names=names, styles=styles, score_axis=False, **more
    )


def learning(studies):
    """Draw which learner of Tic-Tac-Toe learns to play, and not only to cope with its teacher."""
    study = studies[TICTACTOE]
    rows = select(study.table(), measure="losses", opponent=PERFECT, seat="first")
    lost = rows.assign(value=100.0 * rows.value / _games(study, TWIN))
    figure, data = figures.learning_curves(
        lost,
        list(TEACHERS),
        score_axis=False,
        label="percent of games lost",
        title="Tic-Tac-Toe, by teacher: greedy games against the non-deterministic Min-Max",
        xlabel="training games",
        panels={teacher: [teacher] for teacher in TEACHERS},
        behind=True,
    )
    return (
        figure,
        data,
        "Share of games that the learning agent, as player 1, loses to the non-deterministic"
        " Min-Max, a panel for each teacher of its training (grey: the others): mean over runs with"
        " 95% intervals. An agent without mistakes never loses.",
        list(TEACHERS),
    )


def tournament_points(studies):
    """Draw the points of Table 7, every run as a dot."""
    study = studies[TICTACTOE]
    points_of_players = points(study.table(), TWIN)
    figure = None
    data = pd.DataFrame()
    if any(len(of_player) for of_player in points_of_players.values()):
        most = 3 * len(PLAYERS) * _of_twin(study, Tournament).games
        figure, data = figures.strip(
            points_of_players,
            f"points of {most:,} (a win 3, a draw 1)",
            title="Tic-Tac-Toe: the tournament of snapshots, first seat",
        )
    return (
        figure,
        data,
        "Points of each player over its five pairings in the first seat, as printed in Table 7:"
        " every run as a dot, mean with its 95% interval below. Q-p: the twin's snapshot after p"
        " percent of N; M: Min-Max, deterministic or not; R: random.",
        [TWIN],
    )


def strength(studies):
    """Draw how likely the snapshots of a twin lose, exactly."""
    percents = {f"Q-{percent}": float(percent) for percent in PERCENTS}
    rows = select(
        finals(studies[TICTACTOE].table()),
        arm=TWIN,
        measure="lost",
        player=list(percents),
        opponent=["rand", PERFECT],
        seat=list(SEATS),
    )
    lines = rows.opponent.astype(str) + ", " + rows.seat.astype(str) + " seat"
    curves = rows.assign(arm=lines, percent=rows.player.astype(str).map(percents))
    figure, data = figures.learning_curves(
        curves,
        sorted(set(lines)),
        x="percent",
        score_axis=False,
        label="percent of games lost",
        title="Snapshots Q-p of a twin: how often do they lose?",
        xlabel="p, percent of the training games",
    )
    return (
        figure,
        data,
        "Exact probability that Q-p loses, the twin's table after p percent of its training games:"
        " mean over runs with 95% intervals. A graded series of weaker agents would fall steadily.",
        [TWIN],
    )


def lost_to_teachers(study, arms, title, last=None):
    """Draw how many games learners lose to their own teachers, at most up to a `last` one."""
    lasts = {arm: last or study.arms[arm][0].job.episodes for arm in arms}
    games = _games(study, next(iter(lasts)))
    curves = lost_curves(study.table(), lasts, games)
    figure, data = figures.learning_curves(
        curves,
        list(arms),
        score_axis=False,
        label="percent of games lost in the first seat",
        title=title,
        xlabel="training games",
        panels={arm: [arm] for arm in arms},
        behind=True,
    )
    return (
        figure,
        data,
        "Share of games that the learning agent loses to its teacher, in the first seat, a panel"
        " for each teacher (grey: the others): mean over runs with 95% intervals. Convergence needs"
        " a line at 0.",
        list(arms),
    )


def kalah_learning(studies):
    """Draw how many games learners of Kalah lose to their own teachers."""
    title = "Mancala (Kalah): greedy games against the own teacher"
    return lost_to_teachers(studies["kalah-q"], KALAH, title)


def training_games(study, arms, last):
    """Draw Figs. 2 and 3 of the games in which agents learn; arms: teacher -> arm."""
    curves = {
        f"teacher: {teacher}": training_curves(study.table(), arm, last)
        for teacher, arm in arms.items()
    }
    figure, data = _beside_each_other(
        curves,
        OUTCOMES,
        title="Tic-Tac-Toe, the tutorial's loop: the games in which an agent learns",
        label="percent of a hundred training games",
        xlabel="training games",
    )
    return (
        figure,
        data,
        "Training games of a learner in the second seat, by teacher; the tutorial's loop with the"
        " paper's alpha and gamma, ties at random. Mean over runs with 95% intervals.",
        list(arms.values()),
    )


def nearness(readings, printed):
    """Draw by which factor the lengths of training in some readings miss the printed ones.

    readings: name -> table of results, and what the names of its arms end with. printed: arm -> N.
    """
    rows = []
    for name, (table, ending) in readings.items():
        for arm, number in printed.items():
            games = select(table, arm=arm + ending, measure="convergence_games", opponent="").value
            if len(games):
                factor = games.median() / number
                rows.append((name, f"teacher: {arm}", len(games), factor, None, None))
    data = pd.DataFrame(rows, columns=PANEL)
    figure = None
    label = "training games until convergence: median, divided by the printed number"
    if len(data):
        title = "Tic-Tac-Toe: how near does each reading come to print?"
        figure, data = figures.panels(list(readings), {label: data}, title, {label: 1.0})
        for axes in figure.axes:
            axes.set_xscale("log")
            axes.xaxis.set_major_formatter("{x:g}")
    return (
        figure,
        data,
        "Median over ten trainings, divided by the printed number of training games; on the dotted"
        " line both are equal. The scale is one of logarithms: 0.1 is a tenth of what is printed.",
        [],
    )


FIGURES = {
    "tictactoe-q-fig2": fig2_and_3,
    "tictactoe-q-fig4": fig4_and_5,
    "tictactoe-q-learning": learning,
    "tictactoe-q-points": tournament_points,
    "tictactoe-q-strength": strength,
    "kalah-q-learning": kalah_learning,
}
