"""Games: plain rule functions on int32 state vectors, and the `Game` object that compiles and carries them.

A rule function changes its arguments in place and allocates nothing. Kernels call rules by address
through the ``call_*`` functions of ``rules.py``, so a learner or a search is compiled once and then
works with every game, including one that was defined a second ago in a notebook cell.

::

    start(s, rng)          write the initial state
    legal(s, moves)        write the legal actions, return how many
    play(s, action)        deterministic part of a move, in place: state -> afterstate
    chance(s, rng)         random part, in place: afterstate -> next state         (absent: deterministic game)
    player(s)              who is to move
    over(s)                is the state terminal?
    score(s, r)            cumulative reward of every player
    board(s, cells)        the cell codes that the n-tuples read
    outcomes(s)            number of chance outcomes of an afterstate              (optional, with outcome)
    outcome(s, k)          apply the k-th outcome in place, return its probability (optional)
    key(s, k)              two uint64, injective on positions                      (optional: a 128-bit hash)
    irreversible(s)        no earlier position can return                          (optional: never)
    heuristic(s)           estimate of the first player's final reward             (optional: for depth-limited search)

A state may end in a history tail, which only rules against repetition read: the first `core`
numbers are complete without it. A rule that gets a state of `core` numbers (``s.shape[0]``, as
searches give it) keeps no history.
"""

import hashlib
import itertools

import numpy as np

from ..kernel.compile import compile_rule
from ..kernel.random import new_rng, random_int
from ..kernel.source import hash_function
from .calls import (
    SIGNATURES,
    Rules,
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
    hash_state,
    start_from_scheme,
)
from .errors import readable

REQUIRED = ("start", "legal", "play", "player", "over", "score", "board")
GUARD = 64  # spare elements behind every array that a rule writes into
MAX_START_PLIES = 10_000
# what they hold; a rule that overwrites them would damage the memory of a training without a word
SENTINEL = -77777


