"""Values of parameters, per instance, bound, modified and changed without compiling."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from plants import Boundary, Conductor, Mass

import acausal as ac
from acausal.kernels import statistics


class Part(ac.Component):
    a = ac.Parameter(1.0)
    b = ac.Parameter(2 * a)
    c = ac.Parameter(a + b)
    w = ac.Parameter([1.0, 2.0, 3.0], shape=3)


class Box(ac.Component):
    size = ac.Parameter(10.0)
    weights = ac.Parameter([1.0, 2.0], shape=2)

    def __init__(self):
        self.one = Part(a=self.size)
        self.row = ac.array(Part, 2, a=self.weights * self.size)
        self.same = ac.array(Part, 3, a=self.one.c + self.size)
        self.wide = ac.array(Part, 2, w=np.array([[1.0, 1.0, 1.0], [2.0, 2.0, 2.0]]))


def test_bindings_in_chains_follow_what_they_depend_on():
    model = ac.compile(Part())
    assert [model.get(n) for n in "abc"] == [1.0, 2.0, 3.0]
    model.set(a=5.0)
    assert [model.get(n) for n in "abc"] == [5.0, 10.0, 15.0]
    model.set(b=1.0)
    assert [model.get(n) for n in "abc"] == [5.0, 1.0, 6.0]


def test_bindings_to_the_surrounding_component_in_arrays_and_several_instances():
    class House(ac.Component):
        def __init__(self):
            self.left, self.right = Box(), Box(size=20.0)
            self.more = ac.array(Box, 2, size=[30.0, 40.0])

    model = ac.compile(House())
    for path, size in (("left", 10.0), ("right", 20.0), ("more[0]", 30.0), ("more[1]", 40.0)):
        assert model.get(f"{path}.one.a") == size
        np.testing.assert_array_equal(model.get(f"{path}.row.a"), [size, 2 * size])
        np.testing.assert_array_equal(model.get(f"{path}.same.a"), [4 * size] * 3)
        np.testing.assert_array_equal(model.get(f"{path}.same.c"), [12 * size] * 3)
        np.testing.assert_array_equal(model.get(f"{path}.wide.w"), [[1.0] * 3, [2.0] * 3])
    model.set({"right.size": 1.0})
    np.testing.assert_array_equal(model.get("right.row.c"), [3.0, 6.0])
    assert model.get("left.one.a") == 10.0


def test_one_element_of_a_bound_array_can_be_set_and_the_others_stay_bound():
    class Holder(ac.Component):
        r = ac.Parameter(4.0)

        def __init__(self):
            self.parts = ac.array(Part, 3, a=self.r)

    model = ac.compile(Holder())
    model.set({"parts[1].a": 7.0})
    np.testing.assert_array_equal(model.get("parts.a"), [4.0, 7.0, 4.0])
    model.set({"r": 5.0})
    np.testing.assert_array_equal(model.get("parts.b"), [10.0, 14.0, 10.0])


def test_bindings_to_a_sibling_that_is_not_the_first_of_its_kind():
    class Row(ac.Component):
        def __init__(self):
            self.p, self.q = Part(a=3.0), Part(a=4.0)
            self.r = Part(a=self.q.a * self.p.a)

    assert ac.compile(Row()).get("r.a") == 12.0


@pytest.mark.parametrize("case", ["own", "siblings", "self"])
def test_circles_are_refused(case):
    class Own(ac.Component):
        a = ac.Parameter()
        b = ac.Parameter(a * 2)
        a.value = b / 2

    class Siblings(ac.Component):
        def __init__(self):
            self.p, self.q = Part(), Part()
            self.p.a, self.q.a = self.q.a, self.p.a

    class Itself(ac.Component):
        a = ac.Parameter()
        a.value = a + 0.0 * a

    with pytest.raises(ac.ModelError, match=r"circle: .*a"):
        ac.compile({"own": Own, "siblings": Siblings, "self": Itself}[case]())


def test_every_attribute_can_be_changed_per_instance():
    class Three(ac.Component):
        T0 = ac.Parameter(310.0)

        def __init__(self):
            self.a = Mass()
            self.b = Mass(C=2.0, T=ac.modify(start=350.0, nominal=300.0, min=200.0, max=400.0, unit="K", doc="warm one"))
            self.c = ac.array(Mass, 2, C=[3.0, 4.0], T=ac.start([301.0, 302.0], nominal=[1.0, 2.0]))
            self.d = Mass(T=ac.start(self.T0 + 5.0, fixed=False))

    model = ac.compile(Three())
    problem = model.problem
    index = {model.system.name_of_unknown(k): k for k in range(model.system.size)}

    def place(path):
        located = model.system.plant.locate(path)
        number = located.kind.quantities[located.name].base + int(located.flat)
        return int(model.system.aliases.index[number])

    assert len(index) == 5
    b = place("b.T")
    assert (problem.start[b], problem.nominal[b], problem.minimum[b], problem.maximum[b]) == (350.0, 300.0, 200.0, 400.0)
    assert problem.fixed[place("a.T")] and problem.fixed[b] and not problem.fixed[place("d.T")]
    np.testing.assert_array_equal(problem.start[[place("c[0].T"), place("c[1].T"), place("d.T")]], [301.0, 302.0, 315.0])
    np.testing.assert_array_equal(problem.nominal[[place("c[0].T"), place("c[1].T")]], [1.0, 2.0])
    result = model.simulate(until=1.0, set={"T0": 400.0})
    assert result["d.T"][0] == pytest.approx(405.0)
    assert result.description("b.T") == "warm one" and result.unit("a.T") == "K"


def test_declarations_made_in_init_are_each_instance_s_own():
    class Tank(ac.Component):
        def __init__(self, level, rate, doc=""):
            self.x = ac.Variable(start=level, fixed=True, doc=doc)
            self.k = ac.Parameter(rate)
            self.double = ac.Parameter(2 * self.k)

        def equations(self):
            yield ac.der(self.x) == -self.double * self.x

    class Two(ac.Component):
        def __init__(self):
            self.a, self.b = Tank(1.0, 0.5, "first"), Tank(3.0, 1.0, "second")

    model = ac.compile(Two())
    result = model.simulate(until=1.0, rtol=1e-8)
    np.testing.assert_allclose(result["a.x"], np.exp(-result.time), rtol=1e-6)
    np.testing.assert_allclose(result["b.x"], 3 * np.exp(-2 * result.time), rtol=1e-6)
    assert (result.description("a.x"), result.description("b.x")) == ("first", "second")


def test_expressions_made_in_init_are_a_structural_choice():
    class Law(ac.Component):
        x = ac.Variable(start=1.0, fixed=True)

        def __init__(self, factor):
            self.rate = factor * self.x

        def equations(self):
            yield ac.der(self.x) == -self.rate

    class Three(ac.Component):
        def __init__(self):
            self.a, self.b, self.c = Law(1.0), Law(3.0), Law(1.0)

    model = ac.compile(Three())
    result = model.simulate(until=1.0, rtol=1e-8)
    np.testing.assert_allclose(result["b.x"], np.exp(-3 * result.time), rtol=1e-6)
    np.testing.assert_allclose(result["c.x"], np.exp(-result.time), rtol=1e-6)
    assert len([k for k in model.system.plant.kinds if k.name == "Law"]) == 2


def test_values_with_units_as_text():
    assert ac.compile(Boundary(T="25 degC")).get("T") == pytest.approx(298.15)
    model = ac.compile(Mass(C="2 kJ/K"))
    assert model.get("C") == pytest.approx(2000.0)
    assert model.set(C="5 J/K").get("C") == 5.0
    with pytest.raises(ac.ModelError, match="kg"):
        model.set(C="5 kg")


class Decay(ac.Component):
    x, k = ac.Variable(start=1.0, fixed=True), ac.Parameter(1.0)

    def __init__(self, factor=1):
        self.factor = factor

    def equations(self):
        yield ac.der(self.x) == -self.factor * self.k * self.x * self.factor


@pytest.mark.parametrize("number", [Fraction(5, 2), Decimal("2.5"), np.array(Fraction(5, 2)), np.float16(2.5)])
def test_whatever_python_calls_a_number_is_one(number):
    """Wherever it is given: `set` took fractions and decimals, the component refused them."""
    model, given = ac.compile(Decay()), ac.compile(Decay(k=number, x=ac.start(number)))
    assert given.get("k") == model.set({"k": number}).get("k") == 2.5
    assert given.simulate(until=1.0)["x"][0] == 2.5
    factor = number.item() if isinstance(number, np.ndarray) else number
    end = ac.compile(Decay(factor)).simulate(until=1.0, rtol=1e-9)["x"][-1]
    assert end == pytest.approx(np.exp(-6.25), rel=1e-5)


@pytest.mark.parametrize("number", [2 + 1j, np.complex128(2), np.array(2 + 0j), object(), Fraction(10**400), Decimal("nan")])
def test_what_is_no_real_number_is_refused_wherever_it_is_given(number):
    """numpy drops an imaginary part with a warning of its own."""
    model = ac.compile(Decay())
    for give in (
        lambda: ac.compile(Decay(k=number)),
        lambda: ac.compile(Decay(x=ac.start(number))),
        lambda: model.simulate(until=1.0, set={"k": number}),
        lambda: model.simulate(until=1.0, start_from={"x": number}),
        lambda: model.simulate(until=1.0, given={"x": number}),
    ):
        with pytest.raises(ac.ModelError):
            give()


def test_bounds_may_be_bound_too():
    class Limited(ac.Component):
        top = ac.Parameter(10.0)
        level = ac.Parameter(5.0, max=top)

    model = ac.compile(Limited())
    model.set(level=9.0)
    with pytest.raises(ac.ModelError, match="`level` = 9 is out of its range"):
        model.simulate(until=1.0, set={"top": 8.0})


def test_nothing_is_compiled_when_numbers_change():
    class Cooling(ac.Component):
        def __init__(self):
            self.m, self.g, self.e = Mass(T=ac.start(400.0, fixed=True)), Conductor(), Boundary(T=300.0)

        def connections(self):
            yield self.m.port, self.g.a
            yield self.g.b, self.e.port

    model = ac.compile(Cooling())
    before = statistics()
    for G in (0.5, 1.0, 2.0):
        result = model.simulate(until=1.0, set={"g.G": G}, rtol=1e-8)
        assert result["m.T"][-1] == pytest.approx(300 + 100 * np.exp(-G), rel=1e-6)
    assert model.set({"e.T": 200.0}).simulate(until=1.0, rtol=1e-8)["m.T"][-1] == pytest.approx(200 + 200 * np.exp(-1.0))
    assert statistics() == before
