"""TD(lambda) for a linear value function with search, as [mandziuk2004] for give-away checkers.

A learner plays whole games against fixed opponents, in turn; all of them search to the same depth.
The value that it learns from is that of the search, V at the leaf of the principal variation; the
features are those of the position on the board. Its weights stay as they are during a game and
change after it: after a loss or a draw (LL, 3L), or always (LB).

Read :func:`training_game` and :func:`observe` with Eqs. (2) to (4) beside them.
"""

import time

import numpy as np

from ..files import data_directory
from ..games.calls import call_over, call_play, call_player, call_score, call_start
from ..games.game import check_game
from ..games.rules._checkers_board import bits_of
from ..kernel.compile import kernel
from ..networks.linear import (
    NUM_FEATURES,
    WON_VALUE,
    A,
    B,
    Linear,
    as_weights,
    features,
    product,
    value_of,
)
from ..players.linear_matches import DRAW, LOSS, WIN, random_weights
from ..search.linear_search import (
    CHOSEN,
    FIRST,
    LEAF_BLACK,
    LEAF_KINGS,
    LEAF_WHITE,
    NODES,
    RANDOM,
    Way,
    search_state,
    way_of,
)
from .parameters import check_parameters
from .session import check_episodes, next_chunk
from .td_search_learners import GROUP, read_learners
from .td_search_memory import (
    EPISODES,
    IN_A_ROW,
    MOVES,
    OPPONENT,
    PLIES,
    POSITIONS,
    UPDATES,
    make_memory,
)
from .td_search_parameters import DEFAULTS as DEFAULTS
from .td_search_parameters import PARAMETERS, compile_parameters, numbers_of_games, weight_vectors

NAME = "td_search"
VERSION = 1  # raise it when the numbers of a training change
NUMBERED_RUNS = True  # a Session takes the number of the run: which learner of which group it is

CHUNK_SECONDS = 0.2  # Ctrl-C comes between two chunks
FIRST_SEATS, ZEROS = 5, (0, 5)  # the first five learners move first; these two start with zeros


@kernel
def training_game(rules, way, par, mem, weights, opponents, results):
    """Play one game against the opponent whose turn it is, and learn from it.

    Source: [mandziuk2004] Sec. 3, Eqs. (2)-(4); Sec. 4. Deviations: D2, D3, D4, D7, D13.
    """
    count, s, tree, games = mem.counters, mem.state, mem.tree, mem.counters[EPISODES]
    row = np.int64(0)
    while row < par.until.shape[0] - 1 and games >= par.until[row]:
        row += 1
    decay, opponent = par.gamma * par.lambda_[row], opponents[count[OPPONENT]]
    mem.trace[:] = 0.0
    mem.change[:] = 0.0
    observed, fresh = 0, True  # fresh: a turn begins
    call_start(rules, s, mem.rng)
    while not call_over(rules, s):
        player, ply = np.int64(call_player(rules, s)), s[5]
        tree.found[NODES] = 0
        if player == par.seat:
            value = value_of(search_state(tree, way, weights, player, s, mem.rng))
            if fresh:  # a position between two jumps of one turn is not observed
                gradient(way, par, mem, weights, value, s)
                observe(par, mem, value, observed > 0, decay)
                observed += 1
        else:
            search_state(tree, way, opponent, player, s, mem.rng)
        count[POSITIONS] += tree.found[NODES]
        call_play(rules, s, tree.found[CHOSEN])
        fresh = s[5] > ply
        count[MOVES] += 1
    call_score(rules, s, mem.score)
    outcome = mem.score[par.seat]
    if observed > 0 and (par.always or outcome <= 0.0):
        finish(par, mem, outcome, weights, par.alpha[row])
        count[UPDATES] += 1
    results[games] = DRAW if outcome == 0.0 else WIN if outcome > 0.0 else LOSS
    count[PLIES] += s[5]
    count[EPISODES] += 1
    next_opponent(par, count, outcome < 0.0, opponents.shape[0])


@kernel
def gradient(way, par, mem, weights, value, s):
    """Write the gradient of V at the observed position, or at the leaf, into ``mem.phi``.

    Source: [mandziuk2004] Eq. (4). Deviations: D2, D3.
    """
    owner, white, black, kings = par.seat, bits_of(s[0]), bits_of(s[1]), bits_of(s[2])
    if par.at_leaf:
        node = mem.tree.node
        white, black, kings = node[0, LEAF_WHITE], node[0, LEAF_BLACK], node[0, LEAF_KINGS]
        if (
            abs(value) >= WON_VALUE
        ):  # the value of an end of the game does not depend on the weights
            mem.phi[:] = 0.0
            return
    features(way.kind, white, black, kings, owner, mem.tree.counts, mem.phi)
    if par.true_gradient:
        v = value_of(product(weights, mem.phi)) / A
        for k in range(NUM_FEATURES):
            mem.phi[k] *= A * B * (1.0 - v * v)
    for k in range(NUM_FEATURES):
        mem.phi[k] *= par.kept[k]


