"""Specification curves: a printed value in every reading of what its paper leaves open.

A paper that is silent or contradicts itself can be read in many ways. Each open point is a *switch*
with two or more levels, of which the first is the text's; a *reading* sets every switch::

    switches = {"D3 a draw": {"as a win": {}, "nothing": {"draw_reward": 0.0}}, ...}
    readings = combinations(switches, 16)
    for reading in readings:
        study.arm(reading.name_of("twin"), learner, **(setting | reading.settings))
    table = curve(claims, readings, study.table())    # where does the printed value come out?
    shares(table), effects(table)                     # in how many readings; what a switch does

Where all combinations are too many a *fraction* is trained, of at least resolution IV: what one
switch does on average is mixed up neither with what another does nor with what two do together.

It is exploratory: readings are chosen by those who have seen results. No verdict changes.

Source: Simonsohn, Simmons & Nelson (2020), specification curves; Box & Hunter (1961), fractions.
"""

import itertools
import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pandas as pd

from ...stats import t_quantile
from ..papers.compare import final_values, row_of
from ..results import by_columns, key
from .readings import BEYOND, FAILS, GIVES, OPEN, OUTCOMES, UNDECIDED

TEXT = "the text"
SHOWN = (GIVES, BEYOND, UNDECIDED, FAILS)
COLUMNS = ["id", "place", "printed", "reading", "value", "low", "high", "runs", "outcome"]
COLUMNS += ["values", "target", "margin"]
CONFIDENCE = 0.95


class Reading(NamedTuple):
    """A way to read what a paper leaves open."""

    levels: dict  # switch -> its level
    settings: dict  # what the training sets otherwise than the text's
    columns: dict  # which of its results are read otherwise
    arm: str  # its training in words, "" if it is the text's

    def name_of(self, arm: str) -> str:
        """Return the name of the arm that is an arm of the text in this reading."""
        return f"{arm}, {self.arm}" if self.arm else arm


def combinations(switches: dict, size: int | None = None) -> list[Reading]:
    """Return the readings that set switches of a training; the text's is the first.

    Parameters
    ----------
    switches : dict
        Switch -> its levels, the text's first: level -> what it sets.
    size : int, optional
        How many combinations of the switches with two levels there are, a power of two (default:
        all). Each is combined with all levels of the other switches.

    Raises
    ------
    ValueError
        If a switch has one level only, or so few combinations cannot have resolution IV.
    """
    for switch, levels in switches.items():
        if len(levels) < 2:
            raise ValueError(f"the switch {switch!r} has the levels {list(levels)}: give it two")
    two_levels = [switch for switch, levels in switches.items() if len(levels) == 2]
    several = [switch for switch in switches if switch not in two_levels]
    readings = []
    for chosen in itertools.product(*(switches[switch] for switch in several)):
        for row in _fraction(len(two_levels), size):
            levels = dict(zip(several, chosen, strict=True))
            for switch, place in zip(two_levels, row, strict=True):
                levels[switch] = list(switches[switch])[place]
            readings.append(_reading(switches, levels))
    return readings


