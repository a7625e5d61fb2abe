"""What is measured of agents that a search wraps at test time."""

import math
from dataclasses import dataclass, field, replace

from ..arena.matches import win_rate
from ..arena.starts import starts_all
from ..checks import number, whole
from ..kernel.random import new_rng, random_int, seed_from
from ..players.basic import wrap
from ..players.wrapped import Wrapped
from .base import Evaluator, valued
from .matches import Matches
from .playing import play_on, played


def named(iterations: int, c_puct=1.0, prior="softmax", leaf_value="best action") -> str:
    """Return the name of a wrapped agent, which tells what is not the default.

    >>> named(100, prior="uniform")
    'Wrapped-100 (uniform)'
    """
    words = [] if prior == "softmax" else [prior]
    words += [] if leaf_value == "best action" else [leaf_value]
    words += [] if c_puct == 1.0 else [f"c_puct {c_puct:g}"]
    return f"Wrapped-{iterations}" + (f" ({', '.join(words)})" if words else "")


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
    pass_nodes : bool
        As there.  D9

    Source: [scheiermann2022] Sec. II-B. Deviations: D2, D3, D9.

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
    pass_nodes: bool = False
    version: int = 1
    # what the shorter version calls its iterations; no part of what is measured
    said: int | None = field(default=None, compare=False)

    def __post_init__(self):
        whole("iterations", self.iterations)
        number("c_puct", self.c_puct, 0.0)

    @property
    def label(self) -> str:
        """The player's name in the metrics."""
        shown = self.said or self.iterations
        return named(shown, self.c_puct, self.prior, self.leaf_value)

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
            valued(agent),
            self.iterations,
            self.c_puct,
            prior=self.prior,
            leaf_value=self.leaf_value,
            pass_nodes=self.pass_nodes,
        )

    def __call__(self, game, agent, seed: int = 0) -> dict[str, float]:
        """Return metric -> value."""
        found = self.inner(game, self.player(agent), seed)
        return {f"{self.label} {metric}": value for metric, value in found.items()}


def positions(game, number: int, seed: int = 0, most_plies: int = 6) -> list:
    """Return so many different start positions, drawn among all after a few plies.

    The fewest plies are taken after which there are enough; if there never are, all positions after
    at most `most_plies`. A game of chance has one start, and chance does the rest.
    """
    if not game.deterministic:
        return [None] * number
    plies = 0
    while len(starts_all(game, plies)) < number and plies < most_plies:
        plies += 1
    found, rng = starts_all(game, plies), new_rng(seed)
    for k in range(min(number, len(found))):  # the first part of a shuffle
        j = k + int(random_int(rng, len(found) - k))
        found[k], found[j] = found[j], found[k]
    return found[:number]


@dataclass(frozen=True)
class AgainstItself(Evaluator):
    """A wrapped agent against the same agent alone, in both seats from different positions.

    Calling it with ``(game, agent, seed)``, where the agent is a network or a training session of a
    game for two, gives for each number of iterations ``win_rate:Wrapped-100`` in percent, and
    ``elo:Wrapped-100``, the rating difference that this rate means. For the rating half a match is
    added to the wins and to the losses, so that it is finite.

    Parameters
    ----------
    iterations : tuple of int
    starts : int
        Positions after a few plies; from each of them two matches are played.
    prior, leaf_value : str
        As in :class:`afterstate.players.wrapped.Wrapped`.

    Raises
    ------
    RuntimeError
        If a match fails.

    Source: beyond [scheiermann2022]. Deviations: D2, D3.
    """

    iterations: tuple = (100, 1000)
    starts: int = 50
    prior: str = "softmax"
    leaf_value: str = "best action"
    version: int = 1
    # no part of what is measured, nor of what records say
    said: str = field(default="", compare=False)

    def __post_init__(self):
        whole("starts", self.starts)
        for n in self.iterations:
            whole("iterations", n)

    @property
    def name(self) -> str:
        """Name of the measurement in records."""
        return self.said or f"wrapped against alone, {self.prior}, {self.leaf_value}"

    @property
    def settings(self) -> dict:
        """What a record says besides name, version and fields."""
        return {"player_version": Wrapped.version}

    def short(self) -> "AgainstItself":
        """Return one position and a short search."""
        return replace(self, iterations=(min(self.iterations[0], 20),), starts=1, said=self.name)

    def extent(self, game) -> int:
        """Return the number of positions times the iterations of a move."""
        return self.starts * sum(self.iterations)

    def __call__(self, game, agent, seed: int = 0) -> dict[str, float]:
        """Return metric -> value."""
        found, starts = {}, positions(game, self.starts, seed)
        for n in self.iterations:
            how = {"prior": self.prior, "leaf_value": self.leaf_value}
            label = named(n, **how)
            players = {label: Wrapped(valued(agent), n, **how), "alone": valued(agent)}
            table = played(game, players, starts, 1, seed)
            own = table[table.player == label]
            rate = win_rate(own.score, game.score_range)
            share = (rate * len(own) + 0.5) / (len(own) + 1)
            found |= {
                f"win_rate:{label}": 100.0 * rate,
                f"elo:{label}": 400.0 * math.log10(share / (1.0 - share)),
            }
        return found


