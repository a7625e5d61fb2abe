"""2048: all tiles of a 4 x 4 board slide, equal ones that meet merge, and a new one appears.

::

    specification   game2048
    actions         0 left, 1 up, 2 right, 3 down
    cells           0 = empty, else the tile 2**code; 2**15 is read as 2**14 (all_tiles: not)
    chance          a new tile: 2 (0.9) or 4 (0.1) on a random empty cell
    reward          score / 3,932,156, as it is made
    start           two random tiles
    checked         against pgx and plain lists
    coordinates     none: a move is its direction

    cells, row-major        exponent e of a tile 2**e is one nibble of a 64-bit word,
     0  1  2  3             cell c in the bits 4 c .. 4 c + 3; 0 = empty
     4  5  6  7
     8  9 10 11             an action is legal if a tile moves or merges;
    12 13 14 15             the game is over when none does

    16                      the stage, if the game has `stages`: networks see it, nobody else

    state (int32)
     s[0], s[1]   the word's low half (rows 0, 1) and high half (rows 2, 3)
     s[2]         score so far: the sum of all tiles made by merging

The largest tile is 2**15 = 32,768, what a nibble holds: two of them do not merge, they only block
each other.

Reward: the score, divided by 3,932,156 unless ``raw_score``: with that score real play can end at
most, on a board of 4, 8 ... 131,072. Known: 65,536 rows, each with one result per direction; a
merge of two 2**n tiles adds 2**(n+1). Source: [konen2021] Sec. 3.3, App. A.6.1.
"""

import numpy as np

from ...checks import is_whole
from ...kernel.compile import kernel
from ...kernel.random import random_bits
from .. import drawing as draw
from ..drawing import ANY, CELL, PAD, SOFT, Drawing, Look, Place
from ..game import Game
from . import bitboard, lines_of, named, neighbours, put_bitboard, symmetries

SIDE, CELLS = 4, 16
LARGEST = 15  # exponent of the largest tile
MAX_SCORE = 3_932_156
ACTIONS = ("left", "up", "right", "down")
EMPTY, LIGHT, DARK = "#eeeae4", (253, 231, 178), (122, 31, 92)  # tiles from pale yellow to purple
FAINT = "#f7f7f7"  # strips that are clicked
LARGEST_SHADE = 13  # from this exponent on all tiles have the darkest colour

ONES = np.uint64(0x1111111111111111)  # the lowest bit of every cell
NO_RIGHT = np.uint64(0x0111011101110111)  # of every cell that has a right neighbour
NO_BOTTOM = np.uint64(0x0000111111111111)  # of every cell that has a lower neighbour


