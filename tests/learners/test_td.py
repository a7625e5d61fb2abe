"""TD-learning, SARSA and wrapped TD: fixed points, the older scheme, the search's moves, errors."""

import itertools

import numpy as np
import pytest

from afterply import games
from afterply.learners import adaptation, sarsa, td, td_wrapped
from afterply.learners.session import EPISODES
from afterply.players.wrapped import Wrapped
from afterply.search.puct import Search
from oracles.reference_td import Reference, Splitmix64
from sample_games import chain, track

LINES = [[0, 1, 2], [3, 4, 5], [6, 7, 8], [0, 4, 8], [1, 4, 7]]
RACE, CHAIN, TICTACTOE = track(), chain(5), games.load("tictactoe")
MOVE, Q, KEPT = {"step_back": "move", "farl": "off"}, {"method": "q"}, {"sarsa_action": "kept"}
STEP = 1.0 / 16  # sums of such numbers are exact
LINEAR = {"sigmoid": False, "alpha": 1.0, "epsilon": 0.0, "precision": "float64"}


def trained(episodes, game=CHAIN, learner=td, **params):
    made = learner.Session(game, learner.DEFAULTS, **params)
    made.train(episodes)
    return made


def chain_values(made):
    """V of the afterstates 1 .. length of the chain."""
    return [made.net.value([k], 0) for k in range(1, 6)]


@pytest.mark.parametrize("gamma", [1.0, 0.5])
def test_chain_reaches_its_values_exactly_with_alpha_one(gamma):
    shared = LINEAR | {"gamma": gamma, "step_reward": -STEP}
    expected = [1.0 - STEP]  # of the last step, then of those before it
    while len(expected) < 5:
        expected.append(-STEP + gamma * expected[-1])
    for tuples in ([[0]], [[0], [0]]):
        values = chain_values(trained(5, **shared, tuples=tuples))
        assert values == [*expected[-2::-1], 0.0]  # the last afterstate is terminal
    for method in ("sarsa", "q"):
        net = trained(5, learner=sarsa, **shared, method=method).net
        assert [net.action_values([k])[0] for k in range(5)] == expected[::-1]


@pytest.mark.parametrize("cut, reached", [(0.5, 2), (0.25, 3), (0.2, 3), (0.0625, 4)])
def test_eligibility_reaches_back_as_far_as_the_horizon(cut, reached):
    made = trained(1, **LINEAR, lambda_=0.5, horizon_cut=cut)
    # one error of 1 at the end, 4 afterstates before it
    expected = [0.5**age if age < reached else 0.0 for age in (3, 2, 1, 0)]
    assert chain_values(made) == expected + [0.0]


def test_one_move_back_moves_the_afterstate_before_to_what_its_successor_costs():
    """One game of Nim with a single heap of three: values by hand, alpha = 1."""
    # the players take one each: the first one wins
    game = games.load("nim", heaps=1, stones=3, take=1)
    values = trained(3, game, **LINEAR, **MOVE, gamma=0.5).net.weights
    assert values[1, 1] == -1.0  # one stone left by the second player: the first takes it and wins
    assert values[0, 2] == 0.5  # two stones left by the first player: - gamma V(one stone left)


@pytest.mark.parametrize("tuples", ["all", LINES], ids=["one 9-tuple", "five lines"])
@pytest.mark.parametrize("distinct", [True, False], ids=["distinct boards", "all boards"])
def test_alpha_one_moves_a_linear_value_to_its_target(tuples, distinct):
    """[konen2021] footnote 13, for afterstates with repeated indices and repeated boards too."""
    params = td.DEFAULTS | LINEAR | {"epsilon": 1.0, "tuples": tuples, "farl": "first"}
    for seed in range(20):
        made = td.Session(TICTACTOE, params | {"distinct_symmetries": distinct}, seed)
        stream = Splitmix64(made.mem.rng[0])
        reference = Reference(TICTACTOE, made.net.tuples, made.params, stream)
        made.train(1)
        reference.train(1)
        mover = next(p for p in (0, 1) if TICTACTOE.over(reference.last[p]))
        expected = TICTACTOE.score(reference.last[mover])[1 - mover]
        value = made.net.value(reference.last[1 - mover], 1 - mover)
        assert value == pytest.approx(expected, abs=1e-12)


