"""A wheel holds all that the library needs: installed alone, it trains, plays and loads."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SCRIPT = """
import sys
from pathlib import Path

import afterstate
from afterstate import arena, games, papers, players
from afterstate.files import data_directory, published_file
from afterstate.learners import td
from afterstate.networks import ntuple
from afterstate.reports import collect
from afterstate.studies import Study

assert Path(afterstate.__file__).is_relative_to(sys.argv[1]), afterstate.__file__
assert not data_directory().exists()
game = games.load("nim")
session = td.Session(game, {"tuples": "nim-1x3"}, seed=1)  # a list of the data folder
session.train(50)
assert len(arena.match(game, [session, players.Random()], seed=1).moves) > 2
hexes = games.load("hex")
net = ntuple.load(published_file("models") / "hex.npz", hexes)
assert abs(net.action_values(hexes.start())).max() > 0
opponent = players.at_strength(games.load("tictactoe"), 250)
arena.match(games.load("tictactoe"), [opponent, players.Random()], seed=1)
collect.build("quick")  # the templates and the style sheet are in the wheel
assert "konen2021" in (Path.cwd() / "reports" / "quick" / "index.html").read_text()
assert (Path.cwd() / "reports" / "quick" / "style.css").exists()
assert len(papers.load("konen2021").claims) > 20 and published_file("golden.json").exists()
study = Study("nim", paper="konen2021", params=dict(runs=1, episodes=20, eval_every=20), workers=1)
study.run("FARL", td, game=game, tuples="nim-1x3")
study.finish()
assert (Path.cwd() / "reports" / "quick" / "data" / "nim.runs.csv").exists()
print("all well")
"""


def pip(*words):
    quiet = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    done = subprocess.run([*quiet, *map(str, words)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_a_wheel_trains_plays_and_loads_where_there_is_no_checkout(tmp_path):
    built, installed, work = (tmp_path / name for name in ("built", "installed", "work"))
    work.mkdir()
    pip("wheel", "--no-deps", "--no-build-isolation", "--no-index", "-w", built, ROOT)
    (wheel,) = built.glob("*.whl")
    pip("install", "--no-deps", "--no-index", "--target", installed, wheel)
    outside = {k: v for k, v in os.environ.items() if k not in ("AFTERSTATE_DATA", "PYTHONPATH")}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(installed)],
        cwd=work,
        env=outside | {"PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.stdout.split("\n")[-2:] == ["all well", ""], done.stderr
