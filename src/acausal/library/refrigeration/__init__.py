"""Refrigeration: compressors, moving-boundary exchangers, expansion valves, receivers, cold rooms with their controls.

`examples/cold_store.py` puts them together.
"""

from __future__ import annotations

from .compressors import Compressor
from .expansion import ThermostaticValve
from .moving_boundary import Condenser, Evaporator, MovingBoundary, Void
from .receivers import Receiver
from .rooms import ColdRoom, DefrostClock, Door, FrostedCoil, Thermostat

__all__ = [
    "ColdRoom", "Compressor", "Condenser", "DefrostClock", "Door", "Evaporator", "FrostedCoil", "MovingBoundary", "Receiver",
    "Thermostat", "ThermostaticValve", "Void",
]  # fmt: skip
