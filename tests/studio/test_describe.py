"""A diagram drops nothing, and forms have everything that declarations say."""

from __future__ import annotations

from typing import Any

import pytest

import acausal as ac
from acausal.cli.load import load_component
from acausal.language.units import convert
from acausal.library.electrical import Capacitor, Ground, Pin, Resistor
from acausal.studio.describe import alternatives, parts_of
from acausal.studio.diagram import diagram

# every model in examples/ that has parts, with the number of ends that its classes connect beyond the first of each statement
EXAMPLES = {
    "examples/refrigerated_cabinet.py:Cabinet": {"": 9},
    "examples/motor.py:Drive": {"": 12, "motor": 6},
    "examples/ladder.py": {"": 5},
    "acausal.library.demo:HeatedHouse": {"": 30, "wall": 3},
}


@pytest.mark.parametrize("target", EXAMPLES)
def test_a_diagram_has_a_wire_for_every_connection(target: str) -> None:
    catalogue = ac.compile(load_component(target)).catalogue()
    for path, count in EXAMPLES[target].items():
        found = diagram(catalogue, path)
        assert len(found.wires) == found.connections == count
        ports = {(p.id, q.name) for p in found.parts for q in p.ports}
        for wire in found.wires:
            assert (wire.source, wire.source_port) in ports and (wire.target, wire.target_port) in ports


class Inner(ac.Component):
    p, n = Pin(), Pin()

    def __init__(self) -> None:
        self.R = Resistor()

    def connections(self) -> Any:
        yield self.p, self.R.p
        yield self.R.n, self.n


class Outer(ac.Component):
    def __init__(self) -> None:
        self.inner, self.store, self.ground = Inner(), Capacitor(v=ac.start(1.0)), Ground()
        self.others = [Resistor(), Resistor()]

    def connections(self) -> Any:
        yield self.inner.p, self.store.p
        yield self.inner.n, self.store.n, self.ground.p
        yield self.inner.R.p, self.others[0].p  # an end deep within a part
        yield self.others[0].n, self.others[1].p
        yield self.others[1].n, self.ground.p


def test_ports_of_a_composite_and_ends_deep_within_a_part_are_drawn() -> None:
    catalogue = ac.compile(Outer()).catalogue()
    outside, inside = diagram(catalogue), diagram(catalogue, "inner")
    assert len(outside.wires) == 6 and len(inside.wires) == 2
    assert ("inner", "R.p") in {(w.source, w.source_port) for w in outside.wires}
    assert [p.id for p in inside.parts if p.border] == [":p", ":n"]
    assert {p.id for p in outside.parts} == {"inner", "store", "ground", "others[0]", "others[1]"}


def test_a_path_that_does_not_exist_is_told() -> None:
    with pytest.raises(ac.ModelError, match="no part `motor`"):
        diagram(ac.compile(Outer()).catalogue(), "motor")


def test_forms_have_values_bounds_units_and_what_a_value_is_bound_to() -> None:
    parts = {p.path: p for p in parts_of(ac.compile(load_component("acausal.library.demo:HeatedHouse")).catalogue())}
    window = {q.name: q for q in parts[""].quantities}["window_area"]
    assert (window.value, window.unit, window.minimum, window.doc) == (18.0, "m^2", 0.0, "area of the windows")
    bound = {q.name: q for q in parts["window"].quantities}["G"]
    assert bound.bound == "1.1*window_area" and bound.value == pytest.approx(19.8)
    layer = {q.name: q for q in parts["wall.layer[*]"].quantities}["T"]
    assert layer.path == "wall.layer[*].T[*]" and layer.shape == [3, 4] and layer.state
    inputs = {q.path: q.connected for p in parts.values() for q in p.quantities if q.role == "input"}
    assert inputs["heat_pump.speed"] and inputs["outdoor.T"] and not inputs["inside.Gc"]


def test_units_that_are_offered_convert_both_ways() -> None:
    for unit in ("K", "Pa", "W", "J", "m^3/s", "rad/s", "kg/s", "s"):
        for other in alternatives(unit):
            assert 300.0 * other.factor + other.offset == pytest.approx(float(convert(300.0, unit, other.symbol)))
    assert [u.symbol for u in alternatives("N*m")] == ["N*m"]  # a torque is no energy


def test_a_wire_names_what_flows_through_it_and_a_run_has_it() -> None:
    model = ac.compile(load_component("acausal.library.demo:HeatedHouse"))
    found, result = diagram(model.catalogue()), model.simulate(until=60.0, points=3)
    flows = {wire.flow for wire in found.wires if wire.kind == "HeatPort"}
    assert (
        flows
        and all(result.unit(flow) == "W" for flow in flows if flow)
        and not any(w.flow for w in found.wires if w.kind == "signals")
    )
    for node in {(w.source, w.source_port) for w in found.wires}:
        ends = [w for w in found.wires if (w.source, w.source_port) == node]
        if ends[0].kind == "HeatPort" and all(w.flow for w in ends) and len(ends) > 1:
            own = next(q.flow for p in found.parts if p.id == node[0] for q in p.ports if q.name == node[1])
            whole = sum(result[w.flow][-1] for w in ends) + (result[own][-1] if own else 0.0)
            assert own == "" or abs(whole) < 1e-6 * max(abs(result[w.flow][-1]) for w in ends) + 1e-6


def test_the_palette_draws_each_class_with_its_icon():
    from acausal.language.icons import is_drawing
    from acausal.library import electrical, fluid
    from acausal.library.icons import svg
    from acausal.studio.palette import palette

    pieces = {(piece.module, piece.name): piece for piece in palette()}
    drawn = [piece for piece in pieces.values() if is_drawing(piece.icon)]
    assert len(drawn) > 0.8 * len(pieces) and not [p.name for p in pieces.values() if not p.icon]
    for cls in (electrical.Capacitor, fluid.Pump):
        assert pieces[cls.__module__, cls.__name__].icon in svg(cls)
