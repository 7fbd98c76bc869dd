"""Units: every equation is checked dimensionally where it is stated, once for each kind of component.

*Problem.* Each expression has a *measure*: exponents of the SI base units, the scale of its numbers against SI, and their zero
(273.15 for degC). Find expressions that must be alike and are not. Measures follow bottom-up: sums, choices, comparisons and the
two sides of an equation need alike arguments; products, quotients and powers combine; `exp`, `sin` and their like need plain
numbers (an angle is one, in rad); `der` divides by s. A variable without a unit gets the measure that its equation leaves for it,
until nothing changes any more; so does, for `report` only, a parameter.

*A complaint is a contradiction between declared units*; where anything is unknown there is none. Therefore

- A number on its own may be anything: `v == 5`, `max(m, 1e-6)`. What a mathematical function gives is a number, too: `v == sin(…)`
  has an amplitude of 1 V.
- A number beside a quantity in a sum is in its unit, where the quantity stands *bare*, that is, without a number as a factor:
  `280.0 - T`, `x * y + 1.0`, `V * sin(w * time) + 5.0`. So `C * der(T) == G * (280.0 - T)` asks for G in W/K, and
  `der(x) == 1.0 - x` for a time constant. As a whole, and not as a factor, `T - 273.15` may be the number of degrees (T_c of
  unit 1); and for a variable without a unit that stands for the whole of such a sum (`eta == 0.9 - m`) nothing follows.
- Beside a ratio in which dimensions cancel (`1.0 - x/L`, `time/tau > 2`) a number is a plain one, not one of mm/m or s/h; beside
  a share or an angle (`p > 20` in %, `10.0 + w * time` in deg) it is in that unit.
- With a factor it may be a fit (`3 + 0.5 * T`; `h == 4 + 4 * v` in EN ISO 6946), so such a sum is *soft*: it may be of another
  dimension than the rest of it; but if it is of this one, scales agree. So is, in a second look, a variable without a unit from
  which nothing follows: as a plain number it must not meet 1/year and s.
- A level of temperature plus less than 100 degrees is a level with the same zero: `T == T_c + 1.0` with K and degC is refused,
  `T == T_c + 273.15` is not. What is left after something is taken away may be a difference, `dT == T_c - 20.0`, and has none.
- A level in degC is not divided by, has no root, no negative or broken power, and no power from the third on that stands alone
  (`5.67e-8 * T**4`; beside a number or other powers of it, it is a term of a fit). Levels that are added and weighed are one again
  where their zeros add up to it, `0.5 * (T_in + T_out)`.
- Turns are counted as an angle (rad/s, rpm) or in times (Hz), and one is 2π of the other: the two do not meet, nor is a sine taken
  of times. A factor with π in it makes one of the other; 1/s may be either.
- In an exponent, and in what `exp`, `log`, `tanh` and their like take, a number as factor may be one over a reference value:
  `tanh((T - 300)/3)`, `exp(-x/2)`. So may a number that is raised to a power: `1.047**(T - 293.15)` is an exponential of 0.046 per
  K. Multiples of π and the arguments of `sin`, `cos` and `tan` are left out: `sin(2π f)` lacks a time.
- A number as factor is neutral if geometry and calculus could have made it: products of powers of 2, 3 and π (½ m v², 4/3 π r³,
  2π f). Any other number (9.81, 4186, 3600, 5.67e-8, 0.1) may well be a physical constant or a conversion: the product is unknown.
  All decimal and sexagesimal conversions contain the prime 5, so `w == 2π/60·n` with n in rpm is right as well.
- Time is s, but no declaration: `sin(time)` passes, `x == time` with x in m does not.
- What an equation leaves for a variable without a unit counts in the other equations, not against that equation itself.
- A parameter without a unit is a number with a name: it makes its terms unknown and is never the culprit. So do a power law with
  an odd exponent (`m**1.8`), a function that does not say its units, and elements of an array without a unit, which may differ.

*Units that are not SI.* The engine computes with the numbers as they are declared, so `bar` in an equation with `Pa` has the right
dimension and is wrong by 100 000. Refusing every declaration that is not SI would be simple, but it would refuse correct models:
`Q == m_flow * dh` in kW, kg/s and kJ/kg is right. Hence scales are computed along with the dimensions, and a complaint is made
where different ones meet; the same holds for temperatures with different zeros (`degC` and `K`; differences of both are K). A
clash can be healed by a conversion in the equation, but the remedy told is the better one: SI inside, other units at the edge,
where values are given (`"1.5 bar"`) and results are read (`result.in_unit`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import lru_cache
from itertools import zip_longest
from typing import Any

from ..errors import Diagnostic, Location, ModelError, UsageError
from ..language.events import AfterStep, Assertion, Assign, Crossing, Reinit, When
from ..language.expression import Constant, Expression, Operation, Reference, Time, Unbound, walk
from ..language.units import describe
from ..records import dataclass
from .contribution import Contribution
from .definitions import Definition
from .measures import PLAIN, Measure, is_si, measure, names_of_dimensions, over, power, same_dimension, shown
from .plant import Kind
from .traced import Traced, TracedEquation
from .unit_inference import ANGLES, Clash, Inference, Inferred, Scope, Statement

# --- what a kind states -------------------------------------------------------------------------------------------------


def statements(traced: Traced, definitions: Mapping[tuple[int, str], Definition] | None = None) -> list[Statement]:
    """Equations, initial equations, units given to named expressions, and parameters bound to others in the class body."""
    kind = traced.kind
    eliminated = [d.equation for (index, _), d in (definitions or {}).items() if index == kind.index]
    found = [s for equation in [*traced.equations, *eliminated, *traced.initial] for s in _of_equation(equation)]
    for name, (unit, _) in kind.units_of_named.items():
        if unit and name in kind.named:
            found.append(Statement((kind.named[name],), f"{name} = {kind.named[name]}", None, unit))
    for name, quantity in kind.quantities.items():
        bound = quantity.declaration.value
        if quantity.declaration.unit and hasattr(bound, "__acausal_expression__"):
            bound = bound.__acausal_expression__()
        if quantity.declaration.unit and isinstance(bound, Expression):
            found.append(Statement((bound,), f"{name} = {bound}", None, quantity.declaration.unit))
    return [*found, *_about_events(traced)]


def _about_events(traced: Traced) -> list[Statement]:
    """What is compared, and what is assigned, at events."""
    found: list[Statement] = []

    def say(place: Location | None, *parts: Expression) -> None:
        found.append(Statement(parts, place.source if place else "", place))

    def act(actions: Iterable[Any]) -> None:
        for action in actions:
            if isinstance(action, (Assign, Reinit)):
                say(action.location, action.target, action.value)

    for target, value, text, location in traced.assigned:
        found.append(Statement((target, value), text, location))
    for statement in traced.statements:
        if isinstance(statement, When):
            for condition, actions in statement.branches:
                say(statement.location, condition)
                act(actions)
        elif isinstance(statement, (Assertion, Crossing)):
            say(statement.location, statement.condition if isinstance(statement, Assertion) else statement.expression)
            if isinstance(statement, Assertion) and statement.lasting is not None:
                say(statement.location, Time(), statement.lasting)
        elif isinstance(statement, AfterStep):
            act(statement.actions)
    for transition in traced.transitions:
        if transition.when is not None:
            say(transition.location, transition.when)
        if transition.after is not None:
            say(transition.location, Time(), transition.after)
        act(transition.do)
    return found


def _of_equation(equation: TracedEquation) -> list[Statement]:
    """An equation that differs from state to state is one statement for each: a force here, a velocity there."""
    found = []
    for residual in equation.branches or [equation.residual]:
        whole = isinstance(residual, Operation) and residual.operator.name == "sub" and not equation.terms
        found.append(Statement(residual.args if whole else (residual, *equation.terms), equation.text, equation.location))
    return found


def _unreadable(kind: Kind) -> list[Diagnostic]:
    """Units that nobody knows; they would make every later question about them fail."""
    found = []
    units = [(q.name, q.declaration.unit) for q in kind.quantities.values()]
    units += [(name, unit) for name, (unit, _) in kind.units_of_named.items()]
    for name, unit in units:
        try:
            measure(unit)
        except UsageError as error:
            first = error.diagnostics[0]
            remedy = first.remedy or "Give a product of SI units such as `kg/s`."
            found.append(
                Diagnostic(
                    f"The unit of `{name}` in {kind.name} cannot be read. {first.what}",
                    component=kind.name,
                    remedy=f"{remedy} What has no physical unit is declared without one.",
                )
            )
    return found


# --- the two questions ----------------------------------------------------------------------------------------------------


def check_units(traced: list[Traced], time: str = "s", contributions: Sequence[Contribution] = ()) -> None:
    """Raise with every contradiction between declared units in all kinds; see the rules above.

    Sub-components come before what contains them, so what was found for their quantities is known there. Of equations in which
    nothing was wrong before (`contributions`) nothing is asked again.
    """
    unreadable = [d for one in traced for d in _unreadable(one.kind)]
    if unreadable:
        raise ModelError(*dict.fromkeys(unreadable))
    known: Scope = {}
    complaints: dict[Any, _Complaint] = {}
    for one, contribution in zip_longest(traced, contributions):
        stated = statements(one)
        if not stated:
            continue
        earlier = _Earlier(one, contribution, stated, known, time) if contribution is not None else None
        if earlier is not None and (own := earlier.found()) is not None:
            known.update(own)
            continue
        inference = Inference(one, known, time=time).run(stated)
        clashes = [*inference.clashes, *_of_scale(one, inference, stated)]
        if earlier is not None and not clashes:
            earlier.keep(inference.own())
        known.update(inference.own())
        for statement, clash in clashes:
            key = (statement.location, statement.text, clash.sort, *map(str, clash.nodes))
            complaints.setdefault(key, _Complaint(statement, clash, inference)).kinds.append(one.kind.name)
    if complaints:
        raise ModelError(*(c.diagnostic() for c in complaints.values()))


class _Earlier:
    """What was found, in any process, about the units of equations that are all right."""

    def __init__(self, traced: Traced, contribution: Contribution, stated: list[Statement], known: Scope, time: str) -> None:
        self.kind, self.contribution, self.stated = traced.kind, contribution, stated
        plain = len(stated) == len(traced.equations) and not any(e.terms or e.branches for e in traced.equations)
        parts = [part for statement in stated for part in statement.parts]
        found = contribution.described([e.residual for e in traced.equations] if plain else parts)
        self.key = ""
        if found is not None:
            leaves = [n for n in found.objects if isinstance(n, Reference)]
            units = [measure_text(unit) for unit in {n.declaration.unit: None for n in leaves} if unit]
            told = [known.get((n.owner.kind.index, n.name)) for n in leaves] if known else []
            below = [told_of.measure if told_of is not None else None for told_of in told]
            below = below if any(below) else []
            split = [(len(s.parts), s.stated and measure_text(s.stated)) for s in stated]
            self.key = contribution.key("units", found, plain, split, units, below, time, measure_text(time))

    def found(self) -> Scope | None:
        """Measures that follow for quantities without a unit; None where nothing is known."""
        held = self.contribution.find(self.key) if self.key else None
        if held is None:
            return None
        own: Scope = {}
        for name, dimension, rest, source in held:
            own[self.kind.index, name] = Inferred(Measure(tuple(dimension), *rest), self.stated[source])
        return own

    def keep(self, own: Scope) -> None:
        places = {id(statement): k for k, statement in enumerate(self.stated)}
        if self.key and all(id(found.source) in places for found in own.values()):
            held = [[name, list(f.measure.dimension), list(f.measure[1:]), places[id(f.source)]] for (_, name), f in own.items()]
            self.contribution.keep(self.key, held)


@lru_cache(maxsize=4096)
def measure_text(unit: str) -> str:
    """What a unit means, not only how it is spelled: a registry of units may be changed."""
    return repr(measure(unit))


def _of_scale(traced: Traced, found: Inference, stated: list[Statement]) -> list[tuple[Statement, Clash]]:
    """Clashes that appear if what has no unit is a plain number: `der(N) == r * N` with r in 1/year counts seconds."""
    known = {**found.known, **found.own()}
    again = Inference(traced, known, plain=True, time=found.time_unit)
    return [(s, c) for s, c in again.run(stated).clashes if c.sort == "scale"]


def report(traced: list[Traced], definitions: Mapping[tuple[int, str], Definition] | None = None) -> list[str]:
    """Quantities without a unit, by class, with what follows for them: `report(system.traced, system.definitions)`."""
    known: Scope = {}
    lines: dict[str, None] = {}
    for one in traced:
        inference = Inference(one, known, parameters=True).run(statements(one, definitions))
        own = inference.own()
        known.update(own)
        lines |= dict.fromkeys(_reported(one.kind, own))
    return list(lines)


def _reported(kind: Kind, own: Scope) -> Iterator[str]:
    counts = ("integer", "boolean", "states")  # discrete ones, which have no unit
    without = [
        q.name
        for q in kind.quantities.values()
        if not q.declaration.unit and not q.declaration.auxiliary and getattr(q.declaration, "type", "real") not in counts
    ]
    for name in without:
        found = own.get((kind.index, name))
        if found is not None:
            yield f"{kind.name}.{name}: no unit is declared; {shown(found.measure)} follows from `{found.source.text}`"
    open_ones = [name for name in without if (kind.index, name) not in own]
    if open_ones:
        yield f"{kind.name}: no unit is declared for {', '.join(open_ones)}, and none follows from the equations"


# --- what the user reads ----------------------------------------------------------------------------------------------------

_LONGEST = 100
_MOST = 6


def _cut(node: Expression) -> str:
    text = str(node)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


@dataclass(slots=True, eq=False)
class _Complaint:
    """One clash, and the kinds whose equations (perhaps of a common base class) have it."""

    statement: Statement
    clash: Clash
    inference: Inference
    kinds: list[str] = field(default_factory=list)

    def diagnostic(self) -> Diagnostic:
        what, remedy = _WORDS[self.clash.sort](self)
        names = list(dict.fromkeys(self.kinds))
        found = Diagnostic(
            what,
            component=names[0],
            equation=self.statement.text,
            location=self.statement.location,
            details=tuple(self._quantities()),
            remedy=remedy,
        )
        also = f"also in:   {', '.join(names[1:_MOST])}{' …' if len(names) > _MOST else ''}"
        return replace(found, details=(*found.details, also)) if len(names) > 1 else found

    @property
    def sides(self) -> tuple[str, str]:
        """The two that clash; in the second place perhaps a unit that was given to the first."""
        first, second = self.clash.nodes
        if first is not second:
            return f"`{_cut(first)}`", f"`{_cut(second)}`"
        given = (
            f"what `{self.clash.function}` takes" if self.clash.function else f"the unit given to it (`{self.statement.stated}`)"
        )
        return f"`{_cut(first)}`", given

    def _quantities(self) -> Iterator[str]:
        """The units that the complaint rests on: those declared, and those inferred with their origin."""
        leaves = {_plain_name(n): n for n in walk(*self.clash.nodes) if isinstance(n, (Reference, Unbound))}
        listed = [f"{name} in {n.declaration.unit}" for name, n in leaves.items() if n.declaration.unit]
        if listed:
            yield f"declared:  {', '.join(listed[:_MOST])}{' …' if len(listed) > _MOST else ''}"
        for name, n in leaves.items():
            found = self._inferred(n)
            if found is not None:
                place = f" ({found.source.location})" if found.source.location else ""
                yield f"inferred:  {name} in {shown(found.measure)}, from `{found.source.text}`{place}"

    def _inferred(self, node: Reference | Unbound) -> Inferred | None:
        if isinstance(node, Unbound) or node.declaration.unit:
            return None
        inference = self.inference
        return inference.found.get((id(node.owner), node.name)) or inference.known.get((node.owner.kind.index, node.name))


def _plain_name(node: Reference | Unbound) -> str:
    if isinstance(node, Unbound):
        return str(node)
    return str(node.owner._path_from(node.root, node.name))


def _dimensions_differ(c: _Complaint) -> tuple[str, str]:
    a, b = c.clash.measures
    first, second = c.sides
    ratio = over(a, b)
    time = c.inference.time
    if same_dimension(ratio, time) or same_dimension(power(ratio, -1.0), time):
        remedy = "One is a rate of the other: is an `ac.der(…)` missing or too much, or a factor that is a time?"
    else:
        factor = min(
            (shown(r._replace(scale=None, zero=None)) for r in (ratio, power(ratio, -1.0))), key=lambda text: "(" not in text
        )
        remedy = f"They differ by a factor in {factor}: is one missing or too much, or is a unit declared wrongly?"
    if any(isinstance(n, Constant) and abs(n.value) not in (0.0, 1.0) for n in walk(*c.clash.nodes)):
        remedy += " A number that has a unit is declared with it: `ac.Constant(…, unit=…)`."
    beside = next(_beside_numbers(c), None)
    if beside is not None:
        remedy += f" A number beside a quantity is in its unit: `{_cut(beside[0])}` is {shown(beside[1])}."
    return f"The units do not agree: {first} is {shown(a)}, {second} is {shown(b)}.", remedy


def _beside_numbers(c: _Complaint) -> Iterator[tuple[Expression, Measure]]:
    """Sums in what clashes that have their unit from what stands beside a number."""
    for node in walk(*c.clash.nodes):
        if isinstance(node, Operation) and node.operator.name in ("add", "sub") and any(isinstance(a, Constant) for a in node.args):
            found = c.inference.measure_of(node)
            if isinstance(found, Measure) and found.offset and not found.soft:
                yield node, found._replace(zero=0.0)


def _scales_differ(c: _Complaint) -> tuple[str, str]:
    a, b = c.clash.measures
    first, second = c.sides
    what = f"Units of different scale meet: {first} is {shown(a)}, {second} is {shown(b)}."
    return what, _si_inside(c, "Equations are computed with the numbers as declared, nothing is converted in them.")


def _zeros_differ(c: _Complaint) -> tuple[str, str]:
    a, b = c.clash.measures
    first, second = c.sides
    what = f"Temperatures with different zeros meet: {first} is {shown(a)}, {second} is {shown(b)}."
    return what, _si_inside(c, "Nothing is converted in equations; a difference of temperatures is in K.")


def _turns_differ(c: _Complaint) -> tuple[str, str]:
    a, b = c.clash.measures
    first, second = c.sides
    words = {"angle": "an angle", "times": "a number of times"}
    rate = " a second" if a.dimension[2] else ""
    what = f"Turns are counted in two ways: {first} is {words[a.turns]}{rate}, {second} is {words[b.turns]}{rate}."
    if c.clash.function:
        what = f"`{c.clash.function}` takes an angle, but {first} counts whole turns."
    return what, "A turn is 2π of the one and 1 of the other: multiply what is in Hz by 2π, or declare it in rad/s if it is one."


_OF_LEVELS = {"/": "divided by", "sqrt": "the argument of a root", "**": "raised to a power"}


def _level_multiplied(c: _Complaint) -> tuple[str, str]:
    (node,), (found,) = c.clash.nodes, c.clash.measures
    used = _OF_LEVELS[c.clash.function]
    what = f"`{_cut(node)}` counts from {found.zero:g} K, and is {used}: what that gives depends on where it counts from."
    return what, _si_inside(c, "Nothing is converted in equations.")


def _si_inside(c: _Complaint, why: str) -> str:
    leaves = [n for n in walk(*c.clash.nodes) if isinstance(n, (Reference, Unbound)) and n.declaration.unit]
    foreign = [n for n in leaves if not is_si(measure(n.declaration.unit))]
    if not foreign:
        return f"{why} Use SI units inside the model."
    name, unit = _plain_name(foreign[0]), foreign[0].declaration.unit
    exact = measure(unit).dimension
    si = names_of_dimensions().get(exact) or describe(exact).replace(" ", "*")
    si = "rad" if unit == "deg" else "1" if si == "dimensionless" else si
    return f'{why} Declare `{name}` in {si}; give values as "… {unit}" and read results with `result.in_unit(…, "{unit}")`.'


def _argument_has_unit(c: _Complaint) -> tuple[str, str]:
    (found,), name = c.clash.measures, c.clash.function
    wanted = "an angle in rad, or a plain number" if name in ANGLES else "a plain number"
    what = f"`{name}` takes {wanted}, but `{_cut(c.clash.nodes[0])}` is {shown(found)}."
    if same_dimension(found, PLAIN):
        return what, _si_inside(c, "Nothing is converted in equations.")
    return what, f"Divide by a reference value in the same unit: `ac.{name}(x / x_ref)`."


def _exponent_has_unit(c: _Complaint) -> tuple[str, str]:
    what = f"An exponent is a plain number, but `{_cut(c.clash.nodes[0])}` is {shown(c.clash.measures[0])}."
    return what, "Divide it by a reference value in the same unit, or correct its unit."


_WORDS: dict[str, Callable[[_Complaint], tuple[str, str]]] = {
    "dimension": _dimensions_differ,
    "scale": _scales_differ,
    "zero": _zeros_differ,
    "turns": _turns_differ,
    "level": _level_multiplied,
    "argument": _argument_has_unit,
    "exponent": _exponent_has_unit,
}
