"""What comes from outside is checked where it enters: states, sizes, parameters, new games."""

import warnings

import numpy as np
import pytest

from afterstate import games
from afterstate.games import conformance
from afterstate.games.errors import RuleError
from afterstate.games.game import check_game
from afterstate.games.tryout import GameWarning
from afterstate.networks import ntuple, table
from afterstate.search import max_n, mcts, min_max
from many import one_in
from sample_games import race

TICTACTOE = games.load("tictactoe")


def changed(game, **numbers):
    """The start with some numbers changed, by their places."""
    s = game.start()
    for place, number in numbers.items():
        s[int(place[1:])] = number
    return s


@pytest.mark.parametrize(
    "ask",
    [
        lambda s: ntuple.Network(TICTACTOE, [range(9)]).action_values(s),
        lambda s: table.QTable(TICTACTOE).action_values(s),
        lambda s: max_n.values(TICTACTOE, s, 2),
        lambda s: mcts.search(TICTACTOE, s, 5),
        lambda s: min_max.Searcher(TICTACTOE, 2).values(s),
        TICTACTOE.legal,
        TICTACTOE.player,
    ],
)
def test_a_state_of_a_player_that_there_is_not(ask):
    message = r"'player' gives 1000000 at .* numbered from 0, here 0 to players - 1 = 1"
    with pytest.raises(ValueError, match=message):
        ask(changed(TICTACTOE, _9=10**6))
    with pytest.raises(ValueError, match=r"cell 3 has the code 7 .* num_codes\[3\] = 3"):
        ask(changed(TICTACTOE, _3=7))
    with pytest.raises(ValueError, match="vector of 11 int32"):
        ask(np.ones(11) * 0.5)


@pytest.mark.parametrize(
    "name, numbers, message",
    [
        ("nim", {"_0": 0, "_1": 0, "_2": 0, "_3": 9}, "player 9 is to move"),
        ("othello", {"_0": -1}, "no state of othello"),
        ("othello", {"_5": -1, "_6": -1}, "do not follow from its stones"),
        ("morris", {"_0": -1}, "two men stand on one point, or one off the board"),
        ("morris", {"_0": 2**20 - 1}, "20 men instead of 9|29 men instead of 9"),
        ("morris", {"_3": 10**6, "_4": 10**6}, "plies of 1000000 without a man taken"),
        ("morris", {"_4": 2**31 - 1}, "plies of 2147483647"),
        ("kalah", {"_0": -3}, "cell 0 has the code -3"),
    ],
)
def test_a_vector_with_which_the_rules_would_leave_their_arrays(name, numbers, message):
    game = games.load(name)
    with pytest.raises(ValueError, match=message):
        game.score(changed(game, **numbers))


@pytest.mark.parametrize("gamma", [float("nan"), -5, 1.5, "1", None, True])
def test_a_discount_factor_is_from_0_to_1(gamma):
    for net in (ntuple.Network(TICTACTOE, [range(9)]), table.QTable(TICTACTOE)):
        with pytest.raises(
            ValueError, match="gamma, the discount factor, must be a number between 0 and 1"
        ):
            net.action_values(TICTACTOE.start(), gamma)


@pytest.mark.parametrize(
    "name, parameters, wanted",
    [
        ("kalah", {"empty_capture": "no"}, "bool, not 'no'"),
        ("kalah", {"houses": 6.0}, "int, not 6.0"),
        ("morris", {"flying": "no"}, "bool or None, not 'no'"),
        ("morris", {"flying_captures": 0}, "bool, not 0"),
        ("morris", {"blocked": True}, "str, not True"),
        ("nim", {"misere": 1}, "bool, not 1"),
        ("nim", {"take": "2"}, "int or None, not '2'"),
        ("hex", {"size": True}, "int, not True"),
        ("game2048", {"raw_score": "no"}, "bool, not 'no'"),
        ("tictactoe", {"rows": None}, "int, not None"),
    ],
)
def test_parameters_of_games_are_checked_by_type(name, parameters, wanted):
    with pytest.raises(ValueError, match=f"parameter {next(iter(parameters))} .* must be {wanted}"):
        games.load(name, **parameters)


@pytest.mark.parametrize(
    "sizes, message",
    [
        ({"core": 99}, "core must be a whole number from 1 to 2, not 99"),
        ({"core": 0}, "core must be"),
        ({"players": True}, "players must be a whole number of at least 1, not True"),
        ({"size": 2.0}, "size must be"),
        ({"score_range": (1.0, -1.0)}, "score_range must be two numbers, the smaller first"),
        ({"score_range": (0.0, float("nan"))}, "score_range must be"),
        ({"start_scheme": (float("nan"), 1)}, "start_scheme must be"),
        ({"start_scheme": (0.5, -1)}, "start_scheme must be"),
        ({"neighbours": [[1]]}, "neighbours must be 1 lists of cells from 0 to 0"),
        ({"action_symmetries": [[0, 0]]}, "action_symmetries must be a permutation of 0 to 1"),
        ({"action_symmetries": [[0, 1], [1, 0]]}, "1 symmetries, but 2 rows"),
        ({"num_codes": [0]}, "num_codes must be at least 1"),
        ({"heuristic": 3}, "'heuristic' must be a function, not 3"),
    ],
)
def test_sizes_of_games_are_checked(sizes, message):
    with pytest.raises(ValueError, match=message):
        race(**sizes)


