"""A rule with a mistake gives one readable sentence, and no training starts with wrong sizes."""

import numpy as np
import pytest

from afterstate.games import conformance
from afterstate.games.errors import RuleError
from afterstate.games.game import Game
from afterstate.learners import td
from many import one_in

LINES = [[0, 1], [2, 3]]
CELLS = 4


def start(s, rng):
    for c in range(CELLS):
        s[c] = 1
    s[CELLS] = 0


def legal(s, moves):
    n = 0
    for c in range(CELLS):
        if s[c] == 1:
            moves[n] = c
            n += 1
    return n


def play(s, action):
    s[action] = 0
    s[CELLS] = 1 - s[CELLS]


def player(s):
    return s[CELLS]


def over(s):
    return s[0] == 0


def score(s, r):
    r[0] = 1.0 if s[0] == 0 else 0.0
    r[1] = 0.0 - r[0]


def board(s, codes):
    for c in range(CELLS):
        codes[c] = s[c]


def game(**changed):
    arguments = dict(
        start=start,
        legal=legal,
        play=play,
        player=player,
        over=over,
        score=score,
        board=board,
        players=2,
        actions=CELLS,
        max_legal=CELLS,
        size=CELLS + 1,
        num_codes=[2] * CELLS,
    )
    return Game("mine", **(arguments | changed))


def legal_returns_nothing(s, moves):
    moves[0] = 0


def play_copies(s, action):
    t = s.copy()
    t[action] = 0


def play_makes_an_array(s, action):
    t = np.zeros(CELLS, np.int32)
    s[action] = t[0]


def play_returns(s, action):
    return 5


def play_prints(s, action):
    print(s[0])


def play_raises(s, action):
    if s[action] == 0:
        raise ValueError("not legal")


def start_by_chance(s, rng):
    s[0] = np.random.randint(2)


def over_reads_a_list(s):
    for line in LINES:
        if s[line[0]] == 0:
            return True
    return False


def helper(s):
    return s[0] == 0


def over_calls_python(s):
    return helper(s)


def over_takes_two(s, x):
    return s[0] == 0


def player_from_one(s):
    return 1 + s[CELLS]


@pytest.mark.slow
def test_a_sound_game_trains():
    conformance.check(game(), games=3)
    td.Session(game(), {"episodes": 10}).train(10)


@pytest.mark.parametrize(
    "changed, message",
    one_in(
        4,
        [
            (
                {"legal": legal_returns_nothing},
                r"'legal' .* must return how many legal actions .* \(line \d+",
            ),
            (
                {"play": play_copies},
                r"'play' .* makes a new array or list .* \(line \d+: t = s.copy\(\)\)",
            ),
            ({"play": play_makes_an_array}, r"makes a new array"),
            ({"play": play_returns}, r"must not return a value"),
            ({"play": play_prints}, r"it prints"),
            ({"play": play_raises}, r"raises an exception"),
            ({"start": start_by_chance}, r"random_int\(rng, n\)"),
            ({"over": over_reads_a_list}, r"make that a tuple or a numpy array"),
            ({"over": over_calls_python}, r"decorate helper with @kernel"),
            ({"over": over_takes_two}, r"takes 2 arguments \(s, x\), it must take 1"),
        ],
    ),
    ids=lambda x: x if isinstance(x, str) else "",
)
def test_a_rule_that_can_not_be_compiled(changed, message):
    with pytest.raises(RuleError, match=message) as caught:
        game(**changed)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "changed, message",
    one_in(
        4,
        [
            ({"max_legal": 2}, "'legal' writes more than 2 values: correct it, or raise max_legal"),
            ({"actions": 3}, "actions are 0 to actions - 1 = 2"),
            ({"num_codes": [2] * 3}, "'board' writes more than 3 values"),
            ({"num_codes": [1] * 4}, r"cell 0 has the code 1 .* num_codes\[0\] = 1 allows 0 to 0"),
            ({"size": 4}, "'start' writes more than 4 values"),
            ({"players": 1}, "'score' writes more than 1 values"),
            ({"player": player_from_one}, "'player' gives 2"),
            ({"num_codes": 2}, "num_codes must be a list of whole numbers, not 2"),
            (
                {"symmetries": [[0, 1, 2, 3], [1, 2, 3, 0]]},
                r"no group: 1 after 1 gives \[2, 3, 0, 1\]",
            ),
            ({"symmetries": [[0, 1, 2, 3], [1, 2]]}, "symmetries must be a table"),
            ({"start_scheme": 0.5}, "start_scheme must be"),
        ],
    ),
    ids=lambda x: x if isinstance(x, str) else "",
)
def test_no_training_of_a_game_with_wrong_sizes(changed, message):
    with pytest.raises(ValueError, match=message):
        td.Session(game(**changed), {"episodes": 10})


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: td.Session("tictactoe", {}), "games.load"),
        (lambda: td.Session(game(), {}, seed="a"), "seed must be a whole number, not 'a'"),
        (lambda: td.Session(game(), {}).train(2.5), "whole number and not negative, but is 2.5"),
    ],
)
def test_a_session_names_what_is_wrong(call, message):
    with pytest.raises(ValueError, match=message):
        call()
