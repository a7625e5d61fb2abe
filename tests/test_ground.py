"""Examples in docstrings do what they say; files are written as a whole; numbers, one way."""

import doctest
import importlib
import os
import pkgutil
import re
import stat
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import afterply
from afterply import arena, checks, files, games, players
from afterply.commands import train
from afterply.league import league
from afterply.stats import fixed, printed, thousands, together, with_interval
from afterply.studies import records

FOUND = pkgutil.walk_packages(afterply.__path__, "afterply.")
MODULES = ["afterply", *sorted(found.name for found in FOUND)]
SLOW = "afterply.arena.exact"  # solves Tic-Tac-Toe


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.slow) if n == SLOW else n for n in MODULES]
)
def test_examples_of(name):
    module = importlib.import_module(name)
    failed, tried = doctest.testmod(module)
    assert failed == 0, "what was expected and what came out is printed above"
    written = Path(module.__file__).read_text(encoding="utf-8").count(">>> ")
    assert tried == written, f"{name} has {written} examples, of which {tried} are tried"


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize("moment", ["fsync", "replace"])
def test_what_can_not_be_written_leaves_nothing_behind(tmp_path, monkeypatch, moment, error):
    def fail(*_):
        raise error

    (tmp_path / "old.json").write_text("old")
    monkeypatch.setattr(os, moment, fail)
    with pytest.raises(type(error)):
        files.write_text(tmp_path / "old.json", "new")
    with pytest.raises(type(error)):
        files.write_npz(tmp_path / "new.npz", {}, {"x": np.zeros(3)})
    monkeypatch.undo()
    assert [path.name for path in tmp_path.iterdir()] == ["old.json"]
    assert (tmp_path / "old.json").read_text() == "old"
    files.write_text(tmp_path / "old.json", "new")
    assert (tmp_path / "old.json").read_text() == "new"


def test_only_a_folder_of_a_command_is_emptied(tmp_path):
    own, foreign = tmp_path / "own", tmp_path / "foreign"
    (files.emptied_folder(own) / "page.html").write_text("old")
    (own / "deeper").mkdir()
    foreign.mkdir()
    (foreign / "thesis.tex").write_text("mine")
    (tmp_path / "link").symlink_to(foreign)
    (own / "link").symlink_to(foreign)
    assert [path.name for path in files.emptied_folder(own).iterdir()] == [files.MARK]
    for path in (foreign, tmp_path / "link", tmp_path, foreign / "thesis.tex"):
        with pytest.raises(FileExistsError, match="foreign|thesis.tex"):
            files.emptied_folder(path)
    assert (foreign / "thesis.tex").read_text() == "mine"


BOMB = "a: &a [1, 2]\nb: [*a, *a]\n"


@pytest.mark.parametrize(
    "text, meant",
    [
        ("a: 1:37", "1:37"),
        ("a: 0141", "0141"),
        ("a: 1_000", "1_000"),
        ("a: yes", "yes"),
        ("a: 2020-01-01", "2020-01-01"),
        ("a: 1e3", 1000.0),
        ("a: -.5", -0.5),
        ("a: 0", 0),
        ("a: ", None),
        ("a: True", True),
        ("a: 1\nb: 2\na: 3", "line 3, column 1"),
        ("a: {b: 1, b: 1}", "the key 'b' stands there twice"),
        ("a: &a [*a]", "stands for a whole list"),
        (BOMB, "stands for a whole list"),
        ("a: " + 10**6 * "[", "too deep"),
        ("a:\n  " + 10**6 * "- ", "too deep"),
    ],
)
def test_yaml_is_read_strictly(text, meant):
    if isinstance(meant, str) and (" " in meant):
        with pytest.raises(ValueError, match=meant):
            files.parse_yaml(text)
    else:
        found = files.parse_yaml(text)["a"]
        assert found == meant and type(found) is type(meant)


def test_json_is_read_strictly_and_a_signed_file_with_any_other_digit_is_refused(tmp_path):
    for text in ('{"a": 1, "a": 2}', '[{"b": {"a": 1, "a": 1}}]', '{"a": NaN}', 9999 * "["):
        with pytest.raises(ValueError, match="'a' stands there twice|NaN is no number|too deep"):
            files.parse_json(text)
    path = tmp_path / "card.json"
    files.write_signed(path, {"a": [0.14285714285714285, 12], "b": "x"})
    assert files.read_signed(path) == {"a": [0.14285714285714285, 12], "b": "x"}
    text = path.read_text()
    others = [text.replace('"x"', '"y"'), text.replace(' "sum"', ' "summe"'), text + "\n", "{}\n"]
    for place, sign in enumerate(text):
        if sign.isdigit():
            others += [text[:place] + other + text[place + 1 :] for other in {*"369"} - {sign}]
    for other in others:
        path.write_text(other)
        with pytest.raises(ValueError, match="card.json"):
            files.read_signed(path)


