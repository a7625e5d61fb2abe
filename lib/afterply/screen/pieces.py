"""Drawings and names of moves as tables, for a page that has no Python to ask.

A page knows of a position its *facts*: who is to move, the codes of all cells, the numbers of the
state. A drawing is made of pieces, and what a piece shows depends on few facts, mostly on the code
of its cell; a number in it may be a fact itself. So do the name of an action and its places. Which
facts these are is found from positions of random games, for any game, as *ways* to tell: lists of
one or two facts, each with a table of what their values tell; the first table that has an entry
counts. In ConnectFour the way to tell where a stone lands is a list of the column's cells, each
with an entry for "next free"; at a place of a cube one of the cubies is.
"""

import itertools
import json
import re
from collections import defaultdict

import numpy as np

from ..games.boards import grid_svg
from ..games.conformance import random_game

POSITIONS = 1000  # of random games
MOST_CALLS = 30_000  # of functions for names and places, where their actions are not legal
LONGEST = 200  # plies of such a game: by random twists no cube is solved
FEW = 100  # positions that are changed to show what is rare
ENOUGH = 10  # positions in which what some values tell is the same: chance does not do that
REPEATED = 8  # positions for each value of a fact, at least: else any number would tell all
NUMBER = re.compile(r"\d[\d,]*")
TEXT = re.compile(r"(>[^<>]*<)")
TAG = re.compile(r"<(/?)\w+[^>]*?(/?)>")
PLACE = re.compile(r'<g [^>]*data-cell="(\d+)"')


def facts(game, state) -> list[int]:
    """Return what a page knows of a position."""
    return [game.player(state), *cells(game, state).tolist(), *state[: game.rules.core].tolist()]


def cells(game, state):
    """Return the codes of the cells; in 2048 exponents, of which networks see one less."""
    return game.codes(state) if game.name == "game2048" else game.board(state)


def code_of(cell) -> int:
    """Return the number of the fact that is a cell's code."""
    return 1 + cell


def positions(game, rng, number: int = POSITIONS) -> list:
    """Return positions of random games."""
    found = []
    while len(found) < number:
        found += random_game(game, game.start(len(found)), rng, 1 + LONGEST)
    return found[:number]


def with_rare(game, states) -> list:
    """Return positions, and behind them some that show what random games do not."""
    if game.from_codes is None:
        return states
    codes = np.array([cells(game, state) for state in states])
    there = {(c, code) for c, column in enumerate(codes.T) for code in np.unique(column).tolist()}
    boards = [game.to_array(state) for state in states[-FEW:]]
    ways = itertools.product(np.ndindex(boards[0].shape), game.marks.tolist(), range(game.players))
    found = [*states]
    for k, (place, mark, player) in enumerate(ways):
        board = boards[k % len(boards)].copy()
        board[place] = mark
        try:
            state = game.from_array(board, player)
        except ValueError:  # it can not be, or an array does not tell all
            continue
        here = set(enumerate(cells(game, state).tolist()))
        if not here <= there:
            there |= here
            found.append(state)
    return found


class Known:
    """The facts of many positions, in which what else is seen of them is looked for."""

    def __init__(self, game, states):
        self.facts = np.array([facts(game, state) for state in states], np.int64)
        self.numbers = np.array(
            [np.unique(column, return_inverse=True)[1] for column in self.facts.T]
        )
        counts = self.numbers.max(axis=1) + 1
        self.useful = [f for f, n in enumerate(counts) if 1 < n <= len(states) / REPEATED]
        self.cells = [f for f in self.useful if f <= game.cells]

    def ways(self, seen: list, rows=slice(None), first=()) -> list | None:
        """Return ways to tell what is seen in some rows; `first` are facts to try first."""
        numbers = np.unique([json.dumps(what) for what in seen], return_inverse=True)[1]
        first, cells, useful = ([(f,) for f in some] for some in (first, self.cells, self.useful))
        tries = [([()], False), (first, False), (useful, False), (first, True), (cells, True)]
        tries += [(itertools.combinations(self.cells, 2), True)]
        for tried, several in tries:
            found = self._telling(tried, numbers, rows, several)
            if found is not None:
                return [[list(f), self._table(f, seen, mask, rows)] for f, mask in found]
        return None

    def _telling(self, tried, seen, rows, several) -> list | None:
        """Return facts that tell what is seen, with the rows where they do; one or `several`."""
        found, different = [], seen.max() + 1
        for facts in tried:
            key = np.zeros(len(seen), np.int64)
            for f in facts:
                key = key * (self.numbers[f].max() + 1) + self.numbers[f][rows]
            counts = np.bincount(key * different + seen, minlength=different * (key.max() + 1))
            counts = counts.reshape(-1, different)
            one = (counts > 0).sum(axis=1) == 1
            if one[key].all():
                return [(facts, one[key])]
            if several:
                sure = one & (counts.sum(axis=1) >= ENOUGH)
                found.append((facts, sure[key], one[key]))
        left, chosen = np.ones(len(seen), bool), []
        for facts, sure, all_told in sorted(found, key=lambda way: -way[1].sum()):
            if (sure & left).sum() >= ENOUGH:
                chosen.append((facts, sure, all_told))
                left &= ~sure
        for _, sure, all_told in chosen:  # those that tell most also tell what is rare
            sure |= all_told & left
            left &= ~all_told
        return None if left.any() else [way[:2] for way in chosen]

    def _table(self, facts, seen, mask, rows) -> dict:
        keys = (",".join(map(str, values)) for values in self.facts[rows][:, facts].tolist())
        return {key: what for key, what, told in zip(keys, seen, mask) if told}


