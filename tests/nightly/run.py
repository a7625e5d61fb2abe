"""What takes longer than tests may: `make nightly`.

    rules   random games, played again by rules written anew in C (rules.py)
    kills   processes killed at random moments, and their results compared (kills.py)
    files   every kind of file that is read, damaged at random (damage.py)
    calls   every kind of value in every place of a public call (every_value.py)

    SEED=20261128 GAMES=10000000 KILLS=100 FILES=600 python tests/nightly/run.py [rules] [files] ...

All chance comes from the seed, by default the date. What was done is noted in the cache directory;
the same command goes on after Ctrl-C or a kill, unless the sources have changed. The exit status is
1 if anything differed.
"""

import datetime
import hashlib
import json
import os
import signal
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from afterply.files import write_text  # noqa: E402
from afterply.kernel.compile import cache_root  # noqa: E402
from afterply.kernel.source import PACKAGE  # noqa: E402

GAMES = 10_000_000
KILLS = 100
FILES = 600
NOTED = 2.0  # seconds between two writings of the journal
SAID = 20.0  # seconds between two lines of progress where there is no terminal


def sources() -> str:
    """Return the digest of everything that is compared."""
    digest = hashlib.sha256()
    for file in sorted([*PACKAGE.rglob("*.py"), *HERE.glob("*.*"), HERE.parent / "every_value.py"]):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


class Journal:
    """What was done with a seed: by the name of each part, how many, how long, and what differed.

    It is written every few seconds and at the end. What a kill loses is done again, with the same
    random numbers.
    """

    def __init__(self, seed):
        self.path = cache_root() / "nightly" / f"{seed}.json"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.sources = sources()
        self.done = {}
        if self.path.exists():
            noted = json.loads(self.path.read_text())
            if noted["sources"] == self.sources:
                self.done = noted["done"]
                print(f"Going on with {self.path}")
            else:
                print(f"The sources have changed since {self.path}: all is done again")
        self.written = time.monotonic()

    def part(self, name, **counts) -> dict:
        """Return what is noted of a part: its counts, seconds, and what was wrong."""
        return self.done.setdefault(name, counts | {"seconds": 0.0, "wrong": []})

    def note(self, at_once=False):
        """Write it, unless it was written just now."""
        if at_once or time.monotonic() - self.written > NOTED:
            write_text(self.path, json.dumps({"sources": self.sources, "done": self.done}))
            self.written = time.monotonic()


class Progress:
    """One line that changes on a terminal; elsewhere a line now and then."""

    def __init__(self):
        self.on_terminal = sys.stdout.isatty()
        self.said = time.monotonic()

    def say(self, text):
        """Say how far it is."""
        if self.on_terminal:
            print(f"\r\033[K{text[:100]}", end="", flush=True)
        elif time.monotonic() - self.said > SAID:
            print(f"  ... {text}", flush=True)
            self.said = time.monotonic()

    def result(self, text, wrong):
        """Say a result, in one line, and what was wrong."""
        start = "\r\033[K" if self.on_terminal else ""
        print(f"{start}{text}", flush=True)
        for line in wrong:
            print(f"    WRONG: {line}", flush=True)


def counted(part, what, ends, journal):
    """Count how things ended, and yield how many have; an end without a count is wrong."""
    begun = time.monotonic()
    for end in ends:
        part[what] += 1
        part["seconds"] += time.monotonic() - begun
        begun = time.monotonic()
        if end in part:
            part[end] += 1
        else:
            part["wrong"].append(end)
        yield part[what]
        journal.note()


