"""Relations that an event turns back: a ball falls below the floor, `reinit` gives it a speed upwards, and it falls again.

Let g be the function of a relation that has just changed sides, counted positive on the side it is on now, and g = d > 0 there,
which is the width of its bands. The event leaves a rate g' <= 0, and along the solution g'' > 0. Then g is back after a time
2 |g'| / g'', and came down by g'^2 / (2 g'') meanwhile. If that is less than d, the relation never gets its former value again, no
later bounce is an event, and what was to be held off passes through. Nothing says so, unless it is told here. If it is more, the
relation changes sides twice within that time, and the first step has to end within it.

An event that does not turn g back (g' > 0, a tank that is drained further) is none of these, nor is one after which g stays
(g' = g'' = 0).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..problem import Floats

if TYPE_CHECKING:
    from .handler import Handler, Happening

STILL = 1e-9  # of a rate before the event: next to it another one is zero
ALIKE = 1.5  # by such a factor a bend may depend on the way over which it is seen: else it is of what dies out at once
FIXED = 3.0  # steps that cannot be shorter: to a first one of order one a flight is half as long as it is
MARGIN = 1.5  # a flight that comes down by so much more than d is sure to be seen


class Turned:
    """What an event turned back: causes that come to rest, and the time until the first of the others is back."""

    def __init__(self, step: float = 0.0) -> None:
        self.step = step  # as short as a solver's are at least
        self.resting: list[tuple[str, int]] = []
        self.flight = np.inf

    def look(self, handler: Handler, happening: Happening, session: Any, y: Floats, yp: Floats) -> None:
        """y and y' are those after the event; the session is where it was before."""
        self.resting, self.flight = [], np.inf
        relations = handler.relations
        rows = np.unique([row for role, row in happening.causes if role == "relation"]).astype(np.intp)
        if not happening.states_set or happening.failure or happening.stop or not len(rows) or not handler.soon > 0:
            return
        before = dict(zip(handler.cells.tolist(), happening.before.tolist(), strict=True))
        changed = np.array([before[int(c)] != handler.w[c] for c in relations.cells[rows]], dtype=bool)
        side, width = relations.side(handler.w)[rows], np.abs(handler.w[relations.bands[rows]])
        distance = side * handler.rules.values("relation", handler.w)[rows]
        near = changed & (distance <= 16 * np.maximum(width, relations.narrow[rows]))
        if not near.any():
            return
        t = happening.t
        rate = side * _rates(handler, t, y, yp)[0][rows]
        near &= rate <= STILL * np.abs(_rates(handler, t, session.y, session.yp)[0][rows])
        if not near.any():
            return
        bends = [side * bend[rows] for bend in _bends(handler, t, y, yp)]
        if len(bends) < 2:
            return
        down, other = bends
        near &= (down > 0) & (other > 0) & (down <= ALIKE * other) & (other <= ALIKE * down)
        for k in np.flatnonzero(near):
            up = max(0.0, -float(rate[k]))
            flight = 2 * up / float(down[k])
            if up * up <= 2 * down[k] * MARGIN * max(0.0, float(distance[k])) or flight <= FIXED * self.step:
                self.resting.append(("relation", int(rows[k])))
            else:
                self.flight = min(self.flight, flight)


def _rates(
    handler: Handler, t: float, y: Floats, yp: Floats, way: float = 0.0, bend: Floats | float = 0.0
) -> tuple[Floats, Floats]:
    """First and second derivatives of relations' functions by time, where states go along y' and `bend`."""
    way = way or handler.soon
    here, moves = handler.w.copy(), handler.problem.differential
    found = []
    with np.errstate(all="ignore"):
        for ahead in (-way, 0.0, way):
            handler.load(t + ahead, y + np.where(moves, ahead * yp + 0.5 * ahead**2 * bend, 0.0), yp)
            found.append(handler.rules.values("relation", handler.w).copy())
        handler.w[:] = here
        return (found[2] - found[0]) / (2 * way), (found[0] - 2 * found[1] + found[2]) / way**2


def _bends(handler: Handler, t: float, y: Floats, yp: Floats) -> list[Floats]:
    """How fast the rates of relations' functions change after the event, seen over two ways."""
    found = []
    for way in (handler.soon, handler.soon / 8):
        there, slopes = y + np.where(handler.problem.differential, way * yp, 0.0), yp.copy()
        if not handler.complete(t + way, there, slopes):
            break
        found.append(_rates(handler, t, y, yp, way, (slopes - yp) / way)[1])
    return found
