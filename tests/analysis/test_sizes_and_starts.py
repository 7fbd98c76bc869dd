"""Derivatives whatever the size of parameters, and of runs that begin where somebody says; options that analyses decide."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import acausal as ac
from acausal.errors import UsageError


class Scales(ac.Component):
    """Quantities computed from parameters of very different size, beside a state."""

    C, off, N = ac.Parameter(1e-12), ac.Parameter(0.0), ac.Parameter(1e21)
    v = ac.Variable(start=0.0, fixed=True)
    y, z, u = ac.Variable(), ac.Variable(), ac.Variable()

    def equations(self) -> Any:
        yield ac.der(self.v) == 1.0 - self.v
        yield self.y == self.v / self.C
        yield self.z == ac.sin(self.off + self.v)
        yield self.u == ac.log(self.N) + self.v


def test_sensitivities_of_computed_quantities_whatever_the_size_of_a_parameter() -> None:
    """Of what is computed from unknowns, differences went beyond a parameter of 1e-12, by 10 from one that is 0, and moved one of
    1e21 by nothing."""
    run = ac.compile(Scales()).simulate(1.0, points=3, rtol=1e-9, sensitivities=["C", "off", "N"])
    np.testing.assert_allclose(run.sensitivity("y", "C"), -run["v"] / 1e-24, rtol=1e-6)
    np.testing.assert_allclose(run.sensitivity("z", "off"), np.cos(run["v"]), rtol=1e-6)
    np.testing.assert_allclose(run.sensitivity("u", "N"), 1e-21, rtol=1e-4)


class Started(ac.Component):
    p = ac.Parameter(1e-3)
    q = ac.Parameter(1000.0 - p)
    x = ac.Variable(start=1.0 / p, fixed=True)

    def equations(self) -> Any:
        yield ac.der(self.x) == -0.001 * self.q * self.x


def test_start_values_move_with_a_small_parameter_to_which_a_large_one_is_bound() -> None:
    """The step of the difference was taken from the largest of what moves, so that the small parameter became negative."""
    found = ac.compile(Started()).simulate(1.0, points=2, sensitivities=["p"]).sensitivity("x", "p")
    assert found[0] == pytest.approx(-1e6, rel=1e-6)


@pytest.mark.parametrize("how", ["set", "start_from"])
def test_a_start_value_that_is_given_for_a_run_does_not_move_with_parameters(how: str) -> None:
    """A start value that `set` or `start_from` replaced was still moved by the parameter that the declared one depends on."""
    model = ac.compile(Started())
    run = model.simulate(1.0, points=2, rtol=1e-8, sensitivities=["p"], **{how: {"x": 3.0}})
    decays = 0.001 * (1000.0 - 1e-3)
    np.testing.assert_allclose(run.sensitivity("x", "p"), [0.0, 3.0 * 0.001 * np.exp(-decays)], rtol=1e-4, atol=1e-9)


class Bound(ac.Component):
    p = ac.Parameter(2.0)
    b = ac.Parameter(p * 3)
    x = ac.Variable(start=0.0, fixed=True)

    def equations(self) -> Any:
        yield ac.der(self.x) == self.p + self.b


def test_a_bound_parameter_that_is_set_to_its_own_value_does_not_follow() -> None:
    """A bound parameter that a run set to just what it is bound to was taken to follow the other one."""
    model = ac.compile(Bound())
    run = model.simulate(1.0, points=2, set={"b": 6.0}, sensitivities=["p"])
    assert run.sensitivity("x", "p")[-1] == pytest.approx(1.0)
    assert model.gradient("x", "p", until=1.0, set={"b": 6.0}).data[0, 0] == pytest.approx(1.0)
    assert model.gradient("x", "p", until=1.0).data[0, 0] == pytest.approx(4.0)


class Threshold(ac.Component):
    level, u = ac.Parameter(0.52), ac.Input(0.0)
    x = ac.Variable(start=0.0, fixed=True)

    def equations(self) -> Any:
        yield ac.der(self.x) == ac.where(self.u > self.level, 1.0, 0.0)


@pytest.mark.parametrize("begin", [0.0, 3e7, 1.7e9])
@pytest.mark.parametrize("form", ["function", "table"])
def test_events_that_an_input_brings_about_late_in_time(begin: float, form: str) -> None:
    """The slope of an input at an event was a difference over a part of the time itself: over three seconds after a year."""
    model, omega = ac.compile(Threshold()), 2 * np.pi / 60.0
    times = begin + np.arange(0.0, 61.0, 0.25)
    table = times, np.sin(omega * (times - begin))
    given = table if form == "table" else lambda t: np.sin(omega * (t - begin))
    options = {"start": begin, "inputs": {"u": given}, "max_step": 1.0}
    run = model.simulate(begin + 20.0, sensitivities=["level"], **options)
    k = int(np.flatnonzero(table[1] > 0.52)[0])
    slope = omega * np.cos(np.arcsin(0.52)) if form == "function" else (table[1][k] - table[1][k - 1]) / 0.25
    assert run.sensitivity("x", "level")[-1] == pytest.approx(-1.0 / slope, rel=1e-5)


class Decay(ac.Component):
    k, b = ac.Parameter(0.5), ac.Parameter(1.0)
    x = ac.Variable(start=1.0, fixed=True)

    def equations(self) -> Any:
        yield ac.der(self.x) == -self.k * self.b * self.x


@pytest.mark.filterwarnings("ignore::acausal.errors.RunWarning")
def test_fewer_values_than_parameters_say_nothing_about_some() -> None:
    """With one measured value two parameters were found to ten digits, it was said."""
    fit = ac.compile(Decay()).fit({"time": [1.0], "x": [0.5]}, ["k", "b"])
    assert all(np.isinf(d) for d in fit.deviations.values())
    assert any("cannot be told apart" in told for told in fit.diagnostics)


def test_an_infinite_value_is_a_gap_for_the_weight_of_its_column_too() -> None:
    """One infinite value among measured ones made the weight of its column zero, and nothing was fitted."""
    t = np.array([0.5, 1.0, 1.5, 2.0])
    data = {"time": t, "x": np.where(t == 1.5, np.inf, np.exp(-0.8 * t))}
    assert ac.compile(Decay()).fit(data, ["k"])["k"] == pytest.approx(0.8, rel=1e-4)


class Tank(ac.Component):
    k, q = ac.Parameter(0.5), ac.Parameter(1.0)
    x = ac.Variable(start=1.0, fixed=True)

    def equations(self) -> Any:
        yield ac.der(self.x) == self.q - self.k * self.x


def test_the_run_of_a_fit_is_made_as_its_runs_were() -> None:
    """`fit.result()` left out the options of the fit: of a fit that begins at rest it showed a run from the declared start."""
    fit = ac.compile(Tank()).fit({"time": [0.0, 1.0, 2.0], "x": [4.0, 4.0, 4.0]}, ["k"], initial="steady")
    assert fit["k"] == pytest.approx(0.25, rel=1e-6)
    np.testing.assert_allclose(fit.result()["x"], 4.0, rtol=1e-6)


def test_options_that_an_analysis_decides_itself_are_refused_by_name() -> None:
    """`on_failure`, `points` and their like ended in Python's complaint about one keyword with two values."""
    model = ac.compile(Decay())
    for option in ({"on_failure": "raise"}, {"points": 5}, {"at": [1.0]}):
        with pytest.raises(UsageError, match=f"`{next(iter(option))}` is no option of a fit"):
            model.fit({"time": [0.5, 1.0], "x": [0.8, 0.5]}, ["k"], **option)
    with pytest.raises(UsageError, match="`derivatives` is no option of a gradient"):
        model.gradient("x", "k", until=1.0, derivatives=True)
    with pytest.raises(UsageError, match="`points` is no option of a periodic state"):
        model.periodic_state(1.0, points=5)


