"""What trainings with a search before every move take, and what the paper's would take so."""

from typing import NamedTuple

import pandas as pd

from ...reports.summaries import shown

W0, ALONE = "W0", "TCL-base"
PRINTED = {  # iterations, games of a training -> hours; some are printed as days
    (0, 250_000): 1.8,
    (100, 12_000): 2.0,
    (100, 250_000): 2.5 * 24,
    (1_000, 12_000): 1.2 * 24,
    (10_000, 12_000): 11.5 * 24,
}


class Costs(NamedTuple):
    """CPU milliseconds of a game of one training, on one machine."""

    machine: str
    iterations: int  # before every move of the searched training
    alone: float
    searched: float
    unsearched: float  # of notebook 20; as `alone` where it has no agent of this machine


def per_game(runs, other, searched):
    """Return CPU milliseconds of a game by machine and arm, and of how many agents they are.

    runs, other: of this study and of notebook 20's, with a column games (of a training).
    """
    own = runs[runs["arm"].isin([W0, searched])]
    trainings = pd.concat([own, other[other["arm"] == ALONE]]).query("kind == 'train'")
    trainings = trainings.assign(ms=1000 * trainings.cpu_seconds / trainings.games)
    of = {"values": "ms", "index": "machine", "columns": "arm"}
    each = trainings.pivot_table(**of).reindex(columns=[W0, searched, ALONE])
    agents = trainings.pivot_table(**of, aggfunc="count").reindex(columns=each.columns)
    return each, agents.fillna(0).astype(int)


def on_one_machine(each, agents, searched, iterations) -> Costs | None:
    """Return the costs on the machine of most searched agents; None if no machine has both."""
    both = each.dropna(subset=[W0, searched])
    if not len(both):
        return None
    machine = agents.loc[both.index, searched].idxmax()
    alone, with_search, unsearched = both.loc[machine, [W0, searched, ALONE]]
    unsearched = unsearched if unsearched == unsearched else alone
    return Costs(machine, iterations, alone, with_search, unsearched)


def plan(costs):
    """Return what the paper's trainings take at that rate beside what it prints, for a page."""
    iteration, rows = (costs.searched - costs.alone) / costs.iterations, []
    for (n, games), hours in PRINTED.items():
        each = costs.alone + n * iteration if n else costs.unsearched
        rows.append((n, games, each * games / 3.6e6, hours))
    ours, theirs = "CPU hours an agent", "paper, hours"
    table = pd.DataFrame(rows, columns=["iterations", "games", ours, theirs])
    table["times TCL-base"] = table[ours] / table[ours].iloc[0]
    table["paper, times TCL-base"] = table[theirs] / table[theirs].iloc[0]  # Fig. 9: 16 and 153
    look = shown(table, thousands=",", na_rep=None).format("{:.2f}", subset=[ours])
    return look.set_caption(costs.machine)
