"""Files are written as a whole or not at all."""

import os

import numpy as np
import pytest

from afterstate import files


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize("moment", ["fsync", "replace"])
def test_what_can_not_be_written_leaves_nothing_behind(tmp_path, monkeypatch, moment, error):
    def fail(*_):
        raise error

    (tmp_path / "old.json").write_text("old")
    monkeypatch.setattr(os, moment, fail)
    with pytest.raises(type(error)):
        files.write_text(tmp_path / "old.json", "new")
    with pytest.raises(type(error)):
        files.write_npz(tmp_path / "new.npz", {}, {"x": np.zeros(3)})
    monkeypatch.undo()
    assert [path.name for path in tmp_path.iterdir()] == ["old.json"]
    assert (tmp_path / "old.json").read_text() == "old"
    files.write_text(tmp_path / "old.json", "new")
    assert (tmp_path / "old.json").read_text() == "new"
