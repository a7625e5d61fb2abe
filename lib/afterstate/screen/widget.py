"""The board that is played by clicks, as a widget of a notebook.

Python keeps the game and draws the board; the page shows the drawing, turns clicks on its cells
into actions, and sends them. Opponents think in a thread of their own, one at a time, so that the
page and the kernel answer meanwhile. Nothing is fetched from anywhere.
"""

import functools
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path

from ..games.svg import state_svg
from ..players import ladder
from .table import OVER, THEM, YOU, Table
from .touch import clicks

HERE = Path(__file__).parent
ARROWS = {"ArrowLeft": 0, "ArrowUp": 1, "ArrowRight": 2, "ArrowDown": 3}  # of 2048
MOST_BUTTONS = 60


def has_front_end() -> bool:
    """Return whether this is the kernel of a notebook that can show widgets."""
    shell = sys.modules.get("IPython")
    running = shell.get_ipython() if shell else None
    return getattr(running, "kernel", None) is not None and find_spec("anywidget") is not None


@functools.cache
def base_class(script: str):
    """Return the class of widgets whose page is one of our scripts."""
    import anywidget
    import traitlets

    class Widget(anywidget.AnyWidget):
        _esm = (HERE / script).read_text(encoding="utf-8")
        _css = (HERE / "board.css").read_text(encoding="utf-8")
        scene = traitlets.Dict().tag(sync=True)

        def __repr__(self):
            return self.as_text()

    return Widget


def board_widget(table: Table, strength=None):
    """Return the widget that shows a table.

    Parameters
    ----------
    table : Table
    strength : (float, float, float), optional
        Least, greatest and present rating, for the slider of strength.
    """
    return _board_class()(table, strength)


@functools.cache
def _board_class():
    class BoardWidget(_Board, base_class("board.js")):
        pass

    return BoardWidget


class _Board:
    """What a board does when it is told something by its page."""

    def __init__(self, table, strength):
        super().__init__()
        self.table, self.strength = table, strength
        self.show_values, self.error, self._values = False, "", None
        self._worker = ThreadPoolExecutor(1, "afterstate-board")
        self._number = 0  # of the last request; the outcome of an older one is dropped
        self.on_msg(self._told)
        self._go_on()

    def as_text(self) -> str:
        """Return the board as text, for where no page shows it."""
        return f"{self.table.game.render(self.table.state)}\n{self.table.status()}"

    # ------------------------------------------------------------------------ from the page
    def _told(self, _, message, buffers):
        """Do what the page asks for; whatever is wrong with it is shown, not raised."""
        self.error = ""
        try:
            getattr(self, f"_do_{message.get('do')}", self._unknown)(message)
        except Exception as failure:
            self.error = f"{type(failure).__name__}: {failure}"
        self._go_on()

    def _unknown(self, message):
        raise ValueError(f"the page asks for {message!r}, which is not known")

    def _do_move(self, message):
        # a second click while the opponent thinks comes too late
        if self.table.turn == YOU and len(self.table.steps) == message["ply"]:
            self.table.make(int(message["action"]))

    def _do_undo(self, message):
        self.table.undo()

    def _do_new(self, message):
        self.table.new()

    def _do_switch(self, message):
        self.table.new((self.table.seat + 1) % self.table.game.players)

    def _do_values(self, message):
        self.show_values = bool(message["on"])

    def _do_strength(self, message):
        low, high, _ = self.strength
        rating = min(max(float(message["rating"]), low), high)
        self.strength = low, high, rating
        self.table.seat_opponents([ladder.at_strength(self.table.game, rating)])

    # -------------------------------------------------------------------------- thinking
    def _go_on(self):
        """Show the position, and let the worker do what is to be thought about it."""
        self._number += 1
        self._values = None
        self._show()
        thinks = self.table.turn == THEM
        if thinks or self.show_values and self.table.turn == YOU:
            self._worker.submit(self._think, self._number)

    def _think(self, number):
        """Make the opponents' moves and find the values, unless something else was asked since."""
        try:
            while self._number == number and self.table.turn == THEM:
                action = self.table.choice()
                if self._number != number:
                    return
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

    # -------------------------------------------------------------------------- to the page
    def _show(self):
        table, values = self.table, self._values
        game, state = table.game, table.state
        yours = table.turn == YOU
        legal = game.legal(state).tolist() if yours else []
        by_click = clicks(game, state) if yours else {}
        names = {action: game.action_name(state, action) for action in legal}
        rest = [action for action in legal if action not in by_click]
        self.scene = {
            "svg": state_svg(game, state, values, table.last),
            "ply": len(table.steps),
            "clicks": [[action, choices] for action, choices in by_click.items()],
            "names": [[action, name] for action, name in names.items()],
            "buttons": [[a, self._label(names[a], values, a)] for a in rest[:MOST_BUTTONS]],
            "keys": ARROWS if game.name == "game2048" and yours else {},
            "status": table.status(),
            "turn": table.turn,
            "over": table.turn == OVER,
            "error": self.error,
            "undo": any(step.seat == table.seat for step in table.steps),
            "switch": game.players > 1,
            "advice": table.can_advise,
            "values": self.show_values,
            "best": self._best(names, values),
            "strength": self.strength and [round(rating) for rating in self.strength],
        }

    def _label(self, name, values, action):
        return name if values is None else f"{name} {values[action]:+.2f}"

    def _best(self, names, values):
        """Return the best moves with their values, in words."""
        if values is None:
            return ""
        ranked = sorted(values, key=values.get, reverse=True)[:5]
        return "best moves: " + ", ".join(f"{names[a]} {values[a]:+.3g}" for a in ranked)
