"""A board that is played by clicks and a replay, as widgets of a notebook.

Python keeps the game and draws the board; the page shows the drawing, turns clicks on its places
into actions, and sends them. Players think in a thread of their own, so that the page and the
kernel answer meanwhile. Nothing is fetched from anywhere.
"""

import functools
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path

from ..games.boards import state_svg, winning_places
from ..players import saved
from .game_table import THEM, YOU

HERE = Path(__file__).parent
ARROWS = {"ArrowLeft": 0, "ArrowUp": 1, "ArrowRight": 2, "ArrowDown": 3}  # of 2048


def _kernel():
    shell = sys.modules.get("IPython")
    return getattr(shell.get_ipython() if shell else None, "kernel", None)


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
    made = _class_of(kind)(*arguments)
    made.begin()
    return made


class BoardWidget:
    """A board; `strength` is the least, greatest and present rating for the slider, or None."""

    def __init__(self, table, strength):
        super().__init__()
        self.table, self.strength = table, strength
        self.show_values, self.error, self._values = False, "", None
        self._worker = ThreadPoolExecutor(1, "afterstate-board")
        self._number = 0  # of the last request; the outcome of an older one is dropped

    def begin(self):
        """Listen to the page and show the first position."""
        self.on_msg(self._asked)
        self._go_on()

    def __repr__(self):
        return repr(self.table)

    def _asked(self, _, message, buffers):
        """Do what the page asks for; whatever is wrong with it is shown, not raised."""
        table, wish, self.error = self.table, message["do"], ""
        try:
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
                self.strength = low, high, min(max(float(message["rating"]), low), high)
                table.seat_opponents([saved.at_strength(table.game, self.strength[2])])
        except Exception as failure:
            self.error = f"{type(failure).__name__}: {failure}"
        self._go_on()

    def _go_on(self):
        self._number += 1
        self._values = None
        self._show()
        if self.table.turn == THEM or self.show_values and self.table.turn == YOU:
            self._worker.submit(self._think, self._number)

    def _think(self, number):
        """Make the opponents' moves and find the values, unless there was another request since."""
        try:
            while self._number == number and self.table.turn == THEM:
                action = self.table.choice()
                if self._number == number:
                    self.table.make(action)
                    self._show()
            if self.show_values and self._number == number and self.table.turn == YOU:
                values = self.table.values()
                if self._number == number:
                    self._values = values
                    self._show()
        except Exception as failure:  # a player of somebody's making
            self.error = f"{type(failure).__name__}: {failure}"
            self._show()

    def _show(self):
        table, values, game, state = self.table, self._values, self.table.game, self.table.state
        legal = game.legal(state).tolist() if table.turn == YOU else []
        names = {action: game.action_name(state, action) for action in legal}
        labels, best = names, ""
        if values is not None:
            labels = {action: f"{name} {values[action]:+.2f}" for action, name in names.items()}
            ranked = sorted(values, key=values.get, reverse=True)[:5]
            best = "best moves: " + ", ".join(f"{names[a]} {values[a]:+.3g}" for a in ranked)
        places = {action: game.places(state, action) for action in legal}
        self.scene = {
            "svg": state_svg(game, state, values, table.actions[-1] if table.actions else None),
            "ply": len(table.actions),
            "clicks": [[action, clicked] for action, clicked in places.items() if clicked],
            "names": list(names.items()),
            "buttons": [[action, labels[action]] for action in legal if not places[action]],
            "keys": ARROWS if game.name == "game2048" and legal else {},
            "line": winning_places(game, state),
            "told": table.told(),
            "status": table.status(),
            "turn": table.turn,
            "error": self.error,
            "switch": game.players > 1,
            "advice": table.adviser is not None,
            "values": self.show_values,
            "best": best,
            "strength": self.strength and [round(rating) for rating in self.strength],
        }
