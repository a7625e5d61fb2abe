"""Make the published agents, their cards and the ladders of opponents again.

::

    python data/models/make.py agents [game ...]     trained by a recipe of this file: minutes
    python data/models/make.py cards [game ...]      cards of the agents of recorded runs
    python data/models/make.py rivals [file ...]     the other agents of played.yaml: minutes
    python data/models/make.py ladders [game ...]    opponents of every strength

A card says where an agent comes from, at what cost, and how strong it is. A recipe is one training
of TD-learning with Final Adaptation, from one seed; its parameters are those of like games, changed
after a few short trials at most: none of these agents is as good as it could be.
"""

import json
import math
import subprocess
import sys
import time
from typing import NamedTuple

import numpy as np

from afterply import arena
from afterply.arena import ratings
from afterply.files import data_directory, published_file, read_npz, write_signed
from afterply.games.catalogue import load, load_spec
from afterply.kernel.random import seed_from
from afterply.learners import learners, td
from afterply.opponents import rating_pool
from afterply.opponents.words import careless, named
from afterply.players import MCTS, MinMax, Random
from afterply.players.saved import Saved, zoo
from afterply.stats import mean_interval
from afterply.studies.papers.konen2021.game_measures import Scores2048
from afterply.studies.papers.scheiermann2022.cube_solving import Solved
from afterply.studies.records import machine, read
from afterply.studies.results import key

BATCHES = 10  # of games of a single player, over which the interval is
STARTS = 50  # start positions, of those after two plies; one match from each in each seat

EXPONENTIAL = {"tc": "exp", "tc_init": 1e-4, "farl": "on"}
ONE_PLAYER = {"epsilon": 0.0, "sigmoid": False, "tc": "id", "tc_init": 1e-4, "farl": "on"}
CUBE = ONE_PLAYER | {"alpha": 0.25, "learn_from_random": False, "step_reward": -0.04}
PAIRS_OF_HOUSES = [[a, b] for b in range(14) for a in range(b)]
SQUARES2048 = [[0, 1, 2, 4, 5], [1, 2, 3, 5, 6], [0, 1, 2, 3, 4], [4, 5, 6, 7, 8], [4, 5, 6, 8, 9]]


class Recipe(NamedTuple):
    """How an agent is trained, and what it is measured against.

    In games for two it meets random play, MCTS and, without chance, Min-Max to `depth` from random
    start positions, in both seats. `measure` is, in games for one, an evaluator
    ``(game, net, seed) -> {metric: value}`` and the number of games or cubes behind each of its
    values.
    """

    parameters: dict
    episodes: int
    depth: int = 0
    measure: tuple = ()
    seed: int = 1
    digits: int = 24  # of its weights in binary: fewer make a smaller file, and a smaller page


def _walks(number, length):
    return {"tuples": {"random_walk": number, "length": length}}


def _solved(*given):
    return Solved(*given, 20, by_distance=False), 20


