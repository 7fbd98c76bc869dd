"""Tables that are differentiated so often that a corner of theirs is an impulse: between events they are one of their pieces.

Problem. Where s == T(x) stands for two positions, index reduction differentiates it twice. At a corner of T the speed of s jumps,
and the second derivative of T is zero on both sides: the jump is in no equation, and whoever integrates passes it as if there was
none. So which piece of the table holds becomes a cell, as which branch of `where` does. To go on to the next piece is an event, at
which the jump is solved for (`runtime/events/impulses.py`), and as pieces follow each other, none is passed over, however narrow.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from math import prod

import numpy as np

from ..language.expression import Call, Constant, Expression, Slot, leaves, walk
from ..language.tables import SplineFunction, Table, Table2D
from .differentiate import gradient
from .plant import TIME
from .system import System

_ROUNDING = 64 * np.finfo(float).eps
_IMPULSE = 2  # so many times a corner is differentiated to be one

Number = Callable[[np.ndarray], Expression]


def broken_tables(system: System) -> frozenset[SplineFunction]:
    """Tables of unknowns a corner of which drives an impulse in a system that was reduced."""
    found = set[SplineFunction]()
    if system.derivatives is None:
        return frozenset()
    often = np.zeros(system.equation_count, dtype=np.int64)
    often[: system.derivatives.original_rows] = system.derivatives.differentiations
    for family in system.families:
        for rows, output in zip(family.rows, family.template.outputs, strict=True):
            deepest = int(often[rows].max(initial=0))
            if deepest:
                clock = frozenset(np.flatnonzero((family.slots == 2 * system.size + TIME).any(axis=1)).tolist())
                found |= _asked(output, deepest, clock)
    return frozenset(t for t in found if any(_corners(t, k).any() for k in range(t.arity)))


def _asked(output: Expression, deepest: int, clock: frozenset[int]) -> set[SplineFunction]:
    """Tables that an output asks, if their corners are differentiated often enough, and nobody knows when they are met."""
    return {
        node.function.root
        for node in walk(output)
        if isinstance(node, Call)
        and isinstance(node.function, SplineFunction)
        and deepest + sum(node.function.orders) >= _IMPULSE
        and any(_wanders(argument, clock) for argument in node.args)
    }


def _wanders(argument: Expression, clock: frozenset[int]) -> bool:
    """Whether an argument changes during a run, and not at a constant rate. `clock`: slots that hold time."""
    slots = [leaf for leaf in leaves(argument) if isinstance(leaf, Slot)]
    rates = gradient(argument, [slot for slot in slots if slot.number in clock])
    return any(slot.kind == "variable" for slot in slots) or any(
        isinstance(leaf, Slot) and leaf.number in clock for rate in rates.values() for leaf in leaves(rate)
    )


# --- where the pieces end -------------------------------------------------------------------------------------------------------
def _axes(table: SplineFunction) -> list[np.ndarray]:
    return [table.x, table.y] if isinstance(table, Table2D) else [table.x]  # type: ignore[attr-defined]


def _corners(table: SplineFunction, k: int) -> np.ndarray:
    """At which points of an axis the slope jumps; on a straight one at none."""
    axes = _axes(table)
    x, inside = axes[k], np.zeros((len(axes[k]) - 1, 1))
    slopes = [table.relative(orders) for orders in product((0, 1), repeat=table.arity) if orders[k]]  # and on between its points
    ends = [
        np.concatenate([np.ravel(s.value(*np.meshgrid(*(a if j != k else end for j, a in enumerate(axes))))) for s in slopes])
        for end in (x[[0]], x[[-1]])
    ]
    values = np.moveaxis(table.value(*np.meshgrid(*axes, indexing="ij")), k, 0).reshape(len(x), -1)
    if table.method == "linear":
        inside = np.diff(values, axis=0) / np.diff(x)[:, None]
    jumps = np.zeros(len(x))
    jumps[1:-1] = np.abs(np.diff(inside, axis=0)).max(axis=1)
    if table.extrapolation == "clamp":
        jumps[[0, -1]] = [np.abs(end).max() for end in ends]
    return np.asarray(jumps > _ROUNDING * np.abs(values).max() / np.diff(x).min())


def breaks(table: SplineFunction, k: int) -> np.ndarray:
    """Where the pieces along an axis end; there is always an end."""
    x, corners = _axes(table)[k], _corners(table, k)
    return np.asarray(x[corners] if corners.any() else x[:1])


def position(table: SplineFunction, k: int, argument: Expression) -> Expression:
    """A number whose whole part is that of the piece: how many ends an argument has passed."""
    at, x = breaks(table, k), _axes(table)[k]
    beyond = x[-1] - x[0]
    places, numbers = np.r_[at[0] - beyond, at, at[-1] + beyond], np.r_[0.5, np.arange(len(at)) + 1.0, len(at) + 0.5]
    return Call(Table(places, numbers, method="linear", name=f"{table.root.name}_piece"), (argument,))


# --- what holds on a piece ------------------------------------------------------------------------------------------------------
def piece(call: Call, arguments: tuple[Expression, ...], numbers: tuple[Expression, ...]) -> Expression:
    """What a table, or a derivative of it, is on the piece with these numbers, wherever its arguments are."""
    table, orders = call.function.root, call.function.orders
    if table.method != "linear":
        return _between_ends(table, orders, arguments, numbers)
    found = _straight(table, orders, arguments, numbers)
    if table.extrapolation == "refuse":  # it has no value beyond its ends, and says so
        zero = Call(Table([0.0, 1.0], [0.0, 0.0], method="linear", name=f"{table.name}_refuses"), (numbers[0],))
        found = found + zero * Call(table, arguments)
    return found


def _straight(
    table: SplineFunction, orders: tuple[int, ...], arguments: tuple[Expression, ...], numbers: tuple[Expression, ...]
) -> Expression:
    """Of a table with straight lines: a level and slopes at the first end of the piece, along each axis."""
    at = [breaks(table, k) for k in range(table.arity)]
    points, going = [_with_outer(_axes(table)[k], at[k]) for k in range(table.arity)], table
    if table.extrapolation == "refuse":  # what it says beyond its ends is seen by nobody
        going = type(table)(*_given(table), method=table.method, extrapolation="linear", name=table.name)  # type: ignore[call-arg]
    values, terms = going.value(*np.meshgrid(*points, indexing="ij")), list[Expression]()
    for powers in product((0, 1), repeat=table.arity):
        if any(order > power for order, power in zip(orders, powers, strict=True)):
            continue
        factors = values
        for k, power in enumerate(powers):
            steps = np.diff(points[k]).reshape([-1 if j == k else 1 for j in range(table.arity)])
            first = np.maximum(np.arange(len(at[k]) + 1), 1)
            factors = np.diff(factors, axis=k) / steps if power else np.take(factors, first, axis=k)
        ways = [
            arguments[k] - _looked_up(np.r_[at[k][:1], at[k]], (numbers[k],)) for k in range(table.arity) if powers[k] > orders[k]
        ]
        terms.append(prod(ways, start=_looked_up(factors, numbers)))
    return sum(terms, start=Constant(0.0))


def _with_outer(x: np.ndarray, at: np.ndarray) -> np.ndarray:
    """The ends of the pieces, with a point before and behind all of them."""
    beyond = x[-1] - x[0]
    low = x[0] if at[0] > x[0] else x[0] - beyond
    high = x[-1] if at[-1] < x[-1] else x[-1] + beyond
    return np.r_[low, at, high]


def _between_ends(
    table: SplineFunction, orders: tuple[int, ...], arguments: tuple[Expression, ...], numbers: tuple[Expression, ...]
) -> Expression:
    """Of a smooth table, which has corners where it ends only: what goes on along tangents, asked at the end when beyond it."""
    going = type(table)(*_given(table), method=table.method, extrapolation="linear", name=table.name)  # type: ignore[call-arg]
    held, weight = list[Expression](), list[Expression]()
    for k, x in enumerate(_axes(table)):
        first, last = np.isin(x[[0, -1]], breaks(table, k)).astype(int)
        inside = _looked_up(np.r_[np.zeros(first), 1.0, np.zeros(last)], (numbers[k],))
        held.append(_looked_up(np.r_[x[:1][:first], 0.0, x[-1:][:last]], (numbers[k],)) + inside * arguments[k])
        weight += [inside] * (orders[k] > 0)
    return prod(weight, start=Call(going.relative(orders), tuple(held)))


def _given(table: SplineFunction) -> list[np.ndarray]:
    return [*_axes(table), table.values if isinstance(table, Table2D) else table.y]  # type: ignore[attr-defined]


def _looked_up(values: np.ndarray, numbers: tuple[Expression, ...]) -> Expression:
    """The one that belongs to the numbers of a piece."""
    if not values.any():
        return Constant(0.0)
    places = [np.arange(n, dtype=float) for n in values.shape]
    make = Table if len(places) == 1 else Table2D
    return Call(make(*places, values, method="linear", name="of_piece"), numbers)  # type: ignore[arg-type, call-arg]
