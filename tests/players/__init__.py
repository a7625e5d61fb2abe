"""Tests of the package `players`; a package, so that each may have its test_contract.py."""