FOR_TWO = EXPONENTIAL | {"epsilon": [0.2, 0.05]}
KALAH = {"tuples": PAIRS_OF_HOUSES, "alpha": 0.5, "lambda_": 0.5, "choose_start": True}
MORRIS = _walks(40, 8) | {"alpha": 1.0, "max_plies": 300, "choose_start": True}
CHECKERS = _walks(60, 6) | {"alpha": 1.0, "max_plies": 300}
GAME2048 = ONE_PLAYER | {"tuples": SQUARES2048, "alpha": 1.0}
CUBE2, CUBE3 = _walks(24, 7) | {"max_plies": 16}, _walks(12, 6) | {"max_plies": 13}
RECIPES = {
    "kalah": Recipe(FOR_TWO | KALAH, 300_000, depth=4),
    "morris": Recipe(FOR_TWO | MORRIS, 25_000, depth=2),
    "checkers": Recipe(FOR_TWO | CHECKERS, 60_000, depth=4),
    "dots": Recipe(load("dots").settings, 300_000, depth=4),
    "race": Recipe(load("race").settings, 200_000),
    "game2048": Recipe(GAME2048, 12_000, measure=(Scores2048(games=20), 20), digits=12),
    "cube2": Recipe(CUBE | CUBE2, 700_000, measure=_solved((11, 12, 13), (5,))),
    "cube3": Recipe(CUBE | CUBE3, 500_000, measure=_solved((7, 8, 9), (3, 5))),
}
# file, study, arm and run; of Nim3P the best of ten, of give-away of three
RECORDED = {
    "connect4": ("connect4.npz", "connect4", "FARL", 0),
    "giveaway": ("giveaway.npz", "beyond-giveaway", "n-tuples", 0),
    "hex": ("hex.npz", "hex", "FARL", 0),
    "nim": ("nim.npz", "nim", "FARL", 0),
    "nim3p": ("nim3p.npz", "nim3p", "FARL", 6),
    "othello": ("othello.npz", "othello", "FARL", 0),
    "tictactoe": ("ladder-tictactoe.npz", "weaker-tictactoe", "teacher 0.5 random", 0),
}
# agents of played.yaml that are not published by themselves: study and arm, and how many episodes
# of its first run, by default all
RIVALS = {
    "tictactoe-FARL": ("tictactoe", "FARL", None),
    "tictactoe-no-FARL": ("tictactoe", "no-FARL", None),
    "connect4-no-FARL": ("connect4", "no-FARL", None),
    "hex-no-FARL": ("hex", "no-FARL", None),
    "hex-early": ("hex", "FARL", 3000),
}
PAIRING = 40  # games of a pairing, in each seat
LADDERS = ["checkers", "connect4", "hex", "kalah", "morris", "nim", "othello"]
LADDERS += ["tictactoe"]  # its results are exact
DIALS = tuple(k / 20 for k in range(21))
PERFECT = ("connect4", "nim", "tictactoe")  # games whose last rung is perfect play
STEP = 10  # Elo points that a search is above the rung below it, or it is none
ABOVE = ("zoo:30", "zoo:100", "zoo:300", "zoo:1000")  # the published agents that search
FOLDER = published_file("models")


# --------------------------------------------------------------------------- agents by a recipe
def make_agent(name: str) -> dict:
    """Train an agent by its recipe, write its weights and return its card."""
    recipe, game = RECIPES[name], load(name)
    given = td.DEFAULTS | recipe.parameters | {"episodes": recipe.episodes}
    td.Session(game, given, 0).train(1)  # compiled before the clock starts
    session = td.Session(game, given, recipe.seed)
    began = time.process_time()
    session.train(recipe.episodes)
    seconds = time.process_time() - began
    round_weights(session.net.arrays.weights, recipe.digits)
    session.net.save(FOLDER / f"{name}.npz", compressed=True)
    revision = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True)
    card = {
        "name": f"{name}, TD-learning",
        "file": f"{name}.npz",
        "game": game.identity,
        "checksum": session.net.checksum(),
        "made_by": "data/models/make.py",
        "learner": {"name": td.NAME, "version": td.VERSION},
        "parameters": session.params,
        "seed": recipe.seed,
        "episodes": recipe.episodes,
        "cost": {"cpu_seconds": round(seconds, 3), "moves": session.moves}
        | {"moves_per_second": round(session.moves / seconds)},
        "machine": machine(),
        "commit": revision.stdout.strip() or None,
        "strength": measured(recipe, game, session.net),
    }
    return card | {"words": words(card)}


def round_weights(weights, digits: int) -> None:
    """Round weights to so many binary digits, in place."""
    mantissa, exponent = np.frexp(weights)
    weights[:] = np.ldexp(np.round(np.ldexp(mantissa, digits)), exponent - digits)