def run_rules(journal, progress, seed):
    """Compare games, an equal number of each."""
    import rules

    share = -(-int(os.environ.get("GAMES") or GAMES) // len(rules.GAMES))
    total = {"games": 0, "plies": 0, "seconds": 0.0}
    for game in rules.GAMES:
        name = rules.label(*game)
        part = journal.part(name, games=0, plies=0, chunks=0)
        comparison = None
        while part["games"] < share and not part["wrong"]:
            comparison = comparison or rules.Comparison(*game)
            most = min(rules.CHUNK, share - part["games"])
            number, plies, seconds, wrong = comparison.compare(seed, part["chunks"], most)
            part["games"] += number
            part["plies"] += plies
            part["seconds"] += seconds
            part["chunks"] += 1
            if wrong:
                part["wrong"].append(f"{name}, {wrong}")
            progress.say(f"{name}: {part['games']:,} of {share:,} games")
            journal.note(at_once=bool(wrong))
        speed = 60 * part["games"] / max(part["seconds"], 1e-9)
        text = f"{part['games']:,} games, {part['plies']:,} plies, {speed:,.0f} games a CPU minute"
        progress.result(f"{name}: {text}", part["wrong"])
        for key in total:
            total[key] += part[key]
    minutes = total["seconds"] / 60
    print(f"rules: {total['games']:,} games, {total['plies']:,} plies, {minutes:.1f} CPU minutes")


def run_kills(journal, progress, seed):
    """Kill processes of each kind, an equal number."""
    import kills

    share = -(-int(os.environ.get("KILLS") or KILLS) // len(kills.KINDS))
    for kind in kills.KINDS:
        part = journal.part(kind.name, kills=0, results=0)
        while part["kills"] < share:
            begun = time.monotonic()
            number, wrong = kills.one_trial(kind, seed, part["results"], share - part["kills"])
            part["kills"] += number
            part["results"] += 1
            part["seconds"] += time.monotonic() - begun
            part["wrong"] += wrong
            progress.say(f"{kind.name}: {part['kills']} of {share} kills")
            journal.note(at_once=True)
        text = f"{part['kills']} kills, {part['results']} results, {part['seconds']:.0f} s"
        progress.result(f"kills of {kind.name}: {text}", part["wrong"])


def run_files(journal, progress, seed):
    """Damage files of each kind, an equal number."""
    import damage

    share = -(-int(os.environ.get("FILES") or FILES) // len(damage.KINDS))
    for kind in damage.KINDS:
        name = f"damaged {kind.name}"
        part = journal.part(name, files=0, **{"refused": 0, "the same": 0})
        if part["files"] < share:
            ends = damage.tried(kind, seed, part["files"], share)
            for number in counted(part, "files", ends, journal):
                progress.say(f"{name}: {number} of {share}")
        counts = f"{part['refused']} refused, {part['the same']} say the same"
        text = f"{part['files']} files, {counts}, {part['seconds']:.0f} s"
        progress.result(f"{name}: {text}", part["wrong"])


def run_calls(journal, progress, seed):
    """Make bad calls; each that crashes or hangs is wrong, what is unclear is counted."""
    import every_value

    number = len(every_value.all_calls())
    part = journal.part("calls", calls=0, clear=0, unclear=0, accepted=0, late=0)
    while part["calls"] < number:
        tried = every_value.tried(first=part["calls"])
        ends = (
            end if end in part else f"{end}: {every_value.filled(call, value)}"
            for call, value, end, _ in tried
        )
        for done in counted(part, "calls", ends, journal):
            progress.say(f"calls: {done:,} of {number:,}")
    ends = {end: part[end] for end in ("accepted", "clear", "unclear", "late")}
    text = f"{part['calls']:,} calls, {ends}, {part['seconds']:.0f} s"
    progress.result(f"bad calls: {text}", part["wrong"])


PARTS = {"rules": run_rules, "kills": run_kills, "files": run_files, "calls": run_calls}


def main(words) -> int:
    """Run some parts, or all."""
    unknown = [word for word in words if word not in PARTS]
    if unknown:
        print(f"{unknown[0]!r} is no part of it: {', '.join(PARTS)}")
        return 2
    seed = int(os.environ.get("SEED") or f"{datetime.date.today():%Y%m%d}")
    print(f"SEED={seed}")
    journal, progress = Journal(seed), Progress()
    try:
        for name in words or PARTS:
            PARTS[name](journal, progress, seed)
    except KeyboardInterrupt:
        print(f"\nStopped. What was done is kept: make nightly SEED={seed} goes on.")
        return 130
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second Ctrl-C must not lose it
        journal.note(at_once=True)
    wrong = sum(len(part["wrong"]) for part in journal.done.values())
    print(f"{wrong} wrong" if wrong else "Nothing differed.")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
