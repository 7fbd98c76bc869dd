"""Ideal gases and their mixtures, from NASA polynomials with enthalpies of formation.

cp/R = a1 + a2 T + a3 T² + a4 T³ + a5 T⁴, below and above 1000 K; a6 and a7 are the constants of h/(R T) and s/R (Burcat and Ruscic
2005, ANL-05/20). The coefficients are those of GRI-Mech 3.0 (Smith et al., thermo30.dat), valid from 200 or 300 K to 3500 K or
more.
Enthalpies contain those of formation at 298.15 K, so that reactions release what they should.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ..errors import UsageError, near_matches
from ..language.declarations import Declaration, Potential, Stream
from ..language.events import smooth
from ..language.functions import is_symbolic, log, numbers, plain, where
from ..language.implicit import Implicit
from ..language.medium import Medium
from . import gas_transport as transport

R = 8.31446261815324  # J/(mol K)
_MIDDLE = 1000.0
_LOG_MIDDLE = float(np.log(_MIDDLE))
_LOWEST, _HIGHEST = 200.0, 3500.0
_REFERENCE = 101325.0  # Pa, of the entropies

# molar mass in kg/mol; a1 … a7 below 1000 K; the same above
_SPECIES: dict[str, tuple[float, tuple[float, ...], tuple[float, ...]]] = {
    "N2": (28.0134e-3,
           (3.298677, 1.4082404e-3, -3.963222e-6, 5.641515e-9, -2.444854e-12, -1020.8999, 3.950372),
           (2.92664, 1.4879768e-3, -5.684760e-7, 1.0097038e-10, -6.753351e-15, -922.7977, 5.980528)),
    "O2": (31.9988e-3,
           (3.78245636, -2.99673416e-3, 9.84730201e-6, -9.68129509e-9, 3.24372837e-12, -1063.94356, 3.65767573),
           (3.28253784, 1.48308754e-3, -7.57966669e-7, 2.09470555e-10, -2.16717794e-14, -1088.45772, 5.45323129)),
    "H2O": (18.01528e-3,
            (4.19864056, -2.03643410e-3, 6.52040211e-6, -5.48797062e-9, 1.77197817e-12, -30293.7267, -0.849032208),
            (3.03399249, 2.17691804e-3, -1.64072518e-7, -9.70419870e-11, 1.68200992e-14, -30004.2971, 4.96677010)),
    "CO2": (44.0095e-3,
            (2.35677352, 8.98459677e-3, -7.12356269e-6, 2.45919022e-9, -1.43699548e-13, -48371.9697, 9.90105222),
            (3.85746029, 4.41437026e-3, -2.21481404e-6, 5.23490188e-10, -4.72084164e-14, -48759.1660, 2.27163806)),
    "CO": (28.0101e-3,
           (3.57953347, -6.10353680e-4, 1.01681433e-6, 9.07005884e-10, -9.04424499e-13, -14344.0860, 3.50840928),
           (2.71518561, 2.06252743e-3, -9.98825771e-7, 2.30053008e-10, -2.03647716e-14, -14151.8724, 7.81868772)),
    "H2": (2.01588e-3,
           (2.34433112, 7.98052075e-3, -1.94781510e-5, 2.01572094e-8, -7.37611761e-12, -917.935173, 0.683010238),
           (3.33727920, -4.94024731e-5, 4.99456778e-7, -1.79566394e-10, 2.00255376e-14, -950.158922, -3.20502331)),
    "CH4": (16.0425e-3,
            (5.14987613, -1.36709788e-2, 4.91800599e-5, -4.84743026e-8, 1.66693956e-11, -10246.6476, -4.64130376),
            (7.48514950e-2, 1.33909467e-2, -5.73285809e-6, 1.22292535e-9, -1.01815230e-13, -9468.34459, 18.4373180)),
    "H": (1.00794e-3,
          (2.5, 7.05332819e-13, -1.99591964e-15, 2.30081632e-18, -9.27732332e-22, 25473.6599, -0.446682853),
          (2.50000001, -2.30842973e-11, 1.61561948e-14, -4.73515235e-18, 4.98197357e-22, 25473.6599, -0.446682914)),
    "O": (15.9994e-3,
          (3.16826710, -3.27931884e-3, 6.64306396e-6, -6.12806624e-9, 2.11265971e-12, 29122.2592, 2.05193346),
          (2.56942078, -8.59741137e-5, 4.19484589e-8, -1.00177799e-11, 1.22833691e-15, 29217.5791, 4.78433864)),
    "OH": (17.00734e-3,
           (3.99201543, -2.40131752e-3, 4.61793841e-6, -3.88113333e-9, 1.36411470e-12, 3615.08056, -0.103925458),
           (3.09288767, 5.48429716e-4, 1.26505228e-7, -8.79461556e-11, 1.17412376e-14, 3858.65700, 4.47669610)),
    "Ar": (39.948e-3, (2.5, 0.0, 0.0, 0.0, 0.0, -745.375, 4.366), (2.5, 0.0, 0.0, 0.0, 0.0, -745.375, 4.366)),
}  # fmt: skip


DRY_AIR = {"N2": 0.7812, "O2": 0.2096, "Ar": 0.0092}  # shares of mole; carbon dioxide counts as argon


def ideal_gas(
    species: str | Sequence[str], *, mole: Sequence[float] | None = None, mass: Sequence[float] | None = None
) -> IdealGas:
    """An ideal gas, a mixture with shares of mole or of mass that sum to one, or dry "air".

    >>> air = ideal_gas(["N2", "O2", "Ar"], mole=[0.78, 0.21, 0.01])
    >>> round(air.state(p=101325.0, T=300.0).cp, 1)
    1003.1
    """
    if isinstance(species, Mapping):
        listed = ", ".join(map(str, species.values()))
        raise UsageError(
            f"Are {listed} shares of mole or of mass?", remedy=f"ideal_gas({list(species)}, mole=[{listed}]), or mass=[{listed}]."
        )
    if isinstance(species, str) and species.lower() == "air" and mole is mass is None:
        return ideal_gas(tuple(DRY_AIR), mole=tuple(DRY_AIR.values()))
    names = (species,) if isinstance(species, str) else tuple(species)
    for name in names:
        if name not in _SPECIES:
            what = f"There are no polynomials of a gas `{name}`. {near_matches(name, _SPECIES)}".rstrip()
            raise UsageError(what, remedy=f"There are {', '.join(_SPECIES)}, and air.")
    if mole is not None and mass is not None:
        raise UsageError("A composition is given by shares of mole or of mass, not by both.")
    if len(names) == 1:
        return IdealGas(names, np.ones(1))
    given = mole if mole is not None else mass
    if given is None:
        return IdealGas(names, None)
    shares = _checked(names, given)
    if mole is not None:
        shares = shares * np.array([_SPECIES[n][0] for n in names])
        shares = shares / shares.sum()
    return IdealGas(names, shares)


def _checked(names: tuple[str, ...], given: Sequence[float]) -> np.ndarray:
    shares = np.asarray(given, dtype=float)
    if shares.shape != (len(names),):
        raise UsageError(f"A mixture of {', '.join(names)} needs {len(names)} shares, got {shares.size}.")
    if np.any(shares < 0) or abs(shares.sum() - 1.0) > 1e-6:
        raise UsageError(
            f"The shares of {', '.join(names)} sum to {shares.sum():g}, not to one.",
            remedy=f"Scale them: {', '.join(f'{s:.4g}' for s in shares / shares.sum())}."
            if np.all(shares >= 0) and shares.sum() > 0
            else "Shares are not negative.",
        )
    return shares


class IdealGas(Medium):
    """A mixture of ideal gases, of given composition or of one that each state brings."""

    said_by_temperature = True

    def __init__(self, species: tuple[str, ...], shares: np.ndarray | None) -> None:
        self.species, self.shares = species, shares
        self.molar_masses = np.array([_SPECIES[n][0] for n in species])
        self.name = " + ".join(species)
        self.substances = species if shares is None else ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, IdealGas) and self._said() == other._said()

    def __hash__(self) -> int:
        return hash(self._said())

    def particulars(self) -> str:
        return "" if self.shares is None or len(self.species) == 1 else ", ".join(f"{share:.6g}" for share in self.shares)

    def _said(self) -> tuple[Any, ...]:
        return self.species, None if self.shares is None else self.shares.tobytes()

    def state(
        self,
        *,
        p: Any,
        T: Any = None,
        h: Any = None,
        s: Any = None,
        X: Any = None,
        composition: Any = None,
        phase: str | None = None,
    ) -> GasState:
        """The state at (p, T), (p, h) or (p, s). `X` (or `composition`): shares of mass, numbers or expressions. It is gas,
        whatever is said of the phase.

        >>> air = ideal_gas(["N2", "O2"], mole=[0.79, 0.21])
        >>> cold = air.state(p=1e5, T=300.0)
        >>> round(air.state(p=4e5, s=cold.s).T, 1)  # after an isentropic compression
        444.2
        """
        shares = self._shares(X if composition is None else composition)
        if sum(given is not None for given in (T, h, s)) != 1:
            raise UsageError(f"A state of {self.name} is found from (p, T), (p, h) or (p, s).")
        varying = shares if self.shares is None else ()
        if h is not None:
            T = self._temperature(h, *varying)
        elif s is not None:
            T = self._temperature_of_entropy(s, p, *varying)
        if not is_symbolic(T):
            values = np.asarray(numbers(T))
            if np.any(~((values >= _LOWEST) & (values <= _HIGHEST))):
                raise UsageError(
                    f"The polynomials of {self.name} hold from {_LOWEST:g} to {_HIGHEST:g} K, not for {np.ravel(values)[0]:g} K."
                )
        return GasState(self, p, T, shares)

    def _shares(self, composition: Any) -> Sequence[Any]:
        if composition is None:
            if self.shares is None:
                raise UsageError(
                    f"The composition of {self.name} is not known.", remedy="Give `composition=…` with each state, or `mole=…`."
                )
            return list(self.shares)
        given = [composition[k] for k in range(len(self.species))]
        return given if any(is_symbolic(g) for g in given) else list(_checked(self.species, given))

    @cached_property
    def _temperature(self) -> Implicit:
        """The temperature at which the gas has an enthalpy; with shares of mass, where they vary."""
        return self._inverse(("h",), lambda T, shares, h: GasState(self, _REFERENCE, T, shares).h - h)

    @cached_property
    def _temperature_of_entropy(self) -> Implicit:
        """The temperature at which the gas has an entropy at a pressure."""
        return self._inverse(("s", "p"), lambda T, shares, s, p: GasState(self, p, T, shares).s - s)

    def _inverse(self, given: tuple[str, ...], difference: Any) -> Implicit:
        fixed = None if self.shares is None else list(self.shares)

        def zero(T: Any, *values: Any) -> Any:
            return difference(T, fixed or list(values[len(given) :]), *values[: len(given)])

        said = {"start": 300.0, "min": _LOWEST, "max": _HIGHEST, "nominal": 300.0, "unit": "K"}
        varying = tuple(f"X_{n}" for n in self.species) if fixed is None else ()
        return Implicit(zero, {"T": said}, (*given, *varying), self.name)

    def port_members(self) -> dict[str, Declaration]:
        """Ports start with air-like conditions; with the shares of mass, where they vary.

        Pressures are positive, also on the way to a start: where one and the density have changed sign, ``rho·p`` of a nozzle or a
        turbine has not, and another solution is there.
        """
        even = np.full(len(self.species), 1.0 / len(self.species))
        start = GasState(self, 101325.0, 293.15, list(even if self.shares is None else self.shares)).h
        of_h = Stream(with_="m_flow", unit="J/kg", nominal=1e5, start=start, doc="specific enthalpy")
        of_p = Potential(unit="Pa", nominal=1e5, start=1e5, min=1.0, doc="pressure")
        return {**super().port_members(), "p": of_p, "h": of_h}

    @cached_property
    def s_mixing(self) -> float:
        """Entropy of mixing in J/(kg K), of a mixture of given composition: ``-R·sum(y·ln y)`` with shares of mole y."""
        if self.shares is None:
            return 0.0
        moles = self.shares / self.molar_masses
        y = moles[moles > 0] / moles.sum()
        return float(-R * moles.sum() * np.sum(y * np.log(y)))

    def reaction_enthalpy(self, T: Any, moles: Mapping[str, float]) -> Any:
        """The heat that a reaction takes up at T, in J for the moles given: negative for what is used up. Elements must balance.

        >>> gas = ideal_gas(["CH4", "O2", "CO2", "H2O"])
        >>> round(gas.reaction_enthalpy(298.15, {"CH4": -1, "O2": -2, "CO2": 1, "H2O": 2}) / 1e3, 1)  # kJ, water as vapour
        -802.6
        """
        _balanced(moles)
        total: Any = 0.0
        for name, count in moles.items():
            one = ideal_gas(name)
            total = total + count * _SPECIES[name][0] * GasState(one, _REFERENCE, T, [1.0]).h
        return total


def _balanced(moles: Mapping[str, float]) -> None:
    unknown = [name for name in moles if name not in _SPECIES]
    if unknown:
        raise UsageError(f"There are no polynomials of a gas `{unknown[0]}`. {near_matches(unknown[0], _SPECIES)}".rstrip())
    elements: dict[str, float] = {}
    for name, count in moles.items():
        for element, number in re.findall(r"(Ar|[A-Z])(\d*)", name):
            elements[element] = elements.get(element, 0.0) + count * float(number or 1)
    wrong = {e: n for e, n in elements.items() if abs(n) > 1e-9}
    if wrong:
        listed = ", ".join(f"{n:+g} {e}" for e, n in wrong.items())
        raise UsageError(f"The reaction does not balance: {listed}.", remedy="Moles that are used up count negative.")


class GasState:
    """Properties of an ideal gas at p, T and composition."""

    def __init__(self, medium: IdealGas, p: Any, T: Any, shares: Sequence[Any]) -> None:
        self.medium, self.p, self.T, self._shares = medium, p, T, shares

    def __getattr__(self, name: str) -> Any:
        if name != "surface_tension":
            raise AttributeError(f"{type(self).__name__} has no `{name}`")
        raise UsageError(
            f"{self.medium.name} has no surface tension: it is a gas.",
            remedy='Take a fluid with tables: `ac.media.fluid("nitrogen")`.',
        )

    def _mixed(self, of_species: Any) -> Any:
        """The mass mean of molar quantities of the species."""
        terms = [
            y * (R / m) * of_species(name)
            for name, m, y in zip(self.medium.species, self.medium.molar_masses, self._shares, strict=True)
        ]
        total = terms[0]
        for term in terms[1:]:
            total = total + term
        return total if is_symbolic(total) else plain(np.asarray(total))

    def _choice(self, name: str, value: Any) -> Any:
        _, low, high = _SPECIES[name]
        if low == high:
            return value(low)
        if is_symbolic(self.T):
            return smooth(where(self.T < _MIDDLE, value(low), value(high)))
        return np.where(numbers(self.T) < _MIDDLE, value(low), value(high))

    @property
    def gas_constant(self) -> Any:
        """In J/(kg K)."""
        return self._mixed(lambda name: 1.0)

    @property
    def cp(self) -> Any:
        """In J/(kg K)."""
        return self._mixed(self._cp_of)

    def _cp_of(self, name: str) -> Any:
        T = self.T
        return self._choice(name, lambda a: a[0] + T * (a[1] + T * (a[2] + T * (a[3] + T * a[4]))))

    @property
    def cv(self) -> Any:
        """In J/(kg K)."""
        return self.cp - self.gas_constant

    @property
    def viscosity(self) -> Any:
        """Dynamic viscosity in Pa s; see `gas_transport.py`."""
        mu = self._viscosities()
        return self._transported(mu, mu)

    @property
    def conductivity(self) -> Any:
        """Thermal conductivity in W/(m K)."""
        mu, gases = self._viscosities(), zip(self.medium.species, self.medium.molar_masses.tolist(), strict=True)
        each = [transport.conductivity(name, R / m * self._cp_of(name), R / m, mu[k]) for k, (name, m) in enumerate(gases)]
        return self._transported(each, mu)

    @property
    def prandtl(self) -> Any:
        return self.cp * self.viscosity / self.conductivity

    def _viscosities(self) -> list[Any]:
        T, gases = (self.T if is_symbolic(self.T) else numbers(self.T)), self.medium
        return [transport.viscosity(n, m, T) for n, m in zip(gases.species, gases.molar_masses.tolist(), strict=True)]

    def _transported(self, each: list[Any], mu: list[Any]) -> Any:
        masses = self.medium.molar_masses.tolist()
        moles = [y / m for y, m in zip(self._shares, masses, strict=True)]
        found = each[0] if len(each) == 1 else transport.mixed(each, mu, masses, moles)
        return found if is_symbolic(found) else plain(np.asarray(found))

    @property
    def h(self) -> Any:
        """Specific enthalpy in J/kg, with that of formation."""
        T = self.T

        def molar(a: tuple[float, ...]) -> Any:
            return a[5] + T * (a[0] + T * (a[1] / 2 + T * (a[2] / 3 + T * (a[3] / 4 + T * a[4] / 5))))

        return self._mixed(lambda name: self._choice(name, molar))

    @property
    def rho(self) -> Any:
        """In kg/m³."""
        return self.p / (self.gas_constant * self.T)

    @property
    def u(self) -> Any:
        """Specific internal energy in J/kg."""
        return self.h - self.gas_constant * self.T

    @property
    def speed_of_sound(self) -> Any:
        """In m/s."""
        return (self.cp / self.cv * self.gas_constant * self.T) ** 0.5

    @property
    def v(self) -> Any:
        """Specific volume in m³/kg."""
        return 1.0 / self.rho

    @property
    def phase(self) -> float:
        return 1.0

    @property
    def s(self) -> Any:
        """Specific entropy in J/(kg K). Of a mixture of given composition it contains that of mixing; where the composition varies
        it does not (`s_pure`): mixing without reaction then makes no entropy, and a change of state none too much."""
        return self.s_pure + self.medium.s_mixing

    @property
    def s_pure(self) -> Any:
        """Specific entropy in J/(kg K) without that of mixing."""
        T = self.T

        def molar(a: tuple[float, ...]) -> Any:
            return a[0] * log(T / _MIDDLE) + a[0] * _LOG_MIDDLE + a[6] + T * (a[1] + T * (a[2] / 2 + T * (a[3] / 3 + T * a[4] / 4)))

        return self._mixed(lambda name: self._choice(name, molar)) - self.gas_constant * log(self.p / _REFERENCE)
