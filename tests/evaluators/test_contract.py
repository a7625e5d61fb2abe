"""The contract of evaluators, tried on all of the package, and their identity in the records."""

import dataclasses
import importlib
import inspect
import json
import math
import pkgutil
from functools import partial
from types import SimpleNamespace

import pytest

from afterstate import arena, evaluators, games, players
from afterstate.evaluators import (
    base,
    connect4,
    costs,
    cube,
    cube_searches,
    endings,
    game2048,
    giveaway,
    giveaway_agents,
    hex,
    ladder,
    learning,
    matches,
    openings,
    othello,
    snapshots,
    tournament,
    wrapped,
)
from afterstate.files import data_directory, write_npz
from afterstate.learners import tabular, td_search
from afterstate.networks.linear import Linear
from afterstate.networks.ntuple import Network
from afterstate.networks.table import QTable
from afterstate.players import linear_matches
from afterstate.players.gtp import Rhino
from afterstate.players.positional import Bench
from afterstate.studies.identity import evaluator_identity

TICTACTOE = games.load("tictactoe")


def trained():
    session = tabular.Session(TICTACTOE, {"snapshots": [30, 15]}, seed=1)
    session.train(30)
    return session


def linear():
    session = td_search.Session(GIVEAWAY, {"depth": 1, "snapshots": [10]}, run=1)
    session.train(20)
    return session


def empty(game, tuples):
    return SimpleNamespace(net=Network(game, tuples), train=lambda num_episodes: None)


def lines():
    return empty(TICTACTOE, [[0, 1, 2]])


GIVEAWAY = games.load("giveaway")
CONNECT4, CUBE2 = games.load("connect4"), games.load("cube2")
HEX, GAME2048, OTHELLO = games.load("hex", size=3), games.load("game2048"), games.load("othello")
EVALUATORS = [  # small ones of every kind, their game, a session
    (matches.Matches("Max-N-2", partial(players.MaxN, 2)), TICTACTOE, trained),
    (
        hex.WonStarts("random", players.Random, (((), 0), ((4,), 1)), episodes=1),
        HEX,
        lambda: empty(HEX, [[0, 1, 3]]),
    ),
    (endings.Endings(games=3), HEX, lambda: empty(HEX, [[0, 1, 3]])),
    (game2048.Scores2048(games=2), GAME2048, lambda: empty(GAME2048, [[0, 1]])),
    (snapshots.GamesAgainst(games=4), TICTACTOE, trained),
    (
        snapshots.Tournament(n=30, games=4, players=("Q-100", "Q-50", "M_Ndet", "R")),
        TICTACTOE,
        trained,
    ),
    (
        snapshots.Stability(n=30, percents=(50,), games=30, repeats=2, opponents=("rand",)),
        TICTACTOE,
        trained,
    ),
    (snapshots.Baseline(games=4), TICTACTOE, trained),
    (learning.TrainingGames(), TICTACTOE, trained),
    (
        learning.LearningTournament(n=30, games=4, players=("Q-100", "Q-50", "M_Ndet", "R")),
        TICTACTOE,
        trained,
    ),
    (openings.FirstMoves(), TICTACTOE, lines),
    (snapshots.ExactStrength(n=30, percents=(50, 100)), TICTACTOE, trained),
    (ladder.Ladder(n=30, methods=("careless",), dials=(0.0, 0.5, 1.0)), TICTACTOE, trained),
    (giveaway_agents.PointsAtDepth(2, 30, (10, 20)), GIVEAWAY, linear),
    (giveaway_agents.PointsWithout(6), GIVEAWAY, linear),
    (wrapped.Wrapping(matches.Matches("Max-N-2", partial(players.MaxN, 2)), 5), TICTACTOE, lines),
    (wrapped.AgainstItself((3, 5), starts=2, prior="uniform"), TICTACTOE, lines),
    (wrapped.Alone(2, games=1, scale=100.0), GAME2048, lambda: empty(GAME2048, [[0, 1]])),
    (tournament.Pairings(2, 3, 5), CONNECT4, lambda: empty(CONNECT4, [[0, 6]])),
    (tournament.AsSecond((0, 3), 2, 5), CONNECT4, lambda: empty(CONNECT4, [[0, 6]])),
    (cube.Solved((2, 3), (1,), cubes=2, iterations=3), CUBE2, lambda: empty(CUBE2, [[0, 7]])),
    (
        cube_searches.SolvedOtherwise((2,), (1,), 2, 3, unvisited=1.0, path_rewards=True),
        CUBE2,
        lambda: empty(CUBE2, [[0, 7]]),
    ),
    (costs.Size(), TICTACTOE, lines),
    (costs.Moves(3, games=1), TICTACTOE, lines),
    (othello.against(Bench, 1, "x"), OTHELLO, None),
]
ENGINES = [connect4.PerfectPlay(), connect4.Mistakes(), othello.against(Rhino, 1), othello.Levels()]
every_one = pytest.mark.parametrize(
    "evaluator, game, session", EVALUATORS[:-1], ids=lambda e: type(e).__name__
)


