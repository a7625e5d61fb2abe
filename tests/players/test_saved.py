"""Agents in files: saved with a card, loaded, refused or accepted; the zoo."""

import numpy as np
import pytest

from afterstate import arena, games, players
from afterstate.files import read_npz, write_npz
from afterstate.learners import sarsa, tabular, td


@pytest.mark.slow
@pytest.mark.parametrize(
    "learner, parameters",
    [(td, {"tuples": "nim-1x3"}), (sarsa, {"tuples": "nim-1x3"}), (tabular, {})],
)
def test_a_session_is_saved_and_plays_as_before(tmp_path, learner, parameters):
    game, path = games.load("nim"), tmp_path / "agent.npz"
    session = learner.Session(game, parameters, seed=7)
    session.train(60)
    session.save(path, note="for a test")
    player = players.load(path)
    assert player.net.checksum() == session.net.checksum() == player.card["checksum"]
    assert player.card["episodes"] == 60 and player.card["note"] == "for a test"
    assert player.card["learner"] == learner.NAME and player.card["parameters"]
    rivals = {"agent": player, "Random": players.Random()}
    mine = {"agent": session, "Random": players.Random()}
    assert arena.matches(game, rivals, seed=1).equals(arena.matches(game, mine, seed=1))


@pytest.mark.slow
def test_another_version_of_the_game_is_a_choice(tmp_path):
    game, path = games.load("nim"), tmp_path / "agent.npz"
    session = td.Session(game, {"tuples": "nim-1x3"}, seed=1)
    session.train(20)
    session.save(path)
    meta, arrays = read_npz(path)
    write_npz(path, meta | {"game": meta["game"] | {"version": "source-before"}}, arrays)
    with pytest.raises(ValueError, match='changed="accept"'):
        players.load(path, game)
    taken = players.load(path, game, changed="accept")
    state = game.start()
    assert np.array_equal(taken.values(state), session.net.action_values(state))
    with pytest.raises(ValueError, match="holds weights of"):
        players.load(path, games.load("hex", size=3), changed="accept")
    write_npz(path, meta | {"game": {"name": "mine", "params": {}, "version": 1}}, arrays)
    with pytest.raises(ValueError, match="no game of the package: give it"):
        players.load(path)


def test_the_zoo_has_a_card_for_every_game_and_plays_only_what_it_was_made_for(monkeypatch):
    cards = players.zoo()
    assert sorted(cards) == games.names()
    player = players.zoo("nim")
    assert player.card == cards["nim"] and player.net.checksum() == cards["nim"]["checksum"]
    arena.match(games.load("nim"), [player, players.Random()], seed=1)
    with pytest.raises(ValueError, match="holds weights of"):
        players.zoo(games.load("nim", heaps=2))
    mine = games.load("nim")
    monkeypatch.setattr(mine, "name", "chomp")
    with pytest.raises(ValueError, match="no agent for chomp, only for checkers, connect4"):
        players.zoo(mine)


def test_what_is_no_agent_is_refused(tmp_path):
    path = tmp_path / "no.npz"
    write_npz(path, {"kind": "soup", "game": {}}, {})
    with pytest.raises(ValueError, match="holds 'soup', no agent"):
        players.load(path)
