"""What is measured of agents that a search wraps at test time."""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal

from ....arena.matches import play_on, starts_all, starts_random, win_rate
from ....games.rules.cube import CUBES
from ....identity import identity, identity_of_fields
from ....kernel.random import new_rng, random_int, seed_from
from ....networks.ntuple import Network
from ....opponents.gtp import Edax, Rhino
from ....opponents.rating_pool import published_pool, rate, shared_copy
from ....players.basic import Random, duplicate, wrap
from ....players.saved import zoo_file
from ....players.searching import MCTS
from ....players.wrapped import Wrapped
from ...evaluators import Evaluator, Matches, network_for, played
from ...results import rows_of
from .cube_solving import scramble

WORDS = re.compile(r"agent|random|(UCT|next|share)-[1-9]\d*")  # players of `OneSeat`
MOST_PLIES = 6  # of `positions`
USUAL = "softmax", "best action"  # priors and leaf values of a wrapped agent
STRONG = 100, 1000  # iterations of the published agent's searches that others are rated among
BY_WRAPPED = {"player_version": Wrapped.version}  # a part of keys


def versions(*kinds) -> dict:
    """Return what keys say of kinds of players."""
    return {"player_versions": {kind.__name__: kind.version for kind in kinds}}


def named(iterations: int, c_puct=1.0, prior="softmax", leaf_value="best action") -> str:
    """Return the name of a wrapped agent, which says what is not the default.

    >>> named(100, prior="uniform")
    'Wrapped-100 (uniform)'
    """
    if not iterations:
        return "alone"
    words = [word for word in (prior, leaf_value) if word not in USUAL]
    words += [] if c_puct == 1.0 else [f"c_puct {c_puct:g}"]
    return f"Wrapped-{iterations}" + (f" ({', '.join(words)})" if words else "")


def columns_of(iterations: int, c_puct=1.0, prior="softmax", leaf_value="best action") -> dict:
    """Return the columns of a wrapped agent, which say what is not the default.

    >>> columns_of(100, prior="uniform")
    {'iterations': 100, 'variant': 'uniform'}
    """
    variant = ", ".join(word for word in (prior, leaf_value) if word not in USUAL)
    columns = {"iterations": iterations, "c_puct": 0 if c_puct == 1.0 else c_puct}
    return {name: value for name, value in (columns | {"variant": variant}).items() if value}


@dataclass(frozen=True)
class Wrapping(Evaluator):
    """Matches of the agent wrapped by a PUCT search, instead of the agent alone.

    Rows are those of `inner`, with `iterations`, `c_puct` and `variant` of the search if they are
    not the default. The settings are those of :class:`afterply.players.wrapped.Wrapped`.
    Source: [scheiermann2022] Sec. II-B. Deviations: D2, D3, D9.
    """

    inner: Matches
    iterations: int = 1000
    c_puct: float = 1.0
    prior: str = "softmax"
    leaf_value: str = "best action"
    pass_nodes: bool = False
    label = property(lambda self: named(self.iterations, self.c_puct, self.prior, self.leaf_value))
    name = property(lambda self: f"{self.label} v {self.inner.name}")
    needs = property(lambda self: self.inner.needs)
    _of = property(lambda self: {"of": self.inner.name, "version": self.inner.version})
    settings = property(lambda self: {"inner": self._of | self.inner.settings} | BY_WRAPPED)

    def _measure(self, game, agent, seed):
        how = {"prior": self.prior, "leaf_value": self.leaf_value, "pass_nodes": self.pass_nodes}
        player = Wrapped(network_for(game, agent), self.iterations, self.c_puct, **how)
        mine = columns_of(self.iterations, self.c_puct, self.prior, self.leaf_value)
        return [mine | row for row in self.inner(game, player, seed)]


