"""What is written on components and classes and not meant is refused where it is written."""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType, SimpleNamespace
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

import numpy as np
import pytest

import acausal as ac
from acausal.language.types import type_of
from acausal.library import thermal as th


class Decay(ac.Component):
    x, k = ac.Variable(start=1.0), ac.Parameter(1.0)

    def equations(self) -> Any:
        yield ac.der(self.x) == -self.k * self.x


def at_one(component: ac.Component) -> float:
    return float(ac.compile(component).simulate(until=1.0, rtol=1e-9)["x"][-1])


def test_one_declaration_under_two_names_is_two_quantities() -> None:
    length = ac.Parameter(2.0)

    class A(ac.Component):
        k, j = length, length
        x = ac.Variable(start=1.0)

        def equations(self) -> Any:
            yield ac.der(self.x) == -self.k * self.j * self.x

    class B(ac.Component):
        other = length
        x = ac.Variable(start=1.0)

        def equations(self) -> Any:
            yield ac.der(self.x) == -self.other * self.x

    assert at_one(A(k=3.0)) == pytest.approx(np.exp(-6.0), rel=1e-6)
    assert at_one(A(j=1.0)) == pytest.approx(np.exp(-2.0), rel=1e-6)
    assert at_one(B()) == pytest.approx(np.exp(-2.0), rel=1e-6)
    assert ac.compile(A(k=3.0)).parameters() == {"k": 3.0, "j": 2.0}


def test_a_declared_name_of_a_class_is_not_replaced_by_a_number() -> None:
    class B(Decay):
        pass

    with pytest.raises(ac.ModelError, match=r"`B.k` is declared \(<Parameter k>\) and cannot be replaced by 5.0(.|\n)*`B\(k=…\)`"):
        B.k = 5.0  # type: ignore[assignment]
    with pytest.raises(ac.ModelError, match="cannot be replaced by None"):
        del Decay.k
    B.k = ac.Parameter(2.0)
    assert at_one(B()) == pytest.approx(np.exp(-2.0), rel=1e-6) and at_one(Decay()) == pytest.approx(np.exp(-1.0), rel=1e-6)


def test_a_misspelt_attribute_of_a_part_is_told() -> None:
    part = th.HeatCapacitor()
    with pytest.raises(ac.ModelError, match=r"HeatCapacitor has no `c` that could be given the value 50.0. Did you mean `C`"):
        part.c = 50.0

    class Own(Decay):
        label = ""

        def __init__(self) -> None:
            self.size = 3

        def rename(self, text: str) -> None:
            self.title = text

    own = Own()
    own.label, own.size = "mine", 4  # declared in the class or made in `__init__`
    own.rename("also mine")
    assert (own.label, own.size, own.title) == ("mine", 4, "also mine")


def test_a_copy_has_numbers_of_its_own() -> None:
    first = Decay(k=2.0)
    for second in (copy.copy(first), copy.deepcopy(first)):
        second.k = 3.0
        assert ac.compile(first).get("k") == 2.0 and ac.compile(second).get("k") == 3.0

    class Two(ac.Component):
        def __init__(self) -> None:
            self.a = Decay(k=2.0)
            self.b = copy.copy(self.a)
            self.b.k = 5.0

    model = ac.compile(Two())
    assert (model.get("a.k"), model.get("b.k")) == (2.0, 5.0)


def test_a_part_is_in_the_plant_once_and_seen() -> None:
    class Twice(ac.Component):
        def __init__(self) -> None:
            self.c = [Decay()] * 2

    class Nested(ac.Component):
        def __init__(self) -> None:
            self.c = [[Decay()], [Decay()]]

    class Named(ac.Component):
        def __init__(self) -> None:
            self.c = {"left": Decay()}

    class Ports(ac.Component):
        def __init__(self) -> None:
            self.p = [th.HeatPort(), th.HeatPort()]

    class Me(ac.Component):
        def __init__(self) -> None:
            self.me = self

    with pytest.raises(ac.ModelError, match=r"`c\[0\]` and `c\[1\]` are one and the same Decay(.|\n)*ac.array\(Decay, 2\)"):
        Twice()
    for wrong in (Nested, Named):
        with pytest.raises(ac.ModelError, match=r"`c` holds a component \(Decay\) within a (list|dict) where it is not seen"):
            wrong()
    with pytest.raises(ac.ModelError, match=r"`p` holds a connector \(HeatPort\)(.|\n)*HeatPort\(shape=…\)"):
        Ports()
    with pytest.raises(ac.ModelError, match="`me` of this Me would be itself"):
        Me()


