"""Connections: potentials equal, flows summed with the signs of WinDali 6.1, hierarchy with inside and outside."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from plants import Boundary, Capacitor, Conductor, CurrentSource, Ground, HeatPort, Mass, Pin, Resistor, VoltageSource

import acausal as ac


class Port(ac.Connector):
    P = ac.Potential()
    m = ac.Flow()


def _machine(law, positive_out="out"):
    class Machine(ac.Component):
        """In and Out as in WinDali's figures 6.5 and 6.6: mass flow is carried through unchanged."""

        inlet, outlet = Port(), Port(positive=positive_out)

        def equations(self):
            flow = self.outlet.m if positive_out == "out" else -self.outlet.m
            yield self.inlet.m == flow
            yield from law(self)

    return Machine


def test_windali_figure_6_6_two_components_in_a_ring_have_three_unknowns():
    """Eight pins, pass-through mass flow: P1, P2 and m remain, and the components state three equations."""
    pump = _machine(lambda s: iter((s.outlet.P - s.inlet.P == 3.0 - s.inlet.m**2, 2.0 * s.inlet.P == 1.0 + s.inlet.m)))
    pipe = _machine(lambda s: iter((s.inlet.P - s.outlet.P == 2.0 * s.inlet.m,)))

    class Ring(ac.Component):
        def __init__(self):
            self.c1, self.c2 = pump(), pipe()

        def connections(self):
            yield self.c1.outlet, self.c2.inlet
            yield self.c2.outlet, self.c1.inlet

    model = ac.compile(Ring())
    assert (model.system.size, model.system.equation_count) == (3, 3)
    state = model.steady_state()
    m = state["c1.inlet.m"][0]
    assert m == pytest.approx(1.0)  # 3 - m² = 2 m
    assert all(state[f"{c}.{p}.m"][0] == pytest.approx(m) for c in ("c1", "c2") for p in ("inlet", "outlet"))
    assert state["c1.outlet.P"][0] == pytest.approx(3.0) and state["c2.outlet.P"][0] == pytest.approx(1.0)


def test_windali_sign_rule_out_connected_to_out_turns_the_flow():
    source = _machine(lambda s: iter((s.inlet.m == 2.0,)))

    class Sink(ac.Component):
        outlet = Port(positive="out")

        def equations(self):
            yield self.outlet.P == 5.0

    class Line(ac.Component):
        def __init__(self):
            self.feed, self.c1, self.c2 = Feed(), source(), Sink()

        def connections(self):
            yield self.feed.outlet, self.c1.inlet
            yield self.c1.outlet, self.c2.outlet

    class Feed(ac.Component):
        outlet = Port(positive="out")

        def equations(self):
            yield self.outlet.P == 7.0

    state = ac.compile(Line()).steady_state()
    assert state["c1.outlet.m"][0] == pytest.approx(2.0)  # flows out of c1 …
    assert state["c2.outlet.m"][0] == pytest.approx(-2.0)  # … into c2, which counts outwards
    assert state["feed.outlet.m"][0] == pytest.approx(2.0)
    assert state["c1.outlet.P"][0] == 5.0


def test_in_connected_to_in_turns_the_flow_too():
    class Both(ac.Component):
        def __init__(self):
            self.a, self.b = CurrentSource(I=3.0), Resistor(R=2.0)
            self.g = Ground()

        def connections(self):
            yield self.a.n, self.b.p
            yield self.b.n, self.a.p, self.g.p

    state = ac.compile(Both()).steady_state()
    assert state["a.n.i"][0] == -3.0 and state["b.p.i"][0] == 3.0 and state["b.v"][0] == pytest.approx(6.0)


def test_an_unconnected_flow_is_zero():
    class Loose(ac.Component):
        def __init__(self):
            self.r, self.g = Resistor(R=5.0), Ground()

        def connections(self):
            yield self.r.n, self.g.p

    state = ac.compile(Loose()).steady_state()
    assert state["r.p.i"][0] == 0.0 and state["r.p.v"][0] == pytest.approx(0.0, abs=1e-12)


