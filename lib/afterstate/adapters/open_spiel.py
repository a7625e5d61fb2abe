"""OpenSpiel: their small games as ours, ours as theirs, and their bots as our players.

::

    from_spiel("tic_tac_toe")           a Game of ours with their rules, by a table of its states
    to_spiel(games.load("connect4"))    a pyspiel.Game with our rules, registered by its name
    mcts(simulations=1000)              their Monte Carlo tree search, as a player of ours
    Bot(make, name)                     any other bot of theirs

Our kernels call compiled rules. So :func:`from_spiel` walks through all states of a game of theirs
once and makes tables of them: exact, for games that are small enough.
"""

import functools
import hashlib
import inspect
from collections.abc import Callable
from types import FunctionType
from typing import NamedTuple

import numpy as np

from ..checks import needs, number, whole
from ..games.game import Game, check_game
from . import one_hot

pyspiel = needs("pyspiel", "open-spiel")
observation = needs("open_spiel.python.observation", "open-spiel")
python_mcts = needs("open_spiel.python.algorithms.mcts", "open-spiel")

__all__ = ["Bot", "from_spiel", "mcts", "to_spiel", "twin"]

MAX_STATES = 100_000
MAX_PLIES = 10_000
MAX_OUTCOMES = 1_000  # of a chance node, as OpenSpiel is informed
MEMORY_MB = 1_000  # of the tree of their search, at most
COMPARED = 50  # random games in which a table is held against the rules that it comes from
TABLE = "table-"  # how the version of a game of tables begins
SHARED = {}  # name in OpenSpiel -> our game


# ------------------------------------------------------------------------- their games as ours
def from_spiel(name: str, max_states: int = MAX_STATES) -> Game:
    """Make a game of ours of one of OpenSpiel's: all its states in tables.

    Parameters
    ----------
    name : str
        As ``pyspiel.load_game`` takes it, with parameters, such as ``"hex(board_size=3)"``.
    max_states : int
        A game with more states is refused.

    Returns
    -------
    Game
        Actions are theirs. The cells are their observation as far as it changes from state to
        state. Two states are one if player, rewards, text and observation are equal; the walk and
        random games check that they also go on alike.

    Raises
    ------
    ValueError
        If there is no such game; if it has chance, hidden information, simultaneous moves or too
        many states; or if what it shows does not determine how it goes on.

    Examples
    --------
    >>> from afterstate.adapters import open_spiel
    >>> game = open_spiel.from_spiel("nim(pile_sizes=2;3)")
    >>> game.legal(game.start()).tolist(), game.players
    ([0, 1, 2, 3, 5], 2)
    """
    try:
        theirs = pyspiel.load_game(name)
    except (pyspiel.SpielError, RuntimeError) as error:
        raise ValueError(f"OpenSpiel has no game {name!r}: {error}") from error
    kind = theirs.get_type()
    for what, fits in {
        "simultaneous moves": kind.dynamics == kind.Dynamics.SEQUENTIAL,
        "chance": kind.chance_mode == kind.ChanceMode.DETERMINISTIC,
        "hidden information": kind.information == kind.Information.PERFECT_INFORMATION,
    }.items():
        if not fits:
            raise ValueError(f"the game {name!r} has {what}: it can not be made a table of states")
    game = game_of(_table_of(theirs, whole("max_states", max_states)), theirs)
    _compare(game, theirs)
    return game


class Table(NamedTuple):
    """The states of a game, by their number; 0 is the start.  `n` states, `m` moves from them."""

    # fmt: off
    first: np.ndarray    # int32 [n + 1]          the moves of state k are first[k] .. first[k + 1]
    moves: np.ndarray    # int32 [m]              the action
    targets: np.ndarray  # int32 [m]              the state that it leads to
    players: np.ndarray  # int32 [n]              who is to move; 0 at the end
    ends: np.ndarray     # int8 [n]               is the game over?
    scores: np.ndarray   # float64 [n, players]   cumulative rewards
    codes: np.ndarray    # int32 [n, cells]       what the cells hold
    texts: list          # [n]                    the state in words
    names: dict          # (state, action) -> the action in words
    # fmt: on


