"""Step through a game: a slider, keys, and what an agent and a perfect player say of each move."""

import functools
from concurrent.futures import ThreadPoolExecutor

from ..games import svg
from ..games.game import check_game
from ..players.basic import wrap
from .attribution import attribution, can_attribute
from .judge import judge_of
from .touch import drawn_cell
from .widget import base_class, has_front_end

AUTOMATIC = "automatic"


def replay(game, states, actions, agent=None, judge=AUTOMATIC):
    """Show a game move by move.

    In a notebook this returns a widget with a slider; where there is no front end for it, the
    boards of the whole game side by side.

    Parameters
    ----------
    game : Game
    states : sequence of int32 [size]
        From the start to the end, one more than actions.
    actions : sequence of int
    agent : player with ``values``, network or session, optional
        Its values are drawn on every board; for an n-tuple network the widget also shows which
        tuples carry the value of the move that was made.
    judge : Judge or None
        Says which moves lost value; default: the game's perfect player, if there is one here.

    Raises
    ------
    ValueError
        If states and actions do not fit together.
    """
    check_game(game, "a replay")
    states, actions = list(states), [int(action) for action in actions]
    if len(states) != len(actions) + 1:
        raise ValueError(f"{len(states)} states and {len(actions)} actions do not fit together")
    if not has_front_end():
        return svg.replay(game, states, actions)
    judge = judge_of(game) if judge == AUTOMATIC else judge
    return _replay_class()(Frames(game, states, actions, agent, judge))


class Frames:
    """The pictures of a game, and what is said of each position.

    Parameters as in :func:`replay`.
    """

    def __init__(self, game, states, actions, agent=None, judge=None):
        self.game, self.states, self.actions, self.judge = game, states, actions, judge
        self.agent = None if agent is None else wrap(agent)
        if self.agent is not None:
            if not callable(getattr(self.agent, "values", None)):
                raise ValueError(f"{self.agent!r} has no values to show")
            self.agent.new_match(game, [], 0, 0)
        net = getattr(self.agent, "net", None)
        self.net = net if can_attribute(net) else None

    def plain(self) -> list[dict]:
        """Return the frames as they are at once: drawing and name of the move that led there."""
        lasts = [None, *self.actions]
        return [
            {"svg": svg.state_svg(self.game, state, last=last), "name": self._name(ply), "said": ""}
            for ply, (state, last) in enumerate(zip(self.states, lasts))
        ]

    def _name(self, ply):
        """Return the name of the move that led to a ply."""
        return (
            self.game.action_name(self.states[ply - 1], self.actions[ply - 1]) if ply else "start"
        )

    def told(self, ply) -> dict:
        """Return what agent and judge say of a ply: frame entries beside the plain ones.

        valued: the drawing with the agent's values; said: the judgement of the move that led
        here; shares: the largest weights behind the value of the move that follows.
        """
        state, found = self.states[ply], {}
        if ply and self.judge is not None:
            found["said"] = self.judge.words(self.states[ply - 1], self.actions[ply - 1])
        if self.agent is None or ply == len(self.actions):
            return found
        legal = self.game.legal(state).tolist()
        values = dict(zip(legal, map(float, self.agent.values(state))))
        last = self.actions[ply - 1] if ply else None
        found["valued"] = svg.state_svg(self.game, state, values, last)
        found["next"] = (
            f"next: {self._name(ply + 1)} ({values[self.actions[ply]]:+.3g},"
            f" best {max(values.values()):+.3g})"
        )
        if self.net is not None:
            shares = attribution(self.net, state, self.actions[ply])
            found["shares"] = [
                {"cells": [drawn_cell(self.game, c) for c in share.cells], "weight": share.weight}
                for share in shares
            ]
        return found


@functools.cache
def _replay_class():
    class ReplayWidget(_Replay, base_class("replay.js")):
        pass

    return ReplayWidget


class _Replay:
    """Sends the frames at once, and what is said of them as soon as it is known."""

    def __init__(self, frames: Frames):
        super().__init__()
        self.frames = frames
        self.scene = {
            "frames": frames.plain(),
            "judged": frames.judge is not None,
            "valued": frames.agent is not None,
        }
        self._worker = ThreadPoolExecutor(1, "afterstate-replay")
        self._worker.submit(self._tell)

    def as_text(self) -> str:
        """Return the moves and the last position as text."""
        names = " ".join(frame["name"] for frame in self.scene["frames"][1:])
        return f"{names}\n{self.frames.game.render(self.frames.states[-1])}"

    def _tell(self):
        """Find out what agent and judge say, and send it once in a while."""
        if self.frames.agent is None and self.frames.judge is None:
            return
        try:
            found = [
                plain | self.frames.told(ply) for ply, plain in enumerate(self.scene["frames"])
            ]
            self.scene = self.scene | {"frames": found, "told": True}
        except Exception as failure:  # an agent of somebody's making
            self.scene = self.scene | {"error": f"{type(failure).__name__}: {failure}"}
