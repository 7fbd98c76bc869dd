"""Where a fluid's table reaches unless somebody says otherwise."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import UsageError
from .equation_of_state import EquationOfState

LOWEST = 1e-4  # of the critical pressure: liquids colder than that are of no use in a plant, and tables would be mostly empty

# (highest temperature in K, highest pressure in Pa); what engineers ask of these fluids, within the limits of their equations.
_HIGHEST = {
    "Water": (1073.15, 1e8), "CarbonDioxide": (600.0, 3e7), "R134a": (450.0, 1e7), "n-Propane": (500.0, 1.5e7),
    "IsoButane": (500.0, 1.5e7), "Ammonia": (600.0, 4e7), "R1234yf": (405.0, 1e7), "R32": (430.0, 1.5e7), "R410A": (450.0, 1.5e7),
    "Nitrogen": (600.0, 3e7), "Oxygen": (600.0, 3e7), "Hydrogen": (400.0, 1.5e7), "Helium": (350.0, 1e6),
}  # fmt: skip
# K. Colder, hydrogen and helium are solid or superfluid within the table's pressures; water is asked for down to where it freezes.
_LOWEST = {"Hydrogen": 18.0, "Helium": 3.2, "Water": 273.161}
GAS = 1e-12  # of the critical pressure: so thin a gas is known, which is as good as a vacuum
_TIMES_CRITICAL = (1.6, 3.0)  # of other fluids …
_WARM = 450.0  # K; … and those with a low critical point (air, argon, methane) are asked for in a warm room, too


@dataclass(frozen=True)
class Range:
    """The corners of a table."""

    T_min: float
    T_max: float
    p_min: float
    p_max: float
    p_gas: float  # of gas, below the lowest saturation pressure


def range_of(eos: EquationOfState, T_min: float | None = None, T_max: float | None = None, p_max: float | None = None) -> Range:
    """The range of a table, from the fluid's equation and what the user wants of it."""
    others = max(_TIMES_CRITICAL[0] * eos.T_critical, _WARM), _TIMES_CRITICAL[1] * eos.p_critical
    by_name = _HIGHEST.get(eos.name, others)
    highest_T = T_max or min(by_name[0], 0.99 * eos.T_limit)
    highest_p = p_max or min(by_name[1], 0.95 * eos.p_limit)
    lowest_T = T_min or _LOWEST.get(eos.name) or _lowest(eos)
    for value, low, high, name, unit in (
        (lowest_T, eos.T_triple, 0.95 * eos.T_critical, "T_min", "K"),
        (highest_T, 1.01 * eos.T_critical, eos.T_limit, "T_max", "K"),
        (highest_p, 1.2 * eos.p_critical, eos.p_limit, "p_max", "Pa"),
    ):
        if not low <= value <= high:
            raise UsageError(
                f"`{name}` = {value:g} {unit} is outside what the equation of {eos.name} covers and a table can hold: "
                f"{low:g} … {high:g} {unit}.",
                remedy=f"Leave `{name}` out, or give a value in that range.",
            )
    return Range(lowest_T, highest_T, eos.saturation_pressure(lowest_T), highest_p, GAS * eos.p_critical)


def _lowest(eos: EquationOfState) -> float:
    cold = eos.T_triple + 1e-3
    if eos.saturation_pressure(cold) >= LOWEST * eos.p_critical:
        return cold
    return eos.saturated(LOWEST * eos.p_critical)[0].T
