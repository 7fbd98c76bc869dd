"""The two loops over expressions in C++ do what they do in Python: the same nodes in the same order."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import acausal as ac
from acausal.language import nodes
from acausal.language.expression import (
    WORDS,
    Call,
    Constant,
    Expression,
    Literal,
    Slot,
    Sum,
    apply,
    rebuild,
)
from acausal.language.operators import NO_EVENT, OPERATORS
from acausal.language.simplify import by_rules

core: Any = pytest.importorskip("acausal._core")
nodes.learn_language(WORDS)
nodes.learn_operators((*OPERATORS.values(), NO_EVENT))
nodes.operation = core.operation  # there is one table of operations


@st.composite
def graphs(draw: st.DrawFn) -> list[Expression]:
    """Expressions that share parts, the last of them the largest."""
    made: list[Expression] = [*(Slot(k, "variable") for k in range(4)), Constant(2.0)]
    for _ in range(draw(st.integers(1, 25))):
        name, arity = draw(st.sampled_from([("add", 2), ("mul", 2), ("sub", 2), ("sin", 1), ("where", 3)]))
        made.append(apply(name, *(draw(st.sampled_from(made)) for _ in range(arity))))
    return made


@settings(max_examples=100, deadline=None)
@given(graphs(), st.integers(1, 4))
def test_walk(given_nodes: list[Expression], roots: int) -> None:
    chosen = tuple(given_nodes[-roots:])
    assert all(a is b for a, b in zip(core.walk(chosen), nodes.walk(chosen), strict=True))
    assert all(a is b for a, b in zip(core.leaves(chosen), nodes.leaves(chosen), strict=True))


@settings(max_examples=100, deadline=None)
@given(graphs(), st.dictionaries(st.integers(0, 25), st.integers(0, 4)))
def test_transform(made: list[Expression], replaced: dict[int, int]) -> None:
    others = {made[k]: made[v] for k, v in replaced.items() if k < len(made)}
    leaf = others.get
    assert core.transform(made[-1], leaf, rebuild) is nodes.transform(made[-1], leaf, rebuild)


@settings(max_examples=100, deadline=None)
@given(graphs(), st.dictionaries(st.integers(0, 25), st.integers(0, 4)))
def test_renaming(made: list[Expression], replaced: dict[int, int]) -> None:
    others = {made[k]: made[v] for k, v in replaced.items() if k < len(made)}
    assert core.transform(made[-1], others.get, rebuild, False) is nodes.transform(made[-1], others.get, rebuild, False)


@settings(max_examples=100, deadline=None)
@given(graphs(), st.integers(1, 4))
def test_bytes_and_back(made: list[Expression], roots: int) -> None:
    chosen = tuple(made[-roots:])
    code, objects = core.encoded(chosen)
    same, alike = nodes.encoded(chosen)
    assert code == same and all(a is b for a, b in zip(objects, alike, strict=True))
    for back in (core.decoded(code, objects), nodes.decoded(code, objects)):
        assert all(a is b for a, b in zip(back, chosen, strict=True))


def test_bytes_of_calls_and_sums() -> None:
    """Functions stand among the objects, each once; sums are told by their axes."""
    table = ac.Table([0.0, 1.0, 2.0], [0.0, 1.0, 4.0])
    x = Literal(np.arange(6.0).reshape(2, 3))
    chosen = (Call(table, (x,)) + Call(table.derivative(), (x,)), Sum(Call(table, (x,)), (1,)), Sum(x, (0, 1)))
    code, objects = core.encoded(chosen)
    assert (code, objects) == nodes.encoded(chosen) and objects == [x, table, table.derivative()]
    for back in (core.decoded(code, objects), nodes.decoded(code, objects)):
        assert all(a is b for a, b in zip(back, chosen, strict=True))
    for read in (core.decoded, nodes.decoded):
        with pytest.raises(ValueError, match="takes a function for a node"):
            read(code, objects[::-1])


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=60), st.integers(0, 60))
def test_damaged_bytes(noise: bytes, cut: int) -> None:
    x = Slot(0, "variable")
    code, objects = core.encoded((apply("sin", x * 2.0),))
    for damaged in (noise, code[:cut], code[:cut] + noise):
        found: list[Any] = []
        for read in (core.decoded, nodes.decoded):
            try:
                found.append(read(damaged, objects))
            except ValueError:
                found.append(None)
        assert (found[0] is None) == (found[1] is None)


def test_what_goes_wrong_below_is_told() -> None:
    def leaf(node: Expression) -> Expression | None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        core.transform(Slot(0, "variable") + 1.0, leaf, rebuild)
    with pytest.raises(AttributeError):
        core.walk((3,))
    with pytest.raises(TypeError, match="tuple"):
        core.walk(3)


def test_depth_does_not_matter() -> None:
    node: Expression = Slot(0, "variable")
    for k in range(50_000):
        node = apply("sin", node + Slot(k % 3, "variable"))
    assert len(core.walk((node,))) == 100_000 + 3
    assert core.transform(node, lambda n: None, rebuild) is node


def test_operations_are_interned_and_forgotten() -> None:
    x, sin = Slot(987_654_321, "variable"), OPERATORS["sin"]  # nobody else has it
    first = core.operation(sin, (x,))
    assert core.operation(sin, (x,)) is first and first.args == (x,) and first.operator is sin and first.shape == ()
    seen = weakref.ref(first)
    del first
    gc.collect()
    assert seen() is None
    assert core.operation(sin, (x,)).args == (x,)


def test_a_long_sum_dies_without_depth() -> None:
    total: Expression = Slot(0, "variable")
    for _ in range(100_000):
        total = total + Slot(1, "variable")
    seen = weakref.ref(total)
    del total
    assert seen() is None


@settings(max_examples=200, deadline=None)
@given(graphs(), st.sampled_from(["add", "sub", "mul", "div", "neg", "pow", "where"]), st.data())
def test_what_is_simple_at_once_is_what_the_rules_say(made: list[Expression], name: str, data: st.DataObject) -> None:
    operator = OPERATORS[name]
    args = tuple(data.draw(st.sampled_from([*made, *(-n for n in made)])) for _ in range(operator.arity))
    assert core.simplified(operator, args) is by_rules(operator, args)
