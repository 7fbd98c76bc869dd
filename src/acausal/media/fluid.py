"""Pure and pseudo-pure fluids: `ac.media.fluid("R134a")`, one object with its functions, for numbers and in equations."""

from __future__ import annotations

from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from ..economy import blake2b
from ..errors import UsageError
from ..language.declarations import Declaration, Potential, Stream
from ..language.events import no_event
from ..language.functions import is_symbolic, maximum, numbers, plain, where
from ..language.medium import Medium
from .functions import FluidFunction
from .names import coolprop_name
from .progress import bar
from .store import table_of

if TYPE_CHECKING:
    from .build import Progress

_PAIRS = (("p", "h"), ("p", "T"), ("p", "s"), ("p", "x"), ("T", "x"), ("rho", "T"), ("rho", "u"))
_PHASES = {"liquid": -1.0, "two-phase": 0.0, "vapour": 1.0, "any": 2.0, "liquid or not": 3.0}
CELSIUS, BAR, FAR = (-60.0, 150.0), (0.5, 150.0), 0.7  # numbers of plants without a unit; share of the lowest temperature
_NO_ROOM = 1e-3  # J/kg between liquid and vapour: above the critical pressure there is none
_fluids: dict[tuple[Any, ...], Fluid] = {}
_making = Lock()


def fluid(name: str, *, T_min: float | None = None, T_max: float | None = None, p_max: float | None = None) -> Fluid:
    """A fluid that CoolProp knows, from tables that are made once and kept on disk.

    `T_min`, `T_max` and `p_max` change how far the tables reach; without them they cover what engineers ask of the fluid.

    >>> water = fluid("water")
    >>> round(water.state(p=1e5, T=300.0).rho, 2)
    996.56
    >>> round(water.saturation(p=101325.0).T, 2)
    373.12
    """
    key = (coolprop_name(name), T_min, T_max, p_max)
    with _making:
        if key not in _fluids:
            _fluids[key] = Fluid(*key)
        return _fluids[key]


