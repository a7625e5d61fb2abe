"""Arguments of a verdict that can not be meant."""

import math


def check_arguments(margin, published_sem, published_runs, better, relation, exclusion_level):
    """Refuse what no published value can have; ValueError says what is wrong."""
    if relation not in ("=", ">", "<"):
        raise ValueError(f"relation is {relation!r}; it must be '=', '>' or '<'")
    if relation == "=" and not (margin is not None and 0 < margin < math.inf):
        raise ValueError(f"margin is {margin}; it must be positive and finite")
    if not 0 <= published_sem < math.inf:
        raise ValueError(
            f"published_sem is {published_sem}; it must be 0 (none printed) or positive"
        )
    if not 0 < exclusion_level < 1:
        raise ValueError(
            f"exclusion_level is {exclusion_level}; it must lie between 0 and 1, for example 0.95"
        )
    if published_runs is not None and published_runs < 2:
        raise ValueError(
            f"published_runs is {published_runs}; a standard error needs at least 2 runs, None if"
            " unknown"
        )
    if better not in (None, "higher", "lower"):
        raise ValueError(f"better is {better!r}; it must be 'higher', 'lower' or None")
