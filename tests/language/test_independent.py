"""The independent variable with a name and a unit of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import acausal as ac


class Fin(ac.Component):
    """A fin in still air: k A T'' = h P (T - T_air), marched from its root."""

    z = ac.Independent(unit="m", doc="distance from the root")
    T, slope = ac.Variable(start=400.0, fixed=True, unit="K"), ac.Variable(start=-500.0, fixed=True, unit="K/m")
    m = ac.Parameter(5.0, unit="1/m")
    air = ac.Parameter(300.0, unit="K")

    def equations(self) -> Any:
        yield ac.der(self.T) == self.slope
        yield ac.der(self.slope) == self.m**2 * (self.T - self.air)


class Savings(ac.Component):
    t = ac.Independent(unit="year")
    N = ac.Variable(start=100.0, fixed=True)
    r = ac.Parameter(0.05, unit="1/year")

    def equations(self) -> Any:
        yield ac.der(self.N) == self.r * self.N


def test_a_length() -> None:
    r = ac.compile(Fin()).simulate(until="40 cm", every="10 cm", rtol=1e-9)
    np.testing.assert_allclose(r.time, [0.0, 0.1, 0.2, 0.3, 0.4])
    np.testing.assert_allclose(r["T"], 300.0 + 100.0 * np.exp(-5.0 * r.time), rtol=1e-6)
    np.testing.assert_array_equal(r["z"], r.time)
    assert (r.unit("time"), r.unit("z"), r.description("time")) == ("m", "m", "distance from the root")
    assert r.at("20 cm")["T"] == pytest.approx(300.0 + 100.0 * np.exp(-1.0), rel=1e-6)
    assert list(r.to_pandas("T", time_unit="cm").index) == pytest.approx([0.0, 10.0, 20.0, 30.0, 40.0])
    assert r.plot("T").axes[0].get_xlabel() == "Distance from the root (m)"
    with pytest.raises(ac.UsageError, match='integrated over a quantity in m: a number, or a text such as "2 m"'):
        ac.compile(Fin()).simulate(until="2 h")


def test_years() -> None:
    model = ac.compile(Savings())
    r = model.simulate(until=20.0, start=2.0, rtol=1e-9)
    assert r["N"][-1] == pytest.approx(100.0 * np.exp(0.9), rel=1e-6)
    assert model.simulate(until="240 month", start="2 year")["time"][-1] == pytest.approx(20.0)
    session = model.start()
    assert session.advance("1 year")["N"] == pytest.approx(100.0 * np.exp(0.05), rel=1e-5)


def test_it_is_kept_in_files(tmp_path: Path) -> None:
    model = ac.compile(Savings())
    model.save(tmp_path / "savings.acm")
    again = ac.load(tmp_path / "savings.acm").simulate(until="3 year")
    assert (again.time[-1], again.unit("time")) == (3.0, "year")
    again.save(tmp_path / "run.acausal")
    assert ac.load(tmp_path / "run.acausal").unit("time") == "year"


def test_parts_that_count_seconds_do_not_go_with_it() -> None:
    class Mixed(ac.Component):
        z = ac.Independent(unit="m")
        T, C = ac.Variable(start=300.0, unit="K", fixed=True), ac.Parameter(10.0, unit="J/K")
        Q = ac.Parameter(5.0, unit="W")

        def equations(self) -> Any:
            yield self.C * ac.der(self.T) == self.Q

    with pytest.raises(ac.ModelError, match="The units do not agree"):
        ac.compile(Mixed())

    class Two(ac.Component):
        t = ac.Independent(unit="s")

        def __init__(self) -> None:
            self.fin = Fin()

        def equations(self) -> Any:
            yield from ()

    with pytest.raises(ac.ModelError, match="two independent variables"):
        ac.compile(Two())


def test_a_unit_that_nobody_knows() -> None:
    with pytest.raises(ac.UsageError, match="zzz"):
        ac.Independent(unit="zzz")
