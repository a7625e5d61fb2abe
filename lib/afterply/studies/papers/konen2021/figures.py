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
    """Return the claims of Table 1 of a study about what has these columns."""
    return [
        claim
        for claim in load("konen2021").claims
        if claim.place.get("table") == "1" and claim.study == study.name and claim.select == columns
    ]


def in_lines(rows, claims=()):
    """Return rows and claims whose arms are lines "arm vs opponent"."""
    opponents = rows["opponent"] if len(rows) else ""  # a table without rows has no such column
    lines = {"arm": rows["arm"] + " vs " + opponents}
    if LIKE in rows:
        lines[LIKE] = (rows[LIKE] + " vs " + opponents).where(rows[LIKE] != "", "")
    named = (dataclasses.replace(c, arm=f"{c.arm} vs {c.select['opponent']}") for c in claims)
    return rows.assign(**lines), list(named)


def tictactoe_learning(studies):
    """Draw Fig. 3 (left)."""
    study, of = studies["tictactoe"], {"measure": "win_rate", "opponent": "Max-N-10"}
    figure, data = figures.learning_curves(
        select(study.table(), **of),
        arms_of(study),
        best=50.0,
        published=of_table_1(study, **of),
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
    of = {"measure": "win_rate", "opponent": "MCTS-1000", "variant": "won starts"}
    figure, data = figures.learning_curves(
        select(study.table(), **of),
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
    study, opponents = studies["othello"], ("Bench", "Heur")
    rows, published = in_lines(
        select(study.table(), measure="win_rate", opponent=list(opponents)),
        of_table_1(study, measure="win_rate", opponent="Bench"),
    )
    lines = [f"{arm} vs {opponent}" for opponent in opponents for arm in arms_of(study)]
    title = "Othello: TD-learning against positional players"
    figure, data = figures.learning_curves(rows, lines, title=title, published=published)
    caption = (
        "Win rate over both roles against the positional players Bench and Heur during training: "
        "mean over runs with 95% intervals, 488 games a point. Open markers at the right: Table 1 "
        "(Bench only)."
    )
    return figure, data, caption, arms_of(study)


def against_perfect_play(study):
    """Return the curves of ConnectFour as first player, and the claims of Table 1, in lines."""
    curves = select(study.table(), measure="win_rate", opponent=["AB", "AB-DL"], seat="first")
    claims = [
        claim
        for opponent in ("AB", "AB-DL")
        for claim in of_table_1(study, measure="win_rate", opponent=opponent)
    ]
    return in_lines(curves, sorted(claims, key=lambda claim: claim.arm))


def connect4_learning(studies):
    """Draw Fig. 4: colour = opponent, line = arm."""
    study = studies["connect4"]
    curves, published = against_perfect_play(study)
    lines = {"FARL": "-", "no-FARL": "--"}
    looks = {"AB": ("#cc3311", "o"), "AB-DL": ("#0077bb", "s")}
    styles = {
        f"{arm} vs {opponent}": dict(color=color, marker=marker, linestyle=line)
        for arm, line in lines.items()
        for opponent, (color, marker) in looks.items()
    }
    figure, data = figures.learning_curves(
        curves,
        list(styles),
        best=50.0,
        published=published,
        score_axis=False,
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
    """Draw Fig. 4 as the text says and as the original software does: line = reading."""
    study = studies["connect4"]
    curves, published = against_perfect_play(study)
    readings = [load("konen2021").reading(name) for name in ("software-connect4", "connect4-list")]
    looks = (("o", "-"), ("D", "--"), ("^", ":"))
    styles = {
        f"{arm} vs {opponent}": dict(color=color, marker=marker, linestyle=line)
        for text, opponent, color in (("FARL", "AB-DL", "#cc3311"), ("no-FARL", "AB", "#0077bb"))
        for arm, (marker, line) in zip((text, *(r.arms[text] for r in readings)), looks)
    }
    figure, data = figures.learning_curves(
        curves,
        [name for name in styles if name in set(curves["arm"])],
        best=50.0,
        score_axis=False,
        styles=styles,
        published=[claim for claim in published if claim.arm in styles],
        title="ConnectFour: as the text says and as the original software does",
    )
    caption = (
        "Half the win rate as first player during training, with FARL against AB-DL and without "
        "against AB: mean over runs with 95% intervals. AB-DL is the exact one here in both "
        "readings; the table of values has, as the original software, those against AB-DL-8, which "
        "knows no distances up to 8 stones. Open markers at the right: Table 1."
    )
    of = [arm for arm in study.arms if any(line.startswith(f"{arm} vs ") for line in styles)]
    return figure, data, caption, of


def connect4_weights(studies):
    """Draw the weights in use, of every run."""
    study = studies["connect4"]
    in_use = finals(select(study.table(), measure="active_weights"))
    of_arms = {arm: in_use[in_use["arm"] == arm]["value"].tolist() for arm in arms_of(study)}
    of_arms = {arm: values for arm, values in of_arms.items() if values}
    title = "ConnectFour: weights in use after the training"
    figure, data = None, []
    if of_arms:
        figure, data = figures.strip(of_arms, "percent of all weights", title=title)
    caption = (
        "Weights that the training left different from 0, in percent of all: every run as a dot, "
        "mean with its 95% interval below. The paper: 8% with FARL, 0.9% without."
    )
    return figure, data, caption, arms_of(study)


def on_tictactoe(studies, lines, title):
    """Draw arms of the study of SARSA on Tic-Tac-Toe."""
    rows = select(studies["sarsa"].table(), measure="win_rate", opponent="Max-N-10")
    arms = {f"Tic-Tac-Toe: {line}": line for line in lines}
    return figures.learning_curves(as_lines(rows, arms), lines, best=50.0, title=title)


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
    lines = [*ALGORITHMS, *(f"{name} without FARL" for name in ALGORITHMS)]
    figure, data = on_tictactoe(studies, lines, "Tic-Tac-Toe: the three algorithms")
    caption = (
        "Win rate (left axis) and score (right axis) against the perfect Max-N-10 during training: "
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
