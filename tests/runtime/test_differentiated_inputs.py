"""Inputs that prescribe what other equations integrate: their derivatives are known where the input is more than a function."""

import numpy as np
import pytest

import acausal as ac
from acausal.library import fluid, thermal
from acausal.runtime.inputs import Table, derivative


class Capacitor(ac.Component):
    """A prescribed voltage, through what is algebra only."""

    v, C = ac.Input(1.0, unit="V"), ac.Parameter(2.0, unit="F")
    u, i = ac.Variable(unit="V"), ac.Variable(unit="A")

    def equations(self):
        yield self.u == self.v
        yield self.C * ac.der(self.u) == self.i


class Towed(ac.Component):
    """A mass at a prescribed position pulls another by a spring: index 3."""

    s0, k, m = ac.Input(0.0, unit="m"), ac.Parameter(1.0, unit="N/m"), ac.Parameter(1.0, unit="kg")
    s, v, F = ac.Variable(unit="m"), ac.Variable(unit="m/s"), ac.Variable(unit="N")
    s2, v2 = ac.Variable(unit="m", start=0.0, fixed=True), ac.Variable(unit="m/s", start=0.0, fixed=True)

    def equations(self):
        yield self.s == self.s0
        yield ac.der(self.s) == self.v
        yield self.m * ac.der(self.v) == self.F - self.k * (self.s - self.s2)
        yield ac.der(self.s2) == self.v2
        yield self.m * ac.der(self.v2) == self.k * (self.s - self.s2)


class Masses(ac.Component):
    """A prescribed temperature at a mass that warms another."""

    def __init__(self):
        self.source, self.first = thermal.PrescribedTemperature(), thermal.HeatCapacitor(C=10.0)
        self.between = thermal.ThermalConductor(G=2.0)
        self.second = thermal.HeatCapacitor(C=5.0, T=ac.start(300.0, fixed=True))

    def connections(self):
        yield self.source.port, self.first.port, self.between.a
        yield self.between.b, self.second.port


@pytest.fixture(scope="module")
def towed():
    return ac.compile(Towed())


@pytest.fixture(scope="module")
def masses():
    return ac.compile(Masses())


def test_what_is_known_of_a_derivative():
    model = ac.compile(Capacitor())
    assert not model.simulate(1.0)["i"].any()
    ramp = model.simulate(2.0, inputs={"v": ([0.0, 1.0, 2.0], [0.0, 3.0, 3.0])}, points=5)
    assert ramp["i"].tolist() == [6.0, 6.0, 6.0, 0.0, 0.0, 0.0]  # both sides of the corner
    smooth = ac.data([0.0, 1.0, 2.0], [0.0, 1.0, 4.0], interpolation="smooth")
    assert model.simulate(2.0, inputs={"v": smooth}, points=5)["i"] == pytest.approx([0.0, 2.0, 4.0, 6.0, 8.0])


@pytest.mark.parametrize("interpolation", ["smooth", "monotone"])
def test_the_rate_of_cubics_is_that_of_their_values(interpolation):
    rng = np.random.default_rng(3)
    times, values = np.cumsum(rng.uniform(0.1, 1.0, 9)), rng.normal(size=9)
    from acausal.runtime.inputs import table

    found = table(times, values, "v", interpolation)
    assert isinstance(found, Table)
    rate, inside = derivative(found, times[0], times[-1]), np.linspace(times[0] + 1e-5, times[-1] - 1e-5, 500)
    assert not isinstance(rate, str)
    assert rate.at(inside) == pytest.approx((found.at(inside + 1e-6) - found.at(inside - 1e-6)) / 2e-6, abs=1e-4)


def test_the_native_solver_knows_the_rate_of_cubics(masses):
    data = ac.data([0.0, 4.0, 6.0, 10.0], [300.0, 303.0, 310.0, 310.0], interpolation="monotone", ends="hold")
    result = masses.simulate(10.0, inputs={"source.T": data}, rtol=1e-9, points=10_001)
    stored = np.trapezoid(-np.asarray(result["source.port.Q_flow"]), result.time)
    gained = 10.0 * (result["first.T"][-1] - 300.0) + 5.0 * (result["second.T"][-1] - 300.0)
    assert stored == pytest.approx(gained, rel=1e-6)