class Game:
    """A game: its rules, compiled, and the sizes and codes that learners, searches and pictures need.

    Parameters
    ----------
    name : str
    start, legal, play, player, over, score, board : callable
        The rules, as in the head of this module. They may call functions decorated with
        ``afterstate.kernel``.
    players : int
        Number of players, at least 1.
    actions : int
        Number of action identifiers: actions are 0 .. actions - 1.
    max_legal : int
        Most legal actions that any state has.
    size : int
        Length of a state vector (int32).
    values : sequence of int, [cells]
        Number of codes that each board cell can take; codes are 0 .. values - 1.
    symmetries : int array [num_sym, cells], optional
        ``symmetries[k][c]`` is the cell whose code moves to cell ``c``; the identity comes first
        and the set is a group.
    action_symmetries : int array [num_sym, actions], optional
        ``action_symmetries[k][a]`` is what action ``a`` becomes; absent: no symmetric action
        values.
    score_range : (float, float)
        Least and greatest cumulative reward.
    start_scheme : (float, int)
        Probability of the default start, and the number of random plies otherwise.
    core : int, optional
        Length of the state without its history tail (default: all of it).
    compound : int
        Above 1: an action is two choices, ``first * compound + second``, such as a move and the man
        that its mill takes; equal first choices stand side by side among the legal actions. Random
        players make one choice after the other.
    neighbours : sequence of sequences of int, optional
        Adjacent cells of each cell, for random-walk n-tuples (default: every cell with every
        other).
    render, parse, action_name, svg : callable, optional
        Plain Python: state -> text, text -> state, (state, action) -> text, (state, values, last)
        -> SVG text.
    version : int, optional
        Raised when the numbers a game gives change; games outside the package get the hash of their
        source.
    spec : dict, optional
        Name and parameters under which ``games.load`` makes the same game again.

    Raises
    ------
    ValueError
        If a size is wrong, a rule is missing, or the symmetries are not a group of permutations.
    """

    def __init__(
        self,
        name,
        *,
        start,
        legal,
        play,
        player,
        over,
        score,
        board,
        players,
        actions,
        max_legal,
        size,
        values,
        chance=None,
        outcomes=None,
        outcome=None,
        key=None,
        irreversible=None,
        heuristic=None,
        symmetries=None,
        action_symmetries=None,
        score_range=(-1.0, 1.0),
        start_scheme=(1.0, 0),
        core=None,
        compound=1,
        neighbours=None,
        render=None,
        parse=None,
        action_name=None,
        svg=None,
        version=None,
        spec=None,
    ):
        self._arguments = {k: v for k, v in locals().items() if k not in ("self", "__class__")}
        functions = {
            "start": start,
            "legal": legal,
            "play": play,
            "chance": chance,
            "player": player,
            "over": over,
            "score": score,
            "board": board,
            "outcomes": outcomes,
            "outcome": outcome,
            "key": key or hash_state,
            "irreversible": irreversible,
            "heuristic": heuristic,
        }
        # a kernel may be a rule too
        functions = {rule: getattr(f, "py_func", f) for rule, f in functions.items()}
        for rule in REQUIRED:
            if not callable(functions[rule]):
                raise ValueError(
                    f"game {name!r}: the rule {rule!r} must be a function, not {functions[rule]!r}"
                )
        for what, number in (
            ("players", players),
            ("actions", actions),
            ("max_legal", max_legal),
            ("size", size),
            ("compound", compound),
        ):
            if not isinstance(number, (int, np.integer)) or number < 1:
                raise ValueError(
                    f"game {name!r}: {what} must be a whole number of at least 1, not {number!r}"
                )
        if (
            not isinstance(start_scheme, (tuple, list))
            or len(start_scheme) != 2
            or not 0.0 <= start_scheme[0] <= 1.0
            or start_scheme[1] not in range(MAX_START_PLIES)
        ):
            raise ValueError(
                f"game {name!r}: start_scheme must be (probability, plies >= 0), not"
                f" {start_scheme!r}"
            )
        self.name, self.players, self.actions, self.max_legal, self.size = (
            name,
            players,
            actions,
            max_legal,
            size,
        )
        self.core = size if core is None else core
        self.values = _whole_numbers(name, "values", values, 1)
        self.cells = len(self.values)
        self.symmetries = _symmetries(name, symmetries, self.cells)
        self.action_symmetries = (
            None if action_symmetries is None else np.asarray(action_symmetries, np.int32)
        )
        self.score_range = tuple(map(float, score_range))
        self.start_scheme = start_scheme
        self.neighbours = neighbours or [
            [c for c in range(self.cells) if c != cell] for cell in range(self.cells)
        ]
        self.render_state, self.parse_text, self.name_action, self.draw = (
            render,
            parse,
            action_name,
            svg,
        )
        self.spec, self.maker = spec, None
        self.version = version if version is not None else _source_version(functions)
        self._arguments["version"] = self.version  # a worker process may not find the source again
        self._compiled = {}
        for rule, f in functions.items():
            if f is not None:
                with readable(name, rule, f, len(SIGNATURES[rule]) - 1):
                    self._compiled[rule] = compile_rule(
                        f, SIGNATURES[rule][0](*SIGNATURES[rule][1:])
                    )
        address = {
            rule: self._compiled[rule].address if rule in self._compiled else 0
            for rule in SIGNATURES
        }
        self.rules = Rules(
            **address,
            size=size,
            core=self.core,
            players=players,
            actions=actions,
            max_legal=max_legal,
            cells=self.cells,
            compound=compound,
            start_plies=int(start_scheme[1]),
            start_default=float(start_scheme[0]),
        )

    # ------------------------------------------------------------------------------------- identity
    @property
    def deterministic(self) -> bool:
        """Whether moves have no random part.  Source: [konen2021] Alg. 6, line 4 (T_after)."""
        return self.rules.chance == 0

    def rule(self, name: str):
        """Return the Python function of a rule, such as ``"play"``."""
        return self._arguments[name]

    @property
    def identity(self) -> dict:
        """What a record says about the game: name, parameters, version."""
        return {**(self.spec or {"name": self.name, "params": {}}), "version": self.version}

    def __repr__(self):
        params = ", ".join(f"{k}={v!r}" for k, v in (self.spec or {}).get("params", {}).items())
        return (
            f"<game {self.name}({params}): {self.players} players, {self.actions} actions,"
            f" {self.cells} cells>"
        )

    def __reduce__(self):
        if self.maker is not None:
            return made_by, (self.maker, self.spec)
        return _rebuild, (self._arguments,)

    # -------------------------------------------------------------------------------------- playing
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
        s, moves = self._state(s), np.zeros(self.max_legal, np.int32)
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
        s = self._state(s)
        if action not in self.legal(s):
            raise ValueError(
                f"action {action} is not legal in {self.name}; legal here: {self.legal(s).tolist()}"
            )
        return self._guarded(
            "play", lambda after: call_play(self.rules, after, int(action)), s, "size"
        )[1]

    def chance(self, s, rng) -> np.ndarray:
        """Return the next state of the afterstate `s`.

        `rng` is the uint64[1] of ``kernel.new_rng`` and advances.

        Source: [konen2021] Alg. 6, line 3.
        """
        after = self._state(s).copy()
        call_chance(self.rules, after, rng)
        return after

    def next(self, s, action, rng=None) -> np.ndarray:
        """Return the next state after `action` and, where the game has one, its random part."""
        return self.chance(self.play(s, action), new_rng(0) if rng is None else rng)

    def player(self, s) -> int:
        """Return the player to move."""
        return int(call_player(self.rules, self._state(s)))

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
            "the length of values",
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
        """Return the state after a sequence of actions from the default start (deterministic games)."""
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
        values : mapping action -> value, optional
            Shown as a heat map on the board.
        last : int, optional
            The action that led here, marked on the board.
        """
        from .board import view

        return view(self, self._state(s), values=values, last=last)

    def try_out(self, games: int = 5, max_plies: int = 100) -> None:
        """Play a few random games.

        Raises ValueError if a rule would make a training write outside its arrays.

        A training does it first for every game that is not the package's own; ``conformance.check``
        looks at much more.
        """
        rng = new_rng(0)
        for _ in range(games):
            s = self.start(0)
            for _ in range(max_plies):
                cells, _ = self.board(s), self.score(s)
                wrong = np.flatnonzero((cells < 0) | (cells >= self.values))
                if len(wrong):
                    raise ValueError(
                        f"game {self.name!r}: cell {wrong[0]} has the code {cells[wrong[0]]} at"
                        f" {s.tolist()}, but values[{wrong[0]}] = {self.values[wrong[0]]} allows 0"
                        f" to {self.values[wrong[0]] - 1}"
                    )
                if self.over(s):
                    break
                if not 0 <= self.player(s) < self.players:
                    raise ValueError(
                        f"game {self.name!r}: the rule 'player' gives {self.player(s)} at"
                        f" {s.tolist()}; players are 0 to players - 1 = {self.players - 1}"
                    )
                legal = self.legal(s)
                if not len(legal):
                    raise ValueError(
                        f"game {self.name!r}: there is no legal action at {s.tolist()}, but 'over'"
                        " says that the game goes on"
                    )
                s = self.next(s, legal[random_int(rng, len(legal))], rng)

    def _guarded(self, rule, call, array, size):
        """Call a rule on a copy of `array`.

        Return its result and the array, or raise if it writes behind the end.
        """
        wide = np.full(len(array) + GUARD, SENTINEL, array.dtype)
        wide[: len(array)] = array
        result = call(wide[: len(array)])
        if (wide[len(array) :] != SENTINEL).any():
            raise ValueError(
                f"game {self.name!r}: the rule {rule!r} writes more than {len(array)} values:"
                f" correct it, or raise {size}"
            )
        return result, wide[: len(array)].copy()

    def _state(self, s) -> np.ndarray:
        s = np.ascontiguousarray(s, np.int32)
        if s.shape != (self.size,):
            raise ValueError(
                f"a state of {self.name} is a vector of {self.size} int32, not of shape {s.shape}"
            )
        return s


def made_by(maker, spec: dict) -> Game:
    """Make a game of the package by its maker function.

    `spec` holds its name and all parameters, for records and other processes.
    """
    game = maker(**spec["params"])
    game.spec, game.maker = spec, maker
    return game


def _rebuild(arguments):
    return Game(arguments["name"], **{k: v for k, v in arguments.items() if k != "name"})


def _source_version(functions) -> str:
    """Version of a game defined outside the package: a hash of its rules' code and of all constants and helpers they use."""
    digest = hashlib.sha256()
    for rule, function in sorted(functions.items()):
        if function is not None:
            digest.update(rule.encode())
            hash_function(digest, function, set())
    return "source-" + digest.hexdigest()[:12]


