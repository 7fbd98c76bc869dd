"""Starts that contradict each other: the nearest consistent values, whatever the plant's form and the order of its parts."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from fuzz import circuits

import acausal as ac
from acausal.library import electrical as el


class Cutset(ac.Component):
    """Three inductors that share the current of a source: i1 + i2 + i3 = I."""

    def __init__(self, order: tuple[int, ...], starts: dict[int, Any]) -> None:
        for k in order:
            setattr(self, f"L{k}", el.Inductor(L=1.0 + k, **({"i": starts[k]} if k in starts else {})))
        self.order, self.I, self.ground = order, el.ConstantCurrent(I=0.6), el.Ground()

    def connections(self) -> Iterator[Any]:
        inductors = [getattr(self, f"L{k}") for k in self.order]
        yield (self.I.n, *(inductor.p for inductor in inductors))
        yield (self.I.p, self.ground.p, *(inductor.n for inductor in inductors))


def currents(order: tuple[int, ...], starts: dict[int, Any]) -> list[float]:
    result = ac.compile(Cutset(order, starts)).simulate(until=1.0, points=2)
    assert result.outcome.ok
    return [float(result[f"L{k}.i"][0]) for k in range(3)]


@pytest.mark.parametrize(
    ("starts", "expected"),
    [
        ({}, [0.2, 0.2, 0.2]),  # of equal standing: they share
        ({1: ac.start(0.5)}, [0.05, 0.5, 0.05]),  # what was said of the instance counts before what its class declares
        ({0: ac.start(0.5), 1: ac.start(0.7)}, [0.5, 0.7, -0.6]),
        ({0: ac.start(1.0), 1: ac.start(0.0), 2: ac.start(0.2)}, [0.8, -0.2, 0.0]),
        ({2: ac.start(0.9, fixed=True)}, [-0.15, -0.15, 0.9]),
        ({0: ac.start(0.1), 1: ac.start(0.2), 2: ac.start(0.3)}, [0.1, 0.2, 0.3]),  # no contradiction
    ],
)
def test_starts_of_equal_standing_share_what_is_too_much(starts: dict[int, Any], expected: list[float]) -> None:
    for order in list(permutations(range(3)))[:: 2 if starts else 1]:
        np.testing.assert_allclose(currents(order, starts), expected, atol=1e-9)


def test_a_start_set_for_a_run_counts_before_the_class() -> None:
    model = ac.compile(Cutset((2, 0, 1), {}))
    result = model.simulate(until=1.0, points=2, set={"L2.i": 0.5})
    np.testing.assert_allclose([result[f"L{k}.i"][0] for k in range(3)], [0.05, 0.05, 0.5], atol=1e-9)


@pytest.mark.parametrize("seed", [100, 393])
def test_the_same_circuit_starts_alike_in_all_forms(seed: int) -> None:
    case = circuits.generate(seed)
    values = []
    for form in circuits.FORMS:
        result = ac.compile(case.build(form)).simulate(until=1e-3, points=2, rtol=1e-10)
        values.append(case.values(form, result)[:, 0])
    for other in values[1:]:
        np.testing.assert_allclose(other, values[0], atol=1e-9)


class Series(ac.Component):
    """Two inductors in series beside a third, as parts of the plant or of a part of it with a pin where they meet."""

    def __init__(self, a: Any, b: Any, c: Any) -> None:
        self.a, self.b, self.c, self.I, self.ground = a, b, c, el.ConstantCurrent(I=0.6), el.Ground()

    def connections(self) -> Iterator[Any]:
        yield self.I.n, self.a.p, self.c.p
        yield self.a.n, self.b.p
        yield self.I.p, self.ground.p, self.b.n, self.c.n


class Branch(ac.Component):
    def __init__(self) -> None:
        self.p, self.middle, self.n = el.Pin(), el.Pin(), el.Pin()
        self.a, self.b = el.Inductor(), el.Inductor()

    def connections(self) -> Iterator[Any]:
        yield self.p, self.a.p
        yield self.a.n, self.b.p, self.middle
        yield self.b.n, self.n


class Within(ac.Component):
    def __init__(self) -> None:
        self.branch, self.c, self.I, self.ground = Branch(), el.Inductor(), el.ConstantCurrent(I=0.6), el.Ground()

    def connections(self) -> Iterator[Any]:
        yield self.I.n, self.branch.p, self.c.p
        yield self.I.p, self.ground.p, self.branch.n, self.c.n


def test_starts_of_variables_that_are_one_unknown_count_each() -> None:
    """2 i² + (0.6 - i)² is least at 0.2, whether the two currents are one unknown or not."""
    flat = ac.compile(Series(el.Inductor(), el.Inductor(), el.Inductor())).simulate(until=1.0, points=2)
    inside = ac.compile(Within()).simulate(until=1.0, points=2)
    found = [float(flat[name][0]) for name in ("a.i", "b.i", "c.i")]
    np.testing.assert_allclose(found, [0.2, 0.2, 0.4], atol=1e-9)
    np.testing.assert_allclose([float(inside[name][0]) for name in ("branch.a.i", "branch.b.i", "c.i")], found, atol=1e-9)
