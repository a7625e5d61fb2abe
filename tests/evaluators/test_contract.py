"""The contract of evaluators, tried on all of the package, and their identities in keys."""

import dataclasses
import importlib
import inspect
import json
import pkgutil
from functools import partial
from itertools import chain
from types import SimpleNamespace

import numpy as np
import pytest

from afterply import arena, games, players
from afterply.identity import identity
from afterply.learners import tabular
from afterply.networks.ntuple import Network
from afterply.networks.table import QTable
from afterply.opponents.gtp import Edax, Rhino
from afterply.studies import evaluators, papers
from afterply.studies.evaluators import Matches
from afterply.studies.papers.jamieson2022 import snapshots, weaker_ladder
from afterply.studies.papers.konen2021 import game_measures, sarsa_study
from afterply.studies.papers.mandziuk2004 import giveaway_points, linear_search, td_search
from afterply.studies.papers.mandziuk2004.linear import Linear
from afterply.studies.papers.scheiermann2022 import connect4_tournament, cube_solving, wrapping
from afterply.studies.records import key_of
from afterply.studies.results import COLUMNS, as_rows
from oldest import said_by_the_oldest

TICTACTOE, GIVEAWAY, CONNECT4 = map(games.load, ("tictactoe", "giveaway", "connect4"))
CUBE2, GAME2048, HEX = games.load("cube2"), games.load("game2048"), games.load("hex", size=3)


def trained():
    session = tabular.Session(TICTACTOE, {"snapshots": [30, 15]}, seed=1)
    session.train(30)
    return session


def taught():
    asked = {"teacher": "converged", "teacher_every": 10, "teacher_games": 20, "teacher_extra": 10}
    session = tabular.Session(TICTACTOE, asked, seed=1)
    session.train(10)
    return session


def linear():
    session = td_search.Session(GIVEAWAY, {"depth": 1, "snapshots": [10]}, run=1)
    session.train(20)
    return session


def empty(game, tuples):
    return lambda: SimpleNamespace(net=Network(game, tuples), train=lambda num_episodes: None)


