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
from ...results import select
from ..claims import load
from .wrapping import versions

WRAPPED, PERFECT, ALONE, SEARCH = "TCL-wrap", "AB-DL", "TCL-base", "MCTS"
NAMES = (WRAPPED, PERFECT, ALONE, SEARCH)  # as Table II ranks them
PAIRS = tuple(permutations(NAMES, 2))
EVERY_PAIR = {"player": ..., "opponent": ..., "seat": "first"}
WON = "won_games_rate"
OUTCOMES = ("won", "drawn", "lost")
# perfect player: what tells the rates of its tournament, in which it stands as AB-DL, from others
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
    # with it only the pairs in which it takes part
    perfect: Literal["", *BLIND_STONES] = ""  # type: ignore[valid-type]
    measures, settings = object, versions(Wrapped, MCTS, Perfect) | {"tree_depth": TREE_DEPTH}
    heavy = property(lambda self: bool(self.perfect))
    needs = property(lambda self: "bitbully" if self.perfect else "")

    @property
    def name(self) -> str:
        """A part of the key."""
        name = f"tournament, {self.iterations} and {self.mcts_iterations} iterations"
        return name + (f", {self.perfect}" if self.perfect else "")

    def _measure(self, game, net, seed):
        found, players = [], {WRAPPED: Wrapped(net, self.iterations), ALONE: net}
        players[SEARCH] = MCTS(self.mcts_iterations, tree_depth=TREE_DEPTH)
        if self.perfect:
            players[self.perfect] = Perfect(self.perfect)
        pairs = [p for p in permutations(players, 2) if not self.perfect or self.perfect in p]
        table = played(game, players, None, self.episodes, seed, pairs)
        for first, second, *counts in ratings.counted(table).to_numpy():
            pair = {"player": first, "opponent": second, "seat": "first"}
            found += [
                {"measure": outcome, **pair, "value": 100.0 * (number / self.episodes)}
                for outcome, number in zip(OUTCOMES, counts)
            ]
        return found


@dataclass(frozen=True)
class AsSecond(Evaluator):
    """How often the agent, wrapped with more and more iterations, wins as second against MCTS.

    Measure: ``win_rate``, in percent, a tie as half a game, by `iterations`, of which 0 are the
    agent alone; the `seat` is second. Source: [scheiermann2022] Sec. IV-B, Fig. 6.
    """

    iterations: tuple[int, ...] = (0, 10, 20, 50, 100, 200, 500, 1000)
    episodes: int = 25
    mcts_iterations: int = 10_000
    measures, settings = object, versions(Wrapped, MCTS) | {"tree_depth": TREE_DEPTH}
    name = property(lambda self: f"second against MCTS-{self.mcts_iterations}")

    def _measure(self, game, net, seed):
        found, mine = [], {"measure": "win_rate", "opponent": SEARCH, "seat": "second"}
        for n in self.iterations:
            search = MCTS(self.mcts_iterations, tree_depth=TREE_DEPTH)
            players = {SEARCH: search, "agent": Wrapped(net, n) if n else net}
            table = played(game, players, None, self.episodes, seed, [(SEARCH, "agent")])
            rate = win_rate(table[table.player == "agent"].score, game.score_range)
            found.append(mine | {"iterations": n, "value": 100.0 * rate})
        return found


def cells_of(rows) -> dict:
    """Return (player, opponent, measure) -> games of a hundred, of the rows of one tournament."""
    cells = select(rows, measure=list(OUTCOMES), **EVERY_PAIR)
    return cells.set_index(["player", "opponent", "measure"])["value"].to_dict()


def won_games_rates(cells, players=NAMES) -> dict[str, float]:
    """Return the rate of games won of every player, in percent, a tie as half a game (D22)."""
    # cells: as of :func:`cells_of`; without those of a pair its players have NaN
    points = dict.fromkeys(players, 0.0)
    for first, second in permutations(players, 2):
        won, drawn, lost = (cells.get((first, second, outcome), math.nan) for outcome in OUTCOMES)
        points[first] += won + drawn / 2
        points[second] += lost + drawn / 2
    return {name: total / (2 * (len(points) - 1)) for name, total in points.items()}


def rates(rows):
    """Return the rates of games won in each tournament that is there as a whole: to derive."""
    found, cells = [], cells_of(rows[rows["episode"] == rows["episode"].max()])
    for perfect, how in TOURNAMENTS.items():
        players = [perfect if name == PERFECT else name for name in NAMES]
        won = won_games_rates(cells, players).values()
        if not any(map(math.isnan, won)):
            row = {"measure": WON, **how}
            found += [row | {"player": name, "value": rate} for name, rate in zip(NAMES, won)]
    return found


