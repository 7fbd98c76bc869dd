"""Liquids, brines and moist air against CoolProp, solids, gases found from their enthalpy, media of one's own."""

from __future__ import annotations

import pickle
from itertools import pairwise
from typing import Any

import CoolProp.CoolProp as CP
import numpy as np
import pytest
from CoolProp.HumidAirProp import HAPropsSI

import acausal as ac
from acausal.media.moist_air import saturation_pressure


# --- liquids and solids ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("name", "code", "share"), [("propylene glycol", "MPG", 0.4), ("calcium chloride", "MCA", 0.2), ("T66", "T66", None)]
)
def test_liquids_are_those_of_coolprop(name: str, code: str, share: float | None) -> None:
    liquid = ac.media.liquid(name, share)
    source = f"INCOMP::{code}" + (f"[{share}]" if share else "")
    T = np.linspace(liquid.T_min + 1.0, liquid.T_max - 1.0, 17)
    state = liquid.state(p=2e6, T=T)
    for what, key in (("rho", "D"), ("cp", "C"), ("viscosity", "V"), ("conductivity", "L")):
        exact = np.array([CP.PropsSI(key, "T", t, "P", 2e6, source) for t in T])
        np.testing.assert_allclose(getattr(state, what), exact, rtol=2e-6 if what != "viscosity" else 2e-4)
    np.testing.assert_allclose(liquid.state(p=2e6, h=state.h).T, T, rtol=1e-10)
    np.testing.assert_allclose(np.diff(state.h), [_integral(liquid, a, b) for a, b in pairwise(T)], rtol=1e-7)


def _integral(liquid: Any, a: float, b: float) -> float:
    nodes, weights = np.polynomial.legendre.leggauss(20)
    return float(0.5 * (b - a) * weights @ liquid.state(p=2e6, T=0.5 * (a + b) + 0.5 * (b - a) * nodes).cp)


def test_what_is_wrong_with_a_liquid_is_told() -> None:
    with pytest.raises(ac.ModelError, match=r"knows no incompressible liquid `glycol`. Did you mean"):
        ac.media.liquid("glycol")
    with pytest.raises(ac.ModelError, match="is a solution: say the share"):
        ac.media.liquid("ethylene glycol")
    with pytest.raises(ac.ModelError, match="is no solution"):
        ac.media.liquid("T66", 0.2)
    with pytest.raises(ac.ModelError, match=r"known for shares from 0 to 0.6, not for 0.9"):
        ac.media.liquid("ethylene glycol", 0.9)
    with pytest.raises(ac.ModelError, match=r"No state of ethylene glycol 30 %: T = 200 K is outside"):
        ac.media.liquid("ethylene glycol", 0.3).state(p=1e5, T=200.0)
    with pytest.raises(ac.ModelError, match=r"The viscosity of oil is not known(.|\n)*viscosity=…"):
        _ = ac.media.Liquid("oil", rho=850.0, cp=2000.0).state(p=1e5, T=300.0).viscosity
    with pytest.raises(ac.ModelError, match=r"The points of the cp of oil go from 300 to 350 K"):
        ac.media.Liquid("oil", rho=850.0, cp=([300.0, 350.0], [2000.0, 2100.0]))


def test_a_brine_that_freezes_stops_the_run_with_its_limit() -> None:
    class Tank(ac.Component):
        h = ac.Variable(start=0.0, fixed=True, unit="J/kg", nominal=1e4)
        T = ac.Variable(unit="K", nominal=100.0)

        def __init__(self) -> None:
            self.brine = ac.media.liquid("ethylene glycol", 0.3)

        def equations(self) -> Any:
            yield ac.der(self.h) == -1e3
            yield self.T == self.brine.state(p=1e5, h=self.h).T

    result = ac.compile(Tank()).simulate(until=200.0, on_failure="keep")
    assert result["T"][-1] == pytest.approx(258.58, abs=0.2)
    assert "temperature over enthalpy of ethylene glycol 30 %` holds from" in str(result.diagnose())


