"""Which games need Final Adaptation (Sec. 4, open question b): endings, variants of games, figures.

How the games of an agent against itself end, and what it knows of the end beforehand.
"""

from collections import defaultdict
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd

from ...checks import fraction
from ...evaluators import Evaluator, Matches
from ...games.game import Game
from ...games.rules import othello as othello_rules
from ...kernel.compile import kernel
from ...kernel.random import new_rng, random_bits, random_float, random_int
from ...networks.ntuple import Network
from ...players import MCTS
from ...reports.figures import in_our_style, panels
from ...reports.picture import Picture
from ...reports.summaries import PANEL, intervals, last_values

SAME = 1e-9  # rewards that differ by less are equal
RULES = ("start", "legal", "play", "player", "over", "score", "board")
LOSER_AGAIN, WINNER_LAST, NO_PASSES = (
    "ConnectFour, the loser moves once more",
    "Othello, the winner moves last",
    "Othello without passes",
)


@dataclass(frozen=True)
class Endings(Evaluator):
    """Games of a network against itself: who moves last, with what reward, and who expects it.

    Metrics, over all games:

    - ``last mover wins``, ``loses``, ``draws``: percent of the games in which the reward of the
      player who moves last is above, below, or at the mean of all players';
    - ``first player moves last``: percent of the games;
    - ``plies``, and ``passes``: moves of the player who has made the move before, both per game;
    - ``distance``: plies from the last move of the player who has not moved for the longest time;
    - ``wins heard``, ``losses heard``: of all players who win (lose) a game, the percentage to whom
      a move of their own brought the reward: without final adaptation others learn nothing from it;
    - ``value:won``, ``value:lost``: mean value of the last afterstate that a winner (loser) leaves
      behind, the terminal one not counted.

    `epsilon` is the rate of random moves. Raises ValueError if the game has one player or chance.

    Source: [konen2021] Sec. 4 (open question b).
    """

    games: int = 200
    epsilon: float = 0.1
    name, measures = "endings", Network

    def __post_init__(self):
        super().__post_init__()
        fraction("epsilon", self.epsilon)

    def _measure(self, game, net, seed):
        if game.players < 2 or not game.deterministic:
            raise ValueError(
                f"endings are counted in games of several players without chance, not in {game!r}"
            )
        rng, found = new_rng(seed), defaultdict(list)
        for _ in range(self.games):
            for metric, value in ending(*play_alone(game, net, self.epsilon, rng)):
                found[metric].append(value)
        return {metric: float(np.mean(values)) for metric, values in sorted(found.items())}


def play_alone(game, net, epsilon: float, rng) -> tuple[list, np.ndarray]:
    """Play one game of a network against itself.

    Returns (player, value of the afterstate or action, its reward afterwards) of every move, and
    the final rewards, float64 [players].
    """
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


def ending(moves, scores) -> list[tuple[str, float]]:
    """Return (metric, value) of one game, some of them several times."""
    movers, mean = [player for player, _, _ in moves], float(scores.mean())
    last = movers[-1]
    rows = [
        ("last mover wins", 100.0 * (scores[last] > mean + SAME)),
        ("last mover loses", 100.0 * (scores[last] < mean - SAME)),
        ("last mover draws", 100.0 * (abs(scores[last] - mean) <= SAME)),
        ("first player moves last", 100.0 * (last == 0)),
        ("plies", float(len(moves))),
        ("passes", float(np.sum(np.diff(movers) == 0))),
    ]
    places = {p: [k for k, mover in enumerate(movers) if mover == p] for p in set(movers)}
    distances = [len(moves) - 1 - made[-1] for p, made in places.items() if p != last]
    rows += [("distance", float(max(distances)))] if distances else []
    for p, made in places.items():
        if abs(scores[p] - mean) <= SAME:
            continue
        won, paid = scores[p] > mean, moves[made[-1]][2]
        heard = p == last or (paid == scores[p] and paid != 0.0)
        rows.append(("wins heard" if won else "losses heard", 100.0 * heard))
        left = made[:-1] if p == last else made
        rows += [("value:won" if won else "value:lost", moves[left[-1]][1])] if left else []
    return rows