def test_a_node_of_many_flows_keeps_one_sum_and_prescribed_flows_count():
    """A current of 6 A divides over n resistors of 1 … n ohm; a source's known current stands in the sum as well."""
    n = 40

    class Star(ac.Component):
        def __init__(self):
            self.s, self.g = CurrentSource(I=6.0), Ground()
            self.R = ac.array(Resistor, n, R=np.arange(1.0, n + 1))

        def connections(self):
            yield self.s.n, self.R.p
            yield self.s.p, self.R.n, self.g.p

    model = ac.compile(Star())
    state = model.steady_state()
    voltage = 6.0 / np.sum(1 / np.arange(1.0, n + 1))
    np.testing.assert_allclose(state["R.p.v"][0], voltage)
    np.testing.assert_allclose(state["R.p.i"][0], voltage / np.arange(1.0, n + 1))
    assert state["g.p.i"][0] == pytest.approx(0.0, abs=1e-12)
    assert model.system.size == n + 1 + 1  # currents, the node's voltage, the ground's current


def test_broadcasts_join_every_element_to_one_node():
    class Parallel(ac.Component):
        def __init__(self):
            self.v, self.g = VoltageSource(V=2.0), Ground()
            self.R = ac.array(Resistor, (2, 3), R=[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])

        def connections(self):
            yield self.v.p, self.R.p
            yield self.R[0].n, self.g.p
            yield self.R[1, ::-1].n, self.g.p
            yield self.v.n, self.g.p

    state = ac.compile(Parallel()).steady_state()
    np.testing.assert_allclose(state["R.p.i"][0], 2.0 / np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]))
    assert state["v.p.i"][0] == pytest.approx(-np.sum(2.0 / np.arange(1.0, 7.0)))


class Divider(ac.Component):
    """A composite whose connectors are passed through from its resistors: p - a - tap - b - n."""

    p, n, tap = Pin(), Pin(), Pin()
    r = ac.Parameter(1.0)

    def __init__(self):
        self.a, self.b = Resistor(R=self.r), Resistor(R=2 * self.r)

    def connections(self):
        yield self.p, self.a.p
        yield self.a.n, self.b.p, self.tap
        yield self.b.n, self.n


class Pair(ac.Component):
    """Two dividers in series inside an array inside a composite, with connectors on every level."""

    p, n = Pin(), Pin()
    k = ac.Parameter(1.0)

    def __init__(self):
        self.d = ac.array(Divider, 2, r=self.k)

    def connections(self):
        yield self.p, self.d[0].p
        yield self.d[0].n, self.d[1].p
        yield self.d[1].n, self.n


class Stack(ac.Component):
    def __init__(self, m):
        self.pairs = ac.array(Pair, m, k=np.arange(1.0, m + 1))
        self.v, self.g = VoltageSource(V=12.0), Ground()

    def connections(self):
        yield self.v.p, self.pairs[0].p
        yield self.pairs[:-1].n, self.pairs[1:].p
        yield self.pairs[-1].n, self.g.p
        yield self.v.n, self.g.p


def test_connectors_passed_through_three_levels_of_arrays_and_composites():
    m = 3
    state = ac.compile(Stack(m)).steady_state()
    resistance = np.array([[1.0, 2.0, 1.0, 2.0]]) * np.arange(1.0, m + 1)[:, None]  # (pair, resistor)
    current = 12.0 / resistance.sum()
    drops = np.cumsum(resistance.ravel()) * current
    ends = 12.0 - drops.reshape(m, 2, 2)  # (pair, divider, after a / after b)
    np.testing.assert_allclose(state["pairs.d.tap.v"][0], ends[:, :, 0])
    np.testing.assert_allclose(state["pairs.d.n.v"][0], ends[:, :, 1], atol=1e-12)
    for path in ("pairs.p.i", "pairs.d.p.i", "pairs.d.a.p.i", "pairs.d.b.p.i"):
        np.testing.assert_allclose(state[path][0], current)
    for path in ("pairs.n.i", "pairs.d.n.i", "pairs.d.b.n.i"):
        np.testing.assert_allclose(state[path][0], -current)
    assert (state["pairs.d.tap.i"] == 0).all()
    assert state["v.p.i"][0] == pytest.approx(-current)