# ------------------------------------------------------------------------- trying out a new game


def play_beyond(s, action):
    s[0] = min(5, s[0] + action + 1)
    s[1] = 1 - s[1]
    if s[0] >= 5:
        s[2] = 1


def play_far_beyond(s, action):
    s[0] = min(5, s[0] + action + 1)
    s[1] = 1 - s[1]
    if s[0] >= 5:
        s[9000] = 1


def late_legal(s, moves):
    for i in range(3 if s[0] == 4 else 2):
        moves[i] = i % 2
    return 3 if s[0] == 4 else 2


def stuck_legal(s, moves):
    moves[0], moves[1] = 0, 1
    return 0 if s[0] == 4 else 2


@pytest.mark.parametrize(
    "rules, message",
    [
        ({"play": play_beyond}, "'play' writes more than 2 values"),
        ({"play": play_far_beyond}, "'play' writes more than 2 values"),
        ({"legal": late_legal}, "'legal' writes more than 2 values: .* raise max_legal"),
        ({"legal": stuck_legal}, "no legal action .* 'over' says that the game goes on"),
    ],
)
@pytest.mark.parametrize(
    "enter",
    one_in(
        6,
        [
            check_game,
            lambda game: ntuple.Network(game, [[0]]),
            table.QTable,
            lambda game: max_n.values(game, game.start(), 1),
            lambda game: mcts.search(game, game.start(), 3),
        ],
    ),
)
def test_a_home_made_game_is_tried_out_wherever_it_enters(rules, message, enter):
    with pytest.raises(ValueError, match=message):
        enter(race(**rules))


def always_first(s):
    return 0


def no_score(s, r):
    r[0] = r[1] = 0.0


def same_score(s, r):
    r[0] = r[1] = 1.0 if s[0] >= 5 else 0.0


def great_score(s, r):
    r[0], r[1] = (3.0, -3.0) if s[0] >= 5 else (0.0, 0.0)


def never_over(s):
    return False


def two_cells(s, cells):
    cells[0], cells[1] = s[0], 0


SLIPS = [
    ({"player": always_first}, "never the turn of player 1"),
    ({"score": no_score}, "all scores are 0"),
    ({"score": same_score}, "nobody ever wins"),
    ({"score": great_score}, "outside score_range"),
    ({"over": never_over}, "none of 100 random games ended"),
]


@pytest.mark.parametrize("rules, message", SLIPS, ids=[message for _, message in SLIPS])
def test_slips_of_logic_are_warnings(rules, message):
    game = race(**rules)
    with pytest.warns(GameWarning, match=message):
        check_game(game)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_game(game)  # once per process


@pytest.mark.slow
def test_a_sound_game_gives_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_game(race())
    assert conformance.check(race(), games=3).warnings == []


@pytest.mark.parametrize("turned", [None, [[0, 1], [1, 0]]])
def test_symmetries_that_do_not_commute_are_a_warning(turned):
    """The second cell is always 0, so exchanging the two is no symmetry but of the start."""
    game = race(
        board=two_cells, num_codes=[6, 6], symmetries=[[0, 1], [1, 0]], action_symmetries=turned
    )
    with pytest.warns(GameWarning, match="do not commute with symmetry 1"):
        check_game(game)
    if turned:
        with pytest.raises(conformance.NotConforming, match="symmetry 1"):
            conformance.check(game, games=2)
    else:
        assert "symmetry 1" in str(conformance.check(game, games=2))


def test_conformance_tells_slips_too():
    assert "nobody ever wins" in str(conformance.check(race(score=same_score), games=2))


# ------------------------------------------------------------------------------ words for mistakes


def test_an_action_after_the_end():
    s = TICTACTOE.parse("x x x o o . . . .")
    with pytest.raises(ValueError, match="'tictactoe' is over at .* no action can be played"):
        TICTACTOE.play(s, 5)


def from_one(s):
    return 1 + s[1]


def test_players_numbered_from_one():
    with pytest.raises(ValueError, match=r"gives 2 at .* players are numbered from 0"):
        check_game(race(player=from_one))


def test_one_tuple_of_a_large_board_suggests_shorter_ones():
    board = games.load("tictactoe", rows=5, columns=5)
    for cells in (range(25), range(20)):  # too many for indices, for the memory
        with pytest.raises(ValueError, match=r"fewer or shorter tuples, such as \{'random_walk'"):
            ntuple.Network(board, [cells])


def start_as_list(s, rng):
    s.append(0)


def start_returns(s, rng):
    return 0


@pytest.mark.parametrize(
    "start, message",
    [
        (start_as_list, r"\.append, but a state is no Python list: it is an int32 vector"),
        (start_returns, r"changes its arguments in place, as in s\[0\] = 1"),
    ],
)
def test_a_state_as_a_list(start, message):
    with pytest.raises(RuleError, match=message):
        race(start=start)