LINES, CORNERS, COLUMN = (
    empty(game, [tuples])
    for game, tuples in ((TICTACTOE, [0, 1, 2]), (HEX, [0, 1, 3]), (CONNECT4, [0, 6]))
)
CUBES, TILES = empty(CUBE2, [[0, 7]]), empty(GAME2048, [[0, 1]])
EASY = Matches("Max-N-2", partial(players.MaxN, 2))
FOUR = {"n": 30, "games": 4, "players": ("Q-100", "Q-50", "M_Ndet", "R")}
WON = game_measures.WonStarts("random", players.Random, (((), 0), ((4,), 1)), episodes=1)
LADDER = weaker_ladder.Ladder(30, ("careless",), (0.0, 0.5, 1.0))
OTHERWISE = cube_solving.Solved((2,), (1,), 2, 3, unvisited=1.0)
STABLE = {"n": 30, "percents": (50,), "games": 30, "repeats": 2, "opponents": ("rand",)}
EVALUATORS = [  # small ones of every kind, their game, a session, the key of their identity
    (EASY, TICTACTOE, trained, "4b443a6c8fd10e7d"),
    (WON, HEX, CORNERS, "47f1b376d18f7f5d"),
    (sarsa_study.Endings(games=3), HEX, CORNERS, "2420b90043d564fe"),
    (game_measures.Scores2048(games=2), GAME2048, TILES, "d47da11c2d1c09ab"),
    (game_measures.Searched2048(games=2, depth=2), GAME2048, TILES, "f1021136fc1343ff"),
    (snapshots.GamesAgainst(games=4), TICTACTOE, trained, "249ce7858d771a89"),
    (snapshots.GamesAsFirst(games=4), TICTACTOE, trained, "9f160325460e4ac5"),
    (snapshots.ConvergedTeacher(10), TICTACTOE, taught, "2ec6bc8124cf6c23"),
    (snapshots.Tournament(**FOUR), TICTACTOE, trained, "cc0bc0e6e1a9e2d5"),
    (snapshots.Stability(**STABLE), TICTACTOE, trained, "d855535f94a8c61f"),
    (snapshots.Baseline(games=4), TICTACTOE, trained, "15c2f2fcde1da3aa"),
    (snapshots.TrainingGames(), TICTACTOE, trained, "02a976d38c5e077c"),
    (snapshots.LossesOfAllKinds(games=4), TICTACTOE, trained, "1803fc3f9f794649"),
    (snapshots.LearningTournament(**FOUR), TICTACTOE, trained, "76963e3a9ceb10db"),
    (game_measures.FirstMoves(), TICTACTOE, LINES, "53265c8a4dc4ecce"),
    (snapshots.ExactStrength(n=30, percents=(50, 100)), TICTACTOE, trained, "7b3959577cae1d37"),
    (LADDER, TICTACTOE, trained, "87883919d7f31296"),
    (weaker_ladder.Snapshot(2), CONNECT4, COLUMN, "8d5efafef0eee51c"),
    (weaker_ladder.CarelessNetwork(2, (0.5,)), CONNECT4, COLUMN, "10c3b353bf6bd544"),
    (giveaway_points.PointsAtDepth(2, 30, (10, 20)), GIVEAWAY, linear, "618de4f2706c1e01"),
    (giveaway_points.PointsWithout(6), GIVEAWAY, linear, "9c8fe4363d5e317d"),
    (wrapping.Wrapping(EASY, 5), TICTACTOE, LINES, "b676c1923371f93d"),
    (wrapping.AgainstItself((3, 5), 2, "uniform"), TICTACTOE, LINES, "451fdd32e357558f"),
    (wrapping.OneSeat("share-3", "random", 2), TICTACTOE, LINES, "8aaad36ba4d444a2"),
    (wrapping.Alone(2, games=1, scale=100.0), GAME2048, TILES, "003d8c9488f53d97"),
    (connect4_tournament.Pairings(2, 3, 5), CONNECT4, COLUMN, "bf3aba3f76050a98"),
    (connect4_tournament.AsSecond((0, 3), 2, 5), CONNECT4, COLUMN, "276e7dfee4ba3b58"),
    (cube_solving.Solved((2, 3), (1,), cubes=2, iterations=3), CUBE2, CUBES, "9a4d081761303554"),
    (OTHERWISE, CUBE2, CUBES, "53fd8bd27baf5d6b"),
    (wrapping.Size(), TICTACTOE, LINES, "7ddfd2a920b43f45"),
    (wrapping.Placed(3, games=1), CONNECT4, COLUMN, "36da6734536e54fa"),
    (wrapping.Moves(3, games=1), TICTACTOE, LINES, "cf638866ca97bfbe"),
    (wrapping.DirectGames(3, games=1), TICTACTOE, LINES, "beff7f81517451c7"),
    (giveaway_points.RecentPoints(), GIVEAWAY, linear, "23a0a63c0d578e4e"),
    (giveaway_points.TrainingPoints(10), GIVEAWAY, linear, "ce258758b0143d9d"),
    (giveaway_points.TestPoints(10, (10, 20)), GIVEAWAY, linear, "dde59701c4c20959"),
]
ENGINES = [  # with their engine and key
    (game_measures.PerfectPlay(), "bitbully", "3e884505a94d65db"),
    (game_measures.Mistakes(), "bitbully", "4a2fa524e7805388"),
    (connect4_tournament.Pairings(perfect="AB-DL"), "bitbully", "392f391ed033f319"),
    (evaluators.against(Rhino, 1), "gtp-rhino", "951cb6b44fd781cc"),
    (wrapping.Levels(), "gtp-rhino", "575f1581bba16e24"),
    (wrapping.Wrapping(evaluators.against(Edax, 1)), "edax", "c6fd338abec909b5"),
]
RIVALS = giveaway_points.AgainstLinear("rivals.npz", stride=12)
every_one = pytest.mark.parametrize(
    "evaluator, game, session", [row[:3] for row in EVALUATORS], ids=lambda e: type(e).__name__
)


