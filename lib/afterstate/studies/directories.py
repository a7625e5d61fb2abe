"""Directories that a study writes to: whether it can, and what killed processes left there."""

import contextlib
import os
import time
from pathlib import Path

from ..kernel.compile import CacheError

SWEPT_AFTER = 3600  # seconds: nobody can be writing a file any more


def writable(directory: Path) -> Path:
    """Make a directory and return it; raise CacheError, which says what to do, if it is no use."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        probe = directory / f".probe.{os.getpid()}.tmp"
        probe.write_bytes(b"afterstate")
        probe.unlink()
    except OSError as error:
        raise CacheError(
            f"the cache directory {directory} can not be written ({error.strerror}): make it"
            " writable and not full, or set AFTERSTATE_DATA to a copy of the data directory"
        ) from error
    return directory


def sweep(directory: Path) -> None:
    """Remove half-written files that killed processes left."""
    for path in directory.glob(".*.tmp"):
        with contextlib.suppress(OSError):
            if time.time() - path.stat().st_mtime > SWEPT_AFTER:
                path.unlink()
