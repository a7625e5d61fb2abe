"""Games as Python sees them: playing, looking, and the check of what is new.

What a game is made of stands in ``definition.py``.
"""

import numpy as np

from ..kernel.random import new_rng
from . import validation
from .calls import (
    call_board,
    call_chance,
    call_heuristic,
    call_key,
    call_legal,
    call_outcome,
    call_outcomes,
    call_over,
    call_play,
    call_player,
    call_score,
    call_start,
    start_from_scheme,
)
from .definition import Definition
from .svg import view
from .tryout import try_out


class Game(Definition):
    """A game that can be played and looked at from Python, action by action.

    It is made with the parameters of :class:`~afterstate.games.definition.Definition`: the rules as
    plain functions, and sizes.
    """

    def __reduce__(self):
        return super().__reduce__() if self.maker is None else (made_by, (self.maker, self.spec))

    def start(self, seed: int = 0) -> np.ndarray:
        """Return the initial state, int32[size]; `seed` matters only where the start is random."""
        return self._guarded(
            "start",
            lambda s: call_start(self.rules, s, new_rng(seed)),
            np.zeros(self.size, np.int32),
            "size",
        )[1]

    def legal(self, s) -> np.ndarray:
        """Return the legal actions of a non-terminal state, int32[n] (a copy).

        None when the game is over.
        """
        s, moves = self._state(s, True), np.zeros(self.max_legal, np.int32)
        if call_over(self.rules, s):
            return moves[:0]
        n, moves = self._guarded(
            "legal", lambda out: call_legal(self.rules, s, out), moves, "max_legal"
        )
        if not 0 <= n <= self.max_legal:
            raise ValueError(
                f"game {self.name!r}: the rule 'legal' returns {n} at {s.tolist()}; it must return"
                f" how many actions it wrote, at most max_legal={self.max_legal}"
            )
        if n and not 0 <= moves[:n].min() <= moves[:n].max() < self.actions:
            raise ValueError(
                f"game {self.name!r}: the rule 'legal' gives {moves[:n].tolist()} at {s.tolist()};"
                f" actions are 0 to actions - 1 = {self.actions - 1}"
            )
        return moves[:n]

    def play(self, s, action) -> np.ndarray:
        """Return the afterstate of `action`; raises ValueError if it is not legal in `s`.

        Source: [konen2021] Alg. 6, line 2.
        """
        s = self._state(s, True)
        if action not in self.legal(s):
            raise ValueError(self._not_legal(s, action))
        return self._guarded(
            "play", lambda after: call_play(self.rules, after, int(action)), s, "size"
        )[1]

    def _not_legal(self, s, action) -> str:
        """Say in words why an action can not be played."""
        legal = self.legal(s).tolist()
        if legal:
            return f"action {action} is not legal in {self.name}; legal here: {legal}"
        if self.over(s):
            return f"the game {self.name!r} is over at {s.tolist()}: no action can be played"
        return validation.stuck(self, s)

    def chance(self, s, rng) -> np.ndarray:
        """Return the next state of the afterstate `s`.

        `rng` is the uint64[1] of ``kernel.new_rng`` and advances.

        Source: [konen2021] Alg. 6, line 3.
        """
        s = validation.state_vector(self, s)
        return self._guarded(
            "chance", lambda after: call_chance(self.rules, after, rng), s, "size"
        )[1]

    def next(self, s, action, rng=None) -> np.ndarray:
        """Return the next state after `action` and, where the game has one, its random part."""
        return self.chance(self.play(s, action), new_rng(0) if rng is None else rng)

    def player(self, s) -> int:
        """Return the player to move, counted from 0."""
        return self.player_of(self._state(s, True))

    def player_of(self, s) -> int:
        """Return what the rule `player` says of any vector of the right size."""
        return int(call_player(self.rules, s))

    def over(self, s) -> bool:
        """Return whether the state is terminal."""
        return bool(call_over(self.rules, self._state(s)))

    def score(self, s) -> np.ndarray:
        """Return the cumulative reward of every player, float64[players]."""
        return self._guarded(
            "score",
            lambda r: call_score(self.rules, self._state(s), r),
            np.zeros(self.players),
            "players",
        )[1]

    def board(self, s) -> np.ndarray:
        """Return the cell codes, int32[cells]."""
        return self._guarded(
            "board",
            lambda cells: call_board(self.rules, self._state(s), cells),
            np.zeros(self.cells, np.int32),
            "the length of num_codes",
        )[1]

    def key(self, s) -> tuple[int, int]:
        """Return the two 64-bit words that identify the position."""
        k = np.zeros(2, np.uint64)
        call_key(self.rules, self._state(s), k)
        return int(k[0]), int(k[1])

    def heuristic(self, s) -> float:
        """Return the game's own estimate of the first player's final reward.

        Raises ValueError if it has none.
        """
        if self.rules.heuristic == 0:
            raise ValueError(
                f"the game {self.name!r} has no heuristic: give it the rule heuristic(s)"
            )
        return float(call_heuristic(self.rules, self._state(s)))

    def outcomes(self, s) -> list[tuple[np.ndarray, float]]:
        """Return every next state of the afterstate `s` with its probability."""
        if self.deterministic:
            return [(self._state(s).copy(), 1.0)]
        if self.rules.outcomes == 0 or self.rules.outcome == 0:
            raise ValueError(
                f"the game {self.name!r} does not list its chance outcomes: give it the rules"
                " outcomes and outcome"
            )
        listed = []
        for k in range(call_outcomes(self.rules, self._state(s))):
            after = self._state(s).copy()
            probability = float(call_outcome(self.rules, after, k))
            listed.append((after, probability))
        return listed

    def random_start(self, rng) -> tuple[np.ndarray, list[int]]:
        """Draw a start state by the game's start scheme.

        Return it and the actions that lead to it.
        """
        s, path = np.zeros(self.size, np.int32), np.zeros(max(1, self.rules.start_plies), np.int32)
        plies = start_from_scheme(self.rules, s, np.zeros(self.max_legal, np.int32), rng, path)
        return s, path[:plies].tolist()

    def after(self, actions) -> np.ndarray:
        """Return the state after a sequence of actions from the default start."""
        s = self.start()
        for action in actions:
            s = self.next(s, action)
        return s

    # -------------------------------------------------------------------------------------- showing
    def render(self, s) -> str:
        """Return the state as text that :meth:`parse` reads back."""
        s = self._state(s)
        return self.render_state(s) if self.render_state else " ".join(map(str, s.tolist()))

    def parse(self, text: str) -> np.ndarray:
        """Return the state that a text describes, as :meth:`render` writes it."""
        if self.parse_text:
            return np.asarray(self.parse_text(text), np.int32)
        if self.render_state:
            raise ValueError(
                f"the game {self.name!r} was made with render but without parse: give both to"
                " Game(...)"
            )
        return self._state([int(word) for word in text.split()])

    def action_name(self, s, action) -> str:
        """Return the usual notation of an action."""
        return (
            self.name_action(self._state(s), int(action)) if self.name_action else str(int(action))
        )

    def view(self, s, values=None, last=None):
        """Return an object that a notebook shows as a picture of the state.

        Parameters
        ----------
        s : int32 [size]
        values : mapping action -> value, or sequence in the order of `legal`, optional
            Shown as a heat map on the board.
        last : int, optional
            The action that led here, marked on the board.
        """
        return view(self, self._state(s), values=values, last=last)

    # ----------------------------------------------------------------------------------- the border
    def _guarded(self, rule, call, array, size):
        """Call a rule on a copy of `array`; see :func:`validation.guarded`."""
        return validation.guarded(self, rule, call, array, size)

    def _state(self, s, to_move=False) -> np.ndarray:
        """Return a state from outside as the rules take it, or raise ValueError.

        With `to_move` there must be somebody to move, or the game be over.
        """
        s = validation.state_vector(self, s)
        content, (known, asked) = s.tobytes(), self._proper
        if content != known or to_move > asked:
            validation.check_state(self, s, to_move)
            self._proper = content, to_move
        return s


def made_by(maker, spec: dict) -> Game:
    """Make a game of the package by its maker function.

    `spec` holds its name and all parameters, for records and other processes.
    """
    game = maker(**spec["params"])
    game.spec, game.maker = spec, maker
    return game


def check_game(game, who: str = "a session"):
    """Return the game, with its rules tried out if it is home-made and new to this process.

    Slips of its logic are told as warnings; see :func:`tryout.try_out`.

    Raises
    ------
    ValueError
        If it is no game, or a rule does not keep to its arrays.
    """
    if not isinstance(game, Game):
        raise ValueError(f"{who} needs a game, such as games.load('tictactoe'), not {game!r}")
    # nobody has tested its rules, and one that writes outside its arrays would end the process
    if game.spec is None and not game.tried_out:
        try_out(game)
        game.tried_out = True
    return game
