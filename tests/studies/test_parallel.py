"""Worker processes and a Dask cluster give what one process gives."""

import json
import os
import subprocess
import sys
import time

import pandas as pd
import pytest

from afterstate.kernel.source import PACKAGE
from afterstate.studies import parallel, runs
from small_studies import SMALL, HeavyWeights, make, record_files


@pytest.mark.slow
def test_one_and_two_workers_and_any_order_of_arms_give_the_same(place):
    one = make(profile="quick", arms=("FARL", "no-FARL"), workers=1)
    two = make(profile="quick", arms=("no-FARL", "FARL"), workers=2)
    order = ["arm", "run", "metric", "episode"]
    pd.testing.assert_frame_equal(
        one.table().sort_values(order, ignore_index=True),
        two.table().sort_values(order, ignore_index=True),
    )
    sums = [
        {
            (o.job.arm, o.job.run): o.records[o.job.key]["checksum"]
            for arm in s.arms.values()
            for o in arm
        }
        for s in (one, two)
    ]
    assert sums[0] == sums[1] and len(set(sums[0].values())) == 6


@pytest.mark.slow
def test_dask_cluster_gives_the_same(place):
    pytest.importorskip("distributed")
    expected = make(profile="quick", params=SMALL | {"runs": 2})
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(
            [
                str(PACKAGE.parent),
                os.path.dirname(__file__),
                os.path.dirname(os.path.dirname(__file__)),
            ]
        )
    }
    started = []
    try:
        scheduler = place / "scheduler.json"
        quiet = {"env": environment, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        started.append(
            subprocess.Popen(
                [
                    sys.executable,
                    "-m",
                    "distributed.cli.dask_scheduler",
                    "--port",
                    "0",
                    "--no-dashboard",
                    "--scheduler-file",
                    str(scheduler),
                ],
                **quiet,
            )
        )
        started.append(
            subprocess.Popen(
                [
                    sys.executable,
                    "-m",
                    "distributed.cli.dask_worker",
                    "--nworkers",
                    "2",
                    "--nthreads",
                    "1",
                    "--no-dashboard",
                    "--scheduler-file",
                    str(scheduler),
                    "--local-directory",
                    str(place / "dask"),
                ],
                **quiet,
            )
        )
        deadline = time.monotonic() + 40
        while not scheduler.exists() and time.monotonic() < deadline:
            time.sleep(0.1)
        made = make(
            profile="quick",
            params=SMALL | {"runs": 2},
            curve=(HeavyWeights(),),
            dask=json.loads(scheduler.read_text())["address"],
        )
    finally:
        for process in reversed(started):
            process.terminate()
            process.wait(20)
    pd.testing.assert_frame_equal(expected.table(), made.table())


@pytest.mark.slow
def test_dask_that_is_not_there(place, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr(parallel, "DASK_TIMEOUT", "1s")
    with pytest.raises(
        ConnectionError, match="no Dask scheduler answers at 'tcp://127.0.0.1:9'.*dask scheduler"
    ):
        make(profile="quick", dask="tcp://127.0.0.1:9")
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ImportError, match="pip install 'afterstate\\[cluster\\]'"):
        make(profile="quick", dask="tcp://127.0.0.1:9")


def test_other_sources_on_a_worker_are_an_error(place):
    job = make(profile="quick").arms["FARL"][0].job
    with pytest.raises(RuntimeError, match="same version on all machines"):
        runs.perform(("train", job, (), True, "other"))
    here = job.sources
    # as it arrives from a study with other sources: what a job has computed once travels with it
    vars(job)["sources"] = "the study's"
    with pytest.raises(
        RuntimeError, match=f"other sources of afterstate .{here}. than the study .the study's."
    ):
        runs.perform(("train", job, (), True, job.sources))


def test_a_failing_evaluator_is_named_and_keeps_what_is_finished(place):
    def broken(game, net, seed):
        return {"win_rate": float("nan")}

    with pytest.raises(ValueError, match="'broken' must return"):
        make(final=(broken,), curve=())
    assert len(record_files(place)) == 3  # the trainings
