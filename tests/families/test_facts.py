"""What is kept about templates is what would be found, and nothing that was kept outlives a change of what it was found from."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import acausal as ac
from acausal.families import facts
from acausal.families.template import Template
from acausal.language.expression import Call, Constant, Expression, Operation, Slot
from acausal.language.operators import OPERATORS
from acausal.language.table_sets import TableSet
from acausal.vault import open_vault


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    facts.put_back()
    monkeypatch.setenv("ACAUSAL_CACHE", str(tmp_path))
    yield tmp_path
    facts.put_back()


@st.composite
def outputs(draw: st.DrawFn) -> tuple[Expression, ...]:
    nodes: list[Expression] = [Slot(0, "variable"), Slot(1, "derivative"), Slot(2, "known"), Slot(3, "variable"), Constant(0.7)]
    for _ in range(draw(st.integers(1, 12))):
        operator = OPERATORS[draw(st.sampled_from(sorted(OPERATORS)))]
        nodes.append(Operation(operator, tuple(draw(st.sampled_from(nodes)) for _ in range(operator.arity))))
    return tuple(nodes[-draw(st.integers(1, 2)) :])


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(outputs())
def test_what_is_read_is_what_was_found(made: tuple[Expression, ...]) -> None:
    first = Template(made)
    found = first.facts
    facts.put_back()
    again = Template(made)
    assert again.facts == found and "jacobian" not in again.__dict__
    assert [(e.output, e.slot) for e in again.entries] == [(k, s) for k, s, _ in first.jacobian]
    for entry, (_, _, derivative) in zip(again.entries, first.jacobian, strict=True):
        assert entry == facts.entry_of(entry.output, entry.slot, derivative)


@settings(max_examples=60, deadline=None)
@given(outputs(), outputs())
def test_other_outputs_have_another_name(one: tuple[Expression, ...], other: tuple[Expression, ...]) -> None:
    assert (facts.name_of(one) == facts.name_of(other)) == ([*map(id, one)] == [*map(id, other)])


def test_what_calls_functions_that_nobody_can_describe_has_no_name() -> None:
    opaque = ac.function(opaque=True)(lambda x: x * x)
    assert facts.name_of((Call(opaque, (Slot(0, "variable"),)),)) == ""


def test_functions_have_a_say_in_names() -> None:
    """Tables that differ in anything are others; derivatives are not the table, and two tables are not one that is called twice."""
    x, y = [0.0, 1.0, 2.0], [0.0, 1.0, 4.0]
    one, slots = ac.Table(x, y), (Slot(0, "variable"), Slot(1, "variable"))
    others = [
        ac.Table(x, [0.0, 1.0, 4.0000000000000009]), ac.Table([0.0, 1.0, 2.5], y), ac.Table(x, y, name="other"),
        ac.Table(x, y, method="akima"), ac.Table(x, y, method="linear"), ac.Table(x, y, extrapolation="linear"), one.derivative(),
        one.derivative(2), TableSet((one,)), TableSet((one, ac.Table(x, y, name="other"))),
    ]  # fmt: skip
    made = [Call(f, slots if isinstance(f, TableSet) else slots[:1]) for f in (one, *others)]
    names = [facts.name_of((call,)) for call in made]
    names += [
        facts.name_of((Call(a, slots[:1]) - Call(b, slots[1:]),)) for a, b in ((one, one), (one, others[0]), (others[0], one))
    ]
    assert all(names) and len(set(names)) == len(names)


def test_what_derivatives_call_is_known_without_them(own_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table, x = ac.Table([0.0, 1.0, 2.0], [0.0, 1.0, 4.0]), Slot(0, "variable")
    outputs = (Call(table, (x,)) * Call(TableSet((table,)), (Slot(1, "known"), x)),)
    first = Template(outputs)
    assert len(first.functions) == 4  # the table, the set, and a derivative of each
    assert first.functions == first._evaluations() and all(first.facts.functions or ())
    facts.put_back()
    monkeypatch.setattr(Template, "_found", lambda self: pytest.fail("nobody looks again"))
    assert Template(outputs).functions == first.functions and Template(outputs).facts == first.facts


def test_a_damaged_file_is_as_good_as_none(own_folder: Path) -> None:
    made = (Slot(0, "variable") * Slot(3, "variable") - 0.31,)
    expected = Template(made).facts
    facts.put_back()
    (file,) = own_folder.rglob("*facts*")
    file.write_bytes(file.read_bytes()[:-3])
    assert Template(made).facts == expected


def test_no_folder_no_facts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("ACAUSAL_CACHE", str(tmp_path / "file" / "below"))
    assert open_vault() is None
    assert Template((Slot(0, "variable") * 3.21,)).entries[0].value == 3.21


# --- a class that changes -------------------------------------------------------------------------------------------------------
FACTOR = 2.0


def helper(x: Any) -> Any:
    return FACTOR * x


class Base(ac.Component):
    x = ac.Variable(start=1.0, fixed=True)
    rate = ac.Parameter(1.0)

    def slope(self) -> Any:
        return -helper(self.x)


class Decay(Base):
    def equations(self) -> Iterator[Any]:
        yield ac.der(self.x) == self.rate * self.slope()


def rate_of(model: ac.Model) -> float:
    """The rate at which it decays."""
    return -float(np.log(model.simulate(until=1.0, points=2, rtol=1e-9)["x"][-1]))


def changed_method(patch: pytest.MonkeyPatch, rate: float) -> None:
    def equations(self: Any) -> Iterator[Any]:
        yield ac.der(self.x) == -rate * self.x

    patch.setattr(Decay, "equations", equations)


def changed_global(patch: pytest.MonkeyPatch, rate: float) -> None:
    patch.setitem(globals(), "FACTOR", rate)


def changed_helper(patch: pytest.MonkeyPatch, rate: float) -> None:
    patch.setitem(globals(), "helper", lambda x: rate * x)


def changed_base(patch: pytest.MonkeyPatch, rate: float) -> None:
    patch.setattr(Base, "slope", lambda self: -rate * self.x)


def changed_default(patch: pytest.MonkeyPatch, rate: float) -> None:
    patch.setattr(Base.__dict__["rate"], "value", rate / 2.0)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(
            st.sampled_from([changed_method, changed_global, changed_helper, changed_base, changed_default]),
            st.sampled_from([0.5, 1.5, 3.0]),
        ),
        min_size=1,
        max_size=3,
    )
)
def test_whatever_changes_is_seen(changes: list[tuple[Any, float]]) -> None:
    assert rate_of(ac.compile(Decay())) == pytest.approx(2.0, rel=1e-6)
    for change, rate in changes:
        with pytest.MonkeyPatch.context() as patch:
            change(patch, rate)
            assert rate_of(ac.compile(Decay())) == pytest.approx(rate, rel=1e-6)
    assert rate_of(ac.compile(Decay())) == pytest.approx(2.0, rel=1e-6)


def test_other_rules_other_names(monkeypatch: pytest.MonkeyPatch) -> None:
    made = (Slot(0, "variable") * 2.0,)
    before = facts.name_of(made)
    monkeypatch.setattr(facts, "_rules", lambda: "other rules")
    assert facts.name_of(made) != before
