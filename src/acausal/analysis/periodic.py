"""Periodic steady states by shooting: start values x with which a period ends where it began.

Newton's method on x(T; x) - x = 0; the derivative is the monodromy matrix, from forward sensitivities by all start values
(`sensitivity.py`). Its eigenvalues are the Floquet multipliers: the orbit is stable when all are within the unit circle (but for
the one that is 1 of an oscillation without forcing, whose period is unknown and found too).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import ModelError, UsageError
from ..runtime.histories import refuse_delays
from ..runtime.storage import seconds

if TYPE_CHECKING:
    from ..model.model import Model

_ITERATIONS = 30


@dataclass(frozen=True, eq=False)
class PeriodicState:
    """One period (`result`), its length (`period`), the start values (`start`) and the Floquet `multipliers`."""

    result: Any
    period: float
    start: dict[str, float]
    multipliers: np.ndarray
    forced: bool
    iterations: int

    @property
    def stable(self) -> bool:
        """Whether small disturbances die out."""
        others = self.multipliers if self.forced else np.delete(self.multipliers, np.argmin(np.abs(self.multipliers - 1.0)))
        return bool(np.abs(others).max(initial=0.0) < 1.0)

    def __getitem__(self, name: str) -> np.ndarray:
        return np.asarray(self.result.values_of(name))

    def __repr__(self) -> str:
        length = f"{self.period:g} {self.result.unit('time') or 's'}"
        return f"<PeriodicState of {length}, {'stable' if self.stable else 'unstable'}, {self.iterations} iterations>"


def periodic_state(
    model: Model,
    period: float | str,
    *,
    forced: bool = True,
    start: Mapping[str, float] | None = None,
    settle: int = 5,
    set: Mapping[str, Any] | None = None,
    rtol: float = 1e-8,
    **options: Any,
) -> PeriodicState:
    """See `Model.periodic_state`."""
    refuse_delays(model.program.system, "A periodic state")
    ours = next((name for name in ("points", "at", "every", "sensitivities") if name in options), None)
    if ours is not None:
        raise UsageError(
            f"`{ours}` is no option of a periodic state: its run is one period with 201 points.", remedy=f"Leave `{ours}` out."
        )
    length = float(seconds(period, "period", model.system.plant.independent[1]))
    if not length > 0:
        raise UsageError(f"A period is positive, got {period!r}.")
    changes, asked = dict(set or {}), {"rtol": rtol, "on_failure": "raise", **options}
    if settle:
        run = model.simulate(settle * length, set={**changes, **(start or {})}, points=2, **asked)
    else:
        run = model.simulate(1e-6 * length, set={**changes, **(start or {})}, points=2, **asked)
    problem = model.problem
    states = np.flatnonzero(problem.differential)
    if not len(states):
        raise UsageError("The model has no states, so that there is nothing to find.")
    names = [problem.name_of_unknown(int(k)) for k in states]
    size, row = problem.nominal[states], -1 if settle else 0
    x = np.array([float(np.asarray(run.values_of(n))[row]) for n in names])
    for iteration in range(1, _ITERATIONS + 1):
        here = dict(zip(names, x.tolist(), strict=True))
        run = model.simulate(length, set={**changes, **here}, points=201, sensitivities=names, **asked)
        end = np.array([float(np.asarray(run.values_of(n))[-1]) for n in names])
        monodromy = np.array([run.sensitivities.of(n)[-1] for n in names])
        gap = end - x
        wide = np.array([float(np.ptp(np.asarray(run.values_of(n)))) for n in names])
        if (np.abs(gap) <= rtol * (100 * np.maximum(size, wide) + 10 * np.minimum(np.abs(x), 1e3 * size))).all():
            return PeriodicState(run, length, here, np.linalg.eigvals(monodromy), forced, iteration)
        matrix = monodromy - np.eye(len(x))
        if forced:
            x = x - _solved(matrix, gap)
        else:
            slopes = [np.asarray(run.values_of(f"der({n})")) for n in names]
            last, first = (np.array([s[k] for s in slopes]) for k in (-1, 0))
            whole = np.block([[matrix, last[:, None]], [(first / size**2)[None, :], np.zeros((1, 1))]])
            change = _solved(whole, np.append(gap, 0.0))
            x, length = x - change[:-1], length - float(change[-1])
            if not length > 0:
                break
    raise ModelError(
        f"No periodic state was found: after {_ITERATIONS} periods the model still does not come back to where it began.",
        remedy="Let it settle longer (`settle=50`), give `start` values near the orbit, or another period.",
    )


def _solved(matrix: np.ndarray, right: np.ndarray) -> np.ndarray:
    try:
        return np.asarray(np.linalg.solve(matrix, right))
    except np.linalg.LinAlgError:
        return np.asarray(np.linalg.lstsq(matrix, right, rcond=None)[0])
