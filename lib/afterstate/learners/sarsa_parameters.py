"""The parameters of SARSA and Q-learning: those of TD-learning that apply, and their own."""

from typing import NamedTuple

from . import td_parameters
from .parameters import choice, defaults

OWN = {
    "method": choice(
        "sarsa", ("sarsa", "q"), "what the target holds: Q of a chosen action, or the greatest Q"
    ),
    "farl": choice("on", ("on", "off"), "final adaptation of the players who do not move next"),
    # deviations: see data/papers/konen2021.yaml
    "sarsa_action": choice(
        "anew",
        ("anew", "kept"),
        "the next action is chosen after the update, or before it and kept",
    ),
    "q_maximum": choice(
        "values",
        ("values", "random numbers"),
        "the maximum after an exploratory choice: of Q, or of the numbers that made the choice",
    ),
    "inhibition": choice(
        "update",
        ("update", "executed action"),
        "what may learn: every index once an update, or those not in lists that are cleared late",
    ),
}
OTHERS = ("farl", "terminal_target", "greedy", "learn_start_state", "step_back")
PARAMETERS = {k: v for k, v in td_parameters.PARAMETERS.items() if k not in OTHERS} | OWN
DEFAULTS = defaults(PARAMETERS)
Par = NamedTuple(
    "Par",
    [
        *td_parameters.Par.__annotations__.items(),  # what the shared kernels read
        ("q_learning", bool),
        ("keep_action", bool),
        ("random_maximum", bool),
        ("late_clearing", bool),
    ],
)


def compile_parameters(params: dict) -> Par:
    """Turn checked parameters into what kernels read.

    Raises
    ------
    ValueError
        If the parameters contradict each other.
    """
    shared = {k: v for k, v in params.items() if k in td_parameters.DEFAULTS and k != "farl"}
    farl = {"on": "first", "off": "off"}[params["farl"]]  # Q of a terminal state is never asked for
    common = td_parameters.compile_parameters({**td_parameters.DEFAULTS, **shared, "farl": farl})
    if params["q_maximum"] == "random numbers":
        if params["method"] != "q" or params["sarsa_action"] != "kept":
            raise ValueError(
                f"q_maximum='random numbers' with method={params['method']!r} and "
                f"sarsa_action={params['sarsa_action']!r}: it is the defect of a program that "
                "chooses before the update; take method='q' and sarsa_action='kept' with it"
            )
    return Par(
        *common,
        q_learning=params["method"] == "q",
        keep_action=params["sarsa_action"] == "kept",
        random_maximum=params["q_maximum"] == "random numbers",
        late_clearing=params["inhibition"] == "executed action",
    )
