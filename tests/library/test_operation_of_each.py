"""Every component that fluid passes, from standstill through start-up, reversal and shut-down to a second start, as it comes.

A case is the smallest rig that shows one component with its default parameters: reservoirs, orifices beside what stores, and what
drives it. All begin at rest with equal pressures. Runs finish, mass and energy are accounted for by the meters of
`tests.fuzz.flows`, and without a difference of pressure nothing flows. A public class that is neither in `CASES` nor in
`EXCEPTIONS` fails.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import acausal as ac
from acausal.library import air, fluid, refrigeration
from acausal.library.mechanics import rotational
from acausal.library.thermal import PrescribedTemperature
from tests.fuzz.flow_accounts import accounts, values
from tests.fuzz.flows import FLOW, POWER, Circuit, Clock, Drawn, Medium, Part, ice, layered

EVERY = 60.0  # s: machines are off, on, off, on, off, each for so long
PACES = {
    "gently": (0, 60, 65, 85, 95, 115, 120, 180, 185, 235, 240),
    "at once": (0, 60, 60.02, 90, 90.02, 119.98, 120, 180, 180.02, 239.98, 240),
}
COURSE = (0, 0, 1, 1, -1, -1, 0, 0, 1, 1, 0)  # of the difference of pressure: forth, back, none, forth, none
DRIVEN = (0, 0, 1, 1, 1, 1, 0, 0, 1, 1, 0)  # of speeds and openings
UNTIL, POINTS = 600.0, 601
FIRST, FORTH, BACK, SHUT, AGAIN, END = 50, 84, 114, 178, 230, 600  # points of the result: one a second


@dataclass(frozen=True)
class Line:
    """Ports of a component with a reservoir at each: the first at `p + dp/2` while it is driven forth, the last at `p - dp/2`."""

    ports: str = "a b"
    medium: str = "water"
    p: float = 2e5
    dp: float = 0.2e5
    state: tuple[tuple[str, float], ...] = (("T", 300.0),)
    beside: float = 0.0  # m²: of the orifices between reservoirs and what has a pressure of its own

    def reservoir(self, last: bool) -> Any:
        """The one at the last port is warmer, so that it matters where fluid comes from."""
        state = {name: value + last * WARMER[name] for name, value in self.state}
        return (
            air.Surroundings(**state) if self.medium == "moist air" else fluid.PressureBoundary(medium=medium(self.medium), **state)
        )


AT_SURFACE = float(ac.media.fluid("water").state(p=101325.0, T=293.15).rho)  # of a tank that is filled one metre high
WARMER = {"T": 10.0, "h": 2e4, "x": -0.02, "phi": -0.1}


def medium(name: str) -> Any:
    return ac.media.ideal_gas("N2") if name == "N2" else ac.media.moist_air() if name == "moist air" else ac.media.fluid(name)


@dataclass(frozen=True)
class Case:
    part: Part
    lines: tuple[Line, ...]
    rest: float = 1e-6  # of the largest flow: so much may pass some time after it was shut down
    back: float = -1.0  # the sign of the flow with the pressures exchanged; machines drive on; or BLOCKED
    body: tuple[str, float] | None = None  # a heat port of it, and the temperature of what is there


BLOCKED = -2e-6  # the leak of check valves and turbines
WET = (("h", 3e5),)
DRY = (("x", 1.0),)
TUBE: dict[str, Any] = {"medium": "R134a", "p": 5.717069e5, "dp": 1e5, "state": WET, "beside": 2e-6}
VAPOUR = Line(medium="R134a", p=4e5, dp=-2e5, state=DRY)
STEAM = Line(medium="water", p=10e5, dp=8e5, state=(("T", 650.0),))
AIR = Line(medium="moist air", p=101325.0, dp=60.0, state=(("T", 293.15), ("phi", 0.5)))
HELD: dict[str, Any] = {"mass": ("M",), "energy": ("U",)}
TWO = (Line("a1 b1", dp=1e4, state=(("T", 340.0),)), Line("a2 b2", dp=1e4))


class Finned(ac.Component):
    """An evaporator with its air side."""

    def __init__(self) -> None:
        self.coil, self.tubes = air.FinAndTube(), refrigeration.Evaporator()

    def connections(self) -> Iterator[Any]:
        yield self.coil.air, self.tubes.air
        yield self.coil.UA, self.tubes.UA
        yield self.coil.Q, self.tubes.Q_wall

    def equations(self) -> Iterator[Any]:
        yield self.coil.T_coil == self.tubes.T_wall


def ice_within(result: Any, name: str) -> np.ndarray:
    return ice(result, f"{name}.coil")


def cushion(result: Any, name: str) -> np.ndarray:
    """The work that the gas of an expansion vessel has taken, isothermally: ``p_gas·V·ln(p)``."""
    return 1e5 * 0.01 * np.log(values(result, f"{name}.p"))


def walls(result: Any, name: str) -> np.ndarray:
    """The energy of the wall of a `CellularExchanger`."""
    return 2000.0 / 10 * values(result, f"{name}.wall.T")


def cases() -> dict[str, Case]:
    """A case for each class, by its name."""
    water, cells = Line(), Line(beside=2e-6, state=(("h", 1e5),))
    wet = Line(medium="R134a", p=5e5, dp=1e5, state=WET)
    found = {
        "Orifice": Case(Part(fluid.Orifice()), (water,)),
        "Valve": Case(Part(fluid.Valve(), inputs=("opening",)), (water,)),
        "CheckValve": Case(Part(fluid.CheckValve()), (water,), back=BLOCKED),
        "SolenoidValve": Case(Part(fluid.SolenoidValve(), states={"run": "off on"}), (water,)),
        "Nozzle": Case(Part(fluid.Nozzle()), (Line(medium="N2"),)),
        "ThreeWayValve": Case(Part(fluid.ThreeWayValve(), energy=("U",), inputs=("opening",)), (Line("common b a"),)),
        "Chamber": Case(Part(fluid.Chamber(), energy=("U",)), (Line("common one two", beside=2e-6),)),
        "FourWayValve": Case(
            Part(fluid.FourWayValve(), energy=("U",), states={"mode": "heat cool"}),
            (Line("discharge indoor outdoor suction", "R134a", 5e5, 1e5, DRY),),
        ),
        "Pipe": Case(Part(fluid.Pipe()), (water,)),
        "TwoPhasePipe": Case(Part(fluid.TwoPhasePipe()), (wet,)),
        "DistributedPipe": Case(Part(fluid.DistributedPipe(), exact=False, **HELD), (cells,)),
        "MeanDensityPipe": Case(Part(fluid.MeanDensityPipe(), exact=False, **HELD), (cells,)),
        "PressureSensor": Case(Part(fluid.PressureSensor()), (Line(beside=1e-6),)),
        "TemperatureSensor": Case(Part(fluid.TemperatureSensor()), (Line(beside=1e-6),)),
        "FlowSensor": Case(Part(fluid.FlowSensor()), (Line(beside=1e-6),)),
        "SuperheatSensor": Case(Part(fluid.SuperheatSensor()), (Line(**{**TUBE, "state": DRY}),)),
        "SubcoolingSensor": Case(Part(fluid.SubcoolingSensor()), (Line(**TUBE),)),
        "Volume": Case(Part(fluid.Volume(), **HELD), (Line("ports[0] ports[1]", "R134a", 5e5, 1e5, WET, 2e-6),)),
        "LiquidVolume": Case(
            Part(fluid.LiquidVolume(), exact=False, **HELD), (Line("ports[0] ports[1]", state=(("h", 1e5),), beside=2e-6),)
        ),
        "Separator": Case(Part(fluid.Separator(), **HELD), (Line("inlet liquid vapour", "R134a", 5e5, 1e5, WET, 2e-6),)),
        "Drum": Case(
            Part(fluid.Drum(diameter=0.1, length=0.2, p_start=5e5), **HELD),
            (Line("inlet feed liquid vapour", "R134a", 5e5, 1e5, WET, 2e-6),),
        ),
        "OpenTank": Case(
            Part(fluid.OpenTank(2), **HELD),
            (Line("ports[0] ports[1]", p=101325.0 + AT_SURFACE * 9.80665, dp=4e3, beside=2e-5),),
            rest=1e-4,  # a square metre of water that stands 10 µm too high
        ),
        "StratifiedTank": Case(
            Part(fluid.StratifiedTank(), energy=(layered(lambda: ac.media.fluid("water"), 0.5),), exact=False),
            (Line("a b", beside=1e-4),),
        ),
        "ExpansionVessel": Case(
            Part(fluid.ExpansionVessel(), mass=("M",), energy=("U", cushion), exact=False), (Line("port", p=1.5e5, beside=1e-5),)
        ),
        "HeatExchanger": Case(Part(fluid.HeatExchanger()), TWO),
        "LogMeanExchanger": Case(Part(fluid.LogMeanExchanger()), TWO),
        "PlateExchanger": Case(Part(fluid.PlateExchanger()), TWO),
        "CrossFlowExchanger": Case(Part(fluid.CrossFlowExchanger(), energy=("energy",)), TWO),
        "CellularExchanger": Case(
            Part(
                fluid.CellularExchanger(),
                mass=("one.M", "two.M"),
                energy=("one.U", "two.U", walls),
            ),
            tuple(Line(f"a{k} b{k}", state=(("h", 1e5 * k),), beside=2e-5) for k in (1, 2)),
            rest=1e-3,  # its wall is warm for a while, and fluid expands
        ),
        "Pump": Case(Part(fluid.Pump(), power="P", inputs=("speed",)), (Line(dp=-1e5),), back=1.0),
        "ShaftPump": Case(Part(fluid.ShaftPump(), power="P", shaft=150.0), (Line(dp=-1e5),), back=1.0),
        "Turbine": Case(Part(fluid.Turbine(), power="P", sign=-1.0), (STEAM,), back=BLOCKED),
        "LinneckenTurbine": Case(Part(fluid.LinneckenTurbine(), power="P", sign=-1.0), (STEAM,), back=BLOCKED),
        "ShaftTurbine": Case(Part(fluid.ShaftTurbine(), power="P", sign=-1.0, shaft=1500.0), (STEAM,), back=BLOCKED),
        "TurboCompressor": Case(Part(fluid.TurboCompressor(), power="P", shaft=2500.0), (Line(medium="N2", dp=-0.1e5),), back=1.0),
        "PressureBoundary": Case(Part(fluid.PressureBoundary()), (Line("port", "R134a", 1e5, 0.2e5, WET, 1e-6),)),
        "FlowSource": Case(Part(fluid.FlowSource(m_flow=0.0), inputs=("m_flow",)), (Line("port", "R134a", 2e5, 0.0, WET, 1e-5),)),
        "Closed": Case(Part(fluid.Closed()), (Line("port", beside=1e-6),)),
    }
    return {**found, **of_refrigeration(), **of_air()}


def of_refrigeration() -> dict[str, Case]:
    through, expanding = Line(**TUBE), Line(medium="R134a", p=5e5, dp=4e5, state=(("h", 2.2e5),))
    aired: dict[str, Any] = {"body": ("air", 293.15)}
    of_map = refrigeration.MapCompressor(FLOW, POWER)
    return {
        "Compressor": Case(Part(refrigeration.Compressor(), power="P", states={"run": "off on"}), (VAPOUR,), back=1.0),
        "MapCompressor": Case(Part(of_map, power="P", states={"run": "off on"}), (VAPOUR,), back=1.0),
        "ShaftCompressor": Case(Part(refrigeration.ShaftCompressor(), power="P", shaft=300.0), (VAPOUR,), back=1.0),
        "Capillary": Case(Part(refrigeration.Capillary()), (expanding,)),
        "ElectronicValve": Case(Part(refrigeration.ElectronicValve(), inputs=("opening",)), (expanding,)),
        "ThermostaticValve": Case(Part(refrigeration.ThermostaticValve(), states={"run": "off on"}), (expanding,)),
        "Receiver": Case(Part(refrigeration.Receiver(), **HELD), (through,)),
        "Accumulator": Case(Part(refrigeration.Accumulator(), **HELD), (through,)),
        "Evaporator": Case(Part(refrigeration.Evaporator(), mass=("charge",), energy=("energy",)), (through,), **aired),
        "Condenser": Case(Part(refrigeration.Condenser(), mass=("charge",), energy=("energy",)), (through,), **aired),
        "DistributedExchanger": Case(
            Part(refrigeration.DistributedExchanger(), mass=("charge",), energy=("energy",)), (through,), **aired
        ),
        "InternalExchanger": Case(
            Part(refrigeration.InternalExchanger()),
            (Line("a1 b1", "R134a", 8e5, 1e4, (("h", 2.4e5),)), Line("a2 b2", "R134a", 3e5, 1e4, DRY)),
        ),
    }


def of_air() -> dict[str, Case]:
    damp = Line(**{**AIR.__dict__, "ports": "port"})
    return {
        "Fan": Case(Part(air.Fan(), power="P", inputs=("speed",)), (Line(**{**AIR.__dict__, "dp": -40.0}),), back=1.0),
        "Coil": Case(Part(air.Coil(), mass=("frost",), energy=(ice,), drains="part"), (AIR,), body=("surface", 268.15)),
        "FinAndTube": Case(
            Part(Finned(), mass=("coil.frost", "tubes.charge"), energy=("tubes.energy", ice_within), drains="coil"),
            (Line(**{**AIR.__dict__, "ports": "coil.a coil.b"}), Line(**{**TUBE, "ports": "tubes.a tubes.b"})),
        ),
        "Surroundings": Case(Part(air.Surroundings()), (Line(**{**damp.__dict__, "beside": 0.01}),)),
        "AirFlow": Case(Part(air.AirFlow(m_flow=0.0), inputs=("m_flow",)), (Line(**{**damp.__dict__, "dp": 0.0, "beside": 0.1}),)),
    }


CASES = tuple(cases())
EXCEPTIONS = {
    "Passage": "a base: what is derived from it is in the walk",
    "Throttle": "a base",
    "Sensor": "a base",
    "Displacement": "a base",
    "MovingBoundary": "a base",
    "WetSurface": "a base",
    "ColdRoom": "no fluid passes its ports: it has a balance of air of its own",
    "DisplayCabinet": "as ColdRoom",
    "FrostedCoil": "no fluid passes it: it tells an evaporator its UA",
    "DefrostClock": "has states only",
    "Door": "has states only",
    "Doorway": "has states only",
    "Thermostat": "has states only",
    "ColdStore": "a whole plant, which test_operation.py starts and stops",
}


def test_no_component_is_missing() -> None:
    public = {name for package in (fluid, refrigeration, air) for name in package.__all__}
    classes = {name for name in public if isinstance(c := _public(name), type) and issubclass(c, ac.Component)}
    assert classes - set(CASES) - set(EXCEPTIONS) == set(), "give it a case, or say here why it has none"
    assert (set(CASES) | set(EXCEPTIONS)) - classes == set() and not set(CASES) & set(EXCEPTIONS)


def _public(name: str) -> Any:
    return next(getattr(package, name) for package in (fluid, refrigeration, air) if hasattr(package, name))


def rig(case: Case, times: Sequence[float]) -> Drawn:
    """The circuit of a case, with what it is driven by."""
    drawn, part = Drawn(Circuit()), case.part
    circuit, inputs = drawn.circuit, drawn.inputs
    circuit.add("part", part.component)
    drawn.parts["part"] = ("part", part, Medium("", lambda: None, (0, 0), (0, 0), 1.0, frozenset()))
    if case.body:
        circuit.add("body", PrescribedTemperature(T=case.body[1]))
        circuit._heats.append("body")
        circuit._joints.append(("body.port", f"part.{case.body[0]}"))
    circuit._powers += [(f"part.{part.power}", part.sign)] if part.power else []
    circuit._drains += [part.drains if part.drains == "part" else f"part.{part.drains}"] if part.drains else []
    if case.lines[0].ports == "port" and not part.mass:  # a boundary is an end itself
        circuit._ends.append("part")
    for name in part.inputs:
        course, size = (COURSE, 0.01) if name == "m_flow" else (DRIVEN, 1.0)
        inputs[f"part.{name}"] = ac.data(times, [size * y for y in course], ends="hold")
    for name, states in part.states.items():
        circuit.add(f"clock_{name}", Clock(*states.split(), every=EVERY))
        circuit._joints.append((f"clock_{name}.y", f"part.{name}"))
    if part.shaft:
        circuit.add("shaft", rotational.Speed())
        circuit._joints.append(("shaft.flange", "part.flange"))
        inputs["shaft.w"] = ac.data(times, [part.shaft * y for y in DRIVEN], ends="hold")
    for line in case.lines:
        reservoirs(drawn, line, times)
    return drawn


def reservoirs(drawn: Drawn, line: Line, times: Sequence[float]) -> None:
    """One at each port of a line, behind an orifice where there is one."""
    circuit, ports = drawn.circuit, line.ports.split()
    for share, port in zip(np.linspace(0.5, -0.5, len(ports)) if len(ports) > 1 else (0.5,), ports, strict=True):
        name = f"end{len(circuit._ends)}"
        circuit.add(name, line.reservoir(port is ports[-1]))
        circuit._ends.append(name)
        drawn.inputs[f"{name}.p"] = ac.data(times, [line.p + share * line.dp * y for y in COURSE], ends="hold")
        if line.beside:
            circuit.add(f"{name}_orifice", fluid.Valve(A=line.beside, dp_small=1.0 if line.medium == "moist air" else 100.0))
            circuit._joints += [(f"{name}.port", f"{name}_orifice.a"), (f"{name}_orifice.b", f"part.{port}")]
        else:
            circuit._joints.append((f"{name}.port", f"part.{port}"))


@pytest.mark.parametrize("pace", PACES)
@pytest.mark.parametrize("name", CASES)
def test_it_starts_turns_and_stops(name: str, pace: str) -> None:
    case = cases()[name]
    drawn = rig(case, PACES[pace])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ac.RunWarning)
        result = ac.compile(drawn.circuit).simulate(until=UNTIL, points=POINTS, inputs=drawn.inputs, on_failure="keep")
    said = "; ".join(str(d.what) for d in result.diagnostics)
    assert result.outcome is ac.Outcome.FINISHED, f"{result.time_reached:g} s: {said}"
    assert [*accounts(drawn, result)] == []
    flows = np.array([result[f"{end}.port.m_flow"] for end in drawn.circuit._ends if end != "part"])
    largest = float(np.abs(flows).max())
    assert np.abs(flows[:, FIRST]).max() <= 1e-6 * largest, "without a difference of pressure something flows"
    assert np.abs(flows[:, [SHUT, END]]).max() <= case.rest * largest, "it does not come to rest"
    if name != "Closed":
        turned(case, *(float(flows[0, k]) for k in (FORTH, BACK, AGAIN)))


def turned(case: Case, forth: float, back: float, again: float) -> None:
    """It flows back as far as the component lets it, and forth again as before where nothing is stored."""
    if case.back == BLOCKED:
        assert BLOCKED * abs(forth) <= back / np.sign(forth) < 0
    else:
        assert np.sign(back) == np.sign(case.back * forth)
    if not (case.part.mass or case.part.energy):
        assert again == pytest.approx(forth, rel=1e-2) and abs(forth) > 1e-4


def test_a_component_that_flows_at_rest_is_found() -> None:
    """The walk sees what it is for: an orifice that lets fluid pass without a difference of pressure."""

    class Haunted(fluid.Orifice):
        def equations(self) -> Iterator[Any]:
            yield from fluid.Passage.equations(self)
            yield self.m_flow == 1e-8 * (self.a.p - self.b.p) + 1e-6

    case = Case(Part(Haunted()), (Line(),))
    drawn = rig(case, PACES["gently"])
    result = ac.compile(drawn.circuit).simulate(until=UNTIL, points=POINTS, inputs=drawn.inputs)
    assert abs(result["end0.port.m_flow"][FIRST]) > 1e-6 * np.abs(result["end0.port.m_flow"]).max()
