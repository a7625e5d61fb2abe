"""2048: all rows and whole games against plain lists, pgx as another implementation, text forms."""

import numpy as np
import pytest

from afterstate import games
from afterstate.games.rules import game2048
from afterstate.kernel.random import new_rng

GAMES = 10_000
LEFT, UP, RIGHT, DOWN = range(4)
game, raw = games.load("game2048"), games.load("game2048", raw_score=True)


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


def state_of(cells, score=0):
    bits = sum(e << 4 * c for c, e in enumerate(cells))
    return np.array([bits & 0xFFFFFFFF, bits >> 32, score], np.uint32).view(np.int32)


def slide_board(cells, action):
    """A board of exponents after a move, and the score; lines begin where the tiles slide to."""
    board = (
        np.arange(16).reshape(4, 4) if action in (LEFT, RIGHT) else np.arange(16).reshape(4, 4).T
    )
    after, total = list(cells), 0
    for line in board[:, ::-1] if action in (RIGHT, DOWN) else board:
        moved, score = slide([cells[c] for c in line])
        total += score
        for c, e in zip(line, moved):
            after[c] = e
    return after, total


@pytest.mark.slow
def test_random_boards_with_large_tiles_equal_plain_lists():
    random = np.random.default_rng(6)
    for number in range(4000):
        cells = random.choice(range(16) if number % 2 else [0, 13, 14, 15, 15], 16).tolist()
        s, moves = state_of(cells), [slide_board(cells, action) for action in range(4)]
        assert game.legal(s).tolist() == [a for a in range(4) if moves[a][0] != cells]
        assert game.board(s).tolist() == [min(e, 14) for e in cells]
        for action in game.legal(s):
            after = game.play(s, action)
            assert (game2048.exponents(after), after[2]) == moves[action]


@pytest.mark.slow
def test_every_row_equals_plain_lists():
    results = [slide([code >> 4 * k & 15 for k in range(4)]) for code in range(2**16)]
    rows, table = [sum(e << 4 * k for k, e in enumerate(row)) for row, _ in results], game2048.ROWS
    assert (table & 0xFFFF).tolist() == rows
    assert ((table >> 16) * 4).tolist() == [score for _, score in results]


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
@pytest.mark.parametrize("empty", [16, 15, 7, 2, 1])
def test_new_tiles(empty):
    draws, rng = 40_000, new_rng(9)
    cells = [0] * (empty - 1) + [3] * (16 - empty) + [0]
    s, free = state_of(cells), [c for c in range(16) if cells[c] == 0]

    def added(state):
        after = game2048.exponents(state)
        (new,) = (c for c in range(16) if after[c] != cells[c])
        return new, after[new]

    found, listed = np.zeros((16, 3)), np.zeros((16, 3))
    for _ in range(draws):
        found[added(game.chance(s, rng))] += 1
    for state, probability in game.outcomes(s):
        listed[added(state)] += probability
    assert len(game.outcomes(s)) == 2 * empty and listed.sum() == pytest.approx(1)
    assert listed[free, 1] == pytest.approx(0.9 / empty)
    assert listed[free, 2] == pytest.approx(0.1 / empty)
    assert (abs(found - draws * listed) <= 1 + 5 * np.sqrt(draws * listed * (1 - listed))).all()


@pytest.mark.engine
def test_random_games_equal_pgx():
    jax = pytest.importorskip("jax", reason="pgx needs jax: make oracles")
    pgx = pytest.importorskip("pgx", reason="make oracles installs it")
    env, random = pgx.make("2048"), np.random.default_rng(8)
    init, step = jax.jit(jax.vmap(env.init)), jax.jit(jax.vmap(env.step))

    def keys():
        return jax.random.wrap_key_data(random.integers(2**32, size=(GAMES, 2), dtype=np.uint32))

    def boards(theirs):
        return np.asarray(theirs._board).reshape(-1, 16)

    theirs, running, plies = init(keys()), range(GAMES), 0
    while running:
        before, legal = boards(theirs), np.asarray(theirs.legal_action_mask)
        action = np.argmax(legal * random.random(legal.shape), axis=1)
        theirs = step(theirs, action, keys())
        after, reward = boards(theirs), np.asarray(theirs.rewards)[:, 0]
        over = np.asarray(theirs.terminated)
        for i in running:
            s = state_of(before[i].tolist())
            assert game.legal(s).tolist() == np.flatnonzero(legal[i]).tolist()
            s = game.play(s, action[i])
            new = np.flatnonzero(game.board(s) != after[i])
            assert len(new) == 1 and game.board(s)[new] == 0 and after[i][new] in (1, 2)
            assert s[2] == reward[i] and game.over(state_of(after[i].tolist())) == over[i]
        plies += len(running)
        running = [i for i in running if not over[i]]
    assert plies > 80 * GAMES


def test_text_forms_and_errors():
    s = game.parse("2 4 . .  . . . .  . . 2048 .  . . . 32768  score 20480")
    assert game2048.exponents(s) == [1, 2, 0, 0] + [0] * 6 + [11, 0] + [0, 0, 0, 15]
    assert s[2] == 20480 and np.array_equal(game.parse(game.render(s)), s)
    assert [game.action_name(s, a) for a in game.legal(s)] == ["left", "up", "right", "down"]
    for wrong, words in (
        ("2 4 score 0", "16 tiles"),
        (game.render(s).replace("2048", "3"), "'3' is no tile"),
        (". " * 16 + "score 5", "multiple of 4 below 2\\*\\*31, not 5"),
    ):
        with pytest.raises(ValueError, match=words):
            game.parse(wrong)
    with pytest.raises(ValueError, match="action 1 is not legal"):
        game.play(state_of([1, 2, 1, 2] + [0] * 12), UP)
