"""Relations that have no value for a while, told where somebody asks for them.

A relation without a value keeps the one it had (`runtime/gaps.py`); at a start it is false. Where others decide, as in
`(x > 0) & (log(x) > 3)` for a negative x, it does not matter, and nothing is said.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import Diagnostic, RunWarning, level_of_caller
from ..problem import Floats

if TYPE_CHECKING:
    from .handler import Handler

_ASKING = ("update", "reinit", "stop", "assertion", "relation", "timed", "crossing")  # roles that may read a relation
_MOST = 20  # that are looked at one by one where a run begins
_REMEDY = (
    "A root or logarithm of a negative number, or 0/0, has no value. Guard the condition, as in "
    "`(self.x > 0) & (ac.log(self.x) > 3)`, or compare what the function is of: `self.x > 20.1`."
)


class Undefined:
    """Those relations of a run that were seen without a value."""

    def __init__(self, handler: Handler) -> None:
        self.handler = handler
        self._told: set[int] = set()  # blocks of relations

    def at_start(self) -> list[Diagnostic]:
        """Those that have none where a run begins."""
        handler = self.handler
        rows = np.flatnonzero(np.isnan(handler.rules.values("relation", handler.w)))
        if not len(rows) or not self._matter(rows, handler.w):
            return []
        how = "at the start, and counts as false until it has one"
        return self._tell([(int(row), how) for row in rows[:_MOST] if self._matter(rows[rows == row], handler.w)])

    def seen(self, session: Any) -> list[Diagnostic]:
        """Those that a session met on its way."""
        found = []
        for row, t, w in session.take_silent():
            if self._block(row) not in self._told and self._matter(np.array([row]), w):
                was = "true" if w[self.handler.relations.cells[row]] else "false"
                unit = self.handler.problem.lowered.system.plant.independent[1]
                found.append((row, f"at {t:.6g} {unit}, and counts as {was}, as it was last, until it has one again"))
        return self._tell(found)

    def _tell(self, rows: list[tuple[int, str]]) -> list[Diagnostic]:
        """Each condition that was written is told once, of the first component in which it has no value."""
        found = []
        for row, how in rows:
            block = self._block(row)
            if block not in self._told:
                self._told.add(block)
                place = self.handler.problem.lowered.system.describe_rule("relation", row)
                found.append(replace(place, what=f"A condition has no value {how}.", remedy=_REMEDY))
                warnings.warn(str(found[-1]), RunWarning, stacklevel=level_of_caller())
        return found

    def _block(self, row: int) -> int:
        return self.handler.hybrid.parts["relation"].block(row).start

    def _matter(self, rows: np.ndarray, w: Floats) -> bool:
        """Whether something would be otherwise if these relations had just become true."""
        false, true = self._consequences(rows, w, 0.0), self._consequences(rows, w, 1.0)
        return not np.array_equal(false, true, equal_nan=True)

    def _consequences(self, rows: np.ndarray, w: Floats, value: float) -> Floats:
        handler, problem, n = self.handler, self.handler.problem, self.handler.n
        cells, known = handler.relations.cells[rows], w[2 * n :].copy()
        known[handler.partners[np.isin(handler.cells, cells)] - 2 * n] = 0.0
        known[cells - 2 * n] = value
        t, y, yp = float(w[problem.time_index]), w[:n], w[n : 2 * n]
        with np.errstate(all="ignore"):
            there = problem.equations.workspace(t, y, yp, known)
            asked = [handler.rules.values(role, there) for role in _ASKING if handler.rules.counts[role]]
            return np.concatenate([problem.residual(t, y, yp, known=known), *asked])
