"""Models in use: inputs, functions, tables, initial equations, steady states, threads, output points, failures."""

from __future__ import annotations

import ctypes.util
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from plants import Boundary, Conductor, HeatPort, Ladder, Mass

import acausal as ac
from acausal.kernels import statistics


class Lag(ac.Component):
    u = ac.Input(1.0)
    k = ac.Parameter(1.0)
    y = ac.Variable(start=0.0, fixed=True)

    def equations(self):
        yield ac.der(self.y) == self.k * (self.u - self.y)


class Bank(ac.Component):
    """Two lags in a row, the first with its input open."""

    def __init__(self):
        self.first, self.second = Lag(), Lag(k=2.0)

    def connections(self):
        yield self.first.y, self.second.u


# --- inputs ------------------------------------------------------------------------------------------------------------
def test_inputs_constant_function_and_table():
    model = ac.compile(Bank())
    t = np.linspace(0, 2, 2001)
    for given, exact in (
        (3.0, lambda t: 3 * (1 - np.exp(-t))),
        (lambda t: t, lambda t: t - 1 + np.exp(-t)),
        ((t, t), lambda t: t - 1 + np.exp(-t)),
    ):
        result = model.simulate(until=2.0, inputs={"first.u": given}, rtol=1e-8)
        np.testing.assert_allclose(result["first.y"], exact(result.time), atol=1e-5)
    np.testing.assert_allclose(result["first.u"], result.time, atol=1e-9)
    assert model.simulate(until=20.0)["second.y"][-1] == pytest.approx(1.0, abs=1e-4)  # the declared value


def test_a_table_of_measured_data_is_followed_and_held_at_its_ends():
    result = ac.compile(Lag(k=1e4)).simulate(until=3.0, inputs={"u": ([0.5, 1.0, 2.0], [1.0, 3.0, 2.0])}, at=[0.2, 0.75, 1.5, 2.9])
    np.testing.assert_allclose(result["y"], [1.0, 2.0, 2.5, 2.0], atol=1e-3)


def test_inputs_of_arrays():
    class Many(ac.Component):
        def __init__(self):
            self.lags = ac.array(Lag, 3)

    result = ac.compile(Many()).simulate(until=1.0, inputs={"lags.u": 2.0, "lags[1].u": lambda t: 5.0}, rtol=1e-8)
    np.testing.assert_allclose(result["lags.y"][-1], np.array([2.0, 5.0, 2.0]) * (1 - np.exp(-1.0)), rtol=1e-5)


def test_an_input_connected_inside_cannot_be_given():
    with pytest.raises(ac.ModelError, match="connected inside"):
        ac.compile(Bank()).simulate(until=1.0, inputs={"second.u": 1.0})


# --- functions and tables --------------------------------------------------------------------------------------------------
@ac.function
def traced_square(x):
    return x * x + 0.0 * ac.sin(x)


@ac.function(opaque=True)
def opaque_square(x):
    return x * x if x > 0 else 0.0


@ac.function(opaque=True, derivative=lambda x: 2 * x)
def opaque_with_derivative(x):
    return x * x if x > 0 else 0.0


POWER = ac.external((ctypes.util.find_library("m"), "pow"), 2)
TABLE = ac.Table(np.linspace(0, 2, 401), np.linspace(0, 2, 401) ** 2)
TABLE2D = ac.Table2D(np.linspace(0, 2, 101), np.linspace(0, 2, 101), np.outer(np.linspace(0, 2, 101), np.linspace(0, 2, 101)))

SQUARES = {
    "traced": traced_square,
    "opaque": opaque_square,
    "opaque with derivative": opaque_with_derivative,
    "C": lambda x: POWER(x, 2.0),
    "table": TABLE,
    "two-dimensional table": lambda x: TABLE2D(x, x),
}


@pytest.mark.parametrize("case", SQUARES)
def test_user_functions_and_tables_in_an_array_of_components(case):
    """x' = -x² from 1/(1 + t); an implicit algebraic equation needs the derivative too."""
    square = SQUARES[case]

    class Decay(ac.Component):
        x, z = ac.Variable(start=1.0, fixed=True), ac.Variable(start=1.0)

        def equations(self):
            yield ac.der(self.x) == -square(self.x)
            yield square(self.z) + self.z == self.x

    class Two(ac.Component):
        def __init__(self):
            self.d = ac.array(Decay, 2, x=ac.start([1.0, 2.0]))

    result = ac.compile(Two()).simulate(until=2.0, rtol=1e-7)
    assert result.outcome.ok
    x = np.array([1.0, 2.0]) / (1 + np.array([1.0, 2.0]) * result.time[:, None])
    np.testing.assert_allclose(result["d.x"], x, atol=2e-5)
    np.testing.assert_allclose(result["d.z"], (-1 + np.sqrt(1 + 4 * x)) / 2, atol=2e-5)


