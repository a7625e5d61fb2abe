"""The artifact appendix that runs itself: ``make evaluate`` executes ``data/evaluate.yaml``.

Each row of its table is a claim, a command, and what must come out. The points of the badges and
checklists below it are files that are there and rows that came out, or stay for who publishes.
"""

import os
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path

from ..checks import one_of
from ..files import data_directory, read_yaml, reports_directory, write_text
from . import INTERRUPTED

OURS = {"python": [], "afterply": ["-m", "afterply.commands.cli"]}  # of this environment


def command_of(row: dict) -> list[str]:
    """Return the words of a row's command, which is a line to type or a short ``python``."""
    if "python" in row:
        return [sys.executable, "-c", row["python"]]
    program, *words = shlex.split(row["command"])
    if program in OURS:
        return [sys.executable, *OURS[program], *words]
    return [program, *words]


def typed(row: dict) -> str:
    """Return a row's command as one would type it."""
    if "python" in row:
        return f"python -c '{row['python'].strip()}'"
    return row["command"]


# What must come out, and what did


def expected(row: dict) -> list[str]:
    """Return what must come out, as text: an entry for each number, or the one thing."""
    if isinstance(row["expect"], str):
        return [row["expect"]]
    return [_in_words(number) for number in row["expect"]]


def _in_words(number):
    name = number.get("short", number["of"])
    if "at_least" in number:
        return f"{name}: at least {number['at_least']:g}"
    return f"{name}: {number['value']:g} ± {number['tolerance']:g}"


def found(row: dict, status: int, output: str) -> list[tuple[str, bool]]:
    """Return what came out, and whether it is as expected, for each entry of :func:`expected`."""
    failure = _last_line(output) or f"status {status}"
    if isinstance(row["expect"], str):
        is_right = status == 0 and row.get("says", "") in output
        return [(row["expect"] if is_right else failure, is_right)]
    results = []
    for number in row["expect"]:
        line = re.search(rf"^{re.escape(number['of'])}: (-?[\d.]+)", output, re.MULTILINE)
        if status or not line:
            results.append((failure, False))
        else:
            value = float(line[1])
            results.append((f"{value:g}", _is_right(number, value)))
    return results


def _is_right(number, value) -> bool:
    if "at_least" in number:
        return value >= number["at_least"]
    low = number["value"] - number["tolerance"]
    high = number["value"] + number["tolerance"]
    return low <= value <= high


def _last_line(output):
    lines = output.strip().splitlines()
    return lines[-1][:200] if lines else ""


def came_out(results: dict[str, tuple]) -> dict[str, bool]:
    """Return of each executed row whether all of it came out."""
    return {name: all(right for _, right in entries) for name, (_, entries) in results.items()}


def holds(point: dict, root: Path, right: dict[str, bool]) -> bool | None:
    """Whether a point of a checklist holds; None if only who publishes can say so.

    `right` says of each row that was executed whether all of it came out.
    """
    if "publisher" in point:
        return None
    has_files = all((root / name).exists() for name in point.get("files", []))
    if "rows" not in point:
        return has_files
    names = list(right) if point["rows"] == "all" else point["rows"]
    have_come_out = bool(names) and all(right.get(name, False) for name in names)
    return has_files and have_come_out


# The page


def page(table: dict, results: dict[str, tuple], root: Path) -> str:
    """Return the evaluation as Markdown; `results` are (seconds, entries) of executed rows."""
    right = came_out(results)
    lines = ["# Evaluation", "", table["about"].strip(), ""]
    lines += ["| claim | command | minutes | must come out | came out | |"]
    lines += ["|---|---|---|---|---|---|"]
    for row in table["rows"]:
        lines.append(_line_of_row(row, results.get(row["id"]), right))
    right_of_all = {row["id"]: right.get(row["id"], False) for row in table["rows"]}
    words = {True: "yes", False: "**no**", None: "who publishes"}
    for name, checklist in table["lists"].items():
        lines += ["", f"## {name}", "", checklist["source"].strip(), ""]
        lines += ["| point | holds | by |", "|---|---|---|"]
        for point in checklist["points"]:
            cells = point["point"], words[holds(point, root, right_of_all)], _why(point)
            lines.append(_line_of_table(cells))
    return "\n".join(lines) + "\n"


