"""Opponents beyond the players of this package: other programs, perfect play, files of others.

Whatever needs a program that is not installed with the package says so when it is asked for.
"""
