"""Tables of measured or computed data as functions: piecewise cubics with continuous slope, in one and two arguments.

Problem. Given x_0 < … < x_(n-1) and y_i, find f with f(x_i) = y_i and f' continuous. On each interval f is the cubic Hermite
polynomial of the values and *slopes* m_i at its ends; methods differ in how they choose the slopes only:

- ``monotone`` (default): weighted harmonic mean of the neighbouring secants, zero at extrema (Fritsch and Butland). f is monotone
  where the data are and never leaves the range of neighbouring data: an efficiency stays below 1, a pressure positive, and
  Newton's method meets no slope of a sign the data do not have. That is why it is the default.
- ``akima``: Akima's weights in their modified form, which lets f overshoot a little but follows smooth data more closely.
- ``catmull-rom``: slope of the parabola through three neighbours; most accurate for smooth data, oscillates at corners.
- ``linear``: straight pieces. The slope jumps at the points: for data that mean it.

In two arguments f is bicubic: slopes along both axes by the same rule, the mixed derivative by parabolas.
Outside of the data f is its end value (``clamp``; the slope drops to zero there) or its tangent (``linear``; slope continuous).

The numbers are laid out in one float64 array, which `native/tables.cpp` reads: the two must agree.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
import os
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from ..arguments import is_one_of, unmasked
from ..economy import blake2b
from ..errors import UsageError, near_matches
from .expression import Call, Constant, Expression, as_expression
from .external import ExternalFunction

EXTRAPOLATIONS = ("clamp", "linear", "refuse")
_HEADER = 8  # numbers before the first abscissa
_RECORD = 5  # numbers for each interval of a 1-D table
_UNIFORM = 1e-6  # grids whose points are this close to equidistant (in steps) are looked up by division


class SplineFunction(ExternalFunction):
    """A table or one of its derivatives: `orders[k]` times by argument k. Evaluated natively where the native core is there."""

    orders: tuple[int, ...]
    data: np.ndarray
    method: str
    extrapolation: str
    _table: SplineFunction  # the table itself: holds the derivatives, so that each exists once
    _degree: int

    @property
    def address(self) -> int:
        return _native_address(self.orders) or self._fallback[1]

    @property
    def data_address(self) -> int:
        return self.data.ctypes.data if _native_address(self.orders) else 0

    @property
    def root(self) -> SplineFunction:
        return self._table

    @property
    def member(self) -> list[int] | None:
        return list(self.orders)

    def relative(self, member: Sequence[int] | None) -> SplineFunction:
        return _derivative_of(self, tuple(member or ()))

    def form(self) -> str:
        if type(self) not in (Table, Table2D):
            return ""  # a class of somebody else may differentiate in a way of its own
        return f"{type(self).__name__} {self._degree}"

    def description(self) -> str:
        return self.form() and f"{self.form()} {self._options} {self._digest}"

    @functools.cached_property
    def _digest(self) -> str:
        return blake2b(self.data.tobytes(), digest_size=20).hexdigest()

    def complaint(self, values: Sequence[float], margin: float = 0.0) -> str:
        if self.extrapolation != "refuse":
            return ""
        for axis, value in zip(_axes(self.data, self.arity), values, strict=True):
            slack = margin * (axis[-1] - axis[0])
            if not axis[0] + slack <= value <= axis[-1] - slack:
                return f"`{self._table.name}` holds from {axis[0]:g} to {axis[-1]:g}, and is asked for at {value:g}"
        return ""

    def value(self, *arrays: Any) -> np.ndarray:
        evaluate = _evaluate1 if self.arity == 1 else _evaluate2
        return evaluate(self.data, self.orders, *np.broadcast_arrays(*(np.asarray(a, dtype=float) for a in arrays)))

    def partial(self, k: int, args: tuple[Expression, ...]) -> Expression:
        orders = tuple(order + (j == k) for j, order in enumerate(self.orders))
        return Constant(0.0) if orders[k] > self._degree else Call(_derivative_of(self._table, orders), args)

    def sides(self, args: tuple[Expression, ...]) -> tuple[Expression, ...]:
        if any(self.orders):
            return ()
        return tuple(as_expression(bit(arg)) for arg, found in zip(args, self.bits, strict=True) for bit in found)

    @functools.cached_property
    def bits(self) -> tuple[tuple[Table, ...], ...]:
        """For each argument, functions that tell the pieces apart in which slopes are alike (see `table_sides.py`)."""
        from . import table_sides

        axes, found, linear = _axes(self.data, self.arity), list[tuple[Table, ...]](), self.method == "linear"
        for k in range(self.arity):
            fine = [table_sides.parts(a) if j == k and not linear else a for j, a in enumerate(axes)]
            values = np.moveaxis(self.value(*np.meshgrid(*fine, indexing="ij")), k, 0)
            slopes = np.diff(values, axis=0) / _spread(np.diff(fine[k]), values)
            corners = table_sides.places(fine[k], slopes, self.method, self.extrapolation == "clamp")
            points = table_sides.bits(corners)
            found.append(tuple(Table(x, y, method="linear", extrapolation="linear", name=f"{self.name}_side") for x, y in points))
        return tuple(found)

    @functools.cached_property
    def _fallback(self) -> tuple[Any, int]:
        """A callback into numpy, for installations without the native core: correct, but slow."""
        prototype = ctypes.CFUNCTYPE(ctypes.c_double, *[ctypes.c_double] * self.arity)
        callback = prototype(lambda *args: float(self.value(*args)))
        return callback, int(ctypes.cast(callback, ctypes.c_void_p).value or 0)

    @property
    def _options(self) -> dict[str, str]:
        return {"name": self.name, "method": self.method, "extrapolation": self.extrapolation}

    @functools.cached_property
    def _derivatives(self) -> dict[tuple[int, ...], TableDerivative]:
        return {}


class TableDerivative(SplineFunction):
    """A partial derivative of a table; the second and third ones jump at the table's points."""

    def __init__(self, table: SplineFunction, orders: tuple[int, ...]) -> None:
        self._table, self.orders = table, orders
        self.data, self.arity, self._degree = table.data, table.arity, table._degree
        self.method, self.extrapolation = table.method, table.extrapolation
        self.name = table.name + "_d" + "".join(str(order) for order in orders)


