"""The ConnectFour tournament: a wrapped agent, the agent alone, a perfect player, and MCTS."""

import math
from dataclasses import dataclass
from itertools import permutations
from typing import Literal

import pandas as pd

from ....arena import ratings
from ....arena.matches import win_rate
from ....opponents.perfect import BLIND_STONES, Perfect
from ....players.searching import MCTS
from ....players.wrapped import Wrapped
from ....stats import printed, together
from ...evaluators import Evaluator, played
from ...reports.figures import learning_curves, panels
from ...reports.summaries import PANEL, intervals, logged
from ...results import rows_of, select
from ..claims import load
from .wrapping import versions

WRAPPED = "TCL-wrap"
PERFECT = "AB-DL"
ALONE = "TCL-base"
SEARCH = "MCTS"
NAMES = (WRAPPED, PERFECT, ALONE, SEARCH)  # as Table II ranks them
PAIRS = tuple(permutations(NAMES, 2))
EVERY_PAIR = {"player": ..., "opponent": ..., "seat": "first"}
WON = "won_games_rate"
OUTCOMES = ("won", "drawn", "lost")
# perfect player -> the columns of the rates of its tournament. In rates it is always called AB-DL.
TOURNAMENTS = {PERFECT: {}, "AB-DL-8": {"variant": "with AB-DL-8"}}
TREE_DEPTH = 40  # of MCTS


@dataclass(frozen=True)
class Pairings(Evaluator):
    """All ordered pairs of the tournament's players, from the empty board.

    Measures, for every `player` who is first (`seat`) against every `opponent`: ``won``, ``drawn``
    and ``lost``, in percent.
    Source: [scheiermann2022] Sec. IV-B, Table II. Deviations: D19, D22.
    """

    episodes: int = 100  # matches of a pair
    iterations: int = 1000  # of the wrapped agent
    mcts_iterations: int = 10_000
    # with a perfect player only the pairs in which it takes part
    perfect: Literal["", *BLIND_STONES] = ""  # type: ignore[valid-type]
    measures = object
    settings = versions(Wrapped, MCTS, Perfect) | {"tree_depth": TREE_DEPTH}
    heavy = property(lambda self: bool(self.perfect))
    needs = property(lambda self: "bitbully" if self.perfect else "")

    @property
    def name(self) -> str:
        """A part of the key."""
        name = f"tournament, {self.iterations} and {self.mcts_iterations} iterations"
        if self.perfect:
            return f"{name}, {self.perfect}"
        return name

    def _measure(self, game, net, seed):
        players = {
            WRAPPED: Wrapped(net, self.iterations),
            ALONE: net,
            SEARCH: MCTS(self.mcts_iterations, tree_depth=TREE_DEPTH),
        }
        if self.perfect:
            players[self.perfect] = Perfect(self.perfect)
        pairs = list(permutations(players, 2))
        if self.perfect:
            pairs = [pair for pair in pairs if self.perfect in pair]
        table = played(game, players, None, self.episodes, seed, pairs)
        rows = []
        for first, second, *counts in ratings.counted(table).to_numpy():
            percents = {}
            for outcome, number in zip(OUTCOMES, counts):
                percents[outcome] = 100.0 * (number / self.episodes)
            rows += rows_of(percents, player=first, opponent=second, seat="first")
        return rows


@dataclass(frozen=True)
class AsSecond(Evaluator):
    """How often the agent, wrapped with more and more iterations, wins as second against MCTS.

    Measure: ``win_rate``, in percent, a tie as half a game, in the second `seat`, for each number
    of `iterations`; 0 is the agent alone. Source: [scheiermann2022] Sec. IV-B, Fig. 6.
    """

    iterations: tuple[int, ...] = (0, 10, 20, 50, 100, 200, 500, 1000)
    episodes: int = 25
    mcts_iterations: int = 10_000
    measures = object
    settings = versions(Wrapped, MCTS) | {"tree_depth": TREE_DEPTH}
    name = property(lambda self: f"second against MCTS-{self.mcts_iterations}")

    def _measure(self, game, net, seed):
        rows = []
        for iterations in self.iterations:
            player = net
            if iterations:
                player = Wrapped(net, iterations)
            search = MCTS(self.mcts_iterations, tree_depth=TREE_DEPTH)
            players = {SEARCH: search, "agent": player}
            table = played(game, players, None, self.episodes, seed, [(SEARCH, "agent")])
            rate = win_rate(table[table.player == "agent"].score, game.score_range)
            row = {
                "measure": "win_rate",
                "opponent": SEARCH,
                "seat": "second",
                "iterations": iterations,
                "value": 100.0 * rate,
            }
            rows.append(row)
        return rows


