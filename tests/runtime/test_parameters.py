"""Parameters of a compiled model: set, get, list, per run or for all."""

from __future__ import annotations

import numpy as np
import pytest

import acausal as ac


class Part(ac.Component):
    a = ac.Parameter(1.0, unit="m", min=0.0, max=10.0)
    w = ac.Parameter([1.0, 2.0], shape=2)
    u = ac.Input(4.0)
    x = ac.Variable(start=0.0, fixed=True)

    def equations(self):
        yield ac.der(self.x) == self.a + ac.sum(self.w) + self.u


class Plant(ac.Component):
    def __init__(self):
        self.p = ac.array(Part, 2, a=[1.0, 2.0])


@pytest.fixture
def model():
    return ac.compile(Plant())


def test_get_gives_numbers_and_arrays(model):
    assert model.get("p[1].a") == 2.0 and isinstance(model.get("p[1].a"), float)
    np.testing.assert_array_equal(model.get("p.a"), [1.0, 2.0])
    np.testing.assert_array_equal(model.get("p.w"), [[1.0, 2.0], [1.0, 2.0]])
    assert model.get("p[0].u") == 4.0


def test_set_stays_and_a_run_s_own_does_not(model):
    assert model.simulate(until=1.0)["p.x"][-1] == pytest.approx([8.0, 9.0])
    assert model.simulate(until=1.0, set={"p[0].a": 5.0, "p.w[1]": 0.0})["p.x"][-1] == pytest.approx([10.0, 7.0])
    assert model.simulate(until=1.0)["p.x"][-1] == pytest.approx([8.0, 9.0])
    assert model.set({"p.a": [3.0, 4.0]}) is model
    assert model.simulate(until=1.0)["p.x"][-1] == pytest.approx([10.0, 11.0])
    assert model.simulate(until=1.0, set={"p.u": [0.0, 1.0]})["p.x"][-1] == pytest.approx([6.0, 8.0])


def test_a_result_keeps_the_values_of_its_run(model):
    first = model.simulate(until=1.0, set={"p[0].a": 5.0})
    model.set({"p[0].a": 7.0})
    assert first["p[0].a"][0] == 5.0 and first["p[1].a"].shape == first.time.shape


def test_the_list_of_parameters(model):
    found = model.parameters()
    assert found["p[1].a"] == 2.0 and found["p[0].w[1]"] == 2.0 and found["p[0].u"] == 4.0
    assert len(found) == 2 * (1 + 2 + 1)


def test_a_range_is_checked_when_set_and_before_a_run(model):
    with pytest.raises(ac.ModelError, match=r"`p\[1\]\.a` = 11 m is out of its range: it must be from 0 to 10 m"):
        model.simulate(until=1.0, set={"p[1].a": 11.0})
    assert model.simulate(until=1.0).outcome.ok


def test_several_values_out_of_range_are_told_at_once():
    class Two(ac.Component):
        a, b = ac.Parameter(-1.0, min=0), ac.Parameter(5.0, max=1)

    with pytest.raises(ac.ModelError, match="2 things are wrong"):
        ac.compile(Two())


def test_a_bound_parameter_without_a_value_is_named():
    class Broken(ac.Component):
        a = ac.Parameter(0.0)
        b = ac.Parameter(1 / a)

    with pytest.raises(ac.ModelError, match="`b`"):
        ac.compile(Broken())


def test_a_parameter_bound_to_a_variable_is_refused():
    class Wrong(ac.Component):
        x = ac.Variable(start=1.0, fixed=True)
        k = ac.Parameter(2 * x)

        def equations(self):
            yield ac.der(self.x) == -self.x

    with pytest.raises(ac.ModelError, match="`k` of Wrong is bound to `x`, which is not a parameter"):
        ac.compile(Wrong())


class Cooling(ac.Component):
    T = ac.Variable(start=300.0, unit="K", min=200.0)
    U = ac.Variable(start=280.0, unit="K")

    def equations(self):
        yield 1000.0 * ac.der(self.T) == self.U - self.T
        yield 1000.0 * ac.der(self.U) == self.T - self.U


