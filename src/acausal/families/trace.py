"""Tracing: run a kind's `equations`, `initial_equations` and `connections` once, on one representative, and keep what they say."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import Diagnostic, Location, ModelError, an, shown
from ..language.component import Component, View
from ..language.connector import Connector, ConnectorView
from ..language.equation import Equation
from ..language.events import (
    AfterStep,
    Assertion,
    Assign,
    Crossing,
    During,
    Reinit,
    Terminate,
    When,
    check_type,
    expressions,
    forgotten,
)
from ..language.expression import (
    Expression,
    Reference,
    Time,
    Unbound,
    as_expression,
    leaves,
)
from ..language.independent import independents
from ..language.reading import State, undone
from ..language.states import StateView, Transition
from ..language.table_sets import Chosen, TableSet
from .census import Census, promoted_parameter
from .plant import Kind, Plant
from .roots import Roots
from .slips import equation_without_yield, methods_of
from .traced import Traced, TracedConnection, TracedEquation, TracedGuess

if TYPE_CHECKING:
    pass

STATEMENTS = (When, Assertion, Crossing, AfterStep, During)
ACTIONS = (Assign, Reinit, Terminate)
WORDS = {When: "when", Assertion: "assert_", Crossing: "crossing", AfterStep: "after_step", During: "during"}
_OWN_FILES = str(Path(__file__).resolve().parent.parent)


def trace(kind: Kind, census: Census) -> Traced:
    """Run the representative's methods; every complaint names class, method and line. What they did to components is undone."""
    component = census.representatives[kind.index]
    with undone(component, census.named_by) as changed:
        stand_in(component, kind.promoted, census.tables.get(kind.index, {}))
        prepared = State(component)
        found = stated(kind, component)
        _refuse_changes(component, {**changed, id(component): prepared})
        before = prepared.attributes
        named = {n: v for n, v in component.__dict__.items() if isinstance(v, Expression) and n not in kind.promoted}
        kind.units_of_named = dict(component._ac_named or {})
    kind.stated = tuple(name for name, value in named.items() if before.get(name) is not value)
    for one in independents(type(component)):
        kind.units_of_named[one.name], named[one.name] = (one.unit, one.doc), Time()
    census.named.append(named)
    roots = Roots(census, kind)
    kind.named = {name: roots.moved(value) for name, value in named.items()}
    found = _as_data(found, roots)
    found.equations += [TracedEquation(r, r.shape, text, None) for r, text in roots.equations]
    found.assigned += roots.assigned
    found.statements += roots.statements
    return found


def find_independent(kind: Kind, census: Census) -> None:
    """What a class says the independent variable is; a model has one. All kinds are asked before any states its equations."""
    for one in independents(type(census.representatives[kind.index])):
        found, before = (one.name, one.unit, one.doc or one.name), census.plant.independent
        if before != Plant.independent and before[:2] != found[:2]:
            raise ModelError(
                f"The model has two independent variables: `{before[0]}` in {before[1]}, and "
                f"`{one.name}` in {one.unit} of {kind.name}.",
                component=kind.name,
                remedy="Declare one `ac.Independent`, in the component that is compiled.",
            )
        census.plant.independent = found


def stand_in(component: Component, names: Iterable[str], tables: Mapping[str, Sequence[Any]]) -> None:
    """Let equations see parameters where the component has plain numbers, and the tables that they choose where it has tables."""
    for name in names:
        component.__dict__.pop(name)
        component._declare(name, promoted_parameter(name, tables.get(name)))
        which = component._reference(name)
        component.__dict__[name] = Chosen(TableSet(tables[name]), which) if name in tables else which


