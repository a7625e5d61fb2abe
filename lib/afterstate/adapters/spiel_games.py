"""Games of ours for OpenSpiel, in Python: their algorithms and bots call our rules."""

import numpy as np

from ..checks import whole
from ..games.game import check_game
from .others import Encoder, changed_parameters, third_party

pyspiel = third_party("pyspiel", "open-spiel")
observation = third_party("open_spiel.python.observation", "open-spiel")

MAX_PLIES = 10_000
MAX_OUTCOMES = 1_000  # of a chance node, as OpenSpiel is told

SHARED = {}  # name in OpenSpiel -> our game


def to_spiel(game, max_game_length: int = MAX_PLIES, zero_sum: bool | None = None):
    """Make a game of OpenSpiel's of one of ours, and register it under its name.

    Parameters
    ----------
    game : Game
        Its start must not be random; chance after a move must be listed (rules `outcomes` and
        `outcome`).
    max_game_length : int
        What OpenSpiel is told as the most plies of a game.
    zero_sum : bool, optional
        Whether the final rewards add up to 0; default: for two players with a range of rewards from
        -x to x.

    Returns
    -------
    pyspiel.Game
        Named ``afterstate_`` and the game's name and parameters; ``pyspiel.load_game`` knows it
        from now on, in this process. Actions are ours, chance outcomes are numbered. The whole
        reward is paid at the end.

    Raises
    ------
    ValueError
        If the game begins at random, or its chance is not listed.

    Examples
    --------
    >>> import pyspiel
    >>> from afterstate import games
    >>> from afterstate.adapters import open_spiel
    >>> theirs = open_spiel.to_spiel(games.load("tictactoe"), max_game_length=9)
    >>> state = pyspiel.load_game("afterstate_tictactoe").new_initial_state()
    >>> state.apply_action(4)
    >>> state.current_player(), state.legal_actions()
    (1, [0, 1, 2, 3, 5, 6, 7, 8])
    """
    check_game(game, "OpenSpiel")
    if any((game.start(seed) != game.start()).any() for seed in range(1, 20)):
        raise ValueError(
            f"{game.name} begins at random, and OpenSpiel needs the probability of every outcome"
        )
    if not game.deterministic:
        game.outcomes(game.play(game.start(), game.legal(game.start())[0]))  # or ValueError
    name = _spiel_name(game)
    if name not in SHARED:
        low, high = game.score_range
        zero_sum = game.players == 2 and low == -high if zero_sum is None else zero_sum
        kind = _kind(name, game, zero_sum)
        info = pyspiel.GameInfo(
            num_distinct_actions=game.actions,
            max_chance_outcomes=0 if game.deterministic else MAX_OUTCOMES,
            num_players=game.players,
            min_utility=low,
            max_utility=high,
            utility_sum=0.0 if zero_sum else None,
            max_game_length=whole("max_game_length", max_game_length),
        )
        SHARED[name] = game
        # OpenSpiel drops what it has registered after Python has ended: a class survives that
        pyspiel.register_game(kind, type(name, (SpielGame,), {"kind": kind, "info": info}))
    return pyspiel.load_game(name)


def _spiel_name(game) -> str:
    """Return the name of a game in OpenSpiel: of a home-made one with its version."""
    changed = changed_parameters(game)
    if changed is None:
        return f"afterstate_{game.name}_{game.version}"
    return "_".join(["afterstate", game.name, *(f"{k}_{v}" for k, v in changed.items())])


def _kind(name, game, zero_sum):
    """Return what OpenSpiel is told of the kind of a game."""
    chance = pyspiel.GameType.ChanceMode
    utility = pyspiel.GameType.Utility
    return pyspiel.GameType(
        short_name=name,
        long_name=repr(game),
        dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
        chance_mode=chance.DETERMINISTIC if game.deterministic else chance.EXPLICIT_STOCHASTIC,
        information=pyspiel.GameType.Information.PERFECT_INFORMATION,
        utility=utility.ZERO_SUM if zero_sum else utility.GENERAL_SUM,
        reward_model=pyspiel.GameType.RewardModel.TERMINAL,
        max_num_players=game.players,
        min_num_players=game.players,
        provides_information_state_string=True,
        provides_information_state_tensor=False,
        provides_observation_string=True,
        provides_observation_tensor=True,
        parameter_specification={},
    )


class SpielGame(pyspiel.Game):
    """One of our games, as OpenSpiel sees it; :func:`to_spiel` makes a class of each.

    Attributes
    ----------
    kind : pyspiel.GameType
    info : pyspiel.GameInfo
    """

    kind = info = None

    def __init__(self, params=None):
        super().__init__(self.kind, self.info, params or {})

    def new_initial_state(self):
        """Return the start of the game."""
        return SpielState(self)

    def make_py_observer(self, iig_obs_type=None, params=None):
        """Return what writes observations: the cells one-hot, or the history."""
        if iig_obs_type is None or (iig_obs_type.public_info and not iig_obs_type.perfect_recall):
            return CellsObserver(SHARED[self.get_type().short_name])
        return observation.IIGObserverForPublicInfoGame(iig_obs_type, params)


class SpielState(pyspiel.State):
    """A state of one of our games; OpenSpiel copies and saves its attributes, and nothing else.

    Attributes
    ----------
    s : int32 [size]
        Our state, or afterstate if chance is to decide.
    chance : bool
    name : str
        The game's in OpenSpiel.
    """

    def __init__(self, game):
        super().__init__(game)
        self.name, self.chance = game.get_type().short_name, False
        self.s = SHARED[self.name].start()

    def current_player(self):
        """Return who is to move, chance, or that the game is over."""
        if self.chance:
            return pyspiel.PlayerId.CHANCE
        return pyspiel.PlayerId.TERMINAL if self.is_terminal() else SHARED[self.name].player(self.s)

    def _legal_actions(self, player):
        return sorted(SHARED[self.name].legal(self.s).tolist())

    def chance_outcomes(self):
        """Return the numbers of the chance outcomes with their probabilities."""
        listed = SHARED[self.name].outcomes(self.s)
        return [(k, probability) for k, (_, probability) in enumerate(listed)]

    def _apply_action(self, action):
        game = SHARED[self.name]
        if self.chance:
            self.s, self.chance = game.outcomes(self.s)[action][0], False
        else:
            self.s, self.chance = game.play(self.s, action), not game.deterministic

    def _action_to_string(self, player, action):
        if player == pyspiel.PlayerId.CHANCE:
            return f"outcome {action}"
        return SHARED[self.name].action_name(self.s, action)

    def is_terminal(self):
        """Return whether the game is over."""
        return not self.chance and SHARED[self.name].over(self.s)

    def returns(self):
        """Return the final rewards, and zeros before the end."""
        game = SHARED[self.name]
        return game.score(self.s).tolist() if self.is_terminal() else [0.0] * game.players

    def __str__(self):
        text = SHARED[self.name].render(self.s)
        return f"{text}\n(chance)" if self.chance else text


class CellsObserver:
    """The cells of the board one-hot, then who is to move (nobody at the end or before chance)."""

    def __init__(self, game):
        self.look = Encoder(game)
        self.tensor = np.zeros(self.look.length + game.players, np.float32)
        self.dict = {"observation": self.tensor}

    def set_from(self, state, player):
        """Write what is seen of a state, the same for every player."""
        self.tensor[:] = 0.0
        self.tensor[: self.look.length] = self.look.cells(state.s)
        if state.current_player() >= 0:
            self.tensor[self.look.length + state.current_player()] = 1.0

    def string_from(self, state, player):
        """Return the board as text."""
        return str(state)
