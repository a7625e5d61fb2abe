"""Any game of the library as an environment of PettingZoo: agents that move one after the other.

Agents are ``player_0``, ``player_1`` ... by seat. An observation is a dictionary. "observation",
int8, is the code of each cell and the observer's seat, both one-hot, or with
``observation="board"`` planes of these with the board's shape. "action_mask" is int8 [actions].
Rewards are the increases of the scores. An illegal action ends the game, and its player gets the
least score.
"""

from typing import TYPE_CHECKING

import numpy as np

from ..checks import needs
from ..kernel.random import new_rng, random_bits
from . import RENDER_MODES, action_mask, as_game, observer, rendered, with_planes

__all__ = ["Environment", "env"]

if TYPE_CHECKING:
    import pettingzoo
else:
    pettingzoo = needs("pettingzoo", "pettingzoo")
wrappers = needs("pettingzoo.utils.wrappers", "pettingzoo")
spaces = needs("gymnasium.spaces", "gymnasium")


def env(game, render_mode: str | None = None, observation: str = "flat", **parameters):
    """Make an :class:`Environment` with PettingZoo's usual wrappers; it is ``env.unwrapped``.

    The `game` may be home-made, or a name with the game's `parameters`. With `render_mode` "ansi"
    ``render()`` returns the board as text, with "rgb_array" as pixels, uint8 [height, width, 3].
    The `observation` is "flat" or has the shape of the "board".
    """
    environment = Environment(as_game(game, render_mode, parameters), render_mode, observation)
    least_score = environment.game.score_range[0]
    wrapped = wrappers.TerminateIllegalWrapper(environment, illegal_reward=least_score)
    return wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(wrapped))


class Environment(pettingzoo.AECEnv):
    """A game as PettingZoo sees it, without wrappers: an illegal action raises ValueError.

    `render_mode` and `observation` are those of :func:`env`; ``s`` is the state, int32 [size].
    """

    def __init__(self, game, render_mode: str | None = None, observation: str = "flat"):
        super().__init__()
        self.game = game
        self.render_mode = render_mode
        self.agents = []
        self.rng = None
        self.metadata = {
            "name": f"afterply_{game.name}_v0",
            "render_modes": RENDER_MODES,
            "is_parallelizable": False,
        }
        self.possible_agents = [f"player_{seat}" for seat in range(game.players)]
        self.cells = observer(observation)
        *board_shape, num_planes = self.cells(game, game.start()).shape
        shape = (*board_shape, num_planes + game.players)
        observation_space = spaces.Dict(
            {
                "observation": spaces.Box(0, 1, shape, np.int8),
                "action_mask": spaces.Box(0, 1, (game.actions,), np.int8),
            }
        )
        self.observation_spaces = dict.fromkeys(self.possible_agents, observation_space)
        action_space = spaces.Discrete(game.actions)
        self.action_spaces = dict.fromkeys(self.possible_agents, action_space)

    def observation_space(self, agent):
        """Return the space of what an agent observes."""
        return self.observation_spaces[agent]

    def action_space(self, agent):
        """Return the space of an agent's actions."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict | None = None) -> None:
        """Start a game; a `seed` resets the generator from which all chance is drawn."""
        if seed is not None or self.rng is None:
            entropy = np.random.SeedSequence().entropy if seed is None else seed
            self.rng = new_rng(entropy)
        self.s = self.game.start(int(random_bits(self.rng)))
        self.score = self.game.score(self.s)
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, self.game.over(self.s))
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos = {agent: {} for agent in self.agents}
        self._skip_agent_selection = None  # left by a game that was not played to its end
        self.agent_selection = self.agents[self.game.player(self.s)]

    def observe(self, agent) -> dict:
        """Return what an agent sees; the mask is empty for those who are not to move."""
        seat = np.array([agent == other for other in self.possible_agents], np.int8)
        mask = action_mask(self.game, self.s)
        if agent != self.agent_selection:
            mask[:] = 0
        return {"observation": with_planes(self.state(), seat), "action_mask": mask}

    def step(self, action) -> None:
        """Make an action of the agent whose turn it is; None for one whose game is over."""
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        self.s = self.game.next(self.s, action, self.rng)
        score_before = self.score
        self.score = self.game.score(self.s)
        self._cumulative_rewards[agent] = 0.0
        rewards = self.score - score_before
        self.rewards = dict(zip(self.possible_agents, rewards.tolist()))
        next_seat = self.game.player(self.s)
        if self.game.over(self.s):
            self.terminations = dict.fromkeys(self.agents, True)
            next_seat = (self.possible_agents.index(agent) + 1) % self.game.players
        self.agent_selection = self.possible_agents[next_seat]
        self._accumulate_rewards()

    def state(self) -> np.ndarray:
        """Return the cells of the board, one-hot, whoever looks; int8."""
        return self.cells(self.game, self.s)

    def render(self):
        """Return the board as text or as pixels, as was asked for."""
        return rendered(self.game, self.s, self.render_mode)
