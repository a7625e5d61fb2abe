"""The game behind a board: turns, undo, seats, values, words; clicks that say every action."""

import random

import numpy as np
import pytest

from afterstate import games, players
from afterstate.games.boards import state_svg
from afterstate.kernel.random import new_rng
from afterstate.networks import ntuple
from afterstate.screen import notation
from afterstate.screen.game_table import OVER, THEM, YOU, Table
from afterstate.screen.play import play_at_terminal

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


def test_places_are_the_cells_of_the_board():
    """A stone of ConnectFour lands where it was clicked, Morris is from, to, and what is taken."""
    game = games.load("connect4")
    (cell,) = game.places(game.start(), 2)
    assert game.board(game.play(game.start(), 2))[cell] == 1
    game = games.load("morris")
    state = notation.read('[Game "morris"]\n\n1. a1 d2 2. d1 f2', game).states[-1]
    said = {game.action_name(state, a): game.places(state, a) for a in game.legal(state)}
    assert said["g1xd2"][0] == said["g1xf2"][0] != said["g1xd2"][1] and len(said["g7"]) == 1
    assert game.board(state)[said["g1xd2"][1]] == 2


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


def test_values_are_those_of_the_adviser_for_the_player_to_move():
    table = Table(GAME, [players.Random()], adviser=players.MaxN(9))
    table.states[-1] = GAME.parse("x x . o o . . . .")
    assert max(table.values(), key=table.values().get) == 2
    alone = Table(GAME, [players.Random()])
    assert alone.values() is None and alone.adviser is None


@pytest.mark.parametrize(
    "text, seat, words",
    [
        ("x x x o o . . . .", 0, "best is x; you win as x"),
        ("x x x o o . . . .", 1, "best is x; you lose as o"),
        ("x o x x o o o x x", 0, "a draw"),
    ],
)
def test_the_result_in_words(text, seat, words):
    table = Table(GAME, [players.Random()], seat=seat)
    table.states[-1] = GAME.parse(text)
    assert table.turn == OVER and words in table.status()


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
