"""Declarations: what a component class says it has. They stand in the class body (or are assigned in `__init__`)."""

from __future__ import annotations

from operator import index
from os.path import dirname, realpath
from types import EllipsisType
from typing import TYPE_CHECKING, Any

from ..arguments import checked, is_one_of
from ..errors import Location, UsageError, shown
from .expression import Arithmetic, Expression, Shape, Unbound

if TYPE_CHECKING:
    from .distributions import Distribution

ATTRIBUTES = ("value", "start", "fixed", "nominal", "min", "max", "unit", "doc", "state", "distribution")
_OWN_FILES = dirname(realpath(__file__))
HISTORY = "history"  # what the cells of the histories of delays are called; the run fills them in
PASSED = "passed"  # and those of the marks: which break of its history each delay passed last
LONG_BEFORE = -1e300  # the mark while the history before the start is read
STATE_CHOICES = ("always", "prefer", "default", "avoid", "never")


def as_shape(shape: int | Shape | list[int]) -> Shape:
    try:
        found = tuple(index(n) for n in (shape if isinstance(shape, (tuple, list)) else (shape,)))
    except TypeError:
        found = (-1,)
    if any(n < 0 for n in found):
        raise UsageError(
            f"A shape is a whole number or a tuple of whole numbers, got {shown(shape)} of type {type(shape).__name__}."
        )
    return found


def _shape_of(numbers: Any) -> Shape:
    """That of an array of numbers, which need not be said twice; anything else is one number."""
    if not isinstance(numbers, (list, tuple)) and not hasattr(numbers, "__array_interface__"):
        return ()
    import numpy as np

    try:
        found = np.asarray(numbers)
    except ValueError:  # rows of different lengths
        return ()
    return found.shape if found.dtype.kind in "biuf" else ()


class Declaration(Arithmetic):
    """Base of everything declared. `role` says what part it plays in the equations."""

    role: str = "variable"  # "variable", "input", "parameter" or "discrete"
    flow: bool = False
    auxiliary: bool = False  # made by the translation, not by the user
    location: Location | None  # where it was declared
    declared_in: str = ""  # the class, once a translation has read it
    place: str = ""  # the class in whose body it stands, and its name there
    stream: str = ""  # of a part of a stream: "outflow" or "inflow"; "outer" of what is seen of a component around
    with_: str = ""  # of a part of a stream: the flow of its connector that carries it
    distribution: Distribution | None = None  # of a parameter: how likely which values are
    instead_of: str = ""  # of a parameter or an input: the one whose place it takes when it is given

    def __init__(
        self,
        *,
        unit: str = "",
        doc: str = "",
        shape: int | Shape | EllipsisType = ...,
        min: Any = None,
        max: Any = None,
        nominal: Any = None,
        start: Any = None,
        fixed: Any = False,
        value: Any = None,
        state: str = "default",
        group: str = "",
    ) -> None:
        if not isinstance(unit, str):
            raise UsageError(f"A unit is a string such as 'K' or 'kg/s', got {unit!r} of type {type(unit).__name__}.")
        if not is_one_of(state, STATE_CHOICES):
            raise UsageError(f"`state` is one of {', '.join(STATE_CHOICES)}; got {state!r}.")
        self.name = ""
        self.location = Location.of_caller(_OWN_FILES)
        self.unit, self.doc = unit, doc
        self.shape = _shape_of(value if start is None else start) if isinstance(shape, EllipsisType) else as_shape(shape)
        self.min, self.max, self.nominal = min, max, nominal
        self.start, self.fixed, self.value, self.state = start, fixed, value, state
        self.group = group

    @property
    def is_known(self) -> bool:
        """Whether it is a cell of the known part of the workspace, not an unknown."""
        return self.role in ("parameter", "discrete")

    def __set_name__(self, owner: type, name: str) -> None:
        if not self.place:  # else it stands in two places, and the second gets a copy
            self.name, self.place = name, f"{owner.__module__}.{owner.__qualname__}.{name}"

    def __get__(self, component: Any, owner: type) -> Any:
        if component is None:
            return self
        if component._class_alternatives and component._find(self.name) is None:
            return None  # another quantity is given instead
        return component._reference(self.name)

    def view_of(self, reference: Any) -> Any:
        """What a component gives for it: the reference itself, or something that knows more of it."""
        return reference

    def __acausal_expression__(self) -> Expression:
        return Unbound(self)

    def __deepcopy__(self, memo: Any) -> Declaration:
        return self  # belongs to the class; what is copied is a component that refers to it

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name or '?'}{f' in {self.unit}' if self.unit else ''}>"