@dataclass(frozen=True)
class Levels(Evaluator):
    """One match in each role, from the default start, against every level of an engine.

    Measures are ``win_rate``, in percent, and ``score``, with the engine as `opponent` and its
    `level`. `player` is empty or MCTS, `iterations` are those of its search.
    Source: [scheiermann2022] Sec. IV-A, Fig. 4. Deviations: D9, D20.
    """

    engine: Literal["Rhino", "Edax"] = "Rhino"
    levels: tuple[int, ...] = (1, 2, 3, 4, 5, 6, 7, 8, 9)
    iterations: int = 0  # of the wrapper; 0: the agent alone
    mcts: int = 0  # iterations of tree search, which plays instead of the agent; 0: the agent
    pass_nodes: bool = False  # whether the wrapper's search has nodes for passes

    def __post_init__(self):
        super().__post_init__()
        if self.iterations and self.mcts:
            raise ValueError("either the wrapped agent plays (iterations) or MCTS (mcts)")
        self._matches()  # refuses a level that the engine has not

    _kind = property(lambda self: Rhino if self.engine == "Rhino" else Edax)
    needs = property(lambda self: self._kind.needs)
    settings = property(lambda self: versions(Wrapped, MCTS, self._kind))
    _label = property(lambda self: f"MCTS-{self.mcts}" if self.mcts else named(self.iterations))

    @property
    def name(self) -> str:
        """A part of the key."""
        which = "" if self.levels[0] == 1 else " " + ", ".join(map(str, self.levels))
        return f"{self._label} v levels{which} of {self.engine}"

    def _matches(self) -> list[Matches]:
        kind = self._kind
        return [
            Matches(kind(n).name, partial(kind, n), columns={"opponent": self.engine, "level": n})
            for n in self.levels
        ]

    def _measure(self, game, agent, seed):
        player, mine = agent, columns_of(self.iterations)
        if self.mcts:
            player, mine = MCTS(self.mcts), {"player": "MCTS", "iterations": self.mcts}
        elif self.iterations:
            player = Wrapped(network_for(game, agent), self.iterations, pass_nodes=self.pass_nodes)
        return [mine | row for level in self._matches() for row in level(game, player, seed)]


def positions(game, number: int, seed: int = 0) -> list:
    """Return different start positions, drawn among all after the fewest plies that suffice."""
    if not game.deterministic:  # a game of chance has one start
        return [None] * number
    plies = 0
    while len(found := starts_all(game, plies)) < number and plies < MOST_PLIES:
        plies += 1
    rng = new_rng(seed)
    for k in range(min(number, len(found))):  # the first part of a shuffle
        j = k + int(random_int(rng, len(found) - k))
        found[k], found[j] = found[j], found[k]
    return found[:number]


@dataclass(frozen=True)
class AgainstItself(Evaluator):
    """A wrapped agent against the same agent alone, in both seats from `starts` positions.

    Measures, for each number of `iterations`, with the `opponent` agent and the `variant` of the
    search: ``win_rate`` in percent, and ``elo``, the rating difference that this rate means, with
    half a match added to the wins and to the losses, so that it is finite.
    Source: beyond [scheiermann2022]. Deviations: D2, D3.
    """

    iterations: tuple[int, ...] = (100, 1000)
    starts: int = 50
    prior: str = "softmax"
    leaf_value: str = "best action"
    measures, settings = object, BY_WRAPPED
    name = property(lambda self: f"wrapped against alone, {self.prior}, {self.leaf_value}")

    def _measure(self, game, net, seed):
        found, starts = [], positions(game, self.starts, seed)
        how = {"prior": self.prior, "leaf_value": self.leaf_value}
        for n in self.iterations:
            label = named(n, **how)
            players = {label: Wrapped(net, n, **how), "alone": net}
            own = played(game, players, starts, 1, seed).query("player != 'alone'")
            rate = win_rate(own.score, game.score_range)
            share = (rate * len(own) + 0.5) / (len(own) + 1)
            mine = columns_of(n, **how) | {"opponent": "agent"}
            found.append({"measure": "win_rate", **mine, "value": 100.0 * rate})
            elo = 400.0 * math.log10(share / (1.0 - share))
            found.append({"measure": "elo", **mine, "value": elo})
        return found


