"""Consistent initial values for F(t, y, y') = 0: conditions, Newton's method, blocks, continuation, and a report worth reading."""

from .conditions import Conditions, Mode
from .initialiser import Initialised, Initialiser, initialise
from .options import Options
from .report import Attempt, FailedBlock, InitialisationError, Outcome, Report, Statistics
from .types import InitialProblem

__all__ = [
    "Attempt",
    "Conditions",
    "FailedBlock",
    "InitialProblem",
    "InitialisationError",
    "Initialised",
    "Initialiser",
    "Mode",
    "Options",
    "Outcome",
    "Report",
    "Statistics",
    "initialise",
]
