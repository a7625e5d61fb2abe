"""What every game must satisfy, checked by random play.

:func:`check` works on a game that was just defined in a notebook cell as well as on the library's.
:func:`survey` is its short form, for a home-made game before a training or a match trusts its
rules: compiled rules are not checked while they run, and one that writes beyond its array would
damage the memory of a training without a word, or end the process.
"""

import itertools
from collections import Counter
from typing import NamedTuple

import numpy as np

from ..checks import count, seed_number
from ..kernel.random import new_rng, random_int, seed_from
from . import calls

TOLERANCE = 1e-9
# the remedy where searches need opposite rewards
LESS = (
    "let 'score' give each player his share less the other's, such as 1 and -1 instead of 1 and 0"
)
# to try a game out
GAMES = 100
MAX_PLIES = 500  # of a game
PLIES = 2_000  # of all games
OUTCOME_PLIES = 100  # plies of these of which all outputs and chance outcomes are looked at
SAMPLES = 2_000  # draws of `chance` that are compared with the listed outcomes, per position
MOST_OUTCOMES = 200  # listed outcomes after which no more positions are looked at
START_SEEDS = 2_000  # random starts among which images of the first one are looked for
SYMMETRY_GAMES, SYMMETRY_PLIES = 5, 60
DIRT = (1, 2)  # old numbers in an output; small, in case that a rule takes one for an index
CHANCE_GAMES = 2  # of these every ply looks through all outcomes


class GameWarning(UserWarning):
    """A game can be played, but its rules hardly say what was meant."""


class NotConforming(AssertionError):
    """A game or a learner breaks a rule that others rely on; the message says which, and where."""


def random_game(game, s, rng, most):
    """Yield the states of a random game from `s` on: to its end, but at most `most` of them."""
    yield s
    for _ in range(1, most):
        if game.over(s):
            return
        s = game.next(s, _random_action(game, s, rng), rng)
        yield s


def _random_action(game, s, rng):
    legal = game.choices(s)
    return legal[random_int(rng, len(legal))]


def check_written(game, s) -> None:
    """Raise ValueError if what a rule writes depends on what stood there before."""
    if not game.over(s) and len(game.legal(s)):  # else another check says what is wrong
        check_output(game, s, "legal", game.max_legal, np.int32)
    check_output(game, s, "start", game.size, np.int32)
    check_output(game, s, "board", game.cells, np.int32)
    check_output(game, s, "score", game.players, np.float64)
    check_output(game, s, "key", 2, np.uint64)


def check_output(game, s, rule, length, dtype) -> None:
    """Raise ValueError if a rule leaves a part of an output of some length as it was."""
    outputs = set()
    for dirt in DIRT:
        array = np.full(length, dirt, dtype)
        if rule == "start":
            _, written = game._call(rule, array, "its size", after=[new_rng(0)])
            written = written[: game.core]  # a history tail is read as far as play has come
        else:
            n, written = game._call(rule, array, "its size", before=[s])
            if rule == "legal":
                written = written[:n]
        outputs.add(written.tobytes())
    if len(outputs) > 1:
        raise ValueError(
            f"game {game.name!r}: at {s.tolist()} the rule {rule!r} leaves a part of its output"
            " as it was, and kernels hand over arrays with old numbers: write every element,"
            " also where it is 0"
        )


def check_finish(game, s, seed) -> None:
    """Raise ValueError if `finish` plays another random game than `legal` and `play`."""
    if not game.rules.finish:
        return
    for plies in (MAX_PLIES, seed % 4):
        expected = _random_end(game, s, seed, plies, calls.play_at_random)
        actual = _random_end(game, s, seed, plies, calls.call_finish)
        if actual != expected:
            raise ValueError(
                f"game {game.name!r}: after {s.tolist()} and at most {plies} plies the rule"
                " 'finish' gives another score or generator than 'legal' and 'play', or writes"
                f" beyond max_legal: {actual} instead of {expected}; correct or omit it"
            )


def _random_end(game, s, seed, plies, call) -> tuple:
    """Play at random from `s`; return score, generator, and whether `moves` was exceeded."""
    rng = new_rng(seed)
    score = np.zeros(game.players)
    moves = np.zeros(game.max_legal + MAX_PLIES, np.int32)
    arguments = [moves[: game.max_legal], plies, rng]
    _, end = game._call("finish", s, "size", after=arguments, call=call)
    calls.call_score(game.rules, end, score)
    return score.tolist(), int(rng[0]), bool(moves[game.max_legal :].any())


def survey(game) -> list[str]:
    """Play random games and return what seems not to be meant; ValueError for fatal rules."""
    remarks = _remarks(game, *_play_sample(game))
    num_games = SYMMETRY_GAMES if game.deterministic else 0
    try:
        play_symmetric(game, num_games, SYMMETRY_PLIES)
    except NotConforming as error:
        remarks.append(f"{error}; a network that shares weights among such boards learns nonsense")
    return remarks


