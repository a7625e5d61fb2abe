"""Games as text: a form like PGN for all games; PDN, SGF and Othello's moves for other programs.

::

    [Game "connect4"]
    [Version "1"]
    [First "MCTS-200"]
    [Second "Random"]
    [Result "1 -1"]

    1. d1 c1 2. d2 c2 3. d3 c3 4. d4

Moves have the names that the game gives them, with underscores for blanks. In a game of chance the
number of the outcome follows each move, as in ``left/12``. What a text states beside its moves is
checked: game, version, parameters, size, colours, passes, numbers of moves, result.
"""

import itertools
import re
import textwrap
from typing import NamedTuple

import numpy as np

from ..games.catalogue import load as load_game
from ..games.game import check_game
from ..games.rules import LETTERS, cube

SEATS = ("First", "Second", "Third", "Fourth")
TAG = re.compile(r'\s*\[(\w+) "((?:[^"\\]|\\.)*)"\]\s*')
PDN_GAMES, PDN_START = ("checkers", "giveaway"), "B:W21-32:B1-12"
PDN_ASIDE = re.compile(r"\{[^}]*\}|;.*|\$\d+|\d+\.\.+|[!?]+")  # comments, marks, 1... after them
PDN_RESULTS = ("1/2-1/2", "1-0", "0-1")  # of the first player: a draw, a win and, last, a loss
SGF_RESULTS = ("0", "B+", "W+")
SGF_GAMES = {"hex": 11, "othello": 2}  # the numbers that SGF has for them
# a mark, the name of a property (P) or a value (V), and what may follow each of them
SGF_PART = re.compile(r"(?:([();])|([A-Z]+)|\[([^\]\\]*(?:\\.[^\]\\]*)*)\])\s*", re.DOTALL)
SGF_NEXT = {"": "(", "(": ";", ";": ";P()", "P": "V", "V": "PV;()", ")": "()"}
PASSES = ("", "--", "pa", "pass", "ps", "tt")


class Record(NamedTuple):
    """A game that was read: its positions, its moves and its tags."""

    game: object
    states: list  # int32 [size] each, one more than actions
    actions: list
    tags: dict


# -------------------------------------------------------------------------- the form like PGN
def write(game, states, actions, players=(), tags=None) -> str:
    """Return a game as text like PGN; ValueError if the actions do not lead from state to state.

    `states` are one more than `actions`, `players` are names by seat, `tags` are further tags.
    """
    words = _spelled(check_game(game, "a game to write"), states, actions)
    head = _head(game) | dict(zip(SEATS, players))
    if not np.array_equal(states[0], game.start()):
        head["Start"] = " ".join(map(str, np.asarray(states[0]).tolist()))
    if game.over(states[-1]):
        head["Result"] = _result(game, states[-1])
    return _document(head | (tags or {}), _numbered(words, game.players))


def read(text: str, game=None) -> Record:
    """Return the game that :func:`write` wrote; ValueError names the first move that is none.

    `game` is by default the game of the package that the text names.
    """
    tags, rest = _tags(text)
    game = _stated_game(tags, tags.get("Game"), game)
    words = map(cube.usual if game.name in cube.GAMES else str, rest.split())
    start = [int(word) for word in tags["Start"].split()] if "Start" in tags else game.start()
    record = _follow(game, np.array(start), _moves([*words], game.players), tags)
    _agree(tags, {"Result": _result(game, record.states[-1])})
    return record


def _head(game) -> dict:
    parameters = (game.spec or {}).get("params", {})
    named = {f"Parameter_{name}": repr(value) for name, value in parameters.items()}
    return {"Game": game.name, "Version": str(game.version), **named}


def _document(tags, words) -> str:
    lines = ['[{} "{}"]'.format(name, _escaped(value, '"')) for name, value in tags.items()]
    if wrong := [line for line in lines if not TAG.fullmatch(line)]:
        raise ValueError(f"{wrong[0]} can not be written, its name is no word")
    moves = textwrap.fill(" ".join(words), 78, break_long_words=False, break_on_hyphens=False)
    return "\n".join([*lines, "", moves, ""])


def _escaped(value, mark) -> str:
    """Return one line with a backslash before every mark and every backslash."""
    if len(f"{value}.".splitlines()) > 1:
        raise ValueError(f"{value!r} can not be written, it has several lines")
    return str(value).replace("\\", "\\\\").replace(mark, "\\" + mark)


def _numbered(words, turns) -> list:
    """Return the words with a number before every `turns` of them."""
    groups = [words[k : k + turns] for k in range(0, len(words), turns)]
    return [word for k, group in enumerate(groups, 1) for word in (f"{k}.", *group)]


