"""What every game must satisfy, checked by random play.

:func:`check` works on a game that was just defined in a notebook cell as well as on the library's.
:func:`survey` is its short form, for a home-made game before a training or a match trusts its
rules: compiled rules are not checked while they run, and one that writes beyond its array would
damage the memory of a training without a word, or end the process.
"""

from collections import Counter

import numpy as np

from ..checks import seed_number, whole
from ..kernel.random import new_rng, random_int, seed_from
from . import calls

TOLERANCE = 1e-9
LESS = (
    "let 'score' give each player his share less the other's, such as 1 and -1 instead of 1 and 0"
)
GAMES, MAX_PLIES, PLIES = 100, 500, 2_000  # to try a game out: games, plies of one, plies of all
OUTCOME_PLIES = 100  # plies of these of which all outputs and chance outcomes are looked at
# draws of `chance` that are compared with the listed outcomes, per position; outcomes that suffice
SAMPLES, MOST_OUTCOMES = 2_000, 200
START_SEEDS = 2_000  # random starts among which images of the first one are looked for
SYMMETRY_GAMES, SYMMETRY_PLIES = 5, 60
DIRT = 1, 2  # old numbers in an output; small, in case that a rule takes one for an index
CHANCE_GAMES = 2  # of these every ply looks through all outcomes


class GameWarning(UserWarning):
    """A game can be played, but its rules hardly say what was meant."""


class NotConforming(AssertionError):
    """A game, or a learner, lacks what others rely on; the message says what, and where or how."""


def random_game(game, s, rng, most):
    """Yield the states of a random game from `s` on: to its end, or `most` of them."""
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
    lengths = {"start": game.size, "board": game.cells, "score": game.players, "key": 2}
    kinds = {"score": np.float64, "key": np.uint64}
    over = game.over(s) or not len(game.legal(s))  # which names what is wrong with the actions
    for rule in lengths if over else ("legal", *lengths):
        found, length = set(), lengths.get(rule, game.max_legal)
        for dirt in DIRT:
            given = {"after": [new_rng(0)]} if rule == "start" else {"before": [s]}
            dirty = np.full(length, dirt, kinds.get(rule, np.int32))
            n, written = game._call(rule, dirty, "its size", **given)
            # a history tail is read as far as play has come
            wanted = {"legal": n, "start": game.core}.get(rule, length)
            found.add(written[:wanted].tobytes())
        if len(found) > 1:
            raise ValueError(
                f"game {game.name!r}: at {s.tolist()} the rule {rule!r} leaves a part of its output"
                " as it was, and kernels hand over arrays with old numbers: write every element,"
                " also where it is 0"
            )


def check_finish(game, s, seed) -> None:
    """Raise ValueError if `finish` plays another random game than `legal` and `play`."""
    for plies in (MAX_PLIES, seed % 4) if game.rules.finish else ():
        found = []
        for call in (calls.play_at_random, calls.call_finish):
            n, rng, score = game.max_legal, new_rng(seed), np.zeros(game.players)
            moves = np.zeros(n + MAX_PLIES, np.int32)
            given = moves[:n], plies, rng
            end = game._call("finish", s, "size", after=given, call=call)[1]
            calls.call_score(game.rules, end, score)
            found.append((score.tolist(), int(rng[0]), bool(moves[n:].any())))
        if found[0] != found[1]:
            raise ValueError(
                f"game {game.name!r}: after {s.tolist()} and at most {plies} plies the rule"
                " 'finish' gives another score or generator than 'legal' and 'play', or writes"
                f" beyond max_legal: {found[1]} instead of {found[0]}; correct or omit it"
            )


def survey(game) -> list[str]:
    """Play random games, which raise ValueError for fatal rules; say what is hardly meant."""
    played, plies, turns, scores, ends = 0, 0, np.zeros(game.players, int), [], []
    while played < GAMES and plies < PLIES:
        for s in random_game(game, game.start(played), new_rng(played), MAX_PLIES):
            if plies < OUTCOME_PLIES or game.over(s):
                check_written(game, s)
                check_finish(game, s, plies)
            scores.append(game.score(s))
            if game.over(s):
                ends.append(scores[-1])
                break
            turns[game.player(s)] += 1
            if game.lists_outcomes and plies < OUTCOME_PLIES:
                game.outcomes(game.play(s, game.legal(s)[0]))
            plies += 1
        played += 1
    games, ends = f"{played} random games", np.reshape(ends, (-1, game.players))
    (least, greatest), low, high = game.score_range, np.min(scores), np.max(scores)
    idle = ", ".join(map(str, np.flatnonzero(turns == 0))) if turns.any() and len(ends) else ""
    alike = len(ends) > 1 and game.players > 1 and not np.ptp(ends, axis=1).any()
    beyond = low < least - TOLERANCE or high > greatest + TOLERANCE
    slips = {
        f"none of {games} ended within {MAX_PLIES} plies: is 'over' ever True?": not len(ends),
        f"in {games} it is never the turn of player {idle}: does 'play' pass the turn on?": idle,
        f"all scores are 0 at the end of all {games}": len(ends) and not ends.any(),
        f"all players have the same score at the end of all {games}": alike and ends.any(),
        f"scores from {low:g} to {high:g} occur, outside score_range {game.score_range}": beyond,
    }
    found = [words for words, is_so in slips.items() if is_so]
    try:
        play_symmetric(game, SYMMETRY_GAMES if game.deterministic else 0, SYMMETRY_PLIES)
    except NotConforming as odd:
        found.append(f"{odd}; a network that shares weights among such boards learns nonsense")
    return found


