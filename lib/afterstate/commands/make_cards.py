"""Write the cards of the published agents anew: ``python -m afterstate.commands.make_cards``.

A card, ``data/models/card-<game>.json``, says where an agent comes from and how strong it is. All
of it is taken from the records of the run whose weights the file holds.
"""

import json

from ..files import data_directory, published_file, read_npz, write_text
from ..stats import mean_interval
from ..studies import records

FILES = {
    "connect4": "connect4.npz",
    "hex": "hex.npz",
    "othello": "othello.npz",
    "tictactoe": "ladder-tictactoe.npz",
}


def card_of(name: str, file: str) -> dict:
    """Return the card of a published agent.

    Raises
    ------
    ValueError
        If no record has trained these weights.
    """
    path = published_file("models") / file
    meta, _ = read_npz(path)
    found = [
        (study, record)
        for study in sorted((data_directory() / "records").iterdir())
        for record in records.Records(study).all("train")
        if record["checksum"] == meta["checksum"] and record["game"] == meta["game"]
    ]
    if not found:
        raise ValueError(f"no record has trained the weights of {path}")
    study, run = found[0]
    measured = records.Records(study).all("eval")
    own = [e for e in measured if e["train"] == run["key"] and e["kind"] == "final"]
    card = {
        "name": f"{name}, {run['arm']}",
        "file": file,
        "game": run["game"],
        "checksum": run["checksum"],
        "study": study.name,
        "arm": run["arm"],
        "run": run["run"],
        "record": f"train-{run['key']}",
        "learner": run["learner"],
        "parameters": run["parameters"],
        "episodes": run["episodes"],
        "cost": run["cost"],
        "machine": run["machine"],
        "commit": run["commit"],
        "strength": strength(own, measured, run),
    }
    return card | {"words": words(card)}


def strength(own, measured, run) -> dict:
    """Return what this run scored, and mean and 95% interval of all runs of its arm."""
    found = {}
    for evaluation in own:
        for metric, values in evaluation["points"].items():
            if metric == "episode":
                continue
            of_arm = [
                e["points"][metric][-1]
                for e in measured
                if e["kind"] == "final" and e.get("arm") == run["arm"] and metric in e["points"]
            ]
            interval = mean_interval(of_arm)
            entry = {"run": values[-1], "arm_mean": interval.mean, "runs": len(of_arm)}
            if len(of_arm) > 1:
                entry["arm_interval"] = [interval.low, interval.high]
            found[metric] = entry
    return found


def words(card) -> str:
    """Return a card in a sentence."""
    rates = {
        metric.partition(":")[2]: entry
        for metric, entry in card["strength"].items()
        if metric.startswith("win_rate")
    }
    told = [
        f"{entry['run']:.0f}% against {opponent} (its arm {entry['arm_mean']:.0f}%)"
        for opponent, entry in rates.items()
    ]
    made = (
        f"{card['learner']['name']}, {card['episodes']:,} episodes,"
        f" {card['cost']['cpu_seconds']:.0f} CPU seconds, study {card['study']}"
    )
    return f"{made}; win rate {', '.join(told)}" if told else made


if __name__ == "__main__":
    for name, file in FILES.items():
        card = card_of(name, file)
        target = published_file("models") / f"card-{name}.json"
        write_text(target, json.dumps(card, indent=1, sort_keys=True) + "\n")
        print(f"{target.name}: {card['words']}")