@dataclass(frozen=True)
class OneSeat(Evaluator):
    """Points of a player with one seat for himself, in each in turn, against copies of another.

    Players are "agent", "UCT-1000", "random", or the agent with a search around it, with what a
    leaf is worth for the others: "next-200", "share-200". Measure: ``points``, of the `player`
    (empty: the agent) against the `opponent`, in percent of the greatest reward; where the winner
    gets it a fair share is 100 / players.
    Source: beyond [scheiermann2022].
    """

    mine: str
    theirs: str
    starts: int = 50  # positions a few plies after the start
    measures, settings = object, versions(Wrapped, MCTS)
    name = property(lambda self: f"{self.mine} v {self.theirs}")

    def __post_init__(self):
        super().__post_init__()
        for word in (self.mine, self.theirs):
            if not WORDS.fullmatch(word):
                raise ValueError(
                    f"no player {word!r}; there are agent, random, UCT-9, next-9, share-9"
                )

    def _measure(self, game, net, seed):
        players = {"mine": _named(self.mine, net), "theirs": _named(self.theirs, net)}
        starts = positions(game, self.starts, seed)
        table = played(game, players, starts, 1, seed, seats="first")
        rate = win_rate(table.score[table.player == "mine"], game.score_range)
        mine = {} if self.mine == "agent" else {"player": self.mine}
        return [{"measure": "points", **mine, "opponent": self.theirs, "value": 100.0 * rate}]


def _named(word, net):
    kind, _, iterations = word.partition("-")
    if kind in ("agent", "random"):
        return net if kind == "agent" else Random()
    return MCTS(int(iterations)) if kind == "UCT" else Wrapped(net, int(iterations), others=kind)


@dataclass(frozen=True)
class Alone(Evaluator):
    """Games of a single player: the agent alone, or wrapped.

    Measures: ``points``, the mean final reward times `unit`, and ``moves``, the mean number of
    moves; `iterations` and `variant`, as in "scale 100, enumerated", are those of the search.
    Source: beyond [scheiermann2022] (Sec. VI). Deviations: D24.
    """

    iterations: int = 0  # 0: the agent alone
    games: int = 10
    scale: float = 1.0  # by which the wrapper multiplies values; Eq. (1) suits about 1
    chance: Literal["drawn", "enumerated"] = "drawn"
    unit: float = 1.0  # what a reward of 1 is in points of the game
    measures, settings = object, BY_WRAPPED

    @property
    def columns(self) -> dict:
        """The columns of the search."""
        drawn = "" if self.chance == "drawn" else f", {self.chance}"
        searching = {"iterations": self.iterations, "variant": f"scale {self.scale:g}{drawn}"}
        return searching if self.iterations else {}

    @property
    def label(self) -> str:
        """The player's name."""
        searching = "Wrapped-{iterations} ({variant})"
        return searching.format(**self.columns) if self.iterations else "alone"

    name = property(lambda self: f"points of {self.label}")

    def _measure(self, game, net, seed):
        if game.players != 1:
            raise ValueError(f"games of a single player are measured, not {game.name}")
        player, points, moves = wrap(net), [], []
        if self.iterations:
            player = Wrapped(net, self.iterations, scale=self.scale, chance=self.chance)
        for one in (seed_from(seed, k) for k in range(self.games)):
            player.new_match(game, [], 0, one)
            state, steps = play_on(game, [player], game.start(one), new_rng(one), 100_000)
            points.append(float(game.score(state)[0]))
            moves.append(len(steps))
        found = {"points": self.unit * (sum(points) / self.games)}
        found["moves"] = sum(moves) / self.games
        return rows_of(found, **self.columns)


@dataclass(frozen=True)
class Size(Evaluator):
    """The weights of a network, over all players: ``num_weights``. [scheiermann2022] Table I."""

    name, measures = "number of weights", Network

    def _measure(self, game, net, seed):
        return [{"measure": "num_weights", "value": float(net.weights.size)}]


