"""N-tuple networks against brute force, and their files against damage."""

import itertools
import math

import numpy as np
import pytest

from afterstate import files, games
from afterstate.games.game import Game
from afterstate.kernel.random import new_rng
from afterstate.networks import lookup, ntuple
from afterstate.networks.tuples import make_tuples, random_walk

LINES = [[0, 1, 2], [3, 4, 5], [6, 7, 8], [0, 4, 8], [8, 4, 0]]


def mixed_game():
    """A board of four cells with 2, 5, 3 and 4 codes and no symmetry."""

    def nothing(s, x):
        pass

    def zero(s):
        return 0

    def none_legal(s, moves):
        return 0

    def board(s, codes):
        for c in range(4):
            codes[c] = s[c]

    return Game(
        "mixed",
        start=nothing,
        legal=none_legal,
        play=nothing,
        player=zero,
        over=lambda s: True,
        score=nothing,
        board=board,
        players=2,
        actions=1,
        max_legal=1,
        size=4,
        num_codes=[2, 5, 3, 4],
    )


TICTACTOE, MIXED = games.load("tictactoe"), mixed_game()


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


def indices(net, cells):
    index = np.full(len(net.arrays.offset), 7, np.uint32)
    lookup.features(net.arrays, cells, index)
    return index


@pytest.mark.parametrize(
    "game, tuples",
    [(TICTACTOE, LINES), (TICTACTOE, [range(9)]), (MIXED, [[2, 0], [3, 1, 0], [1]])],
    ids=["lines", "all", "mixed"],
)
def test_index_is_little_endian_mixed_radix(game, tuples):
    net = ntuple.Network(game, tuples)
    for cells in random_cells(game, 1, 30):
        expected = [
            brute_index(game, net.tuples, k, i, cells)
            for k in range(len(game.symmetries))
            for i in range(len(tuples))
        ]
        assert indices(net, cells).tolist() == expected
    assert net.arrays.set_size == sum(
        math.prod(int(game.num_codes[c]) for c in cells) for cells in net.tuples
    )


@pytest.mark.parametrize(
    "game, tuples",
    [(TICTACTOE, LINES), (TICTACTOE, LINES[:4]), (MIXED, [[2, 0], [3, 1, 0], [1]])],
    ids=["in overlapping blocks", "in one block", "one by one"],
)
def test_shifted_indices_are_those_of_the_new_board(game, tuples):
    net = ntuple.Network(game, tuples)
    boards = random_cells(game, 2, 40)
    # a code beyond the radix counts as the greatest one, also as the start of a shift
    boards[::5, 0] = 9
    shifted = np.zeros(len(net.arrays.offset), np.uint32)
    changed, difference = np.zeros(game.cells, np.uint32), np.zeros(game.cells, np.uint32)
    for before, after in itertools.pairwise(boards):
        n = lookup.changed_cells(net.arrays, before, after, changed, difference)
        assert changed[:n].tolist() == np.flatnonzero(before != after).tolist()
        lookup.shift_features(net.arrays, indices(net, before), changed, difference, n, shifted)
        assert np.array_equal(shifted, indices(net, after))


def test_codes_beyond_the_radix_stay_in_the_table():
    net = ntuple.Network(MIXED, [[0, 1, 2, 3]])
    assert indices(net, np.array([9, 9, 9, 9], np.int32)).tolist() == [net.arrays.set_size - 1]
    assert np.array_equal(
        indices(net, np.array([1, 99, 0, 3], np.int32)),
        indices(net, np.array([1, 4, 0, 3], np.int32)),
    )


def board_state(cells):
    """A Tic-Tac-Toe state with these cells."""
    return np.append(cells, [0, 0]).astype(np.int32)


@pytest.mark.parametrize("distinct", [True, False])
@pytest.mark.parametrize("sigmoid", [True, False])
def test_value_is_the_sum_over_tuples_and_symmetric_boards(distinct, sigmoid):
    net = filled(TICTACTOE, LINES, distinct_symmetries=distinct, sigmoid=sigmoid)
    special = [
        [1] * 9,
        [1, 1, 1, 1, 2, 1, 1, 1, 1],
        [2, 1, 1, 1, 0, 1, 1, 1, 2],
        [0, 1, 0, 1, 2, 1, 0, 1, 0],
    ]
    for cells, player in itertools.product(
        [*special, *random_cells(TICTACTOE, 3, 30).tolist()], (0, 1)
    ):
        kept = {}
        for k, row in enumerate(TICTACTOE.symmetries):
            kept.setdefault(tuple(cells[c] for c in row) if distinct else k, k)
        total = sum(
            net.weights[player, brute_index(TICTACTOE, net.tuples, k, i, cells)]
            for k in kept.values()
            for i in range(len(LINES))
        )
        assert net.value(board_state(cells), player) == pytest.approx(
            math.tanh(total) if sigmoid else total, abs=1e-12
        )


