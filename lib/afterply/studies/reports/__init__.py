"""Figures and pages; they need the extra ``plot``, notebooks ``study``."""

from ...checks import needs

needs("matplotlib", "plot")
