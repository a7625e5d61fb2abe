"""A sweep: trainings with every combination of some parameters, as a table and as a figure.

::

    found = sweep(game, td, seeds=5, alpha=[0.1, 0.3], lambda_=[0.0, 0.5])
    found.table       # a row for each alpha, lambda_, seed, episode and result
    found.curves()    # means over seeds with 95% intervals
"""

import itertools

from ..checks import count
from ..games.game import check_game
from ..identity import is_learner
from ..learners.parameters import usual
from ..players.basic import Random
from .evaluators import Matches
from .records import Records, sources_behind
from .results import filling, in_words, select
from .study import SHARES, Study

POINTS = 10  # of a learning curve
MOST_CURVES = 60  # of a figure, whose list of names would be longer than its curves are high
AGAINST_RANDOM = Matches("Random", Random, starts=("random", 50))
ALONE = Matches("alone", Random, episodes=20, metrics=("score",))  # a game for one player


class Sweep:
    """What :func:`sweep` returns: the `table`, the `study` behind it, and :meth:`curves`."""

    def __init__(self, study, varied: dict):
        self.study = study
        self.varied = varied  # arm -> {parameter: value}; all arms vary the same parameters
        table = study.table()
        for place, name in enumerate(self._parameters()):
            table.insert(place, name, [varied[arm][name] for arm in table.arm])
        self.table = table.drop(columns=["study", "arm"]).rename(columns={"run": "seed"})

    def _parameters(self):
        """Return the names of the parameters that vary."""
        first_arm = next(iter(self.varied.values()))
        return list(first_arm)

    def curves(self, measure: str | None = None, **selected):
        """Draw a result (default: the first) of all combinations, or of some.

        selected: parameters that vary, with a value each, and columns that select the result, as
        for :func:`afterply.studies.results.select` (default: the first result of the measure).

        ValueError if there are no such results, or curves of too many combinations.
        """
        from .reports.figures import learning_curves  # needs an extra

        parameters = {}
        columns = {}
        for name, value in selected.items():
            if name in self._parameters():
                parameters[name] = value
            else:
                columns[name] = value
        arms = []
        for arm, varied in self.varied.items():
            if parameters.items() <= varied.items():
                arms.append(arm)
        if len(arms) > MOST_CURVES:
            raise ValueError(
                f"{len(arms)} curves are too many for one figure, which shows up to {MOST_CURVES}:"
                f" give {' or '.join(self._parameters())} a value, or draw from .table"
            )
        table = self.study.table()
        measured = table[~table.measure.isin(SHARES)]
        if measure is not None:
            measured = measured[measured.measure == measure]
        if measured.empty:
            measures = ", ".join(table.measure.unique())
            raise ValueError(f"there are no values of {measure!r}, only of {measures}")
        first = measured.iloc[0]
        if not columns:
            columns = first[filling(table)].to_dict()
        columns["measure"] = first["measure"]
        options = {"score_axis": False, "possible": None, "label": in_words(columns)}
        figure, _ = learning_curves(select(table, **columns), arms, **options)
        return figure


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

    All others are as in ``learner.Session(game)``: the game's settings, or the learner's defaults.

    Parameters
    ----------
    game : Game
    learner : module or class
        As for :meth:`Study.arm`.
    seeds : int
        Independent trainings of each combination.
    episodes, eval_every : int
        Length of a training (default: as in ``learner.Session(game)``, too), and episodes between
        two points of its curve (default: a tenth of the length).
    evaluate : evaluator, or a list of them
        Default: matches with random players; in a game for one player, its mean score.
    name : str
        Of the file of records, ``data/cache/sweeps/<name>.<hash of the sources>.jsonl`` (default:
        named after game and learner). Runs that it holds are not trained again, and those that
        Ctrl-C broke off go on.
    workers, dask
        As for :class:`Study`.
    **parameters
        Parameters of the learner. A list holds the values to try, so one value that is itself a
        list is written ``alpha=[[1.0, 0.1]]``.

    Raises
    ------
    ValueError
        If a parameter is unknown, out of its range, or has no values.
    """
    check_game(game, "a sweep")
    count("seeds", seeds)
    if not is_learner(learner):
        raise TypeError(f"a learner is a module as afterply.learners.td, not {learner!r}")
    combinations = _combinations(parameters)
    settings = usual(learner.PARAMETERS, game)
    usual_episodes = settings.pop("episodes", learner.DEFAULTS.get("episodes"))
    if episodes is None:
        episodes = usual_episodes
    episodes = count("episodes", episodes)
    if eval_every is None:
        eval_every = max(1, episodes // POINTS)
    if evaluate is None:
        evaluate = ALONE if game.players == 1 else AGAINST_RANDOM
    curve = evaluate if isinstance(evaluate, list) else [evaluate]
    if not name:
        name = f"sweep-{game.name}-{learner.NAME}"
    study = Study(name, "sweep", workers=workers, dask=dask)
    # No golden runs stand behind games of all sizes: other sources have other records.
    sources = sources_behind(game, learner)[:8] or "own"
    study.records = Records(study.cache / "sweeps" / f"{name}.{sources}.jsonl")
    shared = {
        "game": game,
        "runs": seeds,
        "episodes": episodes,
        "eval_every": eval_every,
        "curve": curve,
    }
    listed = sorted(parameter for parameter, value in parameters.items() if isinstance(value, list))
    varied = {}
    for chosen in combinations:
        arm = ", ".join(f"{parameter}={chosen[parameter]}" for parameter in listed) or name
        study.arm(arm, learner, **shared, **(settings | chosen))
        varied[arm] = {parameter: _hashable(chosen[parameter]) for parameter in listed}
    # Trained at once, also in a notebook that a command runs.
    study.make(list(itertools.chain(*study.arms.values())))
    study._done.update(study.arms)
    return Sweep(study, varied)


def _combinations(parameters):
    """Return all combinations of the values to try, each a dictionary of all parameters."""
    values = []
    for parameter, value in parameters.items():
        tried = value if isinstance(value, list) else [value]
        if not tried:
            raise ValueError(f"{parameter}=[] lists no values to try")
        values.append(tried)
    return [dict(zip(parameters, chosen, strict=True)) for chosen in itertools.product(*values)]


def _hashable(value):
    """Return a value as a table of results can hold and compare it."""
    return tuple(value) if isinstance(value, list) else value
