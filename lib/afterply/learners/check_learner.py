"""A check of a learner that you have just written: what it lacks, and the remedy."""

from ..games.catalogue import load
from ..games.conformance import NotConforming
from ..games.game import check_game
from .parameters import Parameter, defaults

__all__ = ["NotConforming", "check"]

EPISODES, PART = 30, 10  # of a whole training, and of one that is interrupted
LEARNER = ("NAME", "VERSION", "PARAMETERS", "DEFAULTS", "Session")
SESSION = ("net", "episode", "moves", "train", "statistics", "state_dict", "load_state_dict")
NET = ("game", "action_values", "checksum")


def check(learner, game=None, params: dict | None = None) -> str:
    """Train a learner a few times for a moment, and return a line that says that it conforms.

    `learner` is a module or class, the default game is Tic-Tac-Toe; under `params` chance must play
    a part. Raises NotConforming with what is missing or wrong and what to do about it.

    >>> from afterply.learners import tabular
    >>> check(tabular)
    "learner 'tabular' on tictactoe: conforms"
    """
    game = load("tictactoe") if game is None else check_game(game, "a check of a learner")
    name = getattr(learner, "NAME", None) or getattr(learner, "__name__", repr(learner))
    about = f"learner {name!r} on {game.name}"
    for fault in _faults(learner, game, params or {}):
        raise NotConforming(f"{about} does not keep the contract: {fault}")
    return f"{about}: conforms"


def _lacking(thing, names, what):
    if lacking := [name for name in names if not hasattr(thing, name)]:
        yield f"{what} has no {', '.join(lacking)}: see the contract, help(afterply.learners)"


def _refuses(call, *given, **named):
    try:
        call(*given, **named)
    except ValueError:
        return True
    return False


def _refuses_by_name(learner, game):
    try:
        return _refuses(learner.Session, game, no_such_parameter=1)
    except TypeError:  # it takes none by name
        return False


def _faults(learner, game, params):
    """Yield what is wrong; each check relies on those before it."""

    def session(trained=0, seed=1, run=0, **more):
        numbered = {"run": run} if getattr(learner, "NUMBERED_RUNS", False) else {}
        made = learner.Session(game, learner.DEFAULTS | params | more, seed, **numbered)
        if trained:
            made.train(trained)
        return made

    yield from _lacking(learner, LEARNER, "the learner")
    if not isinstance(learner.NAME, str) or not isinstance(learner.VERSION, int):
        yield f"NAME must be a text, VERSION a whole number, not {learner.VERSION!r}"
    table = learner.PARAMETERS
    if not isinstance(table, dict) or not all(isinstance(p, Parameter) for p in table.values()):
        yield "PARAMETERS must be a dictionary name -> parameters.fraction(...), whole(...) ..."
    if defaults(table) != learner.DEFAULTS:
        yield "DEFAULTS must be parameters.defaults(PARAMETERS), so that nothing is stated twice"
    for name, parameter in table.items():
        if problem := parameter.problem(parameter.default):
            yield f"the default of {name!r} {problem}"
    made = session()
    yield from _lacking(made, SESSION, "its session")
    yield from _lacking(made.net, NET, "session.net")
    if not _refuses(session, no_such_parameter=1):
        yield "Session takes {'no_such_parameter': 1} without a word: begin with check_parameters()"
    if not _refuses_by_name(learner, game):
        remedy = "def __init__(self, game, params=None, seed=0, **changed), and changed is the last"
        yield f"Session(game, no_such_parameter=1): {remedy} argument of check_parameters()"
    made.train(PART)
    if made.episode != PART or not made.moves >= PART:
        counted = f"episode is {made.episode!r} and moves is {made.moves!r}"
        yield f"after train({PART}) {counted}: count every finished episode and every move"
    if not {"episodes", "moves"} <= set(made.statistics()):
        yield "statistics() lacks episodes or moves"
    if not _refuses(made.train, -1):
        yield "train(-1) is taken: begin it with num_episodes = check_episodes(num_episodes)"
    parts, resumed, complete = session(PART), session(seed=99), session(EPISODES)
    whole = complete.net.checksum(), complete.statistics()
    if session(EPISODES).net.checksum() != whole[0]:
        yield "the same seed gives other weights the second time: draw all from new_rng(seed)"
    if session(EPISODES, seed=2, run=1).net.checksum() == whole[0]:
        yield "another seed gives the same weights: use it, or check parameters with some chance"
    resumed.load_state_dict({name: array.copy() for name, array in parts.state_dict().items()})
    for made, how in ((parts, "in parts"), (resumed, "from a checkpoint in another session")):
        made.train(EPISODES - PART)
        if made.episode != EPISODES or (made.net.checksum(), made.statistics()) != whole:
            what = f"a training that goes on {how} ends elsewhere than a whole one"
            yield f"{what}: it must keep, and state_dict() hold, all that changes, rng included"
