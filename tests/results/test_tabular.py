from __future__ import annotations

import csv
import json
import sys

import numpy as np
import pytest

from acausal.container import FileError
from acausal.errors import UsageError
from acausal.results import tabular


def test_pandas(result):
    pytest.importorskip("pandas")
    table = tabular.to_pandas(result, ["wall.T", "sink.m_flow"], units={"wall.T": "degC"})
    assert list(table.columns) == [f"wall.T[{i}]" for i in range(5)] + ["sink.m_flow"]
    assert table.index.name == "time"
    np.testing.assert_array_equal(table.index, result.time)
    np.testing.assert_allclose(table["wall.T[2]"], result["wall.T[2]"] - 273.15, rtol=1e-13)
    assert table.attrs["units"] == {**{f"wall.T[{i}]": "degC" for i in range(5)}, "sink.m_flow": "kg/s"}
    assert table.attrs["title"] == result.title


def test_csv_is_read_back_to_the_last_digit(result, tmp_path, monkeypatch):
    monkeypatch.setattr(tabular, "CHUNK_BYTES", 3000)  # several pieces
    tabular.write_csv(result, tmp_path / "all.csv")
    with open(tmp_path / "all.csv", newline="", encoding="utf-8") as stream:
        header, *rows = list(csv.reader(stream))
    assert header == ["time", *result.names()]
    table = np.array(rows, dtype=np.float64)
    np.testing.assert_array_equal(table[:, 0], result.time)
    for k, name in enumerate(result.names(), 1):
        np.testing.assert_array_equal(table[:, k], result[name])


def test_pandas_reads_the_csv_by_default(result, tmp_path):
    pandas = pytest.importorskip("pandas")
    tabular.write_csv(result, tmp_path / "few.csv", ["grid.T", "C.v"])
    table = pandas.read_csv(tmp_path / "few.csv", index_col="time")
    pandas.testing.assert_frame_equal(table, tabular.to_pandas(result, ["grid.T", "C.v"]), rtol=1e-15)


def test_csv_with_units_in_the_header(result, tmp_path):
    tabular.write_csv(result, tmp_path / "few.csv", ["ambient.T", "heater.level"], with_units=True)
    assert (tmp_path / "few.csv").read_text().splitlines()[:2] == ["time [s],ambient.T [K],heater.level [1]", "0.0,293.15,0.0"]


def test_parquet(result, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    tabular.write_parquet(result, tmp_path / "all.parquet", unit={"ambient.T": "degC"})
    table = parquet.read_table(tmp_path / "all.parquet")
    assert table.schema.field("pump.m_flow").metadata == {b"unit": b"kg/s", b"description": b"mass flow into the pump"}
    assert table.schema.field("ambient.T").metadata[b"unit"] == b"degC"
    np.testing.assert_array_equal(table["sink.m_flow"].to_numpy(), result["sink.m_flow"])
    np.testing.assert_array_equal(table["time"].to_numpy(), result.time)
    assert json.loads(table.schema.metadata[b"PANDAS_ATTRS"])["title"] == result.title


def test_pandas_finds_the_units_of_a_parquet_file(result, tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    tabular.write_parquet(result, tmp_path / "few.parquet", "wall.T")
    assert pandas.read_parquet(tmp_path / "few.parquet").attrs["units"]["wall.T[4]"] == "K"


def test_hdf5(result, tmp_path, monkeypatch):
    h5py = pytest.importorskip("h5py")
    monkeypatch.setattr(tabular, "CHUNK_BYTES", 7 * 8 * len(result.time))  # blocks of seven, the last one not full
    tabular.write_hdf5(result, tmp_path / "all.h5")
    with h5py.File(tmp_path / "all.h5") as file:
        names = list(file["names"].asstr())
        assert names == result.names()
        for row, name in enumerate(names):
            np.testing.assert_array_equal(file["values"][row], result[name])
            assert file["units"].asstr()[row] == result.unit(name)
        assert file["descriptions"].asstr()[names.index("pump.m_flow")] == "mass flow into the pump"
        assert file.attrs["title"] == result.title


@pytest.mark.parametrize(("ending", "module"), [(".parquet", "pyarrow"), (".h5", "h5py")])
def test_a_missing_package_is_told_with_the_command(result, tmp_path, monkeypatch, ending, module):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(UsageError, match=rf"needs `{module}`(.|\n)*pip install acausal\[export\]"):
        tabular.export(result, tmp_path / f"x{ending}")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".h5", ".mat"])
def test_every_format_by_its_ending_and_an_impossible_path(result, tmp_path, ending):
    pytest.importorskip({".parquet": "pyarrow", ".h5": "h5py"}.get(ending, "numpy"))
    result.export(tmp_path / f"x{ending.upper()}")
    assert [file.name for file in tmp_path.iterdir()] == [f"x{ending.upper()}"]
    with pytest.raises(FileError, match="its folder does not exist"):
        result.export(tmp_path / "nowhere" / f"x{ending}")
    with pytest.raises(FileError, match="a part of the path is a file"):
        result.export(tmp_path / f"x{ending.upper()}" / f"x{ending}")


