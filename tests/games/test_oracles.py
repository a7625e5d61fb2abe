"""The rules against known counts, solved games, published values and other implementations."""

import numpy as np
import pyspiel
import pytest

from afterply import games
from afterply.games.calls import call_legal, call_over, call_play, call_player, copy_into
from afterply.games.rules.giveaway import BESIDE
from afterply.kernel.compile import kernel
from afterply.search import max_n
from afterply.studies.papers.konen2021.sarsa_study import one_full_afterstate, pairs_per_afterstate

CHECKERS = [7, 49, 302, 1469, 7361, 36768, 179740, 845931]  # turns, not single jumps
COUNTS = {
    "tictactoe": [9, 72, 504, 3024, 15120, 54720, 148176, 200448, 127872],
    "connect4": [7, 49, 343, 2401, 16807, 117649, 823536, 5673234],
    "othello": [4, 12, 56, 244, 1396, 8200, 55092, 390216],
    "kalah": [6, 35, 185, 942, 4690, 23233],
    "morris": [24, 552, 12144, 255024, 5140800],
    "giveaway": CHECKERS,
    "checkers": CHECKERS,
}


@kernel
def count_paths(rules, states, moves, ply, remaining, turns):
    """Paths of `remaining` actions, or turns: all actions of one player in a row."""
    s = states[ply]
    if remaining == 0:
        return 1
    if call_over(rules, s):
        return 0
    mover, after, paths = call_player(rules, s), states[ply + 1], 0
    for i in range(call_legal(rules, s, moves[ply])):
        copy_into(after, s, rules.size)
        call_play(rules, after, moves[ply, i])
        same = turns and not call_over(rules, after) and call_player(rules, after) == mover
        left = remaining if same else remaining - 1
        paths += count_paths(rules, states, moves, ply + 1, left, turns)
    return paths


def perft(game, depth, turns=False):
    """Count the paths of a game's tree."""
    plies = 1 + depth * (16 if turns else 1)
    states = np.zeros((plies, game.size), np.int32)
    states[0] = game.start()
    moves = np.zeros((plies, game.max_legal), np.int32)
    return count_paths(game.rules, states, moves, 0, depth, turns)


@pytest.mark.slow
@pytest.mark.parametrize("name, counts", COUNTS.items())
def test_counts_of_paths(name, counts):
    game, depths = games.load(name), range(1, len(counts) + 1)
    assert [perft(game, depth, turns=counts is CHECKERS) for depth in depths] == counts


def all_positions(game):
    """All reachable states, found by plain breadth-first search."""
    found, frontier = {}, [game.start()]
    while frontier:
        s = frontier.pop()
        if game.key(s) not in found:
            found[game.key(s)] = s
            frontier += [game.play(s, a) for a in game.legal(s)]
    return list(found.values())


@pytest.mark.slow
def test_all_positions_of_tictactoe():
    game = games.load("tictactoe")
    positions = all_positions(game)
    ends = [game.score(s)[0] for s in positions if game.over(s)]
    assert len(positions) == 5478 and len(ends) == 958
    assert [ends.count(result) for result in (1, -1, 0)] == [626, 316, 16]
    assert sum(len(game.legal(s)) for s in positions) == 16_167
    boards = [game.board(s) for s in positions]
    assert len({min(tuple(b[row].tolist()) for row in game.symmetries) for b in boards}) == 765
    found = max_n.solve(game)
    assert found.value.tolist() == [0, 0] and (found.positions, found.terminal) == (5478, 958)


