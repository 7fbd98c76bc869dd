"""Streams: aliases where two meet, exact and regular mixtures where more do, conservation, composites, arrays."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import acausal as ac
from acausal.families.streams import SMALL


class Port(ac.Connector):
    p = ac.Potential(unit="Pa", nominal=1e5)
    m_flow = ac.Flow(unit="kg/s", nominal=1.0)
    h = ac.Stream(with_="m_flow", unit="J/kg", nominal=1e5)


class Source(ac.Component):
    """A given flow out of it, with a given enthalpy."""

    port = Port()
    m, h = ac.Input(1.0, unit="kg/s"), ac.Parameter(1e5, unit="J/kg")

    def equations(self) -> Any:
        yield self.port.m_flow == -self.m
        yield self.port.h.outflow == self.h


class Room(ac.Component):
    """Holds the pressure; what flows in and out is whatever the others leave."""

    port = Port()
    h = ac.Parameter(3e5, unit="J/kg")

    def equations(self) -> Any:
        yield self.port.p == 1e5
        yield self.port.h.outflow == self.h


class Volume(ac.Component):
    """Mass M and energy M h; the pressure follows the mass."""

    a, b = Port(), Port()
    M = ac.Variable(start=1.0, fixed=True, unit="kg")
    U = ac.Variable(start=1e5, fixed=True, unit="J", nominal=1e5)
    h = ac.Variable(unit="J/kg", nominal=1e5, start=1e5)
    k = ac.Parameter(1e5, unit="Pa/kg")

    def equations(self) -> Any:
        yield self.h == self.U / self.M
        yield self.a.p == self.k * self.M
        yield self.b.p == self.a.p
        yield ac.der(self.M) == self.a.m_flow + self.b.m_flow
        yield ac.der(self.U) == self.a.m_flow * self.a.h.actual + self.b.m_flow * self.b.h.actual
        yield self.a.h.outflow == self.h
        yield self.b.h.outflow == self.h


class Valve(ac.Component):
    a, b = Port(), Port()
    k = ac.Parameter(1e-4, unit="kg/(s*Pa)")
    push = ac.Parameter(0.0, unit="Pa")

    def equations(self) -> Any:
        yield self.a.m_flow == self.k * (self.a.p - self.b.p + self.push * ac.sin(2.0 * ac.time))
        yield self.a.m_flow + self.b.m_flow == 0
        yield self.a.h.outflow == self.b.h.inflow
        yield self.b.h.outflow == self.a.h.inflow


class Ring(ac.Component):
    def __init__(self, n: int) -> None:
        kinds = 1.0 + 0.3 * np.sin(np.arange(n))
        self.v = ac.array(
            Volume, n, M=ac.start(kinds, fixed=True), U=ac.start(kinds * (1e5 + 1e4 * np.cos(np.arange(n))), fixed=True)
        )
        self.r = ac.array(Valve, n, push=4e4)

    def connections(self) -> Any:
        yield self.v.b, self.r.a
        yield self.r[:-1].b, self.v[1:].a
        yield self.r[-1].b, self.v[0].a


@pytest.mark.parametrize("n", [3, 50])
def test_a_ring_with_reversing_flow_conserves_mass_and_energy(n: int) -> None:
    model = ac.compile(Ring(n))
    result = model.simulate(until=5.0, rtol=1e-6)
    assert result.outcome.ok
    flows = result["r[0].a.m_flow"]
    assert flows.min() < -0.1 and flows.max() > 0.1  # it did reverse
    for name in ("v.M", "v.U"):
        total = result[name].sum(axis=1)
        np.testing.assert_allclose(total, total[0], rtol=1e-12)


def test_where_two_meet_there_is_no_unknown_and_no_equation() -> None:
    small, large = ac.compile(Ring(3)), ac.compile(Ring(300))
    assert small.problem.size == 3 * 2 and large.problem.size == 300 * 2  # M and U of each volume, nothing else
    assert len(small.system.families) == len(large.system.families)


class Node(ac.Component):
    """Sources and a room at one node."""

    def __init__(self, *sources: tuple[float, float]) -> None:
        self.room = Room()
        self.s = tuple(Source(m=m, h=h) for m, h in sources)

    def connections(self) -> Any:
        yield (self.room.port, *(s.port for s in self.s))


def passing(result: Any, port: str, k: int = -1) -> tuple[float, float]:
    """The flow into a port's component, and what passes there."""
    m = float(result[f"{port}.m_flow"][k])
    return m, float(result[f"{port}.h.{'inflow' if m > 0 else 'outflow'}"][k])


