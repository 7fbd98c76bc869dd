"""Display cabinets of shops."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import acausal as ac

from .rooms import ColdRoom


class DisplayCabinet(ColdRoom):
    """An open or glazed cabinet with an air curtain: a `ColdRoom` whose `exchange` and `gain` follow from how it is built and used.

    Warm air of the shop comes in with the curtain, ``exchange = entrainment·m_curtain`` with the share `entrainment` of the curtain
    that is shop air (the entrainment factor of air curtains; Gaspar, Goncalves and Pitarma 2011 describe how it is measured), and
    heat through the front by radiation, ``UA_front·(T_out - T)``. The blind at night and glass doors leave the share `covered_air`
    of the former and `covered_heat` of the latter. Lights, fans and heaters against dew are electricity that stays inside, and `P`.
    """

    covered = ac.InputStates("yes", "no", default="no", doc="whether a blind or doors cover the front")
    lit = ac.InputStates("yes", "no", default="yes", doc="whether lights are on")
    exchange = ac.Variable(unit="kg/s", nominal=1e-2, start=1e-2, doc="shop air that comes in")
    gain = ac.Variable(unit="W", nominal=100.0, start=300.0, doc="heat through the front, of lights, fans and heaters")
    m_curtain = ac.Parameter(0.25, unit="kg/s", min=0, doc="air of the curtain")
    entrainment = ac.Parameter(0.15, min=0, max=1, doc="share of the curtain that is shop air, uncovered")
    UA_front = ac.Parameter(8.0, unit="W/K", min=0, doc="radiation through the front, uncovered")
    covered_air = ac.Parameter(0.35, min=0, max=1, doc="share of the air that still comes in when covered")
    covered_heat = ac.Parameter(0.3, min=0, max=1, doc="share of the radiation that still comes in when covered")
    P_lights = ac.Parameter(80.0, unit="W", min=0, doc="lights")
    P_fans = ac.Parameter(60.0, unit="W", min=0, doc="fans")
    P_heaters = ac.Parameter(40.0, unit="W", min=0, doc="heaters against dew")
    C = ac.Parameter(4e4, unit="J/K", min=1e-9, doc="air, shelves and lining")
    M_air = ac.Parameter(2.5, unit="kg", min=1e-9, doc="air")
    UA = ac.Parameter(6.0, unit="W/K", min=0, doc="walls")
    C_goods = ac.Parameter(6e5, unit="J/K", min=1e-9, doc="goods")
    G_goods = ac.Parameter(60.0, unit="W/K", min=0, doc="goods to air")

    def equations(self) -> Iterator[Any]:
        yield from super().equations()
        air = ac.match(self.covered, yes=self.covered_air, no=1.0)
        heat = ac.match(self.covered, yes=self.covered_heat, no=1.0)
        lights = ac.match(self.lit, yes=self.P_lights, no=0.0)
        self.P = ac.named(lights + self.P_fans + self.P_heaters, unit="W", doc="electricity")
        yield self.exchange == air * self.entrainment * self.m_curtain
        yield self.gain == self.P + heat * self.UA_front * (self.T_out - self.T)
