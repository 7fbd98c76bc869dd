"""What a session's `advance` returns, and what that means for a run; the numbers are those of native/ida.h."""

from __future__ import annotations

from enum import IntEnum

from .outcome import Outcome


class Status(IntEnum):
    FINISHED = 0
    ROOT = 1
    CANCELLED = 2
    STATES_DEGRADED = 3
    ASSIGNED = 4
    PAUSED = 5
    TIMED = 6
    TOO_MANY_STEPS = -1
    STEP_TOO_SMALL = -2
    ERROR_TEST = -3
    CONVERGENCE = -4
    SINGULAR = -5
    NOT_FINITE = -6
    TOO_MUCH_ACCURACY = -7
    FAILED = -8

    @property
    def outcome(self) -> Outcome:
        """How a run ended that ends with this; events have their own outcomes."""
        return Outcome[self.name]
