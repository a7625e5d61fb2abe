"""Perfect ConnectFour: the opponents AB and AB-DL, and the engine that answers them.

The engine BitBully (AGPL-3) is an optional extra, imported when the first question is asked that
the memory of earlier answers cannot answer. There is one engine per process (about 240 MB); players
hold no reference to it, so they can be copied and sent to other processes.

Three questions, each cheaper than the next::

    "sign"    which moves reach the best result: win, draw or loss        (what AB needs)
    "best"    which moves reach the best score, sooner wins being better  (what AB-DL needs)
    "scores"  the score of every move                                     (mistakes and pictures)

The score of a move is the number of stones that the winner will have left, plus one; it is positive
if the player who makes it wins, negative if this player loses, and 0 in a draw.
"""

import contextlib
import logging
from functools import cache
from pathlib import Path

import numpy as np

from ..checks import one_of
from ..files import data_directory, read_npz, write_npz
from ..games.game import check_game
from ..games.rules.connect4 import BOTTOM, CELLS, COLUMNS, ROWS, bitboard
from ..kernel.random import new_rng, random_int
from . import optional

# player: the number of stones up to which it sees no distances
BLIND_STONES = {"AB": 42, "AB-DL": 0, "AB-DL-8": 8}
QUESTIONS = ("sign", "best", "scores")
BOOK = "12-ply-dist"  # the other books have no distances, so AB-DL would be wrong in the opening
SAVE_EVERY = 300  # new answers, at least, before the file is written again
KEPT_STONES = 24  # later positions are solved faster than they would be worth remembering
ILLEGAL = -128  # score of a full column
MASKS = [tuple(c for c in range(COLUMNS) if mask >> c & 1) for mask in range(1 << COLUMNS)]
COLUMN = 2 ** (ROWS + 1) - 1
MEMORY_KIND = "perfect ConnectFour"
log = logging.getLogger(__name__)


class EngineMissing(ImportError):
    """BitBully is not installed."""


def knows(game) -> bool:
    """Return whether a game is ConnectFour on its usual board, which alone the engine knows."""
    return game.name == "connect4" and not game.identity["params"]


class Perfect:
    """Play ConnectFour perfectly; among equally good moves, choose at random.

    "AB" looks at results only. "AB-DL" wins as fast and loses as late as it can. "AB-DL-8" does so
    from the ninth stone on and is AB until then. Without BitBully, they raise EngineMissing when
    they have to choose.

    Source: [konen2021] Sec. 3.2. Deviations: D45.
    """

    version = 1

    def __init__(self, name: str):
        one_of("the name of a perfect player", name, tuple(BLIND_STONES))
        self.name, self.blind_stones = name, BLIND_STONES[name]

    def new_match(self, game, actions_from_start, seat, seed):
        """Begin a match of ConnectFour on its usual board."""
        if not knows(check_game(game, self.name)):
            raise ValueError(f"{self.name} plays connect4 on 6 x 7 only, not {game!r}")
        self.rng = new_rng(seed)

    def choose(self, state) -> int:
        """Return one of the best moves."""
        moves = oracle().moves(state, "sign" if self._is_blind(state) else "best")
        return moves[random_int(self.rng, len(moves))] if len(moves) > 1 else moves[0]

    def values(self, state) -> np.ndarray:
        """Return the moves' scores, or their signs where it sees no more."""
        scores = oracle().scores(state)
        return np.sign(scores) if self._is_blind(state) else scores

    def _is_blind(self, state):
        return (bitboard(state, 0) | bitboard(state, 2)).bit_count() < self.blind_stones


def _placed(stones: int, mirrored: bool, height: int = ROWS + 1) -> int:
    """Return the columns of a bitboard `height` bits apart, in the order of the board or mirrored.

    Ours have 7 bits, those of the engine 9.
    """
    columns = [stones >> (ROWS + 1) * c & COLUMN for c in range(COLUMNS)]
    order = reversed(columns) if mirrored else columns
    return sum(column << height * c for c, column in enumerate(order))


