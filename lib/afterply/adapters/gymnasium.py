"""Gymnasium: games for one player as environments, and many games side by side as a vector of them.

The import registers ``afterply/Game2048-v0`` (the reward is the score that a move makes, divided by
3,932,156 unless raw_score=True), ``afterply/Cube2-v0`` and ``afterply/Cube3-v0`` (the reward is 1
for solving the cube, within 50 twists). Observations are int8: the code of each cell one-hot, or
with ``observation="board"`` a plane for each code, of the board's shape. ``info["action_mask"]``,
int8 [actions], is 1 for legal actions. Learners that mask actions call ``action_masks()``, or
``call("action_masks")`` of ``gymnasium.make_vec``. An illegal action changes nothing and has no
reward, and ``info["illegal"]`` is True.

In :func:`vector` a kernel steps all games, and the caller has one seat in each. The other seats
move at random, or by ``opponent(states)``: a function of states, int32 [k, size], that returns
actions [k], such as an agent of this library.

::

    envs = vector("tictactoe", 1000)
    seen, info = envs.reset(seed=1)           # int8 [n, length]; info["action_mask"], [n, actions]
    seen, rewards, over, cut, info = envs.step(actions)             # actions, int [n]

Rewards are what the seat's score has grown by since its last action. After the end of a game the
next step begins a new one, whatever the action is (``AutoresetMode.NEXT_STEP``).
"""

from collections import namedtuple
from typing import TYPE_CHECKING

import numpy as np

from ..checks import needs, numbers, plain, whole
from ..games import calls
from ..kernel.compile import kernel
from ..kernel.random import new_rng
from . import RENDER_MODES, action_mask, as_game, observer, rendered

__all__ = ["Environment", "vector"]

if TYPE_CHECKING:
    import gymnasium
else:
    gymnasium = needs("gymnasium", "gymnasium")
batch_space = needs("gymnasium.vector.utils", "gymnasium").batch_space

MOST_TWISTS = 50  # no cube is more than 20 from solved, so this cuts random walks only
GAMES = {  # name: (game, most actions)
    "afterply/Game2048-v0": ("game2048", None),
    "afterply/Cube2-v0": ("cube2", MOST_TWISTS),
    "afterply/Cube3-v0": ("cube3", MOST_TWISTS),
}


class Environment(gymnasium.Env):
    """A game for one player as Gymnasium sees it; ValueError if it has more players.

    `game`, `render_mode`, `observation` and `parameters` are those of
    :func:`afterply.adapters.pettingzoo.env`; ``s`` is the state, int32 [size].
    """

    metadata = {"render_modes": RENDER_MODES, "render_fps": 4}

    def __init__(self, game, render_mode=None, observation: str = "flat", **parameters):
        self.game = as_game(game, render_mode, parameters)
        self.render_mode = render_mode
        if self.game.players != 1:
            raise ValueError(
                f"{self.game.name} has {self.game.players} players, not one: take"
                " afterply.adapters.pettingzoo"
            )
        self.observe = observer(observation)
        shape = self.observe(self.game, self.game.start()).shape
        self.observation_space = gymnasium.spaces.Box(0, 1, shape, np.int8)
        self.action_space = gymnasium.spaces.Discrete(self.game.actions)

    def reset(self, *, seed: int | None = None, options: dict | None = None):
        """Begin a game; return what is seen, and the info with the mask."""
        super().reset(seed=plain(seed))
        self.rng = new_rng(int(self.np_random.integers(2**63)))
        self.s = self.game.start(int(self.np_random.integers(2**63)))
        return self.observe(self.game, self.s), self._info()

    def step(self, action):
        """Make an action; return what is seen, the reward, over, False, and the info."""
        score_before = self.game.score(self.s)[0]
        illegal = action not in self.game.legal(self.s)
        if not illegal:
            self.s = self.game.next(self.s, action, self.rng)
        observation = self.observe(self.game, self.s)
        reward = float(self.game.score(self.s)[0] - score_before)
        over = self.game.over(self.s)
        return observation, reward, over, False, self._info(illegal)

    def action_masks(self) -> np.ndarray:
        """Return what is legal, bool [actions], as learners that mask actions ask for it."""
        return action_mask(self.game, self.s).astype(bool)

    def _info(self, illegal=False) -> dict:
        return {"action_mask": action_mask(self.game, self.s), "illegal": illegal}

    def render(self):
        """Return the board as text or as pixels, uint8 [height, width, 3], as was asked for."""
        return rendered(self.game, self.s, self.render_mode)


