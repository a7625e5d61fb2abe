"""A learner is one file: from a temporary module through training, kill and resume to a verdict."""

import json
import os
import shutil
import signal
import subprocess
import sys

import pytest

from afterstate.files import data_directory
from afterstate.kernel.source import PACKAGE

LEARNER = '''
"""Every state-action value moves towards the final reward of a random game."""
import numpy as np
from afterstate.kernel.random import new_rng, random_int
from afterstate.learners.parameters import check_parameters, defaults, fraction
from afterstate.networks.table import QTable

NAME, VERSION = "first-visit", 1
PARAMETERS = {"alpha": fraction(0.5, "step size")}
DEFAULTS = defaults(PARAMETERS)


class Session:
    def __init__(self, game, params, seed=0):
        self.game, self.params = game, check_parameters(PARAMETERS, params)
        self.net, self.rng, self.counters = QTable(game), new_rng(seed), np.zeros(2, np.int64)

    episode = property(lambda self: int(self.counters[0]))
    moves = property(lambda self: int(self.counters[1]))

    def train(self, num_episodes):
        for _ in range(num_episodes):
            s, made = self.game.start(), []
            while not self.game.over(s):
                legal = self.game.legal(s)
                action = int(legal[random_int(self.rng, len(legal))])
                made.append((s, action))
                s = self.game.next(s, action)
            for t, action in made:
                mover, place = self.game.player(t), self.game.legal(t).tolist().index(action)
                old = self.net.action_values(t)[place]
                new = old + self.params["alpha"] * (self.game.score(s)[mover] - old)
                self.net.put(t, action, new)
            self.counters += 1, len(made)
        self.net.episode = self.episode

    def statistics(self):
        return {"episodes": self.episode, "moves": self.moves}

    def state_dict(self):
        return {"rng": self.rng, "counters": self.counters, **self.net.arrays()}

    def load_state_dict(self, arrays):
        arrays = {name: arrays[name] for name in self.state_dict()}
        self.net.load_arrays(arrays)
        self.rng[:], self.counters[:] = arrays["rng"], arrays["counters"]
        print("resumed after", self.episode, flush=True)
'''
CHILD = """
import first_visit
from afterstate import games, players
from afterstate.evaluators import Matches
from afterstate.studies import runs
from afterstate.studies.study import Study
runs.CHECKPOINT_SECONDS = 0.0


class Told(Matches):
    def __call__(self, game, agent, seed=0):
        print("measuring", flush=True)
        return super().__call__(game, agent, seed)


if __name__ == "__main__":
    game = games.load("nim", heaps=2, stones=2)
    params = {"runs": 3, "episodes": 600, "eval_every": 200}
    study = Study("tiny", profile="paper", params=params, workers=1, paper="tiny2020")
    against = Told("Random", players.Random, starts=("upto", 0), episodes=5)
    study.run("first visit", first_visit, game=game, curve=[against], final=[against])
    print("VERDICT", study.compare().iloc[0].verdict, study.table().value.size, flush=True)
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


@pytest.fixture
def run(tmp_path):
    """Start the study in a process of its own, in an empty data directory."""
    data = tmp_path / "data"
    shutil.copytree(data_directory() / "papers", data / "papers")
    (data / "papers" / "tiny2020.yaml").write_text(CLAIMS)
    (tmp_path / "first_visit.py").write_text(LEARNER)
    (tmp_path / "child.py").write_text(CHILD)
    places = {
        "PYTHONPATH": f"{PACKAGE.parent}{os.pathsep}{tmp_path}",
        "AFTERSTATE_DATA": str(data),
        "AFTERSTATE_REPORTS": str(tmp_path / "reports"),
    }
    kept = {k: v for k, v in os.environ.items() if k not in ("RECORDS", "DASK", "WORKERS")}
    return lambda: subprocess.Popen(
        [sys.executable, str(tmp_path / "child.py")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=kept | places,
    )


def records(tmp_path):
    """What the records say, but for costs, places and times."""
    found = {}
    for path in (tmp_path / "data" / "records").rglob("*.json"):
        record = json.loads(path.read_text())
        found[path.name] = {k: record.get(k) for k in ("kind", "run", "checksum", "points")}
    return found


@pytest.mark.slow
def test_a_new_learner_is_trained_killed_resumed_recorded_and_judged(run, tmp_path):
    process, measured = run(), 0
    for line in process.stdout:
        measured += line == "measuring\n"
        if measured == 4:  # a probe, or two, then points of the first run
            break
    assert measured == 4, process.stderr.read()
    process.send_signal(signal.SIGKILL)
    process.communicate()
    told, errors = run().communicate(timeout=300)
    assert "resumed after" in told, told + errors
    verdict = next(line for line in told.splitlines() if line.startswith("VERDICT"))
    assert "not reproduced" in verdict  # 2 percent against a random player is no match for it
    resumed = records(tmp_path)
    assert sum(record["kind"] == "train" for record in resumed.values()) == 3
    shutil.rmtree(tmp_path / "data" / "records")
    shutil.rmtree(tmp_path / "data" / "cache")
    assert verdict in run().communicate(timeout=300)[0]
    assert records(tmp_path) == resumed