def _table_of(theirs, max_states: int) -> Table:
    start = theirs.new_initial_state()
    numbers, states, edges = {_look(theirs, start): 0}, [start], []
    legal = [start.legal_actions()]
    for k, state in enumerate(states):  # which grows on the way
        for action in legal[k]:
            after = state.child(action)
            look = _look(theirs, after)
            if look not in numbers:
                if len(states) >= max_states:
                    raise ValueError(
                        f"the game {theirs} has more than {max_states:,} states: take a smaller"
                        " board, or raise max_states"
                    )
                numbers[look] = len(states)
                states.append(after)
                legal.append(after.legal_actions())
            elif after.legal_actions() != legal[numbers[look]]:
                before = states[numbers[look]].history()
                raise ValueError(
                    f"what {theirs} shows does not determine what is legal: it looks alike after"
                    f" {after.history()} and after {before}"
                )
            edges.append((k, action, numbers[look]))
    origins, moves, targets = np.array(edges, np.int32).reshape(-1, 3).T.copy()
    counts = np.bincount(origins, minlength=len(states))
    return Table(
        first=np.concatenate([[0], np.cumsum(counts)]).astype(np.int32),
        moves=moves,
        targets=targets,
        players=np.array([max(0, state.current_player()) for state in states], np.int32),
        ends=np.array([state.is_terminal() for state in states], np.int8),
        scores=np.array([state.returns() for state in states], np.float64),
        codes=_codes(theirs, states),
        texts=[str(state) for state in states],
        names={
            (k, action): states[k].action_to_string(states[k].current_player(), action)
            for k, action, _ in edges
        },
    )


def _look(theirs, state) -> tuple:
    seen = b""
    if theirs.get_type().provides_observation_tensor:
        seen = np.asarray(state.observation_tensor(0), np.float32).tobytes()
    return (state.current_player(), tuple(state.returns()), str(state), seen)


def _codes(theirs, states) -> np.ndarray:
    """Return the codes of the cells of all states, int32 [n, cells].

    If exactly one of the observation's planes is set on every place, a cell is a place and its code
    the plane; else a cell is an entry, and its code the rank of its value. What never changes is
    left out. Without an observation the one cell is the number of the state.
    """
    only_number = np.arange(len(states), dtype=np.int32)[:, None]
    if not theirs.get_type().provides_observation_tensor:
        return only_number
    seen = np.array([state.observation_tensor(0) for state in states], np.float32)
    shape = theirs.observation_tensor_shape()
    planes = seen.reshape(len(states), shape[0], -1)
    if len(shape) > 1 and ((planes == 0) | (planes == 1)).all() and (planes.sum(axis=1) == 1).all():
        codes = planes.argmax(axis=1)
    else:
        codes = np.stack([np.unique(entry, return_inverse=True)[1] for entry in seen.T], axis=1)
    changing = codes.max(axis=0) > 0
    return np.ascontiguousarray(codes[:, changing], np.int32) if changing.any() else only_number


def game_of(table: Table, theirs) -> Game:
    """Make a game of ours of the table of a pyspiel.Game; its state is one number, the row."""
    name = str(theirs).removesuffix("()")
    first, moves, targets = table.first, table.moves, table.targets
    players, ends, scores, codes = table.players, table.ends, table.scores, table.codes
    num_players, cells = scores.shape[1], codes.shape[1]

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

    def render(s):
        return table.texts[s[0]]

    def parse(text):
        found = [k for k, known in enumerate(table.texts) if known == text]
        if len(found) != 1:
            raise ValueError(f"{len(found) or 'no'} states of {name} are written {text!r}")
        return np.array(found, np.int32)

    def action_name(s, action):
        return table.names.get((int(s[0]), int(action)), str(action))

    def fault(s):
        known = 0 <= s[0] < len(table.texts)
        return None if known else f"states are numbered from 0 to {len(table.texts) - 1}"

    rules = (start, legal, play, player, over, score, board)
    content = b"".join(array.tobytes() for array in table[:7])
    return Game(
        name,
        **{rule.__name__: _not_kept(rule) for rule in rules},
        players=num_players,
        actions=theirs.num_distinct_actions(),
        max_legal=int(np.diff(first).max()),
        size=1,
        num_codes=codes.max(axis=0).astype(int) + 1,
        score_range=(theirs.min_utility(), theirs.max_utility()),
        version=TABLE + hashlib.sha256(content).hexdigest()[:12],
        render=render,
        parse=parse,
        action_name=action_name,
        fault=fault,
    )


