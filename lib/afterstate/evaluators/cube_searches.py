"""Solved cubes under a search with other settings than the paper's."""

from dataclasses import dataclass

from ..checks import boolean, number
from ..players.wrapped import Wrapped
from .cube import Solved


@dataclass(frozen=True)
class SolvedOtherwise(Solved):
    """How many cubes are solved with settings of the search that the paper is silent on.

    The metrics are those of :class:`afterstate.evaluators.cube.Solved`, with ``:unvisited-1`` and
    ``:path-rewards`` after the iterations, as in
    ``solved_rate:iterations-200:unvisited-1:twists-11``.

    Parameters
    ----------
    unvisited : float
        What the search takes for the mean value of an action that was never visited.  D26
    path_rewards : bool
        Whether the cost of every twist on the path to a leaf counts.  D10

    Raises
    ------
    ValueError
        If the agent is not searched (`iterations` 0), or a parameter is out of range.

    Source: beyond [scheiermann2022]. Deviations: D10, D26.

    Examples
    --------
    >>> from afterstate.evaluators.cube_searches import SolvedOtherwise
    >>> SolvedOtherwise(iterations=200, unvisited=1.0).name
    'solved cubes, iterations 200, unvisited 1'
    """

    iterations: int = 100
    unvisited: float = 0.0
    path_rewards: bool = False

    def __post_init__(self):
        super().__post_init__()
        if self.iterations == 0:
            raise ValueError("iterations=0 is no search; give at least 1")
        number("unvisited", self.unvisited)
        boolean("path_rewards", self.path_rewards)

    @property
    def _how(self) -> str:
        value = f":unvisited-{self.unvisited:g}" if self.unvisited != 0.0 else ""
        return super()._how + value + (":path-rewards" if self.path_rewards else "")

    def _player(self, net):
        return Wrapped(
            net,
            self.iterations,
            self.c_puct,
            max_depth=self.max_depth,
            step_reward=self.step_reward,
            unvisited=self.unvisited,
            path_rewards=self.path_rewards,
        )
