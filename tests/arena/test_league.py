"""Players in files: what goes wrong with one costs it a match, and nobody else anything."""

import pytest

from afterply import arena, games, players
from afterply.arena.league import league
from afterply.commands import cli
from afterply.players import player_file
from afterply.players.player_file import PlayerFile

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


@pytest.mark.slow
def test_only_new_pairings_are_played(tmp_path, monkeypatch, capsys):
    class Counted(player_file.Process):
        def __init__(self, path, megabytes):
            started.append(path.stem)
            super().__init__(path, megabytes)

    monkeypatch.setattr(player_file, "Process", Counted)
    started = []
    write(tmp_path, best=PERFECT, first=FIRST)
    for change, processes in (
        ({}, ["best", "first"]),
        ({}, []),
        ({"third": FIRST, "_helper": "not a player"}, ["best", "first", "third", "third"]),
    ):
        write(tmp_path, **change)
        assert cli.main(["league", str(tmp_path), "--game", "nim:heaps=1:stones=3"]) == 0
        assert sorted(started) == processes
        started.clear()
    page = (tmp_path / "league.html").read_text()
    assert "This is no sandbox" in page and "loses value" in page and "<svg" in page
    assert "first: " in page and "best: " not in page  # which makes no mistake
    assert "Elo points" in capsys.readouterr().out


@pytest.mark.parametrize(
    "names, message",
    [(["anna"], "needs 2 .py files"), (["anna", "b & c"], "'b & c.py': name it by letters")],
)
def test_who_cannot_take_part_is_told(tmp_path, names, message):
    write(tmp_path, **dict.fromkeys(names, FIRST))
    with pytest.raises(ValueError, match=message):
        league(tmp_path, NIM)
