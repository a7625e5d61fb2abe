"""Studies: arms of runs, their records, resume, tables."""

from .profiles import check_parameters, given
from .study import Study, attempt, check, solved
from .sweep import sweep

__all__ = ["Study", "attempt", "check", "check_parameters", "given", "solved", "sweep"]
