"""Random games of the library, played again by rules in C (``rules.c``) and compared at each ply.

The library plays and writes a log: who is to move, whether the game is over, all rewards, all
cells, all legal actions and the one that is played. The rules in C read it, and stop at the first
number that is not theirs. They were written from the games' descriptions and see no state, no code
and no compiler of the library.
"""

import ctypes
import functools
import shutil
import subprocess
import time
from pathlib import Path

import numpy as np

from afterply import games
from afterply.games import calls
from afterply.kernel.compile import cache_root, kernel
from afterply.kernel.random import new_rng, random_int, seed_from

SOURCE = Path(__file__).with_name("rules.c")
COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
LOG = 1 << 22  # numbers of one chunk of games
CHUNK = 5_000  # games at most
LONGEST = 40  # plies of a cube, which random twists hardly ever solve
GIVEN_UP = -2  # in place of an action, after so many plies

MOST_PLIES = 1 << 30  # of all other games, which end
MORRIS = [0, 3, 200, 0]
ANYWHERE = 1  # 2048 from random boards
GAMES = [  # the name and parameters here; the name and settings in C
    ("tictactoe", {}, "tictactoe", [3, 3, 3]),
    ("tictactoe", {"rows": 4, "columns": 6, "k": 4}, "tictactoe", [4, 6, 4]),
    ("tictactoe", {"rows": 15, "columns": 15, "k": 5}, "tictactoe", [15, 15, 5]),
    ("tictactoe", {"rows": 6, "columns": 6, "k": 4, "players": 3}, "tictactoe", [6, 6, 4]),
    ("tictactoe", {"rows": 5, "columns": 5, "k": 3, "players": 4}, "tictactoe", [5, 5, 3]),
    ("connect4", {}, "connect4", [6, 7, 4]),
    ("connect4", {"rows": 4, "columns": 5, "k": 3}, "connect4", [4, 5, 3]),
    ("connect4", {"columns": 9, "players": 3}, "connect4", [6, 9, 4]),
    ("connect4", {"columns": 9, "players": 4}, "connect4", [6, 9, 4]),
    ("nim", {}, "nim", [3, 5, 5, 1]),
    ("nim", {"heaps": 4, "stones": 7, "take": 3, "misere": True}, "nim", [4, 7, 3, 0]),
    ("nim3p", {}, "nim", [3, 5, 5, 0, 2]),
    ("nim3p", {"heaps": 4, "take": 2, "extra_rule": False}, "nim", [4, 5, 2, 0, 0]),
    ("kalah", {}, "kalah", [6, 4]),
    ("kalah", {"houses": 4, "seeds": 3, "empty_capture": True}, "kalah", [4, 3, 1]),
    ("kalah", {"margin": True}, "kalah", [6, 4, 0, 1]),
    ("hex", {}, "hex", [6]),
    ("hex", {"size": 11}, "hex", [11]),
    ("hex", {"size": 5, "swap": True}, "hex", [5, 1]),
    ("dots", {}, "dots", [3, 3]),
    ("dots", {"rows": 2, "columns": 4, "players": 3}, "dots", [2, 4]),
    ("othello", {}, "othello", [8]),
    ("othello", {"side": 6}, "othello", [6]),
    ("othello", {"side": 4}, "othello", [4]),
    ("checkers", {}, "checkers", [0, 3, 200, 400]),
    ("giveaway", {}, "checkers", [1, 3, 200, 400]),
    ("morris", {}, "morris", [9, 16, 1, 1, *MORRIS]),
    ("morris", {"men": 6}, "morris", [6, 8, 0, 0, *MORRIS]),
    ("morris", {"men": 3}, "morris", [3, 8, 0, 0, *MORRIS]),
    ("morris", {"men": 3, "lines": 6, "blocked": "pass"}, "morris", [3, 6, 0, 0, 1, *MORRIS[1:]]),
    ("race", {}, "race", []),
    ("race", {"players": 3}, "race", []),
    ("race", {"players": 4}, "race", []),
    ("cube2", {}, "cube", [2]),
    ("cube3", {}, "cube", [3]),
    ("game2048", {"raw_score": True}, "game2048", [ANYWHERE]),
    ("game2048", {"raw_score": True}, "game2048", []),
]


