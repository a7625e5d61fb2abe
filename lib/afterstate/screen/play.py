"""Play against an agent: with clicks in a notebook, with typed moves at a terminal."""

from ..games.game import check_game
from ..players import ladder
from ..players.searching import MCTS, MaxN, MinMax
from .table import OVER, YOU, Table
from .widget import board_widget, has_front_end

HELP = (
    "a move by its name or number; u takes back, v shows values, n new game, s other side, q quit"
)
DEFAULT_ITERATIONS = 300
FULL_DEPTH = 20  # plies: to the end of every game whose ladder is a table


def play(game, opponent=None, *, seat: int = 0, seed: int = 0, advice=None):
    """Play a game against an agent.

    In a notebook this returns a board that is played by clicks; where there is no front end for
    it, moves are typed.

    Parameters
    ----------
    game : Game
    opponent : player, function, network, session, or a sequence of them
        One for all other seats, or one for each. Default: an opponent of medium strength from the
        game's ladder, with a slider for it; where there is none, a Monte Carlo tree search (two
        players) or Max-N (more). In a game for one it gives advice only.
    seat : int
        Yours; 0 moves first.
    seed : int
        The only source of chance.
    advice : player with ``values``, network or session, optional
        Says what the moves are worth; default: the opponent, if it can.

    Returns
    -------
    widget
        Its ``table`` holds the game: ``table.states()``, ``table.actions()``.

    Examples
    --------
    ``screen.play(games.load("tictactoe"))`` in a notebook shows a board and a slider of strength.
    """
    check_game(game, "a game to play")
    opponents, strength = _opponents(game, opponent)
    if advice is None and (game.players == 1 or strength is not None):
        advice = opponent if game.players == 1 else _searching(game)
    table = Table(game, opponents, seat, seed, advice)
    if has_front_end():
        return board_widget(table, strength)
    return play_at_terminal(table)


def _opponents(game, opponent):
    """Return a list of opponents, and the ladder's (low, high, rating) if there is a slider."""
    others = game.players - 1
    if opponent is None and game.players == 2 and has_ladder(game):
        ratings = ladder.load(game)["ratings"]
        middle = round((ratings[0] + ratings[-1]) / 2)
        return [ladder.at_strength(game, middle)], (ratings[0], ratings[-1], middle)
    if opponent is None:
        chosen = MCTS(DEFAULT_ITERATIONS) if game.players == 2 else MaxN(4)
        return [chosen] * others, None
    if isinstance(opponent, (list, tuple)):
        return list(opponent), None
    return [opponent] * others, None


def _searching(game):
    """Return who gives advice where the opponent is one of a ladder, which has no values."""
    depth = ladder.load(game)["depth"]
    return MinMax(depth) if depth else MaxN(FULL_DEPTH)


def has_ladder(game) -> bool:
    """Return whether there is a published ladder of opponents for a game as it is."""
    try:
        ladder.load(game)
    except ValueError:
        return False
    return True


def play_at_terminal(table: Table, ask=None, say=print) -> Table:
    """Play with typed moves; `ask` and `say` stand for the keyboard and the screen.

    Returns
    -------
    Table
        The game as it ended, or as it was left with ``q``.
    """
    ask = input if ask is None else ask
    say(HELP)
    while True:
        say(table.game.render(table.state))
        say(table.status())
        if table.turn not in (OVER, YOU):
            action = table.choice()
            name = table.game.action_name(table.state, action)
            table.make(action)
            say(f"the answer is {name}")
            continue
        if table.turn == OVER:
            return table
        if not _command(table, ask("your move: ").strip(), say):
            return table


def _command(table, answer, say) -> bool:
    """Do what was typed; return whether to go on."""
    legal = table.game.legal(table.state).tolist()
    named = {table.game.action_name(table.state, action): action for action in legal}
    if answer in named:
        table.make(named[answer])
    elif answer == "q":
        return False
    elif answer == "u":
        say("taken back" if table.undo() else "there is nothing to take back")
    elif answer == "n":
        table.new()
    elif answer == "s":
        table.new((table.seat + 1) % table.game.players)
    elif answer == "v":
        values = table.values()
        told = "nobody here can say what the moves are worth"
        if values is not None:
            ranked = sorted(values, key=values.get, reverse=True)
            told = ", ".join(
                f"{table.game.action_name(table.state, a)} {values[a]:+.3f}" for a in ranked
            )
        say(told)
    elif answer.isdigit() and int(answer) in legal:
        table.make(int(answer))
    else:
        say(f"{answer!r} is not a move here; there are {', '.join(named)}. {HELP}")
    return True
