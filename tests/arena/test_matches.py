"""Matches and tournaments: seats, starts, seeds, failures, resuming; exact probabilities."""

import numpy as np
import pandas as pd
import pytest

from afterply import arena, games, players
from afterply.arena import ratings
from afterply.arena.matches import play_on
from afterply.arena.tournament import Standings
from afterply.kernel.random import new_rng
from afterply.learners import td
from afterply.networks import ntuple
from afterply.opponents import gtp
from afterply.players import Wrapped, agents
from afterply.players.basic import Random
from afterply.players.searching import MaxN

game = games.load("tictactoe")


class Recorder:
    """Plays the first legal action, keeps what it hears, and spoils states."""

    def new_match(self, game, actions_from_start, seat, seed):
        self.game, self.heard = game, [("new", actions_from_start, seat)]

    def choose(self, state):
        action = self.game.legal(state)[0]
        state[:] = 0
        return action

    def observe(self, action, state):
        self.heard.append((action, state.tolist()))

    def close(self):
        self.heard.append("closed")


def first(state):
    """A player that takes the first legal action."""
    return game.legal(state)[0]


def test_players_hear_of_everything():
    recorder, start = Recorder(), arena.Start(game.after([8]), [8])
    result = arena.match(game, [first, recorder], start)
    end = game.after([8, *result.moves])
    assert game.over(end) and np.array_equal(result.states[-1], end)
    assert recorder.heard[0] == ("new", [8], 1) and recorder.heard[-1] == "closed"
    assert [action for action, _ in recorder.heard[1:-1]] == result.moves
    assert [s for _, s in recorder.heard[1:-1]] == [s.tolist() for s in result.states[1:]]


@pytest.mark.parametrize("name", ["nim3p", "othello", "game2048", "kalah"])
def test_a_player_sees_the_legal_actions_of_a_game_that_nobody_plays(name):
    game, untouched = games.load(name), games.load(name)

    def choose(state):
        legal = untouched.legal(state)
        assert game.legal(state).tolist() == legal.tolist() and game.over(state) == (not len(legal))
        return legal[0]

    played = arena.match(game, [choose] * game.players, seed=3, max_plies=100_000)
    assert len(played.moves) > 5


def test_play_can_be_broken_off_and_go_on():
    two = games.load("game2048")
    player, begin, rng = Random(), two.start(3), new_rng(5)
    with pytest.raises(RuntimeError, match="within 3 plies"):
        arena.match(two, [player], max_plies=3)
    player.new_match(two, [], 0, 1)
    state, steps = play_on(two, [player], begin, rng, 4)
    assert len(steps) == 4 and np.array_equal(steps[-1][1], state)
    state, more = play_on(two, [player], state, rng)
    player.new_match(two, [], 0, 1)
    end, whole = play_on(two, [player], begin, new_rng(5))
    assert two.over(state) and np.array_equal(end, state)
    assert [action for action, _ in whole] == [action for action, _ in [*steps, *more]]


def test_rows_do_not_depend_on_other_players_starts_or_episodes():
    starts, field = arena.starts_all(game, 1), {"a": Random(), "b": MaxN(2), "c": first}
    large = arena.matches(game, field, starts, episodes=2, seed=1)
    small = arena.matches(game, {"b": MaxN(2), "a": Random()}, starts[:3], seed=1)
    for _, rows in small.groupby("match"):
        same = large[(large.start == rows.start.iloc[0]) & (large.episode == 0)]
        names = rows.player.tolist()
        twin = next(g for _, g in same.groupby("match") if g.player.tolist() == names)
        assert twin.score.tolist() == rows.score.tolist()
        assert twin.moves.tolist() == rows.moves.tolist()


@pytest.mark.parametrize("other", [4 + 2**64, -4, 4 - 2**64, -4 - 2**64])
def test_matches_of_different_seeds_are_different(other):
    def moves(seed):
        return [arena.match(game, [Random(), Random()], seed=seed + k).moves for k in range(5)]

    assert moves(4) == moves(4) != moves(other)


def test_seatings():
    three = games.load("nim3p")
    assert arena.seatings(game, ["A", "B"]) == [("A", "B"), ("B", "A")]
    assert arena.seatings(game, ["A", "B"], [("A", "A")]) == [("A", "A")]
    assert arena.seatings(three, ["A"]) == [("A", "A", "A")]
    found = [(game, "ABCD"), (three, "AB"), (three, "ABC"), (three, "ABCD")]
    assert [len(set(arena.seatings(g, list(names)))) for g, names in found] == [12, 6, 6, 24]
    seats = arena.seatings(three, ["A", "B", "C"], "first")
    assert seats == [("A", "B", "C"), ("B", "A", "C"), ("B", "C", "A")]


