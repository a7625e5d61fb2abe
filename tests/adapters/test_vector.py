"""Batches of games as one environment; boards as observations and as pixels."""

import gymnasium
import numpy as np
import pytest

from afterply import games
from afterply.adapters import action_mask, one_hot, pettingzoo, planes
from afterply.adapters.gymnasium import vector
from sample_games import dice

TICTACTOE = games.load("tictactoe")


def legal_at_random(info, random):
    return (random.random(info["action_mask"].shape) * info["action_mask"]).argmax(axis=1)


def first_legal(states):
    return [TICTACTOE.legal(s)[0] for s in states]


@pytest.mark.parametrize(
    "game, given, opponent",
    [
        ("tictactoe", {}, None),
        ("tictactoe", {"seat": 1}, first_legal),
        ("nim3p", {"seat": 2}, None),
        ("kalah", {}, None),
        ("game2048", {}, None),
        ("cube2", {"max_steps": 5}, None),
        (dice(2, 3), {"seat": 1}, None),
    ],
    ids=lambda x: getattr(x, "__name__", str(getattr(x, "name", x))),
)
def test_every_game_is_played_by_the_rules_and_paid_its_score(game, given, opponent):
    envs, random = vector(game, 20, opponent, **given), np.random.default_rng(1)
    rules, batch, seat = envs.game, envs.batch, given.get("seat", 0)
    seen, info = envs.reset(seed=3)
    began = np.array([rules.score(s)[seat] for s in batch.state])
    total, ended, ends = np.zeros(20), np.zeros(20, bool), 0
    for _ in range(40):
        assert seen in envs.observation_space and envs.action_space.contains(np.zeros(20, int))
        for s, saw, mask in zip(batch.state, seen, info["action_mask"]):
            assert (saw == one_hot(rules, s)).all() and (mask == action_mask(rules, s)).all()
            assert rules.over(s) or rules.player(s) == seat
        seen, reward, over, cut, info = envs.step(legal_at_random(info, random))
        total[ended] = 0.0
        total += reward
        assert not info["illegal"].any() and not reward[ended].any() and not over[ended].any()
        ended, scores = over | cut, np.array([rules.score(s)[seat] for s in batch.state])
        if rules.name != "kalah":  # whose score does not grow on the way
            assert np.allclose(total[over], (scores - began)[over])
        ends += ended.sum()
    assert ends > 0 or rules.name == "game2048"


def test_random_play_in_tictactoe_ends_as_often_as_known_and_the_seed_decides():
    """The first of two random players wins 58.5% of the games and draws 12.7%."""
    envs, seen = vector("tictactoe", 500), {}
    for seed in (1, 1, 2):
        random, (saw, info), rewards = np.random.default_rng(1), envs.reset(seed=seed), []
        for _ in range(40):
            saw, reward, over, _, info = envs.step(legal_at_random(info, random))
            rewards.append(reward[over])
        rewards = np.concatenate(rewards)
        assert seen.setdefault(seed, saw.tobytes()) == saw.tobytes()
        assert abs((rewards == 1).mean() - 0.585) < 0.03
        assert abs((rewards == 0).mean() - 0.127) < 0.02
    assert seen[1] != seen[2]


def test_an_illegal_action_changes_nothing_and_games_are_cut_off():
    envs = vector("cube2", 3, max_steps=2)
    envs.reset(seed=np.int64(1))
    envs.step(np.array([0, 3, 6]))
    before = envs.batch.state.copy()
    _, reward, over, cut, info = envs.step(np.array([2, 2, 99]))
    assert info["illegal"].tolist() == [True, False, True] and not reward.any()
    assert (envs.batch.state == before).all(axis=1).tolist() == [True, False, True]
    assert (cut != over).all() and not envs.step(np.zeros(3, int))[3].any()


def test_boards_are_seen_in_their_shape():
    env = pettingzoo.env("connect4", observation="board")
    env.reset()
    env.step(3)
    seen = env.observe("player_1")["observation"]
    assert seen.shape == (6, 7, 6) == env.observation_space("player_1")["observation"].shape
    assert seen[5, 3].tolist() == [0, 1, 0, 0, 0, 1] and seen[4, 3].tolist() == [0, 0, 0, 1, 0, 1]
    env = gymnasium.make("afterply/Game2048-v0", observation="board")
    seen, _ = env.reset(seed=1)
    raw = env.unwrapped
    assert (2 ** seen.argmax(axis=-1) * (1 - seen[..., 0]) == raw.game.to_array(raw.s)).all()
    morris = games.load("morris")
    s = morris.after(["a1"])
    hands = planes(morris, s)[..., 3:]  # of men in the hands, equal everywhere
    assert (hands == hands[0, 0]).all() and np.flatnonzero(hands[0, 0]).tolist() == [8, 19]


COLOURS = {"connect4": (242, 194, 48), "othello": (26, 26, 26)}


@pytest.mark.parametrize("name", games.names())
def test_every_game_is_rendered_as_pixels_of_its_drawing(name):
    env = pettingzoo.env(name, render_mode="rgb_array")
    env.reset(seed=1)
    before = env.render()
    width = float(str(env.unwrapped.game.view(env.unwrapped.s)).split('width="')[1].split('"')[0])
    assert before.dtype == np.uint8 and before.shape[1:] == (round(width), 3)
    assert (before[0, 0] == 255).all() and before.std() > 5
    env.step(int(env.last()[0]["action_mask"].argmax()))
    changed = env.render()
    assert (changed != before).any()
    if name in COLOURS:  # of the first player's new stone
        rows, columns = np.nonzero((changed != before).any(axis=2))
        middle = changed[rows.min() : rows.max(), columns.min() : columns.max()]
        assert (middle.reshape(-1, 3) == COLOURS[name]).all(axis=1).mean() > 0.2
