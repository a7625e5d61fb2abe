"""What a perfect player says of a move, in the games that have one."""

import numpy as np

from ..players import connect4_oracle
from ..players.perfect import Perfect, knows
from ..players.searching import MaxN
from ..search import max_n

SMALL = {"nim", "nim3p"}  # looked through to the end by Max-N; Tic-Tac-Toe if it has nine cells
WORDS = {1.0: "a win", 0.0: "a draw", -1.0: "a loss"}
SLACK = 1e-9


class Judge:
    """Says how much a move gives away against perfect play.

    Parameters
    ----------
    game : Game
    player : player with ``values``
        Its values are the outcomes of perfect play.
    """

    def __init__(self, game, player):
        self.game, self.player = game, player
        player.new_match(game, [], 0, 0)

    def loss(self, state, action) -> float:
        """Return by how much the best move of a state is better than this one, at least 0."""
        values = np.asarray(self.player.values(state), float)
        return float(values.max() - values[self.game.legal(state).tolist().index(int(action))])

    def words(self, state, action) -> str:
        """Return what was wrong with a move, in words; empty if it was as good as any."""
        values = np.asarray(self.player.values(state), float)
        legal = self.game.legal(state).tolist()
        value = values[legal.index(int(action))]
        if values.max() - value <= SLACK:
            return ""
        best = [self.game.action_name(state, a) for a, v in zip(legal, values) if v == values.max()]
        said = f"{WORDS.get(float(values.max()), f'{values.max():+g}')} was there"
        gives = WORDS.get(float(value), f"{value:+g}")
        return f"loses value: {said} with {', '.join(best[:4])}, this is {gives}"


def judge_of(game) -> Judge | None:
    """Return the perfect judge of a game, or None if there is none here."""
    if game.name in SMALL or game.name == "tictactoe" and game.cells <= 9:
        return Judge(game, MaxN(max_n.UNLIMITED))
    if knows(game) and connect4_oracle.available():
        return Judge(game, Perfect("AB"))
    return None
