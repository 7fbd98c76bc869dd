"""The census: components are read and not written to; whatever distinguishes two of them makes two kinds."""

from __future__ import annotations

import collections
import copy
import dataclasses
import datetime
import enum
import functools
import gc
import threading
import weakref

import numpy as np
import pytest
from plants import Mass, Resistor

import acausal as ac
from acausal.errors import UsageError
from acausal.families.census import Census


class Decay(ac.Component):
    x, k = ac.Variable(start=1.0), ac.Parameter(1.0)

    def equations(self):
        self.rate = self.k * self.x
        yield ac.der(self.x) == -self.rate


class Pair(ac.Component):
    def __init__(self, a, b):
        self.a, self.b = a, b


def state(component):
    return (
        dict(component.__dict__),
        dict(component._ac_modifications),
        component._ac_declared,
        component._ac_named,
        component._ac_parent,
        component._ac_name,
    )


def end(model, *names):
    result = model.simulate(until=1.0, rtol=1e-8)
    return [result[name][-1] for name in names]


# --- no trace -----------------------------------------------------------------------------------------------------------------
def test_compiling_changes_nothing_in_a_component():
    class Mixed(ac.Component):
        x, k, n = ac.Variable(start=1.0), ac.Parameter(2.0), ac.Integer(start=0)

        def __init__(self):
            self.part, self.row = Decay(k=self.k), ac.array(Decay, 3)
            self.y = ac.Variable()
            self.twice = 2 * self.x

        def equations(self):
            self.loss = ac.named(self.k * self.x, unit="", doc="lost")
            self._calls = 1
            yield ac.der(self.x) == -self.loss
            yield self.y == ac.sum(self.row.x) + ac.where(self.x > 0.5, 1.0, 0.0) + self.part.rate

        def events(self):
            yield ac.when(self.x < 0.5, ac.assign(self.n, ac.pre(self.n) + 1))

    root = Mixed()
    every = [root, root.part, root.row._element]
    before = [state(c) for c in every]
    ac.compile(root).simulate(until=1.0)
    assert [state(c) for c in every] == before


def test_a_failed_compilation_changes_nothing():
    class Wrong(Decay):
        def equations(self):
            yield from super().equations()
            yield self.nothing == 1

    root = Wrong()
    before = state(root)
    with pytest.raises(ac.ModelError, match="has no attribute `nothing`"):
        ac.compile(root)
    assert state(root) == before


def test_what_was_computed_stays_when_the_component_changes():
    class House(ac.Component):
        total = ac.Variable()

        def __init__(self):
            self.rooms = [Decay(x=ac.start(3.0)), Decay(x=ac.start(4.0))]

        def equations(self):
            yield self.total == sum(getattr(self, name).x for name in ("extra",) if hasattr(self, name)) + sum(
                room.x for room in self.rooms
            )

    house = House()
    old = ac.compile(house)
    first = old.simulate(until=1.0)
    house.extra = Decay(x=ac.start(2.0))
    house.rooms[0].k = 5.0
    new = ac.compile(house).simulate(until=1.0)
    assert first["total"][0] == 7.0 and new["total"][0] == 9.0
    assert old.get("rooms[0].k") == 1.0
    np.testing.assert_array_equal(old.simulate(until=1.0)["total"], first["total"])


def test_a_class_attribute_and_an_array_may_change_afterwards():
    values = np.array([1.0, 2.0])

    class Held(ac.Component):
        x = ac.Variable(start=1.0, shape=2)
        k = ac.Parameter(values, shape=2)

        def equations(self):
            yield ac.der(self.x) == -self.k * self.x

    component = Held()
    model = ac.compile(component)
    values[:] = 7.0
    Held.x.unit = "K"
    np.testing.assert_array_equal(model.get("k"), [1.0, 2.0])
    assert model.simulate(until=1.0).unit("x") == ""


def test_one_object_is_compiled_by_several_threads_at_once():
    root = Pair(Decay(), ac.array(Decay, 4))
    found, wrong = [], []

    def work():
        try:
            found.append(end(ac.compile(root), "a.x", "a.rate"))
        except Exception as error:
            wrong.append(error)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong and all(f == pytest.approx([np.exp(-1)] * 2, rel=1e-6) for f in found) and len(found) == 6


def test_nothing_outlives_a_model():
    class Once(ac.Component):
        x = ac.Variable(start=1.0)

        def equations(self):
            yield ac.der(self.x) == -ac.sin(self.x) * 0.123456789

    component = Once()
    model = ac.compile(component)
    alive, kept = weakref.ref(component), weakref.ref(Once)
    del component, Once
    gc.collect()
    assert alive() is None or model._component is alive()
    assert model.simulate(until=1.0)["x"][-1] < 1.0
    del model
    gc.collect()
    assert alive() is None and kept() is None


