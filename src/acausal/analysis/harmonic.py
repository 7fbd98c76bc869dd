"""Periodic answers to periodic forcing: harmonic balance, followed over the frequency by arc length.

Every unknown is a Fourier series y(t) = Σ c_k b_k(ωt) with some harmonics. The equations F(t, y, y') = 0 hold in the mean with each
of the basis functions over one period (Galerkin), evaluated at enough samples that products of harmonics do not fold back. What
is left is F(c, ω) = 0, a curve that may turn back at resonances (`arclength.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csc_array, eye_array, kron
from scipy.sparse.linalg import splu

from ..errors import ModelError, UsageError
from ..families.plant import TIME
from ..program.evaluator import Evaluator
from ..program.rows import Stored
from ..runtime.histories import refuse_delays
from ..runtime.preparation import Beginning
from .arclength import OnCurve, Tracer
from .continuation import AtRest, frequencies

if TYPE_CHECKING:
    import os

    from matplotlib.figure import Figure

    from ..model.model import Model

_SETTLING = 60  # periods that are simulated to find a first answer
_FINE = 64  # points of a period at least, between which extreme values lie on parabolas
_STEP = 1e-6  # of the frequency, for derivatives by it


class Balance:
    """Fourier coefficients of all unknowns, with the frequency free (see `arclength.Equations`)."""

    def __init__(self, at: AtRest, harmonics: int, samples: int) -> None:
        self.at, self.n, self.samples, self.harmonics = at, at.problem.size, samples, harmonics
        self.basis, self.slopes = _waves(harmonics, samples)
        self.project = np.linalg.pinv(self.basis)
        self.count = self.basis.shape[1]
        one = eye_array(self.n, format="csr")
        self._values, self._rates, self._means = (kron(m, one, format="csr") for m in (self.basis, self.slopes, self.project))
        self.scale = np.ones(self.n * self.count + 1)

    def trajectories(self, u: np.ndarray, frequency: float, samples: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Times, unknowns and derivatives at the samples of one period, or at as many points as are asked for."""
        c, count = u.reshape(self.count, self.n), samples or self.samples
        basis, slopes = (self.basis, self.slopes) if count == self.samples else _waves(self.harmonics, count)
        return np.arange(count) / (count * frequency), basis @ c, 2 * np.pi * frequency * (slopes @ c)

    def residual(self, u: np.ndarray, parameter: float) -> np.ndarray:
        times, y, yp = self.trajectories(u, parameter)
        known, problem = self.at.at(parameter), self.at.problem
        with np.errstate(all="ignore"):
            rows = np.array([problem.residual(float(t), a, b, known=known) for t, a, b in zip(times, y, yp, strict=True)])
        return np.asarray(self._means @ rows.ravel())

    def jacobian(self, u: np.ndarray, parameter: float) -> csc_array:
        times, y, yp = self.trajectories(u, parameter)
        known, problem = self.at.at(parameter), self.at.problem
        found = [problem.partials(float(t), a, b, known=known) for t, a, b in zip(times, y, yp, strict=True)]
        by_value, by_slope = (self._diagonal(np.concatenate(values)) for values in zip(*found, strict=True))
        return csc_array(self._means @ (by_value @ self._values + 2 * np.pi * parameter * (by_slope @ self._rates)))

    def _diagonal(self, values: np.ndarray) -> csc_array:
        """Matrices of all samples, one after the other on the diagonal."""
        indptr, indices = self.at.problem.pattern
        count, size = self.samples, self.n * self.samples
        rows = (np.arange(count)[:, None] * self.n + indices).ravel()
        starts = np.append((np.arange(count)[:, None] * len(indices) + indptr[:-1]).ravel(), count * len(indices))
        return csc_array((values, rows, starts), shape=(size, size))

    def slope(self, u: np.ndarray, parameter: float) -> np.ndarray:
        h = _STEP * abs(parameter)
        return (self.residual(u, parameter + h) - self.residual(u, parameter - h)) / (2 * h)

    def solved(self, u: np.ndarray, parameter: float) -> np.ndarray | None:
        """Newton's method at one frequency."""
        size = np.maximum(np.abs(u).max(initial=0.0), 1e-6)
        for _ in range(30):
            change = splu(self.jacobian(u, parameter)).solve(-self.residual(u, parameter))
            u = u + change
            if not np.isfinite(u).all():
                return None
            if np.abs(change).max() < 1e-10 * size:
                return u
        return None


