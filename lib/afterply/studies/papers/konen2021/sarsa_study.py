"""What SARSA and Q-learning cost beside TD-learning, and which games need Final Adaptation."""

from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd

from ....arena.exact import graph
from ....checks import fraction
from ....games.game import Game
from ....games.rules import othello as othello_rules
from ....kernel.compile import kernel
from ....kernel.random import new_rng, random_bits, random_float, random_int
from ....learners import sarsa
from ....networks.ntuple import Network, make_tuples
from ....players import MCTS
from ....stats import mean_interval
from ...evaluators import Evaluator, Matches
from ...reports.figures import in_our_style, panels
from ...reports.picture import Picture
from ...reports.summaries import PANEL, intervals, last_values

UNKNOWN = (np.nan,) * 3


def difference(table, arm, other, **columns):
    """Return mean and 95% interval of `arm` less `other` over pairs of runs; NaN without any."""
    mine, theirs = last_values(table, arm, **columns), last_values(table, other, **columns)
    pairs = min(len(mine), len(theirs))
    return mean_interval(mine[:pairs] - theirs[:pairs]) if pairs else UNKNOWN


def num_weights(setting, per_action):
    """Return how many entries the tables of a setting have, with or without a set an action."""
    game, cells = setting["game"], make_tuples(setting["game"], setting["tuples"], None)
    entries = sum(int(np.prod(game.num_codes[list(c)], dtype=np.int64)) for c in cells)
    return game.players * entries * (game.actions if per_action else 1)


def memory_and_strength(table, settings, algorithms, strength):
    """Return weights and final strength of each game and algorithm, and the difference to TD."""
    # settings, strength: game -> arguments of its arms, columns of what is measured of it;
    # algorithms: name -> (learner, ...)
    rows = []
    for title, setting in settings.items():
        for name, (learner, _) in algorithms.items():
            arm, of = f"{title}: {name}", strength[title]
            found = last_values(table, arm, **of)
            used = last_values(table, arm, measure="active_weights")
            if len(found):
                td = f"{title}: TD"
                behind = difference(table, arm, td, **of) if name != "TD" else UNKNOWN
                weights = f"{num_weights(setting, learner is sarsa):,}", f"{used.mean():.3g}"
                numbers = (len(found), *mean_interval(found), *behind)
                rows.append((title, name, of["measure"], of["opponent"], *weights, *numbers))
    columns = ["game", "algorithm", "measure", "opponent", "weights", "in use %", "runs", "final"]
    columns += ["95% low", "95% high", "minus TD", "low", "high"]
    return pd.DataFrame(rows, columns=columns)


def pairs_per_afterstate(game) -> dict:
    """Count the state-action pairs that lead to each afterstate of a small game of two players.

    "running" and "terminal", by whether the game goes on, are {pairs: number of afterstates}.
    ValueError if its positions cannot be listed. Source: [konen2021] Sec. 2.6, footnote 5.
    """
    positions = graph(game)
    players = np.repeat(positions.mover, np.diff(positions.first))  # of every move
    found = {"running": Counter(), "terminal": Counter()}
    leading = Counter(zip(positions.target.tolist(), players.tolist()))
    for (after, _), pairs in leading.items():
        found["terminal" if positions.mover[after] < 0 else "running"][pairs] += 1
    return found


def pairs_table(boards):
    """Count the pairs of state and action that lead to afterstates (footnote 5); name -> Game."""
    rows = []
    for title, board in boards.items():
        found = pairs_per_afterstate(board)
        for kind in ("running", "terminal"):
            number, pairs = found[kind].total(), sum(n * times for n, times in found[kind].items())
            rows.append((title, kind, number, pairs, pairs / number, max(found[kind])))
    columns = ["number", "pairs that lead to them", "pairs per afterstate", "most"]
    return pd.DataFrame(rows, columns=["game", "afterstates", *columns])


def filled(game, first, second):
    """Return the state after two players have put their stones in turn, until one has won."""
    s = game.start()
    for stone in np.stack([first, second], 1).ravel().tolist():
        s = s if game.over(s) else game.play(s, stone)
    return s


def one_full_afterstate(game):
    """Fill a board at random but for one cell until nobody has won; return it, and its pairs."""
    rng, many, after = np.random.default_rng(1), game.cells // 2, None
    while after is None or game.over(after):
        first, second = np.split(rng.permutation(game.cells)[: 2 * many], 2)
        after = filled(game, first, second)
    # each stone of the second player is tried as the one that was put last
    orders = ((first, np.append(second[second != last], last)) for last in second)
    return after, sum(game.key(filled(game, *stones)) == game.key(after) for stones in orders)


