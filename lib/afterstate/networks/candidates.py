"""The afterstates of a position, each computed from the board that it differs least from.

They are rows 1, 2 ... of a memory whose row 0 is the position itself. A memory is a named tuple
with at least these arrays, whose first dimension is the row: ``cells`` (codes of the board),
``near`` (the row that a row is computed from), ``changed`` (cells in which the two differ),
``num_changed`` (how many; -1 if too many to save anything), ``index`` (feature indices) and
``weight`` (weights of the features).
"""

from ..kernel.compile import kernel
from .lookup import differing_cells, look_up, look_up_changed

NOW = 0  # row of the position


@kernel
def nearest_board(mem, row):
    """Return the memory row of the board that a candidate is computed from.

    It is the position's, or the candidate's before if that differs less: where a move changes much
    of the board, as the marks of legal cells in Othello, two candidates have most in common.
    """
    if row == 1 or mem.num_changed[1] >= 0:
        return NOW
    cells = mem.cells[row]
    nearer = differing_cells(mem.cells[row - 1], cells) < differing_cells(mem.cells[NOW], cells)
    return row - 1 if nearer else NOW


@kernel
def look_up_candidates(net, mem, p, n):
    """Look up the weights of the candidates in rows 1 to `n`, for player `p`.

    Those that read little else than another board take its weights over.
    """
    known = False
    for row in range(1, n + 1):
        near = mem.near[row]
        if mem.num_changed[row] < 0:
            look_up(net, p, mem.index[row], mem.index.shape[1], mem.weight[row])
            continue
        if near == NOW and not known:
            look_up(net, p, mem.index[NOW], mem.index.shape[1], mem.weight[NOW])
            known = True
        changed, few = mem.changed[row], mem.num_changed[row]
        look_up_changed(net, p, mem.weight[near], changed, few, mem.index[row], mem.weight[row])
