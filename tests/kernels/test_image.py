"""Machine code without a linker, and code compiled in haste: both give the bits of what LLVM links and optimises."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from acausal.families.template import MINUS, MIXED, PLUS, Template
from acausal.kernels import compile, compile_kernels
from acausal.kernels.image import Image, can_be_mapped, images_of, mapped
from acausal.language.expression import Constant, Expression, Operation, Slot, walk
from acausal.language.operators import OPERATORS

FORM = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_double, *[ctypes.c_void_p] * 3, ctypes.c_int64, ctypes.c_void_p)
RESIDUAL = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4, ctypes.c_int64, ctypes.c_void_p)
ROWS = 23


@st.composite
def templates(draw: st.DrawFn) -> Template:
    """A few residuals over four slots, with shared parts; whatever operators there are."""
    nodes: list[Expression] = [Slot(0, "variable"), Slot(1, "derivative"), Slot(2, "known"), Slot(3, "variable")]
    nodes += [Constant(draw(st.sampled_from([0.5, 2.0, -3.7, 1e3])))]
    for _ in range(draw(st.integers(3, 14))):
        operator = OPERATORS[draw(st.sampled_from(["add", "sub", "mul", *OPERATORS]))]
        nodes.append(Operation(operator, tuple(draw(st.sampled_from(nodes)) for _ in range(operator.arity))))
    return Template((sum(nodes[:4], start=Constant(0.0)), *nodes[-draw(st.integers(1, 3)) :]))


def outcome(kernel: Any, template: Template, signs: tuple[int, ...]) -> list[np.ndarray]:
    """Residuals and entries of a kernel for numbers of all sizes, signs as they are asked for."""
    numbers = np.random.default_rng(3).normal(size=(4, ROWS)) * np.array([[1.0], [0.1], [7.0], [0.5]])
    slots = np.arange(4 * ROWS, dtype=np.int32).reshape(4, ROWS)
    slots[[s == MIXED for s in signs], ::3] = ~slots[[s == MIXED for s in signs], ::3]
    tables = [np.arange(n * ROWS, dtype=np.int32) for n in (len(template.outputs), max(len(template.jacobian), 1))]
    found = [np.full(len(t), 0.1) for t in tables]
    w, s = numbers.ravel().ctypes.data, slots.ctypes.data
    RESIDUAL(kernel.residual_address)(w, found[0].ctypes.data, s, tables[0].ctypes.data, ROWS, None)
    if kernel.jacobian_address:
        FORM(kernel.jacobian_address)(w, 1.7, found[1].ctypes.data, s, tables[1].ctypes.data, ROWS, None)
    return found


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(templates(), st.tuples(*[st.sampled_from([PLUS, MINUS, MIXED])] * 4))
def test_haste_and_images_give_the_bits_of_optimised_linked_code(template: Template, signs: tuple[int, ...]) -> None:
    if not all(isinstance(n, (Slot, Constant, Operation)) for n in walk(*(g for _, _, g in template.jacobian))):
        return
    compiler, found = compile._compiler(), []
    one = compile._Wanted("k", template, signs, False)
    for hasty in (False, True):
        code = compiler._object(compiler._text([one]), hasty)
        for library in (compiler.link([code], one.names), _mapped(code, one)):
            if library is not None:
                addresses = [library[name] for name in one.names]
                kernel = compile.Kernel(addresses[0], addresses[1] if addresses[1:] else 0, library)
                found.append(outcome(kernel, template, signs))
    for other in found[1:]:
        for a, b in zip(found[0], other, strict=True):
            assert np.array_equal(a, b, equal_nan=True)


def _mapped(code: bytes, one: Any) -> Any:
    images = images_of(code, {one.key: one.names})
    if images is None:
        assert not can_be_mapped() or compile._compiler().machine.triple.partition("-")[0] != "x86_64"
        return None
    return mapped([Image.from_bytes(images[one.key].to_bytes())])  # type: ignore[list-item]


def test_what_is_no_object_file_has_no_image() -> None:
    assert images_of(b"", {"k": ["residual_k"]}) is None
    assert images_of(b"\x7fELF\x02\x01" + bytes(200), {"k": ["residual_k"]}) is None
    assert Image.from_bytes(b"\x7fELF") is None


def test_a_kernel_that_calls_what_is_not_there_is_compiled_again(monkeypatch: pytest.MonkeyPatch) -> None:
    assert mapped([Image(bytes(64), {"f": 0}, [("no_such_function_at_all", 8)])]) is None


def test_many_kernels_for_few_rows_are_compiled_in_haste_and_well_for_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compile, "MANY", 2)
    x = Slot(0, "variable")
    asked = [(Template((x * (k + 0.4711) - 1.0,)), (PLUS,)) for k in range(4)]
    hasty = compile_kernels(asked, [3, 3, 3, 1000])
    assert [k.hasty for k in hasty] == [True, True, True, False]
    assert compile_kernels(asked[:1], [30])[0] is hasty[0]
    assert not compile_kernels(asked[:1], [33])[0].hasty


def test_a_kernel_from_disk_needs_no_compiler() -> None:
    program = """if True:
        import sys
        from acausal.families.template import Template
        from acausal.kernels import compile_kernels, statistics
        from acausal.language.expression import Slot, apply
        compile_kernels([(Template((apply("exp", Slot(0, "variable")) - 0.8151,)), (0,))])
        print("llvmlite" in sys.modules, *statistics())
    """
    told = [subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout for _ in range(2)]
    assert told[0].split() == ["True", "1", "0", "0"]
    if can_be_mapped() and compile._compiler().machine.triple.startswith("x86_64"):
        assert told[1].split() == ["False", "0", "1", "0"]


def test_where_images_cannot_be_mapped_llvm_links(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.setenv("ACAUSAL_CACHE", str(tmp_path))
    monkeypatch.setattr(compile._compiler(), "mappable", True)
    outputs = (Slot(0, "variable") * Slot(1, "derivative") - Constant(0.91734),)
    mapped_ones = compile_kernels([(Template(outputs), (PLUS, MINUS))])
    store = compile._Store()
    monkeypatch.setattr(compile, "_store", lambda: store)
    monkeypatch.setattr(compile, "mapped", lambda images: None)
    other = Template(outputs)
    linked = compile_kernels([(other, (PLUS, MINUS))])  # what is kept cannot be mapped, nor what is made
    assert linked[0].residual_address != mapped_ones[0].residual_address and linked[0].jacobian_address
    assert compile_kernels([(Template(outputs), (PLUS, MINUS))])[0] is linked[0]
