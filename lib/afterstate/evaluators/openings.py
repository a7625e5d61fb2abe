"""What a trained agent plays first."""

from dataclasses import dataclass

import numpy as np

from .base import Evaluator, valued


@dataclass(frozen=True)
class FirstMoves(Evaluator):
    """How a greedy agent opens the game.

    Metrics: ``first_move:<action>``, the probability in percent that it is the agent's first move
    (equal values share it), and ``first_move_lead``, by how much the best first move is valued
    above the second best.
    """

    version: int = 1
    name: str = "first moves"

    def __call__(self, game, agent, seed: int = 0) -> dict[str, float]:
        """Return metric -> value."""
        start = game.start()
        values = np.asarray(valued(agent).action_values(start))
        best = values == values.max()
        shares = 100.0 * best / best.sum()
        lead = float(np.diff(np.sort(values)[-2:]).sum())
        names = [game.action_name(start, action) for action in game.legal(start)]
        moves = {f"first_move:{name}": float(share) for name, share in zip(names, shares)}
        return moves | {"first_move_lead": lead}
