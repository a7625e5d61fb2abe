"""Make the published ladders of opponents again: ``python -m afterstate.commands.make_ladders``."""

import json
import sys

import numpy as np

from ..arena import rating_pool, ratings
from ..files import write_text
from ..games.catalogue import load
from ..kernel.random import seed_from
from ..learners import tabular
from ..players.ladder import careless_agent, folder

RUN = ("weaker-tictactoe", "teacher 0.5 random", 0)  # study, arm and run of the published table
PARAMS = {"teacher": "non-deterministic", "teacher_epsilon": 0.5}
EPISODES = 8_000
DEPTH, GAMES = 2, 200  # of Min-Max, in actions; for each ordered pair of a rating
DIALS = tuple(k / 20 for k in range(21))
SAMPLED = {"tictactoe": 0, "kalah": GAMES, "morris": GAMES}  # games of a pairing; 0 = exact results


# -------------------------------------------------------------------------------------- making them


def make(name: str) -> dict:
    """Rate a ladder anew and write its files."""
    game, depth, net = load(name), 0, None
    if name == "tictactoe":
        session = tabular.Session(game, PARAMS, seed_from(*RUN))
        session.train(EPISODES)
        net = session.net
        net.save(folder() / f"ladder-{name}.npz", compressed=True)
    else:
        depth = DEPTH
    among, kind = (
        rating_pool.pool(game, depth, SAMPLED[name]),
        ("min-max" if net is None else "table"),
    )
    found = [
        rating_pool.rate(
            game,
            careless_agent(game, kind, depth, dial, net),
            among,
            seed_from("ladder", name, f"{dial:g}"),
        )["rating"]
        for dial in DIALS
    ]
    found[0] = 0.0  # moves at random, as the zero of the scale does
    ladder = {
        "game": game.identity,
        "kind": kind,
        "depth": depth,
        "method": "careless",
        "scale": "Elo points above a random player",
        "first_seat": round(ratings.ELO * among.model.first, 2),
        "games": SAMPLED[name] * 2 * len(among.sides),
        "dials": list(DIALS),
        "ratings": [round(float(r), 2) for r in np.maximum.accumulate(found)],
    }
    write_text(folder() / f"ladder-{name}.json", json.dumps(ladder, indent=1) + "\n")
    return ladder


if __name__ == "__main__":
    for which in sys.argv[1:] or SAMPLED:
        if which not in SAMPLED:
            raise SystemExit(
                f"there is no recipe for a ladder of {which!r}, only for {', '.join(SAMPLED)}"
            )
        made = make(which)
        print(f"{which}: {made['ratings'][0]:.0f} to {made['ratings'][-1]:.0f}")
