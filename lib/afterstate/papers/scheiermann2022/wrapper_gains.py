"""How much a search adds to agents of many games, and which half of it does the work."""

import pandas as pd

from ...files import reports_directory
from ...reports.summaries import PANEL, intervals
from ...stats import mean_interval
from .wrapping import named

PARTS = [(prior, leaf) for prior in ("softmax", "uniform") for leaf in ("best action", "rollout")]
WORDS = {
    "softmax": "priors of the agent",
    "uniform": "equal priors",
    "best action": "its values",
    "rollout": "random games",
}


def _wide(rows):
    return rows.pivot(index=["arm", "run"], columns="metric", values="value")


def gains(last, labels):
    """Return the rating difference to the agent alone by game and player, as rows of a panel.

    last: rows of the last episode; labels: label of a player -> its name.
    """
    found = (
        (arm, name, rows[rows["metric"] == f"elo:{label}"].value)
        for label, name in labels.items()
        for arm, rows in last.groupby("arm", sort=False)
    )
    return intervals(found, PANEL)


def part_labels(iterations):
    """Return the players of all combinations of priors and leaf values: label -> name."""
    return {
        named(iterations, prior=prior, leaf_value=leaf): f"{WORDS[prior]}, {WORDS[leaf]}"
        for prior, leaf in PARTS
    }


def halves(last, iterations):
    """Return what the agent's priors and what its values add, each by itself, in each game."""
    columns = [f"elo:{label}" for label in part_labels(iterations)]
    # runs that have met themselves in every way
    both, only_priors, only_values, neither = (
        _wide(last).reindex(columns=columns).dropna()[column] for column in columns
    )
    adds = {
        "priors": (both + only_priors - only_values - neither) / 2,
        "values": (both + only_values - only_priors - neither) / 2,
    }
    found = (
        (arm, what, group)
        for what, difference in adds.items()
        for arm, group in difference.groupby("arm", sort=False)
    )
    columns = ["game", "of the agent", "agents", "rating difference", "95% low", "95% high"]
    return intervals(found, columns)


def in_words(values):
    """Return a mean with its interval, from three values on."""
    values = values.dropna()
    if not len(values):
        return "–"
    mean, low, high = mean_interval(values)
    return f"{mean:,.0f}" + (f" [{low:,.0f}, {high:,.0f}]" if len(values) > 2 else "")


def overview_row(game, unit, found, alone, columns):
    """Return one row of the table of all games; found: a row an agent, a column a search."""
    told = [in_words(found[column]) for column in found]
    return game, unit, len(found), alone, *told, *["–"] * (columns - len(told))


def rated_games(last, games, iterations):
    """Return the rows of the games for two."""
    columns, wide = [f"elo:{named(n)}" for n in iterations], _wide(last).reset_index(0)
    unit = "rating difference to the agent alone"
    found = ((name, wide[wide["arm"] == name].reindex(columns=columns)) for name in games)
    return [overview_row(name, unit, of, "0", len(iterations)) for name, of in found]


def scored_games(wide, labels, columns):
    """Return the rows of 2048: points and gain; labels: scale -> labels of its searches."""
    rows = []
    for scale, players in labels.items():
        of, alone = wide.reindex(columns=[f"points:{p}" for p in players]), wide.get("points:alone")
        if len(of):
            gain = 100 * (of.div(alone, axis=0) - 1)
            name = f"2048, scale {scale:,}"
            rows.append(overview_row(name, "points of a game", of, in_words(alone), columns))
            rows.append(overview_row("", "gain in percent of the points alone", gain, "0", columns))
    return rows


def solved_cubes(profile, iterations):
    """Return the rows of the cubes, from the results of their study, which ran before."""
    rows = []
    for name in ("cube2", "cube3"):
        file = reports_directory() / profile / "data" / f"{name}.results.csv"
        if file.exists():
            table = pd.read_csv(file)
            table = table[(table.arm == "TCL-base") & (table.episode == table.episode.max())]
            wide = _wide(table)
            of = wide.reindex(columns=[f"solved_rate:iterations-{n}" for n in iterations])
            if len(of):
                alone, number = wide["solved_rate"], len(iterations)
                more, unit = of.sub(alone, axis=0), "gain in percentage points"
                rows.append(
                    overview_row(name, "solved cubes in percent", of, in_words(alone), number)
                )
                rows.append(overview_row("", unit, more, "0", number))
    return rows
