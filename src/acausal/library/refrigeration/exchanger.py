"""What evaporators and condensers have in common, with zones or cells: ports, sizes, heat transfer, what they hold at first."""

from __future__ import annotations

from collections.abc import Iterator
from math import pi
from typing import Any

import acausal as ac
from acausal.errors import UsageError

from ..fluid.friction import MULTIPLIERS, two_phase_loss
from ..fluid.heat_transfer import H_LEAST, Transfer, TubeFlow, checked_transfer, tube_flow, warnings
from ..thermal import HeatPort

FRICTIONS = ("nominal", *MULTIPLIERS)
MOIST = 20.0  # half of it is the most that moisture brings for one of what the air gives; a heater brings more, or has no air
Q_LITTLE = 1.0  # W: heat so small that nobody asks where along the wall it goes


class RefrigerantExchanger(ac.Component):
    """Base of evaporators and condensers: refrigerant inside, a wall that stores, air outside.

    `transfer` says how heat goes from the wall to the refrigerant: "constant" (`alpha_liquid`, `alpha_two_phase`, `alpha_vapour`),
    "tube" (correlations that follow the flow, for `circuits` plain tubes side by side of the diameter ``4·V/area``; see
    `fluid.Tube` for the sources and ranges), or a law of one's own (`fluid.Transfer`). `friction` is "nominal", or one of the
    ways in which `fluid.TwoPhasePipe` puts the losses of two phases together.

    `Q_wall` is heat of moisture where the air cools, and goes where the air gives its own: as if `UA` were ``1 + latent`` times as
    large, ``latent = Q_wall·Q/(Q² + (Q_wall/20)²)`` with the heat Q of the air. So a piece of wall as warm as the air gets none,
    and nothing becomes warmer than the air by what condenses elsewhere. What that leaves of `Q_wall`, of a heater and wherever the
    wall takes from what is around it (melting), is spread over the length.
    """

    a, b = ac.FluidPort(doc="inlet by design"), ac.FluidPort(doc="outlet by design")
    air = HeatPort(doc="the air around it")
    V = ac.Parameter(1.5e-3, unit="m^3", min=1e-12, doc="volume of refrigerant")
    area = ac.Parameter(1.0, unit="m^2", min=0, doc="area inside")
    UA = ac.Input(250.0, unit="W/K", min=0, doc="from the wall to the air")
    Q_wall = ac.Input(0.0, unit="W", doc="more heat into the wall: of a heater, of frost")
    C = ac.Parameter(2000.0, unit="J/K", min=1e-9, doc="heat capacity of the wall")
    alpha_liquid = ac.Parameter(500.0, unit="W/(m^2*K)", min=0, doc="heat transfer to liquid")
    alpha_two_phase = ac.Parameter(3000.0, unit="W/(m^2*K)", min=0, doc="heat transfer while it boils or condenses")
    alpha_vapour = ac.Parameter(200.0, unit="W/(m^2*K)", min=0, doc="heat transfer to vapour")
    circuits = ac.Parameter(2, min=1e-3, doc="tubes side by side, of correlations of heat transfer and friction")
    roughness = ac.Parameter(1.5e-6, unit="m", min=0, doc="height of the tubes' roughness, of correlations of friction")
    charge_start = ac.Parameter(0.3, unit="kg", min=0, doc="refrigerant in it at first")
    T_start = ac.Parameter(293.15, unit="K", min=0, doc="temperature at first")
    latent = ac.Variable(start=0.0, doc="heat of moisture for one of what the air gives, wherever along the wall")
    law: Transfer | None
    friction: str

    def choose(self, transfer: str | Transfer, friction: str) -> None:
        """What a subclass was given for heat transfer and friction."""
        if friction not in FRICTIONS:
            raise UsageError(f"The friction of an exchanger is one of {', '.join(FRICTIONS)}, not {friction!r}.")
        self.law, self.friction = checked_transfer(transfer), friction

    def moisture(self) -> Iterator[Any]:
        """How much of `Q_wall` follows the heat of the air."""
        given, more = (ac.no_event(ac.max(heat, 0.0)) for heat in (self.air.Q_flow, self.Q_wall))
        yield self.latent == given * more / (given**2 + (more / MOIST) ** 2 + Q_LITTLE**2)

    def from_outside(self, q_air: Any, share: Any) -> Any:
        """All heat into a piece of wall of that share of the length, to which the air gives `q_air`."""
        return (1 + self.latent) * q_air + share * (self.Q_wall - self.latent * self.air.Q_flow)

    def diameter(self) -> Any:
        """Of its tubes, by volume and area."""
        return 4 * self.V / self.area

    def tube_length(self) -> Any:
        """Of each of its tubes."""
        return self.area / (pi * self.diameter() * self.circuits)

    def quality(self, h: Any, h_liquid: Any, h_vapour: Any) -> Any:
        """Below 0 of liquid, above 1 of vapour."""
        return (h - h_liquid) / ac.smooth_max(h_vapour - h_liquid, H_LEAST, 0.1 * H_LEAST)  # no corner that a solver must watch

    def tube_flow(self, m_flow: Any, h: Any, p: Any, state: Any, heat_flux: Any = 0.0) -> TubeFlow:
        """What a law of heat transfer is asked about."""
        return tube_flow(self.medium, m_flow / self.circuits, self.diameter(), p, h, state, heat_flux)

    def loss(self, m_flow: Any, x: Any, liquid: Any, vapour: Any, share: Any) -> Any:
        """What friction takes of refrigerant of quality x over a share of the length."""
        sizes = share * self.tube_length(), self.diameter(), self.roughness
        return two_phase_loss(self.friction, m_flow / self.circuits, x, liquid, vapour, *sizes)

    def events(self) -> Iterator[Any]:
        yield from warnings(self.law, self._at_inlet, self.air.T - self._saturation().T)

    def _saturation(self) -> Any:
        return self.medium.saturation(p=self.a.p)

    def _at_inlet(self) -> TubeFlow:
        """Two phases at the pressure and the flow of the inlet."""
        ends = self._saturation()
        return self.tube_flow(self.a.m_flow, ends.liquid.h + 0.5 * ends.h_evaporation, self.a.p, ends.liquid)
