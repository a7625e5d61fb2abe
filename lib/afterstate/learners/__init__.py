"""Learners: one module each, and what they share.

The contract. A learner is a module (or a class, such as one in a notebook's cell) with::

    NAME, VERSION              part of the keys of records; VERSION is raised when numbers change
    PARAMETERS                 one table, name -> kind, default, range and meaning (``parameters``)
    DEFAULTS                   ``parameters.defaults(PARAMETERS)``
    Session(game, params, seed=0)   one training run; raises if a parameter is out of its range

and a session, from whose seed everything random derives, has::

    net                        what is learned: a network or a table (see ``networks``)
    episode, moves             how many were played
    train(num_episodes)        train(a) and train(b) give the same bits as train(a + b)
    statistics() -> dict       numbers that a record keeps
    state_dict() -> dict       name -> array, all that a checkpoint needs
    load_state_dict(arrays)    go on from there with the same bits; ValueError if they do not fit

``conformance.check(learner)`` tries the contract before anything is trained, and names what is
missing and the remedy. ``all_learners.learners()`` finds the modules that come with the package.
"""
