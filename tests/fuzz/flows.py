"""Random circuits of what fluid passes and what stores it, in which pressures swing, valves close and machines stop.

A line goes from one reservoir to another through passages and stores drawn from `library.fluid`, `library.refrigeration` and
`library.air`; exchangers join two lines of different media. A run has to finish, mass and energy have to be accounted for, nothing
that fluid passes without being stored may destroy entropy, and where the run has come to rest, `steady_state` finds the same point.

Lines of two phases have no exchangers between two fluids.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

import acausal as ac
from acausal.library import air, fluid, refrigeration
from acausal.library.mechanics import rotational
from acausal.library.thermal import PrescribedTemperature, ThermalCollector, ThermalConductor

from .flow_accounts import accounts, at_rest, between, entropy, explained, hammered, values

RNG = np.random.Generator
HOT = ("steam", "water", "nitrogen")  # media that steam may heat
UNTIL, CHANGES, POINTS = 900.0, 400.0, 181
STEPS = 400_000  # hundreds of times what a circuit without waves takes
MELTING = 333.4e3  # J/kg
FLOW = (8e-3, 2e-4, -3e-5, 2e-6, 1e-6, -2e-7, 0.0, 0.0, 0.0, 0.0)  # kg/s, over °C
POWER = (300.0, -4.0, 8.0, 0.0, 0.1, 0.05, 0.0, 0.0, 0.0, 0.0)  # W


@dataclass(frozen=True)
class Medium:
    """A medium with the pressures, temperatures and the flow of plants that use it."""

    name: str
    make: Callable[[], Any]
    p: tuple[float, float]
    T: tuple[float, float]
    m: float
    kinds: frozenset[str]


@cache
def _media() -> dict[str, Medium]:
    nitrogen = lambda: ac.media.ideal_gas("N2")  # noqa: E731
    found = (
        Medium("water", lambda: ac.media.fluid("water"), (1.5e5, 6e5), (285.0, 360.0), 0.3, frozenset({"liquid"})),
        Medium("steam", lambda: ac.media.fluid("water"), (2e5, 15e5), (480.0, 620.0), 0.05, frozenset({"gas", "wet"})),
        Medium("nitrogen", nitrogen, (1e5, 4e5), (300.0, 370.0), 0.03, frozenset({"gas"})),
        Medium("R134a", lambda: ac.media.fluid("R134a"), (1.2e5, 14e5), (255.0, 330.0), 0.01, frozenset({"wet", "gas"})),
        Medium("CO2", lambda: ac.media.fluid("CO2"), (20e5, 105e5), (265.0, 320.0), 0.02, frozenset({"wet", "gas"})),
        Medium("brine", lambda: ac.media.liquid("ethylene glycol", 0.3), (1.5e5, 4e5), (265.0, 310.0), 0.3, frozenset({"stiff"})),
        Medium("moist air", ac.media.moist_air, (1.005e5, 1.02e5), (262.0, 308.0), 0.4, frozenset({"moist"})),
    )
    return {medium.name: medium for medium in found}


Stored = Callable[[Any, str], np.ndarray]  # the energy of a part by a result and its name


def ice(result: Any, name: str) -> np.ndarray:
    """The energy of the frost on a coil."""
    return -MELTING * values(result, f"{name}.frost")


def layered(medium: Callable[[], Any], V: float) -> Stored:
    """The energy of a `StratifiedTank`: its states are temperatures, of layers with the heat capacity ``V/n·rho·cp`` at 2 bar."""

    def energy(result: Any, name: str) -> np.ndarray:
        T = np.asarray(result[f"{name}.T"], dtype=float)
        grid = np.linspace(T.min() - 1.0, T.max() + 1.0, 60)
        state = medium().state(p=2e5, T=grid)
        capacity = np.broadcast_to(np.asarray(state.rho * state.cp, dtype=float), grid.shape)
        content = np.polynomial.Chebyshev.fit(grid, capacity, 10).integ()
        return np.asarray(V / T.shape[1] * content(T).sum(axis=1))

    return energy


@dataclass
class Part:
    """A component of a line: its way in and out, what it holds, and what it gets besides fluid."""

    component: Any
    way: tuple[str, str] = ("a", "b")
    mass: tuple[str, ...] = ()
    energy: tuple[str | Stored, ...] = ()
    power: str = ""
    sign: float = 1.0
    heat: str = ""
    cells: int = 0
    states: dict[str, str] = field(default_factory=dict)  # inputs that are states, with their two values
    inputs: tuple[str, ...] = ()  # inputs between 0 and 1 that are moved
    shaft: float = 0.0
    others: tuple[str, ...] = ()  # ports that go to reservoirs of their own
    exact: bool = True  # whether what it holds is conserved to rounding
    drains: str = ""


def size(rng: RNG, medium: Medium, dp: float = 0.3e5) -> float:
    """An effective area for the flow of the medium."""
    rho = float(medium.make().state(p=medium.p[1], T=medium.T[0], **({"phi": 0.4} if medium.name == "moist air" else {})).rho)
    if medium.name == "moist air":
        dp = 50.0
    elif "wet" in medium.kinds:
        dp = 0.3 * medium.p[1]
    return float(medium.m / np.sqrt(2 * rho * dp) * rng.uniform(0.3, 3.0))


Maker = Callable[[RNG, Medium], Part]


def _small(medium: Medium) -> float:
    return 1.0 if medium.name == "moist air" else 500.0


def passages(medium: Medium) -> dict[str, Maker]:
    """What stands between stores of a medium."""
    small: Any = {"dp_small": _small(medium)}
    d = {"liquid": 0.02, "stiff": 0.02, "moist": 0.3}.get(min(medium.kinds), 0.004)
    found: dict[str, Maker] = {
        "orifice": lambda r, m: Part(fluid.Orifice(A=size(r, m), **small)),
        "valve": lambda r, m: Part(fluid.Valve(A=size(r, m), leak=1e-6, **small), inputs=("opening",)),
        "equal": lambda r, m: Part(fluid.Valve("equal percentage", A=2 * size(r, m), leak=1e-6, **small), inputs=("opening",)),
        "check": lambda r, m: Part(fluid.CheckValve(A=size(r, m), dp_open=2 * _small(m), **small)),
        "solenoid": lambda r, m: Part(fluid.SolenoidValve(A=size(r, m), **small), states={"run": "on off"}),
        "pipe": lambda r, m: Part(
            fluid.Pipe(
                str(r.choice(["churchill", "blasius"])), length=float(r.uniform(1, 30)), diameter=d, zeta=float(r.uniform(0, 3))
            )
        ),
        "three ways": lambda r, m: Part(
            fluid.ThreeWayValve(A=size(r, m), **small), ("common", "a"), energy=("U",), inputs=("opening",), others=("b",)
        ),
        "sensor": lambda r, m: Part(fluid.TemperatureSensor()),
    }
    if "liquid" in medium.kinds or "stiff" in medium.kinds:
        V = 1e-3 * medium.m
        found["pump"] = lambda r, m: Part(
            fluid.Pump(V_nominal=float(V * r.uniform(0.5, 3)), dp_nominal=1e5), power="P", inputs=("speed",)
        )
    if "liquid" in medium.kinds:
        found["shaft pump"] = lambda r, m: Part(fluid.ShaftPump(V_nominal=1e-3 * m.m), power="P", shaft=150.0)
    if "gas" in medium.kinds:
        found["nozzle"] = lambda r, m: Part(fluid.Nozzle(A=0.7 * size(r, m), kappa=1.3))
        found["turbine"] = lambda r, m: Part(fluid.Turbine(K=size(r, m)), power="P", sign=-1.0)
        found["Linnecken"] = lambda r, m: Part(fluid.LinneckenTurbine(K=size(r, m)), power="P", sign=-1.0)
        found["shaft turbine"] = lambda r, m: Part(fluid.ShaftTurbine(K=size(r, m)), power="P", sign=-1.0, shaft=1500.0)
        found["turbo"] = lambda r, m: Part(fluid.TurboCompressor(diameter=0.06), power="P", shaft=2500.0)
        found["four ways"] = lambda r, m: Part(
            fluid.FourWayValve(A=size(r, m), **small), ("discharge", "suction"), energy=("U",), others=("indoor", "outdoor"),
            states={"mode": "heat cool"},
        )  # fmt: skip
    if "wet" in medium.kinds:
        found["two-phase pipe"] = lambda r, m: Part(
            fluid.TwoPhasePipe(str(r.choice(["mueller-steinhagen-heck", "lockhart-martinelli", "homogeneous"])), length=3.0)
        )
        found["capillary"] = lambda r, m: Part(refrigeration.Capillary(diameter=float(r.uniform(8e-4, 3e-3)), **small))
        found["electronic"] = lambda r, m: Part(refrigeration.ElectronicValve(A=size(r, m), **small), inputs=("opening",))
        found["thermostatic"] = lambda r, m: Part(
            refrigeration.ThermostaticValve(A=2 * size(r, m), **small), states={"run": "on off"}
        )
    if medium.name in ("R134a", "CO2"):
        V = 20e-6 if medium.name == "R134a" else 4e-6
        found["compressor"] = lambda r, m: Part(
            refrigeration.Compressor(V_displaced=float(V * r.uniform(0.5, 3))),
            power="P",
            states={"run": "on off"},
            inputs=("capacity",),
        )
        found["shaft compressor"] = lambda r, m: Part(refrigeration.ShaftCompressor(V_displaced=V), power="P", shaft=300.0)
    if medium.name == "R134a":
        found["map"] = lambda r, m: Part(refrigeration.MapCompressor(FLOW, POWER), power="P", states={"run": "on off"})
    if "moist" in medium.kinds:
        found["fan"] = lambda r, m: Part(air.Fan(V_nominal=float(r.uniform(0.1, 1.0))), power="P", inputs=("speed",))
        found["coil"] = lambda r, m: Part(air.Coil(), heat="surface", drains="drained", mass=("frost",), energy=(ice,))
    return found


def _layers(rng: RNG, medium: Medium) -> Part:
    tank = fluid.StratifiedTank(int(rng.integers(2, 9)), V=0.02)
    return Part(tank, energy=(layered(medium.make, 0.02),), heat="ambient", exact=False)


def stores(medium: Medium) -> dict[str, Maker]:
    """What holds a medium, started somewhere in its range."""
    m0 = medium.m

    def start(r: RNG) -> dict[str, float]:
        return {"p_start": _pressure(r, medium), "T_start": float(r.uniform(*medium.T))}

    def volume(r: RNG, kind: Any, **more: Any) -> Part:
        count = 3 if r.random() < 0.3 else 2
        made = kind(count, V=float(m0 * r.uniform(0.02, 0.5)), **start(r), **more)
        others = ("ports[2]",) if count == 3 else ()
        return Part(made, ("ports[0]", "ports[1]"), ("M",), ("U",), heat="heat", others=others, exact=kind is fluid.Volume)

    found: dict[str, Maker] = {}
    if "moist" in medium.kinds:
        found["volume"] = lambda r, m: Part(
            fluid.Volume(2, [0.004], V=float(r.uniform(0.5, 20.0)), p_start=1.013e5, T_start=float(r.uniform(270, 300))),
            ("ports[0]", "ports[1]"), ("M",), ("U",), heat="heat",
        )  # fmt: skip
        return found
    if "stiff" in medium.kinds:
        return {"stratified": _layers}
    if "liquid" in medium.kinds:
        found["liquid"] = lambda r, m: volume(r, fluid.LiquidVolume)
        found["open tank"] = lambda r, m: Part(
            fluid.OpenTank(2, area=0.3, height=40.0, level_start=float(r.uniform(3, 12))), ("ports[0]", "ports[1]"), ("M",), ("U",),
            heat="heat",
        )  # fmt: skip
        found["stratified"] = _layers
    else:
        found["volume"] = lambda r, m: volume(r, fluid.Volume)
    if medium.name != "nitrogen":
        found["mean density"] = lambda r, m: Part(
            fluid.MeanDensityPipe(3, length=5.0, m_nominal=m0, **start(r)),
            mass=("M",),
            energy=("U",),
            heat="heat",
            cells=3,
            exact=False,
        )
    states = "mass" if "wet" in medium.kinds else "pressure"
    found["cells"] = lambda r, m: Part(
        fluid.DistributedPipe(
            3, str(r.choice(["static", "dynamic"])), transfer=str(r.choice(["constant", "tube"])), states=states, **start(r)
        ),
        mass=("M",), energy=("U",), heat="heat", cells=3, exact=states == "mass",
    )  # fmt: skip
    if "wet" in medium.kinds:
        level = {"p_start": medium.p[0] * 2, "V": 0.3 * m0}
        found["separator"] = lambda r, m: Part(
            fluid.Separator(level_start=float(r.uniform(0.05, 0.95)), **level), ("inlet", "vapour"), ("M",), ("U",), heat="heat",
            others=("liquid",),
        )  # fmt: skip
    if medium.name in ("R134a", "CO2"):
        V = 1e-3

        def charged(r: RNG, kind: Any, *more: Any, sized: float = V) -> dict[str, Any]:
            state = medium.make().state(T=float(r.uniform(265, 298)), x=float(r.uniform(0.05, 0.9)))
            return {"V": sized, "charge_start": float(sized * state.rho), "T_start": float(state.T)}

        for name, kind in (("receiver", refrigeration.Receiver), ("accumulator", refrigeration.Accumulator)):
            found[name] = lambda r, m, k=kind: Part(k(**charged(r, k), m_nominal=m0), ("a", "b"), ("M",), ("U",), heat="heat")
        found["exchanger"] = lambda r, m: Part(
            refrigeration.DistributedExchanger(4, str(r.choice(["constant", "tube"])), **charged(r, None)),
            mass=("M",), energy=("energy",), heat="air",
        )  # fmt: skip
        if medium.name == "R134a":
            for name, zoned in (("evaporator", refrigeration.Evaporator), ("condenser", refrigeration.Condenser)):
                found[name] = lambda r, m, k=zoned: Part(k(**charged(r, k)), mass=("charge",), energy=("energy",), heat="air")
    return found


def joined(one: Medium, two: Medium) -> dict[str, Callable[[RNG], Any]]:
    """Exchangers between a line of one medium and a line of another."""
    m = {"m_nominal": max(one.m, two.m), "dp_nominal": 30.0 if "moist" in one.kinds | two.kinds else 2e4}
    return {
        "mean": lambda r: fluid.LogMeanExchanger(str(r.choice(["counter", "co"])), UA=float(r.uniform(100, 3000)), **m),
        "effectiveness": lambda r: fluid.HeatExchanger(
            str(r.choice(["counter", "co", "cross"])), UA=float(r.uniform(100, 3000)), **m
        ),
        "plate": lambda r: fluid.PlateExchanger(**m),
        "cross": lambda r: fluid.CrossFlowExchanger(3, **m),
    }


def _pressure(rng: RNG, medium: Medium) -> float:
    return float(np.exp(rng.uniform(*np.log(medium.p))))


class Clock(ac.Component):
    """One of two states, changing every so often, and the first from the end of changes on."""

    every = ac.Parameter(60.0)
    y: Any

    def __init__(self, first: str, second: str) -> None:
        self.names = first, second
        self.y = ac.OutputStates(first, second, initial=first)

    def transitions(self) -> Iterator[Any]:
        first, second = self.names
        yield getattr(self.y, first).to(second, when=ac.sample(self.every, 2 * self.every) & (ac.time < CHANGES))
        yield getattr(self.y, second).to(first, when=ac.sample(2 * self.every, 2 * self.every))


class Circuit(ac.Component):
    """Parts with joints, and meters of what comes in."""

    M_in, E_in = (ac.Variable(start=0.0, fixed=True, nominal=v) for v in (0.1, 1e4))
    M_through = ac.Variable(start=0.0, fixed=True, nominal=0.1)

    def __init__(self) -> None:
        self._joints: list[tuple[str, ...]] = []
        self._ends: list[str] = []
        self._heats: list[str] = []
        self._powers: list[tuple[str, float]] = []
        self._drains: list[str] = []

    def add(self, name: str, part: Any) -> None:
        setattr(self, name, part)

    def connections(self) -> Iterator[Any]:
        for joint in self._joints:
            yield tuple(reach(self, path) for path in joint)

    def equations(self) -> Iterator[Any]:
        ports = [reach(self, end).port for end in self._ends]
        m = [-port.m_flow for port in ports]
        H = [-port.m_flow * port.h.actual for port in ports]
        Q = [-reach(self, heat).port.Q_flow for heat in self._heats]
        P = [sign * reach(self, power) for power, sign in self._powers]
        lost = [reach(self, coil).drained for coil in self._drains]
        drops = [reach(self, coil).drops for coil in self._drains]
        yield ac.der(self.M_in) == sum(m) - sum(lost)
        yield ac.der(self.E_in) == sum(H) + sum(Q) + sum(P) - sum(drops)
        yield ac.der(self.M_through) == sum(ac.no_event(ac.abs(x)) for x in m)


def reach(component: Any, path: str) -> Any:
    for name in path.split("."):
        name, _, index = name.partition("[")
        component = getattr(component, name)
        if index:
            component = component[int(index.rstrip("]"))]
    return component


@dataclass
class Drawn:
    """A circuit with what moves in it, and what to ask it."""

    circuit: Circuit
    inputs: dict[str, Any] = field(default_factory=dict)
    parts: dict[str, tuple[str, Part, Medium]] = field(default_factory=dict)
    exchangers: dict[str, tuple[str, Medium, Medium]] = field(default_factory=dict)
    count: int = 0

    def name(self) -> str:
        self.count += 1
        return f"x{self.count}"

    def told(self) -> str:
        parts = ", ".join(f"{name} {kind} ({medium.name})" for name, (kind, _, medium) in self.parts.items())
        exchangers = {name: (kind, one.name, two.name) for name, (kind, one, two) in self.exchangers.items()}
        return f"{parts}; {exchangers}; joints {self.circuit._joints}"


def profile(rng: RNG, draw: Callable[[], float]) -> Any:
    """Values that stay, or go from one to the next within the first part of the run."""
    if rng.random() < 0.3:
        return draw()
    times = np.cumsum(rng.uniform(5.0, 60.0, 6))
    values = [draw() for _ in range(3)]
    steps = [values[0], values[0], values[1], values[1], values[2], values[2]]
    return ac.data(np.concatenate([[0.0], times]), [steps[0], *steps], ends="hold")


def generate(seed: int) -> Drawn:
    rng = np.random.default_rng(seed)
    drawn, media = Drawn(Circuit()), _media()
    one = media[str(rng.choice(list(media)))]
    beside = [name for name in media if (name == "steam") <= (one.name in HOT) and (one.name == "steam") <= (name in HOT)]
    beside = [name for name in beside if "wet" not in media[name].kinds | one.kinds]
    two = media[str(rng.choice(beside))] if beside and rng.random() < 0.5 else None
    exchanger = ""
    if two is not None:
        exchanger = drawn.name()
        kinds = joined(one, two)
        kind = str(rng.choice(list(kinds)))
        drawn.circuit.add(exchanger, kinds[kind](rng))
        drawn.exchangers[exchanger] = (kind, one, two)
    line(rng, drawn, one, (f"{exchanger}.a1", f"{exchanger}.b1") if exchanger else None)
    if two is not None:
        line(rng, drawn, two, (f"{exchanger}.a2", f"{exchanger}.b2"))
    return drawn


def end(rng: RNG, drawn: Drawn, medium: Medium) -> str:
    """A reservoir whose pressure swings, or a flow that turns."""
    name = drawn.name()
    T = float(rng.uniform(*medium.T))
    if medium.name == "moist air":
        part: Any = air.Surroundings(T=T, phi=float(rng.uniform(0.2, 0.95)))
        drawn.inputs[f"{name}.p"] = profile(rng, lambda: float(rng.uniform(1.0125e5, 1.014e5)))
    else:
        more = {} if "wet" not in medium.kinds or medium.name == "steam" or rng.random() < 0.5 else {"x": float(rng.uniform(0, 1))}
        if medium.name == "CO2" or not more:
            more = {"T": T}
        part = fluid.PressureBoundary(medium=medium.make(), **more)
        drawn.inputs[f"{name}.p"] = profile(rng, lambda: _pressure(rng, medium))
    drawn.circuit.add(name, part)
    drawn.circuit._ends.append(name)
    return f"{name}.port"


def place(rng: RNG, drawn: Drawn, medium: Medium, kind: str, part: Part) -> tuple[str, str]:
    """Put a part into the circuit with all it needs, and give the two ports of its way, turned round now and then."""
    name, circuit = drawn.name(), drawn.circuit
    circuit.add(name, part.component)
    drawn.parts[name] = (kind, part, medium)
    if part.power:
        circuit._powers.append((f"{name}.{part.power}", part.sign))
    if part.drains:
        circuit._drains.append(name)
    if part.shaft:
        shaft = drawn.name()
        circuit.add(shaft, rotational.Speed())
        circuit._joints.append((f"{shaft}.flange", f"{name}.flange"))
        drawn.inputs[f"{shaft}.w"] = profile(rng, lambda: float(part.shaft * rng.choice([0.0, 0.1, 0.5, 1.0])))
    for port in part.inputs:
        drawn.inputs[f"{name}.{port}"] = profile(rng, lambda: float(rng.choice([0.0, 0.0, 0.02, 0.3, 1.0])))
    for port, names in part.states.items():
        clock = drawn.name()
        circuit.add(clock, Clock(*names.split(), every=float(rng.uniform(20, 100))))
        circuit._joints.append((f"{clock}.y", f"{name}.{port}"))
    if part.heat:
        around(rng, drawn, medium, name, part)
    for port in part.others:
        inner = draw_part(rng, passages(medium), medium, drawn, plain=True)
        circuit._joints += [(f"{name}.{port}", inner[0]), (inner[1], end(rng, drawn, medium))]
    ends = tuple(f"{name}.{port}" for port in part.way)
    return (ends[1], ends[0]) if rng.random() < 0.2 and not part.power else ends


def around(rng: RNG, drawn: Drawn, medium: Medium, name: str, part: Part) -> None:
    """A body of some temperature beside a wall."""
    body, circuit = drawn.name(), drawn.circuit
    circuit.add(body, PrescribedTemperature())
    drawn.inputs[f"{body}.T"] = profile(rng, lambda: float(rng.uniform(*medium.T)))
    circuit._heats.append(body)
    between = drawn.name()
    if part.cells:
        circuit.add(between, ThermalCollector(part.cells))
        circuit._joints += [(f"{name}.{part.heat}", f"{between}.a"), (f"{between}.b", f"{body}.port")]
    else:
        circuit.add(between, ThermalConductor(G=float(rng.uniform(1.0, 80.0))))
        circuit._joints += [(f"{name}.{part.heat}", f"{between}.a"), (f"{between}.b", f"{body}.port")]


def draw_part(rng: RNG, kinds: dict[str, Maker], medium: Medium, drawn: Drawn, plain: bool = False) -> tuple[str, str]:
    names = ["orifice", "valve", "pipe"] if plain else [k for k in kinds if k not in ("sensor",)]
    kind = str(rng.choice(names))
    return place(rng, drawn, medium, kind, kinds[kind](rng, medium))


def line(rng: RNG, drawn: Drawn, medium: Medium, way: tuple[str, str] | None) -> None:
    """From one reservoir to another: passages, and stores between them; the two ports of an exchanger stand somewhere in it."""
    between, holding = passages(medium), stores(medium)
    count = int(rng.integers(1, 4))
    at = int(rng.integers(0, count)) if way else -1
    joints = drawn.circuit._joints
    last = end(rng, drawn, medium)
    for k in range(count):
        first, second = draw_part(rng, between, medium, drawn)
        joints.append((last, first))
        last = second
        if k == at and way is not None:
            inside = draw_part(rng, holding, medium, drawn) if rng.random() < 0.7 else None
            if inside:
                joints.append((last, inside[0]))
                last = inside[1]
            joints.append((last, way[0]))
            last = way[1]
        elif k < count - 1 and rng.random() < 0.85:
            first, second = draw_part(rng, holding, medium, drawn)
            joints.append((last, first))
            last = second
    if rng.random() < 0.8 or at == count - 1:
        first, second = draw_part(rng, holding, medium, drawn)
        joints.append((last, first))
        first, last = draw_part(rng, between, medium, drawn, plain=True)
        joints.append((second, first))
    joints.append((last, end(rng, drawn, medium)))


def check(seed: int) -> str:
    drawn = generate(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ac.RunWarning)
        warnings.simplefilter("ignore", ac.ModelWarning)
        model = ac.compile(drawn.circuit)
        result = model.simulate(until=UNTIL, points=POINTS, inputs=drawn.inputs, on_failure="keep", max_steps=STEPS)
        if not result.outcome and not hammered(drawn, result):
            if explained(drawn, result):
                return "run"
            said = "; ".join(str(d.what) for d in result.diagnostics)
            return f"{result.outcome.name} at {result.time_reached:g} s: {said}\n{drawn.told()}"
        wrong = [
            *accounts(drawn, result),
            *entropy(drawn, result),
            *between(drawn, result),
            *(at_rest(drawn, model, result) if result.outcome else ()),
        ]
    return "\n".join([*wrong, drawn.told()]) if wrong else "run"
