"""Examples of high index in Tummescheit's thesis: poles, invariants and rates in closed form."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import acausal as ac
from acausal.families.statistics import statistics
from benchmarks.structure.thesis import (
    Basins,
    GasSpring,
    Superheater,
    TwoCapacitors,
    basin_outflow,
    circuit_poles,
    superheater_rates,
)

from .conftest import state_count

# Of the transfer function; the thesis' figure 2.8 shows them.
POLES = {10.0: (-150.167, -0.33296), 100.0: (-15.1704, -0.32959), 500.0: (-3.18614, -0.31386), 1000.0: (-1.70711, -0.29289)}


# --- circuit ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("R2", POLES)
def test_poles_of_the_circuit(R2: float, poles: Any) -> None:
    found = poles(ac.compile(TwoCapacitors(R2)))
    np.testing.assert_allclose(found, POLES[R2], rtol=2e-5)
    np.testing.assert_allclose(found, circuit_poles(R2), rtol=1e-9)


def test_capacitors_in_parallel_are_one(run: Any, agrees: Any, poles: Any) -> None:
    model = ac.compile(TwoCapacitors())
    assert state_count(model) == 1
    np.testing.assert_allclose(poles(model), [-1 / 3], rtol=1e-12)
    result = run(TwoCapacitors(), 10.0)
    agrees(result["C2.v"], 1 - np.exp(-result.time / 3))
    agrees(result["C1.i"], 2 * np.asarray(result["C2.i"]))  # the flow between them, which nobody modelled


def test_step_response_with_the_second_resistor(run: Any, agrees: Any) -> None:
    result = run(TwoCapacitors(500.0), 10.0)
    fast, slow = circuit_poles(500.0)
    exact = 1 + (slow * np.exp(fast * result.time) - fast * np.exp(slow * result.time)) / (fast - slow)
    agrees(result["C2.v"], exact)


# --- gas and piston ---------------------------------------------------------------------------------------------------


def held(value: float) -> Any:
    return ac.start(value, fixed=True)


AT_REST = {"x": held(0.1), "v": held(0.0)}
FITTING_PRESSURE = 0.01 * 287.0 * 300.0 / 0.009


def test_energy_and_entropy_of_the_gas_spring_are_kept(run: Any, agrees: Any) -> None:
    model = ac.compile(GasSpring(T=held(300.0), **AT_REST))
    assert state_count(model) == 3
    result = run(GasSpring(T=held(300.0), **AT_REST), 0.5)
    assert np.ptp(result["piston.x"]) > 0.1
    agrees(result["energy"], result["energy"][0])
    agrees(result["invariant"], result["invariant"][0])


def test_poles_of_the_gas_spring(poles: Any) -> None:
    """Adiabatic: m·s² + k + γ·p·A²/V = 0 at rest, and the temperature of the isolated gas is free (a pole at zero)."""
    model = ac.compile(GasSpring(T=held(300.0), **AT_REST))
    found = poles(model)
    rest = model.steady_state()
    p, V = float(rest["gas.p"][0]), float(rest["gas.V"][0])
    omega = np.sqrt((5e3 + 1.4 * p * 0.01**2 / V) / 2.0)
    np.testing.assert_allclose(np.sort(found.imag), [-omega, 0.0, omega], rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(found.real, 0.0, atol=1e-6)


@pytest.mark.parametrize("given", [{"T": held(300.0)}, {"p": held(FITTING_PRESSURE)}], ids=["T", "p"])
def test_three_initial_conditions_whichever_they_are(given: dict[str, Any], run: Any) -> None:
    result = run(GasSpring(**given, **AT_REST), 1e-3)
    np.testing.assert_allclose(result["gas.T"][0], 300.0, rtol=1e-9)
    np.testing.assert_allclose(result["gas.p"][0], FITTING_PRESSURE, rtol=1e-9)


def test_a_fourth_condition_is_accepted_if_it_fits(run: Any) -> None:
    result = run(GasSpring(T=held(300.0), p=held(FITTING_PRESSURE), **AT_REST), 1e-3)
    assert "self.p * self.V" in result.statistics.initialisation  # named as the one that was not needed


def test_a_fourth_condition_that_contradicts_is_explained() -> None:
    with pytest.raises(ac.AcausalError) as caught:
        ac.compile(GasSpring(T=held(300.0), p=held(1e5), **AT_REST)).simulate(until=1e-3)
    for part in ("contradict", "gas.p = 100000", "gas.T = 300", "piston.x = 0.1", "self.p * self.V"):
        assert part in str(caught.value)


# --- salt basins ------------------------------------------------------------------------------------------------------


def test_outflow_of_the_salt_basins(run: Any, agrees: Any) -> None:
    model = ac.compile(Basins(4))
    assert state_count(model) == 4
    result = run(Basins(4), 5e4)
    xs, rho, v = (np.asarray(result[f"basin.{name}"]) for name in ("xs", "rho", "v"))
    for j in range(1, 4):
        agrees(v[:, j], basin_outflow(xs[:, j], rho[:, j], xs[:, j - 1], rho[:, j - 1], v[:, j - 1]))


def test_salt_basins_come_to_rest_where_the_balances_are_closed() -> None:
    """At rest salt passes unchanged and water is lost: ρ·v falls by the evaporation, c·v stays."""
    rest = ac.compile(Basins(4)).steady_state()
    rho, c, v = (np.asarray(rest[f"basin.{name}"])[0] for name in ("rho", "c", "v"))
    rho0 = 998.0 + 680.0 * 0.03 + 420.0 * 0.03**2
    np.testing.assert_allclose(c * v, rho0 * 0.03 * 2e-3, rtol=1e-7)
    np.testing.assert_allclose(rho * v, rho0 * 2e-3 - 0.1 * np.arange(1, 5), rtol=1e-7)


def test_basins_are_reduced_as_families() -> None:
    """The number of basins changes tables, not code."""
    assert statistics(ac.compile(Basins(3))).kernels == statistics(ac.compile(Basins(30))).kernels


# --- superheater ------------------------------------------------------------------------------------------------------


def test_superheater_in_its_preferred_states(run: Any, agrees: Any) -> None:
    """p and h are preferred, though nowhere differentiated: M and E follow, by the declared derivatives of the density."""
    model = ac.compile(Superheater())
    problem = model.problem
    assert {problem.name_of_unknown(int(k)) for k in np.flatnonzero(problem.differential)} == {"p", "h"}
    result = run(Superheater(), 20.0)
    dp, dh = superheater_rates(*(np.asarray(result[n]) for n in ("p", "h", "mass_rate", "energy_rate")))
    agrees(result["der(p)"], dp)
    agrees(result["der(h)"], dh)
