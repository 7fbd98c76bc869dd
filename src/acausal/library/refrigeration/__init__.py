"""Refrigeration: compressors, moving-boundary exchangers, expansion valves, receivers, cold rooms with their controls.

`ColdStore` puts them together; `acausal demo` runs it, `examples/cold_store.py` shows what can be asked of it.
"""

from __future__ import annotations

from .cabinets import DisplayCabinet
from .cold_store import ColdStore
from .compressors import Compressor, Displacement, MapCompressor, ShaftCompressor
from .distributed import DistributedExchanger
from .expansion import Capillary, ElectronicValve, ThermostaticValve
from .internal import InternalExchanger
from .moving_boundary import Condenser, Evaporator, MovingBoundary, Void
from .receivers import Accumulator, Receiver
from .rooms import ColdRoom, DefrostClock, Door, Doorway, FrostedCoil, Thermostat

__all__ = [
    "Accumulator", "Capillary", "ColdRoom", "ColdStore", "Compressor", "Condenser", "DefrostClock", "Displacement",
    "DisplayCabinet", "DistributedExchanger", "Door", "Doorway", "ElectronicValve", "Evaporator", "FrostedCoil",
    "InternalExchanger", "MapCompressor", "MovingBoundary", "Receiver", "ShaftCompressor", "Thermostat", "ThermostaticValve",
    "Void",
]  # fmt: skip