def measured(recipe: Recipe, game, net) -> dict:
    """Return metric -> value of an agent, its 95% interval over games, and their number."""
    if recipe.measure:
        evaluator, number = recipe.measure
        batches = [evaluator(game, net, recipe.seed + k) for k in range(BATCHES)]
        found = {}
        for metric in batches[0]:
            mean, low, high = mean_interval([batch[metric] for batch in batches])
            found[metric] = {"run": mean, "interval": [low, high], "games": BATCHES * number}
        return found
    rivals, found = {"MCTS-500": MCTS(500), "Random": Random()}, {}
    if game.deterministic:
        starts = arena.starts_all(game, 2)
        starts = starts[:: max(1, len(starts) // STARTS)][:STARTS]
        rivals[f"Min-Max-{recipe.depth}"] = MinMax(recipe.depth)
    else:  # luck takes many games
        starts = arena.starts_random(game, 10 * STARTS)
    for name, rival in sorted(rivals.items()):
        pair = {"agent": net, name: rival}
        table = arena.matches(game, pair, starts, 1, recipe.seed, seats="first")
        if (table.error != "").any():
            raise RuntimeError(f"a match against {name} failed: {table.error.max()}")
        mine = table[table.player == "agent"].score
        percent = 100.0 * arena.win_rate(mine, game.score_range)
        interval = wilson(percent, len(mine))
        found[f"win_rate:{name}"] = {"run": percent, "interval": interval, "games": len(mine)}
    return found


def wilson(percent: float, number: int) -> list[float]:
    """Return the 95% interval of a share in percent, after `number` games.

    A draw counts as half a win, which makes the interval rather too wide.

    Source: Wilson (1927).
    """
    share, z2 = percent / 100.0, 1.959964**2
    middle = (share + z2 / (2 * number)) / (1 + z2 / number)
    half = math.sqrt(z2 * (share * (1 - share) + z2 / (4 * number)) / number) / (1 + z2 / number)
    return [100.0 * max(0.0, middle - half), 100.0 * min(1.0, middle + half)]


def words(card) -> str:
    """Return the card of an agent by a recipe in words: how it learned; how strong it is."""
    parts = []
    for metric, entry in sorted(card["strength"].items(), key=lambda one: (len(one[0]), one[0])):
        kind, _, whom = metric.partition(":")
        run, (low, high) = entry["run"], entry["interval"]
        if kind == "win_rate":
            parts.append(f"{run:.0f}% ({low:.0f} to {high:.0f}) against {_called(whom)}")
        elif metric == "score":
            parts.append(f"{run:,.0f} points a game ({low:,.0f} to {high:,.0f})")
        elif kind == "tile" and run > 0:
            parts.append(f"a tile of {int(whom):,} in {run:.0f}% of games")
        elif kind == "solved_rate" and whom.startswith("twists-"):
            solved = f"{run:.0f}% ({max(low, 0):.0f} to {min(high, 100):.0f})"
            twists = int(whom.removeprefix("twists-"))
            parts.append(f"{solved} solved of cubes scrambled by {twists} twists")
    return f"{_beginning(card)}; {', '.join(parts)}"


def _beginning(card) -> str:
    whom = "itself" if card["learner"]["name"] == td.NAME else "a teacher"
    games, seconds = f"{card['episodes']:,} games", math.ceil(card["cost"]["cpu_seconds"])
    return f"learned from {games} against {whom} in {seconds} s of one processor"


def _called(opponent: str) -> str:
    """Return the name of an opponent, and what it is."""
    kinds = {"AB": "perfect play", "AB-DL": "perfect play that puts defeat off"}
    kinds |= {"Max-N": "perfect play", "MCTS": "a tree search", "Rhino": "the program gtp-rhino"}
    kind = kinds.get(opponent) or kinds.get(opponent.rpartition("-")[0])
    return f"{kind} ({opponent})" if kind else opponent


# ------------------------------------------------------------------------ agents of recorded runs
def make_card(name: str) -> dict:
    """Return the card of a recorded run's agent; the agent is trained if its file is missing."""
    file, study, arm, number = RECORDED[name]
    run, records = _record(study, arm, number)
    evaluations = [r for r in records if r["kind"] != "train"]
    if not (FOLDER / file).exists():
        _again(run, study, run["episodes"]).net.save(FOLDER / file, compressed=True)
    if read_npz(FOLDER / file)[0]["checksum"] != run["checksum"]:
        raise ValueError(f"{FOLDER / file} is not from {study} / {arm} / run {number}")
    own = [e for e in evaluations if e["train"] == run["key"]]
    strength = {}
    for evaluation in sorted(own, key=lambda e: e["kind"] == "final"):  # which replaces a curve's
        alike = [e for e in evaluations if all(e[k] == evaluation[k] for k in ("kind", "arm"))]
        for row, values in zip(evaluation["rows"], evaluation["values"], strict=True):
            of_arm = [e["values"][e["rows"].index(row)][-1] for e in alike if row in e["rows"]]
            mean, *interval = mean_interval(of_arm)
            entry = row | {"run": values[-1], "arm_mean": mean, "runs": len(of_arm)}
            strength[key(row)] = entry | ({"arm_interval": interval} if len(of_arm) > 1 else {})
    copied = "game checksum arm run learner parameters episodes cost machine commit".split()
    card = {"name": f"{name}, {arm}", "file": file, "study": study}
    card |= {entry: run[entry] for entry in copied}
    card |= {"record": f"train-{run['key']}", "strength": list(strength.values())}
    return card | {"words": _recorded_in_words(card)}


def make_rival(name: str) -> dict:
    """Train the agent of a recorded run again, write it, and return its card."""
    study, arm, episodes = RIVALS[name]
    run, _ = _record(study, arm, 0)
    session = _again(run, study, episodes or run["episodes"])
    if not episodes and session.net.checksum() != run["checksum"]:
        raise ValueError(f"{name} is not from {study} / {arm} / run 0")
    copied = "game arm run learner parameters".split()
    card = {"name": name, "study": study} | {entry: run[entry] for entry in copied}
    card |= {"episodes": session.episode, "checksum": session.net.checksum()}
    Saved(session.net, card, name).save(FOLDER / f"{name}.npz")
    return card


def _record(study, arm, number):
    """Return the record of a training, and all records of its study."""
    records = read(data_directory() / "records" / f"{study}.jsonl")[1].values()
    (run,) = (r for r in records if r["kind"] == "train" and (r["arm"], r["run"]) == (arm, number))
    return run, records


def _again(run, study, episodes):
    """Return the session of a recorded run, trained again."""
    learner, seed = learners()[run["learner"]["name"]], seed_from(study, run["arm"], run["run"])
    session = learner.Session(load_spec(run["game"]), run["parameters"], seed)
    session.train(episodes)
    return session


def _recorded_in_words(card) -> str:
    beginning = f"{_beginning(card)} (study {card['study']})"
    for kind, unit, digits in (("win_rate", "%", 0), ("points", "%", 0), ("score", "", 2)):
        parts = []
        for entry in card["strength"]:
            if entry["measure"] == kind and "opponent" in entry and "seat" not in entry:
                if entry.get("variant") == "won starts":
                    continue
                value, mean = (f"{entry[k]:.{digits}f}{unit}" for k in ("run", "arm_mean"))
                level = f"level {entry['level']}" if "level" in entry else None
                told = filter(None, [_called(entry["opponent"]), level, entry.get("variant")])
                of = f"against {', '.join(told)}"
                if "iterations" in entry:
                    of = f"with a search of {entry['iterations']:,} iterations {of}"
                parts.append(f"{value} {of} (others like it {mean})".replace(") (", "; "))
        if parts:
            return f"{beginning}; {', '.join(parts)}"
    return beginning


# ------------------------------------------------------------------------------------- ladders
def make_ladder(name: str) -> dict:
    """Rate the published agent with a growing share of random moves, and who is above it."""
    game, games = load(name), 0 if name == "tictactoe" else PAIRING
    among = rating_pool.published_pool(game, games) if games else rating_pool.pool(game)

    def rated(player, what):
        return rating_pool.rate(game, player, among, seed_from("ladder", name, what))["rating"]

    found = [rated(careless(zoo(game), dial), f"{dial:g}") for dial in DIALS]
    found[0] = 0.0  # moves at random, as the zero of the scale does
    rungs, above = np.maximum.accumulate(found).round(2), {}
    for word in (*(ABOVE if games else ()), *["perfect"] * (name in PERFECT)):
        top = max(rungs[-1], *above.values(), 0.0)
        rating = round(float(rated(named(game, word), word)), 2)
        if word == "perfect" or rating > top + STEP:
            # who plays perfectly is the end of the dial, however it fares against the weak
            above[word] = max(rating, round(top + 1, 2))
    return {
        "game": game.identity,
        "method": "careless",
        "scale": "Elo points above a random player",
        "first_seat": round(ratings.ELO * among.model.first, 2),
        "games": games * 2 * len(among.sides),
        "dials": list(DIALS),
        "ratings": [round(float(r), 2) for r in rungs],
        "above": above,
    }


MAKERS = {  # what: (how, of which games, file of what it returns)
    "agents": (make_agent, RECIPES, "card-{}.json"),
    "cards": (make_card, RECORDED, "card-{}.json"),
    "ladders": (make_ladder, LADDERS, "ladder-{}.json"),
    "rivals": (make_rival, RIVALS, ""),  # a file of an agent holds its card
}


def main(what="", *names) -> None:
    """Do what the command line says."""
    make, known, file = MAKERS.get(what, (None, MAKERS, ""))
    if make is None or not {*known} >= {*names}:
        raise SystemExit(f"make {', '.join(MAKERS)}, and of them {', '.join(known)}")
    for name in names or known:
        made = make(name)
        if file:
            in_order = json.loads(json.dumps(made, sort_keys="words" in made))
            write_signed(FOLDER / file.format(name), in_order)
        print(f"{name}: {made.get('words') or made.get('ratings') or made['name']}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
