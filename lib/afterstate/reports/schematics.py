"""Schematic drawings of the ideas: afterstate, and networks with one or many outputs."""

import matplotlib
from matplotlib.patches import Circle, FancyArrowPatch, Rectangle

from .labels import DARK
from .picture import SETTINGS, Picture

TILES = {0: "#f4efe8", 2: "#eee4da", 4: "#f2d6a2", 8: "#f2b179", 16: "#e8825a"}
BLUE, RED, SOFT = "#0077bb", "#cc3311", "#5c5c5c"


def schematic_afterstate():
    """Draw a move in two parts: the deterministic one to the afterstate, then the random one.

    Without chance the next state is the afterstate. Returns a Picture.

    Source: [konen2021] Fig. 1
    """
    with matplotlib.rc_context(SETTINGS):
        figure, axes = _canvas(9.2, 4.3, 92, 43)
        rows = ((2, 0, 2, 4), (0, 0, 4, 4), (2, 0, 4, 4))
        for x, tiles in zip((2, 36, 70), rows, strict=True):
            _tiles(axes, x, 28, tiles)
        boards = ("X.O......", "X.O.X....", "X.O.X....")
        for x, marks in zip((5, 39, 73), boards, strict=True):
            _grid(axes, x, 4, marks)
        for x, text in ((11, "state s"), (45, "afterstate s′"), (79, "next state s″")):
            axes.text(x, 39.5, text, ha="center", fontsize=13, weight="bold")
        _arrow(axes, 24, 32, 35, 32, "move right", "reward 4", BLUE)
        _arrow(axes, 58, 32, 69, 32, "random tile", "4 outcomes", RED)
        _arrow(axes, 20, 11, 37, 11, "X to the centre", "", BLUE)
        _arrow(axes, 54, 11, 71, 11, "no chance:", "s″ = s′", SOFT)
        axes.text(0, 36.6, "2048 (one row)", color=SOFT, fontsize=10)
        axes.text(0, 20.6, "Tic-Tac-Toe", color=SOFT, fontsize=10)
        axes.text(
            45,
            0.2,
            "deterministic part in blue, random part in red; V(s′) is learned for afterstates only",
            ha="center",
            fontsize=10,
            color=SOFT,
        )
    return figure


def schematic_networks():
    """Draw the two forms of network: one output for an afterstate, or one for every action.

    V(s') is asked once for every afterstate, Q(s, a) once for a state. Returns a Picture.

    Source: [konen2021] Fig. 2
    """
    with matplotlib.rc_context(SETTINGS):
        figure, axes = _canvas(8.4, 4.2, 84, 42)
        _network(
            axes,
            20,
            ("V(s′)",),
            "afterstate s′",
            "(a) TD-learning",
            "asked once for every legal action:\ntake the action whose afterstate is best",
            BLUE,
        )
        _network(
            axes,
            62,
            ("Q(s, a₁)", "Q(s, a₂)", "Q(s, a₃)"),
            "state s",
            "(b) SARSA and Q-learning",
            "asked once: take the action with the\nhighest output; as many times the weights",
            RED,
        )
    return figure


def _canvas(width, height, right, top):
    figure = Picture(figsize=(width, height))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(-1, right), ylim=(-1, top), aspect="equal")
    axes.axis("off")
    return figure, axes


def _tiles(axes, x, y, tiles):
    for place, tile in enumerate(tiles):
        axes.add_patch(
            Rectangle((x + 5 * place, y), 5, 7, facecolor=TILES[tile], edgecolor="#8a8a8a")
        )
        if tile:
            axes.text(
                x + 5 * place + 2.5,
                y + 3.4,
                str(tile),
                ha="center",
                va="center",
                fontsize=14,
                weight="bold",
            )


def _grid(axes, x, y, marks):
    for cell, mark in enumerate(marks):
        left, bottom = x + 4.6 * (cell % 3), y + 4.6 * (2 - cell // 3)
        axes.add_patch(Rectangle((left, bottom), 4.6, 4.6, facecolor="white", edgecolor="#8a8a8a"))
        if mark != ".":
            axes.text(
                left + 2.3,
                bottom + 2.1,
                mark,
                ha="center",
                va="center",
                fontsize=14,
                weight="bold",
                color=DARK if mark == "X" else BLUE,
            )


def _arrow(axes, x, y, to_x, to_y, above, below, colour):
    axes.add_patch(
        FancyArrowPatch(
            (x, y), (to_x, to_y), arrowstyle="-|>", mutation_scale=16, color=colour, linewidth=2
        )
    )
    axes.text((x + to_x) / 2, y + 1.2, above, ha="center", fontsize=9.5, color=colour)
    axes.text((x + to_x) / 2, y - 2.8, below, ha="center", fontsize=9.5, color=colour)


def _network(axes, centre, outputs, source, title, note, colour):
    hidden = [centre + 5 * place for place in (-2, -1, 0, 1, 2)]
    tops = [centre + 11 * (place - (len(outputs) - 1) / 2) for place in range(len(outputs))]
    for top in tops:
        for x in hidden:
            axes.plot([x, top], [18, 28], color="#b8b8b8", linewidth=0.9, zorder=1)
    for x in hidden:
        axes.add_patch(Circle((x, 18), 1.3, facecolor="#d9d9d9", edgecolor=SOFT, zorder=2))
    axes.add_patch(
        FancyArrowPatch(
            (centre, 11.5), (centre, 16.2), arrowstyle="-|>", mutation_scale=14, color=SOFT
        )
    )
    for top, text in zip(tops, outputs, strict=True):
        axes.add_patch(Circle((top, 28), 1.9, facecolor=colour, edgecolor=colour, zorder=2))
        axes.text(top, 31, text, ha="center", fontsize=12)
    axes.text(centre, 8.6, source, ha="center", fontsize=12)
    axes.text(
        centre - 11.6, 17.4, "active\nweights", ha="right", va="center", fontsize=8.5, color=SOFT
    )
    axes.text(centre, 37.5, title, ha="center", fontsize=12.5, weight="bold")
    axes.text(centre, 1.4, note, ha="center", fontsize=10, color=SOFT)
