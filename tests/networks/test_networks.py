"""N-tuple networks of V and Q against brute force, tables of Q, and their files against damage."""

import copy
import itertools
import math

import numpy as np
import pytest

from afterply import files, games
from afterply.games import conformance
from afterply.kernel.random import new_rng, random_int
from afterply.learners import td
from afterply.networks import ntuple, table
from afterply.networks.ntuple import make_tuples, random_walk

LINES = [[0, 1, 2], [3, 4, 5], [6, 7, 8], [0, 4, 8], [8, 4, 0]]


TICTACTOE, NIM = games.load("tictactoe"), games.load("nim")


def filled(game, tuples, seed=0, **options):
    """A network with random weights."""
    net = ntuple.Network(game, tuples, precision="float64", **options)
    net.weights[:] = np.random.default_rng(seed).normal(0.0, 0.2, net.weights.shape)
    return net


def random_cells(game, seed, n):
    return np.random.default_rng(seed).integers(0, game.num_codes, (n, game.cells)).astype(np.int32)


def brute_index(game, tuples, k, i, cells):
    """Place of a tuple on a board in a weight set: the tables before it, then the codes."""
    place = sum(math.prod(int(game.num_codes[c]) for c in before) for before in tuples[:i])
    unit = 1
    for c in tuples[i]:
        place += unit * int(cells[game.symmetries[k][c]])
        unit *= int(game.num_codes[c])
    return place


def board_state(cells):
    """A Tic-Tac-Toe state with these cells."""
    return np.append(cells, [0, 0]).astype(np.int32)


# boards with 1, 1, 4, 8, 2 and 1 different images
SYMMETRIC = ("111111111", "111121111", "211111111", "201111111", "211111112", "010121010")


@pytest.mark.parametrize("distinct", [True, False])
@pytest.mark.parametrize(
    "sigmoid, shared, num",
    [(True, False, 8), (False, False, 8), (True, True, 8), (False, False, 1)],
)
def test_value_is_the_sum_over_tuples_and_symmetric_boards(distinct, sigmoid, shared, num):
    any_marks = copy.copy(TICTACTOE)
    any_marks.fault = None
    how = dict(distinct_symmetries=distinct, sigmoid=sigmoid, shared_tables=shared)
    net, maps = filled(any_marks, LINES, symmetries=num > 1, **how), TICTACTOE.symmetries[:num]
    assert len(net.weights) == (1 if shared else 2)
    symmetric = [list(map(int, cells)) for cells in SYMMETRIC]
    boards = [*symmetric, *random_cells(TICTACTOE, 3, 30).tolist()]
    for cells, player in itertools.product(boards, (0, 1)):
        kept = {}
        for k, row in enumerate(maps):
            kept.setdefault(tuple(cells[c] for c in row) if distinct else k, k)
        places = itertools.product(kept.values(), range(len(LINES)))
        total = sum(
            net.weights[0 if shared else player, brute_index(TICTACTOE, net.tuples, k, i, cells)]
            for k, i in places
        )
        value = net.value(board_state(cells), player)
        assert value == pytest.approx(math.tanh(total) if sigmoid else total, abs=1e-12)
        images = [board_state([cells[c] for c in row]) for row in maps]
        assert [net.value(s, player) for s in images] == pytest.approx([value] * num, abs=1e-12)


def test_action_values_add_the_reward_and_count_no_value_at_the_end():
    net = filled(TICTACTOE, LINES)
    state = TICTACTOE.parse("x x . o o . . . .")
    values = net.action_values(state, gamma=0.5)
    for action, value in zip(TICTACTOE.legal(state), values):
        after = TICTACTOE.play(state, action)
        expected = 1.0 if action == 2 else 0.5 * net.value(after, 0)
        assert value == pytest.approx(expected, abs=1e-12)
    assert len(net.action_values(TICTACTOE.play(state, 2))) == 0