# --- private names --------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "name", ["_first", "_count", "_kind", "_name", "_parent", "_position", "_modifications", "_declared", "_x"]
)
def test_private_attributes_are_the_user_s_own(name):
    class Own(ac.Component):
        x = ac.Variable(start=1.0)

        def __init__(self, k):
            setattr(self, name, k)

        def equations(self):
            yield ac.der(self.x) == -getattr(self, name) * self.x

    root = Pair(Own(2.0), Own(3.0))
    assert end(ac.compile(root), "a.x", "b.x") == pytest.approx([np.exp(-2), np.exp(-3)], rel=1e-5)
    assert getattr(root.a, name) == 2.0


def test_a_name_that_every_component_needs_is_refused():
    class Named(ac.Component):
        def __init__(self):
            self._find = 3

    with pytest.raises(UsageError, match="`_find` of Named hides what every component has"):
        Named()
    with pytest.raises(UsageError, match="`_modify` of Other hides"):
        type("Other", (ac.Component,), {"_modify": lambda self: None})


def test_another_component_under_a_private_name_is_no_part():
    class Knows(Decay):
        def __init__(self, other=None):
            self._other = other

    first = Decay()
    model = ac.compile(Pair(first, Knows(first)))
    assert model.simulate(until=0.1).names("*.x") == ["a.x", "b.x"]


# --- what makes two kinds ---------------------------------------------------------------------------------------------------------
class Config:
    def __init__(self, name, rate):
        self.name, self.rate = name, rate

    def __eq__(self, other):
        return self.name == other.name

    def __hash__(self):
        return hash(self.name)


class Slotted:
    __slots__ = ("rate",)

    def __init__(self, rate):
        self.rate = rate


@dataclasses.dataclass
class Data:
    rate: float
    more: dict = dataclasses.field(default_factory=dict)


def times(k):
    return k


class Holder:
    def __init__(self, function):
        self.function = function

    @property
    def rate(self):
        return self.function()


@pytest.mark.parametrize(
    "one, other",
    [
        (Config("pipe", 1.0), Config("pipe", 5.0)),
        (Slotted(1.0), Slotted(5.0)),
        (Data(1.0), Data(5.0)),
        (Holder(functools.partial(times, 1.0)), Holder(functools.partial(times, 5.0))),
        (Holder(Data(1.0).__getattribute__), Holder(Data(5.0).__getattribute__)),
    ],
)
def test_objects_are_compared_by_what_is_in_them(one, other):
    class Uses(ac.Component):
        x = ac.Variable(start=1.0)

        def __init__(self, config):
            self.config = config

        def equations(self):
            rate = self.config.rate if not callable(getattr(self.config, "function", None)) else None
            try:
                rate = rate if rate is not None else self.config.rate
            except TypeError:
                rate = self.config.function("rate")
            yield ac.der(self.x) == -rate * self.x

    assert end(ac.compile(Pair(Uses(one), Uses(other))), "a.x", "b.x") == pytest.approx([np.exp(-1), np.exp(-5)], rel=1e-5)


def with_rate(value, rate):
    value.rate = rate
    return value


def derived(base):
    return type(base.__name__.title(), (base,), {})


class Gear(enum.Enum):
    LOW, HIGH = ("gear", 1.0), ("gear", 5.0)

    def __eq__(self, other):
        return self.value[0] == other.value[0]

    def __hash__(self):
        return hash(self.value[0])


class Rated(np.ndarray):
    pass


def oclock(hour, zone):
    return datetime.datetime(2020, 1, 1, hour, tzinfo=datetime.timezone(datetime.timedelta(hours=zone)))


Text, Listed, Mapped, Group, Row = (derived(base) for base in (str, list, dict, set, tuple))


