"""Fluids in equations: phases are events, one look-up serves all equations, limits are told."""

from __future__ import annotations

import numpy as np
import pytest

import acausal as ac
from acausal.library import fluid
from benchmarks.fluids import CYCLES, Cycle, Ring, Volume, exact_cop, tespy_cop

CoolProp = pytest.importorskip("CoolProp")


@pytest.fixture(scope="module")
def volume():
    return ac.compile(Volume(ac.media.fluid("CO2")))


@pytest.mark.parametrize("share", [0.6, 1.0, 1.02, 1.4])
def test_isochores_cross_the_critical_point(volume, share):
    rho = share * 467.6
    result = volume.simulate(until=1880.0, rtol=1e-6, set={"M0": rho * 1e-3})
    assert result.outcome
    exact = CoolProp.CoolProp.PropsSI
    for k in range(0, len(result.time), 25):
        assert result["T"][k] == pytest.approx(exact("T", "D", rho, "U", result["U"][k] / result["M"][k], "CO2"), rel=1e-5)
    assert np.abs(result["M"] / result["M"][0] - 1).max() < 1e-12


def test_a_change_of_phase_is_one_event(volume):
    """Dense fluid leaves two phases once on the way up and enters them once on the way down."""
    result = volume.simulate(until=1880.0, set={"M0": 1.4 * 0.4676})
    assert len(result.events) == 2


@pytest.mark.parametrize("fluid", CYCLES)
def test_cop_of_a_steady_cycle(fluid):
    result = ac.compile(Cycle(ac.media.fluid(fluid))).simulate(until=1.0, set=CYCLES[fluid])
    assert result["COP"][-1] == pytest.approx(exact_cop(fluid, **CYCLES[fluid]), rel=1e-6)


@pytest.mark.parametrize("fluid", CYCLES)
def test_the_cop_of_a_cycle_is_that_of_tespy(fluid):
    pytest.importorskip("tespy")
    result = ac.compile(Cycle(ac.media.fluid(fluid))).simulate(until=1.0, set=CYCLES[fluid])
    assert result["COP"][-1] == pytest.approx(tespy_cop(fluid, **CYCLES[fluid]), rel=1e-4)


def test_one_evaluation_serves_all_equations():
    calls = []

    def gas(p, h):
        calls.append((p, h))
        return 1e-5 * p * (1 + 1e-6 * h), 250 + 1e-3 * h, 1e-5 * (1 + 1e-6 * h), 0.0, 1e-11 * p, 1e-3

    properties = ac.several(gas, results=("rho", "T"), order=1)

    class Cell(ac.Component):
        p = ac.Variable(start=1e5, nominal=1e5)
        h = ac.Variable(start=2e5, nominal=1e5)
        M = ac.Variable(start=0.12, state="prefer")
        U = ac.Variable(start=14000.0, state="prefer", nominal=1e4)
        T = ac.Variable(nominal=100.0)
        Q = ac.Variable(nominal=10.0)

        def equations(self):
            rho, T = properties(self.p, self.h)
            yield self.M == 0.1 * rho
            yield self.U == self.M * self.h - self.p * 0.1
            yield self.T == T
            yield self.Q == 5.0 * (600.0 - self.T)
            yield ac.der(self.M) == 0.0 * self.Q
            yield ac.der(self.U) == self.Q

    model = ac.compile(Cell())
    calls.clear()
    result = model.simulate(until=20.0, points=2)
    assert result.outcome
    work = result.statistics.residual_evaluations + 2 * result.statistics.jacobian_evaluations
    assert len(calls) <= work + 40  # and a few for the start, and where somebody looks


def test_leaving_the_table_is_told():
    """R134a in a closed volume, heated until it is hotter than its table."""
    model = ac.compile(Volume(ac.media.fluid("R134a")))
    result = model.simulate(until=400.0, set={"M0": 0.05, "Q": 500.0, "T0": 300.0, "period": 1e4}, on_failure="keep")
    assert not result.outcome
    told = "\n".join(str(d) for d in result.diagnostics)
    assert "R134a" in told and "table" in told, told


