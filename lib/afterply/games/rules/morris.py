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
men left, or who can not move, loses. With three men a mill wins at once. Draws: a position for the
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
from .. import boards as draw
from ..boards import CELL, INK, LINE, MARKED, PAD, PAPER, SOFT
from ..game import Game
from . import bits_where, count, fault_of_end, length_of_history, lowest, named, repeated, situation

RUNNING, DRAW = 0, 3
CORE = 5  # numbers of a state without its history
MOST_PLIES = 1 << 30
BOARDS = ((9, 16), (6, 8), (3, 8), (3, 6))  # (men of each player, lines)
ENDS = ("", ", first has won", ", second has won", ", drawn")
SITUATION = re.compile(
    r"(first|second) to move, (\d+) and (\d+) in hand, (\d+) plies quiet, (\d+) played(|, first has"
    r" won|, second has won|, drawn)"
)


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
def write_moves(tables, moves, n, origin, targets, mine, theirs, takes):
    """Append the actions of one man, with every man that a mill may remove; return the new `n`."""
    lines, rest = tables
    points = rest.shape[0]
    while targets:
        to = lowest(targets)
        targets &= targets - 1
        action = ((origin + 1) * points + to) * (points + 1)
        if takes and closes(rest, mine, to):
            victims = removable(lines, theirs)
            while victims:
                moves[n] = action + lowest(victims) + 1
                victims &= victims - 1
                n += 1
        else:
            moves[n] = action
            n += 1
    return n