def stated(kind: Kind, component: Component) -> Traced:
    """What the methods yield, about components."""
    forgotten(())
    assigned: list[tuple[Reference, Expression, str, Location | None]] = []
    statements: list[Any] = []
    equations: list[TracedEquation] = []
    for item, where in [*_run(component, "equations"), *_run(component, "events")]:
        if isinstance(item, STATEMENTS):
            _check_statement(item, component)
            statements.append(item)
        elif isinstance(item, Equation) and _is_discrete(item.lhs):
            _check_bound(item, component)
            check_type(item.lhs, item.rhs, item.location or where)  # type: ignore[arg-type]
            assigned.append((item.lhs, item.rhs, str(item), item.location or where))  # type: ignore[arg-type]
        else:
            equations.append(_equation(component, item, where))
    lost = forgotten(statements)
    if lost:
        raise ModelError(*(_not_yielded(component, statement) for statement in lost))
    initial = [_equation(component, item, where) for item, where in _run(component, "initial_equations")]
    transitions = [_transition(component, item, where) for item, where in _run(component, "transitions")]
    guesses = [_guess(component, item, where) for item, where in _run(component, "on_state_change")]
    joined = [_connection(kind, component, item, where) for item, where in _run(component, "connections")]
    connections, of_states = [c for c in joined if not c.of_states], [c for c in joined if c.of_states]
    return Traced(kind, equations, initial, connections, assigned, statements, transitions, guesses, of_states)


def stated_connections(kind: Kind, component: Component) -> Iterator[tuple[tuple[Any, ...], Location | None]]:
    """The ends that `connections` joins, about components."""
    for item, where in _run(component, "connections"):
        yield _connection(kind, component, item, where).ends, where


def _as_data(found: Traced, census: Roots) -> Traced:
    """The same about nodes."""
    moved = census.moved
    for equation in [*found.equations, *found.initial]:
        census.place = equation.location
        equation.residual = moved(equation.residual)
    for connection in [*found.connections, *found.state_connections]:
        connection.ends = tuple(census.moved_end(end) for end in connection.ends)
    for guess in found.guesses:
        guess.target, guess.condition, guess.value = moved(guess.target), moved(guess.condition), moved(guess.value)  # type: ignore[assignment]
    found.assigned = [(moved(target), moved(value), text, where) for target, value, text, where in found.assigned]  # type: ignore[misc]
    found.statements = [_moved(statement, census) for statement in found.statements]
    found.transitions = [_moved(transition, census) for transition in found.transitions]
    return found


def _moved(item: Any, census: Roots) -> Any:
    """A statement with all the expressions in it."""
    if isinstance(item, StateView):
        return StateView(census.moved(item._reference))  # type: ignore[arg-type]
    if isinstance(item, Expression):
        return census.moved(item)
    if isinstance(item, tuple):
        return tuple(_moved(part, census) for part in item)
    if isinstance(item, (Equation, Transition, *STATEMENTS, *ACTIONS)):
        return replace(item, **{f.name: _moved(getattr(item, f.name), census) for f in fields(item)})
    return item


def _refuse_changes(component: Component, changed: dict[int, State]) -> None:
    """Equations run on one of all components that are alike, so that what they change would be changed there only."""
    found = []
    for state in changed.values():
        own, now = state.component, state.component.__dict__
        if own is not component and own._steps_from(component) is None:
            continue  # made on the way
        names = [n for n, m in own._ac_modifications.items() if state.modifications.get(n) is not m]
        names += [n for n, d in (own._ac_declared or {}).items() if (state.declared or {}).get(n) is not d]
        names += [n for n, v in now.items() if isinstance(v, (Component, View)) and state.attributes.get(n) is not v]
        if own is not component:
            names += [n for n, v in now.items() if n not in names and state.attributes.get(n, now) is not v]
        found += [own._path_from(component, name) for name in names]
    if found:
        cls = type(component).__name__
        raise ModelError(
            f"The equations of {cls} change `{found[0]}`: they are stated once for all components that are alike, and what they "
            "set would hold for one of them only.",
            component=cls,
            remedy=f"Set `{found[0]}` in `__init__`; in `equations`, expressions may be named: `self.loss = self.G * self.dT`.",
        )


def _is_discrete(node: Expression) -> bool:
    return isinstance(node, Reference) and node.declaration.role == "discrete" and not node.order


