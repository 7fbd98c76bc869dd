"""What evaporators and condensers have in common, with zones or cells: ports, sizes, heat transfer, what they hold at first."""

from __future__ import annotations

import acausal as ac

from ..thermal import HeatPort


class RefrigerantExchanger(ac.Component):
    """Base of evaporators and condensers: refrigerant inside, a wall that stores, air outside."""

    a, b = ac.FluidPort(doc="inlet by design"), ac.FluidPort(doc="outlet by design")
    air = HeatPort(doc="the air around it")
    V = ac.Parameter(1.5e-3, unit="m^3", min=1e-12, doc="volume of refrigerant")
    area = ac.Parameter(1.0, unit="m^2", min=0, doc="area inside")
    UA = ac.Input(250.0, unit="W/K", min=0, doc="from the wall to the air")
    Q_wall = ac.Input(0.0, unit="W", doc="more heat into the wall: of a heater, of frost")
    C = ac.Parameter(2000.0, unit="J/K", min=0, doc="heat capacity of the wall")
    alpha_liquid = ac.Parameter(500.0, unit="W/(m^2*K)", min=0, doc="heat transfer to liquid")
    alpha_two_phase = ac.Parameter(3000.0, unit="W/(m^2*K)", min=0, doc="heat transfer while it boils or condenses")
    alpha_vapour = ac.Parameter(200.0, unit="W/(m^2*K)", min=0, doc="heat transfer to vapour")
    charge_start = ac.Parameter(0.3, unit="kg", min=0, doc="refrigerant in it at first")
    T_start = ac.Parameter(293.15, unit="K", min=0, doc="temperature at first")
