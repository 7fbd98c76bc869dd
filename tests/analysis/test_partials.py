"""Partial derivatives are exact: against differences for every component of the library and every example, and by name."""

from __future__ import annotations

import runpy
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from library.test_catalogue import CLASSES
from plants import Capacitor, Ground, Inductor, Resistor, VoltageSource
from test_examples import SCRIPTS

import acausal as ac
from acausal.library import refrigeration, signal, system_dynamics
from benchmarks.derivatives import of_component, of_model

MADE = {
    system_dynamics.Graph: lambda: system_dynamics.Graph([-1.0, 1.0, 3.0], [0.0, 1.0, 2.0]),
    signal.TimeTable: lambda: signal.TimeTable([0.0, 1.0, 2.0], [0.0, 1.0, 4.0]),
    signal.TableBlock: lambda: signal.TableBlock(ac.Table([-1.0, 1.0, 3.0], [0.0, 1.0, 2.0], name="curve")),
    signal.TableBlock2D: lambda: signal.TableBlock2D(ac.Table2D([-1.0, 2.0], [-1.0, 1.5], [[0.0, 1.0], [2.0, 5.0]], name="field")),
    refrigeration.MapCompressor: lambda: refrigeration.MapCompressor([0.01, 3e-4] + 8 * [0.0], [400.0, 0.0, 5.0] + 7 * [0.0]),
    signal.StateSpace: lambda: signal.StateSpace([[0.0, 1.0], [-2.0, -3.0]], [[0.0], [1.0]], [[1.0, 0.0]]),
}
# Of these plants, which run for long, the model alone is looked at.
LONG = {
    "attemperator", "car_air_conditioner", "co2_accumulator", "cold_store", "heat_pump", "hot_water_network", "house_year",
    "pressure_wave", "supermarket", "transcritical_co2",
}  # fmt: skip


class EnoughError(Exception):
    """The model is there; what the script does with it is nothing to us."""


COMPONENTS = [c for c in CLASSES if issubclass(c, ac.Component) and not c._class_abstract]


@pytest.mark.parametrize("component", COMPONENTS, ids=lambda c: f"{c.__module__.rpartition('.')[2]}.{c.__name__}")
def test_every_component_of_the_library(component: type) -> None:
    made = MADE.get(component, component)()
    for place, medium in component._class_media.items():
        if medium.default is None:
            setattr(made, place, "R134a")
    assert of_component(made) <= 1e-6


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda p: p.stem)
def test_every_example(script: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    models, original = [], ac.compile

    def recorded(*args: Any, **options: Any) -> Any:
        models.append(original(*args, **options))
        if script.stem in LONG:
            raise EnoughError
        return models[-1]

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["example"])
    monkeypatch.setattr(ac, "compile", recorded)
    with suppress(EnoughError):
        runpy.run_path(str(script), run_name="__main__")
    for model in models[:3]:
        assert of_model(model, 0.5) <= 1e-6


class Circuit(ac.Component):
    """`L` is bound to a time constant, `C` through another binding to it."""

    tau = ac.Parameter(0.5, unit="s")
    damping = ac.Parameter(0.1)

    def __init__(self) -> None:
        self.source, self.ground = VoltageSource(V=2.0), Ground()
        self.R = Resistor(R=3.0)
        self.L = Inductor(L=self.tau * self.R.R)
        self.C = Capacitor(C=self.damping * self.L.L)

    def equations(self) -> Any:
        self.power = ac.named(self.R.v * self.R.p.i, unit="W")
        self.total = ac.named(self.L.v + self.C.v)
        yield from ()

    def connections(self) -> Any:
        yield self.source.p, self.R.p
        yield self.R.n, self.L.p
        yield self.L.n, self.C.p
        yield [self.C.n, self.source.n, self.ground.p]


def test_bound_parameters_are_followed() -> None:
    """F of the inductor is v - L i' up to sign, with L = tau R; that of the capacitor i - C v' with C = damping tau R."""
    model = ac.compile(Circuit())
    result = model.simulate(until=0.3)
    found = model.partials(at=result)
    (inductor,) = [k for k, name in enumerate(found.equations) if "self.L * " in name]
    slope = float(result["der(L.p.i)"][-1])
    ratio = np.asarray(found.F_p)[inductor, found.parameters.number("tau")] / (3.0 * slope)
    assert abs(ratio) == pytest.approx(1.0)
    by_L = found.F_p[found.equations[inductor], "L.L"]
    assert found.F_p[found.equations[inductor], "tau"] == pytest.approx(3.0 * by_L)
    assert of_model(model, result, ["power", "total", "R.v", "C.p.i", "der(C.v)", "source.p.i"]) <= 1e-6


def test_a_bound_parameter_that_was_set_is_free() -> None:
    model = ac.compile(Circuit())
    model.set({"L.L": 2.0})
    found = model.partials(at=model.simulate(until=0.3))
    (inductor,) = [name for name in found.equations if "self.L * " in name]
    assert found.F_p[inductor, "tau"] == 0.0
    assert found.F_p[inductor, "L.L"] != 0.0


