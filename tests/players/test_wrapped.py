"""The wrapped player: trees kept along the moves, copies, values, errors, memory."""

import numpy as np
import pytest

from afterply import games
from afterply.learners import tabular, td
from afterply.players.wrapped import Wrapped
from afterply.search.puct import Search
from afterply.studies.papers.mandziuk2004.linear import Linear
from oracles.puct_games import connect4, late, network, othello, tictactoe
from sample_games import race, take_game


def test_kept_and_new_trees():
    """A tree follows the moves that were played, if reused, until another position or match."""
    net, s = network(connect4), connect4.start()
    for reuse in (True, False):
        player = Wrapped(net, 100, tree_reuse=reuse)
        player.new_match(connect4, [], 0, 1)
        action = player.choose(s)
        visits = int(player.visits(s).max())
        after = connect4.play(s, action)
        player.observe(action, after)
        reply = int(player._last.search.found().actions[0])
        later = connect4.play(after, reply)
        player.observe(reply, later)
        total = int(player.visits(later).sum())
        assert 99 <= total <= 100 + visits and (total > 99) == reuse
        assert int(player.visits(late(connect4, 9, 2)).sum()) == 99
    player.new_match(connect4, [], 0, 1)
    assert int(player.visits(s).sum()) == 99


def test_values_before_and_after_choosing_are_the_same():
    net, s = network(connect4), late(connect4, 4, 1)
    one, two = Wrapped(net, 150), Wrapped(net, 150)
    before = one.values(s)
    action = one.choose(s)
    assert two.choose(s) == action
    np.testing.assert_array_equal(before, two.values(s))
    variation = one.principal_variation(s)
    assert variation[0].action == action and variation[0].visits == one.visits(s).max()
    for step in variation:
        assert step.action in connect4.legal(s) and -1.0 <= step.value <= 1.0
        s = connect4.play(s, step.action)
    visits = [step.visits for step in variation]
    assert visits == sorted(visits, reverse=True)


@pytest.mark.slow
def test_a_linear_function_is_wrapped_in_the_rewards_of_the_game():
    """Its values go to 100, where a win is worth 1: a search must not take a lead for more."""
    game = games.load("giveaway")
    net = Linear(game, weights=[-10.0] + [0.0] * 21)
    player, state = Wrapped(net, 300), game.start()
    rng, won = np.random.default_rng(3), 0
    while not game.over(state):
        values = player.values(state)
        assert np.nanmax(np.abs(values)) <= 1.0
        won += np.nanmax(values) == 1.0  # a win in the tree is the best there is
        state = game.play(state, int(rng.choice(game.legal(state))))
    assert won > 0
    by_hand = Wrapped(lambda s: net.action_values(s) / 100.0, 300, game=game)
    np.testing.assert_array_equal(by_hand.values(game.start()), player.values(game.start()))


def test_nothing_found_is_kept_when_the_base_agent_learns_on():
    start = tictactoe.start()
    for kind, params in ((td, {"episodes": 2000}), (tabular, {})):
        session = kind.Session(tictactoe, kind.DEFAULTS | params, seed=1)
        player = Wrapped(session, 200)
        before = player.values(start)
        session.train(500)
        np.testing.assert_array_equal(player.values(start), Wrapped(session, 200).values(start))
        assert (player.values(start) != before).any()
        action = player.choose(start)
        reply = tictactoe.play(start, action)
        player.observe(action, reply)
        session.train(500)
        assert player.visits(reply).sum() == 199  # in a new tree


def zero(s):
    return [0.0]


def half_a_score(s, r):
    r[0] = r[1] = 0.0
    if s[0] >= 5:
        r[1 - s[1]] = 1.0


NET, RACE = network(connect4), race(score=half_a_score)
ODD, SMALL = race(search_settings={"scael": 1.0}), games.load("connect4", rows=4, columns=5, k=3)
OTHERS = (tictactoe, SMALL)  # unchecked, kernels would read outside their arrays
ERRORS = [
    *[(lambda g=g: Wrapped(NET, game=g), "made for .*connect4") for g in OTHERS],
    *[(lambda g=g: Search(g, NET), "made for .*connect4") for g in OTHERS],
    (lambda: Wrapped(network(ODD, num_cells=1)), "no setting 'scael'; there are c_puct, "),
    (lambda: Wrapped(zero).new_match(games.load("nim3p"), [], 0, 1), "take others='share'"),
    (lambda: Wrapped(zero, game=take_game()), r"of its own, but .* gives \[0.125, 0.0\] at"),
    (lambda: Search(RACE, network(RACE, num_cells=1)), r"gives \[.* 1 and -1 instead of 1 and 0"),
    (lambda: Wrapped(zero, game=tictactoe, leaf_value="state"), "leaf_value='state' asks for"),
    (lambda: Wrapped(zero).values(tictactoe.start()), "game=..."),
    (lambda: Wrapped(zero, game=tictactoe).values(tictactoe.start()), "9 finite values"),
    (lambda: Wrapped(network(tictactoe)).values(tictactoe.after([0, 3, 1, 4, 2])), "over"),
]


@pytest.mark.parametrize("call, message", ERRORS, ids=[message for _, message in ERRORS])
def test_errors_name_the_value(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_a_function_is_wrapped_and_after_one_iteration_the_greatest_prior_is_chosen():
    player = Wrapped(lambda s: [0.0] * len(tictactoe.legal(s)), 20, game=tictactoe, gamma=0.9)
    assert np.nansum(player.values(tictactoe.start())) == 0.0
    values = [0.0, 0.1, 0.5, 0.2, 0.0, 0.0, 0.0, 0.0, 0.0]
    player = Wrapped(lambda s: values, 1, game=tictactoe)
    assert player.choose(tictactoe.start()) == 2
    assert np.isnan(player.values(tictactoe.start())).all()


def test_weights_that_are_no_numbers_are_an_error():
    for entries, iterations in ((slice(None), 1), ((0, slice(100, None)), 1000)):
        net = network(connect4)
        net.weights[entries] = np.nan
        with pytest.raises(ValueError, match="no numbers"):
            Wrapped(net, iterations).choose(connect4.start())


def test_memory_is_what_the_docstring_says_and_a_tree_that_outgrows_it_says_so(monkeypatch):
    search = Search(othello, network(othello), 10_000)
    search.plant(othello.start())
    search.run(10_000)
    assert 4e6 < search.nbytes < 6e6  # what the docstring of puct.py says; far below 200 MB
    monkeypatch.setattr("os.sysconf", lambda name: 500)
    with pytest.raises(MemoryError, match="nodes of othello .* fewer iterations"):
        search.run(100_000)