def _line_of_row(row, result, right):
    minutes = f"{row['minutes']:g}"
    if result is None:
        values, verdict = ["not run"], "not run"
    else:
        seconds, entries = result
        minutes += f", took {seconds / 60:.1f}"
        values = [value for value, _ in entries]
        verdict = "yes" if right[row["id"]] else "**no**"
    claim = f"**{row['id']}**: {row['claim'].strip()}"
    must = "<br>".join(expected(row))
    return _line_of_table([claim, _code(typed(row)), minutes, must, "<br>".join(values), verdict])


def _line_of_table(cells):
    return f"| {' | '.join(map(_in_cell, cells))} |"


def _why(point):
    if "publisher" in point:
        return point["publisher"]
    rows = point.get("rows", [])
    names = ["all rows"] if rows == "all" else [f"row {name}" for name in rows]
    return ", ".join([*point.get("files", []), *names])


def _code(text):
    lines = [line.replace("`", "'") for line in text.split("\n")]
    return "<br>".join(f"`{line}`" for line in lines if line)


def _in_cell(text):
    return str(text).strip().replace("|", "\\|").replace("\n", " ")


# The command


def execute(row: dict, root: Path) -> tuple[float, list[tuple[str, bool]]]:
    """Run the command of a row from the root of the checkout; return seconds and what came out."""
    # as on a machine where nothing optional is installed, and if this library is not, either
    settings = {"AFTERPLY_HIDE": "all", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    start = time.monotonic()
    process = subprocess.Popen(
        command_of(row),
        cwd=root,
        env=os.environ | settings,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    try:
        output = process.communicate()[0]
    except KeyboardInterrupt:
        process.terminate()
        process.wait()
        raise
    return time.monotonic() - start, found(row, process.returncode, output)


def evaluate(names=()) -> int:
    """Execute the table, or the named rows; print and write what came out; return the status."""
    root = data_directory().parent
    table = read_yaml(data_directory() / "evaluate.yaml")
    known = tuple(row["id"] for row in table["rows"])
    for name in names:
        one_of("row", name, known)
    rows = [row for row in table["rows"] if not names or row["id"] in names]
    table |= {"rows": rows}
    if len(rows) < len(known):
        table |= {"lists": {}}  # the checklists stand on all rows
    minutes = sum(row["minutes"] for row in rows)
    print(f"{len(rows)} rows, about {minutes:g} minutes on two cores; Ctrl-C keeps what is done.")
    results = {}
    was_stopped = _execute_rows(rows, root, results)
    file = reports_directory() / "evaluate" / "evaluation.md"
    write_text(file, page(table, results, root))
    right = came_out(results)
    print("\n" + "\n".join(_verdicts(table, root, right)))
    print(f"{sum(right.values())} of {len(rows)} rows came out. The table: {file}")
    if was_stopped:
        return INTERRUPTED
    return 0 if all(right.values()) else 1


def _execute_rows(rows, root, results) -> bool:
    """Fill `results`, one row after the other; return whether Ctrl-C stopped it."""
    try:
        for number, row in enumerate(rows, 1):
            claim = " ".join(row["claim"].split())
            print(f"\n{number}/{len(rows)}  {row['id']} ({row['minutes']:g} min): {claim}")
            print(f"      $ {typed(row)}".replace("\n", "\n        "), flush=True)
            seconds, entries = execute(row, root)
            results[row["id"]] = seconds, entries
            for wanted, (value, is_right) in zip(expected(row), entries, strict=True):
                print(f"      {'yes' if is_right else 'NO '}  {wanted}; came out: {value}")
            print(f"      {seconds:.0f} s", flush=True)
    except KeyboardInterrupt:
        return True
    return False


def _verdicts(table, root, right):
    """Return a line for each row, and for each checklist what holds, and what is left."""
    words = {True: "came out", False: "DID NOT COME OUT", None: "not run"}
    for row in table["rows"]:
        yield f"{row['id']:24} {words[right.get(row['id'])]}"
    right_of_all = {row["id"]: right.get(row["id"], False) for row in table["rows"]}
    for name, checklist in table["lists"].items():
        verdicts = {p["point"]: holds(p, root, right_of_all) for p in checklist["points"]}
        num_right = sum(verdict is True for verdict in verdicts.values())
        num_left = sum(verdict is None for verdict in verdicts.values())
        yield f"{name}: {num_right} of {len(verdicts)} points hold, {num_left} for who publishes"
        for point, verdict in verdicts.items():
            if verdict is False:
                yield f"    no: {point}"
