"""Inference of measures: bottom-up through the expressions of one kind, top-down to the quantities without a unit.

The rules are told in `unit_check.py`; here is one function for each sort of operation, and one for its inverse. A test walks the
table of operators and asserts that each has its rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ..errors import Location
from ..language.expression import (
    Call,
    Constant,
    Continuation,
    Expression,
    Literal,
    Mark,
    Operation,
    Reference,
    Sum,
    Time,
    Unbound,
    walk,
)
from ..language.external import OVER
from ..language.units import has_scaled_share
from ..records import dataclass
from .measures import (
    KELVIN,
    PLAIN,
    TIME,
    Known,
    Measure,
    Number,
    beside_a_number,
    is_geometry,
    is_plain,
    may_be_a_reference,
    measure,
    number_of,
    over,
    power,
    same_dimension,
    same_scale,
    summed_up,
    times,
    weighed,
    with_factor,
)
from .terms import lone_powers, sums
from .traced import Traced

ANGLES = ("sin", "cos", "tan")
_ANGLE = measure("rad")
_RADIANS = PLAIN._replace(soft=True)
_MOST_PASSES = 20  # a longer chain of unknown units against the order of its equations stays unknown


@dataclass(frozen=True, slots=True, eq=False)
class Clash:
    """Expressions that should be alike and are not; for the argument of a function, the argument alone."""

    sort: str  # "dimension", "scale", "zero", "turns", "level", "argument" or "exponent"
    nodes: tuple[Expression, ...]
    measures: tuple[Measure, ...]
    function: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Statement:
    """Expressions that are alike, since somebody says so: the sides of an equation, or a unit given to an expression."""

    parts: tuple[Expression, ...]
    text: str
    location: Location | None
    stated: str = ""  # the unit, where one is given


@dataclass(slots=True, eq=False)
class Inferred:
    """A measure that an equation leaves for a quantity."""

    measure: Measure
    source: Statement


Scope = dict[tuple[int, str], Inferred]  # by owner (or kind) and name


class Inference:
    """Measures of all expressions of one kind. `known` are those of quantities of the kinds below it."""

    def __init__(self, traced: Traced, known: Scope, parameters: bool = False, plain: bool = False, time: str = "s") -> None:
        self.kind, self.known, self.parameters, self.plain = traced.kind, known, parameters, plain
        self.time_unit, self.time = time, TIME if time == "s" else measure(time)._replace(declared=False)
        self.found: Scope = {}
        self.clashes: list[tuple[Statement, Clash]] = []
        self._measures: dict[Expression, Known] = {}
        self._wanted: list[tuple[Expression, Measure]] = []
        self._statement: Statement | None = None
        self._levels = False  # whether a temperature in degC was seen

    def run(self, statements: list[Statement]) -> Inference:
        """Repeat until no further quantity gets a measure; most are found in the first pass, in the order of the equations."""
        for _ in range(_MOST_PASSES):
            count = len(self.found)
            self._measures.clear()
            self.clashes.clear()
            for statement in statements:
                self._statement = statement
                self._settle(statement)
                self._learn()
            if len(self.found) == count:
                break
        self.clashes = [(s, c) for s, c in self.clashes if not self._in_a_circle(s, c)]
        return self

    def _in_a_circle(self, statement: Statement, clash: Clash) -> bool:
        """`der(x) == T - x` leaves K for x and then cannot bear it: x may be a number for T, as `v == 5` has one for v."""
        leaves = (n for n in walk(*clash.nodes) if isinstance(n, Reference))
        found = (self.found.get((id(n.owner), n.name)) for n in leaves)
        return any(f is not None and f.source is statement for f in found)

    def _learn(self) -> None:
        """Give quantities what the statement leaves for them; whatever was said about them before is out of date then."""
        count = len(self.found)
        for node, wanted in self._wanted:
            self._impose(node, wanted)
        self._wanted.clear()
        if len(self.found) > count:
            self._measures.clear()

    def _settle(self, statement: Statement) -> None:
        measures = [self.measure_of(part) for part in statement.parts]
        for part in statement.parts:
            self.no_mixture(part, alone=False)
        if statement.stated:
            (part,), (found,) = statement.parts, measures
            if isinstance(found, Measure):  # nothing follows for what is in it: the unit is there for the reader of results
                self._agree((part, part), (found, measure(statement.stated)), strict=True)
            return
        if self._levels:
            for part in statement.parts:
                self.no_power_of_a_level(part)
        node, alike = statement.parts[0], measures[0]
        for part, other in zip(statement.parts[1:], measures[1:], strict=True):
            alike = self.alike((node, part), alike, other)

    def measure_of(self, root: Expression) -> Known:
        """Bottom-up, without recursion: sums written as Python sums are deep."""
        measures = self._measures
        stack = [root]
        while stack:
            node = stack[-1]
            missing = [a for a in node.args if a not in measures]
            if missing:
                stack += missing
                continue
            stack.pop()
            if node not in measures:
                measures[node] = self._rule(node)
        return measures[root]

    def _rule(self, node: Expression) -> Known:
        if isinstance(node, Operation):
            args = [self._measures[a] for a in node.args]
            if node.operator.name == "sample":  # start and period are times
                for argument, found in zip(node.args, args, strict=True):
                    self.alike((Time(), argument), self.time, found)
            if node.operator.translated:
                return Number.PURE if node.operator.logical else args[0]
            return _RULES[node.operator.name](self, node, *args)
        if isinstance(node, Reference):
            return self._of_reference(node)
        if isinstance(node, Constant):
            return number_of(node.value)
        if isinstance(node, Literal):
            return Number.ANYTHING if node.values.any() else Number.ZERO
        if isinstance(node, Time):
            return self.time
        if isinstance(node, (Continuation, Mark)):
            return Number.PURE
        if isinstance(node, Unbound):
            return _declared(node.declaration)
        if isinstance(node, Sum):
            return _negated(self._measures[node.args[0]])
        if isinstance(node, Call):
            return self._of_call(node)
        return None  # whatever else may stand in an equation one day is unknown

    def _of_reference(self, node: Reference) -> Measure | None:
        found = _declared(node.declaration)
        self._levels |= found is not None and bool(found.zero)
        if found is None:
            inferred = self.found.get((id(node.owner), node.name)) or self.known.get((node.owner.kind.index, node.name))
            found = inferred.measure if inferred else None
        if found is None and self.plain and node.declaration.role == "variable":
            found = PLAIN._replace(soft=True)
        if found is not None and node.order:
            return over(found, self.time)._replace(zero=0.0)
        return found

    def _of_call(self, node: Call) -> Known:
        """A function may say `units`: those of its arguments, then that of its value; it is unknown otherwise."""
        like: int | None = getattr(node.function, "like", None)  # an argument whose unit the value has
        if like is not None:
            return self._measures[node.args[like]]
        units = [self.time_unit if unit == OVER else unit for unit in getattr(node.function, "units", None) or ()]
        if not units or len(units) != len(node.args) + 1:
            return None
        for argument, unit in zip(node.args, units, strict=False):
            found = self._measures[argument]
            if unit and isinstance(found, Measure):
                self._agree((argument, argument), (found, measure(unit)), function=node.function.name)
            elif unit and found is None:
                self._wanted.append((argument, measure(unit)))
        return measure(units[-1]) if units[-1] else None

    # --- what must be alike ---------------------------------------------------------------------------------------------
    def alike(self, nodes: tuple[Expression, Expression], a: Known, b: Known) -> Known:
        """Two sides, two branches, two things compared: a number takes the other's measure."""
        if a is None or b is None:
            self._want(nodes, a, b)
            return None
        if isinstance(a, Number) and isinstance(b, Number):
            return max(a, b)
        if isinstance(a, Number):
            return self._beside(nodes[1], b, nodes[0], a)
        if isinstance(b, Number):
            return self._beside(nodes[0], a, nodes[1], b)
        return self._common(a, b) if self._agree(nodes, (a, b), strict=True) else None

    def added(self, node: Operation, a: Known, b: Known) -> Known:
        if a is None or b is None:
            self._want((node.args[0], node.args[1]), a, b)
            return None
        if not (isinstance(a, Measure) and isinstance(b, Measure) and same_dimension(a, b)):
            a, b = _bare(a), _bare(b)
        if isinstance(a, Measure) and isinstance(b, Measure):
            if not self._agree((node.args[0], node.args[1]), (a, b)):
                return None
            together = self._common(a, b)._replace(zero=_zero_of_sum(a.zero, b.zero, node.operator.name == "sub"))
            return _of_levels(together, a, b, node.operator.name == "sub")
        for place, quantity, number in ((0, a, b), (1, b, a)):
            if isinstance(quantity, Measure):
                literal = node.args[1 - place]
                if self._beside(node.args[place], quantity, literal, number) is PLAIN:
                    return PLAIN
                added = literal.value if isinstance(literal, Constant) and node.operator.name == "add" else None
                return quantity if number is Number.ZERO or is_plain(quantity) else beside_a_number(quantity, added)
        assert isinstance(a, Number) and isinstance(b, Number)
        return max(a, b)

    def _beside(self, node: Expression, found: Known, literal: Expression, number: Known) -> Known:
        """A number is in the unit of the quantity beside it; but beside a ratio, in which dimensions cancel, it is a plain one."""
        if not isinstance(found, Measure) or found.soft or not found.declared or number is Number.ZERO:
            return found
        if same_dimension(found, PLAIN) and not same_scale(found, PLAIN) and self._cancels(node):
            self._complain(Clash("scale", (node, literal), (found, PLAIN)))
            return PLAIN
        return found

    def _cancels(self, node: Expression) -> bool:
        """Whether a plain number is made of quantities that are none; degrees a second times seconds are degrees."""
        leaves = [n for n in walk(node) if isinstance(n, (Reference, Time))]
        if any(isinstance(n, Reference) and has_scaled_share(n.declaration.unit) for n in leaves):
            return False
        inner = (self._measures.get(n) for n in leaves)
        return any(isinstance(m, Measure) and not same_dimension(m, PLAIN) for m in inner)

    def no_mixture(self, node: Expression, alone: bool) -> None:
        """A difference of two temperatures with different zeros is none, where nothing is added to it: as a factor (`alone`), and,
        if the second has the zero, as a side of an equation."""
        if not isinstance(node, Operation) or node.operator.name != "sub":
            return
        first, second = (self._measures[a] for a in node.args)
        if not isinstance(first, Measure) or not isinstance(second, Measure) or not (first.declared and second.declared):
            return
        a_level = first.zero and second.zero == 0.0 and isinstance(node.args[1], Reference) and not node.args[1].order
        if same_scale(first, second) and ((first.zero == 0.0 and second.zero) or (alone and a_level)):
            self._complain(Clash("zero", (node.args[0], node.args[1]), (first, second)))

    def _want(self, nodes: tuple[Expression, Expression], a: Known, b: Known) -> None:
        for node, own, other in ((nodes[0], a, b), (nodes[1], b, a)):
            if own is None and isinstance(other, Measure) and not other.soft and not other.offset:
                self._wanted.append((node, other))

    def _common(self, a: Measure, b: Measure) -> Measure:
        scale, zero = b.scale if a.scale is None else a.scale, b.zero if a.zero is None else a.zero
        declared, scaled, offset = a.declared or b.declared, a.scaled or b.scaled, a.offset or b.offset
        referred, turns = a.referred or b.referred, a.turns or b.turns
        return Measure(a.dimension, scale, zero, declared, a.soft and b.soft, scaled, offset, referred, turns)

    def _agree(
        self,
        nodes: tuple[Expression, Expression],
        measures: tuple[Measure, Measure],
        strict: bool = False,
        function: str = "",
    ) -> bool:
        """Whether two measures may meet; `strict` where their zeros must be the same, and not in `T - dT`."""
        a, b = measures
        if not same_dimension(a, b):
            sort = "dimension"
        elif not same_scale(a, b):
            sort = "scale"
        elif a.zero != b.zero and a.zero is not None and b.zero is not None and (strict or (a.zero and b.zero)):
            sort = "zero"
        elif strict and a.turns and b.turns and a.turns != b.turns:
            sort = "turns"
        else:
            return True
        if (a.declared or b.declared) and not (sort == "dimension" and (a.soft or b.soft or _of_degrees(a, b))):
            self._complain(Clash(sort, nodes, measures, function))
        return False

    def _complain(self, clash: Clash) -> None:
        assert self._statement is not None
        self.clashes.append((self._statement, clash))

    def number_wanted(self, node: Operation, found: Known, position: int = 0, sort: str = "argument") -> None:
        """The argument of a mathematical function, or an exponent; a number in it may be one over a reference value."""
        argument = node.args[position]
        if found is None:
            self._wanted.append((argument, PLAIN))
        elif isinstance(found, Measure) and found.declared and not found.soft and not is_plain(found):
            may_refer = found.referred and node.operator.name not in ANGLES and not same_dimension(found, PLAIN)
            if not may_refer:
                self._complain(Clash(sort, (argument,), (found,), node.operator.name))
        elif isinstance(found, Measure) and found.declared and found.turns == "times" and node.operator.name in ANGLES:
            self._complain(Clash("turns", (argument, argument), (found, _ANGLE), node.operator.name))

    # --- temperatures that do not count from absolute zero --------------------------------------------------------------
    def no_level(self, root: Expression, function: str) -> None:
        """Of what counts from 273.15 there is no reciprocal, no root and no power that means anything, except in a fit."""
        stack = [root]
        while stack:
            node = stack.pop()
            found = self._measures[node]
            if isinstance(found, Measure) and found.zero and found.declared and not found.offset:
                self._complain(Clash("level", (node,), (found,), function))
            elif isinstance(node, Operation) and node.operator.name in ("mul", "neg"):
                stack += node.args

    def no_power_of_a_level(self, root: Expression) -> None:
        """`5.67e-8 * T**4` with T in degC, which is no polynomial in T."""
        for terms in sums(root):
            if not any(isinstance(self._measures.get(t), Number) for t in terms):
                for base in lone_powers(terms):
                    if base in self._measures:
                        self.no_level(base, "**")

    # --- what an equation leaves for an unknown -------------------------------------------------------------------------
    def _impose(self, node: Expression, wanted: Measure) -> None:
        """Top-down: `node` has the measure `wanted`; so each of its leaves, as long as there is one unknown only."""
        stack = [(node, wanted)]
        while stack:
            node, wanted = stack.pop()
            if isinstance(node, Reference):
                self._assign(node, wanted)
            elif isinstance(node, Sum):
                stack.append((node.args[0], wanted._replace(zero=0.0 if wanted.zero == 0.0 else None)))
            elif isinstance(node, Operation) and node.operator.name in _INVERSES:
                args = [self._measures[a] for a in node.args]
                stack += [
                    (argument, left)
                    for argument, left in _INVERSES[node.operator.name](node, wanted, *args)
                    if self._measures[argument] is None
                ]

    def _assign(self, node: Reference, wanted: Measure) -> None:
        declaration = node.declaration
        if wanted.soft or node.picked is not None or declaration.unit or (declaration.role == "parameter" and not self.parameters):
            return
        assert self._statement is not None
        found = times(wanted, self.time) if node.order else wanted
        self.found.setdefault((id(node.owner), node.name), Inferred(found, self._statement))

    def own(self) -> Scope:
        """What was found for the kind's own quantities holds for every instance, so for those who look at them from outside."""
        mine = id(self.kind.representative)
        return {(self.kind.index, name): found for (owner, name), found in self.found.items() if owner == mine}


