"""A board that is played by clicks, and a game step by step, as widgets of a notebook.

Python keeps the game and draws the board; the page shows the drawing, turns clicks on its places
into actions, and sends them. Players think in a thread of their own, so that the page and the
kernel answer meanwhile. A replay has a slider, keys, and what an agent and a perfect player say of
each move. Nothing is fetched from anywhere.
"""

import functools
import math
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from ..checks import listed
from ..games import boards
from ..games.game import check_game
from ..networks import lookup
from ..opponents import optional, words
from ..opponents.perfect import Perfect, knows
from ..players.basic import wrap
from ..players.searching import MaxN
from ..search import max_n
from .game_table import THEM, YOU

HERE = Path(__file__).parent
# Games that Max-N searches to the end, if they have no more boards than this.
SMALL = {"nim", "nim3p", "tictactoe"}
MOST_BOARDS = 2**18
WORDS = {1.0: "a win", 0.0: "a draw", -1.0: "a loss"}
SLACK = 1e-9  # values that differ by less are equal


def _kernel():
    """Return the kernel of the notebook that this runs in, or None."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return getattr(shell, "kernel", None)


def is_alone() -> bool:
    """Return whether a program runs this notebook, such as papermill, so that nobody answers."""
    return not getattr(_kernel(), "_allow_stdin", True)


def has_front_end() -> bool:
    """Return whether this runs in a notebook that a person sees, and that can show widgets."""
    return _kernel() is not None and not is_alone() and find_spec("anywidget") is not None


@functools.cache
def _class_of(kind):
    import anywidget
    import traitlets

    class Widget(kind, anywidget.AnyWidget):
        _esm = (HERE / "board.js").read_text(encoding="utf-8")
        _css = (HERE / "board.css").read_text(encoding="utf-8")
        scene = traitlets.Dict().tag(sync=True)

    return Widget


def widget(kind, *arguments):
    """Return a widget that shows the ``scene`` of a :class:`BoardWidget` or of a replay."""
    board = _class_of(kind)(*arguments)
    board.begin()
    return board


class BoardWidget:
    """A board; `strength` is the least, greatest and present rating for the slider, or None."""

    def __init__(self, table, strength):
        super().__init__()
        self.table = table
        self.strength = strength
        self.show_values = False
        self.error = ""
        self._values = None
        self._worker = ThreadPoolExecutor(1, "afterply-board")
        self._number = 0  # of the last request; the outcome of an older one is dropped
        self._lock = threading.Lock()  # whoever holds it may change the table and show it

    def begin(self):
        """Listen to the page and show the first position."""
        self.on_msg(self._asked)
        self._go_on()

    def __repr__(self):
        return repr(self.table)

    def _asked(self, _, message, buffers):
        """Do what the page asks for; whatever is wrong with it is shown, not raised."""
        with self._lock:
            self.error = ""
            try:
                self._fulfil(message)
            except Exception as failure:
                self.error = f"{type(failure).__name__}: {failure}"
            self._go_on()

    def _fulfil(self, message):
        """Do what a message of the page asks for; ``board.js`` lists the messages."""
        table = self.table
        wish = message["do"]
        if wish == "move":
            # a second click while the opponent thinks comes too late
            if table.turn == YOU and len(table.actions) == message["ply"]:
                table.make(message["action"])
        elif wish == "undo":
            table.undo()
        elif wish == "new":
            table.new(table.seat)
        elif wish == "switch":
            table.new((table.seat + 1) % table.game.players)
        elif wish == "values":
            self.show_values = bool(message["on"])
        elif wish == "strength":
            low, high, _ = self.strength
            rating = min(max(float(message["rating"]), low), high)
            self.strength = low, high, rating
            table.seat_opponents([words.at_strength(table.game, rating)])

    def _go_on(self):
        """Show the position, and let players think if they are to move or asked for values."""
        self._number += 1
        self._values = None
        self._show()
        wants_values = self.show_values and self.table.turn == YOU
        if self.table.turn == THEM or wants_values:
            self._worker.submit(self._think, self._number)

    def _think(self, number):
        """Make the opponents' moves and find the values, unless there was another request since."""
        table = self.table
        try:
            while self._number == number and table.turn == THEM:
                self._take_over(number, table.make, table.choice())
            if self.show_values and self._number == number and table.turn == YOU:
                self._take_over(number, self._keep_values, table.values())
        except Exception as failure:  # a player of somebody's making
            self._take_over(number, self._keep_error, f"{type(failure).__name__}: {failure}")

    def _take_over(self, number, function, outcome):
        """Let a function take what was thought of for a request, and show it, if it is the last."""
        with self._lock:
            if self._number == number:
                function(outcome)
                self._show()

    def _keep_values(self, values):
        self._values = values

    def _keep_error(self, error):
        self.error = error

    def _show(self):
        """Send the page all that it shows: the scene, which ``board.js`` describes."""
        table = self.table
        game = table.game
        state = table.state
        values = self._values
        legal = game.legal(state).tolist() if table.turn == YOU else []
        names = {action: game.action_name(state, action) for action in legal}
        places = {action: game.places(state, action) for action in legal}
        last_action = before = None
        if table.actions:
            last_action = table.actions[-1]
            before = table.states[-2]
        strength = self.strength
        if strength is not None:
            strength = [round(rating) for rating in strength]
        keys = game.drawing.keys if legal else {}
        self.scene = {
            "svg": boards.state_svg(game, state, values, last_action, before),
            "ply": len(table.actions),
            "clicks": [[action, cells] for action, cells in places.items() if cells],
            "names": list(names.items()),
            "buttons": _buttons(names, places, values),
            "keys": keys,
            "line": boards.winning_places(game, state),
            "told": table.told(),
            "status": table.status(),
            "turn": table.turn,
            "error": self.error,
            "switch": game.players > 1,
            "advice": table.adviser is not None,
            "values": self.show_values,
            "best": _best_moves(names, values),
            "strength": strength,
        }


