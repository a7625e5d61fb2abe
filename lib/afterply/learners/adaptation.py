"""What TD-learning, SARSA and Q-learning with n-tuples share: traces, weight updates, sessions.

Each learner decides which value moves towards which target; how the weights then change is here.
"""

import math

import numpy as np

from ..games.calls import allocate, call_board, call_score, call_start, copy_into, start_from_scheme
from ..kernel.compile import kernel
from ..kernel.functions import exp, log, prefetch
from ..kernel.link import Linked
from ..kernel.random import new_rng
from ..networks import lookup
from ..networks.ntuple import Network, make_tuples
from .parameters import kernel_values
from .session import TRUNCATED, UPDATES, BaseSession

NOW = lookup.NOW  # row of the present state
LONGEST = 200_000  # moves of an episode that nobody limits; 2048 comes to some 50,000
# weights that are changed together: what they touch stays in the processor's nearest cache
BLOCK = np.uint64(128)

# fmt: off
# Arrays, name: (type, dimensions ...). Each player has a ring of trace_size + 1 entries, `ring` for
# short; the entry at `head` is s_last, not yet in the trace. A checkpoint holds these:
TRACES = {
    "rng":          ("uint64", 1),
    "counters":     ("int64", 4),                            # EPISODES, MOVES, UPDATES, TRUNCATED
    "abs_delta":    ("float64", 1),                          # sum of |delta| over all updates
    "entry":        ("uint32", "players", "ring", "features"),  # distinct indices, then repeated
    "num_distinct": ("int64", "players", "ring"),
    "num_boards":   ("int64", "players", "ring"),            # N_S
    "slope":        ("float64", "players", "ring"),          # sigma' at the first update
    "head":         ("int64", "players"),
    "length":       ("int64", "players"),                    # entries in the trace
}
SHARED = {  # and of the present episode, and working memory
    **TRACES,
    "has_last":     ("bool", "players"),                     # s_last is not null
    "last_random":  ("bool", "players"),                     # a random move made s_last
    "r_last":       ("float64", "players"),                  # cumulative reward at s_last
    "reward":       ("float64", "players"),                  # and now
    "moves":        ("int32", "max_legal"),
    "path":         ("int32", "path"),                      # actions to the start position
    "work":         ("uint32", 2, "features"),               # for `distinct_indices`
    "entry_weight": ("weights", "features"),                 # weights of one entry ...
    "net_change":   ("weights", "features"),                 # ... their counters N
    "abs_change":   ("weights", "features"),                 # ... and A
    "factor":       ("float64", "features"),                 # ... and their step size factors
}
# fmt: on


def trace_size(params: dict) -> int:
    """Return h + 1 = 1 + floor(log_lambda(cut)), the number of afterstates that an update reaches.

    Also check what must fit together for it: ValueError if the trace would have no end, if tc_init
    leaves |N|/A undefined, or if alpha is 0 but changes geometrically.

    Source: [konen2021] App. A.3; Alg. 7 (h).
    """
    lambda_ = params["lambda_"]
    cut = params["horizon_cut"]
    if 0.0 < lambda_ and (lambda_ >= 1.0 or cut <= 0.0):
        raise ValueError(f"{lambda_=} with horizon_cut={cut} needs an endless trace: lower lambda_")
    if params["tc"] != "none" and params["tc_init"] <= 0.0:
        raise ValueError(f"tc_init={params['tc_init']} must be above 0: it keeps |N|/A defined")
    if params["alpha_schedule"] == "geometric" and np.min(params["alpha"]) <= 0.0:
        raise ValueError(f"alpha={params['alpha']!r} cannot change geometrically: take it above 0")
    if lambda_ == 0.0:
        return 1
    # The small number keeps a quotient of logarithms that should be whole from being rounded down.
    horizon = math.floor(math.log(cut) / math.log(lambda_) + 1e-12)
    return 1 + horizon


