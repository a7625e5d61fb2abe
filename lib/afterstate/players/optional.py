"""Engines of others and packages that only tests use: both optional, and hidden on demand.

``AFTERSTATE_HIDE`` names what is treated as not installed, separated by commas, or ``all``: so the
whole library can be tried as on a machine that has none of it.
"""

import os

ENGINES = ("bitbully", "gtp-rhino", "edax")
ORACLES = ("jax", "pgx", "rust_reversi")  # independent rules of games; only tests import them


def hidden(name: str) -> bool:
    """Return whether one of `ENGINES` or `ORACLES` is to be treated as not installed.

    Raises
    ------
    ValueError
        If the environment variable AFTERSTATE_HIDE names something else.
    """
    named = {word.strip() for word in os.environ.get("AFTERSTATE_HIDE", "").split(",")} - {""}
    known = {"all", *ENGINES, *ORACLES}
    if not named <= known:
        raise ValueError(
            f"AFTERSTATE_HIDE names {', '.join(sorted(named - known))}; there are"
            f" {', '.join(sorted(known))}"
        )
    return bool(named & {"all", name})
