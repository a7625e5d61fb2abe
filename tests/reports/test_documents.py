"""README, CONTRIBUTING and CHANGELOG: short, without a broken link, and what they show runs."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILT = "reports/paper/"  # by make reproduce


@pytest.mark.parametrize(
    "name, most", [("README.md", 120), ("CONTRIBUTING.md", 120), ("CHANGELOG.md", 500)]
)
def test_documents_are_short_and_their_links_lead_somewhere(name, most):
    text = (ROOT / name).read_text(encoding="utf-8")
    assert text.count("\n") <= most
    for href in re.findall(r"\]\(([^)]+)\)", text):
        assert href.startswith(("https://", BUILT)) or (ROOT / href).exists(), href


@pytest.mark.slow
def test_the_first_example_of_the_readme_trains_an_agent_that_does_not_lose(monkeypatch, capsys):
    monkeypatch.setattr("builtins.input", lambda prompt="": "q")  # of the board to play at
    block = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)
    names = {}
    exec(block[1].replace("arena.summary(", "seen = arena.summary("), names)
    assert block[1].count("\n") <= 12 and names["seen"]["mean"].tolist() == [0.0, 0.0]
