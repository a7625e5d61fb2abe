"""What a user can get wrong ends in an error that names it, never in a crash or in nonsense."""

import numpy as np
import pytest

from afterstate import games
from afterstate.learners import td
from afterstate.networks import lookup, ntuple
from oldest import said_by

TICTACTOE = games.load("tictactoe")


# in processes of their own, because they might crash or hang
@pytest.mark.slow
def test_random_start_position_that_is_already_over():
    printed = said_by("""
from afterstate import games
from afterstate.learners import td
game = games.load("nim", heaps=1, stones=1)
session = td.Session(game, {"choose_start": True, "max_plies": 9}, 0)
session.train(100)
print(session.episode, session.moves <= 100)
""")
    assert printed.split() == ["100", "True"]


@pytest.mark.slow
def test_walk_that_can_not_get_long_enough_is_refused():
    code = """
from afterstate import games
from afterstate.networks import ntuple
from afterstate.kernel.random import new_rng
game = games.load("nim")
game.neighbours = [[1], [0], []]
ntuple.random_walk(game, 5, 3, new_rng(0))
"""
    with pytest.raises(AssertionError, match="ValueError"):
        said_by(code, timeout=60)


def test_diverging_values_are_reported():
    params = {"sigmoid": False, "alpha": 50.0, "lambda_": 0.9, "tuples": [[0, 1], [2, 3]]}
    with pytest.raises(FloatingPointError, match="alpha"):
        td.Session(TICTACTOE, params, 1).train(3000)


def test_tuples_of_a_wrong_type_are_named():
    walks = [{"random_walk": "3", "length": 2}, {"random_walk": 2, "length": 2.5}]
    for tuples in ([0, 1, 2], [["a"]], [[0.5]], [[True]], *walks):
        with pytest.raises(ValueError, match="tuple"):
            td.Session(TICTACTOE, {"tuples": tuples}, 0)


@pytest.mark.slow
def test_any_flipped_byte_is_noticed_or_harmless(tmp_path):
    path, game = tmp_path / "net.npz", games.load("nim", heaps=1, stones=2)
    net = ntuple.Network(game, [[0]])
    net.weights[:] = np.arange(6).reshape(2, 3)
    net.save(path)
    good = path.read_bytes()
    # the archive's own bookkeeping, which no checksum covers
    for place in (*range(300), *range(len(good) - 400, len(good))):
        path.write_bytes(good[:place] + bytes([good[place] ^ 1]) + good[place + 1 :])
        try:
            same = ntuple.load(path, game)
        except ValueError:
            continue
        assert same.checksum() == net.checksum() and same.settings == net.settings, place


def test_single_array_is_no_weight_file(tmp_path):
    np.save(tmp_path / "array.npy", np.zeros(3))
    with pytest.raises(ValueError, match=r"array\.npy"):
        ntuple.load(tmp_path / "array.npy", TICTACTOE)


def test_negative_zero_survives_a_file(tmp_path):
    net, start = ntuple.Network(TICTACTOE, [[0]]), TICTACTOE.start()
    net.weights[0] = [0.5, -0.0, 0.0]  # what underflow in float32 leaves of a small negative weight
    net.save(tmp_path / "net.npz")
    same = ntuple.load(tmp_path / "net.npz", TICTACTOE)
    assert same.value(start, 0) == net.value(start, 0)
    assert np.signbit(same.weights[0, 1])


def test_negative_cell_code_stays_in_the_table():
    net = ntuple.Network(TICTACTOE, [[0, 1]])
    index = np.zeros(8, np.uint32)
    lookup.features(net.arrays, np.full(9, -1, np.int32), index)
    assert index.max() < net.arrays.set_size