def test_two_writers_of_one_file_do_not_meet(tmp_path, monkeypatch):
    """Also where all processes have the same number, as in containers with a shared folder."""
    monkeypatch.setattr(os, "getpid", lambda: 1)
    path, before = tmp_path / "page.md", os.umask(0o027)
    try:
        with files.replacing(path) as one, files.replacing(path) as other:
            one.write(b"one")
            other.write(b"other")
    finally:
        os.umask(before)
    assert path.read_bytes() == b"one" and list(tmp_path.iterdir()) == [path]
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


HOLDS = """
import contextlib, sys, time
from afterply.files import one_writer
with contextlib.ExitStack() as stack:
    for name in sys.argv[1:]:
        stack.enter_context(one_writer(name))
    print("has them", flush=True)
    time.sleep(600)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="has no such locks")
def test_who_writes_a_file_keeps_others_out_until_it_ends(tmp_path, monkeypatch):
    nim = games.load("nim", heaps=1, stones=3)
    two = {"a": players.Random(), "b": players.Random()}
    kept = records.Records(tmp_path / "nim.jsonl")
    monkeypatch.setattr(records, "WRITING_SECONDS", 0.1)
    (tmp_path / "one.py").touch()
    (tmp_path / "two.py").touch()
    settings = {"learner": "td", "episodes": 2, "minutes": 0, "set": {}, "seed": 1}
    writers = {
        "matches.jsonl": lambda path: arena.matches(nim, two, path=path),
        "nim.jsonl": lambda path: kept.add([{"key": "1"}]),
        "nim.npz": lambda path: train.train("nim:heaps=1:stones=3", nim, settings, path),
        "league": lambda path: league(path.parent, nim, seconds=1.0),
    }
    paths = [tmp_path / name for name in writers]
    command = [sys.executable, "-c", HOLDS, *map(str, paths)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as holder:
        try:
            assert holder.stdout.readline() == "has them\n"
            for path, write in zip(paths, writers.values()):
                with pytest.raises(BlockingIOError, match=f"{path.name} .*process {holder.pid} on"):
                    write(path)
                assert not path.exists()
        finally:
            holder.kill()
    for path, write in zip(paths, writers.values()):  # a lock goes with its process
        if path.name != "league":  # whose players are none
            write(path)
            assert path.exists() and not path.with_name(f".{path.name}.lock").exists()


def test_a_link_stays_and_its_target_is_written(tmp_path):
    (tmp_path / "far").mkdir()
    for name in ("there", "not yet"):
        link, target = tmp_path / f"{name}.link", tmp_path / "far" / name
        link.symlink_to(Path("far") / name)
        (tmp_path / "again").unlink(missing_ok=True)
        (tmp_path / "again").symlink_to(link)  # a link to a link
        if name == "there":
            target.write_text("old")
        for path in (link, tmp_path / "again"):
            files.write_text(path, str(path))
            assert path.is_symlink() and not target.is_symlink()
            assert target.read_text() == str(path)
        assert [path.name for path in target.parent.glob(".*")] == []


def test_devices_and_pipes_are_written_as_they_are(tmp_path):
    files.write_npz(os.devnull, {}, {"x": np.zeros(3)})
    assert not stat.S_ISREG(os.stat(os.devnull).st_mode)
    pipe, heard = tmp_path / "pipe", []
    os.mkfifo(pipe)
    listener = threading.Thread(target=lambda: heard.append(pipe.read_bytes()))
    listener.start()
    files.write_npz(pipe, {"a": 1}, {"x": np.arange(3)})
    listener.join()
    assert stat.S_ISFIFO(os.stat(pipe).st_mode) and list(tmp_path.iterdir()) == [pipe]
    (tmp_path / "heard.npz").write_bytes(heard[0])
    meta, arrays = files.read_npz(tmp_path / "heard.npz")
    assert meta == {"a": 1} and arrays["x"].tolist() == [0, 1, 2]


def test_standard_output_goes_on_where_it_is_also_in_a_file(tmp_path):
    script = "from afterply.files import write_text; print('before');"
    script += "write_text('/dev/stdout', 'between\\n'); print('after')"
    (tmp_path / "log").write_text("old\n")
    with open(tmp_path / "log", "a") as log:
        subprocess.run([sys.executable, "-c", script], stdout=log, check=True, env=with_library())
    assert (tmp_path / "log").read_text() == "old\nbefore\nbetween\nafter\n"
    piped = subprocess.run(
        [sys.executable, "-c", script], stdout=-1, check=True, env=with_library()
    )
    assert piped.stdout == b"before\nbetween\nafter\n"


def with_library(**settings):
    return os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))} | settings


PLACES = """
import os
from afterply import files
from afterply.kernel import compile
from afterply.opponents import optional
found = lambda: [files.data_directory(), files.reports_directory(), compile.cache_root()]
os.environ["EDAX"] = "edax"
first = [*map(str, found()), optional.edax_files()[0]]
os.chdir("/")
again = [*map(str, found()), optional.edax_files()[0]]
assert first == again == [f"{folder}/{name}" for name in ("d", "r", "c", "edax")], (first, again)
import subprocess, sys
program = "from afterply import files; print(files.reports_directory())"
said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
assert said.stdout.strip() == f"{folder}/r", said
"""


@pytest.mark.parametrize("early", [True, False])
def test_a_relative_place_means_the_same_after_a_change_of_folder(tmp_path, early):
    (tmp_path / "d").mkdir()
    start = f"folder = {str(tmp_path)!r}\n"
    if not early:  # all is first read elsewhere, as in a script that goes there before it works
        start += "import os, afterply.files, afterply.kernel.compile; os.chdir('/usr')"
    chosen = {"AFTERPLY_DATA": "d", "AFTERPLY_REPORTS": "r", "AFTERPLY_CACHE": "c"}
    script = PLACES if early else PLACES.replace('"edax"', f'"{tmp_path}/edax"', 1)
    command = [sys.executable, "-c", f"{start}\n{script}"]
    subprocess.run(command, cwd=tmp_path, check=True, env=with_library(**chosen, AFTERPLY_HIDE=""))


def test_an_extra_is_installed_from_what_is_there_and_never_by_a_bare_name(tmp_path, monkeypatch):
    assert checks.to_install("web") == f"pip install -e '.[web]' in {checks.CLONE}"
    monkeypatch.setattr(checks, "CLONE", tmp_path)
    wheel = f"afterply-{afterply.__version__}-py3-none-any.whl"
    assert checks.to_install("web") == f"pip install '{wheel}[web]'"
    for path in Path(afterply.__file__).parent.rglob("*.*"):
        if path.suffix in (".py", ".md", ".html", ".js", ".jinja2"):
            text = path.read_text(encoding="utf-8")
            assert not re.search(r"pip install[^\n]*\bafterply(?!-\{version\})", text), path


def test_a_text_that_says_the_same_already_is_left_alone(tmp_path):
    path = tmp_path / "page.md"
    files.write_text(path, "one\r\n")
    before = path.stat()
    files.write_text(path, "one\r\n")
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    for other in ("one\n", "one\r\n\n", "", "ö"):
        files.write_text(path, other)
        assert path.read_bytes() == other.encode()


PRINTED = {
    "142 000 ± 1 000": "142,000 ± 1,000",
    "46,563,392": "46,563,392",
    "8000": "8,000",
    "0.4, 0.144, 0.05184": "0.4, 0.144, 0.05184",
    "99/0/1": "99 : 0 : 1",
    "94:6:0": "94 : 6 : 0",
    "49.5% ± 0.5%": "49.5% ± 0.5%",
    "N_trialsM = 1150": "N_trialsM = 1,150",
    "against MCTS10000": "against MCTS10000",
    "draws 10, teaching agent wins 40": "draws 10, teaching agent wins 40",
}


def test_numbers_are_written_one_way():
    assert {given: printed(given) for given in PRINTED} == PRINTED


def test_numbers_that_belong_together_have_the_same_decimals():
    assert together([0.5, -0.0001, 1.0], "+") == ["+0.50", "+0.00", "+1.00"]
    assert together([0.02473, 0.0244, 0.0251]) == ["0.02473", "0.02440", "0.02510"]
    assert together([123456.7, 120000, 126000]) == ["123,457", "120,000", "126,000"]
    assert together([-45.7, -156, 64.9]) == ["-46", "-156", "65"]
    assert together([-1.04, -1.8, -0.273]) == ["-1.04", "-1.80", "-0.27"]
    assert together([3.0, 3.0, 3.0]) == together([3.0]) * 3 == ["3"] * 3
    assert together([0, 0, 0]) == ["0"] * 3 and together([1], decimals=3) == ["1.000"]
    assert with_interval(37, 29.1, 44.9, "%") == "37.0% [29.1%, 44.9%]"
    assert fixed(-0.001, 2, "+") == "+0.00" and fixed(1243, 0) == "1,243"  # no minus before a zero
    assert thousands(1234567) == "1,234,567" and thousands(999) == "999"
