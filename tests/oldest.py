"""A processor without any vector instructions beyond the oldest, for tests of equal bits."""

import os
import subprocess
import sys
from pathlib import Path

from numpy._core._multiarray_umath import __cpu_dispatch__

from afterstate.files import data_directory
from afterstate.kernel.compile import cache_root
from afterstate.kernel.source import PACKAGE

# numba, numpy and its linear algebra choose by the processor which instructions they use
OLDEST = {
    "NUMBA_CPU_NAME": "generic",
    "NPY_DISABLE_CPU_FEATURES": " ".join(__cpu_dispatch__),
    "OPENBLAS_CORETYPE": "Prescott",
}


def said_by_the_oldest(code: str, timeout: float) -> str:
    """Return what Python code prints there; its machine code has a place of its own.

    It can import the tests' modules, as ``search.test_mcts``.
    """
    environment = {
        **os.environ,
        **OLDEST,
        "PYTHONPATH": os.pathsep.join([str(PACKAGE.parent), str(Path(__file__).parent)]),
        "AFTERSTATE_DATA": str(data_directory()),
        "AFTERSTATE_CACHE": str(cache_root() / "generic"),
    }
    environment.pop("NUMBA_CPU_FEATURES", None)
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment,
        capture_output=True,
        text=True,
        timeout=timeout,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
