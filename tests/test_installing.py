"""A wheel alone trains, plays and loads; `make` sets up a new environment, as containers do."""

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from afterply.studies.records import read

ROOT = Path(__file__).resolve().parents[1]
CORE = """
import sys
from pathlib import Path

STUDY = "IPython anywidget ipykernel jinja2 matplotlib mistune nbconvert nbformat papermill"
STUDY += " pygments seaborn traitlets tqdm pyspiel gymnasium pettingzoo distributed"


class Missing:  # as where only the core is installed
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in STUDY.split():
            raise ModuleNotFoundError(f"No module named {name!r}", name=name.partition(".")[0])


sys.meta_path.insert(0, Missing())
import afterply
from afterply import arena, games, players, screen
from afterply.studies import papers
from afterply.commands import cli
from afterply.files import data_directory, published_file
from afterply.learners import td
from afterply.networks import ntuple
from afterply.opponents import at_strength

assert Path(afterply.__file__).is_relative_to(sys.argv[1]), afterply.__file__
assert not data_directory().exists()
assert Path(afterply.__file__).with_name("py.typed").exists()  # type checkers read annotations
game = games.load("nim")
session = td.Session(game, tuples="nim-1x3", seed=1)  # a list of the data folder
session.train(50)
result = arena.match(game, [session, players.Random()], seed=1)
assert len(result.moves) > 2 and screen.replay(game, result.states, result.moves) is not None
hexes = games.load("hex")
net = ntuple.load(published_file("models") / "hex.npz", hexes)
assert abs(net.action_values(hexes.start())).max() > 0
opponent = at_strength(games.load("tictactoe"), 250)
arena.match(games.load("tictactoe"), [opponent, players.Random()], seed=1)
assert len(papers.load("konen2021").claims) > 20 and published_file("golden.json").exists()
assert cli.main("train nim --episodes 20 --out mine.npz".split()) == 0
assert cli.main("match nim mine.npz random --episodes 1".split()) == 0
EXTRAS = {"studies.reports": "plot", "adapters.open_spiel": "open-spiel"}
for room, extra in EXTRAS.items():
    try:
        __import__(f"afterply.{room}")
        raise AssertionError(f"{room} does not miss anything")
    except ImportError as error:
        own = f"pip install 'afterply-{afterply.__version__}-py3-none-any.whl[{extra}]'"
        assert own in str(error), error
print("all well")
"""


STUDY = """
from pathlib import Path

from afterply import games
from afterply.learners import td
from afterply.studies.reports import collect
from afterply.studies import Study

collect.build("quick", [])  # the templates and the style sheet are in the wheel
assert "konen2021" in (Path.cwd() / "reports" / "quick" / "index.html").read_text()
for profile in ("quick", "own"):  # without records, and with
    params = dict(runs=1, episodes=20, eval_every=20)
    study = Study("nim", profile=profile, paper="konen2021", params=params, workers=1)
    study.arm("FARL", td, game=games.load("nim"), tuples="nim-1x3")
    study.finish()
    assert len(study.table()) and not (Path.cwd() / "reports" / profile / "data").exists()
assert (Path.cwd() / "data" / "records" / "nim.jsonl").exists()
print("all well")
"""


PLOT = """
import sys
from pathlib import Path

STUDY = "IPython anywidget ipykernel nbconvert nbformat papermill jupyterlab traitlets".split()


class Missing:  # what the extra for plots does not bring
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in STUDY:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name.partition(".")[0])


sys.meta_path.insert(0, Missing())
from afterply import games
from afterply.commands import cli
from afterply.learners import td
from afterply.studies import sweep

CLAIM = "{id: a, place: {section: 1}, value: 2, unit: percent, arm: 1, metric: x}"
Path("own.yaml").write_text(f"claims: [{CLAIM}]")
rows = ["arm,run,metric,value", *(f"1,{n},x,{n}" for n in (1, 2, 3))]
Path("own.csv").write_text("\\n".join([*rows, ""]))
assert cli.main(["judge", "own.yaml", "own.csv"]) == 0 and Path("own/index.html").is_file()
def evaluate(game, net, seed):
    return {"x": 1.0}


found = sweep(games.load("nim"), td, seeds=1, episodes=20, evaluate=evaluate,
              alpha=[0.1, 0.3], tuples="nim-1x3")
assert len(found.table) and found.curves() is not None
print("all well")
"""


