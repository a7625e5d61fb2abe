"""Monte Carlo tree search (UCT) for any number of players, with or without chance.

Every iteration goes down a tree by upper confidence bounds, adds one node, and plays on at random.
Rewards are scaled to [0, 1] and kept for every player. A node owns a block of neighbouring slots,
one per legal action, made when the search passes through it for the second time. The slots that
were tried come first. In a game of chance a slot stands for an afterstate. The next states drawn
from it form a linked list, in which their keys find them again::

    deterministic    node --block--> node node node ...
    with chance      node --block--> slot slot slot ...     slot --list--> node -> node -> ...

States are not stored: every iteration plays down from a copy of the root.
"""

import sys
from collections import namedtuple
from typing import NamedTuple

import numpy as np

from ..checks import number, whole
from ..games import calls
from ..games.game import check_game
from ..kernel.compile import kernel
from ..kernel.functions import log
from ..kernel.link import Linked
from ..kernel.random import new_rng, random_int
from ..processes import PerThread, memory

__all__ = ["SearchResult", "search"]

MAX_ITERATIONS = 10_000_000
FIRST_ITERATIONS = 10_000  # for which a new tree has room; it grows
UNLIMITED = 2**31 - 1
LOG_ENTRIES = 1 << 16  # visit counts whose logarithm is looked up; of greater ones it is computed
CHUNK = 1000  # iterations after which Ctrl-C can interrupt
ROOT = 0
NONE = -1  # no child, no further outcome
TERMINAL = -1  # `player` of a node where the game is over
TINY = 1e-6  # added to a visit count under the fraction bar, as the original does

# fmt: off
TREE = {
    "action":       ("int32", "slots"),               # that leads here
    "mover":        ("int32", "slots"),               # player who made it
    "player":       ("int32", "slots"),               # player to move here, or TERMINAL
    "first":        ("int32", "slots"),               # first child, latest outcome, or NONE
    "num_children": ("int32", "slots"),               # legal actions
    "num_tried":    ("int32", "slots"),               # of these, visited; first in the block
    "visits":       ("int32", "slots"),
    "sums":         ("float64", "slots", "players"),  # scaled rewards of all visits
    "mean":         ("float64", "slots"),             # of the mover: sums / visits
    "spread":       ("float64", "slots"),             # 1 / sqrt(visits + TINY)
    "sibling":      ("int32", "outcomes"),            # next outcome of an afterstate, or NONE
    "keys":         ("uint64", "outcomes", 2),        # of an outcome
    "row":          ("int32", "slots"),               # of an opened node in `states`
    "states":       ("int32", "opened", "size"),      # of opened nodes, without chance
    "used":         ("int64", 2),                     # slots and rows in use
}
WORK = {
    "root":         ("int32", "size"),
    "state":        ("int32", "size"),
    "moves":        ("int32", "max_legal"),
    "path":         ("int32", "path"),                # slots from the root to the newest node
    "reward":       ("float64", "players"),
    "key":          ("uint64", 2),
    "roots":        ("float64", "entries"),           # sqrt(ln(n + 1))
    "spreads":      ("float64", "entries"),           # 1 / sqrt(n + TINY)
}
# fmt: on
Tree = namedtuple("Tree", TREE)
Work = namedtuple("Work", WORK)
# A reward r counts as (r - low) * scale.
Limits = namedtuple("Limits", "k tree_depth rollout_depth low scale")


@kernel
def clear(tree, slot, mover):
    """Make a slot an unvisited node without children."""
    tree.mover[slot] = mover
    tree.first[slot] = NONE
    tree.num_children[slot] = tree.num_tried[slot] = tree.visits[slot] = 0
    for p in range(tree.sums.shape[1]):
        tree.sums[slot, p] = 0.0


@kernel
def enter(rules, tree, node, s):
    """Note who is to move at a new node with state `s`."""
    tree.player[node] = TERMINAL if calls.call_over(rules, s) else calls.call_player(rules, s)


@kernel
def open_block(rules, tree, work, node):
    """Give a node its block of children; only their actions are written."""
    n = calls.call_legal(rules, work.state, work.moves)
    if n == 0:  # the rules leave nobody a move
        tree.player[node] = TERMINAL
        return
    first = tree.used[0]
    calls.copy_into(tree.action[first:], work.moves, n)
    tree.first[node] = first
    tree.num_children[node] = n
    tree.used[0] = first + n
    if rules.chance == 0:
        row = tree.used[1]
        tree.row[node], tree.used[1] = row, row + 1
        calls.copy_into(tree.states[row], work.state, rules.size)


