"""What a game is made of: plain rule functions on int32 state vectors, sizes and tables.

A rule function changes its arguments in place and allocates nothing. Kernels call rules by address
through the ``call_*`` functions of ``calls.py``, so a learner or a search is compiled once and then
works with every game, including one that was defined a second ago in a notebook cell.

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

A state may end in a history tail, which only rules against repetition read: the first `core`
numbers are complete without it. A rule that gets a state of `core` numbers (``s.shape[0]``, as
searches give it) keeps no history.
"""

import dis
import itertools
import linecache
import re
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass

import numpy as np
from numba.core.errors import NumbaError

from ..checks import whole
from ..kernel.compile import compile_rule
from ..kernel.source import code_version
from .calls import SIGNATURES, hash_state

REQUIRED = ("start", "legal", "play", "player", "over", "score", "board")
MAX_START_PLIES = 10_000


@dataclass
class Definition:
    """What ``Game(name, ...)`` takes: rules, sizes, tables and texts of a game, checked.

    Rules may call functions decorated with ``afterstate.kernel.kernel``; the head of this module
    says what they do. `render` and all that follows it is plain Python. Raises ValueError for a
    wrong size, rule or table.
    """

    name: str
    _: KW_ONLY
    start: Callable
    legal: Callable
    play: Callable
    player: Callable
    over: Callable
    score: Callable
    board: Callable
    players: int  # at least 1
    actions: int  # actions are 0 .. actions - 1
    max_legal: int  # most legal actions that any state has
    size: int  # length of a state
    num_codes: list  # [cells] number of codes of each board cell; codes are 0 .. num_codes - 1
    chance: Callable | None = None
    outcomes: Callable | None = None
    outcome: Callable | None = None
    key: Callable | None = None
    irreversible: Callable | None = None
    heuristic: Callable | None = None
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
    render: Callable | None = None  # state -> text
    parse: Callable | None = None  # text -> state
    action_name: Callable | None = None  # (state, action) -> text
    svg: Callable | None = None  # (state, values=None, last=None) -> SVG text; see boards.py
    # (game, state, action) -> the cells of the drawing that are clicked for the action, one after
    # the other; default: the cell of its number, if actions are cells
    touch: Callable | None = None
    # state -> what is wrong with it, or None: for states from outside with which the rules would
    # leave their arrays, where cell codes and player do not tell
    fault: Callable | None = None
    search_settings: dict | None = None  # defaults of a search around an agent: players.Wrapped
    version: int | None = None  # raised when numbers change; absent: a hash of the rules' code
    spec: dict | None = None  # name and parameters for games.load

    def __post_init__(self):
        for what in ("players", "actions", "max_legal", "size", "compound"):
            setattr(self, what, whole(f"game {self.name!r}: {what}", getattr(self, what), 1))
        core = self.size if self.core is None else self.core
        self.core = whole(f"game {self.name!r}: core", core, 1, self.size)
        self.num_codes = self._whole_numbers("num_codes", 1)
        self._require(self.num_codes.min() >= 1, "each of num_codes must be at least 1")
        self.symmetries = self._symmetry_group()
        if self.action_symmetries is not None:
            self.action_symmetries = self._permutations("action_symmetries", self.actions)
            self._check_action_symmetries()
        self.score_range = self._two_numbers("score_range", "two numbers, the smaller first")
        default, plies = self._two_numbers("start_scheme", "(probability, plies >= 0)")
        self.start_scheme = default, int(plies)
        self._check_neighbours()
        functions = self.functions()
        for rule, function in functions.items():
            given = callable(function) or function is None and rule not in REQUIRED
            self._require(given, f"the rule {rule!r} must be a function, not {function!r}")
        if self.version is None:
            self.version = code_version(functions)

    def functions(self) -> dict:
        """Return the Python functions of all rules, None where one is absent."""
        found = {rule: getattr(self, rule) for rule in SIGNATURES} | {"key": self.key or hash_state}
        return {rule: getattr(f, "py_func", f) for rule, f in found.items()}  # kernels may be rules

    def _require(self, holds, what):
        if not holds:
            raise ValueError(f"game {self.name!r}: {what}")

    def _two_numbers(self, what, wanted) -> tuple[float, float]:
        try:
            first, second = map(float, getattr(self, what))
        except (TypeError, ValueError):
            first = second = np.nan
        if what == "score_range":
            proper = -np.inf < first < second < np.inf
        else:
            proper = 0.0 <= first <= 1.0 and second in range(MAX_START_PLIES)
        self._require(proper, f"{what} must be {wanted}, not {getattr(self, what)!r}")
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

    def _symmetry_group(self) -> np.ndarray:
        cells = len(self.num_codes)
        if self.symmetries is None:
            return np.arange(cells, dtype=np.int32)[None, :]
        table = self._permutations("symmetries", cells)
        rows = {row.tobytes() for row in table}
        proper = (table[0] == np.arange(cells)).all() and len(rows) == len(table)
        self._require(proper, "the symmetries must be distinct and start with the identity")
        for i, j in itertools.product(range(len(table)), repeat=2):
            both = table[i][table[j]]
            what = f"the symmetries are no group: {i} after {j} gives {both.tolist()}, which is not"
            self._require(both.tobytes() in rows, f"{what} among them; add it")
        return table

    def _check_action_symmetries(self):
        """Rows must follow one another as the symmetries do."""
        table, rows = self.action_symmetries, [row.tobytes() for row in self.symmetries]
        what = f"there are {len(rows)} symmetries, but {len(table)} rows of action_symmetries"
        self._require(len(table) == len(rows), what)
        for i, j in itertools.product(range(len(rows)), repeat=2):
            both = rows.index(self.symmetries[i][self.symmetries[j]].tobytes())  # first i, then j
            by_two, by_one = table[j][table[i]], table[both]
            a = int(np.argmax(by_two != by_one))  # the first that differs
            what = f"symmetry {i} and then {j} is symmetry {both}, but action_symmetries takes"
            what += f" action {a} to {by_two[a]} by the two and to {by_one[a]} by the one"
            self._require(by_two[a] == by_one[a], what)

    def _check_neighbours(self):
        cells = range(len(self.num_codes))
        if self.neighbours is None:
            self.neighbours = [[c for c in cells if c != cell] for cell in cells]
        known = set(cells) >= {cell for beside in self.neighbours for cell in beside}
        what = f"neighbours must be {len(cells)} lists of cells from 0 to {len(cells) - 1}"
        self._require(known and len(self.neighbours) == len(cells), what)