def test_a_rod_with_conductivity_over_temperature() -> None:
    """Between fixed temperatures the integral of k dT is linear along the rod."""
    iron = ac.media.solid("iron")

    class Rod(ac.Component):
        T = ac.Variable(shape=20, start=500.0, unit="K", nominal=100.0)

        def equations(self) -> Any:
            ends = (300.0, *[self.T[k] for k in range(20)], 900.0)
            k = [iron.state(T=0.5 * (a + b)).conductivity * (b - a) for a, b in pairwise(ends)]
            for i in range(20):
                state = iron.state(T=self.T[i])
                yield state.rho * state.cp * ac.der(self.T[i]) == (k[i + 1] - k[i]) / 0.01**2

    T = ac.compile(Rod()).steady_state()["T"][0]
    grid = np.linspace(300.0, 900.0, 20001)
    k = iron.state(T=grid).conductivity
    integral = np.concatenate([[0.0], np.cumsum(0.5 * (k[1:] + k[:-1]) * np.diff(grid))])
    np.testing.assert_allclose(np.interp(T, grid, integral), integral[-1] * np.arange(1, 21) / 21, rtol=2e-4)


# --- moist air ------------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("T", [253.15, 278.15, 293.15, 308.15])
@pytest.mark.parametrize("phi", [0.1, 0.5, 0.95])
def test_moist_air_is_that_of_coolprop_but_for_real_gas_effects(T: float, phi: float) -> None:
    state = ac.media.moist_air().state(p=101325.0, T=T, phi=phi)
    w, v, dew, wet = (HAPropsSI(k, "T", T, "P", 101325.0, "R", phi) for k in ("W", "V", "D", "B"))
    assert state.w == pytest.approx(w, rel=6e-3) and state.v * (1 + state.w) == pytest.approx(v, rel=1e-3)
    assert state.T_dew == pytest.approx(dew, abs=0.05)
    if wet > 273.15:
        assert state.T_wet == pytest.approx(wet, abs=0.1)
    dry = ac.media.moist_air().state(p=101325.0, T=T, w=0.0)
    exact = HAPropsSI("H", "T", T, "P", 101325.0, "W", w) - HAPropsSI("H", "T", T, "P", 101325.0, "W", 0.0)
    assert state.h * (1 + state.w) - dry.h == pytest.approx(exact, rel=8e-3)


def test_temperature_follows_from_enthalpy_through_fog_and_frost() -> None:
    air = ac.media.moist_air()
    T = np.concatenate([np.linspace(230.0, 330.0, 301), np.linspace(272.4, 273.3, 61)])
    for w in (0.0, 0.004, 0.02):
        state = air.state(p=9e4, T=T, w=w)
        assert np.all(np.diff(np.sort(T)[np.argsort(np.argsort(state.h))] - np.sort(T)[np.argsort(np.argsort(T))]) == 0)
        np.testing.assert_allclose(air.state(p=9e4, h=state.h, w=w).T, T, atol=1e-8)
        assert np.all(state.phi <= 1 + 1e-12) and np.all(state.x_condensate >= -1e-15)
    fog = air.state(p=1e5, T=263.15, w=0.01)
    assert fog.frozen == 1.0 and fog.x_ice > 0 and air.state(p=1e5, T=278.15, w=0.02).x_ice == 0.0