@pytest.mark.parametrize("flows", list(itertools.product((-1.0, 0.0, 2.0), repeat=2)))
def test_a_junction_of_three_mixes_exactly_whichever_way_it_flows(flows: tuple[float, float]) -> None:
    result = ac.compile(Node((flows[0], 1e5), (flows[1], 2e5))).steady_state()
    ports = ["room.port", "s[0].port", "s[1].port"]
    through = [passing(result, p) for p in ports]
    assert sum(m for m, _ in through) == 0.0
    assert abs(sum(m * h for m, h in through)) <= 1e-15 * sum(abs(m * h) for m, h in through)
    leaving = [(-m, h) for m, h in through if m < 0]
    if leaving:
        mixture = sum(m * h for m, h in leaving) / sum(m for m, _ in leaving)
        assert all(h == pytest.approx(mixture, rel=1e-15) for m, h in through if m > 0)
    for port in ports:  # regular at zero flow, too: a mean of the others
        others = [float(result[f"{q}.h.outflow"][0]) for q in ports if q != port]
        assert min(others) * (1 - 1e-12) <= result[f"{port}.h.inflow"][0] <= max(others) * (1 + 1e-12)


def test_flows_that_pass_zero_at_a_junction_make_no_event() -> None:
    model = ac.compile(Node((1.0, 1e5), (1.0, 2e5)))
    inputs = {"s[0].m": lambda t: float(np.sin(t)), "s[1].m": lambda t: float(np.cos(1.3 * t))}
    result = model.simulate(until=10.0, inputs=inputs)
    assert result.outcome.ok and len(result.events) == 0
    for k in range(len(result.time)):
        through = [passing(result, p, k) for p in ("room.port", "s[0].port", "s[1].port")]
        assert abs(sum(m * h for m, h in through)) <= 1e-9


@pytest.mark.parametrize("n", [3, 12])
def test_what_would_enter_where_it_flows_out_changes_no_faster_than_what_passes(n: int) -> None:
    """A room gives 1e-6 kg/s to the node, and a neighbour turns from taking 1e-11 to giving it: nothing is carried by that, and a
    component that looks at both its ends near zero flow must not see a jump."""
    node, seen = ac.compile(Node(*[(-1e-6, 1e5)] * (n - 2), (0.0, 2e5))), []
    for turned in (-1e-11, 1e-11):
        result = node.steady_state(inputs={f"s[{n - 2}].m": turned})
        assert result["room.port.m_flow"][0] < 0
        seen.append(float(result["room.port.h.inflow"][0]))
    assert abs(seen[1] - seen[0]) < 1e-3 * 1e5
    taken = node.steady_state(inputs={f"s[{n - 2}].m": 1e-3})  # now it flows into the room: mixed exactly
    assert passing(taken, "room.port")[1] == pytest.approx(2e5, rel=1e-15)


@pytest.mark.parametrize("n", [4, 8, 9, 30])
def test_nodes_of_any_number(n: int) -> None:
    rng = np.random.default_rng(n)
    sources = [(float(m), float(h)) for m, h in zip(rng.normal(size=n), rng.uniform(1e5, 4e5, n), strict=True)]
    result = ac.compile(Node(*sources)).steady_state()
    leaving = [(m, h) for m, h in [*sources, (-sum(m for m, _ in sources), 3e5)] if m > 0]
    mixture = sum(m * h for m, h in leaving) / sum(m for m, _ in leaving)
    for k, (m, _) in enumerate(sources):
        if m < 0:
            assert result[f"s[{k}].port.h.inflow"][0] == pytest.approx(mixture, rel=1e-14)


