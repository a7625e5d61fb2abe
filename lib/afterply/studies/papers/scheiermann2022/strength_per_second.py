"""What strength costs: ratings beside the CPU time of a move, and direct games, of notebook 52."""

import numpy as np
import pandas as pd

from ...profiles import QUICK
from ...reports.figures import arm_style, interval_of, learning_curves, panels
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
BEATEN = ", beaten"  # what the names of lines end with that join nothing
RATING = "rating (Elo points above random play)"


def timed_ratings(table, costs):
    """Return each rating with the mean CPU time of the player's move and of its training.

    Parameters
    ----------
    table : DataFrame
        The ``table()`` of a study.
    costs : DataFrame
        Its ``runs()``, as :func:`times_of` returns them.

    Returns
    -------
    DataFrame
        The columns of the table, and `who`, `way`, `game`, `move` (milliseconds), `training`
        (seconds).

    Source: beyond [scheiermann2022], whose Table IV has times.
    """
    points = table[table["measure"] == "rating"].copy()
    points["who"] = [name_of(row) for row in points.itertuples()]
    points["way"] = points["player"].mask(points["who"] == "alone", "alone").map(WAYS)
    points["game"] = points["arm"].str.partition(",")[0]
    times_of_arms = {arm: _mean_seconds(arm, costs) for arm in points["arm"].unique()}
    moves = []
    trainings = []
    for arm, who in zip(points["arm"], points["who"]):
        times = times_of_arms[arm]
        moves.append(1000 * times.get(who, np.nan))
        trainings.append(times.get(ALL_OF_IT, np.nan))
    points["move"] = moves
    points["training"] = trainings
    return points


def _mean_seconds(arm, costs):
    """Return who or what -> its mean CPU time over the runs of an arm, in seconds."""
    means = {}
    for who, seconds_of_runs in seconds(arm, costs).items():
        means[who] = float(np.mean(list(seconds_of_runs.values())))
    return means


def times_of(study):
    """Return the runs of a study whose times are compared, and the processor that made them.

    Outside the profile quick only recorded runs count, so that a page is the same on every machine.
    """
    costs = study.runs()
    if study.profile != QUICK:
        costs = costs[costs["provenance"] == "recorded"]
    return on_one_processor(costs)


def name_of(row):
    """Return who a row rates, by the name that the evaluator of times gives."""
    if row.player == "MCTS":
        return f"MCTS-{row.iterations:g}"
    if row.player:
        return f"{row.player}-{row.depth:g}-first"
    if row.iterations > 0:
        return f"Wrapped-{row.iterations:g}"
    return "alone"


def best_within(points, limit):
    """Return who has the greatest mean rating within so many milliseconds a move, or None."""
    mean_ratings = points[points["move"] <= limit].groupby("who")["value"].mean()
    if mean_ratings.empty:
        return None
    return mean_ratings.idxmax()


def best_players(points, limits) -> dict:
    """Return "game, limit" -> the strongest player within the limit, and its mean rating.

    Parameters
    ----------
    points : DataFrame
        As :func:`timed_ratings` returns it. Only the longest trainings count.
    limits : dict
        Label -> milliseconds of a move.
    """
    best = {}
    for game, of_game in _longest_trainings(points).groupby("game", sort=False):
        for label, limit in limits.items():
            who = best_within(of_game, limit)
            if who is not None:
                rating = of_game["value"][of_game["who"] == who].mean()
                best[f"{game}, {label}"] = (who, float(rating))
    return best


def _longest_trainings(points):
    """Return the rows of the arms that are named after their game alone: the longest trainings."""
    return points[points["arm"] == points["game"]]


def direct_games(table):
    """Return the results of direct games: game, who, opponent, run, value (won, in percent)."""
    is_direct = table["arm"].str.endswith(DIRECT) & (table["measure"] == "win_rate")
    rows = finals(table[is_direct])
    game = rows["arm"].str.removesuffix(DIRECT)
    who = [name_of(row) for row in rows.itertuples()]
    columns = ["game", "who", "opponent", "run", "value"]
    return rows.assign(game=game, who=who).reindex(columns=columns)


def beside_ratings(direct, points):
    """Return direct games beside what the ratings predict: a row for each game and pair."""
    ratings = _longest_trainings(points).groupby(["game", "who"])["value"].mean()
    rows = []
    for (game, who, opponent), results in direct.groupby(["game", "who", "opponent"], sort=False):
        difference = ratings.get((game, who), np.nan) - ratings.get((game, opponent), np.nan)
        expected = 100 / (1 + 10 ** (-difference / 400))  # the Elo formula
        won = interval_of("win_rate", results["value"])
        rows.append((game, who, opponent, len(results), *won, expected))
    columns = ["game", "player", "opponent", "agents", "won", "low", "high", "expected"]
    return pd.DataFrame(rows, columns=columns)


