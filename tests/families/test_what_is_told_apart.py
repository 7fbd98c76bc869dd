"""Components, streams and functions that look alike at first sight, or end where a relation turns."""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, deque
from typing import Any

import numpy as np
import pytest

import acausal as ac
from acausal.errors import ModelError


class _Warm(ac.Component):
    x = ac.Variable(start=0.0, fixed=True)
    T = ac.Variable()

    def __init__(self, rate: float) -> None:
        self.rate = rate


class _Chosen(_Warm):
    def equations(self) -> Any:
        yield self.T == 300.0 + ac.time
        yield ac.der(self.x) == ac.where(self.T > 200.0, {1.0: 5.0, 2.0: 7.0}.get(self.rate, 1.0), 0.0)


class _Rooted(_Warm):
    def equations(self) -> Any:
        factor = self.rate if isinstance(self.rate, float) else 1.0
        yield self.T == 300.0
        yield ac.der(self.x) == 0.1 * factor * ac.sqrt(self.T - 200.0)


def _pair(cls: type[ac.Component]) -> ac.Component:
    class Pair(ac.Component):
        def __init__(self) -> None:
            self.a, self.b = cls(1.0), cls(2.0)

    return Pair()


@pytest.mark.parametrize(("cls", "wanted"), [(_Chosen, (5.0, 7.0)), (_Rooted, (1.0, 2.0))])
def test_what_differs_far_from_zero_is_seen(cls, wanted):
    """Components with different numbers were taken as alike where their equations differed only above 3, or where a root exists."""
    result = ac.compile(_pair(cls)).simulate(1.0)
    assert (result["a.x"][-1], result["b.x"][-1]) == pytest.approx(wanted)


def test_functions_of_other_numbers_are_still_one_kind():
    """Functions within functions are told from each other by what they are asked for, and nothing is lost of being one kind."""

    class Nested(_Warm):
        def equations(self) -> Any:
            yield self.T == 300.0 + self.rate * ac.sin(ac.time / self.rate)
            yield ac.der(self.x) == ac.max(ac.sqrt(self.T * self.rate) - self.rate, ac.where(self.T > 310.0 * self.rate, 1.0, 0.0))

    model = ac.compile(_pair(Nested))
    result, t = model.simulate(1.0), 1.0
    for name, rate in (("a", 1.0), ("b", 2.0)):
        assert result[f"{name}.T"][-1] == pytest.approx(300.0 + rate * np.sin(t / rate))
    assert model.get("b.rate") == 2.0  # data, as only members of one kind have it


@pytest.mark.parametrize(
    ("made", "collect"),
    [
        (lambda: defaultdict(list), lambda held, term: held["in"].append(term)),
        (deque, lambda held, term: held.append(term)),
        (OrderedDict, lambda held, term: held.update({len(held): term})),
        (Counter, lambda held, term: held.update([f"term{len(held)}"])),
    ],
)
def test_what_equations_collect_is_put_back(made, collect):
    """What equations collected in a `defaultdict`, a `deque` and the like was still there at the next translation."""

    class Collecting(ac.Component):
        x = ac.Variable(start=0.0, fixed=True)

        def __init__(self) -> None:
            self.terms = made()

        def equations(self) -> Any:
            collect(self.terms, 1.0)
            found = self.terms["in"] if isinstance(self.terms, defaultdict) else self.terms
            yield ac.der(self.x) == float(len(found))

    component = Collecting()
    for _ in range(3):
        assert ac.compile(component).simulate(1.0)["x"][-1] == pytest.approx(1.0)
    assert not component.terms


def test_private_slots_tell_components_apart():
    """What a slot with a private name holds was not seen, so that components which differ in it were refused as alike."""

    class Slotted(ac.Component):
        __slots__ = ("__n",)
        x = ac.Variable(start=0.0, fixed=True)

        def __init__(self, n: int) -> None:
            self.__n = n

        def equations(self) -> Any:
            yield ac.der(self.x) == self.__n

    class Pair(ac.Component):
        def __init__(self) -> None:
            self.a, self.b = Slotted(1), Slotted(2)

    result = ac.compile(Pair()).simulate(1.0)
    assert (result["a.x"][-1], result["b.x"][-1]) == pytest.approx((1.0, 2.0))


def _port(size: int) -> type[ac.Connector]:
    class Port(ac.Connector):
        p = ac.Potential(unit="Pa")
        m_flow = ac.Flow(unit="kg/s")
        X = ac.Stream(with_="m_flow", shape=size)

    return Port


class _Source(ac.Component):
    def __init__(self, port: type[ac.Connector], composition: list[float]) -> None:
        self.composition, self.port = composition, port()

    def equations(self) -> Any:
        yield self.port.m_flow == -1.0
        yield self.port.X.outflow == np.array(self.composition)