class Fluid(Medium):
    """A fluid's properties. Made by `ac.media.fluid`; the same fluid is the same object."""

    evaporates = True

    def __init__(self, name: str, T_min: float | None, T_max: float | None, p_max: float | None) -> None:
        from .._core import FluidTable

        self.name = name
        self._key = (name, T_min, T_max, p_max)
        with bar(f"tables of {name}") as progress:
            self.table = _table(self._key, progress)
        self.native = FluidTable(self.table, self.table)
        self._functions: dict[str, FluidFunction] = {}
        t = self.table
        self.p_min, self.p_max, self.p_critical = (float(v) for v in t[1:4])
        self.p_gas, self.h_gas = (float(v) for v in t[41:43])  # lowest pressure of gas; its lowest enthalpy at p_min
        self.h_min = float(t[6])
        self.T_min, self.T_max = (float(v) for v in t[10:12])
        self.T_critical, self.rho_critical, self.h_critical, self.molar_mass, self.gas_constant = (float(v) for v in t[15:20])

    @cached_property
    def digest(self) -> str:
        """Of the numbers of its table: of two fluids of one name the one that was meant."""
        return blake2b(self.table.tobytes(), digest_size=20).hexdigest()

    def port_members(self) -> dict[str, Declaration]:
        """Ports start near room temperature: at saturation where that is a pressure of plants, else in liquid or gas at 1 bar."""
        T = min(max(293.15, self.T_min), self.T_max)
        p = float(self.function("p_Tx")(T, 0.0)[0]) if T < 0.98 * self.T_critical else 0.0
        if 1e5 < p < 0.9 * self.p_critical:
            h = self.saturation(p=p).vapour.h
        else:
            p = min(max(1e5, self.p_min), self.p_max)
            h = self.state(p=p, T=T).h
        start = {"p": Potential(unit="Pa", nominal=1e5, start=p, doc="pressure")}
        return {**start, "h": Stream(with_="m_flow", unit="J/kg", nominal=1e5, start=h, doc="specific enthalpy")}

    def function(self, kind: str) -> FluidFunction:
        """One of the table's functions with several results; see `acausal.media.functions.KINDS`."""
        if kind not in self._functions:
            self._functions[kind] = FluidFunction(self, kind)
        return self._functions[kind]

    def state(self, *, phase: str | None = None, **given: Any) -> State:
        """The state for two given properties: (p, h), (p, T), (p, s), (p, x), (T, x), (rho, T) or (rho, u).

        With numbers or arrays it gives numbers, in equations expressions. There the phase is a relation: each change of phase is
        an event, between events the equations are smooth. `phase="liquid"`, `"two-phase"` or `"vapour"` says that it is known; the
        properties then go on smoothly beyond saturation. `phase="any"` takes the properties as they come, without events;
        `phase="liquid or not"` has events where liquid begins to boil, and vapour, where hardly anything bends, as it comes.

        >>> r134a = fluid("R134a")
        >>> state = r134a.state(p=1e6, x=0.3)
        >>> round(state.T, 3), round(state.h / 1e3, 2), state.phase
        (312.545, 304.51, 0.0)
        """
        pair = next((p for p in _PAIRS if set(p) == set(given)), None)
        if pair is None:
            listed = ", ".join(f"({a}, {b})" for a, b in _PAIRS)
            raise UsageError(f"A state of {self.name} cannot be found from ({', '.join(given)}).", remedy=f"Give one of {listed}.")
        if phase is not None and phase not in _PHASES:
            raise UsageError(f"A phase is one of {', '.join(_PHASES)}, not {phase!r}.")
        a, b = (given[n] for n in pair)
        symbolic = is_symbolic(a) or is_symbolic(b)
        if not symbolic:
            a, b = np.broadcast_arrays(numbers(a), numbers(b))
        strict = pair == ("p", "x") and phase == "two-phase"  # it has to exist; otherwise an iteration may come from beyond
        p, h = (a, self.function("h_px")(a, b)[0]) if strict and symbolic else self._p_and_h(pair, a, b)
        known = {pair[0]: a, pair[1]: b} | {"p": p, "h": h}
        state = State(self, p, h, known, None if phase is None else _PHASES[phase])
        if not symbolic:
            self._refuse_outside(pair, a, b, state)
        return state

    def _p_and_h(self, pair: tuple[str, str], a: Any, b: Any) -> tuple[Any, Any]:
        if pair == ("p", "h"):
            return a, b
        if pair in (("p", "T"), ("p", "s")):
            return a, self.function(f"h_{pair[0]}{pair[1]}")(a, b)[0]
        if pair in (("p", "x"), ("T", "x")):
            p = a if pair[0] == "p" else self.function("p_Tx")(a, b)[0]
            low, high = self.function("borders")(p)
            return p, low + b * (high - low)
        p, h = self.function(f"ph_{pair[0]}{pair[1]}")(a, b)
        return p, h

    def saturation(self, *, p: Any = None, T: Any = None) -> Saturation:
        """Both ends of the two-phase range, at a pressure or at a temperature (of the liquid, where the mixture has a glide).

        >>> co2 = fluid("R744")
        >>> ends = co2.saturation(T=273.15)
        >>> round(ends.p / 1e5, 3), round(ends.liquid.rho, 1), round(ends.vapour.rho, 2)
        (34.851, 927.4, 97.65)
        """
        if (p is None) == (T is None):
            raise UsageError("Saturation is asked for at a pressure or at a temperature: `saturation(p=…)` or `saturation(T=…)`.")
        if p is None:
            p = self.function("p_Tx")(T, 0.0)[0]
            if not is_symbolic(T) and np.any(~np.isfinite(p)):
                raise UsageError(self._no_saturation("T", T))
        elif not is_symbolic(p) and np.any(~((numbers(p) >= self.p_min * (1 - 1e-9)) & (numbers(p) <= self.p_critical))):
            raise UsageError(self._no_saturation("p", p))
        return Saturation(self, p)

    def _no_saturation(self, name: str, value: Any) -> str:
        low, high, unit = (self.p_min, self.p_critical, "Pa") if name == "p" else (self.T_min, self.T_critical, "K")
        listed = np.ravel(numbers(value))
        wrong = listed[~((listed >= low) & (listed <= high))]
        at = wrong[0] if len(wrong) else listed[0]
        exist = f"liquid and vapour exist from {low:g} to {high:g} {unit} in this table"
        return f"{self.name} has no two phases at {name} = {at:g} {unit}: {exist}."

    # --- limits -------------------------------------------------------------------------------------------------------
    def why_outside(self, margin: float = 0.0, **given: float) -> str:
        """Which limit of the table a state violates, or comes near by a share of `margin`, in words; empty if none."""
        p, h, T, x = (given.get(n) for n in ("p", "h", "T", "x"))
        unknown = next((n for n, v in given.items() if isinstance(v, float) and v != v), None)
        if unknown is not None:
            return f"{unknown} is not a number (nan)"
        for name, value, low, high, unit, what in (
            ("p", p, self.p_gas, self.p_max, "Pa", "pressure"),
            ("T", T, self.T_min, self.T_max, "K", "temperature"),
        ):
            if value is not None and not low * (1 + margin) <= value <= high * (1 - margin):
                cold = value <= low * (1 + margin)
                side, limit = ("lowest", low) if cold else ("highest", high)
                where = f"{'below' if cold else 'above'} the" if not low <= value <= high else "at the"
                more = self._meant(name, value) if cold else f"; {self._further(f'{name}_max')}"
                return f"{name} = {value:g} {unit} is {where} {side} {what} of the table of {self.name}, {limit:g} {unit}{more}"
        if x is not None and T is not None and T >= self.T_critical:
            return self._no_saturation("T", T)
        if x is not None and p is not None and not self.p_min <= p <= self.p_critical:
            return self._no_saturation("p", p)
        if h is not None and not h >= self.h_min + margin * float(self.table[9]):
            return f"h = {h:g} J/kg is below the lowest enthalpy of the table of {self.name}, {self.h_min:g} J/kg"
        if p is not None and h is not None:
            return self._why_too_cold(p, h, margin) or self._why_too_hot(p, h, margin)
        if margin:
            return ""
        listed = ", ".join(f"{n} = {v:g}" for n, v in given.items() if n != "phase")
        fits = "; a mass has to fit into its volume at its temperature, and be more than none" if "rho" in given else ""
        return f"{listed} is outside the table of {self.name} ({self._corners()}){self._densest(given.get('rho'), T)}{fits}"

    def _densest(self, rho: float | None, T: float | None) -> str:
        """How dense it may be where it is asked to be denser."""
        if rho is None or T is None:
            return ""
        most = float(self.state(p=self.p_max, T=T).rho)
        return f"; at {T:g} K its density is {most:.0f} kg/m³ at most" if rho > most else ""

    def _why_too_cold(self, p: float, h: float, margin: float) -> str:
        if p < self.p_min and h < self.h_gas + margin * float(self.table[9]):
            return (
                f"h = {h:g} J/kg at p = {p:g} Pa is colder than gas in the table of {self.name}: below {self.p_min:g} Pa, where "
                f"its liquid ends, there is gas from {self.T_min:g} K on ({self.h_gas:g} J/kg){self._meant('p', p)}"
            )
        return ""

    def _why_too_hot(self, p: float, h: float, margin: float) -> str:
        highest = float(self.function("h_pT")(p, self.T_max)[0])
        if h > highest - margin * float(self.table[9]):
            reach = f"{'hotter than' if h > highest else 'as hot as'} the table of {self.name} reaches"
            return f"h = {h:g} J/kg at p = {p:g} Pa is {reach}, {self.T_max:g} K ({highest:g} J/kg); {self._further('T_max')}"
        return ""

    def _meant(self, name: str, value: float) -> str:
        """What a temperature or a pressure that is too low was perhaps meant to be: one that plants have and this fluid has, too.
        A temperature little below the lowest was meant in K."""
        in_celsius, in_bar = value + 273.15, value * 1e5
        if name == "T" and CELSIUS[0] <= value <= min(CELSIUS[1], FAR * self.T_min) and self.T_min <= in_celsius <= self.T_max:
            return f'; temperatures are in K, {value:g} °C is written "{value:g} degC"'
        if name == "p" and BAR[0] <= value <= BAR[1] and self.p_min <= in_bar <= self.p_max:
            return f'; pressures are in Pa, {value:g} bar is written "{value:g} bar"'
        return ""

    def _further(self, limit: str) -> str:
        return f'`ac.media.fluid("{self.name}", {limit}=…)` reaches further'

    def _corners(self) -> str:
        return f"{self.T_min:g} … {self.T_max:g} K, {self.p_min:g} … {self.p_max:g} Pa"

    def _refuse_outside(self, pair: tuple[str, str], a: np.ndarray, b: np.ndarray, state: State) -> None:
        p, h = (np.asarray(v, dtype=float) for v in (state.p, state.h))
        T = np.asarray(state.T, dtype=float)
        slack = 1e-9
        wrong = ~np.isfinite(T) | (p < self.p_gas * (1 - slack)) | (p > self.p_max * (1 + slack)) | (T > self.T_max * (1 + slack))
        if "x" in pair:
            wrong |= (p > self.p_critical) | (p < self.p_min * (1 - slack)) | (b < -slack) | (b > 1 + slack)
        if not np.any(wrong):
            return
        index = tuple(np.argwhere(wrong)[0])
        first, second, pressure, enthalpy = (float(np.broadcast_to(v, wrong.shape)[index]) for v in (a, b, p, h))
        if "x" in pair and not -slack <= second <= 1 + slack:
            raise UsageError(f"x = {second:g} is no quality of {self.name}: it goes from 0 (liquid) to 1 (vapour).")
        if "x" in pair and (not self.p_min <= pressure <= self.p_critical or pair[0] == "T"):
            raise UsageError(self._no_saturation(pair[0], first))
        why = self.why_outside(**{pair[0]: first, pair[1]: second}) or self.why_outside(p=pressure, h=enthalpy)
        raise UsageError(f"No state of {self.name}: {why}.")

    def __copy__(self) -> Fluid:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Fluid:
        return self

    def __reduce__(self) -> Any:
        return (_restored, self._key)

    def __repr__(self) -> str:
        return f"fluid({self.name!r}): {self._corners()}"


