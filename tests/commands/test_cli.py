"""The command afterstate: its help, and each of its commands doing its work."""

import sys

import pytest

from afterstate import games, players
from afterstate.commands import cli


def run(capsys, *words):
    status = cli.main([str(word) for word in words])
    said = capsys.readouterr()
    return status, said.out, said.err


def test_help_names_commands_players_and_options(capsys):
    for words, expected in (
        ("--help", ("games", "play", "train", "match", "docs", "rate them")),
        ("match --help", ("mcts:N", "elo:R", "zoo", "FILE.npz", "--episodes")),
    ):
        with pytest.raises(SystemExit) as left:
            cli.main(words.split())
        out = capsys.readouterr().out
        assert left.value.code == 0 and all(word in out for word in expected)


def test_games_are_listed_with_zoo_and_ladder_and_told_one_by_one(capsys):
    _, out, _ = run(capsys, "games")
    rows = {line.split()[0]: line for line in out.splitlines()[1:]}
    assert set(rows) == set(games.names())
    assert rows["othello"].count("yes") == 1 and rows["tictactoe"].count("yes") == 2
    _, out, _ = run(capsys, "games", "hex")
    assert "symmetries" in out and "published agent: td, 300,000 episodes" in out


@pytest.mark.slow
def test_an_agent_is_trained_written_and_plays_a_match(capsys, tmp_path):
    file = tmp_path / "nim.npz"
    words = ("--episodes", 50, "--set", "tuples=nim-1x3", "--set", "alpha=1,0.5", "--out", file)
    status, out, err = run(capsys, "train", "nim", *words)
    assert status == 0 and "50 episodes of nim" in out and not err
    card = players.load(file).card
    assert card["parameters"]["alpha"] == [1, 0.5] and card["episodes"] == 50
    words = (file, "max-n:15", "random", "random", "--episodes", 1)
    status, out, _ = run(capsys, "match", "nim", *words)
    assert status == 0 and "max-n:15" in out and "random (2)" in out


def test_a_game_is_played_at_the_keyboard(capsys, monkeypatch):
    answers = iter(["v", "b2", "q"])
    monkeypatch.setattr("builtins.input", lambda text: next(answers))
    status, out, _ = run(capsys, "play", "tictactoe", "--against", "max-n:9")
    assert status == 0 and "the answer is" in out and "b2 +0.000" in out


@pytest.mark.parametrize(
    "words, said",
    [
        (("play", "chess"), "there is no game 'chess'"),
        (("play", "hex:size"), "not of the form NAME=VALUE"),
        (("match", "nim", "random", "alphazero"), "names no player"),
        (("match", "nim", "random", "lost.npz"), "there is no file lost.npz"),
        (("train", "nim", "--learner", "guess"), "there is no learner 'guess'"),
        (("train", "nim", "--set", "alhpa=1"), "did you mean 'alpha'"),
        (("docs",), "needs the package 'pdoc': pip install 'afterstate[docs]'"),
    ],
)
def test_what_is_wrong_is_said_in_a_line_without_a_traceback(capsys, monkeypatch, words, said):
    monkeypatch.setitem(sys.modules, "pdoc", None)
    status, _, err = run(capsys, *words)
    assert status == 2 and said in err and "Traceback" not in err