def pip(command, *words):
    run([sys.executable, "-m", "pip", command, "--quiet", "--no-index", "--no-deps", *words], ROOT)


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    pip("wheel", "--no-build-isolation", "-w", folder / "built", ROOT)
    pip("install", "--target", folder / "installed", *(folder / "built").glob("*.whl"))
    return folder / "installed"


@pytest.mark.slow
@pytest.mark.parametrize("script", [CORE, PLOT, STUDY], ids=["core", "plot", "study"])
def test_a_wheel_is_enough_where_there_is_no_checkout(installed, tmp_path, script):
    said = run([sys.executable, "-c", script, installed], tmp_path, PYTHONPATH=installed)
    assert said.split("\n")[-2:] == ["all well", ""], said


HERE = Path(sysconfig.get_path("purelib"))  # all that the lock file names, installed once already
TRY = """
import importlib.metadata, re, sys
from packaging.requirements import Requirement
from afterply import arena, games, players
import afterply

assert str(afterply.__file__).startswith(sys.argv[1]), afterply.__file__
arena.match(games.load("nim"), [players.Random()] * 2, seed=1)
installed = {}
for found in importlib.metadata.distributions():  # the first on the path is the one that counts
    installed.setdefault(re.sub("[-_.]+", "-", found.name).lower(), found.version)
lines = open("requirements.lock").read().split("\\n")
pins = [Requirement(line.rstrip(" \\\\")) for line in lines if line[:1].isalnum()]
pins = [pin for pin in pins if pin.marker is None or pin.marker.evaluate()]
wrong = [str(pin) for pin in pins if not pin.specifier.contains(installed.get(pin.name, "0"))]
print(len(pins) > 100, wrong)
"""
COPIED = ("lib", "Makefile", "pyproject.toml", "README.md", "LICENSE", "NOTICE")
# of the process that runs these tests
HIDDEN = ("PYTHONPATH", "VIRTUAL_ENV", "MAKEFLAGS", "MAKELEVEL", "MFLAGS", "AFTERPLY_DATA")


def copied_checkout(folder):
    """Copy what a clone has, as far as an environment needs it."""
    folder.mkdir()
    for name in (*COPIED, *(path.name for path in ROOT.glob("requirements*.lock"))):
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, folder / name)
    (folder / "data").symlink_to(ROOT / "data")
    return folder


def new_environment(folder):
    """Make an environment that sees the packages of this one, so that little is downloaded.

    The lock file counts all the same: what is not there in the version that it pins is installed
    in the new environment, with its hash.
    """
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True, timeout=120)
    (site,) = folder.glob("lib/python*/site-packages")
    (site / "here.pth").write_text(f"{HERE}\n")
    return folder / "bin"


def run(command, folder, binaries=Path(sys.executable).parent, **settings):
    """Run a command in a folder, with an environment first on the path; return what it prints."""
    settings |= {"PATH": f"{binaries}{os.pathsep}{os.environ['PATH']}"}
    outside = {k: v for k, v in os.environ.items() if k not in HIDDEN}
    outside |= {"PIP_DISABLE_PIP_VERSION_CHECK": "1"} | {k: str(v) for k, v in settings.items()}
    alone = isinstance(command, str)
    words, how = command if alone else list(map(str, command)), {"text": True, "shell": alone}
    done = subprocess.run(words, cwd=folder, env=outside, capture_output=True, timeout=600, **how)
    assert done.returncode == 0, f"{command}:\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.mark.slow
def test_the_dev_container_is_set_up_by_make(tmp_path):
    definition = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text())
    assert definition["image"] == "python:3.11-bookworm" and 8888 in definition["forwardPorts"]
    checkout = copied_checkout(tmp_path / "clone")
    binaries = new_environment(checkout / ".venv")
    run(definition["postCreateCommand"], checkout)
    assert (checkout / ".venv" / ".ready").exists()
    assert run([binaries / "python", "-c", TRY, checkout], checkout, binaries) == "True []\n"
    settings = definition["customizations"]["vscode"]["settings"]
    chosen = settings["python.defaultInterpreterPath"]
    assert Path(chosen.replace("${containerWorkspaceFolder}", str(checkout))).exists()
    assert "--allow-root" in definition["containerEnv"]["LAB"]
    makefile = (ROOT / "Makefile").read_text()
    assert "$(LAB)" in makefile
    # Binder installs the same lock file, then the library by the same options
    assert "\n-r ../requirements.lock\n" in (ROOT / "binder" / "requirements.txt").read_text()
    command = (ROOT / "binder" / "postBuild").read_text().splitlines()[-1]
    assert command.partition("install ")[2] in makefile


