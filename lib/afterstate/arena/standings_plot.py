"""The picture of a tournament: ratings with intervals beside the cross table."""

import numpy as np

INK, PALE = "#1a1a1a", "#8a8a8a"


def plot(standings, ax=None):
    """Draw the ratings with their 95% intervals and, beside them, the cross table.

    Parameters
    ----------
    standings : Standings
    ax : matplotlib axes, optional
        Then only the ratings are drawn, there.

    Returns
    -------
    matplotlib axes
        Those of the ratings.
    """
    table = standings.ratings
    if ax is None:
        import matplotlib.pyplot as plt  # a second, which only a picture is worth

        height = 1.3 + 0.42 * len(table)
        figure, (ax, beside) = plt.subplots(
            1, 2, figsize=(10, height), width_ratios=(1.3, 1), layout="constrained"
        )
        _cross(standings.cross, beside)
    places = np.arange(len(table))[::-1]
    spread = [table.rating - table.low, table.high - table.rating]
    ax.errorbar(table.rating, places, xerr=np.maximum(spread, 0), fmt="o", color=INK, capsize=3)
    for name, rating, place in zip(table.player, table.rating, places):
        ax.annotate(
            f"{rating:+.0f}", (rating, place), (0, 7), textcoords="offset points", ha="center"
        )
    ax.set_yticks(places, table.player)
    ax.set_ylim(-0.6, len(table) - 0.3)
    ax.axvline(0, color=PALE, linewidth=0.8, linestyle=":")
    ax.set_xlabel("rating in Elo points, mean 0 (bars: 95% intervals)")
    ax.set_title(f"{standings.game.name}: {standings.table.match.nunique()} matches")
    return ax


def _cross(cross, ax):
    """Draw the cross table as a heat map with numbers."""
    ax.imshow(cross, cmap="PuOr", vmin=0, vmax=100)
    for row, column in np.argwhere(cross.notna().to_numpy()):
        points = cross.iat[row, column]
        ink = "white" if abs(points - 50) > 30 else INK
        ax.text(column, row, f"{points:.0f}", ha="center", va="center", color=ink)
    ax.set_yticks(range(len(cross)), [])
    ax.set_xticks(range(len(cross)), cross.columns, rotation=35, ha="right")
    ax.set_title("points against the column, percent")