def _run(component: Component, method: str) -> Iterator[tuple[Any, Location | None]]:
    """What a method yields, with the line of each `yield`."""
    function: Callable[[], Iterable[Any]] = getattr(component, method)
    before = dict(component.__dict__)
    try:
        stated: Iterable[Any] | None = function()
        if stated is None:
            named = any(isinstance(v, Expression) and before.get(n) is not v for n, v in component.__dict__.items())
            if named and equation_without_yield(methods_of(type(component), method)) is None:
                return  # it only names what is to be looked at
            raise ModelError(_nothing(component, method, function))
        if not isinstance(stated, Iterable):
            raise ModelError(_returned(component, method, stated))
        iterator = iter(stated)
        while True:
            try:
                item = next(iterator)
            except StopIteration:
                return
            yield item, Location(component._ac_origin, 0) if component._ac_origin else _line_of(iterator)
    except ModelError as error:
        raise _placed(error, component, method) from None
    except Exception as error:
        raise ModelError(_stopped(component, method, error)) from error


def _nothing(component: Component, method: str, function: Any) -> Diagnostic:
    """A method without any `yield`; the first line that looks like an equation is shown."""
    code = getattr(function, "__code__", None)
    place = equation_without_yield(methods_of(type(component), method))
    return Diagnostic(
        f"`{method}` of {type(component).__name__} gives nothing{': its equations are not yielded' if place else ''}.",
        component=type(component).__name__,
        equation=place.source if place else "",
        location=place or (Location(code.co_filename, code.co_firstlineno) if code else None),
        remedy=f"State each equation with `yield`: `yield {place.source}`." if place else "State each equation with `yield`.",
    )


def _returned(component: Component, method: str, given: Any) -> Diagnostic:
    """A method that returns one thing instead of yielding what it states."""
    return Diagnostic(
        f"`{method}` of {type(component).__name__} returns one object of type {type(given).__name__}, where it has to yield.",
        component=type(component).__name__,
        equation=str(given) if isinstance(given, Equation) else "",
        remedy="State each equation, connection or event with `yield` instead of `return`; a list of them may be returned.",
    )


def _stopped(component: Component, method: str, error: Exception) -> Diagnostic:
    """An exception of the user's own code; the commonest is a name without `self.`."""
    place, cls = _user_frame(error), type(component).__name__
    what = f"`{method}` of {cls} stopped with {type(error).__name__}: {error}"
    remedy = "The line is ordinary Python; mend it there."
    if isinstance(error, IndexError) and "only integers, slices" in str(error):
        what = f"`{method}` of {cls} chooses from an array of numpy by a variable, which numpy cannot."
        remedy = "Declare it, and choose from that: `table = ac.Parameter([[1.0, 2.0], [3.0, 4.0]])`, `self.table[self.n, 1]`."
    if isinstance(error, AttributeError) and isinstance(error.obj, Expression):
        what = f"`{method}` of {cls} asks `{error.obj}` for `{error.name}`, and a quantity has no such thing."
        known = (
            error.name if error.name in ("der", "pre", "abs", "sin", "cos", "exp", "log", "sqrt", "sum", "min", "max") else "der"
        )
        remedy = f"What is done with a quantity is a function: `ac.{known}(…)`."
    name = getattr(error, "name", None) if isinstance(error, NameError) else None
    if name and (component._find(name) is not None or name in component.__dict__):
        what = f"`{name}` is used without `self.` in `{method}` of {cls} ({type(error).__name__}: {error})."
        remedy = f"Write `self.{name}`: what a class declares is reached through the component."
    return Diagnostic(what, component=cls, equation=place.source if place else "", location=place, remedy=remedy)


def _line_of(iterator: Any) -> Location | None:
    """The line on which a generator stands; through `yield from` to the innermost one."""
    while getattr(iterator, "gi_yieldfrom", None) is not None and hasattr(iterator.gi_yieldfrom, "gi_frame"):
        iterator = iterator.gi_yieldfrom
    frame = getattr(iterator, "gi_frame", None)
    return Location.of_frame(frame) if frame is not None else None


def _user_frame(error: BaseException) -> Location | None:
    frames = [f for f in traceback.extract_tb(error.__traceback__) if not f.filename.startswith(_OWN_FILES)]
    return Location(frames[-1].filename, frames[-1].lineno or 0) if frames else None


def _placed(error: ModelError, component: Component, method: str) -> ModelError:
    """The same complaint with component and line, where it had none."""
    place = _user_frame(error)
    if place is None:  # it arose within the library, which is not to be mended: what counts is which of its components it is
        return type(error)(*(replace(d, component=d.component or _named(component)) for d in error.diagnostics))
    found = []
    for diagnostic in error.diagnostics:
        where = diagnostic.location or place
        text = diagnostic.equation or where.source
        named = diagnostic.component or f"{type(component).__name__}.{method}"
        found.append(replace(diagnostic, location=where, equation=text, component=named))
    return type(error)(*found)


