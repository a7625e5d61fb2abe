"""Worker processes, working memory of threads, and the size of the computer's memory."""

import functools
import os
import signal
import sys
import threading
import time


class PerThread(threading.local):
    """Base class of objects whose working memory each thread has for itself.

    Kernels of several threads run at the same time and write into the arrays that they are given.
    A class that keeps such arrays derives from this one and needs no lock: no thread sees what
    another one writes. When a thread first uses an object, ``__init__`` runs there again with the
    arguments of the constructor. A process that receives a copy does the same.
    """

    __slots__ = ("_arguments",)  # all threads share what stands in slots

    def __new__(cls, *positional, **keywords):
        """Keep the arguments of the constructor, from which a copy is made."""
        instance = super().__new__(cls, *positional, **keywords)
        instance._arguments = (positional, keywords)
        return instance

    def __reduce__(self):
        positional, keywords = self._arguments
        return functools.partial(type(self), *positional, **keywords), ()


def end_with(parent: int) -> None:
    """End this process within a second of its parent's end, even by ``kill -9``."""

    def watch():
        while os.getppid() == parent:
            time.sleep(1.0)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


@functools.cache  # a worker calls this once for each of its tasks
def work_for(parent: int) -> None:
    """Let a worker process ignore Ctrl-C, which is for `parent`, and end when `parent` ends."""
    # Dask runs tasks in other threads than the main one, in processes that it ends itself.
    in_main_thread = threading.current_thread() is threading.main_thread()
    if in_main_thread and os.getpid() != parent:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        end_with(parent)


def memory() -> int:
    """Return the memory of this computer in bytes, or `sys.maxsize` where it is not known."""
    if not hasattr(os, "sysconf"):  # Windows
        return sys.maxsize
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
