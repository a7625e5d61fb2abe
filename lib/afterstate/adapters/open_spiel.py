"""OpenSpiel: their small games as ours, ours as theirs, and their bots as our players.

::

    from_spiel("tic_tac_toe")           a Game of ours with their rules, by a table of its states
    to_spiel(games.load("connect4"))    a pyspiel.Game with our rules, registered by its name
    mcts(simulations=1000)              their Monte Carlo tree search, as a player of ours
    Bot(make, name)                     any other bot of theirs

Our kernels call compiled rules, and a game of theirs is not compiled by us. So :func:`from_spiel`
walks through all its states once and makes tables of them: exact, for games that are small enough.
"""

import functools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..checks import number, whole
from ..games.game import Game, check_game
from .others import changed_parameters, third_party
from .spiel_games import SpielGame, to_spiel
from .spiel_tables import TABLE, game_of, table_of

pyspiel = third_party("pyspiel", "open-spiel")
python_mcts = third_party("open_spiel.python.algorithms.mcts", "open-spiel")

__all__ = ["Bot", "from_spiel", "mcts", "to_spiel", "twin"]

MAX_STATES = 100_000
MEMORY_MB = 1_000  # of the tree of their search, at most
COMPARED = 50  # random games in which a table is held against the rules that it comes from

# -------------------------------------------------------------------------------- theirs as ours


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
        state. Two states are one if player, rewards, text and observation are equal; that
        they also go on alike is checked at every step of the walk and in random games.

    Raises
    ------
    ValueError
        If there is no such game; if it has chance, hidden information or simultaneous moves; if it
        has too many states; or if what it shows does not determine how it goes on.

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
    for is_so, what in (
        (kind.dynamics == kind.Dynamics.SEQUENTIAL, "simultaneous moves"),
        (kind.chance_mode == kind.ChanceMode.DETERMINISTIC, "chance"),
        (kind.information == kind.Information.PERFECT_INFORMATION, "hidden information"),
    ):
        if not is_so:
            raise ValueError(f"the game {name!r} has {what}: it can not be made a table of states")
    game = game_of(table_of(theirs, whole("max_states", max_states)), theirs)
    _compare(game, theirs)
    return game


def _compare(game, theirs) -> None:
    """Play random games on both sides; raise ValueError where they part."""
    random = np.random.default_rng(0)
    for _ in range(COMPARED):
        s, state = game.start(), theirs.new_initial_state()
        while True:
            over = state.is_terminal()
            legal = sorted(state.legal_actions())
            same = over == game.over(s) and np.array_equal(state.returns(), game.score(s))
            if not same or legal != sorted(game.legal(s).tolist()):
                raise ValueError(
                    f"what {game.name} shows does not determine how it goes on: after"
                    f" {state.history()} the table is wrong, so it can not be made one"
                )
            if over:
                break
            action = int(random.choice(legal))
            s = game.play(s, action)
            state.apply_action(action)


# --------------------------------------------------------------------------- their bots as players


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
    if str(game.version).startswith(TABLE):
        return Twin(game.name, lambda player, action: action)
    changed = changed_parameters(game)
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
    same = {"tictactoe": "tic_tac_toe", "connect4": "connect_four", "othello": "othello"}
    if game.name in same and not changed:
        return Twin(same[game.name], lambda player, action: action)
    return None


class Bot:
    """A bot of OpenSpiel as a player.

    It plays their game where they have the same one (:func:`twin`): fast, but it must know the
    moves from the start, and it hears those of the others. Else it plays ours as theirs
    (:func:`to_spiel`): much slower, and it is shown each position instead.

    Parameters
    ----------
    make : callable
        ``make(game, seat, seed)`` returns the pyspiel.Bot for a match.
    name : str

    Raises
    ------
    ValueError
        In :meth:`choose`, if the bot does not know the position by its moves from the default
        start.

    Examples
    --------
    >>> import pyspiel
    >>> from afterstate import arena, games
    >>> from afterstate.adapters import open_spiel
    >>> make = lambda game, seat, seed: pyspiel.make_uniform_random_bot(seat, seed)
    >>> random = open_spiel.Bot(make, "OpenSpiel random")
    >>> perfect = open_spiel.mcts(2000)
    >>> float(arena.match(games.load("tictactoe"), [perfect, random], seed=1).scores[0])
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
        if self.twin:
            for action in actions_from_start:
                self._follow(int(action))

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
        """Follow the moves of all players, and tell the bot those of the others."""
        if self.twin:
            self._follow(int(action))

    def _follow(self, action):
        """Make a move on their board."""
        self._pass()
        mover = self.state.current_player()
        theirs = self.twin.action(mover, action)
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

    It is their MCTSBot in C++ where they have the game, and the one in Python where they play ours:
    that in C++ crashes in games that are written in Python (OpenSpiel 2.0.2).

    Parameters
    ----------
    simulations : int
        For each move.
    c : float
        Weight of exploration in UCT.
    rollouts : int
        Random games at each leaf.
    """
    make = functools.partial(
        _mcts_bot,
        simulations=whole("simulations", simulations),
        c=number("c", c, 0.0),
        rollouts=whole("rollouts", rollouts),
    )
    return Bot(make, f"OpenSpiel-MCTS-{simulations}")


def _mcts_bot(game, seat, seed, simulations, c, rollouts):
    """Return their search with its own chance from `seed`."""
    if isinstance(game, SpielGame):
        random = np.random.RandomState(seed)
        evaluator = python_mcts.RandomRolloutEvaluator(rollouts, random)
        return python_mcts.MCTSBot(game, c, simulations, evaluator, True, random)
    evaluator = pyspiel.RandomRolloutEvaluator(rollouts, seed)
    return pyspiel.MCTSBot(game, evaluator, c, simulations, MEMORY_MB, True, seed, False)
