"""A job: everything that determines one run and its evaluations, and the keys that follow."""

import functools
from dataclasses import dataclass
from pathlib import Path

from ..kernel.random import seed_from
from .identity import (
    canonical,
    evaluator_identity,
    key_of,
    lacks,
    learner_identity,
    numeric_sources,
)


@dataclass(frozen=True, eq=False)
class Job:
    """Everything that determines one run and its evaluations.

    `parameters` are all parameters of the learner, `every` is the distance of the curve's points in
    episodes, `curve` and `final` are evaluators ``(game, net, seed) -> {metric: value}``, `cache`
    is the directory for checkpoints. `probed` says whether its evaluators are tried on a given
    network first, as a record needs it; what is never recorded does without.
    """

    study: str
    arm: str
    run: int
    game: object
    learner: object
    parameters: dict
    episodes: int
    every: int
    curve: tuple
    final: tuple
    cache: Path
    probed: bool = True

    @functools.cached_property
    def key(self) -> str:
        """Key of the train record."""
        defaults = {name: canonical(value) for name, value in self.learner.DEFAULTS.items()}
        chosen = {
            n: v
            for n, v in canonical(self.parameters).items()
            if n not in defaults or defaults[n] != v
        }
        return key_of(
            {
                "learner": learner_identity(self.learner),
                "game": self.game.identity,
                "episodes": self.episodes,
                "parameters": chosen,
                "seed": [self.study, self.arm, self.run],
            }
        )

    def eval_key(self, evaluator, kind: str) -> str:
        """Key of the record of an evaluator used as `kind` "curve" or "final"."""
        content = {"train": self.key, "evaluator": evaluator_identity(evaluator), "kind": kind}
        return key_of(content | ({"every": self.every} if kind == "curve" else {}))

    @functools.cached_property
    def evaluations(self) -> list:
        """All (kind, evaluator, key) of the run."""
        return [
            (kind, e, self.eval_key(e, kind))
            for kind, listed in (("curve", self.curve), ("final", self.final))
            for e in listed
        ]

    @property
    def checkpoint(self) -> Path:
        """File of the checkpoint, in the end of the final weights."""
        return self.cache / self.study / f"{self.key}.npz"

    @property
    def lacks(self) -> str:
        """What its learning curve needs and this machine has not, so that it can not be trained.

        Empty if nothing.
        """
        return "; ".join(sorted({lacks(e) for e in self.curve} - {""}))

    @functools.cached_property
    def sources(self) -> str:
        """Hash of the package's sources behind the run's numbers."""
        return numeric_sources(self.game, self.learner)

    def sources_behind(self, key: str) -> str:
        """Return the hash of the sources behind the record with this key."""
        evaluator = next((e for _, e, k in self.evaluations if k == key), None)
        return numeric_sources(self.game, self.learner, evaluator)

    def session(self):
        """Return a new session of the learner for this run."""
        numbered = {"run": self.run} if getattr(self.learner, "NUMBERED_RUNS", False) else {}
        return self.learner.Session(
            self.game, dict(self.parameters), seed_from(self.study, self.arm, self.run), **numbered
        )

    def names(self) -> dict:
        """Return the fields that all records of the run share."""
        return {"study": self.study, "arm": self.arm, "run": self.run}
