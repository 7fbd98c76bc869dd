"""Events that tie states to each other or to time: capacitances that vanish, contacts that close on capacitors, against
closed forms and small steps."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq

import acausal as ac

Statements = Iterator[Any]
ON = np.pi / 6  # when sin(t) first passes the voltage below which there is no charge


class Device(ac.Component):
    """A charge that vanishes below 0.5 V, behind a resistor: u == sin(t) is algebraic there, and above it follows the charge."""

    u, q = ac.Variable(start=0.0), ac.Variable(start=0.0)
    later = ac.Parameter(0.0)

    def equations(self) -> Statements:
        yield self.q == ac.max(self.u - 0.5, 0)
        yield ac.der(self.q) == ac.sin(ac.time - self.later) - self.u


def charge(t: np.ndarray) -> np.ndarray:
    """q' = sin(t) - q - 0.5 from where sin(t) rises through 0.5 until q is 0 again."""
    free = lambda s: (np.sin(s) - np.cos(s)) / 2 - 0.5  # noqa: E731
    course = lambda s: free(s) - free(ON) * np.exp(-(s - ON))  # noqa: E731
    end, phase = brentq(course, 2.0, 6.0), np.mod(t, 2 * np.pi)
    return np.where((phase > ON) & (phase < end), course(phase), 0.0)


@pytest.mark.parametrize("rtol", [1e-5, 1e-8])
def test_a_capacitance_that_vanishes_and_comes_back_period_by_period(rtol: float) -> None:
    result = ac.compile(Device()).simulate(until=40.0, rtol=rtol)
    expected = charge(result.time)
    assert np.abs(result["q"] - expected).max() < 20 * rtol
    without = (expected == 0) & (np.abs(np.sin(result.time) - 0.5) > 0.05) & (result.time > 1e-9)
    np.testing.assert_allclose(result["u"][without], np.sin(result.time[without]), atol=20 * rtol)
    assert result.diagnostics == ()  # nothing jumps that is differentiated


def test_arrays_of_such_devices_switch_each_at_its_time() -> None:
    class Row(ac.Component):
        def __init__(self) -> None:
            self.of = ac.array(Device, 40, later=np.linspace(0.0, 3.0, 40))

    result = ac.compile(Row()).simulate(until=8.0, rtol=1e-7)
    for k in (0, 7, 39):
        shifted = result.time - np.linspace(0.0, 3.0, 40)[k]
        expected = np.where(shifted > 0, charge(shifted), 0.0)
        assert np.abs(result[f"of[{k}].q"] - expected)[shifted > 0].max() < 1e-5


class Floating(ac.Component):
    """Two charges that vanish, one of them between two nodes, and no other capacitance anywhere."""

    a, b, q, p = (ac.Variable(start=0.0) for _ in range(4))
    drive = ac.Parameter(2.0)

    def equations(self) -> Statements:
        yield self.q == ac.max(self.a - self.b - 0.2, 0)
        yield self.p == 0.5 * ac.max(self.b - 0.1, 0)
        yield ac.der(self.q) == self.drive * ac.sin(2 * ac.time) - self.a
        yield ac.der(self.p) - ac.der(self.q) == -self.b / 2


def by_small_steps(h: float, count: int, drive: float) -> np.ndarray:
    """The charges of the same circuit by the implicit Euler method: in each step the branches with which the voltages agree."""
    q = p = 0.0
    found = np.zeros((count + 1, 2))
    for k in range(count):
        source = drive * np.sin(2 * h * (k + 1))
        for c, d in ((0.0, 0.0), (1.0, 0.0), (0.0, 0.5), (1.0, 0.5)):
            matrix = [[c + h, -c], [-c, c + d + h / 2]]
            right = [q + 0.2 * c + h * source, p - q - 0.2 * c + 0.1 * d]
            u, v = np.linalg.solve(matrix, right)
            if (u - v > 0.2) == (c > 0) and (v > 0.1) == (d > 0):
                break
        q, p = max(u - v - 0.2, 0.0), 0.5 * max(v - 0.1, 0.0)
        found[k + 1] = q, p
    return found


class Part(ac.Component):
    def __init__(self) -> None:
        self.inner = Floating(drive=2.0)


