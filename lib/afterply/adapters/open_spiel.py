"""OpenSpiel: its small games as ours, ours as its own, its bots as our players, and ours as bots.

::

    from_spiel("tic_tac_toe")           a Game of ours with its rules, by a table of its states
    to_spiel(games.load("connect4"))    a pyspiel.Game with our rules, registered by its name
    mcts(simulations=1000)              its Monte Carlo tree search, as a player of ours
    Bot(make, name)                     any other of its bots
    to_bot(players.zoo("connect4"), "connect_four")    a player of ours as a pyspiel.Bot
"""

import functools
import hashlib
import re
from types import FunctionType
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..checks import needs, whole
from ..games import catalogue
from ..games.conformance import not_opposite
from ..games.game import Game, check_game
from ..identity import content_hash
from ..players.basic import game_of
from . import Mover, one_hot

if TYPE_CHECKING:
    import pyspiel
else:
    pyspiel = needs("pyspiel", "open-spiel")
observation = needs("open_spiel.python.observation", "open-spiel")

__all__ = ["Bot", "from_spiel", "mcts", "to_bot", "to_spiel"]

MAX_STATES = 100_000
MAX_PLIES = 10_000
MAX_OUTCOMES = 1_000  # of a chance node, as OpenSpiel is informed
MEMORY_MB = 1_000  # of the tree of its search, at most
EXPLORATION = 2.0  # its weight in that search
START_SEEDS = 100  # seeds with which a game that does not begin at random has the same start
COMPARED = 50  # random games in which a table is held against the rules that it comes from
TABLE = "table-"  # how the version of a game of tables begins
SAME = {"tictactoe": "tic_tac_toe", "connect4": "connect_four"}  # actions have the same numbers
SHARED = {}  # name in OpenSpiel -> our game


def from_spiel(name: str, max_states: int = MAX_STATES) -> Game:
    """Make a game of ours of one of OpenSpiel's: all its states, at most `max_states`, in tables.

    `name` is as ``pyspiel.load_game`` takes it. Actions are its own; the cells are its observation
    as far as it changes. ValueError if there is no such game; if it has chance, hidden information,
    simultaneous moves or too many states; or if what it shows does not determine how it goes on.

    >>> game = from_spiel("nim(pile_sizes=2;3)")
    >>> game.legal(game.start()).tolist(), game.players
    ([0, 1, 2, 3, 5], 2)
    """
    whole("max_states", max_states)
    theirs = _load(name)
    obstacle = _obstacle(theirs.get_type())
    if obstacle:
        what = f"the game {name!r} has {obstacle}"
        raise ValueError(f"{what}: it cannot be listed as a table of states")
    return tabulated(theirs, max_states)


def _load(name):
    """Return a game of OpenSpiel by its name; ValueError if there is none."""
    try:
        return pyspiel.load_game(name)
    except (pyspiel.SpielError, RuntimeError) as error:
        raise ValueError(f"OpenSpiel has no game {name!r}: {error}") from error


def _obstacle(kind) -> str:
    """Return what keeps games of a kind from being a table of states, or ""."""
    if kind.dynamics != kind.Dynamics.SEQUENTIAL:
        return "simultaneous moves"
    if kind.chance_mode != kind.ChanceMode.DETERMINISTIC:
        return "chance"
    if kind.information != kind.Information.PERFECT_INFORMATION:
        return "hidden information"
    return ""


class _Tables(NamedTuple):
    """The rules of a game as tables of its states, which are numbered from 0, the start."""

    first: np.ndarray  # int32 [states + 1]: the moves of state k are first[k] .. first[k + 1] - 1
    moves: np.ndarray  # int32 [edges]: actions
    targets: np.ndarray  # int32 [edges]: the state after each of the moves
    players: np.ndarray  # int32 [states]: who is to move
    ends: np.ndarray  # int8 [states]: whether the game is over
    scores: np.ndarray  # float64 [states, players]
    codes: np.ndarray  # int32 [states, cells]