class _Sink(ac.Component):
    def __init__(self, port: type[ac.Connector], size: int) -> None:
        self.size, self.port, self.X = size, port(), ac.Variable(shape=size)

    def equations(self) -> Any:
        yield self.port.p == 0.0
        yield self.port.X.outflow == np.zeros(self.size)
        yield self.X == self.port.X.actual


def test_streams_of_one_name_may_have_different_lengths():
    """Two circuits whose compositions have the same name and different lengths ended in an error of numpy."""
    two, three = _port(2), _port(3)

    class Both(ac.Component):
        def __init__(self) -> None:
            self.a, self.b = _Source(two, [0.2, 0.8]), _Sink(two, 2)
            self.c, self.d, self.e = _Source(three, [0.2, 0.3, 0.5]), _Sink(three, 3), _Source(three, [0.4, 0.5, 0.1])

        def connections(self) -> Any:
            yield self.a.port, self.b.port
            yield self.c.port, self.d.port, self.e.port

    result = ac.compile(Both()).simulate(1.0)
    assert result["b.X"][-1] == pytest.approx([0.2, 0.8])
    assert result["d.X"][-1] == pytest.approx([0.3, 0.4, 0.3])


def test_streams_of_different_lengths_cannot_meet():
    """A connector and one derived from it whose composition is longer ended in an error of numpy where they met."""
    two = _port(2)

    class Longer(two):  # type: ignore[misc, valid-type]
        X = ac.Stream(with_="m_flow", shape=3)

    class Both(ac.Component):
        def __init__(self) -> None:
            self.a, self.b = _Source(two, [0.2, 0.8]), _Sink(Longer, 3)

        def connections(self) -> Any:
            yield self.a.port, self.b.port

    with pytest.raises(ModelError, match="streams of different length"):
        ac.compile(Both())


_ROOTS = {
    "a root of a size": lambda x: ac.sqrt(abs(x)),
    "with a sign": lambda x: ac.sign(x) * ac.sqrt(abs(x)),
    "a power": lambda x: abs(x) ** (1 / 3),
    "a lower bound": lambda x: ac.sqrt(ac.max(-x, 0.0)),
    "an upper bound": lambda x: (-ac.min(x, 0.0)) ** 1.5,
    "a guard": lambda x: ac.where(x < 0.0, ac.sqrt(-x), 0.0),
    "a guard on both sides": lambda x: ac.where(x >= 0.0, ac.sqrt(x), -ac.sqrt(-x)),
}
_EXPECTED = {
    "a root of a size": lambda x: np.sqrt(np.abs(x)),
    "with a sign": lambda x: np.sign(x) * np.sqrt(np.abs(x)),
    "a power": lambda x: np.abs(x) ** (1 / 3),
    "a lower bound": lambda x: np.sqrt(np.maximum(-x, 0.0)),
    "an upper bound": lambda x: np.maximum(-x, 0.0) ** 1.5,
    "a guard": lambda x: np.sqrt(np.maximum(-x, 0.0)),
    "a guard on both sides": lambda x: np.sign(x) * np.sqrt(np.abs(x)),
}


@pytest.mark.parametrize("which", list(_ROOTS))
@pytest.mark.parametrize("start", [-0.1, -0.5, -0.85])
def test_roots_pass_zero(which, start):
    """A run ended where x of `sqrt(abs(x))` or of `where(x < 0, sqrt(-x), 0)` passed zero: frozen, both have no value beyond it."""

    class Passing(ac.Component):
        x = ac.Variable(start=start, fixed=True)
        y = ac.Variable()

        def equations(self) -> Any:
            yield ac.der(self.x) == 1.0
            yield self.y == _ROOTS[which](self.x)

    result = ac.compile(Passing()).simulate(1.0)
    x, t = np.asarray(result["x"]), np.asarray(result.time)
    assert t[-1] == 1.0
    away = np.abs(x) > 1e-6
    assert np.asarray(result["y"])[away] == pytest.approx(_EXPECTED[which](x[away]), abs=1e-9)


@pytest.mark.parametrize("written", ["with a guard", "with a sign"])
def test_two_tanks_may_come_to_the_same_level(written):
    """A run of two tanks with a valve between them ended as soon as their levels were the same."""

    class Tanks(ac.Component):
        a, b = ac.Variable(start=2.0, fixed=True), ac.Variable(start=0.5, fixed=True)
        q = ac.Variable()

        def equations(self) -> Any:
            a, b = self.a, self.b
            if written == "with a guard":
                yield self.q == ac.where(a > b, ac.sqrt(a - b), -ac.sqrt(b - a))
            else:
                yield self.q == ac.sign(a - b) * ac.sqrt(abs(a - b))
            yield ac.der(a) == -self.q + ac.sin(3.0 * ac.time)
            yield ac.der(b) == self.q

    result = ac.compile(Tanks()).simulate(10.0, rtol=1e-8)
    assert result.time[-1] == 10.0
    assert result["a"][-1] == pytest.approx(1.3212659638, abs=1e-5)  # scipy's solve_ivp, rtol 1e-9
