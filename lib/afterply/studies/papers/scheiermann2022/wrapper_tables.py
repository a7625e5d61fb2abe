"""What a search adds, which half of it does, and its costs ([scheiermann2022] IV-D and IV-E)."""

from collections import namedtuple

import numpy as np
import pandas as pd

from ....stats import fixed, mean_interval, with_interval
from ...reports.figures import learning_curves
from ...reports.summaries import PANEL, intervals, shown, with_logs
from ...reports.times import ALL_OF_IT, TRAINING, ratio_of_means, seconds
from ...results import select
from .wrapping import columns_of

PARTS = [(prior, leaf) for prior in ("softmax", "uniform") for leaf in ("best action", "rollout")]
WORDS = {"softmax": "priors of the agent", "uniform": "equal priors"}
WORDS |= {"best action": "its values", "rollout": "random games"}
W0, ALONE = "W0", "TCL-base"
PRINTED = {  # iterations, games of a training -> hours; some are printed as days
    (0, 250_000): 1.8,
    (100, 12_000): 2.0,
    (100, 250_000): 2.5 * 24,
    (1_000, 12_000): 1.2 * 24,
    (10_000, 12_000): 11.5 * 24,
}
# CPU time of a training, and of one of its moves; means over trainings
Trained = namedtuple("Trained", "seconds milliseconds")


def draw_ladder(rows, arms, program, title, logs, styles):
    """Draw win rates by `level` of an engine; logs: arm -> {level: the authors' rate}."""
    look = {"score_axis": False, "logs": list(logs), "styles": styles, "x": "level"}
    look |= {"title": f"Othello against {program}: {title}", "xlabel": f"level of {program}"}
    return learning_curves(with_logs(rows, logs, "level"), [*arms, *logs], **look)


def _against_alone(rows, columns):
    return select(rows, measure="elo", opponent="agent", **columns)


def gains(last, players):
    """Return the rating differences to the agent alone, as rows of a panel."""
    # players: name -> columns of the search
    found = (
        (arm, name, _against_alone(own, columns)["value"])
        for arm, own in last.groupby("arm", sort=False)
        for name, columns in players.items()
    )
    return intervals(found, PANEL)


def parts_of(iterations):
    """Return the players of all combinations of priors and leaf values: name -> columns."""
    return {
        f"{WORDS[prior]}, {WORDS[leaf]}": columns_of(iterations, prior=prior, leaf_value=leaf)
        for prior, leaf in PARTS
    }


def _wide(parts):
    """Return the values of some rows, by name, beside each other: a row for each arm and run."""
    values = {name: rows.set_index(["arm", "run"])["value"] for name, rows in parts.items()}
    return pd.concat(values, axis=1)


def halves(last, iterations):
    """Return what the agent's priors and what its values add, each by itself, in each game."""
    parts = parts_of(iterations).items()
    # runs that have met themselves in every way
    wide = _wide({name: _against_alone(last, columns) for name, columns in parts}).dropna()
    both, only_priors, only_values, neither = (wide[column] for column in wide)
    priors = (both + only_priors - only_values - neither) / 2
    values = (both + only_values - only_priors - neither) / 2
    found = (
        (arm, what, group)
        for what, adds in (("priors", priors), ("values", values))
        for arm, group in adds.groupby("arm", sort=False)
    )
    columns = ["game", "of the agent", "agents", "rating difference", "95% low", "95% high"]
    return intervals(found, columns)


def overview(rated, scored, games, iterations, searches, cubes):
    """Return one table over all games: what agents reach alone, with the search, and the gain."""
    # rated, scored: last rows of games for two, and of 2048; searches: scale -> columns of
    # searches of 2048; cubes: study -> last rows of the agents of the text
    parts = []  # game, unit, and a column for the agent alone and for each search
    for name in games:
        own = rated[rated["arm"] == name]
        wide = _wide({n: _against_alone(own, columns_of(n)) for n in iterations})
        wide.insert(0, "alone", 0.0)
        parts.append((name, "rating difference to the agent alone", wide))
    for scale, players in searches.items():
        of = [{}, *players]
        wide = _wide({k: select(scored, measure="points", **how) for k, how in enumerate(of)})
        gain = 100 * (wide.div(wide[0], axis=0) - 1)
        parts.append((f"2048, scale {scale:,}", "points of a game", wide))
        parts.append(("", "gain in percent of the points alone", gain))
    for name, rows in cubes.items():
        of = {n: columns_of(n) for n in (0, *iterations)}
        wide = _wide({n: select(rows, measure="solved_rate", **how) for n, how in of.items()})
        parts.append((name, "solved cubes in percent", wide))
        parts.append(("", "gain in percentage points", wide.sub(wide[0], axis=0)))
    rows = [
        (*names, len(wide), *map(in_words, wide.T.values)) for *names, wide in parts if len(wide)
    ]
    columns = ["game", "measured in", "agents", "alone", *(f"{n:,} iterations" for n in iterations)]
    return pd.DataFrame(rows, columns=columns).fillna("–").style.hide(axis="index")


