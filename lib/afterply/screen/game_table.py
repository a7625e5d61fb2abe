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

YOU = "you"
THEM = "them"
OVER = "over"
# What the players are called in pictures; those of other games have numbers.
SIDES = {
    **dict.fromkeys(("connect4", "dots", "race"), tuple(boards.COLOURS)),
    "hex": ("black (left to right)", "blue (top to bottom)"),
    "kalah": ("lower row", "upper row"),
    "tictactoe": ("x", "o"),
    **dict.fromkeys(("checkers", "giveaway"), ("white", "black")),
    **dict.fromkeys(("morris", "othello"), ("black", "white")),
}
# What they are called where pieces are letters, if that differs.
TYPED_SIDES = {
    "hex": ("x (left to right)", "o (top to bottom)"),
    **dict.fromkeys(("checkers", "giveaway"), ("w", "b")),
    **dict.fromkeys(("connect4", "morris", "othello"), tuple(MARKS)),
}


def sides(game) -> tuple:
    """Return what the players of a game are called in pictures."""
    numbers = tuple(f"player {k + 1}" for k in range(game.players))
    names = SIDES.get(_name_in_package(game), numbers)
    return names[: game.players]


def _name_in_package(game):
    """Return the name of a game of the package, or None for one of one's own making."""
    return game.spec["name"] if game.spec else None


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
        self.typed_names = TYPED_SIDES.get(_name_in_package(game), self.names)
        self._lock = threading.RLock()
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
        with self._lock:
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
            return "The game is over: a draw."
        winners = " and ".join(names[seat] for seat in best)
        outcome = "win" if self.seat in best else "lose"
        return f"The game is over: best is {winners}; you {outcome} as {names[self.seat]}."

    def __repr__(self):
        moves_of_others = self.told()
        status = self.status(typed=True)
        if moves_of_others:
            status = f"{moves_of_others}. {status}"
        return f"{text_board(self.game, self.state)}\n{status}"

    def _repr_svg_(self):
        hint = "run this cell in Jupyter to play by clicks"
        return str(boards.replay(self.game, [self.state], captions=[hint]))


def text_board(game, state) -> str:
    """Return a state as text, with coordinates where moves have their names from them."""
    lines = game.render(state).split("\n")
    if game.name == "kalah":
        return "\n".join(_with_houses(game, lines))
    if game.layout.ndim == 2:
        rows, columns = game.layout.shape
        start = game.start()
        moves = {}  # name -> places, of all first moves
        for action in game.legal(start):
            moves[game.action_name(start, action)] = game.places(start, action)
        letters = "   " + " ".join(LETTERS[:columns])
        counted_down = range(1, rows + 1)
        counted_up = range(rows, 0, -1)
        if moves.items() <= _cells_by_name(game, counted_down).items():
            numbered = [f"{n:2} {line}" for n, line in zip(counted_down, lines)]
            lines = [letters, *numbered, *lines[rows:]]
        elif moves.items() <= _cells_by_name(game, counted_up).items():
            numbered = [f"{n:2} {line}" for n, line in zip(counted_up, lines)]
            lines = [*numbered, letters, *lines[rows:]]
        elif all(_names_squares(name, places) for name, places in moves.items()):
            lines[:rows] = _with_squares(game, lines)
    return "\n".join(lines)


def _with_houses(game, lines):
    """Return the rows of Kalah between the letters of its houses: the upper from the right."""
    letters = "    " + "  ".join(LETTERS[: game.actions])
    from_right = letters[:3:-1]
    return [letters[:4] + from_right, *lines, letters.upper()]


def _cells_by_name(game, numbers):
    """Return name -> [cell] of a board with lettered columns; `numbers` are those of its rows."""
    cells = {}
    for number, row in zip(numbers, game.layout):
        for letter, cell in zip(LETTERS, row):
            cells[f"{letter}{number}"] = [cell]
    return cells


def _names_squares(name, places):
    """Return whether a name of a move is made of the numbers of its places, from 1."""
    numbers = [str(place + 1) for place in places]
    return bool(numbers) and re.findall(r"\d+", name) == numbers


def _square(cell):
    """Return the number of a cell, from 1, or a dot where there is no cell."""
    return f"{cell + 1:2}" if cell >= 0 else " ."


def _with_squares(game, lines):
    """Return the rows of a board with the numbers of their squares beside them."""
    rows = []
    for line, cells in zip(lines, game.layout):
        squares = " ".join(map(_square, cells))
        rows.append(f"{line:20}{squares}")
    return rows
