"""Random players of games whose actions are two choices, such as a move and the man to take."""

import numpy as np
import pytest

from afterstate import games, players
from afterstate.arena.contest import contest
from afterstate.players import agents


@pytest.mark.slow
def test_random_players_choose_a_move_and_then_the_man_to_remove():
    """Shares of wins and length of random games are those that another program computed.

    51.6 / 48.4 and 183 plies; 36.8 / 29.6 / 33.6 within 200.
    """
    endless, short = (
        games.load("morris", repetition=0, quiet_plies=0, max_plies=plies) for plies in (0, 200)
    )
    out = contest(endless, agents.chance(endless), agents.chance(endless), games=8_000, seed=1)
    # four standard errors
    assert abs(out.wins - 0.516 * 8_000) < 180 and out.draws == 0
    assert abs(out.plies.mean() - 183) < 4
    out = contest(short, agents.chance(short), agents.chance(short), games=8_000, seed=1)
    assert abs(out.wins - 0.368 * 8_000) < 180 and abs(out.draws - 0.296 * 8_000) < 170


def action(origin, to, removed=-1, points=24):
    return ((origin + 1) * points + to) * (points + 1) + removed + 1


@pytest.mark.slow
def test_the_shares_of_a_random_player_are_those_of_its_draws():
    game = games.load("morris")
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