def test_an_unknown_ending(result, tmp_path):
    with pytest.raises(UsageError, match=r"The ending of .*x\.xls(.|\n)*`\.csv`"):
        tabular.export(result, tmp_path / "x.xls")
    with pytest.raises(UsageError, match="'excel'"):
        tabular.export(result, tmp_path / "x.csv", form="excel")


@pytest.mark.parametrize("form", list(tabular.FORMS))
def test_a_full_device_is_told_and_left_alone(result, full_device, form):
    pytest.importorskip({"parquet": "pyarrow", "hdf5": "h5py"}.get(form, "numpy"))
    with pytest.raises(FileError, match="it is a device or a pipe" if form == "hdf5" else "the disk is full"):
        tabular.export(result, full_device, form=form)
    assert full_device.is_char_device()
    assert list(full_device.parent.iterdir()) == [full_device]


def test_one_unit_is_for_whatever_can_be_given_in_it(result):
    pytest.importorskip("pandas")
    table = result.to_pandas("ambient.T", "R.R", "grid.T", units="degC")
    assert table.attrs["units"]["ambient.T"] == table.attrs["units"]["grid.T[1, 2]"] == "degC"
    assert table.attrs["units"]["R.R"] == "ohm"
    np.testing.assert_allclose(table["ambient.T"], 20.0, rtol=1e-12)


@pytest.mark.parametrize("key", ["wall.T", "K", "wall.*", "wall.T[3]"])
def test_units_by_name_pattern_or_declared_unit(result, key):
    pytest.importorskip("pandas")
    table = result.to_pandas(["wall.T[3]"], unit={key: "degC"})
    np.testing.assert_allclose(table["wall.T[3]"], result["wall.T[3]"] - 273.15, rtol=1e-12)


def test_a_name_counts_more_than_the_declared_unit(result):
    pytest.importorskip("pandas")
    table = result.to_pandas("ambient.T", "wall.T[0]", unit={"ambient.T": "degF", "K": "degC"})
    assert table.attrs["units"] == {"ambient.T": "degF", "wall.T[0]": "degC"}


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"unit": {"wal.T": "degC"}}, "`unit` names `wal.T`, which is none of the variables asked for"),
        ({"unit": "bar"}, "None of the variables can be given in `bar`; their units are K"),
        ({"unit": 3}, "got 3 of type int"),
        ({"unit": "degC", "units": "degC"}, "`unit` and `units` are the same"),
        ({"window": 5}, "`window` is two times"),
        ({"window": (20.0, 30.0)}, "shows nothing of the run, which goes from 0 s to 10 s"),
    ],
)
def test_what_cannot_be_shown_is_told(result, asked, told):
    pytest.importorskip("pandas")
    with pytest.raises(UsageError, match=told):
        result.to_pandas("wall.T", **asked)


def test_tables_and_files_have_one_grammar(result, tmp_path):
    pandas = pytest.importorskip("pandas")
    asked = {"unit": {"K": "degC"}, "window": (2.0, "0.1 min"), "time_unit": "min"}
    table = result.to_pandas("wall.T", "pump.m_flow", **asked)
    assert (table.index[0], table.index[-1]) == pytest.approx((2.0 / 60.0, 0.1))
    result.export(tmp_path / "some.csv", "wall.T", "pump.m_flow", **asked)
    header = (tmp_path / "some.csv").read_text().splitlines()[0]
    assert header.startswith("time [min],wall.T[0] [degC]") and header.endswith("pump.m_flow [kg/s]")
    again = pandas.read_csv(tmp_path / "some.csv", index_col=0)
    np.testing.assert_array_equal(again.to_numpy(), table.to_numpy())


def test_xarray_keeps_arrays(result):
    pytest.importorskip("xarray")
    data = result.to_xarray("grid.T", "C.v", "R.R", unit={"grid.T": "degC"})
    assert data["grid.T"].dims == ("time", "grid.T:0", "grid.T:1") and data["C.v"].dims == ("time", "C")
    np.testing.assert_allclose(data["grid.T"].to_numpy(), result["grid.T"] - 273.15, rtol=1e-12)
    assert data["grid.T"].attrs["units"] == "degC" and data["time"].attrs["units"] == "s"
    everything = result.to_xarray()
    assert everything["wall.T"].shape == (len(result.time), 5) and "Größe.R" in everything and "wall.T[0]" not in everything
    assert "wall.T" in everything.data_vars and list(everything.coords) == ["time"]  # a coordinate would be lost in a mean
    means = everything.mean("time")["wall.T"]
    np.testing.assert_allclose(means, np.asarray(result["wall.T"]).mean(axis=0), rtol=1e-12)
