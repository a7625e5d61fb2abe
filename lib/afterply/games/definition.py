"""What a game is made of: plain rule functions on int32 state vectors, sizes and tables.

A rule function changes its arguments in place and allocates nothing. It is written without a
decorator and compiled by ``Game``; a function that it calls has ``@kernel`` from
``afterply.kernel``. What it writes into holds old numbers, so it writes every element, a 0, too
(of `moves` as many as it returns, of a new state the `core`). Kernels call rules by address through
the ``call_*`` functions of ``calls.py``, so a learner or a search is compiled once and then works
with every game, including one that was defined a second ago in a notebook cell.

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
`play` can. With the same `rng` the `score` must be the one that they lead to, if every move is
``moves[random_int(rng, n)]`` of `n` legal ones, and `rng` must have drawn as often. The rest of `s`
is not read afterwards; `moves` is working memory.

A state may end in a history tail, which only rules against repetition read: the first `core`
numbers are complete without it. A rule that gets a state of `core` numbers (``s.shape[0]``, as
searches give it) keeps no history.

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
from .calls import SIGNATURES, hash_state

REQUIRED = ("start", "legal", "play", "player", "over", "score", "board")
FUNCTIONS = (*SIGNATURES, "render", "parse", "action_name")
MAX_START_PLIES = 10_000
# of networks whose n-tuples nobody chose: entries of an n-tuple, and their number
LARGEST_TABLE, NUM_WALKS = 1 << 16, 50


def fitting_tuples(num_codes) -> str | dict:
    """Return n-tuples that a network of a game holds easily: of all cells, else random walks."""
    if np.prod(num_codes.astype(float)) <= LARGEST_TABLE:
        return "all"
    length = int(np.log(LARGEST_TABLE) / np.log(float(num_codes.max())))
    return {"random_walk": NUM_WALKS, "length": max(1, length)}


@dataclass(eq=False)
class Definition:
    """What ``Game(name, ...)`` takes: functions, sizes and tables of a game, checked.

    The functions are rules, of which the head of this module says what they do, and texts, which
    are plain Python as `svg` and all that follows it: ``render(state) -> text``,
    ``parse(text) -> state``, ``action_name(state, action) -> text``. Rules may call functions
    decorated with ``afterply.kernel.kernel``. Raises ValueError for a wrong size, rule or table.
    """

    name: str
    functions: dict  # name -> function, None where one is absent
    _: KW_ONLY
    players: int  # at least 1
    actions: int  # actions are 0 .. actions - 1
    size: int  # length of a state
    num_codes: list  # [cells] number of codes of each board cell; codes are 0 .. num_codes - 1
    max_legal: int | None = None  # most legal actions that any state has; default: all actions
    # [num_sym, cells] symmetries[k][c] is the cell whose code moves to cell c; a group, of which
    # the identity comes first
    symmetries: list | None = None
    # [num_sym, actions] what each action becomes; absent: no symmetric action values
    action_symmetries: list | None = None
    score_range: tuple = (-1.0, 1.0)  # least and greatest cumulative reward
    start_scheme: tuple = (1.0, 0)  # probability of the default start; random plies otherwise
    core: int | None = None  # length of a state without its history tail; default: all of it
    # above 1: an action is two choices, first * compound + second, such as a move and the man that
    # its mill takes; equal first choices stand side by side among the legal actions
    compound: int = 1
    # [cells] the adjacent cells of each, for random-walk n-tuples; default: all others
    neighbours: list | None = None
    svg: Callable | None = None  # (state, values, last) -> SVG text; see boards.py
    # (state, action) -> the places of the drawing that are clicked for it, such as [to] or [from,
    # to, taken] (code 0 = empty); default: the one of the action's number, if actions are cells
    touch: Callable | None = None
    # [...] the cell at each place of the board as people draw it, -1 = none; default: a row of all
    layout: list | None = None
    marks: list | None = None  # [codes] the number of each code in an array; default: the code
    # state -> the codes of the layout's cells, if they are others than those of `board`
    drawn_codes: Callable | None = None
    # (codes of the cells, player to move, more by name) -> state; ValueError if there is none
    from_codes: Callable | None = None
    # state -> what is wrong with it, or None: states from outside that can not be, where cell codes
    # and player do not tell; rules would leave their arrays, or go on with numbers that lie
    fault: Callable | None = None
    search_settings: dict | None = None  # defaults of a search around an agent: players.Wrapped
    # usual parameters of a learner with n-tuples, such as td, for `episodes` games
    settings: dict | None = None
    # how the command line measures a training: the player to beat, by its word ("": nobody), what a
    # reward of 1 counts (0: percent won) and its unit; default: ("mcts:100", 0, "% won"), for one
    # player ("", 1, " points")
    progress: tuple | None = None
    version: int | None = None  # raised when numbers change; absent: a hash of the rules' code

    def __post_init__(self):
        self.max_legal = self.actions if self.max_legal is None else self.max_legal
        for what in ("players", "actions", "max_legal", "size", "compound"):
            setattr(self, what, whole(f"game {self.name!r}: {what}", getattr(self, what), 1))
        core = self.size if self.core is None else self.core
        self.core = whole(f"game {self.name!r}: core", core, 1, self.size)
        self.num_codes = self._whole_numbers("num_codes", 1)
        self._require(self.num_codes.min() >= 1, "each of num_codes must be at least 1")
        self._check_symmetries()
        low, high = self._two_numbers("score_range")
        wanted = f"score_range must be two numbers, the smaller first, not {low, high}"
        self._require(-np.inf < low < high < np.inf, wanted)
        default, plies = self._two_numbers("start_scheme")
        proper = 0.0 <= default <= 1.0 and plies in range(MAX_START_PLIES)
        wanted = f"start_scheme must be (probability, plies >= 0), not {self.start_scheme}"
        self._require(proper, wanted)
        self.score_range, self.start_scheme = (low, high), (default, int(plies))
        cells = range(len(self.num_codes))
        if self.neighbours is None:
            self.neighbours = [[c for c in cells if c != cell] for cell in cells]
        self.search_settings = {**(self.search_settings or {})}
        self.settings = {"tuples": fitting_tuples(self.num_codes), **(self.settings or {})}
        if self.progress is None:
            self.progress = ("", 1, " points") if self.players == 1 else ("mcts:100", 0, "% won")
        known = set(cells) >= {cell for beside in self.neighbours for cell in beside}
        wanted = f"neighbours must be {len(cells)} lists of cells from 0 to {len(cells) - 1}"
        self._require(known and len(self.neighbours) == len(cells), wanted)
        layout = np.asarray(cells if self.layout is None else self.layout, np.int32)
        on_board = layout[layout >= 0]
        wanted = f"each cell stands at one place of the layout, not as in {layout.tolist()}"
        self._require(on_board.size and len(set(on_board.tolist())) == on_board.size, wanted)
        marks = np.arange(self.num_codes[on_board].max()) if self.marks is None else self.marks
        self.layout, self.marks = layout, np.asarray(marks, np.int32)
        # kernels may be rules
        self.functions = {name: getattr(f, "py_func", f) for name, f in self.functions.items()}
        for rule in SIGNATURES:
            function = self.functions[rule]
            given = callable(function) or function is None and rule not in REQUIRED
            self._require(given, f"the rule {rule!r} must be a function, not {function!r}")
        self.functions["key"] = self.functions["key"] or hash_state
        rules = [self.functions[rule] for rule in SIGNATURES if self.functions[rule]]
        home_made = not all(map(in_package, rules))
        self.content = content_hash(self._made_of()) if home_made else None
        self.version = self.content if self.version is None else plain(self.version)

    def _made_of(self) -> list:
        """Return all that the numbers of a game depend on, which its version may not tell."""
        # they are the same without `finish`
        rules = {rule: self.functions[rule] for rule in SIGNATURES if rule != "finish"}
        sizes = [self.players, self.actions, self.max_legal, self.size, self.core, self.compound]
        tables = [self.num_codes, self.symmetries, self.action_symmetries, self.neighbours]
        return [rules, sizes, tables, self.score_range, self.start_scheme, self.search_settings]

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
        given = getattr(self, what)
        try:
            table = np.asarray(given)
        except ValueError:  # rows of different lengths
            table = np.empty(0)
        proper = table.ndim == dimensions and table.size and table.dtype.kind in "iu"
        kind = "table" if dimensions == 2 else "list"
        self._require(proper, f"{what} must be a {kind} of whole numbers, not {given!r}")
        return table.astype(np.int32)

    def _permutations(self, what, length) -> np.ndarray:
        table = self._whole_numbers(what, 2)
        proper = table.shape[1] == length and (np.sort(table, axis=1) == np.arange(length)).all()
        self._require(proper, f"each row of {what} must be a permutation of 0 to {length - 1}")
        return table

    def _check_symmetries(self):
        """Make tables of the symmetries: a group, and the actions follow one another alike."""
        identity = np.arange(len(self.num_codes), dtype=np.int32)
        self.symmetries = [identity] if self.symmetries is None else self.symmetries
        table = self.symmetries = self._permutations("symmetries", len(identity))
        rows = [row.tobytes() for row in table]
        proper = rows[0] == identity.tobytes() and len(set(rows)) == len(rows)
        self._require(proper, "the symmetries must be distinct and start with the identity")
        actions = self.action_symmetries
        if actions is not None:
            actions = self.action_symmetries = self._permutations("action_symmetries", self.actions)
            what = f"there are {len(rows)} symmetries, but {len(actions)} rows of action_symmetries"
            self._require(len(actions) == len(rows), what)
        for i, j in itertools.product(range(len(rows)), repeat=2):
            both = table[i][table[j]]
            what = f"the symmetries are no group: {i} after {j} gives {both.tolist()}, which is not"
            self._require(both.tobytes() in rows, f"{what} among them; add it")
            if actions is not None:
                k = rows.index(both.tobytes())
                same = (actions[j][actions[i]] == actions[k]).all()
                what = f"symmetry {i} and then {j} is symmetry {k}, but not so in action_symmetries"
                self._require(same, what)


# ------------------------------------------------------------------ rules that can not be compiled
RETURNS = {types.int64: "a whole number", types.float64: "a float", types.boolean: "True or False"}
# what compiles and then goes wrong silently, by a name in the code
SILENT = {
    "print": "it prints, which compiled rules can not do: print game.render(state) from outside",
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
    """A rule of a game can not be compiled; the message says which, where, and what to write."""


def compiled(given: Definition) -> dict:
    """Return numba's handles on the compiled rules, by name; RuleError names rule and remedy."""
    handles = {}
    for rule, (result, *arguments) in SIGNATURES.items():
        function = given.functions[rule]
        if function is None:
            continue
        wrong = _silent_fault(function.__code__, len(arguments))
        if not wrong:
            try:
                handles[rule] = compile_rule(function, result(*arguments))
                continue
            except NumbaError as error:
                wrong = _meaning(result, function.__code__.co_filename, str(error))
        raise RuleError(f"game {given.name!r}: the rule {rule!r} can not be used: {wrong}")
    return handles