@kernel
def untried_child(tree, node, rng):
    """Return a random one of the children not tried yet, moved behind those that were."""
    child = tree.first[node] + tree.num_tried[node]
    other = child + random_int(rng, tree.num_children[node] - tree.num_tried[node])
    tree.action[child], tree.action[other] = tree.action[other], tree.action[child]
    tree.num_tried[node] += 1
    clear(tree, child, tree.player[node])
    return child


@kernel
def best_child(tree, work, node, k, rng):
    """Return the child with the greatest bound, ties at random. Source: [kocsis2006] Sec. 2.3."""
    # mean + k sqrt(ln(n + 1) / (n_c + 1e-6)): UCB1 with k = 2 C_p; 1 and 1e-6 as in the original
    n = tree.visits[node]
    width = k * (work.roots[n] if n < work.roots.shape[0] else np.sqrt(log(n + 1.0)))
    first = np.int64(tree.first[node])
    best, top, ties = first, tree.mean[first] + width * tree.spread[first], 1
    for child in range(first + 1, first + tree.num_children[node]):
        bound = tree.mean[child] + width * tree.spread[child]
        if bound > top:
            best, top, ties = child, bound, 1
        elif bound == top:
            ties += 1
            if random_int(rng, ties) == 0:
                best = child
    return best


@kernel
def drawn_outcome(rules, tree, work, after, rng):
    """Draw a next state of the afterstate `after`; return its node and whether it is new."""
    calls.call_chance(rules, work.state, rng)
    calls.call_key(rules, work.state, work.key)
    node = np.int64(tree.first[after])
    while node != NONE:
        if tree.keys[node, 0] == work.key[0] and tree.keys[node, 1] == work.key[1]:
            return node, False
        node = np.int64(tree.sibling[node])
    node = tree.used[0]
    tree.used[0] = node + 1
    clear(tree, node, tree.mover[after])
    calls.copy_into(tree.keys[node], work.key, 2)
    tree.action[node] = tree.action[after]
    tree.sibling[node] = tree.first[after]
    tree.first[after] = node
    return node, True


@kernel
def descend(rules, tree, work, limits, rng):
    """Go down to a leaf; return path length and depth. Source: [kocsis2006] Fig. 1."""
    s, path = work.state, work.path
    calls.copy_into(s, work.root, rules.size)
    node, depth, length, is_new = np.int64(ROOT), 0, 1, False
    path[0] = ROOT
    while not is_new and depth < limits.tree_depth and tree.player[node] != TERMINAL:
        if tree.first[node] == NONE:
            open_block(rules, tree, work, node)
            if tree.player[node] == TERMINAL:
                break
        parent = node
        is_new = tree.num_tried[node] < tree.num_children[node]
        if is_new:
            node = untried_child(tree, node, rng)
        else:
            node = best_child(tree, work, node, limits.k, rng)
        if rules.chance != 0:
            calls.call_play(rules, s, tree.action[node])
        elif is_new or tree.first[node] == NONE:
            calls.copy_into(s, tree.states[tree.row[parent]], rules.size)
            calls.call_play(rules, s, tree.action[node])
        depth += 1
        if rules.chance != 0:
            path[length] = node
            length += 1
            node, is_new = drawn_outcome(rules, tree, work, node, rng)
        if is_new:
            enter(rules, tree, node, s)
        path[length] = node
        length += 1
    return length, depth


@kernel
def backup(tree, work, length):
    """Add the scaled rewards of all players to every slot of the path."""
    path, reward, spreads = work.path, work.reward, work.spreads
    for i in range(length):
        slot = path[i]
        tree.visits[slot] += 1
        for p in range(reward.shape[0]):
            tree.sums[slot, p] += reward[p]
        n = tree.visits[slot]
        tree.mean[slot] = tree.sums[slot, tree.mover[slot]] / np.float64(n)
        tree.spread[slot] = spreads[n] if n < spreads.shape[0] else 1.0 / np.sqrt(n + TINY)


