"""The plain model: no components, just residuals `0 = F(t, y', y, x, p)` (WinDali's model file format)."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..arguments import checked
from ..errors import Location, UsageError, near_matches
from .component import Component
from .declarations import Declaration, Parameter, Variable
from .derivative import der
from .equation import Equation
from .events import AfterStep, Assertion, Crossing, When
from .expression import Expression, Time, as_expression

Quantities = Mapping[str, Any] | Sequence[float] | np.ndarray
_ARGUMENTS = ("t", "dy", "y", "x", "p")


class Group:
    """Quantities by name and by number: `y.T`, `y["T"]`, `y[0]`."""

    def __init__(self, what: str, values: dict[str, Expression]) -> None:
        self._what, self._values = what, values

    def __getitem__(self, key: Any) -> Expression:
        if isinstance(key, str):
            return self._named(key)
        return list(self._values.values())[key]

    def __getattr__(self, name: str) -> Expression:
        if name.startswith("_"):
            raise AttributeError(name)
        return self._named(name)

    def _named(self, name: str) -> Expression:
        if name not in self._values:
            raise UsageError(f"There is no `{name}` among `{self._what}`. {near_matches(name, self._values)}".strip())
        return self._values[name]

    def __iter__(self) -> Iterator[Expression]:
        return iter(self._values.values())

    def __len__(self) -> int:
        return len(self._values)


def check_quantities(what: str, given: Any) -> None:
    """Refuse what is neither quantities by name nor a row of numbers."""
    row = given.ndim == 1 if isinstance(given, np.ndarray) else isinstance(given, Sequence) and not isinstance(given, str)
    if not row and not isinstance(given, Mapping):
        raise UsageError(
            f"`{what}` takes quantities by name or a sequence of numbers, got {given!r} of type {type(given).__name__}.",
            remedy=f'{what}={{"n": 1.0}} or {what}=[1.0].',
        )


class PlainModel(Component):
    """A model given by a function that returns residuals. Made by `ac.plain`."""

    def __init__(self, residuals: Callable[..., Iterable[Any]], y: Quantities, x: Quantities = (), p: Quantities = ()) -> None:
        self._residuals = residuals
        self.residuals = residuals  # part of the structure: another function is another model
        self._names = {
            "y": self._declare_all("y", y, lambda v: Variable(start=v, fixed=True)),
            "x": self._declare_all("x", x, lambda v: Variable(start=v)),
            "p": self._declare_all("p", p, Parameter),
        }
        self.names = tuple((k, tuple(v)) for k, v in self._names.items())
        every = [name for names in self._names.values() for name in names]
        twice = next((name for k, name in enumerate(every) if name in every[:k]), None)
        if twice is not None:
            where = " and ".join(f"`{k}`" for k, names in self._names.items() if twice in names)
            raise UsageError(
                f"`{twice}` is among {where}: a name stands for one quantity.", remedy="Give one of them another name."
            )

    def _declare_all(self, what: str, given: Quantities, make: Callable[[Any], Declaration]) -> list[str]:
        check_quantities(what, given)
        items = given.items() if isinstance(given, Mapping) else ((f"{what}{k + 1}", v) for k, v in enumerate(given))
        names = []
        for name, value in items:
            self._declare(name, value if isinstance(value, Declaration) else make(value))
            names.append(name)
        return names

    def _group(self, what: str) -> Group:
        return Group(what, {name: self._reference(name) for name in self._names[what]})

    def equations(self) -> Iterator[Any]:
        y = self._group("y")
        given = {"t": Time(), "y": y, "x": self._group("x"), "p": self._group("p")}
        given["dy"] = Group("dy", {name: der(value) for name, value in y._values.items()})
        wanted = list(inspect.signature(self._residuals).parameters)
        unknown = [name for name in wanted if name not in given]
        if unknown:
            raise UsageError(
                f"`{self._residuals.__name__}` takes {', '.join(wanted)}; a plain model is a function of t, dy, y, x and p."
            )
        code = self._residuals.__code__
        place = Location(code.co_filename, code.co_firstlineno)
        for k, residual in enumerate(self._residuals(**{name: given[name] for name in wanted})):
            if isinstance(residual, (Equation, When, Assertion, Crossing, AfterStep)):
                yield residual  # an equation, or what happens at an event
            else:
                yield Equation(
                    as_expression(residual), as_expression(0.0), place, f"residual {k + 1} of {self._residuals.__name__}"
                )


@checked
def plain(residuals: Callable[..., Iterable[Any]], *, y: Quantities, x: Quantities = (), p: Quantities = ()) -> PlainModel:
    """A model without components: a function of `t, dy, y, x, p` (those it needs) that gives residuals or equations.

    `y` are the differential variables with their start values, `x` the algebraic ones with guesses, `p` the parameters; each a
    dictionary (name → number or declaration) or a sequence (then they are named y1, y2, …).

        def decay(dy, y, p):
            yield dy.n + p.rate * y.n

        model = ac.compile(ac.plain(decay, y={"n": 1.0}, p={"rate": 0.5}))

    Events are said as in `Component.events`; what is discrete is declared so among `x` or `p`:

        def ball(dy, y, p):
            yield dy.h - y.v
            yield dy.v + p.g
            yield ac.when(y.h <= 0.0, ac.reinit(y.v, -0.8 * ac.pre(y.v)), ac.assign(p.bounces, ac.pre(p.bounces) + 1))

        model = ac.compile(ac.plain(ball, y={"h": 1.0, "v": 0.0}, p={"g": 9.81, "bounces": ac.Integer(0)}))
    """
    return PlainModel(residuals, y, x, p)
