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
from ...reports.figures import arm_style, in_our_style, interval_of, learning_curves, panels
from ...reports.picture import Picture
from ...reports.summaries import PANEL, intervals, last_values
from ...results import select

UNKNOWN = (np.nan, np.nan, np.nan)  # mean and interval of no runs
COLUMNS = [  # of `memory_and_strength`
    *("game", "algorithm", "measure", "opponent", "weights", "in use %"),
    *("runs", "final", "95% low", "95% high"),
    *("minus TD", "low", "high"),
]


def difference(table, arm, other, **columns):
    """Return mean and 95% interval of `arm` less `other` over pairs of runs; NaN without any."""
    values = last_values(table, arm, **columns)
    other_values = last_values(table, other, **columns)
    pairs = min(len(values), len(other_values))
    if not pairs:
        return UNKNOWN
    return mean_interval(values[:pairs] - other_values[:pairs])


def num_weights(setting, per_action):
    """Return the number of weights of a setting; `per_action`: with a set for each action."""
    game = setting["game"]
    entries = 0
    for cells in make_tuples(game, setting["tuples"], None):
        entries += int(np.prod(game.num_codes[list(cells)], dtype=np.int64))
    weights = game.players * entries
    if per_action:
        return weights * game.actions
    return weights


def memory_and_strength(table, settings, algorithms, strength):
    """Return weights and final strength of each game and algorithm, and the difference to TD.

    Parameters
    ----------
    table : DataFrame
        Results of a study whose arms are "game: algorithm".
    settings, strength : dict
        Game -> the arguments of its arms, and the columns of what is measured of it.
    algorithms : dict
        Name -> (learner, its parameters).
    """
    rows = []
    for title, setting in settings.items():
        measured = strength[title]
        for name, (learner, _) in algorithms.items():
            arm = f"{title}: {name}"
            values = last_values(table, arm, **measured)
            if not len(values):
                continue
            weights_in_use = last_values(table, arm, measure="active_weights")
            mean, low, high = interval_of(measured["measure"], values)
            row = {
                "game": title,
                "algorithm": name,
                "measure": measured["measure"],
                "opponent": measured["opponent"],
                "weights": f"{num_weights(setting, learner is sarsa):,}",
                "in use %": f"{weights_in_use.mean():.3g}",
                "runs": len(values),
                "final": mean,
                "95% low": low,
                "95% high": high,
            }
            minus_td = UNKNOWN
            if name != "TD":
                minus_td = difference(table, arm, f"{title}: TD", **measured)
            row["minus TD"], row["low"], row["high"] = minus_td
            rows.append(row)
    return pd.DataFrame(rows, columns=COLUMNS)


def pairs_per_afterstate(game) -> dict:
    """Count the state-action pairs that lead to each afterstate of a small game of two players.

    Returns
    -------
    dict
        "running" and "terminal", by whether the game goes on: a Counter, number of pairs ->
        number of afterstates to which so many pairs lead.

    Raises
    ------
    ValueError
        If the positions of the game cannot be listed.

    Source: [konen2021] Sec. 2.6, footnote 5.
    """
    positions = graph(game)
    moves_of_positions = np.diff(positions.first)
    player_of_move = np.repeat(positions.mover, moves_of_positions)
    pairs_to = Counter(zip(positions.target.tolist(), player_of_move.tolist()))
    afterstates = {"running": Counter(), "terminal": Counter()}
    for (afterstate, _), pairs in pairs_to.items():
        is_terminal = positions.mover[afterstate] < 0
        kind = "terminal" if is_terminal else "running"
        afterstates[kind][pairs] += 1
    return afterstates


def pairs_table(boards):
    """Count the pairs of state and action that lead to afterstates (footnote 5); name -> Game."""
    rows = []
    for title, board in boards.items():
        counts = pairs_per_afterstate(board)
        for kind in ("running", "terminal"):
            afterstates = counts[kind].total()
            pairs = sum(number * times for number, times in counts[kind].items())
            row = {
                "game": title,
                "afterstates": kind,
                "number": afterstates,
                "pairs that lead to them": pairs,
                "pairs per afterstate": pairs / afterstates,
                "most": max(counts[kind]),
            }
            rows.append(row)
    return pd.DataFrame(rows)