def test_heat_follows_a_ramp_of_temperature(masses):
    result = masses.simulate(10.0, inputs={"source.T": ([0.0, 5.0, 6.0, 10.0], [300.0, 300.0, 310.0, 310.0])}, rtol=1e-9)
    lag = 5.0 / 2.0
    at_six = 310.0 - 10.0 * lag * (1 - np.exp(-1 / lag))
    assert result.at(6.0)["second.T"] == pytest.approx(at_six, abs=1e-6)
    assert result.at(5.5)["source.port.Q_flow"] == pytest.approx(-100.0 - 2.0 * (305.0 - result.at(5.5)["second.T"]), rel=1e-7)


def test_a_corner_of_a_prescribed_position_is_an_impulse(towed):
    result = towed.simulate(2.0, inputs={"s0": ([0.0, 1.0, 2.0], [0.0, 0.0, 1.0])}, rtol=1e-9)
    assert result["s2"][-1] == pytest.approx(1.0 - np.sin(1.0), abs=1e-7)
    (told,) = result.diagnostics
    assert told.what.startswith("At time 1 quantities jump that the model differentiates")
    assert "jumps:     v: 0 → 1" in told.details and "impulse:   F: 1 (its unit times a second)" in told.details


def test_a_jump_of_an_input_is_told(towed, masses):
    result = towed.simulate(2.0, inputs={"s0": ac.hold([0.0, 1.0], [0.0, 1.0])}, rtol=1e-9)
    assert result["s2"][-1] == pytest.approx(1.0 - np.cos(1.0), abs=1e-7)
    assert "jumps:     s0: 0 → 1" in result.diagnostics[0].details
    session = masses.start(inputs={"source.T": 300.0})
    session.advance(1.0)
    session.advance(2.0, inputs={"source.T": 305.0})
    assert session["second.T"] == pytest.approx(305.0 - 5.0 * np.exp(-0.4), abs=1e-3)
    assert "jumps:     source.T: 300 → 305" in session.result().diagnostics[0].details


def test_of_a_function_nothing_but_values_is_known(towed, masses):
    with pytest.raises(ac.ModelError, match=r"needs the derivative of input `source.T`(.|\n)*Python function(.|\n)*a table"):
        masses.simulate(1.0, inputs={"source.T": lambda t: 300.0 + t})
    smooth = ac.data([0.0, 1.0, 2.0], [0.0, 1.0, 4.0], interpolation="smooth")
    with pytest.raises(ac.ModelError, match="second derivative of smoothed data"):
        towed.simulate(2.0, inputs={"s0": smooth})
    with pytest.raises(ac.ModelError, match=r"bend where they begin or end \(0 to 2\)"):
        masses.simulate(3.0, inputs={"source.T": smooth})


def test_a_linear_system_has_no_such_input(masses):
    assert masses.linearise(at=0.0).inputs == []
    with pytest.raises(ac.ModelError, match=r"derivative of input `source.T`(.|\n)*lag"):
        masses.linearise(at=0.0, inputs=["source.T"])


def test_models_are_the_same_from_a_file(masses, tmp_path):
    given = {"source.T": ([0.0, 5.0, 6.0, 10.0], [300.0, 300.0, 310.0, 310.0])}
    masses.save(tmp_path / "masses.acm")
    again = ac.load(tmp_path / "masses.acm").simulate(10.0, inputs=given)
    assert np.array_equal(again.data, masses.simulate(10.0, inputs=given).data)


class Vessel(ac.Component):
    """Water that is warmed at the pressure of an open vessel."""

    def __init__(self):
        self.water = fluid.Volume(1, V=0.02, medium="water", p_start=2e5, h_start=84e3)
        self.open, self.burner = fluid.PressureBoundary(p=2e5, h=84e3), thermal.FixedHeatFlow(Q_flow=8000.0)

    def connections(self):
        yield self.open.port, self.water.ports[0]
        yield self.burner.port, self.water.heat


def test_a_volume_at_a_prescribed_pressure_expands():
    model = ac.compile(Vessel())
    result = model.simulate("10 min")
    assert result.outcome.ok and result["water.T"][-1] - result["water.T"][0] == pytest.approx(57.5, abs=1.0)
    gone = np.trapezoid(np.asarray(result["open.port.m_flow"]), result.time)
    assert gone == pytest.approx(result["water.M"][0] - result["water.M"][-1], rel=1e-3)
    higher = model.simulate("10 min", inputs={"open.p": ([0.0, 600.0], [2e5, 4e5])})
    assert higher["water.p"][-1] == pytest.approx(4e5)


