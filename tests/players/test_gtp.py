"""Othello engines through GTP, by a scripted stand-in: what can go wrong, is missing, or costs."""

import copy
import gc
import os
import pickle
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from afterstate import arena, games, players
from afterstate.evaluators.matches import TICTACTOE, Matches
from afterstate.evaluators.othello import EDAX_1, RHINO_M1, RHINO_M4, RHINOS, against
from afterstate.players import gtp
from afterstate.studies import runs
from afterstate.studies.identity import evaluator_identity, lacks

STAND_IN = Path(__file__).parents[1] / "oracles" / "gtp_engine.py"
game = games.load("othello")


class FirstMove:
    """Plays the first legal move, as the stand-in does."""

    def new_match(self, game, actions_from_start, seat, seed):
        self.game = game

    def choose(self, state):
        return self.game.legal(state)[0]


@pytest.fixture
def stand_in(tmp_path):
    """Make players of the stand-in; they are killed at the end of the test."""

    def make(fault="none", match=0, move=0, timeout=60.0, **options):
        (tmp_path / "log").touch()
        return gtp.Player(
            [sys.executable, STAND_IN, fault, match, move, tmp_path / "log"],
            "stand-in",
            timeout,
            **options,
        )

    make.log = lambda: [
        line.split(maxsplit=1) for line in (tmp_path / "log").read_text().splitlines()
    ]
    return make


def errors(player, opponent, num=1, seats=None):
    """Play some matches; return the text of the error of each."""
    table = arena.matches(
        game, {"engine": player, "other": opponent}, None, num, seats=seats or [("engine", "other")]
    )
    return table[table.seat == 0].error.tolist()


def running(pid):
    """Whether a process runs (a dead one that nobody has asked about yet does not)."""
    try:
        return (
            Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
            if Path("/proc").exists()
            else os.kill(pid, 0) is None
        )
    except (FileNotFoundError, ProcessLookupError):
        return False


# ---------------------------------------------------------------------------------- a proper engine


def passes(moves):
    """Who passes in a game from the default start, in order."""
    movers = [game.player(game.after(moves[:n])) for n in range(len(moves))]
    return [1 - a for a, b in zip(movers, movers[1:]) if a == b]


@pytest.mark.slow
def test_the_stand_in_plays_as_its_equal_does_through_passes_in_both_roles(stand_in):
    engine, passed = stand_in(), 0
    for k, start in enumerate(arena.starts_all(game, 4)[::24]):
        seats = [[player, players.Random()][:: (-1) ** k] for player in (engine, FirstMove())]
        moves, expected = (arena.match(game, seated, start, seed=k).moves for seated in seats)
        assert moves == expected
        passed += len(passes([*start.actions, *moves]))
    # one process for all matches
    assert passed > 3 and len({pid for pid, _ in stand_in.log()}) == 1


def test_first_move_is_drawn_by_the_seed(stand_in):
    engine = stand_in()
    first = [arena.match(game, [engine, FirstMove()], seed=k).moves[0] for k in (1, 2, 3, 1, 2, 3)]
    assert (
        first[:3] == first[3:]
        and len(set(first)) > 1
        and not any("genmove" in told for _, told in stand_in.log()[:2])
    )


def test_passes_are_told_where_the_engine_needs_it(stand_in):
    silent, told = stand_in(), stand_in(passes=True)
    moves = [arena.match(game, [FirstMove(), player], seed=2).moves for player in (silent, told)]
    assert moves[0] == moves[1]
    said = [words for _, words in stand_in.log()]
    second = len(said) - said[::-1].index("clear_board")
    expected = [f"play {gtp.COLOURS[player]} pass" for player in passes(moves[0])]
    found = [words for words in said[second:] if words.endswith("pass")]
    assert not [words for words in said[:second] if words.endswith("pass")]
    # what follows its last move it is not told
    assert len(found) >= len(expected) - 1 > 0 and found == expected[: len(found)]


def test_another_move_than_the_engines_is_noticed(stand_in):
    engine = stand_in()
    engine.new_match(game, [19], 1, 0)
    state = game.after([19])
    chosen = engine.choose(state)
    assert engine.choose(state) == chosen == game.legal(state)[0]
    other = game.legal(state)[1]
    state = game.play(state, other)
    engine.observe(other, state)
    assert engine.choose(state) == game.legal(state)[0]


def test_position_without_its_moves_and_other_games_are_refused(stand_in):
    with pytest.raises(ValueError, match="knows a position by its moves"):
        arena.match(game, [stand_in(), FirstMove()], arena.Start(game.after([19, 18]), []))
    with pytest.raises(ValueError, match="stand-in plays othello on 8 x 8 only, not .*tictactoe"):
        arena.match(games.load("tictactoe"), [stand_in(), FirstMove()])


