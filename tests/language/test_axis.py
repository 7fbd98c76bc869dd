"""Finite volumes along a line, against closed forms, conservation and monotonicity."""

from __future__ import annotations

import numpy as np
import pytest

import acausal as ac
from acausal.errors import ModelError, UsageError


class Rod(ac.Component):
    a = ac.Parameter(0.1, unit="m^2/s")
    L = ac.Parameter(2.0, unit="m")

    def __init__(self, n: int) -> None:
        self.n = n
        x = (np.arange(n) + 0.5) / n
        self.T = ac.Variable(shape=n, start=np.sin(np.pi * x), unit="K")

    def equations(self):
        x = ac.Axis(self.L, self.n)
        yield ac.der(self.T) == x.divergence(self.a * x.gradient(self.T, left=0.0, right=0.0))


def error_of_diffusion(n: int) -> float:
    result = ac.compile(Rod(n)).simulate(until=2.0, rtol=1e-9)
    x = (np.arange(n) + 0.5) / n
    return float(np.abs(result["T"][-1] - np.exp(-0.1 * (np.pi / 2.0) ** 2 * 2.0) * np.sin(np.pi * x)).max())


def test_diffusion_converges_with_the_square_of_the_cells():
    coarse, fine = error_of_diffusion(20), error_of_diffusion(40)
    assert fine < 2e-3 and 3.5 < coarse / fine < 4.5


class Pipe(ac.Component):
    v = ac.Parameter(1.0, unit="m/s")

    def __init__(self, n: int, scheme: str) -> None:
        self.n, self.scheme = n, scheme
        x = (np.arange(n) + 0.5) / n
        self.c = ac.Variable(shape=n, start=np.where((x > 0.2) & (x < 0.4), 1.0, 0.0))
        self.stock = ac.Variable(unit="m")
        self.gone = ac.Variable(start=0.0, unit="m")

    def equations(self):
        x = ac.Axis(1.0, self.n)
        flux = getattr(x, self.scheme)(self.v, self.c, left=0.0)
        yield ac.der(self.c) == -x.divergence(flux)
        yield self.stock == x.integral(self.c)
        yield ac.der(self.gone) == flux[-1] - flux[0]


@pytest.mark.parametrize("velocity", [1.0, -1.0])
def test_a_pulse_is_carried_conserved_and_not_overshot(velocity):
    widths, until = {}, 0.4 if velocity > 0 else 0.1
    for scheme in ("upwind", "limited"):
        result = ac.compile(Pipe(100, scheme), units=False).simulate(until=until, set={"v": velocity}, rtol=1e-8)
        end, x = result["c"][-1], (np.arange(100) + 0.5) / 100
        np.testing.assert_allclose(result["stock"] + result["gone"], 0.2, rtol=1e-9)  # to rounding, whatever the steps
        assert end.min() > -1e-6 and end.max() < 1 + 1e-6
        middle = (end * x).sum() / end.sum()
        assert middle == pytest.approx(0.3 + velocity * until, abs=2e-3)
        widths[scheme] = float(np.abs(end - np.where((x > 0.2 + velocity * until) & (x < 0.4 + velocity * until), 1.0, 0.0)).mean())
    assert widths["limited"] < 0.55 * widths["upwind"]


def test_cells_of_different_width_and_means():
    x = ac.Axis(2.0, [0.0, 0.1, 0.4, 1.0])
    np.testing.assert_allclose(x.widths, [0.2, 0.6, 1.2])
    np.testing.assert_allclose(x.centres, [0.1, 0.5, 1.4])
    assert x.n == 3

    class Linear(ac.Component):
        u = ac.Variable(shape=3)
        g = ac.Variable(shape=4)
        m = ac.Variable()

        def equations(self):
            yield self.u == 3.0 * x.centres
            yield self.g == x.gradient(self.u, left=0.0, right=6.0)
            yield self.m == x.mean(self.u)

    found = ac.compile(Linear(), units=False).steady_state()
    np.testing.assert_allclose(found["g"][0], 3.0, rtol=1e-12)
    assert found["m"][0] == pytest.approx(3.0)


def test_what_does_not_fit_is_told():
    with pytest.raises(UsageError, match="edges that increase from 0 to 1"):
        ac.Axis(1.0, [0.0, 0.5])

    class Wrong(ac.Component):
        u = ac.Variable(shape=4)

        def equations(self):
            yield ac.der(self.u) == ac.Axis(1.0, 5).divergence(ac.Axis(1.0, 5).gradient(self.u))

    with pytest.raises(ModelError, match=r"each of the 5 cells of the axis, `u` has shape \(4,\)"):
        ac.compile(Wrong())

    class Twice(Wrong):
        def equations(self):
            x = ac.Axis(1.0, 4)
            yield ac.der(self.u) == x.gradient(x.gradient(self.u))

    with pytest.raises(ModelError, match=r"4 cells of the axis; this has one at each of the 5 faces(.|\n)*x.divergence"):
        ac.compile(Twice())


@pytest.mark.parametrize(("length", "n"), [(0.0, 5), (-1, 5), (float("nan"), 5), ("1 m", 5), (1.0, "a"), (1.0, None)])
def test_an_axis_has_a_length_and_cells(length, n):
    with pytest.raises(UsageError, match="axis"):
        ac.Axis(length, n)
