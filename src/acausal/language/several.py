"""Functions with several results: one evaluation gives them all, and where the function can, their derivatives too.

Compiled code calls `void f(const void* data, const double* arguments, double* results)` once for each distinct set of arguments in
a kernel, whoever asks for whatever part of the results. These are laid out as the values of all results, then (with `order` 1)
their derivatives by the first argument, by the second …, then (with `order` 2) the second derivatives 11, 12, …, 22, …, each time
of all. In an expression a part stands as an ordinary `Call`; what makes it one of several is its `evaluation`.
"""

from __future__ import annotations

import ctypes
import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations_with_replacement
from typing import Any

import numpy as np

from ..arguments import checked
from ..errors import UsageError
from .expression import Call, Constant, Expression, as_expression
from .external import (
    TYPICAL,
    Described,
    ExternalFunction,
    Failure,
    address_of,
    central_difference,
    kept_data,
    place_in,
    python_arity,
    target_of,
)
from .functions import is_symbolic, numbers, plain

_MOST_KEPT = 5000
Limits = Mapping[str, tuple[float, float]]


def outputs_of(arguments: int, results: int, order: int) -> int:
    """How many numbers there are: results with their derivatives up to an order."""
    return results * (1 + (arguments if order else 0) + (arguments * (arguments + 1) // 2 if order > 1 else 0))


class Several(Described, ABC):
    """A function of `arguments` with `results`; the first `differentiated` arguments are those it depends on smoothly."""

    name: str
    arguments: tuple[str, ...]
    results: tuple[str, ...]
    argument_units: tuple[str, ...] = ()
    result_units: tuple[str, ...] = ()
    differentiated: int
    order: int = 0  # of the derivatives that come with the results
    typical: float = TYPICAL
    # What the machine code takes, if not `(const void* data, const double* arguments, double* results)`: `v0` is argument 0 as a
    # number, `a1` a pointer to argument 1 and those after it, `r0` a pointer to the results.
    passing: tuple[str, ...] = ()
    failure: Failure | None = None

    @property
    @abstractmethod
    def address(self) -> int:
        """Where the machine code is."""

    def address_to(self, order: int) -> int:
        """The same for those who read derivatives to `order` only: what is beyond need not be written."""
        return self.address

    @property
    def data_address(self) -> int:
        return 0

    @abstractmethod
    def evaluate(self, *arrays: np.ndarray) -> np.ndarray:
        """All that an evaluation writes, along a last axis, for arrays of arguments of one shape."""

    def relative(self, member: Sequence[int] | None) -> Any:
        """A part by the number of its result and those of the arguments that it is differentiated by; itself without them."""
        return self if member is None else self.part(member[0], tuple(member[1:]))

    def _form(self) -> str:
        return repr((self.arity, len(self.results), self.differentiated, self.order, self.typical, self.passing))

    def complaint(self, values: Sequence[float], margin: float = 0.0) -> str:
        """Why there is no result for these arguments, or within `margin` (a share of the range) of them; as far as it knows."""
        return ""

    def sides(self, args: tuple[Expression, ...]) -> tuple[Expression, ...]:
        """What changes its sign where results have other slopes on the other side, as far as it knows."""
        return ()

    @property
    def arity(self) -> int:
        return len(self.arguments)

    @property
    def outputs(self) -> int:
        """How many numbers an evaluation writes."""
        return outputs_of(self.differentiated, len(self.results), self.order)

    def part(self, result: int, by: tuple[int, ...] = ()) -> Part:
        """A result, or its derivative by the arguments numbered in `by`."""
        parts: dict[tuple[int, tuple[int, ...]], Part] = self.__dict__.setdefault("_parts", {})
        key = (result, tuple(sorted(by)))
        if key not in parts:
            parts[key] = Part(self, *key)
        return parts[key]

    def place(self, result: int, by: tuple[int, ...]) -> int:
        n = self.differentiated
        second = list(combinations_with_replacement(range(n), 2))
        block = 0 if not by else 1 + by[0] if len(by) == 1 else 1 + n + second.index((by[0], by[1]))
        return block * len(self.results) + result

    def __call__(self, *args: Any) -> tuple[Any, ...]:
        """All results, as expressions or as numbers, in order."""
        if len(args) != self.arity:
            raise UsageError(f"`{self.name}` takes {self.arity} argument(s) ({', '.join(self.arguments)}), got {len(args)}.")
        if any(is_symbolic(a) for a in args):
            nodes = tuple(as_expression(a) for a in args)
            return tuple(Call(self.part(k), nodes) for k in range(len(self.results)))
        found = self.on_numbers(*args)
        return tuple(plain(found[..., k]) for k in range(len(self.results)))

    def on_numbers(self, *args: Any) -> np.ndarray:
        return self.evaluate(*np.broadcast_arrays(*(numbers(a) for a in args)))

    def __copy__(self) -> Several:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Several:
        return self  # copies of a component call the same function, and their equations stay one family

    def __repr__(self) -> str:
        return f"{self.name}({', '.join(self.arguments)}) -> ({', '.join(self.results)})"


class Part(ExternalFunction):
    """One number of what an evaluation writes."""

    def __init__(self, several: Several, result: int, by: tuple[int, ...]) -> None:
        self.several, self.result, self.by = several, result, by
        self.place = several.place(result, by)
        self.arity = several.arity
        self.name = f"{several.name}.{several.results[result]}" + "".join(f"_d{several.arguments[k]}" for k in by)
        if not by and several.result_units:
            self.units = (*several.argument_units, several.result_units[result])

    @property
    def evaluation(self) -> Several:
        return self.several

    @property
    def root(self) -> Several:
        return self.several

    @property
    def member(self) -> list[int] | None:
        return [self.result, *self.by]

    @property
    def address(self) -> int:
        return self.several.address

    @property
    def data_address(self) -> int:
        return self.several.data_address

    def value(self, *arrays: Any) -> np.ndarray:
        whole = np.broadcast_arrays(*(np.asarray(a, dtype=float) for a in arrays))
        return self.several.evaluate(*whole)[..., self.place]

    def partial(self, k: int, args: tuple[Expression, ...]) -> Expression:
        if k >= self.several.differentiated:
            return Constant(0.0)
        if len(self.by) < self.several.order:
            return Call(self.several.part(self.result, (*self.by, k)), args)
        return central_difference(self, k, args, self.several.typical)

    def complaint(self, values: Sequence[float], margin: float = 0.0) -> str:
        return self.several.complaint(values, margin)

    def sides(self, args: tuple[Expression, ...]) -> tuple[Expression, ...]:
        return self.several.sides(args)


class _Declared(Several):
    """What a user said of a function: names, units, limits."""

    def __init__(
        self,
        name: str,
        arguments: Sequence[str],
        results: Sequence[str],
        *,
        units: Sequence[str] | None,
        limits: Limits | None,
        order: int,
        typical: float,
    ) -> None:
        self.name, self.arguments, self.results = name, tuple(arguments), tuple(results)
        self.order, self.typical, self.differentiated = order, typical, len(self.arguments)
        if order not in (0, 1, 2):
            raise UsageError(f"`{name}` can bring derivatives of order 0, 1 or 2, not {order!r}.")
        if len(set(self.results)) < len(self.results) or not self.results:
            raise UsageError(f"The results of `{name}` need a name each, got {list(self.results)}.")
        if units is not None:
            if len(units) != len(self.arguments) + len(self.results):
                counts = f"{len(self.arguments)} arguments and {len(self.results)} results"
                raise UsageError(
                    f"`{name}` has {counts}, but {len(units)} units were given.",
                    remedy="Give one unit for each argument, then one for each result.",
                )
            self.argument_units, self.result_units = tuple(units[: self.arity]), tuple(units[self.arity :])
        self.limits = dict(limits or {})
        unknown = set(self.limits) - set(self.arguments)
        if unknown:
            raise UsageError(f"`{name}` has no argument `{sorted(unknown)[0]}`; it has {', '.join(self.arguments)}.")

    def complaint(self, values: Sequence[float], margin: float = 0.0) -> str:
        for name, unit, value in zip(self.arguments, self.argument_units or ("",) * self.arity, values, strict=True):
            low, high = self.limits.get(name, (-np.inf, np.inf))
            slack = margin * (high - low) if np.isfinite(high - low) else margin * abs(value)
            if not low + slack <= value <= high - slack:
                held = f"`{self.name}` holds for {name} = {low:g} … {high:g} {unit}".rstrip()
                return f"{held}, and {name} is {value:g}"
        return ""

    def _within(self, values: Sequence[float]) -> bool:
        return all(low <= values[self.arguments.index(name)] <= high for name, (low, high) in self.limits.items())


class PythonSeveral(_Declared):
    """A Python function that compiled code calls back; it returns a tuple."""

    def __init__(self, python: Callable[..., Any], declared: dict[str, Any]) -> None:
        super().__init__(**declared)
        self.python = python
        self.__doc__ = python.__doc__
        self._kept: dict[tuple[float, ...], list[float]] = {}  # of the last arguments: whoever asks again, costs no call
        pointer = ctypes.POINTER(ctypes.c_double)
        self._callback = ctypes.CFUNCTYPE(None, ctypes.c_void_p, pointer, pointer)(self._guarded)

    @property
    def address(self) -> int:
        return address_of(self._callback)

    def _guarded(self, data: Any, arguments: Any, results: Any) -> None:
        given = tuple(arguments[k] for k in range(self.arity))
        found = self._kept.get(given)
        if found is None:
            found = self._row(given)
            if len(self._kept) >= _MOST_KEPT:
                self._kept.clear()
            self._kept[given] = found
        for k in range(self.outputs):
            results[k] = found[k]

    def _row(self, given: tuple[float, ...]) -> list[float]:
        """Not a number instead of an exception: the solver tries a smaller step, and the run's message tells what happened."""
        if not self._within(given):
            return [float("nan")] * self.outputs
        try:
            return self._checked(self.python(*given))
        except BaseException as error:  # Ctrl-C as well: it would be lost in the compiled code between here and the solver
            self.failure = Failure(self.name, given, error.with_traceback(None), place_in(self.python, error))
            return [float("nan")] * self.outputs

    def _checked(self, found: Any) -> list[float]:
        values = [float(v) for v in np.ravel(np.asarray(found, dtype=float))]
        if len(values) != self.outputs:
            raise UsageError(f"`{self.name}` must return {self.outputs} number(s), got {len(values)}.")
        return values

    def evaluate(self, *arrays: np.ndarray) -> np.ndarray:
        rows = [self._row(given) for given in zip(*(a.ravel().tolist() for a in arrays), strict=True)]
        return np.array(rows, dtype=float).reshape((*arrays[0].shape, self.outputs))

    def on_numbers(self, *args: Any) -> np.ndarray:
        """Called by the user: exceptions are theirs to see."""
        arrays = np.broadcast_arrays(*(numbers(a) for a in args))
        rows = [self._checked(self.python(*given)) for given in zip(*(a.ravel().tolist() for a in arrays), strict=True)]
        return np.array(rows, dtype=float).reshape((*arrays[0].shape, self.outputs))


class NativeSeveral(_Declared):
    """A C function or Fortran subroutine known by its address."""

    def __init__(self, pointer: Any, data: Any, passing: tuple[str, ...], declared: dict[str, Any]) -> None:
        self._target = target_of(pointer)
        self._declared = declared | {"name": declared["name"] or self._target.name}
        super().__init__(**self._declared)
        self._data, self._data_address = kept_data(data)
        self.passing = passing
        if passing and data is not None:
            raise UsageError(f"`{self.name}` is called by reference and takes its arguments only; it cannot have `data`.")

    def __reduce__(self) -> Any:
        """By the names of its library and of itself."""
        if not self._target.library or self._data is not None:
            raise UsageError(
                f"`{self.name}` cannot be pickled: it is known by an address, which means nothing to another process.",
                remedy='Give it by library and name: `("./flow.so", "rates")`.',
            )
        where = (self._target.library, self._target.name)
        return type(self), (where, None, self.passing, self._declared), self._beside()

    def form(self) -> str:
        known = type(self) is NativeSeveral and self._target.library and self._data is None
        return f"several {self._form()}" if known else ""

    def description(self) -> str:
        """Of a function in a library: where it is, and what was said of it."""
        names = (self._target.library, self._target.name, self.name, self.arguments, self.results)
        said = (self.argument_units, self.result_units, sorted(self.limits.items()))
        return self.form() and f"{self.form()} {names} {said}"

    def _beside(self) -> dict[str, Any]:
        """What belongs to it beside what it is made of."""
        return {}

    @property
    def address(self) -> int:
        return self._target.address

    @property
    def data_address(self) -> int:
        return self._data_address

    def evaluate(self, *arrays: np.ndarray) -> np.ndarray:
        rows = np.ascontiguousarray(np.stack([np.asarray(a, dtype=float).ravel() for a in arrays], axis=1))
        found = np.full((len(rows), self.outputs), np.nan)
        types = [ctypes.c_double if way[0] == "v" else ctypes.c_void_p for way in self.passing]
        call = ctypes.CFUNCTYPE(None, *(types or [ctypes.c_void_p] * 3))(self.address)
        for row, out in zip(rows, found, strict=True):
            if self._within(row.tolist()):
                call(*(self._passed(way, row, out) for way in self.passing or ("d", "a0", "r0")))
        return found.reshape((*arrays[0].shape, self.outputs))

    def _passed(self, way: str, arguments: np.ndarray, results: np.ndarray) -> float | int:
        if way == "d":
            return self._data_address
        k = int(way[1:])
        if way[0] == "v":
            return float(arguments[k])
        return int((arguments if way[0] == "a" else results)[k:].ctypes.data)


@checked
def several(
    pointer: Any,
    arguments: Sequence[str] | None = None,
    results: Sequence[str] = (),
    *,
    order: int = 0,
    units: Sequence[str] | None = None,
    limits: Limits | None = None,
    name: str | None = None,
    data: Any = None,
    by_reference: bool = False,
    typical: float = TYPICAL,
) -> Several:
    """A function with several results for use in equations: called once for each distinct set of arguments.

    `pointer` is a Python function that returns a tuple, or a C function, given as `ac.external` takes them,
    `void f(const void* data, const double* arguments, double* results)`. With `by_reference` it is a Fortran subroutine (or C
    function) whose arguments are pointers to the arguments, then to the results. `order` says how many orders of derivatives it
    writes after the results: first all results, then their derivatives by each argument, then the second derivatives 11, 12, …, 22,
    …; without them central differences are used. `units` are those of the arguments, then of the results; `limits` are
    `{argument: (low, high)}`.

    >>> polar = several(lambda x, y: ((x * x + y * y) ** 0.5, x * y), results=("r", "product"))
    >>> polar(3.0, 4.0)
    (5.0, 12.0)
    """
    declared: dict[str, Any] = {"results": results, "units": units, "limits": limits, "order": order, "typical": typical}
    if callable(pointer) and not isinstance(pointer, ctypes._CFuncPtr) and not hasattr(pointer, "address"):  # type: ignore[attr-defined]
        called = name or str(getattr(pointer, "__name__", "function"))
        python_arity(pointer, called)
        names = tuple(arguments or inspect.signature(pointer).parameters)
        return PythonSeveral(pointer, declared | {"name": called, "arguments": names})
    if arguments is None:
        raise UsageError("Which arguments does the function take?", remedy='Give their names: `arguments=("p", "h")`.')
    ways = ([f"a{k}" for k in range(len(arguments))], [f"r{k}" for k in range(outputs_of(len(arguments), len(results), order))])
    passing = (*ways[0], *ways[1]) if by_reference else ()
    return NativeSeveral(pointer, data, passing, declared | {"name": name, "arguments": arguments})
