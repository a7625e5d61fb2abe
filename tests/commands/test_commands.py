"""The command afterply, the maker of published agents, and the benchmarks."""

import argparse
import inspect
import json
import os
import runpy
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from afterply import commands, games, players
from afterply.checks import to_install
from afterply.commands import cli, reproduce
from afterply.files import data_directory, read_signed
from benchmarks import run as bench

MODELS = data_directory() / "models"
make = SimpleNamespace(**runpy.run_path(str(MODELS / "make.py")))


def run(capsys, *words):
    status = cli.main([str(word) for word in words])
    said = capsys.readouterr()
    return status, said.out, said.err


def test_games_are_listed_with_zoo_and_ladder_and_told_one_by_one(capsys):
    _, out, _ = run(capsys, "games")
    rows = {line.split()[0]: line for line in out.splitlines()[1:]}
    assert set(rows) == set(games.names())
    assert rows["nim3p"].count("yes") == 1 and rows["tictactoe"].count("yes") == 2
    _, out, _ = run(capsys, "games", "hex")
    assert "symmetries" in out and "published agent: learned from 300,000 games" in out


@pytest.mark.slow
def test_an_agent_is_trained_written_and_plays_a_match(capsys, tmp_path):
    file = tmp_path / "nim.npz"
    words = ("--episodes", 50, "--set", "tuples=nim-1x3", "--set", "alpha=1,0.5", "--out", file)
    status, out, err = run(capsys, "train", "nim", *words)
    assert status == 0 and "50 games of nim" in out and not err
    card = players.load(file).card
    assert card["parameters"]["alpha"] == [1, 0.5] and card["episodes"] == 50
    words = (file, "max-n:15", "random", "random", "--episodes", 1)
    status, out, _ = run(capsys, "match", "nim", *words)
    assert status == 0 and "max-n:15" in out and "random (2)" in out


