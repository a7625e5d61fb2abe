"""The report of a profile: every published value beside ours, from the files that the studies left behind.

    reports/<profile>/data/<study>.results.csv      study, arm, run, episode, metric, value
    reports/<profile>/data/<study>.runs.csv         where each run comes from and what it cost
    reports/<profile>/figures/<study>-<name>.svg    with .csv (its numbers) and .txt (how to read it)
    reports/<profile>/<notebook>.ipynb, .html       executed notebooks
                    |
                    v  build
    reports/<profile>/index.html, index.md, verdicts.svg, timings.md

A missing or damaged file becomes a marked gap and the rest is built. The same input gives the same
bytes: nothing here reads the clock, and facts of the machine that just ran stand in timings.md
only.
"""

import json
import math
import re
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from ..files import reports_directory, write_text
from ..papers import claims
from ..papers.compare import RESULT_COLUMNS, compare
from . import correspondence, pages
from .page import VERDICTS, Link, is_svg

RUN_COLUMNS = [
    "study",
    "arm",
    "run",
    "key",
    "kind",
    "provenance",
    "machine",
    "commit",
    "date",
    "cpu_seconds",
    "moves",
    "moves_per_second",
]
PROVENANCES = (
    "recorded",
    "trained here",
    "re-run here: identical",
    "re-run here: agrees",
    "re-run here: differs",
    "missing",
)
DIFFERS = "re-run here: differs"
HERE = "trained here"


@dataclass(frozen=True)
class Row:
    """One published value: the claim, ours in words, the verdict with its explanation and the runs it needs, and where ours comes from."""

    claim: claims.Claim
    ours: str
    verdict: str
    explanation: str
    runs_needed: float
    difference: float = math.nan  # ours - published
    cost: str = ""
    provenance: str = ""
    notebook: Link | str = ""


@dataclass(frozen=True)
class Figure:
    """A figure of a study: SVG text, file names relative to the page, and how to read it."""

    study: str
    name: str
    svg: str
    caption: str
    numbers: str


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
    """The content of a report: its parts, the runs behind it (DataFrame of all runs.csv), and the gaps found on the way."""

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
    """Build index.html, index.md, verdicts.svg and timings.md of a profile and return their Summary.

    Parameters: profile (str: a folder of `reports`), reports (path, default: beside the data
    folder), published ({key: papers.Paper}, default `papers.all()`). Raises ValueError for a
    profile name that is a path. Example: build("paper").differs == 0 is the condition for a
    successful `make reproduce`.
    """
    if not profile or Path(profile).name != profile:
        raise ValueError(
            f"profile {profile!r} must be the plain name of a folder in reports, for example"
            " 'paper' or 'quick'"
        )
    directory = Path(reports or reports_directory()) / profile
    directory.mkdir(parents=True, exist_ok=True)
    summary = collect(profile, directory, claims.all() if published is None else published)
    drawing = pages.verdict_svg(summary)
    write_text(directory / "verdicts.svg", drawing + "\n")
    write_text(directory / "index.html", pages.html(summary, drawing))
    write_text(directory / "index.md", pages.markdown(summary, drawing))
    write_text(directory / "timings.md", pages.timings(summary))
    return summary


def verdict_picture(summary, path):
    """Write the picture of the verdict table (SVG) for the README."""
    write_text(path, pages.verdict_svg(summary) + "\n")


def collect(profile, directory, published):
    """Read everything a report is made of; see `build`.

    Whatever cannot be read is listed in `gaps`.
    """
    gaps = []
    studies = sorted(
        {claim.study for paper in published.values() for claim in paper.claims if claim.study}
        | _studies(directory)
    )
    runs = pd.concat(
        [_runs(directory, study, gaps) for study in studies] or [_no_runs()], ignore_index=True
    )
    results = {study: _results(directory, study, gaps) for study in studies}
    figures = _figures(directory, studies, gaps)
    notebooks = _notebooks(directory, gaps)
    parts = [_part(paper, results, runs, figures, notebooks, gaps) for paper in published.values()]
    # results first, then by key
    parts.sort(
        key=lambda part: sum(row.verdict in pages.DECIDED for row in part.rows), reverse=True
    )
    shown = {figure for part in parts for figure in part.figures}
    return Summary(
        profile,
        tuple(parts),
        runs,
        tuple(gaps),
        tuple(figure for figure in figures if figure not in shown),
    )


def _studies(directory):
    return {
        path.name.split(".")[0]
        for kind in ("results", "runs")
        for path in (directory / "data").glob(f"*.{kind}.csv")
    }