def test_cooling_air_condenses_then_freezes_and_keeps_mass_and_energy() -> None:
    class Room(ac.Component):
        V = ac.Parameter(1.0, unit="m^3")
        U = ac.Variable(unit="J", nominal=1e4, state="prefer")
        h = ac.Variable(unit="J/kg", nominal=1e4, start=3e4)
        T = ac.Variable(unit="K", nominal=100.0, start=293.15)
        p = ac.Variable(unit="Pa", nominal=1e5, start=1e5)
        M = ac.Variable(start=1.18, fixed=True, unit="kg")
        ice = ac.Variable()
        phi = ac.Variable()

        def equations(self) -> Any:
            state = air.state(p=self.p, h=self.h, X=[0.008])
            yield self.M == self.V * state.rho
            yield self.U == self.M * self.h - self.p * self.V
            yield self.T == state.T
            yield self.ice == state.x_ice
            yield self.phi == state.phi
            yield ac.der(self.M) == 0.0
            yield ac.der(self.U) == -20.0

        def initial_equations(self) -> Any:
            yield self.T == 293.15

    air = ac.media.moist_air()
    result = ac.compile(Room()).simulate(until=2500.0)
    assert result.outcome and len(result.events) >= 1
    assert result["U"][-1] - result["U"][0] == pytest.approx(-20.0 * 2500.0, rel=1e-9)
    last = air.state(p=float(result["p"][-1]), T=float(result["T"][-1]), X=[0.008])
    # T is an unknown that is solved for to the tolerance of the run
    assert last.h == pytest.approx(float(result["h"][-1]), rel=1e-6) and result["T"][-1] < 270.0
    assert result["ice"][-1] == pytest.approx(0.008 - last.x_saturation, rel=1e-6) and result["phi"].max() < 1.0 + 1e-6


def test_saturation_pressure_is_continuous_at_the_triple_point_and_right_elsewhere() -> None:
    assert saturation_pressure(273.16 - 1e-9) == pytest.approx(saturation_pressure(273.16), rel=1e-4)
    for T in (280.0, 300.0, 350.0):
        assert saturation_pressure(T) == pytest.approx(CP.PropsSI("P", "T", T, "Q", 0, "water"), rel=5e-4)


@pytest.mark.parametrize(
    "given", [{"p": 1e5, "T": 300.0}, {"p": 1e5, "h": 1e4, "phi": 0.5}, {"p": 1e5, "T": 300.0, "w": 0.01, "phi": 0.5}]
)
def test_moist_air_asks_for_what_it_needs(given: dict[str, float]) -> None:
    with pytest.raises(ac.ModelError, match="found from p, either T or h, and one of X, w and phi"):
        ac.media.moist_air().state(**given)


# --- gases ----------------------------------------------------------------------------------------------------------------------
def test_a_gas_is_found_from_its_enthalpy_in_equations_too() -> None:
    gas = ac.media.ideal_gas(["N2", "O2", "CO2"])

    class Heater(ac.Component):
        h = ac.Variable(start=0.0, fixed=True, unit="J/kg", nominal=1e5)
        T = ac.Variable(unit="K", nominal=100.0)
        x = ac.Input(0.2)

        def equations(self) -> Any:
            X = [0.9 - self.x, self.x, 0.1]
            yield ac.der(self.h) == 1e4
            yield self.T == gas.state(p=1e5, h=self.h, X=X).T

    result = ac.compile(Heater()).simulate(until=100.0)
    np.testing.assert_allclose(gas.state(p=1e5, T=result["T"], X=[0.7, 0.2, 0.1]).h, result["h"], atol=0.5)
    assert gas.state(p=1e5, h=2e5, X=[0.7, 0.2, 0.1]).T == pytest.approx(result["T"][-1] - 720.0, abs=100.0)


def test_heat_of_reactions() -> None:
    gas = ac.media.ideal_gas(["H2", "O2", "H2O"])
    assert gas.reaction_enthalpy(298.15, {"H2": -1, "O2": -0.5, "H2O": 1}) == pytest.approx(-241.8e3, rel=1e-3)
    with pytest.raises(ac.ModelError, match=r"does not balance: -1 O"):
        gas.reaction_enthalpy(298.15, {"H2": -1, "O2": -1, "H2O": 1})


