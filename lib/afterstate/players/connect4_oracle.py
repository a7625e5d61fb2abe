"""Exact answers about ConnectFour positions by the engine BitBully, and the memory of them.

BitBully is licensed under the AGPL-3 and is not needed for anything else: it is an optional extra,
imported when the first question is asked that the memory of earlier answers can not answer. There
is one engine per process (about 240 MB); players hold no reference to it, so they can be copied and
sent to other processes.

Three questions are asked about a position, each cheaper than the next::

    "sign"    which moves reach the best result: win, draw or loss        (what AB needs)
    "best"    which moves reach the best score, sooner wins being better  (what AB-DL needs)
    "scores"  the score of every move                                     (mistakes and pictures)

The score of a move, for the player who makes it: positive = this player wins, and the greater the
sooner; 0 = draw; negative = this player loses, and the smaller the sooner. It is the number of
stones that the winner will have left, plus one.
"""

import importlib.util
import logging
from pathlib import Path

import numpy as np

from ..files import data_directory, read_npz, write_npz
from ..games.rules.connect4 import BOTTOM, CELLS, COLUMNS, ROWS, bitboard
from ..kernel.compile import kernel
from . import optional

QUESTIONS = ("sign", "best", "scores")
BOOK = "12-ply-dist"  # the other books have no distances, so AB-DL would be wrong in the opening
SAVE_EVERY = 300  # at least so many new answers before the file is written again
KEPT_STONES = 24  # later positions are solved faster than they would be worth remembering
ILLEGAL = -128  # score of a full column
MASKS = [tuple(c for c in range(COLUMNS) if mask >> c & 1) for mask in range(1 << COLUMNS)]
COLUMN = np.uint64(2 ** (ROWS + 1) - 1)
MEMORY_KIND = "perfect ConnectFour"
log = logging.getLogger(__name__)


class EngineMissing(ImportError):
    """BitBully is not installed; the message says how to install it."""


def available() -> bool:
    """Return whether the engine and its opening books are installed (nothing is imported)."""
    packages = ("bitbully", "bitbully_databases")
    return not optional.hidden("bitbully") and all(map(importlib.util.find_spec, packages))


def missing_engine() -> str:
    """Return that the engine is not installed and how to install it, or an empty text."""
    return (
        ""
        if available()
        else (
            "the perfect ConnectFour player BitBully (optional, licence AGPL-3) is not installed;"
            " `make engines` does it"
        )
    )


@kernel
def _reflect(stones):
    """Mirror a bitboard."""
    mirrored = np.uint64(0)
    for _ in range(COLUMNS):
        mirrored = mirrored << np.uint64(7) | stones & COLUMN
        stones >>= np.uint64(7)
    return mirrored


@kernel
def _widen(stones):
    """Spread the columns from 7 bits, as in our bitboards, to 9, as in the engine's."""
    wide = np.uint64(0)
    for c in range(COLUMNS):
        wide |= (stones >> np.uint64(7 * c) & COLUMN) << np.uint64(9 * c)
    return wide


@kernel
def describe(s, words):
    """Write the position's key and the engine's board, mirrored if that gives the smaller key.

    Return whether it does.

    ``words`` (uint64[4]): key, all stones, stones of the player to move, number of free cells.
    """
    mine, theirs = bitboard(s, s[4] & 1), bitboard(s, 1 - (s[4] & 1))
    first = theirs if s[4] & 1 else mine
    taken = mine | theirs
    key, reflected = first + taken + BOTTOM, _reflect(first) + _reflect(taken) + BOTTOM
    mirrored = reflected < key
    if mirrored:
        key, taken, mine = reflected, _reflect(taken), _reflect(mine)
    words[0], words[1], words[2], words[3] = key, _widen(taken), _widen(mine), np.uint64(CELLS)
    while taken:
        taken &= taken - np.uint64(1)
        words[3] -= np.uint64(1)
    return mirrored


