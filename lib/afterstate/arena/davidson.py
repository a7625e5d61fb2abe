"""The arithmetic of ratings: Davidson's model of a game, its likelihood, and Newton's method on it.

A model is one array ``x``: the strength of every player, the advantage of the first seat, and the
drawishness. These are plain loops because numpy's exp and its linear algebra differ between
processors in the last bits, and a rating is to be the same number everywhere.

Source: Davidson (1970), J. Amer. Stat. Assoc. 65; Davidson & Beaver (1977) for the order effect.
"""

import numpy as np

from ..kernel.compile import kernel
from ..kernel.functions import exp, log

LEAST_CHANCE = 1e-300  # so that its logarithm is finite
# how often an outcome's weight (win, draw, loss of the first) has the strengths of the first and of
# the second player, the first seat's advantage and the drawishness
SHARES = np.array([[1.0, 0.0, 1.0, 0.0], [0.5, 0.5, 0.5, 1.0], [0.0, 1.0, 0.0, 0.0]])


@kernel
def write_chances(win, draw, loss, p):
    """Write the probabilities of three outcomes with these logarithms of weights into `p`."""
    top = max(win, draw, loss)
    p[0], p[1], p[2] = exp(win - top), exp(draw - top), exp(loss - top)
    total = p[0] + p[1] + p[2]
    for k in range(3):
        p[k] /= total


@kernel
def chances(x, first, second, p):
    """Write how probably player `first` wins, draws and loses against `second` into `p`."""
    n = x.shape[0] - 2
    drawn = 0.5 * (x[first] + x[second] + x[n]) + x[n + 1]
    write_chances(x[first] + x[n], drawn, x[second], p)


@kernel
def likelihood(x, first, second, counts, ridge, p):
    """Return the logarithm of the likelihood of counts[games, 3], less the penalty of the ridge."""
    total = 0.0
    for value in x:
        total -= 0.5 * ridge * (value * value)
    for r in range(counts.shape[0]):
        chances(x, first[r], second[r], p)
        for k in range(3):
            total += counts[r, k] * log(max(p[k], LEAST_CHANCE))
    return total


@kernel
def newton_step(x, first, second, counts, ridge, p, mean, curvature, step):
    """Write the step to the likelihood's maximum into `step`, as if it were a parabola.

    `curvature` (float64[n + 2, n + 2]) and `mean` (float64[4]) are working memory.
    """
    size = x.shape[0]
    for i in range(size):
        step[i] = -ridge * x[i]
        for j in range(size):
            curvature[i, j] = ridge if i == j else 0.0
    for r in range(counts.shape[0]):
        add_games(x, first[r], second[r], counts[r], p, mean, curvature, step)
    solve(curvature, step)


@kernel
def add_games(x, first, second, count, p, mean, curvature, slope):
    """Add what the games of a pair say of the slope and of the curvature."""
    at = (first, second, np.int64(x.shape[0] - 2), np.int64(x.shape[0] - 1))
    games = count[0] + count[1] + count[2]
    chances(x, first, second, p)
    for a in range(4):
        mean[a] = p[0] * SHARES[0, a] + p[1] * SHARES[1, a] + p[2] * SHARES[2, a]
        for k in range(3):
            slope[at[a]] += (count[k] - games * p[k]) * SHARES[k, a]
    for a in range(4):
        for b in range(4):
            for k in range(3):
                spread = (SHARES[k, a] - mean[a]) * (SHARES[k, b] - mean[b])
                curvature[at[a], at[b]] += games * p[k] * spread


@kernel
def solve(matrix, vector):
    """Solve a positive definite system in place: Cholesky's factor, then both substitutions."""
    n = vector.shape[0]
    for j in range(n):
        for i in range(j, n):
            for k in range(j):
                matrix[i, j] -= matrix[i, k] * matrix[j, k]
            if i > j:
                matrix[i, j] /= matrix[j, j]
            else:
                matrix[j, j] = np.sqrt(matrix[j, j])
    for i in range(n):
        for k in range(i):
            vector[i] -= matrix[i, k] * vector[k]
        vector[i] /= matrix[i, i]
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            vector[i] -= matrix[k, i] * vector[k]
        vector[i] /= matrix[i, i]


@kernel
def surplus(strength, theirs, seat, draw, counts, p):
    """Return the points that a player of this strength made beyond what was expected of it.

    It met players of the strengths `theirs`, with the advantage `seat` of its own side, and has
    counts[row, 3] wins, draws and losses.
    """
    total = 0.0
    for r in range(counts.shape[0]):
        half = (strength - theirs[r] + seat[r]) / 2
        write_chances(half, draw, -half, p)
        games = counts[r, 0] + counts[r, 1] + counts[r, 2]
        total += counts[r, 0] + counts[r, 1] / 2 - games * (p[0] + p[1] / 2)
    return total
