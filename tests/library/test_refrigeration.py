"""Moving boundaries: conservation, steady states against heat balances, and exchangers that flood, run dry and stand still."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import acausal as ac
from acausal.errors import UsageError
from acausal.library import fluid, refrigeration
from acausal.library.mechanics.rotational import Speed
from acausal.library.thermal import FixedTemperature, PrescribedTemperature
from benchmarks.cold_stores import REST, rig, stepped

PropsSI = pytest.importorskip("CoolProp.CoolProp").PropsSI
HAPropsSI = pytest.importorskip("CoolProp.HumidAirProp").HAPropsSI
R134A = ac.media.fluid("R134a")


def evaporator(wired: Any, m_flow: float, T_air: float, **more: Any) -> Any:
    """Fed with a flow of wet vapour, sucked empty by an orifice into a low pressure."""
    return wired(
        "feed.port evaporator.a", "evaporator.b suction.a", "suction.b low.port", "evaporator.air air.port",
        feed=fluid.FlowSource(m_flow=m_flow, h=2.5e5), low=fluid.PressureBoundary(p=1e5, h=4e5), air=FixedTemperature(T=T_air),
        suction=fluid.Orifice(medium=R134A, A=3e-5),
        evaporator=refrigeration.Evaporator(medium=R134A, charge_start=0.1, T_start=275.0, **more),
    )  # fmt: skip


def test_at_rest_an_evaporator_gives_the_heat_it_takes(wired: Any) -> None:
    result = ac.compile(evaporator(wired, 0.008, 280.0)).simulate(until=2000.0)
    heat = result["evaporator.air.Q_flow"][-1]
    assert heat == pytest.approx(0.008 * (result["evaporator.h_out"][-1] - 2.5e5), rel=1e-5)
    vapour = R134A.saturation(p=float(result["evaporator.p"][-1])).vapour
    assert result["evaporator.h_out"][-1] > vapour.h
    assert result["evaporator.L"][-1].sum() == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize(("m_flow", "T_air"), [(0.03, 276.0), (0.0005, 300.0), (0.0, 290.0)], ids=["flooded", "dry", "standing"])
def test_it_floods_runs_dry_and_stands_still(wired: Any, m_flow: float, T_air: float) -> None:
    result = ac.compile(evaporator(wired, m_flow, T_air)).simulate(until=1000.0)
    assert result.outcome is ac.Outcome.FINISHED
    assert result["evaporator.L"].min() > 0.005
    charge, came = result["evaporator.charge"], m_flow * result.time
    assert charge[-1] <= charge[0] + came[-1]


def test_an_evaporator_full_of_liquid_is_sucked_empty(wired: Any) -> None:
    """Refrigerant came back from the suction side; then boiling advances over warm wall, in a zone that is wetter than its feed."""
    model = ac.compile(evaporator(wired, 0.008, 280.0))
    filled = model.simulate(until=300.0, inputs={"feed.m_flow": -0.002, "low.p": 5e5})
    assert filled["evaporator.charge"][-1] > 1.5
    result = model.simulate(until=300.0, start_from=filled, inputs={"feed.m_flow": 0.008, "low.p": 1e5}, max_steps=5000)
    assert result.outcome is ac.Outcome.FINISHED
    settled = model.simulate(until=600.0)
    assert result["evaporator.charge"][-1] == pytest.approx(settled["evaporator.charge"][-1], rel=1e-3)


def test_a_condenser_at_rest(wired: Any) -> None:
    plant = wired(
        "gas.port condenser.a", "condenser.b valve.a", "valve.b low.port", "condenser.air air.port",
        gas=fluid.FlowSource(m_flow=0.008, h=4.4e5), low=fluid.PressureBoundary(p=3e5, h=2.5e5), air=FixedTemperature(T=298.15),
        valve=fluid.Orifice(medium=R134A, A=3e-7), condenser=refrigeration.Condenser(medium=R134A, UA=300.0),
    )  # fmt: skip
    result = ac.compile(plant).simulate(until=3000.0)
    given = -result["condenser.air.Q_flow"][-1]
    assert given == pytest.approx(0.008 * (4.4e5 - result["condenser.h_out"][-1]), rel=1e-4)
    liquid = R134A.saturation(p=float(result["condenser.p"][-1])).liquid
    assert result["condenser.h_out"][-1] < liquid.h


def test_void_fraction_after_zivi() -> None:
    """The means that quadrature gives (digest of Tummescheit, erratum to 4.74)."""
    for ratio, mean in ((0.005, 0.920523), (0.02, 0.855596), (0.1, 0.737315), (0.5, 0.576472)):
        void = refrigeration.Void(ratio)
        x = np.linspace(0, 1, 20001)
        assert float(void.mean(0.0)) == pytest.approx(mean, abs=2e-6)
        assert float(np.trapezoid(void.at(x), x)) == pytest.approx(mean, abs=2e-6)
        np.testing.assert_allclose(void.quality(void.at(x)), x, atol=1e-12)


def test_a_receiver_gives_liquid_until_it_is_empty(wired: Any) -> None:
    plant = wired(
        "source.port vessel.a", "vessel.b valve.a", "valve.b low.port",
        source=fluid.FlowSource(m_flow=0.0, h=4.2e5), low=fluid.PressureBoundary(p=1e5, h=4e5),
        valve=fluid.Orifice(medium=R134A, A=1e-6), vessel=refrigeration.Receiver(medium=R134A, charge_start=0.5),
    )  # fmt: skip
    result = ac.compile(plant).simulate(until=200.0)
    leaves, ends = result["vessel.b.h.outflow"], R134A.saturation(p=result["vessel.p"])
    full = result["vessel.level"] > 0.05
    np.testing.assert_allclose(leaves[full], ends.liquid.h[full], rtol=1e-9)
    assert leaves[-1] > ends.liquid.h[-1] + 1e5
    assert result["vessel.level"][-1] < 0.01


def test_a_compressor_lifts_by_its_efficiencies(wired: Any) -> None:
    suction = R134A.state(p=2e5, T=275.0)
    plant = wired(
        "low.port compressor.a", "compressor.b high.port",
        low=fluid.PressureBoundary(p=2e5, h=suction.h), high=fluid.PressureBoundary(p=8e5, h=2.5e5),
        compressor=refrigeration.Compressor(medium=R134A),
    )  # fmt: skip
    result = ac.compile(plant).simulate(until=60.0)
    work = (R134A.state(p=8e5, s=suction.s).h - suction.h) / 0.65
    assert result["compressor.m_flow"][-1] == pytest.approx(0.85 * 20e-6 * 50.0 * suction.rho, rel=1e-6)
    assert result["compressor.P"][-1] == pytest.approx(0.85 * 20e-6 * 50.0 * suction.rho * work, rel=1e-6)


def test_a_thermostatic_valve_opens_with_superheat(wired: Any) -> None:
    plant = wired(
        "high.port valve.a", "valve.b low.port",
        high=fluid.PressureBoundary(p=8e5, h=2.3e5), low=fluid.PressureBoundary(p=2e5, h=2.3e5),
        valve=refrigeration.ThermostaticValve(medium=R134A, superheat=9.0),
    )  # fmt: skip
    result = ac.compile(plant).simulate(until=200.0)
    assert result["valve.opening"][-1] == pytest.approx(0.5, abs=1e-3)
    expected = 0.5 * 4e-7 * np.sqrt(2 * R134A.state(p=8e5, h=2.3e5).rho * 6e5)
    assert result["valve.m_flow"][-1] == pytest.approx(expected, rel=2e-3)


class Store(ac.Component):
    """A room with a coil of given temperature."""

    def __init__(self) -> None:
        self.room, self.coil, self.door = refrigeration.ColdRoom(), refrigeration.FrostedCoil(T_coil=263.15), refrigeration.Door()
        self.thermostat, self.clock = refrigeration.Thermostat(), refrigeration.DefrostClock(first=600.0)

    def connections(self) -> Any:
        yield self.clock.allow, self.coil.fans
        yield self.clock.heat, self.coil.heater
        yield self.room.w, self.coil.w
        yield self.coil.moisture, self.room.moisture
        yield self.door.exchange, self.room.exchange

    def equations(self) -> Any:
        yield self.thermostat.T == self.room.T


def test_frost_is_what_the_air_loses() -> None:
    result = ac.compile(Store()).simulate(until=4 * 3600.0, rtol=1e-8)
    brought = 1e-3 * np.trapezoid(0.010 - result["room.w"], result.time)
    lost = 25.0 * (result["room.w"][0] - result["room.w"][-1])
    assert result["coil.frost"][-1] == pytest.approx(brought + lost, rel=1e-4)
    dry = refrigeration.rooms.saturated_humidity(263.15)
    assert result["room.w"][-1] > dry
    assert [p.state for p in result.states("clock.phase")][:3] == ["cooling", "heating", "dripping"]
    assert result.states("thermostat.call")[-1].state == "on"


def test_humidity_over_water_is_that_of_water() -> None:
    """CoolProp's, but for 0.5 % by which air raises the vapour's pressure, and 0.2 % of Magnus; the formula for ice is 10 % above
    that for water at 10 °C."""
    for T in (253.15, 268.15, 278.15, 288.15):
        expected = HAPropsSI("W", "T", T, "P", 101325.0, "R", 1.0)
        assert float(refrigeration.rooms.saturated_humidity(T)) == pytest.approx(expected, rel=7e-3)


def test_humidity_over_ice_at_zero_degrees() -> None:
    assert float(refrigeration.rooms.saturated_humidity(273.15)) == pytest.approx(0.62198 * 611.2 / (101325.0 - 611.2))


def test_an_electronic_valve_follows_its_controller_and_a_capillary_does_not(wired: Any) -> None:
    ends = {"high": fluid.PressureBoundary(p=8e5, h=2.3e5), "low": fluid.PressureBoundary(p=2e5, h=2.3e5)}
    plant = wired("high.port valve.a", "valve.b low.port", valve=refrigeration.ElectronicValve(medium=R134A, opening=0.25), **ends)
    result = ac.compile(plant).simulate(until=60.0)
    rho = R134A.state(p=8e5, h=2.3e5).rho
    assert result["valve.m_flow"][-1] == pytest.approx(0.25 * 4e-7 * np.sqrt(2 * rho * 6e5), rel=1e-3)
    ends = {"high": fluid.PressureBoundary(p=8e5, h=2.3e5), "low": fluid.PressureBoundary(p=2e5, h=2.3e5)}
    plant = wired("high.port tube.a", "tube.b low.port", tube=refrigeration.Capillary(medium=R134A), **ends)
    area = np.pi / 4 * 0.8e-3**2 / np.sqrt(1 + 0.3164 / 2e4**0.25 * 2.0 / 0.8e-3)
    assert ac.compile(plant).simulate(until=1.0)["tube.m_flow"][-1] == pytest.approx(area * np.sqrt(2 * rho * 6e5), rel=1e-5)


def test_a_compressor_by_its_map_and_outside_of_it(wired: Any) -> None:
    flow, power = [0.01, 3e-4] + 8 * [0.0], [400.0, 0.0, 5.0] + 7 * [0.0]
    sat = R134A.saturation(T=263.15)
    suction = R134A.state(p=sat.p, T=273.15)
    ends = {
        "low": fluid.PressureBoundary(p=sat.p, h=suction.h),
        "high": fluid.PressureBoundary(p=R134A.saturation(T=313.15).p, h=2.5e5),
    }
    plant = wired("low.port c.a", "c.b high.port", c=refrigeration.MapCompressor(flow, power, medium=R134A), **ends)
    result = ac.compile(plant).simulate(until=60.0)
    assert result["c.m_flow"][-1] == pytest.approx(0.01 - 3e-3, rel=1e-5)
    assert result["c.P"][-1] == pytest.approx(600.0, rel=1e-6)
    assert not result.diagnostics
    hot = ac.compile(plant).simulate(until=60.0, inputs={"high.p": 25e5})
    assert any("outside of what this compressor was measured for, 20 … 65 °C" in d.what for d in hot.diagnostics)
    with pytest.raises(UsageError, match="10 coefficients"):
        refrigeration.MapCompressor([1.0], power)


def test_the_map_of_a_compressor_is_over_dew_points(wired: Any) -> None:
    """AHRI 540; R407C boils 6 K below its dew point, and the flow was a fifth too small."""
    flow, power = [0.02, 7e-4, -5e-5] + 7 * [0.0], [800.0, 2.0, 12.0] + 7 * [0.0]
    low, high = (PropsSI("P", "T", T, "Q", 1, "R407C") for T in (263.15, 313.15))
    ends = {"low": fluid.PressureBoundary(p=low, T=273.15), "high": fluid.PressureBoundary(p=high, h=4.5e5)}
    plant = wired("low.port c.a", "c.b high.port", c=refrigeration.MapCompressor(flow, power, medium="R407C"), **ends)
    result = ac.compile(plant).simulate(until=60.0)
    assert result["c.m_flow"][-1] == pytest.approx(0.02 - 7e-3 - 2e-3, rel=1e-4)
    assert result["c.P"][-1] == pytest.approx(800.0 - 20.0 + 480.0, rel=1e-5)


def test_a_map_may_be_that_of_suction_gas_of_one_temperature(wired: Any) -> None:
    """EN 12900: 20 °C. At -30 °C that is 50 K of superheat, and colder gas is denser."""
    p = PropsSI("P", "T", 243.15, "Q", 1, "R134a")
    ends = {"low": fluid.PressureBoundary(p=p, T=253.15), "high": fluid.PressureBoundary(p=8e5, h=4.5e5)}
    pump = refrigeration.MapCompressor([0.01] + 9 * [0.0], [500.0] + 9 * [0.0], medium=R134A, T_rated="20 degC")
    result = ac.compile(wired("low.port c.a", "c.b high.port", c=pump, **ends)).simulate(until=60.0)
    denser = PropsSI("D", "P", p, "T", 253.15, "R134a") / PropsSI("D", "P", p, "T", 293.15, "R134a")
    assert denser > 1.15
    assert result["c.m_flow"][-1] == pytest.approx(0.01 * denser, rel=1e-4)


def test_a_compressor_that_pumps_liquid_says_so(wired: Any) -> None:
    plant = wired(
        "low.port compressor.a", "compressor.b high.port",
        low=fluid.PressureBoundary(p=2e5, h=3.5e5), high=fluid.PressureBoundary(p=8e5, h=2.5e5),
        compressor=refrigeration.Compressor(medium=R134A),
    )  # fmt: skip
    result = ac.compile(plant).simulate(until=60.0)
    assert any("takes in wet vapour" in d.what for d in result.diagnostics)


def test_cells_conserve_and_agree_with_zones(wired: Any) -> None:
    """At rest, 40 cells and moving boundaries give the same heat; what enters and does not leave is there."""
    found = {}
    for name, part in (("cells", refrigeration.DistributedExchanger(40, dp_nominal=500.0)), ("zones", refrigeration.Evaporator())):
        plant = wired(
            "feed.port part.a", "part.b suction.a", "suction.b low.port", "part.air air.port",
            feed=fluid.FlowSource(m_flow=0.008, h=2.5e5), low=fluid.PressureBoundary(p=1e5, h=4e5), air=FixedTemperature(T=280.0),
            suction=fluid.Orifice(medium=R134A, A=3e-5), part=part,
        )  # fmt: skip
        found[name] = ac.compile(plant).simulate(until=1500.0, set={"part.charge_start": 0.1, "part.T_start": 275.0})
        assert found[name].outcome
    heats = {name: float(result["part.air.Q_flow"][-1]) for name, result in found.items()}
    assert heats["cells"] == pytest.approx(heats["zones"], rel=2e-3)


@pytest.mark.parametrize(
    ("kind", "what", "most"), [("evaporator", "flow", 0.04), ("evaporator", "valve", 0.04), ("condenser", "load", 0.03)]
)
def test_boundaries_answer_steps_as_cells_do(kind: str, what: str, most: float) -> None:
    """Up, back, down and back: what leaves and what is held (`acausal bench plants` has the others)."""
    runs = [stepped(rig(kind, cells), kind, what) for cells in (0, 30)]
    grid = np.arange(REST - 20.0, float(runs[0].time[-1]), 1.0)
    (h, charge), (h_cells, charge_cells) = (
        [np.interp(grid, r.time, np.asarray(r[f"exchanger.{q}"])) for q in ("h_out", "charge")] for r in runs
    )
    assert np.sqrt(np.mean((h - h_cells) ** 2)) < 0.1 * np.ptp(h_cells)
    assert np.abs(charge / charge_cells - 1).max() < most


@pytest.mark.parametrize("alpha", [20.0, 200.0])
def test_a_dry_evaporator_that_stands_still_has_the_temperature_of_the_air(wired: Any, alpha: float) -> None:
    """All pieces of its wall, and the gas: no heat goes round from piece to piece."""
    plant = wired(
        "part.a one.port", "part.b other.port", "part.air air.port", one=fluid.Closed(medium=R134A), other=fluid.Closed(),
        air=FixedTemperature(T=290.0), part=refrigeration.Evaporator(charge_start=0.01, T_start=270.0, alpha_vapour=alpha),
    )  # fmt: skip
    result = ac.compile(plant).simulate(until=50000.0)
    dry = 1 - float(result["part.wall"][-1][0])
    np.testing.assert_allclose(result["part.E"][-1][1:] / (2000.0 * dry / 4), 290.0, atol=1e-3)


def test_a_slip_that_is_not_known() -> None:
    with pytest.raises(UsageError, match="one of zivi, fauske, homogeneous, not 'levy'"):
        refrigeration.Evaporator("levy")


@pytest.mark.parametrize(("slip", "power"), [("zivi", 1 / 3), ("fauske", 1 / 2), ("homogeneous", 0.0)])
def test_void_follows_from_the_slip(slip: str, power: float) -> None:
    """Area over area is mass flow over density and speed; the mean is a quadrature's."""
    ratio, x = 0.02, np.linspace(1e-6, 1.0, 20001)
    faster = (1 / ratio) ** power
    void = (x * ratio**-1) / faster / ((1 - x) + (x * ratio**-1) / faster)
    found = refrigeration.moving_boundary.Void(ratio, slip)
    np.testing.assert_allclose(found.at(x), void, rtol=1e-12)
    np.testing.assert_allclose(found.quality(found.at(x)), x, rtol=1e-9)
    assert float(found.mean(0.2)) == pytest.approx(np.interp(np.linspace(0.2, 1.0, 20001), x, void).mean(), rel=1e-4)


