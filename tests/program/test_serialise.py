"""A model is a value: pickled, copied, sent to another process, kept in a file, it runs to the same bits."""

from __future__ import annotations

import contextlib
import copy
import io
import multiprocessing
import pickle
import re
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from plants import Ladder

import acausal as ac
from acausal.errors import UsageError
from acausal.library import demo, electrical, signal, switching, thermal
from acausal.model import model as models

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.py"))


def through_file(model, folder):
    path = Path(folder) / "model.acm"
    model.save(path)
    return ac.load(path)


def same(a, b):
    """Two results, to the bit."""
    np.testing.assert_array_equal(a.time, b.time)
    np.testing.assert_array_equal(a.data, b.data)
    assert a.names() == b.names() and a.outcome is b.outcome and len(a.events) == len(b.events)


class Bouncing(ac.Component):
    """Falls, bounces, counts."""

    h, v = ac.Variable(start=1.0, fixed=True, unit="m", doc="height"), ac.Variable(start=0.0, fixed=True, unit="m/s")
    e = ac.Parameter(0.8, min=0, max=1)
    n = ac.Integer(start=0)
    mode = ac.States("flying", "resting", initial="flying")

    def equations(self):
        self.energy = ac.named(self.v**2 / 2 + 9.81 * self.h, doc="per mass")
        yield ac.der(self.h) == self.v
        yield ac.der(self.v) == ac.where(self.mode.flying, -9.81, 0.0)

    def events(self):
        yield ac.when(self.h <= 0, ac.reinit(self.v, -self.e * ac.pre(self.v)), ac.assign(self.n, ac.pre(self.n) + 1))

    def transitions(self):
        yield self.mode.flying.to("resting", when=self.n >= 6)


class Pendulum(ac.Component):
    x, y = ac.Variable(start=1.0, fixed=True), ac.Variable(start=0.0)
    u, w, F = ac.Variable(start=0.0, fixed=True), ac.Variable(), ac.Variable()
    L = ac.Parameter(1.0)

    def equations(self):
        yield ac.der(self.x) == self.u
        yield ac.der(self.y) == self.w
        yield ac.der(self.u) == -self.F * self.x
        yield ac.der(self.w) == -self.F * self.y - 9.81
        yield self.x**2 + self.y**2 == self.L**2


TABLE = ac.Table([0.0, 1.0, 2.0], [0.0, 2.0, 1.0], name="characteristic")


class Mixed(ac.Component):
    """A little of everything: arrays, inputs, tables, sums, bound parameters, initial equations."""

    u = ac.Input(1.0, unit="")
    scale = ac.Parameter(2.0)
    double = ac.Parameter(2 * scale)
    x = ac.Variable(shape=3)
    total = ac.Output()

    def __init__(self):
        self.cells = ac.array(Decay, (2, 2), k=self.scale)
        self.list = [Decay(k=1.0), Decay(k=ac.modify(value=3.0, max=10.0, doc="fast"))]

    def equations(self):
        yield ac.der(self.x) == -self.double * self.x + TABLE(self.u + 0.1 * ac.sin(ac.time))
        yield self.total == ac.sum(self.x) + ac.sum(self.cells.x) + self.list[1].rate

    def initial_equations(self):
        yield ac.der(self.x[0]) == 0
        yield self.x[1:] == np.array([1.0, 2.0])


class Decay(ac.Component):
    x, k = ac.Variable(start=1.0), ac.Parameter(1.0)

    def equations(self):
        self.rate = self.k * self.x
        yield ac.der(self.x) == -self.rate


MODELS = {
    "ladder": (lambda: Ladder(20), 1.0, {}),
    "bouncing": (Bouncing, 3.0, {}),
    "pendulum": (Pendulum, 2.0, {}),
    "mixed": (Mixed, 2.0, {"inputs": {"u": lambda t: 1.0 + t}}),
    "house": (demo.HeatedHouse, 86400.0, {"points": 20}),
}