@kernel
def iterate(rules, tree, work, limits, rng, iterations):
    """Run this number of iterations."""
    reward = work.reward
    for _ in range(iterations):
        length, depth = descend(rules, tree, work, limits, rng)
        calls.call_finish(rules, work.state, work.moves, limits.rollout_depth - depth, rng)
        calls.call_score(rules, work.state, reward)
        for p in range(rules.players):
            reward[p] = (reward[p] - limits.low) * limits.scale
        backup(tree, work, length)


@kernel
def plant(rules, tree, work):
    """Make a tree of the root alone."""
    tree.used[0], tree.used[1] = 1, 0
    clear(tree, ROOT, 0)
    tree.action[ROOT] = NONE
    calls.copy_into(work.state, work.root, rules.size)
    enter(rules, tree, ROOT, work.state)


@kernel
def fill_tables(work):
    """Tabulate what bounds need of n = 0, 1, 2 ... visits."""
    for n in range(work.roots.shape[0]):
        work.roots[n], work.spreads[n] = np.sqrt(log(n + 1.0)), 1.0 / np.sqrt(n + TINY)


class SearchResult(NamedTuple):
    """The result of :func:`search`: a row for each legal action, in the order of ``game.legal``."""

    actions: np.ndarray  # int32 [num_legal]
    visits: np.ndarray  # int64 [num_legal]
    values: np.ndarray  # float64 [num_legal, players]: mean final reward, NaN if never tried


class TreeSearch(PerThread):
    """A tree and its working memory, for searches of at most `iterations` one after another."""

    def __init__(self, game, iterations, **limits):
        self.game = check_game(game, "a search")
        self.limits = limits_of(game.score_range, **limits)
        self.work = self._new_work(iterations)
        self.tree = self._new_tree(*self._sizes(min(iterations, FIRST_ITERATIONS)))
        self._iterate = Linked(iterate, game, slp=False)
        self._rng = new_rng(0)

    def _new_work(self, iterations) -> Work:
        max_depth = min(self.limits.tree_depth, iterations)  # an iteration adds at most one level
        path = 2 * max_depth + 2  # a slot and an outcome for each action
        entries = min(iterations, LOG_ENTRIES) + 1
        work = Work(**calls.allocate(WORK, self.game, path=path, entries=entries))
        fill_tables(work)
        return work

    def _sizes(self, iterations, slots=1, opened=0) -> tuple[int, int]:
        """Return the slots and rows that may be in use so many iterations later.

        Every iteration may need a block and an outcome.
        """
        slots += iterations * (self.game.max_legal + 1)
        return slots, opened + iterations + 1 if self.game.deterministic else 1

    def _new_tree(self, slots, opened) -> Tree:
        # What is never used takes no memory.
        outcomes = 1 if self.game.deterministic else slots
        sizes = {"slots": slots, "outcomes": outcomes, "opened": opened}
        return Tree(**calls.allocate(TREE, self.game, **sizes))

    def _make_room(self, iterations, done) -> None:
        """Make the tree larger unless the next iterations fit in any case; MemoryError says so."""
        used_slots, used_rows = self.tree.used.tolist()
        needed_slots, needed_rows = self._sizes(iterations, used_slots, used_rows)
        slots = len(self.tree.action)
        rows = len(self.tree.states)
        if needed_slots <= slots and needed_rows <= rows:
            return
        slots = max(needed_slots, 2 * slots)
        rows = max(needed_rows, 2 * rows) if self.game.deterministic else 1
        num_bytes = sum(array.nbytes for array in self.tree)
        # The old arrays and the new ones, which are twice as large, exist together.
        if slots >= UNLIMITED or 3 * num_bytes > memory():
            raise MemoryError(
                f"after {done:,} iterations of a search in {self.game.name} its tree fills"
                f" {num_bytes / 2**30:.1f} GiB, and one twice as large has no room: ask for fewer"
                " iterations"
            )
        larger = self._new_tree(slots, rows)
        for name, old, new in zip(TREE, self.tree, larger):
            used = {"slots": used_slots, "outcomes": used_slots, "opened": used_rows}
            length = min(len(old), used.get(TREE[name][1], len(old)))
            new[:length] = old[:length]
        self.tree = larger

    def run(self, state, iterations, seed, chunk=CHUNK) -> SearchResult:
        """Search from a running state; after each `chunk` of iterations Ctrl-C can interrupt."""
        self.work.root[:] = state
        plant(self.game.rules, self.tree, self.work)
        self._rng[:] = new_rng(seed)
        for start in range(0, iterations, chunk):
            length = min(chunk, iterations - start)
            self._make_room(length, start)
            self._iterate(self.tree, self.work, self.limits, self._rng, length)
        return self._result()

    def _result(self) -> SearchResult:
        """Return what the tree says about the actions at the root."""
        tree = self.tree
        first = tree.first[ROOT]
        num_children = tree.num_children[ROOT]
        num_tried = tree.num_tried[ROOT]
        # The tried children come first; the other slots hold whatever was in memory.
        tried = slice(first, first + num_tried)
        visits = np.zeros(num_children, np.int64)
        values = np.full((num_children, self.game.players), np.nan)
        visits[:num_tried] = tree.visits[tried]
        mean = tree.sums[tried] / visits[:num_tried, None]
        values[:num_tried] = self.limits.low + mean / self.limits.scale
        # The search has permuted the block.
        actions = tree.action[first : first + num_children]
        place = {action: i for i, action in enumerate(actions.tolist())}
        order = [place[action] for action in self.game.legal(self.work.root).tolist()]
        return SearchResult(actions[order], visits[order], values[order])