def _declared(declaration: Any) -> Measure | None:
    return measure(declaration.unit) if declaration.unit else None


def _of_levels(together: Measure, a: Measure, b: Measure, minus: bool) -> Measure:
    """A sum of temperatures that count from 273.15, whose mean is one again."""
    first, second = (m.zero if m.summed is None else m.summed for m in (a, b))
    if first is None or second is None or together.zero is not None or (minus and not a.summed):
        return together
    return summed_up(together, first - second if minus else first + second)


def _of_degrees(a: Measure, b: Measure) -> bool:
    """`T_c == T - 273.15`, where T_c is a plain number."""
    return any(one.offset and same_dimension(one, KELVIN) and is_plain(other) for one, other in ((a, b), (b, a)))


def _zero_of_sum(a: float | None, b: float | None, minus: bool) -> float | None:
    """A level plus or minus a difference is a level; the difference of two levels has no zero; their sum means nothing yet."""
    if a is None or b is None:
        return None
    if a and b:
        return 0.0 if minus else None
    return a or (None if minus and b else b)


# --- rules: measures of the arguments → measure of the operation -----------------------------------------------------------


def _mul(scope: Inference, node: Operation, a: Known, b: Known) -> Known:
    for factor in node.args:
        scope.no_mixture(factor, alone=True)
    a, b = _bare(a), _bare(b)
    if a is None or b is None:
        return None
    if a is Number.ZERO or b is Number.ZERO:
        return Number.ZERO
    if isinstance(a, Measure):
        return times(a, b) if isinstance(b, Measure) else _with_factor(a, b, node.args[1])
    return _with_factor(b, a, node.args[0]) if isinstance(b, Measure) else max(a, b)


