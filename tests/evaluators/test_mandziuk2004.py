"""[mandziuk2004]: features and alpha-beta equal plain Python, endgames as solved, tables."""

import copy
import math
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from afterply import games
from afterply.files import read_npz
from afterply.kernel.random import new_rng
from afterply.stats import mean_interval
from afterply.studies.papers.mandziuk2004 import giveaway_points as tables
from afterply.studies.papers.mandziuk2004 import linear, linear_search, td_search
from afterply.studies.results import key
from many import one_in
from oracles import reference_checkers as reference

game = games.load("giveaway")
any_pieces = copy.copy(game)  # also as no game has them, and without a history
any_pieces.fault = None
SIDES = "wb"


def marks(s):
    """The board of a state as the reference writes it."""
    white, black, kings = (int(word) & 0xFFFFFFFF for word in s[:3])
    found = ["w" if white >> q & 1 else "b" if black >> q & 1 else "." for q in range(32)]
    return "".join(mark.upper() if kings >> q & 1 else mark for q, mark in enumerate(found))


def state_of(board, side):
    """A state of the game, for a board of the reference."""
    s = np.zeros(game.size, np.int32)
    bits = [sum(1 << q for q in range(32) if board[q] in kinds) for kinds in ("wW", "bB", "WB")]
    s[:3] = np.array(bits, np.uint32).view(np.int32)
    s[3] = SIDES.index(side)
    return s


def random_positions(num, seed, rules=game):
    """Running positions of all ages, some between two jumps, also with few pieces and kings."""
    random = np.random.default_rng(seed)
    while num > 0:
        s, plies = rules.start(), int(random.integers(80))
        for _ in range(plies):
            if not rules.over(s):
                s = rules.play(s, random.choice(rules.legal(s)))
        if not rules.over(s):
            num -= 1
            yield s


def random_boards(num, seed):
    """Boards with any numbers of men and kings, such as no game has."""
    random = np.random.default_rng(seed)
    for _ in range(num):
        share = random.uniform(0.05, 0.45) * np.array([1, random.uniform(0, 1)])
        chances = [*share, *share, 1 - 2 * share.sum()] if share.sum() < 0.5 else [0.2] * 5
        board = random.choice(list("wWbB."), 32, p=np.array(chances) / np.sum(chances))
        board[:4][board[:4] == "w"], board[28:][board[28:] == "b"] = "W", "B"
        yield "".join(board)


@pytest.mark.parametrize("kind", one_in(3, linear.FEATURE_SETS))
def test_features_equal_plain_python(kind):
    net, seen = linear.Linear(any_pieces, kind), np.zeros(22, bool)
    boards = [marks(s) for s in random_positions(150, seed=1)] + list(random_boards(500, seed=2))
    for board in boards:
        for owner, side in enumerate(SIDES):
            phi = net.phi(state_of(board, "w"), owner)
            assert phi.tolist() == list(reference.features(board, side, kind)), board
            seen |= phi != 0
    assert seen.all()


def test_value_is_bounded_and_exact_at_the_end():
    net = linear.Linear(game, weights=[1.0] + [0.0] * 21)
    s = game.parse("W:W21,22:B1")
    assert net.value(s, 0) == pytest.approx(99 * math.tanh(0.027), abs=1e-12)
    assert net.value(s, 1) == -net.value(s, 0)
    assert linear.Linear(game, weights=[1e6] + [0.0] * 21).value(s, 0) == 99.0
    lost = game.parse("B:WK1:B")
    assert net.value(lost, 1) == 100 and net.value(lost, 0) == -100
    net.weights[:] = linear_search.random_weights(1, "values")[0]
    for s in random_positions(40, seed=4):
        values = [net.value(game.play(s, a), game.player(s)) for a in game.legal(s)]
        assert net.action_values(s).tolist() == values
    assert len(net.action_values(game.parse("W:W:BK1"))) == 0


