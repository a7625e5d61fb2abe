"""What a search adds, which half of it does, and its costs ([scheiermann2022] IV-D and IV-E)."""

import re
from collections import namedtuple

import numpy as np
import pandas as pd

from ....stats import fixed, mean_interval, with_interval
from ...reports.figures import learning_curves
from ...reports.summaries import PANEL, intervals, shown, with_logs
from ...reports.times import ALL_OF_IT, TRAINING, ratio_of_means, seconds
from ...results import select
from .wrapping import columns_of

PARTS = [  # priors and values of leaves: both of the agent, one of them, none
    ("softmax", "best action"),
    ("softmax", "rollout"),
    ("uniform", "best action"),
    ("uniform", "rollout"),
]
WORDS = {
    "softmax": "priors of the agent",
    "uniform": "equal priors",
    "best action": "its values",
    "rollout": "random games",
}
W0 = "W0"
ALONE = "TCL-base"
PRINTED = {  # iterations, games of a training -> hours; some are printed as days
    (0, 250_000): 1.8,
    (100, 12_000): 2.0,
    (100, 250_000): 2.5 * 24,
    (1_000, 12_000): 1.2 * 24,
    (10_000, 12_000): 11.5 * 24,
}
# CPU time of a training, and of one of its moves; means over trainings
Trained = namedtuple("Trained", "seconds milliseconds")


def scale_and_search(label) -> tuple[str, str]:
    """Return row and series, in a figure, of a search of 2048 by its label.

    >>> scale_and_search("Wrapped-100 (scale 1000, enumerated)")
    ('scale 1,000', '100 iterations, enumerated')
    """
    found = re.fullmatch(r"Wrapped-(\d+) \(scale (\d+)((?:, \w+)?)\)", label)
    if not found:
        return label, label
    iterations, scale, way = found.groups()
    return f"scale {int(scale):,}", f"{int(iterations):,} iterations{way}"


def draw_ladder(rows, arms, program, title, logs, styles, **panels):
    """Draw win rates by `level` of an engine.

    Parameters
    ----------
    rows : DataFrame
        Results with a column `level`.
    arms : list of str
        The lines of our results.
    program, title : str
        The engine, and what the figure shows.
    logs : dict
        Line -> {level: the authors' win rate}.
    styles : dict
        Line -> its look.
    panels
        Small multiples, as of `learning_curves`.
    """
    return learning_curves(
        with_logs(rows, logs, "level"),
        [*arms, *logs],
        x="level",
        xlabel=f"level of {program}",
        title=f"Othello against {program}: {title}",
        score_axis=False,
        logs=list(logs),
        styles=styles,
        **panels,
    )


def _against_alone(rows, columns):
    """Return the rating differences between a search, told by its columns, and the agent alone."""
    return select(rows, measure="elo", opponent="agent", **columns)


def gains(last, players):
    """Return the rating differences to the agent alone, as rows of a panel.

    Parameters
    ----------
    last : DataFrame
        Rows of the last episode.
    players : dict
        Name -> columns of the search.
    """
    groups = []
    for arm, of_arm in last.groupby("arm", sort=False):
        for name, columns in players.items():
            groups.append((arm, name, _against_alone(of_arm, columns)["value"]))
    return intervals(groups, PANEL)


def parts_of(iterations):
    """Return the players of all combinations of priors and leaf values: name -> columns."""
    players = {}
    for prior, leaf in PARTS:
        name = f"{WORDS[prior]}, {WORDS[leaf]}"
        players[name] = columns_of(iterations, prior=prior, leaf_value=leaf)
    return players


def _side_by_side(rows_of_columns):
    """Return values by name beside each other: a row for each arm and run."""
    columns = {}
    for name, rows in rows_of_columns.items():
        columns[name] = rows.set_index(["arm", "run"])["value"]
    return pd.concat(columns, axis=1)


