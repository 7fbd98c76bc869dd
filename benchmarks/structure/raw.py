"""A problem of the Test Set for IVP Solvers in its raw form, and the digits that a run reaches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import acausal as ac


@dataclass(frozen=True)
class RawProblem:
    """Residuals as published. `states` have given start values that hold; `others` are computed from guesses.

    `scale` is the absolute tolerance over the relative one, by unknown (1 where it is not mentioned), as in the test set's reports.
    """

    name: str
    residuals: Callable[..., Iterable[Any]]
    index: int
    degrees_of_freedom: int  # initial values that can be chosen
    states: Mapping[str, float]
    others: Mapping[str, float]
    end: float
    reference: Mapping[str, float]
    parameters: Mapping[str, float] = field(default_factory=dict)
    scale: Mapping[str, float] = field(default_factory=dict)

    def component(self) -> ac.Component:
        unknowns = {**self.states, **self.others}
        declared = {
            name: ac.Variable(start=value, fixed=name in self.states, nominal=self.scale.get(name, 1.0))
            for name, value in unknowns.items()
        }
        return ac.plain(self.residuals, y=declared, p=self.parameters)

    def digits(self, result: Any, names: Iterable[str] | None = None) -> float:
        """mescd: -log10 of the largest error relative to (atol/rtol + |reference|)."""
        worst = 1e-16
        for name in names or self.reference:
            exact = self.reference[name]
            error = abs(float(result[name][-1]) - exact) / (self.scale.get(name, 1.0) + abs(exact))
            worst = max(worst, error)
        return float(-np.log10(worst))
