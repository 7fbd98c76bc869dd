import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acausal.errors import UsageError
from acausal.runtime.clocks import Clocks, rationals

# Values as users write them, each with the rational number it stands for.
DECIMALS = st.builds(lambda n, k: Fraction(n, 10**k), st.integers(1, 999), st.integers(0, 4))
FRACTIONS = st.builds(Fraction, st.integers(1, 60), st.integers(1, 60))
EXACT = DECIMALS | FRACTIONS


@st.composite
def clock_sets(draw):
    """Clocks with simple periods, and offsets on either side of zero."""
    n = draw(st.integers(1, 5))
    offsets = draw(st.lists(EXACT | EXACT.map(lambda f: -f) | st.just(Fraction(0)), min_size=n, max_size=n))
    return offsets, draw(st.lists(EXACT, min_size=n, max_size=n))


def build(offsets, periods):
    return Clocks([float(o) for o in offsets], [float(p) for p in periods])


def by_fractions(offsets, periods, t, inclusive):
    """The same by enumeration of each clock's ticks around t; ticks with one double are one tick."""
    ticks = []
    for o, p in zip(offsets, periods, strict=True):
        k = max(0, math.floor((Fraction(t) - o) / p) - 2)
        while not (float(o + k * p) >= t if inclusive else float(o + k * p) > t):
            k += 1
        ticks.append(float(o + k * p))
    return min(ticks), [i for i, tick in enumerate(ticks) if tick == min(ticks)]


# --- the published patterns --------------------------------------------------------------------------------------------------


def test_two_and_three():
    clocks = Clocks([0, 0], [2, 3])
    assert (clocks.base, clocks.period) == (1.0, 6.0)
    assert clocks.pattern() == [(0, (0, 1)), (2, (0,)), (3, (1,)), (4, (0,))]


def test_three_clocks_of_nikoukhah_and_furic():
    clocks = Clocks([0.0, 0.0, 0.0], [0.1, 0.5, 0.35])
    assert (clocks.base, clocks.period) == (0.05, 3.5)
    pattern = clocks.pattern()
    assert len(pattern) == 40 and pattern[-1][0] < 70
    situations = [ticking for _, ticking in pattern]
    assert {s: situations.count(s) for s in set(situations)} == {(0,): 24, (2,): 5, (0, 1): 6, (0, 2): 4, (0, 1, 2): 1}


def test_ticks_follow_the_pattern_period_after_period():
    clocks = Clocks([0.0, 0.0, 0.0], [0.1, 0.5, 0.35])
    pattern, t = clocks.pattern(), -1.0
    for turn in range(100):
        for m, expected in pattern:
            t, ticking = clocks.next(t, inclusive=False)
            assert t == (turn * 70 + m) / 20
            assert tuple(ticking) == expected


def test_an_offset_of_half_a_period_is_on_the_base():
    clocks = Clocks([0.0, 0.5], [1.0, 1.0])
    assert (clocks.base, clocks.period) == (0.5, 1.0)
    assert clocks.pattern() == [(0, (0,)), (1, (1,))]
    assert not clocks.coincide(0, 1)


def test_the_base_counts_from_the_first_offset():
    clocks = Clocks([0.3, 2.3], [1.0, 1.0])
    assert (clocks.origin, clocks.base) == (0.3, 1.0)
    assert clocks.pattern() == [(0, (0, 1))]
    assert clocks.coincide(0, 1)


# --- the next tick ----------------------------------------------------------------------------------------------------------


@given(clock_sets(), st.floats(-50, 1e9), st.booleans())
def test_next_agrees_with_enumeration(clocks, t, inclusive):
    time, ticking = build(*clocks).next(t, inclusive)
    assert (time, ticking.tolist()) == by_fractions(*clocks, t, inclusive)


@given(clock_sets(), st.integers(0, 10**9), st.integers(0, 4), st.booleans())
def test_next_agrees_with_enumeration_at_ticks(clocks, k, clock, inclusive):
    offsets, periods = clocks
    clock %= len(offsets)
    t = float(offsets[clock] + k * periods[clock])
    for near in (math.nextafter(t, -math.inf), t, math.nextafter(t, math.inf)):
        time, ticking = build(*clocks).next(near, inclusive)
        assert (time, ticking.tolist()) == by_fractions(*clocks, near, inclusive)


@given(st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=5), st.floats(0, 1e6), st.booleans())
def test_any_periods_whatever(periods, t, inclusive):
    """Periods with nothing in common: what `rationals` takes them for is close to them, and the rest is exact."""
    exact = rationals(periods)
    assert all(abs(float(f) - x) <= 16 * math.ulp(x) for f, x in zip(exact, periods, strict=True))
    time, ticking = Clocks(np.zeros(len(periods)), periods).next(t, inclusive)
    assert (time, ticking.tolist()) == by_fractions([Fraction(0)] * len(periods), exact, t, inclusive)