def test_a_faster_vapour_leaves_more_liquid_in_an_evaporator(wired: Any) -> None:
    held = {}
    for slip in ("homogeneous", "zivi", "fauske"):
        plant = wired(
            "feed.port part.a", "part.b valve.a", "valve.b low.port", "part.air air.port",
            feed=fluid.FlowSource(m_flow=0.008, h=2.45e5), low=fluid.PressureBoundary(p=1e5, h=4e5), air=FixedTemperature(T=280.0),
            valve=fluid.Orifice(medium=R134A, A=2.15e-5), part=refrigeration.Evaporator(slip, UA=150.0, charge_start=0.15),
        )  # fmt: skip
        result = ac.compile(plant).simulate(until=1500.0)
        held[slip] = float(result["part.charge"][-1])
    assert held["homogeneous"] < held["zivi"] < held["fauske"]


def test_an_accumulator_keeps_liquid_from_the_compressor(wired: Any) -> None:
    plant = wired(
        "wet.port vessel.a", "vessel.b suction.a", "suction.b low.port",
        wet=fluid.FlowSource(m_flow=0.005, h=3.6e5), low=fluid.PressureBoundary(p=1e5, h=4e5),
        suction=fluid.Orifice(medium=R134A, A=2e-5), vessel=refrigeration.Accumulator(charge_start=0.1, T_start=265.0),
    )  # fmt: skip
    result = ac.compile(plant).simulate(until=200.0)
    ends = R134A.saturation(p=np.asarray(result["vessel.p"]))
    wet = (ends.vapour.h - np.asarray(result["vessel.b.h.outflow"])) / (ends.vapour.h - ends.liquid.h)
    assert np.all(wet[result["vessel.level"] < 0.9] <= 0.0101)  # what comes through the hole for oil
    assert result["vessel.level"][-1] > result["vessel.level"][0]


