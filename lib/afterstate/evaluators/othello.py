"""The opponents of Othello agents as evaluations: Bench, Heur, gtp-rhino and Edax."""

from functools import partial

from ..players.gtp import Edax, Rhino
from ..players.positional import Bench, Heur
from .matches import Matches

# all 244 sequences of four plies, both roles; Heur is no claim of the paper
OTHELLO_BENCH = Matches("Bench", partial(Bench), starts=("all", 4))
OTHELLO_HEUR = Matches("Heur", partial(Heur), starts=("all", 4))


def against(kind, level: int, name: str | None = None) -> Matches:
    """Return the evaluation against :class:`Rhino` or :class:`Edax`.

    Matches in both roles from all 244 positions after four plies.

    Examples
    --------
    >>> from afterstate.players import gtp
    >>> from afterstate.evaluators.othello import against
    >>> against(gtp.Rhino, 4).name
    'Rhino-m4'
    """
    return Matches(
        name or kind(level).name, partial(kind, level), starts=("all", 4), probe_starts=("all", 2)
    )


EDAX_1 = against(Edax, 1)
RHINO_M1, RHINO_M2, RHINO_M4, RHINO_M6 = RHINOS = tuple(
    against(Rhino, level) for level in (1, 2, 4, 6)
)
