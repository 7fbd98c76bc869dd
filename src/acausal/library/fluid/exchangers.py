"""Heat exchangers between two fluids that are described by their effectiveness."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import acausal as ac
from acausal.errors import UsageError

from ..counts import counted
from ..thermal import HeatCapacitor
from .cells import H_SMALL
from .correlations import plate_nusselt, within
from .passages import H_WET, entering_either, felt, nominal_friction, state_at
from .pipes import DistributedPipe

ARRANGEMENTS = ("counter", "co", "cross")
Y_END = 1e-9  # at the ends of a way, where the mean says enough, nothing is limited


def effectiveness(units: Any, ratio: Any, arrangement: str = "counter") -> Any:
    """How much of the possible heat passes, over the number of transfer units and the ratio of the heat capacity flows.

    "counter": ``(1 - e)/(1 - R·e)``, ``e = exp(-N·(1 - R))``; "co": ``(1 - exp(-N·(1 + R)))/(1 + R)``; "cross" (neither side
    mixed, an approximation for R up to 1): ``1 - exp((exp(-R·N^0.78) - 1)·N^0.22/R)``. Kays and London 1984; Incropera table
    11.3.

    >>> round(float(effectiveness(1.0, 1.0)), 4), round(float(effectiveness(2.0, 0.5, "co")), 4)
    (0.5, 0.6335)
    """
    if arrangement == "counter":
        balanced = 1 - ratio + 1e-7  # R = 1 is the limit N/(1 + N), to which this comes as near as 1e-7
        rest = ac.exp(-units * balanced)
        return (1 - rest) / (1 - (1 - balanced) * rest)
    if arrangement == "co":
        return (1 - ac.exp(-units * (1 + ratio))) / (1 + ratio)
    if arrangement == "cross":
        R = ratio + 1e-6
        return 1 - ac.exp((ac.exp(-R * units**0.78) - 1) * units**0.22 / R)
    raise UsageError(f"The arrangement of an exchanger is one of {', '.join(ARRANGEMENTS)}, not {arrangement!r}.")


class TwoFluids(ac.Component):
    """Base of exchangers that hold nothing of the two fluids that pass them: ports, friction, and what heat does to what passes.

    Friction is ``dp = dp_nominal·(m/m_nominal)²`` on each side. Flow of either side may turn; where one stands still no heat
    passes, and below 1e-4 of `m_nominal` what comes in there is felt between its two ends. A subclass says how much heat there is,
    and gives it to `carried`.
    """

    one, two = ac.AnyMedium(doc="the first fluid"), ac.AnyMedium(doc="the second fluid")
    a1, b1 = ac.FluidPort(one, doc="first fluid, inlet by design"), ac.FluidPort(one, doc="first fluid, outlet")
    a2, b2 = ac.FluidPort(two, doc="second fluid, inlet by design"), ac.FluidPort(two, doc="second fluid, outlet")
    UA = ac.Input(1000.0, unit="W/K", min=0, doc="heat transfer coefficient times area")
    m_nominal = ac.Parameter(0.1, unit="kg/s", min=1e-9, doc="size of the mass flows")
    dp_nominal = ac.Parameter(5e3, unit="Pa", min=1e-3, doc="pressure lost with m_nominal")
    Q_flow = ac.Variable(unit="W", nominal=1e3, doc="heat from the first to the second fluid")

    @abstractmethod
    def equations(self) -> Iterator[Any]:
        for a, b, medium in self.sides():
            yield from nominal_friction(a, b, medium, self.m_nominal, self.dp_nominal)

    def sides(self) -> tuple[tuple[Any, Any, Any], tuple[Any, Any, Any]]:
        """The ports of each side and what flows there."""
        return (self.a1, self.b1, self.one), (self.a2, self.b2, self.two)

    def sizes(self) -> list[Any]:
        """Of both flows, in kg/s, above zero."""
        return [ac.sqrt(a.m_flow * a.m_flow + self.m_least() ** 2) for a, _, _ in self.sides()]

    def m_least(self) -> Any:
        """A flow so small that what comes lies between both ends of its side, and heat fades with it."""
        return 1e-4 * self.m_nominal

    def gains(self, heat: Any) -> tuple[Any, Any]:
        """What a heat, which would pass if neither stood still, adds to both enthalpies: each side carries `Q_flow` at any flow."""
        (first, second), sizes = self._passing(), self.sizes()
        return -heat * second / sizes[0], heat * first / sizes[1]

    def carried(self, heat: Any) -> Iterator[Any]:
        """`heat` from the first to the second fluid, as far as both flow."""
        first, second = self._passing()
        yield self.Q_flow == heat * first * second
        for (a, b, _), gain in zip(self.sides(), self.gains(heat), strict=True):
            yield b.h.outflow == self._leaving(a, b) + gain
            yield a.h.outflow == self._leaving(b, a) + gain

    def _leaving(self, one: Any, other: Any) -> Any:
        """The enthalpy with which what would leave at the other port came: at the first one. While it flows the other way, the gain
        is that of what comes at the other: added to any other enthalpy it may be that of no fluid."""
        least = self.m_least()
        return ac.smooth_switch(one.m_flow + 2 * least, other.h.inflow, one.h.inflow, width=2 * least)

    def _passing(self) -> tuple[Any, Any]:
        """Of each side a share that goes to zero where it stands still."""
        first, second = (ac.no_event(ac.abs(a.m_flow)) / size for (a, _, _), size in zip(self.sides(), self.sizes(), strict=True))
        return first, second


class HeatExchanger(TwoFluids):
    """Two fluids of one phase each and a wall without capacity between them: ``Q = eps·C_min·(T_1 - T_2)`` by the number of
    transfer units.

    Flow of either side may turn; the arrangement is that of the flows as they are drawn. Friction is ``dp =
    dp_nominal·(m/m_nominal)²``. At no flow there is no heat: ``C_min`` goes to zero smoothly. A fluid that comes in two phases is
    told once.
    """

    eps = ac.Variable(start=0.5, doc="effectiveness")

    def __init__(self, arrangement: str = "counter") -> None:
        if arrangement not in ARRANGEMENTS:
            raise UsageError(f"The arrangement of an exchanger is one of {', '.join(ARRANGEMENTS)}, not {arrangement!r}.")
        self.arrangement = arrangement

    def conductance(self) -> Any:
        """Heat transfer coefficient times area, in W/K."""
        return self.UA

    def equations(self) -> Iterator[Any]:
        yield from super().equations()
        comes = [entering_either(medium, a, b, self.m_least()) for a, b, medium in self.sides()]
        capacities = [size * state.cp for size, state in zip(self.sizes(), comes, strict=True)]
        least, most = ac.no_event(ac.min(*capacities)), ac.no_event(ac.max(*capacities))
        yield self.eps == effectiveness(self.conductance() / least, least / most, self.arrangement)
        yield from self.carried(self.eps * least * (comes[0].T - comes[1].T))

    def events(self) -> Iterator[Any]:
        for what, (a, b, medium) in zip(("first", "second"), self.sides(), strict=True):
            if medium.evaporates:
                text = (
                    f"The {what} fluid of an exchanger for one phase comes as liquid and vapour: its heat is wrong. "
                    "Take `LogMeanExchanger` or `CellularExchanger`."
                )
                h, ends = felt("h", a, b, self.m_least()), medium.saturation(p=a.p)
                wet = (h > ends.liquid.h + H_WET) & (h < ends.vapour.h - H_WET)
                yield ac.assert_(~wet, text, level="warning")


class PlateExchanger(HeatExchanger):
    """A plate exchanger between two liquids or gases in counterflow, with heat transfer that follows the flows.

    ``1/UA = 1/(alpha_1·A) + thickness/(conductivity·A) + 1/(alpha_2·A)``, ``alpha = Nu·k/(2·gap)`` by `plate_nusselt`, with ``Re =
    2·m/(channels·width·viscosity)``. `angle` is that of the corrugations to the direction of flow, 15° to 60°: at 60° most heat
    passes. The pressure lost is that of `HeatExchanger`, whatever the angle. Outside of the correlation's range, 50 < Re <
    15 000, it warns once; the coefficient does not fall below that of Re = 10.
    """

    plates = ac.Parameter(20, min=3, doc="plates; the two outer ones pass no heat")
    width = ac.Parameter(0.1, unit="m", min=1e-3, doc="of a plate")
    length = ac.Parameter(0.4, unit="m", min=1e-3, doc="between the ports")
    gap = ac.Parameter(2.5e-3, unit="m", min=1e-5, doc="between two plates")
    thickness = ac.Parameter(0.4e-3, unit="m", min=0, doc="of a plate")
    conductivity = ac.Parameter(16.0, unit="W/(m*K)", min=1e-3, doc="of a plate")
    area = ac.Variable(unit="m^2", start=0.7, doc="heat transfer area")
    UA_now = ac.Variable(unit="W/K", nominal=1e3, start=1e3, doc="heat transfer coefficient times area")

    def __init__(self, angle: float = 60.0) -> None:
        super().__init__("counter")
        plate_nusselt(1000.0, 1.0, angle)  # refused here if it was never measured
        self.angle = float(angle)

    def conductance(self) -> Any:
        return self.UA_now

    def equations(self) -> Iterator[Any]:
        yield from super().equations()
        yield self.area == (self.plates - 2) * self.width * self.length
        resistance = self.thickness / self.conductivity
        for state, reynolds in self._sides():
            Re = ac.smooth_max(reynolds, 10.0, 1.0)
            resistance = resistance + 2 * self.gap / (plate_nusselt(Re, state.prandtl, self.angle) * state.conductivity)
        yield self.UA_now == self.area / resistance

    def _sides(self) -> Iterator[tuple[Any, Any]]:
        channels = (self.plates - 1) / 2
        for a, b, medium in self.sides():
            state = entering_either(medium, a, b, self.m_least())
            yield state, 2 * ac.smooth_abs(a.m_flow, 1e-9) / (channels * self.width * state.viscosity)

    def events(self) -> Iterator[Any]:
        yield from super().events()
        for what, (_, reynolds) in zip(("first", "second"), self._sides(), strict=True):
            inside = ac.no_event(ac.where(reynolds < 1.0, 50.0, reynolds))  # at rest there is nothing to be said
            yield within(inside, 50.0, 1.5e4, f"The Reynolds number of the {what} fluid", "the correlation for plates")


class LogMeanExchanger(TwoFluids):
    """Two fluids in any phase and a wall without capacity between them: ``Q = UA·log_mean(dT_1, dT_2)``, the differences of
    temperature at both ends.

    Temperatures at the ends are those of the fluids there, so that one of them may boil or condense on its way; where both change
    their phase, or one does so only for a part of it, the mean is an approximation (`CellularExchanger` makes none). It is written
    as the `effectiveness` of capacities ``m·(h_out - h_in)/(T_out - T_in)``, which is the same, and has no hole where both
    differences are equal and none where one of them vanishes. Flow of either side may turn; at no flow there is no heat. Friction
    is that of `HeatExchanger`.

    The mean knows the ends alone. Where fluid begins or ends to boil or condense within, and at three places of a fluid that can,
    the difference there limits the heat as well, ``Q <= 2·UA·dT/(4·y·(1 - y))`` at the share y of its way: temperatures never
    cross, and no entropy is destroyed.
    """

    heat = ac.Variable(unit="W", nominal=1e3, start=0.0, doc="heat that would pass if neither side stood still")

    def __init__(self, arrangement: str = "counter") -> None:
        if arrangement not in ("counter", "co"):
            raise UsageError(f"The ends of an exchanger by logarithmic mean are in 'counter' or 'co' flow, not {arrangement!r}.")
        self.arrangement = arrangement

    def equations(self) -> Iterator[Any]:
        yield from super().equations()
        yield from self.carried(self.heat)
        ways = [self._way(*side, gain) for side, gain in zip(self.sides(), self.gains(self.heat), strict=True)]
        slopes = [way.slope() / size for way, size in zip(ways, self.sizes(), strict=True)]
        least, most = ac.no_event(ac.min(*slopes)), ac.no_event(ac.max(*slopes)) + 1e-12
        apart = ways[0].at(0.0) - ways[1].at(0.0)
        mean = effectiveness(self.UA * most, least / most, self.arrangement) * apart
        limits = [most * limit for limit in self._limits(*ways)]
        smallest = ac.where(apart > 0, ac.min(mean, *limits), ac.max(mean, *limits)) if limits else mean
        yield self.heat * most == ac.no_event(smallest)  # divided by `most` it would fall with the heat while fluid boils

    def _way(self, a: Any, b: Any, medium: Any, gain: Any) -> _Way:
        X = felt("X", a, b, self.m_least()) if medium.substances else None
        return _Way(medium, a.p, felt("h", a, b, self.m_least()), X, gain)

    def _limits(self, one: _Way, two: _Way) -> Iterator[Any]:
        """The heat that leaves a difference of temperature where it may be smallest."""
        for way in (one, two):
            for y in way.places():
                facing = 1 - y if self.arrangement == "counter" else y
                apart = one.at(y) - two.at(facing) if way is one else one.at(facing) - two.at(y)
                yield 2 * self.UA * apart / (4 * y * (1 - y) + Y_END)


@dataclass(frozen=True)
class _Way:
    """A fluid that comes with the enthalpy h and gains some more at one pressure."""

    medium: Any
    p: Any
    h: Any
    X: Any
    gain: Any

    def at(self, y: Any) -> Any:
        """The temperature after the share y of the way."""
        return self._state(y).T

    def _state(self, y: Any) -> Any:
        return state_at(self.medium, self.p, self.h + y * self.gain, self.X)

    def slope(self) -> Any:
        """How much the temperature rises with the enthalpy: nothing while it boils."""
        comes, rise = self._state(0.0), self.at(1.0) - self.at(0.0)
        mean = (rise * self.gain + H_SMALL**2 / comes.cp) / (self.gain * self.gain + H_SMALL**2)
        return ac.no_event(ac.max(mean, 0.0))

    def places(self) -> list[Any]:
        """Shares of the way between which the temperature is nearly linear; none where it is so anyway."""
        if not self.medium.evaporates:
            return []
        ends = self.medium.saturation(p=self.p)
        borders = [(end.h - self.h) * self.gain / (self.gain * self.gain + H_SMALL**2) for end in (ends.liquid, ends.vapour)]
        return [0.25, 0.5, 0.75, *(ac.no_event(ac.min(ac.max(y, 0.0), 1.0)) for y in borders)]


class CellularExchanger(ac.Component):
    """Two fluids in `cells` cells each with a wall that stores between them, in "counter" or "co" flow: any phases, any flows.

    Two `DistributedPipe`s (`one`, `two`, with lengths, diameters and heat transfer of their own) and a heat capacity at each pair
    of cells. Of each cell ``dM/dt = m_in - m_out``, ``dU/dt = m_in·h_in - m_out·h_out + q``, ``q = alpha·pi·d·l/n·(T_wall - T)``;
    of each piece of wall ``C/n·dT_wall/dt = -q_1 - q_2``. It takes a state for each mass, energy and wall temperature;
    `HeatExchanger` is the one without storage.
    """

    first, second = ac.AnyMedium(doc="the first fluid"), ac.AnyMedium(doc="the second fluid")
    a1, b1 = ac.FluidPort(first, doc="first fluid, inlet by design"), ac.FluidPort(first, doc="first fluid, outlet")
    a2, b2 = ac.FluidPort(second, doc="second fluid, inlet by design"), ac.FluidPort(second, doc="second fluid, outlet")
    C = ac.Parameter(2000.0, unit="J/K", min=1e-9, doc="heat capacity of the wall")
    one: Any
    two: Any
    wall: Any

    def __init__(self, cells: int = 10, arrangement: str = "counter") -> None:
        if arrangement not in ("counter", "co"):
            raise UsageError(f"Cells face each other in 'counter' or 'co' flow, not {arrangement!r}.")
        self.cells, self.arrangement = counted(cells, 2, "An exchanger of cells has two of them or more"), arrangement
        self.one, self.two = (DistributedPipe(cells, states="mass") for _ in range(2))
        self.wall = ac.array(HeatCapacitor, cells, C=self.C / cells)

    def connections(self) -> Iterator[Any]:
        yield self.a1, self.one.a
        yield self.b1, self.one.b
        yield self.a2, self.two.a
        yield self.b2, self.two.b
        yield self.wall.port, self.one.heat
        yield self.wall.port, self.two.heat[::-1] if self.arrangement == "counter" else self.two.heat
