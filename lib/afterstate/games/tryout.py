"""Trying out a game that nobody has tested, before a training or a match trusts its rules.

Compiled rules are not checked while they run: one that writes beyond its array would damage the
memory of a training without a word, or end the process. So random games are played first, in arrays
with a margin on either side that must stay as it was. On the way it is noted what such games look
like, and what is possible but hardly meant is told as a warning.
"""

import warnings
from typing import NamedTuple

import numpy as np

from ..kernel.compile import kernel
from ..kernel.random import new_rng, random_int
from .calls import (
    call_board,
    call_chance,
    call_key,
    call_legal,
    call_outcome,
    call_outcomes,
    call_over,
    call_play,
    call_player,
    call_score,
    call_start,
    copy_into,
)
from .symmetry import odd_symmetry
from .validation import GUARD, SENTINEL, stuck, writes_beyond, wrong_code, wrong_player

GAMES, MAX_PLIES = 100, 500
MARGIN = (
    1 << 14
)  # spare elements before and behind each array; those next to it are looked at often
FEW = 1e-9

# what is wrong after a step: a rule that has written beyond its array ...
RULES = ("start", "score", "board", "key", "legal", "play", "chance", "outcome")
START, SCORE, BOARD, KEY, LEGAL, PLAY, CHANCE, OUTCOME = range(len(RULES))
SOUND = -1
BAD_CODE, BAD_PLAYER, BAD_COUNT, BAD_ACTION, STUCK = range(
    len(RULES), len(RULES) + 5
)  # ... or this
FINISHED, LEVEL, ZERO = range(3)  # places in `Survey.ends`


class GameWarning(UserWarning):
    """A game can be played, but its rules hardly say what was meant."""


class Room(NamedTuple):
    """Arrays that rules write into, each with MARGIN elements before and behind it."""

    # fmt: off
    state: np.ndarray   # int32 [size]
    moves: np.ndarray   # int32 [max_legal]
    cells: np.ndarray   # int32 [cells]
    score: np.ndarray   # float64 [players]
    key: np.ndarray     # uint64 [2] ...
    words: np.ndarray   # ... and the same memory as int64
    before: np.ndarray  # int32 [size]     the state before the last rule was called, no margin
    turns: np.ndarray   # int64 [players]  moves of each player
    ends: np.ndarray    # int64 [3]        games that ended, with equal scores, with scores of 0
    range: np.ndarray   # float64 [2]      least and greatest score
    # fmt: on


@kernel
def intact(wide):
    """Return whether no rule has written into the elements next to the array within `wide`."""
    same, end = True, wide.shape[0]
    for i in range(GUARD):
        same &= wide[MARGIN - 1 - i] == SENTINEL and wide[end - MARGIN + i] == SENTINEL
    return same


@kernel
def look(rules, num_codes, room, s):
    """Call the rules that look at a state; return SOUND or what is wrong."""
    r, cells = room.score[MARGIN : MARGIN + rules.players], room.cells[MARGIN:]
    call_score(rules, s, r)
    if not intact(room.score):
        return SCORE
    for p in range(rules.players):
        room.range[0] = min(room.range[0], r[p])
        room.range[1] = max(room.range[1], r[p])
    call_board(rules, s, cells[: rules.cells])
    if not intact(room.cells):
        return BOARD
    for c in range(rules.cells):
        if not 0 <= cells[c] < num_codes[c]:
            return BAD_CODE
    call_key(rules, s, room.key[MARGIN : MARGIN + 2])
    return SOUND if intact(room.words) else KEY


@kernel
def count_end(rules, room):
    """Note how a game has ended."""
    level, zero = True, True
    for p in range(rules.players):
        level &= room.score[MARGIN + p] == room.score[MARGIN]
        zero &= room.score[MARGIN + p] == 0.0
    room.ends[FINISHED] += 1
    room.ends[LEVEL] += level
    room.ends[ZERO] += zero


@kernel
def choose(rules, room, s, rng):
    """Return (SOUND or what is wrong, a random legal action)."""
    player = call_player(rules, s)
    if not 0 <= player < rules.players:
        return BAD_PLAYER, 0
    room.turns[player] += 1
    moves = room.moves[MARGIN : MARGIN + rules.max_legal]
    n = call_legal(rules, s, moves)
    if not intact(room.moves):
        return LEGAL, 0
    if n == 0:
        return STUCK, 0
    if not 0 < n <= rules.max_legal:
        return BAD_COUNT, 0
    for i in range(n):
        if not 0 <= moves[i] < rules.actions:
            return BAD_ACTION, moves[i]
    return SOUND, moves[random_int(rng, n)]