def test_names_and_numbers_that_cannot_be() -> None:
    with pytest.raises(ac.ModelError, match="`time` of M cannot have this name: it is that of the time of a run"):
        type("M", (ac.Component,), {"time": ac.Variable()})
    with pytest.raises(ac.ModelError, match=r"`k` of Decay cannot be 100000000000…: the number is too large"):
        Decay(k=10**400)
    with pytest.raises(ac.ModelError, match=r"is an unknown and cannot be given the value 300.0"):
        th.FixedTemperature().port.T = 300.0
    result = ac.compile(Decay()).simulate(until=0.1)
    with pytest.raises(ac.ModelError, match=r'A name is a text such as "room.T", got 0 of type int'):
        result[0]
    with pytest.raises(ac.ModelError, match="`x` of Decay is a quantity, which has no `start`"):
        ac.compile(Decay()).set({"x.start": 3.0})


def test_a_variable_without_elements() -> None:
    class Empty(ac.Component):
        x = ac.Variable(start=1.0, shape=0)
        y = ac.Variable(start=1.0)

        def equations(self) -> Any:
            yield ac.der(self.x) == -self.x
            yield ac.der(self.y) == ac.sum(self.x) - self.y

    result = ac.compile(Empty()).simulate(until=1.0)
    assert result["x"].shape == (len(result.time), 0) and result["y"][-1] == pytest.approx(np.exp(-1.0), rel=1e-5)


def counter(value: Any, **declared: Any) -> ac.Component:
    class Counter(ac.Component):
        x = ac.Variable(start=1.0, fixed=True)
        n, b, step = ac.Integer(2), ac.Boolean(True), ac.Parameter(3)

        def equations(self) -> Any:
            yield ac.der(self.x) == -self.x

        def events(self) -> Any:
            yield ac.when(self.x < 0.5, *value(self))

    return Counter(**declared)


def test_whole_numbers_and_truths_stay_what_they_are() -> None:
    for wrong, told in ((ac.Integer, "it is a whole number"), (ac.Boolean, "it is true or false")):
        with pytest.raises(ac.ModelError, match=rf"cannot be 2.7: {told}"):
            wrong(2.7)
    with pytest.raises(ac.ModelError, match=r"`n` is a whole number, and `.*` need not be(.|\n)*ac.floor"):
        ac.compile(counter(lambda s: [ac.assign(s.n, s.x * 10.37)]))
    with pytest.raises(ac.ModelError, match=r"`b` is true or false, and `.*` need not be(.|\n)*Compare it"):
        ac.compile(counter(lambda s: [ac.assign(s.b, s.x * 3)]))
    with pytest.raises(ac.ModelError, match=r"`Counter.n` cannot be 2.5: it is a whole number"):
        counter(lambda s: [], n=2.5)
    right = counter(lambda s: [ac.assign(s.n, ac.floor(s.x * 8.9) + s.step * ac.pre(s.n)), ac.assign(s.b, 1 - ac.pre(s.b))])
    model = ac.compile(right)
    assert (model.simulate(until=1.0)["n"][-1], model.simulate(until=1.0)["b"][-1]) == (4.0 + 3 * 2, 0.0)
    with pytest.raises(ac.ModelError, match=r"`n` cannot be 0.5: it is a whole number"):
        model.simulate(until=0.1, set={"n": 0.5})
    with pytest.raises(ac.ModelError, match="`b` cannot be 7: it is true or false"):
        model.simulate(until=0.1, set={"b": 7})


def test_types_of_expressions() -> None:
    x = ac.time
    assert type_of(ac.where(x > 1, 2, 3)) == "integer" and type_of((x > 1) & (x < 2)) == "boolean"
    assert type_of(ac.floor(x) / 2) == "real" and type_of(ac.min(ac.ceil(x), 4)) == "integer"


def test_a_unit_beside_a_number_is_the_unit_of_that_number() -> None:
    class Room(ac.Component):
        T = ac.Variable(start=300.0, unit="K", nominal=300.0)

        def equations(self) -> Any:
            yield ac.der(self.T) == 0.0

    model = ac.compile(Room(T=ac.modify(unit="degC", start=20.0, fixed=True, min=-10.0)))
    result = model.simulate(until=1.0)
    assert result["T"][0] == pytest.approx(293.15) and result.unit("T") == "K"
    with pytest.raises(ac.ModelError, match=r"`Room.T` is declared in K; it cannot be given in bar"):
        Room(T=ac.modify(unit="bar", start=1.0))