def tabulated(theirs, max_states: int = MAX_STATES) -> Game:
    """Make a game of all states of a pyspiel.Game; a state is one number, 0 the start."""
    states, edges = _reachable(theirs, max_states)
    tables = _tables(theirs, states, edges)
    texts = [str(state) for state in states]
    names = {}
    for k, action, _ in edges:
        names[k, action] = states[k].action_to_string(states[k].current_player(), action)

    def render(s):
        return texts[s[0]]

    def action_name(s, action):
        return names.get((int(s[0]), int(action)), str(action))

    def fault(s):
        known = 0 <= s[0] < len(texts)
        return None if known else f"states are numbered from 0 to {len(texts) - 1}"

    content = b"".join(array.tobytes() for array in tables)
    game = Game(
        str(theirs).removesuffix("()"),
        **{rule.__name__: _not_kept(rule) for rule in _rules(tables)},
        players=tables.scores.shape[1],
        actions=theirs.num_distinct_actions(),
        max_legal=int(np.diff(tables.first).max()),
        size=1,
        num_codes=tables.codes.max(axis=0).astype(int) + 1,
        score_range=(theirs.min_utility(), theirs.max_utility()),
        version=TABLE + hashlib.sha256(content).hexdigest()[:12],
        render=render,
        action_name=action_name,
        fault=fault,
    )
    _compare(game, theirs)
    return game


def _reachable(theirs, max_states) -> tuple:
    """Return all states that can be reached, and (state, action, next state) by their numbers."""
    start = theirs.new_initial_state()
    states = [start]
    number_of = {_look(theirs, start): 0}
    edges = []
    for k, state in enumerate(states):  # which grows on the way
        for action in state.legal_actions():
            after = state.child(action)
            look = _look(theirs, after)
            if look not in number_of:
                number_of[look] = len(states)
                states.append(after)
            edges.append((k, action, number_of[look]))
        if len(states) > max_states:
            raise ValueError(
                f"the game {theirs} has more than {max_states:,} states: take a smaller board, or"
                " raise max_states"
            )
    return states, edges


def _tables(theirs, states, edges) -> _Tables:
    """Return the tables of all states; edges: of :func:`_reachable`."""
    origins, moves, targets = np.array(edges, np.int32).T.copy()
    first = np.searchsorted(origins, np.arange(len(states) + 1)).astype(np.int32)
    return _Tables(
        first=first,
        moves=moves,
        targets=targets,
        players=np.array([max(0, state.current_player()) for state in states], np.int32),
        ends=np.array([state.is_terminal() for state in states], np.int8),
        scores=np.array([state.returns() for state in states], np.float64),
        codes=_codes(theirs, states),
    )


def _rules(tables) -> tuple:
    """Return the rules of a game that look everything up in its tables."""
    first, moves, targets, players, ends, scores, codes = tables
    num_players = scores.shape[1]
    cells = codes.shape[1]

    def start(s, rng):
        s[0] = 0

    def legal(s, actions):
        n = 0
        for i in range(first[s[0]], first[s[0] + 1]):
            actions[n] = moves[i]
            n += 1
        return n

    def play(s, action):
        for i in range(first[s[0]], first[s[0] + 1]):
            if moves[i] == action:
                s[0] = targets[i]
                return

    def player(s):
        return players[s[0]]

    def over(s):
        return ends[s[0]] != 0

    def score(s, r):
        for p in range(num_players):
            r[p] = scores[s[0], p]

    def board(s, out):
        for c in range(cells):
            out[c] = codes[s[0], c]

    return start, legal, play, player, over, score, board


def _look(theirs, state) -> tuple:
    """Return all that a state shows, which distinguishes it from other states."""
    observation_bytes = b""
    if theirs.get_type().provides_observation_tensor:
        observation_bytes = np.asarray(state.observation_tensor(0), np.float32).tobytes()
    return (
        state.current_player(),
        tuple(state.returns()),
        str(state),
        observation_bytes,
        tuple(state.legal_actions()),
    )


def _codes(theirs, states) -> np.ndarray:
    """Return the codes of those cells that ever change, int32 [states, cells].

    If one plane is set on each place of the observations, the cells are these places. Else they are
    the entries of the observations, coded by the ranks of their values. If nothing changes, the
    only cell is the number of the state.
    """
    numbers = np.arange(len(states), dtype=np.int32)[:, None]
    if not theirs.get_type().provides_observation_tensor:
        return numbers
    observations = np.array([state.observation_tensor(0) for state in states], np.float32)
    shape = theirs.observation_tensor_shape()
    planes = observations.reshape(len(states), shape[0], -1)
    if len(shape) > 1 and _has_one_plane_each(planes):
        codes = planes.argmax(axis=1)
    else:
        ranks = [np.unique(entry, return_inverse=True)[1] for entry in observations.T]
        codes = np.stack(ranks, axis=1)
    is_changing = codes.max(axis=0) > 0
    if not is_changing.any():
        return numbers
    return np.ascontiguousarray(codes[:, is_changing], np.int32)


