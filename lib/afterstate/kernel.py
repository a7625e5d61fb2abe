"""Compilation, the on-disk cache, random numbers, and the few functions of mathematics that kernels use.

Everything compiled in this package goes through :func:`kernel`. Three properties follow from that one place:

* **Never stale.** The cache directory carries a hash of all library sources, so an edited helper can not leave
  machine code behind in a function that inlined it.
* **No allocation, no reference counting.** Kernels get all their memory from Python; ``_nrt=False`` makes numba
  refuse to compile anything that allocates. It is a private option, hence one place and a pinned numba.
* **Same bits everywhere.** No ``fastmath``: sums keep their written order, products and sums are not fused. The C
  library's ``exp``, ``log`` and ``tanh`` differ between machines in the last bit, so :func:`exp`, :func:`log` and
  :func:`tanh` are written out here with the four basic operations, which IEEE 754 rounds the same way everywhere.
"""
import hashlib
import os
import shutil
import tempfile
import time
from pathlib import Path

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

PACKAGE = Path(__file__).resolve().parent
MIN_FREE_BYTES = 64 * 2**20  # a full compilation of the library writes about a tenth of this
LANES = 32                   # numbers that add_multiples handles at once, at least
KEEP_CACHES = 4              # older source states whose machine code is kept beside the present one


class CacheError(OSError):
    """The directory for compiled kernels can not be used; the message says which and what to do."""


def _read_sources() -> dict:
    """All Python sources of the library as they are on disk: path relative to the package -> content, sorted by path."""
    return {path.relative_to(PACKAGE).as_posix(): path.read_bytes() for path in sorted(PACKAGE.rglob("*.py"))}


SOURCES = _read_sources()  # once: what is edited later is not what this process runs, and its numbers must not be filed under it


def source_hash(*names: str) -> str:
    """Return 16 hex digits that identify the library's sources, as they were when this process imported them.

    Parameters
    ----------
    names : str
        File names relative to the package, such as ``"td.py"``; all sources when none are given.
    """
    digest = hashlib.sha256()
    for name in names or SOURCES:
        digest.update(name.encode() + b"\0" + SOURCES[name] + b"\0")
    return digest.hexdigest()[:16]


def cache_root() -> Path:
    """Directory that holds one sub-directory of machine code per state of the library's sources.

    ``AFTERSTATE_CACHE`` chooses it; the default is ``$XDG_CACHE_HOME/afterstate`` or ``~/.cache/afterstate``.
    """
    chosen = os.environ.get("AFTERSTATE_CACHE")
    if chosen:
        return Path(chosen).expanduser()
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base).expanduser() / "afterstate"


def _prepare_cache(root: Path) -> Path:
    """Create this source state's cache directory under `root`, check that it can be written, drop old ones."""
    path = root / f"numba-{numba.__version__}-{source_hash()}"
    remedy = "set AFTERSTATE_CACHE to a directory that you can write to and that has room"
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path) as probe:
            probe.write(b"afterstate")
    except OSError as error:
        raise CacheError(f"the cache directory {path} for compiled kernels can not be written ({error.strerror}): {remedy}") from error
    free = shutil.disk_usage(path).free
    if free < MIN_FREE_BYTES:
        raise CacheError(f"the cache directory {path} has {free / 2**20:.0f} MiB free, {MIN_FREE_BYTES // 2**20} are needed: {remedy}")
    os.utime(path, (time.time(),) * 2)
    others = sorted((p for p in root.glob("numba-*") if p != path and p.is_dir()), key=lambda p: p.stat().st_mtime)
    for old in others[:-KEEP_CACHES]:
        shutil.rmtree(old, ignore_errors=True)
    return path


CACHE_DIR = _prepare_cache(cache_root())
numba.config.CACHE_DIR = str(CACHE_DIR)


def _is_library(function) -> bool:
    return function.__code__.co_filename.startswith(str(PACKAGE) + os.sep)


def kernel(function):
    """Compile a function to machine code that neither allocates nor reorders arithmetic.

    Library functions are cached on disk; functions defined elsewhere (a notebook cell, a script) are compiled
    afresh in every process, so that an edit always takes effect.

    Parameters
    ----------
    function : callable
        Numbers, arrays and named tuples of them in; numbers out. Results go into arrays given by the caller.

    Examples
    --------
    >>> from afterstate.kernel import kernel
    >>> @kernel
    ... def add(a, b):
    ...     return a + b
    >>> add(2, 3)
    5
    """
    # forceinline: a call that LLVM does not inline passes every named tuple of arrays as some 200 separate arguments
    return numba.njit(cache=_is_library(function), nogil=True, error_model="numpy", _nrt=False, forceinline=True)(function)


def compile_rule(function, signature):
    """Compile one rule of a game to a C function and return numba's handle, whose ``address`` kernels call.

    The handle must stay alive as long as the address is in use.
    """
    return numba.cfunc(signature, cache=_is_library(function), error_model="numpy", _nrt=False, forceinline=True)(function)