def _not_kept(rule):
    """Return a rule that is compiled like one of a notebook's cell: not kept on disk.

    Machine code holds small tables whole, and of large ones an address that is soon wrong.
    """
    code = rule.__code__.replace(co_filename="<table of states>")
    return FunctionType(code, rule.__globals__, rule.__name__, None, rule.__closure__)


def _compare(game, theirs) -> None:
    """Play random games on both sides; raise ValueError where they part."""
    random = np.random.default_rng(0)
    for _ in range(COMPARED):
        s, state, over = game.start(), theirs.new_initial_state(), False
        while not over:
            over, legal = state.is_terminal(), sorted(state.legal_actions())
            same = over == game.over(s) and np.array_equal(state.returns(), game.score(s))
            if not same or legal != sorted(game.legal(s).tolist()):
                raise ValueError(
                    f"what {game.name} shows does not determine how it goes on: after"
                    f" {state.history()} the table is wrong, so it can not be made one"
                )
            if not over:
                action = int(random.choice(legal))
                s = game.play(s, action)
                state.apply_action(action)


# ------------------------------------------------------------------------- our games as theirs
def to_spiel(game, max_game_length: int = MAX_PLIES, zero_sum: bool | None = None):
    """Make a game of OpenSpiel's of one of ours, and register it under its name.

    ``pyspiel.load_game`` knows it from now on, in this process, by ``afterstate_`` and the game's
    name and parameters. The whole reward is paid at the end.

    Parameters
    ----------
    game : Game
        Its start must not be random; chance after a move must be listed (rules `outcomes` and
        `outcome`), else ValueError.
    max_game_length : int
        In plies.
    zero_sum : bool, optional
        Whether the final rewards add up to 0; default: for two players with a range of rewards from
        -x to x.

    Examples
    --------
    >>> import pyspiel
    >>> from afterstate import games
    >>> from afterstate.adapters import open_spiel
    >>> theirs = open_spiel.to_spiel(games.load("tictactoe"), max_game_length=9)
    >>> pyspiel.load_game("afterstate_tictactoe").new_initial_state().legal_actions()
    [0, 1, 2, 3, 4, 5, 6, 7, 8]
    """
    check_game(game, "OpenSpiel")
    if any((game.start(seed) != game.start()).any() for seed in range(1, 20)):
        raise ValueError(
            f"{game.name} begins at random, and OpenSpiel needs the probability of every outcome"
        )
    if not game.deterministic:
        game.outcomes(game.play(game.start(), game.legal(game.start())[0]))  # or ValueError
    changed = _changed_parameters(game)
    words = [game.version] if changed is None else [f"{k}_{v}" for k, v in changed.items()]
    name = "_".join(["afterstate", game.name, *words])
    if name not in SHARED:
        low, high = game.score_range
        zero_sum = game.players == 2 and low == -high if zero_sum is None else zero_sum
        info = pyspiel.GameInfo(
            num_distinct_actions=game.actions,
            max_chance_outcomes=0 if game.deterministic else MAX_OUTCOMES,
            num_players=game.players,
            min_utility=low,
            max_utility=high,
            utility_sum=0.0 if zero_sum else None,
            max_game_length=whole("max_game_length", max_game_length),
        )
        kind = _kind(name, game, zero_sum)
        SHARED[name] = game
        # OpenSpiel drops what it has registered after Python has ended: a class survives that
        pyspiel.register_game(kind, type(name, (_SpielGame,), {"kind": kind, "info": info}))
    return pyspiel.load_game(name)


def _changed_parameters(game) -> dict | None:
    """Return the parameters of a game that are not its defaults; None for a home-made game."""
    if game.spec is None:
        return None
    usual = inspect.signature(game.maker).parameters
    return {k: v for k, v in game.spec["params"].items() if usual[k].default != v}


def _kind(name, game, zero_sum):
    kind = pyspiel.GameType
    chance, utility = kind.ChanceMode, kind.Utility
    return kind(
        short_name=name,
        long_name=repr(game),
        dynamics=kind.Dynamics.SEQUENTIAL,
        chance_mode=chance.DETERMINISTIC if game.deterministic else chance.EXPLICIT_STOCHASTIC,
        information=kind.Information.PERFECT_INFORMATION,
        utility=utility.ZERO_SUM if zero_sum else utility.GENERAL_SUM,
        reward_model=kind.RewardModel.TERMINAL,
        max_num_players=game.players,
        min_num_players=game.players,
        provides_information_state_string=True,
        provides_information_state_tensor=False,
        provides_observation_string=True,
        provides_observation_tensor=True,
        parameter_specification={},
    )