def perfect_values(game):
    """Q*(s, a) of every state of Nim for the player to move, both players playing perfectly."""
    heaps, stones, values = game.cells, int(game.num_codes[0]) - 1, {}
    for heights in sorted(itertools.product(range(stones + 1), repeat=heaps), key=sum):
        for p in range(2 if sum(heights) else 0):
            s = np.array([*heights, p], np.int32)
            q = values[tuple(s.tolist())] = {}
            for a in game.legal(s).tolist():
                after = game.play(s, a)
                won = float(game.score(after)[p])
                q[a] = won if game.over(after) else -max(values[tuple(after.tolist())].values())
    return values


@pytest.mark.parametrize("changes", [{}, Q, KEPT, {**Q, "farl": "off"}], ids=str)
def test_perfect_values_of_nim_are_a_fixed_point(changes):
    game = games.load("nim", heaps=2, stones=3)
    params = LINEAR | {"alpha": 0.7, "choose_start": True} | changes
    session = sarsa.Session(game, sarsa.DEFAULTS | params, 4)
    values, weights = perfect_values(game), session.net.weights.reshape(2, -1, game.actions)
    for s, q in values.items():
        for a, value in q.items():  # the only tuple is the whole board
            weights[s[-1], sum(c * 4**h for h, c in enumerate(s[:-1])), a] = value
        assert dict(zip(game.legal(s).tolist(), session.net.action_values(s), strict=True)) == q
    before = session.net.checksum()
    session.train(500)
    assert session.net.checksum() == before and session.statistics()["mean_abs_delta"] == 0.0
    session.net.weights[:] *= -1.0  # the worst moves for the best: no fixed point
    wrong = session.net.checksum()
    session.train(5)
    assert session.net.checksum() != wrong


@pytest.mark.parametrize("name, anew", [("game2048", True), ("cube2", True), ("hex", False)])
def test_indices_made_anew_are_those_by_differences(name, anew):
    walks, states = {"tuples": {"random_walk": 4 if name == "game2048" else 40, "length": 3}}, []
    for switched in (False, True):
        session = td.Session(games.load(name), td.DEFAULTS | walks, 1, lambda_=0.5, max_plies=60)
        net = session.net.arrays
        assert net.anew == anew
        session.net.arrays = net._replace(anew=net.anew != switched)
        session.train(20)
        states.append(session.state_dict())
    one, other = states
    assert one["weights"].any() and all(np.array_equal(one[key], other[key]) for key in one)


@pytest.mark.slow
@pytest.mark.parametrize("learner", [td, sarsa, td_wrapped])
@pytest.mark.parametrize("episodes", [7, 10, 13])
def test_stages_share_weights_until_they_are_promoted(learner, episodes):
    """Until then the training is that without stages, bit for bit; a kill changes nothing.

    A search, which sees a board as the one before with some changes, outlives the promotion.
    """
    params = learner.DEFAULTS | {"tuples": [[0, 1, 2], [5, 6]], "tc": "id", "lambda_": 0.5}
    params["max_plies"] = 60
    if learner is td_wrapped:
        params["iterations"] = 3
    plain = learner.Session(games.load("game2048"), params, seed=2)
    game = games.load("game2048", stages=[16])

    def new_session(seed=2):
        return learner.Session(game, params, seed, promote_after=10)

    session = new_session()
    session.train(episodes)
    plain.train(min(episodes, 10))
    sets = 4 if learner is sarsa else 1
    first, second = session.net.weights[0, : 2 * sets * 15**3].reshape(2, -1)
    is_promoted = episodes > 10
    assert session.net.promoted == is_promoted
    assert np.array_equal(first, plain.net.weights[0, : sets * 15**3]) != is_promoted
    assert second.any() == is_promoted
    resumed, whole = new_session(seed=99), new_session()
    resumed.train(20)
    resumed.load_state_dict({name: a.copy() for name, a in session.state_dict().items()})
    resumed.train(20 - episodes)
    whole.train(20)
    first, second = whole.net.weights[0, : 2 * sets * 15**3].reshape(2, -1)
    assert resumed.net.checksum() == whole.net.checksum() and (first != second).any()
    assert resumed.net.action_values(game.start()).any()


