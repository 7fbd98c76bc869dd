"""A cold store: R134a, moving-boundary exchangers, thermostatic valve, thermostat, door, frost and defrost.

    hall ◄── condenser ──► receiver ──► thermostatic valve ──► evaporator ──► compressor ──► condenser
                                                                  ▲
                          goods ──► air of the room ──► coil with frost     ◄── door, walls

`acausal demo` runs it for a day, and `examples/cold_store.py` shows what can be asked of it.
"""

# mypy: disable-error-code="call-arg"
# Keyword arguments that a component's `__init__` does not name are modifications, which a type checker does not know.

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import acausal as ac

from ..fluid.sensors import SuperheatSensor
from ..thermal import PrescribedTemperature
from .compressors import Compressor
from .expansion import ThermostaticValve
from .moving_boundary import Condenser, Evaporator
from .receivers import Receiver
from .rooms import ColdRoom, DefrostClock, Door, FrostedCoil, Thermostat

CYCLE = ("compressor.a", "compressor.b", "condenser.b", "valve.a", "valve.b")  # the ports that the refrigerant passes


class ColdStore(ac.Component):
    """A room for meat at -1 °C in a hall of 25 °C, with the plant that keeps it cold, and meters of energy."""

    medium = ac.AnyMedium("R134a", doc="the refrigerant")
    W = ac.Variable(start=0.0, fixed=True, unit="J", nominal=1e6, doc="electricity of compressor and heater")
    Q_cold = ac.Variable(start=0.0, fixed=True, unit="J", nominal=1e6, doc="heat taken out of the room")
    E_in = ac.Variable(start=0.0, fixed=True, unit="J", nominal=1e6, doc="all energy that came in, less what went out")

    def __init__(self) -> None:
        warm: Any = {"T_start": 293.15}
        self.compressor = Compressor(medium=self.medium)
        self.condenser = Condenser(UA=300.0, charge_start=0.35, **warm)
        self.receiver = Receiver(charge_start=0.6, **warm)
        self.valve = ThermostaticValve()
        self.evaporator = Evaporator(charge_start=0.05, **warm)
        self.superheat = SuperheatSensor()
        self.hall = PrescribedTemperature(T=298.15)
        self.room, self.coil, self.door = ColdRoom(), FrostedCoil(), Door()
        self.thermostat, self.defrost = Thermostat(), DefrostClock()

    def connections(self) -> Iterator[Any]:
        yield self.compressor.b, self.condenser.a
        yield self.condenser.b, self.receiver.a
        yield self.receiver.b, self.valve.a
        yield self.valve.b, self.evaporator.a
        yield self.evaporator.b, self.superheat.a
        yield self.superheat.b, self.compressor.a
        yield self.superheat.y, self.valve.superheat
        yield self.condenser.air, self.hall.port
        yield self.evaporator.air, self.room.air
        yield self.thermostat.call, self.compressor.run
        yield self.defrost.allow, self.compressor.run
        yield self.thermostat.call, self.valve.run
        yield self.defrost.allow, self.valve.run
        yield self.defrost.allow, self.coil.fans
        yield self.defrost.heat, self.coil.heater
        yield self.room.w, self.coil.w
        yield self.coil.UA, self.evaporator.UA
        yield self.coil.Q, self.evaporator.Q_wall
        yield self.coil.moisture, self.room.moisture
        yield self.door.exchange, self.room.exchange

    def equations(self) -> Iterator[Any]:
        yield self.thermostat.T == self.room.T
        yield self.coil.T_coil == self.evaporator.T_wall
        yield self.defrost.coil == self.evaporator.T_wall
        yield ac.der(self.W) == self.compressor.P + self.coil.P
        yield ac.der(self.Q_cold) == self.evaporator.air.Q_flow
        yield ac.der(self.E_in) == self.compressor.P + self.coil.Q + self.room.Q_in + self.condenser.air.Q_flow
        parts = (self.condenser, self.receiver, self.evaporator)
        self.charge = ac.named(sum(p.charge for p in parts), unit="kg", doc="refrigerant in the plant")
        self.energy = ac.named(sum(p.energy for p in parts) + self.room.energy, unit="J", doc="energy of everything")


def accounts(result: Any) -> tuple[float, float]:
    """How much charge is lost, as a share, and how much energy is unaccounted for, as a share of what went through."""
    charge, stored = np.asarray(result["charge"]), np.asarray(result["energy"] - result["energy"][0])
    drift = np.abs(charge / charge[0] - 1).max()
    return float(drift), float(np.abs(stored - np.asarray(result["E_in"])).max() / result["Q_cold"][-1])


def at_work(result: Any) -> float:
    """A moment at which the cycle has settled: just before the compressor stops for the last time."""
    ran = [s for s in result.states("compressor.run") if s.state == "on" and s.end < float(result.time[-1])]
    return float(ran[-1].end) - 1.0 if ran else float(result.time[-1])
