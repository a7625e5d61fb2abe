"""Benchmarks: rivals stand beside ours from the same run, look-ups are counted as they happen."""

import re

import pytest

from afterstate import games
from afterstate.commands import bench_linear, bench_lookups, bench_rivals, bench_wrapped


def test_lookups_of_the_first_move_by_hand(monkeypatch):
    """One tuple over all nine cells on eight boards: every action changes it on all of them."""
    monkeypatch.setattr(bench_lookups, "POSITIONS", 1)
    tictactoe = games.load("tictactoe")
    assert bench_lookups.lookups_of_a_move(tictactoe, [range(9)]) == 2 * 8 + 9 * 8
    # the corner tuple is changed on two boards by a corner, on none by the centre or an edge
    assert bench_lookups.lookups_of_a_move(tictactoe, [[0]]) == 2 * 8 + 4 * 2


@pytest.mark.slow
def test_rivals_are_measured_here_or_left_out(monkeypatch):
    monkeypatch.setattr(bench_rivals, "ours", lambda game: (1000.0, 300.0))
    monkeypatch.setattr(bench_rivals, "openspiel", lambda name, options: (100.0, 200.0))
    text = "\n".join(bench_rivals.lines())
    assert "| Hex 6x6 | 1,000 | 100 | 10.0 |" in text and "| Hex 6x6 | 300 | 200 | 1.5 |" in text
    monkeypatch.setattr(bench_rivals.importlib.util, "find_spec", lambda name: None)
    assert "| Othello | 1,000 | not installed |  |" in "\n".join(bench_rivals.lines())


def test_alpha_beta_stands_beside_openspiel_or_alone(monkeypatch):
    monkeypatch.setattr(bench_linear, "ours", lambda game, depth: 1e6 * depth)
    monkeypatch.setattr(bench_linear, "openspiel", lambda name: 1e5)
    text = "\n".join(bench_linear.lines())
    assert "| giveaway, 4 turns (as in [mandziuk2004]) | 4,000,000 | 100,000 | 40 |" in text
    monkeypatch.setattr(bench_linear.importlib.util, "find_spec", lambda name: None)
    assert "| 8,000,000 | not installed |  |" in "\n".join(bench_linear.lines())


def test_openspiel_searches_are_counted_and_left_as_they_were(monkeypatch):
    minimax = pytest.importorskip("open_spiel.python.algorithms.minimax")
    plain, steps = minimax._alpha_beta, []
    monkeypatch.setattr(bench_linear, "POSITIONS", 1)  # the start: 7 moves, 7 answers to each
    monkeypatch.setattr(bench_linear, "fastest", lambda step: steps.append(step()) or 1.0)
    bench_linear.openspiel("checkers", 1)
    assert steps == [1 + 7] and minimax._alpha_beta is plain


def test_figures_from_elsewhere_are_ratios_with_machine_and_date():
    table = bench_rivals.ELSEWHERE
    assert "Cascade Lake" in table and "2026" in table
    cells = re.findall(r"\|([^|\n]+)(?=\|)", table.partition("|--:|\n")[2])
    numbers = [float(n) for cell in cells[1::3] + cells[2::3] for n in re.findall(r"[\d.]+", cell)]
    assert numbers and max(numbers) < 100  # no speed, only ratios


def test_wrapped_searches_stand_beside_openspiel_or_alone(monkeypatch):
    monkeypatch.setattr(bench_wrapped, "ours", lambda game, tuples: 1500.0)
    monkeypatch.setattr(bench_wrapped, "openspiel_search", lambda name, options: 1000.0)
    assert "| Othello, 100 7-tuples | 1,500 | 1,000 | 1.50 |" in "\n".join(bench_wrapped.lines())
    monkeypatch.setattr(bench_wrapped.importlib.util, "find_spec", lambda name: None)
    assert "| 1,500 | not installed |  |" in "\n".join(bench_wrapped.lines())


@pytest.mark.slow
def test_a_wrapped_search_is_counted_by_its_iterations(monkeypatch):
    done = []
    monkeypatch.setattr(bench_wrapped, "fastest", lambda step: done.append(step()) or 1.0)
    bench_wrapped.ours(games.load("tictactoe"), [[0, 1, 2]])
    assert done == [bench_wrapped.ITERATIONS]
