"""The problem F(t, y, y', known) = 0 as solvers and initialisation see it: arrays, kernels, names on demand.

The workspace of a kernel is w = [ y | y' | known ]. Evaluation is native where the core is there; otherwise kernels are called
through ctypes, which costs microseconds per kernel and nothing per row.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Sequence
from dataclasses import field
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..errors import Diagnostic, UsageError
from ..records import dataclass

if TYPE_CHECKING:
    from ..families.lowering import Lowered


def _load_core() -> Any:
    try:
        return import_module("acausal._core")
    except ImportError:  # installed without a compiler or without SUNDIALS
        return None


core = _load_core()

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int32]
    Mask = NDArray[np.bool_]
else:  # importing `numpy.typing` takes longer than many a model
    Floats = Integers = Mask = np.ndarray

_pointer = ctypes.c_void_p
_RESIDUAL = ctypes.CFUNCTYPE(None, _pointer, _pointer, _pointer, _pointer, ctypes.c_int64, _pointer)
_JACOBIAN = ctypes.CFUNCTYPE(None, _pointer, ctypes.c_double, _pointer, _pointer, _pointer, ctypes.c_int64, _pointer)


class Kernel(NamedTuple):
    """Machine code with the tables it loops over; `targets` are residual rows, or whatever else it adds to."""

    address: int
    slots: Integers  # (slot, row), into w
    targets: Integers  # (output, row)
    functions: Sequence[int] = ()  # pairs of code and data addresses


class JacobianKernel(NamedTuple):
    """The same for derivatives: `targets` are positions in the Jacobian's values."""

    address: int
    slots: Integers  # (slot, row), into w
    targets: Integers  # (entry, row)
    functions: Sequence[int] = ()
    by: Sequence[int] = ()  # the slot that each entry is a derivative by


class _Called:
    """A kernel called through ctypes."""

    def __init__(self, kernel: Kernel | JacobianKernel, prototype: Any) -> None:
        self.tables = (kernel.slots, kernel.targets)
        self.functions = np.array(kernel.functions, dtype=np.uint64)
        self.code = prototype(kernel.address)
        self.arguments = (kernel.slots.ctypes.data, kernel.targets.ctypes.data, kernel.targets.shape[1], self.functions.ctypes.data)

    def __call__(self, w: Floats, *factor_and_out: Any) -> None:
        *factor, out = factor_and_out
        self.code(w.ctypes.data, *factor, out.ctypes.data, *self.arguments)


class RowDerivatives:
    """Every entry of a Jacobian kernel for every row, by itself: (entry, row). Derivatives by y' are not scaled."""

    def __init__(self, kernel: JacobianKernel) -> None:
        self.shape = len(kernel.by), kernel.slots.shape[1]
        alone = kernel._replace(targets=np.arange(self.shape[0] * self.shape[1], dtype=np.int32).reshape(self.shape))
        self._called = _Called(alone, _JACOBIAN)

    def __call__(self, w: Floats) -> Floats:
        out = np.zeros(self.shape)
        self._called(w, ctypes.c_double(1.0), out)
        return out


def derivatives_of_rows(kernel: JacobianKernel, w: Floats) -> Floats:
    """The same, once."""
    return RowDerivatives(kernel)(w)


@dataclass(frozen=True, eq=False)
class Stored:
    """What a run stores at an output time: cells of w (~i: with a minus sign), then expressions computed by kernels."""

    gather: Integers
    kernels: tuple[Kernel, ...] = ()
    expressions: int = 0

    @property
    def width(self) -> int:
        return len(self.gather) + self.expressions

    @cached_property
    def _called(self) -> list[_Called]:
        return [_Called(k, _RESIDUAL) for k in self.kernels]

    def row(self, w: Floats, out: Floats) -> None:
        """Fill one row from a workspace."""
        cells = len(self.gather)
        out[:cells] = np.where(self.gather >= 0, w[self.gather ^ (self.gather >> 31)], -w[self.gather ^ (self.gather >> 31)])
        out[cells:] = 0.0
        for kernel in self._called:
            kernel(w, out[cells:])


