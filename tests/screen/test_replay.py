"""What a replay says of a game, and games written down and read back."""

import numpy as np
import pytest

from afterstate import arena, games, players
from afterstate.networks import ntuple
from afterstate.screen import notation
from afterstate.screen.attribution import attribution
from afterstate.screen.replay import Frames, judge_of, judgement, replay
from afterstate.screen.touch import drawn_cell
from many import one_in


def random_net(name, tuples, **settings):
    net = ntuple.Network(games.load(name), tuples, **settings)
    net.weights[:] = np.random.default_rng(1).normal(0, 0.1, net.weights.shape)
    return net.game, net


@pytest.mark.parametrize(
    "name, tuples", [("tictactoe", [[0, 1, 2], [0, 4]]), ("connect4", [[0, 1, 6], [3, 9, 15]])]
)
@pytest.mark.parametrize("distinct", [True, False])
def test_the_weights_add_up_to_the_value(name, tuples, distinct):
    game, net = random_net(name, tuples, distinct_symmetries=distinct)
    state = game.start()
    for action in (3, 4, 2):
        shares = attribution(net, state, action, most=1000)
        value = net.value(game.play(state, action), game.player(state))
        assert np.tanh(sum(share.weight for share in shares)) == pytest.approx(value, abs=1e-5)
        sizes = [abs(share.weight) for share in shares]
        assert sizes == sorted(sizes, reverse=True)
        state = game.play(state, action)


def test_cells_of_the_board_are_found_on_the_drawing():
    game = games.load("connect4")
    state = game.play(game.start(), 2)
    (cell,) = np.flatnonzero(game.board(state) == 1)
    assert drawn_cell(game, int(cell)) == 5 * 7 + 2  # the lowest row of the third column
    drawn = [drawn_cell(games.load("kalah"), cell) for cell in range(14)]
    assert sorted(drawn) == [-1, -1, *range(12)] and drawn[0] == 6 and drawn[7] == 5


@pytest.mark.slow
def test_the_judge_names_moves_that_lose_value():
    game = games.load("tictactoe")
    judge, corner = judge_of(game), game.play(game.start(), 0)
    judge.new_match(game, [], 0, 0)
    assert judgement(game, judge, game.start(), 0) == judgement(game, judge, corner, 4) == ""
    words = judgement(game, judge, corner, 1)
    assert words == "loses value: a draw was there with b2, this is a loss"
    assert judge_of(games.load("othello")) is None


def test_frames_show_the_agents_values_and_what_carries_them():
    game, net = random_net("tictactoe", [[0, 1, 2]])
    result = arena.match(game, [net, players.Random()], seed=2)
    assert len(result.states) == len(result.moves) + 1
    assert np.array_equal(result.states[-1], game.after(result.moves))
    frames = Frames(game, result.states, result.moves, net, judge_of(game))
    plain = frames.plain()
    first = game.action_name(game.start(), result.moves[0])
    assert [frame["name"] for frame in plain][:2] == ["start", first]
    said = frames.explained(0)
    best = max(net.action_values(game.start()))
    assert f"best {best:+.3g}" in said["next"] and len(said["shares"]) == 3
    assert "said" in frames.explained(len(result.moves)) and said["valued"] != plain[0]["svg"]


def test_a_result_is_replayed_without_a_front_end():
    game = games.load("tictactoe")
    result = arena.match(game, [players.Random(), players.Random()], seed=1)
    assert (
        str(replay(game, result.states, result.moves)).count("<svg") == len(result.moves) + 2
    )  # all boards
    with pytest.raises(ValueError, match="do not fit"):
        replay(game, result.states, result.moves[:-1])


CASES = [(name, {}) for name in games.names() if not name.startswith("cube")]


@pytest.mark.parametrize("name, params", one_in(3, [*CASES, ("hex", {"size": 4})]))
def test_games_are_written_and_read_back(name, params):
    game = games.load(name, **params)
    seats = [players.Random()] * game.players
    result = arena.match(game, seats, seed=4)
    text = notation.write(game, result.states, result.moves, ["a"] * game.players)
    found = notation.read(text)
    assert found.actions == result.moves and found.game.identity == game.identity
    assert all(map(np.array_equal, found.states, result.states))
    assert found.tags["First"] == "a" and len(found.tags["Result"].split()) == game.players


def test_a_word_that_is_no_move_is_named():
    game = games.load("tictactoe")
    with pytest.raises(ValueError, match="move 2 of this game, 'a1', is no move here"):
        notation.read('[Game "tictactoe"]\n\n1. a1 a1', game)
    with pytest.raises(ValueError, match="a game of 'nim'"):
        notation.read('[Game "nim"]\n\n1. a1', game)


@pytest.mark.parametrize("name", ["hex", "othello"])
def test_sgf_is_written_and_read_back(name):
    game = games.load(name)
    result = arena.match(game, [players.Random()] * 2, seed=5)
    text = notation.write_sgf(game, result.moves, ["a]b", "c"])
    assert text.startswith(f"(;FF[4]GM[{11 if name == 'hex' else 2}]SZ[")
    assert notation.read_sgf(text, game).actions == result.moves
    with pytest.raises(ValueError, match="SGF has no nim"):
        notation.write_sgf(games.load("nim"), [])


def test_othello_games_are_strings_of_moves():
    game = games.load("othello")
    tiger = notation.read_moves("F5D6C3D3C4", game)
    assert notation.write_moves(game, tiger.actions) == "f5d6c3d3c4"
    with pytest.raises(ValueError, match="no string of moves"):
        notation.read_moves("f5z9", game)
