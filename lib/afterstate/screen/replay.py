"""Step through a game: a slider, keys, and what an agent and a perfect player say of each move."""

import numpy as np

from ..games import svg
from ..games.game import check_game
from ..players import optional
from ..players.basic import wrap
from ..players.perfect import Perfect, knows
from ..players.searching import MaxN
from ..search import max_n
from .attribution import attribution, can_attribute
from .touch import drawn_cell
from .widget import ReplayWidget, has_front_end, widget

AUTOMATIC = "automatic"
SMALL = {"nim", "nim3p"}  # searched to the end by Max-N; Tic-Tac-Toe if it has nine cells
WORDS = {1.0: "a win", 0.0: "a draw", -1.0: "a loss"}
SLACK = 1e-9


def replay(game, states, actions, agent=None, judge=AUTOMATIC):
    """Show a game move by move.

    In a notebook this returns a widget with a slider; where there is no front end for it, the
    boards of the whole game side by side.

    Parameters
    ----------
    game : Game
    states : sequence of int32 [size]
        From the start to the end, one more than actions, else ValueError.
    actions : sequence of int
    agent : player with ``values``, network or session, optional
        Its values are drawn on every board; for an n-tuple network the widget also shows which
        tuples carry the value of the move that was made.
    judge : player with ``values``, or None
        Says which moves lost value; default: the game's perfect player, if there is one here.
    """
    check_game(game, "a replay")
    states, actions = list(states), [int(action) for action in actions]
    if len(states) != len(actions) + 1:
        raise ValueError(f"{len(states)} states and {len(actions)} actions do not fit together")
    if not has_front_end():
        return svg.replay(game, states, actions)
    judge = judge_of(game) if judge == AUTOMATIC else judge
    return widget(ReplayWidget, Frames(game, states, actions, agent, judge))


def judge_of(game):
    """Return the perfect player of a game, or None if there is none here."""
    if game.name in SMALL or game.name == "tictactoe" and game.cells <= 9:
        return MaxN(max_n.UNLIMITED)
    return Perfect("AB") if knows(game) and not optional.lacks("bitbully") else None


def judgement(game, judge, state, action) -> str:
    """Return what was wrong with a move, in words; empty if it was as good as any."""
    values = np.asarray(judge.values(state), float)
    legal = game.legal(state).tolist()
    best, value = values.max(), values[legal.index(int(action))]
    if best - value <= SLACK:
        return ""
    names = [game.action_name(state, a) for a, v in zip(legal, values) if v == best]
    there, gives = (WORDS.get(float(v), f"{v:+g}") for v in (best, value))
    return f"loses value: {there} was there with {', '.join(names[:4])}, this is {gives}"


class Frames:
    """The pictures of a game and the words for each position; parameters as of `replay`."""

    def __init__(self, game, states, actions, agent=None, judge=None):
        self.game, self.states, self.actions, self.judge = game, states, actions, judge
        self.agent = None if agent is None else wrap(agent)
        for player in filter(None, (self.agent, self.judge)):
            if not callable(getattr(player, "values", None)):
                raise ValueError(f"{player!r} has no values to show")
            player.new_match(game, [], 0, 0)

    def plain(self) -> list[dict]:
        """Return the frames as they are at once: drawing and name of the move that led there."""
        moves = [None, *self.actions]
        names = ["start", *map(self._name, range(len(self.actions)))]
        return [
            {"svg": svg.state_svg(self.game, state, last=move), "name": name, "said": ""}
            for state, move, name in zip(self.states, moves, names)
        ]

    def _name(self, ply) -> str:
        return self.game.action_name(self.states[ply], self.actions[ply])

    def explained(self, ply) -> dict:
        """Return what agent and judge say of a ply: frame entries beside the plain ones.

        valued: the drawing with the agent's values; said: the judgement of the move that led
        here; shares: the largest weights behind the value of the move that follows.
        """
        game, state, found = self.game, self.states[ply], {}
        if ply and self.judge is not None:
            move = self.states[ply - 1], self.actions[ply - 1]
            found["said"] = judgement(game, self.judge, *move)
        if self.agent is None or ply == len(self.actions):
            return found
        action, last = self.actions[ply], self.actions[ply - 1] if ply else None
        values = dict(zip(game.legal(state).tolist(), map(float, self.agent.values(state))))
        found["valued"] = svg.state_svg(game, state, values, last)
        best = max(values.values())
        found["next"] = f"next: {self._name(ply)} ({values[action]:+.3g}, best {best:+.3g})"
        net = getattr(self.agent, "net", None)
        if can_attribute(net):
            found["shares"] = [
                {"cells": [drawn_cell(game, cell) for cell in cells], "weight": weight}
                for cells, weight in attribution(net, state, action)
            ]
        return found
