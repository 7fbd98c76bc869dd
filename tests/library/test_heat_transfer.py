"""Correlations within exchangers and pipes: their values, what they do at rest and backwards, and outside of their ranges."""

from __future__ import annotations

from math import pi
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import acausal as ac
from acausal.errors import UsageError
from acausal.library import fluid, refrigeration
from acausal.library.fluid.correlations import gungor_winterton, nusselt, shah_condensation
from acausal.library.fluid.friction import MULTIPLIERS, two_phase_loss
from acausal.library.fluid.heat_transfer import Tube, TubeFlow, tube_flow, wall_flux
from acausal.library.thermal import FixedTemperature, PrescribedTemperature, ThermalCollector
from benchmarks.cold_stores import RIGS, Rig, stepped

R134A = ac.media.fluid("R134a")
KINDS = {
    "evaporator": lambda **more: refrigeration.Evaporator(**more),
    "condenser": lambda **more: refrigeration.Condenser(**more),
    "cells": lambda **more: refrigeration.DistributedExchanger(6, **more),
}


def liquid_flow(m_flow: float, x: float = 0.4, heat_flux: float = 4e3, p: float = 6e5) -> TubeFlow:
    ends = R134A.saturation(p=p)
    return TubeFlow(m_flow, 0.008, ends.liquid, ends.vapour, x, heat_flux, ends.h_evaporation, p / R134A.p_critical)


def test_a_tube_has_the_values_of_its_sources() -> None:
    """Written out once more from the papers, at 6 bar and 200 kg/(m² s)."""
    flow, tube = liquid_flow(0.01), Tube()
    flux, liquid = 0.01 / (pi / 4 * 0.008**2), flow.liquid
    part, whole = (0.023 * (flux * wet * 0.008 / liquid.viscosity) ** 0.8 * liquid.prandtl**0.4 for wet in (0.6, 1.0))
    number = 4e3 / (flux * flow.h_evaporation)
    boiling = gungor_winterton(part * liquid.conductivity / 0.008, 0.4, number, liquid.rho / flow.vapour.rho)
    condensing = shah_condensation(whole * liquid.conductivity / 0.008, 0.4, flow.p_reduced)
    assert tube.boiling(flow) == pytest.approx(boiling, rel=1e-3)
    assert tube.condensing(flow) == pytest.approx(condensing, rel=1e-3)
    single = nusselt(flux * 0.008 / liquid.viscosity, liquid.prandtl) * liquid.conductivity / 0.008
    assert tube.single(flow, liquid) == pytest.approx(single, rel=1e-6)


def test_the_mean_of_condensation_is_shahs() -> None:
    """Over all qualities ``0.55 + 2.09/p_r^0.38`` of all as liquid (Shah 1979, equation 9)."""
    flow = liquid_flow(0.01)
    all_liquid = shah_condensation(1.0, 0.0, 0.2)
    one = Tube().condensing(flow.at(0.0)) / all_liquid
    mean = Tube().mean(flow, -5.0, 0.0, 1.0) / one
    assert mean == pytest.approx(0.55 + 2.09 / flow.p_reduced**0.38, rel=0.02)


@pytest.mark.parametrize("heat_flux", [0.0, 1e4])
@pytest.mark.parametrize("x", [-0.1, 0.0, 0.5, 0.95, 1.0, 1.1])
def test_a_tube_is_regular_at_rest_and_knows_no_direction(x: float, heat_flux: float) -> None:
    flows = [liquid_flow(m, x, heat_flux) for m in (0.0, 1e-9, -1e-9, 0.01, -0.01)]
    for law in (Tube().boiling, Tube().condensing, lambda f: Tube().single(f, f.liquid)):
        found = [float(law(flow)) for flow in flows]
        assert np.all(np.isfinite(found)) and min(found) > 10.0
        assert found[0] == pytest.approx(found[1], rel=1e-6) and found[1] == found[2] and found[3] == found[4]


