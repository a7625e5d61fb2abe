"""The game behind a board: turns, undo, seats, values, words; clicks that say every action."""

import random

import numpy as np
import pytest

from afterstate import games, players
from afterstate.games.svg import state_svg
from afterstate.kernel.random import new_rng
from afterstate.networks import ntuple
from afterstate.screen import notation
from afterstate.screen.game_table import OVER, THEM, YOU, Table
from afterstate.screen.play import play_at_terminal
from afterstate.screen.touch import clicks, sides


def positions(game, number=40):
    rng, state, chance = random.Random(1), game.start(1), new_rng(1)
    for _ in range(number):
        if game.over(state):
            return
        yield state
        state = game.next(state, rng.choice(game.legal(state).tolist()), chance)


@pytest.mark.parametrize("name", games.names())
def test_clicks_say_every_action_and_no_two_alike(name):
    game = games.load(name)
    for state in positions(game):
        said = clicks(game, state)
        drawn = state_svg(game, state)
        legal = set(game.legal(state).tolist())
        assert set(said) <= legal
        # pass and swap have buttons, and so have all twists of a cube
        assert name.startswith("cube") or len(legal - set(said)) <= 1
        cells = {cell for choices in said.values() for cell in sum(choices, [])}
        assert all(f'data-cell="{cell}"' in drawn for cell in cells)
        first = [tuple(map(tuple, choices)) for choices in said.values()]
        assert len(set(first)) == len(first), "two actions are said by the same clicks"


def test_the_clicks_of_morris_are_from_to_and_the_man_that_is_taken():
    game = games.load("morris")
    state = notation.read('[Game "morris"]\n\n1. a1 d2 2. d1 f2', game).states[-1]
    said = {game.action_name(state, a): choices for a, choices in clicks(game, state).items()}
    (to,), (taken,) = said["g1xd2"]
    assert said["g1xf2"][0] == [to] and taken != to and len(said["g7"]) == 1


def test_a_game_for_two_is_played_taken_back_and_played_again():
    game = games.load("tictactoe")
    table = Table(game, [players.MaxN(9)], seed=3)
    assert table.turn == YOU and "you are x" in table.status() and not table.undo()
    table.make(0)
    assert table.turn == THEM and "thinking" in table.status()
    answer = table.choice()
    table.make(answer)
    assert table.turn == YOU and table.last == answer
    assert table.undo() and not table.steps and np.array_equal(table.state, game.start())
    table.make(0)
    assert table.choice() == answer
    with pytest.raises(ValueError, match="not legal"):
        table.make(0)


def test_values_are_those_of_the_adviser_for_the_player_to_move():
    game = games.load("tictactoe")
    table = Table(game, [players.Random()], adviser=players.MaxN(9))
    table.state = game.parse("x x . o o . . . .")
    assert max(table.values(), key=table.values().get) == 2
    alone = Table(game, [players.Random()])
    assert alone.values() is None and alone.adviser is None


@pytest.mark.parametrize(
    "text, seat, words",
    [
        ("x x x o o . . . .", 0, "you win as x"),
        ("x x x o o . . . .", 1, "x wins, you lose"),
        ("x o x x o o o x x", 0, "a draw"),
    ],
)
def test_the_result_in_words(text, seat, words):
    game = games.load("tictactoe")
    table = Table(game, [players.Random()], seat=seat)
    table.state = game.parse(text)
    assert table.turn == OVER and words in table.status()


def test_three_players_and_one_take_their_seats():
    game = games.load("nim3p")
    table = Table(game, [players.Random(), players.Random()], seat=1)
    assert sorted(table.players()) == [0, 2] and table.turn == THEM
    while table.turn != OVER:
        legal = table.game.legal(table.state)
        table.make(legal[0] if table.turn == YOU else table.choice())
    assert "player" in table.status() and len(sides(game)) == 3
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
    table.new()
    assert not np.array_equal(table.states()[0], after)


def test_an_opponent_hears_of_the_match_again_after_undo():
    class Listening(players.Random):
        def new_match(self, game, actions_from_start, seat, seed):
            super().new_match(game, actions_from_start, seat, seed)
            heard.append((list(actions_from_start), seat))

    heard, game = [], games.load("tictactoe")
    table = Table(game, [Listening()])
    table.make(4)
    table.make(table.choice())
    table.make(game.legal(table.state)[0])
    first = table.actions()[:2]
    table.undo()
    assert heard == [([], 1), (first, 1)]
    table.new(seat=1)
    assert heard[-1] == ([], 0)


def test_at_a_terminal_moves_are_typed():
    game = games.load("tictactoe")
    answers = iter(["zz", "v", "b2", "u", "b2", "a1", "q"])
    said = []
    table = Table(game, [lambda state: game.legal(state)[-1]], adviser=players.MaxN(9))
    play_at_terminal(table, lambda text: next(answers), said.append)
    assert [step.action for step in table.steps if step.seat == 0] == [4, 6]
    assert any("'zz' is not a move" in text for text in said)
    assert any("b2 " in text for text in said) and "taken back" in said


def test_a_game_without_drawing_is_drawn_as_a_grid_of_its_codes():
    drawn = dict.fromkeys(("render", "parse", "svg", "spec"))
    plain = games.Game(**games.load("tictactoe")._arguments | drawn)
    state = plain.play(plain.start(), 4)
    drawn = state_svg(plain, state, {0: 0.5}, last=4)
    assert drawn.count("data-cell") == 9 and "+0.50" in drawn
    assert clicks(plain, state)[0] == [[0]]
    assert "data-cell" in plain.view(state).svg