def _fraction(number: int, size: int | None) -> list[list[int]]:
    """Return combinations of a number of switches with two levels, 0 and 1, the first all 0.

    All that there are, or a regular fraction of `size`. A switch follows the parity of an odd
    number of bits of the combination's number. So the parities of one or of three switches are odd
    in these bits and those of two are even, and none of the former equals one of the latter.
    """
    if size is None or size >= 2**number:
        size = 2**number
    bits = size.bit_length() - 1
    if size != 2**bits or (number > bits and number > size // 2):
        least = 2 ** max(1, math.ceil(math.log2(2 * number)))
        raise ValueError(
            f"size={size} combinations of {number} switches have no resolution IV:"
            f" give a power of two from {least} on"
        )
    odd = [word for word in range(size) if word.bit_count() % 2 == 1 and word.bit_count() > 1]
    odd.sort(key=lambda word: (-word.bit_count(), word))
    words = [2**bit for bit in range(bits)] + odd
    rows = []
    for combination in range(size):
        rows.append([(combination & word).bit_count() % 2 for word in words[:number]])
    return rows


def _reading(switches, levels):
    """Return the reading with these levels, the switches in their order."""
    in_order = {switch: levels[switch] for switch in switches}
    settings = {}
    changed = []
    for switch, level in in_order.items():
        settings |= switches[switch][level]
        if level != _text_of(switches[switch]):
            changed.append(f"{switch}: {level}")
    return Reading(in_order, settings, {}, "; ".join(changed))


def _text_of(levels):
    """Return the level that is the text's."""
    return next(iter(levels))


def crossed(readings: list[Reading], switches: dict) -> list[Reading]:
    """Return readings with all levels of switches that need no training of their own.

    switches: as for :func:`combinations`, but a level is the columns of the results that it reads.
    """
    found = []
    for reading in readings:
        for chosen in itertools.product(*switches.values()):
            levels = dict(reading.levels)
            columns = dict(reading.columns)
            for (switch, columns_of_level), level in zip(switches.items(), chosen, strict=True):
                levels[switch] = level
                columns |= columns_of_level[level]
            found.append(reading._replace(levels=levels, columns=columns))
    return found


def aliases(readings: list[Reading]) -> list[list[str]]:
    """Return pairs of switches whose joint effects these readings cannot tell apart, in groups.

    Of each group only the sum of what its pairs do together, with signs, can be known.
    """
    signs = {}
    for switch in readings[0].levels:
        levels = list(dict.fromkeys(reading.levels[switch] for reading in readings))
        if len(levels) == 2:
            signs[switch] = [levels.index(reading.levels[switch]) for reading in readings]
    groups = {}
    for one, other in itertools.combinations(signs, 2):
        together = np.bitwise_xor(signs[one], signs[other])
        groups.setdefault(tuple(together ^ together[0]), []).append(f"{one} × {other}")
    return [pairs for pairs in groups.values() if len(pairs) > 1]


def curve(claims, readings: list[Reading], table: pd.DataFrame) -> pd.DataFrame:
    """Return what every reading says of printed values: a row for each value and reading.

    Parameters
    ----------
    claims : iterable of Claim
        The values. Their arms are those of the text; of a reading it is ``reading.name_of(arm)``.
    readings : list of Reading
        Of :func:`combinations` or :func:`crossed`.
    table : DataFrame
        Results of one study, whose arms these are.

    Returns
    -------
    DataFrame
        ``COLUMNS``, and a column for each switch with its level. ``values`` is an array with a
        value for each training, and `target` the printed one. Of a cell of wins, draws and losses
        a value is the number of games with another result than printed, and `target` is 0.
        `outcome` is that of the study's own test of the printed value.
    """
    claims = list(claims)
    measures = set()
    for claim in claims:
        measures |= {columns["measure"] for columns in claim.selections.values()}
    results = by_columns(table[table["measure"].isin(measures)])
    study = table["study"].iloc[0] if len(table) else ""
    rows = []
    for claim in claims:
        for reading in readings:
            place = {"arm": reading.name_of(claim.arm), "select": claim.select | reading.columns}
            of_reading = replace(claim, needs=None, study=study, **place)
            compared = row_of(of_reading, results)
            values = _values(of_reading, results)
            row = {
                "id": claim.id,
                "place": claim.where,
                "printed": compared["printed"],
                "reading": reading.arm or TEXT,
                "value": values.mean() if len(values) else math.nan,
                "low": compared["low"],
                "high": compared["high"],
                "runs": compared["runs"],
                "outcome": OUTCOMES.get(compared["verdict"], FAILS),
            }
            target = 0.0 if isinstance(claim.value, dict) else claim.value
            row |= {"values": values, "target": target, "margin": claim.margin}
            rows.append(row | reading.levels)
    return pd.DataFrame(rows)


def _values(claim, results) -> np.ndarray:
    """Return the value of each training, float [runs]; of a cell the games with another result."""
    parts = []
    for component, columns in claim.selections.items():
        rows = results.get((claim.study, claim.arm, key(columns)))
        if rows is None:
            return np.zeros(0)
        values = np.array(list(final_values(rows).values()))
        if component is None:
            return values
        parts.append(np.abs(values - claim.value[component]))
    return np.sum(parts, axis=0) / 2


def whole(table: pd.DataFrame) -> pd.DataFrame:
    """Return how near every reading comes to all values of a printed table at once.

    ``values`` is the mean distance of a training from print, in margins of the values, and `given`
    the number of values that come out. The outcome is that of the table: it comes out if all do.
    """
    switches = switches_of(table)
    rows = []
    for _, group in table.groupby(["reading", *switches], sort=False):
        distances = []
        for row in group.itertuples():
            distances.append(np.abs(row.values - row.target) / row.margin)
        is_whole = all(map(len, distances))
        values = np.mean(distances, axis=0) if is_whole else np.zeros(0)
        first = group.iloc[0]
        row = {
            "id": "",
            "place": f"{len(group)} values at once",
            "printed": "",
            "reading": first["reading"],
            "value": values.mean() if is_whole else math.nan,
            "low": values.min() if is_whole else math.nan,
            "high": values.max() if is_whole else math.nan,
            "runs": int(group["runs"].min()),
            "outcome": _outcome_of_all(set(group["outcome"])),
            "given": int((group["outcome"] == GIVES).sum()),
        }
        rows.append(row | {switch: first[switch] for switch in switches} | {"values": values})
    return pd.DataFrame(rows).assign(target=0.0, margin=1.0)


def _outcome_of_all(outcomes):
    """Return the outcome of a table with values of these outcomes."""
    for outcome in (OPEN, FAILS, BEYOND, UNDECIDED):
        if outcome in outcomes:
            return outcome
    return GIVES


def switches_of(table: pd.DataFrame) -> list[str]:
    """Return the switches of a table of :func:`curve`."""
    return [name for name in table.columns if name not in (*COLUMNS, "given")]


def shares(table: pd.DataFrame) -> pd.DataFrame:
    """Return for each value in how many readings it comes out, and which switch moves it most."""
    rows = []
    for _, group in table.groupby("id", sort=False):
        counts = group["outcome"].value_counts()
        row = {"place": group["place"].iloc[0], "printed": group["printed"].iloc[0]}
        row |= {"readings": len(group)}
        row |= {outcome: int(counts.get(outcome, 0)) for outcome in SHOWN}
        found = effects(group)
        if len(found):
            row |= found.iloc[0][["switch", "level", "effect", "low", "high"]].to_dict()
        rows.append(row)
    return pd.DataFrame(rows)


def effects(table: pd.DataFrame) -> pd.DataFrame:
    """Return what each level of a switch does to one value, the largest effect first.

    An effect is the mean over all readings with the level less that over all with the text's. Its
    95% interval is that of new trainings of the same readings: their spread is estimated in each
    arm by itself, and readings of the same trainings count as what they are, one sample.

    Parameters
    ----------
    table : DataFrame
        Of :func:`curve` or :func:`whole`, of one value.

    Returns
    -------
    DataFrame
        Columns: switch, level, effect, low, high. Without rows where a reading has no training
        yet: in a part of a design the effects of its switches are mixed up.

    Raises
    ------
    ValueError
        If the table is of several values.

    Source: Welch (1947) for the degrees of freedom.
    """
    if table["id"].nunique() > 1:
        raise ValueError(f"the table is of {table['id'].nunique()} values: select one by its id")
    rows = []
    for switch in switches_of(table) if (table["runs"] > 0).all() else ():
        levels = list(dict.fromkeys(table[switch]))
        for level in levels[1:]:
            weights = _weights(table[switch], levels[0], level)
            rows.append((switch, level, *_contrast(table, weights)))
    found = pd.DataFrame(rows, columns=["switch", "level", "effect", "low", "high"])
    return found.sort_values("effect", key=abs, ascending=False, kind="stable", ignore_index=True)


def _weights(levels, text, level):
    """Return the weight of each reading in a difference of two means."""
    is_level = (levels == level).to_numpy()
    is_text = (levels == text).to_numpy()
    return is_level / is_level.sum() - is_text / is_text.sum()


def _contrast(table, weights):
    """Return a weighted sum of the means of readings, and its interval."""
    parts_of_arm = {}  # readings of one arm are of the same trainings
    for arm, values, weight in zip(table["reading"], table["values"], weights, strict=True):
        parts_of_arm.setdefault(arm, []).append(weight * values)
    mean = 0.0
    variances = []
    freedoms = []
    for parts in parts_of_arm.values():
        of_runs = np.sum(parts, axis=0)
        mean += of_runs.mean()
        if len(of_runs) > 1:
            variances.append(of_runs.var(ddof=1) / len(of_runs))
            freedoms.append(len(of_runs) - 1)
    if len(variances) < len(parts_of_arm):  # of single trainings nobody knows the spread
        return mean, math.nan, math.nan
    variance = sum(variances)
    if variance == 0.0:
        return mean, mean, mean
    of_freedom = sum(one**2 / df for one, df in zip(variances, freedoms, strict=True))
    half = t_quantile((1 + CONFIDENCE) / 2, variance**2 / of_freedom) * math.sqrt(variance)
    return mean, mean - half, mean + half