def _named(component: Component) -> str:
    """The path and the class of a component; of many that are alike, of one."""
    root = component
    while root._ac_parent is not None:
        root = root._ac_parent
    return f"{component._path_from(root) or 'the model'} ({type(component).__name__})"


def _equation(component: Component, item: Any, where: Location | None) -> TracedEquation:
    name = ""
    if isinstance(item, tuple) and len(item) == 2 and isinstance(item[0], str):
        name, item = item
    if not isinstance(item, Equation):
        raise ModelError(_not_an_equation(component, item, where))
    text = name or item.name or str(item)
    _check_bound(item, component)
    return TracedEquation(item.residual, item.shape, text, item.location or where, name=name or item.name)


def _not_an_equation(component: Component, item: Any, where: Location | None) -> Diagnostic:
    got, source = f"{shown(item, 200)} of type {type(item).__name__}", where.source if where else ""
    remedy = "State `left == right` between expressions."
    if isinstance(item, bool):
        remedy = "Both sides are plain numbers here, so Python compared them; one side must contain a variable."
    elif isinstance(item, Expression):
        got, remedy = f"the expression `{item}`", f"Write `yield {source or item} == 0` if that is what is meant."
    elif isinstance(item, Iterator):
        got = "a whole series of equations"
        remedy = f"Write `yield from {source or 'super().equations()'}`, which yields them one by one."
    elif isinstance(item, ACTIONS):
        got, remedy = f"an action ({source})", f"Say when it is taken: `yield ac.when(condition, {source})`."
    elif isinstance(item, STATEMENTS):
        got, remedy = f"a statement about events ({source})", "Move this line to the method `events`."
    elif isinstance(item, (tuple, list)) and item and all(isinstance(end, (ConnectorView, Component, View)) for end in item):
        got, remedy = f"a connection ({source})", "Move this line to the method `connections`."
    return Diagnostic(
        f"{type(component).__name__} yields {got} where an equation was expected.",
        component=type(component).__name__,
        equation=where.source if where else "",
        location=where,
        remedy=remedy,
    )


def _check_bound(equation: Equation, component: Component) -> None:
    _check_parts(component, lambda: str(equation), equation.location, equation.lhs, equation.rhs)


def _check_statement(statement: Any, component: Component) -> None:
    for part, place in expressions(statement):
        _check_parts(component, lambda place=place: place.source, place, part)  # type: ignore[misc]


def _check_parts(component: Component, text: Callable[[], str], place: Location | None, *parts: Expression) -> None:
    """Everything must be the component's own, or below it."""
    for node in leaves(*parts):
        if isinstance(node, Unbound):
            raise ModelError(
                f"`{node}` is used without `self.` in an equation of {type(component).__name__}.",
                component=type(component).__name__,
                equation=text(),
                location=place,
                remedy=f"Write `self.{node}`.",
            )
        if isinstance(node, Reference) and node.owner is not component and node.owner._steps_from(component) is None:
            raise ModelError(_not_below(component, node.owner, text(), place))


def _not_yielded(component: Component, statement: Any) -> Diagnostic:
    """A statement that was made and lost."""
    return Diagnostic(
        f"`ac.{WORDS[type(statement)]}` is not yielded, so that it has no effect.",
        component=type(component).__name__,
        equation=statement.location.source,
        location=statement.location,
        remedy=f"Write `yield {statement.location.source}`.",
    )


def _not_below(component: Component, other: Component, text: str, where: Location | None) -> Diagnostic:
    cls = type(other).__name__
    which, remedy = f"`{other._ac_name}` ({cls}), which", "connect others in the component around."
    if not other._ac_name:  # made on the way, or the whole of another plant
        which, remedy = f"{an(cls)} that", f"make this one in `__init__`, and once: `self.{cls.lower()} = {cls}(…)`."
    return Diagnostic(
        f"{type(component).__name__} refers to {which} is not part of it.",
        component=type(component).__name__,
        equation=text,
        location=where,
        remedy=f"A component sees its own quantities and those of its sub-components; {remedy}",
    )