def _has_one_plane_each(planes) -> bool:
    """Return whether on every place of all states one plane is 1 and the others are 0."""
    is_binary = ((planes == 0) | (planes == 1)).all()
    return is_binary and (planes.sum(axis=1) == 1).all()


def _not_kept(rule):
    """Return a rule whose machine code stays in memory: that of large tables holds an address."""
    code = rule.__code__.replace(co_filename="<table of states>")
    return FunctionType(code, rule.__globals__, rule.__name__, None, rule.__closure__)


def _compare(game, theirs) -> None:
    """Raise ValueError if a game of tables differs from the original in random games."""
    rng = np.random.default_rng(0)
    for _ in range(COMPARED):
        s = game.start()
        state = theirs.new_initial_state()
        _require_same(game, s, state)
        while not state.is_terminal():
            action = int(rng.choice(sorted(state.legal_actions())))
            s = game.play(s, action)
            state.apply_action(action)
            _require_same(game, s, state)


def _require_same(game, s, state) -> None:
    """Raise ValueError unless end, scores and legal actions of a state are the same in both."""
    same_end = state.is_terminal() == game.over(s)
    same_scores = np.array_equal(state.returns(), game.score(s))
    same_actions = sorted(state.legal_actions()) == sorted(game.legal(s).tolist())
    if not (same_end and same_scores and same_actions):
        raise ValueError(
            f"what {game.name} shows does not determine how it goes on: after {state.history()} a"
            " table of it is wrong"
        )


def to_spiel(game, max_game_length: int = MAX_PLIES):
    """Return one of our games as a game of OpenSpiel.

    OpenSpiel registers it under ``get_type().short_name``, one name for each game with its settings
    and length. All rewards are paid at the end. If two players have opposite rewards, it is a
    zero-sum game; of a home-made game, random games decide this. The game and its states can be
    pickled.

    Parameters
    ----------
    game : Game
    max_game_length : int
        Longest possible game, in plies.

    Raises
    ------
    ValueError
        If the game begins at random, or if it has chance after a move and does not list the
        outcomes (rules `outcomes` and `outcome`).

    Examples
    --------
    >>> from afterply import games
    >>> theirs = to_spiel(games.load("tictactoe"), max_game_length=9)
    >>> theirs.new_initial_state().legal_actions()
    [0, 1, 2, 3, 4, 5, 6, 7, 8]
    """
    max_game_length = whole("max_game_length", max_game_length)
    check_game(game, "OpenSpiel")
    _require_one_start(game)
    if not game.deterministic:
        _require_listed_chance(game)
    name = _name_in_spiel(game, max_game_length)
    if name not in SHARED:
        SHARED[name] = game
        _register(name, game, max_game_length)
    return pyspiel.load_game(name)


def _require_one_start(game) -> None:
    """Raise ValueError if a game begins at random."""
    start = game.start()
    if any((game.start(seed) != start).any() for seed in range(START_SEEDS)):
        raise ValueError(f"{game.name} begins at random: OpenSpiel's games begin at one state")


def _require_listed_chance(game) -> None:
    """Raise ValueError unless the rules list what chance may do after a move."""
    start = game.start()
    game.outcomes(game.play(start, game.legal(start)[0]))


def _name_in_spiel(game, max_game_length) -> str:
    """Return a name of letters, digits and underscores that tells a game and its settings."""
    settings = game.spec["params"] if game.spec else {"": content_hash(game._arguments)}
    words = ["afterply", game.name]
    for key, value in (settings | {"plies": max_game_length}).items():
        words.append(f"{key}_{value}")
    return re.sub(r"\W+", "_", "_".join(words))


