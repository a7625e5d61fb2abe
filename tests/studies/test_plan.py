"""Plans, and what optional programs are needed for."""

import shutil
from types import SimpleNamespace

import pytest

from afterstate import games
from afterstate.commands import reproduce
from afterstate.evaluators.wrapped import Alone
from afterstate.studies import costs, golden, jobs, plan, records, runs
from afterstate.studies.identity import evaluator_identity, key_of
from afterstate.studies.settings import Selection, for_notebook
from small_studies import SMALL, Needy, Weights, make, planned, provenances, record_files


@pytest.mark.slow
def test_a_final_evaluation_that_lacks_something_is_left_out_and_the_rest_is_made(
    place, monkeypatch, capsys
):
    final = (Weights(), Needy())
    made = make(final=final)
    assert (
        capsys.readouterr().err.count(
            "tiny: not measured here: needy (3 runs): needs the program X: install it"
        )
        == 1
    )
    assert made.runs().groupby("evaluator")["provenance"].unique().map(list).to_dict() == {
        "": ["trained here"],
        "weights": ["trained here"],
        "needy": ["missing"],
    }
    assert set(made.runs().query("evaluator == 'needy'")["estimated_cpu_seconds"]) == {0.0}
    made.finish()
    assert "tiny: 3 runs: 3 trained here. Not measured: needy (3 runs)." in capsys.readouterr().out
    assert all(o.finished for o in made.arms["FARL"]) and all(
        o.complete for o in planned(final=final)
    )

    monkeypatch.setattr(runs, "_trained", None)  # nothing is trained again ...
    assert make(final=final).unfinished() == "Not measured: needy (3 runs)."
    monkeypatch.setattr(Needy, "there", True)
    assert [len(o.due) for o in planned(final=final)] == [1, 1, 1]
    made = make(final=final)  # ... when the program is there at last, either
    assert made.unfinished() == "" and provenances(made) == {"recorded", "trained here"}
    assert (
        set(made.table().query("metric == 'win_rate:X'")["value"]) == {50.0}
        and len(record_files(place)) == 3 * 4
    )

    monkeypatch.setattr(Needy, "there", False)  # and elsewhere its records count without it
    made = make(final=final)
    assert provenances(made) == {"recorded"} and made.unfinished() == ""


@pytest.mark.slow
def test_a_repeated_run_leaves_out_what_can_not_be_repeated(place, monkeypatch):
    monkeypatch.setattr(Needy, "there", True)
    make(final=(Needy(),))
    monkeypatch.setattr(Needy, "there", False)
    made = make(final=(Needy(),), records="ignore")
    labels = made.runs().groupby("evaluator")["provenance"].unique().map(list).to_dict()
    assert labels == {
        "": ["re-run here: identical"],
        "weights": ["re-run here: identical"],
        "needy": ["recorded"],
    }
    assert reproduce.repeat(made.arms["FARL"][0], made.arms["FARL"]) == "identical"


@pytest.mark.slow
def test_a_curve_that_lacks_something_blocks_the_training(place, capsys):
    made = make(curve=(Needy(),))
    assert (
        provenances(made) == {"missing"}
        and not record_files(place)
        and made.unfinished().startswith("Unfinished: 3 of 3 runs of FARL are missing. make ")
    )
    assert "tiny: nothing can be trained here: the program X: install it" in capsys.readouterr().err
    assert "Not trained here: tiny (3 runs): needs the program X" in "\n".join(
        plan.lines(planned(curve=(Needy(),)))
    )


@pytest.mark.slow
def test_the_plan_names_what_is_needed_and_does_not_count_it(place):
    outcomes = planned(final=(Weights(), Needy()))
    assert "Not measured here: tiny, needy (3 runs): needs the program X: install it" in plan.lines(
        outcomes
    )
    assert len(plan.select(outcomes, float("inf"), 1)[0].missing) == 3
    make(final=(Weights(), Needy()))
    outcomes = planned(final=(Weights(), Needy()))
    chosen, _ = plan.select(outcomes, float("inf"), 1)
    assert (
        not chosen.missing and len(chosen.again) == 1 and sum(map(plan.missing_cost, outcomes)) == 0
    )


# -------------------------------------------------------------------------------- the plan is cheap


def test_a_plan_reads_every_record_once_and_computes_nothing(place, monkeypatch):
    make(params=SMALL | {"runs": 2})
    read = []
    whole = records.read
    monkeypatch.setattr(records, "read", lambda path: read.append(path) or whole(path))
    monkeypatch.setattr(runs, "_trained", None)
    monkeypatch.setattr(runs, "probe", None)
    states = planned(params=SMALL | {"runs": 9})
    found = [state.costs.estimate(state.job, key) for state in states for key, _, _ in state.keys]
    assert len(read) == len(set(read)) == len(record_files(place)) == 6
    # tiny evaluations are recorded with 0.000 seconds
    assert len(found) == 27 and min(found) >= 0 and max(found) > 0


