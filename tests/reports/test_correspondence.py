"""The map from the papers to the source: names exist and cite, and citations are in the map."""

import ast
import re

from afterply.studies.reports import pages

PAPER = "konen2021"  # of it every citation must stand in the map, of others their algorithms
CHECKED = ("Alg.", "Eq.")  # in these groups every function must cite its place
PLACE = re.compile(
    r"(Alg|Eq|Sec|App|Table|Fig)s?\.?\s+\(?([A-Z]?\.?\d[\d.]*)\)?((?:(?:,|"
    r" and)\s+\(?[A-Z]?\.?\d[\d.]*\)?)*)"
)


def places(text):
    """Return all places named in a text, one by one: {"Alg. 1", "Eq. (3)", "Table 2"}."""
    forms, found = {"Eq": "Eq. ({})", "Table": "Table {}"}, set()
    for kind, first, more in PLACE.findall(" ".join(text.split())):
        for number in [first, *re.findall(r"[A-Z]?\.?\d[\d.]*", more)]:
            found.add(forms.get(kind, kind + ". {}").format(number.rstrip(".")))
    return found


def citations(text, paper=PAPER):
    """Return the places of a paper that a text cites after the word Source and a colon."""
    sources = re.findall(r"Source:(.*?)(?:Deviations:|\n\s*\n|\Z)", text, re.DOTALL)
    parts = [part for source in sources for part in re.findall(rf"\[{paper}\]([^\[]*)", source)]
    return set().union(*map(places, parts))


def definitions(node=None, name=""):
    """Return what the package defines: {"learners.td.adapt": (docstring, is it code)}.

    With members of classes, constants and keys of constant dictionaries.
    """
    found = {}
    if node is None:
        for path in sorted(pages.PACKAGE.rglob("*.py")):
            module = ".".join(path.relative_to(pages.PACKAGE).with_suffix("").parts)
            found |= definitions(ast.parse(path.read_text(encoding="utf-8")), module)
        return found
    found[name] = (ast.get_docstring(node) or "", not isinstance(node, ast.Module))
    for part in () if isinstance(node, ast.FunctionDef) else node.body:
        if isinstance(part, (ast.FunctionDef, ast.ClassDef)):
            found |= definitions(part, f"{name}.{part.name}")
        elif isinstance(part, (ast.Assign, ast.AnnAssign)):
            keys = part.value.keys if isinstance(part.value, ast.Dict) else ()
            names = [f"[{key.value!r}]" for key in keys if isinstance(key, ast.Constant)]
            for target in part.targets if isinstance(part, ast.Assign) else [part.target]:
                for item in target.elts if isinstance(target, ast.Tuple) else [target]:
                    full = f"{name}.{ast.unparse(item)}"
                    found |= {full + key: ("", False) for key in ("", *names)}
    return found


def problems(groups, found):
    """Return what does not fit, one text each.

    Names that do not exist, functions that do not cite their place, citations that the map lacks.
    """
    texts, mapped = [], set()
    for group in groups:
        for row in group["rows"]:
            where, cite = f"{group['title']}, {row['at']}", row["cite"]
            mapped |= {(group["paper"], name, cite) for name in row["ours"]}
            for name in row["ours"]:
                docstring, is_code = found.get(name, ("", False))
                if name not in found:
                    texts.append(f"{where}: the package has no {name}")
                elif cite.startswith(CHECKED) and is_code:
                    if cite not in citations(docstring, group["paper"]):
                        texts.append(f"{where}: {name} does not say Source: {cite}")
            if not row["ours"] and group["status"] == "built":
                texts.append(f"{where}: names no function although its status is built")
    for paper in {PAPER, *(group["paper"] for group in groups)}:
        for name, (docstring, _) in found.items():
            for place in sorted(citations(docstring, paper)):
                wanted = paper == PAPER or place.startswith(CHECKED)
                if wanted and (paper, name, place) not in mapped:
                    texts.append(f"{name} cites {place} of {paper}, which the map lacks")
    return texts


def test_the_map_fits_the_source_and_holds_all_algorithms_and_equations():
    groups, found = pages.correspondence(), definitions()
    assert problems(groups, found) == []
    rows = [(group, row) for group in groups for row in group["rows"]]
    cited = " ".join(f"{group['title']} {row['at']} {row['cite']}" for group, row in rows)
    wanted = [f"Alg. {n}" for n in range(1, 8)] + [f"Eq. ({n})" for n in range(1, 6)]
    assert all(place in cited for place in wanted)
    for _, row in rows:
        for name, href in row["links"]:
            file = href.removeprefix("../../lib/afterply/")
            assert (pages.PACKAGE / file).is_file(), name