def _play_sample(game) -> tuple:
    """Play random games; ValueError names a rule that others cannot rely on.

    Returns their number, the plies of each player, int [players], and the scores of all states and
    of those at an end, lists of float64 [players].
    """
    num_games = 0
    num_plies = 0
    turns = np.zeros(game.players, int)
    scores = []
    end_scores = []
    while num_games < GAMES and num_plies < PLIES:
        for s in random_game(game, game.start(num_games), new_rng(num_games), MAX_PLIES):
            if num_plies < OUTCOME_PLIES or game.over(s):
                check_written(game, s)
                check_finish(game, s, num_plies)
            score = game.score(s)
            scores.append(score)
            if game.over(s):
                end_scores.append(score)
                break
            turns[game.player(s)] += 1
            if game.lists_outcomes and num_plies < OUTCOME_PLIES:
                game.outcomes(game.play(s, game.legal(s)[0]))
            num_plies += 1
        num_games += 1
    return num_games, turns, scores, end_scores


def _remarks(game, num_games, turns, scores, end_scores) -> list[str]:
    """Return what random games show that is hardly meant."""
    remarks = []
    games = f"{num_games} random games"
    ends = np.array(end_scores)  # [games that have ended, players]
    if not len(ends):
        remarks.append(f"none of {games} ended within {MAX_PLIES} plies: is 'over' ever True?")
    elif turns.any() and not turns.all():
        idle = ", ".join(map(str, np.flatnonzero(turns == 0)))
        remarks.append(
            f"in {games} it is never the turn of player {idle}: does 'play' pass the turn on?"
        )
    if len(ends) and not ends.any():
        remarks.append(f"all scores are 0 at the end of all {games}")
    elif len(ends) > 1 and game.players > 1 and not np.ptp(ends, axis=1).any():
        remarks.append(f"all players have the same score at the end of all {games}")
    low = np.min(scores)
    high = np.max(scores)
    least, greatest = game.score_range
    if low < least - TOLERANCE or high > greatest + TOLERANCE:
        remarks.append(
            f"scores from {low:g} to {high:g} occur, outside score_range {game.score_range}"
        )
    return remarks


def not_opposite(game) -> str:
    """Return where the rewards of two players are not opposite; "" if they are, as far as known.

    In the package's games they are. Others show it in random games, and again in their searches.
    """
    if game.spec is not None or game.found_opposite:
        return ""
    for seed in range(20):
        for s in random_game(game, game.start(seed), new_rng(seed), 200):
            if abs(game.score(s).sum()) > TOLERANCE:
                return f"{game!r} gives {game.score(s).tolist()} at {s.tolist()}"
    game.found_opposite = True
    return ""


def mean_total(game) -> float:
    """Return what all players together get, on average over random games."""
    scores = []
    for seed in range(20):
        *_, end = random_game(game, game.start(seed), new_rng(seed), 200)
        scores.append(game.score(end).sum())
    return float(np.mean(scores))


# ----------------------------------------------------------------------------------- symmetric play
def symmetric_starts(game) -> dict:
    """Return start states that are images of one another, {symmetry: state}, if there are."""
    state_of = {}
    num_seeds = 1 if game.deterministic else START_SEEDS
    for seed in range(num_seeds):
        s = game.start(seed)
        state_of.setdefault(game.board(s).tobytes(), s)
    first_board = game.board(game.start(0))
    starts = {}
    for k, symmetry in enumerate(game.symmetries):
        image = first_board[symmetry].tobytes()
        if image in state_of:
            starts[k] = state_of[image]
    return starts


class _Seen(NamedTuple):
    """What the rules say of a state; of one that is over, no actions and nobody to move."""

    board: np.ndarray
    score: list
    over: bool
    actions: np.ndarray
    player: int | None


def _look(game, s) -> _Seen:
    over = game.over(s)
    player = None if over else game.player(s)
    return _Seen(game.board(s), game.score(s).tolist(), over, game.legal(s), player)


def _is_image(game, seen, of_image, k) -> bool:
    """Return whether one state is the image of another under symmetry `k` in all that was seen."""
    if not np.array_equal(of_image.board, seen.board[game.symmetries[k]]):
        return False
    if game.action_symmetries is None:
        same_actions = len(seen.actions) == len(of_image.actions)
    else:
        mirrored = game.action_symmetries[k][seen.actions]
        same_actions = sorted(mirrored.tolist()) == sorted(of_image.actions.tolist())
    same_end = seen.over == of_image.over and seen.player == of_image.player
    return same_actions and same_end and seen.score == of_image.score