class Variable(Declaration):
    """An unknown of the component: `T = ac.Variable(start=293.15, unit="K")`.

    Everyday arguments: `start`, `unit`, `doc`, `shape`. The rest: `fixed` (the start value holds at the start), `nominal`
    (typical size; scales tolerances and iterations), `min` and `max` (bounds), `state` (preference for state selection), `group`
    (a heading under which forms show it).
    """


class Output(Variable):
    """A signal that a block computes; connects to an `Input`."""


class Input(Declaration):
    """A signal from elsewhere: connected by the surrounding component, or given when simulating.

    `value` is what it is when nothing else is said. `simulate(inputs={"T_amb": …})` takes a number, a function of time or a
    table of measured data. `instead_of="h"` makes it an alternative: a component that is given it has no `h`, any other has no
    such input (there it is None).
    """

    role = "input"

    def __init__(self, value: Any = 0.0, *, instead_of: str = "", **attributes: Any) -> None:
        super().__init__(value=value, **attributes)
        self.instead_of = instead_of


class Parameter(Declaration):
    """A quantity that is constant during a run: `C = ac.Parameter(1e-6, unit="F", min=0, doc="capacitance")`.

    The value may be an expression of other parameters (`ac.Parameter(1 / R)`). Without a value it must be given. `distribution`
    says how uncertain it is, for studies that draw it: `ac.Parameter(50.0, unit="W/K", distribution=ac.uniform(40.0, 60.0))`.
    `instead_of="h_start"` makes it an alternative, as of `ac.Input`.
    """

    role = "parameter"

    def __init__(
        self, value: Any = None, *, distribution: Distribution | None = None, instead_of: str = "", **attributes: Any
    ) -> None:
        super().__init__(value=value, **attributes)
        self.instead_of = instead_of
        if distribution is not None:
            self.distribution = _distribution(distribution)


class Constant(Parameter):
    """A parameter that nobody may change."""


class Discrete(Declaration):
    """A quantity that is constant between events: `n = ac.Discrete(start=0.0)`. `ac.when` and `ac.assign` change it.

    Everyday arguments: `start`, `unit`, `doc`, `shape`.
    """

    role = "discrete"
    type = "real"  # "real", "integer", "boolean" or "states"
    states: tuple[str, ...] = ()  # names of the values 0, 1, …; of "states" only
    carried = False  # of an auxiliary one: whether a run that starts from another one takes it over

    def __init__(self, start: Any = 0.0, **attributes: Any) -> None:
        super().__init__(value=start, **attributes)


class Integer(Discrete):
    """A whole number that changes at events only: `count = ac.Integer(start=0)`."""

    type = "integer"

    def __init__(self, start: Any = 0, **attributes: Any) -> None:
        super().__init__(_of_type(self, start), **attributes)


class Boolean(Discrete):
    """True or false, changing at events only: `on = ac.Boolean(start=False)`."""

    type = "boolean"

    def __init__(self, start: Any = False, **attributes: Any) -> None:
        super().__init__(_of_type(self, start), **attributes)


def _distribution(given: Any) -> Distribution:
    from .distributions import Distribution

    if not isinstance(given, Distribution):
        raise UsageError(
            f"A distribution is made by `ac.uniform`, `ac.normal` and the like; got {given!r} of type {type(given).__name__}.",
            remedy="distribution=ac.uniform(40.0, 60.0)",
        )
    return given


def _of_type(declaration: Discrete, value: Any) -> Any:
    from .misuse import typed

    wrong = typed(declaration, value)
    if wrong:
        raise UsageError(
            f"`ac.{type(declaration).__name__}` cannot be {value!r}: {wrong}.",
            remedy="Declare it with `ac.Discrete` to let it have any value.",
        )
    return value


class Potential(Declaration):
    """A connector variable that is equal at connected connectors: pressure, temperature, voltage."""


class Flow(Declaration):
    """A connector variable that sums to zero at a connection: mass flow, heat flow, current. Positive into the component."""

    flow = True