@pytest.mark.parametrize(
    "learner, game, params, message",
    [
        (td, "nim3p", MOVE, "is for two players with opposite rewards, not"),
        (td, "race", MOVE, "is for two players with opposite rewards, not"),
        (td, "nim", {"step_back": "move"}, "farl='off'"),
        (td, "nim", {**MOVE, "lambda_": 0.5}, "lambda_=0.0"),
        (td, "nim", {**MOVE, "step_reward": 0.1}, "step_reward=0.0"),
        (td, "nim", {"alpha": [1, 0], "alpha_schedule": "geometric"}, "alpha=.* geometrically"),
        (td, "nim", {"lambda_": 0.5, "horizon_cut": 0.0}, "horizon_cut=0.0 .*endless trace"),
        (td, "nim", {"promote_after": 5}, "nim.* has no stages .*promote_after"),
        (td, "nim", {"promote_after": -1}, "promote_after=-1 must be at least 0"),
        (sarsa, "nim", {**Q, "q_maximum": "random numbers"}, "sarsa_action='kept'"),
        (sarsa, "nim", {"greedy": "value"}, "no parameter 'greedy'"),
        (sarsa, "othello", {"tuples": [list(range(14))]}, "do not fit 32-bit indices"),
    ],
    ids=str,
)
def test_bad_parameters_are_named(learner, game, params, message):
    with pytest.raises(ValueError, match=message):
        made_for = RACE if game == "race" else games.load(game)
        learner.Session(made_for, learner.DEFAULTS, **params)


def test_an_episode_without_end_is_an_error_with_its_remedy(monkeypatch):
    monkeypatch.setattr(adaptation, "LONGEST", 4)  # Tic-Tac-Toe takes at least five moves
    with pytest.raises(RuntimeError, match="did not end within 4 moves: give the learner max_pl"):
        trained(1, TICTACTOE)
    trained(1, TICTACTOE, max_plies=3)


# a search before every move: the moves are the search's, the rest is as ever


def wrapped(**params):
    given = {"iterations": 25, "tuples": [[0, 1, 2], [4, 8]], "alpha": 0.5} | params
    return td_wrapped.Session(TICTACTOE, td_wrapped.DEFAULTS | given, seed=3)


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
    agent = wrapped(alpha=0.0)
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
    plain = td.Session(game, td.DEFAULTS | params, seed=3, epsilon=0.0)
    taught = td_wrapped.Session(game, td_wrapped.DEFAULTS | params, seed=3, iterations=25)
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


def test_a_search_that_begins_late_leaves_td_as_it_is_until_then():
    late, plain = wrapped(episodes=200, search_from=0.5), wrapped(episodes=200, search_from=1.0)
    alone = td.Session(
        TICTACTOE, td.DEFAULTS | {k: late.params[k] for k in td.PARAMETERS if k in late.params}, 3
    )
    for session in (late, plain, alone):
        session.train(40)
        session.train(60)
    assert late.net.checksum() == plain.net.checksum() == alone.net.checksum()
    for session in (late, plain, alone):
        session.train(20)
    assert late.net.checksum() != plain.net.checksum() == alone.net.checksum()


@pytest.mark.slow
def test_moves_in_proportion_to_their_visits_are_exploration():
    def ends(num, **params):
        """Number of last states of games, although no weight changes; was the last move random?"""
        agent = wrapped(alpha=0.0, **params)
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
    agent, chosen = wrapped(iterations=1, training_exploration=how), []
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
