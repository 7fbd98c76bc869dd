"""Quantities of which one is given: `instead_of`."""

import copy

import pytest

import acausal as ac
from acausal.library import fluid, signal


class Heater(ac.Component):
    """Ten joules a kelvin, heated by a power, or by a current through R."""

    C = ac.Parameter(10.0, unit="J/K")
    R = ac.Parameter(10.0, unit="ohm")
    P = ac.Input(40.0, unit="W", doc="power")
    current = ac.Input(1.0, unit="A", instead_of="P", doc="current")
    T_start = ac.Parameter(300.0, unit="K", doc="at first")
    E_start = ac.Parameter(1e3, unit="J", instead_of="T_start", doc="energy at first")
    T = ac.Variable(start=T_start, fixed=True, unit="K")

    def equations(self):
        yield self.C * ac.der(self.T) == (self.R * self.current**2 if self.P is None else self.P)

    def initial_equations(self):
        if self.E_start is not None:
            yield self.C * self.T == self.E_start


class Two(ac.Component):
    def __init__(self, **given):
        self.a, self.b = Heater(), Heater(**given)


class Driven(ac.Component):
    def __init__(self, **given):
        self.value, self.heater = signal.Constant(k=3.0), Heater(**given)

    def connections(self):
        yield self.value.y, self.heater.current


def last(component, name="T", **options):
    return ac.compile(component).simulate(until=1.0, **options)[name][-1]


@pytest.mark.parametrize(
    "given, expected",
    [
        ({}, 304.0),
        ({"P": 10.0}, 301.0),
        ({"current": 3.0}, 309.0),
        ({"E_start": 2000.0}, 204.0),
        ({"E_start": 500.0, "current": 1.0}, 51.0),
    ],
)
def test_what_is_given_counts(given, expected):
    assert last(Heater(**given)) == pytest.approx(expected, rel=1e-9)
    assert last(copy.deepcopy(Heater(**given))) == pytest.approx(expected, rel=1e-9)


def test_it_is_an_input_like_any_other():
    model = ac.compile(Heater(current=1.0))
    assert "current" in model.simulate(until=1.0).names() and "P" not in model.simulate(until=1.0).names()
    assert model.simulate(until=1.0, inputs={"current": 3.0}, set={"R": 20.0})["T"][-1] == pytest.approx(318.0, rel=1e-9)
    assert last(Driven(current=0.0), "heater.T") == pytest.approx(309.0, rel=1e-9)
    with pytest.raises(ac.AcausalError, match="`P` is not there: Heater has `current` here"):
        model.simulate(until=1.0, inputs={"P": 3.0})


def test_two_of_one_class_may_be_given_different_ones():
    result = ac.compile(Two(current=3.0, E_start=1000.0)).simulate(until=1.0)
    assert [result["a.T"][-1], result["b.T"][-1]] == pytest.approx([304.0, 109.0], rel=1e-9)
    assert last(Two(current=3.0), "b.T") == pytest.approx(309.0, rel=1e-9)


def test_arrays():
    class Row(ac.Component):
        def __init__(self):
            self.heaters = ac.array(Heater, 3, current=[0.0, 1.0, 2.0])

    assert ac.compile(Row()).simulate(until=1.0)["heaters.T"][-1] == pytest.approx([300.0, 301.0, 304.0], rel=1e-9)
    with pytest.raises(ac.UsageError, match="elements of an array are given the same quantities"):
        Row().heaters[0].P = 3.0


def test_what_is_said_last_takes_the_place_of_what_was_said_before():
    heater = Heater(P=10.0)
    heater.current = 3.0
    assert heater.P is None
    assert last(heater) == pytest.approx(309.0, rel=1e-9)
    both = Two(P=10.0)
    both.b.current = 3.0
    assert last(both, "b.T") == pytest.approx(309.0, rel=1e-9)


def test_two_at_once_contradict_each_other():
    with pytest.raises(ac.UsageError, match="given `P` and `current`, which say the same") as error:
        Heater(P=1.0, current=2.0)
    assert "Give one of: P, current." in str(error.value)


