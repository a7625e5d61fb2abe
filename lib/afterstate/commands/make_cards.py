"""Write the cards of the published agents anew: ``python -m afterstate.commands.make_cards``.

A card, ``data/models/card-<game>.json``, says where an agent comes from and how strong it is. All
of it is taken from the records of the run whose weights the file holds. A run that takes seconds is
trained again where the file is missing. Agents that come from no study have cards by
:mod:`afterstate.commands.make_agents`.
"""

import json

from ..files import data_directory, published_file, read_npz, write_text
from ..games.catalogue import load_spec
from ..learners import catalogue
from ..stats import mean_interval
from ..studies import records

FILES = {
    "connect4": "connect4.npz",
    "giveaway": "giveaway.npz",
    "hex": "hex.npz",
    "nim": "nim.npz",
    "nim3p": "nim3p.npz",
    "othello": "othello.npz",
    "tictactoe": "ladder-tictactoe.npz",
}
# study, arm and run of what is trained again: of Nim3P the best of ten runs, of give-away of three
SHORT = {
    "giveaway": ("beyond-giveaway", "n-tuples", 0),
    "nim": ("nim", "FARL", 0),
    "nim3p": ("nim3p", "FARL", 6),
}


def train_again(name: str) -> None:
    """Write the weights of a recorded run that takes seconds.

    Raises
    ------
    ValueError
        If they are not those of its record.
    """
    study, arm, run = SHORT[name]
    record = next(
        r
        for r in records.Records(data_directory() / "records" / study).all("train")
        if (r["arm"], r["run"]) == (arm, run)
    )
    learner = catalogue.learners()[record["learner"]["name"]]
    session = learner.Session(load_spec(record["game"]), record["parameters"], record["seed"])
    session.train(record["episodes"])
    if session.net.checksum() != record["checksum"]:
        raise ValueError(f"{study} / {arm} / run {run} came out different from its record")
    session.net.save(published_file("models") / FILES[name], compressed=True)


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
    own = [e for e in measured if e["train"] == run["key"]]
    own.sort(key=lambda e: e["kind"] == "final")  # a final value replaces the curve's
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
                if e["kind"] == evaluation["kind"]
                and e.get("arm") == run["arm"]
                and metric in e["points"]
            ]
            interval = mean_interval(of_arm)
            entry = {"run": values[-1], "arm_mean": interval.mean, "runs": len(of_arm)}
            if len(of_arm) > 1:
                entry["arm_interval"] = [interval.low, interval.high]
            found[metric] = entry
    return found


def words(card) -> str:
    """Return a card in a sentence."""
    for kind, unit, digits in (("win_rate", "%", 0), ("points", "%", 0), ("score", "", 2)):
        told = [
            f"{entry['run']:.{digits}f}{unit} {'' if ' v ' in of else 'against '}{of}"
            f" (its arm {entry['arm_mean']:.{digits}f}{unit})"
            for (metric, _, of), entry in (
                (name.partition(":"), entry) for name, entry in card["strength"].items()
            )
            if metric == kind
        ]
        if told:
            break
    made = (
        f"{card['learner']['name']}, {card['episodes']:,} episodes,"
        f" {card['cost']['cpu_seconds']:.0f} CPU seconds, study {card['study']}"
    )
    return f"{made}; {kind.replace('_', ' ')} {', '.join(told)}" if told else made


if __name__ == "__main__":
    for name, file in FILES.items():
        if name in SHORT and not (published_file("models") / file).exists():
            train_again(name)
        card = card_of(name, file)
        target = published_file("models") / f"card-{name}.json"
        write_text(target, json.dumps(card, indent=1, sort_keys=True) + "\n")
        print(f"{target.name}: {card['words']}")