def _silent_fault(code, num_arguments) -> str:
    given = code.co_varnames[: code.co_argcount]
    if len(given) != num_arguments:
        names = ", ".join(given)
        return f"it takes {len(given)} arguments ({names}), it must take {num_arguments}"
    if any(step.opname == "RAISE_VARARGS" for step in dis.get_instructions(code)):
        return "it raises an exception (or asserts), which compiled rules can not do"
    return next((words for name, words in SILENT.items() if name in code.co_names), "")


def _meaning(result, file, text) -> str:
    """Return a usual cause in plain words, else numba's first sentence; and the line, if known."""
    if result in RETURNS:
        about = {"No conversion from": f"it must return {RETURNS[result]}, on every path"}
    else:
        about = {"No conversion from .* to none": "it must not return a value: write s[0] = 1"}
    meanings = about | MEANINGS
    found = next((found for p in meanings if (found := re.search(p, text))), None)
    if found:
        words = meanings[found.re.pattern].format(*found.groups())
    else:
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        words = next((line for line in lines if not line.startswith("Failed in nopython")), text)
    places = re.findall(r'(?:File "|at )([^"\s]+?)(?:", line (\d+)| \((\d+)\))', text)
    name = file.rpartition("/")[2]
    numbers = [int(a or b) for place, a, b in places if place.rpartition("/")[2] == name]
    source = linecache.getline(file, numbers[-1]).strip() if numbers else ""
    return f"{words} (line {numbers[-1]}: {source})" if numbers else words