@dataclass(frozen=True, eq=False)
class Computed:
    """Explicit variables: the last `count` known cells, filled by `kernels` in their order before anything else is evaluated.

    The chain rule through them works on the Jacobian's values, `cells` of which stand behind the pattern:
    `value[products[0]] += value[products[1]] * value[products[2]]`, one product after the other.
    """

    count: int = 0
    kernels: tuple[Kernel, ...] = ()
    products: Integers = field(default_factory=lambda: np.zeros((3, 0), dtype=np.int32))
    cells: int = 0

    @cached_property
    def _called(self) -> list[_Called]:
        return [_Called(k, _RESIDUAL) for k in self.kernels]

    def assign(self, w: Floats) -> None:
        if self.count:
            cells = w[-self.count :]
            cells[:] = 0.0
            for kernel in self._called:
                kernel(w, cells)

    def chain(self, values: Floats, also: int = 0) -> None:
        """`also`: where a second set of values begins that goes through the same links; 0: there is none."""
        for target, link, source in self.products.T.tolist():
            values[target] += values[link] * values[source]
            if also:
                values[also + target] += values[link] * values[also + source]


@dataclass(frozen=True, eq=False)
class Rules:
    """Expressions about events, role by role (see `families/hybrid.py`); evaluated on a workspace when something happens.

    Root functions of a run are those of the relations, then those of the crossings.
    """

    kernels: dict[str, tuple[Kernel, ...]]
    counts: dict[str, int]
    step_cells: NDArray[np.int64]  # known cells that are assigned after every step …
    step_watched: Mask  # … those whose change is an event, because something but the steps themselves reads them
    bands: NDArray[np.int64]  # known cells: of relations, on which side they are (see `runtime/events/relations.py`)
    zero: NDArray[np.float64]  # … and the side that goes with what is written where both sides of the relation are equal

    @cached_property
    def _called(self) -> dict[str, list[_Called]]:
        return {role: [_Called(k, _RESIDUAL) for k in kernels] for role, kernels in self.kernels.items()}

    def values(self, role: str, w: Floats) -> Floats:
        out = np.zeros(self.counts[role])
        for kernel in self._called[role]:
            kernel(w, out)
        return out

    @property
    def root_count(self) -> int:
        return self.counts["relation"] + self.counts["crossing"]

    def sides(self, known: Floats) -> Floats:
        """On which side of zero relations are taken to be."""
        return -np.copysign(1.0, known[self.bands])

    def rests(self, g: Floats, known: Floats) -> Mask:
        """Which relations are exactly on their switching points, and have another value than is written there."""
        return (g[: len(self.bands)] + known[self.bands] == 0) & (self.sides(known) != self.zero)

    def roots(self) -> list[Kernel]:
        shift = self.counts["relation"]
        moved = [k._replace(targets=k.targets + np.int32(shift)) for k in self.kernels["crossing"]]
        return [*self.kernels["relation"], *moved]


@dataclass(frozen=True)
class Bends:
    """Functions that change their signs where equations bend without an event (see `families/bends.py`)."""

    kernels: tuple[Kernel, ...] = ()
    count: int = 0


_NOWHERE_BENT = Bends()


class Words:
    """What the unknowns and equations of a problem are called: these ones, of a problem that nobody named, by their numbers."""

    def unknown(self, number: int) -> str:
        return f"y[{number}]"

    def equation(self, row: int) -> Diagnostic | None:
        """Where an equation was stated, and how it reads."""
        return None

    def initial_equation(self, row: int) -> Diagnostic | None:
        return None

    def fault(self, row: int, workspace: Floats) -> Diagnostic | None:
        """Why an equation has no value."""
        return None

    def initial_fault(self, row: int, workspace: Floats) -> Diagnostic | None:
        """Why an initial equation has no value."""
        return None


_NUMBERS_ONLY = Words()