# -------------------------------------------------------------------------------- what can go wrong


@pytest.mark.slow
@pytest.mark.parametrize(
    "fault, message",
    [
        (
            "crash",
            (
                r"ended \(exit status 3, 'out of luck'\) when asked 'genmove black': run it in a"
                r" terminal"
            ),
        ),
        ("killed", r"ended \(by signal SIGKILL\) when asked 'genmove black'"),
        (
            "hang",
            (
                r"did not answer 'genmove black' within 1.5 s; allow more \(timeout=...\) or lower"
                r" its level"
            ),
        ),
        ("mumble", "did not answer 'genmove black' within 1.5 s: it said 'not so fast'"),
        (
            "chatter",
            (
                "talks without answering 'genmove black': it said 'thinking about it.*does it"
                " speak GTP"
            ),
        ),
        (
            "illegal",
            "answered 'D4' to 'genmove black', which is not legal here .*does it play Othello",
        ),
        ("garbage", "answered 'banana' to 'genmove black', which is no move here"),
        ("pass", "answered 'PASS' to 'genmove black', which is no move here"),
        ("resign", "answered 'resign' to 'genmove black', which is no move here"),
        ("refuse", "refused 'genmove black': 'unknown command'; is it an Othello engine"),
    ],
)
def test_a_fault_costs_its_match_only(stand_in, fault, message):
    engine = stand_in(fault, match=2, move=3, timeout=1.5 if fault in ("hang", "mumble") else 60.0)
    found = errors(engine, FirstMove(), 3)
    assert [bool(text) for text in found] == [False, True, False]
    with pytest.raises(gtp.EngineError, match="(?s)`[^`]*gtp_engine.py.*" + message):
        raise gtp.EngineError(found[1])
    pids = [pid for pid, told in stand_in.log() if told == "clear_board"]
    assert pids[0] == pids[1] != pids[2] and not running(int(pids[1])) and running(int(pids[2]))


def test_an_engine_that_dies_between_matches_costs_nothing(stand_in):
    engine = stand_in()
    assert errors(engine, FirstMove()) == [""]
    os.kill(engine.engine.process.pid, 9)
    assert errors(engine, FirstMove()) == [""] and len({pid for pid, _ in stand_in.log()}) == 2


def test_an_engine_that_ends_or_refuses_at_the_start_loses_every_match(stand_in):
    assert all(
        "ended (exit status 1, 'no weights'" in text and "clear_board" in text
        for text in errors(stand_in("exit"), FirstMove(), 2)
    )
    assert all(
        "refused 'clear_board': 'unknown command'" in text
        for text in errors(stand_in("refuse"), FirstMove(), 2)
    )


@pytest.mark.slow
def test_an_engine_that_always_hangs_is_not_asked_for_ever(stand_in):
    found = errors(stand_in("hang", timeout=1.5), FirstMove(), 5)
    assert ["within 1.5 s" in text for text in found] == [True] * 3 + [False] * 2
    assert "did not answer in time in 3 matches in a row and is not asked any more" in found[4]


def test_what_is_missing_is_named_with_its_remedy(tmp_path, monkeypatch):
    rhino = gtp.Player([tmp_path / "gtp-rhino"], "Rhino-m1", remedy="`apt install grhino`")
    assert (
        rhino.lacks()
        == f"Rhino-m1 needs the program {tmp_path}/gtp-rhino, which is not there: `apt install"
        " grhino`"
    )
    assert rhino.lacks() in errors(rhino, FirstMove())[0]
    monkeypatch.delenv("EDAX", raising=False)
    assert (
        "make reproduce EDAX=/path/to/edax" in gtp.Edax().lacks()
        and gtp.Edax().lacks() in errors(gtp.Edax(), FirstMove())[0]
    )
    monkeypatch.setenv("EDAX", str(tmp_path / "edax"))
    assert (
        gtp.Edax(3).lacks()
        == f"Edax-3 needs the program {tmp_path}/edax, which is not there: name the program itself,"
        " EDAX=/path/to/edax"
    )
    (tmp_path / "edax").write_text("#!/bin/sh\nexit 4\n")
    assert "which is not executable" in gtp.Edax().lacks()
    (tmp_path / "edax").chmod(0o755)
    assert (
        gtp.Edax().lacks()
        == f"Edax-1 needs its weights, {tmp_path}/data/eval.dat: they are on its release page, too"
    )
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "eval.dat").touch()
    assert (
        gtp.Edax().lacks() == ""
        and "ended (exit status 4) when asked 'clear_board'" in errors(gtp.Edax(), FirstMove())[0]
    )
    monkeypatch.setenv("EDAX", str(tmp_path))
    assert "which is a directory: name the program itself" in gtp.Edax().lacks()