def test_connecting_one_that_was_not_given_says_what_to_do():
    with pytest.raises(ac.ModelError, match="is not there until it is given") as error:
        ac.compile(Driven())
    assert "self.value.y, self.heater.current" in str(error.value)


def test_an_alternative_to_nothing():
    with pytest.raises(ac.UsageError, match=r"`Odd.T` is to be given instead of `h`, which is no input of Odd"):

        class Odd(ac.Component):
            T = ac.Input(1.0, instead_of="h")


def test_help_says_so():
    assert "current: A instead of P; current" in Heater.__doc__
    assert "current: float [A] = instead of P" in str(Heater.__signature__)


class Tap(ac.Component):
    """A boundary into a volume, both given by temperatures or qualities."""

    def __init__(self, source, volume):
        self.source, self.valve, self.volume = source, fluid.Orifice(A=1e-6), volume

    def connections(self):
        yield self.source.port, self.valve.a
        yield self.valve.b, self.volume.ports[0]


@pytest.mark.parametrize("medium", ["water", "R134a"])
def test_boundaries_and_volumes_by_temperature_and_quality(medium):
    water = ac.media.fluid(medium)
    warm, wet = water.state(p=9e5, T=290.0).h, water.state(p=5e5, x=0.25).h
    by_name = Tap(fluid.PressureBoundary(medium=water, p=9e5, T=290.0), fluid.Volume(1, p_start=5e5, x_start=0.25))
    by_enthalpy = Tap(fluid.PressureBoundary(medium=water, p=9e5, h=warm), fluid.Volume(1, p_start=5e5, h_start=wet))
    results = [ac.compile(plant).simulate(until=20.0, rtol=1e-8) for plant in (by_name, by_enthalpy)]
    for name in ("volume.M", "volume.U", "volume.T", "valve.m_flow"):
        assert results[0][name] == pytest.approx(results[1][name], rel=1e-6), name


def test_a_flow_of_a_temperature_has_it_at_the_pressure_of_the_plant():
    class Flow(ac.Component):
        def __init__(self):
            self.source = fluid.FlowSource(medium="water", m_flow=0.1, T=350.0)
            self.meter, self.sink = fluid.TemperatureSensor(), fluid.PressureBoundary(p=3e5, T=280.0)

        def connections(self):
            yield self.source.port, self.meter.a
            yield self.meter.b, self.sink.port

    result = ac.compile(Flow()).simulate(until=1.0)
    assert result["meter.y"][-1] == pytest.approx(350.0, rel=1e-6)


@pytest.mark.parametrize("medium", [ac.media.moist_air(), ac.media.ideal_gas(["N2", "O2"], mole=[0.79, 0.21])])
def test_gases_are_given_by_temperature_too(medium):
    plant = Tap(fluid.PressureBoundary(medium=medium, p=2e5, T=310.0), fluid.Volume(1, V=0.01, p_start=1e5, T_start=290.0))
    result = ac.compile(plant).simulate(until=1.0)
    assert result["volume.T"][0] == pytest.approx(290.0, rel=1e-6) and result["volume.p"][-1] > 1.01e5
    with pytest.raises(ac.UsageError, match="It has no two phases"):
        ac.compile(Tap(fluid.PressureBoundary(medium=medium, x=0.5), fluid.Volume(1)))


def test_an_attribute_that_is_not_there_is_told_with_the_connectors_first():
    with pytest.raises(AttributeError, match="Valve has no attribute `port`") as error:
        fluid.Valve().port  # noqa: B018
    assert "It has: a, b" in str(error.value)


class ByCurrent(Heater):
    current, E_start = 3.0, 1000.0


class ByPower(Heater):
    P = 10.0


class AgainByPower(ByCurrent):
    P = 20.0


class Mixin:
    current = 3.0


class ByMixin(Mixin, Heater):
    pass


