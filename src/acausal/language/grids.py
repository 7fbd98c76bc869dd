"""Tables in three to six arguments, with monotone interpolation along each axis (`native/grids.cpp`)."""

from __future__ import annotations

import ctypes
import functools
import importlib
from collections.abc import Sequence
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from ..arguments import is_one_of
from ..errors import UsageError
from .expression import Call, Expression
from .external import TYPICAL, ExternalFunction, central_difference
from .tables import EXTRAPOLATIONS, _grid, _values

DIMENSIONS = range(3, 7)
METHODS = ("monotone", "linear")
_grids: WeakValueDictionary[tuple[Any, ...], TableND] = WeakValueDictionary()


class TableND(ExternalFunction):
    """A table in three to six arguments: `ac.TableND((speed, pressure, temperature), values)`, called as `table(n, p, T)`.

    axes: the points along each axis, which increase; `values` has one dimension for each. Between the points the function is
    "monotone" (cubics that do not overshoot, with continuous slopes along each axis) or "linear". Beyond them it is the value at
    the edge ("clamp"), goes straight on ("linear"), or has no value ("refuse").

    >>> axis = [0.0, 1.0, 2.0]
    >>> x, y, z = np.meshgrid(axis, axis, axis, indexing="ij")
    >>> TableND((axis, axis, axis), x + 2 * y + 3 * z)(0.5, 1.5, 1.0)
    6.5
    """

    axes: tuple[np.ndarray, ...]
    values: np.ndarray
    method: str
    extrapolation: str
    by: int  # of a derivative: by which argument
    data: np.ndarray

    def __new__(
        cls, axes: Any, values: Any, *, extrapolation: str = "clamp", method: str = "monotone", name: str = "table", by: int = -1
    ) -> TableND:
        for what, given, allowed in (("extrapolation", extrapolation, EXTRAPOLATIONS), ("method", method, METHODS)):
            if not is_one_of(given, allowed):
                raise UsageError(f"`{name}`: {what} must be one of {', '.join(map(repr, allowed))}, got {given!r}.")
        if not isinstance(name, str):
            raise UsageError(f"`name` of a table is a text, got {name!r} ({type(name).__name__}).")
        if not isinstance(axes, Sequence | np.ndarray) or isinstance(axes, str | bytes):
            raise UsageError(f"`{name}`: `axes` is a list of axes, each a list of numbers; got {axes!r}.")
        grids = tuple(_grid(name, f"axes[{k}]", one) for k, one in enumerate(axes))
        if len(grids) not in DIMENSIONS:
            raise UsageError(
                f"`{name}`: a table of {len(grids)} axes was given; `ac.TableND` takes three to six.",
                remedy="One axis is `ac.Table`, two are `ac.Table2D`.",
            )
        nodes = _values(name, "values", values, tuple(len(g) for g in grids))
        head = [len(grids), EXTRAPOLATIONS.index(extrapolation), 1 if method == "linear" else 3, *map(len, grids)]
        data = np.ascontiguousarray(np.concatenate([head, *grids, nodes.ravel()]), dtype=float)
        key = (name, by, data.tobytes())
        found = _grids.get(key)
        if found is None:
            found = object.__new__(cls)
            data.setflags(write=False)
            found.axes, found.values, found.method, found.extrapolation = grids, nodes, method, extrapolation
            found.name, found.arity, found.by, found.data = name if by < 0 else f"{name}_d{by + 1}", len(grids), by, data
            _grids[key] = found
        return found

    @property
    def address(self) -> int:
        """Where its machine code is."""
        return _address(self.arity, self.by)

    @property
    def data_address(self) -> int:
        """Where its numbers are."""
        return int(self.data.ctypes.data)

    def value(self, *arrays: Any) -> np.ndarray:
        """The table on numpy arrays, element by element, as compiled code evaluates it."""
        call = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_void_p, *[ctypes.c_double] * self.arity)(self.address)
        where = self.data_address
        return np.asarray(np.vectorize(lambda *args: call(where, *args), otypes=[float])(*arrays))

    def partial(self, k: int, args: tuple[Expression, ...]) -> Expression:
        """The derivative by argument `k`, at `args`; a second one by central differences."""
        if self.by >= 0:
            return central_difference(self, k, args, TYPICAL)
        return Call(self._derivative(k), args)

    def _derivative(self, by: int) -> TableND:
        return _rebuilt(self.axes, self.values, self.extrapolation, self.method, self.name, by)

    def complaint(self, values: Any, margin: float = 0.0) -> str:
        """Why there is no value for these arguments, if there is none."""
        if self.extrapolation != "refuse":
            return ""
        for k, (x, grid) in enumerate(zip(values, self.axes, strict=True)):
            if not grid[0] <= x <= grid[-1]:
                return f"argument {k + 1} of `{self.name}` is {x:g}, and the table goes from {grid[0]:g} to {grid[-1]:g}"
        return ""

    def __reduce__(self) -> Any:
        name = self.name if self.by < 0 else self.name.rpartition("_d")[0]
        return _rebuilt, (self.axes, self.values, self.extrapolation, self.method, name, self.by)

    def __repr__(self) -> str:
        return f"TableND({self.name!r}, {' by '.join(str(len(a)) for a in self.axes)} points, {self.method})"


def _rebuilt(axes: Any, values: Any, extrapolation: str, method: str, name: str, by: int) -> TableND:
    return TableND(axes, values, extrapolation=extrapolation, method=method, name=name, by=by)


@functools.cache
def _address(dimensions: int, by: int) -> int:
    try:
        core = importlib.import_module("acausal._core")
    except ImportError:
        raise UsageError("`ac.TableND` needs the native core, which this installation lacks.") from None
    return int(core.grid_address(dimensions, by))
