"""What a session's `advance` returns; the numbers are those of native/ida.h."""

from __future__ import annotations

from enum import IntEnum


class Status(IntEnum):
    FINISHED = 0
    ROOT = 1
    CANCELLED = 2
    STATES_DEGRADED = 3
    ASSIGNED = 4
    PAUSED = 5