for _name, (_game, _most_actions) in GAMES.items():
    if _name not in gymnasium.registry:
        gymnasium.register(
            _name,
            entry_point=f"{__name__}:Environment",
            kwargs={"game": _game},
            max_episode_steps=_most_actions,
        )

# ----------------------------------------------------------------------- many games side by side
NONE = -1
# fmt: off
BATCH = {
    "state":   ("int32", "n", "size"),
    "rng":     ("uint64", "n", 1),
    "seen":    ("int8", "n", "length"),
    "mask":    ("int8", "n", "actions"),
    "reward":  ("float64", "n"),
    "score":   ("float64", "n"),    # the seat's, at its last action or the start
    "age":     ("int64", "n"),      # actions of the seat
    "over":    ("bool", "n"),
    "cut":     ("bool", "n"),
    "illegal": ("bool", "n"),
    "waits":   ("bool", "n"),       # for the opponent
    "offset":  ("int64", "cells"),  # of each cell among what is seen
    "scores":  ("float64", "players"),
    "cells":   ("int32", "cells"),
    "moves":   ("int32", "max_legal"),
}
# fmt: on
Batch = namedtuple("Batch", BATCH)


@kernel
def act(rules, batch, actions, seat):
    """Make the seat's actions, and start new games in the place of those that were over."""
    for i in range(len(actions)):
        s = batch.state[i]
        batch.illegal[i] = False
        if batch.over[i] or batch.cut[i]:
            calls.call_start(rules, s, batch.rng[i])
            calls.call_score(rules, s, batch.scores)
            batch.score[i], batch.age[i] = batch.scores[seat], 0
            continue
        batch.age[i] += 1
        if not calls.call_over(rules, s):  # as it can be before the seat's first move
            batch.illegal[i] = not made(rules, batch, i, actions[i])


@kernel
def made(rules, batch, i, action):
    """Make an action in game `i` if it is legal; return whether it is."""
    s, legal = batch.state[i], False
    for k in range(calls.call_legal(rules, s, batch.moves)):
        legal |= batch.moves[k] == action
    if legal:
        calls.call_play(rules, s, action)
        calls.call_chance(rules, s, batch.rng[i])
    return legal


@kernel
def answer(rules, batch, replies, seat, random):
    """Let the others move, all at random or once as `replies` say; return a game with a wrong one.

    Without any it is NONE; ``waits`` are the games in which somebody else is still to move.
    """
    for i in range(len(replies)):
        s = batch.state[i]
        if batch.waits[i] and not made(rules, batch, i, replies[i]):
            return i
        batch.waits[i] = not calls.call_over(rules, s) and calls.call_player(rules, s) != seat
        while random and batch.waits[i]:
            n = calls.call_legal(rules, s, batch.moves)
            made(rules, batch, i, calls.random_action(rules, batch.moves, n, batch.rng[i]))
            batch.waits[i] = not calls.call_over(rules, s) and calls.call_player(rules, s) != seat
    return NONE


