"""Charts of media: legs of the circuits, isolines that are where the medium says, paths that end in the states of the run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import acausal as ac
from acausal.errors import UsageError
from acausal.library import fluid
from acausal.results.circuits import circuits_of
from acausal.studio.charts import chart

pytest.importorskip("acausal._core", reason="tables of media are in the native core")


class Branch(ac.Component):
    """Two orifices in a row."""

    a, b = ac.FluidPort(), ac.FluidPort()

    def __init__(self) -> None:
        self.one, self.other = fluid.Orifice(), fluid.Orifice()

    def connections(self) -> Any:
        yield self.a, self.one.a
        yield self.one.b, self.other.a
        yield self.other.b, self.b


class Line(ac.Component):
    """A source of refrigerant, branches, a sink; water beside them."""

    def __init__(self) -> None:
        self.source, self.sink = fluid.PressureBoundary(p=8e5, h=2.4e5), fluid.PressureBoundary(p=2e5, h=2.4e5)
        self.branches = [Branch(), Branch()]
        self.well, self.sea = fluid.PressureBoundary(p=2e5, h=1e5), fluid.PressureBoundary(p=1e5, h=1e5)
        self.hole = fluid.Orifice(medium="Water")
        self.first = fluid.Orifice(medium="R134a")
        oil = ac.media.ConstantMedium("oil", rho=900.0, cp=2000.0)  # of which there is no chart
        self.can, self.pan = fluid.PressureBoundary(p=2e5, h=1e5), fluid.PressureBoundary(p=1e5, h=1e5)
        self.gap = fluid.Orifice(medium=oil)

    def connections(self) -> Any:
        yield self.source.port, self.first.a
        for branch in self.branches:
            yield self.first.b, branch.a
            yield branch.b, self.sink.port
        yield self.well.port, self.hole.a
        yield self.hole.b, self.sea.port
        yield self.can.port, self.gap.a
        yield self.gap.b, self.pan.port


@pytest.fixture(scope="module")
def model() -> Any:
    return ac.compile(Line())


def test_every_part_that_a_medium_passes_is_a_leg_however_the_circuit_branches(model: Any) -> None:
    found = {c.medium: c for c in circuits_of(model.catalogue())}
    assert set(found) == {"R134a", "Water"}
    assert {leg.part for leg in found["Water"].legs if leg.a != leg.b} == {"hole"}
    legs = {leg.part for leg in found["R134a"].legs if leg.a != leg.b}
    assert legs == {"first", "branches[0].one", "branches[0].other", "branches[1].one", "branches[1].other"}
    ports = found["R134a"].ports
    assert all(ports[leg.a].startswith(leg.part) and ports[leg.b].startswith(leg.part) for leg in found["R134a"].legs)


def test_the_catalogue_names_the_medium_of_a_port_also_after_a_file(model: Any, tmp_path: Any) -> None:
    model.save(tmp_path / "line.acm")
    again = ac.load(tmp_path / "line.acm").catalogue()
    assert circuits_of(again) == circuits_of(model.catalogue())
    assert all(isinstance(name, str) and name.isidentifier() for kind in again["kinds"] for name in kind["structural"])


@pytest.mark.parametrize("kind", ["ph", "Ts"])
def test_paths_end_in_the_states_and_isolines_lie_where_the_medium_says(model: Any, kind: str) -> None:
    result = model.simulate(until=1.0, points=5)
    circuit = next(c for c in circuits_of(model.catalogue()) if c.medium == "R134a")
    told, blocks = chart(result, circuit, kind)
    times, n = len(blocks["times"]), told.between
    x = blocks["path x"].reshape(len(told.legs), n, times)
    y = blocks["path y"].reshape(len(told.legs), n, times)
    medium, points = ac.media.fluid("R134a"), ac.state_points(result, circuit.ports, "R134a")
    for k, leg in enumerate(told.legs):
        for end, port in ((0, leg.a), (-1, leg.b)):
            state = points[port]
            there = (state.h / 1e3, state.p / 1e5) if kind == "ph" else (state.s / 1e3, state.T - 273.15)
            assert np.allclose((x[k, end, -1], y[k, end, -1]), there, rtol=1e-6, atol=1e-4)
    table = blocks["table"].reshape(len(told.ports), len(told.columns), times)
    assert np.allclose(table[:, told.columns.index("T"), -1], [p.T for p in points], rtol=1e-9)
    isotherms = [line for line in told.lines if line.family == "T"]
    for line in isotherms[::3]:
        h, p = blocks["line x"][line.start : line.end] * 1e3, blocks["line y"][line.start : line.end] * 1e5
        T = np.array([medium.state(p=float(a), h=float(b)).T for a, b in zip(p[::7], h[::7], strict=True)]) - 273.15
        assert np.abs(T - float(line.label.split()[0])).max() < 3.0  # contours are straight between points of their grid


def test_what_cannot_be_drawn_is_told(model: Any) -> None:
    result, circuit = model.simulate(until=1.0, points=5), circuits_of(model.catalogue())[0]
    with pytest.raises(UsageError, match="There is no chart 'pq'"):
        chart(result, circuit, "pq")


class Supply(ac.Component):
    """Moist air that comes in."""

    port = ac.FluidPort()

    def equations(self) -> Any:
        state = self.medium.state(p=self.port.p, T=300.0, w=0.01)
        yield self.port.m_flow == -0.1
        yield self.port.h.outflow == state.h
        yield self.port.X.outflow[0] == state.x_water


class Heater(ac.Component):
    """Moist air is warmed on its way."""

    a, b = ac.FluidPort(), ac.FluidPort()

    def equations(self) -> Any:
        yield self.a.m_flow + self.b.m_flow == 0.0
        yield self.a.p == self.b.p
        yield self.b.h.outflow == self.a.h.inflow + 1e4
        yield self.a.h.outflow == self.b.h.inflow - 1e4
        for one, other in ((self.a, self.b), (self.b, self.a)):
            yield one.X.outflow[0] == other.X.inflow[0]


class Exhaust(ac.Component):
    """Where it goes."""

    port = ac.FluidPort()

    def equations(self) -> Any:
        yield self.port.p == 101325.0
        yield self.port.h.outflow == self.port.h.inflow
        yield self.port.X.outflow[0] == self.port.X.inflow[0]


class Duct(ac.Component):
    """All of them."""

    def __init__(self) -> None:
        self.supply, self.heater, self.exhaust = Supply(medium=ac.media.moist_air()), Heater(), Exhaust()

    def connections(self) -> Any:
        yield self.supply.port, self.heater.a
        yield self.heater.b, self.exhaust.port


def test_moist_air_has_its_own_chart() -> None:
    model = ac.compile(Duct())
    (circuit,) = circuits_of(model.catalogue())
    told, blocks = chart(model.simulate(until=1.0, points=3), circuit, "Tw")
    table = blocks["table"].reshape(len(told.ports), len(told.columns), -1)
    inlet, outlet = told.ports.index("heater.a"), told.ports.index("heater.b")
    assert table[inlet, :2, -1] == pytest.approx([300.0, 10.0], rel=1e-6)
    assert table[outlet, 1, -1] == pytest.approx(10.0, rel=1e-6) and 309.0 < table[outlet, 0, -1] < 310.0
    assert [leg.part for leg in told.legs] == ["supply", "heater", "exhaust"] and (told.legs[0].a, told.legs[0].b) == (0, 0)
    half = next(line for line in told.lines if line.label == "50 %")
    x, y = blocks["line x"][half.start : half.end], blocks["line y"][half.start : half.end]
    for T, w in zip(x[::30], y[::30], strict=True):
        assert float(ac.media.moist_air().state(p=101325.0, T=T + 273.15, w=1e-3 * w).phi) == pytest.approx(0.5, abs=0.01)
    with pytest.raises(UsageError, match="no chart 'ph' of moist air"):
        chart(model.simulate(until=1.0, points=3), circuit, "ph")