def test_a_load_on_an_inner_tap_is_counted_inside_and_outside():
    class Loaded(ac.Component):
        def __init__(self):
            self.v, self.g, self.d, self.load = VoltageSource(V=10.0), Ground(), Divider(r=2.0), Resistor(R=4.0)

        def connections(self):
            yield self.v.p, self.d.p
            yield self.d.tap, self.load.p
            yield self.d.n, self.load.n, self.v.n, self.g.p

    state = ac.compile(Loaded()).steady_state()
    total = 2.0 + 1 / (1 / 4.0 + 1 / 4.0)
    assert state["d.a.p.i"][0] == pytest.approx(10.0 / total)
    assert state["d.tap.i"][0] == pytest.approx(-0.5 * 10.0 / total)
    assert state["load.p.i"][0] == pytest.approx(0.5 * 10.0 / total)
    assert state["d.p.i"][0] + state["d.n.i"][0] + state["d.tap.i"][0] == pytest.approx(0.0, abs=1e-12)


def test_connecting_twice_or_in_a_circle_changes_nothing():
    class Double(ac.Component):
        def __init__(self, again):
            self.v, self.r, self.g, self._again = VoltageSource(), Resistor(), Ground(), again

        def connections(self):
            yield self.v.p, self.r.p
            yield self.v.n, self.r.n, self.g.p
            if self._again:
                yield self.r.p, self.v.p
                yield self.g.p, self.v.n
                yield self.r.n, self.g.p

    one, two = ac.compile(Double(False)), ac.compile(Double(True))
    assert one.system.size == two.system.size
    assert one.steady_state()["r.p.i"][0] == two.steady_state()["r.p.i"][0] == pytest.approx(1.0)


def test_connectors_with_array_members_and_arrays_of_connectors():
    class Bus(ac.Connector):
        T = ac.Potential(shape=3)
        q = ac.Flow(shape=3)

    class Store(ac.Component):
        bus = Bus()
        T = ac.Variable(shape=3, start=[1.0, 2.0, 3.0], fixed=True)

        def equations(self):
            yield self.T == self.bus.T
            yield ac.der(self.T) == self.bus.q

    class Sinks(ac.Component):
        bus = Bus(shape=2, positive="out")

        def equations(self):
            yield -self.bus.q == np.array([[1.0], [2.0]]) * self.bus.T

    class Plant(ac.Component):
        def __init__(self):
            self.store, self.sinks = Store(), Sinks()

        def connections(self):
            yield self.store.bus, self.sinks.bus[0], self.sinks.bus[1]

    result = ac.compile(Plant()).simulate(until=1.0, rtol=1e-8)
    np.testing.assert_allclose(result["store.T"][-1], np.array([1.0, 2.0, 3.0]) * np.exp(-3.0), rtol=1e-5)
    np.testing.assert_allclose(result["sinks.bus.T"][:, 1], result["store.T"])


def test_heat_between_masses_flows_from_warm_to_cold():
    class Two(ac.Component):
        def __init__(self):
            self.a, self.b, self.g = Mass(T=ac.start(400.0, fixed=True)), Mass(C=3.0), Conductor(G=2.0)

        def connections(self):
            yield self.a.port, self.g.a
            yield self.g.b, self.b.port

    result = ac.compile(Two()).simulate(until=5.0, rtol=1e-8)
    mean = (400.0 + 3 * 300.0) / 4
    np.testing.assert_allclose(result["a.T"] - mean, 75.0 * np.exp(-2.0 * (1 + 1 / 3) * result.time), atol=1e-4)
    np.testing.assert_allclose(result["a.T"] + 3 * result["b.T"], 1300.0, rtol=1e-8)


def test_signals_connect_variables_to_inputs():
    class Sensor(ac.Component):
        port = HeatPort()
        y = ac.Output(unit="K")

        def equations(self):
            yield self.port.Q_flow == 0
            yield self.y == self.port.T

    class Lag(ac.Component):
        u = ac.Input(unit="K")
        y = ac.Output(start=0.0, fixed=True, unit="K")
        tau = ac.Parameter(1.0, unit="s")

        def equations(self):
            yield self.tau * ac.der(self.y) == self.u - self.y

    class Measured(ac.Component):
        def __init__(self):
            self.wall, self.sensor, self.lag = Boundary(T=350.0), Sensor(), Lag()

        def connections(self):
            yield self.wall.port, self.sensor.port
            yield self.sensor.y, self.lag.u

    result = ac.compile(Measured()).simulate(until=2.0, rtol=1e-8)
    np.testing.assert_allclose(result["lag.y"], 350.0 * (1 - np.exp(-result.time)), rtol=1e-5, atol=1e-4)


