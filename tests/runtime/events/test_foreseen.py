"""Fast functions of time in relations: no crossing is overlooked, however large the steps could be."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import acausal as ac
from acausal.language.expression import Slot, apply
from acausal.language.operators import OPERATORS
from acausal.runtime.events.foreseen import Foreseen
from acausal.runtime.events.ranges import Range, ranges

Statements = Iterator[Any]
HERTZ = 2 * np.pi


class Chopper(ac.Component):
    """A comparator of two signals of time, and something slow behind it."""

    f = ac.Parameter(500.0)
    on = ac.Boolean(start=False)
    i = ac.Variable(start=0.0)

    def equations(self) -> Statements:
        yield self.on == (ac.sin(HERTZ * self.f * ac.time) > ac.cos(6 * ac.time))
        yield ac.der(self.i) == ac.where(self.on, 1.0, 0.0)


class Source(ac.Component):
    """A carrier as components have it: a variable that is computed from time."""

    f = ac.Parameter(200.0)
    y = ac.Variable()

    def equations(self) -> Statements:
        yield self.y == 0.5 + 0.5 * ac.sin(HERTZ * self.f * ac.time)


class Controlled(ac.Component):
    """The carrier is compared with a state that moves slowly: der(x) is the share of time in which it is above."""

    def __init__(self, count: int) -> None:
        self.carrier = ac.array(Source, count, f=np.linspace(150.0, 250.0, count))
        self.x = ac.Variable(shape=count, start=0.0, fixed=True)

    def equations(self) -> Statements:
        yield ac.der(self.x) == ac.where(self.carrier.y > self.x, 1.0, 0.0)


def crossings(f: float, until: float) -> int:
    t = np.linspace(0.0, until, 2_000_001)
    above = np.sin(HERTZ * f * t) > np.cos(6 * t)
    return int(np.count_nonzero(above[1:] != above[:-1]))


@pytest.mark.parametrize("f", [20.0, 500.0])
def test_every_pulse_of_time_alone_is_seen(f: float) -> None:
    result = ac.compile(Chopper()).simulate(until=0.5, set={"f": f})
    assert len(result.events) == crossings(f, 0.5)
    t = np.linspace(0.0, 0.5, 2_000_001)
    share = 0.5 * np.mean(np.sin(HERTZ * f * t) > np.cos(6 * t))
    assert result["i"][-1] == pytest.approx(share, rel=1e-4)


def test_a_carrier_against_slow_states_in_an_array() -> None:
    result = ac.compile(Controlled(3)).simulate(until=0.3)
    x, step = np.zeros(3), 2e-6
    speed = HERTZ * np.linspace(150.0, 250.0, 3)
    for t in np.arange(0.0, 0.3, step):
        x += step * (0.5 + 0.5 * np.sin(speed * t) > x)
    np.testing.assert_allclose(result["x"][-1], x, atol=5e-5)


def test_a_relation_that_never_switches_costs_no_steps() -> None:
    class Quiet(Chopper):
        def equations(self) -> Statements:
            yield self.on == (ac.sin(HERTZ * self.f * ac.time) > 2.0 + ac.cos(6 * ac.time) / 2)
            yield ac.der(self.i) == ac.where(self.on, 1.0, -self.i)

    result = ac.compile(Quiet()).simulate(until=10.0)
    assert not len(result.events) and result.statistics.steps < 100


FUNCTIONS = {
    "sin": np.sin,
    "cos": np.cos,
    "exp": np.exp,
    "atan": np.arctan,
    "tanh": np.tanh,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "floor": np.floor,
    "ceil": np.ceil,
    "sign": np.sign,
}


@st.composite
def expressions(draw: Any, depth: int = 3) -> tuple[Any, Any]:
    """An expression of one slot, and the same in numpy."""
    if depth == 0 or draw(st.booleans()):
        if draw(st.booleans()):
            return Slot(0, "known"), lambda t: t
        value = draw(st.floats(-3, 3))
        return value, lambda t: np.full_like(t, value)
    a, f = draw(expressions(depth=depth - 1))
    if draw(st.booleans()):
        name = draw(st.sampled_from([*FUNCTIONS, "square", "neg"]))
        if name == "square":
            return a**2, lambda t: f(t) ** 2
        if name == "neg":
            return -a, lambda t: -f(t)
        function = FUNCTIONS[name]
        return getattr(ac, name)(a), lambda t: function(f(t))
    b, g = draw(expressions(depth=depth - 1))
    name = draw(st.sampled_from(["add", "sub", "mul", "div", "max", "min"]))
    if name == "add":
        return a + b, lambda t: f(t) + g(t)
    if name == "sub":
        return a - b, lambda t: f(t) - g(t)
    if name == "mul":
        return a * b, lambda t: f(t) * g(t)
    if name in ("max", "min"):
        return getattr(ac, name)(a, b), lambda t: getattr(np, f"{name}imum")(f(t), g(t))
    return a / (1.5 + b * b), lambda t: f(t) / (1.5 + g(t) * g(t))


@settings(max_examples=150, deadline=None)
@given(expressions(), st.floats(-2, 2), st.floats(1e-3, 2))
def test_bounds_hold_what_they_promise(both: tuple[Any, Any], begin: float, width: float) -> None:
    expression, function = both
    if not hasattr(expression, "args"):
        return
    t = np.linspace(begin, begin + width, 401)
    stretch = Range((t[:1], t[-1:]), (np.ones(1), np.ones(1)))
    found = ranges(expression, lambda leaf: stretch)
    with np.errstate(all="ignore"):
        values = function(t)
    if not np.isfinite(values).all() or np.abs(values).max() > 1e100:
        return
    close = 1e-9 * (1 + np.abs(values).max())
    assert (values >= found.value[0] - close).all() and (values <= found.value[1] + close).all()
    slopes = np.diff(values) / np.diff(t)  # each is the slope somewhere in between
    close = 1e-6 * (1 + np.abs(values).max()) / min(width, 1.0)
    assert (slopes >= found.slope[0] - close).all() and (slopes <= found.slope[1] + close).all()


class Pulse(ac.Component):
    """How long a function of time is above a level, which is a state or a number."""

    level = ac.Variable(start=0.0, fixed=True)
    i = ac.Variable(start=0.0, fixed=True)

    def __init__(self, function: Any, level: float, slow: bool) -> None:
        self.function, self.number, self.slow = function, level, slow

    def equations(self) -> Statements:
        yield ac.der(self.level) == 0.0
        level = self.number + self.level if self.slow else self.number
        yield ac.der(self.i) == ac.where(self.function() > level, 1.0, 0.0)


PULSES = {
    "it turns in the middle of the run": (lambda: -((ac.time - 5.0) ** 2), -0.01, 0.2),
    "it turns at an eighth of the run": (lambda: -((ac.time - 1.25) ** 4), -1e-4, 0.2),
    "it is short": (lambda: ac.exp(-(((ac.time - 3.3) / 1e-4) ** 2)), 0.5, 2e-4 * np.sqrt(np.log(2.0))),
    "a high power of what is negative, too": (
        lambda: ac.sin(HERTZ * 20 * ac.time) ** 9,
        0.5,
        10 * (0.5 - np.arcsin(0.5 ** (1 / 9)) / np.pi),
    ),
    "it turns where another passes zero": (
        lambda: ac.cosh(ac.sin(HERTZ * 20 * ac.time)),
        np.cosh(0.5),
        20 / 3,
    ),
    "an absolute value without events": (lambda: ac.no_event(abs(ac.sin(HERTZ * 5 * ac.time))), 0.5, 20 / 3),
    "an absolute value": (lambda: abs(ac.sin(HERTZ * 5 * ac.time)), 0.5, 20 / 3),
}


@pytest.mark.parametrize("slow", [False, True])
@pytest.mark.parametrize("name", PULSES)
def test_pulses_last_as_long_as_they_do(name: str, slow: bool) -> None:
    function, level, expected = PULSES[name]
    result = ac.compile(Pulse(function, level, slow)).simulate(until=10.0)
    assert result["i"][-1] == pytest.approx(expected, rel=1e-6)


def test_a_frequency_that_an_event_changes_counts_from_then_on() -> None:
    class Switched(ac.Component):
        f = ac.Discrete(start=0.1)
        late = ac.Boolean(start=False)
        x = ac.Variable(start=0.0, fixed=True)
        i = ac.Variable(start=0.0, fixed=True)

        def equations(self) -> Statements:
            yield ac.der(self.x) == 1.0
            yield self.late == (self.x > 1.0)
            yield self.f == ac.where(self.late, 50.0, 0.1)
            yield ac.der(self.i) == ac.where(ac.sin(HERTZ * self.f * ac.time) > 0.75 + 0 * self.x, 1.0, 0.0)

    result = ac.compile(Switched()).simulate(until=2.0)
    assert result["i"][-1] == pytest.approx(0.5 - np.arcsin(0.75) / np.pi, rel=1e-6)  # before, it does not come so far


def test_what_changes_at_every_event_is_not_computed_anew_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    searches = []
    search = Foreseen._search
    monkeypatch.setattr(Foreseen, "_search", lambda self, *args: searches.append(args) or search(self, *args))
    result = ac.compile(Pulse(lambda: abs(ac.sin(HERTZ * 20 * ac.time)), 0.5, True)).simulate(until=5.0)
    assert len(result.events) >= 400 and len(searches) < 40


def test_late_in_a_long_life_a_search_ends() -> None:
    model = ac.compile(Pulse(lambda: ac.sin(ac.time), 0.5, True))
    result = model.simulate(start=1e9, until=1e9 + 10)
    t = np.linspace(1e9, 1e9 + 10, 1_000_001)
    assert result["i"][-1] == pytest.approx(10 * np.mean(np.sin(t) > 0.5), abs=1e-4)


def test_a_session_without_an_end_sees_every_pulse() -> None:
    session = ac.compile(Pulse(lambda: ac.sin(HERTZ * 20 * ac.time), 0.5, True)).start()
    session.advance(2.0)
    assert session["i"] == pytest.approx(2 / 3, rel=1e-6)


def test_a_session_without_an_end_goes_on_beyond_what_is_foreseen() -> None:
    session = ac.compile(Pulse(lambda: ac.exp(-ac.time), 0.5, True)).start()
    session.advance(1e5)
    assert session["i"] == pytest.approx(np.log(2.0), rel=1e-6)


def test_instances_have_exponents_of_their_own() -> None:
    class Power(ac.Component):
        n = ac.Parameter(3.0)
        i = ac.Variable(start=0.0, fixed=True)

        def equations(self) -> Statements:
            yield ac.der(self.i) == ac.where(ac.sin(HERTZ * 50 * ac.time) ** self.n > 0.5, 1.0, 0.0)

    class Two(ac.Component):
        def __init__(self) -> None:
            self.power = ac.array(Power, 2, n=np.array([3.0, 5.0]))

    result = ac.compile(Two()).simulate(until=1.0)
    expected = [0.5 - np.arcsin(0.5 ** (1 / n)) / np.pi for n in (3, 5)]
    np.testing.assert_allclose([result[f"power[{k}].i"][-1] for k in (0, 1)], expected, rtol=1e-6)


class Unbounded(ac.Component):
    x = ac.Variable(start=0.0, fixed=True)
    p = ac.Parameter(2.5)

    def equations(self) -> Iterator[Any]:
        yield ac.der(self.x) == ac.where((ac.time + 0.1) ** (self.p * ac.time) > 100.0 + self.x, 1.0, 0.0)


class Followed(ac.Component):
    x = ac.Variable(start=0.0, fixed=True)

    def equations(self) -> Iterator[Any]:
        yield ac.der(self.x) == ac.where(ac.sin(2 * np.pi * 50 * ac.time) > 0.9 + 0 * self.x, 1.0, 0.0)


class SideBySide(ac.Component):
    def __init__(self) -> None:
        self.unbounded, self.followed = Unbounded(), Followed()


def test_a_function_without_bounds_leaves_the_others_foreseen() -> None:
    result = ac.compile(SideBySide()).simulate(until=1.0)
    assert len(result.events) == 100
    assert abs(result["followed.x"][-1] - np.arccos(0.9) / np.pi) < 1e-9
    told = [str(d) for d in result.diagnostics]
    assert len(told) == 1 and "unbounded" in told[0] and "max_step" in told[0]


class Cancels(ac.Component):
    """What cancels in numbers does not in bounds: however short a stretch, the relation may turn in it."""

    a, x = ac.Parameter(0.3), ac.Variable(start=0.0, fixed=True)
    y = ac.Variable(shape=16)

    def equations(self) -> Iterator[Any]:
        near = np.linspace(0.0, 0.5, 16)
        yield self.y == ac.tanh(ac.time + near)
        yield ac.der(self.x) == ac.sum(ac.where(self.y - 0.5 * (self.y + self.a + self.y + self.a) > -0.2, 1.0, 2.0))


def test_bounds_that_never_tell_where_a_function_turns_are_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    searches, search = list[float](), Foreseen._search
    monkeypatch.setattr(Foreseen, "_search", lambda self, begin, *rest: searches.append(begin) or search(self, begin, *rest))
    result = ac.compile(Cancels()).simulate(until=2.0, points=3)
    assert len(searches) < 30 and "it is not known where" in result.diagnostics[0].what
    assert result["x"][-1] == pytest.approx(64.0, rel=1e-9)


class Carriers(ac.Component):
    """Many carriers, each with turns of its own, compared with something slow."""

    def __init__(self, n: int) -> None:
        self.w = ac.Parameter(np.linspace(20.0, 40.0, n))
        self.x, self.z = ac.Variable(shape=n, start=np.zeros(n), fixed=True), ac.Variable(start=0.5, fixed=True)

    def equations(self) -> Iterator[Any]:
        yield ac.der(self.z) == -0.1 * self.z
        yield ac.der(self.x) == ac.where(ac.sin(self.w * ac.time) > self.z, 1.0, 0.0)


def test_what_is_sought_grows_with_the_number_of_functions_not_with_its_square(monkeypatch: pytest.MonkeyPatch) -> None:
    looked, over = list[int](), Foreseen._over
    monkeypatch.setattr(
        Foreseen, "_over", lambda self, function, *rest: looked.append(len(function)) or over(self, function, *rest)
    )
    totals = []
    for n in (8, 64):
        looked.clear()
        result = ac.compile(Carriers(n)).simulate(until=1.0, points=3)
        totals.append(sum(looked))
    assert totals[1] < 1.5 * 8 * totals[0]
    fine = np.linspace(0.0, 1.0, 400_001)
    share = (np.sin(np.outer([20.0, 40.0], fine)) > 0.5 * np.exp(-0.1 * fine)).mean(axis=1)
    assert np.asarray(result["x"])[-1][[0, -1]] == pytest.approx(share, abs=1e-5)


class Pole(ac.Component):
    """Turns that pile up at a pole, beside a function of time that can be followed."""

    x, beside, pole = ac.Variable(start=0.0, fixed=True), ac.Variable(start=0.0, fixed=True), ac.Variable(start=0.0, fixed=True)

    def equations(self) -> Iterator[Any]:
        yield ac.der(self.x) == 1.0
        yield ac.der(self.beside) == ac.where(ac.sin(30.0 * ac.time) > self.x - 0.5, 1.0, 0.0)
        yield ac.der(self.pole) == ac.where(ac.sin(1.0 / (ac.time - 0.4)) > 100.0 + self.x, 1.0, 0.0)


def test_turns_that_pile_up_at_a_pole_come_to_an_end_and_are_told() -> None:
    result = ac.compile(Pole()).simulate(until=1.0, points=11)
    assert "it is not known where the function of time in a relation turns" in result.diagnostics[0].what
    fine = np.linspace(0.0, 1.0, 400_001)
    assert result["beside"][-1] == pytest.approx((np.sin(30.0 * fine) > fine - 0.5).mean(), abs=1e-5)
    assert result["pole"][-1] == 0.0
    assert result.statistics.steps < 3000


class Keyed(ac.Component):
    """A carrier of 500 Hz that a state lets through from 0.2 s on."""

    key, told = ac.States("off", "on", initial="off"), ac.Integer(0)
    y, x, ups = ac.Variable(), ac.Variable(start=0.0, fixed=True), ac.Integer(0)

    def __init__(self, form: str) -> None:
        self.form = form

    def equations(self) -> Statements:
        carrier = ac.sin(HERTZ * 500 * ac.time)
        if self.form == "match":
            yield self.y == ac.match(self.key, off=0.0, on=carrier)
        elif self.form == "during":
            yield ac.during(self.key.on, self.y == carrier)
            yield ac.during(self.key.off, self.y == 0.0)
        elif self.form == "both":
            yield self.y == ac.where(~((self.told < 1) | self.key.off), carrier, 0.0)
        else:
            yield self.y == ac.where(ac.no_event(ac.time > 0.2), carrier, 0.0)
        yield ac.der(self.x) == 1.0

    def transitions(self) -> Statements:
        yield self.key.off.to("on", after=0.2)

    def events(self) -> Statements:
        yield ac.when(ac.initial(), ac.assign(self.told, 1))
        yield ac.when(self.y > 0.9, ac.assign(self.ups, ac.pre(self.ups) + 1))


@pytest.mark.parametrize("form", ["match", "during", "both", "no event"])
def test_a_carrier_in_one_of_several_states_is_seen_there(form: str) -> None:
    result = ac.compile(Keyed(form)).simulate(until=1.0)
    assert result["ups"][-1] == 400 and result.diagnostics == ()


@pytest.mark.parametrize("name", ["lt", "le", "gt", "ge", "eq", "and", "or", "not"])
def test_what_is_certain_of_a_relation_is_so(name: str) -> None:
    """Each stretch of two arguments, with values at its ends and its middle; what may change there has a slope without bounds."""
    ends = np.array([-1.0, 0.0, 0.0, 1.0, 2.0])
    low, high = (c.ravel() for c in np.meshgrid(ends, ends))
    kept = low <= high
    pairs = np.stack(np.meshgrid(np.arange(kept.sum()), np.arange(kept.sum()))).reshape(2, -1)
    a, b = (Range((low[kept][k], high[kept][k]), (np.full(len(k), -1.0), np.full(len(k), 1.0))) for k in pairs)
    left, right = Slot(0, "known"), Slot(1, "known")
    found = ranges(apply(name, left) if name == "not" else apply(name, left, right), lambda leaf: a if leaf is left else b)
    certain = found.value[0] == found.value[1]
    assert certain.any() and not certain.all()
    assert (found.slope[0][certain] == 0).all() and np.isinf(found.slope[1][~certain]).all()
    for share, other in itertools.product((0.0, 0.5, 1.0), repeat=2):
        x = (1 - share) * a.value[0] + share * a.value[1]
        y = (1 - other) * b.value[0] + other * b.value[1]
        value = OPERATORS[name].value(*((x,) if name == "not" else (x, y)))
        assert (np.asarray(value, dtype=float)[certain] == found.value[0][certain]).all()


SAW = np.arange(0.0, 1.05, 0.1), np.append(0.0, np.cumsum(np.arange(10) % 2))
STEPS: dict[
    str, tuple[Any, float]
] = {  # a condition that jumps in time without an event, and for how much of the first second it holds
    "saw": (lambda t: ac.no_event(300.0 * t - ac.floor(300.0 * t)) > 0.5, 0.5),
    "falling saw": (lambda t: ac.no_event(ac.ceil(300.0 * t) - 300.0 * t) > 0.25, 0.75),
    "square": (lambda t: ac.no_event(ac.sign(ac.sin(200 * HERTZ * t))) > 0.5, 0.5),
    "clipped": (lambda t: ac.no_event(ac.max(ac.sin(200 * HERTZ * t), 0.5)) > 0.5, 1 / 3),
    "chosen": (lambda t: ac.no_event(ac.where(ac.sin(200 * HERTZ * t) > 0.0, t, 0.0)) > 0.5, 0.25),
    "slope of a table": (lambda t: ac.Table(*SAW, method="linear").derivative()(t) > 5.0, 0.5),
}


@pytest.mark.parametrize("name", STEPS)
def test_what_jumps_in_time_without_an_event_switches_a_relation_each_time(name: str) -> None:
    condition, share = STEPS[name]

    class Switched(ac.Component):
        x = ac.Variable(start=0.0, fixed=True)

        def equations(self) -> Statements:
            yield ac.der(self.x) == ac.where(condition(ac.time), 1.0, 0.0)

    result = ac.compile(Switched()).simulate(until=1.0)
    assert result["x"][-1] == pytest.approx(share, abs=1e-7) and result.diagnostics == ()