def test_what_leaves_a_condenser_wet_says_how_much_it_holds(wired: Any) -> None:
    """The mean density of a two-phase zone that ends at some quality, by the closed integral without slip."""
    plant = wired(
        "gas.port condenser.a", "condenser.b valve.a", "valve.b low.port", "condenser.air air.port",
        gas=fluid.FlowSource(m_flow=0.008, h=4.4e5), low=fluid.PressureBoundary(p=2.5e5, h=2.5e5), air=FixedTemperature(T=298.0),
        valve=fluid.Orifice(medium=R134A, A=3.7e-7 * 0.7 / 0.65),
        condenser=refrigeration.Condenser("homogeneous", medium=R134A, UA=300.0),
    )  # fmt: skip
    result = ac.compile(plant).simulate(until=2000.0)
    at_rest = {name: np.asarray(result[f"condenser.{name}"])[-1] for name in ("p", "h", "L", "M", "H", "m")}
    ends = R134A.saturation(p=float(at_rest["p"]))
    x = (at_rest["H"][1] / at_rest["m"][1] - ends.liquid.h) / ends.h_evaporation
    assert 0.005 < x < 0.1
    vapour, liquid = 1 / ends.vapour.rho, 1 / ends.liquid.rho
    mean = np.log(vapour / (liquid + x * (vapour - liquid))) / ((1 - x) * (vapour - liquid))
    assert at_rest["M"][1] / (1.5e-3 * at_rest["L"][1]) == pytest.approx(mean, rel=0.03)


