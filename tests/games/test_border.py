"""What comes from outside is checked where it enters: states, sizes, rules, parameters."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from afterply import arena, games, players
from afterply.games.conformance import GameWarning, NotConforming, Report
from afterply.games.definition import RuleError
from afterply.games.game import check_game
from afterply.games.rules.cube import SOLVED
from afterply.kernel.random import new_rng, random_int
from afterply.learners import td
from afterply.networks import ntuple, table
from afterply.players import agents
from afterply.players.agents import contest
from afterply.search import max_n, mcts
from many import one_in
from sample_games import race

TICTACTOE = games.load("tictactoe")


def changed(game, **numbers):
    """The start, of a cube the solved one, with some numbers changed, by their places."""
    s = game.parse("after") if "cube" in game.name else game.start()
    for place, number in numbers.items():
        s[int(place[1:])] = number
    return s


@pytest.mark.parametrize(
    "name, numbers, message",
    [
        ("tictactoe", {"_3": 7}, r"cell 3 has the code 7 .* num_codes\[3\] = 3"),
        ("tictactoe", {"_9": 10**6}, "as many x as o"),
        ("tictactoe", {"_0": 2}, "as many x as o"),
        ("tictactoe", {"_10": 1}, "do not give the end 1"),
        ("tictactoe", {"_0": 2, "_1": 2, "_2": 2, "_3": 0, "_4": 0, "_5": 0}, "not give the end 0"),
        ("connect4", {"_0": 2}, "above an empty cell"),
        ("connect4", {"_0": 1, "_2": 1, "_4": 1}, "two stones are on one cell"),
        ("connect4", {"_1": -1}, "off the board"),
        ("connect4", {"_0": 1}, "as many x as o"),
        ("connect4", {"_4": 2}, "do not give the end 1"),
        ("dots", {"_0": 2}, "a line is drawn or not"),
        ("dots", {"_24": 1}, "if its four lines are drawn"),
        ("dots", {"_0": 1, "_3": 1, "_4": 1, "_7": 1}, "if its four lines are drawn"),
        ("dots", {"_33": 2}, "players are counted from 0"),
        ("race", {"_1": 5}, "the front one is behind"),
        ("race", {"_0": 22}, "a token is nowhere"),
        ("race", {"_0": 12, "_2": 2}, "tokens of two players are on one cell"),
        ("race", {"_2": 21, "_3": 21}, r"after the end players \[1\] have won"),
        ("race", {"_4": 2}, "player 2 is to move"),
        ("race", {"_5": 7}, r"cell 4 has the code 7 .* num_codes\[4\] = 7"),
        ("hex", {"_0": 1 | 1 << 16, "_12": 1}, "two stones"),
        ("hex", {"_0": 1 << 6}, "off the board"),
        ("hex", {"_0": 2, "_6": 2, "_12": 1}, "what is joined"),
        ("hex", {"_0": 2}, "as many x as o"),
        ("hex", {"_12": 2}, "and the end, do not follow"),
        ("nim", {"_0": 0, "_1": 0, "_2": 0, "_3": 9}, "player 9 is to move"),
        ("othello", {"_0": -1}, "two stones, or there is one off the board"),
        ("othello", {"_5": -1, "_6": -1}, "do not follow from its stones"),
        ("morris", {"_0": -1}, "two men stand on one point, or one off the board"),
        ("morris", {"_0": 2**20 - 1}, "20 men instead of 9|29 men instead of 9"),
        ("morris", {"_3": 10**6, "_4": 10**6}, "plies of 1000000 without a man taken"),
        ("morris", {"_2": 1 | 9 << 1 | 9 << 5}, "whose turn it is"),
        ("morris", {"_2": 1 << 9 | 9 << 1 | 9 << 5}, "do not give the end 1"),
        ("morris", {"_0": 7, "_1": 56, "_2": 0, "_3": 3, "_4": 40}, "after 3 quiet plies"),
        ("kalah", {"_0": -3}, "41 seeds instead of 48"),
        ("kalah", {"_0": 44}, "88 seeds instead of 48"),
        ("kalah", {"_6": -1, "_13": 1}, "48 seeds .* less than none"),
        ("kalah", {"_14": 2}, "2 is no turn here"),
        ("nim", {"_0": 6}, r"cell 0 has the code 6 .* num_codes\[0\] = 6"),
        ("nim3p", {"_3": 3}, "player 3 is to move"),
        ("giveaway", {"_1": -1}, "two pieces"),
        ("giveaway", {"_2": 1 << 15}, "or a king none"),
        ("giveaway", {"_0": 1, "_1": 0}, "would be a king"),
        ("giveaway", {"_1": 0x1FFF, "_7": 0x1FFF}, "at most 12 pieces"),
        ("checkers", {"_3": 2}, "can jump on from 1"),
        ("checkers", {"_3": 1 << 7}, "do not give the end 1"),
        ("checkers", {"_4": 5}, "not be 0 plies, 5 of them quiet"),
        ("checkers", {"_5": 401}, "cannot be 401 plies"),
        ("checkers", {"_4": 1, "_5": 1}, "after 1 quiet plies"),
        ("game2048", {"_2": -4}, "the score -4"),
        ("game2048", {"_2": 6}, "the score 6"),
        ("cube3", {"_4": 2**30}, "a cubie is nowhere"),
        ("cube3", {"_0": 1 | 4 << 8 | 8 << 16 | 12 << 24, "_1": SOLVED[1]}, "cubie is turned"),
        ("cube2", {"_2": 99}, "there is no twist 99"),
    ],
)
def test_a_vector_with_which_the_rules_would_leave_their_arrays(name, numbers, message):
    game = games.load(name)
    s = changed(game, **numbers)
    with pytest.raises(ValueError, match=message):
        game.score(s)
        game.legal(s)


WHERE = st.integers(0, 2**20)
DAMAGE = st.integers(0, 31).map(lambda bit: 1 << bit) | st.integers(-3, 3) | st.integers(0, 2**32)


@pytest.mark.slow
@pytest.mark.parametrize("name", games.names())
@settings(max_examples=12, deadline=None, derandomize=True)
@given(seed=WHERE, plies=st.integers(0, 60), place=WHERE, damage=DAMAGE, flips=st.booleans())
def test_one_damaged_number_is_refused_or_a_state_that_can_be_played_on(
    name, seed, plies, place, damage, flips
):
    game, rng = games.load(name), new_rng(seed)
    s = played_on(game, game.start(seed), plies, rng)
    damaged, place = s.astype(np.int64), place % min(game.size, game.core + 4)
    damaged[place] = damaged[place] ^ damage if flips else damaged[place] + damage
    damaged = damaged.astype(np.uint32).view(np.int32)
    try:
        game.legal(damaged)
    except ValueError:
        assert not np.array_equal(s, damaged)
    else:
        played_on(game, damaged, 30, rng)


def played_on(game, s, plies, rng):
    """The state after random plies, of which each is one that the game accepts."""
    checker = Report(game)
    for _ in range(plies):
        if moves := checker.state(s):
            s = game.next(s, moves[random_int(rng, len(moves))], rng)
    return s


@pytest.mark.parametrize(
    "name, given, words",
    [
        ("tictactoe", {"rows": 16}, "1 to 15 rows and columns"),
        ("tictactoe", {"k": 4}, "k within the longer side"),
        ("connect4", {"columns": 0}, "columns must be"),
        ("connect4", {"rows": 3, "columns": 3}, "k must be"),
        ("connect4", {"rows": 8, "columns": 8}, r"\(rows \+ 1\) \* columns is at most 64"),
        ("connect4", {"players": 1}, "players must be a whole number from 2 to 4, not 1"),
        ("dots", {"players": 5}, "players must be a whole number from 2 to 4, not 5"),
        ("dots", {"rows": 6, "columns": 5}, "have 71 lines, more than 64"),
        ("dots", {"rows": 0}, "rows must be a whole number of at least 1, not 0"),
        ("race", {"players": 5}, "players must be a whole number from 2 to 4, not 5"),
        ("othello", {"side": 7}, "side must be 4, 6 or 8 .*, not 7"),
        ("hex", {"size": 1}, "size must be a whole number from 2 to 15"),
        ("kalah", {"seeds": 0}, "seeds must be a whole number of at least 1, not 0"),
        ("kalah", {"houses": 9}, "do not fit into a key"),
        ("nim", {"take": "2"}, "int or None, not '2'"),
        ("nim", {"heap": 4}, "no parameter 'heap'.*heaps=3"),
        ("giveaway", {"max_plies": -1}, "max_plies .* must be a whole number from 0"),
        ("checkers", {"quiet_plies": 0}, "a repetition needs at least 2 times"),
        ("morris", {"men": 7}, "no board for men=7, lines=8"),
        ("morris", {"blocked": "win"}, "one of 'loss', 'pass', not 'win'"),
        ("morris", {"flying": "no"}, "bool or None, not 'no'"),
        ("cube3", {"max_twists": 0}, "max_twists must be a whole number from 1 to 10,000, not 0"),
        ("cube3", {"min_twists": 9, "max_twists": 5}, "max_twists=5 must be at least min_twists=9"),
        ("cube3", {"corner_stickers": "some"}, "one of 'complete', 'original', not 'some'"),
        ("tictacto", {}, "no game 'tictacto': did you mean 'tictactoe'"),
    ],
)
def test_parameters_that_can_not_be_are_named(name, given, words):
    with pytest.raises(ValueError, match=words):
        games.load(name, **given)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: TICTACTOE.play(TICTACTOE.after([4]), 4), r"action 4 is not legal.*\[0, 1, 2, 3"),
        (lambda: TICTACTOE.play(TICTACTOE.after([0, 3, 1, 4, 2]), 5), "the game is over"),
        (lambda: TICTACTOE.legal(np.zeros(9, np.int32)), r"11 int32, not .* of shape \(9,\)"),
        (lambda: mcts.search(TICTACTOE, TICTACTOE.after([0, 3, 1, 4, 2]), 9), "game is over"),
        (lambda: TICTACTOE.legal([2**40] * 11), "must fit int32"),
        (lambda: TICTACTOE.heuristic(TICTACTOE.start()), "give it the rule heuristic"),
        (lambda: check_game("tictactoe"), "games.load"),
        # sizes and tables of home-made games
        (lambda: race(core=99), "core must be a whole number from 1 to 2, not 99"),
        (lambda: race(players=True), "players must be a whole number of at least 1, not True"),
        (lambda: race(score_range=(1.0, -1.0)), "score_range must be two numbers, the smaller"),
        (lambda: race(start_scheme=(0.5, -1)), "start_scheme must be"),
        (lambda: race(start_scheme=0.5), "start_scheme must be"),
        (lambda: race(neighbours=[[1]]), "neighbours must be 1 lists of cells from 0 to 0"),
        (lambda: race(action_symmetries=[[0, 0]]), "action_symmetries must be a permutation of 0"),
        (lambda: race(action_symmetries=[[0, 1], [1, 0]]), "1 symmetries, but 2 rows"),
        (lambda: race(num_codes=[0]), "num_codes must be at least 1"),
        (lambda: race(num_codes=2), "num_codes must be a list of whole numbers, not 2"),
        (lambda: race(num_codes=[6, 6], symmetries=[[1, 0]]), "start with the identity"),
        (lambda: race(stage=1), "stage .*1"),
        (lambda: race(num_codes=[6, 6], symmetries=[[0, 1], [1, 0]], stage=1), "leave cell 1"),
        (
            lambda: race(num_codes=[6] * 3, symmetries=[[0, 1, 2], [1, 2, 0]]),
            r"1 and then 1 .*\[2, 0",
        ),
        (lambda: race(heuristic=3), "'heuristic' must be a function, not 3"),
        # ... and where a training would leave its arrays
        (lambda: train(actions=1), "actions are 0 to actions - 1 = 0"),
        (lambda: train(legal=lambda s, moves: 3), "how many it wrote, at most max_legal=2"),
        (lambda: train(num_codes=[4]), r"cell 0 has the code [45] .* = 4 allows 0 to 3"),
        (lambda: train(size=1), "'start' writes more than 1 values"),
        (lambda: train(players=1), "'score' writes more than 1 values"),
        (lambda: train(player=lambda s: 1 + s[1]), r"gives 2 at .* players are numbered from 0"),
    ],
)
def test_a_call_names_what_is_wrong(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def train(**rules):
    td.Session(race(**rules), episodes=10)


# ------------------------------------------------------------------ rules that leave their arrays
def beyond(place):
    """The race's move, which at the end writes to a place that the state does not have."""

    def play(s, action):
        s[0] = min(5, s[0] + action + 1)
        s[1] = 1 - s[1]
        if s[0] >= 5:
            s[place] = 1

    return play


