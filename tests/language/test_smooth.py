"""Each stand-in keeps the bound that its documentation states, and has finite, correct derivatives everywhere."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acausal.errors import UsageError
from acausal.families.differentiate import gradient
from acausal.kernels.interpret import evaluate
from acausal.language import smooth
from acausal.language.expression import Slot

relaxed = settings(deadline=None, max_examples=50)
X = Slot(0, "variable")
NUMBER = st.floats(-1e6, 1e6).map(lambda x: x if abs(x) > 1e-9 else 0.0)  # squares of less underflow
DELTA = st.floats(1e-6, 1e3)
ROUNDING = 1e-12

HELPERS = {
    "regularised_sqrt": lambda x: smooth.regularised_sqrt(x, 0.3),
    "regularised_power 0.25": lambda x: smooth.regularised_power(x, 0.25, 0.3),
    "regularised_power 1.75": lambda x: smooth.regularised_power(x, 1.75, 0.3),
    "regularised_power 2": lambda x: smooth.regularised_power(x, 2, 0.3),
    "regularised_inverse": lambda x: smooth.regularised_inverse(x, 0.3),
    "regularised_log": lambda x: smooth.regularised_log(x, 0.3),
    "smooth_abs": lambda x: smooth.smooth_abs(x, 0.3),
    "smooth_max": lambda x: smooth.smooth_max(x, 1.0 - x, 0.3),
    "smooth_min": lambda x: smooth.smooth_min(x, 1.0 - x, 0.3),
    "smooth_step": lambda x: smooth.smooth_step(x, 0.2, 0.7),
    "smooth_switch": lambda x: smooth.smooth_switch(x, x * x, 2.0 - x, 0.2, 0.7),
}


def odd_power(x, a):
    return math.copysign(abs(x) ** a, x)


@relaxed
@given(NUMBER, DELTA)
def test_regularised_sqrt_bound(x, delta):
    exact, found = math.sqrt(abs(x)), smooth.regularised_sqrt(x, delta)
    short = exact - abs(found)
    assert -ROUNDING * exact <= short <= 0.2544 * math.sqrt(delta)
    assert short <= exact * ((delta / x) ** 2 / 4 + ROUNDING) if x else found == 0
    assert smooth.regularised_sqrt(-x, delta) == -found


@relaxed
@given(st.floats(1e-3, 1e3), st.floats(0.05, 3.0), st.floats(1e-3, 10.0))
def test_regularised_power_bound(x, a, delta):
    exact, found = x**a, smooth.regularised_power(x, a, delta)
    assert abs(found - exact) <= exact * (abs(a - 1) / 2 * (delta / x) ** 2 + 1e-10)
    if a < 1:
        assert exact - found <= ((1 - a) / 2) ** (a / 2) * delta**a + ROUNDING * exact
    assert smooth.regularised_power(-x, a, delta) == -found


@relaxed
@given(st.floats(1e-3, 1e6), DELTA)
def test_regularised_inverse_bound(x, delta):
    found = smooth.regularised_inverse(x, delta)
    assert 0 <= 1 / x - found + ROUNDING / x <= (delta / x) ** 2 / x + 2 * ROUNDING / x
    assert found <= (1 + ROUNDING) / (2 * delta)


@relaxed
@given(st.floats(1e-6, 10.0), st.floats(0.1, 5.0))
def test_regularised_log_bound(x, delta):
    excess = smooth.regularised_log(x, delta) - math.log(x)
    if x >= delta:
        assert abs(excess) <= 4e-16 * max(abs(math.log(x)), 1.0)  # numpy and the C library may differ in the last digit
    else:
        assert -ROUNDING <= excess <= (1 - x / delta) ** 3 * delta / (3 * x) + ROUNDING
    assert smooth.regularised_log(-1e3, delta) < smooth.regularised_log(-1.0, delta) < smooth.regularised_log(x, delta)


@relaxed
@given(NUMBER, DELTA)
def test_smooth_abs_bound(x, delta):
    short = abs(x) - smooth.smooth_abs(x, delta)
    assert -ROUNDING * abs(x) <= short <= 0.3003 * delta + ROUNDING * abs(x)
    assert short <= delta**2 / (2 * abs(x)) + ROUNDING * abs(x) if x else short == 0


@relaxed
@given(NUMBER, NUMBER, DELTA)
def test_smooth_extremes_bound(a, b, delta):
    slack = ROUNDING * (abs(a) + abs(b) + delta)
    above, below = smooth.smooth_max(a, b, delta) - max(a, b), min(a, b) - smooth.smooth_min(a, b, delta)
    for error in (above, below):
        assert -slack <= error <= delta / 2 + slack
        assert error <= (delta**2 / (4 * abs(a - b)) if a != b else delta) + slack


@relaxed
@given(NUMBER, NUMBER, DELTA)
def test_smooth_step_bound(x, x0, width):
    s = smooth.smooth_step(x, x0, width)
    if abs(x - x0) > width / 2 * (1 + 1e-9):
        assert s == float(x > x0)
    else:
        assert 0 <= s <= 1 and abs(s - (x > x0)) <= 0.5 + 1e-9
    between = smooth.smooth_switch(x, -3.0, 5.0, x0, width)
    assert between == pytest.approx(-3 + 8 * s, abs=1e-12)


def test_stated_constants_are_sharp():
    t = np.linspace(0, 5, 200_001)
    assert np.max(np.sqrt(t) - smooth.regularised_sqrt(t, 1.0)) == pytest.approx(0.2544, abs=1e-4)
    assert np.max(t - smooth.smooth_abs(t, 1.0)) == pytest.approx(0.3003, abs=1e-4)
    assert np.max(np.diff(smooth.smooth_abs(t, 1.0)) / np.diff(t)) == pytest.approx(1.0887, abs=1e-3)
    assert np.max(np.diff(smooth.smooth_step(t, 2.0, 1.0)) / np.diff(t)) == pytest.approx(1.875, abs=1e-3)


@pytest.mark.parametrize("name", HELPERS)
@relaxed
@given(x=st.one_of(st.floats(-3, 3), st.sampled_from([0.0, -0.0, 0.3, -0.3, -0.15, 0.55, 1e-300])))
def test_expressions_agree_with_numbers_and_their_derivatives_with_differences(name, x):
    helper = HELPERS[name]
    expression = helper(X)
    slope = gradient(expression, [X])[X]
    bend = gradient(slope, [X])[X]
    value, first, second = (float(v) for v in evaluate([expression, slope, bend], lambda leaf: x))
    assert value == pytest.approx(helper(x), rel=1e-13, abs=1e-13)
    assert math.isfinite(first) and math.isfinite(second)
    h = 1e-5
    assert first == pytest.approx((helper(x + h) - helper(x - h)) / (2 * h), rel=1e-4, abs=1e-4)
    slopes = [float(evaluate([slope], lambda leaf, at=at: at)[0]) for at in (x + h, x - h)]
    assert second == pytest.approx((slopes[0] - slopes[1]) / (2 * h), rel=1e-2, abs=2e-2)  # continuous: C2


@pytest.mark.parametrize("name", HELPERS)
@pytest.mark.parametrize("x", [-1e100, -1e8, 1e8, 1e100])
def test_slopes_are_finite_far_away(name, x):
    slope = gradient(HELPERS[name](X), [X])[X]
    assert math.isfinite(float(evaluate([slope], lambda leaf: x)[0]))


def test_arrays_and_lists():
    np.testing.assert_allclose(smooth.regularised_sqrt([1.0, 4.0], 1e-6), [1.0, 2.0], rtol=1e-9)
    np.testing.assert_allclose(smooth.smooth_max([1.0, 4.0], 2.0, 1e-6), [2.0, 4.0], rtol=1e-9)
    assert smooth.smooth_switch(np.array([-1.0, 1.0]), 2.0, [3.0, 4.0]).tolist() == [2.0, 4.0]


@pytest.mark.parametrize("wrong", [0.0, -1.0, [1.0, 0.0], float("nan")])
def test_delta_must_be_positive(wrong):
    with pytest.raises(UsageError, match="positive `delta`"):
        smooth.regularised_sqrt(X, wrong)
    with pytest.raises(UsageError, match="positive `width`"):
        smooth.smooth_step(1.0, 0.0, wrong)
