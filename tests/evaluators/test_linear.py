"""Linear value functions of checkers: features and alpha-beta equal plain Python.

Endgames are searched as they are solved.
"""

import math

import numpy as np
import pytest

from afterstate import games
from afterstate.games.calls import (
    call_legal,
    call_over,
    call_play,
    call_player,
    call_score,
    copy_into,
)
from afterstate.kernel.compile import kernel
from afterstate.kernel.random import new_rng
from afterstate.papers.mandziuk2004 import linear, linear_matches, linear_search
from oracles import reference_checkers as reference

game, CHECKERS = games.load("giveaway"), games.load("checkers")
OVER, SIDES = game.parse("W:W:BK1"), "wb"


def marks(s):
    """The board of a state as the reference writes it."""
    white, black, kings = (int(word) & 0xFFFFFFFF for word in s[:3])
    found = ["w" if white >> q & 1 else "b" if black >> q & 1 else "." for q in range(32)]
    return "".join(mark.upper() if kings >> q & 1 else mark for q, mark in enumerate(found))


def state_of(board, side, quiet=0):
    """A state of the game, for a board of the reference."""
    s = np.zeros(game.size, np.int32)
    bits = [sum(1 << q for q in range(32) if board[q] in kinds) for kinds in ("wW", "bB", "WB")]
    s[:3] = np.array(bits, np.uint32).view(np.int32)
    s[3] = SIDES.index(side)
    return s


def random_positions(num, seed, rules=game):
    """Running positions of all ages, some between two jumps, also with few pieces and kings."""
    random = np.random.default_rng(seed)
    while num > 0:
        s, plies = rules.start(), int(random.integers(80))
        for _ in range(plies):
            if not rules.over(s):
                s = rules.play(s, random.choice(rules.legal(s)))
        if not rules.over(s):
            num -= 1
            yield s


def random_boards(num, seed):
    """Boards with any numbers of men and kings, such as no game has."""
    random = np.random.default_rng(seed)
    for _ in range(num):
        share = random.uniform(0.05, 0.45) * np.array([1, random.uniform(0, 1)])
        chances = [*share, *share, 1 - 2 * share.sum()] if share.sum() < 0.5 else [0.2] * 5
        board = random.choice(list("wWbB."), 32, p=np.array(chances) / np.sum(chances))
        board[:4][board[:4] == "w"], board[28:][board[28:] == "b"] = "W", "B"
        yield "".join(board)


@pytest.mark.slow
@pytest.mark.parametrize("kind", linear.FEATURE_SETS)
def test_features_equal_plain_python(kind):
    net, seen = linear.Linear(game, kind), np.zeros(22, bool)
    boards = [marks(s) for s in random_positions(150, seed=1)] + list(random_boards(500, seed=2))
    for board in boards:
        for owner, side in enumerate(SIDES):
            phi = net.phi(state_of(board, "w"), owner)
            assert phi.tolist() == list(reference.features(board, side, kind)), board
            seen |= phi != 0
    assert seen.all()


def test_the_other_side_sees_the_opposite_and_the_turned_board_the_same():
    net = linear.Linear(game)
    for board in random_boards(300, seed=3):
        s, turned = state_of(board, "w"), state_of(reference.turned(board), "b")
        assert np.array_equal(net.phi(s, 0), -net.phi(s, 1))
        assert np.array_equal(net.phi(s, 0), net.phi(turned, 1))


def test_features_of_the_start_and_of_the_patterns_by_hand():
    raw = linear.Linear(game, "V2").phi(game.start(), 0).tolist()
    assert raw == [12, 0, 6, 0, 4, 0, 72, 0, 8, 2, 0] * 2
    net = linear.Linear(game)
    assert net.phi(game.start(), 0).tolist() == [0] * 22
    for position, owner, patterns in (
        ("W:W27,31,32:BK1", 0, [1, 0, 0, 0]),
        ("W:W26,30,31:BK1", 0, [0, 1, 0, 0]),
        ("W:W30,32:B28", 0, [0, 0, 1, 1]),
        ("B:WK32:B1,2,6", 1, [1, 0, 0, 0]),
    ):
        assert net.phi(game.parse(position), owner)[18:].tolist() == patterns