def test_a_plant_that_runs_comes_to_rest() -> None:
    """A boundary at rest is at no corner of its equations: nothing swings about it for ever, and steps become long."""
    model = ac.compile(refrigeration.ColdStore())
    result = model.simulate(until=1700.0, points=171, record_steps=True)
    (run,) = [s for s in result.states("compressor.run") if s.state == "on" and s.start > 1000.0]
    journal = result.journal
    assert journal is not None
    settled = journal.time > run.start + 300.0
    assert np.median(journal.step[settled]) > 4.0
    h = result["evaporator.h_out"][result.time > run.start + 350.0]
    slopes = np.diff(h)
    assert (slopes[1:] * slopes[:-1] < 0).sum() <= 1


def test_a_side_that_is_shut_off_is_not_sucked_empty(wired: Any) -> None:
    """The compressor goes on against a closed inlet: it stops giving gas at its largest ratio of pressures, and the run goes on."""
    plant = wired(
        "side.ports[0] compressor.a", "compressor.b high.port",
        side=fluid.Volume(1, medium=R134A, p_start=3e5, h_start=4.1e5), high=fluid.PressureBoundary(p=8e5, h=4.3e5),
        compressor=refrigeration.Compressor(),
    )  # fmt: skip
    result = ac.compile(plant).simulate(until=600.0)
    assert result.outcome is ac.Outcome.FINISHED
    assert 8e5 / 30.0 * 0.99 < result["side.p"][-1] < 8e5 / 24.0
    assert abs(result["compressor.m_flow"][-1]) < 1e-5


