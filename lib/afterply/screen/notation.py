"""Games as text: a form like PGN for all games, which is PDN in checkers; SGF for Hex and Othello.

::

    [Game "connect4"]
    [Version "1"]
    [First "MCTS-200"]
    [Second "Random"]
    [Result "1 -1"]

    1. d1 c1 2. d2 c2 3. d3 c3 4. d4

Moves have the names that the game gives them, with underscores for blanks. In a game of chance the
number of the outcome follows each move, as in ``left/12``. Texts of other programs are read, too:
PDN of checkers, and Othello's moves without blanks, such as ``f5d6c3``. What a text states beside
its moves is checked: game, version, parameters, size, colours, passes, numbers of moves, result.
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
PASSES = ("", "--", "pa", "pass", "ps", "tt")  # of Othello; our moves are without


class Record(NamedTuple):
    """A game that was read: its positions, its moves and its tags."""

    game: object
    states: list  # int32 [size] each, one more than actions
    actions: list
    tags: dict


# -------------------------------------------------------------------------- the form like PGN
def write(game, states, actions, players=(), tags=None) -> str:
    """Return a game as text; ValueError if the actions do not lead from state to state.

    `states` are one more than `actions`, `players` are names by seat, `tags` are further tags. In
    checkers it is PDN, where the first player is White, who does not begin in other programs.
    """
    words, pdn = _spelled(check_game(game, "a game to write"), states, actions), _is_pdn(game)
    head = _head(game) | dict(zip(("White", "Black") if pdn else SEATS, players))
    if pdn:
        head |= {"SetUp": "1", "FEN": game.render(states[0]).split("\n")[-2]}
    if not np.array_equal(states[0], _start(game, head)):
        head["Start"] = " ".join(map(str, np.asarray(states[0]).tolist()))
    words = _numbered(words, game.players)
    if game.over(states[-1]):
        head["Result"] = _result(game, states[-1])
        words += [head["Result"]] * pdn
    lines = ['[{} "{}"]'.format(*_escaped(tag, '"')) for tag in (head | (tags or {})).items()]
    if wrong := [line for line in lines if not TAG.fullmatch(line)]:
        raise ValueError(f"{wrong[0]} can not be written, its name is no word")
    moves = textwrap.fill(" ".join(words), 78, break_long_words=False, break_on_hyphens=False)
    return "\n".join([*lines, "", moves, ""])


def read(text: str, game=None) -> Record:
    """Return the game of such a text; ValueError names the first move that is none.

    `game` is by default the game of the package that the text names. Of PDN variations and comments
    are left out; without a ``FEN`` Black begins, on squares 1 to 12, as in English checkers.
    """
    tags, rest = _tags(text)
    game = _stated_game(tags, game)
    words, results = _plain(game, rest).split(), []
    if _is_pdn(game):
        _agree({"GameType": tags.get("GameType", "21").split(",")[0]}, {"GameType": "21"})
        results = [tags.get("Result", "*")]
        results += [words.pop()] if words and words[-1] in (*PDN_RESULTS, "*") else []
    moves = [word for word in words if not re.fullmatch(r"\d+\.", word)]
    if len(moves) < len(words) and words != _numbered(moves, game.players):
        raise ValueError(f"the numbers do not count {len(moves)} moves: {' '.join(words)}")
    record = _follow(game, _start(game, tags), [(None, word) for word in moves], tags)
    own = _result(game, record.states[-1])
    if results:  # of PDN, where somebody may have resigned
        _check_results(own, *results)
    else:
        _agree(tags, {"Result": own})
    return record


def _is_pdn(game) -> bool:
    return game.name in PDN_GAMES


def _head(game) -> dict:
    parameters = (game.spec or {}).get("params", {})
    named = {f"Parameter_{name}": repr(value) for name, value in parameters.items()}
    return {"Game": game.name, "Version": str(game.version), **named}


def _start(game, tags) -> np.ndarray:
    """Return the position in which the moves of a text begin."""
    if "Start" in tags:
        return np.array([int(word) for word in tags["Start"].split()])
    if not _is_pdn(game):
        return game.start()
    turn, *sides = tags.get("FEN", PDN_START).split(":")
    return game.parse(":".join([turn, *sorted(sides, reverse=True)]))


def _plain(game, text) -> str:
    """Return moves, also of other programs, as words with blanks between them."""
    if game.name == "othello":  # such as F5D6C3, with or without passes
        return re.sub("[a-h][1-8]|--|pass|pa|ps", r"\g<0> ", text.lower())
    if not _is_pdn(game):
        return cube.usual(text) if game.name in cube.CUBES else text
    text, inner = PDN_ASIDE.sub(" ", text), 1
    while inner:
        text, inner = re.subn(r"\([^()]*\)", " ", text)  # variations, those within others first
    return re.sub(r"(\d\.)", r"\1 ", text).replace("X", "x")


def _escaped(values, mark) -> list:
    """Return lines with a backslash before every mark and every backslash."""
    for value in values:
        if len(f"{value}.".splitlines()) > 1:
            raise ValueError(f"{value!r} can not be written, it has several lines")
    return [str(value).replace("\\", "\\\\").replace(mark, "\\" + mark) for value in values]


def _numbered(words, turns) -> list:
    """Return the words with a number before every `turns` of them."""
    groups = [words[k : k + turns] for k in range(0, len(words), turns)]
    return [word for k, group in enumerate(groups, 1) for word in (f"{k}.", *group)]


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


def _stated_game(tags, game):
    """Return the game that the tags name, with its parameters; ValueError if not `game`."""
    stated = {tag: value for tag, value in tags.items() if tag.startswith("Parameter_")}
    name = tags.get("Game", getattr(game, "name", ""))
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
    """Return the moves by their names: word -> actions.

    In checkers also whole turns, and these by first and last square if no other has the same ones.
    """
    words = _steps(game, state)
    if _is_pdn(game):
        turns = _turns(game, state)
        short = [re.sub("x.*x", "x", word) for word in turns]
        words |= {w: path for w, path in zip(short, turns.values()) if short.count(w) == 1} | turns
    return words


def _steps(game, state) -> dict:
    legal = game.legal(state).tolist()
    return {re.sub(r"\s", "_", game.action_name(state, a)): (a,) for a in legal}


def _turns(game, state) -> dict:
    """Return the turns of checkers, each with all of its jumps, such as ``11x18x25``."""
    turns = {}
    for word, (action,) in _steps(game, state).items():
        after = game.play(state, action)
        goes_on = game.player(after) == game.player(state)
        more = _turns(game, after) if goes_on else {"": ()}
        turns |= {word + x[x.find("x") :]: (action, *path) for x, path in more.items()}
    return turns


def _spelled(game, states, actions) -> list:
    """Return the moves as words; ValueError if they do not lead from state to state."""
    if len(states) != len(actions) + 1:
        raise ValueError(f"{len(states)} states and {len(actions)} actions do not fit together")
    words, ply = [], 0
    while ply < len(actions):
        moves = _words(game, states[ply])
        fits = [w for w, path in moves.items() if path == tuple(actions[ply : ply + len(path)])]
        if not fits:
            told = ", ".join(moves) or "none, the game is over"
            raise ValueError(f"{actions[ply:]!r} do not begin with a move; there are {told}")
        word = max(fits, key=len)  # with all of its jumps
        for action in moves[word]:
            ends = _outcomes(game, states[ply], action)
            ply += 1
            led = [k for k, end in enumerate(ends) if np.array_equal(end, states[ply])]
            if not led:
                raise ValueError(f"the move {word} does not lead to the next state")
        words.append(word if game.deterministic else f"{word}/{led[0]}")
    return words


def _outcomes(game, state, action) -> list:
    return [end for end, _ in game.outcomes(game.play(state, action))]


def _follow(game, state, moves, tags) -> Record:
    """Return the game of some moves: (player or None, if the text does not say it; word)."""
    states, actions, passed = [np.asarray(state, np.int32)], [], False
    for number, (player, said) in enumerate(moves, 1):
        state, here = states[-1], f"move {number} of this game, {said!r},"
        if said in PASSES and game.name == "othello":
            forced = len(states) > 1 and game.player(states[-2]) == game.player(state) != player
            if not game.over(state) and (passed or not forced):
                raise ValueError(f"{here} is not forced, or another player's")
            passed = True
            continue
        word, _, outcome = (said, "", "") if game.deterministic else said.rpartition("/")
        known = _words(game, state)
        if word not in known:
            told = ", ".join(known) or "none, the game is over"
            raise ValueError(f"{here} is no move here; there are {told}")
        if player not in (None, turn := game.player(state)):
            raise ValueError(f"{here} is of player {player}, but player {turn} is to move")
        for action in known[word]:
            ends = _outcomes(game, states[-1], action)
            if not game.deterministic and not (outcome.isdecimal() and int(outcome) < len(ends)):
                raise ValueError(f"{here} does not say what chance brought")
            states.append(ends[int(outcome or 0)])
            actions.append(action)
        passed = False
    return Record(game, states, actions, tags)


def _result(game, state, words=()) -> str:
    """Return the scores, or one of the words for a draw, a win, a loss; ``*``: not over."""
    if not game.over(state):
        return "*"
    scores, words = game.score(state), words or PDN_RESULTS * _is_pdn(game)
    return words[int(np.sign(scores[0]))] if words else " ".join(f"{score:g}" for score in scores)


def _check_results(*results):
    if len(said := {*results} - {"*"}) > 1:
        raise ValueError(f"the results differ, in the text or by its moves: {', '.join(said)}")


# ----------------------------------------------------------------------------------------- SGF
def write_sgf(game, actions, players=()) -> str:
    """Return a game of Hex or Othello as SGF; Black is the player who begins.

    In Hex Black joins top and bottom there, so that all cells are mirrored at the long diagonal.
    """
    tags = {"FF": "4", **_sgf_tags(game), **dict(zip(("PB", "PW"), players))}
    states = [*itertools.accumulate(actions, game.play, initial=game.start())]
    if game.over(states[-1]):
        tags["RE"] = _result(game, states[-1], SGF_RESULTS)
    head = "".join("{}[{}]".format(*_escaped(tag, "]")) for tag in tags.items())
    words = _spelled(game, states, actions)
    if game.name == "hex":
        words = map(_mirrored, words)
    moves = (f";{'BW'[game.player(state)]}[{word}]" for state, word in zip(states, words))
    return f"(;{head}{''.join(moves)})\n"


def read_sgf(text: str, game) -> Record:
    """Return the main line of a Hex or Othello SGF; its tags are the properties of the root.

    After ``swap-sides`` who began is White and to move: as after ``swap-pieces``, but mirrored.
    """
    nodes, known = _main_line(text), {**_sgf_tags(game), "HA": "0", "PL": "B"}
    tags = {name: values[0] for name, values in nodes[0].items()}
    _agree({"GM": "1", **tags}, known)
    moves, results, colors = [], [], "BW"
    for node in nodes:
        if set_up := {"AB", "AW", "AE"} & node.keys():
            raise ValueError(f"this SGF sets up stones ({set_up.pop()}), our games begin without")
        made = [(color, value) for color in "BW" for value in node.get(color, [])]
        if len(made) > 1 or made and results:
            raise ValueError(f"{made[-1]} stands where a move is made already, or after the end")
        for color, value in made:
            player, word = colors.index(color), value.strip().lower()
            if word in ("resign", "forfeit"):
                results.append(SGF_RESULTS[2 * player - 1])
            elif game.name == "hex":
                moves.append((player, word if colors == "WB" else _mirrored(word)))
            else:  # a cell by column and row, or as in Go by two letters
                row = str(LETTERS.index(word[1]) + 1) if re.fullmatch("[a-h]{2}", word) else ""
                moves.append((player, word[0] + row if row else word))
            if word == "swap-sides":
                colors = "WB"
    if found := re.match(r"([BW])(\+|$)|(0|DRAW)$", tags.get("RE", "").strip().upper()):
        results.append(SGF_RESULTS[1 - 2 * colors.index(found[1]) if found[1] else 0])
    record = _follow(game, game.start(), moves, tags)
    _check_results(_result(game, record.states[-1], SGF_RESULTS), *results)
    return record


def _sgf_tags(game) -> dict:
    if check_game(game, "SGF").name not in SGF_GAMES:
        raise ValueError(f"SGF has no {game.name}; it has {', '.join(SGF_GAMES)} of our games")
    return {"GM": str(SGF_GAMES[game.name]), "SZ": str(round(game.cells**0.5))}


def _mirrored(word) -> str:
    """Return a cell of Hex mirrored at the long diagonal; the swap has other names in SGF."""
    if found := re.fullmatch(r"([a-z])([1-9]|1\d|2[0-6])", word):
        return LETTERS[int(found[2]) - 1] + str(LETTERS.index(found[1]) + 1)
    return {"swap": "swap-pieces", "swap-pieces": "swap", "swap-sides": "swap"}.get(word, word)


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
