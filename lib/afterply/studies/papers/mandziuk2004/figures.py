"""The figures of the report on [mandziuk2004]: name of the file -> a function of the studies."""

from ...reports.figures import panels
from ...reports.summaries import PANEL
from .giveaway_points import COMPARISON, compared_methods, draw_histories

# pair of methods, as `compared_methods` names it -> label of its panel
LABELS = {
    "LL - LB": "LL less LB, percent of the points",
    "LL - 3L": "LL less 3L, percent of the points",
}


def histories(studies):
    """Return figure, numbers, caption and arms of the points during the training, as in Fig. 1."""
    arms = [
        *("LL, random opponents", "LB, random opponents"),
        *("LL, strong opponents", "LB, strong opponents"),
    ]
    figure, data = draw_histories(
        studies["giveaway"].table(),
        arms,
        "percent of the points in 25 games",
        "Give-away checkers: points during the training",
    )
    caption = (
        "Points of a learner in each round of 25 training games, as in Fig. 1 of the paper. Red: "
        "the learner with the most points over the whole phase (chosen afterwards, so it "
        "flatters); black: the mean of all learners; grey: the range of eight of ten learners. The "
        "learning rate falls after each quarter."
    )
    return figure, data, caption, arms


def methods(studies):
    """Return figure, numbers, caption and arms of LL less the other methods, over learners."""
    compared = compared_methods(studies["giveaway"].table())
    by_learner = compared.loc[compared["unit"] == "learners", COMPARISON].set_axis(PANEL, axis=1)
    # "LL - LB, strong opponents, training": a panel for each other method, with its own scale
    pair_and_row = by_learner["row"].str.split(", ", n=1, expand=True)
    figure = None
    data = by_learner
    if len(by_learner):
        tables = {}
        for pair, label in LABELS.items():
            is_pair = pair_and_row[0] == pair
            tables[label] = by_learner[is_pair].assign(row=pair_and_row[1])
        rows = list(pair_and_row[1].unique())
        title = "Learning on losses only, beside the other methods (by learner)"
        figure, data = panels(rows, tables, title, dict.fromkeys(tables, 0.0))
    arms = [
        f"{method}, {phase} opponents"
        for method in ("LL", "LB", "3L")
        for phase in ("random", "strong")
    ]
    caption = (
        "LL less LB, and LL less 3L: means over learners with 95% intervals; the number of learners"
        " above. To the right of 0 LL is better; the two panels have scales of their own. For the"
        " verdict the table of notebook 40 takes repetitions as units."
    )
    return figure, data, caption, arms


FIGURES = {"giveaway-fig1": histories, "giveaway-methods": methods}