def pointer_call(restype, *argtypes):
    """Make a function ``call(address, (arguments...))`` that kernels use to call a compiled rule by its address.

    The machine code of the caller holds no address, so it is compiled once for all games and can be cached.
    """
    @intrinsic
    def call(typingctx, address, arguments):
        if len(arguments) != len(argtypes):
            raise TypeError(f"{len(argtypes)} arguments are needed, {len(arguments)} were given")

        def codegen(context, builder, signature, values):
            pointer, packed = values
            given = [context.cast(builder, builder.extract_value(packed, k), have, want)
                     for k, (have, want) in enumerate(zip(arguments.types, argtypes))]
            c_type = ir.FunctionType(context.get_value_type(restype), [context.get_value_type(t) for t in argtypes])
            result = builder.call(builder.inttoptr(pointer, c_type.as_pointer()), given)
            return context.get_dummy_value() if restype == types.void else result

        return restype(address, arguments), codegen

    return call


@intrinsic
def prefetch(typingctx, array, i):
    """Ask the processor to bring the cache line of ``array[i]`` (first axis) near; the program goes on at once.

    It changes no value. `i` must be a valid index and not negative.
    """
    def codegen(context, builder, signature, values):
        data = context.make_array(signature.args[0])(context, builder, values[0])
        row = builder.mul(values[1], builder.extract_value(data.strides, 0))
        address = cgutils.pointer_add(builder, data.data, row, ir.IntType(8).as_pointer())
        flag = ir.IntType(32)
        function = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(ir.VoidType(), [address.type, flag, flag, flag]), "llvm.prefetch.p0")
        builder.call(function, [address, flag(0), flag(3), flag(1)])  # to read, into all caches, data
        return context.get_dummy_value()

    return types.void(array, types.uint64), codegen


@intrinsic
def add_multiples(typingctx, result, start, matrix, rows, factors, n):
    """``result[f] = start[f] + sum over k < n of factors[k] * matrix[rows[k], f]`` for all f; uint32, modulo 2**32.

    The sums of 32 neighbouring f stay in registers; the last 32 may overlap those before. All arrays are contiguous, `result` is not
    `start`, and has at least ``LANES`` elements.
    """
    def codegen(context, builder, signature, values):
        i64, vector = ir.IntType(64), ir.VectorType(ir.IntType(32), 16)
        arrays = [context.make_array(t)(context, builder, v) for t, v in zip(signature.args[:5], values)]
        to, source, table, which, scale = (a.data for a in arrays)
        width = builder.extract_value(arrays[0].shape, 0)
        last = builder.sub(width, i64(LANES))

        def load(pointer, at):
            return builder.load(builder.bitcast(builder.gep(pointer, [at]), vector.as_pointer()), align=4)

        blocks = builder.udiv(builder.add(width, i64(LANES - 1)), i64(LANES))
        with cgutils.for_range(builder, blocks, intp=i64) as block:
            begin = builder.mul(block.index, i64(LANES))
            begin = builder.select(builder.icmp_unsigned("<", begin, last), begin, last)
            halves = [begin, builder.add(begin, i64(16))]
            sums = [cgutils.alloca_once_value(builder, load(source, at)) for at in halves]
            with cgutils.for_range(builder, values[5], intp=i64) as k:
                row = builder.mul(builder.zext(builder.load(builder.gep(which, [k.index])), i64), width)
                one = builder.insert_element(ir.Constant(vector, ir.Undefined), builder.load(builder.gep(scale, [k.index])), ir.IntType(32)(0))
                factor = builder.shuffle_vector(one, one, ir.Constant(ir.VectorType(ir.IntType(32), 16), [0] * 16))
                for total, at in zip(sums, halves):
                    builder.store(builder.add(builder.load(total), builder.mul(factor, load(table, builder.add(row, at)))), total)
            for total, at in zip(sums, halves):
                builder.store(builder.load(total), builder.bitcast(builder.gep(to, [at]), vector.as_pointer()), align=4)
        return context.get_dummy_value()

    return types.void(result, start, matrix, rows, factors, types.int64), codegen


@intrinsic
def four_sums(typingctx, array, first, n):
    """Return four float64 sums of ``array[first : first + n]``: of elements 0, 4, 8 ... of 1, 5, 9 ... of 2, 6 ... of 3, 7 ...

    The last ``n % 4`` elements are left out. Four lanes of one vector: the same bits as four sums in order, a quarter of the instructions.
    """
    def codegen(context, builder, signature, values):
        i64, lanes = ir.IntType(64), ir.VectorType(ir.DoubleType(), 4)
        own = context.make_array(signature.args[0])(context, builder, values[0])
        element = own.data.type.pointee
        total = cgutils.alloca_once_value(builder, ir.Constant(lanes, [0.0] * 4))
        with cgutils.for_range(builder, builder.udiv(values[2], i64(4)), intp=i64) as k:
            at = builder.gep(own.data, [builder.add(values[1], builder.mul(k.index, i64(4)))])
            term = builder.load(builder.bitcast(at, ir.VectorType(element, 4).as_pointer()), align=4)
            if element != ir.DoubleType():
                term = builder.fpext(term, lanes)
            builder.store(builder.fadd(builder.load(total), term), total)
        found = builder.load(total)
        return context.make_tuple(builder, signature.return_type, [builder.extract_element(found, ir.IntType(32)(k)) for k in range(4)])

    return types.UniTuple(types.float64, 4)(array, types.int64, types.int64), codegen


