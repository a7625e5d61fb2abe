"""The games for one player, 2048 and the cubes, as environments of Gymnasium.

The import registers ``afterstate/Game2048-v0`` (paid by the score made, of which 3,932,156 is 1,
or with raw_score=True as it is), ``afterstate/Cube2-v0`` and ``afterstate/Cube3-v0`` (1 for solving
it, within 50 twists). Observations are int8, the code of each cell one-hot, or with
``observation="board"`` a plane for each code, of the board's shape. ``info["action_mask"]``, int8
[actions], says what is legal, and so does ``action_masks()``, also ``call("action_masks")`` of
``gymnasium.make_vec``. An illegal action changes nothing, is paid nothing, and
``info["illegal"]`` is True.
"""

import numpy as np

from ..checks import needs, plain
from ..kernel.random import new_rng
from . import RENDER_MODES, action_mask, as_game, observer, rendered

__all__ = ["Environment"]

gymnasium = needs("gymnasium", "gymnasium")

MOST_TWISTS = 50  # no cube is more than 20 from solved, so this cuts random walks only
GAMES = {  # name: (game, most actions)
    "afterstate/Game2048-v0": ("game2048", None),
    "afterstate/Cube2-v0": ("cube2", MOST_TWISTS),
    "afterstate/Cube3-v0": ("cube3", MOST_TWISTS),
}


class Environment(gymnasium.Env):
    """A game for one player as Gymnasium sees it; ValueError if it has more players.

    `game`, `render_mode`, `observation` and `parameters` are those of
    :func:`afterstate.adapters.pettingzoo.env`; ``s`` is the state, int32 [size].
    """

    metadata = {"render_modes": RENDER_MODES, "render_fps": 4}

    def __init__(self, game, render_mode=None, observation: str = "flat", **parameters):
        self.game, self.render_mode = as_game(game, render_mode, parameters), render_mode
        if self.game.players != 1:
            words = f"{self.game.name} has {self.game.players} players, not one"
            raise ValueError(f"{words}: take afterstate.adapters.pettingzoo")
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
        before, illegal = self.game.score(self.s)[0], action not in self.game.legal(self.s)
        if not illegal:
            self.s = self.game.next(self.s, action, self.rng)
        reward, over = float(self.game.score(self.s)[0] - before), self.game.over(self.s)
        return self.observe(self.game, self.s), reward, over, False, self._info(illegal)

    def action_masks(self) -> np.ndarray:
        """Return what is legal, bool [actions], as learners that mask actions ask for it."""
        return action_mask(self.game, self.s).astype(bool)

    def _info(self, illegal=False) -> dict:
        return {"action_mask": action_mask(self.game, self.s), "illegal": illegal}

    def render(self):
        """Return the board as text or as pixels, uint8 [height, width, 3], as was asked for."""
        return rendered(self.game, self.s, self.render_mode)


for _name, (_game, _most) in GAMES.items():
    if _name not in gymnasium.registry:
        _place, _given = f"{__name__}:Environment", {"game": _game}
        gymnasium.register(_name, entry_point=_place, kwargs=_given, max_episode_steps=_most)
