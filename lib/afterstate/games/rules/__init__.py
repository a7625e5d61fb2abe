"""The rules of the games that come with the package, one file each; `catalogue` finds them."""


def named(*functions) -> dict:
    """Return functions by their names, as ``Game`` takes them; ``_start`` is its ``start``."""
    return {function.__name__.lstrip("_"): function for function in functions}


def irreversible(s):
    """Say that no earlier state can return: the rule of games in which every move is for good."""
    return True