@dataclass(frozen=True)
class Moves(Evaluator):
    """Games in which one agent makes all moves: their number, ``moves``.

    The `player` is empty for the agent; `iterations` or `depth` are those of its search. The time
    of a move is the cost that the record of this evaluation states, divided by the moves.
    Source: [scheiermann2022] Sec. IV-D, Table IV.
    """

    iterations: int = 0  # of the wrapper; 0: the agent alone
    games: int = 50  # from random start positions; a cube begins after 8 twists
    other: Callable | None = None  # makes a player that plays instead of the agent
    most: int = 200  # moves after which a game is broken off
    measures = object
    _label = property(lambda self: self.other().name if self.other else named(self.iterations))
    _made = property(lambda self: {"player": identity(self.other)})
    settings = property(lambda self: self._made if self.other else BY_WRAPPED)
    name = property(lambda self: f"moves of {self._label}")

    @property
    def columns(self) -> dict:
        """Who plays, in columns: the search of the agent, or another player and its search."""
        if not self.other:
            return columns_of(self.iterations)
        player = self.other()
        for what in ("iterations", "depth"):
            if number := getattr(player, what, 0):
                # of MCTS-100 and Min-Max-4-first
                name = player.name.replace(f"-{number}", "").removesuffix("-first")
                return {"player": name, what: number}
        return {"player": player.name}

    @property
    def identity(self) -> dict:
        """What keys hold: who plays instead of the agent stands there as `player` only."""
        said = identity_of_fields(self)
        if self.other:
            del said["settings"]["other"]
        return said

    def _player(self, net, **how):
        if self.other:
            return self.other()
        return Wrapped(net, self.iterations, **how) if self.iterations else wrap(net)

    def _measure(self, game, net, seed):
        # what all games are searched with here, whatever suits one of them
        made, player = 0, self._player(net, scale=1.0, max_depth=None, step_reward=0.0)
        for one in (seed_from(seed, k) for k in range(self.games)):
            if game.name in CUBES:
                state, actions = scramble(game, 8, one), []
            else:
                state, actions = starts_random(game, 1, one)[0]
            seated = [player, *(duplicate(player) for _ in range(game.players - 1))]
            for seat, each in enumerate(seated):
                each.new_match(game, list(actions), seat, seed_from(one, seat))
            made += len(play_on(game, seated, state, new_rng(one), self.most)[1])
        return [{"measure": "moves", **self.columns, "value": float(made)}]


@dataclass(frozen=True)
class Placed(Moves):
    """The player of :class:`Moves`, rated where searches around the published agent are rated, too.

    Measures are those of `afterply.opponents.rating_pool.rate`, with the columns of who plays.
    Source: beyond [scheiermann2022].
    """

    games: int = 5  # against each reference player, in each seat
    name = property(lambda self: f"rating of {self._label}")

    def reads(self, game) -> tuple:
        """Return the file of the published agent."""
        return (zoo_file(game),)

    def _measure(self, game, net, seed):
        game = shared_copy(game)
        found = rate(game, self._player(net), published_pool(game, self.games, STRONG), seed)
        return rows_of(found, **self.columns)


@dataclass(frozen=True)
class DirectGames(Moves):
    """The player of :class:`Moves` in games against another one, in both seats.

    Measure: ``win_rate``, in percent, with the columns of who plays and the `opponent`. A rating
    says how players do among the searches of one agent; this says how they do against each other.
    Source: beyond [scheiermann2022].
    """

    games: int = 10  # positions, a few plies after the start; two games from each
    opponent: Callable = Random  # makes the other player
    name = property(lambda self: f"{self._label} v {self.opponent().name}")

    def _measure(self, game, net, seed):
        other = self.opponent()
        players = {"mine": self._player(net), "other": other}
        table = played(game, players, positions(game, self.games, seed), 1, seed)
        rate = win_rate(table.score[table.player == "mine"], game.score_range)
        columns = self.columns | {"opponent": other.name}
        return [{"measure": "win_rate", **columns, "value": 100.0 * rate}]
