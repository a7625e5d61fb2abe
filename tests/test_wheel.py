"""A wheel holds all that the library needs: installed alone, it trains, plays and loads."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

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
import afterstate
from afterstate import arena, games, papers, players, screen
from afterstate.commands import cli
from afterstate.files import data_directory, published_file
from afterstate.learners import td
from afterstate.networks import ntuple

assert Path(afterstate.__file__).is_relative_to(sys.argv[1]), afterstate.__file__
assert not data_directory().exists()
game = games.load("nim")
session = td.Session(game, {"tuples": "nim-1x3"}, seed=1)  # a list of the data folder
session.train(50)
result = arena.match(game, [session, players.Random()], seed=1)
assert len(result.moves) > 2 and screen.replay(game, result.states, result.moves) is not None
hexes = games.load("hex")
net = ntuple.load(published_file("models") / "hex.npz", hexes)
assert abs(net.action_values(hexes.start())).max() > 0
opponent = players.at_strength(games.load("tictactoe"), 250)
arena.match(games.load("tictactoe"), [opponent, players.Random()], seed=1)
assert len(papers.load("konen2021").claims) > 20 and published_file("golden.json").exists()
assert cli.main("train nim --episodes 20 --out mine.npz".split()) == 0
assert cli.main("match nim mine.npz random --episodes 1".split()) == 0
EXTRAS = {"reports": "study", "studies": "study", "adapters.open_spiel": "open-spiel"}
for room, extra in EXTRAS.items():
    try:
        __import__(f"afterstate.{room}")
        raise AssertionError(f"{room} does not miss anything")
    except ImportError as error:
        assert f"pip install 'afterstate[{extra}]'" in str(error), error
print("all well")
"""
STUDY = """
from pathlib import Path

from afterstate import games
from afterstate.learners import td
from afterstate.reports import collect
from afterstate.studies import Study

collect.build("quick")  # the templates and the style sheet are in the wheel
assert "konen2021" in (Path.cwd() / "reports" / "quick" / "index.html").read_text()
study = Study("nim", paper="konen2021", params=dict(runs=1, episodes=20, eval_every=20), workers=1)
study.arm("FARL", td, game=games.load("nim"), tuples="nim-1x3")
study.finish()
assert (Path.cwd() / "reports" / "quick" / "data" / "nim.runs.csv").exists()
print("all well")
"""


def pip(command, *words):
    call = [sys.executable, "-m", "pip", command, "--quiet", "--no-index", "--no-deps", *words]
    subprocess.run(list(map(str, call)), check=True, timeout=300)


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    pip("wheel", "--no-build-isolation", "-w", folder / "built", ROOT)
    pip("install", "--target", folder / "installed", *(folder / "built").glob("*.whl"))
    return folder / "installed"


@pytest.mark.slow
@pytest.mark.parametrize("script", [CORE, STUDY], ids=["core", "study"])
def test_a_wheel_is_enough_where_there_is_no_checkout(installed, tmp_path, script):
    outside = {k: v for k, v in os.environ.items() if k not in ("AFTERSTATE_DATA", "PYTHONPATH")}
    done = subprocess.run(
        [sys.executable, "-c", script, str(installed)],
        cwd=tmp_path,
        env=outside | {"PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.stdout.split("\n")[-2:] == ["all well", ""], done.stderr