@pytest.mark.parametrize("value", [0.0, 3.0, -0.0])
def test_an_input_of_a_part_is_equal_to_a_number(value: float) -> None:
    class Gain(ac.Component):
        u, y = ac.Input(1.0), ac.Output()

        def equations(self) -> Any:
            yield self.y == 2 * self.u

    class Whole(ac.Component):
        def __init__(self) -> None:
            self.g = Gain()

        def equations(self) -> Any:
            yield self.g.u == value

    assert ac.compile(Whole()).steady_state()["g.y"][0] == 2 * value


def test_dir_is_the_public_surface() -> None:
    assert set(ac.__all__) <= set(dir(ac)) and {n for n in dir(ac) if not n.startswith("_")} == set(ac.__all__)


def test_a_clock_that_ticks_without_end_is_refused() -> None:
    class Sampled(Decay):
        n = ac.Integer(0)

        def events(self) -> Any:
            yield ac.when(ac.sample(0, 1e-12), ac.assign(self.n, ac.pre(self.n) + 1))

    with pytest.raises(ac.ModelError, match=r"the period 1e-12 s would tick 1.0e\+12 times: the run would not end"):
        ac.compile(Sampled()).simulate(until=1.0)


# --- parts in lists and elsewhere ------------------------------------------------------------------------------------------------


class Filled(ac.Component):
    """Lists that are filled in each of the usual ways."""

    fixed: ClassVar[Any] = [Decay(k=1.0), Decay(k=2.0)]

    def __init__(self) -> None:
        self.appended: Any = []
        for rate in (1.0, 2.0):
            self.appended.append(Decay(k=rate))
        self.replaced: Any = [None] * 2
        self.replaced[0], self.replaced[1] = Decay(k=1.0), Decay(k=2.0)
        extended: Any = []
        self.extended, self.later = extended, []
        extended.extend([Decay(k=1.0), Decay(k=2.0)])


def test_parts_may_be_put_into_a_list_one_by_one() -> None:
    one, other = Filled(), Filled()
    for plant in (one, other):
        plant.later.append(Decay(k=1.0))
        plant.later.append(Decay(k=2.0))
    result = ac.compile(one).simulate(until=1.0, rtol=1e-8)
    for name in ("fixed", "appended", "replaced", "extended", "later"):
        for k in (0, 1):
            assert result[f"{name}[{k}].x"][-1] == pytest.approx(np.exp(-1.0 - k), abs=1e-6)
    assert ac.compile(other).get("fixed[1].k") == 2.0


def _decay(rate: float) -> Decay:
    return Decay(k=rate)


def _filled(make: Callable[[Any], None]) -> ac.Component:
    return type("Whole", (ac.Component,), {"__init__": lambda self: make(self)})()


def _later(holder: dict[str, Any]) -> Callable[[Any], None]:
    def make(self: Any) -> None:
        self.c = holder
        holder["one"] = Decay()

    return make


@dataclass
class Two:
    a: Any
    b: Any


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (_later({}), "within a dict where it is not seen"),
        (lambda self: setattr(self, "c", SimpleNamespace(a=Decay())), "within a SimpleNamespace where it is not seen"),
        (lambda self: setattr(self, "c", Two(Decay(), 1)), "within a Two where it is not seen"),
        (lambda self: setattr(self, "c", np.array([Decay(), None])), "within a ndarray where it is not seen"),
        (lambda self: setattr(self, "c", deque([Decay()])), "within a deque where it is not seen"),
        (lambda self: setattr(self, "c", {Decay(): 1.0}), "within a dict where it is not seen"),
        (lambda self: setattr(self, "c", {"a": Decay()}.values()), "within a dict_values where it is not seen"),
        (lambda self: setattr(self, "c", MappingProxyType({"a": Decay()})), "within a mappingproxy where it is not seen"),
        (lambda self: setattr(self, "c", (Decay() for _ in range(2))), "is a generator of components"),
        (lambda self: setattr(self, "c", map(_decay, (1.0, 2.0))), "is a map of components"),
        (lambda self: setattr(self, "_c", Decay()), "`_c` of Whole is a Decay that is not part of the plant"),
        (lambda self: setattr(self, "v", [ac.Variable()]), r"holds a declaration \(Variable\) within a list"),
        (lambda self: setattr(self, "v", {"k": ac.Parameter(1.0)}), r"holds a declaration \(Parameter\) within a dict"),
    ],
)
def test_what_would_be_missing_in_the_plant_is_refused(make: Callable[[Any], None], told: str) -> None:
    with pytest.raises(ac.ModelError, match=told):
        ac.compile(_filled(make))


