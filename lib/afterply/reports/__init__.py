"""Figures and pages; they need the extra ``study``."""

from ..checks import needs

needs("matplotlib", "study")
