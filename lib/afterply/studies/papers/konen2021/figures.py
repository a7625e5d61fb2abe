"""The figures of the report on [konen2021]: name of the file -> a function of the studies.

Each returns the figure, its numbers, its caption, and the arms that it shows if not all.
"""

import dataclasses

from ...reports import figures
from ...reports.summaries import finals
from ...results import LIKE, as_lines, select
from ..claims import load
from . import FARL

ALGORITHMS = ("TD", "SARSA", "Q-learning")


def arms_of(study) -> list:
    """Return the arms of the text that a study has."""
    return [arm for arm in FARL if arm in study.arms]


def of_table_1(study, **columns) -> list:
    """Return the claims of Table 1 about the results of a study that have these columns."""
    claims = []
    for claim in load("konen2021").claims:
        in_table = claim.place.get("table") == "1"
        if in_table and claim.study == study.name and claim.select == columns:
            claims.append(claim)
    return claims


def in_lines(rows, claims=()):
    """Return rows and claims whose arms are lines "arm vs opponent"."""
    opponents = ""  # a table without rows has no column of opponents
    if len(rows):
        opponents = rows["opponent"]
    lines = {"arm": rows["arm"] + " vs " + opponents}
    if LIKE in rows:
        lines[LIKE] = (rows[LIKE] + " vs " + opponents).where(rows[LIKE] != "", "")
    renamed_claims = []
    for claim in claims:
        line = f"{claim.arm} vs {claim.select['opponent']}"
        renamed_claims.append(dataclasses.replace(claim, arm=line))
    return rows.assign(**lines), renamed_claims


def tictactoe_learning(studies):
    """Draw Fig. 3 (left)."""
    study = studies["tictactoe"]
    columns = {"measure": "win_rate", "opponent": "Max-N-10"}
    figure, data = figures.learning_curves(
        select(study.table(), **columns),
        arms_of(study),
        best=50.0,
        published=of_table_1(study, **columns),
        title="Tic-Tac-Toe: TD-learning with and without Final Adaptation",
    )
    caption = (
        "Win rate (left axis) and score (right axis) against the perfect Max-N-10 during training, "
        "as in Fig. 3 (left) of the paper: mean over runs, bars and bands are 95% intervals of the "
        "mean. With FARL the agent soon reaches 50%, the best possible; without it most games are "
        "lost however long it trains. Open markers at the right: Table 1, with its printed "
        "standard error."
    )
    return figure, data, caption, arms_of(study)


def hex_learning(studies):
    """Draw the curves from won positions of Hex."""
    study = studies["hex"]
    columns = {"measure": "win_rate", "opponent": "MCTS-1000", "variant": "won starts"}
    figure, data = figures.learning_curves(
        select(study.table(), **columns),
        arms_of(study),
        best=100.0,
        title="Hex 6x6: TD-learning from won positions against MCTS-1000",
    )
    caption = (
        "Win rate during training from seven positions that are won for the agent, against MCTS "
        "with 1,000 iterations: mean over runs with 95% intervals. A perfect player would win all "
        "of them if the original's list is right; for two of the seven (first moves c3 and a4) we "
        "could not confirm the winner. The opponent is weaker than that of Table 1."
    )
    return figure, data, caption, arms_of(study)


def othello_learning(studies):
    """Draw the curves of Othello against positional players."""
    study = studies["othello"]
    opponents = ["Bench", "Heur"]
    arms = arms_of(study)
    rows, published = in_lines(
        select(study.table(), measure="win_rate", opponent=opponents),
        of_table_1(study, measure="win_rate", opponent="Bench"),
    )
    panels = {}
    names = {}
    styles = {}
    for opponent in opponents:
        of_opponent = {f"{arm} vs {opponent}": arm for arm in arms}
        panels[f"against {opponent}"] = list(of_opponent)
        names |= of_opponent
        styles |= {line: figures.arm_style(arm, arms) for line, arm in of_opponent.items()}
    figure, data = figures.learning_curves(
        rows,
        list(names),
        title="Othello: TD-learning against positional players",
        published=published,
        styles=styles,
        panels=panels,
        names=names,
    )
    caption = (
        "Win rate over both roles against the positional players Bench and Heur during training: "
        "mean over runs with 95% intervals, 488 games a point. Open markers at the right: Table 1 "
        "(Bench only)."
    )
    return figure, data, caption, arms_of(study)


def against_perfect_play(study):
    """Return the curves of ConnectFour as first player, and the claims of Table 1, in lines."""
    opponents = ["AB", "AB-DL"]
    curves = select(study.table(), measure="win_rate", opponent=opponents, seat="first")
    claims = []
    for opponent in opponents:
        claims += of_table_1(study, measure="win_rate", opponent=opponent)
    claims.sort(key=lambda claim: claim.arm)
    return in_lines(curves, claims)


