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

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ..errors import AttributeNotFound as _AttributeNotFound
from ..errors import near_matches as _near_matches
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


class _Domain(ModuleType):
    """A module of the library: it lists what it brings, and says what is near where somebody asks for what it has not."""

    def __dir__(self) -> list[str]:
        return self.__dict__.get("__all__") or sorted(n for n, found in self.__dict__.items() if _brought(n, found))

    def __getattr__(self, name: str) -> Any:
        raise _not_there(self.__name__, name, dir(self))


class _Library(ModuleType):
    """This package: the modules in it are domains, whoever imports them."""

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, ModuleType) and name in __all__:
            value.__class__ = _Domain
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Library


def _brought(name: str, found: Any) -> bool:
    """Whether a name of a module is its own: a class, a function, a constant, not what it imports for itself."""
    if name.startswith("_") or isinstance(found, ModuleType):
        return False
    return name.isupper() or getattr(found, "__module__", "").startswith(__name__)


def _not_there(module: str, name: str, known: list[str]) -> AttributeError:
    if name.startswith("__"):
        return AttributeError(f"module {module!r} has no attribute {name!r}")
    return _AttributeNotFound(
        f"{module} has no `{name}`. {_near_matches(name, known)}".strip(), remedy=f"It has: {', '.join(known)}"
    )


def __getattr__(name: str) -> Any:
    """A domain is imported when it is first used."""
    if name not in __all__:
        raise _not_there(__name__, name, __all__)
    return import_module(f".{name}", __name__)


def __dir__() -> list[str]:
    return list(__all__)
