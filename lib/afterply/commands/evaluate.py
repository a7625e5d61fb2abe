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
    first, *others = shlex.split(row["command"])
    return [sys.executable, *OURS[first], *others] if first in OURS else [first, *others]


def typed(row: dict) -> str:
    """Return a row's command as one would type it."""
    return f"python -c '{row['python'].strip()}'" if "python" in row else row["command"]


def expected(row: dict) -> list[str]:
    """Return what must come out, as text: an entry for each number, or the one thing."""
    if isinstance(row["expect"], str):
        return [row["expect"]]
    return [_in_words(one) for one in row["expect"]]


def _in_words(one):
    name = one.get("short", one["of"])
    if "at_least" in one:
        return f"{name}: at least {one['at_least']:g}"
    return f"{name}: {one['value']:g} ± {one['tolerance']:g}"


def found(row: dict, status: int, said: str) -> list[tuple[str, bool]]:
    """Return what came out, and whether it is as expected, for each entry of :func:`expected`."""
    if isinstance(row["expect"], str):
        right = status == 0 and row.get("says", "") in said
        return [(row["expect"] if right else _last_line(said) or f"status {status}", right)]
    results = []
    for one in row["expect"]:
        number = re.search(rf"^{re.escape(one['of'])}: (-?[\d.]+)", said, re.MULTILINE)
        if status or not number:
            results.append((_last_line(said) or f"status {status}", False))
            continue
        value = float(number[1])
        low = one.get("at_least", one.get("value", 0) - one.get("tolerance", 0))
        high = one["value"] + one["tolerance"] if "value" in one else value
        results.append((f"{value:g}", low <= value <= high))
    return results


def _last_line(said):
    return (said.strip().splitlines() or [""])[-1][:200]


def holds(point: dict, root: Path, right: dict[str, bool]) -> bool | None:
    """Whether a point of a checklist holds; None if only who publishes can say so.

    `right` says of each row that was executed whether all of it came out.
    """
    if "publisher" in point:
        return None
    rows = point.get("rows", [])
    rows = right if rows == "all" else {name: right.get(name, False) for name in rows}
    files = all((root / name).exists() for name in point.get("files", []))
    return files and all(rows.values()) and ("rows" not in point or bool(rows))


def page(table: dict, results: dict[str, tuple], root: Path) -> str:
    """Return the evaluation as Markdown; `results` are (seconds, entries) of executed rows."""
    heads = (
        "| claim | command | minutes | must come out | came out | |\n|---|---|---|---|---|---|\n"
    )
    text, right = f"# Evaluation\n\n{table['about'].strip()}\n\n{heads}", came_out(results)
    for row in table["rows"]:
        seconds, entries = results.get(row["id"], (None, [("not run", False)]))
        taken = "" if seconds is None else f", took {seconds / 60:.1f}"
        cells = [f"**{row['id']}**: {row['claim'].strip()}", _code(typed(row))]
        cells += [f"{row['minutes']:g}{taken}", "<br>".join(expected(row))]
        cells += ["<br>".join(value for value, _ in entries)]
        cells += ["yes" if right.get(row["id"]) else "**no**" if seconds else "not run"]
        text += "| " + " | ".join(_in_cell(cell) for cell in cells) + " |\n"
    whole = {row["id"]: right.get(row["id"], False) for row in table["rows"]}
    for name, one in table["lists"].items():
        text += f"\n## {name}\n\n{one['source'].strip()}\n\n| point | holds | by |\n|---|---|---|\n"
        for point in one["points"]:
            verdict = {True: "yes", False: "**no**", None: "who publishes"}[
                holds(point, root, whole)
            ]
            text += f"| {_in_cell(point['point'])} | {verdict} | {_in_cell(_why(point))} |\n"
    return text


def _why(point):
    if "publisher" in point:
        return point["publisher"]
    rows = point.get("rows", [])
    rows = ["all rows"] if rows == "all" else [f"row {name}" for name in rows]
    return ", ".join([*point.get("files", []), *rows])


def _code(text):
    lines = [line.replace("`", "'") for line in text.split("\n")]
    return "<br>".join(f"`{line}`" for line in lines if line)


def _in_cell(text):
    return str(text).strip().replace("|", "\\|").replace("\n", " ")


def came_out(results: dict[str, tuple]) -> dict[str, bool]:
    """Return of each executed row whether all of it came out."""
    return {name: all(right for _, right in entries) for name, (_, entries) in results.items()}


def execute(row: dict, root: Path) -> tuple[float, list[tuple[str, bool]]]:
    """Run the command of a row from the root of the checkout; return seconds and what came out."""
    # as on a machine where nothing optional is installed, and if this library is not, either
    settings = {"AFTERPLY_HIDE": "all", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    began = time.monotonic()
    process = subprocess.Popen(
        command_of(row), cwd=root, env=os.environ | settings, errors="replace", **pipes
    )
    try:
        said = process.communicate()[0]
    except KeyboardInterrupt:
        process.terminate()
        process.wait()
        raise
    return time.monotonic() - began, found(row, process.returncode, said)


def evaluate(names=()) -> int:
    """Execute the table, or the named rows; print and write what came out; return the status."""
    table, root = read_yaml(data_directory() / "evaluate.yaml"), data_directory().parent
    known = tuple(row["id"] for row in table["rows"])
    for name in names:
        one_of("row", name, known)
    rows = [row for row in table["rows"] if not names or row["id"] in names]
    # the checklists stand on all rows
    table |= {"rows": rows} | ({"lists": {}} if len(rows) < len(known) else {})
    file = reports_directory() / "evaluate" / "evaluation.md"
    planned, results, stopped = sum(row["minutes"] for row in rows), {}, False
    print(f"{len(rows)} rows, about {planned:g} minutes on two cores; Ctrl-C keeps what is done.")
    try:
        for number, row in enumerate(rows, 1):
            claim = " ".join(row["claim"].split())
            print(f"\n{number}/{len(rows)}  {row['id']} ({row['minutes']:g} min): {claim}")
            print(f"      $ {typed(row)}".replace("\n", "\n        "), flush=True)
            results[row["id"]] = seconds, entries = execute(row, root)
            for wanted, (value, right) in zip(expected(row), entries, strict=True):
                print(f"      {'yes' if right else 'NO '}  {wanted}; came out: {value}")
            print(f"      {seconds:.0f} s", flush=True)
    except KeyboardInterrupt:
        stopped = True
    write_text(file, page(table, results, root))
    right = came_out(results)
    print("\n" + "\n".join(_verdicts(table, root, right)))
    print(f"{sum(right.values())} of {len(rows)} rows came out. The table: {file}")
    return INTERRUPTED if stopped else 0 if all(right.values()) else 1


def _verdicts(table, root, right):
    """Return a line for each row, and for each checklist what holds, and what is left."""
    for row in table["rows"]:
        said = {True: "came out", False: "DID NOT COME OUT", None: "not run"}[right.get(row["id"])]
        yield f"{row['id']:24} {said}"
    whole = {row["id"]: right.get(row["id"], False) for row in table["rows"]}
    for name, one in table["lists"].items():
        verdicts = {point["point"]: holds(point, root, whole) for point in one["points"]}
        counts = [sum(v is wanted for v in verdicts.values()) for wanted in (True, None)]
        yield f"{name}: {counts[0]} of {len(verdicts)} points hold, {counts[1]} for who publishes"
        yield from (f"    no: {point}" for point, verdict in verdicts.items() if verdict is False)
