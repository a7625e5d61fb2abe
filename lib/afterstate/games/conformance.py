"""Conformance: what every game must satisfy, checked by random play.

``conformance.check(game)`` works on a game that you have just defined in a notebook cell as well as
on the library's.
"""

from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from ..checks import whole
from ..kernel.random import new_rng, random_int, seed_from
from .calls import call_chance, call_legal, call_play
from .symmetric_play import draw_chance, play_afterstates, symmetric_starts
from .symmetry import image_fault
from .tryout import survey
from .validation import GUARD, SENTINEL

TOLERANCE = 1e-9
CHANCE_GAMES = 2  # of these every ply looks through all outcomes
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
    warnings: list = field(default_factory=list)  # what can be played, but is hardly meant

    def note(self, text):
        """Add a remark once."""
        if text not in self.notes:
            self.notes.append(text)

    def __str__(self):
        lines = [f"{self.game}: conforms"] + [
            f"  {count:>8,} {what}" for what, count in self.checks.items()
        ]
        lines += [f"  note: {text}" for text in self.notes]
        return "\n".join(lines + [f"  warning: {text}" for text in self.warnings])


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

    def state(self, s) -> list:
        """Check one state that play has reached.

        Return its legal actions, none if it is terminal.
        """
        game, s = self.game, np.ascontiguousarray(s, np.int32)
        before, over = s.copy(), game.over(s)
        score, cells = game.score(s), game.board(s)
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
            player, moves = game.player(s), self.legal(s)
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
        game.board(wide[: game.size])
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
    games = whole("games", games, 1)
    checker, rng = Checker(game), new_rng(seed_from(seed, "conformance"))
    try:
        _check_start(checker)
        for number in range(games):
            start, actions = game.random_start(rng)
            if game.over(start):
                checker.fail(f"the start scheme gives a terminal state (actions {actions})", start)
            checker.report.checks["start positions"] += 1
            _walk(checker, start if number else game.start(), rng, max_plies)
        _check_symmetries(checker, games, rng, max_plies)
        checker.report.warnings = survey(game)
    except (
        ValueError
    ) as error:  # what playing and looking refuse: sizes, codes, players, text forms
        raise NotConforming(f"{game!r}: {error}") from error
    return checker.report


def _check_start(checker):
    s = checker.game.start()
    if checker.game.over(s):
        checker.fail("the default start is terminal", s)


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
        return None  # `survey` looks for images of actions
    images = symmetric_starts(game)
    if len(images) < len(game.symmetries):
        report.note(
            f"{len(game.symmetries) - len(images)} symmetries change the start position and were"
            " not checked"
        )
    if not game.deterministic and (game.rules.outcomes == 0 or game.rules.outcome == 0):
        return report.note(
            "chance outcomes are not listed: whether play commutes with the symmetries was not"
            " checked"
        )
    for _ in range(games if game.deterministic else min(games, CHANCE_GAMES)):
        _play_images(checker, images, rng, max_plies)


def _play_images(checker, images, rng, max_plies):
    """Play one random game, and all its images beside it."""
    game = checker.game
    for _ in range(max_plies):
        if game.over(images[0]):
            return
        moves = game.legal(images[0])
        images = play_afterstates(game, images, int(moves[random_int(rng, len(moves))]))
        if not game.deterministic:  # in an afterstate only the board is known
            for k, image in images.items():
                board = game.board(image)
                if not np.array_equal(board, game.board(images[0])[game.symmetries[k]]):
                    checker.fail(f"play does not commute with symmetry {k}", images[0])
            try:
                images = draw_chance(game, images, rng)
            except ValueError as error:
                checker.fail(str(error), images[0])
        for k, image in images.items():
            compare_image(checker, images[0], image, k)


def compare_image(checker, s, image, k):
    """Check that `image` is the state `s` under the `k`-th symmetry, as far as the rules tell."""
    fault = image_fault(checker.game, s, image, k)
    if fault:
        checker.fail(fault, s)
    checker.report.checks["symmetric images"] += 1
