"""Train the agents that come from no study: ``python -m afterstate.commands.make_agents``.

Each game of ``RECIPES`` gets one training session of TD-learning with Final Adaptation, from one
seed: the file of its weights, and a card that says how it was trained, at what cost, and how it
fares against whom. Parameters are those of like games, changed after a few short trials at most;
all sessions together take some four CPU minutes, so none of these agents is as good as
it could be. Those that come from recorded runs: ``python -m afterstate.commands.make_cards``.
"""

import dataclasses
import json
import math
import sys
import time

from ..arena.matches import win_rate
from ..arena.starts import starts_all
from ..evaluators.cube import Solved
from ..evaluators.game2048 import Scores2048
from ..evaluators.playing import played
from ..files import published_file, write_text
from ..games.catalogue import load
from ..learners import td
from ..players.basic import Random
from ..players.searching import MCTS, MinMax
from ..stats import mean_interval
from ..studies import records

BATCHES = 10  # of games of a single player, over which the interval is
STARTS = 50  # start positions, of those after two plies; one match from each in each seat
EXPONENTIAL = {"tc": "exp", "tc_init": 1e-4, "farl": "on"}


@dataclasses.dataclass(frozen=True)
class Recipe:
    """How an agent is trained, and what it is measured against.

    Parameters
    ----------
    parameters : dict
        Of TD-learning.
    episodes : int
    rivals : dict of name -> player
        Games for two: who it meets from random start positions, in both seats.
    measure : callable, optional
        One player: an evaluator ``(game, net, seed) -> {metric: value}`` and the number of games or
        cubes behind each of its values.
    seed : int
    """

    parameters: dict
    episodes: int
    rivals: dict = dataclasses.field(default_factory=dict)
    measure: tuple | None = None
    seed: int = 1


def _rivals(depth=2):
    return {"Random": Random(), f"Min-Max-{depth}": MinMax(depth), "MCTS-500": MCTS(500)}


WALKS = {"random_walk": 40, "length": 8}
SQUARES2048 = [[0, 1, 2, 4, 5], [1, 2, 3, 5, 6], [0, 1, 2, 3, 4], [4, 5, 6, 7, 8], [4, 5, 6, 8, 9]]
CUBE = {
    "alpha": 0.25,
    "epsilon": 0.0,
    "sigmoid": False,
    "tc": "id",
    "tc_init": 1e-4,
    "farl": "on",
    "learn_from_random": False,
    "step_reward": -0.04,
}
RECIPES = {
    "kalah": Recipe(
        {
            "tuples": [[a, b] for b in range(14) for a in range(b)],  # all pairs of houses
            "alpha": 0.5,
            "lambda_": 0.5,
            "epsilon": [0.2, 0.05],
            "choose_start": True,
            **EXPONENTIAL,
        },
        300_000,
        _rivals(4),
    ),
    "morris": Recipe(
        {
            "tuples": WALKS,
            "alpha": 1.0,
            "epsilon": [0.2, 0.05],
            "choose_start": True,
            "max_plies": 300,
            **EXPONENTIAL,
        },
        25_000,
        _rivals(2),
    ),
    "checkers": Recipe(
        {
            "tuples": {"random_walk": 60, "length": 6},
            "alpha": 1.0,
            "epsilon": [0.2, 0.05],
            "max_plies": 300,
            **EXPONENTIAL,
        },
        60_000,
        _rivals(4),
    ),
    "game2048": Recipe(
        {
            "tuples": SQUARES2048,
            "alpha": 1.0,
            "epsilon": 0.0,
            "sigmoid": False,
            "tc": "id",
            "tc_init": 1e-4,
            "farl": "on",
        },
        12_000,
        measure=(Scores2048(games=20), 20),
    ),
    "cube2": Recipe(
        CUBE | {"tuples": {"random_walk": 24, "length": 7}, "max_plies": 16},
        700_000,
        measure=(Solved((11, 12, 13), (5,), 20, by_distance=False), 20),
    ),
    "cube3": Recipe(
        CUBE | {"tuples": {"random_walk": 12, "length": 6}, "max_plies": 13},
        500_000,
        measure=(Solved((7, 8, 9), (3, 5), 20, by_distance=False), 20),
    ),
}


