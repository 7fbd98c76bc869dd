"""The expert's path: CoolProp's equation of state itself, exact and some hundred times slower than tables.

Each state is one call; derivatives are differences of such calls. Phases are those that CoolProp finds, so that there are no events
at borders: for steady states, for checks, and where tables do not reach.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from ..errors import UsageError
from ..language.functions import is_symbolic
from ..language.medium import Medium
from ..language.several import PythonSeveral, Several, several
from .names import coolprop_name

_PAIRS = {
    ("p", "h"): "HmassP_INPUTS", ("p", "T"): "PT_INPUTS", ("p", "s"): "PSmass_INPUTS", ("p", "x"): "PQ_INPUTS",
    ("T", "x"): "QT_INPUTS", ("rho", "T"): "DmassT_INPUTS", ("rho", "u"): "DmassUmass_INPUTS",
}  # fmt: skip
_SWAPPED = ("HmassP_INPUTS", "QT_INPUTS")  # CoolProp takes these the other way round
_RESULTS = ("T", "rho", "s", "speed_of_sound", "cp", "cv", "viscosity", "conductivity", "x")
_KEYS = ("iT", "iDmass", "iSmass", "ispeed_sound", "iCpmass", "iCvmass", "iviscosity", "iconductivity", "iQ")
_UNITS = ("K", "kg/m^3", "J/(kg*K)", "m/s", "J/(kg*K)", "J/(kg*K)", "Pa*s", "W/(m*K)", "1")
_GIVEN_UNITS = {"p": "Pa", "h": "J/kg", "T": "K", "s": "J/(kg*K)", "x": "1", "rho": "kg/m^3", "u": "J/kg"}


@cache
def direct(name: str, backend: str = "HEOS") -> DirectFluid:
    """A fluid whose properties CoolProp computes anew for each state: exact, and slow.

    >>> water = direct("water")
    >>> round(water.state(p=1e5, T=300.0).rho, 4)
    996.5565
    """
    return DirectFluid(coolprop_name(name), backend)


class DirectFluid(Medium):
    """A fluid of CoolProp without tables. Made by `ac.media.direct`."""

    def __init__(self, name: str, backend: str) -> None:
        import CoolProp.CoolProp as CP

        self._key = (name, backend)
        self.name = f"{name} by CoolProp"
        self._state, self._cp = CP.AbstractState(backend, name), CP
        self.T_critical, self.p_critical = self._state.T_critical(), self._state.p_critical()
        self._functions: dict[str, Several] = {}

    def function(self, kind: str) -> Several:
        if kind not in self._functions:
            self._functions[kind] = self._of_ph() if kind == "state" else self._inverse(kind)
        return self._functions[kind]

    def _of_ph(self) -> Several:
        cp = self._cp
        keys = [getattr(cp, k) for k in _KEYS]

        def properties(p: float, h: float) -> tuple[float, ...]:
            self._state.update(cp.HmassP_INPUTS, h, p)
            return tuple(self._output(k) for k in keys)

        return _named(
            several(properties, results=_RESULTS, units=("Pa", "J/kg", *_UNITS), name=f"{self.name}, state"), self, "state"
        )

    def _inverse(self, kind: str) -> Several:
        """p and h of another pair of properties."""
        a, b = kind.split(",")
        name = _PAIRS[a, b]
        inputs = getattr(self._cp, name)

        def found(first: float, second: float) -> tuple[float, float]:
            given = (second, first) if name in _SWAPPED else (first, second)
            self._state.update(inputs, *given)
            return self._state.p(), self._state.hmass()

        units = (_GIVEN_UNITS[a], _GIVEN_UNITS[b], "Pa", "J/kg")
        return _named(several(found, (a, b), ("p", "h"), units=units, name=f"{self.name}, ({a}, {b})"), self, kind)

    def _output(self, key: Any) -> float:
        try:
            return float(self._state.keyed_output(key))
        except ValueError:
            return float("nan")

    def state(self, *, phase: str | None = None, **given: Any) -> DirectState:
        """The state for two given properties, as `Fluid.state` takes them. CoolProp finds the phase; there are no events."""
        pair = next((p for p in _PAIRS if set(p) == set(given)), None)
        if pair is None:
            listed = ", ".join(f"({a}, {b})" for a, b in _PAIRS)
            raise UsageError(f"A state of {self.name} cannot be found from ({', '.join(given)}).", remedy=f"Give one of {listed}.")
        a, b = (given[n] for n in pair)
        try:
            p, h = (a, b) if pair == ("p", "h") else self.function(",".join(pair))(a, b)
            state = DirectState(self, p, h, given)
            if not is_symbolic(p) and not is_symbolic(h):
                _ = state.rho  # there is one, or CoolProp says why not
            return state
        except ValueError as error:
            raise UsageError(f"No state of {self.name}: {error}.") from None

    def saturation(self, *, p: Any = None, T: Any = None) -> DirectSaturation:
        """Both ends of the two-phase range."""
        if (p is None) == (T is None):
            raise UsageError("Saturation is asked for at a pressure or at a temperature: `saturation(p=…)` or `saturation(T=…)`.")
        given = {"p": p} if T is None else {"T": T}
        return DirectSaturation(*(self.state(**given, x=x) for x in (0.0, 1.0)))

    def __copy__(self) -> DirectFluid:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> DirectFluid:
        return self

    def __reduce__(self) -> Any:
        return (direct, self._key)


class _DirectFunction(PythonSeveral):
    """A function of a fluid, which another process finds by the fluid's name."""

    where: tuple[tuple[str, str], str]

    def __reduce__(self) -> Any:
        return (_restored, self.where)


def _named(function: Several, fluid: DirectFluid, kind: str) -> Several:
    function.__class__ = _DirectFunction
    function.where = (fluid._key, kind)  # type: ignore[attr-defined]
    return function


def _restored(key: tuple[str, str], kind: str) -> Several:
    return direct(*key).function(kind)


class DirectState:
    """Properties at one state: `p`, `h`, and `T`, `rho`, `s`, `cp`, `cv`, `x`, `speed_of_sound`, `viscosity`, `conductivity`."""

    def __init__(self, medium: DirectFluid, p: Any, h: Any, given: dict[str, Any]) -> None:
        self.medium, self.p, self.h, self._given = medium, p, h, given
        self._all: tuple[Any, ...] | None = None

    def __getattr__(self, name: str) -> Any:
        if name not in _RESULTS:
            raise AttributeError(name)
        if self._all is None:
            self._all = self.medium.function("state")(self.p, self.h)
        return self._given.get(name, self._all[_RESULTS.index(name)])

    @property
    def v(self) -> Any:
        """Specific volume in m³/kg."""
        return 1.0 / self.rho

    @property
    def u(self) -> Any:
        """Specific internal energy in J/kg."""
        return self.h - self.p / self.rho

    @property
    def prandtl(self) -> Any:
        """Prandtl number."""
        return self.cp * self.viscosity / self.conductivity


class DirectSaturation:
    """Liquid and vapour in equilibrium."""

    def __init__(self, liquid: DirectState, vapour: DirectState) -> None:
        self.liquid, self.vapour = liquid, vapour
        self.p = liquid.p

    @property
    def T(self) -> Any:
        """Temperature of the liquid in K."""
        return self.liquid.T

    @property
    def h_evaporation(self) -> Any:
        """Heat of evaporation in J/kg."""
        return self.vapour.h - self.liquid.h
