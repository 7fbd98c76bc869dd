"""Periodic states along the frequency of the forcing: shooting, followed by arc length.

Start values x and the frequency f satisfy G(x, f) = x(1/f; x, f) - x = 0. Runs over one period give G, and their sensitivities its
derivatives, exactly: the monodromy matrix less one, and ∂x/∂f - x'(1/f)/f². The curve may turn back (`arclength.py`). Of a smooth
model it is the curve of a harmonic balance with very many harmonics; here events are no obstacle, and stability is known.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csc_array

from ..errors import ModelError
from .arclength import OnCurve, Tracer
from .continuation import frequencies
from .periodic import periodic_state

if TYPE_CHECKING:
    import os

    from matplotlib.figure import Figure

    from ..model.model import Model

_FIRST, _FOUND = 0.05, 1e-6  # the first step; Newton's tolerance, which the runs must allow: both in sizes of what moves


@dataclass(eq=False)
class Shooting:
    """What a period makes of start values, with the frequency free (see `arclength.Equations`)."""

    model: Model
    frequency: str
    states: tuple[str, ...]
    changes: dict[str, Any]
    options: dict[str, Any]
    scale: np.ndarray
    _latest: tuple[bytes, Any] = field(default=(b"", None))

    def run(self, u: np.ndarray, parameter: float) -> Any:
        """One period; the latest is kept, since values and derivatives are asked for at the same point."""
        key = np.append(u, parameter).tobytes()
        if self._latest[0] != key:
            here = {**self.changes, **dict(zip(self.states, u.tolist(), strict=True)), self.frequency: parameter}
            asked = {"sensitivities": [*self.states, self.frequency], "points": 65, "on_failure": "raise", **self.options}
            self._latest = key, self.model.simulate(1.0 / parameter, set=here, **asked)
        return self._latest[1]

    def residual(self, u: np.ndarray, parameter: float) -> np.ndarray:
        if not parameter > 0:
            return np.full(len(u), np.nan)
        try:
            run = self.run(u, parameter)
        except ModelError:  # the step along the curve is shortened
            return np.full(len(u), np.nan)
        return np.array([float(run.values_of(name)[-1]) for name in self.states]) - u

    def monodromy(self, u: np.ndarray, parameter: float) -> np.ndarray:
        run = self.run(u, parameter)
        return np.array([run.sensitivities.of(name)[-1, :-1] for name in self.states])

    def jacobian(self, u: np.ndarray, parameter: float) -> csc_array:
        return csc_array(self.monodromy(u, parameter) - np.eye(len(u)))

    def slope(self, u: np.ndarray, parameter: float) -> np.ndarray:
        run = self.run(u, parameter)
        later = np.array([float(run.values_of(f"der({name})")[-1]) for name in self.states])
        return np.array([run.sensitivities.of(name)[-1, -1] for name in self.states]) - later / parameter**2


@dataclass(eq=False)
class PeriodicBranch:
    """Periodic states along the frequency: `frequencies`, `stable`, `folds`, `amplitude("x")`, `orbit(k)`, `plot("x")`."""

    shooting: Shooting
    points: list[OnCurve]
    folds: tuple[float, ...]

    def __len__(self) -> int:
        return len(self.points)

    def __repr__(self) -> str:
        low, high = self.frequencies.min(), self.frequencies.max()
        folds = f", folds at {', '.join(f'{f:.5g}' for f in self.folds)} Hz" if self.folds else ""
        return f"<PeriodicBranch of {len(self)} periodic states, {low:g} … {high:g} Hz{folds}>"

    @property
    def frequencies(self) -> np.ndarray:
        return np.array([p.parameter for p in self.points])

    @property
    def multipliers(self) -> np.ndarray:
        """Floquet's, a row for each periodic state."""
        return np.array([np.linalg.eigvals(self.shooting.monodromy(p.u, p.parameter)) for p in self.points])

    @property
    def stable(self) -> np.ndarray:
        """Whether small disturbances of each state die out."""
        return np.asarray(np.abs(self.multipliers).max(axis=1) < 1.0)

    def orbit(self, number: int) -> Any:
        """The result of one period."""
        point = self.points[number]
        return self.shooting.run(point.u, point.parameter)

    def amplitude(self, name: str) -> np.ndarray:
        """Half the distance between the largest and the smallest value over a period, at each frequency."""
        orbits = (self.orbit(k) for k in range(len(self)))
        return np.array([(orbit.extreme_of(name) - orbit.extreme_of(name, highest=False)) / 2 for orbit in orbits])

    def plot(self, name: str, file: str | os.PathLike[str] | None = None) -> Figure:
        """The amplitude over the frequency, folds marked."""
        from .pictures import response_picture

        return response_picture(self, name, file)


def periodic_states(
    model: Model,
    frequency: str,
    between: Iterable[float],
    *,
    settle: int = 30,
    set: Mapping[str, Any] | None = None,
    rtol: float = 1e-9,
    most: int = 500,
    largest_step: float = 0.2,
    **options: Any,
) -> PeriodicBranch:
    """See `Model.periodic_states`."""
    low, high = frequencies(model, frequency, between)
    changes = dict(set or {})
    first = periodic_state(model, 1.0 / low, settle=settle, set={**changes, frequency: low}, rtol=rtol, **options)
    states = tuple(first.start)
    wide = np.array([float(np.ptp(first[name])) for name in states])
    size = np.append(np.where(wide > 0, wide, 1.0), abs(high - low))
    shooting = Shooting(model, frequency, states, changes, {"rtol": rtol, **options}, size)
    tracer, folds = Tracer(shooting, tolerance=_FOUND), list[float]()
    start = tracer.first(np.array(list(first.start.values())), low, 1.0 if high > low else -1.0)

    def seen(here: OnCurve, there: OnCurve) -> None:
        if here.tangent[-1] * there.tangent[-1] < 0:
            step = float((there.z - here.z) @ here.tangent)
            found = tracer.located(here, step, lambda p: float(p.tangent[-1]))
            folds.append(there.parameter if found is None else found.parameter)

    points = tracer.follow(start, min(low, high), max(low, high), most, _FIRST, largest_step * np.sqrt(len(states)), seen)
    return PeriodicBranch(shooting, points, tuple(folds))