# ------------------------------------------------------------------ rules that can not be compiled
RETURNS = {
    "legal": "how many legal actions it wrote into moves",
    "player": "the number of the player to move",
    "over": "True or False",
    "outcomes": "how many chance outcomes there are",
    "outcome": "the probability of the outcome",
    "irreversible": "True or False",
    "heuristic": "its estimate as a float",
}
# what numba's messages mean, by patterns; {0} is what stands in their parentheses
MEANINGS = {
    r"NRT required|built-in function (?:zeros|ones|empty|full|array|arange|list|append)": (
        "it makes a new array or list (a copy, np.zeros, [...]): write into the arguments instead,"
        " and keep constants outside the rule, as a tuple or a numpy array"
    ),
    r"reflected list": "it uses a Python list from outside: make that a tuple or a numpy array",
    r"No conversion from .* to none": (
        "it must not return a value: it changes its arguments in place, as in s[0] = 1"
    ),
    r"Unknown attribute '(\w+)' of type array": (
        "it uses .{0}, but a state is no Python list: it is an int32 vector of fixed length, of"
        " which single numbers are read and written, as in s[0] = 1"
    ),
    r"Untyped global name '(\w+)'.*<class 'function'>": (
        "it calls {0}, which is plain Python: decorate {0} with @kernel from afterstate.kernel"
    ),
    r"Untyped global name '(\w+)'.*<class '\w+'>": (
        "{0} can not be used in a rule: write it out as a loop, with numbers, tuples and numpy"
        " arrays only"
    ),
}


class RuleError(ValueError):
    """A rule of a game can not be compiled; the message says which, where, and what to write."""


def compiled(given: Definition) -> dict:
    """Return numba's handles on the compiled rules, by name.

    Raises
    ------
    RuleError
        With the rule, the line and the remedy.
    """
    handles = {}
    for rule, function in given.functions().items():
        if function is None:
            continue
        result, *arguments = SIGNATURES[rule]
        refused = _refused(function.__code__, len(arguments))
        if refused:
            raise RuleError(f"game {given.name!r}: the rule {rule!r} can not be used: {refused}")
        try:
            handles[rule] = compile_rule(function, result(*arguments))
        except NumbaError as error:
            meaning = _meaning(rule, str(error)) + _place(function.__code__, str(error))
            raise RuleError(
                f"game {given.name!r}: the rule {rule!r} can not be compiled: {meaning}"
            ) from None
    return handles


def _refused(code, num_arguments) -> str:
    """Say what compiles and then goes wrong silently."""
    given = code.co_varnames[: code.co_argcount]
    if len(given) != num_arguments:
        return (
            f"it takes {len(given)} arguments ({', '.join(given)}), it must take {num_arguments};"
            " see the head of games/definition.py"
        )
    if any(step.opname == "RAISE_VARARGS" for step in dis.get_instructions(code)):
        return (
            "it raises an exception (or asserts), which compiled rules can not do: `legal` alone"
            " says what is allowed"
        )
    if "print" in code.co_names:
        return "it prints, which compiled rules can not do: print game.render(state) from outside"
    if "random" in code.co_names:
        return (
            "it uses random numbers without the run's seed: take random_int(rng, n) or"
            " random_float(rng) from afterstate.kernel"
        )
    return ""


def _meaning(rule, text) -> str:
    """Return the cause in plain words where it is a usual one, else numba's own first sentence."""
    for pattern, words in MEANINGS.items():
        if pattern.startswith("No conversion") and rule in RETURNS:
            pattern, words = "No conversion from", f"it must return {RETURNS[rule]}, on every path"
        found = re.search(pattern, text)
        if found:
            return words.format(*found.groups())
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return next((line for line in lines if not line.startswith("Failed in nopython")), text)


def _place(code, text) -> str:
    """Return the line of the rule that numba complains of, if it names one of this rule's file."""
    places = re.findall(r'(?:File "|at )([^"\s]+?)(?:", line (\d+)| \((\d+)\))', text)
    here = code.co_filename.rpartition("/")[2]
    lines = [int(a or b) for file, a, b in places if file.rpartition("/")[2] == here]
    source = linecache.getline(code.co_filename, lines[-1]).strip() if lines else ""
    return f" (line {lines[-1]}: {source})" if lines else ""
