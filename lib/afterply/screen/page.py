"""Pages that play and learn: one HTML file with a game, an agent and a search, for any browser.

The rules, the network and the search are the library's own kernels, linked to a module of
WebAssembly (:mod:`afterply.kernel.link`); so the page computes the same bits. ``engine.js`` runs
the module, ``page.js`` keeps the game, ``board.js`` is the front end, as in a notebook. The drawing
is a table (:mod:`afterply.games.drawing`); what it shows of a position and what is clicked for an
action say rules of the game, which are compiled like the others. Nothing is fetched.

TD-learning can be linked to it, too: ``learner.js`` runs it in a worker, ``learn.js`` draws a
curve. After as many games the weights are those of a ``td.Session`` with the same parameters and
seed, bit for bit.
"""

import base64
import gzip
import json
from html import escape
from pathlib import Path
from string import Template
from typing import NamedTuple

import numpy as np

from ..files import write_text
from ..games import calls
from ..games.boards import winning_places
from ..games.conformance import random_game
from ..games.definition import compiled
from ..games.game import MOST_TOUCHED, Game, check_game
from ..kernel.compile import kernel
from ..kernel.link import FREE, Free, Memory, Program, Rule
from ..kernel.random import new_rng
from ..learners import td
from ..learners.adaptation import trace_size
from ..networks import lookup, ntuple, table
from ..players.saved import in_plain_words
from ..search import puct
from .game_table import sides
from .widget import HERE

RANDOM_GAMES = "The agent is a search that values positions by random games."
SEARCHES = (100, 1000, 10_000)  # iterations to choose from
NUM_POSITIONS = 200  # of random games that are asked whether a line of stones wins
MOST_PLIES = 200  # of such a game: by random twists no cube is solved
NUM_STARTS = 8  # starts of a game that are compared to see whether they are random
MOST_SLOTS = 64  # for each node: a tree in a page does not grow, but few positions have more moves
LAMBDAS = (0.0, 0.3, 0.5, 0.7, 0.9)  # to choose from
NUM_SEEDS = 100  # to choose from
MATCHES = 198  # for a point of the curve, of games for two or three
MATCHES_ALONE = 20  # of games for one
ARRAY_TYPES = {  # of JavaScript
    "int32": "Int32Array",
    "int64": "BigInt64Array",
    "uint64": "BigUint64Array",
    "float32": "Float32Array",
    "float64": "Float64Array",
}
SMALLER = {"game2048": {"tuples": "2048-5x4"}}  # networks for which a page has room
ABOUT = """The agent knows nothing but the rules and learns by playing with itself, in this page.
Press Learn, watch the curve, and play at any moment."""
LARGER = " Its network is smaller than the usual one, which takes half a gigabyte."
FREE_IN_PAGES = {"farl_on": Free(True), "tc_none": Free(True), "trace_size": FREE}


@kernel
def look_in_table(rules, entries, owner, s, key, moves, n, by_action, out):
    """Write Q(s, a) of the `n` legal moves into `out`, as ``QTable.action_values``."""
    calls.call_key(rules, s, key)
    table.read_values(entries, table.find(entries, owner, key), moves, n, by_action)
    for k in range(n):
        out[k] = by_action[moves[k]]


class Kernels(NamedTuple):
    """What a page runs: its calls, where their arrays lie, and those that the page reads."""

    module: bytes
    memory: Memory
    arrays: dict  # by name
    weights: np.ndarray  # of the network; empty without one
    search: puct.Search | None  # the same search in Python


