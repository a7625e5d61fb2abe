"""Our games in PettingZoo: its own tests pass, rewards are our scores, seeds decide."""

import importlib
import sys
import warnings

import numpy as np
import pytest
from pettingzoo.test import api_test, seed_test

from afterstate import adapters, games
from afterstate.adapters import pettingzoo
from sample_games import dice

NAMES = ("tictactoe", "nim3p", "kalah", "othello", "game2048")
CLASSIC = ("Observation is not a NumPy array", "Observation space for each agent probably")
# it says so of its own classic games, too, and leaves them out by their names
pytestmark = [pytest.mark.filterwarnings(f"ignore:{message}") for message in CLASSIC]


def play(env, seed):
    """Play a game at random; return the actions and all rewards by agent."""
    env.reset(seed=seed)
    random, made, total = np.random.default_rng(seed), [], dict.fromkeys(env.agents, 0.0)
    for agent in env.agent_iter():
        seen, reward, over, cut, _ = env.last()
        total[agent] += reward
        if not over and not cut:
            made.append(int(random.choice(np.flatnonzero(seen["action_mask"]))))
        env.step(None if over or cut else made[-1])
    return made, total


@pytest.mark.parametrize("game", [*NAMES, dice(2, 3)], ids=lambda game: getattr(game, "name", game))
def test_its_own_tests_pass(game):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for message in CLASSIC:
            warnings.filterwarnings("ignore", message)
        api_test(pettingzoo.env(game), num_cycles=50)
        seed_test(lambda: pettingzoo.env(game), num_cycles=50)


@pytest.mark.parametrize("name", ["nim3p", "kalah"])
def test_rewards_are_the_scores_of_our_rules(name):
    env, game = pettingzoo.env(name), games.load(name)
    for seed in range(5):
        made, total = play(env, seed)
        end = game.after(made)
        assert game.over(end) and list(total.values()) == game.score(end).tolist()


def test_a_seed_decides_all_chance_and_without_one_games_differ():
    env = pettingzoo.env("game2048", raw_score=True)

    def last_state(seed):
        env.reset(seed=seed)
        for _ in range(30):
            env.step(env.last()[0]["action_mask"].argmax())
        return env.unwrapped.s.tolist()

    one = last_state(1)
    assert last_state(2) != one and last_state(None) != last_state(None) and last_state(1) == one


def test_an_illegal_action_loses():
    env = pettingzoo.env("tictactoe")
    env.reset()
    env.step(4)
    env.step(4)
    assert env.rewards == {"player_0": 0, "player_1": -1.0} and all(env.terminations.values())
    raw = env.unwrapped
    raw.reset()
    raw.step(4)
    with pytest.raises(ValueError, match="action 4 is not legal"):
        raw.step(4)


def test_who_looks_sees_the_seat_and_only_who_moves_a_mask():
    env = pettingzoo.env("tictactoe")
    env.reset()
    env.step(0)
    first, second = (env.observe(agent) for agent in env.agents)
    assert first["observation"][-2:].tolist() == [1, 0] and not first["action_mask"].any()
    assert second["observation"][-2:].tolist() == [0, 1] and second["action_mask"].sum() == 8
    assert (first["observation"][:-2] == second["observation"][:-2]).all()
    assert first["observation"][:-2].sum() == 9 and (env.state() == first["observation"][:-2]).all()


def test_the_board_as_text_and_what_is_refused():
    env = pettingzoo.env("tictactoe", render_mode="ansi")
    env.reset()
    assert env.render().split() == ["."] * 9
    with pytest.raises(ValueError, match="render_mode must be None or 'ansi', not 'human'"):
        pettingzoo.env("tictactoe", render_mode="human")
    with pytest.raises(ValueError, match="parameters .size. go with the name"):
        pettingzoo.env(games.load("hex"), size=4)
    with pytest.raises(ValueError, match="needs a game"):
        pettingzoo.env(3)


@pytest.mark.parametrize("package", ["pettingzoo", "gymnasium", "pyspiel"])
def test_a_missing_package_is_named_with_the_remedy(package, monkeypatch):
    adapter = {"pyspiel": "open_spiel"}.get(package, package)
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.delitem(sys.modules, f"afterstate.adapters.{adapter}", raising=False)
    extra = adapter.replace("_", "-")
    with pytest.raises(ImportError, match=rf"'{package}': pip install 'afterstate\[{extra}\]'"):
        importlib.import_module(f"afterstate.adapters.{adapter}")
    with pytest.raises(AttributeError, match="nowhere"):
        adapters.nowhere
