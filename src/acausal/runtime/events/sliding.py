"""Sliding along a switching surface (Filippov): where the equations of both sides drive back to it, a mixture of them stays on it.

Of a relation that may slide, the share of its first branch is an unknown (`families/hybrid.py`). When the relation has switched and
the slope of its crossing function on the new side points back, the solution begins to slide. It leaves when the share that keeps
it on the surface is no longer between 0 and 1: then one side alone carries it away.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..problem import Floats

if TYPE_CHECKING:
    from .handler import Handler, Happening, Solve

_DECAY = 1000.0  # of a deviation from the surface, in lengths of the run


class Sliding:
    """The relations of a run that may slide."""

    def __init__(self, handler: Handler, span: float) -> None:
        hybrid, n = handler.hybrid, handler.n
        self.handler = handler
        self.flags = 2 * n + hybrid.parts["slide_slope"].targets
        self.cells = 2 * n + hybrid.parts["slide_share"].targets
        handler.w[2 * n + hybrid.parts["slide_decay"].targets] = _DECAY / span
        place = {int(cell): row for row, cell in enumerate(handler.relations.cells)}
        self.rows = np.array([place[int(c)] for c in self.cells], dtype=np.intp)
        self.count = len(self.flags)
        self.began: list[float] = []

    def still(self) -> np.ndarray:
        """Rows of relations that rest because the solution slides along them."""
        return self.rows[self.handler.w[self.flags] > 0]

    def after(self, found: Happening, t: float, y: Floats, yp: Floats, solve: Solve) -> bool:
        """Begin or end sliding after an event has been dealt with; False if the equations could not be solved."""
        if not self.count:
            return True
        changed = self._leave() | self._enter(found)
        if not changed:
            return True
        found.restart = True
        if not solve(t, y, yp):
            found.failure = "unsolvable"
            return False
        self.handler.load(t, y, yp)
        found.after = self.handler.w[self.handler.cells]
        return True

    def _leave(self) -> bool:
        w = self.handler.w
        share = self.handler.rules.values("slide_share", w)
        over = (w[self.flags] > 0) & ((share <= 0) | (share >= 1))
        w[self.flags[over]] = 0.0
        w[self.cells[over]] = (share[over] > 0.5).astype(float)
        self.handler.relations.renew(w)
        return bool(over.any())

    def _enter(self, found: Happening) -> bool:
        """Those that switched, and whose crossing function turns back at once."""
        w, relations = self.handler.w, self.handler.relations
        switched = {row for role, row in found.causes if role == "relation"}
        candidates = np.array([k for k, row in enumerate(self.rows) if int(row) in switched], dtype=np.intp)
        if not len(candidates):
            return False
        slope = self.handler.rules.values("slide_slope", w)[candidates]
        back = candidates[(slope * relations.side(w)[self.rows[candidates]] < 0) & (w[self.flags[candidates]] == 0)]
        w[self.flags[back]] = 1.0
        return bool(len(back))