def kernels(game, net=None, *, more=(), read=()) -> Kernels:
    """Return the kernels of a game with a network or a table, or with a search by random games.

    `more` are other calls, and `read` arrays that the page reads, by name.
    ValueError for other agents and, without one, for games that no search plays.
    """
    arrays = {
        "state": np.zeros(game.size, np.int32),
        "moves": np.zeros(game.max_legal, np.int32),
        "dice": np.zeros(1, np.uint64),  # of the game; those of a search are `luck`
        "reward": np.zeros(game.players),
        "cells": np.zeros(game.cells, np.int32),
        "worth": np.zeros(game.max_legal),
        "numbers": np.zeros(game.num_shown, np.int32),
        "touched": np.zeros(MOST_TOUCHED, np.int32),
    }
    functions = _calls_of_game(arrays) | _calls_of_drawing(game, arrays)
    weights = np.zeros(0, np.float32)
    if net is not None:
        functions["look"] = _look_of(game, net, arrays)
    if isinstance(net, ntuple.Network):
        weights = net.arrays.weights
    search = _search(game, net)
    if search is not None:
        functions |= _calls_of_search(game, search, arrays)
    functions |= dict(more)
    arrays |= dict(read)
    program = Program(game.rules, game._compiled)
    arguments_of = {}
    for entry, (function, *arguments) in functions.items():
        arguments_of[entry] = tuple(arguments)
        program.add(entry, function, arguments_of[entry])
    memory = Memory(arguments_of, [weights, *arrays.values()])
    return Kernels(program.module(), memory, arrays, weights, search)


def _calls_of_game(arrays) -> dict:
    """Return the calls of a game's rules: name -> function and arguments."""
    state = arrays["state"]
    dice = arrays["dice"]
    return {
        "start": (calls.call_start, state, dice),
        "legal": (calls.call_legal, state, arrays["moves"]),
        "play": (calls.call_play, state, FREE),
        "chance": (calls.call_chance, state, dice),
        "player": (calls.call_player, state),
        "over": (calls.call_over, state),
        "score": (calls.call_score, state, arrays["reward"]),
        "board": (calls.call_board, state, arrays["cells"]),
    }


def _calls_of_drawing(game, arrays) -> dict:
    """Return the calls that say what a drawing shows, and what is clicked for an action."""
    rules = compiled(game, calls.SHOWING)
    shown = Rule("shown", rules.get("shown", game._compiled["board"]))
    drawing = {"shown": (calls.call_shown, shown, arrays["state"], arrays["numbers"])}
    if "touch" in rules:
        touch = Rule("touch", rules["touch"])
        arguments = (touch, arrays["numbers"], FREE, arrays["touched"])
        drawing["touch"] = (calls.call_touch, *arguments)
    if "start_at" in rules:
        start_at = Rule("start_at", rules["start_at"])
        drawing["startAt"] = (calls.call_start_at, start_at, arrays["state"], FREE, arrays["dice"])
    return drawing


def _look_of(game, net, arrays) -> tuple:
    """Return the call that writes what a network or a table says of all legal moves."""
    state = arrays["state"]
    moves = arrays["moves"]
    worth = arrays["worth"]
    if isinstance(net, ntuple.Network):
        work = tuple(map(np.zeros_like, net._work))
        look = lookup.read_action_values
        return look, net.arrays, state, moves, FREE, 1.0, work, worth
    if isinstance(net, table.QTable):
        key = np.zeros(2, np.uint64)
        by_action = np.zeros(game.actions)
        return look_in_table, net.table, net.owner, state, key, moves, FREE, by_action, worth
    raise ValueError(f"a page plays n-tuple networks and tables of action values, not {net!r}")


def _calls_of_search(game, search, arrays) -> dict:
    """Return the calls of a search; what the page reads of it joins the arrays."""
    num_nodes = SEARCHES[-1] + 2
    num_slots = num_nodes * min(game.max_legal, MOST_SLOTS)
    tree = puct.Tree(**calls.allocate(puct.TREE, game, nodes=num_nodes, slots=num_slots))
    work = search._work
    luck = np.zeros(1, np.uint64)
    arrays |= {
        "progress": work.progress,
        "leaf": work.state,
        "answer": work.table,
        "luck": luck,
        "first": tree.first,
        "slots": tree.num_slots,
        "visits": tree.visits,
        "mean": tree.mean,
    }
    seen = (search._net, search._eye, tree, work, search.par)
    return {
        "plant": (puct.plant, tree, work, search.par, arrays["state"]),
        "iterate": (puct.iterate, *seen, luck, FREE),
    }


