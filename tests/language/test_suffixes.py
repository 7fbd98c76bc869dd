"""Units at the end of names of columns: read where they can be nothing else, told where they may be a unit."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import acausal as ac
from acausal.language.suffixes import suffixes


class Sources(ac.Component):
    T, dT = ac.Input(280.0, unit="K"), ac.Input(1.0, unit="K")
    p = ac.Input(1e5, unit="Pa")
    x, tau = ac.Input(0.0, unit="m"), ac.Input(1.0, unit="s")
    q = ac.Input(0.0, unit="m^3/s")
    plain, date = ac.Input(0.0), ac.Input(0.0)
    p_bar, T_C = ac.Input(1e5, unit="Pa"), ac.Input(280.0, unit="K")
    y = ac.Variable(start=0.0, fixed=True)

    def equations(self) -> Iterator[Any]:
        yield ac.der(self.y) == self.plain


MODEL = ac.compile(Sources(), units=False)


def value(name: str, given: Any) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return float(MODEL.simulate(until=1.0, inputs={name: given})[name][0])


def written(folder: Path, header: str, numbers: str = "10,10", time: str = "time") -> str:
    path = folder / "data.csv"
    path.write_text(f'"{time}","{header}"\n0,{numbers.split(",")[0]}\n1,{numbers.split(",")[-1]}\n', encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(
    ("name", "header", "expected"),
    [
        ("T", "T_degC", 283.15),
        ("T", "T_out_degC", 283.15),
        ("T", "T degC", 283.15),
        ("T", "T_deg_C", 283.15),
        ("T", "T_celsius", 283.15),
        ("T", "T_K", 10.0),
        ("T", "T [degC]", 283.15),
        ("T", "T (°C)", 283.15),
        ("T", "T / degC", 283.15),
        ("T", "T_out/degC", 283.15),
        ("T", "Temperatur/°C", 283.15),
        ("p", "Druck/bar", 1e6),
        ("q", "flow/(l/min)", 10 / 60000),
        ("T", "dT/dt", 10.0),
        ("plain", "Q/A", 10.0),
        *(("T", header, 283.15) for header in ("T °C", "T_°C", "T in °C", "T - °C", "T(°C)", "T {degC}", "T.degC", "T; ℃")),
        *(("T", header, 283.15) for header in ("T (Celsius)", "T [deg C]", "T [in °C]", "T [°C]")),
        ("p", "Pressure in bar", 1e6),
        ("q", "flow l/min", 10 / 60000),
        ("q", "flow in m3/h", 10 / 3600),
        ("T", "T (outside)", 10.0),
        ("T", "T_1", 10.0),
        ("T", "T_in", 10.0),  # an inch is no temperature
        ("T", "T_min", 10.0),
        ("T", "T_mean", 10.0),
        ("dT", "T_K", 10.0),
        ("p", "p_bar", 1e6),
        ("p", "p_kPa", 1e4),
        ("p", "p_Pa", 10.0),
        ("x", "x_m", 10.0),
        ("x", "x_mm", 0.01),
        ("q", "flow_m3_h", 10 / 3600),
        ("q", "flow_l_per_min", 10 / 60000),
        ("q", "m_dot", 10.0),
        ("plain", "share_percent", 10.0),  # nobody says that it has a unit
        ("plain", "T_degC", 10.0),
        ("plain", "plain_percent", 0.1),  # but behind its own name it can be nothing else
        ("p_bar", "p_bar", 10.0),  # its name, and no unit
        ("p_bar", "p_bar [bar]", 1e6),
        ("p_bar", "p_kPa", 1e4),
        ("p_bar", "p_bar_kPa", 1e4),
        ("T_C", "T_C", 10.0),
        ("date", "date", 10.0),  # another column is the time
    ],
)
def test_a_unit_at_the_end_is_read_where_it_can_be_nothing_else(name: str, header: str, expected: float, tmp_path: Path) -> None:
    assert value(name, written(tmp_path, header)) == pytest.approx(expected)
    assert value(name, (written(tmp_path, header), header)) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("name", "header", "unit"),
    [("x", "x_in", "in"), ("tau", "tau_min", "min"), ("T", "T_C", "degC"), ("T", "T_F", "degF"), ("dT", "dT_degC", "degC")],
)
def test_what_may_be_a_unit_is_told(name: str, header: str, unit: str, tmp_path: Path) -> None:
    declared = {"x": "m", "tau": "s"}.get(name, "K")
    with pytest.warns(ac.ModelWarning, match=rf"`{header}`.*are taken to be in {declared}.*may mean {unit}") as told:
        result = MODEL.simulate(until=1.0, inputs={name: written(tmp_path, header)})
    assert result[name][0] == 10.0
    assert f"[{unit}]" in str(told[0].message) and f'unit="{declared}"' in str(told[0].message)
    assert value(name, ac.data(written(tmp_path, header), unit=declared)) == 10.0


def test_a_column_is_found_by_its_name_without_the_unit(tmp_path: Path) -> None:
    assert value("T", (written(tmp_path, "T_degC"), "T")) == pytest.approx(283.15)
    for name, header in (("p", "T_degC"), ("x", "T_in"), ("T", "T_in")):  # of another dimension, or not sure
        with pytest.raises(ac.UsageError, match="has no column `T`"):
            value(name, (written(tmp_path, header), "T"))


@pytest.mark.parametrize(
    ("time", "seconds"),
    [
        *(("time_h", 3600.0), ("time_min", 60.0), ("t_s", 1.0), ("Time_hours", 3600.0), ("time", 1.0)),
        *(("t in h", 3600.0), ("Time; h", 3600.0), ("Zeit in Stunden", 3600.0), ("h", 3600.0), ("ms", 1e-3), ("Tage", 86400.0)),
    ],
)
def test_times_have_units_at_the_end_of_their_name(time: str, seconds: float, tmp_path: Path) -> None:
    table = written(tmp_path, "u", "0,1", time)
    result = MODEL.simulate(until=seconds, inputs={"plain": table}, points=3)
    assert np.allclose(result["plain"], [0.0, 0.5, 1.0])


@pytest.mark.parametrize("unit", ["C", "F"])
def test_degrees_that_are_written_as_charge_are_told(unit: str, tmp_path: Path) -> None:
    with pytest.raises(ac.UsageError, match=rf"Write `\[deg{unit}\]` for {unit} degrees"):
        value("T", written(tmp_path, f"T [{unit}]"))


def test_what_is_said_of_a_file_without_units_counts(tmp_path: Path) -> None:
    assert value("T", ac.data(written(tmp_path, "T"), "T", unit="degC")) == pytest.approx(283.15)
    assert value("T", ac.data(written(tmp_path, "T [°C]"), unit="degC")) == pytest.approx(283.15)
    assert value("T", ac.data(written(tmp_path, "T_degC"), unit="K")) == 10.0
    with pytest.raises(ac.UsageError, match=r"`T \[degC\]`.* is in degC, and is said to be in K") as caught:
        value("T", ac.data(written(tmp_path, "T [degC]"), unit="K"))
    assert "Leave out `unit=…`" in str(caught.value)


def test_a_series_says_it_in_its_name() -> None:
    pandas = pytest.importorskip("pandas")
    index = pandas.Index([0.0, 1.0], name="time_h")
    series = pandas.Series([0.0, 10.0], index=index, name="T_degC")
    result = MODEL.simulate(until=3600.0, inputs={"T": series}, points=3)
    assert np.allclose(result["T"], [273.15, 278.15, 283.15])


def test_an_ending_that_is_part_of_a_name_is_no_unit(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"time": [0.0, 1.0], "p_bar": [1e5, 1e5]})
    path = written(tmp_path, "p_bar", "1e5,1e5")
    for given in (frame, (frame, "p_bar"), frame.set_index("time")["p_bar"], ac.data(path), ac.data(path, "p_bar")):
        assert value("p_bar", given) == 1e5
        assert value("p", given) == 1e10
    assert value("p_bar", ac.data(path, unit="bar")) == 1e10
    part = ac.compile(type("Plant", (ac.Component,), {"source": Sources()})(), units=False)
    assert part.simulate(until=1.0, inputs={"source.p_bar": path})["source.p_bar"][0] == 1e5


def test_a_time_in_a_column_goes_before_an_index() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"time": [0.0, 1.0], "T_degC": [10.0, 10.0]})
    for index in (pandas.Index([7, 8], name="sample"), pandas.to_datetime(["2024-01-01", "2024-01-02"])):
        assert value("T", frame.set_index(index)) == pytest.approx(283.15)
    with pytest.raises(ac.UsageError, match="an index of 2 levels"):
        value("T", frame.set_index(pandas.MultiIndex.from_arrays([["a", "a"], [0, 1]])))


def test_endings_that_are_no_units() -> None:
    for title in ("m_dot", "T_1", "x", "_", "a__", "T_out", "u_ref", "pct", "n_cfm", "degC"):
        assert suffixes(title) == []