def cells_of(rows) -> dict:
    """Return (player, opponent, measure) -> games of a hundred, of the rows of one tournament."""
    cells = select(rows, measure=list(OUTCOMES), **EVERY_PAIR)
    return cells.set_index(["player", "opponent", "measure"])["value"].to_dict()


def won_games_rates(cells, players=NAMES) -> dict[str, float]:
    """Return the rate of games won of every player, in percent, a tie as half a game (D22).

    Parameters
    ----------
    cells : dict
        As :func:`cells_of` returns them. If a pair is missing, the rates of its players are NaN.
    players : sequence of str
        The players of the tournament.
    """
    points = dict.fromkeys(players, 0.0)
    for first, second in permutations(players, 2):
        won, drawn, lost = (cells.get((first, second, outcome), math.nan) for outcome in OUTCOMES)
        points[first] += won + drawn / 2
        points[second] += lost + drawn / 2
    pairings = 2 * (len(points) - 1)  # of each player
    return {name: total / pairings for name, total in points.items()}


def _players_with(perfect) -> dict[str, str]:
    """Return names of Table II -> players, with a perfect player in the place of AB-DL."""
    return {name: name for name in NAMES} | {PERFECT: perfect}


def rates(rows):
    """Return the rates of games won in each complete tournament: for ``Study.derive``."""
    cells = cells_of(rows[rows["episode"] == rows["episode"].max()])
    rows_of_rates = []
    for perfect, columns in TOURNAMENTS.items():
        players = _players_with(perfect).values()
        values = won_games_rates(cells, players).values()
        if any(map(math.isnan, values)):
            continue
        for name, rate in zip(NAMES, values):
            rows_of_rates.append({"measure": WON, **columns, "player": name, "value": rate})
    return rows_of_rates


def table_2(finals, arm, perfect, caption):
    """Return Table II of an arm's agents with a perfect player in the place of AB-DL.

    A cell has mean wins, ties and losses of a hundred games, and in brackets the paper's.

    Parameters
    ----------
    finals : DataFrame
        Rows of the last episode.
    arm : str
        The arm of the agents.
    perfect : str
        The perfect player.
    caption : str
        Beginning of the caption; the number of agents follows.
    """
    results = select(finals[finals["arm"] == arm], measure=list(OUTCOMES), **EVERY_PAIR)
    groups = results.groupby(["player", "opponent", "measure"], observed=True)["value"]
    means = groups.mean().to_dict()
    sizes = groups.size().to_dict()
    paper = {}
    for claim in load("scheiermann2022").claims:
        if claim.place.get("table") == "II":
            paper[claim.place["row"], claim.place["column"]] = printed(claim.printed)
    players = _players_with(perfect)
    cells = pd.DataFrame("", index=NAMES, columns=NAMES)
    numbers_of_agents = []
    for pair in PAIRS:
        player = players[pair[0]]
        opponent = players[pair[1]]
        percents = [means.get((player, opponent, outcome)) for outcome in OUTCOMES]
        ours = "–"
        if None not in percents:
            ours = " : ".join(together(percents, decimals=1))
        cells.loc[pair] = f"{ours}  ({paper[pair]})"
        numbers_of_agents.append(sizes.get((player, opponent, "won"), 0))
    fewest = min(numbers_of_agents)
    most = max(numbers_of_agents)
    agents = f"{most}" if fewest == most else f"{fewest} to {most}"
    return cells.style.set_caption(f"{caption}; mean over {agents} agents")


def won_by_agents(finals, arms):
    """Return how many of a hundred matches each agent wins as first player, and as second."""
    of_arms = finals[finals["arm"].isin(list(arms))]

    def matches(measure, player, opponent):
        rows = select(of_arms, measure=measure, player=player, opponent=opponent, seat="first")
        return rows.set_index(["arm", "run"])["value"]

    columns = {}
    for player in (ALONE, WRAPPED):
        for opponent in (*TOURNAMENTS, SEARCH):
            columns[f"{player} v {opponent}"] = matches("won", player, opponent)
    for player in (ALONE, WRAPPED):
        columns[f"{player}, second v {SEARCH}"] = matches("lost", SEARCH, player)
    return pd.concat(columns, axis=1).rename_axis(index=["arm", "agent"])


