"""Many alike cases, of which the inner loop tries a sample."""

import pytest


def one_in(every: int, cases) -> list:
    """Return the cases, all but the first of every eight, say, marked slow: not in `make check`."""
    return [
        pytest.param(
            *(case if isinstance(case, tuple) else (case,)),
            marks=pytest.mark.slow if number % every else (),
        )
        for number, case in enumerate(cases)
    ]
