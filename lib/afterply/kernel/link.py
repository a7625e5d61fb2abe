"""Kernels linked with everything that is known about their calls: for web pages, for this machine.

numba compiles a kernel once for the types of its arguments. A :class:`Program` takes whole calls.
In it whole numbers are constants, the shapes of arrays are known, and the rules of the game are
functions that LLVM can inline, where numba's code has addresses. A linked program holds no address
and no float: each call gives these, in a page as a :class:`Memory` says. The arithmetic is that of
numba's code, so the bits are the same.

Trainings and searches call a :class:`Linked`. At first it runs numba's code, which calls the rules
by address and reads all sizes from memory. After a second a thread links the kernel, and the next
call runs the linked code, 1.1 to 1.8 times as fast. Linked code is kept on disk, like numba's.

What this module knows of numba beyond its public names, and what to do when a name changes:

    library._get_module_for_linking()  numba's optimised code, of kernels and of rules; another way
                                       to it is `llvm.parse_assembly(library.get_llvm_str())`
    overloads[types].fndesc            `llvm_func_name` is the name of a kernel in this code
    CFunc._library, ._wrapper_name     the same for a rule: `fndesc` and `cfunc_` in its library
    the order in which numba passes    see `_passed`; after a change `Program.add` counts other
    the parts of arrays                values than the kernel takes, and says so
    _?Py*, numba_*                     functions for Python errors, which kernels never raise

Where one is missing, or the linker, an ImportError says so. Then no page can be made, and trainings
run numba's own code.
"""

import contextlib
import ctypes
import functools
import hashlib
import importlib.util
import math
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from operator import is_not
from pathlib import Path
from typing import NamedTuple
from weakref import WeakKeyDictionary

import llvmlite.binding as llvm
import numba
import numpy as np
from numba.core.ccallback import CFunc

from ..checks import to_install
from .compile import CACHE_DIR, read_code, write_code
from .source import SOURCES

# private names of numba
LINKING = "_get_module_for_linking"
RULE = "_library"
RULE_NAME = "_wrapper_name"

ALIGNED = 64  # bytes: where arrays may begin
STACK = 1 << 16  # bytes
PYTHON = re.compile("_?Py|numba_")
PATIENCE = 1.0  # seconds that a kernel runs before it is worth linking
KEEP = 200  # files of linked code
FOLDER = CACHE_DIR / "linked"

# game -> {(kernel, *all that linked code takes for granted of a call): the state of its code}
_codes = WeakKeyDictionary()


class Free:
    """Stands for a whole number, or a switch, that each call gives; with an example of it."""

    def __init__(self, example=0):
        self.example = example


FREE = Free()


@dataclass
class Rule:
    """Stands for the address of a compiled rule that kernels take as an argument of its own."""

    name: str
    compiled: CFunc


class Target(NamedTuple):
    """The machine that a program is made for, in the words of LLVM."""

    triple: str
    cpu: str
    features: str
    options: tuple = ()  # (name, value) of further options of `create_target_machine`
    slp: bool = True  # whether equal operations side by side become one on a vector

    def machine(self) -> llvm.TargetMachine:
        """Return LLVM's code generator."""
        return llvm.Target.from_triple(self.triple).create_target_machine(
            cpu=self.cpu, features=self.features, reloc="static", opt=3, **dict(self.options)
        )


WEB = Target("wasm32-unknown-unknown", "generic", "+simd128,+bulk-memory,+nontrapping-fptoint")


