"""The papers beside the source: which function is which equation or line of [konen2021].

And which is which of Algorithm 1 and the equations of [scheiermann2022].

    data/correspondence.yaml   the map
    build                      reports/<profile>/correspondence.html and .md
    problems                   what in the map and in the docstrings does not fit (must be empty)

Names and citations are read from the source text, so nothing is imported or compiled for this.
"""

import ast
import re
from dataclasses import dataclass
from pathlib import Path


from ..files import published_file, read_yaml, reports_directory, write_text
from . import schematics
from .page import Drawing, Heading, Link, Paragraph, Table, to_markdown
from .templating import render, write_assets

PACKAGE = Path(__file__).resolve().parents[1]
TITLE = "Correspondence: the papers beside the source"
ABOUT = (
    "Each symbol, equation and algorithm line of konen2021, and the algorithm of scheiermann2022,"
    " with the function or parameter that implements it. The column on the authors' software GBG"
    " repeats Table 3 of konen2021. A test compares this page with the docstrings."
)
CAPTIONS = {
    "schematic-afterstate": (
        "A move has a deterministic part, which leads to the afterstate, and a random part. What is"
        " learned is the value of afterstates."
    ),
    "schematic-networks": (
        "TD-learning asks one output once per afterstate; SARSA and Q-learning need one output per"
        " action."
    ),
}
PAPER = "konen2021"  # of groups that name none
GROUP_FIELDS, ROW_FIELDS = (
    {"title", "cite", "status", "rows"},
    {"at", "cite", "says", "ours", "theirs", "note"},
)
PLACE = re.compile(
    r"(Alg|Eq|Sec|App|Table|Fig)s?\.?\s+\(?([A-Z]?\.?\d[\d.]*)\)?((?:(?:,|"
    r" and)\s+\(?[A-Z]?\.?\d[\d.]*\)?)*)"
)
CHECKED = ("Alg.", "Eq.")  # in these groups every function must cite its place


@dataclass(frozen=True)
class Entry:
    """One line of the map; `cite` as in docstrings ("Alg. 2"), `ours` = names in the package."""

    group: str
    status: str
    at: str
    cite: str
    says: str
    ours: tuple
    theirs: str
    note: str
    paper: str = PAPER


def load(path=None):
    """Load the map.

    Raises ValueError for an unknown field, status, or a row without place and content.
    """
    path = Path(path or published_file("correspondence.yaml"))
    entries = []
    for group in read_yaml(path).get("groups", []):
        _check(group, GROUP_FIELDS | {"paper"}, GROUP_FIELDS, path.name)
        if group["status"] not in ("built", "planned"):
            raise ValueError(
                f"{path.name}: group {group['title']!r} has the status {group['status']!r}; it must"
                " be built or planned"
            )
        for row in group["rows"]:
            _check(
                row, ROW_FIELDS, {"at", "says", "ours"}, f"{path.name}, group {group['title']!r}"
            )
            entries.append(
                Entry(
                    group["title"],
                    group["status"],
                    str(row["at"]),
                    row.get("cite", group["cite"]),
                    row["says"],
                    tuple(row["ours"]),
                    row.get("theirs", ""),
                    row.get("note", ""),
                    group.get("paper", PAPER),
                )
            )
    return entries


def build(profile, reports=None):
    """Write correspondence.html and correspondence.md of a profile.

    Where map and source do not fit, the page says so.
    """
    entries = load()
    directory = Path(reports or reports_directory()) / profile
    drawings = {
        "schematic-afterstate": schematics.schematic_afterstate().svg(),
        "schematic-networks": schematics.schematic_networks().svg(),
    }
    for name, svg in drawings.items():
        write_text(directory / f"{name}.svg", svg)
    gaps = problems(entries)
    write_assets(directory)
    write_text(directory / "correspondence.html", html(entries, gaps))
    write_text(directory / "correspondence.md", to_markdown(page(entries, gaps)))


def html(entries, gaps=()):
    """Return the page as HTML."""
    groups = []
    for title in dict.fromkeys(entry.group for entry in entries):
        rows = [entry for entry in entries if entry.group == title]
        groups.append(
            {
                "title": title + (" (planned)" if rows[0].status == "planned" else ""),
                "rows": [vars(row) | {"links": _links(row)} for row in rows],
            }
        )
    drawings = [{"name": name, "caption": text} for name, text in CAPTIONS.items()]
    return render(
        "correspondence.html",
        title=TITLE,
        about=ABOUT,
        gaps=gaps,
        drawings=drawings,
        groups=groups,
    )


def page(entries, gaps=()):
    """Return the page as blocks of Markdown: schematic figures, then one table a group."""
    blocks = [Heading(1, TITLE), Paragraph(ABOUT), *(Paragraph(gap, "gap") for gap in gaps)]
    blocks += [
        Drawing(f"{name}.svg", name.replace("-", " of the idea: "), caption)
        for name, caption in CAPTIONS.items()
    ]
    for group in dict.fromkeys(entry.group for entry in entries):
        rows = [entry for entry in entries if entry.group == group]
        blocks.append(Heading(2, group + (" (planned)" if rows[0].status == "planned" else "")))
        blocks.append(
            Table(
                ("Paper", "What it says", "Here", "In GBG", "Remark"),
                tuple((row.at, row.says, _names(row), row.theirs, row.note) for row in rows),
            )
        )
    return blocks


