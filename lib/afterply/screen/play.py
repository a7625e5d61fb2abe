"""Play against an agent: with clicks in a notebook, with typed moves at a terminal."""

import contextlib
import os
import re
import sys
from importlib.util import find_spec

from ..games.game import check_game
from ..opponents import words
from ..players import saved
from ..players.searching import MCTS, MaxN
from .game_table import OVER, YOU, Table
from .widget import BoardWidget, has_front_end, is_alone, widget

HELP = "a move by its name; u takes back, v shows values, q quits"
KEYS = {  # what stands for a move of 2048: arrows as terminals send them, and letters
    **dict.fromkeys(("\x1b[D", "\x1bOD", "a"), "left"),
    **dict.fromkeys(("\x1b[A", "\x1bOA", "w"), "up"),
    **dict.fromkeys(("\x1b[C", "\x1bOC", "d"), "right"),
    **dict.fromkeys(("\x1b[B", "\x1bOB", "s"), "down"),
}
DEFAULT_ITERATIONS = 300


def play(game, opponent=None, *, seat: int = 0, seed: int = 0, advice=None):
    """Play a game against an agent.

    In a notebook this returns a board that is played by clicks or by keys: arrows, Enter, Escape.
    At a terminal moves are typed. In a notebook that a program runs it returns the table at once,
    which shows as a picture.

    Parameters
    ----------
    game : Game
    opponent : player, function, network, session, or a sequence of them
        One for all other seats, or one for each. Default: an opponent of medium strength from the
        game's ladder, with a slider for it; where there is none, a Monte Carlo tree search (two
        players) or Max-N (more). In a game for one it gives advice only.
    seat : int
        Yours; 0 moves first.
    seed : int
        The only source of chance.
    advice : player with ``values``, network or session, optional
        Says what the moves are worth; default: the opponent, if it can.

    Returns
    -------
    widget or Table
        The widget's ``table`` holds the game: ``table.states``, ``table.actions``.
    """
    others, strength = check_game(game, "a game to play").players - 1, None
    if opponent is None and others == 1:
        with contextlib.suppress(ValueError):  # there is no ladder for these parameters
            low, high = words.reach(words.ladder(game))
            strength = low, high, round((low + high) / 2)
    if strength:
        opponent = words.at_strength(game, strength[2])
        if advice is None:  # an opponent from a ladder has no values
            advice = saved.zoo(game)
    elif opponent is None:
        opponent = MCTS(DEFAULT_ITERATIONS) if others == 1 else MaxN(4) if others else None
    opponents = opponent if isinstance(opponent, (list, tuple)) else [opponent] * others
    if advice is None and others == 0:
        advice = opponent
    table = Table(game, opponents, seat, seed, advice)
    if has_front_end():
        return widget(BoardWidget, table, strength)
    return table if is_alone() else play_at_terminal(table)


def play_at_terminal(table: Table, ask=None, say=print) -> Table:
    """Play with typed moves until the game is over or left with ``q``; return the table.

    `ask` and `say` stand for the keyboard and the screen. The end of what is typed leaves, too.
    """
    game, keys = table.game, KEYS if table.game.name == "game2048" else {}
    if ask is None:
        single = keys and sys.stdin.isatty() and find_spec("termios")
        ask = key_pressed if single else input
    say(f"arrow keys or w, a, s, d; {HELP}" if keys else HELP)
    while True:
        say(repr(table))
        if table.turn == OVER:
            return table
        if table.turn != YOU:
            table.make(table.choice())
            continue
        legal = game.legal(table.state).tolist()
        named = {game.action_name(table.state, action): action for action in legal}
        try:
            answer = ask("your move: ").strip()
        except EOFError:
            return table
        answer = keys.get(answer, answer)
        if answer not in named and answer not in ("q", "u", "v"):
            in_column = [name for name in named if re.fullmatch(rf"{re.escape(answer)}\d+", name)]
            if answer.isalpha() and len(in_column) == 1:  # as a column of ConnectFour
                answer = in_column[0]
        if answer in named:
            table.make(named[answer])
        elif answer == "q":
            return table
        elif answer == "u":
            say("taken back" if table.undo() else "there is nothing to take back")
        elif answer == "v":
            values = table.values() or {}
            ranked = sorted(values, key=values.get, reverse=True)
            worth = (f"{game.action_name(table.state, a)} {values[a]:+.3f}" for a in ranked)
            say(", ".join(worth) or "nobody here can say what the moves are worth")
        else:
            say(f"{answer!r} is not a move here; there are {', '.join(named)}. {HELP}")


def key_pressed(prompt: str) -> str:
    """Ask for one key, without Enter; return the characters that it sends."""
    print(prompt, flush=True)
    import termios  # not on Windows
    import tty

    keyboard = sys.stdin.fileno()
    before = termios.tcgetattr(keyboard)
    try:
        tty.setcbreak(keyboard, termios.TCSANOW)  # Ctrl-C interrupts, keys that wait are kept
        key = os.read(keyboard, 1)
        while key in (b"\x1b", b"\x1b[", b"\x1bO"):  # an arrow sends three
            key += os.read(keyboard, 1)
    finally:
        termios.tcsetattr(keyboard, termios.TCSADRAIN, before)
    if not key:
        raise EOFError
    return key.decode(errors="replace")
