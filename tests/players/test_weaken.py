"""Weaker players, the pool that rates them, and the published ladders."""

import numpy as np
import pytest

from afterply import arena, games
from afterply.arena import exact
from afterply.learners import tabular
from afterply.opponents import rating_pool, weaken, words
from afterply.players import agents

GAME, DIALS = games.load("tictactoe"), (0.0, 0.5, 1.0)


@pytest.fixture(scope="module")
def net():
    made = tabular.Session(GAME, {"snapshots": weaken.milestones(2000, DIALS)}, seed=1)
    made.train(2000)
    return made.net


@pytest.fixture(scope="module")
def pool():
    return rating_pool.pool(GAME)


@pytest.mark.slow
def test_softmax_has_the_shares_of_its_formula_also_in_the_kernel_that_plays(net):
    s, t, chance = GAME.parse("x o x . o . . . ."), 0.2, agents.chance(GAME)
    values = net.action_values(s)
    expected = np.exp(values / t) / np.exp(values / t).sum()
    agent = agents.learned(net, temperature=t)
    assert agent.policy(s) == pytest.approx(expected, abs=1e-12)
    sampled = agents.contest(GAME, agent, chance, 20_000, seed=2)
    shares = np.array([sampled.wins, sampled.draws, sampled.losses]) / 20_000
    assert shares == pytest.approx(np.array(exact.outcome(GAME, agent, chance)), abs=0.012)


AGENTS = {
    "greedy, some random": lambda net: agents.learned(net, 0.3),
    "softmax, infinitely hot": lambda net: agents.learned(net, 0.0, np.inf),
    "softmax, some random": lambda net: agents.learned(net, 0.2, 1.0),
    "Min-Max, the first": lambda net: agents.min_max(GAME, "first", 2, 0.1),
    "Min-Max, any": lambda net: agents.min_max(GAME, "random"),
    "random": lambda net: agents.chance(GAME),
}


@pytest.mark.slow
@pytest.mark.parametrize("agent", AGENTS.values(), ids=AGENTS)
def test_policies_by_the_kernel_are_those_of_the_agent(net, agent):
    agent, found = agent(net), exact.graph(GAME)
    by_agent = np.concatenate([agent.policy(s) for s in found.states[found.mover >= 0]])
    assert exact.policy(GAME, agent) == pytest.approx(by_agent, abs=1e-12)
    assert exact.policy(GAME, agent).sum() == pytest.approx((found.mover >= 0).sum())


@pytest.mark.slow
@pytest.mark.parametrize("method", weaken.METHODS)
def test_the_ends_of_every_dial(net, method):
    def policy(dial):
        return exact.policy(GAME, weaken.weakened(net, method, dial, seed=3))

    assert np.array_equal(policy(1.0), exact.policy(GAME, agents.learned(net)))
    random = exact.policy(GAME, agents.chance(GAME))
    # only noise still has opinions
    assert (np.abs(policy(0.0) - random).max() < 1e-12) == (method != "noise")


def test_snapshots_count_training_games(net):
    assert weaken.milestones(2000, DIALS) == [45, 1000, 2000]
    for method, num_games in (("snapshots", 1000), ("log snapshots", 45)):
        assert weaken.weakened(net, method, 0.5).net.episode == num_games


def test_changed_tables_follow_their_seed_and_leave_the_original_alone(net):
    def values(method, dial, seed):
        return weaken.weakened(net, method, dial, seed).net.table.q

    before, q = net.checksum(), net.table.q[: net.entries]
    some = q != 0
    kept = values("forgotten", 0.5, 4) == q
    assert abs(kept[some].mean() - 0.5) < 0.03
    less = values("forgotten", 0.2, 4) == q
    assert abs(less[some].mean() - 0.2) < 0.03 and not (less & ~kept).any()
    noise = values("noise", 0.5, 4) - q
    assert noise.std() == pytest.approx(weaken.spread(net), rel=0.1)
    assert np.array_equal(values("noise", 0.5, 4), q + noise)
    assert not np.array_equal(values("noise", 0.5, 5), q + noise)
    assert net.checksum() == before
    with pytest.raises(LookupError, match="no snapshot was kept after 1400"):
        weaken.weakened(net, "snapshots", 0.7)


@pytest.mark.slow
def test_the_pool_is_a_ladder_from_zero(pool):
    found = pool.model.strength[[pool.model.players.index(name) for name in pool.sides]]
    assert found[0] == 0 and (np.diff(found) > 0).all()
    assert rating_pool.rate(GAME, agents.chance(GAME), pool)["rating"] == pytest.approx(0, abs=1)
    perfect = rating_pool.rate(GAME, agents.min_max(GAME), pool)
    expected = 100 * (191.5 / 192 + (254 + 61 / 2) / 315) / 2
    assert perfect["lost"] == 0 and perfect["score"] == pytest.approx(expected)


@pytest.mark.slow
def test_ratings_from_games_agree_with_exact_ones(net, pool):
    agent = weaken.weakened(net, "careless", 0.6)
    agents_of_it = rating_pool.pool(GAME, games=1000).sides
    by_games = pool._replace(games=1000, sides=agents_of_it)
    sampled = rating_pool.rate(GAME, agent, by_games, seed=1)
    known = rating_pool.rate(GAME, agent, pool)
    assert sampled["rating"] == pytest.approx(known["rating"], abs=25)
    assert sampled["score"] == pytest.approx(known["score"], abs=4)
    assert 0 < sampled["distinct"] <= 100
    frozen = agents.min_max(GAME)
    # two players without chance have one game, however often they are asked
    assert rating_pool.meet(GAME, frozen, frozen, 100, seed=1)[1] == 1


def test_cycles():
    for ac, error, expected in ((0.1, 0.0, (1, 1)), (0.1, 0.3, (0, 0)), (0.9, 0.0, (0, 1))):
        scores = np.array([[0.5, 0.9, ac], [0.1, 0.5, 0.9], [1 - ac, 0.1, 0.5]])
        assert rating_pool.cyclic(scores, np.full((3, 3), error)) == expected


@pytest.mark.slow
@pytest.mark.parametrize("name", words.ladders())
def test_published_ladders_rise_from_zero_and_their_opponents_play(name, pool):
    game = games.load(name)
    for rating in (120, 333.3) if name == "tictactoe" else ():  # between rungs by interpolation
        found = rating_pool.rate(GAME, words.at_strength(GAME, rating), pool)
        assert found["rating"] == pytest.approx(rating, abs=5)
    steps = words.ladder(game)
    rungs, dials, above = (steps[key] for key in ("ratings", "dials", "above"))
    rising = [*rungs, *above.values()]
    assert rungs[0] == 0 and (np.diff(rising) >= 0).all() and rungs[-1] > 300
    assert len(dials) == len(rungs) and dials[0] == 0 and dials[-1] == 1
    for word, rating in above.items():  # the searches and perfect play
        assert words.at_strength(game, rating).name == words.named(game, word).name
    pair = {"strong": words.at_strength(game, 300), "weak": words.at_strength(game, 0)}
    table = arena.matches(game, pair, episodes=10, seed=1, strict=True)
    assert table[table.player == "strong"].score.mean() > table[table.player == "weak"].score.mean()


def test_what_no_ladder_has():
    outside = r"outside the ladder of tictactoe, .* from 0 .* \d+"
    for game, rating, message in (
        (GAME, 5000, outside),
        (games.load("nim3p"), 100, "no ladder .* for nim3p, only for .*kalah, morris, nim, oth"),
        (games.load("kalah", houses=4), 100, "was made for"),
    ):
        with pytest.raises(ValueError, match=message):
            words.at_strength(game, rating)
