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
from typing import NamedTuple

import numpy as np

from ..games.boards import grid_svg
from ..games.conformance import random_game

POSITIONS = 1000  # of random games
MOST_CALLS = 30_000  # of functions for names and places, where their actions are not legal
MOST_PLIES = 200  # of such a game: by random twists no cube is solved
NUM_CHANGED = 100  # positions that are changed to show what is rare
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
    states = []
    while len(states) < number:
        seed = len(states)
        states += random_game(game, game.start(seed), rng, 1 + MOST_PLIES)
    return states[:number]


def with_rare(game, states) -> list:
    """Return positions, and behind them some that show what random games do not.

    These have a pair of cell and code that no position before them has. They are made by changing
    one cell of the last positions, for every cell, mark and player to move.
    """
    if game.from_codes is None:
        return states
    pairs = set()  # of cell and code, that some position has
    for state in states:
        pairs.update(_pairs(game, state))
    boards = [game.to_array(state) for state in states[-NUM_CHANGED:]]
    changes = itertools.product(
        np.ndindex(boards[0].shape), game.marks.tolist(), range(game.players)
    )
    states_with_rare = [*states]
    for k, (place, mark, player) in enumerate(changes):
        board = boards[k % len(boards)].copy()
        board[place] = mark
        try:
            state = game.from_array(board, player)
        except ValueError:  # it can not be, or an array does not tell all
            continue
        new_pairs = _pairs(game, state) - pairs
        if new_pairs:
            pairs |= new_pairs
            states_with_rare.append(state)
    return states_with_rare


def _pairs(game, state) -> set:
    """Return (cell, code) of all cells of a position."""
    return set(enumerate(cells(game, state).tolist()))


class _Way(NamedTuple):
    """Some facts, and where they tell what is seen."""

    combination: tuple  # the numbers of the facts
    is_sure: np.ndarray  # bool [rows]: told, and by values that occur often enough
    is_told: np.ndarray  # bool [rows]: told, in these positions at least


class Known:
    """The facts of many positions, in which what else is seen of them is looked for."""

    def __init__(self, game, states):
        self.facts = np.array([facts(game, state) for state in states], np.int64)
        # The value of a fact in a position as its rank among the values of the fact.
        ranks = [np.unique(column, return_inverse=True)[1] for column in self.facts.T]
        self.ranks = np.array(ranks)
        num_values = self.ranks.max(axis=1) + 1
        most = len(states) / REPEATED
        self.useful = [fact for fact, number in enumerate(num_values) if 1 < number <= most]
        self.cells = [fact for fact in self.useful if fact <= game.cells]

    def ways(self, seen: list, rows=slice(None), first=()) -> list | None:
        """Return ways to tell what is seen in some rows; `first` are facts to try first."""
        # What is seen in a row as its number among the different things that are seen.
        numbers = np.unique([json.dumps(what) for what in seen], return_inverse=True)[1]
        tell_all = self._one_telling_all
        tell_together = self._several_telling_all
        for search, candidates in (
            (tell_all, [()]),
            (tell_all, _single(first)),
            (tell_all, _single(self.useful)),
            (tell_together, _single(first)),
            (tell_together, _single(self.cells)),
            (tell_together, itertools.combinations(self.cells, 2)),
        ):
            found = search(candidates, numbers, rows)
            if found is not None:
                return [
                    [list(facts), self._table(facts, seen, mask, rows)] for facts, mask in found
                ]
        return None

    def _one_telling_all(self, candidates, numbers, rows) -> list | None:
        """Return the first facts that tell what is seen in all rows, with a mask of all rows."""
        for combination in candidates:
            way = self._way(combination, numbers, rows)
            if way.is_told.all():
                return [(combination, way.is_told)]
        return None

    def _several_telling_all(self, candidates, numbers, rows) -> list | None:
        """Return facts that together tell what is seen in all rows, each with a mask of its rows.

        Those that tell most surely come first. They also tell what is rare.
        """
        ways = []
        for combination in candidates:
            way = self._way(combination, numbers, rows)
            if way.is_told.all():
                return [(combination, way.is_told)]
            ways.append(way)
        is_open = np.ones(len(numbers), bool)  # the rows of which nothing is told yet
        chosen = []
        for way in sorted(ways, key=lambda way: -way.is_sure.sum()):
            if (way.is_sure & is_open).sum() >= ENOUGH:
                chosen.append(way)
                is_open &= ~way.is_sure
        found = []
        for way in chosen:
            found.append((way.combination, way.is_sure | (way.is_told & is_open)))
            is_open &= ~way.is_told
        return None if is_open.any() else found

    def _way(self, combination, numbers, rows) -> _Way:
        """Return where some facts tell what is seen: equal values of them go with one number."""
        num_different = numbers.max() + 1
        key = np.zeros(len(numbers), np.int64)  # one number for all values of the facts
        for fact in combination:
            key = key * (self.ranks[fact].max() + 1) + self.ranks[fact][rows]
        counts = np.bincount(
            key * num_different + numbers, minlength=num_different * (key.max() + 1)
        )
        counts = counts.reshape(-1, num_different)  # [key, number]
        tells_one = (counts > 0).sum(axis=1) == 1
        is_often = counts.sum(axis=1) >= ENOUGH
        return _Way(combination, (tells_one & is_often)[key], tells_one[key])

    def _table(self, facts, seen, mask, rows) -> dict:
        """Return values of the facts, joined by commas -> what is seen, of the masked rows."""
        values_of_row = self.facts[rows][:, facts].tolist()
        table = {}
        for values, what, is_told in zip(values_of_row, seen, mask):
            if is_told:
                table[",".join(map(str, values))] = what
        return table