def connect4_learning(studies):
    """Draw Fig. 4: colour = opponent, line = arm."""
    study = studies["connect4"]
    curves, published = against_perfect_play(study)
    of_opponents = {
        "AB": {"color": figures.STYLES[0]["color"]},
        "AB-DL": {"color": figures.STYLES[1]["color"]},
    }
    looks = {"FARL": ("-", ("o", "s")), "no-FARL": ("--", ("^", "v"))}
    styles = {}
    for arm, (linestyle, markers) in looks.items():
        for (opponent, style), marker in zip(of_opponents.items(), markers):
            look = style | {"linestyle": linestyle, "marker": marker}
            styles[f"{arm} vs {opponent}"] = look
    figure, data = figures.learning_curves(
        curves,
        list(styles),
        best=50.0,
        published=published,
        score_axis=False,
        possible=(0.0, 50.0),
        styles=styles,
        title="ConnectFour: TD-learning against perfect players",
    )
    caption = (
        "Half the win rate as first player against the perfect players AB and AB-DL during "
        "training, as in Fig. 4: mean over runs with 95% intervals. As in the original, only games "
        "with the agent first are played; the rate is halved because nobody beats a perfect player "
        "as second, so 50 percent are the most over both roles (in the matches of Table 1 it plays "
        "both). Open markers at the right: Table 1."
    )
    return figure, data, caption, arms_of(study)


def connect4_software(studies):
    """Draw Fig. 4 as the text says and as the original software does: a line for each reading."""
    study = studies["connect4"]
    curves, published = against_perfect_play(study)
    paper = load("konen2021")
    software = paper.reading("software-connect4")
    tuple_list = paper.reading("connect4-list")
    panels = {}
    names = {}
    for arm, opponent, title in (
        ("FARL", "AB-DL", "with FARL, against AB-DL"),
        ("no-FARL", "AB", "without FARL, against AB"),
    ):
        readings = {
            f"{arm} vs {opponent}": "as the text",
            f"{tuple_list.arms[arm]} vs {opponent}": "the list of symmetric boards alone (D3)",
            f"{software.arms[arm]} vs {opponent}": "as the original software",
        }
        panels[title] = list(readings)
        names |= readings
    every_reading = list(dict.fromkeys(names.values()))
    styles = {line: figures.arm_style(name, every_reading) for line, name in names.items()}
    figure, data = figures.learning_curves(
        curves,
        list(styles),
        best=50.0,
        score_axis=False,
        possible=(0.0, 50.0),
        styles=styles,
        panels=panels,
        names=names,
        published=[claim for claim in published if claim.arm in styles],
        title="ConnectFour: as the text says and as the original software does",
    )
    caption = (
        "Half the win rate as first player during training, with FARL against AB-DL and without "
        "against AB: mean over runs with 95% intervals. AB-DL is the exact one here in both "
        "readings; the table of values has, as the original software, those against AB-DL-8, which "
        "knows no distances up to 8 stones. Open markers at the right: Table 1."
    )
    arms_with_lines = {line.partition(" vs ")[0] for line in styles}
    return figure, data, caption, [arm for arm in study.arms if arm in arms_with_lines]


def connect4_weights(studies):
    """Draw the weights in use, of every run."""
    study = studies["connect4"]
    in_use = finals(select(study.table(), measure="active_weights"))
    percents = {}
    for arm in arms_of(study):
        of_arm = in_use[in_use["arm"] == arm]
        if len(of_arm):
            percents[arm] = of_arm["value"].tolist()
    figure = None
    data = []
    if percents:
        title = "ConnectFour: weights in use after the training"
        figure, data = figures.strip(
            percents, "percent of all weights", title=title, possible=(0, 100)
        )
    caption = (
        "Weights that the training left different from 0, in percent of all: every run as a dot, "
        "mean with its 95% interval below. The paper: 8% with FARL, 0.9% without."
    )
    return figure, data, caption, arms_of(study)


def on_tictactoe(studies, lines, title, **panels):
    """Draw arms of the study of SARSA on Tic-Tac-Toe, perhaps in panels."""
    rows = select(studies["sarsa"].table(), measure="win_rate", opponent="Max-N-10")
    arms = {f"Tic-Tac-Toe: {line}": line for line in lines}
    return figures.learning_curves(as_lines(rows, arms), lines, best=50.0, title=title, **panels)


def sarsa_fig3(studies):
    """Draw Fig. 3 (right)."""
    title = "Tic-Tac-Toe: SARSA with and without Final Adaptation"
    figure, data = on_tictactoe(studies, ["SARSA", "SARSA without FARL"], title)
    caption = (
        "Win rate (left axis) and score (right axis) against the perfect Max-N-10 during training, "
        "as in Fig. 3 (right) of the paper: mean over runs, bars and bands are 95% intervals of "
        "the mean."
    )
    return figure, data, caption


def sarsa_tictactoe(studies):
    """Draw the three algorithms, with and without Final Adaptation."""
    panels = {name: [name, f"{name} without FARL"] for name in ALGORITHMS}
    names = {}
    styles = {}
    for lines in panels.values():
        for line, name in zip(lines, ("with FARL", "without FARL")):
            names[line] = name
            styles[line] = figures.arm_style(name, ["with FARL", "without FARL"])
    title = "Tic-Tac-Toe: the three algorithms"
    more = {"panels": panels, "names": names, "styles": styles}
    figure, data = on_tictactoe(studies, list(names), title, **more)
    caption = (
        "Win rate against the perfect Max-N-10 during training, where 50% are the most: "
        "TD-learning, SARSA and Q-learning, with and without Final Adaptation. Mean over runs with "
        "95% intervals."
    )
    return figure, data, caption


FIGURES = {
    "tictactoe-learning": tictactoe_learning,
    "sarsa-fig3-right": sarsa_fig3,
    "sarsa-tictactoe": sarsa_tictactoe,
    "connect4-learning": connect4_learning,
    "connect4-software": connect4_software,
    "connect4-weights": connect4_weights,
    "hex-learning": hex_learning,
    "othello-learning": othello_learning,
}
