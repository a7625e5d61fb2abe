"""Trainings and searches on this machine: a kernel linked with the game's rules, while it runs.

numba's code calls the rules by address and reads all sizes from memory. :class:`Linked` calls it at
once; after a second a thread links it anew with all that is known about the call
(:mod:`afterstate.kernel.link`), and the next call runs that. The bits are the same, the speed is
1.1 to 1.8 times as high. What was linked is kept on disk, like numba's code.
"""

import contextlib
import ctypes
import os
import threading
import time
import warnings
from operator import is_not
from weakref import WeakKeyDictionary

import llvmlite.binding as llvm

from .compile import CACHE_DIR, read_code, write_code
from .link import FREE, Program, Target, flat, is_array, is_float

PATIENCE = 1.0  # seconds that a kernel runs before it is worth linking
KEEP = 200  # files
FOLDER = CACHE_DIR / "linked"

_codes = WeakKeyDictionary()  # of each game, by kernel and all that is known of a call


def this_machine(slp: bool = True) -> Target:
    """Return what the processor of this computer can do."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    features = llvm.get_host_cpu_features().flatten()
    how = ("codemodel", "large"), ("jit", True)
    return Target(llvm.get_process_triple(), llvm.get_host_cpu_name(), features, how, slp)


class Code:
    """What runs calls that differ in numbers alone: numba's code, later the linked one."""

    def __init__(self):
        self.ran, self.thread, self.function = 0.0, None, None


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
        known = (_shape(v) if is_array(v) else v for v in values if not is_float(v))
        codes = _codes.setdefault(self._game, {})
        self.code = codes.setdefault((self._kernel, *known), Code())
        self._given = [ctypes.c_void_p(v.ctypes.data) for v in values if is_array(v)]
        self._given += [ctypes.c_double(v) for v in values if is_float(v)]
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


def _shape(array) -> tuple:
    """Return what the linked code takes for granted of an array."""
    return array.shape, array.strides, array.dtype, array.flags.writeable


def _object(program) -> bytes:
    """Return the object file of a program, from disk if it is there and whole."""
    file = FOLDER / f"{program.key()}.code"
    code = read_code(file)
    if code is None:
        code = program.emit()
        write_code(file, code)
    with contextlib.suppress(OSError):  # another process dropped one of them
        os.utime(file)
        for old in sorted(FOLDER.iterdir(), key=os.path.getmtime)[:-KEEP]:
            old.unlink()
    return code