def test_units_of_media_are_checked():
    class Wrong(ac.Component):
        p = ac.Variable(start=1e5, unit="Pa")
        T = ac.Variable(start=300.0, unit="K")

        def equations(self):
            yield self.T == ac.media.fluid("CO2").state(p=self.p, h=self.T).T
            yield self.p == 1e6 + 0 * ac.time

    with pytest.raises(ac.ModelError, match="J/kg"):
        ac.compile(Wrong())


def test_a_known_phase_makes_no_events():
    class Gas(ac.Component):
        T = ac.Variable(start=310.0, unit="K", nominal=100.0)
        rho = ac.Variable(unit="kg/m^3")
        h = ac.Variable(start=4.5e5, unit="J/kg", nominal=1e5)

        def equations(self):
            state = ac.media.fluid("CO2").state(p=1e6, h=self.h, phase="vapour")
            yield ac.der(self.h) == -1e3
            yield self.T == state.T
            yield self.rho == state.rho

    result = ac.compile(Gas()).simulate(until=10.0)
    assert len(result.events) == 0
    exact = CoolProp.CoolProp.PropsSI("T", "P", 1e6, "H", result["h"][-1], "CO2")
    assert result["T"][-1] == pytest.approx(exact, rel=1e-6)


def test_a_ring_with_turning_flow_keeps_mass_and_energy():
    result = ac.compile(Ring(60)).simulate(until=5.0, points=200)
    assert result.outcome
    for name in ("volumes.M", "volumes.U"):
        total = result[name].sum(axis=1)
        assert np.ptp(total) <= 1e-12 * abs(total[0])
    assert (np.sign(result["pipes.m"][1:]) != np.sign(result["pipes.m"][:-1])).sum() > 100


@pytest.mark.parametrize(
    "medium",
    [
        ac.media.moist_air(),
        ac.media.ideal_gas(["N2", "O2"], mole=[0.79, 0.21]),
        ac.media.ideal_gas(["N2", "O2"]),
    ],
    ids=["moist air", "gas", "mixture"],
)
def test_a_volume_of_which_nothing_is_said_is_at_room_temperature(medium):
    result = ac.compile(fluid.Volume(1, medium=medium)).simulate(until=1.0)
    np.testing.assert_allclose(result["T"], 300.0, rtol=1e-9)


def test_a_volume_has_quality_and_phase_where_its_medium_evaporates():
    wet = ac.compile(fluid.Volume(1, medium="R134a", p_start=5e5, x_start=0.25)).simulate(until=1.0)
    np.testing.assert_allclose(wet["x"], 0.25, rtol=1e-9)
    assert set(wet["phase"]) == {0.0}
    hot = ac.compile(fluid.Volume(1, medium="R744", p_start=9e6, T_start=320.0)).simulate(until=1.0)
    assert set(hot["x"]) == set(hot["phase"]) == {1.0}
    with pytest.raises(ac.AcausalError, match="Volume has no `x`"):
        ac.compile(fluid.Volume(1, medium=ac.media.moist_air())).simulate(until=1.0)["x"]


def test_what_is_there_only_with_two_phases_says_so():
    class Wrong(ac.Component):
        port = ac.FluidPort()
        x = ac.OfPhases()

        def equations(self):
            yield self.port.p == 1e5
            yield self.port.h.outflow == 1e5
            yield self.x == 0.0

    with pytest.raises(
        ac.ModelError, match=r"`x` of Wrong is not there: its medium has no two phases(.|\n)*self.medium.evaporates"
    ):
        ac.compile(Wrong(medium=ac.media.ideal_gas(["N2"])))


def test_before_a_translation_the_medium_is_not_known():
    with pytest.raises(ac.UsageError, match=r"`x` of Volume is not there: its medium is known only while equations(.|\n)*result"):
        _ = fluid.Volume(1, medium="R134a").x