@pytest.mark.parametrize(
    "kind, depth, quiescence, name, positions",
    [
        ("F22", 2, False, "giveaway", 15),
        pytest.param("F22", 3, False, "giveaway", 300, marks=pytest.mark.slow),
        pytest.param("F22", 2, True, "giveaway", 60, marks=pytest.mark.slow),
        pytest.param("V1", 2, False, "giveaway", 60, marks=pytest.mark.slow),
        pytest.param("V2", 2, False, "checkers", 60, marks=pytest.mark.slow),
    ],
)
def test_alpha_beta_equals_plain_python(kind, depth, quiescence, name, positions):
    """Value, move and leaf for weights of random, whole or no value; many values are equal."""
    rules, random, ties = games.load(name), np.random.default_rng(6), 0
    for number, s in enumerate(random_positions(positions, 6, rules)):
        net, owner = linear.Linear(rules, kind, 0, depth, quiescence), number // 20 % 2
        whole = random.integers(-1, 2, 22) * (number % 20 > 0)
        net.weights[:] = random.uniform(-10, 10, 22) if number % 2 else whole
        player, weights, how = linear_search.Player(net), net.weights.tolist(), (SIDES[owner], kind)

        def leaves(board, weights=weights, how=how):
            return reference.activation(weights, reference.features(board, *how))

        jumper = (int(s[3]) >> 1 & 63) - 1
        rest = depth, None if jumper < 0 else jumper, quiescence, name == "giveaway"
        sides = SIDES[rules.player(s)], SIDES[owner]
        value, actions, leaf = reference.minimax(marks(s), *sides, leaves, *rest)
        found, action = player.best(s, owner)
        exactly = player.tree.window[0, linear_search.BEST]
        assert (exactly, action) == (value, actions[0]), rules.render(s)
        assert found == pytest.approx(reference.value_of(value), abs=1e-12)
        end = player.tree.node[0, linear_search.LEAF_WHITE :].astype(np.uint32)
        assert marks(end.view(np.int32)) == leaf
        values, (best, action) = player.values(s), player.best(s)
        assert values[rules.legal(s).tolist().index(action)] == best == values.max()
        ties += len(set(values)) < len(rules.legal(s))
    assert ties > positions / 20


@pytest.mark.slow
def test_random_ties_are_among_the_best_and_follow_the_seed():
    net, s = linear.Linear(game), game.start()  # zeros: all moves are equal
    tree, way = linear_search.searching(net, linear_search.RANDOM)

    def chosen(seed, num=300):
        rng, found = new_rng(seed), []
        for _ in range(num):
            linear_search.search(tree, way, net.weights, 0, s, rng)
            found.append(int(tree.found[linear_search.CHOSEN]))
        return found

    assert chosen(1) == chosen(1) != chosen(2)
    counts = [chosen(3, 2100).count(a) for a in game.legal(s)]
    assert sum(counts) == 2100 and max(abs(c - 300) for c in counts) < 80
    net.weights[:] = linear_search.random_weights(1, "ties")[0]
    for s in random_positions(40, seed=9):
        values, action = linear_search.Player(net).values(s), chosen(4, 1)[0]
        assert values[game.legal(s).tolist().index(action)] == values.max()


@pytest.mark.slow
def test_a_search_as_deep_as_an_end_is_away_finds_it_and_no_other():
    depth, found = 8, 0
    player = linear_search.Player(linear.Linear(any_pieces, depth=depth))
    positions = list(reference.endgames((1, 1)))
    value = reference.solve(positions)
    for board, side in positions:
        outcome, distance = value.get((board, side), (0, 0))
        if distance or not outcome:
            v, _ = player.best(state_of(board, side))
            assert v == (100 * outcome if distance <= depth else 0), (board, side)
            found += v != 0
    assert found > 3000 and max(distance for _, distance in value.values()) > depth


