"""Results of real runs: names, slices, units, expressions, and the way to files and back."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from plants import Boundary, Conductor, HeatPort, Mass

import acausal as ac
from acausal.errors import NameNotFound


class Wall(ac.Component):
    """Layers in a row, warm on the left; profile and derived quantities with every kind of shape."""

    left = HeatPort()
    T = ac.Variable(shape=4, start=[300.0, 310.0, 320.0, 330.0], fixed=True, unit="K", doc="layers")
    G, C = ac.Parameter(2.0, unit="W/K"), ac.Parameter(3.0, unit="J/K")
    mean = ac.Variable(unit="K")

    def equations(self):
        flow = self.G * (self.T[:-1] - self.T[1:])
        yield self.C * ac.der(self.T[1:-1]) == flow[:-1] - flow[1:]
        yield self.C * ac.der(self.T[0]) == self.left.Q_flow - flow[0]
        yield self.C * ac.der(self.T[-1]) == flow[-1]
        yield self.left.T == self.T[0]
        yield self.mean == ac.mean(self.T)
        self.flow = ac.named(flow, unit="W", doc="between layers")
        self.heat = self.C * ac.sum(self.T)


class House(ac.Component):
    def __init__(self):
        self.walls = ac.array(Wall, 3, G=[1.0, 2.0, 3.0])
        self.links, self.outside = ac.array(Conductor, 3), Boundary(T=280.0)

    def connections(self):
        yield self.walls.left, self.links.a
        yield self.links.b, self.outside.port


@pytest.fixture(scope="module")
def run():
    return ac.compile(House()).simulate(until=2.0, points=21, rtol=1e-8)


def test_slices_and_negative_indices_are_those_of_the_whole(run):
    whole = run["walls.T"]
    assert whole.shape == (21, 3, 4)
    for path, key in (
        ("walls[1].T[3]", np.s_[:, 1, 3]), ("walls[-1].T[-1]", np.s_[:, -1, -1]), ("walls[::-1].T[1:3]", np.s_[:, ::-1, 1:3]),
        ("walls[1:].T", np.s_[:, 1:]), ("walls.T[0]", np.s_[:, :, 0]), ("walls[0].T[::2]", np.s_[:, 0, ::2]),
    ):  # fmt: skip
        np.testing.assert_array_equal(run[path], whole[key])


def test_aliases_expressions_parameters_and_time(run):
    T = run["walls.T"]
    np.testing.assert_array_equal(run["walls.left.T"], T[:, :, 0])
    np.testing.assert_allclose(run["walls.flow"], np.array([[1.0], [2.0], [3.0]]) * (T[:, :, :-1] - T[:, :, 1:]))
    np.testing.assert_allclose(run["walls[1].flow[-1]"], 2 * (T[:, 1, 2] - T[:, 1, 3]))
    np.testing.assert_allclose(run["walls.heat"], 3 * T.sum(2))
    np.testing.assert_allclose(run["walls.mean"], T.mean(2), rtol=1e-7)
    np.testing.assert_allclose(run["links.a.Q_flow"], -run["walls.left.Q_flow"])
    np.testing.assert_array_equal(run["walls.G"], np.broadcast_to([1.0, 2.0, 3.0], (21, 3)))
    np.testing.assert_array_equal(run["outside.port.T"], 280.0)
    np.testing.assert_array_equal(run["time"], run.time)


def test_heat_is_conserved(run):
    """What the walls lose has gone through the links (integral by the exact rate of the whole)."""
    rate = -run["links.a.Q_flow"].sum(1)
    np.testing.assert_allclose(3 * run["der(walls.T)"].sum((1, 2)), rate, atol=1e-3)
    np.testing.assert_allclose(run["outside.port.Q_flow"], -rate, atol=1e-9)


def test_units_and_documentation(run):
    assert run.unit("walls.T") == "K" and run.unit("walls[0].flow") == "W" and run.unit("time") == "s"
    assert run.unit("der(walls[0].T)") == "K/s"
    assert run.description("walls.T") == "layers" and run.description("walls.flow") == "between layers"
    np.testing.assert_allclose(run.in_unit("walls.T", "degC"), run["walls.T"] - 273.15)
    with pytest.raises(ac.ModelError, match="W"):
        run.in_unit("walls.T", "W")


def test_names(run):
    names = run.names()
    assert len(set(names)) == len(names)
    assert {"walls[2].T[3]", "walls[0].flow[2]", "links[1].G", "outside.port.Q_flow", "walls[1].left.T"} <= set(names)
    assert run.names("walls[[]0].T*") == [f"walls[0].T[{k}]" for k in range(4)] or run.names("walls[0].T*") == [
        f"walls[0].T[{k}]" for k in range(4)
    ]
    for name in names[:: max(1, len(names) // 40)]:
        assert run[name].shape == (21,)


def test_wrong_names(run):
    for name in ("walls[0].flow[7]", "walls[3].T", "walls.X", "der(walls.flow)"):
        with pytest.raises(NameNotFound):
            run[name]


def test_save_and_load(run, tmp_path):
    run.save(tmp_path / "run.acr")
    loaded = ac.load(tmp_path / "run.acr")
    assert set(loaded.names()) == set(run.names())
    for name in run.names():
        np.testing.assert_allclose(loaded[name], run[name], rtol=1e-14, err_msg=name)
        assert loaded.unit(name) == run.unit(name)
    for path in ("walls.T", "walls[1:].T[-1]", "walls.flow"):
        np.testing.assert_allclose(loaded[path], run[path], rtol=1e-14)
    assert loaded.outcome.name == "FINISHED"


@pytest.mark.parametrize("format", ["csv", "parquet", "h5", "mat"])
def test_exports_hold_the_same_numbers(run, tmp_path, format):
    path = tmp_path / f"run.{format}"
    run.export(path, ["walls[1].T[2]", "links[0].a.Q_flow", "walls[2].mean"])
    expected = {n: run[n] for n in ("walls[1].T[2]", "links[0].a.Q_flow", "walls[2].mean")}
    if format == "csv":
        with open(path, newline="") as file:
            header, *rows = list(csv.reader(file))
        columns = {h.split(" [")[0] if h.endswith("]") and " [" in h else h: k for k, h in enumerate(header)}
        for name, values in expected.items():
            np.testing.assert_allclose([float(r[columns[name]]) for r in rows], values, rtol=1e-12)
    elif format == "parquet":
        pandas = pytest.importorskip("pandas")
        frame = pandas.read_parquet(path)
        for name, values in expected.items():
            np.testing.assert_array_equal(frame[name], values)
    else:
        assert path.stat().st_size > 0


def test_pandas(run):
    frame = run.to_pandas(["walls[0].T", "outside.port.T"])
    np.testing.assert_array_equal(frame["walls[0].T[1]"], run["walls[0].T[1]"])
    assert len(frame) == 21


def test_a_result_can_be_shown_before_anything_else(run):
    assert repr(run) == "<Result of House: 21 points, 0 … 2 s, finished>"
    assert run.metadata["model"] == "House"
    assert len(run.stored_names) == len(set(run.stored_names))


def test_a_result_outlives_other_runs_of_its_model():
    model = ac.compile(Mass())
    first = model.simulate(until=1.0)
    kept = first["T"].copy()
    model.simulate(until=5.0)
    np.testing.assert_array_equal(first["T"], kept)


def test_the_derivative_of_an_input_was_not_computed():
    class Driven(ac.Component):
        u = ac.Input()
        x = ac.Variable(start=0.0, fixed=True)

        def equations(self):
            yield ac.der(self.x) == self.u

    result = ac.compile(Driven()).simulate(until=1.0, inputs={"u": lambda t: t})
    np.testing.assert_allclose(result["x"], result.time**2 / 2, atol=1e-6)
    with pytest.raises(NameNotFound, match="given from outside"):
        result["der(u)"]


def test_a_run_that_stored_some_variables_gives_those_when_all_are_asked_for(tmp_path):
    part = ac.compile(House()).simulate(until=2.0, points=5, store=["walls[1].mean", "links[0].a.T"])
    assert part.partial and part.time_reached == 2.0
    table = part.to_pandas()
    assert {"walls[1].mean", "links[0].a.T", "walls[2].G"} <= set(table.columns)  # parameters have values anyway
    assert "walls[2].mean" not in table.columns
    part.save(tmp_path / "part.acr")
    again = ac.load(tmp_path / "part.acr")
    np.testing.assert_array_equal(again["walls[1].mean"], part["walls[1].mean"])
    assert again.time_reached == 2.0


def test_a_run_that_stored_everything_is_not_partial(run):
    assert not run.partial and run.time_reached == run.metadata["time_reached"] == 2.0


def test_an_array_of_no_elements_that_a_definition_replaces_is_empty():
    class Row(ac.Component):
        x = ac.Variable(start=1.0, fixed=True)

        def __init__(self, n):
            self.z, self.p = ac.Variable(shape=n, start=0.0), ac.Variable(shape=n)

        def equations(self):
            yield ac.der(self.x) == -self.x
            yield ac.der(self.z) == self.x - self.z
            yield self.p == self.z * 2.0 + self.x

    for n in (0, 1):
        result = ac.compile(Row(n)).simulate(until=1.0, points=3)
        assert result["p"].shape == result["z"].shape == (3, n)