class Equations:
    """`count` residuals over `size` unknowns: their kernels, their pattern, and how they are evaluated."""

    def __init__(
        self,
        size: int,
        count: int,
        known_size: int,
        time_index: int,
        pattern: tuple[Integers, Integers],
        residuals: Iterable[Kernel],
        jacobians: Iterable[JacobianKernel],
        native: bool = True,
        computed: Computed | None = None,
        rules: Rules | None = None,
        bends: Bends = _NOWHERE_BENT,
    ) -> None:
        self.rules, self.bends = rules, bends
        self.computed = computed or Computed()
        self.size, self.count, self.time_index, self.known_size = size, count, time_index, known_size
        self.pattern = (np.ascontiguousarray(pattern[0], dtype=np.int32), np.ascontiguousarray(pattern[1], dtype=np.int32))
        self.residuals = [Kernel(*k) for k in residuals]
        self.jacobians = [JacobianKernel(*k) for k in jacobians]
        self.native: Any = self._build() if native and core is not None else None

    def _build(self) -> Any:
        system = core.System(self.size, self.known_size, self.time_index, self.count)
        system.set_pattern(*self.pattern)
        for kernel in self.residuals:
            system.add_residual(*kernel)
        for jacobian in self.jacobians:
            system.add_jacobian(*jacobian)
        for kernel in self.computed.kernels:
            system.add_assignment(*kernel)
        system.set_computed(self.computed.count, self.computed.products, self.computed.cells)
        for kernel in self.bends.kernels:
            system.add_bend(*kernel)
        system.set_bends(self.bends.count)
        if self.rules is not None:
            for kernel in self.rules.roots():
                system.add_root(*kernel)
            system.set_roots(self.rules.root_count, (2 * self.size + self.rules.bands).astype(np.int32), self.rules.zero)
            for kernel in self.rules.kernels["step"]:
                system.add_step_update(*kernel)
            if self.rules.counts["step"]:
                system.set_step_updates(self.rules.step_cells.astype(np.int32), self.rules.step_watched)
        return system

    @cached_property
    def _called(self) -> tuple[list[_Called], list[_Called]]:
        return [_Called(k, _RESIDUAL) for k in self.residuals], [_Called(k, _JACOBIAN) for k in self.jacobians]

    def workspace(self, t: float, y: Floats, yp: Floats, known: Floats) -> Floats:
        w = np.concatenate([y, yp, known])
        w[self.time_index] = t
        if self.native is not None:
            self.native.assign(w)
        else:
            self.computed.assign(w)
        return w

    def residual(self, t: float, y: Floats, yp: Floats, known: Floats, out: Floats | None = None) -> Floats:
        out = np.empty(self.count) if out is None else out
        if self.native is not None:
            self.native.residual(known, t, _vector(y), _vector(yp), out)
            return out
        w = self.workspace(t, y, yp, known)
        out[:] = 0.0
        for kernel in self._called[0]:
            kernel(w, out)
        if self.count and self.computed.count and not np.isfinite(w[-self.computed.count :]).all():
            out[0] = np.nan  # a computed cell without a value must not go unnoticed because nothing reads it
        return out

    def jacobian(self, t: float, y: Floats, yp: Floats, cj: float, known: Floats, out: Floats | None = None) -> Floats:
        nnz = len(self.pattern[1])
        cells = np.empty(nnz + self.computed.cells + 1)  # the last one receives what has no place in the pattern
        if self.native is not None:
            self.native.jacobian(known, t, _vector(y), _vector(yp), cj, cells)
        else:
            w = self.workspace(t, y, yp, known)
            cells[:] = 0.0
            for kernel in self._called[1]:
                kernel(w, ctypes.c_double(cj), cells)
            self.computed.chain(cells)
        if out is None:
            return cells[:nnz]
        out[:nnz] = cells[:nnz]
        return out

    def partials(self, t: float, y: Floats, yp: Floats, known: Floats) -> tuple[Floats, Floats]:
        """Values of dF/dy and of dF/dy', each in the order of `pattern`."""
        nnz = len(self.pattern[1])
        if self.native is not None:
            by_value, by_slope = np.empty(nnz), np.empty(nnz)
            self.native.partials(known, t, _vector(y), _vector(yp), by_value, by_slope)
            return by_value, by_slope
        w, each = self.workspace(t, y, yp, known), nnz + self.computed.cells + 1
        cells = np.zeros(2 * each)
        for kernel in self._split:
            kernel(w, ctypes.c_double(1.0), cells)
        self.computed.chain(cells, each)
        return cells[:nnz], cells[each : each + nnz]

    @cached_property
    def _split(self) -> list[_Called]:
        """The Jacobian's kernels with tables that send derivatives by y' behind those by y (as native/system.cpp does)."""
        found, shift = [], len(self.pattern[1]) + self.computed.cells + 1
        for kernel in self.jacobians:
            cell = kernel.slots[list(kernel.by)]
            cell = np.where(cell < 0, ~cell, cell)
            slope = (cell >= self.size) & (cell < 2 * self.size)
            moved = np.ascontiguousarray(kernel.targets + shift * slope, dtype=np.int32)
            found.append(_Called(kernel._replace(targets=moved), _JACOBIAN))
        return found


def _vector(values: Floats) -> Floats:
    return np.ascontiguousarray(values, dtype=np.float64)