class Boxed(ac.Component):
    """A source behind the connector of a composite."""

    port = Port()

    def __init__(self, m: float, h: float) -> None:
        self.inner = Source(m=m, h=h)

    def connections(self) -> Any:
        yield self.inner.port, self.port


class Tee(ac.Component):
    """Two sources meet inside; the port is the third."""

    port = Port(positive="out")

    def __init__(self, *sources: tuple[float, float]) -> None:
        self.s = tuple(Boxed(m, h) for m, h in sources)

    def connections(self) -> Any:
        yield (self.port, *(s.port for s in self.s))


@pytest.mark.parametrize("flows", list(itertools.product((-1.0, 0.0, 2.0), repeat=2)))
def test_composites_are_the_same_as_flat(flows: tuple[float, float]) -> None:
    class Whole(ac.Component):
        def __init__(self) -> None:
            self.tee, self.room = Tee((flows[0], 1e5), (flows[1], 2e5)), Room()

        def connections(self) -> Any:
            yield self.tee.port, self.room.port

    flat, boxed = ac.compile(Node((flows[0], 1e5), (flows[1], 2e5))).steady_state(), ac.compile(Whole()).steady_state()
    assert boxed["room.port.h.inflow"][0] == flat["room.port.h.inflow"][0]
    for k in range(2):
        assert boxed[f"tee.s[{k}].inner.port.h.inflow"][0] == flat[f"s[{k}].port.h.inflow"][0]
        assert boxed[f"tee.s[{k}].port.h.outflow"][0] == flat[f"s[{k}].port.h.outflow"][0]


class Mixed(ac.Connector):
    m_flow = ac.Flow(unit="kg/s")
    p = ac.Potential(unit="Pa")
    X = ac.Stream(with_="m_flow", shape=3)


class Supply(ac.Component):
    port = Mixed()
    m, X = ac.Parameter(1.0, unit="kg/s"), ac.Parameter(0.0, shape=3)

    def equations(self) -> Any:
        yield self.port.m_flow == -self.m
        yield self.port.X.outflow == self.X


class Sink(ac.Component):
    port = Mixed()
    got = ac.Variable(shape=3)

    def equations(self) -> Any:
        yield self.port.p == 1e5
        yield self.port.X.outflow == 1 / 3
        yield self.got == self.port.X.actual


def test_compositions_are_arrays() -> None:
    class Blend(ac.Component):
        def __init__(self) -> None:
            self.a, self.b, self.sink = Supply(m=1.0, X=[1.0, 0.0, 0.0]), Supply(m=3.0, X=[0.0, 0.5, 0.5]), Sink()

        def connections(self) -> Any:
            yield self.a.port, self.b.port, self.sink.port

    result = ac.compile(Blend()).steady_state()
    np.testing.assert_allclose(result["sink.got"][0], [0.25, 0.375, 0.375], rtol=1e-15)


def test_nothing_connected_gives_back_what_would_leave() -> None:
    assert ac.compile(Room(h=7e4)).steady_state()["port.h.inflow"][0] == 7e4


