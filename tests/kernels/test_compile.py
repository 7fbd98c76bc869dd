"""Requests to kernels: each distinct piece of code is made once in a process, also under several threads."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from acausal.families.template import MINUS, MIXED, PLUS, Template
from acausal.kernels import compile, compile_kernels, statistics
from acausal.language.expression import Expression, Slot, apply


def fresh(seed: float) -> Template:
    """A template nobody asked for before."""
    x, y = Slot(0, "variable"), Slot(1, "variable")
    return Template((x * (seed + 0.123456789) - apply("exp", y),))


def test_memo_knows_templates_by_their_expressions() -> None:
    before = statistics()
    first, again, turned = compile_kernels([(fresh(1), (PLUS, PLUS)), (fresh(1), (PLUS, PLUS)), (fresh(1), (MINUS, PLUS))])
    (later,) = compile_kernels([(fresh(1), (PLUS, PLUS))])
    assert first is again is later and first.residual_address != turned.residual_address
    counted = np.subtract(statistics(), before)
    assert counted.tolist() == [2, 0, 2]


def test_nothing_asked_nothing_done() -> None:
    before = statistics()
    assert compile_kernels([]) == []
    assert statistics() == before


def test_kernels_of_one_call_and_of_several_calls_live_side_by_side(compiled: Any) -> None:
    kernels = [compiled(fresh(seed)) for seed in range(2, 6)]
    values = np.array([[1.0, 2.0], [0.0, 1.0]])
    for seed, kernel in zip(range(2, 6), kernels, strict=True):
        expected = values[0] * (seed + 0.123456789) - np.exp(values[1])
        np.testing.assert_allclose(kernel.residual_of(values)[0], expected, rtol=1e-14)


def test_threads_get_the_same_kernel() -> None:
    before = statistics().compiled
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: compile_kernels([(fresh(10), (PLUS, PLUS))])[0], range(16)))
    assert len({k.residual_address for k in found}) == 1
    assert statistics().compiled - before == 1


def test_large_templates(compiled: Any) -> None:
    """Many outputs over many slots, more than there are registers."""
    slots = [Slot(k, "variable") for k in range(40)]
    outputs: list[Expression] = [slots[k] * slots[(7 * k + 3) % 40] - apply("sin", slots[(k + 1) % 40]) for k in range(40)]
    values = np.random.default_rng(0).normal(size=(40, 17))
    kernel = compiled(Template(tuple(outputs)))
    expected = [values[k] * values[(7 * k + 3) % 40] - np.sin(values[(k + 1) % 40]) for k in range(40)]
    np.testing.assert_allclose(kernel.residual_of(values), expected, rtol=1e-13, atol=1e-14)
    for (output, slot, _), entry in zip(kernel.template.jacobian, kernel.jacobian_of(values), strict=True):
        np.testing.assert_allclose(entry, kernel.difference_of(values, slot)[output], rtol=1e-9, atol=1e-9)


def test_llvm_is_not_imported_before_it_is_needed() -> None:
    program = "import sys, acausal.kernels; assert not [m for m in sys.modules if m.startswith(('llvmlite', 'scipy'))]"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_huge_templates_are_compiled_in_haste_and_give_the_same(compiled: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = Slot(0, "variable"), Slot(1, "derivative")
    shared = apply("max", x, 0.5) * apply("tan", y) + 21.0
    template = Template((apply("where", x > y, shared, apply("exp", -shared)), shared * y))
    values = np.random.default_rng(4).uniform(-1.0, 1.0, (2, 30))
    negative = values < 0.3
    usual = compiled(template, (MIXED, MINUS), negative)
    monkeypatch.setattr(compile, "LARGEST_OPTIMISED", 0)
    hasty = compiled(Template((*template.outputs, x)), (MIXED, MINUS), negative)
    np.testing.assert_allclose(hasty.residual_of(values)[:2], usual.residual_of(values), rtol=1e-13)
    np.testing.assert_allclose(hasty.jacobian_of(values, 3.0)[:-1], usual.jacobian_of(values, 3.0), rtol=1e-13)