class Table(SplineFunction):
    """A function of one argument through given points.

    `extrapolation` is ``"clamp"``, ``"linear"``, or ``"refuse"``: outside there is no value, and a run says so. `method` is
    ``"monotone"``, ``"akima"``, ``"catmull-rom"`` or ``"linear"``. Tables with the same data are one object.

    >>> efficiency = Table([0.0, 0.5, 1.0], [0.0, 0.7, 0.6], name="efficiency")
    >>> efficiency(0.5), efficiency(2.0)
    (0.7, 0.6)
    """

    x: np.ndarray
    y: np.ndarray
    arity = 1
    orders = (0,)

    def __new__(cls, x: Any, y: Any, *, extrapolation: str = "clamp", method: str = "monotone", name: str = "table") -> Table:
        _check_choices(name, extrapolation, method)
        abscissae = _grid(name, "x", x)
        values = _values(name, "y", y, abscissae.shape)
        data = _layout1(name, abscissae, values, extrapolation, method)
        table: Table = _interned(cls, data, name, method, x=abscissae, y=values, extrapolation=extrapolation)
        return table

    def derivative(self, order: int = 1) -> SplineFunction:
        """The first, second or third derivative, a function of the same argument.

        >>> Table([0.0, 1.0], [0.0, 3.0]).derivative()(0.4)
        3.0
        """
        return _derivative_of(self, (_checked_order(order),))

    @classmethod
    def from_csv(cls, path: str | os.PathLike[str], x: str | int = 0, y: str | int = 1, **options: Any) -> Table:
        """A table from two columns of a text file, named by their heading or numbered from 0.

        Read as inputs are: with semicolons and decimal commas, from Parquet and Excel as well. A column whose heading says a unit,
        `flow [m3/h]`, is converted to SI; lines that begin with `#` are left out.
        """
        from .columns import read

        found = read(path)
        columns = [found.find(which).in_si() for which in (x, y)]
        options.setdefault("name", os.path.splitext(os.path.basename(os.fspath(path)))[0])
        return cls(*columns, **options)

    def __reduce__(self) -> Any:
        return _rebuilt, (Table, (self.x, self.y), self._options)

    def __repr__(self) -> str:
        return f"Table({self.name!r}, {self.x.size} points from {self.x[0]:g} to {self.x[-1]:g}, {self.method})"


