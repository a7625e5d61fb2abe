"""TD-learning with a search before every move: the moves are the search's, the rest is as ever."""

import numpy as np
import pytest

from afterstate import games
from afterstate.learners import td_wrapped
from afterstate.search.puct_search import Search

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


@pytest.mark.slow
def test_moves_in_proportion_to_their_visits_are_exploration():
    """After one iteration more than the root every slot has 0 or 1 visits, one of them 1."""
    agent = session(alpha=0.0, iterations=2, training_exploration="visits")
    agent.train(20)
    assert agent.mem.last_random.all()
    firsts = set()
    agent = session(alpha=0.0, iterations=200, training_exploration="visits")
    for _ in range(40):
        agent.train(1)
        firsts.add(tuple(agent.mem.state[0].tolist()))
    assert len(firsts) > 10  # games differ, although no weight changes
    agent = session(alpha=0.0, training_exploration="epsilon", epsilon=1.0)
    games_ = {(agent.train(1), tuple(agent.mem.state[0].tolist()))[1] for _ in range(20)}
    assert len(games_) > 10 and agent.mem.last_random.all()
    agent = session(alpha=0.0, training_exploration="epsilon", epsilon=0.0)
    games_ = {(agent.train(1), tuple(agent.mem.state[0].tolist()))[1] for _ in range(5)}
    assert len(games_) == 1 and not agent.mem.last_random.any()


def test_games_for_three_are_refused():
    with pytest.raises(ValueError, match="one or two players"):
        td_wrapped.Session(games.load("nim3p"), {})
