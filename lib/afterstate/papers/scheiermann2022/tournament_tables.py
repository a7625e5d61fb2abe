"""Tables and figures of the ConnectFour tournament, from the results of its study."""

from itertools import permutations

import pandas as pd

from ...reports.figures import learning_curves, panels
from ...reports.summaries import PANEL, by_number, intervals
from ...stats import cell, printed, together
from ..claims import load
from .connect4_tournament import ALONE, OUTCOMES, SEARCH, WRAPPED, won_games_rates

PERFECT = "AB-DL"
NAMES = (WRAPPED, PERFECT, ALONE, SEARCH)  # in the order of the paper's ranking
PAIRS = tuple(permutations(NAMES, 2))
TOURNAMENTS = {PERFECT: "", "AB-DL-8": " AB-DL-8"}  # perfect player: what ends its metrics
SECOND = f"win_rate_second:{SEARCH}:iterations-"


def rates(results):
    """Return the rates of games won in each tournament that is there as a whole: to derive."""
    last, found = results.iloc[-1].to_dict(), {}
    for perfect, end in TOURNAMENTS.items():
        who = {name: name.replace(PERFECT, perfect) for name in NAMES}
        cells = (f"{who[first]} v {who[second]}:wins" for first, second in PAIRS)
        if all(last.get(metric, float("nan")) >= 0 for metric in cells):
            won = won_games_rates(last, list(who.values()))
            for name in NAMES:
                start = "" if name == ALONE else f"{name} "
                found[f"{start}won_games_rate{end}"] = won[who[name]]
    return found


def add_views(study, arm, label, second_iterations):
    """Show the results of an arm's agents under the names of Table II, with `label` behind them."""
    study.derive(arm, rates)
    for first, second in PAIRS:
        pair = f"{first} v {second}"
        metrics = {
            f"cell{end}:{outcome}": f"{pair.replace(PERFECT, perfect)}:{outcome}"
            for perfect, end in TOURNAMENTS.items()
            for outcome in OUTCOMES
        }
        study.view(f"{first} vs {second}{label}", arm, metrics)
    for name in (WRAPPED, PERFECT, SEARCH):
        own = {f"won_games_rate{e}": f"{name} won_games_rate{e}" for e in TOURNAMENTS.values()}
        if name == WRAPPED:
            own |= {f"{SECOND}{n}": f"{SECOND}{n}" for n in second_iterations}
        study.view(name + label, arm, own)


def table_2(finals, arm, perfect, caption):
    """Return Table II of an arm's agents with a perfect player in the place of AB-DL.

    finals: rows of the last episode. A cell holds wins, ties and losses of a hundred, mean over
    agents, and in brackets the paper's.
    """
    own, agents = finals[finals["arm"] == arm], set()
    means = own.groupby("metric").value.mean()
    paper = {
        (claim.place["row"], claim.place["column"]): printed(claim.printed)
        for claim in load("scheiermann2022").claims
        if claim.place.get("table") == "II"
    }
    cells = pd.DataFrame("", index=NAMES, columns=NAMES)
    for first, second in PAIRS:
        pair = f"{first} v {second}".replace(PERFECT, perfect)
        found = [means.get(f"{pair}:{outcome}") for outcome in OUTCOMES]
        agents.add(int((own["metric"] == f"{pair}:wins").sum()))
        ours = "–" if None in found else cell(together(found, decimals=1))
        cells.loc[first, second] = f"{ours}  ({paper[first, second]})"
    many = " to ".join(str(number) for number in sorted({min(agents), max(agents)}))
    return cells.style.set_caption(f"{caption}; mean over {many} agents")


def by_agent(finals, arms):
    """Return the matches won against the strong players, of a hundred, one row for each agent."""
    both = (ALONE, WRAPPED)
    wanted = {f"{p} v {o}:wins": f"{p} v {o}" for p in both for o in (*TOURNAMENTS, SEARCH)}
    wanted |= {f"{SEARCH} v {p}:losses": f"{p} as second v {SEARCH}" for p in both}
    own = finals[finals["arm"].isin(arms) & finals["metric"].isin(list(wanted))]
    wide = own.pivot(index=["arm", "run"], columns="metric", values="value")
    wide = wide[[metric for metric in wanted if metric in wide]].rename(columns=wanted)
    return wide.rename_axis(columns="", index=["arm", "agent"])


def draw_ranking(finals):
    """Draw the rates of games won, ours and the paper's."""
    won = finals[(finals["metric"] == "won_games_rate") & finals["arm"].isin(NAMES)]
    ours = [(arm, "ours", group.value) for arm, group in won.groupby("arm")]
    claims = load("scheiermann2022").claims
    paper = [(c.arm, "paper", 0, *[c.value] * 3) for c in claims if c.metric == "won_games_rate"]
    parts = intervals(ours, PANEL), pd.DataFrame(paper, columns=PANEL)
    rows = pd.concat([part for part in parts if len(part)])
    title = "ConnectFour tournament: ranking"
    return panels(list(NAMES), {"rate of games won, percent": rows}, title=title)


def draw_second(finals, arms, iterations):
    """Draw Fig. 6: win rates as second player against MCTS, of wrapped agents and perfect ones."""
    wrapped = finals[finals["arm"].isin(arms) & finals["metric"].str.startswith(SECOND)]
    parts = [by_number(wrapped, "win rate")]
    for perfect in TOURNAMENTS:
        start = f"{SEARCH} v {perfect}"
        level = finals[(finals["arm"] == ALONE) & finals["metric"].str.startswith(f"{start}:")]
        level = level.pivot(index="run", columns="metric", values="value")
        if len(level):
            rate = 100 - level[f"{start}:wins"] - level[f"{start}:ties"] / 2
            flat = pd.DataFrame({n: rate for n in iterations}).rename_axis(columns="episode")
            flat = flat.stack().rename("value").reset_index()
            parts.append(flat.assign(arm=perfect, metric="win rate"))
    rows = pd.concat([part for part in parts if len(part)] or parts)
    title = "ConnectFour: TCL-wrap as second player against MCTS"
    look = {"score_axis": False, "title": title}
    picture, data = learning_curves(rows, "win rate", [*arms, *TOURNAMENTS], **look)
    axes = picture.axes[0]
    axes.set_xscale("symlog", linthresh=10)  # half of the points lie below 100
    axes.set_xticks(iterations, [f"{n:,}" for n in iterations])
    axes.set_xlim(-1, 1.2 * max(iterations))
    axes.set_xlabel(
        "iterations of the search around the agent before each move (0 = TCL-base alone)"
    )
    return picture, data
