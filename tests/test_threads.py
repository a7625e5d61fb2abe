"""Whoever asks from several threads gets the numbers that one gets who asks alone."""

import copy
import pickle
import random
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from afterply import games, players
from afterply.games.conformance import random_game
from afterply.kernel.random import new_rng
from afterply.learners import tabular, td, td_wrapped
from afterply.networks.ntuple import Network
from afterply.opponents import optional, perfect
from afterply.opponents.rating_pool import meet
from afterply.players import agents, positional
from afterply.search import best_moves
from afterply.search.max_n import MinMaxSearch
from afterply.search.mcts import TreeSearch
from afterply.search.puct import Search
from afterply.studies.papers.mandziuk2004 import linear_search
from afterply.studies.papers.mandziuk2004.linear import Linear

THREADS, TIMES = 4, 3
CONNECT4, OTHELLO, GIVEAWAY = (games.load(name) for name in ("connect4", "othello", "giveaway"))
KALAH, NIM3P, SMALL = games.load("kalah"), games.load("nim3p"), games.load("tictactoe")


def positions(game, number=60):
    played = (
        s for seed in range(number) for s in random_game(game, game.start(), new_rng(seed), 60)
    )
    return [s for s in played if not game.over(s)][: 10 * number : 10]


def random_net(game, **how):
    net = Network(game, [[k, k + 1, k + 2] for k in range(game.cells - 2)], **how)
    net.arrays.weights[:] = np.random.default_rng(1).normal(size=net.arrays.weights.shape)
    return net


def linear():
    return Linear(GIVEAWAY, depth=2, weights=np.random.default_rng(1).normal(size=22))


def of_a_player(player, game):
    return player.playing(game, seed=3).values


NETS = {
    "V": (lambda: random_net(CONNECT4).action_values, CONNECT4),
    "V of one state": (lambda: lambda s, net=random_net(OTHELLO): net.value(s, 0), OTHELLO),
    "Q": (lambda: random_net(SMALL, per_action=True).action_values, SMALL),
    "linear": (lambda: linear().action_values, GIVEAWAY),
    "features": (lambda: linear().phi, GIVEAWAY),
}
SEARCHES = {
    "Bench": (lambda: of_a_player(positional.Bench(), OTHELLO), OTHELLO),
    "linear": (lambda: linear_search.Player(linear()).values, GIVEAWAY),
    "Max-N": (lambda: of_a_player(players.MaxN(3), NIM3P), NIM3P),
    "Min-Max": (lambda: of_a_player(players.MinMax(4), CONNECT4), CONNECT4),
    "MCTS": (lambda: of_a_player(players.MCTS(200), CONNECT4), CONNECT4),
    "Wrapped": (
        lambda: of_a_player(players.Wrapped(random_net(CONNECT4), 100), CONNECT4),
        CONNECT4,
    ),
    "agent": (lambda: agents.min_max(KALAH, "random", 2).policy, KALAH),
}


def asked_side_by_side(ask, asked):
    """Return what each of several threads is told, in its own order of asking."""

    def one(thread):
        order = random.Random(thread).sample(range(len(asked)), len(asked))
        return {k: np.array(ask(asked[k])) for k in order}

    often = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(THREADS) as pool:
            return list(pool.map(one, range(THREADS)))
    finally:
        sys.setswitchinterval(often)


def check(ask, asked, times=TIMES, forget=lambda: None):
    alone = [np.array(ask(s)) for s in asked]
    for _ in range(times):
        forget()
        for told in asked_side_by_side(ask, asked):
            assert not [k for k in told if not np.array_equal(told[k], alone[k], equal_nan=True)]
    assert all(np.array_equal(ask(s), a, equal_nan=True) for s, a in zip(asked, alone))


@pytest.mark.slow
@pytest.mark.parametrize("make, game", NETS.values(), ids=NETS)
def test_networks(make, game):
    check(make(), positions(game, 200))


@pytest.mark.slow
@pytest.mark.parametrize("make, game", SEARCHES.values(), ids=SEARCHES)
def test_searches(make, game):
    check(make(), positions(game, 40))