@pytest.mark.parametrize("cls, expected", [(ByCurrent, 109.0), (ByPower, 301.0), (AgainByPower, 102.0), (ByMixin, 309.0)])
def test_a_derived_class_that_says_a_number_settles_it(cls, expected):
    """The number takes the place of the quantity; the alternatives are not there, and not to be given either."""
    model = ac.compile(cls(), units=False)  # a number has none
    assert model.simulate(until=1.0)["T"][-1] == pytest.approx(expected, rel=1e-9)
    assert (cls().P is None) != (cls().current is None)
    with pytest.raises(ac.UsageError, match=r"no `(P|current)` that could be given a value"):
        cls(**({"P": 1.0} if cls().P is None else {"current": 1.0}))


def test_declared_in_init_it_would_count_for_nothing():
    class Late(ac.Component):
        P = ac.Input(1.0)

        def __init__(self):
            self.current = ac.Input(1.0, instead_of="P")

    with pytest.raises(ac.UsageError, match="instead of `P`, but is declared in `__init__`"):
        Late()


class Other(Heater):
    pass


def test_a_replacement_that_says_another_one_itself_keeps_it():
    both = Two(current=3.0)
    both.b = Other(P=10.0)
    assert last(both, "b.T") == pytest.approx(301.0, rel=1e-9)
    both.b = Other()
    assert last(both, "b.T") == pytest.approx(301.0, rel=1e-9)


class Data(ac.Record):
    h = ac.Parameter(3.0)
    T = ac.Parameter(300.0, instead_of="h")


class Holder(ac.Component):
    y = ac.Variable()

    def __init__(self, data):
        self.data = data

    def equations(self):
        yield self.y == (self.data.h if self.data.T is None else 10.0 * self.data.T)


class Sharing(ac.Component):
    def __init__(self):
        self.data = Data(T=5.0)
        self.a, self.b = Holder(self.data), Holder(self.data)


def test_records():
    plant = Sharing()
    assert [last(plant, name) for name in ("a.y", "b.y")] == [50.0, 50.0]
    plant.a.data = Data(h=7.0)
    assert [last(plant, name) for name in ("a.y", "b.y")] == [7.0, 50.0]
    plant.data.h = 8.0
    with pytest.raises(ac.ModelError, match=r"`data.T` is read, but Data was given another quantity instead of it: `h`"):
        ac.compile(plant)


class Started(ac.Component):
    first = ac.Parameter(1.0, unit="m")
    x = ac.Variable(start=2 * first, fixed=True, unit="m")

    def equations(self):
        yield ac.der(self.x) == -self.x / self.tau

    tau = ac.Parameter(1.0, unit="s")


@pytest.mark.parametrize("said", [3.0, 3, "3 m", "300 cm"])
def test_a_number_in_a_derived_class_is_what_a_start_refers_to(said):
    derived = type("Derived", (Started,), {"first": said})
    assert ac.compile(derived()).simulate(until=1.0)["x"][0] == 6.0


def test_a_parameter_bound_to_an_alternative_that_is_not_there():
    class Bound(ac.Component):
        h, T = ac.Parameter(1.0), ac.Parameter(300.0, instead_of="h")
        k, x = ac.Parameter(2 * h), ac.Variable(start=1.0, fixed=True)

        def equations(self):
            yield ac.der(self.x) == -self.k * self.x

    assert ac.compile(Bound(h=3.0)).simulate(until=1.0)["k"][0] == 6.0
    with pytest.raises(ac.ModelError, match="`h` is read, but Bound was given another quantity instead of it: `T`"):
        ac.compile(Bound(T=5.0))


def test_setting_an_alternative_that_was_not_chosen_says_how_to_choose_it():
    with pytest.raises(ac.ModelError, match=r"`a\.E_start` is not there: Heater has `T_start` here, and `E_start` would") as caught:
        ac.compile(Two()).simulate(until=1.0, set={"a.E_start": 2000.0})
    assert "Heater(E_start=…)" in str(caught.value)
    with pytest.raises(ac.ModelError, match=r"`b\.T_start` is not there: Heater has `E_start` here"):
        ac.compile(Two(E_start=500.0)).set({"b.T_start": 300.0})
