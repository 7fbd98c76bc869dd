"""Moist air, with fog and frost: dry air, water vapour, and the water that condenses or freezes.

Per kg of moist air (all of it, condensate as well) with a share x_w of water, x_v of it vapour and x_c = x_w - x_v condensate,

    h = (1 - x_w) c_a t + x_v (r₀ + c_v t) + x_c ((1 - φ) c_w t + φ (c_i t - r_f)),   v = ((1 - x_w) R_a + x_v R_v) T / p,

with t = T - 273.15 K. Vapour is at most saturated: x_v <= (1 - x_w) ε p_s / (p - p_s), ε = R_a / R_v. The saturation pressure is
that of Hyland and Wexler (ASHRAE Transactions 89-2A, 1983), over water and over ice. Condensate freezes (φ from 0 to 1) while it
cools through the last half kelvin below 0 °C, so that enthalpy rises with temperature everywhere and T follows from h.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..errors import UsageError
from ..language.declarations import Declaration, Potential, Stream
from ..language.events import no_event, smooth
from ..language.functions import exp, is_symbolic, log, maximum, minimum, numbers, plain, where
from ..language.implicit import Implicit
from ..language.medium import Medium
from ..language.smooth import smooth_step

R_AIR, R_VAPOUR = 287.055, 461.523  # J/(kg K)
_RATIO = R_AIR / R_VAPOUR
_AIR, _VAPOUR, _WATER, _ICE = 1006.0, 1860.0, 4190.0, 2090.0  # heat capacities in J/(kg K)
_EVAPORATION, _FUSION = 2500.9e3, 333.4e3  # at 0 °C, in J/kg
_ZERO, _TRIPLE, _FREEZING = 273.15, 273.16, 0.5
_SIZE = 611.2  # Pa, of the saturation pressure at 0 °C
_LOG_ZERO, _LOG_SIZE = math.log(_ZERO), math.log(_SIZE)
_OVER_ICE = (-5.6745359e3, 6.3925247, -9.6778430e-3, 6.2215701e-7, 2.0747825e-9, -9.4840240e-13, 4.1635019)
_OVER_WATER = (-5.8002206e3, 1.3914993, -4.8640239e-2, 4.1764768e-5, -1.4452093e-8, 0.0, 6.5459673)


def saturation_pressure(T: Any) -> Any:
    """Of water vapour over water or, below the triple point, over ice, in Pa.

    >>> round(saturation_pressure(293.15), 1), round(saturation_pressure(263.15), 1)
    (2338.8, 259.9)
    """

    def over(c: tuple[float, ...]) -> Any:
        rest = c[1] + c[6] * _LOG_ZERO - _LOG_SIZE
        return _SIZE * exp(c[0] / T + rest + T * (c[2] + T * (c[3] + T * (c[4] + T * c[5]))) + c[6] * log(T / _ZERO))

    if is_symbolic(T):
        return smooth(where(T < _TRIPLE, over(_OVER_ICE), over(_OVER_WATER)))
    return plain(np.where(np.asarray(numbers(T)) < _TRIPLE, over(_OVER_ICE), over(_OVER_WATER)))


def vapour_enthalpy(T: Any) -> Any:
    """Of water vapour in J/kg, zero for liquid water at 0 °C: what a kg of it takes along when it leaves the air.

    >>> round(vapour_enthalpy(293.15))
    2538100
    """
    return _EVAPORATION + _VAPOUR * (T - _ZERO)


class MoistAir(Medium):
    """Air with water vapour, fog and frost. Made by `ac.media.moist_air`; ports carry the mass fraction of water, `X[0]`."""

    name = "moist air"
    substances = ("water",)
    said_by_temperature = True
    T_min, T_max = 193.15, 393.15

    def __init__(self) -> None:
        self._T = {
            phase: Implicit(
                lambda T, p, h, x, phase=phase: MoistAirState(self, p, T, x, phase).h - h,
                {"T": {"start": 293.15, "min": 150.0, "max": 450.0, "nominal": 100.0, "unit": "K"}},
                ("p", "h", "x"),
                self.name,
            )
            for phase in (None, "any")
        }

    def port_members(self) -> dict[str, Declaration]:
        x = 0.0075 / 1.0075
        h = self.state(p=101325.0, T=293.15, X=[x]).h
        return {
            "p": Potential(unit="Pa", nominal=1e5, start=101325.0, doc="pressure"),
            "h": Stream(with_="m_flow", unit="J/kg", nominal=1e4, start=h, doc="specific enthalpy of moist air"),
            "X": Stream(with_="m_flow", unit="1", shape=1, nominal=0.01, start=x, doc="mass fraction of water"),
        }

    def state(
        self, *, p: Any, T: Any = None, h: Any = None, X: Any = None, w: Any = None, phi: Any = None, phase: str | None = None
    ) -> MoistAirState:
        """The state at p, T or h, and the water in it: `X=[…]` (mass fraction), `w` (mass per mass of dry air) or `phi` (relative
        humidity, with T). The beginning of condensation is an event in equations, unless `phase="any"`.

        >>> air = moist_air()
        >>> state = air.state(p=101325.0, T=293.15, phi=0.5)
        >>> round(1e3 * state.w, 3), round(state.T_dew - 273.15, 2)
        (7.262, 9.27)
        """
        if (T is None) == (h is None) or sum(v is not None for v in (X, w, phi)) != 1 or (phi is not None and T is None):
            raise UsageError(
                "A state of moist air is found from p, either T or h, and one of X, w and phi (phi with T).",
                remedy="`state(p=…, T=…, phi=…)`, or `state(p=…, h=…, X=port.X.inflow)`.",
            )
        if phi is not None:
            vapour = phi * saturation_pressure(T)
            w = _RATIO * vapour / (p - vapour)
        x = X[0] if X is not None else w / (1.0 + w)
        if not is_symbolic(x) and np.any(~((numbers(x) >= 0) & (numbers(x) < 1))):
            raise UsageError(f"The mass fraction of water in moist air is between 0 and 1, not {np.ravel(numbers(x))[0]:g}.")
        if T is None:
            T = self._T["any" if phase == "any" else None](p, h, x)
        if not is_symbolic(T):
            values = np.ravel(numbers(T))
            wrong = values[~((values >= self.T_min) & (values <= self.T_max))]
            if len(wrong):
                raise UsageError(
                    f"The properties of moist air are known from {self.T_min:g} to {self.T_max:g} K, not at {wrong[0]:g} K."
                )
        return MoistAirState(self, p, T, x, phase)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MoistAir)

    def __hash__(self) -> int:
        return hash(self.name)


_air: list[MoistAir] = []


def moist_air() -> MoistAir:
    """Moist air, with fog and frost."""
    if not _air:
        _air.append(MoistAir())
    return _air[0]


class MoistAirState:
    """Properties per kg of moist air; what is not asked for is not computed."""

    def __init__(self, medium: MoistAir, p: Any, T: Any, x: Any, phase: str | None = None) -> None:
        self.medium, self.p, self.T, self.x_water = medium, p, T, x
        self._events = phase != "any"

    @property
    def p_saturation(self) -> Any:
        """Saturation pressure of water at this temperature in Pa."""
        return saturation_pressure(self.T)

    @property
    def x_saturation(self) -> Any:
        """The largest mass fraction of vapour, at this temperature and with this much dry air."""
        p_s = minimum(self.p_saturation, 0.99 * self.p)
        return (1.0 - self.x_water) * _RATIO * p_s / (self.p - p_s)

    @property
    def x_vapour(self) -> Any:
        """Mass fraction of vapour."""
        x, most = self.x_water, self.x_saturation
        if not is_symbolic(x) and not is_symbolic(most):
            return plain(np.minimum(numbers(x), most))
        found = where(x > most, most, x)
        return found if self._events else no_event(found)

    @property
    def x_condensate(self) -> Any:
        """Mass fraction of fog and frost."""
        return self.x_water - self.x_vapour

    @property
    def frozen(self) -> Any:
        """The share of condensate that is ice."""
        return 1.0 - smooth_step(self.T, _ZERO - 0.5 * _FREEZING, _FREEZING)

    @property
    def x_ice(self) -> Any:
        """Mass fraction of frost."""
        return self.frozen * self.x_condensate

    @property
    def w(self) -> Any:
        """All water, over dry air."""
        return self.x_water / (1.0 - self.x_water)

    @property
    def phi(self) -> Any:
        """Relative humidity: 1 where there is fog."""
        return self.p_vapour / self.p_saturation

    @property
    def p_vapour(self) -> Any:
        """Partial pressure of vapour in Pa."""
        return self.p * self.x_vapour / (self.x_vapour + _RATIO * (1.0 - self.x_water))

    @property
    def h(self) -> Any:
        """Specific enthalpy in J/kg, zero for dry air and liquid water at 0 °C."""
        t, vapour = self.T - _ZERO, self.x_vapour
        condensate, ice = self.x_water - vapour, self.frozen
        of_condensate = (1.0 - ice) * _WATER * t + ice * (_ICE * t - _FUSION)
        return (1.0 - self.x_water) * _AIR * t + vapour * (_EVAPORATION + _VAPOUR * t) + condensate * of_condensate

    @property
    def gas_constant(self) -> Any:
        """In J/(kg K), of moist air with its condensate, whose volume does not count."""
        return (1.0 - self.x_water) * R_AIR + self.x_vapour * R_VAPOUR

    @property
    def v(self) -> Any:
        """Specific volume in m³/kg."""
        return self.gas_constant * self.T / self.p

    @property
    def rho(self) -> Any:
        """Density in kg/m³."""
        return 1.0 / self.v

    @property
    def u(self) -> Any:
        """Specific internal energy in J/kg."""
        return self.h - self.gas_constant * self.T

    @property
    def cp(self) -> Any:
        """Heat capacity in J/(kg K) at constant pressure and constant vapour and condensate."""
        condensate, ice = self.x_condensate, self.frozen
        return (1.0 - self.x_water) * _AIR + self.x_vapour * _VAPOUR + condensate * ((1.0 - ice) * _WATER + ice * _ICE)

    @property
    def cv(self) -> Any:
        """Heat capacity in J/(kg K) at constant volume."""
        return self.cp - self.gas_constant

    @property
    def T_dew(self) -> Any:
        """The temperature at which water begins to condense, or to form frost, in K."""
        return _DEW(self.p_vapour)

    @property
    def T_wet(self) -> Any:
        """The temperature of adiabatic saturation with water in K."""
        return _WET(self.p, self.h, self.x_water)

    @property
    def viscosity(self) -> Any:
        """Dynamic viscosity in Pa s, of dry air (Sutherland 1893)."""
        return 1.716e-5 * (self.T / _ZERO) ** 1.5 * (_ZERO + 110.4) / (self.T + 110.4)

    @property
    def conductivity(self) -> Any:
        """Thermal conductivity in W/(m K), of dry air (Sutherland's form)."""
        return 0.0241 * (self.T / _ZERO) ** 1.5 * (_ZERO + 194.0) / (self.T + 194.0)

    @property
    def prandtl(self) -> Any:
        """Prandtl number of the gas."""
        return _AIR * self.viscosity / self.conductivity


def _wet_bulb(T: Any, p: Any, h: Any, x: Any) -> Any:
    """Saturated air at T, with the water it took up as liquid at T, has the enthalpy of both: zero."""
    p_s = minimum(saturation_pressure(T), 0.99 * p)
    w, w_s = x / (1.0 - x), _RATIO * p_s / (p - p_s)
    t = T - _ZERO
    saturated = _AIR * t + w_s * (_EVAPORATION + _VAPOUR * t)
    return saturated - h / (1.0 - x) - (w_s - w) * _WATER * t


_RANGE = {"start": 283.15, "min": 150.0, "max": 450.0, "nominal": 100.0, "unit": "K"}
_DEW = Implicit(lambda T, p: log(saturation_pressure(T) / maximum(p, 1e-6)), {"T": _RANGE}, ("p",), "dew point")
_WET = Implicit(_wet_bulb, {"T": _RANGE}, ("p", "h", "x"), "wet bulb")