@given(clock_sets())
def test_no_tick_is_lost_or_given_twice(clocks):
    offsets, periods = clocks
    end = max(offsets) + 5 * max(periods)
    if sum((end - o) / p for o, p in zip(offsets, periods, strict=True)) > 2000:
        end = max(offsets) + 5 * min(periods)
    if sum((end - o) / p for o, p in zip(offsets, periods, strict=True)) > 2000:
        return
    expected = {}
    for i, (o, p) in enumerate(zip(offsets, periods, strict=True)):
        k = 0
        while o + k * p <= end:
            expected.setdefault(o + k * p, []).append(i)
            k += 1
    found, given_clocks = {}, build(offsets, periods)
    t, ticking = given_clocks.next(-math.inf, inclusive=True)
    while t <= float(end):
        found[t] = ticking.tolist()
        t, ticking = given_clocks.next(t, inclusive=False)
    assert found == {float(moment): clocks for moment, clocks in expected.items()}


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(1, 12)), min_size=2, max_size=4))
def test_clocks_coincide_just_when_the_pattern_says_so(clocks):
    built = Clocks([o / 6 for o, _ in clocks], [p / 6 for _, p in clocks])
    situations = [ticking for _, ticking in built.pattern()]
    for i in range(len(clocks)):
        for j in range(i):
            assert built.coincide(i, j) == any(i in s and j in s for s in situations)


def test_a_billion_ticks_later_nothing_has_drifted():
    clocks = Clocks([0.0, 0.0, 0.0], [0.1, 0.3, 1 / 3])
    time, ticking = clocks.next(1e8, inclusive=True)
    assert time == 1e8 and ticking.tolist() == [0, 2]  # 0.3 is no divisor of 1e8
    time, ticking = clocks.next(99999999.95, inclusive=False)
    assert time == 1e8 and ticking.tolist() == [0, 2]
    time, ticking = clocks.next(3e8 - 0.01, inclusive=True)
    assert time == 3e8 and ticking.tolist() == [0, 1, 2]
    assert clocks.next(3e8, inclusive=False)[0] == 3e8 + 0.1


def test_clocks_that_start_later_are_waited_for():
    clocks = Clocks([5.0, 100.0], [1.0, 0.25])
    assert clocks.next(-3.0, inclusive=True)[0] == 5.0
    assert clocks.next(99.5, inclusive=False)[1].tolist() == [0, 1]
    assert clocks.next(100.0, inclusive=False)[0] == 100.25


def test_ten_thousand_clocks():
    periods = np.arange(1, 10_001) * 0.001
    clocks = Clocks(np.zeros(10_000), periods)
    time, ticking = clocks.next(0.0, inclusive=True)
    assert time == 0.0 and len(ticking) == 10_000 and ticking.dtype == np.int64
    time, ticking = clocks.next(7.199, inclusive=False)
    assert time == 7.2
    assert ticking.tolist() == [k - 1 for k in range(1, 10_001) if 7200 % k == 0]
    assert clocks.period > 1e300


def test_many_odd_fractions_stay_manageable():
    """No common denominator of reasonable size: the doubles themselves are taken, and short decimals still meet exactly."""
    periods = [1 / q for q in range(101, 400, 2)] + [0.1, 0.3]
    clocks = Clocks(np.zeros(len(periods)), periods)
    _, ticking = clocks.next(300.0, inclusive=True)
    assert {len(periods) - 2, len(periods) - 1} <= set(ticking.tolist())
    t, count = 0.0, 0
    while t < 0.1:
        t, ticking = clocks.next(t, inclusive=False)
        count += len(ticking)
    assert t == 0.1 and count == sum(q // 10 for q in range(101, 400, 2)) + 1


def test_periods_without_a_common_measure():
    clocks = Clocks([0.0, 0.0], [1.0, math.sqrt(2)])
    assert clocks.base < 1e-12
    times, t = [], -1.0
    for _ in range(5):
        t, ticking = clocks.next(t, inclusive=False)
        times.append((t, ticking.tolist()))
    root = math.sqrt(2)
    assert times == [(0.0, [0, 1]), (1.0, [0]), (root, [1]), (2.0, [0]), (2 * root, [1])]
    with pytest.raises(UsageError, match="too long a list"):
        clocks.pattern()


def test_simple_ratios_of_odd_periods_meet():
    clocks = Clocks([0.0, 0.0], [math.pi, math.pi / 3])
    assert clocks.pattern() == [(0, (0, 1)), (1, (1,)), (2, (1,))]


def test_no_clocks():
    clocks = Clocks([], [])
    time, ticking = clocks.next(0.0, inclusive=True)
    assert time == math.inf and len(ticking) == 0
    assert clocks.pattern() == []


# --- what was meant ---------------------------------------------------------------------------------------------------------


@given(EXACT, st.sampled_from([1, -1]))
def test_the_rational_a_user_wrote_is_found(exact, sign):
    assert rationals([sign * float(exact)]) == [sign * exact]


@pytest.mark.parametrize(
    ("value", "meant"),
    [
        (86400.0, Fraction(86400)),
        (1 / 3, Fraction(1, 3)),
        (0.1 + 0.2, Fraction(3, 10)),
        (1 / 44100, Fraction(1, 44100)),
        (86400 / 7, Fraction(86400, 7)),
        (1e-9, Fraction(1, 10**9)),
        (math.sqrt(2), Fraction(math.sqrt(2))),
    ],
)
def test_values(value, meant):
    assert rationals([value]) == [meant]


# --- bad values -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("period", [0.0, -0.5, math.inf, math.nan])
def test_a_period_that_is_none(period):
    with pytest.raises(UsageError, match=f"cannot have the period {period} s"):
        Clocks([0.0, 0.0], [1.0, period])


@pytest.mark.parametrize("offset", [math.inf, math.nan])
def test_an_offset_that_is_none(offset):
    with pytest.raises(UsageError, match=f"cannot start at {offset} s"):
        Clocks([offset], [1.0])


def test_as_many_offsets_as_periods():
    with pytest.raises(UsageError, match=r"\(2,\) offsets and \(1,\) periods"):
        Clocks([0.0, 1.0], [1.0])