def _single(facts) -> list:
    """Return each fact as a combination of one."""
    return [(fact,) for fact in facts]


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
    """Return the frame and the pieces of the drawings of all states."""
    frame = ""
    order = []  # names of the pieces: a cell, or "part 0", "part 1", ... of those of no cell
    markups = defaultdict(lambda: [""] * len(states))  # name -> what it shows in each state
    for k, state in enumerate(states):
        first_tag, *parts = _parts(draw(state, values={}, last=None))
        frame = frame or first_tag
        numbers = itertools.count()
        position = 0  # in the order, where a piece that is new belongs
        for part in parts:
            cell = PLACE.match(part)
            name = int(cell[1]) if cell else f"part {next(numbers)}"
            if name not in markups:
                order.insert(position, name)
            position = order.index(name) + 1
            markups[name][k] = part
    return {"frame": frame, "pieces": [_piece(name, markups[name], known) for name in order]}


def _parts(svg) -> list[str]:
    """Return the first tag of a drawing and the elements in it, as texts."""
    depth = 0
    begin = 0
    parts = []
    for tag in TAG.finditer(svg):
        is_end, is_empty = tag.groups()
        if is_end:
            depth -= 1
        elif not is_empty:
            depth += 1
        is_first = not parts
        if depth == 1 and (is_end or is_empty or is_first):
            parts.append(svg[begin : tag.end()])
        if depth <= 1:
            begin = tag.end()
    return parts


def _piece(name, markups, known) -> list:
    """Return a piece of a drawing: its place or None, ways to tell it, facts that are numbers."""
    place = name if isinstance(name, int) else None
    first = []
    if place is not None and code_of(place) in known.cells:
        first.append(code_of(place))
    numbers = []
    if len(set(markups)) > 1:
        markups, numbers = _with_numbers(markups, known.facts)
    ways = known.ways(markups, first=first)
    if ways is None:
        raise ValueError(f"facts that a page knows of a position do not tell {name} of its drawing")
    return [place, ways, numbers]


def _with_numbers(markups, facts) -> tuple[list, list]:
    """Return markups with {} where a fact stands as a number, and which facts these are.

    `facts`, int64 [positions, facts], are those of the positions of the markups. All numbers must
    be facts, else the markups stay as they are.
    """
    numbers_of_markup = [_numbers_in(markup) for markup in markups]
    if len(set(map(len, numbers_of_markup))) != 1 or not numbers_of_markup[0]:
        return markups, []
    chosen = []
    for column in np.array(numbers_of_markup).T:
        is_equal = (facts == column[:, None]).all(axis=0)
        if not is_equal.any():
            return markups, []
        chosen.append(int(np.flatnonzero(is_equal)[0]))
    blanked = [TEXT.sub(lambda text: NUMBER.sub("{}", text[0]), markup) for markup in markups]
    return blanked, chosen


def _numbers_in(markup) -> list[int]:
    """Return the numbers in the texts of a markup."""
    numbers = []
    for text in TEXT.findall(markup):
        numbers += [int(number.replace(",", "")) for number in NUMBER.findall(text)]
    return numbers


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
    where_legal, where_asked = _descriptions(game, states, drawn)
    ways_of_action = []
    for action in range(game.actions):
        touched = set()  # facts that are the codes of its places
        for _, places in where_asked[action].values():
            touched |= {code_of(place) for place in places if place < game.cells}
        first = [0, *sorted(touched & set(known.cells))]
        ways = None
        for descriptions in (where_asked[action], where_legal[action]):
            if ways is None and descriptions:
                ways = known.ways(list(descriptions.values()), list(descriptions), first)
        if ways is None:  # a button will do
            name = str(action)
            if where_legal[action]:
                name, _ = next(iter(where_legal[action].values()))
            ways = [[[], {"": [name, []]}]]
        ways_of_action.append(ways)
    return ways_of_action


def _descriptions(game, states, drawn) -> tuple:
    """Return action -> position -> (name, places): where it is legal, and wherever it was asked.

    What is rare where an action is legal, its functions may also say where it is not. So they are
    asked for all actions in some of the positions.
    """
    where_legal = defaultdict(dict)
    where_asked = defaultdict(dict)
    interval = max(1, len(states) * game.actions // MOST_CALLS)
    for k, state in enumerate(states):
        legal = {*game.legal(state).tolist()}
        asked = range(game.actions) if k % interval == 0 else legal
        for action in asked:
            description = _description(game, state, action, action in legal)
            if description is None:
                continue
            name, places = description
            if not drawn.issuperset(places):
                description = [name, []]
            where_asked[action][k] = description
            if action in legal:
                where_legal[action][k] = description
    return where_legal, where_asked


def _description(game, state, action, is_legal) -> list | None:
    """Return name and places of an action, or None if a function fails where it is not legal."""
    try:
        return [game.action_name(state, action), game.places(state, action)]
    except Exception:  # a function of somebody's making, asked for what it need not know
        if is_legal:
            raise
        return None