# ------------------------------------------------------------------------------------- the drawing
def drawing(game, states, known) -> dict:
    """Return a drawing as its frame and its pieces: place or None, ways, facts that are numbers.

    Where the facts do not determine the game's own drawing it is a plain grid. Raises ValueError if
    they do not determine that either.
    """
    try:
        return _drawn_by(game.svg or plain(game), states, known)
    except ValueError:
        return _drawn_by(plain(game), states, known)


def _drawn_by(draw, states, known) -> dict:
    order, shown, frame = [], defaultdict(lambda: [""] * len(states)), ""
    for k, state in enumerate(states):
        head, *parts = _parts(draw(state, values={}, last=None))
        frame, number, before = frame or head, itertools.count(), 0
        for part in parts:
            cell = PLACE.match(part)
            name = int(cell[1]) if cell else f"part {next(number)}"
            if name not in shown:
                order.insert(before, name)
            before = order.index(name) + 1
            shown[name][k] = part
    return {"frame": frame, "pieces": [_piece(name, shown[name], known) for name in order]}


def _parts(svg) -> list[str]:
    """Return the first tag of a drawing and the elements in it, as texts."""
    depth, begin, found = 0, 0, []
    for tag in TAG.finditer(svg):
        depth += -1 if tag[1] else not tag[2]
        if depth == 1 and (tag[1] or tag[2] or not found):
            found.append(svg[begin : tag.end()])
        if depth <= 1:
            begin = tag.end()
    return found


def _piece(name, markups, known) -> list:
    place = name if isinstance(name, int) else None
    first = [] if place is None or code_of(place) not in known.cells else [code_of(place)]
    numbers = []
    if len(set(markups)) > 1:
        markups, numbers = _with_numbers(markups, known.facts)
    ways = known.ways(markups, first=first)
    if ways is None:
        raise ValueError(f"facts that a page knows of a position do not tell {name} of its drawing")
    return [place, ways, numbers]


def _with_numbers(markups, columns) -> tuple[list, list]:
    """Return markups with {} where a fact stands as a number, and which facts these are."""
    split = [TEXT.split(markup) for markup in markups]
    found = [[m for text in parts[1::2] for m in NUMBER.findall(text)] for parts in split]
    if len(set(map(len, found))) != 1 or not found[0]:
        return markups, []
    numbers = np.array([[int(n.replace(",", "")) for n in row] for row in found])
    equal = [np.flatnonzero((columns == own[:, None]).all(axis=0)) for own in numbers.T]
    if not all(map(len, equal)):
        return markups, []
    blank = [[NUMBER.sub("{}", p) if k % 2 else p for k, p in enumerate(parts)] for parts in split]
    return ["".join(parts) for parts in blank], [int(same[0]) for same in equal]


def plain(game):
    """Return a function that draws the cells of a game without a drawing as a grid."""
    columns = game.layout.shape[-1]
    cells = game.layout.ravel()

    def draw(state, values, last):
        marks = game.to_array(state).ravel().astype(str)
        shown = ["" if cell < 0 or mark == "0" else mark for cell, mark in zip(cells, marks)]
        return grid_svg(shown, columns)

    return draw


# --------------------------------------------------------------------------------------- the moves
def moves(game, states, known, drawn) -> list:
    """Return ways to tell the name and the places of each action, none if one is not `drawn`."""
    # what is rare where an action is legal, its functions may also say where it is not
    told, more, found = defaultdict(dict), defaultdict(dict), []
    every = max(1, len(states) * game.actions // MOST_CALLS)
    for k, state in enumerate(states):
        legal = {*game.legal(state).tolist()}
        for action in legal if k % every else range(game.actions):
            if said := _said(game, state, action, action in legal):
                said[1] = said[1] if drawn.issuperset(said[1]) else []
                more[action][k] = said
                if action in legal:
                    told[action][k] = said
    for action in range(game.actions):
        touched = {code_of(p) for _, to in more[action].values() for p in to if p < game.cells}
        first = [0, *sorted(touched & {*known.cells})]
        for asked in filter(None, (more[action], told[action])):
            if ways := known.ways(list(asked.values()), list(asked), first):
                break
        else:  # a button will do
            name = next(iter(told[action].values()), [str(action)])[0]
            ways = [[[], {"": [name, []]}]]
        found.append(ways)
    return found


def _said(game, state, action, legal) -> list | None:
    """Return name and places of an action, or None if a function fails where it is not legal."""
    try:
        return [game.action_name(state, action), game.places(state, action)]
    except Exception:  # a function of somebody's making, asked for what it need not know
        if legal:
            raise
        return None