def test_edax_is_started_with_its_level_and_weights_and_without_book(tmp_path, monkeypatch):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "eval.dat").touch()
    program = tmp_path / "edax"
    log = tmp_path / "log"
    log.touch()
    program.write_text(
        f'#!/bin/sh\necho "$@" > {tmp_path}/options\nexec {sys.executable} {STAND_IN} none 0 0'
        f" {log}\n"
    )
    program.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EDAX", "./edax")
    edax = gtp.Edax(level=7)
    monkeypatch.chdir("/")
    assert edax.name == "Edax-7" and errors(edax, FirstMove()) == [""]
    assert (
        tmp_path / "options"
    ).read_text() == f"-q -gtp -l 7 -n 1 -book-usage off -eval-file {tmp_path}/data/eval.dat\n"


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: gtp.Rhino(11), "level=11 of gtp-rhino must be"),
        (lambda: gtp.Rhino(True), "level=True"),
        (lambda: gtp.Edax(61), "level=61 of Edax must be"),
        (lambda: gtp.Player("gtp-rhino -m 1", "r"), "must be a list, program first"),
        (lambda: gtp.Player([], "r"), r"command=\[\]"),
        (lambda: gtp.Player(["x"], "r", timeout=0), "timeout=0 must be above 0"),
    ],
)
def test_bad_settings(make, message):
    with pytest.raises(ValueError, match=message):
        make()


# ---------------------------------------------------------------------------------------- processes


def test_copies_have_processes_of_their_own_and_nobody_is_left_behind(stand_in):
    engine = stand_in()
    arena.match(game, [engine, engine], seed=3)
    other = pickle.loads(pickle.dumps(engine))
    assert other.engine is None and copy.copy(engine).engine is None and engine.engine is not None
    assert errors(other, FirstMove()) == [""]
    pids = {int(pid) for pid, _ in stand_in.log()}
    assert len(pids) == 3
    del engine, other
    gc.collect()
    assert not [pid for pid in pids if running(pid)]


@pytest.mark.slow
@pytest.mark.parametrize(
    "ending",
    ["raise SystemExit(0)", "import os; os._exit(1)", "import os; os.kill(os.getpid(), 9)"],
)
def test_no_engine_outlives_its_process(tmp_path, ending):
    log = tmp_path / "log"
    log.touch()
    script = (
        "from afterstate import games\nfrom afterstate.players import gtp\np ="
        f" gtp.Player({[sys.executable, str(STAND_IN), 'none', '0', '0', str(log)]},"
        f" 'p')\np.new_match(games.load('othello'), [], 0, 0)\n{ending}\n"
    )
    subprocess.run([sys.executable, "-c", script], timeout=120)
    pid = int(log.read_text().split()[0])
    deadline = time.monotonic() + 20
    while running(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not running(pid)


def test_cpu_time_of_engines_is_counted_when_they_end(stand_in):
    engine, before = stand_in(), runs.cpu_time(RHINO_M1) - time.process_time()
    engine.new_match(game, [], 0, 0)
    engine = None
    # to start Python takes longer
    assert runs.cpu_time(RHINO_M1) - time.process_time() > before + 0.005


# --------------------------------------------------------------------------------------- evaluation


def test_evaluators_lack_what_their_opponents_lack(monkeypatch, tmp_path):
    monkeypatch.setenv("EDAX", str(tmp_path / "edax"))
    assert lacks(EDAX_1) == gtp.Edax(1).lacks() != ""
    assert lacks(against(gtp.Edax, 5)).startswith("Edax-5 needs")
    assert lacks(TICTACTOE) == ""
    assert [e.name for e in (EDAX_1, *RHINOS)] == [
        "Edax-1",
        "Rhino-m1",
        "Rhino-m2",
        "Rhino-m4",
        "Rhino-m6",
    ]
    assert evaluator_identity(RHINO_M4) == {
        "name": "Rhino-m4",
        "version": 1,
        "settings": {
            "opponent": {"player": "Rhino", "version": 1, "arguments": [4, {}]},
            "starts": ["all", 4],
            "episodes": 1,
            "metrics": ["win_rate", "score"],
        },
    }


def test_evaluation_with_a_faulty_engine_counts_its_errors(stand_in):
    evaluator = Matches("stand-in", partial(stand_in, "crash", 2, 3), starts=("upto", 1))
    found = evaluator(game, FirstMove(), seed=1)
    assert found["errors:stand-in"] == 1 and found["win_rate:stand-in"] >= 0
