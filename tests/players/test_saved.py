"""Agents in files: saved with a card, loaded, refused or accepted; what is published."""

import io
import json
import zipfile
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import yaml

from afterply import arena, games, players
from afterply.files import data_directory, read_npz, write_npz
from afterply.games.rules.game2048 import MAX_SCORE
from afterply.kernel.random import seed_from
from afterply.learners import sarsa, tabular, td
from afterply.networks import ntuple
from afterply.studies.papers.scheiermann2022.cube_solving import Solved
from afterply.studies.records import read

MODELS = data_directory() / "models"
AGENTS = [path for path in sorted(MODELS.glob("*.npz")) if read_npz(path)[0]["kind"] != "learners"]
CARDS = players.zoo()
ALONE = 2_000  # mean points of a random player in 2048, rather above what it makes


@cache
def trainings(study="*"):
    """All recorded trainings of a study."""
    files = (data_directory() / "records").glob(f"{study}.jsonl")
    records = (record for file in files for record in read(file)[1].values())
    return [record for record in records if record["kind"] == "train"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "learner, parameters",
    [(td, {"tuples": "nim-1x3"}), (sarsa, {"tuples": "nim-1x3"}), (tabular, {})],
)
def test_a_session_is_saved_and_plays_as_before(tmp_path, learner, parameters):
    game, path = games.load("nim"), tmp_path / "agent.npz"
    session = learner.Session(game, **parameters, seed=7)
    session.train(60)
    session.save(path, note="for a test")
    player = players.load(path)
    assert player.net.checksum() == session.net.checksum() == player.card["checksum"]
    assert player.card["episodes"] == 60 and player.card["note"] == "for a test"
    assert player.card["learner"] == learner.NAME and player.card["parameters"]
    rivals = {"agent": player, "Random": players.Random()}
    mine = {"agent": session, "Random": players.Random()}
    assert arena.matches(game, rivals, seed=1).equals(arena.matches(game, mine, seed=1))


def test_an_agent_is_saved_again_shows_a_card_and_exports_it(tmp_path):
    agent, path = players.zoo("connect4"), tmp_path / "copy.npz"
    agent.save(path)
    again = players.load(path)
    assert again.card == agent.card and again.net.checksum() == agent.net.checksum()
    agent.export_card(tmp_path / "README.md", licence="MIT", file="copy.npz")
    _, head, body = (tmp_path / "README.md").read_text("utf-8").split("---\n")
    head = yaml.safe_load(head)
    assert head["license"] == "mit" and "connect4" in head["tags"]
    assert body.strip().startswith("# connect4, FARL") and "29% against perfect play" in body
    facts = yaml.safe_load(body.split("```yaml\n")[1].split("```")[0])
    assert facts["parameters"] == agent.card["parameters"]
    example = body.split("```python\n")[1].split("```")[0].replace("copy.npz", str(path))
    names = {}
    exec(example, names)
    assert names["agent"].card == agent.card
    assert repr(agent) == "<player zoo connect4>" and "## Limits" in agent._repr_markdown_()


def test_what_is_no_agent_of_this_game_is_refused(tmp_path):
    game, path = games.load("nim"), tmp_path / "agent.npz"
    td.Session(game, tuples="nim-1x3", seed=1).save(path)
    others = [games.load("nim", **given) for given in ({"misere": True}, {"stones": 4})]
    for other in (games.load("hex", size=3), games.load("nim3p"), *others):
        with pytest.raises(ValueError, match="holds weights of"):
            players.load(path, other)
    meta, arrays = read_npz(path)
    write_npz(path, meta | {"game": {"name": "mine", "params": {}, "version": 1}}, arrays)
    with pytest.raises(ValueError, match="no game of the package: give it"):
        players.load(path)
    for odd in ({"kind": "soup", "game": {}}, {"kind": []}, {}, [], meta | {"card": 1}):
        write_npz(path, odd, arrays)
        with pytest.raises(ValueError, match="no agent|is damaged"):
            players.load(path)
    for odd in (None, 3, {}, {"name": [], "params": {}}, {"name": "nim", "params": 1}):
        write_npz(path, meta | {"game": odd}, arrays)
        with pytest.raises(ValueError, match="no game of the package: give it"):
            players.load(path)


def inflated(arrays, times=5_000_000):
    """Arrays of the same names and types that take no room in a file, and much in memory."""
    return {name: np.zeros((times, *a.shape[1:]), a.dtype) for name, a in arrays.items()}


def stated(path, name, shape):
    """Let an array of a file state another shape than it has."""
    archive = zipfile.ZipFile(path)
    members = {member: archive.read(member) for member in archive.namelist()}
    content = io.BytesIO(members[f"{name}.npy"])
    array, new = np.lib.format.read_array(content), io.BytesIO()
    header = np.lib.format.header_data_from_array_1_0(array) | {"shape": shape}
    np.lib.format.write_array_header_1_0(new, header)
    members[f"{name}.npy"] = new.getvalue() + array.tobytes()
    with zipfile.ZipFile(path, "w") as changed:
        for member, content in members.items():
            changed.writestr(member, content)


