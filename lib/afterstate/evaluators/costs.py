"""What an agent takes: how many weights it has, and moves whose time is the cost of the record."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from ..arena.starts import starts_random
from ..checks import whole
from ..games.rules.cube import GAMES as CUBES
from ..kernel.random import seed_from
from ..networks.ntuple import Network
from ..players.basic import duplicate, wrap
from ..players.wrapped import Wrapped
from .base import Evaluator, network_of, valued
from .cube import scramble
from .matches import Matches
from .playing import play_on


@dataclass(frozen=True)
class Size(Evaluator):
    """The number of weights of a network, over all players: ``num_weights``.

    It is the same for all runs unless their tuples are random walks over cells of different kinds.

    Source: [scheiermann2022] Table I.
    """

    name: str = "number of weights"
    version: int = 1

    def __call__(self, game, agent, seed: int = 0) -> dict[str, float]:
        """Return metric -> value."""
        net = network_of(agent)
        if not isinstance(net, Network) or net.game.identity != game.identity:
            raise ValueError(
                f"this evaluator measures n-tuple networks of {game.name}, not {net!r}"
            )
        return {"num_weights": float(net.weights.size)}


# what all games are searched with here, whatever suits one of them
PLAIN = {"scale": 1.0, "max_depth": None, "step_reward": 0.0}


@dataclass(frozen=True)
class Moves(Evaluator):
    """Games in which one agent makes all moves: their number, ``moves:Wrapped-100``.

    The time of a move is no result, because it depends on the machine: it is the cost that the
    record of this evaluation states, divided by this number
    (:func:`afterstate.reports.times.seconds`).

    Parameters
    ----------
    iterations : int
        Of the wrapper; 0: the agent alone.
    games : int
        Games, from random start positions; a cube begins after 8 twists.
    other : callable, optional
        Makes a player that plays instead of the agent, such as ``partial(players.MCTS, 10_000)``.
    most : int
        Moves after which a game is broken off.

    Source: [scheiermann2022] Sec. IV-D, Table IV.
    """

    iterations: int = 0
    games: int = 50
    other: Callable | None = None
    most: int = 200
    version: int = 1
    said: str = field(default="", compare=False)

    def __post_init__(self):
        whole("iterations", self.iterations, 0), whole("games", self.games)
        whole("most", self.most)

    @property
    def label(self) -> str:
        """The player's name in the metrics."""
        if self.other is not None:
            return self.said or self.other().name
        return self.said or (f"Wrapped-{self.iterations}" if self.iterations else "alone")

    @property
    def name(self) -> str:
        """Name of the measurement in records."""
        return f"moves of {self.label}"

    @property
    def settings(self) -> dict:
        """What a record says besides name, version and fields."""
        if self.other is None:
            return {"player_version": Wrapped.version}
        return {"player": Matches(self.label, self.other).settings["opponent"]}

    def short(self) -> "Moves":
        """Return four moves of the same player, or of one that searches less."""
        few = {"games": 1, "most": min(self.most, 4), "said": self.label}
        return replace(self, iterations=min(self.iterations, 100), **few)

    def extent(self, game) -> int:
        """Return the number of moves, at most, times the iterations of a move."""
        return self.games * self.most * max(1, self.iterations)

    def __call__(self, game, agent, seed: int = 0) -> dict[str, float]:
        """Return metric -> value."""
        net, made = valued(agent), 0
        if self.other is not None:
            player = self.other()
        else:
            player = Wrapped(net, self.iterations, **PLAIN) if self.iterations else wrap(net)
        for k in range(self.games):
            made += self._moves(game, player, seed_from(seed, k))
        return {f"moves:{self.label}": float(made)}

    def _moves(self, game, player, seed) -> int:
        """Play one game in all seats; return the number of moves."""
        if game.name in CUBES:
            state, actions = scramble(game, 8, seed), []
        else:
            state, actions = starts_random(game, 1, seed)[0]
        seated = [player if seat == 0 else duplicate(player) for seat in range(game.players)]
        for seat, one in enumerate(seated):
            one.new_match(game, list(actions), seat, seed_from(seed, seat))
        return play_on(game, seated, state, seed, self.most)[1]