@pytest.fixture(params=MODELS, scope="module")
def case(request):
    make, until, options = MODELS[request.param]
    model = ac.compile(make())
    return model, model.simulate(until=until, **options), lambda m: m.simulate(until=until, **options)


def test_a_pickled_model_runs_to_the_same_bits(case):
    model, result, run = case
    same(run(pickle.loads(pickle.dumps(model))), result)


def test_a_model_from_a_file_runs_to_the_same_bits(case, tmp_path):
    model, result, run = case
    again = through_file(model, tmp_path)
    same(run(again), result)
    assert again.catalogue() == model.catalogue() and repr(again) == repr(model)
    assert again.parameters() == model.parameters() and again.states() == model.states()


def test_a_file_of_a_file_is_the_same_file(case, tmp_path):
    model, _, _ = case
    model.save(tmp_path / "one.acm")
    ac.load(tmp_path / "one.acm").save(tmp_path / "two.acm")
    assert abs((tmp_path / "one.acm").stat().st_size - (tmp_path / "two.acm").stat().st_size) < 2000


def test_a_pickled_result_says_the_same(case):
    _, result, _ = case
    again = pickle.loads(pickle.dumps(result))
    same(again, result)
    for name in result.names()[:40]:
        np.testing.assert_array_equal(again[name], result[name])
        assert again.unit(name) == result.unit(name) and again.description(name) == result.description(name)
    assert str(again.events) == str(result.events) and again.statistics == result.statistics
    same(copy.deepcopy(result), result)