def _waves(harmonics: int, samples: int) -> tuple[np.ndarray, np.ndarray]:
    """The functions of the series and their slopes, (sample, function)."""
    angle = 2 * np.pi * np.arange(samples) / samples
    waves, slopes = [np.ones(samples)], [np.zeros(samples)]
    for k in range(1, harmonics + 1):
        waves += [np.cos(k * angle), np.sin(k * angle)]
        slopes += [-k * np.sin(k * angle), k * np.cos(k * angle)]
    return np.array(waves).T, np.array(slopes).T


@dataclass(eq=False)
class FrequencyResponse:
    """Periodic answers along the frequency: `frequencies`, `amplitude("x")`, `folds`, `orbit(k, "x")`, `plot("x")`."""

    balance: Balance
    points: list[OnCurve]
    folds: tuple[float, ...]

    @property
    def frequencies(self) -> np.ndarray:
        return np.array([p.parameter for p in self.points])

    def __len__(self) -> int:
        return len(self.points)

    def __repr__(self) -> str:
        turning = ", ".join(f"{f:.5g}" for f in self.folds)
        low, high = self.frequencies.min(), self.frequencies.max()
        folds = f", folds at {turning} Hz" if turning else ""
        return f"<FrequencyResponse of {len(self)} periodic states, {low:g} … {high:g} Hz{folds}>"

    def orbit(self, number: int, name: str, points: int = 0) -> tuple[np.ndarray, np.ndarray]:
        """Times and values of a quantity over one period, at the samples of the balance or at so many points."""
        point, b = self.points[number], self.balance
        times, y, yp = b.trajectories(point.u, point.parameter, points)
        known, problem, system = b.at.at(point.parameter), b.at.problem, b.at.model.system
        rows = []
        for t, a, d in zip(times, y, yp, strict=True):
            rows.append(problem.lowered.expand(problem.equations.workspace(float(t), a, d, known)))
        n, data = system.size, np.array(rows)
        stored = Stored(data[:, 2 * n + TIME], data, np.arange(n), n + np.arange(n), data[0, 2 * n :])
        return times, np.asarray(Evaluator(system, stored)[name])

    def at(self, frequency: float) -> FrequencyResponse:
        """All periodic answers at one frequency: where the curve passes it."""
        found, f = list[OnCurve](), self.frequencies
        passes = ((f[:-1] - frequency) * (f[1:] - frequency) < 0) | (f[:-1] == frequency)  # a point of the curve counts once
        passes[-1:] |= f[-1] == frequency
        for k in np.flatnonzero(passes):
            share = (frequency - f[k]) / (f[k + 1] - f[k]) if f[k + 1] != f[k] else 0.0
            u = self.balance.solved((1 - share) * self.points[k].u + share * self.points[k + 1].u, frequency)
            if u is not None:
                z = np.append(u, frequency) / self.balance.scale
                found.append(OnCurve(z, self.points[k].tangent, 0.0, self.balance.scale))
        if not found:
            raise UsageError(f"The curve does not pass {frequency:g} Hz; it goes from {f.min():g} to {f.max():g} Hz.")
        return FrequencyResponse(self.balance, found, ())

    def amplitude(self, name: str) -> np.ndarray:
        """Half the distance between the largest and the smallest value over a period, at each frequency."""
        return np.array([(high - low) / 2 for low, high in self._extremes(name)])

    def peak(self, name: str) -> np.ndarray:
        """The largest magnitude over a period, at each frequency."""
        return np.array([max(-low, high) for low, high in self._extremes(name)])

    def _extremes(self, name: str) -> Iterator[tuple[float, float]]:
        """The smallest and the largest value over a period, also between samples."""
        for k in range(len(self)):
            values = self.orbit(k, name, max(_FINE, self.balance.samples))[1]
            yield -_highest(-values), _highest(values)

    def plot(self, name: str, file: str | os.PathLike[str] | None = None) -> Figure:
        """The amplitude over the frequency, folds marked."""
        from .pictures import response_picture

        return response_picture(self, name, file)


