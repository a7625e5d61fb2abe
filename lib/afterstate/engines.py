"""Perfect ConnectFour opponents AB and AB-DL, and what is measured with them: matches, and mistakes by ply.

What is asked of the engine, and what a score means, stands in :mod:`afterstate.connect4_oracle`.
"""
from dataclasses import dataclass
from functools import partial

import numpy as np

from . import arena
from .connect4_oracle import EngineMissing, Oracle, available, keep_answers, memory_file, missing_engine, oracle
from .games.connect4 import bitboard
from .kernel import new_rng, random_int, seed_from

__all__ = ["AB", "ABDL", "EngineMissing", "Mistakes", "Oracle", "Perfect", "PerfectPlay", "available", "judge", "memory_file", "missing_engine", "oracle"]


BLIND_STONES = {"AB": 42, "AB-DL": 0, "AB-DL-8": 8}  # player: it sees no distances for moves that lead to at most so many stones


class Perfect:
    """Play ConnectFour perfectly; among equally good moves, choose at random.

    Parameters
    ----------
    name : {"AB", "AB-DL", "AB-DL-8"}
        AB looks at results only: it neither hurries a win nor delays a loss. AB-DL wins as fast as it can and loses as
        late as it can. AB-DL-8 does so from the ninth stone on and is AB until then.

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
        if name not in BLIND_STONES:
            raise ValueError(f"the perfect players are {', '.join(map(repr, BLIND_STONES))}, not {name!r}")
        self.name, self.blind_stones = name, BLIND_STONES[name]

    def new_match(self, game, actions_from_start, seat, seed):
        """Begin a match; raises ValueError if the game is not ConnectFour."""
        if game.name != "connect4":
            raise ValueError(f"{self.name} plays connect4 only, not {game!r}")
        self.rng = new_rng(seed)

    def choose(self, state) -> int:
        """Return one of the best moves."""
        moves = oracle().moves(state, "sign" if self._is_blind(state) else "best")
        return moves[random_int(self.rng, len(moves))] if len(moves) > 1 else moves[0]

    def values(self, state) -> np.ndarray:
        """Return what the player distinguishes of the moves' scores, their signs or all of them, float64[num_legal]."""
        scores = oracle().scores(state)
        return np.sign(scores) if self._is_blind(state) else scores

    def _is_blind(self, state):
        return (bitboard(state, 0) | bitboard(state, 1)).bit_count() < self.blind_stones


AB = partial(Perfect, "AB")
ABDL = partial(Perfect, "AB-DL")


