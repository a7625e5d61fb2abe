"""binder/ and .devcontainer/: what they say is done in a new environment, and the library works."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
HERE = Path(sysconfig.get_path("purelib"))  # all that the lock file names, installed once already
TRY = """
import importlib.metadata, re, sys
from packaging.requirements import Requirement
from afterstate import arena, games, players
import afterstate

assert str(afterstate.__file__).startswith(sys.argv[1]), afterstate.__file__
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
COPIED = ("lib", "binder", ".devcontainer", "Makefile", "pyproject.toml", "README.md", "LICENSE")
# of the process that runs these tests
HIDDEN = ("PYTHONPATH", "VIRTUAL_ENV", "MAKEFLAGS", "MAKELEVEL", "MFLAGS", "AFTERSTATE_DATA")


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


def run(command, folder, binaries):
    """Run a command of a definition in a folder, with an environment first on the path."""
    outside = {k: v for k, v in os.environ.items() if k not in HIDDEN}
    path = f"{binaries}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        command,
        cwd=folder,
        env=outside | {"PATH": path, "PIP_DISABLE_PIP_VERSION_CHECK": "1"},
        capture_output=True,
        text=True,
        timeout=600,
        shell=isinstance(command, str),
    )
    assert done.returncode == 0, f"{command}:\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.mark.slow
def test_binder_builds_from_the_lock_file(tmp_path):
    """As repo2docker does it: requirements.txt by pip in the root of the clone, then postBuild."""
    checkout = copied_checkout(tmp_path / "clone")
    binaries = new_environment(tmp_path / "environment")
    assert (checkout / "binder" / "runtime.txt").read_text().strip() == "python-3.12"
    python = str(binaries / "python")
    run([python, "-m", "pip", "install", "-r", "binder/requirements.txt"], checkout, binaries)
    run(["./binder/postBuild"], checkout, binaries)
    assert run([python, "-c", TRY, str(checkout)], checkout, binaries) == "True []\n"


@pytest.mark.slow
def test_the_dev_container_is_set_up_by_make(tmp_path):
    definition = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text())
    assert definition["image"] == "python:3.12" and 8888 in definition["forwardPorts"]
    checkout = copied_checkout(tmp_path / "clone")
    binaries = new_environment(checkout / ".venv")
    run(definition["postCreateCommand"], checkout, Path(sys.executable).parent)
    assert (checkout / ".venv" / ".ready").exists()
    python = str(binaries / "python")
    assert run([python, "-c", TRY, str(checkout)], checkout, binaries) == "True []\n"
    settings = definition["customizations"]["vscode"]["settings"]
    chosen = settings["python.defaultInterpreterPath"]
    assert Path(chosen.replace("${containerWorkspaceFolder}", str(checkout))).exists()
    assert "--allow-root" in definition["containerEnv"]["LAB"]
    assert "$(LAB)" in (ROOT / "Makefile").read_text()