def test_value_is_bounded_and_exact_at_the_end():
    net = linear.Linear(game, weights=[1.0] + [0.0] * 21)
    s = game.parse("W:W21,22:B1")
    assert net.value(s, 0) == pytest.approx(99 * math.tanh(0.027), abs=1e-12)
    assert net.value(s, 1) == -net.value(s, 0)
    big = linear.Linear(game, weights=[1e6] + [0.0] * 21)
    assert big.value(s, 0) == 99.0
    lost = game.parse("B:WK1:B")
    assert net.value(lost, 1) == 100 and net.value(lost, 0) == -100


def test_action_values_are_those_of_the_afterstates():
    net = linear.Linear(game, weights=linear_matches.random_weights(1, "values")[0])
    for s in random_positions(40, seed=4):
        owner = game.player(s)
        values = [net.value(game.play(s, a), owner) for a in game.legal(s)]
        assert net.action_values(s).tolist() == values
    assert len(net.action_values(game.parse("W:W:BK1"))) == 0


@kernel
def plain_minimax(rules, kind, weights, owner, states, moves, level, turns, work):
    """The owner's activation by a search of the full width through the rules of the game."""
    s, (counts, phi, score) = states[level], work
    if call_over(rules, s):
        call_score(rules, s, score)
        return linear.WON * score[owner]
    if turns == 0:
        white, black, kings = np.uint32(s[0]), np.uint32(s[1]), np.uint32(s[2])
        linear.features(kind, np.int64(white), np.int64(black), np.int64(kings), owner, counts, phi)
        return linear.product(weights, phi)
    player = call_player(rules, s)
    best = -np.inf if player == owner else np.inf
    for i in range(call_legal(rules, s, moves[level])):
        following = states[level + 1]
        copy_into(following, s, rules.size)
        call_play(rules, following, moves[level, i])
        left = turns - 1
        if not call_over(rules, following) and call_player(rules, following) == player:
            left = turns
        value = plain_minimax(rules, kind, weights, owner, states, moves, level + 1, left, work)
        best = max(best, value) if player == owner else min(best, value)
    return best


@pytest.mark.parametrize("num", [100, pytest.param(10_000, marks=pytest.mark.slow)])
def test_alpha_beta_equals_minimax(num):
    depth, random, ties, seen = 4, np.random.default_rng(5), 0, 0
    rules = games.load("giveaway", repetition=0, quiet_plies=0, max_plies=0)
    states, moves = np.zeros((40, rules.size), np.int32), np.zeros((40, rules.max_legal), np.int32)
    work, net = (np.zeros((2, 22), np.int64), np.zeros(22), np.zeros(2)), linear.Linear(rules)
    searcher = linear_search.Searcher(net)
    while seen < num:
        s = rules.start()
        net.weights[:] = random.uniform(-10, 10, 22) if seen % 3 else random.integers(-1, 2, 22)
        for _ in range(200):
            if rules.over(s):
                break
            legal, owner = rules.legal(s), int(random.integers(2))
            if random.random() < 0.3:
                values, how = [], (rules.rules, 0, net.weights, owner, states, moves, 0)
                for action in legal:
                    states[0] = after = rules.play(s, action)
                    left = depth - (rules.over(after) or rules.player(after) != rules.player(s))
                    values.append(plain_minimax(*how, left, work))
                best = max(values) if owner == rules.player(s) else min(values)
                _, chosen = searcher.best(s, owner)
                found = searcher.tree.window[0, linear_search.BEST], chosen
                assert found == (best, legal[values.index(best)]), rules.render(s)
                ties += values.count(best) > 1
                seen += 1
            s = rules.play(s, random.choice(legal))
    assert ties > num / 10


