"""How often the rules err, by simulation: two tables of the page that explains verdicts.

``python tests/papers/test_error_rates.py`` writes them anew, in a quarter of an hour.
"""

import math
from functools import partial
from pathlib import Path
from unittest import mock

import numpy as np
import pandas as pd
import pytest

from afterply.studies import reports
from afterply.studies.papers import tests_of_means
from afterply.studies.papers.errors import in_short, of_stages, rejected
from afterply.studies.papers.tests_of_means import Arms, gaffke, joined_p
from afterply.studies.papers.verdicts import verdict

TEMPLATES = Path(reports.__file__).parent / "templates"
VALUES_TABLE, TESTS_TABLE = TEMPLATES / "error_rates.md", TEMPLATES / "error_rates_of_tests.md"
REPEATS, RUNS, DRAWS = 1_000, 10, 10_000
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
LEVELS = (0.025, 0.002)  # of one direction of a lone statement, and of one among a dozen
KINDS = {  # of each arm its runs in each stage; looks
    "two arms of ten": ([[10], [10]], 1),
    "two arms of 10, then 15 more of each": ([[10, 15], [10, 15]], 2),
    "five runs against a bound": ([[5]], 1),
    "ten runs against a bound, or ten pairs": ([[10]], 1),
    "26 runs against a bound": ([[26]], 1),
    "10, then 16 more against a bound": ([[10, 16]], 2),
    "10, 40 and 250 more": ([[10, 40, 250]], 3),
}
BY_ENDS_OF = "26 runs, nothing known but the ends"
ONE_MORE = "two arms of ten, of which one has 15 more"
OTHERS = (ONE_MORE, BY_ENDS_OF)
ENDED = {  # the lower end of what runs of mean 0 and spread 1 can be
    "19 of 20 games": -19 / math.sqrt(0.95),
    "won or lost": -0.95 / math.sqrt(0.95 * 0.05),
}


def won_or_lost(rng, size):
    """Runs that end well in 95 of 100 cases, or not at all."""
    return (rng.binomial(1, 0.95, size) - 0.95) / math.sqrt(0.95 * 0.05)


@mock.patch.object(tests_of_means, "RESAMPLED", 100_000)  # a twentieth is enough for these levels
def of_tests(shapes=(*SHAPES, "won or lost"), kinds=(*KINDS, *OTHERS), draws=DRAWS):
    """How often tests of means reject what is on their edge, in percent, at each level."""
    rows = {}
    for kind in kinds:
        for shape in shapes:
            draw = (SHAPES | {"won or lost": won_or_lost})[shape]
            found = [_of_test(kind, shape, draw, side, draws) for side in (1, -1)]
            found = np.fmax(*found)
            for level, share in zip(LEVELS, found, strict=True):
                rows.setdefault((kind, f"{100 * level:g}%"), {})[shape] = 100 * share
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis(["of", "level"])


def _of_test(kind, shape, draw, side, draws):
    rng = np.random.default_rng(7)
    if kind == ONE_MORE:
        return _one_more(draw(rng, (draws, 25)), -draw(rng, (draws, 10)), side)
    if kind != BY_ENDS_OF:
        arms, looks = KINDS[kind]
        tails = (1, -1) if len(arms) > 1 else (1,)  # the tails of two arms may differ
        drawn = [(partial(_tailed, draw, tail), of) for tail, of in zip(tails, arms, strict=True)]
        return of_stages(drawn, looks, side, LEVELS, rng, draws)
    if side < 0 or shape not in ENDED:
        return [math.nan] * len(LEVELS)
    samples = draw(rng, (draws // 10, 26))
    found = np.array([gaffke(sample, 0.0, ENDED[shape]) for sample in samples])
    return [np.mean(found <= level) for level in LEVELS]


def _one_more(first, second, side):
    # looked at after ten of each; all runs are one stage then
    quick = 2 * np.minimum(*(in_short([arm, second], side) for arm in (first[:, :10], first)))

    def exact(i):
        arms = [Arms(arm, second[i]) for arm in (first[i, :10], first[i])]
        return min(joined_p([arm.p_value(0.0, side)], 2) for arm in arms)

    return rejected(quick, exact, LEVELS)


def _tailed(draw, tail, rng, size):
    return tail * draw(rng, size)


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


def test_errors_of_values_are_at_most_five_percent_under_normal_runs():
    """Fewer draws than behind the table; both within three standard errors."""
    found, repeats = rates(["normal"], 100)["normal"], 100
    limit = [5 + 300 * math.sqrt(0.05 * 0.95 / number) for number in (repeats, REPEATS)]
    assert len(found) == 8 and found.max() <= limit[0]
    assert found.max() > 1  # simulations that can fail
    printed = {(of, error): float(normal) for of, error, normal, *_ in _read(VALUES_TABLE)}
    assert list(printed) == list(found.index) and max(printed.values()) <= limit[1]


@pytest.mark.slow
def test_errors_of_tests_are_those_of_the_table():
    """A part of the table made again, with fewer draws."""
    draws = 4_000
    kinds = [
        "two arms of ten",
        "ten runs against a bound, or ten pairs",
        "10, then 16 more against a bound",
    ]
    found = of_tests(["normal", "exponential"], kinds, draws)
    lines = {(of, level): cells for of, level, *cells in _read(TESTS_TABLE)}
    assert len(lines) == len(LEVELS) * len([*KINDS, *OTHERS])
    for (of, level), row in found.iterrows():
        for name, again in row.items():
            printed = float(lines[of, level][list(SHAPES).index(name)])
            spread = 100 * math.sqrt(max(printed, float(level[:-1])) / 100 / draws)
            assert again == pytest.approx(printed, abs=3 * 1.1 * spread)
            limit = float(level[:-1]) * (1.1 if name == "normal" else 20)
            assert printed <= limit + 100 * math.sqrt(limit / 100 / DRAWS)


def _read(table):
    lines = table.read_text(encoding="utf-8").splitlines()[2:]
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]


def _write(table, found, head):
    lines = [head, ["---", "---", *["--:"] * (len(head) - 2)]]
    rows = found.reset_index().to_numpy().tolist()
    lines += [["" if cell != cell else str(cell) for cell in row] for row in rows]
    text = "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"
    table.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    _write(VALUES_TABLE, rates().round(1), ["kind", "false", *SHAPES])
    _write(TESTS_TABLE, of_tests().round(2), ["kind", "level", *SHAPES, "won or lost"])
