"""How a verdict looks: symbol, colour and Matplotlib marker, never the colour alone."""

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

DARK = "#1a1a1a"
GREEN, RED, YELLOW, GREY = "#00785c", "#cc3311", "#b07800", "#8a8a8a"


class Look(NamedTuple):
    """How a verdict looks; `ink` is the colour of text on `colour`."""

    symbol: str
    colour: str
    marker: str
    ink: str = "#ffffff"


VERDICTS = {
    REPRODUCED: Look("✓", GREEN, "o"),
    CONSISTENT: Look("≈", "#2f6f8f", "D"),
    BETTER: Look("▲", "#0077bb", "^"),
    NOT_REPRODUCED: Look("✗", RED, "X"),
    INCONCLUSIVE: Look("?", YELLOW, "s"),
    NOT_RUN: Look("–", GREY, "o"),
    NOT_A_TARGET: Look("○", "#d4d4d4", "o", DARK),
}
STATEMENTS = {
    HOLDS: Look("✓", GREEN, "o"),
    DOES_NOT_HOLD: Look("✗", RED, "X"),
    UNDECIDED: Look("?", YELLOW, "s"),
    STATEMENT_NOT_RUN: Look("–", GREY, "o"),
}
