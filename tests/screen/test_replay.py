"""What a replay says of a game, and games written down and read back."""

import numpy as np
import pytest

from afterstate import arena, games, players
from afterstate.networks import ntuple
from afterstate.screen import notation
from afterstate.screen.replay import Replay, attribution, judge_of, judgement, replay
from many import one_in

TICTACTOE = games.load("tictactoe")


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
        assert np.tanh(sum(weight for _, weight in shares)) == pytest.approx(value, abs=1e-5)
        sizes = [abs(weight) for _, weight in shares]
        assert sizes == sorted(sizes, reverse=True)
        state = game.play(state, action)


@pytest.mark.slow
def test_the_judge_names_moves_that_lose_value():
    judge, corner = judge_of(TICTACTOE), TICTACTOE.play(TICTACTOE.start(), 0)
    judge.new_match(TICTACTOE, [], 0, 0)
    assert judgement(TICTACTOE, judge, TICTACTOE.start(), 0) == ""
    assert judgement(TICTACTOE, judge, corner, 4) == ""
    words = judgement(TICTACTOE, judge, corner, 1)
    assert words == "loses value: a draw was there with b2, this is a loss"
    assert judge_of(games.load("othello")) is None


def test_a_replay_shows_the_agents_values_and_what_carries_them():
    game, net = random_net("tictactoe", [[0, 1, 2]])
    result = arena.match(game, [net, players.Random()], seed=2)
    assert len(result.states) == len(result.moves) + 1
    assert np.array_equal(result.states[-1], game.after(result.moves))
    shown = Replay(game, result.states, result.moves, net)
    plain = shown.scene["frames"]
    first = game.action_name(game.start(), result.moves[0])
    assert [frame["name"] for frame in plain][:2] == ["start", first]
    shown.explain()
    said = shown.scene["frames"]
    best = max(net.action_values(game.start()))
    assert f"best {best:+.3g}" in said[0]["next"] and len(said[0]["shares"]) == 3
    assert said[0]["valued"] != plain[0]["svg"] and not said[0]["said"]
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
    if name in ("hex", "othello"):
        text = notation.write_sgf(game, result.moves, ["a]b", "c"])
        assert text.startswith(f"(;FF[4]GM[{11 if name == 'hex' else 2}]SZ[")
        assert notation.read_sgf(text, game).actions == result.moves


def test_othello_games_are_strings_of_moves():
    game = games.load("othello")
    tiger = notation.read_moves("F5D6C3D3C4", game)
    assert notation.write_moves(game, tiger.actions) == "f5d6c3d3c4"


@pytest.mark.parametrize(
    "call, words",
    [
        (
            lambda: notation.read('[Game "tictactoe"]\n\n1. a1 a1'),
            "move 2 of this game, 'a1', is no move here",
        ),
        (lambda: notation.read('[Game "nim"]\n\n1. a1', TICTACTOE), "a game of 'nim'"),
        (lambda: notation.write_sgf(games.load("nim"), []), "SGF has no nim"),
        (lambda: notation.read_moves("f5z9", games.load("othello")), "no string of moves"),
        (lambda: notation.write_moves(games.load("othello", side=6), []), "Othello on 8 x 8"),
    ],
)
def test_what_is_no_game_is_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()
