"""Results at other times, in part, in other units, and compared."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import acausal as ac
from acausal.errors import NameNotFound, UsageError
from acausal.results.between import areas, extremes, interpolated, means
from acausal.results.trajectory import Trajectory


class Decay(ac.Component):
    x = ac.Variable(start=1.0)
    hot = ac.Boolean(start=True)
    level = ac.Variable()
    w = ac.Variable(shape=3, start=[1.0, 2.0, 3.0])

    def equations(self):
        yield ac.der(self.x) == -self.x
        yield self.hot == (self.x > 0.5)
        yield self.level == ac.where(self.x > 0.5, 5.0, 0.0) + self.x
        yield ac.der(self.w) == -2.0 * self.w


@pytest.fixture(scope="module")
def model():
    return ac.compile(Decay(), units=False)


@pytest.fixture(scope="module")
def run(model):
    return model.simulate(until=2.0, points=21, rtol=1e-9)


def test_values_know_their_unit(result):
    T = result["wall.T[2]"]
    assert isinstance(T, np.ndarray) and (T.name, T.unit) == ("wall.T[2]", "K")
    np.testing.assert_allclose(T.to("degC"), T - 273.15, rtol=1e-13)
    assert T[3:].unit == "K" and T.copy().to("degC").unit == "degC"
    assert type(T + 1.0) is np.ndarray and type(np.concatenate([T, T])) is np.ndarray and isinstance(T.max(), float)
    again = pickle.loads(pickle.dumps(T))
    assert isinstance(again, Trajectory) and again.unit == "K"
    with pytest.raises(UsageError, match="bar"):
        T.to("bar")


def test_names_are_in_a_result_or_not(run):
    assert "x" in run and "w[2]" in run and "w" in run and "time" in run
    assert "y" not in run and 3 not in run
    assert "nothing" not in run[["x"]] and "x" in run[["x"]]


def test_several_names_are_a_part_of_the_result(run):
    some = run[["x", "w"]]
    assert some.names() == ["x", "w[0]", "w[1]", "w[2]"] and np.asarray(some).shape == (len(run.time), 4)
    x, w = some
    np.testing.assert_array_equal(x, run["x"])
    assert w.shape == (len(run.time), 3)
    assert list(some.to_pandas().columns) == ["x", "w[0]", "w[1]", "w[2]"]
    with pytest.raises(NameNotFound, match="`hot` is not among the chosen"):
        some["hot"]
    with pytest.raises(NameNotFound):
        run[["x", "nowhere"]]


@pytest.mark.parametrize("key", [0, 1.5, None])
def test_what_is_no_name_is_told(run, key):
    with pytest.raises(UsageError, match="A name is a text such as"):
        run[key]
    with pytest.raises(UsageError, match="A variable's name was expected"):
        run[[key]]


def test_at_a_time_between_two_points(run):
    assert run.at(0.333)["x"] == pytest.approx(np.exp(-0.333), rel=1e-6)  # cubic, by the stored slopes
    np.testing.assert_allclose(run.at("700 ms")["w"], np.array([1, 2, 3]) * np.exp(-1.4), rtol=1e-4)
    assert run.at(0.1).state("hot") == "True" and run.at(1.0).state("hot") == "False"
    assert set(run.at(0.5).to_dict("x", "w*")) == {"x", "w[0]", "w[1]", "w[2]"}
    several = run.at([0.2, 0.4])
    np.testing.assert_allclose(several["x"], np.exp([-0.2, -0.4]), rtol=1e-8)
    with pytest.raises(UsageError, match="says nothing about 3 s: it goes from 0 s to 2 s"):
        run.at(3.0)


def test_at_an_event_what_holds_from_then_on(run):
    when = float(run.event_times[0])
    assert when == pytest.approx(np.log(2.0), rel=1e-7)
    assert run.at(when)["level"] == pytest.approx(0.5, abs=1e-6)
    assert run.at(when - 1e-6)["level"] == pytest.approx(5.5, abs=1e-5)


def test_resampling(run):
    coarse = run.resample("250 ms")
    np.testing.assert_allclose(coarse.time, np.arange(9) * 0.25)
    np.testing.assert_allclose(coarse["x"], np.exp(-coarse.time), rtol=1e-5)
    mean = run.resample(0.5, how="mean")
    t = mean.time
    np.testing.assert_allclose(mean["x"], (np.exp(-t) - np.exp(-t - 0.5)) / 0.5, rtol=1e-3)
    assert mean["hot"][1] == pytest.approx((np.log(2.0) - 0.5) / 0.5, rel=1e-6)  # the share of time, to the event itself
    np.testing.assert_allclose(run.resample(0.5, how="max")["x"], np.exp(-t), rtol=1e-6)
    with pytest.raises(UsageError, match="`how` is 'median'"):
        run.resample(1.0, how="median")
    with pytest.raises(UsageError, match="`every` is a time"):
        run.resample(-1.0)


@given(st.lists(st.floats(-5, 5), min_size=2, max_size=30), st.integers(1, 9), st.booleans())
def test_means_add_up_and_lie_between_the_extremes(values, pieces, steps):
    v = np.array(values)
    time = np.linspace(0.0, 1.0, len(v))
    edges = np.linspace(0.0, 1.0, pieces + 1)
    got = means(time, v, edges, steps)
    whole = float((np.diff(time) * (v[:-1] if steps else 0.5 * (v[1:] + v[:-1]))).sum())
    assert float((got * np.diff(edges)).sum()) == pytest.approx(whole, abs=1e-9)
    low, high = extremes(time, v, edges[:-1], edges[1:], steps)
    assert (got >= low - 1e-9).all() and (got <= high + 1e-9).all()
    np.testing.assert_allclose(interpolated(time, v, time, steps), v, atol=1e-12)


def test_every(model):
    np.testing.assert_allclose(model.simulate(until="2 s", every="500 ms")["time"][[0, 1]], [0.0, 0.5])
    times = np.unique(model.simulate(until=1.0, every=0.3).time.round(9))
    assert set(times) >= {0.0, 0.3, 0.6, 0.9, 1.0}
    with pytest.raises(UsageError, match="one of `points`, `at` and `every`"):
        model.simulate(until=1.0, every=0.3, points=5)
    with pytest.raises(UsageError, match="`every` is the time from one output point to the next"):
        model.simulate(until=1.0, every=0.0)


def test_compare(model, run):
    same = ac.compare(run, model.simulate(until=2.0, points=31, rtol=1e-9))
    assert same and same.agree and same["x"].largest < 1e-4 and "all agree" in str(same)
    other = ac.compare(run, model.simulate(until=2.0, set={"x": 1.1}), "x", "hot")
    assert (not other and [d.name for d in other.different] == ["x", "hot"]) or [d.name for d in other.different] == ["hot", "x"]
    assert other["x"].largest == pytest.approx(0.1, rel=1e-2) and other["x"].at == pytest.approx(0.0, abs=1e-3)
    assert "2 differ" in str(other) and "<table>" in other._repr_html_()
    assert list(other.to_pandas().index) == ["x", "hot"]


def test_measurements_are_compared_at_their_times(model, run):
    """Two measurements of a curve say nothing of what was between them, nor does a gap."""
    pandas = pytest.importorskip("pandas")
    at = [0.0, 1.0, 2.0]
    frame = pandas.DataFrame({"x": np.asarray(run.at(at)["x"])}, index=at)
    assert ac.compare(run, frame, "x").agree and ac.compare(frame, run, "x").agree
    frame.loc[1.0, "x"] = np.nan
    found = ac.compare(run, frame, "x")
    assert found.agree and found["x"].largest < 1e-9
    frame.loc[2.0, "x"] += 1.0
    assert ac.compare(run, frame, "x")["x"].at == 2.0
    with pytest.raises(UsageError, match="`x` has no measured number"):
        ac.compare(run, pandas.DataFrame({"x": [np.nan, np.nan]}, index=[0.0, 1.0]))


def test_compare_with_measurements(run):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"x": np.exp(-np.linspace(0, 2, 50))}, index=np.linspace(0, 2, 50))
    assert ac.compare(run, frame, "x").agree
    with pytest.raises(UsageError, match="takes results"):
        ac.compare(run, 3.0)
    with pytest.raises(UsageError, match="no time in common"):
        ac.compare(run, frame.set_index(frame.index + 10))


def test_names_that_only_one_has(run):
    found = ac.compare(run[["x", "hot"]], run[["x", "level"]])
    assert (found.only_in_a, found.only_in_b) == (["hot"], ["level"])


def test_a_misspelt_name_does_not_agree(run):
    with pytest.raises(NameNotFound, match="`y` does not exist"):
        ac.compare(run, run, "y")


def test_nothing_in_common_is_no_agreement(run):
    nothing = ac.compare(run[["x"]], run[["level"]])
    assert not nothing.agree and "Nothing was compared" in str(nothing) and nothing.only_in_a == ["x"]


def test_measurements_without_a_unit_are_in_that_of_the_run():
    pandas = pytest.importorskip("pandas")

    class Body(ac.Component):
        T = ac.Variable(start=300.0, unit="K")

        def equations(self):
            yield ac.der(self.T) == 0.0

    run = ac.compile(Body()).simulate(until=1.0)
    assert ac.compare(run, pandas.DataFrame({"T": [300.0, 300.0]}, index=[0.0, 1.0])).agree
    assert ac.compare(pandas.DataFrame({"T": [300.0, 300.0]}, index=[0.0, 1.0]), run).agree
    assert not ac.compare(run, pandas.DataFrame({"T": [27.0, 27.0]}, index=[0.0, 1.0])).agree
    with pytest.raises(UsageError, match=r"index of a DataFrame(.|\n)*set_index"):
        ac.compare(run, pandas.DataFrame({"T": [300.0, 300.0]}, index=["a", "b"]))
    with pytest.raises(UsageError, match="column `T` of a DataFrame to compare has no numbers"):
        ac.compare(run, pandas.DataFrame({"T": ["warm", "cold"]}, index=[0.0, 1.0]))


def test_means_of_few_rows_are_those_of_the_solution():
    """x = exp(-t) and what follows from it, at six rows: cubics with the stored derivatives, not straight lines."""

    class Decay(ac.Component):
        x, y = ac.Variable(start=1.0, fixed=True), ac.Variable()

        def equations(self):
            yield ac.der(self.x) == -self.x
            yield self.y == 2 * self.x + 1

    run = ac.compile(Decay()).simulate(2.0, points=6, rtol=1e-9)
    exact = (1 - np.exp(-2.0)) / 2
    assert ac.mean("x").of(run) == pytest.approx(exact, rel=5e-5)
    assert ac.integral("y").of(run) == pytest.approx(4 * exact + 2, rel=5e-5)
    np.testing.assert_allclose(run.resample(0.5, how="mean")["x"], -np.diff(np.exp(-np.arange(0, 2.1, 0.5))) / 0.5, rtol=2e-4)


class Layer(ac.Component):
    """Over long before the first output point."""

    k = ac.Parameter(1e6, unit="1/s")
    x = ac.Variable(start=0.0, fixed=True)

    def equations(self):
        yield ac.der(self.x) == self.k * (1 - self.x)


@pytest.mark.parametrize("k", [10.0, 100.0, 1e3, 1e4, 1e6, 1e9])
def test_what_is_over_between_two_rows_is_not_drawn_far_beyond_them(k):
    result = ac.compile(Layer()).simulate(1.0, points=101, set={"k": k})
    between = np.asarray(result.at(np.linspace(0.0, 0.05, 77))["x"])
    assert between.min() >= -1e-9 and between.max() <= 1 + 1e-6
    exact = 1 - (1 - np.exp(-k)) / k
    worst = 0.5 * 0.01  # that of a straight line to the first row
    assert ac.mean("x").of(result) == pytest.approx(exact, abs=worst)
    assert result.resample(0.25, how="mean")["x"][0] == pytest.approx(1 - (1 - np.exp(-k / 4)) / k * 4, abs=4 * worst)


def test_a_slope_without_bounds_is_no_integral_without_bounds():
    time = np.linspace(0.0, 1.0, 101)
    with np.errstate(divide="ignore"):
        found = areas(time, np.sqrt(time), False, 0.5 / np.sqrt(time))
    assert found[-1] == pytest.approx(2 / 3, abs=1e-4)


def test_a_run_and_measurements_in_another_unit_are_drawn_in_one_panel():
    pandas = pytest.importorskip("pandas")

    class Body(ac.Component):
        T = ac.Variable(start=350.0, fixed=True, unit="K")

        def equations(self):
            yield 60.0 * ac.der(self.T) == 290.0 - self.T

    run = ac.compile(Body(), units=False).simulate(until=60.0, points=7)
    measured = pandas.DataFrame({"T [degC]": np.asarray(run["T"]) - 273.15}, index=run.time)
    comparison = ac.compare(run, measured, "T")
    assert comparison.agree
    figure = comparison.plot(show=False)
    (axes,) = figure.axes
    a, b = (np.asarray(line.get_ydata()) for line in axes.lines)
    np.testing.assert_allclose(a, b, rtol=1e-12)
    assert "°C" in axes.get_ylabel()
