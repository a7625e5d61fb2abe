"""The report of a profile: every published value beside ours, from the studies' files.

    reports/<profile>/data/<study>.results.csv      study, arm, run, episode, metric, value
    reports/<profile>/data/<study>.runs.csv         where each run comes from and what it cost
    reports/<profile>/figures/<study>-<name>.svg    with .csv (numbers) and .txt (how to read it)
    reports/<profile>/<notebook>.ipynb, .html       executed notebooks
                    |
                    v  build
    reports/<profile>/index.html, index.md, verdicts.svg, timings.md

A missing or damaged file becomes a marked gap and the rest is built. The same input gives the same
bytes: nothing here reads the clock, and facts of the machine that just ran stand in timings.md
only.
"""

import math
import sys
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path

import pandas as pd

from ..files import reports_directory, write_text
from ..papers import claims
from ..papers.compare import compare
from . import correspondence, pages, sources
from .labels import DECIDED, VERDICTS
from .page import Link
from .sources import PROVENANCES
from .verdict_picture import verdict_svg

DIFFERS = "re-run here: differs"
HERE = "trained here"


@dataclass(frozen=True)
class Row:
    """One published value: the claim, ours in words, the verdict, and where ours comes from."""

    claim: claims.Claim
    ours: str
    verdict: str
    explanation: str
    runs_needed: float
    difference: float = math.nan  # ours - published
    cost: str = ""
    provenance: str = ""
    notebook: Link | str = ""
    former_verdict: str = ""  # by the margin before its rule was changed


@dataclass(frozen=True)
class Part:
    """What the report says about one paper."""

    paper: claims.Paper
    rows: tuple
    figures: tuple

    @property
    def verdicts(self):
        """Number of claims by verdict, in the fixed order of the labels."""
        counts = Counter(row.verdict for row in self.rows)
        return {label: counts[label] for label in VERDICTS}


@dataclass(frozen=True)
class Summary:
    """The content of a report: its parts, the runs behind it (all runs.csv), and the gaps found."""

    profile: str
    parts: tuple
    runs: pd.DataFrame
    gaps: tuple = ()
    loose_figures: tuple = field(default=())

    @property
    def verdicts(self):
        """Number of claims by verdict over all papers."""
        return {label: sum(part.verdicts[label] for part in self.parts) for label in VERDICTS}

    @property
    def provenance(self):
        """Number of runs and evaluations by where they come from."""
        counts = Counter(self.runs["provenance"])
        return {
            name: counts[name] for name in (*PROVENANCES, *sorted(set(counts) - set(PROVENANCES)))
        }

    @property
    def differs(self):
        """Number of records that did not come out again: anything above 0 must fail the build."""
        return self.provenance[DIFFERS]

    @property
    def missing_hours(self):
        """Estimated CPU hours of what is missing, nan if a missing run has no estimate."""
        lacking = self.runs[self.runs["provenance"] == "missing"]
        return lacking["estimated_cpu_seconds"].sum(skipna=False) / 3600 if len(lacking) else 0.0


def build(profile, reports=None, published=None):
    """Build index.html, index.md, verdicts.svg and timings.md of a profile.

    ``build("paper").differs == 0`` is the condition for a successful `make reproduce`.

    Parameters
    ----------
    profile : str
        A folder of `reports`.
    reports : path, optional
        Default: beside the data folder.
    published : dict, optional
        Key -> papers.Paper (default: all papers).

    Returns
    -------
    Summary

    Raises
    ------
    ValueError
        For a profile name that is a path.
    """
    if not profile or Path(profile).name != profile:
        raise ValueError(
            f"profile {profile!r} must be the plain name of a folder in reports, for example"
            " 'paper' or 'quick'"
        )
    directory = Path(reports or reports_directory()) / profile
    directory.mkdir(parents=True, exist_ok=True)
    summary = collect(profile, directory, claims.all() if published is None else published)
    drawing = verdict_svg(summary)
    write_text(directory / "verdicts.svg", drawing + "\n")
    write_text(directory / "index.html", pages.html(summary, drawing))
    write_text(directory / "index.md", pages.markdown(summary, drawing))
    write_text(directory / "timings.md", pages.timings(summary))
    return summary


