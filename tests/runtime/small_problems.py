"""Problems with known solutions, compiled to kernels of the contract's shape, without the language and without a C compiler."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir

from acausal.errors import Diagnostic
from acausal.runtime.problem import JacobianKernel, Kernel, Problem, Words

# Options of a native session as SUNDIALS has them; those of the solver `ida` are its own.
SUNDIALS: dict[str, Any] = {
    "max_order": 5, "max_step": 0.0, "initial_step": 0.0, "max_steps": 0, "ordering": "auto", "max_nonlinear_iterations": 4,
    "max_convergence_failures": 10, "max_error_test_failures": 10, "nonlinear_tolerance": 0.33, "record_steps": False,
}  # fmt: skip

_double, _i32, _i64 = ir.DoubleType(), ir.IntType(32), ir.IntType(64)
_alive: list[Any] = []  # machine code stays in memory for the whole test run


class Value:
    """A double in a kernel under construction."""

    def __init__(self, builder: ir.IRBuilder, value: Any) -> None:
        self.builder = builder
        self.value = value if isinstance(value, ir.Value) else ir.Constant(_double, float(value))

    def _with(self, operation: str, other: Any, swap: bool = False) -> Value:
        other = other if isinstance(other, Value) else Value(self.builder, other)
        a, b = (other, self) if swap else (self, other)
        return Value(self.builder, getattr(self.builder, operation)(a.value, b.value))

    def __add__(self, other: Any) -> Value:
        return self._with("fadd", other)

    def __sub__(self, other: Any) -> Value:
        return self._with("fsub", other)

    def __rsub__(self, other: Any) -> Value:
        return self._with("fsub", other, swap=True)

    def __mul__(self, other: Any) -> Value:
        return self._with("fmul", other)

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self) -> Value:
        return self * -1.0

    def sqrt(self) -> Value:
        intrinsic = self.builder.module.declare_intrinsic("llvm.sqrt", [_double])
        return Value(self.builder, self.builder.call(intrinsic, [self.value]))


@dataclass
class Rows:
    """A family: `residual` of the slots' values, `derivatives` as slot -> d residual / d slot."""

    slots: list[Any]  # per slot, the cells of w, row by row
    rows: Any
    residual: Callable[..., Value]
    derivatives: dict[int, Callable[..., Any]] = field(default_factory=dict)


def _engine() -> Any:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine(opt=2)
    return llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)


def _compile(family: Rows, jacobian: bool, size: int) -> int:
    """The address of a kernel: for row: gather, compute, accumulate."""
    pointer = _double.as_pointer()
    index = _i32.as_pointer()
    factor = [_double] if jacobian else []
    module = ir.Module()
    kind = ir.FunctionType(ir.VoidType(), [pointer, *factor, pointer, index, index, _i64, pointer])
    function = ir.Function(module, kind, f"kernel_{len(_alive)}")
    w, *cj, out, slots, targets, n, _ = function.args
    entry, head, body, end = (function.append_basic_block(name) for name in ("entry", "head", "body", "end"))
    ir.IRBuilder(entry).branch(head)
    b = ir.IRBuilder(head)
    row = b.phi(_i64)
    row.add_incoming(ir.Constant(_i64, 0), entry)
    b.cbranch(b.icmp_signed("<", row, n), body, end)
    ir.IRBuilder(end).ret_void()
    b = ir.IRBuilder(body)

    def cell(table: Any, k: int) -> Any:
        return b.load(b.gep(table, [b.add(b.mul(n, ir.Constant(_i64, k)), row)]))

    values = [Value(b, b.load(b.gep(w, [b.sext(cell(slots, k), _i64)]))) for k in range(len(family.slots))]
    if jacobian:
        results = []
        for slot, derivative in family.derivatives.items():
            found = derivative(*values)
            found = found if isinstance(found, Value) else Value(b, found)
            is_slope = np.atleast_1d(family.slots[slot])[0] in range(size, 2 * size)
            results.append(found * Value(b, cj[0]) if is_slope else found)
    else:
        results = [family.residual(*values)]
    for k, result in enumerate(results):
        target = b.gep(out, [b.sext(cell(targets, k), _i64)])
        b.store(b.fadd(b.load(target), result.value), target)
    row.add_incoming(b.add(row, ir.Constant(_i64, 1)), body)
    b.branch(head)
    engine = _engine()
    engine.add_module(llvm.parse_assembly(str(module)))
    engine.finalize_object()
    _alive.append(engine)
    return int(engine.get_function_address(function.name))


def _table(columns: list[Any]) -> np.ndarray:
    return np.ascontiguousarray(np.stack([np.atleast_1d(c) for c in columns]), dtype=np.int32)


def expression_kernel(family: Rows, size: int) -> Kernel:
    return Kernel(_compile(family, False, size), _table(family.slots), _table([family.rows]))


class OfPart(Words):
    def unknown(self, number: int) -> str:
        return f"part.y[{number}]"

    def equation(self, row: int) -> Diagnostic | None:
        return Diagnostic("", component="part", equation=f"equation {row}")


