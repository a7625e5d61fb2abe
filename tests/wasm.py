"""The kernels of a page in wasmtime, called from Python."""

import ctypes

import numpy as np

wasmtime = __import__("pytest").importorskip("wasmtime", reason="no wasmtime to run modules")
PAGE = 1 << 16


class Machine:
    """A module with its memory; `views` are its arrays, by name."""

    def __init__(self, kernels):
        self._store, self._memory = wasmtime.Store(), kernels.memory
        module = wasmtime.Module(self._store.engine, kernels.program.module())
        self._exports = wasmtime.Instance(self._store, module, []).exports(self._store)
        pages = self._exports["memory"]
        self.base = -(-self._exports["__heap_base"].value(self._store) // 64) * 64
        room = self.base + self._memory.size - pages.data_len(self._store)
        pages.grow(self._store, max(0, -(-room // PAGE)))
        self._begin = ctypes.addressof(pages.data_ptr(self._store).contents)
        self.view(0, np.zeros(len(self._memory.image), np.uint8))[:] = bytearray(self._memory.image)
        self.weights = self.view(self._memory.place(kernels.weights), kernels.weights)
        self.weights[:] = kernels.weights
        self.views = {
            name: self.view(self._memory.place(array), array)
            for name, array in kernels.arrays.items()
        }

    def view(self, place, like):
        at = self._begin + self.base + place
        return np.frombuffer((ctypes.c_char * like.nbytes).from_address(at), like.dtype)

    def call(self, entry, *numbers):
        places, floats = self._memory.calls[entry]
        given = [self.base + place for place in places] + floats
        return self._exports[entry](self._store, *given, *numbers)