def _search(game, net):
    """Return a search, or None where an agent must do without."""
    if net is None:
        return puct.Search(game, ntuple.Network(game, [[0]]), SEARCHES[-1], leaf_value="rollout")
    try:
        return puct.Search(game, net, SEARCHES[-1])
    except ValueError:  # rewards of two that are not opposite
        return None


def packed(weights) -> bytes:
    """Return weights in few bytes: a bit for each that is not 0, then their bytes, by planes."""
    width = weights.dtype.itemsize
    is_set = weights.view(f"u{width}") != 0  # -0.0 is kept
    planes = weights[is_set].view(np.uint8).reshape(-1, width).T
    return np.packbits(is_set).tobytes() + planes.tobytes()


def page(agent, file=None, *, other=None, title="", about="", links=None) -> Path:
    """Write a page on which an agent is played, one HTML file, and return its path.

    With another agent there are two boards, with the same position and the values of either.

    Parameters
    ----------
    agent : player of ``players.load`` or ``players.zoo``, session, network, table, or Game
        A game alone is played by a search that values positions by random games.
    file : path, optional
        Default: the game's name and ``.html``.
    other : player, session or network, optional
        Another agent of a game for two; it has as many n-tuples as the first, of the same length.
    title, about : str
        A heading and a sentence in the place of the default ones.
    links : dict, optional
        Words -> address, at the top of the page; all after the first two are in a fold.

    Raises
    ------
    ImportError
        Without a linker for WebAssembly; it says how to install one.
    ValueError
        If the agent is of another kind, or the other one needs other kernels.
    """
    agents = [agent] if other is None else [agent, other]
    nets = [_net_of(one) for one in agents]
    if isinstance(nets[0], Game):
        game = nets[0]
        nets[0] = None
    else:
        game = nets[0].game
    check_game(game, "a page")
    kernels_of_agents = [kernels(game, net) for net in nets]
    first, *others = kernels_of_agents
    names = [getattr(one, "name", "an agent") for one in agents]
    text = _words(game, title or f"Play {game.title}", about)
    checksums = []
    if nets[0] is None:
        text["about"] = about or RANDOM_GAMES
    else:
        text["about"] = about or _about(agents, names)
        checksums = [net.checksum() for net in nets]
        text["origin"] = f"Fingerprint of the agent: {', '.join(checksums)}."
    checked = checksums if first.weights.size else []  # what the page can compute itself
    spec = specification(game, nets[0], first, names, checked)
    for second in others:
        same_kernels = second.module == first.module and second.memory.calls == first.memory.calls
        if game.players != 2 or not same_kernels:
            pair = f"{agent!r} and {other!r}"
            raise ValueError(f"{pair} share no page: their game is not for two, or n-tuples differ")
    path = file or f"{game.name}.html"
    return write(path, text, spec, first, links=links, others=others)


def _about(agents, names) -> str:
    """Return a sentence on the agents; of a published one alone, how strong it is."""
    card = getattr(agents[0], "card", {})
    if len(agents) == 1 and "words" in card and "strength" in card:
        return in_plain_words(card)
    return f"The agent is {' or '.join(names)}."


def _words(game, title, about) -> dict:
    """Return the words of a page."""
    return {"title": title, "aim": game.aim, "about": about, "origin": ""}


def _navigation(links) -> str:
    """Return links, words -> address, as HTML: two, and all others in a fold."""
    if not links:
        return ""
    anchors = [f'<a href="{escape(to)}">{escape(words)}</a>' for words, to in links.items()]
    others = " \u00b7 ".join(anchors[2:])
    fold = f"<details><summary>Other games</summary>{others}</details>" if others else ""
    return f'<nav aria-label="Pages">{" ".join(anchors[:2])}{fold}</nav>'


