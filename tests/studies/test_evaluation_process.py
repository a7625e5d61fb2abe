"""The evaluation process: the same numbers, one for all, gone with the last who needs it."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from afterstate import games
from afterstate.evaluators.connect4 import Mistakes, PerfectPlay
from afterstate.files import data_directory
from afterstate.kernel.random import seed_from
from afterstate.kernel.source import PACKAGE
from afterstate.learners import td
from afterstate.networks import ntuple
from afterstate.players import connect4_oracle
from afterstate.studies import evaluation_process
from afterstate.studies.identity import evaluator_identity
from afterstate.studies.study import Study
from small_studies import make_place

game = games.load("tictactoe")
SMALL = {"runs": 2, "episodes": 400, "eval_every": 150, "tuples": [[0, 1, 2], [4]]}


class Heavy:
    """An evaluator with stand-ins for a large engine's effects.

    Facts of the weights, and a file that says which process made them.
    """

    name, version, settings, heavy = "stand-in", 1, {}, True

    def __call__(self, game, net, seed):
        (data_directory() / f"evaluated.{os.getpid()}").touch()
        return {
            "mass": float(np.abs(net.weights.astype(np.float64)).sum()),
            "seed": float(seed % 997),
            "set": float(net.arrays.weights.size),
        }


class Light(Heavy):
    heavy = False


class Act(Heavy):
    """Do what it is told, in the evaluation process."""

    def __init__(self, what, *details):
        self.what, self.details = what, details

    def __call__(self, game, net, seed):
        return getattr(self, self.what)(*self.details) or {"pid": os.getpid(), "seed": seed}

    def die(self, times):
        with open(data_directory() / "deaths", "a+") as file:
            file.seek(0)
            if len(file.read()) < times:
                file.write("x")
                file.flush()
                os.kill(os.getpid(), signal.SIGKILL)

    def fail(self, error):
        raise error

    def fail_unsendably(self):
        raise Unsendable("here", "there")

    def say(self, what):
        return what()

    def load(self):
        return {"games loaded": sys.modules["__main__"]._game.cache_info().misses}

    def burn(self, cpu_seconds):
        began = time.process_time()
        while time.process_time() - began < cpu_seconds:
            pass

    def sleep(self, seconds):
        (data_directory() / f"evaluated.{os.getpid()}").touch()
        time.sleep(seconds)


class Unsendable(Exception):
    def __init__(self, one, two):
        super().__init__(f"{one} and {two}")


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    """A data directory of its own, so an evaluation process of its own; it ends with the test."""
    leave()
    yield make_place(tmp_path, monkeypatch)
    leave()


def leave():
    while evaluation_process._connection:
        evaluation_process._connection.pop().close()


def ask(place, *what, seed=5):
    return evaluation_process.ask(Act(*what), game, None, seed, place)


def gone(pid):
    """Wait until a process has ended; return whether it has."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        for process in evaluation_process._started:
            process.poll()
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False


def evaluated(place):
    return {int(path.suffix[1:]) for path in (place / "data").glob("evaluated.*")}


def make(evaluator, workers=1, params=SMALL):
    made = Study("tiny", profile="quick", params=params, workers=workers)
    made.run("FARL", td, game=game, curve=[evaluator], final=[evaluator])
    return made


def kept(made):
    return [
        {
            key: (r.get("points"), r.get("probe"), r["checksum"])
            for key, r in outcome.records.items()
        }
        for outcome in made.arms["FARL"]
    ]


# ------------------------------------------------------------------------------------- same numbers


@pytest.mark.slow
def test_the_same_numbers_as_in_the_training_process_and_one_process_for_all(place):
    here = make(Light())
    assert evaluated(place) == {os.getpid()}
    (place / "data" / f"evaluated.{os.getpid()}").unlink()
    alone, together = make(Heavy()), make(Heavy(), workers=2)
    assert kept(alone) == kept(together) == kept(here)
    pd.testing.assert_frame_equal(here.table(), together.table())
    pids = evaluated(place)
    assert len(pids) == 1 and os.getpid() not in pids
    assert not list((place / "data" / "cache").rglob(".weights*")), (
        "the weights that were handed over are removed"
    )


@pytest.mark.slow
def test_weights_arrive_bit_for_bit_and_without_counters(place):
    session = td.Session(game, {"tc": "exp", "tuples": [[0, 1, 2, 4]]}, 1)
    session.train(200)
    session.net.arrays.weights[7] = -0.0
    found, _ = evaluation_process.ask(Compare(session.net.checksum()), game, session.net, 0, place)
    assert found == {"same": 1.0, "counters": 0.0} and session.net.arrays.counters.size


