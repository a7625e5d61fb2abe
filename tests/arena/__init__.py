"""Tests of the package `arena`; a package, so that each may have its test_contract.py."""