def _whole_numbers(name, what, given, dimensions) -> np.ndarray:
    """Return whole numbers as an int32 array of so many dimensions, none of them empty, or raise."""
    try:
        table = np.asarray(given)
    except ValueError:  # rows of different lengths
        table = np.empty(0)
    if table.ndim != dimensions or not table.size or table.dtype.kind not in "iu":
        raise ValueError(
            f"game {name!r}: {what} must be a {'table' if dimensions == 2 else 'list'} of whole"
            f" numbers, not {given!r}"
        )
    return table.astype(np.int32)


def _symmetries(name, symmetries, cells) -> np.ndarray:
    """Check that the symmetries are a group of permutations with the identity first.

    Return them as int32.
    """
    if symmetries is None:
        return np.arange(cells, dtype=np.int32)[None, :]
    table = _whole_numbers(name, "symmetries", symmetries, 2)
    rows = {tuple(row) for row in table.tolist()}
    if (
        table.ndim != 2
        or table.shape[1] != cells
        or any(sorted(row) != list(range(cells)) for row in rows)
    ):
        raise ValueError(
            f"game {name!r}: every symmetry must be a permutation of the {cells} cells"
        )
    if tuple(table[0]) != tuple(range(cells)) or len(rows) != len(table):
        raise ValueError(
            f"game {name!r}: the symmetries must be distinct and start with the identity"
        )
    for i, j in itertools.product(range(len(table)), repeat=2):
        if tuple(table[i][table[j]]) not in rows:
            raise ValueError(
                f"game {name!r}: the symmetries are no group: {i} after {j} gives"
                f" {table[i][table[j]].tolist()}, which is not among them; add it"
            )
    return table


def check_game(game, who: str = "a session"):
    """Return the game, with its rules tried out if it is home-made.

    Raises ValueError if it is no game, or a rule does not keep to its arrays.
    """
    if not isinstance(game, Game):
        raise ValueError(f"{who} needs a game, such as games.load('tictactoe'), not {game!r}")
    # nobody has tested its rules, and one that writes outside its arrays would end the process
    if game.spec is None:
        game.try_out()
    return game
