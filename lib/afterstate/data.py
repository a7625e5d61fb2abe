"""Where the study's data are: published values, n-tuple lists, parameter profiles, run records."""
import os
from pathlib import Path


def data_directory() -> Path:
    """Return the repository's ``data`` directory; ``AFTERSTATE_DATA`` overrides it.

    Raises
    ------
    FileNotFoundError
        If there is none; the message says where it was looked for.
    """
    chosen = os.environ.get("AFTERSTATE_DATA")
    path = Path(chosen).expanduser() if chosen else Path(__file__).resolve().parents[2] / "data"
    if not path.is_dir():
        raise FileNotFoundError(f"the data directory {path} does not exist: run from a checkout of the repository or set AFTERSTATE_DATA to its data folder")
    return path


def reports_directory() -> Path:
    """Return the directory for reports, beside ``data``; ``AFTERSTATE_REPORTS`` overrides it."""
    chosen = os.environ.get("AFTERSTATE_REPORTS")
    return Path(chosen).expanduser() if chosen else data_directory().parent / "reports"
