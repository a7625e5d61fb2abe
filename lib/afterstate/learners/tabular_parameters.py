"""The parameters of tabular Q-learning, and the form in which kernels read them."""

from typing import NamedTuple

from ..checks import is_whole
from ..players.agents import GREEDY, GREEDY_FIRST
from .parameters import choice, defaults, fraction, number, whole

TEACHERS = ("twin", "deterministic", "non-deterministic", "random", "converged")

PARAMETERS = {
    "alpha": fraction(0.4, "step size (the paper's learning factor)"),
    "gamma": fraction(0.9, "discount factor"),
    "epsilon": fraction(0.3, "random move rate of the learning agent, constant"),
    "teacher": choice(
        "twin",
        TEACHERS,
        "who it plays against: its twin, Min-Max with first legal or random best move, a random"
        " agent, or a frozen converged table",
    ),
    "teacher_games": whole(
        8_000, 1, "games that the converged teacher has learned from its own twin"
    ),
    "teacher_epsilon": fraction(0.0, "random move rate of a Min-Max teacher"),
    "minimax_depth": whole(0, 0, "look-ahead of Min-Max in actions; 0 = to the end of the game"),
    "snapshots": choice([], None, "list of episodes after which the table is kept"),
    # deviations: the points where the text is silent, see data/papers/jamieson2022.yaml
    "win_reward": number(1.0, None, None, "reward of the last move of a won game"),
    "loss_reward": number(-1.0, None, None, "the same of a lost game"),
    "draw_reward": number(0.0, None, None, "the same of a draw"),
    "twin": choice(
        "shared",
        ("shared", "separate"),
        "one table for both seats, or one for each of two agents, who swap seats",
    ),
    "learner_seat": choice(
        "alternate",
        ("alternate", "first", "second"),
        "seat of the learning agent; alternate: first in games 1, 3, 5 ...",
    ),
    "initial_q": number(0.0, None, None, "value of an action that was never tried"),
    "last_move": choice(
        "blend",
        ("blend", "set"),
        "the reward is blended into the value of a game's last move, or replaces it",
    ),
    "ties": choice("random", ("random", "first"), "which of equal values a greedy move takes"),
}
DEFAULTS = defaults(PARAMETERS)


class Par(NamedTuple):
    """The parameters as kernels read them."""

    alpha: float
    gamma: float
    epsilon: float
    win: float
    loss: float
    draw: float
    both_learn: bool  # the teacher is the twin
    separate: bool  # ... with a table of its own
    alternate: bool
    seat: int  # of the learning agent, if it does not alternate
    set_last: bool  # the last move's value is the reward itself
    kind: int  # of the learning agent's choice: GREEDY or GREEDY_FIRST


def snapshot_episodes(given) -> tuple:
    """Return the episodes after which the table is kept, in order; raises ValueError."""
    if not isinstance(given, (list, tuple)) or any(not is_whole(e) or e < 1 for e in given):
        raise ValueError(
            f"snapshots={given!r} must be a list of whole numbers of at least 1, the episodes after"
            " which the table is kept"
        )
    return tuple(sorted({int(e) for e in given}))


def compile_parameters(params: dict) -> Par:
    """Turn checked parameters into what kernels read."""
    seat = params["learner_seat"]
    return Par(
        float(params["alpha"]),
        float(params["gamma"]),
        float(params["epsilon"]),
        float(params["win_reward"]),
        float(params["loss_reward"]),
        float(params["draw_reward"]),
        params["teacher"] == "twin",
        params["twin"] == "separate",
        seat == "alternate",
        int(seat == "second"),
        params["last_move"] == "set",
        GREEDY_FIRST if params["ties"] == "first" else GREEDY,
    )
