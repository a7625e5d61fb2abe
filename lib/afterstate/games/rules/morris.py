r"""Nine Men's Morris and its smaller relatives: three men in a line are a mill.

A mill takes an enemy man off the board.

::

    specification   morris
    players         2
    actions         15000, at most 324 legal: from, to, and the man that a mill removes
    cells           24 of 3 codes and 2 of 10: 0 = empty, 1 / 2 = a man; men in each hand
    symmetries      16, with those of the actions
    chance          none
    reward          -1 to 1: loss, draw, win, at the end
    start           the default with probability 0.5, else 1 random ply
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
     s[5 ..]   history, for the repetition rule only

    action = ((from + 1) * points + to) * (points + 1) + removed + 1
    from = -1: a man from the hand;  removed = -1: none;  forced pass, if any = the last action

Rules: the players place their men in turn, then step along the lines. Who closes a mill removes one
enemy man: one outside mills, or any if all are in mills; two mills at once remove one. Who has
three men left and none in hand may fly to any point (not with six or three men). A player with two
men left, or who can not move, loses. With three men a mill wins at once. Draws: a position for the
third time, or 200 plies in a row without a man taken; each rule can be changed or left out.

History: s[5 + k] is the k-th in the row of bitboards since the last ply that can not be undone: the
men of the player to move then, those of the other one, and from there on after every ply the men of
who moved. Two neighbours make a position.

Heuristic: own men, on the board and in the hand, less the opponent's, divided by men + 1. Known:
24, 552, 12,144, 255,024, 5,140,800 sequences of 1 to 5 plies; nine men: a draw. Three men on 8
lines: the first player wins, by the centre only. Source: [jamieson2022] "Nine-Men's Morris";
[gasser1996] (rules, value).
"""

import numpy as np

from ...checks import whole
from ...kernel.compile import kernel
from ..game import Game
from ._morris_board import bitboards, geometry, neighbours, symmetries, turn_actions
from ._morris_text import CORE, fault_finder, texts

RUNNING, DRAW = 0, 3
MAX_HISTORY = 10_000
DE_BRUIJN = np.uint32(0x077CB531)
# number of the only bit of a word, by the upper five bits of its product with DE_BRUIJN
BIT_OF = np.zeros(32, np.int64)
for _bit in range(32):
    BIT_OF[(int(DE_BRUIJN) << _bit & 0xFFFFFFFF) >> 27] = _bit


@kernel
def lowest(bits):
    """Return the number of the lowest bit that is set (in a word that is not 0)."""
    return BIT_OF[np.uint32(np.uint32(bits & -bits) * DE_BRUIJN) >> np.uint32(27)]


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
    """Append the actions of one man, with every choice of a man to remove where a mill is closed.

    Return the new number.
    """
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


@kernel
def repeated(s, who, men, times):
    """Append to the history what `who` has now.

    Return whether the position has occurred so many times.
    """
    if s.shape[0] == CORE or s[4] < 2 * men:
        return False
    k = 1 + min(s[3], s[4] - 2 * men)  # place of the newest entry
    if k == 1:  # nothing before can come back
        s[CORE], s[CORE + 1] = s[1 - who], s[who]
        return False
    s[CORE + k], j = s[who], k - 2
    while j >= 1:
        if s[CORE + j] == s[CORE + k] and s[CORE + j - 1] == s[CORE + k - 1]:
            times -= 1
        j -= 2
    return times <= 1


@kernel
def count(bits):
    """Return how many of the lower 24 bits are set."""
    bits = bits - (bits >> 1 & 0x555555)
    bits = (bits & 0x333333) + (bits >> 2 & 0x333333)
    bits = bits + (bits >> 4) & 0x0F0F0F
    return bits + (bits >> 8) + (bits >> 16) & 0x1F


def morris(
    men: int = 9,
    lines: int | None = None,
    flying: bool | None = None,
    flying_captures: bool = True,
    blocked: str = "loss",
    repetition: int = 3,
    quiet_plies: int = 200,
    max_plies: int = 0,
):
    """Make a game of Morris.

    Parameters
    ----------
    men, lines : int
        Men of each player; lines of the board: 16 for nine men, 8 for six, 8 or 6 for three.
    flying : bool, optional
        Whether a player with three men may move anywhere; default: with nine men only.
    flying_captures : bool
        Whether a mill closed by flying removes a man.
    blocked : {"loss", "pass"}
        What happens to a player who can not move.
    repetition, quiet_plies, max_plies : int
        The game is drawn when a position occurs so many times, after so many plies without a man
        taken, after so many plies; 0: never.

    Raises
    ------
    ValueError
        If there is no such board, or a repetition rule whose history no `quiet_plies` bounds.
    """
    lines = lines if lines is not None else 16 if men == 9 else 8
    _check(blocked, repetition, quiet_plies, max_plies)
    flying = men == 9 if flying is None else bool(flying)
    points, drawn, steps, places = geometry(men, lines)
    tables, may_pass = bitboards(points, drawn, steps), blocked == "pass"
    draws = repetition, quiet_plies, max_plies
    history = quiet_plies + 2 if repetition else 0
    turns = symmetries(points, drawn, steps)
    actions = (points + 1) * points * (points + 1) + may_pass
    return Game(
        "morris",
        legal=_legal(points, tables, flying, flying_captures, men == 3),
        play=_play(men, points, tables, flying, may_pass, draws),
        **_views(men, points),
        players=2,
        actions=actions,
        max_legal=_max_legal(men, points, len(steps), flying),
        core=CORE,
        size=CORE + history,
        num_codes=[3] * points + [men + 1] * 2,
        symmetries=[[*turn, points, points + 1] for turn in turns],
        action_symmetries=[turn_actions(turn, points, actions) for turn in turns],
        compound=points + 1,
        start_scheme=(0.5, 1),
        neighbours=neighbours(points, steps),
        version=1,
        fault=fault_finder(men, points, history),
        **texts(men, points, steps, places, history),
    )


