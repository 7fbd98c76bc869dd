"""What a run passes or tells: corners of tables, jumps within functions, bounds of variables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import acausal as ac
from acausal.library import electrical, signal
from acausal.library.mechanics import rotational

Statements = Iterator[Any]


class Drive(ac.Component):
    """A prescribed angle, a gear, an inertia: index 3."""

    def __init__(self, source: ac.Component) -> None:
        self.source, self.p, self.d, self.f = source, rotational.Position(), rotational.Damper(d=1.0), rotational.Fixed()
        self.J, self.gear = rotational.Inertia(J=1.0), rotational.IdealGear(ratio=2.0)

    def connections(self) -> Statements:
        yield self.source.y, self.p.phi
        yield self.p.flange, self.d.a
        yield self.d.b, self.f.flange
        yield self.p.flange, self.gear.a
        yield self.gear.b, self.J.a


def test_corners_of_a_table_in_a_chain_of_high_index() -> None:
    table = signal.TimeTable([0, 0.5, 1.5, 3], [0, 0, 1, 1], method="linear")
    result = ac.compile(Drive(table)).simulate(until=3.0, at=[0.25, 1.0, 2.0])
    assert result.outcome is ac.Outcome.FINISHED
    np.testing.assert_allclose(result["source.y"], [0.0, 0.5, 1.0], atol=1e-6)
    np.testing.assert_allclose(np.abs(result["J.w"]), [0.0, 0.5, 0.0], atol=1e-6)


@pytest.mark.parametrize("scale", [1.0, 1e-9])
def test_corners_of_a_table_across_capacitors_in_series(scale: float) -> None:
    class Divider(ac.Component):
        def __init__(self) -> None:
            times = [0, 5 * scale, 6 * scale, 11 * scale, 12 * scale]
            self.u = signal.TimeTable(times, [0, 0, 20, 20, 0], method="linear")
            self.s, self.g = electrical.SignalVoltage(), electrical.Ground()
            self.c, self.d = electrical.Capacitor(C=1e-12), electrical.Capacitor(C=3e-12)

        def connections(self) -> Statements:
            yield self.u.y, self.s.V
            yield self.s.p, self.c.p
            yield self.c.n, self.d.p
            yield self.s.n, self.d.n, self.g.p

    result = ac.compile(Divider()).simulate(until=12 * scale, at=[8 * scale, 11.5 * scale])
    assert result.outcome is ac.Outcome.FINISHED
    np.testing.assert_allclose(result["d.v"], [5.0, 2.5], rtol=1e-4)


@pytest.mark.parametrize("solver", ["ida", "sundae"])
def test_an_algebraic_unknown_jumps_within_a_function(solver: str) -> None:
    @ac.function(opaque=True)
    def step(x: float) -> float:
        return 1.0 if x < 1.0 else 3.0

    class Jumping(ac.Component):
        x, z = ac.Variable(start=0.0, fixed=True), ac.Variable(start=1.0)

        def equations(self) -> Statements:
            yield ac.der(self.x) == 1.0
            yield self.z**3 + self.z == 2 * step(self.x)

        def events(self) -> Statements:
            yield ac.crossing(self.x - 1.0, kind="jump")

    result = ac.compile(Jumping()).simulate(until=2.0, at=[0.5, 1.5], solver=solver)
    assert result.outcome is ac.Outcome.FINISHED
    root = np.roots([1.0, 0.0, 1.0, -6.0])
    assert result["z"][0] == pytest.approx(1.0) and result["z"][-1] == pytest.approx(float(root[np.isreal(root)][0].real))
    assert result.events.times == pytest.approx([1.0], rel=1e-9)


def test_a_variable_beyond_its_bounds_is_told() -> None:
    class Tank(ac.Component):
        m = ac.Variable(start=1.0, min=0.0, max=5.0, unit="kg", fixed=True)
        rate = ac.Parameter(-2.0)

        def equations(self) -> Statements:
            yield ac.der(self.m) == self.rate

    model = ac.compile(Tank(), units=False)
    told = model.simulate(until=1.0).diagnostics
    assert len(told) == 1 and "`m` is below its minimum of 0 from time 0.5" in told[0].what and "at worst it is -1" in told[0].what
    assert "above its maximum of 5" in model.simulate(until=3.0, set={"rate": 2.0}).diagnostics[0].what
    assert model.simulate(until=1.0, set={"rate": 0.5}).diagnostics == ()


class Margin(ac.Component):
    """Ranges of variables that translation could replace by their definitions, and of elements of an array."""

    m = ac.Variable(start=1.0, fixed=True)
    left = ac.Variable(min=0.5)
    over = ac.Variable()
    each = ac.Variable(shape=2, max=1.0)

    def equations(self) -> Statements:
        yield ac.der(self.m) == -1.0
        yield self.left == self.m + 0.2
        yield self.over == 0.3 - self.m
        yield self.each == np.array([1.2, 0.9]) - self.m


class Margins(ac.Component):
    def __init__(self) -> None:
        self.one = Margin(over=ac.modify(max=0.0))
        self.many = ac.array(Margin, 2)


def test_a_variable_that_is_only_a_name_for_others_keeps_its_bounds() -> None:
    result = ac.compile(Margins(), units=False).simulate(until=1.0)
    told = {d.what.split("`")[1]: d for d in result.diagnostics}
    left = {"one.left", "many[0].left", "many[1].left"}
    assert told.keys() == left | {"one.over"} | {f"{part}.each[0]" for part in ("one", "many[0]", "many[1]")}
    assert "below its minimum of 0.5 from time 0.7" in told["many[1].left"].what and "at worst it is 0.2" in told["one.left"].what
    assert "above its maximum of 0 from time 0.7" in told["one.over"].what
    assert "each=ac.modify(" in told["one.each[0]"].remedy
    assert result["many[0].over"][-1] == pytest.approx(0.3)  # it has no range, and is still nothing but a name


class Named(ac.Component):
    """One unknown under three names; the range of each is its own, and one of them has the other sign."""

    m = ac.Variable(start=1.0, min=-5.0)
    level, depth = ac.Variable(min=0.0), ac.Variable(max=0.5)
    rate = ac.Parameter(-1.0)

    def equations(self) -> Statements:
        yield ac.der(self.m) == self.rate
        yield self.level == self.m
        yield self.depth == -self.m


def test_a_range_is_told_of_the_variable_that_has_it() -> None:
    model = ac.compile(Named())
    (told,) = model.simulate(until=2.0, set={"depth": -1.0}).diagnostics
    assert "`level` is below its minimum of 0 from time 1" in told.what and "at worst it is -1" in told.what
    assert "level=ac.modify(" in told.remedy

    class Deep(Named):
        level = ac.Variable()

    (told,) = ac.compile(Deep()).simulate(until=2.0).diagnostics
    assert "`depth` is above its maximum of 0.5 from time 1.5" in told.what and "at worst it is 1" in told.what
    with pytest.raises(ac.ModelError, match=r"(?s)`m` starts at -1, outside its bounds: it must be ≥ 0.*bounded: +`level`"):
        model.simulate(until=1.0, set={"m": -1.0})


class FallingPast(ac.Component):
    """It falls past many places at which only a rise counts."""

    T = ac.Variable(start=300.0, fixed=True, nominal=300.0)

    def equations(self) -> Any:
        yield ac.der(self.T) == -0.01 * (self.T - 280.0)

    def events(self) -> Any:
        for k in range(40):
            yield ac.crossing(self.T - (299.0 - 0.37 * k), direction="rising")


@pytest.mark.parametrize("solver", ["ida", "sundae", "fixed"])
def test_what_is_crossed_the_way_that_does_not_count_is_passed(solver: str) -> None:
    options = {"step": 0.1} if solver == "fixed" else {}
    result = ac.compile(FallingPast()).simulate(until=200.0, solver=solver, **options)
    assert result.outcome and not len(result.events)
    assert result["T"][-1] == pytest.approx(280.0 + 20.0 * np.exp(-2.0), abs=1e-3)
