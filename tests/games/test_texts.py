"""Positions as text, names of moves, and what is said of texts that are none."""

import numpy as np
import pytest

from afterstate import games

TEXTS = [  # name, parameters, actions or text, lines of the text, names of the first legal actions
    ("tictactoe", {}, [4, 0], "o . .\n. x .\n. . .", "b3 c3 a2"),
    ("connect4", {}, [3, 3, 3, 2, 4, 4], ". . . o o . .\n. . o x x . .", "a1 b1 c2 d4 e3 f1 g1"),
    ("hex", {}, [14, 15, 20], "  . . x o . .\n   . . x . . .\n", "a1 b1 c1 d1 e1 f1 a2"),
    ("kalah", {}, [2, 5], "    4  4  5  5  5  5\n 0                    2  second to move\n"
     "    4  4  0  5  5  0", "a b c d e f"),
    ("othello", {}, [19, 18], "x to move", "b3 c4 f5 e6"),
    ("morris", {}, [0, 25], "x     o     .\n", "g7 g4 g1"),
    ("morris", {}, [0, 25], "\nfirst to move, 8 and 8 in hand, 2 plies quiet, 2 played", "g7"),
    ("giveaway", {}, "B:WK21,K1:BK18", ". W . . . . . .\n", "18-14 18-15 18-22 18-23"),
    ("giveaway", {}, "B:WK21,K1:BK18", "\nB:WK1,K21:BK18\n0 plies quiet, 0 played", "18-14"),
    ("giveaway", {}, "W:W21-32:B1-12", "\n. w . w . w . w\n", "21-17 22-17 22-18 23-18"),
    ("giveaway", {}, "W:W:BK1", "White has won", ""),
    ("game2048", {}, "2 4 . .  . . . .  . . 2048 .  . . . 32768  score 20480", "score 20480",
     "left up right down"),
    ("nim", {}, "3 0 5 : 1", "3 0 5 : 1", "1 from heap 1"),
    ("cube2", {}, "after U L", "last twist: none\nstate: ", "U U2 U' L L2 L' F F2 F'"),
]  # fmt: skip


@pytest.mark.parametrize("name, params, at, text, names", TEXTS, ids=lambda x: str(x)[:30])
def test_a_position_is_written_and_read(name, params, at, text, names):
    game = games.load(name, **params)
    s = game.parse(at) if isinstance(at, str) else game.after(at)
    assert text in game.render(s)
    if game.parse_text:
        assert game.parse(game.render(s))[: game.core].tolist() == s[: game.core].tolist()
    else:
        assert game.parse(" ".join(map(str, s))).tolist() == s.tolist()
    assert " ".join(game.action_name(s, a) for a in game.legal(s)).startswith(names)


MORRIS = "x o" + " ." * 22 + "\nfirst to move, "
WRONG = [
    ("tictactoe", {}, "x x . . . . . . .", "x moves first"),
    ("othello", {}, "x o", "64 marks"),
    ("othello", {}, ". " * 64 + "x", "'x to move' or 'o to move' or 'over'"),
    ("othello", {}, ". " * 64 + "x to move", "d4, e4, d5, e5 always hold stones"),
    ("othello", {"side": 4}, "x " * 16 + "x to move", "by its stones it is 'over'"),
    ("morris", {}, "x o x", "24 marks"),
    ("morris", {}, MORRIS + "9 and 8 in hand, 2 plies quiet, 2 played", "10 men instead of 9"),
    ("morris", {}, MORRIS + "8 and 8 in hand, 3 plies quiet, 2 played", "3 plies of 2 without"),
    ("giveaway", {}, "white to move", "a position is a line such as"),
    ("giveaway", {}, "W:W33:B1", "'33' is no square from 1 to 32"),
    ("giveaway", {}, "W:W21,K21:B1", "a square has two pieces"),
    ("giveaway", {}, "W:W21:B21", "a square has two pieces"),
    ("giveaway", {}, "W:W1:B5", "a man on its last row would be a king"),
    ("giveaway", {}, "W:WK1-13:BK32", "a player has at most 12 pieces"),
    ("giveaway", {}, "W:WK1:BK32\n5 plies quiet, 4 played", "at most 4 quiet plies, not 5"),
    ("giveaway", {}, "W:WK1:BK32\n0 plies quiet, 4 played, jumps on from 1", "jump on from 1"),
    ("game2048", {}, "2 4 score 0", "16 tiles"),
    ("game2048", {}, "3" + " ." * 15 + " score 0", "16 tiles"),
    ("game2048", {}, ". " * 16 + "score 5", "multiple of 4"),
    ("nim", {}, "3 0 5", "3 heaps of at most 5 stones, a colon"),
    ("nim", {}, "9 0 0 : 0", "3 heaps of at most 5 stones"),
    ("cube2", {}, "after U R", "'R' is no twist; they are U, U2"),
    ("cube2", {}, "state: 1 2", "'state:' and 3 numbers"),
    ("cube3", {}, "state: 0 0 0 0 0 0", "two are in one place"),
]


@pytest.mark.parametrize("name, params, text, words", WRONG, ids=lambda x: str(x)[:30])
def test_a_wrong_text_is_explained(name, params, text, words):
    with pytest.raises(ValueError, match=words):
        games.load(name, **params).parse(text)


def test_cell_codes_from_the_picture():
    game = games.load("connect4")
    s = game.after([3, 3, 3, 2, 4, 4])
    columns = ["300000", "300000", "230000", "121300", "123000", "300000", "300000"]
    assert game.board(s).tolist() == [int(code) for code in "".join(columns)]
    full = game.after([0, 0, 0, 0, 0, 0])
    assert game.board(full)[:6].tolist() == [1, 2, 1, 2, 1, 2]
    assert game.legal(full).tolist() == [1, 2, 3, 4, 5, 6]


def test_cells_have_their_names():
    for name, params, cells, names in (
        ("tictactoe", {"rows": 15, "columns": 15, "k": 5}, (0, 14, 210, 224), "a15 o15 a1 o1"),
    ):
        game = games.load(name, **params)
        assert " ".join(game.action_name(game.start(), cell) for cell in cells) == names
    game = games.load("morris")
    s = game.after([0, 25])
    named = [game.action_name(s, ((o + 1) * 24 + 7) * 25 + r) for o, r in ((-1, 0), (0, 0), (0, 2))]
    assert named == ["a4", "a7-a4", "a7-a4xd7"]
    hex_game = games.load("hex")
    assert sorted(hex_game.neighbours[14]) == [8, 9, 13, 15, 19, 20]
    assert np.array_equal(hex_game.symmetries, [range(36), range(36)[::-1]])