# --- CoolProp itself, and media of one's own --------------------------------------------------------------------------------------
def test_the_direct_path_is_coolprop_itself() -> None:
    exact, table = ac.media.direct("R134a"), ac.media.fluid("R134a")
    for given in (
        {"p": 1e6, "h": 4.3e5},
        {"p": 1e6, "T": 330.0},
        {"p": 1e6, "s": 1750.0},
        {"p": 1e6, "x": 0.3},
        {"T": 280.0, "x": 1.0},
    ):
        one, other = exact.state(**given), table.state(**given)
        for what in ("T", "rho", "s", "h"):
            assert getattr(one, what) == pytest.approx(getattr(other, what), rel=1e-6)
    assert exact.saturation(T=280.0).h_evaporation == pytest.approx(table.saturation(T=280.0).h_evaporation, rel=1e-6)
    assert exact.state(p=1e5, h=4.3e5).rho == CP.PropsSI("D", "P", 1e5, "H", 4.3e5, "R134a")

    class Valve(ac.Component):
        h = ac.Variable(unit="J/kg", start=2.5e5, nominal=1e5)

        def equations(self) -> Any:
            yield exact.state(p=5e5, h=self.h).rho == 100.0

    h = float(ac.compile(Valve()).steady_state()["h"][0])
    assert CP.PropsSI("D", "P", 5e5, "H", h, "R134a") == pytest.approx(100.0, rel=1e-8)
    with pytest.raises(ac.ModelError, match="R134a by CoolProp"):
        exact.state(p=1e5, h=1e9)


class VanDerWaals(ac.media.Medium):
    """(p + a ρ²) (1 - b ρ) = ρ R T, with a constant heat capacity at constant volume."""

    def __init__(self, name: str, a: float, b: float, R: float, cv: float) -> None:
        self.name, self.a, self.b, self.R, self.cv = name, a, b, R, cv
        self.at_ph = ac.implicit(
            lambda rho, T, p, h: (self.pressure(rho, T) - p, self.enthalpy(rho, T) - h),
            {
                "rho": {"start": 2.0, "min": 1e-3, "unit": "kg/m^3"},
                "T": {"start": 300.0, "min": 50.0, "nominal": 100.0, "unit": "K"},
            },
            name=name,
        )

    def pressure(self, rho: Any, T: Any) -> Any:
        return rho * self.R * T / (1.0 - self.b * rho) - self.a * rho * rho

    def enthalpy(self, rho: Any, T: Any) -> Any:
        return self.cv * T - self.a * rho + self.pressure(rho, T) / rho

    def state(self, *, p: Any, h: Any) -> Any:
        from types import SimpleNamespace

        rho, T = self.at_ph(p, h)
        return SimpleNamespace(p=p, h=h, rho=rho, T=T)


def test_a_medium_from_an_equation_of_state_in_a_circuit() -> None:
    """A throttle: the enthalpy stays, the temperature falls as Joule and Thomson saw."""
    gas = VanDerWaals("CO2 after van der Waals", a=188.9, b=9.7e-4, R=188.9, cv=650.0)

    class Throttle(ac.Component):
        port = ac.FluidPort()
        before = ac.Variable(unit="K", nominal=100.0)
        after = ac.Variable(unit="K", nominal=100.0)

        def equations(self) -> Any:
            yield self.port.p == 3e6
            yield self.port.h.outflow == 2.4e5
            yield self.before == self.medium.state(p=self.port.p, h=self.port.h.outflow).T
            yield self.after == self.medium.state(p=1e5, h=self.port.h.outflow).T

    state = ac.compile(Throttle(medium=gas)).steady_state()
    before, after = float(state["before"][0]), float(state["after"][0])
    for p, T in ((3e6, before), (1e5, after)):
        found = gas.state(p=p, h=2.4e5)
        assert found.T == pytest.approx(T, rel=1e-8) and gas.pressure(found.rho, T) == pytest.approx(p, rel=1e-8)
    assert before - after > 15.0


