"""Sensitivities to a tolerance of their own: a run is made again with a tighter one until they no longer change.

The steps of a run are chosen for its solution; its sensitivities are followed along these steps, as accurate as they happen to be.
Two runs whose tolerances differ by ten say how accurate that is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import ModelError, UsageError
from ..runtime.storage import seconds

if TYPE_CHECKING:
    from ..model.model import Model
    from ..results.result import Result

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


def runs_of(model: Model, asked: Mapping[str, Any]) -> Callable[[float], Result]:
    """Runs of a model, as `simulate` was asked, with tolerances that are given.

    Where nothing moves no tolerance limits the steps, but sensitivities may move there: with each tighter run steps are at most a
    quarter of what they were, a quarter of the whole in the second.
    """
    over, rtol, own = model.system.plant.independent[1], asked["rtol"], asked.get("max_step", 0.0)
    span = abs(seconds(asked["until"], "until", over) - seconds(asked["start"], "start", over))

    def run(tighter: float) -> Result:
        before, longest = int(np.ceil(np.log10(rtol / tighter) - 1e-6)), own
        if before and np.isfinite(span) and isinstance(own, int | float):  # what else it is `simulate` tells
            longest = min(span * 0.25**before, own or np.inf)
        return model.simulate(**{**asked, "rtol": tighter, "max_step": longest, "on_failure": "keep"})

    return run


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
