"""Conformance: what every learner must satisfy, checked by a few short trainings.

``conformance.check(learner)`` works on a class that you have just written in a notebook cell as
well as on the library's modules. It reads the contract in the head of this folder's
``__init__.py`` member by member, and says for each fault what to do.
"""

import inspect
from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from ..games.catalogue import load
from ..games.game import check_game
from .parameters import Parameter, check_parameters, defaults

EPISODES = 30  # of a training that is compared with another one
PART = 10  # after so many of them it is interrupted
# what a study takes for "this checkpoint does not fit", and then trains from nothing
REFUSALS = (ValueError, KeyError, TypeError, AttributeError)
WRONG_NUMBERS = (-1, 1.5, True, None)
MEMBERS = {
    "NAME": "a text that names the learner in tables and records",
    "VERSION": "a whole number, raised when the numbers of a training change",
    "PARAMETERS": "a table of all parameters: {'alpha': parameters.fraction(0.5, 'step size')}",
    "DEFAULTS": "parameters.defaults(PARAMETERS)",
    "Session": "the class of one training run, made as Session(game, params, seed=0)",
}
SESSION_MEMBERS = {
    "net": "what is learned: a networks.table.QTable, a networks.ntuple.Network, or your own",
    "episode": "a property: how many episodes were played so far, as a whole number",
    "moves": "a property: how many moves were made so far, as a whole number",
    "train": "train(num_episodes): play and learn so many episodes",
    "statistics": "statistics(): {'episodes': ..., 'moves': ...} and other numbers for the record",
    "state_dict": "state_dict(): name -> array, everything that changes while it learns",
    "load_state_dict": "load_state_dict(arrays): take these arrays over and go on from there",
}
NET_MEMBERS = {
    "game": "the game that it was made for",
    "action_values": "action_values(state): one value for each legal action, in their order",
    "checksum": "checksum(): a text that changes with every bit that was learned",
    "save": "save(path, compressed=False): without it session.save and players.load do not work",
}


class NotConforming(AssertionError):
    """A learner lacks what studies and players rely on; the message says what, and the remedy."""


@dataclass
class Report:
    """What :func:`check` has tried; it prints as a short text."""

    learner: str
    checks: Counter = field(default_factory=Counter)

    def __str__(self):
        lines = [f"{self.learner}: conforms"]
        return "\n".join(lines + [f"  {count:>5,} {what}" for what, count in self.checks.items()])


class Checker:
    """Checks of one learner on one game."""

    def __init__(self, learner, game, params):
        self.learner, self.game, self.params = learner, game, params
        name = getattr(learner, "NAME", None) or getattr(learner, "__name__", repr(learner))
        self.report = Report(f"learner {name!r} on {game.name}")

    def fail(self, faults):
        """Raise NotConforming if there are faults, all of them in one message."""
        faults = list(faults)
        if faults:
            listed = "".join(f"\n  - {fault}" for fault in faults)
            raise NotConforming(f"{self.report.learner} does not keep the contract:{listed}")

    def has(self, thing, members, of):
        """Check that all members are there, and name every one that is not."""
        self.fail(
            f"{of} has no {name!r}: give it {remedy}"
            for name, remedy in members.items()
            if not hasattr(thing, name)
        )
        self.report.checks["members"] += len(members)

    def session(self, seed=1, run=0, **params):
        """Make a session; where the number of a run decides, it gets it, too."""
        numbered = {"run": run} if getattr(self.learner, "NUMBERED_RUNS", False) else {}
        return self.learner.Session(self.game, self.params | params, seed, **numbered)

    def trained(self, episodes=EPISODES, **which):
        """Make a session and train it."""
        session = self.session(**which)
        session.train(episodes)
        self.report.checks["trainings"] += 1
        return session


