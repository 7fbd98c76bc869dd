"""Signals: what a user may give, against numpy and scipy, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acausal.errors import UsageError
from acausal.runtime.inputs import Constant, Function, Table, as_signal, values_at

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
    ida = core.Ida(problem.native, problem.known, 1e-6, np.ones(1), problem.differential, outputs)
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
    with pytest.raises(UsageError, match="DataFrame with the columns a, b: choose one"):
        as_signal(pandas.DataFrame({"a": [1], "b": [2]}))


def test_csv_files(tmp_path: Path) -> None:
    two, three = tmp_path / "two.csv", tmp_path / "three.csv"
    two.write_text("time,T\n0,1\n2,5\n\n")
    three.write_text("time, T, p\n0,1,10\n2,5,30\n")
    assert as_signal(two)(1.0) == 3.0 and as_signal(str(two))(1.0) == 3.0
    assert as_signal((three, "p"))(1.0) == 20.0
    with pytest.raises(UsageError, match=r"has the columns T, p(.|\n)*choose one"):
        as_signal(three, "weather")
    with pytest.raises(UsageError, match=r"no column `P1`; it has time, T, p"):
        as_signal((three, "P1"))
    with pytest.raises(UsageError, match="cannot be read"):
        as_signal(tmp_path / "absent.csv")
    two.write_text("time,T\n0,1\n2,warm\n")
    with pytest.raises(UsageError, match="a row that is not numbers"):
        as_signal(two)
    two.write_text("")
    with pytest.raises(UsageError, match="needs a header and two columns"):
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
    with pytest.raises(UsageError, match="`interpolation` is 'cubic'; it must be one of 'linear', 'monotone', 'smooth'"):
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
