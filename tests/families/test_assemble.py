"""Assembly: merging, size independence, and one plant written in four ways."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from plants import Capacitor, Conductor, Ground, Inductor, Ladder, LadderOfObjects, Mass, Resistor, flat_ladder
from scipy.linalg import expm
from trees import SHAPES, numbers, read, trees

import acausal as ac
from acausal.families.template import Template


def _templates(component) -> set[Template]:
    return {f.template for f in ac.compile(component).system.families}


def test_the_ladder_has_the_same_kernels_at_every_size_with_arrays_and_with_objects():
    sizes = [_templates(make(n)) for make in (Ladder, LadderOfObjects) for n in (10, 1000)]
    assert all(s == sizes[0] for s in sizes)
    assert len(sizes[0]) == len(ac.compile(Ladder(10)).system.families)


def test_one_plant_in_three_ways_has_one_trajectory():
    n = 12
    exact = ac.compile(Ladder(n)).simulate(until=10.0, points=21, rtol=1e-9)
    objects = ac.compile(LadderOfObjects(n)).simulate(until=10.0, points=21, rtol=1e-9)
    flat = ac.compile(flat_ladder(n)).simulate(until=10.0, points=21, rtol=1e-9)
    for k in range(n):
        np.testing.assert_allclose(objects[f"C[{k}].v"], exact[f"C[{k}].v"], atol=2e-8)
        np.testing.assert_allclose(flat[f"y{k + 1}"], exact[f"C[{k}].v"], atol=2e-8)
        np.testing.assert_allclose(flat[f"x{k + 1}"], exact[f"R[{k}].p.i"], atol=1e-6)


def test_the_ladder_is_that_of_the_closed_form():
    n = 6
    result = ac.compile(Ladder(n)).simulate(until=10.0, at=[2.5, 10.0], rtol=1e-9)
    a = np.diag([-2.0] * (n - 1) + [-1.0]) + np.diag([1.0] * (n - 1), 1) + np.diag([1.0] * (n - 1), -1)
    w = 2 * np.pi * 0.05
    wide = np.zeros((n + 2, n + 2))  # the source's sine and cosine as two more states
    wide[:n, :n] = a
    wide[0, n] = 1.0
    wide[n, n + 1], wide[n + 1, n] = w, -w
    start = np.zeros(n + 2)
    start[n + 1] = 1.0
    for k, t in enumerate((2.5, 10.0)):
        np.testing.assert_allclose(result["C.v"][k], (expm(wide * t) @ start)[:n], atol=1e-7)


def test_equal_equations_of_different_classes_share_a_kernel():
    class Tank(ac.Component):
        A = ac.Parameter(2.0)
        level = ac.Variable(start=1.0, fixed=True)
        outflow = ac.Variable()

        def equations(self):
            yield self.A * ac.der(self.level) == -self.outflow
            yield self.outflow == ac.sqrt(self.level)

    class Battery(ac.Component):
        capacity = ac.Parameter(3.0)
        charge = ac.Variable(start=2.0, fixed=True)
        drain = ac.Variable()

        def equations(self):
            yield self.drain == ac.sqrt(self.charge)
            yield -self.drain == self.capacity * ac.der(self.charge)

    class Both(ac.Component):
        def __init__(self):
            self.tank, self.battery = Tank(), Battery()

    model = ac.compile(Both())
    assert len(model.system.families) == 2
    assert all(f.count == 2 for f in model.system.families)
    result = model.simulate(until=1.0, rtol=1e-8)
    t = result.time
    np.testing.assert_allclose(result["tank.level"], (1 - t / 4) ** 2, atol=1e-6)
    np.testing.assert_allclose(result["battery.charge"], (np.sqrt(2.0) - t / 6) ** 2, atol=1e-6)


def test_compiling_a_component_again_gives_the_same_system():
    class Nonlinear(ac.Component):
        y = ac.Variable(shape=9, start=1.0, fixed=True)
        q = ac.Variable()

        def equations(self):
            yield ac.der(self.y) == -self.y * np.arange(1.0, 10.0)
            yield self.q == ac.sin(ac.sum(self.y**2))
            self.total = ac.sum(self.y)

    component = Nonlinear()
    first, second = ac.compile(component), ac.compile(component)
    assert first.system.size == second.system.size
    a, b = first.simulate(until=1.0), second.simulate(until=1.0)
    np.testing.assert_array_equal(a["q"], b["q"])
    np.testing.assert_array_equal(a["total"], b["total"])


def test_an_lc_circuit_keeps_its_energy_and_its_frequency():
    class Tank(ac.Component):
        def __init__(self):
            self.C, self.L, self.g = Capacitor(C=0.5, v=ac.start(2.0, fixed=True)), Inductor(L=2.0), Ground()

        def connections(self):
            yield self.C.p, self.L.p
            yield self.C.n, self.L.n, self.g.p

    class Start(Tank):
        def initial_equations(self):
            yield self.L.p.i == 0

    result = ac.compile(Start()).simulate(until=20.0, rtol=1e-10)
    energy = 0.5 * 0.5 * result["C.v"] ** 2 + 0.5 * 2.0 * result["L.p.i"] ** 2
    np.testing.assert_allclose(energy, 1.0, rtol=1e-6)
    np.testing.assert_allclose(result["C.v"], 2 * np.cos(result.time), atol=1e-5)


@st.composite
def networks(draw):
    """A connected graph of stores: a random tree and some more edges, with sizes."""
    n = draw(st.integers(2, 7))
    edges = [(draw(st.integers(0, k - 1)), k) for k in range(1, n)]
    edges += draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)).filter(lambda e: e[0] != e[1]), max_size=5))
    sizes = st.floats(0.2, 5.0)
    return (
        edges,
        draw(st.lists(sizes, min_size=n, max_size=n)),
        draw(st.lists(sizes, min_size=len(edges), max_size=len(edges))),
        draw(st.lists(st.floats(250.0, 400.0), min_size=n, max_size=n)),
    )


def _laplacian(n, edges, conductances):
    found = np.zeros((n, n))
    for (a, b), g in zip(edges, conductances, strict=True):
        found[[a, b], [a, b]] += g
        found[[a, b], [b, a]] -= g
    return found


@settings(max_examples=15)
@given(networks(), st.booleans())
def test_random_thermal_networks_follow_the_matrix_exponential_and_conserve_heat(network, arrays):
    edges, capacities, conductances, starts = network

    class Network(ac.Component):
        def __init__(self):
            if arrays:
                self.m = ac.array(Mass, len(starts), C=capacities, T=ac.start(starts, fixed=True))
                self.g = ac.array(Conductor, len(edges), G=conductances)
            else:
                self.m = [Mass(C=c, T=ac.start(t, fixed=True)) for c, t in zip(capacities, starts, strict=True)]
                self.g = [Conductor(G=g) for g in conductances]

        def connections(self):
            if arrays:
                yield self.g.a, self.m[[a for a, _ in edges]].port
                yield self.g.b, self.m[[b for _, b in edges]].port
            else:
                for g, (a, b) in zip(self.g, edges, strict=True):
                    yield g.a, self.m[a].port
                    yield g.b, self.m[b].port

    result = ac.compile(Network()).simulate(until=1.0, at=[0.3, 1.0], rtol=1e-9)
    matrix = -_laplacian(len(starts), edges, conductances) / np.array(capacities)[:, None]
    found = np.stack([result[f"m[{k}].T"] for k in range(len(starts))], axis=1)
    for row, t in zip(found, (0.3, 1.0), strict=True):
        np.testing.assert_allclose(row, expm(matrix * t) @ starts, rtol=1e-6)
    np.testing.assert_allclose(found @ capacities, np.dot(capacities, starts), rtol=1e-8)


@settings(max_examples=10)
@given(networks())
def test_random_circuits_follow_the_matrix_exponential(network):
    """Capacitors from every node to ground, resistors between nodes."""
    edges, capacities, resistances, starts = network

    class Circuit(ac.Component):
        def __init__(self):
            self.ground = Ground()
            self.C = ac.array(Capacitor, len(starts), C=capacities, v=ac.start(starts, fixed=True))
            self.R = [Resistor(R=r) for r in resistances]

        def connections(self):
            yield self.C.n, self.ground.p
            for r, (a, b) in zip(self.R, edges, strict=True):
                yield r.p, self.C[a].p
                yield r.n, self.C[b].p

    result = ac.compile(Circuit()).simulate(until=1.0, at=[1.0], rtol=1e-9)
    matrix = -_laplacian(len(starts), edges, 1 / np.array(resistances)) / np.array(capacities)[:, None]
    np.testing.assert_allclose(result["C.v"][-1], expm(matrix) @ starts, rtol=1e-6)
    voltage = result["C.v"][-1]
    for k, ((a, b), r) in enumerate(zip(edges, resistances, strict=True)):
        assert result[f"R[{k}].p.i"][-1] == pytest.approx((voltage[a] - voltage[b]) / r, rel=1e-5, abs=1e-4)


@settings(max_examples=12)
@given(trees())
@example(("div", ("k", 0.0), ("A",)))  # nothing is left to compute
def test_random_array_equations_are_computed_as_numpy_computes_them(tree):
    """An expression compiled to families and one computed with numpy: `y == expression` element by element."""
    values = numbers()
    shape = np.shape(read(tree, values, False))

    class Model(ac.Component):
        A, b, c, s = (ac.Variable(shape=SHAPES[k]) for k in "Abcs")
        y = ac.Variable(shape=shape)

        def equations(self):
            yield self.A == values["A"]
            yield self.b == values["b"]
            yield self.c == values["c"]
            yield self.s == float(values["s"])
            yield self.y == read(tree, {"A": self.A, "b": self.b, "c": self.c, "s": self.s, "t": ac.time}, True)

    state = ac.compile(Model()).steady_state(at=values["t"])
    np.testing.assert_allclose(state["y"][0], read(tree, values, False), rtol=1e-9, atol=1e-9)


def test_a_plane_of_cells_written_with_slices():
    """Diffusion on a grid, its edges held: two array slices per direction against the matrix exponential."""
    n, h = 8, 1 / 9

    class Plane(ac.Component):
        T = ac.Variable(shape=(n, n), fixed=True)

        def equations(self):
            T = self.T
            yield ac.der(T[1:-1, 1:-1]) == (T[2:, 1:-1] + T[:-2, 1:-1] + T[1:-1, 2:] + T[1:-1, :-2] - 4 * T[1:-1, 1:-1]) / h**2
            for edge in (T[0], T[-1], T[1:-1, 0], T[1:-1, -1]):
                yield ac.der(edge) == 0.0

    start = np.random.default_rng(0).normal(size=(n, n))
    model = ac.compile(Plane(T=ac.start(start)))
    matrix, number = np.zeros((n * n, n * n)), np.arange(n * n).reshape(n, n)
    for i in range(1, n - 1):
        for j in range(1, n - 1):
            matrix[number[i, j], number[[i + 1, i - 1, i, i], [j, j, j + 1, j - 1]]] += 1 / h**2
            matrix[number[i, j], number[i, j]] -= 4 / h**2
    end = model.simulate(until=0.01, at=[0.01], rtol=1e-9)["T"][-1]
    np.testing.assert_allclose(end.ravel(), expm(matrix * 0.01) @ start.ravel(), atol=1e-7)
    assert len(model.system.families) == 2


def test_models_without_unknowns_or_without_states():
    class Numbers(ac.Component):
        a = ac.Parameter(2.0)
        b = ac.Parameter(3 * a)

    assert ac.compile(Numbers()).simulate(until=1.0)["b"][-1] == 6.0

    class Algebraic(ac.Component):
        y = ac.Variable(start=0.5)

        def equations(self):
            yield self.y == ac.sin(ac.time) + 0.5 * ac.cos(self.y)

    result = ac.compile(Algebraic()).simulate(start=2.0, until=10.0, rtol=1e-8)
    np.testing.assert_allclose(result["y"], np.sin(result.time) + 0.5 * np.cos(result["y"]), atol=1e-6)


class _Fed(ac.Component):
    u, x = ac.Input(1.0), ac.Variable(start=0.0, fixed=True)

    def equations(self):
        yield ac.der(self.x) == self.u - self.x


class _Feeding(ac.Component):
    load = ac.Input(3.0)

    def __init__(self) -> None:
        self.part, self.other = _Fed(), _Fed()

    def equations(self):
        yield self.part.u == -self.load / (1 + self.other.x)


def test_an_input_of_a_part_that_is_the_negative_of_something_is_stated() -> None:
    result = ac.compile(_Feeding()).simulate(until=5.0, at=[5.0], rtol=1e-9)
    np.testing.assert_allclose(result["part.u"][-1], -3.0 / (2 - np.exp(-5.0)), rtol=1e-7)
    assert result["other.u"][-1] == 1.0
