"""The examples of the README's section on other libraries run as they stand."""

import re
from pathlib import Path

import pytest

from afterstate import arena, games, players

README = Path(__file__).resolve().parents[2] / "README.md"


@pytest.mark.slow
def test_the_examples_of_the_readme_run():
    section = (
        README.read_text(encoding="utf-8").split("## With other libraries")[1].split("\n## ")[0]
    )
    blocks = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    names = {"arena": arena, "games": games, "players": players}  # as in the README's first example
    assert len(blocks) == 3
    for block in blocks:
        assert block.count("\n") <= 5
        exec(block, names)
    assert names["small"].players == 2 and names["theirs"].num_players() == 3
    assert names["info"]["action_mask"].shape == (4,)
