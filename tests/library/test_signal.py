"""Signal blocks against their step responses and against scipy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import acausal as ac
from acausal.errors import ModelError, UsageError
from acausal.library import signal as sg


def test_sources(wired: Any, run: Any, agrees: Any) -> None:
    plant = wired(
        constant=sg.Constant(k=3.0), sine=sg.Sine(amplitude=2.0, f=0.5, phase=0.3, offset=1.0),
        ramp=sg.Ramp(height=4.0, duration=2.0, offset=-1.0, start_time=1.0), step=sg.Step(height=2.0, offset=0.5, start_time=2.0),
    )  # fmt: skip
    times = np.array([0.0, 0.5, 1.0, 1.7, 1.99, 2.01, 3.0, 4.0])
    for t in times:  # each on its own: a corner or a jump between two points is not interpolated over
        at = ac.compile(plant).steady_state(at=t)
        assert at["constant.y"][0] == 3.0
        assert at["sine.y"][0] == pytest.approx(1.0 + 2.0 * np.sin(np.pi * t + 0.3), rel=1e-12)
        assert at["ramp.y"][0] == pytest.approx(-1.0 + 2.0 * np.clip(t - 1.0, 0.0, 2.0), abs=1e-12)
        assert at["step.y"][0] == (2.5 if t >= 2 else 0.5)


def test_a_step_is_hit_exactly(wired: Any, run: Any, agrees: Any) -> None:
    result = run(wired("step.y lag.u", step=sg.Step(start_time=1.0), lag=sg.FirstOrder(T=0.5)), 3.0)
    agrees(result["lag.y"], np.where(result.time > 1, 1 - np.exp(-np.maximum(result.time - 1, 0) / 0.5), 0.0))
    assert result.events.times.tolist() == [1.0]


def test_corners_of_periodic_sources_are_hit_to_the_last_digit(wired: Any, run: Any) -> None:
    plant = wired(
        "pulse.y lag.u", lag=sg.FirstOrder(), pulse=sg.Pulse(amplitude=2.0, offset=-1.0, period=0.3, width=0.4, start_time=0.1),
        flag=sg.BooleanPulse(period=0.7, width=0.1, start_time=0.2), saw=sg.SawTooth(amplitude=3.0, period=0.33, start_time=0.05),
        ramp=sg.Ramp(height=2.0, duration=0.35, start_time=0.14), step=sg.Step(start_time=0.77),
    )  # fmt: skip
    result = run(plant, 1.0)
    pulses, flags, teeth = (0.1, 0.4, 0.7, 1.0), (0.2, 0.9), (0.05, 0.38, 0.71)
    corners = {
        *pulses,
        *(t + 0.4 * 0.3 for t in pulses[:3]),
        *flags,
        *(t + 0.1 * 0.7 for t in flags),
        *teeth,
        0.14,
        0.14 + 0.35,
        0.77,
    }
    assert result.events.times.tolist() == sorted(corners)
    t = result.time
    between = np.abs(t[:, None] - np.array(sorted(corners))).min(axis=1) > 1e-12
    inside = np.any([(t > p) & (t < p + 0.12) for p in pulses], axis=0)
    assert np.array_equal(result["pulse.y"][between], np.where(inside, 1.0, -1.0)[between])
    raised = np.any([(t > p) & (t < p + 0.07) for p in flags], axis=0)
    assert np.array_equal(result["flag.y"][between], raised[between])
    np.testing.assert_allclose(
        result["saw.y"][between], np.where(t < 0.05, 0.0, 3.0 * ((t - 0.05) % 0.33) / 0.33)[between], atol=1e-12
    )
    np.testing.assert_allclose(result["ramp.y"], 2.0 * np.clip((t - 0.14) / 0.35, 0.0, 1.0), atol=1e-14)


def test_a_periodic_source_may_have_begun_before_the_start(wired: Any, run: Any) -> None:
    result = run(wired("pulse.y lag.u", lag=sg.FirstOrder(), pulse=sg.Pulse(period=1.0, start_time=-0.25)), 1.0)
    assert result["pulse.y"][0] == 1.0
    np.testing.assert_allclose(result.events.times, [0.25, 0.75], rtol=1e-15)


def test_hysteresis_and_two_point_control(wired: Any, run: Any, agrees: Any) -> None:
    """A sine through both: the one goes on above `high`, the other below its band."""
    plant = wired(
        "sine.y band.u control.u lag.u", "band.y negation.u", "wish.y control.reference", sine=sg.Sine(f=1.0), lag=sg.FirstOrder(),
        band=sg.Hysteresis(low=-0.3, high=0.6), negation=sg.Not(), control=sg.OnOffController(bandwidth=0.4),
        wish=sg.Constant(k=0.1),
    )  # fmt: skip
    result = run(plant, 2.0)
    up, down = np.arcsin(0.6) / (2 * np.pi), 0.5 + np.arcsin(0.3) / (2 * np.pi)
    below, above = 0.5 + np.arcsin(0.1) / (2 * np.pi), np.arcsin(0.3) / (2 * np.pi)
    agrees(result.events.times, np.sort([above + 1, *(k + t for k in (0, 1) for t in (up, down, below))]), reached=1e-9)
    t = result.time
    between = np.abs(t[:, None] - result.events.times).min(axis=1) > 1e-9
    on = (t % 1 > up) & (t % 1 < down)
    assert np.array_equal(result["band.y"][between], on[between])
    assert np.array_equal(result["negation.y"][between], ~on[between])
    assert np.array_equal(result["control.y"][between], ((t % 1 > below) | ((t >= 1) & (t % 1 < above)))[between])


def test_a_time_table_passes_through_its_points(wired: Any) -> None:
    times, values = [0.0, 1.0, 3.0, 4.0], [0.0, 2.0, 2.0, -1.0]
    model = ac.compile(wired(smooth=sg.TimeTable(times, values), straight=sg.TimeTable(times, values, method="linear")))
    for t, value in zip(times, values, strict=True):
        point = model.steady_state(at=t)
        assert point["smooth.y"][0] == pytest.approx(value, abs=1e-14)
        assert point["straight.y"][0] == pytest.approx(value, abs=1e-14)
    assert model.steady_state(at=3.5)["straight.y"][0] == pytest.approx(0.5)
    assert model.steady_state(at=9.0)["smooth.y"][0] == -1.0


def test_arithmetic(wired: Any) -> None:
    plant = wired(
        "a.y gain.u add.u1 sum.u[0] product.u1 limiter.u table.u map.u1", "b.y add.u2 sum.u[1] product.u2 map.u2",
        a=sg.Constant(k=3.0), b=sg.Constant(k=-5.0), gain=sg.Gain(k=2.0), add=sg.Add(k1=2.0, k2=-1.0),
        sum=sg.Sum(3, k=[1.0, 10.0, 100.0]),
        product=sg.Product(), limiter=sg.Limiter(y_max=2.0), table=sg.TableBlock(ac.Table([0.0, 3.0, 4.0], [1.0, 7.0, 2.0])),
        map=sg.TableBlock2D(ac.Table2D([0.0, 3.0], [-5.0, 0.0], [[1.0, 2.0], [3.0, 4.0]])),
    )  # fmt: skip
    point = ac.compile(plant).steady_state(inputs={"sum.u[2]": 0.5})
    wanted = {"gain": 6.0, "add": 11.0, "sum": 3.0 - 50.0 + 50.0, "product": -15.0, "limiter": 2.0, "table": 7.0, "map": 3.0}
    for name, value in wanted.items():
        assert point[f"{name}.y"][0] == pytest.approx(value, abs=1e-12), name


def test_a_limiter_is_symmetric_unless_told_otherwise(wired: Any) -> None:
    model = ac.compile(wired(even=sg.Limiter(y_max=2.0), odd=sg.Limiter(y_max=2.0, y_min=-1.0)))
    for u in (-3.0, -1.5, 0.7, 5.0):
        point = model.steady_state(inputs={"even.u": u, "odd.u": u})
        assert point["even.y"][0] == np.clip(u, -2.0, 2.0)
        assert point["odd.y"][0] == np.clip(u, -1.0, 2.0)


def test_step_responses(wired: Any, run: Any, agrees: Any) -> None:
    w, D = 3.0, 0.2
    plant = wired(
        "one.y integrator.u lag.u second.u pi.u pid.u rate.u",
        one=sg.Constant(k=2.0), integrator=sg.Integrator(k=0.5, y=ac.start(1.0)),
        lag=sg.FirstOrder(k=3.0, T=0.7), second=sg.SecondOrder(k=1.5, w=w, D=D), pi=sg.PI(k=4.0, T=0.5),
        pid=sg.PID(k=2.0, Ti=0.8, Td=0.3, Nd=5.0), rate=sg.Derivative(k=1.0, T=0.2),
    )  # fmt: skip
    result = run(plant, 3.0)
    t, damped = result.time, w * np.sqrt(1 - D**2)
    agrees(result["integrator.y"], 1.0 + t)
    agrees(result["lag.y"], 6.0 * (1 - np.exp(-t / 0.7)))
    agrees(
        result["second.y"],
        3.0 * (1 - np.exp(-D * w * t) * (np.cos(damped * t) + D * w / damped * np.sin(damped * t))),
        reached=5e-6,
    )
    agrees(result["pi.y"], 8.0 * (1 + t / 0.5))
    agrees(result["pid.y"], 4.0 * (1 + t / 0.8 + 5.0 * np.exp(-t * 5.0 / 0.3)), size=24.0)
    agrees(result["rate.y"], 10.0 * np.exp(-t / 0.2))


def test_a_pi_controlled_lag_settles_without_error(wired: Any, run: Any, agrees: Any) -> None:
    """k = 1, T = plant's time constant: the zero cancels the pole and the loop is a first-order lag of T/k."""
    loop = wired(
        "wish.y error.u1", "plant.y error.u2", "error.y control.u", "control.y plant.u",
        wish=sg.Constant(k=1.0), error=sg.Add(k2=-1.0), control=sg.PI(k=2.0, T=0.5), plant=sg.FirstOrder(T=0.5),
    )  # fmt: skip
    result = run(loop, 3.0)
    agrees(result["plant.y"], 1 - np.exp(-4.0 * result.time))


