"""Linear systems around a point: against closed forms, against differences of simulations, by name."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from plants import Capacitor, Ground, Inductor, Resistor
from scipy.linalg import eig

import acausal as ac
from acausal.errors import NameNotFound, UsageError
from acausal.library import electrical, thermal


class RLC(ac.Component):
    """A series circuit; its transfer function from source to capacitor is 1/(L C s² + R C s + 1)."""

    def __init__(self) -> None:
        self.source, self.ground = electrical.SignalVoltage(), electrical.Ground()
        self.R, self.L, self.C = electrical.Resistor(R=2.0), electrical.Inductor(L=0.5), electrical.Capacitor(C=0.1)

    def connections(self) -> Any:
        yield self.source.p, self.R.p
        yield self.R.n, self.L.p
        yield self.L.n, self.C.p
        yield [self.C.n, self.source.n, self.ground.p]


def test_rlc() -> None:
    model = ac.compile(RLC())
    linear = model.linearise(at=model.steady_state(), outputs=["C.v"])
    assert linear.inputs == ["source.V"]
    np.testing.assert_allclose(np.sort_complex(linear.poles()), np.sort_complex(np.roots([0.05, 0.2, 1.0])), rtol=1e-12)
    system, s = linear.to_scipy(), 3j
    response = system.C @ np.linalg.solve(s * np.eye(2) - system.A, system.B) + system.D
    np.testing.assert_allclose(response, [[1 / (0.05 * s**2 + 0.2 * s + 1)]], rtol=1e-12)


def test_a_linearisation_goes_to_another_process() -> None:
    """Its names were made by functions that could not."""
    model = ac.compile(RLC())
    linear = model.linearise(at=model.steady_state(), outputs=["C.v"])
    for other in (pickle.loads(pickle.dumps(linear)), copy.deepcopy(linear)):
        assert (other.states, other.inputs, other.outputs) == (linear.states, linear.inputs, linear.outputs)
        np.testing.assert_array_equal(other.poles(), linear.poles())
    found = model.partials()
    assert pickle.loads(pickle.dumps(found.F_y)).columns == found.F_y.columns
    with pytest.raises(UsageError, match="can be neither copied nor pickled"):
        copy.deepcopy(found)


def test_algebraic_equations_have_infinite_eigenvalues() -> None:
    model = ac.compile(RLC())
    linear = model.linearise(outputs=["der(C.v)", "C.v"])
    values = eig(np.asarray(linear.A), np.asarray(linear.E), right=False)
    finite = values[np.isfinite(values)]
    np.testing.assert_allclose(np.sort_complex(finite), np.sort_complex(linear.poles()), rtol=1e-10)
    assert len(values) == 3, "an output with a derivative in it is an unknown of its own"
    np.testing.assert_allclose(linear.C["C.v", "C.v"], 1.0)


class Oscillator(ac.Component):
    m, k, d = ac.Parameter(2.0), ac.Parameter(8.0), ac.Parameter(0.4)
    force = ac.Input(0.0)
    x, v, a = ac.Variable(start=0.1), ac.Variable(), ac.Variable()

    def equations(self) -> Any:
        yield ac.der(self.x) == self.v
        yield ac.der(self.v) == self.a
        yield self.m * self.a == self.force - self.k * self.x - self.d * self.v


def test_mass_and_spring() -> None:
    linear = ac.compile(Oscillator()).linearise(inputs=["force", "k"], outputs=["a", "x"])
    order = [linear.states.index(name) for name in ("x", "v")]
    A, B, C, D = linear.reduced()
    np.testing.assert_allclose(A[np.ix_(order, order)], [[0.0, 1.0], [-4.0, -0.2]], atol=1e-14)
    np.testing.assert_allclose(B[order], [[0.0, 0.0], [0.5, -0.05]], atol=1e-14)
    np.testing.assert_allclose(C[:, order], [[-4.0, -0.2], [1.0, 0.0]], atol=1e-14)
    np.testing.assert_allclose(D, [[0.5, -0.05], [0.0, 0.0]], atol=1e-14)


class Pendulum(ac.Component):
    """A mass on a rod in Cartesian coordinates: index 3."""

    g, L = ac.Parameter(9.81), ac.Parameter(1.5)
    push = ac.Input(0.0)
    x, y = ac.Variable(start=0.0), ac.Variable(start=-1.5)
    vx, vy, force = ac.Variable(), ac.Variable(), ac.Variable(start=6.0)

    def equations(self) -> Any:
        yield ac.der(self.x) == self.vx
        yield ac.der(self.y) == self.vy
        yield ac.der(self.vx) == -self.force * self.x + self.push
        yield ac.der(self.vy) == -self.force * self.y - self.g
        yield self.x**2 + self.y**2 == self.L**2


def test_a_pendulum_at_rest_which_has_index_three() -> None:
    """Around rest it is x'' = -g/L x + push, whatever the coordinates."""
    model = ac.compile(Pendulum())
    linear = model.linearise(at=model.steady_state(), outputs=["x", "y"])
    omega = np.sqrt(9.81 / 1.5)
    assert len(linear.states) == 2
    np.testing.assert_allclose(np.sort_complex(linear.poles()), [-1j * omega, 1j * omega], atol=1e-9)
    response = linear.to_scipy()
    gain = response.D - response.C @ np.linalg.solve(response.A, response.B)
    np.testing.assert_allclose(gain, [[1 / omega**2], [0.0]], atol=1e-9)


class Chain(ac.Component):
    """A rod in n pieces between a given temperature and the surroundings."""

    def __init__(self, n: int) -> None:
        self.source, self.end = thermal.PrescribedTemperature(), thermal.FixedTemperature(T=300.0)
        self.mass = ac.array(thermal.HeatCapacitor, n, C=2.0)
        self.wall = ac.array(thermal.ThermalConductor, n + 1, G=0.5)

    def connections(self) -> Any:
        yield self.source.port, self.wall[0].a
        yield self.wall[:-1].b, self.mass.port
        yield self.mass.port, self.wall[1:].a
        yield self.wall[-1].b, self.end.port


def test_a_thermal_chain() -> None:
    """Eigenvalues of a discrete Laplacian: -G/C (2 - 2 cos(k π/(n+1)))."""
    n = 7
    model = ac.compile(Chain(n))
    linear = model.linearise(at=model.steady_state(inputs={"source.T": 310.0}), outputs=["mass[3].T", "wall[0].Q_flow"])
    expected = -0.25 * (2 - 2 * np.cos(np.arange(1, n + 1) * np.pi / (n + 1)))
    np.testing.assert_allclose(linear.poles().real, np.sort(expected)[::-1], rtol=1e-10)
    np.testing.assert_allclose(linear.poles().imag, 0.0, atol=1e-12)
    A, B, C, D = linear.reduced()
    gain = D - C @ np.linalg.solve(A, B)
    np.testing.assert_allclose(gain.ravel(), [0.5, 0.5 / (n + 1)], rtol=1e-10)


def test_against_differences_of_simulations() -> None:
    """What a run does with a slightly larger input is what the linear system says, beyond the first order."""
    model = ac.compile(Oscillator())
    rest = model.steady_state()
    linear = model.linearise(at=rest, outputs=["x"])
    times = np.linspace(0.0, 5.0, 51)
    runs = [model.simulate(until=5.0, at=times, rtol=1e-11, start_from=rest, inputs={"force": f})["x"] for f in (1.0, -1.0)]
    _, step = linear.to_scipy().step(T=times)
    np.testing.assert_allclose((runs[0] - runs[1]) / 2, step, atol=2e-8)


class Loop(ac.Component):
    """Two capacitors in parallel through nothing: index 2 by structure."""

    def __init__(self) -> None:
        self.A, self.B, self.R, self.L, self.ground = Capacitor(C=1.0), Capacitor(C=2.0), Resistor(R=4.0), Inductor(L=3.0), Ground()

    def connections(self) -> Any:
        yield [self.A.p, self.B.p, self.R.p]
        yield self.R.n, self.L.p
        yield [self.A.n, self.B.n, self.L.n, self.ground.p]


def test_index_two() -> None:
    linear = ac.compile(Loop()).linearise()
    np.testing.assert_allclose(np.sort_complex(linear.poles()), np.sort_complex(np.roots([9.0, 12.0, 1.0])), rtol=1e-9)


def test_what_cannot_be_made_a_state_space() -> None:
    linear = ac.compile(Loop()).linearise()
    with pytest.raises(ac.AcausalError, match="at least one input"):
        linear.to_scipy()
    with pytest.raises(ac.AcausalError, match="at least one output"):
        ac.compile(Oscillator()).linearise().to_scipy()


def test_a_point_without_derivatives_is_told() -> None:
    class Root(ac.Component):
        h = ac.Variable(start=0.0)
        u = ac.Input(1.0)

        def equations(self) -> Any:
            yield ac.der(self.h) == self.u - ac.sqrt(self.h)

    with pytest.raises(ac.AcausalError, match="no linear approximation at 0 s: a derivative by `h` is not finite"):
        ac.compile(Root()).linearise()


def test_a_model_without_states() -> None:
    class Divider(ac.Component):
        u = ac.Input(1.0)
        a, b = ac.Variable(), ac.Variable()

        def equations(self) -> Any:
            yield self.a + self.b == self.u
            yield self.a * self.a == 4.0 * self.b

    linear = ac.compile(Divider()).linearise(outputs=["a"])
    assert linear.states == [] and len(linear.poles()) == 0
    a = float(np.roots([1.0, 4.0, -4.0]).max())
    np.testing.assert_allclose(linear.reduced()[3], [[4.0 / (4.0 + 2.0 * a)]], rtol=1e-9)


def test_answers_of_a_linear_system(tmp_path: Any) -> None:
    model = ac.compile(RLC())
    linear = model.linearise(at=model.steady_state(), outputs=["C.v"])
    f = np.array([0.1, 0.7, 5.0])
    s = 2j * np.pi * f
    np.testing.assert_allclose(linear.response(f)[:, 0, 0], 1 / (0.05 * s**2 + 0.2 * s + 1), rtol=1e-12)
    transfer = linear.transfer_function("C.v", "source.V")
    np.testing.assert_allclose(transfer.den / transfer.den[-1], [0.05, 0.2, 1.0], rtol=1e-9)
    np.testing.assert_allclose(transfer.num / transfer.den[-1], [1.0], rtol=1e-9)
    t, answer = linear.step(until=3.0)
    decay, swing = 2.0, np.sqrt(20.0 - 4.0)
    exact = 1 - np.exp(-decay * t) * (np.cos(swing * t) + decay / swing * np.sin(swing * t))
    np.testing.assert_allclose(answer[:, 0, 0], exact, atol=1e-9)
    for kind in ("bode", "nyquist"):
        getattr(linear, kind)(file=tmp_path / f"{kind}.png")
        assert (tmp_path / f"{kind}.png").exists()
    linear.save_mat(tmp_path / "linear.mat")
    from scipy.io import loadmat

    read = loadmat(tmp_path / "linear.mat")
    np.testing.assert_allclose(np.linalg.eigvals(read["A"]), np.linalg.eigvals(linear.reduced()[0]))
    assert [str(n[0]) for n in read["states"].ravel()] == linear.states


class TwoRooms(ac.Component):
    """A fast and a slow state that hardly know of each other."""

    x, y = ac.Variable(start=0.0, fixed=True), ac.Variable(start=0.0, fixed=True)

    def equations(self) -> Any:
        yield ac.der(self.x) == -10.0 * self.x + 0.01 * self.y
        yield ac.der(self.y) == -0.1 * self.y + 0.01 * self.x


def test_modes_name_the_states_that_take_part() -> None:
    slow, fast = ac.compile(TwoRooms()).linearise().modes()
    assert next(iter(slow.states)) == "y" and slow.states["y"] > 0.99
    assert fast.eigenvalue == pytest.approx(-10.0, rel=1e-4) and fast.time_constant == pytest.approx(0.1, rel=1e-4)
    assert "time constant" in str(fast) and sum(fast.states.values()) == pytest.approx(1.0)
    model = ac.compile(RLC())
    first = model.linearise(at=model.steady_state()).modes()[0]
    assert first.frequency == pytest.approx(4.0 / (2 * np.pi)) and first.damping == pytest.approx(2.0 / np.sqrt(20.0))


def test_a_transfer_function_names_what_is_not_there() -> None:
    model = ac.compile(RLC())
    linear = model.linearise(at=model.steady_state(), outputs=["C.v"])
    with pytest.raises(NameNotFound, match=r"no `C\.w`"):
        linear.transfer_function("C.w", "source.V")


def test_a_result_from_another_process_is_a_point_of_the_model():
    """A pickled result, and a model from a file: compared by what they hold, not by who holds it."""
    import pickle

    class Cooling(ac.Component):
        u = ac.Input(1.0)
        T = ac.Variable(start=1.0)

        def equations(self):
            yield ac.der(self.T) == self.u - 2.0 * self.T**2

    class Other(Cooling):
        pass

    model = ac.compile(Cooling())
    result = pickle.loads(pickle.dumps(model.simulate(until=1.0, points=3)))
    again = pickle.loads(pickle.dumps(model))
    expected = model.linearise(at=model.simulate(until=1.0, points=3)).A
    np.testing.assert_array_equal(model.linearise(at=result).A, expected)
    np.testing.assert_array_equal(again.linearise(at=result).A, expected)
    with pytest.raises(ac.ModelError, match="is of another model"):
        ac.compile(Other()).linearise(at=result)


class Switched(ac.Component):
    """x' = -k x + u, twice as fast once x is below a half."""

    k, u = ac.Parameter(1.0), ac.Input(0.0)
    x, fast = ac.Variable(start=1.0, fixed=True), ac.Boolean(start=False)

    def equations(self) -> Any:
        yield ac.der(self.x) == -self.k * ac.where(self.fast, 2.0, 1.0) * self.x**2 + self.u

    def events(self) -> Any:
        yield ac.when(self.x < 0.5, ac.assign(self.fast, True))


def test_a_result_from_a_file_is_a_point_of_the_model(tmp_path: Any) -> None:
    model = ac.compile(Switched())
    run = model.simulate(3.0, points=31, set={"k": 1.5}, inputs={"u": lambda t: 0.01 * t})
    run.save(tmp_path / "run.acausal")
    read = ac.load(tmp_path / "run.acausal")
    for time in (0.0, 0.3, 2.0, None):
        fresh, again = (model.linearise(at=at, time=time, inputs=["u"]).A.values.toarray() for at in (run, read))
        np.testing.assert_allclose(again, fresh, rtol=1e-12)
    slow = model.simulate(1.0, start_from=read, set={"k": 1.5}, points=3, sensitivities=["k"])
    np.testing.assert_allclose(slow["x"], model.simulate(1.0, start_from=run, set={"k": 1.5}, points=3)["x"], rtol=1e-12)
    with pytest.raises(UsageError, match="does not hold all states"):
        ac.compile(Oscillator()).linearise(at=read)
