"""Sensitivities to a tolerance of their own: a run is made again with a tighter one until they no longer change.

The steps of a run are chosen for its solution; its sensitivities are followed along these steps, as accurate as they happen to be.
Two runs whose tolerances differ by ten say how accurate that is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import ModelError, UsageError

_FACTOR, _TIGHTEST = 0.1, 1e-12


def controlled(run: Callable[[float], Any], rtol: float, wanted: Any) -> Any:
    """The first of the results `run(rtol)`, `run(rtol / 10)`, … whose sensitivities differ from those before by less than `wanted`.

    `result.sensitivities.error` is that difference: of each sensitivity, as a part of its largest value over the run.
    """
    if isinstance(wanted, bool) or not isinstance(wanted, int | float) or not 1e-9 <= wanted < 1:
        raise UsageError(f"`sensitivities_rtol` is a relative tolerance such as 1e-5, got {wanted!r}.")
    before = run(rtol)
    while before.outcome.ok and rtol > 2 * _TIGHTEST:  # two runs of the same tolerance would agree, whatever they are worth
        rtol = max(rtol * _FACTOR, _TIGHTEST)
        found = run(rtol)
        if not found.outcome.ok:
            return found
        found.sensitivities.error = _difference(before, found)
        if found.sensitivities.error <= wanted:
            return found
        before = found
    if not before.outcome.ok:
        return before
    if before.sensitivities.error is None:
        raise UsageError(
            f"With rtol = {rtol:g} there is no tighter run that says how accurate the sensitivities are.",
            remedy="Give a larger `rtol`, or leave `sensitivities_rtol` out.",
        )
    change = before.sensitivities.error
    raise ModelError(
        f"The sensitivities are not found to {wanted:g}: with rtol = {rtol:g} they still change by {change:.1g}.",
        remedy="Ask for less: `sensitivities_rtol=…`. An event that comes or goes with a parameter has no derivative.",
    )


def longest_step(span: float, rtol: float, tighter: float, own: Any) -> Any:
    """What a run is given for `max_step`: where nothing moves no tolerance limits the steps, but sensitivities may move there.

    With each tighter run steps are at most a quarter of what they were, a quarter of the whole in the second.
    """
    runs = int(np.ceil(np.log10(rtol / tighter) - 1e-6))
    if runs < 1 or not np.isfinite(span) or not isinstance(own, int | float):
        return own
    limit = abs(span) * 0.25**runs
    return min(limit, own) if own > 0 else limit


def _difference(one: Any, other: Any) -> float:
    """At the times that both have; an event that is found a little earlier has other rows."""
    common, first, second = np.intersect1d(one.time, other.time, return_indices=True)
    a, b = one.sensitivities.data[first], other.sensitivities.data[second]
    if not len(common) or a.shape != b.shape:
        return float("inf")
    size = np.abs(b).max(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        apart = np.where(size > 0, np.abs(a - b).max(axis=0) / size, np.abs(a - b).max(axis=0))
    moving = size > 1e-9 * size.max(axis=0, initial=0.0)  # what a parameter hardly moves is noise
    return float(apart[moving].max(initial=0.0))
