"""The papers beside the source: which function is which equation or line of an algorithm.

``data/correspondence.yaml`` holds the map; a test compares it with the docstrings.
"""

from pathlib import Path

from ..files import published_file, read_yaml

PACKAGE = Path(__file__).resolve().parents[1]


def load():
    """Return the groups of the map: title, status, cite, paper, and rows.

    A row has at, cite (as in docstrings: "Alg. 2"), says, ours (names in the package), theirs,
    note, and links: each name with the address of its file.
    """
    groups = read_yaml(published_file("correspondence.yaml"))["groups"]
    for group in groups:
        group.setdefault("paper", "konen2021")
        for row in group["rows"]:
            links = [(name, f"../../lib/afterstate/{_file(name)}") for name in row["ours"]]
            row |= {"cite": group["cite"], "theirs": "", "note": "", "links": links} | row
            row["at"] = str(row["at"])
    return groups


def _file(name):
    """Return the file that defines a name: the longest beginning of it that is a module."""
    parts = name.split(".")
    files = ("/".join(parts[:k]) + ".py" for k in range(len(parts), 0, -1))
    return next((file for file in files if (PACKAGE / file).exists()), "")
