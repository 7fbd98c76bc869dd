"""Cold stores drawn at random, and rigs in which exchangers are compared, for benchmarks and tests."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

import acausal as ac
from acausal.library import fluid, refrigeration, thermal
from acausal.library.refrigeration import ColdStore


class OpenAtStandstill(ColdStore):
    """The same without a solenoid: the valve stays open when the compressor stops, and refrigerant moves to the cold side."""

    def connections(self) -> Iterator[Any]:
        run = self.valve.run
        yield from (joint for joint in super().connections() if not any(_is_the_same(end, run) for end in joint))


def _is_the_same(end: Any, state: Any) -> bool:
    """Whether an end of a connection is this state: each time it is asked for, it is another view of it."""
    return isinstance(end, type(state)) and end._reference is state._reference


class InCells(ColdStore):
    """The same with exchangers of 10 cells each."""

    def __init__(self) -> None:
        super().__init__()
        warm: Any = {"T_start": 293.15}
        self.condenser: Any = refrigeration.DistributedExchanger(10, UA=300.0, charge_start=0.35, **warm)
        self.evaporator: Any = refrigeration.DistributedExchanger(10, charge_start=0.05, **warm)


SIZES = {  # parameter: by which factor it varies, as the half width of its logarithm
    "compressor.V_displaced": 0.5,
    "valve.A": 0.7,
    "condenser.V": 0.4,
    "evaporator.V": 0.4,
    "room.UA": 0.7,
    "room.C": 0.5,
    "condenser.C": 0.5,
    "evaporator.C": 0.5,
    "coil.UA_clean": 0.4,
}
CHARGES = ("condenser.charge_start", "receiver.charge_start", "evaporator.charge_start")


def draw(model: Any, rng: np.random.Generator) -> tuple[dict[str, float], dict[str, float]]:
    """Sizes, charge (50 … 150 %, anywhere in the plant), temperatures: what to set, and inputs."""
    values = {name: float(model.get(name)) * float(np.exp(rng.uniform(-width, width))) for name, width in SIZES.items()}
    total = sum(float(model.get(name)) for name in CHARGES) * rng.uniform(0.5, 1.5)
    shares = rng.dirichlet([2.0, 3.0, 1.0])
    T = float(rng.uniform(278.0, 300.0))
    volumes = {"condenser": values["condenser.V"], "receiver": 1e-3, "evaporator": values["evaporator.V"]}
    for (part, volume), share in zip(volumes.items(), shares, strict=True):
        values[f"{part}.charge_start"] = min(total * float(share), 0.9 * 1200.0 * volume)  # no part is filled with liquid
        values[f"{part}.T_start"] = T
    hall = float(rng.uniform(283.0, 308.0))
    return values, {"hall.T": hall, "room.T_out": hall, "condenser.UA": 300.0 * float(np.exp(rng.uniform(-0.4, 0.4)))}


class Rig(ac.Component):
    """An exchanger that is fed with a flow and empties through a valve into a low pressure."""

    def __init__(self, exchanger: Any, area: float, low: float, h: float, T_air: float, medium: str = "R134a") -> None:
        self.exchanger, self.feed = exchanger, fluid.FlowSource(h=h)
        self.outlet, self.low = fluid.Valve(medium=medium, A=area), fluid.PressureBoundary(p=low, x=1.0)
        self.air = thermal.PrescribedTemperature(T=T_air)

    def connections(self) -> Iterator[Any]:
        yield self.feed.port, self.exchanger.a
        yield self.exchanger.b, self.outlet.a
        yield self.outlet.b, self.low.port
        yield self.exchanger.air, self.air.port


REST, HOLD = 1500.0, 400.0  # s until the first step, and from one to the next
RIGS: dict[str, dict[str, Any]] = {
    "evaporator": {
        "rig": {"area": 2.15e-5, "low": 1e5, "h": 2.45e5, "T_air": 280.0},
        "exchanger": {"UA": 150.0, "charge_start": 0.15, "T_start": 270.0},
    },
    "condenser": {
        "rig": {"area": 3.7e-7, "low": 2.5e5, "h": 4.4e5, "T_air": 298.0},
        "exchanger": {"UA": 300.0, "charge_start": 0.5, "T_start": 300.0},
    },
    "overfed": {  # three times what evaporates, 18 K below boiling
        "rig": {"medium": "Ammonia", "area": 3e-5, "low": 2e5, "h": 1.9e5, "T_air": 265.0},
        "exchanger": {"UA": 600.0, "V": 3e-3, "area": 2.0, "C": 4000.0, "charge_start": 0.6, "T_start": 258.0},
    },
}
AT_REST: dict[str, dict[str, float]] = {
    "evaporator": {"feed.m_flow": 0.008, "outlet.opening": 0.7},
    "condenser": {"feed.m_flow": 0.008, "outlet.opening": 0.7},
    "overfed": {"feed.m_flow": 0.02, "outlet.opening": 0.7},
}
STEPS: dict[str, dict[str, tuple[str, list[float]]]] = {
    "evaporator": {
        "flow": ("feed.m_flow", [0.008, 0.012, 0.008, 0.006, 0.008]),
        "valve": ("outlet.opening", [0.7, 0.91, 0.7, 0.56, 0.7]),
        "load": ("air.T", [280.0, 284.0, 280.0, 277.0, 280.0]),
    },
    "condenser": {
        "flow": ("feed.m_flow", [0.008, 0.0095, 0.008, 0.007, 0.008]),
        "valve": ("outlet.opening", [0.7, 0.8, 0.7, 0.63, 0.7]),
        "load": ("air.T", [298.0, 301.0, 298.0, 295.0, 298.0]),
    },
    "overfed": {
        "flow": ("feed.m_flow", [0.02, 0.03, 0.02, 0.015, 0.02]),
        "enthalpy": ("feed.h", [1.9e5, 3.5e5, 1.9e5, 1.4e5, 1.9e5]),
        "load": ("air.T", [265.0, 268.0, 265.0, 263.0, 265.0]),
    },
}


ZONES: dict[str, Any] = {
    "evaporator": partial(refrigeration.Evaporator, "homogeneous"),
    "condenser": partial(refrigeration.Condenser, "homogeneous"),
    "overfed": partial(refrigeration.Evaporator, "homogeneous", zones=3),
}
SHARP: dict[str, float] = {"dp_nominal": 500.0, "dp_small": 5.0, "x_band": 0.003}


def rig(kind: str, cells: int = 0) -> Any:
    """A compiled rig: of moving boundaries, or of cells.

    Zones have one pressure and a heat transfer that changes at once; cells are compared with little friction and little smoothing,
    which else is what the two differ by (charge of the condenser at rest 2.4 %, else 1.6 %).
    """
    said = RIGS[kind]
    more = said["exchanger"]
    if cells:
        exchanger: Any = refrigeration.DistributedExchanger(cells, **SHARP, **more)
    else:
        exchanger = ZONES[kind](**more)
    return ac.compile(Rig(exchanger, **said["rig"]))


def stepped(model: Any, kind: str, what: str) -> Any:
    """The run in which one input goes up, back, down and back, after everything has come to rest."""
    name, values = STEPS[kind][what]
    times, heights = [0.0], [values[0]]
    for k, value in enumerate(values[1:]):
        times += [REST + k * HOLD, REST + k * HOLD + 1.0]
        heights += [heights[-1], value]
    inputs = AT_REST[kind] | {name: (np.array([*times, 1e5]), np.array([*heights, heights[-1]]))}
    return model.simulate(until=REST + 4 * HOLD, inputs=inputs, points=3101, on_failure="keep")