def not_opposite(game) -> str:
    """Say where the rewards of two players are not opposite; "" where they are, as far as known.

    In the package's games they are. Others show it in random games, and again in their searches.
    """
    if game.spec is None and not game.found_opposite:
        for seed in range(20):
            for s in random_game(game, game.start(seed), new_rng(seed), 200):
                if abs(game.score(s).sum()) > TOLERANCE:
                    return f"{game!r} gives {game.score(s).tolist()} at {s.tolist()}"
        game.found_opposite = True
    return ""


def mean_total(game) -> float:
    """Return what all players together get, on average over random games."""
    played = (random_game(game, game.start(seed), new_rng(seed), 200) for seed in range(20))
    return float(np.mean([game.score(end).sum() for *_, end in played]))


# ----------------------------------------------------------------------------------- symmetric play
def symmetric_starts(game) -> dict:
    """Return start states that are images of one another, {symmetry: state}, if there are."""
    by_board = {}
    for seed in range(1 if game.deterministic else START_SEEDS):
        s = game.start(seed)
        by_board.setdefault(game.board(s).tobytes(), s)
    first = game.board(game.start(0))
    boards = [first[row].tobytes() for row in game.symmetries]
    return {k: by_board[board] for k, board in enumerate(boards) if board in by_board}


def _is_image(game, s, image, k) -> bool:
    if not _same_board(game, s, image, k) or not np.array_equal(game.score(image), game.score(s)):
        return False
    if game.over(s) or game.over(image):
        return game.over(s) and game.over(image)
    legal, theirs = game.legal(s), game.legal(image)
    if game.action_symmetries is None:
        same = len(legal) == len(theirs)
    else:
        same = sorted(game.action_symmetries[k][legal]) == sorted(theirs)
    return same and game.player(image) == game.player(s)


def _same_board(game, s, image, k) -> bool:
    return np.array_equal(game.board(image), game.board(s)[game.symmetries[k]])


def play_images(game, images, action, rng) -> dict:
    """Return the next states of a state and its images after an action and its image.

    Raises NotConforming if the rules or the chance outcomes do not commute with a symmetry.
    """
    after = game.play(images[0], action)
    following = {0: game.chance(after, rng)}
    for k, image in images.items():
        if k == 0:
            continue
        actions = game.legal(image).tolist()
        if game.action_symmetries is not None:
            actions = [a for a in actions if a == game.action_symmetries[k][action]]
        plays = [game.play(image, a) for a in actions]
        same = [play for play in plays if _same_board(game, after, play, k)]
        found = [s for play in same for s, _ in game.outcomes(play)]
        found = [s for s in found if _is_image(game, following[0], s, k)]
        if not found:
            raise NotConforming(
                f"the rules do not commute with symmetry {k}: after action {action} at"
                f" {images[0].tolist()} there is no mirrored position with the same turn, score and"
                " actions"
            )
        following[k] = found[0]
    return following


def play_symmetric(game, games, max_plies) -> int:
    """Play random games, and their images beside them; return how many images were compared."""
    if games == 0 or len(game.symmetries) == 1:
        return 0
    rng, starts, compared = new_rng(0), symmetric_starts(game), 0
    for _ in range(games):
        images = starts
        for _ in range(max_plies):
            if game.over(images[0]):
                break
            images = play_images(game, images, _random_action(game, images[0], rng), rng)
            compared += len(images) - 1
    return compared


