"""The game behind a board, clicks that say every action, replays, games written and read back."""

import os
import subprocess
import sys
import threading

import nbclient
import nbformat
import numpy as np
import pytest

from afterply import arena, games, players
from afterply.games.boards import state_svg, winning_places
from afterply.games.conformance import random_game
from afterply.kernel.random import new_rng
from afterply.networks import ntuple
from afterply.screen.game_table import OVER, THEM, YOU, Table
from afterply.screen.play import key_pressed, play_at_terminal
from afterply.screen.widget import BoardWidget, Replay, attribution, judge_of, judgement, replay
from small_studies import write_notebook

GAME = games.load("tictactoe")
PLAY = "from afterply import games, screen; "


@pytest.mark.parametrize("name", games.names())
def test_clicks_say_every_action_and_no_two_alike(name):
    game = games.load(name)
    for state in random_game(game, game.start(1), new_rng(1), 40):
        legal = game.legal(state).tolist()
        clicks = {action: tuple(game.places(state, action)) for action in legal}
        said, drawn = [places for places in clicks.values() if places], state_svg(game, state)
        # pass and swap have buttons, and so have all twists of a cube
        assert name.startswith("cube") or len(legal) - len(said) <= 1
        assert all(f'data-cell="{place}"' in drawn for places in said for place in places)
        assert len(set(said)) == len(said), "two actions are said by the same clicks"


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
        ("x x x o o . . . .", 0, "X wins. You win."),
        ("x x x o o . . . .", 1, "X wins. You lose."),
        ("x o x x o o o x x", 0, "A draw"),
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
    assert "wins." in table.status() and len(table.names) == 3
    with pytest.raises(ValueError, match="needs 2 opponents"):
        Table(game, [players.Random()])
    alone = Table(games.load("game2048"))
    while alone.turn != OVER:
        alone.make(alone.game.legal(alone.state)[0])
    assert f"over: {alone.state[2]:,} points" in alone.status()


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


class Page(BoardWidget):
    """A board whose page only sends what a test asks for."""

    def on_msg(self, listener):
        self.send = lambda **message: listener(self, message, [])


@pytest.mark.parametrize("answer", [7, 0, "nonsense"], ids=["another place", "the same", "no move"])
def test_what_an_opponent_thought_of_before_an_undo_is_dropped(answer):
    asked, may_answer = threading.Event(), threading.Event()

    def choose(state):
        asked.set()
        assert may_answer.wait(60)
        return answer

    page = Page(Table(GAME, [choose]), None)
    page.begin()
    page.send(do="move", action=0, ply=0)
    assert asked.wait(60)
    page.send(do="undo")
    may_answer.set()
    page._worker.shutdown(wait=True)
    assert (page.scene["ply"], page.scene["turn"], page.scene["error"]) == (0, YOU, "")
    assert page.table.actions == []


@pytest.mark.parametrize(
    "name, moves, board, words",
    [
        ("tictactoe", "b2 a1", " 1 o . .\n   a b c", "plays a1. Your move: you are x."),
        (
            "connect4",
            "d1 d2",
            " 1 . . . x . . .\n   a b c d e f g",
            "plays d2. Your move: you are x.",
        ),
        ("hex", "b1 c1", "   a b c d e f\n 1 . x o . . .\n 2  . .", "you are x (left to right)."),
        ("othello", "d3 c3", "   a b c d e f g h\n 1 . .", "plays c3. Your move: you are x."),
        ("morris", "a7 g7", " 7 x     .     o\n 6   .", "plays g7. Your move: you are x."),
        ("checkers", "22-18 9-13", ". . b . b . b     ", "plays 9-13. Your move: you are w."),
        ("checkers", "", "b . b . b . b .      5  .  6  .  7  .  8  .", "you are w."),
        (
            "kalah",
            "C B",
            "    f  e  d  c  b  a\n",
            "   A  B  C  D  E  F\nRandom (upper row) is thinking",
        ),
        ("game2048", "left", "     2     ", "Your move."),
    ],
)
def test_boards_as_text_have_the_names_of_places_and_pieces(name, moves, board, words):
    game = games.load(name)
    table = Table(game, [players.Random()] * (game.players - 1))
    for move in moves.split():
        table.make(game.action(table.state, move))
    assert board in repr(table) and words in repr(table), repr(table)


