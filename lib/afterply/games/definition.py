"""What a game is made of: plain rule functions on int32 state vectors, sizes and tables.

A rule is a function that changes its arguments in place and allocates nothing. It is written
without a decorator and compiled by ``Game``; a function that it calls has ``@kernel`` from
``afterply.kernel``. The arrays that it writes into hold old numbers, so it writes every element,
also where it is 0: of `moves` as many as it returns, of a new state the `core`. Kernels call rules
by address through the ``call_*`` functions of ``calls.py``, so a learner or a search is compiled
once and then works with every game, including one that was defined a second ago in a notebook cell.

::

    start(s, rng)     write the initial state
    legal(s, moves)   write the legal actions, return how many
    play(s, action)   deterministic part of a move, in place: state -> afterstate
    player(s)         who is to move, counted from 0
    over(s)           is the state terminal?
    score(s, r)       cumulative reward of every player
    board(s, cells)   the cell codes that the n-tuples read

    chance(s, rng)    random part, in place: afterstate -> next state   absent: no chance
    outcomes(s)       number of chance outcomes of an afterstate        optional, with outcome
    outcome(s, k)     apply the k-th one in place, return its probability
    key(s, k)         two uint64, injective on positions                optional: a 128-bit hash
    irreversible(s)   no earlier position can return                    optional: never
    heuristic(s)      estimate of the first player's final reward       optional: for Min-Max
    finish(s, moves, plies, rng)    play at random to the end           optional: speed

`finish` plays at random to the end in one call, at most `plies` moves, faster than `legal` and
`play` can. It must be the same game: if they take ``moves[random_int(rng, n)]`` of `n` legal moves
each time, the `score` and the state of `rng` are equal afterwards. Nothing else is read of `s`;
`moves` is working memory.

A state may end in a history tail, which only rules against repetition read: the first `core`
numbers are complete without it. A rule that gets a state of `core` numbers (``s.shape[0]``, as
searches give it) keeps no history.

Tables of symmetries point in two directions. For cells they say where a code *comes from*: on the
image of a board under symmetry k, cell c has the code that cell ``symmetries[k][c]`` has on the
board. For actions they say where an action *goes to*: what action a does on the board, action
``action_symmetries[k][a]`` does on its image. Where actions are cells, such as in Tic-Tac-Toe, the
rows of the one table are therefore the inverse permutations of the rows of the other::

    action_symmetries = np.argsort(symmetries, axis=1)

`chance`, and a random `start`, draw from `rng` by ``random_int(rng, n)``, one of 0 to n - 1, and
``random_float(rng)``, in [0, 1), both from ``afterply.kernel``; so the seed of a run fixes them::

    def chance(s, rng):
        s[1] = 1 + random_int(rng, 6)  # a die is thrown
"""

import dis
import itertools
import linecache
import re
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass

import numpy as np
from numba import types
from numba.core.errors import NumbaError

from ..checks import plain, whole
from ..identity import content_hash, in_package
from ..kernel.compile import compile_rule
from .calls import SHOWING, SIGNATURES, hash_state
from .drawing import Drawing
from .drawing import plain as plain_drawing

REQUIRED = ("start", "legal", "play", "player", "over", "score", "board")
FUNCTIONS = (*SIGNATURES, *SHOWING, "render", "parse", "action_name")
MAX_START_PLIES = 10_000
# of networks whose n-tuples nobody chose
LARGEST_TABLE = 1 << 16  # entries of an n-tuple
NUM_WALKS = 50  # n-tuples


def fitting_tuples(num_codes) -> str | dict:
    """Return n-tuples that a network of a game holds easily: of all cells, else random walks."""
    if np.prod(num_codes.astype(float)) <= LARGEST_TABLE:
        return "all"
    length = int(np.log(LARGEST_TABLE) / np.log(float(num_codes.max())))
    return {"random_walk": NUM_WALKS, "length": max(1, length)}