def test_the_two_parts_are_those_of_the_solver() -> None:
    """What the solver's kernels accumulate into their pattern is what the matrices hold."""
    model = ac.compile(Circuit())
    found = model.partials(at=model.simulate(until=0.3))
    point = found._point
    n, (indptr, rows) = point.problem.size, point.problem.pattern
    columns = np.repeat(np.arange(n), np.diff(indptr))
    by_value, by_slope = point.problem.partials(point.time, point.w[:n], point.w[n : 2 * n], known=point.w[2 * n :])
    np.testing.assert_allclose(by_value, np.asarray(found.F_y)[rows, columns], rtol=1e-15)
    np.testing.assert_allclose(by_slope, np.asarray(found.F_yp)[rows, columns], rtol=1e-15)
    for cj in (0.0, 1.0, 1e9):
        whole = point.problem.jacobian(point.time, point.w[:n], point.w[n : 2 * n], cj, known=point.w[2 * n :])
        np.testing.assert_allclose(by_value + cj * by_slope, whole, rtol=1e-14)


def test_the_portable_evaluation_gives_the_same_parts() -> None:
    model = ac.compile(Circuit())
    problem = model.problem
    y, yp = np.full(problem.size, 0.7), np.full(problem.size, 0.3)
    native = problem.partials(0.0, y, yp)
    problem.equations.native = None
    for a, b in zip(native, problem.partials(0.0, y, yp), strict=True):
        np.testing.assert_array_equal(a, b)


class Tank(ac.Component):
    """Flow by the root of a level, two inputs, one of which is a speed that multiplies."""

    inflow, speed = ac.Input(1.0), ac.Input(0.5)
    k = ac.Parameter(0.4)
    h = ac.Variable(start=2.0)
    out = ac.Variable()

    def equations(self) -> Any:
        yield ac.der(self.h) == self.inflow - self.out
        yield self.out == self.k * ac.sqrt(self.h) + self.speed * self.h


def test_inputs_and_outputs_by_name() -> None:
    model = ac.compile(Tank())
    found = model.partials(outputs=["out", "h"])
    assert list(found.inputs) == ["inflow", "speed"]
    assert found.G_y["out", "h"] == pytest.approx(0.4 * 0.5 / np.sqrt(2.0) + 0.5)
    assert found.G_u["out", "speed"] == pytest.approx(2.0)
    assert found.G_p["out", "k"] == pytest.approx(np.sqrt(2.0))
    np.testing.assert_allclose(found.output_values, [0.4 * np.sqrt(2.0) + 1.0, 2.0])
    assert of_model(model, 0.5, ["out", "h", "der(h)"]) <= 1e-6


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"outputs": ["oot"]}, "has no `oot`"),
        ({"inputs": ["h"]}, "`h` is neither an input nor a parameter"),
        ({"parameters": [3]}, "A name is a text such as `room.T`, got 3"),
        ({"at": "yesterday"}, "`at` cannot be 'yesterday'"),
        ({"at": [1.0]}, "`at` is a result, a time or None for the start, got [1.0]"),
        ({"time": 1.0}, "`time` picks a point of a result"),
        ({"outputs": ["der(out)"]}, "`out` is not differentiated"),
    ],
)
def test_what_cannot_be_asked(asked: dict[str, Any], said: str) -> None:
    with pytest.raises(ac.AcausalError) as raised:
        ac.compile(Tank()).partials(**asked)
    assert said in str(raised.value)


def test_a_point_that_the_result_does_not_have() -> None:
    model = ac.compile(Tank())
    result = model.simulate(until=1.0, points=11)
    assert model.partials(at=result, time=0.3).time == pytest.approx(0.3)
    with pytest.raises(ac.AcausalError, match=r"no point at 0.33 s; the nearest are at 0.3 and 0.4 s"):
        model.partials(at=result, time=0.33)
    assert ac.compile(Tank()).partials(at=result, time=0.3).time == pytest.approx(0.3)  # the same model, translated again

    class Other(Tank):
        more = ac.Variable(start=0.0)

        def equations(self) -> Any:
            yield from super().equations()
            yield ac.der(self.more) == 1.0

    with pytest.raises(ac.AcausalError, match="of another model"):
        ac.compile(Other()).partials(at=result)
    with pytest.raises(ac.AcausalError, match=r"derivatives=True"):
        model.partials(at=model.simulate(until=1.0, derivatives=False))


def test_events_are_frozen_as_they_are() -> None:
    class Heater(ac.Component):
        T = ac.Variable(start=0.0)
        on = ac.Boolean(start=True)

        def equations(self) -> Any:
            yield self.on == ac.where(ac.pre(self.on), self.T < 1.0, self.T < 0.5)
            yield ac.der(self.T) == ac.where(self.on, 2.0 * (1.5 - self.T), -self.T)

    model = ac.compile(Heater())
    result = model.simulate(until=1.0)
    slope = [model.partials(at=result, time=float(t)).F_y.values.toarray()[0, 0] for t in (result.time[5], result.time[-1])]
    on = result["on"][[5, -1]]
    assert on.tolist() == [1.0, 0.0]
    assert [abs(s) for s in slope] == [2.0, 1.0]
