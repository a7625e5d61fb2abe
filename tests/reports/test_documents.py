"""README, CONTRIBUTING and CHANGELOG: no broken link, and what they show runs.

And the site of make docs: whole, and every public name is documented, once.
"""

import collections
import importlib
import inspect
import json
import re
import shutil
import tomllib
from pathlib import Path

import pytest

import afterply
from afterply.studies.reports import site
from whole_pages import Page, broken_links

ROOT = Path(__file__).resolve().parents[2]
BUILT = "reports/paper/"  # by make reproduce


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_links_of_documents_lead_somewhere(name):
    for href in re.findall(r"\]\(([^)]+)\)", (ROOT / name).read_text(encoding="utf-8")):
        assert href.startswith(("https://", BUILT)) or (ROOT / href).exists(), href


@pytest.mark.slow
def test_the_first_example_of_the_readme_trains_an_agent_that_does_not_lose(monkeypatch, capsys):
    monkeypatch.setattr("builtins.input", lambda prompt="": "q")  # of the board to play at
    block = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)
    names = {}
    exec(block[1].replace("arena.summary(", "seen = arena.summary("), names)
    assert names["seen"]["mean"].tolist() == [0.0, 0.0]


def test_on_a_package_index_no_link_of_the_readme_leads_nowhere():
    text = (ROOT / "README.md").read_text("utf-8")
    hooks = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["hatch"]["metadata"]
    for change in hooks["hooks"]["fancy-pypi-readme"]["substitutions"]:
        text = re.sub(change["pattern"], change["replacement"], text)
    links = re.findall(r"\]\(([^)]+)\)", text)
    assert links and all(href.startswith("https://") for href in links)
    assert "CONTRIBUTING.md: one drawing" in text and "![" not in text


PUBLIC = [(module, name) for module, names in site.public().items() for name in names]
COMMON = re.findall(r"(?m)^    (\w+)  ", afterply.__doc__)  # that mean the same everywhere


def test_no_two_public_names_are_the_same_thing():
    things = [id(getattr(importlib.import_module(module), name)) for module, name in PUBLIC]
    assert len(things) == len(set(things)) > 90 and len(COMMON) > 4


@pytest.mark.parametrize("module, name", PUBLIC)
def test_a_public_name_says_what_its_parameters_mean(module, name):
    thing, names = getattr(importlib.import_module(module), name), []
    text = inspect.getdoc(thing)
    # constants have none, and the fields of a tuple or dataclass stand in the reference with types
    is_error = inspect.isclass(thing) and issubclass(thing, Exception)
    fields = "__match_args__" in vars(thing) or is_error
    if callable(thing) and not fields:
        names = list(inspect.signature(thing).parameters)
    if section := re.search(r"Parameters\n-+\n(.*?)(?=\n\n\w+\n--|\Z)", text, re.DOTALL):
        heads = re.findall(r"(?m)^\*{0,2}(\S.*?)(?: : .*)?$", section[1])
        assert {one for head in heads for one in head.split(", ")} == set(names)
    assert text
    for one in names:
        assert one in COMMON or re.search(rf"\b{one}\b", text), one


def test_a_link_to_a_how_to_leads_to_its_page(tmp_path):
    known = {"README.md": "index.html", "README.md#question": "question.html"}
    body = '<a href="../../README.md#question"><a href="../../README.md#other">'
    at = Path("paper/index.html"), Path("reports/paper/index.md"), known, tmp_path, tmp_path
    linked = site._linked(body, *at)
    assert linked == '<a href="../question.html"><a href="../index.html#other">'


@pytest.mark.slow
def test_the_site_is_whole_and_has_every_public_name_once(tmp_path, monkeypatch):
    pytest.importorskip("pdoc")
    monkeypatch.setenv("AFTERPLY_REPORTS", str(tmp_path))
    (tmp_path / "paper").mkdir()
    for name in ("00_start_here.ipynb", "games.md", "konen2021.md"):  # the others take long
        shutil.copy(ROOT / BUILT / name, tmp_path / "paper")
    folder = tmp_path / "site"
    played = {"page": "two-hex", "title": "Hex", "game": "hex", "asks": "What?", "words": "Two."}
    played["agents"] = {"one": "hex.npz", "other": "hex-early.npz"}
    read = {folder / path: None for path in site.build(folder, source=False, played=[played])}
    read = {path: Page(path.read_text("utf-8")) for path in read}
    assert set(read) == set(folder.rglob("*.html")) and len(read) > 35
    linked = [path.name for path in read if "two-hex.html" in path.read_text("utf-8")]
    assert sorted(linked) == ["index.html", "index.html", "konen2021.html"]
    (folder / "play" / "two-hex.html").write_text("made afterwards")
    assert not broken_links(read)
    script = (folder / "search.js").read_text("utf-8")
    parts = json.loads(re.match("const PARTS = (.*);\n", script)[1])
    both = script + (folder / "site.css").read_text("utf-8")
    assert not re.search(r"url\(|@import|fetch\(", both)
    known = collections.Counter(address for _, _, address, *_ in parts)
    for module, name in PUBLIC:
        assert known[f"{module.replace('.', '/')}.html#{name}"] == 1, (module, name)
    for _, _, address, *_ in parts:
        path, _, anchor = address.partition("#")
        assert not anchor or anchor in read[folder / path].ids, address
