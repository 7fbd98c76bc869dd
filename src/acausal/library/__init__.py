"""Component libraries, one domain a module: electrical and ideal switching, thermal, mechanics (along a line, about an axis,
friction, stops, drives), electromechanics, fluid, refrigeration, air (moist, with coils), control, signal and sampled (blocks that
work at the ticks of a clock).

    import acausal as ac
    from acausal.library import thermal

    class Cooling(ac.Component):
        def __init__(self):
            self.body, self.loss = thermal.HeatCapacitor(C=500.0), thermal.ThermalConductor(G=2.0)
            self.ambient = thermal.FixedTemperature(T="20 degC")

        def connections(self):
            yield self.body.port, self.loss.a
            yield self.loss.b, self.ambient.port

Conventions: SI units; flows are positive into a component; a block's input is `u`, its output `y`; a state starts at its `start`
value unless an initial equation or `initial="steady"` says otherwise. Names of classes follow the Modelica Standard Library where
it has the same component, so that models can be carried over.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..language import icons as _icons
from .icons import ICONS as _ICONS

if TYPE_CHECKING:
    from . import (
        air,
        control,
        electrical,
        electromechanics,
        electronics,
        fluid,
        mechanics,
        motion,
        refrigeration,
        sampled,
        signal,
        switching,
        system_dynamics,
        thermal,
    )

__all__ = [
    "air", "control", "electrical", "electromechanics", "electronics", "fluid", "mechanics", "motion", "refrigeration", "sampled",
    "signal", "switching", "system_dynamics", "thermal",
]  # fmt: skip

_icons.register(__name__, _ICONS)  # here, as nobody has a class of the library without this module


def __getattr__(name: str) -> Any:
    """A domain is imported when it is first used."""
    if name not in __all__:
        raise AttributeError(f"module 'acausal.library' has no attribute {name!r}")
    return import_module(f".{name}", __name__)


def __dir__() -> list[str]:
    return list(__all__)
