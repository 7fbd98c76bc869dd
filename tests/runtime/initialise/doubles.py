"""Small problems that implement what initialisation asks of a `Problem`, in plain numpy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import csc_array

from acausal.errors import Diagnostic, Location

Function = Callable[..., Any]


class _Attributes:
    """Starts, bounds and names; and how often the problem was evaluated."""

    def __init__(
        self, size: int, differential=(), start=0.0, nominal=1.0, minimum=-np.inf, maximum=np.inf, fixed=(), names=None
    ) -> None:
        self.size = size
        self.differential, self.fixed = _mask(size, differential), _mask(size, fixed)
        self.start, self.nominal, self.minimum, self.maximum = (
            np.broadcast_to(np.asarray(v, float), size).copy() for v in (start, nominal, minimum, maximum)
        )
        self.names = names or [f"u{i}" for i in range(size)]
        self.known = np.array([1.0])
        self.residuals = self.jacobians = 0

    def name_of_unknown(self, i: int) -> str:
        return self.names[i]

    def describe_equation(self, i: int) -> Diagnostic:
        return Diagnostic("", component=f"part{i}", equation=f"equation text {i}", location=Location("plant.py", 10 + i))


def _mask(size: int, members) -> np.ndarray:
    mask = np.zeros(size, bool)
    mask[list(members)] = True
    return mask


class DenseProblem(_Attributes):
    """0 = F(t, y, y', homotopy parameter), analytic in y and y', so that complex steps give exact derivatives. `G` likewise."""

    continuation_index = 0

    def __init__(
        self, function: Function, size: int, *, initial: Function | None = None, initial_size: int = 0, **attributes
    ) -> None:
        super().__init__(size, **attributes)
        self.function, self.initial = function, initial
        self.initial_size = initial_size
        self.pattern = self._observe(function, size)
        self.initial_pattern = self._observe(initial, initial_size) if initial else None

    def _value(self, function: Function, t, y, yp) -> np.ndarray:
        return np.array(function(t, y, yp, self.known[0]))

    def _observe(self, function: Function, rows: int):
        """Entries that differ from zero at one of a few arbitrary points."""
        random, seen = np.random.default_rng(1), np.zeros((rows, self.size), bool)
        for parameter in (0.0, 1.0, 1.0):
            self.known[0] = parameter
            y, yp = random.uniform(0.3, 1.7, (2, self.size))
            with np.errstate(all="ignore"):
                seen |= self._matrix(function, 0.3, y, yp, 1.7) != 0
        self.known[0] = 1.0
        matrix = csc_array(seen.astype(float))
        return matrix.indptr.astype(np.int32), matrix.indices.astype(np.int32)

    def _matrix(self, function: Function, t, y, yp, cj) -> np.ndarray:
        step = 1e-30j
        columns = []
        for unit in np.eye(self.size):
            by_y = self._value(function, t, y + step * unit, yp.astype(complex)).imag / 1e-30
            by_yp = self._value(function, t, y.astype(complex), yp + step * unit).imag / 1e-30
            columns.append(by_y + (cj * by_yp if cj else 0.0))
        return np.array(columns).T

    def _entries(self, function: Function, pattern, t, y, yp, cj) -> np.ndarray:
        column = np.repeat(np.arange(self.size), np.diff(pattern[0]))
        return self._matrix(function, t, y, yp, cj)[pattern[1], column]

    def residual(self, t, y, yp, out=None):
        self.residuals += 1
        return self._value(self.function, t, y, yp).astype(float)

    def jacobian(self, t, y, yp, cj, out=None):
        self.jacobians += 1
        return self._entries(self.function, self.pattern, t, y, yp, cj)

    def initial_residual(self, t, y, yp):
        return self._value(self.initial, t, y, yp).astype(float)

    def partials(self, t, y, yp):
        self.jacobians += 1
        return self._parts(self.function, self.pattern, t, y, yp)

    def initial_partials(self, t, y, yp):
        return self._parts(self.initial, self.initial_pattern, t, y, yp)

    def _parts(self, function: Function, pattern, t, y, yp):
        by_value = self._entries(function, pattern, t, y, yp, 0.0)
        return by_value, self._entries(function, pattern, t, y, yp, 1.0) - by_value

    def describe_initial_equation(self, k: int) -> Diagnostic:
        return Diagnostic("", component="whole", equation=f"initial text {k}", location=Location("plant.py", 100 + k))


class SparseProblem(_Attributes):
    """0 = A y + B y' + g(y), with g acting on each unknown alone; any size."""

    def __init__(self, value, slope, g: Function | None = None, dg: Function | None = None, constant=0.0, **attributes) -> None:
        super().__init__(value.shape[0], **attributes)
        self.value, self.slope, self.g, self.dg, self.constant = value.tocsr(), slope.tocsr(), g, dg, constant
        n = self.size
        union = csc_array(abs(value) + abs(slope) + csc_array((np.ones(n), (np.arange(n), np.arange(n))), shape=(n, n)))
        union.sort_indices()
        self.pattern = union.indptr.astype(np.int32), union.indices.astype(np.int32)
        column = np.repeat(np.arange(n), np.diff(union.indptr))
        self.diagonal = np.flatnonzero(column == union.indices)
        self.parts = [_on_pattern(m, union.indices, column) for m in (value, slope)]
        declared = [p != 0 for p in self.parts]
        declared[0][self.diagonal] |= g is not None
        self.pattern_parts = tuple(declared)

    def residual(self, t, y, yp, out=None):
        self.residuals += 1
        linear = self.value @ y + self.slope @ yp + self.constant
        return linear if self.g is None else linear + self.g(y)

    def jacobian(self, t, y, yp, cj, out=None):
        self.jacobians += 1
        data = self.parts[0] + cj * self.parts[1]
        if self.dg is not None:
            data[self.diagonal] += self.dg(y)
        return data

    def partials(self, t, y, yp):
        return self.jacobian(t, y, yp, 0.0), self.parts[1].copy()


def _on_pattern(matrix, rows, columns) -> np.ndarray:
    """Entries of a matrix at places that may be zero in it."""
    n = matrix.shape[0]
    coo = matrix.tocoo()
    keys = columns.astype(np.int64) * n + rows
    data = np.zeros(len(keys))
    data[np.searchsorted(keys, coo.col.astype(np.int64) * n + coo.row)] = coo.data
    return data
