"""Compilation of kernels and rules, and their machine code on disk.

Everything compiled in this package goes through :func:`kernel`. Three properties follow:

* **Never stale.** The directory that keeps the machine code of a source file carries a hash of this
  file and of all that it imports, because helpers are inlined.
* **No allocation, no reference counting.** ``_nrt=False`` makes numba refuse to compile anything
  that allocates. It is a private option, hence one place and a pinned numba.
* **Same bits everywhere.** No ``fastmath``: sums keep their written order, products and sums are
  not fused. The C library's functions differ between machines in the last bit: ``functions.py``.
"""

import contextlib
import functools
import hashlib
import importlib
import os
import pickle
import shutil
import sys
from pathlib import Path
from types import ModuleType

import numba
from llvmlite import ir
from numba import types
from numba.core import caching, sigutils
from numba.core.ccallback import CFunc
from numba.extending import intrinsic

from ..files import writable
from .source import PACKAGE, import_closure, source_hash

KEEP = 5  # states of a file whose machine code is kept
# forceinline: a call that LLVM does not inline passes every named tuple of arrays as some 200
# separate arguments
OPTIONS = {"error_model": "numpy", "_nrt": False, "forceinline": True}

# numba imports scipy.linalg, 0.15 s, to see whether it is there; what needs it imports it later
SEEN = {"scipy.linalg", "scipy.linalg.cython_blas"} - sys.modules.keys()
sys.modules |= {name: ModuleType(name) for name in SEEN}
importlib.import_module("numba.np.arraymath")
for _name in SEEN:
    del sys.modules[_name]


def cache_root() -> Path:
    """Return the directory of all machine code: ``AFTERSTATE_CACHE``, or in the user's cache."""
    chosen = os.environ.get("AFTERSTATE_CACHE")
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(chosen).expanduser() if chosen else Path(base).expanduser() / "afterstate"


CACHE_DIR = writable(
    cache_root() / f"numba-{numba.__version__}",
    "set AFTERSTATE_CACHE to a directory that you can write to and that has room",
)


@functools.cache
def _place(file: str) -> tuple[Path, str]:
    name = Path(file).relative_to(PACKAGE)
    state, module = source_hash(*sorted(import_closure(name.as_posix()))), name.with_suffix("")
    path = CACHE_DIR / f"{'.'.join(module.parts)}-{state}"
    path.mkdir(parents=True, exist_ok=True)
    os.utime(path)  # in use: the last to be dropped
    with contextlib.suppress(OSError):  # another process dropped one of them
        states = CACHE_DIR.glob(f"{'.'.join(module.parts)}-*")
        for old in sorted(states, key=os.path.getmtime)[:-KEEP]:
            shutil.rmtree(old, ignore_errors=True)
    return path, state


class _Locator(caching._CacheLocator):
    def __init__(self, function, file):
        self._function, (self._path, self._state) = function, _place(file)

    def get_cache_path(self):
        return str(self._path)

    def get_source_stamp(self):
        return self._state

    def get_disambiguator(self):
        return str(self._function.__code__.co_firstlineno)

    @classmethod
    def from_function(cls, function, file):
        return cls(function, file)


class _Files(caching.IndexDataCacheFile):
    """Machine code with its key and a checksum: a single wrong bit might end the process."""

    def save(self, key, data):
        content = self._dump((key, data))
        super().save(key, (hashlib.sha256(content).digest(), content))

    def load(self, key):
        digest, content = super().load(key) or (b"", b"")
        if hashlib.sha256(content).digest() != digest:
            return None
        of, data = pickle.loads(content)
        return data if of == key else None  # another process gave this file's name to its own


class _Cache(caching.FunctionCache):
    """Machine code on disk. A file that can not be read counts as missing."""

    _impl_class = type(
        "_Place", (caching.CompileResultCacheImpl,), {"_locator_classes": [_Locator]}
    )

    def __init__(self, function):
        super().__init__(function)
        place = self._cache_path, self._impl.filename_base, self._impl.locator.get_source_stamp()
        self._cache_file = _Files(*place)

    def load_overload(self, sig, target_context):
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # empty or truncated: whatever reading a broken pickle raises
            self.flush()  # drops the index, which is written again with what is compiled now
            return None


def _kept_on_disk(compiled, function):
    # cells of notebooks change too often
    if function.__code__.co_filename.startswith(str(PACKAGE) + os.sep):
        compiled._cache = _Cache(function)
    return compiled


def kernel(function):
    """Compile a function to machine code that neither allocates nor reorders arithmetic.

    Numbers, arrays and named tuples of them go in, numbers come out; other results go into arrays
    of the caller's. What a notebook or a script defines is compiled afresh in every process.
    """
    return _kept_on_disk(numba.njit(nogil=True, **OPTIONS)(function), function)


def compile_rule(function, signature):
    """Compile one rule of a game to a C function; keep its handle while ``address`` is in use."""
    compiled = CFunc(function, sigutils.normalize_signature(signature), {}, OPTIONS)
    _kept_on_disk(compiled, function).compile()
    return compiled


def pointer_call(restype, *argtypes):
    """Make ``call(address, (arguments...))``, by which kernels call a compiled rule."""
    # machine code of the caller holds no address, so it is compiled once for all games

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