@kernel
def look(rules, batch, seat, most):
    """Write what is seen of each game and legal there, the reward, and whether it is over."""
    for i in range(len(batch.over)):
        s = batch.state[i]
        calls.call_board(rules, s, batch.cells)
        batch.seen[i, :] = batch.mask[i, :] = 0
        for c in range(rules.cells):
            batch.seen[i, batch.offset[c] + batch.cells[c]] = 1
        over, fresh = calls.call_over(rules, s), batch.age[i] == 0
        for k in range(0 if over else calls.call_legal(rules, s, batch.moves)):
            batch.mask[i, batch.moves[k]] = 1
        calls.call_score(rules, s, batch.scores)
        batch.reward[i] = 0.0 if fresh else batch.scores[seat] - batch.score[i]
        batch.score[i] += batch.reward[i]
        batch.over[i] = over and not fresh
        batch.cut[i] = not over and most > 0 and batch.age[i] >= most


def vector(game, n: int, opponent=None, *, seat: int = 0, max_steps: int = 0, **parameters):
    """Make a :class:`Vector` of `n` games, of a game or of its name and `parameters`.

    The `opponent` sits in all seats but `seat` (default: moves at random). A game is cut off after
    `max_steps` actions of the seat; 0: never.
    """
    return Vector(as_game(game, None, parameters), n, opponent, seat, max_steps)


class Vector(gymnasium.vector.VectorEnv):
    """A batch of games, see :func:`vector`; ``batch.state``, int32 [n, size], are their states."""

    metadata = {"autoreset_mode": gymnasium.vector.AutoresetMode.NEXT_STEP}

    def __init__(self, game, n, opponent=None, seat=0, max_steps=0):
        self.game = game
        self.opponent = opponent
        self.num_envs = whole("n", n)
        self.seat = whole("seat", seat, 0, game.players - 1)
        self.max_steps = whole("max_steps", max_steps, 0)
        if opponent is not None and not callable(opponent):
            raise TypeError(f"an opponent is a function of states, not {opponent!r}")
        length = int(game.num_codes.sum())
        self.batch = Batch(**calls.allocate(BATCH, game, n=self.num_envs, length=length))
        self.batch.offset[:] = np.cumsum(game.num_codes) - game.num_codes
        self.single_observation_space = gymnasium.spaces.Box(0, 1, (length,), np.int8)
        self.single_action_space = gymnasium.spaces.Discrete(game.actions)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)

    def reset(self, *, seed: int | None = None, options: dict | None = None):
        """Begin all games; return what is seen, and the info with the masks."""
        super().reset(seed=plain(seed))
        self.batch.rng[:] = self.np_random.integers(2**63, size=(self.num_envs, 1))
        self.batch.over[:] = True
        seen, *_, info = self.step(np.zeros(self.num_envs, np.int64))
        return seen, info

    def step(self, actions):
        """Make an action in each game; return what is seen, rewards, over, cut off, and info."""
        actions = np.asarray(actions)
        if actions.shape != (self.num_envs,) or actions.dtype.kind not in "iu":
            raise ValueError(f"{self.num_envs} whole numbers are needed, not {actions!r}")
        rules = self.game.rules
        batch = self.batch
        random = self.opponent is None
        replies = actions.astype(np.int64)
        act(rules, batch, replies, self.seat)
        batch.waits[:] = False
        answer(rules, batch, replies, self.seat, random)
        while batch.waits.any():
            given = numbers("actions of the opponent", self.opponent(batch.state[batch.waits]))
            if given.shape != (batch.waits.sum(),) or given.dtype.kind not in "iu":
                raise ValueError(
                    f"{batch.waits.sum()} whole numbers are needed of the opponent, not {given!r}"
                )
            replies[batch.waits] = given
            wrong = answer(rules, batch, replies, self.seat, random)
            if wrong != NONE:
                raise ValueError(f"an action of the opponent, {replies[wrong]}, is not legal")
        look(rules, batch, self.seat, self.max_steps)
        info = {"action_mask": batch.mask.copy(), "illegal": batch.illegal.copy()}
        return (batch.seen.copy(), batch.reward.copy(), batch.over.copy(), batch.cut.copy(), info)
