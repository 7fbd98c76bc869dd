"""Explicit variables: which are chosen, and that what is read without a derivative is read in the right order."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import acausal as ac
import acausal.families.explicit as explicit
from acausal.families.differentiate import partials
from acausal.families.explicit import silent_slots
from acausal.families.pattern import Pattern
from acausal.families.template import HEARD, Template
from acausal.language.expression import Constant, Expression, Operation, Slot
from acausal.language.operators import OPERATORS


def explicit_names(model: Any) -> set[str]:
    return {model.system.name_of_unknown(int(u)) for u in model.problem.lowered.explicit.unknown}


class Chain(ac.Component):
    s = ac.Variable(start=1.0, fixed=True)
    x = ac.Variable(shape=30)

    def equations(self):
        yield ac.der(self.s) == -self.s
        yield self.x[0] == ac.exp(-self.s)
        yield self.x[1:] == ac.sin(self.x[:-1]) + self.s


def test_a_long_chain_is_cut_at_a_depth_and_right_beyond_it() -> None:
    model = ac.compile(Chain())
    explicit = model.problem.lowered.explicit
    assert 20 < len(explicit.unknown) < 30 and explicit.level.max() == 12  # one in thirteen stays, and another chain begins
    result = model.simulate(until=1.0, points=5, rtol=1e-9)
    expected = [np.exp(-result["s"])]
    for _ in range(29):
        expected.append(np.sin(expected[-1]) + result["s"])
    np.testing.assert_allclose(np.asarray(result["x"])[:, :12], np.stack(expected, axis=1)[:, :12], rtol=1e-14)
    np.testing.assert_allclose(result["x"], np.stack(expected, axis=1), rtol=1e-7)


def test_the_time_to_choose_does_not_grow_with_the_square_of_a_chain() -> None:
    class Long(ac.Component):
        s = ac.Variable(start=1.0, fixed=True)
        x = ac.Variable(shape=4000)

        def equations(self):
            yield ac.der(self.s) == -self.s
            yield self.x[0] == ac.exp(-self.s)
            yield self.x[1:] == ac.sin(self.x[:-1])

    begin = time.process_time()
    model = ac.compile(Long())
    assert len(model.problem.lowered.explicit.unknown) == 4000 - 4000 // 13
    assert time.process_time() - begin < 10.0


def test_what_is_fixed_bounded_or_named_initially_stays() -> None:
    class Kept(ac.Component):
        s = ac.Variable(start=1.0)
        a = ac.Variable(start=2.0, fixed=True)
        b = ac.Variable(min=0.0)
        c = ac.Variable()
        d = ac.Variable()
        r = ac.Variable(start=0.5)

        def equations(self):
            yield ac.der(self.s) == -self.s
            yield ac.der(self.r) == -self.r
            yield self.a == 2.0 * self.s + self.r * self.s
            yield self.b == ac.exp(self.s) + self.r
            yield self.c == ac.exp(-self.s) + self.r
            yield self.d == ac.exp(3.0 * self.s) + self.r

        def initial_equations(self):
            yield self.c == 1.0

    model = ac.compile(Kept())
    assert explicit_names(model) == {"d"}
    first = model.simulate(until=0.1, points=2, rtol=1e-9)
    assert float(first["a"][0]) == pytest.approx(2.0) and float(first["c"][0]) == pytest.approx(1.0)


class Signed(ac.Component):
    """x stands outside and inside of `sign`: it is no linear row."""

    s = ac.Variable(start=2.0, fixed=True)
    x = ac.Variable()

    def equations(self):
        yield ac.der(self.s) == -self.s
        yield self.x + ac.sign(self.x) == self.s * self.s


class Conditional(ac.Component):
    s = ac.Variable(start=2.0, fixed=True)
    x = ac.Variable(start=5.0)

    def equations(self):
        yield ac.der(self.s) == -self.s
        yield self.x + ac.where(self.x > 0.0, 1.0, 0.0) == self.s * self.s


@pytest.mark.parametrize("kind", [Signed, Conditional])
def test_a_variable_within_sign_or_a_condition_is_not_linear(kind: Any) -> None:
    model = ac.compile(kind())
    assert "x" not in explicit_names(model)
    result = model.simulate(until=0.5, points=3)
    np.testing.assert_allclose(result["x"], np.asarray(result["s"]) ** 2 - 1.0, rtol=1e-5)


def test_what_is_read_without_a_derivative_is_computed_before() -> None:
    class Ordered(ac.Component):
        s = ac.Variable(start=2.0, fixed=True)
        early = ac.Variable()
        x = ac.Variable()
        w = ac.Variable()

        def equations(self):
            yield ac.der(self.s) == -self.s
            yield self.early == ac.where(self.x > 0.0, 3.0, 7.0) * ac.exp(self.s) + ac.sign(self.w)
            yield self.w == ac.cos(self.x) - 0.1 * self.s
            yield self.x == ac.sin(self.s) + self.s * self.s

    model = ac.compile(Ordered())
    level = dict(
        zip(
            (model.system.name_of_unknown(int(u)) for u in model.problem.lowered.explicit.unknown),
            model.problem.lowered.explicit.level,
            strict=True,
        )
    )
    assert level["x"] < level["w"] < level["early"]
    result = model.simulate(until=0.5, points=3)
    s = np.asarray(result["s"])
    x = np.sin(s) + s * s
    np.testing.assert_allclose(result["early"], 3.0 * np.exp(s) + np.sign(np.cos(x) - 0.1 * s), rtol=1e-14)


def test_an_unknown_that_cancels_is_in_no_equation() -> None:
    class Cancelling(ac.Component):
        s = ac.Variable(start=1.0, fixed=True)
        x = ac.Variable()

        def equations(self):
            yield ac.der(self.s) == -self.s
            yield (self.x + self.s) * 2.0 - (self.x + self.x) == ac.cos(self.s)

    with pytest.raises(ac.ModelError, match="x"):
        ac.compile(Cancelling())


def test_silent_slots_of_a_template() -> None:
    a, b, c = (Slot(k, "variable") for k in range(3))
    assert silent_slots(Template.of((a + ac.sign(b * c), a * ac.where(b > 1.0, c, 2.0)))) == ((0, 1), (0, 2), (1, 1))


@pytest.mark.parametrize("swap", [False, True])
def test_a_sum_that_a_fused_family_contributes_to_stays_a_residual(swap: bool) -> None:
    class Fused(ac.Component):
        s = ac.Variable(start=1.0, fixed=True)
        z = ac.Variable(shape=8)
        y = ac.Variable()

        def equations(self):
            yield ac.der(self.s) == -self.s
            yield self.z[1:] == self.s * np.arange(1.0, 8.0)
            both = (
                ac.exp(self.s) * 3.0 + ac.sum(self.z) == 0,
                self.y * self.y * self.y + self.y == ac.exp(self.s) * 2.0 + self.z[0],
            )
            yield from both[::-1] if swap else both

    result = ac.compile(Fused()).simulate(until=1.0, points=3, rtol=1e-8)
    s, y = np.asarray(result["s"]), np.asarray(result["y"])
    np.testing.assert_allclose(result["z[0]"], -3.0 * np.exp(s) - 28.0 * s, rtol=1e-6)
    np.testing.assert_allclose(y**3 + y, 2.0 * np.exp(s) - 3.0 * np.exp(s) - 28.0 * s, rtol=1e-5)


def test_operators_that_need_no_look_hear_all_their_arguments() -> None:
    """What is said of them in short holds for slots, for numbers beside slots, and for the same slot twice."""
    a, b = Slot(0, "variable"), Slot(1, "variable")
    for name in HEARD:
        operator = OPERATORS[name]
        others: list[Expression] = [b, a, Constant(2.0), Constant(-1.5)] if operator.arity == 2 else [b]
        for other in others:
            args = (a, other)[: operator.arity]
            assert not any(isinstance(p, Constant) and p.value == 0 for p in partials(Operation(operator, args)))


def drawn(rng: np.random.Generator, n: int) -> tuple[Any, Pattern, np.ndarray, tuple[np.ndarray, np.ndarray]]:
    """A random pattern of n rows, which row may compute which unknown, and what is read beside the pattern."""
    where = rng.random((n, n)) < rng.uniform(0.5, 4.0) / n
    row_of = np.where(rng.random(n) < 0.8, rng.permutation(n), -1)
    for unknown in np.flatnonzero(row_of >= 0):
        where[unknown, row_of[unknown]] = True
    indptr = np.concatenate([[0], np.cumsum(where.sum(axis=1))]).astype(np.int32)
    indices = np.nonzero(where)[1].astype(np.int32)
    every = np.ones(len(indices), dtype=bool)
    silent = rng.integers(n, size=(2, int(rng.integers(3)))).astype(np.int32)
    return SimpleNamespace(size=n, equation_count=n), Pattern(indptr, indices, [], every, ~every), row_of, (silent[0], silent[1])


@pytest.mark.parametrize("seed", range(40))
def test_levels_natively_and_with_numpy(seed: int) -> None:
    given = drawn(np.random.default_rng(seed), 2 + seed)
    found, expected = explicit._natively(*given), explicit._Levels(*given).chosen()
    assert found is not None
    for name in ("unknown", "row", "level"):
        mine, theirs = getattr(found, name), getattr(expected, name)
        assert mine.dtype == theirs.dtype and mine.tolist() == theirs.tolist(), name
