"""Classes that a vendor exports: parameters bound to others, states, events, parts, arrays, a table, structural choices."""

from __future__ import annotations

import acausal as ac
from acausal.library import thermal as th


class Fluid(ac.Connector):
    p = ac.Potential(unit="Pa")
    m_flow = ac.Flow(unit="kg/s")


class Valve(ac.Component):
    """A valve that shuts by half when the pressure drop is large."""

    a, b = Fluid(), Fluid()
    K = ac.Parameter(1e-6, unit="kg/(s*Pa)", min=0, doc="flow coefficient")
    K_shut = ac.Parameter(K / 2, unit="kg/(s*Pa)")
    position = ac.States("open", "shut", initial="open")
    count = ac.Integer(0)

    def equations(self):
        self.dp = ac.named(self.a.p - self.b.p, unit="Pa", doc="pressure drop")
        yield "trade secret", self.a.m_flow == ac.match(self.position, open=self.K, shut=self.K_shut) * self.dp
        yield self.a.m_flow + self.b.m_flow == 0

    def transitions(self):
        yield self.position.open.to("shut", when=self.dp > 0.5e5)
        yield self.position.shut.to("open", when=self.dp < 0.2e5)

    def events(self):
        yield ac.when(self.dp < 0.1e5, ac.assign(self.count, ac.pre(self.count) + 1))


class Rod(ac.Component):
    """A rod of n cells."""

    left, right = th.HeatPort(), th.HeatPort()
    G = ac.Parameter(2.0, unit="W/K", doc="conductance of each joint")

    def __init__(self, n, insulated=False):
        self.cell = ac.array(th.HeatCapacitor, n, C=10.0)
        self.joint = ac.array(th.ThermalConductor, n if insulated else n + 1)
        self.joint.G = self.G
        self.insulated = insulated

    def equations(self):
        if self.insulated:
            yield self.right.Q_flow == 0
        yield from ()

    def connections(self):
        yield self.left, self.joint[0].a
        if self.insulated:
            yield self.joint.b, self.cell.port
            yield self.cell[:-1].port, self.joint[1:].a
        else:
            yield self.joint[:-1].b, self.cell.port
            yield self.cell.port, self.joint[1:].a
            yield self.joint[-1].b, self.right


class Heater(ac.Component):
    """A heater by a table, two stages in a list."""

    port = th.HeatPort()
    demand = ac.Input(0.5)

    def __init__(self):
        self.stage = [th.HeatCapacitor(C=5.0), th.HeatCapacitor(C=7.0, T=ac.start(310.0, fixed=True))]
        self.link = th.ThermalConductor(G=3.0)
        self.curve = ac.Table([0.0, 0.5, 1.0], [0.0, 40.0, 100.0])

    def equations(self):
        yield "heat by the curve", self.port.Q_flow == -self.curve(self.demand)

    def connections(self):
        yield self.stage[0].port, self.link.a
        yield self.link.b, self.stage[1].port


class Air(ac.Connector):
    p = ac.Potential(unit="Pa")
    m_flow = ac.Flow(unit="kg/s")
    h = ac.Stream(with_="m_flow", unit="J/kg")


class Duct(ac.Connector):
    """Air and a heated wall."""

    air = Air()
    T = ac.Potential(unit="K")
    Q_flow = ac.Flow(unit="W")


class Outlet(ac.Component):
    duct = Duct()
    h = ac.Parameter(3e5, unit="J/kg")

    def equations(self):
        yield self.duct.air.m_flow == 1e-5 * self.duct.air.p
        yield self.duct.air.h.outflow == self.h
        yield self.duct.Q_flow == 2.0 * self.duct.T


class Box(ac.Component):
    """A part within."""

    duct = Duct()

    def __init__(self):
        self.outlet = Outlet()

    def connections(self):
        yield self.duct, self.outlet.duct
