"""Morris: solved boards, OpenSpiel as another implementation, draws, random players."""

import numpy as np
import pyspiel
import pytest

from afterply import games, players
from afterply.games.calls import call_legal, call_over, call_play, call_player
from afterply.players import agents

game = games.load("morris")
UNLIMITED = {"repetition": 0, "quiet_plies": 0}
LUDII = {"flying_captures": False, "blocked": "pass", "max_plies": 2500, **UNLIMITED}
# points of the drawing in reading order, which is how OpenSpiel numbers them
READING = [0, 1, 2, 8, 9, 10, 16, 17, 18, 7, 15, 23, 19, 11, 3, 22, 21, 20, 14, 13, 12, 6, 5, 4]


def action(origin, to, removed=-1, points=24):
    return ((origin + 1) * points + to) * (points + 1) + removed + 1


def position(rows, told, **params):
    """A game of nine men and a position, from seven words of x, o and dots, the top row first."""
    made = games.load("morris", **params)
    return made, made.parse("\n".join(" ".join(row) for row in rows.split()) + "\n" + told)


def solve(game):
    """All positions, and who wins where (else: a draw), by plain backward induction."""
    found, following, frontier, value = {}, {}, [game.start()], {}
    while frontier:
        s = frontier.pop()
        if game.key(s) not in found:
            after = [game.play(s, a) for a in game.legal(s)]
            found[game.key(s)], following[game.key(s)] = s, [game.key(t) for t in after]
            frontier += after
            if game.over(s):
                value[game.key(s)] = int(game.score(s)[0])
    changed = True
    while changed:
        changed = False
        for key in found.keys() - value.keys():
            mine, reached = 1 - 2 * game.player(found[key]), [value.get(k) for k in following[key]]
            if mine in reached or all(v == -mine for v in reached):
                value[key], changed = mine if mine in reached else -mine, True
    return found, following, value


@pytest.mark.slow
@pytest.mark.parametrize("lines, positions, winning", [(8, 3870, [4]), (6, 3910, [])])
def test_three_men_are_solved(lines, positions, winning):
    made = games.load("morris", men=3, lines=lines, **UNLIMITED)
    found, following, value = solve(made)
    as_seen_by_the_mover = {
        (s[s[2] & 1], s[1 - (s[2] & 1)], s[2] >> 1 & 15, s[2] >> 5 & 15) for s in found.values()
    }
    start = made.key(made.start())
    assert len(as_seen_by_the_mover) == positions
    assert [p for p, key in enumerate(following[start]) if value.get(key) == 1] == winning
    assert value.get(start, 0) == (1 if winning else 0)


@pytest.mark.slow
def test_random_games_equal_openspiel():
    """OpenSpiel removes a man by an action of its own and draws every game after 200 plies."""
    made, oracle = games.load("morris", **UNLIMITED, max_plies=200), "nine_mens_morris"
    oracle, random, ends = pyspiel.load_game(oracle), np.random.default_rng(3), {1: 0, -1: 0, 0: 0}
    rules, moves = made.rules, np.zeros(made.max_legal, np.int32)
    place = {p: k for k, p in enumerate(READING)} | {-1: -1}
    for _ in range(400):
        s, theirs = made.start(), oracle.new_initial_state()
        while not call_over(rules, s):
            assert call_player(rules, s) == theirs.current_player()
            ours = {}
            for a in moves[: call_legal(rules, s, moves)].tolist():
                origin, to, removed = a // 25 // 24 - 1, a // 25 % 24, a % 25 - 1
                theirs_move = place[to] if origin < 0 else 24 + place[origin] * 24 + place[to]
                ours.setdefault(theirs_move, []).append((place[removed], a))
            assert sorted(ours) == theirs.legal_actions()
            move = int(random.choice(sorted(ours)))
            theirs.apply_action(move)
            removals = sorted(ours[move])
            if removals[0][0] >= 0:
                assert [point for point, _ in removals] == theirs.legal_actions()
            victim, chosen = removals[random.integers(len(removals))]
            if victim >= 0:
                theirs.apply_action(victim)
            call_play(rules, s, chosen)
        assert theirs.is_terminal() and made.score(s).tolist() == theirs.returns()
        ends[int(made.score(s)[0])] += 1
    assert min(ends.values()) > 60