def test_values_of_all_actions_are_exact():
    net = linear.Linear(game, depth=3, weights=linear_matches.random_weights(1, "all")[0])
    searcher = linear_search.Searcher(net)
    for s in random_positions(60, seed=8):
        values, (best, action) = searcher.values(s), searcher.best(s)
        assert len(values) == len(game.legal(s)) and best == values.max()
        assert action == game.legal(s)[values.argmax()]
        turn = game.legal(s)[-1]
        after = game.play(s, turn)
        if not game.over(after) and game.player(after) != game.player(s):
            shallow = linear_search.Searcher(linear.Linear(game, depth=2, weights=net.weights))
            assert values[-1] == shallow.best(after, game.player(s))[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind, quiescence, name",
    [
        ("F22", False, "giveaway"),
        ("F22", True, "giveaway"),
        ("V1", False, "giveaway"),
        ("V2", False, "checkers"),
    ],
)
def test_alpha_beta_equals_plain_python(kind, quiescence, name):
    """Value, move and leaf for weights of random, whole or no value; many values are equal."""
    rules, random, ties, depth = games.load(name), np.random.default_rng(6), 0, 2
    nets = [linear.Linear(rules, kind, 0, depth, quiescence) for _ in range(20)]
    for k, net in enumerate(nets):
        whole = random.integers(-1, 2, 22) * (k > 0)
        net.weights[:] = random.uniform(-10, 10, 22) if k % 2 else whole
    searchers = [linear_search.Searcher(net) for net in nets]
    for number, s in enumerate(random_positions(60, 6, rules)):
        net, searcher, owner = nets[number % 20], searchers[number % 20], number // 20 % 2
        weights, how = net.weights.tolist(), (SIDES[owner], kind)

        def leaves(board, weights=weights, how=how):
            return reference.activation(weights, reference.features(board, *how))

        jumper = (int(s[3]) >> 1 & 63) - 1
        rest = depth, None if jumper < 0 else jumper, quiescence, name == "giveaway"
        sides = SIDES[rules.player(s)], SIDES[owner]
        value, actions, leaf = reference.minimax(marks(s), *sides, leaves, *rest)
        found, action = searcher.best(s, owner)
        exactly = searcher.tree.window[0, linear_search.BEST]
        assert (exactly, action) == (value, actions[0]), rules.render(s)
        assert found == pytest.approx(reference.value_of(value), abs=1e-12)
        assert marks(np.array([*searcher.leaf()], np.uint32).view(np.int32)) == leaf
        ties += len(set(searcher.values(s))) < len(rules.legal(s))
    assert ties > 5


@pytest.mark.slow
def test_random_ties_are_among_the_best_and_follow_the_seed():
    net, s = linear.Linear(game), game.start()  # zeros: all moves are equal
    tree, way = linear_search.make_tree(4), linear_search.way_of(net, linear_search.RANDOM)

    def chosen(seed, num=300):
        rng, found = new_rng(seed), []
        for _ in range(num):
            linear_search.search_state(tree, way, net.weights, 0, s, rng)
            found.append(int(tree.found[linear_search.CHOSEN]))
        return found

    assert chosen(1) == chosen(1) != chosen(2)
    counts = [chosen(3, 2100).count(a) for a in game.legal(s)]
    assert sum(counts) == 2100 and max(abs(c - 300) for c in counts) < 80
    net.weights[:] = linear_matches.random_weights(1, "ties")[0]
    for s in random_positions(40, seed=9):
        values, action = linear_search.Searcher(net).values(s), chosen(4, 1)[0]
        assert values[game.legal(s).tolist().index(action)] == values.max()


