r"""Nine Men's Morris and its smaller relatives: three men in a line take one off the board.

::

    specification   morris
    actions         from, to, and the man that a mill removes
    cells           0 = empty, 1 / 2 = a man; men in each hand
    reward          loss, draw, win, at the end
    checked         against OpenSpiel and known counts
    coordinates     a1 is below on the left; from-to, and behind an x the man that is removed

    men 9: 24 points, 16 lines       men 6: 16 points, 8 lines    men 3: 9 points
     0 ------- 1 ------- 2            0 ----- 1 ----- 2            0 - 1 - 2
     |   8 --- 9 --10    |            |   8 - 9 -10   |            | \ | / |
     |   |  16-17-18 |   |            |   |       |   |            3 - 4 - 5
     7--15--23    19-11--3            7 -15      11 - 3            | / | \ |
     |   |  22-21-20 |   |            |   |       |   |            6 - 7 - 8
     |  14 --13 --12     |            |  14 -13 -12   |            8 lines, or 6 without
     6 ------- 5 ------- 4            6 ----- 5 ----- 4            the diagonals

    state (int32), size 5 or more
     s[0]      first player's men, bit = point
     s[1]      second player's men
     s[2]      bit 0: player to move; bits 1-4 and 5-8: men in the first's and second's hand;
               bits 9-10: 0 = running, 1 / 2 = first / second has won, 3 = draw
     s[3]      plies since a man was taken, or the start
     s[4]      plies since the start
     s[5 ..]   history (rules.repeated), if repetition counts

    action = ((from + 1) * points + to) * (points + 1) + removed + 1
    from = -1: a man from the hand;  removed = -1: none;  forced pass, if any = the last action

Rules: the players place their men in turn, then step along the lines. Who closes a mill removes one
enemy man: one outside mills, or any if all are in mills; two mills at once remove one. Who has
three men left and none in hand may fly to any point (not with six or three men). A player with two
men left, or who cannot move, loses. With three men a mill wins at once. Draws: a position for the
third time, or 200 plies in a row without a man taken; each rule can be changed or left out.

Heuristic: own men, on the board and in the hand, less the opponent's, divided by men + 1. Known:
24, 552, 12,144, 255,024, 5,140,800 sequences of 1 to 5 plies; nine men: a draw. Three men on 8
lines: the first player wins, by the centre only. Source: [jamieson2022] "Nine-Men's Morris";
[gasser1996] (rules, value).
"""

import re

import numpy as np

from ...checks import one_of, whole
from ...kernel.compile import kernel
from .. import drawing as draw
from ..drawing import ANY, CELL, INK, LINE, PAD, PAPER, SOFT, Drawing, Look, Place
from ..game import Game
from . import bits_where, count, fault_of_end, length_of_history, lowest, named, repeated, situation

RUNNING, DRAW = 0, 3
CORE = 5  # numbers of a state without its history
FROM_HAND = -1  # where a man comes from that is placed
MOST_PLIES = 1 << 30
BOARDS = ((9, 16), (6, 8), (3, 8), (3, 6))  # (men of each player, lines)
AIM = "You win when the other side has two men left, or cannot move."
MOVES = (
    "Put your men on points, then step along the lines; three in a row, a mill, take a man away:"
    " click from, to, and the man that you take."
)
AIM_OF_THREE = "The first player with all three men on a line wins."
MOVES_OF_THREE = "Put your men on points, then step along the lines: click from and to."
ENDS = ("", ", first has won", ", second has won", ", drawn")
SITUATION = re.compile(
    r"(first|second) to move, (\d+) and (\d+) in hand, (\d+) plies quiet, (\d+) played(|, first has"
    r" won|, second has won|, drawn)"
)


@kernel
def in_hand(s, who):
    """Return how many men a player has in the hand."""
    return s[2] >> 1 + 4 * who & 15


@kernel
def closes(rest, mine, to):
    """Return whether a man put on `to` stands in a line with two other men of `mine`."""
    for i in range(rest.shape[1]):
        if mine & rest[to, i] == rest[to, i]:
            return True
    return False


