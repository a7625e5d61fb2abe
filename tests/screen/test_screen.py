"""The game behind a board, clicks that say every action, replays, games written and read back."""

import random

import numpy as np
import pytest

from afterstate import arena, games, players
from afterstate.games.boards import state_svg
from afterstate.kernel.random import new_rng
from afterstate.networks import ntuple
from afterstate.screen.game_table import OVER, THEM, YOU, Table
from afterstate.screen.play import play_at_terminal
from afterstate.screen.replay import Replay, attribution, judge_of, judgement, replay

GAME = games.load("tictactoe")


@pytest.mark.parametrize("name", games.names())
def test_clicks_say_every_action_and_no_two_alike(name):
    game, rng, chance = games.load(name), random.Random(1), new_rng(1)
    state = game.start(1)
    for _ in range(40):
        legal = game.legal(state).tolist()
        clicks = {action: tuple(game.places(state, action)) for action in legal}
        said, drawn = [places for places in clicks.values() if places], state_svg(game, state)
        # pass and swap have buttons, and so have all twists of a cube
        assert name.startswith("cube") or len(legal) - len(said) <= 1
        assert all(f'data-cell="{place}"' in drawn for places in said for place in places)
        assert len(set(said)) == len(said), "two actions are said by the same clicks"
        if game.over(state):
            break
        state = game.next(state, rng.choice(legal), chance)


def test_a_game_for_two_is_played_taken_back_and_played_again():
    class Listening(players.Random):
        def new_match(self, game, actions_from_start, seat, seed):
            super().new_match(game, actions_from_start, seat, seed)
            heard.append((list(actions_from_start), seat))

    heard = []
    table = Table(GAME, [Listening()], seed=3)
    assert table.turn == YOU and "you are x" in table.status() and not table.undo()
    table.make(0)
    assert table.turn == THEM and "thinking" in table.status()
    answer = table.choice()
    table.make(answer)
    assert table.turn == YOU and table.actions == [0, answer]
    table.make(GAME.legal(table.state)[0])
    assert table.undo() and table.actions == [0, answer] and heard[-1] == ([0, answer], 1)
    assert table.undo() and not table.actions and np.array_equal(table.state, GAME.start())
    table.make(0)
    assert table.choice() == answer
    with pytest.raises(ValueError, match="not legal"):
        table.make(0)
    table.new(seat=1)
    assert heard[-1] == ([], 0) and table.turn == THEM


def test_the_result_in_words_and_the_values_of_the_adviser():
    for text, seat, words in (
        ("x x x o o . . . .", 0, "best is x; you win as x"),
        ("x x x o o . . . .", 1, "best is x; you lose as o"),
        ("x o x x o o o x x", 0, "a draw"),
        ("x x . o o . . . .", 0, "you are x"),
    ):
        table = Table(GAME, [players.Random()], adviser=players.MaxN(9), seat=seat)
        table.states[-1] = GAME.parse(text)
        assert words in table.status() and (table.turn == OVER) == (words != "you are x")
    assert max(table.values(), key=table.values().get) == 2
    assert Table(GAME, [players.Random()]).values() is None


def test_three_players_and_one_take_their_seats():
    game = games.load("nim3p")
    table = Table(game, [players.Random(), players.Random()], seat=1)
    assert sorted(table.players) == [0, 2] and table.turn == THEM
    while table.turn != OVER:
        legal = game.legal(table.state)
        table.make(legal[0] if table.turn == YOU else table.choice())
    assert "player" in table.status() and len(table.names) == 3
    with pytest.raises(ValueError, match="needs 2 opponents"):
        Table(game, [players.Random()])


def test_chance_brings_the_same_tile_again_after_undo():
    game = games.load("game2048")
    table = Table(game, adviser=ntuple.Network(game, [[0, 1]]))
    action = int(game.legal(table.state)[0])
    table.make(action)
    after = table.state.copy()
    assert table.undo()
    table.make(action)
    assert np.array_equal(table.state, after)
    assert sorted(table.values()) == game.legal(table.state).tolist()
    table.new(0)
    assert not np.array_equal(table.state, after)


def test_at_a_terminal_moves_are_typed():
    answers, said = iter(["zz", "v", "b2", "u", "b2", "a1", "q"]), []
    table = Table(GAME, [lambda state: GAME.legal(state)[-1]], adviser=players.MaxN(9))
    play_at_terminal(table, lambda text: next(answers), said.append)
    assert table.actions[::2] == [4, 6]
    assert any("'zz' is not a move" in text for text in said)
    assert any("b2 " in text for text in said) and "taken back" in said


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
    judge, corner = judge_of(GAME), GAME.play(GAME.start(), 0)
    judge.new_match(GAME, [], 0, 0)
    assert judgement(GAME, judge, GAME.start(), 0) == ""
    assert judgement(GAME, judge, corner, 4) == ""
    words = judgement(GAME, judge, corner, 1)
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
    drawn = str(replay(game, result.states, result.moves))
    assert drawn.count("<svg") == len(result.moves) + 2  # all boards
    with pytest.raises(ValueError, match="do not fit"):
        replay(game, result.states, result.moves[:-1])