def test_an_optimisation_begins_where_it_is_told_or_says_why_not() -> None:
    """A name in `start` that is not optimised was passed over in silence, and a text with a unit was a ValueError of Python."""
    model = ac.compile(Decay())
    with pytest.raises(UsageError, match="`start` names `kk`, which is not optimised"):
        model.optimise("x", {"k": (0.1, 1.0)}, until=1.0, start={"kk": 3.0})
    with pytest.raises(UsageError, match="number"):
        model.optimise("x", {"k": (0.1, 1.0)}, until=1.0, start={"k": "soon"})


class Backwards(ac.Component):
    """Van der Pol's oscillator with time reversed: its orbit repels."""

    mu = ac.Parameter(-0.3)
    x, y = ac.Variable(start=2.0, fixed=True), ac.Variable(start=0.0, fixed=True)

    def equations(self) -> Any:
        yield ac.der(self.x) == self.y
        yield ac.der(self.y) == self.mu * (1 - self.x**2) * self.y - self.x


@pytest.mark.parametrize("mu", [-0.2, -0.3, -0.5])
def test_an_orbit_that_repels_is_not_stable(mu: float) -> None:
    """Of an oscillation without forcing the largest multiplier was left out, not the one that is 1: every orbit seemed stable."""
    found = ac.compile(Backwards()).periodic_state(6.3, forced=False, settle=0, start={"x": 2.0}, set={"mu": mu})
    assert np.abs(found.multipliers).max() > 2
    assert not found.stable


