"""The contract of players, tried on every player of the package (see `afterstate.players`)."""

import importlib
import inspect
import pkgutil
from types import SimpleNamespace

import numpy as np
import pytest

from afterstate import arena, games, players
from afterstate.networks.linear import Linear
from afterstate.networks.ntuple import Network
from afterstate.networks.table import QTable
from afterstate.players import agents, connect4_oracle, gtp, linear_matches, perfect, positional

TICTACTOE, OTHELLO, NIM = games.load("tictactoe"), games.load("othello"), games.load("nim")
GIVEAWAY = games.load("giveaway")


def a_table():
    """A table with different values for some moves of the start."""
    net = QTable(TICTACTOE)
    for action in range(6):
        net.put(TICTACTOE.start(), action, action / 5)
    return net


def first(state):
    return int(TICTACTOE.legal(state)[0])


PLAYERS = {  # name -> (how to make it, its game, whether it can play another one)
    "random": (players.Random, TICTACTOE, True),
    "greedy": (lambda: players.Greedy(Network(TICTACTOE, [range(9)])), TICTACTOE, False),
    "function": (lambda: players.Function(first), TICTACTOE, True),
    "Max-N": (lambda: players.MaxN(3), TICTACTOE, True),
    "Min-Max": (lambda: players.MinMax(3, ties="random"), TICTACTOE, True),
    "MCTS": (lambda: players.MCTS(40), TICTACTOE, True),
    "wrapped": (lambda: players.Wrapped(a_table(), 40), TICTACTOE, False),
    "linear": (
        lambda: linear_matches.Player(
            Linear(GIVEAWAY, weights=linear_matches.random_weights(1, "contract")[0])
        ),
        GIVEAWAY,
        False,
    ),
    "random agent": (lambda: agents.chance(TICTACTOE), TICTACTOE, False),
    "greedy agent": (lambda: agents.learned(a_table(), epsilon=0.1), TICTACTOE, False),
    "softmax agent": (lambda: agents.learned(a_table(), temperature=0.5), TICTACTOE, False),
    "Min-Max agent": (lambda: agents.min_max(TICTACTOE, "random"), TICTACTOE, False),
    "ladder": (lambda: players.at_strength(TICTACTOE, 300), TICTACTOE, False),
    "saved": (lambda: players.zoo("tictactoe"), TICTACTOE, False),
    "Bench": (positional.Bench, OTHELLO, False),
}
ENGINES = {
    "AB": (perfect.AB, games.load("connect4"), connect4_oracle.missing_engine()),
    "Rhino": (gtp.Rhino, OTHELLO, gtp.Rhino().lacks()),
}
# the person at the keyboard is tried in test_players.py; Edax is a program that may be absent
ELSEWHERE = {"Human", "Edax", "Player"}
CASES = [
    *((name, *case) for name, case in PLAYERS.items()),
    *(
        pytest.param(
            name,
            make,
            game,
            False,
            marks=[pytest.mark.engine, pytest.mark.skipif(bool(lack), reason=lack)],
        )
        for name, (make, game, lack) in ENGINES.items()
    ),
]
every_player = pytest.mark.parametrize(
    "name, make, game, any_game", CASES, ids=[*PLAYERS, *ENGINES]
)


def test_every_class_of_players_is_tried_here():
    made = {type(make()).__name__ for make, *_ in [*PLAYERS.values(), *ENGINES.values()]}
    found = set()
    for module in pkgutil.iter_modules(players.__path__):
        for name, thing in vars(
            importlib.import_module(f"afterstate.players.{module.name}")
        ).items():
            if inspect.isclass(thing) and hasattr(thing, "choose") and hasattr(thing, "new_match"):
                found.add(name)
    assert found == made | ELSEWHERE


@every_player
def test_it_plays_whole_matches_in_every_seat_and_the_seed_decides(name, make, game, any_game):
    player = make()
    assert players.wrap(player) is player and isinstance(player.name, str)
    for seats in ([player, players.Random()], [players.Random(), player], [player, player]):
        one = arena.match(game, seats, seed=1)
        arena.match(game, seats, seed=2)  # whatever was played before
        assert arena.match(game, seats, seed=1).moves == one.moves
        assert game.over(game.after(one.moves))


@every_player
def test_it_leaves_states_alone_and_values_every_legal_action(name, make, game, any_game):
    player, state = make(), game.start()
    player.new_match(game, [], 0, 5)
    before = state.copy()
    action = player.choose(state)
    assert action in game.legal(state)
    if hasattr(player, "values"):
        values = player.values(state)
        assert values.shape == (len(game.legal(state)),) and values.dtype == np.float64
    if hasattr(player, "observe"):
        player.observe(action, game.play(state, action))
    assert np.array_equal(state, before)
    if hasattr(player, "close"):
        player.close()


@every_player
def test_another_game_is_refused_or_played(name, make, game, any_game):
    player = make()
    if any_game and name != "function":
        player.new_match(NIM, [], 0, 1)
        assert player.choose(NIM.start()) in NIM.legal(NIM.start())
    elif not any_game:
        with pytest.raises(ValueError, match="nim"):
            player.new_match(NIM, [], 0, 1)


# ------------------------------------------------------------------------------------ what is none


def test_a_perfect_agent_does_not_lose_to_random():
    """It carries a table, but is a player itself (it lost 77 of 200 when its table was played)."""
    table = arena.matches(
        TICTACTOE,
        {"perfect": agents.min_max(TICTACTOE), "random": players.Random()},
        episodes=100,
        seed=1,
    )
    assert (table.error == "").all() and table[table.player == "perfect"].score.min() >= 0
    assert len(table) == 400


def test_only_a_session_is_taken_by_its_network():
    class Caller(SimpleNamespace):
        def __call__(self, state):
            return 0

    net = Network(TICTACTOE, [range(9)])
    for carrier in (SimpleNamespace(net=net), Caller(net=net), SimpleNamespace(net=net, train=3)):
        with pytest.raises(TypeError, match="carries a network: give that"):
            players.wrap(carrier)
    session = SimpleNamespace(net=net, train=lambda num_episodes: None)
    assert players.wrap(session).net is net
