"""One scale of strength for the players of :mod:`afterply.opponents.weaken` and all others.

A *pool* is a set of reference players, who make random moves at several rates. They play each other
and get ratings, on a scale where the random player has 0. Every other player is rated by games
against them, one player at a time. The other moves of the reference players are those of Min-Max,
or of the published agent where a game is too large for Min-Max.
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
# The errors of the pool are in every rating. Each ordered pair of it therefore plays POOL_FACTOR
# times the games of a rating, but no more than POOL_GAMES if a rating has fewer.
POOL_GAMES = 200
POOL_FACTOR = 10
OPENING = 2  # plies before a match between players that may make no random moves
EDGE = 0.01  # "beats" means a mean score above one half by more than this


def prepare(game, agent: Agent, games: int):
    """Return a side of :func:`meet`: the agent, or its policy where results are exact (0 games)."""
    whole("the number of games (0 = exact)", games, 0)
    if games == 0:
        return exact.policy(game, agent)
    return agent


def meet(game, first, second, games: int, seed: int):
    """Return the first player's shares of wins, draws and losses, and how many games differ.

    With 0 games the shares are exact, and no games are counted.
    """
    if games == 0:
        return np.array(exact.outcome(game, first, second)), 0
    if isinstance(first, Agent) and isinstance(second, Agent):
        outcome = contest(game, first, second, games, seed)
        counts = np.array([outcome.wins, outcome.draws, outcome.losses])
        return counts / games, outcome.distinct
    # Threads that rate players side by side share one pool, but each match needs its own players.
    # The seeds of the matches derive from these names.
    sides = {"a": duplicate(first), "b": duplicate(second)}
    seats = [("a", "b")]
    table = matches(game, sides, _openings(game, games), 1, seed, seats, strict=True)
    scores = table[table.player == "a"].score.to_numpy()
    other_scores = table[table.player == "b"].score.to_numpy()
    wins = (scores > other_scores).mean()
    draws = (scores == other_scores).mean()
    losses = (scores < other_scores).mean()
    return np.array([wins, draws, losses]), len(set(zip(table.start, table.moves)))


@lru_cache(16)
def _openings(game, number):
    """Return a number of start positions, evenly spaced among all after OPENING plies."""
    starts = starts_all(game, OPENING)
    return [starts[len(starts) * k // number] for k in range(number)]


class Pool(NamedTuple):
    """The reference players, with their ratings."""

    sides: dict  # name -> agent, or its policy where results are exact
    model: ratings.Model  # strengths are counted from the random player's
    games: int


_games = {}  # identity of a game of the package -> its shared copy


def shared_copy(game):
    """Return the same object for all copies of a game: searches and pools are kept by object."""
    if not game.spec:
        return game
    return _games.setdefault(json.dumps(game.identity, sort_keys=True), game)


@lru_cache(16)
def pool(game, depth: int = FULL_DEPTH, games: int = 0) -> Pool:
    """Return the reference players for ratings by `games` of each ordered pair (0: exact)."""
    sides = {}
    for rate_of_random_moves in CARELESS:
        if rate_of_random_moves == 1.0:
            name = "random"
            agent = chance(game)
        else:
            name = f"Min-Max, {rate_of_random_moves:g} random"
            agent = min_max(game, "random", depth, rate_of_random_moves)
        sides[name] = prepare(game, agent, games)
    games_of_pair = max(games, min(POOL_GAMES, POOL_FACTOR * games))
    return _rated(game, sides, games, games_of_pair)


@lru_cache(16)
def published_pool(game, games: int, searches: tuple = ()) -> Pool:
    """Return the published agent with several rates of random moves as reference players.

    `searches` adds stronger players: the agent with a search, one player for each of these numbers
    of iterations. All play each other in both seats, from `games` start positions after two plies.
    """
    sides = {"random": Random()}
    for iterations in searches:
        player = named(game, f"zoo:{iterations}")
        sides[player.name] = player
    agent = zoo(game)
    for rate_of_random_moves in CARELESS[1:]:
        name = f"{agent.name}, {rate_of_random_moves:g} random"
        sides[name] = Careless(agent, rate_of_random_moves)
    return _rated(game, sides, games, games)


def _rated(game, sides, games, games_of_pair) -> Pool:
    """Return reference players as a pool, rated by `games_of_pair` of each ordered pair."""
    weight = games_of_pair or EXACT_GAMES
    rows = []
    for first, second in itertools.permutations(sides, 2):
        seed = seed_from("pool", first, second)
        shares, _ = meet(game, sides[first], sides[second], games_of_pair, seed)
        rows.append((first, second, *weight * shares))
    model = ratings.fit(pd.DataFrame(rows, columns=ratings.COLUMNS))
    zero = model.strength[model.place_of("random")]
    return Pool(sides, model._replace(strength=model.strength - zero), games)


def rate(game, given, among: Pool, seed: int = 0) -> dict:
    """Rate an agent, or a side of :func:`prepare`, among a pool.

    Returns a dictionary: rating (Elo points above the random player); score and lost (percent of
    the points and of the losses against the random player, over both seats); and, where games are
    played, distinct (percent of all games that differ).
    """
    player = prepare(game, given, among.games) if isinstance(given, Agent) else given
    weight = among.games or EXACT_GAMES
    rows = []
    num_distinct = 0
    for name, other in among.sides.items():
        as_first, distinct = meet(game, player, other, among.games, seed_from(seed, name, "first"))
        rows.append((name, *weight * as_first, True))
        num_distinct += distinct
        of_other, distinct = meet(game, other, player, among.games, seed_from(seed, name, "second"))
        as_second = of_other[::-1]
        rows.append((name, *weight * as_second, False))
        num_distinct += distinct
    results = pd.DataFrame(rows, columns=["opponent", *ratings.COUNTS, "first"])
    against_random = results[results.opponent == "random"][ratings.COUNTS].sum() / (2 * weight)
    # With few games, a prior of half a game would lift every weak player.
    prior = ratings.PRIOR * weight / EXACT_GAMES
    strength = ratings.place(among.model, results, prior)
    measures = {
        # rounded, because numpy's exp differs between processors in the last bits
        "rating": round(ratings.ELO * strength, 6),
        "score": 100.0 * (against_random.wins + against_random.draws / 2),
        "lost": 100.0 * against_random.losses,
    }
    if among.games:
        measures["distinct"] = 100.0 * num_distinct / (weight * len(results))
    return measures


def cyclic(score, error) -> tuple[int, int]:
    """Return how many triples of players are cycles, and how many have only sure results.

    `score`, float64 [players, players], is the mean score of the row's player against the column's
    over both seats, and `error` its standard error. A player beats another if the score is above
    one half by more than EDGE and by more than a 95% interval.
    """
    is_other = ~np.eye(len(score), dtype=bool)
    beats = (score > 0.5 + np.maximum(EDGE, 1.96 * error)) & is_other
    is_sure = beats | beats.T
    # A closed walk of three steps is a triple. It is counted from each of its three players, and
    # without a direction, as in `is_sure`, both ways around.
    return _closed_walks_of_three(beats) // 3, _closed_walks_of_three(is_sure) // 6


def _closed_walks_of_three(adjacency) -> int:
    """Return how many walks of three steps end where they begin: bool [nodes, nodes]."""
    return int(np.trace(np.linalg.matrix_power(adjacency.astype(int), 3)))
