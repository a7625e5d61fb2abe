"""Python code in a process of its own: with other settings, or as on the oldest processor."""

import os
import subprocess
import sys
from pathlib import Path

from numpy._core._multiarray_umath import __cpu_dispatch__

from afterply.files import data_directory
from afterply.kernel.compile import cache_root
from afterply.kernel.source import PACKAGE

# numba, numpy and its linear algebra choose by the processor which instructions they use
OLDEST = {
    "NUMBA_CPU_NAME": "generic",
    "NPY_DISABLE_CPU_FEATURES": " ".join(__cpu_dispatch__),
    "OPENBLAS_CORETYPE": "Prescott",
}


def said_by(code: str, *words, timeout: float = 300, cwd=None, **settings) -> str:
    """Return what Python code prints; it can import the tests' modules, as ``search.test_uct``."""
    paths = {"PYTHONPATH": os.pathsep.join([str(PACKAGE.parent), str(Path(__file__).parent)])}
    done = subprocess.run(
        [sys.executable, "-B", "-c", code, *map(str, words)],
        env=os.environ | paths | {name: str(value) for name, value in settings.items()},
        capture_output=True,
        text=True,
        timeout=timeout,
        cwd=cwd,
    )
    assert done.returncode == 0, f"exit status {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def said_by_the_oldest(code: str, timeout: float) -> str:
    """Return what code prints without any vector instructions beyond the oldest.

    Its machine code has a place of its own.
    """
    places = {"AFTERPLY_DATA": data_directory(), "AFTERPLY_CACHE": cache_root() / "generic"}
    return said_by(code, timeout=timeout, NUMBA_CPU_FEATURES="", **OLDEST, **places)
