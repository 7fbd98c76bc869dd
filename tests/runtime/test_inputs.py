"""Signals: what a user may give, against numpy and scipy, and what is refused."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import acausal as ac
from acausal.errors import UsageError
from acausal.runtime.given import as_signal, data, over_run, signals
from acausal.runtime.inputs import Constant, Function, Table, hold, values_at
from acausal.studies.cases import read_cases

T = np.array([0.0, 1.0, 3.0, 4.0])
V = np.array([1.0, 3.0, 2.0, 2.0])


@pytest.mark.parametrize("given_", [3, 3.0, np.float32(3), np.array(3.0), True + 2])
def test_numbers(given_: Any) -> None:
    signal = as_signal(given_)
    assert isinstance(signal, Constant) and signal(7.0) == 3.0
    np.testing.assert_array_equal(signal.at([0.0, 1.0]), [3.0, 3.0])


def test_functions() -> None:
    signal = as_signal(lambda t: t**2)
    assert isinstance(signal, Function) and signal(3.0) == 9.0
    np.testing.assert_array_equal(signal.at([[1.0, 2.0]]), [[1.0, 4.0]])


def test_linear_tables_hold_their_ends() -> None:
    signal = as_signal((T, V))
    t = np.linspace(-2.0, 6.0, 81)
    np.testing.assert_allclose(signal.at(t), np.interp(t, T, V), rtol=1e-14)
    assert signal(-5.0) == 1.0 and signal(9.0) == 2.0 and signal(2.0) == 2.5


def test_lists_will_do_and_a_single_point_is_a_constant() -> None:
    assert as_signal(([0, 1], [0, 2]))(0.5) == 1.0
    assert as_signal(([0.0], [5.0])) == Constant(5.0)


def test_monotone_tables_agree_with_scipy_inside() -> None:
    from scipy.interpolate import PchipInterpolator

    signal = as_signal((T, V), interpolation="monotone")
    t = np.linspace(1.0, 3.0, 21)
    np.testing.assert_allclose(signal.at(t), PchipInterpolator(T, V)(t), rtol=1e-12)


@given(st.lists(st.floats(-10, 10), min_size=3, max_size=10))
@settings(max_examples=50, deadline=None)
def test_monotone_tables_never_overshoot(values: list[float]) -> None:
    times = np.arange(float(len(values)))
    signal = as_signal((times, values), interpolation="monotone")
    for k in range(len(values) - 1):
        low, high = sorted(values[k : k + 2])
        inside = signal.at(np.linspace(k, k + 1, 20))
        assert inside.min() >= low - 1e-9 and inside.max() <= high + 1e-9


def test_smooth_tables_are_exact_for_parabolas_and_have_no_corners() -> None:
    signal = as_signal((T, T**2 - 2 * T), interpolation="smooth")
    t = np.linspace(0.0, 4.0, 41)
    np.testing.assert_allclose(signal.at(t), t**2 - 2 * t, atol=1e-12)
    other = as_signal((T, V), interpolation="smooth")
    left, right = (other(3.0) - other(3.0 - 1e-6)) / 1e-6, (other(3.0 + 1e-6) - other(3.0)) / 1e-6
    assert left == pytest.approx(right, abs=1e-4)


@pytest.mark.parametrize("interpolation", ["linear", "monotone", "smooth"])
def test_native_and_numpy_evaluation_agree(interpolation: Any) -> None:
    core = pytest.importorskip("acausal._core")
    import small_problems as problems

    signal = as_signal((T, V), interpolation=interpolation)
    problem = problems.driven()
    outputs = core.Outputs(problem.native, np.array([2], dtype=np.int32))
    ida = core.Ida(problem.native, problem.known, 1e-6, np.ones(1), problem.differential, outputs, **problems.SUNDIALS)
    ida.add_table(0, signal.times, signal.values, signal.slopes)
    ida.start(-1.0, np.zeros(1), np.array([signal(-1.0)]))
    times = np.linspace(-1.0, 5.0, 61)
    rows = np.empty((61, 1))
    ida.advance(5.0, times, rows)
    np.testing.assert_allclose(rows[:, 0], signal.at(times), rtol=1e-12)


def test_pandas_series() -> None:
    pandas = pytest.importorskip("pandas")
    assert as_signal(pandas.Series([1.0, 3.0], index=[0.0, 2.0]))(1.0) == 2.0
    frame = pandas.DataFrame({"a": [0.0, 10.0]}, index=pandas.to_timedelta([0, 60], unit="s"))
    assert as_signal(frame["a"])(30.0) == 5.0
    dates = pandas.Series([0.0, 1.0], index=pandas.to_datetime(["2020-01-01 12:00", "2020-01-01 13:00"]))
    assert as_signal(dates)(1800.0) == 0.5
    with pytest.raises(UsageError, match=r"DataFrame with the columns a, b has no column of times(.|\n)*Choose one of them"):
        as_signal(pandas.DataFrame({"a": [1], "b": [2]}))


def test_csv_files(tmp_path: Path) -> None:
    two, three = tmp_path / "two.csv", tmp_path / "three.csv"
    two.write_text("time,T\n0,1\n2,5\n\n")
    three.write_text("time, T, p\n0,1,10\n2,5,30\n")
    assert as_signal(two)(1.0) == 3.0 and as_signal(str(two))(1.0) == 3.0
    assert as_signal((three, "p"))(1.0) == 20.0
    with pytest.raises(UsageError, match=r"has the columns T, p(.|\n)*choose one"):
        as_signal(three, "weather")
    with pytest.raises(UsageError, match=r"no column `P1`; it has `time`, `T`, `p`"):
        as_signal((three, "P1"))
    with pytest.raises(UsageError, match="cannot be read"):
        as_signal(tmp_path / "absent.csv")
    two.write_text("time,T\n0,1\n2,warm\n")
    with pytest.raises(UsageError, match=r"line 3, column `T`: expected a number, got 'warm'"):
        as_signal(two)
    two.write_text("")
    with pytest.raises(UsageError, match=r"is empty(.|\n)*two columns: time and values"):
        as_signal(two)


@pytest.mark.parametrize(
    "given_, told",
    [
        (([0.0, 2.0, 1.0], [0, 0, 0]), "times of input `u` must increase: at index 2, 1 follows 2"),
        (([0.0, 0.0], [0, 1]), "must increase: at index 1, 0 follows 0"),
        (([0.0, 1.0], [0, np.nan]), "values of input `u` are not finite at 1 of 2 points, first at index 1"),
        (([0.0, 1.0], [0, 1, 2]), "`u` has 2 times and 3 values"),
        (([0.0, 1.0], [[0, 1]]), r"values of input `u` must be a one-dimensional array .* not of shape \(1, 2\)"),
        (([], []), "at least one element"),
        ((["a", "b"], [0, 1]), "times of input `u` are not numbers"),
        (float("nan"), "`u` is nan; it must be a finite number"),
        ({"a": 1}, "`u` got dict"),
        (None, "`u` got NoneType None"),
    ],
)
def test_what_cannot_be_an_input_is_told(given_: Any, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        as_signal(given_, "u")


def test_interpolation_is_checked() -> None:
    with pytest.raises(UsageError, match="`interpolation` is 'cubic'; it must be one of 'linear', 'monotone', 'smooth', 'hold'"):
        as_signal((T, V), interpolation="cubic")  # type: ignore[arg-type]


def test_values_at_a_time_leave_the_given_ones_alone() -> None:
    known = np.array([1.0, 2.0])
    assert values_at({1: Table(T, V)}, 0.5, known).tolist() == [1.0, 2.0]
    assert values_at({1: Table(T, V)}, 1.0, known).tolist() == [1.0, 3.0] and known.tolist() == [1.0, 2.0]


def test_a_text_that_is_no_file_is_a_quantity() -> None:
    assert as_signal("3 kV", unit="V")(0.0) == 3000.0
    assert as_signal("20 degC", unit="K")(0.0) == pytest.approx(293.15)
    assert as_signal("7", unit="K")(0.0) == 7.0
    with pytest.raises(UsageError, match=r"Input `u` cannot be '3 kW': there is no such file.*`kW` cannot be converted to `V`"):
        as_signal("3 kW", "u", unit="V")
    with pytest.raises(UsageError, match=r"Input `u` cannot be 'weather': there is no such file"):
        as_signal("weather", "u")


def test_a_file_with_the_name_of_a_quantity_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "3 kV").write_text("time,u\n0,1\n1,2\n")
    monkeypatch.chdir(tmp_path)
    assert as_signal("3 kV", unit="V")(0.5) == 1.5


def test_comment_lines_of_csv_files(tmp_path: Path) -> None:
    (tmp_path / "logged.csv").write_text("# logger 7\ntime,T\n # calibrated\n0,1\n#1,9\n2,3\n")
    assert as_signal(tmp_path / "logged.csv")(1.0) == 2.0


# --- files as people and programs write them ------------------------------------------------------------------------------------


def given_file(folder: Path, text: str, encoding: str = "utf-8", name: str = "in.csv") -> Path:
    (folder / name).write_bytes(text.encode(encoding))
    return folder / name


@pytest.mark.parametrize(
    "text, at, value",
    [
        ("0,1\n1,2\n2,3\n", 0.0, 1.0),  # without a header
        ("t [h],u\n0,1\n2,3\n", 3600.0, 2.0),
        ("u,t\n1,0\n3,2\n", 1.0, 2.0),  # time is where it is called so
        ("T,time\n1,0\n3,2\n", 1.0, 2.0),
        ("t;u\n0,0;1,5\n2,0;3,5\n", 1.0, 2.5),  # decimal commas
        ("t;u;\n0,0;1,5;\n2,0;3,5;\n", 1.0, 2.5),  # every line ends with a separator
        ("t,u,,\n0,1.5,,\n2,3.5\n", 1.0, 2.5),
        ("sep=;\nt;u\n0,0;1,5\n2,0;3,5\n", 1.0, 2.5),
        ("t\tu\n0\t1e-1\n2\t0.3\n", 1.0, 0.2),
        ("t  u\n0  1\n2  3\n", 1.0, 2.0),
        ("hour,u\n0,1\n2,3\n", 3600.0, 2.0),
        ("time (min);u (-)\n0;1\n2;3\n", 60.0, 2.0),
        ("time,u\nh,-\n0,1\n2,3\n", 3600.0, 2.0),  # a row of units
        ("time,u,\n0,1,\n2,3,\n", 1.0, 2.0),
        ("date;u\n2024-01-01 00:00;1\n2024-01-01 02:00;3\n", 3600.0, 2.0),
        ("date;u\n31.12.2023 23:00;1\n01.01.2024 01:00;3\n", 3600.0, 2.0),
        ("date,u\n2024-03-31T00:30+01:00,1\n2024-03-31T03:30+02:00,3\n", 3600.0, 2.0),  # the clock is put forward
        ("date,u\n12/31/2023 23:00,1\n1/1/2024 1:00,3\n", 3600.0, 2.0),
        ("u,stamp\n1,2024-01-01T00:00:00Z\n3,2024-01-01T00:00:02Z\n", 1.0, 2.0),
        ("time,station,u\n0,north,1\n2,north,3\n", 1.0, 2.0),
    ],
)
def test_files_mean_what_they_say(tmp_path: Path, text: str, at: float, value: float) -> None:
    path = given_file(tmp_path, text)
    column = "u" if "station" in text or ",\n" in text else None
    assert as_signal(path if column is None else (path, column))(at) == pytest.approx(value)


@pytest.mark.parametrize("header", [True, False])
def test_a_sheet_has_a_header_or_none(tmp_path: Path, header: bool) -> None:
    """Its first row was taken for names, whatever stood there, and lost."""
    pytest.importorskip("openpyxl")
    pandas = pytest.importorskip("pandas")
    path = tmp_path / "in.xlsx"
    pandas.DataFrame({"time": [0, 2, 4], "u": [1.0, 3.0, 1.0]}).to_excel(path, index=False, header=header)
    assert [as_signal(path)(at) for at in (0.0, 1.0, 2.0)] == [1.0, 2.0, 3.0]


def test_of_two_sheets_nobody_says_which_is_meant(tmp_path: Path) -> None:
    """The first was read without a word."""
    pytest.importorskip("openpyxl")
    pandas = pytest.importorskip("pandas")
    path, frame = tmp_path / "in.xlsx", pandas.DataFrame
    winter = frame({"time": [0, 2], "u": [1.0, 30.0]})

    def write(**sheets: Any) -> None:
        with pandas.ExcelWriter(path) as book:
            for name, sheet in sheets.items():
                sheet.to_excel(book, sheet_name=name, index=False)

    for summer in (
        frame({"time": [0, 2], "u": [1.0, 3.0]}),
        frame({"time": ["0,0", "2,0"], "u": ["1,0", "3,0"]}),
        frame({"time": ["s", 0, 2], "u": ["kW", 1.0, 3.0]}),
    ):
        write(summer=summer, winter=winter)
        with pytest.raises(UsageError, match=r"2 sheets with numbers, `summer`, `winter`"):
            as_signal(path, "u")
        with pytest.raises(UsageError, match="2 sheets with numbers"):
            read_cases(path)
    for notes in (frame({"who": ["measured by hand"], "when": [None]}), frame()):
        write(notes=notes, winter=winter)
        assert as_signal(path)(1.0) == 15.5


@pytest.mark.parametrize(
    "text, told",
    [
        ("t,u\n0,0,1,5\n2,0,3,5\n", r"line 2: 4 cells where 2 columns are \(t, u\)(.|\n)*decimal commas(.|\n)*semicolons"),
        ("t;u\n0,5;1.5\n", "cannot be told whether a comma or a point is the decimal mark: '0,5' in line 2 and '1.5' in line 2"),
        ("t;u\n0;1.234,5\n", "cannot be told whether a comma or a point"),
        ("t,u [K]\n0,1\n2,\n", r"line 3, column `u \[K\]`: there is no value"),
        ("t,u [kelvins of joy]\n0,1\n", r"header `u \[kelvins of joy\]`(.|\n)*unit that cannot be read"),
        ("x [m],u\n0,1\n1,2\n", r"column `x \[m\]` of `.*` is taken for the time, but it is in m"),
        ("date,u\n01/02/2024,1\n01/03/2024,2\n", "may be read in two ways; write dates as 2024-12-31"),
        ("date,u\n2024-02-30,1\n2024-03-01,2\n", "'2024-02-30' is not a date"),
        ("date,u\n2024-01-01T00:00Z,1\n2024-01-01 01:00,2\n", "some dates have a time zone and some have none"),
        ("date,time,u\n2024-01-01,1,2\n", "several columns that could be the time: `date`, `time`"),
        ("t,u,u\n0,1,2\n", "has the columns u, u"),
        ("justone\n1\n2\n", "has a single column"),
        ("t,u\n", "a header and no row of numbers"),
        ("t,u\n0,1\n2\n", "line 3: 1 cells where 2 columns are"),
    ],
)
def test_files_that_could_mean_two_things_are_refused(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        as_signal(given_file(tmp_path, text), "u")


def test_units_of_a_header_are_converted_to_the_unit_of_the_input(tmp_path: Path) -> None:
    path = given_file(tmp_path, "time [h],T [degC],p [bar]\n0,-3.76,1\n1,0,2\n")
    assert as_signal((path, "T [degC]"), unit="K")(0.0) == pytest.approx(269.39)
    assert as_signal((path, "T"), unit="K")(3600.0) == pytest.approx(273.15)
    assert as_signal((path, "p"), unit="Pa")(1800.0) == pytest.approx(1.5e5)
    with pytest.raises(UsageError, match=r"Input `u`: The column `T \[degC\]` of .* is needed in Pa(.|\n)*cannot be converted"):
        as_signal((path, "T"), "u", unit="Pa")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
def test_encodings(tmp_path: Path, encoding: str) -> None:
    path = given_file(tmp_path, "t,Temperatur außen [°C]\n0,1\n2,3\n", encoding)
    assert as_signal((path, "Temperatur außen"), unit="K")(1.0) == pytest.approx(275.15)
    (tmp_path / "b.csv").write_bytes(b"t,u\n0,1\x00\n")
    with pytest.raises(UsageError, match="zero bytes"):
        as_signal(tmp_path / "b.csv")


@pytest.mark.parametrize("unit", ["s", "ms", "ns"])
def test_times_that_are_dates_or_durations_are_seconds(unit: str) -> None:
    passed = np.array([0, 2], dtype="timedelta64[s]").astype(f"timedelta64[{unit}]")
    dates = np.datetime64("2024-03-31T01:00:00", unit) + passed
    plain = [dates[0].astype("datetime64[s]").item() + timedelta(seconds=k) for k in (0, 2)]
    for times in (passed, dates, list(passed), list(dates), [timedelta(0), timedelta(seconds=2)], plain):
        for given_ in ((times, [1.0, 3.0]), data(times, [1.0, 3.0]), [(times[0], 1.0), (times[1], 3.0)]):
            assert as_signal(given_)(1.0) == pytest.approx(2.0)
        assert as_signal(hold(times, [1.0, 3.0])).at([0.0, 1.9, 2.0]).tolist() == [1.0, 1.0, 3.0]
        assert as_signal((times, [1.0, 3.0]), over=("time", "h"))(1.0 / 3600) == pytest.approx(2.0)


def test_times_of_pandas_are_seconds() -> None:
    pandas = pytest.importorskip("pandas")
    dates = pandas.to_datetime(["2024-03-31 01:59:59", "2024-03-31 03:00:01"]).tz_localize("Europe/Berlin")
    for times in (dates, pandas.Series(dates), dates - dates[0]):
        assert as_signal((times, [1.0, 3.0]))(1.0) == pytest.approx(2.0)


def test_dates_and_durations_are_no_values() -> None:
    passed = np.array([0, 2], dtype="timedelta64[ms]")
    for wrong in (
        lambda: as_signal(([0, 2], passed)),
        lambda: ac.Table(passed, [1.0, 3.0]),
        lambda: ac.Table([0.0, 1.0], list(passed)),
    ):
        with pytest.raises(UsageError, match=r"Expected numbers, got dates or durations \(timedelta64\[ms\]\)"):
            wrong()
    for times in (np.array([0, 2], dtype="timedelta64[Y]"), [timedelta(0), 2.0]):
        with pytest.raises(UsageError, match=r"are no seconds|not some of each"):
            as_signal((times, [1.0, 3.0]))


def test_parquet_and_frames(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pandas.DataFrame({"time [h]": [0.0, 2.0], "T [degC]": [10.0, 20.0], "where": ["a", "b"]})
    frame.to_parquet(tmp_path / "w.parquet")
    for given_ in ((tmp_path / "w.parquet", "T"), (frame, "T [degC]")):
        assert as_signal(given_, unit="K")(3600.0) == pytest.approx(288.15)
    with pytest.raises(UsageError, match="row 1, column `where`: expected a number, got 'a'"):
        as_signal((frame, "where"))
    dated = frame.set_index(pandas.to_datetime(["2024-01-01 00:00", "2024-01-01 02:00"], utc=True))[["T [degC]"]]
    assert as_signal(dated, unit="K")(3600.0) == pytest.approx(288.15)
    assert as_signal(dated["T [degC]"], unit="K")(3600.0) == pytest.approx(288.15)


# --- lists, pairs and arrays ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "given_, at, value",
    [
        ([(0.0, 10.0), (2.0, 20.0)], 1.0, 15.0),
        ([(0, 1), (1, 2), (2, 3)], 0.5, 1.5),
        ([[0, 1], [1, 2], [2, 3]], 0.5, 1.5),
        (((0, 1, 2), (1, 2, 3)), 0.5, 1.5),
        ([np.arange(3.0), np.arange(3.0)], 0.5, 0.5),
    ],
)
def test_points_in_time(given_: Any, at: float, value: float) -> None:
    assert as_signal(given_)(at) == value


@pytest.mark.parametrize(
    "given_, told",
    [
        ((0.0, 10.0), "Two numbers are neither one value nor a table"),
        ([280, 281], "Two numbers are neither one value nor a table"),
        (((0.0, 10.0), (2.0, 20.0)), "may be .times, values. or two points"),
        ([[0.0, 10.0], [2.0, 20.0]], "may be .times, values. or two points"),
        ([1.0, 2.0, 3.0], "give a number, a function of time"),
        (np.arange(3.0), "give a number, a function of time"),
    ],
)
def test_what_could_be_read_in_two_ways_is_refused(given_: Any, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        as_signal(given_, "u")


def elements(given_: Any, shape: tuple[int, ...], at: float = 0.0) -> list[float]:
    return [signal(at) for signal in signals(given_, "u", shape, "K")]  # type: ignore[operator]


def test_arrays_of_inputs_get_their_own_elements() -> None:
    assert elements([5.0, 7.0], (2,)) == [5.0, 7.0] == elements((5, 7), (2,)) == elements(np.array([5.0, 7.0]), (2,))
    assert elements(np.arange(4.0).reshape(2, 2), (2, 2)) == [0.0, 1.0, 2.0, 3.0]
    assert elements(3.0, (2,)) == [3.0, 3.0] == elements(([0, 1], [3, 3]), (2,))
    assert elements(([0, 1, 2], [[1, 2], [3, 4], [5, 6]]), (2,), 0.5) == [2.0, 3.0]
    assert elements(["20 degC", lambda t: 300.0 + t], (2,), 1.0) == pytest.approx([293.15, 301.0])
    with pytest.raises(UsageError, match=r"has the shape \(3,\) and got 4 values"):
        elements([1, 2, 3, 4], (3,))
    with pytest.raises(UsageError, match=r"has the shape \(3,\) and got 2 values"):
        elements([1, 2], (3,))
    with pytest.raises(UsageError, match=r"may be its elements or \(times, values\)"):
        elements(([0, 1], [2, 3]), (2, 2))


# --- ends and bounds --------------------------------------------------------------------------------------------------------------


def test_data_that_repeat() -> None:
    day = data([0.0, 6.0, 12.0, 18.0], [0.0, 1.0, 0.0, -1.0], ends="repeat")
    signal, told = over_run(as_signal(day), -24.0, 72.0, "u")
    t = np.linspace(-24.0, 72.0, 97)
    np.testing.assert_allclose(signal.at(t), np.interp(t % 24, [0, 6, 12, 18, 24], [0, 1, 0, -1, 0]), atol=1e-12)
    assert told == ""
    closed, _ = over_run(as_signal(data([0.0, 5.0, 10.0], [0.0, 1.0, 0.0], ends="repeat")), 0.0, 30.0, "u")
    assert closed(25.0) == pytest.approx(1.0)
    held, _ = over_run(as_signal(data([0, 8, 16], [0, 1, 0], ends="repeat", period=24.0, interpolation="hold")), 0.0, 50.0, "u")
    assert [held(x) for x in (9.0, 23.0, 33.0, 41.0)] == [1.0, 0.0, 1.0, 0.0]
    with pytest.raises(UsageError, match="16 s long and cannot repeat after 10 s"):
        as_signal(data([0, 8, 16], [0, 1, 0], ends="repeat", period=10.0), "u")


def test_data_that_are_shorter_than_the_run_are_told() -> None:
    _, told = over_run(as_signal(([0.0, 5.0], [0.0, 5.0])), 0.0, 10.0, "u")
    assert told == "The data of input `u` go from 0 s to 5 s, the run from 0 s to 10 s: the last value is held after 5 s."
    assert over_run(as_signal(data([0.0, 5.0], [0.0, 5.0], ends="hold")), 0.0, 10.0, "u")[1] == ""
    with pytest.raises(UsageError, match=r"go from 0 s to 5 s, the run from 0 s to 10 s(.|\n)*ends=\"hold\""):
        over_run(as_signal(data([0.0, 5.0], [0.0, 5.0], ends="stop")), 0.0, 10.0, "u")
    with pytest.raises(UsageError, match="`ends` is 'stopp'"):
        data([0, 1], [0, 1], ends="stopp")  # type: ignore[arg-type]


class Tank(ac.Component):
    u = ac.Input(1.0, min=0, max=1)
    x = ac.Variable(start=0.0)

    def equations(self) -> Any:
        yield ac.der(self.x) == self.u


def test_a_run_beyond_its_data_warns_in_its_result() -> None:
    with pytest.warns(ac.ModelWarning, match="the last value is held after 5 s"):
        result = ac.compile(Tank()).simulate(until=10.0, inputs={"u": ([0, 5], [0, 1])})
    assert "the last value is held after 5 s" in result.diagnostics[0].what and "ac.data" in result.diagnostics[0].remedy


def test_bounds_of_inputs_hold_however_they_are_given() -> None:
    model = ac.compile(Tank())
    for given_, told in (
        (-5.0, "Input `u` is -5, out of its range: it must be from 0 to 1"),
        (([0, 1, 2], [0, 1, 2]), "Input `u` is 2 at 2 s, out of its range"),
        (ac.hold([0, 1], [0, 3]), "Input `u` is 3 at 1 s, out of its range"),
        (lambda t: 1.0 + t, "Input `u` is .* out of its range"),
    ):
        with pytest.raises(UsageError, match=told):
            model.simulate(until=2.0, inputs={"u": given_})


def test_bounds_are_told_with_the_unit_of_the_input() -> None:
    class Warm(ac.Component):
        T = ac.Input(293.15, unit="K", min=200.0, max=400.0)
        x = ac.Variable(start=0.0)

        def equations(self) -> Any:
            yield ac.der(self.x) == self.T

    model = ac.compile(Warm())
    with pytest.raises(UsageError, match=r"Input `T` is 25 K, out of its range: it must be from 200 to 400 K\.(.|\n)*`20 degC`"):
        model.simulate(until=1.0, inputs={"T": 25.0})
    assert model.simulate(until=1.0, inputs={"T": "25 degC"})["T"][-1] == pytest.approx(298.15)


def test_a_column_written_as_on_the_command_line_is_told_how(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r'ac\.data\("weather\.csv", "T"\)'):
        ac.compile(Tank()).simulate(until=1.0, inputs={"u": "weather.csv:T"})


@pytest.mark.parametrize("what", ["set", "inputs"])
def test_values_come_by_name(what: str) -> None:
    model = ac.compile(Tank())
    with pytest.raises(UsageError, match=rf"`{what}` takes values by name, such as .*got \[\('u', 2\)\] of type list(.|\n)*dict"):
        model.simulate(until=1.0, **{what: [("u", 2)]})
    with pytest.raises(UsageError, match=rf"`{what}` takes names such as `room.T`, got 3 of type int"):
        model.simulate(until=1.0, **{what: {3: 1.0}})


@pytest.mark.parametrize(
    ("text", "times", "values"),
    [
        ("t / min,T\n0,280\n1,290\n", [0, 60], [280, 290]),
        ("t/min;T / degC\n0;10\n1;20\n", [0, 60], [283.15, 293.15]),
        ("T / degC\tZeit / h\n10\t0\n20\t0,5\n", [0, 1800], [283.15, 293.15]),
        ('"T" , "Zeit / s"\n"257.3" , "0"\n"304.38" , "1.8"\n', [0, 1.8], [257.3, 304.38]),
    ],
)
def test_units_behind_a_stroke_and_quotes_behind_a_space(
    tmp_path: Path, text: str, times: list[float], values: list[float]
) -> None:
    """`T / degC` is how ISO 80000 writes it."""

    class Lag(ac.Component):
        T, x = ac.Input(280.0, unit="K"), ac.Variable(start=0.0, fixed=True, unit="K.s")

        def equations(self) -> Any:
            yield ac.der(self.x) == self.T

    file = tmp_path / "weather.csv"
    file.write_text(text)
    result = ac.compile(Lag()).simulate(until=times[-1], inputs={"T": (str(file), "T")}, points=2)
    np.testing.assert_allclose(result["T"], values)


def test_the_first_column_is_not_both_time_and_value(tmp_path: Path) -> None:
    class Lag(ac.Component):
        T, x = ac.Input(280.0), ac.Variable(start=0.0, fixed=True)

        def equations(self) -> Any:
            yield ac.der(self.x) == self.T

    file = tmp_path / "data.csv"
    file.write_text("T,seconds since noon\n280,0\n290,10\n")
    with pytest.raises(ac.ModelError, match=r"`T` of .* is the first, which is taken for the time: no column is called so"):
        ac.compile(Lag()).simulate(until=10.0, inputs={"T": (str(file), "T")})


@pytest.mark.parametrize("function", [lambda: 1.0, lambda t, u: 1.0, lambda *, t: 1.0])
def test_a_function_that_is_none_of_time_is_refused(function: Any) -> None:
    class Follower(ac.Component):
        x, u = ac.Variable(start=0.0, fixed=True), ac.Input(0.0)

        def equations(self):
            yield ac.der(self.x) == self.u - self.x

    model = ac.compile(Follower(), units=False)
    with pytest.raises(ac.UsageError, match="input `u` cannot be called with a time alone"):
        model.simulate(until=1.0, inputs={"u": function})
    assert model.simulate(until=1.0, inputs={"u": lambda t, k=2.0: k})["x"][-1] == pytest.approx(2 * (1 - np.exp(-1)), rel=1e-5)
    with pytest.raises(ac.UsageError, match="`points` is the number of output points"):
        model.simulate(until=1.0, points=10**12)