def test_every_evaluator_is_tried_here():
    found = {
        thing
        for module in pkgutil.iter_modules(evaluators.__path__)
        for thing in vars(importlib.import_module(f"{evaluators.__name__}.{module.name}")).values()
        if inspect.isclass(thing) and issubclass(thing, base.Evaluator)
    }
    tried = {type(e) for e, *_ in EVALUATORS} | {type(e) for e in ENGINES}
    tried.add(giveaway_agents.AgainstLinear)  # below: it needs a file
    assert found == tried | {base.Evaluator, snapshots.Contests}


@pytest.mark.parametrize("evaluator", [e for e, *_ in EVALUATORS] + ENGINES, ids=lambda e: e.name)
def test_it_says_who_it_is_and_what_it_needs(evaluator):
    assert dataclasses.is_dataclass(evaluator) and evaluator.__dataclass_params__.frozen
    identity = evaluator_identity(evaluator)
    assert identity["name"] == evaluator.name and identity["version"] == evaluator.version >= 1
    assert json.loads(json.dumps(identity)) == identity
    assert isinstance(evaluator.heavy, bool) and isinstance(evaluator.lacks(), str)
    assert evaluator.cpu_seconds() >= 0.0
    short = evaluator.short()
    assert type(short) is type(evaluator) and short.name == evaluator.name


@pytest.mark.slow
@every_one
def test_it_measures_a_session_as_its_network_and_the_same_twice(evaluator, game, session):
    agent = session()
    found = evaluator(game, agent.net, 7)
    assert found and all(isinstance(k, str) and math.isfinite(v) for k, v in found.items())
    assert evaluator(game, agent, 7) == found == evaluator(game, agent.net, 7)
    assert 1 <= evaluator.short().extent(game) <= evaluator.extent(game)


@every_one
def test_an_agent_of_the_wrong_kind_is_refused(evaluator, game, session):
    carrier = SimpleNamespace(net=session().net)
    for wrong in (None, 3, carrier, QTable(games.load("nim")), "Random"):
        with pytest.raises((ValueError, TypeError, RuntimeError)):
            if isinstance(evaluator, snapshots.Baseline):  # the trained table plays no part
                raise ValueError
            evaluator(game, wrong, 7)