SAME = 1e-9  # rewards that differ by less are equal
RULES = ("start", "legal", "play", "player", "over", "score", "board")
LOSER_AGAIN = "ConnectFour, the loser moves once more"
WINNER_LAST, NO_PASSES = "Othello, the winner moves last", "Othello without passes"


@dataclass(frozen=True)
class Endings(Evaluator):
    """Games of a network against itself: who moves last, with what reward, and who expects it.

    Measures, over all games:

    - ``last mover wins``, ``loses``, ``draws``: percent of the games in which the reward of the
      player who moves last is above, below, or at the mean of all players';
    - ``first player moves last``: percent of the games;
    - ``plies``, and ``passes``: moves of the player who has made the move before, both per game;
    - ``distance``: plies from the last move of the player who has not moved for the longest time;
    - ``wins heard``, ``losses heard``: of all players who win (lose) a game, the percentage to whom
      a move of their own brought the reward: without final adaptation others learn nothing from it;
    - ``value``, of the variants "won" and "lost": mean value of the last afterstate that a winner
      (loser) leaves behind, the terminal one not counted.

    `epsilon` is the rate of random moves. Source: [konen2021] Sec. 4 (open question b).
    """

    games: int = 200
    epsilon: float = 0.1
    name, measures = "endings", Network

    def __post_init__(self):
        super().__post_init__()
        fraction("epsilon", self.epsilon)

    def _measure(self, game, net, seed):
        if game.players < 2 or not game.deterministic:
            raise ValueError(f"endings are those of several players without chance, not {game!r}")
        rng, found = new_rng(seed), defaultdict(list)
        for _ in range(self.games):
            for *of, value in ending(*play_alone(game, net, self.epsilon, rng)):
                found[tuple(of)].append(value)
        rows = []
        for (measure, which), values in sorted(found.items()):
            row = {"measure": measure, "value": float(np.mean(values))}
            rows.append(row | ({"variant": which} if which else {}))
        return rows


def play_alone(game, net, epsilon: float, rng) -> tuple[list, np.ndarray]:
    """Return the moves of one game of a network against itself, and the final rewards [players]."""
    # a move is (player, value of the afterstate or action, reward of the player afterwards)
    s, moves = game.start(int(random_bits(rng))), []
    while not game.over(s):
        legal, player = game.legal(s), game.player(s)
        merits = net.action_values(s)
        best = np.flatnonzero(merits == merits.max())
        explored = random_float(rng) < epsilon
        k = random_int(rng, len(legal)) if explored else best[random_int(rng, len(best))]
        s = game.play(s, legal[k])
        value = float(merits[k]) if net.per_action else net.value(s, player)
        moves.append((player, value, float(game.score(s)[player])))
    return moves, game.score(s)


def ending(moves, scores) -> list[tuple[str, str, float]]:
    """Return (measure, variant, value) of one game, some of them several times."""
    movers, mean = [player for player, _, _ in moves], float(scores.mean())
    last = movers[-1]
    rows = [
        ("last mover wins", "", 100.0 * (scores[last] > mean + SAME)),
        ("last mover loses", "", 100.0 * (scores[last] < mean - SAME)),
        ("last mover draws", "", 100.0 * (abs(scores[last] - mean) <= SAME)),
        ("first player moves last", "", 100.0 * (last == 0)),
        ("plies", "", float(len(moves))),
        ("passes", "", float(np.sum(np.diff(movers) == 0))),
    ]
    places = {p: [k for k, mover in enumerate(movers) if mover == p] for p in set(movers)}
    distances = [len(moves) - 1 - made[-1] for p, made in places.items() if p != last]
    rows += [("distance", "", float(max(distances)))] if distances else []
    for p, made in places.items():
        if abs(scores[p] - mean) <= SAME:
            continue
        won, paid = scores[p] > mean, moves[made[-1]][2]
        heard = p == last or (paid == scores[p] and paid != 0.0)
        rows.append(("wins heard" if won else "losses heard", "", 100.0 * heard))
        left = made[:-1] if p == last else made
        rows += [("value", "won" if won else "lost", moves[left[-1]][1])] if left else []
    return rows


def variant(base, name, version=1, **changed):
    """Return a game with other rules."""
    same = "players actions size max_legal num_codes symmetries action_symmetries".split()
    same += ["score_range", "start_scheme", "neighbours"]
    rules = {r: base.functions[r] for r in RULES} | {what: getattr(base, what) for what in same}
    return Game(name, version=version, **rules | changed)


