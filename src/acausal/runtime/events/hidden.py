"""Jumps within functions, passed as IDA Solver passes them (4.8): one evaluation close on either side, initial values after it.

Of a function that the user wrote nobody sees where it jumps; `ac.crossing(…, kind="jump")` says where. If an algebraic unknown
jumps with it, no step of the integrator ends beyond the crossing, and none ends right on it: steps fail until time stands still
just before it. From there a crossing that is ahead by next to nothing is passed along the slopes of the states.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..problem import Floats
from ..status import Status

if TYPE_CHECKING:
    from .handler import Handler

FAILED = (Status.CONVERGENCE, Status.ERROR_TEST, Status.STEP_TOO_SMALL, Status.NOT_FINITE, Status.SINGULAR)
_AHEAD = 1e-6  # of the span: a crossing that is further away is not what made a step fail
_BEYOND = 1e-13  # of the time: how far behind the crossing


class HiddenJumps:
    """Crossings of kind "jump"."""

    def __init__(self, handler: Handler, span: float) -> None:
        part = handler.hybrid.parts["crossing"]
        kinds = [(block, block.rule.detail.split()) for block in part.blocks]
        self.handler, self.span = handler, span
        self.sense = np.full(part.count, np.nan)  # of crossings: +1 rising, -1 falling, 0 both; not a number: no jump
        for block, (direction, kind) in kinds:
            if kind == "jump":
                self.sense[block.start : block.start + block.count] = {"rising": 1.0, "falling": -1.0}.get(direction, 0.0)
        self.any = bool(np.isfinite(self.sense).any())

    def ahead(self, t: float, y: Floats, yp: Floats) -> tuple[float, Floats, np.ndarray] | None:
        """Time and unknowns just beyond the next crossing, and the roots as a solver would tell them; None: there is none near."""
        if not self.any:
            return None
        size = max(abs(t), self.span)
        now, probe = self._values(t, y, yp), _AHEAD * 1e-3 * size
        slope = (self._values(t + probe, *self._moved(y, yp, probe)) - now) / probe
        with np.errstate(divide="ignore", invalid="ignore"):
            distance = np.where(np.isfinite(self.sense) & (self.sense * slope >= 0), -now / slope, np.nan)
        near = np.flatnonzero((distance >= -_BEYOND * size) & (distance <= _AHEAD * self.span))
        if not len(near):
            return None
        step, first = max(0.0, float(distance[near].min())), _BEYOND * size
        while first < _AHEAD * self.span:
            there = self._moved(y, yp, step + first)
            passed = np.flatnonzero(self._values(t + step + first, *there)[near] * slope[near] > 0)
            if len(passed):
                roots = np.zeros(self.handler.relations.count + len(now), dtype=np.int32)
                roots[self.handler.relations.count + near[passed]] = np.sign(slope[near[passed]]).astype(np.int32)
                return t + step + first, there[0], roots
            first *= 4
        return None

    def _moved(self, y: Floats, yp: Floats, step: float) -> tuple[Floats, Floats]:
        return np.where(self.handler.problem.differential, y + step * yp, y), yp

    def _values(self, t: float, y: Floats, yp: Floats) -> Floats:
        self.handler.load(t, y, yp)
        return self.handler.rules.values("crossing", self.handler.w)
