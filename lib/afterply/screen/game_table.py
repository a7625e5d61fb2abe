"""A game between a person and other players, which the widget and the terminal both show."""

import numpy as np

from ..checks import seed_number, whole
from ..games import boards
from ..games.boards import text_board
from ..games.game import check_game
from ..kernel.random import new_rng, seed_from
from ..players.basic import duplicate, wrap

YOU = "you"
THEM = "them"
OVER = "over"


def sides(game) -> tuple:
    """Return what the players of a game are called in pictures."""
    return game.drawing.sides or tuple(f"player {k + 1}" for k in range(game.players))


def _short(side) -> str:
    """Return the name of a side without what it has to do, as in "black (left to right)"."""
    return side.partition(" (")[0]


class Table:
    """A game in which one seat is a person's and the others are played by players.

    `opponents` are for the seats after the person's, in turn. The `adviser`, a player with
    ``values``, says what the moves are worth; by default it is the first opponent that can.
    """

    def __init__(self, game, opponents=(), seat: int = 0, seed: int = 0, adviser=None):
        self.game = check_game(game, "a table")
        self.seed = seed_number(seed)
        self.seat = whole("seat", seat, 0, game.players - 1)
        self.round = 0
        self.names = sides(game)
        self.typed_names = game.drawing.typed_sides or self.names
        self._adviser_of_caller = adviser
        self.seat_opponents(opponents)

    def seat_opponents(self, opponents) -> None:
        """Take other opponents and begin a new game."""
        self.opponents = []
        for player in map(wrap, opponents):
            # A player keeps what it remembers of a match: one for two seats is two players.
            if any(player is other for other in self.opponents):
                player = duplicate(player)
            self.opponents.append(player)
        needed = self.game.players - 1
        if len(self.opponents) != needed:
            raise ValueError(
                f"{self.game.name} needs {needed} opponents, not {len(self.opponents)}"
            )
        self.adviser = self._first_adviser()
        self.new(self.seat)

    def _first_adviser(self):
        """Return a copy of the caller's adviser, or of the first opponent with values, or None."""
        candidates = self.opponents
        if self._adviser_of_caller is not None:
            candidates = [wrap(self._adviser_of_caller)]
        for player in candidates:
            if callable(getattr(player, "values", None)):
                # A copy, so that asking for advice does not touch what the opponent remembers.
                return duplicate(player)
        return None

    def new(self, seat: int) -> None:
        """Begin a new game in a seat."""
        self.seat = seat
        self.round += 1
        self.players = {}
        for k, player in enumerate(self.opponents):
            self.players[(seat + 1 + k) % self.game.players] = player
        self.states = [self.game.start(seed_from(self.seed, self.round))]
        self.actions = []
        self._begin_match()

    def _begin_match(self):
        """Let all players follow the present game from its start."""
        for seat, player in self.players.items():
            seed = seed_from(self.seed, self.round, seat)
            player.new_match(self.game, self.actions[:], seat, seed)
        if self.adviser is not None:
            seed = seed_from(self.seed, self.round, "adviser")
            self.adviser.new_match(self.game, self.actions[:], self.seat, seed)

    @property
    def state(self) -> np.ndarray:
        """The present position."""
        return self.states[-1]

    @property
    def turn(self) -> str:
        """``"you"``, ``"them"`` or ``"over"``."""
        if self.game.over(self.state):
            return OVER
        return YOU if self.game.player(self.state) == self.seat else THEM

    def make(self, action: int) -> None:
        """Make a move of whoever is to move; raises ValueError if it is not legal."""
        action = int(action)
        rng = new_rng(seed_from(self.seed, self.round, "chance", len(self.actions)))
        self.states.append(self.game.next(self.state, action, rng))
        self.actions.append(action)
        for player in self.players.values():
            if hasattr(player, "observe"):
                player.observe(action, self.state.copy())

    def choice(self) -> int:
        """Return what the opponent whose turn it is would do."""
        return int(self.players[self.game.player(self.state)].choose(self.state.copy()))

    def undo(self) -> bool:
        """Take back the person's last move and what came after; return whether there was one."""
        plies = self._plies_of_person()
        if not plies:
            return False
        last = plies[-1]
        del self.states[last + 1 :]
        del self.actions[last:]
        self._begin_match()
        return True

    def _plies_of_person(self):
        """Return the numbers of the plies at which the person moved."""
        return [k for k, s in enumerate(self.states[:-1]) if self.game.player(s) == self.seat]

    def values(self) -> dict[int, float] | None:
        """Return the adviser's value of each legal move of the player to move, by action."""
        if self.adviser is None or self.game.over(self.state):
            return None
        legal = self.game.legal(self.state).tolist()
        values = self.adviser.values(self.state.copy())
        return dict(zip(legal, map(float, values)))

    def told(self) -> str:
        """Return in words what the others have played since the person's last move."""
        plies = self._plies_of_person()
        first = plies[-1] + 1 if plies else 0
        texts = []
        for state, action in zip(self.states[first:], self.actions[first:]):
            texts.append(f"{self._name(state)} plays {self.game.action_name(state, action)}")
        return "; ".join(texts)

    def _name(self, state):
        """Return the name of the player to move."""
        player = self.players.get(self.game.player(state))
        return getattr(player, "name", "the opponent")

    def status(self, typed=False) -> str:
        """Return whose turn it is, or how the game ended; sides as in pictures, or as `typed`."""
        names = self.typed_names if typed else self.names
        alone = self.game.players == 1
        if self.turn == YOU:
            return "Your move." if alone else f"Your move: you are {names[self.seat]}."
        if self.turn == THEM:
            mover = names[self.game.player(self.state)]
            return f"{self._name(self.state)} ({mover}) is thinking ..."
        scores = self.game.score(self.state)
        if alone:
            _, points, unit = self.game.progress  # `points` are a score of 1
            number = f"{round(points * scores[0], 1):,}".removesuffix(".0")
            return f"The game is over: {number}{unit}."
        best = np.flatnonzero(scores == scores.max()).tolist()
        if len(best) == len(scores):
            return "A draw."
        winners = " and ".join(_short(names[seat]) for seat in best)
        verb = "wins" if len(best) == 1 else "win"
        outcome = "win" if self.seat in best else "lose"
        return f"{winners[0].upper()}{winners[1:]} {verb}. You {outcome}."

    def __repr__(self):
        moves_of_others = self.told()
        status = self.status(typed=True)
        if moves_of_others:
            status = f"{moves_of_others}. {status}"
        return f"{text_board(self.game, self.state)}\n{status}"

    def _repr_svg_(self):
        hint = "run this cell in Jupyter to play by clicks"
        return str(boards.replay(self.game, [self.state], captions=[hint]))
