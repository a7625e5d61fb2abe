"""Play against an agent: with clicks in a notebook, with typed moves at a terminal."""

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
TYPED = {  # arrows as terminals send them, and letters
    **dict.fromkeys(("\x1b[D", "\x1bOD", "a"), "ArrowLeft"),
    **dict.fromkeys(("\x1b[A", "\x1bOA", "w"), "ArrowUp"),
    **dict.fromkeys(("\x1b[C", "\x1bOC", "d"), "ArrowRight"),
    **dict.fromkeys(("\x1b[B", "\x1bOB", "s"), "ArrowDown"),
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
    num_others = check_game(game, "a game to play").players - 1
    strength = None  # least, greatest and present rating, if there is a slider for it
    if opponent is None:
        if num_others == 1:
            strength = _medium_strength(game)
        if strength is not None:
            _, _, rating = strength
            opponent = words.at_strength(game, rating)
            if advice is None:  # an opponent from a ladder has no values
                advice = saved.zoo(game)
        else:
            opponent = _searching_opponent(num_others)
    if isinstance(opponent, (list, tuple)):
        opponents = opponent
    else:
        opponents = [opponent] * num_others
    if advice is None and num_others == 0:
        advice = opponent
    table = Table(game, opponents, seat, seed, advice)
    if has_front_end():
        return widget(BoardWidget, table, strength)
    return table if is_alone() else play_at_terminal(table)


def _medium_strength(game):
    """Return the least, greatest and middle rating of a game's ladder, or None without one."""
    try:
        low, high = words.reach(words.ladder(game))
    except ValueError:  # there is no ladder for these parameters
        return None
    return low, high, round((low + high) / 2)


def _searching_opponent(num_others):
    """Return the opponent where there is no ladder; nobody in a game for one."""
    if num_others == 0:
        return None
    return MCTS(DEFAULT_ITERATIONS) if num_others == 1 else MaxN(4)


def play_at_terminal(table: Table, ask=None, say=print) -> Table:
    """Play with typed moves until the game is over or left with ``q``; return the table.

    `ask` and `say` stand for the keyboard and the screen. The end of what is typed leaves, too.
    """
    keys = _names_by_key(table.game)
    if ask is None:
        reads_single_keys = keys and sys.stdin.isatty() and find_spec("termios")
        ask = key_pressed if reads_single_keys else input
    if keys:
        say(f"arrow keys or w, a, s, d; {HELP}")
    else:
        say(HELP)
    while True:
        say(repr(table))
        if table.turn == OVER:
            return table
        if table.turn != YOU:
            table.make(table.choice())
            continue
        try:
            answer = ask("your move: ").strip()
        except EOFError:
            return table
        action_of_name = _legal_actions(table)
        answer = _full_name(keys.get(answer, answer), action_of_name)
        if answer in action_of_name:
            table.make(action_of_name[answer])
        elif answer == "q":
            return table
        elif answer == "u":
            has_undone = table.undo()
            say("taken back" if has_undone else "there is nothing to take back")
        elif answer == "v":
            say(_values_in_words(table))
        else:
            say(f"{answer!r} is not a move here; there are {', '.join(action_of_name)}. {HELP}")


def _names_by_key(game) -> dict:
    """Return what keys of a terminal stand for, of a game that is played by arrow keys."""
    names = {}
    for typed, key in TYPED.items():
        if key in game.drawing.keys:
            names[typed] = game.names[game.drawing.keys[key]]
    return names


def _legal_actions(table):
    """Return name -> action of all legal moves."""
    legal = table.game.legal(table.state).tolist()
    return {table.game.action_name(table.state, action): action for action in legal}


def _full_name(answer, names):
    """Return the name of the only move in a column if its letter is typed, as in ConnectFour."""
    if answer in names or answer in ("q", "u", "v") or not answer.isalpha():
        return answer
    in_column = [name for name in names if re.fullmatch(rf"{re.escape(answer)}\d+", name)]
    return in_column[0] if len(in_column) == 1 else answer


def _values_in_words(table):
    """Return the values of all legal moves, the best first."""
    values = table.values() or {}
    texts = []
    for action in sorted(values, key=values.get, reverse=True):
        texts.append(f"{table.game.action_name(table.state, action)} {values[action]:+.3f}")
    return ", ".join(texts) or "nobody here can say what the moves are worth"


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