@kernel
def observe(par, mem, value, later, decay):
    """Add delta of the last position, as the next value is known, and go on with the eligibility.

    Source: [mandziuk2004] Eqs. (2) and (3), with e_t = sum over k <= t of (gamma lambda)^(t-k)
    phi(s_k). Deviations: D4.
    """
    delta = par.gamma * value - mem.last[0]
    for k in range(NUM_FEATURES):
        if later:
            mem.change[k] += delta * mem.trace[k]
        mem.trace[k] = decay * mem.trace[k] + mem.phi[k]
    mem.last[0] = value


@kernel
def finish(par, mem, outcome, weights, alpha):
    """Change the weights after a game, whose final value is 100, 0 or -100.

    Source: [mandziuk2004] Eq. (2). Deviations: D4.
    """
    delta = par.gamma * WON_VALUE * outcome - mem.last[0]
    for k in range(NUM_FEATURES):
        mem.change[k] += delta * mem.trace[k]
        weights[k] += alpha * mem.change[k]


@kernel
def next_opponent(par, count, lost, num):
    """Go on to the next opponent, unless 3L insists on the one that has just won.

    Source: [mandziuk2004] Sec. 4, 5. Deviations: D13.
    """
    count[IN_A_ROW] += 1
    if par.insist and lost and count[IN_A_ROW] < 3:
        return
    count[OPPONENT], count[IN_A_ROW] = (count[OPPONENT] + 1) % num, 0


@kernel
def _train(rules, way, par, mem, weights, opponents, results, num_games):
    for _ in range(num_games):
        training_game(rules, way, par, mem, weights, opponents, results)