def _register(name, game, max_game_length) -> None:
    """Register a game in OpenSpiel under a name."""
    kind = pyspiel.GameType
    if game.deterministic:
        chance_mode = kind.ChanceMode.DETERMINISTIC
        max_outcomes = 0
    else:
        chance_mode = kind.ChanceMode.EXPLICIT_STOCHASTIC
        max_outcomes = MAX_OUTCOMES
    if game.players == 2 and not not_opposite(game):
        utility = kind.Utility.ZERO_SUM
        utility_sum = 0.0
    else:
        utility = kind.Utility.GENERAL_SUM
        utility_sum = None
    low, high = game.score_range
    game_type = kind(
        short_name=name,
        long_name=repr(game),
        dynamics=kind.Dynamics.SEQUENTIAL,
        chance_mode=chance_mode,
        information=kind.Information.PERFECT_INFORMATION,
        utility=utility,
        reward_model=kind.RewardModel.TERMINAL,
        max_num_players=game.players,
        min_num_players=game.players,
        provides_information_state_string=True,
        provides_information_state_tensor=False,
        provides_observation_string=True,
        provides_observation_tensor=True,
        parameter_specification={},
    )
    info = pyspiel.GameInfo(
        num_distinct_actions=game.actions,
        max_chance_outcomes=max_outcomes,
        num_players=game.players,
        min_utility=low,
        max_utility=high,
        utility_sum=utility_sum,
        max_game_length=max_game_length,
    )
    # OpenSpiel drops what it has registered after Python has ended: a class survives that
    game_class = type(name, (_SpielGame,), {"kind": game_type, "info": info})
    pyspiel.register_game(game_type, game_class)


class _SpielGame(pyspiel.Game):
    """One of our games, as OpenSpiel sees it; :func:`to_spiel` makes a class of each."""

    kind = info = None

    def __init__(self, params=None):
        super().__init__(self.kind, self.info, params or {})

    def __reduce__(self):
        return to_spiel, (SHARED[self.get_type().short_name], self.max_game_length())

    def new_initial_state(self):
        return _SpielState(self)

    def make_py_observer(self, iig_obs_type=None, params=None):
        if iig_obs_type is None or (iig_obs_type.public_info and not iig_obs_type.perfect_recall):
            return _CellsObserver(SHARED[self.get_type().short_name])
        return observation.IIGObserverForPublicInfoGame(iig_obs_type, params)


class _SpielState(pyspiel.State):
    """A state of one of our games, or with ``chance`` an afterstate; OpenSpiel saves it whole."""

    def __init__(self, game):
        super().__init__(game)
        self.name = game.get_type().short_name
        self.s = self.game.start()
        self.chance = False

    @property
    def game(self):
        return SHARED[self.name]

    def __reduce__(self):
        return _state_after, (self.game, self.get_game().max_game_length(), self.history())

    def __deepcopy__(self, memo):
        return self.clone()

    def current_player(self):
        if self.chance:
            return pyspiel.PlayerId.CHANCE
        return pyspiel.PlayerId.TERMINAL if self.is_terminal() else self.game.player(self.s)

    def _legal_actions(self, player):
        return sorted(self.game.legal(self.s).tolist())

    def chance_outcomes(self):
        return [(k, chance) for k, (_, chance) in enumerate(self.game.outcomes(self.s))]

    def _apply_action(self, action):
        if self.chance:
            self.s, _ = self.game.outcomes(self.s)[action]
            self.chance = False
        else:
            self.s = self.game.play(self.s, action)
            self.chance = not self.game.deterministic

    def _action_to_string(self, player, action):
        if player == pyspiel.PlayerId.CHANCE:
            return f"outcome {action}"
        return self.game.action_name(self.s, action)

    def is_terminal(self):
        return not self.chance and self.game.over(self.s)

    def returns(self):
        if not self.is_terminal():
            return [0.0] * self.game.players
        return self.game.score(self.s).tolist()

    def __str__(self):
        text = self.game.render(self.s)
        return f"{text}\n(chance)" if self.chance else text


def _state_after(game, max_game_length, history):
    """Return the state of OpenSpiel after some actions: how a state is unpickled."""
    state = to_spiel(game, max_game_length).new_initial_state()
    for action in history:
        state.apply_action(action)
    return state


class _CellsObserver:
    """The cells of the board one-hot, then who is to move (nobody at the end or before chance)."""

    def __init__(self, game):
        self.game = game
        self.tensor = np.zeros(int(game.num_codes.sum()) + game.players, np.float32)
        self.dict = {"observation": self.tensor}

    def set_from(self, state, player):
        mover = np.arange(self.game.players) == state.current_player()
        self.tensor[:] = np.concatenate([one_hot(self.game, state.s), mover])

    def string_from(self, state, player):
        return str(state)


def _same_game(game) -> str | None:
    """Return the name of the game of OpenSpiel that a game of ours is; None if it is none."""
    if str(game.version).startswith(TABLE):
        return game.name
    if game.name in SAME and game.identity == catalogue.load(game.name).identity:
        return SAME[game.name]
    return None


