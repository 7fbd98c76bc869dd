"""Curves of solutions of F(u, λ) = 0, followed by arc length through folds (Keller 1977: pseudo-arclength continuation).

From a point with its tangent the next one is predicted a step ahead and corrected by Newton's method within the plane across the
tangent, so that λ may turn back. All lengths are in units of `scale`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from scipy.sparse import block_array, csc_array, diags_array
from scipy.sparse.linalg import splu

from ..errors import ModelError

_ITERATIONS = 12
_DENSE = 400  # unknowns up to which determinants are looked at


class Equations(Protocol):
    """What a curve is made of."""

    scale: np.ndarray  # of the unknowns, then of the parameter

    def residual(self, u: np.ndarray, parameter: float) -> np.ndarray: ...
    def jacobian(self, u: np.ndarray, parameter: float) -> csc_array: ...
    def slope(self, u: np.ndarray, parameter: float) -> np.ndarray: ...


@dataclass(frozen=True, slots=True, eq=False)
class OnCurve:
    """A point of a curve: z = (u, λ) in scales, the tangent there, and the sign of the bordered determinant."""

    z: np.ndarray
    tangent: np.ndarray
    sign: float
    size: np.ndarray

    @property
    def u(self) -> np.ndarray:
        return self.z[:-1] * self.size[:-1]

    @property
    def parameter(self) -> float:
        return float(self.z[-1] * self.size[-1])


@dataclass(eq=False)
class Tracer:
    """Follows one curve."""

    equations: Equations
    tolerance: float = 1e-9
    iterations: int = field(default=0, init=False)

    # --- one point ------------------------------------------------------------------------------------------------------------
    def first(self, u: np.ndarray, parameter: float, direction: float) -> OnCurve:
        """The point of a known solution, with the tangent in which the parameter grows (or falls)."""
        size = self.equations.scale
        z = np.append(u, parameter) / size
        guess = np.zeros(len(z))
        guess[-1] = direction
        return self._with_tangent(z, guess)

    def _matrix(self, z: np.ndarray) -> tuple[Any, np.ndarray, np.ndarray]:
        """Derivatives by z, rows scaled to a largest entry of one; and by what the rows were multiplied."""
        size, e = self.equations.scale, self.equations
        u, parameter = z[:-1] * size[:-1], float(z[-1] * size[-1])
        found, slope = e.jacobian(u, parameter), e.slope(u, parameter) * size[-1]
        if len(u) <= _DENSE:
            dense = found.toarray() * size[:-1]
            weight = 1.0 / np.maximum(np.abs(dense).max(axis=1, initial=0.0), 1e-300)
            return dense * weight[:, None], slope * weight, weight
        jacobian = csc_array(found @ diags_array(size[:-1]))
        weight = 1.0 / np.maximum(np.asarray(abs(jacobian).max(axis=1).todense()).ravel(), 1e-300)
        return csc_array(diags_array(weight) @ jacobian), slope * weight, weight

    def _bordered(self, z: np.ndarray, row: np.ndarray) -> tuple[Any, np.ndarray]:
        jacobian, slope, weight = self._matrix(z)
        join = np.block if isinstance(jacobian, np.ndarray) else lambda parts: csc_array(block_array(parts))
        return join([[jacobian, slope[:, None]], [row[None, :-1], row[None, -1:]]]), weight

    def _with_tangent(self, z: np.ndarray, along: np.ndarray) -> OnCurve:
        (whole, _), right = self._bordered(z, along), np.zeros(len(z))
        right[-1] = 1.0
        try:
            tangent = _solved(whole, right)
        except (RuntimeError, np.linalg.LinAlgError):
            raise ModelError("The curve has no direction here: equations and parameter say nothing about some unknown.") from None
        tangent = tangent / np.linalg.norm(tangent)
        sign = 0.0
        if isinstance(whole, np.ndarray):
            whole[-1] = tangent
            sign = float(np.linalg.slogdet(whole)[0])
        return OnCurve(z, tangent, sign, self.equations.scale)

    def ahead(self, point: OnCurve, step: float) -> OnCurve | None:
        """The point a step along the tangent, or nothing if Newton's method does not find it."""
        size, start = self.equations.scale, point.z + step * point.tangent
        z = start.copy()
        for self.iterations in range(1, _ITERATIONS + 1):
            residual = np.asarray(self.equations.residual(z[:-1] * size[:-1], float(z[-1] * size[-1])))
            if not np.isfinite(residual).all():
                return None
            whole, weight = self._bordered(z, point.tangent)
            try:
                change = _solved(whole, -np.append(weight * residual, point.tangent @ (z - start)))
            except (RuntimeError, np.linalg.LinAlgError):
                return None
            z = z + change
            if not np.isfinite(z).all() or np.linalg.norm(z - start) > 2 * abs(step) + 1e-6:
                return None
            if np.abs(change).max() < self.tolerance:
                return self._with_tangent(z, point.tangent)
        return None

    # --- many points ------------------------------------------------------------------------------------------------------------
    def follow(
        self,
        start: OnCurve,
        low: float,
        high: float,
        most: int,
        step: float,
        largest: float,
        seen: Callable[[OnCurve, OnCurve], None],
    ) -> list[OnCurve]:
        """Points from `start` until the parameter leaves its range, the curve closes, or there are as many as are wanted."""
        points, smallest = [start], 1e-6 * step
        while len(points) < most:
            here = points[-1]
            there = self.ahead(here, step)
            turned = there is not None and float(there.tangent @ here.tangent) < 0.9
            if there is None or (turned and step > 1e-3 * largest):
                step /= 2
                if step < smallest:
                    break
                continue
            outside = not low <= there.parameter <= high
            if outside:
                there = self._at_border(here, step, low if there.parameter < low else high)
                if there is None:
                    break
            seen(here, there)
            points.append(there)
            if outside or (len(points) > 5 and np.linalg.norm(there.z - start.z) < 0.5 * step):
                break
            step = min(largest, step * (1.5 if self.iterations <= 4 else 0.7 if self.iterations > 7 else 1.0))
        return points

    def _at_border(self, here: OnCurve, step: float, border: float) -> OnCurve | None:
        return self.located(here, step, lambda p: p.parameter - border)

    def located(self, here: OnCurve, step: float, test: Callable[[OnCurve], float]) -> OnCurve | None:
        """Where a test function changes its sign between a point and a step ahead of it."""
        low, high = 0.0, step
        first, last = test(here), None
        there = self.ahead(here, step)
        if there is None:
            return None
        last, best = test(there), there
        for _ in range(60):
            share = -first / (last - first) if last != first else 0.5
            middle = low + (high - low) * min(max(share, 0.05), 0.95)
            there = self.ahead(here, middle)
            if there is None:
                return best
            value, best = test(there), there
            if abs(high - low) < 1e-7 * abs(step) or value == 0.0:
                break
            if value * first > 0:
                low, first = middle, value
                last *= 0.5
            else:
                high, last = middle, value
                first *= 0.5
        return best


def _solved(matrix: Any, right: np.ndarray) -> np.ndarray:
    return np.asarray(np.linalg.solve(matrix, right) if isinstance(matrix, np.ndarray) else splu(matrix).solve(right))