class _SpielGame(pyspiel.Game):
    """One of our games, as OpenSpiel sees it; :func:`to_spiel` makes a class of each."""

    kind = info = None

    def __init__(self, params=None):
        super().__init__(self.kind, self.info, params or {})

    def new_initial_state(self):
        return _SpielState(self)

    def make_py_observer(self, iig_obs_type=None, params=None):
        if iig_obs_type is None or (iig_obs_type.public_info and not iig_obs_type.perfect_recall):
            return _CellsObserver(SHARED[self.get_type().short_name])
        return observation.IIGObserverForPublicInfoGame(iig_obs_type, params)


class _SpielState(pyspiel.State):
    """A state of one of our games; OpenSpiel copies and saves its attributes, and nothing else.

    ``s``, int32 [size], is our state, or afterstate if ``chance`` is to decide; ``name`` is the
    game's in OpenSpiel.
    """

    def __init__(self, game):
        super().__init__(game)
        self.name, self.chance = game.get_type().short_name, False
        self.s = self.game.start()

    @property
    def game(self):
        return SHARED[self.name]

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
            self.s, self.chance = self.game.outcomes(self.s)[action][0], False
        else:
            self.s, self.chance = self.game.play(self.s, action), not self.game.deterministic

    def _action_to_string(self, player, action):
        if player == pyspiel.PlayerId.CHANCE:
            return f"outcome {action}"
        return self.game.action_name(self.s, action)

    def is_terminal(self):
        return not self.chance and self.game.over(self.s)

    def returns(self):
        over = self.is_terminal()
        return self.game.score(self.s).tolist() if over else [0.0] * self.game.players

    def __str__(self):
        text = self.game.render(self.s)
        return f"{text}\n(chance)" if self.chance else text


class _CellsObserver:
    """The cells of the board one-hot, then who is to move (nobody at the end or before chance)."""

    def __init__(self, game):
        self.game = game
        self.tensor = np.zeros(int(game.num_codes.sum()) + game.players, np.float32)
        self.dict = {"observation": self.tensor}

    def set_from(self, state, player):
        cells, mover = one_hot(self.game, state.s), state.current_player()
        self.tensor[: len(cells)] = cells
        self.tensor[len(cells) :] = np.arange(self.game.players) == mover

    def string_from(self, state, player):
        return str(state)


# ---------------------------------------------------------------------- their bots as our players
class Twin(NamedTuple):
    """A game of ours in OpenSpiel: its name there, and their number of what a player does."""

    name: str
    action: Callable  # (player, our action) -> their action