def test_start_values_are_set_like_parameters():
    model = ac.compile(Cooling(), units=False)
    assert model.simulate(until=1.0, set={"T": "20 degC"})["T"][0] == pytest.approx(293.15)
    assert model.simulate(until=1.0)["T"][0] == 300.0  # for that run only
    model.set({"U": 250.0})
    result = model.simulate(until=1.0, set={"T": 260.0})
    assert (result["T"][0], result["U"][0]) == (260.0, 250.0)
    again = model.simulate(until=2.0, start=1.0, start_from=result, set={"T": 270.0})
    assert again["T"][0] == 270.0 and again["U"][0] == pytest.approx(result["U"][-1])


@pytest.mark.parametrize(
    "asked, told",
    [
        ({"set": {"TT": 1.0}}, "`TT` does not exist(.|\n)*Did you mean `T`"),
        ({"start_from": {"T": 300.0, "UU": 1.0}}, "`UU` does not exist(.|\n)*Did you mean `U`"),
        ({"set": {"T": "20 bar"}}, "`set` gives `T` the value '20 bar'. `bar` cannot be converted to `K`"),
        ({"start_from": {"T": "warm"}}, "`start_from` gives `T` the value 'warm'. Expected a number with a unit"),
        ({"given": {"T": "warm"}}, "`given` gives `T` the value 'warm'. Expected a number with a unit"),
        ({"set": {"T": [1.0, 2.0]}}, r"`set` gives `T` the value \[1.0, 2.0\]; it has the shape \(\)"),
        ({"set": {"T": float("nan")}}, "which is not finite"),
        ({"set": {"T": 100.0}}, "`T` starts at 100, outside its bounds"),
        ({"set": {"der(T)": 1.0}}, r"`der\(T\)` is not a parameter"),
    ],
)
def test_a_wrong_start_value_is_refused(asked, told):
    with pytest.raises(ac.ModelError, match=told):
        ac.compile(Cooling(), units=False).simulate(until=1.0, **asked)


class Stored(ac.Component):
    """Its content is fixed by x; y follows from it."""

    x, y, z = ac.Variable(start=2.0, fixed=True), ac.Variable(start=1.0), ac.Variable(start=3.0)

    def equations(self):
        yield ac.der(self.x) == -self.x
        yield self.y == 2 * self.x
        yield self.z**3 == self.x


def test_a_start_value_that_can_only_be_a_guess_is_told():
    model = ac.compile(Stored())
    with pytest.warns(ac.ModelWarning, match=r"`y` does not start at 10.0, but at 4: `x` is fixed there.(.|\n)*given=\{'y'"):
        result = model.simulate(1.0, set={"y": 10.0})
    assert result["x"][0] == 2.0 and "`y`" in result.diagnostics[0].what
    assert model.simulate(1.0, given={"y": 10.0})["x"][0] == pytest.approx(5.0)
    assert not model.simulate(1.0, set={"x": 8.0, "y": 16.0}).diagnostics


class Roots(ac.Component):
    """Fixed states have no say in which root is taken; of an array one element is computed from its own state."""

    x, z = ac.Variable(start=1.0, fixed=True), ac.Variable(start=1.0)
    q, r = ac.Variable(shape=2, start=1.0, fixed=True), ac.Variable(shape=2)

    def equations(self):
        yield ac.der(self.x) == -self.x
        yield ac.der(self.q) == -self.q
        yield self.z**2 == 4.0
        yield self.r**3 == -self.q


def test_a_guess_that_chooses_among_roots_is_no_mistake():
    model = ac.compile(Roots())
    result = model.simulate(1.0, set={"z": -1.0})
    assert result["z"][0] == pytest.approx(-2.0) and not result.diagnostics
    with pytest.warns(ac.ModelWarning, match=r"but at -1: `q\[1\]` is fixed there"):
        model.simulate(1.0, set={"r": [-1.0, 5.0]})