def definitions(package=PACKAGE):
    """Return what the package defines: {"learners.td.adapt": (docstring, is it code)}.

    With members of classes, constants and keys of constant dictionaries.
    """
    found = {}
    for path in sorted(Path(package).rglob("*.py")):
        module = ".".join(path.relative_to(package).with_suffix("").parts)
        tree = ast.parse(path.read_text(encoding="utf-8"))
        found[module] = (ast.get_docstring(tree) or "", False)
        for node in tree.body:
            _define(node, module, found)
    return found


def citations(text, paper=PAPER):
    """Return the places of a paper that a text cites after the word Source and a colon.

    A set such as {"Alg. 2", "Eq. (3)"}.
    """
    found = set()
    for source in re.findall(r"Source:(.*?)(?:Deviations:|\n\s*\n|\Z)", text, re.DOTALL):
        for part in re.findall(rf"\[{paper}\]([^\[]*)", source):
            found |= places(part)
    return found


def places(text):
    """Return all places named in a text, one by one.

    >>> sorted(places("Alg. 1, 2 and 7"))
    ['Alg. 1', 'Alg. 2', 'Alg. 7']
    """
    found = set()
    for kind, first, more in PLACE.findall(" ".join(text.split())):
        for number in [first, *re.findall(r"[A-Z]?\.?\d[\d.]*", more)]:
            number = number.rstrip(".")
            found.add(
                f"Eq. ({number})"
                if kind == "Eq"
                else f"{kind} {number}"
                if kind == "Table"
                else f"{kind}. {number}"
            )
    return found


def problems(entries, found=None):
    """Return what does not fit, one text each.

    Names that do not exist, functions that do not cite their place, citations that the map lacks.
    """
    found = definitions() if found is None else found
    texts = []
    for entry in entries:
        for name in entry.ours:
            if name not in found:
                texts.append(f"{entry.group}, {entry.at}: the package has no {name}")
            elif (
                entry.cite.startswith(CHECKED)
                and found[name][1]
                and entry.cite not in citations(found[name][0], entry.paper)
            ):
                texts.append(
                    f"{entry.group}, {entry.at}: the docstring of {name} does not say Source:"
                    f" [{entry.paper}] {entry.cite}"
                )
        if not entry.ours and entry.status == "built":
            texts.append(
                f"{entry.group}, {entry.at}: names no function although its status is built"
            )
    return texts + _unmapped(entries, found)


def _unmapped(entries, found):
    """Return citations that the map lacks; of other papers than the first only its algorithms."""
    mapped = {(entry.paper, name, entry.cite) for entry in entries for name in entry.ours}
    papers = dict.fromkeys([PAPER, *(entry.paper for entry in entries)])
    return [
        f"the docstring of {name} cites {place} of {paper}, which data/correspondence.yaml does"
        " not give for it"
        for paper in papers
        for name, (docstring, _) in found.items()
        for place in sorted(citations(docstring, paper))
        if (paper, name, place) not in mapped and (paper == PAPER or place.startswith(CHECKED))
    ]


def _define(node, prefix, found):
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        name = f"{prefix}.{node.name}"
        found[name] = (ast.get_docstring(node) or "", True)
        for inner in node.body:
            if isinstance(inner, (ast.FunctionDef, ast.ClassDef)) or isinstance(node, ast.ClassDef):
                _define(inner, name, found)
    elif isinstance(node, ast.Assign):
        for target in node.targets:
            for item in target.elts if isinstance(target, ast.Tuple) else [target]:
                found[f"{prefix}.{ast.unparse(item)}"] = ("", False)
        if isinstance(node.value, ast.Dict) and isinstance(node.targets[0], ast.Name):
            keys = [key.value for key in node.value.keys if isinstance(key, ast.Constant)]
            found.update({f"{prefix}.{node.targets[0].id}[{key!r}]": ("", False) for key in keys})
    elif isinstance(node, ast.AnnAssign):
        found[f"{prefix}.{ast.unparse(node.target)}"] = ("", False)


def _names(entry):
    links = [Link(text, href) if href else text for text, href in _links(entry)]
    return tuple(part for link in links for part in (link, ", "))[:-1]


def _links(entry):
    if not entry.ours:
        return [("planned", "")] if entry.status == "planned" else []
    return [(name, "../../lib/afterstate/" + _file(name)) for name in entry.ours]


def _file(name):
    """Return the file that defines a name: the longest beginning of the name that is a module."""
    parts = name.split(".")
    files = ("/".join(parts[:k]) + ".py" for k in range(len(parts), 0, -1))
    return next((file for file in files if (PACKAGE / file).exists()), "")


def _check(entry, known, required, where):
    for name in entry:
        if name not in known:
            raise ValueError(
                f"{where}: unknown field {name!r}; the fields are {', '.join(sorted(known))}"
            )
    for name in sorted(required):
        if name not in entry:
            raise ValueError(
                f"{where}: {entry.get('at', entry.get('title', 'an entry'))!r} lacks the field"
                f" {name!r}"
            )
