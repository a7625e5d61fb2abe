"""A check of a learner that you have just written: what it lacks, and the remedy."""

from functools import partial

from ..games.catalogue import load
from ..games.conformance import NotConforming
from ..games.game import check_game
from .parameters import Parameter, defaults

__all__ = ["NotConforming", "check"]

EPISODES = 30  # of a whole training
PART = 10  # of them, before a training is interrupted
LEARNER = ("NAME", "VERSION", "PARAMETERS", "DEFAULTS", "Session")
SESSION = ("net", "episode", "moves", "train", "statistics", "state_dict", "load_state_dict")
NET = ("game", "action_values", "checksum")


def check(learner, game=None, params: dict | None = None) -> str:
    """Train a learner a few times for a moment, and return a line that says that it conforms.

    Parameters
    ----------
    learner : module or class
    game : Game, optional
        What it learns; default: Tic-Tac-Toe.
    params : dict, optional
        Parameters other than its defaults. Under them chance must play a part in a training.

    Raises
    ------
    NotConforming
        With the first thing that is missing or wrong, and what to do about it.

    Examples
    --------
    >>> from afterply.learners import tabular
    >>> check(tabular)
    "learner 'tabular' on tictactoe: conforms"
    """
    if game is None:
        game = load("tictactoe")
    check_game(game, "a check of a learner")
    name = getattr(learner, "NAME", None) or getattr(learner, "__name__", repr(learner))
    about = f"learner {name!r} on {game.name}"
    for fault in _faults(learner, game, params or {}):
        raise NotConforming(f"{about} does not keep the contract: {fault}")
    return f"{about}: conforms"


def _faults(learner, game, params):
    """Yield what is wrong. Each check relies on those before it: only the first fault counts."""
    new_session = partial(_new_session, learner, game, params)
    yield from _faults_of_declarations(learner)
    session = new_session()
    yield from _faults_of_session(session)
    if not _refuses(_new_session, learner, game, params | {"no_such_parameter": 1}):
        yield "Session takes {'no_such_parameter': 1} without a word: begin with check_parameters()"
    if not _refuses_by_name(learner, game):
        remedy = "def __init__(self, game, params=None, seed=0, **changed), and changed is the last"
        yield f"Session(game, no_such_parameter=1): {remedy} argument of check_parameters()"
    yield from _faults_of_training(session)
    result = _result(_trained(new_session(), EPISODES))
    yield from _faults_of_seeds(new_session, result)
    yield from _faults_of_interruption(new_session, result)


def _new_session(learner, game, params, seed=1, run=0):
    numbered = {"run": run} if getattr(learner, "NUMBERED_RUNS", False) else {}
    return learner.Session(game, learner.DEFAULTS | params, seed, **numbered)


def _trained(session, num_episodes):
    session.train(num_episodes)
    return session


def _result(session) -> tuple:
    """Return what two trainings have in common if they are equal."""
    return session.net.checksum(), session.statistics()


def _lacking(thing, names, what):
    """Yield a fault if `thing`, which the text `what` names, lacks attributes of some names."""
    lacking = [name for name in names if not hasattr(thing, name)]
    if lacking:
        yield f"{what} has no {', '.join(lacking)}: see the contract, help(afterply.learners)"


def _refuses(call, *arguments, **named_arguments) -> bool:
    """Return whether a call raises ValueError."""
    try:
        call(*arguments, **named_arguments)
    except ValueError:
        return True
    return False


def _refuses_by_name(learner, game) -> bool:
    """Return whether a session takes parameters by name, and refuses an unknown one."""
    try:
        return _refuses(learner.Session, game, no_such_parameter=1)
    except TypeError:  # it takes none by name
        return False


def _faults_of_declarations(learner):
    """Yield what is wrong with the members of a learner."""
    yield from _lacking(learner, LEARNER, "the learner")
    if not isinstance(learner.NAME, str) or not isinstance(learner.VERSION, int):
        yield f"NAME must be a text, VERSION a whole number, not {learner.VERSION!r}"
    table = learner.PARAMETERS
    if not isinstance(table, dict) or not all(isinstance(p, Parameter) for p in table.values()):
        yield "PARAMETERS must be a dictionary name -> parameters.fraction(...), whole(...) ..."
    if defaults(table) != learner.DEFAULTS:
        yield "DEFAULTS must be parameters.defaults(PARAMETERS), so that nothing is stated twice"
    for name, parameter in table.items():
        problem = parameter.problem(parameter.default)
        if problem:
            yield f"the default of {name!r} {problem}"


def _faults_of_session(session):
    """Yield what a session and its network lack."""
    yield from _lacking(session, SESSION, "its session")
    yield from _lacking(session.net, NET, "session.net")


def _faults_of_training(session):
    """Train for a moment; yield what is wrong with the counts, and with what `train` takes."""
    session.train(PART)
    if session.episode != PART or not session.moves >= PART:
        counts = f"episode is {session.episode!r} and moves is {session.moves!r}"
        yield f"after train({PART}) {counts}: count every finished episode and every move"
    if not {"episodes", "moves"} <= set(session.statistics()):
        yield "statistics() lacks episodes or moves"
    if not _refuses(session.train, -1):
        yield "train(-1) is taken: begin it with num_episodes = check_episodes(num_episodes)"


def _faults_of_seeds(new_session, result):
    """Yield a fault unless the seed alone decides the result; `result` is that of seed 1."""
    checksum, _ = result
    repeated = _trained(new_session(), EPISODES)
    if repeated.net.checksum() != checksum:
        yield "the same seed gives other weights the second time: draw all from new_rng(seed)"
    with_other_seed = _trained(new_session(seed=2, run=1), EPISODES)
    if with_other_seed.net.checksum() == checksum:
        yield "another seed gives the same weights: use it, or check parameters with some chance"


def _faults_of_interruption(new_session, result):
    """Yield a fault unless trainings in two parts end with the `result` of one without a break."""
    in_parts = _trained(new_session(), PART)
    resumed = new_session(seed=99)  # all that it needs must come from the checkpoint
    checkpoint = {name: array.copy() for name, array in in_parts.state_dict().items()}
    resumed.load_state_dict(checkpoint)
    sessions = {"in parts": in_parts, "from a checkpoint in another session": resumed}
    for how, session in sessions.items():
        session.train(EPISODES - PART)
        if session.episode != EPISODES or _result(session) != result:
            what = f"a training that goes on {how} ends elsewhere than a whole one"
            yield f"{what}: it must keep, and state_dict() hold, all that changes, rng included"
