"""Play against an agent: with clicks in a notebook, with typed moves at a terminal."""

from ..games.game import check_game
from ..players import saved
from ..players.searching import MCTS, MaxN, MinMax
from .game_table import OVER, YOU, Table
from .widget import BoardWidget, has_front_end, widget

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
    widget or Table
        The widget's ``table`` holds the game: ``table.states()``, ``table.actions()``.
    """
    others, strength = check_game(game, "a game to play").players - 1, None
    if isinstance(opponent, (list, tuple)):
        opponents = list(opponent)
    elif opponent is not None:
        opponents = [opponent] * others
    elif others == 1 and (steps := _ladder(game)):
        low, high = steps["ratings"][0], steps["ratings"][-1]
        strength = low, high, round((low + high) / 2)
        opponents = [saved.at_strength(game, strength[2])]
        if advice is None:  # an opponent from a ladder has no values
            advice = MinMax(steps["depth"]) if steps["depth"] else MaxN(FULL_DEPTH)
    else:
        opponents = [MCTS(DEFAULT_ITERATIONS) if others == 1 else MaxN(4)] * others
    if advice is None and others == 0:
        advice = opponent
    table = Table(game, opponents, seat, seed, advice)
    return widget(BoardWidget, table, strength) if has_front_end() else play_at_terminal(table)


def _ladder(game) -> dict | None:
    try:
        return saved.ladder(game)
    except ValueError:  # there is none for these parameters
        return None


def play_at_terminal(table: Table, ask=None, say=print) -> Table:
    """Play with typed moves until the game is over or left with ``q``; return the table.

    `ask` and `say` stand for the keyboard and the screen.
    """
    ask = input if ask is None else ask
    say(HELP)
    while True:
        say(table.game.render(table.state))
        say(table.status())
        if table.turn == OVER:
            return table
        if table.turn == YOU:
            if not _command(table, ask("your move: ").strip(), say):
                return table
        else:
            action = table.choice()
            name = table.game.action_name(table.state, action)
            table.make(action)
            say(f"the answer is {name}")


def _command(table, answer, say) -> bool:
    """Do what was typed; return whether to go on."""
    legal = table.game.legal(table.state).tolist()
    named = {table.game.action_name(table.state, action): action for action in legal}
    if answer in named:
        table.make(named[answer])
    elif answer == "u":
        say("taken back" if table.undo() else "there is nothing to take back")
    elif answer == "n":
        table.new()
    elif answer == "s":
        table.new((table.seat + 1) % table.game.players)
    elif answer == "v" and (values := table.values()) is None:
        say("nobody here can say what the moves are worth")
    elif answer == "v":
        ranked = sorted(named, key=lambda name: -values[named[name]])
        say(", ".join(f"{name} {values[named[name]]:+.3f}" for name in ranked))
    elif answer.isdigit() and int(answer) in legal:
        table.make(int(answer))
    elif answer != "q":
        say(f"{answer!r} is not a move here; there are {', '.join(named)}. {HELP}")
    return answer != "q" or answer in named
