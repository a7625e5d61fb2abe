"""Learners: one module each, and what they share.

The contract. A learner is a module (or a class, such as one in a notebook's cell) with::

    NAME, VERSION              part of the keys of records; VERSION is raised when numbers change
    PARAMETERS                 one table, name -> kind, default, range and meaning (``parameters``)
    DEFAULTS                   ``parameters.defaults(PARAMETERS)``
    Session(game, params=None, seed=0, **changed)   one training run: see ``session.BaseSession``

and a session, from whose seed everything random derives, has::

    net                        what is learned: a network or a table (see ``networks``)
    episode, moves             how many were played
    train(num_episodes)        train(a) and train(b) give the same bits as train(a + b)
    statistics() -> dict       numbers that a record keeps
    state_dict() -> dict       name -> array, all that a checkpoint needs
    load_state_dict(arrays)    go on from there with the same bits; ValueError if they do not fit

``check_learner.check(learner)`` tries it before anything is trained, and names faults and remedy.
"""

import importlib
import re
from types import ModuleType

from ..kernel.source import PACKAGE, SOURCES

__all__ = ["check_learner", "learners", "parameters", "sarsa"]
__all__ += ["session", "tabular", "td", "td_wrapped"]


def modules() -> dict[str, str]:
    """Return the module of each learner of the package, in any folder, by the learner's name.

    Nothing is imported: one who asks for one learner need not wait for the others.
    """
    by_name = {}
    for file, text in SOURCES.items():
        name = re.search(r'^NAME = "(\w+)"$', text, re.MULTILINE)
        if name and "\nPARAMETERS = " in text:
            path = f"{PACKAGE.name}/{file}".removesuffix(".py")
            by_name[name[1]] = path.replace("/", ".")
    return by_name


def learners() -> dict[str, ModuleType]:
    """Return all learners of the package by name."""
    return {name: importlib.import_module(module) for name, module in modules().items()}
