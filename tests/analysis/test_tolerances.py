"""Tolerances, worst cases, root loci, random signals and controlled sensitivities against closed forms."""

from __future__ import annotations

import itertools
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import acausal as ac
from acausal.analysis.controlled import controlled


class Room(ac.Component):
    """C T' = P - G (T - 280), T(0) = 290."""

    C, G = ac.Parameter(1e5, unit="J/K", min=0), ac.Parameter(50.0, unit="W/K", min=0)
    P, T_out = ac.Parameter(1000.0, unit="W"), ac.Input(280.0, unit="K")
    T = ac.Variable(start=290.0, fixed=True, unit="K")

    def equations(self) -> Any:
        yield self.C * ac.der(self.T) == self.P - self.G * (self.T - self.T_out)


class Loop(ac.Component):
    """An oscillator with feedback: poles -0.5 ± sqrt(0.25 - k)."""

    k = ac.Parameter(0.1)
    u = ac.Input(0.0)
    x, v = ac.Variable(start=0.0, fixed=True), ac.Variable(start=0.0, fixed=True)

    def equations(self) -> Any:
        yield ac.der(self.x) == self.v
        yield ac.der(self.v) == -self.v - self.k * self.x + self.u


@pytest.fixture(scope="module")
def model() -> ac.Model:
    return ac.compile(Room())


def test_a_tolerance_band_is_that_of_the_corners(model: ac.Model) -> None:
    run = model.simulate("1 h", points=5, rtol=1e-9, sensitivities=["C", "G", "P"])
    low, high = run.sensitivities.band("T", "0.1 %")
    corners = [
        model.simulate("1 h", points=5, rtol=1e-9, set={"C": 1e5 * c, "G": 50.0 * g, "P": 1e3 * p})["T"]
        for c, g, p in itertools.product((0.999, 1.001), repeat=3)
    ]
    np.testing.assert_allclose(low, np.min(corners, axis=0), atol=5e-5)
    np.testing.assert_allclose(high, np.max(corners, axis=0), atol=5e-5)
    narrow = run.sensitivities.band("T", {"G": 0.05, "P": "0.1 %"}, worst=False)[1] - run["T"]
    assert (narrow[1:] > 0).all() and (narrow <= high - run["T"]).all()
    assert list(run.sensitivities.ranking("T"))[:2] == ["P", "G"]
    for wrong, said in (({"GG": 1.0}, "no sensitivities to `GG`"), ({"G": "a lot"}, "The tolerance of `G`"), ({"G": -1}, "`G`")):
        with pytest.raises(ac.AcausalError, match=said):
            run.sensitivities.band("T", wrong)


def test_the_worst_case_over_intervals(model: ac.Model) -> None:
    found = ac.worst_case(model, "T", {"G": (40.0, 60.0), "P": ("0.9 kW", "1.1 kW")}, steady=True)
    np.testing.assert_allclose(found.interval, (280 + 900 / 60, 280 + 1100 / 40), rtol=1e-8)
    assert found.largest.parameters == pytest.approx({"G": 40.0, "P": 1100.0})
    assert "smallest with G = 60, P = 900" in str(found)
    for intervals, said in ((["G"], "Intervals by name"), ({"P": (None, 3.0)}, "`P` has no interval"), ({"Q": (1.0, 2.0)}, "`Q`")):
        with pytest.raises(ac.AcausalError, match=said):
            ac.worst_case(model, "T", intervals, steady=True)  # type: ignore[arg-type]


def test_root_loci(tmp_path: Any) -> None:
    model = ac.compile(Loop())
    linear = model.linearise(at=model.steady_state(), inputs=["u"], outputs=["x"])
    gains, poles = linear.root_locus("x", "u", np.linspace(0.0, 2.0, 41), tmp_path / "locus.png")
    exact = -0.5 + np.sqrt(0.25 - 0.1 - gains + 0j)
    for k in range(len(gains)):
        np.testing.assert_allclose(np.sort_complex(poles[k]), np.sort_complex([exact[k], -1 - exact[k]]), atol=1e-7)
    assert np.abs(np.diff(poles, axis=0)).max() < 0.4 and (tmp_path / "locus.png").stat().st_size > 10_000
    branch = model.continuation("k", between=(0.1, 2.0))
    np.testing.assert_allclose(branch.eigenvalues.sum(axis=1), -1.0, atol=1e-6)
    branch.root_locus(tmp_path / "branch.png")
    with pytest.raises(ac.AcausalError, match="`gains` are finite numbers"):
        linear.root_locus("x", "u", "many")