def stored_cells() -> dict:
    """Return the tournaments that the authors stored: file -> pair -> percent of each outcome."""
    tournaments = {}
    for file, cells in logged("scheiermann2022")["connect4"].items():
        of_pairs = {}
        for first, second in PAIRS:
            percents = cells[first][second].split(":")
            of_pairs[first, second] = dict(zip(OUTCOMES, percents))
        tournaments[file] = of_pairs
    return tournaments


def stored_tournaments() -> pd.DataFrame:
    """Return the tournaments that the authors stored, a column a file, as "won:drawn:lost"."""
    columns = {}
    for file, cells in stored_cells().items():
        column = {}
        for (first, second), percents in cells.items():
            column[f"{first} v {second}"] = ":".join(percents.values())
        columns[file] = column
    return pd.DataFrame(columns)


def stored_rates() -> list[dict[str, float]]:
    """Return the rates of games won in each tournament that the authors stored."""
    tournaments = []
    for cells_of_file in stored_cells().values():
        cells = {}
        for pair, percents in cells_of_file.items():
            for outcome, percent in percents.items():
                cells[*pair, outcome] = float(percent)
        tournaments.append(won_games_rates(cells))
    return tournaments


def draw_ranking(finals):
    """Draw the rates of games won, ours, the paper's, and those of the authors' stored files."""
    won = select(finals[finals["arm"] == ALONE], measure=WON, player=...)
    groups = won.groupby("player", observed=True)["value"]
    ours = intervals([(player, "ours", values) for player, values in groups], PANEL)
    without_interval = []  # a value stands for its mean and both ends
    for claim in load("scheiermann2022").claims:
        if claim.select and claim.select.get("measure") == WON:
            player = claim.select["player"]
            without_interval.append((player, "paper", 0, claim.value, claim.value, claim.value))
    for rates_of_file in stored_rates():
        for player, rate in rates_of_file.items():
            without_interval.append((player, "authors' files", 0, rate, rate, rate))
    rows = pd.DataFrame(without_interval, columns=PANEL)
    if len(ours):
        rows = pd.concat([ours, rows])
    title = "ConnectFour tournament: ranking"
    return panels(list(NAMES), {"rate of games won, percent": rows}, title=title)


def draw_second(finals, arms):
    """Draw Fig. 6: win rates as second player against MCTS, of wrapped agents and perfect ones.

    Parameters
    ----------
    finals : DataFrame
        Rows of the last episode.
    arms : list of str
        The arms whose agents are shown. Those of ``ALONE`` have met the perfect players, too.
    """
    wrapped = select(
        finals[finals["arm"].isin(arms)],
        measure="win_rate",
        opponent=SEARCH,
        seat="second",
        iterations=...,
    )
    names = {arm: arm.replace(ALONE, WRAPPED) for arm in arms}
    iterations = sorted({int(number) for number in wrapped["iterations"]})
    parts = [wrapped.replace({"arm": names})]
    for perfect in TOURNAMENTS:
        parts.append(_as_second(finals[finals["arm"] == ALONE], perfect, iterations))
    with_rows = [part for part in parts if len(part)]
    picture, data = learning_curves(
        pd.concat(with_rows or parts),
        [*names.values(), *TOURNAMENTS],
        x="iterations",
        xlabel="iterations of the search around the agent before each move (0: TCL-base alone)",
        title="ConnectFour: TCL-wrap as second player against MCTS",
        score_axis=False,
    )
    axes = picture.axes[0]
    axes.set_xscale("symlog", linthresh=10)  # half of the points lie below 100
    axes.set_xticks(iterations, [f"{n:,}" for n in iterations])
    axes.set_xlim(-1, 1.2 * max(iterations, default=1))
    return picture, data


def _as_second(results, perfect, iterations):
    """Return a perfect player's win rates as second player: a line, the same at all iterations."""
    pair = {"player": SEARCH, "opponent": perfect, "seat": "first"}
    lost = select(results, measure="lost", **pair).set_index("run")["value"]
    drawn = select(results, measure="drawn", **pair).set_index("run")["value"]
    rates_of_runs = lost + drawn / 2
    line = lost
    if iterations:
        line = pd.concat(dict.fromkeys(iterations, rates_of_runs), names=["iterations"])
    return line.reset_index().assign(arm=perfect)