def test_what_is_wrong_with_a_stream_is_told() -> None:
    with pytest.raises(ac.ModelError, match=r"`P.h` is a stream with `mflow`, which is not a flow(.|\n)*Did you mean `m_flow`"):
        type("P", (ac.Connector,), {"m_flow": ac.Flow(), "h": ac.Stream(with_="mflow")})
    source = Source()
    with pytest.raises(ac.ModelError, match=r"`port.h` is a stream: it is one value when it leaves(.|\n)*`h.outflow`"):
        _ = source.port.h + 1.0
    with pytest.raises(ac.ModelError, match=r"`port.h` is a stream(.|\n)*`h.outflow`"):
        _ = source.port.h == 3.0
    with pytest.raises(ac.ModelError, match=r"`port.h` is a stream and has no `outflw`. Did you mean `outflow`"):
        _ = source.port.h.outflw

    class Forgets(ac.Component):
        port = Port()

        def equations(self) -> Any:
            yield self.port.m_flow == 1.0

    class Open(ac.Component):
        def __init__(self) -> None:
            self.a, self.b = Forgets(), Room()

        def connections(self) -> Any:
            yield self.a.port, self.b.port

    with pytest.raises(ac.ModelError, match=r"Forgets(.|\n)*port.h.outflow"):
        ac.compile(Open())


def test_flows_far_below_their_tolerance_mix_exactly_and_do_no_harm() -> None:
    """What enters lies between what leaves the others, nothing is lost, and no iteration notices."""
    model = ac.compile(Node((1e-8, 1e5), (1e-8, 2e5), (1e-9, 4e5)))
    noise = {"s[0].m": lambda t: 1e-8 * np.sin(50.0 * t), "s[1].m": lambda t: 1e-8 * np.cos(37.0 * t), "s[2].m": lambda t: 0.0}
    result = model.simulate(until=1.0, inputs=noise)
    ports = ["room.port", *(f"s[{k}].port" for k in range(3))]
    leaves = np.stack([result[f"{port}.h.outflow"] for port in ports])
    spread = float(np.ptp(leaves))
    for port, enters in ((port, np.asarray(result[f"{port}.h.inflow"])) for port in ports):
        assert (leaves.min(axis=0) * (1 - 1e-12) <= enters).all() and (enters <= leaves.max(axis=0) * (1 + 1e-12)).all(), port
    for k in range(len(result.time)):
        through = [passing(result, port, k) for port in ports]
        assert abs(sum(m * h for m, h in through)) <= SMALL * spread
    assert result.statistics["convergence_failures"] == 0


class Throttle(Valve):
    """Its flow depends on what passes: at a node, flows and mixtures depend on one another."""

    def equations(self) -> Any:
        lighter = 1.0 + 4e-6 * self.a.h.actual
        yield self.a.m_flow * lighter == self.k * (self.a.p - self.b.p + self.push * ac.sin(2.0 * ac.time))
        yield self.a.m_flow + self.b.m_flow == 0
        yield self.a.h.outflow == self.b.h.inflow
        yield self.b.h.outflow == self.a.h.inflow


class Star(ac.Component):
    """Three volumes around one node, each behind a valve whose flow is pushed to and fro."""

    def __init__(self) -> None:
        starts = ((1.0, 1e5), (1.2, 2e5), (0.7, 4e5))
        self.v = tuple(Volume(M=ac.start(m, fixed=True), U=ac.start(m * u, fixed=True)) for m, u in starts)
        self.r = tuple(Throttle(push=push) for push in (4e4, -3e4, 1e4))

    def connections(self) -> Any:
        for volume, valve in zip(self.v, self.r, strict=True):
            yield volume.a, valve.a
        yield tuple(valve.b for valve in self.r)


def test_a_node_of_three_conserves_to_rounding_however_loosely_it_is_solved() -> None:
    model = ac.compile(Star())
    for options in ({"rtol": 1e-3}, {"rtol": 1e-6, "nonlinear_tolerance": 1.0}):
        result = model.simulate(until=5.0, **options)
        flows = result["r[0].a.m_flow"]
        assert result.outcome.ok and flows.min() < -1e-3 < 1e-3 < flows.max()  # it reverses
        for name in ("M", "U"):
            total = sum(result[f"v[{k}].{name}"] for k in range(3))
            np.testing.assert_allclose(total, total[0], rtol=1e-12)
