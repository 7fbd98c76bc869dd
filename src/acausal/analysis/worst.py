"""The worst case: how small and how large a number can be when parameters lie anywhere within intervals.

Both ends are optimisations with exact gradients, from the middle of the box and from the best of its corners and of points within.
For a number that rises or falls with each parameter throughout, a corner is the exact answer; one with many hills and valleys may
have a higher hill than those that the points saw.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arguments import checked, refuse_other_than
from ..errors import UsageError
from .fit import _bounds
from .optimise import Optimum, optimise

if TYPE_CHECKING:
    from ..model.model import Model

_FEW, _POINTS = 5, 32  # parameters whose corners are all looked at; points within the box
_OF_OPTIMISE = ("subject_to", "tolerance", "method")


@dataclass(frozen=True, eq=False)
class WorstCase:
    """The `smallest` and the `largest` value, each an optimum with its `parameters` and `result`."""

    label: str
    smallest: Optimum
    largest: Optimum

    @property
    def interval(self) -> tuple[float, float]:
        return self.smallest.value, self.largest.value

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        lines = [f"{self.label}: {self.smallest.value:.6g} … {self.largest.value:.6g}"]
        for word, found in (("smallest", self.smallest), ("largest", self.largest)):
            lines.append(f"  {word} with " + ", ".join(f"{name} = {value:.6g}" for name, value in found.parameters.items()))
        return "\n".join(lines)


@checked
def worst_case(model: Model, output: Any, intervals: Mapping[str, Any], **options: Any) -> WorstCase:
    """How small and how large an output can be with parameters anywhere within intervals.

    found = ac.worst_case(model, ac.max("room.T"), {"wall.G": (40, 60), "P": ("0.9 kW", "1.1 kW")}, until="1 day")
    found.interval, found.largest.parameters

    `output` is a path (its final value) or a reduction; `options` are those of `model.optimise`: `until=…` or `steady=True`.
    """
    refuse_other_than("a compiled model", model)
    if not isinstance(intervals, Mapping):
        raise UsageError(f"Intervals by name were expected, got {intervals!r}.", remedy='{"wall.G": (40.0, 60.0)}')
    names, low, high = _bounds(model, intervals)
    open_ended = next((n for n, a, b in zip(names, low, high, strict=True) if not np.isfinite(b - a)), None)
    if open_ended is not None:
        raise UsageError(f"`{open_ended}` has no interval: give both ends.", remedy=f'{{"{open_ended}": (low, high)}}')
    over = dict(zip(names, zip(low.tolist(), high.tolist(), strict=True), strict=True))
    middle = dict(zip(names, ((low + high) / 2).tolist(), strict=True))
    seen = _looked_at(model, output, over, {k: v for k, v in options.items() if k not in _OF_OPTIMISE})
    found = [_end(model, output, over, [middle, *seen[maximise]], maximise, options) for maximise in (False, True)]
    return WorstCase(getattr(output, "label", output), *found)


def _looked_at(model: Model, output: Any, over: dict[str, Any], options: dict[str, Any]) -> tuple[list[Any], list[Any]]:
    """Where an output is the smallest and where the largest, of the corners of the box (if they are few) and of points within."""
    from scipy.stats import qmc

    corners = list(itertools.product(*over.values())) if len(over) <= _FEW else []
    low, high = np.array(list(over.values())).T
    within = low + (high - low) * qmc.LatinHypercube(len(over), seed=0).random(_POINTS)
    cases = [dict(zip(over, map(float, point), strict=True)) for point in (*corners, *within)]
    values = model.study(cases, {"output": output}, **options)["output"]
    good = np.flatnonzero(np.isfinite(values))
    order = good[np.argsort(values[good], kind="stable")]
    return [cases[k] for k in order[:1]], [cases[k] for k in order[-1:]]


def _end(model: Model, output: Any, over: dict[str, Any], starts: list[Any], maximise: bool, options: Any) -> Optimum:
    found = [optimise(model, output, over, start=start, maximise=maximise, **options) for start in starts]
    return (max if maximise else min)(found, key=lambda each: each.value)
