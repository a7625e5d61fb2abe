"""Adapters: games and players of the library in the worlds of others, and theirs in ours.

`pettingzoo` and `gymnasium` make environments of our games, `open_spiel` games and players of
theirs too. Each needs the package of its name; nothing else in the library imports them.
"""

from xml.etree import ElementTree

import numpy as np

from ..checks import needs, one_of
from ..games import catalogue
from ..games.game import Game, check_game

RENDER_MODES = ["ansi", "rgb_array"]
FINER = 3  # boards are drawn three times as large and then reduced, for smooth edges
ANCHORS = {"start": "ls", "middle": "ms", "end": "rs"}  # of a text, on its base line
ARROWS = str.maketrans("\u25c0\u25b2\u25b6\u25bc", "<^>v")  # which Pillow's own font lacks

__all__ = ["gymnasium", "open_spiel", "pettingzoo"]


def as_game(game, render_mode, parameters: dict) -> Game:
    """Return a game that is given itself, or by its name and parameters."""
    if render_mode not in (None, *RENDER_MODES):
        raise ValueError(f"render_mode must be None, 'ansi' or 'rgb_array', not {render_mode!r}")
    if isinstance(game, str):
        return catalogue.load(game, **parameters)
    if parameters:
        words = f"parameters ({', '.join(parameters)}) go with the name of a game"
        raise ValueError(f"{words}: {game!r} has its own")
    return check_game(game, "an environment")


def one_hot(game, s) -> np.ndarray:
    """Return the code of each cell of a state as zeros and a one, int8 [sum of num_codes]."""
    seen = np.zeros(game.num_codes.sum(), np.int8)
    seen[np.cumsum(game.num_codes) - game.num_codes + game.board(s)] = 1
    return seen


def planes(game, s) -> np.ndarray:
    """Return the board as people draw it, a plane for each code, int8 [*game.layout.shape, planes].

    Cells beside the board, such as a hand, have planes too, which are equal everywhere.
    """
    codes, on_board = game.codes(s), game.layout >= 0
    one_hots = np.eye(len(game.marks), dtype=np.int8)
    seen = one_hots[codes[game.layout] * on_board] * on_board[..., None]
    others = np.setdiff1d(np.arange(len(codes)), game.layout)
    beside = [np.arange(game.num_codes[c]) == codes[c] for c in others]
    return with_planes(seen, np.concatenate([[], *beside]))


def with_planes(seen, numbers) -> np.ndarray:
    """Return what is seen, int8 [..., n], and behind it the same numbers at every place."""
    more = np.broadcast_to(numbers, (*seen.shape[:-1], len(numbers)))
    return np.concatenate([seen, more], axis=-1, dtype=np.int8, casting="unsafe")


def observer(observation: str):
    """Return the function (game, state) -> array of a kind of observation, "flat" or "board"."""
    kinds = {"flat": one_hot, "board": planes}
    return kinds[one_of("observation", observation, kinds)]


def rendered(game, s, render_mode):
    """Return the board as text, as pixels uint8 [height, width, 3], or None."""
    if render_mode == "rgb_array":
        return pixels(game.view(s).svg)
    return game.render(s) if render_mode == "ansi" else None


def action_mask(game, s) -> np.ndarray:
    """Return 1 for each legal action and 0 for the others, int8 [actions]."""
    mask = np.zeros(game.actions, np.int8)
    mask[game.legal(s)] = 1
    return mask


def pixels(svg: str) -> np.ndarray:
    """Return a drawing of ``game.view`` as uint8 [height, width, 3]: the shapes of `games.boards`.

    It needs Pillow, which matplotlib brings as well.
    """
    image, draw = (needs(f"PIL.{name}", "gymnasium") for name in ("Image", "ImageDraw"))
    root = ElementTree.fromstring(svg)
    size = [round(float(root.get(side))) for side in ("width", "height")]
    large = image.new("RGB", [FINER * side for side in size], "white")
    _draw(draw.Draw(large), root, 0.0, 0.0)
    return np.asarray(large.resize(size, image.Resampling.BOX))


def _draw(on, part, x, y):
    def long(name, default=0):
        return FINER * float(part.get(name, default))

    kind, fill = part.tag.rpartition("}")[2], part.get("fill")
    colours = {"fill": fill, "outline": part.get("stroke")}
    if part.get("fill-opacity"):  # faint: a place for clicks
        del colours["fill"]
    look = {name: colour for name, colour in colours.items() if colour not in (None, "none")}
    width = max(1, round(long("stroke-width", 1)))
    points = [FINER * float(n) for n in part.get("points", "").replace(",", " ").split()]
    points = [(x + a, y + b) for a, b in zip(points[::2], points[1::2])]
    if kind == "line":
        points = [(x + long(f"x{k}"), y + long(f"y{k}")) for k in (1, 2)]
    x, y = x + long("x"), y + long("y")
    if kind == "rect":
        box = (x, y, x + long("width"), y + long("height"))
        on.rounded_rectangle(box, long("rx"), width=width, **look)
    elif kind == "circle":
        on.circle((x + long("cx"), y + long("cy")), long("r"), width=width, **look)
    elif kind == "polygon":
        on.polygon(points, width=width, **look)
    elif kind in ("line", "polyline"):
        on.line(points, part.get("stroke"), width)
    elif kind == "text":
        place = ANCHORS[part.get("text-anchor")]
        shown = (part.text or "").translate(ARROWS)
        on.text((x, y), shown, fill, font_size=long("font-size"), anchor=place)
    for inner in part:
        _draw(on, inner, *((x, y) if kind == "svg" else (x - long("x"), y - long("y"))))
