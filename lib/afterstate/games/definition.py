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

from ..checks import whole
from ..kernel.compile import compile_rule
from . import validation
from .calls import SIGNATURES, Rules, hash_state
from .errors import readable
from .versions import source_version

REQUIRED = ("start", "legal", "play", "player", "over", "score", "board")
MAX_START_PLIES = 10_000


class Definition:
    """A game: its compiled rules, and the sizes and codes that learners and searches need.

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
    num_codes : sequence of int, [cells]
        Number of codes that each board cell can take; codes are 0 .. num_codes - 1.
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
    touch : callable, optional
        Plain Python: (game, state, action) -> the cells of the drawing that are clicked for the
        action, one after the other; default: the cell of its number, if actions are cells.
    fault : callable, optional
        Plain Python: state -> what is wrong with it, or None. For states from outside with which
        the rules would leave their arrays, where cell codes and player do not tell.
    search_settings : dict, optional
        Settings that suit the game, of a search around an agent: its defaults in this game, by
        their names in ``players.Wrapped``.
    version : int, optional
        Raised when the numbers a game gives change; games outside the package get the hash of their
        source.
    spec : dict, optional
        Name and parameters under which ``games.load`` makes the same game again.

    Raises
    ------
    ValueError
        If a size is wrong, a rule is missing, the symmetries are not a group of permutations, or
        the action symmetries do not act as that group does.
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
        num_codes,
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
        touch=None,
        fault=None,
        search_settings=None,
        version=None,
        spec=None,
    ):
        self._arguments = {k: v for k, v in locals().items() if k not in ("self", "__class__")}
        self.name, self.spec, self.maker = name, spec, None
        self.render_state, self.parse_text, self.name_action = render, parse, action_name
        self.draw, self.touch, self.fault = svg, touch, fault
        self.search_settings = dict(search_settings or {})
        self._take_sizes()
        functions = self._rule_functions()
        self.version = version if version is not None else source_version(functions)
        self._arguments["version"] = self.version  # a worker process may not find the source again
        self._compile(functions)
        self._proper = (
            b"",
            False,
        )  # the last state found proper, and whether its mover was asked for
        self.tried_out = False
        self.found_opposite = False  # whether random games have shown opposite rewards

    def _take_sizes(self):
        """Check all numbers and tables and keep them."""
        given, name = self._arguments, self.name
        for what in ("players", "actions", "max_legal", "size", "compound"):
            given[what] = whole(f"game {name!r}: {what}", given[what], 1)
        self.players, self.actions = given["players"], given["actions"]
        self.max_legal, self.size = given["max_legal"], given["size"]
        core = self.size if given["core"] is None else given["core"]
        self.core = whole(f"game {name!r}: core", core, 1, self.size)
        self.num_codes = validation.whole_numbers(name, "num_codes", given["num_codes"], 1)
        if self.num_codes.min() < 1:
            raise ValueError(f"game {name!r}: each of num_codes must be at least 1")
        self.cells = len(self.num_codes)
        self.symmetries = validation.symmetry_group(name, given["symmetries"], self.cells)
        self.action_symmetries = validation.action_symmetries(
            name, given["action_symmetries"], self.symmetries, self.actions
        )
        self.score_range = validation.number_pair(
            name,
            "score_range must be two numbers, the smaller first",
            given["score_range"],
            lambda low, high: low < high,
        )
        default, plies = validation.number_pair(
            name,
            "start_scheme must be (probability, plies >= 0)",
            given["start_scheme"],
            lambda default, plies: 0.0 <= default <= 1.0 and plies in range(MAX_START_PLIES),
        )
        self.start_scheme = default, int(plies)
        self.neighbours = validation.neighbourhood(name, given["neighbours"], self.cells)

    def _rule_functions(self) -> dict:
        """Return the Python functions of all rules, None where one is absent."""
        functions = {rule: self._arguments[rule] for rule in SIGNATURES}
        functions["key"] = functions["key"] or hash_state
        # a kernel may be a rule too
        functions = {rule: getattr(f, "py_func", f) for rule, f in functions.items()}
        for rule, function in functions.items():
            if not callable(function) and (function is not None or rule in REQUIRED):
                raise ValueError(
                    f"game {self.name!r}: the rule {rule!r} must be a function, not {function!r}"
                )
        return functions

    def _compile(self, functions):
        """Compile the rules and note their addresses and the sizes for kernels."""
        self._compiled = {}
        for rule, f in functions.items():
            if f is not None:
                with readable(self.name, rule, f, len(SIGNATURES[rule]) - 1):
                    self._compiled[rule] = compile_rule(
                        f, SIGNATURES[rule][0](*SIGNATURES[rule][1:])
                    )
        self.rules = Rules(
            **{rule: getattr(self._compiled.get(rule), "address", 0) for rule in SIGNATURES},
            size=self.size,
            core=self.core,
            players=self.players,
            actions=self.actions,
            max_legal=self.max_legal,
            cells=self.cells,
            compound=self._arguments["compound"],
            start_plies=self.start_scheme[1],
            start_default=self.start_scheme[0],
        )

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
        return _rebuild, (type(self), self._arguments)


def _rebuild(kind, arguments):
    return kind(**arguments)