def late_legal(s, moves):
    for i in range(3 if s[0] == 4 else 2):
        moves[i] = i % 2
    return 3 if s[0] == 4 else 2


def stuck_legal(s, moves):
    moves[0], moves[1] = 0, 1
    return 0 if s[0] == 4 else 2


ENTRANCES = [
    check_game,
    lambda game: ntuple.Network(game, [[0]]),
    table.QTable,
    lambda game: max_n.values(game, game.start(), 1),
    lambda game: mcts.search(game, game.start(), 3),
    lambda game: arena.match(game, [players.Random(), players.Random()]),
    lambda game: contest(game, agents.chance(race()), agents.chance(race())),
]


@pytest.mark.parametrize(
    "rules, message",
    [
        ({"play": beyond(2)}, "'play' writes more than 2 values"),
        ({"play": beyond(9000)}, "'play' writes more than 2 values"),
        ({"legal": late_legal}, "'legal' writes more than 2 values: .* raise max_legal"),
        ({"legal": stuck_legal}, "no legal action .* 'over' says that the game goes on"),
    ],
)
@pytest.mark.parametrize("enter", one_in(len(ENTRANCES), ENTRANCES))
def test_a_home_made_game_is_tried_out_wherever_it_enters(rules, message, enter):
    with pytest.raises(ValueError, match=message):
        enter(race(**rules))


