"""A filter of git: of a notebook that was run and saved, only one's own edits are seen.

``make`` sets it up in a clone (``.gitattributes``, ``git config filter.afterply.clean``). Git hands
it a notebook on its way from the folder into the index, as in ``git status``, ``diff`` and ``add``;
the file in the folder stays as it is. Only the standard library is used, and nothing of this
package, so that git need not wait.
"""

import json
import os
import subprocess
import sys

CHECKED = "nbval-check-output"  # what such a cell must print is part of the notebook
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
# of a cell: how it was shown and when it was run
VIEW = ("ExecuteTime", "collapsed", "editable", "execution", "scrolled", "slideshow", "trusted")


def stripped(text: str, before: str = "") -> str:
    """Return a notebook without what running and saving it leaves; `before` is its former text.

    Cells that are checked keep the output that they had while their source is the same. Fields are
    in their former order. A text that is no notebook stays as it is.
    """
    try:
        notebook = json.loads(text)
        former = json.loads(before) if before else {"cells": []}
        return json.dumps(_stripped(notebook, former), indent=1, ensure_ascii=False) + "\n"
    except (ValueError, KeyError, TypeError, AttributeError):
        return text


def _stripped(notebook: dict, former: dict) -> dict:
    former_cells = {cell.get("id"): cell for cell in former["cells"]}
    notebook["metadata"] |= {"kernelspec": KERNEL, "language_info": {"name": "python"}}
    cells = []
    for cell in notebook["cells"]:
        former_cell = former_cells.get(cell.get("id"), {})
        for name in VIEW:
            cell["metadata"].pop(name, None)
        if cell["cell_type"] == "code":
            _strip_output(cell, former_cell)
        cells.append(_in_order_of(former_cell, cell))
    notebook["cells"] = cells
    return _in_order_of(former, notebook)


def _strip_output(cell, former_cell):
    if CHECKED not in cell["metadata"].get("tags", ()):
        cell["execution_count"] = None
        cell["outputs"] = []
    elif _has_same_source(cell, former_cell):
        cell["execution_count"] = former_cell["execution_count"]
        cell["outputs"] = former_cell["outputs"]


def _has_same_source(cell, former_cell) -> bool:
    was_code = former_cell.get("cell_type") == "code"
    return was_code and cell["source"] == former_cell.get("source")


def _in_order_of(former, value):
    """Return a value with its fields in the order of a former one; others follow, sorted."""
    if not isinstance(value, dict):
        return value
    if not isinstance(former, dict):
        former = {}
    names = [name for name in former if name in value]
    names += sorted(name for name in value if name not in former)
    return {name: _in_order_of(former.get(name), value[name]) for name in names}


def saved(os_path, **_) -> None:
    """Let git see that a notebook was saved without an edit; ``make lab`` calls it after a save.

    ``git status`` compares sizes before it asks the filter, and so would name the notebook, and
    ``git pull`` refuse to replace it, until it is added. Here that stages nothing.
    """
    options = {"cwd": os.path.dirname(os_path), "capture_output": True}
    try:
        diff = subprocess.run(["git", "diff", "--quiet", "--", os_path], **options)
        if diff.returncode == 0:
            subprocess.run(["git", "add", "--update", "--", os_path], **options)
    except OSError:  # there is no git
        pass


def main(path: str) -> None:
    """Filter standard input; the former text is that of the file `path` in the index of git."""
    show = subprocess.run(["git", "show", f":{path}"], capture_output=True)
    before = show.stdout.decode()  # "" of a new file
    text = sys.stdin.buffer.read().decode()
    sys.stdout.buffer.write(stripped(text, before).encode())


if __name__ == "__main__":
    main(sys.argv[1])