# long walks see two mills at once; a game that goes round in circles is cut off
SETTINGS = {"tc": "exp", "epsilon": [0.2, 0.05], "choose_start": True, "max_plies": 300}
SETTINGS |= {"tuples": {"random_walk": 40, "length": 8}, "episodes": 25_000}


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
    lines = lines if lines is not None else 16 if men == 9 else 8
    if (men, lines) not in BOARDS:
        raise ValueError(
            f"there is no board for men={men!r}, lines={lines!r}; (men, lines) is one of"
            f" {', '.join(map(str, BOARDS))}"
        )
    one_of("blocked", blocked, ("loss", "pass"))
    history = length_of_history(repetition, quiet_plies, max_plies)
    flying = men == 9 if flying is None else flying
    may_pass, wins_at_once = blocked == "pass", men == 3
    places, drawn, steps = _geometry(men, lines)
    points = len(places)
    beside = [sorted({b for step in steps for b in step if a in step} - {a}) for a in range(points)]
    line_bits, rest, near = _bitboards(drawn, beside)
    everything, codes = (1 << points) - 1, points + 1
    pass_action = codes * points * codes

    def start(s, rng):
        s[0] = s[1] = s[3] = s[4] = 0
        s[2] = men << 1 | men << 5

    def legal(s, moves):
        who = s[2] & 1
        mine, theirs = np.int64(s[who]), np.int64(s[1 - who])
        hand, free, n = s[2] >> 1 + 4 * who & 15, everything & ~(mine | theirs), 0
        tables = (line_bits, rest)
        if hand > 0:
            return write_moves(tables, moves, 0, -1, free, mine, theirs, not wins_at_once)
        flies, men_left = flying and count(mine) == 3, mine
        takes = not wins_at_once and (flying_captures or not flies)
        while men_left:
            origin = lowest(men_left)
            men_left &= men_left - 1
            targets = free if flies else free & near[origin]
            others = mine & ~(1 << origin)
            n = write_moves(tables, moves, n, origin, targets, others, theirs, takes)
        if n == 0:  # only where a pass is forced: else the game is over
            moves[0], n = pass_action, 1
        return n

    def play(s, action):
        who = s[2] & 1
        mine, theirs, won = np.int64(s[who]), np.int64(s[1 - who]), False
        s[3] += 1
        s[4] += 1
        if action != pass_action:
            removed, move = action % codes, action // codes
            origin, to = move // points, move % points
            if origin == 0:
                s[2] -= 1 << 1 + 4 * who
            else:
                mine &= ~(1 << origin - 1)
            won = wins_at_once and closes(rest, mine, to)
            mine |= 1 << to
            if removed > 0:
                theirs &= ~(1 << removed - 1)
                s[3] = 0
            s[who], s[1 - who] = mine, theirs
        hand, status = s[2] >> 5 - 4 * who & 15, RUNNING
        num_theirs = count(theirs) + hand
        goes_on = hand > 0 or may_pass or flying and num_theirs == 3
        goes_on = goes_on or can_step(near, theirs, everything & ~(mine | theirs))
        if won or num_theirs < 3 or not goes_on:
            status = 1 + who
        elif quiet_plies and s[3] >= quiet_plies or max_plies and s[4] >= max_plies:
            status = DRAW
        elif repetition and s.shape[0] > CORE and s[4] >= 2 * men:
            if repeated(s, CORE, 1 + min(s[3], s[4] - 2 * men), who, repetition):
                status = DRAW
        s[2] = (s[2] & 0x1FE) | status << 9 | 1 - who

    def board(s, cells):
        for p in range(points):
            cells[p] = (s[0] >> p & 1) + 2 * (s[1] >> p & 1)
        cells[points], cells[points + 1] = s[2] >> 1 & 15, s[2] >> 5 & 15

    def key(s, words):
        """Write one word: the men of both, then hands, player to move and end."""
        words[0] = (
            np.uint64(s[0]) | np.uint64(s[1]) << np.uint64(24) | np.uint64(s[2]) << np.uint64(48)
        )
        words[1] = np.uint64(0)

    def heuristic(s):
        return (count(s[0]) + (s[2] >> 1 & 15) - count(s[1]) - (s[2] >> 5 & 15)) / (men + 1.0)

    width = max(x for x, _ in places) + 1
    reading = sorted(range(points), key=lambda p: places[p][::-1])
    names = ["abcdefg"[x] + str(width - y) for x, y in places]
    layout = np.full((width, width), -1)
    layout[tuple(np.transpose(places)[::-1])] = range(points)

    def marks_of(s):
        return [".xo?"[(s[0] >> p & 1) + 2 * (s[1] >> p & 1)] for p in range(points)]

    def render(s):
        grid = [[" "] * width for _ in range(width)]
        for (x, y), mark in zip(places, marks_of(s)):
            grid[y][x] = mark
        situation = (
            f"{'second' if s[2] & 1 else 'first'} to move, {s[2] >> 1 & 15} and"
            f" {s[2] >> 5 & 15} in hand, {s[3]} plies quiet, {s[4]} played{ENDS[s[2] >> 9]}"
        )
        return "\n".join([*(" ".join(row).rstrip() for row in grid), situation])

    def position(sides, player, hands, quiet, plies, end):
        s = np.zeros(CORE + history, np.int32)
        s[:CORE] = *sides, player | hands[0] << 1 | hands[1] << 5 | end << 9, quiet, plies
        # the position itself; what was before is not known, and no bitboard is 0
        if plies >= 2 * men and (k := CORE + min(quiet, plies - 2 * men)) + 1 < len(s):
            s[k], s[k + 1] = sides[player], sides[1 - player]
        return s

    def parse(text):
        board, _, last = text.rpartition("\n")
        marks, said = board.split(), SITUATION.fullmatch(last)
        if len(marks) != points or not set(marks) <= set(".xo") or not said:
            raise ValueError(
                f"a position is {points} marks x, o or . and a line such as 'first to move, {men}"
                f" and {men} in hand, 0 plies quiet, 0 played', not {text!r}"
            )
        sides = [sum(1 << p for p, m in zip(reading, marks) if m == wanted) for wanted in "xo"]
        *hands, quiet, plies = map(int, said.groups()[1:5])
        return position(sides, said[1] == "second", hands, quiet, plies, ENDS.index(said[6]))

    def fault(s):
        """Say what is wrong: the rules trust the numbers of men and plies to fit their arrays."""
        first, second, rest, quiet, plies = map(int, s[:CORE])
        if first & second or not 0 <= first | second < 1 << points:
            return "two men stand on one point, or one off the board"
        if not 0 <= quiet <= min(plies, quiet_plies or plies) or plies > (max_plies or MOST_PLIES):
            return f"{quiet} plies of {plies} without a man taken"
        mover, hands = plies & 1, [max(0, men - (plies + 1 - who) // 2) for who in (0, 1)]
        if rest & 0x1FF != mover | hands[0] << 1 | hands[1] << 5:
            return f"after {plies} plies it is not so whose turn it is, and what is in the hands"
        for on_board, hand in zip((first, second), hands):
            if on_board.bit_count() + hand > men:
                return f"a player has {on_board.bit_count() + hand} men instead of {men}"
        mine, theirs = (second, first) if mover else (first, second)
        k, status = CORE + min(quiet, plies - 2 * men), rest >> 9
        if history and plies >= 2 * men and status == RUNNING:
            if s[k : k + 2].tolist() != [mine, theirs]:
                return f"its history does not end with the position after {quiet} quiet plies"
        drawn = 0 < quiet == quiet_plies or 0 < plies == max_plies
        winner = 2 - mover if has_lost(mine, theirs, hands[mover]) else 0
        return fault_of_end(status, winner, drawn, repetition)

    def has_lost(mine, theirs, in_hand):
        """Whether the player to move has too few men, cannot move, or faces a closed line."""
        left, free = mine.bit_count() + in_hand, everything & ~(mine | theirs)
        goes_on = in_hand or may_pass or flying and left == 3 or can_step(near, mine, free)
        closed = wins_at_once and any(theirs & line == line for line in line_bits.tolist())
        return left < 3 or closed or not goes_on

    def from_codes(codes, player, hands=None, quiet=0, plies=None):
        sides = [bits_where(codes == man) for man in (1, 2)]
        # men may have been taken
        if hands is None and men > 3 and 0 < np.count_nonzero(codes) < 2 * men:
            raise ValueError("the board does not tell the men in the hands: hands=(first, second)")
        hands = [men - side.bit_count() for side in sides] if hands is None else [*hands]
        if sum(hands) and hands[1] - hands[0] != player:
            raise ValueError(f"with {hands} men in the hands it is not player {player}'s turn")
        plies = 2 * men - sum(hands) if plies is None else whole("plies", plies, 0, MOST_PLIES)
        lost = has_lost(sides[player], sides[1 - player], hands[player])
        quiet, end = whole("quiet", quiet, 0, plies), 2 - player if lost else RUNNING
        return position(sides, player, hands, quiet, plies, end)

    def touch(s, action):
        move, removed = divmod(action, codes)
        origin, to = divmod(move, points)
        passes = action == pass_action
        return [] if passes else [p for p in (origin - 1, to, removed - 1) if p >= 0]

    def action_name(s, action):
        if action == pass_action:
            return "pass"
        moved = "-".join(names[p] for p in touch(s, action - action % codes))
        return f"{moved}x{names[action % codes - 1]}" if action % codes else moved

    def svg(s, values, last):
        marks, parts, top = marks_of(s), [], PAD + 22
        centres = [(PAD + CELL * (x + 0.5), top + CELL * (y + 0.5)) for x, y in places]
        for (ax, ay), (bx, by) in ((centres[a], centres[b]) for a, b in steps):
            ends = dict(x1=ax, y1=ay, x2=bx, y2=by)
            parts.append(draw.element("line", **ends, stroke=LINE, stroke_width=2))
        for point, (x, y) in enumerate(centres):
            mark, value = marks[point], values.get(point)
            fill = {"x": INK, "o": PAPER}.get(mark, draw.value_colour(value, LINE))
            radius, edge = 4 if mark == "." and value is None else 20, INK if mark == "o" else LINE
            drawn = draw.circle(x, y, radius, fill, edge, stroke_width=2)
            drawn += draw.circle(x, y, 22, PAPER, "none", fill_opacity=0)  # takes clicks
            parts.append(draw.place(point, drawn, draw.label(x, y + 5, value, 12, fill)))
            if last is not None and touch(s, last - last % codes)[-1:] == [point]:
                parts.append(draw.circle(x, y, 20, "none", MARKED, stroke_width=5))
            parts.append(draw.text_at(x + 25, y + 24, names[point], 10, SOFT))
        title, side = f"in hand: {s[2] >> 1 & 15} black, {s[2] >> 5 & 15} white", CELL * width
        return draw.document(parts, 2 * PAD + side, top + side + PAD, values, title)

    turns = _symmetries(drawn, beside)
    return Game(
        "morris",
        **named(start, legal, play, board, key, heuristic),
        irreversible=lambda s: s[3] == 0 or s[4] <= 2 * men,
        **situation(2, 9),
        **named(render, parse, fault, touch, action_name, svg, from_codes),
        actions=pass_action + may_pass,
        players=2,
        max_legal=_max_legal(men, points, len(steps), flying),
        core=CORE,
        size=CORE + history,
        num_codes=[3] * points + [men + 1] * 2,
        layout=layout,
        symmetries=[[*turn, points, points + 1] for turn in turns],
        action_symmetries=[_turn_actions(turn, pass_action + may_pass) for turn in turns],
        compound=points + 1,
        start_scheme=(0.5, 1),
        settings=SETTINGS,
        # beside a hand are the other one and all points
        neighbours=[*beside, [points + 1, *range(points)], [points, *range(points)]],
        version=1,
    )


def _max_legal(men, points, num_steps, flying) -> int:
    # Every (from, to) comes with at most as many removals as the opponent has men. Placing has at
    # most (points - others) targets; stepping uses each step in one direction at most; a flying
    # player has three men and (points - 3 - others) targets for each.
    return max(
        max(1, others) * max(points - others, num_steps, 3 * (points - 3 - others) * flying)
        for others in range(men + 1)
    )


def _geometry(men, lines):
    """Return a place (x, y) for each point, the lines, and the steps."""
    if men == 3:
        places = [(x, y) for y in range(3) for x in range(3)]
        drawn = [[3 * r + c for c in range(3)] for r in range(3)]
        drawn += [[3 * r + c for r in range(3)] for c in range(3)]
        drawn += [[0, 4, 8], [2, 4, 6]] if lines == 8 else []
        spokes = []
    else:  # concentric squares, joined at the middles of their sides
        rings = range(3 if men == 9 else 2)
        circle = [(-1, -1), (0, -1), (1, -1), (1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0)]
        num, sides = len(rings), [(ring, side) for ring in rings for side in range(4)]
        places = [(num + (num - k) * x, num + (num - k) * y) for k in rings for x, y in circle]
        drawn = [[8 * ring + (2 * side + i) % 8 for i in range(3)] for ring, side in sides]
        spokes = [[8 * ring + i for ring in rings] for i in (1, 3, 5, 7)]
    steps = [pair for line in drawn + spokes for pair in zip(line, line[1:])]
    return places, drawn + (spokes if men == 9 else []), steps


def _symmetries(drawn, beside) -> list:
    """Return all permutations of the points that keep lines and steps, the identity first."""
    points, wanted, found = len(beside), {frozenset(line) for line in drawn}, []

    def extend(image):
        at = len(image)
        if at == points:
            if {frozenset(image[p] for p in line) for line in drawn} == wanted:
                found.append(image)
            return
        near = [image[q] for q in beside[at] if q < at]
        for p in beside[near[0]] if near else range(points):  # steps are kept
            same = ((image[q] in beside[p]) == (q in beside[at]) for q in range(at))
            if p not in image and all(same):
                extend([*image, p])

    extend([])
    return sorted(found)


def _turn_actions(turn, actions) -> list:
    """Return where a symmetry, in the sense of ``Game(symmetries=...)``, takes every action."""
    points = len(turn)
    goes = np.full(points + 1, -1)  # the last one, also found by the index -1, is "no point"
    goes[turn] = np.arange(points)
    move, removed = np.divmod(np.arange((points + 1) * points * (points + 1)), points + 1)
    origin, to = np.divmod(move, points)
    turned = ((goes[origin - 1] + 1) * points + goes[to]) * (points + 1) + goes[removed - 1] + 1
    return [*turned.tolist(), *range(len(turned), actions)]


def _bitboards(drawn, beside):
    """Return bitboards: each line; for each point the rest of its lines, and its neighbours."""
    points = len(beside)
    most = max(sum(p in line for line in drawn) for p in range(points))
    rest = np.full((points, most), -1, np.int64)  # -1, all bits, is in no bitboard
    for p in range(points):
        found = [sum(1 << q for q in line if q != p) for line in drawn if p in line]
        rest[p, : len(found)] = found
    lines = np.array([sum(1 << p for p in line) for line in drawn], np.int64)
    return lines, rest, np.array([sum(1 << b for b in near) for near in beside], np.int64)
