"""Compilation of kernels and rules, and their machine code on disk.

Everything compiled in this package goes through :func:`kernel`. Four properties follow:

* **Never stale.** The name of the directory with the machine code of a source file has a hash of
  this file and of all that it imports, because helpers are inlined.
* **No allocation, no reference counting.** ``_nrt=False`` makes numba refuse to compile anything
  that allocates. It is a private option: it stands here only, and is tried at import.
* **Once.** A kernel that another one calls is part of its caller: only what is called from Python
  becomes machine code and has a wrapper for Python.
* **Same bits everywhere.** No ``fastmath``: sums keep their written order, products and sums are
  not fused. The C library's functions differ between machines in the last bit: ``functions.py``.
"""

import contextlib
import functools
import hashlib
import os
import pickle
import shutil
import stat
import tempfile
from pathlib import Path

import llvmlite.binding as llvm
import numba
from llvmlite import ir
from numba import types
from numba.core import caching, serialize, sigutils
from numba.core.ccallback import CFunc
from numba.core.codegen import CPUCodeLibrary
from numba.core.compiler import CompileResult, Flags
from numba.core.compiler_lock import global_compiler_lock
from numba.core.cpu import CPUTargetOptions
from numba.core.registry import CPUDispatcher
from numba.extending import intrinsic

from ..files import chosen_place, replacing, writable
from .source import PACKAGE, import_closure, source_hash

if numba.config.DISABLE_JIT:
    raise ImportError(
        "NUMBA_DISABLE_JIT leaves no machine code, by whose addresses kernels call rules: unset it;"
        " to look inside a kernel write print(...) there, or call its py_func(...)"
    )

TRIED = ">=0.67,<0.69"  # versions of numba with which all golden runs came out as stated
KEEP = 5  # versions of a source file whose machine code is kept
PRIVATE = 0o700  # mode of a directory of machine code
REMEDY = "set AFTERPLY_CACHE to a directory that you can write to and that has room"
# forceinline: a call that LLVM does not inline passes every named tuple of arrays as some 200
# separate arguments.
OPTIONS = {"error_model": "numpy", "_nrt": False, "forceinline": True}


def _need_private_parts():
    """Raise ImportError if this numba lacks a private part that is used here, or ignores it."""
    if not _has_private_parts():
        raise ImportError(
            f"numba {numba.__version__} no longer has the private option _nrt=False that keeps"
            " kernels from allocating, or the private functions that make and keep machine code."
            f" Install one that has: pip install 'numba{TRIED}'"
        )


def _has_private_parts() -> bool:
    flags = Flags()
    try:
        CPUTargetOptions.parse_as_flags(flags, OPTIONS)
        obeys_options = flags.forceinline and not flags.nrt
        functions = [
            CompileResult._rebuild,
            CompileResult._reduce,
            caching.FunctionCache._index_key,
            CPUCodeLibrary._optimize_final_module,
            CPUCodeLibrary._finalize_final_module,
            CPUCodeLibrary._finalize_dynamic_globals,
            CPUDispatcher.add_overload,
        ]
        _ = flags.no_compile, flags.no_cpython_wrapper, flags.no_cfunc_wrapper
    except (AttributeError, KeyError):
        return False
    return bool(obeys_options) and all(callable(function) for function in functions)


_need_private_parts()


def cache_root() -> Path:
    """Return the directory of all machine code: ``AFTERPLY_CACHE``, or in the user's cache.

    A user without a home, as in a container with a number of its own, has one for temporary files.
    """
    chosen = chosen_place("AFTERPLY_CACHE")
    if chosen:
        return chosen
    try:
        user_cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        root = Path(user_cache).expanduser().absolute() / "afterply"
        root.mkdir(PRIVATE, parents=True, exist_ok=True)
        return root
    except (RuntimeError, OSError):  # no home, or one in which nothing can be made
        user = os.getuid() if hasattr(os, "getuid") else "cache"
        return Path(tempfile.gettempdir()) / f"afterply-{user}"


def whose(status) -> str:
    """Return who else may have written what `os.stat` says this of; "" if nobody.

    Machine code runs with all rights of this process, so it must be this user's own, or of those
    who could change this program anyway: root, and the owner of its files.
    """
    if not hasattr(os, "geteuid"):  # not on Windows
        return ""
    if status.st_uid not in (os.geteuid(), 0, os.stat(__file__).st_uid):
        return f"it belongs to user {status.st_uid}"
    if status.st_mode & stat.S_IWOTH:
        return "everybody may write there"
    if status.st_mode & stat.S_IWGRP and status.st_gid != os.getegid():
        return f"group {status.st_gid} may write there"
    return ""