class Filters(ac.Component):
    """(s + z)³ / (s + w)⁴."""

    u = ac.Input(0.0)
    x = ac.Variable(shape=4, start=0.0, fixed=True)
    y = ac.Variable()

    def equations(self) -> Any:
        w, z, x = 1e6, 1e5, self.x
        yield ac.der(x[0]) == self.u - w * x[0]
        for k in range(3):
            yield ac.der(x[k + 1]) == z * x[k] + ac.der(x[k]) - w * x[k + 1]
        yield self.y == x[3]


def test_a_transfer_function_of_fast_filters_keeps_its_highest_power() -> None:
    """Coefficients of high powers of s are small where poles are fast; they were taken for rounding."""
    linear = ac.compile(Filters()).linearise(outputs=["y"])
    found, s = linear.transfer_function("y", "u"), 2j * np.pi * 1e6
    value = np.polyval(found.num, s) / np.polyval(found.den, s)
    assert value == pytest.approx((s + 1e5) ** 3 / (s + 1e6) ** 4, rel=1e-4)
    assert value == pytest.approx(linear.response(1e6)[0, 0, 0], rel=1e-4)


def test_fewer_samples_than_coefficients_are_refused() -> None:
    """A harmonic balance with fewer samples than coefficients said that the model does not settle."""

    class Forced(ac.Component):
        f = ac.Parameter(0.2, unit="Hz")
        x = ac.Variable(start=0.0, fixed=True)

        def equations(self) -> Any:
            yield ac.der(self.x) == ac.cos(2 * ac.pi * self.f * ac.time) - self.x

    with pytest.raises(UsageError, match="more than 14 for 7 harmonics"):
        ac.compile(Forced()).harmonic_balance("f", (0.1, 0.2), samples=8)


class Warming(ac.Component):
    """At rest from the start, and it would leave that with a power."""

    P = ac.Parameter(0.0)
    x = ac.Variable(start=1.0, fixed=True)

    def equations(self) -> Any:
        yield ac.der(self.x) == self.P - (self.x - 1.0)


def test_controlled_sensitivities_of_a_run_in_which_nothing_moves() -> None:
    """Steps grew without limit where nothing moves, were the same with every tolerance, and the error was said to be zero."""
    model = ac.compile(Warming())
    run = model.simulate(10.0, points=11, sensitivities=["P"], sensitivities_rtol=0.01)
    assert 0.0 < run.sensitivities.error <= 0.01
    np.testing.assert_allclose(run.sensitivity("x", "P"), 1 - np.exp(-run.time), atol=0.02)
    with pytest.raises(ac.ModelError, match="The sensitivities are not found to 1e-06"):
        model.simulate(10.0, points=11, sensitivities=["P"], sensitivities_rtol=1e-6)


def test_a_state_that_an_earlier_result_gave_is_a_start_value_too() -> None:
    """A run from where another one ended had no sensitivities to its own start values: all were zero."""
    model = ac.compile(Tank())
    earlier = model.simulate(1.0)
    run = model.simulate(2.0, start=1.0, start_from=earlier, points=3, rtol=1e-9, sensitivities=["x"])
    np.testing.assert_allclose(run.sensitivity("x", "x"), np.exp(-0.5 * (run.time - 1.0)), rtol=1e-6)


