"""What a component says about events: `when`, `reinit`, `assign`, `terminate`, `assert_`, `crossing`, `after_step`.

Statements are data; what they mean is in `families/hybrid.py` and `runtime/events/`. A discrete variable is constant between
events. At an event the statements are evaluated again and again until nothing changes any more; `pre(x)` is the value before.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, Literal, TypeVar

import numpy as np

from ..arguments import is_one_of
from ..errors import Location, UsageError
from ..records import dataclass
from .conditions import as_condition
from .equation import Equation
from .expression import Constant, Expression, Mark, Operation, Reference, Unbound, apply, as_expression
from .operators import NO_EVENT, PRE, SAMPLE
from .types import type_of

Direction = Literal["both", "rising", "falling"]
DIRECTIONS = ("both", "rising", "falling")


# --- expressions ----------------------------------------------------------------------------------------------------------
def pre(value: Any) -> Expression:
    """The value just before the event: `ac.assign(self.n, ac.pre(self.n) + 1)`. Between events it is the value itself."""
    return Operation(PRE, (as_expression(value),))


def edge(condition: Any) -> Expression:
    """Whether a condition has just become true: `c & ~ac.pre(c)`."""
    node = as_expression(condition)
    return node & ~pre(node)


def change(value: Any) -> Expression:
    """Whether a discrete variable or a condition has just changed."""
    node = as_expression(value)
    return ~apply("eq", node, pre(node))


def initial() -> Expression:
    """True at the start of a run, false ever after: `ac.when(ac.initial(), …)`."""
    return Mark("initial")


def sample(start: Any, period: Any) -> Expression:
    """True at the instants `start`, `start + period`, …, which are hit exactly: `ac.when(ac.sample(0.0, 0.1), …)`.

    All clocks of a model share a base clock, so that ticks which ought to coincide do.
    """
    return Operation(SAMPLE, (as_expression(start), as_expression(period)))


def no_event(value: Any) -> Expression:
    """The expression evaluated as it is written, also within a step: its relations, `min`, `max`, `abs` … make no events.

    For what is continuous where it switches, or so flat that it does not matter. A jump without an event costs many steps.
    """
    return Operation(NO_EVENT, (as_expression(value),))


def smooth(value: Any) -> Expression:
    """An expression whose branches meet smoothly where it switches (with equal values and slopes): no event is needed."""
    return no_event(value)


# --- statements -----------------------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True, eq=False)
class Assign:
    """A discrete variable gets a value."""

    target: Reference
    value: Expression
    location: Location


@dataclass(frozen=True, slots=True, eq=False)
class Reinit:
    """A state jumps to a value."""

    target: Reference
    value: Expression
    location: Location


@dataclass(frozen=True, slots=True, eq=False)
class Terminate:
    """The run ends here, as it should."""

    message: str
    location: Location


Action = Assign | Reinit | Terminate


@dataclass(frozen=True, slots=True, eq=False)
class When:
    """Actions that are taken at the moment in which a condition becomes true; of several branches, the first that does."""

    branches: tuple[tuple[Expression, tuple[Action, ...]], ...]
    location: Location

    def elsewhen(self, condition: Any, *actions: Action) -> When:
        """Other actions for when another condition becomes true, and not (at the same instant) one before it."""
        longer = replace(self, branches=(*self.branches, _branch(condition, actions)))
        return _stated.exchange(self, longer)


def placed(event: When, location: Location) -> When:
    """The same event, stated for somebody who stands elsewhere."""
    return _stated.exchange(event, replace(event, location=location))


@dataclass(frozen=True, slots=True, eq=False)
class Assertion:
    """A condition that must hold all the time, or must not fail to for as long as `lasting`."""

    condition: Expression
    message: str
    level: str
    location: Location
    lasting: Expression | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Crossing:
    """An event wherever an expression passes zero, for discontinuities hidden in functions (IDA Solver, section 4.8)."""

    expression: Expression
    direction: Direction
    kind: str
    location: Location


@dataclass(frozen=True, slots=True, eq=False)
class AfterStep:
    """Assignments made after each accepted step, and only then (IDA Solver, section 4.3)."""

    actions: tuple[Assign, ...]
    location: Location


@dataclass(frozen=True, slots=True, eq=False)
class During:
    """Equations that hold while a state lasts."""

    state: Any  # a StateView or a condition
    equations: tuple[Any, ...]
    location: Location


Statement = When | Assertion | Crossing | AfterStep | During
S = TypeVar("S", bound=Statement)


class _Stated(threading.local):
    """Statements made while a component is asked for them: one that it makes but does not yield was forgotten."""

    def __init__(self) -> None:
        self.made: list[Statement] = []

    def add(self, statement: S) -> S:
        self.made.append(statement)
        return statement

    def exchange(self, old: Statement, new: S) -> S:
        self.made = [s for s in self.made if s is not old]
        return self.add(new)

    def since(self, yielded: Iterable[object]) -> list[Statement]:
        """Those that were made since the last time, without those that were yielded."""
        used = {id(y) for y in yielded}
        forgotten, self.made = [s for s in self.made if id(s) not in used], []
        return forgotten


_stated = _Stated()
forgotten = _stated.since


def expressions(statement: Statement) -> Iterator[tuple[Expression, Location]]:
    """Everything a statement is about, with its place."""
    if isinstance(statement, When):
        for condition, actions in statement.branches:
            yield condition, statement.location
            yield from (part for action in actions for part in _of_action(action))
    elif isinstance(statement, AfterStep):
        yield from (part for action in statement.actions for part in _of_action(action))
    elif isinstance(statement, During):
        yield as_expression(statement.state), statement.location
        for equation in statement.equations:
            if isinstance(equation, Equation):
                yield equation.residual, equation.location or statement.location
    else:
        yield statement.condition if isinstance(statement, Assertion) else statement.expression, statement.location


def _of_action(action: Action) -> Iterator[tuple[Expression, Location]]:
    if not isinstance(action, Terminate):
        yield action.target, action.location
        yield action.value, action.location


def _here() -> Location:
    return Location.of_frame(sys._getframe(2))


def when(condition: Any, *actions: Action) -> When:
    """What happens at the moment a condition becomes true.

    yield ac.when(self.h <= 0, ac.reinit(self.v, -self.e * ac.pre(self.v)))

    Actions: `ac.assign`, `ac.reinit`, `ac.terminate`. `.elsewhen(condition, …)` adds further branches.

    At the start of a run `ac.initial()` and clocks that tick then act, and the first stored row has what they leave; a condition
    that holds from the start has not *become* true.
    """
    return _stated.add(When((_branch(condition, actions),), _here()))


def _branch(condition: Any, actions: tuple[Any, ...]) -> tuple[Expression, tuple[Action, ...]]:
    node = as_condition(condition)
    if isinstance(node, Constant) and np.all(node.value):
        raise UsageError(
            "A condition that is always true never becomes true, so that nothing would ever be done.",
            remedy="`ac.initial()` is true at the start of a run. If two numbers were compared, one side must be a variable.",
        )
    if not actions:
        raise UsageError(
            "`ac.when` needs something to do.",
            remedy="Give it actions: `ac.assign(self.n, …)`, `ac.reinit(self.x, …)` or `ac.terminate(…)`.",
        )
    for action in actions:
        if not isinstance(action, (Assign, Reinit, Terminate)):
            what = f"the equation `{action}`" if isinstance(action, Equation) else f"{action!r} of type {type(action).__name__}"
            what = "a list of them" if isinstance(action, (list, tuple)) else what
            raise UsageError(
                f"`ac.when` takes actions, got {what}.",
                remedy="Several are separated by commas: `ac.assign(self.n, value)` for a discrete variable, "
                "`ac.reinit(self.x, value)` for a state.",
            )
    return node, actions


def _bound(node: Expression, location: Location) -> None:
    if isinstance(node, Unbound):
        raise UsageError(f"`{node}` is used without `self.`.", location=location, remedy=f"Write `self.{node}`.")


def assign(target: Any, value: Any) -> Assign:
    """Give a discrete variable a value, within `ac.when` or `ac.after_step`: `ac.assign(self.n, ac.pre(self.n) + 1)`."""
    node = as_expression(target)
    _bound(node, _here())
    if not isinstance(node, Reference) or node.declaration.role != "discrete" or node.order:
        raise UsageError(
            f"`ac.assign` changes a discrete variable; `{node}` is none.",
            location=_here(),
            remedy="Declare it with `ac.Discrete`, `ac.Integer` or `ac.Boolean`; a state is set with `ac.reinit`.",
        )
    if isinstance(value, str) and node.declaration.states:
        value = node.declaration.number_of(value)
    given = as_expression(value)
    check_type(node, given, _here())
    return Assign(node, given, _here())


def check_type(target: Reference, value: Expression, location: Location | None) -> None:
    """Whole numbers and truths get nothing else: a value of which that is not certain is refused."""
    kind = getattr(target.declaration, "type", "real")
    if kind not in ("integer", "boolean"):
        return
    found = type_of(value)
    if found == kind or found == "boolean":
        return
    what = "a whole number" if kind == "integer" else "true or false"
    if isinstance(value, Constant):
        exact = repr(value.value).removesuffix(".0")
        said, remedy = f"it cannot be {exact}", "Declare it with `ac.Discrete` to let it have any value."
    else:
        said = f"and `{value}` need not be"
        remedy = "Round it down with `ac.floor(…)`" if kind == "integer" else "Compare it with something, `… > 0`"
        remedy += ", or declare the quantity with `ac.Discrete` to let it have any value."
    raise UsageError(f"`{target}` is {what}, {said}.", location=location, remedy=remedy)


def reinit(target: Any, value: Any) -> Reinit:
    """Let a state jump, within `ac.when`: `ac.reinit(self.v, -self.e * ac.pre(self.v))`."""
    node = as_expression(target)
    _bound(node, _here())
    if not isinstance(node, Reference) or node.declaration.is_known or node.order:
        raise UsageError(
            f"`ac.reinit` sets a state, a variable whose derivative is in the equations; `{node}` is none.",
            location=_here(),
            remedy="A discrete variable is changed with `ac.assign`; a parameter cannot change during a run.",
        )
    return Reinit(node, as_expression(value), _here())


def terminate(message: str) -> Terminate:
    """End the run, within `ac.when`, with a message for whoever reads the result."""
    return Terminate(str(message), _here())


def assert_(condition: Any, message: str, level: Literal["error", "warning"] = "error", *, lasting: Any = None) -> Assertion:
    """A condition that must hold: the run stops where it does not ("error"), or goes on and says so ("warning").

    `lasting`: seconds for which it has to fail without a break before that counts, a number or a parameter; what fails while a
    plant starts is then passed over.
    """
    if not is_one_of(level, ("error", "warning")):
        raise UsageError(
            f'`level` of `ac.assert_` is "error" or "warning", got {level!r}.',
            remedy='An "error" ends the run where the condition does not hold, a "warning" is told when it is over.',
        )
    checked, place = as_condition(condition), _here()
    return _stated.add(Assertion(checked, str(message), level, place, _duration(lasting, checked.shape, place)))


def _duration(lasting: Any, shape: tuple[int, ...], place: Location) -> Expression | None:
    if lasting is None:
        return None
    node = None if isinstance(lasting, str) else as_expression(lasting)
    if node is None or node.shape not in ((), shape) or (isinstance(node, Constant) and not node.value >= 0):
        raise UsageError(
            f"`lasting` of `ac.assert_` is a time in seconds, a number that is not negative or a parameter, got {lasting!r}.",
            location=place,
            remedy='`ac.assert_(condition, text, level="warning", lasting=10.0)`; a parameter may be given with a unit.',
        )
    return node


def crossing(expression: Any, direction: Direction = "both", kind: Literal["knee", "jump"] = "knee") -> Crossing:
    """An event where an expression passes zero, for a function with a hidden discontinuity.

    `direction`: "rising", "falling" or "both". `kind`: a "knee" bends the solution, a "jump" makes it discontinuous.
    """
    if not is_one_of(direction, DIRECTIONS):
        raise UsageError(
            f"`direction` of `ac.crossing` is one of {', '.join(DIRECTIONS)}; got {direction!r}.",
            remedy='"rising" is from negative to positive values, "both" either way.',
        )
    if not is_one_of(kind, ("knee", "jump")):
        raise UsageError(
            f'`kind` of `ac.crossing` is "knee" or "jump", got {kind!r}.',
            remedy='A "knee" bends the solution, a "jump" makes it discontinuous.',
        )
    return _stated.add(Crossing(as_expression(expression), direction, kind, _here()))


def after_step(*actions: Assign) -> AfterStep:
    """Assignments made after each accepted step of the integration: `ac.after_step(ac.assign(self.steps, self.steps + 1))`."""
    wrong = [a for a in actions if not isinstance(a, Assign)]
    if wrong or not actions:
        got = f"got {type(wrong[0]).__name__}" if wrong else "got nothing"
        raise UsageError(
            f"`ac.after_step` takes `ac.assign(…)`, one or more; {got}.",
            remedy="A state cannot jump after every step; `ac.when(…, ac.reinit(…))` lets it jump at an event.",
        )
    return _stated.add(AfterStep(actions, _here()))


def during(state: Any, *equations: Any) -> During:
    """Equations that hold while a state lasts: `yield ac.during(self.mode.stuck, self.w == 0)`.

    Each state of a component brings its own; a variable that stands in no equation which holds in some state rests meanwhile.
    """
    if isinstance(state, str):
        raise UsageError(
            f"`ac.during` takes a state, got the text {state!r}.",
            location=_here(),
            remedy=f"Name the state variable as well: `self.mode.{state}`.",
        )
    return _stated.add(During(as_condition(state), equations, _here()))