@pytest.mark.slow
def test_a_search_as_deep_as_an_end_is_away_finds_it_and_no_other():
    two, three = list(reference.endgames((1, 1))), list(reference.endgames((2, 1), (1, 2)))
    value = reference.solve([*two, *three])
    for positions, depth, least in ((two, 8, 3000), (three, 6, 100_000)):
        searcher, found = linear_search.Searcher(linear.Linear(game, depth=depth)), 0
        for board, side in positions:
            outcome, distance = value.get((board, side), (0, 0))
            if distance or not outcome:
                v, _ = searcher.best(state_of(board, side))
                assert v == (100 * outcome if distance <= depth else 0), (board, side)
                found += v != 0
        assert found > least
    assert max(value[position][1] for position in two if position in value) > 8


def test_matches_equal_games_played_by_players():
    vectors = linear_matches.random_weights(7, "matches")
    for seat in (0, 1):
        net = linear.Linear(game, depth=2, seat=seat, weights=vectors[0])
        results, plies, positions, actions = linear_matches.matches(net, vectors[1:])
        for k, opponent in enumerate(vectors[1:]):
            both = (linear.Linear(game, depth=2, weights=w) for w in (net.weights, opponent))
            both, s = list(map(linear_matches.Player, both)), game.start()
            while not game.over(s):
                s = game.play(s, both[0 if game.player(s) == seat else 1].choose(s))
            assert results[k] == 1 + game.score(s)[seat] and plies[k] == s[5]
        assert actions >= plies.sum() and positions > actions


@pytest.mark.slow
def test_statistics_of_random_opponents():
    results, plies, nodes = [], [], 0
    both = (linear_matches.random_weights(600, name) for name in ("first", "second"))
    for a, b in zip(*both, strict=True):
        found = linear_matches.matches(linear.Linear(game, weights=a), b[None])
        results, plies, nodes = [*results, *found[0]], [*plies, *found[1]], nodes + found[2]
    assert abs(results.count(2) / 600 - 0.352) < 0.065
    assert abs(results.count(1) / 600 - 0.295) < 0.06
    assert abs(np.mean(plies) - 52.8) < 3 and abs(nodes / sum(plies) - 274) < 15


def test_files(tmp_path):
    net = linear.Linear(game, "V1", 1, 2, True, linear_matches.random_weights(1, "file")[0])
    net.snapshots[5], net.results = net.weights * 2, np.array([0, 1, 2], np.int8)
    file = tmp_path / "net.npz"
    net.save(file)
    back = linear.load(file, game)
    assert back.checksum() == net.checksum() and back.settings == net.settings
    assert back.snapshot(5).weights.tolist() == net.snapshots[5].tolist()
    assert back.snapshot(3) is back
    with pytest.raises(LookupError, match=r"no weights were kept after 4 games, only after \[5\]"):
        back.snapshot(4)
    with pytest.raises(ValueError, match="holds linear of .*giveaway.*, not of .*checkers"):
        linear.load(file, CHECKERS)
    raw = bytearray(file.read_bytes())
    raw[len(raw) // 2] ^= 1
    file.write_bytes(raw)
    with pytest.raises(ValueError, match="is damaged"):
        linear.load(file, game)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda net: linear.Linear(games.load("tictactoe")), "belong to giveaway and checkers"),
        (lambda net: linear.Linear(game, "F23"), "features must be one of 'F22', 'V1', 'V2'"),
        (lambda net: linear.Linear(game, depth=0), "depth must be a whole number of at least 1"),
        (lambda net: linear.Linear(game, weights=[1.0]), "22 finite numbers"),
        (lambda net: linear_search.Searcher(net).best(OVER), "nothing to search"),
        (lambda net: linear_matches.matches(net, np.zeros((2, 3))), "rows of 22"),
        (
            lambda net: linear_matches.Player(net).new_match(CHECKERS, [], 0, 1),
            "not for <game checkers",
        ),
    ],
)
def test_errors(call, message):
    with pytest.raises(ValueError, match=message):
        call(linear.Linear(game))
