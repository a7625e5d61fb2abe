"""TD(lambda) for a linear value function with search, as [mandziuk2004] for give-away checkers.

A learner plays whole games against fixed opponents, in turn; all of them search to the same depth.
The value that it learns from is that of the search, V at the leaf of the principal variation; the
features are those of the position on the board. Its weights change after a loss or a draw (LL, 3L),
or after every game (LB).

Read :func:`training_game` and :func:`observe` with Eqs. (2) to (4) beside them.
"""

import contextlib
import json
from collections import namedtuple

import numpy as np

from ....checks import whole as check_whole
from ....files import data_directory, file_digest, read_npz, write_npz
from ....games.calls import allocate, call_over, call_play, call_player, call_score, call_start
from ....games.rules.giveaway import bits_of
from ....kernel.compile import kernel
from ....kernel.random import new_rng
from ....learners import parameters
from ....learners.parameters import choice, number, other, switch, whole, whole_numbers
from ....learners.session import EPISODES, MOVES, BaseSession
from . import linear, linear_search
from .linear import NUM_FEATURES, WON_VALUE, A, B, Linear, as_weights, features, product, value_of
from .linear_search import CHOSEN, DRAW, LEAF_WHITE, NODES, WIN, random_weights, result_of, search

NAME = "td_search"
VERSION = 1  # raise it when the numbers of a training change
NUMBERED_RUNS = True  # a Session takes the number of the run: which learner of which group it is

GROUP = 10  # learners
FIRST_SEATS = 5  # the first five of a group move first
ZEROS = (0, 5)  # these two of a group start with zero weights
POSITIONS, UPDATES, OPPONENT, IN_A_ROW, PLIES = range(2, 7)  # more counters

PARAMETERS = {
    "features": choice(
        linear.FEATURE_SETS, "22 differences, or two sets with counts of both sides"
    ),
    "without": whole_numbers([], "features, from 1, whose weights stay 0", 1, NUM_FEATURES),
    "depth": whole(4, "look-ahead of all players, in turns", 1, linear.MAX_DEPTH),
    "method": choice(("LL", "LB", "3L"), "learn on loss or draw; always; LL, winners come back"),
    "schedule": other(
        [[2500, 1e-4, 0.95], [5000, 2e-5, 0.7], [7500, 1e-5, 0.5], [10000, 5e-6, 0.2]],
        "rows [last game, alpha, lambda]; the last row holds for all later games",
    ),
    "gamma": number(1.0, "discount factor", 0.0, 1.0),
    "num_opponents": whole(25, "fixed opponents of a learner, when they are random", 1),
    "opponents": other("random", "or 'strong': a group after the random phase, and random ones"),
    "learners": other(
        "",
        "file, in the data directory, of all learners after the random phase",
        content=lambda name: file_digest(data_directory() / name) if name else None,
    ),
    "extra_opponents": whole(5, "random vectors among strong opponents", 0),
    "pool": whole(0, "number of the pool that random vectors come from", 0),
    "snapshots": whole_numbers([], "games after which the weights are kept", 1),
    # deviations: the points where the text is silent, see data/papers/mandziuk2004.yaml
    "start": choice(("new", "continued"), "zero or random weights, or those of the random phase"),
    "gradient": choice(("printed", "true"), "phi, as Eq. (4) has it, or the derivative of Eq. (1)"),
    "features_at": choice(("root", "leaf"), "whose features learn: the board's, the leaf's"),
    "quiescence": switch(False, "whether searches go on while there are captures"),
    "ties": choice(("first", "random"), "which of equally good actions is played"),
}
DEFAULTS = parameters.defaults(PARAMETERS)
# until, alpha, lambda_ [rows]: the schedule; kept [22]: 0.0 for a feature left out, else 1.0
DERIVED = ("until", "alpha", "lambda_", "kept", "seat")
Par = namedtuple("Par", [*parameters.kernel_values(PARAMETERS, DEFAULTS), *DERIVED])
# what may differ between learners of the random phase in one file
PHASE = ("method", "opponents", "learners", "extra_opponents", "snapshots", "start", "without")