@dataclass(frozen=True)
class Alone(Evaluator):
    """Games of a single player, whose mean reward is compared: the agent alone, and wrapped.

    Calling it with ``(game, agent, seed)`` gives ``points:alone`` (iterations 0) or
    ``points:Wrapped-100`` ..., the mean final reward times `unit`, and ``moves:...``, the mean
    number of moves.

    Parameters
    ----------
    iterations : int
        0: the agent alone.
    games : int
    scale : float
        What the wrapper multiplies values by; Eq. (1) suits values of about 1.
    chance : {"drawn", "enumerated"}
        D24
    unit : float
        What a reward of 1 is in points of the game.

    Source: beyond [scheiermann2022] (Sec. VI). Deviations: D24.
    """

    iterations: int = 0
    games: int = 10
    scale: float = 1.0
    chance: str = "drawn"
    unit: float = 1.0
    version: int = 1
    # no part of what is measured, nor of what records say
    said: str = field(default="", compare=False)
    most: int = field(default=100_000, compare=False)

    def __post_init__(self):
        whole("iterations", self.iterations, 0), whole("games", self.games)

    @property
    def label(self) -> str:
        """The player's name in the metrics."""
        if self.said or not self.iterations:
            return self.said or "alone"
        drawn = "" if self.chance == "drawn" else f", {self.chance}"
        return f"Wrapped-{self.iterations} (scale {self.scale:g}{drawn})"

    @property
    def name(self) -> str:
        """Name of the measurement in records."""
        return f"points of {self.label}"

    @property
    def settings(self) -> dict:
        """What a record says besides name, version and fields."""
        return {"player_version": Wrapped.version}

    def short(self) -> "Alone":
        """Return the first moves of one game with a short search."""
        few = {"iterations": min(self.iterations, 20), "games": 1, "most": min(self.most, 50)}
        return replace(self, said=self.label, **few)

    def extent(self, game) -> int:
        """Return the number of games times the iterations of a move."""
        return self.games * max(1, self.iterations)

    def __call__(self, game, agent, seed: int = 0) -> dict[str, float]:
        """Return metric -> value."""
        if game.players != 1:
            raise ValueError(f"games of a single player are measured, not {game.name}")
        player = wrap(valued(agent))
        if self.iterations:
            own = {"scale": self.scale, "chance": self.chance}
            player = Wrapped(valued(agent), self.iterations, **own)
        ends = [self._game(game, player, seed_from(seed, k)) for k in range(self.games)]
        points, moves = (sum(column) / len(ends) for column in zip(*ends))
        return {f"points:{self.label}": self.unit * points, f"moves:{self.label}": moves}

    def _game(self, game, player, seed) -> tuple[float, int]:
        """Play one game; return its reward and the number of moves."""
        player.new_match(game, [], 0, seed)
        state, moves = play_on(game, [player], game.start(seed), seed, self.most)
        return float(game.score(state)[0]), moves