def test_a_generator_of_something_else_is_left_as_it_was() -> None:
    class Rates(ac.Component):
        x = ac.Variable(start=1.0)

        def __init__(self) -> None:
            self.rates = (k for k in (2.0, 3.0))

        def equations(self) -> Any:
            yield ac.der(self.x) == -next(self.rates) * self.x

    assert ac.compile(Rates()).simulate(until=1.0, rtol=1e-8)["x"][-1] == pytest.approx(np.exp(-2.0), abs=1e-6)


# --- equations that ask somebody else --------------------------------------------------------------------------------------------

SEEN: list[int] = []
RATES: dict[Any, float] = {}
CONSTANTS = {"rate": 2.0}


class Elsewhere(ac.Component):
    """Its rate is not its own."""

    x, way, made = ac.Variable(start=1.0), "", 0

    def __init__(self, rate: float = 1.0) -> None:
        RATES[id(self)] = rate
        RATES[self] = rate

    def rate(self) -> float:
        return 1.0

    def equations(self) -> Any:
        yield ac.der(self.x) == -self.rate() * self.x


class ById(Elsewhere):
    def equations(self) -> Any:
        yield ac.der(self.x) == -RATES[id(self)] * self.x


class ByKey(Elsewhere):
    def equations(self) -> Any:
        yield ac.der(self.x) == -RATES[self] * self.x


class Counting(Elsewhere):
    def equations(self) -> Any:
        SEEN.append(1)
        yield ac.der(self.x) == -len(SEEN) * self.x


class ByChance(Elsewhere):
    def equations(self) -> Any:
        yield ac.der(self.x) == -np.random.default_rng().random() * self.x


class InTheClass(Elsewhere):
    def equations(self) -> Any:
        type(self).made += 1
        yield ac.der(self.x) == -self.made * self.x


class ByProperty(Elsewhere):
    @property
    def own(self) -> float:
        return RATES[id(self)]

    def equations(self) -> Any:
        yield ac.der(self.x) == -self.own * self.x


class ByName(Elsewhere):
    def equations(self) -> Any:
        yield ac.der(self.x) == -(1.0 if repr(self).endswith("a>") else 2.0) * self.x


class ByMethod(Elsewhere):
    def rate(self) -> float:
        SEEN.append(1)
        return len(SEEN)


class Counter:
    count = 0

    def next(self) -> int:
        Counter.count += 1
        return Counter.count


class ByTable(Elsewhere):
    rates: ClassVar[dict[Any, float]] = {}

    def __init__(self, rate: float = 1.0) -> None:
        self.rates[self] = rate

    def equations(self) -> Any:
        yield ac.der(self.x) == -self.rates[self] * self.x


class Kept:
    """A descriptor that keeps what it is given."""

    def __init__(self) -> None:
        self.given: WeakKeyDictionary[Any, float] = WeakKeyDictionary()

    def __get__(self, owner: Any, cls: type) -> Any:
        return self if owner is None else self.given[owner]

    def __set__(self, owner: Any, value: float) -> None:
        self.given[owner] = value


class ByDescriptor(Elsewhere):
    own = Kept()

    def __init__(self, rate: float = 1.0) -> None:
        self.own = rate

    def equations(self) -> Any:
        yield ac.der(self.x) == -self.own * self.x


class ByHelper(Elsewhere):
    def __init__(self, rate: float = 1.0) -> None:
        self.counter = Counter()

    def equations(self) -> Any:
        yield ac.der(self.x) == -self.counter.next() * self.x


class Pair(ac.Component):
    def __init__(self, kind: type[ac.Component]) -> None:
        self.a, self.b = kind(), kind(rate=2.0)


@pytest.mark.parametrize(
    "kind", [ById, ByKey, Counting, ByChance, InTheClass, ByProperty, ByMethod, ByName, ByTable, ByDescriptor, ByHelper]
)
def test_equations_that_are_others_for_components_that_are_alike_are_refused(kind: type[ac.Component]) -> None:
    with pytest.raises(ac.ModelError, match=f"`a` and `b` are alike, but the equations of {kind.__name__} are not the same"):
        ac.compile(Pair(kind))


def test_equations_may_read_constants_around_them() -> None:
    class Constants(Elsewhere):
        def equations(self) -> Any:
            yield ac.der(self.x) == -CONSTANTS["rate"] * self.x

    result = ac.compile(Pair(Constants)).simulate(until=1.0, rtol=1e-8)
    assert result["a.x"][-1] == pytest.approx(np.exp(-2.0), abs=1e-6) and result["b.x"][-1] == pytest.approx(np.exp(-2.0), abs=1e-6)


