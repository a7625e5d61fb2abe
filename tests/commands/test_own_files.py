"""Games and learners in files of one's own: every command takes them."""

import json
import signal
import sys
from pathlib import Path

import pytest

from afterply import games, players
from afterply.commands import cli, train

GAME = """
from afterply.games import Game

def rules(stones):
    def start(s, rng):
        s[0], s[1] = stones, 0
    def legal(s, moves):
        moves[0], moves[1] = 0, 1
        return 2 if s[0] > 1 else 1
    def play(s, action):
        s[0], s[1] = s[0] - action - 1, 1 - s[1]
    def player(s):
        return s[1]
    def over(s):
        return s[0] == 0
    def score(s, r):
        r[0] = r[1] = 0.0
        if s[0] == 0:
            r[s[1]], r[1 - s[1]] = -1.0, 1.0
    def board(s, codes):
        codes[0] = s[0]
    return dict(start=start, legal=legal, play=play, player=player, over=over, score=score,
                board=board, players=2, actions=2, max_legal=2, size=2, num_codes=[stones + 1])

def heap(stones: int = 4) -> Game:
    return Game("heap", **rules(stones))
"""
SECOND = "small = heap(3)\n"
PLAYER = "import {}\ndef player(state):\n    return 0 if state[0] == 4 else min(1, state[0] - 1)\n"


def said(capsys, words):
    status = cli.main(words.split())
    shown = capsys.readouterr()
    return status, shown.out, shown.err


@pytest.fixture
def folder(monkeypatch, tmp_path):
    """Work in an empty folder, with names of files that no other test imports."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(train, "GAMES", 2)
    monkeypatch.setattr(train, "next_chunk", lambda *_: 100)
    before = {*sys.modules}
    yield tmp_path
    for name in {*sys.modules} - before:
        if Path(getattr(sys.modules[name], "__file__", None) or "").is_relative_to(tmp_path):
            del sys.modules[name]


@pytest.mark.slow
def test_every_command_plays_the_game_of_a_file(folder, capsys, monkeypatch):
    Path("own_heap.py").write_text(GAME + SECOND)
    Path("anna.py").write_text(PLAYER.format("json"))
    status, out, _ = said(capsys, "train own_heap.py:heap:stones=5 --episodes 200 --out five.npz")
    assert status == 0 and "play own_heap.py:heap:stones=5 --against five.npz" in out
    assert players.load("five.npz", games.from_file("own_heap.py", "heap", stones=5))
    status, _, err = said(capsys, "match own_heap.py:small five.npz random")  # of another size
    assert status == 2 and "five.npz" in err
    words = "match own_heap.py:heap:stones=5 five.npz random anna.py --episodes 1 --workers 2"
    status, out, _ = said(capsys, words)
    assert status == 0 and "heap: 6 matches, Elo" in out  # none of them failed
    answers = iter(["1", "q"])
    monkeypatch.setattr("builtins.input", lambda text: next(answers))
    assert said(capsys, "play own_heap.py:heap --against mcts:10")[0] == 0
    assert "cells        1 of 4 codes" in said(capsys, "games own_heap.py:small")[1]
    Path("class").mkdir()
    for name in ("anna", "bert"):
        Path(f"class/{name}.py").write_text(PLAYER.format("math"))
    status, out, _ = said(capsys, "league class --game own_heap.py:small --episodes 1")
    assert status == 0 and "heap: 6 matches, Elo" in out


@pytest.mark.parametrize(
    "text, word, message",
    [
        (None, "lost.py", "there is no file lost.py"),
        ("x = 1", "own_x.py", "own_x.py holds no game: a Game"),
        (GAME + SECOND, "own_two.py", "own_two.py holds heap, small: say which"),
        (GAME, "own_a.py:cards", "holds no game 'cards', but heap"),
        (GAME, "own_b.py:size=3", "heap in own_b.py: got an unexpected keyword argument 'size'"),
        (GAME + SECOND, "own_c.py:small:stones=3", "a game without parameters"),
        ("def f(:", "own_d.py", "own_d.py ends with SyntaxError"),
        ("1 // 0", "own_e.py", "own_e.py ends with ZeroDivisionError"),
        (GAME, "json.py", "another module is called json: rename the file"),
        (GAME, "own_f.py:heap:stones", "is not of the form NAME=VALUE"),
    ],
)
def test_what_is_wrong_with_a_file_of_a_game_is_said(folder, capsys, text, word, message):
    if text:
        Path(word.partition(":")[0]).write_text(text)
    for command in (f"games {word}", f"match {word} random random", f"page {word}"):
        status, _, err = said(capsys, command)
        assert status == 2 and message in err


def learner_text():
    """Return the learner of the notebook as a file."""
    book = Path(__file__).parents[2] / "notebooks" / "02_your_own_learner.ipynb"
    cells = ["".join(cell["source"]) for cell in json.loads(book.read_text())["cells"]]
    begins = ("import numpy", "PARAMETERS", "class Kept", "class Player", "class Train", "class My")
    return "\n\n".join(cell for cell in cells if cell.startswith(begins))


@pytest.mark.slow
def test_the_learner_of_a_file_is_trained_interrupted_and_gone_on_with(folder, capsys, monkeypatch):
    Path("own_learner.py").write_text(learner_text())
    words = "train nim --learner own_learner.py:MySarsa --episodes 400 --seed 4 --set alpha=0.2"
    assert said(capsys, f"{words} --out whole.npz")[0] == 0
    pieces = iter([100])

    def chunk(*_):
        if next(pieces, None) is None:
            signal.raise_signal(signal.SIGINT)
        return 100

    with monkeypatch.context() as patch:
        patch.setattr(train, "next_chunk", chunk)
        assert said(capsys, words)[0] == 130
    status, out, _ = said(capsys, "train nim --resume")
    assert status == 0 and "going on after" in out
    whole, parts = players.load("whole.npz"), players.load("nim.npz")
    assert whole.net.checksum() == parts.net.checksum() and whole.card == parts.card
    assert whole.card["seed"] == 4 and whole.card["parameters"] == {"alpha": 0.2, "epsilon": 0.2}
    assert whole.card["learner"] == "own_learner"


@pytest.mark.parametrize(
    "text, word, message",
    [
        ("x = 1", "own_g.py", "holds not one learner: it holds none"),
        ("from afterply.learners import td", "own_h.py:td", "holds no learner 'td'"),
        ("class A:\n  NAME, VERSION, Session = 'a', 1, 1", "own_i.py", "has no PARAMETERS, DEF"),
        (None, "lost.py:A", "there is no file lost.py"),
        (None, "guess", "there is no learner 'guess'"),
    ],
)
def test_what_is_wrong_with_a_file_of_a_learner_is_said(folder, capsys, text, word, message):
    if text:
        Path(word.partition(":")[0]).write_text(text)
    status, _, err = said(capsys, f"train nim --learner {word}")
    assert status == 2 and message in err
