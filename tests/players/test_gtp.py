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

from afterstate import arena, games, players
from afterstate.players import gtp, optional, perfect

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


def test_first_move_is_drawn_by_the_seed(stand_in):
    engine = stand_in()
    first = [arena.match(game, [engine, first_move], seed=k).moves[0] for k in (1, 2, 3, 1, 2, 3)]
    assert first[:3] == first[3:] and len(set(first)) > 1
    assert not any("genmove" in told for _, told in stand_in.log()[:2])


def test_another_move_than_the_engines_is_noticed(stand_in):
    engine, state = stand_in(), game.after([19])
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
        ("crash", r"ended \(exit status 3, 'out of luck'\) when asked 'genmove black': run it in"),
        ("killed", r"ended \(by signal SIGKILL\) when asked 'genmove black'"),
        ("hang", r"did not answer 'genmove black' within 1.5 s: allow more \(timeout=...\) or low"),
        ("mumble", "did not answer 'genmove black' within 1.5 s: allow.* It said 'not so fast'"),
        ("chatter", "talks without answering 'genmove black': .*GTP.* It said 'thinking"),
        ("illegal", "answered 'D4' to 'genmove black', which is not legal here; .* play Othello"),
        ("garbage", "answered 'banana' to 'genmove black', which is no move here"),
        ("pass", "answered 'PASS' to 'genmove black', which is no move here"),
        ("refuse", "refused 'genmove black': 'unknown command'; is it an Othello engine"),
    ],
)
def test_a_fault_costs_its_match_only(stand_in, fault, message):
    found = errors(stand_in(fault, 2, 3, timeout=1.5 if fault in ("hang", "mumble") else 60.0), 3)
    assert [bool(text) for text in found] == [False, True, False]
    with pytest.raises(gtp.EngineError, match="(?s)`[^`]*gtp_engine.py.*" + message):
        raise gtp.EngineError(found[1])
    pids = [int(pid) for pid, told in stand_in.log() if told == "clear_board"]
    assert pids[0] == pids[1] != pids[2] and not running(pids[1])


def test_an_engine_that_dies_between_matches_costs_nothing(stand_in):
    engine = stand_in()
    assert errors(engine) == [""]
    os.kill(engine.engine.process.pid, 9)
    assert errors(engine) == [""] and len({pid for pid, _ in stand_in.log()}) == 2


@pytest.mark.parametrize(
    "fault, message",
    [
        ("exit", r"ended \(exit status 1, 'no weights'.*clear_board"),
        ("refuse", "refused 'clear_board': 'unknown command'"),
    ],
)
def test_an_engine_that_fails_at_the_start_loses_every_match(stand_in, fault, message):
    with pytest.raises(gtp.EngineError, match=f"{message}(.|\n)*{message}"):
        raise gtp.EngineError("\n".join(errors(stand_in(fault), 2)))


@pytest.mark.slow
def test_an_engine_that_always_hangs_is_not_asked_for_ever(stand_in):
    found = errors(stand_in("hang", timeout=1.0), 5)
    assert ["within 1 s" in text for text in found] == [True] * 3 + [False] * 2
    assert "did not answer in time in 3 matches in a row and is not asked any more" in found[4]


def test_what_is_missing_is_named_with_its_remedy(tmp_path, monkeypatch):
    monkeypatch.delenv("AFTERSTATE_HIDE", raising=False)
    rhino = gtp.Player([tmp_path / "gtp-rhino"], "Rhino-m1", remedy="`apt install grhino`")
    lacking = "which is not there or not executable"
    wanted = f"needs the program {tmp_path}/gtp-rhino, {lacking}: `apt install grhino`"
    assert rhino.lacks() == f"Rhino-m1 {wanted}" and wanted in errors(rhino)[0]
    monkeypatch.delenv("EDAX", raising=False)
    assert "make reproduce EDAX=/path/to/edax" in gtp.Edax().lacks() == optional.lacks("edax")
    assert gtp.Edax().lacks() in errors(gtp.Edax())[0]
    edax = tmp_path / "edax"
    monkeypatch.setenv("EDAX", str(edax))
    assert f"Edax-3 needs the program {edax}, {lacking}: name the program" in gtp.Edax(3).lacks()
    edax.write_text("#!/bin/sh\nexit 4\n")
    assert lacking in gtp.Edax().lacks()
    edax.chmod(0o755)
    assert f"Edax needs its weights, {tmp_path}/data/eval.dat: they" in optional.lacks("edax")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "eval.dat").touch()
    assert optional.lacks("edax") == ""
    assert "ended (exit status 4) when asked 'clear_board'" in errors(gtp.Edax())[0]


