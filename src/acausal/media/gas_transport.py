"""Viscosity and conductivity of ideal gases, from kinetic theory.

Of each gas: Chapman and Enskog's viscosity with the collision integral of Neufeld, Janzen and Aziz (1972) and the term of Brokaw
(1969) for dipoles; the parameters are those of GRI-Mech 3.0 (Smith et al., transport.dat), as the polynomials. Conductivity is
viscosity times 1.15 cv + 2.03 R (Stiel and Thodos 1964); of steam, whose turning molecules part with less, cp / 0.95. Mixtures:
Wilke (1950), and Mason and Saxena (1958) with the same factors. From 300 to 1000 K viscosity is within 6 % of the reference
equations of CoolProp, conductivity within 12 %.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..language.functions import exp

# ε/k in K, σ in 1e-10 m, and the reduced dipole moment δ = μ²/(2 ε σ³)
_COLLISIONS: dict[str, tuple[float, float, float]] = {
    "N2": (97.53, 3.621, 0.0), "O2": (107.4, 3.458, 0.0), "H2O": (572.4, 2.605, 1.217), "CO2": (244.0, 3.763, 0.0),
    "CO": (98.1, 3.65, 0.0), "H2": (38.0, 2.92, 0.0), "CH4": (141.4, 3.746, 0.0), "H": (145.0, 2.05, 0.0),
    "O": (80.0, 2.75, 0.0), "OH": (80.0, 2.75, 0.0), "Ar": (136.5, 3.33, 0.0),
}  # fmt: skip
_STEAM_PRANDTL = 0.95


def viscosity(name: str, M: float, T: Any) -> Any:
    """Of one gas, in Pa s; M in kg/mol."""
    energy, diameter, dipole = _COLLISIONS[name]
    t = T / energy
    integral = 1.16145 * t**-0.14874 + 0.52487 * exp(-0.77320 * t) + 2.16178 * exp(-2.43787 * t) + 0.2 * dipole**2 / t
    return 2.6693e-6 * (1e3 * M) ** 0.5 / diameter**2 * T**0.5 / integral


def conductivity(name: str, cp: Any, R: float, mu: Any) -> Any:
    """Of one gas, in W/(m K), from its cp and gas constant in J/(kg K) and its viscosity."""
    return mu * cp / _STEAM_PRANDTL if name == "H2O" else mu * (1.15 * (cp - R) + 2.03 * R)


def mixed(values: Sequence[Any], mu: Sequence[Any], masses: Sequence[float], moles: Sequence[Any]) -> Any:
    """What a mixture has, of values of its gases, with their viscosities, molar masses and shares of moles (of any sum)."""
    total: Any = 0.0
    for i, value in enumerate(values):
        around: Any = 0.0
        for j in range(len(values)):
            around = around + moles[j] * _factor(mu[i], mu[j], masses[i], masses[j])
        total = total + moles[i] * value / around
    return total


def _factor(mu_i: Any, mu_j: Any, M_i: float, M_j: float) -> Any:
    """Wilke's: how much gas j is in the way of gas i."""
    return (1.0 + (mu_i / mu_j) ** 0.5 * (M_j / M_i) ** 0.25) ** 2 / (8.0 * (1.0 + M_i / M_j)) ** 0.5
