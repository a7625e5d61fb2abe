"""Files of action values: what does not fit together is refused before a kernel can read it."""

import numpy as np
import pytest

from afterstate import files, games
from afterstate.networks import table

NIM = games.load("nim", heaps=2, stones=2)


def filled():
    """A table with three entries of one state."""
    q = table.QTable(NIM)
    for action in range(3):
        q.put(NIM.start(), action, 0.25 * action)
    return q


def replaced(name, place, number):
    """The table's arrays with one number changed."""
    arrays = {key: array.copy() for key, array in filled().arrays().items()}
    arrays[name][place] = number
    return arrays


@pytest.mark.parametrize(
    "arrays",
    [
        replaced("older", 0, 2),  # a circle
        replaced("older", 1, 1),  # an entry after itself
        replaced("older", 2, -2),
        replaced("action", 1, NIM.actions),
        replaced("action", 1, -1),
        replaced("newest", 0, 3),
        replaced("newest", 0, -2),
        replaced("owner", 0, 2),
        filled().arrays() | {"q": np.zeros(2)},
        filled().arrays() | {"q": np.zeros((3, 1))},
        filled().arrays() | {"q": np.float64(0.0)},
        filled().arrays() | {"keys": np.zeros((1, 3), np.uint64)},
        filled().arrays() | {"older": np.zeros(3, np.int64)},
        filled().arrays() | {"action": None},
        {},
    ],
)
def test_arrays_that_do_not_fit_together(arrays):
    q = table.QTable(NIM)
    with pytest.raises(ValueError, match="fit"):
        q.load_arrays(arrays)
    assert q.entries == 0, "nothing was taken over"


@pytest.mark.parametrize("change", [{"owner": 2}, {"owner": "0"}, {"episode": -1}, {"game": None}])
def test_a_header_that_says_what_can_not_be(tmp_path, change):
    filled().save(tmp_path / "q.npz")
    meta, arrays = files.read_npz(tmp_path / "q.npz")
    files.write_npz(tmp_path / "q.npz", meta | change, arrays)
    with pytest.raises(ValueError, match=r"q\.npz is damaged: .*; delete it and train again"):
        table.load(tmp_path / "q.npz", NIM)


def test_a_file_gives_the_same_table(tmp_path):
    q = filled()
    q.save(tmp_path / "q.npz")
    same = table.load(tmp_path / "q.npz", NIM)
    assert same.checksum() == q.checksum()
    assert same.action_values(NIM.start()).tolist() == [0.0, 0.25, 0.5, 0.0]
