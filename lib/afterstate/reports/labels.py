"""How a verdict looks: its symbol, colours, marker and explanation, in one table.

A reader never has to tell verdicts by colour alone.
"""

from typing import NamedTuple

from ..papers.statements import DOES_NOT_HOLD, HOLDS, STATEMENT_NOT_RUN, UNDECIDED
from ..papers.verdicts import (
    BETTER,
    CONSISTENT,
    INCONCLUSIVE,
    NOT_A_TARGET,
    NOT_REPRODUCED,
    NOT_RUN,
    REPRODUCED,
)

DARK, LIGHT = "#1a1a1a", "#ffffff"


class Look(NamedTuple):
    """A verdict on paper: `ink` is the colour of text on `colour`, `marker` one of Matplotlib's."""

    symbol: str
    colour: str
    ink: str
    marker: str
    meaning: str


VERDICTS = {
    REPRODUCED: Look(
        "✓",
        "#00785c",
        LIGHT,
        "o",
        "the difference lies inside the margin (two one-sided tests at 5%)",
    ),
    CONSISTENT: Look(
        "≈",
        "#2f6f8f",
        LIGHT,
        "D",
        "agrees as far as the printed precision can tell: the printed error alone spans the margin,"
        " the 95% interval of the difference holds 0 (of a printed count of games: an exact"
        " binomial test does not refuse it at 5%), and our standard error is not above the printed"
        " one",
    ),
    BETTER: Look(
        "▲",
        "#0077bb",
        LIGHT,
        "^",
        "beyond the margin in the good direction, for values marked higher-is-better or"
        " lower-is-better",
    ),
    NOT_REPRODUCED: Look(
        "✗", "#cc3311", LIGHT, "X", "the 95% interval of the difference excludes the margin"
    ),
    INCONCLUSIVE: Look(
        "?",
        "#b07800",
        LIGHT,
        "s",
        "not decided; the number of runs that would decide is given, or why no number would",
    ),
    NOT_RUN: Look("–", "#8a8a8a", LIGHT, "o", "no result yet; what is missing is given"),
    NOT_A_TARGET: Look(
        "○",
        "#d4d4d4",
        DARK,
        "o",
        "cited by the paper or impossible to produce; the reason is given",
    ),
}
DECIDED = tuple(label for label in VERDICTS if label not in (NOT_RUN, NOT_A_TARGET))

STATEMENTS = {
    HOLDS: Look("✓", "#00785c", LIGHT, "o", "the test of the statement confirms it"),
    DOES_NOT_HOLD: Look("✗", "#cc3311", LIGHT, "X", "a test of the contrary confirms that"),
    UNDECIDED: Look("?", "#b07800", LIGHT, "s", "neither is confirmed by the runs there are"),
    STATEMENT_NOT_RUN: Look("–", "#8a8a8a", LIGHT, "o", "runs that it speaks of are missing"),
}
