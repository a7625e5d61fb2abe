"""OpenSpiel, Gymnasium and PettingZoo: their checks pass on our games, their games are ours."""

import copy
import importlib
import pickle
import re
import sys
import warnings
from pathlib import Path
from types import ModuleType, SimpleNamespace

import cloudpickle
import gymnasium
import numpy as np
import pyspiel
import pytest
from gymnasium.utils.env_checker import check_env
from open_spiel.python.algorithms import evaluate_bots, minimax
from pettingzoo import make
from pettingzoo.test import api_test, seed_test

from afterply import arena, games, players
from afterply.adapters import gymnasium as single
from afterply.adapters import open_spiel, pettingzoo, policies
from afterply.checks import to_install
from afterply.games import conformance
from afterply.games.game import Game
from afterply.learners import td
from oldest import said_by
from sample_games import dice, race, take_game

IDS = list(single.GAMES)


def play_alone(env, seed, steps):
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
def test_gymnasiums_own_checker_passes(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(gymnasium.make(name).unwrapped)


@pytest.mark.parametrize("how", ["sync", "async"])
def test_many_at_once_say_what_is_legal(how):
    many = gymnasium.make_vec(IDS[1], num_envs=3, vectorization_mode=how)
    seen, info = many.reset(seed=1)
    for _ in range(single.MOST_TWISTS + 2):  # past the end of all three
        masks = np.array(many.call("action_masks"))
        assert seen in many.observation_space and masks.dtype == bool and masks.any(axis=1).all()
        assert np.array_equal(masks, info["action_mask"])
        seen, _, _, _, info = many.step(masks.argmax(axis=1))
    many.close()


def test_the_whole_game_is_paid_as_its_score_and_the_seed_decides_it():
    env = gymnasium.make(IDS[0], raw_score=True)
    seen, total = play_alone(env, 4, 5_000)
    raw = env.unwrapped
    assert raw.game.over(raw.s) and total == raw.game.score(raw.s)[0] > 100
    assert not raw._info()["action_mask"].any()
    again, other = (play_alone(env, seed, 20)[0] for seed in (4, 2))
    assert np.array_equal(seen[:21], again) and not np.array_equal(again, other)


def test_alone_an_illegal_action_changes_nothing_and_says_so():
    env = gymnasium.make("afterply/Cube2-v0")
    env.reset(seed=1)
    mask, before = env.step(0)[4]["action_mask"], env.unwrapped.s.copy()
    _, reward, over, cut, info = env.step(int(mask.argmin()))
    assert info["illegal"] and reward == 0.0 and not over and not cut
    assert np.array_equal(before, env.unwrapped.s)
    assert not env.step(int(info["action_mask"].argmax()))[4]["illegal"]


def test_a_cube_is_solved_for_a_reward_and_given_up_after_a_while():
    env = gymnasium.make("afterply/Cube3-v0", max_twists=1)
    values = []
    for action in range(18):  # one of them turns the one twist back
        if env.reset(seed=5)[1]["action_mask"][action]:
            values.append(env.step(action)[1:3])
    assert values.count((1.0, True)) == 1 and values.count((0.0, False)) == len(values) - 1
    env = gymnasium.make("afterply/Cube2-v0", min_twists=13)
    assert len(play_alone(env, 1, 1_000)[0]) <= single.MOST_TWISTS + 1


def test_home_made_games_are_played_and_games_for_two_refused():
    env = single.Environment(dice(1, 3), render_mode="ansi")
    env.reset(seed=1)
    assert env.render() == "0 0 0 0"
    with pytest.raises(ValueError, match="tictactoe has 2 players.*pettingzoo"):
        single.Environment("tictactoe")


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
def test_pettingzoos_own_tests_pass(game):
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


def test_among_several_an_illegal_action_loses():
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


@pytest.mark.parametrize("package", ["pettingzoo", "gymnasium", "pyspiel"])
def test_a_missing_package_is_named_with_the_remedy(package, monkeypatch):
    adapter = {"pyspiel": "open_spiel"}.get(package, package)
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.delitem(sys.modules, f"afterply.adapters.{adapter}", raising=False)
    extra = adapter.replace("_", "-")
    with pytest.raises(ImportError, match=rf"'{package}': {re.escape(to_install(extra))}"):
        importlib.import_module(f"afterply.adapters.{adapter}")


@pytest.mark.slow
def test_the_examples_of_the_readme_run():
    readme = (Path(__file__).resolve().parents[2] / "README.md").read_text(encoding="utf-8")
    section = readme.split("## With other libraries")[1].split("\n## ")[0]
    names = {"arena": arena, "games": games, "players": players}  # as in its first example
    for block in re.findall(r"```python\n(.*?)```", section, re.DOTALL):
        exec(block, names)
    assert names["small"].players == 2 and names["theirs"].num_players() == 3
    assert names["info"]["action_mask"].shape == (4,)


NIM = games.load("nim", heaps=2, stones=2)
CONNECT4 = games.load("connect4")


@pytest.fixture(scope="module")
def theirs():
    return open_spiel.from_spiel("tic_tac_toe")


@pytest.mark.slow
def test_a_game_of_theirs_conforms_and_is_the_one_that_we_have_ourselves(theirs):
    conformance.check(theirs)
    assert theirs.num_codes.tolist() == [3] * 9 and theirs.players == 2
    with pytest.raises(ValueError, match="numbered from 0 to 5477"):
        theirs.over([5478])
    s = theirs.after([4, 0])
    assert theirs.render(s) == "o..\n.x.\n..." and theirs.action_name(s, 8) == "x(2,2)"
    ours, random = games.load("tictactoe"), np.random.default_rng(1)
    for _ in range(30):
        s, t = ours.start(), theirs.start()
        while not ours.over(s):
            assert sorted(ours.legal(s)) == sorted(theirs.legal(t)) and not theirs.over(t)
            action = random.choice(ours.legal(s))
            assert ours.player(s) == theirs.player(t)
            s, t = ours.play(s, action), theirs.play(t, action)
        assert theirs.over(t) and np.array_equal(ours.score(s), theirs.score(t))


@pytest.mark.slow
def test_learners_searches_and_other_processes_take_it(theirs):
    session = td.Session(theirs, tuples=[[0, 1, 2]], seed=1)
    session.train(20)
    assert session.moves > 100
    hexes, nim = (open_spiel.from_spiel(n) for n in ("hex(board_size=2)", "nim(pile_sizes=1;2)"))
    assert len(hexes.num_codes) == 4 and hexes.num_codes.min() > 2  # an observation in planes
    boards = {tuple(nim.board(s)) for s in (nim.start(), nim.after([0]), nim.after([1]))}
    assert len(boards) == 3
    again = pickle.loads(cloudpickle.dumps(theirs))
    assert again.identity == theirs.identity
    assert arena.match(again, [open_spiel.mcts(500), RANDOM], seed=1).scores[0] == 1.0
    nim = open_spiel.from_spiel("nim(pile_sizes=1;2;3,is_misere=False)")  # the nim sum is 0: lost
    assert arena.match(nim, [players.Random(), players.MaxN(9)], seed=1).scores[1] == 1.0


class Walk:
    """A game of theirs and its states: steps without a choice, whose number is shown or not."""

    get_type = staticmethod(lambda: SimpleNamespace(provides_observation_tensor=False))
    min_utility = staticmethod(lambda: 0.0)
    max_utility = num_distinct_actions = staticmethod(lambda: 1)

    def __init__(self, length, shown=True, steps=0):
        self.length, self.shown, self.steps = length, shown, steps

    def new_initial_state(self):
        return Walk(self.length, self.shown)

    def child(self, action):
        return Walk(self.length, self.shown, self.steps + 1)

    def apply_action(self, action):
        self.steps += 1

    def is_terminal(self):
        return self.steps == self.length - 1

    def legal_actions(self):
        return [] if self.is_terminal() else [0]

    def current_player(self):
        return pyspiel.PlayerId.TERMINAL if self.is_terminal() else 0

    def returns(self):
        return [float(self.is_terminal())]

    def action_to_string(self, player, action):
        return "on"

    def history(self):
        return [0] * self.steps

    def __str__(self):
        return str(self.steps) if self.shown else "?"


@pytest.mark.slow
def test_tables_too_large_for_machine_code_are_played_too(monkeypatch):
    """A walk along 300,000 states; numba keeps the address of such arrays, not the arrays."""
    n = 300_000
    monkeypatch.setattr(open_spiel, "COMPARED", 0)
    game = open_spiel.tabulated(Walk(n), n)
    for s in ([0], [123_456], [n - 2]):
        assert game.play(s, 0) == s[0] + 1 and game.board(s) == s[0] and not game.over(s)
    assert game.over([n - 1]) and game.score([n - 1]).tolist() == [1.0]


def test_what_does_not_show_how_it_goes_on_is_refused():
    with pytest.raises(ValueError, match="does not determine how it goes on"):
        open_spiel.tabulated(Walk(4, shown=False), 100)


@pytest.mark.parametrize(
    "name, words",
    [
        ("kuhn_poker", "has chance"),
        ("matrix_pd", "has simultaneous moves"),
        ("phantom_ttt", "has hidden information"),
        ("connect_four", "connect_four.. has more than 1,000 states.*raise max_states"),
        ("no_such_game", "OpenSpiel has no game 'no_such_game'"),
    ],
)
def test_what_can_not_be_a_table_is_refused(name, words):
    with pytest.raises(ValueError, match=words):
        open_spiel.from_spiel(name, max_states=1_000)


@pytest.mark.parametrize(
    "game",
    [CONNECT4, games.load("nim3p"), games.load("kalah"), NIM, dice(2, 2), take_game(dice=True)],
    ids=lambda game: game.name,
)
def test_a_game_of_ours_passes_their_random_simulations(game):
    pyspiel.random_sim_test(
        open_spiel.to_spiel(game, max_game_length=500), num_sims=3, serialize=True, verbose=False
    )


def test_their_algorithms_solve_our_game_and_observe_its_cells():
    theirs = open_spiel.to_spiel(NIM)
    assert minimax.alpha_beta_search(theirs)[0] == -1.0  # equal heaps: who moves second copies
    three = games.load("nim", heaps=1, stones=3)
    assert minimax.alpha_beta_search(open_spiel.to_spiel(three)) == (1.0, 2)
    state = theirs.new_initial_state()
    state.apply_action(1)  # two from the first heap
    assert state.observation_tensor(0) == [1, 0, 0, 0, 0, 1, 0, 1]
    assert state.observation_string(1) == "0 2 : 1"
    assert state.information_state_string(0) == state.history_str() != ""
    assert state.action_to_string(1, 3) == "2 from heap 2"


@pytest.mark.slow
def test_chance_is_listed_with_its_probabilities_or_refused():
    state = open_spiel.to_spiel(take_game(dice=True)).new_initial_state()
    state.apply_action(0)
    assert state.is_chance_node() and state.chance_outcomes() == [(0, 0.75), (1, 0.25)]
    before = state.clone()
    state.apply_action(1)
    assert before.is_chance_node() and not state.is_chance_node()
    assert state.s[0] == 10 and state.current_player() == 1
    with pytest.raises(ValueError, match="game2048 begins at random"):
        open_spiel.to_spiel(games.load("game2048"))
    with pytest.raises(ValueError, match="does not list its chance outcomes"):
        open_spiel.to_spiel(take_game(dice=True, listed=False))


@pytest.mark.slow
def test_other_settings_make_another_game():
    short = take_game()._arguments
    others = [Game(**short | {"score_range": (0.0, 3.0)}), Game(**short | {"render": str})]
    ours = [take_game(), *others, *(games.load("nim", heaps=k) for k in (2, 3))]
    made = [open_spiel.to_spiel(game, most) for game in ours for most in (40, 50)]
    assert len({game.get_type().short_name for game in made}) == 10
    assert [game.max_game_length() for game in made] == [40, 50] * 5
    assert [made[2].max_utility(), made[0].max_utility()] == [3.0, 2.0]
    sums = [made[0], open_spiel.to_spiel(race()), made[-1]]  # each keeps what he takes; a win; nim
    zero = pyspiel.GameType.Utility.ZERO_SUM
    assert [game.get_type().utility == zero for game in sums] == [False, True, True]
    odd = open_spiel.to_spiel(Game(**short | {"name": "take (or not)=1,2"}))
    assert pyspiel.load_game(str(odd)).get_type().short_name == odd.get_type().short_name


THERE = """
import pickle, sys
game, state = pickle.loads(bytes.fromhex(sys.argv[1]))
print(game, state.history(), state.legal_actions(), state, sep="; ")
"""


@pytest.mark.slow
@pytest.mark.parametrize("ours", [NIM, take_game(dice=True)], ids=lambda game: game.name)
def test_a_game_of_ours_and_its_states_are_pickled(ours):
    game = open_spiel.to_spiel(ours, 60)
    state = game.new_initial_state()
    for _ in range(2):
        state.apply_action(0)
    packed = cloudpickle.dumps((game, state))
    again, same = pickle.loads(packed)
    assert again == game and str(same) == str(state) and same.history() == state.history()
    for copied in (copy.deepcopy(state), state.clone()):
        copied.apply_action(copied.legal_actions()[0])
        assert len(copied.history()) == 3 and len(state.history()) == 2
    wanted = f"{game}; {state.history()}; {state.legal_actions()}; {state}"
    assert said_by(THERE, packed.hex()).strip() == wanted


def random_bot(game, seat, seed):
    return pyspiel.make_uniform_random_bot(seat, seed)


RANDOM = open_spiel.Bot(random_bot, "OpenSpiel random")


def test_their_search_beats_random_and_the_seed_decides():
    strong = open_spiel.mcts(300)
    for seats in ([strong, players.Random()], [players.Random(), strong]):
        one = arena.match(CONNECT4, seats, seed=2)
        assert one.scores[seats.index(strong)] == 1.0
        assert one.moves == arena.match(CONNECT4, seats, seed=2).moves
    assert CONNECT4.over(arena.match(CONNECT4, [open_spiel.mcts(20)] * 2, seed=1).states[-1])


def test_positions_are_known_by_their_moves():
    middle, full = CONNECT4.after([3, 3, 2]), CONNECT4.after([0] * 6)
    assert arena.match(CONNECT4, [RANDOM] * 2, start=(middle, [3, 3, 2]), seed=1).moves
    with pytest.raises(ValueError, match="knows a position by its moves"):
        arena.match(CONNECT4, [RANDOM] * 2, start=(full, []), seed=1)
    for game in (games.load("kalah"), games.load("tictactoe", rows=4)):
        with pytest.raises(ValueError, match=f"plays a game of OpenSpiel's, not <game {game.name}"):
            RANDOM.new_match(game, [], 0, 1)


class Listener(pyspiel.Bot):
    """Plays the first legal action and hears what others do."""

    def __init__(self, heard):
        super().__init__()
        self.step = lambda state: state.legal_actions()[0]
        self.inform_action = lambda state, player, action: heard.append((player, action))


def test_a_bot_travels_and_hears_the_other():
    bot = open_spiel.mcts(10)
    bot.new_match(CONNECT4, [], 0, 1)
    again = pickle.loads(pickle.dumps(bot))
    again.new_match(CONNECT4, [], 0, 1)
    assert again.choose(CONNECT4.start()) == bot.choose(CONNECT4.start())
    heard = []
    listener = open_spiel.Bot(lambda *_: Listener(heard))
    moves = arena.match(CONNECT4, [players.Random(), listener], seed=1).moves
    assert heard == [(0, action) for action in moves[::2]]


class Leftmost(pyspiel.Bot):
    """Plays the first legal action."""

    def step(self, state):
        return state.legal_actions()[0]

    def restart_at(self, state):
        pass

    def inform_action(self, state, player, action):
        pass


def against_the_left(theirs, bot):
    """Let a bot play the second seat against the first legal action; return what it gets."""
    start, random = theirs.new_initial_state(), np.random.default_rng(1)
    return evaluate_bots.evaluate_bots(start, [Leftmost(), bot], random)[1]


SMALL = "nim(pile_sizes=1;2,is_misere=False)"


@pytest.mark.parametrize("kind", ["a game of both", "our rules", "their rules", "chance"])
def test_a_player_of_ours_is_a_bot_in_every_kind_of_shared_game(kind):
    agent = players.zoo(CONNECT4)
    game, player = {
        "a game of both": lambda: (pyspiel.load_game("connect_four"), agent),
        "our rules": lambda: (open_spiel.to_spiel(CONNECT4), players.Wrapped(agent.net, 50)),
        "their rules": lambda: (SMALL, players.MaxN(9).playing(open_spiel.from_spiel(SMALL))),
        "chance": lambda: (open_spiel.to_spiel(take_game(dice=True)), players.MaxN(9)),
    }[kind]()
    bot, theirs = open_spiel.to_bot(player, game), pyspiel.load_game(str(game))
    assert isinstance(bot, pyspiel.Bot)
    assert against_the_left(theirs, bot) > against_the_left(theirs, Leftmost())


def test_a_bot_draws_anew_in_each_game_and_its_seed_decides():
    start = pyspiel.load_game("tic_tac_toe").new_initial_state()
    drawn = []
    for seed in (1, 1, 2):
        bot = open_spiel.to_bot(players.Random(), "tic_tac_toe", seed)
        drawn.append([bot.step(start) for _ in range(20)])
    assert drawn[0] == drawn[1] != drawn[2] and len(set(drawn[0])) > 4


def test_what_no_bot_can_be_is_refused():
    agent = players.zoo("connect4")
    with pytest.raises(ValueError, match="no counterpart of OpenSpiel's chess: take tic_tac_toe"):
        open_spiel.to_bot(agent, "chess")
    with pytest.raises(ValueError, match="this agent was made for <game connect4"):
        open_spiel.to_bot(agent, "tic_tac_toe")
    with pytest.raises(ValueError, match="OpenSpiel has no game 'ludo'"):
        open_spiel.to_bot(agent, "ludo")
    wrong = open_spiel.to_bot(lambda state: 9, "tic_tac_toe")
    with pytest.raises(ValueError, match="chose 9; legal here: .0, 1, 2"):
        wrong.step(pyspiel.load_game("tic_tac_toe").new_initial_state())


@pytest.fixture
def classic(monkeypatch):
    """PettingZoo's own ConnectFour; only its pictures need pygame, which is not installed."""
    monkeypatch.setitem(sys.modules, "pygame", ModuleType("pygame"))
    return make("aec", "classic/connect_four-v3")


def play_policies(env, policies_by_agent, seed=1):
    """Let policies play a game; return what was seen and done, and the rewards by agent."""
    env.reset(seed=seed)
    made, total = [], dict.fromkeys(env.agents, 0.0)
    for agent in env.agent_iter():
        seen, reward, over, cut, _ = env.last()
        total[agent] += reward
        action = None
        if not over and not cut:
            action = policies_by_agent[agent](seen["observation"], seen["action_mask"])
            made.append((seen["observation"], action))
        env.step(action)
    return made, total


def leftmost(observation, mask):
    return mask.argmax()


def test_a_player_of_ours_wins_as_a_policy_of_pettingzoos_own_game(classic):
    act = policies.to_policy(players.zoo("connect4"), classic)
    for seat, agent in enumerate(classic.possible_agents):
        sides = dict.fromkeys(classic.possible_agents, leftmost) | {agent: act}
        made, total = play_policies(classic, sides)
        assert total[agent] == 1.0
        s = CONNECT4.start()
        for observation, action in made:  # what we show is what they show, and read back
            assert (policies.SEEN[policies.CLASSIC](CONNECT4, s) == observation).all()
            assert (policies.state_of_classic(CONNECT4, observation) == s).all()
            s = CONNECT4.play(s, action)


def test_a_policy_follows_the_environments_of_ours_in_any_wrapper():
    env = pettingzoo.env("tictactoe", observation="board")
    act = policies.to_policy(players.MaxN(9), env)
    sides = {"player_0": leftmost, "player_1": act}
    assert play_policies(env, sides)[1]["player_1"] >= 0.0
    alone = gymnasium.make("afterply/Cube2-v0", max_twists=1)
    turn = policies.to_policy(players.MaxN(1), alone)
    seen, info = alone.reset(seed=2)
    assert alone.step(turn(seen, info["action_mask"]))[1] == 1.0


class Model:
    """What predicts as MaskablePPO of Stable-Baselines3 does, which is not installed here."""

    def __init__(self, env):
        self.env = env

    def predict(
        self, observation, state=None, episode_start=None, deterministic=False, action_masks=None
    ):
        assert observation in self.env.observation_space("player_0")["observation"]
        return np.array(action_masks).argmax(), state


@pytest.mark.parametrize("observation", ["flat", "board"])
def test_a_policy_of_others_is_a_player_and_sees_what_its_environment_showed(observation):
    env = pettingzoo.env("tictactoe", observation=observation)
    game = games.load("tictactoe")
    seen = []

    def noted(observation, mask):
        seen.append(observation)
        return leftmost(observation, mask)

    sides = {"model": policies.Policy(Model(env), observation, "model")}
    sides["noted"] = policies.Policy(noted, observation)
    table = arena.matches(game, sides, seats=[("noted", "model")], strict=True)
    made, total = play_policies(env, dict.fromkeys(env.possible_agents, leftmost))
    assert table.moves[0] == " ".join(str(action) for _, action in made)
    assert table.score.tolist() == list(total.values())
    assert np.array_equal(seen, [observation for observation, _ in made[::2]])


def test_alone_a_policy_sees_what_gymnasium_shows():
    env, game, seen = gymnasium.make("afterply/Cube2-v0", max_twists=1), games.load("cube2"), []

    def noted(observation, mask):
        seen.append(observation)
        return leftmost(observation, mask)

    first, _ = env.reset(seed=1)
    start = env.unwrapped.s
    arena.matches(game, {"noted": policies.Policy(noted)}, [(start, [])], max_plies=1)
    assert np.array_equal(first, seen[0]) and first in env.observation_space


def test_what_is_no_policy_or_no_environment_is_refused(classic):
    agent = players.zoo("connect4")
    with pytest.raises(ValueError, match="states of .*CartPole.* take an environment of afterply"):
        policies.to_policy(agent, gymnasium.make("CartPole-v1"))
    with pytest.raises(ValueError, match="this agent was made for <game connect4"):
        policies.to_policy(agent, pettingzoo.env("tictactoe"))
    act = policies.to_policy(agent, classic)
    classic.reset()
    seen = classic.last()[0]
    with pytest.raises(ValueError, match=r"shape .6, 7, 2., not \(\): give env.last"):
        act(seen, seen["action_mask"])
    with pytest.raises(ValueError, match="no action is legal in .*ask whose turn it is"):
        act(**{"observation": seen["observation"], "action_mask": np.zeros(7, np.int8)})
    with pytest.raises(TypeError, match="a policy is a function or has predict, which 3 is not"):
        policies.Policy(3)
    other = policies.Policy(leftmost, "connect_four_v3")
    with pytest.raises(ValueError, match="shows connect4 on 6 x 7 only, not <game tictactoe"):
        other.new_match(games.load("tictactoe"), [], 0, 1)