@kernel
def removable(lines, theirs):
    """Return the men that a mill may remove: those outside mills, or all if there are none."""
    in_mills = 0
    for i in range(lines.shape[0]):
        if theirs & lines[i] == lines[i]:
            in_mills |= lines[i]
    return theirs & ~in_mills if theirs & ~in_mills else theirs


@kernel
def can_step(near, mine, free):
    """Return whether any man has a free point beside it."""
    while mine:
        if near[lowest(mine)] & free:
            return True
        mine &= mine - 1
    return False


@kernel
def write_moves(lines, moves, n, origin, targets, mine, theirs, takes):
    """Append the actions of one man, with every man that a mill may remove; return the new `n`."""
    line_bits, rest = lines
    points = rest.shape[0]
    while targets:
        to = lowest(targets)
        targets &= targets - 1
        action = ((origin + 1) * points + to) * (points + 1)
        if takes and closes(rest, mine, to):
            victims = removable(line_bits, theirs)
            while victims:
                moves[n] = action + lowest(victims) + 1
                victims &= victims - 1
                n += 1
        else:
            moves[n] = action
            n += 1
    return n


@kernel
def is_beaten(men, hand, free, near, flying, may_pass):
    """Return whether a player to move has lost: two men are left, or none can move."""
    men_left = count(men) + hand
    if men_left < 3:
        return True
    if hand > 0 or may_pass or flying and men_left == 3:
        return False
    return not can_step(near, men, free)


@kernel
def is_drawn(s, who, men, limits):
    """Return whether the ply that a player has just made draws the game; note its position."""
    repetition, quiet_plies, max_plies = limits
    if quiet_plies and s[3] >= quiet_plies:
        return True
    if max_plies and s[4] >= max_plies:
        return True
    if repetition and s.shape[0] > CORE and s[4] >= 2 * men:  # all men are placed
        return repeated(s, CORE, 1 + min(s[3], s[4] - 2 * men), who, repetition)
    return False


# long walks see two mills at once; a game that goes round in circles is cut off
SETTINGS = {
    "tc": "exp",
    "epsilon": [0.2, 0.05],
    "choose_start": True,
    "max_plies": 300,
    "tuples": {"random_walk": 40, "length": 8},
    "episodes": 25_000,
}


def morris(
    men: int = 9,
    lines: int | None = None,
    flying: bool | None = None,
    flying_captures: bool = True,
    blocked: str = "loss",
    repetition: int = 3,
    quiet_plies: int = 200,
    max_plies: int = 0,
) -> Game:
    """Make a game of Morris for `men` of each player; there are 8 or 6 `lines` for three men.

    With `flying` (default: with nine men only) a player with three men may move anywhere, and with
    `flying_captures` a mill so closed removes a man. `blocked` is what happens to a player who can
    not move, "loss" or "pass". The game is drawn when a position occurs for the `repetition`-th
    time, after `quiet_plies` without a man taken, and after `max_plies`; 0: no such rule.
    """
    if lines is None:
        lines = 16 if men == 9 else 8
    if (men, lines) not in BOARDS:
        raise ValueError(
            f"there is no board for men={men!r}, lines={lines!r}; (men, lines) is one of"
            f" {', '.join(map(str, BOARDS))}"
        )
    one_of("blocked", blocked, ("loss", "pass"))
    history = length_of_history(repetition, quiet_plies, max_plies)
    limits = (repetition, quiet_plies, max_plies)
    if flying is None:
        flying = men == 9
    may_pass = blocked == "pass"
    if men == 3:
        places, drawn, steps = _board_of_three(lines)
    else:
        places, drawn, steps = _rings(3 if men == 9 else 2)
    points = len(places)
    beside = _neighbours(points, steps)
    tables = _bitboards(drawn, beside)
    line_bits, _, near = tables

    def has_lost(mine, theirs, hand):
        """Return whether the player to move is beaten, or faces a line that wins at once."""
        if men == 3 and any(theirs & line == line for line in line_bits.tolist()):
            return True
        free = ((1 << points) - 1) & ~(mine | theirs)
        return is_beaten(mine, hand, free, near, flying, may_pass)

    pass_action = (points + 1) * points * (points + 1)
    actions = pass_action + 1 if may_pass else pass_action
    turns = _symmetries(drawn, beside)
    first_hand = points  # the cells behind those of the points
    second_hand = points + 1
    return Game(
        "morris",
        title="Nine Men's Morris" if men == 9 else f"Morris with {men} men each",
        aim=f"{AIM_OF_THREE} {MOVES_OF_THREE}" if men == 3 else f"{AIM} {MOVES}",
        **_rules(men, tables, flying, flying_captures, may_pass, limits),
        **situation(2, 9),
        **_texts(men, places, has_lost, limits, history),
        drawing=_drawing(places, steps),
        names={actions - 1: "pass"},
        actions=actions,
        players=2,
        max_legal=_max_legal(men, points, len(steps), flying),
        core=CORE,
        size=CORE + history,
        num_codes=[3] * points + [men + 1] * 2,
        layout=_layout(places),
        symmetries=[[*turn, first_hand, second_hand] for turn in turns],
        action_symmetries=[_turn_actions(turn, actions) for turn in turns],
        compound=points + 1,
        start_scheme=(0.5, 1),
        settings=SETTINGS,
        # beside a hand are the other one and all points
        neighbours=[*beside, [second_hand, *range(points)], [first_hand, *range(points)]],
        version=1,
    )