@kernel
def schedules(par, episode):
    """Return alpha and epsilon. Source: [konen2021] Sec. 3. Deviations: D4, D29."""
    x = min(episode / par.episodes, 1.0)
    epsilon = par.epsilon_first + (par.epsilon_last - par.epsilon_first) * x
    if par.alpha_schedule_geometric and par.alpha_first > 0.0 and par.alpha_last > 0.0:
        return par.alpha_first * exp(x * log(par.alpha_last / par.alpha_first)), epsilon
    return par.alpha_first + (par.alpha_last - par.alpha_first) * x, epsilon


@kernel
def begin_episode(rules, net, par, mem, s):
    """Begin. Source: [konen2021] Alg. 2, lines 2-3; Alg. 5, line 2. Deviations: D5, D6."""
    if par.choose_start:
        start_from_scheme(rules, s, mem.moves, mem.rng, mem.path)
    else:
        call_start(rules, s, mem.rng)
    call_board(rules, s, mem.cells[NOW])
    lookup.features(net, mem.cells[NOW], mem.index[NOW])
    call_score(rules, s, mem.reward)
    copy_into(mem.r_last, mem.reward, rules.players)
    mem.has_last[:] = False
    if not par.trace_across_episodes:
        mem.length[:] = 0


@kernel
def skipped(par, mem, p, explored):
    """Return what T_lrnRM forbids. Source: [konen2021] Alg. 7, line 2; Table 2. Deviations: D7."""
    if par.learn_from_random:
        return False
    return mem.last_random[p] if par.random_move_rule_source else explored


@kernel
def adapt(net, par, mem, p, target, alpha):
    """Adapt V(s_last[p]) and the afterstates before, within the horizon, to `target`.

    Source: [konen2021] Alg. 2, lines 19-21; Alg. 7, lines 3-9; Eq. (3). Deviations: D5, D10, D13.
    """
    size, newest = par.trace_size + 1, mem.head[p]
    value = value_of_entry(net, mem, p, newest)
    delta = target - value
    mem.slope[p, newest] = lookup.sigma_slope(net, value)
    mem.length[p] = min(mem.length[p] + 1, par.trace_size)
    mem.abs_delta[0] += abs(delta)
    mem.counters[UPDATES] += 1
    decay = 1.0
    for k in range(mem.length[p]):
        element = (newest - k + size) % size
        step = alpha / (net.num_tuples * mem.num_boards[p, newest if par.newest_ns else element])
        recommended = delta * mem.slope[p, element] * decay
        change_weights(net, par, mem, p, element, k == 0, step, delta, recommended)
        decay *= par.lambda_
    mem.head[p] = (newest + 1) % size


@kernel
def change_weights(net, par, mem, p, element, looked_up, step, delta, recommended):
    """Change every weight that one trace element activates, once, by step * alpha_i * recommended.

    With temporal coherence, alpha_i = g(|N_i| / A_i); the counters add up the recommended change.
    Source: [konen2021] Alg. 7, line 8; Eq. (3) and Eq. (5); App. A.5. Deviations: D9, D11, D12.
    """
    base = np.uint64(p) * np.uint64(net.player_step)
    entry, weights, counters = mem.entry[p, element], net.weights, net.counters
    distinct = np.uint64(mem.num_distinct[p, element])
    if par.tc_none:
        for i in range(distinct):
            weights[base + entry[i]] += step * recommended
        return
    change = delta if par.tc_accumulate_delta else recommended
    weight, net_change, abs_change = mem.entry_weight, mem.net_change, mem.abs_change
    two = np.uint64(2)
    for first in range(np.uint64(0), distinct, BLOCK):
        end = min(first + BLOCK, distinct)
        # the first and the last loop keep many memory accesses under way, those between are
        # vector arithmetic
        for i in range(first, end):
            j = base + entry[i]
            if not looked_up:  # as `value_of_entry` has done for the newest one
                weight[i] = weights[j]
            net_change[i] = counters[two * j + lookup.NET_CHANGE]
            abs_change[i] = counters[two * j + lookup.ABS_CHANGE]
        coherence(par, net_change, abs_change, first, end, mem.factor)
        for i in range(first, end):
            weight[i] += step * recommended * mem.factor[i]
            net_change[i] += change
            abs_change[i] += abs(change)
        for i in range(first, end):
            j = base + entry[i]
            weights[j] = weight[i]
            counters[two * j + lookup.NET_CHANGE] = net_change[i]
            counters[two * j + lookup.ABS_CHANGE] = abs_change[i]
    if not par.inhibit_counters:
        for i in range(distinct, mem.num_boards[p, element] * net.num_tuples):
            j = base + entry[i]
            counters[two * j + lookup.NET_CHANGE] += change
            counters[two * j + lookup.ABS_CHANGE] += abs(change)


