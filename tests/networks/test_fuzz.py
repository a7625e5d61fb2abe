"""Hundreds of crafted files and rules: each is refused by a ValueError or does no harm.

They are fed in a process of their own, which might crash or hang.
"""

import functools
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from afterstate import games
from afterstate.files import read_npz, write_npz
from afterstate.games import definition
from afterstate.games.game import Game, check_game
from afterstate.networks import ntuple, table
from oldest import said_by
from sample_games import race

FILES, RULES = 250, 150
EXTREME = [-(2**31), -78, -1, 0, 1, 2, 3, 7, 255, 10**6, 2**31 - 1]
COUNTS = {"refused": 0, "harmless": 0}


def fuzz(examples):
    """Settings of a run of examples, always the same ones."""
    how = dict(deadline=None, derandomize=True, database=None)
    return settings(max_examples=examples, suppress_health_check=list(HealthCheck), **how)


def harmless(call, *arguments):
    """Make a call that may raise ValueError, and nothing else."""
    try:
        call(*arguments)
        COUNTS["harmless"] += 1
    except ValueError:
        COUNTS["refused"] += 1


def fuzz_files():
    """Read crafted files of tables and networks, and use what is accepted."""
    game = games.load("nim", heaps=2, stones=2)
    net, q = ntuple.Network(game, [[0, 1]]), table.QTable(game)
    for action in game.legal(game.start()):
        q.put(game.start(), action, 0.5)
    used = table.QTable(game)
    folder = Path(tempfile.mkdtemp())
    kinds = ["int8", "int32", "int64", "uint32", "uint64", "float32", "float64"]

    def bend(data, array):
        """An array that is a little or altogether different."""
        array, numbers = array.copy(), st.sampled_from(EXTREME)
        for _ in range(data.draw(st.integers(0, 2))):
            if array.size:
                place = data.draw(st.integers(0, array.size - 1))
                array.ravel()[place] = np.int64(data.draw(numbers)).astype(array.dtype)
        change = data.draw(st.integers(0, 9))
        if change == 0:
            array = array.astype(data.draw(st.sampled_from(kinds)))
        return array[: len(array) // 2] if change == 1 else array[None] if change == 2 else array

    def read(load, path):
        load(path, game).action_values(game.start())

    @fuzz(FILES)
    @given(st.data())
    def one(data):
        holder = data.draw(st.sampled_from([net, q]))
        holder.save(folder / "file.npz")
        meta, arrays = read_npz(folder / "file.npz")
        arrays = {name: bend(data, array) for name, array in arrays.items()}
        odd = st.sampled_from([None, -1, 3, "x", [], {}, [[0], [9]], True])
        for name in data.draw(st.lists(st.sampled_from(sorted(meta)), max_size=2)):
            meta[name] = data.draw(odd)
        write_npz(folder / "file.npz", meta, arrays)
        if holder is q:
            harmless(used.load_arrays, arrays)
            harmless(used.action_values, game.start())
        harmless(read, table.load if holder is q else ntuple.load, folder / "file.npz")

    one()


def no_legal(s, moves):
    return 0


def legal_too_far(s, moves):
    moves[0] = 3000
    return 1


def play_too_far(s, action):
    s[500 * action] += 1


def never(s):
    return False


def fuzz_rules():
    """Let games with sizes too small and rules that leave their arrays be tried out."""
    definition.compile_rule = functools.cache(definition.compile_rule)
    sound = race()._arguments | {"version": None}
    odd = {"legal": [no_legal, legal_too_far], "play": [play_too_far], "over": [never]}

    @fuzz(RULES)
    @given(st.data())
    def one(data):
        def size(right):
            return max(1, right + data.draw(st.sampled_from([0] * 8 + [-1, -2, 3])))

        changed = {name: size(2) for name in ("players", "actions", "max_legal", "size")}
        for rule, others in odd.items():
            if other := data.draw(st.sampled_from([None] * 5 + others)):
                changed[rule] = other
        changed["num_codes"] = [size(6)] * size(1)
        harmless(lambda: check_game(Game(**(sound | changed))))

    one()


def feed():
    """Print how many calls were refused, and how many did no harm."""
    warnings.simplefilter("ignore")
    fuzz_files()
    fuzz_rules()
    print(COUNTS["refused"], COUNTS["harmless"])


@pytest.mark.slow
def test_nothing_crafted_crashes_or_hangs():
    code = "from networks import test_fuzz; test_fuzz.feed()"
    refused, passed = map(int, said_by(code, timeout=900, PYTHONFAULTHANDLER=1).split())
    assert refused > 100 and passed > 100, "both kinds must occur, or nothing was tried"