@pytest.mark.parametrize("inside", [False, True])
def test_circuits_whose_only_charges_vanish_one_by_one(inside: bool) -> None:
    result = ac.compile(Part() if inside else Floating()).simulate(until=6.0, rtol=1e-8)
    one, half = by_small_steps(2e-3, 3000, 2.0), by_small_steps(1e-3, 6000, 2.0)[::2]
    prefix = "inner." if inside else ""
    for name, expected in zip("qp", (2 * half - one).T, strict=True):
        found = np.interp(np.linspace(0.0, 6.0, 3001), result.time, result[prefix + name])
        np.testing.assert_allclose(found, expected, atol=2e-3)
    assert result.statistics.events >= 8 and result.diagnostics == ()


class Contact(ac.Component):
    """A capacitor of 1 F discharges, and is joined to one of 3 F: charge is conserved, voltages become equal."""

    a, b, i = ac.Variable(start=1.0, fixed=True), ac.Variable(start=0.0, fixed=True), ac.Variable()
    mode = ac.States("open", "closed", initial="open")
    close, open_again = ac.Parameter(1.0), ac.Parameter(1e9)

    def transitions(self) -> Statements:
        yield self.mode.open.to("closed", when=(ac.time >= self.close) & (ac.time < self.open_again))
        yield self.mode.closed.to("open", when=ac.time >= self.open_again)

    def equations(self) -> Statements:
        yield ac.der(self.a) == -self.i - self.a
        yield 3 * ac.der(self.b) == self.i
        yield ac.during(self.mode.open, self.i == 0)
        yield ac.during(self.mode.closed, self.a == self.b)


class Chosen(Contact):
    def equations(self) -> Statements:
        yield ac.der(self.a) == -self.i - self.a
        yield 3 * ac.der(self.b) == self.i
        yield ac.where((ac.time >= self.close) & (ac.time < self.open_again), self.a - self.b, self.i) == 0


@pytest.mark.parametrize("kind", [Contact, Chosen])
@pytest.mark.parametrize("solver", ["ida", "sundae"])
def test_a_contact_that_closes_on_two_capacitors_shares_their_charge(kind: type[Contact], solver: str) -> None:
    result = ac.compile(kind()).simulate(until=3.0, rtol=1e-8, solver=solver, set={"open_again": 2.0})
    t, before = result.time, np.exp(-1.0)
    k = int(np.flatnonzero(t == 1.0)[-1])
    assert result["a"][k] == pytest.approx(before / 4, rel=1e-6) and result["b"][k] == pytest.approx(before / 4, rel=1e-6)
    closed = (t > 1.0) & (t < 2.0)
    joined = before / 4 * np.exp(-(t[closed] - 1) / 4)
    np.testing.assert_allclose(result["a"][closed], joined, rtol=1e-6)
    np.testing.assert_allclose(result["b"][closed], joined, rtol=1e-6)
    np.testing.assert_allclose(result["i"][closed], -0.75 * joined, rtol=1e-5)
    end = before / 4 * np.exp(-0.25)
    assert result["b"][-1] == pytest.approx(end, rel=1e-6) and result["a"][-1] == pytest.approx(end * np.exp(-1.0), rel=1e-6)
    (told,) = map(str, result.diagnostics)
    assert "At time 1 " in told and "a: 0.367879 → 0.0919699" in told and "impulse:   i: 0.27591 " in told


class Peak(ac.Component):
    """A source, an ideal diode, a capacitor and a resistor: while the diode conducts the capacitor is tied to the source."""

    v, i, s = ac.Variable(start=0.0, fixed=True), ac.Variable(), ac.Variable()

    def equations(self) -> Statements:
        on = self.s > 0
        yield ac.der(self.v) == self.i - 0.5 * self.v
        yield ac.sin(3 * ac.time) - self.v == ac.where(on, 0, self.s)
        yield self.i == ac.where(on, self.s, 0)


def peaks(t: np.ndarray) -> np.ndarray:
    """The source until the current 3 cos 3t + sin 3t / 2 is 0, then an exponential until the source is there again."""
    found, begins = np.zeros_like(t), 0.0
    while begins < t[-1]:
        ends = (np.arctan2(-6.0, 1.0) % np.pi + np.pi * np.floor(2 * begins * 3 / (2 * np.pi) + 0.5)) / 3
        top = np.sin(3 * ends)
        back = brentq(lambda x, e=ends, h=top: h * np.exp(-0.5 * (x - e)) - np.sin(3 * x), ends + 0.8, ends + 2 * np.pi / 3)
        tied, free = (t >= begins) & (t <= ends), (t > ends) & (t < back)
        found[tied], found[free] = np.sin(3 * t[tied]), top * np.exp(-0.5 * (t[free] - ends))
        begins = back
    return found


