"""A few games of the nightly comparison, and that it finds rules that are others."""

import pytest
import rules

if rules.COMPILER is None:
    pytest.skip("no C compiler: the nightly rules are in C", allow_module_level=True)

KINDS = [kind for kind in rules.GAMES if kind[0] in ("tictactoe", "nim", "kalah", "cube2", "cube3")]
OTHERS = [  # what a setting in C is changed to, and the number of it
    ("tictactoe", 2, 4),  # four in a line
    ("nim", 3, 0),  # the last one loses
    ("nim", 2, 4),  # takes at most four
    ("kalah", 2, 1),  # captures with nothing opposite
]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: rules.label(*kind))
def test_games_are_the_same_in_c(kind):
    number, plies, _, wrong = rules.Comparison(*kind).compare(seed=1, chunk=0, most=300)
    assert wrong is None and number >= 50 and plies > 5 * number


@pytest.mark.parametrize("name, place, value", OTHERS)
def test_other_rules_differ(name, place, value):
    here, params, other, settings = next(kind for kind in rules.GAMES if kind[0] == name)
    changed = (settings + [0] * 8)[:8]
    changed[place] = value
    *_, wrong = rules.Comparison(here, params, other, changed).compare(seed=1, chunk=0, most=300)
    assert wrong is not None