@kernel
def play_out(rules, num_codes, room, rng, plies):
    """Play a random game of at most so many plies; return (SOUND or what is wrong, an action)."""
    s = room.state[MARGIN : MARGIN + rules.size]
    call_start(rules, s, rng)
    if not intact(room.state):
        return START, 0
    for _ in range(plies):
        copy_into(room.before, s, rules.size)
        wrong = look(rules, num_codes, room, s)
        if wrong != SOUND:
            return wrong, 0
        if call_over(rules, s):
            count_end(rules, room)
            break
        wrong, action = choose(rules, room, s, rng)
        if wrong != SOUND:
            return wrong, action
        call_play(rules, s, action)
        if not intact(room.state):
            return PLAY, action
        if rules.chance != 0:
            copy_into(room.before, s, rules.size)
            if rules.outcomes != 0 and rules.outcome != 0:
                n = call_outcomes(rules, s)
                if n > 0:
                    call_outcome(rules, s, random_int(rng, n))
                if not intact(room.state):
                    return OUTCOME, action
                copy_into(s, room.before, rules.size)
            call_chance(rules, s, rng)
            if not intact(room.state):
                return CHANCE, action
    return SOUND, 0


def _room(game) -> Room:
    def wide(n, kind):
        array = np.full(n + 2 * MARGIN, SENTINEL, kind)
        array[MARGIN : MARGIN + n] = 0
        return array

    words = wide(2, np.int64)
    return Room(
        wide(game.size, np.int32),
        wide(game.max_legal, np.int32),
        wide(game.cells, np.int32),
        wide(game.players, np.float64),
        words.view(np.uint64),
        words,
        np.zeros(game.size, np.int32),
        np.zeros(game.players, np.int64),
        np.zeros(3, np.int64),
        np.array([np.inf, -np.inf]),
    )


def _message(game, room, wrong, action) -> str:
    """Say what is wrong in a sentence with the state and the remedy."""
    name, s = f"game {game.name!r}: ", room.before
    if wrong == BAD_CODE:
        cells = room.cells[MARGIN : MARGIN + game.cells]
        cell = np.flatnonzero((cells < 0) | (cells >= game.num_codes))[0]
        return wrong_code(game, s, cell, cells[cell])
    if wrong == BAD_PLAYER:
        return wrong_player(game, s)
    if wrong == STUCK:
        return stuck(game, s)
    if wrong == BAD_COUNT:
        return (
            f"{name}the rule 'legal' returns a number of actions at {s.tolist()} that is not from 1"
            f" to max_legal={game.max_legal}: correct it, or raise max_legal"
        )
    if wrong == BAD_ACTION:
        return (
            f"{name}the rule 'legal' gives the action {action} at {s.tolist()}; actions are 0 to"
            f" actions - 1 = {game.actions - 1}"
        )
    length, size = {
        "score": (game.players, "players"),
        "board": (game.cells, "the length of num_codes"),
        "key": (2, "nothing"),
        "legal": (game.max_legal, "max_legal"),
    }.get(RULES[wrong], (game.size, "size"))
    return writes_beyond(game, RULES[wrong], length, size)


def slips(game, room) -> list[str]:
    """Say in words what is possible in a game, but hardly meant."""
    ended, found = room.ends[FINISHED], []
    if ended == 0:
        found.append(
            f"none of {GAMES} random games ended within {MAX_PLIES} plies: does the rule 'over'"
            " ever say True?"
        )
    idle = np.flatnonzero(room.turns == 0).tolist()
    if idle and ended and room.turns.any():
        found.append(
            f"in {GAMES} random games it is never the turn of player {', '.join(map(str, idle))}:"
            " does 'play' pass the turn on, and does 'player' count from 0?"
        )
    if ended and room.ends[ZERO] == ended:
        found.append(
            f"all scores are 0 at the end of all {ended} random games: does 'score' set r?"
        )
    elif ended > 1 and game.players > 1 and room.ends[LEVEL] == ended:
        found.append(
            f"all players have the same score at the end of all {ended} random games: nobody ever"
            " wins"
        )
    low, high = game.score_range
    if room.range[0] < low - FEW or room.range[1] > high + FEW:
        found.append(
            f"scores from {room.range[0]:g} to {room.range[1]:g} occur, outside score_range"
            f" {game.score_range}: searches and learning rates rely on it"
        )
    odd = odd_symmetry(game) if ended else None
    return found + ([odd] if odd else [])


def survey(game) -> list[str]:
    """Play random games and return what looks like a slip, in words.

    Raises
    ------
    ValueError
        If a rule would make a training or a search write outside its arrays, or stop.
    """
    room, rng = _room(game), new_rng(0)
    wide = {"state": PLAY, "moves": LEGAL, "cells": BOARD, "score": SCORE, "words": KEY}
    for _ in range(GAMES):
        wrong, action = play_out(game.rules, game.num_codes, room, rng, MAX_PLIES)
        for field, rule in wide.items():
            array = getattr(room, field)
            if wrong == SOUND and (
                (array[:MARGIN] != SENTINEL).any() or (array[-MARGIN:] != SENTINEL).any()
            ):
                wrong = rule  # far beyond: of those that write here, the likeliest
        if wrong != SOUND:
            raise ValueError(_message(game, room, wrong, action))
    return slips(game, room)


def try_out(game) -> None:
    """Play random games; raise ValueError as :func:`survey` does, and warn of slips."""
    for slip in survey(game):
        warnings.warn(f"game {game.name!r}: {slip}", GameWarning, stacklevel=4)