# ---------------------------------------------------------------------------------- the whole check
class Report:
    """Checks of one game and what they have seen; it prints as a short text."""

    def __init__(self, game):
        self.game, self.at = game, None  # the state that is looked at
        self.checks, self.notes = Counter(), []
        self.warnings = []  # what can be played, but is hardly meant
        self.positions, self.keys = {}, {}  # what others see of a position by key, keys by core

    def __str__(self):
        lines = [f"{self.game!r}: conforms"]
        lines += [f"  {count:>8,} {what}" for what, count in self.checks.items()]
        lines += [f"  note: {text}" for text in self.notes]
        return "\n".join(lines + [f"  warning: {text}" for text in self.warnings])

    def note(self, text):
        """Add a remark once."""
        self.notes += [text] * (text not in self.notes)

    def require(self, holds, what):
        """Raise NotConforming, with the state that is looked at, unless something holds."""
        if holds:
            return
        try:
            shown = self.game.render(self.at)
        except Exception as error:  # a broken render must not hide what is being reported
            shown = f"(render failed: {error})"
        raise NotConforming(f"{self.game!r}: {what}; state {self.at.tolist()}\n{shown}")

    def state(self, s) -> list:
        """Check one state that play has reached; return its legal actions."""
        game, self.at = self.game, s.copy()
        over, score, board = game.over(s), game.score(s), game.board(s).tolist()
        player, moves = (None, []) if over else (game.player(s), game.choices(s).tolist())
        key, text = game.key(s), game.render(s)
        self.require(np.array_equal(s, self.at), "a rule that looks at a state changes the state")
        check_written(game, s)
        low, high = game.score_range
        fits = low - TOLERANCE <= score.min() and score.max() <= high + TOLERANCE  # nan does not
        self.require(fits, f"score {score.tolist()} is outside score_range {game.score_range}")
        if game.rules.heuristic != 0:
            fits = low < game.heuristic(s) < high  # a sure win is worth more than any estimate
            self.require(fits, f"heuristic {game.heuristic(s)} not inside score_range")
        if not over:
            self.require(len(set(moves)) == len(moves), f"legal actions must be distinct: {moves}")
            first = [a // game.rules.compound for a in moves]
            runs = sum(a != b for a, b in zip(first, [None, *first]))
            what = f"actions with the same first choice must stand side by side, not {moves}"
            self.require(len(set(first)) == runs, what)
        core, position = s[: game.core].tobytes(), (board, player, over, moves)
        known = self.keys.setdefault(core, key)
        self.require(known == key, f"equal states have the keys {known} and {key}")
        other, other_core = self.positions.setdefault(key, (position, core))
        what = f"the key {key} stands for two positions (board, player, over, legal):"
        self.require(other == position, f"{what} {other} and {position}")
        if other_core != core:
            self.note("equal keys of different states: right for clocks and history")
        if game.functions["parse"] or not game.functions["render"]:  # a text need not be readable
            back = game.parse(text)
            same = np.array_equal(back[: game.core], s[: game.core])
            self.require(same, f"parse(render(state)) gives {back.tolist()}")
        self.checks["terminal states"] += over
        self.checks["states"] += 1
        return moves

    def outcomes(self, after, rng):
        """Check that the listed chance outcomes add up to 1 and are what `chance` does."""
        listed, self.at = Counter(), after
        for state, p in self.game.outcomes(after):
            self.require(0.0 < p <= 1.0, f"a chance outcome has probability {p}")
            listed[state.tobytes()] += p
        total = sum(listed.values())
        fits = abs(total - 1.0) <= TOLERANCE
        self.require(fits, f"the probabilities of the chance outcomes add up to {total}")
        drawn = Counter(self.game.chance(after, rng).tobytes() for _ in range(SAMPLES))
        self.require(set(drawn) <= set(listed), "chance leads to a state that is not listed")
        for state, p in listed.items():
            fits = abs(drawn[state] - SAMPLES * p) <= 1.0 + 6.0 * np.sqrt(SAMPLES * p * (1.0 - p))
            what = f"an outcome drawn {drawn[state]} times of {SAMPLES} has p = {p:.4f}"
            self.require(fits, what)
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
        games = games if game.deterministic else min(games, CHANCE_GAMES)
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
    games, max_plies = whole("games", games), whole("max_plies", max_plies)
    report, rng = Report(game), new_rng(seed_from(seed_number(seed), "conformance"))
    if not game.deterministic and not game.lists_outcomes:
        report.note("chance outcomes are not listed: no exact search")
    try:
        for number in range(games):
            s, actions = game.random_start(rng)
            report.at = s
            report.require(not game.over(s), f"the start scheme gives a terminal state {actions}")
            report.checks["start positions"] += 1
            s = s if number else game.start()
            for _ in range(max_plies):
                moves = report.state(s)
                if not moves:
                    break
                action = moves[random_int(rng, len(moves))]
                before, s = s, game.play(s, action)
                same = np.array_equal(game.play(before, action), s)
                what = f"play of action {action} depends on more than state and action"
                report.require(same, what)
                report.checks["actions"] += 1
                if game.lists_outcomes and report.checks["chance outcomes"] < MOST_OUTCOMES:
                    report.outcomes(s, rng)
                s = game.chance(s, rng)
            else:
                report.note(f"a random game was left after {max_plies} plies")
        if game.action_symmetries is not None and len(game.symmetries) > 1:
            report.symmetries(games, max_plies)  # else `survey` looks for images of actions
        report.warnings = survey(game)
    except ValueError as error:  # what playing refuses: sizes, codes, players, text forms
        raise NotConforming(f"{game!r}: {error}") from error
    return report
