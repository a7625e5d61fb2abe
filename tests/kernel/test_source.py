"""What a file of the package imports, read from the lines that import."""

import ast

from afterstate.kernel import source


def imported_by_the_parser(file):
    """The files of the package that a file imports anywhere, found in its whole syntax tree."""
    found = set()
    for node in ast.walk(ast.parse(source.SOURCES[file])):
        if isinstance(node, ast.ImportFrom):
            above = file.split("/")[: -node.level] if node.level else None
            words = (node.module or "").split(".")
            if above is None:
                if words[0] != "afterstate":
                    continue
                above, words = [], words[1:]
            base = [*above, *filter(None, words)]
            paths = ["/".join(base), *("/".join([*base, alias.name]) for alias in node.names)]
        elif isinstance(node, ast.Import):
            names = [alias.name.split(".") for alias in node.names]
            paths = ["/".join(words[1:]) for words in names if words[0] == "afterstate"]
        else:
            continue
        for path in paths:
            for end in (f"{path}.py", f"{path}/__init__.py".lstrip("/")):
                if end in source.SOURCES:
                    found.add(end)
    return found


def test_no_import_is_missed():
    for file, content in source.SOURCES.items():
        found = set(source._imported(file, content))
        assert imported_by_the_parser(file) <= found, file