def write(file, text, spec, made: Kernels, *, panel="", learn="", links=None, others=()) -> Path:
    """Write a page with the words of `text`, and what it takes to learn in it; return its path."""
    binary_parts = {
        "spec": json.dumps(spec, separators=(",", ":")).encode(),
        "module": made.module,
        "image": made.memory.image,
        "weights": packed(made.weights),
        "others": b"".join(one.memory.image + packed(one.weights) for one in others),
    }
    fields = {
        "links": _navigation(links),
        "panel": panel,
        "learn": learn,
        "board": part_of("board.js").replace("export default", "return"),
        "engine": part_of("engine.js"),
        "page": part_of("page.js"),
        "style": part_of("board.css"),
    }
    for field, words in text.items():
        fields[field] = escape(words)
    for field, content in binary_parts.items():
        fields[field] = base64.b85encode(gzip.compress(content, 9, mtime=0)).decode()
    path = Path(file)
    write_text(path, Template(part_of("page.html")).substitute(fields))
    return path


def _net_of(agent):
    """Return the network, table or game of an agent, which may lie inside several wrappers."""
    net = agent
    while not isinstance(net, (Game, ntuple.Network, table.QTable)):
        net = getattr(net, "net", None) or getattr(net, "base", None)
        if net is None:
            raise ValueError(f"a page plays n-tuple networks, tables and games, not {agent!r}")
    return net


def positions(game, rng, number) -> list:
    """Return positions of random games."""
    states = []
    while len(states) < number:
        seed = len(states)
        states += random_game(game, game.start(seed), rng, 1 + MOST_PLIES)
    return states[:number]


def _turn(game, states) -> int | None:
    """Return which number of a state says who moves, if a line or chain of stones wins."""
    if game.players != 2 or not any(winning_places(game, state) for state in states):
        return None
    unfinished = [state for state in states if not game.over(state)]
    for place, lowest_bit in enumerate(np.eye(game.size, dtype=np.int32)):
        # A number says who moves if its change always changes the mover.
        if all(_changes_mover(game, state, lowest_bit) for state in unfinished):
            return place
    return None


def _changes_mover(game, state, bits) -> bool:
    """Return whether somebody else is to move if some bits of a state are flipped."""
    return calls.call_player(game.rules, state ^ bits) != game.player(state)


def part_of(name: str) -> str:
    """Return a file that pages are made of."""
    return (HERE / name).read_text(encoding="utf-8")


def specification(game, net, made, names=("the agent",), checksums=()) -> dict:
    """Return what the scripts of a page must know."""
    states = positions(game, new_rng(0), NUM_POSITIONS)
    touched = None
    if not game.functions["touch"]:  # then they do not depend on the position
        touched = [game.places(states[0], action) for action in range(game.actions)]
    starts = {game.start(seed).tobytes() for seed in range(NUM_STARTS)}
    search = None
    if made.search is not None:
        search = {
            "scale": made.search.par.scale,
            "unit": made.search._unit,
            "seed": str(new_rng(0)[0]),
        }
    strength = SEARCHES[1] if net is None else 0
    return {
        "game": game.name,
        "players": game.players,
        "progress": game.progress,
        "sides": sides(game),
        "actions": game.actions,
        "random": len(starts) > 1 or not game.deterministic,
        "keys": game.drawing.keys,
        "strengths": _strengths(net, made.search),
        "strength": strength,
        "search": search,
        "weights": {
            "place": made.memory.place(made.weights),
            "length": made.weights.nbytes,
            "width": made.weights.itemsize,
            "checksums": checksums,
        },
        "names": names,
        "memory": _memory(made),
        "twists": game.levels,
        "line": {"turn": _turn(game, states), "order": game.layout[game.layout >= 0].tolist()},
        "drawing": game.drawing.table(),
        "touched": touched,
        "actionNames": game.names,
    }


def _strengths(net, search) -> list:
    """Return the strengths to choose from: iterations of the search, 0 for none, and words."""
    strengths = []
    if net is not None:
        kind = "table" if isinstance(net, table.QTable) else "network"
        strengths.append([0, f"{kind} alone"])
    if search is not None:
        strengths += [[n, f"search of {n:,} iterations"] for n in SEARCHES]
    return strengths


def _memory(made) -> dict:
    """Return where calls and arrays lie: for each array its type, place and length."""
    arrays = {}
    for name, array in made.arrays.items():
        kind = ARRAY_TYPES[str(array.dtype)]
        arrays[name] = [kind, made.memory.place(array), array.size]
    return {"size": made.memory.size, "calls": made.memory.calls, "arrays": arrays}


