"""A board that is played by clicks and a replay, as widgets of a notebook.

Python keeps the game and draws the board; the page shows the drawing, turns clicks on its cells
into actions, and sends them. Players think in a thread of their own, so that the page and the
kernel answer meanwhile. Nothing is fetched from anywhere.
"""

import functools
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path

from ..games.svg import state_svg
from ..players import saved
from .game_table import OVER, THEM, YOU
from .touch import clicks

HERE = Path(__file__).parent
ARROWS = {"ArrowLeft": 0, "ArrowUp": 1, "ArrowRight": 2, "ArrowDown": 3}  # of 2048
MOST_BUTTONS = 60


def has_front_end() -> bool:
    """Return whether this is the kernel of a notebook that can show widgets."""
    shell = sys.modules.get("IPython")
    running = shell.get_ipython() if shell else None
    return getattr(running, "kernel", None) is not None and find_spec("anywidget") is not None


def widget(kind, *arguments):
    """Return a widget of one of the kinds below."""
    return _class_of(kind)(*arguments)


@functools.cache
def _class_of(kind):
    import anywidget
    import traitlets

    class Widget(kind, anywidget.AnyWidget):
        _esm = (HERE / kind.script).read_text(encoding="utf-8")
        _css = (HERE / "board.css").read_text(encoding="utf-8")
        scene = traitlets.Dict().tag(sync=True)

        def __repr__(self):
            return self.as_text()

    return Widget


class BoardWidget:
    """A board; `strength` is the least, greatest and present rating for the slider, or None."""

    script = "board.js"

    def __init__(self, table, strength):
        super().__init__()
        self.table, self.strength = table, strength
        self.show_values, self.error, self._values = False, "", None
        self._worker = ThreadPoolExecutor(1, "afterstate-board")
        self._number = 0  # of the last request; the outcome of an older one is dropped
        self.on_msg(self._asked)
        self._go_on()

    def as_text(self) -> str:
        """Return the board as text, for where no page shows it."""
        return f"{self.table.game.render(self.table.state)}\n{self.table.status()}"

    def _asked(self, _, message, buffers):
        """Do what the page asks for; whatever is wrong with it is shown, not raised."""
        self.error = ""
        try:
            self._do(message)
        except Exception as failure:
            self.error = f"{type(failure).__name__}: {failure}"
        self._go_on()

    def _do(self, message):
        table, wish = self.table, message["do"]
        if wish == "move":
            # a second click while the opponent thinks comes too late
            if table.turn == YOU and len(table.steps) == message["ply"]:
                table.make(message["action"])
        elif wish == "undo":
            table.undo()
        elif wish == "new":
            table.new()
        elif wish == "switch":
            table.new((table.seat + 1) % table.game.players)
        elif wish == "values":
            self.show_values = bool(message["on"])
        elif wish == "strength":
            low, high, _ = self.strength
            rating = min(max(float(message["rating"]), low), high)
            self.strength = low, high, rating
            table.seat_opponents([saved.at_strength(table.game, rating)])

    def _go_on(self):
        """Show the position, and let the worker think about it."""
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

    def _show(self):
        """Send the page all that it shows."""
        table, values = self.table, self._values
        game, state = table.game, table.state
        yours = table.turn == YOU
        legal = game.legal(state).tolist() if yours else []
        by_click = clicks(game, state) if yours else {}
        names = {action: game.action_name(state, action) for action in legal}
        labels, best = names, ""
        if values is not None:
            labels = {action: f"{name} {values[action]:+.2f}" for action, name in names.items()}
            ranked = sorted(values, key=values.get, reverse=True)[:5]
            best = "best moves: " + ", ".join(f"{names[a]} {values[a]:+.3g}" for a in ranked)
        buttons = [[action, label] for action, label in labels.items() if action not in by_click]
        self.scene = {
            "svg": state_svg(game, state, values, table.last),
            "ply": len(table.steps),
            "clicks": [[action, choices] for action, choices in by_click.items()],
            "names": [[action, name] for action, name in names.items()],
            "buttons": buttons[:MOST_BUTTONS],
            "keys": ARROWS if game.name == "game2048" and yours else {},
            "status": table.status(),
            "turn": table.turn,
            "over": table.turn == OVER,
            "error": self.error,
            "undo": any(step.seat == table.seat for step in table.steps),
            "switch": game.players > 1,
            "advice": table.adviser is not None,
            "values": self.show_values,
            "best": best,
            "strength": self.strength and [round(rating) for rating in self.strength],
        }


class ReplayWidget:
    """A replay: sends the frames at once, and explains them as soon as it can."""

    script = "replay.js"

    def __init__(self, frames):
        super().__init__()
        self.frames = frames
        valued = frames.agent is not None
        self.scene = {"frames": frames.plain(), "valued": valued}
        if valued or frames.judge is not None:
            ThreadPoolExecutor(1, "afterstate-replay").submit(self._explain)

    def as_text(self) -> str:
        """Return the moves and the last position as text."""
        names = " ".join(frame["name"] for frame in self.scene["frames"][1:])
        return f"{names}\n{self.frames.game.render(self.frames.states[-1])}"

    def _explain(self):
        try:
            plain = self.scene["frames"]
            found = [frame | self.frames.explained(ply) for ply, frame in enumerate(plain)]
            self.scene = self.scene | {"frames": found, "told": True}
        except Exception as failure:  # an agent of somebody's making
            self.scene = self.scene | {"error": f"{type(failure).__name__}: {failure}"}
