"""What is measured of agents that solve Rubik's cubes: the share that they solve."""

from dataclasses import dataclass, field, replace

import numpy as np

from ..checks import whole
from ..games.rules.cube import GAMES, is_solved, twist
from ..kernel.random import new_rng, random_int, seed_from
from ..players.basic import wrap
from ..players.wrapped import Wrapped
from ..search.cube_distance import LEVELS, distances
from .base import Evaluator, valued
from .playing import play_on


def scramble(game, twists: int, seed: int = 0) -> np.ndarray:
    """Return a cube after so many random twists, no two in a row of the same face.

    It is scrambled again if it comes out solved. The state knows no last twist.

    Source: [scheiermann2022] Sec. IV-C. Deviations: D15.

    Examples
    --------
    >>> from afterstate import games
    >>> from afterstate.evaluators.cube import scramble
    >>> game = games.load("cube2")
    >>> state = scramble(game, 1)
    >>> int(state[-1]), game.over(state)
    (0, False)
    """
    rng, words = new_rng(seed), game.size - 1
    whole("twists", twists)
    while True:
        state, face = game.parse("after"), -1
        for _ in range(twists):
            action = int(random_int(rng, game.actions - (3 if face >= 0 else 0)))
            if face >= 0 and action >= 3 * face:  # every twist of another face
                action += 3
            face = action // 3
            twist(state, words, action)  # it may come out solved on the way
        if not is_solved(state, words):
            return state


@dataclass(frozen=True)
class Solved(Evaluator):
    """How many scrambled cubes an agent solves within some twists, with or without the wrapper.

    Calling it with ``(game, agent, seed)``, where the agent is a network or a training session,
    gives percentages:

    - ``solved_rate``: of all cubes with `twists`;  ``solved_rate:twists-11``: of those scrambled by
      so many, for `twists` and `also`;
    - with `by_distance`, ``solved_rate:distance-09`` and how many cubes that are,
      ``cubes:distance-09``: by the number of twists that solve the cube at best.

    With `iterations` every name is followed by ``:iterations-200``, and by ``:c_puct-10`` where the
    constant is not 1, as in ``solved_rate:iterations-200:twists-11``.

    Parameters
    ----------
    twists : tuple of int
        Numbers of twists of the scrambles.
    also : tuple of int
        Further ones, which do not count in ``solved_rate``.
    cubes : int
        Scrambled cubes for each of them.
    iterations : int
        Of the wrapper before every twist; 0: the agent alone.
    c_puct : float
        Of the wrapper.  D6
    max_steps : int
        A cube that is not solved after so many twists counts as unsolved.  D14
    max_depth : int
        Of the wrapper.  D7
    step_reward : float
        As in the training.  D16
    by_distance : bool
        Whether the rates by exact distance are given, too.

    Raises
    ------
    ValueError
        If the game is no cube, or a parameter is out of range.

    Source: [scheiermann2022] Sec. IV-C, Fig. 7. Deviations: D6, D7, D14, D15, D16.
    """

    twists: tuple = (11, 12, 13)
    also: tuple = ()
    cubes: int = 200
    iterations: int = 0
    c_puct: float = 1.0
    max_steps: int = 20
    max_depth: int = 50
    step_reward: float = -0.04
    by_distance: bool = True
    version: int = 1
    # what the shorter version calls its iterations; no part of what is measured
    said: int | None = field(default=None, compare=False)

    def __post_init__(self):
        for name, value, least in (
            ("cubes", self.cubes, 1),
            ("iterations", self.iterations, 0),
            ("max_steps", self.max_steps, 1),
            *(("twists", number, 1) for number in (*self.twists, *self.also)),
        ):
            whole(name, value, least)
        if not isinstance(self.twists, tuple) or not self.twists:
            raise ValueError(f"twists must be a tuple of numbers, not {self.twists!r}")

    @property
    def name(self) -> str:
        """Name of the measurement in records."""
        return f"solved cubes{self._how.replace(':', ', ').replace('-', ' ')}"

    @property
    def _how(self) -> str:
        if self.iterations == 0:
            return ""
        constant = "" if self.c_puct == 1.0 else f":c_puct-{self.c_puct:g}"
        return f":iterations-{self.said or self.iterations}{constant}"

    def short(self) -> "Solved":
        """Return the same for two cubes and a shorter search, by the same name."""
        said, cubes, iterations = self.said or self.iterations, self.cubes, self.iterations
        few = {"cubes": min(cubes, 2), "iterations": min(iterations, 20), "said": said}
        return replace(self, twists=self.twists[-1:], also=(), **few)

    def extent(self, game) -> int:
        """Return the number of cubes times the iterations of one twist."""
        return self.cubes * len(self.twists + self.also) * max(1, self.iterations)

    def __call__(self, game, agent, seed: int = 0) -> dict[str, float]:
        """Return metric -> value."""
        if game.name not in GAMES:
            raise ValueError(f"{self.name} are measured of cube2 and cube3, not of {game.name}")
        player, groups = self._player(valued(agent)), {}
        for number in (*self.also, *self.twists):
            seeds = [seed_from(seed, "cube", number, k) for k in range(self.cubes)]
            states = np.array([scramble(game, number, each) for each in seeds])
            solved = [self._solves(game, player, s, each) for s, each in zip(states, seeds)]
            groups.setdefault(f"twists-{number}", []).extend(solved)
            if self.by_distance:
                for away, one in zip(distances(game, states, max(LEVELS, number)), solved):
                    groups.setdefault(f"distance-{away:02d}", []).append(one)
        every = [one for number in self.twists for one in groups[f"twists-{number}"]]
        found = {f"solved_rate{self._how}": 100.0 * float(np.mean(every))}
        for name, members in sorted(groups.items()):
            found[f"solved_rate{self._how}:{name}"] = 100.0 * float(np.mean(members))
            if name.startswith("distance"):
                found[f"cubes{self._how}:{name}"] = float(len(members))
        return found

    def _player(self, net):
        if self.iterations == 0:
            return wrap(net)
        return Wrapped(
            net,
            self.iterations,
            self.c_puct,
            max_depth=self.max_depth,
            step_reward=self.step_reward,
        )

    def _solves(self, game, player, state, seed) -> bool:
        """Return whether a player solves a cube within the number of steps."""
        player.new_match(game, [], 0, seed)
        return game.over(play_on(game, [player], state, seed, self.max_steps)[0])