def test_a_limited_pi_leaves_its_limit_at_once(wired: Any, run: Any) -> None:
    """The error is 1 for 10 s, then -1: without the anti-windup term x would need as long to come back."""
    plant = wired(
        "error.y control.u", error=sg.TimeTable([0, 10, 10.01, 20], [1, 1, -1, -1], method="linear"), control=sg.LimitedPI(k=0.5)
    )
    result = run(plant, 20.0, rtol=1e-6)
    y = result["control.y"]
    assert y.min() >= -1e-5 and y.max() <= 1 + 1e-5
    assert np.all(y[(result.time > 2) & (result.time < 9.9)] > 1 - 1e-5)
    assert np.all(y[result.time > 12] < 1e-5)


def test_a_transfer_function_responds_as_scipy_says(wired: Any, run: Any, agrees: Any) -> None:
    from scipy.signal import TransferFunction, step

    cases = {"strictly": ([2.0, 1.0], [1.0, 3.0, 2.0]), "proper": ([1.0, 0.0, 2.0], [0.5, 1.0, 3.0]), "first": ([4.0], [2.0, 1.0])}
    plant = wired("one.y strictly.u proper.u first.u", one=sg.Constant(), **{k: sg.TransferFunction(*v) for k, v in cases.items()})
    result = run(plant, 5.0)
    for name, (b, a) in cases.items():
        _, wanted = step(TransferFunction(b, a), T=result.time)
        agrees(result[f"{name}.y"], wanted)