def _moves(words, turns) -> list:
    """Return the moves for `_follow`; ValueError if the numbers among them do not count them."""
    moves = [word for word in words if not re.fullmatch(r"\d+\.", word)]
    if len(moves) < len(words) and words != _numbered(moves, turns):
        raise ValueError(f"the numbers do not count {len(moves)} moves: {' '.join(words)}")
    return [(None, word) for word in moves]


def _tags(text) -> tuple[dict, str]:
    """Return the tags of a text and what follows them."""
    tags, at = {}, text.startswith("\ufeff")
    while found := TAG.match(text, at):
        at, value = found.end(), re.sub(r"\\(.)", r"\1", found[2])
        _agree({found[1]: value}, tags)
        tags[found[1]] = value
    if second := re.search(r'^[ \t]*\[\w+ ".*', text[at:], re.MULTILINE):
        raise ValueError(f"a second game begins at {second[0].strip()}; one is read at a time")
    return tags, text[at:]


def _agree(tags, known):
    """Raise ValueError if tags state something else than what is known."""
    for name, value in known.items():
        if tags.get(name, value) != value:
            raise ValueError(f"the text states {name} {tags[name]!r}, but it is {value!r}")


def _stated_game(tags, name, game):
    """Return the game of this name with the parameters in the tags; ValueError if not `game`."""
    stated = {tag: value for tag, value in tags.items() if tag.startswith("Parameter_")}
    if game is None:
        game = load_game(name, **dict(map(_parameter, stated.items())))
    if check_game(game, "a text").name != name:
        raise ValueError(f"this is a game of {name!r}, not of {game.name}")
    _agree(tags, dict.fromkeys(stated) | _head(game))
    return game


def _parameter(tag) -> tuple:
    name, value = tag
    plain = {"True": True, "False": False, "None": None}
    number = int(value) if re.fullmatch(r"-?\d+", value) else value.strip("'")
    return name.removeprefix("Parameter_"), plain.get(value, number)


# ------------------------------------------------------------------------------ moves as words
def _words(game, state) -> dict:
    """Return the moves by their names in the game: word -> actions."""
    legal = game.legal(state).tolist()
    return {re.sub(r"\s", "_", game.action_name(state, a)): (a,) for a in legal}


def _spelled(game, states, actions, form=_words) -> list:
    """Return the moves as words of a form; ValueError if they do not lead from state to state."""
    if len(states) != len(actions) + 1:
        raise ValueError(f"{len(states)} states and {len(actions)} actions do not fit together")
    words, ply = [], 0
    while ply < len(actions):
        moves = form(game, states[ply])
        fits = [w for w, path in moves.items() if path == tuple(actions[ply : ply + len(path)])]
        if not fits:
            told = ", ".join(moves) or "none, the game is over"
            raise ValueError(f"{actions[ply:]!r} do not begin with a whole move; there are {told}")
        for action in moves[fits[0]]:
            ends = _outcomes(game, states[ply], action)
            ply += 1
            led = [k for k, end in enumerate(ends) if np.array_equal(end, states[ply])]
            if not led:
                raise ValueError(f"the move {fits[0]} does not lead to the next state")
        words.append(fits[0] if game.deterministic else f"{fits[0]}/{led[0]}")
    return words


def _outcomes(game, state, action) -> list:
    made = game.play(state, action)
    return [made] if game.deterministic else [end for end, _ in game.outcomes(made)]


def _follow(game, state, words, tags, form=_words) -> Record:
    """Return the game of some words: (player, None = not said; word of a form, None = a pass)."""
    over, states, actions, passed = game.over(state), [np.asarray(state, np.int32)], [], False
    for number, (player, word) in enumerate(words, 1):
        turn, said = game.player(state), "a pass" if word is None else word
        here = f"move {number} of this game, {said!r},"
        if word is None:
            missed = len(states) > 1 and game.player(states[-2]) == turn != player
            if not over and (passed or not missed):
                raise ValueError(f"{here} is not forced, or another player's")
            passed = True
            continue
        name, _, outcome = (word, "", "") if game.deterministic else word.rpartition("/")
        known = {} if over else form(game, state)
        if name not in known:
            told = ", ".join(known) or "none, the game is over"
            raise ValueError(f"{here} is no move here; there are {told}")
        if player not in (None, turn):
            raise ValueError(f"{here} is of player {player}, but player {turn} is to move")
        for action in known[name]:
            ends = _outcomes(game, state, action)
            if not game.deterministic and not (outcome.isdecimal() and int(outcome) < len(ends)):
                raise ValueError(f"move {number}, {word!r}, does not say what chance brought")
            state = ends[int(outcome or 0)]
            actions.append(action)
            states.append(state)
        over, passed = game.over(state), False
    return Record(game, states, actions, tags)


