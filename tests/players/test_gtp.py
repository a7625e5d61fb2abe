"""Othello engines through GTP, by a scripted stand-in: what can go wrong; gtp-rhino; hiding."""

import copy
import gc
import importlib
import os
import pickle
import subprocess
import sys
import time
from pathlib import Path

import pytest

from afterply import arena, games, players
from afterply.opponents import gtp, optional, perfect

STAND_IN = Path(__file__).parents[1] / "oracles" / "gtp_engine.py"
game = games.load("othello")


def first_move(state):
    """Play the first legal move, as the stand-in does."""
    return game.legal(state)[0]


@pytest.fixture
def stand_in(tmp_path):
    """Make players of the stand-in; they are killed at the end of the test."""
    log = tmp_path / "log"
    log.touch()

    def make(fault="none", match=0, move=0, timeout=60.0):
        command = [sys.executable, STAND_IN, fault, match, move, log]
        return gtp.Player(command, "stand-in", timeout)

    make.log = lambda: [line.split(maxsplit=1) for line in log.read_text().splitlines()]
    return make


def errors(player, num=1):
    """Play some matches; return the text of the error of each."""
    both = {"engine": player, "other": first_move}
    table = arena.matches(game, both, None, num, seats=[("engine", "other")])
    return table[table.seat == 0].error.tolist()


def running(pid):
    """Whether a process runs (a dead one that nobody has asked about yet does not)."""
    try:
        if Path("/proc").exists():
            return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
        return os.kill(pid, 0) is None
    except (FileNotFoundError, ProcessLookupError):
        return False


def num_passes(moves):
    movers = [game.player(game.after(moves[:n])) for n in range(len(moves))]
    return sum(a == b for a, b in zip(movers, movers[1:]))


@pytest.mark.slow
def test_the_stand_in_plays_as_its_equal_does_through_passes_in_both_roles(stand_in):
    engine, passed = stand_in(), 0
    for k, start in enumerate(arena.starts_all(game, 4)[::24]):
        seats = [[player, players.Random()][:: (-1) ** k] for player in (engine, first_move)]
        moves, expected = (arena.match(game, seated, start, seed=k).moves for seated in seats)
        assert moves == expected
        passed += num_passes([*start.actions, *moves])
    # one process for all matches
    assert passed > 3 and len({pid for pid, _ in stand_in.log()}) == 1


def test_the_seed_draws_the_first_move_and_another_move_than_the_engines_is_noticed(stand_in):
    engine, state = stand_in(), game.after([19])
    first = [arena.match(game, [engine, first_move], seed=k).moves[0] for k in (1, 2, 3, 1, 2, 3)]
    assert first[:3] == first[3:] and len(set(first)) > 1
    assert not any("genmove" in told for _, told in stand_in.log()[:2])
    engine.new_match(game, [19], 1, 0)
    assert engine.choose(state) == engine.choose(state) == game.legal(state)[0]
    other = game.legal(state)[1]
    state = game.play(state, other)
    engine.observe(other, state)
    assert engine.choose(state) == game.legal(state)[0]


def test_position_without_its_moves_and_other_games_are_refused(stand_in):
    with pytest.raises(ValueError, match="knows a position by its moves"):
        arena.match(game, [stand_in(), first_move], arena.Start(game.after([19, 18]), []))
    with pytest.raises(ValueError, match="stand-in plays othello on 8 x 8 only, not .*tictactoe"):
        arena.match(games.load("tictactoe"), [stand_in(), first_move])


@pytest.mark.slow
@pytest.mark.parametrize(
    "fault, message",
    [
        ("crash", "ended when asked 'genmove black': type that in a terminal"),
        ("hang", r"did not answer 'genmove black' within 1.5 s: allow more \(timeout=...\) or low"),
        ("mumble", "did not answer 'genmove black' within 1.5 s: allow.* It said 'not so fast'"),
        ("chatter", "did not answer 'genmove black' within 1.5 s: allow.* It said 'thinking"),
        ("flood", "said too much instead of an answer to 'genmove black'"),
        ("illegal", "answered 'D4' to 'genmove black', which is not legal here; .* play Othello"),
        ("garbage", "answered 'banana' to 'genmove black', which is no move here"),
        ("pass", "answered 'PASS' to 'genmove black', which is no move here"),
        ("refuse", "refused 'genmove black': 'unknown command'; is it an Othello engine"),
    ],
)
def test_a_fault_costs_its_match_only(stand_in, fault, message):
    slow = fault in ("hang", "mumble", "chatter")
    found = errors(stand_in(fault, 2, 3, timeout=1.5 if slow else 60.0), 3)
    assert [bool(text) for text in found] == [False, True, False]
    with pytest.raises(gtp.EngineError, match="(?s)`[^`]*gtp_engine.py.*" + message):
        raise gtp.EngineError(found[1])
    pids = [int(pid) for pid, told in stand_in.log() if told == "clear_board"]
    assert pids[0] == pids[1] != pids[2] and not running(pids[1])


def test_who_resigns_has_lost_with_the_moves_that_were_played(stand_in):
    seats = {"engine": stand_in("resign", 2, 3), "other": first_move}
    for forfeit in (False, True):
        table = arena.matches(
            game, seats, None, 3, seats=[("engine", "other")], forfeit=forfeit, strict=True
        )
        resigned = table[table["match"] == 1]
        assert resigned.score.tolist() == [-1.0, 1.0] and not table.error.any()
        assert 0 < resigned.plies.iloc[0] < table.plies.iloc[0]
        seats = {"engine": stand_in("resign", 5, 3), "other": first_move}  # the log goes on
    assert len({pid for pid, _ in stand_in.log()}) == 2  # it serves the next match as well