def depth_limit(name, depth) -> int:
    """Return a whole number of at least 1, or UNLIMITED for None, or raise ValueError."""
    if depth is None:
        return UNLIMITED
    return whole(f"{name}, or None,", depth, 1, UNLIMITED)


def limits_of(scores, k=2**0.5, tree_depth=10, rollout_depth=200, reward_range=None) -> Limits:
    """Return parameters as kernels take them; ValueError if one is out of its range.

    `scores` is the game's range of rewards, (low, high), for a `reward_range` of None.
    """
    pair = scores if reward_range is None else reward_range
    low, high = _two_numbers(pair)
    if not -np.inf < low < high < np.inf:
        raise ValueError(
            "reward_range must be two numbers, the smaller first, or None for the game's own, not"
            f" {reward_range!r}"
        )
    return Limits(
        k=number("k, the weight of exploration,", k, 0.0, sys.float_info.max),
        tree_depth=depth_limit("tree_depth", tree_depth),
        rollout_depth=depth_limit("rollout_depth", rollout_depth),
        low=low,
        scale=1.0 / (high - low),
    )


def _two_numbers(pair) -> tuple[float, float]:
    """Return the numbers of a pair, or NaN for both if it is none."""
    try:
        low, high = map(float, pair)
    except (TypeError, ValueError):
        return np.nan, np.nan
    return low, high


def running_state(game, state) -> np.ndarray:
    """Return the state as an array, or raise ValueError if nobody is to move."""
    game.choices(state)  # raises the error
    return game._state(state, to_move=True)


def search(game, state, iterations: int, *, seed: int = 0, **limits) -> SearchResult:
    """Search from a state by UCT and return visits and values of every legal action.

    Source: [kocsis2006]; [konen2021] Table 1 (opponent MCTS). Deviations: D37, D44.

    Parameters
    ----------
    game, state
        The game, and a state in which a player is to move.
    iterations : int
        Number of iterations, from 1 to 10 million. MemoryError if the tree gets too large.
    seed : int
        Seed of the random games, of chance, and of choices between equals.
    limits
        `k`, float: weight of exploration, for rewards that are scaled to [0, 1].
        `reward_range`: two rewards that are scaled to 0 and 1, or None for the game's
        ``score_range``. `tree_depth`: actions from the root beyond which the tree does not grow.
        `rollout_depth`: actions from the root after which a random game ends and its present score
        counts. A depth of None is no limit.

    Examples
    --------
    >>> from afterply import games
    >>> game = games.load("tictactoe")
    >>> found = search(game, game.parse("x x . o o . . . ."), 2000, seed=1)
    >>> int(found.actions[found.visits.argmax()]), int(found.visits.sum())
    (2, 2000)
    """
    iterations = whole("iterations", iterations, 1, MAX_ITERATIONS)
    searching = TreeSearch(game, iterations, **limits)
    return searching.run(running_state(game, state), iterations, seed)