MEMORY = {
    "rng": ("uint64", 1),
    "counters": ("int64", 7),
    "state": ("int32", "size"),
    "score": ("float64", 2),
    "phi": ("float64", NUM_FEATURES),  # gradient of the value of the present position
    "trace": ("float64", NUM_FEATURES),  # eligibility e_t
    "change": ("float64", NUM_FEATURES),  # sum of delta_t e_t over the game
    "last": ("float64", 1),  # value of the learner's last position
}
Memory = namedtuple("Memory", ["tree", *MEMORY])


@kernel
def training_game(rules, way, par, mem, weights, opponents, results):
    """Play a game and learn. Source: [mandziuk2004] Eqs. (2)-(4). Deviations: D4, D7, D13."""
    count = mem.counters
    s = mem.state
    tree = mem.tree
    games = count[EPISODES]
    row = np.int64(0)
    while row < par.until.shape[0] - 1 and games >= par.until[row]:
        row += 1
    decay = par.gamma * par.lambda_[row]
    opponent = opponents[count[OPPONENT]]
    mem.trace[:] = 0.0
    mem.change[:] = 0.0
    observed = 0  # positions of the learner
    fresh = True  # a turn begins
    call_start(rules, s, mem.rng)
    while not call_over(rules, s):
        player = np.int64(call_player(rules, s))
        ply = s[5]
        if player == par.seat:
            value = value_of(search(tree, way, weights, player, s, mem.rng))
            if fresh:  # a position between two jumps of one turn is not observed
                gradient(way, par, mem, weights, value, s)
                observe(par, mem, value, observed > 0, decay)
                observed += 1
        else:
            search(tree, way, opponent, player, s, mem.rng)
        count[POSITIONS] += tree.found[NODES]
        call_play(rules, s, tree.found[CHOSEN])
        fresh = s[5] > ply
        count[MOVES] += 1
    call_score(rules, s, mem.score)
    outcome = mem.score[par.seat]
    if observed > 0 and (par.method_lb or outcome <= 0.0):
        finish(par, mem, outcome, weights, par.alpha[row])
        count[UPDATES] += 1
    results[games] = result_of(outcome)
    count[PLIES] += s[5]
    count[EPISODES] += 1
    count[IN_A_ROW] += 1
    # 3L insists on an opponent that has just won, up to three times (D13)
    if not par.method_3l or outcome >= 0.0 or count[IN_A_ROW] >= 3:
        count[OPPONENT] = (count[OPPONENT] + 1) % opponents.shape[0]
        count[IN_A_ROW] = 0


@kernel
def gradient(way, par, mem, weights, value, s):
    """Write V's gradient to ``mem.phi``. Source: [mandziuk2004] Eq. (4). Deviations: D2, D3."""
    white, black, kings = bits_of(s[0]), bits_of(s[1]), bits_of(s[2])
    if par.features_at_leaf:
        leaf = mem.tree.node[0, LEAF_WHITE:]
        white, black, kings = leaf[0], leaf[1], leaf[2]
        if abs(value) >= WON_VALUE:  # the end of a game does not depend on the weights
            mem.phi[:] = 0.0
            return
    features(way.kind, white, black, kings, par.seat, mem.tree.counts, mem.phi)
    if par.gradient_true:
        v = value_of(product(weights, mem.phi)) / A
        for k in range(NUM_FEATURES):
            mem.phi[k] *= A * B * (1.0 - v * v)
    for k in range(NUM_FEATURES):
        mem.phi[k] *= par.kept[k]


@kernel
def observe(par, mem, value, later, decay):
    """Add delta of the last position, and go on. Source: [mandziuk2004] Eqs. (2), (3)."""
    # e_t = sum over k <= t of (gamma lambda)^(t-k) phi(s_k)
    delta = par.gamma * value - mem.last[0]
    for k in range(NUM_FEATURES):
        if later:
            mem.change[k] += delta * mem.trace[k]
        mem.trace[k] = decay * mem.trace[k] + mem.phi[k]
    mem.last[0] = value


@kernel
def finish(par, mem, outcome, weights, alpha):
    """Change the weights after a game. Source: [mandziuk2004] Eq. (2). Deviations: D4."""
    delta = par.gamma * WON_VALUE * outcome - mem.last[0]
    for k in range(NUM_FEATURES):
        mem.change[k] += delta * mem.trace[k]
        weights[k] += alpha * mem.change[k]


@kernel
def _train(rules, way, par, mem, weights, opponents, results, num_games):
    """Play some training games."""
    for _ in range(num_games):
        training_game(rules, way, par, mem, weights, opponents, results)