class Stream(Declaration):
    """A connector variable that a flow carries: the specific enthalpy or the composition of what passes.

        class FluidPort(ac.Connector):
            p = ac.Potential(unit="Pa")
            m_flow = ac.Flow(unit="kg/s")
            h = ac.Stream(with_="m_flow", unit="J/kg")

    A component states what would leave it, `port.h.outflow == …`, whichever way the flow goes; it reads what would enter,
    `port.h.inflow`, or what passes, `port.h.actual`. Where two connectors meet, what enters one is what would leave the other;
    where more meet, what flows out of the others is mixed, in proportion to the flows. `shape` is for a composition.
    """

    def __init__(self, *, with_: str, **attributes: Any) -> None:
        super().__init__(**attributes)
        if not isinstance(with_, str):
            raise UsageError(f"`with_` is the name of the flow that carries it, such as 'm_flow', got {with_!r}.")
        self.with_ = with_

    def part(self, which: str) -> Declaration:
        """What leaves, or what enters, as a variable of its own."""
        new = Declaration()
        new.__dict__.update(self.__dict__)
        new.stream = which
        return new


class Modification(dict[str, Any]):
    """Attributes of a declaration, changed for one instance."""


@checked
def start(value: Any, *, fixed: bool | None = None, **attributes: Any) -> Modification:
    """Another start value for one instance: `Capacitor(v=ac.start(1.0, fixed=True))`."""
    given = {"start": value, **attributes}
    if fixed is not None:
        given["fixed"] = fixed
    return modify(**given)


def modify(**attributes: Any) -> Modification:
    """Other attributes for one instance: `Room(T=ac.modify(nominal=300, min=250, doc="air temperature"))`."""
    for name in attributes:
        if name not in ATTRIBUTES:
            from ..errors import near_matches

            raise UsageError(f"`{name}` is not an attribute of a variable or parameter. {near_matches(name, ATTRIBUTES)}")
    if not isinstance(attributes.get("unit", ""), str):
        raise UsageError(f"A unit is a string such as 'K' or 'kg/s', got {attributes['unit']!r}.")
    if "distribution" in attributes:
        _distribution(attributes["distribution"])
    return Modification(attributes)


_NOT_OF = {
    "variable": ("value",),
    "parameter": ("start", "fixed", "state"),
    "input": ("start", "fixed", "state"),
    "discrete": ("state",),
}


def check_attributes(name: str, declaration: Declaration, given: Modification) -> None:
    """Attributes that a quantity of this sort does not have would change nothing."""
    wrong = next((a for a in given if a in _NOT_OF.get(declaration.role, ())), None)
    if wrong is None:
        return
    sort = {"variable": "an unknown", "parameter": "a parameter", "input": "an input"}.get(declaration.role, "a discrete variable")
    remedy = "A parameter or an input has a value: give the number itself, or `ac.modify(value=…)`."
    if wrong == "value":
        remedy = "`ac.start(…)` sets where it starts; add an equation to prescribe it."
    if wrong == "state":
        remedy = "Which quantities are integrated is said of variables."
    raise UsageError(f"`{name}` is {sort}, which has no `{wrong}`.", remedy=remedy)


def in_declared_unit(name: str, declared: str, given: Modification) -> Modification:
    """Numbers that came with a unit of their own, in the unit of the declaration: equations are written for that one."""
    unit = given.get("unit")
    if unit is None or unit == declared or not declared:
        return given
    from .differences import refuse_level
    from .units import compatible, convert

    if not compatible(unit, declared):
        raise UsageError(
            f"`{name}` is declared in {declared}; it cannot be given in {unit}.",
            remedy="A unit in `ac.modify` is that of the numbers beside it, and must be of the same dimension.",
        )
    zero = convert(0.0, unit, declared)
    found = {}
    for attribute, value in given.items():
        if attribute in ("value", "start", "min", "max") and _is_numeric(value):
            refuse_level(name, value, declared, unit)
            found[attribute] = convert(value, unit, declared)
        elif attribute == "nominal" and _is_numeric(value):
            found[attribute] = convert(value, unit, declared) - zero  # a size, not a level
        elif attribute != "unit":
            found[attribute] = value
    return Modification(found)


def _is_numeric(value: Any) -> bool:
    return not isinstance(value, (str, bool, Arithmetic)) and value is not None


class Named:
    """An intermediate expression with a unit and a documentation, made by `ac.named`."""

    def __init__(self, expression: Expression, unit: str, doc: str) -> None:
        self.expression, self.unit, self.doc = expression, unit, doc

    def __acausal_expression__(self) -> Expression:
        return self.expression


@checked
def named(expression: Any, *, unit: str = "", doc: str = "") -> Any:
    """Give an intermediate expression a unit and a documentation: `self.Q_loss = ac.named(self.G * dT, unit="W")`.

    Any expression assigned to an attribute of the component can be plotted; this adds what a plot's axis shows.
    """
    from .expression import as_expression

    return Named(as_expression(expression), unit, doc)
