"""What relations and statements become: cells, crossing functions, rules; and how many of each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import acausal as ac
from acausal.families.hybrid import ROLES, Hybrid

Statements = Iterator[Any]


def hybrid(equations: Any = None, events: Any = None) -> Hybrid | None:
    class Model(ac.Component):
        x, y = ac.Variable(start=0.0, fixed=True), ac.Variable(start=0.0, fixed=True)
        k = ac.Parameter(1.0)
        n = ac.Integer(start=0)
        row = ac.Variable(start=np.arange(4.0), fixed=True, shape=4)

        def equations(self) -> Statements:
            yield ac.der(self.x) == 1.0
            yield ac.der(self.row) == 1.0
            yield ac.der(self.y) == (1.0 if equations is None else equations(self))

        def events(self) -> Statements:
            if events is not None:
                yield events(self)

    return ac.compile(Model()).system.hybrid


def counts(found: Hybrid | None) -> dict[str, int]:
    assert found is not None
    return {role: found.parts[role].count for role in ROLES if found.parts[role].count}


def test_a_model_without_relations_has_no_events() -> None:
    assert hybrid() is None


@pytest.mark.parametrize(
    "stated, expected",
    [
        (lambda m: ac.where(m.x > 1, 1.0, 0.0), {"relation": 1}),
        (lambda m: ac.where((m.x > 1) & (m.x < 2) | (m.y > 1), 1.0, 0.0), {"relation": 3}),
        (lambda m: ac.where(m.x > 1, 1.0, 0.0) + ac.where(m.x > 1, 2.0, 0.0), {"relation": 1}),
        (lambda m: ac.sum(ac.where(m.row > 1, 1.0, 0.0)), {"relation": 4}),
        (lambda m: ac.where(ac.time > m.k, 1.0, 0.0), {"timed": 1}),
        (lambda m: ac.where(ac.time**2 > m.k, 1.0, 0.0), {"relation": 1}),
        (lambda m: ac.where(ac.time > m.x, 1.0, 0.0), {"relation": 1}),
        (lambda m: ac.where(m.n > 3, 1.0, 0.0) + ac.where(ac.time > 9, 1.0, 0.0), {"timed": 1}),
        (lambda m: ac.min(m.x, m.y), {"relation": 1}),
        (lambda m: ac.abs(m.x), {"relation": 1}),
        (lambda m: ac.sign(m.x), {"relation": 2}),
        (lambda m: ac.floor(m.x), {"relation": 2, "update": 1}),
        (lambda m: ac.ceil(ac.time), {"timed": 2, "update": 1}),
        (lambda m: ac.floor(ac.floor(m.x)), {"relation": 2, "update": 1}),  # the outer one is of a discrete value
        (lambda m: ac.where(ac.sample(0, m.k), 1.0, 0.0), {"clock_start": 1, "clock_period": 1}),
        (lambda m: ac.where(ac.edge(m.x > 1), 1.0, 0.0), {"relation": 1}),
    ],
)
def test_what_an_expression_makes(stated: Any, expected: dict[str, int]) -> None:
    assert counts(hybrid(stated)) == expected


@pytest.mark.parametrize(
    "stated", [lambda m: ac.no_event(ac.where(m.x > 1, 1.0, 0.0)), lambda m: ac.smooth(ac.abs(m.x)), lambda m: m.k]
)
def test_what_makes_no_events(stated: Any) -> None:
    assert hybrid(stated) is None


def test_an_initial_equation_may_have_no_event_within_no_event() -> None:
    """`smooth_step` makes none of its own, here of an argument that makes none either: the inner one was left in the equation."""

    class Model(ac.Component):
        x, y = ac.Variable(start=1.0), ac.Variable(start=1.0)

        def equations(self) -> Statements:
            yield ac.der(self.x) == -self.x
            yield self.y == self.x**2

        def initial_equations(self) -> Statements:
            yield self.x == 0.3 + ac.smooth_step(ac.no_event(ac.max(self.y, 0.0)), 0.1, 0.2)

    assert ac.compile(Model()).simulate(until=0.1)["x"][0] == pytest.approx(1.3, rel=1e-9)


@pytest.mark.parametrize(
    "stated, expected",
    [
        (lambda m: ac.when(m.x > 1, ac.assign(m.n, 1)), {"relation": 1, "update": 1}),
        (lambda m: ac.when(m.x > 1, ac.reinit(m.y, m.y + 1)), {"relation": 1, "reinit": 1}),
        (lambda m: ac.when(m.x > 1, ac.reinit(m.y, ac.pre(m.y) + 1)), {"relation": 1, "reinit": 1, "snapshot": 1}),
        (lambda m: ac.when(m.row > 1, ac.reinit(m.row, 0.0)), {"relation": 4, "reinit": 4}),
        (lambda m: ac.when(m.x > 1, ac.terminate("")), {"relation": 1, "stop": 1}),
        (lambda m: ac.assert_(m.x < 9, ""), {"relation": 1, "assertion": 1}),
        (lambda m: ac.crossing(m.x - 1), {"crossing": 1}),
        (lambda m: ac.after_step(ac.assign(m.n, m.n + 1)), {"step": 1}),
    ],
)
def test_what_a_statement_makes(stated: Any, expected: dict[str, int]) -> None:
    assert counts(hybrid(None, stated)) == expected


def test_rows_of_many_components_are_one_block() -> None:
    class Part(ac.Component):
        x = ac.Variable(start=0.0, fixed=True)
        on = ac.Boolean(start=False)

        def equations(self) -> Statements:
            yield ac.der(self.x) == ac.where(self.on, 1.0, 2.0)

        def events(self) -> Statements:
            yield ac.when(self.x > 1, ac.assign(self.on, True))

    class Many(ac.Component):
        def __init__(self) -> None:
            self.part = ac.array(Part, 300)

    system = ac.compile(Many()).system
    found = system.hybrid
    assert found is not None
    assert counts(found) == {"relation": 300, "update": 300}
    assert len(found.parts["relation"].families) == len(found.parts["update"].families) == 1
    place = system.describe_rule("relation", 17)
    assert place.component == "part[17] (Part)" and place.equation == "x > 1"
    assert len(np.unique(found.parts["update"].targets)) == 300


def test_every_discrete_value_has_a_value_before() -> None:
    found = hybrid(lambda m: ac.where(m.x > 1, 1.0, 0.0), lambda m: ac.when(m.x > 2, ac.assign(m.n, 1)))
    assert found is not None
    assert len(found.cells) == len(found.partners) == 3
    assert not np.intersect1d(found.cells, found.partners).size


def test_a_relation_may_compare_a_sum_over_an_array_of_times():
    class Steps(ac.Component):
        x = ac.Variable(start=0.0, fixed=True)

        def __init__(self):
            self.later = ac.Parameter([1.0, 3.0], unit="s")

        def equations(self):
            yield ac.der(self.x) == ac.where(ac.sum(ac.time - self.later) > 0, 1.0, 0.0)

    result = ac.compile(Steps(), units=False).simulate(until=4.0)
    assert float(result["x"][-1]) == pytest.approx(2.0, rel=1e-9)