def test_heat_does_not_jump_where_vapour_begins_to_condense_nor_go_uphill() -> None:
    """Over quality and the wall's temperature; at the wall's own temperature there is none."""
    ends = R134A.saturation(p=6e5)
    h = ends.liquid.h + np.linspace(-0.2, 1.3, 3001) * ends.h_evaporation
    state = R134A.state(p=6e5, h=h)
    for T_wall in (270.0, float(ends.T) - 1.0, float(ends.T) + 1.0, 330.0):
        flow = liquid_flow(0.01, (h - ends.liquid.h) / ends.h_evaporation)
        flux = Tube().flux(flow, state.T, state.T - ends.vapour.T, T_wall, 0.03)
        assert np.all(flux * (T_wall - state.T) >= -1e-9)
        assert np.abs(np.diff(flux)).max() < 0.04 * np.ptp(flux)
        if T_wall < float(ends.T):  # across the dew line there is no step at all
            dew = np.abs(flow.x - 1) < 2e-3
            assert np.abs(np.diff(flux[dew])).max() < 0.02 * np.abs(flux[dew]).max()


def test_water_in_a_pipe_is_heated_as_gnielinski_says(wired: Any) -> None:
    pipe = fluid.DistributedPipe(8, transfer="tube", length=4.0, T_start=320.0)
    plant = wired(
        "feed.port pipe.a", "pipe.b out.a", "out.b low.port", "pipe.heat wall.a", "wall.b hot.port",
        feed=fluid.FlowSource(m_flow=0.2, T=320.0), out=fluid.Orifice(medium="water", A=1e-4), pipe=pipe,
        low=fluid.PressureBoundary(p=1e5, T=300.0), wall=ThermalCollector(8), hot=FixedTemperature(T=350.0),
    )  # fmt: skip
    result = ac.compile(plant).simulate(until=200.0)
    water = ac.media.fluid("water").state(p=result["pipe.p"][-1], h=result["pipe.h"][-1])
    reynolds = 4 * 0.2 / (pi * 0.02 * water.viscosity)
    alpha = nusselt(reynolds, water.prandtl) * water.conductivity / 0.02
    np.testing.assert_allclose(result["pipe.flux"][-1], alpha * (350.0 - water.T), rtol=1e-4)


@pytest.mark.parametrize("pipe", [fluid.DistributedPipe, fluid.MeanDensityPipe])
def test_pipes_boil_stand_still_and_turn_round(wired: Any, pipe: Any) -> None:
    """The flow swings through zero; the account of mass closes."""
    plant = wired(
        "feed.port pipe.a", "pipe.b out.a", "out.b low.port", "pipe.heat wall.a", "wall.b hot.port",
        feed=fluid.FlowSource(m_flow=0.0, h=2.4e5), out=fluid.Orifice(medium=R134A, A=3e-5),
        pipe=pipe(6, transfer="tube", diameter=0.01, p_start=4e5, x_start=0.5), low=fluid.PressureBoundary(p=3.9e5, h=2.8e5),
        wall=ThermalCollector(6), hot=FixedTemperature(T=288.0),
    )  # fmt: skip
    swing = {"feed.m_flow": lambda t: 0.008 * float(np.sin(2 * np.pi * t / 100.0))}
    result = ac.compile(plant).simulate(until=300.0, points=6001, inputs=swing)
    assert result.outcome is ac.Outcome.FINISHED
    M = np.sum(result["pipe.M"], axis=1)
    came = np.trapezoid(result["pipe.a.m_flow"] + result["pipe.b.m_flow"], result.time)
    assert M[-1] - M[0] == pytest.approx(came, abs=1e-4)
    assert result["pipe.b.m_flow"].min() < -1e-3 < 1e-3 < result["pipe.b.m_flow"].max()