class Output(ac.Component):
    """Nothing is unknown."""

    v, w = ac.Input(1.0), ac.Variable()

    def equations(self):
        yield self.w == 2 * self.v


def test_both_sides_of_a_jump_without_unknowns():
    result = ac.compile(Output()).simulate(2.0, inputs={"v": ac.hold([0.0, 1.0], [0.0, 3.0])}, points=3)
    assert result["w"].tolist() == [0.0, 0.0, 6.0, 6.0]


class Elsewhere(ac.Component):
    """Derivatives of an input in an initial equation and at an event only."""

    v, x, n, clock = ac.Input(0.0), ac.Variable(), ac.Discrete(start=0.0), ac.Variable(start=0.0, fixed=True)

    def equations(self):
        yield ac.der(self.x) == 0.0
        yield ac.der(self.clock) == 1.0
        yield ac.when(self.clock > 0.5, ac.assign(self.n, ac.der(self.v)))

    def initial_equations(self):
        yield self.x == 2 * ac.der(self.v)


def test_initial_equations_and_events_read_derivatives_too():
    model = ac.compile(Elsewhere())
    result = model.simulate(2.0, inputs={"v": ([0.0, 1.0, 2.0], [0.0, 3.0, 3.0])})
    assert result["x"][0] == 6.0 and result["n"][-1] == 3.0
    with pytest.raises(ac.ModelError, match="derivative of input `v`"):
        model.simulate(2.0, inputs={"v": lambda t: 3 * t})


def test_data_that_end_within_a_session_have_no_rate_after_that():
    session = ac.compile(Capacitor()).start(inputs={"v": 0.0})
    session.advance(1.0, inputs={"v": ([0.0, 2.0], [0.0, 6.0])})
    assert session["i"] == 6.0
    session.advance(4.0)
    assert session["i"] == 0.0


@pytest.mark.parametrize("size", [1e-9, 1.0, 1e9])
def test_jumps_are_told_whatever_the_unit(size):
    model = ac.compile(Capacitor())
    (told,) = model.simulate(2.0, inputs={"v": ac.hold([0.0, 1.0], [0.0, size])}).diagnostics
    assert told.details == (f"jumps:     v: 0 → {size:.6g}",)
    through_zero = np.linspace(-1.0, 1.0, 21) * size * 0.3  # corners at which a value is zero but for rounding
    assert not model.simulate(2.0, inputs={"v": (np.linspace(0.0, 2.0, 21), through_zero)}).diagnostics


class Pushed(ac.Component):
    """The force that moves a mass as prescribed, and its integral."""

    s0, s, v, F, push = ac.Input(0.0), ac.Variable(), ac.Variable(), ac.Variable(), ac.Variable(start=0.0, fixed=True)

    def equations(self):
        yield self.s == self.s0
        yield ac.der(self.s) == self.v
        yield ac.der(self.v) == self.F
        yield ac.der(self.push) == self.F


@pytest.mark.parametrize("size", [1e-8, 1.0])
def test_small_impulses_count_where_the_tolerances_say_so(size):
    given = {"s0": ([0.0, 1.0, 2.0], [0.0, 0.0, size])}
    result = ac.compile(Pushed()).simulate(2.0, inputs=given, rtol=1e-9, atol=1e-9 * size)
    assert result["push"][-1] == pytest.approx(size) and len(result.diagnostics) == 1


@pytest.mark.parametrize("given", [([0.0, 1.0, 2.0], [0.0, 1.0, 5.0]), ac.data([0.0, 2.0], [0.0, 2.0]), lambda t: t, 0.5])
def test_at_rest_an_input_stays_what_it_is(given):
    """Whatever it does before and after: nothing changes at rest, and so its rate is zero."""
    state = ac.compile(Capacitor()).steady_state(inputs={"v": given}, at=0.5)
    assert state["u"][0] == pytest.approx(0.5)
    assert state["i"][0] == 0.0
    towed = ac.compile(Towed()).steady_state(inputs={"s0": given}, at=0.5)
    assert [towed[name][0] for name in ("v", "F", "s2", "v2")] == pytest.approx([0.0, 0.0, 0.5, 0.0], abs=1e-9)