def test_every_evaluator_is_tried_here():
    modules = pkgutil.walk_packages(papers.__path__, f"{papers.__name__}.")
    found = {
        thing
        for name in [evaluators.__name__, *(module.name for module in modules)]
        for thing in vars(importlib.import_module(name)).values()
        if inspect.isclass(thing) and issubclass(thing, evaluators.Evaluator)
    }
    tried = {type(one) for one, *_ in [*EVALUATORS, *ENGINES, [RIVALS]]}
    # a plain function is tried in tests/test_identity.py
    assert found == tried | {evaluators.Evaluator, evaluators.OfFunction}


@pytest.mark.parametrize(
    "evaluator, needs, key",
    [(e, "", key) for e, _, _, key in EVALUATORS] + ENGINES + [(RIVALS, "", "ea49ed4cc95b9845")],
    ids=lambda e: getattr(e, "name", e),
)
def test_it_says_who_it_is_and_what_it_needs(evaluator, needs, key):
    """An identity is a part of the keys of records: if one changes, its records are not found."""
    assert dataclasses.is_dataclass(evaluator) and evaluator.__dataclass_params__.frozen
    assert evaluator.needs == needs and evaluator.heavy is (needs == "bitbully")
    said = identity(evaluator)
    assert json.loads(json.dumps(said)) == said and key_of(said) == key


@every_one
def test_an_agent_of_the_wrong_kind_is_refused(evaluator, game, session):
    carrier = SimpleNamespace(net=session().net)
    for wrong in (None, 3, carrier, QTable(games.load("nim")), "Random"):
        with pytest.raises((ValueError, TypeError, RuntimeError)):
            if isinstance(evaluator, snapshots.Baseline):  # the trained table plays no part
                raise ValueError
            evaluator(game, wrong, 7)


def test_bad_settings_are_refused():
    for make, settings, message in (
        (game_measures.Scores2048, {"games": 0}, "games must be a whole number of at least 1"),
        (cube_solving.Solved, {"twists": (11, 0)}, "twists must be a whole number of at least 1"),
        (wrapping.Levels, {"pass_nodes": 1}, "pass_nodes must be True or False"),
        (wrapping.Levels, {"iterations": 1, "mcts": 1}, "either"),
        (wrapping.OneSeat, {"mine": "MCTS-100", "theirs": "agent"}, "no player .MCTS-100."),
    ):
        with pytest.raises(ValueError, match=message):
            make(**settings)


@every_one
@pytest.mark.slow
def test_it_says_the_same_of_a_session_and_its_network(evaluator, game, session):
    agent = session()
    found, again = (evaluator(game, of, 7) for of in (agent, agent.net))
    rows, values = as_rows(found, evaluator.name)  # which refuses what is no number
    assert set(chain(*rows)) <= set(COLUMNS) and len(rows) == len(values)
    assert found == again or isinstance(evaluator, wrapping.Moves)  # their cost counts


def fitted():
    """What evaluators say that compute in Python; kernels are in golden runs and searches."""
    return [one(TICTACTOE, trained(), 7) for one in (LADDER, snapshots.Tournament(**FOUR))]


@pytest.mark.slow
def test_ratings_are_the_same_without_vector_instructions():
    """A rating once differed by 1e-14 between two processors, and its records were refused."""
    ask = "import json; from evaluators import test_contract as t; print(json.dumps(t.fitted()))"
    there = said_by_the_oldest(ask, timeout=1200).splitlines()[-1]
    assert json.loads(there) == json.loads(json.dumps(fitted()))


# What only one evaluator does