@pytest.mark.slow
def test_small_boards_have_their_known_values():
    value, positions, _ = max_n.solve(games.load("connect4", rows=4, columns=4))
    assert (value.tolist(), positions) == ([0, 0], 161_029)  # Tromp's number of positions; a draw
    # on 4 x 4 the second player wins; on 6 x 6 the first plies are those of 8 x 8
    assert max_n.solve(games.load("othello", side=4))[0].tolist() == [-1, 1]
    assert [perft(games.load("othello", side=6), depth) for depth in (1, 2, 3)] == [4, 12, 56]
    assert max_n.solve(games.load("tictactoe", rows=3, columns=4))[0].tolist() == [1, -1]
    three = games.load("hex", size=3)
    values = [max_n.solve(three, three.after([cell])).value[0] for cell in range(9)]
    assert values == [-1, 1, 1, -1, 1, -1, 1, 1, -1]  # by brute force over lists of codes
    # the first player wins, by strategy stealing; with the swap rule the second
    assert max_n.solve(games.load("hex", size=2)).value.tolist() == [1, -1]
    assert max_n.solve(games.load("hex", size=3, swap=True)).value.tolist() == [-1, 1]
    level, counts, game = {0: games.load("connect4").start()}, [], games.load("connect4")
    for _ in range(6):
        counts.append(len(level))
        following = (game.play(s, a) for s in level.values() for a in game.legal(s))
        level = {game.key(s): s for s in following}
    assert counts == [1, 7, 49, 238, 1120, 4263]  # positions by ply


def nim_value(heaps, take, end, memo):
    """Rewards by turn order (mover first) under best play; `end` = rewards at the end."""
    if sum(heaps) == 0:
        return end
    if heaps not in memo:
        found = []
        for h, stones in enumerate(heaps):
            for t in range(1, min(stones, take) + 1):
                after = (*heaps[:h], stones - t, *heaps[h + 1 :])
                value = nim_value(tuple(sorted(after)), take, end, memo)
                found.append((value[-1], *value[:-1]))
        memo[heaps] = max(found, key=lambda value: value[0])
    return memo[heaps]


@pytest.mark.parametrize(
    "name, params, end",
    [
        ("nim", {"take": 2, "stones": 4}, (-1, 1)),
        ("nim", {"stones": 3, "misere": True}, (1, -1)),
        ("nim3p", {}, (1, 0.2, 0)),
        ("nim3p", {"take": 2, "stones": 3}, (1, 0.2, 0)),
    ],
)
def test_nim_against_its_definition(name, params, end):
    game, memo = games.load(name, **params), {}
    take = params.get("take") or params.get("stones", 5)
    for s in all_positions(game)[::7]:
        ours, mover = max_n.solve(game, s).value, s[-1]
        theirs = nim_value(tuple(sorted(s[:-1].tolist())), take, end, memo)
        in_turn = [ours[(mover + i) % game.players] for i in range(game.players)]
        assert in_turn == pytest.approx(theirs)


# --------------------------------------------------------------------------------------- OpenSpiel
def same_text(game, s, theirs):
    return game.render(s).replace(" ", "") == str(theirs).strip()


def same_seeds(game, s, theirs):
    seen = theirs.observation_tensor(0)[:14]
    return s[:14].tolist() == [*seen[1:], seen[0]]


def same_discs(game, s, theirs):
    drawing = [line[2:17].replace("-", ".") for line in str(theirs).split("\n")[2:10]]
    return game.render(s).split("\n") == [*drawing, "over"]


def same(s, action):
    return action


def by_number(s, action):
    """In Nim OpenSpiel counts (take - 1) * heaps + heap."""
    return (action % 5) * 3 + action // 5


def by_house(s, action):
    return 1 + 7 * (s[-1] & 1) + action