# ------------------------------------------------------------ variants of games


def variant(base, name, **changed):
    """Return a game with other rules, two more numbers in its state, and a null move."""
    same = "players max_legal num_codes symmetries score_range start_scheme neighbours".split()
    return Game(
        name,
        **{rule: base.rule(rule) for rule in RULES} | changed,
        **{what: getattr(base, what) for what in same},
        actions=base.actions + 1,
        size=base.size + 2,
        action_symmetries=[[*row, base.actions] for row in base.action_symmetries.tolist()],
        version=1,
    )


def with_null_move(base, name, winner=None):
    """After the end the loser moves once more; or the winner (0, 1, or -1: none), who is paid then.

    winner: kernel of the state, or None.
    """
    start0, legal0, play0, player0, over0, score0, _ = (kernel(base.rule(rule)) for rule in RULES)
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
    return variant(base, name, **rules, score=score)


@kernel
def more_stones(s):
    """Return the player of Othello who has more stones, -1 for none."""
    own = othello_rules.count(othello_rules.bitboard(s, 0))
    lead = own - othello_rules.count(othello_rules.bitboard(s, 2))
    return 0 if lead > 0 else 1 if lead < 0 else -1


def variants(connect4, othello):
    """Return the three variants by their names."""
    play_othello = kernel(othello.rule("play"))

    def no_pass(s, action):
        mover = s[4]
        play_othello(s, action)
        if s[4] == mover:  # the opponent would have to pass: nobody has a move any more
            s[4] = s[5] = s[6] = 0

    return {
        LOSER_AGAIN: with_null_move(connect4, "connect4-null-move"),
        WINNER_LAST: with_null_move(othello, "othello-winner-last", more_stones),
        NO_PASSES: variant(othello, "othello-no-passes", play=no_pass),
    }


# ------------------------------------------------------------ what agents know


def mcts(iterations, starts, episodes):
    """Return matches against tree search."""
    opponent = partial(MCTS, iterations)
    return Matches(f"MCTS-{iterations}", opponent, starts=starts, episodes=episodes)


def random_play(game):
    """Return the expected rewards under random play of all running positions, exactly.

    float64 [positions, 2]: of the player who has just moved, and of the one who moved before.
    """
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
    names = ("who has just moved", "who moved before")
    labels = [f"value for the player {name}" for name in names]
    for axes, (title, own) in zip(figure.subplots(1, 2), known.groupby("game", sort=False)):
        axes.plot(*(own[name] for name in names), "o", color="#0077bb", alpha=0.4, markersize=4)
        axes.set(title=title, xlabel=labels[0], ylabel=labels[1])
    return figure


def panel_rows(table, lines, metric_of, factor=lambda row: 1.0):
    """Return rows of a panel with means over runs; lines: (row, series, arm)."""
    found = (
        (row, series, factor(row) * last_values(table, arm, metric_of(row)))
        for row, series, arm in lines
    )
    return intervals(found, PANEL)


def draw_answer(table, titles, strength_of):
    """Draw who hears of a reward, what the losers expect, and the strength of each game.

    table: the arms "<title>: TD" and "<title>: TD without FARL"; strength_of: title -> metric.
    Returns None without results.
    """
    arms = (("with FARL", "TD"), ("without FARL", "TD without FARL"))
    both = [(title, series, f"{title}: {arm}") for title in titles for series, arm in arms]
    heard = [
        panel_rows(table, [(title, what, f"{title}: TD") for title in titles], lambda _, w=what: w)
        for what in ("wins heard", "losses heard")
    ]
    expected = "value of the loser's\nlast afterstate"
    parts = {
        "heard by an own move\n(percent)": pd.concat(heard),
        expected: panel_rows(table, both, lambda row: "value:lost"),
        "final strength\n(percent of the greatest score)": panel_rows(
            table, both, strength_of, lambda row: 100.0 if row == "Nim3P" else 1.0
        ),
    }
    if not sum(map(len, parts.values())):
        return None
    return panels(titles, parts, "Which games need Final Adaptation?", lines={expected: 0.0})