def test_a_failing_player_costs_its_match_only(caplog):
    def sometimes(state):
        if 8 not in game.legal(state):
            raise RuntimeError("no idea")
        return first(state)

    both, starts = {"sometimes": sometimes, "first": first}, arena.starts_all(game, 1)
    table = arena.matches(game, both, starts, seed=2)
    failed = table[table.error != ""]
    num = failed.match.nunique()
    assert 0 < num < 18 and len(failed) == 2 * num and failed.score.isna().all()
    assert failed.error.str.contains("RuntimeError: no idea; raised by sometimes in seat").all()
    assert len(caplog.records) == num
    summary = arena.summary(table)
    assert arena.win_rate([1, 0, -1, 1]) == 0.625
    with pytest.raises(ValueError, match=f"{2 * num} of 36 scores are missing.* matches failed"):
        arena.win_rate(table.score)
    assert (summary["matches"] == 18 - num).all() and (summary["errors"] == num).all()
    with pytest.raises(RuntimeError, match=f"{num} of 18 matches failed; the first: .*no idea"):
        arena.matches(game, both, starts, seed=2, strict=True)


@pytest.mark.slow
def test_starts():
    assert [len(arena.starts_all(game, k)) for k in (0, 1, 2, 3)] == [1, 9, 72, 504]
    assert len(arena.starts_upto(game, 1)) == 10
    short = games.load("nim", heaps=1, stones=2)
    assert arena.starts_all(short, 2**31 - 1) == []  # no position is left after two plies
    assert len(arena.starts_upto(short, 2**31 - 1)) == 2
    assert len(arena.starts_all(game, 5)) == 15120 - 1440  # without the games that X has won
    drawn = arena.starts_random(game, 400, 3)
    for state, actions in arena.starts_all(game, 2) + drawn[:20]:
        assert np.array_equal(game.after(actions), state)
    assert [s.actions for s in drawn] == [s.actions for s in arena.starts_random(game, 400, 3)]
    assert 160 < sum(s.actions == [] for s in drawn) < 240
    assert {len(s.actions) for s in drawn} == {0, 1}


@pytest.mark.slow
def test_random_players_win_as_often_as_can_be_computed():
    n, both = 2000, {"x": Random(), "o": Random()}
    table = arena.matches(game, both, episodes=n, seed=6, seats=[("x", "o")])
    scores = table[table.seat == 0].score
    for got, p in (((scores == 1).mean(), 737 / 1260), ((scores == -1).mean(), 121 / 420)):
        assert abs(got - p) <= 4.0 * np.sqrt(p * (1 - p) / n)


nim = games.load("nim")


@pytest.fixture
def pool():
    return {"Max-N": MaxN(15), "Random": Random(), "MCTS": players.MCTS(20)}


def standings(rows):
    """Those of matches in Tic-Tac-Toe: (player in seat 0, in seat 1, score of seat 0)."""
    columns = ["match", "start", "episode", "seat", "player", "score", "plies", "error", "moves"]
    found = []
    for k, (a, b, score) in enumerate(rows):
        found += [(k, 0, 0, 0, a, score, 1, "", str(k)), (k, 0, 0, 1, b, -score, 1, "", str(k))]
    return Standings(game, pd.DataFrame(found, columns=columns))


@pytest.mark.slow
def test_the_matches_are_those_of_arena_matches_whatever_the_workers(pool):
    table = arena.tournament(nim, pool, episodes=3, seed=5)
    alone = arena.matches(nim, pool, episodes=3, seed=5)
    pd.testing.assert_frame_equal(table.table, alone)
    assert len(set(alone.moves)) > 5 and alone.score.notna().all()
    two = arena.tournament(nim, pool, episodes=3, seed=5, workers=2)
    pd.testing.assert_frame_equal(two.table, alone)


