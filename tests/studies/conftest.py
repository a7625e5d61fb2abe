"""Places where a study can leave its files."""

import pytest

from small_studies import make_place


@pytest.fixture
def place(tmp_path, monkeypatch):
    """An empty data and report directory of its own."""
    return make_place(tmp_path, monkeypatch)
