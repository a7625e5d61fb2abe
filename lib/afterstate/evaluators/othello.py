"""The opponents of Othello agents as evaluations: Bench, Heur, gtp-rhino and Edax."""

from dataclasses import dataclass, field, replace
from functools import partial

from ..checks import one_of, whole
from ..players.gtp import Edax, Rhino
from ..players.positional import Bench, Heur
from ..players.searching import MCTS
from ..players.wrapped import Wrapped
from .base import Evaluator, valued
from .matches import Matches

ENGINES = {"Rhino": Rhino, "Edax": Edax}

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


@dataclass(frozen=True)
class Levels(Evaluator):
    """One match in each role, from the default start, against every level of an engine.

    Calling it with ``(game, agent, seed)`` gives ``win_rate:Edax-1`` ... in percent for the agent
    alone, ``Wrapped-10000 win_rate:Edax-1`` for the wrapped agent, and ``MCTS-10000
    win_rate:Edax-1`` for Monte Carlo tree search, in which the agent plays no part.

    Parameters
    ----------
    engine : {"Rhino", "Edax"}
    levels : tuple of int
    iterations : int
        Of the wrapper; 0: the agent alone.
    mcts : int
        Iterations of Monte Carlo tree search, which plays instead of the agent; 0: the agent.
    pass_nodes : bool
        Whether the wrapper's search has nodes for passes.  D9

    Raises
    ------
    RuntimeError
        If all matches against a level fail.

    Source: [scheiermann2022] Sec. IV-A, Fig. 4. Deviations: D9, D20.
    """

    engine: str = "Rhino"
    levels: tuple = (1, 2, 3, 4, 5, 6, 7, 8, 9)
    iterations: int = 0
    mcts: int = 0
    pass_nodes: bool = False
    version: int = 1
    # what the shorter version calls its player; no part of what is measured
    said: str = field(default="", compare=False)

    def __post_init__(self):
        one_of("engine", self.engine, tuple(ENGINES))
        whole("iterations", self.iterations, 0), whole("mcts", self.mcts, 0)
        if self.iterations and self.mcts:
            raise ValueError("either the wrapped agent plays (iterations) or MCTS (mcts)")
        if not isinstance(self.levels, tuple) or not self.levels:
            raise ValueError(f"levels must be a tuple of numbers, not {self.levels!r}")
        self._rungs()

    def _rungs(self) -> list[Matches]:
        kind = ENGINES[self.engine]
        return [Matches(kind(level).name, partial(kind, level)) for level in self.levels]

    @property
    def label(self) -> str:
        """The player's name before the metrics, empty for the agent alone."""
        search = f"Wrapped-{self.iterations}" if self.iterations else ""
        return self.said or (f"MCTS-{self.mcts}" if self.mcts else search)

    @property
    def name(self) -> str:
        """Name of the measurement in records; from a higher level on it says which levels."""
        which = "" if self.levels[0] == 1 else " " + ", ".join(map(str, self.levels))
        return f"{self.label or 'alone'} v levels{which} of {self.engine}"

    @property
    def settings(self) -> dict:
        """What a record says besides name, version and fields."""
        kinds = (Wrapped, MCTS, ENGINES[self.engine])
        return {"player_versions": {kind.__name__: kind.version for kind in kinds}}

    def short(self) -> "Levels":
        """Return the first level against less search."""
        few = {"iterations": min(self.iterations, 50), "mcts": min(self.mcts, 50)}
        return replace(self, levels=self.levels[:1], said=self.label, **few)

    def extent(self, game) -> int:
        """Return the number of levels times the iterations of a move."""
        return len(self.levels) * max(1, self.iterations, self.mcts)

    def lacks(self) -> str:
        """Return what the engine needs and does not find here, or an empty text."""
        return self._rungs()[0].lacks()

    def cpu_seconds(self) -> float:
        """Return the CPU seconds of the engine's processes."""
        return ENGINES[self.engine].cpu_seconds()

    def __call__(self, game, agent, seed: int = 0) -> dict[str, float]:
        """Return metric -> value."""
        player, found = agent, {}
        if self.iterations:
            player = Wrapped(valued(agent), self.iterations, pass_nodes=self.pass_nodes)
        elif self.mcts:
            player = MCTS(self.mcts)
        for rung in self._rungs():
            rates = rung(game, player, seed)
            found |= {f"{self.label} {k}".strip(): v for k, v in rates.items()}
        return found
