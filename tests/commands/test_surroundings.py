"""Whatever a command meets: closed pipes and streams, switches of Python and numba, odd folders."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

import afterply
from afterply import games
from afterply.commands import reproduce
from afterply.networks import ntuple
from afterply.opponents import player_file
from afterply.search import puct
from small_studies import write_notebook

PACKAGE = Path(afterply.__file__).parent
PROGRAM = f'"{sys.executable}" -m afterply.commands.cli'
ODD = "a {b} {0} {} [c] (d)=e %s $HOME #1 'f' ä"


def shell(line, folder, **settings):
    """Run a line in a shell; return its exit status, output and errors."""
    environment = os.environ | {"PYTHONPATH": str(PACKAGE.parent)} | settings
    done = subprocess.run(
        ["bash", "-c", line],
        cwd=folder,
        env=environment,
        capture_output=True,
        close_fds=False,
        timeout=300,
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


@pytest.mark.slow
@pytest.mark.parametrize(
    "line, status, said, wrong",
    [
        ("P games >&N", 141, "", ""),  # as after `| head -1`
        ("P --help >&N", None, "", ""),  # argparse hears it by itself, or not
        ("P train nim --episodes 100 >&N", 141, "", ""),
        ("P games nowhere 2>&N", 141, "", ""),
        ("P games >/dev/full", 2, "", "No space left on device"),
        ("P games nowhere 2>&1 >/dev/full", 2, "there is no game 'nowhere'", ""),
        ("P games >&-", 0, "", ""),
        ("P games nowhere 2>&-", 2, "", ""),
        ("P games <&- >&- 2>&-", 0, "", ""),
        ("P play tictactoe --against random <&-", 0, "your move: ", ""),
        ("P play 2048 </dev/null", 0, "your move: ", ""),
        ("P play 2048 <&-", 0, "your move: ", ""),
    ],
)
def test_streams_that_are_closed_or_full_end_a_command_in_good_order(
    tmp_path, line, status, said, wrong
):
    read, nobody = os.pipe()
    os.close(read)
    os.set_inheritable(nobody, True)
    line = line.replace("P ", f"{PROGRAM} ").replace("&N", f"&{nobody}")
    for unbuffered in ("", "1"):
        found, out, err = shell(line, tmp_path, PYTHONUNBUFFERED=unbuffered)
        assert status in (found, None) and said in out, err
        assert wrong in err and len(err.splitlines()) == bool(wrong), err
    os.close(nobody)


@pytest.mark.parametrize("words", ["games", "match --help", "train nim"])
def test_without_compilation_a_sentence_says_what_to_do_instead(tmp_path, words):
    status, out, err = shell(f"{PROGRAM} {words}", tmp_path, NUMBA_DISABLE_JIT="1")
    assert status == 2 and "NUMBA_DISABLE_JIT" in err and "py_func" in err
    assert len(err.splitlines()) == 1


def test_a_kernel_can_be_looked_into_as_that_sentence_says(capfd):
    from afterply.kernel.compile import kernel

    @kernel
    def total(numbers):
        found = 0
        for number in numbers:
            found += number
            print("so far", found)
        return found

    assert total.py_func((1, 2)) == total((1, 2)) == 3
    assert capfd.readouterr().out.count("so far 3") == 2


def test_without_docstrings_the_library_says_so(tmp_path):
    status, _, err = shell(f'"{sys.executable}" -OO -c "import afterply"', tmp_path)
    assert status == 1 and "python -OO leaves no docstrings" in err.splitlines()[-1]
    status, out, err = shell(f'"{sys.executable}" -O -m afterply.commands.cli --help', tmp_path)
    assert status == 0 and "Train an agent by self-play" in out, err


@pytest.mark.parametrize("file", sorted(PACKAGE.rglob("*.py")), ids=lambda file: file.stem)
def test_nothing_depends_on_a_statement_that_python_leaves_out(file):
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        left_out = isinstance(node, ast.Assert)
        left_out |= isinstance(node, ast.Name) and node.id == "__debug__"
        assert not left_out, f"{file}:{node.lineno}: python -O leaves it out: raise an error"


# what only some systems have, but for what stands behind a question whether it is there
LACKING = """
import os, signal, sys
import joblib, numba, pandas, scipy.stats  # which ask themselves

for module, names in {
    os: "sysconf fork getuid geteuid getpgid killpg mkfifo nice getloadavg sched_getaffinity uname",
    signal: "SIGHUP SIGKILL SIGUSR1 SIGALRM pthread_kill setitimer alarm",
}.items():
    for name in names.split():
        if hasattr(module, name):
            delattr(module, name)
for name in ("fcntl", "resource", "termios", "tty", "pwd", "grp"):
    sys.modules[name] = None
from afterply import arena, games, players
from afterply.commands import cli
assert cli.main("train nim --episodes 20 --out mine.npz".split()) == 0
assert cli.main("train nim --episodes 20 --learner tabular --out table.npz".split()) == 0
assert cli.main("match nim mine.npz table.npz mine.npz:50 mcts:50 --episodes 1".split()) == 0
import afterply.studies.study
"""


@pytest.mark.slow
def test_nothing_is_needed_that_windows_lacks(tmp_path):
    (tmp_path / "try.py").write_text(LACKING)
    status, _, err = shell(f'"{sys.executable}" try.py', tmp_path)
    assert status == 0, err


def test_where_no_system_says_how_much_memory_there_is_it_has_no_limit(monkeypatch):
    monkeypatch.delattr(os, "sysconf")
    game = games.load("tictactoe")
    net = ntuple.Network(game, [[0, 1, 2]])
    search = puct.Search(game, net, 10)
    search.plant(game.start())
    search.run(3_000)  # it grows
    with pytest.raises(ValueError, match="do not fit 32-bit indices"):
        ntuple.Network(games.load("othello"), [list(range(30))])


@pytest.fixture
def odd(tmp_path, monkeypatch):
    """Work in a folder whose name has what other programs take for commands."""
    folder = tmp_path / ODD
    (folder / "data").mkdir(parents=True)
    monkeypatch.setenv("AFTERPLY_DATA", str(folder / "data"))
    monkeypatch.setenv("AFTERPLY_REPORTS", str(folder / "reports"))
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.slow
def test_a_notebook_runs_in_a_folder_of_any_name(odd, monkeypatch):
    for name in ("10_some", "20_{other}"):
        path = write_notebook(odd / "notebooks" / f"{name}.ipynb", "runs = 2", "print(runs + 40)")
        monkeypatch.setenv("AFTERPLY_BATCH", "")
        assert reproduce.main(["notebook", str(path), "runs=3"]) == 0
        made = nbformat.read(odd / "reports" / "quick" / path.name, 4)
        assert made.cells[-1].outputs[0].text == "43\n"
        assert ODD not in (odd / "reports" / "quick" / path.name).read_text()


def test_a_player_in_a_file_runs_in_a_folder_of_any_name(odd, monkeypatch):
    (odd / "first.py").write_text("def player(state):\n    return 4\n")
    python = odd / "python"  # of an environment in that folder
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    monkeypatch.setenv("PYTHONPATH", str(PACKAGE.parent))
    monkeypatch.setattr(player_file.sys, "executable", str(python))
    player = player_file.PlayerFile(odd / "first.py")
    player.new_match(games.load("tictactoe"), [], 0, 1)
    assert player.choose(games.load("tictactoe").start()) == 4
    player.stop()
