"""The parameters of TD-learning, and the form in which kernels read them."""

import math
from typing import NamedTuple

from .parameters import choice, defaults, first_last, fraction, number, ramp, switch, whole

TC_NONE, TC_ID, TC_EXP = range(3)

PARAMETERS = {
    "episodes": whole(
        10_000, 1, "length of the schedules of alpha and epsilon; training may go on"
    ),
    "alpha": ramp(1.0, 0.0, None, "step size, constant or [first, last]"),
    "epsilon": ramp(0.1, 0.0, 1.0, "random move rate, constant or [first, last]"),
    "gamma": fraction(1.0, "discount factor"),
    "lambda_": fraction(0.0, "eligibility rate"),
    "horizon_cut": fraction(0.1, "lambda to the power of the age of an element is at least this"),
    "tuples": choice(
        "all",
        None,
        "lists of cells, 'all', a name in data/ntuples.yaml, or {'random_walk': number, 'length':"
        " cells}",
    ),
    "tc": choice("none", ("none", "id", "exp"), "temporal coherence: none, TC-id or TC-EXP"),
    "tc_init": number(1e-4, 0.0, None, "initial N and A of every weight"),
    "beta": number(2.7, 0.0, None, "exponent of TC-EXP"),
    "sigmoid": switch(True, "tanh output, else linear"),
    "farl": choice(
        "on", ("on", "off", "first", "second"), "final adaptation: both parts, none, or one of them"
    ),
    "learn_from_random": switch(True, "learn from random moves (the paper's T_lrnRM)"),
    "choose_start": switch(False, "draw start positions by the game's scheme (Choose-Start-01)"),
    "step_reward": number(0.0, None, None, "added to the reward of every move"),
    "max_plies": whole(0, 0, "an episode is truncated after so many plies; 0 = never"),
    "trace": choice(
        "ET", ("ET", "RESET"), "whether a random move that is not learned from clears the traces"
    ),
    "precision": choice("float32", ("float32", "float64"), "storage of weights and counters"),
    # deviations: the points where the text is silent or can not be followed, see
    # data/papers/konen2021.yaml
    "terminal_target": choice(
        "reward", ("reward", "literal"), "r, or r + gamma V(s') also for terminal s'"
    ),
    "greedy": choice(
        "reward+value",
        ("reward+value", "value"),
        "what a greedy move maximises: r + gamma V(s'), V(terminal) = 0, or V(s') alone",
    ),
    "distinct_symmetries": switch(
        True, "S(s') as a set, else equal symmetric boards count repeatedly"
    ),
    "alpha_schedule": choice(
        "linear", ("linear", "geometric"), "how alpha goes from first to last"
    ),
    "trace_across_episodes": switch(False, "eligibility traces survive the end of an episode"),
    "learn_start_state": switch(
        False, "the start position is learned as an afterstate of the previous player"
    ),
    "random_move_rule": choice(
        "target",
        ("target", "source"),
        "without learning from random moves, skip updates towards, or of, states they made",
    ),
    "inhibit_counters": switch(
        True, "TC counters change once per update, else at every occurrence of the index"
    ),
    "newest_ns": switch(False, "all trace elements use N_S of the newest one, else their own"),
    "tc_accumulate": choice(
        "weight change", ("weight change", "delta"), "what the TC counters add up"
    ),
    "step_back": choice(
        "round",
        ("round", "move"),
        "which afterstate a move updates: the same player's last one, or the one before, whoever"
        " made it",
    ),
}
DEFAULTS = defaults(PARAMETERS)


class Par(NamedTuple):
    """The parameters as kernels read them."""

    episodes: int
    alpha_first: float
    alpha_last: float
    epsilon_first: float
    epsilon_last: float
    gamma: float
    lambda_: float
    # elements of a trace, the newest included: h + 1 = 1 + floor(log_lambda(cut))
    trace_size: int
    tc: int
    beta: float
    farl_others: bool
    farl_terminal: bool
    learn_from_random: bool
    choose_start: bool
    step_reward: float
    max_plies: int
    trace_reset: bool
    literal_target: bool
    greedy_value: bool
    geometric: bool
    trace_across: bool
    learn_start: bool
    skip_source: bool
    inhibit_counters: bool
    newest_ns: bool
    accumulate_delta: bool
    one_move_back: bool


def compile_parameters(params: dict) -> Par:
    """Turn checked parameters into what kernels read.  Source: [konen2021] App. A.3 (horizon)."""
    lambda_, cut = params["lambda_"], params["horizon_cut"]
    if 0.0 < lambda_ and (lambda_ >= 1.0 or cut <= 0.0):
        raise ValueError(
            f"lambda_={lambda_} with horizon_cut={cut} needs an endless trace: take lambda_ below 1"
            " and horizon_cut above 0"
        )
    trace_size = 1 if lambda_ == 0.0 else 1 + math.floor(math.log(cut) / math.log(lambda_) + 1e-12)
    (alpha_first, alpha_last), (epsilon_first, epsilon_last) = (
        first_last(params["alpha"]),
        first_last(params["epsilon"]),
    )
    if params["tc"] != "none" and params["tc_init"] <= 0.0:
        raise ValueError(
            f"tc_init={params['tc_init']} must be above 0 with temporal coherence: it keeps |N|/A"
            " defined"
        )
    if params["alpha_schedule"] == "geometric" and min(alpha_first, alpha_last) <= 0.0:
        raise ValueError(
            f"alpha={params['alpha']!r} can not change geometrically: both ends must be above 0"
        )
    if params["step_back"] == "move":
        _check_one_move_back(params)
    return Par(
        episodes=params["episodes"],
        alpha_first=alpha_first,
        alpha_last=alpha_last,
        epsilon_first=epsilon_first,
        epsilon_last=epsilon_last,
        gamma=float(params["gamma"]),
        lambda_=float(lambda_),
        trace_size=trace_size,
        tc=("none", "id", "exp").index(params["tc"]),
        beta=float(params["beta"]),
        farl_others=params["farl"] in ("on", "first"),
        farl_terminal=params["farl"] in ("on", "second"),
        learn_from_random=params["learn_from_random"],
        choose_start=params["choose_start"],
        step_reward=float(params["step_reward"]),
        max_plies=params["max_plies"],
        trace_reset=params["trace"] == "RESET",
        literal_target=params["terminal_target"] == "literal",
        greedy_value=params["greedy"] == "value",
        geometric=params["alpha_schedule"] == "geometric",
        trace_across=params["trace_across_episodes"],
        learn_start=params["learn_start_state"],
        skip_source=params["random_move_rule"] == "source",
        inhibit_counters=params["inhibit_counters"],
        newest_ns=params["newest_ns"],
        accumulate_delta=params["tc_accumulate"] == "delta",
        one_move_back=params["step_back"] == "move",
    )


def _check_one_move_back(params) -> None:
    """Raise ValueError for parameters that mean nothing where moves update the state before."""
    if params["farl"] in ("on", "first"):
        raise ValueError(
            f"step_back='move' with farl={params['farl']!r}: the last move has updated the other"
            " player's last afterstate already; take farl='off', or 'second' for the terminal"
            " afterstate alone"
        )
    for name, needed in (("lambda_", 0.0), ("step_reward", 0.0)):
        if params[name] != needed:
            raise ValueError(
                f"step_back='move' with {name}={params[name]!r}: the afterstates of two players"
                f" follow one another with opposite signs; take {name}=0"
            )