def test_linear_agents_of_a_file_are_opponents_in_the_seats_of_their_training(
    tmp_path, monkeypatch
):
    monkeypatch.setenv("AFTERPLY_DATA", str(tmp_path))
    vectors = {"LL": linear_search.random_weights(10, "rivals")}
    agent = Linear(GIVEAWAY, weights=vectors["LL"][0])
    with pytest.raises(FileNotFoundError, match="train the linear agents first"):
        RIVALS(GIVEAWAY, agent, 7)
    session = td_search.Session(GIVEAWAY, {"depth": 1})
    td_search.write_learners(tmp_path / "rivals.npz", session, vectors)
    rivals = RIVALS.rivals(GIVEAWAY)
    assert [r.net.seat for r in rivals] == [0] * 5 + [1] * 5
    (found,), points = RIVALS(GIVEAWAY, agent, 7), 0.0
    assert found["opponent"] == "depth 1" and [found] == RIVALS(GIVEAWAY, agent, 7)
    for k, opening in enumerate(arena.starts_all(GIVEAWAY, 2)[::12]):  # the same games by hand
        first = arena.match(GIVEAWAY, (rivals[k], agent), opening).scores[1]
        second = arena.match(GIVEAWAY, (agent, rivals[5 + k]), opening).scores[0]
        points += (first + 1) / 2 + (second + 1) / 2
    assert found["measure"] == "points" and found["value"] == pytest.approx(10 * points)
    searching = dataclasses.replace(RIVALS, linear_iterations=5, iterations=7, stride=49)
    (found,) = searching(GIVEAWAY, agent, 7)
    assert (found["opponent"], found["iterations"]) == ("PUCT-5", 7)


def test_points_at_a_depth_and_without_a_feature():
    session = linear()
    net, strangers = session.net, linear_search.random_weights(4, 0, 0, "test")

    def points(depth, weights):
        agent = Linear(GIVEAWAY, seat=net.seat, depth=depth, weights=weights)
        return giveaway_points.points(linear_search.matches(agent, strangers))

    first, second = giveaway_points.PointsAtDepth(2, 4, (10, 20, 30))(GIVEAWAY, session)
    assert [(row["depth"], row["after"]) for row in (first, second)] == [(2, 10), (2, 20)]
    assert first["value"] == points(2, net.snapshots[10])
    found = giveaway_points.PointsWithout(4)(GIVEAWAY, session)
    less = np.where(np.arange(22) == 6, 0.0, net.weights)
    assert found[0] == {"measure": "points", "value": points(1, net.weights)}
    assert [row["without"] for row in found[1:]] == [*range(1, 23)]
    assert found[7]["value"] == points(1, less)


@pytest.mark.parametrize(
    "evaluator, game, measure, opponent, value, num_matches",
    [
        (evaluators.TICTACTOE, "tictactoe", "win_rate", "Max-N-10", 50.0, 20),
        (evaluators.NIM, "nim", "win_rate", "Max-N-15", 50.0, 20),
        (evaluators.NIM3P, "nim3p", "score", "Max-N-15", 0.4, 300),
    ],
)
def test_perfect_play_gives_the_known_values(
    evaluator, game, measure, opponent, value, num_matches
):
    row = evaluator(games.load(game), players.MaxN(15), 4)[0]
    assert row == {"measure": measure, "opponent": opponent, "value": pytest.approx(value)}
    table = evaluator.matches(games.load(game), players.Random(), 1).query("player == 'agent'")
    assert len(table) == table.match.nunique() == num_matches
    assert table.seat.value_counts().nunique() == 1


class Quitter(players.Random):
    """An engine that dies where it is about to lose: the matches that are left are won."""

    name = "Quitter"

    def choose(self, state):
        if players.MaxN(9).playing(self.game).values(state).max() < 0:
            raise RuntimeError("out of memory")
        return super().choose(state)


def test_there_is_no_number_over_the_matches_that_did_not_fail():
    against = evaluators.Matches("Quitter", Quitter, starts=("upto", 1), episodes=3)
    wrapped = wrapping.Wrapping(against, 20)
    levels = dataclasses.replace(against, metrics=("score",))
    for evaluator in (against, wrapped, levels):
        with pytest.raises(
            RuntimeError, match=r"\d+ of 60 matches failed; the first: .*out of mem"
        ):
            evaluator(TICTACTOE, Network(TICTACTOE, [range(9)]), 1)
