"""Heat transfer inside of tubes as a choice: coefficients that a component is given, correlations, or a law of one's own.

A component with the argument `transfer` takes "constant" (its own parameters), "tube" (`Tube`, correlations for plain tubes), or an
object of a class derived from `Transfer` or `Tube`:

    class Enhanced(heat_transfer.Tube):
        def boiling(self, flow):
            return 1.8 * super().boiling(flow)

    refrigeration.Evaporator(transfer=Enhanced())

Laws are functions of a `TubeFlow`, of numbers as well as of expressions. They are regular at rest, where the mass flux is held at
the least that they were measured with, and do not ask which way it flows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from math import pi
from typing import Any

import acausal as ac
from acausal.errors import UsageError

from .correlations import gungor_winterton, nusselt, quiet, shah_condensation, within
from .friction import H_LEAST as H_LEAST  # others ask it of this module
from .friction import both_phases

X_DRY = 0.9  # quality at which the wall begins to fall dry (Gungor and Winterton 1987)
X_VAPOUR = 0.99  # above it Shah's condensation, which goes to nothing with (1 - x)^0.04, is held
T_TURN = 0.5  # K between wall and fluid over which boiling becomes condensation
Q_LEAST = 10.0  # W/m²: heat flux below which it is rounded
GAUSS = ((0.5 - 0.15**0.5, 5 / 18), (0.5, 8 / 18), (0.5 + 0.15**0.5, 5 / 18))  # points and weights on 0 … 1
FLUX_BOILING, FLUX_CONDENSING = (12.4, 61518.0), (10.8, 1599.0)  # kg/(m² s) of what the two correlations were measured with
X_BAND = 0.03  # half the range of quality over which heat transfer changes
PROPERTIES = ("rho", "viscosity", "conductivity", "prandtl")
PRANDTL_MOST = 100.0  # it has a pole at the critical point, beyond which tables give it another sign
PRESSURE_CONDENSING = (0.002, 0.44)  # over the critical one, likewise


@dataclass(frozen=True)
class TubeFlow:
    """What a law may ask about the flow in a tube. `liquid` and `vapour` have rho, viscosity, conductivity and prandtl: where there
    is one phase its own, else those of saturation."""

    m_flow: Any  # in one tube, kg/s; its sign does not matter
    diameter: Any  # m
    liquid: Any
    vapour: Any
    x: Any = 0.0  # vapour quality
    heat_flux: Any = 0.0  # from wall to fluid or back, above zero, W/m²
    h_evaporation: Any = 2e5  # J/kg
    p_reduced: Any = 0.1  # over the critical pressure

    @property
    def mass_flux(self) -> Any:
        """In kg/(m² s), above zero."""
        return ac.smooth_abs(self.m_flow, 1e-9) / (pi / 4 * self.diameter**2)

    def reynolds(self, viscosity: Any, flux: Any = None) -> Any:
        """One at least: at rest what matters is laminar."""
        found = (self.mass_flux if flux is None else flux) * self.diameter / viscosity
        return ac.sqrt(found * found + 1)

    def at(self, x: Any) -> TubeFlow:
        """The same at another quality."""
        return replace(self, x=x)


class Transfer(ABC):
    """Base of laws of heat transfer; coefficients are in W/(m² K)."""

    @abstractmethod
    def single(self, flow: TubeFlow, fluid: Any) -> Any:
        """Of one phase with the properties of `fluid`."""

    @abstractmethod
    def boiling(self, flow: TubeFlow) -> Any:
        """Of two phases at a wall that is warmer, up to where it falls dry."""

    @abstractmethod
    def condensing(self, flow: TubeFlow) -> Any:
        """Of two phases at a wall that is colder."""

    def two_phase(self, flow: TubeFlow, warmer: Any) -> Any:
        """Boiling or condensing, as the wall is `warmer` by so many kelvins or colder."""
        share = ac.smooth_step(warmer, 0.0, T_TURN)
        cold = self.condensing(flow)
        return cold + share * (self.boiling(flow) - cold)

    def flux(self, flow: TubeFlow, T: Any, superheat: Any, T_wall: Any, band: Any) -> Any:
        """Heat from a wall to fluid of any phase, in W/m².

        Liquid begins to boil within `band` of quality; from `X_DRY` to 1 a warmer wall falls dry. On a wall that is colder than
        saturation, superheated vapour condenses, too: it gives the heat of its superheat to the film, ``alpha_vapour·(T - T_sat)``,
        and the film gives ``alpha_condensing·(T_sat - T_wall)`` to the wall (Webb 1998). So nothing jumps where it enters the
        two-phase region; with another coefficient there, cells would go to and fro. Above the critical pressure there is one phase.
        """
        liquid, vapour = self.single(flow, flow.liquid), self.single(flow, flow.vapour)
        one_phase = ac.smooth_step(flow.p_reduced, 0.99, 0.02)
        above = (1 - one_phase) * quiet(ac.max(superheat, 0.0))
        warmer = T_wall - T + above
        wet, dry = ac.smooth_step(flow.x, 0.0, 2 * band), ac.smooth_step(flow.x, 1 - band, 2 * band)
        film = liquid + wet * (self.condensing(flow) - liquid)
        boiling = along_quality(flow.x, liquid, self.boiling(flow), vapour, band, X_DRY)
        single = liquid + dry * (vapour - liquid)
        cold, warm = (both + one_phase * (single - both) for both in (film, boiling))
        share = ac.smooth_step(warmer, 0.0, T_TURN)
        return (cold + share * (warm - cold)) * warmer - vapour * above

    def mean(self, flow: TubeFlow, warmer: Any, begin: Any, end: Any) -> Any:
        """Of two phases over the qualities between two, as where each metre takes up the same heat (Gauss, three points)."""
        parts = [weight * self.two_phase(flow.at(begin + at * (end - begin)), warmer) for at, weight in GAUSS]
        return sum(parts[1:], parts[0])

    def ranges(self, flow: TubeFlow, warmer: Any) -> Iterator[tuple[Any, float, float, str, str]]:
        """Value, lowest, highest, what it is and whose range: what a run warns of, once."""
        yield from ()


class Tube(Transfer):
    """Correlations for plain round tubes: `nusselt` in one phase (Gnielinski 1976, laminar 3.66), `gungor_winterton` where it boils
    (1987; mass flux 12.4 … 61 518 kg/(m² s), quality to 0.9), `shah_condensation` (1979; 10.8 … 1 599 kg/(m² s), 0.002 … 0.44 of
    the critical pressure). The latter two multiply ``0.023·Re^0.8·Pr^0.4·k/d`` (Dittus and Boelter 1930), of the liquid part and
    of all as liquid, which does not fall below the laminar value.

    >>> from types import SimpleNamespace
    >>> liquid = SimpleNamespace(rho=1250.0, viscosity=2e-4, conductivity=0.085, prandtl=3.4)
    >>> vapour = SimpleNamespace(rho=20.0, viscosity=1.2e-5, conductivity=0.012, prandtl=0.9)
    >>> flow = TubeFlow(0.01, 0.008, liquid, vapour, x=0.3, heat_flux=5e3, h_evaporation=1.9e5, p_reduced=0.1)
    >>> round(Tube().single(flow, liquid)), round(Tube().boiling(flow)), round(Tube().condensing(flow))
    (518, 2223, 2290)
    """

    def single(self, flow: TubeFlow, fluid: Any) -> Any:
        return nusselt(flow.reynolds(fluid.viscosity), fluid.prandtl) * fluid.conductivity / flow.diameter

    def boiling(self, flow: TubeFlow) -> Any:
        flux = ac.smooth_max(flow.mass_flux, FLUX_BOILING[0], 1.0)
        x = quiet(ac.min(ac.max(flow.x, 0.0), X_DRY))
        number = ac.sqrt(flow.heat_flux**2 + Q_LEAST**2) / (flux * flow.h_evaporation)
        part = self._liquid(flow, flux * (1 - x))
        return gungor_winterton(part, x, number, flow.liquid.rho / flow.vapour.rho)

    def condensing(self, flow: TubeFlow) -> Any:
        flux = ac.smooth_max(flow.mass_flux, FLUX_CONDENSING[0], 1.0)
        x = quiet(ac.min(flow.x, X_VAPOUR))
        return shah_condensation(self._liquid(flow, flux), x, flow.p_reduced)

    def _liquid(self, flow: TubeFlow, flux: Any) -> Any:
        fluid = flow.liquid
        turbulent = 0.023 * flow.reynolds(fluid.viscosity, flux) ** 0.8 * fluid.prandtl**0.4
        return (turbulent**4 + 3.66**4) ** 0.25 * fluid.conductivity / flow.diameter

    def ranges(self, flow: TubeFlow, warmer: Any) -> Iterator[tuple[Any, float, float, str, str]]:
        flux, wet = flow.mass_flux, (flow.x > 0) & (flow.x < 1) & (flow.p_reduced < 1)
        moving = wet & (flux > 1.0)  # a plant that stands still does so for longer than any warning waits
        boils, condenses = moving & (warmer > T_TURN), moving & (warmer < -T_TURN)
        for used, value, (low, high), what, whose in (
            (boils, flux, FLUX_BOILING, "The mass flux", "Gungor and Winterton's boiling"),
            (condenses, flux, FLUX_CONDENSING, "The mass flux", "Shah's condensation"),
            (condenses, flow.p_reduced, PRESSURE_CONDENSING, "The pressure over the critical one", "Shah's condensation"),
        ):
            yield quiet(ac.where(used, value, (low + high) / 2)), low, high, what, whose


def tube_flow(medium: Any, m_flow: Any, diameter: Any, p: Any, h: Any, state: Any, heat_flux: Any = 0.0) -> TubeFlow:
    """The flow of a medium that may evaporate, or of one that does not, in a tube."""
    if not medium.evaporates:
        return TubeFlow(m_flow, diameter, state, state, x=-1.0)
    ends = medium.saturation(p=p)
    evaporation = quiet(ac.max(ends.h_evaporation, H_LEAST))
    x = (h - ends.liquid.h) / evaporation
    liquid, vapour = both_phases(x, state, ends, PROPERTIES)
    for phase in (liquid, vapour):
        phase.prandtl = quiet(ac.min(ac.abs(phase.prandtl), PRANDTL_MOST))
    return TubeFlow(m_flow, diameter, liquid, vapour, x, heat_flux, evaporation, p / medium.p_critical)


def wall_flux(law: Transfer, medium: Any, flow: TubeFlow, p: Any, T: Any, T_wall: Any, band: Any) -> Any:
    """Heat from a wall to such a flow of temperature T, in W/m²."""
    if not medium.evaporates:
        return law.single(flow, flow.liquid) * (T_wall - T)
    return law.flux(flow, T, T - medium.saturation(p=p).vapour.T, T_wall, band)


def through_cells(row: Any) -> Iterator[Any]:
    """The mean of what flows in and out of each cell, `m_mean`, of a component with flows `m` from cell to cell."""
    n, m, mean = row.cells, row.m, row.m_mean
    yield mean[0] == (row.a.m_flow + m[0]) / 2
    yield mean[n - 1] == (m[n - 2] - row.b.m_flow) / 2
    if n > 2:
        yield mean[1:-1] == (m[:-1] + m[1:]) / 2


LAWS: dict[str, Callable[[], Transfer | None]] = {"constant": lambda: None, "tube": Tube}


def checked_transfer(said: str | Transfer) -> Transfer | None:
    """The law that an argument `transfer` stands for; None is that with coefficients of the component itself.

    >>> checked_transfer("constant") is None, type(checked_transfer("tube")).__name__
    (True, 'Tube')
    """
    if isinstance(said, Transfer):
        return said
    if not isinstance(said, str) or said not in LAWS:
        names = ", ".join(repr(name) for name in LAWS)
        raise UsageError(
            f"Heat transfer is one of {names} or an object derived from `fluid.Transfer`, not {said!r}.",
            remedy="A class is called: `transfer=MyLaw()`.",
        )
    return LAWS[said]()


def warnings(law: Transfer | None, flow: Callable[[], TubeFlow], warmer: Any) -> Iterator[Any]:
    """What a component with a law yields in `events`: above and below its ranges apart. What was told of a slow start would keep
    silent of a flow at work that is above."""
    if law is not None:
        for value, low, high, what, whose in law.ranges(flow(), warmer):
            for side in (ac.max, ac.min):
                yield within(quiet(side(value, (low + high) / 2)), low, high, what, whose)


def pipe_warnings(pipe: Any) -> Iterator[Any]:
    """The same of a pipe in cells: for the flow at its inlet and the wall in its middle."""
    medium = pipe.medium
    if pipe.law is not None and medium.evaporates:
        ends = medium.saturation(p=pipe.a.p)
        wet = ends.liquid.h + 0.5 * ends.h_evaporation
        warmer = pipe.heat.T[pipe.cells // 2] - ends.T
        yield from warnings(pipe.law, lambda: tube_flow(medium, pipe.a.m_flow, pipe.diameter, pipe.a.p, wet, ends.liquid), warmer)


def along_quality(x: Any, liquid: Any, two_phase: Any, vapour: Any, band: Any, dry_from: Any = None) -> Any:
    """A coefficient over quality, changing smoothly from that of liquid (within `band` of 0) to that of two phases and to that of
    vapour (from `dry_from` to 1, or within twice `band` below 1)."""
    wet = ac.smooth_step(x, 0.0, 2 * band)
    dry = ac.smooth_step(x, 1 - band, 2 * band) if dry_from is None else ac.smooth_step(x, (1 + dry_from) / 2, 1 - dry_from)
    low = liquid + (two_phase - liquid) * wet
    return low + (vapour - two_phase) * dry
