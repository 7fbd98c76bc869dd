"""The two loops over expressions in C++ do what they do in Python: the same nodes in the same order."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acausal.language.expression import (
    Constant,
    Expression,
    Slot,
    apply,
    rebuild,
    transformed_in_python,
    walked_in_python,
)

core: Any = pytest.importorskip("acausal._core")


@st.composite
def graphs(draw: st.DrawFn) -> list[Expression]:
    """Expressions that share parts, the last of them the largest."""
    nodes: list[Expression] = [*(Slot(k, "variable") for k in range(4)), Constant(2.0)]
    for _ in range(draw(st.integers(1, 25))):
        name, arity = draw(st.sampled_from([("add", 2), ("mul", 2), ("sub", 2), ("sin", 1), ("where", 3)]))
        nodes.append(apply(name, *(draw(st.sampled_from(nodes)) for _ in range(arity))))
    return nodes


@settings(max_examples=100, deadline=None)
@given(graphs(), st.integers(1, 4))
def test_walk(nodes: list[Expression], roots: int) -> None:
    chosen = tuple(nodes[-roots:])
    assert all(a is b for a, b in zip(core.walk(chosen), walked_in_python(chosen), strict=True))


@settings(max_examples=100, deadline=None)
@given(graphs(), st.dictionaries(st.integers(0, 25), st.integers(0, 4)))
def test_transform(nodes: list[Expression], replaced: dict[int, int]) -> None:
    others = {nodes[k]: nodes[v] for k, v in replaced.items() if k < len(nodes)}
    leaf = others.get
    assert core.transform(nodes[-1], leaf, rebuild) is transformed_in_python(nodes[-1], leaf, rebuild)


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
