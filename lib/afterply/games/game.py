"""The class of games: playing and showing them from Python, with a check of every state."""

import functools
import operator
import reprlib
import warnings
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from ..checks import generator, listed, numbers, whole
from ..checks import text as checked_text
from ..kernel.compile import kernel
from ..kernel.random import new_rng
from ..kernel.source import PACKAGE
from . import calls
from .boards import View, state_svg, text_board
from .conformance import GameWarning, survey
from .definition import FUNCTIONS, Definition, compiled

# Spare elements stand on both sides of every array that a rule writes into: a rule that overwrites
# them does not keep to its array.
GUARD = 64  # of them
MARGIN = 1 << 14  # for a home-made game that nobody has tried yet
SENTINEL = -77777  # what they hold
SIZES = ("size", "core", "players", "actions", "max_legal", "cells", "compound")
PROPER, NO_PLAYER = -1, -2  # results of `fault_of` that are no numbers of cells
MOST_TOUCHED = 8  # places of an action


@kernel
def fault_of(rules, num_codes, s, cells, to_move):
    """Return the first cell whose code is out of its range, NO_PLAYER, or PROPER.

    The player to move is looked at only with `to_move`.
    """
    if to_move and not calls.call_over(rules, s):
        if not 0 <= calls.call_player(rules, s) < rules.players:
            return NO_PLAYER
    calls.call_board(rules, s, cells)
    for c in range(rules.cells):
        if not 0 <= cells[c] < num_codes[c]:
            return c
    return PROPER


def _unsigned(place) -> int:
    """Return the place that ``touch`` wrote as itself, or as ~place."""
    return place if place >= 0 else ~place


