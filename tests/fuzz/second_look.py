"""A second look at a run that is further from the exact solution than runs mostly are: is it the model's condition, or is it wrong?

A step may be wrong in each state by what its test allows, ``rtol (|z| + 1)``; the exact solution carries that on and amplifies it:
where 2 F swing at 128 rad/s, 4 mV become an ampere. So a run is right if its error is below what its steps can add up to,
amplified as the exact solution does, and if it shrinks with the tolerance: that of a wrong model would stay.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import acausal as ac

FINER, SHRINKS = 1e-2, 0.1  # a tolerance that is so much smaller leaves this part of an error at most


def added_up(pieces: list[np.ndarray], weights: np.ndarray, shown: int) -> float:
    """What errors of steps in all pieces alike add up to in the first `shown` states, for each step and each unit of `rtol`.

    Each piece of the time carries a change at its start to its end; `weights` are those of the states at each start.
    """
    ends = np.zeros(len(pieces))
    for first, weight in enumerate(weights):
        flow = np.eye(len(weight))
        for end in range(first, len(pieces)):
            flow = pieces[end] @ flow
            ends[end] += float((np.abs(flow[:shown]) @ weight).max())
    return float(ends.max()) / len(pieces)


def is_condition(case: Any, form: str, result: Any, amplified: float, wrong: Callable[[Any], float]) -> bool:
    """Whether the error of a run, as `wrong` tells it, is one that its steps add up to, and shrinks with the tolerance."""
    options = case.options()
    if wrong(result) > result.statistics["steps"] * options["rtol"] * amplified:
        return False
    finer = ac.compile(case.build(form)).simulate(**options | {"rtol": FINER * options["rtol"]})
    return bool(finer.outcome.ok) and wrong(finer) < SHRINKS * wrong(result)