@pytest.mark.parametrize("kind", KINDS)
def test_exchangers_follow_the_flow_at_rest_and_backwards(wired: Any, kind: str) -> None:
    """Warmed and cooled by turns, with a flow that swings; charge and energy are kept."""
    plant = wired(
        "feed.port exchanger.a", "exchanger.b out.a", "out.b other.port", "exchanger.air air.port",
        feed=fluid.FlowSource(m_flow=0.0, h=3.4e5), other=fluid.PressureBoundary(p=4e5, h=3.9e5), air=PrescribedTemperature(),
        out=fluid.Orifice(medium=R134A, A=2e-5), exchanger=KINDS[kind](transfer="tube", charge_start=0.1, T_start=280.0),
    )  # fmt: skip
    swing = {
        "feed.m_flow": lambda t: 0.006 * float(np.sin(2 * np.pi * t / 200.0)),
        "air.T": lambda t: 283.0 + 12.0 * float(np.sin(2 * np.pi * t / 330.0)),
    }
    result = ac.compile(plant).simulate(until=800.0, points=40001, inputs=swing)
    assert result.outcome is ac.Outcome.FINISHED
    later = result.time > 2.0  # pressures even out at first
    came = np.trapezoid((result["exchanger.a.m_flow"] + result["exchanger.b.m_flow"])[later], result.time[later])
    held = result["exchanger.charge"][later]
    assert held[-1] - held[0] == pytest.approx(came, abs=2e-4)  # by trapezoids


def settled(kind: str, exchanger: Any) -> Any:
    model = ac.compile(Rig(exchanger, **RIGS[kind]["rig"]))
    result = model.simulate(until=1500.0, inputs={"feed.m_flow": 0.008, "outlet.opening": 0.7})
    assert result.outcome is ac.Outcome.FINISHED
    return result


@pytest.mark.parametrize("kind", ["evaporator", "condenser"])
def test_zones_and_cells_agree_with_correlations_too(kind: str) -> None:
    more = {"transfer": "tube", **RIGS[kind]["exchanger"]}
    zones = settled(kind, KINDS[kind](slip="homogeneous", **more))
    cells = settled(kind, refrigeration.DistributedExchanger(40, dp_nominal=500.0, **more))
    assert float(zones["exchanger.air.Q_flow"][-1]) == pytest.approx(float(cells["exchanger.air.Q_flow"][-1]), rel=3e-3)
    assert cells.statistics["steps"] < 4000  # nothing goes to and fro


@pytest.mark.parametrize("multiplier", MULTIPLIERS)
def test_friction_in_cells_is_that_of_their_tubes(multiplier: str) -> None:
    result = settled("evaporator", refrigeration.DistributedExchanger(10, friction=multiplier, **RIGS["evaporator"]["exchanger"]))
    p, h, m = (result[f"exchanger.{name}"][-1] for name in "phm")
    states, ends = R134A.state(p=p, h=h), R134A.saturation(p=p)
    x, diameter, lost = (h - ends.liquid.h) / ends.h_evaporation, 4 * 1.5e-3 / 1.0, []
    length = 1.0 / (pi * diameter * 2) / 9  # nine borders have all of it
    for k in range(9):
        own = SimpleNamespace(rho=states.rho[k], viscosity=states.viscosity[k])
        phases = [
            own if single else SimpleNamespace(rho=end.rho[k], viscosity=end.viscosity[k])
            for single, end in ((x[k] <= 0, ends.liquid), (x[k] >= 1, ends.vapour))
        ]
        lost.append(two_phase_loss(multiplier, m[k] / 2, x[k], phases[0], phases[1], length, diameter, 1.5e-6))
    np.testing.assert_allclose(-np.diff(p), lost, rtol=1e-3)


def test_friction_of_zones_is_lost_at_the_outlet() -> None:
    more = RIGS["evaporator"]["exchanger"]
    without, with_it = (
        settled("evaporator", refrigeration.Evaporator(friction=f, **more)) for f in ("nominal", "mueller-steinhagen-heck")
    )
    assert float(without["exchanger.a.p"][-1] - without["exchanger.b.p"][-1]) == 0.0
    assert float(with_it["exchanger.a.p"][-1] - with_it["exchanger.b.p"][-1]) > 2e4


class Enhanced(Tube):
    """Tubes with grooves."""

    def boiling(self, flow: TubeFlow) -> Any:
        return 1.8 * super().boiling(flow)