def _with_factor(a: Measure, number: Number, factor: Expression, divided: bool = False) -> Measure | None:
    referred = isinstance(factor, Constant) and may_be_a_reference(factor.value)
    found = with_factor(a, number, _leaves_bare(factor), referred)
    if found is None or not isinstance(factor, Constant):
        return found
    if found.scale is None and is_geometry(factor.value, a.scale):
        found = found._replace(scale=a.scale)
    return weighed(found, a, 1 / factor.value if divided else factor.value)


def _leaves_bare(factor: Expression) -> bool:
    """Whether a number as factor tells nothing of a fit: ±1, or what a mathematical function gives, `V * sin(w * time)`."""
    if isinstance(factor, Constant):
        return abs(factor.value) == 1.0
    return isinstance(factor, Operation) and _RULES.get(factor.operator.name) in (_function, _angle, _angle_of_two, _number)


def _bare(a: Known) -> Known:
    """An angle that a function gives is as good a factor as any number."""
    return Number.PURE if a is _RADIANS else a


def _div(scope: Inference, node: Operation, a: Known, b: Known) -> Known:
    scope.no_level(node.args[1], "/")
    a, b = _bare(a), _bare(b)
    if isinstance(a, Measure) and isinstance(b, Number) and b is not Number.ZERO:
        scope.no_mixture(node.args[0], alone=True)
        return _with_factor(a, b, node.args[1], divided=True)
    return _mul(scope, node, a, power(b, -1.0) if isinstance(b, Measure) else b)


