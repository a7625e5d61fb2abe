"""The words of the first page, and the first page as Markdown for code hosts (one screen)."""

from .labels import STATEMENTS, VERDICTS
from .missing import needs
from .page import Drawing, Heading, Link, Paragraph, Table, to_markdown

ABOUT = (
    "Programs that learn board games by playing against themselves, written anew in this library,"
    " are held against what the papers below print about theirs."
)
HOW = (
    "Each statement is a statistical test on independent training runs of ours, and each printed"
    " value has a verdict against a margin fixed before the runs (one was changed later)."
)
STATEMENTS_NOTE = (
    "A statement is the paper's own sentence, read as a test on our runs. It holds if the test"
    " confirms it at 5% (Holm's correction over all statements of the paper), does not hold if a"
    " test of the contrary does, and is undecided otherwise; of a statement with several parts"
    " every part must hold, or most if the paper says so. p* is the p value of the"
    " contrary where a statement does not hold, else that of the statement itself. It is corrected"
    " twice: by Holm, and, where few runs may be skewed, by a factor of 50 (see the page of"
    " changes)."
    " So a statement can be undecided although the 95% interval of its difference leaves out 0."
)
STATEMENTS_GUARANTEE = (
    "False verdicts, by simulation (tests/papers/test_statements.py) of each kind of test"
    " with 3, 5, 10 and 25 runs that are normal, flat, exponential or lognormal, with the tail"
    " where the statement fails: a false statement passes as holding in at most 5% of cases."
    " For that p values of t tests count 50 times where there is one series of runs, where two"
    " arms differ in their number of runs, and where one arm has less than a third of the"
    " other's spread; a bound needs five runs. Without it a false bound passed with ten"
    " exponential runs in 13% of cases, with ten lognormal ones in 20%. Two arms of one shape"
    " and as many runs pass in at most 5% as they are.",
    "Not guaranteed: two arms of different shapes (one of them skewed and the other not, or"
    " both with their tails where the statement fails): up to 7% of false verdicts with equal"
    " spread in the first case, up to 18% in the worst. And no test of so few runs sees what"
    " they do not show: if one run of ten fails, no failure is among five runs in 59% of"
    " cases, among ten in 35%, among 25 in 7%; then a statement that is false for this failure"
    " alone may pass.",
    "Games until convergence: a training that did not converge stands at its cap and is a"
    " lower bound. Where a low value would help a statement, it counts as the largest value of"
    " either arm, and where no run converged there the statement cannot hold.",
)


def written(paper):
    """Say when the tests of a paper's statements were written down."""
    return (
        f"The tests of this paper were written down in November 2026, {paper.statements_written};"
        " those that were changed when their verdicts were known are on the page of changes."
    )


def status_lines(summary):
    """Return the two lines of numbers: published values by verdict, runs by provenance."""
    total = sum(summary.verdicts.values())
    values = " · ".join(f"{number} {label}" for label, number in summary.verdicts.items())
    runs = " · ".join(f"{number:,} {name}" for name, number in summary.provenance.items())
    hours = f" ({summary.missing_hours:.1f} CPU h)" if summary.missing_hours > 0 else ""
    return (
        f"Published values ({total} in {len(summary.parts)} papers): {values}",
        f"Runs and evaluations ({len(summary.runs):,}): {runs}{hours}",
    )


def index_markdown(summary, has_figure, waiting):
    """Return the first page as Markdown: statements, values by verdict, links.

    waiting: notebooks that have no result yet, each with title, href and cost.
    """
    page = [Heading(1, "What the papers say, and what comes out"), Paragraph(f"{ABOUT} {HOW}")]
    if summary.profile != "paper":
        page.append(Paragraph(f"Profile {summary.profile}: reduced scale."))
    page += [Paragraph(gap, "gap") for gap in summary.gaps[:3]]
    if len(summary.gaps) > 3:
        page.append(Paragraph(f"and {len(summary.gaps) - 3} more gaps", "gap"))
    page += [
        Paragraph((Link(item["title"], item["href"]), f": not run yet ({item['cost']})"), "gap")
        for item in waiting
    ]
    rows = [row for part in summary.parts for row in _statements(part, summary.lacking)]
    if rows:
        columns = ("Paper", "Statement, as tested", "What came out (p*: corrected)", "Verdict")
        page.append(Table(columns, tuple(rows)))
    counts = [
        (Link(part.paper.key, part.page), *(n or "" for n in part.verdicts.values()))
        for part in summary.parts
    ]
    page.append(Table(("Paper", *VERDICTS), tuple(counts)))
    if has_figure:
        page.append(Drawing("main.svg", "The main table, published and ours"))
    pages = (
        "The pages (",
        Link("index.html", "index.html"),
        " and one a paper) show every value with interval, reason and origin; open them from a"
        " clone. Also here: ",
        Link("correspondence with the source", "correspondence.md"),
        ", ",
        Link("times", "timings.md"),
        ".",
    )
    return to_markdown([*page, Paragraph(pages), Paragraph("\n".join(status_lines(summary)))])


def _statements(part, lacking):
    waiting = needs(part, lacking)
    for row in part.statements:
        look = STATEMENTS[row.verdict]
        number = waiting.get(row.statement.id, {"text": row.number})["text"]
        yield (part.paper.key, row.tested, number, f"{look.symbol} {row.verdict}")
