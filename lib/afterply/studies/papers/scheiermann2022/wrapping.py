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
    """Return what keys hold of kinds of players: their versions."""
    return {"player_versions": {kind.__name__: kind.version for kind in kinds}}


def named(iterations: int, c_puct=1.0, prior="softmax", leaf_value="best action") -> str:
    """Return the name of a wrapped agent, which says what is not the default.

    >>> named(100, prior="uniform")
    'Wrapped-100 (uniform)'
    """
    if not iterations:
        return "alone"
    words = _unusual(prior, leaf_value)
    if c_puct != 1.0:
        words.append(f"c_puct {c_puct:g}")
    if not words:
        return f"Wrapped-{iterations}"
    return f"Wrapped-{iterations} ({', '.join(words)})"


def columns_of(iterations: int, c_puct=1.0, prior="softmax", leaf_value="best action") -> dict:
    """Return the columns of a wrapped agent, which say what is not the default.

    >>> columns_of(100, prior="uniform")
    {'iterations': 100, 'variant': 'uniform'}
    """
    columns = {}
    if iterations:
        columns["iterations"] = iterations
    if c_puct not in (0, 1.0):
        columns["c_puct"] = c_puct
    words = _unusual(prior, leaf_value)
    if words:
        columns["variant"] = ", ".join(words)
    return columns


def _unusual(prior, leaf_value):
    """Return which of the two settings of a search are not the default."""
    return [word for word in (prior, leaf_value) if word not in USUAL]


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

    @property
    def settings(self) -> dict:
        """A part of the key."""
        inner = {"of": self.inner.name, "version": self.inner.version}
        return {"inner": inner | self.inner.settings} | BY_WRAPPED

    def _measure(self, game, agent, seed):
        player = Wrapped(
            network_for(game, agent),
            self.iterations,
            self.c_puct,
            prior=self.prior,
            leaf_value=self.leaf_value,
            pass_nodes=self.pass_nodes,
        )
        columns = columns_of(self.iterations, self.c_puct, self.prior, self.leaf_value)
        return [columns | row for row in self.inner(game, player, seed)]


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
        levels = ""
        if self.levels[0] != 1:
            levels = " " + ", ".join(map(str, self.levels))
        return f"{self._label} v levels{levels} of {self.engine}"

    def _matches(self) -> list[Matches]:
        """Return the matches with each level of the engine."""
        engine = self._kind
        matches = []
        for level in self.levels:
            columns = {"opponent": self.engine, "level": level}
            matches.append(Matches(engine(level).name, partial(engine, level), columns=columns))
        return matches

    def _measure(self, game, agent, seed):
        player = agent
        columns = columns_of(self.iterations)
        if self.mcts:
            player = MCTS(self.mcts)
            columns = {"player": "MCTS", "iterations": self.mcts}
        elif self.iterations:
            player = Wrapped(network_for(game, agent), self.iterations, pass_nodes=self.pass_nodes)
        rows = []
        for matches in self._matches():
            rows += [columns | row for row in matches(game, player, seed)]
        return rows


def positions(game, number: int, seed: int = 0) -> list:
    """Return different start positions, drawn among all after the fewest plies that suffice.

    Parameters
    ----------
    game : Game
        A game of chance has one start only: None, as often as asked.
    number : int
        How many positions. There are fewer if there are not so many after ``MOST_PLIES`` plies.
    seed : int
        What the draw follows from.
    """
    if not game.deterministic:
        return [None] * number
    plies = 0
    starts = starts_all(game, plies)
    while len(starts) < number and plies < MOST_PLIES:
        plies += 1
        starts = starts_all(game, plies)
    # The first part of a Fisher-Yates shuffle.
    rng = new_rng(seed)
    for k in range(min(number, len(starts))):
        other = k + int(random_int(rng, len(starts) - k))
        starts[k], starts[other] = starts[other], starts[k]
    return starts[:number]


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
    measures = object
    settings = BY_WRAPPED
    name = property(lambda self: f"wrapped against alone, {self.prior}, {self.leaf_value}")

    def _measure(self, game, net, seed):
        starts = positions(game, self.starts, seed)
        search = {"prior": self.prior, "leaf_value": self.leaf_value}
        rows = []
        for iterations in self.iterations:
            players = {
                named(iterations, **search): Wrapped(net, iterations, **search),
                "alone": net,
            }
            table = played(game, players, starts, 1, seed)
            scores = table[table.player != "alone"].score
            rate = win_rate(scores, game.score_range)
            smoothed = (rate * len(scores) + 0.5) / (len(scores) + 1)
            values = {
                "win_rate": 100.0 * rate,
                "elo": 400.0 * math.log10(smoothed / (1.0 - smoothed)),
            }
            rows += rows_of(values, **columns_of(iterations, **search), opponent="agent")
        return rows


