"""Compilation of kernels and rules, and their machine code on disk.

Everything compiled in this package goes through :func:`kernel`. Three properties follow:

* **Never stale.** The directory that keeps the machine code of a source file carries a hash of this
  file and of all that it imports, because helpers are inlined.
* **No allocation, no reference counting.** ``_nrt=False`` makes numba refuse to compile anything
  that allocates. It is a private option, hence one place, and it is tried at import.
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
from numba.core import caching, serialize, sigutils
from numba.core.ccallback import CFunc
from numba.core.compiler import CompileResult, Flags
from numba.core.cpu import CPUTargetOptions
from numba.extending import intrinsic

from ..files import chosen_place, replacing, writable
from .source import PACKAGE, import_closure, source_hash

if numba.config.DISABLE_JIT:
    raise ImportError(
        "NUMBA_DISABLE_JIT leaves no machine code, by whose addresses kernels call rules: unset it;"
        " to look inside a kernel write print(...) there, or run it by its py_func(...)"
    )

TRIED = ">=0.67,<0.69"  # all golden runs came out as stated with these
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


def _need_private_parts():
    """Raise ImportError if this numba lacks, or no longer heeds, what is private and used here."""
    flags = Flags()
    try:
        CPUTargetOptions.parse_as_flags(flags, OPTIONS)
        parts = CompileResult._rebuild, CompileResult._reduce, caching.FunctionCache._index_key
        well = all(map(callable, parts)) and not flags.nrt and bool(flags.forceinline)
    except (AttributeError, KeyError):
        well = False
    if not well:
        raise ImportError(
            f"numba {numba.__version__} has no longer the private option _nrt=False that keeps"
            " kernels from allocating, or the private functions that keep machine code on disk."
            f" Install one that has: pip install 'numba{TRIED}'"
        )


_need_private_parts()


def cache_root() -> Path:
    """Return the directory of all machine code: ``AFTERPLY_CACHE``, or in the user's cache."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return chosen_place("AFTERPLY_CACHE") or Path(base).expanduser().absolute() / "afterply"


CACHE_DIR = writable(
    cache_root() / f"numba-{numba.__version__}",
    "set AFTERPLY_CACHE to a directory that you can write to and that has room",
)


@functools.cache
def _place(file: str) -> Path:
    name = Path(file).relative_to(PACKAGE)
    state, module = source_hash(*sorted(import_closure(name.as_posix()))), name.with_suffix("")
    path = CACHE_DIR / f"{'.'.join(module.parts)}-{state}"
    path.mkdir(parents=True, exist_ok=True)
    os.utime(path)  # in use: the last to be dropped
    with contextlib.suppress(OSError):  # another process dropped one of them
        states = CACHE_DIR.glob(f"{'.'.join(module.parts)}-*")
        for old in sorted(states, key=os.path.getmtime)[:-KEEP]:
            shutil.rmtree(old, ignore_errors=True)
    return path


def read_code(file: Path) -> bytes | None:
    """Return machine code from a file; None if it is not there, or any bit of it is wrong."""
    with contextlib.suppress(OSError):
        content = file.read_bytes()
        if content[:32] == hashlib.sha256(content[32:]).digest():
            return content[32:]
    return None


def write_code(file: Path, code: bytes) -> None:
    """Keep machine code in a file, with a checksum: a single wrong bit might end a process."""
    with contextlib.suppress(OSError), replacing(file) as opened:  # no room: it is needed just now
        opened.write(hashlib.sha256(code).digest() + code)


class _Cache(caching.NullCache):
    """Machine code on disk, a file for each signature. What can not be read counts as missing."""

    _index_key = caching.FunctionCache._index_key

    def __init__(self, function):
        self._py_func = function

    def _file(self, key):
        code, name = self._py_func.__code__, hashlib.sha256(repr(key).encode()).hexdigest()[:16]
        line = f"{self._py_func.__name__}-{code.co_firstlineno}"
        return _place(code.co_filename) / f"{line}-{name}.code"

    def load_overload(self, sig, target_context):
        target_context.refresh()
        key = self._index_key(sig, target_context.codegen())
        with contextlib.suppress(Exception):  # whatever code of another kind raises
            of, code = pickle.loads(read_code(self._file(key)) or b"")
            if of == key:  # else two types have the same name
                return CompileResult._rebuild(target_context, *code)
        return None

    def save_overload(self, sig, data):
        if not data.library.has_dynamic_globals:  # addresses of this process
            key = self._index_key(sig, data.codegen)
            write_code(self._file(key), serialize.dumps((key, data._reduce())))


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
