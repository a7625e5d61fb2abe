"""A page that plays: one HTML file with a game, an agent and a search, for any browser.

The rules, the network and the search are the library's own kernels, linked to a module of
WebAssembly (:mod:`afterstate.kernel.link`); so the page computes the same bits. ``board.js`` is its
front end, as in a notebook; ``engine.js`` runs the module and keeps the game. Nothing is fetched.
"""

import gzip
from typing import NamedTuple

import numpy as np

from ..games import calls
from ..kernel.compile import kernel
from ..kernel.link import FREE, Memory, Program
from ..networks import lookup, ntuple, table
from ..search import puct

ITERATIONS = 10_000  # of the longest search
MOST_SLOTS = 64  # for each node: a tree in a page does not grow, but few positions have more moves


@kernel
def look_in_table(rules, entries, owner, s, key, moves, n, by_action, out):
    """Write Q(s, a) of the `n` legal moves into `out`, as ``QTable.action_values``."""
    calls.call_key(rules, s, key)
    table.read_values(entries, table.find(entries, owner, key), moves, n, by_action)
    for k in range(n):
        out[k] = by_action[moves[k]]


class Kernels(NamedTuple):
    """What a page runs: its calls, where their arrays lie, and those that the page reads."""

    program: Program
    memory: Memory
    arrays: dict  # by name
    weights: np.ndarray  # of the network; empty without one
    par: puct.Par | None  # of the search


def kernels(game, net=None, iterations: int = ITERATIONS, **settings) -> Kernels:
    """Return the kernels of a game with a network or a table, or with a search by random games.

    `settings` are those of the search. ValueError for other agents and, without one, for games of
    three players and more.
    """
    arrays = {
        "state": np.zeros(game.size, np.int32),
        "moves": np.zeros(game.max_legal, np.int32),
        "rng": np.zeros(1, np.uint64),
        "reward": np.zeros(game.players),
        "cells": np.zeros(game.cells, np.int32),
        "values": np.zeros(game.max_legal),
    }
    state, moves, rng, reward, cells, values = arrays.values()
    made = {
        "start": (calls.call_start, state, rng),
        "legal": (calls.call_legal, state, moves),
        "play": (calls.call_play, state, FREE),
        "chance": (calls.call_chance, state, rng),
        "player": (calls.call_player, state),
        "over": (calls.call_over, state),
        "score": (calls.call_score, state, reward),
        "board": (calls.call_board, state, cells),
    }
    weights = np.zeros(0, np.float32)
    if isinstance(net, ntuple.Network):
        weights = net.arrays.weights
        sizes = {"features": len(net.arrays.offset), "boards": len(game.symmetries)}
        work = calls.allocate(ntuple.WORK, game, weights=weights.dtype, **sizes)
        look = lookup.read_action_values, net.arrays, state, moves, FREE, 1.0
        made["look"] = *look, tuple(work.values()), values
    elif isinstance(net, table.QTable):
        look = look_in_table, net.table, net.owner, state, np.zeros(2, np.uint64)
        made["look"] = *look, moves, FREE, np.zeros(game.actions), values
    elif net is not None:
        raise ValueError(f"a page plays n-tuple networks and tables of action values, not {net!r}")
    par = None
    if game.players <= 2:
        base = ntuple.Network(game, [[0]]) if net is None else net
        settings |= {"leaf_value": "rollout"} if net is None else {}
        search = puct.Search(game, base, iterations, **settings)
        par, nodes = search.par, iterations + 2
        sizes = {"nodes": nodes, "slots": nodes * min(game.max_legal, MOST_SLOTS)}
        tree, work = puct.Tree(**calls.allocate(puct.TREE, game, **sizes)), search._work
        seen = search._net, search._eye, tree, work, par
        made["plant"] = puct.plant, tree, work, par, state
        made["iterate"] = puct.iterate, *seen, FREE, rng
        arrays |= {"progress": work.progress, "leaf": work.state, "answer": work.table}
        arrays |= {"first": tree.first, "slots": tree.num_slots}
        arrays |= {"visits": tree.visits, "mean": tree.mean}
    elif net is None:
        raise ValueError(f"{game.name} has {game.players} players: its page needs an agent")
    program = Program(game.rules, game._compiled)
    for entry, (function, *arguments) in made.items():
        program.add(entry, function, tuple(arguments))
    memory = Memory({entry: tuple(given) for entry, (_, *given) in made.items()}, [weights])
    return Kernels(program, memory, arrays, weights, par)


def packed(weights) -> bytes:
    """Return weights in few bytes: a bit for each that is not 0, then their bytes, by planes."""
    width = weights.dtype.itemsize
    there = weights.view(f"u{width}") != 0  # -0.0 is kept
    planes = weights[there].view(np.uint8).reshape(-1, width).T
    return gzip.compress(np.packbits(there).tobytes() + planes.tobytes(), 9, mtime=0)
