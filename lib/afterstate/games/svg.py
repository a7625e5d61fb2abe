"""States as pictures: single positions, heat maps of values, games as rows of boards.

A game draws itself if it was made with `Game(..., svg=hook)`, a plain function `hook(state,
values=None, last=None) -> str` that returns one `<svg ...>` element, usually from ``boards.py``:

    values   {action: value of the afterstate that the action leads to} or None
    last     the action that led to this position or None

A game without a hook is shown as the text of `game.render(state)`, or as a grid of cell codes.
"""

import re
from collections.abc import Mapping

from .boards import INK, MARKED, PAD, SOFT, document, grid_svg, text_at

__all__ = ["MARKED", "View", "replay", "state_svg", "view"]

CODE_COLOURS = ("#1a1a1a", "#f4f4f4", "#0077bb", "#d1495b")  # of stones without a drawing


class View:
    """An SVG drawing that shows itself in a notebook; `str(view)` is the SVG text."""

    def __init__(self, svg):
        self.svg = svg

    def _repr_svg_(self):
        return self.svg

    def __str__(self):
        return self.svg


def view(game, state, values=None, last=None) -> View:
    """Return a state as an object that a notebook shows; see ``Game.view``."""
    return View(state_svg(game, state, values, last))


def state_svg(game, state, values=None, last=None) -> str:
    """Draw a state; parameters as in :meth:`~afterstate.games.game.Game.view`."""
    values = None if values is None else _by_action(game, state, values)
    if game.draw:
        return game.draw(state, values=values, last=last)
    if game.render_state is None:
        return _codes_svg(game, state, values or {}, last)
    lines, parts = game.render(state).rstrip("\n").split("\n"), []
    for row, line in enumerate(lines):
        more = {"xml:space": "preserve"}
        parts.append(text_at(PAD, PAD + 16 + 18 * row, line, 15, INK, "start", **more))
    width = max(60, round(2 * PAD + 9.2 * max(map(len, lines))))
    notes = {game.action_name(state, a): value for a, value in (values or {}).items()}
    return document(parts, width, 2 * PAD + 18 * len(lines), notes=notes)


def _by_action(game, state, values) -> dict:
    """Return values by action; they may be in the order of the legal actions."""
    if isinstance(values, Mapping):
        return {int(action): float(value) for action, value in values.items()}
    legal = game.legal(state).tolist()
    if len(values) != len(legal):
        raise ValueError(
            f"{len(values)} values for {len(legal)} legal actions; give one value per legal action,"
            " in the order of game.legal(state)"
        )
    return dict(zip(legal, map(float, values)))


def _codes_svg(game, state, values, last) -> str:
    """Draw the cell codes of a state as a grid: stones if they are few, else numbers.

    Values stand in the empty cells if actions are cells, else in a list below the board.
    """
    cells, most = game.cells, int(max(game.num_codes))
    columns = next(w for w in range(1, cells + 1) if cells % w == 0 and w * w >= cells)
    columns = columns if columns**2 <= 4 * cells else cells
    codes, empty = game.board(state).tolist(), min(game.board(game.start()).tolist())
    marks, stones = list(map(str, codes)), None
    if most <= len(CODE_COLOURS) + 1:
        marks = ["" if code == empty else str(code) for code in codes]
        stones = dict(zip((str(k) for k in range(most) if k != empty), CODE_COLOURS))
    if game.actions == cells:
        return grid_svg(marks, columns, values, last, stones=stones)
    notes = {game.action_name(state, action): value for action, value in values.items()}
    return grid_svg(marks, columns, stones=stones, notes=notes)


def replay(game, states, actions=None, per_row=5, captions=None) -> View:
    """Return a game as small boards in reading order, each with its number and move.

    `actions` lead from each state to the next; `captions`, one per state, replace number and move.
    """
    states = list(states)
    if not states or per_row < 1:
        raise ValueError(f"{len(states)} states in rows of {per_row}; give at least one of each")
    if len(states) - 1 != len(states[1:] if actions is None else actions):
        raise ValueError(
            f"{len(actions)} actions for {len(states)} states; give one action between each two"
            " states"
        )
    if captions is None:
        captions = ["start", *map(str, range(1, len(states)))]
        for ply, action in enumerate(() if actions is None else actions):
            captions[ply + 1] = f"{ply + 1}. {game.action_name(states[ply], action)}"
    if len(captions) != len(states):
        raise ValueError(f"{len(captions)} captions for {len(states)} states; give one per state")
    lasts = [None] * len(states) if actions is None else [None, *actions]
    boards = [state_svg(game, state, last=last) for state, last in zip(states, lasts)]
    sizes = [_drawn_size(board) for board in boards]
    width, height = max(w for w, _ in sizes) + 12, max(h for _, h in sizes) + 26
    width = max(width, 8 * max(len(str(caption)) for caption in captions) + 12)
    parts = []
    for k, (board, caption) in enumerate(zip(boards, captions)):
        x, y = width * (k % per_row), height * (k // per_row)
        parts.append(board.replace("<svg ", f'<svg x="{x:g}" y="{y + 20:g}" ', 1))
        parts.append(text_at(x + PAD, y + 16, caption, 12, SOFT, "start"))
    rows = -(-len(boards) // per_row)
    return View(document(parts, width * min(len(boards), per_row), height * rows))


def _drawn_size(svg) -> tuple[float, float]:
    """Return width and height that a drawing states."""
    head = svg.partition(">")[0]
    found = [re.search(rf'\s{side}="([\d.]+)"', head) for side in ("width", "height")]
    if not all(found):
        raise ValueError(
            f"a board drawing begins with {head[:60]!r}; it must be an <svg> element with width and"
            " height as plain numbers"
        )
    return float(found[0][1]), float(found[1][1])
