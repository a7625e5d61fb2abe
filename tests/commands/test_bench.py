"""Benchmarks: very short measurements have all their rows."""

import pytest

from benchmarks import measure, rivals, run


@pytest.mark.slow
def test_rivals_stand_beside_ours(monkeypatch):
    pytest.importorskip("pyspiel")
    monkeypatch.setattr(measure, "SECONDS", 0.001)
    monkeypatch.setattr(rivals, "UCT_ITERATIONS", 50)
    monkeypatch.setattr(rivals, "GAMES", {"ttt": rivals.GAMES["Tic-Tac-Toe"]})
    text = "\n".join(rivals.lines())
    assert text.count("| ttt |") == 2 and "not installed" not in text
    monkeypatch.setattr(run, "SETTINGS", {"nim": ("nim", run.NIM)})
    monkeypatch.setattr(run, "TABLES", {"ttt": "tictactoe"})
    monkeypatch.setattr(run, "METHODS", {})
    assert len(run.trainings()) == 5