def play_images(game, images, action, rng) -> dict:
    """Return the next states of a state and its images after an action and its image.

    Raises NotConforming if the rules or the chance outcomes do not commute with a symmetry.
    """
    afterstate = game.play(images[0], action)
    next_state = game.chance(afterstate, rng)
    board_after = game.board(afterstate)
    seen = _look(game, next_state)
    next_images = {0: next_state}
    for k, image in images.items():
        if k == 0:
            continue
        next_image = _next_image(game, board_after, seen, image, action, k)
        if next_image is None:
            raise NotConforming(
                f"the rules do not commute with symmetry {k}: after action {action} at"
                f" {images[0].tolist()} there is no mirrored position with the same turn, score and"
                " actions"
            )
        next_images[k] = next_image
    return next_images


def _next_image(game, board_after, seen, image, action, k):
    """Return the state after `image` that is the image of the one `seen`; None if there is none.

    board_after: of the afterstate from which chance led to the one seen
    """
    actions = game.legal(image).tolist()
    if game.action_symmetries is not None:
        image_action = int(game.action_symmetries[k][action])
        actions = [image_action] if image_action in actions else []
    for image_action in actions:
        image_after = game.play(image, image_action)
        if np.array_equal(game.board(image_after), board_after[game.symmetries[k]]):
            for outcome, _ in game.outcomes(image_after):
                if _is_image(game, seen, _look(game, outcome), k):
                    return outcome
    return None


def play_symmetric(game, games, max_plies) -> int:
    """Play random games, and their images beside them; return how many images were compared."""
    if games == 0 or len(game.symmetries) == 1:
        return 0
    rng = new_rng(0)
    starts = symmetric_starts(game)
    num_compared = 0
    for _ in range(games):
        images = starts
        for _ in range(max_plies):
            if game.over(images[0]):
                break
            images = play_images(game, images, _random_action(game, images[0], rng), rng)
            num_compared += len(images) - 1
    return num_compared


