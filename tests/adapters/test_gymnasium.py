"""Our games for one player in Gymnasium: its checker passes, rewards are scores, seeds decide."""

import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from afterstate.adapters import gymnasium as adapter
from sample_games import dice

IDS = list(adapter.GAMES)


def play(env, seed, steps):
    """Play legal actions at random; return what was seen, and the sum of the rewards."""
    seen, info = env.reset(seed=seed)
    random, everything, total = np.random.default_rng(seed), [seen], 0.0
    for _ in range(steps):
        action = random.choice(np.flatnonzero(info["action_mask"]))
        seen, reward, over, cut, info = env.step(action)
        everything.append(seen)
        total += reward
        if over or cut:
            break
    return np.array(everything), total


@pytest.mark.parametrize("name", IDS)
def test_its_own_checker_passes(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(gymnasium.make(name).unwrapped)


def test_the_whole_game_is_paid_as_its_score_and_the_seed_decides_it():
    env = gymnasium.make(IDS[0], raw_score=True)
    seen, total = play(env, 4, 5_000)
    raw = env.unwrapped
    assert raw.game.over(raw.s) and total == raw.game.score(raw.s)[0] > 100
    assert not raw._info()["action_mask"].any()
    again, other = (play(env, seed, 20)[0] for seed in (4, 2))
    assert np.array_equal(seen[:21], again) and not np.array_equal(again, other)


def test_an_illegal_action_changes_nothing_and_says_so():
    env = gymnasium.make("afterstate/Cube2-v0")
    env.reset(seed=1)
    mask, before = env.step(0)[4]["action_mask"], env.unwrapped.s.copy()
    _, reward, over, cut, info = env.step(int(mask.argmin()))
    assert info["illegal"] and reward == 0.0 and not over and not cut
    assert np.array_equal(before, env.unwrapped.s)
    assert not env.step(int(info["action_mask"].argmax()))[4]["illegal"]


def test_a_cube_is_solved_for_a_reward_and_given_up_after_a_while():
    env = gymnasium.make("afterstate/Cube3-v0", max_twists=1)
    values = []
    for action in range(18):  # one of them turns the one twist back
        if env.reset(seed=5)[1]["action_mask"][action]:
            values.append(env.step(action)[1:3])
    assert values.count((1.0, True)) == 1 and values.count((0.0, False)) == len(values) - 1
    env = gymnasium.make("afterstate/Cube2-v0", min_twists=13)
    assert len(play(env, 1, 1_000)[0]) <= adapter.MOST_TWISTS + 1


def test_home_made_games_are_played_and_games_for_two_refused():
    env = adapter.Environment(dice(1, 3), render_mode="ansi")
    env.reset(seed=1)
    assert env.render() == "0 0 0 0"
    with pytest.raises(ValueError, match="tictactoe has 2 players.*pettingzoo"):
        adapter.Environment("tictactoe")
