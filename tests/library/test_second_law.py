"""Whatever the pressures, temperatures and directions: nothing is lost or made of mass and energy, and no entropy is destroyed.

Every component of `fluid` and `refrigeration` that fluid passes is put between reservoirs drawn at random; what stores is looked at
over a while, the rest at an instant.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import acausal as ac
from acausal.library import fluid, refrigeration
from acausal.library.mechanics import rotational
from acausal.library.thermal import PrescribedTemperature, ThermalCollector, ThermalConductor

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
    "LogMeanExchanger": Case(fluid.LogMeanExchanger),
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


def test_a_wrong_component_is_found(wired: Any) -> None:
    """A pipe that cools what passes, and says nothing of it."""

    class Wrong(fluid.Pipe):
        def equations(self) -> Any:
            for k, equation in enumerate(super().equations()):
                yield self.b.h.outflow == self.a.h.inflow - 1.0 if k == 2 else equation

    STATIC["Wrong"] = Case(Wrong)
    try:
        with pytest.raises(AssertionError):
            test_what_passes_keeps_mass_and_energy_and_makes_entropy(wired, "Wrong")
    finally:
        del STATIC["Wrong"]


# --- stores ------------------------------------------------------------------------------------------------------------------


def entropy_of_cells(get: Callable[[str], np.ndarray]) -> np.ndarray:
    M, p, h = (np.atleast_2d(get(name).T).T for name in ("M", "p", "h"))
    return np.sum(M * R134A.state(p=np.broadcast_to(p, h.shape), h=h).s, axis=1)


def entropy_of_walls(get: Callable[[str], np.ndarray], C: float = 2000.0) -> np.ndarray:
    T = get("T_wall_cell")
    return C / T.shape[1] * np.sum(np.log(T), axis=1)


def entropy_of_zones(get: Callable[[str], np.ndarray], pieces: tuple[int, ...], C: float = 2000.0) -> np.ndarray:
    wall = get("wall")
    lengths = np.concatenate([wall, 1 - wall.sum(axis=1, keepdims=True)], axis=1)
    parts = np.repeat(lengths / np.array(pieces), pieces, axis=1)
    return np.sum(C * parts * np.log(get("E") / (C * parts)), axis=1)


@dataclass(frozen=True)
class Store:
    """How it is made, how much entropy and energy it holds, and where heat comes in."""

    make: Callable[[], Any]
    entropy: Callable[[Callable[[str], np.ndarray]], np.ndarray]
    energy: Callable[[Callable[[str], np.ndarray]], np.ndarray]
    heat: str
    parts: int = 0


def inner(get: Callable[[str], np.ndarray]) -> np.ndarray:
    return np.sum(np.atleast_2d(get("U").T).T, axis=1)


def told(get: Callable[[str], np.ndarray]) -> np.ndarray:
    return get("energy")


START = {"charge_start": 0.12, "T_start": 285.0}
STORES: dict[str, Store] = {
    "Volume": Store(lambda: fluid.Volume(2, p_start=6e5, x_start=0.4, V=1e-3), entropy_of_cells, inner, "heat"),
    "DistributedPipe": Store(
        lambda: fluid.DistributedPipe(5, diameter=0.01, p_start=6e5, x_start=0.4), entropy_of_cells, inner, "heat", 5
    ),
    "DistributedPipe of correlations": Store(
        lambda: fluid.DistributedPipe(5, diameter=0.01, p_start=6e5, x_start=0.4, transfer="tube"),
        entropy_of_cells, inner, "heat", 5,
    ),
    "Receiver": Store(lambda: refrigeration.Receiver(**START), entropy_of_cells, inner, "heat"),
    "Accumulator": Store(lambda: refrigeration.Accumulator(**START), entropy_of_cells, inner, "heat"),
    "Separator": Store(lambda: fluid.Separator(), entropy_of_cells, inner, "heat"),
    "Drum": Store(lambda: fluid.Drum(diameter=0.1, length=0.2, p_start=6e5), entropy_of_cells, inner, "heat"),
    "DistributedExchanger": Store(
        lambda: refrigeration.DistributedExchanger(5, **START),
        lambda get: entropy_of_cells(get) + entropy_of_walls(get), told, "air",
    ),
    "DistributedExchanger of correlations": Store(
        lambda: refrigeration.DistributedExchanger(5, "tube", **START),
        lambda get: entropy_of_cells(get) + entropy_of_walls(get), told, "air",
    ),
    "Evaporator": Store(
        lambda: refrigeration.Evaporator(**START),
        lambda get: entropy_of_cells(get) + entropy_of_zones(get, (1, 4)), told, "air",
    ),
    "Condenser": Store(
        lambda: refrigeration.Condenser(**START),
        lambda get: entropy_of_cells(get) + entropy_of_zones(get, (1, 1, 1)), told, "air",
    ),
}  # fmt: skip


def stored(wired: Any, store: Store) -> tuple[Any, list[str]]:
    """A store behind an orifice at each of its ports, beside a body of one temperature."""
    part = store.make()
    names = fluid_ports(part)
    ports = [f"{n}[{k}]" for n in names for k in range(2)] if names == ["ports"] else names
    parts: dict[str, Any] = {"around": PrescribedTemperature(), "part": part}
    joints = []
    for k, port in enumerate(ports):
        parts[f"end{k}"], parts[f"hole{k}"] = fluid.PressureBoundary(medium=R134A), fluid.Orifice(A=2e-6)
        joints += [f"end{k}.port hole{k}.a", f"hole{k}.b part.{port}"]
    if store.parts:
        parts["all"] = ThermalCollector(store.parts)
        joints += [f"part.{store.heat} all.a", "all.b around.port"]
    else:
        parts["between"] = ThermalConductor(G=50.0)
        joints += [f"part.{store.heat} between.a", "between.b around.port"]
    return ac.compile(wired(*joints, **parts)), ports


@pytest.mark.parametrize("name", STORES)
def test_stores_keep_mass_and_energy_and_make_entropy(wired: Any, name: str) -> None:
    """What is held is what came in, and its entropy has grown by no less than came in with it; by trapezoids over many points."""
    store, rng = STORES[name], np.random.default_rng(2)
    model, ports = stored(wired, store)
    for _ in range(4):
        inputs = {"around.T": float(rng.uniform(270.0, 320.0))}
        for k in range(len(ports)):
            inputs |= {f"end{k}.p": float(rng.uniform(3e5, 12e5)), f"end{k}.h": float(rng.uniform(2.2e5, 4.5e5))}
        result = model.simulate(until=60.0, points=12001, inputs=inputs, rtol=1e-7)
        assert result.outcome is ac.Outcome.FINISHED

        def get(quantity: str, result: Any = result) -> np.ndarray:
            return np.asarray(result[f"part.{quantity}"])

        time, heat = result.time, np.asarray(result["around.port.Q_flow"]) * -1.0
        came = np.zeros((3, len(time)))
        for k in range(len(ports)):
            m, p = (np.asarray(result[f"hole{k}.b.{q}"]) * sign for q, sign in (("m_flow", -1.0), ("p", 1.0)))
            h = np.where(m > 0, result[f"hole{k}.b.h.outflow"], result[f"hole{k}.b.h.inflow"])
            came += m * np.stack([np.ones_like(m), h, R134A.state(p=p, h=h).s])
        came[1] += heat
        came[2] += heat / inputs["around.T"]
        total = np.concatenate([np.zeros((3, 1)), np.cumsum((came[:, 1:] + came[:, :-1]) / 2 * np.diff(time), axis=1)], axis=1)
        M = np.sum(np.atleast_2d(get("M").T).T, axis=1)
        U, S = store.energy(get), store.entropy(get)
        passed = np.trapezoid(np.abs(came), time, axis=1)
        assert np.abs(M - M[0] - total[0]).max() < 2e-3 * passed[0]
        assert np.abs(U - U[0] - total[1]).max() < 2e-3 * passed[1]
        made = S - S[0] - total[2]
        assert made.min() > -2e-3 * passed[2], (made.min(), passed[2])


def test_a_chamber_makes_entropy_where_it_mixes(wired: Any) -> None:
    """Liquid, wet and hot vapour come and go; what it holds has a constant mass, and gains ``M·dh/T``."""
    ways, parts = ("common", "one", "two"), {"part": fluid.Chamber(), **{f"hole{k}": fluid.Orifice(A=2e-6) for k in range(3)}}
    ends = {f"end{k}": fluid.PressureBoundary(h=h, medium=R134A) for k, h in enumerate((2.2e5, 3.2e5, 4.4e5))}
    joints = [f"end{k}.port hole{k}.a" for k in range(3)] + [f"hole{k}.b part.{way}" for k, way in enumerate(ways)]
    swings = {f"end{k}.p": ac.data([0.0, 3.0, 6.0, 9.0], [6e5 + 1e5 * ((k + j) % 3) for j in range(4)]) for k in range(3)}
    result = ac.compile(wired(*joints, **parts, **ends)).simulate(until=9.0, points=901, inputs=swings, rtol=1e-9)
    p, h = np.asarray(result["part.common.p"]), np.asarray(result["part.h"])
    made = 1e-3 * np.asarray(result["der(part.h)"]) / R134A.state(p=p, h=h).T
    for way in ways:
        m, comes = (np.asarray(result[f"part.{way}.{q}"]) for q in ("m_flow", "h.inflow"))
        made = made - m * R134A.state(p=p, h=np.where(m > 0, comes, h)).s
    assert made.min() > -1e-6 and made.max() > 1e-2


def test_nothing_that_fluid_passes_is_left_out() -> None:
    """Tanks, chambers, and exchangers in cells for two fluids, of one phase each, have tests of their own."""
    own = {"CellularExchanger", "Chamber", "CrossFlowExchanger", "MeanDensityPipe", "StratifiedTank"}
    for module in (fluid, refrigeration):
        for name in module.__all__:
            found = getattr(module, name)
            if inspect.isclass(found) and issubclass(found, ac.Component) and name not in ("Passage", "Sensor", "MapCompressor"):
                try:
                    ports = fluid_ports(found())
                except ac.AcausalError:
                    continue  # a base of others
                assert len(ports) < 2 or name in STATIC or name in STORES or name in own, name