@functools.cache
def _guard(margin, dtype) -> tuple[np.ndarray, bytes]:
    """Return the spare elements of one side, and those of both sides as bytes."""
    guard = np.full(margin, SENTINEL).astype(dtype)
    return guard, 2 * guard.tobytes()


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
        If a size or a table is wrong, or a rule cannot be compiled.
    """

    def __init__(self, name: str, **definition):
        self._arguments = {"name": name, **definition}
        functions = {what: definition.pop(what, None) for what in FUNCTIONS}
        super().__init__(name, functions, **definition)
        self.cells = len(self.num_codes)
        self.spec = None  # of a game of the package: its name and parameters
        self.maker = None  # of a game of the package: the function that made it
        self.file = None  # of a game in a file: path and what was asked, for catalogue.from_file
        self._proper = b"", False  # the last proper state, and whether its mover was asked for
        self._last_legal = b"", np.zeros(0, np.int32)  # the last state asked for, and its actions
        self.tried_out = False
        self.found_opposite = False  # whether random games have shown opposite rewards
        if not self._rules_of_package():
            self._compiled  # noqa: B018 (an error in a rule is raised where the game is defined)

    def _rules_of_package(self) -> bool:
        for rule in calls.SIGNATURES:
            function = self.functions[rule]
            if function and not Path(function.__code__.co_filename).is_relative_to(PACKAGE):
                return False
        return True

    @functools.cached_property
    def _compiled(self) -> dict:
        """The compiled rules, made when the game is first played: many games are only declared."""
        return compiled(self)

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
        return self.functions["chance"] is None

    @property
    def identity(self) -> dict:
        """What a record says about the game: name, parameters, version.

        Of a home-made game that states its version it says the hash of its content as well.
        """
        identity = {**(self.spec or {"name": self.name, "params": {}}), "version": self.version}
        if self.content is not None and self.version != self.content:
            identity["content"] = self.content
        return identity

    def __repr__(self):
        parameters = self.spec["params"] if self.spec else {}
        words = ", ".join(f"{name}={value!r}" for name, value in parameters.items())
        return (
            f"<game {self.name}({words}): {self.players} players, {self.actions} actions,"
            f" {self.cells} cells>"
        )

    def __reduce__(self):
        if self.maker is None:
            return functools.partial(type(self), **self._arguments), (), {"file": self.file}
        return made_by, (self.maker, self.spec)

    # -------------------------------------------------------------------------------------- playing
    def start(self, seed: int = 0) -> np.ndarray:
        """Return the initial state, int32[size]; `seed` matters only where the start is random."""
        s = np.zeros(self.size, np.int32)
        return self._call("start", s, "size", after=[new_rng(seed)])[1]

    def legal(self, s) -> np.ndarray:
        """Return the legal actions, int32[n] (a copy); none when the game is over."""
        s = self._state(s, to_move=True)
        content = s.tobytes()
        last_content, legal = self._last_legal
        if content != last_content:
            legal = self._ask_legal(s)
            self._last_legal = content, legal
        return legal.copy()

    def _ask_legal(self, s) -> np.ndarray:
        moves = np.zeros(self.max_legal, np.int32)
        if calls.call_over(self.rules, s):
            return moves[:0]
        n, moves = self._call("legal", moves, "max_legal", before=[s])
        legal = moves[:n]
        actions = legal.tolist()
        is_wrong = len(actions) > 0 and (min(actions) < 0 or max(actions) >= self.actions)
        if not 0 <= n <= self.max_legal or is_wrong:
            raise ValueError(
                f"game {self.name!r}: the rule 'legal' gives {n} actions {actions} at"
                f" {s.tolist()}; it must return how many it wrote, at most"
                f" max_legal={self.max_legal}, and actions are 0 to actions - 1 ="
                f" {self.actions - 1}"
            )
        return legal

    def choices(self, s) -> np.ndarray:
        """Return the legal actions, int32[n], at least one; ValueError if there are none."""
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
        s = self._state(s, to_move=True)
        legal = self.choices(s)
        if isinstance(action, str):
            action = self.action(s, action)
        if self._index(action) not in legal.tolist():
            raise ValueError(
                f"action {action} is not legal in {self.name}; legal here: {legal.tolist()}"
            )
        return self._call("play", s, "size", after=[int(action)])[1]

    def chance(self, s, rng) -> np.ndarray:
        """Return the next state of the afterstate `s`.

        `rng` is the uint64[1] of ``kernel.new_rng`` and advances.
        Source: [konen2021] Alg. 6, line 3.
        """
        s = self._vector(s)
        rng = generator(rng)
        if self.deterministic:
            return s.copy()
        return self._call("chance", s, "size", after=[rng])[1]

    def next(self, s, action, rng=None) -> np.ndarray:
        """Return the next state after `action` and, where the game has one, its random part."""
        if rng is None:
            rng = new_rng(0)
        return self.chance(self.play(s, action), rng)

    def player(self, s) -> int:
        """Return the player to move, counted from 0."""
        return int(calls.call_player(self.rules, self._state(s, to_move=True)))

    def over(self, s) -> bool:
        """Return whether the state is terminal."""
        return bool(calls.call_over(self.rules, self._state(s)))

    def score(self, s) -> np.ndarray:
        """Return the cumulative reward of every player, float64[players]."""
        rewards = np.zeros(self.players)
        return self._call("score", rewards, "players", before=[self._state(s)])[1]

    def board(self, s) -> np.ndarray:
        """Return the cell codes, int32[cells]."""
        cells = np.zeros(self.cells, np.int32)
        return self._call("board", cells, "the length of num_codes", before=[self._state(s)])[1]

    def key(self, s) -> tuple[int, int]:
        """Return the two 64-bit words that identify the position."""
        words = np.zeros(2, np.uint64)
        _, words = self._call("key", words, "nothing", before=[self._state(s)])
        return tuple(words.tolist())

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
        outcomes = []
        for k in range(calls.call_outcomes(self.rules, s)):
            probability, next_state = self._call("outcome", s, "size", after=[k])
            outcomes.append((next_state, float(probability)))
        return outcomes

    def random_start(self, rng) -> tuple[np.ndarray, list[int]]:
        """Draw a start state by the start scheme; return it and the actions that led there."""
        generator(rng)
        path = np.zeros(max(1, self.rules.start_plies), np.int32)
        moves = np.zeros(self.max_legal + MARGIN, np.int32)[: self.max_legal]
        num_plies, s = self._call(
            "start",
            np.zeros(self.size, np.int32),
            "size",
            after=[moves, rng, path],
            call=calls.start_from_scheme,
        )
        return s, path[:num_plies].tolist()

    def after(self, actions) -> np.ndarray:
        """Return the state after a sequence of actions from the default start."""
        return functools.reduce(self.next, listed("the actions", actions), self.start())

    # -------------------------------------------------------------------------------------- showing
    def render(self, s) -> str:
        """Return the state as text, which :meth:`parse` reads back if the game has a `parse`."""
        s = self._state(s)
        render = self.functions["render"]
        return render(s) if render else " ".join(map(str, s.tolist()))

    def parse(self, text: str) -> np.ndarray:
        """Return the state that a text describes in the game's own form, or by its numbers."""
        checked_text("a state to read", text)
        parse = self.functions["parse"]
        if parse:
            try:
                return self._state(parse(text))
            except OverflowError as error:
                raise ValueError(f"the numbers of a state must fit int32: {error}") from error
        if not all(word.removeprefix("-").isdigit() for word in text.split()):
            raise ValueError(f"{self.name} reads the {self.size} numbers of a state, not {text!r}")
        return self._state([int(word) for word in text.split()])

    def action_name(self, s, action) -> str:
        """Return the usual notation of an action."""
        action = self._action(action)
        action_name = self.functions["action_name"]
        if action_name:
            return action_name(self._state(s), action)
        if action in self.names:
            return self.names[action]
        name = ""
        shown = self.shown_numbers(s)
        for signed in self._touched(shown, action):
            place = self.drawing.places[_unsigned(signed)]
            between = "x" if signed < 0 else "-"
            name += between * bool(name) + place.name_for(self.drawing.number_at(place, shown))
        return name or str(action)

    def action(self, s, name: str) -> int:
        """Return the legal action with a name, such as "d1", as :meth:`action_name` gives it."""
        actions = {self.action_name(s, action): int(action) for action in self.legal(s)}
        if not isinstance(name, str) or name not in actions:
            moves = ", ".join(actions) or "none, the game is over"
            raise ValueError(f"{name!r} is no move of {self.name} here; there are {moves}")
        return actions[name]

    def shown_numbers(self, s) -> list[int]:
        """Return what a drawing shows of a state, by the rule ``shown``: by default its codes."""
        s = self._state(s)
        shown = self.functions["shown"]
        if shown is None:
            return self.board(s).tolist()
        numbers = np.zeros(self.num_shown, np.int32)
        shown(s, numbers)
        return numbers.tolist()

    def codes(self, s) -> np.ndarray:
        """Return the codes of the cells as the drawing shows them, int [cells]."""
        numbers = np.array(self.shown_numbers(s))
        return numbers[: self.layout.max() + 1] if self.functions["shown"] else numbers

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
        if self.from_codes is None:
            raise ValueError(f"{self.name} reads no arrays: give the game from_codes")
        codes = self._codes_of_array(board)
        players = range(self.players)
        if player is not None:
            players = [whole("the player to move", player, 0, self.players - 1)]
        states = {}  # by their numbers: where the game is over, several players give the same
        errors = []
        for mover in players:
            try:
                s = self._state(self.from_codes(codes, mover, **more), to_move=True)
                if self.over(s) or self.player(s) == mover:
                    states[s.tobytes()] = s
            except ValueError as error:
                errors.append(error)
        if len(states) > 1:
            raise ValueError(f"this board of {self.name} does not tell who moves: give the player")
        if not states and errors:
            raise errors[0]
        if not states:
            raise ValueError(f"it is not player {player}'s turn on this board")
        (state,) = states.values()
        return state

    def _codes_of_array(self, board) -> np.ndarray:
        """Return the codes of the cells of a board in the form of :meth:`to_array`."""
        array = numbers(f"a board of {self.name}", board)
        if array.shape != self.layout.shape:
            raise ValueError(
                f"a board of {self.name} has the shape {self.layout.shape}, not {array.shape} as"
                f" {reprlib.repr(board)}"
            )
        code_of = {}
        for code, mark in enumerate(self.marks.tolist()):
            code_of.setdefault(mark, code)  # where several codes look alike, the first one
        codes = np.zeros(self.layout.max() + 1, np.int64)
        for place, mark in np.ndenumerate(array):
            cell = self.layout[place]
            possible = code_of if cell >= 0 else (0,)
            if mark not in possible:
                raise ValueError(f"{mark} cannot stand at {place} of a board of {self.name}")
            if cell >= 0:
                codes[cell] = code_of[mark]
        return codes

    def places(self, s, action) -> list[int]:
        """Return the places of the drawing that are clicked for an action, one after the other.

        An action without places has a button with its name, as every action of a game without a
        drawing of its own.
        """
        action = self._action(action)
        return [_unsigned(place) for place in self._touched(self.shown_numbers(s), action)]

    def _touched(self, numbers, action) -> list[int]:
        """Return the places of an action as the rule ``touch`` writes them; see Definition."""
        if self.functions["touch"]:
            places = np.zeros(MOST_TOUCHED, np.int32)
            count = self.functions["touch"](np.array(numbers, np.int32), action, places)
            return places[:count].tolist()
        is_place = self.is_drawn and action < len(self.drawing.places)
        return [action] if is_place and action not in self.names else []

    def view(self, s, values=None, last=None, before=None) -> View:
        """Return an object that a notebook shows as a picture of the state, a terminal as text.

        `values` are {action: value}, or in the order of `legal`, and shown as a heat map; `last` is
        the action that led here, which is marked. In games in which the place of a move depends on
        the position, such as ConnectFour, `before` is the state in which it was made.
        """
        s = self._state(s)
        if last is not None:
            last = self._action(last)
        if before is not None:
            before = self._state(before)
        drawn = state_svg(self, s, self._values_to_show(values), last, before)
        return View(drawn, text_board(self, s))

    @staticmethod
    def _index(action):
        """Return an action as a number of Python, or None if it is no whole number."""
        try:
            return operator.index(action)
        except TypeError:
            return None

    def _action(self, action) -> int:
        """Return an action as a number, or raise ValueError if it is none of this game."""
        return whole(f"an action of {self.name}", action, 0, self.actions - 1)

    def _values_to_show(self, values):
        """Return values to draw, or raise ValueError if they are none."""
        if values is None:
            return None
        if isinstance(values, Mapping):
            values = {self._action(action): value for action, value in values.items()}
            shown = values.values()
        else:
            shown = values = listed("values", values)
        numbers("the values of actions", list(shown))
        return values

    # ----------------------------------------------------------------------------------- the border
    def _call(self, rule, array, remedy, *, before=(), after=(), call=None):
        """Call a rule on a copy of `array`; return the result and the copy.

        Its arguments are those `before`, the copy and those `after`. If it writes beyond the copy,
        ValueError says which size to raise, the `remedy`. `call` takes the place of the kernel that
        calls the rule.
        """
        if call is None:
            call = getattr(calls, f"call_{rule}")
        margin = GUARD if self.spec or self.tried_out else MARGIN
        n = len(array)
        guard, both_guards = _guard(margin, array.dtype)
        wide = np.concatenate([guard, array, guard])
        inner = wide[margin : margin + n]
        result = call(self.rules, *before, inner, *after)
        if wide[:margin].tobytes() + wide[margin + n :].tobytes() != both_guards:
            raise ValueError(
                f"game {self.name!r}: the rule {rule!r} writes more than {n} values: correct it, or"
                f" raise {remedy}"
            )
        return result, inner.copy()

    def _vector(self, s) -> np.ndarray:
        """Return a state from outside as int32[size], or raise ValueError."""
        array = s if isinstance(s, np.ndarray) else numbers(f"a state of {self.name}", s)
        if array.shape != (self.size,) or array.dtype.kind not in "iu":
            raise ValueError(
                f"a state of {self.name} is a vector of {self.size} int32, not"
                f" {reprlib.repr(s)} of shape {array.shape} and type {array.dtype}"
            )
        vector = np.ascontiguousarray(array, np.int32)
        if vector is not array and (vector != array).any():
            raise ValueError(f"the numbers of a state must fit int32, unlike {array.tolist()}")
        return vector

    def _state(self, s, to_move=False) -> np.ndarray:
        """Return a state from outside, checked; with `to_move` it is over or somebody's turn."""
        s = self._vector(s)
        content = s.tobytes()
        last_content, last_to_move = self._proper
        if content == last_content and to_move <= last_to_move:
            return s
        fault = self.fault(s) if self.fault else None
        if fault:
            raise ValueError(f"{s.tolist()} is no state of {self.name}: {fault}")
        result, cells = self._call(
            "board",
            np.zeros(self.cells, np.int32),
            "the length of num_codes",
            before=[self.num_codes, s],
            after=[to_move],
            call=fault_of,
        )
        if result == NO_PLAYER:
            raise ValueError(
                f"game {self.name!r}: the rule 'player' gives {calls.call_player(self.rules, s)} at"
                f" {s.tolist()}; players are numbered from 0, here 0 to players - 1 ="
                f" {self.players - 1}"
            )
        if result != PROPER:
            cell = result
            num_codes = self.num_codes[cell]
            raise ValueError(
                f"game {self.name!r}: cell {cell} has the code {cells[cell]} at {s.tolist()}, but"
                f" num_codes[{cell}] = {num_codes} allows 0 to {num_codes - 1}"
            )
        self._proper = content, to_move
        return s

    def _arrived(self, s, legal):
        """Note that the rules of the package led to a state and its legal actions.

        Whoever asks for them next need not check and list them again.
        """
        if self.spec is not None:
            content = s.tobytes()
            self._proper = content, True
            self._last_legal = content, legal.copy()


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
        for remark in survey(game):
            warnings.warn(f"game {game.name!r}: {remark}", GameWarning, stacklevel=3)
        game.tried_out = True
    return game