def test_a_capacitor_in_an_array_of_composites_discharges_each_at_its_own_rate():
    class Cell(ac.Component):
        tau = ac.Parameter(1.0)

        def __init__(self):
            self.c, self.r, self.g = Capacitor(C=self.tau, v=ac.start(1.0, fixed=True)), Resistor(), Ground()

        def connections(self):
            yield self.c.p, self.r.p
            yield self.c.n, self.r.n, self.g.p

    class Many(ac.Component):
        def __init__(self):
            self.cells = ac.array(Cell, 5, tau=np.arange(1.0, 6.0))

    result = ac.compile(Many()).simulate(until=2.0, rtol=1e-8)
    np.testing.assert_allclose(result["cells.c.v"], np.exp(-result.time[:, None] / np.arange(1.0, 6.0)), rtol=1e-5)


def test_signals_pass_through_composites_arrays_and_lists():
    class Lag(ac.Component):
        u, y = ac.Input(), ac.Output(start=0.0, fixed=True)

        def equations(self):
            yield ac.der(self.y) == self.u - self.y

    class Wrapped(ac.Component):
        u, y = ac.Input(), ac.Output()

        def __init__(self):
            self.lag = Lag()

        def connections(self):
            yield self.u, self.lag.u
            yield self.lag.y, self.y

    class Top(ac.Component):
        u = ac.Input(7.0)

        def __init__(self):
            self.first, self.row, self.last = Wrapped(), ac.array(Wrapped, 3), [Wrapped(), Wrapped()]

        def connections(self):
            yield self.u, self.first.u
            yield self.first.y, self.row.u  # one output, many inputs
            yield self.row[0].y, self.last[0].u
            yield self.row[2].y, self.last[1].u

    model = ac.compile(Top())
    assert model.system.size == 6
    result = model.simulate(until=2.0, inputs={"u": 1.0}, rtol=1e-8)
    t = result.time
    np.testing.assert_allclose(result["row.y"], ((1 - np.exp(-t) * (1 + t))[:, None]) * np.ones(3), atol=1e-5)
    np.testing.assert_allclose(result["last[1].y"], 1 - np.exp(-t) * (1 + t + t**2 / 2), atol=1e-5)
    assert model.simulate(until=30.0)["last[0].lag.y"][-1] == pytest.approx(7.0, rel=1e-5)


def test_lists_of_components_inside_arrays_of_composites():
    class Pair(ac.Component):
        def __init__(self):
            self.m, self.link = [Mass(C=2.0, T=ac.start(400.0, fixed=True)), Mass(C=6.0)], Conductor()

        def connections(self):
            yield self.m[0].port, self.link.a
            yield self.m[1].port, self.link.b

    class Row(ac.Component):
        def __init__(self):
            self.pairs = ac.array(Pair, 3)

    result = ac.compile(Row()).simulate(until=1.0, set={"pairs[1].link.G": 3.0}, rtol=1e-8)
    rate = np.array([1.0, 3.0, 1.0]) * (1 / 2 + 1 / 6)
    np.testing.assert_allclose(result["pairs.m[0].T"], 325.0 + 75.0 * np.exp(-result.time[:, None] * rate), rtol=1e-6)


def test_connectors_with_nothing_connected_are_told():
    """Legal, since an unconnected flow is zero, but more often forgotten than meant."""

    class Half(ac.Component):
        def __init__(self):
            self.mass, self.wall = Mass(), Conductor()

        def connections(self):
            yield self.mass.port, self.wall.a

    told = "^Half: nothing is connected to `wall.b`, so nothing passes through that component at all"
    with pytest.warns(ac.ModelWarning, match=told):
        assert ac.compile(Half()).open_connectors() == ["wall.b"]