def test_a_law_of_ones_own() -> None:
    more = {"friction": "nominal", **RIGS["evaporator"]["exchanger"]}
    plain, grooved = (settled("evaporator", refrigeration.Evaporator(transfer=law, **more)) for law in ("tube", Enhanced()))
    assert float(grooved["exchanger.alpha"][-1]) > 1.5 * float(plain["exchanger.alpha"][-1])


@pytest.mark.parametrize("kind", KINDS)
def test_a_correlation_beyond_its_range_is_told_once_with_the_range(kind: str) -> None:
    """Fifty tubes side by side: a mass flux of six."""
    rig = "condenser" if kind == "condenser" else "evaporator"
    more = {"transfer": "tube", "circuits": 50, **RIGS[rig]["exchanger"]}
    found = stepped(ac.compile(Rig(KINDS[kind](**more), **RIGS[rig]["rig"])), rig, "flow").diagnostics
    told = [d for d in found if "is outside the range of" in d.what]
    assert len(told) == 1 and "exchanger (" in str(told[0].component)
    assert ("10.8 … 1599" if kind == "condenser" else "12.4 … 61518") in told[0].what


@pytest.mark.parametrize("T_wall", [265.0, 300.0, 330.0])
@pytest.mark.parametrize("m_flow", [1e-4, 1e-2])
def test_a_pipe_of_mean_densities_begins_to_boil(wired: Any, m_flow: float, T_wall: float) -> None:
    """Boiling drives the flow, and the flow heat transfer: at once these had no solution, and no run began."""
    plant = wired(
        "feed.port part.a", "part.b hole.a", "hole.b end.port", "wall.port part.heat", hole=fluid.Orifice(A=1e-5),
        feed=fluid.FlowSource(m_flow=m_flow, h=2.5e5, medium="R134a"), end=fluid.PressureBoundary(p=3.5e5, x=1.0),
        part=fluid.MeanDensityPipe(4, transfer="tube", p_start=4e5, x_start=0.3), wall=FixedTemperature(T=T_wall),
    )  # fmt: skip
    result = ac.compile(plant).simulate(until=3000.0)
    assert result.outcome is ac.Outcome.FINISHED
    np.testing.assert_allclose(result["part.m_felt"][-1], result["part.m_mean"][-1], atol=1e-6)


def test_a_start_from_rest_does_not_keep_silent_of_a_flow_that_is_too_large(wired: Any) -> None:
    """It is below the range at first and above it later: both are told, once each."""
    plant = wired(
        "feed.port part.a", "part.b hole.a", "hole.b end.port", "part.air air.port", hole=fluid.Orifice(A=1e-4),
        part=refrigeration.Condenser(transfer="tube", charge_start=0.3, UA=3e3, circuits=1),
        feed=fluid.FlowSource(h=4.2e5, medium="R134a"), end=fluid.PressureBoundary(p=6e5, x=0.0), air=FixedTemperature(T=285.0),
    )  # fmt: skip
    flow = ac.data([0.0, 20.0, 60.0, 120.0], [1e-4, 1e-4, 0.06, 0.06])
    found = ac.compile(plant).simulate(until=120.0, inputs={"feed.m_flow": flow}).diagnostics
    told = [d.what for d in found if "The mass flux is outside the range of Shah's condensation, 10.8 … 1599" in d.what]
    assert len(told) == 2 and "time 10:" in told[0]


def test_a_start_from_rest_is_below_the_range_and_nothing_is_told(wired: Any) -> None:
    plant = wired(
        "feed.port part.a", "part.b hole.a", "hole.b end.port", "part.air air.port", hole=fluid.Orifice(A=1e-4),
        part=refrigeration.Condenser(transfer="tube", charge_start=0.3, UA=3e3, circuits=1),
        feed=fluid.FlowSource(h=4.2e5, medium="R134a"), end=fluid.PressureBoundary(p=6e5, x=0.0), air=FixedTemperature(T=285.0),
    )  # fmt: skip
    model = ac.compile(plant)
    flow = ac.data([0.0, 5.0, 60.0], [1e-4, 0.02, 0.02])
    assert not model.simulate(until=60.0, inputs={"feed.m_flow": flow}).diagnostics
    (told,) = model.simulate(until=2.0, inputs={"feed.m_flow": 1e-4}).diagnostics
    assert "The mass flux is outside the range of Shah's condensation, 10.8 … 1599" in told.what


