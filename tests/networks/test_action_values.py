"""Networks of Q: values of symmetric actions, symmetric pairs, files."""

import hashlib

import numpy as np
import pytest

from afterstate import games
from afterstate.games import symmetric_play
from afterstate.kernel.random import new_rng, random_int
from afterstate.learners import sarsa
from afterstate.networks import ntuple
from afterstate.networks.lookup import features, symmetric_pairs

LINES = [[0, 1, 2], [3, 4, 5], [6, 7, 8], [0, 4, 8], [1, 4, 7]]
TUPLES = {
    "tictactoe": [range(9)],
    "connect4": [[0, 6, 12, 18], [18, 19, 20], [24, 30, 36]],
    "hex": [[0, 1, 2, 3], [5, 6, 7], [14, 15, 20, 21]],
    "othello": [[0, 1, 2, 3], [27, 28, 35]],
    "game2048": [[0, 1, 2], [5, 6]],
}


@pytest.mark.parametrize("name", ["tictactoe", "connect4", "hex", "othello", "game2048"])
def test_values_of_a_turned_board_are_the_turned_values(name):
    """Also on boards that a symmetry maps to themselves, as the empty one."""
    game = games.load(name)
    net = ntuple.Network(game, TUPLES[name], per_action=True)
    net.weights[:] = np.random.default_rng(2).normal(0.0, 0.05, net.weights.shape)
    starts, rng, compared = symmetric_play.symmetric_starts(game), new_rng(7), 0
    for _ in range(3):
        images = dict(starts)
        while not game.over(images[0]) and compared < 400:
            values = dict(
                zip(game.legal(images[0]).tolist(), net.action_values(images[0]), strict=True)
            )
            for k, image in images.items():
                turned = dict(
                    zip(game.legal(image).tolist(), net.action_values(image), strict=True)
                )
                for a, value in values.items():
                    moved = turned[int(game.action_symmetries[k][a])]
                    assert moved == pytest.approx(value, abs=1e-12)
                    compared += k > 0
            moves = list(values)
            action = moves[random_int(rng, len(moves))]
            images = symmetric_play.play_images(game, images, action, rng)
    assert compared > 50 and len(set(values.values())) > 1


def test_set_of_pairs_is_a_set():
    """On the empty board the 8 symmetries make 4 corners, 4 sides and 1 centre."""
    game = games.load("tictactoe")
    for distinct, expected in ((True, [4, 4, 4, 4, 1]), (False, [8] * 5)):
        net = ntuple.Network(game, LINES, per_action=True, distinct_symmetries=distinct)
        cells, index = game.board(game.start()), np.zeros(8 * len(LINES), np.uint32)
        features(net.arrays, cells, index)
        boards = np.zeros(8, np.int32)
        found = [symmetric_pairs(net.arrays, cells, index, a, boards) for a in (0, 1, 2, 3, 4)]
        assert found == expected


def test_network_of_action_values_is_saved_and_loaded(tmp_path):
    params = {"alpha": [1.0, 0.5], "epsilon": 0.3, "episodes": 100, "precision": "float64"}
    session = sarsa.Session(games.load("tictactoe"), params, 5)
    session.train(50)
    session.net.save(tmp_path / "net.npz")
    again = ntuple.load(tmp_path / "net.npz", session.game)
    s = session.game.play(session.game.start(), 4)
    assert again.per_action and again.checksum() == session.net.checksum()
    assert np.array_equal(again.action_values(s), session.net.action_values(s))
    assert again.action_weights.shape == (2, 9, 3**9)
    with pytest.raises(ValueError, match="action_values"):
        again.value(s, 0)
    with pytest.raises(ValueError, match="not one per action"):
        _ = ntuple.Network(session.game, LINES).action_weights


def test_network_of_afterstates_has_the_file_format_that_it_had(tmp_path):
    """Keys of its settings, and what the checksum is: earlier weight files stay valid."""
    net = ntuple.Network(games.load("nim"), [[0, 1, 2]])
    values = np.arange(432, dtype="<f4").reshape(2, 216)
    net.weights[:] = values
    names = {"game", "tuples", "sigmoid", "distinct_symmetries", "precision"}
    assert set(net.settings) == names and net.weights.shape == (2, 216)
    assert net.checksum() == hashlib.sha256(values.tobytes()).hexdigest()[:16]
