"""A game between a person and other players, which the widget and the terminal both show."""

import re
import threading

import numpy as np

from ..checks import seed_number, whole
from ..games import boards
from ..games.game import check_game
from ..games.rules import LETTERS, MARKS
from ..kernel.random import new_rng, seed_from
from ..players.basic import duplicate, wrap

YOU, THEM, OVER = "you", "them", "over"
# who the players are, by game, in pictures, and where pieces are letters; others have numbers
SIDES = {
    **dict.fromkeys(("connect4", "dots", "race"), tuple(boards.COLOURS)),
    "hex": ("black (left to right)", "blue (top to bottom)"),
    "kalah": ("lower row", "upper row"),
    "tictactoe": ("x", "o"),
    **dict.fromkeys(("checkers", "giveaway"), ("white", "black")),
    **dict.fromkeys(("morris", "othello"), ("black", "white")),
}
TYPED_SIDES = {
    "hex": ("x (left to right)", "o (top to bottom)"),
    **dict.fromkeys(("checkers", "giveaway"), ("w", "b")),
    **dict.fromkeys(("connect4", "morris", "othello"), tuple(MARKS)),
}


def sides(game) -> tuple:
    """Return what the players of a game are called in pictures."""
    numbers = tuple(f"player {k + 1}" for k in range(game.players))
    return SIDES.get(game.spec and game.spec["name"], numbers)[: game.players]


class Table:
    """A game in which one seat is a person's and the others are played by players.

    `opponents` are for the seats after the person's, in turn. The `adviser`, a player with
    ``values``, says what the moves are worth; by default it is the first opponent that can.
    """

    def __init__(self, game, opponents=(), seat: int = 0, seed: int = 0, adviser=None):
        self.game, self.seed = check_game(game, "a table"), seed_number(seed)
        self.seat, self.round = whole("seat", seat, 0, game.players - 1), 0
        self.names = sides(game)
        self.typed_names = TYPED_SIDES.get(game.spec and game.spec["name"], self.names)
        self._lock, self._given = threading.RLock(), adviser
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
        asked = self.opponents if self._given is None else [wrap(self._given)]
        able = [player for player in asked if callable(getattr(player, "values", None))]
        # a copy, so that asking for advice does not touch what the opponent remembers
        self.adviser = duplicate(able[0]) if able else None
        self.new(self.seat)

    def new(self, seat: int) -> None:
        """Begin a new game in a seat."""
        with self._lock:
            self.seat, self.round = seat, self.round + 1
            n, start = self.game.players, self.game.start(seed_from(self.seed, self.round))
            self.players = {(seat + 1 + k) % n: p for k, p in enumerate(self.opponents)}
            self.states, self.actions = [start], []
            self._begin_match()

    def _begin_match(self):
        for seat, player in self.players.items():
            own = seed_from(self.seed, self.round, seat)
            player.new_match(self.game, self.actions[:], seat, own)
        if self.adviser is not None:
            own = seed_from(self.seed, self.round, "adviser")
            self.adviser.new_match(self.game, self.actions[:], self.seat, own)

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
        with self._lock:
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
        with self._lock:
            if own := self._own_plies():
                del self.states[own[-1] + 1 :], self.actions[own[-1] :]
                self._begin_match()
            return bool(own)

    def _own_plies(self):
        return [k for k, s in enumerate(self.states[:-1]) if self.game.player(s) == self.seat]

    def values(self) -> dict[int, float] | None:
        """Return the adviser's value of each legal move of the player to move, by action."""
        if self.adviser is None or self.game.over(self.state):
            return None
        legal = self.game.legal(self.state).tolist()
        return dict(zip(legal, map(float, self.adviser.values(self.state.copy()))))

    def told(self) -> str:
        """Return in words what the others have played since the person's last move."""
        after = (self._own_plies() or [-1])[-1] + 1
        moves = zip(self.states[after:], self.actions[after:])
        return "; ".join(f"{self._name(s)} plays {self.game.action_name(s, a)}" for s, a in moves)

    def _name(self, state):
        return getattr(self.players.get(self.game.player(state)), "name", "the opponent")

    def status(self, typed=False) -> str:
        """Return whose turn it is, or how the game ended; sides as in pictures, or as `typed`."""
        names = self.typed_names if typed else self.names
        alone, you = self.game.players == 1, names[self.seat]
        if self.turn == YOU:
            return "Your move." if alone else f"Your move: you are {you}."
        if self.turn == THEM:
            mover = names[self.game.player(self.state)]
            return f"{self._name(self.state)} ({mover}) is thinking ..."
        scores = self.game.score(self.state)
        if alone:
            _, each, unit = self.game.progress
            shown = f"{round(each * scores[0], 1):,}".removesuffix(".0")
            return f"The game is over: {shown}{unit}."
        best = np.flatnonzero(scores == scores.max()).tolist()
        if len(best) == len(scores):
            return "The game is over: a draw."
        winners = " and ".join(names[seat] for seat in best)
        yours = f"you {'win' if self.seat in best else 'lose'} as {you}"
        return f"The game is over: best is {winners}; {yours}."

    def __repr__(self):
        told = self.told() and f"{self.told()}. "
        return f"{text_board(self.game, self.state)}\n{told}{self.status(typed=True)}"

    def _repr_svg_(self):
        how = ["run this cell in Jupyter to play by clicks"]
        return str(boards.replay(self.game, [self.state], captions=how))


def text_board(game, state) -> str:
    """Return a state as text, with coordinates where moves have their names from them."""
    lines, start = game.render(state).split("\n"), game.start()
    if game.name == "kalah":  # the houses of the upper row are counted from the right
        letters = "    " + "  ".join(LETTERS[: game.actions])
        return "\n".join([letters[:4] + letters[:3:-1], *lines, letters.upper()])
    if game.layout.ndim != 2:
        return "\n".join(lines)
    rows, columns = game.layout.shape
    moves = {game.action_name(start, a): game.places(start, a) for a in game.legal(start)}
    for numbers in (range(1, rows + 1), range(rows, 0, -1)):
        cells = {
            f"{letter}{number}": [cell]
            for number, row in zip(numbers, game.layout)
            for letter, cell in zip(LETTERS, row)
        }
        if moves.items() <= cells.items():
            lines[:rows] = [f"{n:2} {line}" for n, line in zip(numbers, lines)]
            lines.insert(0 if numbers[0] == 1 else rows, "   " + " ".join(LETTERS[:columns]))
            return "\n".join(lines)
    numbered = {name: [str(place + 1) for place in places] for name, places in moves.items()}
    if all(numbered[n] and re.findall(r"\d+", n) == numbered[n] for n in moves):
        squares = [[f"{cell + 1:2}" if cell >= 0 else " ." for cell in row] for row in game.layout]
        lines[:rows] = [f"{line:20}{' '.join(row)}" for line, row in zip(lines, squares)]
    return "\n".join(lines)
