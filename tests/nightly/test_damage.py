"""A few of the damaged files of the night, and that a file which is believed is found."""

import dataclasses

import damage
import pytest

QUICK = ("matches", "card", "n-tuple lists", "profile", "claims")  # to make and to read
KINDS = [kind for kind in damage.KINDS if kind.name in QUICK]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_damaged_files_are_refused_or_say_the_same(kind):
    ends = list(damage.tried(kind, seed=1, first=0, end=2 * len(kind.damages)))
    assert {*ends} <= {"refused", "the same"} and "refused" in ends


def test_what_is_believed_is_found():
    kind = next(kind for kind in KINDS if kind.name == "n-tuple lists")
    careless = dataclasses.replace(kind, read=lambda path: path.read_bytes(), damages=(damage.cut,))
    (end,) = damage.tried(careless, seed=1, first=0, end=1)
    assert end == "n-tuple lists, cut, file 0: believed"