def _require_own(directory):
    """Take write permission on one's own directory from others; OSError if it is another user's."""
    status = os.stat(directory)
    if whose(status) and status.st_uid == os.geteuid():
        os.chmod(directory, stat.S_IMODE(status.st_mode) & ~(stat.S_IWGRP | stat.S_IWOTH))
        status = os.stat(directory)
    if whose(status):
        raise OSError(
            f"the cache directory {directory} may hold machine code of others: {whose(status)};"
            f" {REMEDY}"
        )


def _code_cache() -> Path:
    """Return the directory of machine code, made if need be.

    OSError if it may hold code of others, or can be neither written nor has what is needed.
    """
    root = cache_root()
    directory = root / f"numba-{numba.__version__}"
    for one in (root, directory):
        with contextlib.suppress(OSError):  # `writable` names what is wrong
            one.mkdir(PRIVATE, parents=True, exist_ok=True)
        if one.is_dir():
            _require_own(one)
    is_warm = (directory / _folder_of_code("kernel/random.py")).is_dir()
    # An image may bring the code of its kernels, and let nobody write there.
    return directory if is_warm else writable(directory, REMEDY)


def _folder_of_code(file: str) -> str:
    """Return the name of the folder of a source file's machine code; file: in the package."""
    return f"{_module(file)}-{source_hash(*sorted(import_closure(file)))}"


def _module(file: str) -> str:
    """Return the name of the module that a file of the package is."""
    return file.removesuffix(".py").replace("/", ".")


CACHE_DIR = _code_cache()


@functools.cache
def _code_directory(source: str) -> Path:
    """Return where the machine code of a source file lies; that of its old versions goes."""
    file = Path(source).relative_to(PACKAGE).as_posix()
    directory = CACHE_DIR / _folder_of_code(file)
    with contextlib.suppress(OSError):  # it cannot be written, or another process drops one, too
        directory.mkdir(PRIVATE, exist_ok=True)
        os.utime(directory)  # now the newest one, which is dropped last
        versions = sorted(CACHE_DIR.glob(f"{_module(file)}-*"), key=os.path.getmtime)
        for old in versions[:-KEEP]:
            shutil.rmtree(old, ignore_errors=True)
    return directory


def read_code(file: Path) -> bytes | None:
    """Return machine code from a file.

    None if it is not there, any bit of it is wrong, or others may have written it.
    """
    with contextlib.suppress(OSError), open(file, "rb") as opened:
        content = opened.read()
        is_whole = content[:32] == hashlib.sha256(content[32:]).digest()
        if is_whole and not whose(os.fstat(opened.fileno())):
            return content[32:]
    return None


def write_code(file: Path, code: bytes) -> None:
    """Write machine code to a file, if there is room, with a checksum.

    A single wrong bit in it might crash a process.
    """
    # Without room on the disk this process still has its code.
    with contextlib.suppress(OSError), replacing(file, mode=0o644) as opened:
        opened.write(hashlib.sha256(code).digest() + code)


class _Cache(caching.NullCache):
    """Machine code on disk, one file for each signature. A file that cannot be read is missing."""

    _index_key = caching.FunctionCache._index_key

    def __init__(self, function):
        self._py_func = function

    def _key(self, sig, codegen) -> tuple:
        """Return what code depends on: types, processor, and whether it is for a caller alone."""
        return _for_caller(), *self._index_key(sig, codegen)

    def _file(self, key):
        """Return the file of what a key stands for."""
        code = self._py_func.__code__
        function = f"{self._py_func.__name__}-{code.co_firstlineno}"
        digest = hashlib.sha256(repr(key).encode()).hexdigest()[:16]
        return _code_directory(code.co_filename) / f"{function}-{digest}.code"

    def load_overload(self, sig, target_context):
        # Without `target_context.refresh()`, which loads all that numba can compile: a third of a
        # second, and whoever compiles does it anyway.
        key = self._key(sig, target_context.codegen())
        with contextlib.suppress(Exception):  # code of another kind raises anything
            content = read_code(self._file(key))
            if content is None:
                return None
            key_of_content, parts = pickle.loads(content)
            if key_of_content == key:  # two types may have the same text, and so the same file
                rebuild = _rebuilt_callee if _for_caller() else CompileResult._rebuild
                return rebuild(target_context, *parts)
        return None

    def save_overload(self, sig, data):
        if data.library.has_dynamic_globals:  # it holds addresses of this process
            return
        key = self._key(sig, data.codegen)
        write_code(self._file(key), serialize.dumps((key, data._reduce())))


def _keep_on_disk(compiled, function):
    """Keep the machine code of a function of this package; cells of notebooks change too often."""
    if function.__code__.co_filename.startswith(str(PACKAGE) + os.sep):
        compiled._cache = _Cache(function)