TURNED = [
    ("tictactoe", [range(9)]),
    ("connect4", [[0, 6, 12, 18], [18, 19, 20], [24, 30, 36]]),
    ("hex", [[0, 1, 2, 3], [5, 6, 7], [14, 15, 20, 21]]),
    ("othello", [[0, 1, 2, 3], [27, 28, 35]]),
    ("game2048", [[0, 1, 2], [5, 6]]),
]


@pytest.mark.parametrize("name, tuples", TURNED)
def test_values_of_a_turned_board_are_the_turned_values(name, tuples):
    """Also on boards that a symmetry maps to themselves, as the empty one."""
    game = games.load(name)
    net = filled(game, tuples, 2, per_action=True)
    starts, rng, compared = conformance.symmetric_starts(game), new_rng(7), 0
    for _ in range(3):
        images = dict(starts)
        while not game.over(images[0]) and compared < 400:
            values = dict(zip(game.legal(images[0]).tolist(), net.action_values(images[0])))
            for k, image in images.items():
                turned = dict(zip(game.legal(image).tolist(), net.action_values(image)))
                for a, value in values.items():
                    moved = turned[int(game.action_symmetries[k][a])]
                    assert moved == pytest.approx(value, abs=1e-12)
                    compared += k > 0
            moves = list(values)
            action = moves[random_int(rng, len(moves))]
            images = conformance.play_images(game, images, action, rng)
    assert compared > 50 and len(set(values.values())) > 1
    with pytest.raises(ValueError, match="action_values"):
        net.value(game.start(), 0)


@pytest.mark.parametrize("heaps, stones", [(1, 2), (1, 3), (1, 4), (2, 3), (3, 3)])
@pytest.mark.parametrize("num_tuples", [1, 3, 4, 7])
def test_each_action_has_the_sum_of_its_own_weights(heaps, stones, num_tuples):
    """Also where there are fewer actions, or n-tuples, than are added up side by side."""
    game = games.load("nim", heaps=heaps, stones=stones)
    tuples = [list(range(heaps))] * num_tuples
    net = filled(game, tuples, sigmoid=False, symmetries=False, per_action=True)
    for s in conformance.random_game(game, game.start(), new_rng(1), 50):
        cells, player = game.board(s), game.player(s)
        expected = []
        for action in game.legal(s):
            total = 0.0
            for i in range(num_tuples):
                place = brute_index(game, tuples, 0, i, cells)
                total += net.weights[player, place * game.actions + action]
            expected.append(total)
        assert net.action_values(s) == pytest.approx(expected, abs=1e-12)


def test_a_walk_that_can_not_get_long_enough_is_refused(monkeypatch):
    monkeypatch.setattr(NIM, "neighbours", [[1], [0], []])
    with pytest.raises(ValueError, match="no walk of length 3"):
        random_walk(NIM, 5, 3, new_rng(0))


