"""Moist air through fans and coils: the straight line to the surface, water and energy that are kept, frost, flow that turns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import acausal as ac
from acausal.library import air, fluid, refrigeration, thermal
from acausal.library.fluid.correlations import fin_efficiency, plain_fin_colburn
from acausal.library.refrigeration.rooms import saturated_humidity

AIR = ac.media.moist_air()
P = 101325.0


class Tunnel(ac.Component):
    """Air is blown through a coil whose surface has a given temperature."""

    def __init__(self) -> None:
        self.source, self.room = air.AirFlow(T=303.15, phi=0.6), air.Surroundings()
        self.coil, self.wall = air.Coil(), thermal.PrescribedTemperature(T=283.15)

    def connections(self) -> Any:
        yield self.source.port, self.coil.a
        yield self.coil.b, self.room.port
        yield self.wall.port, self.coil.surface


@pytest.fixture(scope="module")
def tunnel() -> Any:
    return ac.compile(Tunnel())


@pytest.mark.parametrize("seed", range(12))
def test_air_goes_straight_to_the_state_of_the_surface(tunnel: Any, seed: int) -> None:
    T, phi, T_wall, m, frost = np.random.default_rng(seed).uniform([263, 0.05, 248, 0.05, 0.0], [318, 0.98, 318, 1.0, 2.0]).tolist()
    blown = {"source.T": T, "source.phi": phi, "wall.T": T_wall, "source.m_flow": m}
    result = tunnel.simulate(until=1e-3, inputs=blown, given={"coil.frost": frost}, on_failure="keep")
    p = result["coil.a.p"][0]
    before, surface = AIR.state(p=p, T=T, phi=phi), AIR.state(p=p, T=T_wall, phi=1.0)
    after = AIR.state(p=P, h=result["coil.b.h.outflow"][0], X=result["coil.b.X.outflow"][0])
    rest = result["coil.bypass"][0]
    assert 0 < rest < 1
    straight = T_wall + rest * (T - T_wall)
    if after.x_condensate < 1e-9:
        assert after.T == pytest.approx(straight, abs=1e-4)
    else:  # a mixture of two nearly saturated airs is foggy, and warmer by what the fog gave
        assert straight < after.T < max(T, T_wall)
    w = min(surface.w, before.w)
    assert after.w == pytest.approx(w + rest * (before.w - w), rel=1e-7)
    dry = m * (1 - before.x_water)
    assert result["coil.moisture"][0] == pytest.approx(dry * (before.w - after.w), abs=1e-9)
    assert result["coil.a.m_flow"][0] + result["coil.b.m_flow"][0] == pytest.approx(result["coil.moisture"][0], abs=1e-12)


def test_the_bypass_is_that_of_the_fins(tunnel: Any) -> None:
    result = tunnel.simulate(until=1.0, inputs={"source.m_flow": 0.5, "source.T": 293.15, "source.phi": 0.1, "wall.T": 293.0})
    before = AIR.state(p=result["coil.a.p"][0], T=293.15, phi=0.1)
    flux = 0.5 / 0.25
    Re = flux * 0.0127 / before.viscosity
    alpha = plain_fin_colburn(Re, 4, 0.0127, 0.0318, 0.0275, 4e-3) * flux * 1006.0 * before.prandtl ** (-2 / 3)
    eta = fin_efficiency(alpha, 220.0, 0.15e-3, 0.0127, 0.0318, 0.0275)
    assert 500 < Re < 24700 and 20 < alpha < 60 and 0.7 < eta < 0.95
    UA = 20.0 * alpha * (1 - 0.94 * (1 - eta))
    assert -np.log(result["coil.bypass"][0]) == pytest.approx(UA / (0.5 * before.cp), rel=1e-4)
    few, many = (
        plain_fin_colburn(2000.0, 2, 0.0127, 0.0318, 0.0275, 4e-3),
        plain_fin_colburn(2000.0, 6, 0.0127, 0.0318, 0.0275, 4e-3),
    )
    assert many == plain_fin_colburn(2000.0, 4, 0.0127, 0.0318, 0.0275, 4e-3) != few


def test_a_colder_and_warmer_day_keeps_water_and_energy(tunnel: Any) -> None:
    """The wall goes below 0 °C, where frost grows, and above, where it melts: what the air loses is on the coil or dripped off."""
    swing = {"wall.T": lambda t: 273.15 - 12.0 * float(np.sin(2 * np.pi * t / 7200.0)), "source.m_flow": 0.4}
    result = tunnel.simulate(until=7200.0, points=7201, inputs=swing, rtol=1e-8)
    frost, drained = result["coil.frost"], result["coil.drained"]
    assert frost.max() > 0.5 and frost[-1] < 0.2 * frost.max()
    x_in, x_out = result["source.port.X.outflow"][:, 0], result["coil.b.X.outflow"][:, 0]
    lost = result["coil.a.m_flow"] * x_in + result["coil.b.m_flow"] * x_out
    water = np.trapezoid(lost - drained, result.time)
    assert frost[-1] - frost[0] == pytest.approx(water, abs=1e-4)
    enthalpy = result["coil.a.m_flow"] * result["source.port.h.outflow"] + result["coil.b.m_flow"] * result["coil.b.h.outflow"]
    heat = np.asarray(result["coil.surface.Q_flow"]) - np.asarray(result["coil.drops"])
    stored = -333.4e3 * (frost[-1] - frost[0])
    assert np.trapezoid(enthalpy + heat, result.time) == pytest.approx(stored, abs=1e-5 * np.trapezoid(np.abs(heat), result.time))


@pytest.mark.parametrize("m", [0.4, -0.4])
def test_water_and_energy_are_kept_whichever_way_it_flows(tunnel: Any, m: float) -> None:
    result = tunnel.simulate(until=1e-3, inputs={"source.m_flow": m, "wall.T": 275.15, "room.T": 303.15, "room.phi": 0.6})

    def brought(name: str) -> Any:
        ports = {side: result[f"coil.{side}.m_flow"][0] for side in "ab"}
        return sum(m * result[f"coil.{side}.{name}.{'inflow' if m > 0 else 'outflow'}"][0] for side, m in ports.items())

    moisture = result["coil.moisture"][0]
    assert moisture > 1e-3 and brought("X")[0] == pytest.approx(moisture, rel=1e-12)
    given = sum(result[f"coil.{name}"][0] for name in ("Q_sensible", "Q_latent", "drops", "melting"))
    assert brought("h") == pytest.approx(given, rel=1e-12)


@pytest.mark.parametrize("T", [372.0, 374.0, 420.0])
def test_nothing_condenses_on_a_surface_hotter_than_steam(tunnel: Any, T: float) -> None:
    result = tunnel.simulate(until=1e-3, inputs={"wall.T": T})
    assert result["coil.moisture"][0] == 0 and result["coil.Q_sensible"][0] < -1e4


def test_air_that_would_be_steam_is_refused(tunnel: Any) -> None:
    result = tunnel.simulate(until=1.0, inputs={"source.T": 385.0, "source.phi": 0.9}, on_failure="keep")
    assert "There is no such air" in str(result.diagnostics)


class Blown(ac.Component):
    """Two rooms with a fan and a coil between them."""

    def __init__(self) -> None:
        self.one, self.other = air.Surroundings(T=298.15, phi=0.7), air.Surroundings(T=288.15, phi=0.9)
        self.fan, self.duct, self.coil = air.Fan(), fluid.Pipe(diameter=0.4, length=5.0), air.Coil()
        self.wall = thermal.FixedTemperature(T=278.15)

    def connections(self) -> Any:
        yield self.one.port, self.fan.a
        yield self.fan.b, self.duct.a
        yield self.duct.b, self.coil.a
        yield self.coil.b, self.other.port
        yield self.wall.port, self.coil.surface


def test_air_stands_still_and_turns_round() -> None:
    wind = {
        "fan.speed": lambda t: max(0.0, 1.0 - t / 20.0),
        "other.p": lambda t: P + (20.0 * np.sin((t - 40.0) / 5.0) if t > 40 else 0.0),
    }
    result = ac.compile(Blown()).simulate(until=100.0, points=1001, inputs=wind)
    assert result.outcome is ac.Outcome.FINISHED
    m, taken = result["coil.m_flow"], result["coil.moisture"]
    still = (result.time > 22.0) & (result.time < 38.0)
    assert m[0] > 0.3 and np.abs(m[still]).max() < 1e-3 and m.min() < -0.1
    assert np.abs(taken[still]).max() < 1e-5 and taken[m < -0.1].min() > 1e-5  # the other room is damp enough, too
    assert np.all(taken >= 0)


def test_a_fan_follows_its_curve_and_similarity(wired: Any) -> None:
    plant = wired("left.port fan.a", "fan.b right.port", left=air.Surroundings(), right=air.Surroundings(p=P + 60.0), fan=air.Fan())
    model = ac.compile(plant)
    result = model.simulate(until=1.0)
    rho = AIR.state(p=P, T=293.15, phi=0.5).rho
    assert result["fan.m_flow"][0] == pytest.approx(0.5 * rho, rel=1e-3)
    assert result["fan.P"][0] == pytest.approx(0.5 * 60.0 / 0.4, rel=1e-3)
    half = model.simulate(until=1.0, inputs={"fan.speed": 0.5, "right.p": P + 15.0})
    assert half["fan.m_flow"][0] == pytest.approx(0.25 * rho, rel=2e-3)


class Chiller(ac.Component):
    """An evaporator in a stream of damp air."""

    def __init__(self, cells: int, cellular: Any = refrigeration.DistributedExchanger) -> None:
        start: Any = {"charge_start": 0.3, "T_start": 283.15}
        self.feed = fluid.FlowSource(medium="R134a", m_flow=0.02, h=2.5e5)
        self.evaporator: Any = cellular(cells, **start) if cells else refrigeration.Evaporator(**start)
        self.outlet, self.suction = fluid.Orifice(A=2e-5), fluid.PressureBoundary(p=3e5, h=4.1e5)
        self.source, self.room, self.coil = air.AirFlow(T=298.15, phi=0.6), air.Surroundings(), air.FinAndTube()

    def connections(self) -> Any:
        yield self.feed.port, self.evaporator.a
        yield self.evaporator.b, self.outlet.a
        yield self.outlet.b, self.suction.port
        yield self.source.port, self.coil.a
        yield self.coil.b, self.room.port
        yield self.coil.air, self.evaporator.air
        yield self.coil.UA, self.evaporator.UA
        yield self.coil.Q, self.evaporator.Q_wall

    def equations(self) -> Any:
        yield self.coil.T_coil == self.evaporator.T_wall


@pytest.mark.parametrize("cells", [0, 5])
def test_an_evaporator_in_damp_air_takes_what_the_air_gives(cells: int) -> None:
    result = ac.compile(Chiller(cells)).simulate(until=1500.0, points=16)
    assert result.outcome is ac.Outcome.FINISHED
    sensible, latent = result["coil.Q_sensible"][-1], result["coil.Q_latent"][-1]
    assert sensible == pytest.approx(-result["coil.air.Q_flow"][-1], rel=1e-9)
    taken = 0.02 * (result["evaporator.h_out"][-1] - 2.5e5)
    assert sensible + latent == pytest.approx(taken, rel=2e-3) and latent > 200.0
    gone = (
        result["coil.a.m_flow"] * result["source.port.h.outflow"]
        + result["coil.b.m_flow"] * result["coil.b.h.outflow"]
        - result["coil.drops"]
    )
    assert gone[-1] == pytest.approx(sensible + latent, rel=1e-6)


class WhereItCondenses(refrigeration.DistributedExchanger):
    """The reference: each cell has the heat of what condenses there, by the humidity of the air and of its own wall."""

    w = ac.Parameter(AIR.state(p=P, T=293.15, phi=0.8).w, doc="humidity ratio of the air")

    def from_outside(self, q_air: Any, share: Any) -> Any:
        over = ac.no_event(ac.max(self.w - saturated_humidity(self.T_wall_cell), 0.0)) + 1e-9
        return q_air + self.Q_wall * over / ac.sum(over)


@pytest.fixture(scope="module")
def partly_dry() -> Any:
    """Half of its wall is above the dew point of warm, damp air, and all of it is fed too little."""

    conditions = {"feed.m_flow": 0.012, "source.T": 293.15, "source.phi": 0.8}
    plants = {"zones": Chiller(0), "cells": Chiller(40), "reference": Chiller(40, WhereItCondenses)}
    return {name: ac.compile(plant).simulate(until=3000.0, points=31, inputs=conditions) for name, plant in plants.items()}


@pytest.mark.parametrize("name", ["zones", "cells"])
def test_wall_above_the_dew_point_gets_no_heat_of_moisture(partly_dry: Any, name: str) -> None:
    """Spread over the length, it made the refrigerant leave five kelvins warmer than the air."""
    found, reference = (partly_dry[of] for of in (name, "reference"))
    last = {of: float(found[of][-1]) for of in ("evaporator.h_out", "evaporator.b.p", "coil.T_in", "coil.Q", "evaporator.latent")}
    leaves = ac.media.fluid("R134a").state(p=last["evaporator.b.p"], h=last["evaporator.h_out"])
    assert last["coil.T_in"] - 1.0 < leaves.T < last["coil.T_in"] + 0.05
    assert last["evaporator.h_out"] == pytest.approx(float(reference["evaporator.h_out"][-1]), abs=500.0)
    assert last["coil.Q"] == pytest.approx(float(reference["coil.Q"][-1]), rel=5e-3)
    sensible = float(found["evaporator.air.Q_flow"][-1])
    assert last["coil.Q"] > 500.0 and last["evaporator.latent"] == pytest.approx(last["coil.Q"] / sensible, rel=1e-3)
    assert sensible + last["coil.Q"] == pytest.approx(0.012 * (last["evaporator.h_out"] - 2.5e5), rel=1e-6)


class Warmed(ac.Component):
    """A closed evaporator with a heater in its wall, in a room, with fans or without."""

    def __init__(self, exchanger: Any) -> None:
        self.coil, self.ends, self.room = (
            exchanger,
            [fluid.Closed(medium="R134a"), fluid.Closed()],
            thermal.FixedTemperature(T=275.15),
        )

    def connections(self) -> Any:
        yield self.ends[0].port, self.coil.a
        yield self.ends[1].port, self.coil.b
        yield self.coil.air, self.room.port

    def equations(self) -> Any:
        yield self.coil.Q_wall == 1000.0


@pytest.mark.parametrize("kind", [refrigeration.Evaporator, refrigeration.DistributedExchanger])
@pytest.mark.parametrize("UA", [0.0, 250.0])
def test_heat_of_a_heater_stays_in_the_exchanger_and_goes_everywhere(kind: Any, UA: float) -> None:
    """Wherever it goes, all of it arrives; without air, or in a wall warmer than the air, none of it follows the air."""
    plant = Warmed(kind(charge_start=0.05, T_start=263.15, UA=UA))
    result = ac.compile(plant).simulate(until=100.0, points=101)
    latent, warmer = result["coil.latent"], result["coil.T_wall"] > 275.15
    assert np.all(latent[warmer] == 0.0) and np.all(latent >= 0.0) and warmer[-1]
    assert (latent.max() > 1.0) == (UA > 0)
    came = np.concatenate([[0.0], np.cumsum(1000.0 * np.diff(result.time))])
    if UA == 0:
        assert result["coil.energy"] - result["coil.energy"][0] == pytest.approx(came, abs=0.05)


def test_frost_that_fills_the_gaps_says_so(tunnel: Any) -> None:
    result = tunnel.simulate(until=1.0, given={"coil.frost": 7.8}, inputs={"wall.T": 263.15, "source.m_flow": 0.05})
    assert [d.what for d in result.diagnostics if "Frost fills the gaps" in d.what]


def test_slow_air_is_outside_of_the_correlation(tunnel: Any) -> None:
    result = tunnel.simulate(until=1.0, inputs={"source.m_flow": 0.05})
    told = [d for d in result.diagnostics if "outside the range of the correlation for plain fins, 500 … 24700" in d.what]
    assert len(told) == 1 and "coil" in str(told[0])


def test_a_mixture_fills_a_volume_and_keeps_its_substances(wired: Any) -> None:
    source = fluid.PressureBoundary([0.012], p=P + 100.0, h=AIR.state(p=P, T=300.0, X=[0.012]).h)
    plant = wired(
        "source.port valve.a", "valve.b room.ports[0]",
        source=source, valve=fluid.Valve(medium=AIR, A=1e-3),
        room=fluid.Volume(1, [0.004], V=0.5, p_start=P - 2000.0, h_start=AIR.state(p=P, T=290.0, X=[0.004]).h),
    )  # fmt: skip
    result = ac.compile(plant).simulate(until=60.0, rtol=1e-9)
    M, MX = result["room.M"], result["room.MX"][:, 0]
    assert MX[-1] - MX[0] == pytest.approx(0.012 * (M[-1] - M[0]), rel=1e-6)


@pytest.mark.parametrize("fractions", [[0.2, 0.8], [-0.1], [1.5]])
def test_fractions_that_cannot_be(wired: Any, fractions: list[float]) -> None:
    plant = wired("source.port flange.port", source=fluid.PressureBoundary(fractions, medium=AIR), flange=fluid.Closed())
    with pytest.raises(ac.AcausalError, match=r"`X` is a mass fraction for each substance of moist air \(water\), not"):
        ac.compile(plant)


def test_a_closed_room_of_air_keeps_still(wired: Any) -> None:
    plant = wired("flow.port room.ports[0]", "room.ports[1] end.port", flow=air.AirFlow(m_flow=0.0), end=fluid.Closed(),
                  room=fluid.Volume(2, V=1.0, p_start=P, h_start=3e4))  # fmt: skip
    result = ac.compile(plant).simulate(until=10.0)
    assert np.ptp(result["room.T"]) < 1e-9