def _check(blocked, repetition, quiet_plies, max_plies):
    if blocked not in ("loss", "pass"):
        raise ValueError(f"blocked must be 'loss' or 'pass', not {blocked!r}")
    for what, number in (
        ("repetition", repetition),
        ("quiet_plies", quiet_plies),
        ("max_plies", max_plies),
    ):
        whole(f"{what} (0: no such rule)", number, 0, MAX_HISTORY)
    if repetition == 1 or repetition and not quiet_plies:
        raise ValueError(
            f"repetition={repetition}, quiet_plies={quiet_plies}: a repetition needs at least 2"
            " times and a history bounded by quiet_plies"
        )


def _max_legal(men, points, num_steps, flying) -> int:
    """Return an upper bound of the number of legal actions.

    Every (from, to) comes with at most as many removals as the opponent has men, and at least one
    action. Placing has at most (points - others) targets; stepping uses each step in one direction
    at most; a flying player has three men and (points - 3 - others) targets for each.
    """
    return max(
        max(1, others) * max(points - others, num_steps, 3 * (points - 3 - others) * flying)
        for others in range(men + 1)
    )


def _legal(points, tables, flying, flying_captures, wins_at_once):
    """Return the rule legal."""
    lines, rest, near = tables
    everything, pass_action = (1 << points) - 1, (points + 1) * points * (points + 1)

    def legal(s, moves):
        who = s[2] & 1
        mine, theirs = np.int64(s[who]), np.int64(s[1 - who])
        hand, free, n = s[2] >> 1 + 4 * who & 15, everything & ~(mine | theirs), 0
        if hand > 0:
            return write_moves((lines, rest), moves, 0, -1, free, mine, theirs, not wins_at_once)
        flies, men_left = flying and count(mine) == 3, mine
        takes = not wins_at_once and (flying_captures or not flies)
        while men_left:
            origin = lowest(men_left)
            men_left &= men_left - 1
            n = write_moves(
                (lines, rest),
                moves,
                n,
                origin,
                free if flies else free & near[origin],
                mine & ~(1 << origin),
                theirs,
                takes,
            )
        if n == 0:  # only where a pass is forced: else the game is over
            moves[0], n = pass_action, 1
        return n

    return legal


def _play(men, points, tables, flying, may_pass, draws):
    """Return the rule play; `draws` are repetition, quiet_plies and max_plies."""
    _, rest, near = tables
    repetition, quiet_plies, max_plies = draws
    everything, codes = (1 << points) - 1, points + 1
    pass_action, wins_at_once = codes * points * codes, men == 3

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
        if (
            won
            or num_theirs < 3
            or (
                hand == 0
                and not may_pass
                and not (flying and num_theirs == 3)
                and not can_step(near, theirs, everything & ~(mine | theirs))
            )
        ):
            status = 1 + who
        elif (
            (quiet_plies and s[3] >= quiet_plies)
            or (max_plies and s[4] >= max_plies)
            or (repetition and repeated(s, who, men, repetition))
        ):
            status = DRAW
        s[2] = (s[2] & 0x1FE) | status << 9 | 1 - who

    return play


def _views(men, points) -> dict:
    """Return the rules that only look, and start."""

    def start(s, rng):
        s[0] = s[1] = s[3] = s[4] = 0
        s[2] = men << 1 | men << 5

    def player(s):
        return s[2] & 1

    def over(s):
        return s[2] >> 9 != RUNNING

    def score(s, r):
        status = s[2] >> 9
        r[0] = np.float64(status == 1) - np.float64(status == 2)
        r[1] = 0.0 - r[0]

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

    def irreversible(s):
        return s[3] == 0 or s[4] <= 2 * men

    def heuristic(s):
        return (count(s[0]) + (s[2] >> 1 & 15) - count(s[1]) - (s[2] >> 5 & 15)) / (men + 1.0)

    return {
        "start": start,
        "player": player,
        "over": over,
        "score": score,
        "board": board,
        "key": key,
        "irreversible": irreversible,
        "heuristic": heuristic,
    }


GAMES = {"morris": morris}