@pytest.mark.parametrize(
    "name, position, places",
    [
        ("tictactoe", "x x x o o . . . .", [0, 1, 2]),
        ("tictactoe", "x x x o x o x o o", [2, 4, 6]),  # two lines: one of them
        ("tictactoe", "x o x x o o o x x", []),  # a draw
        ("tictactoe", "x x . o o . . . .", []),
        ("connect4", [3, 0, 3, 0, 3, 0, 3], [18, 19, 20, 21]),
        ("hex", [12, 1, 13, 2, 14, 3, 15, 4, 18, 7, 8, 9, 16, 10, 17], [13, 14, 15, 16, 17, 18]),
        ("othello", f"{'x ' * 33}{'o ' * 31}\nover", []),  # it is the number that wins
    ],
)
def test_the_stones_that_have_won_are_found(name, position, places):
    game = games.load(name)
    state = game.parse(position) if isinstance(position, str) else game.after(position)
    assert sorted(winning_places(game, state)) == places


def typed(name, keys, opponents=()):
    """The actions of a game played by lines that are typed."""
    game, lines = games.load(name), iter(keys)
    answer = lambda text: next(lines)  # noqa: E731
    return play_at_terminal(Table(game, opponents), answer, lambda text: None).actions


def test_2048_takes_arrow_keys_and_letters_and_only_2048_does():
    arrows = ["\x1b[D", "\x1bOA", "d", "s", "q"]
    words = ["left", "up", "right", "down", "q"]
    assert typed("game2048", arrows) == typed("game2048", words) != []
    assert typed("kalah", ["a", "s", "q"], [players.Random()]) == []


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals")
def test_a_key_is_read_without_enter(monkeypatch):
    import pty

    ours, theirs = pty.openpty()
    with os.fdopen(theirs) as keyboard:
        monkeypatch.setattr(sys, "stdin", keyboard)
        os.write(ours, b"\x1b[Aq\x1bOD")
        assert [key_pressed("") for _ in range(3)] == ["\x1b[A", "q", "\x1bOD"]
    os.close(ours)


@pytest.mark.slow
def test_where_nobody_can_answer_a_board_is_a_picture_and_nothing_waits(tmp_path):
    write_notebook(tmp_path / "play.ipynb", f"{PLAY}screen.play(games.load('tictactoe'))")
    made = nbformat.read(tmp_path / "play.ipynb", 4)
    nbclient.NotebookClient(made, timeout=100, kernel_name="python3").execute()
    shown = made.cells[0].outputs[-1]["data"]
    assert "run this cell" in shown["image/svg+xml"] and "you are x" in shown["text/plain"]
    closed = dict(stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=100)
    command = [sys.executable, "-c", f"{PLAY}screen.play(games.load('nim'))"]
    assert "Your move" in subprocess.run(command, check=True, **closed).stdout


def random_net(name, tuples, **settings):
    net = ntuple.Network(games.load(name), tuples, **settings)
    net.weights[:] = np.random.default_rng(1).normal(0, 0.1, net.weights.shape)
    return net.game, net


@pytest.mark.parametrize(
    "name, tuples", [("tictactoe", [[0, 1, 2], [0, 4]]), ("connect4", [[0, 1, 6], [3, 9, 15]])]
)
@pytest.mark.parametrize(
    "settings", [{}, {"distinct_symmetries": False}, {"symmetries": False, "shared_tables": True}]
)
def test_the_weights_add_up_to_the_value(name, tuples, settings):
    game, net = random_net(name, tuples, **settings)
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
    for name, settings in (("othello", {}), ("nim", {"heaps": 8, "stones": 20})):
        assert judge_of(games.load(name, **settings)) is None


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
    states, moves = result.states, result.moves
    occupied = f"{moves[0]} .*not legal"
    for states, actions, message in (
        (states, moves[:-1], "do not fit"),
        (states[:2], [9], "an action of tictactoe must be .* not 9"),
        (states[:2], ["a1"], "an action of tictactoe must be .* not 'a1'"),
        (states[1:3], moves[:1], occupied),
        ([states[0], states[2]], moves[:1], "does not lead from state 0 of the replay to state 1"),
        ([states[0], 5], moves[:1], "tictactoe.*5"),
        (7, moves, "the states of a replay must be a list, not 7"),
    ):
        with pytest.raises((ValueError, TypeError), match=message):
            replay(game, states, actions)