def _restored(name: str, T_min: float | None, T_max: float | None, p_max: float | None) -> Fluid:
    return fluid(name, T_min=T_min, T_max=T_max, p_max=p_max)


def _table(key: tuple[str, float | None, float | None, float | None], progress: Progress) -> np.ndarray:
    return table_of(key[0], key[1:], progress)


class State:
    """The properties at one state, numbers or expressions; what is not asked for is not computed.

    In two phases `cp`, `cv`, `viscosity`, `conductivity` and `speed_of_sound` are means over the phases, weighted by mass.
    """

    def __init__(self, medium: Fluid, p: Any, h: Any, known: dict[str, Any], phase: float | None) -> None:
        self.medium = medium
        self._known = known
        self._said = phase
        self.symbolic = is_symbolic(p) or is_symbolic(h)
        self.p, self.h = (p, h) if self.symbolic else (plain(np.asarray(p, dtype=float)), plain(np.asarray(h, dtype=float)))

    @cached_property
    def _borders(self) -> tuple[Any, ...]:
        return self.medium.function("borders")(self.p)

    @cached_property
    def phase(self) -> Any:
        """-1 liquid, 0 two phases, 1 vapour; above the critical pressure the critical enthalpy parts them."""
        if self._said is not None and self._said < 1.5:
            return self._said
        low, high = self._borders
        if self.symbolic:
            return where(self.h < low, -1.0, where(self.h > high, 1.0, 0.0))
        return plain(np.where(numbers(self.h) < low, -1.0, np.where(numbers(self.h) > high, 1.0, 0.0)))

    def _results(self, kind: str) -> tuple[Any, ...]:
        return self.medium.function(kind)(self.p, self.h, self._asked_phase)

    @property
    def _asked_phase(self) -> Any:
        """The argument of functions of (p, h, phase)."""
        if not self.symbolic:
            return _PHASES["any"] if self._said in (None, _PHASES["liquid or not"]) else self._said
        if self._said == _PHASES["liquid or not"]:
            (boiling,) = self.medium.function("boiling")(self.p, self.h)
            return where(boiling < self.p, _PHASES["liquid"], self._said)
        return self.phase if self._said is None else self._said

    @property
    def _looks_at_borders(self) -> bool:
        """Whether one look-up gives the borders along: where liquid is told from the rest, quality is asked for next."""
        return bool(self.symbolic and self._said == _PHASES["liquid or not"])

    @cached_property
    def _state(self) -> tuple[Any, ...]:
        return self._results("bordered" if self._looks_at_borders else "state")

    @cached_property
    def _more(self) -> tuple[Any, ...]:
        return self._results("more")

    @property
    def T(self) -> Any:
        """Temperature in K."""
        return self._state[0]

    @property
    def rho(self) -> Any:
        """Density in kg/m³."""
        return self._state[1]

    @property
    def s(self) -> Any:
        """Specific entropy in J/(kg K)."""
        return self._state[2]

    @property
    def speed_of_sound(self) -> Any:
        """In m/s."""
        return self._state[3]

    @property
    def v(self) -> Any:
        """Specific volume in m³/kg."""
        return 1.0 / self.rho

    @property
    def u(self) -> Any:
        """Specific internal energy in J/kg."""
        return self.h - self.p / self.rho

    @property
    def h_liquid(self) -> Any:
        """Specific enthalpy of boiling liquid at this pressure in J/kg; alone it costs less than `medium.saturation`."""
        return self._state[4] if self._looks_at_borders else self._borders[0]

    @property
    def h_vapour(self) -> Any:
        """Specific enthalpy of dry saturated vapour at this pressure in J/kg."""
        return self._state[5] if self._looks_at_borders else self._borders[1]

    @property
    def x(self) -> Any:
        """Quality: the mass of vapour over all; below 0 in liquid, above 1 in vapour, far so above the critical pressure."""
        low, high = self.h_liquid, self.h_vapour
        room = no_event(maximum(high - low, _NO_ROOM)) if self.symbolic else np.maximum(high - low, _NO_ROOM)
        return (self.h - low) / room

    @property
    def cp(self) -> Any:
        """Heat capacity at constant pressure in J/(kg K)."""
        return self._more[0]

    @property
    def cv(self) -> Any:
        """Heat capacity at constant volume in J/(kg K)."""
        return self._more[1]

    @property
    def viscosity(self) -> Any:
        """Dynamic viscosity in Pa s."""
        return self._more[2]

    @property
    def conductivity(self) -> Any:
        """Thermal conductivity in W/(m K)."""
        return self._more[3]

    @property
    def prandtl(self) -> Any:
        """Prandtl number."""
        return self.cp * self.viscosity / self.conductivity

    @property
    def surface_tension(self) -> Any:
        """In N/m, of the liquid at this pressure."""
        return self.medium.function("saturation")(self.p)[10]

    def __repr__(self) -> str:
        return f"state of {self.medium.name} at p = {self.p}, h = {self.h}"


