"""Alpha-beta on checkers with a linear value function, beside OpenSpiel's in Python."""

import importlib.util
import random

import numpy as np

from ..games.catalogue import load
from ..networks.linear import Linear
from ..players.linear_matches import random_weights
from ..search.linear_search import Searcher
from .bench_rivals import beside, fastest

POSITIONS = 30  # of random games, after 0, 2, 4, ... plies
DEPTHS = {4: "as in [mandziuk2004]", 8: "deeper"}
THEIR_DEPTH = 5
WEIGHTS = random_weights(1, "bench")[0]


def ours(game, depth: int) -> float:
    """Return the positions per CPU second of searches for the best action, with F22 at the leaves.

    From positions of random games; roots and positions between two jumps do not count.
    """
    searcher, rng = Searcher(Linear(game, depth=depth, weights=WEIGHTS)), np.random.default_rng(1)
    states = []
    for plies in range(0, 2 * POSITIONS, 2):
        state = game.start()
        for _ in range(plies):
            if not game.over(state):
                state = game.next(state, rng.choice(game.legal(state)))
        if not game.over(state):
            states.append(state)

    def step():
        found = 0
        for state in states:
            searcher.best(state)
            found += searcher.positions
        return found

    return fastest(step)


def openspiel(name: str, depth: int = THEIR_DEPTH) -> float:
    """Return the same of OpenSpiel's Python alpha-beta on its C++ states, every leaf worth 0.

    Positions are counted once and timed without counting, so it pays for nothing but its search.
    """
    import pyspiel
    from open_spiel.python.algorithms import minimax

    game, choose, states = pyspiel.load_game(name), random.Random(1).choice, []
    for plies in range(0, 2 * POSITIONS, 2):
        state = game.new_initial_state()
        for _ in range(plies):
            if not state.is_terminal():
                state.apply_action(choose(state.legal_actions()))
        if not state.is_terminal():
            states.append(state)

    def search():
        for state in states:
            minimax.alpha_beta_search(
                game,
                state,
                value_function=lambda leaf: 0.0,
                maximum_depth=depth,
                maximizing_player_id=state.current_player(),
            )

    plain, positions = minimax._alpha_beta, 0

    def counted(*arguments, **named):
        nonlocal positions
        positions += 1
        return plain(*arguments, **named)

    minimax._alpha_beta = counted
    try:
        search()
    finally:
        minimax._alpha_beta = plain

    def step():
        search()
        return positions

    return fastest(step)


def lines() -> list[str]:
    """Measure; return the lines of the table."""
    installed = importlib.util.find_spec("open_spiel") is not None
    rival, rows = openspiel("checkers") if installed else None, []
    for name in ("checkers", "giveaway"):
        for depth, what in DEPTHS.items():
            speed = ours(load(name), depth)
            other = beside(speed, rival, 0)
            rows.append(f"| {name}, {depth} turns ({what}) | {speed:,.0f} | {other} |")
            print(rows[-1], flush=True)
    return [
        "",
        "| alpha-beta, positions per CPU second | ours, 22 features at the leaves | OpenSpiel's in"
        f" Python, checkers, {THEIR_DEPTH} actions, leaves worth 0 | ratio |",
        "|---|--:|--:|--:|",
        *rows,
    ]