class Oracle:
    """Exact answers about ConnectFour positions; mirrored positions share theirs.

    ``memory``: question -> {key: answer}. An answer to "sign" and "best" is the moves as a 7-bit
    mask plus 128 * (value + 128), to "scores" seven bytes, lowest first.
    """

    def __init__(self):
        self.memory = {question: {} for question in QUESTIONS}
        # answers that were not in the memory; how many of them at the last saving
        self.searched = self.saved = 0
        self._core = self._board = None

    def moves(self, state, question: str) -> tuple[int, ...]:
        """Return the columns that reach the best result ("sign") or score ("best")."""
        answer, mirrored = self._ask(state, question)
        columns = MASKS[answer & 127]
        return tuple(COLUMNS - 1 - c for c in columns) if mirrored else columns

    def value(self, state, question: str = "best") -> int:
        """Return the mover's score of a running position, or with "sign" 1, 0 or -1."""
        return (self._ask(state, question)[0] >> COLUMNS) - 128

    def scores(self, state) -> np.ndarray:
        """Return the mover's score of every legal move, float64[num_legal]."""
        answer, mirrored = self._ask(state, "scores")
        scores = np.frombuffer(answer.to_bytes(COLUMNS, "little"), np.int8)
        scores = scores[::-1] if mirrored else scores
        return scores[scores != ILLEGAL].astype(float)

    def _ask(self, state, question):
        if state[4] > 1:
            raise ValueError("a perfect player is asked about positions where the game is not over")
        stones = [int(bitboard(state, k)) for k in (0, 2)]
        all_stones, known = stones[0] | stones[1], self.memory[question]
        keys = [_placed(stones[0], m) + _placed(all_stones, m) + int(BOTTOM) for m in (False, True)]
        key, mirrored = min(keys), keys[1] < keys[0]
        answer = known.get(key)
        if answer is None:
            self.searched += 1
            taken, mine = (_placed(s, mirrored, 9) for s in (all_stones, stones[state[4] & 1]))
            answer = self._search(question, taken, mine, CELLS - all_stones.bit_count())
            if all_stones.bit_count() <= KEPT_STONES:
                known[key] = answer
        return answer, mirrored

    def _search(self, question, taken, mine, free) -> int:
        if self._core is None:
            self._core, self._board = _engine()
        core, board = self._core, self._board
        board.setRawState(taken, mine, free)
        if question == "scores":
            scores = [max(ILLEGAL, score) for score in core.scoreMoves(board)]
            return int.from_bytes(np.array(scores, np.int8).tobytes(), "little")
        value = core.mtdf(board, 0) if question == "best" else int(np.sign(core.nullWindow(board)))
        mask = 0
        for column in range(COLUMNS):
            lost = question == "sign" and value < 0
            if board.isLegalMove(column) and (lost or self._reaches(board, column, value)):
                mask |= 1 << column
        return mask | value + 128 << COLUMNS

    def _reaches(self, board, column, value) -> bool:
        """Return whether a move scores at least `value`."""
        if board.canWin(column):
            return True
        after = board.playMoveOnCopy(column)
        if after.movesLeft() == 0:
            return 0 >= value
        return self._core.negamax(after, -value, 1 - value, 0) <= -value

    def save(self, path) -> None:
        """Add what this process knows to a file."""
        if Path(path).exists():
            self.load(path)
        arrays = {}
        for question, known in self.memory.items():
            arrays[f"{question}_keys"] = np.fromiter(known.keys(), np.uint64, len(known))
            arrays[f"{question}_answers"] = np.fromiter(known.values(), np.int64, len(known))
        write_npz(path, {"kind": MEMORY_KIND}, arrays)

    def load(self, path) -> None:
        """Remember what a file holds, too."""
        meta, arrays = read_npz(path)
        if meta.get("kind") != MEMORY_KIND:
            raise ValueError(f"{path} holds {meta.get('kind')!r}, not {MEMORY_KIND}: delete it")
        for question, known in self.memory.items():
            columns = (arrays[f"{question}_{what}"].tolist() for what in ("keys", "answers"))
            known.update(zip(*columns, strict=True))


def _engine():
    """Return BitBully with its opening book, and a board to set positions on."""
    try:
        if optional.hidden("bitbully"):
            raise ImportError("hidden by AFTERSTATE_HIDE")
        from bitbully import BitBully
        from bitbully.bitbully_core import BoardCore

        return BitBully(opening_book=BOOK)._core, BoardCore()
    except ImportError as error:
        how = "`make engines`, or `python -m pip install bitbully==0.0.79`"
        raise EngineMissing(f"perfect ConnectFour needs the engine BitBully: {how}") from error


def memory_file() -> Path:
    """Return where the answers are kept between processes."""
    return data_directory() / "cache" / "connect4-answers.npz"


@cache
def oracle() -> Oracle:
    """Return this process's :class:`Oracle`, with the answers kept by earlier processes."""
    found = Oracle()
    try:
        if memory_file().exists():
            found.load(memory_file())
    except (OSError, ValueError) as error:  # answers save time, nothing else depends on them
        log.warning("earlier answers about ConnectFour are dropped: %s", error)
        with contextlib.suppress(OSError):
            memory_file().unlink()
    return found


def keep_answers() -> None:
    """Add this process's answers to :func:`memory_file` if many are new."""
    known = oracle()
    if known.searched - known.saved >= max(SAVE_EVERY, sum(map(len, known.memory.values())) // 10):
        known.saved = known.searched
        try:
            known.save(memory_file())
        except (OSError, ValueError) as error:
            log.warning("the answers about ConnectFour were not kept: %s", error)