class Compare(Heavy):
    def __init__(self, checksum):
        self.checksum = checksum

    def __call__(self, game, net, seed):
        return {
            "same": float(isinstance(net, ntuple.Network) and net.checksum() == self.checksum),
            "counters": float(net.arrays.counters.size),
        }


@pytest.mark.slow
def test_what_a_notebook_defines_can_be_asked_too(place):
    scope = {"__name__": "__main__"}
    exec(
        "class Mine:\n    name, version = 'mine', 1\n    def __call__(self, game, net, seed):\n    "
        "    return {'seed': seed, 'player': game.players}\n",
        scope,
    )
    assert evaluation_process.ask(scope["Mine"](), game, None, 3, place)[0] == {
        "seed": 3,
        "player": 2,
    }


@pytest.mark.slow
def test_a_game_is_loaded_once_for_all_questions(place):
    """And with it its machine code."""
    for other, loaded in ((game, 1), (game, 1), (games.load("nim"), 2), (game, 2)):
        told = evaluation_process.ask(Act("load"), other, None, 5, place)[0]
        assert told == {"games loaded": loaded}


@pytest.mark.slow
def test_cpu_time_is_counted_where_it_is_spent(place):
    assert ask(place, "burn", 0.3)[1] >= 0.3
    made = make(Act("burn", 0.3), params=SMALL | {"runs": 1})
    outcome = made.arms["FARL"][0]
    for _, _, key in outcome.job.evaluations:
        record = outcome.records[key]
        assert record["cost"]["cpu_seconds"] >= 0.3 * len(record["points"]["episode"])


# --------------------------------------------------------------------------------------- what fails


@pytest.mark.slow
def test_a_killed_process_is_started_again_with_a_message(place, capfd):
    first = ask(place, "die", 0)[0]["pid"]
    (answer, _), said = ask(place, "die", 1), capfd.readouterr().err
    assert (
        answer["seed"] == 5
        and answer["pid"] != first
        and said.count("has ended before it answered (killed, or out of memory); another one") == 1
    )
    os.kill(answer["pid"], signal.SIGKILL)  # between two questions
    assert gone(answer["pid"]) and ask(place, "die", 1)[0]["pid"] != answer["pid"]
    (place / "data" / "deaths").unlink()
    with pytest.raises(
        RuntimeError,
        match=(
            "3 evaluation processes ended before they answered the evaluator 'stand-in'.*have"
            " memory enough"
        ),
    ):
        ask(place, "die", 99)


@pytest.mark.slow
def test_a_killed_process_loses_nothing_of_a_study(place, capfd):
    class Mortal(Heavy):
        def __call__(self, game, net, seed):
            Act("die", 2).die(2)
            return super().__call__(game, net, seed)

    assert kept(make(Mortal())) == kept(make(Heavy()))
    assert capfd.readouterr().err.count("another one is started") == 2


@pytest.mark.slow
def test_what_an_evaluator_raises_arrives(place):
    for what, kind, message in [
        (("fail", ValueError("no such opponent")), ValueError, "no such opponent"),
        (("fail", connect4_oracle.EngineMissing("make engines")), ImportError, "make engines"),
        (
            ("fail_unsendably",),
            RuntimeError,
            "an evaluator failed in the evaluation process:(.|\n)*Unsendable: here and there",
        ),
        (("say", lambda: {"generator": (k for k in ())}), TypeError, "cannot pickle 'generator'"),
        (("fail", SystemExit(3)), SystemExit, "3"),
    ]:
        with pytest.raises(kind, match=message) as caught:
            ask(place, *what)
        assert kind is RuntimeError or "In the evaluation process:" in caught.value.__notes__[0]
        assert ask(place, "die", 0)[0]["seed"] == 5, "and the next question is answered"


@pytest.mark.slow
def test_bad_values_are_named(place):
    with pytest.raises(ValueError, match="the evaluator 'stand-in' must return"):
        make(Act("say", lambda: {"win_rate": float("nan")}))


@pytest.mark.slow
def test_an_interrupted_question_leaves_no_answer_for_the_next(place):
    ask(place, "die", 0)

    def interrupt(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with pytest.raises(KeyboardInterrupt):
            ask(place, "sleep", 2.0, seed=1)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert ask(place, "die", 0, seed=2)[0]["seed"] == 2


def test_a_process_that_can_not_be_started_is_an_error(place, monkeypatch):
    monkeypatch.setattr(sys, "executable", shutil.which("false"))
    with pytest.raises(RuntimeError, match="could not be started .exit status 1."):
        ask(place, "die", 0)


@pytest.mark.slow
def test_other_sources_than_those_of_the_study_are_refused(place):
    done = subprocess.run(
        [sys.executable, *evaluation_process.PROGRAM, str(place / "socket")],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(PACKAGE.parent)},
    )
    assert (
        done.returncode == 1
        and "sources of afterstate have changed since the study began" in done.stderr
        and "RuntimeWarning" not in done.stderr
    )


