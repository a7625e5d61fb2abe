"""The papers beside the source: which function is which equation or line of an algorithm.

``data/correspondence.yaml`` holds the map; a test compares it with the docstrings.
"""

from pathlib import Path

from ..files import published_file, read_yaml

PACKAGE = Path(__file__).resolve().parents[1]


def load(path=None):
    """Return the groups of the map: title, status, cite, paper, and rows.

    A row has at, cite (as in docstrings: "Alg. 2"), says, ours (names in the package), theirs,
    note, and links: each name with the address of its file.
    """
    groups = read_yaml(path or published_file("correspondence.yaml"))["groups"]
    return [{"paper": "konen2021"} | group | {"rows": list(_rows(group))} for group in groups]


def _rows(group):
    for row in group["rows"]:
        links = [(name, f"../../lib/afterstate/{file_of(name)}") for name in row["ours"]]
        full = {"cite": group["cite"], "theirs": "", "note": "", "links": links} | row
        yield full | {"at": str(row["at"])}


def file_of(name):
    """Return the file that defines a name, the longest beginning of it that is a module.

    >>> file_of("networks.lookup.Net.weights")
    'networks/lookup.py'
    """
    parts = name.split(".")
    files = ("/".join(parts[:k]) + ".py" for k in range(len(parts), 0, -1))
    return next((file for file in files if (PACKAGE / file).exists()), "")
