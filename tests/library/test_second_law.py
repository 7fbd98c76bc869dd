"""Whatever the pressures, temperatures and directions: nothing is lost or made of mass and energy, and no entropy is destroyed.

Every component of `fluid` and `refrigeration` that fluid passes is put between reservoirs drawn at random. `W` is what it says it does
to the fluid; stores are looked at over a while, the rest at an instant.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import acausal as ac
from acausal.library import fluid, refrigeration, thermal
from acausal.library.mechanics import rotational

R134A = ac.media.fluid("R134a")
CASES = 14
WET, GAS, LIQUID = (2.1e5, 4.6e5), (4.25e5, 4.7e5), (2.0e5, 2.15e5)  # J/kg
FLOW, POWER = [8e-3, *[0.0] * 9], [500.0, *[0.0] * 9]


@dataclass(frozen=True)
class Case:
    """How a component is made, what flows, where the power it puts in stands, and which joints it needs besides its fluid ports."""

    make: Callable[[], Any]
    enthalpies: tuple[float, float] = WET
    power: str = ""
    sign: float = 1.0
    ends: str = "pressure"  # "flow": the second port is given a flow
    heat: str = ""
    shaft: bool = False


STATIC: dict[str, Case] = {
    "Pipe": Case(lambda: fluid.Pipe(length=5.0, height=0.0, diameter=0.01)),
    "TwoPhasePipe": Case(fluid.TwoPhasePipe),
    "Orifice": Case(fluid.Orifice),
    "Valve": Case(lambda: fluid.Valve("equal percentage", opening=0.4)),
    "CheckValve": Case(fluid.CheckValve),
    "SolenoidValve": Case(fluid.SolenoidValve),
    "Nozzle": Case(fluid.Nozzle, GAS),
    "PressureSensor": Case(fluid.PressureSensor, ends="flow"),
    "TemperatureSensor": Case(fluid.TemperatureSensor, ends="flow"),
    "FlowSensor": Case(fluid.FlowSensor, ends="flow"),
    "SuperheatSensor": Case(fluid.SuperheatSensor, ends="flow"),
    "SubcoolingSensor": Case(fluid.SubcoolingSensor, ends="flow"),
    "Pump": Case(lambda: fluid.Pump(V_nominal=1e-5), LIQUID, "P"),
    "Fan": Case(lambda: fluid.Fan(V_nominal=1e-3, dp_nominal=1e4), GAS, "P"),
    "Turbine": Case(lambda: fluid.Turbine(K=1e-6), GAS, "P", -1.0),
    "LinneckenTurbine": Case(lambda: fluid.LinneckenTurbine(K=1e-6), GAS, "P", -1.0),
    "ShaftTurbine": Case(lambda: fluid.ShaftTurbine(K=1e-6), GAS, "P", -1.0, shaft=True),
    "ShaftPump": Case(lambda: fluid.ShaftPump(V_nominal=1e-5), LIQUID, "P", shaft=True),
    "TurboCompressor": Case(fluid.TurboCompressor, GAS, "P", shaft=True),
    "ShaftCompressor": Case(refrigeration.ShaftCompressor, GAS, "P", shaft=True),
    "Compressor": Case(refrigeration.Compressor, GAS, "P"),
    "MapCompressor": Case(lambda: refrigeration.MapCompressor(FLOW, POWER), GAS, "P"),
    "ThermostaticValve": Case(refrigeration.ThermostaticValve),
    "ElectronicValve": Case(refrigeration.ElectronicValve),
    "Capillary": Case(refrigeration.Capillary),
    "ThreeWayValve": Case(lambda: fluid.ThreeWayValve(opening=0.3)),
    "FourWayValve": Case(fluid.FourWayValve),
    "HeatExchanger": Case(fluid.HeatExchanger, GAS),
    "PlateExchanger": Case(fluid.PlateExchanger, GAS),
    "InternalExchanger": Case(refrigeration.InternalExchanger),
}


def fluid_ports(part: Any) -> list[str]:
    return [name for name, port in part._all_declared().items() if type(port).__name__ == "FluidPort"]


def placed(wired: Any, case: Case) -> tuple[Any, list[str]]:
    """The component between reservoirs, one at each of its ports."""
    part = case.make()
    ports, joints, ends = fluid_ports(part), [], {}
    for k, port in enumerate(ports):
        given = case.ends == "flow" and k == 1
        ends[f"end{k}"] = fluid.FlowSource(m_flow=0.01) if given else fluid.PressureBoundary()
        joints.append(f"end{k}.port part.{port}")
    if case.shaft:
        ends["shaft"] = rotational.Speed()
        joints.append("shaft.flange part.flange")
    for end in ends.values():
        if isinstance(end, (fluid.FlowSource, fluid.PressureBoundary)):
            end.medium = R134A
    return ac.compile(wired(*joints, part=part, **ends)), ports


def drawn(rng: np.random.Generator, case: Case, ports: list[str], k: int) -> dict[str, float]:
    """Inputs: pressures 3 … 12 bar that are equal now and then, enthalpies of the kind of fluid."""
    pressures = rng.uniform(3e5, 12e5, len(ports))
    if k % 4 == 0:
        pressures[:] = pressures[0]  # at rest
    if k % 4 == 1:
        pressures = np.sort(pressures)[::-1]
    values: dict[str, float] = {}
    for j, p in enumerate(pressures):
        low, high = case.enthalpies
        values[f"end{j}.h"] = float(rng.uniform(low, high))
        if case.ends == "flow" and j == 1:
            values[f"end{j}.m_flow"] = float(rng.choice([-0.02, 0.0, 0.02]))
        else:
            values[f"end{j}.p"] = float(p)
    if case.shaft:
        values["shaft.w"] = float(rng.choice([0.0, 50.0, 150.0, 300.0]))
    return values


def flows(result: Any, ports: list[str], at: int = 0) -> np.ndarray:
    """m, h and s of what passes each port."""
    rows = []
    for port in ports:
        m, p = (float(result[f"part.{port}.{q}"][at]) for q in ("m_flow", "p"))
        h = float(result[f"part.{port}.h.{'inflow' if m > 0 else 'outflow'}"][at])
        rows.append((m, h, float(R134A.state(p=p, h=h).s)))
    return np.array(rows)


STARTS = {"Compressor": {"part.speed": 1.0}, "MapCompressor": {"part.speed": 1.0}, "FourWayValve": {"part.slide": 0.4}}


@pytest.mark.parametrize("name", STATIC)
def test_what_passes_keeps_mass_and_energy_and_makes_entropy(wired: Any, name: str) -> None:
    case, rng = STATIC[name], np.random.default_rng(5)
    model, ports = placed(wired, case)
    for k in range(CASES):
        result = model.simulate(until=1e-6, points=2, inputs=drawn(rng, case, ports, k), set=STARTS.get(name, {}))
        m, h, s = flows(result, ports).T
        power = case.sign * float(result[f"part.{case.power}"][0]) if case.power else 0.0
        size = np.abs(m).sum() + 1e-12
        assert abs(m.sum()) <= 1e-12 * size
        assert abs((m * h).sum() + power) <= 1e-9 * (size * 4e5 + abs(power)), (k, m, h, power)
        assert -(m * s).sum() >= -1e-8 * size * 1e3, (k, m, s)
        assert np.all(np.isfinite(h))
