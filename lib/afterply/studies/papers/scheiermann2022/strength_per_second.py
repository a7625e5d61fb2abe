"""What strength costs: ratings beside the CPU time of a move, and direct games, of notebook 52."""

import numpy as np
import pandas as pd

from ...profiles import QUICK
from ...reports.figures import interval_of, panels
from ...reports.summaries import PANEL, finals, intervals
from ...reports.times import ALL_OF_IT, on_one_processor, seconds

WAYS = {  # `player` of a result, or "alone" -> how a player finds its move
    "alone": "the agent alone",
    "": "with a search around it",
    "MCTS": "UCT",
    "Min-Max": "Min-Max",
}
DIRECT = ", direct games"  # what the names of arms with direct games end with
WON = "direct games won, percent"  # label of a panel


def timed_ratings(table, costs):
    """Return each rating with the mean CPU time of the player's move and of its training.

    table, costs: of a study, its ``table()`` and its ``runs()`` as :func:`times_of` returns them.
    The columns are those of the table, and `who`, `way`, `game`, `move` (milliseconds), `training`
    (seconds). Source: beyond [scheiermann2022], whose Table IV has times.
    """
    points = table[table["measure"] == "rating"].copy()
    points["who"] = [name_of(row) for row in points.itertuples()]
    points["way"] = points["player"].mask(points["who"] == "alone", "alone").map(WAYS)
    points["game"] = points["arm"].str.partition(",")[0]
    spent = {
        arm: {who: float(np.mean(list(each.values()))) for who, each in seconds(arm, costs).items()}
        for arm in points["arm"].unique()
    }
    places = list(zip(points["arm"], points["who"]))
    points["move"] = [1000 * spent[arm].get(who, np.nan) for arm, who in places]
    points["training"] = [spent[arm].get(ALL_OF_IT, np.nan) for arm, _ in places]
    return points


def times_of(study):
    """Return the runs of a study whose times are compared, and the processor that made them.

    A page is the same on every machine: of a study with records only these count.
    """
    costs = study.runs()
    if study.profile != QUICK:
        costs = costs[costs["provenance"] == "recorded"]
    return on_one_processor(costs)


def name_of(row):
    """Return who a row rates, as the evaluator of his times names him."""
    if row.player:
        uct = row.player == "MCTS"
        return f"MCTS-{row.iterations:g}" if uct else f"{row.player}-{row.depth:g}-first"
    return f"Wrapped-{row.iterations:g}" if row.iterations > 0 else "alone"


def best_within(points, limit):
    """Return who has the greatest mean rating within so many milliseconds a move, or None."""
    fits = points[points["move"] <= limit].groupby("who")["value"].mean()
    return fits.idxmax() if len(fits) else None


def best_players(points, limits) -> dict:
    """Return "game, limit" -> the strongest player within it, and its mean rating.

    limits: label -> milliseconds of a move. The trainings are the longest ones.
    """
    full = points[points["arm"] == points["game"]]
    found = {}
    for game, own in full.groupby("game", sort=False):
        for label, limit in limits.items():
            if who := best_within(own, limit):
                rating = own["value"][own["who"] == who].mean()
                found[f"{game}, {label}"] = who, float(rating)
    return found


def direct_games(table):
    """Return the results of direct games: game, who, opponent, run, value (won, in percent)."""
    rows = finals(table[table["arm"].str.endswith(DIRECT) & (table["measure"] == "win_rate")])
    rows = rows.assign(
        game=rows["arm"].str.removesuffix(DIRECT), who=[name_of(row) for row in rows.itertuples()]
    )
    return rows.reindex(columns=["game", "who", "opponent", "run", "value"])


def beside_ratings(direct, points):
    """Return direct games beside what the ratings let expect: a row for each game and pair."""
    ratings = points[points["arm"] == points["game"]].groupby(["game", "who"])["value"].mean()
    found = []
    for (game, who, other), rows in direct.groupby(["game", "who", "opponent"], sort=False):
        ahead = ratings.get((game, who), np.nan) - ratings.get((game, other), np.nan)
        expected = 100 / (1 + 10 ** (-ahead / 400))
        won = interval_of("win_rate", rows["value"])
        found.append((game, who, other, len(rows), *won, expected))
    columns = ["game", "player", "opponent", "agents", "won", "low", "high", "expected"]
    return pd.DataFrame(found, columns=columns)


def summary(points, direct, limit):
    """Draw who is strongest within `limit` milliseconds a move, and the direct games beside it."""
    full = points[points["arm"] == points["game"]]
    games = list(full["game"].unique())
    rated = []
    for way in WAYS.values():
        for game in games:
            own = full[(full["game"] == game) & (full["way"] == way)]
            who = best_within(own, limit)
            rated.append((game, way, own["value"][own["who"] == who].to_numpy()))
    # of UCT alone: its colour and those of the agent are then the same in both panels
    of_uct = ["MCTS" in f"{who} {other}" for who, other in zip(direct["who"], direct["opponent"])]
    pairs = direct[np.array(of_uct, bool)].groupby(["who", "opponent", "game"], sort=False)["value"]
    met = []
    for (who, other, game), won in pairs:
        series = f"{_in_words(who)} against {_in_words(other)}"
        met.append((game, series, len(won), *interval_of("win_rate", won)))
    tables = {f"rating (Elo), at most {limit:g} ms a move": intervals(rated, PANEL)}
    tables |= {WON: pd.DataFrame(met, columns=PANEL)} if met else {}
    return panels(games, tables, "Who is strongest?", {WON: 50.0})


def _in_words(who):
    if who == "alone":
        return "the agent alone"
    if who.startswith("Min-Max"):
        return "Min-Max"  # its depth is the game's
    return who.replace("Wrapped-", "search-").replace("MCTS-", "UCT-")