def make_problem(size: int, known: list[float], families: list[Rows], differential: Any, start: Any, **more: Any) -> Problem:
    """The last cell of `known` is time."""
    entries = [(f.rows, np.atleast_1d(f.slots[s]) % size) for f in families for s in f.derivatives]
    keys = [np.atleast_1d(c).astype(np.int64) * size + r for r, c in entries]
    unique, inverse = np.unique(np.concatenate(keys), return_inverse=True)
    indptr = np.searchsorted(unique // size, np.arange(size + 1)).astype(np.int32)
    residuals, jacobians, used = [], [], 0
    for f in families:
        count, rows = len(f.derivatives), len(np.atleast_1d(f.rows))
        positions = inverse[used : used + count * rows].reshape(count, rows)
        used += count * rows
        residuals.append(expression_kernel(f, size))
        places = np.ascontiguousarray(positions, dtype=np.int32)
        jacobians.append(JacobianKernel(_compile(f, True, size), _table(f.slots), places, by=list(f.derivatives)))
    ones = np.ones(size)
    return Problem(
        size=size,
        known=np.array([*known, 0.0]),
        time_index=2 * size + len(known),
        pattern=(indptr, (unique % size).astype(np.int32)),
        residual_kernels=residuals,
        jacobian_kernels=jacobians,
        differential=np.asarray(differential, dtype=bool),
        start=np.asarray(start, dtype=float),
        nominal=ones,
        minimum=-np.inf * ones,
        maximum=np.inf * ones,
        fixed=np.asarray(differential, dtype=bool),
        words=OfPart(),
        **more,
    )


def decay(n: int = 1, k: float = 1.0, **more: Any) -> Problem:
    """y' = -k y, n times: y = exp(-k t)."""
    y = np.arange(n)
    law = Rows([y + n, y, np.full(n, 2 * n)], y, lambda yp, y, k: yp + k * y, {0: lambda *_: 1.0, 1: lambda yp, y, k: k})
    return make_problem(n, [k], [law], np.ones(n), np.ones(n), **more)


def driven() -> Problem:
    """y' = u with u an external input, cell 0 of known."""
    law = Rows([[1], [2]], [0], lambda yp, u: yp - u, {0: lambda *_: 1.0})
    return make_problem(1, [0.0], [law], [True], [0.0])


def robertson() -> Problem:
    first = Rows(
        [[3], [0], [1], [2]],
        [0],
        lambda d, a, b, c: d + 0.04 * a - 1e4 * b * c,
        {0: lambda *_: 1.0, 1: lambda *_: 0.04, 2: lambda d, a, b, c: -1e4 * c, 3: lambda d, a, b, c: -1e4 * b},
    )
    second = Rows(
        [[4], [0], [1], [2]],
        [1],
        lambda d, a, b, c: d - 0.04 * a + 1e4 * b * c + 3e7 * b * b,
        {0: lambda *_: 1.0, 1: lambda *_: -0.04, 2: lambda d, a, b, c: 1e4 * c + 6e7 * b, 3: lambda d, a, b, c: 1e4 * b},
    )
    total = Rows([[0], [1], [2]], [2], lambda a, b, c: a + b + c - 1.0, {0: lambda *_: 1.0, 1: lambda *_: 1.0, 2: lambda *_: 1.0})
    return make_problem(3, [], [first, second, total], [True, True, False], [1.0, 0.0, 0.0])


def ladder(sections: int) -> Problem:
    """RC ladder, R = C = 1: capacitor voltages, then resistor currents; the source voltage is an input, cell 0 of known."""
    m, n = sections, 2 * sections
    v, i = np.arange(m), np.arange(m, n)
    one, minus = (lambda *_: 1.0), (lambda *_: -1.0)
    store = Rows([v[:-1] + n, i[:-1], i[1:]], v[:-1], lambda vp, a, b: vp - a + b, {0: one, 1: minus, 2: one})
    last = Rows([v[-1:] + n, i[-1:]], v[-1:], lambda vp, a: vp - a, {0: one, 1: minus})
    ohm = Rows([i[1:], v[:-1], v[1:]], i[1:], lambda i, a, b: i - a + b, {0: one, 1: minus, 2: one})
    first = Rows([i[:1], [2 * n], v[:1]], i[:1], lambda i, a, b: i - a + b, {0: one, 2: one})
    return make_problem(n, [0.0], [store, last, ohm, first], np.arange(n) < m, np.zeros(n))


def blow_up() -> Problem:
    """y' = y²: y = 1 / (1 - t), gone at t = 1."""
    law = Rows([[1], [0]], [0], lambda yp, y: yp - y * y, {0: lambda *_: 1.0, 1: lambda yp, y: -2.0 * y})
    return make_problem(1, [], [law], [True], [1.0])


def square_root(limit: float = 0.5) -> Problem:
    """x' = 1, z = sqrt(limit - x): no value from x = limit on."""
    clock = Rows([[2]], [0], lambda xp: xp - 1.0, {0: lambda *_: 1.0})
    root = Rows([[1], [0], [4]], [1], lambda z, x, k: z - (k - x).sqrt(), {0: lambda *_: 1.0, 1: lambda *_: 0.0})
    return make_problem(2, [limit], [clock, root], [True, False], [0.0, np.sqrt(limit)])


def undetermined() -> Problem:
    """x' = 1, 0 = k z with k = 0: z is anything."""
    clock = Rows([[2]], [0], lambda xp: xp - 1.0, {0: lambda *_: 1.0})
    law = Rows([[1], [4], [0]], [1], lambda z, k, x: k * z + k * x, {0: lambda z, k, x: k, 2: lambda z, k, x: k})
    return make_problem(2, [0.0], [clock, law], [True, False], [0.0, 0.0])
