"""Linear value functions as players: one for the arena, and whole games of two in one kernel."""

import numpy as np

from ...games.calls import call_over, call_play, call_player, call_score, call_start
from ...kernel.compile import kernel
from ...kernel.random import new_rng, random_float, seed_from
from .linear import NUM_FEATURES
from .linear_search import CHOSEN, NODES, Searcher, make_tree, search_state, way_of

RANGE = 10.0  # random weights lie between -RANGE and RANGE
LOSS, DRAW, WIN = range(3)


@kernel
def play_match(rules, tree, way, first, second, s, score, rng, counts):
    """Play one game between two weight vectors; add positions and actions to `counts` (int64[2]).

    Source: [mandziuk2004] Sec. 4 (test phase). Deviations: D6, D10.
    """
    call_start(rules, s, rng)
    while not call_over(rules, s):
        player = np.int64(call_player(rules, s))
        tree.found[NODES] = 0
        search_state(tree, way, first if player == 0 else second, player, s, rng)
        call_play(rules, s, tree.found[CHOSEN])
        counts[0] += tree.found[NODES]
        counts[1] += 1
    call_score(rules, s, score)


@kernel
def play_matches(rules, tree, way, weights, seat, opponents, s, score, rng, counts, results, plies):
    """Play one game against every row of `opponents`; write results and lengths in plies."""
    for k in range(opponents.shape[0]):
        first, second = (weights, opponents[k]) if seat == 0 else (opponents[k], weights)
        play_match(rules, tree, way, first, second, s, score, rng, counts)
        results[k] = DRAW if score[seat] == 0.0 else WIN if score[seat] > 0.0 else LOSS
        plies[k] = s[5]


def matches(net, opponents):
    """Play one game against each of some weight vectors, float64 [n, 22], that search as the net.

    Returns results (int8 [n]; 0 loss, 1 draw, 2 win), lengths in plies (int32 [n]), and how many
    positions were searched and actions made.
    """
    opponents = np.ascontiguousarray(opponents, np.float64)
    if opponents.ndim != 2 or opponents.shape[1] != NUM_FEATURES:
        raise ValueError(f"opponents are rows of {NUM_FEATURES} weights, not {opponents.shape}")
    found = np.zeros(len(opponents), np.int8), np.zeros(len(opponents), np.int32)
    counts, game = np.zeros(2, np.int64), net.game
    work = np.zeros(game.size, np.int32), np.zeros(2), new_rng(0), counts
    searching = game.rules, make_tree(net.depth), way_of(net)
    play_matches(*searching, net.weights, net.seat, opponents, *work, *found)
    return *found, int(counts[0]), int(counts[1])


def random_weights(num: int, *names) -> np.ndarray:
    """Return random weights, float64[num, 22], uniform in (-10, 10), that follow from names.

    Source: [mandziuk2004] Sec. 4.
    """
    rng = new_rng(seed_from("linear weights", *names))
    drawn = [random_float(rng) for _ in range(num * NUM_FEATURES)]
    return RANGE * (2.0 * np.array(drawn).reshape(num, NUM_FEATURES) - 1.0)


class Player:
    """A player who searches with a linear value function and takes the first best action."""

    name, version = "Linear", 1

    def __init__(self, net):
        self.net, self.searcher = net, Searcher(net)

    def new_match(self, game, actions, seat, seed):
        """Begin a match; raises ValueError in another game."""
        if game.identity != self.net.game.identity:
            raise ValueError(f"these weights are for {self.net.game!r}, not for {game!r}")

    def choose(self, state) -> int:
        """Return the first of the best actions."""
        return self.searcher.best(state)[1]

    def values(self, state) -> np.ndarray:
        """Return the mover's V of every legal action, float64[num_legal]."""
        return self.searcher.values(state)