def test_copies_have_numbers_of_their_own():
    model = ac.compile(Decay()).set(k=2.0)
    for other in (copy.copy(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert other.get("k") == 2.0
        other.set(k=5.0)
        assert model.get("k") == 2.0 and other.program.title == "Decay"


def test_numbers_that_were_set_are_in_the_file(tmp_path):
    model = ac.compile(Mixed()).set({"scale": 4.0, "list[1].k": 7.0})
    again = through_file(model, tmp_path)
    assert again.get("double") == 8.0 and again.get("list[1].k") == 7.0
    assert again.set(scale=1.0).get("double") == 2.0


def test_a_loaded_model_explains_itself(tmp_path):
    again = through_file(ac.compile(Bouncing()), tmp_path)
    told = str(again.explain("v"))
    assert "Bouncing" in told and "m/s" in told
    with pytest.raises(ac.ModelError, match="Did you mean `h`"):
        again.simulate(until=1.0)["hh"]


class Relay(ac.Component):
    x = ac.Variable(start=1.0, fixed=True)

    def equations(self):
        yield ac.der(self.x) == ac.where(self.x > 0, -1.0, 1.0)


def test_a_loaded_model_slides(tmp_path):
    model = ac.compile(Relay())
    result = model.simulate(until=2.0, sliding="filippov")
    assert abs(result["x"][-1]) < 1e-6
    same(through_file(model, tmp_path).simulate(until=2.0, sliding="filippov"), result)


class Rack(ac.Component):
    """Arrays of states given by name, and states combined from a declaration."""

    level = ac.States("low", "high", "off", initial=np.array(["off", "low"]), shape=2)
    running = ac.OutputStates(on=("low", "high"), off="off", of=level, shape=2)
    x = ac.Variable(start=1.0, shape=2)

    def equations(self):
        yield ac.der(self.x) == ac.where(self.running.on, -self.x, 0.0)


def test_states_given_by_name_in_arrays(tmp_path):
    Rack.level.remark = object()  # what a user adds to a declaration is not the model's business
    model = ac.compile(Rack())
    again = through_file(model, tmp_path)
    same(again.simulate(until=1.0), model.simulate(until=1.0))
    assert list(again.get("level")) == ["off", "low"] and list(again.get("running")) == ["off", "on"]


def _end(model):
    return float(model.simulate(until=1.0, set={"k": 2.0})["x"][-1])


def test_models_go_to_processes_that_never_saw_the_class():
    local = type("Local", (Decay,), {})
    model = ac.compile(local())
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map(_end, [model]) == [_end(model)]


def test_a_file_needs_no_source(tmp_path):
    result = ac.compile(Bouncing()).simulate(until=3.0)
    ac.compile(Bouncing()).save(tmp_path / "ball.acm")
    code = "import acausal as ac; r = ac.load('ball.acm').simulate(until=3.0); print(repr(float(r['energy'][-1])), len(r.events))"
    found = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert found.stdout.split() == [repr(float(result["energy"][-1])), str(len(result.events))]


# --- functions of the user's --------------------------------------------------------------------------------------------------
@ac.function(opaque=True)
def drag(v):
    return v * abs(v)


class Falls(ac.Component):
    v = ac.Variable(start=0.0, fixed=True)

    def equations(self):
        yield ac.der(self.v) == 9.81 - drag(self.v)


def test_an_opaque_function_is_not_in_a_file_but_pickles_by_reference(tmp_path):
    model = ac.compile(Falls())
    with pytest.raises(UsageError, match="a model whose equations call `drag` cannot be saved"):
        model.save(tmp_path / "falls.acm")
    assert not list(tmp_path.iterdir())
    same(pickle.loads(pickle.dumps(model)).simulate(until=1.0), model.simulate(until=1.0))


def test_a_function_that_nobody_else_could_find_is_told():
    @ac.function(opaque=True, name="hidden")
    def hidden(v):
        return v * 2

    class Uses(ac.Component):
        v = ac.Variable(start=1.0)

        def equations(self):
            yield ac.der(self.v) == -hidden(self.v)

    with pytest.raises(UsageError, match="`hidden` cannot be pickled: another process would look for it"):
        pickle.dumps(ac.compile(Uses()))


# --- everything there is --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("script", EXAMPLES, ids=lambda p: p.stem)
@pytest.mark.slow
def test_examples_find_the_same_with_models_from_files(script, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["example"])

    def printed():
        with contextlib.redirect_stdout(io.StringIO()) as text:
            runpy.run_path(str(script), run_name="__main__")
        lines = [
            re.sub(r"[\d.]+ ms\b", "… ms", line) for line in text.getvalue().splitlines()
        ]  # what it took is not what was found
        return [line for line in lines if " s" not in line and "second" not in line]

    expected = printed()
    plain = models.compile

    def compiled(component, **options):
        model = plain(component, **options)
        for way in (lambda m: through_file(m, tmp_path), lambda m: pickle.loads(pickle.dumps(m)), copy.deepcopy):
            try:
                return way(model)
            except UsageError:  # an opaque function, or one that only this process has
                continue
        raise AssertionError

    monkeypatch.setattr(models, "compile", compiled)
    assert printed() == expected


class Circuit(ac.Component):
    def __init__(self):
        self.source, self.ground = electrical.SineVoltage(V=10.0, f=50.0), electrical.Ground()
        self.diode, self.load = switching.IdealDiode(), electrical.Resistor(R=10.0)

    def connections(self):
        yield self.source.p, self.diode.p
        yield self.diode.n, self.load.p
        yield self.load.n, self.source.n, self.ground.p


class Warm(ac.Component):
    def __init__(self):
        self.room, self.wall = thermal.HeatCapacitor(C=1e5), thermal.ThermalConductor(G=10.0)
        self.outside, self.filter = thermal.FixedTemperature(T=280.0), signal.FirstOrder()

    def connections(self):
        yield self.room.port, self.wall.a
        yield self.wall.b, self.outside.port


@pytest.mark.parametrize("make", [Circuit, Warm])
def test_plants_of_the_library(make, tmp_path):
    model = ac.compile(make())
    same(through_file(model, tmp_path).simulate(until=0.1), model.simulate(until=0.1))
