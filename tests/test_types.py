"""What a type checker says that a call returns is what it returns; wrong calls are refused.

`make check` has mypy read this file as the code of somebody who calls the library. A line that must
be refused is marked with the error: mypy complains about the mark if the line no longer is.
"""

from typing import TYPE_CHECKING, assert_type

import numpy as np
import pandas as pd

from afterply import arena, games, kernel, players
from afterply.learners import td
from afterply.networks import ntuple, table
from afterply.search import max_n, mcts
from afterply.studies import papers


def first_free(state: np.ndarray) -> int:
    return int(games.load("nim").legal(state)[0])


def test_games_states_and_boards():
    game = games.load("nim")
    assert assert_type(game, games.Game) is game and isinstance(game, games.Game)
    s = game.start()
    assert assert_type(s, np.ndarray) is s and isinstance(s, np.ndarray)
    assert type(assert_type(game.over(s), bool)) is bool
    assert type(assert_type(game.player(s), int)) is int
    assert type(assert_type(game.render(s), str)) is str
    assert type(assert_type(game.action_name(s, 0), str)) is str
    assert isinstance(assert_type(game.score(s), np.ndarray), np.ndarray)
    found = assert_type(game.outcomes(s), list[tuple[np.ndarray, float]])
    assert [type(part) for part in found[0]] == [np.ndarray, float]
    assert type(assert_type(kernel.seed_from("study", 1), int)) is int


def test_learners_and_networks(tmp_path):
    game = games.load("nim")
    session = td.Session(game, tuples="nim-1x3", seed=1)
    session.train(20)
    session.save(tmp_path / "mine.npz")
    net = ntuple.load(tmp_path / "mine.npz", game)
    assert isinstance(assert_type(net, ntuple.Network), ntuple.Network)
    assert type(assert_type(net.checksum(), str)) is str
    assert type(assert_type(net.value(game.start(), 0), float)) is float
    assert isinstance(assert_type(net.action_values(game.start()), np.ndarray), np.ndarray)
    values = table.QTable(game)
    assert isinstance(assert_type(values.action_values(game.start()), np.ndarray), np.ndarray)


def test_matches_and_players(tmp_path):
    game = games.load("nim")
    result = arena.match(game, [players.Random(), first_free], seed=1)
    assert isinstance(assert_type(result, arena.Result), arena.Result)
    both = {"a": players.MaxN(3), "b": players.MCTS(iterations=10)}
    played = assert_type(arena.matches(game, both, episodes=1), pd.DataFrame)
    assert isinstance(assert_type(arena.summary(played), pd.DataFrame), pd.DataFrame)
    assert type(assert_type(arena.win_rate([1.0, -1.0]), float)) is float
    starts = assert_type(arena.starts_random(game, 2), list[arena.Start])
    assert isinstance(starts[0], arena.Start)
    agent = players.MaxN(3).playing(game)
    assert type(agent.choose(game.start())) is int


def test_searches_and_papers():
    game = games.load("nim")
    solved = assert_type(max_n.solve(game), max_n.Solution)
    assert isinstance(solved, max_n.Solution)
    found = assert_type(mcts.search(game, game.start(), 20), mcts.SearchResult)
    assert isinstance(found, mcts.SearchResult)
    paper = assert_type(papers.load("konen2021"), papers.Paper)
    assert isinstance(paper, papers.Paper)


if TYPE_CHECKING:  # never run
    games.load(15)  # type: ignore[arg-type]
    games.load()  # type: ignore[call-arg]
    games.load("nim").start("a")  # type: ignore[arg-type]
    games.load("nim").starts()  # type: ignore[attr-defined]
    players.MaxN("10")  # type: ignore[arg-type]
    players.MCTS(iteration=10)  # type: ignore[call-arg]
    arena.match("nim", [], seed="a")  # type: ignore[arg-type]
    arena.starts_random("nim", seed=1)  # type: ignore[call-arg]
    td.Session("nim", ["tuples"])  # type: ignore[arg-type]
    kernel.kernel()  # type: ignore[call-arg]
    papers.load(2021)  # type: ignore[arg-type]
