"""What is measured of a trained agent: the contract, and matches against copies of one opponent.

An evaluator is an object, or a plain function with a name, that is called with ``(game, agent,
seed)``. It returns ``{measure: finite number}``, or rows with columns as in
`afterply.studies.results`, and the same numbers in every process. The agent is a network or a
training session; evaluators that play matches also take a player. An evaluator may have::

    name, version    part of the keys of records; version is raised when the numbers change
    settings         a dictionary, and the dataclass fields: the rest of the keys
    needs            the optional engine that it plays with, a name of `players.optional.ENGINES`
    heavy            True if it needs much memory

What only one paper measures stands with it, in ``afterply.studies.papers.<key>``.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from functools import partial
from typing import Literal, get_args, get_origin

from ..arena.matches import STARTS, matches, win_rate
from ..checks import boolean, number, one_of, plain, whole
from ..identity import identity
from ..players.basic import is_session
from ..players.positional import Bench, Heur
from ..players.searching import MCTS, MaxN
from .results import rows_of

__all__ = ["Evaluator", "Matches", "NIM", "NIM3P", "NIM3P_MCTS"]
__all__ += ["OTHELLO_BENCH", "OTHELLO_HEUR", "TICTACTOE", "against"]

played = partial(matches, strict=True)


class Evaluator:
    """The base of evaluators: frozen dataclasses with a `name` and the method ``_measure``.

    `measures` is the kind of network that one takes (``object``: any with values; None: any agent).
    Fields are checked: whole numbers are positive, or also 0 where that is the default.
    """

    version = 1
    heavy = False
    needs = ""
    settings = {}
    measures = None

    def __post_init__(self):
        for declared in fields(self):
            value = _checked(declared, getattr(self, declared.name))
            # Plain, since keys of records know no types of numpy.
            object.__setattr__(self, declared.name, plain(value))

    def reads(self, game) -> tuple:
        """Return the published files, as in ``models/hex.npz``, on which its numbers depend."""
        return ()

    def __call__(self, game, agent, seed: int = 0) -> list[dict]:
        """Return rows: dictionaries of measure, value and further columns."""
        if self.measures:
            agent = network_for(game, agent, self.measures)
        return self._measure(game, agent, seed)


def _checked(declared, value):
    """Return the value of a field of a dataclass if it is of its declared type."""
    name = declared.name
    kind = declared.type
    defaults = declared.default if isinstance(declared.default, tuple) else [declared.default]
    least = 0 if 0 in defaults else 1
    if kind is int:
        return whole(name, value, least)
    if kind == tuple[int, ...]:
        if not isinstance(value, tuple):
            raise ValueError(f"{name} must be a tuple of numbers, not {value!r}")
        return tuple(whole(name, one, least) for one in value)
    if kind is float:
        number(name, value)
    elif kind is bool:
        boolean(name, value)
    elif get_origin(kind) is Literal:
        one_of(name, value, get_args(kind))
    return value


@dataclass(frozen=True)
class Matches(Evaluator):
    """Matches of a trained agent in every seat against copies of one opponent.

    Measures are ``win_rate`` in percent and ``score`` in the game's unit, with the opponent.
    RuntimeError if any match failed. An engine may die just in matches that it loses, so the rest
    would be a biased sample.

    Source: [konen2021] Sec. 3.3, Table 1, App. A.6.
    """

    name: str  # in keys and tables
    opponent: Callable  # makes the opponent, such as ``partial(players.MaxN, 10)``
    # ("upto", plies), ("all", plies), ("random", number) or ("after", (actions, ...))
    starts: tuple = ("upto", 0)
    episodes: int = 1  # matches for every start and seat
    metrics: tuple = ("win_rate", "score")  # which measures
    # of the rows, if the name alone does not say them: {"opponent": "Rhino", "level": 4}
    columns: dict = field(default_factory=dict, compare=False)

    def __post_init__(self):
        super().__post_init__()
        if not callable(self.opponent):
            raise ValueError(f"opponent must make a player when called, not {self.opponent!r}")
        is_pair = isinstance(self.starts, tuple) and len(self.starts) == 2
        if not is_pair or self.starts[0] not in STARTS:
            schemes = " or ".join(STARTS)
            raise ValueError(f"starts must be ({schemes}, number), not {self.starts!r}")
        if not self.metrics or not set(self.metrics) <= {"win_rate", "score"}:
            raise ValueError(f"metrics must be of win_rate and score, not {self.metrics!r}")

    _kind = property(lambda self: getattr(self.opponent, "func", self.opponent))
    needs = property(lambda self: getattr(self._kind, "needs", ""))

    @property
    def settings(self) -> dict:
        """A part of the key."""
        return {
            "opponent": identity(self.opponent),
            "starts": list(self.starts),
            "episodes": self.episodes,
            "metrics": list(self.metrics),
        }

    def matches(self, game, agent, seed: int = 0):
        """Play the matches and return their long table; the agent's name in it is ``agent``."""
        scheme, argument = self.starts  # a number of plies or positions, or actions
        players = {"agent": agent, self.name: self.opponent()}
        starts = STARTS[scheme](game, argument, seed)
        return played(game, players, starts, self.episodes, seed, seats="first")

    def _measure(self, game, agent, seed):
        table = self.matches(game, agent, seed)
        scores = table.score[table.player == "agent"]
        values = {
            "win_rate": 100.0 * win_rate(scores, game.score_range),
            "score": float(scores.mean()),
        }
        columns = self.columns or {"opponent": self.name}
        return rows_of({name: values[name] for name in self.metrics}, **columns)


