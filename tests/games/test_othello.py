"""Othello: two other implementations, passes, symmetries, positional players."""

import numpy as np
import pytest

from afterply import games
from afterply.kernel.random import new_rng
from afterply.players import positional
from afterply.screen.page import positions

GAMES = 1_500
game = games.load("othello")


def position(rows, turn):
    """A position from eight words of x, o and dots, row 1 first."""
    return game.parse("\n".join(" ".join(row) for row in rows.split()) + "\n" + turn)


# o can never move
SKIPPED = position(
    "xo...... ........ ........ ...xx... ...xx... ........ ........ xo......", "x to move"
)


@pytest.mark.engine
def test_random_games_equal_rust_reversi():
    rust = pytest.importorskip("rust_reversi", reason="it is not installed: make oracles")
    random, passes = np.random.default_rng(1), 0
    for _ in range(GAMES):
        s, theirs = game.start(), rust.Board()
        while not game.over(s):
            if theirs.is_pass():
                passes += 1
                theirs.do_pass()
            player, legal = game.player(s), game.legal(s).tolist()
            assert legal == theirs.get_legal_moves_vec()
            assert player == int(theirs.get_turn() == rust.Turn.WHITE)
            action = legal[random.integers(len(legal))]
            s = game.play(s, action)
            theirs.do_move(action)
        lead = theirs.black_piece_num() - theirs.white_piece_num()
        assert theirs.is_game_over() and game.score(s).tolist() == [np.sign(lead), -np.sign(lead)]
    assert passes > GAMES / 10


def flips(marks, side, cell, who):
    """The cells that a stone turns over, from the rules in words."""
    found = []
    for down, right in [(d, r) for d in (-1, 0, 1) for r in (-1, 0, 1) if d or r]:
        line, row, column = [], cell // side + down, cell % side + right
        while 0 <= row < side and 0 <= column < side and marks[side * row + column] == 1 - who:
            line.append(side * row + column)
            row, column = row + down, column + right
        closed = 0 <= row < side and 0 <= column < side and marks[side * row + column] == who
        found += line if closed else []
    return found


@pytest.mark.slow
@pytest.mark.parametrize("side, num", [(4, 100), (6, 60), (8, 30)])
def test_random_games_equal_plain_python(side, num):
    ours, random = games.load("othello", side=side), np.random.default_rng(5)

    def moves(marks, who):
        return [c for c in range(side * side) if marks[c] == 2 and flips(marks, side, c, who)]

    for _ in range(num):
        s, who, low = ours.start(), 0, (side // 2 - 1) * (side + 1)
        marks = [2] * side * side
        marks[low] = marks[low + side + 1] = 1
        marks[low + 1] = marks[low + side] = 0
        while legal := moves(marks, who):
            assert ours.legal(s).tolist() == legal and ours.player(s) == who
            assert ours.board(s).tolist() == [3 if c in legal else m for c, m in enumerate(marks)]
            action = int(random.choice(legal))
            for cell in [action, *flips(marks, side, action, who)]:
                marks[cell] = who
            s, who = ours.play(s, action), 1 - who if moves(marks, 1 - who) else who
        assert ours.over(s) and ours.score(s)[0] == np.sign(marks.count(0) - marks.count(1))
        assert np.array_equal(ours.parse(ours.render(s)), s)


def test_all_eight_symmetries_commute_with_play():
    running = [s for s in positions(game, new_rng(2), 1000) if not game.over(s)]
    for s in running[::47]:
        for where, moved in zip(game.symmetries, game.action_symmetries, strict=True):
            marks = np.array(list("xo.."))[game.board(s)[where]]
            image = game.parse(" ".join(marks) + f" {'xo'[game.player(s)]} to move")
            assert np.array_equal(game.board(image), game.board(s)[where])
            assert sorted(moved[game.legal(s)]) == game.legal(image).tolist()
            for action in game.legal(s):
                after, after_image = game.play(s, action), game.play(image, moved[action])
                assert np.array_equal(game.board(after_image), game.board(after)[where])


def values(player, s):
    player.new_match(game, [], game.player(s), 1)
    return player.values(s).tolist()


def test_weight_sums_by_hand():
    # three cells of -25 in each quarter
    assert sum(positional.HEUR) == 4 * (100 - 3 * 25 + 2 * (10 + 5 + 2 + 2) + 5 + 2 * 1 + 2)
    # 1 + 3 * 2 own, 2 the opponent's: every best action is taken
    heur = positional.Heur()
    assert values(heur, game.start()) == [5, 5, 5, 5]
    found = [heur.new_match(game, [], 0, k) or heur.choose(game.start()) for k in range(200)]
    assert set(found) == {19, 26, 37, 44}
    # d3: 1 - 1 + 4 - 2 own, -3 the opponent's
    assert values(positional.Bench(), game.start()) == [5, 6, 0, 0]
    # c3: 5 + 2 + 2 own, 1 + 2 + 2 the opponent's
    assert values(positional.Heur(), game.play(game.start(), 19))[:1] == [4]

    for perspective, sign in (("original", -1), ("mover", 1)):  # after a skip and at the end
        player = positional.Heur(perspective)
        assert values(player, SKIPPED) == [sign * 218] * 2
        assert values(player, game.play(SKIPPED, 2)) == [sign * 178]