class Saturation:
    """Liquid and vapour in equilibrium at one pressure."""

    def __init__(self, medium: Fluid, p: Any) -> None:
        self.medium = medium
        self.p = p if is_symbolic(p) else plain(numbers(p))

    @cached_property
    def _all(self) -> tuple[Any, ...]:
        return self.medium.function("saturated")(self.p)

    @property
    def T(self) -> Any:
        """Temperature of the liquid in K; that of the vapour differs where the fluid is a mixture by nature."""
        return self._all[2]

    @property
    def surface_tension(self) -> Any:
        """In N/m."""
        return self.medium.function("saturation")(self.p)[10]

    @cached_property
    def liquid(self) -> Any:
        return SaturatedPhase(self, 0)

    @cached_property
    def vapour(self) -> Any:
        return SaturatedPhase(self, 1)

    @property
    def h_evaporation(self) -> Any:
        """Heat of evaporation in J/kg."""
        return self._all[1] - self._all[0]


class SaturatedPhase:
    """One of the two."""

    def __init__(self, ends: Saturation, end: int) -> None:
        self._ends, self._end = ends, end

    def _of(self, results: tuple[Any, ...], first: int, k: int) -> Any:
        return results[first + 4 * self._end + k]

    @cached_property
    def _more(self) -> tuple[Any, ...]:
        return self._ends.medium.function("saturation_more")(self._ends.p)

    @property
    def h(self) -> Any:
        return self._ends._all[self._end]

    @property
    def T(self) -> Any:
        return self._of(self._ends._all, 2, 0)

    @property
    def rho(self) -> Any:
        return self._of(self._ends._all, 2, 1)

    @property
    def s(self) -> Any:
        return self._of(self._ends._all, 2, 2)

    @property
    def speed_of_sound(self) -> Any:
        return self._of(self._ends._all, 2, 3)

    @property
    def cp(self) -> Any:
        return self._of(self._more, 0, 0)

    @property
    def cv(self) -> Any:
        return self._of(self._more, 0, 1)

    @property
    def viscosity(self) -> Any:
        return self._of(self._more, 0, 2)

    @property
    def conductivity(self) -> Any:
        return self._of(self._more, 0, 3)

    @property
    def prandtl(self) -> Any:
        return self.cp * self.viscosity / self.conductivity