@pytest.mark.parametrize(
    "rate, one, other",
    [
        *((lambda c: c.rate, with_rate(t("a"), 1.0), with_rate(t("a"), 5.0)) for t in (Text, Listed, Group, Row)),
        (lambda c: c.rate, with_rate(Mapped(), 1.0), with_rate(Mapped(), 5.0)),
        (lambda c: c.rate, with_rate(np.zeros(1).view(Rated), 1.0), with_rate(np.zeros(1).view(Rated), 5.0)),
        (lambda c: c["any"], collections.defaultdict(lambda: 1.0), collections.defaultdict(lambda: 5.0)),
        (lambda c: float(c.sum()), np.ma.array([1.0, 4.0], mask=[0, 1]), np.ma.array([1.0, 4.0])),
        (lambda c: 1.0 if "a" in c.dtype.names else 5.0, np.zeros(1, [("a", float)]), np.zeros(1, [("b", float)])),
        (lambda c: c.value[1], Gear.LOW, Gear.HIGH),
        (lambda c: float(c.hour), oclock(1, 0), oclock(5, 4)),  # the same moment
    ],
)
def test_what_a_value_has_besides_what_it_is_equal_by_counts_too(rate, one, other):
    class Uses(ac.Component):
        x = ac.Variable(start=1.0)

        def __init__(self, config):
            self.config = config

        def equations(self):
            yield ac.der(self.x) == -rate(self.config) * self.x

    assert end(ac.compile(Pair(Uses(one), Uses(other))), "a.x", "b.x") == pytest.approx([np.exp(-1), np.exp(-5)], rel=1e-5)


def test_equal_objects_make_one_kind():
    class Uses(Decay):
        def __init__(self, config):
            self.config = config

    Size = collections.namedtuple("Size", "a b")
    for make in (lambda: Data(1.0, {"a": [1, 2]}), lambda: Size(1, "x"), lambda: with_rate(Listed([1]), 2.0), lambda: oclock(1, 0)):
        assert sorted(k.name for k in Census(Pair(Uses(make()), Uses(make()))).plant.kinds) == ["Pair", "Uses"]


def test_an_object_that_holds_itself_is_no_trouble():
    class Loop:
        def __init__(self, rate):
            self.me, self.rate = self, rate

    class Uses(Decay):
        def __init__(self, config):
            self.config = config

    assert len(Census(Pair(Uses(Loop(1)), Uses(Loop(1)))).plant.kinds) == 2
    assert len(Census(Pair(Uses(Loop(1)), Uses(Loop(2)))).plant.kinds) == 3


def test_slots_of_a_component_class_count():
    class Slots(ac.Component):
        __slots__ = ("rate",)
        x = ac.Variable(start=1.0)

        def __init__(self, rate):
            object.__setattr__(self, "rate", rate)

        def equations(self):
            yield ac.der(self.x) == -self.rate * self.x

    assert end(ac.compile(Pair(Slots(1.0), Slots(5.0))), "a.x", "b.x") == pytest.approx([np.exp(-1), np.exp(-5)], rel=1e-5)


@pytest.mark.parametrize(
    "what", ["self.k = 5.0", "self.part.k = 5.0", "self.z = ac.Variable()", "self.more = Decay()", "self.part.q = 1"]
)
def test_equations_that_change_components_are_refused(what):
    def equations(self):
        exec(what, {"ac": ac, "self": self, "Decay": Decay})
        yield ac.der(self.x) == -self.k * self.x

    def init(self):
        self.part = Decay()

    body = {"__init__": init, "x": ac.Variable(start=1.0), "k": ac.Parameter(1.0), "equations": equations}
    sets = type("Sets", (ac.Component,), body)
    root = Pair(sets(), sets())
    with pytest.raises(ac.ModelError, match="The equations of Sets change") as found:
        ac.compile(root)
    assert "in `__init__`" in str(found.value)
    assert root.a._ac_modifications == {} and root.a.part._ac_modifications == {} and "q" not in root.a.part.__dict__


def test_a_negative_zero_and_not_a_number_are_choices_too():
    class Chosen(Decay):
        def __init__(self, c):
            self.c = c

    assert len(Census(Pair(Chosen(0.0), Chosen(-0.0))).plant.kinds) == 3
    assert len(Census(Pair(Chosen(float("nan")), Chosen(float("nan")))).plant.kinds) == 2


def test_a_plain_attribute_is_named_as_what_it_is():
    class Wall(Decay):
        def __init__(self, cells=4):
            self.cells = cells

    with pytest.raises(ac.ModelError, match="`cells` of Wall is a plain attribute, read once"):
        ac.compile(Wall()).simulate(until=1.0, set={"cells": 5})


def test_copies_and_originals_are_compiled_side_by_side():
    original = Pair(Mass(), Resistor())
    copied = copy.deepcopy(original)
    assert Census(original).plant.variable_count == Census(copied).plant.variable_count


def test_lists_in_lists_without_end_are_choices_too():
    """Deeper than a hundred they are told apart by which they are: a walk of theirs exceeded Python's depth of calls."""
    deep = []
    for _ in range(5000):
        deep = [deep]

    class Holds(Decay):
        def __init__(self, value):
            self.value = value

    assert len(Census(Pair(Holds(deep), Holds(deep))).plant.kinds) == 2
    assert len(Census(Pair(Holds(deep), Holds([deep]))).plant.kinds) == 3
