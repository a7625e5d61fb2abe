"""The figures of [jamieson2022] that pages and notebooks show.

A function returns the figure, every number that is drawn, and how to read it. Those of `FIGURES`
take the studies of the paper by name.
"""

import pandas as pd

from ....players import agents
from ...reports import figures
from ...reports.summaries import finals
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


def _outcomes(study, arm, number, last):
    """Draw Fig. 2 or 3: the games of an arm with its teacher, up to its last episode."""
    curves = outcome_curves(study.table(), arm, last, _games(study, arm))
    figure, data = figures.learning_curves(
        curves,
        OUTCOMES,
        title=f"Tic-Tac-Toe, teacher: {arm}",
        score_axis=False,
        label="percent of games",
    )
    return (
        figure,
        data,
        "Greedy games of the learning agent in the first seat against its teacher, as in Fig."
        f" {number} of the paper: mean over runs with 95% intervals. The x-axis ends at the paper's"
        " point of convergence plus 5,000 games.",
        [arm],
    )


def fig2(studies):
    """Draw Fig. 2: learning against a twin."""
    return _outcomes(studies[TICTACTOE], TWIN, 2, 13_000)


def fig3(studies):
    """Draw Fig. 3: learning against the non-deterministic Min-Max."""
    return _outcomes(studies[TICTACTOE], PERFECT_TEACHER, 3, 11_000)


def _running(study, title, number, first):
    """Draw Fig. 4 or 5: how the percentages of a contest with Min-Max become stable."""
    game = study.arms[TWIN][0].job.game
    games = _of_twin(study, Baseline).games
    contest = agents.contest(game, first(game), agents.min_max(game), games=games, seed=number)
    figure, data = figures.learning_curves(
        running_shares(contest.results),
        RUNNING,
        title=title,
        score_axis=False,
        label="percent of the games so far",
    )
    return (
        figure,
        data,
        f"Percentages over the games played so far, as in Fig. {number}. {contest.distinct:,} of"
        f" the {games:,} games are different.",
        [],
    )


def fig4(studies):
    """Draw Fig. 4: the deterministic Min-Max against itself."""
    return _running(studies[TICTACTOE], "Min-Max against Min-Max", 4, agents.min_max)


def fig5(studies):
    """Draw Fig. 5: a random player against the deterministic Min-Max."""
    return _running(studies[TICTACTOE], "Random against Min-Max", 5, agents.chance)


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
    )
    return (
        figure,
        data,
        "Share of games that the learning agent, as player 1, loses to the non-deterministic"
        " Min-Max, by the teacher of its training: mean over runs with 95% intervals. An agent"
        " without mistakes never loses.",
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
    curves = rows.assign(arm=lines, episode=rows.player.astype(str).map(percents))
    figure, data = figures.learning_curves(
        curves,
        sorted(set(lines)),
        score_axis=False,
        label="percent of games lost",
        title="Snapshots Q-p of a twin",
    )
    return (
        figure,
        data,
        "Exact probability that Q-p loses; p on the x-axis (percent of N training games). Mean over"
        " runs with 95% intervals. A graded series of weaker agents would fall steadily.",
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
    )
    return (
        figure,
        data,
        "Share of games that the learning agent loses to its teacher, in the first seat: mean over"
        " runs with 95% intervals. Convergence needs a line at 0.",
        list(arms),
    )


def kalah_learning(studies):
    """Draw how many games learners of Kalah lose to their own teachers."""
    title = "Mancala (Kalah): greedy games against the own teacher"
    return lost_to_teachers(studies["kalah-q"], KALAH, title)


def training_games(study, arm, teacher, last):
    """Draw Fig. 2 or 3 of the games in which an agent learns, up to an episode."""
    figure, data = figures.learning_curves(
        training_curves(study.table(), arm, last),
        OUTCOMES,
        score_axis=False,
        label="percent of a hundred training games",
        title=f"Tic-Tac-Toe, the tutorial's loop, teacher: {teacher}",
    )
    return (
        figure,
        data,
        f"Training games of a learner in the second seat, teacher: {teacher}; the tutorial's loop"
        " with the paper's alpha and gamma, ties at random. Mean over runs with 95% intervals.",
        [arm],
    )


FIGURES = {
    "tictactoe-q-fig2": fig2,
    "tictactoe-q-fig3": fig3,
    "tictactoe-q-fig4": fig4,
    "tictactoe-q-fig5": fig5,
    "tictactoe-q-learning": learning,
    "tictactoe-q-points": tournament_points,
    "tictactoe-q-strength": strength,
    "kalah-q-learning": kalah_learning,
}