def test_a_free_end_that_is_meant_is_not_warned_of():
    """A wall between two masses with a third mass on its own port: what is open there changes nothing for the others."""

    class Tee(ac.Component):
        a, b, c = HeatPort(), HeatPort(), HeatPort()

        def equations(self):
            yield self.a.T == self.b.T
            yield self.b.T == self.c.T
            yield self.a.Q_flow + self.b.Q_flow + self.c.Q_flow == 0

    class Open(ac.Component):
        def __init__(self, third):
            self.mass, self.other, self.wall, self.tee = Mass(), Mass(), Conductor(), Tee()
            if third:
                self.third = ac.array(Mass, 2)

        def connections(self):
            yield self.mass.port, self.wall.a
            yield self.wall.b, self.tee.a
            yield self.tee.b, self.other.port

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ac.compile(Open(False)).open_connectors() == ["tee.c"]
    with pytest.warns(ac.ModelWarning, match=r"`third\[0\].port`, `third\[1\].port`, so nothing passes through those"):
        ac.compile(Open(True))


# --- connectors have a class, and may hold others ---------------------------------------------------------------------------------


class Water(ac.Connector):
    p, m = ac.Potential(unit="Pa"), ac.Flow(unit="kg/s")


class Refrigerant(ac.Connector):
    p, m = ac.Potential(unit="Pa"), ac.Flow(unit="kg/s")


class HotWater(Water):
    pass


def joined(first, second):
    class Tap(ac.Component):
        x = first()

        def equations(self):
            yield self.x.p == 3e5

    class Leak(ac.Component):
        x = second()

        def equations(self):
            yield self.x.m == 1e-6 * (self.x.p - 1e5)

    class Both(ac.Component):
        def __init__(self):
            self.a, self.b = Tap(), Leak()

        def connections(self):
            yield self.a.x, self.b.x

    return ac.compile(Both(), units=False)


def test_connectors_of_different_classes_do_not_connect_even_if_they_look_alike():
    with pytest.raises(ac.ModelError, match=r"`a.x` is a Water \(.*\), `b.x` is a Refrigerant(.|\n)*one derived from"):
        joined(Water, Refrigerant)
    for pair in ((Water, Water), (Water, HotWater), (HotWater, Water)):
        assert joined(*pair).steady_state()["b.x.m"][0] == pytest.approx(0.2)


class Heat(ac.Connector):
    T, Q = ac.Potential(unit="K"), ac.Flow(unit="W")


class Warm(ac.Connector):
    """A flow and a heat flow in one, and an array of them."""

    water, heat, more = Water(), Heat(), Heat(shape=2)


class Supply(ac.Component):
    c = Warm()

    def equations(self):
        yield self.c.water.p == 3e5
        yield self.c.heat.T == 350.0
        yield self.c.more.T == np.array([310.0, 320.0])


class Use(ac.Component):
    c = Warm()

    def equations(self):
        yield self.c.water.m == 1e-6 * (self.c.water.p - 1e5)
        yield self.c.heat.Q == 2.0 * (self.c.heat.T - 300.0)
        yield self.c.more.Q == 3.0 * (self.c.more.T - 300.0)


class Radiator(ac.Component):
    heat = Heat()

    def equations(self):
        yield self.heat.Q == 5.0 * (self.heat.T - 300.0)


def test_connectors_within_connectors_connect_whole_and_in_parts():
    class Whole(ac.Component):
        def __init__(self):
            self.a, self.b, self.r = Supply(), Use(), ac.array(Radiator, 2)

        def connections(self):
            yield self.a.c, self.b.c
            yield self.b.c.more, self.r.heat

    result = ac.compile(Whole(), units=False).steady_state()
    assert result["b.c.water.m"][0] == pytest.approx(0.2) and result["a.c.heat.Q"][0] == pytest.approx(-100.0)
    np.testing.assert_allclose(result["a.c.more.Q"][0], [-80.0, -160.0])
    assert result["r[1].heat.Q"][0] == pytest.approx(100.0) and result["b.c.more[1].Q"][0] == pytest.approx(60.0)


def test_a_part_of_a_connector_is_typed_too():
    class Wrong(ac.Component):
        def __init__(self):
            self.a, self.r = Supply(), Radiator()

        def connections(self):
            yield self.a.c.water, self.r.heat

    with pytest.raises(ac.ModelError, match=r"`a.c.water` is a Water \(p: potential, m: flow\), `r.heat` is a Heat"):
        ac.compile(Wrong())
    with pytest.raises(ac.ModelError, match=r"A Warm has no `wather`. Did you mean `water`"):
        _ = Supply().c.wather
    with pytest.raises(ac.ModelError, match=r"`Outer.inner`: a connector within another counts its flows as that one does"):
        type("Outer", (ac.Connector,), {"inner": Water(positive="out")})
