"""Random games in ours and in OpenSpiel's rules at the same time, for the tests."""

import numpy as np

from afterstate.games.calls import call_legal, call_over, call_play, call_player


def compare(game, oracle, num_games, translate, seed=1, at_end=None, skip=None):
    """Play random games in both; return how many the first player won, drew, lost, and the skips.

    `translate(action, player)` is their number of an action, `skip` that of their pass, which we do
    not have; `at_end(state, theirs)` looks at finished games. Our rules are called without the
    checks of the border, which take most of the time.
    """
    rules, random, ends, skips = game.rules, np.random.default_rng(seed), {1: 0, 0: 0, -1: 0}, 0
    moves = np.zeros(game.max_legal, np.int32)
    for _ in range(num_games):
        s, theirs = game.start(), oracle.new_initial_state()
        while not call_over(rules, s):
            expected = theirs.legal_actions()
            if expected == [skip]:
                theirs.apply_action(skip)
                expected, skips = theirs.legal_actions(), skips + 1
            player, legal = call_player(rules, s), moves[: call_legal(rules, s, moves)].tolist()
            assert player == theirs.current_player()
            assert sorted(translate(a, player) for a in legal) == expected
            action = legal[random.integers(len(legal))]
            theirs.apply_action(translate(action, player))
            call_play(rules, s, action)
        assert theirs.is_terminal() and game.score(s).tolist() == theirs.returns()
        if at_end:
            at_end(s, theirs)
        ends[int(game.score(s)[0])] += 1
    return ends, skips
