"""Positions of the Morris games as text and picture, and vectors that are none."""

import re

import numpy as np

from ..boards import points_svg

CORE = 5  # numbers of a state without its history
MOST_PLIES = 1 << 30
ENDS = ("", ", first has won", ", second has won", ", drawn")
TOLD = re.compile(
    r"(first|second) to move, (\d+) and (\d+) in hand, (\d+) plies quiet, (\d+) played(|, first has"
    r" won|, second has won|, drawn)"
)


def fault_finder(men, points, history):
    """Return a function that says what is wrong with a vector that is no state, or None.

    The rules trust the numbers of men and of plies: their arrays are just long enough for them.
    """

    def fault(s):
        first, second, rest, quiet, plies = map(int, s[:CORE])
        if first & second or not 0 <= first | second < 1 << points:
            return "two men stand on one point, or one off the board"
        if not 0 <= rest < 1 << 11:
            return f"{rest} does not tell who is to move, the men in the hands and the end"
        for bits, hand in ((first, rest >> 1 & 15), (second, rest >> 5 & 15)):
            if bits.bit_count() + hand > men:
                return f"a player has {bits.bit_count() + hand} men instead of {men}"
        if not 0 <= quiet <= plies < MOST_PLIES or history and quiet > history - 2:
            return f"{quiet} plies of {plies} without a man taken"
        return None

    return fault


def texts(men, points, steps, places, history) -> dict:
    """Return text forms and picture."""
    width = max(x for x, _ in places) + 1
    reading = sorted(range(points), key=lambda p: places[p][::-1])
    names = ["abcdefg"[x] + str(width - y) for x, y in places]

    def marks(s):
        return [".xo"[(s[0] >> p & 1) + 2 * (s[1] >> p & 1)] for p in range(points)]

    def render(s):
        grid, shown = [[" "] * width for _ in range(width)], marks(s)
        for (x, y), mark in zip(places, shown):
            grid[y][x] = mark
        return (
            "\n".join(" ".join(row).rstrip() for row in grid)
            + f"\n{'second' if s[2] & 1 else 'first'} to move, {s[2] >> 1 & 15} and"
            f" {s[2] >> 5 & 15} in hand, {s[3]} plies quiet, {s[4]} played{ENDS[s[2] >> 9]}"
        )

    def parse(text):
        board, told = text.rpartition("\n")[::2]
        found, said = board.split(), TOLD.fullmatch(told)
        if len(found) != points or not set(found) <= set(".xo") or not said:
            raise ValueError(
                f"a position is {points} marks x, o or . and a line such as 'first to move, {men}"
                f" and {men} in hand, 0 plies quiet, 0 played', not {text!r}"
            )
        sides = [
            sum(1 << p for p, mark in zip(reading, found) if mark == wanted) for wanted in "xo"
        ]
        hands = [int(said[2]), int(said[3])]
        for side, hand in zip(sides, hands):
            if side.bit_count() + hand > men:
                raise ValueError(
                    f"a player has {men} men, not {side.bit_count()} on the board and {hand} in"
                    f" hand, in {text!r}"
                )
        who, quiet, plies, status = (
            said[1] == "second",
            int(said[4]),
            int(said[5]),
            ENDS.index(said[6]),
        )
        if quiet > plies or history and quiet > history - 2:
            raise ValueError(
                f"there are at most {min(plies, history - 2) if history else plies} quiet plies,"
                f" not {quiet}, in {text!r}"
            )
        s = np.zeros(CORE + history, np.int32)
        s[:CORE] = *sides, who | hands[0] << 1 | hands[1] << 5 | status << 9, quiet, plies
        # the position itself; what was before is not known, and no bitboard is 0
        if history and plies >= 2 * men:
            k = CORE + min(quiet, plies - 2 * men)
            s[k], s[k + 1] = sides[who], sides[1 - who]
        return s

    return {"render": render, "parse": parse} | pictures(points, steps, places, names, marks)


def pictures(points, steps, places, names, marks) -> dict:
    """Return the names of actions and the picture."""

    def action_name(s, action):
        removed, move = action % (points + 1) - 1, action // (points + 1)
        if move == (points + 1) * points:
            return "pass"
        origin, to = move // points - 1, move % points
        return (
            (names[origin] + "-" if origin >= 0 else "")
            + names[to]
            + ("x" + names[removed] if removed >= 0 else "")
        )

    def svg(s, values=None, last=None):
        """Draw the board; a point shows the best value of the moves that end there.

        The last move's point is marked.
        """
        best = {}
        for action, value in (values or {}).items():
            to = action // (points + 1) % points
            best[to] = max(value, best.get(to, value))
        return points_svg(
            places,
            steps,
            marks(s),
            values=best,
            last=None if last is None else last // (points + 1) % points,
            title=f"in hand: {s[2] >> 1 & 15} black, {s[2] >> 5 & 15} white",
            names=names,
        )

    return {"action_name": action_name, "svg": svg}