# ------------------------------------------------------------------------------ slips are warnings
def no_score(s, r):
    r[0] = r[1] = 0.0


def same_score(s, r):
    r[0] = r[1] = 1.0 if s[0] >= 5 else 0.0


def great_score(s, r):
    r[0], r[1] = (3.0, -3.0) if s[0] >= 5 else (0.0, 0.0)


def two_cells(s, cells):
    """The second cell is always 0: exchanging the two is no symmetry but of the start."""
    cells[0], cells[1] = s[0], 0


TURNED = {"board": two_cells, "num_codes": [6, 6], "symmetries": [[0, 1], [1, 0]]}


@pytest.mark.parametrize(
    "rules, message",
    [
        ({"player": lambda s: 0}, "never the turn of player 1"),
        ({"score": no_score}, "all scores are 0"),
        ({"score": same_score}, "all players have the same score"),
        ({"score": great_score}, "outside score_range"),
        ({"over": lambda s: False}, r"none of \d+ random games ended"),
        (TURNED, "do not commute with symmetry 1"),
        (TURNED | {"action_symmetries": [[0, 1], [1, 0]]}, "do not commute with symmetry 1"),
    ],
)
def test_slips_of_logic_are_warnings(rules, message):
    game = race(**rules)
    with pytest.warns(GameWarning, match=message):
        check_game(game)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_game(game)  # once per process
        check_game(race())
    if "action_symmetries" in rules:
        with pytest.raises(NotConforming, match="symmetry 1"):
            games.check(game, games=2)
    elif rules is TURNED:
        assert "symmetry 1" in str(games.check(game, games=2))