class Swaying(ac.Component):
    x = ac.Variable(start=1.0, fixed=True)

    def equations(self) -> Any:
        yield ac.der(self.x) == ac.cos(ac.time) - 0.1 * self.x


def test_a_periodic_state_from_an_earlier_result_has_its_multipliers() -> None:
    """With `start_from` the monodromy matrix was zero, so that every orbit was as stable as can be."""
    model, period = ac.compile(Swaying()), 2 * np.pi
    found = model.periodic_state(period, start_from=model.simulate(period))
    assert found.multipliers[0] == pytest.approx(np.exp(-0.1 * period), rel=1e-5)


@pytest.mark.parametrize("how", ["result", "names"])
def test_a_start_that_is_given_and_equals_the_declared_one_does_not_move(how: str) -> None:
    """A state that was given where the declaration would have put it anyway moved with the parameter of the declaration."""

    class Declared(ac.Component):
        p = ac.Parameter(1.0)
        x, z = ac.Variable(start=p, fixed=True), ac.Variable()

        def equations(self) -> Any:
            yield ac.der(self.x) == -self.z
            yield self.z + self.z**3 == self.x

    model = ac.compile(Declared())
    given = model.simulate(1e-9, at=[0.0]) if how == "result" else {"x": 1.0}
    run = model.simulate(1.0, points=2, start_from=given, sensitivities=["p"])
    np.testing.assert_allclose(run.sensitivity("x", "p"), 0.0, atol=1e-12)


class Several(ac.Component):
    k = ac.Parameter(np.array([1.0, 2.0]), shape=2)
    x = ac.Variable(shape=2, start=1.0, fixed=True)

    def equations(self) -> Any:
        yield ac.der(self.x) == -self.k * self.x


def test_arrays_are_refused_where_one_number_is_varied_or_measured() -> None:
    """A whole array as a parameter of a fit or an optimisation, or as a column of data, ended in an error of numpy."""
    model, data = ac.compile(Several()), {"time": [0.0, 0.5, 1.0], "x[1]": [1.0, 0.3, 0.1]}
    with pytest.raises(UsageError, match="`k` is an array of shape"):
        model.fit(data, ["k"])
    with pytest.raises(UsageError, match="`k` is an array of shape"):
        model.optimise("x[1]", {"k": (1.0, 3.0)}, until=1.0)
    with pytest.raises(UsageError, match="names an array of shape"):
        model.fit({"time": data["time"], "x": data["x[1]"]}, ["k[1]"])


def test_a_periodic_answer_at_a_point_of_the_curve_is_found_once() -> None:
    """At a frequency that is that of a point of the curve, the same answer came twice."""

    class Forced(ac.Component):
        f = ac.Parameter(0.2, unit="Hz")
        x = ac.Variable(start=0.0, fixed=True)

        def equations(self) -> Any:
            yield ac.der(self.x) == ac.cos(2 * ac.pi * self.f * ac.time) - self.x

    found = ac.compile(Forced()).harmonic_balance("f", (0.1, 0.2), harmonics=2)
    assert [len(found.at(float(f))) for f in found.frequencies] == [1] * len(found)


class Pendulum(ac.Component):
    L = ac.Parameter(1.0)
    x, y = ac.Variable(start=0.6 * L, fixed=True), ac.Variable(start=-0.8)
    u, v = ac.Variable(start=0.0, fixed=True), ac.Variable(start=0.0)
    T = ac.Variable(start=1.0)

    def equations(self) -> Any:
        yield ac.der(self.x) == self.u
        yield ac.der(self.y) == self.v
        yield ac.der(self.u) == -self.T * self.x
        yield ac.der(self.v) == -self.T * self.y - 9.81
        yield self.x**2 + self.y**2 == self.L**2


def test_a_start_value_given_to_a_model_whose_index_was_reduced() -> None:
    """The same of a start value that `set` replaced, where states are selected from constraints."""
    run = ac.compile(Pendulum()).simulate(0.1, points=2, set={"x": 0.5}, sensitivities=["L"])
    assert run.sensitivity("x", "L")[0] == pytest.approx(0.0, abs=1e-12)
    assert run.sensitivity("y", "L")[0] == pytest.approx(1.0 / run["y"][0], rel=1e-8)
