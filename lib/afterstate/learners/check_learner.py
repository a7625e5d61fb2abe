"""A check of a learner that you have just written: what it lacks of the contract, and the remedy.

The contract stands in the head of this folder's ``__init__.py``.
"""

import numpy as np

from ..games.catalogue import load
from ..games.game import check_game
from .parameters import Parameter, defaults

EPISODES, PART = 30, 10  # of a whole training, and of one that is interrupted
LEARNER = ("NAME", "VERSION", "PARAMETERS", "DEFAULTS", "Session")
SESSION = ("net", "episode", "moves", "train", "statistics", "state_dict", "load_state_dict")
NET = ("game", "action_values", "checksum")


class NotConforming(AssertionError):
    """A learner lacks what studies and players rely on; the message says what, and the remedy."""


def check(learner, game=None, params: dict | None = None) -> str:
    """Train a learner a few times for a moment, and return a line that says that it conforms.

    `learner` is a module or class, the default game is Tic-Tac-Toe; under `params` chance must play
    a part. Raises NotConforming with what is missing or wrong and what to do about it.

    Examples
    --------
    >>> from afterstate.learners import check_learner, tabular
    >>> check_learner.check(tabular)
    "learner 'tabular' on tictactoe: conforms"
    """
    game = load("tictactoe") if game is None else check_game(game, "a check of a learner")
    name = getattr(learner, "NAME", None) or getattr(learner, "__name__", repr(learner))
    about = f"learner {name!r} on {game.name}"

    def session(trained=0, seed=1, run=0, **more):
        numbered = {"run": run} if getattr(learner, "NUMBERED_RUNS", False) else {}
        made = learner.Session(game, (params or {}) | more, seed, **numbered)
        if trained:
            made.train(trained)
        return made

    for faults in (_table(learner), _members(session), _counts(session), _repeats(session)):
        if found := "".join(f"\n  - {fault}" for fault in faults):
            raise NotConforming(f"{about} does not keep the contract:{found}")
    return f"{about}: conforms"


def _lacking(thing, members, of):
    return [
        f"{of} has no {name!r}: see the contract, help(afterstate.learners)"
        for name in members
        if not hasattr(thing, name)
    ]


def _taken(call):
    try:
        call()
    except ValueError:
        return False
    return True


def _table(learner):
    if lacking := _lacking(learner, LEARNER, "the learner"):
        return lacking
    if not isinstance(learner.NAME, str) or not isinstance(learner.VERSION, int):
        return [f"NAME must be a text, VERSION a whole number, not {learner.VERSION!r}"]
    table = learner.PARAMETERS
    if not isinstance(table, dict) or not all(isinstance(p, Parameter) for p in table.values()):
        return ["PARAMETERS must be a dictionary name -> parameters.fraction(...), whole(...) ..."]
    if defaults(table) != learner.DEFAULTS:
        return ["DEFAULTS must be parameters.defaults(PARAMETERS), so that nothing is stated twice"]
    found = {name: parameter.problem(parameter.default) for name, parameter in table.items()}
    return [f"the default of {name!r} {problem}" for name, problem in found.items() if problem]


def _members(session):
    made = session()
    yield from _lacking(made, SESSION, "its session")
    yield from _lacking(getattr(made, "net", None), NET, "session.net")
    if _taken(lambda: session(no_such_parameter=1)):
        yield (
            "Session takes {'no_such_parameter': 1} without a word: begin it with self.params ="
            " check_parameters(PARAMETERS, params)"
        )


def _counts(session):
    made = session(PART)
    if made.episode != PART or not made.moves >= PART:
        yield (
            f"after train({PART}) episode is {made.episode!r} and moves is {made.moves!r}: count"
            " every finished episode and every move"
        )
    if not {"episodes", "moves"} <= set(made.statistics()):
        yield "statistics() lacks episodes or moves"
    if _taken(lambda: made.train(-1)):
        yield "train(-1) is taken: begin it with num_episodes = check_episodes(num_episodes)"


def _repeats(session):
    whole, parts = session(EPISODES).net.checksum(), session(PART)
    if session(EPISODES).net.checksum() != whole:
        yield (
            "the same seed gives other weights the second time: draw every random number from"
            " self.rng = new_rng(seed), none from numpy.random or random"
        )
        return
    if session(EPISODES, seed=2, run=1).net.checksum() == whole:
        yield (
            "another seed gives the same weights: use it (new_rng(seed)), and let checksum() depend"
            " on every weight; if these parameters leave nothing to chance, check with others"
        )
    kept = {name: np.array(array) for name, array in parts.state_dict().items()}
    resumed = session(seed=99)
    resumed.load_state_dict(kept)
    for made, how in ((parts, "in parts"), (resumed, "from a checkpoint in another session")):
        made.train(EPISODES - PART)
        if made.episode != EPISODES or made.net.checksum() != whole:
            yield (
                f"a training that goes on {how} ends elsewhere than a whole one: the session must"
                " keep, and state_dict() hold, all that changes, the random generator included"
            )
