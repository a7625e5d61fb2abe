"""Parameters of a PUCT search: what the public words and numbers are to its kernels."""

import sys
from types import SimpleNamespace

from ..checks import boolean, number, one_of, whole
from ..games.game import Game, check_game
from ..games.opposite import not_opposite
from .mcts import MAX_ITERATIONS, UNLIMITED, depth_limit
from .puct_tree import BEST_ACTION, LINEAR, ROLLOUT, SOFTMAX, STATE, UNIFORM, Par

PRIORS = {"softmax": SOFTMAX, "linear": LINEAR, "uniform": UNIFORM}
LEAF_VALUES = {"best action": BEST_ACTION, "state": STATE, "rollout": ROLLOUT}
CHANCES = ("drawn", "enumerated")
ANY_GAME = SimpleNamespace(
    name="any game",
    identity={},
    players=1,
    rules=SimpleNamespace(outcome=1),
    score_range=(-1.0, 1.0),
    search_settings={},
)


def suited(game, given: dict) -> dict:
    """Return the settings of a search: those given, and for the others what the game says.

    Raises ValueError for a name that no setting has.
    """
    known = parameters.__kwdefaults__
    for name in (*given, *game.search_settings):
        if name not in known:
            raise ValueError(f"a search has no setting {name!r}; there are {', '.join(known)}")
    return {**game.search_settings, **given}


def check_base(base, settings: dict, game) -> None:
    """Raise ValueError if an agent can not give what a search of the game asks it for."""
    own = getattr(base, "game", None)
    if isinstance(own, Game) and own is not game and own.identity != game.identity:
        raise ValueError(
            f"the agent to be wrapped was made for {own!r}, the search is one of {game!r}: wrap an"
            " agent of this game, or leave game=... away"
        )
    can = callable(getattr(base, "value", None)) and not getattr(base, "per_action", False)
    if settings.get("leaf_value") == "state" and not can:
        raise ValueError(
            f"leaf_value='state' asks for value(state, player), which {base!r} does not give: take"
            " leaf_value='best action'"
        )


def check_players(game) -> None:
    """Raise ValueError unless a game has one player, or two whose rewards are opposite.

    Of a home-made game for two, random games tell once.
    """
    if game.players > 2:
        raise ValueError(
            f"a wrapped agent plays games of one or two players, {game.name} has {game.players}: "
            "its values are those of the player to move only"
        )
    if game.players == 2 and game.spec is None and not game.found_opposite:
        told = not_opposite(check_game(game, "a search"))
        if told:
            raise ValueError(
                "a wrapped agent takes the other player's value for the opposite of its own, but"
                f" {told}: let 'score' give each player his share less the other's, such as 1 and"
                " -1 instead of 1 and 0"
            )
        game.found_opposite = True


def parameters(
    game,
    *,
    c_puct=1.0,
    epsilon=1e-8,
    gamma=1.0,
    scale=None,
    temperature=1.0,
    step_reward=0.0,
    max_depth=None,
    rollout_depth=10_000,
    prior="softmax",
    leaf_value="best action",
    path_rewards=True,
    pass_nodes=False,
    chance="drawn",
    unvisited=0.0,
) -> Par:
    """Return the parameters of a search as its kernels take them; ``Wrapped`` says what they mean.

    Raises
    ------
    ValueError
        If a value is out of its range, or the game can not be searched like this.
    """
    check_players(game)
    scale = 1.0 / max(map(abs, game.score_range)) if scale is None else scale
    most, least = sys.float_info.max, sys.float_info.min
    for name, value, low, high in (
        ("c_puct", c_puct, 0.0, most),
        ("epsilon", epsilon, 0.0, 1.0),
        ("gamma", gamma, 0.0, 1.0),
        ("scale", scale, least, most),
        ("temperature", temperature, least, most),
        ("step_reward", step_reward, -most, most),
        ("unvisited", unvisited, -most, most),
    ):
        number(name, value, low, high)
    for name, word, words in (
        ("prior", prior, PRIORS),
        ("leaf_value", leaf_value, LEAF_VALUES),
        ("chance", chance, CHANCES),
    ):
        one_of(name, word, words)
    if chance == "enumerated" and game.rules.outcome == 0:
        raise ValueError(
            f"chance='enumerated' needs the rules outcomes and outcome, which {game.name} lacks: "
            "take chance='drawn'"
        )
    return Par(
        *map(float, (c_puct, epsilon, gamma, scale, temperature, step_reward)),
        depth_limit("max_depth", max_depth),
        whole("rollout_depth", rollout_depth, 1, UNLIMITED),
        PRIORS[prior],
        LEAF_VALUES[leaf_value],
        False,  # whether a Python function gives the values: of the agent, see Search
        boolean("path_rewards", path_rewards),
        boolean("pass_nodes", pass_nodes) and game.players == 2,
        chance == "enumerated",
        float(unvisited),
    )


def whole_iterations(given) -> int:
    """Return a number of iterations; raises ValueError unless it is from 1 to 10,000,000."""
    return whole("iterations", given, 1, MAX_ITERATIONS)
