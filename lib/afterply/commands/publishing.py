"""How published files change: made in a folder of their own, compared, and replaced at once."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys

from ..files import data_directory, emptied_folder, one_writer, reports_directory
from ..studies.notebooks import PAPER

MOST_LINES = 10  # of files that change
NOT_KEPT = ("*.html", "style.css", "log.txt")  # written beside the pages and ignored by git


@contextlib.contextmanager
def staging():
    """Yield a copy of the published report to change; on Ctrl-C the report stays as it was."""
    target = reports_directory() / PAPER
    staged = reports_directory() / "staging" / PAPER
    with one_writer(staged.parent):
        emptied_folder(staged.parent)
        staged.mkdir()
        if target.exists():
            not_kept = shutil.ignore_patterns(*NOT_KEPT)
            shutil.copytree(target, staged, ignore=not_kept, dirs_exist_ok=True)
        try:
            yield staged
            shutil.rmtree(staged.parent)
        except KeyboardInterrupt:
            print("\nNothing that is published has changed.", file=sys.stderr)
            raise


def publish(staged, target, say) -> list[str]:
    """Replace what differs from the files of a folder; say so before, and return what came out."""
    names = [path.relative_to(staged) for path in sorted(staged.rglob("*")) if path.is_file()]
    new = [name for name in names if not _are_same(staged / name, target / name)]
    published = [name for name in new if not any(name.match(pattern) for pattern in NOT_KEPT)]
    if published:
        say(f"{len(published)} published file(s) come out otherwise, and are replaced now:")
        say("\n".join(_first([f"  {target / name}" for name in published])))
    _replace(new, staged, target)
    unlike = unlike_commit()
    if unlike:
        number = f"{len(unlike)} published file(s) are not as they are committed:"
        return [number, *_first([f"  {line}" for line in unlike])]
    if published and unlike is None:
        return [f"{len(published)} published file(s) came out otherwise than they were."]
    how = "as it was" if unlike is None else "as committed"
    return [f"Every page, figure and number came out {how}."]


def _are_same(one, other) -> bool:
    return other.is_file() and one.read_bytes() == other.read_bytes()


def _replace(names, staged, target):
    """Replace all files or none: Ctrl-C is not heeded for that moment."""
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        for name in names:
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            os.replace(staged / name, target / name)
    finally:
        signal.signal(signal.SIGINT, handler)


def _first(lines):
    num_left_out = len(lines) - MOST_LINES
    if num_left_out <= 0:
        return lines
    return [*lines[:MOST_LINES], f"  and {num_left_out} more"]


def unlike_commit() -> list[str] | None:
    """Return those published files that are not as git has them; None if it does not have them."""
    root = data_directory().parent
    places = [root / "data" / "records", root / "data" / "profiles", reports_directory() / PAPER]
    try:
        tracked = _git(root, "ls-files", "--", *places)
        status = _git(root, "status", "--porcelain", "--", *places)
    except OSError:
        return None
    if status.returncode or not tracked.stdout.strip():
        return None
    return status.stdout.splitlines()


def _git(root, *words):
    return subprocess.run(["git", "-C", root, *words], capture_output=True, text=True)
