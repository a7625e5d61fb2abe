"""Print the table of all games that the README shows.

``python -m afterstate.commands.games_table`` does it, from the specifications at the heads of the
files in ``games/rules``.
"""

from ..games.catalogue import tables

COLUMNS = ("players", "actions", "cells", "symmetries", "chance", "reward", "checked")
BEGIN, END = "<!-- games -->", "<!-- end of games -->"


def markdown() -> str:
    """Return the table of all games as Markdown, between its two marks."""
    lines = ["| game | " + " | ".join(COLUMNS) + " |", "|---" * (1 + len(COLUMNS)) + "|"]
    for name, table in tables().items():
        cells = (table[column].removeprefix("against ") for column in COLUMNS)
        # what stands behind a colon explains the codes
        lines.append(f"| `{name}` | " + " | ".join(c.partition(": ")[0] for c in cells) + " |")
    return "\n".join([BEGIN, "", *lines, "", END])


if __name__ == "__main__":
    print(markdown())
