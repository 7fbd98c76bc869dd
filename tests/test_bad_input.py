"""Bad input, each with its message: it names the component, the equation or variable, the line where there is one, and a remedy."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
from messages import holds, message
from plants import Boundary, Conductor, CurrentSource, Ground, HeatPort, Mass, Pin, Resistor, VoltageSource

import acausal as ac


class Room(ac.Component):
    """A good model, to do wrong things with."""

    def __init__(self, **changes):
        self.wall = Mass(**changes)
        self.row = ac.array(Mass, 3)
        self.loss, self.outside = Conductor(), Boundary()

    def connections(self):
        yield self.wall.port, self.loss.a
        yield self.loss.b, self.outside.port


HERE = Path(__file__).name


# --- counting ------------------------------------------------------------------------------------------------------------
def test_too_few_equations():
    class Leaky(ac.Component):
        x, y, z = ac.Variable(start=1.0, fixed=True), ac.Variable(), ac.Variable()

        def equations(self):
            yield ac.der(self.x) == -self.y

    class House(ac.Component):
        def __init__(self):
            self.good, self.bad = Mass(), Leaky()

    text = message(lambda: ac.compile(House()))
    holds(
        text,
        "2 equations for 4 unknowns",
        "Leaky",
        "too few",
        "z",
        "bad.x",
        "bad.y",
        "bad.z",
        HERE,
        "ac.der(self.x) == -self.y",
        "try:",
    )
    assert "good" not in text


def test_too_many_equations():
    class Strict(ac.Component):
        x = ac.Variable(start=1.0, fixed=True)

        def equations(self):
            yield ac.der(self.x) == -self.x
            yield self.x**2 == 4

    class House(ac.Component):
        def __init__(self):
            self.good, self.bad = Mass(), Strict()

    text = message(lambda: ac.compile(House()))
    holds(text, "3 equations for 2 unknowns", "Strict", "too many", "bad.x", "self.x**2 == 4", HERE, "try:")
    assert "good" not in text


def test_a_structural_singularity_with_equal_counts():
    class Twisted(ac.Component):
        x, y, z = ac.Variable(), ac.Variable(), ac.Variable()

        def equations(self):
            yield self.x * self.y == 1
            yield self.x + 2 * self.y**3 == 3
            yield self.x - self.y**2 == 3

    text = message(lambda: ac.compile(Twisted()))
    holds(text, "caused by the structure of the model, not by its numbers", "(z)", "Too many", "Too few", HERE, "self.x", "try:")


def test_a_value_given_twice():
    class Clash(ac.Component):
        def __init__(self):
            self.a, self.b = Boundary(T=300.0), Boundary(T=310.0)

        def connections(self):
            yield self.a.port, self.b.port

    holds(message(lambda: ac.compile(Clash())), "given two values", "a.port.T", "b.port.T", "a.T, b.T", "try:")


# --- connections ---------------------------------------------------------------------------------------------------------
def test_connectors_of_different_kinds():
    class Mixed(ac.Component):
        def __init__(self):
            self.m, self.r = Mass(), Resistor()

        def connections(self):
            yield self.m.port, self.r.p

    text = message(lambda: ac.compile(Mixed()))
    holds(text, "`m.port` is a HeatPort (T: potential, Q_flow: flow)", "`r.p` is a Pin", "Mixed", HERE, "try:")


def test_a_loop_of_flows_only():
    class Loop(ac.Component):
        def __init__(self):
            self.a, self.b, self.ground = CurrentSource(), CurrentSource(I=2.0), Ground()

        def connections(self):
            yield self.a.n, self.b.p
            yield self.b.n, self.a.p, self.ground.p

    holds(message(lambda: ac.compile(Loop())), "a.p.i", "b.p.i", "two values", "a.I, b.I", "try:")


def test_a_loop_that_nothing_drives():
    """Flows that are only carried on: whatever circulates is not determined."""

    class Carry(ac.Component):
        a, b = HeatPort(), HeatPort()

        def equations(self):
            yield self.a.Q_flow + self.b.Q_flow == 0
            yield self.a.T == self.b.T

    class Ring(ac.Component):
        def __init__(self):
            self.x, self.y = Carry(), Carry()

        def connections(self):
            yield self.x.b, self.y.a
            yield self.y.b, self.x.a

    text = message(lambda: ac.compile(Ring()))
    holds(text, "0 equations for 2 unknowns", "x.a.T", "x.a.Q_flow", "try:")


def test_a_floating_potential():
    class Floating(ac.Component):
        def __init__(self):
            self.v, self.r = VoltageSource(), Resistor()

        def connections(self):
            yield self.v.p, self.r.p
            yield self.v.n, self.r.n

    holds(message(lambda: ac.compile(Floating())), "v.p.v", "Nothing holds the level", "ground", "plants.py", "try:")


def test_units_that_do_not_fit_in_a_connection():
    class Warm(ac.Connector):
        v = ac.Potential(unit="K")
        i = ac.Flow(unit="A")

    class Strange(ac.Component):
        p = Warm()

        def equations(self):
            yield self.p.i == 0

    class Mixed(ac.Component):
        def __init__(self):
            self.s, self.r = Strange(), Resistor()

        def connections(self):
            yield self.s.p, self.r.p

    holds(message(lambda: ac.compile(Mixed())), "`s.p` is a Warm", "`r.p` is a Pin", HERE, "Mixed", "try:")


def test_connections_of_different_length_and_of_other_things():
    class Uneven(ac.Component):
        def __init__(self):
            self.a, self.b = ac.array(Mass, 3), ac.array(Conductor, 2)

        def connections(self):
            yield self.a.port, self.b.a

    holds(message(lambda: ac.compile(Uneven())), "(3,)", "(2,)", "a.port, b.a", HERE, "try:")

    class Forgotten(ac.Component):
        def __init__(self):
            self.a, self.b = Mass(), Conductor()

        def connections(self):
            yield self.a, self.b.a

    holds(message(lambda: ac.compile(Forgotten())), "Mass", "Name the connector", HERE)


def test_a_component_that_is_not_part_of_it():
    class Spy(ac.Component):
        x = ac.Variable()

        def __init__(self, other):
            self._other = other

        def equations(self):
            yield self.x == self._other.T

    class House(ac.Component):
        def __init__(self):
            self.wall = Mass()
            self.spy = Spy(self.wall)

    holds(message(lambda: ac.compile(House())), "Spy refers to `wall` (Mass)", "self.x == self._other.T", HERE, "try:")


# --- parameters ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "given, parts",
    [
        (-1.0, ("`wall.C` = -1 J/K is out of its range: it must be ≥ 0 J/K", "Mass")),
        ("heavy", ("`wall.C` cannot be 'heavy'", "wall (Mass)")),
        ("5 K", ("wall.C", "5 K", "J/K")),
        ({}, ("`wall.C` cannot be {}", "of type dict", "in J/K")),
        (None, ("`wall.C` cannot be None", "wall (Mass)")),
        ([1.0, 2.0], ("`wall.C`", "shape is (2,), expected ()")),
        (float("nan"), ("`wall.C` cannot be nan", "not finite")),
        (1 + 2j, ("wall.C", "of type complex")),
    ],
    ids=str,
)
def test_a_parameter_out_of_its_range_of_the_wrong_type_or_shape(given, parts):
    holds(message(lambda: ac.compile(Room(C=given))), *parts, "try:")


@pytest.mark.parametrize(
    "path, given, parts",
    [
        ("row[1].C", -5.0, ("`row[1].C` = -5 J/K is out of its range",)),
        ("row.C", [1.0, 2.0], ("`row.C` takes an array of shape (3,)", "list")),
        ("wall.C", "x", ("`wall.C` cannot be 'x'",)),
        ("wall.C", float("inf"), ("`wall.C`", "not finite")),
        ("der(wall.T)", 3.0, ("`der(wall.T)` is not a parameter",)),
        ("wall.K", 3.0, ("`wall.K` does not exist", "Mass", "port, C, T")),
        ("row[3].C", 1.0, ("row[3].C", "outside")),
        ("loss", 1.0, ("`loss` is a component (Conductor)",)),
    ],
)  # fmt: skip
def test_setting_what_cannot_be_set(path, given, parts):
    holds(message(lambda: ac.compile(Room()).simulate(until=1.0, set={path: given})), *parts)


def test_a_constant_of_a_compiled_model_cannot_be_set():
    class Falling(ac.Component):
        g = ac.Constant(9.81)
        v = ac.Variable(start=0.0, fixed=True)

        def equations(self):
            yield ac.der(self.v) == self.g

    holds(message(lambda: ac.compile(Falling()).set(g=1.0)), "`g` is a constant", "try:")


def test_a_misspelt_parameter():
    class Pipe(ac.Component):
        length, diameter = ac.Parameter(1.0), ac.Parameter(1.0)

    holds(message(lambda: Pipe(lenght=2.0)), "Pipe has no `lenght`", "`length`", "diameter")


def test_several_wrong_values_are_told_at_once():
    class Both(ac.Component):
        def __init__(self):
            self.a, self.b = Mass(C="heavy"), Mass(C=[1.0, 2.0])
            self.c = Conductor(G=float("nan"))
            self.l, self.r = Boundary(), Boundary()

        def connections(self):
            yield self.l.port, self.c.a
            yield self.r.port, self.c.b

    holds(message(lambda: ac.compile(Both())), "3 things are wrong", "a.C", "b.C", "c.G")


def test_a_parameter_without_a_value():
    class Needy(ac.Component):
        k = ac.Parameter()

    class House(ac.Component):
        def __init__(self):
            self.parts = ac.array(Needy, 3)

    holds(message(lambda: ac.compile(House())), "`parts[0].k` (and 2 more) has no value", "Needy(k=…)")


def test_a_start_value_outside_its_bounds_or_not_a_number():
    text = message(lambda: ac.compile(Room(T=ac.start(100.0, min=200.0))).simulate(until=1.0))
    holds(text, "wall.", "T` starts at 100", "200", "outside its bounds", "wall (Mass)", "plants.py", "try:")
    holds(message(lambda: ac.compile(Room(T=ac.start(float("nan"))))), "start of wall.T", "not finite")
    holds(message(lambda: ac.compile(Room(T=ac.modify(nominal=0.0)))), "nominal of wall.T", "not zero")
    holds(message(lambda: ac.modify(unit=5)), "unit", "5")


def test_two_fixed_starts_of_one_unknown():
    class Twins(ac.Component):
        a, b = ac.Variable(start=1.0, fixed=True), ac.Variable(start=2.0, fixed=True)

        def equations(self):
            yield self.a == self.b
            yield ac.der(self.a) == -self.b

    holds(message(lambda: ac.compile(Twins()).simulate(until=1.0)), "`a`, `b` are one unknown", "1 … 2", "try:")


# --- names ---------------------------------------------------------------------------------------------------------------
def test_names_that_do_not_exist():
    result = ac.compile(Room()).simulate(until=1.0)
    holds(message(lambda: result["wal.T"]), "`wal.T` does not exist", "Room has no `wal`", "`wall`")
    holds(message(lambda: result["wall.prt.T"]), "Mass has no `prt`", "`port`")
    holds(message(lambda: result["wall.port.Tq"]), "HeatPort `port` has T, Q_flow")
    holds(message(lambda: result["row[5].T"]), "row[5].T", "outside")
    holds(message(lambda: result["row[x].T"]), "not an index")
    holds(message(lambda: result["row[::0].T"]), "not an index")
    holds(message(lambda: result["row[1:2:3:4].T"]), "not an index")
    holds(message(lambda: result["wall[0].T"]), "single component")
    holds(message(lambda: result["wall..T"]), "not a name")
    holds(message(lambda: result["loss.loss[3]"]), "loss")
    with pytest.raises(KeyError):
        result["nothing"]


def test_names_in_store_inputs_and_tolerances():
    model = ac.compile(Room())
    holds(message(lambda: model.simulate(until=1.0, store=["wall.temperature"])), "`wall.temperature` does not exist")
    holds(message(lambda: model.simulate(until=1.0, inputs={"wall.T": 1.0})), "`wall.T` is not an input", "try:")
    holds(message(lambda: model.simulate(until=1.0, atol={"wal.T": 1.0})), "`wal.T` does not exist", "`wall`")
    holds(message(lambda: model.simulate(until=1.0, solver="idas")), "no solver `idas`", "`ida`")
    holds(message(lambda: model.simulate(until=1.0, maxsteps=3)), "no option `maxsteps`", "`max_steps`")
    holds(message(lambda: model.simulate(until=1.0, initial="rest")), "'rest'")


# --- shapes, python, files, times ------------------------------------------------------------------------------------------
def test_arrays_of_different_length_in_an_equation():
    class Rod(ac.Component):
        T = ac.Variable(shape=5)

        def equations(self):
            yield ac.der(self.T[1:]) == self.T[:-2]

    holds(message(lambda: ac.compile(Rod())), "(4,)", "(3,)", "Rod", "ac.der(self.T[1:]) == self.T[:-2]", HERE, "try:")

    class Inner(ac.Component):
        T = ac.Variable(shape=5)

        def equations(self):
            yield ac.der(self.T) == self.T[1:] + np.ones(5)

    holds(message(lambda: ac.compile(Inner())), "(4,)", "(5,)", "Inner", HERE)


def test_mistakes_of_python_inside_equations():
    class Undefined(ac.Component):
        x = ac.Variable()

        def equations(self):
            yield self.x == mathematics.pi  # noqa: F821

    class NoYield(ac.Component):
        x = ac.Variable()

        def equations(self):
            self.x == 1  # noqa: B015

    class Decides(ac.Component):
        x = ac.Variable()

        def equations(self):
            yield self.x == (1.0 if self.x > 0 else 2.0)

    class Numbers(ac.Component):
        x = ac.Variable()

        def equations(self):
            yield 1.0 == 1.0

    class Half(ac.Component):
        x = ac.Variable()

        def equations(self):
            yield self.x - 1

    class Returns(ac.Component):
        x = ac.Variable()

        def equations(self):
            return self.x == 1.0

    class WithoutSelf(ac.Component):
        x = ac.Variable()
        k = ac.Parameter(1.0)

        def equations(self):
            yield self.x == WithoutSelf.k * 2

    holds(message(lambda: ac.compile(Undefined())), "NameError", "mathematics", HERE, "Undefined")
    holds(message(lambda: ac.compile(NoYield())), "`equations` of NoYield gives nothing", HERE, "yield")
    holds(message(lambda: ac.compile(Returns())), "returns one object of type Equation", "self.x == 1.0", "`yield` instead")
    holds(message(lambda: ac.compile(Decides())), "ac.where", "Decides", HERE)
    holds(message(lambda: ac.compile(Numbers())), "True of type bool", "one side must contain a variable", HERE)
    holds(message(lambda: ac.compile(Half())), "where an equation was expected", "== 0", HERE)
    holds(message(lambda: ac.compile(WithoutSelf())), "without `self.`", "self.k", HERE)


def test_what_is_not_a_model():
    holds(message(lambda: ac.compile(Room)), "not a class", "Room()")
    holds(message(lambda: ac.compile(3)), "3 of type int")


@pytest.mark.parametrize(
    "arguments, parts",
    [
        ({"until": -1.0}, ("-1.0", "later than")),
        ({"until": 1.0, "start": 1.0}, ("later than",)),
        ({"until": float("nan")}, ("nan",)),
        ({"until": "ten"}, ("'ten'", "2 h")),
        ({"until": 10**400}, ("`until` is a time", "finite number of seconds")),
        ({"until": "10 K"}, ("`until` cannot be '10 K'", "`K` cannot be converted to `s`", "2 h")),
        ({"until": True}, ("True of type bool", "a finite number of seconds")),
        ({"until": 1.0, "at": [-0.5, 0.5]}, ("-0.5 lies before the start at 0", "try:")),
        ({"until": 1.0, "at": [0.5, 2.0]}, ("2 lies after the end at 1", "try:")),
        ({"until": 1.0, "at": [0.5, 0.2]}, ("must not decrease",)),
        ({"until": 1.0, "at": []}, ("empty",)),
        ({"until": 1.0, "at": 0.5}, ("0.5 of type float",)),
        ({"until": 1.0, "at": [0.1, float("nan")]}, ("finite",)),
        ({"until": 1.0, "points": 1}, ("at least 2",)),
        ({"until": 1.0, "points": 10.5}, ("10.5",)),
        ({"until": 1.0, "rtol": 0.0}, ("positive",)),
        ({"until": 1.0, "rtol": -1e-6}, ("positive",)),
        ({"until": 1.0, "rtol": "fine"}, ("`rtol`", "1e-6", "'fine' of type str")),
        ({"until": 1.0, "rtol": True}, ("`rtol`", "True of type bool")),
        ({"until": 1.0, "atol": "fine"}, ("`atol`", "'fine' of type str")),
        ({"until": 1.0, "atol": {"wall.T": 0.0}}, ("`atol`", "positive")),
        ({"until": 1.0, "given": [1.0]}, ("`given` takes values by name", "got [1.0] of type list")),
        ({"until": 1.0, "rtoll": 1e-6}, ("`rtoll`", "Did you mean `rtol`")),
        ({"until": 1.0, "maxstep": 1e-6}, ("`maxstep`", "`max_step`")),
    ],
    ids=str,
)  # fmt: skip
def test_times_and_tolerances(arguments, parts):
    holds(message(lambda: ac.compile(Room()).simulate(**arguments)), *parts)


def test_a_model_file_that_does_not_import(tmp_path):
    from acausal.cli.guard import Stop
    from acausal.cli.load import load_component

    (tmp_path / "broken.py").write_text("import acausal as ac\nimport no_such_module_anywhere\n")
    text = message(lambda: load_component(str(tmp_path / "broken.py")), Stop)
    holds(text, "broken.py", "no_such_module_anywhere", "2")
    (tmp_path / "syntax.py").write_text("class Broken(:\n")
    holds(message(lambda: load_component(str(tmp_path / "syntax.py")), Stop), "syntax.py", "1")
    holds(message(lambda: load_component(str(tmp_path / "absent.py")), Stop), "absent.py")


def test_a_full_disk_and_an_unwritable_path(tmp_path):
    result = ac.compile(Room()).simulate(until=1.0)
    holds(message(lambda: result.save(tmp_path / "no" / "folder.acr")), "folder.acr", "cannot be written", "try:")
    if Path("/dev/full").is_char_device():
        (tmp_path / "full").symlink_to("/dev/full")
        holds(message(lambda: result.save(tmp_path / "full")), "full", "try:")
    if os.geteuid() != 0:
        (tmp_path / "locked").mkdir(mode=0o500)
        holds(message(lambda: result.save(tmp_path / "locked" / "x.acr")), "x.acr", "try:")
    assert result["wall.T"][0] == 300.0


def test_control_c_ends_the_run_and_keeps_what_was_computed(tmp_path):
    program = textwrap.dedent("""
        import signal
        import acausal as ac
        signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever started the tests may have it ignored
        def f(t, dy, y):
            yield dy.x - ac.cos(1e5 * t) * 1e5
        model = ac.compile(ac.plain(f, y={"x": 0.0}))
        print("ready", flush=True)
        try:
            model.simulate(until=1e9, points=5001, rtol=1e-9, max_steps=0)
        except KeyboardInterrupt as stop:
            print(stop.result.outcome.name, len(stop.result.time), flush=True)
    """)
    environment = {**os.environ, "ACAUSAL_CACHE": str(tmp_path)}
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        assert process.stdout.readline().strip() == "ready"
        import time

        time.sleep(1.0)
        process.send_signal(signal.SIGINT)
        try:
            out, _ = process.communicate(timeout=60)
        finally:
            process.kill()
    assert out.split()[:1] == ["CANCELLED"]


def test_a_pin_without_a_ground_is_named_with_its_component():
    class Chain(ac.Component):
        def __init__(self):
            self.R = ac.array(Resistor, 3)

        def connections(self):
            yield self.R[:-1].n, self.R[1:].p

    text = message(lambda: ac.compile(Chain()))
    holds(text, "R[0].p.v", "try:")
    assert Pin.__name__ not in text.split("\n")[0]