@pytest.mark.parametrize("kind", ["compressor", "map"])
def test_the_pressure_between_two_compressors_at_rest_is_that_of_their_leaks(wired: Any, kind: str) -> None:
    """Alike ones leak alike, so that it is the mean of both sides; without a leak nothing said what it is, and no run began."""
    make = {
        "compressor": refrigeration.Compressor,
        "map": lambda: refrigeration.MapCompressor((8e-3, 2e-4, -3e-5, *7 * [0.0]), (300.0, -4.0, 8.0, *7 * [0.0])),
    }[kind]
    plant = wired(
        "low.port first.a", "first.b second.a", "second.b high.port", first=make(), second=make(),
        low=fluid.PressureBoundary(medium=R134A, p=2e5, h=4.1e5), high=fluid.PressureBoundary(p=5e5, h=2.5e5),
    )  # fmt: skip
    still = ac.compile(plant).simulate(until=1e-3)
    assert still.outcome is ac.Outcome.FINISHED
    assert still["first.b.p"][0] == pytest.approx(3.5e5, rel=1e-9)
    assert still["first.m_flow"][0] == pytest.approx(-1e-15 * 1.5e5, rel=1e-9)
    low, high, P = (float(still[q][0]) for q in ("low.port.h.inflow", "high.port.h.outflow", "first.P"))
    P += float(still["second.P"][0])
    assert P == pytest.approx(1e-15 * 1.5e5 * (low - high), rel=1e-9)