def in_words(values):
    """Return a mean with its interval, from three values on, if they differ."""
    values = values[~np.isnan(values)]
    if not len(values):
        return "–"
    mean, low, high = mean_interval(values)
    several = len(values) > 2 and low < high
    return with_interval(mean, low, high, decimals=0) if several else fixed(mean, 0)


def move_times(runs, printed):
    """Return the CPU milliseconds of a move of each player, as a page shows them.

    The ratio to the tree search is the better one: the agent alone is asked from Python, which
    takes a good part of its time. printed: player -> milliseconds (Table IV).
    """
    per_run = seconds(ALONE, runs)
    players = [player for player in per_run if player not in (TRAINING, ALL_OF_IT)]
    found = ((player, [1000 * spent for spent in per_run[player].values()]) for player in players)
    table = intervals(found, ["player", "agents", "ours, ms", "95% low", "95% high"])
    table["95% low"] = table["95% low"].clip(lower=0.0)  # no move takes less than no time
    table["paper, ms"] = table["player"].map(printed).astype(float)
    search = next((player for player in players if player.startswith("MCTS")), "MCTS")
    for other, name in ((search, "MCTS"), ("alone", "the agent alone")):
        for whose in ("ours", "paper"):
            times = table.set_index("player")[f"{whose}, ms"]
            table[f"times {name}, {whose}"] = (times / times.get(other, np.nan)).to_numpy()
    return shown(table, 3)


def training_time(runs) -> Trained | None:
    """Return what a training of the agent alone takes; None if no record states it."""
    own = runs[(runs["arm"] == ALONE) & (runs["kind"] == "train")].dropna(subset="cpu_seconds")
    mean = own["cpu_seconds"].mean()
    return Trained(mean, 1000 * mean / own["moves"].mean()) if len(own) else None


def training_factors(runs, printed):
    """Return what a training whose moves are searched would cost, as a multiple (Table III)."""
    # every move is made as before and searched besides; printed: player -> factor
    per_run, rows = seconds(ALONE, runs), []
    for player in (name for name in per_run if name.startswith("Wrapped")):
        ratio, number = ratio_of_means(per_run, player, TRAINING)
        if number:
            rows.append((player, 1.0 + ratio.mean, float(printed.get(player, np.nan))))
    columns = ["moves of the training by", "factor, ours", "factor, paper"]
    return shown(pd.DataFrame(rows, columns=columns), 0, thousands=",")


def per_game(runs, other, searched):
    """Return CPU milliseconds of a game by machine and arm, and of how many agents they are."""
    # runs, other: of this study and of notebook 20's, with a column games (of a training)
    own = runs[runs["arm"].isin([W0, searched])]
    trainings = pd.concat([own, other[other["arm"] == ALONE]]).query("kind == 'train'")
    trainings = trainings.assign(ms=1000 * trainings.cpu_seconds / trainings.games)
    of = {"values": "ms", "index": "machine", "columns": "arm"}
    each = trainings.pivot_table(**of).reindex(columns=[W0, searched, ALONE])
    agents = trainings.pivot_table(**of, aggfunc="count").reindex(columns=each.columns)
    return each, agents.fillna(0).astype(int)


def on_one_machine(each, agents, searched):
    """Return the costs on the machine of most searched agents; None if no machine has both."""
    both = each.dropna(subset=[W0, searched])
    if not len(both):
        return None
    costs = both.loc[agents.loc[both.index, searched].idxmax()]
    return costs.fillna(costs[W0])  # no agent of notebook 20


def plan(costs, searched, iterations):
    """Return what the paper's trainings take at that rate beside what it prints, for a page."""
    iteration = (costs[searched] - costs[W0]) / iterations
    each = {n: costs[W0] + n * iteration if n else costs[ALONE] for n, _ in PRINTED}
    rows = [(n, games, each[n] * games / 3.6e6, hours) for (n, games), hours in PRINTED.items()]
    ours, theirs = "CPU hours an agent", "paper, hours"
    table = pd.DataFrame(rows, columns=["iterations", "games", ours, theirs])
    for times, hours in (("times TCL-base", ours), ("paper, times TCL-base", theirs)):
        table[times] = table[hours] / table[hours].iloc[0]  # Fig. 9: 16 and 153
    look = shown(table, thousands=",", na_rep=None).format("{:.2f}", subset=[ours])
    return look.set_caption(costs.name)
