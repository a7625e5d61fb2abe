"""How a move is made by clicks on a drawn board, and what the two sides are called.

A drawing says which of its cells is which (``data-cell``). An action is a sequence of choices, each
of which may be made on one of several cells: a stone goes to one cell, a man from point to point, a
disc into a column. Actions without such a sequence (pass, swap) get buttons with their names, and
so does everything on a board drawn as text.
"""

# who the players are, by game; others are called after their numbers
SIDES = {
    "checkers": ("white", "black"),
    "connect4": ("yellow", "red"),
    "giveaway": ("white", "black"),
    "hex": ("black (left to right)", "blue (top to bottom)"),
    "kalah": ("lower row", "upper row"),
    "morris": ("black", "white"),
    "othello": ("black", "white"),
    "tictactoe": ("x", "o"),
}


def sides(game) -> tuple[str, ...]:
    """Return what the players of a game are called, by seat."""
    if len(SIDES.get(game.name, ())) == game.players:
        return SIDES[game.name]
    return tuple(f"player {seat + 1}" for seat in range(game.players))


def clicks(game, state) -> dict[int, list[list[int]]]:
    """Return, for every legal action that can be made by clicks, its choices: cells by choice.

    Examples
    --------
    >>> from afterstate import games
    >>> from afterstate.screen.touch import clicks
    >>> game = games.load("connect4")
    >>> clicks(game, game.start())[0]
    [[0, 7, 14, 21, 28, 35]]
    """
    if game.draw is None and game.render_state is not None:
        return {}
    touch = game.touch or _TOUCHES.get(game.name if game.spec else None, _on_its_cell)
    found = {int(action): touch(game, state, int(action)) for action in game.legal(state)}
    return {
        action: [[cells] if isinstance(cells, int) else list(cells) for cells in choices]
        for action, choices in found.items()
        if choices
    }


# each returns the choices of an action; a cell alone stands for [cell]
def _on_its_cell(game, state, action):
    return [action] if action < game.cells and game.actions <= game.cells + 1 else []


def _house(game, state, action):
    houses = game.actions
    return [houses - 1 - action if game.player(state) else houses + action]


def _from_to_taken(game, state, action):
    points = game.cells - 2
    removed, move = action % (points + 1) - 1, action // (points + 1)
    if move == (points + 1) * points:
        return []
    origin, to = move // points - 1, move % points
    return [point for point in (origin, to, removed) if point >= 0]


def _squares_of_its_name(game, state, action):
    name = game.action_name(state, action)
    return [int(square) - 1 for square in name.replace("x", "-").split("-")]


_TOUCHES = {
    "checkers": _squares_of_its_name,
    "connect4": lambda game, state, action: [range(action, game.cells, game.actions)],
    **dict.fromkeys(("cube2", "cube3"), lambda game, state, action: []),  # by its name only
    "giveaway": _squares_of_its_name,
    "kalah": _house,
    "morris": _from_to_taken,
    **dict.fromkeys(("nim", "nim3p"), lambda game, state, action: [action]),
}


def drawn_cell(game, cell: int) -> int:
    """Return the cell of the drawing that shows a cell of the board, -1 if none does.

    Most drawings number their cells as the board does. ConnectFour's board counts the columns
    from below, Kalah's has the stores among the houses, Nim draws heaps.
    """
    name = game.name if game.spec else None
    if name == "connect4":
        columns = game.actions
        rows = game.cells // columns
        return (rows - 1 - cell % rows) * columns + cell // rows
    if name == "kalah":
        houses = game.actions
        if cell < houses:
            return houses + cell
        return 2 * houses - cell if houses < cell <= 2 * houses else -1
    if name in ("nim", "nim3p"):
        return cell * (game.actions // game.cells)
    return -1 if name in ("cube2", "cube3") else cell