def halves(last, iterations):
    """Return what the agent's priors and what its values add, each by itself, in each game."""
    gains_of_parts = {}
    for name, columns in parts_of(iterations).items():
        gains_of_parts[name] = _against_alone(last, columns)
    # Only runs that have been searched in all four ways count.
    wide = _side_by_side(gains_of_parts).dropna()
    both, only_priors, only_values, neither = (wide[name] for name in wide)
    priors = (both + only_priors - only_values - neither) / 2
    values = (both + only_values - only_priors - neither) / 2
    groups = []
    for half, additions in (("priors", priors), ("values", values)):
        for arm, of_arm in additions.groupby("arm", sort=False):
            groups.append((arm, half, of_arm))
    columns = ["game", "of the agent", "agents", "rating difference", "95% low", "95% high"]
    return intervals(groups, columns)


def overview(rated, scored, games, iterations, searches, cubes):
    """Return one table over all games: what agents reach alone, with the search, and the gain.

    Parameters
    ----------
    rated, scored : DataFrame
        Last rows of the games for two players, and of 2048.
    games : list of str
        The arms of `rated`.
    iterations : sequence of int
        Those of the searches.
    searches : dict
        Scale of the values -> columns of each search of 2048.
    cubes : dict
        Study -> last rows of the agents of the text.
    """
    columns = ["game", "measured in", "agents", "alone", *(f"{n:,} iterations" for n in iterations)]
    rows = []

    def add(game, unit, values):  # values: a column for the agent alone and for each search
        if len(values):
            cells = [in_words(values[name].to_numpy()) for name in values]
            rows.append((game, unit, len(values), *cells))

    for game in games:
        of_game = rated[rated["arm"] == game]
        with_search = {}
        for n in iterations:
            with_search[n] = _against_alone(of_game, columns_of(n))
        values = _side_by_side(with_search)
        values.insert(0, "alone", 0.0)
        add(game, "rating difference to the agent alone", values)
    for scale, players in searches.items():
        with_search = {}
        for k, search in enumerate(({}, *players)):  # 0: the agent alone
            with_search[k] = select(scored, measure="points", **search)
        values = _side_by_side(with_search)
        gain = 100 * (values.div(values[0], axis=0) - 1)
        add(f"2048, scale {scale:,}", "points of a game", values)
        add("", "gain in percent of the points alone", gain)
    for study, last in cubes.items():
        with_search = {}
        for n in (0, *iterations):
            with_search[n] = select(last, measure="solved_rate", **columns_of(n))
        values = _side_by_side(with_search)
        add(study, "solved cubes in percent", values)
        add("", "gain in percentage points", values.sub(values[0], axis=0))
    return pd.DataFrame(rows, columns=columns).fillna("–").style.hide(axis="index")


def in_words(values):
    """Return the mean of the values that are known; of three or more with its interval."""
    known = values[~np.isnan(values)]
    if not len(known):
        return "–"
    mean, low, high = mean_interval(known)
    if len(known) > 2 and low < high:
        return with_interval(mean, low, high, decimals=0)
    return fixed(mean, 0)


def move_times(runs, printed):
    """Return the CPU milliseconds of a move of each player, as a page shows them.

    The ratio to the tree search is the better one: the agent alone is asked from Python, which
    takes a good part of its time.

    Parameters
    ----------
    runs : DataFrame
        The runs of the study.
    printed : dict
        Player -> milliseconds (Table IV).
    """
    groups = []
    for player, seconds_of_runs in seconds(ALONE, runs).items():
        if player not in (TRAINING, ALL_OF_IT):
            groups.append((player, [1000 * spent for spent in seconds_of_runs.values()]))
    table = intervals(groups, ["player", "agents", "ours, ms", "95% low", "95% high"])
    table["95% low"] = table["95% low"].clip(lower=0.0)  # no move takes less than no time
    table["paper, ms"] = table["player"].map(printed).astype(float)
    tree_searches = [player for player, _ in groups if player.startswith("MCTS")]
    tree_search = tree_searches[0] if tree_searches else "MCTS"
    for reference, name in ((tree_search, "MCTS"), ("alone", "the agent alone")):
        for source in ("ours", "paper"):
            times = table.set_index("player")[f"{source}, ms"]
            time_of_reference = times.get(reference, np.nan)
            table[f"times {name}, {source}"] = (times / time_of_reference).to_numpy()
    return shown(table, 3)


