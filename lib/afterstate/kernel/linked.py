"""Long calls of a kernel on this machine: its code linked with the game's rules, while it runs.

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

import llvmlite.binding as llvm
import numpy as np

from ..files import Archive, write_npz
from .compile import CACHE_DIR
from .link import FREE, Program, Target, flat, is_array, is_float

PATIENCE = 1.0  # seconds that a kernel runs before it is worth linking
KEEP = 100  # files
FOLDER = CACHE_DIR / "linked"


def this_machine() -> Target:
    """Return what the processor of this computer can do."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    features = llvm.get_host_cpu_features().flatten()
    how = ("codemodel", "large"), ("jit", True)
    return Target(llvm.get_process_triple(), llvm.get_host_cpu_name(), features, how)


class Linked:
    """A kernel of a game, to be called without the rules; its last argument is a whole number."""

    def __init__(self, kernel, game):
        self._kernel, self._game, self._ran = kernel, game, 0.0
        self._shapes = self._thread = self._function = None

    def __reduce__(self):
        return Linked, (self._kernel, self._game)

    def __call__(self, *arguments) -> int | None:
        """Run the kernel."""
        values = [*flat(arguments[:-1])]
        shapes = [_shape(v) if is_array(v) else v for v in values if not is_float(v)]
        if self._function and shapes == self._shapes:
            given = [ctypes.c_void_p(v.ctypes.data) for v in values if is_array(v)]
            given += [ctypes.c_double(v) for v in values if is_float(v)]
            return self._function(*given, ctypes.c_int64(arguments[-1]))
        began = time.perf_counter()
        result = self._kernel(self._game.rules, *arguments)
        self._ran += time.perf_counter() - began
        if self._ran > PATIENCE and shapes != self._shapes:
            self._shapes, self._function = shapes, None
            self._thread = threading.Thread(target=self._link, args=(shapes, arguments[:-1]))
            self._thread.start()
        return result

    def _link(self, shapes, arguments):
        try:
            target = this_machine()
            program = Program(self._game.rules, self._game._compiled, target)
            program.add("linked", self._kernel, (*arguments, FREE))
            engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), target.machine())
            engine.add_object_file(llvm.ObjectFileRef.from_data(_object(program)))
            engine.finalize_object()
        except Exception as error:  # whatever another numba or LLVM does: numba's own code is there
            warnings.warn(f"training goes on without linking: {error}", stacklevel=1)
            return
        function = ctypes.CFUNCTYPE(ctypes.c_int64)(engine.get_function_address("linked"))
        function.engine = engine  # the machine code lives as long
        if shapes == self._shapes:
            self._function = function


def _shape(array) -> tuple:
    """Return what the linked code takes for granted of an array."""
    return array.shape, array.strides, array.dtype, array.flags.writeable


def _object(program) -> bytes:
    """Return the object file of a program, from disk if it is there and whole."""
    file = FOLDER / f"{program.key()}.npz"
    with contextlib.suppress(OSError, ValueError):
        code = Archive(file)["code"].tobytes()
        os.utime(file)
        return code
    code = program.emit()
    with contextlib.suppress(OSError):  # no room: this process has what it needs
        FOLDER.mkdir(exist_ok=True)
        write_npz(file, {}, {"code": np.frombuffer(code, np.uint8)})
        for old in sorted(FOLDER.glob("*.npz"), key=os.path.getmtime)[:-KEEP]:
            old.unlink(missing_ok=True)
    return code