@pytest.mark.parametrize("A", [1e-7, 1e-8])
def test_a_compressor_before_next_to_no_way_out_stops_pumping_within_the_table(wired: Any, A: float) -> None:
    """Thirty times its suction pressure is more than the table of CO2 has: the start was sought in vain beyond it."""
    CO2 = ac.media.fluid("CO2")
    plant = wired(
        "low.port compressor.a", "compressor.b narrow.a", "narrow.b high.port", "drive.flange compressor.flange",
        low=fluid.PressureBoundary(medium=CO2, p=6e6, h=4.3e5), high=fluid.PressureBoundary(p=7e6, h=4.3e5),
        compressor=refrigeration.ShaftCompressor(V_displaced=4e-6), narrow=fluid.Orifice(A=A), drive=Speed(w=300.0),
    )  # fmt: skip
    result = ac.compile(plant).simulate(until=1.0)
    assert result.outcome is ac.Outcome.FINISHED
    assert 0.92 < result["compressor.b.p"][-1] / CO2.p_max < 0.98
    assert 0.0 < result["compressor.m_flow"][-1] < 0.5 * 0.85 * 4e-6 * 300.0 / (2 * np.pi) * CO2.state(p=6e6, h=4.3e5).rho


@pytest.mark.parametrize("slip", ["homogeneous", "zivi"])
def test_cells_hold_what_the_void_of_their_slip_says(wired: Any, slip: str) -> None:
    """Boiling from end to end with the same heat everywhere: the mean of `Void` between the qualities of both ends."""
    ends = R134A.saturation(p=3e5)
    h, h_out = (ends.liquid.h + x * ends.h_evaporation for x in (0.2, 0.8))
    plant = wired(
        "feed.port part.a", "part.b valve.a", "valve.b low.port", "part.air air.port",
        air=FixedTemperature(T=2000.0), valve=fluid.Orifice(A=1e-3),
        feed=fluid.FlowSource(m_flow=0.008, h=h), low=fluid.PressureBoundary(p=3e5, h=4e5),
        part=refrigeration.DistributedExchanger(
            60, slip=slip, medium=R134A, UA=0.008 * (h_out - h) / (2000.0 - ends.T), alpha_two_phase=1e6, dp_nominal=1.0
        ),
    )  # fmt: skip
    result = ac.compile(plant).simulate(until=2000.0, points=2)
    assert result["part.h_out"][-1] == pytest.approx(h_out, abs=0.002 * ends.h_evaporation)
    void = refrigeration.Void(ends.vapour.rho / ends.liquid.rho, slip).mean(0.2, 0.8)
    held = 1.5e-3 * (void * ends.vapour.rho + (1 - void) * ends.liquid.rho)
    assert result["part.charge"][-1] == pytest.approx(held, rel=0.01)


