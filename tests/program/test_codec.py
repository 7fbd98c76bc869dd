"""The codec: every node class and every data class that a model can hold is written and read again, and nothing else is."""

from __future__ import annotations

import dataclasses
import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import acausal as ac
from acausal.errors import UsageError
from acausal.families.template import Template
from acausal.families.tree import Node
from acausal.language import declarations, states
from acausal.language.expression import (
    Call,
    Constant,
    Continuation,
    Derived,
    Expression,
    Literal,
    Mark,
    Operation,
    Reference,
    Slot,
    Sum,
    Time,
    Unbound,
    apply,
)
from acausal.language.medium import OfMedium
from acausal.language.operators import NO_EVENT, OPERATORS, PRE, SAMPLE
from acausal.program.codec import LISTED, Encoded, class_of, decode
from acausal.program.encoder import encode

OWNER = Node("", None, (), "Thing", None)
X = Reference(OWNER, OWNER, "x", ())
V = Reference(OWNER, OWNER, "v", (3,), np.array([2, 0, 1]), 1)
TABLE = ac.Table([0.0, 1.0], [0.0, 2.0], name="line")
SURFACE = ac.Table2D([0.0, 1.0], [0.0, 1.0], [[0.0, 0.0], [0.0, 6.0]], name="surface")

EXAMPLES: dict[type, Expression] = {
    Constant: Constant(-0.0),
    Literal: Literal(np.array([1.0, np.inf])),
    Time: Time(),
    Continuation: Continuation(),
    Mark: Mark("initial"),
    Reference: V,
    Operation: apply("mul", X, apply("sin", Time())),
    Call: Call(TABLE, (X,)),
    Sum: Sum(V, (0,)),
    Slot: Slot(3, "known"),
    Derived: Derived(apply("div", X, Constant(3.0))),
}


def again(value):
    """Through the text, as a file would have it."""
    encoded = encode(value)
    return decode(Encoded(json.loads(json.dumps(encoded.records)), encoded.arrays, json.loads(json.dumps(encoded.root)), []))


def every(cls):
    for child in cls.__subclasses__():
        yield child
        yield from every(child)


@pytest.mark.parametrize("cls", sorted(set(every(Expression)) - {Unbound, states.State}, key=lambda c: c.__name__))
def test_every_node_class_is_written_and_read(cls):
    assert cls in EXAMPLES, f"the codec does not know {cls.__name__}: say how it is written"
    node = EXAMPLES[cls]
    _, found = again((OWNER, node))
    assert type(found) is cls and found.shape == node.shape
    if not any(isinstance(n, Reference) for n in _walk(node)):
        assert found is node  # interned again


def _walk(node):
    yield node
    for part in (*node.args, *([node.expression] if isinstance(node, Derived) else [])):
        yield from _walk(part)


@pytest.mark.parametrize("operator", [*OPERATORS.values(), PRE, NO_EVENT, SAMPLE], ids=lambda o: o.name)
def test_every_operator_is_found_again(operator):
    node = Operation(operator, (Time(),) * operator.arity)
    assert again(node) is node


def test_every_declaration_class_is_listed():
    own = [c for c in every(declarations.Declaration) if c.__module__.startswith("acausal.language")]
    recorded_as_others = (states.StateDeclaration, OfMedium)  # of the latter a variable is left, once the medium is known
    assert {c.__name__ for c in own if not issubclass(c, recorded_as_others)} <= LISTED


def test_data_classes_of_the_translation_are_listed():
    """What a model holds was written for all models of the tests; here, that nothing listed is anything but data."""
    for name, cls in ((name, class_of(name)) for name in LISTED):
        assert name == cls.__name__ and cls.__module__.startswith("acausal.")
        assert (
            dataclasses.is_dataclass(cls)
            or issubclass(cls, declarations.Declaration)
            or name in ("Plant", "ConnectorView", "StateView")
        )


def test_tables_and_their_derivatives_are_the_same_objects_again():
    for function in (TABLE, TABLE.derivative(), SURFACE, SURFACE.derivative(x=1, y=1)):
        assert again(function) is function


def test_templates_come_with_their_derivatives():
    template = Template.of((Slot(0, "variable") * Slot(1, "known") + apply("exp", Slot(0, "variable")),))
    assert again(template) is template and again(template).jacobian == template.jacobian


def test_what_is_shared_is_shared_again_and_circles_close():
    child = Node("a", None, (2,), "Part", OWNER)
    OWNER.children["a"] = child
    try:
        a, b, root = again([child, child, OWNER])
        assert a is b and a.parent is root and root.children["a"] is a
    finally:
        OWNER.children.clear()


def test_what_is_no_data_is_refused():
    for thing in (object(), lambda: 0, open, np.array(["text"]), Unbound(ac.Parameter(1.0)), ac.Component()):
        with pytest.raises(UsageError, match=r"cannot be written|no part of a model"):
            encode([thing])


plain = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=12) | st.tuples(inner, inner),
    max_leaves=25,
)


@settings(max_examples=100, deadline=None)
@given(plain)
def test_plain_data_survives(value):
    found = again(value)
    assert found == value and repr(found) == repr(value)


def test_numbers_that_json_has_not():
    found = again([math.inf, -math.inf, math.nan, -0.0, np.float64(2.5), np.int64(3), True])
    assert found[0] == math.inf and found[1] == -math.inf and math.isnan(found[2]) and math.copysign(1.0, found[3]) == -1.0
    assert found[4:] == [2.5, 3, True] and type(found[5]) is int


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 400))
def test_expressions_of_any_depth(depth):
    node: Expression = Time()
    for k in range(depth):
        node = apply("sin" if k % 3 else "add", node) if k % 3 else apply("add", node, Constant(k + 0.5))
    assert again(node) is node
