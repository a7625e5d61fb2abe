"""The papers: their claims, deviations and margins, and the verdict on each published value."""

from .claims import Claim, Deviation, Paper, all, keys, load, margin
from .compare import compare

__all__ = ["Claim", "Deviation", "Paper", "all", "compare", "keys", "load", "margin"]