# ---------------------------------------------------------------------------------- the whole check
class Report:
    """Checks of one game and what they have seen; it prints as a short text."""

    def __init__(self, game):
        self.game = game
        self.at = None  # the state that is looked at
        self.checks = Counter()
        self.notes = []
        self.warnings = []  # what can be played, but is hardly meant
        self.positions = {}  # key -> what others see of a position, and its core
        self.keys = {}  # core -> key

    def __str__(self):
        lines = [f"{self.game!r}: conforms"]
        lines += [f"  {count:>8,} {what}" for what, count in self.checks.items()]
        lines += [f"  note: {text}" for text in self.notes]
        lines += [f"  warning: {text}" for text in self.warnings]
        return "\n".join(lines)

    def note(self, text):
        """Add a remark once."""
        if text not in self.notes:
            self.notes.append(text)

    def require(self, holds, what):
        """Raise NotConforming, with the state that is looked at, unless something holds."""
        if holds:
            return
        try:
            picture = self.game.render(self.at)
        except Exception as error:  # a broken render must not hide what is being reported
            picture = f"(render failed: {error})"
        raise NotConforming(f"{self.game!r}: {what}; state {self.at.tolist()}\n{picture}")

    def state(self, s) -> list:
        """Check one state that play has reached; return its legal actions."""
        game = self.game
        self.at = s.copy()
        over = game.over(s)
        score = game.score(s)
        board = game.board(s).tolist()
        player = None if over else game.player(s)
        actions = [] if over else game.choices(s).tolist()
        key = game.key(s)
        text = game.render(s)
        self.require(np.array_equal(s, self.at), "a rule that looks at a state changes the state")
        check_written(game, s)
        self.check_range(s, score)
        self.check_actions(actions)
        self.check_key(s, key, (board, player, over, actions))
        if game.functions["parse"] or not game.functions["render"]:  # a text need not be readable
            parsed = game.parse(text)
            same = np.array_equal(parsed[: game.core], s[: game.core])
            self.require(same, f"parse(render(state)) gives {parsed.tolist()}")
        self.checks["terminal states"] += over
        self.checks["states"] += 1
        return actions

    def check_range(self, s, score):
        """Check that the score and the heuristic of a state lie inside the range."""
        game = self.game
        low, high = game.score_range
        inside = low - TOLERANCE <= score.min() and score.max() <= high + TOLERANCE  # nan is not
        self.require(inside, f"score {score.tolist()} is outside score_range {game.score_range}")
        if game.rules.heuristic != 0:
            heuristic = game.heuristic(s)
            inside = low < heuristic < high  # a sure win is worth more than any estimate
            self.require(inside, f"heuristic {heuristic} not inside score_range")

    def check_actions(self, actions):
        """Check that the legal actions are distinct, equal first choices side by side."""
        distinct = len(set(actions)) == len(actions)
        self.require(distinct, f"legal actions must be distinct: {actions}")
        choices = [action // self.game.rules.compound for action in actions]
        num_runs = len(list(itertools.groupby(choices)))
        self.require(
            len(set(choices)) == num_runs,
            f"actions with the same first choice must stand side by side, not {actions}",
        )

    def check_key(self, s, key, position):
        """Check that equal states have equal keys, and equal keys stand for one position."""
        core = s[: self.game.core].tobytes()
        known_key = self.keys.setdefault(core, key)
        self.require(known_key == key, f"equal states have the keys {known_key} and {key}")
        known_position, known_core = self.positions.setdefault(key, (position, core))
        self.require(
            known_position == position,
            f"the key {key} stands for two positions (board, player, over, legal):"
            f" {known_position} and {position}",
        )
        if known_core != core:
            self.note("equal keys of different states: right for clocks and history")

    def outcomes(self, after, rng):
        """Check that the listed chance outcomes add up to 1 and are what `chance` does."""
        self.at = after
        listed = Counter()
        for state, probability in self.game.outcomes(after):
            self.require(
                0.0 < probability <= 1.0, f"a chance outcome has probability {probability}"
            )
            listed[state.tobytes()] += probability
        total = sum(listed.values())
        self.require(
            abs(total - 1.0) <= TOLERANCE,
            f"the probabilities of the chance outcomes add up to {total}",
        )
        drawn = Counter(self.game.chance(after, rng).tobytes() for _ in range(SAMPLES))
        self.require(set(drawn) <= set(listed), "chance leads to a state that is not listed")
        for state, p in listed.items():
            # six standard errors of the binomial distribution
            allowed = 1.0 + 6.0 * np.sqrt(SAMPLES * p * (1.0 - p))
            self.require(
                abs(drawn[state] - SAMPLES * p) <= allowed,
                f"an outcome drawn {drawn[state]} times of {SAMPLES} has p = {p:.4f}",
            )
        self.checks["chance outcomes"] += len(listed)

    def symmetries(self, games, max_plies):
        """Play games and their images under all symmetries side by side."""
        game = self.game
        if not game.deterministic and not game.lists_outcomes:
            self.note("whether chance commutes with the symmetries was not checked")
            return
        missing = len(game.symmetries) - len(symmetric_starts(game))
        if missing:
            self.note(f"{missing} symmetries change the start: they were not checked")
        if not game.deterministic:
            games = min(games, CHANCE_GAMES)
        self.checks["symmetric images"] += play_symmetric(game, games, max_plies)


def check(game, games: int = 20, seed: int = 0, max_plies: int = 500) -> Report:
    """Play random games and check everything that learners and searches rely on.

    It looks at legal actions (distinct, in range, at most max_legal), rules that change their input
    or write beyond it, cell codes, players, scores, keys, chance outcomes, ends of random games,
    symmetries, start positions and text forms. A game of more than `max_plies` is left there, with
    a note.

    Raises
    ------
    NotConforming
        With the rule that is broken and the state where.

    Examples
    --------
    >>> from afterply import games
    >>> games.check(games.load("nim"), games=5).notes
    []
    """
    count("games", games)
    count("max_plies", max_plies)
    report = Report(game)
    rng = new_rng(seed_from(seed_number(seed), "conformance"))
    if not game.deterministic and not game.lists_outcomes:
        report.note("chance outcomes are not listed: no exact search")
    try:
        for number in range(games):
            s = _checked_start(report, rng)
            if number == 0:
                s = game.start()
            _play_and_check(report, s, max_plies, rng)
        if game.action_symmetries is not None and len(game.symmetries) > 1:
            report.symmetries(games, max_plies)  # else `survey` looks for images of actions
        report.warnings = survey(game)
    except ValueError as error:  # what playing refuses: sizes, codes, players, text forms
        raise NotConforming(f"{game!r}: {error}") from error
    return report


def _checked_start(report, rng):
    """Draw a start state by the start scheme; it must not be terminal."""
    s, actions = report.game.random_start(rng)
    report.at = s
    over = report.game.over(s)
    report.require(not over, f"the start scheme gives a terminal state {actions}")
    report.checks["start positions"] += 1
    return s


def _play_and_check(report, s, max_plies, rng):
    """Play a random game from `s` on and check every state of it."""
    game = report.game
    for _ in range(max_plies):
        actions = report.state(s)
        if not actions:
            return
        action = actions[random_int(rng, len(actions))]
        after = game.play(s, action)
        report.require(
            np.array_equal(game.play(s, action), after),
            f"play of action {action} depends on more than state and action",
        )
        report.checks["actions"] += 1
        if game.lists_outcomes and report.checks["chance outcomes"] < MOST_OUTCOMES:
            report.outcomes(after, rng)
        s = game.chance(after, rng)
    report.note(f"a random game was left after {max_plies} plies")
