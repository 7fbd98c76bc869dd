"""The internal heat exchanger of a refrigeration circuit: warm fluid before the valve heats what the compressor takes in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import acausal as ac

from ..fluid.passages import nominal_friction, one_substance, state_at


class InternalExchanger(ac.Component):
    """Warm fluid (a1 → b1) and cold suction gas (a2 → b2) of one medium in counterflow, without storage.

    ``Q = effectiveness·min(m_1·(h_1 - h(p_1, T_2)), m_2·(h(p_2, T_1) - h_2))``: a share of what would bring one of the sides to the
    temperature at which the other comes. So wet suction gas is dried first and heated then, as far as the warm side can. Below
    `dT_small` between the inlets Q goes to zero with the square of the difference, and it is never negative. Flows backwards pass
    unchanged.
    """

    a1, b1 = ac.FluidPort(doc="warm, inlet"), ac.FluidPort(doc="warm, outlet")
    a2, b2 = ac.FluidPort(doc="cold, inlet"), ac.FluidPort(doc="cold, outlet")
    effectiveness = ac.Input(0.6, min=0, max=1, doc="heat over the largest that is possible")
    m_nominal = ac.Parameter(0.03, unit="kg/s", min=1e-9, doc="size of the mass flow")
    dp_nominal = ac.Parameter(1e4, unit="Pa", min=1e-3, doc="pressure lost on each side with m_nominal")
    dT_small = ac.Parameter(1.0, unit="K", min=1e-3, group="method", doc="difference of temperature below which heat fades")
    Q_flow = ac.Variable(unit="W", nominal=1e3, doc="heat from the warm to the cold side")

    def equations(self) -> Iterator[Any]:
        one_substance(self)
        a1, a2 = self.a1, self.a2
        m1, m2 = (ac.no_event(ac.max(a.m_flow, 0.0)) for a in (a1, a2))
        warm, cold = (state_at(self.medium, a.p, a.h.inflow) for a in (a1, a2))
        dew = self.medium.saturation(p=a2.p).vapour
        heated = self.medium.state(p=a2.p, T=ac.no_event(ac.max(warm.T, dew.T + 0.1)), phase="vapour")
        apart = ac.no_event(ac.max(warm.T - cold.T, 0.0))
        cooled = self.medium.state(p=a1.p, T=ac.no_event(ac.min(cold.T, warm.T)))
        each = [ac.no_event(ac.max(h, 0.0)) for h in (warm.h - cooled.h, heated.h - cold.h)]
        small = 1e-6 * self.m_nominal
        passing = [m / (m + small) for m in (m1, m2)]  # which go to zero where a side stands still
        fade = self.effectiveness * apart**2 / (apart**2 + self.dT_small**2)
        most = fade * ac.no_event(ac.min(m1 * each[0], m2 * each[1]))
        yield self.Q_flow == most * passing[0] * passing[1]
        for a, b, gain in ((a1, self.b1, -most * passing[1] / (m1 + small)), (a2, self.b2, most * passing[0] / (m2 + small))):
            yield from nominal_friction(a, b, self.medium, self.m_nominal, self.dp_nominal)
            yield b.h.outflow == a.h.inflow + gain
            yield a.h.outflow == b.h.inflow