def test_a_stopped_tournament_goes_on_where_it_was(pool, tmp_path):
    path, asked = tmp_path / "nim.jsonl", []

    def counting(state):
        asked.append(1)
        return nim.legal(state)[0]

    pool["first"] = counting
    whole = arena.tournament(nim, pool, episodes=2, path=path)
    lines = path.read_text().splitlines()
    assert len(lines) == 1 + 24 and len(asked) > 20
    # the process ended in the middle of the eleventh match's line
    path.write_text("\n".join(lines[:11]) + "\n" + lines[11][:7])
    before, asked[:] = len(asked), []
    resumed = arena.tournament(nim, pool, episodes=2, path=path)
    pd.testing.assert_frame_equal(resumed.table, whole.table)
    assert 0 < len(asked) < before and len(path.read_text().splitlines()) == 25


def test_a_file_of_other_matches_is_refused(pool, tmp_path):
    path = tmp_path / "nim.jsonl"
    pool["net"] = session = td.Session(nim, tuples="nim-1x3", seed=1)
    arena.matches(nim, pool, path=path)

    def refused(others, seed=0):
        with pytest.raises(ValueError, match="nim.jsonl is no file of these matches"):
            arena.matches(nim, others, seed=seed, path=path)

    refused(pool, seed=1)
    refused(pool | {"MCTS": players.MCTS(30)})
    session.train(50)  # weights tell players of the same name apart
    refused(pool)
    path.write_text("something else")
    refused(pool)
    assert path.read_text() == "something else"


class Careful:
    """A home-made player, which remembers its match."""

    def __init__(self, depth=2):
        self.depth = depth

    def new_match(self, game, actions_from_start, seat, seed):
        self.game, self.moves = game, 0

    def choose(self, state):
        self.moves += 1
        return int(nim.legal(state)[-1])


class Careless(Careful):
    def choose(self, state):
        return int(nim.legal(state)[0])


def constant(number):
    return lambda state: np.full(len(nim.legal(state)), number)


def mine(number, **attributes):
    def found(state):
        return int(nim.legal(state)[number])

    vars(found).update(attributes)
    return found


def engine(option):
    return gtp.Player(["an-engine", option], "engine")


def net(sigmoid=True):
    return ntuple.Network(nim, [[0]], sigmoid=sigmoid)


CHANGED = {
    "code": (Careful(), Careless()),
    "attribute": (Careful(), Careful(3)),
    "function": (mine(0), mine(-1)),
    "function's attribute": (mine(0, level=1), mine(0, level=2)),
    "wrapped function": [Wrapped(constant(x), iterations=3, game=nim) for x in (0.0, 0.5)],
    "wrapped network": [Wrapped(net(), iterations=3), Wrapped(net(), iterations=3, c_puct=2.0)],
    "engine": (engine("-a"), engine("-b")),
    "depth": [agents.min_max(nim, "first", depth) for depth in (1, 2)],
    "network": (net(), net(sigmoid=False)),
    "parameter": (players.MCTS(20), players.MCTS(20, k=1.0)),
}


@pytest.mark.parametrize("one, other", CHANGED.values(), ids=CHANGED)
def test_a_file_tells_players_apart_by_what_they_do(one, other, tmp_path):
    def table(player):
        path, both = tmp_path / "nim.jsonl", {"one": player, "Random": Random()}
        return arena.matches(nim, both, path=path)

    pd.testing.assert_frame_equal(table(one), table(one))  # although it has played meanwhile
    with pytest.raises(ValueError, match="no file of these matches"):
        table(other)


def test_a_player_whose_content_cannot_be_known_states_a_version(tmp_path):
    odd, path = Careful(depth=(k for k in range(3))), tmp_path / "nim.jsonl"
    with pytest.raises(ValueError, match="needs a version.*set its attribute version"):
        arena.matches(nim, {"odd": odd}, path=path)
    odd.version = 1
    assert len(arena.matches(nim, {"odd": odd}, path=path)) == 2


@pytest.mark.parametrize("old, new", [("[1.0, -1.0]", "[-1.0, 1.0]"), ("[0, ", "[7, "), (", ", "")])
def test_an_edited_line_is_refused(old, new, tmp_path):
    path, two = tmp_path / "matches.jsonl", {"a": Random(), "b": Random()}
    table = arena.matches(nim, two, episodes=4, path=path)
    head, *lines = path.read_text().splitlines(keepends=True)
    place, line = next((k, line) for k, line in enumerate(lines) if old in line)
    pd.testing.assert_frame_equal(arena.matches(nim, two, episodes=4, path=path), table)
    path.write_text(head + "".join(lines[:place]) + line.replace(old, new, 1))
    with pytest.raises(ValueError, match=f"line {place + 2} of .*matches.jsonl is no match"):
        arena.matches(nim, two, episodes=4, path=path)


