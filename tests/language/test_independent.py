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


class Fed(ac.Component):
    """What comes in over years."""

    t = ac.Independent(unit="year")
    N, late = ac.Variable(start=0.0, fixed=True), ac.Variable()
    u = ac.Input(0.0, unit="1/year")
    on = ac.Boolean(False)

    def equations(self) -> Any:
        yield ac.der(self.N) == self.u
        yield self.late == ac.delay(self.N, "6 month")
        yield self.on == (self.N > 1.0)


@pytest.mark.parametrize(
    "text",
    [
        "time [year],u\n0,1\n2,1\n",
        "time [month];u\n0;1\n24;1\n",
        "time,u\n0,1\n2,1\n",
        "t,u\n0,1\n2,1\n",
        "years,u [1/month]\n0,0.08333333333333333\n2,0.08333333333333333\n",
        "days,u\n0,1\n730.5,1\n",
        "date,u\n2020-01-01,1\n2022-01-01,1\n",
    ],
)
def test_files_are_read_in_the_unit_of_the_model(text: str, tmp_path: Path) -> None:
    (tmp_path / "u.csv").write_text(text)
    given = ac.data(str(tmp_path / "u.csv"), ends="stop") if "date" not in text else str(tmp_path / "u.csv")
    result = ac.compile(Fed()).simulate(until=2.0, at=[0.0, 1.0, 2.0], inputs={"u": given}, rtol=1e-9)
    assert result["N"][-1] == pytest.approx(2.0, rel=1e-8)
    assert result["late"][-1] == pytest.approx(1.5, rel=1e-6)


def test_frames_and_signals_are_in_the_unit_of_the_model() -> None:
    pandas = pytest.importorskip("pandas")
    model = ac.compile(Fed())
    days = pandas.Series([0.0, 1.0], index=pandas.to_timedelta([0.0, 365.25], unit="D"))
    assert model.simulate(until=1.0, inputs={"u": days})["N"][-1] == pytest.approx(0.5, rel=1e-4)
    saw = ac.data([0.0, 6.0, 12.0], [0.0, 1.0, 0.0], ends="repeat", period="1 year", time_unit="month")
    assert model.simulate(until=3.0, inputs={"u": saw})["N"][-1] == pytest.approx(1.5, rel=1e-4)
    wind = ac.random_signal(ac.uniform(0.0, 1.0), "3 year", every="1 month", seed=3)
    mean = float(wind.values[:36].mean())
    assert model.simulate(until=3.0, inputs={"u": wind})["N"][-1] == pytest.approx(3.0 * mean, rel=1e-4)
    with pytest.raises(ac.UsageError, match="are 2 year long and cannot repeat after 1 year"):
        model.simulate(until=3.0, inputs={"u": ac.data([0.0, 2.0], [0.0, 1.0], ends="repeat", period="1 year")})
    with pytest.raises(ac.UsageError, match="`u` go from 0 year to 2 year, the run from 0 year to 3 year"):
        model.simulate(until=3.0, inputs={"u": ac.data([0.0, 2.0], [0.0, 1.0], ends="stop")})


def test_a_time_is_no_length(tmp_path: Path) -> None:
    class Pushed(Fin):
        u = ac.Input(0.0)

    model = ac.compile(Pushed())
    for text, said in (("time [h],u\n0,1\n2,1\n", "is in h"), ("date,u\n2020-01-01,1\n2022-01-01,1\n", "holds dates")):
        (tmp_path / "u.csv").write_text(text)
        with pytest.raises(ac.UsageError, match=f"taken for `z`, over which the model is integrated in m, but it {said}"):
            model.simulate(until=0.1, inputs={"u": str(tmp_path / "u.csv")})
    with pytest.raises(ac.UsageError, match="times of input `u` are in s, but the model is integrated over a quantity in m"):
        model.simulate(until=0.1, inputs={"u": ac.random_signal(ac.uniform(0.0, 1.0), "1 h", every="1 min")})


def test_what_is_printed_names_the_unit() -> None:
    model = ac.compile(Fed())
    result = model.simulate(until="24 month", inputs={"u": 1.0})
    assert "event at 0.5 year" in str(result.events[0]) and " 1 year " in repr(result.events)
    assert len(result.events.between("6 month", "13 month")) >= 1
    assert "from 1 year to 2 year" in str(result.states("on")[-1])
    assert "0 … 2 year" in repr(result) and "0 … 2 year" in result._repr_html_()
    assert "0 … 2 year" in str(result.diagnose()).splitlines()[0]
    other = model.simulate(until=2.0, inputs={"u": 1.1})
    assert "at 2 year" in str(ac.compare(result, other, "N", time_tolerance="1 day"))
    with pytest.raises(ac.UsageError, match="one in m: they cannot be compared"):
        ac.compare(result, ac.compile(Fin()).simulate(until=1.0))
    with pytest.raises(ac.UsageError, match="fail at 5 year; the run goes from 0 year to 2 year"):
        model.simulate(until=2.0, failures={"u": ("60 month", 0.0)})


def test_measurements_are_in_the_unit_of_the_model() -> None:
    pandas = pytest.importorskip("pandas")
    model = ac.compile(Savings())
    months = np.arange(0.0, 61.0, 6.0)
    grown = 100.0 * np.exp(0.07 * months / 12.0)
    fit = model.fit({"time [month]": months, "N": grown}, {"r": (0.01, 0.2)})
    assert fit["r"] == pytest.approx(0.07, rel=1e-4)
    frame = pandas.DataFrame({"N": 100.0 * np.exp(0.05 * months / 12.0)}, index=pandas.Index(months, name="time [month]"))
    assert ac.compare(model.simulate(until=5.0, rtol=1e-9), frame).agree


def test_studies_and_gradients_are_in_the_unit_of_the_model() -> None:
    model = ac.compile(Savings())
    table = ac.study(model, {"r": [0.05]}, {"area": ac.integral("N")}, until="2 year")
    assert table["area"][0] == pytest.approx(100.0 / 0.05 * np.expm1(0.1), rel=1e-4)


def test_the_command_line_is_in_the_unit_of_the_model(tmp_path: Path) -> None:
    import subprocess
    import sys

    (tmp_path / "savings.py").write_text(
        "import acausal as ac\nclass Savings(ac.Component):\n    t = ac.Independent(unit='year')\n"
        "    N = ac.Variable(start=100.0, fixed=True)\n    r = ac.Parameter(0.05, unit='1/year')\n"
        "    def equations(self):\n        yield ac.der(self.N) == self.r * self.N\n"
    )
    call = [sys.executable, "-m", "acausal", "run", "savings.py", "--until"]
    ran = subprocess.run([*call, "24month"], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert "0 … 2 year" in ran.stdout + ran.stderr, ran.stdout + ran.stderr
    ran = subprocess.run([*call, "3m"], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert ran.returncode and "integrated over a quantity in year" in ran.stdout + ran.stderr