def _result(game, state, words=()) -> str:
    """Return the scores, or one of the words for a draw, a win, a loss; ``*``: not over."""
    if not game.over(state):
        return "*"
    scores = game.score(state)
    return words[int(np.sign(scores[0]))] if words else " ".join(f"{score:g}" for score in scores)


def _check_results(*results):
    if len(said := {*results} - {"*"}) > 1:
        raise ValueError(f"the results differ, in the text or by its moves: {', '.join(said)}")


# ----------------------------------------------------------------------------------------- PDN
def write_pdn(game, states, actions, players=(), tags=None) -> str:
    """Return a game of checkers or giveaway as PDN; arguments are as in :func:`write`.

    The first player is White, who does not begin in other programs: a ``FEN`` tells the start.
    """
    words = _spelled(_one_of("PDN", PDN_GAMES, game), states, actions, _turns)
    fen = game.render(states[0]).split("\n")[-2]
    if not np.array_equal(game.parse(fen), states[0]):
        raise ValueError("PDN does not tell what came before the first state, unlike `write`")
    head = _head(game) | dict(zip(("White", "Black"), players)) | {"SetUp": "1", "FEN": fen}
    head["Result"] = _result(game, states[-1], PDN_RESULTS)
    return _document(head | (tags or {}), [*_numbered(words, 2), head["Result"]])


def read_pdn(text: str, game=None) -> Record:
    """Return the game of a PDN text; variations and comments are left out.

    Without a ``FEN`` Black begins, on squares 1 to 12, as in English checkers. ``1-0``: White won.
    `game` is by default the one that the text names, or `checkers`.
    """
    tags, rest = _tags(text)
    game = _stated_game(tags, tags.get("Game", getattr(game, "name", "checkers")), game)
    _agree({"GameType": tags.get("GameType", "21").split(",")[0]}, {"GameType": "21"})
    turn, *sides = tags.get("FEN", PDN_START).split(":")
    start = _one_of("PDN", PDN_GAMES, game).parse(":".join([turn, *sorted(sides, reverse=True)]))
    rest, inner = PDN_ASIDE.sub(" ", rest), 1
    while inner:
        rest, inner = re.subn(r"\([^()]*\)", " ", rest)  # variations, those within others first
    words = re.sub(r"(\d\.)", r"\1 ", rest).replace("X", "x").split()
    results = [word for word in words if word in (*PDN_RESULTS, "*")]
    if words[len(words) - len(results) :] != results[:1]:
        raise ValueError(f"the game ends at {results[0]}, but the text goes on")
    moves = _moves(words[: len(words) - len(results)], 2)
    record = _follow(game, start, moves, tags, _short_turns)
    own = _result(game, record.states[-1], PDN_RESULTS)
    _check_results(own, tags.get("Result", "*"), *results)
    return record


def _turns(game, state) -> dict:
    """Return the turns of checkers, each with all of its jumps, such as ``11x18x25``."""
    turns = {}
    for word, (action,) in _words(game, state).items():
        after = game.play(state, action)
        goes_on = game.player(after) == game.player(state)
        more = _turns(game, after) if goes_on else {"": ()}
        turns |= {word + x[x.find("x") :]: (action, *path) for x, path in more.items()}
    return turns


def _short_turns(game, state) -> dict:
    """Return the turns, also by first and last square where no other turn has the same ones."""
    turns = _turns(game, state)
    short = [re.sub("x.*x", "x", word) for word in turns]
    only = {word: path for word, path in zip(short, turns.values()) if short.count(word) == 1}
    return only | turns


def _one_of(form, names, game):
    if check_game(game, form).name not in names:
        raise ValueError(f"{form} has no {game.name}; it has {', '.join(names)} of our games")
    return game


# ----------------------------------------------------------------------------------------- SGF
def write_sgf(game, actions, players=()) -> str:
    """Return a game of Hex or Othello as SGF; Black is the player who begins.

    In Hex Black joins top and bottom there, so that all cells are mirrored at the long diagonal.
    """
    tags = {"FF": "4", **_sgf_tags(game), **dict(zip(("PB", "PW"), players))}
    states = [*itertools.accumulate(actions, game.play, initial=game.start())]
    if game.over(states[-1]):
        tags["RE"] = _result(game, states[-1], SGF_RESULTS)
    head = "".join(f"{name}[{_escaped(value, ']')}]" for name, value in tags.items())
    words = zip(states, _spelled(game, states, actions, _points))
    moves = "".join(f";{'BW'[game.player(state)]}[{word}]" for state, word in words)
    return f"(;{head}{moves})\n"


