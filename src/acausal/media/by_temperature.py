"""Media whose properties depend on temperature: liquids that hardly compress, brines and glycols, and solids.

Density, heat capacity, viscosity and conductivity are given as numbers, as points (T, values), or as functions of T. Enthalpy is
the integral of the heat capacity,

    h(p, T) = ∫ cp dT + (p - p₀) / ρ₀,   s(T) = ∫ cp / T dT,

so that q = h - (p - p₀)/ρ₀ is a function of T alone and T one of q: both are tables, and a state from (p, h) costs no iteration.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache, cached_property
from typing import Any

import numpy as np

from ..errors import UsageError, near_matches
from ..language.declarations import Declaration, Potential, Stream
from ..language.functions import is_symbolic, numbers, plain
from ..language.medium import Medium
from ..language.tables import Table

Property = float | Callable[[Any], Any] | tuple[Sequence[float], Sequence[float]]
_POINTS = 2001
_GAUSS = np.polynomial.legendre.leggauss(5)
_NAMES = ("rho", "cp", "viscosity", "conductivity")
_UNKNOWN = float("nan")


class ByTemperature(Medium):
    """What liquids and solids have in common."""

    said_by_temperature = True

    p_reference = 101325.0

    def __init__(self, name: str, *, T_min: float, T_max: float, T_reference: float = 273.15, **given: Property) -> None:
        if not 0 < T_min < T_max:
            raise UsageError(f"{name} holds from a lowest to a highest temperature above 0 K, got {T_min:g} and {T_max:g}.")
        self.name, self.T_min, self.T_max = name, float(T_min), float(T_max)
        self.T_reference = min(max(T_reference, self.T_min), self.T_max)
        self._given = tuple(given.items())
        self._properties = {what: _as_function(f"{what} of {name}", value, self) for what, value in given.items()}
        for what in ("rho", "cp"):
            values = np.broadcast_to(self.property(what, np.linspace(T_min, T_max, 50)), 50)
            if not np.all(values > 0):
                raise UsageError(f"`{what}` of {name} must be positive from {T_min:g} to {T_max:g} K, got {values.min():g}.")

    def property(self, what: str, T: Any) -> Any:
        """Density, heat capacity, viscosity or conductivity at a temperature."""
        found = self._properties[what]
        value = found(T) if callable(found) else found
        if what != "rho" and np.any(np.isnan(value) if not is_symbolic(value) else False):
            raise UsageError(f"The {what} of {self.name} is not known.", remedy=f"Give it where the medium is made: `{what}=…`.")
        return value

    @cached_property
    def rho_reference(self) -> float:
        return float(self.property("rho", self.T_reference))

    @cached_property
    def _tables(self) -> tuple[Table, Table, Table]:
        """q(T), T(q) and s(T)."""
        T = np.linspace(self.T_min, self.T_max, _POINTS)
        nodes, weights = _GAUSS
        inside = T[:-1, None] + 0.5 * np.diff(T)[:, None] * (1 + nodes)
        cp = np.broadcast_to(self.property("cp", inside), inside.shape)

        def integral(of: np.ndarray) -> np.ndarray:
            total = np.concatenate([[0.0], np.cumsum(0.5 * np.diff(T) * (of @ weights))])
            return total - np.interp(self.T_reference, T, total)

        q, s = integral(cp), integral(cp / inside)

        def table(what: str, x: np.ndarray, y: np.ndarray) -> Table:
            return Table(x, y, method="catmull-rom", extrapolation="refuse", name=f"{what} of {self.name}")

        return table("enthalpy over temperature", T, q), table("temperature over enthalpy", q, T), table("entropy", T, s)

    def _checked(self, T: Any) -> Any:
        if not is_symbolic(T):
            values = np.ravel(numbers(T))
            wrong = values[~((values >= self.T_min) & (values <= self.T_max))]
            if len(wrong):
                raise UsageError(
                    f"No state of {self.name}: T = {wrong[0]:g} K is outside the range in which its properties are known, "
                    f"{self.T_min:g} … {self.T_max:g} K."
                )
        return T

    def particulars(self) -> str:
        return f"rho {self.rho_reference:.6g}, cp {float(self.property('cp', self.T_reference)):.6g}"

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self._said() == other._said()

    def __hash__(self) -> int:
        return hash(self.name)

    def _said(self) -> tuple[Any, ...]:
        return self.name, self.T_min, self.T_max, tuple((n, _comparable(v)) for n, v in self._given)


class Liquid(ByTemperature):
    """A liquid that hardly compresses, with properties over temperature: numbers, points `(T, values)`, or functions of T.

    >>> oil = Liquid("oil", rho=lambda T: 1050.0 - 0.65 * T, cp=([280.0, 350.0, 420.0], [1850.0, 2080.0, 2300.0]),
    ...              viscosity=0.02, conductivity=0.13, T_min=280.0, T_max=420.0)
    >>> state = oil.state(p=2e5, T=330.0)
    >>> round(state.rho, 3), round(oil.state(p=2e5, h=state.h).T, 6)
    (835.5, 330.0)
    """

    compressible = False

    def __init__(
        self,
        name: str,
        *,
        rho: Property,
        cp: Property,
        viscosity: Property = _UNKNOWN,
        conductivity: Property = _UNKNOWN,
        T_min: float = 273.15,
        T_max: float = 373.15,
    ) -> None:
        super().__init__(name, T_min=T_min, T_max=T_max, rho=rho, cp=cp, viscosity=viscosity, conductivity=conductivity)

    def port_members(self) -> dict[str, Declaration]:
        T = min(max(293.15, self.T_min), self.T_max)
        start = self.state(p=self.p_reference, T=T).h
        return {
            "p": Potential(unit="Pa", nominal=1e5, start=self.p_reference, doc="pressure"),
            "h": Stream(with_="m_flow", unit="J/kg", nominal=1e5, start=start, doc="specific enthalpy"),
        }

    def state(self, *, p: Any, T: Any = None, h: Any = None, phase: str | None = None) -> LiquidState:
        """The state at (p, T) or (p, h), for numbers and in equations; it is liquid, whatever is said of the phase."""
        if (T is None) == (h is None):
            raise UsageError(f"A state of {self.name} is found from (p, T) or (p, h).")
        by_T, by_q, _ = self._tables
        pressure = (p - self.p_reference) / self.rho_reference
        if T is None:
            T = self._checked(by_q(h - pressure))
        else:
            h = by_T(self._checked(T)) + pressure
        return LiquidState(self, p, T, h)


class _StateByTemperature:
    """Properties at one state; what is not asked for is not computed."""

    phase = -1.0

    def __init__(self, medium: ByTemperature, T: Any, h: Any) -> None:
        self.medium, self.T, self.h = medium, T, h

    def _property(self, what: str) -> Any:
        value = self.medium.property(what, self.T)
        if is_symbolic(value) or is_symbolic(self.T):
            return value
        return plain(np.broadcast_to(np.asarray(value, dtype=float), np.shape(self.T)))

    @property
    def rho(self) -> Any:
        """Density in kg/m³."""
        return self._property("rho")

    @property
    def v(self) -> Any:
        """Specific volume in m³/kg."""
        return 1.0 / self.rho

    @property
    def cp(self) -> Any:
        """Heat capacity in J/(kg K)."""
        return self._property("cp")

    @property
    def cv(self) -> Any:
        """Heat capacity in J/(kg K): that at constant pressure."""
        return self.cp

    @property
    def conductivity(self) -> Any:
        """Thermal conductivity in W/(m K)."""
        return self._property("conductivity")

    @property
    def s(self) -> Any:
        """Specific entropy in J/(kg K)."""
        return self.medium._tables[2](self.T)


class LiquidState(_StateByTemperature):
    """Properties of a liquid at one state."""

    def __init__(self, medium: Liquid, p: Any, T: Any, h: Any) -> None:
        super().__init__(medium, T, h)
        self.p = p

    @property
    def u(self) -> Any:
        """Specific internal energy in J/kg: h - p / rho, with the density at the reference temperature."""
        return self.h - self.p / self.medium.rho_reference

    @property
    def viscosity(self) -> Any:
        """Dynamic viscosity in Pa s."""
        return self._property("viscosity")

    @property
    def prandtl(self) -> Any:
        """Prandtl number."""
        return self.cp * self.viscosity / self.conductivity


# --- liquids of CoolProp --------------------------------------------------------------------------------------------------------
ALIASES = {
    "ethylene glycol": "MEG", "propylene glycol": "MPG", "ethanol": "MEA", "methanol": "MMA", "glycerol": "MGL", "ammonia": "MAM",
    "potassium carbonate": "MKC", "calcium chloride": "MCA", "magnesium chloride": "MMG", "sodium chloride": "MNA",
    "potassium acetate": "MKA", "potassium formate": "MKF", "lithium chloride": "MLI", "lithium bromide": "LiBr",
    "sea water": "MITSW", "therminol 66": "T66", "therminol 72": "T72", "dowtherm q": "DowQ", "dowtherm j": "DowJ",
    "syltherm xlt": "XLT",
}  # fmt: skip


@cache
def liquid(name: str, share: float | None = None) -> Liquid:
    """A liquid, brine or glycol of CoolProp's incompressible ones, by its name there or by an everyday name.

    `share` is the share of mass of what is dissolved in water.

    >>> brine = liquid("ethylene glycol", 0.3)
    >>> round(brine.state(p=1e5, T=273.15).rho, 1), round(brine.T_min - 273.15, 1)
    (1045.0, -14.6)
    """
    import CoolProp.CoolProp as CP

    pure = sorted(CP.get_global_param_string("incompressible_list_pure").split(","))
    solutions = sorted(CP.get_global_param_string("incompressible_list_solution").split(","))
    by_case = {n.lower(): n for n in (*pure, *solutions)}
    code = ALIASES.get(name.lower()) or by_case.get(name.lower())
    if share is None and (itself := by_case.get(name.lower())) in pure:
        code = itself  # ethanol by itself has the name of what is dissolved in water
    if code is None:
        raise UsageError(
            f"CoolProp knows no incompressible liquid `{name}`. {near_matches(name, [*ALIASES, *pure, *solutions])}".rstrip(),
            remedy=f"There are {', '.join(ALIASES)}, and {', '.join(pure[:12])}, …",
        )
    if (share is None) != (code in pure):
        said = "is a solution: say the share of mass of what is dissolved" if share is None else "is no solution: it has no share"
        raise UsageError(f"`{name}` {said}.", remedy=f'`ac.media.liquid("{name}"{", 0.3" if share is None else ""})`.')
    return _from_coolprop(name, code, share)


def _from_coolprop(name: str, code: str, share: float | None) -> Liquid:
    import CoolProp.CoolProp as CP

    state = CP.AbstractState("INCOMP", code)
    if share is not None:
        low, high = CP.PropsSI("FRACTION_MIN", f"INCOMP::{code}[0.5]"), CP.PropsSI("FRACTION_MAX", f"INCOMP::{code}[0.5]")
        if not low <= share <= high:
            raise UsageError(f"The properties of `{name}` are known for shares from {low:g} to {high:g}, not for {share:g}.")
        try:
            state.set_mass_fractions([share])
        except ValueError:
            raise UsageError(
                f"CoolProp knows `{name}` by the share of volume of what is dissolved, not by that of mass.",
                remedy=f"Take one that it knows by mass, such as {', '.join(list(ALIASES)[:4])}.",
            ) from None
    T_min, T_max = state.Tmin(), state.Tmax()
    with suppress(ValueError):
        T_min = max(T_min, state.keyed_output(CP.iT_freeze) + 0.01)  # ice forms below
    T = np.linspace(T_min, T_max, 401)
    found: dict[str, list[float]] = {what: [] for what in _NAMES}
    for value in T:
        state.update(CP.PT_INPUTS, 1e9, float(value))  # density and the rest do not depend on pressure there; it does not boil
        for what, key in zip(_NAMES, (CP.iDmass, CP.iCpmass, CP.iviscosity, CP.iconductivity), strict=True):
            found[what].append(_output(state, key))
    given: dict[str, Any] = {what: (T, values) if _is_known(what, values) else _UNKNOWN for what, values in found.items()}
    return Liquid(name if share is None else f"{name} {100 * share:g} %", T_min=float(T[0]), T_max=float(T[-1]), **given)


# what CoolProp gives for a liquid of which it has no coefficients: a sum of none, and its exponential
_OF_NONE = {"viscosity": 1.0, "conductivity": 0.0}


def _is_known(what: str, values: list[float]) -> bool:
    return bool(np.all(np.isfinite(values))) and any(value != _OF_NONE.get(what) for value in values)


def _output(state: Any, key: int) -> float:
    try:
        return float(state.keyed_output(key))
    except ValueError:
        return _UNKNOWN


# --- solids ---------------------------------------------------------------------------------------------------------------------
class Solid(ByTemperature):
    """A solid with properties over temperature. `state(T=…)` or `state(h=…)`.

    >>> copper = solid("copper")
    >>> round(copper.state(T=300.0).conductivity, 1), round(copper.state(T=400.0).h - copper.state(T=300.0).h, -2)
    (401.0, 39100.0)
    """

    def __init__(
        self,
        name: str,
        *,
        rho: Property,
        cp: Property,
        conductivity: Property = _UNKNOWN,
        T_min: float = 100.0,
        T_max: float = 1000.0,
    ) -> None:
        super().__init__(name, T_min=T_min, T_max=T_max, rho=rho, cp=cp, conductivity=conductivity)

    def state(self, *, T: Any = None, h: Any = None) -> SolidState:
        """The state at a temperature or a specific enthalpy, for numbers and in equations."""
        if (T is None) == (h is None):
            raise UsageError(f"A state of {self.name} is found from T or h.")
        by_T, by_q, _ = self._tables
        return SolidState(self, T, by_T(self._checked(T))) if h is None else SolidState(self, self._checked(by_q(h)), h)


class SolidState(_StateByTemperature):
    """Properties of a solid at one state."""

    @property
    def u(self) -> Any:
        """Specific internal energy in J/kg."""
        return self.h

    @property
    def diffusivity(self) -> Any:
        """Thermal diffusivity in m²/s."""
        return self.conductivity / (self.rho * self.cp)


# Density; T; heat capacity; conductivity. Incropera et al., Fundamentals of Heat and Mass Transfer, table A.1.
_SOLIDS: dict[str, tuple[float, tuple[float, ...], tuple[float, ...], tuple[float, ...]]] = {
    "copper": (8933.0, (200, 300, 400, 600, 800, 1000), (356, 385, 397, 417, 433, 451), (413, 401, 393, 379, 366, 352)),
    "aluminium": (2702.0, (200, 300, 400, 600, 800), (798, 903, 949, 1033, 1146), (237, 237, 240, 231, 218)),
    "iron": (7870.0, (200, 300, 400, 600, 800, 1000), (384, 447, 490, 574, 680, 975), (94, 80.2, 69.5, 54.7, 43.3, 32.8)),
    "carbon steel": (7854.0, (300, 400, 600, 800, 1000), (434, 487, 559, 685, 1169), (60.5, 56.7, 48.0, 39.2, 30.0)),
    "stainless steel": (
        7900.0, (200, 300, 400, 600, 800, 1000), (402, 477, 515, 557, 582, 611), (12.6, 14.9, 16.6, 19.8, 22.6, 25.4)
    ),
}  # fmt: skip


@cache
def solid(name: str) -> Solid:
    """A solid that is tabulated here: copper, aluminium, iron, carbon steel, stainless steel. Others are made by `Solid(…)`."""
    if name not in _SOLIDS:
        raise UsageError(
            f"There is no table of a solid `{name}`. {near_matches(name, _SOLIDS)}".rstrip(),
            remedy=f"There are {', '.join(_SOLIDS)}; `ac.media.Solid(…)` makes others.",
        )
    rho, T, cp, conductivity = _SOLIDS[name]
    return Solid(name, rho=rho, cp=(T, cp), conductivity=(T, conductivity), T_min=T[0], T_max=T[-1])


# --- what a user gives ----------------------------------------------------------------------------------------------------------
def _as_function(what: str, given: Any, medium: ByTemperature) -> Any:
    if callable(given) or isinstance(given, (int, float)):
        return given if callable(given) else float(given)
    if isinstance(given, tuple) and len(given) == 2:
        table = Table(given[0], given[1], method="akima", extrapolation="linear", name=what)
        if table.x[0] > medium.T_min or table.x[-1] < medium.T_max:
            raise UsageError(
                f"The points of the {what} go from {table.x[0]:g} to {table.x[-1]:g} K, but it is to hold from {medium.T_min:g} to "
                f"{medium.T_max:g} K.",
                remedy="Give more points, or `T_min` and `T_max` within them.",
            )
        return table
    raise UsageError(f"The {what} is a number, points (T, values) or a function of T, got {given!r:.60}.")


def _comparable(given: Any) -> Any:
    return tuple(tuple(np.ravel(v).tolist()) for v in given) if isinstance(given, tuple) else repr(given)