def by_field(s, action):
    """In checkers it counts all fields, directions go round the clock, jumps count one more."""
    square, d = divmod(action, 4)
    field = 8 * (square // 4) + 2 * (square % 4) + 1 - square // 4 % 2
    jumps = int(s[0] | s[1]) >> BESIDE[square][d] & 1
    return (field * 4 + (0, 1, 3, 2)[d]) * 2 + jumps


def turned(size):
    """In Hex its first player joins the rows."""
    return lambda s, cell: size * (cell % size) + cell // size


FREE = {"repetition": 0, "quiet_plies": 0, "max_plies": 0}  # it draws after 40 actions, not plies
MNK = [(2, 5, 3, 300), (4, 15, 8, 300), (1, 4, 2, 300), (15, 15, 5, 30)]
CONNECT4 = [(6, 7, 4, 1_000), (4, 5, 3, 500), (7, 8, 5, 300), (3, 12, 4, 300), (15, 4, 7, 200)]
HEX = [(6, 1_000), (3, 300), (4, 300), (5, 300), (7, 200), (9, 100), (11, 100)]
ORACLES = [  # ours, theirs, number of an action there, games, comparison at the end
    ("tictactoe", {}, "tic_tac_toe", same, 1_000, same_text),
    ("nim", {}, "nim(pile_sizes=5;5;5,is_misere=False)", by_number, 1_000, None),
    ("nim", {"misere": True}, "nim(pile_sizes=5;5;5,is_misere=True)", by_number, 1_000, None),
    *[("tictactoe", {"rows": rows, "columns": columns, "k": k},
       f"mnk(m={columns},n={rows},k={k})", same, number, same_text)
      for rows, columns, k, number in MNK],
    *[("connect4", {"rows": rows, "columns": columns, "k": k},
       f"connect_four(rows={rows},columns={columns},x_in_row={k})", same, number, same_text)
      for rows, columns, k, number in CONNECT4],
    *[("hex", {"size": size}, f"hex(board_size={size})", turned(size), number, None)
      for size, number in HEX],
    ("kalah", {}, "mancala", by_house, 3_000, same_seeds),
    ("othello", {}, "othello", same, 3_000, same_discs),
    ("giveaway", FREE, "misere(game=checkers())", by_field, 1_000, None),
    ("checkers", FREE, "checkers", by_field, 60, None),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name, params, other, translate, number, at_end", ORACLES)
def test_random_games_equal_openspiel(name, params, other, translate, number, at_end):
    """Our rules are called without the checks of the border, which take most of the time."""
    game, oracle, skip = games.load(name, **params), pyspiel.load_game(other), [64]
    rules, random, ends = game.rules, np.random.default_rng(1), {1: 0, 0: 0, -1: 0}
    moves, skips = np.zeros(game.max_legal, np.int32), 0
    for _ in range(number):
        s, theirs = game.start(), oracle.new_initial_state()
        while not theirs.is_terminal():
            expected = theirs.legal_actions()
            if name == "othello" and expected == skip:
                theirs.apply_action(skip[0])
                expected, skips = theirs.legal_actions(), skips + 1
            assert not call_over(rules, s) and call_player(rules, s) == theirs.current_player()
            legal = moves[: call_legal(rules, s, moves)].tolist()
            assert sorted(translate(s, a) for a in legal) == expected
            action = legal[random.integers(len(legal))]
            theirs.apply_action(translate(s, action))
            call_play(rules, s, action)
        assert call_over(rules, s) or params is FREE
        assert game.score(s).tolist() == theirs.returns()
        assert at_end is None or at_end(game, s, theirs)
        ends[int(game.score(s)[0])] += 1
    assert min(ends[1], ends[-1]) > number // 20 or params.get("k") == 7 or name == "tictactoe"
    assert skips > 1000 or name != "othello"
    assert ends[0] == 0 or name not in ("hex", "nim")
    if name == "kalah":  # four standard deviations
        share = [ends[result] / number for result in (1, 0, -1)]
        assert share == pytest.approx([0.482, 0.064, 0.454], abs=0.02)


# ------------------------------------------------------------------ state-action pairs (footnote 5)
@pytest.mark.slow
@pytest.mark.parametrize(
    "name, params, running, terminal", [("tictactoe", {}, 4, 5), ("hex", {"size": 3}, 4, 5)]
)
def test_pairs_for_each_afterstate(name, params, running, terminal):
    """[konen2021] footnote 5 counts the afterstates in which the game goes on."""
    found = pairs_per_afterstate(games.load(name, **params))
    assert (max(found["running"]), max(found["terminal"])) == (running, terminal)
    # before move 81 nobody has more than 40 stones on 9 x 9, and move 81 ends the game
    assert one_full_afterstate(games.load("hex", size=9))[1] == 40


STEPS = ((-1, 0), (0, -1), (0, 1), (1, 0), (1, -1), (-1, 1))


def joined(codes, size, who):
    """Whether a player's stones join its two sides: flood fill over a list of cell codes."""
    own = {(c // size, c % size) for c, code in enumerate(codes) if code == 1 + who}
    reached = {cell for cell in own if cell[who ^ 1] == 0}
    border = list(reached)
    while border:
        r, c = border.pop()
        new = ({(r + down, c + right) for down, right in STEPS} & own) - reached
        reached |= new
        border += new
    return any(cell[who ^ 1] == size - 1 for cell in reached)


@pytest.mark.parametrize("size", [5, 9, 13])
def test_long_chains(size):
    """A winding chain that fills every second row: the longest way of the search."""
    ours, random, chain = games.load("hex", size=size), np.random.default_rng(0), []
    for row in range(0, size, 2):
        chain += range(size * row, size * row + size)
        chain += [size * (row + 1) + (size - 1 if row % 4 else 0)] if row + 2 < size else []
    for _ in range(20):
        s, codes = ours.start(), np.zeros(size * size, int)
        for cell in random.permutation(chain).tolist():
            if call_over(ours.rules, s):
                break
            call_play(ours.rules, s, cell)
            s[-1] &= ~1  # the first player moves again
            codes[cell] = 1
            assert call_over(ours.rules, s) == joined(codes, size, 0)


def test_swap_takes_the_stone_over():
    """A game after a swap has the same winner as the mirrored one with exchanged players."""
    game, pie, random = games.load("hex"), games.load("hex", swap=True), np.random.default_rng(2)
    for opening in range(36):
        s, plain = pie.after([opening, 36]), game.after([opening])
        while not game.over(plain):
            action = int(random.choice(game.legal(plain)))
            plain, s = game.play(plain, action), pie.play(s, 6 * (action % 6) + action // 6)
            assert pie.over(s) == game.over(plain)
            assert pie.score(s).tolist() == game.score(plain).tolist()[::-1]
    for actions in ([], [0, 1], [0, 36, 5], [0, 1, 2]):
        assert 36 not in pie.legal(pie.after(actions))


# First player's result in Kalah(houses, seeds) with empty capture, one row per number of houses,
# seeds from 1 on:
# G. Irving, J. Donkers, J. Uiterwijk, Solving Kalah, ICGA Journal 23(3), 2000 (the part that is
# solved in seconds here).
PUBLISHED = {1: "DLWLWD", 2: "WLLLWW", 3: "DWWWW", 4: "WWW", 5: "DD", 6: "W"}


@pytest.mark.slow
@pytest.mark.parametrize("empty_capture", [False, True])
def test_published_results_of_small_kalah_boards_and_two_searches(empty_capture):
    """By alpha-beta, and by Max-N with keys that leave out the seeds won."""
    for houses, results in PUBLISHED.items():
        for seeds, result in enumerate(results if empty_capture or houses < 5 else "", 1):
            same = {"houses": houses, "seeds": seeds, "empty_capture": empty_capture}
            game = games.load("kalah", **same)
            value = max_n.MinMaxSearch(game, 120).values(game.start(), max_n.FIRST).max()
            assert not empty_capture or "DWL"[int(value)] == result, (houses, seeds)
            if houses < 5:
                margin = max_n.solve(games.load("kalah", margin=True, **same)).value[0]
                assert np.sign(margin) == value


def test_the_end_of_kalah():
    # the last seed in the store would be an extra turn, but the houses are empty
    for with_margin, worth in ((False, 1), (True, 4)):
        made = games.load("kalah", houses=3, seeds=1, margin=with_margin)
        s = np.array([0, 0, 1, 0, 2, 0, 3, 0, 0], np.int32)
        over = made.play(s, 2)
        assert made.score(s).tolist() == [0, 0] and made.score(over).tolist() == [-worth, worth]
        assert made.over(over) and not len(made.legal(over))
    made = games.load("kalah", houses=3, seeds=3)
    assert made.heuristic(np.array([1, 2, 3, 5, 1, 2, 3, 1, 0], np.int32)) == 4 / 19