@kernel
def coherence(par, net_change, abs_change, first, end, factor):
    """Write step size factors: |N|/A, or g of it (TC-EXP). Source: [konen2021] Eq. (5)."""
    for i in range(first, end):
        net, total = np.float64(net_change[i]), np.float64(abs_change[i])
        factor[i] = abs(net) / total if total > 0.0 else 1.0
    if par.tc_exp:
        for i in range(first, end):
            factor[i] = exp(par.beta * (factor[i] - 1.0))


@kernel
def value_of_entry(net, mem, p, slot):
    """Return V of a remembered afterstate, whose repeated indices count as often as they occur."""
    n = mem.num_boards[p, slot] * net.num_tuples
    lookup.look_up(net, p, mem.entry[p, slot], n, mem.entry_weight)
    return lookup.sigma(net, lookup.sum_weights(mem.entry_weight, 0, n))


@kernel
def remember(net, mem, p, row, explored):
    """Make the afterstate in a row the player's s_last. Source: [konen2021] Alg. 2, line 10."""
    slot = mem.head[p]
    mem.num_boards[p, slot] = mem.ns[row]
    mem.num_distinct[p, slot] = lookup.distinct_indices(
        net, mem.index[row], mem.boards[row], mem.ns[row], mem.work, mem.entry[p, slot]
    )
    mem.has_last[p], mem.last_random[p] = True, explored
    # fetch what the update after the player's next move is going to change
    if net.counters.shape[0] > 0:
        base = np.uint64(p) * np.uint64(net.player_step)
        for i in range(mem.num_distinct[p, slot]):
            prefetch(net.counters, np.uint64(2) * (base + mem.entry[p, slot, i]))


