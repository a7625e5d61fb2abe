"""Tests of the package `evaluators`; a package, so that each may have its test_contract.py."""
