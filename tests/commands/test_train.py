"""The command ``afterply train``: usual settings, nothing lost, nothing overwritten."""

import importlib
import os
import shlex
import signal
import threading
from pathlib import Path

import pytest

from afterply import commands, games, players
from afterply.commands import cli, train
from afterply.learners import sarsa, tabular, td
from afterply.learners.parameters import check_parameters
from sample_games import race


@pytest.fixture(autouse=True)
def small(monkeypatch, tmp_path):
    """Work in an empty folder; little is measured, and pieces of training are short."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(train, "GAMES", 2)
    monkeypatch.setattr(train, "next_chunk", lambda *_: 100)


def run(capsys, words):
    status = cli.main(shlex.split(words))
    return status, *capsys.readouterr()


def interrupted(capsys, monkeypatch, words, at=3, by=(signal.SIGINT,)):
    """Let a signal come in a training, after some pieces; return the command to go on."""
    pieces = iter(range(at))

    def chunk(*_):
        if next(pieces, None) is None:
            for number in by:
                signal.raise_signal(number)
        return 100

    with monkeypatch.context() as patch:
        patch.setattr(train, "next_chunk", chunk)
        status, out, _ = run(capsys, words)
    assert status == 128 + by[0] and "To go on:" in out
    return out.strip().splitlines()[-1].removeprefix("  afterply ")


@pytest.mark.parametrize("learner", ["td", "sarsa", "tabular"])
def test_an_interrupted_training_ends_as_one_that_was_not(capsys, monkeypatch, learner):
    words = f"train nim --learner {learner} --episodes 900 --seed 4"
    monkeypatch.setattr(train, "CHECKPOINT_SECONDS", 0.0)
    assert run(capsys, f"{words} --out whole.npz")[0] == 0
    on = interrupted(capsys, monkeypatch, words)
    assert on == interrupted(capsys, monkeypatch, on, at=1)
    # what is kept plays as well, and a part of the same words may be given again
    assert players.load("nim.npz.part").card["episodes"] == 402
    status, out, _ = run(capsys, f"{words} --resume")
    assert status == 0 and "going on after 402 games" in out and "nim.npz: 900 games" in out
    whole, parts = players.load("whole.npz"), players.load("nim.npz")
    assert whole.net.checksum() == parts.net.checksum() and whole.card == parts.card


CLOSED = signal.SIGHUP, signal.SIGHUP  # by the shell and by the system


@pytest.fixture
def heard():
    """Let this process hear what ends it, also where its own start made it deaf, as nohup does."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.parametrize("by", [(signal.SIGTERM,), CLOSED, (signal.SIGTERM, signal.SIGINT)])
def test_what_ends_a_program_from_outside_keeps_what_was_learned(capsys, monkeypatch, heard, by):
    before = [signal.getsignal(number) for number in by]
    on = interrupted(capsys, monkeypatch, "train nim --episodes 900", by=by)
    assert players.load("nim.npz.part").card["episodes"] == 301
    assert [signal.getsignal(number) for number in by] == before
    status, out, _ = run(capsys, on)
    assert status == 0 and "going on after 301 games" in out


def test_a_signal_that_is_ignored_stays_ignored(capsys, monkeypatch):
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as nohup does
    try:
        pieces = iter([signal.SIGHUP, signal.SIGTERM])

        def chunk(*_):
            signal.raise_signal(next(pieces))
            return 100

        monkeypatch.setattr(train, "next_chunk", chunk)
        status, *_ = run(capsys, "train nim --episodes 900")
    finally:
        signal.signal(signal.SIGHUP, before)
    assert status == 128 + signal.SIGTERM
    assert players.load("nim.npz.part").card["episodes"] == 101


def test_a_training_whose_lines_nobody_reads_any_more_is_kept(capsys, monkeypatch):
    def gone(_):
        raise BrokenPipeError

    monkeypatch.setattr(train.Progress, "tell", gone)
    assert run(capsys, "train nim --episodes 900")[0] == 141
    assert players.load("nim.npz.part").card["episodes"] == 1


def test_what_was_learned_is_written_before_it_is_measured(capsys, monkeypatch):
    def measure(*_):
        if Path("nim.npz").exists():
            raise KeyboardInterrupt
        return ""

    monkeypatch.setattr(train.Progress, "measure", measure)
    assert run(capsys, "train nim --episodes 200")[0] == 130
    assert players.load("nim.npz").card["episodes"] == 200


NAMES = ["mine", "mcts", "10:30.npz", "my agent {1}.npz", "-x.npz", "it's $1.npz", "mcts:5"]


@pytest.mark.parametrize("name", NAMES)
def test_what_a_training_says_works_when_it_is_typed(capsys, monkeypatch, name):
    words = shlex.join(["train", "nim:stones=3", f"--out={name}", "--episodes", "900"])
    on = interrupted(capsys, monkeypatch, words)
    status, out, _ = run(capsys, on)
    assert status == 0 and "going on after 301 games" in out
    play = out.strip().splitlines()[-1].removeprefix("To play against it: afterply ")
    against = []

    def told(game, opponent, **_):
        against.append(opponent)

    monkeypatch.setattr(importlib.import_module("afterply.screen.play"), "play", told)
    assert run(capsys, play)[0] == 0 and against[0].card["episodes"] == 900