class Table2D(SplineFunction):
    """A function of two arguments through the points of a grid: `values[i, j]` belongs to `x[i]`, `y[j]`.

    Options as in `Table`.

    >>> heat_pump = Table2D([0.0, 10.0], [30.0, 50.0], [[4.0, 3.0], [5.0, 4.0]], name="heat_pump")
    >>> heat_pump(5.0, 40.0), heat_pump(0.0, 100.0)
    (4.0, 3.0)
    """

    x: np.ndarray
    y: np.ndarray
    values: np.ndarray
    arity = 2
    orders = (0, 0)

    def __new__(
        cls, x: Any, y: Any, values: Any, *, extrapolation: str = "clamp", method: str = "monotone", name: str = "table"
    ) -> Table2D:
        _check_choices(name, extrapolation, method)
        rows, columns = _grid(name, "x", x), _grid(name, "y", y)
        nodes = _values(name, "values", values, (rows.size, columns.size))
        data = _layout2(name, rows, columns, nodes, extrapolation, method)
        table: Table2D = _interned(cls, data, name, method, x=rows, y=columns, values=nodes, extrapolation=extrapolation)
        return table

    def derivative(self, x: int = 0, y: int = 0) -> SplineFunction:
        """The derivative, `x` times by the first and `y` times by the second argument.

        >>> Table2D([0.0, 1.0], [0.0, 1.0], [[0.0, 0.0], [0.0, 6.0]]).derivative(x=1, y=1)(0.5, 0.5)
        6.0
        """
        return _derivative_of(self, (_checked_order(x, 0), _checked_order(y, 0)))

    def __reduce__(self) -> Any:
        return _rebuilt, (Table2D, (self.x, self.y, self.values), self._options)

    def __repr__(self) -> str:
        return f"Table2D({self.name!r}, {self.x.size} by {self.y.size} points, {self.method})"


_tables: WeakValueDictionary[tuple[Any, ...], Any] = WeakValueDictionary()


def _interned(cls: type, data: np.ndarray, name: str, method: str, **fields: Any) -> Any:
    """One object for the same data, so that components that each build their table share code and one family."""
    key = (cls, name, method, data.tobytes())
    table = _tables.get(key)
    if table is None:
        table = object.__new__(cls)
        data.setflags(write=False)
        table.__dict__.update(fields, name=name, method=method, data=data, _degree=1 if method == "linear" else 3)
        table._table = table
        _tables[key] = table
    return table


def _rebuilt(cls: type, arrays: tuple[np.ndarray, ...], options: dict[str, str]) -> Any:
    return cls(*arrays, **options)


def _derivative_of(table: SplineFunction, orders: tuple[int, ...]) -> SplineFunction:
    if not any(orders):
        return table
    found = table._derivatives.get(orders)
    if found is None:
        found = table._derivatives.setdefault(orders, TableDerivative(table, orders))
    return found


@functools.cache
def _native_address(orders: tuple[int, ...]) -> int:
    """Where the native core evaluates tables; 0 if there is no core, or one built without them."""
    try:
        core = importlib.import_module("acausal._core")
    except ImportError:
        return 0
    found = getattr(core, f"table{len(orders)}_address", None)
    return int(found(*orders)) if found else 0


# --- what the user gives ----------------------------------------------------------------------------------------------


def _check_choices(name: str, extrapolation: str, method: str) -> None:
    if not isinstance(name, str):
        raise UsageError(f"`name` of a table is a text, got {name!r} ({type(name).__name__}).")
    for what, given, known in (("extrapolation", extrapolation, EXTRAPOLATIONS), ("method", method, tuple(METHODS))):
        if not is_one_of(given, known):
            choices = ", ".join(f'"{k}"' for k in known)
            raise UsageError(f"`{name}`: {what} must be one of {choices}, got {given!r}.", remedy=near_matches(str(given), known))


def _checked_order(order: int, least: int = 1) -> int:
    if not isinstance(order, int) or not least <= order <= 3:
        raise UsageError(f"A table has derivatives of order {least} to 3, got {order!r}.")
    return order


def _numbers(name: str, what: str, given: Any) -> np.ndarray:
    try:
        array = np.array(unmasked(given), dtype=float)
    except (TypeError, ValueError):
        raise UsageError(f"`{name}`: {what} must be an array of numbers, got {type(given).__name__}.") from None
    bad = np.argwhere(~np.isfinite(array))
    if bad.size:
        place = ", ".join(str(int(k)) for k in bad[0])
        raise UsageError(f"`{name}`: {what}[{place}] is {array[tuple(bad[0])]}; a table needs finite numbers ({len(bad)} are not).")
    array.setflags(write=False)
    return array


