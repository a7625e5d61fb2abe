"""The figures of [scheiermann2022] that pages show, each a function of the studies by name.

A function returns the figure, its numbers, how to read it, and perhaps the arms that it shows. All
that it needs is in the studies, in the files of ``data/logs``, or here.
"""

import math
from functools import partial

import pandas as pd

from ...reports.figures import arm_style
from ...reports.summaries import finals, logged
from ...results import select
from ..claims import load
from .connect4_tournament import ALONE, draw_ranking, draw_second
from .cube_solving import TITLES, draw_iterations, draw_solved
from .wrapper_tables import draw_ladder

OTHELLO = "othello-wrapper"
CONNECT4 = "connect4-wrapper"
SEARCHED_TRAINING = "mcts-in-training"
PROGRAMS = {"Rhino": "gtp-rhino", "Edax": "Edax"}
# the players of Fig. 4: columns of their results
FIG_4 = {
    "TCL-wrap": {"iterations": ...},
    "TCL-base": {},
    "MCTS-10k": {"player": "MCTS", "iterations": ...},
}
# columns that a study without some of its results lacks
EMPTY = dict.fromkeys(("player", "opponent", "seat", "variant"), "")
EMPTY |= dict.fromkeys(("iterations", "c_puct", "level", "twists", "distance"), math.nan)
DOTTED = {"linestyle": ":", "markerfacecolor": "white"}
# of Figs 8 to 10, where agents of Fig. 4 stand beside the others
LEVELS = {"Rhino": [1, 2, 3, 4, 5, 6, 7], "Edax": [1, 2, 3, 4, 5, 6, 7, 8, 9]}
BESIDE = "TCL-wrap after 250,000 games"


def last_results(study):
    """Return the results of the last episode of each arm, with all columns of EMPTY."""
    table = finals(study.table())
    lacking = {name: empty for name, empty in EMPTY.items() if name not in table}
    return table.assign(**lacking)


def othello(studies, engine):
    """Draw Fig. 4: Othello against the levels of an engine."""
    last = last_results(studies[OTHELLO])
    rows = last[:0]
    styles = {}
    for arm, columns in FIG_4.items():
        of_arm = select(last, measure="win_rate", opponent=engine, level=..., **columns)
        rows = _below(rows, of_arm.assign(arm=arm))
        styles[arm] = arm_style(arm, list(FIG_4)) | {"linestyle": "-"}
        styles[f"{arm}, original"] = styles[arm] | DOTTED
    logs = {}
    if engine == "Edax":
        log = logged("scheiermann2022")["othello"]["edax"]
        logs = {f"{arm}, original": log[arm] for arm in FIG_4}
    title = "search at test time, the agent alone, search alone"
    captions = {
        "Edax": "Win rate against the levels of Edax, mean over agents with 95% intervals, each"
        " agent in both roles once. Dotted lines with open markers: result files of the original"
        " (40 matches a level), which are near Fig. 4 but not its values. Above the dashed line a"
        " player wins more than half.",
        "Rhino": "Win rate against the levels of gtp-rhino, which are no levels of Edax: mean over"
        " agents with 95% intervals, each agent in both roles once. Above the dashed line a player"
        " wins more than half.",
    }
    picture, data = draw_ladder(rows, list(FIG_4), PROGRAMS[engine], title, logs, styles)
    picture.axes[0].axhline(50, color="#5c5c5c", linewidth=1, linestyle="--")
    return picture, data, captions[engine]


def connect4_ranking(studies):
    """Draw the last column of Table II: the rates of games won."""
    picture, data = draw_ranking(last_results(studies[CONNECT4]))
    return (
        picture,
        data,
        "Rate of games won by each of the four players in the tournament, a tie as half a game:"
        " mean over agents, from three on with 95% intervals (two players have no training: their"
        " spread comes from the agents they meet and from their own chance), the paper's last"
        " column of Table II, and the same of the four tournaments that the authors stored, each"
        " of one agent.",
    )


def connect4_second(studies):
    """Draw Fig. 6: ConnectFour as second player against MCTS."""
    study = studies[CONNECT4]
    software = load("scheiermann2022").reading("software-connect4")
    arms = [arm for arm in (ALONE, software.arms[ALONE]) if arm in study.arms]
    picture, data = draw_second(last_results(study), arms)
    return (
        picture,
        data,
        "Win rate as second player against MCTS (a tie as half a game): the wrapped agent by"
        " iterations of its search, at 0 the agent alone, and the perfect player: AB-DL, and"
        " AB-DL-8 with the original's gap in the opening. Mean over agents with 95% intervals (the"
        " paper's bars are standard deviations of 5 runs). Their level is that of their hundred"
        " matches of Table II. The paper: above 80% with 50 to 100 iterations, near 100% from 500"
        " on; AB-DL 80% wins. The arm as the original software is exploratory.",
    )


def last_of_text(study):
    """Return the last results of the agents of the paper's text."""
    last = last_results(study)
    return last[last["arm"] == ALONE]


def missing_of_both(studies):
    """Return what is missing of the 2x2x2; what is missing of the 3x3x3 follows in a caption."""
    missing = ""
    of_cube2 = studies["cube2"].unfinished()
    if of_cube2:
        missing += f" 2x2x2: {of_cube2}"
    if studies["cube3"].unfinished():
        missing += " 3x3x3:"
    return missing


