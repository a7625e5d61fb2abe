"""A scripted stand-in for an Othello program that speaks GTP.

``python gtp_engine.py FAULT MATCH MOVE LOG``

It plays the first legal move, and commits FAULT when asked for move number MOVE of match number
MATCH (both from 1; 0 = always). Matches are counted over all processes, in the file LOG, where it
also writes its input. It has rules of its own, because it starts often and must be quick.
"""

import os
import sys
import time

FAULT, MATCH, MOVE, LOG = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
COLOURS = ("black", "white")
STEPS = [(r, c) for r in (-1, 0, 1) for c in (-1, 0, 1) if (r, c) != (0, 0)]
ANSWERS = {
    "illegal": "= D4\n\n",
    "garbage": "= banana\n\n",
    "pass": "= PASS\n\n",
    "resign": "= RESIGN\n\n",
    "refuse": "? unknown command\n\n",
}


def flips(board, square, player):
    """The stones that a move flips; none if it is not legal."""
    flipped = []
    for down, right in STEPS if square not in board else ():
        line, (r, c) = [], square
        while board.get((r := r + down, c := c + right)) == 1 - player:
            line.append((r, c))
        flipped += line if board.get((r, c)) == player else []
    return flipped


def legal(board, player):
    return [(r, c) for r in range(8) for c in range(8) if flips(board, (r, c), player)]


def commit():
    """Do what FAULT says."""
    if FAULT == "crash":
        os.kill(os.getpid(), 9)
    while FAULT == "flood":  # each line looks like the begin of an answer
        say("= thinking\n" * 1000)
    while FAULT == "chatter":
        say("thinking about it\n" * 100)
        time.sleep(0.01)
    if FAULT in ("mumble", "hang"):
        say("not so fast\n" if FAULT == "mumble" else "")
        time.sleep(600)
    say(ANSWERS[FAULT])


def say(text):
    sys.stdout.write(text)
    sys.stdout.flush()


def main():
    board, number, asked, mover = {}, 0, 0, 0
    say("An engine may greet.\r\n")
    for line in sys.stdin:
        words = line.split()
        with open(LOG, "a") as file:
            file.write(f"{os.getpid()} {line}")
        if words[0] == "clear_board":
            with open(LOG) as file:
                number = sum("clear_board" in told for told in file)
            board, asked, mover = {(3, 4): 0, (4, 3): 0, (3, 3): 1, (4, 4): 1}, 0, 0
            say("=\r\n\r\n" if FAULT != "refuse" or MOVE else ANSWERS["refuse"])
            continue
        mover = mover if legal(board, mover) else 1 - mover
        if COLOURS.index(words[1]) != mover:
            say("? wrong colour\n\n")
            continue
        if words[0] == "play":
            square = int(words[2][1]) - 1, "abcdefgh".index(words[2][0])
            answer = "= \n\n" if flips(board, square, mover) else "? illegal move\n\n"
        else:
            asked += 1
            if FAULT != "none" and MATCH in (0, number) and MOVE in (0, asked):
                commit()
                continue
            square = legal(board, mover)[0]
            name = f"{'abcdefgh'[square[1]]}{square[0] + 1}"
            answer = f"= {name.upper() if asked % 2 else name}\n\n"
        say(answer)
        if answer[0] == "=":
            board |= dict.fromkeys([square, *flips(board, square, mover)], mover)
            mover = 1 - mover


if FAULT == "exit":
    sys.exit("no weights")
main()
