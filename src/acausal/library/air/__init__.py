"""Moist air: surroundings, fans, and coils on which water condenses or freezes.

Ports carry `ac.media.moist_air()`, so that ducts, valves, pipes, volumes and sensors of `fluid` join in. A coil is one side of an
exchanger: `Coil` has a heat port for a wall or a pipe, `FinAndTube` gives air to an `Evaporator`, a `Condenser` or a
`DistributedExchanger` of `refrigeration`.
"""

from __future__ import annotations

from ..fluid.machines import Fan
from .boundaries import AirFlow, Surroundings
from .coils import Coil, FinAndTube, WetSurface

__all__ = ["AirFlow", "Coil", "Fan", "FinAndTube", "Surroundings", "WetSurface"]
