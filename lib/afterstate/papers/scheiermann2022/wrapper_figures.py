"""What the studies of the wrapped agents share: the costs of search, and ladders of opponents."""

from typing import NamedTuple

from ...reports.figures import learning_curves
from ...reports.summaries import by_number, shown, with_logs
from ...stats import mean_interval
from .move_times import milliseconds, searched_trainings, times_table

ALONE = "TCL-base"


class Trained(NamedTuple):
    """CPU time of a training, and of one of its moves; means over trainings."""

    seconds: float
    milliseconds: float


def move_times(runs, results, printed):
    """Return the times of a move of each player: mean and 95% interval, {player: Interval}.

    And the table of them beside the printed ones, as a page shows it. runs, results: of the study;
    printed: player -> milliseconds (Table IV).
    """
    found = {who: mean_interval(each) for who, each in milliseconds(ALONE, runs, results).items()}
    return found, shown(times_table(found, printed), 3)


def training_time(runs) -> Trained | None:
    """Return what a training of the agent alone takes; None if no record states it."""
    own = runs[(runs["arm"] == ALONE) & (runs["kind"] == "train")].dropna(subset="cpu_seconds")
    if not len(own):
        return None
    mean = own["cpu_seconds"].mean()
    return Trained(mean, 1000 * mean / own["moves"].mean())


def training_factors(runs, results, printed):
    """Return what a training with search in it would cost (Table III), as a page shows it."""
    return shown(searched_trainings(ALONE, runs, results, printed), 0, thousands=",")


def draw_ladder(rows, arms, program, title, logs, styles):
    """Draw win rates against the levels of a program; logs: arm -> {level: rate}, from the authors.

    rows: those whose metric ends with the level.
    """
    rows = with_logs(by_number(rows, "win rate"), logs, "win rate")
    title = f"Othello against {program}: {title}"
    look = {"score_axis": False, "logs": list(logs), "styles": styles, "title": title}
    picture, data = learning_curves(rows, "win rate", [*arms, *logs], **look)
    picture.axes[0].set_xlabel(f"level of {program}")
    return picture, data