def check(learner, game=None, params: dict | None = None) -> Report:
    """Train a learner a few times for a moment and check everything that studies rely on.

    Return a report that prints. Checked are: the names of the contract; parameters, whose table
    refuses what is unknown or out of range; the counts of episodes and moves; that training in
    parts, and across a checkpoint in another session, gives the same bits; that the seed decides;
    plain numbers for records; values of actions, checksum and file of what was learned; refusals.

    Parameters
    ----------
    learner : module or class
        With NAME, VERSION, PARAMETERS, DEFAULTS and Session.
    game : Game, optional
        To train on (default: Tic-Tac-Toe).
    params : dict, optional
        Parameters under which chance plays a part and episodes are short (default: its own).

    Raises
    ------
    NotConforming
        With what is missing or wrong and what to do about it.

    Examples
    --------
    >>> from afterstate.learners import conformance, tabular
    >>> str(conformance.check(tabular)).splitlines()[0]
    "learner 'tabular' on tictactoe: conforms"
    """
    game = load("tictactoe") if game is None else check_game(game, "a check of a learner")
    checker = Checker(learner, game, dict(params or {}))
    checker.has(learner, MEMBERS, "the learner")
    checker.fail(_faults_of_table(learner))
    checker.fail(_faults_of_making(checker))
    session = checker.session()
    checker.has(session, SESSION_MEMBERS, "its session")
    checker.has(session.net, NET_MEMBERS, "session.net")
    checker.fail(_faults_of_counts(checker))
    checker.fail(_faults_of_repeats(checker))
    checker.fail(_faults_of_refusals(checker))
    checker.fail(_faults_of_results(checker))
    return checker.report


def _faults_of_table(learner):
    """Yield what is wrong with names, version and the table of parameters."""
    if not isinstance(learner.NAME, str) or not learner.NAME:
        yield f"NAME must be a text, not {learner.NAME!r}"
    if not isinstance(learner.VERSION, int) or isinstance(learner.VERSION, bool):
        yield f"VERSION must be a whole number, not {learner.VERSION!r}"
    table = learner.PARAMETERS
    if not isinstance(table, dict) or not all(isinstance(p, Parameter) for p in table.values()):
        yield (
            "PARAMETERS must be a dictionary name -> parameters.fraction(...), whole(...),"
            " number(...), ramp(...), choice(...) or switch(...)"
        )
        return
    for name, parameter in table.items():
        if problem := parameter.problem(parameter.default):
            yield f"the default {parameter.default!r} of {name!r} {problem}"
    if defaults(table) != learner.DEFAULTS:
        yield "DEFAULTS must be parameters.defaults(PARAMETERS), so that nothing is stated twice"


def _faults_of_making(checker):
    """Yield what is wrong with making a session."""
    taken = list(inspect.signature(checker.learner.Session).parameters)
    if len(taken) < 3:
        yield f"Session must take (game, params, seed=0), not ({', '.join(taken)})"
        return
    remedy = "begin it with self.params = check_parameters(PARAMETERS, params)"
    wrong = [{"no_such_parameter": 1}]
    wrong += [{name: float("nan")} for name in list(checker.learner.PARAMETERS)[:1]]
    for given in wrong:
        try:
            checker.session(**given)
        except ValueError:
            checker.report.checks["refusals"] += 1
        else:
            yield f"Session takes {given} without a word: {remedy}"
    try:
        check_parameters(checker.learner.PARAMETERS, checker.params)
    except ValueError as error:
        yield f"params: {error}"


def _faults_of_counts(checker):
    """Yield what is wrong with the counts of episodes and moves."""
    session = checker.session()
    if (session.episode, session.moves) != (0, 0):
        yield f"before training episode is {session.episode!r} and moves {session.moves!r}, not 0"
    session.train(PART)
    if session.episode != PART or isinstance(session.episode, (float, np.floating)):
        yield f"after train({PART}) episode is {session.episode!r}: count every finished episode"
    if not session.moves >= PART:
        yield f"after {PART} episodes moves is {session.moves!r}: count every move"


