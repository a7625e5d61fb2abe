"""Endings by hand and where they are known; Hex from won positions; 2048 step by step."""

import numpy as np
import pytest

from afterply import games, players
from afterply.games import calls
from afterply.games.rules import game2048
from afterply.kernel.random import best_of, new_rng
from afterply.learners import sarsa, td
from afterply.networks import table
from afterply.networks.ntuple import Network
from afterply.studies.papers.konen2021 import sarsa_study
from afterply.studies.papers.konen2021.game_measures import (
    HEX_STARTS,
    TILES,
    FirstMoves,
    Scores2048,
    Searched2048,
    WonStarts,
    play_greedily,
)
from afterply.studies.papers.konen2021.sarsa_study import Endings, ending, play_alone

hex3, game = games.load("hex", size=3), games.load("game2048")
LAST = {"last mover wins": 0.0, "last mover loses": 0.0, "last mover draws": 0.0}


def by_measure(rows):
    """The values of rows whose measures are different."""
    return {row["measure"]: row["value"] for row in rows if "variant" not in row}


def of(name, **kwargs):
    game = games.load(name, **kwargs)
    return by_measure(Endings(games=60, epsilon=1.0)(game, Network(game, [[0]]), seed=2))


# Endings


@pytest.mark.slow
def test_who_hears_of_the_end():
    for name in ("nim", "connect4", "hex"):  # who wins does so by the last move
        found = of(name)
        assert found["last mover wins"] + found["last mover draws"] == 100.0
        assert found["wins heard"] == 100.0 and found["losses heard"] == 0.0
        assert found["passes"] == 0.0 and found["distance"] == 1.0
    found = of("nim", misere=True)  # who takes the last stone loses
    assert found["last mover loses"] == found["losses heard"] == 100.0
    assert found["wins heard"] == 0.0
    found = of("nim3p")  # two others share the reward; of the losers one moves last
    assert found["last mover loses"] == 100.0 and found["wins heard"] == 0.0
    assert found["losses heard"] == 50.0
    for name in ("game2048", "cube2"):
        with pytest.raises(ValueError, match="several players without chance"):
            of(name)


@pytest.mark.parametrize(
    "moves, scores, expected",
    [
        (  # player 0 moves twice in a row at the end, and loses; player 1 has waited for 3 plies
            [(0, 0.1, 0.0), (1, 0.4, 0.0), (0, 0.2, 0.0), (0, 0.3, 0.0), (0, 0.9, -1.0)],
            [-1.0, 1.0],
            {"last mover loses": 100.0, "plies": 5.0, "passes": 2.0, "distance": 3.0}
            | {"losses heard": 100.0, ("value", "lost"): 0.3}  # not of the terminal afterstate
            | {"wins heard": 0.0, ("value", "won"): 0.4},
        ),
        (  # a reward that was paid before the end is heard
            [(0, 0.0, 0.0), (1, 0.0, 0.0), (0, 0.5, 1.0), (1, -0.5, -1.0)],
            [1.0, -1.0],
            {"last mover loses": 100.0, "plies": 4.0, "passes": 0.0, "distance": 1.0}
            | {"wins heard": 100.0, "losses heard": 100.0}
            | {("value", "won"): 0.5, ("value", "lost"): 0.0},
        ),
    ],
)
def test_one_game_by_hand(moves, scores, expected):
    first = {"first player moves last": 100.0 * (moves[-1][0] == 0)}
    found = {
        (measure, variant) if variant else measure: value
        for measure, variant, value in ending(moves, np.array(scores))
    }
    assert found == LAST | first | expected


@pytest.mark.parametrize("learner", [td, sarsa])
def test_values_are_those_of_the_network_when_it_moved(learner):
    game = games.load("tictactoe")
    session = learner.Session(game, learner.DEFAULTS, episodes=200, seed=1)
    session.train(200)
    moves, scores = play_alone(game, session.net, 0.0, new_rng(3))
    assert [player for player, _, _ in moves] == [k % 2 for k in range(len(moves))]
    assert moves[-1][2] == scores[moves[-1][0]]
    best = session.net.action_values(game.start()).max()
    assert moves[0][1] == pytest.approx(best, abs=1e-6)


def test_what_losers_and_winners_expect_are_variants_of_the_value():
    game = games.load("tictactoe")
    rows = Endings(games=5)(game, Network(game, [[0]]), seed=2)
    variants = [(row["measure"], row["variant"]) for row in rows if "variant" in row]
    assert variants == [("value", "lost"), ("value", "won")]


# Hex, first moves


def test_won_starts_take_the_given_side():
    first = {actions[0] for actions in HEX_STARTS[1:]}  # half of the board stands for all of it
    assert len(HEX_STARTS) == 22 and first | {35 - cell for cell in first} == set(range(36))
    seats = []

    class Recorder(players.Random):
        def new_match(self, game, actions_from_start, seat, seed):
            seats.append((tuple(actions_from_start), seat))
            super().new_match(game, actions_from_start, seat, seed)

    won = WonStarts("Max-N-9", lambda: players.MaxN(9), (((), 0), ((4,), 0), ((0,), 1)), episodes=2)
    rate, score = won(hex3, Recorder(), seed=1)
    assert seats == [((), 0)] * 2 + [((4,), 0)] * 2 + [((0,), 1)] * 2
    columns = {"opponent": "Max-N-9", "variant": "won starts"}
    assert score == {"measure": "score", **columns, "value": score["value"]}
    expected = pytest.approx(50 * (1 + score["value"]))
    assert rate == {"measure": "win_rate", **columns, "value": expected}
    assert won(hex3, players.MaxN(9), seed=1)[0]["value"] == 100.0