class _Kernel(CPUDispatcher):
    """A function that is compiled for each types of arguments, in one of two ways.

    For a call from Python there is machine code. For a call from another kernel or a rule there is
    LLVM's code alone, which becomes part of the caller: neither a wrapper for Python, which takes
    every array of a named tuple apart, nor machine code that nobody would run. A kernel that is
    called from Python later is then compiled once more.
    """

    callers = 0  # kernels and rules that are being compiled, of which each needs the next one

    def compile(self, sig):
        """Return the entry of a kernel for types of arguments, which is compiled if need be."""
        with global_compiler_lock:
            args, _ = sigutils.normalize_signature(sig)
            known = self.overloads.get(tuple(args))
            if known is not None and isinstance(known.entry_point, _Callee) and not _Kernel.callers:
                del self.overloads[tuple(args)]
            with _caller():
                return super().compile(sig)

    def add_overload(self, cres):
        """Note what was compiled, as all that other kernels need or also for calls from Python."""
        if cres.entry_point is None:
            callee = _Callee()
            self.targetctx.insert_user_function(callee, cres.fndesc, [cres.library])
            _keep_from_machine(cres.library)
            self.overloads[tuple(cres.signature.args)] = cres._replace(entry_point=callee)
        else:
            super().add_overload(cres)


class _Callee:
    """Stands for a function without machine code, in the places of numba that need one."""


@contextlib.contextmanager
def _caller():
    """Compile all kernels that are needed meanwhile for their caller alone."""
    _Kernel.callers += 1
    try:
        yield
    finally:
        _Kernel.callers -= 1


def _for_caller() -> bool:
    """Return whether what is being compiled is for its caller alone: no rule, no call of Python."""
    return _Kernel.callers > 1


def _flags_of_callees(flags):
    """Ask numba for no more than LLVM's code of a function that is compiled for its caller."""
    if _for_caller():
        flags.no_compile = True
        flags.no_cpython_wrapper = True
        flags.no_cfunc_wrapper = True
    return flags


def _keep_from_machine(library):
    """Let a library be linked into others, but be neither optimised by itself nor made to run."""

    def finalize():
        library._finalize_dynamic_globals()
        library._finalized = True

    library._optimize_final_module = lambda: None
    library._finalize_final_module = finalize
    library.serialize_using_object_code = library.serialize_using_bitcode


def _rebuilt_callee(target_context, library_data, fndesc, environment, signature, *rest):
    """Return what `CompileResult._reduce` took apart, of a callee: it has no machine code."""
    object_mode, lifted, type_annotation, reload_init, environments = rest
    name, _, code = library_data
    library = target_context.codegen().create_library(name)
    _keep_from_machine(library)
    library._final_module = llvm.parse_bitcode(code)
    library._finalize_final_module()
    return CompileResult(
        typing_context=target_context.typing_context,
        target_context=target_context,
        entry_point=None,
        typing_error=None,
        type_annotation=type_annotation,
        signature=signature,
        objectmode=object_mode,
        lifted=lifted,
        fndesc=fndesc,
        library=library,
        call_helper=None,
        environment=environment,
        metadata=None,
        reload_init=reload_init,
        referenced_envs=environments,
    )


def kernel(function):
    """Compile a function to machine code that neither allocates nor reorders arithmetic.

    It takes numbers, arrays and named tuples of them, and returns numbers. Other results it writes
    into arrays of its caller. A kernel of a notebook or a script is compiled in every process.
    """
    options = {"nopython": True, "nogil": True, "boundscheck": None, **OPTIONS}
    compiled = _Kernel(function, locals={}, targetoptions=options)
    compiled._compiler._customize_flags = _flags_of_callees
    _keep_on_disk(compiled, function)
    return compiled


def compile_rule(function, signature):
    """Compile one rule of a game to a C function; keep the result as long as its ``address``."""
    compiled = CFunc(function, sigutils.normalize_signature(signature), {}, OPTIONS)
    _keep_on_disk(compiled, function)
    with global_compiler_lock, _caller():
        compiled.compile()
    return compiled


def pointer_call(restype, *argtypes):
    """Make ``call(address, (arguments...))``, by which kernels call a compiled rule."""
    # The caller's machine code holds no address, so one compilation does for all games.

    @intrinsic
    def call(typingctx, address, arguments):
        if len(arguments) != len(argtypes):
            raise TypeError(f"{len(argtypes)} arguments are needed, {len(arguments)} were given")

        def codegen(context, builder, signature, values):
            pointer, packed = values
            c_arguments = []
            for k, (actual_type, c_type) in enumerate(zip(arguments.types, argtypes)):
                value = builder.extract_value(packed, k)
                c_arguments.append(context.cast(builder, value, actual_type, c_type))
            result_type = context.get_value_type(restype)
            argument_types = [context.get_value_type(c_type) for c_type in argtypes]
            function_type = ir.FunctionType(result_type, argument_types)
            function = builder.inttoptr(pointer, function_type.as_pointer())
            result = builder.call(function, c_arguments)
            if restype == types.void:
                return context.get_dummy_value()
            return result

        return restype(address, arguments), codegen

    return call