def with_null_move(base, name, winner=None):
    """After the end the loser moves once more; or the `winner` of the state (-1: none) is paid."""
    start0, legal0, play0, player0, over0, score0, _ = (kernel(base.functions[r]) for r in RULES)
    # s[left]: 1 = a null move is due, -1 = over
    left, turn, null = base.size, base.size + 1, base.actions
    at_once, entitled = winner is None, winner or player0

    def start(s, rng):
        start0(s, rng)
        s[left] = s[turn] = 0

    def legal(s, moves):
        if s[left] == 0:
            return legal0(s, moves)
        moves[0] = null
        return 1

    def play(s, action):
        mover = player0(s)
        if s[left] == 1:
            s[left] = -1
        else:
            play0(s, action)
            if over0(s):
                s[turn] = 1 - mover if at_once else entitled(s)
                s[left] = -1 if s[turn] == -1 or s[turn] == mover else 1

    def player(s):
        return s[turn] if s[left] == 1 else player0(s)

    def over(s):
        return s[left] == -1

    def score(s, r):
        r[0] = r[1] = 0.0
        if at_once or s[left] == -1:
            score0(s, r)

    rules = {"start": start, "legal": legal, "play": play, "player": player, "over": over}
    symmetries = [[*row, null] for row in base.action_symmetries.tolist()]
    more = {"actions": null + 1, "size": base.size + 2, "action_symmetries": symmetries}
    return variant(base, name, **rules, score=score, **more)


@kernel
def more_stones(s):
    """Return the player of Othello who has more stones, -1 for none."""
    own = othello_rules.count(othello_rules.bitboard(s, 0))
    lead = own - othello_rules.count(othello_rules.bitboard(s, 2))
    return 0 if lead > 0 else 1 if lead < 0 else -1


def variants(connect4, othello):
    """Return the three variants by their names."""
    play_othello = kernel(othello.functions["play"])

    def no_pass(s, action):
        mover = s[4]
        play_othello(s, action)
        if s[4] == mover:  # the opponent would have to pass: nobody has a move any more
            s[4] = s[5] = s[6] = 0

    return {
        LOSER_AGAIN: with_null_move(connect4, "connect4-null-move"),
        WINNER_LAST: with_null_move(othello, "othello-winner-last", more_stones),
        # version 1 had two more numbers in its states, from which players draw their seeds
        NO_PASSES: variant(othello, "othello-no-passes", version=2, play=no_pass),
    }


def mcts(iterations, starts, episodes):
    """Return matches against tree search."""
    opponent = partial(MCTS, iterations)
    return Matches(f"MCTS-{iterations}", opponent, starts=starts, episodes=episodes)


def random_play(game):
    """Return the exact values under random play of all running positions: [last, former mover]."""
    values, pairs = {}, []

    def value(s):
        key = tuple(s.tolist())
        if key not in values:
            if game.over(s):
                values[key] = game.score(s)
            else:
                values[key] = np.mean([value(game.play(s, a)) for a in game.legal(s)], axis=0)
                mover = game.player(s)
                pairs.append((values[key][mover - 1], values[key][mover - 2]))
        return values[key]

    value(game.start())
    return np.array(pairs)


@in_our_style
def draw_rewards(known):
    """Draw one panel for each game, one dot for each position."""
    figure = Picture(figsize=(8.4, 4.2), layout="constrained")
    for axes, (title, own) in zip(figure.subplots(1, 2), known.groupby("game", sort=False)):
        x, y = own.columns[1:]
        axes.plot(own[x], own[y], "o", color="#0077bb", alpha=0.4, markersize=4)
        labels = {"xlabel": f"value for the player {x}", "ylabel": f"value for the player {y}"}
        axes.set(title=title, **labels)
    return figure


def panel_rows(table, lines, columns_of, factor=lambda row: 1.0):
    """Return rows of a panel with means over runs; lines: (row, series, arm)."""
    values = (factor(row) * last_values(table, arm, **columns_of(row)) for row, _, arm in lines)
    return intervals(((*line[:2], own) for line, own in zip(lines, values)), PANEL)


def draw_answer(table, titles, strength_of):
    """Draw who hears of a reward, what losers expect, and the strength; None without results."""
    # strength_of: title -> columns of what is measured of it
    arms = (("with FARL", "TD"), ("without FARL", "TD without FARL"))
    both = [(title, series, f"{title}: {arm}") for title in titles for series, arm in arms]
    heard = [
        panel_rows(
            table,
            [(title, what, f"{title}: TD") for title in titles],
            lambda _, w=what: {"measure": w},
        )
        for what in ("wins heard", "losses heard")
    ]
    expected = "value of the loser's\nlast afterstate"
    parts = {
        "heard by an own move\n(percent)": pd.concat(heard),
        expected: panel_rows(table, both, lambda row: {"measure": "value", "variant": "lost"}),
        "final strength\n(percent of the greatest score)": panel_rows(
            table, both, strength_of, lambda row: 100.0 if row == "Nim3P" else 1.0
        ),
    }
    if not sum(map(len, parts.values())):
        return None
    return panels(titles, parts, "Which games need Final Adaptation?", lines={expected: 0.0})
