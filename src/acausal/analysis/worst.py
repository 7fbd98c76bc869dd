"""The worst case: how small and how large a number can be when parameters lie anywhere within intervals.

Both ends are optimisations with exact gradients, from the middle of the box and from the corner to which the gradient points there.
For a number that rises or falls with each parameter throughout, the corner is the exact answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import UsageError
from .fit import _bounds
from .optimise import Optimum, optimise

if TYPE_CHECKING:
    from ..model.model import Model


@dataclass(frozen=True, eq=False)
class WorstCase:
    """The `smallest` and the `largest` value, each an optimum with its `parameters` and `result`."""

    label: str
    smallest: Optimum
    largest: Optimum

    @property
    def interval(self) -> tuple[float, float]:
        return self.smallest.value, self.largest.value

    def __str__(self) -> str:
        lines = [f"{self.label}: {self.smallest.value:.6g} … {self.largest.value:.6g}"]
        for word, found in (("smallest", self.smallest), ("largest", self.largest)):
            lines.append(f"  {word} with " + ", ".join(f"{name} = {value:.6g}" for name, value in found.parameters.items()))
        return "\n".join(lines)


def worst_case(model: Model, output: Any, intervals: Mapping[str, Any], **options: Any) -> WorstCase:
    """How small and how large an output can be with parameters anywhere within intervals.

    found = ac.worst_case(model, ac.max("room.T"), {"wall.G": (40, 60), "P": ("0.9 kW", "1.1 kW")}, until="1 day")
    found.interval, found.largest.parameters

    `output` is a path (its final value) or a reduction; `options` are those of `model.optimise`: `until=…` or `steady=True`.
    """
    if not isinstance(intervals, Mapping):
        raise UsageError(f"Intervals by name were expected, got {intervals!r}.", remedy='{"wall.G": (40.0, 60.0)}')
    names, low, high = _bounds(model, intervals)
    open_ended = next((n for n, a, b in zip(names, low, high, strict=True) if not np.isfinite(b - a)), None)
    if open_ended is not None:
        raise UsageError(f"`{open_ended}` has no interval: give both ends.", remedy=f'{{"{open_ended}": (low, high)}}')
    over = dict(zip(names, zip(low.tolist(), high.tolist(), strict=True), strict=True))
    middle = dict(zip(names, ((low + high) / 2).tolist(), strict=True))
    found = [_end(model, output, over, middle, maximise, options) for maximise in (False, True)]
    return WorstCase(getattr(output, "label", output), *found)


def _end(model: Model, output: Any, over: dict[str, Any], middle: dict[str, float], maximise: bool, options: Any) -> Optimum:
    first = optimise(model, output, over, start=middle, maximise=maximise, **options)
    corner = {n: (high if first[n] >= middle[n] else low) for n, (low, high) in over.items()}
    second = optimise(model, output, over, start=corner, maximise=maximise, **options)
    better = second.value > first.value if maximise else second.value < first.value
    return second if better else first
