"""Players in files: what goes wrong with one costs it a match, and nobody else anything."""

import shutil
import sys
import time
from pathlib import Path

import pytest

from afterply import arena, games, players
from afterply.commands import cli
from afterply.league import league
from afterply.opponents import player_file
from afterply.opponents.player_file import PlayerFile

league_module = sys.modules[league.__module__]
NIM = games.load("nim", heaps=1, stones=3)
FIRST = """
from afterply import games
game = games.load("nim", heaps=1, stones=3)
def player(state):
    print("= [0]")  # what a player says is no move
    return game.legal(state)[0]
"""
PERFECT = "from afterply import players\nplayer = players.MaxN(9)\n"
TOUCHES = """
import gc
from afterply import players
players.MaxN.choose = players.Random.choose = lambda self, state: 99
def player(state):
    for one in gc.get_objects():
        assert type(one).__name__ != "Standings" and "opponent" not in repr(type(one))
    state[:] = 7
    return 2
"""
FAULTS = {
    "raises": ("def player(state):\n    return 1 // 0", "ZeroDivisionError.*, line 2.*in seat 0"),
    "illegal": ("def player(state):\n    return 99", "chose 99; legal here"),
    "nothing": ("def player(state):\n    pass", "TypeError"),
    "hangs": (
        "import time\ndef player(state):\n    time.sleep(99)",
        "did not answer .* within 1 s",
    ),
    "quits": ("import os\ndef player(state):\n    os._exit(0)", "ended when asked"),
    "eats": ("def player(state):\n    bytearray(10**10)", "MemoryError"),
    "typo": ("def player(state:\n", "SyntaxError"),
    "unnamed": ("def play(state):\n    return 0", "the file defines no `player`"),
}


def write(folder, **sources):
    for name, source in sources.items():
        (folder / f"{name}.py").write_text(source)
    return [PlayerFile(folder / f"{name}.py", seconds=1.0) for name in sources]


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_costs_its_match_only(tmp_path, monkeypatch, fault):
    monkeypatch.setattr(player_file, "START", 20.0 if fault != "hangs" else 1.0)
    source, said = FAULTS[fault]
    (faulty,) = write(tmp_path, **{fault: source})
    if fault == "hangs":  # loading takes its time, the first move none
        faulty.new_match = _patiently(monkeypatch, faulty.new_match)
    who = {fault: faulty, "good": players.MaxN(9)}
    table = arena.matches(NIM, who, None, 1, seats=[(fault, "good")], forfeit=True)
    assert table.score.tolist() == [-1.0, 1.0]
    assert table.error.str.contains(said).all(), table.error[0]
    assert arena.matches(NIM, who, None, 1, seats=[(fault, "good")]).score.isna().all()


def _patiently(monkeypatch, new_match):
    def begin(*given):
        with monkeypatch.context() as patch:
            patch.setattr(player_file, "START", 60.0)
            new_match(*given)

    return begin


@pytest.mark.slow
def test_players_in_files_play_as_they_do_here_and_touch_nobody(tmp_path):
    best, touching = write(tmp_path, best=PERFECT, touching=TOUCHES)
    for seats in ([best, players.Random()], [players.Random(), best]):
        here = [players.MaxN(9) if one is best else one for one in seats]
        assert arena.match(NIM, seats, seed=3).moves == arena.match(NIM, here, seed=3).moves
    found = arena.match(NIM, [touching, best], seed=1)
    assert found.moves == [2] and found.scores.tolist() == [1.0, -1.0]
    assert arena.match(NIM, [best, touching], seed=1).scores.tolist() == [1.0, -1.0]


@pytest.fixture
def started(monkeypatch):
    """Note whose process is started; `started` is a list of names."""
    names = []

    class Counted(player_file.Process):
        def __init__(self, path, megabytes):
            names.append(path.stem)
            super().__init__(path, megabytes)

    monkeypatch.setattr(player_file, "Process", Counted)
    return names


def played(folder, *options):
    """Play a league by the command line, and forget what it said."""
    words = ["--game", "nim:heaps=1:stones=3", *options]
    assert cli.main(["league", str(folder), *words]) == 0


@pytest.mark.slow
def test_what_a_player_started_ends_with_it(tmp_path):
    """Also if the player itself has ended before, and if what it started has left its group."""
    leaves = "import subprocess, sys\n"
    leaves += "left = subprocess.Popen(['sleep', '600'], start_new_session=True)\n"
    leaves += f"open({str(tmp_path / 'pid')!r}, 'w').write(str(left.pid))\n"
    for end in ("return 0", "import os; os._exit(0)"):
        (player,) = write(tmp_path, leaves=f"{leaves}def player(state):\n    {end}\n")
        arena.matches(NIM, {"leaves": player, "good": players.MaxN(9)}, None, 1, forfeit=True)
        player.stop()
        left = int((tmp_path / "pid").read_text())
        deadline = time.monotonic() + 20
        while running(left) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not running(left)