def read_sgf(text: str, game) -> Record:
    """Return the main line of a Hex or Othello SGF; its tags are the properties of the root.

    After ``swap-sides`` who began is White and to move: as after ``swap-pieces``, but mirrored.
    """
    nodes, known = _main_line(text), {**_sgf_tags(game), "HA": "0", "PL": "B"}
    tags = {name: values[0] for name, values in nodes[0].items()}
    _agree({"GM": "1", **tags}, known)
    words, results, colors = [], [], "BW"
    for node in nodes:
        if set_up := {"AB", "AW", "AE"} & node.keys():
            raise ValueError(f"this SGF sets up stones ({set_up.pop()}), our games begin without")
        moves = [(color, value) for color in "BW" for value in node.get(color, [])]
        if len(moves) > 1 or moves and results:
            raise ValueError(f"{moves[-1]} stands where a move is made already, or after the end")
        for color, value in moves:
            player, word = colors.index(color), value.strip().lower()
            if word in ("resign", "forfeit"):
                results.append(SGF_RESULTS[2 * player - 1])
            else:
                words.append((player, _usual(game, word, colors == "WB")))
            if word == "swap-sides":
                colors = "WB"
    if found := re.match(r"([BW])(\+|$)|(0|DRAW)$", tags.get("RE", "").strip().upper()):
        results.append(SGF_RESULTS[1 - 2 * colors.index(found[1]) if found[1] else 0])
    record = _follow(game, game.start(), words, tags, _points)
    _check_results(_result(game, record.states[-1], SGF_RESULTS), *results)
    return record


def _sgf_tags(game) -> dict:
    number = SGF_GAMES[_one_of("SGF", SGF_GAMES, game).name]
    return {"GM": str(number), "SZ": str(round(game.cells**0.5))}


def _points(game, state) -> dict:
    """Return the moves as in SGF: Hex is mirrored, its first player joins top and bottom there."""
    moves = _words(game, state).items()
    return {_mirrored(word) if game.name == "hex" else word: path for word, path in moves}


def _mirrored(word) -> str:
    """Return a cell of Hex mirrored at the long diagonal, and the swap as SGF calls it."""
    if found := re.fullmatch(r"([a-z])([1-9]|1\d|2[0-6])", word):
        return LETTERS[int(found[2]) - 1] + str(LETTERS.index(found[1]) + 1)
    return "swap-pieces" if word == "swap" else word


def _usual(game, word, mirrored):
    """Return a move of SGF by its name in `_points`; None: a pass of Othello."""
    if game.name == "hex":
        word = "swap-pieces" if word == "swap-sides" else word
        return _mirrored(word) if mirrored else word
    if re.fullmatch("[a-h][a-h]", word):  # column and row, as in Go
        return word[0] + str(LETTERS.index(word[1]) + 1)
    return None if word in PASSES else word


def _main_line(text) -> list:
    """Return the nodes of the main line of an SGF: their properties, each with its values.

    The main line is the first branch everywhere, so it ends at the first bracket that closes.
    """
    text = re.sub(r"\r\n?", "\n", text.removeprefix("\ufeff")).strip()
    nodes, before, depth, closed, at = [], "", 0, False, 0
    while at < len(text):
        found = SGF_PART.match(text, at)
        mark, name, value = found.groups() if found else ("?", None, None)
        kind = mark or ("P" if name else "V")
        if kind not in SGF_NEXT[before] or before and depth == 0:
            told = "a second game" if before and depth == 0 else "no SGF"
            raise ValueError(f"{text[at : at + 20]!r}, at character {at}, is {told}")
        depth += {"(": 1, ")": -1}.get(kind, 0)
        closed |= kind == ")"
        if kind == ";" and not closed:
            nodes.append({})
        elif kind == "P":
            values = nodes[-1].setdefault(name, []) if not closed else []
        elif kind == "V":
            values.append(re.sub(r"\\(.)", lambda m: m[1].strip("\n"), value, flags=re.DOTALL))
        before, at = kind, found.end()
    if depth or not nodes:
        raise ValueError(f"this SGF breaks off after {text[-20:]!r}")
    return nodes


# ---------------------------------------------------------------------------- Othello's moves
def write_moves(game, actions) -> str:
    """Return a game of Othello as its moves without blanks, such as ``f5d6c3``."""
    _one_of("a string of moves", ("othello",), game)
    states = itertools.accumulate(actions, game.play, initial=game.start())
    return "".join(map(game.action_name, states, actions))


def read_moves(text: str, game) -> Record:
    """Return the game of Othello that a string such as ``f5d6c3`` holds.

    Passes, ``--``, ``pa``, ``ps`` or ``pass``, may be left out, and stand only where forced.
    """
    _one_of("a string of moves", ("othello",), game)
    plain = "".join(text.removeprefix("\ufeff").lower().split())
    names = re.findall(r"[a-h][1-8]|--|pass|pa|ps", plain)
    if "".join(names) != plain:
        raise ValueError(f"{text!r} is no string of moves such as f5d6c3")
    words = [(None, None if name in PASSES else name) for name in names]
    return _follow(game, game.start(), words, {})