def _grid(name: str, what: str, given: Any) -> np.ndarray:
    grid = _numbers(name, what, given)
    if grid.ndim != 1:
        raise UsageError(f"`{name}`: {what} must have one dimension, got shape {grid.shape}.")
    if grid.size < 2:
        raise UsageError(f"`{name}`: a table needs at least 2 points, {what} has {grid.size}.")
    wrong = np.flatnonzero(np.diff(grid) <= 0)
    if wrong.size:
        k = int(wrong[0])
        raise UsageError(
            f"`{name}`: {what} must increase, but {what}[{k}] = {grid[k]:g} is followed by {what}[{k + 1}] = {grid[k + 1]:g}.",
            remedy="Sort the data by it, and give each value once.",
        )
    return grid


def _values(name: str, what: str, given: Any, shape: tuple[int, ...]) -> np.ndarray:
    values = _numbers(name, what, given)
    if values.shape != shape:
        turned = " It would fit transposed: rows belong to x, columns to y." if values.shape == shape[::-1] != shape else ""
        raise UsageError(f"`{name}`: {what} must have shape {shape} to match the axes, got {values.shape}.{turned}")
    return values


# --- slopes: along the first axis of `values`, for all the others at once ------------------------------------------------


def _spread(steps: np.ndarray, values: np.ndarray) -> np.ndarray:
    return steps.reshape((-1,) + (1,) * (values.ndim - 1))


def _parabola_slopes(steps: np.ndarray, secants: np.ndarray) -> np.ndarray:
    """Catmull and Rom's choice on any grid: the slope of the parabola through a point and its two neighbours."""
    before, after = steps[:-1], steps[1:]
    inner = (after * secants[:-1] + before * secants[1:]) / (before + after)
    first, last = _end_slope(steps, secants), _end_slope(steps[::-1], secants[::-1])
    return np.concatenate([first[None], inner, last[None]])


def _end_slope(steps: np.ndarray, secants: np.ndarray) -> np.ndarray:
    """The slope at the first point of the parabola through the first three."""
    return np.asarray(((2 * steps[0] + steps[1]) * secants[0] - steps[0] * secants[1]) / (steps[0] + steps[1]))


def _monotone_slopes(steps: np.ndarray, secants: np.ndarray) -> np.ndarray:
    """Fritsch and Butland: the harmonic mean of two secants of one sign is at most three times the smaller."""
    before, after = steps[:-1], steps[1:]
    near, far = 2 * after + before, after + 2 * before
    same = secants[:-1] * np.sign(secants[1:]) > 0
    with np.errstate(all="ignore"):
        harmonic = (near + far) / (near / secants[:-1] + far / secants[1:])
    inner = np.where(same, harmonic, 0.0)
    first, last = _monotone_end(steps, secants), _monotone_end(steps[::-1], secants[::-1])
    return np.concatenate([first[None], inner, last[None]])


def _monotone_end(steps: np.ndarray, secants: np.ndarray) -> np.ndarray:
    slope = _end_slope(steps, secants)
    turned = np.sign(slope) != np.sign(secants[0])
    steep = (np.sign(secants[0]) != np.sign(secants[1])) & (np.abs(slope) > 3 * np.abs(secants[0]))
    return np.where(turned, 0.0, np.where(steep, 3 * secants[0], slope))


def _akima_slopes(steps: np.ndarray, secants: np.ndarray) -> np.ndarray:
    """Modified Akima: secants continued linearly by two on each side; weights that do not vanish together on straight runs."""
    before = [2 * secants[0] - secants[1]]
    before.insert(0, 2 * before[0] - secants[0])
    after = [2 * secants[-1] - secants[-2]]
    after.append(2 * after[0] - secants[-1])
    all_secants = np.concatenate([before, secants, after])
    weights = np.abs(np.diff(all_secants, axis=0)) + 0.5 * np.abs(all_secants[1:] + all_secants[:-1])
    left, right = weights[2:], weights[:-2]
    total = left + right
    blend = np.divide(left, total, out=np.full_like(total, 0.5), where=total > 0)
    return np.asarray(blend * all_secants[1:-2] + (1 - blend) * all_secants[2:-1])


