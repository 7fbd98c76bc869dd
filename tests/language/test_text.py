"""The text of an expression is Python that means it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from trees import LEAVES, numbers, read, symbols, trees, value_of

import acausal as ac
from acausal.language.expression import Literal, Sum, as_expression, walk
from acausal.language.text import text_of

_NAMES = {
    "sin": np.sin, "tanh": np.tanh, "abs": np.abs, "sign": np.sign, "min": np.minimum, "max": np.maximum,
    "where": lambda c, a, b: np.where(c, a, b), "sum": np.sum, "sqrt": np.sqrt,
}  # fmt: skip


@given(trees())
def test_read_back_it_has_the_same_value(tree):
    expression = as_expression(read(tree, symbols(), True))
    nodes = list(walk(expression))
    if any(isinstance(n, (Literal, Sum)) or getattr(n, "picked", None) is not None for n in nodes):
        return  # their text is a summary
    text = text_of(expression)
    if "…" not in text:
        found = eval(text, {"__builtins__": {}}, {**_NAMES, **numbers(), "time": numbers()["t"]})
        np.testing.assert_allclose(np.broadcast_to(found, expression.shape), value_of(expression), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    "made, text",
    [
        (lambda s: -(s + 1), "-(s + 1)"), (lambda s: (s + 1) * 2, "(s + 1)*2"), (lambda s: s - (s - 1), "s - (s - 1)"),
        (lambda s: 2 / (s * 3), "2/(s*3)"), (lambda s: (-s) ** 5, "(-s)**5"), (lambda s: ac.der(s), "der(s)"),
        (lambda s: (s > 1) & (s < 2), "(s > 1) & (s < 2)"), (lambda s: ac.homotopy(s, 1.0), "homotopy*s + 1 - homotopy"),
    ],
)  # fmt: skip
def test_brackets_stand_where_they_are_needed(made, text):
    assert text_of(made(LEAVES.s)) == text


def test_long_texts_are_cut():
    node = LEAVES.s
    for _ in range(100):
        node = node * LEAVES.s + 1.5
    assert len(text_of(node)) <= 400