def test_an_engine_that_dies_between_matches_costs_nothing_and_one_that_cannot_start_all(stand_in):
    engine = stand_in()
    assert errors(engine) == [""]
    os.kill(engine.engine.process.pid, 9)
    assert errors(engine) == [""] and len({pid for pid, _ in stand_in.log()}) == 2
    engine.engine.stop()  # as Ctrl-C does
    assert errors(engine) == [""] and len({pid for pid, _ in stand_in.log()}) == 3
    for fault, said in {"exit": "ended when asked", "refuse": "refused 'clear_board'"}.items():
        assert [said in text for text in errors(stand_in(fault), 2)] == [True, True]


def test_what_edax_lacks_is_named_and_it_is_started_with_its_level_and_weights(
    tmp_path, monkeypatch
):
    monkeypatch.delenv("AFTERPLY_HIDE", raising=False)
    assert "cannot be started: No such file" in errors(gtp.Player([tmp_path / "none"], "none"))[0]
    monkeypatch.delenv("EDAX", raising=False)
    assert "make reproduce EDAX=/path/to/edax" in optional.lacks("edax")
    assert optional.lacks("edax") in errors(gtp.Edax())[0]
    program, log, lacking = tmp_path / "edax", tmp_path / "log", "not there or not executable: name"
    log.touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EDAX", "./edax")
    assert lacking in optional.lacks("edax")
    start = f"exec {sys.executable} {STAND_IN} none 0 0 {log}"
    program.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/options\n{start}\n')
    assert lacking in optional.lacks("edax")
    program.chmod(0o755)
    assert f"edax needs its weights, {tmp_path}/data/eval.dat: they" in optional.lacks("edax")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "eval.dat").touch()
    edax = gtp.Edax(level=7)
    assert optional.lacks("edax") == "" and edax.name == "Edax-7" and errors(edax) == [""]
    given = (tmp_path / "options").read_text()
    assert given == f"-q -gtp -l 7 -n 1 -book-usage off -eval-file {tmp_path}/data/eval.dat\n"


def test_copies_have_processes_of_their_own_and_nobody_is_left_behind(stand_in):
    engine = stand_in()
    arena.match(game, [engine, engine], seed=3)
    other = pickle.loads(pickle.dumps(engine))
    assert other.engine is None and copy.copy(engine).engine is None and engine.engine is not None
    assert errors(other) == [""]
    pids = {int(pid) for pid, _ in stand_in.log()}
    assert len(pids) == 3
    del engine, other
    gc.collect()
    assert not [pid for pid in pids if running(pid)]


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["raise SystemExit", "os.kill(os.getpid(), 9)"])
def test_no_engine_outlives_its_process(tmp_path, ending):
    log = tmp_path / "log"
    log.touch()
    command = [sys.executable, str(STAND_IN), "none", "0", "0", str(log)]
    script = (
        "import os\nfrom afterply import games\nfrom afterply.opponents import gtp\n"
        f"p = gtp.Player({command}, 'p')\np.new_match(games.load('othello'), [], 0, 0)\n{ending}\n"
    )
    subprocess.run([sys.executable, "-c", script], timeout=120)
    pid = int(log.read_text().split()[0])
    deadline = time.monotonic() + 20
    while running(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not running(pid)


def test_hidden_engines_are_missing_with_their_remedy(monkeypatch):
    monkeypatch.setenv("EDAX", __file__)
    monkeypatch.setenv("AFTERPLY_HIDE", "bitbully, gtp-rhino,edax")
    remedies = ("make engines", "apt install grhino", "EDAX=/path/to/edax")
    for name, remedy in zip(optional.ENGINES, remedies, strict=True):
        assert remedy in optional.lacks(name)
    with pytest.raises(ImportError, match="make engines.*bitbully==0.0.79"):
        perfect._engine.__wrapped__()
    with pytest.raises(ValueError, match="'bitbully', 'gtp-rhino', 'edax', not 'jax'"):
        optional.lacks("jax")
    monkeypatch.delenv("AFTERPLY_HIDE")
    assert not any(map(optional.hidden, optional.ENGINES + optional.ORACLES))
    monkeypatch.setenv("AFTERPLY_HIDE", "all")
    monkeypatch.delitem(sys.modules, "jax", raising=False)
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("jax")
    monkeypatch.setenv("AFTERPLY_HIDE", "bitbuly")
    with pytest.raises(ValueError, match="names bitbuly; there are all, bitbully"):
        optional.hidden("bitbully")


@pytest.mark.engine
@pytest.mark.skipif(bool(optional.lacks("gtp-rhino")), reason=optional.lacks("gtp-rhino"))
class TestRhino:
    @pytest.mark.parametrize("level, plies, least", [(2, 4, 0.8), (3, 2, 0.2)])
    def test_it_wins_in_both_roles(self, level, plies, least):
        other = players.Random() if level == 2 else gtp.Rhino(1)
        starts = arena.starts_all(game, plies)[:: 41 if level == 2 else 1]
        both = {"rhino": gtp.Rhino(level), "other": other}
        table = arena.matches(game, both, starts, seed=1, strict=True)
        assert table[table.player == "rhino"].score.mean() > least

    def test_it_plays_whole_games_against_itself_through_passes(self):
        # each refuses what it takes for illegal, so all moves and passes are as in our rules
        passed = 0
        for k, start in enumerate(arena.starts_all(game, 4)[5::60]):
            result = arena.match(game, [gtp.Rhino(1), gtp.Rhino(2)], start, seed=k)
            passed += num_passes([*start.actions, *result.moves])
        assert passed > 0
