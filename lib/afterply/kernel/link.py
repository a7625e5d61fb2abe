"""Kernels linked with everything that is known about their calls: for web pages, for this machine.

numba compiles a kernel once for the types of its arguments. A :class:`Program` takes whole calls:
whole numbers become constants, arrays have their shapes, and the rules of the game are functions
that LLVM can inline where the kernel has addresses. What comes out holds no address and no float:
each call gives those, in a page as a :class:`Memory` says. The arithmetic is that of numba's code,
so the bits are the same.

Trainings and searches call a :class:`Linked`. It runs numba's code at once, which calls the rules
by address and reads all sizes from memory; after a second a thread links it anew, and the next call
runs that, 1.1 to 1.8 times as fast. What was linked is kept on disk, like numba's code.

What this module knows of numba beyond its public names, and what to do when a name changes:

    library._get_module_for_linking()  numba's optimised code, of kernels and of rules; another way
                                       to it is `llvm.parse_assembly(library.get_llvm_str())`
    overloads[types].fndesc            `llvm_func_name` is the name of a kernel in this code
    CFunc._library, ._wrapper_name     the same for a rule: `fndesc` and `cfunc_` in its library
    the order in which numba passes    of arrays: see `_passed`; after a change `Program.add` counts
    arguments                          other values than the kernel takes, and says so
    _?Py*, numba_*                     functions for Python errors, which kernels never raise

Where one is missing, or the linker, there is an ImportError that says so: no page, and trainings
run numba's own code.
"""

import contextlib
import ctypes
import functools
import hashlib
import importlib.util
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from operator import is_not
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple
from weakref import WeakKeyDictionary

import llvmlite.binding as llvm
import numba
import numpy as np

from ..checks import to_install
from .compile import CACHE_DIR, read_code, write_code
from .source import SOURCES

LINKING, RULE, RULE_NAME = "_get_module_for_linking", "_library", "_wrapper_name"
ALIGNED = 64  # bytes: where arrays may begin
STACK = 1 << 16  # bytes
PYTHON = re.compile("_?Py|numba_")
PATIENCE = 1.0  # seconds that a kernel runs before it is worth linking
KEEP = 200  # files
FOLDER = CACHE_DIR / "linked"

# of each game, by kernel and all that is known of a call: what runs calls that differ in numbers
# alone, numba's code and later the linked one
_codes = WeakKeyDictionary()


class Free:
    """In the place of a whole number, or of a switch, that each call gives; with an example."""

    def __init__(self, example=0):
        self.example = example


FREE = Free()


class Target(NamedTuple):
    """What a program is made for."""

    triple: str
    cpu: str
    features: str
    how: tuple = ()  # further options
    slp: bool = True  # equal operations side by side become one on a vector

    def machine(self) -> llvm.TargetMachine:
        """Return LLVM's translator."""
        found = llvm.Target.from_triple(self.triple)
        given = {"cpu": self.cpu, "features": self.features, "reloc": "static"}
        return found.create_target_machine(**given, opt=3, **dict(self.how))


WEB = Target("wasm32-unknown-unknown", "generic", "+simd128,+bulk-memory,+nontrapping-fptoint")


