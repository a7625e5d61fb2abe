"""2048: all rows and whole games against plain lists, pgx as another implementation, text forms."""

import numpy as np
import pytest

from afterstate import games
from afterstate.games import conformance
from afterstate.games.calls import call_board, call_legal, call_play
from afterstate.games.rules import game2048
from afterstate.games.svg import view
from afterstate.kernel.compile import kernel
from afterstate.kernel.random import new_rng

GAMES = 10_000
LEFT, UP, RIGHT, DOWN = range(4)
game, raw = games.load("game2048"), games.load("game2048", raw_score=True)


# -------------------------------------------------------------------------------------- plain lists


def slide(row):
    """A row of exponents after a slide to the left, and the score: the rules in words."""
    tiles, merged, score = [e for e in row if e], [], 0
    while tiles:
        tile = tiles.pop(0)
        if tiles and tiles[0] == tile and tile < game2048.LARGEST:
            tiles.pop(0)
            tile += 1
            score += 2**tile
        merged.append(tile)
    return merged + [0] * (4 - len(merged)), score


def lines(action):
    """The cells of the four lines, each from the side towards which the tiles slide."""
    rows = (
        [[4 * r + c for c in range(4)] for r in range(4)]
        if action in (LEFT, RIGHT)
        else [[4 * r + c for r in range(4)] for c in range(4)]
    )
    return [row[::-1] for row in rows] if action in (RIGHT, DOWN) else rows


def slide_board(cells, action):
    """A board of exponents after a move, and the score."""
    after, total = list(cells), 0
    for line in lines(action):
        moved, score = slide([cells[c] for c in line])
        total += score
        for c, e in zip(line, moved):
            after[c] = e
    return after, total


def state_of(cells, score=0):
    bits = sum(e << 4 * c for c, e in enumerate(cells))
    return np.array([bits & 0xFFFFFFFF, bits >> 32, score], np.uint32).view(np.int32)


# -------------------------------------------------------------------------------------------- tests


@pytest.mark.slow
def test_conforms():
    report = conformance.check(game, games=6, max_plies=2000)
    assert report.checks["terminal states"] == 6 and report.checks["chance outcomes"] >= 200
    assert report.notes == [] and report.checks["symmetric images"] > 400  # 8 images of two games
    assert (
        not game.deterministic
        and game.start_scheme == (1.0, 0)
        and raw.score_range == (0.0, 3932156.0)
    )


@pytest.mark.slow
def test_every_row_equals_plain_lists():
    results = [slide([code >> 4 * k & 15 for k in range(4)]) for code in range(2**16)]
    assert [table & 0xFFFF for table in game2048.ROWS.tolist()] == [
        sum(e << 4 * k for k, e in enumerate(row)) for row, _ in results
    ]
    assert [(table >> 16) * 4 for table in game2048.ROWS.tolist()] == [
        score for _, score in results
    ]


