"""What is measured of agents that solve Rubik's cubes: the share that they solve."""

from dataclasses import dataclass

import numpy as np

from ...arena.matches import play_on
from ...checks import whole
from ...evaluators import Evaluator
from ...games.rules.cube import GAMES, is_solved, twist
from ...kernel.random import new_rng, random_int, seed_from
from ...players.basic import wrap
from ...players.wrapped import Wrapped
from .cube_distance import LEVELS, distances


def scramble(game, twists: int, seed: int = 0) -> np.ndarray:
    """Return a cube after random twists, no two in a row of the same face, that is not solved.

    The state knows no last twist.

    Source: [scheiermann2022] Sec. IV-C. Deviations: D15.
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

    Metrics, in percent:

    - ``solved_rate``: of all cubes with `twists`;  ``solved_rate:twists-11``: of those scrambled by
      11, for `twists` and `also`;
    - with `by_distance`, ``solved_rate:distance-09`` and how many cubes that are,
      ``cubes:distance-09``: by the number of twists that solve the cube at best.

    With `iterations` the names go on, as in ``solved_rate:iterations-200:c_puct-10:twists-11``.

    Source: [scheiermann2022] Sec. IV-C, Fig. 7. Deviations: D6, D7, D14, D15, D16.
    """

    twists: tuple[int, ...] = (11, 12, 13)  # of the scrambles
    also: tuple[int, ...] = ()  # further ones, which do not count in ``solved_rate``
    cubes: int = 200  # scrambled with each number of twists
    iterations: int = 0  # of the wrapper before every twist; 0: the agent alone
    c_puct: float = 1.0  # D6
    max_steps: int = 20  # after which a cube counts as unsolved: D14
    max_depth: int = 50  # of the wrapper: D7
    step_reward: float = -0.04  # as in the training: D16
    by_distance: bool = True  # whether the rates by exact distance are given, too
    measures = object

    may_be_0 = ("iterations",)
    name = property(lambda self: f"solved cubes{self._how.replace(':', ', ').replace('-', ' ')}")

    @property
    def _how(self) -> str:
        constant = "" if self.c_puct == 1.0 else f":c_puct-{self.c_puct:g}"
        return f":iterations-{self.iterations}{constant}" if self.iterations else ""

    def _measure(self, game, net, seed):
        if game.name not in GAMES:
            raise ValueError(f"{self.name} are measured of cube2 and cube3, not of {game.name}")
        how, groups = self._how, {}
        player = Wrapped(net, **self._search()) if self.iterations else wrap(net)
        for twists in (*self.also, *self.twists):
            seeds = [seed_from(seed, "cube", twists, k) for k in range(self.cubes)]
            states = np.array([scramble(game, twists, each) for each in seeds])
            solved = [self._solves(game, player, s, each) for s, each in zip(states, seeds)]
            groups.setdefault(f"twists-{twists}", []).extend(solved)
            if self.by_distance:
                for away, one in zip(distances(game, states, max(LEVELS, twists)), solved):
                    groups.setdefault(f"distance-{away:02d}", []).append(one)
        every = [one for twists in self.twists for one in groups[f"twists-{twists}"]]
        found = {f"solved_rate{how}": 100.0 * float(np.mean(every))}
        for name, members in sorted(groups.items()):
            found[f"solved_rate{how}:{name}"] = 100.0 * float(np.mean(members))
            if name.startswith("distance"):
                found[f"cubes{how}:{name}"] = float(len(members))
        return found

    def _search(self) -> dict:
        names = ("iterations", "c_puct", "max_depth", "step_reward")
        return {name: getattr(self, name) for name in names}

    def _solves(self, game, player, state, seed) -> bool:
        player.new_match(game, [], 0, seed)
        return game.over(play_on(game, [player], state, new_rng(seed), self.max_steps)[0])


@dataclass(frozen=True)
class SolvedOtherwise(Solved):
    """How many cubes are solved with settings of the search that the paper is silent on.

    Metrics as ``solved_rate:iterations-200:unvisited-1:path-rewards:twists-11``.

    Source: beyond [scheiermann2022]. Deviations: D10, D26.
    """

    iterations: int = 100
    unvisited: float = 0.0  # the mean value of an action that was never visited: D26
    path_rewards: bool = False  # whether the cost of every twist on the path counts: D10

    may_be_0 = ()

    @property
    def _how(self) -> str:
        value = f":unvisited-{self.unvisited:g}" if self.unvisited != 0.0 else ""
        return super()._how + value + (":path-rewards" if self.path_rewards else "")

    def _search(self) -> dict:
        return super()._search() | {"unvisited": self.unvisited, "path_rewards": self.path_rewards}
