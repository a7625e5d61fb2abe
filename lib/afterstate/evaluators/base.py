"""What every evaluator of the package is made of, and the one way to get at an agent's network."""

from ..networks.table import QTable
from ..players.basic import is_session


class Evaluator:
    """A measurement of a trained agent; the contract stands in :mod:`afterstate.evaluators`.

    A subclass is a frozen dataclass whose fields are its settings in the keys of records. It has a
    `name` and says what it measures in ``__call__``; everything else has a default here.
    """

    version, heavy = 1, False

    @property
    def settings(self) -> dict:
        """What a record says besides name, version and fields."""
        return {}

    def __call__(self, game, agent, seed: int = 0) -> dict[str, float]:
        """Return metric -> value."""
        raise NotImplementedError(f"{type(self).__name__} does not say what it measures: __call__")

    def short(self) -> "Evaluator":
        """Return a cheaper evaluation of the same kind, which tells whether this one changed."""
        return self

    def extent(self, game) -> float:
        """Return how much is played; what the short version costs is scaled by it."""
        return 1

    def lacks(self) -> str:
        """Return what is missing here to measure, with the remedy, or an empty text."""
        return ""

    def cpu_seconds(self) -> float:
        """Return the CPU seconds so far of processes that it started, such as engines."""
        return 0.0


def network_of(agent):
    """Return the network of a training session, anything else as it is."""
    return agent.net if is_session(agent) else agent


def valued(agent):
    """Return the network of a training session, or the network itself.

    Raises ValueError if it has no values of actions.
    """
    net = network_of(agent)
    if not callable(getattr(net, "action_values", None)):
        raise ValueError(f"this evaluator measures networks and training sessions, not {agent!r}")
    return net


def table_of(game, agent) -> QTable:
    """Return the table of action values of a tabular session, or the table itself.

    Raises ValueError if the agent has none, or it belongs to another game.
    """
    net = network_of(agent)
    if not isinstance(net, QTable) or net.game.identity != game.identity:
        raise ValueError(
            f"this evaluator measures tables of action values of {game.name}, not {net!r}"
        )
    return net