def twin(game) -> Twin | None:
    """Return the same game in OpenSpiel, if it is known to have it and as one action to ours.

    That is so for Tic-Tac-Toe, ConnectFour, Othello, Hex, Nim, Kalah, all but Hex and Nim with
    the usual parameters, and for what :func:`from_spiel` made.

    Examples
    --------
    >>> from afterstate import games
    >>> from afterstate.adapters import open_spiel
    >>> theirs = open_spiel.twin(games.load("hex", size=4))
    >>> theirs.name, theirs.action(0, 1)  # there the first player joins the rows
    ('hex(board_size=4)', 4)
    """

    def same(player, action):
        return action

    if str(game.version).startswith(TABLE):
        return Twin(game.name, same)
    changed = _changed_parameters(game)
    if changed is None:
        return None
    params = game.spec["params"]
    if game.name == "hex" and set(changed) <= {"size"}:
        n = params["size"]
        return Twin(f"hex(board_size={n})", lambda player, action: n * (action % n) + action // n)
    if game.name == "nim" and (params["take"] or params["stones"]) >= params["stones"]:
        heaps, most = params["heaps"], params["stones"]
        piles = ";".join([str(most)] * heaps)
        return Twin(
            f"nim(is_misere={params['misere']},pile_sizes={piles})",
            lambda player, action: action % most * heaps + action // most,
        )
    if game.name == "kalah" and not changed:
        return Twin("mancala", lambda player, action: 1 + 7 * player + action)
    theirs = {"tictactoe": "tic_tac_toe", "connect4": "connect_four", "othello": "othello"}
    return Twin(theirs[game.name], same) if game.name in theirs and not changed else None


class Bot:
    """A bot of OpenSpiel as a player.

    It plays their game where they have the same one (:func:`twin`): fast, but it must know the
    moves from the start, else ValueError. Else it plays ours as theirs (:func:`to_spiel`): much
    slower, and it is shown each position instead.

    Parameters
    ----------
    make : callable
        ``make(game, seat, seed)`` returns the pyspiel.Bot for a match.
    name : str

    Examples
    --------
    >>> import pyspiel
    >>> from afterstate import arena, games
    >>> from afterstate.adapters import open_spiel
    >>> random = open_spiel.Bot(lambda game, *given: pyspiel.make_uniform_random_bot(*given))
    >>> seats = [open_spiel.mcts(2000), random]
    >>> float(arena.match(games.load("tictactoe"), seats, seed=1).scores[0])
    1.0
    """

    version = 1

    def __init__(self, make, name: str = "OpenSpiel bot"):
        if not callable(make):
            raise TypeError(f"a function (game, seat, seed) -> pyspiel.Bot is needed, not {make!r}")
        self.make, self.name = make, name

    def __getstate__(self):
        return {"make": self.make, "name": self.name}

    def copy(self):
        """Return the same player for another seat."""
        return type(self)(self.make, self.name)

    def new_match(self, game, actions_from_start, seat, seed):
        """Begin a match: a new bot, and for a twin the moves so far."""
        check_game(game, self.name)
        self.game, self.seat, self.twin = game, seat, twin(game)
        theirs = pyspiel.load_game(self.twin.name) if self.twin else to_spiel(game)
        self.bot = self.make(theirs, seat, int(seed % 2**31))
        self.state = theirs.new_initial_state()
        for action in actions_from_start:
            self.observe(action, None)

    def choose(self, state) -> int:
        """Return the bot's action."""
        if not self.twin:
            self.state.s, self.state.chance = np.array(state), False
            return int(self.bot.step(self.state))
        self._pass()
        player = self.game.player(state)
        ours = {self.twin.action(player, a): a for a in self.game.legal(state).tolist()}
        if self.state.is_terminal() or self.state.legal_actions() != sorted(ours):
            raise ValueError(
                f"{self.name} knows a position by its moves from the default start: give them,"
                " (state, actions)"
            )
        return ours[int(self.bot.step(self.state))]

    def observe(self, action, state):
        """Follow the moves of all players on a twin's board, and inform the bot of the others'."""
        if not self.twin:
            return
        self._pass()
        mover = self.state.current_player()
        theirs = self.twin.action(mover, int(action))
        if mover != self.seat:
            self.bot.inform_action(self.state, mover, theirs)
        self.state.apply_action(theirs)

    def _pass(self):
        """Make the passes that are actions of their own in their Othello."""
        if self.game.name == "othello":
            while self.state.legal_actions() == [self.game.actions]:
                self.state.apply_action(self.game.actions)


def mcts(simulations: int = 1000, c: float = 2.0, rollouts: int = 1) -> Bot:
    """Make a player of OpenSpiel's Monte Carlo tree search, with its solver.

    `simulations` are for each move, `c` weighs exploration in UCT, `rollouts` are random games at
    each leaf. It is their MCTSBot in C++ where they have the game, and the one in Python where they
    play ours: that in C++ crashes in games that are written in Python (OpenSpiel 2.0.2).
    """
    given = whole("simulations", simulations), number("c", c, 0.0), whole("rollouts", rollouts)
    return Bot(functools.partial(_mcts_bot, *given), f"OpenSpiel-MCTS-{simulations}")


def _mcts_bot(simulations, c, rollouts, game, seat, seed):
    if isinstance(game, _SpielGame):
        random = np.random.RandomState(seed)
        evaluator = python_mcts.RandomRolloutEvaluator(rollouts, random)
        return python_mcts.MCTSBot(game, c, simulations, evaluator, True, random)
    evaluator = pyspiel.RandomRolloutEvaluator(rollouts, seed)
    return pyspiel.MCTSBot(game, evaluator, c, simulations, MEMORY_MB, True, seed, False)
