"""Many cases of one test."""

import pytest


def one_in_eight(cases) -> list:
    """Mark all but every eighth of many alike cases as slow: `make check` tries a sample."""
    return [
        pytest.param(*case, marks=pytest.mark.slow if number % 8 else ())
        for number, case in enumerate(cases)
    ]