METHODS: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "monotone": _monotone_slopes,
    "akima": _akima_slopes,
    "catmull-rom": _parabola_slopes,
    "linear": _parabola_slopes,  # in two dimensions only there to be stored; straight pieces do not read them
}


def _slopes(grid: np.ndarray, values: np.ndarray, method: str) -> np.ndarray:
    steps = _spread(np.diff(grid), values)
    secants = np.diff(values, axis=0) / steps
    if grid.size == 2:
        return np.concatenate([secants, secants])
    return METHODS[method](steps, secants)


# --- layout, shared with native/tables.cpp ------------------------------------------------------------------------------


def _inverse_step(grid: np.ndarray) -> float:
    """1/step of an equidistant grid, 0 of any other."""
    step = (grid[-1] - grid[0]) / (grid.size - 1)
    drift = np.max(np.abs(grid - (grid[0] + step * np.arange(grid.size))))
    return float(1.0 / step) if drift <= _UNIFORM * step else 0.0


def _layout1(name: str, x: np.ndarray, y: np.ndarray, extrapolation: str, method: str) -> np.ndarray:
    """[n, extrapolation, 1/step or 0, y_first, slope_first, y_last, slope_last, 0 | x | (1/h, c0, c1, c2, c3) for each interval].

    On an interval f = c0 + s (c1 + s (c2 + s c3)), s = (x - x_i)/h.
    """
    with np.errstate(all="ignore"):
        h, rise = np.diff(x), np.diff(y)
        if method == "linear":
            m = np.append(rise / h, rise[-1] / h[-1])
            start = end = rise
        else:
            m = _slopes(x, y, method)
            start, end = h * m[:-1], h * m[1:]
        records = np.stack([1.0 / h, y[:-1], start, 3 * rise - 2 * start - end, start + end - 2 * rise], axis=1)
        header = [x.size, EXTRAPOLATIONS.index(extrapolation), _inverse_step(x), y[0], m[0], y[-1], m[-1], 0.0]
    return _checked_data(name, np.concatenate([header, x, records.ravel()]))


def _layout2(name: str, x: np.ndarray, y: np.ndarray, f: np.ndarray, extrapolation: str, method: str) -> np.ndarray:
    """[nx, ny, extrapolation, degree, 1/step x or 0, 1/step y or 0, 0, 0 | x | y | (f, f_x, f_y, f_xy) for each point]."""
    with np.errstate(all="ignore"):
        by_x, by_y = _slopes(x, f, method), _slopes(y, f.T, method).T
        mixed = 0.5 * (_slopes(y, by_x.T, "catmull-rom").T + _slopes(x, by_y, "catmull-rom"))
        nodes = np.stack([f, by_x, by_y, mixed], axis=-1)
        degree = 1 if method == "linear" else 3
        header = [x.size, y.size, EXTRAPOLATIONS.index(extrapolation), degree, _inverse_step(x), _inverse_step(y), 0.0, 0.0]
    return _checked_data(name, np.concatenate([header, x, y, nodes.ravel()]))


def _checked_data(name: str, data: np.ndarray) -> np.ndarray:
    if not np.all(np.isfinite(data)):
        raise UsageError(f"`{name}`: slopes overflow; points are too close together or values too large.")
    return np.ascontiguousarray(data, dtype=float)


# --- evaluation in numpy, the twin of native/tables.cpp -----------------------------------------------------------------


def _axes(data: np.ndarray, arity: int) -> list[np.ndarray]:
    counts = np.cumsum([_HEADER, *(int(n) for n in data[:arity])])
    return [data[a:b] for a, b in pairwise(counts.tolist())]


def _interval(grid: np.ndarray, x: np.ndarray) -> np.ndarray:
    return np.clip(np.searchsorted(grid, x, side="right") - 1, 0, grid.size - 2)


