"""How often the rules err, by simulation: the table of the page that explains verdicts.

``python tests/papers/test_error_rates.py`` writes that table anew.
"""

import math
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from afterply import reports
from afterply.papers.claims import Statement
from afterply.papers.statements import DOES_NOT_HOLD, HOLDS, judge
from afterply.papers.verdicts import verdict

TABLE = Path(reports.__file__).parent / "templates" / "error_rates.md"
REPEATS, RUNS = 1_000, 10
SHAPES = {  # runs of mean 0 and spread 1; the skewed ones have their tail below
    "normal": lambda rng, size: rng.normal(size=size),
    "exponential": lambda rng, size: 1 - rng.exponential(size=size),
    "lognormal": lambda rng, size: (np.exp(0.5) - np.exp(rng.normal(size=size))) / 2.1612,
    "19 of 20 games": lambda rng, size: (rng.binomial(20, 0.95, size) - 19) / math.sqrt(0.95),
}


def value(draw, rng, difference, spread, trainings, printed=False):
    """The verdict on a mean of trainings, printed with its error or without."""
    ours, theirs = (spread * draw(rng, size) for size in (RUNS, trainings))
    if printed:
        error = theirs.std(ddof=1) / math.sqrt(trainings), trainings
        return [verdict(ours + difference, theirs.mean(), 2.0, *error).label]
    return [verdict(ours + difference, theirs.mean(), 2.0, trainings=trainings).label]


def cell(draw, rng, difference, spread):
    """The verdict on 100 printed games of one training, won with a share that varies."""
    won = np.clip(0.8 + 0.02 * spread * draw(rng, RUNS + 1), 0, 1)
    won[1:] += difference / 100
    games = rng.binomial(100, np.clip(won, 0, 1)).astype(float)
    ours = {"wins": games[1:], "losses": 100 - games[1:]}
    printed = {"wins": games[0], "losses": 100 - games[0]}
    return [verdict(ours, printed, 2.0, trainings=1, counted=(100, 100)).label]


VALUES = {
    "value of one training": partial(value, trainings=1),
    "value of ten trainings, no error printed": partial(value, trainings=10),
    "value of ten trainings, error printed": partial(value, trainings=10, printed=True),
    "cell of 100 games, one training": cell,
}
A, B = ({"study": "s", "arm": arm, "select": {"measure": "m"}} for arm in "ab")
PARTS = {  # on the edge of what they say
    "ordering of two arms": ("ordering", {"high": A, "low": B}),
    "ordering in pairs": ("ordering", {"high": A, "low": B, "paired": True}),
    "bound": ("bound", {"value": A, "above": 0}),
    "range": ("range", {"first": A, "second": B, "from": 0, "to": 9}),
    "trend of four arms": ("trend", {"rising": [{**A, "arm": arm} for arm in "abcd"]}),
}


def outcomes(draw, rng, statements, tail):
    """The verdicts on statements about arms that are equal on average; their tails may differ."""
    drawn = {}

    def values(study, arm, columns, which):
        if arm not in drawn:
            side = -tail if arm.startswith("b") else tail
            drawn[arm] = dict(enumerate(side * draw(rng, RUNS)))
        return drawn[arm]

    return [found.verdict for found in judge(statements, values)]


def statement(name, number=0):
    test, part = PARTS[name]
    part = {
        key: what | {"arm": what["arm"] + "x" * number} if isinstance(what, dict) else what
        for key, what in part.items()
    }
    return Statement("x", "", {"section": "1"}, "", test, [part])


def rates(shapes=SHAPES, repeats=REPEATS):
    """The error rates of both rules in percent, one row for each kind and error."""
    cases = {}  # (kind, error): functions (draw, rng) -> verdicts
    for kind, judged in VALUES.items():
        for wrong, difference, spreads in (
            ("not reproduced", 0.0, (1.0, 5.0)),
            ("reproduced", 2.0, (0.2, 1.0)),
        ):
            given = {(sign * difference, spread) for spread in spreads for sign in (1, -1)}
            cases[kind, wrong] = [partial(judged, difference=d, spread=s) for d, s in given]
    families = {kind: [statement(kind)] for kind in PARTS}
    families["any of ten statements of a paper"] = [
        statement(kind, number) for number in range(5) for kind in ("ordering of two arms", "bound")
    ]
    for kind, family in families.items():
        for wrong in (HOLDS, DOES_NOT_HOLD):
            cases[kind, wrong] = [partial(outcomes, statements=family, tail=t) for t in (1, -1)]
    return pd.DataFrame(
        {
            shape: {
                (kind, wrong): max(_share(repeats, case, SHAPES[shape], wrong) for case in judged)
                for (kind, wrong), judged in cases.items()
            }
            for shape in shapes
        }
    ).rename_axis(["of", "error"])


def _share(repeats, case, draw, wrong):
    rng = np.random.default_rng(7)
    return 100 * np.mean([wrong in case(draw, rng) for _ in range(repeats)])


def test_errors_are_at_most_five_percent_under_normal_runs():
    """Fewer draws than behind the table; both within three standard errors."""
    found, repeats = rates(["normal"], 100)["normal"], 100
    limit = [5 + 300 * math.sqrt(0.05 * 0.95 / number) for number in (repeats, REPEATS)]
    assert len(found) == 20 and found.max() <= limit[0]
    assert found.max() > 1  # simulations that can fail
    cells = [line.split("|")[1:-1] for line in TABLE.read_text(encoding="utf-8").splitlines()[2:]]
    printed = {(of.strip(), error.strip()): float(normal) for of, error, normal, *_ in cells}
    assert list(printed) == list(found.index) and max(printed.values()) <= limit[1]
    assert abs(found - pd.Series(printed)).max() <= 2 * limit[0]


if __name__ == "__main__":
    table = rates().round(1).reset_index()
    lines = [["kind", "false", *SHAPES], ["---", "---", *["--:"] * len(SHAPES)]]
    lines += table.astype(str).to_numpy().tolist()
    TABLE.write_text(
        "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n", encoding="utf-8"
    )
