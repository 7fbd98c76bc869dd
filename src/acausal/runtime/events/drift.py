"""What is assigned after each step and changes by little, as a mean or a maximum does: it takes its place without an event."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...families.moments import is_kept
from ..problem import Floats

if TYPE_CHECKING:
    from .handler import Handler


def drifted(handler: Handler, t: float, y: Floats, yp: Floats, assigned: Floats) -> bool:
    """Whether what was assigned after a step changed by little, as a mean or a maximum does, and nobody acts because of it: no
    jump to begin anew for. The new values are in place then."""
    w, stepped = handler.w, handler.stepped
    before = w[stepped]
    if not (np.abs(assigned - before) <= 0.05 * np.maximum(np.abs(before), 1.0)).all():
        return False
    handler.load(t, y, yp)
    here, sides, rules = _acts(handler), handler.relations.side(w), handler.rules
    w[stepped] = assigned
    handler.assign()
    crossed = sides * rules.values("relation", w) < 0
    crossed[handler.relations.resting] = False
    if crossed.any() or not np.array_equal(here, _acts(handler), equal_nan=True):
        w[stepped] = before
        return False
    w[handler.partners] = w[handler.cells]
    handler.timed.look(w)
    return True


def _acts(handler: Handler) -> Floats:
    """What is done only where something happens, as far as values before and after differ at present."""
    part, rules, w = handler.hybrid.parts["update"], handler.rules, handler.w
    waits = np.zeros(part.count, dtype=bool)
    for block in part.blocks:
        own = block.rule.target is not None and block.rule.target.declaration.auxiliary
        waits[block.start : block.start + block.count] = own or is_kept(block.rule)
    found = [rules.values("update", w)[waits], *(rules.values(role, w) for role in ("reinit", "stop", "assertion"))]
    return np.concatenate(found)
