"""Coils of fins and tubes on which the water of moist air condenses, or freezes and melts again.

Air comes to a surface of temperature T_s with the number of transfer units ``N = UA/(m·cp)``. The share ``BF = exp(-N)`` passes it
untouched (the bypass factor), the rest leaves saturated at T_s where that is below the dew point:

    T_out = T_s + BF·(T_in - T_s),   w_out = w_in - (1 - BF)·max(w_in - w_s(T_s), 0),

which is the analogy of heat and mass transfer with a Lewis number of one (McQuiston, Parker and Spitler, Heating, Ventilating and
Air Conditioning, 6th ed., ch. 14). Below 0 °C the water stays as frost, above it drips off at the temperature of the surface
(within half a kelvin there is some of both). Frost of the thickness ``delta = M/(rho·area)`` insulates, ``1/UA =
1/(eta·alpha·area) + delta/(k·area)``, and narrows the gaps; on a surface above 0 °C it melts.

alpha follows the flow after Gray and Webb (`correlations.plain_fin_colburn`), the efficiency of the fins after Schmidt
(`correlations.fin_efficiency`). Not described: that a wet fin is a little less efficient, water that stays between fins, frost
that becomes denser with time or that dry air takes up again, and the viscosity of air that comes in at b (that of what comes in at
a is taken).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

import acausal as ac
from acausal.media.moist_air import vapour_enthalpy

from ..fluid.correlations import fin_efficiency, plain_fin_colburn, within
from ..fluid.passages import entering, root_of_difference, upwind
from ..thermal import HeatPort
from .boundaries import only_moist_air

ZERO = 273.15  # K
H_MELTING, C_WATER = 333.4e3, 4190.0  # J/kg, J/(kg K), as in media.moist_air
CP_AIR, CP_VAPOUR = 1006.0, 1860.0  # J/(kg K)


class WetSurface(ac.Component):
    """Base: what air gives to a surface of one temperature; a subclass says which temperature, and takes the heat.

    ``T_out = T_s + BF·(T_in - T_s)``, ``w_out = w_in - (1 - BF)·max(w_in - w_s(T_s), 0)``, ``BF = exp(-UA/(m·cp))``; friction is
    ``dp = dp_nominal·(m/(m_nominal·open))²``, `open` being the share of the gaps that frost leaves. See the module for the rest.
    State: the mass of frost, ``d(frost)/dt = growth - melting``.
    """

    moist = ac.AnyMedium(ac.media.moist_air(), doc="the air")
    a, b = ac.FluidPort(moist, doc="inlet by design"), ac.FluidPort(moist, doc="outlet by design")
    area = ac.Parameter(20.0, unit="m^2", min=1e-6, doc="area of fins and tubes")
    area_free = ac.Parameter(0.25, unit="m^2", min=1e-6, doc="smallest area that the air passes")
    finned = ac.Parameter(0.94, min=0, max=1, doc="share of the area that is fins")
    rows = ac.Parameter(4, min=1, doc="rows of tubes that the air passes one after the other")
    diameter = ac.Parameter(0.0127, unit="m", min=1e-4, doc="outer diameter of the tubes")
    pitch_across = ac.Parameter(0.0318, unit="m", min=1e-3, doc="from tube to tube in a row")
    pitch_along = ac.Parameter(0.0275, unit="m", min=1e-3, doc="from row to row")
    gap = ac.Parameter(4e-3, unit="m", min=1e-5, doc="between two fins")
    thickness = ac.Parameter(0.15e-3, unit="m", min=1e-6, doc="of a fin")
    conductivity = ac.Parameter(220.0, unit="W/(m*K)", min=1e-3, doc="of the fins")
    m_nominal = ac.Parameter(0.6, unit="kg/s", min=1e-9, doc="size of the mass flow")
    dp_nominal = ac.Parameter(40.0, unit="Pa", min=1e-3, doc="pressure lost with m_nominal, without frost")
    frost_density = ac.Parameter(200.0, unit="kg/m^3", min=1, doc="of frost")
    frost_conductivity = ac.Parameter(0.2, unit="W/(m*K)", min=1e-3, doc="of frost")
    G_melt = ac.Parameter(400.0, unit="W/K", min=0, doc="surface to melting frost")
    thin = ac.Parameter(0.05, unit="kg", min=1e-6, doc="frost that covers only half of the surface")
    frost = ac.Variable(unit="kg", nominal=0.1, start=0.0, fixed=True, doc="frost on the surface")
    m_flow = ac.Variable(unit="kg/s", nominal=0.1, start=0.1, doc="mass flow of moist air from a")
    bypass = ac.Variable(start=0.2, doc="share of the air that is not touched")
    moisture = ac.Variable(unit="kg/s", nominal=1e-4, start=0.0, doc="water that the air leaves on the surface")
    Q_sensible = ac.Variable(unit="W", nominal=1e3, start=0.0, doc="heat that the air gives without its moisture")
    Q_latent = ac.Variable(unit="W", nominal=1e3, start=0.0, doc="heat of condensing and freezing, less that of melting")

    @abstractmethod
    def surface_temperature(self) -> Any:
        """The temperature of the surface in K."""

    def equations(self) -> Iterator[Any]:
        only_moist_air(self)
        a, b, T = self.a, self.b, self.surface_temperature()
        size = ac.sqrt(self.m_flow**2 + self._m_least() ** 2)
        touched = 1 - self.bypass
        ways = [self._treated(port, T, touched) for port in (a, b)]
        taken, heat, capacity, inlet = (
            upwind(self.m_flow, forth, back) for forth, back in zip(*(w[:4] for w in ways), strict=True)
        )
        coming = self._coming(ways[1][0])
        yield self.bypass == ac.exp(-self._conductance() / (size * capacity))
        yield a.m_flow == self.m_flow
        yield a.m_flow + b.m_flow == self.moisture
        yield self.m_flow == self.m_nominal * self._open() / ac.sqrt(self.dp_nominal) * self._root(a.p - b.p)
        yield self.moisture == coming * taken
        yield self.Q_sensible == coming * heat
        for port, (_, _, _, _, h, x) in ((b, ways[0]), (a, ways[1])):
            yield port.h.outflow == h
            yield port.X.outflow[0] == x
        yield from self._frost(T, inlet)
        felt = ac.smooth_switch(self.m_flow, ways[1][3], ways[0][3], width=2 * self._m_least())
        self.T_in = ac.named(felt, unit="K", doc="temperature of the air that comes; at rest between those of both sides")

    def _m_least(self) -> Any:
        """A flow so small that the air is not told from where it comes."""
        return 1e-4 * self.m_nominal

    def _coming(self, taken: Any) -> Any:
        """How much air comes in, in kg/s: at a it is `m_flow`, at b what leaves at a and the water `taken` of each kg."""
        return upwind(self.m_flow, self.m_flow, -self.m_flow / (1 - taken))

    def _treated(self, port: Any, T: Any, touched: Any) -> tuple[Any, ...]:
        """What a kg of the air that comes in at a port leaves here: water and heat; its heat capacity and temperature; what it is
        afterwards."""
        air, medium = entering(self.moist, port), self.moist
        dry = 1 - air.x_water
        cold = ac.no_event(ac.min(T, air.T))  # on a warmer surface nothing condenses; beyond 100 °C no air would be saturated
        over = air.x_vapour / dry - medium.state(p=port.p, T=cold, phi=1.0, phase="any").w
        water = dry * touched * ac.no_event(ac.max(over, 0.0))
        capacity = dry * CP_AIR + (air.x_vapour - water) * CP_VAPOUR
        heat = touched * capacity * (air.T - T)
        h = (air.h - heat - water * vapour_enthalpy(air.T)) / (1 - water)
        return water, heat, capacity, air.T, h, (air.x_water - water) / (1 - water)

    def _thickness(self) -> Any:
        return ac.no_event(ac.max(self.frost, 0.0)) / (self.frost_density * self.area)

    def _open(self) -> Any:
        """Share of the gap between fins that frost leaves."""
        return ac.smooth_max(1 - 2 * self._thickness() / self.gap, 0.05, 0.02)

    def _root(self, dp: Any) -> Any:
        return root_of_difference(dp, 1e-2 * self.dp_nominal)

    def _reynolds(self, viscosity: Any) -> Any:
        flux = ac.sqrt(self.m_flow**2 + (1e-3 * self.m_nominal) ** 2) / (self.area_free * self._open())
        return flux * self.diameter / viscosity, flux

    def _conductance(self) -> Any:
        """From the air to the surface, with fins and frost, in W/K."""
        air = entering(self.moist, self.a)
        reynolds, flux = self._reynolds(air.viscosity)
        j = plain_fin_colburn(reynolds, self.rows, self.diameter, self.pitch_across, self.pitch_along, self.gap)
        alpha = j * flux * CP_AIR * air.prandtl ** (-2 / 3)
        eta = fin_efficiency(alpha, self.conductivity, self.thickness, self.diameter, self.pitch_across, self.pitch_along)
        clean = alpha * (1 - self.finned * (1 - eta))
        return self.area / (1 / clean + self._thickness() / self.frost_conductivity)

    def _frost(self, T: Any, inlet: Any) -> Iterator[Any]:
        warm, covered = ac.smooth_step(T, ZERO, 0.5), self.frost / (self.frost + self.thin)
        melting = self.G_melt * covered * ac.no_event(ac.max(T - ZERO, 0.0)) / H_MELTING
        growth, dripping = (1 - warm) * self.moisture, warm * self.moisture
        yield ac.der(self.frost) == growth - melting
        drops = dripping * C_WATER * (T - ZERO)
        yield self.Q_latent == self.moisture * vapour_enthalpy(inlet) - drops + H_MELTING * (growth - melting)
        self.drained = ac.named(dripping + melting, unit="kg/s", doc="water that drips off")
        self.melting = ac.named(melting, unit="kg/s", doc="frost that melts")
        self.drops = ac.named(drops, unit="W", doc="enthalpy of the water that drips off")

    def events(self) -> Iterator[Any]:
        reynolds, _ = self._reynolds(entering(self.moist, self.a).viscosity)
        inside = ac.no_event(ac.where(ac.abs(self.m_flow) < 0.05 * self.m_nominal, 1e3, reynolds))  # at rest nothing is to be said
        yield within(inside, 500.0, 24700.0, "The Reynolds number of the air", "the correlation for plain fins")
        text = (
            "Frost fills the gaps between the fins of a coil: hardly any air passes. "
            "Defrost it more often, or give it a larger `gap`."
        )
        yield ac.assert_(self._open() > 0.1, text, level="warning")


class Coil(WetSurface):
    """A coil whose surface is a heat port: a wall, the tubes of a `fluid.DistributedPipe`, a heater. It has their temperature and
    gives them the heat of air and moisture, ``surface.Q_flow = -(Q_sensible + Q_latent)``.
    """

    surface = HeatPort(doc="fins and tubes")

    def surface_temperature(self) -> Any:
        return self.surface.T

    def equations(self) -> Iterator[Any]:
        yield from super().equations()
        yield self.surface.Q_flow == -(self.Q_sensible + self.Q_latent)


class FinAndTube(WetSurface):
    """The air side of an `Evaporator`, a `Condenser` or a `DistributedExchanger`: connect `air` to its `air`, `UA` to `UA`, `Q` to
    `Q_wall`, and say ``coil.T_coil == exchanger.T_wall``.

    For a surface at one temperature the air that comes drives ``UA = m·cp·(1 - BF)``. `heater` adds `P_heater` for defrosting.
    """

    air = HeatPort(doc="to `air` of the exchanger: the temperature of the air that comes")
    T_coil = ac.Input(278.15, unit="K", min=0, doc="temperature of the coil")
    heater = ac.InputStates("on", "off", default="off", doc="whether the heater is on")
    P_heater = ac.Parameter(1500.0, unit="W", min=0, doc="power of the heater")
    UA = ac.Output(unit="W/K", nominal=100.0, start=250.0, doc="coil to the air that comes")
    Q = ac.Output(unit="W", nominal=100.0, start=0.0, doc="heat of moisture, frost and heater into the coil")

    def surface_temperature(self) -> Any:
        return self.T_coil

    def equations(self) -> Iterator[Any]:
        yield from super().equations()
        yield self.air.T == self.T_in
        ways = [self._treated(port, self.T_coil, 1 - self.bypass) for port in (self.a, self.b)]
        capacity = upwind(self.m_flow, *(way[2] for way in ways))
        yield self.UA == self._coming(ways[1][0]) * capacity * (1 - self.bypass)
        self.P = ac.named(ac.match(self.heater, on=self.P_heater, off=0.0), unit="W", doc="power of the heater")
        at_rest = self.Q_sensible - self.UA * (self.T_in - self.T_coil)  # what the temperature felt at the turn of the flow leaves
        yield self.Q == self.Q_latent + self.P + at_rest