def filled(game, first, second):
    """Return the state after two players have put their stones in turn, until one has won."""
    state = game.start()
    stones_in_turn = np.stack([first, second], 1).ravel()
    for stone in stones_in_turn.tolist():
        if game.over(state):
            break
        state = game.play(state, stone)
    return state


def one_full_afterstate(game):
    """Fill a board at random but for one cell until nobody has won; return it, and its pairs."""
    rng = np.random.default_rng(1)
    stones_of_each = game.cells // 2
    while True:
        first, second = np.split(rng.permutation(game.cells)[: 2 * stones_of_each], 2)
        afterstate = filled(game, first, second)
        if not game.over(afterstate):
            break
    pairs = 0
    for last in second:  # each stone of the second player may have been the last one
        ordered = np.append(second[second != last], last)
        pairs += game.key(filled(game, first, ordered)) == game.key(afterstate)
    return afterstate, pairs


SAME = 1e-9  # rewards that differ by less are equal
# what a variant of a game takes from the game: functions, and attributes
RULES = ("start", "legal", "play", "player", "over", "score", "board")
ATTRIBUTES = (
    *("players", "actions", "size", "max_legal", "num_codes", "symmetries", "action_symmetries"),
    *("score_range", "start_scheme", "neighbours"),
)
LOSER_AGAIN = "ConnectFour, the loser moves once more"
WINNER_LAST = "Othello, the winner moves last"
NO_PASSES = "Othello without passes"


@dataclass(frozen=True)
class Endings(Evaluator):
    """Games of a network against itself: who moves last, with what reward, and who expects it.

    Measures, over all games:

    - ``last mover wins``, ``loses``, ``draws``: percent of the games in which the reward of the
      player who moves last is above, below, or at the mean of all players' rewards;
    - ``first player moves last``: percent of the games;
    - ``plies``: moves per game;
    - ``passes``: moves per game by the player who has also made the move before;
    - ``distance``: plies from the last move of the player who has not moved for the longest time
      to the end of the game;
    - ``wins heard``, ``losses heard``: percent of the players who win (lose) a game to whom a move
      of their own brings the reward. Without final adaptation the others learn nothing from it;
    - ``value``, of the variants "won" and "lost": mean value of the last afterstate that a winner
      (loser) leaves behind. A terminal one does not count.

    `epsilon` is the rate of random moves, from 0 to 1.
    Source: [konen2021] Sec. 4 (open question b).
    """

    games: int = 200
    epsilon: float = 0.1
    name = "endings"
    measures = Network

    def __post_init__(self):
        super().__post_init__()
        fraction("epsilon", self.epsilon)

    def _measure(self, game, net, seed):
        if game.players < 2 or not game.deterministic:
            raise ValueError(f"endings are those of several players without chance, not {game!r}")
        rng = new_rng(seed)
        values_of = defaultdict(list)  # (measure, variant) -> values of all games
        for _ in range(self.games):
            moves, scores = play_alone(game, net, self.epsilon, rng)
            for measure, variant, value in ending(moves, scores):
                values_of[measure, variant].append(value)
        rows = []
        for (measure, variant), values in sorted(values_of.items()):
            row = {"measure": measure, "value": float(np.mean(values))}
            if variant:
                row["variant"] = variant
            rows.append(row)
        return rows


def play_alone(game, net, epsilon: float, rng) -> tuple[list, np.ndarray]:
    """Return the moves of one game of a network against itself, and the final rewards [players].

    A move is (player, value of the afterstate or action, reward of the player afterwards).
    """
    state = game.start(int(random_bits(rng)))
    moves = []
    while not game.over(state):
        player = game.player(state)
        legal = game.legal(state)
        action_values = net.action_values(state)
        best = np.flatnonzero(action_values == action_values.max())
        if random_float(rng) < epsilon:
            k = random_int(rng, len(legal))
        else:
            k = best[random_int(rng, len(best))]
        state = game.play(state, legal[k])
        if net.per_action:
            value = float(action_values[k])
        else:
            value = net.value(state, player)
        moves.append((player, value, float(game.score(state)[player])))
    return moves, game.score(state)