def test_random_walks_over_corners_go_to_all_eight_cells_around():
    game = games.load("connect4")
    place = [(cell // 6, cell % 6) for cell in range(42)]
    around = {
        (a, b)
        for (a, (c, r)), (b, (d, q)) in itertools.combinations(enumerate(place), 2)
        if max(abs(c - d), abs(r - q)) == 1
    }
    over_corners = {"random_walk": 3000, "length": 2, "corners": True}
    assert set(map(tuple, make_tuples(game, over_corners, new_rng(1)))) == around
    assert set(map(tuple, random_walk(game, 3000, 2, new_rng(1)))) < around


def test_random_walks_are_connected_and_follow_the_seed():
    first, again, other = (random_walk(TICTACTOE, 40, 5, new_rng(seed)) for seed in (1, 1, 2))
    assert first == again != other
    for cells in first:
        assert len(set(cells)) == 5 and cells == sorted(cells)
        reached = {cells[0]}
        for _ in cells:
            reached |= {n for c in reached for n in TICTACTOE.neighbours[c] if n in cells}
        assert reached == set(cells)
    assert {c for cells in first for c in cells} == set(range(9))


def test_players_that_put_other_marks_can_share_a_table_of_whole_boards():
    trained = [td.Session(TICTACTOE, shared_tables=shared, seed=3) for shared in (False, True)]
    for session in trained:
        session.train(300)
    own, shared = (session.net.weights for session in trained)
    assert np.array_equal(own.sum(axis=0), shared[0])  # a board tells who has made it


STAGES = games.load("game2048", stages=[16, 64])


def states_of_stages():
    """States of random games of 2048, and the stage of each: up to 8, up to 32, from 64 on."""
    states = itertools.chain.from_iterable(
        conformance.random_game(STAGES, STAGES.start(seed), new_rng(seed), 300) for seed in range(3)
    )
    for s in states:
        largest = 2 ** max(STAGES.board(s)[:16])
        yield s, int(largest >= 16) + int(largest >= 64)


@pytest.mark.parametrize("tuples", [[[0, 1, 5], [10]], [[16, 1, 0, 5], [10, 16]]])
def test_in_each_stage_the_value_is_the_sum_of_its_own_weights(tuples):
    """Whether a tuple names the stage or not, it reads it."""
    net = filled(STAGES, tuples, sigmoid=False, distinct_symmetries=False)
    plain, own = games.load("game2048"), [[c for c in cells if c != 16] for cells in tuples]
    seen = set()
    for s, stage in states_of_stages():
        cells, total, first = STAGES.board(s), 0.0, 0
        assert cells[16] == stage
        for i in range(len(own)):
            size = 15 ** len(own[i])
            for k in range(8):
                place = brute_index(plain, own[i : i + 1], k, 0, cells[:16])
                total += net.weights[0, first + stage * size + place]
            first += 3 * size
        assert net.value(s, 0) == pytest.approx(total, abs=1e-12)
        seen.add(stage)
    assert seen == {0, 1, 2} and first == net.weights.size


@pytest.mark.parametrize("per_action", [False, True])
def test_a_promotion_copies_weights_and_changes_no_value(tmp_path, per_action):
    how = dict(sigmoid=False, precision="float64", per_action=per_action)
    net = ntuple.Network(STAGES, [[0, 1, 5], [10]], promoted=False, tc_init=0.5, **how)
    plain = filled(games.load("game2048"), [[0, 1, 5], [10]], sigmoid=False, per_action=per_action)
    sets, first = 4 if per_action else 1, 0
    for size, begin in ((15**3 * sets, 0), (15 * sets, 15**3 * sets)):
        net.weights[:, first : first + size] = plain.weights[:, begin : begin + size]
        first += 3 * size
    before = [net.action_values(s) for s, _ in states_of_stages()]
    assert all(map(np.array_equal, before, (plain.action_values(s) for s, _ in states_of_stages())))
    for promoted in (False, True):
        net.save(tmp_path / "net.npz")
        same = ntuple.load(tmp_path / "net.npz", STAGES)
        assert same.promoted == net.promoted == promoted and same.checksum() == net.checksum()
        for other in (net, same):
            other.promote()
            found = [other.action_values(s) for s, _ in states_of_stages()]
            assert all(map(np.array_equal, before, found))
    assert (net.arrays.counters == 0.5).all()
    for stage in range(3):
        for size, place, begin in (
            (15**3 * sets, 0, 0),
            (15 * sets, 3 * 15**3 * sets, 15**3 * sets),
        ):
            copied = net.weights[0, place + stage * size :][:size]
            assert np.array_equal(copied, plain.weights[0, begin : begin + size])


def test_stages_that_are_none_are_named():
    with pytest.raises(ValueError, match=r"tictactoe.* has no stages .*promote_after.*stages=\["):
        ntuple.Network(TICTACTOE, LINES, promoted=False)
    with pytest.raises(ValueError, match="length.*16"):
        random_walk(STAGES, 1, 17, new_rng(0))
    for corners in (False, True):
        walks = random_walk(STAGES, 200, 5, new_rng(0), corners)
        assert {cell for cells in walks for cell in cells} == set(range(16))


@pytest.mark.parametrize("sigmoid, largest", [(True, 0.9), (False, 320_000.0)])
def test_at_the_start_every_board_has_the_initial_value(tmp_path, sigmoid, largest):
    game = games.load("tictactoe")
    for value in (-largest, largest):
        net = ntuple.Network(
            game, [range(9), [0, 1]], weight_init=value, sigmoid=sigmoid, distinct_symmetries=False
        )
        found = [net.value(game.play(game.start(), cell), 0) for cell in range(9)]
        assert found == pytest.approx([value] * 9, rel=1e-6)
        assert net.active() == 0
        net.save(tmp_path / "net.npz")
        assert (tmp_path / "net.npz").stat().st_size < 3_000  # only what has changed


@pytest.mark.parametrize("per_action", [False, True])
@pytest.mark.parametrize("precision, whole", [("float32", True), ("float64", False)])
@pytest.mark.parametrize("first", [-0.0, 0.3])
def test_file_gives_the_same_network(tmp_path, precision, whole, first, per_action):
    how = dict(sigmoid=False, distinct_symmetries=False, precision=precision, per_action=per_action)
    how["weight_init"] = first
    net = ntuple.Network(TICTACTOE, LINES, symmetries=whole, shared_tables=not whole, **how)
    net.weights[:, ::3] = np.random.default_rng(0).normal(size=net.weights[:, ::3].shape)
    net.weights[0, 1] = -0.0  # what underflow in float32 leaves of a small negative weight
    net.weights[0, 2] = 0.0
    net.save(tmp_path / "net.npz")
    same = ntuple.load(tmp_path / "net.npz", TICTACTOE)
    assert same.checksum() == net.checksum() and same.settings == net.settings
    state = TICTACTOE.play(TICTACTOE.start(), 4)
    assert np.array_equal(same.action_values(state), net.action_values(state))
    assert list(tmp_path.iterdir()) == [tmp_path / "net.npz"]  # no temporary file is left


def test_damaged_file_is_named(tmp_path):
    path = tmp_path / "net.npz"
    net = filled(NIM, [[0, 1], [2]])
    net.save(path)
    good = path.read_bytes()
    data = good.find(net.weights.ravel()[5].tobytes())
    header = good.find("checksum".encode("utf-32-le"))
    assert data > 0 and header > 0

    def flipped(place):
        return good[:place] + bytes([good[place] ^ 1]) + good[place + 1 :]

    damaged = [good[:length] for length in range(0, len(good), 97)]
    for content in [*damaged, *map(flipped, (data, data + 8, header, header + 60))]:
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"net\.npz is damaged.*train again"):
            ntuple.load(path, NIM)
    # the archive's own bookkeeping, which no checksum covers
    for place in (*range(0, 300, 3), *range(len(good) - 400, len(good), 3)):
        path.write_bytes(flipped(place))
        try:
            same = ntuple.load(path, NIM)
        except ValueError:
            continue
        assert same.checksum() == net.checksum() and same.settings == net.settings, place


def test_other_files_are_no_weights(tmp_path):
    with pytest.raises(FileNotFoundError):
        ntuple.load(tmp_path / "absent.npz", NIM)
    (tmp_path / "text").write_text("not an archive\n")
    np.save(tmp_path / "array.npy", np.zeros(3))
    files.write_npz(tmp_path / "other.npz", {"kind": "checkpoint"}, {"x": np.zeros(2)})
    np.savez(tmp_path / "foreign.npz", x=np.zeros(2))
    np.savez(tmp_path / "pickle.npz", meta=np.array([{"a": 1}], object))
    filled(NIM, [[0]]).save(tmp_path / "changed.npz")
    meta, arrays = files.read_npz(tmp_path / "changed.npz")
    arrays["weights"][0] += 1.0
    files.write_npz(tmp_path / "changed.npz", meta, arrays)  # a sound archive, wrong contents
    names = ("text", "array.npy", "foreign.npz", "pickle.npz", "other.npz", "changed.npz")
    for name, message in zip(names, [*["damaged"] * 4, "not weights", "checksum"]):
        with pytest.raises(ValueError, match=message):
            ntuple.load(tmp_path / name, NIM)


PAIR = games.load("nim", heaps=2, stones=2)


@pytest.fixture
def entries():
    """A table with three entries of one state."""
    q = table.QTable(PAIR)
    for action in range(3):
        q.put(PAIR.start(), action, 0.25 * action)
    return q


UNFIT = [
    ("older", 0, 2),  # a circle
    ("older", 1, 1),  # an entry after itself
    ("older", 2, -2),
    ("action", 1, PAIR.actions),
    ("action", 1, -1),
    ("newest", 0, 3),
    ("newest", 0, -2),
    ("owner", 0, 2),
    ("q", 1, np.nan),
    ("q", 0, np.inf),
    ("q", None, np.zeros(2)),
    ("q", None, np.zeros((3, 1))),
    ("q", None, np.float64(0.0)),
    ("keys", None, np.zeros((1, 3), np.uint64)),
    ("older", None, np.zeros(3, np.int64)),
    ("action", None, None),
]


@pytest.mark.parametrize("name, place, number", UNFIT)
def test_arrays_that_do_not_fit_together(entries, name, place, number):
    q, arrays = table.QTable(PAIR), {key: array.copy() for key, array in entries.arrays().items()}
    if place is None:
        arrays[name] = number
    else:
        arrays[name][place] = number
    for unfit in (arrays, {}):
        with pytest.raises(ValueError, match="fit|must be an array"):
            q.load_arrays(unfit)
    assert q.entries == 0, "nothing was taken over"


def test_a_file_gives_the_same_table_or_says_what_can_not_be(tmp_path, entries):
    path = tmp_path / "q.npz"
    entries.save(path)
    same = table.load(path, PAIR)
    assert same.checksum() == entries.checksum()
    assert same.action_values(PAIR.start()).tolist() == [0.0, 0.25, 0.5, 0.0]
    meta, arrays = files.read_npz(path)
    for change in ({"owner": 2}, {"owner": "0"}, {"episode": -1}, {"game": None}, {"initial": "x"}):
        files.write_npz(path, meta | change, arrays)
        with pytest.raises(ValueError, match=r"q\.npz is damaged: .*; delete it and train again"):
            table.load(path, PAIR)


KEY = np.array([1, 2], np.uint64)


@pytest.mark.parametrize(
    "key, action, value, words",
    [(KEY, action, 0.5, "action") for action in (-1, PAIR.actions, 2**40, 1.0, None)]
    + [(KEY, 0, value, "value") for value in (np.nan, np.inf, "x", None)]
    + [(key, 0, 0.5, "a key") for key in (KEY[:1], KEY.astype(np.int64), [1, 2], None)],
)
def test_what_is_no_entry_is_refused(entries, key, action, value, words):
    before = entries.checksum()
    with pytest.raises(ValueError, match=words):
        entries.put_under(key, action, value)
    assert entries.checksum() == before


def test_a_file_without_finite_numbers_is_refused_although_its_checksum_is_right(tmp_path, entries):
    net, path = filled(NIM, [[0]]), tmp_path / "file.npz"
    net.weights[0, 1], entries.table.q[1] = np.inf, np.nan
    for kind, game, holder in ((ntuple, NIM, net), (table, PAIR, entries)):
        holder.save(path)
        with pytest.raises(ValueError, match="fit"):
            kind.load(path, game)