def test_first_moves_share_equal_values():
    game = games.load("tictactoe")
    net = table.QTable(game)
    net.put(game.start(), 4, 0.5)
    net.put(game.start(), 0, 0.5)
    *moves, lead = FirstMoves()(game, net)
    found = {row["move"]: row["value"] for row in moves}
    names = [game.action_name(game.start(), action) for action in (4, 0, 1)]
    assert [found[name] for name in names] == [50.0, 50.0, 0.0]
    assert lead == {"measure": "first_move_lead", "value": 0.0}


# 2048


@pytest.mark.parametrize("raw", [False, True])
def test_one_game_step_by_step(raw):
    ours = games.load("game2048", raw_score=raw)
    net = Network(ours, [[0, 1, 4], [5, 6, 9]], sigmoid=False)
    random = np.random.default_rng(0).normal(size=len(net.arrays.weights))
    net.arrays.weights[:] = random.astype(np.float32) * (1e3 if raw else 1e-3)
    s, found = np.zeros(3, np.int32), np.zeros(3)
    work = np.zeros(4, np.int32), np.zeros(4), new_rng(5), net._work
    play_greedily(ours.rules, net.arrays, s, *work, found)
    t, rng, seen = np.zeros(3, np.int32), new_rng(5), []
    calls.call_start(ours.rules, t, rng)
    while not ours.over(t):
        merits = net.action_values(t)
        place = best_of(merits, len(merits), rng)
        assert merits[place] == merits.max()
        t = ours.play(t, int(ours.legal(t)[place]))
        seen.append(net.value(t, 0))
        t = ours.chance(t, rng)
    assert np.array_equal(s, t)
    assert found.tolist() == pytest.approx([len(seen), sum(seen), seen[-1]])


def test_measures_and_units():
    plain, raw = (games.load("game2048", raw_score=raw) for raw in (False, True))
    for ours in (plain, raw):
        net = Network(ours, [[0]], sigmoid=False, distinct_symmetries=False)
        net.arrays.weights[:] = ours.score_range[1] / 4 / 8  # one corner cell on eight boards
        rows = Scores2048(games=10)(ours, net, seed=1)
        found = {row["measure"]: row["value"] for row in rows if "tile" not in row}
        expected = pytest.approx(game2048.MAX_SCORE / 4, rel=1e-5)
        assert found["end_value"] == expected and found["mean_value"] == expected
        reached = [row["value"] for row in rows if row["measure"] == "reached"]
        assert [row["tile"] for row in rows if "tile" in row] == list(TILES)
        assert reached == sorted(reached, reverse=True)  # who has a tile has had the smaller ones


@pytest.mark.slow
def test_a_search_of_one_ply_plays_the_games_of_the_network_alone_and_deeper_ones_go_further():
    ours = games.load("game2048", raw_score=True, all_tiles=True)
    net = Network(ours, [[0, 1], [0, 4]], sigmoid=False)
    alone = {row["measure"]: row["value"] for row in Scores2048(games=6)(ours, net, seed=2)}
    scores = []
    for depth in (1, 3):
        rows = Searched2048(games=6, depth=depth)(ours, net, seed=2)
        found = {row["measure"]: row["value"] for row in rows if "tile" not in row}
        assert {row["depth"] for row in rows} == {depth} and 0 < found["score_sd"] < found["score"]
        scores.append(found["score"])
    assert scores[0] == alone["score"] < 0.8 * scores[1]


@pytest.mark.slow
def test_variants_end_as_their_names_say_and_have_a_version():
    base = games.load("connect4"), games.load("othello")
    found = {}
    for title, game in sarsa_study.variants(*base).items():
        assert str(games.check(game, seed=1)).splitlines()[0].endswith("conforms")
        assert "content" not in game.identity  # its key does not depend on the text of its rules
        rows = Endings(games=20, epsilon=1.0)(game, Network(game, [[0]]), seed=1)
        found[title] = by_measure(rows)
    assert found[sarsa_study.LOSER_AGAIN]["losses heard"] == 100.0
    assert found[sarsa_study.WINNER_LAST]["wins heard"] == 100.0
    assert found[sarsa_study.NO_PASSES]["passes"] == 0.0


def test_what_one_player_expects_of_random_play_fixes_the_other_only_of_two():
    two = sarsa_study.random_play(games.load("nim", heaps=2, stones=2))
    assert len(two) and np.allclose(two.sum(axis=1), 0.0)
    three = sarsa_study.random_play(games.load("nim3p", heaps=2, stones=2))
    assert abs(three.sum(axis=1)).max() > 0.1