def test_a_capacitor_that_an_ideal_diode_ties_to_a_source_follows_it_and_is_released() -> None:
    result = ac.compile(Peak()).simulate(until=10.0, rtol=1e-7)
    np.testing.assert_allclose(result["v"], peaks(result.time), atol=1e-5)
    t, tied = result.time, np.abs(result["i"]) > 1e-3
    np.testing.assert_allclose(result["i"][tied], (3 * np.cos(3 * t) + np.sin(3 * t) / 2)[tied], rtol=1e-5, atol=1e-6)
    assert result.diagnostics == ()


class Docked(ac.Component):
    """Two masses that are fixed to each other at one instant: positions and velocities jump to what momentum says."""

    x, y, v, w, F = (ac.Variable(start=s, fixed=s is not None) for s in (1.0, 0.0, 1.0, 0.0, None))

    def equations(self) -> Statements:
        yield ac.der(self.x) == self.v
        yield ac.der(self.y) == self.w
        yield ac.der(self.v) == -self.F - self.x
        yield 2 * ac.der(self.w) == self.F
        yield ac.where(ac.time >= 1, self.x - self.y, self.F) == 0


def test_positions_that_are_tied_are_of_index_three() -> None:
    result = ac.compile(Docked()).simulate(until=8.0, rtol=1e-8)
    t = result.time
    x, v, omega = (np.cos(1) + np.sin(1)) / 3, (np.cos(1) - np.sin(1)) / 3, np.sqrt(1 / 3)
    after = t > 1.0
    expected = x * np.cos(omega * (t - 1)) + v / omega * np.sin(omega * (t - 1))
    for name in "xy":
        np.testing.assert_allclose(result[name][after], expected[after], atol=1e-6)
    np.testing.assert_allclose(result["F"][t > 1.01], -2 / 3 * expected[t > 1.01], atol=1e-6)
    assert "F: " in str(result.diagnostics[0]) and "x: 1.38177 → 0.460591" in str(result.diagnostics[0])


class Set(Contact):
    def events(self) -> Statements:
        yield ac.when(ac.time >= 2, ac.reinit(self.a, 5.0))


def test_a_state_is_not_set_alone_while_it_is_tied() -> None:
    result = ac.compile(Set()).simulate(until=3.0, on_failure="keep")
    assert result.outcome is ac.Outcome.EVENT_CONFLICT and result.time_reached == 2.0
    told = "\n".join(map(str, result.diagnostics))
    assert "that equations tie to each other" in told and "ac.reinit(self.a" in told
    assert "Set the others with it" in told and "could not be found" not in told


class SetTogether(Contact):
    def events(self) -> Statements:
        yield ac.when(ac.time >= 2, ac.reinit(self.a, 5.0), ac.reinit(self.b, 5.0))
        yield ac.assert_(ac.time < 2.5, "Half a second later.")


def test_states_that_are_tied_are_set_together_and_what_fails_later_is_told_alone() -> None:
    """How the tie was found stood below each failure of the rest of the run."""
    result = ac.compile(SetTogether()).simulate(until=3.0, rtol=1e-8, on_failure="keep")
    assert result.outcome is ac.Outcome.ASSERTION
    assert result["b"][-1] == pytest.approx(5 * np.exp(-0.125), rel=1e-6)
    assert "Half a second later" in str(result.diagnostics) and "could not be found" not in str(result.diagnostics)


def test_a_session_comes_back_to_where_states_are_tied_and_to_where_they_are_not() -> None:
    def joined(t: float) -> float:
        return float(np.exp(-1.0) / 4 * np.exp(-(t - 1) / 4))

    model = ac.compile(Chosen())
    session = model.start(until=4.0, rtol=1e-8, set={"open_again": 2.0})
    free = session.save()
    session.advance(1.5)
    tied = session.save()
    session.advance(3.0)
    end = session["a"]
    assert end == pytest.approx(joined(2.0) * np.exp(-1.0), rel=1e-6)
    for other in (session, model.start(until=4.0, rtol=1e-8, set={"open_again": 2.0})):
        for mark in (tied, free, tied):
            other.restore(mark)
            other.advance(1.75)
            assert [other[name] for name in "abi"] == pytest.approx([joined(1.75), joined(1.75), -0.75 * joined(1.75)], rel=1e-5)
            other.advance(3.0)
            assert other["a"] == pytest.approx(end, rel=1e-6)


