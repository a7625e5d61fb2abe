"""Worker processes and a Dask cluster give what one process gives."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest

from afterstate.files import read_json
from afterstate.kernel.source import PACKAGE
from afterstate.studies import work
from small_studies import SMALL, declare, make, sorted_table


@pytest.mark.slow
def test_one_and_two_workers_and_any_order_of_arms_give_the_same(place):
    one = make("quick", ("FARL", "no-FARL"), workers=1)
    two = make("quick", ("no-FARL", "FARL"), workers=2)
    pd.testing.assert_frame_equal(sorted_table(one), sorted_table(two))
    sums = [
        {(run.job.arm, run.job.run): run.records[run.job.key]["checksum"] for run in runs}
        for study in (one, two)
        for runs in [[run for arm in study.arms.values() for run in arm]]
    ]
    assert sums[0] == sums[1] and len(set(sums[0].values())) == 6


@pytest.mark.slow
def test_dask_cluster_gives_the_same(place):
    pytest.importorskip("distributed")
    few = SMALL | {"runs": 2}
    expected, started = make("quick", params=few), []
    paths = os.pathsep.join(map(str, (PACKAGE.parent, Path(__file__).parents[1])))
    file = place / "scheduler.json"
    shared = ["--no-dashboard", "--scheduler-file", str(file)]
    workers = ["--nworkers", "2", "--nthreads", "1", "--local-directory", str(place / "dask")]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    try:
        for name, options in (("scheduler", ["--port", "0"]), ("worker", workers)):
            command = [sys.executable, "-m", f"distributed.cli.dask_{name}", *options, *shared]
            env = os.environ | {"PYTHONPATH": paths}
            started.append(subprocess.Popen(command, env=env, **quiet))
        deadline = time.monotonic() + 40
        while not file.exists() and time.monotonic() < deadline:
            time.sleep(0.1)
        made = make("quick", params=few, dask=read_json(file)["address"])
    finally:
        for process in reversed(started):
            process.terminate()
            process.wait(20)
    pd.testing.assert_frame_equal(expected.table(), made.table())


@pytest.mark.slow
def test_dask_that_is_not_there(place, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr(work, "DASK_TIMEOUT", "1s")
    with pytest.raises(ConnectionError, match="no Dask scheduler answers at 'tcp://127.0.0.1:9'"):
        make("quick", dask="tcp://127.0.0.1:9")
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ImportError, match=r"'distributed': pip install 'afterstate\[cluster\]'"):
        make("quick", dask="tcp://127.0.0.1:9")


def test_other_sources_on_a_worker_are_an_error(place):
    job = declare().arms["FARL"][0].job
    with pytest.raises(RuntimeError, match="other sources of afterstate .*same version on all"):
        work._in_worker(0, "other", (work.train, job))
