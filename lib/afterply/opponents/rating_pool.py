"""One scale of strength for the players of :mod:`afterply.opponents.weaken` and all others.

A *pool* of reference players, who make random moves at several rates, meet each other and get
ratings (the random player 0). Everybody else is placed among them one at a time. Without the random
moves they are Min-Max players, or the published agent of a game that is too large for them.
"""

import itertools
import json
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pandas as pd

from ..arena import exact, ratings
from ..arena.matches import matches, starts_all
from ..checks import whole
from ..kernel.random import seed_from
from ..players.agents import Agent, chance, contest, min_max
from ..players.basic import Careless, Random, duplicate
from ..players.saved import zoo
from ..search.best_moves import FULL_DEPTH
from .words import named

CARELESS = (1.0, 0.8, 0.6, 0.4, 0.2, 0.0)  # rates of random moves of the reference players
EXACT_GAMES = 1_000  # games that an exact result counts as, beside the prior
# games of an ordered pair of the pool, at most, and as a multiple of those of a rating: the pool's
# errors are in every rating
POOL_GAMES, POOL_FACTOR = 200, 10
OPENING = 2  # plies before two players meet who may make no random moves
EDGE = 0.01  # "beats" means a mean score above one half by more than this


def prepare(game, agent: Agent, games: int):
    """Return a side of :func:`meet`: the agent, or its policy where results are exact."""
    sampled = whole("the number of games (0 = exact)", games, 0)
    return agent if sampled else exact.policy(game, agent)


def meet(game, first, second, games: int, seed: int):
    """Return the first's shares of wins, draws, losses (0 games: exact), and different games."""
    if games == 0:
        return np.array(exact.outcome(game, first, second)), 0
    if isinstance(first, Agent) and isinstance(second, Agent):
        out = contest(game, first, second, games, seed)
        return np.array([out.wins, out.draws, out.losses]) / games, out.distinct
    # copies: threads that rate side by side have the same pool, but matches of their own
    sides = {"a": duplicate(first), "b": duplicate(second)}
    table = matches(game, sides, _openings(game, games), 1, seed, [("a", "b")], strict=True)
    mine, other = (table[table.player == name].score.to_numpy() for name in sides)
    found = [(mine > other).mean(), (mine == other).mean(), (mine < other).mean()]
    return np.array(found), len(set(zip(table.start, table.moves)))


@lru_cache(16)
def _openings(game, number):
    starts = starts_all(game, OPENING)
    return [starts[len(starts) * k // number] for k in range(number)]


class Pool(NamedTuple):
    """The reference players, with their ratings."""

    sides: dict  # name -> agent, or its policy where results are exact
    model: ratings.Model  # strengths are counted from the random player's
    games: int


_games = {}


def shared_copy(game):
    """Return the same object for all copies of a game: searches and pools are kept by object."""
    return _games.setdefault(json.dumps(game.identity, sort_keys=True), game) if game.spec else game


@lru_cache(16)
def pool(game, depth: int = FULL_DEPTH, games: int = 0) -> Pool:
    """Return the reference players for ratings by `games` of each ordered pair (0: exact)."""
    sides = {}
    for rate in CARELESS:
        name = f"Min-Max, {rate:g} random" if rate < 1.0 else "random"
        agent = chance(game) if rate == 1.0 else min_max(game, "random", depth, rate)
        sides[name] = prepare(game, agent, games)
    return _rated(game, sides, games, max(games, min(POOL_GAMES, POOL_FACTOR * games)))


@lru_cache(16)
def published_pool(game, games: int, searches: tuple = ()) -> Pool:
    """Return the published agent with several rates of random moves as reference players.

    `searches` adds stronger ones, the agent with a search of each of these numbers of iterations.
    Each meets each in both seats, from `games` start positions after two plies.
    """
    agent, strong = zoo(game), [named(game, f"zoo:{number}") for number in searches]
    sides = {player.name: player for player in strong}
    sides |= {f"{agent.name}, {rate:g} random": Careless(agent, rate) for rate in CARELESS[1:]}
    return _rated(game, {"random": Random(), **sides}, games, games)


def _rated(game, sides, games, number) -> Pool:
    rows = []
    for a, b in itertools.permutations(sides, 2):
        shares, _ = meet(game, sides[a], sides[b], number, seed_from("pool", a, b))
        rows.append((a, b, *(number or EXACT_GAMES) * shares))
    model = ratings.fit(pd.DataFrame(rows, columns=ratings.COLUMNS))
    zero = model.strength[model.players.index("random")]
    return Pool(sides, model._replace(strength=model.strength - zero), games)


def rate(game, given, among: Pool, seed: int = 0) -> dict:
    """Rate an agent, or a side of :func:`prepare`, among a pool: rating, score, lost, distinct."""
    # percent over both seats: score and lost against the random player, distinct of all games
    me = prepare(game, given, among.games) if isinstance(given, Agent) else given
    rows, weight, different = [], among.games or EXACT_GAMES, 0
    for name, other in among.sides.items():
        first, a = meet(game, me, other, among.games, seed_from(seed, name, "first"))
        second, b = meet(game, other, me, among.games, seed_from(seed, name, "second"))
        rows += [(name, *weight * first, True), (name, *weight * second[::-1], False)]
        different += a + b
    rows = pd.DataFrame(rows, columns=["opponent", *ratings.COUNTS, "first"])
    against = rows[rows.opponent == "random"][ratings.COUNTS].sum() / (2 * weight)
    # half a draw among few games would lift every weak player
    prior = ratings.PRIOR * weight / EXACT_GAMES
    found = {
        # rounded, because numpy's exp differs between processors in the last bits
        "rating": round(ratings.ELO * ratings.place(among.model, rows, prior), 6),
        "score": 100.0 * (against.wins + against.draws / 2),
        "lost": 100.0 * against.losses,
    }
    return found | ({"distinct": 100.0 * different / (weight * len(rows))} if among.games else {})


def cyclic(score, error) -> tuple[int, int]:
    """Return how many triples are cycles, and how many have sure results."""
    # `score` is float64[players, players], over both seats, and `error` its standard error
    beats = (score > 0.5 + np.maximum(EDGE, 1.96 * error)) & ~np.eye(len(score), dtype=bool)
    decided = beats | beats.T
    cycles, triples = (np.trace(np.linalg.matrix_power(x.astype(int), 3)) for x in (beats, decided))
    return int(cycles) // 3, int(triples) // 6