def _pow(scope: Inference, node: Operation, a: Known, b: Known) -> Known:
    scope.no_mixture(node.args[0], alone=True)
    exponent = node.args[1]
    if not isinstance(exponent, Constant):
        if isinstance(a, Measure):  # a number may be the factor per unit: `1.047**(T - 293.15)` is an exponential of 0.0459 per K
            scope.number_wanted(node, b, 1, "exponent")
        return a if isinstance(a, Measure) and is_plain(a) else None
    if exponent.value < 0 or exponent.value != round(exponent.value):
        scope.no_level(node.args[0], "**")
    if isinstance(a, Measure):
        usual = abs(12 * exponent.value - round(12 * exponent.value)) < 1e-9
        return power(a, exponent.value) if usual or same_dimension(a, PLAIN) else None
    return a


def _sqrt(scope: Inference, node: Operation, a: Known) -> Known:
    scope.no_level(node.args[0], "sqrt")
    return power(a, 0.5) if isinstance(a, Measure) else a


def _function(scope: Inference, node: Operation, a: Known) -> Known:
    scope.number_wanted(node, a)
    return Number.PURE


def _angle(scope: Inference, node: Operation, a: Known) -> Known:
    """An angle in rad, or a number: `v == atan(x)` has an amplitude of 1 V, but is nothing in deg."""
    scope.number_wanted(node, a)
    return _RADIANS


