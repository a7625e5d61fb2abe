"""Adapters: games and players of the library in the worlds of others, and theirs in ours.

::

    pettingzoo    any of our games as an environment for several agents
    gymnasium     our games for one player as environments of their own
    open_spiel    their small games as ours, ours as theirs, their bots as our players

Each module needs the package that it is named after, and says so if it is not there; nothing else
in the library imports them.
"""

import importlib

__all__ = ["gymnasium", "open_spiel", "pettingzoo"]


def __getattr__(name):
    if name in __all__:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
