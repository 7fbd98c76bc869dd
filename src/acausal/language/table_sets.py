"""Sets of tables, of which a number chooses one: components that differ in a table are of one kind, and the table is data.

`TableSet(tables)(k, x)` is `tables[k](x)`. Compiled code calls one function for all of them; its data are the addresses of theirs.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
from collections.abc import Sequence
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from .expression import Call, Constant, Expression, as_expression
from .external import ExternalFunction
from .tables import SplineFunction, Table, Table2D, _derivative_of

_sets: WeakValueDictionary[tuple[Any, ...], TableSet] = WeakValueDictionary()


_NO_SIDE = Table([0.0, 1.0], [1.0, 1.0], method="linear", extrapolation="linear", name="no_side")


def is_choosable(value: Any) -> bool:
    """Whether a table may stand in a set: where the slope of one jumps, an event may be meant, at a place of its own."""
    return type(value) in (Table, Table2D) and value.method != "linear"


class TableSet(ExternalFunction):
    """Tables of one form. The first argument is the number of a table; it is not shown."""

    hidden = 1
    tables: tuple[SplineFunction, ...]
    orders: tuple[int, ...]  # of the derivative, argument by argument of the tables

    def __new__(cls, tables: Sequence[SplineFunction], orders: tuple[int, ...] | None = None) -> TableSet:
        orders = orders or tables[0].orders
        key = (orders, *map(id, tables))
        found = _sets.get(key)
        if found is None:
            found = object.__new__(cls)
            found.tables, found.orders, found.arity = tuple(tables), orders, 1 + len(orders)
            found.name = tables[0].name + ("_d" + "".join(map(str, orders)) if any(orders) else "")
            found.data = np.array([t.data.ctypes.data for t in tables], dtype=np.uintp)
            _sets[key] = found
        return found

    data: np.ndarray

    @property
    def address(self) -> int:
        return _native_address(self.orders) or self._fallback[1]

    @property
    def data_address(self) -> int:
        return self.data.ctypes.data if _native_address(self.orders) else 0

    @property
    def root(self) -> TableSet:
        return TableSet(self.tables)

    @property
    def member(self) -> list[int] | None:
        return list(self.orders)

    def relative(self, member: Sequence[int] | None) -> TableSet:
        return TableSet(self.tables, tuple(member or ()))

    def form(self) -> str:
        each = [table.form() for table in self.tables]
        return f"one of {each[0]}" if all(each) and len(set(each)) == 1 else ""

    def description(self) -> str:
        return self.form() and f"{self.form()} {[table.description() for table in self.tables]}"

    def chosen(self, k: int) -> SplineFunction:
        """The table of this number, or its derivative."""
        return _derivative_of(self.tables[k], self.orders)

    def sides(self, args: tuple[Expression, ...]) -> tuple[Expression, ...]:
        if any(self.orders):
            return ()
        which, found = args[0], list[Expression]()
        for k, arg in enumerate(args[1:]):
            for b in range(max(len(t.bits[k]) for t in self.tables)):
                members = [t.bits[k][b] if b < len(t.bits[k]) else _NO_SIDE for t in self.tables]
                found.append(Call(TableSet(members), (which, arg)))
        return tuple(found)

    def value(self, *arrays: Any) -> np.ndarray:
        which, *args = np.broadcast_arrays(*(np.asarray(a, dtype=float) for a in arrays))
        found = np.full(which.shape, np.nan)
        for k in np.unique(which[np.isfinite(which)]).astype(int):
            here = which == k
            found[here] = self.chosen(k).value(*(a[here] for a in args))
        return found

    def partial(self, k: int, args: tuple[Expression, ...]) -> Expression:
        if k == 0:
            return Constant(0.0)  # nobody asks for it: which table it is, is a parameter
        orders = tuple(order + (j == k - 1) for j, order in enumerate(self.orders))
        return Constant(0.0) if orders[k - 1] > self.tables[0]._degree else Call(TableSet(self.tables, orders), args)

    @functools.cached_property
    def _fallback(self) -> tuple[Any, int]:
        """A callback into numpy, for installations without the native core."""
        callback = ctypes.CFUNCTYPE(ctypes.c_double, *[ctypes.c_double] * self.arity)(lambda *args: float(self.value(*args)))
        return callback, int(ctypes.cast(callback, ctypes.c_void_p).value or 0)

    def __reduce__(self) -> Any:
        return TableSet, (self.tables, self.orders)


class Chosen:
    """What equations see in the place of a table: the table that a parameter chooses."""

    def __init__(self, tables: TableSet, which: Expression) -> None:
        self._tables, self._which = tables, which

    def __call__(self, *args: Any) -> Expression:
        return self._tables(self._which, *(as_expression(a) for a in args))


@functools.cache
def _native_address(orders: tuple[int, ...]) -> int:
    try:
        core = importlib.import_module("acausal._core")
    except ImportError:
        return 0
    return int(getattr(core, f"chosen{len(orders)}_address")(*orders))
