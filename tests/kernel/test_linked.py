"""Kernels that are linked while they run: the bits of numba's code, whatever lies on the disk."""

import itertools

import numpy as np
import pytest
from numba.core.bytecode import FunctionIdentity

from afterply import games
from afterply.kernel import link
from afterply.learners import sarsa, td
from afterply.networks.ntuple import Network
from afterply.search import mcts, puct
from sample_games import race

FIRST = 150  # iterations for which a tree has room at first
SMALL = {"tuples": [[0, 1, 4, 5], [1, 2, 3]], "lambda_": 0.5}  # of 2048


@pytest.fixture(autouse=True)
def at_once(monkeypatch, tmp_path):
    monkeypatch.setattr(link, "PATIENCE", 0.0)
    monkeypatch.setattr(link, "FOLDER", tmp_path / "linked")
    link._codes.clear()


def _trained(learner, game, params=None, fast=True, linking=True):
    """Return all that a training holds whose second half is linked, or not `fast`."""
    link._codes.clear()
    session = learner.Session(game, **(params or {}), seed=1)
    session._run = session._run if fast else lambda *given: learner._train(game.rules, *given)
    session.train(1)
    if fast:
        session._run.code.thread.join()
        assert bool(session._run.code.function) == linking
    session.train(20)
    return session.state_dict()


def _equal(one, other):
    return one.keys() == other.keys() and all(np.array_equal(one[k], other[k]) for k in one)


def _same_when_linked(game, search):
    """Whether a search finds the same with numba's code and then with linked code."""
    found = []
    for _ in range(2):
        found.append(search())
        for code in link._codes[game].values():
            code.thread.join()
            assert code.function
    return all(map(np.array_equal, *found, [True] * len(found[0])))


@pytest.mark.slow
@pytest.mark.parametrize("name", games.names())
def test_linked_random_games_have_the_same_bits(name):
    """They play by the rules of every game; the tree grows by the scores of 200 of them."""
    game = games.load(name)
    search = mcts.TreeSearch(game, 200)
    assert _same_when_linked(game, lambda: [*search.run(game.start(), 200, seed=5)])


# The rules of every game are linked above. These games have all in which trainings and searches
# differ: three players, one player and chance, and two of whom one may move again.
DIFFERENT = ["nim3p", "game2048", "kalah"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["tictactoe", "othello", *DIFFERENT])
def test_so_has_a_training(name):
    how = games.load(name), SMALL if name == "game2048" else None
    assert _equal(_trained(td, *how), _trained(td, *how, fast=False))


@pytest.mark.slow
@pytest.mark.parametrize("name", DIFFERENT)
def test_so_has_a_search_with_a_network(name):
    game = games.load(name)
    net = Network(game, SMALL["tuples"] if name == "game2048" else [[0, 1]])
    net.weights[:] = np.random.default_rng(1).normal(size=net.weights.shape)

    def search():
        made = puct.Search(game, net, FIRST)
        made.plant(game.start(), 5)
        found = [*made.run(300)]
        assert len(made.tree.player) > FIRST + 2  # a tree has to grow
        return found

    assert _same_when_linked(game, search)


@pytest.mark.slow
def test_so_has_that_of_another_learner_and_of_a_game_of_ones_own():
    for learner, game in ((sarsa, games.load("tictactoe")), (td, race()), (sarsa, race())):
        assert _equal(_trained(learner, game), _trained(learner, game, fast=False))


def test_rules_with_one_name_in_the_code_stay_apart(monkeypatch):
    """Two processes, each of which compiles a rule for the disk, may number them alike."""
    with monkeypatch.context() as numbered:
        numbered.setattr(FunctionIdentity, "_unique_ids", itertools.repeat(7))
        game = race()  # the rules `player` and `over` are lambdas
        compiled = game._compiled
    assert compiled["player"]._wrapper_name == compiled["over"]._wrapper_name
    assert [game.over([k, 0]) for k in range(6)] == [False] * 5 + [True]
    assert _equal(_trained(td, game), _trained(td, game, fast=False))


@pytest.mark.slow
def test_a_file_that_is_cut_empty_foreign_or_edited_is_made_again(tmp_path, monkeypatch):
    game, made = games.load("nim"), []
    wanted = _trained(td, game)
    (file,) = (tmp_path / "linked").iterdir()
    whole, emit = file.read_bytes(), link.Program.emit
    monkeypatch.setattr(link.Program, "emit", lambda self: made.append(1) or emit(self))
    assert _equal(_trained(td, game), wanted) and not made  # from the disk
    edited = bytearray(whole)
    edited[len(whole) // 2] ^= 1
    for damaged in (whole[:1000], b"", b"no object file", bytes(edited)):
        file.write_bytes(damaged)
        assert _equal(_trained(td, game), wanted) and made.pop()
        assert file.read_bytes() == whole


def test_without_the_private_names_of_numba_a_training_goes_on_and_says_so(monkeypatch):
    monkeypatch.setattr(link, "LINKING", "of_another_version")
    game = games.load("nim")
    with pytest.warns(UserWarning, match="without linking: .* see the head of kernel/link"):
        found = _trained(td, game, linking=False)
    assert _equal(found, _trained(td, game, fast=False))