def this_machine(slp: bool = True) -> Target:
    """Return the processor of this computer, with all that it can do."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    triple = llvm.get_process_triple()
    cpu = llvm.get_host_cpu_name()
    features = llvm.get_host_cpu_features().flatten()
    options = (("codemodel", "large"), ("jit", True))
    return Target(triple, cpu, features, options, slp)


def _private(owner, *names):
    """Return the attribute of an attribute ... of numba; ImportError if one is missing."""
    try:
        return functools.reduce(getattr, names, owner)
    except AttributeError as error:
        version = f"numba {numba.__version__} has no {'.'.join(names)}"
        raise ImportError(f"{version}; see the head of kernel/link.py") from error


class Program:
    """Kernels of one game that become an object file: `add` their calls, then `emit` it.

    `rules` is the tuple of a game's rules that kernels take, `compiled` has them by its fields.
    """

    def __init__(self, rules, compiled: dict, target: Target = WEB):
        self._rules = rules
        self._target = target
        self._entries = []
        self._codes = {}  # name -> bitcode, of rules and kernels
        self._text = []
        names = {}  # field of the rules -> name
        for field, rule in compiled.items():
            names[field] = self._add_rule(Rule(field, rule))
        self._named_rules = rules._replace(**names)

    def _add_rule(self, rule: Rule) -> str:
        """Add the code of a rule, and return its name in the program."""
        name = f"rule.{rule.name}"
        if name not in self._codes:
            self._codes[name] = _code_of(rule.compiled, name)
            self._text.append(f'declare void @"{name}"()')
        return name

    def add(self, entry: str, kernel, arguments) -> None:
        """Add a function `entry` that calls a kernel with the rules and `arguments`.

        It takes the addresses of all arrays, then all floats, then what is FREE, and returns int64.
        TypeError if the kernel takes another number of values.
        """
        examples = [_example(argument) for argument in arguments]
        signature = tuple(numba.typeof(value) for value in (self._rules, *examples))
        kernel.compile(signature)
        compiled = kernel.overloads[signature]
        name = _private(compiled, "fndesc", "llvm_func_name")
        code = _bitcode(compiled.library)
        function = llvm.parse_bitcode(code).get_function(name)
        types = [str(argument.type) for argument in function.arguments]
        parameters = {"ptr": [], "double": [], "i64": []}  # of the entry, by type
        values = [_constant(value) for value in flat(self._named_rules)]
        for argument in flat(arguments):
            if isinstance(argument, Rule):
                argument = self._add_rule(argument)
            values += _passed(argument, parameters)
        num_values = len(types) - 2  # besides the addresses of result and error
        if len(values) != num_values:
            raise TypeError(f"{name} takes {num_values} values, not {len(values)}")
        self._codes[name] = code
        self._entries.append(entry)
        self._text += _entry_text(entry, parameters, name, types, values)

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
        module = self._link(machine)
        _hide_symbols(module, except_for=self._entries)
        options = llvm.create_pipeline_tuning_options(speed_level=3)
        options.loop_vectorization = True
        options.slp_vectorization = self._target.slp
        builder = llvm.create_pass_builder(machine, options)
        builder.getModulePassManager().run(module, builder)
        return machine.emit_object(module)

    def _link(self, machine):
        """Return entries, kernels, rules and stubs as one LLVM module for the target."""
        layout = f'target datalayout = "{machine.target_data}"'
        triple = f'target triple = "{self._target.triple}"'

        def parse(text):
            # numba's code names the machine that it was made for
            without_target = re.sub(r"(?m)^target .*\n", "", text)
            return llvm.parse_assembly(f"{layout}\n{triple}\n{without_target}")

        module = parse("\n".join(self._text))
        for code in self._codes.values():
            module.link_in(parse(str(llvm.parse_bitcode(code))))
        module.link_in(parse("\n".join(_stubs(module))))
        return module

    def module(self) -> bytes:
        """Return a module of WebAssembly.

        ImportError if the linker is missing, RuntimeError with its message if it fails.
        """
        if not has_linker():
            raise ImportError(f"a page needs the linker ziglang: {to_install('web')}")
        options = ["--no-entry", "--gc-sections", "--strip-all", "-O2", "--export-memory"]
        options += ["--stack-first", "-z", f"stack-size={STACK}"]
        options += [f"--export={name}" for name in (*self._entries, "__heap_base")]
        with tempfile.TemporaryDirectory() as folder:
            object_file = Path(folder, "kernels.o")
            wasm_file = Path(folder, "kernels.wasm")
            object_file.write_bytes(_object(self))
            linker = [sys.executable, "-m", "ziglang", "wasm-ld"]
            command = [*linker, *options, str(object_file), "-o", str(wasm_file)]
            process = subprocess.run(command, capture_output=True, text=True)
            if process.returncode:
                raise RuntimeError(f"the linker of WebAssembly: {process.stderr.strip()}")
            return wasm_file.read_bytes()


def has_linker() -> bool:
    """Return whether modules can be linked here."""
    return importlib.util.find_spec("ziglang") is not None


class Memory:
    """Where the arrays of calls lie, in bytes after the end of a module's own data.

    Parameters
    ----------
    calls : dict
        Name of an entry -> the arguments of its call, a tuple.
    apart : sequence of arrays
        Arrays that are not part of the image, whatever they hold.

    Attributes
    ----------
    image : bytes
        The beginning of the memory: all arrays that do not hold zeros alone. The others follow it,
        and whoever runs the module fills those `apart`.
    size : int
        Bytes of the image and of all arrays that follow it.
    calls : dict
        Name of an entry -> places of the arrays, and floats, which its call gives first.
    """

    def __init__(self, calls: dict, apart=()):
        self._places = {}
        self.size = 0
        self.image = b""
        in_image, after_image = _arrays_of_memory(calls, apart)
        for array in in_image:
            self._add(array)
            self.image = (self.image + array.tobytes()).ljust(self.size, b"\0")
        for array in after_image:
            self._add(array)
        self.calls = {}
        for entry, arguments in calls.items():
            places = [self.place(array) for array in flat(arguments, np.ndarray)]
            floats = list(flat(arguments, float))
            self.calls[entry] = [places, floats]

    def _add(self, array):
        """Place an array at the end of the memory."""
        self._places[_key(array)] = self.size
        num_blocks = math.ceil(array.nbytes / ALIGNED)
        self.size += num_blocks * ALIGNED

    def place(self, array) -> int:
        """Return where an array begins."""
        return self._places[_key(array)]


def _arrays_of_memory(calls, apart) -> tuple[list, list]:
    """Return which arrays an image holds, and which follow it; each array stands there once."""
    apart_by_key = {_key(array): array for array in apart}
    array_by_key = {}
    for arguments in calls.values():
        for array in flat(arguments, np.ndarray):
            array_by_key[_key(array)] = array
    array_by_key |= apart_by_key
    in_image = []
    after_image = []
    for key, array in array_by_key.items():
        if key not in apart_by_key and array.any():
            in_image.append(array)
        else:
            after_image.append(array)
    return in_image, after_image


def flat(value, kind=object):
    """Yield the numbers and arrays of a `kind` in an argument, or in tuples of tuples of them."""
    if isinstance(value, tuple):
        for field in value:
            yield from flat(field, kind)
    elif isinstance(value, kind):
        yield value


def _example(value):
    """Return an argument with examples in the place of what is free."""
    if isinstance(value, Free):
        return value.example
    if isinstance(value, Rule):
        return value.compiled.address
    if isinstance(value, tuple):
        make = getattr(value, "_make", tuple)  # a named tuple remains one
        return make(map(_example, value))
    return value


def _key(array) -> tuple:
    """Return what identifies the memory of an array: address and bytes."""
    return array.ctypes.data, array.nbytes


def _bitcode(library) -> bytes:
    """Return numba's optimised code."""
    return _private(library, LINKING)().as_bitcode()


