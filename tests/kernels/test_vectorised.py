"""Rows that follow each other in memory are computed several at once, to the same bits."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest

import acausal as ac
from acausal.families.template import CONSECUTIVE, MINUS, MIXED, PLUS, REPEATED, Family, Template
from acausal.kernels import compile_kernels
from acausal.kernels.emit import emit_kernel
from acausal.language.expression import Expression, Slot, apply

CELLS = 1000
A, B, C = Slot(0, "variable"), Slot(1, "derivative"), Slot(2, "known")
TEMPLATES: dict[str, tuple[Expression, ...]] = {
    "linear": (A * C - B,),
    "a root and a quotient": (apply("sqrt", A * A + C) / (B - C),),
    "functions": (apply("sin", A) + apply("exp", B * C),),
    "a choice": (apply("where", apply("lt", A, B), A * B, apply("tanh", C)),),
    "two outputs": (A * B + C, apply("max", A, C) - B),
}


def family(outputs: tuple[Expression, ...], n: int, signs: tuple[int, ...] = (PLUS, PLUS, PLUS)) -> Family:
    starts = np.array([[0], [n], [2 * n + 3]], dtype=np.int32)
    slots = starts + np.array([[1], [1], [0]], dtype=np.int32) * np.arange(n, dtype=np.int32)
    rows = np.array([[7 + k * (n + 1)] for k in range(len(outputs))], dtype=np.int32) + np.arange(n, dtype=np.int32)
    return Family(Template.of(outputs), np.ascontiguousarray(slots), signs, np.ascontiguousarray(rows))


def evaluated(one: Family, access: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Residuals, and entries of the Jacobian."""
    (kernel,) = compile_kernels([(one.template, access)])
    w = np.random.default_rng(3).uniform(0.1, 2.0, 3 * CELLS)
    out, none = np.random.default_rng(4).normal(size=3 * CELLS), np.zeros(1, dtype=np.uint64)
    pointers: list[Any] = [one.slots.ctypes.data, one.rows.ctypes.data]
    kind = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4, ctypes.c_int64, ctypes.c_void_p)
    kind(kernel.residual_address)(w.ctypes.data, out.ctypes.data, *pointers, one.count, none.ctypes.data)
    entries = len(one.template.entries)
    places = np.arange(entries * one.count, dtype=np.int32)
    jac = np.zeros(len(places))
    kind = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_double, *[ctypes.c_void_p] * 3, ctypes.c_int64, ctypes.c_void_p)
    arguments = (one.slots.ctypes.data, places.ctypes.data, one.count, none.ctypes.data)
    kind(kernel.jacobian_address)(w.ctypes.data, 3.5, jac.ctypes.data, *arguments)
    return out, jac


@pytest.mark.parametrize("n", [64, 67, 500])
@pytest.mark.parametrize("signs", [(PLUS, PLUS, PLUS), (MINUS, PLUS, MINUS)], ids=["plus", "minus"])
@pytest.mark.parametrize("outputs", TEMPLATES.values(), ids=TEMPLATES)
def test_rows_at_once_give_the_same_bits(outputs, signs, n):
    one = family(outputs, n, signs)
    assert len(one.access) == 4 and one.access[-1] == CONSECUTIVE and one.access[2] == signs[2] | REPEATED
    for many, single in zip(evaluated(one, one.access), evaluated(one, one.signs), strict=True):
        np.testing.assert_array_equal(many.view(np.int64), single.view(np.int64))


def test_code_of_many_rows_has_vectors_of_numbers():
    from acausal.kernels.compile import _compiler, _How

    one, compiler = family(TEMPLATES["linear"], 100), _compiler()
    text = compiler.header + emit_kernel(one.template, one.access, "k", compiler.fma)
    module = compiler.llvm.parse_assembly(text)
    assert compiler._object(text, _How.VECTORISED)
    options = compiler.llvm.create_pipeline_tuning_options(speed_level=2)
    options.loop_vectorization = True
    passes = compiler.llvm.create_pass_builder(compiler.machine, options)
    passes.getModulePassManager().run(module, passes)
    assert " x double>" in str(module)


def test_few_rows_scattered_rows_and_mixed_signs_go_one_by_one():
    few, many = family(TEMPLATES["linear"], 10), family(TEMPLATES["linear"], 100)
    scattered = Family(many.template, many.slots, many.signs, np.ascontiguousarray(many.rows[:, ::-1]))
    gathered = Family(many.template, many.slots[:, ::-1].copy(), many.signs, many.rows)
    mixed = Family(many.template, many.slots, (PLUS, MIXED, PLUS), many.rows)
    assert all(f.access == f.signs for f in (few, scattered, gathered, mixed))


def test_a_rod_of_many_pieces_cools_as_its_series_says():
    """Heat conduction in an array of cells, against the slowest of its own vibrations: the discrete sine, exactly."""
    n, k = 200, 1.0

    class Rod(ac.Component):
        T = ac.Variable(shape=n, start=np.sin(np.pi * np.arange(1, n + 1) / (n + 1)))

        def equations(self):
            yield ac.der(self.T[0]) == k * (self.T[1] - 2.0 * self.T[0])
            yield ac.der(self.T[1:-1]) == k * (self.T[2:] - 2.0 * self.T[1:-1] + self.T[:-2])
            yield ac.der(self.T[-1]) == k * (self.T[-2] - 2.0 * self.T[-1])

    model = ac.compile(Rod())
    assert any(len(f.access) > len(f.signs) for f in model.problem.lowered.families)
    rate = 2.0 * k * (1.0 - np.cos(np.pi / (n + 1)))
    result = model.simulate(until=1.0 / rate, points=3, rtol=1e-8)
    expected = np.exp(-1.0) * np.sin(np.pi * np.arange(1, n + 1) / (n + 1))
    np.testing.assert_allclose([result[f"T[{i}]"][-1] for i in range(n)], expected, rtol=1e-5)


@pytest.mark.parametrize("name, at_once", [("a root and a quotient", True), ("functions", True), ("a choice", False)])
def test_rows_that_call_the_library_are_not_asked_to_be_computed_at_once(name, at_once):
    """The compiler could not, and would remark on it where the user reads messages; `tanh` is the library's."""
    one = family(TEMPLATES[name], 100)
    residual, _ = emit_kernel(one.template, one.access, "k").split("define void @jacobian_k")
    assert ("!llvm.loop !2" in residual) == at_once
