"""A game between a person and other players: whose turn it is, moves, undo, values, the result.

Nothing here draws or asks; the widget and the terminal both show a :class:`Table`.
"""

import threading
from typing import NamedTuple

import numpy as np

from ..checks import whole
from ..games.game import check_game
from ..kernel.random import new_rng, seed_from
from ..players.basic import duplicate, wrap
from .touch import sides

YOU, THEM, OVER = "you", "them", "over"


class Step(NamedTuple):
    """A move that was made."""

    state: np.ndarray  # before it
    action: int
    seat: int


class Table:
    """A game in which one seat is a person's and the others are played by players.

    `opponents` are for the seats after the person's, in turn, as many as the game needs. The
    `adviser`, a player with ``values``, says what the moves are worth; by default it is the first
    opponent that can. `seed` is the only source of chance.
    """

    def __init__(self, game, opponents=(), seat: int = 0, seed: int = 0, adviser=None):
        self.game, self.seed = check_game(game, "a table"), whole("seed", seed, 0)
        self.seat = whole("seat", seat, 0, game.players - 1)
        self._lock, self.round = threading.RLock(), 0
        self._adviser = None if adviser is None else wrap(adviser)
        self.seat_opponents(opponents)

    def seat_opponents(self, opponents) -> None:
        """Take other opponents and begin a new game."""
        self.opponents = []
        for player in map(wrap, opponents):
            again = any(player is other for other in self.opponents)
            self.opponents.append(duplicate(player) if again else player)
        needed, given = self.game.players - 1, len(self.opponents)
        if given != needed:
            raise ValueError(f"{self.game.name} needs {needed} opponents, not {given}")
        asked = self.opponents if self._adviser is None else [self._adviser]
        able = [player for player in asked if callable(getattr(player, "values", None))]
        # a copy, so that asking for advice does not touch what the opponent remembers
        self.adviser = duplicate(able[0]) if able else None
        self.new()

    def new(self, seat: int | None = None) -> None:
        """Begin a new game, in another seat if one is given."""
        with self._lock:
            self.seat = self.seat if seat is None else whole("seat", seat, 0, self.game.players - 1)
            self.round += 1
            self.state = self.game.start(seed_from(self.seed, self.round))
            self.steps = []
            self._begin_match()

    def _begin_match(self):
        """Let all players begin a match at the present position."""
        actions = self.actions()
        for seat, player in self.players().items():
            player.new_match(self.game, actions, seat, seed_from(self.seed, self.round, seat))
        if self.adviser is not None:
            own = seed_from(self.seed, self.round, "adviser")
            self.adviser.new_match(self.game, actions, self.seat, own)

    def players(self) -> dict:
        """Return the players by seat, without the person."""
        n = self.game.players
        return {(self.seat + 1 + k) % n: player for k, player in enumerate(self.opponents)}

    @property
    def turn(self) -> str:
        """``"you"``, ``"them"`` or ``"over"``."""
        if self.game.over(self.state):
            return OVER
        return YOU if self.game.player(self.state) == self.seat else THEM

    def make(self, action: int) -> None:
        """Make a move of whoever is to move; raises ValueError if it is not legal."""
        with self._lock:
            before, action = self.state, int(action)
            rng = new_rng(seed_from(self.seed, self.round, "chance", len(self.steps)))
            after = self.game.next(before, action, rng)
            self.steps.append(Step(before, action, self.game.player(before)))
            self.state = after
            for player in self.players().values():
                if hasattr(player, "observe"):
                    player.observe(action, after.copy())

    def choice(self) -> int:
        """Return what the opponent whose turn it is would do."""
        return int(self.players()[self.game.player(self.state)].choose(self.state.copy()))

    def undo(self) -> bool:
        """Take back the person's last move and all that came after; return whether there was one.

        What chance brings after the same moves is the same again.
        """
        with self._lock:
            own = [k for k, step in enumerate(self.steps) if step.seat == self.seat]
            if own:
                self.state = self.steps[own[-1]].state
                del self.steps[own[-1] :]
                self._begin_match()
            return bool(own)

    @property
    def last(self) -> int | None:
        """The last action, or None."""
        return self.steps[-1].action if self.steps else None

    def values(self) -> dict[int, float] | None:
        """Return the adviser's value of each legal move of the player to move, by action."""
        if self.adviser is None or self.game.over(self.state):
            return None
        legal = self.game.legal(self.state).tolist()
        return dict(zip(legal, map(float, self.adviser.values(self.state.copy()))))

    def states(self) -> list[np.ndarray]:
        """Return all positions from the start on."""
        return [*(step.state for step in self.steps), self.state]

    def actions(self) -> list[int]:
        """Return all actions."""
        return [step.action for step in self.steps]

    def status(self) -> str:
        """Return whose turn it is, or how the game ended, in words."""
        if self.turn == OVER:
            return f"The game is over{self._result()}"
        names = sides(self.game)
        if self.game.players == 1:
            return "Your move."
        if self.turn == YOU:
            return f"Your move: you are {names[self.seat]}."
        mover = self.game.player(self.state)
        name = getattr(self.players()[mover], "name", "the opponent")
        return f"{name} ({names[mover]}) is thinking ..."

    def _result(self) -> str:
        scores, names = self.game.score(self.state), sides(self.game)
        if self.game.name == "game2048":
            return f": {int(self.state[2]):,} points."
        if self.game.players == 1:
            return f" with a reward of {scores[0]:g}."
        best = np.flatnonzero(scores == scores.max()).tolist()
        if len(best) == len(scores):
            return ": a draw."
        if best == [self.seat]:
            return f": you win as {names[self.seat]}."
        winners = " and ".join(names[seat] for seat in best)
        lost = "you lose" if self.seat not in best else "you among them"
        return f": {winners} {'wins' if len(best) == 1 else 'win'}, {lost}."