def test_random_signals_are_reproducible_and_have_their_distribution_and_memory(model: ac.Model) -> None:
    white, again, other = (ac.random_signal(ac.normal(5.0, 2.0), 1e5, every=1.0, seed=s) for s in (1, 1, 2))
    np.testing.assert_array_equal(white.values, again.values)
    assert (white.values != other.values).any()
    coloured = ac.random_signal(ac.uniform("0 degC", "10 degC"), 1e5, every=1.0, seed=1, correlation_time=10.0, unit="K")
    assert white.values.mean() == pytest.approx(5.0, abs=0.03) and white.values.std() == pytest.approx(2.0, abs=0.03)
    assert 273.15 <= coloured.values.min() < 273.3 and 283.0 < coloured.values.max() <= 283.15
    for signal, kept in ((white, 0.0), (coloured, np.exp(-1.0))):
        x = signal.values - signal.values.mean()
        assert (x[10:] * x[:-10]).mean() / x.var() == pytest.approx(kept, abs=0.06)
    run = model.simulate("1 h", inputs={"T_out": ac.random_signal(ac.normal(280.0, 1.0), "1 h", every="5 min", seed=3)})
    assert run["T_out"].std() > 0.3
    for arguments, said in (((3.0, 10.0), "needs a distribution"), ((ac.normal(0.0, 1.0), -1.0), "times that grow")):
        with pytest.raises(ac.AcausalError, match=said):
            ac.random_signal(*arguments, every=1.0)  # type: ignore[arg-type]


def test_sensitivities_to_a_tolerance_of_their_own(model: ac.Model) -> None:
    run = model.simulate("2 h", points=9, rtol=1e-3, sensitivities=["G"], sensitivities_rtol=1e-6)
    t, tau, rise = run.time, 2000.0, 20.0
    decay = np.exp(-t / tau)
    exact = -rise / 50.0 * (1 - decay) + (290.0 - 280.0 - rise) * decay * (-t / 1e5)
    assert run.sensitivities.error <= 1e-6
    np.testing.assert_allclose(run.sensitivity("T", "G"), exact, atol=2e-6 * np.abs(exact).max())
    with pytest.raises(ac.AcausalError, match="`sensitivities_rtol` is a relative tolerance"):
        model.simulate(1.0, sensitivities=["G"], sensitivities_rtol=2.0)
    with pytest.raises(ac.AcausalError, match="of which"):
        model.simulate(1.0, sensitivities_rtol=1e-5)


def test_two_runs_of_one_tolerance_say_nothing_of_their_accuracy() -> None:
    class Run:
        """Sensitivities that differ with every tolerance."""

        def __init__(self, rtol: float) -> None:
            self.time = np.zeros(1)
            self.outcome = SimpleNamespace(ok=True)
            self.sensitivities = SimpleNamespace(data=np.full((1, 1, 1), np.log10(rtol)), error=None)

    with pytest.raises(ac.ModelError, match="not found to 1e-06"):
        controlled(Run, 1e-10, 1e-6)
    with pytest.raises(ac.ModelError, match="no tighter run"):
        controlled(Run, 1e-12, 1e-6)


class Saddle(ac.Component):
    """y = (p - 0.5) (q - 0.5): its gradient in the middle of the box says nothing; z has three hills."""

    p, q = ac.Parameter(0.5), ac.Parameter(0.5)
    x, y, z = ac.Variable(start=0.0, fixed=True), ac.Variable(), ac.Variable()

    def equations(self) -> Any:
        yield ac.der(self.x) == 1.0 - self.x
        yield self.y == (self.p - 0.5) * (self.q - 0.5)
        yield self.z == ac.sin(20 * self.p) * (1 + self.p)


def test_the_worst_case_is_not_always_where_the_middle_points() -> None:
    model, box = ac.compile(Saddle()), {"p": (0.0, 1.0), "q": (0.0, 1.0)}
    assert ac.worst_case(model, "y", box, until=1.0).interval == pytest.approx((-0.25, 0.25), abs=1e-9)
    p = np.linspace(0, 1, 100_001)
    z = np.sin(20 * p) * (1 + p)
    assert ac.worst_case(model, "z", box, until=1.0).interval == pytest.approx((z.min(), z.max()), abs=1e-6)
