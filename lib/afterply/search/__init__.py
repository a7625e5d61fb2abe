"""Values of actions by looking ahead: Max-N, Min-Max, an exact solver, Monte Carlo tree search."""

__all__ = ["max_n", "mcts", "puct"]