def this_machine(slp: bool = True) -> Target:
    """Return what the processor of this computer can do."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    features = llvm.get_host_cpu_features().flatten()
    how = ("codemodel", "large"), ("jit", True)
    return Target(llvm.get_process_triple(), llvm.get_host_cpu_name(), features, how, slp)


def _private(owner, *names):
    """Return what stands under private names of numba, one inside the other."""
    try:
        return functools.reduce(getattr, names, owner)
    except AttributeError as error:
        version = f"numba {numba.__version__} has no {'.'.join(names)}"
        raise ImportError(f"{version}; see the head of kernel/link.py") from error


class Program:
    """Kernels of one game on the way to an object file: `add` their calls, then `emit` it.

    `rules` are a tuple of a game's rules as kernels take it, `compiled` the rules by its fields.
    """

    def __init__(self, rules, compiled: dict, target: Target = WEB):
        self._rules, self._target, self._entries = rules, target, []
        self._codes = {f"rule.{rule}": _code_of(f, f"rule.{rule}") for rule, f in compiled.items()}
        self._named = rules._replace(**{rule: f"rule.{rule}" for rule in compiled})
        self._text = [f'declare void @"{name}"()' for name in self._codes]

    def add(self, entry: str, kernel, arguments) -> None:
        """Add the function `entry`: a kernel with its rules and `arguments`, an example of them.

        It takes the addresses of all arrays, then all floats, then what is FREE, and returns int64.
        """
        kinds = tuple(map(numba.typeof, (self._rules, *map(_example, arguments))))
        kernel.compile(kinds)
        result = kernel.overloads[kinds]
        name, code = _private(result, "fndesc", "llvm_func_name"), _bitcode(result.library)
        types = [str(a.type) for a in llvm.parse_bitcode(code).get_function(name).arguments]
        taken = {"ptr": [], "double": [], "i64": []}
        values = [_constant(value) for value in flat(self._named)]
        values += [v for value in flat(arguments) for v in _passed(value, taken)]
        if len(values) != len(types) - 2:
            raise TypeError(f"{name} takes {len(types) - 2} values, not {len(values)}")
        given, narrow = [*zip(types[2:], values)], []
        for k, (kind, value) in enumerate(given):
            if value in taken["i64"] and kind != "i64":
                narrow.append(f"  {value}.narrow = trunc i64 {value} to {kind}")
                given[k] = kind, f"{value}.narrow"
        given = ", ".join(f"{kind} {value}" for kind, value in given)
        parameters = ", ".join(f"{kind} {name}" for kind in taken for name in taken[kind])
        self._codes[name] = code
        self._entries.append(entry)
        self._text += [
            f'declare i32 @"{name}"({", ".join(types)})',
            f"define i64 @{entry}({parameters}) {{",
            *narrow,
            "  %result = alloca i64\n  %error = alloca ptr\n  store i64 0, ptr %result",
            f'  %status = call i32 @"{name}"(ptr %result, ptr %error, {given})',
            "  %value = load i64, ptr %result\n  ret i64 %value\n}",
        ]

    def key(self) -> str:
        """Return 32 hex digits that stand for all that :meth:`emit` depends on."""
        parts = [SOURCES["kernel/link.py"], llvm.llvm_version_info, self._target, self._text]
        parts += [hashlib.sha256(code).digest() for code in self._codes.values()]
        return hashlib.sha256(repr(parts).encode()).hexdigest()[:32]

    def emit(self) -> bytes:
        """Link and optimise everything, and return the object file."""
        llvm.initialize_all_targets()
        llvm.initialize_all_asmprinters()
        machine = self._target.machine()
        head = f'target datalayout = "{machine.target_data}"\ntarget triple = "{self._target[0]}"\n'

        def parse(text):
            return llvm.parse_assembly(head + re.sub(r"(?m)^target .*\n", "", text))

        whole = parse("\n".join(self._text))
        for code in self._codes.values():
            whole.link_in(parse(str(llvm.parse_bitcode(code))))
        whole.link_in(parse("\n".join(_stubs(whole))))
        for symbol in [*whole.functions, *whole.global_variables]:
            if not symbol.is_declaration and symbol.name not in self._entries:
                symbol.linkage = "internal"
        options = llvm.create_pipeline_tuning_options(speed_level=3)
        options.loop_vectorization, options.slp_vectorization = True, self._target.slp
        builder = llvm.create_pass_builder(machine, options)
        builder.getModulePassManager().run(whole, builder)
        return machine.emit_object(whole)

    def module(self) -> bytes:
        """Return a module of WebAssembly; ImportError names what is missing to make one."""
        if not has_linker():
            raise ImportError(f"a page needs the linker ziglang: {to_install('web')}")
        kept = [f"--export={name}" for name in (*self._entries, "__heap_base")]
        options = ["--no-entry", "--gc-sections", "--strip-all", "-O2", "--export-memory"]
        options += ["--stack-first", "-z", f"stack-size={STACK}"]
        with tempfile.TemporaryDirectory() as folder:
            given, made = Path(folder, "kernels.o"), Path(folder, "kernels.wasm")
            given.write_bytes(self.emit())
            linker = [sys.executable, "-m", "ziglang", "wasm-ld"]
            command = [*linker, *options, *kept, str(given), "-o", str(made)]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                raise RuntimeError(f"the linker of WebAssembly: {done.stderr.strip()}")
            return made.read_bytes()


def has_linker() -> bool:
    """Return whether modules can be linked here."""
    return importlib.util.find_spec("ziglang") is not None


class Memory:
    """Where the arrays of calls lie, in bytes after the end of a module's own data.

    `image` is what begins the memory: those arrays that do not hold zeros alone. The arrays `apart`
    and all others follow it, to be filled by who runs the module.
    """

    def __init__(self, calls: dict, apart=()):
        later = {_key(array): array for array in apart}
        arrays = {_key(a): a for given in calls.values() for a in flat(given, np.ndarray)}
        arrays |= later
        filled = [key for key, a in arrays.items() if key not in later and a.any()]
        self._places, self.size, self.image = {}, 0, b""
        for key in sorted(arrays, key=lambda key: key not in filled):
            self._places[key] = self.size
            self.size += -(-arrays[key].nbytes // ALIGNED) * ALIGNED
            if key in filled:
                self.image = (self.image + arrays[key].tobytes()).ljust(self.size, b"\0")
        self.calls = {  # what each gives first: places of arrays, and floats
            entry: [[*map(self.place, flat(given, np.ndarray))], [*flat(given, float)]]
            for entry, given in calls.items()
        }

    def place(self, array) -> int:
        """Return where an array begins."""
        return self._places[_key(array)]


def flat(value, kind=object):
    """Yield the numbers and arrays of an argument, or of a tuple of them, that are of a kind."""
    if isinstance(value, tuple):
        for field in value:
            yield from flat(field, kind)
    elif isinstance(value, kind):
        yield value


def _example(value):
    """Return an argument with examples in the place of what is free."""
    if isinstance(value, Free):
        return value.example
    make = getattr(value, "_make", tuple)  # of a named tuple
    return make(map(_example, value)) if isinstance(value, tuple) else value


def _key(array) -> tuple:
    return array.ctypes.data, array.nbytes


def _bitcode(library) -> bytes:
    return _private(library, LINKING)().as_bitcode()


def _code_of(rule, name) -> bytes:
    """Return the code of a compiled rule under a name of ours, with nothing else to be seen."""
    # numba counts the functions of a process: two rules that two processes compiled, such as
    # lambdas of one game, may have the same name on the disk, and LLVM would take one for both
    module = llvm.parse_bitcode(_bitcode(_private(rule, RULE)))
    module.get_function(_private(rule, RULE_NAME)).name = name
    for symbol in [*module.functions, *module.global_variables]:
        if not symbol.is_declaration and symbol.name != name:
            symbol.linkage = "internal"
    return module.as_bitcode()


def _constant(value):
    """Return a number, or the name of a rule in the place of its address, for LLVM."""
    if isinstance(value, str):
        return f'ptrtoint (ptr @"{value}" to i64)'
    is_float = isinstance(value, float)
    return "0x" + np.float64(value).tobytes()[::-1].hex() if is_float else int(value)


def _passed(value, taken: dict) -> list:
    """Return what numba passes for a number or an array, and note what is taken for it."""

    def take(kind):
        taken[kind].append(f"%{kind}{len(taken[kind])}")
        return taken[kind][-1]

    if isinstance(value, np.ndarray):
        size = value.size, value.itemsize
        return ["null", "null", *size, take("ptr"), *value.shape, *value.strides]
    if isinstance(value, float):
        return [take("double")]
    return [take("i64") if isinstance(value, Free) else _constant(value)]


def _stubs(whole) -> list[str]:
    """Return functions that do nothing, in the place of those for errors of Python."""
    stubs = []
    for function in whole.functions:
        if function.is_declaration and PYTHON.match(function.name):
            line = re.sub(r"captures\(none\)|#\d+", "", str(function).strip().split("\n")[-1])
            kind = re.search(r"(\w+) @", line)[1]
            result = "ret void" if kind == "void" else f"ret {kind} zeroinitializer"
            stubs.append(line.replace("declare", "define", 1) + f"{{ {result} }}")
    return stubs


class Linked:
    """A kernel of a game, to be called without the rules; its last argument is a whole number.

    Without `slp` random games of Othello are 1.35 times as fast, trainings of Tic-Tac-Toe 0.86.
    """

    def __init__(self, kernel, game, slp=True):
        self._kernel, self._game, self._slp, self._fixed = kernel, game, slp, ()
        self.code = self._given = None

    def __reduce__(self):
        return Linked, (self._kernel, self._game, self._slp)

    def __call__(self, *arguments) -> int | None:
        """Run the kernel."""
        *fixed, number = arguments
        if len(fixed) != len(self._fixed) or any(map(is_not, fixed, self._fixed)):
            self._take(fixed)
        code = self.code
        if code.function:
            return code.function(*self._given, ctypes.c_int64(number))
        began = time.perf_counter()
        result = self._kernel(self._game.rules, *arguments)
        code.ran += time.perf_counter() - began
        if code.ran > PATIENCE and code.thread is None:
            code.thread = threading.Thread(target=self._link, args=(code, fixed))
            code.thread.start()
        return result

    def _take(self, fixed):
        """Look for the code of these arguments, and note how it is given them."""
        values = [*flat(tuple(fixed))]
        arrays = [v for v in values if isinstance(v, np.ndarray)]
        # what the linked code takes for granted
        known = [(a.shape, a.strides, a.dtype, a.flags.writeable) for a in arrays]
        known += [v for v in values if not isinstance(v, (np.ndarray, float))]
        codes = _codes.setdefault(self._game, {})
        new = SimpleNamespace(ran=0.0, thread=None, function=None)  # None: numba's code runs
        self.code = codes.setdefault((self._kernel, *known), new)
        self._given = [ctypes.c_void_p(a.ctypes.data) for a in arrays]
        self._given += [ctypes.c_double(v) for v in values if isinstance(v, float)]
        self._fixed = fixed

    def _link(self, code, fixed):
        try:
            target = this_machine(self._slp)
            program = Program(self._game.rules, self._game._compiled, target)
            program.add("linked", self._kernel, (*fixed, FREE))
            engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), target.machine())
            engine.add_object_file(llvm.ObjectFileRef.from_data(_object(program)))
            engine.finalize_object()
        except Exception as error:  # whatever another numba or LLVM does: numba's own code is there
            warnings.warn(f"numba's code runs on, without linking: {error}", stacklevel=1)
            return
        function = ctypes.CFUNCTYPE(ctypes.c_int64)(engine.get_function_address("linked"))
        function.engine = engine  # the machine code lives as long
        code.function = function


def _object(program) -> bytes:
    """Return the object file of a program, from disk if it is there and whole."""
    file = FOLDER / f"{program.key()}.code"
    if code := read_code(file):
        with contextlib.suppress(OSError):  # another process dropped it
            os.utime(file)  # in use: the last to be dropped
        return code
    code = program.emit()
    write_code(file, code)
    with contextlib.suppress(OSError):  # another process dropped one of them
        for old in sorted(FOLDER.glob("*.code"), key=os.path.getmtime)[:-KEEP]:
            old.unlink()
    return code
