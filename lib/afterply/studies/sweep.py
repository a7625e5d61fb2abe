"""A sweep: trainings with every combination of some parameters, as a table and as a figure.

::

    found = sweep(game, td, seeds=5, alpha=[0.1, 0.3], lambda_=[0.0, 0.5])
    found.table       # a row for each alpha, lambda_, seed, episode and result
    found.curves()    # means over seeds with 95% intervals
"""

import itertools

from ..checks import whole
from ..games.game import check_game
from ..learners.parameters import usual
from ..players.basic import Random
from .evaluators import Matches
from .records import Records, sources_behind
from .results import filling, in_words, select
from .study import SHARES, Study

POINTS = 10  # of a learning curve
AGAINST_RANDOM = Matches("Random", Random, starts=("random", 50))
ALONE = Matches("alone", Random, episodes=20, metrics=("score",))  # a game for one player


class Sweep:
    """What :func:`sweep` returns: the `table`, the `study` behind it, and :meth:`curves`."""

    def __init__(self, study, varied: dict):
        self.study, self.varied, table = study, varied, study.table()
        for place, name in enumerate(next(iter(varied.values()))):  # all vary the same
            table.insert(place, name, [varied[arm][name] for arm in table.arm])
        self.table = table.drop(columns=["study", "arm"]).rename(columns={"run": "seed"})

    def curves(self, measure: str | None = None, **selected):
        """Draw a result (default: the first) of all combinations, or of some.

        selected: parameters that vary, with a value each, and columns that tell the result, as for
        :func:`afterply.studies.results.select`; the first one of the measure by default.
        """
        from .reports.figures import learning_curves  # needs an extra

        varied = {n: v for n, v in selected.items() if n in next(iter(self.varied.values()))}
        columns = {n: v for n, v in selected.items() if n not in varied}
        arms = [arm for arm, own in self.varied.items() if varied.items() <= own.items()]
        table = self.study.table()
        measured = table[~table.measure.isin(SHARES)]
        if measure is not None:
            measured = measured[measured.measure == measure]
        if measured.empty:
            there = ", ".join(table.measure.unique())
            raise ValueError(f"there are no values of {measure!r}, only of {there}")
        if not columns:
            columns = measured.iloc[0][filling(table)].to_dict()
        columns |= {"measure": measured.measure.iloc[0]}
        look = {"score_axis": False, "possible": None, "label": in_words(columns)}
        return learning_curves(select(table, **columns), arms, **look)[0]


def sweep(
    game,
    learner,
    seeds: int = 5,
    *,
    episodes: int | None = None,
    eval_every: int | None = None,
    evaluate=None,
    name: str | None = None,
    workers: int | None = None,
    dask: str | None = None,
    **parameters,
) -> Sweep:
    """Train with every combination of the parameters whose values are listed, and measure.

    All others are as of ``learner.Session(game)``: the game's usual ones, or the learner's.
    ValueError if a parameter is unknown, out of its range, or without values.

    Parameters
    ----------
    game : Game
    learner : module or class
        As for :meth:`Study.arm`.
    seeds : int
        Independent trainings of each combination.
    episodes, eval_every : int
        Length of a training (default: as usual, too), and episodes between two points of its curve
        (default: a tenth).
    evaluate : evaluator, or a list of them
        Default: matches with random players; in a game for one player, its mean score.
    name : str
        What ``data/cache/sweeps/<name>.<hash of the sources>.jsonl`` holds is not trained again,
        and what Ctrl-C broke off goes on. Default: named after game and learner.
    workers, dask
        As for :class:`Study`.
    **parameters
        The learner's own. A list holds the values to try, so that one value which is a list itself
        is written ``alpha=[[1.0, 0.1]]``.
    """
    check_game(game, "a sweep")
    lists = {k: v if isinstance(v, list) else [v] for k, v in parameters.items()}
    if empty := [parameter for parameter, values in lists.items() if not values]:
        raise ValueError(f"{empty[0]}=[] lists no values to try")
    settings = usual(learner.PARAMETERS, game)
    length = settings.pop("episodes", learner.DEFAULTS.get("episodes"))
    episodes = length if episodes is None else episodes
    whole("episodes", episodes)
    if evaluate is None:
        evaluate = ALONE if game.players == 1 else AGAINST_RANDOM
    name = name or f"sweep-{game.name}-{learner.NAME}"
    study = Study(name, "sweep", workers=workers, dask=dask)
    # no golden runs stand behind games of all sizes: other sources have other records
    sources = sources_behind(game, learner)[:8] or "own"
    study.records = Records(study.cache / "sweeps" / f"{name}.{sources}.jsonl")
    shared, varied = {"game": game, "runs": seeds, "episodes": episodes}, {}
    shared["curve"] = evaluate if isinstance(evaluate, list) else [evaluate]
    shared["eval_every"] = max(1, episodes // POINTS) if eval_every is None else eval_every
    for combination in itertools.product(*lists.values()):
        given = dict(zip(lists, combination))
        own = {k: given[k] for k in sorted(given) if isinstance(parameters[k], list)}
        arm = ", ".join(f"{k}={v}" for k, v in own.items()) or name
        study.arm(arm, learner, **shared, **(settings | given))
        varied[arm] = {k: tuple(v) if isinstance(v, list) else v for k, v in own.items()}
    # in a notebook that a command runs as well
    study.make([run for runs in study.arms.values() for run in runs])
    study._done.update(study.arms)
    return Sweep(study, varied)