# --- starting ----------------------------------------------------------------------------------------------------------------
class Cooled(ac.Component):
    def __init__(self):
        self.m, self.g, self.e = Mass(T=ac.start(400.0, fixed=True)), Conductor(G=2.0), Boundary(T=300.0)
        self.heater = Heater()

    def connections(self):
        yield self.m.port, self.g.a, self.heater.port
        yield self.g.b, self.e.port


class Heater(ac.Component):
    port = HeatPort()
    Q = ac.Parameter(50.0)

    def equations(self):
        yield self.port.Q_flow == -self.Q


def test_steady_state_and_steady_start():
    model = ac.compile(Cooled())
    assert model.steady_state()["m.T"][0] == pytest.approx(325.0)
    assert model.steady_state(set={"heater.Q": 0.0})["m.T"][0] == pytest.approx(300.0)
    result = model.simulate(until=10.0, initial="steady")
    np.testing.assert_allclose(result["m.T"], 325.0, rtol=1e-8)
    assert model.simulate(until=1.0)["m.T"][0] == 400.0


def test_the_run_follows_the_closed_form_with_a_known_flow_at_the_node():
    result = ac.compile(Cooled()).simulate(until=2.0, rtol=1e-8)
    np.testing.assert_allclose(result["m.T"], 325.0 + 75.0 * np.exp(-2 * result.time), rtol=1e-6)
    np.testing.assert_allclose(result["g.loss"], 2 * (result["m.T"] - 300.0), rtol=1e-9)


def test_initial_equations():
    class Oscillator(ac.Component):
        x, v = ac.Variable(start=0.0), ac.Variable(start=1.0)

        def equations(self):
            yield ac.der(self.x) == self.v
            yield ac.der(self.v) == -self.x

        def initial_equations(self):
            yield self.x + self.v == 3.0
            yield ac.der(self.v) == -1.0

    result = ac.compile(Oscillator()).simulate(until=3.0, rtol=1e-9)
    np.testing.assert_allclose(result["x"], np.cos(result.time) + 2 * np.sin(result.time), atol=1e-6)


def test_homotopy_is_the_actual_expression_in_the_end():
    class Hard(ac.Component):
        x = ac.Variable(start=10.0)

        def equations(self):
            yield ac.homotopy(self.x**3 - 2 * self.x - 5, self.x - 2) == 0

    assert ac.compile(Hard()).steady_state()["x"][0] == pytest.approx(2.0945514815423265)


# --- accuracy, output points, storage ------------------------------------------------------------------------------------------
def test_output_points_have_no_influence_on_the_steps():
    model = ac.compile(Ladder(20))
    runs = [model.simulate(until=10.0, points=p) for p in (2, 11, 2001)]
    assert len({r.statistics.steps for r in runs}) == 1
    assert len({float(r["C[3].v"][-1]) for r in runs}) == 1
    np.testing.assert_array_equal(runs[1]["C.v"], runs[2]["C.v"][::200])


def test_the_error_does_not_grow_with_the_plant():
    for n in (100, 1000):
        assert ac.compile(Ladder(n)).simulate(until=10.0, points=2, rtol=1e-6)["C[0].v"][-1] == pytest.approx(0.27766133, abs=3e-6)


def test_absolute_tolerances_by_name_reach_definitions_and_leave_knowns_alone():
    model = ac.compile(Cooled())
    loose = model.simulate(until=2.0, atol={"m.T": 10.0, "e.port.T": 1e-9, "g.loss": 5.0})
    tight = model.simulate(until=2.0, atol=1e-9, rtol=1e-9)
    assert loose.outcome.ok and loose.statistics.steps < tight.statistics.steps


# --- no compiling, threads -------------------------------------------------------------------------------------------------------
def test_threads_in_parallel_give_what_one_after_the_other_gives():
    model = ac.compile(Cooled())
    values = [{"g.G": 0.1 + 0.1 * k, "heater.Q": 10.0 * k} for k in range(24)]
    serial = [model.simulate(until=5.0, set=v)["m.T"] for v in values]
    before = statistics()
    with ThreadPoolExecutor(4) as pool:
        parallel = list(pool.map(lambda v: model.simulate(until=5.0, set=v)["m.T"], values))
    for a, b in zip(serial, parallel, strict=True):
        np.testing.assert_array_equal(a, b)
    assert statistics() == before