def make(name: str) -> dict:
    """Train an agent by its recipe, write its weights and its card, and return the card."""
    recipe, game, folder = RECIPES[name], load(name), published_file("models")
    given = recipe.parameters | {"episodes": recipe.episodes}
    td.Session(game, given, 0).train(1)  # compiled before the clock starts
    session = td.Session(game, given, recipe.seed)
    began = time.process_time()
    session.train(recipe.episodes)
    seconds = time.process_time() - began
    session.net.save(folder / f"{name}.npz", compressed=True)
    card = {
        "name": f"{name}, TD-learning",
        "file": f"{name}.npz",
        "game": game.identity,
        "checksum": session.net.checksum(),
        "made_by": "afterstate.commands.make_agents",
        "learner": {"name": td.NAME, "version": td.VERSION},
        "parameters": session.params,
        "seed": recipe.seed,
        "episodes": recipe.episodes,
        "cost": {
            "cpu_seconds": round(seconds, 3),
            "moves": session.moves,
            "moves_per_second": round(session.moves / seconds),
        },
        "machine": records.machine(),
        "commit": records.commit()["commit"],
        "strength": strength(recipe, game, session.net),
    }
    card |= {"words": words(card)}
    write_text(folder / f"card-{name}.json", json.dumps(card, indent=1, sort_keys=True) + "\n")
    return card


def strength(recipe: Recipe, game, net) -> dict:
    """Return metric -> value of this agent, its 95% interval over games, and their number."""
    found = {}
    if recipe.measure is not None:
        evaluator, number = recipe.measure
        batches = [evaluator(game, net, recipe.seed + k) for k in range(BATCHES)]
        for metric in batches[0]:
            interval = mean_interval([batch[metric] for batch in batches])
            found[metric] = {
                "run": interval.mean,
                "interval": [interval.low, interval.high],
                "games": BATCHES * number,
            }
        return found
    starts = starts_all(game, 2)
    starts = starts[:: max(1, len(starts) // STARTS)][:STARTS]
    for name, rival in recipe.rivals.items():
        table = played(game, {"agent": net, name: rival}, starts, 1, recipe.seed, "first")
        mine = table[table.player == "agent"].score
        percent = 100.0 * win_rate(mine, game.score_range)
        found[f"win_rate:{name}"] = {
            "run": percent,
            "interval": wilson(percent, len(mine)),
            "games": len(mine),
        }
    return found


def wilson(percent: float, number: int) -> list[float]:
    """Return the 95% interval of a share in percent, after so many games.

    A draw counts as half a win, which makes the interval rather too wide.

    Source: Wilson (1927).

    >>> [round(end, 1) for end in wilson(100.0, 98)]
    [96.2, 100.0]
    """
    share, z2 = percent / 100.0, 1.959964**2
    middle = (share + z2 / (2 * number)) / (1 + z2 / number)
    half = math.sqrt(z2 * (share * (1 - share) + z2 / (4 * number)) / number) / (1 + z2 / number)
    return [100.0 * max(0.0, middle - half), 100.0 * min(1.0, middle + half)]


def words(card) -> str:
    """Return a card in a sentence."""
    told = []
    for metric, entry in card["strength"].items():
        kind, _, whom = metric.partition(":")
        low, high = entry["interval"]
        if kind == "win_rate":
            told.append(f"{entry['run']:.0f}% against {whom} ({low:.0f} to {high:.0f})")
        elif metric == "score":
            told.append(f"mean score {entry['run']:,.0f} ({low:,.0f} to {high:,.0f})")
        elif kind == "tile" and entry["run"] > 0:
            told.append(f"{entry['run']:.0f}% reach {int(whom):,}")
        elif kind == "solved_rate" and whom.startswith("twists-"):
            twists = whom.partition("-")[2]
            solved = f"{entry['run']:.0f}% ({max(low, 0):.0f} to {min(high, 100):.0f})"
            told.append(f"solves {solved} of cubes scrambled by {int(twists)} twists")
    return (
        f"{card['learner']['name']}, {card['episodes']:,} episodes,"
        f" {card['cost']['cpu_seconds']:.0f} CPU seconds; {', '.join(told)}"
    )


if __name__ == "__main__":
    for which in sys.argv[1:] or RECIPES:
        if which not in RECIPES:
            raise SystemExit(f"there is no recipe for {which!r}, only for {', '.join(RECIPES)}")
        print(f"{which}: {make(which)['words']}", flush=True)
