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
        made, former = json.loads(text), json.loads(before or '{"cells": []}')
        known = {cell.get("id"): cell for cell in former["cells"]}
        made["metadata"] |= {"kernelspec": KERNEL, "language_info": {"name": "python"}}
        for cell in made["cells"]:
            old = known.get(cell.get("id"), {})
            for name in VIEW:
                cell["metadata"].pop(name, None)
            if cell["cell_type"] != "code":
                continue
            same = cell["source"] == old.get("source") and old.get("cell_type") == "code"
            if CHECKED not in cell["metadata"].get("tags", ()):
                cell |= {"execution_count": None, "outputs": []}
            elif same:
                cell |= {name: old[name] for name in ("execution_count", "outputs")}
        made["cells"] = [_like(cell, known.get(cell.get("id"))) for cell in made["cells"]]
        return json.dumps(_like(made, former), indent=1, ensure_ascii=False) + "\n"
    except (ValueError, KeyError, TypeError, AttributeError):
        return text


def _like(new, old):
    """Return a value with its fields in the order of an old one; others follow, sorted."""
    if not isinstance(new, dict):
        return new
    old = old if isinstance(old, dict) else {}
    order = [name for name in old if name in new]
    order += sorted(name for name in new if name not in old)
    return {name: _like(new[name], old.get(name)) for name in order}


def saved(os_path, **_) -> None:
    """Let git see that a notebook was saved without an edit; ``make lab`` calls it after a save.

    ``git status`` compares sizes before it asks the filter, and so would name the notebook, and
    ``git pull`` refuse to replace it, until it is added. Here that stages nothing.
    """
    at = {"cwd": os.path.dirname(os_path), "capture_output": True}
    try:
        if subprocess.run(["git", "diff", "--quiet", "--", os_path], **at).returncode == 0:
            subprocess.run(["git", "add", "--update", "--", os_path], **at)
    except OSError:  # there is no git
        pass


def main(path: str) -> None:
    """Filter standard input; the former text is that of the file `path` in the index of git."""
    found = subprocess.run(["git", "show", f":{path}"], capture_output=True)  # b"" of a new file
    text = sys.stdin.buffer.read().decode()
    sys.stdout.buffer.write(stripped(text, found.stdout.decode()).encode())


if __name__ == "__main__":
    main(sys.argv[1])