def test_where_an_unknown_of_the_medium_starts_is_said_like_any_other():
    """The medium is known when the plant is; what it has no use for is not asked."""

    class Rising(ac.Component):
        port = ac.FluidPort()
        x = ac.OfPhases(start=0.0, fixed=True)

        def equations(self):
            yield self.port.p == 5e5
            yield self.port.h.outflow == 3e5
            if self.medium.evaporates:
                yield ac.der(self.x) == 1.0

    late = Rising(medium="R134a")
    late.x = ac.start(0.5)
    for made, expected in ((Rising(medium="R134a"), 1.0), (Rising(medium="R134a", x=ac.start(0.25)), 1.25), (late, 1.5)):
        assert ac.compile(made).simulate(until=1.0)["x"][-1] == pytest.approx(expected)
    assert "x" not in ac.compile(Rising(medium=ac.media.ideal_gas(["N2"]), x=ac.start(0.25))).simulate(until=1.0).names()


class Boiler(ac.Component):
    """A closed volume of two phases that is heated until it is dry, or full of liquid."""

    M, V = ac.Parameter(0.02, unit="kg"), ac.Parameter(1e-3, unit="m^3")
    p = ac.Variable(unit="Pa", start=2e5, nominal=1e5)
    h = ac.Variable(unit="J/kg", start=2.1e5, nominal=1e5)
    U = ac.Variable(unit="J", nominal=1e3)

    def __init__(self, phase=None):
        self.medium, self.phase = ac.media.fluid("R134a"), phase

    def equations(self):
        state = self.medium.state(p=self.p, h=self.h, phase=self.phase)
        yield self.M == self.V * state.rho
        yield self.U == self.M * self.h - self.p * self.V
        yield ac.der(self.U) == 20.0
        self.T = ac.named(state.T, unit="K")

    def initial_equations(self):
        yield self.p == 2e5


def test_a_phase_that_is_liquid_or_not_has_events_at_the_bubble_line_alone():
    both, bubble = (ac.compile(Boiler(phase)).simulate(until=150.0, rtol=1e-8) for phase in (None, "liquid or not"))
    assert both.outcome and bubble.outcome
    assert len(both.events) and not len(bubble.events)  # it becomes dry
    for name in ("T", "p"):
        np.testing.assert_allclose(bubble[name], np.interp(bubble.time, both.time, both[name]), rtol=1e-6)
    full = ac.compile(Boiler("liquid or not")).simulate(until=6000.0, set={"M": 1.2}, on_failure="keep")
    assert len(full.events)  # it becomes liquid, whose pressure soon is beyond the table


def test_states_that_are_liquid_or_not_are_those_of_any_phase():
    medium = ac.media.fluid("R134a")
    p = np.geomspace(medium.p_min, 0.999 * medium.p_critical, 40)[:, None]
    h = np.linspace(medium.h_min + 1e4, 4.6e5, 60)
    one, other = (medium.state(p=p, h=h, phase=phase) for phase in ("any", "liquid or not"))
    np.testing.assert_array_equal(one.rho, other.rho)
    function = medium.function("state")
    above = np.broadcast_arrays(p, h)[1] > medium.saturation(p=p).liquid.h
    known = function.evaluate(*(np.ascontiguousarray(x[above]) for x in np.broadcast_arrays(p, h, 3.0)))
    np.testing.assert_allclose(known[:, 1], one.rho[above], rtol=1e-13)


@pytest.mark.parametrize("name", ["R134a", "CO2", "Water"])
def test_isentropes_are_exact_where_they_meet_saturation(name):
    """h(p, s(p, h)) = h within some roundings on both sides of both borders."""
    medium, rng = ac.media.fluid(name), np.random.default_rng(3)
    p = np.exp(rng.uniform(np.log(1.05 * medium.p_min), np.log(0.999 * medium.p_critical), 4000))
    for border in medium.function("borders")(p):
        h = border + rng.normal(size=4000) * 10.0 ** rng.uniform(-3, 2, 4000)
        back = medium.function("h_ps")(p, medium.state(p=p, h=h).s)[0]
        np.testing.assert_allclose(back, h, rtol=1e-12, atol=1e-12 * medium.h_critical)