@pytest.mark.slow
def test_every_row_in_every_direction():
    wrong = 0
    for code in range(0, 2**16, 7):
        row = [code >> 4 * k & 15 for k in range(4)]
        cells = [0] * 4 + row + [0] * 8  # up and down, every tile of the row can move
        turned = [row[c // 4] if c % 4 == 2 else 0 for c in range(16)]
        for board_cells, ahead, back in ((cells, LEFT, RIGHT), (turned, UP, DOWN)):
            legal = game.legal(state_of(board_cells)).tolist()
            for action in (ahead, back):
                after, _ = slide_board(board_cells, action)
                wrong += (action in legal) != (after != board_cells)
    assert wrong == 0


@pytest.mark.slow
def test_random_games_equal_plain_lists():
    random, tiles = np.random.default_rng(5), set()
    rng = new_rng(2)
    for _ in range(150):
        s, score = game.start(int(random.integers(1000))), 0
        cells = game2048.exponents(s)
        assert sorted(cells)[:14] == [0] * 14 and set(cells) <= {0, 1, 2}
        while True:
            moves = [slide_board(cells, action) for action in range(4)]
            legal = [action for action in range(4) if moves[action][0] != cells]
            assert game.over(s) == (not legal) and game.legal(s).tolist() == legal
            assert game.score(s)[0] == score / 3932156 and raw.score(s)[0] == score
            if not legal:
                break
            action = int(random.choice(legal))
            s, (cells, gained) = game.play(s, action), moves[action]
            score += gained
            assert game2048.exponents(s) == cells == game.board(s).tolist() and s[2] == score
            s = game.chance(s, rng)
            new = [c for c in range(16) if game2048.exponents(s)[c] != cells[c]]
            assert len(new) == 1 and cells[new[0]] == 0 and game2048.exponents(s)[new[0]] in (1, 2)
            cells = game2048.exponents(s)
        tiles.add(max(cells))
    assert {6, 7} <= tiles


@pytest.mark.slow
def test_random_boards_with_large_tiles_equal_plain_lists():
    random = np.random.default_rng(6)
    for number in range(4000):
        cells = (
            random.integers(0, 16, 16) if number % 2 else random.choice([0, 13, 14, 15, 15], 16)
        ).tolist()
        s = state_of(cells)
        moves = [slide_board(cells, action) for action in range(4)]
        assert game.legal(s).tolist() == [
            action for action in range(4) if moves[action][0] != cells
        ]
        assert game.board(s).tolist() == [min(e, 14) for e in cells]
        for action in game.legal(s):
            after = game.play(s, action)
            assert game2048.exponents(after) == moves[action][0] and after[2] == moves[action][1]


def test_largest_tiles_block_each_other():
    stuck = state_of([15] * 16)
    assert game.over(stuck) and game.board(stuck).tolist() == [14] * 16
    s = state_of([15, 15, 14, 14] + [0] * 12)
    assert (
        game2048.exponents(game.play(s, LEFT))[:4] == [15, 15, 15, 0]
        and game.play(s, LEFT)[2] == 32768
    )
    assert game2048.exponents(game.play(s, RIGHT))[:4] == [0, 15, 15, 15]


@pytest.mark.slow
def test_moves_commute_with_symmetries():
    random, rng = np.random.default_rng(7), new_rng(3)
    assert (
        len(game.symmetries) == 8
        and len({tuple(row) for row in game.action_symmetries.tolist()}) == 8
    )
    for _ in range(10):
        s = game.start(int(random.integers(1000)))
        while not game.over(s):
            for where, turned in zip(game.symmetries, game.action_symmetries):
                image = state_of(np.array(game2048.exponents(s))[where].tolist(), int(s[2]))
                assert sorted(turned[a] for a in game.legal(s)) == game.legal(image).tolist()
                for action in game.legal(s):
                    after, after_image = game.play(s, action), game.play(image, turned[action])
                    assert (
                        np.array_equal(game.board(after)[where], game.board(after_image))
                        and after[2] == after_image[2]
                    )
            s = game.next(s, random.choice(game.legal(s)), rng)


# ------------------------------------------------------------------------------------------- chance


@pytest.mark.slow
@pytest.mark.parametrize("empty", [16, 15, 7, 2, 1])
def test_new_tiles(empty):
    draws, rng = 40_000, new_rng(9)
    s = state_of([0] * (empty - 1) + [3] * (16 - empty) + [0])
    found, listed = np.zeros((16, 3)), np.zeros((16, 3))
    for _ in range(draws):
        after = game2048.exponents(game.chance(s, rng))
        (new,) = (c for c, (a, b) in enumerate(zip(after, game2048.exponents(s))) if a != b)
        found[new, after[new]] += 1
    for state, probability in game.outcomes(s):
        after = game2048.exponents(state)
        (new,) = (c for c, (a, b) in enumerate(zip(after, game2048.exponents(s))) if a != b)
        listed[new, after[new]] += probability
    free = [c for c in range(16) if game2048.exponents(s)[c] == 0]
    assert len(game.outcomes(s)) == 2 * empty and listed.sum() == pytest.approx(1)
    assert listed[free, 1] == pytest.approx(0.9 / empty) and listed[free, 2] == pytest.approx(
        0.1 / empty
    )
    assert (abs(found - draws * listed) <= 1 + 5 * np.sqrt(draws * listed * (1 - listed))).all()


# --------------------------------------------------------------------------- another implementation


@kernel
def differences(rules, before, action, reward, legal, after, s, moves, out):
    """Count games in which another implementation differs: new tile, reward, legal actions."""
    wrong = 0
    for i in range(before.shape[0]):
        s[0] = s[1] = s[2] = 0
        for c in range(16):
            s[c >> 3] |= np.int32(before[i, c]) << np.int32(4 * (c & 7))
        n, mask = call_legal(rules, s, moves), 0
        for k in range(n):
            mask |= 1 << moves[k]
        theirs = 0
        for a in range(4):
            theirs |= np.int64(legal[i, a]) << a
        call_play(rules, s, action[i])
        call_board(rules, s, out)
        new = 0
        for c in range(16):
            if out[c] != after[i, c]:
                new += 1 if out[c] == 0 and 1 <= after[i, c] <= 2 else 100
        wrong += mask != theirs or new != 1 or s[2] != reward[i]
    return wrong


@pytest.mark.engine
def test_random_games_equal_pgx():
    jax = pytest.importorskip("jax", reason="pgx needs jax: make oracles")
    pgx = pytest.importorskip("pgx", reason="make oracles installs it")
    env, random = pgx.make("2048"), np.random.default_rng(8)
    init, step = jax.jit(jax.vmap(env.init)), jax.jit(jax.vmap(env.step))

    def keys(n):
        return jax.random.wrap_key_data(random.integers(2**32, size=(n, 2), dtype=np.uint32))

    theirs, s, moves, out = (
        init(keys(GAMES)),
        np.zeros(3, np.int32),
        np.zeros(4, np.int32),
        np.zeros(16, np.int32),
    )
    running, steps = np.ones(GAMES, bool), 0
    while running.any():
        before, legal = (
            np.asarray(theirs._board).reshape(-1, 16),
            np.asarray(theirs.legal_action_mask),
        )
        action = np.argmax(legal * random.random(legal.shape), axis=1)
        theirs = step(theirs, action, keys(GAMES))
        after, reward, over = (
            np.asarray(theirs._board).reshape(-1, 16),
            np.asarray(theirs.rewards)[:, 0],
            np.asarray(theirs.terminated),
        )
        rows = np.flatnonzero(running)
        assert (
            differences(
                game.rules,
                before[rows],
                action[rows],
                reward[rows],
                legal[rows],
                after[rows],
                s,
                moves,
                out,
            )
            == 0
        )
        for i in rows[over[rows]]:
            assert game.over(state_of(after[i].tolist()))
        for i in rows[~over[rows]][:3]:
            assert not game.over(state_of(after[i].tolist()))
        running &= ~over
        steps += len(rows)
    assert steps > 80 * GAMES


# ------------------------------------------------------------------------------------ text, picture


def test_text_forms_and_errors():
    s = game.parse("2 4 . .  . . . .  . . 2048 .  . . . 32768  score 20480")
    assert (
        game2048.exponents(s) == [1, 2, 0, 0] + [0] * 6 + [11, 0] + [0, 0, 0, 15] and s[2] == 20480
    )
    assert np.array_equal(game.parse(game.render(s)), s)
    assert [game.action_name(s, a) for a in game.legal(s)] == ["left", "up", "right", "down"]
    with pytest.raises(ValueError, match="16 tiles"):
        game.parse("2 4 score 0")
    with pytest.raises(ValueError, match="'3' is no tile"):
        game.parse(game.render(s).replace("2048", "3"))
    with pytest.raises(ValueError, match="multiple of 4 below 2\\*\\*31, not 5"):
        game.parse(". " * 16 + "score 5")
    with pytest.raises(ValueError, match="raw_score .* must be bool, not 1"):
        games.load("game2048", raw_score=1)
    with pytest.raises(ValueError, match="action 1 is not legal"):
        game.play(state_of([1, 2, 1, 2] + [0] * 12), UP)


def test_picture():
    s = state_of([1, 2, 11, 15] + [0] * 12, 20000)
    drawing = view(game, s, values={LEFT: 0.25, DOWN: -3.0}, last=UP)._repr_svg_()
    assert (
        drawing.count("<rect") == 21  # tiles, edges to click, ground
        and ">2048<" in drawing
        and "+0.25" in drawing
        and "-3.00" in drawing
        and "\u25b2" in drawing
    )