def test_linear_agents_of_a_file_are_opponents_in_the_seats_of_their_training(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(giveaway_agents, "data_directory", lambda: tmp_path)
    session = td_search.Session(GIVEAWAY, {"depth": 1})
    vectors = {"LL": linear_matches.random_weights(10, "rivals")}
    evaluator = giveaway_agents.AgainstLinear("rivals.npz", stride=12)
    assert "data/rivals.npz: train the linear agents first" in evaluator.lacks()
    td_search.write_learners(tmp_path / "rivals.npz", session, vectors)
    assert evaluator.lacks() == ""
    assert evaluator.version == 2 and evaluator.short().extent(GIVEAWAY) == 2
    assert evaluator.extent(GIVEAWAY) == 5  # of 49 openings
    rivals = evaluator._rivals(GIVEAWAY)
    assert [r.net.seat for r in rivals] == [0] * 5 + [1] * 5
    agent = Linear(GIVEAWAY, weights=vectors["LL"][0])
    found = evaluator(GIVEAWAY, agent, 7)
    assert list(found) == ["points:greedy v depth 1"] and found == evaluator(GIVEAWAY, agent, 7)
    openings, points = arena.starts_all(GIVEAWAY, 2)[::12], 0.0
    for k, opening in enumerate(openings):  # the same games by hand
        first = arena.match(GIVEAWAY, (rivals[k], agent), opening).scores[1]
        points += (first + 1) / 2
        points += (arena.match(GIVEAWAY, (agent, rivals[5 + k]), opening).scores[0] + 1) / 2
    assert found["points:greedy v depth 1"] == pytest.approx(10 * points)
    searching = giveaway_agents.AgainstLinear(
        "rivals.npz", linear_iterations=5, iterations=5, stride=49
    )
    assert list(searching(GIVEAWAY, agent, 7)) == ["points:PUCT-5 v PUCT-5"]
    write_npz(tmp_path / "rivals.npz", {"kind": "else"}, {})
    with pytest.raises(ValueError, match="not learners"):
        evaluator(GIVEAWAY, agent, 7)


def test_points_at_a_depth_and_without_a_feature():
    session = linear()
    net, seat = session.net, session.net.seat
    strangers = linear_matches.random_weights(4, 0, 0, "test")
    found = giveaway_agents.PointsAtDepth(2, 4, (10, 20, 30))(GIVEAWAY, session)
    assert list(found) == ["points_at_2:after-10", "points_at_2:after-20"]
    deeper = Linear(GIVEAWAY, seat=seat, depth=2, weights=net.snapshots[10])
    expected = giveaway.points(linear_matches.matches(deeper, strangers)[0])
    assert found["points_at_2:after-10"] == expected
    found = giveaway_agents.PointsWithout(4)(GIVEAWAY, session)
    assert found["played_with_all"] == giveaway.points(linear_matches.matches(net, strangers)[0])
    weights = net.weights.copy()
    weights[6] = 0.0
    less = Linear(GIVEAWAY, seat=seat, depth=1, weights=weights)
    expected = giveaway.points(linear_matches.matches(less, strangers)[0])
    assert len(found) == 23 and found["played_without:7"] == expected


# -------------------------------------------------------------------------------- in the records


def of_the_wrapper():
    """Those of notebooks 20 to 24."""
    m, mcts = matches.Matches, players.MCTS
    some = tuple(tuple(start.actions) for start in arena.starts_all(OTHELLO, 4)[::49])
    bench = m("Bench", partial(Bench), ("after", some))
    yield wrapped.Wrapping(bench, 10_000, pass_nodes=True)
    yield (empty_board := m("Bench, empty board", partial(Bench), episodes=10))
    yield wrapped.Wrapping(empty_board, 10_000, pass_nodes=True)
    easier, deep, edax = (tuple(range(*ends)) for ends in ((1, 8), (8, 10), (1, 10)))
    for engine, levels in (("Rhino", easier), ("Rhino", deep), ("Edax", edax)):
        yield othello.Levels(engine, levels)
        yield othello.Levels(engine, levels, iterations=10_000, pass_nodes=True)
        yield othello.Levels(engine, levels, mcts=10_000)
    yield from (tournament.Pairings(perfect=name) for name in ("", "AB-DL", "AB-DL-8"))
    yield from (tournament.AsSecond(), costs.Size())
    yield m("MCTS-1000", partial(mcts, 1000, tree_depth=40), ("upto", 1), 5)
    for twists in ((11, 12, 13), (7, 8, 9)):
        yield cube.Solved(twists, (), 100, by_distance=False)
        for n in (0, 100, 200, 500, 1000):
            yield cube.Solved(twists, tuple(range(1, twists[0])), 200, n)
        yield from (cube.Solved(twists, (), 200, n, 10.0) for n in (100, 1000))
    for how in ({"unvisited": 1.0}, {"path_rewards": True}):
        for n in (100, 200, 500, 1000):
            few = tuple(range(1, 11))
            yield cube_searches.SolvedOtherwise((11, 12, 13), few, 200, n, by_distance=False, **how)
    # games timed in notebooks 20, 21 and 22
    for numbers, depth, most in (
        ((20, 5, 2, 1, 1), {}, {}),
        ((50, 20, 10, 3, 5), {"tree_depth": 40}, {}),
        ((25, 25, 25, 5, 5), {}, {"most": 20}),
    ):
        for n, number in zip((0, 100, 1000, 10_000), numbers):
            yield costs.Moves(n, number, **most)
        yield costs.Moves(games=numbers[-1], other=partial(mcts, 10_000, **depth), **most)
    yield wrapped.AgainstItself((100, 1000), 50)
    for prior, leaf in (("softmax", "rollout"), ("uniform", "best action"), ("uniform", "rollout")):
        yield wrapped.AgainstItself((100,), 50, prior, leaf)
    unit = float(game2048.MAX_SCORE)
    yield wrapped.Alone(0, 10, unit=unit)
    for chance in ("drawn", "enumerated"):
        for scale in (10.0, 100.0, 1000.0, 10_000.0):
            yield wrapped.Alone(100, 10, scale, chance, unit)
    yield from (wrapped.Alone(1000, 10, scale, unit=unit) for scale in (100.0, 1000.0))


def of_other_readings():
    """Those of notebook 34, and of the first moves in notebook 12."""
    tutorial = {"initial_q": 0.6, "last_move": "set", "epsilon": 0.0, "learner_seat": "second"}
    rewards = ("win_reward", "draw_reward", "loss_reward")
    for alpha, gamma, values in ((0.9, 0.95, (1.0, 0.5, 0.0)), (0.4, 0.9, (1.0, 0.5, -1.0))):
        for ties in ("random", "first"):
            rule = {"alpha": alpha, "gamma": gamma, "ties": ties} | dict(zip(rewards, values))
            params = tuple(sorted((tutorial | rule).items()))
            yield learning.LearningTournament(8000, 100, params=params, label="learning: ")
    yield learning.TrainingGames()
    for depth in (0, 6, 7):
        yield snapshots.Tournament(n=32_000, games=115, depth=depth)
        yield snapshots.GamesAgainst(games=115, depth=depth)
    yield from of_first_moves()


def of_first_moves():
    """Those of the arm of notebook 12 that shows how agents open."""
    yield from (openings.FirstMoves(), connect4.PerfectPlay(("AB",), "both"))


# evaluators of studies that are not trained to their end yet
UNFINISHED = {evaluator.name for evaluator in (*of_the_wrapper(), *of_first_moves())}


def of_the_notebooks():
    """All evaluators that the notebooks use, at the scale of the papers."""
    m, s = matches.Matches, snapshots
    mcts, corners = players.MCTS, (((), 0), *(((c,), 1) for c in (0, 2, 12, 14, 18, 24)))
    three = {"starts": ("random", 10), "episodes": 3, "metrics": ("score",)}
    yield from (matches.TICTACTOE, matches.NIM, matches.NIM3P, matches.NIM3P_MCTS)
    for n in (5000, 10000):
        opponent = partial(mcts, n, reward_range=(-1.0, 1.0))
        yield m(f"MCTS-{n} [-1, 1]", opponent, **three)
    opponent = partial(mcts, 10_000, tree_depth=10)
    yield m("MCTS-10000", opponent, ("after", hex.HEX_STARTS), 3)
    yield hex.WonStarts("MCTS-1000", partial(mcts, 1000, tree_depth=10), corners)
    yield game2048.Scores2048(games=50)
    yield from (othello.OTHELLO_BENCH, othello.OTHELLO_HEUR, *othello.RHINOS[:3])
    yield m("Bench-mover", partial(Bench, "mover"), ("all", 4))
    yield from (connect4.PerfectPlay(), connect4.PerfectPlay(roles="first"), connect4.Mistakes())
    yield connect4.PerfectPlay(opponents=("AB-DL-8",))
    yield from (s.Baseline(), s.ExactStrength(), s.Stability(), s.Tournament())
    yield s.GamesAgainst("Nd-Min-Max", losses_only=True)
    yield from (s.GamesAgainst(), s.GamesAgainst(losses_only=True))
    for depth, games_ in ((4, 100), (4, 115)):
        yield s.GamesAgainst("Nd-Min-Max", games_, depth, True)
    for depth, games_ in ((2, 100), (2, 115), (4, 100), (4, 115), (6, 115)):
        yield s.GamesAgainst(games=games_, depth=depth)
    for n in (16_000, 32_000):
        yield s.Stability(n=n, games=500, repeats=3, depth=4)
    for n, number, depth, label in (
        (50_000, 100, 0, "own N: "),
        (16_000, 100, 4, ""),
        (64_000, 100, 4, "own N: "),
        (32_000, 115, 4, ""),
        (128_000, 115, 4, "own N: "),
        (16_000, 100, 6, ""),
    ):
        yield s.Tournament(n=n, games=number, depth=depth, label=label)
    some = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
    yield from (ladder.Ladder(), ladder.Ladder(methods=(), dials=(1.0,)))
    yield ladder.Ladder(16_000, ("snapshots",), some, 2, 100, 100)
    yield endings.Endings(games=100)
    yield from (m("MCTS-100", partial(mcts, 100), ("upto", 1), n) for n in (1, 3, 4))
    yield m("MCTS-100", partial(mcts, 100), ("all", 2), 2)
    yield ladder.Ladder(32_000, dials=some, depth=2, games=20, meetings=20)
    yield from (giveaway.RecentPoints(), giveaway.TrainingPoints(), giveaway.TestPoints())
    yield giveaway_agents.PointsAtDepth()
    yield giveaway_agents.PointsAtDepth(2, after=(10_000,))
    yield giveaway_agents.PointsWithout(100)
    rivals = partial(giveaway_agents.AgainstLinear, "models/giveaway-rivals.npz", stride=2)
    yield from (*of_the_wrapper(), *of_other_readings())
    yield from (rivals(depth=1), rivals(depth=4), rivals(depth=8, iterations=1000))
    yield rivals(linear_iterations=100, iterations=100)


def test_every_record_knows_an_evaluator_of_the_notebooks_and_the_other_way_round():
    """Their identities are parts of the keys: if one changed, its records would not be found."""
    recorded = set()
    for path in (data_directory() / "records").rglob("eval-*.json"):
        recorded.add(json.dumps(json.loads(path.read_text())["evaluator"], sort_keys=True))
    ours = {json.dumps(evaluator_identity(e), sort_keys=True) for e in of_the_notebooks()}
    without = {json.loads(text)["name"] for text in ours - recorded}
    assert len(recorded) > 40 and recorded <= ours and without <= UNFINISHED
