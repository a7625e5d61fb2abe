"""Conformance: what every game must satisfy, checked by random play, and counts of its tree.

``conformance.check(game)`` works on a game that you have just defined in a notebook cell as well as
on the library's.
"""

from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from ..kernel.compile import kernel
from ..kernel.random import new_rng, random_int, seed_from
from .calls import call_board, call_chance, call_legal, call_over, call_play, call_player, copy_into
from .game import GUARD, SENTINEL

TOLERANCE = 1e-9
SAMPLES = 2_000  # draws of `chance` that are compared with the listed outcomes, per game


class NotConforming(AssertionError):
    """A rule of a game breaks what learners and searches rely on.

    The message says what and shows the state.
    """


@dataclass
class Report:
    """What :func:`check` has seen; it prints as a short text."""

    game: str
    checks: Counter = field(default_factory=Counter)
    notes: list = field(default_factory=list)

    def note(self, text):
        """Add a remark once."""
        if text not in self.notes:
            self.notes.append(text)

    def __str__(self):
        lines = [f"{self.game}: conforms"] + [
            f"  {count:>8,} {what}" for what, count in self.checks.items()
        ]
        return "\n".join(lines + [f"  note: {text}" for text in self.notes])


# -------------------------------------------------------------------------------------------- perft


@kernel
def count_paths(rules, states, moves, ply, remaining, turns, found):
    """Add to ``found``: [0] paths of exactly the depth, [1] games that end at or before it.

    Return False if the stack is full.
    """
    s = states[ply]
    over = call_over(rules, s)
    if over:
        found[1] += 1
    if remaining == 0:
        found[0] += 1
    if over or remaining == 0:
        return True
    if ply + 1 >= states.shape[0]:
        return False
    mover = call_player(rules, s)
    for i in range(call_legal(rules, s, moves[ply])):
        copy_into(states[ply + 1], s, rules.size)
        call_play(rules, states[ply + 1], moves[ply, i])
        same_turn = (
            turns
            and not call_over(rules, states[ply + 1])
            and call_player(rules, states[ply + 1]) == mover
        )
        if not count_paths(
            rules, states, moves, ply + 1, remaining - (0 if same_turn else 1), turns, found
        ):
            return False
    return True


def _count(game, depth, unit, state):
    if not game.deterministic:
        raise ValueError(
            f"{game.name} has chance: only the trees of deterministic games are counted"
        )
    if unit not in ("action", "turn"):
        raise ValueError(f"unit must be 'action' or 'turn', not {unit!r}")
    if isinstance(depth, bool) or not isinstance(depth, (int, np.integer)) or depth < 0:
        raise ValueError(f"depth must be a whole number of at least 0, not {depth!r}")
    start = game.start() if state is None else game._state(state)
    plies, done = depth + 1, False
    while not done:
        states, moves = (
            np.zeros((plies, game.size), np.int32),
            np.zeros((plies, game.max_legal), np.int32),
        )
        states[0], found = start, np.zeros(2, np.int64)
        done = count_paths(game.rules, states, moves, 0, depth, unit == "turn", found)
        plies *= 2
    return int(found[0]), int(found[1])


def perft(game, depth: int, unit: str = "action", state=None) -> int:
    """Count the paths of exactly `depth` actions, or turns, from a state.

    Parameters
    ----------
    game : Game
        A deterministic game.
    depth : int
        At least 0.
    unit : {"action", "turn"}
        With ``"turn"``, actions of one player in a row count as one.
    state : int32 [size], optional
        Default: the start.

    Examples
    --------
    >>> from afterstate import games
    >>> from afterstate.games import conformance
    >>> [conformance.perft(games.load("tictactoe"), d) for d in (1, 2, 3)]
    [9, 72, 504]
    """
    return _count(game, depth, unit, state)[0]


def num_games(game, max_plies: int, state=None) -> int:
    """Count the different games (sequences of actions) that end within `max_plies`."""
    return _count(game, max_plies, "action", state)[1]