@pytest.mark.slow
def test_cross_table_draws_ratings_and_cycles_follow_from_the_scores():
    rows = [("a", "b", 1.0)] * 3 + [("b", "a", 0.0)] * 2 + [("a", "c", -1.0)] + [("c", "b", 1.0)]
    table = standings(rows)
    assert table.cross.loc["a", "b"] == pytest.approx(100 * 4 / 5)
    assert table.cross.loc["b", "a"] == pytest.approx(100 * 1 / 5)
    assert np.isnan(table.cross.loc["a", "a"])
    assert table.ratings.set_index("player").draws["a"] == pytest.approx(100 * 2 / 6)
    found = table.results.set_index(["first", "second"])
    expected = {("a", "b"): [3, 0, 0], ("b", "a"): [0, 2, 0], ("a", "c"): [0, 0, 1]}
    assert {pair: found.loc[pair].tolist() for pair in expected} == expected
    by_hand = ratings.ratings(table.results)
    pd.testing.assert_frame_equal(table.ratings[by_hand.columns], by_hand)
    pd.testing.assert_frame_equal(ratings.ratings(table.table), by_hand)
    assert list(table.ratings.player)[0] == "c" and list(table.cross) == list(table.ratings.player)
    table = standings([(*pair, 1.0) for pair in ("ab", "bc", "ca")] * 20)
    assert table.cycles == [("a", "b", "c")] and "no single scale" in table.remarks[0]


def test_remarks_on_many_players_have_an_end():
    """Of 200 players 30,000 triples may be cycles, and four megabytes of text no remark."""
    circle = [(f"p{k}", f"p{(k + step) % 15}", 1.0) for k in range(15) for step in range(1, 8)]
    table = Standings(game, standings(circle * 3).table.assign(moves="1"))
    named = [remark for remark in table.remarks if "no single scale" in remark]
    assert len(table.cycles) == 140  # n (n^2 - 1) / 24, the most of 15 players
    assert f"{140 - len(named)} more triples" in table.remarks[len(named)]
    (doubtful,) = [remark for remark in table.remarks if "Few games" in remark]
    assert f"and {105 - doubtful.count('(33%)')} more" in doubtful
    assert len(" ".join(table.remarks)) < 5000


@pytest.mark.slow
def test_players_without_chance_repeat_one_game_and_it_is_said():
    pool = {"first": players.MinMax(9), "second": players.MinMax(2), "Random": Random()}
    table = arena.tournament(game, pool, episodes=5)
    assert table.different.loc["first", "second"] == pytest.approx(20)  # one for each seating
    assert table.different.loc["first", "Random"] > 50
    assert "first - second (20%)" in repr(table) and "first - second" in table._repr_html_()
    labels = table.plot().get_yticklabels()
    assert [label.get_text() for label in labels] == list(table.ratings.player)


@pytest.mark.slow
def test_three_seats_are_compared_two_by_two():
    pool = {"Max-N": MaxN(15), "a": Random(), "b": Random()}
    table = arena.tournament(games.load("nim3p"), pool, episodes=4)
    assert table.table.match.nunique() == 24 and len(table.results) == 6
    assert table.results[["wins", "draws", "losses"]].to_numpy().sum() == 3 * 24
    assert table.ratings.player[0] == "Max-N" and "not independent" in table.remarks[-1]


def test_failed_matches_do_not_count_and_what_is_no_tournament_is_refused(pool):
    def broken(state):
        raise RuntimeError("out of order")

    table = arena.tournament(nim, pool | {"broken": broken}, episodes=1)
    assert set(table.ratings.player) == set(pool)
    assert "6 matches failed" in table.remarks[0] and "out of order" in table.remarks[0]
    for told in (repr(table), table._repr_html_(), table.plot().get_title()):
        assert "12 matches, 6 failed" in told
    for ask in (ratings.ratings, ratings.fit, ratings.cycles):
        with pytest.warns(UserWarning, match="6 of 12 matches failed and do not count"):
            ask(table.table)
    for name, given, words in (
        ("nim", {"broken": broken, "Random": Random()}, "out of order"),
        ("nim", {"Random": Random()}, "at least two"),
        ("game2048", pool, "one seat"),
    ):
        with pytest.raises(ValueError, match=words):
            arena.tournament(games.load(name), given, episodes=1)
