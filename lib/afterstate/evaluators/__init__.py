"""What is measured of a trained network, by game or by paper.

The contract. An evaluator is an object, or a plain function with a name, that is called with
``(game, agent, seed)`` and returns ``{metric: finite number}``. The agent is a network or a
training session, for evaluators that play matches also a player. The same arguments give the same
numbers, in whatever process. It may have more, and :class:`base.Evaluator` has defaults::

    name, version       part of the keys of records; version is raised when the numbers change
    settings            a dictionary, and the dataclass fields: the rest of the keys
    heavy               True: never called in the process that trains
    short()             a cheaper evaluation of the same kind, the probe of a record
    extent(game)        how much is played, to scale what the short version costs
    lacks()             what is missing here to measure, with the remedy, or ""
    cpu_seconds()       CPU time of the processes that it started

``tests/evaluators/test_contract.py`` tries the contract on every evaluator of the package, and
finds the identity of those that the notebooks use in the records.
"""

from .matches import NIM, NIM3P, NIM3P_MCTS, TICTACTOE, Matches

__all__ = ["NIM", "NIM3P", "NIM3P_MCTS", "TICTACTOE", "Matches"]