class Oracle:
    """Exact answers about ConnectFour positions; mirrored positions share theirs.

    ``memory`` maps each question to ``{key: answer}``: for "sign" and "best" the moves as a 7-bit
    mask plus 128 * (value + 128), for "scores" seven bytes, lowest first.
    """

    def __init__(self):
        self.memory = {question: {} for question in QUESTIONS}
        # answers that were not in the memory; how many of them at the last saving
        self.searched = self.saved = 0
        self._core = self._board = None
        self._words = np.zeros(4, np.uint64)

    # -------------------------------------------------------------------------------------- answers
    def moves(self, state, question: str) -> tuple[int, ...]:
        """Return the columns that reach the best result ("sign") or the best score ("best")."""
        answer, mirrored = self._ask(state, question)
        return (
            tuple(COLUMNS - 1 - c for c in MASKS[answer & 127]) if mirrored else MASKS[answer & 127]
        )

    def value(self, state, question: str = "best") -> int:
        """Return the score of a running position for the mover, or with "sign" 1, 0 or -1."""
        return (self._ask(state, question)[0] >> COLUMNS) - 128

    def scores(self, state) -> np.ndarray:
        """Return the score of every legal move for the player to move, float64[num_legal].

        See the head of this module.
        """
        answer, mirrored = self._ask(state, "scores")
        scores = np.frombuffer(answer.to_bytes(COLUMNS, "little"), np.int8)
        scores = scores[::-1] if mirrored else scores
        return scores[scores != ILLEGAL].astype(float)

    def _ask(self, state, question):
        mirrored = describe(state, self._words)
        key, taken, mine, free = self._words.tolist()
        if state[4] > 1:
            raise ValueError(
                "a perfect player is asked only about positions in which the game is not over"
            )
        known = self.memory[question]
        answer = known.get(key)
        if answer is None:
            self.searched += 1
            answer = self._search(question, taken, mine, free)
            if CELLS - free <= KEPT_STONES:
                known[key] = answer
        return answer, mirrored

    def _search(self, question, taken, mine, free) -> int:
        if self._core is None:
            self._core, self._board = _engine()
        core, board = self._core, self._board
        board.setRawState(taken, mine, free)
        if question == "scores":
            return int.from_bytes(
                np.array(
                    [max(ILLEGAL, score) for score in core.scoreMoves(board)], np.int8
                ).tobytes(),
                "little",
            )
        value = core.mtdf(board, 0) if question == "best" else int(np.sign(core.nullWindow(board)))
        mask = 0
        for column in range(COLUMNS):
            if board.isLegalMove(column) and (
                question == "sign" and value < 0 or self._reaches(board, column, value)
            ):
                mask |= 1 << column
        return mask | value + 128 << COLUMNS

    def _reaches(self, board, column, value) -> bool:
        """Return whether a move scores at least `value`, by a search with an empty window."""
        if board.canWin(column):
            return True
        after = board.playMoveOnCopy(column)
        return (
            0 >= value
            if after.movesLeft() == 0
            else self._core.negamax(after, -value, 1 - value, 0) <= -value
        )

    # --------------------------------------------------------------------------------------- memory
    def save(self, path) -> None:
        """Add what this process knows to the file `path`, which is made or replaced as a whole."""
        if Path(path).exists():
            self.load(path)
        arrays = {}
        for question, known in self.memory.items():
            arrays[f"{question}_keys"] = np.fromiter(known.keys(), np.uint64, len(known))
            arrays[f"{question}_answers"] = np.fromiter(known.values(), np.int64, len(known))
        write_npz(path, {"kind": MEMORY_KIND}, arrays)

    def load(self, path) -> None:
        """Remember what the file `path` holds, too.

        Raises ValueError if it is damaged or of another kind.
        """
        meta, arrays = read_npz(path)
        if meta.get("kind") != MEMORY_KIND:
            raise ValueError(
                f"{path} holds {meta.get('kind')!r}, not answers of a perfect ConnectFour player:"
                " delete it"
            )
        for question, known in self.memory.items():
            known.update(
                zip(
                    arrays[f"{question}_keys"].tolist(),
                    arrays[f"{question}_answers"].tolist(),
                    strict=True,
                )
            )


def _engine():
    """Load BitBully with its opening book; return the engine and a board to set positions on."""
    try:
        if optional.hidden("bitbully"):
            raise ImportError("hidden by AFTERSTATE_HIDE")
        from bitbully import BitBully
        from bitbully.bitbully_core import BoardCore

        return BitBully(opening_book=BOOK)._core, BoardCore()
    except ImportError as error:
        raise EngineMissing(
            "the perfect ConnectFour players need the optional engine BitBully (AGPL-3), which is"
            " not installed: run `make engines`, or `python -m pip install bitbully==0.0.79` in"
            " the environment of this package"
        ) from error


_shared: list = []


def memory_file() -> Path:
    """Where the answers are kept between processes; it may be deleted at any time."""
    return data_directory() / "cache" / "connect4-answers.npz"


def oracle() -> Oracle:
    """Return this process's one :class:`Oracle`.

    The first call reads the answers kept by earlier processes.
    """
    if not _shared:
        _shared.append(Oracle())
        try:
            if memory_file().exists():
                _shared[0].load(memory_file())
        except OSError as error:  # answers save time, nothing else depends on them
            log.warning("no earlier answers about ConnectFour: %s", error)
        except ValueError as error:
            log.warning("earlier answers about ConnectFour are dropped: %s", error)
            memory_file().unlink(missing_ok=True)
    return _shared[0]


def keep_answers() -> None:
    """Add this process's answers to :func:`memory_file` if many are new.

    What two processes save at once may be lost.
    """
    known = oracle()
    if known.searched - known.saved >= max(SAVE_EVERY, sum(map(len, known.memory.values())) // 10):
        known.saved = known.searched
        try:
            known.save(memory_file())
        except (OSError, ValueError) as error:
            log.warning("the answers about ConnectFour were not kept: %s", error)
