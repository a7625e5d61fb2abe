"""Ratings beside times: of one processor, the best within a limit, and direct games beside them."""

import numpy as np
import pandas as pd
import pytest

from afterply.studies.papers.scheiermann2022 import strength_per_second as strength
from afterply.studies.reports.times import on_one_processor

FAST, SLOW = "X (old)", "X (new)"
MOVES = {"alone": 0.1, "Wrapped-100": 1.0, "MCTS-100": 0.5, "Min-Max-2-first": 0.2}  # milliseconds


@pytest.fixture
def costs():
    """Runs of two trainings, of which the second was on another processor, and ten times slower."""
    rows = []
    for run, (machine, slow) in enumerate([(FAST, 1), (FAST, 1), (SLOW, 10)]):
        common = {"study": "s", "arm": "hex", "run": run, "machine": machine}
        rows.append(common | {"kind": "train", "evaluator": "", "cpu_seconds": 2.0 * slow})
        rows += [
            common
            | {"kind": "eval", "evaluator": f"moves of {who}", "moves": 1000}
            | {"cpu_seconds": each * slow}
            for who, each in MOVES.items()
        ]
    return pd.DataFrame(rows)


@pytest.fixture
def table():
    """Ratings of four players, and their direct games, of three trainings."""
    players = [{}, {"iterations": 100}, {"player": "MCTS", "iterations": 100}]
    players += [{"player": "Min-Max", "depth": 2}]
    common = {"study": "s", "episode": 9, "player": "", "opponent": ""}
    rows = [
        common | {"arm": "hex", "run": run, "measure": "rating", "value": rating + run} | who
        for run in range(3)
        for rating, who in zip((400.0, 800.0, 400.0, 100.0), players)
    ]
    met = common | {"arm": "hex, direct games", "measure": "win_rate", "opponent": "MCTS-100"}
    rows += [met | {"run": run, "iterations": 100, "value": 90.0 + run} for run in range(3)]
    return pd.DataFrame(rows)


def test_times_are_those_of_the_processor_with_most_records(costs):
    chosen, processor = on_one_processor(costs)
    assert processor == FAST and set(chosen["run"]) == {0, 1}
    assert on_one_processor(costs[:0])[1] == "none yet"


def test_each_rating_has_the_time_of_its_move_and_the_best_within_a_limit_is_named(table, costs):
    points = strength.timed_ratings(table, on_one_processor(costs)[0])
    moves = points.groupby("who")["move"].first()
    assert moves.to_dict() == pytest.approx(MOVES) and set(points["training"]) == {2.0}
    ways = dict(zip(points["who"], points["way"]))
    assert list(ways.values()) == list(strength.WAYS.values())
    assert strength.best_within(points, 0.05) is None
    best = strength.best_players(points, {"0.3 ms": 0.3, "1 ms": 1})
    assert best == {"hex, 0.3 ms": ("alone", 401.0), "hex, 1 ms": ("Wrapped-100", 801.0)}
    # of both processors nobody is within a millisecond with a search
    slower = strength.timed_ratings(table, costs)
    assert strength.best_players(slower, {"1 ms": 1})["hex, 1 ms"][0] != "Wrapped-100"


def test_direct_games_stand_beside_what_the_ratings_let_expect(table, costs):
    points, direct = strength.timed_ratings(table, costs), strength.direct_games(table)
    assert direct["value"].tolist() == [90.0, 91.0, 92.0]
    (row,) = strength.beside_ratings(direct, points).to_dict("records")
    assert (row["game"], row["player"], row["opponent"]) == ("hex", "Wrapped-100", "MCTS-100")
    # 400 points ahead is ten games won for one lost
    assert row["won"] == 91.0 and np.isclose(row["expected"], 1000 / 11)
    figure, data = strength.summary(points, direct, limit=0.5)
    assert set(data["panel"]) == {"rating (Elo), at most 0.5 ms a move", strength.WON}
    met = data[data["panel"] == strength.WON]
    assert met["series"].tolist() == ["search-100 against UCT-100"]
    _, data = strength.summary(points, direct[:0], limit=0.5)
    assert strength.WON not in set(data["panel"])


def test_a_line_joins_the_players_that_nobody_of_their_kind_beats_in_less_time():
    players = {"Min-Max-2": (0.11, 310.0), "Min-Max-4": (0.10, 420.0), "Min-Max-8": (0.15, 470.0)}
    rows = [
        ("nim", "nim", who, "Min-Max", run, move, rating + run)
        for who, (move, rating) in players.items()
        for run in range(3)
    ]
    points = pd.DataFrame(rows, columns=["arm", "game", "who", "way", "run", "move", "value"])
    figure, data = strength.thinking(points)
    assert list(data["line"]) == ["nim, Min-Max", "nim, Min-Max", "nim, Min-Max, beaten"]
    assert list(data["move"]) == [0.10, 0.15, 0.11]
    looks = [
        line.get_linestyle() for line in figure.axes[0].get_lines() if line.get_label()[0] != "_"
    ]
    assert looks[0] != "None" and looks[1] == "None" and len(looks) == 2