def ending(moves, scores) -> list[tuple[str, str, float]]:
    """Return (measure, variant, value) of one game, some of them several times.

    Parameters
    ----------
    moves, scores
        As :func:`play_alone` returns them.
    """
    movers = [player for player, _, _ in moves]
    moves_by = defaultdict(list)  # player -> places of its moves in the game
    for place, player in enumerate(movers):
        moves_by[player].append(place)
    mean = float(scores.mean())
    last = movers[-1]
    rows = [
        ("last mover wins", "", 100.0 * (scores[last] > mean + SAME)),
        ("last mover loses", "", 100.0 * (scores[last] < mean - SAME)),
        ("last mover draws", "", 100.0 * (abs(scores[last] - mean) <= SAME)),
        ("first player moves last", "", 100.0 * (last == 0)),
        ("plies", "", float(len(moves))),
        ("passes", "", float(np.sum(np.diff(movers) == 0))),
    ]
    distances = [len(moves) - 1 - moves_by[p][-1] for p in moves_by if p != last]
    if distances:
        rows.append(("distance", "", float(max(distances))))
    for player in sorted(moves_by):
        if abs(scores[player] - mean) > SAME:
            rows += _rewarded(moves, moves_by[player], player == last, scores[player], mean)
    return rows


def _rewarded(moves, own_places, moves_last, score, mean):
    """Return what a winner or loser hears of its reward, and the value of its last afterstate."""
    wins = score > mean
    reward_of_last_move = moves[own_places[-1]][2]
    heard = moves_last or (reward_of_last_move == score and reward_of_last_move != 0.0)
    measure = "wins heard" if wins else "losses heard"
    rows = [(measure, "", 100.0 * heard)]
    running = own_places  # moves after which the game goes on
    if moves_last:
        running = own_places[:-1]
    if running:
        value = moves[running[-1]][1]
        variant = "won" if wins else "lost"
        rows.append(("value", variant, value))
    return rows


def variant(base, name, version=1, **changed):
    """Return a game with other rules."""
    functions = {rule: base.functions[rule] for rule in RULES}
    attributes = {attribute: getattr(base, attribute) for attribute in ATTRIBUTES}
    return Game(name, version=version, **(functions | attributes | changed))


def with_null_move(base, name, winner=None):
    """Return a game in which a null move, which changes nothing, follows the end.

    Parameters
    ----------
    base : Game
        A game of two players.
    name : str
        Name of the variant.
    winner : kernel, optional
        Function of a state that returns who makes the null move, -1 for nobody. The reward is then
        paid after that move. Without it the loser makes the null move, and the reward is paid as in
        the base game.
    """
    # `RULES` of the base game, in their order; its board is shown as it is
    start0, legal0, play0, player0, over0, score0, _ = (kernel(base.functions[r]) for r in RULES)
    left = base.size  # s[left]: 1 = a null move is due, -1 = over
    turn = base.size + 1  # s[turn]: who makes the null move
    null = base.actions
    at_once = winner is None  # the reward is paid before the null move
    entitled = winner or player0

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

    return variant(
        base,
        name,
        start=start,
        legal=legal,
        play=play,
        player=player,
        over=over,
        score=score,
        actions=null + 1,
        size=base.size + 2,
        action_symmetries=[[*row, null] for row in base.action_symmetries.tolist()],
    )


@kernel
def more_stones(s):
    """Return the player of Othello who has more stones, -1 for none."""
    own = othello_rules.count(othello_rules.bitboard(s, 0))
    lead = own - othello_rules.count(othello_rules.bitboard(s, 2))
    return 0 if lead > 0 else 1 if lead < 0 else -1


def variants(connect4, othello):
    """Return the three variants of ConnectFour and Othello by their names."""
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
    """Return matches against a Monte Carlo tree search."""
    opponent = partial(MCTS, iterations)
    return Matches(f"MCTS-{iterations}", opponent, starts=starts, episodes=episodes)


def random_play(game):
    """Return the exact values under random play of all running positions.

    Returns
    -------
    ndarray
        float64 [positions, 2]: the value for the player who has moved last, and for the one before.
    """
    known_values = {}  # position -> value of each player
    pairs = []

    def value_under_random_play(state):
        position = tuple(state.tolist())
        if position in known_values:
            return known_values[position]
        if game.over(state):
            values = game.score(state)
        else:
            following = [game.play(state, action) for action in game.legal(state)]
            values = np.mean([value_under_random_play(after) for after in following], axis=0)
            mover = game.player(state)
            pairs.append((values[mover - 1], values[mover - 2]))  # players move in turn
        known_values[position] = values
        return values

    value_under_random_play(game.start())
    return np.array(pairs)


