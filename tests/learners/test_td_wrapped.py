"""TD-learning with a search before every move: the moves are the search's, the rest is as ever."""

import numpy as np
import pytest

from afterstate import games
from afterstate.learners import td, td_wrapped
from afterstate.learners.session import EPISODES
from afterstate.players.wrapped import Wrapped
from afterstate.search.puct import Search

TICTACTOE = games.load("tictactoe")
TUPLES = [[0, 1, 2], [4, 8]]


def session(**params):
    given = {"iterations": 25, "tuples": TUPLES, "alpha": 0.5} | params
    return td_wrapped.Session(TICTACTOE, given, seed=3)


def moves_by_hand(net, iterations):
    """The moves of one tree that both players share, from Python."""
    search, state, moves = Search(TICTACTOE, net, 10 * iterations), TICTACTOE.start(), []
    search.plant(state)
    while not TICTACTOE.over(state):
        found = search.run(iterations)
        moves.append(int(found.actions[np.argmax(found.visits)]))
        state = TICTACTOE.play(state, moves[-1])
        if not TICTACTOE.over(state) and not search.follow([(moves[-1], state)]):
            search.plant(state)
    return moves, state


@pytest.mark.slow
def test_without_exploration_the_moves_are_those_of_the_search():
    agent = session(alpha=0.0)
    rng = np.random.default_rng(5)
    for _ in range(10):
        agent.net.weights[:] = rng.normal(0.0, 0.3, agent.net.weights.shape)
        before = agent.moves
        agent.train(1)
        moves, last = moves_by_hand(agent.net, 25)
        assert agent.moves - before == len(moves)
        assert agent.mem.state[0].tolist() == last.tolist()


def test_what_is_learned_from_a_move_is_what_td_learns():
    """The greedy moves of td, found with the weights of the moment, given to the wrapped learner.

    In Nim, because it has no symmetries and so no ties.
    """
    game = games.load("nim")
    params = {"alpha": 0.5, "lambda_": 0.5, "tc": "exp", "tc_init": 1e-4}
    plain = td.Session(game, params | {"epsilon": 0.0}, seed=3)
    taught = td_wrapped.Session(game, params | {"iterations": 25}, seed=3)
    weights = np.random.default_rng(5).normal(0.0, 0.3, plain.net.weights.shape)
    plain.net.weights[:] = taught.net.weights[:] = weights
    plain.train(25)
    given = game.rules, taught.net.arrays, taught.par, taught.mem
    for _ in range(25):
        td_wrapped.begin(*given)
        over = False
        while not over:
            state = taught.mem.state[0].copy()
            action = game.legal(state)[np.argmax(taught.net.action_values(state))]
            over = td_wrapped.learn_move(*given, action, False)
        taught.mem.counters[EPISODES] += 1
    assert plain.net.checksum() == taught.net.checksum() and plain.moves == taught.moves
    assert (plain.net.weights != weights.astype(plain.net.weights.dtype)).sum() > 25


@pytest.mark.slow
def test_moves_in_proportion_to_their_visits_are_exploration():
    def ends(num, **params):
        """Number of last states of games, although no weight changes; was the last move random?"""
        agent = session(alpha=0.0, **params)
        found = {(agent.train(1), tuple(agent.mem.state[0].tolist()))[1] for _ in range(num)}
        return len(found), agent.mem.last_random.tolist()

    # after one iteration more than the root every slot has 0 or 1 visits, one of them 1
    assert ends(20, iterations=2, training_exploration="visits")[1] == [True, True]
    assert ends(40, iterations=200, training_exploration="visits")[0] > 10
    num, random = ends(20, training_exploration="epsilon", epsilon=1.0)
    assert num > 10 and random == [True, True]
    assert ends(5, training_exploration="epsilon", epsilon=0.0) == (1, [False, False])


@pytest.mark.parametrize("how", ["none", "visits"])
def test_one_iteration_visits_nothing_and_plays_the_greatest_prior(how):
    """As a wrapped player does; the first legal action would be taken by no one's advice."""
    agent, chosen = session(iterations=1, training_exploration=how), []
    player = Wrapped(agent.net, 1)
    rng = np.random.default_rng(5)
    for _ in range(5):
        agent.net.weights[:] = rng.normal(0.0, 0.3, agent.net.weights.shape)
        td_wrapped.begin(TICTACTOE.rules, agent.net.arrays, agent.par, agent.mem)
        agent._plant()
        chosen.append(agent._choose()[0])
        player.new_match(TICTACTOE, [], 0, 1)
        assert chosen[-1] == player.choose(TICTACTOE.start())
    assert len(set(chosen)) > 1