def test_capacitors_in_a_chain_are_joined_at_once_and_one_by_one() -> None:
    class Chain(ac.Component):
        v, i = ac.Variable(shape=4, start=[1.0, 2.0, 3.0, 6.0], fixed=True), ac.Variable(shape=3)
        close = ac.Parameter(1.0, shape=3)

        def equations(self) -> Statements:
            yield ac.der(self.v[0]) == -self.i[0]
            yield ac.der(self.v[1:-1]) == self.i[:-1] - self.i[1:]
            yield ac.der(self.v[-1]) == self.i[-1]
            yield ac.where(ac.time >= self.close, self.v[:-1] - self.v[1:], self.i) == 0

    model = ac.compile(Chain())
    at_once = model.simulate(until=2.0)
    assert at_once["v"][-1] == pytest.approx([3.0] * 4, rel=1e-6) and len(at_once.diagnostics) == 1
    one_by_one = model.simulate(until=4.0, set={"close": [1.0, 2.0, 3.0]}, at=[1.5, 2.5, 3.5])
    rows = np.searchsorted(one_by_one.time, [1.5, 2.5, 3.5])
    expected = [[1.5, 1.5, 3.0, 6.0], [2.0, 2.0, 2.0, 6.0], [3.0, 3.0, 3.0, 3.0]]
    np.testing.assert_allclose(one_by_one["v"][rows], expected, rtol=1e-6)
    assert len(one_by_one.diagnostics) == 3


def test_a_loop_of_ideal_contacts_is_refused_with_a_word_about_it() -> None:
    class Loop(ac.Component):
        v, i = ac.Variable(shape=3, start=[1.0, 2.0, 3.0], fixed=True), ac.Variable(shape=3)

        def equations(self) -> Statements:
            for k in range(3):
                yield ac.der(self.v[k]) == self.i[k - 1] - self.i[k]
                yield ac.where(ac.time >= 1, self.v[k] - self.v[(k + 1) % 3], self.i[k]) == 0

    result = ac.compile(Loop()).simulate(until=2.0, on_failure="keep")
    assert result.outcome is ac.Outcome.EVENT_UNSOLVABLE and "a loop of ideal contacts" in str(result.diagnostics)


class Varying(ac.Component):
    """A capacitance 1 + a is joined to one of 3 F: a + a²/2 + 3 b is the charge."""

    a, b, i = ac.Variable(start=2.0, fixed=True), ac.Variable(start=0.0, fixed=True), ac.Variable()

    def equations(self) -> Statements:
        yield (1 + self.a) * ac.der(self.a) == -self.i
        yield 3 * ac.der(self.b) == self.i
        yield ac.where(ac.time >= 1, self.a - self.b, self.i) == 0


class Transformed(Varying):
    """What leaves a comes to b by a ratio that depends on a: b + a + a³/30 is kept."""

    def equations(self) -> Statements:
        yield ac.der(self.a) == -self.i
        yield ac.der(self.b) == self.i * (1 + 0.1 * self.a**2)
        yield ac.where(ac.time >= 1, self.a**3 + self.a - self.b, self.i) == 0


@pytest.mark.parametrize("solver", ["ida", "sundae"])
def test_coefficients_that_change_with_what_jumps_conserve_what_they_conserve_on_the_way(solver: str) -> None:
    """With those of the end of the jump the capacitors lost a fifth of their charge, in silence."""
    charged = ac.compile(Varying()).simulate(until=2.0, rtol=1e-8, solver=solver)
    end = brentq(lambda u: u + u**2 / 2 + 3 * u - 4, 0, 4)
    assert [charged[name][-1] for name in "ab"] == pytest.approx([end, end], rel=2e-6)
    assert f"impulse:   i: {3 * end:.5g}" in str(charged.diagnostics[0])
    turned = ac.compile(Transformed()).simulate(until=2.0, rtol=1e-8, solver=solver)
    assert turned["a"][-1] == pytest.approx(brentq(lambda u: u**3 + 2 * u + u**3 / 30 - 2 - 8 / 30, 0, 4), rel=2e-6)


