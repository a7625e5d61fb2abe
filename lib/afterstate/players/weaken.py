"""Ways to weaken a trained table of action values.

Every way has a *dial* from 0 (knows nothing) to 1 (the table as it was trained)::

    snapshots     the table after the share `dial` of its training games, as [jamieson2022] does it
    log snapshots the table after n ** dial games: a step of the dial multiplies the games
    careless      a random move with probability 1 - dial, else a best one
    softmax       moves with probability exp(Q / T), T = spread of Q * (1 - dial) / dial
    noise         Gaussian noise is added to every value, once; its deviation is that same T
    forgotten     every entry is forgotten with probability 1 - dial, once

The first two need a training, the others change a finished table; "spread" is the standard
deviation of its values. Noise and forgetting make players that repeat the same mistakes,
carelessness and softmax make others every time. How strong the players are:
:mod:`afterstate.arena.rating_pool`.
"""

import numpy as np

from ..checks import fraction, one_of, whole
from ..networks.table import QTable
from .agents import Agent, chance, learned
from .checks import q_table

METHODS = ("snapshots", "log snapshots", "careless", "softmax", "noise", "forgotten")
DIALS = tuple(k / 10 for k in range(11))


def spread(net: QTable) -> float:
    """Return the standard deviation of all values in a table (1 if there are none)."""
    return float(net.table.q[: net.entries].std()) or 1.0 if net.entries else 1.0


def temperature(net: QTable, dial: float) -> float:
    """Return the softmax temperature, or deviation of the noise, of a dial.

    It is 0 at the dial 1 and infinite at 0.
    """
    return np.inf if dial == 0.0 else spread(net) * (1.0 - dial) / dial


def milestones(n: int, dials=DIALS) -> list[int]:
    """Return the training games after which a table must be kept, for both kinds of snapshots."""
    whole("the number of training games", n)
    return sorted(
        {
            games
            for dial in dials
            if fraction("a dial", dial) > 0
            for games in (_games_at(n, dial, "snapshots"), _games_at(n, dial, "log snapshots"))
        }
    )


def _games_at(n, dial, method) -> int:
    return max(1, round(n * dial if method == "snapshots" else n**dial))


def with_values(net: QTable, q) -> QTable:
    """Return a table with other values, float64[entries]; the rest is the memory of `net`."""
    other = QTable(net.game, net.owner, net.table.initial, net.ties)
    other.table, other.episode, other.teacher = (
        net.table._replace(q=np.ascontiguousarray(q, np.float64)),
        net.episode,
        net.teacher,
    )
    return other


def noisy(net: QTable, dial: float, seed: int = 0) -> QTable:
    """Return the table with noise on every entry.

    The same noise, scaled, for all dials of a seed (at 0: nothing but noise).
    """
    noise = np.random.default_rng(seed).standard_normal(net.entries)
    return with_values(
        net, noise if dial == 0.0 else net.table.q[: net.entries] + temperature(net, dial) * noise
    )


def forgetful(net: QTable, dial: float, seed: int = 0) -> QTable:
    """Return the table with entries forgotten (0, as if never tried).

    A lower dial of the same seed forgets more of the same.
    """
    kept = np.random.default_rng(seed).random(net.entries) < dial
    return with_values(net, np.where(kept, net.table.q[: net.entries], 0.0))


def weakened(net: QTable, method: str, dial: float, seed: int = 0, n: int | None = None) -> Agent:
    """Return a weaker player made from a trained table.

    Parameters
    ----------
    net : QTable
    method : str
        One of ``METHODS``, as the head of this file explains them.
    dial : float, in [0, 1]
        1 = as it was trained.
    seed : int
        Of noise and forgetting.
    n : int, optional
        Training games of the full table (default: as many as it has seen), for snapshots.

    Raises
    ------
    ValueError
        If there is no such method, or the dial is outside 0 and 1.
    LookupError
        If a snapshot was not kept.

    Source: [jamieson2022] Sec. "Snapshots for Creating Lower Quality Agents" (snapshots); the
    others are this study's own.

    Examples
    --------
    >>> from afterstate import games
    >>> from afterstate.learners import tabular
    >>> from afterstate.players import weaken
    >>> from afterstate.arena.contest import contest
    >>> game = games.load("tictactoe")
    >>> session = tabular.Session(game, {}, seed=1)
    >>> session.train(2000)
    >>> weak, full = (weaken.weakened(session.net, "softmax", dial) for dial in (0.3, 1.0))
    >>> contest(game, full, weak, games=1000).wins > 500
    True
    """
    q_table(net), one_of("the way to weaken", method, METHODS), whole("seed", seed, 0)
    dial = fraction("the dial, from 0 (knows nothing) to 1 (as it was trained),", dial)
    if n is not None:
        whole("n, the training games of the full table,", n, 0)
    if dial == 1.0 and n in (None, net.episode):
        return learned(net)
    if method in ("snapshots", "log snapshots"):
        n = net.episode if n is None else n
        return (
            chance(net.game) if dial == 0.0 else learned(net.snapshot(_games_at(n, dial, method)))
        )
    net = net if n is None else net.snapshot(n)
    if method == "careless":
        return learned(net, epsilon=1.0 - dial)
    if method == "softmax":
        return learned(net, temperature=temperature(net, dial))
    return learned((noisy if method == "noise" else forgetful)(net, dial, seed))
