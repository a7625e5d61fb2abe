"""Statements of a paper as tests on our runs."""

HOLDS = "holds"
DOES_NOT_HOLD = "does not hold"
UNDECIDED = "undecided"
STATEMENT_NOT_RUN = "not run"