class Collecting(ac.Component):
    """Its equations collect terms in what the component holds."""

    x, y = ac.Variable(start=1.0, fixed=True), ac.Variable()

    def __init__(self) -> None:
        self.terms: list[Any] = []
        self.by_name: dict[str, Any] = {}
        self.weights = np.array([1.0])
        self.nested: dict[str, Any] = {"terms": [], "all": ([], [np.zeros(1)])}

    def equations(self) -> Any:
        self.terms.append(2.0 * self.x)
        self.by_name[f"term {len(self.by_name)}"] = self.x
        self.weights += 1.0
        self.nested["terms"].append(self.x)
        self.nested["all"][0].append(self.x)
        self.nested["all"][1][0] += 1.0
        yield ac.der(self.x) == -self.x
        nested = sum(self.nested["terms"]) + sum(self.nested["all"][0]) + self.nested["all"][1][0][0]
        yield self.y == sum(self.terms) + sum(self.by_name.values()) + self.weights[0] + nested


def test_a_component_can_be_translated_again() -> None:
    component = Collecting()
    for _ in range(2):
        assert ac.compile(component).simulate(until=1.0)["y"][0] == pytest.approx(8.0)
    assert (component.terms, component.by_name, component.weights.tolist()) == ([], {}, [1.0])
    assert component.nested == {"terms": [], "all": ([], [np.zeros(1)])}


def test_a_list_that_holds_itself_is_an_attribute_like_others() -> None:
    class Own(ac.Component):
        x = ac.Variable(start=1.0)

        def __init__(self, rate: float) -> None:
            self.rates: list[Any] = [rate]
            self.rates.append(self.rates)

        def equations(self) -> Any:
            yield ac.der(self.x) == -self.rates[0] * self.x

    class Both(ac.Component):
        def __init__(self) -> None:
            self.a, self.b = Own(1.0), Own(2.0)

    result = ac.compile(Both()).simulate(until=1.0, rtol=1e-8)
    assert result["a.x"][-1] == pytest.approx(np.exp(-1.0), abs=1e-6) and result["b.x"][-1] == pytest.approx(np.exp(-2.0), abs=1e-6)


class Greek(ac.Component):
    """Names of all letters that Python takes."""

    η, größe = ac.Parameter(0.5), ac.Variable(start=1.0, fixed=True)
    Δp, ϕ = ac.Input(0.0), ac.States("läuft", "aus", initial="läuft")

    def equations(self) -> Any:
        yield ac.der(self.größe) == self.Δp - self.η * self.größe

    def transitions(self) -> Any:
        yield self.ϕ.läuft.to("aus", when=self.größe < 0.8)


def test_names_of_other_letters_are_names(tmp_path: Path) -> None:
    class Both(ac.Component):
        def __init__(self) -> None:
            self.α, self.β = ac.array(Greek, 2), Greek(η=2.0)

    model = ac.compile(Both())
    result = model.simulate(until=1.0, rtol=1e-8, set={"α[1].η": 1.0}, inputs={"β.Δp": 2.0})
    assert [s.state for s in result.states("α[1].\u03d5")] == ["läuft", "aus"] and model.get("β.η") == 2.0
    result.save(tmp_path / "result.acausal")
    for found in (result, ac.load(tmp_path / "result.acausal")):
        np.testing.assert_allclose(found["α.größe"][-1], np.exp([-0.5, -1.0]), atol=1e-6)
    assert result["der(β.größe)"][-1] == pytest.approx(0.0, abs=1e-6)


def test_names_of_methods_and_what_is_no_name_are_no_quantities() -> None:
    for name, told in (("events", "it is that of the method"), ("transitions", "method"), ("T 1", "'T 1', which is not")):
        with pytest.raises(ac.UsageError, match=told):
            type("Odd", (ac.Component,), {name: ac.Variable()})


class Holder(ac.Component):
    def __init__(self) -> None:
        self.part = Decay()


class AtOnce(Holder):
    def __init__(self) -> None:
        super().__init__()
        self.part.x.start = 3.0


class InEquations(Holder):
    def equations(self) -> Any:
        self.part.k.min = 0.0
        yield from ()


@pytest.mark.parametrize(
    ("holder", "told"), [(AtOnce, r"`Decay\(x=ac.start\(3.0\)\)`"), (InEquations, r"`Decay\(k=ac.modify\(min=0.0\)\)`")]
)
def test_attributes_of_a_declaration_are_not_set_on_what_stands_in_equations(holder: type[Holder], told: str) -> None:
    with pytest.raises(ac.UsageError, match=told):
        ac.compile(holder())


def test_attributes_of_a_declaration_are_not_read_there_either() -> None:
    with pytest.raises(AttributeError, match="stands for the quantity in equations"):
        _ = Decay().x.start
    assert not hasattr(Decay().x, "start")
