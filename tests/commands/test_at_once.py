"""Several notebooks at once: who collects comes last, failures are marked, Ctrl-C stops all."""

import os
import signal
import subprocess
import sys
import time

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from afterstate.commands import at_once
from afterstate.kernel.source import PACKAGE

pytestmark = pytest.mark.slow
SLEEP = "import pathlib, time\npathlib.Path('began-{}').touch()\ntime.sleep(100)"


def write(place, name, source, **metadata):
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = new_notebook(
        metadata={"kernelspec": kernel, "language_info": {"name": "python"}, **metadata},
        cells=[
            new_code_cell('profile = "quick"', metadata={"tags": ["parameters"]}),
            new_code_cell(source),
        ],
    )
    nbformat.write(notebook, place / "notebooks" / f"{name}.ipynb")
    return place / "notebooks" / f"{name}.ipynb"


@pytest.fixture
def place(tmp_path, monkeypatch):
    for folder in ("data/profiles", "notebooks"):
        (tmp_path / folder).mkdir(parents=True)
    monkeypatch.setenv("AFTERSTATE_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("WORKERS", "2")
    monkeypatch.delenv("AFTERSTATE_REPORTS", raising=False)
    return tmp_path


def test_all_run_failures_are_told_and_who_collects_comes_last(place, capsys):
    collect = "import pathlib\nprint(sorted(f.name for f in pathlib.Path().glob('made-*')))"
    paths = [
        write(place, "01_collects", collect, afterstate={"reads": "other notebooks"}),
        write(place, "02_makes", "import pathlib\npathlib.Path('made-2').touch()"),
        write(place, "03_fails", "raise ValueError('on purpose')"),
        write(place, "04_dies", "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)"),
        write(place, "05_makes", "import pathlib\npathlib.Path('made-5').touch()"),
    ]
    assert at_once.run_all(paths, "quick") == ["03_fails", "04_dies"]
    told = capsys.readouterr().out
    assert "03  --- 03_fails: FAILED: ValueError: on purpose" in told
    assert "['made-2', 'made-5']" in told
    pages = place / "reports" / "quick"
    assert "on purpose" in (pages / "03_fails.ipynb").read_text()
    assert "its process ended with status -9" in (pages / "04_dies.ipynb").read_text()


@pytest.mark.parametrize("to_all", [True, False])
def test_ctrl_c_stops_all_of_them(place, to_all):
    for number in range(1, 4):
        write(place, f"0{number}_sleeps", SLEEP.format(number))

    def heed_ctrl_c():  # a runner in the background of a shell hands down that SIGINT is ignored
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    process = subprocess.Popen(
        [sys.executable, "-m", "afterstate.commands.reproduce", "quick"],
        env=os.environ | {"PYTHONPATH": str(PACKAGE.parent)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        preexec_fn=heed_ctrl_c,
    )
    deadline = time.monotonic() + 120
    while len(list(place.glob("began-*"))) < 2 and time.monotonic() < deadline:
        time.sleep(0.1)
    (os.killpg if to_all else os.kill)(process.pid, signal.SIGINT)
    told, _ = process.communicate(timeout=60)
    assert process.returncode == 130 and "Traceback" not in told, told
    assert told.strip().splitlines()[-1].startswith("Interrupted: the pages of finished notebooks")
    assert sorted(file.name for file in place.glob("began-*")) == ["began-1", "began-2"]