def test_a_few_cells_hold_nearly_as_much_as_many(wired: Any) -> None:
    """Slopes within cells: an exchanger of 24 is within 2 % of one of 48, in what it holds and in what leaves it."""

    def at_rest(cells: int) -> tuple[float, float]:
        plant = wired(
            "gas.port condenser.a", "condenser.b valve.a", "valve.b low.port", "condenser.air air.port",
            gas=fluid.FlowSource(m_flow=0.008, h=4.4e5), low=fluid.PressureBoundary(p=2.5e5, h=2.5e5),
            air=FixedTemperature(T=298.0), valve=fluid.Orifice(medium=R134A, A=3.7e-7 * 0.7 / 0.65),
            condenser=refrigeration.DistributedExchanger(cells, medium=R134A, UA=300.0, dp_nominal=500.0),
        )  # fmt: skip
        result = ac.compile(plant).simulate(until=1500.0, points=3, rtol=1e-5)
        return float(result["condenser.charge"][-1]), float(result["condenser.h_out"][-1])

    (few, h_few), (many, h_many) = at_rest(24), at_rest(48)
    assert few == pytest.approx(many, rel=0.02)
    assert h_few == pytest.approx(h_many, abs=0.02 * (4.4e5 - h_many))


@pytest.mark.parametrize("cells", [2, 3, 5, 10])
def test_nothing_leaves_an_exchanger_beyond_the_air(wired: Any, cells: int) -> None:
    """However few cells and however much UA: what leaves is not colder than the air, and no cell is hotter than what comes."""
    plant = wired(
        "gas.port condenser.a", "condenser.b valve.a", "valve.b low.port", "condenser.air air.port",
        gas=fluid.FlowSource(m_flow=0.02, h=4.4e5), low=fluid.PressureBoundary(p=2.5e5, h=2.5e5),
        air=FixedTemperature(T=300.0), valve=fluid.Orifice(medium=R134A, A=8e-7),
        condenser=refrigeration.DistributedExchanger(cells, medium=R134A, UA=3000.0),
    )  # fmt: skip
    result = ac.compile(plant).simulate(until=3000.0, points=3, rtol=1e-6)
    out = R134A.state(p=float(result["condenser.b.p"][-1]), h=float(result["condenser.h_out"][-1]))
    assert 300.0 - 1e-3 < out.T < 302.0
    assert result["condenser.h"][-1].max() < 4.4e5