# ------------------------------------------------------------------- rules that cannot be compiled
LINES = [[0, 1], [2, 3]]


def legal_returns_nothing(s, moves):
    moves[0] = 0


def play_copies(s, action):
    t = s.copy()
    t[action] = 0


def play_raises(s, action):
    if s[action] == 0:
        raise ValueError("not legal")


def over_reads_a_list(s):
    for line in LINES:
        if s[line[0]] == 0:
            return True
    return False


def helper(s):
    return s[0] == 0


WRONG = [
    ({"legal": legal_returns_nothing}, r"'legal' .* must return a whole number.* \(line \d+"),
    ({"play": play_copies}, r"'play' .* a new array or list .* \(line \d+: t = s.copy\(\)\)"),
    ({"play": lambda s, action: 5}, r"not return a value: write s\[0\] = 1"),
    ({"play": lambda s, action: print(s[0])}, r"it prints"),
    ({"play": play_raises}, r"raises an exception"),
    ({"start": lambda s, rng: np.random.randint(2)}, r"random_int\(rng, n\)"),
    ({"start": lambda s, rng: s.append(0)}, r"\.append, but .* list: it is an int32 vector"),
    ({"over": over_reads_a_list}, r"make that a tuple or a numpy array"),
    ({"over": lambda s: helper(s)}, r"decorate helper with @kernel"),
    ({"over": lambda s, x: s[0] == 0}, r"takes 2 arguments \(s, x\), it must take 1"),
]


@pytest.mark.parametrize(
    "rules, message", one_in(4, WRONG), ids=lambda x: x if isinstance(x, str) else ""
)
def test_a_rule_that_can_not_be_compiled(rules, message):
    with pytest.raises(RuleError, match=message) as caught:
        race(**rules)
    assert "\n" not in str(caught.value)


FILE = """
from __future__ import annotations

from afterply import games
from afterply.games import Game as Board


def heap() -> {annotation}:
    return games.load("nim", heaps=1)


def helper() -> dict:
    return {{}}
"""


@pytest.mark.parametrize("annotation", ["Board", "games.Game", "'Board'"])
def test_a_game_in_a_file_is_found_however_its_annotation_is_written(tmp_path, annotation):
    file = tmp_path / f"own_{abs(hash(annotation))}.py"
    file.write_text(FILE.format(annotation=annotation))
    assert games.from_file(file).name == "nim"


def test_an_edge_of_a_board_may_have_more_lines_than_there_are_letters():
    for size in ({"rows": 1, "columns": 13}, {"rows": 13, "columns": 1}):
        game = games.load("dots", **size)
        names = [game.action_name(game.start(), action) for action in range(game.actions)]
        assert len({*names}) == game.actions == 40