class NetworkSession(BaseSession):
    """A training run of an n-tuple network.

    A learner that derives from it sets `parameters`, the attributes below, and in its constructor
    `mem`, the named tuple of the arrays that its kernel works with.
    """

    par_type = None  # the named tuple of parameters that kernels read
    run_episodes = None  # the kernel: rules, net, par, mem, num_episodes
    checkpoint = tuple(TRACES)  # the arrays of `mem` that one holds
    per_action = False  # whether the network has values of actions

    def __init__(self, game, params: dict | None = None, seed: int = 0, **changed):
        super().__init__(game, params, seed, **changed)
        self.rng = new_rng(seed)
        values = kernel_values(self.parameters, self.params)
        values["max_plies"] = self.params["max_plies"] or LONGEST
        self.par = self.par_type(**values, trace_size=trace_size(self.params))
        self.net = self._new_network()
        self._run = Linked(self.run_episodes, game)

    def _new_network(self) -> Network:
        """Return an untrained network, whose n-tuples may draw from the generator."""
        params = self.params
        has_counters = params["tc"] != "none"
        return Network(
            self.game,
            make_tuples(self.game, params["tuples"], self.rng),
            per_action=self.per_action,
            sigmoid=params["sigmoid"],
            distinct_symmetries=params["distinct_symmetries"],
            symmetries=params["symmetries"],
            shared_tables=params["shared_tables"],
            precision=params["precision"],
            weight_init=float(params["weight_init"]),
            promoted=params["promote_after"] == 0,
            tc_init=float(params["tc_init"]) if has_counters else 0.0,
        )

    def allocate(self, declared: dict, **sizes) -> dict:
        """Return the declared arrays of this training, all zero but the generator.

        `sizes` are dimensions that only one learner has.
        """
        net = self.net.arrays
        arrays = allocate(
            declared,
            self.game,
            features=len(net.offset),
            weights=net.weights.dtype,
            ring=self.par.trace_size + 1,
            path=max(1, self.game.rules.start_plies),
            symmetries=len(self.game.symmetries),
            **sizes,
        )
        return arrays | {"rng": self.rng}

    @property
    def counters(self) -> np.ndarray:
        """Episodes, moves, updates, truncated episodes: int64 [4]."""
        return self.mem.counters

    @property
    def limits(self) -> dict:
        """The range of the integers in each array of a checkpoint: name -> (first, end).

        Kernels use them as indices, and one that is out of range would write to foreign memory.
        """
        net = self.net.arrays
        ring = self.par.trace_size + 1
        num_features = len(net.offset)
        return BaseSession.limits | {
            "entry": (0, net.set_size),
            "action": (0, max(1, net.num_actions)),
            "num_boards": (0, len(net.symmetries) + 1),
            "head": (0, ring),
            "num_distinct": (0, num_features + 1),
            "num_different": (0, num_features + 1),
            "length": (0, ring),
        }

    def play_until(self, episode: int) -> None:
        """Play and learn until `episode` episodes have been played.

        FloatingPointError if the values diverge; RuntimeError if an episode does not end.
        """
        promotion = self.params["promote_after"]
        if self.episode < promotion < episode:
            self.play_until(promotion)
        if self.episode >= promotion:
            self.net.promote()
        truncated_before = self.counters[TRUNCATED]
        self._run(self.net.arrays, self.par, self.mem, episode - self.episode)
        if not math.isfinite(self.mem.abs_delta[0]):
            remedy = f"lower alpha={self.params['alpha']!r}, or use sigmoid=True"
            raise FloatingPointError(f"the values diverged before episode {self.episode}: {remedy}")
        has_limit = self.params["max_plies"] > 0
        if not has_limit and self.counters[TRUNCATED] > truncated_before:
            what = f"an episode of {self.game.name} did not end within {self.par.max_plies:,} moves"
            raise RuntimeError(f"{what}: give the learner max_plies, and it is truncated then")

    def statistics(self) -> dict:
        """Return counts so far, the mean absolute TD error, and shares of all players' weights."""
        num_updates = int(self.counters[UPDATES])
        statistics = {
            "episodes": self.episode,
            "moves": self.moves,
            "updates": num_updates,
            "truncated": int(self.counters[TRUNCATED]),
            "mean_abs_delta": float(self.mem.abs_delta[0]) / max(num_updates, 1),
            "active_weights": self.net.active(),
        }
        abs_changes = self.net.arrays.counters[lookup.ABS_CHANGE :: 2]
        if len(abs_changes):  # a weight whose counter A grew is touched
            first_value = abs_changes.dtype.type(self.params["tc_init"])
            num_touched = np.count_nonzero(abs_changes > first_value)
            statistics["touched_weights"] = float(num_touched / len(abs_changes))
        return statistics

    def load_state_dict(self, arrays: dict) -> None:
        """Take over a checkpoint: see :meth:`BaseSession.load_state_dict`."""
        super().load_state_dict(arrays)
        promotion = self.params["promote_after"]
        # A promotion takes place before the first episode after it, and again if that has not
        # been finished.
        self.net.promoted = promotion == 0 or self.episode > promotion

    def state_dict(self) -> dict:
        """Return all arrays that a checkpoint needs (not copies)."""
        net = self.net.arrays
        arrays = {"weights": net.weights, "tc_counters": net.counters.reshape(-1, 2)}
        for name in self.checkpoint:
            arrays[name] = getattr(self.mem, name)
        return arrays