def test_contests_of_agents_that_search():
    def sides():
        return agents.min_max(KALAH, "random", 2), agents.min_max(KALAH, "first", 1)

    forget = best_moves.best_moves.cache_clear
    check(lambda seed: agents.contest(KALAH, *sides(), 5, seed).paths, range(8), 2, forget)


@pytest.mark.slow
def test_matches_against_players_of_one_pool():
    pool = {"random": players.Random(), "MCTS": players.MCTS(20)}
    check(lambda seed: meet(SMALL, *pool.values(), 3, seed)[0], range(20))


@pytest.mark.slow
@pytest.mark.skipif(bool(optional.lacks("bitbully")), reason="needs BitBully")
def test_the_perfect_player():
    def forget():
        perfect._scores.cache_clear(), perfect._best.cache_clear()

    def ask(s):
        return [*perfect.scores(s), perfect.value(s, False), *perfect.best_moves(s, True)]

    check(ask, positions(CONNECT4, 100), 2, forget)


def test_a_match_is_not_disturbed_by_questions_from_another_thread():
    states = positions(CONNECT4, 20)

    def played(player):
        player.new_match(CONNECT4, [], 0, 1)
        s, moves = CONNECT4.start(), []
        with ThreadPoolExecutor(1) as pool:
            for asked in states[:10]:
                moves.append(player.choose(s))
                s = CONNECT4.play(s, moves[-1])
                player.observe(moves[-1], s)
                told = pool.submit(player.values, asked).result()
                alone = players.Wrapped(player.base, 100)
                alone.new_match(CONNECT4, [], 0, 1)
                assert np.array_equal(told, alone.values(asked), equal_nan=True)
        return moves

    net = random_net(CONNECT4)
    alone, s = players.Wrapped(net, 100), CONNECT4.start()
    alone.new_match(CONNECT4, [], 0, 1)
    for move in played(players.Wrapped(net, 100)):
        assert alone.choose(s) == move
        s = CONNECT4.play(s, move)
        alone.observe(move, s)


def test_a_tree_that_another_thread_planted_is_not_there():
    search = Search(CONNECT4, random_net(CONNECT4), 50)
    search.plant(CONNECT4.start())
    with ThreadPoolExecutor(1) as pool, pytest.raises(ValueError, match="call plant"):
        pool.submit(search.run, 50).result()
    assert search.run(50).visits.sum() == 49


def test_copies_work_as_the_original():
    net, s = random_net(CONNECT4), CONNECT4.start()
    minmax = MinMaxSearch(CONNECT4, 3)
    for again in (pickle.loads(pickle.dumps(net)), copy.deepcopy(net), copy.copy(net)):
        assert np.array_equal(again.action_values(s), net.action_values(s))
    for again in (pickle.loads(pickle.dumps(minmax)), copy.copy(minmax)):
        assert np.array_equal(again.values(s), minmax.values(s))
    tree = TreeSearch(CONNECT4, 50, k=1.0)
    found = copy.copy(tree).run(s, 50, 1)
    assert np.array_equal(found.visits, tree.run(s, 50, 1).visits)
    agent = pickle.loads(pickle.dumps(agents.min_max(KALAH, "random", 2)))
    assert agent.search.of(KALAH.start()) == agents.min_max(KALAH, depth=2).search.of(KALAH.start())


@pytest.mark.slow
def test_trainings_side_by_side_are_those_of_one_after_the_other():
    def trained(k):
        min_max = {"teacher": "non-deterministic", "minimax_depth": 2}
        learners = [
            td.Session(CONNECT4, tuples=[[0, 1, 2, 3]], alpha=0.1, seed=k),
            tabular.Session(SMALL, min_max, k),
            td_wrapped.Session(SMALL, tuples="all", iterations=10, seed=k),
        ]
        for learner in learners:
            learner.train(30)
        return [int(learner.net.checksum(), 16) for learner in learners]

    check(trained, range(4), 1)