@kernel
def put_tiles(s, rng):
    """Write a random board of 2048: play from the start never sees the greater tiles."""
    most = 1 + random_int(rng, 14)
    for half in range(2):
        word = 0
        for c in range(8):
            tile = 1 + random_int(rng, most) if random_int(rng, 3) else 0
            word |= tile << 4 * c
        s[half] = np.int32(np.uint32(word))


@kernel
def write_games(rules, anywhere, longest, most, s, moves, rewards, cells, log, rng):
    """Play games at random and log every position; return how many, and how many plies.

    A game is given up after `longest` plies.

    The last game that does not fit into the log is none; a log too short for one game gives none.
    """
    used = games = plies = 0
    widest = 3 + rewards.shape[0] + cells.shape[0] + moves.shape[0] + 1
    while games < most:
        calls.call_start(rules, s, rng)
        if anywhere:
            put_tiles(s, rng)
        place = used
        game_plies = 0
        while place + widest <= log.shape[0]:
            over = calls.call_over(rules, s)
            log[place] = calls.call_player(rules, s)
            log[place + 1] = over
            place += 2
            calls.call_score(rules, s, rewards)
            for p in range(rewards.shape[0]):
                log[place + p] = rewards[p]
            place += rewards.shape[0]
            calls.call_board(rules, s, cells)
            for c in range(cells.shape[0]):
                log[place + c] = cells[c]
            place += cells.shape[0]
            n = 0 if over else calls.call_legal(rules, s, moves)
            log[place] = n
            for i in range(n):
                log[place + 1 + i] = moves[i]
            place += n + 1
            if over:
                log[place] = -1
                break
            action = moves[random_int(rng, n)] if n > 0 else -1
            if game_plies == longest:
                action = GIVEN_UP
            log[place] = action
            place += 1
            if n == 0 or action == GIVEN_UP:  # without a move, the other side will say so
                break
            game_plies += 1
            calls.call_play(rules, s, action)
            calls.call_chance(rules, s, rng)
        else:
            return games, plies
        used = place + (1 if over else 0)
        games += 1
        plies += game_plies
    return games, plies


@functools.cache
def library():
    """Compile the rules in C; return them."""
    if COMPILER is None:
        raise RuntimeError("the rules are in C, and there is no compiler: install cc, gcc or clang")
    target = cache_root() / "nightly_rules.so"
    target.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run([COMPILER, "-O2", "-shared", "-fPIC", "-o", target, SOURCE, "-lm"], check=True)
    return ctypes.CDLL(str(target))


def is_anywhere(name, settings) -> bool:
    """Return whether games begin with random boards."""
    return name == "game2048" and settings == [ANYWHERE]


def label(name, params, other, settings) -> str:
    """Return a game in words, such as ``hex(size=11)``."""
    words = f"{name}({', '.join(f'{key}={value}' for key, value in params.items())})"
    return words + (" from random boards" if is_anywhere(name, settings) else "")


class Comparison:
    """One game, here and in C."""

    def __init__(self, name, params, other, settings):
        self.label = label(name, params, other, settings)
        self.anywhere = is_anywhere(name, settings)
        self.longest = LONGEST if other == "cube" else MOST_PLIES
        self.game = games.load(name, **params)
        self.other = other.encode()
        self.settings = np.array(settings + [0] * (8 - len(settings)), np.int32)
        rules = self.game.rules
        self.arrays = (
            np.zeros(rules.size, np.int32),
            np.zeros(rules.max_legal, np.int32),
            np.zeros(rules.players),
            np.zeros(rules.cells, np.int32),
            np.zeros(LOG),
        )

    def compare(self, seed, chunk, most=CHUNK):
        """Compare one chunk; return (games, plies, CPU seconds, difference or None)."""
        begun = time.process_time()
        rng = new_rng(seed_from("nightly", seed, self.label, chunk))
        limits = self.longest, most
        number, plies = write_games(self.game.rules, self.anywhere, *limits, *self.arrays, rng)
        how = ctypes.create_string_buffer(200)
        first = library().differs(
            self.other,
            self.settings.ctypes.data_as(ctypes.c_void_p),
            self.game.players,
            self.game.rules.cells,
            self.arrays[-1].ctypes.data_as(ctypes.c_void_p),
            number,
            how,
            len(how),
        )
        said = f"chunk {chunk}, game {first}, {how.value.decode()}" if first else None
        if not number:
            said = f"chunk {chunk}: the log is too short for one game"
        return number, plies, time.process_time() - begun, said
