"""Models exchanged at events: closed forms, a single model with variable structure, values carried, and what can go wrong."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from page import example

import acausal as ac
from acausal.errors import ModelError, NameNotFound, ShapeError, UsageError


class Decay(ac.Component):
    """x falls to zero."""

    k = ac.Parameter(1.0)
    x = ac.Variable(start=1.0, fixed=True)

    def equations(self):
        yield ac.der(self.x) == -self.k * self.x


class Growth(ac.Component):
    """x rises with a constant speed, and so does a clock of its own."""

    x = ac.Variable(start=0.0, fixed=True)
    own = ac.Variable(start=10.0, fixed=True)

    def equations(self):
        yield ac.der(self.x) == 1.0
        yield ac.der(self.own) == 1.0


def saw(**options: Any) -> ac.Phases:
    """Down exponentially from 1 to 0.5, up linearly to 1."""
    plant = ac.Phases(down=Decay(), up=Growth(), initial="down")
    plant.switch("down", "up", when=lambda m: m.x < 0.5, **options)
    plant.switch("up", "down", when=lambda m: m.x > 1.0)
    return plant


# --- closed forms -------------------------------------------------------------------------------------------------------------


def test_a_saw_of_exponentials_and_lines() -> None:
    result = saw().simulate(until=6.0, rtol=1e-9)
    period = np.log(2.0) + 0.5
    np.testing.assert_allclose([p.start for p in result.phases[::2]], period * np.arange(len(result.phases[::2])), atol=1e-7)
    t = np.mod(result.time, period)
    inside = (np.abs(t) > 1e-6) & (np.abs(t - period) > 1e-6)
    exact = np.where(t < np.log(2.0), np.exp(-t), 0.5 + t - np.log(2.0))
    np.testing.assert_allclose(result["x"][inside], exact[inside], atol=1e-7)


# --- what is carried ----------------------------------------------------------------------------------------------------------


def test_everything_else_starts_as_declared_or_where_it_was_left() -> None:
    fresh = saw().simulate(until=6.0)
    kept = saw(keep=True).simulate(until=6.0)
    ups = [part["own"] for phase, part in zip(fresh.phases, fresh.parts, strict=True) if phase.mode == "up"]
    assert [own[0] for own in ups] == [10.0] * len(ups) and len(ups) > 3
    ups = [part["own"] for phase, part in zip(kept.phases, kept.parts, strict=True) if phase.mode == "up"]
    np.testing.assert_allclose([own[0] for own in ups], 10.0 + 0.5 * np.arange(len(ups)), atol=1e-5)


def test_equal_names_need_not_be_carried() -> None:
    result = saw(carry_all=False).simulate(until=1.0)
    assert result.parts[1]["x"][0] == 0.0


def test_carry_takes_names_numbers_and_functions() -> None:
    result = saw(carry={"own": "x"}).simulate(until=1.0)
    assert result.parts[1]["own"][0] == pytest.approx(0.5, abs=1e-6)
    result = saw(carry={"own": 3.0, "x": lambda old: old["k"] * old["x"] / 2 + old.time}).simulate(until=1.0)
    assert result.parts[1]["own"][0] == 3.0
    assert result.parts[1]["x"][0] == pytest.approx(0.25 + np.log(2.0), abs=1e-5)


@pytest.mark.parametrize("first", ["w", "i"])
def test_what_is_carried_counts_before_initial_equations(first: str) -> None:
    """They determine what is left: i such that it rests, whatever start it has."""

    class Fine(ac.Component):
        def __init__(self) -> None:
            for name in (first, "i" if first == "w" else "w"):
                setattr(self, name, ac.Variable(start=7.0))

        def equations(self):
            yield ac.der(self.w) == self.i - self.w
            yield ac.der(self.i) == 2.0 - self.i - 2 * self.w

        def initial_equations(self):
            yield ac.der(self.i) == 0

    plant = ac.Phases(coarse=Decay(), fine=Fine(), initial="coarse")
    plant.switch("coarse", "fine", when=lambda m: m.x < 0.5, carry={"w": "x"})
    plant.model("fine").simulate(until=1.0)  # as a model of its own it starts otherwise
    result = plant.simulate(until=1.0)
    assert result.parts[1]["w"][0] == pytest.approx(0.5, abs=1e-9)
    assert result.parts[1]["i"][0] == pytest.approx(1.0, abs=1e-8)


def test_units_are_converted_where_a_name_is_carried_and_refused_otherwise() -> None:
    class Celsius(Decay):
        T = ac.Variable(start=20.0, unit="degC", fixed=True)

        def equations(self):
            yield from super().equations()
            yield ac.der(self.T) == 0

    class Kelvin(Growth):
        T = ac.Variable(start=0.0, unit="K")

        def equations(self):
            yield from super().equations()
            yield ac.der(self.T) == 0

    plant = ac.Phases(a=Celsius(), b=Kelvin(), initial="a", units=False)
    plant.switch("a", "b", when=lambda m: m.x < 0.5, carry={"T": "T"})
    assert plant.simulate(until=1.0).parts[1]["T"][0] == pytest.approx(293.15)
    plant = ac.Phases(a=Celsius(), b=Kelvin(), initial="a", units=False)
    plant.switch("a", "b", when=lambda m: m.x < 0.5)
    with pytest.raises(ModelError, match="`T` is in degC in mode `a` and in K in mode `b`"):
        plant.simulate(until=1.0)


class Counting(ac.Component):
    """Counts how often it is entered, in a discrete variable, and has a state."""

    n = ac.Integer(start=0)
    lamp = ac.States("red", "green", initial="red")
    x = ac.Variable(start=0.0, fixed=True)

    def equations(self):
        yield ac.der(self.x) == ac.match(self.lamp, red=1.0, green=2.0)

    def events(self):
        yield ac.when(self.x > 0.5, ac.assign(self.n, ac.pre(self.n) + 1))

    def transitions(self):
        yield self.lamp.red.to("green", when=self.x > 0.5)


def test_discrete_values_are_carried_too() -> None:
    plant = ac.Phases(one=Counting(), two=Counting(), initial="one")
    plant.switch("one", "two", when=lambda m: m.x > 0.8, carry={"x": 0.0})
    plant.switch("two", "one", when=lambda m: m.x > 0.8, carry={"x": 0.0, "lamp": "lamp", "n": lambda old: old["n"] + 10})
    result = plant.simulate(until=2.0)
    first, second, third = result.parts[:3]
    assert first["n"][[0, -1]].tolist() == [0, 1] and second["n"][[0, -1]].tolist() == [1, 2]
    assert third["n"][0] == 12
    assert second.states("lamp")[0].state == "green" == third.states("lamp")[0].state
    assert second.time[-1] - second.time[0] == pytest.approx(0.4, rel=1e-6)  # twice as fast
    assert [i.state for i in result.states("lamp")] == ["red", "green"]
    assert result.events.times[0] == pytest.approx(0.5)


def test_parameters_keep_their_values_and_can_be_given() -> None:
    plant = ac.Phases(slow=Decay(k=1.0), fast=Decay(k=4.0), initial="slow")
    plant.switch("slow", "fast", when=lambda m: m.x < 0.5)
    assert plant.simulate(until=1.0).parts[1]["k"][0] == 4.0
    plant = ac.Phases(slow=Decay(k=1.0), fast=Decay(k=4.0), initial="slow")
    plant.switch("slow", "fast", when=lambda m: m.x < 0.5, carry={"k": lambda old: 3 * old["k"]})
    result = plant.simulate(until=1.0, rtol=1e-9)
    assert result["x"][-1] == pytest.approx(0.5 * np.exp(-3 * (1.0 - np.log(2.0))), rel=1e-6)


def test_arrays_keep_the_elements_that_both_modes_have() -> None:
    class Cells(ac.Component):
        def __init__(self, count: int) -> None:
            self.cells = ac.array(Decay, count, x=ac.start(np.arange(1.0, 1.0 + count)))
            self.clock = Growth()

    plant = ac.Phases(three=Cells(3), five=Cells(5), initial="three")
    plant.switch("three", "five", when=lambda m: m.clock.x > 1.0)
    result = plant.simulate(until=2.0, rtol=1e-9)
    exact = np.exp(-1.0) * np.array([1, 2, 3])
    np.testing.assert_allclose(result.parts[1]["cells.x"][0], [*exact, 4, 5], rtol=1e-6)
    with pytest.raises(ShapeError, match=r"\(3,\) in three, \(5,\) in five"):
        result["cells.x"]
    assert np.isnan(result["cells[4].x"][result["phase"] == 0]).all()
    np.testing.assert_allclose(result["cells[1].x"], 2 * np.exp(-result.time), rtol=1e-6)


# --- when a switch is taken ---------------------------------------------------------------------------------------------------


def test_a_condition_that_is_true_on_entry_counts_at_once() -> None:
    plant = ac.Phases(down=Decay(), up=Growth(), last=Decay(), initial="down")
    plant.switch("down", "up", when=lambda m: m.x < 0.5)
    plant.switch("up", "last", when=lambda m: m.x < 0.7)
    result = plant.simulate(until=1.0, rtol=1e-9)
    assert [p.mode for p in result.phases] == ["down", "up", "last"]
    assert result.phases[1].duration == 0.0
    assert result["x"][-1] == pytest.approx(np.exp(-1.0), rel=1e-6)
    assert result.time_in("phase")["up"] == 0.0


def test_what_is_zero_to_rounding_on_entry_is_not_true_yet() -> None:
    """From the very limit it may fall, and then the switch waits, or rise, and then it is taken."""

    class Fall(ac.Component):
        x = ac.Variable(start=1.0)
        v = ac.Parameter(-1.0)

        def equations(self):
            yield ac.der(self.x) == self.v + ac.time

    for start in (1.0, 1.0 + 4e-16, 1.0 - 4e-16):
        plant = ac.Phases(fall=Fall(x=ac.start(start)), end=Decay(), initial="fall")
        plant.switch("fall", "end", when=lambda m: m.x > 1.0)
        assert plant.simulate(until=3.0, rtol=1e-9).phases[0].end == pytest.approx(2.0, rel=1e-7)
        plant = ac.Phases(fall=Fall(x=ac.start(start), v=0.5), end=Decay(), initial="fall")
        plant.switch("fall", "end", when=lambda m: m.x > 1.0)
        assert plant.simulate(until=3.0, rtol=1e-9).phases[0].end == pytest.approx(0.0, abs=1e-8)


def test_of_two_switches_at_one_instant_the_first_is_taken() -> None:
    plant = ac.Phases(down=Decay(), up=Growth(), other=Growth(), initial="down")
    plant.switch("down", "other", when=lambda m: m.x < 0.5)
    plant.switch("down", "up", when=lambda m: m.x < 0.5)
    assert [p.mode for p in plant.simulate(until=1.0).phases] == ["down", "other"]


def test_a_time_is_hit_exactly_and_states_and_booleans_are_conditions() -> None:
    plant = ac.Phases(a=Counting(), b=Counting(), c=Decay(), initial="a")
    plant.switch("a", "b", when=lambda m: ac.time >= 0.25)
    plant.switch("b", "c", when=lambda m: m.lamp.green)
    result = plant.simulate(until=1.0)
    assert result.phases[1].start == 0.25
    assert result.phases[2].start == pytest.approx(0.5)


def test_modes_that_exchange_each_other_without_end_are_explained() -> None:
    plant = ac.Phases(down=Decay(), up=Growth(), initial="down")
    plant.switch("down", "up", when=lambda m: m.x < 0.5)
    plant.switch("up", "down", when=lambda m: m.x < 0.6)
    result = plant.simulate(until=1.0)
    assert result.outcome is ac.Outcome.EVENT_CYCLES
    told = str(result.diagnostics[-1])
    assert "`down`, `up`" in told or "`up`, `down`" in told
    assert "down → up when x < 0.5" in told and "up → down when x < 0.6" in told
    assert told.count("test_phases.py:") == 3 and "hysteresis" in told
    assert result["x"][0] == 1.0 and result.time_reached == pytest.approx(np.log(2.0), rel=1e-5)


def test_exchanges_that_pile_up_are_chattering() -> None:
    class Up(Growth):
        def equations(self):
            yield ac.der(self.x) == 1e3
            yield ac.der(self.own) == 1.0

    plant = ac.Phases(down=Decay(k=1e3), up=Up(), initial="down")
    plant.switch("down", "up", when=lambda m: m.x < 0.5)
    plant.switch("up", "down", when=lambda m: m.x > 0.5 + 1e-8)
    result = plant.simulate(until=100.0)
    assert result.outcome is ac.Outcome.CHATTERING
    assert "again and again" in str(result.diagnostics[-1])


# --- runs ---------------------------------------------------------------------------------------------------------------------


def test_one_grid_over_the_whole_run_and_both_sides_of_each_exchange() -> None:
    times = [0.0, 0.3, 0.9, 1.5]
    result = saw().simulate(until=2.0, at=times)
    exchanges = [p.start for p in result.phases[1:]]
    for t in times:
        assert t in result.time
    assert set(result.time) == {*times, *exchanges}
    for before, after in itertools.pairwise(result.parts):
        assert before.time[-1] == after.time[0]
        assert before["x"][-1] == pytest.approx(after["x"][0], abs=1e-12)
    assert (np.diff(result.time) >= 0).all()
    assert len(saw().simulate(until=2.0, points=11).time) <= 11 + 3 * len(exchanges)


def test_nothing_is_compiled_twice() -> None:
    plant = saw().compile()
    models = [plant.model(name) for name in plant.modes]
    first, second = plant.simulate(until=6.0), plant.simulate(until=6.0)
    assert [plant.model(name) for name in plant.modes] == models
    np.testing.assert_array_equal(first["x"], second["x"])
    assert first.statistics["seconds"]["families"] == pytest.approx(sum(m.seconds["families"] for m in models))
    with pytest.raises(UsageError, match="compiled already"):
        plant.switch("up", "down", when=lambda m: m.x > 2.0)
    assert "events" not in plant.model("up").system.plant.root.kind.attributes


def test_statistics_are_sums() -> None:
    result = saw().simulate(until=3.0)
    assert result.statistics.steps == sum(part.statistics.steps for part in result.parts)
    assert result.statistics.exchanges == len(result.parts) - 1 == len(result.events)


def test_options_reach_every_mode() -> None:
    by_default, sundae = saw().simulate(until=2.0, rtol=1e-8), saw().simulate(until=2.0, rtol=1e-8, solver="sundae")
    np.testing.assert_allclose([p.start for p in by_default.phases], [p.start for p in sundae.phases], atol=1e-6)
    result = saw().simulate(until=2.0, set={"k": 2.0}, rtol=1e-8)
    assert result.phases[1].start == pytest.approx(np.log(2.0) / 2, rel=1e-6)
    plant = saw()
    plant.model("down").set(k=4.0)
    assert plant.simulate(until=2.0, rtol=1e-8).phases[1].start == pytest.approx(np.log(2.0) / 4, rel=1e-6)
    assert saw().simulate(until=2.0, start_from={"x": 0.75}, rtol=1e-8).phases[0].end == pytest.approx(np.log(1.5), rel=1e-6)
    assert saw().simulate(until=3.0, start=1.0, rtol=1e-8).phases[0].end == pytest.approx(1.0 + np.log(2.0), rel=1e-6)
    for name in ("set", "inputs"):
        with pytest.raises(NameNotFound, match=f"`{name}`: no mode has `kk`. Did you mean `k`"):
            saw().simulate(until=2.0, **{name: {"kk": 1.0}})
    with pytest.raises(NameNotFound, match="no option `order`"):
        saw().simulate(until=2.0, order=3)


def test_inputs_go_to_the_modes_that_have_them() -> None:
    class Driven(ac.Component):
        u = ac.Input()
        x = ac.Variable(start=0.0)

        def equations(self):
            yield ac.der(self.x) == self.u

    plant = ac.Phases(down=Decay(), driven=Driven(), initial="down")
    plant.switch("down", "driven", when=lambda m: m.x < 0.5)
    result = plant.simulate(until=2.0, inputs={"u": lambda t: 2 * t}, rtol=1e-9)
    assert result["x"][-1] == pytest.approx(0.5 + 4.0 - np.log(2.0) ** 2, rel=1e-6)
    plant = ac.Phases(down=Decay(), driven=Driven(), initial="down")
    plant.switch("down", "driven", when=lambda m: m.x < 0.5, carry={"u": 1.0})
    with pytest.raises(ModelError, match="`u` of mode `driven` is given from outside"):
        plant.compile()


def test_only_what_is_asked_for_is_stored_besides_the_states() -> None:
    module = example("string_pendulum")
    some, everything = module.pendulum().simulate(until=2.0, store=["F"]), module.pendulum().simulate(until=2.0)
    np.testing.assert_allclose([p.start for p in some.phases], [p.start for p in everything.phases])
    np.testing.assert_array_equal(some["F"], everything["F"])


def test_progress_is_told_over_all_phases_and_can_stop_the_run() -> None:
    seen: list[float] = []

    def watch(t: float) -> bool:
        seen.append(t)
        return t < 1.5

    result = saw().simulate(until=200.0, progress=watch)
    assert result.outcome in (ac.Outcome.CANCELLED, ac.Outcome.FINISHED)  # a short run may be over before it is asked
    assert seen == sorted(seen)


def test_the_model_itself_may_end_the_run() -> None:
    class Ending(Growth):
        def events(self):
            yield ac.when(self.x > 0.8, ac.terminate("enough"))

    plant = ac.Phases(down=Decay(), up=Ending(), initial="down")
    plant.switch("down", "up", when=lambda m: m.x < 0.5)
    plant.switch("up", "down", when=lambda m: m.x > 1.0)
    result = plant.simulate(until=6.0)
    assert result.outcome is ac.Outcome.TERMINATED
    assert result.time_reached == pytest.approx(np.log(2.0) + 0.3, rel=1e-5)
    assert "enough" in result.diagnostics[-1].what


def test_a_switch_at_the_very_end_is_no_phase() -> None:
    plant = ac.Phases(down=Decay(), up=Growth(), initial="down")
    plant.switch("down", "up", when=lambda m: ac.time >= 1.0)
    result = plant.simulate(until=1.0)
    assert result.outcome is ac.Outcome.FINISHED and len(result.phases) == 1


# --- failures keep what was before --------------------------------------------------------------------------------------------


def test_a_mode_that_cannot_be_entered_keeps_everything_before() -> None:
    class Impossible(ac.Component):
        x = ac.Variable(start=1.0)
        z = ac.Variable(start=1.0)

        def equations(self):
            yield ac.der(self.x) == self.z
            yield self.z**2 == -1.0 - self.x**2

    plant = ac.Phases(down=Decay(), impossible=Impossible(), initial="down")
    plant.switch("down", "impossible", when=lambda m: m.x < 0.5)
    result = plant.simulate(until=3.0, rtol=1e-8)
    assert result.outcome is ac.Outcome.EVENT_UNSOLVABLE and not result.outcome.ok
    assert "Mode `impossible` could not be entered from `down` at time 0.693147" in str(result.diagnostics[0])
    np.testing.assert_allclose(result["x"], np.exp(-result.time), atol=1e-6)


def test_a_failure_within_a_phase_keeps_everything_before() -> None:
    class Fragile(Growth):
        def events(self):
            yield ac.assert_(self.x < 0.75, "too much")

    plant = ac.Phases(down=Decay(), up=Fragile(), initial="down")
    plant.switch("down", "up", when=lambda m: m.x < 0.5)
    result = plant.simulate(until=3.0)
    assert result.outcome is ac.Outcome.ASSERTION
    assert len(result.parts) == 2 and result.time_reached == pytest.approx(np.log(2.0) + 0.25, rel=1e-5)
    assert "too much" in str(result.diagnostics[-1])


def test_a_mistake_in_a_function_of_carry_does_not_lose_the_run() -> None:
    with pytest.raises(NameNotFound, match="speed") as caught:
        saw(carry={"own": lambda old: old["speed"]}).simulate(until=2.0)
    assert "kept in `error.result`" in caught.value.__notes__[0]
    assert caught.value.result.time_reached == pytest.approx(np.log(2.0), rel=1e-5)
    with pytest.raises(ModelError, match="`carry` gives `own` the value nan of type float, not a finite number"):
        saw(carry={"own": lambda old: float("nan")}).simulate(until=2.0)


# --- the result ---------------------------------------------------------------------------------------------------------------


def test_discrete_variables_that_only_some_modes_have() -> None:
    plant = ac.Phases(a=Counting(), c=Decay(), initial="a")
    plant.switch("a", "c", when=lambda m: m.x > 0.8)
    result = plant.simulate(until=2.0)
    assert [i.state for i in result.states("lamp")] == ["red", "green", "none"]
    assert result.time_in("lamp") == pytest.approx({"red": 0.5, "green": 0.15, "none": 1.35}, rel=1e-4)
    assert [t.get_text() for t in result.plot("x", states="lamp", show=False).legends[0].get_texts()] == ["red", "green", "none"]
    assert result.states("lamp")[-1].end == 2.0
    assert [str(c) for c in result.events[0].changes] == ["n: 0 → 1", "lamp: red → green"]


def test_a_mode_that_has_a_quantity_named_phase() -> None:
    class Named(Growth):
        phase = ac.Parameter(3.0)

    plant = ac.Phases(down=Decay(), up=Named(), initial="down")
    plant.switch("down", "up", when=lambda m: m.x < 0.5)
    result = plant.simulate(until=1.0)
    assert result.phase_name == "phase_of_plant" and result["phase"][-1] == 3.0
    assert result.time_in("phase_of_plant")["down"] == pytest.approx(np.log(2.0), rel=1e-5)


# --- mistakes -----------------------------------------------------------------------------------------------------------------


def test_modes_are_components_each_its_own() -> None:
    with pytest.raises(UsageError, match="has no modes"):
        ac.Phases(initial="a")
    with pytest.raises(UsageError, match="Mode `a` is a component, got") as caught:
        ac.Phases(a=Decay, initial="a")
    assert "Decay()" in str(caught.value)
    with pytest.raises(UsageError, match="not told in which mode a run begins"):
        ac.Phases(a=Decay())
    with pytest.raises(NameNotFound, match=r"`initial`: there is no mode `down`\. Did you mean `Down`"):
        ac.Phases(Down=Decay(), initial="down")
    one = Decay()
    with pytest.raises(UsageError, match="Modes `a` and `b` are one and the same Decay"):
        ac.Phases(a=one, b=one, initial="a")
    assert ac.Phases({"part load": Decay()}, initial="part load").modes == ("part load",)


def test_switches_name_modes_and_give_conditions() -> None:
    plant = ac.Phases(down=Decay(), up=Growth(), initial="down")
    with pytest.raises(UsageError, match="No switch leaves the mode `down`"):
        plant.simulate(until=1.0)
    with pytest.raises(NameNotFound, match=r"there is no mode `upp`\. Did you mean `up`"):
        plant.switch("down", "upp", when=lambda m: m.x < 0.5)
    with pytest.raises(UsageError, match="from one mode to another, not from `up` to itself"):
        plant.switch("up", "up", when=lambda m: m.x < 0.5)
    with pytest.raises(UsageError, match="`when` is a function of the mode's component, got True"):
        plant.switch("down", "up", when=True)
    with pytest.raises(NameNotFound, match="there is no mode `middle`"):
        plant.model("middle")


@pytest.mark.parametrize(
    ("when", "message"),
    [
        (lambda m: m.x == 0.5, "gives the equation `x == 0.5`, not a condition"),
        (lambda m: m.x - 0.5, "gives `x - 0.5`, a number and not a condition"),
        (lambda m: True, "gives True of type bool, not a condition"),
        (lambda m: None, "gives None of type NoneType, not a condition"),
        (lambda m: m.y < 0.5, "has no attribute `y`"),
    ],
)
def test_what_is_no_condition_is_refused_with_its_line(when: Any, message: str) -> None:
    plant = ac.Phases(down=Decay(), up=Growth(), initial="down")
    plant.switch("down", "up", when=when)
    with pytest.raises(ModelError) as caught:
        plant.simulate(until=1.0)
    assert message in str(caught.value) and "test_phases.py:" in str(caught.value)


def test_names_in_carry_are_checked_together_and_before_anything_runs() -> None:
    plant = saw(carry={"onw": 1.0, "own": "xx"})
    with pytest.raises(ModelError) as caught:
        plant.compile()
    told = str(caught.value)
    assert "2 things are wrong" in told
    assert "mode `up` has no `onw`. Did you mean `own`?" in told and "mode `down` has no `xx`. Did you mean `x`?" in told
    module = example("string_pendulum")
    plant = ac.Phases(taut=module.Taut(), slack=module.Slack(), initial="slack")
    plant.switch("slack", "taut", when=lambda m: m.y < -1, carry={"energy": 3.0})
    with pytest.raises(ModelError, match="`energy` of mode `taut` is computed from other variables") as caught:
        plant.compile()
    assert "phi, w" in str(caught.value)


def test_an_input_that_comes_to_rest_on_its_level_switches() -> None:
    class Waiting(ac.Component):
        u, x = ac.Input(0.0), ac.Variable(start=0.0, fixed=True)

        def equations(self):
            yield ac.der(self.x) == 0.0

    class Going(Waiting):
        def equations(self):
            yield ac.der(self.x) == 1.0

    plant = ac.Phases(waiting=Waiting(), going=Going(), initial="waiting").switch("waiting", "going", when=lambda m: m.u >= 1.0)
    result = plant.simulate(until=3.0, inputs={"u": ([0.0, 1.0, 3.0], [0.0, 1.0, 1.0])})
    assert [(phase.mode, round(phase.start, 9)) for phase in result.phases] == [("waiting", 0.0), ("going", 1.0)]