def _highest(values: np.ndarray) -> float:
    """The top of the parabola through the largest of the values over a period and its neighbours."""
    k = int(np.argmax(values))
    before, top, after = (float(values[j % len(values)]) for j in (k - 1, k, k + 1))
    bend = before - 2 * top + after
    return top - (after - before) ** 2 / (8 * bend) if bend < 0 else top


def harmonic_balance(
    model: Model,
    frequency: str,
    between: Iterable[float],
    *,
    harmonics: int = 7,
    samples: int | None = None,
    set: Mapping[str, Any] | None = None,
    most: int = 1000,
    largest_step: float = 0.5,
) -> FrequencyResponse:
    """See `Model.harmonic_balance`."""
    refuse_delays(model.program.system, "A harmonic balance")
    low, high = frequencies(model, frequency, between)
    if isinstance(harmonics, bool) or not isinstance(harmonics, int) or harmonics < 1:
        raise UsageError(f"`harmonics` is a whole number of at least 1, got {harmonics!r}.")
    if samples is not None and (isinstance(samples, bool) or not isinstance(samples, int) or samples <= 2 * harmonics):
        raise UsageError(
            f"`samples` is how many points of a period the equations hold at: more than {2 * harmonics} for {harmonics} harmonics, "
            f"got {samples!r}."
        )
    changes = dict(set or {})
    prepared = model.prepare(Beginning(0.0, "start", {**changes, frequency: low}))
    at = AtRest(model, frequency, prepared, changes, abs(high - low))
    balance = Balance(at, harmonics, samples or 4 * harmonics + 4)
    first = balance.solved(_settled(model, balance, frequency, low, changes), low)
    if first is None:
        raise ModelError(
            f"No periodic answer was found at {low:g} Hz: the model does not settle to one with the period of its forcing.",
            remedy="Begin at another frequency, or with more `harmonics`.",
        )
    size = np.abs(first.reshape(balance.count, balance.n)).max(axis=0)
    size = np.where(size > 1e-9 * size.max(initial=0.0), size, 1.0)
    balance.scale = np.append(np.tile(size, balance.count), abs(high - low))
    tracer, folds = Tracer(balance), list[float]()
    start = tracer.first(first, low, 1.0 if high > low else -1.0)

    def seen(here: OnCurve, there: OnCurve) -> None:
        if here.tangent[-1] * there.tangent[-1] < 0:
            step = float((there.z - here.z) @ here.tangent)
            found = tracer.located(here, step, lambda p: float(p.tangent[-1]))
            folds.append(there.parameter if found is None else found.parameter)

    points = tracer.follow(start, min(low, high), max(low, high), most, 0.05, largest_step * np.sqrt(len(first)), seen)
    return FrequencyResponse(balance, points, tuple(folds))


def _settled(model: Model, balance: Balance, frequency: str, value: float, changes: dict[str, Any]) -> np.ndarray:
    """Fourier coefficients of what a run settles to."""
    period = 1.0 / value
    times = (_SETTLING + np.arange(balance.samples) / balance.samples) * period
    run = model.simulate(
        float(times[-1]), at=times, set={**changes, frequency: value}, rtol=1e-6, on_failure="raise", derivatives=True
    )
    kept = balance.at.problem.lowered.kept
    rows = np.searchsorted(run.time, times, side="right") - 1
    y = run._stored.data[rows][:, run._stored.column[kept]]
    return np.asarray((balance.project @ y).ravel())