@pytest.mark.slow
def test_a_plan_trusts_doubted_records_and_says_so(place, monkeypatch):
    make(params=SMALL | {"runs": 2})
    shutil.rmtree(place / "data" / "cache" / "confirmed")
    monkeypatch.setattr(jobs, "numeric_sources", lambda *_: "edited")
    monkeypatch.setattr(golden, "repeat", None)
    monkeypatch.setattr(golden, "play_through", None)
    states = planned(params=SMALL | {"runs": 2})
    assert all(state.complete for state in states)
    told = "\n".join(plan.lines(states))
    assert "6 records were made by other sources of the package: they are checked" in told


@pytest.mark.slow
def test_a_broken_cache_of_golden_runs_is_made_again(place):
    make(params=SMALL | {"runs": 1})
    cached = list((place / "data" / "cache" / "confirmed").glob("*.json"))
    assert len(cached) == 3  # golden run, the same for this processor, playthroughs
    for path in cached:
        path.write_text("")
    assert len(planned(params=SMALL | {"runs": 1})) == 1
    assert provenances(make(params=SMALL | {"runs": 1})) == {"recorded"}
    # what new records would need is not asked again
    assert sorted(path.read_text() for path in cached) == ["", "[]", "[]"]


def test_a_missing_evaluation_costs_its_training_where_the_weights_are_gone(place):
    made = make(params=SMALL | {"runs": 1})
    (evaluated,) = made.arms["FARL"]
    evaluated.job.checkpoint.unlink()
    (place / "data" / "records" / "tiny" / f"eval-{evaluated.job.evaluations[-1][2]}.json").unlink()
    (state,) = planned(params=SMALL | {"runs": 1})
    assert len(state.due) == 1 and not state.job.checkpoint.exists()
    training = state.costs.estimate(state.job, state.job.key)
    assert training > 0 and plan.missing_cost(state) >= training
    with for_notebook("10_tictactoe", Selection(frozenset(), frozenset())):
        table = make(params=SMALL | {"runs": 1}).runs()
    told = table.set_index("kind")["estimated_cpu_seconds"].dropna()
    assert told.sum() == pytest.approx(plan.missing_cost(state), abs=0.11)


def test_costs_that_were_sampled_once_are_kept(place, monkeypatch):
    states = planned(params=SMALL | {"runs": 2})
    first = [state.costs.estimate(state.job, state.job.key) for state in states]
    assert first[0] > 0
    monkeypatch.setattr(costs, "_sample_training", None)
    assert [s.costs.estimate(s.job, s.job.key) for s in planned(params=SMALL)][0] == first[0]
    (place / "data" / costs.KEPT).write_text("{")  # as good as none
    with pytest.raises(TypeError):
        states[0].costs.estimate(states[0].job, states[0].job.key)


def test_a_training_costs_what_those_with_the_same_words_cost(place, monkeypatch):
    """A teacher, or another kind of learning, may cost twenty times as much."""
    make(params=SMALL | {"runs": 1})
    monkeypatch.setattr(costs, "_sample", lambda job, evaluator: 7.0)
    states = planned(params=SMALL | {"runs": 1}, arms=("FARL", "no-FARL"))
    each = {s.job.arm: s.costs.estimate(s.job, s.job.key) / 400 for s in states}
    assert each["FARL"] < 1 and each["no-FARL"] == 7.0
    renamed = planned(params=SMALL | {"runs": 1, "alpha": 0.5})
    assert renamed[0].costs.estimate(renamed[0].job, renamed[0].job.key) / 400 < 1


def test_an_evaluation_costs_what_another_one_costs_that_differs_in_numbers_only(monkeypatch):
    """A sample of an untrained network does not know how long a trained one plays."""
    game = games.load("game2048")
    made = [Alone(n, 10, scale) for n, scale in ((100, 10.0), (100, 1e3), (1000, 1e3))]
    other = Alone(100, 10, 1e3, "enumerated")
    evaluations = [("final", e, f"key {k}") for k, e in enumerate([*made, other])]
    job = SimpleNamespace(key="training", game=game, evaluations=evaluations)
    monkeypatch.setattr(costs, "_sample", lambda job, evaluator: 0.1)
    known = costs.Costs(None)
    known._means = {("training",): 1.0, (key_of(evaluator_identity(made[1])),): 12.0}
    assert [known.estimate(job, f"key {k}") for k in range(4)] == [12.0, 12.0, 120.0, 0.1]
    known._means[(key_of(evaluator_identity(made[2])),)] = 90.0  # 1000 iterations: not ten times
    assert [known.estimate(job, f"key {k}") for k in range(3)] == [12.0, 12.0, 90.0]
