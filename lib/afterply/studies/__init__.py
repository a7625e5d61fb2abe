"""Studies: arms of runs, their records, resume, tables."""

from .profiles import opened
from .question import again, variant
from .study import Study, attempt, check, solved
from .sweep import sweep

__all__ = ["Study", "again", "attempt", "check", "opened", "solved", "sweep", "variant"]
__all__ += ["evaluators", "papers"]
