"""2048: boards and whole games against plain lists, pgx as another implementation."""

import numpy as np
import pytest

from afterply import games
from afterply.games.rules import game2048

GAMES = 300
LEFT, _, RIGHT, DOWN = range(4)
game, raw = games.load("game2048"), games.load("game2048", raw_score=True)
every = games.load("game2048", all_tiles=True)


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
    board = np.arange(16).reshape(4, 4)
    board = board if action in (LEFT, RIGHT) else board.T
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
        legal = [a for a in range(4) if moves[a][0] != cells]
        assert game.legal(s).tolist() == legal and game.over(s) == (not legal)
        assert game.board(s).tolist() == [min(e, 14) for e in cells]
        assert every.board(s).tolist() == cells
        for action in legal:
            after, score = game.play(s, action), moves[action][1]
            assert (game2048.exponents(after), after[2]) == moves[action]
            assert game.score(after)[0] == score / 3932156 and raw.score(after)[0] == score


@pytest.mark.parametrize("stages", [[], [0], [6], [64, 32], [64, 64], [2], [2**15], [True], ["8"]])
def test_stages_that_can_not_be_are_named(stages):
    with pytest.raises(ValueError, match=r"stages=.*from 4 to 16384, such as \[4096, 8192\]"):
        games.load("game2048", stages=stages)
    assert games.load("game2048", all_tiles=True, stages=[2**15]).num_codes[16] == 2
    assert games.load("game2048", stages=None).identity == game.identity


@pytest.mark.parametrize("empty", [16, 15, 7, 2, 1])
def test_new_tiles(empty):
    """What is drawn equals what is listed in the check of all games."""
    cells, listed = [0] * (empty - 1) + [3] * (16 - empty) + [0], {}
    for state, probability in game.outcomes(state_of(cells)):
        after = game2048.exponents(state)
        (new,) = (c for c in range(16) if after[c] != cells[c])
        listed[new, after[new]] = probability
    free = [c for c in range(16) if cells[c] == 0]
    expected = {(c, 1 + four): (0.9, 0.1)[four] / empty for c in free for four in (0, 1)}
    assert listed == pytest.approx(expected)


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
