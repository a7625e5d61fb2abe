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


@pytest.mark.parametrize(
    "name, place, number",
    [
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
    ],
)
def test_arrays_that_do_not_fit_together(name, place, number):
    q, arrays = table.QTable(NIM), {key: array.copy() for key, array in filled().arrays().items()}
    if place is None:
        arrays[name] = number
    else:
        arrays[name][place] = number
    with pytest.raises(ValueError, match="fit"):
        q.load_arrays(arrays)
    with pytest.raises(ValueError, match="fit"):
        q.load_arrays({})
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
