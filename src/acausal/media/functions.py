"""The functions of a fluid's table as functions with several results; `native/media_tables.h` computes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..language.expression import Constant, Expression, Slot
from ..language.functions import where
from ..language.several import Several


@dataclass(frozen=True)
class _Kind:
    """What a native function takes and gives. Units are those of arguments, then of results."""

    number: int
    arguments: tuple[str, ...]
    results: tuple[str, ...]
    units: tuple[str, ...]
    differentiated: int


_PH = ("p", "h", "phase")
_ANY_PHASE = 2.0
_BORDERS = ("h_liquid", "h_vapour")
_ENDS = tuple(f"{name}_{end}" for end in ("liquid", "vapour") for name in ("T", "rho", "s", "w"))
_MORE_ENDS = tuple(f"{name}_{end}" for end in ("liquid", "vapour") for name in ("cp", "cv", "viscosity", "conductivity"))
_STATE_UNITS = ("K", "kg/m^3", "J/(kg*K)", "m/s")
_MORE_UNITS = ("J/(kg*K)", "J/(kg*K)", "Pa*s", "W/(m*K)")
_SATURATION_UNITS = ("Pa", "J/kg", "J/kg", *_STATE_UNITS, *_STATE_UNITS, "N/m")

KINDS = {
    "state": _Kind(0, _PH, ("T", "rho", "s", "w"), ("Pa", "J/kg", "", *_STATE_UNITS), 2),
    "more": _Kind(1, _PH, ("cp", "cv", "viscosity", "conductivity"), ("Pa", "J/kg", "", *_MORE_UNITS), 2),
    "saturation": _Kind(2, ("p",), (*_BORDERS, *_ENDS, "surface_tension"), _SATURATION_UNITS, 1),
    "saturation_more": _Kind(3, ("p",), _MORE_ENDS, ("Pa", *_MORE_UNITS, *_MORE_UNITS), 1),
    "h_pT": _Kind(4, ("p", "T"), ("h",), ("Pa", "K", "J/kg"), 2),
    "h_ps": _Kind(5, ("p", "s"), ("h",), ("Pa", "J/(kg*K)", "J/kg"), 2),
    "p_Tx": _Kind(6, ("T", "x"), ("p",), ("K", "1", "Pa"), 2),
    "ph_rhoT": _Kind(7, ("rho", "T"), ("p", "h"), ("kg/m^3", "K", "Pa", "J/kg"), 2),
    "ph_rhou": _Kind(8, ("rho", "u"), ("p", "h"), ("kg/m^3", "J/kg", "Pa", "J/kg"), 2),
    "borders": _Kind(9, ("p",), _BORDERS, ("Pa", "J/kg", "J/kg"), 1),
    "h_px": _Kind(10, ("p", "x"), ("h",), ("Pa", "1", "J/kg"), 2),
    "saturated": _Kind(11, ("p",), (*_BORDERS, *_ENDS), _SATURATION_UNITS[:-1], 1),  # without surface tension
    "bordered": _Kind(12, _PH, ("T", "rho", "s", "w", *_BORDERS), ("Pa", "J/kg", "", *_STATE_UNITS, "J/kg", "J/kg"), 2),
    "boiling": _Kind(13, ("p", "h"), ("p",), ("Pa", "J/kg", "Pa"), 2),  # where liquid of h boils: there is liquid where p is higher
}


def look_ups() -> dict[str, tuple[int, int]]:
    """By kind: how often kernels of this thread called a function of a fluid since the last time, and how often it was computed."""
    from .._core import fluid_look_ups

    return dict(zip(KINDS, fluid_look_ups(), strict=True))


class FluidFunction(Several):
    """One of `KINDS` for one fluid. It brings its derivatives to second order."""

    order = 2

    def __init__(self, fluid: Any, kind: str) -> None:
        from .._core import fluid_function_address

        self.fluid, self.kind = fluid, kind
        said = KINDS[kind]
        self.name = f"{fluid.name} {kind}"
        self.arguments, self.results, self.differentiated = said.arguments, said.results, said.differentiated
        self.argument_units, self.result_units = said.units[: self.arity], said.units[self.arity :]
        self._number = said.number
        self._addresses = [int(fluid_function_address(said.number, order)) for order in (1, 2)]

    @property
    def address(self) -> int:
        return self._addresses[1]

    def address_to(self, order: int) -> int:
        return self._addresses[order > 1]

    @property
    def data_address(self) -> int:
        return int(self.fluid.native.address)

    def evaluate(self, *arrays: np.ndarray) -> np.ndarray:
        rows = np.ascontiguousarray(np.stack([np.asarray(a, dtype=float).ravel() for a in arrays], axis=1))
        found = np.empty((len(rows), self.outputs))
        self.fluid.native.evaluate(self._number, rows, found)
        return found.reshape((*arrays[0].shape, self.outputs))

    def form(self) -> str:
        return f"fluid {self._form()}" if type(self) is FluidFunction else ""

    def description(self) -> str:
        said = (self.name, self.kind, self.arguments, self.results, self.argument_units, self.result_units)
        return self.form() and f"{self.form()} {said} {self.fluid.digest}"

    def complaint(self, values: Sequence[float], margin: float = 0.0) -> str:
        return str(self.fluid.why_outside(margin, **dict(zip(self.arguments, values, strict=True))))

    def sides(self, args: tuple[Expression, ...]) -> tuple[Expression, ...]:
        """Where a phase that nobody says changes."""
        if self.arguments != _PH or not isinstance(args[2], Slot | Constant):  # one that is a relation is an event
            return ()
        if self.kind == "bordered":  # liquid is told from the rest; the same look-up says where the rest falls dry
            return (where(args[2] > _ANY_PHASE + 0.5, args[1] - self(*args)[-1], 1.0),)
        low, high = self.fluid.function("borders")(args[0])
        return tuple(where(args[2] > _ANY_PHASE - 0.5, args[1] - border, 1.0) for border in (low, high))

    def __reduce__(self) -> Any:
        return (_restored, (self.fluid, self.kind))


def _restored(fluid: Any, kind: str) -> Any:
    return fluid.function(kind)
