"""What evaluators say does not depend on the processor, to the last bit."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from numpy._core._multiarray_umath import __cpu_dispatch__

from afterstate.evaluators import costs
from afterstate.files import data_directory
from afterstate.kernel.compile import cache_root
from afterstate.kernel.source import PACKAGE

TESTS = Path(__file__).parents[1]
SAY = "import json; from evaluators import test_same_bits; print(json.dumps(test_same_bits.said()))"
# numba, numpy and its linear algebra choose by the processor which instructions they use
OLDEST = {
    "NUMBA_CPU_NAME": "generic",
    "NPY_DISABLE_CPU_FEATURES": " ".join(__cpu_dispatch__),
    "OPENBLAS_CORETYPE": "Prescott",
}


def said():
    """Return what all evaluators but the one of times say."""
    from evaluators.test_contract import EVALUATORS

    return {
        f"{number}: {evaluator.name}": evaluator(game, session().net, 7)
        for number, (evaluator, game, session) in enumerate(EVALUATORS[:-1])
        if not isinstance(evaluator, costs.Moves)
    }


@pytest.mark.slow
def test_evaluators_say_the_same_without_vector_instructions():
    """A rating once differed by 1e-14 between two processors, and its records were refused."""
    environment = {
        **os.environ,
        **OLDEST,
        "PYTHONPATH": os.pathsep.join([str(PACKAGE.parent), str(TESTS)]),
        "AFTERSTATE_DATA": str(data_directory()),
        "AFTERSTATE_CACHE": str(cache_root() / "generic"),
    }
    environment.pop("NUMBA_CPU_FEATURES", None)
    done = subprocess.run(
        [sys.executable, "-c", SAY], env=environment, capture_output=True, text=True, timeout=1200
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == json.loads(json.dumps(said()))