def _faults_of_repeats(checker):
    """Yield what is wrong with seeds, with training in parts, and with checkpoints."""
    whole, parts = checker.trained(), checker.trained(PART)
    if whole.net.checksum() == checker.session().net.checksum():
        yield (
            f"after {EPISODES} episodes checksum() is that of an untrained session: let it depend"
            " on every weight, and let train(...) change them"
        )
    if checker.trained().net.checksum() != whole.net.checksum():
        yield (
            "the same seed gives other weights the second time: draw every random number from"
            " self.rng = new_rng(seed), none from numpy.random or random"
        )
        return
    arrays = parts.state_dict()
    if not isinstance(arrays, dict) or not all(
        isinstance(a, np.ndarray) and a.dtype != object for a in arrays.values()
    ):
        yield "state_dict() must give name -> array of numbers, as a file can keep them"
        return
    kept = {name: np.array(array) for name, array in arrays.items()}
    parts.train(EPISODES - PART)
    if parts.net.checksum() != whole.net.checksum():
        yield (
            f"train({PART}) and train({EPISODES - PART}) end elsewhere than train({EPISODES}): keep"
            " in the session what is to last from one episode to the next"
        )
    resumed = checker.session(seed=99)
    resumed.load_state_dict(kept)
    at = resumed.episode
    resumed.train(EPISODES - PART)
    if at != PART or resumed.net.checksum() != parts.net.checksum():
        yield (
            "a session that goes on from a checkpoint ends elsewhere than the one that wrote it:"
            " state_dict() must hold everything that changes, the random generator and the counts"
            " included, and load_state_dict must take it all over"
        )
    if checker.trained(seed=2, run=1).net.checksum() == whole.net.checksum():
        yield (
            "another seed gives the same weights: use it (new_rng(seed)); if these parameters leave"
            " nothing to chance, check with others, params={...}"
        )


def _faults_of_refusals(checker):
    """Yield what is taken although it can not be meant."""
    for number in WRONG_NUMBERS:
        try:
            checker.session().train(number)
        except ValueError:
            checker.report.checks["refusals"] += 1
        except Exception as error:
            yield (
                f"train({number!r}) raises {type(error).__name__}, not ValueError: begin it with"
                " num_episodes = session.check_episodes(num_episodes)"
            )
        else:
            yield (
                f"train({number!r}) is taken: begin it with"
                " num_episodes = session.check_episodes(num_episodes)"
            )
    for name in checker.session().state_dict():
        for wrong in (None, np.zeros((2, 2, 2), np.int8)):
            arrays = dict(checker.session().state_dict())
            arrays.pop(name) if wrong is None else arrays.update({name: wrong})
            try:
                checker.session().load_state_dict(arrays)
            except REFUSALS:
                checker.report.checks["refusals"] += 1
            else:
                state = "is missing" if wrong is None else "has another shape"
                yield f"load_state_dict takes a checkpoint whose {name!r} {state}: compare shapes"


def _faults_of_results(checker):
    """Yield what is wrong with what was learned and with what a record keeps."""
    session, game = checker.trained(PART), checker.game
    found = session.statistics()
    lacking = {"episodes", "moves"} - set(found if isinstance(found, dict) else ())
    if lacking:
        yield f"statistics() lacks {', '.join(sorted(lacking))}"
    else:
        try:
            numbers = np.hstack([np.asarray(value, float) for value in found.values()])
            plain = bool(np.isfinite(numbers).all())
        except (TypeError, ValueError):
            plain = False
        if not plain:
            yield "statistics() must give finite numbers (or lists of them)"
    if session.net.game is not game:
        yield "session.net.game must be the game that the session was made with"
    start = game.start()
    values = np.asarray(session.net.action_values(start))
    if values.shape != (len(game.legal(start)),) or not np.isfinite(values).all():
        yield (
            "net.action_values(state) must give one finite number for each legal action, in the"
            f" order of game.legal(state), not {values.tolist()}"
        )
    if not isinstance(session.net.checksum(), str):
        yield f"net.checksum() must be a text, not {session.net.checksum()!r}"