def test_matches_equal_games_played_by_players():
    vectors = linear_search.random_weights(7, "matches")
    for seat in (0, 1):
        net = linear.Linear(game, depth=2, seat=seat, weights=vectors[0])
        results = linear_search.matches(net, vectors[1:])
        for k, opponent in enumerate(vectors[1:]):
            both = [linear_search.Player(net.with_weights(w)) for w in (net.weights, opponent)]
            s = game.start()
            while not game.over(s):
                s = game.play(s, both[0 if game.player(s) == seat else 1].choose(s))
            assert results[k] == 1 + game.score(s)[seat]


# Tables and comparisons, and the learners that a study keeps

LL, LB = "LL, strong opponents", "LB, strong opponents"
TRAINING = {"measure": "points", "variant": "training"}
FIRST = TRAINING | {"after": 2500}


def results(values, variant="training"):
    """A study's table of points, {(arm, run, after): value}, of trainings of 5,000 games."""
    rows = [
        ("s", arm, run, 5000, "points", variant, after, v)
        for (arm, run, after), v in values.items()
    ]
    columns = ["study", "arm", "run", "episode", "measure", "variant", "after", "value"]
    return pd.DataFrame(rows, columns=columns)


def study(runs=20):
    """LL above LB by 1 in the first repetition and by 3 in the second, in both blocks."""
    values = {}
    for run in range(runs):
        for block, after in enumerate((2500, 5000)):
            values[LB, run, after] = 50.0 + run + block
            values[LL, run, after] = values[LB, run, after] + (1.0 if run < 10 else 3.0)
    return results(values)


def test_a_part_of_table_1_has_paper_mean_interval_and_spread():
    printed = {(LL, key(FIRST)): "61.8%"}
    made = tables.phase_table(study(), "strong", "training", ("LL", "LB", "3L"), printed)
    assert list(made.index) == [2500, 5000]
    assert {method for method, _ in made.columns} == {"LL", "LB"}
    lb, first = [50.0 + run for run in range(20)], made.loc[2500]
    assert (first["LL", "paper"], first["LB", "paper"]) == ("61.8%", "-")
    assert tuple(first["LB"][["mean", "low", "high"]]) == pytest.approx(mean_interval(lb))
    assert first["LB", "sd"] == pytest.approx(np.std(lb, ddof=1)) and first["LB", "learners"] == 20
    several = results({(LL, 0, n): 1.0 for n in (10000, 7500)}, "test")
    made = tables.phase_table(several, "strong", "test", ("LL",), {})
    assert list(made.index) == [7500, 10000] and np.isnan(made["LL", "low"]).all()
    assert tables.phase_table(several, "strong", "training", ("LL",), {}).empty


def test_learners_are_paired_and_repetitions_are_means_of_whole_groups():
    table = study()
    assert tables.paired(table, LL, LB, TRAINING).tolist() == [1.0] * 10 + [3.0] * 10
    assert tables.paired(table, LL, LB, FIRST, "repetitions").to_dict() == {0: 1.0, 1: 3.0}
    # one learner of an arm is not tested in one block, and then none is
    partly = table[~((table.arm == LB) & (table.run == 13) & (table.after == 2500))]
    assert tables.paired(partly, LL, LB, TRAINING).index.tolist() == [*range(13), *range(14, 20)]
    assert tables.paired(partly, LL, LB, TRAINING, "repetitions").to_dict() == {0: 1.0}
    half = table[(table.arm == LL) | (table.after == 2500)]
    assert tables.paired(half, LL, LB, TRAINING).empty
    pairs = {"x": (LL, LB, TRAINING), "none": (LL, "3L", TRAINING)}
    learners, repetitions = tables.comparison(table, pairs).to_dict("records")
    assert (learners["values"], repetitions["values"], learners["mean"]) == (20, 2, 2.0)
    assert learners["low"] == pytest.approx(mean_interval([1.0] * 10 + [3.0] * 10).low)
    single = tables.comparison(study(10), {"one": (LL, LB, TRAINING)}, ("repetitions",))
    assert len(single) == 1 and np.isnan(single.low[0])