def _rules(men, tables, flying, flying_captures, may_pass, limits) -> dict:
    """Return the rules by name; `tables` are those of :func:`_bitboards`."""
    line_bits, rest, near = tables
    points = len(near)
    everything = (1 << points) - 1
    removals = points + 1  # values of `removed` in an action
    pass_action = removals * points * removals
    wins_at_once = men == 3

    def start(s, rng):
        s[0] = 0
        s[1] = 0
        s[2] = men << 1 | men << 5
        s[3] = 0
        s[4] = 0

    def legal(s, moves):
        who = s[2] & 1
        mine = np.int64(s[who])
        theirs = np.int64(s[1 - who])
        free = everything & ~(mine | theirs)
        lines = (line_bits, rest)
        if in_hand(s, who) > 0:
            takes = not wins_at_once
            return write_moves(lines, moves, 0, FROM_HAND, free, mine, theirs, takes)
        flies = flying and count(mine) == 3
        takes = not wins_at_once and (flying_captures or not flies)
        n = 0
        men_left = mine
        while men_left:
            origin = lowest(men_left)
            men_left &= men_left - 1
            targets = free if flies else free & near[origin]
            others = mine & ~(1 << origin)
            n = write_moves(lines, moves, n, origin, targets, others, theirs, takes)
        if n == 0:  # only where a pass is forced: else the game is over
            moves[0] = pass_action
            n = 1
        return n

    def play(s, action):
        who = s[2] & 1
        mine = np.int64(s[who])
        theirs = np.int64(s[1 - who])
        won = False
        s[3] += 1
        s[4] += 1
        if action != pass_action:
            removed = action % removals
            move = action // removals
            origin = move // points
            to = move % points
            if origin == 0:  # a man from the hand
                s[2] -= 1 << 1 + 4 * who
            else:
                mine &= ~(1 << origin - 1)
            won = wins_at_once and closes(rest, mine, to)
            mine |= 1 << to
            if removed > 0:
                theirs &= ~(1 << removed - 1)
                s[3] = 0
            s[who] = mine
            s[1 - who] = theirs
        free = everything & ~(mine | theirs)
        status = RUNNING
        if won or is_beaten(theirs, in_hand(s, 1 - who), free, near, flying, may_pass):
            status = 1 + who
        elif is_drawn(s, who, men, limits):
            status = DRAW
        s[2] = (s[2] & 0x1FE) | status << 9 | 1 - who

    def irreversible(s):
        return s[3] == 0 or s[4] <= 2 * men

    # What networks and searches see

    def board(s, cells):
        for p in range(points):
            cells[p] = (s[0] >> p & 1) + 2 * (s[1] >> p & 1)
        cells[points] = in_hand(s, 0)
        cells[points + 1] = in_hand(s, 1)

    def key(s, words):
        """Write one word: the men of both, then hands, player to move and end."""
        words[0] = (
            np.uint64(s[0]) | np.uint64(s[1]) << np.uint64(24) | np.uint64(s[2]) << np.uint64(48)
        )
        words[1] = np.uint64(0)

    def heuristic(s):
        return (count(s[0]) + in_hand(s, 0) - count(s[1]) - in_hand(s, 1)) / (men + 1.0)

    return named(start, legal, play, irreversible, board, key, heuristic)