def _code_of(rule, name) -> bytes:
    """Return the code of a compiled rule as a function `name`, the only one that others see."""
    # numba numbers the functions of a process. So two rules that two processes compiled, such as
    # lambdas of one game, may have the same name on the disk, and LLVM would take one for both.
    module = llvm.parse_bitcode(_bitcode(_private(rule, RULE)))
    module.get_function(_private(rule, RULE_NAME)).name = name
    _hide_symbols(module, except_for=[name])
    return module.as_bitcode()


def _hide_symbols(module, except_for):
    """Let no other module see what one defines, but for some names."""
    for symbol in [*module.functions, *module.global_variables]:
        if not symbol.is_declaration and symbol.name not in except_for:
            symbol.linkage = "internal"


def _constant(value):
    """Return a number, or the name of a rule in the place of its address, for LLVM."""
    if isinstance(value, str):
        return f'ptrtoint (ptr @"{value}" to i64)'
    if isinstance(value, float):
        big_endian = np.float64(value).tobytes()[::-1]
        return "0x" + big_endian.hex()
    return int(value)


def _passed(value, parameters: dict) -> list:
    """Return what numba passes for a number or an array; add what of it a call gives."""

    def parameter(kind):
        name = f"%{kind}{len(parameters[kind])}"
        parameters[kind].append(name)
        return name

    if isinstance(value, np.ndarray):
        data = parameter("ptr")
        return ["null", "null", value.size, value.itemsize, data, *value.shape, *value.strides]
    if isinstance(value, float):
        return [parameter("double")]
    if isinstance(value, Free):
        return [parameter("i64")]
    return [_constant(value)]


def _entry_text(entry, parameters, name, types, values) -> list[str]:
    """Return the lines of a function for LLVM that calls a kernel with constants and parameters.

    `name` and `types` are those of the kernel, which takes two addresses before the `values`.
    """
    conversions = []
    passed = ["ptr %result", "ptr %error"]
    for kind, value in zip(types[2:], values):
        if kind != "i64" and value in parameters["i64"]:
            conversions.append(f"  {value}.narrow = trunc i64 {value} to {kind}")
            passed.append(f"{kind} {value}.narrow")
        else:
            passed.append(f"{kind} {value}")
    declared = []
    for kind, names in parameters.items():
        declared += [f"{kind} {parameter}" for parameter in names]
    return [
        f'declare i32 @"{name}"({", ".join(types)})',
        f"define i64 @{entry}({', '.join(declared)}) {{",
        *conversions,
        "  %result = alloca i64\n  %error = alloca ptr\n  store i64 0, ptr %result",
        f'  %status = call i32 @"{name}"({", ".join(passed)})',
        "  %value = load i64, ptr %result\n  ret i64 %value\n}",
    ]