class Joined(ac.Component):
    """1 F and 3 F, joined until t = 1, with 1 A into the first."""

    a, b, i = ac.Variable(start=1.0), ac.Variable(start=0.0), ac.Variable()

    def closed(self) -> Any:
        return ac.time < 1

    def equations(self) -> Statements:
        yield ac.der(self.a) == 1 - self.i
        yield 3 * ac.der(self.b) == self.i
        yield ac.where(self.closed(), self.a - self.b, self.i) == 0


class Switched(Joined):
    contact = ac.OutputStates("closed", "open", initial="closed")

    def closed(self) -> Any:
        return self.contact.closed

    def transitions(self) -> Statements:
        yield self.contact.closed.to("open", when=ac.time >= 1)


@pytest.mark.parametrize("solver", ["ida", "sundae"])
@pytest.mark.parametrize("plant", [Joined, Switched])
def test_a_contact_that_is_closed_from_the_start_shares_the_charge(plant: type[Joined], solver: str) -> None:
    """Nothing determines the current while the capacitors are held at their starts: the start was refused."""
    model = ac.compile(plant())
    with pytest.warns(ac.ModelWarning, match="brought together"):
        apart = model.simulate(until=2.0, rtol=1e-8, solver=solver)
    assert [apart[name][0] for name in "ab"] == pytest.approx([0.25, 0.25], rel=1e-6)
    assert apart["i"][0] == pytest.approx(0.75, rel=1e-5)
    assert [apart[name][-1] for name in "ab"] == pytest.approx([1.5, 0.5], rel=1e-6)
    together = model.simulate(until=2.0, rtol=1e-8, set={"b": 1.0}, solver=solver)
    assert not together.diagnostics and together["b"][-1] == pytest.approx(1.25, rel=1e-6)


def test_fixed_starts_that_a_switch_ties_must_agree() -> None:
    class Fixed(Joined):
        a, b = ac.Variable(start=1.0, fixed=True), ac.Variable(start=0.0, fixed=True)

    with pytest.raises(ac.ModelError, match="begin apart") as told:
        ac.compile(Fixed()).simulate(until=2.0)
    assert "a = 1 (fixed)" in str(told.value) and "b = 0 (fixed)" in str(told.value)


def test_a_contact_that_closes_at_the_start_is_an_event_with_an_impulse() -> None:
    class Closing(Joined):
        contact = ac.OutputStates("open", "closed", initial="open")

        def closed(self) -> Any:
            return self.contact.closed

        def transitions(self) -> Statements:
            yield self.contact.open.to("closed", after=0)

    result = ac.compile(Closing()).simulate(until=2.0, rtol=1e-8)
    assert [result[name][-1] for name in "ab"] == pytest.approx([0.75, 0.75], rel=1e-6)
    assert "impulse:   i: 0.75" in str(result.diagnostics[0])


class ByDefault(Joined):
    """What stands in `decided` is not yet what it will be when the start is sought: its default would close the contact."""

    decided = ac.Boolean()

    def closed(self) -> Any:
        return ~self.decided


class Assigned(ByDefault):
    def events(self) -> Statements:
        yield ac.when(ac.initial(), ac.assign(self.decided, True))


class Equated(ByDefault):
    def equations(self) -> Statements:
        yield from super().equations()
        yield self.decided == (self.a > 0.5)


@pytest.mark.parametrize("plant", [Assigned, Equated])
def test_a_contact_that_is_open_as_soon_as_it_is_decided_ties_nothing(plant: type[ByDefault]) -> None:
    """Capacitors were brought together by the default of a Boolean, which the start assigns."""
    result = ac.compile(plant()).simulate(until=0.25, rtol=1e-8)
    assert not result.diagnostics
    assert [result[name][0] for name in "ab"] == [1.0, 0.0]
    assert [result[name][-1] for name in "ab"] == pytest.approx([1.25, 0.0], rel=1e-9)