class Bot:
    """A bot of OpenSpiel as a player: ``make(game, seat, seed)`` makes that of a match.

    It plays games that OpenSpiel has as well, action by action: Tic-Tac-Toe and ConnectFour on
    their usual boards, and games of :func:`from_spiel`; ValueError for others, and for a position
    without the moves from the start. `name` is that in tables.
    """

    version = 1

    def __init__(self, make, name: str = "OpenSpiel bot"):
        if not callable(make):
            raise TypeError(f"a function (game, seat, seed) -> pyspiel.Bot is needed, not {make!r}")
        self.make = make
        self.name = name

    def __getstate__(self):
        return {"make": self.make, "name": self.name}

    def new_match(self, game, actions_from_start, seat, seed):
        """Begin a match: a new bot, and the moves so far."""
        name = _same_game(check_game(game, self.name))
        if name is None:
            raise ValueError(f"{self.name} plays a game of OpenSpiel's, not {game!r}")
        theirs = pyspiel.load_game(name)
        self.game = game
        self.seat = seat
        self.state = theirs.new_initial_state()
        self.bot = self.make(theirs, seat, int(seed) % 2**31)
        for action in actions_from_start:
            self.observe(action, None)

    def choose(self, state) -> int:
        """Return the bot's action."""
        if sorted(self.game.choices(state).tolist()) != self.state.legal_actions():
            raise ValueError(
                f"{self.name} knows a position by its moves from the default start: give them,"
                " (state, actions)"
            )
        return int(self.bot.step(self.state))

    def observe(self, action, state):
        """Follow the moves of all players, and inform the bot of the others'."""
        mover = self.state.current_player()
        if mover != self.seat:
            self.bot.inform_action(self.state, mover, int(action))
        self.state.apply_action(int(action))


def mcts(simulations: int = 1000) -> Bot:
    """Make a player of OpenSpiel's MCTS in C++ with its solver, `simulations` for each move."""
    simulations = whole("simulations", simulations)
    return Bot(functools.partial(_mcts_bot, simulations), f"OpenSpiel-MCTS-{simulations}")


def _mcts_bot(simulations, game, seat, seed):
    rollouts = pyspiel.RandomRolloutEvaluator(1, seed)
    return pyspiel.MCTSBot(game, rollouts, EXPLORATION, simulations, MEMORY_MB, True, seed, False)


def to_bot(player, game, seed: int = 0):
    """Return a player of ours as a bot of OpenSpiel, a ``pyspiel.Bot``.

    It moves for whoever is to move in the state that it is given, so one bot may take any seat.
    Each move is asked for by itself: a search begins with an empty tree.

    Parameters
    ----------
    player : player, function, network or session
        Such as ``players.zoo("connect4")``, a search around it, or ``players.MCTS(1000)``.
    game : pyspiel.Game or str
        One of :func:`to_spiel`, "connect_four", "tic_tac_toe", or the game of OpenSpiel behind a
        game of :func:`from_spiel` that the player knows (``player.playing(game)``).
    seed : int
        Of all chance in the moves of the bot.

    Raises
    ------
    ValueError
        If the game has no counterpart here, or the player cannot play it.

    Examples
    --------
    >>> from afterply import players
    >>> bot = to_bot(players.zoo("connect4"), "connect_four")
    >>> bot.step(pyspiel.load_game("connect_four").new_initial_state())
    3
    """
    theirs = _load(game) if isinstance(game, str) else game
    return _PlayerBot(Mover(player, _counterpart(theirs, player), seed))


def _counterpart(theirs, player) -> Game:
    """Return the game of ours that has the rules of a game of OpenSpiel."""
    name = str(theirs).removesuffix("()")
    if name in SHARED:
        return SHARED[name]
    known = [*map(catalogue.load, SAME), game_of(player)]
    for game in known:
        if game is not None and _same_game(game) == name:
            return game
    raise ValueError(
        f"{player!r} knows no counterpart of OpenSpiel's {name}: take {', '.join(SAME.values())}, a"
        " game of to_spiel, or a player of from_spiel(...)"
    )


class _PlayerBot(pyspiel.Bot):
    """A player of ours as a bot. The state that it is given tells all, so it keeps nothing."""

    def __init__(self, mover):
        super().__init__()
        self.mover = mover

    def step(self, state):
        moves = state.history()
        if isinstance(state, _SpielState):
            return self.mover(state.s, moves)
        return self.mover(self.mover.game.after(moves), moves)

    def restart(self):
        pass

    def restart_at(self, state):
        pass

    def inform_action(self, state, player, action):
        pass