@pytest.mark.parametrize("cells", [2, 10, 60])
def test_an_exchanger_loses_what_it_is_told_to_whatever_its_cells(wired: Any, cells: int) -> None:
    """From end to end: of ten cells a tenth was missing, and many lost more and more, as each flow between them was laminar."""
    h = R134A.state(p=5e5, T=330.0).h
    part = refrigeration.DistributedExchanger(cells, medium=R134A, dp_small=50.0)
    plant = wired("source.port part.a", "part.b valve.a", "valve.b end.port", "room.port part.air", part=part,
                  source=fluid.FlowSource(m_flow=0.01, h=h), valve=fluid.Orifice(A=1e-5), end=fluid.PressureBoundary(p=5e5, h=h),
                  room=FixedTemperature(T=330.0))  # fmt: skip
    result = ac.compile(plant).simulate(until="1 h")
    assert result["part.a.p"][-1] - result["part.b.p"][-1] == pytest.approx(5e3, rel=1e-3)


def test_an_exchanger_of_one_cell_is_refused() -> None:
    with pytest.raises(UsageError, match="two cells or more, not 1"):
        refrigeration.DistributedExchanger(1)


def test_air_through_a_doorway_is_that_of_gosney_and_olama() -> None:
    """A freezer of -20 °C at a dock of 15 °C: ASHRAE's formula by hand; the same the other way round, and none between equals."""
    model = ac.compile(refrigeration.Doorway(width=2.0, height=3.0, flow_factor=1.0))
    rho_cold, rho_warm = (101325.0 / (287.05 * T) for T in (253.15, 288.15))
    by_hand = 0.221 * 6.0 * rho_cold * (1 - rho_warm / rho_cold) ** 0.5 * (9.80665 * 3.0) ** 0.5
    by_hand *= (2 / (1 + (rho_cold / rho_warm) ** (1 / 3))) ** 1.5
    for room, out, expected in ((253.15, 288.15, by_hand), (288.15, 253.15, by_hand), (280.0, 280.0, 0.0)):
        found = model.simulate(until=1.0, inputs={"T_room": room, "T_out": out})
        assert found["gust"][-1] == pytest.approx(expected, rel=1e-5, abs=1e-12)
    kept = model.simulate(until=1.0, set={"protection": 0.9}, inputs={"T_room": 253.15, "T_out": 288.15})
    assert kept["gust"][-1] == pytest.approx(0.1 * by_hand, rel=1e-5)


class Flooded(ac.Component):
    """A condenser so full that liquid stands in half of it: hot gas comes, and as much liquid is taken out."""

    def __init__(self, medium: str, h: float) -> None:
        self.feed, self.out = fluid.FlowSource(m_flow=0.01, h=h, medium=medium), fluid.FlowSource(m_flow=-0.01, h=2.5e5)
        self.condenser, self.air = refrigeration.Condenser(UA=300.0), PrescribedTemperature(T=300.0)

    def connections(self) -> Any:
        yield self.feed.port, self.condenser.a
        yield self.condenser.b, self.out.port
        yield self.condenser.air, self.air.port


@pytest.mark.parametrize(
    ("medium", "h", "charges"),
    [("R134a", 4.5e5, {300.0: 1.0, 320.0: 1.0, 345.0: 0.9}), ("R290", 7.5e5, {300.0: 0.42, 335.0: 0.4, 345.0: 0.378})],
)
def test_no_liquid_leaves_a_condenser_colder_than_the_air(medium: str, h: float, charges: dict[float, float]) -> None:
    """With the heat capacity of boiling liquid, which grows without limit towards the critical point, it left up to 20 K colder."""
    model, known = ac.compile(Flooded(medium, h)), ac.media.fluid(medium)
    for T_air, charge in charges.items():
        start = {"condenser.charge_start": charge, "condenser.T_start": T_air}
        run = model.simulate(until=6000.0, points=61, inputs={"air.T": T_air}, set=start)
        assert run.outcome
        p, leaves = float(run["condenser.p"][-1]), float(run["condenser.h_out"][-1])
        assert T_air < float(known.state(p=p, h=leaves).T) < T_air + 3.0 < float(known.saturation(p=p).T)
        assert float(run["condenser.air.Q_flow"][-1]) == pytest.approx(0.01 * (leaves - h), rel=1e-5)