def summary(points, direct, limit):
    """Draw who is strongest within `limit` milliseconds a move, and the direct games beside it."""
    full = _longest_trainings(points)
    games = list(full["game"].unique())
    groups = []
    for way in WAYS.values():
        for game in games:
            of_way = full[(full["game"] == game) & (full["way"] == way)]
            is_best = of_way["who"] == best_within(of_way, limit)
            groups.append((game, way, of_way["value"][is_best].to_numpy()))
    tables = {f"rating (Elo), at most {limit:g} ms a move": intervals(groups, PANEL)}
    with_uct = _games_with_uct(direct)
    if len(with_uct):
        tables[WON] = with_uct
    return panels(games, tables, "Who is strongest?", {WON: 50.0})


def thinking(points):
    """Draw the rating of every player against the time of its move, a panel for each game.

    A line joins the players of a kind that nobody of it beats in less time; the others stand
    beside it.
    """
    rows = _longest_trainings(points).dropna(subset="move")
    is_beaten = np.zeros(len(rows), bool)
    for _, of_kind in rows.groupby(["game", "way"], sort=False):
        mean = of_kind.groupby("who")[["move", "value"]].mean().sort_values("move")
        beaten = mean.index[mean["value"] < mean["value"].cummax()]
        is_beaten |= (rows["who"].isin(beaten) & rows.index.isin(of_kind.index)).to_numpy()
    line = rows["game"] + ", " + rows["way"]
    rows = rows.assign(line=line.where(~is_beaten, line + BEATEN))
    return _by_game(
        rows, "move", "What a move may cost: rating and thinking", "CPU milliseconds of a move"
    )


def training(points):
    """Draw the rating of the agent alone against the time of its training, a panel a game."""
    rows = points[points["who"] == "alone"].dropna(subset="training")
    rows = rows.assign(line=rows["game"] + ", " + rows["way"])
    return _by_game(
        rows,
        "training",
        "What a training may cost: rating of the agent alone",
        "CPU seconds of the training",
    )


def _by_game(rows, x, title, xlabel):
    """Draw lines of players against a time, on a scale of logarithms, a panel for each game."""
    panels_of_games = {}
    names = {}
    styles = {}
    kinds = [way for way in WAYS.values() if way in set(rows["way"])]
    for way in kinds:  # the order of the legend
        lines = rows[rows["way"] == way][["game", "line"]].drop_duplicates()
        for game, line in sorted(lines.to_numpy().tolist(), key=_is_beaten):
            panels_of_games.setdefault(game, []).append(line)
            names[line] = way
            styles[line] = arm_style(way, kinds)
            if _is_beaten((game, line)):
                styles[line] = styles[line] | {"linestyle": ""}
    figure, data = learning_curves(
        rows,
        list(names),
        by="line",
        x=x,
        title=title,
        possible=None,
        score_axis=False,
        label=RATING,
        xlabel=xlabel,
        panels=panels_of_games,
        names=names,
        styles=styles,
    )
    for axes in figure.axes:
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter("{x:g}")
    return figure, data


def _is_beaten(game_and_line):
    """Return whether these players are beaten by others of their kind in less time."""
    return game_and_line[1].endswith(BEATEN)


def _games_with_uct(direct):
    """Return the direct games in which UCT plays, as rows of a panel.

    With these only, the colours of UCT and of the agent are the same in both panels.
    """
    players = zip(direct["who"], direct["opponent"])
    is_uct = np.array(["MCTS" in f"{who} {opponent}" for who, opponent in players], bool)
    pairs = direct[is_uct].groupby(["who", "opponent", "game"], sort=False)["value"]
    rows = []
    for (who, opponent, game), won in pairs:
        series = f"{_in_words(who)} against {_in_words(opponent)}"
        rows.append((game, series, len(won), *interval_of("win_rate", won)))
    return pd.DataFrame(rows, columns=PANEL)


def _in_words(who):
    """Return a player as a figure names it."""
    if who == "alone":
        return "the agent alone"
    if who.startswith("Min-Max"):
        return "Min-Max"  # its depth is the game's
    return who.replace("Wrapped-", "search-").replace("MCTS-", "UCT-")