@pytest.mark.parametrize("distinct", [True, False])
def test_symmetric_states_have_the_same_value(distinct):
    net = filled(TICTACTOE, LINES, distinct_symmetries=distinct)
    for cells in [[1] * 9, [2, 1, 1, 1, 0, 1, 1, 1, 2], *random_cells(TICTACTOE, 4, 20).tolist()]:
        values = [
            net.value(board_state([cells[c] for c in row]), 0) for row in TICTACTOE.symmetries
        ]
        assert values == pytest.approx([values[0]] * 8, abs=1e-12)


@pytest.mark.parametrize(
    "cells, count",
    [
        ([1] * 9, 1),
        ([1, 1, 1, 1, 2, 1, 1, 1, 1], 1),
        ([2, 1, 1, 1, 1, 1, 1, 1, 1], 4),
        ([2, 0, 1, 1, 1, 1, 1, 1, 1], 8),
        ([2, 1, 1, 1, 1, 1, 1, 1, 2], 2),
    ],
)
def test_number_of_symmetric_boards(cells, count):
    boards, cells = np.zeros(8, np.int32), np.array(cells, np.int32)
    for distinct, expected in ((True, count), (False, 8)):
        net = ntuple.Network(TICTACTOE, LINES, distinct_symmetries=distinct)
        assert lookup.symmetric_boards(net.arrays, cells, indices(net, cells), boards) == expected
        assert len({tuple(cells[TICTACTOE.symmetries[k]]) for k in boards[:expected]}) == count


def test_distinct_indices_come_first_and_none_is_lost():
    net = ntuple.Network(TICTACTOE, LINES)
    boards, work, entry = (
        np.zeros(8, np.int32),
        np.zeros((2, 8 * len(LINES)), np.uint32),
        np.zeros(8 * len(LINES), np.uint32),
    )
    for cells in [np.ones(9, np.int32), *random_cells(TICTACTOE, 5, 30)]:
        index = indices(net, cells)
        num = lookup.symmetric_boards(net.arrays, cells, index, boards)
        n = lookup.distinct_indices(net.arrays, index, boards, num, work, entry)
        every = sorted(index.reshape(8, -1)[boards[:num]].ravel().tolist())
        assert sorted(entry[: num * len(LINES)].tolist()) == every
        assert sorted(entry[:n].tolist()) == sorted(set(every))


def test_action_values_add_the_reward_and_count_no_value_at_the_end():
    net = filled(TICTACTOE, LINES)
    state = TICTACTOE.parse("x x . o o . . . .")
    values = net.action_values(state, gamma=0.5)
    for action, value in zip(TICTACTOE.legal(state), values):
        after = TICTACTOE.play(state, action)
        expected = 1.0 if action == 2 else 0.5 * net.value(after, 0)
        assert value == pytest.approx(expected, abs=1e-12)
    assert len(net.action_values(TICTACTOE.play(state, 2))) == 0


@pytest.mark.parametrize(
    "tuples, message",
    [
        ([], "at least one"),
        ([[]], "empty"),
        ([[0, 9]], "cell 9 is off the board"),
        ([[-1]], "cell -1"),
        ([[3, 3]], "twice"),
        ("none", "no n-tuple list"),
        (7, "tuples=7"),
        ({"random_walk": 3}, "random_walk"),
        ({"random_walk": 3, "length": 10}, "10 cells"),
        ({"random_walk": 0, "length": 3}, "do not fit"),
        ({"random_walk": 3, "length": 3, "corners": 1}, "True or False"),
    ],
    ids=str,
)
def test_bad_tuples_are_named(tuples, message):
    with pytest.raises(ValueError, match=message):
        ntuple.Network(TICTACTOE, make_tuples(TICTACTOE, tuples, new_rng(0)))


def test_too_many_entries_are_refused_before_anything_is_allocated():
    with pytest.raises(ValueError, match="fewer or shorter"):
        ntuple.Network(games.load("tictactoe", rows=5, columns=5), [range(25)])