def test_within_their_ranges_nothing_is_told() -> None:
    assert not settled("evaporator", refrigeration.Evaporator(transfer="tube", **RIGS["evaporator"]["exchanger"])).diagnostics


@pytest.mark.parametrize(
    "make",
    [
        lambda: refrigeration.Evaporator(transfer="nusselt"),
        lambda: refrigeration.DistributedExchanger(transfer=Tube),
        lambda: fluid.DistributedPipe(transfer="gnielinski"),
        lambda: fluid.MeanDensityPipe(transfer=3),
    ],
)
def test_a_transfer_that_is_not_known(make: Any) -> None:
    with pytest.raises(UsageError, match=r"Heat transfer is one of 'constant', 'tube' or an object derived from `fluid\.Transfer`"):
        make()


def test_a_friction_that_is_not_known(wired: Any) -> None:
    with pytest.raises(UsageError, match="The friction of an exchanger is one of nominal, mueller-steinhagen-heck"):
        refrigeration.Condenser(friction="darcy")
    air = fluid.DistributedPipe(friction="homogeneous", medium=ac.media.ideal_gas("N2"))
    with pytest.raises(UsageError, match="has one phase, and the friction 'homogeneous' is for two"):
        ac.compile(wired("pipe.a end.port", "pipe.b other.port", pipe=air, end=fluid.Closed(), other=fluid.Closed()))


def test_heat_transfer_goes_on_across_the_critical_pressure() -> None:
    """The Prandtl number has a pole there, and tables give it the other sign next to it; beyond it nothing boils or condenses."""

    class Wall(ac.Component):
        p = ac.Parameter(7e6, unit="Pa", min=1e3)
        h = ac.Parameter(3e5, unit="J/kg")
        T_wall = ac.Parameter(310.0, unit="K", min=0)
        flux = ac.Variable(unit="W/m^2", start=1e3, nominal=1e3)

        def equations(self) -> Any:
            state = co2.state(p=self.p, h=self.h, phase="any")
            flow = tube_flow(co2, 0.02, 0.01, self.p, self.h, state, ac.smooth_abs(self.flux, 1.0))
            yield self.flux == wall_flux(fluid.Tube(), co2, flow, self.p, state.T, self.T_wall, 0.03)

    co2 = ac.media.fluid("CO2")
    model = ac.compile(Wall())
    for h, apart in ((2.5e5, 0.01), (3.4e5, 0.3), (4.2e5, 0.01)):  # properties change steeply next to the critical point
        for T_wall in (296.0, 315.0):
            below, above = (
                float(model.steady_state(set={"p": share * co2.p_critical, "h": h, "T_wall": T_wall})["flux"][0])
                for share in (0.9998, 1.0002)
            )
            assert below == pytest.approx(above, rel=apart)


def test_cold_water_shut_into_a_pipe_begins_to_boil(wired: Any) -> None:
    """It cools down until its pressure is that of saturation; boiling at no quality must not have an infinite slope."""
    plant = wired(
        "feed.port valve.a", "valve.b pipe.a", "pipe.b end.port", "all.a pipe.heat", "all.b wall.port",
        pipe=fluid.DistributedPipe(3, transfer="tube", length=5.0, p_start=3e5, T_start=330.0), valve=fluid.Valve(A=1e-4),
        feed=fluid.PressureBoundary(p=3e5, T=330.0, medium="water"), end=fluid.Closed(), all=ThermalCollector(3),
        wall=PrescribedTemperature(T=310.0),
    )  # fmt: skip
    opening = ac.data([0.0, 20.0, 21.0, 300.0], [1.0, 1.0, 0.0, 0.0])
    result = ac.compile(plant).simulate(until=300.0, inputs={"valve.opening": opening})
    assert result.outcome is ac.Outcome.FINISHED
    warmest = float(np.max(result["pipe.T"][-1]))
    assert result["pipe.p"][-1][0] == pytest.approx(float(ac.media.fluid("water").saturation(T=warmest).p), rel=0.05)