@dataclass(frozen=True)
class PerfectPlay:
    """Matches of a ConnectFour agent against a perfect player from the empty board.

    Calling it with ``(game, agent, seed)`` returns, for opponent X in `opponents`:

    - ``score_first:X``   mean score of the agent as first player, in [-1, 1];
    - ``win_rate_first_only:X``   percent, (1 + score_first) / 4: as the original software computes the rate of both
      roles, taking for granted that nobody scores as second player against perfect play;
    - with ``roles="both"`` also ``score_second:X`` and ``win_rate:X``, percent, the rate of both roles as played.

    Parameters
    ----------
    opponents : tuple of str
        Of ``"AB"``, ``"AB-DL"`` and ``"AB-DL-8"``.
    roles : {"first", "both"}
        As first player only (learning curves) or in both roles.
    episodes : int
        Matches against each opponent in each role, at least 1.

    Raises
    ------
    ValueError
        If `roles` or an opponent is unknown.
    RuntimeError
        If a match fails.

    Source: [konen2021] Sec. 3.2, Fig. 4, Table 1. Deviations: D36, D45.
    """

    opponents: tuple = ("AB", "AB-DL")
    roles: str = "both"
    episodes: int = 40
    version: int = 1
    heavy = True  # the engine lives in the evaluation process only

    def __post_init__(self):
        if self.roles not in ("first", "both"):
            raise ValueError(f"roles must be 'first' or 'both', not {self.roles!r}")
        for name in self.opponents:
            Perfect(name)

    @property
    def name(self) -> str:
        """Name of the measurement in records."""
        return f"perfect play, {self.roles}" + ("" if self.opponents == ("AB", "AB-DL") else f", {' and '.join(self.opponents)}")

    @property
    def settings(self) -> dict:
        """What a record says besides name and version."""
        return {"opponents": list(self.opponents), "roles": self.roles, "episodes": self.episodes, "player_version": Perfect.version}

    def lacks(self) -> str:
        """Return what is missing to measure, with the remedy, or an empty text."""
        return missing_engine()

    def matches(self, game, agent, opponent: str, seed: int = 0):
        """Return the long table of the matches against one opponent, as :func:`arena.matches` does."""
        seats = [("agent", opponent)] + ([(opponent, "agent")] if self.roles == "both" else [])
        agent = agent if hasattr(agent, "choose") else getattr(agent, "net", agent)
        return arena.matches(game, {"agent": agent, opponent: Perfect(opponent)}, None, self.episodes, seed, seats=seats)

    def __call__(self, game, agent, seed: int = 0) -> dict[str, float]:
        """Return metric -> value."""
        found = {}
        for name in self.opponents:
            table = self.matches(game, agent, name, seed)
            failed = table[table.error != ""]
            if len(failed):
                raise RuntimeError(f"{len(failed) // 2} of the {len(table) // 2} matches against {name} failed; "
                                   f"the first: {failed.error.iloc[0]}")
            score = table[table.player == "agent"].groupby("seat").score.mean()
            found |= {f"score_first:{name}": float(score[0]), f"win_rate_first_only:{name}": 25.0 * (1.0 + float(score[0]))}
            if self.roles == "both":
                found |= {f"score_second:{name}": float(score[1]), f"win_rate:{name}": 25.0 * (2.0 + float(score[0] + score[1]))}
        keep_answers()
        return found


@dataclass(frozen=True)
class Mistakes:
    """How often an agent gives away the value of its position, by ply, when it plays itself from many openings.

    Calling it with ``(game, agent, seed)`` returns ``mistakes:all`` and ``mistakes:ply 07`` ..., percent of the moves made
    at that ply (the first ply of a game is 0) that lower the game-theoretic value for the mover.

    Parameters
    ----------
    opening : int
        Every sequence of so many plies opens one game; these moves are not judged.

    Source: [konen2021] Sec. 3.2 (how good is TD-FARL). Deviations: none.
    """

    opening: int = 2
    name: str = "mistakes in self-play"
    version: int = 1
    heavy = True

    def lacks(self) -> str:
        """Return what is missing to measure, with the remedy, or an empty text."""
        return missing_engine()

    def __call__(self, game, agent, seed: int = 0) -> dict[str, float]:
        """Return metric -> percent."""
        made, wrong = np.zeros(42, np.int64), np.zeros(42, np.int64)
        for k, start in enumerate(arena.starts_all(game, self.opening)):
            moves = arena.match(game, [agent] * 2, start, seed_from(seed, k)).moves
            for ply, before, after in judge(game, [*start.actions, *moves])[self.opening:]:
                made[ply] += 1
                wrong[ply] += after < before
        keep_answers()
        rates = {f"mistakes:ply {ply:02d}": 100.0 * float(wrong[ply]) / int(made[ply]) for ply in np.flatnonzero(made)}
        return {"mistakes:all": 100.0 * float(wrong.sum()) / int(made.sum())} | rates


def judge(game, actions) -> list[tuple[int, int, int]]:
    """Return, for every action of a game from the empty board, (ply, value before, value after) for its player.

    Values are 1 = won, 0 = drawn, -1 = lost under perfect play; a lower value after than before is a mistake.

    Examples
    --------
    >>> from afterstate import engines, games
    >>> engines.judge(games.load("connect4"), [3, 0]) if engines.available() else [(0, 1, 1), (1, -1, -1)]
    [(0, 1, 1), (1, -1, -1)]
    """
    s, rows = game.start(), []
    for ply, action in enumerate(actions):
        before, player = oracle().value(s, "sign"), game.player(s)
        s = game.play(s, action)
        after = int(game.score(s)[player]) if game.over(s) else -oracle().value(s, "sign")
        rows.append((ply, before, after))
    return rows
