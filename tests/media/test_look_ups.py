"""One look-up for each distinct state: in residuals, the Jacobian, explicit variables, and between connected components."""

from __future__ import annotations

import ctypes
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import acausal as ac
from acausal.media.functions import KINDS, look_ups

core = pytest.importorskip("acausal._core")


class Volume(ac.Component):
    a, b = ac.FluidPort(), ac.FluidPort()
    p = ac.Variable(unit="Pa", nominal=1e5, start=6e5, fixed=True)
    h = ac.Variable(unit="J/kg", nominal=1e5, start=3e5, fixed=True)
    M = ac.Variable(unit="kg", nominal=0.1, state="prefer")
    U = ac.Variable(unit="J", nominal=1e4, state="prefer")
    T = ac.Variable(unit="K", nominal=100.0)
    Q = ac.Variable(unit="W", nominal=1000.0)

    def __init__(self, phase: str | None = "any") -> None:
        self.phase = phase

    def equations(self) -> Any:
        state = self.medium.state(p=self.p, h=self.h, phase=self.phase)
        yield self.M == 1e-3 * state.rho
        yield self.U == self.M * self.h - self.p * 1e-3
        yield self.T == state.T
        yield self.Q == 50.0 * (300.0 - self.T)
        yield ac.der(self.M) == self.a.m_flow + self.b.m_flow
        yield ac.der(self.U) == self.a.m_flow * self.a.h.actual + self.b.m_flow * self.b.h.actual + self.Q
        for port in (self.a, self.b):
            yield port.p == self.p
            yield port.h.outflow == self.h


class Orifice(ac.Component):
    """Its density is that of the volume upstream, looked up at the same pressure and enthalpy."""

    a, b = ac.FluidPort(), ac.FluidPort()
    rho = ac.Variable(unit="kg/m^3", nominal=10.0)

    def equations(self) -> Any:
        yield self.rho == self.medium.state(p=self.a.p, h=self.a.h.inflow, phase="any").rho
        yield self.a.m_flow + self.b.m_flow == 0
        yield self.a.m_flow == 1e-9 * self.rho * (self.a.p - self.b.p)
        yield self.a.h.outflow == self.b.h.inflow
        yield self.b.h.outflow == self.a.h.inflow

    def events(self) -> Any:
        yield ac.crossing(self.rho - 55.5)


class Ring(ac.Component):
    def __init__(self, n: int) -> None:
        self.volumes = ac.array(Volume, n, medium="R134a", p=ac.start(6e5 + 1e4 * np.arange(n), fixed=True))
        self.orifices = ac.array(Orifice, n)

    def connections(self) -> Any:
        yield self.volumes.b, self.orifices.a
        yield self.orifices[:-1].b, self.volumes[1:].a
        yield self.orifices[-1].b, self.volumes[0].a


@pytest.mark.parametrize("n", [6, 400])
def test_as_many_look_ups_as_distinct_states(n: int) -> None:
    model = ac.compile(Ring(n))
    problem = model.problem
    rng = np.random.default_rng(1)
    first = model.simulate(until=1e-3)
    assert first.outcome
    y, yp = problem.start.copy(), np.zeros(problem.size)
    names = [problem.name_of_unknown(i) for i in range(problem.size)]
    for i, name in enumerate(names):
        y[i] = 6e5 if name.endswith(".p") else 3e5 if name.endswith(".h") else y[i]
    for _ in range(200):  # until the cache has grown to the plant
        problem.residual(0.0, y * (1 + 1e-3 * rng.random(problem.size)), yp)
    moved = y * (1 + 1e-3 * rng.random(problem.size))
    look_ups()
    problem.residual(0.0, moved, yp)
    calls, found = look_ups()["state"]
    problem.jacobian(0.0, moved, yp, 1.0)
    more_calls, more = look_ups()["state"]
    assert found == n and calls >= 2 * n  # a volume's state is that of the orifice behind it
    assert more == 0 and more_calls >= n  # the Jacobian takes its derivatives from the same look-ups


class Bottle(ac.Component):
    """Volumes whose phase is a relation, each on its own."""

    def __init__(self, n: int) -> None:
        h = ac.start(np.linspace(2.5e5, 4.2e5, n), fixed=True)  # liquid, two phases and vapour
        self.volumes = ac.array(Volume, n, None, medium="R134a", h=h)


