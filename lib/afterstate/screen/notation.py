"""Games as text: a form like PGN for all games, SGF for Hex and Othello, Othello's move string.

::

    [Game "connect4"]
    [Version "1"]
    [First "MCTS-200"]
    [Second "Random"]
    [Result "1 -1"]

    1. d1 c1 2. d2 c2 3. d3 c3 4. d4

Moves have the names that the game gives them, with underscores for blanks. In a game of chance the
number of the outcome follows each move, as in ``left/12``.
"""

import itertools
import re
import textwrap
from typing import NamedTuple

import numpy as np

from ..games.catalogue import load as load_game
from ..games.game import check_game

SGF_GAMES = {"hex": 11, "othello": 2}  # the numbers that SGF has for them
SEATS = ("First", "Second", "Third", "Fourth")
TAG = re.compile(r'^\[(\w+) "(.*)"\]$')


class Record(NamedTuple):
    """A game that was read: its positions, its moves and its tags."""

    game: object
    states: list  # int32 [size] each, one more than actions
    actions: list
    tags: dict


def write(game, states, actions, players=(), tags=None) -> str:
    """Return a game as text like PGN; ValueError if the actions do not lead from state to state.

    `states` are one more than `actions`, `players` are names by seat, `tags` are further tags.
    """
    check_game(game, "a game to write")
    if len(states) != len(actions) + 1:
        raise ValueError(f"{len(states)} states and {len(actions)} actions do not fit together")
    head = {"Game": game.name, "Version": str(game.version)}
    for name, value in (game.spec or {}).get("params", {}).items():
        head[f"Parameter_{name}"] = repr(value)
    if not np.array_equal(states[0], game.start()):
        head["Start"] = " ".join(map(str, np.asarray(states[0]).tolist()))
    head |= {SEATS[seat]: name for seat, name in enumerate(players)}
    if game.over(states[-1]):
        head["Result"] = " ".join(f"{score:g}" for score in game.score(states[-1]))
    head |= tags or {}
    for name, value in head.items():
        if not re.fullmatch(r"\w+", name) or '"' in value or "\n" in value:
            raise ValueError(f"{name}={value!r} can not be written as a tag")
    words = []
    for ply, (state, action, after) in enumerate(zip(states, actions, states[1:])):
        if ply % game.players == 0:
            words.append(f"{ply // game.players + 1}.")
        words.append(_move_word(game, state, action, after))
    lines = "\n".join(f'[{name} "{value}"]' for name, value in head.items())
    moves = textwrap.fill(" ".join(words), 78, break_long_words=False, break_on_hyphens=False)
    return f"{lines}\n\n{moves}\n"


def _move_word(game, state, action, after) -> str:
    name = game.action_name(state, action).replace(" ", "_")
    made = game.play(state, action)
    outcomes = [made] if game.deterministic else [outcome for outcome, _ in game.outcomes(made)]
    for k, outcome in enumerate(outcomes):
        if np.array_equal(outcome, after):
            return name if game.deterministic else f"{name}/{k}"
    raise ValueError(f"the move {name} does not lead to the next state")


def read(text: str, game=None) -> Record:
    """Return the game that :func:`write` wrote; ValueError names the first move that is none.

    `game` is by default the game of the package that the text names.
    """
    tags, words = {}, []
    for line in text.splitlines():
        found = TAG.match(line.strip())
        if found:
            tags[found[1]] = found[2]
        else:
            words += line.split()
    if game is None:
        game = load_game(tags.get("Game"), **_parameters(tags))
    if tags.get("Game") != game.name:
        raise ValueError(f"this is a game of {tags.get('Game')!r}, not of {game.name}")
    start = [int(word) for word in tags["Start"].split()] if "Start" in tags else game.start()
    names = [word for word in words if not re.fullmatch(r"\d+\.", word)]
    return _follow(game, np.asarray(start, np.int32), names, tags)


def _parameters(tags) -> dict:
    plain, found = {"True": True, "False": False, "None": None}, {}
    for name, value in tags.items():
        if name.startswith("Parameter_"):
            number = int(value) if re.fullmatch(r"-?\d+", value) else value.strip("'")
            found[name.removeprefix("Parameter_")] = plain.get(value, number)
    return found


def _follow(game, state, names, tags) -> Record:
    states, actions = [state], []
    for ply, word in enumerate(names, 1):
        name, _, outcome = word.partition("/")
        legal = game.legal(state).tolist()
        known = {game.action_name(state, a).replace(" ", "_"): a for a in legal}
        if name not in known:
            here = ", ".join(known) or "none, the game is over"
            raise ValueError(
                f"move {ply} of this game, {word!r}, is no move here; there are {here}"
            )
        state = game.play(state, known[name])
        if not game.deterministic:
            outcomes = game.outcomes(state)
            if not outcome.isdigit() or int(outcome) >= len(outcomes):
                raise ValueError(f"move {ply}, {word!r}, does not say what chance brought")
            state = outcomes[int(outcome)][0]
        actions.append(known[name])
        states.append(state)
    return Record(game, states, actions, tags)


def write_sgf(game, actions, players=()) -> str:
    """Return a game of Hex or Othello as SGF; black is the player who begins."""
    side = _side(game)
    text = f"(;FF[4]GM[{SGF_GAMES[game.name]}]SZ[{side}]"
    states = itertools.accumulate(actions, game.play, initial=game.start())
    for color, name in zip("BW", players):
        escaped = str(name).replace("\\", "\\\\").replace("]", "\\]")
        text += f"P{color}[{escaped}]"
    for state, action in zip(states, actions):
        text += f";{'BW'[game.player(state)]}[{game.action_name(state, action)}]"
    return text + ")\n"


def read_sgf(text: str, game) -> Record:
    """Return the game of a Hex or Othello SGF; variations and comments are left out."""
    side = _side(game)
    head = re.search(r"GM\[(\d+)\]", text)
    if not head or int(head[1]) != SGF_GAMES[game.name]:
        raise ValueError(f"this SGF is not of {game.name} (GM[{SGF_GAMES[game.name]}])")
    size = re.search(r"SZ\[(\d+)\]", text)
    if size and int(size[1]) != side:
        raise ValueError(f"this SGF has a board of {size[1]}, the game one of {side}")
    moves = re.findall(r";\s*([BW])\[([^\]]*)\]", text)
    names = [name.strip().lower() for _, name in moves if name.strip().lower() not in ("", "pass")]
    tags = dict(re.findall(r"\b(P[BW])\[([^\]]*)\]", text))
    return _follow(game, game.start(), names, tags)


def write_moves(game, actions) -> str:
    """Return a game of Othello as its moves without blanks, such as ``f5d6c3``."""
    _check_othello(game)
    states = itertools.accumulate(actions, game.play, initial=game.start())
    return "".join(map(game.action_name, states, actions))


def read_moves(text: str, game) -> Record:
    """Return the game of Othello that a string such as ``f5d6c3`` holds."""
    _check_othello(game)
    names = re.findall(r"[a-h][1-8]", text.lower())
    if "".join(names) != "".join(text.lower().split()):
        raise ValueError(f"{text!r} is no string of moves such as f5d6c3")
    return _follow(game, game.start(), names, {})


def _check_othello(game):
    if game.name != "othello" or game.cells != 64:
        raise ValueError(f"strings of moves are usual in Othello on 8 x 8, not in {game!r}")


def _side(game) -> int:
    if game.name not in SGF_GAMES:
        raise ValueError(f"SGF has no {game.name}; it has {', '.join(SGF_GAMES)} of our games")
    return round(game.cells**0.5)