def test_three_men_fly_and_their_mills_remove_unless_switched_off():
    flight = (
        "xx. ... ... ...... ..x o.. ooo",
        "first to move, 0 and 0 in hand, 0 plies quiet, 30 played",
    )
    made, s = position(*flight)
    legal = made.legal(s)
    assert len({a // 25 for a in legal}) == 3 * 17
    assert {a % 25 - 1 for a in legal if a // 25 % 24 == 2} == {14, -1}
    made, s = position(*flight, **LUDII)
    assert len(made.legal(s)) == 3 * 17 and max(a % 25 for a in made.legal(s)) == 0
    made, s = position(*flight, flying=False)
    assert len(made.legal(s)) < 10


def test_who_can_not_move_loses_or_passes():
    # b6-b4 shuts in a7, d7 and a4
    blocked = (
        "oox xx. ... o..... ... ... x..",
        "first to move, 0 and 0 in hand, 3 plies quiet, 30 played",
    )
    made, s = position(*blocked, flying=False)
    (a,) = [a for a in made.legal(s) if made.over(made.play(s, a))]
    assert made.action_name(s, a) == "b6-b4" and made.score(made.play(s, a)).tolist() == [1, -1]
    passing = games.load("morris", **LUDII | {"flying": False})
    stuck = passing.play(s[:5], a)
    assert not passing.over(stuck) and passing.legal(stuck).tolist() == [15000]
    assert passing.action_name(stuck, 15000) == "pass"
    again = passing.play(stuck, 15000)
    assert passing.player(again) == 0 and again[4] == stuck[4] + 1
    assert again[:2].tolist() == stuck[:2].tolist()


@pytest.mark.slow
@pytest.mark.parametrize(
    "limits, plies",
    [
        ({"repetition": 2, "quiet_plies": 100}, 4),
        ({"repetition": 3, "quiet_plies": 100}, 8),
        ({"repetition": 4, "quiet_plies": 100}, 12),
        ({"repetition": 0, "quiet_plies": 20}, 20),
        ({"repetition": 0, "quiet_plies": 0, "max_plies": 43}, 13),
    ],
)
def test_draws(limits, plies):
    made, s = position(
        "x.. .x. ..x ...... ..x .oo o.o",
        "first to move, 0 and 0 in hand, 0 plies quiet, 30 played",
        flying=False,
        **limits,
    )
    to_and_fro = [action(0, 7), action(4, 3), action(7, 0), action(3, 4)]
    for ply in range(plies):
        assert not made.over(s)
        s = made.play(s, to_and_fro[ply % 4])
    assert made.over(s) and made.score(s).tolist() == [0, 0]


@pytest.mark.slow
def test_repetition_equals_counting_positions():
    """Against a plain count of positions, in random games of few men with many repetitions."""
    made = games.load("morris", men=3, lines=6)
    free, random = games.load("morris", men=3, lines=6, **UNLIMITED), np.random.default_rng(0)
    drawn = 0
    for _ in range(150):
        s, count = made.start(), {}
        while not made.over(s):
            a = random.choice(made.legal(s))
            plain, s = free.play(s[:5], a), made.play(s, a)
            count[free.key(plain)] = count.get(free.key(plain), 0) + 1
            assert made.over(s) == (free.over(plain) or count[free.key(plain)] == 3)
        drawn += not free.over(plain)
    assert drawn > 3


def test_a_state_without_history_keeps_none():
    full, random = game.start(), np.random.default_rng(4)
    s = full[: game.core].copy()
    for _ in range(60):
        if not game.over(full):
            a = int(random.choice(game.legal(full)))
            full = game.play(full, a)
            call_play(game.rules, s, a)
            assert np.array_equal(s, full[: game.core])


@pytest.mark.slow
def test_the_shares_of_a_random_player_are_those_of_its_draws():
    # a man on 2 closes a mill: 20 moves, one of them with a choice of two men
    state = game.after([action(-1, to) for to in (0, 8, 1, 10)])
    legal, agent, player, n = game.legal(state), agents.chance(game), players.Random(), 20_000
    shares = dict(zip(legal.tolist(), agent.policy(state)))
    assert shares.pop(action(-1, 2, 8)) == shares.pop(action(-1, 2, 10)) == 1 / 40
    assert len(shares) == 19 and set(shares.values()) == {1 / 20}
    player.new_match(game, [], 0, 5)
    drawn = np.bincount([player.choose(state) for _ in range(n)], minlength=game.actions)[legal]
    expected = n * agent.policy(state)
    assert (np.abs(drawn - expected) < 5 * np.sqrt(expected)).all() and drawn.sum() == n
