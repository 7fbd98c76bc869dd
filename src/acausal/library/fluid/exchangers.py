"""Heat exchangers between two fluids that are described by their effectiveness."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

import acausal as ac
from acausal.errors import UsageError

from ..counts import counted
from ..thermal import HeatCapacitor
from .cells import H_SMALL
from .correlations import plate_nusselt, within
from .passages import H_WET, entering_either, felt, nominal_friction, state_at
from .pipes import DistributedPipe
from .sections import ARRANGEMENTS, OPPOSITE, Exchange, Way, effectiveness


def name_temperatures(exchanger: Any, sides: Any) -> None:
    """What passes its ports has the temperatures `T_a1`, `T_b1`, `T_a2` and `T_b2`, where it is a liquid that does not boil.

    No table has the name of such a medium, so that accounts of a run know them from nowhere else. That of a gas would be an unknown
    more.
    """
    for side, (a, b, medium) in zip("12", sides, strict=True):
        if not medium.compressible:
            for end, port in (("a", a), ("b", b)):
                T = state_at(medium, port.p, port.h.actual).T
                setattr(exchanger, f"T_{end}{side}", ac.named(T, unit="K", doc="temperature of what passes there"))


class TwoFluids(ac.Component):
    """Base of exchangers that hold nothing of the two fluids that pass them: ports, friction, and what heat does to what passes.

    Friction is ``dp = dp1_nominal·(m/m1_nominal)²`` on the side of the first fluid, likewise on that of the second; both are as
    `m_nominal` and `dp_nominal` unless they are given. Flow of either side may turn; where one stands still no heat passes, and
    below 1e-4 of the size of its flow what comes in there is felt between its two ends. A subclass says how much heat there is, and
    gives it to `carried`. Where one of both flows has turned, what was in counterflow is in co-flow, and the other way round.
    `T_a1`, `T_b1`, `T_a2` and `T_b2` are the temperatures of what passes its ports, of brine and oil.
    """

    arrangement: str

    one, two = ac.AnyMedium(doc="the first fluid"), ac.AnyMedium(doc="the second fluid")
    a1, b1 = ac.FluidPort(one, doc="first fluid, inlet by design"), ac.FluidPort(one, doc="first fluid, outlet")
    a2, b2 = ac.FluidPort(two, doc="second fluid, inlet by design"), ac.FluidPort(two, doc="second fluid, outlet")
    UA = ac.Input(1000.0, unit="W/K", min=0, doc="heat transfer coefficient times area")
    m_nominal = ac.Parameter(0.1, unit="kg/s", min=1e-9, doc="size of the mass flows, where both are alike")
    dp_nominal = ac.Parameter(5e3, unit="Pa", min=1e-3, doc="pressure lost with it, where both are alike")
    m1_nominal = ac.Parameter(m_nominal, unit="kg/s", min=1e-9, doc="size of the first fluid's mass flow")
    m2_nominal = ac.Parameter(m_nominal, unit="kg/s", min=1e-9, doc="size of the second fluid's mass flow")
    dp1_nominal = ac.Parameter(dp_nominal, unit="Pa", min=1e-3, doc="pressure the first fluid loses with m1_nominal")
    dp2_nominal = ac.Parameter(dp_nominal, unit="Pa", min=1e-3, doc="pressure the second fluid loses with m2_nominal")
    Q_flow = ac.Variable(unit="W", nominal=1e3, doc="heat from the first to the second fluid")

    @abstractmethod
    def equations(self) -> Iterator[Any]:
        for side, m, dp in zip(self.sides(), self.m_sizes(), (self.dp1_nominal, self.dp2_nominal), strict=True):
            yield from nominal_friction(*side, m, dp)
        name_temperatures(self, self.sides())

    def sides(self) -> tuple[tuple[Any, Any, Any], tuple[Any, Any, Any]]:
        """The ports of each side and what flows there."""
        return (self.a1, self.b1, self.one), (self.a2, self.b2, self.two)

    def sizes(self) -> list[Any]:
        """Of both flows, in kg/s, above zero."""
        return [ac.sqrt(a.m_flow * a.m_flow + least**2) for (a, _, _), least in zip(self.sides(), self.m_least(), strict=True)]

    def m_sizes(self) -> tuple[Any, Any]:
        """How large the flow of each side is by design."""
        return self.m1_nominal, self.m2_nominal

    def m_least(self) -> tuple[Any, Any]:
        """Of each side a flow so small that what comes lies between both ends, and heat fades with it."""
        one, two = self.m_sizes()
        return 1e-4 * one, 1e-4 * two

    def gains(self, heat: Any) -> tuple[Any, Any]:
        """What a heat, which would pass if neither stood still, adds to both enthalpies: each side carries `Q_flow` at any flow."""
        (first, second), sizes = self._passing(), self.sizes()
        return -heat * second / sizes[0], heat * first / sizes[1]

    def carried(self, heat: Any) -> Iterator[Any]:
        """`heat` from the first to the second fluid, as far as both flow."""
        first, second = self._passing()
        yield self.Q_flow == heat * first * second
        for (a, b, _), gain, least in zip(self.sides(), self.gains(heat), self.m_least(), strict=True):
            yield b.h.outflow == self._leaving(a, b, least) + gain
            yield a.h.outflow == self._leaving(b, a, least) + gain

    def _leaving(self, one: Any, other: Any, least: Any) -> Any:
        """The enthalpy with which what would leave at the other port came: at the first one. While it flows the other way, the gain
        is that of what comes at the other: added to any other enthalpy it may be that of no fluid."""
        return ac.smooth_switch(one.m_flow + 2 * least, other.h.inflow, one.h.inflow, width=2 * least)

    def comes(self) -> Iterator[Any]:
        """The state of what comes in on each side."""
        for (a, b, medium), least in zip(self.sides(), self.m_least(), strict=True):
            yield entering_either(medium, a, b, least)

    def counterflow(self) -> Any:
        """1 where both are in counterflow, 0 where they are in co-flow. At rest it is as by design: one that turns is in the other
        when it is as much as that of `m_least`, with which it makes no difference yet."""
        along = self.a1.m_flow * self.a2.m_flow / (self.sizes()[0] * self.sizes()[1])
        turned = ac.smooth_step(-along, 0.5, 0.5)
        return 1 - turned if self.arrangement == "counter" else turned

    def _passing(self) -> tuple[Any, Any]:
        """Of each side a share that goes to zero where it stands still."""
        first, second = (ac.no_event(ac.abs(a.m_flow)) / size for (a, _, _), size in zip(self.sides(), self.sizes(), strict=True))
        return first, second


class HeatExchanger(TwoFluids):
    """Two fluids of one phase each and a wall without capacity between them: ``Q = eps·C_min·(T_1 - T_2)`` by the number of
    transfer units.

    Flow of either side may turn: counterflow becomes co-flow then, and co-flow counterflow. Friction is ``dp =
    dp_nominal·(m/m_nominal)²``, or of each side as it is given (`m1_nominal`, `dp1_nominal`, …). At no flow there is no heat:
    ``C_min`` goes to zero smoothly. A fluid that comes in two phases is told once.
    """

    eps = ac.Variable(start=0.5, doc="effectiveness")

    def __init__(self, arrangement: str = "counter") -> None:
        if arrangement not in ARRANGEMENTS:
            raise UsageError(f"The arrangement of an exchanger is one of {', '.join(ARRANGEMENTS)}, not {arrangement!r}.")
        self.arrangement = arrangement

    def equations(self) -> Iterator[Any]:
        yield from super().equations()
        comes = list(self.comes())
        capacities = [size * state.cp for size, state in zip(self.sizes(), comes, strict=True)]
        least, most = ac.no_event(ac.min(*capacities)), ac.no_event(ac.max(*capacities))
        yield self.eps == self._effectiveness(self.UA / least, least / most)
        yield from self.carried(self.eps * least * (comes[0].T - comes[1].T))

    def _effectiveness(self, units: Any, ratio: Any) -> Any:
        if self.arrangement not in OPPOSITE:
            return effectiveness(units, ratio, self.arrangement)
        counter, co = (effectiveness(units, ratio, name) for name in OPPOSITE)
        return co + self.counterflow() * (counter - co)

    def events(self) -> Iterator[Any]:
        for what, (a, b, medium), least in zip(("first", "second"), self.sides(), self.m_least(), strict=True):
            if medium.evaporates:
                text = (
                    f"The {what} fluid of an exchanger for one phase comes as liquid and vapour: its heat is wrong. "
                    "Take `LogMeanExchanger` or `CellularExchanger`."
                )
                h, ends = felt("h", a, b, least), medium.saturation(p=a.p)
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
    UA = ac.Variable(unit="W/K", nominal=1e3, start=1e3, doc="heat transfer coefficient times area")

    def __init__(self, angle: float = 60.0) -> None:
        super().__init__("counter")
        plate_nusselt(1000.0, 1.0, angle)  # refused here if it was never measured
        self.angle = float(angle)

    def equations(self) -> Iterator[Any]:
        yield from super().equations()
        yield self.area == (self.plates - 2) * self.width * self.length
        resistance = self.thickness / self.conductivity
        for state, reynolds in self._sides():
            Re = ac.smooth_max(reynolds, 10.0, 1.0)
            resistance = resistance + 2 * self.gap / (plate_nusselt(Re, state.prandtl, self.angle) * state.conductivity)
        yield self.UA == self.area / resistance

    def _sides(self) -> Iterator[tuple[Any, Any]]:
        channels = (self.plates - 1) / 2
        for (a, _, _), state in zip(self.sides(), self.comes(), strict=True):
            yield state, 2 * ac.smooth_abs(a.m_flow, 1e-9) / (channels * self.width * state.viscosity)

    def events(self) -> Iterator[Any]:
        yield from super().events()
        for what, (_, reynolds) in zip(("first", "second"), self._sides(), strict=True):
            inside = ac.no_event(ac.where(reynolds < 1.0, 50.0, reynolds))  # at rest there is nothing to be said
            yield within(inside, 50.0, 1.5e4, f"The Reynolds number of the {what} fluid", "the correlation for plates")


class LogMeanExchanger(TwoFluids):
    """Two fluids in any phase and a wall without capacity between them: ``Q = UA·log_mean(dT_1, dT_2)``, the differences of
    temperature at both ends.

    Where a fluid begins or ends to boil or condense, the exchanger is cut, and its sections share `UA`: ``UA = sum(Q_k/log_mean)``.
    Within a section temperatures are taken to be linear over the heat: that is exact for constant capacities and for boiling at one
    temperature, and rough near the critical pressure, where `CellularExchanger` is better. Temperatures cross neither at an end,
    nor where a phase changes, nor at three places between, and no entropy is destroyed. Flow of either side may turn, and
    counterflow become co-flow; at no flow there is no heat. Friction is that of `HeatExchanger`.
    """

    share = ac.Variable(start=0.5, doc="heat that would pass if neither side stood still, over a size of it")

    def __init__(self, arrangement: str = "counter") -> None:
        if arrangement not in OPPOSITE:
            raise UsageError(f"The ends of an exchanger by logarithmic mean are in 'counter' or 'co' flow, not {arrangement!r}.")
        self.arrangement = arrangement

    def equations(self) -> Iterator[Any]:
        yield from super().equations()
        comes = list(self.comes())
        apart = comes[0].T - comes[1].T
        size = self._size_of_heat([state.cp * ac.no_event(ac.abs(apart)) for state in comes])
        towards = ac.no_event(ac.where(apart > 0, 1.0, -1.0))
        yield from self.carried(towards * size * self.share)
        rises = [sign / flow for sign, flow in zip((-towards, towards), self.sizes(), strict=True)]
        one, two = (self._way(*each) for each in zip(self.sides(), self.m_least(), rises, strict=True))
        heat = size * ac.no_event(ac.max(self.share, 0.0))
        capacity = size / (ac.no_event(ac.abs(apart)) + 1.0)
        counter, co = (Exchange(self.UA, name, towards, 1e-6 * size, capacity).passed(one, two, heat) for name in OPPOSITE)
        yield self.share == (co + self.counterflow() * (counter - co)) / size

    def _size_of_heat(self, sensible: list[Any]) -> Any:
        """In W, as large as heat may be. It fades with the smaller flow: what solves for a share of it may be far from exact where
        next to nothing flows, as nothing depends on it, and of heat itself what left there was no fluid any more."""
        spans = [
            H_SMALL + gain + (medium.saturation(p=a.p).h_evaporation if medium.evaporates else 0.0)
            for gain, (a, _, medium) in zip(sensible, self.sides(), strict=True)
        ]
        return ac.no_event(ac.min(*(flow * span for flow, span in zip(self.sizes(), spans, strict=True))))

    def _way(self, side: tuple[Any, Any, Any], least: Any, rise: Any) -> Way:
        a, b, medium = side
        X = felt("X", a, b, least) if medium.substances else None
        return Way(medium, a.p, felt("h", a, b, least), X, rise)


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
        if arrangement not in OPPOSITE:
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
