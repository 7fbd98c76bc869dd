"""What fluid passes without being stored or heated: the base of valves and sensors, orifices and valves."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from inspect import signature
from typing import Any

import numpy as np

import acausal as ac
from acausal.errors import UsageError
from acausal.language.functions import is_symbolic

H_WET = 1e3  # J/kg within the dome from which on a fluid counts as wet
DP_SMALL = 10.0  # Pa below which a throttle is laminar: small beside what ducts of air lose, and zero flow stays regular


class Passage(ac.Component):
    """Base of what fluid passes: the same flow in and out, with its enthalpy and, of a mixture, its composition.

    ``a.m_flow = m_flow = -b.m_flow``; what leaves on one side is what comes in on the other, ``b.h.outflow = a.h.inflow`` and the
    other way round. A subclass adds one equation for m_flow or dp.
    """

    a, b = ac.FluidPort(doc="inlet by design"), ac.FluidPort(doc="outlet by design")
    m_flow = ac.Variable(unit="kg/s", nominal=0.01, start=0.0, doc="mass flow from a to b")

    def equations(self) -> Iterator[Any]:
        yield self.a.m_flow == self.m_flow
        yield self.b.m_flow == -self.m_flow
        yield self.b.h.outflow == self.a.h.inflow
        yield self.a.h.outflow == self.b.h.inflow
        yield from same_composition(self.medium, self.a, self.b)


def state_at(medium: Any, p: Any, h: Any, X: Any = None) -> Any:
    """The state of what flows. A change of its phase makes no event: nothing is stored where it flows."""
    more = {} if X is None else {"X": X}
    return medium.state(p=p, h=h, **more, **({"phase": "any"} if _has_phases(medium) else {}))


def _has_phases(medium: Any) -> bool:
    return "phase" in signature(medium.state).parameters


def entering(medium: Any, port: Any) -> Any:
    """The state of what comes in at a port, if it does."""
    return state_at(medium, port.p, port.h.inflow, port.X.inflow if medium.substances else None)


def felt(name: str, one: Any, other: Any, m_small: Any) -> Any:
    """The enthalpy `h` or the composition `X` of what comes in at one of two ports.

    Where nothing flows the direction is a matter of rounding, and what is felt must not jump with it from one side to the other:
    below `m_small` it lies between both (so do the sensors of Modelica.Fluid, `regStep` over `m_flow_small`).
    """
    from_one, from_other = (getattr(port, name).inflow for port in (one, other))
    return ac.smooth_switch(one.m_flow, from_other, from_one, width=2.0 * m_small)


def entering_either(medium: Any, one: Any, other: Any, m_small: Any) -> Any:
    """The state of what comes in at one of two ports, at the pressure of the first."""
    return state_at(medium, one.p, felt("h", one, other, m_small), felt("X", one, other, m_small) if medium.substances else None)


def vapour_share(state: Any) -> Any:
    """The vapour quality of a state, 0 in liquid and 1 in vapour, above the critical pressure as well."""
    return ac.no_event(ac.min(ac.max(state.x, 0.0), 1.0))


def given_enthalpy(medium: Any, p: Any, h: Any, T: Any, x: Any, **mixed: Any) -> Any:
    """The enthalpy at the pressure p of what is given in one of three ways; the others are None."""
    if h is not None:
        return h
    if T is None:
        return medium.state(p=p, x=x, phase="two-phase", **mixed).h if medium.evaporates else medium.state(p=p, x=x, **mixed).h
    return medium.state(p=p, T=T, **mixed).h


def given_fractions(given: Any, name: str) -> tuple[float, ...] | None:
    """Mass fractions as a component is given them, or None."""
    if given is None:
        return None
    if isinstance(given, str) or not np.iterable(given):
        raise UsageError(
            f"`{name}` are mass fractions, one for each substance of a mixture, not {given!r} of type {type(given).__name__}.",
            remedy="Give a list, such as [0.2, 0.8]; sizes are given by name: `V=0.01`.",
        )
    try:
        return tuple(float(x) for x in given)
    except (TypeError, ValueError):
        raise UsageError(f"`{name}` are mass fractions, numbers from 0 to 1, not {given!r}.") from None


def refuse_fractions(medium: Any, said: tuple[float, ...] | None, name: str) -> None:
    """Of one composition none is given."""
    if said is not None and not medium.substances:
        raise UsageError(
            f"`{name}` is given, {list(said)}, and {medium.name} has one composition.",
            remedy=f"Leave `{name}` out, or take a mixture, such as `ac.media.moist_air()`.",
        )


def checked_fractions(medium: Any, said: tuple[float, ...] | None, name: str) -> Any:
    """Mass fractions that a component was given, or those that the medium's ports start with."""
    if said is None:
        X = medium.port_members()["X"]
        return np.broadcast_to(X.start, X.shape).tolist()
    if len(said) != len(medium.substances) or min(said) < 0 or sum(said) > 1 + 1e-9:
        raise UsageError(
            f"`{name}` is a mass fraction for each substance of {medium.name} ({', '.join(medium.substances)}), not {list(said)}.",
            remedy="None is negative, and together they are one, or less where the rest is not listed.",
        )
    return list(said)


def one_substance(component: Any) -> None:
    """A component that does not carry a composition says so, instead of losing it."""
    medium = component.medium
    if medium.substances:
        raise UsageError(
            f"{type(component).__name__} is for media of one composition, and that of {medium.name} changes "
            f"({', '.join(medium.substances)}).",
            remedy="Valves, `Pipe`, `Volume`, pumps and exchangers of `fluid` take mixtures and moist air.",
        )


