"""A fluid's equation of state, sampled through CoolProp: homogeneous states at (p, h) by Newton in (T, rho).

CoolProp's own (p, h) flash decides on phases; here the phase is the caller's, states go on beyond saturation as far as the equation
does, and each point starts from its neighbour, which costs two or three evaluations.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .names import coolprop_name

FIELDS = ("T", "rho", "s", "w", "1/cp", "cv", "mu", "1/lambda")  # in the order of the tables' lanes
_TOLERANCE = 1e-8  # of the last step of Newton, whose square is what is left
_GOOD_ENOUGH = 1e-7  # where rounding keeps Newton from more
_MOST_STEPS = 60
_SUBSTEPS = 16


class Saturated(NamedTuple):
    """One end of the two-phase range."""

    T: float
    rho: float
    h: float


@dataclass(slots=True)
class _Point:
    """A homogeneous state and the derivatives that lead to its neighbours."""

    T: float
    rho: float
    p_T: float
    p_rho: float
    h_T: float
    h_rho: float

    def moved(self, dp: float, dh: float) -> tuple[float, float]:
        """T and rho at (p + dp, h + dh), to first order; where they are if that leads too far."""
        det = self.p_T * self.h_rho - self.p_rho * self.h_T
        T = self.T + (dp * self.h_rho - dh * self.p_rho) / det
        rho = self.rho + (self.p_T * dh - self.h_T * dp) / det
        near = 0.8 * self.T < T < 1.3 * self.T and 0.6 * self.rho < rho < 1.6 * self.rho
        return (T, rho) if near else (self.T, self.rho)


class NoConvergence(Exception):
    """A state that Newton did not find."""


class EquationOfState:
    """CoolProp's reference equation of one fluid."""

    def __init__(self, fluid: str) -> None:
        import CoolProp

        cp: Any = CoolProp
        self._cp = cp
        self.name = coolprop_name(fluid)
        self._state: Any = cp.AbstractState("HEOS", self.name)
        self._flash: Any = cp.AbstractState("HEOS", self.name)
        self._state.specify_phase(cp.iphase_gas)
        self.T_critical: float = self._state.T_critical()
        self.p_critical: float = self._state.p_critical()
        self.rho_critical: float = self._state.rhomass_critical()
        self.T_triple: float = self._flash.Ttriple()
        self.T_limit: float = self._flash.Tmax()
        self.p_limit: float = self._flash.pmax()
        self.molar_mass: float = self._state.molar_mass()
        self.gas_constant: float = self._state.gas_constant() / self.molar_mass
        self._at(self.rho_critical, self.T_critical)
        self.h_critical: float = self._state.hmass()
        self.has = self._what_there_is()

    def _what_there_is(self) -> frozenset[str]:
        self._at(0.3 * self.rho_critical, 1.1 * self.T_critical)
        found = set()
        for name, ask in (("viscosity", self._state.viscosity), ("conductivity", self._state.conductivity)):
            try:
                ask()
                found.add(name)
            except ValueError:
                pass
        try:
            self.surface_tension(0.8 * self.T_critical)
            found.add("surface tension")
        except ValueError:
            pass
        return frozenset(found)

    def _at(self, rho: float, T: float) -> None:
        self._state.update(self._cp.DmassT_INPUTS, rho, T)

    # --- saturation ---------------------------------------------------------------------------------------------------
    def saturated(self, p: float) -> tuple[Saturated, Saturated]:
        """Liquid and vapour at a pressure. Where the fluid is a mixture by nature their temperatures differ."""
        flash, ends = self._flash, []
        for quality in (0.0, 1.0):
            flash.update(self._cp.PQ_INPUTS, p, quality)
            ends.append(Saturated(flash.T(), flash.rhomass(), flash.hmass()))
        return ends[0], ends[1]

    def saturated_if_found(self, p: float) -> tuple[Saturated, Saturated] | None:
        """The same next to the critical point, where CoolProp does not find every state of every fluid."""
        try:
            liquid, vapour = self.saturated(p)
        except ValueError:
            return None
        return (liquid, vapour) if vapour.h > liquid.h and vapour.rho < liquid.rho else None

    def saturation_pressure(self, T: float) -> float:
        self._flash.update(self._cp.QT_INPUTS, 0.0, T)
        return float(self._flash.p())

    def surface_tension(self, T: float) -> float:
        self._flash.update(self._cp.QT_INPUTS, 0.0, T)
        return float(self._flash.surface_tension())

    def edge(self, p: float, T: float) -> tuple[float, float]:
        """(h, rho) of the gas or dense fluid at (p, T)."""
        flash = self._flash
        flash.specify_phase(self._cp.iphase_gas if p < self.p_critical else self._cp.iphase_supercritical)
        try:
            flash.update(self._cp.PT_INPUTS, p, T)
            return flash.hmass(), flash.rhomass()
        finally:
            flash.unspecify_phase()

    def gas(self, p: float, T: float, rho: float) -> tuple[float, float]:
        """(h, rho) of the gas at (p, T), where its density is near `rho`."""
        for _ in range(_MOST_STEPS):
            self._at(rho, T)
            step = (p - self._state.p()) / self._state.first_partial_deriv(self._cp.iP, self._cp.iDmass, self._cp.iT)
            rho += step
            if abs(step) < _TOLERANCE * rho:
                self._at(rho, T)
                return self._state.hmass(), rho
        raise NoConvergence(f"{self.name} at p = {p:g} Pa, T = {T:g} K")

    # --- homogeneous states -------------------------------------------------------------------------------------------
    def find(self, p: float, h: float, T: float, rho: float) -> _Point:
        """The homogeneous state at (p, h) near (T, rho)."""
        state, cp = self._state, self._cp
        slope = state.first_partial_deriv
        for step in range(_MOST_STEPS):
            self._at(rho, T)
            point = _Point(
                T, rho,
                slope(cp.iP, cp.iT, cp.iDmass), slope(cp.iP, cp.iDmass, cp.iT),
                slope(cp.iHmass, cp.iT, cp.iDmass), slope(cp.iHmass, cp.iDmass, cp.iT),
            )  # fmt: skip
            dp, dh = p - state.p(), h - state.hmass()
            det = point.p_T * point.h_rho - point.p_rho * point.h_T
            dT, drho = (dp * point.h_rho - dh * point.p_rho) / det, (point.p_T * dh - point.h_T * dp) / det
            scale = min(1.0, 0.1 * T / max(abs(dT), 1e-300), 0.2 * rho / max(abs(drho), 1e-300))
            T, rho = T + scale * dT, rho + scale * drho
            size = max(abs(dT) / T, abs(drho) / rho)
            if scale == 1.0 and (size < _TOLERANCE or (step > 4 and size < _GOOD_ENOUGH)):
                point.T, point.rho = T, rho
                return point
        raise NoConvergence(f"{self.name} at p = {p:g} Pa, h = {h:g} J/kg")

    def line(self, p: np.ndarray, h: np.ndarray, T: float, rho: float, coldest: float = 0.0) -> np.ndarray:
        """The fields along a line of states, each started from the last; the first is near (T, rho).

        Where the equation ends on the way, or becomes colder than `coldest` (a liquid at high pressure that has long been solid),
        the rest is not a number.
        """
        found = np.full((len(p), len(FIELDS)), np.nan)
        point: _Point | None = None
        last, reached = (float(p[0]), float(h[0])), 0
        for k, (pk, hk) in enumerate(zip(p.tolist(), h.tolist(), strict=True)):
            if point is not None:
                T, rho = point.moved(pk - last[0], hk - last[1])
            try:
                point = self.find(pk, hk, T, rho)
            except (NoConvergence, ValueError):
                try:
                    point = self._in_substeps(point, last, (pk, hk))
                except (NoConvergence, ValueError):
                    if k < 3:
                        raise
                    break
            if point.T < coldest:
                break
            last = (pk, hk)
            found[k] = self.fields(point.T, point.rho)
            reached = k + 1
        without_gaps(found[:reached])
        return found

    def _in_substeps(self, point: _Point | None, start: tuple[float, float], end: tuple[float, float]) -> _Point:
        if point is None:
            raise NoConvergence(f"{self.name} at p = {end[0]:g} Pa, h = {end[1]:g} J/kg")
        for k in range(1, _SUBSTEPS + 1):
            p, h = (a + (b - a) * k / _SUBSTEPS for a, b in zip(start, end, strict=True))
            dp, dh = ((b - a) / _SUBSTEPS for a, b in zip(start, end, strict=True))
            point = self.find(p, h, *point.moved(dp, dh))
        return point

    def fields(self, T: float, rho: float) -> tuple[float, ...]:
        """What the tables hold, at a homogeneous state."""
        self._at(rho, T)
        state = self._state
        viscosity = self._transport("viscosity", state.viscosity)
        conductivity = self._transport("conductivity", state.conductivity)
        return (T, rho, state.smass(), state.speed_sound(), 1.0 / state.cpmass(), state.cvmass(), viscosity, 1.0 / conductivity)

    def _transport(self, name: str, ask: Callable[[], float]) -> float:
        """Not a number where the fluid has no such correlation, or where it finds nothing."""
        if name not in self.has:
            return float("nan")
        try:
            return ask()
        except ValueError:
            return float("nan")


def without_gaps(fields: np.ndarray) -> np.ndarray:
    """Points where a correlation gave nothing, from their neighbours along the line."""
    for column in fields.T:
        known = np.isfinite(column)
        if known.any() and not known.all():
            column[~known] = np.interp(np.flatnonzero(~known), np.flatnonzero(known), column[known])
    return fields
