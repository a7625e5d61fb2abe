"""Games as Python sees them: playing and looking, with a check of every state from outside."""

import functools
import reprlib
import warnings
from pathlib import Path

import numpy as np

from ..checks import whole
from ..kernel.compile import kernel
from ..kernel.random import new_rng
from ..kernel.source import PACKAGE
from . import calls
from .boards import View, state_svg
from .conformance import GameWarning, survey
from .definition import FUNCTIONS, Definition, compiled

# spare elements on both sides of every array that a rule writes into, and what they hold: a rule
# that overwrites them does not keep to its array; the many are for a game that nobody has tried
GUARD, MARGIN = 64, 1 << 14
SENTINEL = -77777
SIZES = ("size", "core", "players", "actions", "max_legal", "cells", "compound")
PROPER, NO_PLAYER = -1, -2  # what `fault_of` finds; else the number of a cell


@kernel
def fault_of(rules, num_codes, s, cells, to_move):
    """Return the first cell whose code is out of its range, NO_PLAYER, or PROPER."""
    if to_move and not calls.call_over(rules, s):
        if not 0 <= calls.call_player(rules, s) < rules.players:
            return NO_PLAYER
    calls.call_board(rules, s, cells)
    for c in range(rules.cells):
        if not 0 <= cells[c] < num_codes[c]:
            return c
    return PROPER


@functools.cache
def _guard(margin, dtype) -> np.ndarray:
    return np.full(margin, SENTINEL).astype(dtype)