@dataclass(eq=False)
class Definition:
    """What ``Game(name, ...)`` takes: functions, sizes and tables of a game, checked.

    The functions are the rules, which the head of this module describes, and three for texts:
    ``render(state) -> text``, ``parse(text) -> state``, ``action_name(state, action) -> text``.
    These and the functions of the fields are plain Python.

    Three rules serve people; pages compile them, all others call them as they are::

        shown(state, numbers)             write the numbers that the drawing shows: first the codes
                                          of the cells that the layout names; by default `board`
        touch(numbers, action, places)    write the places that are clicked for an action, such as
                                          to, or from and to, and return how many; ~place where an x
                                          stands before its name, as after a capture; by default
                                          action and place have the same number
        start_at(state, level, rng)       write a start of a level of difficulty, 1 to `levels`

    Raises
    ------
    ValueError
        If a size, a rule or a table is wrong.
    """

    name: str
    functions: dict  # name -> function, None where one is absent
    _: KW_ONLY
    players: int  # at least 1
    actions: int  # actions are 0 .. actions - 1
    size: int  # length of a state
    num_codes: list  # [cells] number of codes of each board cell; codes are 0 .. num_codes - 1
    max_legal: int | None = None  # most legal actions that any state has; default: all actions
    # [num_sym, cells] image[c] = board[symmetries[k][c]]: where the code of cell c of the image
    # comes from; a group, of which the identity comes first; default: the identity alone
    symmetries: list | None = None
    # [num_sym, actions] action a of the board is action action_symmetries[k][a] of the image: where
    # it goes to; absent: no symmetric action values
    action_symmetries: list | None = None
    score_range: tuple = (-1.0, 1.0)  # least and greatest cumulative reward
    start_scheme: tuple = (1.0, 0)  # probability of the default start; random plies otherwise
    core: int | None = None  # length of a state without its history tail; default: all of it
    # above 1: an action is two choices, first * compound + second, such as a move and the man that
    # its mill takes; equal first choices stand side by side among the legal actions
    compound: int = 1
    # [cells] the adjacent cells of each, for random-walk n-tuples; default: all others
    neighbours: list | None = None
    # the cell whose code is the stage of the game, such as opening, middle game and end: each
    # n-tuple reads it, too, so that every stage has weights of its own; absent: no stages
    stage: int | None = None
    title: str = ""  # the name for people; default: the name
    aim: str = ""  # two sentences for somebody who plays it: how it is won, and what a move is
    drawing: Drawing | None = None  # default: a plain grid with the numbers of the cells
    names: dict | None = None  # action -> name; others are called by their places
    levels: int = 0  # of difficulty, between which people choose; the rule `start_at` knows them
    num_shown: int | None = None  # numbers that the rule `shown` writes; default: one a cell
    # [...] the cell at each place of the board as people draw it, -1 = none; default: a row of all
    layout: list | None = None
    marks: list | None = None  # [codes] the number of each code in an array; default: the code
    # (codes of the cells, player to move, more by name) -> state; ValueError if there is none
    from_codes: Callable | None = None
    # state -> what is wrong with a state from outside, or None; cell codes and player are checked
    # anyway. Rules trust their states: from an impossible one they might write beyond their arrays.
    fault: Callable | None = None
    search_settings: dict | None = None  # defaults of a search around an agent: players.Wrapped
    # recommended parameters of a learner with n-tuples, such as td, for `episodes` games
    settings: dict | None = None
    # how the command line measures a training: the opponent by its word ("": nobody), how much a
    # reward of 1 counts (0: the percentage of games won) and the unit; default:
    # ("mcts:100", 0, "% won"), for one player ("", 1, " points")
    progress: tuple | None = None
    version: int | None = None  # raised when numbers change; absent: a hash of the rules' code

    def __post_init__(self):
        self._check_sizes()
        self._set_symmetries()
        self._check_score_range()
        self._check_start_scheme()
        self._check_neighbours()
        self._check_stage()
        self._complete_settings()
        self._check_layout()
        self._check_drawing()
        self._check_functions()
        self._set_version()

    def _check_sizes(self):
        if self.max_legal is None:
            self.max_legal = self.actions
        for what in ("players", "actions", "max_legal", "size", "compound"):
            setattr(self, what, whole(f"game {self.name!r}: {what}", getattr(self, what), 1))
        if self.core is None:
            self.core = self.size
        self.core = whole(f"game {self.name!r}: core", self.core, 1, self.size)
        self.num_codes = self._whole_numbers("num_codes", 1)
        self._require(self.num_codes.min() >= 1, "each of num_codes must be at least 1")

    def _check_score_range(self):
        low, high = self._two_numbers("score_range")
        proper = -np.inf < low < high < np.inf
        self._require(
            proper, f"score_range must be two numbers, the smaller first, not {low, high}"
        )
        self.score_range = (low, high)

    def _check_start_scheme(self):
        probability, plies = self._two_numbers("start_scheme")
        proper = 0.0 <= probability <= 1.0 and plies in range(MAX_START_PLIES)
        self._require(
            proper, f"start_scheme must be (probability, plies >= 0), not {self.start_scheme}"
        )
        self.start_scheme = (probability, int(plies))

    def _check_neighbours(self):
        cells = range(len(self.num_codes))
        if self.neighbours is None:
            self.neighbours = [[c for c in cells if c != cell] for cell in cells]
        named = set(itertools.chain.from_iterable(self.neighbours))
        proper = named <= set(cells) and len(self.neighbours) == len(cells)
        self._require(
            proper, f"neighbours must be {len(cells)} lists of cells from 0 to {len(cells) - 1}"
        )

    def _check_stage(self):
        if self.stage is None:
            return
        last = len(self.num_codes) - 1
        self.stage = whole(f"game {self.name!r}: stage", self.stage, 0, last)
        comes_from = self.symmetries[:, self.stage]
        self._require(
            (comes_from == self.stage).all(),
            f"the symmetries must leave cell {self.stage}, the stage, where it is, not take it from"
            f" the cells {comes_from.tolist()}",
        )

    def _complete_settings(self):
        self.search_settings = {**(self.search_settings or {})}
        self.settings = {"tuples": fitting_tuples(self.num_codes), **(self.settings or {})}
        if self.progress is None:
            self.progress = ("", 1, " points") if self.players == 1 else ("mcts:100", 0, "% won")

    def _check_layout(self):
        """Make arrays of the layout and the marks; each cell stands at one place at most."""
        if self.layout is None:
            self.layout = range(len(self.num_codes))
        self.layout = np.asarray(self.layout, np.int32)
        on_board = self.layout[self.layout >= 0]
        proper = on_board.size and len(set(on_board.tolist())) == on_board.size
        self._require(
            proper, f"each cell stands at one place of the layout, not as in {self.layout.tolist()}"
        )
        if self.marks is None:
            self.marks = range(self.num_codes[on_board].max())
        self.marks = np.asarray(self.marks, np.int32)

    def _check_drawing(self):
        self.title = self.title or self.name
        self.is_drawn = self.drawing is not None
        if self.drawing is None:
            self.drawing = plain_drawing(self.layout, self.marks)
        self._require(
            isinstance(self.drawing, Drawing),
            f"drawing must be a games.drawing.Drawing, not {self.drawing!r}",
        )
        self.names = {int(action): str(name) for action, name in (self.names or {}).items()}
        if self.num_shown is None:
            self.num_shown = len(self.num_codes)

    def _check_functions(self):
        for name, function in self.functions.items():
            self.functions[name] = getattr(function, "py_func", function)  # kernels may be rules
        for rule in (*SIGNATURES, *SHOWING):
            function = self.functions[rule]
            proper = callable(function) or function is None and rule not in REQUIRED
            self._require(proper, f"the rule {rule!r} must be a function, not {function!r}")
        if not self.functions["key"]:
            self.functions["key"] = hash_state

    def _set_version(self):
        """Note the hash of a home-made game's content, which is its version if it states none."""
        rules = [self.functions[rule] for rule in SIGNATURES if self.functions[rule]]
        is_home_made = not all(map(in_package, rules))
        self.content = content_hash(self._made_of()) if is_home_made else None
        self.version = self.content if self.version is None else plain(self.version)

    def _made_of(self) -> list:
        """Return all that the numbers of a game depend on, also where its version is not raised."""
        # without `finish` the numbers are the same
        rules = {rule: self.functions[rule] for rule in SIGNATURES if rule != "finish"}
        sizes = [self.players, self.actions, self.max_legal, self.size, self.core, self.compound]
        tables = [self.num_codes, self.symmetries, self.action_symmetries, self.neighbours]
        made_of = [rules, sizes, tables, self.score_range, self.start_scheme, self.search_settings]
        if self.stage is not None:  # games without stages keep their hashes
            made_of.append({"stage": self.stage})
        return made_of

    def _require(self, holds, what):
        if not holds:
            raise ValueError(f"game {self.name!r}: {what}")

    def _two_numbers(self, what) -> tuple[float, float]:
        try:
            first, second = map(float, getattr(self, what))
        except (TypeError, ValueError):
            self._require(False, f"{what} must be two numbers, not {getattr(self, what)!r}")
        return first, second

    def _whole_numbers(self, what, dimensions) -> np.ndarray:
        numbers = getattr(self, what)
        try:
            table = np.asarray(numbers)
        except ValueError:  # rows of different lengths
            table = np.empty(0)
        proper = table.ndim == dimensions and table.size and table.dtype.kind in "iu"
        kind = "table" if dimensions == 2 else "list"
        self._require(proper, f"{what} must be a {kind} of whole numbers, not {numbers!r}")
        return table.astype(np.int32)

    def _permutations(self, what, length) -> np.ndarray:
        table = self._whole_numbers(what, 2)
        proper = table.shape[1] == length and (np.sort(table, axis=1) == np.arange(length)).all()
        self._require(proper, f"each row of {what} must be a permutation of 0 to {length - 1}")
        return table

    def _set_symmetries(self):
        """Make arrays of both tables of symmetries, and require that they are groups."""
        identity = np.arange(len(self.num_codes), dtype=np.int32)
        if self.symmetries is None:
            self.symmetries = [identity]
        self.symmetries = self._permutations("symmetries", len(identity))
        rows = [row.tobytes() for row in self.symmetries]
        proper = rows[0] == identity.tobytes() and len(set(rows)) == len(rows)
        self._require(proper, "the symmetries must be distinct and start with the identity")
        if self.action_symmetries is not None:
            self.action_symmetries = self._permutations("action_symmetries", self.actions)
            num_rows = len(self.action_symmetries)
            self._require(
                num_rows == len(rows),
                f"there are {len(rows)} symmetries, but {num_rows} rows of action_symmetries",
            )
        for i, j in itertools.product(range(len(rows)), repeat=2):
            self._check_composition(rows, i, j)

    def _check_composition(self, rows, i, j):
        """Check that symmetries `i` and then `j` are one of them, also for the actions."""
        both = self.symmetries[i][self.symmetries[j]]
        self._require(
            both.tobytes() in rows,
            f"the symmetries are no group: {i} and then {j} gives {both.tolist()}, which is not"
            " among them; add it",
        )
        if self.action_symmetries is not None:
            k = rows.index(both.tobytes())
            actions = self.action_symmetries
            self._require(
                (actions[j][actions[i]] == actions[k]).all(),
                f"symmetry {i} and then {j} is symmetry {k}, but not so in action_symmetries",
            )