def collect(profile, directory, published):
    """Read everything a report is made of; see `build`.

    Whatever cannot be read is listed in `gaps`.
    """
    gaps = []
    studies = sorted(
        {claim.study for paper in published.values() for claim in paper.claims if claim.study}
        | sources.studies(directory)
    )
    runs = pd.concat(
        [sources.runs(directory, study, gaps) for study in studies] or [sources.no_runs()],
        ignore_index=True,
    )
    results = {study: sources.results(directory, study, gaps) for study in studies}
    figures = sources.figures(directory, studies, gaps)
    notebooks = sources.notebooks(directory, runs, gaps)
    parts = [_part(paper, results, runs, figures, notebooks, gaps) for paper in published.values()]
    # results first, then by key
    parts.sort(key=lambda part: sum(row.verdict in DECIDED for row in part.rows), reverse=True)
    shown = {figure for part in parts for figure in part.figures}
    return Summary(
        profile,
        tuple(parts),
        runs,
        tuple(gaps),
        tuple(figure for figure in figures if figure not in shown),
    )


def _part(paper, results, runs, figures, notebooks, gaps):
    compared, formerly = {}, {}
    for study in sorted({claim.study or "" for claim in paper.claims}):
        claims = [claim for claim in paper.claims if (claim.study or "") == study]
        changed = [replace(c, margin=c.former_margin) for c in claims if c.former_margin]
        try:
            table, before = (
                compare(claims, results.get(study)),
                compare(changed, results.get(study)),
            )
        except ValueError as error:
            gaps.append(f"the results of {study} cannot be compared: {error}")
            table, before = compare(claims, None), compare(changed, None)
        compared |= {row["id"]: row for row in table.to_dict("records")}
        formerly |= dict(zip(before["id"], before["verdict"], strict=True))
    rows = tuple(
        _row(claim, compared[claim.id], formerly.get(claim.id, ""), runs, notebooks)
        for claim in paper.claims
    )
    studies = {claim.study for claim in paper.claims if claim.study}
    return Part(paper, rows, tuple(figure for figure in figures if figure.study in studies))


def _row(claim, compared, formerly, runs, notebooks):
    mine = runs[(runs["study"] == claim.study) & (runs["arm"] == claim.arm)]
    if not compared["ours"]:
        # the arm's other runs do not answer this claim
        mine = mine[mine["provenance"] == "missing"]
    notebook = notebooks.get(claim.study, "") if len(mine) or compared["ours"] else ""
    difference = (
        compared["mean"] - claim.value if isinstance(claim.value, (int, float)) else math.nan
    )
    return Row(
        claim,
        compared["ours"],
        compared["verdict"],
        compared["explanation"] or "",
        compared["runs_needed"],
        difference,
        cost(mine),
        provenance(mine),
        notebook,
        formerly,
    )


def provenance(rows):
    """Return where the trainings of an arm come from: "24 recorded, 1 re-run here: identical"."""
    counts = Counter(
        rows.loc[rows["kind"] == "train", "provenance"]
        if (rows["kind"] == "train").any()
        else rows["provenance"]
    )
    known = [name for name in PROVENANCES if counts[name]]
    return ", ".join(
        f"{counts[name]} {name}" for name in [*known, *sorted(set(counts) - set(PROVENANCES))]
    )


def cost(rows):
    """Return the CPU time of a run of an arm in words.

    Times of this machine are left to timings.md, so that the page stays the same elsewhere.
    """
    trained = rows[
        (rows["kind"] == "train") & rows["cpu_seconds"].notna() & (rows["provenance"] != HERE)
    ]
    lacking = rows[rows["provenance"] == "missing"]
    texts = [f"{duration(trained['cpu_seconds'].mean())} a run"] if len(trained) else []
    # 0: not known here
    if (
        lacking["estimated_cpu_seconds"].notna().all()
        and lacking["estimated_cpu_seconds"].sum() > 0
    ):
        texts.append(f"missing: {duration(lacking['estimated_cpu_seconds'].sum())} in all")
    if not texts and (rows["provenance"] == HERE).any():
        return "see timings"
    return "; ".join(texts)


def duration(seconds):
    """Return CPU seconds to two digits, in seconds, minutes or hours.

    >>> duration(204.0)
    '3.4 min'
    """
    for size, unit in ((3600, "h"), (60, "min"), (1, "s")):
        if seconds >= size or unit == "s":
            amount = seconds / size
            return f"{amount:.0f} {unit}" if amount >= 10 else f"{amount:.2g} {unit}"
    raise ValueError(f"{seconds!r} is not a duration in seconds")


def main(arguments=None):
    """Build report and correspondence of the profile named on the command line.

    Exit status 1 if a re-run record differs, else 0.
    """
    arguments = sys.argv[1:] if arguments is None else arguments
    profile = arguments[0] if arguments else "paper"
    summary = build(profile)
    correspondence.build(profile)
    print("\n".join(pages.status_lines(summary)))
    for gap in summary.gaps:
        print(f"gap: {gap}")
    return 1 if summary.differs else 0


if __name__ == "__main__":
    sys.exit(main())