class Game(Definition):
    """A game that can be played and looked at from Python, action by action.

    Parameters
    ----------
    name : str
    definition
        Functions, sizes and tables by name: those of
        :class:`~afterply.games.definition.Definition`.

    Raises
    ------
    ValueError
        If a size or a table is wrong, or a rule can not be compiled.
    """

    def __init__(self, name: str, **definition):
        self._arguments = {"name": name, **definition}
        functions = {what: definition.pop(what, None) for what in FUNCTIONS}
        super().__init__(name, functions, **definition)
        self.cells = len(self.num_codes)
        self.spec = self.maker = None  # of a game of the package: name and parameters; its function
        self.file = None  # of a game in a file: path and what was asked, for catalogue.from_file
        self._proper = b"", False  # the last proper state, and whether its mover was asked for
        self.tried_out = False
        self.found_opposite = False  # whether random games have shown opposite rewards
        if not self._rules_of_package():
            self._compiled  # noqa: B018 (a slip is told where it stands)

    def _rules_of_package(self) -> bool:
        rules = (self.functions[rule] for rule in calls.SIGNATURES)
        files = {rule.__code__.co_filename for rule in rules if rule}
        return all(Path(file).is_relative_to(PACKAGE) for file in files)

    @functools.cached_property
    def _compiled(self) -> dict:
        return compiled(self)  # when it is first played: many games are only declared

    @functools.cached_property
    def rules(self) -> calls.Rules:
        """The rules as kernels call them, by address, and the sizes."""
        return calls.Rules(
            **{rule: getattr(self._compiled.get(rule), "address", 0) for rule in calls.SIGNATURES},
            **{what: getattr(self, what) for what in SIZES},
            start_plies=self.start_scheme[1],
            start_default=self.start_scheme[0],
        )

    @property
    def deterministic(self) -> bool:
        """Whether moves have no random part.  Source: [konen2021] Alg. 6, line 4 (T_after)."""
        return self.rules.chance == 0

    @property
    def identity(self) -> dict:
        """What a record says about the game: name, parameters, version.

        Of a home-made game that states its version it says the hash of its content as well.
        """
        said = {**(self.spec or {"name": self.name, "params": {}}), "version": self.version}
        states_version = self.content is not None and self.version != self.content
        return said | ({"content": self.content} if states_version else {})

    def __repr__(self):
        params = ", ".join(f"{k}={v!r}" for k, v in (self.spec or {}).get("params", {}).items())
        return (
            f"<game {self.name}({params}): {self.players} players, {self.actions} actions,"
            f" {self.cells} cells>"
        )

    def __reduce__(self):
        if self.maker is None:
            return functools.partial(type(self), **self._arguments), (), {"file": self.file}
        return made_by, (self.maker, self.spec)

    # -------------------------------------------------------------------------------------- playing
    def start(self, seed: int = 0) -> np.ndarray:
        """Return the initial state, int32[size]; `seed` matters only where the start is random."""
        return self._call("start", np.zeros(self.size, np.int32), "size", after=[new_rng(seed)])[1]

    def legal(self, s) -> np.ndarray:
        """Return the legal actions, int32[n] (a copy); none when the game is over."""
        s, moves = self._state(s, True), np.zeros(self.max_legal, np.int32)
        if calls.call_over(self.rules, s):
            return moves[:0]
        n, moves = self._call("legal", moves, "max_legal", before=[s])
        most, beyond = self.max_legal, (moves[:n] < 0) | (moves[:n] >= self.actions)
        if not 0 <= n <= most or beyond.any():
            raise ValueError(
                f"game {self.name!r}: the rule 'legal' gives {n} actions {moves[:n].tolist()} at"
                f" {s.tolist()}; it must return how many it wrote, at most max_legal={most}, and"
                f" actions are 0 to actions - 1 = {self.actions - 1}"
            )
        return moves[:n]

    def choices(self, s) -> np.ndarray:
        """Return the legal actions of whose turn it is; ValueError if there are none."""
        legal = self.legal(s)
        if not len(legal) and self.over(s):
            raise ValueError(f"the game is over, there is nothing to search: {self.render(s)!r}")
        if not len(legal):
            raise ValueError(
                f"game {self.name!r}: there is no legal action at {np.asarray(s).tolist()}, but"
                " 'over' says that the game goes on: correct 'over', or let 'legal' write an action"
            )
        return legal

    def play(self, s, action) -> np.ndarray:
        """Return the afterstate of `action`, a number or a name; ValueError if it is not legal.

        Source: [konen2021] Alg. 6, line 2.
        """
        s, legal = self._state(s, True), self.choices(s)
        action = self.action(s, action) if isinstance(action, str) else action
        if action not in legal:
            here = f"legal here: {legal.tolist()}"
            raise ValueError(f"action {action} is not legal in {self.name}; {here}")
        return self._call("play", s, "size", after=[int(action)])[1]

    def chance(self, s, rng) -> np.ndarray:
        """Return the next state of the afterstate `s`.

        `rng` is the uint64[1] of ``kernel.new_rng`` and advances.
        Source: [konen2021] Alg. 6, line 3.
        """
        return self._call("chance", self._vector(s), "size", after=[rng])[1]

    def next(self, s, action, rng=None) -> np.ndarray:
        """Return the next state after `action` and, where the game has one, its random part."""
        return self.chance(self.play(s, action), new_rng(0) if rng is None else rng)

    def player(self, s) -> int:
        """Return the player to move, counted from 0."""
        return int(calls.call_player(self.rules, self._state(s, True)))

    def over(self, s) -> bool:
        """Return whether the state is terminal."""
        return bool(calls.call_over(self.rules, self._state(s)))

    def score(self, s) -> np.ndarray:
        """Return the cumulative reward of every player, float64[players]."""
        return self._call("score", np.zeros(self.players), "players", before=[self._state(s)])[1]

    def board(self, s) -> np.ndarray:
        """Return the cell codes, int32[cells]."""
        cells = np.zeros(self.cells, np.int32)
        return self._call("board", cells, "the length of num_codes", before=[self._state(s)])[1]

    def key(self, s) -> tuple[int, int]:
        """Return the two 64-bit words that identify the position."""
        words = np.zeros(2, np.uint64)
        return tuple(self._call("key", words, "nothing", before=[self._state(s)])[1].tolist())

    def heuristic(self, s) -> float:
        """Return the game's estimate of the first player's final reward, if it has one."""
        if self.rules.heuristic == 0:
            raise ValueError(f"the game {self.name!r} has no heuristic: give it the rule heuristic")
        return float(calls.call_heuristic(self.rules, self._state(s)))

    @property
    def lists_outcomes(self) -> bool:
        """Whether the game says with which probability what happens by chance."""
        return self.rules.outcomes != 0 and self.rules.outcome != 0

    def outcomes(self, s) -> list[tuple[np.ndarray, float]]:
        """Return every next state of the afterstate `s` with its probability."""
        s = self._state(s)
        if self.deterministic:
            return [(s.copy(), 1.0)]
        if not self.lists_outcomes:
            raise ValueError(
                f"the game {self.name!r} does not list its chance outcomes: give it the rules"
                " outcomes and outcome"
            )
        number = calls.call_outcomes(self.rules, s)
        listed = (self._call("outcome", s, "size", after=[k]) for k in range(number))
        return [(after, float(probability)) for probability, after in listed]

    def random_start(self, rng) -> tuple[np.ndarray, list[int]]:
        """Draw a start state by the start scheme; return it and the actions that led there."""
        path = np.zeros(max(1, self.rules.start_plies), np.int32)
        moves = np.zeros(self.max_legal + MARGIN, np.int32)[: self.max_legal]
        given, start = [moves, rng, path], np.zeros(self.size, np.int32)
        plies, s = self._call("start", start, "size", after=given, call=calls.start_from_scheme)
        return s, path[:plies].tolist()

    def after(self, actions) -> np.ndarray:
        """Return the state after a sequence of actions from the default start."""
        return functools.reduce(self.next, actions, self.start())

    # -------------------------------------------------------------------------------------- showing
    def render(self, s) -> str:
        """Return the state as text, which :meth:`parse` reads back if the game has a `parse`."""
        s, told = self._state(s), self.functions["render"]
        return told(s) if told else " ".join(map(str, s.tolist()))

    def parse(self, text: str) -> np.ndarray:
        """Return the state that a text describes in the game's own form, or by its numbers."""
        if read := self.functions["parse"]:
            try:
                return self._state(read(text))
            except OverflowError as error:
                raise ValueError(f"the numbers of a state must fit int32: {error}") from error
        if not all(word.removeprefix("-").isdigit() for word in text.split()):
            raise ValueError(f"{self.name} reads the {self.size} numbers of a state, not {text!r}")
        return self._state([int(word) for word in text.split()])

    def action_name(self, s, action) -> str:
        """Return the usual notation of an action."""
        name = self.functions["action_name"]
        return name(self._state(s), int(action)) if name else str(int(action))

    def action(self, s, name: str) -> int:
        """Return the legal action with a name, such as "d1", as :meth:`action_name` gives it."""
        named = {self.action_name(s, action): int(action) for action in self.legal(s)}
        if name not in named:
            here = ", ".join(named) or "none, the game is over"
            raise ValueError(f"{name!r} is no move of {self.name} here; there are {here}")
        return named[name]

    def codes(self, s) -> np.ndarray:
        """Return the codes of the cells that the layout names, int [cells]."""
        return self.drawn_codes(self._state(s)) if self.drawn_codes else self.board(s)

    def to_array(self, s) -> np.ndarray:
        """Return the board as people draw it, int32 of the shape of the layout.

        0 is empty, 1 and 2 are stones of the first and the second player; in checkers 1, 2 are
        White's men, kings and 3, 4 Black's. Kalah has seeds, the second player's row first, with
        the stores at its left and at the right of the other; 2048 tiles; a cube, face by face
        (U L F R B D), the numbers of the faces whose colours show.
        """
        on_board = self.layout >= 0
        return self.marks[self.codes(s)[self.layout] * on_board] * on_board

    def from_array(self, board, player: int | None = None, **more) -> np.ndarray:
        """Return the state of a board in the form of :meth:`to_array`.

        The `player` to move, counted from 0, need not be given where the board tells it. What else
        it does not tell has a name::

            Morris     hands=(first, second): the men in them; quiet, plies: the clocks
            checkers   jumps_from=square: where a jump must go on; quiet, plies
            Kalah      stores=(first, second), with `margin`
            2048       score
            cubes      last: the last twist, such as "U'"

        ValueError if it is no board of the game, or does not tell enough.
        """
        given, board, shape = board, np.asarray(board), self.layout.shape
        if self.from_codes is None:
            raise ValueError(f"{self.name} reads no arrays: give the game from_codes")
        if board.shape != shape:
            wrong = f"not {board.shape} as {reprlib.repr(given)}"
            raise ValueError(f"a board of {self.name} has the shape {shape}, {wrong}")
        codes = np.zeros(self.layout.max() + 1, np.int64)
        known = {mark: code for code, mark in reversed(list(enumerate(self.marks.tolist())))}
        for place, value in np.ndenumerate(board):
            if value not in (known if self.layout[place] >= 0 else (0,)):
                raise ValueError(f"{value} can not stand at {place} of a board of {self.name}")
            if self.layout[place] >= 0:
                codes[self.layout[place]] = known[value]
        seats = range(self.players)
        if player is not None:
            seats = [whole("the player to move", player, 0, self.players - 1)]
        found, errors = {}, []
        for seat in seats:
            try:
                s = self._state(self.from_codes(codes, seat, **more), True)
                if self.over(s) or self.player(s) == seat:
                    found[s.tobytes()] = s
            except ValueError as error:
                errors.append(error)
        if len(found) > 1:
            raise ValueError(f"this board of {self.name} does not tell who moves: give the player")
        if not found:
            raise (errors or [ValueError(f"it is not player {player}'s turn on this board")])[0]
        return found.popitem()[1]

    def places(self, s, action) -> list[int]:
        """Return the places of the drawing that are clicked for an action, one after the other.

        None: it has a button with its name, as everything on a board that is drawn as text.
        """
        if self.svg is None:
            return []
        if self.touch:
            return [int(place) for place in self.touch(self._state(s), int(action))]
        return [int(action)] if action < self.cells and self.actions <= self.cells + 1 else []

    def view(self, s, values=None, last=None) -> View:
        """Return an object that a notebook shows as a picture of the state.

        `values` are {action: value}, or in the order of `legal`, and shown as a heat map; `last` is
        the action that led here, which is marked.
        """
        return View(state_svg(self, self._state(s), values, last))

    # ----------------------------------------------------------------------------------- the border
    def _call(self, rule, array, remedy, *, before=(), after=(), call=None):
        """Call a rule on a guarded copy of `array` among its arguments; return result and copy."""
        margin, n = GUARD if self.spec or self.tried_out else MARGIN, len(array)
        guard = _guard(margin, array.dtype)
        wide = np.concatenate([guard, array, guard])
        call, inner = call or getattr(calls, f"call_{rule}"), wide[margin : margin + n]
        result = call(self.rules, *before, inner, *after)
        if (wide[:margin] != guard).any() or (wide[margin + n :] != guard).any():
            raise ValueError(
                f"game {self.name!r}: the rule {rule!r} writes more than {n} values: correct it, or"
                f" raise {remedy}"
            )
        return result, inner.copy()

    def _vector(self, s) -> np.ndarray:
        given = np.asarray(s)
        if given.shape != (self.size,) or given.dtype.kind not in "iu":
            raise ValueError(
                f"a state of {self.name} is a vector of {self.size} int32, not"
                f" {reprlib.repr(s)} of shape {given.shape} and type {given.dtype}"
            )
        narrow = np.ascontiguousarray(given, np.int32)
        if narrow is not given and (narrow != given).any():
            raise ValueError(f"the numbers of a state must fit int32, unlike {given.tolist()}")
        return narrow

    def _state(self, s, to_move=False) -> np.ndarray:
        """Return a state from outside, checked; with `to_move` it is over or somebody's turn."""
        s = self._vector(s)
        content, (known, asked) = s.tobytes(), self._proper
        if content == known and to_move <= asked:
            return s
        if self.fault and (wrong := self.fault(s)):
            raise ValueError(f"{s.tolist()} is no state of {self.name}: {wrong}")
        cells, remedy = np.zeros(self.cells, np.int32), "the length of num_codes"
        given = dict(before=[self.num_codes, s], after=[to_move], call=fault_of)
        found, cells = self._call("board", cells, remedy, **given)
        if found == NO_PLAYER:
            raise ValueError(
                f"game {self.name!r}: the rule 'player' gives {calls.call_player(self.rules, s)} at"
                f" {s.tolist()}; players are numbered from 0, here 0 to players - 1 ="
                f" {self.players - 1}"
            )
        if found != PROPER:
            most = self.num_codes[found]
            raise ValueError(
                f"game {self.name!r}: cell {found} has the code {cells[found]} at {s.tolist()}, but"
                f" num_codes[{found}] = {most} allows 0 to {most - 1}"
            )
        self._proper = content, to_move
        return s


def made_by(maker, spec: dict) -> Game:
    """Make a game of the package by its maker; `spec` holds its name and all parameters."""
    game = maker(**spec["params"])
    game.spec, game.maker = spec, maker
    return game


def check_game(game, who: str = "a session"):
    """Return the game, with its rules tried out if it is home-made; ValueError if it is none."""
    if not isinstance(game, Game):
        raise ValueError(f"{who} needs a game, such as games.load('tictactoe'), not {game!r}")
    # nobody has tested its rules, and one that writes outside its arrays would end the process
    if game.spec is None and not game.tried_out:
        for slip in survey(game):
            warnings.warn(f"game {game.name!r}: {slip}", GameWarning, stacklevel=3)
        game.tried_out = True
    return game
