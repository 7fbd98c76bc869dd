"""Cases that are advanced in one solve give the table of cases that are run one by one."""

from __future__ import annotations

import os
import signal
import threading
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import acausal as ac
from acausal.studies import case_run, together

from .plants import Decay, Fragile


class Net(ac.Component):
    """n' = -A n + something bent, with an algebraic loop, explicit variables and a function of time; drawn at random."""

    def __init__(self, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        self.size = int(rng.integers(1, 6))
        self.links = rng.normal(size=(self.size, self.size)) / self.size
        self.rates = ac.Parameter(rng.uniform(0.5, 5.0, self.size), shape=self.size)
        self.drive, self.bend = ac.Input(0.3), ac.Parameter(0.2)
        self.x = ac.Variable(shape=self.size, start=rng.uniform(-1, 1, self.size), fixed=True)
        self.z, self.flow = ac.Variable(start=0.1), ac.Variable(shape=self.size)
        self.loop, self.wave = bool(rng.integers(2)), bool(rng.integers(2))

    def equations(self) -> Any:
        yield self.z + (self.bend * self.z**3 if self.loop else 0.0) == self.x[0] + self.drive
        for k in range(self.size):
            others = sum((float(self.links[k, j]) * ac.tanh(self.x[j]) for j in range(self.size)), start=0.0)
            yield self.flow[k] == self.rates[k] * (self.z - self.x[k]) + others
            yield ac.der(self.x[k]) == self.flow[k] - self.x[k] + (ac.sin(3 * ac.time) if self.wave else 0.0)


@given(seed=st.integers(0, 10**6))
@settings(max_examples=5, deadline=None, phases=[Phase.generate])
def test_random_models_together_and_one_by_one(seed: int) -> None:
    model, rng = ac.compile(Net(seed)), np.random.default_rng(seed)
    cases = {
        "rates[0]": rng.uniform(0.5, 20.0, 70).tolist(),
        "bend": rng.uniform(0.0, 1.0, 70).tolist(),
        "drive": rng.uniform(-1.0, 1.0, 70).tolist(),
        "x[0]": rng.uniform(-1.0, 1.0, 70).tolist(),
    }
    outputs = ["z", ac.max("flow[0]"), ac.mean("x[0]"), "der(x[0])"]
    alone = model.study(cases, outputs, until=4.0, rtol=1e-9, together=False)
    grouped = model.study(cases, outputs, until=4.0, rtol=1e-9, together=True, executor="serial")
    assert alone.ok.all() and grouped.ok.all()
    np.testing.assert_allclose(grouped.rows.values, alone.rows.values, rtol=2e-6, atol=2e-7)


@pytest.fixture(scope="module")
def decay() -> ac.Model:
    return ac.compile(Decay())


def test_many_small_cases_go_together_by_themselves(decay: ac.Model, monkeypatch: pytest.MonkeyPatch) -> None:
    k = np.linspace(0.1, 3.0, 130)
    called = []
    solved = together.Together._solved
    monkeypatch.setattr(
        together.Together, "_solved", lambda self, members, stop: called.append(len(members)) or solved(self, members, stop)
    )
    study = decay.study({"k": k.tolist()}, ["x", ac.mean("x")], until=2.0, rtol=1e-8, executor="serial")
    assert called == [64, 64, 2]
    np.testing.assert_allclose(study["x"], np.exp(-2 * k), rtol=0, atol=1e-7)  # the nominal value is 1
    np.testing.assert_allclose(study["mean x"], (1 - np.exp(-2 * k)) / (2 * k), rtol=1e-6)
    decay.study({"k": k[:63].tolist()}, "x", until=2.0)
    decay.study({"k": k.tolist()}, lambda r: r["x"][-1], until=2.0)
    decay.study({"k": k.tolist()}, "x", until=2.0, together=False)
    decay.study({"k": k.tolist()}, "x", until=2.0, each_from="previous")
    assert called == [64, 64, 2]


def test_a_case_that_fails_leaves_the_others() -> None:
    model, r = ac.compile(Fragile()), np.linspace(0.1, 0.5, 70)
    r[13], r[40] = 3.0, 1.5  # these go to infinity before the end
    study = model.study({"r": r.tolist()}, "x", until=1.0, rtol=1e-8, together=True)
    assert np.flatnonzero(~study.ok).tolist() == [13, 40]
    assert study.rows[13].reached == pytest.approx(1 / 3.0, rel=1e-3)
    np.testing.assert_allclose(study["x"][study.ok], 1 / (1 - r[study.ok]), rtol=1e-6)


class Runaway(ac.Component):
    k = ac.Parameter(1.0)
    x = ac.Variable(start=1.0, fixed=True)

    def equations(self) -> Any:
        yield ac.der(self.x) == self.k * self.x**2


def test_a_case_in_which_time_no_longer_moves_leaves_the_others() -> None:
    rates = np.array([0.1, 0.2, 0.7, 0.3, -1.0])
    table = ac.study(ac.compile(Runaway()), {"k": rates}, "x", until=2.0, together=True, executor="serial", rtol=1e-8)
    assert table.ok.tolist() == [True, True, False, True, True]
    np.testing.assert_allclose(table["x"][table.ok], (1 / (1 - 2 * rates))[table.ok], rtol=1e-5)


def test_values_out_of_range_and_corners_are_run_by_themselves(decay: ac.Model, monkeypatch: pytest.MonkeyPatch) -> None:
    alone = []
    run_case = case_run.run_case
    monkeypatch.setattr(case_run, "run_case", lambda job, number, *rest: alone.append(number) or run_case(job, number, *rest))
    cases = {"k": [1.0, -1.0, 2.0, 3.0], "u": [0.0, 0.0, 1.0, 0.5]}
    study = decay.study(cases, "x", until=1.0, rtol=1e-9, together=True, executor="serial")
    assert alone == [1] and study.ok.tolist() == [True, False, True, True]
    exact = [np.exp(-1), 1.0, 0.5 + 0.5 * np.exp(-3)]
    np.testing.assert_allclose(study["x"][study.ok], exact, rtol=1e-7)
    step = {"inputs": {"u": ac.hold([0.0, 0.5], [0.0, 1.0])}}
    study = decay.study({"k": [1.0, 2.0]}, "x", until=1.0, rtol=1e-9, together=True, executor="serial", **step)
    assert alone == [1, 0, 1]
    k = np.array([1.0, 2.0])
    np.testing.assert_allclose(study["x"], 1 + (np.exp(-k / 2) - 1) * np.exp(-k / 2), rtol=1e-7)


def test_functions_of_time_are_each_cases_own(decay: ac.Model) -> None:
    def wave(t: float) -> float:
        return float(np.sin(t))

    k = np.linspace(0.5, 2.0, 5)
    study = decay.study({"k": k.tolist()}, "x", until=2.0, rtol=1e-9, together=True, inputs={"u": wave})
    alone = decay.study({"k": k.tolist()}, "x", until=2.0, rtol=1e-9, together=False, inputs={"u": wave})
    np.testing.assert_allclose(study["x"], alone["x"], rtol=1e-7)


@pytest.mark.parametrize("left", [1, 63, 64, 100])
def test_continued_the_table_is_the_same_to_the_bit(decay: ac.Model, tmp_path: Any, left: int) -> None:
    def study(folder: Any) -> Any:
        cases = ac.draws({"k": ac.uniform(0.1, 3.0)}, 150, seed=2)
        return decay.study(cases, ["x", ac.mean("x")], until=1.0, keep=folder, together=True)

    whole = study(tmp_path / "whole")
    study(tmp_path / "parts")
    rows = tmp_path / "parts" / "rows.jsonl"
    rows.write_bytes(b"".join(sorted(rows.read_bytes().splitlines(keepends=True))[left:]))
    again = study(tmp_path / "parts")
    np.testing.assert_array_equal(again.rows.values, whole.rows.values)


def test_processes_go_together_too(decay: ac.Model) -> None:
    k = np.linspace(0.1, 3.0, 70)
    study = decay.study({"k": k.tolist()}, "x", until=2.0, rtol=1e-8, together=True, executor="processes", workers=1)
    np.testing.assert_allclose(study["x"], np.exp(-2 * k), rtol=0, atol=1e-7)  # the nominal value is 1


def test_ctrl_c_ends_a_study_and_is_not_taken_for_a_case_that_fails(decay: ac.Model) -> None:
    calls = []

    def pressed(t: float) -> float:
        calls.append(t)
        if len(calls) == 200:
            signal.raise_signal(signal.SIGINT)
        return float(np.sin(t))

    with pytest.raises(KeyboardInterrupt):
        decay.study({"k": [1.0, 2.0, 3.0]}, "x", until=1e4, together=True, executor="serial", inputs={"u": pressed})
    assert len(calls) < 2000


@pytest.mark.parametrize("together", [True, False])
def test_ctrl_c_ends_what_runs_in_threads(decay: ac.Model, together: bool) -> None:
    """It comes to the main thread; runs that would take hours end where they are."""
    begun = threading.Event()

    def pressed(t: float) -> float:
        if t > 10.0 and not begun.is_set():
            begun.set()
            os.kill(os.getpid(), signal.SIGINT)
        return float(np.sin(t))

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell that runs tests in the background has it ignored
    try:
        with pytest.raises(KeyboardInterrupt):
            decay.study({"k": [1.0] * 64}, "x", until=1e12, together=together, inputs={"u": pressed}, points=2)
    finally:
        signal.signal(signal.SIGINT, before)
    assert begun.is_set()


class Geared(ac.Component):
    """Two inertias on one gear and a spring: (J1 + J2 / r²) a'' + c a / r² = u."""

    J1, J2, r, c = ac.Parameter(1.0), ac.Parameter(2.0), ac.Parameter(3.0), ac.Parameter(20.0)
    u = ac.Input(0.0)
    a, wa = ac.Variable(start=0.5, fixed=True), ac.Variable(start=0.0, fixed=True)
    b, wb, M = ac.Variable(), ac.Variable(), ac.Variable()

    def equations(self) -> Any:
        yield ac.der(self.a) == self.wa
        yield ac.der(self.b) == self.wb
        yield self.J1 * ac.der(self.wa) == self.u + self.M
        yield self.J2 * ac.der(self.wb) == -self.c * self.b - self.r * self.M
        yield self.a == self.r * self.b


def test_reduced_systems_go_together(monkeypatch: pytest.MonkeyPatch) -> None:
    model, J = ac.compile(Geared()), np.linspace(0.5, 2.0, 7)
    alone = model.study({"J1": J.tolist()}, ["a", "M"], until=5.0, rtol=1e-9, together=False)
    monkeypatch.setattr(case_run.Job, "solve", None)  # nobody is run by himself
    study = model.study({"J1": J.tolist()}, ["a", "M"], until=5.0, rtol=1e-9, together=True, executor="serial")
    np.testing.assert_allclose(study["a"], 0.5 * np.cos(5.0 * np.sqrt(20.0 / (9 * J + 2))), atol=1e-7)
    np.testing.assert_allclose(study["M"], alone["M"], atol=1e-6)


def test_measured_inputs_go_together(monkeypatch: pytest.MonkeyPatch, decay: ac.Model) -> None:
    """The answer from corner to corner is a line and what is left of the former one."""
    times, values, k = np.array([0.0, 0.4, 0.5, 2.0]), np.array([0.0, 2.0, -1.0, 1.0]), np.linspace(0.5, 3.0, 9)
    x = np.ones(9)
    for width, u, slope in zip(np.diff(times), values, np.diff(values) / np.diff(times), strict=False):
        line = u - slope / k
        x = line + slope * width + (x - line) * np.exp(-k * width)
    monkeypatch.setattr(case_run.Job, "solve", None)
    study = decay.study(
        {"k": k.tolist()}, "x", until=2.0, rtol=1e-9, together=True, inputs={"u": (times, values)}, executor="serial"
    )
    np.testing.assert_allclose(study["x"], x, atol=1e-7)


class Pendulum(ac.Component):
    k = ac.Parameter(1.0)
    x, y, vx, vy = ac.Variable(start=1.0, fixed=True), ac.Variable(start=0.0), ac.Variable(start=0.0, fixed=True), ac.Variable()
    F = ac.Variable()

    def equations(self) -> Any:
        yield ac.der(self.x) == self.vx
        yield ac.der(self.y) == self.vy
        yield ac.der(self.vx) == -self.F * self.x
        yield ac.der(self.vy) == -self.F * self.y - 9.81 * self.k
        yield self.x**2 + self.y**2 == 1.0


class Switching(Decay):
    def equations(self) -> Any:
        yield ac.der(self.x) == -self.k * ac.where(self.x > 0.5, 1.0, 2.0)


@pytest.mark.parametrize(
    ("component", "options", "said"),
    [
        (Switching, {}, "the model has events"),
        (Pendulum, {}, "may be exchanged on the way"),
        (Decay, {"each_from": "previous"}, "begin by themselves"),
        (Decay, {"solver": "sundae"}, "the solver is `sundae`"),
        (Decay, {"failures": {"k": (0.5, 0.0)}}, "`failures` is asked for"),
        (Decay, {"together": "yes"}, "`together` is True, False"),
    ],
)
def test_what_cannot_go_together_is_said(component: type, options: Any, said: str) -> None:
    with pytest.raises(ac.AcausalError, match=said):
        ac.compile(component()).study({"k": [1.0, 2.0]}, "x", until=1.0, **{"together": True, **options})
