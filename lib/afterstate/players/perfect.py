"""Perfect ConnectFour opponents AB and AB-DL.

What is asked of the engine, and what a score means, stands in
:mod:`afterstate.players.connect4_oracle`.
"""

from functools import partial

import numpy as np

from ..checks import one_of
from ..games.game import check_game
from ..games.rules.connect4 import bitboard
from ..kernel.random import new_rng, random_int
from .connect4_oracle import oracle

# player: it sees no distances for moves that lead to at most so many stones
BLIND_STONES = {"AB": 42, "AB-DL": 0, "AB-DL-8": 8}


def knows(game) -> bool:
    """Return whether a game is ConnectFour on its usual board, which alone the engine knows."""
    return game.name == "connect4" and not game.identity["params"]


class Perfect:
    """Play ConnectFour perfectly; among equally good moves, choose at random.

    Parameters
    ----------
    name : {"AB", "AB-DL", "AB-DL-8"}
        AB looks at results only: it neither hurries a win nor delays a loss. AB-DL wins as fast as
        it can and loses as late as it can. AB-DL-8 does so from the ninth stone on and is AB until
        then.

    Raises
    ------
    ValueError
        If the name is another.
    EngineMissing
        When it has to choose and BitBully is not installed.

    Source: [konen2021] Sec. 3.2. Deviations: D45.
    """

    version = 1

    def __init__(self, name: str):
        one_of("the name of a perfect player", name, tuple(BLIND_STONES))
        self.name, self.blind_stones = name, BLIND_STONES[name]

    def new_match(self, game, actions_from_start, seat, seed):
        """Begin a match; raises ValueError if the game is not ConnectFour."""
        if not knows(check_game(game, self.name)):
            raise ValueError(f"{self.name} plays connect4 on 6 x 7 only, not {game!r}")
        self.rng = new_rng(seed)

    def choose(self, state) -> int:
        """Return one of the best moves."""
        moves = oracle().moves(state, "sign" if self._is_blind(state) else "best")
        return moves[random_int(self.rng, len(moves))] if len(moves) > 1 else moves[0]

    def values(self, state) -> np.ndarray:
        """Return the moves' scores, or their signs where it sees no more, float64[num_legal]."""
        scores = oracle().scores(state)
        return np.sign(scores) if self._is_blind(state) else scores

    def _is_blind(self, state):
        return (bitboard(state, 0) | bitboard(state, 1)).bit_count() < self.blind_stones


AB = partial(Perfect, "AB")
ABDL = partial(Perfect, "AB-DL")