def test_what_is_lost_without_a_feature_is_paired_by_learner():
    rows = [("a", run, 100, "points", k, 60.0 - run - k) for run in (0, 1) for k in (0, 2, 12)]
    table = pd.DataFrame(rows, columns=["arm", "run", "episode", "measure", "without", "value"])
    table["without"] = table["without"].replace(0, np.nan)
    lost = tables.played_without(table, "a")
    assert lost.comparison.tolist() == [f"without {linear.F22_NAMES[k - 1]}" for k in (2, 12)]
    assert lost["mean"].tolist() == [-2.0, -12.0] and lost["values"].tolist() == [2, 2]


def test_finished_learners_are_kept_and_more_are_added(tmp_path, monkeypatch):
    monkeypatch.setenv("AFTERPLY_DATA", str(tmp_path))
    session = td_search.Session(game, {"depth": 1})
    drawn = {m: list(linear_search.random_weights(30, "kept", m)) for m in ("LL", "LB")}
    other = {m: [-w for w in rows] for m, rows in drawn.items()}

    def run(weights):
        record = None if weights is None else {"statistics": {"weights": weights.tolist()}}
        return SimpleNamespace(records={"key": record}, job=SimpleNamespace(key="key"))

    def keep(vectors, quick=False, computes=False):
        arms = {m: list(map(run, rows)) for m, rows in vectors.items()}
        made = SimpleNamespace(arms=arms, quick=quick, computes=computes)
        return tables.keep_weights(made, "learners.npz", session, {m: m for m in vectors})

    assert keep({"LL": drawn["LL"][:9], "LB": drawn["LB"]}) == 0
    assert not (tmp_path / "learners.npz").exists()
    assert keep({"LL": drawn["LL"], "LB": [*drawn["LB"][:15], None, *drawn["LB"][16:]]}) == 10
    assert keep({m: rows[:10] for m, rows in other.items()}) == 10  # as they were
    assert keep({m: rows[:20] for m, rows in other.items()}) == 20
    for method, rows in read_npz(tmp_path / "learners.npz")[1].items():
        assert np.array_equal(rows, np.array([*drawn[method][:10], *other[method][10:20]]))
    assert keep({m: rows[:10] for m, rows in other.items()}, quick=True) == 10
    kept = read_npz(tmp_path / "learners.npz")[1]["LL"]
    assert np.array_equal(kept, np.array(other["LL"][:10]))
    assert (
        keep({"LL": [None] * 29, "LB": [None] * 30}, computes=True) == 20
    )  # which it makes itself
    assert len(read_npz(tmp_path / "learners.npz")[1]["LL"]) == 10


def test_an_own_arm_among_the_histories_has_a_name_its_runs_and_its_interval():
    values = {("LL", ""): [60.0, 70.0, 80.0, 90.0], ("mine", "LL"): [40.0, 50.0, 66.0]}
    rows = [
        (arm, run, episode, "points", value, like)
        for (arm, like), own in values.items()
        for run, value in enumerate(own)
        for episode in (25, 50)
    ]
    table = pd.DataFrame(rows, columns=["arm", "run", "episode", "measure", "value", "like"])
    figure, data = tables.draw_histories(table, ["LL"], "points")
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [
        "8 of 10 learners",
        "best learner",
        "mean of all learners",
        "mine (3 runs), mean and 95% interval",
    ]
    own = data[data.arm == "mine"].set_index("episode").loc[25, ["mean", "low", "high"]]
    assert own.tolist() == pytest.approx(list(mean_interval(values["mine", "LL"])))
    alone, _ = tables.draw_histories(table[table.like == ""], ["LL"], "points")
    assert len(alone.legends[0].get_texts()) == 3
