"""Checkers, its features, minimax, endgames and the TD update in plain Python, not the library's.

A board is a text of 32 marks (square 1 first): w, W, b, B or a dot; a side is "w" or "b". The
features are counted from their definitions, for Black on the board turned by 180 degrees with the
colours swapped.
"""

import collections
import functools
import itertools
import math

ROWS = [divmod(q, 4)[0] for q in range(32)]
COLUMNS = [2 * (q % 4) + 1 - ROWS[q] % 2 for q in range(32)]
AT = {(ROWS[q], COLUMNS[q]): q for q in range(32)}
WAYS = ((-1, -1), (-1, 1), (1, -1), (1, 1))  # up left, up right, down left, down right
NEAR = [[AT.get((ROWS[q] + r, COLUMNS[q] + c)) for r, c in WAYS] for q in range(32)]
FAR = [[AT.get((ROWS[q] + 2 * r, COLUMNS[q] + 2 * c)) for r, c in WAYS] for q in range(32)]
WON = 1e300
EMPTY = "."
SWAPPED = str.maketrans("wWbB", "bBwW")


def moved(board, q, to, captured=()):
    """The board after a piece has moved, and whether that crowned it."""
    mark, after = board[q], list(board)
    crowned = mark == "w" and ROWS[to] == 0 or mark == "b" and ROWS[to] == 7
    for square in (q, *captured):
        after[square] = EMPTY
    after[to] = mark.upper() if crowned else mark
    return "".join(after), crowned


def ways_of(mark):
    """Directions in which a piece moves."""
    return {"w": (0, 1), "b": (2, 3)}.get(mark, (0, 1, 2, 3))


def jumps_of(board, q):
    """Single jumps of the piece on a square: (direction, board after it, target, crowned?)."""
    enemies, found = "bB" if board[q] in "wW" else "wW", []
    for d in ways_of(board[q]):
        over, to = NEAR[q][d], FAR[q][d]
        if to is not None and board[to] == EMPTY and board[over] in enemies:
            after, crowned = moved(board, q, to, (over,))
            found.append((d, after, to, crowned))
    return found


def steps_of(board, q):
    """Every step of the piece on a square: (direction, board after it)."""
    free = [(d, NEAR[q][d]) for d in ways_of(board[q]) if NEAR[q][d] is not None]
    return [(d, moved(board, q, to)[0]) for d, to in free if board[to] == EMPTY]


def jump_turns(board, q):
    """All ways to jump on with a piece until it cannot: (actions, board)."""
    found = []
    for d, after, to, crowned in jumps_of(board, q):
        further = [] if crowned else jump_turns(after, to)
        action = 4 * q + d
        found += [((action, *actions), last) for actions, last in further] or [((action,), after)]
    return found


@functools.lru_cache(maxsize=1 << 20)
def turns(board, side, jumper=None):
    """All turns of a player: (actions, board after them), by squares and directions."""
    own = [q for q in range(32) if board[q].lower() == side]
    jumping = [
        turn for q in ([jumper] if jumper is not None else own) for turn in jump_turns(board, q)
    ]
    return jumping or [((4 * q + d,), after) for q in own for d, after in steps_of(board, q)]


def captures(board, side):
    """Whether a player must jump."""
    return any(jumps_of(board, q) for q in range(32) if board[q].lower() == side)


def turned(board):
    """The board as the other player sees it: turned by 180 degrees, colours swapped."""
    return board[::-1].translate(SWAPPED)


def side_counts(board):
    """The 22 counts of White, who plays up."""
    men = [q for q in range(32) if board[q] == "w"]
    kings = [q for q in range(32) if board[q] == "W"]
    own, empty = men + kings, [q for q in range(32) if board[q] == EMPTY]

    def on(pieces, *squares):
        return sum(q + 1 in squares for q in pieces)

    def beside(q):
        return [p for p in NEAR[q] if p is not None]

    border = [q for q in range(32) if ROWS[q] in (0, 7) or COLUMNS[q] in (0, 7)]
    centre = (10, 11, 14, 15, 18, 19, 22, 23)
    main, double = (
        (4, 8, 11, 15, 18, 22, 25, 29),
        (1, 6, 10, 15, 19, 24, 28, 5, 9, 14, 18, 23, 27, 32),
    )
    return [
        len(men),
        len(kings),
        sum(q in border for q in men),
        sum(q in border for q in kings),
        sum(any(p is not None and board[p] == EMPTY for p in NEAR[q][:2]) for q in men),
        sum(any(board[p] == EMPTY for p in beside(q)) for q in kings),
        sum(ROWS[q] for q in men),
        sum(ROWS[q] == 0 for q in empty),
        sum(ROWS[q] >= 6 for q in own),
        sum(ROWS[q] <= 2 for q in men),
        on(men, *centre),
        on(kings, *centre),
        on(men, *main),
        on(kings, *main),
        on(men, *double),
        on(kings, *double),
        sum(all(board[p] == EMPTY for p in beside(q)) for q in own),
        sum(sum(board[p] in "wW" for p in beside(q)) >= 3 for q in empty),
        int(on(men, 27, 31, 32) == 3),
        int(on(men, 26, 30, 31) == 3),
        int(on(men, 30, 32) == 2),
        int(board[31] == "w" and board[27] == "b"),
    ]


