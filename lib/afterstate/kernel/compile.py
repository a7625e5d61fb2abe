"""Compilation of kernels and rules, and their machine code on disk.

Everything compiled in this package goes through :func:`kernel`. Three properties follow from that
one place:

* **Never stale.** The cache directory carries a hash of all library sources, so an edited helper
  can not leave machine code behind in a function that inlined it.
* **No allocation, no reference counting.** Kernels get all their memory from Python; ``_nrt=False``
  makes numba refuse to compile anything that allocates. It is a private option, hence one place and
  a pinned numba.
* **Same bits everywhere.** No ``fastmath``: sums keep their written order, products and sums are
  not fused. The C library's ``exp``, ``log`` and ``tanh`` differ between machines in the last bit,
  so ``functions.py`` writes them out with the four basic operations, which IEEE 754 rounds the same
  way everywhere.
"""

import hashlib
import os
import shutil
import tempfile
import time
from pathlib import Path

import numba
from llvmlite import ir
from numba import types
from numba.core import sigutils
from numba.core.caching import FunctionCache
from numba.core.ccallback import CFunc
from numba.extending import intrinsic

PACKAGE = Path(__file__).resolve().parents[1]
MIN_FREE_BYTES = 64 * 2**20  # a full compilation of the library writes about a tenth of this
KEEP_CACHES = 4  # older source states whose machine code is kept beside the present one


class CacheError(OSError):
    """The directory for compiled kernels can not be used; the message says which and what to do."""


def _read_sources() -> dict:
    """Return all sources of the library on disk, sorted: path inside the package -> content."""
    return {
        path.relative_to(PACKAGE).as_posix(): path.read_bytes()
        for path in sorted(PACKAGE.rglob("*.py"))
    }


# once: what is edited later is not what this process runs, and must not sign its numbers
SOURCES = _read_sources()


def source_hash(*names: str) -> str:
    """Return 16 hex digits that identify the sources as they were when this process imported them.

    Parameters
    ----------
    names : str
        File names relative to the package, such as ``"learners/td.py"``; all sources when none are
        given.
    """
    digest = hashlib.sha256()
    for name in names or SOURCES:
        digest.update(name.encode() + b"\0" + SOURCES[name] + b"\0")
    return digest.hexdigest()[:16]


def cache_root() -> Path:
    """Return the directory that holds a folder of machine code for each state of the sources.

    ``AFTERSTATE_CACHE`` chooses it; the default is ``$XDG_CACHE_HOME/afterstate`` or
    ``~/.cache/afterstate``.
    """
    chosen = os.environ.get("AFTERSTATE_CACHE")
    if chosen:
        return Path(chosen).expanduser()
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base).expanduser() / "afterstate"


def _prepare_cache(root: Path) -> Path:
    """Create the cache directory of these sources, check that it can be written, drop old ones."""
    path = root / f"numba-{numba.__version__}-{source_hash()}"
    remedy = "set AFTERSTATE_CACHE to a directory that you can write to and that has room"
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path) as probe:
            probe.write(b"afterstate")
    except OSError as error:
        raise CacheError(
            f"the cache directory {path} for compiled kernels can not be written"
            f" ({error.strerror}): {remedy}"
        ) from error
    free = shutil.disk_usage(path).free
    if free < MIN_FREE_BYTES:
        raise CacheError(
            f"the cache directory {path} has {free / 2**20:.0f} MiB free, {MIN_FREE_BYTES // 2**20}"
            f" are needed: {remedy}"
        )
    os.utime(path, (time.time(),) * 2)
    others = sorted(
        (p for p in root.glob("numba-*") if p != path and p.is_dir()),
        key=lambda p: p.stat().st_mtime,
    )
    for old in others[:-KEEP_CACHES]:
        shutil.rmtree(old, ignore_errors=True)
    return path


CACHE_DIR = _prepare_cache(cache_root())
numba.config.CACHE_DIR = str(CACHE_DIR)


# forceinline: a call that LLVM does not inline passes every named tuple of arrays as some 200
# separate arguments
OPTIONS = {"error_model": "numpy", "_nrt": False, "forceinline": True}


class _Cache(FunctionCache):
    """Machine code on disk.  A file that can not be read is one that is not there."""

    def load_overload(self, sig, target_context):
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # empty or truncated: whatever reading a broken pickle raises
            self.flush()  # drops the index, which is written again with what is compiled now
            return None


def _is_library(function) -> bool:
    return function.__code__.co_filename.startswith(str(PACKAGE) + os.sep)


def kernel(function):
    """Compile a function to machine code that neither allocates nor reorders arithmetic.

    Library functions are cached on disk; functions defined elsewhere (a notebook cell, a script)
    are compiled afresh in every process, so that an edit always takes effect.

    Parameters
    ----------
    function : callable
        Numbers, arrays and named tuples of them in; numbers out. Results go into arrays given by
        the caller.

    Examples
    --------
    >>> from afterstate.kernel.compile import kernel
    >>> @kernel
    ... def add(a, b):
    ...     return a + b
    >>> add(2, 3)
    5
    """
    compiled = numba.njit(nogil=True, **OPTIONS)(function)
    if _is_library(function):
        compiled._cache = _Cache(function)
    return compiled


def compile_rule(function, signature):
    """Compile one rule of a game to a C function and return numba's handle on it.

    Kernels call its ``address``; the handle must stay alive as long as that is in use.
    """
    compiled = CFunc(function, sigutils.normalize_signature(signature), {}, OPTIONS)
    if _is_library(function):
        compiled._cache = _Cache(function)
    compiled.compile()
    return compiled


def pointer_call(restype, *argtypes):
    """Make a function ``call(address, (arguments...))`` by which kernels call a compiled rule.

    The machine code of the caller holds no address, so it is compiled once for all games and can be
    cached.
    """

    @intrinsic
    def call(typingctx, address, arguments):
        if len(arguments) != len(argtypes):
            raise TypeError(f"{len(argtypes)} arguments are needed, {len(arguments)} were given")

        def codegen(context, builder, signature, values):
            pointer, packed = values
            given = [
                context.cast(builder, builder.extract_value(packed, k), have, want)
                for k, (have, want) in enumerate(zip(arguments.types, argtypes))
            ]
            c_type = ir.FunctionType(
                context.get_value_type(restype), [context.get_value_type(t) for t in argtypes]
            )
            result = builder.call(builder.inttoptr(pointer, c_type.as_pointer()), given)
            return context.get_dummy_value() if restype == types.void else result

        return restype(address, arguments), codegen

    return call