def _end_without_connector(end: Component | View) -> tuple[str, str]:
    element = end if isinstance(end, Component) else end._element
    ports = [n for n, d in element._all_declared().items() if isinstance(d, Connector)]
    listed = " or ".join(f"`self.{element._ac_name}.{port}`" for port in ports[:4])
    remedy = f"Name the connector of that component as well: {listed}." if ports else "That component has no connector."
    return f"got the component `{element._ac_name}` ({type(element).__name__})", remedy


def _transition(component: Component, item: Any, where: Location | None) -> Transition:
    if isinstance(item, Transition):
        return item
    raise ModelError(
        f"{type(component).__name__} yields {shown(item, 200)} of type {type(item).__name__} where a transition was expected.",
        component=type(component).__name__,
        equation=where.source if where else "",
        location=where,
        remedy='A transition is written `yield self.cooling.off.to("on", when=…)`; `ac.when` belongs to `events`.',
    )


def _guess(component: Component, item: Any, where: Location | None) -> TracedGuess:
    parts = item if isinstance(item, tuple) and len(item) == 3 else (None, None, None)
    target = parts[0]
    if not isinstance(target, Reference) or target.declaration.is_known or target.order:
        raise ModelError(
            f"`on_state_change` of {type(component).__name__} yields a variable, a state and a number, got {shown(item, 200)}.",
            component=type(component).__name__,
            equation=where.source if where else "",
            location=where,
            remedy="`yield self.m_flow, self.cooling.on, 0.05`: in that state the search for `m_flow` begins there.",
        )
    return TracedGuess(target, as_expression(parts[1]), as_expression(parts[2]), where)


def _connection(kind: Kind, component: Component, item: Any, where: Location | None) -> TracedConnection:
    given = tuple(item) if isinstance(item, (tuple, list)) else (item,)
    ends = tuple(end._reference if isinstance(end, StateView) else end for end in given)
    wrong = [e for e in ends if not isinstance(e, (ConnectorView, Reference))]
    if len(ends) < 2 or wrong:
        what = f"got {shown(wrong[0], 200)} of type {type(wrong[0]).__name__}" if wrong else "got a single end"
        remedy = "Write `yield self.a.port, self.b.port`."
        if wrong and isinstance(wrong[0], Equation):
            what, remedy = f"got the equation `{wrong[0]}`", "Move this line to the method `equations`."
        elif wrong and wrong[0] is None:
            what = "got None: what has an alternative (`instead_of`) is not there until it is given"
            remedy = "Give it a value where the component is made: `PressureBoundary(T=300.0)`; the connection then counts."
        elif wrong and isinstance(wrong[0], (Component, View)):
            what, remedy = _end_without_connector(wrong[0])
        raise ModelError(
            Diagnostic(
                f"A connection of {type(component).__name__} joins two or more connectors, {what}.",
                component=type(component).__name__,
                equation=where.source if where else "",
                location=where,
                remedy=remedy,
            )
        )
    views = [end for end in given if isinstance(end, StateView)]
    if views and len(views) < len(given):
        raise ModelError(_states_with_others(component, views[0], next(e for e in given if not isinstance(e, StateView)), where))
    for end in ends:
        owner = end.owner if isinstance(end, Reference) else end._owner
        if owner is not component and owner._ac_parent is not component and owner._steps_from(component) is None:
            raise ModelError(_not_below(component, owner, where.source if where else "", where))
    return TracedConnection(kind.representative, ends, where)


def _states_with_others(component: Component, states: StateView, other: Any, where: Location | None) -> Diagnostic:
    reference = states._reference
    name, listed = reference.owner._path_from(component, reference.name), ", ".join(reference.declaration.states)
    what = f"the {type(other._connector).__name__} `{other}`" if isinstance(other, ConnectorView) else f"the variable `{other}`"
    return Diagnostic(
        f"A connection of {type(component).__name__} joins the states `{name}` ({listed}) with {what}.",
        component=type(component).__name__,
        equation=where.source if where else "",
        location=where,
        remedy="States are connected with states: `ac.OutputStates` of one component with `ac.InputStates` of another.",
    )