@functools.lru_cache(maxsize=1 << 18)
def features(board, owner, kind="F22"):
    """The features of a position as its owner sees them."""
    own, other = side_counts(board), side_counts(turned(board))
    if owner == "b":
        own, other = other, own
    difference = [a - b for a, b in zip(own, other, strict=True)]
    if kind == "F22":
        return tuple(difference)
    if kind == "V1":
        return tuple(own[:8] + other[:8] + difference[16:])
    raw = [*range(9), 10, 11]
    return tuple([own[k] for k in raw] + [other[k] for k in raw])


def activation(weights, phi):
    """w.phi in the library's order of additions, so that equal values are equal."""
    sums = [0.0] * 4
    for k, value in enumerate(phi):
        sums[k % 4] += weights[k] * value
    return (sums[0] + sums[1]) + (sums[2] + sums[3])


def value_of(x):
    """V of an activation."""
    return math.copysign(100.0, x) if abs(x) >= WON else 99.0 * math.tanh(0.027 * x)


def minimax(board, side, owner, evaluate, depth, jumper=None, quiescence=False, misere=True):
    """Return (owner's activation, actions of the turn, leaf) of plain minimax.

    The first of equal values wins.
    """
    choices = turns(board, side, jumper)
    if not choices:
        return (WON if (side == owner) == misere else -WON), (), board
    if depth <= 0 and not (quiescence and captures(board, side)):
        return evaluate(board), (), board
    other, best = "b" if side == "w" else "w", None
    for actions, after in choices:
        value, _, leaf = minimax(after, other, owner, evaluate, depth - 1, None, quiescence, misere)
        if best is None or (value > best[0] if side == owner else value < best[0]):
            best = (value, actions, leaf)
    return best


def endgames(*materials, men=True):
    """All positions with these numbers of (white, black) pieces: (board, side)."""
    for white, black in materials:
        kinds = (["wW"] * white + ["bB"] * black) if men else ["W"] * white + ["B"] * black
        for own in itertools.combinations(range(32), white):
            for others in itertools.combinations(sorted({*range(32)} - {*own}), black):
                for marks in itertools.product(*kinds):
                    board = [EMPTY] * 32
                    for q, mark in zip(own + others, marks, strict=True):
                        board[q] = mark
                    if "w" not in board[:4] and "b" not in board[28:]:
                        yield from (("".join(board), side) for side in "wb")


def solve(positions, misere=True):
    """Retrograde analysis: {(board, side): (1 = the mover wins, -1 = loses, turns)}, no draws.

    `positions` must hold every running position that can follow from one of them; ends of the game
    are found by themselves.
    """
    before, open_turns, value = collections.defaultdict(list), {}, {}
    for board, side in dict.fromkeys(positions):
        other = "b" if side == "w" else "w"
        following = {(after, other) for _, after in turns.__wrapped__(board, side)}
        open_turns[board, side] = len(following)
        for position in following:
            before[position].append((board, side))
    for position in [*before, *open_turns]:
        if not open_turns.get(position) and not turns.__wrapped__(*position):
            value[position] = (1 if misere else -1, 0)
    queue = collections.deque(value)
    while queue:
        position = queue.popleft()
        outcome, distance = value[position]
        for earlier in before[position]:
            open_turns[earlier] -= 1
            if earlier not in value and (outcome < 0 or open_turns[earlier] == 0):
                value[earlier] = (-outcome, distance + 1)
                queue.append(earlier)
    return value


def td_change(values, gradients, outcome, alpha, lambda_, gamma=1.0):
    """The change of the weights after a game, as a double sum over all pairs k <= t.

    `values` are those of the search at the learner's positions, `gradients` the features there,
    `outcome` 1, 0 or -1.
    """
    following = [*values[1:], 100.0 * outcome]
    change = [0.0] * 22
    for t, value in enumerate(values):
        delta = gamma * following[t] - value
        for k in range(t + 1):
            weight = alpha * delta * (gamma * lambda_) ** (t - k)
            change = [c + weight * g for c, g in zip(change, gradients[k], strict=True)]
    return change
