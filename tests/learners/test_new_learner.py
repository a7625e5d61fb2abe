"""A learner is one file: from a module elsewhere through training, kill and resume to a verdict."""

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from afterstate.files import data_directory
from afterstate.kernel.source import PACKAGE

CHILD = """
import first_visit
from afterstate import games, players
from afterstate.evaluators import Matches
from afterstate.studies import runs
from afterstate.studies.study import Study
runs.CHECKPOINT_SECONDS = 0.0
load = first_visit.Session.load_state_dict


def load_and_say(self, arrays):
    load(self, arrays)
    print("resumed after", self.episode, flush=True)


def states(game, net, seed=0):
    print("measuring", flush=True)
    return {"states": float(net.states)}


if __name__ == "__main__":
    first_visit.Session.load_state_dict = load_and_say
    game = games.load("nim", heaps=2, stones=2)
    params = {"runs": 3, "episodes": 600, "eval_every": 200}
    study = Study("tiny", profile="paper", params=params, workers=1, paper="tiny2020")
    final = [Matches("Random", players.Random, starts=("upto", 0), episodes=5)]
    study.run("first visit", first_visit, game=game, curve=[states], final=final)
    print("VERDICT", study.compare().iloc[0].verdict)
    print("TABLE", study.table().value.tolist())
    print("NETS", [study.net("first visit", run).checksum() for run in range(3)], flush=True)
"""
CLAIMS = """
key: tiny2020
title: A tiny study
order: 9
authors: [A. Author]
year: 2020
url: https://example.org
claims:
  - id: tiny2020/table1/win
    place: {table: '1', row: first visit, column: Random}
    printed: 2%
    value: 2
    unit: percent
    study: tiny
    arm: first visit
    metric: win_rate:Random
deviations: []
"""


@pytest.mark.slow
def test_a_new_learner_is_trained_killed_resumed_recorded_and_judged(tmp_path):
    data = tmp_path / "data"
    shutil.copytree(data_directory() / "papers", data / "papers")
    (data / "papers" / "tiny2020.yaml").write_text(CLAIMS)
    shutil.copy(Path(__file__).with_name("first_visit.py"), tmp_path)
    (tmp_path / "child.py").write_text(CHILD)
    kept = {k: v for k, v in os.environ.items() if k not in ("RECORDS", "DASK", "WORKERS")}
    kept["PYTHONPATH"] = f"{PACKAGE.parent}{os.pathsep}{tmp_path}"
    kept |= {"AFTERSTATE_DATA": str(data), "AFTERSTATE_REPORTS": str(tmp_path / "reports")}
    command = [sys.executable, str(tmp_path / "child.py")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=kept) as process:
        measured = 0
        while measured < 5 and (line := process.stdout.readline()):
            measured += line == "measuring\n"  # once or twice in advance, then four times a run
        process.send_signal(signal.SIGKILL)

    def finished():
        done = subprocess.run(command, capture_output=True, text=True, env=kept, timeout=300)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def resumed(text):
        return set(re.findall(r"resumed after (\d+)", text)) - {"600"}  # `study.net` loads the end

    said = finished()
    assert measured == 5 and resumed(said)
    assert "VERDICT not reproduced" in said  # 2 percent against a random player is no match for it
    shutil.rmtree(data / "records")
    shutil.rmtree(data / "cache")
    again = finished()
    assert not resumed(again)
    assert again[again.index("VERDICT") :] == said[said.index("VERDICT") :]