def test_a_run_goes_on_from_another_that_ended_while_states_were_tied() -> None:
    """Its states were held, which determines nothing: the start was refused, or told as a mistake in the equations."""
    model = ac.compile(Contact())
    tied = model.simulate(until=1.5, rtol=1e-8)
    later = model.simulate(start=1.5, until=3.0, rtol=1e-8, start_from=tied)
    assert not later.diagnostics
    assert later["b"][-1] == pytest.approx(np.exp(-1.0) / 4 * np.exp(-0.5), rel=1e-6)


def test_states_that_another_run_left_apart_are_brought_together() -> None:
    model = ac.compile(Joined())
    with pytest.warns(ac.ModelWarning, match="brought together"):
        apart = model.simulate(until=2.0, rtol=1e-8)
    with pytest.warns(ac.ModelWarning, match="a = 0.75, not 1.5"):
        again = model.simulate(until=0.5, rtol=1e-8, start_from=apart)
    assert [again[name][-1] for name in "ab"] == pytest.approx([0.875, 0.875], rel=1e-6)


class Valve(ac.Component):
    """1 F charges 3 F through an ideal diode; the first also has a source."""

    a, b, i, s = ac.Variable(start=1.0), ac.Variable(start=0.0), ac.Variable(), ac.Variable(start=0.0)
    source = ac.Parameter(1.0)

    def equations(self) -> Statements:
        conducts = self.s > 0
        yield ac.der(self.a) == self.source - self.i
        yield 3 * ac.der(self.b) == self.i
        yield self.a - self.b == ac.where(conducts, 0, self.s)
        yield self.i == ac.where(conducts, self.s, 0)


@pytest.mark.parametrize(("source", "end"), [(1.0, [0.75, 0.75]), (-1.0, [-1.75, 0.25])])
def test_a_diode_that_conducts_from_the_start_brings_together_and_lets_go(source: float, end: list[float]) -> None:
    """Whether it conducts was forgotten before the run began, which ended at once."""
    with pytest.warns(ac.ModelWarning, match="brought together"):
        result = ac.compile(Valve()).simulate(until=2.0, rtol=1e-8, set={"source": source})
    assert [result[name][0] for name in "ab"] == pytest.approx([0.25, 0.25], rel=1e-6)
    assert [result[name][-1] for name in "ab"] == pytest.approx(end, rel=1e-6)


def test_ties_are_found_however_soon_they_follow_each_other() -> None:
    """After a short step the differences that find them were of rounding alone, and the run ended."""

    class Row(ac.Component):
        v, i = ac.Variable(shape=3, start=[1.0, 2.0, 6.0]), ac.Variable(shape=2)
        close = ac.Parameter(0.0)

        def equations(self) -> Statements:
            yield ac.der(self.v[0]) == -self.i[0] + ac.cos(ac.time)
            yield ac.der(self.v[1]) == self.i[0] - self.i[1]
            yield ac.der(self.v[2]) == self.i[1]
            yield ac.where(ac.time >= 0, self.v[0] - self.v[1], self.i[0]) == 0
            yield ac.where(ac.time >= self.close, self.v[1] - self.v[2], self.i[1]) == 0

    model = ac.compile(Row())
    warnings.simplefilter("ignore", ac.ModelWarning)  # of what is brought together at the start
    for close in (1e-10, 1e-8, 1e-6):
        result = model.simulate(until=4.0, rtol=1e-8, set={"close": close})
        np.testing.assert_allclose(result["v"][-1], 3.0 + np.sin(4.0) / 3, rtol=1e-6)


def test_a_coefficient_that_is_zero_ties_as_a_switch_does_and_is_not_called_one() -> None:
    class Short(ac.Component):
        """A capacitor behind a resistance, which is 0 here and may change: it has the voltage of the source."""

        R, ticks = ac.Discrete(0.0), ac.Integer(start=0)
        u, i = ac.Variable(start=1.0), ac.Variable()

        def equations(self) -> Statements:
            yield ac.der(self.u) == self.i
            yield self.R * self.i == ac.cos(ac.time) / 2 - self.u

        def events(self) -> Statements:
            yield ac.when(ac.time >= 1, ac.assign(self.ticks, 1))

    with pytest.warns(ac.ModelWarning, match="brought together") as told:
        result = ac.compile(Short()).simulate(until=2.0, rtol=1e-8)
    assert "switch" not in str(told[0].message) and "u = 0.5, not 1" in str(told[0].message)
    np.testing.assert_allclose(result["u"], np.cos(result.time) / 2, atol=1e-7)