def _buttons(names, places, values):
    """Return action and label of the moves that no place of the board stands for."""
    buttons = []
    for action, name in names.items():
        if not places[action]:
            label = name if values is None else f"{name} {values[action]:+.2f}"
            buttons.append([action, label])
    return buttons


def _best_moves(names, values):
    """Return the five best moves with their values in words, "" if values are not known."""
    if values is None:
        return ""
    ranked = sorted(values, key=values.get, reverse=True)
    moves = [f"{names[action]} {values[action]:+.3g}" for action in ranked[:5]]
    return f"best moves: {', '.join(moves)}"


def replay(game, states, actions, agent=None):
    """Show a game move by move, and which moves lost value if a perfect player is here.

    In a notebook this returns a widget with a slider; where there is no front end for it, the
    boards of the whole game side by side.

    Parameters
    ----------
    game : Game
    states : sequence of int32 [size]
        From the start to the end, one more than actions, else ValueError.
    actions : sequence of int
        Each legal in its state, and where there is no chance leading to the next, else ValueError.
    agent : player with ``values``, network or session, optional
        Its values are drawn on every board; for an n-tuple network the widget also shows which
        tuples carry the value of the move that was made.
    """
    check_game(game, "a replay")
    states = [game._state(state) for state in listed("the states of a replay", states)]
    actions = [game._action(action) for action in listed("the actions of a replay", actions)]
    if len(states) != len(actions) + 1:
        raise ValueError(
            f"{len(states)} states and {len(actions)} actions do not fit together: give every state"
            " from the start to the end, and the action between each two"
        )
    for ply, (before, action, after) in enumerate(zip(states, actions, states[1:])):
        leads_to = game.play(before, action)  # which raises if it is not legal
        if game.deterministic and not np.array_equal(leads_to, after):
            raise ValueError(
                f"action {action} does not lead from state {ply} of the replay to state {ply + 1}:"
                " give the states and moves of one game, as arena.match returns them"
            )
    if not has_front_end():
        return boards.replay(game, states, actions)
    return widget(Replay, game, states, actions, agent)


def judge_of(game):
    """Return the perfect player of a game, or None if there is none here."""
    if game.name in SMALL and math.prod(game.num_codes.tolist()) <= MOST_BOARDS:
        return MaxN(max_n.UNLIMITED)
    return Perfect("AB") if knows(game) and not optional.lacks("bitbully") else None


def judgement(game, judge, state, action) -> str:
    """Return what was wrong with a move, in words; empty if it was as good as any."""
    values = np.asarray(judge.values(state), float)
    legal = game.legal(state).tolist()
    best = values.max()
    value = values[legal.index(int(action))]
    if best - value <= SLACK:
        return ""
    names = [game.action_name(state, a) for a, v in zip(legal, values) if v == best]
    missed = ", ".join(names[:4])
    return f"loses value: {_in_words(best)} was there with {missed}, this is {_in_words(value)}"


def _in_words(value):
    """Return a value as a win, draw or loss, or as a number."""
    return WORDS.get(float(value), f"{value:+g}")