# ------------------------------------------------------------------ rules that cannot be compiled
RETURNS = {types.int64: "a whole number", types.float64: "a float", types.boolean: "True or False"}
# names in the code of rules that compile, and then do something else than in Python
SILENT = {
    "print": "it prints, which compiled rules cannot do: print game.render(state) from outside",
    "random": "it uses random numbers without the run's seed: take random_int(rng, n) or"
    " random_float(rng) from afterply.kernel",
}
# what numba's messages mean, by patterns; {0} is what stands in their parentheses
MEANINGS = {
    r"NRT required|built-in function (?:zeros|ones|empty|full|array|arange|list|append)": (
        "it makes a new array or list (a copy, np.zeros, [...]): write into the arguments instead,"
        " and keep constants outside the rule, as a tuple or a numpy array"
    ),
    r"reflected list": "it uses a Python list from outside: make that a tuple or a numpy array",
    r"Unknown attribute '(\w+)' of type array": (
        "it uses .{0}, but a state is no Python list: it is an int32 vector of fixed length, of"
        " which single numbers are read and written, as in s[0] = 1"
    ),
    r"Untyped global name '(\w+)'.*<class 'function'>": (
        "it calls {0}, which is plain Python: decorate {0} with @kernel from afterply.kernel"
    ),
}


