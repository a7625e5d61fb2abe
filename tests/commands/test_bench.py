"""Benchmarks: look-ups are counted as they happen, searches of rivals are left as they were."""

import pytest

from afterstate import games
from benchmarks import lookups, measure, rivals


def test_lookups_of_the_first_move_by_hand():
    """One tuple over all nine cells on eight boards: every action changes it on all of them."""
    tictactoe = games.load("tictactoe")
    assert lookups.lookups_of_a_move(tictactoe, [range(9)], 1) == 2 * 8 + 9 * 8
    # the corner tuple is changed on two boards by a corner, on none by the centre or an edge
    assert lookups.lookups_of_a_move(tictactoe, [[0]], 1) == 2 * 8 + 4 * 2


def test_openspiel_searches_are_counted_and_left_as_they_were():
    minimax = pytest.importorskip("open_spiel.python.algorithms.minimax")
    plain = minimax._alpha_beta
    step = rivals.their_alpha_beta("checkers", 1, positions=1)  # the start: 7 moves, 7 answers
    assert step() == 1 + 7 and minimax._alpha_beta is plain


@pytest.mark.slow
def test_rivals_stand_beside_ours(monkeypatch):
    """Very short measurements."""
    pytest.importorskip("pyspiel")
    monkeypatch.setattr(measure, "SECONDS", 0.001)
    monkeypatch.setattr(rivals, "UCT_ITERATIONS", 50)
    monkeypatch.setattr(rivals, "POSITIONS", 1)
    monkeypatch.setattr(rivals, "GAMES", {"ttt": rivals.GAMES["Tic-Tac-Toe"]})
    text = "\n".join(rivals.lines())
    assert text.count("| ttt |") == 2 and "| giveaway, 8 turns |" in text
    assert "not installed" not in text