def _angle_of_two(scope: Inference, node: Operation, a: Known, b: Known) -> Known:
    scope.alike((node.args[0], node.args[1]), a, b)
    return _RADIANS


def _compared(scope: Inference, node: Operation, a: Known, b: Known) -> Known:
    scope.alike((node.args[0], node.args[1]), a, b)
    return Number.PURE


def _extreme(scope: Inference, node: Operation, a: Known, b: Known) -> Known:
    for argument, other in zip(node.args, (b, a), strict=True):
        scope.no_mixture(argument, alone=isinstance(other, Number))
    return scope.alike((node.args[0], node.args[1]), a, b)


def _where(scope: Inference, node: Operation, condition: Known, a: Known, b: Known) -> Known:
    return scope.alike((node.args[1], node.args[2]), a, b)


def _same(scope: Inference, node: Operation, a: Known) -> Known:
    return a


def _size(scope: Inference, node: Operation, a: Known) -> Known:
    scope.no_mixture(node.args[0], alone=True)
    return a


def _negated(a: Known) -> Known:
    return a._replace(zero=None) if isinstance(a, Measure) and a.zero else a


def _number(scope: Inference, node: Operation, *args: Known) -> Known:
    return Number.PURE


_RULES: dict[str, Callable[..., Known]] = {
    "add": Inference.added, "sub": Inference.added, "mul": _mul, "div": _div, "pow": _pow, "sqrt": _sqrt,
    "neg": lambda scope, node, a: _negated(a), "abs": _size, "floor": _same, "ceil": _same, "sign": _number,
    **dict.fromkeys(("exp", "log", "log10", *ANGLES, "sinh", "cosh", "tanh"), _function),
    **dict.fromkeys(("asin", "acos", "atan"), _angle), "atan2": _angle_of_two,
    **dict.fromkeys(("lt", "le", "gt", "ge", "eq"), _compared), "min": _extreme, "max": _extreme, "where": _where,
    "and": _number, "or": _number, "not": _number, "finite": _number,
}  # fmt: skip