@dataclass(eq=False)
class Problem:
    """F(t, y, y', known) = 0 with what is known about its unknowns. Change `known` in place to tune a parameter.

    Every day: `size`, `residual`, `jacobian`, `known`, `start`. The rest tells initialisation and messages what they need.
    """

    size: int
    known: Floats
    time_index: int  # of the time cell, in w
    pattern: tuple[Integers, Integers]  # CSC of dF/dy + cj dF/dy'
    residual_kernels: Sequence[Kernel]
    jacobian_kernels: Sequence[JacobianKernel]
    differential: Mask
    start: Floats
    nominal: Floats
    minimum: Floats
    maximum: Floats
    fixed: Mask
    words: Words = _NUMBERS_ONLY
    continuation_index: int | None = None  # of the homotopy parameter, in known; 1.0 is the model as written
    start_given: Mask | None = None
    start_level: NDArray[np.int64] | None = None  # who gave it: 0 is nobody, higher numbers count more
    start_voices: Floats | None = None  # how many did, of the variables that are the unknown
    uses_continuation: bool | None = None
    pattern_parts: tuple[Mask, Mask] | None = None  # which entries can hold a derivative by y, which by y'
    initial_pattern_parts: tuple[Mask, Mask] | None = None
    initial_size: int = 0
    initial_pattern: tuple[Integers, Integers] | None = None
    initial_residual_kernels: Sequence[Kernel] = ()
    initial_jacobian_kernels: Sequence[JacobianKernel] = ()
    computed: Computed | None = None
    rules: Rules | None = None  # about events
    bends: Bends = _NOWHERE_BENT
    fresh_jacobians: bool = False  # nonlinear constraints were differentiated: a Jacobian must not serve for more than one step
    use_native: bool = True
    lowered: Lowered = field(init=False, repr=False)  # where the unknowns of the system went
    derived: Mask | None = field(default=None, init=False, repr=False)  # derivatives that are unknowns, if no `lowered` says it
    code: list[Any] = field(init=False, repr=False)  # keeps the machine code in memory
    candidates: Mask | None = field(
        init=False, repr=False, default=None
    )  # unknowns that may be states, where states are selected …
    states: NDArray[np.int64] = field(init=False, repr=False)  # … and (unknown, its derivative) of those that are
    bounded: NDArray[np.int64] | None = field(init=False, repr=False, default=None)  # unknowns with a finite bound, once known
    equations: Equations = field(init=False, repr=False)
    _error_tests: dict[bool, tuple[Mask, Mask, Mask]] = field(init=False, repr=False, default_factory=dict)
    initial_equations: Equations | None = field(init=False, repr=False, default=None)

    def __post_init__(self) -> None:
        self._check()
        if self.start_given is None:
            self.start_given = np.ones(self.size, dtype=bool)
        if self.uses_continuation is None:
            self.uses_continuation = self.continuation_index is not None and self._reads(2 * self.size + self.continuation_index)
        layout = (len(self.known), self.time_index)
        self.equations = Equations(
            self.size,
            self.size,
            *layout,
            self.pattern,
            self.residual_kernels,
            self.jacobian_kernels,
            self.use_native,
            self.computed,
            self.rules,
            self.bends,
        )
        self.pattern = self.equations.pattern
        if self.initial_size:
            assert self.initial_pattern is not None
            kernels = (self.initial_residual_kernels, self.initial_jacobian_kernels)
            self.initial_equations = Equations(
                self.size, self.initial_size, *layout, self.initial_pattern, *kernels, self.use_native
            )
            self.initial_pattern = self.initial_equations.pattern

    def name_of_unknown(self, number: int) -> str:
        return self.words.unknown(number)

    def describe_equation(self, row: int) -> Any:
        return self.words.equation(row)

    def describe_initial_equation(self, row: int) -> Any:
        return self.words.initial_equation(row)

    def has_values(self, workspace: Floats) -> bool:
        """Whether all that is computed from known values and unknowns has a finite value."""
        count = self.computed.count if self.computed is not None else 0
        return not count or bool(np.isfinite(workspace[-count:]).all())

    def explain_row(self, row: int, workspace: Floats) -> Diagnostic | None:
        """Why an equation has no value, given a workspace; None where nobody can tell."""
        return self.words.fault(row, workspace)

    def explain_initial_row(self, row: int, workspace: Floats) -> Diagnostic | None:
        """The same of an initial equation."""
        return self.words.initial_fault(row, workspace)

    def _check(self) -> None:
        self.known = np.ascontiguousarray(self.known, dtype=np.float64)
        for name, kind in (
            ("differential", bool),
            ("fixed", bool),
            ("start", float),
            ("nominal", float),
            ("minimum", float),
            ("maximum", float),
        ):
            values = np.ascontiguousarray(getattr(self, name), dtype=kind)
            if values.shape != (self.size,):
                raise UsageError(f"`{name}` has the shape {values.shape}; the problem has {self.size} unknowns.")
            setattr(self, name, values)

    def _reads(self, cell: int) -> bool:
        assignments = self.computed.kernels if self.computed is not None else ()
        kernels = (*self.residual_kernels, *self.initial_residual_kernels, *assignments)
        return any(bool(((k[1] == cell) | (k[1] == ~cell)).any()) for k in kernels)

    def error_test(self, suppress_algebraic: bool = False) -> tuple[Mask, Mask, Mask]:
        """Unknowns that always take part in the error test; those whose tolerances follow from those of the states; and of these
        the derivatives that index reduction made unknowns, which take part as far as the states decide them (`native/scales.h`).

        The errors of such derivatives are larger by one order than those of what they derive from (Brenan, Campbell, Petzold 1996,
        5.4.1), and they show the noise of steps that change.
        """
        found = self._error_tests.get(suppress_algebraic)
        if found is None:
            found = self._error_tests[suppress_algebraic] = self._error_test(suppress_algebraic)
        return found

    def _error_test(self, suppress_algebraic: bool) -> tuple[Mask, Mask, Mask]:
        algebraic = ~self.differential
        derivative = algebraic & self._is_derivative()
        if suppress_algebraic:
            return self.differential.copy(), algebraic, np.zeros(self.size, dtype=bool)
        return ~derivative, algebraic, derivative

    @cached_property
    def calls(self) -> bool:
        """Whether equations call functions."""
        computed = () if self.computed is None else self.computed.kernels
        kernels = (*self.residual_kernels, *self.initial_residual_kernels, *computed)
        return any(len(k.functions) > 0 for k in kernels)

    def _is_derivative(self) -> Mask:
        lowered = getattr(self, "lowered", None)
        if self.derived is not None:
            return self.derived
        if lowered is None or lowered.system.derivatives is None:
            return np.zeros(self.size, dtype=bool)
        return np.asarray(lowered.kept >= len(lowered.system.derivatives.highest))

    @property
    def native(self) -> Any:
        """The `_core.System` of the equations, or None without the native core."""
        return self.equations.native

    def residual(self, t: float, y: Floats, yp: Floats, out: Floats | None = None, *, known: Floats | None = None) -> Floats:
        return self.equations.residual(t, y, yp, self.known if known is None else known, out)

    def jacobian(
        self, t: float, y: Floats, yp: Floats, cj: float, out: Floats | None = None, *, known: Floats | None = None
    ) -> Floats:
        """Values of dF/dy + cj dF/dy' in the order of `pattern`."""
        return self.equations.jacobian(t, y, yp, cj, self.known if known is None else known, out)

    def partials(self, t: float, y: Floats, yp: Floats, *, known: Floats | None = None) -> tuple[Floats, Floats]:
        """Values of dF/dy and of dF/dy', each in the order of `pattern`."""
        return self.equations.partials(t, y, yp, self.known if known is None else known)

    def initial_residual(self, t: float, y: Floats, yp: Floats, out: Floats | None = None) -> Floats:
        return self._initial().residual(t, y, yp, self.known, out)

    def initial_jacobian(self, t: float, y: Floats, yp: Floats, cj: float, out: Floats | None = None) -> Floats:
        return self._initial().jacobian(t, y, yp, cj, self.known, out)

    def initial_partials(self, t: float, y: Floats, yp: Floats) -> tuple[Floats, Floats]:
        return self._initial().partials(t, y, yp, self.known)

    def _initial(self) -> Equations:
        if self.initial_equations is None:
            raise UsageError("This problem has no initial equations.")
        return self.initial_equations

    def unknowns_of_equation(self, row: int) -> NDArray[np.intp]:
        """Numbers of the unknowns that equation `row` contains, itself or as a derivative."""
        indptr, indices = self.pattern
        return np.searchsorted(indptr, np.flatnonzero(indices == row), side="right") - 1