def training_time(runs) -> Trained | None:
    """Return what a training of the agent alone takes; None if no record states it."""
    is_training = (runs["arm"] == ALONE) & (runs["kind"] == "train")
    trainings = runs[is_training].dropna(subset="cpu_seconds")
    if trainings.empty:
        return None
    mean = trainings["cpu_seconds"].mean()
    return Trained(seconds=mean, milliseconds=1000 * mean / trainings["moves"].mean())


def training_factors(runs, printed):
    """Return what a training whose moves are searched would cost, as a multiple (Table III).

    Every move of the training is made as before, and searched besides.

    Parameters
    ----------
    runs : DataFrame
        The runs of the study.
    printed : dict
        Player -> factor.
    """
    per_run = seconds(ALONE, runs)
    rows = []
    for player in per_run:
        if not player.startswith("Wrapped"):
            continue
        ratio, num_runs = ratio_of_means(per_run, player, TRAINING)
        if num_runs:
            rows.append((player, 1.0 + ratio.mean, float(printed.get(player, np.nan))))
    columns = ["moves of the training by", "factor, ours", "factor, paper"]
    return shown(pd.DataFrame(rows, columns=columns), 0, thousands=",")


def per_game(runs, other, searched):
    """Return CPU milliseconds of a game by machine and arm, and of how many agents they are.

    Parameters
    ----------
    runs, other : DataFrame
        The runs of this study and of notebook 20's, with a column games (of a training).
    searched : str
        The arm that is trained with a search.
    """
    arms = [W0, searched, ALONE]
    both = pd.concat([runs[runs["arm"].isin([W0, searched])], other[other["arm"] == ALONE]])
    trainings = both[both["kind"] == "train"]
    trainings = trainings.assign(ms=1000 * trainings.cpu_seconds / trainings.games)
    by_machine = {"values": "ms", "index": "machine", "columns": "arm"}
    costs = trainings.pivot_table(**by_machine).reindex(columns=arms)
    num_agents = trainings.pivot_table(**by_machine, aggfunc="count").reindex(columns=arms)
    return costs, num_agents.fillna(0).astype(int)


def on_one_machine(each, agents, searched):
    """Return the costs on the machine of most searched agents; None if no machine has both."""
    both = each.dropna(subset=[W0, searched])
    if both.empty:
        return None
    agents_of_machines = agents.loc[both.index, searched]
    costs = both.loc[agents_of_machines.idxmax()]
    return costs.fillna(costs[W0])  # where no agent of notebook 20 was trained


def plan(costs, searched, iterations):
    """Return what the paper's trainings take at that rate beside what it prints, for a page.

    Parameters
    ----------
    costs : Series
        CPU milliseconds of a game, by arm, of :func:`on_one_machine`.
    searched : str
        The arm that is trained with a search.
    iterations : int
        Those of its search.
    """
    cost_of_iteration = (costs[searched] - costs[W0]) / iterations
    rows = []
    for (num_iterations, games), printed_hours in PRINTED.items():
        cost_of_game = costs[ALONE]
        if num_iterations:
            cost_of_game = costs[W0] + num_iterations * cost_of_iteration
        rows.append((num_iterations, games, cost_of_game * games / 3.6e6, printed_hours))
    ours = "CPU hours an agent"
    paper = "paper, hours"
    table = pd.DataFrame(rows, columns=["iterations", "games", ours, paper])
    table["times TCL-base"] = table[ours] / table[ours].iloc[0]
    table["paper, times TCL-base"] = table[paper] / table[paper].iloc[0]  # Fig. 9: 16 and 153
    page = shown(table, thousands=",", na_rep=None).format("{:.2f}", subset=[ours])
    return page.set_caption(costs.name)
