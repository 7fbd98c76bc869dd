"""Fluid networks: volumes, valves, boundaries and sensors of any medium of `ac.media`.

Flow may turn anywhere and at any time; zero flow is normal. Volumes have mass and energy as states; what stands between them
sets the flow. Put a volume between two valves, or the pressure between them is an algebraic unknown.
"""

from __future__ import annotations

from .boundaries import Closed, FlowSource, PressureBoundary
from .passages import Orifice, Passage, Throttle, Valve
from .sensors import FlowSensor, PressureSensor, Sensor, SubcoolingSensor, SuperheatSensor, TemperatureSensor
from .volumes import Volume

__all__ = [
    "Closed", "FlowSensor", "FlowSource", "Orifice", "Passage", "PressureBoundary", "PressureSensor", "Sensor",
    "SubcoolingSensor", "SuperheatSensor", "TemperatureSensor", "Throttle", "Valve", "Volume",
]  # fmt: skip