class Session(BaseSession):
    """One training run, of a learner's weight vector: see :class:`BaseSession`.

    The game is ``giveaway`` or ``checkers``; `run` is the number of the learner: ``run % 10`` in
    group ``run // 10``. Initial weights and opponents depend on `pool` and `run` only, random ties
    on `seed`.

    Source: [mandziuk2004] Sec. 3, 4. Deviations: see data/papers/mandziuk2004.yaml.
    """

    parameters = PARAMETERS
    growing = ("results", "snapshot_episodes", "snapshot_weights")

    def __init__(self, game, params: dict | None = None, seed: int = 0, run: int = 0, **changed):
        super().__init__(game, params, seed, **changed)
        params = self.params
        self.snapshots = params["snapshots"]
        self.run = check_whole("run", run, 0)
        self.group, self.learner = divmod(self.run, GROUP)
        seat = int(self.learner >= FIRST_SEATS)
        self.net = Linear(game, params["features"], seat, params["depth"], params["quiescence"])
        self.net.run = self.run
        self.par = self._kernel_parameters(seat)
        self.net.weights[:] = self._initial_weights() * self.par.kept
        self.opponents = self._make_opponents()
        root = linear_search.FIRST if self.par.ties_first else linear_search.RANDOM
        tree, self.way = linear_search.searching(self.net, root)
        self.mem = Memory(tree, **allocate(MEMORY, game) | {"rng": new_rng(seed)})
        self.counters = self.mem.counters
        self.counters[OPPONENT] = 1 % len(self.opponents)  # game i: opponent (i mod 25) + 1
        self._results = np.zeros(64, np.int8)

    def _kernel_parameters(self, seat):
        """Return the parameters as kernels take them."""
        kept = np.ones(NUM_FEATURES)
        for feature in self.params["without"]:
            kept[feature - 1] = 0.0
        until, alpha, lambda_ = read_schedule(self.params["schedule"])
        return Par(
            **parameters.kernel_values(PARAMETERS, self.params),
            until=until,
            alpha=alpha,
            lambda_=lambda_,
            kept=kept,
            seat=seat,
        )

    def _draw(self, num, *names):
        """Return random weights of this group, float64 [num, 22], that follow from the names."""
        return random_weights(num, self.params["pool"], self.group, *names)

    def _initial_weights(self):  # D5, D8
        """Return the weights before the first game, float64 [22] or 0.0."""
        if self.par.start_continued:
            vectors = self._learners()[self.params["method"]]
            return as_weights(vectors[self.run])
        if self.learner in ZEROS:
            return 0.0
        return self._draw(1, "learner", self.learner)[0]

    def _make_opponents(self):  # D8
        """Return the weights of the opponents, float64 [opponents, 22]."""
        kind = self.params["opponents"]
        if kind == "random":
            return self._draw(self.params["num_opponents"], "opponents", self.learner)
        if kind == "strong":
            learners = self._learners()
            of_group = slice(GROUP * self.group, GROUP * (self.group + 1))
            random_ones = self._draw(self.params["extra_opponents"], "strong opponents")
            return np.concatenate([learners["LL"][of_group], learners["LB"][of_group], random_ones])
        raise ValueError(f"opponents={kind!r} must be 'random' or 'strong'")

    def _learners(self) -> dict:
        """Return the vectors after the random phase, by method, or raise ValueError."""
        if not self.params["learners"]:
            raise ValueError("this phase needs the vectors of the random phase: give learners=file")
        path = data_directory() / self.params["learners"]
        training, vectors = read_learners(path)
        for name, value in made_by(self).items():
            if training[name] != value:
                difference = f"{name}={training[name]!r}, not {value!r}"
                raise ValueError(
                    f"{path} holds learners with {difference}: train the random phase again"
                )
        method = self.params["method"]
        numbers = [len(vectors.get(name, ())) for name in ("LL", "LB", method)]
        if min(numbers) <= self.run or any(number % GROUP for number in numbers):
            needed = f"groups of LL, LB and {method}, among them run {self.run}"
            raise ValueError(f"{path} must hold {needed}")
        return vectors

    def play_until(self, episode: int) -> None:
        """Play and learn until `episode` games have been played."""
        if len(self._results) < episode:
            self._results = np.concatenate([self._results, np.zeros(episode, np.int8)])
        _train(
            self.game.rules,
            self.way,
            self.par,
            self.mem,
            self.net.weights,
            self.opponents,
            self._results,
            episode - self.episode,
        )
        self.net.results = self._results[:episode]
        if not np.isfinite(self.net.weights).all():
            remedy = f"lower alpha in schedule={self.params['schedule']!r}"
            raise FloatingPointError(f"the weights have diverged before game {episode}: {remedy}")

    def statistics(self) -> dict:
        """Return counts of the run so far, its results, and its present weights."""
        counts = self.counters.tolist()
        results = self.net.results
        return {
            "episodes": self.episode,
            "moves": self.moves,
            "plies": counts[PLIES],
            "positions": counts[POSITIONS],
            "updates": counts[UPDATES],
            "won": int((results == WIN).sum()),
            "drawn": int((results == DRAW).sum()),
            "learner": self.learner,
            "group": self.group,
            "weights": self.net.weights.tolist(),
        }

    def state_dict(self) -> dict:
        """Return all arrays that a checkpoint needs (not copies)."""
        episodes = sorted(self.net.snapshots)
        snapshots = np.array([self.net.snapshots[episode] for episode in episodes], np.float64)
        return {
            "weights": self.net.weights,
            "rng": self.mem.rng,
            "counters": self.counters,
            "results": self._results[: self.episode],
            "snapshot_episodes": np.array(episodes, np.int64),
            "snapshot_weights": snapshots.reshape(-1, NUM_FEATURES),  # also if there is none
        }

    def load_growing(self, arrays: dict) -> None:
        """Take over results and snapshots; raises ValueError if they do not fit this run."""
        episodes = arrays["snapshot_episodes"].tolist()
        weights = arrays["snapshot_weights"]
        counters = arrays["counters"]
        fits = (
            len(arrays["results"]) == counters[EPISODES]
            and len(episodes) == len(weights)
            and set(episodes) <= set(self.snapshots)
            and 0 <= counters[OPPONENT] < len(self.opponents)
        )
        if not fits:
            raise ValueError("the checkpoint does not fit this run: other results or snapshots")
        self._results = arrays["results"].copy()
        self.net.results = self._results
        self.net.snapshots = {}
        for episode, weights_then in zip(episodes, weights):
            self.net.snapshots[episode] = weights_then.copy()


