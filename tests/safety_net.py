"""The net under issue "half the code, the same numbers": it goes when that is closed.

    python tests/safety_net.py          compare with tests/safety_net.json (needs `make reproduce`)
    python tests/safety_net.py --write  write it anew

It holds the keys of all trainings and evaluations, golden checksums, playthroughs, and label and
numbers of the verdict on every value and statement.
"""

import json
import sys
from pathlib import Path

import pandas as pd

from afterstate.commands import reproduce
from afterstate.files import read_json, reports_directory
from afterstate.games.catalogue import load_spec
from afterstate.learners import learners
from afterstate.papers import claims
from afterstate.papers.compare import compare, final_values
from afterstate.papers.statements import judge
from afterstate.studies import golden

FILE = Path(__file__).with_suffix(".json")
DATA = FILE.parents[1] / "data"


def keys() -> dict:
    studies, notes = reproduce.collect(reproduce.find())
    assert not notes, notes
    runs = reproduce.runs_of(studies)
    return {f"{study.name} / {run.job.arm} / {run.job.run}": run.job.keys for study, run in runs}


def checksums() -> dict:
    stored, known = read_json(DATA / "golden.json"), learners()
    found = {
        name: [golden.repeat(known[name], run) for run in stored[name]["runs"]] for name in known
    }
    games = [load_spec(entry["game"]) for entry in read_json(DATA / "playthroughs.json").values()]
    return found | {repr(game.identity): golden.play_through(game) for game in games}


def verdicts() -> dict:
    found, results = {}, {}
    for path in sorted((reports_directory() / "paper" / "data").glob("*.results.csv")):
        results[path.name.split(".")[0]] = pd.read_csv(path)
    for key, paper in sorted(claims.all().items()):
        for study in sorted({claim.study or "" for claim in paper.claims}):
            mine = [claim for claim in paper.claims if (claim.study or "") == study]
            for row in compare(mine, results.get(study)).to_dict("records"):
                numbers = [repr(row[name]) for name in ("mean", "low", "high", "runs_needed")]
                found[f"{key} / {row['id']}"] = [row["verdict"], row["ours"], *numbers]
        outcomes = judge(paper.statements, lambda s, *which: final_values(results.get(s), *which))
        for statement, outcome in zip(paper.statements, outcomes, strict=True):
            said = [outcome.verdict, outcome.number, outcome.sentence]
            found[f"{key} / statement {statement.id}"] = said
    return found


def main() -> int:
    found = {"keys": keys(), "checksums": checksums(), "verdicts": verdicts()}
    if "--write" in sys.argv:
        FILE.write_text(json.dumps(found, indent=0, sort_keys=True) + "\n")
        return 0
    stated, differs = read_json(FILE), 0
    for part, entries in found.items():
        names = sorted(set(entries) | set(stated[part]))
        wrong = [name for name in names if entries.get(name) != stated[part].get(name)]
        print(f"{part}: {len(names)} entries, {len(wrong)} differ", *wrong[:10], sep="\n  ")
        differs += len(wrong)
    return 1 if differs else 0


if __name__ == "__main__":
    sys.exit(main())