def liquid_only(component: Any, state: Any) -> None:
    """What has a surface is a liquid: of a gas, a level would be computed all the same."""
    if not is_symbolic(phase := getattr(state, "phase", None)) and phase == 1.0:
        raise UsageError(
            f"{type(component).__name__} holds a liquid, and {component.medium.name} is a gas.",
            remedy="Take `fluid.Volume`, which a gas fills; a liquid is `ac.media.fluid(…)`, `ac.media.liquid(…)` or water.",
        )


def no_vapour(component: Any, state: Any) -> Iterator[Any]:
    """That it is a liquid is seen at the start and during the run, where the medium may be either."""
    if component.medium.evaporates and hasattr(state, "h_vapour"):
        text = (
            f"{type(component).__name__} holds a liquid, and what is in it is vapour at this pressure and temperature. Give a "
            "lower temperature or a higher pressure, or take `fluid.Volume`, which a gas fills."
        )
        yield ac.assert_(component.h < state.h_vapour, text)


def stored_density(component: Any, state: Any) -> Any:
    """The density of what is stored at a pressure of its own, which has to follow from it."""
    if not is_symbolic(state.rho) or not component.medium.compressible:
        raise UsageError(
            f"{component.medium.name} is incompressible, so that {type(component).__name__}, which stores mass, has no pressure of "
            "its own.",
            remedy="Take a medium whose density changes, `ac.media.fluid(…)`, or a part without storage, such as `Pipe`.",
        )
    return state.rho


def same_composition(medium: Any, one: Any, other: Any) -> Iterator[Any]:
    """What comes in at one of two ports has the same composition where it leaves."""
    if medium.substances:
        yield one.X.outflow == other.X.inflow
        yield other.X.outflow == one.X.inflow


def upwind(flow: Any, forth: Any, back: Any) -> Any:
    """`forth` while the flow goes forward, else `back`; without an event."""
    return ac.no_event(ac.where(flow > 0, forth, back))


def root_of_difference(dp: Any, dp_small: Any) -> Any:
    """sqrt(|dp|) with the sign of dp, linear below `dp_small`: ``dp/(dp² + dp_small²)^(1/4)``. Zero flow stays regular."""
    return dp / (dp * dp + dp_small**2) ** 0.25


def nominal_friction(a: Any, b: Any, medium: Any, m_nominal: Any, dp_nominal: Any) -> Iterator[Any]:
    """What passes from a to b or back without being stored, with the friction ``dp = dp_nominal·(m/m_nominal)²``."""
    yield a.m_flow == m_nominal / ac.sqrt(dp_nominal) * root_of_difference(a.p - b.p, 1e-3 * dp_nominal)
    yield a.m_flow + b.m_flow == 0
    yield from same_composition(medium, a, b)


class Throttle(Passage):
    """Base of valves with an area: ``m_flow = A·sqrt(2·rho·dp)`` with the density of what comes, either way.

    Below `dp_small` the root is linear, and less passes: 16 % less where dp is as much, 1 % less at five times that, 0.25 % less
    at ten times. Where differences are of a few pascals give a smaller one. A subclass says what the effective area is.
    """

    dp_small = ac.Parameter(DP_SMALL, unit="Pa", min=1e-6, group="method", doc="pressure difference below which flow is laminar")

    @abstractmethod
    def effective_area(self) -> Any:
        """Area times discharge coefficient, in m²."""

    def equations(self) -> Iterator[Any]:
        yield from super().equations()
        dp = self.a.p - self.b.p
        rho = upwind(dp, *(entering(self.medium, port).rho for port in (self.a, self.b)))
        yield self.m_flow == self.effective_area() * ac.sqrt(2 * rho) * root_of_difference(dp, self.dp_small)


class Orifice(Throttle):
    """A sharp-edged hole of one size: ``m_flow = Cd·A·sqrt(2·rho·dp)``."""

    A = ac.Parameter(1e-6, unit="m^2", min=0, doc="area")
    Cd = ac.Parameter(0.65, min=0, max=1, doc="discharge coefficient")

    def effective_area(self) -> Any:
        return self.Cd * self.A


class Valve(Throttle):
    """A valve with an opening from 0 to 1 and a linear or an equal-percentage characteristic.

    ``m_flow = A·(leak + (1 - leak)·y)·sqrt(2·rho·dp)`` (see `Throttle`) with ``y = opening`` of `characteristic="linear"`, and
    ``y = R^(opening - 1)`` of `"equal percentage"`, going to zero linearly below 5 % (IEC 60534-2-4 defines both). The share `leak`
    of the area stays open: none, but where two closed valves stand in a row without a volume between them, some `leak` says what
    the pressure there is.
    """

    opening = ac.Input(1.0, min=0, max=1, doc="0 is closed, 1 is open")
    A = ac.Parameter(1e-6, unit="m^2", min=0, doc="effective area when open (discharge coefficient times area)")
    rangeability = ac.Parameter(50.0, min=2, doc="R of an equal-percentage valve")
    leak = ac.Parameter(0.0, min=0, max=1, doc="share of the area that stays open")

    def __init__(self, characteristic: str = "linear") -> None:
        if characteristic not in ("linear", "equal percentage"):
            raise UsageError(f"The characteristic of a valve is 'linear' or 'equal percentage', not {characteristic!r}.")
        self.characteristic = characteristic

    def effective_area(self) -> Any:
        return self.A * (self.leak + (1 - self.leak) * self._opened(self.opening))

    def _opened(self, y: Any) -> Any:
        """Area over that when open."""
        if self.characteristic == "linear":
            return y
        low = 0.05
        seat = ac.no_event(ac.where(y < low, y / low, 1.0))
        return seat * self.rangeability ** (ac.no_event(ac.max(y, low)) - 1)
