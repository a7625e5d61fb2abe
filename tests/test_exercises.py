"""The class kit: every solution passes the checks of its exercise, and wrong ones do not."""

import contextlib
import io
import json
from pathlib import Path

import pytest

from afterstate.commands import reproduce

FOLDER = reproduce.folder() / "class"
RIGHT, WRONG, OPEN = "right: ", "not yet", "not solved yet: "


def checks_of(path, solution) -> list:
    """Run an exercise with a solution in its place; return what its checks print."""
    names, lines = {}, []
    for source, tags in reproduce.code_cells(path):
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(source, names)
            if "solution" in tags:
                exec(solution, names)
        lines = printed.getvalue().splitlines()
    return lines  # of the last cell


def test_there_are_five_exercises_with_solutions():
    exercises = sorted(FOLDER.glob("*.ipynb"))
    solutions = [FOLDER / "solutions" / f"{path.stem}.py" for path in exercises]
    assert len(exercises) == 5 and all(map(Path.is_file, solutions))
    for path in exercises:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        (said,) = ["".join(c["outputs"][0]["text"]) for c in cells if c.get("outputs")]
        assert all(line.startswith(OPEN) for line in said.splitlines())


@pytest.mark.slow
@pytest.mark.parametrize(
    "name, right, wrong",
    [
        ("1_tuple_network", "", ""),
        ("1_tuple_network", "CODES * number", "2 * number"),
        ("1_tuple_network", "weights[i][index(codes, cells)] +=", "weights[i] +="),
        ("2_eligibility_traces", "", ""),
        ("2_eligibility_traces", "(0.0 if over else values[after])", "values[after]"),
        ("2_eligibility_traces", "    traces *= lambda_\n", ""),
        ("3_exploration", "", ""),
        ("3_exploration", "rng.choice(np.flatnonzero(values == values.max()))", "values.argmax()"),
        ("3_exploration", "rng.random() < epsilon", "rng.random() < epsilon / 2"),
        ("4_wrapper", "", ""),
        ("4_wrapper", "        value = -value\n", ""),
        ("4_wrapper", "np.sqrt(visits.sum())", "visits.sum()"),
        ("5_tournament", "", ""),
        ("5_tournament", "return threat", "pass"),
        ("5_tournament", "-difference / 400", "difference / 400"),
    ],
)
def test_a_solution_is_right_and_a_wrong_one_is_not(name, right, wrong):
    solution = (FOLDER / "solutions" / f"{name}.py").read_text(encoding="utf-8")
    assert right in solution
    said = checks_of(FOLDER / f"{name}.ipynb", solution.replace(right, wrong, 1))
    assert all(line.startswith((RIGHT, WRONG)) for line in said) and len(said) > 5
    assert all(line.startswith(RIGHT) for line in said) == (not right), said
