"""Studies: arms of runs, their records, resume, tables."""

from .profiles import check_parameters, given
from .study import Study, check
from .sweep import sweep

__all__ = ["Study", "check", "check_parameters", "given", "sweep"]
