"""The portable solver: the common suite, also without the native core, and agreement with the native one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import pytest
import small_problems as problems
from solver_suite import SINE, SolverSuite, request_for

import acausal as ac
from acausal.library import fluid, signal
from acausal.library.mechanics import rotational
from acausal.runtime import solver as solver_module
from acausal.runtime.problem import Problem
from acausal.runtime.run import run_to_end
from acausal.runtime.solver import RunResult, default_solver, find_solver


class TestSundae(SolverSuite):
    solver = "sundae"
    sections: ClassVar = (100, 300)


class TestSundaeWithoutTheNativeCore(SolverSuite):
    """Kernels called through ctypes, as on a machine where nothing could be built."""

    solver = "sundae"
    sections: ClassVar = (100,)

    def run(self, problem: Problem, t_end: float, times: Any = None, **more: Any) -> RunResult:
        return super().run(replace(problem, use_native=False), t_end, times, **more)


def test_both_solvers_agree() -> None:
    pytest.importorskip("acausal._core")
    problem = problems.ladder(30)
    runs = [
        run_to_end(find_solver(name), problem, request_for(problem, 20.0, inputs={0: SINE}, rtol=1e-7, atol=1e-7))
        for name in ("ida", "sundae")
    ]
    np.testing.assert_allclose(runs[0].rows, runs[1].rows, atol=2e-6)


def test_it_is_the_default_without_the_native_core_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solver_module, "core", None)
    default_solver.cache_clear()
    with pytest.warns(UserWarning, match=r"without its native core.*`sundae`.*libsundials-dev"):
        assert default_solver() == "sundae"
    assert default_solver() == "sundae"  # once told is enough
    default_solver.cache_clear()


class Pendulum(ac.Component):
    """Index 3; on its way down x is the better state, further on y."""

    g, bumps = ac.Parameter(9.81), ac.Discrete(0.0)
    x, y = ac.Variable(start=0.8, fixed=True), ac.Variable(start=-0.6)
    u, v, F = ac.Variable(start=0.0, fixed=True), ac.Variable(), ac.Variable()

    def equations(self):
        yield ac.der(self.x) == self.u
        yield ac.der(self.y) == self.v
        yield ac.der(self.u) == -self.F * self.x
        yield ac.der(self.v) == -self.F * self.y - self.g
        yield self.x**2 + self.y**2 == 1.0


class Bumped(Pendulum):
    """A wall at x = -0.5 gives back the velocity, whichever of u and v is a state."""

    def events(self):
        hit = self.x < -0.5
        yield ac.when(hit, ac.reinit(self.u, -self.u), ac.assign(self.bumps, ac.pre(self.bumps) + 1.0))


@pytest.mark.parametrize("component", [Pendulum, Bumped])
def test_a_plug_in_exchanges_states_and_a_session_of_it_is_taken_back(component):
    model = ac.compile(component())
    native = model.simulate(1.5, points=4, rtol=1e-9)
    whole = model.simulate(1.5, points=4, solver="sundae")
    assert whole.outcome.ok and whole.statistics.state_exchanges >= 1
    np.testing.assert_allclose(whole["x"], native["x"], atol=1e-4)
    np.testing.assert_allclose(whole["x"] ** 2 + whole["y"] ** 2, 1.0, atol=1e-6)
    session = model.start(solver="sundae").advance(1.0)
    mark = session.save()
    first = session.advance(1.5)["x"]
    assert first == pytest.approx(float(native["x"][-1]), abs=1e-4)
    again = session.restore(mark).advance(1.5)["x"]
    assert again == pytest.approx(first, abs=1e-4)
    assert session.restore(mark).advance(1.5)["x"] == again  # the same each time


class Star(ac.Component):
    """Volumes of gas that meet at one node and come to rest: what would enter them there is the mixture of what hardly flows."""

    def __init__(self) -> None:
        medium = ac.media.ideal_gas(["N2", "O2"], mole=[0.79, 0.21])
        starts = zip((1.2e5, 3e5, 4.5e5, 2e5), (300.0, 320.0, 345.0, 310.0), strict=True)
        self.v = [fluid.Volume(1, V=0.01, medium=medium, p_start=p, T_start=T) for p, T in starts]
        self.o = [fluid.Orifice() for _ in self.v]

    def connections(self) -> Iterator[Any]:
        for volume, orifice in zip(self.v, self.o, strict=True):
            yield volume.ports[0], orifice.a
        yield tuple(orifice.b for orifice in self.o)


def test_algebraic_unknowns_that_states_leave_open_do_not_stop_a_run() -> None:
    model, asked = ac.compile(Star()), {"until": 2000.0, "points": 5, "rtol": 1e-8}
    ours, reference = (model.simulate(solver=solver, **asked) for solver in ("sundae", "ida"))
    assert ours.outcome.ok
    for k in range(4):
        assert ours[f"v[{k}].T"] == pytest.approx(reference[f"v[{k}].T"], rel=1e-6)
    total = sum(ours[f"v[{k}].U"] for k in range(4))
    assert total == pytest.approx(total[0], rel=1e-7)


class Geared(ac.Component):
    """A ramp as the position of an inertia, and one behind a gear: nothing is a state, and the angle moves at once and fast."""

    def __init__(self) -> None:
        self.ramp, self.position = signal.Ramp(height=2.0, duration=0.5, start_time=0.3), rotational.Position()
        self.gear, self.J1, self.J2 = rotational.IdealGear(ratio=3.0), rotational.Inertia(J=1.0), rotational.Inertia(J=2.0)

    def connections(self) -> Iterator[Any]:
        yield self.ramp.y, self.position.phi
        yield self.position.flange, self.J1.a
        yield self.J1.b, self.gear.a
        yield self.gear.b, self.J2.a


@pytest.mark.parametrize("rtol", [1e-6, 1e-9, 1e-11])
def test_what_moves_fast_after_an_event_begins_with_a_step_that_is_short_enough(rtol: float) -> None:
    result = ac.compile(Geared()).simulate(until=1.0, rtol=rtol, solver="sundae")
    assert result.outcome.ok and result["J2.phi"][-1] == pytest.approx(2.0 / 3, abs=10 * rtol)
    for told, sign in zip(result.diagnostics, (1, -1), strict=True):  # 4 rad/s, and a third of it behind the gear
        assert f"impulse:   position.flange.tau: {-sign * 4.0 * (1 + 2 / 9):.6g} (its unit times a second)" in told.details