def _stubs(module) -> list[str]:
    """Return functions that do nothing, in the place of those for errors of Python."""
    stubs = []
    for function in module.functions:
        if function.is_declaration and PYTHON.match(function.name):
            last_line = str(function).strip().split("\n")[-1]
            declaration = re.sub(r"captures\(none\)|#\d+", "", last_line)
            result_type = re.search(r"(\w+) @", declaration)[1]
            body = "ret void" if result_type == "void" else f"ret {result_type} zeroinitializer"
            definition = declaration.replace("declare", "define", 1)
            stubs.append(f"{definition}{{ {body} }}")
    return stubs


@dataclass
class _Code:
    """The code that runs calls which differ in addresses and numbers alone."""

    seconds: float = 0.0  # that numba's code has run
    thread: threading.Thread | None = None  # that links
    function: Callable | None = None  # the linked code; as long as there is none, numba's runs


class Linked:
    """A kernel of a game, to be called without the rules; its last argument is a whole number.

    Without `slp` random games of Othello are 1.35 times as fast, trainings of Tic-Tac-Toe 0.86.
    """

    def __init__(self, kernel, game, slp=True):
        self._kernel = kernel
        self._game = game
        self._slp = slp
        self._fixed = ()  # the arguments of the last call but the number
        self.code = None  # a `_Code`, from the first call on
        self._c_arguments = None  # what linked code takes for `_fixed`

    def __reduce__(self):
        return Linked, (self._kernel, self._game, self._slp)

    def __call__(self, *arguments) -> int | None:
        """Run the kernel."""
        *fixed, number = arguments
        if len(fixed) != len(self._fixed) or any(map(is_not, fixed, self._fixed)):
            self._prepare(fixed)
        code = self.code
        if code.function:
            return code.function(*self._c_arguments, ctypes.c_int64(number))
        start = time.perf_counter()
        result = self._kernel(self._game.rules, *arguments)
        code.seconds += time.perf_counter() - start
        if code.seconds > PATIENCE and code.thread is None:
            code.thread = threading.Thread(target=self._link, args=(code, fixed))
            code.thread.start()
        return result

    def _prepare(self, fixed):
        """Look for the code of these arguments, and convert them for it."""
        arrays = []
        floats = []
        constants = []
        for value in flat(tuple(fixed)):
            if isinstance(value, np.ndarray):
                arrays.append(value)
            elif isinstance(value, float):
                floats.append(value)
            else:
                constants.append(value)
        # all that linked code takes for granted
        layouts = [(a.shape, a.strides, a.dtype, a.flags.writeable) for a in arrays]
        codes_of_game = _codes.setdefault(self._game, {})
        self.code = codes_of_game.setdefault((self._kernel, *layouts, *constants), _Code())
        addresses = [ctypes.c_void_p(array.ctypes.data) for array in arrays]
        self._c_arguments = addresses + [ctypes.c_double(value) for value in floats]
        self._fixed = fixed

    def _link(self, code, fixed):
        try:
            target = this_machine(self._slp)
            program = Program(self._game.rules, self._game._compiled, target)
            program.add("linked", self._kernel, (*fixed, FREE))
            engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), target.machine())
            engine.add_object_file(llvm.ObjectFileRef.from_data(_object(program)))
            engine.finalize_object()
        except Exception as error:  # another numba or LLVM may do anything; numba's code goes on
            warnings.warn(f"numba's code goes on, without linking: {error}", stacklevel=1)
            return
        function = ctypes.CFUNCTYPE(ctypes.c_int64)(engine.get_function_address("linked"))
        function.engine = engine  # keeps the machine code in memory
        code.function = function


def _object(program) -> bytes:
    """Return the object file of a program, from disk if it is there and complete."""
    file = FOLDER / f"{program.key()}.code"
    code = read_code(file)
    if code:
        with contextlib.suppress(OSError):  # another process dropped it
            os.utime(file)  # now the newest one, which is dropped last
        return code
    code = program.emit()
    write_code(file, code)
    with contextlib.suppress(OSError):  # another process dropped one of them
        files = sorted(FOLDER.glob("*.code"), key=os.path.getmtime)
        for old in files[:-KEEP]:
            old.unlink()
    return code
