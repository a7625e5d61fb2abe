"""The file of a tournament: a line for every finished match, so that it can be resumed.

The first line says what the tournament is; every other is one match::

    {"game": {"name": "nim", ...}, "players": {...}, "episodes": 10, "seed": 0, ...}
    [0, [1.0, -1.0], [4, 8, 2], ""]          number, scores by seat, moves, error
"""

import inspect
import json
import math
from pathlib import Path

import numpy as np

from ..checks import is_whole
from ..files import write_text
from .matches import Played

TOLD = (bool, int, float, str, type(None), np.integer, np.floating)


def who(player) -> dict:
    """Return what tells a player from others of its kind: settings, and checksums of weights.

    What a player keeps of its last match does not count.
    """
    settings = {"name", "parameters", "settings"} | set(
        inspect.signature(type(player).__init__).parameters
    )
    found = {"kind": type(player).__qualname__, "version": getattr(player, "version", None)}
    for name in sorted(vars(player)) if hasattr(player, "__dict__") else ():
        value = getattr(player, name)
        if callable(getattr(value, "checksum", None)):
            found[name] = value.checksum()
        elif name in settings and isinstance(value, dict):
            found[name] = str(sorted((k, v) for k, v in value.items() if isinstance(v, TOLD)))
        elif name in settings and isinstance(value, TOLD):
            found[name] = value.item() if isinstance(value, np.generic) else value
    return found


class Journal:
    """The finished matches of a tournament, in memory and, if there is a path, in its file.

    Parameters
    ----------
    path : path or None
    header : dict
        What decides the numbers, as plain JSON data.

    Raises
    ------
    ValueError
        If the file holds another tournament, or is none; the message says what differs.
    """

    def __init__(self, path, header: dict):
        self.path, self.played = None if path is None else Path(path), {}
        if self.path is None:
            return
        if not self.path.exists() or not self.path.stat().st_size:
            write_text(self.path, json.dumps(header) + "\n")
            return
        text = self.path.read_text(encoding="utf-8")
        # a line that was cut off by the end of the process does not count, and goes
        whole_lines = text[: text.rfind("\n") + 1]
        if whole_lines != text:
            write_text(self.path, whole_lines)
        self._take(whole_lines.splitlines(), header)

    def _take(self, lines, header):
        try:
            given, *matches = [json.loads(line) for line in lines]
            differs = sorted(k for k in {*given, *header} if given.get(k) != header.get(k))
            for number, scores, moves, error in matches:
                scores = [math.nan if score is None else float(score) for score in scores]
                self.played[number] = Played(scores, [int(move) for move in moves], error)
        except (ValueError, TypeError, AttributeError) as damage:
            raise ValueError(
                f"{self.path} is no file of a tournament ({damage}): name another or delete it"
            ) from damage
        if differs or not all(is_whole(number) for number in self.played):
            raise ValueError(
                f"{self.path} holds another tournament, with other {', '.join(differs)}: name"
                " another file, or delete this one to play all again"
            )

    def add(self, number: int, played: Played) -> None:
        """Keep a finished match."""
        self.played[number] = played
        if self.path is not None:
            scores = [None if math.isnan(score) else score for score in played.scores]
            line = json.dumps([number, scores, [int(move) for move in played.moves], played.error])
            with open(self.path, "a", encoding="utf-8") as file:
                file.write(line + "\n")
