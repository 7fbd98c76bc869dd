"""The first step into a narrow peak of a table (`language/peaks.py`).

The integration stops where the argument meets the peak. It must not go on with a step that passes over the rest of it: how long the
argument takes to the next of the peak's places follows from the slopes, and the first step is a part of that. From then on the
error test sees the peak.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..problem import Floats

if TYPE_CHECKING:
    from ...families.hybrid import Part
    from .handler import Handler, Happening

_PART = 0.25  # of the way to the peak's next place


def first_step(handler: Handler, happening: Happening, y: Floats, yp: Floats, usual: float) -> float:
    """The usual first step, or a shorter one where the event is the beginning of a peak, or its top."""
    part = handler.hybrid.parts["crossing"]
    rows = [other for role, row in happening.causes if role == "crossing" for other in _of_the_same_peak(part, row)]
    if not rows:
        return usual
    here, later = (handler.crossings(happening.t, y, yp, after)[rows] for after in (0.0, handler.soon))
    rates = (later - here) / handler.soon
    ahead = here * rates < 0
    return min([usual, *(_PART * np.abs(here[ahead] / rates[ahead])).tolist()])


def _of_the_same_peak(part: Part, row: int) -> list[int]:
    """Crossings at the other places of a table for the same argument."""
    met = part.block(row)
    if not met.rule.detail.endswith("peak"):
        return []
    alike = [b for b in part.blocks if b is not met and b.kind is met.kind and b.count == met.count]
    same = [b for b in alike if (b.rule.text, b.rule.location) == (met.rule.text, met.rule.location)]
    return [b.start + row - met.start for b in same]