def running(pid):
    """Return whether a process runs; one that nobody has asked about yet does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.slow
def test_only_new_pairings_are_played(tmp_path, started, capsys):
    write(tmp_path, best=PERFECT, first=FIRST)
    two = {"best", "first"}
    for change, processes, said in (
        ({}, two, "1 of 1 pairings have matches to play: "),
        ({}, set(), "All 1 pairings were played before."),
        ({"third": FIRST, "_helper": "x = 1"}, two | {"third"}, "2 of 3 pairings"),
        ({"third": "import _helper\n" + FIRST}, two | {"third"}, "[3/3] first - third"),
        ({"_helper": "x = 2"}, two | {"third"}, "2 of 3 pairings"),
    ):
        write(tmp_path, **change)
        played(tmp_path)
        assert sorted(started) == sorted(processes) and said in capsys.readouterr().out
        started.clear()
    page = (tmp_path / "league.html").read_text()
    assert "This is no sandbox" in page and "loses value" in page and "<svg" in page
    assert "first: " in page and "best: " not in page  # which makes no mistake


@pytest.mark.slow
def test_a_player_is_what_stands_in_its_file_wherever_that_lies(tmp_path, monkeypatch, started):
    here, there = tmp_path / "here", tmp_path / "there" / "class 4"
    here.mkdir()
    write(here, best=PERFECT, first=FIRST, third="import _helper\n" + FIRST, _helper="x = 1")
    played(here)
    shutil.copytree(here, there)
    started.clear()
    monkeypatch.chdir(there)
    for folder in (here, there, "."):
        played(folder)
    assert not started
    played(".", "--seed", "1")
    assert started


SLOW = """
import time
from afterply import games
game, moves = games.load("nim", heaps=1, stones=3), 0
def player(state):
    global moves
    moves += 1
    time.sleep(99 if moves > 1 else 0)
    return game.legal(state)[0]
"""


def test_pairings_of_like_names_have_files_of_their_own(tmp_path):
    alike = dict.fromkeys(("a", "b-c", "a-b", "c"), {})
    files = league_module._journals(tmp_path, NIM, 1, 0, alike).values()
    assert len(set(files)) == len(files) == 6


@pytest.mark.slow
def test_a_journal_that_a_player_wrote_into_is_put_aside_and_played_again(tmp_path, capsys):
    write(tmp_path, best=PERFECT, first=FIRST)
    whole = league(tmp_path, NIM, 1).table
    (journal,) = (tmp_path / "league").glob("*.jsonl")
    journal.write_text(journal.read_text() + "nonsense\n")
    assert league(tmp_path, NIM, 1, say=print).table.equals(whole)
    assert "is put aside as *.edited" in capsys.readouterr().out
    assert journal.with_suffix(".edited").read_text().endswith("nonsense\n")


@pytest.mark.slow
def test_who_is_late_twice_loses_what_is_left_also_when_the_league_goes_on(tmp_path, started):
    write(tmp_path, best=PERFECT, first=FIRST, slow=SLOW)
    whole = league(tmp_path, NIM, 1, seconds=0.5)
    ends = whole.table[whole.table.player == "slow"].error.str.partition(":")[0].value_counts()
    assert ends["TooLate"] == 1 and ends["Forfeited"] == whole.unplayed["slow"] > 5  # once before
    assert f"{ends['Forfeited']} of them not played" in repr(whole)
    assert f"slow was late 2 times: {ends['Forfeited']} matches" in repr(whole)
    for journal in (tmp_path / "league").glob("*slow*"):
        lines = journal.read_text().splitlines(keepends=True)
        journal.write_text("".join(lines[:-1]))
    started.clear()
    assert league(tmp_path, NIM, 1, seconds=0.5).table.equals(whole.table)
    assert "slow" not in started


@pytest.mark.slow
def test_a_file_that_changes_while_it_plays_costs_its_pairing(tmp_path, monkeypatch):
    write(tmp_path, best=PERFECT, first=FIRST)
    from_then_on = league_module.matches

    def edited(*given, **how):
        write(tmp_path, first=FIRST + "# edited")
        return from_then_on(*given, **how)

    with monkeypatch.context() as patch:
        patch.setattr(league_module, "matches", edited)
        with pytest.raises(ValueError, match="first.py has changed while it played"):
            league(tmp_path, NIM, 1)
    assert league(tmp_path, NIM, 1).table.player.nunique() == 2


@pytest.mark.parametrize(
    "names, message",
    [(["anna"], "needs 2 .py files"), (["anna", "b & c"], "'b & c.py': name it by letters")],
)
def test_who_cannot_take_part_is_told(tmp_path, names, message):
    write(tmp_path, **dict.fromkeys(names, FIRST))
    with pytest.raises(ValueError, match=message):
        league(tmp_path, NIM)