@dataclass(frozen=True)
class OneSeat(Evaluator):
    """Points of a player in one seat, each in turn, against copies of another in all other seats.

    Players are "agent", "random", "UCT-1000" (tree search with so many iterations), or the agent
    with a search around it: "next-200" and "share-200" say what a leaf is worth for the others.
    Measure: ``points`` of the `player` (empty: the agent) against the `opponent`, in percent of the
    greatest reward. Where the winner gets all of it a fair share is 100 / players.
    Source: beyond [scheiermann2022].
    """

    mine: str
    theirs: str
    starts: int = 50  # positions a few plies after the start
    measures = object
    settings = versions(Wrapped, MCTS)
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
        columns = {"opponent": self.theirs}
        if self.mine != "agent":
            columns = {"player": self.mine, "opponent": self.theirs}
        return rows_of({"points": 100.0 * rate}, **columns)


def _named(word, net):
    """Return the player of `OneSeat` with this name."""
    if word == "agent":
        return net
    if word == "random":
        return Random()
    kind, _, iterations = word.partition("-")
    if kind == "UCT":
        return MCTS(int(iterations))
    return Wrapped(net, int(iterations), others=kind)


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
    measures = object
    settings = BY_WRAPPED

    @property
    def columns(self) -> dict:
        """The columns of the search."""
        if not self.iterations:
            return {}
        variant = f"scale {self.scale:g}"
        if self.chance != "drawn":
            variant += f", {self.chance}"
        return {"iterations": self.iterations, "variant": variant}

    @property
    def label(self) -> str:
        """The player's name."""
        if not self.iterations:
            return "alone"
        return f"Wrapped-{self.iterations} ({self.columns['variant']})"

    name = property(lambda self: f"points of {self.label}")

    def _measure(self, game, net, seed):
        if game.players != 1:
            raise ValueError(f"games of a single player are measured, not {game.name}")
        player = wrap(net)
        if self.iterations:
            player = Wrapped(net, self.iterations, scale=self.scale, chance=self.chance)
        rewards = []
        lengths = []
        for k in range(self.games):
            seed_of_game = seed_from(seed, k)
            player.new_match(game, [], 0, seed_of_game)
            start = game.start(seed_of_game)
            state, moves = play_on(game, [player], start, new_rng(seed_of_game), 100_000)
            rewards.append(float(game.score(state)[0]))
            lengths.append(len(moves))
        values = {
            "points": self.unit * (sum(rewards) / self.games),
            "moves": sum(lengths) / self.games,
        }
        return rows_of(values, **self.columns)


@dataclass(frozen=True)
class Size(Evaluator):
    """The weights of a network, over all players: ``num_weights``. [scheiermann2022] Table I."""

    name = "number of weights"
    measures = Network

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
    name = property(lambda self: f"moves of {self._label}")

    @property
    def settings(self) -> dict:
        """A part of the key."""
        if self.other:
            return {"player": identity(self.other)}
        return BY_WRAPPED

    @property
    def columns(self) -> dict:
        """Who plays, in columns: the search of the agent, or another player and its search."""
        if not self.other:
            return columns_of(self.iterations)
        player = self.other()
        for setting in ("iterations", "depth"):
            number = getattr(player, setting, 0)
            if number:
                # MCTS-100 is MCTS, and Min-Max-4-first is Min-Max
                name = player.name.replace(f"-{number}", "").removesuffix("-first")
                return {"player": name, setting: number}
        return {"player": player.name}

    @property
    def identity(self) -> dict:
        """What keys hold: who plays instead of the agent stands there as `player` only."""
        identity_in_keys = identity_of_fields(self)
        if self.other:
            del identity_in_keys["settings"]["other"]
        return identity_in_keys

    def _player(self, net, **search):
        """Return who plays: the other player, or the agent, with this search or alone."""
        if self.other:
            return self.other()
        if self.iterations:
            return Wrapped(net, self.iterations, **search)
        return wrap(net)

    def _measure(self, game, net, seed):
        # The same search in all games, not what suits each of them.
        player = self._player(net, scale=1.0, max_depth=None, step_reward=0.0)
        num_moves = 0
        for k in range(self.games):
            num_moves += self._moves_of_game(game, player, seed_from(seed, k))
        return [{"measure": "moves", **self.columns, "value": float(num_moves)}]

    def _moves_of_game(self, game, player, seed):
        """Play one game of a player against copies of itself; return the number of moves."""
        if game.name in CUBES:
            state = scramble(game, 8, seed)
            actions = []
        else:
            state, actions = starts_random(game, 1, seed)[0]
        seated = [player]
        while len(seated) < game.players:
            seated.append(duplicate(player))
        for seat, each in enumerate(seated):
            each.new_match(game, list(actions), seat, seed_from(seed, seat))
        _, moves = play_on(game, seated, state, new_rng(seed), self.most)
        return len(moves)


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
        pool = published_pool(game, self.games, STRONG)
        ratings = rate(game, self._player(net), pool, seed)
        return rows_of(ratings, **self.columns)


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
        opponent = self.opponent()
        players = {"mine": self._player(net), "other": opponent}
        table = played(game, players, positions(game, self.games, seed), 1, seed)
        scores = table.score[table.player == "mine"]
        percent = 100.0 * win_rate(scores, game.score_range)
        return rows_of({"win_rate": percent}, **self.columns, opponent=opponent.name)
