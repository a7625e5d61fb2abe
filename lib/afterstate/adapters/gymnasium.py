"""The games for one player, 2048 and the cubes, as environments of Gymnasium.

::

    afterstate/Game2048-v0    the reward is the score made, divided by 3,932,156; raw_score=True: as
                              it is
    afterstate/Cube2-v0       the reward is 1 for solving the cube; at most 50 twists
    afterstate/Cube3-v0       the same

    observation               int8, zeros and ones: the code of each cell, one-hot
    info["action_mask"]       int8 [actions]: what is legal
    action                    our number of the action; an illegal one changes nothing, is paid
                              nothing, and ``info["illegal"]`` is True

The import of this module registers the three; parameters of the games go to ``gymnasium.make``.
"""

import numpy as np

from ..checks import needs
from ..kernel.random import new_rng
from . import action_mask, as_game, one_hot

gymnasium = needs("gymnasium", "gymnasium")

MOST_TWISTS = 50  # no cube is more than 20 from solved, so this cuts random walks only
GAMES = {  # name: (game, most actions)
    "afterstate/Game2048-v0": ("game2048", None),
    "afterstate/Cube2-v0": ("cube2", MOST_TWISTS),
    "afterstate/Cube3-v0": ("cube3", MOST_TWISTS),
}


class Environment(gymnasium.Env):
    """A game for one player as Gymnasium sees it; ValueError if it has more players.

    Parameters as of :func:`afterstate.adapters.pettingzoo.env`. The attribute ``s``, int32 [size],
    is the state as players of this library take it: ``player.choose(env.unwrapped.s)``.

    Examples
    --------
    >>> import gymnasium
    >>> import afterstate.adapters.gymnasium
    >>> env = gymnasium.make("afterstate/Game2048-v0", raw_score=True)
    >>> observation, info = env.reset(seed=1)
    >>> observation.shape, info["action_mask"].shape
    ((240,), (4,))
    >>> action = env.action_space.sample(info["action_mask"])
    >>> observation, reward, over, cut, info = env.step(action)
    >>> reward >= 0.0 and not over
    True
    """

    metadata = {"render_modes": ["ansi"], "render_fps": 4}

    def __init__(self, game, render_mode: str | None = None, **parameters):
        self.game, self.render_mode = as_game(game, render_mode, parameters), render_mode
        if self.game.players != 1:
            raise ValueError(
                f"{self.game.name} has {self.game.players} players, and Gymnasium's environments"
                " have one: take afterstate.adapters.pettingzoo"
            )
        length = int(self.game.num_codes.sum())
        self.observation_space = gymnasium.spaces.Box(0, 1, (length,), np.int8)
        self.action_space = gymnasium.spaces.Discrete(self.game.actions)

    def reset(self, *, seed: int | None = None, options: dict | None = None):
        """Begin a game; return what is seen, and the info with the mask."""
        super().reset(seed=seed)
        self.rng = new_rng(int(self.np_random.integers(2**63)))
        self.s = self.game.start(int(self.np_random.integers(2**63)))
        return one_hot(self.game, self.s), self._info()

    def step(self, action):
        """Make an action; return what is seen, the reward, over, False, and the info."""
        illegal, reward = action not in self.game.legal(self.s), 0.0
        if not illegal:
            before = self.game.score(self.s)[0]
            self.s = self.game.next(self.s, action, self.rng)
            reward = float(self.game.score(self.s)[0] - before)
        over = self.game.over(self.s)
        return one_hot(self.game, self.s), reward, over, False, self._info(illegal)

    def _info(self, illegal=False) -> dict:
        return {"action_mask": action_mask(self.game, self.s), "illegal": illegal}

    def render(self) -> str | None:
        """Return the board as text if that was asked for."""
        return self.game.render(self.s) if self.render_mode == "ansi" else None


for _name, (_game, _most) in GAMES.items():
    if _name not in gymnasium.registry:
        gymnasium.register(
            _name,
            entry_point=f"{__name__}:Environment",
            kwargs={"game": _game},
            max_episode_steps=_most,
        )
