"""Compressors."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from math import pi
from typing import Any, ClassVar

import acausal as ac
from acausal.errors import UsageError

from ..fluid.passages import one_substance, state_at, upwind
from ..fluid.turbomachines import torque
from ..mechanics.rotational import Flange

EMPTY = 1.2  # of the lowest pressure of a medium: around it the flow of a compressor ceases
FULL = 0.95  # of the highest pressure of a medium: around it the flow of a compressor ceases, too
LEAK = 1e-15  # kg/(s Pa): at 10 bar 4 mg an hour
T_ABOVE = 0.1  # K: so much at least the gas with which a compressor was measured is warmer than its dew point
M_LEAST = 1e-6  # kg/s: less is not asked of a compressor's polynomial


class Displacement(ac.Component):
    """Base of displacement compressors: ``m_flow = eta_volumetric·V_displaced·turns·rho_suction``, ``h_discharge = h + (h(p_b, s) -
    h)/eta_isentropic``. A subclass says how fast it turns.

    Valves keep gas from coming back, but for a leak, ``leak·(p_a - p_b)``: it says what the pressure between two machines at rest
    is. The casing brings what leaks back to the state of the suction gas, and `P` counts that heat. From four fifths of
    `ratio_most` on it takes in less, and nothing at all there: what stays in its dead space fills it (a side that is shut off is
    not sucked empty). Near the highest pressure of the medium's table it gives nothing either, as if a safety valve led it back.
    To a lower pressure gas passes without work.
    """

    a, b = ac.FluidPort(doc="suction"), ac.FluidPort(doc="discharge")
    V_displaced = ac.Parameter(20e-6, unit="m^3", min=0, doc="displaced volume a turn")
    eta_volumetric = ac.Parameter(0.85, min=0, max=1, doc="volumetric efficiency")
    eta_isentropic = ac.Parameter(0.65, min=0.01, max=1, doc="isentropic efficiency")
    ratio_most = ac.Parameter(30.0, min=2, doc="ratio of pressures at which its dead space lets nothing more in")
    leak = ac.Parameter(
        LEAK, unit="kg/(s*Pa)", min=0, group="method", doc="flow through closed valves over the pressure difference"
    )
    wet = ac.Parameter(1e4, unit="J/kg", min=0, doc="enthalpy below saturation that is told as liquid in the suction gas")
    AT_WORK: ClassVar[float] = 0.9  # speed from which on it is told what is wrong with its suction gas
    speed: Any
    m_flow = ac.Variable(unit="kg/s", nominal=0.01, doc="mass flow")
    h_discharge = ac.Variable(unit="J/kg", nominal=1e5, start=4.5e5, doc="enthalpy of the hot gas")
    P = ac.Variable(unit="W", nominal=100.0, doc="power")

    @abstractmethod
    def turns(self) -> Any:
        """Turns a second."""

    def equations(self) -> Iterator[Any]:
        one_substance(self)
        suction = state_at(self.medium, self.a.p, self.a.h.inflow)
        # Beyond the largest ratio nothing flows, and below none there is no work: an evacuated side is not asked for a state.
        most = [p for p in (getattr(self.medium, "p_max", None),) if p is not None]
        within = ac.no_event(ac.max(ac.min(self.b.p, self.ratio_most * self.a.p, *most), self.a.p))
        ideal = self.medium.state(p=within, s=suction.s)
        swept = self.eta_volumetric * self.V_displaced * self.turns()
        yield self.m_flow == swept * suction.rho * _filling(self) + _leak(self)
        yield self.h_discharge == suction.h + ac.no_event(ac.max(ideal.h - suction.h, 0.0)) / self.eta_isentropic
        yield self.P == _taken_up(self, self.h_discharge, suction.h)
        yield self.a.m_flow == self.m_flow
        yield self.b.m_flow == -self.m_flow
        yield self.b.h.outflow == self.h_discharge
        yield self.a.h.outflow == suction.h

    def events(self) -> Iterator[Any]:
        yield from _suction(self)
        yield _lifts(self)


class Compressor(Displacement):
    """A displacement compressor with a volumetric and an isentropic efficiency, that runs or not.

    See `Displacement`; ``turns = frequency·speed``, and it speeds up and slows down within some `tau`. `ShaftCompressor` is the one
    with a drive.
    """

    run = ac.InputStates(on="all", off="any", default="on", doc="whether it runs: if everything connected says so")
    capacity = ac.Input(1.0, min=0, max=1, doc="share of its capacity that is asked for: stages, or a variable speed")
    frequency = ac.Parameter(50.0, unit="1/s", min=0, doc="turns a second")
    tau = ac.Parameter(2.0, unit="s", min=1e-3, doc="time to speed up and to slow down")
    speed = ac.Variable(start=0.0, fixed=True, doc="speed, of `frequency`")

    def turns(self) -> Any:
        return self.frequency * self.speed

    def equations(self) -> Iterator[Any]:
        yield self.tau * ac.der(self.speed) == self.capacity * ac.match(self.run, on=1.0, off=0.0) - self.speed
        yield from super().equations()


class ShaftCompressor(Displacement):
    """A displacement compressor on a shaft: its power is ``flange.tau·w``. Turned backwards it pumps nothing, and at a few rad/s
    gas leaks back as it is pumped: ``turns = w/(2·pi)·w²/(w² + w_leak²)``.

    See `Displacement`. Join a drive to `flange`, such as `mechanics.drives.InductionMotor`, which has the inertia.
    """

    AT_WORK = 0.01  # liquid stalls its drive before it is at speed
    flange = Flange(doc="shaft")
    w_nominal = ac.Parameter(300.0, unit="rad/s", min=1.0, doc="speed at work, of which `speed` is a share")
    w_leak = ac.Parameter(1.0, unit="rad/s", min=1e-2, group="method", doc="speed at which half of the gas leaks back")
    speed = ac.Variable(start=0.0, doc="speed, of `w_nominal`")

    def turns(self) -> Any:
        w = ac.no_event(ac.max(self.speed, 0.0)) * self.w_nominal
        return w**3 / (w * w + self.w_leak**2) / (2 * pi)

    def equations(self) -> Iterator[Any]:
        yield self.speed == ac.der(self.flange.phi) / self.w_nominal
        yield self.flange.tau == torque(self.P, ac.der(self.flange.phi))
        yield from super().equations()


class MapCompressor(ac.Component):
    """A compressor by the polynomials of AHRI 540: mass flow and power over saturated suction and discharge temperatures.

    ``c0 + c1·S + c2·D + c3·S² + c4·S·D + c5·D² + c6·S³ + c7·D·S² + c8·S·D² + c9·D³`` with S, D in °C, m in kg/s, P in W. S and D
    are dew points, as the standard says: a mixture with a glide boils some kelvins below them. Flow is corrected for the density at
    suction over that at `superheat_rated`, or at `T_rated` (20 °C after EN 12900), ``m_flow = speed·m(S, D)·rho/rho_rated``, ``P =
    speed·P(S, D)``, ``tau·d(speed)/dt = 1 - speed`` while it is to run. All power goes into the gas, and falls with the flow where
    the dead space lets less of it in; at rest its valves leak, as those of `Displacement` do. Outside of the range that was
    measured (`S_range`, `D_range`), and where its power is less than without any losses, a warning is given once.
    """

    a, b = ac.FluidPort(doc="suction"), ac.FluidPort(doc="discharge")
    run = ac.InputStates(on="all", off="any", default="on", doc="whether it runs: if everything connected says so")
    superheat_rated = ac.Parameter(10.0, unit="K", min=0, doc="superheat at which it was measured")
    T_rated = ac.Parameter(293.15, unit="K", min=0, instead_of="superheat_rated", doc="suction gas with which it was measured")
    tau = ac.Parameter(2.0, unit="s", min=1e-3, doc="time to speed up and to slow down")
    ratio_most = ac.Parameter(30.0, min=2, doc="ratio of pressures at which its dead space lets nothing more in")
    leak = ac.Parameter(
        LEAK, unit="kg/(s*Pa)", min=0, group="method", doc="flow through closed valves over the pressure difference"
    )
    wet = ac.Parameter(1e4, unit="J/kg", min=0, doc="enthalpy below saturation that is told as liquid in the suction gas")
    AT_WORK: ClassVar[float] = 0.9
    speed = ac.Variable(start=0.0, fixed=True, doc="speed, of that which was measured")
    m_flow = ac.Variable(unit="kg/s", nominal=0.01, doc="mass flow")
    P = ac.Variable(unit="W", nominal=100.0, doc="power")

    def __init__(
        self,
        flow: Sequence[float],
        power: Sequence[float],
        S_range: tuple[float, float] = (-30.0, 15.0),
        D_range: tuple[float, float] = (20.0, 65.0),
    ) -> None:
        self.flow, self.power = _coefficients("flow", flow), _coefficients("power", power)
        self.S_range, self.D_range = _range("S_range", S_range), _range("D_range", D_range)

    def equations(self) -> Iterator[Any]:
        a, b = self.a, self.b
        one_substance(self)
        S, D = self._temperatures()
        suction = state_at(self.medium, a.p, a.h.inflow)
        ends = self.medium.saturation(p=a.p)
        rated = self.medium.state(p=a.p, T=self._rated(ends.vapour.T), phase="vapour")
        yield self.tau * ac.der(self.speed) == ac.match(self.run, on=1.0, off=0.0) - self.speed
        power = _polynomial(self.power, S, D)
        flow = ac.smooth_max(_polynomial(self.flow, S, D), 0.0, M_LEAST) * suction.rho / rated.rho
        yield self.m_flow == self.speed * _filling(self) * flow + _leak(self)
        yield self.P == _taken_up(self, suction.h + power / flow, suction.h)
        yield a.m_flow == self.m_flow
        yield b.m_flow == -self.m_flow
        yield b.h.outflow == suction.h + power / flow
        yield a.h.outflow == suction.h

    def _rated(self, dew: Any) -> Any:
        """The temperature of the suction gas with which it was measured."""
        if self.T_rated is None:
            return dew + self.superheat_rated
        return ac.no_event(ac.max(self.T_rated, dew + T_ABOVE))

    def _temperatures(self) -> tuple[Any, Any]:
        zero = 273.15
        return self.medium.saturation(p=self.a.p).vapour.T - zero, self.medium.saturation(p=self.b.p).vapour.T - zero

    def events(self) -> Iterator[Any]:
        yield _lifts(self)
        for what, T, (low, high) in zip(("suction", "discharge"), self._temperatures(), (self.S_range, self.D_range), strict=True):
            inside = (T >= low) & (T <= high) & (self.b.p < self.medium.p_critical)
            text = f"The saturated {what} temperature is outside of what this compressor was measured for, {low:g} … {high:g} °C."
            yield ac.assert_(inside | (self.speed < 0.5), text, level="warning")
        yield from _suction(self)
        for what, coefficients in (("mass flow", self.flow), ("power", self.power)):
            some = _polynomial(coefficients, *self._temperatures()) > 0
            text = f"The polynomial of the compressor's {what} is not above zero here. Are its coefficients for kg/s, W and °C?"
            yield ac.assert_(some | (self.speed < 0.5), text, level="warning")
        text = (
            "The compressor asks for less power than one without any losses would: its gas leaves with less entropy than it came. "
            "Are its coefficients for kg/s, W and °C, and its pressures those it was measured for?"
        )
        yield ac.assert_((self.P >= self.m_flow * self._ideal()) | (self.speed < 0.5), text, level="warning")

    def _ideal(self) -> Any:
        """The work of a kilogram without losses."""
        suction = state_at(self.medium, self.a.p, self.a.h.inflow)
        return self.medium.state(p=ac.no_event(ac.max(self.a.p, self.b.p)), s=suction.s).h - suction.h


def _coefficients(what: str, given: Any) -> tuple[float, ...]:
    """Ten numbers."""
    found = _numbers(given)
    if found is None:
        raise UsageError(f"The polynomial of a compressor's {what} has 10 numbers (AHRI 540), not {given!r}.")
    if len(found) != 10:
        raise UsageError(f"The polynomial of a compressor's {what} has 10 coefficients (AHRI 540), not {len(found)}.")
    return found


def _range(name: str, given: Any) -> tuple[float, float]:
    """Two temperatures in °C, the lower one first."""
    found = _numbers(given)
    if found is None or len(found) != 2:
        raise UsageError(f"`{name}` of a compressor is two temperatures in °C, such as (-30.0, 15.0), not {given!r}.")
    low, high = found
    if not low < high:
        raise UsageError(f"`{name}` of a compressor goes from the lower temperature to the higher, not from {low} to {high}.")
    return low, high


def _numbers(given: Any) -> tuple[float, ...] | None:
    """The numbers of a sequence; None where it is none. A text is none either, although its digits come one by one."""
    try:
        return None if isinstance(given, str | bytes) else tuple(float(c) for c in given)
    except (TypeError, ValueError):
        return None


def _suction(machine: Any) -> Iterator[Any]:
    """Warnings, each given once, of liquid in the suction gas and of no gas at all."""
    if machine.medium.evaporates:
        wet = machine.a.h.inflow < machine.medium.saturation(p=machine.a.p).vapour.h - machine.wet
        text = "The compressor takes in wet vapour: the evaporator floods. Close the valve more, or put an accumulator before it."
        yield ac.assert_(~wet | (machine.speed < machine.AT_WORK), text, level="warning")
    lowest = getattr(machine.medium, "p_min", None)
    if lowest is not None:
        text = (
            f"It sucks at the lowest pressure of {machine.medium.name}, {lowest / 1e5:.3g} bar, and hardly anything flows. "
            "Is there any charge in the circuit (`charge_start` of its vessels), or is its suction side shut off?"
        )
        yield ac.assert_((machine.a.p > EMPTY * lowest) | (machine.speed < 0.9), text, level="warning")


def _lifts(machine: Any) -> Any:
    text = (
        "The pressure behind the compressor is far below that before it. Is it drawn the wrong way round? It sucks at `a` and "
        "gives at `b`."
    )
    return ac.assert_((machine.b.p > 0.7 * machine.a.p) | (machine.speed < 0.9), text, level="warning")


def _leak(machine: Any) -> Any:
    """What passes closed valves."""
    return machine.leak * (machine.a.p - machine.b.p)


def _taken_up(machine: Any, h_discharge: Any, h_suction: Any) -> Any:
    """The energy that what passes takes up; what leaks back gives some, so that gas before it stays as cold as it is."""
    return machine.m_flow * (upwind(machine.m_flow, h_discharge, machine.b.h.inflow) - h_suction)


def _filling(machine: Any) -> Any:
    """Share of the stroke that comes in: less near the largest ratio of pressures, and where next to nothing is left to come in."""
    share = 1.0 - ac.smooth_step(machine.b.p / (machine.ratio_most * machine.a.p), 0.9, 0.2)
    lowest, highest = (getattr(machine.medium, name, None) for name in ("p_min", "p_max"))
    if highest is not None:
        share = share * (1.0 - ac.smooth_step(machine.b.p, FULL * highest, 0.06 * highest))
    return share if lowest is None else share * ac.smooth_step(machine.a.p, EMPTY * lowest, 0.3 * lowest)


def _polynomial(c: Sequence[float], S: Any, D: Any) -> Any:
    first = c[0] + c[1] * S + c[2] * D + c[3] * S**2 + c[4] * S * D + c[5] * D**2
    return first + c[6] * S**3 + c[7] * D * S**2 + c[8] * S * D**2 + c[9] * D**3