def test_players_of_one_name_are_told_apart(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    words = ["a/x.npz", "b/x.npz", "b/x.npz", "random", "y.npz", "a/random", "10:30.npz:2", "x (2)"]
    names = ["a/x.npz", "b/x.npz", "b/x.npz (2)", "random", "y.npz", "a/random", "10:30.npz:2"]
    assert cli.names_of_players(words) == [*names, "x (2)"]
    assert cli.names_of_players(["x", "x (2)", "x"]) == ["x", "x (2)", "x (3)"]
    for file in ("a/x.npz", "b/x.npz"):
        players.zoo("tictactoe").save(file)
    status, out, _ = run(
        capsys, "match", "tictactoe", "a/x.npz", "b/x.npz", "random", "--episodes", 1
    )
    ratings = out.split("\n\n")[0]
    assert status == 0 and all(f" {name} " in ratings for name in ("a/x.npz", "b/x.npz", "random"))


def test_players_may_stand_behind_options(capsys):
    same = [
        run(capsys, "match", "nim", *words.split())
        for words in (
            "random zoo --episodes 2",
            "--episodes 2 random zoo",
            "random --episodes 2 zoo",
        )
    ]
    assert same[0][0] == 0 and same[0] == same[1] == same[2]
    for words, odd in (("match nim random --sed 3", "--sed"), ("play nim x --seat 1", "x")):
        with pytest.raises(SystemExit, match="2"):
            cli.main(words.split())
        command = words.split()[0]
        assert f"unrecognized: {odd}; see `afterply {command} --help`" in capsys.readouterr().err


def test_the_page_of_claims_takes_the_place_of_no_file(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    for name in ("claims", "other.yaml", "other"):  # without an ending; its name is a file's
        Path(name).write_text("kept")
    for claims in ("claims", "other.yaml"):
        status, _, err = run(capsys, "judge", claims, "runs.csv")
        assert status == 2 and "is a file: name a folder for the page with --out" in err
    assert Path("other").read_text() == "kept"


def test_a_game_is_played_at_the_keyboard(capsys, monkeypatch):
    answers = iter(["v", "b2", "q"])
    monkeypatch.setattr("builtins.input", lambda text: next(answers))
    status, out, _ = run(capsys, "play", "tictactoe", "--against", "max-n:9")
    assert status == 0 and "plays" in out and "b2 +0.000" in out


@pytest.mark.parametrize(
    "words, said",
    [
        ("play chess", "there is no game 'chess'"),
        ("play hex:size", "not of the form NAME=VALUE"),
        ("match nim random alphazero", "names no player"),
        ("match nim random lost.npz", "there is no file lost.npz"),
        ("train nim --learner guess", "there is no learner 'guess'"),
        ("train nim --set alhpa=1", "did you mean 'alpha'"),
        ("docs", f"needs the package 'pdoc': {to_install('docs')}"),
    ],
)
def test_what_is_wrong_is_said_in_a_line_without_a_traceback(capsys, monkeypatch, words, said):
    monkeypatch.setitem(sys.modules, "pdoc", None)
    status, _, err = run(capsys, *words.split())
    assert status == 2 and said in err and "Traceback" not in err


COMMANDS = "games play page train match judge league docs".split()
BEHIND_MAKE = (
    "quick reproduce join report plan again repeat afresh evaluate golden notebook".split()
)


def parsers_of(module):
    """Return the parsers of a command line's commands, by name."""
    program, added = commands.new_program("afterply")
    names = COMMANDS if module is cli else BEHIND_MAKE
    for name in names:
        getattr(module, f"add_{name}")(added)
    return added.choices


def helped(capsys, words, of=cli):
    with pytest.raises(SystemExit):
        of.main([*words.split(), "--help"])
    return capsys.readouterr().out


@pytest.mark.parametrize(
    "of, name", [(cli, name) for name in COMMANDS] + [(reproduce, name) for name in BEHIND_MAKE]
)
def test_help_says_what_every_parameter_is_and_what_ctrl_c_leaves(capsys, monkeypatch, of, name):
    monkeypatch.setenv("COLUMNS", "100")
    out, parser = helped(capsys, name, of), parsers_of(of)[name]
    command = parser.get_default("command")
    declared = [action for action in parser._actions if action.dest != argparse.SUPPRESS]
    assert {one.dest for one in declared} == {*inspect.signature(command.function).parameters}
    words = " ".join(out.split())
    for action in declared:
        assert action.help and action.help.partition(" (")[0][:30] in words
        if action.default not in (None, False, "", []) and action.nargs != "*":
            assert f"(default: {action.default})" in words or "default: " in action.help
    assert inspect.getdoc(command.function) in out
    assert f"Ctrl-C: {command.after_ctrl_c[:40]}" in out
    assert ("moves at random" in out) == (name in ("play", "match"))
    assert max(map(len, out.splitlines())) <= 100


def test_the_help_of_train_says_the_parameters_of_the_learner_in_the_game(capsys):
    out, connect4 = helped(capsys, "train connect4"), games.load("connect4").settings
    assert f"\n  alpha={connect4['alpha']} *\n      step size" in out and "\n  gamma=1.0\n" in out
    assert "\n  alpha=1.0\n" in helped(capsys, "train")
    assert "\n  teacher=" in helped(capsys, "train nim --learner tabular")
    assert run(capsys, "train", "chess", "--help")[::2] == (
        2,
        run(capsys, "games", "chess")[2].replace("afterply games", "afterply"),
    )


def test_ctrl_c_says_what_is_left(capsys):
    def stopped():
        """Do something for long."""
        raise KeyboardInterrupt

    program, added = commands.new_program("afterply")
    commands.add_command(added, stopped, "What was done is kept.")
    assert commands.run_program(program, ["stopped"]) == 130
    assert capsys.readouterr().err == "\nStopped. What was done is kept.\n"


def test_an_opponent_who_cannot_play_here_is_told_at_once(capsys, monkeypatch):
    monkeypatch.setenv("AFTERPLY_HIDE", "all")
    for words in ("play connect4 --against perfect", "match connect4 random perfect"):
        status, out, err = run(capsys, *words.split())
        assert status == 2 and "BitBully" in err and "make engines" in err and not out
    monkeypatch.setattr("builtins.input", lambda text: "q")
    assert run(capsys, "play", "nim", "--against", "perfect")[0] == 0


def test_a_columns_letter_is_a_move_where_one_is_in_it(capsys, monkeypatch):
    answers = iter(["d", "dd", "q"])
    monkeypatch.setattr("builtins.input", lambda text: next(answers))
    _, out, _ = run(capsys, "play", "connect4", "--against", "max-n:1")
    assert "'dd' is not a move here" in out and "'d' is" not in out
    answers = iter(["b", "q"])
    _, out, _ = run(capsys, "play", "tictactoe", "--against", "max-n:1")
    assert "'b' is not a move here" in out  # three are


INTERRUPTS = """
import ctypes, signal, sys, time
from afterply.commands import add_command, new_program, run_program

def strike():
    signal.raise_signal(signal.SIGINT)

def direct():
    "Nobody swallows it."
    strike()

def destructor():
    "What is raised in a destructor is ignored."
    type("Last", (), {"__del__": lambda self: strike()})()

def callback():
    "So is what is raised in a function that C calls."
    ctypes.CFUNCTYPE(None)(strike)()

def compiler():
    "What is raised in a compiler damages it."
    exec("try: strike()\\nexcept BaseException: sys.exit('raised')",
         {"__name__": "llvmlite.binding.ffi", "strike": strike, "sys": sys})

def late(function):
    def command():
        function()
        time.sleep(5)
    command.__doc__ = function.__doc__
    return command

signal.signal(signal.SIGINT, signal.default_int_handler)
found = []
for function in (direct, destructor, callback, compiler):
    program, commands = new_program("x")
    add_command(commands, late(function))
    found.append(run_program(program, ["command"]))
print(found)
"""


def started(words, **options):
    """Start a process that heeds Ctrl-C, even if the one that tests does not."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    ours = signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        return subprocess.Popen([sys.executable, *words], **pipes, **options)
    finally:
        signal.signal(signal.SIGINT, ours)


def test_ctrl_c_is_heard_wherever_it_is_swallowed():
    said, errors = started(["-c", INTERRUPTS]).communicate(timeout=120)
    assert said == "[130, 130, 130, 130]\n", errors


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [3.0, 6.0])
def test_one_ctrl_c_ends_a_training_that_is_still_being_compiled(tmp_path, seconds):
    words = "-m afterply.commands.cli train nim --episodes 1000000000".split()
    process = started(words, env=os.environ | {"AFTERPLY_CACHE": str(tmp_path)})
    time.sleep(seconds)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode in (130, -signal.SIGINT)  # before the command was read


@pytest.mark.parametrize("name", make.RECIPES)
def test_published_agents_were_trained_by_their_recipes(name):
    recipe, card = make.RECIPES[name], read_signed(MODELS / f"card-{name}.json")
    assert (card["seed"], card["episodes"]) == (recipe.seed, recipe.episodes)
    assert recipe.parameters.items() <= card["parameters"].items()
    assert card["words"] == make.words(card)


@pytest.mark.slow
def test_cards_and_a_ladder_are_made_again(tmp_path, monkeypatch):
    for name in ("nim", "hex"):
        assert make.make_card(name) == read_signed(MODELS / f"card-{name}.json")
    monkeypatch.setitem(make.make_ladder.__globals__, "FOLDER", tmp_path)
    made = json.loads(json.dumps(make.make_ladder("tictactoe")))
    assert made == read_signed(MODELS / "ladder-tictactoe.json")


@pytest.mark.slow
def test_very_short_benchmarks_have_all_their_rows(monkeypatch):
    pytest.importorskip("pyspiel")
    for name, value in (
        ("UCT_ITERATIONS", 50),
        ("GAMES", {"ttt": bench.GAMES["Tic-Tac-Toe"]}),
        ("SETTINGS", {"nim": ("nim", bench.NIM)}),
        ("TABLES", {"ttt": "tictactoe"}),
        ("METHODS", {}),
    ):
        monkeypatch.setattr(bench, name, value)
    for name, value in (("SECONDS", 0.001), ("READS", 1000), ("LINKING", 0.0)):
        monkeypatch.setattr(bench.scale, name, value)
    text = "\n".join(bench.rivals())
    assert text.count("| ttt |") == 2 and "not installed" not in text
    text = "\n".join(bench.trainings())
    assert text.count("| nim |") == 2 and text.count("| ttt, a table") == 1