def _read(path, columns, gaps):
    try:
        table = pd.read_csv(path)
    except (OSError, UnicodeDecodeError, pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        gaps.append(f"{path.name} cannot be read ({type(error).__name__}); run its notebook again")
        return None
    lacking = [column for column in columns if column not in table.columns]
    if lacking:
        gaps.append(f"{path.name} lacks the column {lacking[0]!r}; run its notebook again")
        return None
    return table


def _numeric(table, columns, path, gaps):
    for column in columns:
        numbers = pd.to_numeric(table[column], errors="coerce")
        spoilt = table.loc[numbers.isna() & table[column].notna(), column]
        if len(spoilt):
            gaps.append(
                f"{path.name}: {column} is {spoilt.iloc[0]!r}, not a number; run its notebook again"
            )
        table[column] = numbers
    return table


def _no_runs():
    return pd.DataFrame(
        {column: pd.Series(dtype=object) for column in [*RUN_COLUMNS, "estimated_cpu_seconds"]}
    )


def _runs(directory, study, gaps):
    path = directory / "data" / f"{study}.runs.csv"
    if not path.exists():
        if path.with_name(f"{study}.results.csv").exists():
            gaps.append(
                f"{path.name} is missing, so nothing is known about where the results of {study}"
                " come from"
            )
        return _no_runs()
    table = _read(path, RUN_COLUMNS, gaps)
    if table is None:
        return _no_runs()
    if "estimated_cpu_seconds" not in table.columns:
        table["estimated_cpu_seconds"] = np.nan
    for name in sorted(set(table["provenance"].astype(str)) - set(PROVENANCES)):
        gaps.append(f"{path.name}: provenance {name!r} is none of {', '.join(PROVENANCES)}")
    table["provenance"] = table["provenance"].astype(str)
    return _numeric(
        table, ["cpu_seconds", "moves", "moves_per_second", "estimated_cpu_seconds"], path, gaps
    )


def _results(directory, study, gaps):
    path = directory / "data" / f"{study}.results.csv"
    if not path.exists():
        return None
    table = _read(path, RESULT_COLUMNS, gaps)
    if table is None:
        return None
    table = _numeric(table, ["episode", "value"], path, gaps)
    if table.empty:
        gaps.append(f"{path.name} holds no results yet")
    infinite = table["value"].isna() | np.isinf(table["value"])
    if infinite.any():
        gaps.append(
            f"{path.name}: {int(infinite.sum())} values are missing or not finite and are left out"
        )
    return table[~infinite]


def _figures(directory, studies, gaps):
    figures = []
    for path in sorted((directory / "figures").glob("*.svg")):
        study = max(
            (name for name in studies if path.stem.startswith(name + "-")), key=len, default=""
        )
        svg = _text(path, gaps)
        if not is_svg(svg):
            gaps.append(
                f"the figure {path.name} is not a well-formed drawing; run its notebook again"
            )
            continue
        for suffix, what in ((".txt", "caption"), (".csv", "file with its numbers")):
            if not path.with_suffix(suffix).exists():
                gaps.append(f"the figure {path.name} has no {what}")
        caption = _text(path.with_suffix(".txt"), gaps) if path.with_suffix(".txt").exists() else ""
        numbers = f"figures/{path.stem}.csv" if path.with_suffix(".csv").exists() else ""
        figures.append(
            Figure(study, path.stem, svg[svg.index("<svg") :], " ".join(caption.split()), numbers)
        )
    return figures


def _text(path, gaps):
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        gaps.append(f"{path.name} cannot be read ({type(error).__name__})")
        return ""


def _notebooks(directory, gaps):
    """Study -> the executed notebook that runs it, found by the `Study("<name>"` in its cells."""
    found = {}
    for path in sorted(directory.glob("*.ipynb")):
        try:
            notebook = json.loads(path.read_text(encoding="utf-8"))
            cells = notebook["cells"]
            if notebook.get("metadata", {}).get("failed"):
                gaps.append(
                    f"the notebook {path.stem} failed: "
                    + "".join(cells[0]["source"]).strip().splitlines()[-2].strip()
                )
            source = "\n".join(
                "".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"
            )
        except (OSError, ValueError, KeyError, TypeError):
            gaps.append(f"the notebook {path.name} cannot be read; run it again")
            continue
        page = path.with_suffix(".html")
        for study in re.findall(r"Study\(\s*(?:name\s*=\s*)?[\"']([^\"']+)[\"']", source):
            found.setdefault(study, Link(path.stem, page.name if page.exists() else path.name))
    return found


def _part(paper, results, runs, figures, notebooks, gaps):
    tables = []
    for study in sorted({claim.study or "" for claim in paper.claims}):
        claims = [claim for claim in paper.claims if (claim.study or "") == study]
        try:
            tables.append(compare(claims, results.get(study)))
        except ValueError as error:
            gaps.append(f"the results of {study} cannot be compared: {error}")
            tables.append(compare(claims, None))
    compared = {row["id"]: row for table in tables for row in table.to_dict("records")}
    rows = tuple(_row(claim, compared[claim.id], runs, notebooks) for claim in paper.claims)
    studies = {claim.study for claim in paper.claims if claim.study}
    return Part(paper, rows, tuple(figure for figure in figures if figure.study in studies))


def _row(claim, compared, runs, notebooks):
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
    )


def provenance(rows):
    """Where the trainings of an arm come from, in words: "24 recorded, 1 re-run here: identical"."""
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
    """CPU time per run of an arm in words.

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
    """CPU time to two digits: 0.35 s, 12 s, 3.4 min, 1.2 h.

    Example: duration(204.0) == "3.4 min".
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