@pytest.mark.slow
@pytest.mark.parametrize("learner", [td, tabular])
def test_a_file_is_refused_before_what_it_states_fills_the_memory(tmp_path, monkeypatch, learner):
    game, path = games.load("nim"), tmp_path / "agent.npz"
    session = learner.Session(game, **({"tuples": "nim-1x3"} if learner is td else {}), seed=1)
    session.train(20)
    session.save(path)
    meta, arrays = read_npz(path)
    read_array, read = np.lib.format.read_array, []

    def noted(file, **how):
        read.append(read_array(file, **how))
        return read[-1]

    def refused(read_file, message):
        read.clear()
        with pytest.raises(ValueError, match=message):
            read_file(path)
        assert sum(array.nbytes for array in read) < 1e6

    monkeypatch.setattr(np.lib.format, "read_array", noted)
    write_npz(path, meta, inflated(arrays), compressed=True)
    assert path.stat().st_size < 5e5
    refused(players.load, "have not the form|so large in memory")
    write_npz(path, meta, arrays | inflated({"other": np.zeros(1)}), compressed=True)
    read.clear()
    players.load(path)  # what it does not ask for is not read
    assert sum(array.nbytes for array in read) < 1e6
    write_npz(path, meta | {"note": " " * 40_000_000}, arrays, compressed=True)
    refused(players.load, "its header takes more than 64 MiB")
    write_npz(path, meta, arrays)
    stated(path, "gaps" if learner is td else "q", (10**12,))
    refused(players.load, "has not the size that it states")
    session.save(path, resumable=True)
    meta, arrays = read_npz(path)
    write_npz(path, meta, arrays | inflated({"session: rng": np.zeros(1)}), compressed=True)
    refused(learner.Session.load, "its training is compressed")


def test_the_zoo_has_a_card_for_every_game_and_plays_only_what_it_was_made_for():
    assert sorted(CARDS) == games.names()
    player, mine = players.zoo("nim"), games.load("nim")
    assert player.card == CARDS["nim"] and player.net.checksum() == CARDS["nim"]["checksum"]
    arena.match(mine, [player, players.Random()], seed=1)
    with pytest.raises(ValueError, match="holds weights of"):
        players.zoo(games.load("nim", heaps=2))
    with pytest.raises(ValueError, match="no agent for chomp, only for checkers, connect4"):
        players.zoo("chomp")


@pytest.mark.slow
@pytest.mark.parametrize("path", AGENTS, ids=lambda path: path.stem)
def test_published_weights_belong_to_a_recorded_run_or_a_card(path: Path):
    assert path.stat().st_size < 7e6
    player = players.load(path)
    cards = [card["checksum"] for card in CARDS.values() if card["file"] == path.name]
    card = player.card
    if path.stem == "hex-early":  # it begins a recorded run
        seed = seed_from(card["study"], card["arm"], card["run"])
        session = td.Session(player.net.game, card["parameters"], seed)
        session.train(card["episodes"])
        assert player.net.checksum() == session.net.checksum()
    elif player.net.checksum() not in cards:
        identity = json.loads(json.dumps(player.net.game.identity))
        same = {record["checksum"] for record in trainings() if record["game"] == identity}
        assert player.net.checksum() in same


@pytest.mark.slow
@pytest.mark.parametrize("name", games.names())
def test_every_game_has_an_agent_that_beats_random_and_a_card_that_fits_it(name):
    game, card = games.load(name), CARDS[name]
    player = players.zoo(game)
    assert card["game"] == json.loads(json.dumps(game.identity))
    assert card["checksum"] == player.net.checksum()
    assert card["cost"]["cpu_seconds"] > 0 and card["strength"] and card["parameters"]
    assert len(card["words"]) > 30 and card["episodes"] > 0
    if name.startswith("cube"):
        measure, untaught = Solved((3,), (), 10, by_distance=False), ntuple.Network(game, [[0]])
        solved, chance = (measure(game, net, 5)[0]["value"] for net in (player.net, untaught))
        assert solved >= 80 > 2 * chance
    elif game.players == 1:
        assert arena.match(game, [player], seed=1).scores[0] * MAX_SCORE > 5 * ALONE
    else:
        others = [players.Random()] * (game.players - 1)
        scores = [
            arena.match(game, others[:seat] + [player] + others[seat:], seed=k).scores[seat]
            for k in range(4 if game.deterministic else 100)  # luck
            for seat in range(game.players)
        ]
        low, high = game.score_range
        assert np.mean(scores) > low + 0.6 * (high - low)


def test_kept_linear_learners_are_those_of_the_records():
    recorded = {
        (record["arm"], record["run"]): record["statistics"]["weights"]
        for record in trainings("giveaway")
    }
    for method, rows in read_npz(MODELS / "giveaway-learners.npz")[1].items():
        assert len(rows) % 10 == 0
        for run, weights in enumerate(rows):
            assert weights.tolist() == recorded[f"{method}, random opponents", run]