def test_containers_have_the_interpreter_of_the_records():
    newest = read(ROOT / "data" / "records" / "tictactoe.jsonl")[1].values()
    (version,) = {".".join(one["versions"]["python"].split(".")[:2]) for one in newest}
    image = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text())["image"]
    assert image == f"python:{version}-bookworm"
    assert f"\nFROM {image}\n" in (ROOT / "Dockerfile").read_text()
    assert (ROOT / "binder" / "runtime.txt").read_text() == f"python-{version}\n"


def git(*words):
    try:
        said = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True)
    except FileNotFoundError:
        pytest.skip("there is no git")
    if said.returncode > 1:  # 1: no path is ignored
        pytest.skip("this is no checkout of git")
    return said.stdout.split("\n")[:-1]


def test_git_ignores_what_commands_write_and_nothing_that_is_tracked():
    assert git("ls-files", "-ci", "--exclude-standard") == []
    written = "mine.npz mine.npz.part hex.npz CARD.md connect4.html mine.html dist/a.whl build/a"
    written += " players/league/a.jsonl players/league.html claims/index.html data/cache/a"
    written += " reports/evaluate/evaluation.md reports/quick/a reports/paper/index.html"
    assert git("check-ignore", *written.split()) == written.split()
    assert git("check-ignore", "data/models/new.npz", "data/papers/a.yaml", "CHANGELOG.md") == []


def test_every_script_of_the_pages_names_its_licence():
    scripts = [*(ROOT / "lib").rglob("*.js")]
    assert len(scripts) > 5
    for script in scripts:
        assert script.read_text().startswith("// SPDX-License-Identifier: MIT\n"), script


# as a program and a package; the word in its own meaning, the state after a move, stays
FORMER = re.compile(
    r"AFTERSTATE_[A-Z]|(from|import|lib/|bin/|cache/|-m) ?afterstate\b|\bafterstate(\.[a-z_]|\\?\[)"
    r"|\bafterstate (games|play|page|train|match|judge|league|docs)\b|[\"'`]afterstate(/|[\"'`])"
    r"|(library|package|help|The|sources of)[ (]afterstate\b(?! s)|^# afterstate$",
    re.MULTILINE,
)
# where it stands in hashes, and where an arm or a picture has its name from the word
STAYS = re.compile(
    r'^FORMER_NAME = "afterstate"$|/afterstate\.svg|`afterstate` learns|says: .afterstate.'
    r'|FARL": "afterstate"|\("afterstate", run, "won"',
    re.MULTILINE,
)


@pytest.mark.slow
def test_no_text_names_the_package_as_it_was_called_before():
    folders = ("lib", "tests", "notebooks", "data", "reports/paper", ".github", ".devcontainer")
    files = [path for folder in folders for path in (ROOT / folder).rglob("*") if path.is_file()]
    files += [path for path in ROOT.iterdir() if path.is_file() and path.name != "CHANGELOG.md"]
    kinds = ".py .md .ipynb .yaml .yml .json .jsonl .toml .txt .csv .html .js .css .jinja2 .cff"
    found = []
    for path in files:
        built = path.suffix == ".html" and "reports" in path.parts  # of the texts that are read
        texts = path.suffix in (*kinds.split(), "") and "cache" not in path.parts and not built
        if texts and path != Path(__file__).resolve() and "__pycache__" not in path.parts:
            text = path.read_text(encoding="utf-8", errors="replace")
            if "afterstate" not in text.lower():  # most of 100 MB
                continue
            text = STAYS.sub("", text)
            found += [f"{path.relative_to(ROOT)}: {one[0]}" for one in FORMER.finditer(text)]
    assert not found
