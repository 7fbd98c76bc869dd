"""Accounts of a circuit: what comes in, is held, given and destroyed sums up; the report says it on one page."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import acausal as ac
from acausal.errors import UsageError
from acausal.library import fluid, refrigeration, thermal
from acausal.library.refrigeration.cold_store import CYCLE, ColdStore


class Chiller(ac.Component):
    """A circuit that comes to rest: air of 0 °C cooled, air of 25 °C heated."""

    def __init__(self) -> None:
        self.compressor = refrigeration.Compressor(medium="R134a")
        self.condenser = refrigeration.Condenser(UA=300.0, charge_start=0.35)
        self.receiver = refrigeration.Receiver(charge_start=0.6)
        self.valve, self.evaporator = refrigeration.ThermostaticValve(), refrigeration.Evaporator(charge_start=0.05)
        self.superheat = fluid.SuperheatSensor()
        self.warm, self.cold = thermal.FixedTemperature(T=298.15), thermal.FixedTemperature(T=273.15)

    def connections(self) -> Any:
        yield self.compressor.b, self.condenser.a
        yield self.condenser.b, self.receiver.a
        yield self.receiver.b, self.valve.a
        yield self.valve.b, self.evaporator.a
        yield self.evaporator.b, self.superheat.a
        yield self.superheat.b, self.compressor.a
        yield self.superheat.y, self.valve.superheat
        yield self.condenser.air, self.warm.port
        yield self.evaporator.air, self.cold.port


@pytest.fixture(scope="module")
def result() -> Any:
    return ac.compile(Chiller()).simulate(until=7200.0, points=721)


def test_the_inventory_is_the_charge(result: Any) -> None:
    for at in (0.0, 100.0, 7200.0):
        held = ac.inventory(result, at=at)
        assert held.mass == pytest.approx(1.0, rel=1e-9)
        assert sum(row.share for row in held) == pytest.approx(1.0)
    assert str(held).splitlines()[-1].startswith("all")
    assert [row.name for row in ac.inventory(result, at=0.0)] == ["receiver", "condenser", "evaporator"]


def test_work_and_heat_balance_at_rest(result: Any) -> None:
    found = ac.performance(result)
    assert found.heat_in + found.power == pytest.approx(found.heat_out, rel=1e-4)
    assert found.heating == pytest.approx(found.cooling + 1, rel=1e-4)
    assert f"COP {found.cooling:.3f} cooling, {found.heating:.3f} heating" in str(found)
    mean = ac.performance(result, at=(6000.0, 7200.0))
    assert mean.power == pytest.approx(found.power, rel=1e-4)


class Damp(Chiller):
    """With 300 W of moisture that freezes on the evaporator."""

    def equations(self) -> Any:
        yield self.evaporator.Q_wall == 300.0


def test_heat_that_comes_by_an_input_counts() -> None:
    """Of moisture on a coil: without it a dehumidifier was told a COP of 3.5 instead of 6."""
    run = ac.compile(Damp()).simulate(until=7200.0, points=73)
    found = ac.performance(run)
    assert found.heat_in == pytest.approx(float(run["evaporator.air.Q_flow"][-1]) + 300.0, rel=1e-9)
    assert found.heat_in + found.power == pytest.approx(found.heat_out, rel=1e-4)
    row = next(row for row in ac.pinches(run) if row.name == "evaporator")
    assert row.Q_flow == pytest.approx(found.heat_in, rel=1e-9)
    account = ac.exergy(run, T0=298.15)
    given = sum(float(v[-1]) for v in account.given.values())
    assert given == pytest.approx(found.heat_in * (298.15 / 273.15 - 1), rel=1e-9)
    assert sum(account.mean().values()) + given == pytest.approx(found.power, rel=1e-4)


def test_exergy_is_given_or_destroyed(result: Any) -> None:
    """At rest, as much as comes in as work; none is destroyed by a sensor, and none made anywhere (the second law)."""
    account = ac.exergy(result, T0=298.15)
    lost = account.mean()
    given = sum(float(v[-1]) for v in account.given.values())
    assert sum(lost.values()) + given == pytest.approx(float(result["compressor.P"][-1]), rel=1e-4)
    assert min(lost.values()) > -1e-3
    assert abs(lost["superheat"]) < 1e-9
    cold = float(result["evaporator.air.Q_flow"][-1])
    assert given == pytest.approx(cold * (298.15 / 273.15 - 1), rel=1e-9)  # Carnot's work for the cold
    valve = result["valve.m_flow"][-1] * 298.15  # throttling makes entropy, and that times T0 is lost
    s = [ac.state_points(result, [f"valve.{p}"], "R134a")[0].s for p in "ab"]
    assert lost["valve"] == pytest.approx(float(valve * (s[1] - s[0])), rel=1e-6)


def test_a_pinch_is_where_temperatures_are_nearest(result: Any) -> None:
    condenser, evaporator = sorted(ac.pinches(result), key=lambda row: row.Q_flow)
    assert f"{evaporator.name} {evaporator.Q_flow:10.1f} {evaporator.difference:9.2f}" in str(ac.pinches(result))
    assert (condenser.name, evaporator.name) == ("condenser", "evaporator")
    points = {p.name: p for p in ac.state_points(result, ["condenser.b", "evaporator.b", "evaporator.a"], "R134a")}
    assert condenser.difference == pytest.approx(points["condenser.b"].T - 298.15, abs=0.05)
    assert evaporator.difference == pytest.approx(273.15 - max(points[f"evaporator.{k}"].T for k in "ab"), abs=0.2)
    assert 100.0 < condenser.UA < 300.0  # air side 300 W/K, in a row with the refrigerant


def test_a_report_is_one_page(result: Any, tmp_path: Path) -> None:
    file = ac.report(
        result, ["compressor.a", "compressor.b", "valve.a", "valve.b"], plots=["compressor.P"], file=tmp_path / "r.html"
    )
    text = file.read_text(encoding="utf-8")
    for heading in ("COP, cooling", "States", "Exchangers", "Charge", "Exergy destroyed", "receiver"):
        assert heading in text
    assert text.count("data:image/png;base64") == 4 and "://" not in text
    assert f"{ac.performance(result).cooling:.3f}" in text


def test_accounts_of_charge_and_energy_close() -> None:
    """Of a circuit that starts: what its parts hold more is what came in as work and heat, but for an error of its points."""
    model = ac.compile(Chiller())
    coarse, fine = (ac.accounts(model.simulate(until=600.0, points=n)) for n in (601, 6001))
    assert fine.charge_error < 1e-12 and fine.energy_error < 1e-6
    assert coarse.energy_error > 20 * fine.energy_error
    assert set(fine.charge) == set(fine.energy) == {"condenser", "receiver", "evaporator"}
    assert set(fine.power) == {"compressor", "condenser", "evaporator"} and not fine.mass_in and not fine.inferred
    held = {row.name: row.mass for row in ac.inventory(fine.result)}
    assert {name: values[-1] for name, values in fine.charge.items()} == pytest.approx(held)
    assert "energy to" in str(fine) and len(fine.plot().axes) == 2


def test_accounts_know_heaters_boundaries_and_other_media() -> None:
    class Heated(ac.Component):
        """A closed exchanger with a heater, a bottle that is filled, and water that takes heat to a store."""

        def __init__(self) -> None:
            self.still = refrigeration.Evaporator(charge_start=0.2, medium="R134a")
            self.end, self.stop, self.room = fluid.Closed(), fluid.Closed(), thermal.FixedTemperature(T=280.0)
            self.line, self.hole = fluid.PressureBoundary(p=8e5, T=320.0, medium="R134a"), fluid.Orifice(A=2e-7)
            self.bottle, self.plates = fluid.Volume(1, V=5e-3, p_start=1e5, T_start=293.15), fluid.HeatExchanger(UA=100.0)
            self.pump, self.store = fluid.Pump(V_nominal=1e-4, dp_nominal=1e4, medium="water"), fluid.StratifiedTank(4, V=0.05)
            self.vessel = fluid.ExpansionVessel()

        def connections(self) -> Any:
            yield self.end.port, self.still.a
            yield self.still.b, self.stop.port
            yield self.still.air, self.room.port
            yield self.line.port, self.plates.a1
            yield self.plates.b1, self.hole.a
            yield self.hole.b, self.bottle.ports[0]
            yield self.pump.b, self.plates.a2
            yield self.plates.b2, self.store.a
            yield self.store.b, self.vessel.port, self.pump.a

        def equations(self) -> Any:
            yield self.still.Q_wall == 100.0

    run = ac.compile(Heated()).simulate(until=300.0, points=6001)
    cold, warm = ac.accounts(run, "R134a"), ac.accounts(run, "water")
    assert cold.charge_error < 1e-5 and cold.energy_error < 1e-5
    assert list(cold.mass_in) == ["line"] and cold.mass_in["line"][1] > 0
    assert warm.inferred == ["store"] and warm.energy_error < 1e-5
    assert {"pump", "plates"} <= set(warm.power)


def test_a_report_finds_the_states_itself(result: Any, tmp_path: Path) -> None:
    """As diagrams do: without a cycle it had neither states nor diagrams."""
    text = ac.report(result, file=tmp_path / "r.html").read_text(encoding="utf-8")
    assert "<h2>States</h2>" in text and text.count("data:image/png;base64") == 3
    assert all(f">{point.name}<" in text for point in ac.state_points(result))


def test_what_cannot_be_accounted_is_said(result: Any, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="ends otherwise"):
        ac.report(result, file=tmp_path / "report.pdf")
    with pytest.raises(UsageError, match="not from 10 to 5 s"):
        ac.performance(result, at=(10.0, 5.0))

    class Body(ac.Component):
        T = ac.Variable(start=1.0)

        def equations(self) -> Any:
            yield ac.der(self.T) == -self.T

    dry = ac.compile(Body()).simulate(until=1.0)
    with pytest.raises(UsageError, match="with liquid and vapour flow none"):
        ac.inventory(dry)
    assert "<h1>Body" in ac.report(dry, file=tmp_path / "dry.html").read_text(encoding="utf-8")


def test_parts_of_arrays_are_listed_one_by_one() -> None:
    class Bottles(ac.Component):
        def __init__(self) -> None:
            self.bottle = ac.array(fluid.Volume, 2, 1, medium="R134a", V=[1e-3, 2e-3], h_start=4.2e5)
            self.valve = fluid.Valve()

        def connections(self) -> Any:
            yield self.bottle[0].ports[0], self.valve.a
            yield self.valve.b, self.bottle[1].ports[0]

    held = ac.inventory(ac.compile(Bottles()).simulate(until=1.0))
    assert [row.name for row in held] == ["bottle[1]", "bottle[0]"]
    assert held[0].mass == pytest.approx(2 * held[1].mass)


def test_cycles_of_the_cold_store_give_their_exergy_account() -> None:
    result = ac.compile(ColdStore()).simulate(until="1 h", points=361)
    account = ac.exergy(result)
    assert set(account.destroyed) >= {name.split(".")[0] for name in CYCLE}
    assert all(len(v) == len(np.asarray(result.time)) for v in account.destroyed.values())


class Expansion(ac.Component):
    """Steam through a turbine, from one boundary to another."""

    def __init__(self) -> None:
        self.feed, self.sink = fluid.PressureBoundary(p=30e5, h=3.2e6, medium="water"), fluid.PressureBoundary(p=1e5, h=4e5)
        self.turbine = fluid.Turbine()

    def connections(self) -> Any:
        yield self.feed.port, self.turbine.a
        yield self.turbine.b, self.sink.port


def test_a_turbine_gives_its_power_and_boundaries_destroy_nothing() -> None:
    """What it destroys is T0 times the entropy that it makes; what comes from one boundary goes to the other, is given or lost."""
    result = ac.compile(Expansion()).simulate(until=1.0, points=2)
    power, m = float(result["turbine.P"][-1]), float(result["turbine.m_flow"][-1])
    account = ac.exergy(result, T0=298.15)
    water = ac.media.fluid("water")
    s = [float(water.state(p=p, h=h).s) for p, h in ((30e5, 3.2e6), (1e5, 3.2e6 - power / m))]
    assert account.mean() == {"turbine": pytest.approx(m * 298.15 * (s[1] - s[0]), rel=1e-6)}
    assert set(account.given) == {"feed", "sink"}
    assert sum(account.mean().values()) + sum(v[-1] for v in account.given.values()) == pytest.approx(-power, rel=1e-9)
    assert ac.performance(result).power == pytest.approx(-power)


def test_a_circuit_that_gives_work_has_no_coefficient_of_performance() -> None:
    found = ac.performance(ac.compile(Expansion()).simulate(until=1.0, points=2))
    assert np.isnan(found.cooling) and np.isnan(found.heating)
    assert str(found).splitlines()[-1] == "no COP: the circuit gives work"


def test_of_a_plant_at_rest_no_ratios_to_the_microwatts_of_its_leak_are_told(tmp_path: Path) -> None:
    """What leaks through the valves of a compressor takes up or gives microwatts: a COP of ten million, or below zero."""

    class Resting(Chiller):
        def __init__(self) -> None:
            super().__init__()
            self.compressor = refrigeration.Compressor(medium="R134a", frequency=0.0)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ac.RunWarning)  # of wet vapour at its inlet
        result = ac.compile(Resting()).simulate(until="1 h", points=361)
    signs = set(np.sign(result["compressor.P"][np.abs(result["compressor.P"]) > 0]))
    assert signs and np.abs(result["compressor.P"]).max() < 1e-3
    for at in (0.0, 600.0, 3600.0, (0.0, 3600.0)):
        found = ac.performance(result, at=at)
        assert np.isnan(found.cooling) and np.isnan(found.heating)
        assert str(found).splitlines()[-1] == "no COP: no work goes in, it is at rest"
        assert " -0.0" not in str(found)
    text = ac.report(result, at=600.0, file=tmp_path / "rest.html").read_text(encoding="utf-8")
    assert "<td>COP, cooling</td><td>–</td>" in text
    assert not re.findall(r"<td>-0\.?0*</td>|<td>nan", text)


class Between(ac.Component):
    """Warm water and cold fluid of some kind in an exchanger without storage."""

    def __init__(self, cold: Any, exchanger: Any = None) -> None:
        self.x = exchanger or fluid.HeatExchanger(UA=500.0)
        self.warm, self.away = fluid.PressureBoundary(p=3e5, h=2.5e5, medium="water"), fluid.PressureBoundary(p=2e5, h=2e5)
        self.cold = fluid.FlowSource(m_flow=0.1, h=cold.state(p=10e5, T=280.0).h, medium=cold)
        self.gone = fluid.PressureBoundary(p=10e5, h=cold.state(p=10e5, T=280.0).h)

    def connections(self) -> Any:
        yield self.warm.port, self.x.a1
        yield self.x.b1, self.away.port
        yield self.cold.port, self.x.a2
        yield self.x.b2, self.gone.port


def test_what_an_exchanger_hands_to_another_medium_is_not_destroyed() -> None:
    result = ac.compile(Between(ac.media.fluid("R134a"))).simulate(until=1.0, points=2)
    of_water, of_other = ac.exergy(result, "water"), ac.exergy(result, "R134a")
    assert of_water.destroyed["x"][-1] > 0
    assert of_other.destroyed["x"][-1] == pytest.approx(of_water.destroyed["x"][-1], rel=1e-9)
    assert of_water.unknown == []


def test_heat_that_an_exchanger_hands_to_another_medium_counts() -> None:
    """A chiller between two circuits of water was told that it cools nothing."""
    result = ac.compile(Between(ac.media.fluid("R134a"))).simulate(until=1.0, points=2)
    heat = float(result["x.Q_flow"][-1])
    assert ac.performance(result, "R134a").by_part["x"] == (0.0, pytest.approx(heat, rel=1e-9))
    assert ac.performance(result, "water").heat_out == pytest.approx(heat, rel=1e-9)


class Exchanging(ac.Component):
    """An exchanger between a fluid and warm water, each from its source to its sink."""

    def __init__(self, exchanger: Any, m: float, h: float, p: float = 3e5, medium: str = "R134a", back: float = 4e5) -> None:
        self.x, self.warm = exchanger, fluid.FlowSource(m_flow=0.2, T=310.15, medium="water")
        self.away = fluid.PressureBoundary(p=2e5, T=300.0)
        self.cold, self.gone = fluid.FlowSource(m_flow=m, h=h, medium=medium), fluid.PressureBoundary(p=p, h=back)

    def connections(self) -> Any:
        yield self.warm.port, self.x.a1
        yield self.x.b1, self.away.port
        yield self.cold.port, self.x.a2
        yield self.x.b2, self.gone.port


@pytest.mark.parametrize("arrangement", ["counter", "co"])
@pytest.mark.parametrize("m", [0.01, -0.01])
def test_the_conductance_of_two_fluids_is_found_again(arrangement: str, m: float) -> None:
    """Boiling at one pressure against water: by the logarithmic mean of each zone, a sum of closed forms."""
    r134a = ac.media.fluid("R134a")
    ends = r134a.saturation(p=3e5)
    h = ends.liquid.h + 0.3 * ends.h_evaporation
    x = fluid.LogMeanExchanger(arrangement, UA=35.0, dp_nominal=1.0)
    run = ac.compile(Exchanging(x, m, h, back=h)).simulate(until=1.0, points=2)
    (row,) = ac.pinches(run, "R134a")
    heat = float(run["x.Q_flow"][-1])
    assert row.Q_flow == pytest.approx(heat, rel=1e-6) and heat < 0.01 * 0.7 * ends.h_evaporation  # it boils all the way
    assert row.UA == pytest.approx(35.0, rel=2e-3)
    points = {p.name: p.T for p in ac.state_points(run, ["x.a1", "x.b1"], "water")}
    assert row.difference == pytest.approx(points["x.b1"] - ends.T, abs=0.01)
    assert (row.T_in, row.T_out) == pytest.approx((ends.T, ends.T), abs=0.01)
    assert row.T_other == pytest.approx(310.15, abs=1e-3)
    (other,) = ac.pinches(run, "water")
    assert (other.Q_flow, other.UA) == pytest.approx((-row.Q_flow, row.UA), rel=1e-6)


def test_an_exchanger_of_which_too_little_is_known_is_named(tmp_path: Path) -> None:
    cold = ac.media.fluid("water").state(p=3e5, T=280.0).h
    crossed = Exchanging(fluid.CrossFlowExchanger(3), 0.1, cold, medium="water")
    run = ac.compile(crossed).simulate(until=1.0, points=2)
    found = ac.pinches(run, "water")
    assert (list(found), found.unknown) == ([], ["x"]) and "x: its pinch is not told" in str(found)
    assert "x: its pinch is not told" in ac.report(run, medium="water", file=tmp_path / "r.html").read_text(encoding="utf-8")


BRINE = ac.media.ConstantMedium("brine", rho=1050.0, cp=3600.0)
AIR = ac.media.ideal_gas(["N2", "O2"], mole=[0.79, 0.21])


class Chilling(ac.Component):
    """R134a boils all along an exchanger, and cools what does not boil."""

    def __init__(self, medium: Any, exchanger: Any) -> None:
        ends, fractions = ac.media.fluid("R134a").saturation(p=3e5), ([0.002],) if medium.substances else ()
        self.x, self.warm = exchanger, fluid.FlowSource(*fractions, m_flow=0.3, T=290.0, medium=medium)
        self.away, self.gone = fluid.PressureBoundary(*fractions, p=2e5, T=285.0), fluid.PressureBoundary(p=3e5, h=ends.vapour.h)
        self.cold = fluid.FlowSource(m_flow=0.02, h=ends.liquid.h + 0.2 * ends.h_evaporation, medium="R134a")

    def connections(self) -> Any:
        yield self.warm.port, self.x.a1
        yield self.x.b1, self.away.port
        yield self.cold.port, self.x.a2
        yield self.x.b2, self.gone.port


@pytest.mark.parametrize("arrangement", ["counter", "co"])
@pytest.mark.parametrize("medium", [BRINE, ac.media.moist_air()], ids=["brine", "air"])
def test_the_pinch_to_brine_and_to_air_is_told(medium: Any, arrangement: str) -> None:
    """``Q = UA·log_mean`` of the ends."""
    plant = Chilling(medium, fluid.LogMeanExchanger(arrangement, UA=80.0, dp_nominal=1e-2))
    run = ac.compile(plant).simulate(until=1.0, points=2)
    found, T0 = ac.pinches(run, "R134a"), ac.media.fluid("R134a").saturation(p=3e5).T
    p, h, more = run["x.b1.p"][-1], run["x.b1.h.outflow"][-1], {"X": [0.002]} if medium.substances else {}
    (row,), out = found, float(medium.state(p=p, h=h, **more).T)
    assert found.unknown == []
    assert row.UA == pytest.approx(80.0, rel=1e-3)
    assert row.difference == pytest.approx(out - T0, abs=1e-3) and row.T_other == pytest.approx(290.0)
    assert row.Q_flow == pytest.approx(80.0 * (290.0 - out) / np.log((290.0 - T0) / (out - T0)), rel=1e-4)


def test_what_brine_gets_is_not_destroyed() -> None:
    """T0 times the entropy that the exchanger makes: of brine ``m·cp·ln(T_b/T_a)``."""
    run = ac.compile(Chilling(BRINE, fluid.LogMeanExchanger(UA=80.0, dp_nominal=1e-2))).simulate(until=1.0, points=2)
    account = ac.exergy(run, "R134a", T0=298.15)
    s = [point.s for point in ac.state_points(run, ["x.a2", "x.b2"], "R134a")]
    made = 0.02 * (s[1] - s[0]) + 0.3 * 3600.0 * np.log(float(run["x.T_b1"][-1]) / 290.0)
    assert account.unknown == [] and made > 0
    assert account.mean()["x"] == pytest.approx(298.15 * made, rel=1e-6)


def test_what_passes_within_an_exchanger_of_the_circuit_is_no_capacity() -> None:
    """Of cells that the same medium passes on both sides, each side has a heat of its own."""

    class Cells(Exchanging):
        def __init__(self) -> None:
            cold = ac.media.fluid("water").state(p=3e5, T=280.0).h
            super().__init__(fluid.CellularExchanger(4), 0.1, cold, medium="water")
            self.hole, self.other = fluid.Orifice(A=1e-3), fluid.Orifice(A=1e-3)

        def connections(self) -> Any:
            yield self.warm.port, self.x.a1
            yield self.x.b1, self.hole.a
            yield self.hole.b, self.away.port
            yield self.cold.port, self.x.a2
            yield self.x.b2, self.other.a
            yield self.other.b, self.gone.port

    run = ac.compile(Cells()).simulate(until=3000.0, points=2)
    found, (row,) = ac.performance(run), ac.pinches(run)
    assert row.name == "x" and -row.Q_flow > 1e3
    assert max(found.heat_in, found.heat_out) < 1e-3 * abs(row.Q_flow)


def test_what_an_exchanger_hands_to_air_across_it_is_not_told() -> None:
    result = ac.compile(Between(AIR, fluid.CrossFlowExchanger(3))).simulate(until=1.0, points=2)
    account = ac.exergy(result, "water")
    assert (account.destroyed, account.unknown) == ({}, ["x"])


def test_a_medium_that_does_not_flow_is_refused(result: Any) -> None:
    for account in (ac.inventory, ac.performance, ac.exergy, ac.pinches):
        with pytest.raises(UsageError, match=r"No Water flows in this run.\n.*There flows R134a"):
            account(result, "water")


def test_a_time_may_have_a_unit(result: Any) -> None:
    assert ac.performance(result, at="1 h") == ac.performance(result, at=3600.0)
    assert ac.performance(result, at=("1 h", "2 h")) == ac.performance(result, at=[3600.0, 7200.0])
    with pytest.raises(UsageError, match=r"from a time to a later one, got \(0.0, 1.0, 2.0\)"):
        ac.performance(result, at=(0.0, 1.0, 2.0))


def test_surroundings_are_said_in_kelvin_or_as_a_text(result: Any) -> None:
    account, same = ac.exergy(result, T0=293.15, p0=1e5), ac.exergy(result, T0="20 degC", p0="1 bar")
    assert account.T0 == pytest.approx(same.T0) and account.mean() == pytest.approx(same.mean())
    with pytest.raises(
        ac.ModelError, match=r'T0 is the absolute temperature of the surroundings in K, got 20.0(.|\n)*T0="20 degC"'
    ):
        ac.exergy(result, T0=20.0)
    for wrong in (-5000.0, "20 bar", None):
        with pytest.raises(ac.ModelError):
            ac.exergy(result, T0=wrong)  # type: ignore[arg-type]
    with pytest.raises(ac.ModelError, match="p0 is the pressure"):
        ac.exergy(result, p0=-1.0)