# ---------------------------------------------------------------------------------------------- random numbers

def new_rng(seed: int) -> np.ndarray:
    """Return the state of a splitmix64 generator: ``uint64[1]``.

    Parameters
    ----------
    seed : int
        Any integer; it is taken modulo 2**64 and mixed, so neighbouring seeds give unrelated streams.
    """
    if not isinstance(seed, (int, np.integer)):
        raise ValueError(f"a seed must be a whole number, not {seed!r}")
    return np.array([np.random.SeedSequence(seed % 2**64).generate_state(1, np.uint64)[0]], np.uint64)


def seed_from(*names) -> int:
    """Derive a 63-bit seed from stable names such as study, arm and run.

    A seed depends on its own names only, so adding an arm or a run moves nobody else's numbers.

    Examples
    --------
    >>> from afterstate.kernel import seed_from
    >>> seed_from("tictactoe", "FARL", 0) == seed_from("tictactoe", "FARL", 0) != seed_from("tictactoe", "FARL", 1)
    True
    """
    words = [int.from_bytes(hashlib.sha256(f"{type(name).__name__}:{name}".encode()).digest()[:8], "big") for name in names]
    state = np.random.SeedSequence(0, spawn_key=words).generate_state(1, np.uint64)
    return int(state[0]) >> 1


@kernel
def random_bits(rng):
    """Advance the generator and return 64 random bits (splitmix64: Steele, Lea, Flood 2014)."""
    rng[0] = rng[0] + np.uint64(0x9E3779B97F4A7C15)
    z = rng[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@kernel
def random_float(rng):
    """Return a uniform float64 in [0, 1)."""
    return np.float64(random_bits(rng) >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@kernel
def random_int(rng, n):
    """Return a uniform integer in [0, n), n at most 2**31 (bias below n / 2**32)."""
    return np.int64(((random_bits(rng) >> np.uint64(32)) * np.uint64(n)) >> np.uint64(32))


# ------------------------------------------------------------------------------------------------- mathematics

@intrinsic
def _as_float(typingctx, bits):
    """Reinterpret 64 bits as a float64."""
    def codegen(context, builder, signature, values):
        return builder.bitcast(values[0], ir.DoubleType())
    return types.float64(types.int64), codegen


@intrinsic
def _as_bits(typingctx, x):
    """Reinterpret a float64 as 64 bits."""
    def codegen(context, builder, signature, values):
        return builder.bitcast(values[0], ir.IntType(64))
    return types.int64(types.float64), codegen


LN2_HIGH = 6.93147180369123816490e-01  # ln 2 with 21 zero bits at the end: k * LN2_HIGH is exact
LN2_LOW = 1.90821492927058770002e-10


@kernel
def exp(x):
    """e to the power x, within 2 ulp, the same bits on every machine; 0 below -700, capped above 700."""
    y = 700.0 if x > 700.0 else -700.0 if x < -700.0 else x  # no early return: loops that call this become vector code
    k = np.floor(y * 1.4426950408889634 + 0.5)
    r = (y - k * LN2_HIGH) - k * LN2_LOW
    p = 1.0 / 6227020800.0
    for c in (479001600.0, 39916800.0, 3628800.0, 362880.0, 40320.0, 5040.0, 720.0, 120.0, 24.0, 6.0, 2.0, 1.0, 1.0):
        p = p * r + 1.0 / c
    return 0.0 if x < -700.0 else p * _as_float((np.int64(k) + 1023) << 52)


@kernel
def log(x):
    """Natural logarithm of a positive normal x, within 3 ulp, the same bits on every machine."""
    bits = _as_bits(np.float64(x))
    k = ((bits >> 52) & 0x7FF) - 1023
    m = _as_float((bits & 0xFFFFFFFFFFFFF) | (np.int64(1023) << 52))
    if m > 1.4142135623730951:
        m *= 0.5
        k += 1
    s = (m - 1.0) / (m + 1.0)
    z = s * s
    p = 1.0 / 25.0
    for n in (23.0, 21.0, 19.0, 17.0, 15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0, 1.0):
        p = p * z + 1.0 / n
    return k * LN2_HIGH + (2.0 * s * p + k * LN2_LOW)


@kernel
def tanh(x):
    """Hyperbolic tangent, absolute error below 3e-16, the same bits on every machine."""
    e = exp(-2.0 * abs(x))
    t = (1.0 - e) / (1.0 + e)
    return t if x >= 0.0 else -t