def test_edax_is_started_with_its_level_and_weights_and_without_book(tmp_path, monkeypatch):
    monkeypatch.delenv("AFTERSTATE_HIDE", raising=False)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "eval.dat").touch()
    program, log = tmp_path / "edax", tmp_path / "log"
    log.touch()
    start = f"exec {sys.executable} {STAND_IN} none 0 0 {log}"
    program.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/options\n{start}\n')
    program.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EDAX", "./edax")
    edax = gtp.Edax(level=7)
    monkeypatch.chdir("/")
    assert edax.name == "Edax-7" and errors(edax) == [""]
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
@pytest.mark.parametrize("ending", ["raise SystemExit", "os._exit(1)", "os.kill(os.getpid(), 9)"])
def test_no_engine_outlives_its_process(tmp_path, ending):
    log = tmp_path / "log"
    log.touch()
    command = [sys.executable, str(STAND_IN), "none", "0", "0", str(log)]
    script = (
        "import os\nfrom afterstate import games\nfrom afterstate.players import gtp\n"
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
    monkeypatch.setenv("AFTERSTATE_HIDE", "bitbully, gtp-rhino,edax")
    remedies = ("make engines", "apt install grhino", "EDAX=/path/to/edax")
    for name, remedy in zip(optional.ENGINES, remedies, strict=True):
        assert remedy in optional.lacks(name)
    with pytest.raises(perfect.EngineMissing, match="make engines.*bitbully==0.0.79"):
        perfect.Oracle().scores(games.load("connect4").start())
    with pytest.raises(ValueError, match="'bitbully', 'gtp-rhino', 'edax', not 'jax'"):
        optional.lacks("jax")
    monkeypatch.delenv("AFTERSTATE_HIDE")
    assert not any(map(optional.hidden, optional.ENGINES + optional.ORACLES))
    monkeypatch.setenv("AFTERSTATE_HIDE", "bitbuly")
    with pytest.raises(ValueError, match="names bitbuly; there are all, bitbully"):
        optional.hidden("bitbully")


@pytest.mark.parametrize("name", optional.ORACLES)
def test_hidden_packages_cannot_be_imported(monkeypatch, name):
    monkeypatch.setenv("AFTERSTATE_HIDE", "all")
    monkeypatch.delitem(sys.modules, name, raising=False)
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module(name)


@pytest.mark.engine
@pytest.mark.skipif(bool(gtp.Rhino().lacks()), reason=gtp.Rhino().lacks())
class TestRhino:
    @pytest.mark.parametrize(
        "other, starts, least",
        [(players.Random(), arena.starts_all(game, 4)[::41], 0.8)]
        + [(gtp.Rhino(1), arena.starts_all(game, 2), 0.2)],
        ids=["random", "lower level"],
    )
    def test_it_plays_legal_moves_in_both_roles_and_wins(self, other, starts, least):
        both = {"rhino": gtp.Rhino(2 if least > 0.5 else 3), "other": other}
        table = arena.matches(game, both, starts, seed=1, strict=True)
        assert table[table.player == "rhino"].score.mean() > least

    def test_it_plays_whole_games_against_itself_through_passes(self):
        """Each refuses what it takes for illegal, so all moves and passes are as in our rules."""
        passed = 0
        for k, start in enumerate(arena.starts_all(game, 4)[5::60]):
            result = arena.match(game, [gtp.Rhino(1), gtp.Rhino(2)], start, seed=k)
            passed += num_passes([*start.actions, *result.moves])
        assert passed > 0

    @pytest.mark.parametrize("level", [1, 4])
    def test_it_plays_the_same_match_the_same_way_in_any_process(self, level):
        def play(engine, start):
            return arena.match(game, [engine, gtp.Rhino(2)], start, seed=7).moves

        engine, starts = gtp.Rhino(level), [None, *arena.starts_all(game, 4)[::100]]
        once = [play(engine, start) for start in starts]
        again = [play(engine, start) for start in reversed(starts)][::-1]
        assert once == again == [play(gtp.Rhino(level), start) for start in starts]
        assert len({tuple(moves) for moves in once}) == len(starts)
