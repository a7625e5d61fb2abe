"""Tests of the package `learners`; a package, so that each may have its test_contract.py."""