def attribution(net, state, action, most: int = 3) -> list[tuple[list, float]]:
    """Return the cells and summed weights of the n-tuples that carry most of an action's value.

    Source: [konen2021] Eq. (2).
    """
    game = net.game
    arrays = net.arrays
    board = game.board(game.play(state, action))
    symmetric_boards = np.zeros(len(arrays.symmetries), np.int32)
    index = np.zeros_like(arrays.offset)
    weights = np.zeros(len(arrays.offset))
    lookup.features(arrays, board, index)
    lookup.look_up(arrays, game.player(state), index, len(index), weights)
    num_boards = lookup.symmetric_boards(arrays, board, index, symmetric_boards)
    sums = {}  # cells -> summed weights
    for k in symmetric_boards[:num_boards]:
        for i, cells in enumerate(net.tuples):
            # the same cells in another order are the same look at the board
            seen = arrays.symmetries[k, cells].tolist()
            place = tuple(sorted(cell for cell in seen if cell != game.stage))
            weight = float(weights[k * len(net.tuples) + i])
            sums[place] = sums.get(place, 0.0) + weight
    shares = [(list(place), weight) for place, weight in sums.items()]
    return sorted(shares, key=lambda share: -abs(share[1]))[:most]


class Replay:
    """A replay; its frames are there at once, and explained as soon as an agent has been asked."""

    def __init__(self, game, states, actions, agent=None):
        super().__init__()
        self.game = game
        self.states = states
        self.actions = actions
        self.judge = judge_of(game)
        self.agent = None if agent is None else wrap(agent)
        if agent is not None and not hasattr(self.agent, "values"):
            raise ValueError(f"{self.agent!r} has no values to show")
        for player in (self.agent, self.judge):
            if player is not None:
                player.new_match(game, [], 0, 0)
        self.names = [game.action_name(s, a) for s, a in zip(states, actions)]
        self.scene = {"frames": self._frames(), "valued": agent is not None}

    def _frames(self):
        """Return what the page shows of each position, before anybody was asked."""
        frames = [{"svg": boards.state_svg(self.game, self.states[0]), "name": "start", "said": ""}]
        moves = zip(self.states, self.states[1:], self.actions, self.names)
        for before, state, action, name in moves:
            drawing = boards.state_svg(self.game, state, last=action, before=before)
            frames.append({"svg": drawing, "name": name, "said": ""})
        frames[-1]["line"] = boards.winning_places(self.game, self.states[-1])
        return frames

    def begin(self):
        """Ask agent and judge, in a thread."""
        if self.scene["valued"] or self.judge is not None:
            ThreadPoolExecutor(1, "afterply-replay").submit(self.explain)

    def __repr__(self):
        return f"{' '.join(self.names)}\n{self.game.render(self.states[-1])}"

    def explain(self):
        """Add to all frames what agent and judge say."""
        try:
            frames = self.scene["frames"]
            explained = [frame | self.explained(ply) for ply, frame in enumerate(frames)]
            self.scene = self.scene | {"frames": explained, "told": True}
        except Exception as failure:  # an agent of somebody's making
            self.scene = self.scene | {"error": f"{type(failure).__name__}: {failure}"}

    def explained(self, ply) -> dict:
        """Return what judge and agent say of the moves before and after a ply."""
        explanation = {}
        if ply > 0 and self.judge is not None:
            before = self.states[ply - 1]
            explanation["said"] = judgement(self.game, self.judge, before, self.actions[ply - 1])
        if self.agent is not None and ply < len(self.actions):
            explanation |= self._valued(ply)
        return explanation

    def _valued(self, ply) -> dict:
        """Return what the agent says of the moves of a ply, and of the one that was made."""
        state = self.states[ply]
        action = self.actions[ply]
        last_action = before = None
        if ply > 0:
            last_action = self.actions[ply - 1]
            before = self.states[ply - 1]
        legal = self.game.legal(state).tolist()
        values = dict(zip(legal, map(float, self.agent.values(state))))
        best = max(values.values())
        valued = {
            "valued": boards.state_svg(self.game, state, values, last_action, before),
            "next": f"next: {self.names[ply]} ({values[action]:+.3g}, best {best:+.3g})",
        }
        net = getattr(self.agent, "net", None)
        # an n-tuple network of V, whose weights can be told apart
        if hasattr(getattr(net, "arrays", None), "stride") and not net.per_action:
            valued["shares"] = attribution(net, state, action)
        return valued