@in_our_style
def draw_rewards(known):
    """Draw one panel for each game, one dot for each position."""
    figure = Picture(figsize=(8.4, 4.2), layout="constrained")
    panels_of_games = figure.subplots(1, 2)
    for axes, (title, positions) in zip(panels_of_games, known.groupby("game", sort=False)):
        x, y = positions.columns[1:]
        axes.plot(positions[x], positions[y], "o", color="#0077bb", alpha=0.4, markersize=4)
        axes.set(
            title=title, xlabel=f"value for the player {x}", ylabel=f"value for the player {y}"
        )
    return figure


def panel_rows(table, lines, columns_of, factor=lambda row: 1.0):
    """Return rows of a panel with means over runs.

    Parameters
    ----------
    table : DataFrame
        Results of studies.
    lines : list of tuple
        (row, series, arm) of each line of the panel.
    columns_of, factor : callable
        Functions of a row: the columns of what is measured, and the factor of its values.
    """
    groups = []
    for row, series, arm in lines:
        values = factor(row) * last_values(table, arm, **columns_of(row))
        groups.append((row, series, values))
    return intervals(groups, PANEL)


def draw_games(table, titles, names, strength):
    """Draw the learning curves of several games, a panel each, in percent of both axes.

    Parameters
    ----------
    table : DataFrame
        Results of a study whose arms are "game: algorithm".
    titles, names : list of str
        The games, and the algorithms.
    strength : dict
        Game -> columns of its strength.
    """
    parts = []
    of_games = {}
    for title in titles:
        lines = [f"{title}: {name}" for name in names]
        rows = select(table, arm=lines, **strength[title])
        share = 100.0 * rows["episode"] / rows["episode"].max()
        value = rows["value"] * _percent_of_greatest(title)
        parts.append(rows.assign(share=share, value=value))
        of_games[title] = lines
    called = {line: line.partition(": ")[2] for lines in of_games.values() for line in lines}
    return learning_curves(
        pd.concat(parts),
        list(called),
        x="share",
        xlabel="percent of the training",
        label="percent of the greatest score",
        title="The same n-tuples, the same episodes",
        styles={line: arm_style(name, names) for line, name in called.items()},
        panels=of_games,
        names=called,
    )


def draw_answer(table, titles, strength_of):
    """Draw who hears of a reward, what losers expect, and the strength; None without results.

    Parameters
    ----------
    table : DataFrame
        Results of studies whose arms are "game: TD" and "game: TD without FARL".
    titles : list of str
        The games.
    strength_of : callable
        Function of a game: the columns of its strength.
    """
    with_farl = {title: f"{title}: TD" for title in titles}
    both_arms = []
    for title, arm in with_farl.items():
        both_arms.append((title, "with FARL", arm))
        both_arms.append((title, "without FARL", f"{arm} without FARL"))
    parts_of_heard = []
    for measure in ("wins heard", "losses heard"):
        lines = [(title, measure, arm) for title, arm in with_farl.items()]
        parts_of_heard.append(panel_rows(table, lines, lambda _, m=measure: {"measure": m}))
    value_of_loser = {"measure": "value", "variant": "lost"}
    expected = "value of the loser's\nlast afterstate"
    parts = {
        "heard by an own move\n(percent)": pd.concat(parts_of_heard),
        expected: panel_rows(table, both_arms, lambda _: value_of_loser),
        "final strength\n(percent of the greatest score)": panel_rows(
            table, both_arms, strength_of, _percent_of_greatest
        ),
    }
    if not any(len(rows) for rows in parts.values()):
        return None
    return panels(titles, parts, "Which games need Final Adaptation?", lines={expected: 0.0})


def _percent_of_greatest(title):
    """Return the factor from a game's measure of strength to percent of the greatest score."""
    if title == "Nim3P":
        return 100.0  # its measure is a mean score, at most 1
    return 1.0
