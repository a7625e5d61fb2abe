"""Studies: runs, records, resume, plan."""

from .study import Study, check

__all__ = ["Study", "check"]