def _evaluate1(data: np.ndarray, orders: tuple[int, ...], x: np.ndarray) -> np.ndarray:
    (order,) = orders
    n, linear, refuse = int(data[0]), data[1] == 1, data[1] == 2
    slope_first, y_last, slope_last = data[4:7]
    grid = data[_HEADER : _HEADER + n]
    records = data[_HEADER + n :].reshape(n - 1, _RECORD)
    i = _interval(grid, x)
    inverse, c0, c1, c2, c3 = records[i].transpose(-1, *range(x.ndim))
    inside = np.clip(x, grid[0], grid[-1])
    s = (inside - grid[i]) * inverse
    with np.errstate(invalid="ignore"):
        ahead = np.where(x > inside, x - inside, 0.0) if linear else 0.0
        behind = np.where(x < inside, x - inside, 0.0) if linear else 0.0
    if order == 0:
        found = np.where(x >= grid[-1], y_last, c0 + s * (c1 + s * (c2 + s * c3)))
        found = found + slope_last * ahead + slope_first * behind
    elif order == 1:
        found = np.where(x == grid[-1], slope_last, (c1 + s * (2 * c2 + s * (3 * c3))) * inverse)
        found = np.where(x < grid[0], slope_first if linear else 0.0, np.where(x > grid[-1], slope_last if linear else 0.0, found))
    else:
        found = (2 * c2 + s * (6 * c3)) * inverse**2 if order == 2 else 6 * c3 * inverse**3
        found = np.where((x < grid[0]) | (x > grid[-1]), 0.0, found)
    outside = refuse & ((x < grid[0]) | (x > grid[-1]))
    return np.where(np.isnan(x) | outside, np.nan, found)


def _evaluate2(data: np.ndarray, orders: tuple[int, ...], x: np.ndarray, y: np.ndarray) -> np.ndarray:
    nx, ny, linear, degree = int(data[0]), int(data[1]), data[2] == 1, int(data[3])
    grid_x, grid_y = data[_HEADER : _HEADER + nx], data[_HEADER + nx : _HEADER + nx + ny]
    nodes = data[_HEADER + nx + ny :].reshape(nx, ny, 4)
    i, by_x = _weights(grid_x, orders[0], linear, degree, x)
    j, by_y = _weights(grid_y, orders[1], linear, degree, y)
    found = np.zeros(x.shape)
    for a in (0, 1):
        for b in (0, 1):
            f, f_x, f_y, f_xy = nodes[i + a, j + b].transpose(-1, *range(x.ndim))
            value, slope = by_x[2 * a], by_x[2 * a + 1]
            found = found + by_y[2 * b] * (value * f + slope * f_x) + by_y[2 * b + 1] * (value * f_y + slope * f_xy)
    outside = (data[2] == 2) & ((x < grid_x[0]) | (x > grid_x[-1]) | (y < grid_y[0]) | (y > grid_y[-1]))
    return np.where(np.isnan(x) | np.isnan(y) | outside, np.nan, found)


def _weights(grid: np.ndarray, order: int, linear: bool, degree: int, x: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
    """The interval, and what value and slope at its left and right end count for: the same along each axis."""
    i = _interval(grid, x)
    inside = np.clip(x, grid[0], grid[-1])
    h = grid[i + 1] - grid[i]
    s = (inside - grid[i]) / h
    weights = _basis(order, degree, s, h)
    out = x != inside
    if order == 0 and linear:
        with np.errstate(invalid="ignore"):
            beyond = np.where(out, x - inside, 0.0)
        weights = [w + beyond * t for w, t in zip(weights, _basis(1, degree, s, h), strict=True)]
    elif order > 1 or (order == 1 and not linear):
        weights = [np.where(out, 0.0, w) for w in weights]
    return i, weights


def _basis(order: int, degree: int, s: np.ndarray, h: np.ndarray) -> list[np.ndarray]:
    """The Hermite polynomials for value and slope at s = 0, value and slope at s = 1, or their derivatives by x."""
    zero, one = np.zeros_like(s), np.ones_like(s)
    if degree == 1:
        return {0: [1 - s, zero, s, zero], 1: [-one / h, zero, one / h, zero]}.get(order, [zero] * 4)
    if order == 0:
        return [(1 + 2 * s) * (1 - s) ** 2, h * s * (1 - s) ** 2, s * s * (3 - 2 * s), h * s * s * (s - 1)]
    if order == 1:
        return [-6 * s * (1 - s) / h, (1 - s) * (1 - 3 * s), 6 * s * (1 - s) / h, s * (3 * s - 2)]
    if order == 2:
        return [(12 * s - 6) / h**2, (6 * s - 4) / h, (6 - 12 * s) / h**2, (6 * s - 2) / h]
    return [12 * one / h**3, 6 * one / h**2, -12 * one / h**3, 6 * one / h**2]
