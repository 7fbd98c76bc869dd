"""A model whose right-hand side is in a compiled library: `dy/dt = f(t, y, p)` in C or Fortran, called by its address."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from os.path import dirname
from typing import Any

from ..errors import Location, UsageError
from .derivative import der
from .equation import Equation
from .events import placed, reinit, terminate, when
from .expression import Call, Expression, as_expression
from .external import TYPICAL
from .plain import PlainModel, Quantities, check_quantities
from .several import NativeSeveral, Part

_HERE = dirname(__file__)
Event = Any  # a function, or (function, reset)


class _RightHandSide(NativeSeveral):
    """`void f(double t, const double* y, const double* p, double* results)`; another such may write its derivatives by `y`."""

    jacobian: NativeSeveral | None = None

    def _beside(self) -> dict[str, Any]:
        return {"jacobian": self.jacobian}

    def part(self, result: int, by: tuple[int, ...] = ()) -> Part:
        parts: dict[tuple[int, tuple[int, ...]], Part] = self.__dict__.setdefault("_parts", {})
        return parts.setdefault((result, by), _Slope(self, result, by))


class _Slope(Part):
    def partial(self, k: int, args: tuple[Expression, ...]) -> Expression:
        several = self.several
        states = len(several.results)
        if isinstance(several, _RightHandSide) and several.jacobian is not None and 1 <= k <= states:
            return Call(several.jacobian.part(states * (k - 1) + self.result), args)
        return super().partial(k, args)


def foreign(
    rhs: Any,
    *,
    y: Quantities,
    p: Quantities = (),
    jacobian: Any = None,
    events: Mapping[str, Event] | None = None,
    by_reference: bool = False,
    typical: float = TYPICAL,
) -> PlainModel:
    """A model of a right-hand side in a compiled library; equations call it by its address, and no Python runs in between.

    rhs: `void rhs(double t, const double* y, const double* p, double* dy)` in C; a ctypes function, an address, or (library path,
        symbol). Without `p` it is `rhs(t, y, dy)`.
    y: the states with their start values, p: the parameters; each a dictionary (name → number or declaration) or a sequence.
    jacobian: `jacobian(t, y, p, J)`, which writes the derivatives of all `dy` by the first state, then by the second, …; without
        it, central differences are used.
    events: for each name a function `g(t, y, p, out)` that writes one number, and what happens when it falls to zero: a function
        `reset(t, y, p, y_new)` beside it, `{"bounce": (height, rebound)}`, or the end of the run if there is none.
    by_reference: everything is a pointer, as in Fortran: `subroutine rhs(t, y, p, dy)`.
    typical: the size below which a state counts as small, for differences.

        library = ctypes.CDLL("./decay.so")
        model = ac.compile(ac.foreign(library.rhs, y={"n": 1.0}, p={"rate": 0.5}))

    `docs/guide.md` has whole examples in C and Fortran.
    """
    if events is not None and not isinstance(events, Mapping):
        raise UsageError(
            f"`events` takes functions of the library by name, got {events!r} of type {type(events).__name__}.",
            remedy='events={"bounce": (library.height, library.rebound)}',
        )
    call = _Caller(_names("y", y), _names("p", p), by_reference, typical)
    function = call.made(rhs, call.states, _RightHandSide)
    if jacobian is not None:
        entries = [f"{dy}_by_{state}" for state in call.states for dy in call.states]
        function.jacobian = call.made(jacobian, entries)
    happens = [_Event(name, call, given) for name, given in (events or {}).items()]
    return PlainModel(_residuals(function, happens, Location.of_caller(_HERE)), y, (), p)


class _Caller:
    """How the functions of a library are called: all of them in one way."""

    def __init__(self, states: Sequence[str], parameters: Sequence[str], by_reference: bool, typical: float) -> None:
        self.states, self.parameters, self.typical = list(states), list(parameters), typical
        if not self.states:
            raise UsageError("A right-hand side needs at least one state.", remedy='Give them with start values: `y={"n": 1.0}`.')
        pointers = ["a1", *([f"a{1 + len(self.states)}"] if self.parameters else []), "r0"]
        if not isinstance(by_reference, bool | int):
            raise UsageError(f"`by_reference` is True or False, got {by_reference!r}.")
        self.passing = ("a0" if by_reference else "v0", *pointers)

    def made(self, pointer: Any, results: Sequence[str], kind: Any = NativeSeveral) -> Any:
        declared = {"name": None, "arguments": ("t", *self.states, *self.parameters), "results": results}
        return kind(pointer, None, self.passing, declared | {"units": None, "limits": None, "order": 0, "typical": self.typical})


class _Event:
    """A condition in a library and what follows from it."""

    def __init__(self, name: str, call: _Caller, given: Event) -> None:
        condition, reset = (
            given if isinstance(given, tuple) and len(given) == 2 and not isinstance(given[0], str) else (given, None)
        )
        self.name, self.condition = name, call.made(condition, [name])
        self.reset = None if reset is None else call.made(reset, [f"{state}_after" for state in call.states])

    def said(self, arguments: Sequence[Expression], states: Sequence[Expression]) -> Any:
        (value,) = self.condition(*arguments)
        if self.reset is None:
            return when(value <= 0.0, terminate(f"`{self.name}` of the library fell to zero"))
        return when(value <= 0.0, *(reinit(s, after) for s, after in zip(states, self.reset(*arguments), strict=True)))


def _residuals(function: Any, events: Sequence[_Event], place: Location) -> Callable[..., Iterator[Any]]:
    def residuals(t: Any, y: Any, p: Any) -> Iterator[Any]:
        arguments, states = (t, *y, *p), list(y)
        for name, state, slope in zip(function.results, states, function(*arguments), strict=True):
            yield Equation(as_expression(der(state)), as_expression(slope), place, f"d{name}/dt of {function.name}")
        for event in events:
            yield placed(event.said(arguments, states), place)

    return residuals


def _names(what: str, given: Quantities) -> list[str]:
    check_quantities(what, given)
    return list(given) if isinstance(given, Mapping) else [f"{what}{k + 1}" for k in range(len(given))]