def _texts(men, places, has_lost, limits, history) -> dict:
    """Return what reads, writes, draws and checks states, by name."""
    repetition, quiet_plies, max_plies = limits
    points = len(places)
    removals = points + 1  # values of `removed` in an action
    pass_action = removals * points * removals
    width = max(x for x, _ in places) + 1
    reading = sorted(range(points), key=lambda p: places[p][::-1])  # the points row by row

    def marks_of(s):
        return [".xo?"[(s[0] >> p & 1) + 2 * (s[1] >> p & 1)] for p in range(points)]

    def render(s):
        grid = [[" "] * width for _ in range(width)]
        for (x, y), mark in zip(places, marks_of(s)):
            grid[y][x] = mark
        rows = [" ".join(row).rstrip() for row in grid]
        mover = "second" if s[2] & 1 else "first"
        hands = f"{in_hand(s, 0)} and {in_hand(s, 1)} in hand"
        clocks = f"{s[3]} plies quiet, {s[4]} played"
        return "\n".join([*rows, f"{mover} to move, {hands}, {clocks}{ENDS[s[2] >> 9]}"])

    def position(sides, player, hands, quiet, plies, end):
        """Return a state by the men of both sides, as bitboards, and its other numbers."""
        s = np.zeros(CORE + history, np.int32)
        s[0], s[1] = sides
        s[2] = player | hands[0] << 1 | hands[1] << 5 | end << 9
        s[3] = quiet
        s[4] = plies
        # The history is this position alone. What was before is not known: its bitboards stay 0, as
        # none of a real position is.
        if plies >= 2 * men:
            newest = CORE + min(quiet, plies - 2 * men)
            if newest + 1 < len(s):
                s[newest] = sides[player]
                s[newest + 1] = sides[1 - player]
        return s

    def parse(text):
        board, _, last_line = text.rpartition("\n")
        marks = board.split()
        numbers = SITUATION.fullmatch(last_line)
        if len(marks) != points or not set(marks) <= set(".xo") or not numbers:
            raise ValueError(
                f"a position is {points} marks x, o or . and a line such as 'first to move, {men}"
                f" and {men} in hand, 0 plies quiet, 0 played', not {text!r}"
            )
        sides = [0, 0]
        for point, mark in zip(reading, marks):
            if mark != ".":
                sides["xo".index(mark)] |= 1 << point
        first, second, quiet, plies = map(int, numbers.groups()[1:5])
        player = int(numbers[1] == "second")
        return position(sides, player, (first, second), quiet, plies, ENDS.index(numbers[6]))

    def fault(s):
        """Say what is wrong: the rules trust the numbers of men and plies to fit their arrays."""
        first, second, turn, quiet, plies = map(int, s[:CORE])
        status = turn >> 9
        if first & second or not 0 <= first | second < 1 << points:
            return "two men stand on one point, or one off the board"
        if not 0 <= quiet <= min(plies, quiet_plies or plies) or plies > (max_plies or MOST_PLIES):
            return f"{quiet} plies of {plies} without a man taken"
        mover = plies & 1
        hands = [max(0, men - (plies + 1) // 2), max(0, men - plies // 2)]
        if turn & 0x1FF != mover | hands[0] << 1 | hands[1] << 5:
            return f"after {plies} plies it is not so whose turn it is, and what is in the hands"
        for on_board, hand in zip((first, second), hands):
            men_of_player = on_board.bit_count() + hand
            if men_of_player > men:
                return f"a player has {men_of_player} men instead of {men}"
        mine, theirs = (second, first) if mover else (first, second)
        if history and plies >= 2 * men and status == RUNNING:
            newest = CORE + min(quiet, plies - 2 * men)
            if s[newest : newest + 2].tolist() != [mine, theirs]:
                return f"its history does not end with the position after {quiet} quiet plies"
        draw_is_due = 0 < quiet == quiet_plies or 0 < plies == max_plies
        winner = 2 - mover if has_lost(mine, theirs, hands[mover]) else 0
        return fault_of_end(status, winner, draw_is_due, repetition)

    def from_codes(codes, player, hands=None, quiet=0, plies=None):
        sides = [bits_where(codes == 1), bits_where(codes == 2)]
        if hands is None:
            # Fewer men than at the end of placing: some are in the hands, or have been taken.
            if men > 3 and 0 < np.count_nonzero(codes) < 2 * men:
                raise ValueError(
                    "the board does not tell the men in the hands: hands=(first, second)"
                )
            hands = [men - side.bit_count() for side in sides]
        hands = list(hands)
        if sum(hands) and hands[1] - hands[0] != player:
            raise ValueError(f"with {hands} men in the hands it is not player {player}'s turn")
        if plies is None:
            plies = 2 * men - sum(hands)
        else:
            plies = whole("plies", plies, 0, MOST_PLIES)
        lost = has_lost(sides[player], sides[1 - player], hands[player])
        quiet = whole("quiet", quiet, 0, plies)
        end = 2 - player if lost else RUNNING
        return position(sides, player, hands, quiet, plies, end)

    def touch(codes, action, places):
        move = action // removals
        count = 0
        if move // points > 0:  # a man on the board moves; otherwise one is placed
            places[count] = move // points - 1
            count += 1
        places[count] = move % points
        count += 1
        if action % removals > 0:
            places[count] = ~(action % removals - 1)
            count += 1
        return 0 if action == pass_action else count

    return named(render, parse, fault, touch, from_codes)


def _max_legal(men, points, num_steps, flying) -> int:
    # Every (from, to) comes with at most as many removals as the opponent has men. Placing has at
    # most (points - others) targets; stepping uses each step in one direction at most; a flying
    # player has three men and (points - 3 - others) targets for each.
    most = 0
    for others in range(men + 1):
        placements = points - others
        flights = 3 * (points - 3 - others) if flying else 0
        most = max(most, max(1, others) * max(placements, num_steps, flights))
    return most


# Boards


def _drawing(places, steps) -> Drawing:
    """Return the drawing of points and the lines between them; the men in the hands stand above."""
    width = max(x for x, _ in places) + 1
    top = PAD + 22
    middles = [(PAD + CELL * (x + 0.5), top + CELL * (y + 0.5)) for x, y in places]
    lines = []
    for a, b in steps:
        (x1, y1), (x2, y2) = middles[a], middles[b]
        ends = {"x1": x1, "y1": y1, "x2": x2, "y2": y2}
        lines.append(draw.element("line", **ends, stroke=LINE, stroke_width=2))
    points = []
    names = []
    for point, ((x, y), middle) in enumerate(zip(places, middles)):
        name = "abcdefg"[x] + str(width - y)
        # what takes the clicks is not seen until it shows a value
        shape = draw.disc(20, "none", "none", pointer_events="all")
        points.append(Place(middle, shape, point, name, value_at=(0, 5, 12)))
        lines.append(draw.circle(*middle, 4, LINE))
        names.append(draw.text_at(middle[0] + 25, middle[1] + 24, name, 10, SOFT))
    hands = []
    for player, (colour, x) in enumerate((("black", PAD), ("white", PAD + 150))):
        words = draw.text_at(0, 0, f"in hand: {{}} {colour}", 13, anchor="start")
        hands.append(Place((x, PAD + 12), None, len(places) + player, looks={ANY: Look(words)}))
    return Drawing(
        places=points,
        looks={
            1: Look(draw.circle(0, 0, 20, INK, LINE, stroke_width=2)),
            2: Look(draw.circle(0, 0, 20, PAPER, INK, stroke_width=2)),
        },
        others=hands,
        behind=lines,
        above=names,
        width=2 * PAD + max(CELL * width, 300),
        height=top + CELL * width + PAD,
        sides=("black", "white"),
        typed_sides=("x", "o"),
    )


def _board_of_three(num_lines):
    """Return a place (x, y) for each point, the lines, and the steps of the board of three men."""
    points = np.arange(9).reshape(3, 3)
    places = [(point % 3, point // 3) for point in range(9)]
    lines = [*points.tolist(), *points.T.tolist()]
    if num_lines == 8:
        lines += [[0, 4, 8], [2, 4, 6]]
    return places, lines, _steps_along(lines)


def _rings(num_rings):
    """Return the same for concentric squares, joined at the middles of their sides.

    Only three squares are so many that those joints are lines, too.
    """
    circle = [(-1, -1), (0, -1), (1, -1), (1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0)]
    places = []
    lines = []
    for ring in range(num_rings):
        first = 8 * ring  # the point above on the left
        radius = num_rings - ring
        places += [(num_rings + radius * x, num_rings + radius * y) for x, y in circle]
        for corner in (0, 2, 4, 6):
            next_corner = (corner + 2) % 8
            lines.append([first + corner, first + corner + 1, first + next_corner])
    joints = []
    for middle in (1, 3, 5, 7):
        joints.append([8 * ring + middle for ring in range(num_rings)])
    steps = _steps_along(lines + joints)
    if num_rings == 3:
        lines += joints
    return places, lines, steps


def _layout(places) -> np.ndarray:
    """Return the point at each place [y, x] of the board, -1 = none."""
    width = max(x for x, _ in places) + 1
    layout = np.full((width, width), -1)
    for point, (x, y) in enumerate(places):
        layout[y, x] = point
    return layout


def _steps_along(lines) -> list:
    """Return the pairs of points that follow one another in a line."""
    steps = []
    for line in lines:
        steps += zip(line, line[1:])
    return steps


def _neighbours(points, steps) -> list:
    """Return for each point those one step away."""
    beside = [[] for _ in range(points)]
    for a, b in steps:
        beside[a].append(b)
        beside[b].append(a)
    return [sorted(others) for others in beside]


def _symmetries(drawn, beside) -> list:
    """Return all permutations of the points that keep lines and steps, the identity first."""
    lines = {frozenset(line) for line in drawn}
    symmetries = []

    def keeps_lines(image):
        return {frozenset(image[p] for p in line) for line in drawn} == lines

    def keeps_steps(image, p):
        """Say whether the next point can go to `p`, by the steps to the points before it."""
        point = len(image)
        return all((q in beside[point]) == (image[q] in beside[p]) for q in range(point))

    def extend(image):
        """Add the symmetries that take the first points to those of an image."""
        if len(image) == len(beside):
            if keeps_lines(image):
                symmetries.append(image)
            return
        for p in range(len(beside)):
            if p not in image and keeps_steps(image, p):
                extend([*image, p])

    extend([])
    return sorted(symmetries)


def _turn_actions(turn, actions) -> list:
    """Return where a symmetry, in the sense of ``Game(symmetries=...)``, takes every action."""
    points = len(turn)
    goes_to = np.full(points + 1, -1)  # the last one, also found by the index -1, is "no point"
    goes_to[turn] = np.arange(points)
    pass_action = (points + 1) * points * (points + 1)
    move, removed = np.divmod(np.arange(pass_action), points + 1)
    origin, to = np.divmod(move, points)
    new_origin = goes_to[origin - 1] + 1
    new_removed = goes_to[removed - 1] + 1
    turned = (new_origin * points + goes_to[to]) * (points + 1) + new_removed
    return [*turned.tolist(), *range(pass_action, actions)]


def _bitboards(drawn, beside):
    """Return bitboards: each line; for each point the rest of its lines, and its neighbours."""
    points = len(beside)
    most = max(sum(p in line for line in drawn) for p in range(points))
    rest = np.full((points, most), -1, np.int64)  # -1, all bits, is in no bitboard
    for p in range(points):
        lines_of_point = [line for line in drawn if p in line]
        for k, line in enumerate(lines_of_point):
            rest[p, k] = _bits(line) & ~(1 << p)
    lines = np.array([_bits(line) for line in drawn], np.int64)
    near = np.array([_bits(others) for others in beside], np.int64)
    return lines, rest, near


def _bits(points) -> int:
    """Return the bitboard of some points."""
    return sum(1 << p for p in points)