def test_two_models_compiled_in_two_threads():
    found: dict[int, float] = {}

    def run(n):
        found[n] = float(ac.compile(Ladder(n)).simulate(until=2.0, points=2)["C[0].v"][-1])

    threads = [threading.Thread(target=run, args=(n,)) for n in (5, 6, 7, 8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for n in (5, 6, 7, 8):
        assert found[n] == float(ac.compile(Ladder(n)).simulate(until=2.0, points=2)["C[0].v"][-1])


def test_equal_models_need_no_second_compilation():
    ac.compile(Ladder(10))
    before = statistics()
    ac.compile(Ladder(300))
    assert statistics().compiled == before.compiled


# --- both solvers, failures -------------------------------------------------------------------------------------------------------
def test_both_solvers_agree():
    model = ac.compile(Ladder(10))
    a, b = (model.simulate(until=10.0, solver=s, rtol=1e-8, points=11) for s in ("ida", "sundae"))
    np.testing.assert_allclose(a["C.v"], b["C.v"], atol=1e-6)


def test_a_failing_run_keeps_the_trajectory_and_says_why():
    def blow_up(dy, y):
        yield dy.x - y.x**2

    model = ac.compile(ac.plain(blow_up, y={"x": 1.0}))
    result = model.simulate(until=2.0, points=201)
    assert result.outcome is not ac.Outcome.FINISHED
    assert len(result.time) == len(result["x"]) < 201
    np.testing.assert_allclose(result["x"][:90], 1 / (1 - result.time[:90]), rtol=1e-3)
    assert model.simulate(until=0.5).outcome is ac.Outcome.FINISHED  # the model is none the worse for it


def test_too_many_steps():
    result = ac.compile(Ladder(10)).simulate(until=10.0, max_steps=20)
    assert result.outcome is ac.Outcome.TOO_MANY_STEPS and "max_steps" in str(result.outcome)
    assert 0 < result.time[-1] == result.time_reached < 10.0


def test_cancelling_from_the_progress_function():
    seen = []

    def stop_at_half(t):
        seen.append(t)
        return t < 500.0

    result = ac.compile(Ladder(20)).simulate(until=1000.0, progress=stop_at_half, progress_interval=0.0)
    assert result.outcome is ac.Outcome.CANCELLED
    assert seen and 500.0 <= result.time[-1] == result.time_reached < 1000.0
    assert "kept" in str(result.outcome)


def test_statistics_can_be_read_by_name():
    found = ac.compile(Ladder(5)).simulate(until=1.0).statistics
    assert found.steps > 0 and found["steps"] == found.steps
    assert set(found.seconds) >= {"families", "kernels", "initialisation", "integration"}
    with pytest.raises(AttributeError):
        found.nothing  # noqa: B018


def test_times_and_inputs_as_texts_with_units():
    class Charge(ac.Component):
        u = ac.Input(0.0, unit="V")
        v = ac.Variable(start=0.0, fixed=True, unit="V")
        hold = ac.Parameter(3600.0, unit="s")

        def equations(self):
            yield self.hold * ac.der(self.v) == self.u - self.v

    model = ac.compile(Charge())
    result = model.simulate("2 h", start="-1 h", at=["0 s", 3600.0, "2 h"], inputs={"u": "3 kV"})
    np.testing.assert_array_equal(result.time, [0.0, 3600.0, 7200.0])
    np.testing.assert_allclose(result["v"], 3000 * (1 - np.exp(-1 - result.time / 3600)), rtol=1e-5)
    assert model.simulate("1 day", points=2).time[-1] == 86400.0
    assert model.steady_state(at="1 min", inputs={"u": "20 mV"})["v"][0] == pytest.approx(0.02)
    assert model.steady_state(at="1 min").time[0] == 60.0


def test_unit_checking_can_be_switched_off():
    class Muddle(ac.Component):
        T = ac.Variable(start=300.0, fixed=True, unit="K")
        m = ac.Parameter(2.0, unit="kg")

        def equations(self):
            yield ac.der(self.T) == self.m

    with pytest.raises(ac.ModelError, match="kg"):
        ac.compile(Muddle())
    assert ac.compile(Muddle(), units=False).simulate(1.0)["T"][-1] == pytest.approx(302.0)


def test_a_model_shows_its_size():
    model = ac.compile(Ladder(10))
    counts = model.info()
    assert (
        repr(model) == f"<Model of Ladder: unknowns {counts.unknowns} (states {counts.states}), computed {counts.computed}, "
        f"families of equations {counts.families}>"
    )
    assert counts.states == 10
