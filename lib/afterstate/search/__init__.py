"""Values of actions by looking ahead: Max-N, Min-Max, an exact solver, Monte Carlo tree search."""
