"""When Newton's iteration within a step is over (`native/contraction.h`), and when its factors are renewed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import acausal as ac

pytest.importorskip("acausal._core")


class VanDerPol(ac.Component):
    """Relaxation: between slow stretches steps change by factors of thousands, and so do the best factors."""

    x = ac.Variable(start=2.0, fixed=True)
    v = ac.Variable(start=0.0, fixed=True)

    def equations(self) -> Iterator[Any]:
        yield ac.der(self.x) == self.v
        yield ac.der(self.v) == 100 * (1 - self.x**2) * self.v - self.x


class Pendulum(ac.Component):
    """Energy is conserved; the force follows from an equation that has to be solved."""

    angle = ac.Variable(start=2.0, fixed=True)
    speed = ac.Variable(start=0.0, fixed=True)
    force = ac.Variable(start=0.0)

    def equations(self) -> Iterator[Any]:
        yield ac.der(self.angle) == self.speed
        yield ac.der(self.speed) == -self.force
        yield self.force + 0.1 * self.force**3 == ac.sin(self.angle) + 0.1 * ac.sin(self.angle) ** 3


def test_new_factors_need_no_second_iteration() -> None:
    """With a second one after each renewal, and with factors that serve steps of another length, there are two a step and more."""
    result = ac.compile(VanDerPol()).simulate(400.0)
    exact = ac.compile(VanDerPol()).simulate(400.0, rtol=1e-10)
    counted = result.statistics
    assert counted["residual_evaluations"] < 1.8 * counted["steps"]
    assert result["x"][-1] == pytest.approx(exact["x"][-1], rel=1e-3)


@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-8])
def test_what_is_solved_for_is_as_exact_as_asked(rtol: float) -> None:
    result = ac.compile(Pendulum()).simulate(100.0, rtol=rtol)
    energy = 0.5 * result["speed"] ** 2 - ac.cos(result["angle"])
    assert energy == pytest.approx(energy[0], abs=2e3 * rtol)
    assert result["force"] == pytest.approx(ac.sin(result["angle"]), abs=20 * rtol)