def table_2(finals, arm, perfect, caption):
    """Return Table II of an arm's agents with a perfect player in the place of AB-DL."""
    # finals: rows of the last episode; a cell: mean wins, ties, losses of a hundred (the paper's)
    own = select(finals[finals["arm"] == arm], measure=list(OUTCOMES), **EVERY_PAIR)
    own = own.groupby(["player", "opponent", "measure"], observed=True)["value"]
    means, counts, agents = own.mean().to_dict(), own.size().to_dict(), set()
    claims = [c for c in load("scheiermann2022").claims if c.place.get("table") == "II"]
    paper = {(c.place["row"], c.place["column"]): printed(c.printed) for c in claims}
    cells = pd.DataFrame("", index=NAMES, columns=NAMES)
    for pair in PAIRS:
        one, other = (perfect if name == PERFECT else name for name in pair)
        found = [means.get((one, other, outcome)) for outcome in OUTCOMES]
        agents.add(counts.get((one, other, "won"), 0))
        ours = "–" if None in found else " : ".join(together(found, decimals=1))
        cells.loc[pair] = f"{ours}  ({paper[pair]})"
    many = " to ".join(map(str, sorted({min(agents), max(agents)})))
    return cells.style.set_caption(f"{caption}; mean over {many} agents")


def won_by_agents(finals, arms):
    """Return how many of a hundred matches each agent wins as first player, and as second."""
    others, wanted = (*TOURNAMENTS, SEARCH), {}
    for player in (ALONE, WRAPPED):
        wanted |= {f"{player} v {other}": ("won", player, other) for other in others}
    for player in (ALONE, WRAPPED):
        wanted[f"{player}, second v {SEARCH}"] = ("lost", SEARCH, player)
    own = finals[finals["arm"].isin(list(arms))]
    found = {
        name: select(own, measure=what, player=player, opponent=opponent, seat="first")
        for name, (what, player, opponent) in wanted.items()
    }
    values = {name: rows.set_index(["arm", "run"])["value"] for name, rows in found.items()}
    return pd.concat(values, axis=1).rename_axis(index=["arm", "agent"])


def stored_cells() -> dict:
    """Return the tournaments that the authors stored: file -> pair -> percent of each outcome."""
    return {
        name: {(a, b): dict(zip(OUTCOMES, file[a][b].split(":"))) for a, b in PAIRS}
        for name, file in logged("scheiermann2022")["connect4"].items()
    }


def stored_tournaments() -> pd.DataFrame:
    """Return the tournaments that the authors stored, a column a file, as "won:drawn:lost"."""
    stored = {
        name: {f"{a} v {b}": ":".join(cell.values()) for (a, b), cell in cells.items()}
        for name, cells in stored_cells().items()
    }
    return pd.DataFrame(stored)


def draw_ranking(finals):
    """Draw the rates of games won, ours, the paper's, and those of the authors' stored files."""
    won = select(finals[finals["arm"] == ALONE], measure=WON, player=...)
    groups = won.groupby("player", observed=True)["value"]
    ours = intervals([(player, "ours", values) for player, values in groups], PANEL)
    claims = [c for c in load("scheiermann2022").claims if (c.select or {}).get("measure") == WON]
    paper = [(c.select["player"], "paper", 0, *[c.value] * 3) for c in claims]
    stored = []
    for cells in stored_cells().values():
        of_file = {(*pair, o): float(n) for pair, cell in cells.items() for o, n in cell.items()}
        stored += [(n, "authors' files", 0, *[r] * 3) for n, r in won_games_rates(of_file).items()]
    parts = (ours, pd.DataFrame(paper, columns=PANEL), pd.DataFrame(stored, columns=PANEL))
    rows = pd.concat([part for part in parts if len(part)])
    title = "ConnectFour tournament: ranking"
    return panels(list(NAMES), {"rate of games won, percent": rows}, title=title)


def draw_second(finals, arms):
    """Draw Fig. 6: win rates as second player against MCTS, of wrapped agents and perfect ones."""
    # arms: those whose agents are shown, of which ALONE meets the perfect players, too
    of_second = {"measure": "win_rate", "opponent": SEARCH, "seat": "second", "iterations": ...}
    wrapped = select(finals[finals["arm"].isin(arms)], **of_second)
    names = {arm: arm.replace(ALONE, WRAPPED) for arm in arms}
    parts = [wrapped.replace({"arm": names})]
    iterations = sorted({int(n) for n in wrapped["iterations"]})
    own = finals[finals["arm"] == ALONE]
    for perfect in TOURNAMENTS:
        pair = {"player": SEARCH, "opponent": perfect, "seat": "first"}
        lost, drawn = (
            select(own, measure=outcome, **pair).set_index("run")["value"]
            for outcome in ("lost", "drawn")
        )
        rates_of = dict.fromkeys(iterations, lost + drawn / 2)
        flat = pd.concat(rates_of, names=["iterations"]) if rates_of else lost
        parts.append(flat.reset_index().assign(arm=perfect))
    rows = pd.concat([part for part in parts if len(part)] or parts)
    look = {"title": "ConnectFour: TCL-wrap as second player against MCTS", "score_axis": False}
    label = "iterations of the search around the agent before each move (0: TCL-base alone)"
    look |= {"x": "iterations", "xlabel": label}
    picture, data = learning_curves(rows, [*names.values(), *TOURNAMENTS], **look)
    axes = picture.axes[0]
    axes.set_xscale("symlog", linthresh=10)  # half of the points lie below 100
    axes.set_xticks(iterations, [f"{n:,}" for n in iterations])
    axes.set_xlim(-1, 1.2 * max(iterations, default=1))
    return picture, data