def test_a_state_space_model_responds_as_the_matrix_exponential_says(run: Any, agrees: Any) -> None:
    from scipy.linalg import expm

    A, B = np.array([[0.0, 1.0], [-4.0, -0.5]]), np.array([[0.0, 1.0], [1.0, 0.0]])
    C, D = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), np.array([[0.0, 0.0], [0.0, 0.0], [2.0, 0.0]])
    u = np.array([1.0, -0.5])
    result = run(sg.StateSpace(A, B, C, D), 3.0, points=31, inputs={"u[0]": 1.0, "u[1]": -0.5})
    for t, y in zip(result.time, result["y"], strict=True):
        agrees(y, C @ (expm(A * t) - np.eye(2)) @ np.linalg.solve(A, B @ u) + D @ u, size=1.0)


def test_matrices_that_do_not_fit_are_refused() -> None:
    with pytest.raises(UsageError, match=r"B has the shape \(1, 1\)"):
        sg.StateSpace([[0, 1], [-1, 0]], [[1]], [[1, 0]])
    with pytest.raises(UsageError, match="not a proper one"):
        sg.TransferFunction([1.0, 2.0, 3.0], [1.0, 1.0])


def test_two_outputs_at_one_input_are_refused(wired: Any) -> None:
    with pytest.raises(ModelError, match="two values"):
        ac.compile(wired("a.y gain.u b.y", a=sg.Constant(), b=sg.Constant(k=2.0), gain=sg.Gain()))


def test_a_dead_time() -> None:
    class Late(ac.Component):
        def __init__(self) -> None:
            self.source, self.delay = sg.Sine(amplitude=2.0, f=0.5), sg.Delay(T=0.75)

        def connections(self) -> Any:
            yield self.source.y, self.delay.u

    result = ac.compile(Late()).simulate(4.0)
    late = np.maximum(result["time"] - 0.75, 0.0)
    np.testing.assert_allclose(result["delay.y"], 2.0 * np.sin(np.pi * late), atol=1e-5)
