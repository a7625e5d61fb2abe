"""Files of action values: what does not fit together is refused before a kernel can read it."""

import numpy as np
import pytest

from afterstate import files, games
from afterstate.networks import table

NIM = games.load("nim", heaps=2, stones=2)


@pytest.fixture
def filled():
    """A table with three entries of one state."""
    q = table.QTable(NIM)
    for action in range(3):
        q.put(NIM.start(), action, 0.25 * action)
    return q


UNFIT = [
    ("older", 0, 2),  # a circle
    ("older", 1, 1),  # an entry after itself
    ("older", 2, -2),
    ("action", 1, NIM.actions),
    ("action", 1, -1),
    ("newest", 0, 3),
    ("newest", 0, -2),
    ("owner", 0, 2),
    ("q", None, np.zeros(2)),
    ("q", None, np.zeros((3, 1))),
    ("q", None, np.float64(0.0)),
    ("keys", None, np.zeros((1, 3), np.uint64)),
    ("older", None, np.zeros(3, np.int64)),
    ("action", None, None),
]


@pytest.mark.parametrize("name, place, number", UNFIT)
def test_arrays_that_do_not_fit_together(filled, name, place, number):
    q, arrays = table.QTable(NIM), {key: array.copy() for key, array in filled.arrays().items()}
    if place is None:
        arrays[name] = number
    else:
        arrays[name][place] = number
    for unfit in (arrays, {}):
        with pytest.raises(ValueError, match="fit"):
            q.load_arrays(unfit)
    assert q.entries == 0, "nothing was taken over"


def test_a_file_gives_the_same_table_or_says_what_can_not_be(tmp_path, filled):
    path = tmp_path / "q.npz"
    filled.save(path)
    same = table.load(path, NIM)
    assert same.checksum() == filled.checksum()
    assert same.action_values(NIM.start()).tolist() == [0.0, 0.25, 0.5, 0.0]
    meta, arrays = files.read_npz(path)
    for change in ({"owner": 2}, {"owner": "0"}, {"episode": -1}, {"game": None}, {"initial": "x"}):
        files.write_npz(path, meta | change, arrays)
        with pytest.raises(ValueError, match=r"q\.npz is damaged: .*; delete it and train again"):
            table.load(path, NIM)


def test_growth_changes_no_value():
    q, numbers = table.QTable(NIM, initial=0.5), list(range(3000))
    keys = [np.array([n, n % 7], np.uint64) for n in numbers]
    for n in numbers:
        q.put_under(keys[n], n % 9, n)
    assert q.states == q.entries == 3000 and q.table.q[:3000].tolist() == numbers
    assert [table.find(q.table, 0, key) for key in keys] == numbers
    assert q.action_values(NIM.start()).tolist() == [0.5] * 4