# ------------------------------------------------------------------------ pages that learn
def learn_page(agent, file=None, *, title="", links=None) -> Path:
    """Write a page on which an agent learns a game, one HTML file, and return its path.

    Parameters
    ----------
    agent : Game or td.Session
        A game has its default parameters. Of a session the game, the parameters and the seed count.
    file : path, optional
        Default: ``learn-``, the game's name and ``.html``.
    title : str
        A heading in the place of the default one.
    links : dict, optional
        Words -> address, at the top of the page; all after the first two are in a fold.

    Raises
    ------
    ImportError
        Without a linker for WebAssembly; it says how to install one.
    ValueError
        If the agent is of another kind.
    """
    about = ABOUT
    if isinstance(agent, Game):
        if agent.name in SMALLER:
            about += LARGER
        agent = td.Session(agent, **SMALLER.get(agent.name, {}))
    if not isinstance(agent, td.Session):
        raise ValueError(f"a page learns a game, or what a td.Session learns, not {agent!r}")
    session, made, learning = linked(agent)
    game = session.game
    spec = specification(game, session.net, made) | {"learning": learning}
    worker = part_of("engine.js") + part_of("learner.js")
    matches = f"{learning['matches']} games"
    if game.players > 1:
        matches += " with copies of the rival, in all seats, half of them after a random move"
    panel = Template(part_of("learn.html")).substitute(matches=matches, worker=worker)
    text = _words(game, title or f"Watch an agent learn {game.title}", about)
    path = file or f"learn-{game.name}.html"
    return write(path, text, spec, made, panel=panel, learn=part_of("learn.js"), links=links)


def linked(agent) -> tuple:
    """Return a session with room for all settings, its kernels, and what scripts must know."""
    game = agent.game
    params = agent.params
    if isinstance(params["tuples"], dict):  # the same ones for all seeds
        params = params | {"tuples": agent.net.tuples}
    tc = "id" if params["tc"] == "none" else params["tc"]
    lambdas = sorted({*LAMBDAS, params["lambda_"]})
    session = td.Session(game, params | {"lambda_": lambdas[-1], "tc": tc, "farl": "on"})
    memory = session.mem
    par = session.par._replace(**FREE_IN_PAGES)
    train = (session.run_episodes, session.net.arrays, par, memory, FREE)
    read = {
        "rng": memory.rng,
        "counts": memory.counters,
        "error": memory.abs_delta,
        "coherence": session.net.arrays.counters,
    }
    made = kernels(game, session.net, more={"train": train}, read=read)
    return session, made, _learning(agent, params, par, tc, lambdas)


def _learning(agent, params, par, tc, lambdas) -> dict:
    """Return what scripts must know to learn: the settings, those to choose from, and matches."""
    game = agent.game
    maker = "game"
    if game.spec:
        maker = f"games.load({game.name!r}, **{game.spec['params']})"
    num_matches = MATCHES if game.players > 1 else MATCHES_ALONE
    changed = {name: repr(v) for name, v in params.items() if v != td.DEFAULTS[name]}
    settings_at_first = {
        "farl": params["farl"] == "on",
        "tc": params["tc"] != "none",
        "seed": agent.seed,
        "alpha": par.alpha_first,
        "last": par.alpha_last,
        "lambda": params["lambda_"],
    }
    return {
        "game": maker,
        "settings": changed,
        "usual": settings_at_first,
        "tc": tc,
        "episodes": params["episodes"],
        "floats": {name: v for name, v in par._asdict().items() if isinstance(v, float)},
        "free": [name for name in par._fields if name in FREE_IN_PAGES],
        "traces": [[value, trace_size(params | {"lambda_": value})] for value in lambdas],
        "seeds": {seed: str(new_rng(seed)[0]) for seed in {*range(NUM_SEEDS), agent.seed}},
        "matches": num_matches,
        "longest": par.max_plies,
        "range": game.score_range,
        "reward": game.progress[1],
        "unit": game.progress[2],
    }