class RuleError(ValueError):
    """A rule of a game cannot be compiled; the message says which, where, and what to write."""


def compiled(definition: Definition, signatures=SIGNATURES) -> dict:
    """Return numba's handles on the compiled rules, by name; RuleError names rule and remedy."""
    handles = {}
    for rule, signature in signatures.items():
        function = definition.functions[rule]
        if function is not None:
            handles[rule], problem = _compile(function, signature)
            if problem:
                raise RuleError(
                    f"game {definition.name!r}: the rule {rule!r} cannot be used: {problem}"
                )
    return handles


def _compile(function, signature) -> tuple:
    """Return a rule compiled and "", or None and what is wrong with it."""
    result, *arguments = signature
    problem = _silent_fault(function.__code__, len(arguments))
    if problem:
        return None, problem
    try:
        return compile_rule(function, result(*arguments)), ""
    except NumbaError as error:
        return None, _meaning(result, function.__code__.co_filename, str(error))


def _silent_fault(code, num_arguments) -> str:
    """Return what is wrong with a rule that numba would compile; "" if nothing is."""
    arguments = code.co_varnames[: code.co_argcount]
    if len(arguments) != num_arguments:
        names = ", ".join(arguments)
        return f"it takes {len(arguments)} arguments ({names}), it must take {num_arguments}"
    if any(step.opname == "RAISE_VARARGS" for step in dis.get_instructions(code)):
        return "it raises an exception (or asserts), which compiled rules cannot do"
    for name, words in SILENT.items():
        if name in code.co_names:
            return words
    return ""


