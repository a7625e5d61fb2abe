"""Processes that work for another one, threads side by side, and how much memory there is."""

import functools
import os
import signal
import sys
import threading
import time


class PerThread(threading.local):
    """Base of what works in memory of its own: each thread that uses an object has all of it anew.

    Kernels run side by side in several threads, and write into the arrays that they are given. So
    whoever keeps such arrays derives from this class, and needs no lock: what one thread has begun
    no other sees. A thread makes its own as the object was made, by the same arguments, when it
    first uses it; so does a process that gets a copy.
    """

    __slots__ = ("_arguments",)  # which all threads share

    def __new__(cls, *arguments, **named):
        """Note what the threads make theirs of."""
        made = super().__new__(cls, *arguments, **named)
        made._arguments = arguments, named
        return made

    def __reduce__(self):
        arguments, named = self._arguments
        return functools.partial(type(self), *arguments, **named), ()


def end_with(parent: int) -> None:
    """End this process within a second when its parent is gone, be it by ``kill -9``."""

    def watch():
        while os.getppid() == parent:
            time.sleep(1.0)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


@functools.cache  # a worker does many tasks
def work_for(parent: int) -> None:
    """Make this process, if it is a worker's, end with `parent`, for whom Ctrl-C is."""
    # Dask works in other threads, of processes of its own
    if threading.current_thread() is threading.main_thread() and os.getpid() != parent:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        end_with(parent)


def memory() -> int:
    """Return the bytes of memory of this computer; a system that does not say it sets no limit."""
    if not hasattr(os, "sysconf"):  # Windows
        return sys.maxsize
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