# ---------------------------------------------------------------------------------------- one state


class Checker:
    """Checks of one game; remembers the states seen, to compare their keys."""

    def __init__(self, game):
        self.game, self.report = game, Report(repr(game))
        self.seen = {}  # key -> (position as far as others can see it, core)
        self.keys = {}  # core -> key

    def fail(self, what, s):
        """Raise NotConforming with the state."""
        raise NotConforming(
            f"{self.game!r}: {what}; state {np.asarray(s).tolist()}\n{self._shown(s)}"
        )

    def _shown(self, s):
        try:
            return self.game.render(s)
        except Exception as error:  # a broken render must not hide what is being reported
            return f"(render failed: {error})"

    def _guarded(self, s, name, call, n):
        """Call a rule that writes `n` values.

        Check that it neither writes behind them nor changes the state.
        """
        before = s.copy()
        out = np.full(n + GUARD, SENTINEL, np.int32)
        result = call(self.game.rules, s, out)
        if (out[n:] != SENTINEL).any():
            self.fail(f"{name} writes more than {n} values", before)
        if not np.array_equal(s, before):
            self.fail(f"{name} changes the state", before)
        return result, out

    def legal(self, s) -> list:
        """Check and return the legal actions of a non-terminal state."""
        game = self.game
        n, moves = self._guarded(s, "legal", call_legal, game.max_legal)
        if not 1 <= n <= game.max_legal:
            self.fail(
                f"{n} legal actions in a non-terminal state, max_legal is {game.max_legal}", s
            )
        moves = moves[:n].tolist()
        if len(set(moves)) != n or min(moves) < 0 or max(moves) >= game.actions:
            self.fail(
                f"legal actions must be distinct and within 0 .. {game.actions - 1}, not {moves}", s
            )
        first = [a // game.rules.compound for a in moves]
        if any(first[k] != first[k - 1] and first[k] in first[:k] for k in range(1, n)):
            self.fail(
                f"compound is {game.rules.compound}, so legal actions with the same quotient must"
                f" stand side by side, not {moves}",
                s,
            )
        if self._guarded(s, "legal", call_legal, game.max_legal)[1][:n].tolist() != moves:
            self.fail("legal gives another answer the second time", s)
        return moves

    def board(self, s) -> np.ndarray:
        """Check and return the cell codes."""
        _, cells = self._guarded(s, "board", call_board, self.game.cells)
        cells = cells[: self.game.cells]
        for c in np.flatnonzero((cells < 0) | (cells >= self.game.num_codes)):
            self.fail(
                f"cell {c} has code {cells[c]}, but num_codes[{c}] = {self.game.num_codes[c]}", s
            )
        return cells

    def state(self, s) -> list:
        """Check one state that play has reached.

        Return its legal actions, none if it is terminal.
        """
        game, s = self.game, np.ascontiguousarray(s, np.int32)
        before, over = s.copy(), game.over(s)
        score, cells = game.score(s), self.board(s)
        low, high = game.score_range
        if (
            not np.isfinite(score).all()
            or score.min() < low - TOLERANCE
            or score.max() > high + TOLERANCE
        ):
            self.fail(f"score {score.tolist()} is outside score_range {game.score_range}", s)
        if game.rules.heuristic != 0 and not low < game.heuristic(s) < high:
            self.fail(
                f"the heuristic {game.heuristic(s)} is not inside score_range {game.score_range},"
                " so a sure win would not dominate",
                s,
            )
        moves, player = [], None
        if over:
            self.report.checks["terminal states"] += 1
            if len(game.legal(s)) or not np.array_equal(game.score(s), score):
                self.fail("a terminal state must have no legal actions and a constant score", s)
        else:
            player = game.player(s)
            if not 0 <= player < game.players:
                self.fail(f"player {player} is outside 0 .. {game.players - 1}", s)
            moves = self.legal(s)
        self._key(s, (tuple(cells.tolist()), player, over, tuple(moves)))
        text = game.render(s)
        if game.parse_text or not game.render_state:  # a game may be drawn without being readable
            back = game.parse(text)
            if not np.array_equal(back[: game.core], s[: game.core]):
                self.fail(f"parse(render(state)) gives {back.tolist()}", s)
        if not np.array_equal(s, before):
            self.fail("over, score, player, key or render changes the state", before)
        self.report.checks["states"] += 1
        return moves

    def _key(self, s, position):
        key, core = self.game.key(s), s[: self.game.core].tobytes()
        if self.keys.setdefault(core, key) != key:
            self.fail(f"equal states have the keys {self.keys[core]} and {key}", s)
        other, other_core = self.seen.setdefault(key, (position, core))
        if other != position:
            self.fail(
                f"the key {key} stands for two positions (board, player, over, legal): {other} and"
                f" {position}",
                s,
            )
        if other_core != core:
            self.report.note(
                "some states with equal keys differ: right only for clocks and history"
            )

    def play(self, s, action) -> np.ndarray:
        """Check one action and return its afterstate."""
        game = self.game
        wide = np.full(game.size + GUARD, SENTINEL, np.int32)
        wide[: game.size] = s
        call_play(game.rules, wide[: game.size], action)
        if (wide[game.size :] != SENTINEL).any():
            self.fail(f"play of action {action} writes behind the state's {game.size} values", s)
        if not np.array_equal(game.play(s, action), wide[: game.size]):
            self.fail(
                f"play of action {action} gives different afterstates: it must depend on state and"
                " action only",
                s,
            )
        if (
            game.score(wide[: game.size]) - game.score(s)
            > game.score_range[1] - game.score_range[0] + TOLERANCE
        ).any():
            self.fail(f"the reward of action {action} exceeds the whole score_range", s)
        self.board(wide[: game.size].copy())
        self.report.checks["actions"] += 1
        return wide[: game.size].copy()

    def outcomes(self, after, rng, samples):
        """Check that the listed chance outcomes add up to 1 and cover what `chance` does."""
        listed = Counter()
        for state, probability in self.game.outcomes(after):
            if not 0.0 < probability <= 1.0:
                self.fail(f"a chance outcome has probability {probability}", after)
            listed[state.tobytes()] += probability
        if abs(sum(listed.values()) - 1.0) > TOLERANCE:
            self.fail(
                f"the probabilities of the chance outcomes add up to {sum(listed.values())}", after
            )
        drawn = Counter(self.game.chance(after, rng).tobytes() for _ in range(samples))
        if not set(drawn) <= set(listed):
            self.fail(
                f"chance leads to {sorted(set(drawn) - set(listed))[:1]}, which outcomes does not"
                " list",
                after,
            )
        for state, p in listed.items():
            if abs(drawn[state] - samples * p) > 1.0 + 6.0 * np.sqrt(samples * p * (1.0 - p)):
                self.fail(
                    f"an outcome of probability {p:.4f} was drawn {drawn[state]} times in"
                    f" {samples}",
                    after,
                )
        self.report.checks["chance outcomes"] += len(listed)


# -------------------------------------------------------------------------------------- whole games


def check(game, games: int = 20, seed: int = 0, max_plies: int = 500) -> Report:
    """Play random games and check everything that learners and searches rely on.

    Return a report that prints.

    Checked are: legal actions (distinct, in range, at most max_legal), rules that neither change
    their input nor write beyond it, play (same state and action, same afterstate), cell codes,
    player, score, terminal states, keys, chance outcomes, symmetries with action symmetries, start
    positions, text forms.

    Parameters
    ----------
    game : Game
    games : int
        Random games to play, at least 1.
    seed : int
    max_plies : int
        A longer game is left there, with a note.

    Raises
    ------
    NotConforming
        With the rule that is broken and the state where.

    Examples
    --------
    >>> from afterstate import games
    >>> from afterstate.games import conformance
    >>> print(conformance.check(games.load("nim"), games=5).notes)
    []
    """
    if isinstance(games, bool) or not isinstance(games, int) or games < 1:
        raise ValueError(f"games must be a whole number of at least 1, not {games!r}")
    checker, rng = Checker(game), new_rng(seed_from(seed, "conformance"))
    _check_tables(checker)
    for number in range(games):
        start, actions = game.random_start(rng)
        if game.over(start):
            checker.fail(f"the start scheme gives a terminal state (actions {actions})", start)
        checker.report.checks["start positions"] += 1
        _walk(checker, start if number else game.start(), rng, max_plies)
    _check_symmetries(checker, games, rng, max_plies)
    return checker.report


def _check_tables(checker):
    game, s = checker.game, checker.game.start()
    if game.over(s):
        checker.fail("the default start is terminal", s)
    if not 1 <= game.core <= game.size:
        checker.fail(f"core must be within 1 and size = {game.size}, not {game.core}", s)
    table = game.action_symmetries
    if table is not None:
        whole = list(range(game.actions))
        if table.shape != (len(game.symmetries), game.actions) or any(
            sorted(row) != whole for row in table.tolist()
        ):
            checker.fail(
                f"action_symmetries must be {len(game.symmetries)} permutations of the"
                f" {game.actions} actions",
                s,
            )


def _walk(checker, s, rng, max_plies):
    """Check one random game from `s`."""
    game, samples = checker.game, SAMPLES
    for _ in range(max_plies):
        moves = checker.state(s)
        if not moves:
            return
        action = moves[random_int(rng, len(moves))]
        s = checker.play(s, action)
        if not game.deterministic:
            if game.rules.outcomes == 0 or game.rules.outcome == 0:
                checker.report.note("chance outcomes are not listed: no exact search")
            elif checker.report.checks["chance outcomes"] < 200:
                checker.outcomes(s, rng, samples)
            call_chance(game.rules, s, rng)
    checker.report.note(f"a random game was left after {max_plies} plies")


def _check_symmetries(checker, games, rng, max_plies):
    """Play every game and its images under all symmetries side by side."""
    game, report = checker.game, checker.report
    if len(game.symmetries) == 1:
        return
    if game.action_symmetries is None:
        return report.note(
            "there are no action_symmetries: whether play commutes with the symmetries was not"
            " checked"
        )
    if not game.deterministic:
        return report.note(
            "the game has chance: whether play commutes with the symmetries was not checked"
        )
    cells = checker.board(game.start())
    usable = [k for k, where in enumerate(game.symmetries) if np.array_equal(cells[where], cells)]
    if len(usable) < len(game.symmetries):
        report.note(
            f"{len(game.symmetries) - len(usable)} symmetries change the start position and were"
            " not checked"
        )
    for _ in range(games):
        images = {k: game.start() for k in usable}
        for _ in range(max_plies):
            if game.over(images[0]):
                break
            moves = game.legal(images[0])
            action = int(moves[random_int(rng, len(moves))])
            for k in usable:
                images[k] = game.play(images[k], game.action_symmetries[k][action])
                compare_image(checker, images[0], images[k], k)


def compare_image(checker, s, image, k):
    """Check that `image` is the state `s` under the `k`-th symmetry, as far as the rules tell."""
    game = checker.game
    if not np.array_equal(game.board(image), game.board(s)[game.symmetries[k]]):
        checker.fail(
            f"play does not commute with symmetry {k}: board {game.board(image).tolist()}", s
        )
    if game.over(image) != game.over(s) or not np.array_equal(game.score(image), game.score(s)):
        checker.fail(f"over or score does not commute with symmetry {k}", s)
    if not game.over(s):
        if game.player(image) != game.player(s):
            checker.fail(f"player does not commute with symmetry {k}", s)
        if sorted(game.action_symmetries[k][game.legal(s)].tolist()) != sorted(
            game.legal(image).tolist()
        ):
            checker.fail(f"legal does not commute with symmetry {k}", s)
    checker.report.checks["symmetric images"] += 1