def cube_iterations(studies):
    """Draw Fig. 7 (a): solved cubes by iterations."""
    picture, data = draw_iterations({name: last_of_text(studies[name]) for name in TITLES})
    return (
        picture,
        data,
        "Share of solved cubes, scrambled by 11 to 13 twists (2x2x2) and 7 to 9 twists (3x3x3):"
        " mean over agents with 95% intervals. Dotted: with c_puct 10, with which the original's"
        " stored results were made (D6)." + missing_of_both(studies),
    )


def cube_twists(studies):
    """Draw Fig. 7 (b): solved cubes by scrambling twists."""
    finals = {name: last_of_text(studies[name]) for name in TITLES}
    picture, data = draw_solved(finals, "twists", logs=logged("scheiermann2022"))
    return (
        picture,
        data,
        "Share of solved cubes by the number of scrambling twists: mean over agents with 95%"
        " intervals, as in Fig. 7 (b). Dotted: the original's result files (1,000 iterations,"
        " c_puct 10)." + missing_of_both(studies),
    )


def trained_arms(study):
    """Return the trainings of Figs 8 to 10, with a search or without: W0, W100, ..."""
    return [arm for arm in study.arms if arm.startswith("W")]


def searched(studies, engine, number=None):
    """Draw Figs 8 to 10, or Fig. 8 or 9: agents trained with search and without, by level."""
    study = studies[SEARCHED_TRAINING]
    arms, title = _arms_and_title(study, number)
    last = last_results(study)
    columns = {
        "measure": "win_rate",
        "opponent": engine,
        "level": LEVELS[engine],
        "iterations": ...,
    }
    rows = select(last[last["arm"].isin(arms)], **columns)
    if OTHELLO in studies:
        beside = select(last_results(studies[OTHELLO]), **columns)
        rows = _below(rows, beside.assign(arm=BESIDE))
    logs = {}
    dotted = ""
    if engine == "Edax":
        log = logged("scheiermann2022")["othello"]["edax"]
        for arm in ("TCL-wrap", "W100"):
            logs[f"{arm} after 250,000 games, original"] = log[arm]
        dotted = " Dotted: result files of the original software (40 matches a level)."
    every_line = [*trained_arms(study), BESIDE]
    styles = {line: arm_style(line, every_line) for line in every_line}  # the same in all figures
    program = PROGRAMS[engine]
    lines = [*arms, BESIDE]
    panels = {line: [line] for line in [*lines, *logs]}
    picture, data = draw_ladder(
        rows, lines, program, title, logs, styles, panels=panels, behind=True
    )
    return (
        picture,
        data,
        f"Win rate against levels of {program}, a panel for each training (grey: the others), each"
        " agent in both roles once, all with the search"
        f" at test time: mean over agents with 95% intervals. {BESIDE}: trained without search, the"
        f" agents of notebook 20.{dotted}",
        arms,
    )


def _arms_and_title(study, number):
    """Return the arms that Fig. 8 or 9 compares, in the order of its lines, and its title.

    The number None stands for one figure of all arms. An arm is called after the iterations of its
    search in training: W0 trains without search, W100 with 100 iterations for each move. Arms that
    the study does not have are left out.
    """
    every_arm = trained_arms(study)
    if number is None:
        return every_arm, "trained with search, or without"
    with_search = [arm for arm in every_arm if arm != "W0" and arm[1:].isdigit()]
    # The first search that the study declares has the iterations of the paper.
    search_of_paper = with_search[0] if with_search else "W100"
    if number == 8:
        compared = [search_of_paper, f"{search_of_paper}, equal time", *with_search]
        title = "about the same time of training"
    else:  # Fig. 9
        deeper = _deeper(every_arm, search_of_paper)
        compared = ["W0", search_of_paper, f"{search_of_paper} by visits", *deeper]
        title = _games(study, "W0")
    without_repeats = dict.fromkeys(compared)
    return [arm for arm in without_repeats if arm in every_arm], title


def _deeper(arms, search_of_paper):
    """Return the arms of as many games with a deeper search: W1000 after 12,000 games."""
    after_games = [arm for arm in arms if " after " in arm]
    return [arm for arm in after_games if not arm.startswith(f"{search_of_paper} ")]


def _games(study, arm):
    """Return in words how long an arm trains; "" if the study does not have it."""
    if arm not in study.arms:
        return ""
    return f"{study.arms[arm][0].job.episodes:,} games of training"


def _below(rows, more_rows):
    """Return rows and more rows below each other; an empty table would change types of columns."""
    with_rows = [part for part in (rows, more_rows) if len(part)]
    return pd.concat(with_rows or [rows])


FIGURES = {
    "othello-wrapper-edax": partial(othello, engine="Edax"),
    "othello-wrapper-rhino": partial(othello, engine="Rhino"),
    "connect4-wrapper-second": connect4_second,
    "connect4-wrapper-ranking": connect4_ranking,
    "cube3-iterations": cube_iterations,
    "cube3-twists": cube_twists,
    "mcts-in-training-edax": partial(searched, engine="Edax"),
    "mcts-in-training-rhino-8": partial(searched, engine="Rhino", number=8),
    "mcts-in-training-rhino-9": partial(searched, engine="Rhino", number=9),
}