def test_a_command_is_told_as_it_was_called(monkeypatch, tmp_path):
    for name, path, said in (
        ("/usr/bin/pytest", "", "afterply a 'b c'"),
        (f"{tmp_path}/afterply", "", f"{tmp_path}/afterply a 'b c'"),
        (f"{tmp_path}/afterply", tmp_path, "afterply a 'b c'"),
    ):
        (tmp_path / "afterply").touch(0o755)
        monkeypatch.setenv("PATH", str(path))
        monkeypatch.setattr("sys.argv", [name])
        assert commands.typed("a", "b c") == said
    monkeypatch.setattr("sys.modules", {"__main__": cli})  # as by python -m
    assert commands.typed("a").endswith(" -m afterply.commands.cli a")


def test_an_agent_goes_where_a_link_leads_and_into_devices_and_pipes(capsys):
    Path("far").mkdir()
    Path("link.npz").symlink_to("far/agent.npz")
    assert run(capsys, "train nim --episodes 100 --out link.npz")[0] == 0
    assert Path("link.npz").is_symlink() and players.load("far/agent.npz")
    status, _, err = run(capsys, "train nim --episodes 100 --out link.npz")
    assert status == 2 and "link.npz exists" in err
    status, out, _ = run(capsys, f"train nim --episodes 100 --out {os.devnull}")
    assert status == 0 and "To play against it" not in out
    os.mkfifo("pipe")
    listener = threading.Thread(target=lambda: Path("heard").write_bytes(open("pipe", "rb").read()))
    listener.start()
    assert run(capsys, "train nim --episodes 100 --out pipe")[0] == 0
    listener.join()
    assert players.load("heard").card["episodes"] == 100 and Path("pipe").is_fifo()
    for out in ("far", "agent.py"):
        status, _, err = run(capsys, f"train nim --out {out} --force")
        assert status == 2 and "name a file such as nim.npz with --out" in err


def test_what_would_be_lost_is_refused_before_anything_is_trained(capsys, monkeypatch):
    interrupted(capsys, monkeypatch, "train nim --episodes 2000 --set alpha=0.25")
    held = players.load("nim.npz.part").net.checksum()
    open("tictactoe.npz", "w").close()
    monkeypatch.setattr(train, "_begun", None)
    for words, said in (
        ("train tic_tac_toe", "tictactoe.npz exists: name another one with --out, or give --force"),
        ("train nim", "a training that did not end: go on with --resume, or --force"),
        ("train nim --resume --seed 1", "nim.npz.part was begun with seed=0"),
        ("train nim --resume --set alpha=1", "was begun with set={'alpha': 0.25}"),
        ("train hex --resume", "there is no hex.npz.part to go on with: leave out --resume"),
    ):
        status, _, err = run(capsys, words)
        assert status == 2 and said in err
    assert players.load("nim.npz.part").net.checksum() == held


def test_the_clock_sets_the_number_of_games_where_step_sizes_change(capsys):
    status, out, _ = run(capsys, "train tictactoe --minutes 0.01 --force")
    episodes = players.load("tictactoe.npz").card["parameters"]["episodes"]
    assert status == 0 and f"time for {episodes:,} games, over which" in out
    status, out, _ = run(capsys, "train nim --minutes 0.01")
    assert status == 0 and "time for" not in out and "won against mcts:100" in out
    assert run(capsys, "train nim --minutes -1 --out other.npz")[0] == 2


@pytest.mark.slow
@pytest.mark.parametrize("name", games.names())
def test_every_game_brings_settings_that_can_be_trained(name):
    game = games.load(name)
    session = td.Session(game, seed=1)
    assert session.params == check_parameters(td.PARAMETERS, game.settings) != td.DEFAULTS
    session.train(2)
    plan = {"asked": {"seed": 1}, "goal": 2, "limit": 0}
    assert train.Progress(session, plan).measure(game.players, 0.0).endswith(" games)")


SMALL = [("connect4", {"rows": 4}), ("hex", {"size": 2}), ("othello", {"side": 4})]
SMALL += [("kalah", {"houses": 2}), ("morris", {"men": 3}), ("nim", {"heaps": 6, "stones": 9})]


@pytest.mark.parametrize("name, given", SMALL)
def test_other_sizes_of_a_game_have_n_tuples_that_fit(name, given):
    td.Session(games.load(name, **given), seed=1)


def test_parameters_given_are_all_that_counts_and_an_own_game_has_fitting_n_tuples():
    assert td.Session(games.load("nim"), {}).params == td.DEFAULTS
    assert td.Session(race(), seed=1).params == td.DEFAULTS
    assert sarsa.Session(games.load("nim")).params["alpha"] == 0.5


def test_a_session_goes_on_from_its_file_and_from_no_other():
    session = td.Session(games.load("nim"), seed=1)
    session.save("small.npz")
    session.save("large.npz", resumable=True)
    again = td.Session.load("large.npz")
    session.train(50), again.train(50)
    assert session.net.checksum() == again.net.checksum()
    for load, file, said in (
        (td.Session.load, "small.npz", "resumable=True"),
        (tabular.Session.load, "large.npz", "a session of td, not of tabular"),
        (lambda file: td.Session.load(file, games.load("nim", misere=True)), "large.npz", "not of"),
    ):
        with pytest.raises(ValueError, match=said):
            load(file)
