"""What is measured of agents that a search wraps at test time."""

from dataclasses import dataclass, field, replace

from ..checks import number, whole
from ..players.wrapped import Wrapped
from .base import Evaluator, network_of
from .matches import Matches


def described(inner: Matches) -> dict:
    """Return what a record says of the evaluation that another one hands its player to."""
    return {"of": inner.name, "version": inner.version} | inner.settings


@dataclass(frozen=True)
class Wrapping(Evaluator):
    """Matches of the agent wrapped by a PUCT search, instead of the agent alone.

    Calling it with ``(game, agent, seed)``, where the agent is a network or a training session,
    gives the metrics of `inner` with the player before them, as in ``Wrapped-1000
    win_rate:Bench``.

    Parameters
    ----------
    inner : Matches
    iterations : int
        Of the search before every move.
    c_puct : float
    prior, leaf_value : str
        As in :class:`afterstate.players.wrapped.Wrapped`; if they are not its defaults, the
        player's name says so.

    Source: [scheiermann2022] Sec. II-B.

    Examples
    --------
    >>> from functools import partial
    >>> from afterstate import games, players
    >>> from afterstate.evaluators.matches import Matches
    >>> from afterstate.evaluators.wrapped import Wrapping
    >>> from afterstate.networks.ntuple import Network
    >>> game = games.load("tictactoe")
    >>> evaluation = Wrapping(Matches("Max-N-9", partial(players.MaxN, 9)), iterations=500)
    >>> evaluation(game, Network(game, [[0, 1, 2]]))["Wrapped-500 win_rate:Max-N-9"]
    50.0
    """

    inner: Matches
    iterations: int = 1000
    c_puct: float = 1.0
    prior: str = "softmax"
    leaf_value: str = "best action"
    version: int = 1
    # what the shorter version calls its iterations; no part of what is measured
    said: int | None = field(default=None, compare=False)

    def __post_init__(self):
        whole("iterations", self.iterations)
        number("c_puct", self.c_puct, 0.0)

    @property
    def label(self) -> str:
        """The player's name in the metrics."""
        own = {"softmax": "", "best action": ""}
        words = [own.get(word, word) for word in (self.prior, self.leaf_value)]
        words += [] if self.c_puct == 1.0 else [f"c_puct {self.c_puct:g}"]
        said = ", ".join(word for word in words if word)
        return f"Wrapped-{self.said or self.iterations}" + (f" ({said})" if said else "")

    @property
    def name(self) -> str:
        """Name of the measurement in records."""
        return f"{self.label} v {self.inner.name}"

    @property
    def settings(self) -> dict:
        """What a record says besides name, version and fields."""
        return {"inner": described(self.inner), "player_version": Wrapped.version}

    def short(self) -> "Wrapping":
        """Return the same with the shorter matches and a shorter search, by the same name."""
        said, few = self.said or self.iterations, min(self.iterations, 100)
        return replace(self, inner=self.inner.short(), iterations=few, said=said)

    def extent(self, game) -> float:
        """Return the number of start positions times the iterations of one move."""
        return self.inner.extent(game) * self.iterations

    def lacks(self) -> str:
        """Return what the opponent needs and does not find here, or an empty text."""
        return self.inner.lacks()

    def cpu_seconds(self) -> float:
        """Return the CPU seconds of the opponent's processes."""
        return self.inner.cpu_seconds()

    def player(self, agent) -> Wrapped:
        """Return the wrapped agent."""
        return Wrapped(
            network_of(agent),
            self.iterations,
            self.c_puct,
            prior=self.prior,
            leaf_value=self.leaf_value,
        )

    def __call__(self, game, agent, seed: int = 0) -> dict[str, float]:
        """Return metric -> value."""
        found = self.inner(game, self.player(agent), seed)
        return {f"{self.label} {metric}": value for metric, value in found.items()}