@pytest.mark.parametrize("name, sides", [("connect4", (7, 6)), ("tictactoe", (3, 3))])
def test_random_walks_over_corners_go_to_all_eight_cells_around(name, sides):
    columns, rows = sides
    place = [(cell // rows, cell % rows) for cell in range(columns * rows)]
    around = {
        (a, b)
        for a, (c, r) in enumerate(place)
        for b, (d, q) in enumerate(place)
        if a != b and max(abs(c - d), abs(r - q)) == 1
    }
    game, over_corners = games.load(name), {"random_walk": 3000, "length": 2, "corners": True}
    walks = {tuple(walk) for walk in make_tuples(game, over_corners, new_rng(1))}
    assert walks == {pair for pair in around if pair[0] < pair[1]}
    beside = {tuple(walk) for walk in random_walk(game, 3000, 2, new_rng(1))}
    assert len(beside) < len(walks) and beside < walks


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


# -------------------------------------------------------------------------------------------- files


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_file_gives_the_same_network(tmp_path, precision):
    net = ntuple.Network(
        TICTACTOE, LINES, sigmoid=False, distinct_symmetries=False, precision=precision
    )
    net.weights[:, ::3] = np.random.default_rng(0).normal(size=net.weights[:, ::3].shape)
    net.save(tmp_path / "net.npz")
    same = ntuple.load(tmp_path / "net.npz", TICTACTOE)
    assert same.checksum() == net.checksum() and same.settings == net.settings
    state = TICTACTOE.play(TICTACTOE.start(), 4)
    assert same.value(state, 0) == net.value(state, 0)
    assert list(tmp_path.iterdir()) == [tmp_path / "net.npz"]  # no temporary file is left


@pytest.mark.parametrize("n", [0, 7, 300_001])
@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_tables_of_every_size_hold_their_value(n, precision):
    table = ntuple._table(n, 0.25, precision)
    assert table.shape == (n,) and table.dtype == precision and (table == 0.25).all()
    assert table.flags.c_contiguous and table.flags.aligned and table.flags.writeable
    assert table.nbytes < lookup.HUGE_PAGE // 2 or table.ctypes.data % lookup.HUGE_PAGE == 0


def test_checksum_notices_one_bit():
    net = ntuple.Network(TICTACTOE, LINES)
    before = net.checksum()
    net.weights[1, 5] = 1e-45
    assert net.checksum() != before


def test_weights_of_another_game_are_refused(tmp_path):
    path = tmp_path / "net.npz"
    ntuple.Network(games.load("nim"), [[0, 1, 2]]).save(path)
    for other in (games.load("nim3p"), games.load("nim", misere=True), games.load("nim", stones=4)):
        with pytest.raises(ValueError, match="holds weights of"):
            ntuple.load(path, other)


def test_damaged_file_is_named(tmp_path):
    path = tmp_path / "net.npz"
    net = filled(games.load("nim"), [[0, 1], [2]])
    net.save(path)
    good = path.read_bytes()
    for length in range(0, len(good), 97):
        path.write_bytes(good[:length])
        with pytest.raises(ValueError, match=r"net\.npz is damaged.*train again"):
            ntuple.load(path, net.game)
    data = good.find(net.weights.ravel()[5].tobytes())
    assert data > 0
    header = good.find("checksum".encode("utf-32-le"))
    assert header > 0
    for place in (data, data + 8, header, header + 60):
        path.write_bytes(good[:place] + bytes([good[place] ^ 1]) + good[place + 1 :])
        with pytest.raises(ValueError, match="damaged"):
            ntuple.load(path, net.game)


def test_other_files_are_no_weights(tmp_path):
    game = games.load("nim")
    with pytest.raises(FileNotFoundError):
        ntuple.load(tmp_path / "absent.npz", game)
    (tmp_path / "text").write_text("not an archive\n")
    files.write_npz(tmp_path / "other.npz", {"kind": "checkpoint"}, {"x": np.zeros(2)})
    np.savez(tmp_path / "foreign.npz", x=np.zeros(2))
    np.savez(tmp_path / "pickle.npz", meta=np.array([{"a": 1}], object))
    for name, message in (
        ("text", "damaged"),
        ("other.npz", "not weights"),
        ("foreign.npz", "damaged"),
        ("pickle.npz", "damaged"),
    ):
        with pytest.raises(ValueError, match=message):
            ntuple.load(tmp_path / name, game)


def test_weights_that_are_not_those_of_the_checksum_are_refused(tmp_path):
    path, game = tmp_path / "net.npz", games.load("nim")
    net = filled(game, [[0]])
    net.save(path)
    meta, arrays = files.read_npz(path)
    arrays["weights"][0] += 1.0
    files.write_npz(path, meta, arrays)  # a sound archive with wrong contents
    with pytest.raises(ValueError, match="checksum"):
        ntuple.load(path, game)