def _meaning(result, file, text) -> str:
    """Return what an error of numba means, and the line of the rule's file if it is known."""
    words = _cause(result, text)
    number = _line_number(file, text)
    if number is None:
        return words
    return f"{words} (line {number}: {linecache.getline(file, number).strip()})"


def _cause(result, text) -> str:
    """Return the cause of an error in plain words if it is a common one, else numba's own."""
    if result in RETURNS:
        meanings = {"No conversion from": f"it must return {RETURNS[result]}, on every path"}
    else:
        meanings = {"No conversion from .* to none": "it must not return a value: write s[0] = 1"}
    for pattern, words in (meanings | MEANINGS).items():
        match = re.search(pattern, text)
        if match:
            return words.format(*match.groups())
    for line in text.splitlines():
        if line.strip() and not line.strip().startswith("Failed in nopython"):
            return line.strip()
    return text


def _line_number(file, text) -> int | None:
    """Return the last line of a file that an error of numba names, or None."""
    name = file.rpartition("/")[2]
    number = None
    places = re.findall(r'(?:File "|at )([^"\s]+?)(?:", line (\d+)| \((\d+)\))', text)
    for place, after_comma, in_parentheses in places:
        if place.rpartition("/")[2] == name:
            number = int(after_comma or in_parentheses)
    return number