@dataclass(frozen=True)
class OfFunction(Evaluator):
    """An evaluator that is a plain function, with its name, and what else it states."""

    function: Callable  # (game, net, seed) -> {measure: value} or rows
    name = property(lambda self: self.function.__name__)
    version = property(lambda self: getattr(self.function, "version", 1))
    needs = property(lambda self: getattr(self.function, "needs", ""))
    heavy = property(lambda self: getattr(self.function, "heavy", False))

    def _measure(self, game, net, seed):
        return self.function(game, net, seed)


def as_evaluator(thing):
    """Return an evaluator: `thing`, or one made of a plain function; ValueError otherwise."""
    if callable(thing) and isinstance(getattr(thing, "name", None), str):
        return thing
    if callable(thing) and hasattr(thing, "__name__"):
        return OfFunction(thing)
    raise ValueError(
        f"{thing!r} is no evaluator: give a function (game, net, seed) -> {{measure: value}}"
        " with a name"
    )


def network_for(game, agent, kind=object):
    """Return the network of a session, or the network itself; ValueError if it is of no use."""
    net = agent.net if is_session(agent) else agent
    if kind is object:
        fits = callable(getattr(net, "action_values", None))
        what = "agents with values"
    else:
        fits = isinstance(net, kind) and net.game.identity == game.identity
        what = f"a {kind.__name__} of {game.name}"
    if not fits:
        raise ValueError(f"this evaluator measures {what}, not {agent!r}")
    return net


TICTACTOE = Matches("Max-N-10", partial(MaxN, 10), starts=("upto", 1))
NIM = Matches("Max-N-15", partial(MaxN, 15), starts=("random", 10))
_SCORE = {"starts": ("random", 10), "metrics": ("score",)}
NIM3P = Matches("Max-N-15", partial(MaxN, 15), episodes=10, **_SCORE)
NIM3P_MCTS = Matches("MCTS-5000", partial(MCTS, 5000), episodes=3, **_SCORE)
# all 244 sequences of four plies, both roles; Heur is no claim of the paper
OTHELLO_BENCH = Matches("Bench", partial(Bench), starts=("all", 4))
OTHELLO_HEUR = Matches("Heur", partial(Heur), starts=("all", 4))


def against(kind, level: int) -> Matches:
    """Return matches with a `kind`, Rhino or Edax, of a `level`: both roles, all 244 positions."""
    columns = {"opponent": kind.__name__, "level": level}
    return Matches(kind(level).name, partial(kind, level), starts=("all", 4), columns=columns)