def read_schedule(rows) -> tuple:
    """Return last games (int64), alpha and lambda (float64) of a schedule's rows.

    Raises
    ------
    ValueError
        If a row is not [last game, alpha >= 0, lambda from 0 to 1], or the games do not grow.
    """
    with contextlib.suppress(TypeError, ValueError):
        until, alpha, lambda_ = np.array(rows, np.float64).T.copy()
        in_range = (alpha >= 0.0) & (lambda_ >= 0.0) & (lambda_ <= 1.0)
        if in_range.all() and (np.diff(until) > 0).all():
            return until.astype(np.int64), alpha, lambda_
    wanted = "rows [last game, alpha >= 0, lambda from 0 to 1], the games growing"
    raise ValueError(f"schedule={rows!r} must be {wanted}")


def write_learners(path, session, vectors: dict) -> None:
    """Write the vectors after the random phase, and what tells their training.

    Parameters
    ----------
    path : Path
        An ``.npz`` file.
    session : Session
        One with the parameters of the training.
    vectors : dict
        Method -> a weight vector of each run, float64 [runs, 22].
    """
    arrays = {}
    for method, rows in vectors.items():
        arrays[method] = np.array([as_weights(weights) for weights in rows])
    write_npz(path, {"kind": "learners", **made_by(session)}, arrays)


def read_learners(path) -> tuple[dict, dict]:
    """Return what :func:`write_learners` wrote: the training, and method -> float64 [runs, 22]."""
    if not path.exists():
        raise FileNotFoundError(f"no {path}: train the linear agents first (write_learners)")
    return read_npz(path)


def made_by(session) -> dict:
    """Return what the vectors of the random phase depend on, besides method and run, as JSON."""
    shared = {name: value for name, value in session.params.items() if name not in PHASE}
    training = {"version": VERSION, "game": session.game.identity, "parameters": shared}
    return json.loads(json.dumps(training))  # as it stands in a file: lists, no tuples
