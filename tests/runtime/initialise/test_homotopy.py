"""Continuation on its own."""

from __future__ import annotations

import numpy as np

from acausal.runtime.initialise import Options
from acausal.runtime.initialise.equations import Stack, Subsystem
from acausal.runtime.initialise.homotopy import follow_arc, follow_model, uses_model_continuation
from acausal.runtime.initialise.newton import Groups

from .doubles import DenseProblem


def system_of(f, n: int, **attributes) -> Subsystem:
    stack = Stack(DenseProblem(f, n, **attributes))
    stack.incidence.prepare()
    return Subsystem(stack, np.arange(n), np.arange(n))


def test_arc_length_passes_the_points_where_the_path_turns_back() -> None:
    """x³ - 3x + 3 from x = 2: the Newton homotopy turns at x = 1 and again at x = -1."""
    system = system_of(lambda t, y, yp, h: [y[0] ** 3 - 3.0 * y[0] + 3.0, y[1] - y[0]], 2)
    z, arrived = follow_arc(system, np.array([2.0, 2.0]), Options())
    assert arrived
    root = np.roots([1.0, 0.0, -3.0, 3.0]).real.min()
    np.testing.assert_allclose(z, [root, root], rtol=1e-9)


def test_the_models_parameter_is_restored_whatever_happens() -> None:
    def f(t, y, yp, h):
        return [h * (y[0] ** 2 + 1.0) + (1 - h) * y[0]]

    system = system_of(f, 1)
    _, arrived = follow_model(system, np.ones(1), Groups.one(1), Options())
    assert not arrived.any()
    assert system.stack.problem.known[0] == 1.0


def test_use_of_the_parameter_is_noticed() -> None:
    with_it = system_of(lambda t, y, yp, h: [y[0] - h], 1)
    without = system_of(lambda t, y, yp, h: [y[0] - 1.0], 1)
    assert uses_model_continuation(with_it, np.zeros(1))
    assert not uses_model_continuation(without, np.zeros(1))