def test_functions_that_an_equation_defines() -> None:
    root = ac.implicit(lambda z, a: z * z * z + z - a, start=1.0, min=0.0, max=100.0)
    assert root(10.0) == pytest.approx(2.0) and np.isnan(root(-1.0))
    two = ac.implicit(lambda x, y, a: (x * y - a, x - 2 * y), {"x": {"start": 1.0}, "y": {"start": 1.0}})
    assert two(2.0) == pytest.approx((2.0, 1.0))

    class Both(ac.Component):
        n = ac.Variable(start=1.0, fixed=True)
        b = ac.Variable(shape=2)
        c = ac.Variable()

        def equations(self) -> Any:
            yield ac.der(self.n) == root(self.n + 1)
            yield self.b == root(ac.time * np.array([1.0, 2.0]))
            yield self.c == two(self.n)[0] + root(root(self.n + 1))

    class Many(ac.Component):
        def __init__(self) -> None:
            self.many, self.one = ac.array(Both, 3), Both()

    result = ac.compile(Many()).simulate(until=1.0)
    n = result["one.n"][-1]
    np.testing.assert_allclose(result["many.n"][-1], [n] * 3)
    np.testing.assert_allclose(result["one.b"][-1], root(np.array([1.0, 2.0])), rtol=1e-6)
    assert result["one.c"][-1] == pytest.approx(np.sqrt(2 * n) + root(root(n + 1)), rel=1e-8)
    with pytest.raises(ac.ModelError, match=r"has 2 unknown\(s\), but 1 equation\(s\)"):
        ac.implicit(lambda x, y, a: x - a, {"x": {}, "y": {}})


def test_models_with_media_are_kept_in_files(tmp_path: Any) -> None:
    class Feed(ac.Component):
        port = ac.FluidPort()

        def equations(self) -> Any:
            yield self.port.m_flow == -0.1
            yield self.port.h.outflow == 3e4

    class Vessel(ac.Component):
        port = ac.FluidPort()
        T = ac.Variable(unit="K", nominal=100.0)

        def equations(self) -> Any:
            yield self.port.p == 1e5
            yield self.port.h.outflow == self.port.h.inflow
            yield self.T == self.medium.state(p=self.port.p, h=self.port.h.inflow).T

    class Plant(ac.Component):
        def __init__(self, medium: Any) -> None:
            self.feed, self.vessel = Feed(medium=medium), Vessel()

        def connections(self) -> Any:
            yield self.feed.port, self.vessel.port

    for medium in ("water", ac.media.liquid("ethylene glycol", 0.3), ac.media.ideal_gas("N2"), ac.media.direct("water")):
        model = ac.compile(Plant(medium))
        T = model.steady_state()["vessel.T"][0]
        assert pickle.loads(pickle.dumps(model)).steady_state()["vessel.T"][0] == T
        if medium != ac.media.direct("water"):  # which is Python's to call
            model.save(tmp_path / "plant.acm")
            assert ac.load(tmp_path / "plant.acm").steady_state()["vessel.T"][0] == T


@pytest.mark.parametrize(
    ("medium", "given", "message"),
    [
        (lambda: ac.media.ideal_gas(["N2"]), {"p": 1e5, "x": 0.5}, r"cannot be found from \(p, x\). It has no two phases"),
        (lambda: ac.media.solid("copper"), {"p": 1e5, "h": 1e5}, r"cannot be found from \(p, h\).*It takes some of: T, h"),
        (lambda: ac.media.ConstantMedium("oil", rho=850.0, cp=2000.0), {"T": 300.0}, r"cannot be found from \(T\)"),
    ],
)
def test_states_that_a_medium_does_not_know(medium, given, message):
    with pytest.raises(ac.ModelError, match=f"(?s){message}"):
        medium().state(**given)


def test_dry_air_is_the_ideal_gas_that_real_air_is_when_thin():
    ideal, real = ac.media.ideal_gas("Air").state(p=1e4, T=300.0), ac.media.fluid("Air").state(p=1e4, T=300.0)
    assert ideal.rho == pytest.approx(real.rho, rel=3e-4) and ideal.cp == pytest.approx(
        real.cp, rel=2e-3
    )  # as good as the polynomials
    with pytest.raises(ac.AcausalError, match="There are no polynomials of a gas `Aire`") as caught:
        ac.media.ideal_gas("Aire")
    assert "and air" in str(caught.value)
