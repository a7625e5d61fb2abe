"""Studies: arms of runs, their records, resume, tables."""

from .profiles import opened
from .study import Study, attempt, check, solved
from .sweep import sweep

__all__ = ["Study", "attempt", "check", "opened", "solved", "sweep"]
