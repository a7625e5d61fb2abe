"""gtp-rhino, an Othello program: legal, repeatable, and the stronger the higher its level."""

from functools import partial

import pytest

from afterstate import arena, games, players
from afterstate.evaluators.matches import Matches
from afterstate.players import gtp

game = games.load("othello")
pytestmark = [
    pytest.mark.engine,
    pytest.mark.skipif(bool(gtp.Rhino().lacks()), reason=gtp.Rhino().lacks()),
]


def passes(moves):
    """Who passes in a game from the default start, in order."""
    movers = [game.player(game.after(moves[:n])) for n in range(len(moves))]
    return [1 - a for a, b in zip(movers, movers[1:]) if a == b]


def test_rhino_plays_legal_moves_in_both_roles_and_beats_random():
    starts = arena.starts_all(game, 4)[::41]
    table = arena.matches(game, {"rhino": gtp.Rhino(2), "random": players.Random()}, starts, seed=1)
    assert (
        set(table.error) == {""}
        and table[table.player == "rhino"].score.mean() > 0.8
        and len(table) == 2 * 2 * len(starts)
    )


def test_rhino_plays_whole_games_against_itself_through_passes():
    """Each refuses what it takes for illegal, so all moves and passes are what our rules say."""
    passed = 0
    for k, start in enumerate(arena.starts_all(game, 4)[5::60]):
        moves = [
            *start.actions,
            *arena.match(game, [gtp.Rhino(1), gtp.Rhino(2)], start, seed=k).moves,
        ]
        passed += len(passes(moves))
        assert game.over(game.after(moves))
    assert passed > 0


@pytest.mark.parametrize("level", [1, 4])
def test_rhino_plays_the_same_match_the_same_way_in_any_process(level):
    engine, starts = gtp.Rhino(level), [None, *arena.starts_all(game, 4)[::100]]
    play = [arena.match(game, [engine, gtp.Rhino(2)], start, seed=7).moves for start in starts]
    again = [
        arena.match(game, [engine, gtp.Rhino(2)], start, seed=7).moves for start in reversed(starts)
    ][::-1]
    fresh = [
        arena.match(game, [gtp.Rhino(level), gtp.Rhino(2)], start, seed=7).moves for start in starts
    ]
    assert play == again == fresh and len({tuple(moves) for moves in play}) == len(starts)


def test_higher_levels_of_rhino_win():
    found = Matches("Rhino-m1", partial(gtp.Rhino, 1), starts=("all", 2))(
        game, gtp.Rhino(3), seed=1
    )
    assert found["win_rate:Rhino-m1"] > 60 and "errors:Rhino-m1" not in found
