"""All states of a game of OpenSpiel as arrays, and a game of ours that plays by them."""

import hashlib
from types import FunctionType
from typing import NamedTuple

import numpy as np

from ..games.game import Game

TABLE = "table-"  # how the version of such a game begins


class Table(NamedTuple):
    """The states of a game, by their number; 0 is the start.  `n` states, `m` moves from them."""

    # fmt: off
    first: np.ndarray    # int32 [n + 1]          the moves of state k are first[k] .. first[k + 1]
    moves: np.ndarray    # int32 [m]              the action
    targets: np.ndarray  # int32 [m]              the state that it leads to
    players: np.ndarray  # int32 [n]              who is to move; 0 at the end
    ends: np.ndarray     # int8 [n]               is the game over?
    scores: np.ndarray   # float64 [n, players]   cumulative rewards
    codes: np.ndarray    # int32 [n, cells]       what the cells hold
    texts: list          # [n]                    the state in words
    names: dict          # (state, action) -> the action in words
    # fmt: on


def table_of(theirs, max_states: int) -> Table:
    """Walk through all states of a game and return them.

    Parameters
    ----------
    theirs : pyspiel.Game
        Deterministic, with perfect information and one mover at a time.
    max_states : int

    Raises
    ------
    ValueError
        If there are more states, or two that look alike have different actions.
    """
    start = theirs.new_initial_state()
    number, states, edges = {_look(theirs, start): 0}, [start], []
    legal = [start.legal_actions()]
    for k, state in enumerate(states):  # which grows on the way
        for action in legal[k]:
            after = state.child(action)
            look = _look(theirs, after)
            if look not in number:
                if len(states) >= max_states:
                    raise ValueError(
                        f"the game {theirs} has more than {max_states:,} states: take a smaller"
                        " board, or raise max_states"
                    )
                number[look] = len(states)
                states.append(after)
                legal.append(after.legal_actions())
            elif after.legal_actions() != legal[number[look]]:
                raise ValueError(
                    f"what {theirs} shows does not determine what is legal: after"
                    f" {after.history()} it is {after.legal_actions()}, and where it looks alike,"
                    f" after {states[number[look]].history()}, it is {legal[number[look]]}"
                )
            edges.append((k, action, number[look]))
    return _arrays(theirs, states, edges)


def _look(theirs, state) -> tuple:
    """Return what tells states apart: player, rewards, text and observation."""
    return (state.current_player(), tuple(state.returns()), str(state), _seen(theirs, state))


def _seen(theirs, state) -> bytes:
    """Return the first player's observation as bytes; empty if the game has none."""
    if not theirs.get_type().provides_observation_tensor:
        return b""
    return np.asarray(state.observation_tensor(0), np.float32).tobytes()


def _arrays(theirs, states, edges) -> Table:
    """Return the table of the states and moves that were found."""
    edges_array = np.array(edges, np.int32).reshape(-1, 3)
    counts = np.bincount(edges_array[:, 0], minlength=len(states))
    return Table(
        first=np.concatenate([[0], np.cumsum(counts)]).astype(np.int32),
        moves=edges_array[:, 1].copy(),
        targets=edges_array[:, 2].copy(),
        players=np.array([max(0, state.current_player()) for state in states], np.int32),
        ends=np.array([state.is_terminal() for state in states], np.int8),
        scores=np.array([state.returns() for state in states], np.float64),
        codes=_codes(theirs, states),
        texts=[str(state) for state in states],
        names={
            (k, action): states[k].action_to_string(states[k].current_player(), action)
            for k, action, _ in edges
        },
    )


def _codes(theirs, states) -> np.ndarray:
    """Return the codes of the cells of all states, int32 [n, cells].

    If the observation has planes, and exactly one of them is set on every place, a cell is a place
    and its code the plane; else a cell is an entry, and its code the rank of its value. What never
    changes is left out. Without an observation the one cell is the number of the state.
    """
    kind = theirs.get_type()
    if not kind.provides_observation_tensor:
        return np.arange(len(states), dtype=np.int32)[:, None]
    seen = np.array([state.observation_tensor(0) for state in states], np.float32)
    shape = theirs.observation_tensor_shape()
    planes = seen.reshape(len(states), shape[0], -1)
    if len(shape) > 1 and ((planes == 0) | (planes == 1)).all() and (planes.sum(axis=1) == 1).all():
        codes = planes.argmax(axis=1)
    else:
        codes = np.stack([np.unique(entry, return_inverse=True)[1] for entry in seen.T], axis=1)
    changing = codes.max(axis=0) > 0
    if not changing.any():
        return np.arange(len(states), dtype=np.int32)[:, None]
    return np.ascontiguousarray(codes[:, changing], np.int32)


def game_of(table: Table, theirs) -> Game:
    """Make a game of ours of the table of a pyspiel.Game; its state is one number, the row."""
    name = str(theirs).removesuffix("()")
    first, moves, targets = table.first, table.moves, table.targets
    players, ends, scores, codes = table.players, table.ends, table.scores, table.codes
    num_players, cells = scores.shape[1], codes.shape[1]

    def start(s, rng):
        s[0] = 0

    def legal(s, actions):
        n = 0
        for i in range(first[s[0]], first[s[0] + 1]):
            actions[n] = moves[i]
            n += 1
        return n

    def play(s, action):
        for i in range(first[s[0]], first[s[0] + 1]):
            if moves[i] == action:
                s[0] = targets[i]
                return

    def player(s):
        return players[s[0]]

    def over(s):
        return ends[s[0]] != 0

    def score(s, r):
        for p in range(num_players):
            r[p] = scores[s[0], p]

    def board(s, out):
        for c in range(cells):
            out[c] = codes[s[0], c]

    rules = (start, legal, play, player, over, score, board)
    content = b"".join(array.tobytes() for array in table[:7])
    return Game(
        name,
        **{rule.__name__: _not_kept(rule) for rule in rules},
        players=num_players,
        actions=theirs.num_distinct_actions(),
        max_legal=int(np.diff(first).max()),
        size=1,
        num_codes=codes.max(axis=0).astype(int) + 1,
        score_range=(theirs.min_utility(), theirs.max_utility()),
        version=TABLE + hashlib.sha256(content).hexdigest()[:12],
        **_texts(name, table),
    )


def _not_kept(rule):
    """Return a rule that is compiled as one of a notebook's cell is: not kept on disk.

    Machine code that holds a small table would fill the disk, and that of a large table, which
    holds its address, can not be kept at all.
    """
    code = rule.__code__.replace(co_filename="<table of states>")
    return FunctionType(code, rule.__globals__, rule.__name__, None, rule.__closure__)


def _texts(name, table) -> dict:
    """Return text forms, and what is wrong with a number that is no state."""

    def render(s):
        return table.texts[s[0]]

    def parse(text):
        if table.texts.count(text) != 1:
            number = table.texts.count(text) or "no"
            raise ValueError(f"{number} states of {name} are written {text!r}")
        return np.array([table.texts.index(text)], np.int32)

    def action_name(s, action):
        return table.names.get((int(s[0]), int(action)), str(action))

    def fault(s):
        known = 0 <= s[0] < len(table.texts)
        return None if known else f"states are numbered from 0 to {len(table.texts) - 1}"

    return {"render": render, "parse": parse, "action_name": action_name, "fault": fault}
