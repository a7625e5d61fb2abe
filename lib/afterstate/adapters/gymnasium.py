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

from ..kernel.random import new_rng
from .others import Encoder, as_game, third_party

gymnasium = third_party("gymnasium", "gymnasium")

GAMES = {"Game2048": "game2048", "Cube2": "cube2", "Cube3": "cube3"}
MOST_TWISTS = 50  # no cube is more than 20 from solved, so this cuts random walks only


class Environment(gymnasium.Env):
    """A game for one player as Gymnasium sees it.

    Parameters
    ----------
    game : Game or str
        A game for one player, also a home-made one, or the name of one of the library.
    render_mode : {None, "ansi"}
        With ``"ansi"``, ``render()`` returns the board as text.
    **parameters
        Those of a game that is given by name.

    Attributes
    ----------
    game : Game
    s : int32 [size]
        The state, as players of this library take it: ``player.choose(env.unwrapped.s)``.

    Raises
    ------
    ValueError
        If the game is for more than one player.

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
        self.game = as_game(game, parameters)
        if self.game.players != 1:
            raise ValueError(
                f"{self.game.name} has {self.game.players} players, and Gymnasium's environments"
                " have one: take afterstate.adapters.pettingzoo"
            )
        if render_mode not in (None, "ansi"):
            raise ValueError(f"render_mode must be None or 'ansi', not {render_mode!r}")
        self.render_mode, self.look = render_mode, Encoder(self.game)
        self.observation_space = gymnasium.spaces.Box(0, 1, (self.look.length,), np.int8)
        self.action_space = gymnasium.spaces.Discrete(self.game.actions)

    def reset(self, *, seed: int | None = None, options: dict | None = None):
        """Begin a game; return what is seen, and the info with the mask."""
        super().reset(seed=seed)
        self.rng = new_rng(int(self.np_random.integers(2**63)))
        self.s = self.game.start(int(self.np_random.integers(2**63)))
        return self.look.cells(self.s), self._info()

    def step(self, action):
        """Make an action; return what is seen, the reward, over, False, and the info."""
        if action not in self.game.legal(self.s):
            return self.look.cells(self.s), 0.0, self.game.over(self.s), False, self._info(True)
        before = self.game.score(self.s)[0]
        self.s = self.game.next(self.s, action, self.rng)
        reward = float(self.game.score(self.s)[0] - before)
        return self.look.cells(self.s), reward, self.game.over(self.s), False, self._info()

    def _info(self, illegal=False) -> dict:
        return {"action_mask": self.look.mask(self.s), "illegal": illegal}

    def render(self) -> str | None:
        """Return the board as text if that was asked for."""
        return self.game.render(self.s) if self.render_mode == "ansi" else None


def register() -> list[str]:
    """Register the environments at the head of this module; return their names.

    Examples
    --------
    >>> from afterstate.adapters import gymnasium
    >>> gymnasium.register()
    ['afterstate/Game2048-v0', 'afterstate/Cube2-v0', 'afterstate/Cube3-v0']
    """
    names = {f"afterstate/{name}-v0": game for name, game in GAMES.items()}
    for name, game in names.items():
        if name not in gymnasium.registry:
            gymnasium.register(
                name,
                entry_point=f"{__name__}:Environment",
                kwargs={"game": game},
                max_episode_steps=MOST_TWISTS if game.startswith("cube") else None,
            )
    return list(names)


register()