def test_a_directory_of_somebody_else_is_refused(place, monkeypatch):
    with tempfile.TemporaryDirectory(dir="/tmp") as short:  # a long one would not be taken
        monkeypatch.setattr(evaluation_process.tempfile, "gettempdir", lambda: short)
        Path(short, f"afterstate-{os.getuid()}").mkdir(mode=0o755)
        with pytest.raises(RuntimeError, match="must belong to you.*TMPDIR"):
            evaluation_process.address_of()


@pytest.mark.slow
def test_a_long_directory_for_temporary_files_does_no_harm(place, monkeypatch):
    long = place / ("x" * 90)
    long.mkdir()
    monkeypatch.setattr(evaluation_process.tempfile, "gettempdir", lambda: str(long))
    assert ask(place, "die", 0)[0]["seed"] == 5 and not list(long.iterdir())
    monkeypatch.setattr(evaluation_process, "SOCKET_PATH", 20)
    with pytest.raises(RuntimeError, match=f"{long.name}.* is too long.*set TMPDIR to a shorter"):
        evaluation_process.address_of()


# ------------------------------------------------------------------------------------------ its end


@pytest.mark.slow
def test_it_ends_with_the_last_who_is_connected(place):
    pid = ask(place, "die", 0)[0]["pid"]
    other = evaluation_process.Client(evaluation_process.address_of(), "AF_UNIX")
    leave()
    assert ask(place, "die", 0)[0]["pid"] == pid, "as long as one is connected it stays"
    leave()
    time.sleep(0.2)
    os.kill(pid, 0)
    other.close()
    assert gone(pid) and not Path(evaluation_process.address_of()).exists()


CHILD = """
import test_evaluation_process
from pathlib import Path
print("asking", flush=True)
test_evaluation_process.ask(Path("PLACE"), "sleep", 600.0)
"""


@pytest.mark.slow
def test_it_is_no_orphan_even_in_the_middle_of_an_evaluation(place):
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(
            map(str, [PACKAGE.parent, Path(__file__).parent, Path(__file__).parents[1]])
        )
    }
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD.replace("PLACE", str(place))],
        env=environment,
        stdout=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 60
    while not evaluated(place) and time.monotonic() < deadline:
        time.sleep(0.05)
    child.kill()
    child.wait()
    assert gone(*evaluated(place))


# -------------------------------------------------------------------------------- ConnectFour, plan


def test_identity_of_the_connect4_evaluators():
    """These literals may change only together with every committed record of them."""
    assert evaluator_identity(PerfectPlay(roles="first")) == {
        "name": "perfect play, first",
        "version": 1,
        "settings": {
            "episodes": 40,
            "opponents": ["AB", "AB-DL"],
            "player_version": 1,
            "roles": "first",
        },
    }
    assert evaluator_identity(Mistakes()) == {
        "name": "mistakes in self-play",
        "version": 1,
        "settings": {"opening": 2},
    }
    assert PerfectPlay.heavy and Mistakes.heavy


@pytest.mark.engine
@pytest.mark.skipif(
    not connect4_oracle.available(), reason="the optional engine is not installed: make engines"
)
def test_the_engine_is_not_in_the_training_process(place, monkeypatch):
    monkeypatch.setattr(connect4_oracle, "_shared", [])
    connect4 = games.load("connect4")
    made = Study("tiny", profile="quick", params=SMALL | {"runs": 1}, workers=1)
    table = made.run("FARL", td, game=connect4, curve=[PerfectPlay(("AB",), "first", 2)])
    assert connect4_oracle._shared == [] and "score_first:AB" in set(table.metric)
    net, job = made.net("FARL"), made.arms["FARL"][0].job
    seed = records_seed(job, PerfectPlay(("AB",), "first", 2))
    assert (
        PerfectPlay(("AB",), "first", 2)(connect4, net, seed)["score_first:AB"]
        == table.query("metric == 'score_first:AB'").value.iloc[-1]
    )


def records_seed(job, evaluator):
    return seed_from(job.study, job.arm, job.run, "evaluate", evaluator.name, job.episodes)
