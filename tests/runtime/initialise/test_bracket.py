"""One equation, one unknown."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from acausal.runtime.initialise.bracket import bracket
from acausal.runtime.initialise.equations import Stack, Subsystem

from .doubles import DenseProblem


def system_of(f, n: int, **attributes) -> Subsystem:
    stack = Stack(DenseProblem(f, n, **attributes))
    stack.incidence.prepare()
    return Subsystem(stack, np.arange(n), np.arange(n))


@settings(max_examples=40, deadline=None)
@given(st.floats(-1e3, 1e3), st.floats(-10.0, 10.0))
def test_monotone_functions_are_bracketed_from_anywhere(root: float, start: float) -> None:
    system = system_of(lambda t, y, yp, h: [(y[0] - root) ** 3 + 1e-3 * (y[0] - root)], 1)
    z, found = bracket(system, np.array([start]))
    assert found.all()
    np.testing.assert_allclose(z, root, atol=1e-8 * max(1.0, abs(root)))


def test_several_at_once_and_none_where_there_is_none() -> None:
    system = system_of(
        lambda t, y, yp, h: [np.exp(y[0]) - 1e3, y[1] ** 2 + 1.0, np.log(y[2]) + 3.0], 3, minimum=[-np.inf, -np.inf, 0.0]
    )
    z, found = bracket(system, np.array([-5.0, 1.0, 50.0]))
    assert found.tolist() == [True, False, True]
    np.testing.assert_allclose(z, [np.log(1e3), 1.0, np.exp(-3.0)], rtol=1e-8)