@pytest.mark.filterwarnings("ignore::acausal.ModelWarning")
def test_a_run_looks_up_each_state_of_its_residuals_once() -> None:
    """Borders between phases are looked up where relations are watched: at the end of a step, and close to it for their slope."""
    n = 40
    model = ac.compile(Bottle(n))
    model.simulate(until=1.0)
    look_ups()
    result = model.simulate(until=200.0)
    counts, statistics = look_ups(), result.statistics
    start = 30  # evaluations that are no residuals of the integration: initialisation, events, stored rows
    residuals, events = statistics["residual_evaluations"], len(result.events)
    assert result.outcome and residuals > 100 and events > 0
    assert counts["state"][1] <= n * (residuals + start + len(result.time) + 3 * events)
    assert counts["borders"][1] <= n * (2 * statistics["steps"] + start + 3 * events)
    assert counts["saturation"] == (0, 0)


def test_borders_are_taken_from_saturation_that_was_looked_up() -> None:
    fluid = ac.media.fluid("R134a")
    call = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
    saturated, borders = (call(core.fluid_function_address(KINDS[kind].number, 1)) for kind in ("saturated", "borders"))
    found, p = np.empty((2, 64)), np.array([3.456789e5])
    look_ups()
    saturated(fluid.native.address, p.ctypes.data, found[0].ctypes.data)
    borders(fluid.native.address, p.ctypes.data, found[1].ctypes.data)
    counts = look_ups()
    assert counts["saturated"] == (1, 1) and counts["borders"] == (1, 0)
    assert found[1, :4].tolist() == found[0, [0, 1, 10, 11]].tolist()


def test_what_is_kept_is_what_was_computed() -> None:
    fluid = ac.media.fluid("R134a")

    class Probe(ac.Component):
        p = ac.Input(1e6, unit="Pa")
        h = ac.Input(3e5, unit="J/kg")
        rho, T = ac.Variable(unit="kg/m^3"), ac.Variable(unit="K")

        def equations(self) -> Any:
            state = fluid.state(p=self.p, h=self.h, phase="any")
            yield self.rho == state.rho
            yield self.T == state.T

    times = np.linspace(0.0, 10.0, 41)
    result = ac.compile(Probe()).simulate(
        until=10.0, at=times, inputs={"p": lambda t: 1e6 + 1e4 * t, "h": lambda t: 3e5 + 1e4 * np.sin(t)}
    )
    state = fluid.state(p=1e6 + 1e4 * times, h=3e5 + 1e4 * np.sin(times))
    np.testing.assert_array_equal(result["rho"], state.rho)
    np.testing.assert_array_equal(result["T"], state.T)


@pytest.mark.parametrize("order", [1, 2])
def test_what_was_asked_for_before_does_not_show(order: int) -> None:
    """What depends on pressure alone is kept from one look-up to the next: the same bits, whoever asked first."""
    fluids = [ac.media.fluid(name) for name in ("R134a", "Propane")]
    rng = np.random.default_rng(7)
    low, high = 0.8 * min(fluid.p_min for fluid in fluids), max(fluid.p_max for fluid in fluids)
    questions: list[Any] = []
    for p in np.exp(rng.uniform(np.log(low), np.log(high), 40)):
        for fluid in fluids:
            hl = float(fluid.saturation(p=min(max(p, fluid.p_min), 0.999 * fluid.p_critical)).liquid.h)
            for beyond in (-4e4, 1.0, 5e4, 2.5e5):
                questions += [(fluid, kind, (p, hl + beyond, 2.0)) for kind in ("state", "more", "bordered")]
                questions.append((fluid, "h_ps", (p, 1500.0 + beyond / 300.0, 0.0)))
            questions += [(fluid, kind, (p, 0.0, 0.0)) for kind in ("saturated", "saturation", "saturation_more", "borders")]
    call = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)

    def answers(asked: Any) -> dict[int, bytes]:
        found = {}
        for k in asked:
            fluid, kind, x = questions[k]
            out, at = np.zeros(64), np.array(x)
            call(core.fluid_function_address(KINDS[kind].number, order))(fluid.native.address, at.ctypes.data, out.ctypes.data)
            found[k] = out.tobytes()
        return found

    def on_a_thread_of_its_own(asked: Any) -> dict[int, bytes]:
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(answers, asked).result()

    straight = on_a_thread_of_its_own(range(len(questions)))
    for _ in range(3):
        assert on_a_thread_of_its_own(rng.permutation(len(questions)).tolist()) == straight
    for k in rng.integers(len(questions), size=60).tolist():
        assert on_a_thread_of_its_own([k])[k] == straight[k]