class Session:
    """One training run: a learner's weight vector and its opponents.

    ``train(a)`` followed by ``train(b)`` gives the same bits as ``train(a + b)``, also across a
    checkpoint.

    Parameters
    ----------
    game : Game
        ``giveaway`` or ``checkers``.
    params : dict
        Any of ``PARAMETERS``; ``DEFAULTS`` holds the rest.
    seed : int
        For random ties only: initial weights and opponents depend on `pool` and `run`, so that arms
        differ in nothing else.
    run : int
        Learner ``run % 10`` of group ``run // 10``; learners 0 to 4 move first, learners 0 and 5
        start with zeros.

    Raises
    ------
    ValueError
        If a parameter is unknown or out of its range, or the game has other rules.

    Source: [mandziuk2004] Sec. 3, 4. Deviations: see data/papers/mandziuk2004.yaml.

    Examples
    --------
    >>> from afterstate import games
    >>> from afterstate.learners import td_search
    >>> session = td_search.Session(games.load("giveaway"), {"depth": 1}, run=1)
    >>> session.train(25)
    >>> session.episode, len(session.net.results)
    (25, 25)
    """

    version = VERSION

    def __init__(self, game, params: dict, seed: int = 0, run: int = 0):
        check_game(game)
        self.params = check_parameters(PARAMETERS, params)
        self.snapshots = numbers_of_games(self.params["snapshots"])
        self.game, self.run = game, check_episodes(run)
        self.group, self.learner = divmod(self.run, GROUP)
        self._drawn = (self.params["pool"], self.group)  # what all random vectors depend on
        seat = int(self.learner >= FIRST_SEATS)
        self.net = Linear(
            game, self.params["features"], seat, self.params["depth"], self.params["quiescence"]
        )
        self.par = compile_parameters(self.params, seat)
        self.net.weights[:] = self._initial_weights() * self.par.kept
        self.net.run = self.run
        self.opponents = self._make_opponents()
        self.way: Way = way_of(self.net, FIRST if self.params["ties"] == "first" else RANDOM)
        self.mem = make_memory(game, self.params["depth"], seed)
        self.mem.counters[OPPONENT] = 1 % len(self.opponents)  # game i: opponent (i mod 25) + 1
        self._results = np.zeros(64, np.int8)

    def _initial_weights(self):
        """Zeros, random ones, or those after the random phase.

        Source: [mandziuk2004] Sec. 4, 4.3. Deviations: D5, D8.
        """
        if self.params["start"] == "continued":
            return as_weights(self._learners[self.params["method"]][self.run])
        return (
            0.0
            if self.learner in ZEROS
            else random_weights(1, *self._drawn, "learner", self.learner)[0]
        )

    def _make_opponents(self):
        """Return the fixed opponents, float64[n, 22].

        Source: [mandziuk2004] Sec. 4, 4.3. Deviations: D8.
        """
        kind = self.params["opponents"]
        if kind == "random":
            return random_weights(
                self.params["num_opponents"], *self._drawn, "opponents", self.learner
            )
        if kind != "strong":
            return weight_vectors(kind)
        group = slice(GROUP * self.group, GROUP * (self.group + 1))
        trained = [self._learners[method][group] for method in ("LL", "LB")]
        return np.concatenate(
            [
                *trained,
                random_weights(self.params["extra_opponents"], *self._drawn, "strong opponents"),
            ]
        )

    @property
    def _learners(self) -> dict:
        if not self.params["learners"]:
            raise ValueError(
                "opponents='strong' and start='continued' need the vectors of the random phase: "
                "give learners, the name of their file"
            )
        return read_learners(data_directory() / self.params["learners"], self)

    def train(self, num_episodes: int) -> None:
        """Play and learn `num_episodes` games; Ctrl-C stops between two of them."""
        goal, chunk = self.episode + check_episodes(num_episodes), 1
        while self.episode < goal:
            began = time.perf_counter()
            stop = min(
                [self.episode + chunk, goal] + [e for e in self.snapshots if e > self.episode]
            )
            self.net.trainings += 1
            self._play_until(stop)
            if stop in self.snapshots:
                self.net.snapshots[stop] = self.net.weights.copy()
            chunk = next_chunk(chunk, time.perf_counter() - began, CHUNK_SECONDS)

    def _play_until(self, episode):
        if len(self._results) < episode:
            self._results = np.concatenate(
                [self._results, np.zeros(max(episode, len(self._results)), np.int8)]
            )
        work = (self.mem, self.net.weights, self.opponents, self._results)
        _train(self.game.rules, self.way, self.par, *work, episode - self.episode)
        self.net.results = self._results[:episode]
        if not np.isfinite(self.net.weights).all():
            raise FloatingPointError(
                f"the weights have diverged before game {episode}: lower alpha in "
                f"schedule={self.params['schedule']!r}"
            )

    @property
    def episode(self) -> int:
        """Games played so far."""
        return int(self.mem.counters[EPISODES])

    @property
    def moves(self) -> int:
        """Actions made so far, by both sides, over all games."""
        return int(self.mem.counters[MOVES])

    def statistics(self) -> dict:
        """Return counts of the run so far, its results, and its present weights."""
        won, drawn = (int((self.net.results == kind).sum()) for kind in (WIN, DRAW))
        names = {
            "episodes": EPISODES,
            "moves": MOVES,
            "plies": PLIES,
            "positions": POSITIONS,
            "updates": UPDATES,
        }
        counts = {name: int(self.mem.counters[k]) for name, k in names.items()}
        return {
            **counts,
            "won": won,
            "drawn": drawn,
            "learner": self.learner,
            "group": self.group,
            "weights": self.net.weights.tolist(),
        }

    def state_dict(self) -> dict:
        """Return all arrays that a checkpoint needs (not copies).

        The results grow with the games played.
        """
        kept = sorted(self.net.snapshots.items())
        return {
            "weights": self.net.weights,
            "rng": self.mem.rng,
            "counters": self.mem.counters,
            "results": self._results[: self.episode],
            "snapshot_episodes": np.array([e for e, _ in kept], np.int64),
            "snapshot_weights": (
                np.array([w for _, w in kept], np.float64).reshape(-1, NUM_FEATURES)
            ),
        }

    def load_state_dict(self, arrays: dict) -> None:
        """Take over the arrays of a checkpoint; raises ValueError if they do not fit this run."""
        own = self.state_dict()
        arrays = {name: arrays[name] for name in own if name in arrays}
        for name, array in own.items():
            found = arrays.get(name)
            grows = name in ("results", "snapshot_episodes", "snapshot_weights")
            if (
                found is None
                or found.dtype != array.dtype
                or found.shape[grows:] != array.shape[grows:]
            ):
                raise ValueError(
                    f"the checkpoint does not fit this run: its array {name!r} should be "
                    f"{array.dtype}{list(array.shape)}"
                )
        kept = arrays["snapshot_episodes"].tolist()
        games = int(arrays["counters"][EPISODES])
        whole_runs = len(arrays["results"]) == games and len(kept) == len(
            arrays["snapshot_weights"]
        )
        if (
            not whole_runs
            or not set(kept) <= set(self.snapshots)
            or not 0 <= arrays["counters"][OPPONENT] < len(self.opponents)
        ):
            raise ValueError(
                "the checkpoint does not fit this run: its results or snapshots are not those "
                "that this run keeps"
            )
        for name in ("weights", "rng", "counters"):
            own[name][...] = arrays[name]
        self._results = arrays["results"].copy()
        self.net.results = self._results
        self.net.snapshots = {
            e: w.copy() for e, w in zip(kept, arrays["snapshot_weights"], strict=True)
        }