def _row_table():
    """Return rows (4 nibbles, the left one lowest) after a slide to the left, uint32 [65536].

    The upper half is a quarter of the score.
    """
    tiles = np.arange(2**16)[:, None] >> 4 * np.arange(SIDE) & 15
    score = np.zeros(2**16, np.int64)
    for _ in range(SIDE - 1):
        for c in range(SIDE - 1):
            gap = tiles[:, c] == 0
            tiles[gap, c] = tiles[gap, c + 1]
            tiles[gap, c + 1] = 0
    for c in range(SIDE - 1):
        tile = tiles[:, c]
        merges = (tile == tiles[:, c + 1]) & (tile != 0) & (tile != LARGEST)
        tiles[merges, c] += 1
        score[merges] += 2 ** tiles[merges, c]
        # those behind it come up, and leave the last cell empty
        tiles[merges, c + 1 :] = np.pad(tiles[merges, c + 2 :], ((0, 0), (0, 1)))
    return ((score // 4) << 16 | tiles @ 16 ** np.arange(SIDE)).astype(np.uint32)


ROWS = _row_table()


@kernel
def transposed(b):
    """Return the board with rows and columns exchanged."""
    t = (b ^ b >> np.uint64(12)) & np.uint64(0x0000F0F00000F0F0)  # within the four 2 x 2 blocks
    b = b ^ t ^ t << np.uint64(12)
    t = (b ^ b >> np.uint64(24)) & np.uint64(0x00000000FF00FF00)  # the blocks themselves
    return b ^ t ^ t << np.uint64(24)


@kernel
def mirrored(b):
    """Return the board with left and right exchanged."""
    cells = np.uint64(0x0F0F0F0F0F0F0F0F)  # every second one
    pairs = np.uint64(0x00FF00FF00FF00FF)  # every second pair
    b = (b & cells) << np.uint64(4) | b >> np.uint64(4) & cells
    return (b & pairs) << np.uint64(8) | b >> np.uint64(8) & pairs


@kernel
def occupied(b):
    """Return the lowest bit of every cell that holds a tile."""
    b |= b >> np.uint64(2)
    return (b | b >> np.uint64(1)) & ONES


@kernel
def directions(b):
    """Return the legal actions as bits: tiles move into empty cells or merge with equal ones."""
    tiles = occupied(b)
    empty = tiles ^ ONES
    # not 2**15
    mergeable = tiles & ~(b & b >> np.uint64(1) & b >> np.uint64(2) & b >> np.uint64(3))
    beside = mergeable & ~occupied(b ^ b >> np.uint64(4)) & NO_RIGHT
    below = mergeable & ~occupied(b ^ b >> np.uint64(16)) & NO_BOTTOM
    left = (empty & tiles >> np.uint64(4) & NO_RIGHT | beside) != 0
    right = (tiles & empty >> np.uint64(4) & NO_RIGHT | beside) != 0
    up = (empty & tiles >> np.uint64(16) | below) != 0
    down = (tiles & empty >> np.uint64(16) & NO_BOTTOM | below) != 0
    return np.int64(left) | np.int64(up) << 1 | np.int64(right) << 2 | np.int64(down) << 3


@kernel
def num_empty(b):
    """Return the number of empty cells."""
    n = np.int64((occupied(b) ^ ONES) * ONES >> np.uint64(60))  # modulo 16
    return 16 if b == 0 else n


@kernel
def largest_tile(b):
    """Return the exponent of the largest tile."""
    largest = np.uint64(0)
    for c in range(CELLS):
        largest = max(largest, b >> np.uint64(4 * c) & np.uint64(15))
    return np.int64(largest)


@kernel
def add_tile(s, k, exponent):
    """Put a tile on the `k`-th empty cell."""
    b = bitboard(s, 0)
    empty = occupied(b) ^ ONES
    # each cell of `upto` counts the empty ones up to it, modulo 16: no loop to be guessed
    upto = empty * ONES
    found = empty & ~occupied(upto ^ (np.uint64(k) + np.uint64(1) & np.uint64(15)) * ONES)
    put_bitboard(s, 0, b | (found & ~found + np.uint64(1)) * np.uint64(exponent))


@kernel
def add_random_tile(s, rng):
    """Put a 2 (0.9) or a 4 (0.1) on a random empty cell."""
    bits = random_bits(rng)  # the upper half says where, the lower one which
    half = np.uint64(32)
    k = (bits >> half) * np.uint64(num_empty(bitboard(s, 0))) >> half
    tenth = (bits & np.uint64(0xFFFFFFFF)) * np.uint64(10) >> half
    add_tile(s, np.int64(k), 1 + np.int64(tenth == np.uint64(0)))


def tile_in_words(exponent) -> str:
    """Return a tile as it stands in texts: its number, or "." for none."""
    return str(2**exponent) if exponent else "."


def shown(s, numbers):
    """Write what a picture shows: the exponents of the 16 tiles, 0 = empty, and the score."""
    for cell in range(CELLS):
        numbers[cell] = s[cell >> 3] >> (4 * (cell & 7)) & 15
    numbers[CELLS] = s[2]


def exponents(s) -> list[int]:
    """Return the exponents of the tiles of a state, 16 numbers, 0 = empty."""
    numbers = np.zeros(CELLS + 1, np.int32)
    shown(s, numbers)
    return numbers[:CELLS].tolist()


def touch(numbers, action, places):
    """Write the place of a direction: the strip at that side of the board."""
    places[0] = CELLS + action
    return 1


def _tile(exponent) -> Look:
    """Return the look of a tile, the darker the larger."""
    shade = min(1.0, (exponent - 1) / (LARGEST_SHADE - 1))
    fill = draw.blend(LIGHT, DARK, shade)
    size = 20 if exponent < 10 else 15
    ink = draw.ink_on(fill)
    return Look(draw.text_at(0, 6, 2**exponent, size, ink, font_weight="bold"), fill)


def _drawing() -> Drawing:
    """Return the drawing: the tiles, and at each side a strip that is clicked to move there."""
    beside = 62  # width of the strips at the left and the right
    above = 24  # height of those above and below
    top = 46
    board = SIDE * CELL
    places = []
    tile = draw.square(CELL - 2, EMPTY, rx=4)
    for cell in range(CELLS):
        x = beside + CELL * (cell % SIDE + 0.5)
        y = top + CELL * (cell // SIDE + 0.5)
        places.append(Place((x, y), tile, cell))
    upright = draw.box(beside, board, FAINT, "none")
    across = draw.box(board, above, FAINT, "none")
    middle = (beside + board / 2, top + board / 2)
    strips = (
        ("left", "\u25c0", upright, (beside / 2, middle[1])),
        ("up", "\u25b2", across, (middle[0], top - above / 2)),
        ("right", "\u25b6", upright, (1.5 * beside + board, middle[1])),
        ("down", "\u25bc", across, (middle[0], top + board + above / 2)),
    )
    for name, arrow, shape, at in strips:
        looks = {ANY: Look(draw.text_at(0, 5, arrow, 12, SOFT))}
        places.append(Place(at, shape, None, name, looks))
    score = Look(draw.text_at(0, 0, "score {}", 13, anchor="start"))
    return Drawing(
        places=places,
        looks={exponent: _tile(exponent) for exponent in range(1, 16)},
        others=[Place((PAD, PAD + 12), None, CELLS, looks={ANY: score})],
        width=2 * beside + board,
        height=top + board + above + PAD,
        keys={"ArrowLeft": 0, "ArrowUp": 1, "ArrowRight": 2, "ArrowDown": 3},
    )


DRAWING = _drawing()


# the network of [konen2021] App. A.6.1, which needs no exploration, and traces, with which the same
# time of training is worth more
SETTINGS = {
    "tuples": "2048-4x6",
    "epsilon": 0.0,
    "lambda_": 0.5,
    "sigmoid": False,
    "tc": "id",
    "episodes": 20_000,
}


def game2048(
    raw_score: bool = False, *, all_tiles: bool = False, stages: list | None = None
) -> Game:
    """Make the game; its reward is the score, as a share of the greatest unless `raw_score`.

    With `all_tiles` networks tell 2**15 from 2**14, for agents that come so far; tables of six
    cells are half as large again.

    `stages` are the tiles with which a new stage of the game begins, such as [4096, 8192] for three
    stages: before the largest tile is 4096, before it is 8192, and from then on. The board has one
    more cell, for the stage, and networks have weights of their own in every stage: of four
    6-tuples with `all_tiles` each takes 4 x 16**6 = 67 million weights, 268 MB in float32, and
    three times that with temporal coherence.
    """
    unit = 1.0 if raw_score else float(MAX_SCORE)
    num_codes = LARGEST + 1 if all_tiles else LARGEST
    has_stages = stages is not None
    starts = _starts_of_stages(stages, num_codes - 1) if has_stages else []
    # exponent of the largest tile -> stage
    stage_of = tuple(sum(tile >= start for start in starts) for tile in range(LARGEST + 1))

    # The rules

    def start(s, rng):
        s[:] = 0
        add_random_tile(s, rng)
        add_random_tile(s, rng)

    def legal(s, moves):
        possible = directions(bitboard(s, 0))
        n = 0
        for action in range(4):
            moves[n] = action  # without a branch: overwritten by the next one if it is not legal
            n += possible >> action & 1
        return n

    def play(s, action):
        # every direction is a slide to the left of the turned board
        b = bitboard(s, 0)
        if action & 1:
            b = transposed(b)
        if action & 2:
            b = mirrored(b)
        row = np.uint64(0xFFFF)
        half = np.uint64(16)  # of an entry of the table
        t0 = np.uint64(ROWS[b & row])
        t1 = np.uint64(ROWS[b >> np.uint64(16) & row])
        t2 = np.uint64(ROWS[b >> np.uint64(32) & row])
        t3 = np.uint64(ROWS[b >> np.uint64(48)])
        quarter = (t0 >> half) + (t1 >> half) + (t2 >> half) + (t3 >> half)
        s[2] += np.int32(quarter << np.uint64(2))
        b = t0 & row | (t1 & row) << half | (t2 & row) << np.uint64(32) | t3 << np.uint64(48)
        if action & 2:
            b = mirrored(b)
        if action & 1:
            b = transposed(b)
        put_bitboard(s, 0, b)

    def player(s):
        return 0

    def over(s):
        return directions(bitboard(s, 0)) == 0

    def score(s, r):
        r[0] = s[2] / unit

    def outcomes(s):
        return 2 * num_empty(bitboard(s, 0))

    def outcome(s, k):
        n = num_empty(bitboard(s, 0))
        add_tile(s, k >> 1, 1 + (k & 1))
        probability = 0.1 if k & 1 else 0.9
        return probability / n

    # What networks and searches see

    def board(s, codes):
        b = bitboard(s, 0)
        if not all_tiles:
            # 15 becomes 14
            b ^= b & b >> np.uint64(1) & b >> np.uint64(2) & b >> np.uint64(3) & ONES
        low = np.uint32(b)
        high = np.uint32(b >> np.uint64(32))
        for c in range(8):
            codes[c] = low >> np.uint32(4 * c) & np.uint32(15)
        for c in range(8):
            codes[8 + c] = high >> np.uint32(4 * c) & np.uint32(15)
        if has_stages:
            codes[CELLS] = stage_of[largest_tile(b)]

    # Texts, arrays and states from outside

    def render(s):
        tiles = [f"{tile_in_words(exponent):>5}" for exponent in exponents(s)]
        return "\n".join([*lines_of(tiles, SIDE), f"score {s[2]}"])

    def parse(text):
        board, _, score = text.partition("score")
        tiles = board.split()
        exponent_of = {tile_in_words(exponent): exponent for exponent in range(LARGEST + 1)}
        points = int(score) if score.strip().isdigit() else -1
        if len(tiles) != CELLS or not set(tiles) <= set(exponent_of) or not 0 <= points < 2**31:
            raise ValueError(
                f"a position is {CELLS} tiles (2, 4 ... {2**LARGEST}, or . for none) and the score,"
                f" a multiple of 4 below 2**31, such as '2 . . . ... score 0', not {text!r}"
            )
        bits = sum(exponent_of[tile] << 4 * c for c, tile in enumerate(tiles))
        return np.array([bits & 0xFFFFFFFF, bits >> 32, points], np.uint32).view(np.int32)

    def fault(s):
        if s[2] < 0 or s[2] % 4:
            return f"the score {s[2]} is no multiple of 4"
        return None

    def from_codes(codes, player, score=0):
        tiles = " ".join(map(tile_in_words, codes[:CELLS].tolist()))
        return parse(f"{tiles} score {score}")

    turned = symmetries(SIDE, SIDE)
    beside = neighbours(SIDE, SIDE)
    stage_cells = [CELLS] if has_stages else []
    # games that are played end near a hundredth of the greatest score (notebook 24)
    scale = 100.0 / MAX_SCORE if raw_score else 100.0
    points_per_reward = 1 if raw_score else MAX_SCORE
    return Game(
        "game2048",
        title="2048",
        aim=(
            "Each new tile adds its number to your score, and the game ends when nothing can "
            "move. A move slides all tiles to one side, by an arrow key or a click beside the "
            "board; equal tiles that meet become one of twice the number."
        ),
        **named(start, legal, play, player, over, score, board, outcomes, outcome),
        **named(render, parse, fault, from_codes, shown, touch),
        drawing=DRAWING,
        num_shown=CELLS + 1,
        chance=add_random_tile,
        players=1,
        actions=4,
        size=3,
        num_codes=[num_codes] * CELLS + [len(starts) + 1] * len(stage_cells),
        layout=np.arange(CELLS).reshape(SIDE, SIDE),
        marks=[0, *(2**e for e in range(1, LARGEST + 1))],
        symmetries=[board + stage_cells for board in turned],
        action_symmetries=_turn_directions(turned),
        score_range=(0.0, MAX_SCORE / unit),
        search_settings={"scale": scale},
        settings=SETTINGS,
        progress=("", points_per_reward, " points"),
        neighbours=beside + [[] for _ in stage_cells],
        stage=CELLS if has_stages else None,
        names=dict(enumerate(ACTIONS)),
        version=1,
    )


def _starts_of_stages(stages, largest) -> list[int]:
    """Return the exponents of the tiles with which stages begin; ValueError for bad ones."""
    tiles = [2**exponent for exponent in range(2, largest + 1)]
    if not stages or not all(map(is_whole, stages)) or sorted(set(stages) & set(tiles)) != stages:
        raise ValueError(
            f"stages={stages!r} must be tiles, the smaller first, from {tiles[0]} to {tiles[-1]},"
            " such as [4096, 8192]; None for no stages"
        )
    return [tile.bit_length() - 1 for tile in stages]


def _turn_directions(symmetries) -> list:
    """Return where each symmetry takes every direction: [symmetries][actions]."""
    # a direction goes where the two cells in the middle of its side go
    middles = [[4, 8], [1, 2], [7, 11], [13, 14]]
    actions = []
    for goes_to in np.argsort(symmetries, axis=1):
        actions.append([middles.index(sorted(goes_to[cells].tolist())) for cells in middles])
    return actions
