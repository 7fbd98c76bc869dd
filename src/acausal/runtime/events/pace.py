"""How long the first step behind an event is: a part of the last one before it."""

from __future__ import annotations

from typing import Any

from .relations import SOON

RESTART = 0.1  # first step after an event, in steps before it


class Pace:
    """The step that restarts go by; a native session, which restarts by itself too, keeps it."""

    def __init__(self, session: Any, span: float) -> None:
        self.session, self.span = session, span
        self.step_before = 0.0  # the last step before a run was taken back
        self._own = 0.0

    @property
    def step(self) -> float:
        return float(getattr(self.session, "pace", self._own))

    @step.setter
    def step(self, step: float) -> None:
        if hasattr(self.session, "pace"):
            self.session.pace = step
        else:
            self._own = step

    @property
    def last_step(self) -> float:
        return float(self.session.last_step or self.step_before)

    def first_step(self, tied: bool) -> float:
        """Of a restart; an event soon after another must not make the next start slower still. `tied`: states are kept together by
        what is as good as derivatives."""
        self.step = max(self.last_step, 0.3 * self.step)
        return max(RESTART * self.step, tied * SOON * self.span)

    def if_restarted(self) -> float:
        """The same, if there was to be a restart."""
        return RESTART * max(self.last_step, 0.3 * self.step) or 1e-3 * self.span
