"""Processes that work for another one, and do not outlive it."""

import functools
import os
import signal
import threading
import time


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