# --- inverses: the measure of the operation → measures of the arguments that are unknown -----------------------------------

_Wanted = Iterator[tuple[Expression, Measure]]


def _of_addends(node: Operation, wanted: Measure, *args: Known) -> _Wanted:
    if any(isinstance(a, Number) and a is not Number.ZERO for a in args):
        return  # `x + 5`: the number may be what makes it right
    for argument in node.args:
        yield argument, wanted._replace(zero=0.0 if wanted.zero == 0.0 else None)


def _of_branches(node: Operation, wanted: Measure, *args: Known) -> _Wanted:
    for argument in node.args[-2:]:
        yield argument, wanted


def _of_negated(node: Operation, wanted: Measure, *args: Known) -> _Wanted:
    yield node.args[0], wanted._replace(zero=0.0 if wanted.zero == 0.0 else None)


def _of_factors(node: Operation, wanted: Measure, a: Known, b: Known) -> _Wanted:
    first, second = node.args
    if first is second:
        yield first, power(wanted, 0.5)
        return
    for argument, other in ((first, b), (second, a)):
        left = over(wanted, other) if isinstance(other, Measure) else other and with_factor(wanted, other)
        if isinstance(left, Measure):
            yield argument, left


def _of_quotient(node: Operation, wanted: Measure, a: Known, b: Known) -> _Wanted:
    above = times(wanted, b) if isinstance(b, Measure) else b and with_factor(wanted, b)
    if isinstance(above, Measure):
        yield node.args[0], above
    below = over(a, wanted) if isinstance(a, Measure) else a and with_factor(power(wanted, -1.0), a)
    if isinstance(below, Measure):
        yield node.args[1], below


def _of_root(node: Operation, wanted: Measure, a: Known) -> _Wanted:
    yield node.args[0], power(wanted, 2.0)


def _of_power(node: Operation, wanted: Measure, a: Known, b: Known) -> _Wanted:
    exponent = node.args[1]
    if isinstance(exponent, Constant) and exponent.value:
        yield node.args[0], power(wanted, 1.0 / exponent.value)


_INVERSES: dict[str, Callable[..., _Wanted]] = {
    "add": _of_addends, "sub": _of_addends, "min": _of_branches, "max": _of_branches, "where": _of_branches, "neg": _of_negated,
    "abs": _of_negated, "mul": _of_factors, "div": _of_quotient, "sqrt": _of_root, "pow": _of_power,
}  # fmt: skip
