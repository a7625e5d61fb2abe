"""A sweep: its table, what it takes from records, its curves, wrong arguments."""

import sys

import pytest

from afterply import games
from afterply.files import data_directory
from afterply.learners import sarsa, tabular, td
from afterply.learners.parameters import check_parameters
from afterply.studies import Study, sweep
from afterply.studies.sweep import Sweep
from small_studies import TUPLES, Weights

GAME = games.load("tictactoe")


def small(seeds=2, alpha=(0.1, 0.5), **given):
    shared = {"episodes": 60, "eval_every": 30, "evaluate": Weights(), "workers": 1}
    return sweep(GAME, td, seeds, alpha=[*alpha], **{"tuples": [TUPLES]} | shared | given)


def test_the_table_has_a_row_for_each_combination_seed_episode_and_result(place):
    found = small(lambda_=[0.0, 0.5]).table
    names = ["alpha", "lambda_", "tuples", "seed", "episode", "measure", "value"]
    assert sorted(found.columns) == sorted(names)
    mass = found[found.measure == "mass"]
    assert len(mass) == 2**4 == len(mass[["alpha", "lambda_", "seed", "episode"]].drop_duplicates())
    assert mass.groupby("alpha").value.mean().is_monotonic_increasing
    study = Study("sweep-tictactoe-td", "quick", workers=1)  # the same trainings, one by one
    arm = f"alpha=0.5, lambda_=0.5, tuples={TUPLES}"
    given = GAME.settings | {"alpha": 0.5, "lambda_": 0.5, "tuples": TUPLES, "episodes": 60}
    study.arm(arm, td, game=GAME, runs=2, eval_every=30, curve=[Weights()], **given)
    own, theirs = mass.query("alpha == 0.5 and lambda_ == 0.5"), study.table()
    assert own.value.tolist() == theirs[theirs.measure == "mass"].value.tolist()


def test_what_is_recorded_is_not_trained_again_and_the_rest_is_added(place, monkeypatch):
    first = small()
    (file,) = (data_directory() / "cache" / "sweeps").glob("*.jsonl")
    lines = file.read_text().splitlines()
    assert len(lines) == 2 * 2 * 2  # combinations, seeds, training and curve
    with monkeypatch.context() as patched:
        patched.setattr(td.Session, "train", None)
        assert small().table.equals(first.table)
    more = small(seeds=3, alpha=(0.1, 0.5, 0.9)).table
    assert file.read_text().startswith("\n".join(lines)) and len(more) == len(first.table) * 9 // 4
    monkeypatch.setenv("AFTERPLY_BATCH", "some-notebook")  # its records are nobody else's
    assert len(small(alpha=(0.7,)).table) == len(first.table) // 2


def test_what_does_not_vary_is_as_usual_in_the_game(place, monkeypatch):
    monkeypatch.setattr(Study, "make", lambda *_: None)  # it trains nothing
    monkeypatch.setattr(
        Sweep, "__init__", lambda self, study, varied: vars(self).update(study=study)
    )
    for name, learner in (("connect4", td), ("nim", sarsa), ("nim", tabular), ("nim3p", td)):
        game = games.load(name)
        arms = sweep(game, learner, alpha=[0.25, 0.75], episodes=600).study.arms
        before = check_parameters(learner.PARAMETERS, None, game) | {"episodes": 600}
        before = {name: before[name] for name in learner.DEFAULTS}
        for alpha, runs in zip((0.25, 0.75), arms.values(), strict=True):
            assert all(run.job.parameters == before | {"alpha": alpha} for run in runs)
    (run,) = sweep(games.load("nim"), td, 1).study.arms["sweep-nim-td"]
    assert run.job.episodes == 20_000 and run.job.every == 2_000  # of its settings


def test_curves_are_of_all_combinations_or_some(place, monkeypatch):
    found = small(lambda_=[0.0, 0.5])
    everything, some = found.curves(), found.curves("seed", alpha=0.1)
    assert [len(figure.legends[0].get_texts()) for figure in (everything, some)] == [4, 2]
    assert everything.axes[0].get_ylabel() == "mass"
    with pytest.raises(ValueError, match="no values of 'luck'"):
        found.curves("luck")
    monkeypatch.setattr(sys.modules[Sweep.__module__], "MOST_CURVES", 3)  # 61 take a minute
    with pytest.raises(
        ValueError, match="4 curves are too many .* give alpha or lambda_ .*a value"
    ):
        found.curves()
    assert found.curves(alpha=0.1).axes[0].lines


def test_without_an_evaluator_matches_with_random_players_are_the_measure(place):
    found = sweep(games.load("nim"), td, 1, episodes=40, eval_every=40, workers=1, alpha=[0.5])
    assert {"win_rate", "score"} <= set(found.table.measure[found.table.opponent == "Random"])
    axes = found.curves("score").axes[0]
    assert axes.get_ylabel() == "score, opponent Random"
    alone = games.load("cube2", max_twists=1)
    found = sweep(alone, td, 1, episodes=20, eval_every=20, workers=1, max_plies=3, tuples=[TUPLES])
    assert found.curves(measure="score", opponent="alone").axes[0].lines


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: sweep("nim", td), "a sweep needs a game"),
        (lambda: small(alpha=()), r"alpha=\[\] lists no values"),
        (lambda: small(alpah=[1.0]), "no parameter 'alpah': did you mean 'alpha'"),
        (lambda: small(seeds=0), "seeds must be a whole number"),
        (lambda: small(episodes=0), "episodes must be a whole number"),
        (lambda: small(alpha=(-1.0,)), "alpha=-1.0 must be at least 0"),
    ],
)
def test_wrong_arguments_are_named(place, call, words):
    with pytest.raises(ValueError, match=words):
        call()
