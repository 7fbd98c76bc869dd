"""Components that differ in plain numbers are of one kind if their equations are: numbers are data. Otherwise they are not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import acausal as ac


class Decay(ac.Component):
    x = ac.Variable(start=1.0)

    def __init__(self, rate, power=1.0, _hidden=0.0):
        self.rate, self.power, self._hidden = rate, power, _hidden

    def equations(self):
        self.loss = self.rate * self.x
        yield ac.der(self.x) == -self.loss + self._hidden


class Many(ac.Component):
    def __init__(self, parts):
        self.parts = list(parts)


def kinds(model, name):
    return [k for k in model.system.plant.kinds if k.name == name]


def test_a_hundred_numbers_are_one_kind_with_the_kernels_of_one():
    rates = 0.37 + 0.011 * np.arange(100)
    one, many = ac.compile(Many([Decay(0.5)])), ac.compile(Many([Decay(float(r)) for r in rates]))
    assert [k.count for k in kinds(many, "Decay")] == [100] and len(many.problem.code) == len(one.problem.code)
    result = many.simulate(until=1.0, rtol=1e-8)
    for k in (0, 42, 99):
        assert result[f"parts[{k}].x"][-1] == pytest.approx(np.exp(-rates[k]), rel=1e-6)
        np.testing.assert_allclose(result[f"parts[{k}].loss"], rates[k] * result[f"parts[{k}].x"])
        assert result[f"parts[{k}].rate"][0] == rates[k]
    assert "parts[0].rate" not in result.names()


def test_arrays_and_private_attributes_take_part():
    class Both(ac.Component):
        def __init__(self):
            self.row, self.single = ac.array(Decay, 3, 2.0), Decay(0.5, _hidden=0.25)

    model = ac.compile(Both())
    assert [k.count for k in kinds(model, "Decay")] == [4]
    result = model.simulate(until=1.0, rtol=1e-8)
    np.testing.assert_allclose(result["row.x"][-1], np.exp(-2.0), rtol=1e-6)
    assert result["single.x"][-1] == pytest.approx(0.5 + 0.5 * np.exp(-0.5), rel=1e-6)


class Decides(Decay):
    def equations(self):
        if self.rate > 1:
            yield ac.der(self.x) == -self.rate
        else:
            yield ac.der(self.x) == -self.rate * self.x


class Looks(Decay):
    def equations(self):
        yield ac.der(self.x) == (-self.rate * self.x if isinstance(self.rate, float) else self.x)


class Counts(Decay):
    def equations(self):
        yield ac.der(self.x) == -sum(self.x for _ in range(int(self.rate)))


class Raises(Decay):
    def equations(self):
        yield ac.der(self.x) == -(self.x**self.power) * self.rate


class Names(Decay):
    def equations(self):
        yield ac.der(self.x) == -{"0.5": 2.0, "3.0": 4.0}[str(self.rate)] * self.x


@pytest.mark.parametrize(
    "cls, exact",
    [
        (Decides, (np.exp(-0.5), -2.0)),
        (Looks, (np.exp(-0.5), np.exp(-3.0))),
        (Counts, (1.0, np.exp(-3.0))),
        (Raises, (np.exp(-0.5), np.exp(-3.0))),
        (Names, (np.exp(-2.0), np.exp(-4.0))),
    ],
)
def test_what_equations_make_of_a_number_counts(cls, exact):
    result = ac.compile(Many([cls(0.5), cls(3.0)])).simulate(until=1.0, rtol=1e-9)
    assert [result[f"parts[{k}].x"][-1] for k in range(2)] == pytest.approx(list(exact), rel=1e-6)


def test_an_exponent_keeps_its_meaning():
    parts = [Raises(1.0, power=1.0), Raises(1.0, power=2.0), Raises(1.0, power=3.0)]
    result = ac.compile(Many(parts)).simulate(until=1.0, rtol=1e-9)
    exact = [np.exp(-1.0), 0.5, 1 / np.sqrt(3.0)]
    assert [result[f"parts[{k}].x"][-1] for k in range(3)] == pytest.approx(exact, rel=1e-6)


class Switches(Decay):
    n = ac.Integer(start=0)

    def equations(self):
        yield ac.der(self.x) == ac.where(self.x > self.rate, -1.0, 0.0)

    def events(self):
        yield ac.when(ac.sample(0.0, self.power), ac.assign(self.n, ac.pre(self.n) + 1))


def test_numbers_within_relations_and_clocks():
    model = ac.compile(Many([Switches(0.25, 0.5), Switches(0.75, 0.2)]))
    result = model.simulate(until=0.99)
    assert len(kinds(model, "Switches")) == 1
    assert result["parts[0].x"][-1] == pytest.approx(0.25, abs=1e-6) and result["parts[1].x"][-1] == pytest.approx(0.75, abs=1e-6)
    assert (result["parts[0].n"][-1], result["parts[1].n"][-1]) == (2, 5)


@settings(max_examples=15, deadline=None)
@given(st.lists(st.floats(-2.0, 2.0), min_size=2, max_size=5))
def test_whatever_the_numbers_each_component_is_as_if_alone(rates):
    together = ac.compile(Many([Decay(r) for r in rates])).simulate(until=1.0, rtol=1e-9)
    for k, rate in enumerate(rates):
        assert together[f"parts[{k}].x"][-1] == pytest.approx(np.exp(-rate), rel=1e-6)


def test_components_stay_as_they_were():
    parts = [Decay(1.0), Decay(2.0)]
    before = [dict(p.__dict__) for p in parts]
    ac.compile(Many(parts))
    assert [dict(p.__dict__) for p in parts] == before and all(p._ac_declared is None for p in parts)
