"""Implicit functions (`ac.implicit`) and delays (`ac.delay`) become unknowns of the component that calls them.

There is one for each distinct set of arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import Location, ModelError
from ..language.declarations import HISTORY, LONG_BEFORE, PASSED, Declaration, Discrete, Parameter, Variable
from ..language.delays import DelayFunction, is_delay
from ..language.derivative import der
from ..language.events import AfterStep, Assertion, Assign, no_event, pre
from ..language.expression import Call, Constant, Expression, Reference, Slot, Time, apply, leaves, rebuild, transform, walk
from ..language.functions import where
from ..language.implicit import Implicit, ImplicitPart
from ..language.meters import is_meter
from ..language.units import convert, dimension
from .hybrid import is_affine_in_time
from .plant import Kind, Quantity

if TYPE_CHECKING:
    from .census import Census

_NOWHERE = Location("", 0)


class Roots:
    """Moves what a kind states from components to its nodes, with unknowns in the place of implicit functions."""

    def __init__(self, census: Census, kind: Kind) -> None:
        self.census, self.kind = census, kind
        self.moved_end = census.moved_end
        self.equations: list[tuple[Expression, str]] = []  # residuals that define the unknowns, and what they say
        self.assigned: list[tuple[Reference, Expression, str, Location | None]] = []  # of discrete quantities
        self.statements: list[AfterStep | Assertion] = []
        self.place: Location | None = None  # where what is moved stands
        self._made: dict[tuple[int, tuple[Expression, ...]], tuple[Reference, ...]] = {}

    def moved(self, expression: Expression) -> Expression:
        """An expression over nodes, without implicit functions."""
        found = self.census.moved(expression)
        if not any(
            is_delay(n) or is_meter(n) or (isinstance(n, Call) and isinstance(n.function, ImplicitPart)) for n in leaves(found)
        ):
            return found
        done: dict[Expression, Expression] = {}
        for node in walk(found):
            args = tuple(done[a] for a in node.args)
            if isinstance(node, Call) and isinstance(node.function, ImplicitPart):
                done[node] = self._unknowns(node.function.implicit, args, node.shape)[node.function.number]
            elif is_meter(node):
                done[node] = self._integrated(args, node.shape, str(node))
            elif is_delay(node):
                done[node] = self._delayed(self._in_own_unit(node, args), node.shape, str(node))
            else:
                done[node] = rebuild(node, args)
        return done[found]

    def _quantity(self, stem: str, declaration: Declaration, shape: tuple[int, ...]) -> Reference:
        node = self.kind.representative
        declaration.name, declaration.shape = self.kind.free_name(stem), shape
        declaration.auxiliary, declaration.location = True, None
        self.census.plant.add_quantity(self.kind, Quantity(declaration.name, declaration, shape))
        return Reference(node, node, declaration.name, shape)

    def _integrated(self, args: tuple[Expression, ...], shape: tuple[int, ...], text: str) -> Reference:
        """The state that a meter is."""
        key = (1, args)
        if key not in self._made:
            first = args[1].value if isinstance(args[1], Constant) else 0.0
            meter = self._quantity("metered", Variable(start=first, fixed=True), shape)
            self._made[key] = (meter,)
            self.equations.append((der(meter) - args[0], text))
        return self._made[key][0]

    def _in_own_unit(self, node: Expression, args: tuple[Expression, ...]) -> tuple[Expression, ...]:
        """A delay that was said as a text, in the unit of what the model is integrated over."""
        said, over = node.function.unit if isinstance(node, Call) else "", self.census.plant.independent[1]
        if not said or said == over:
            return args
        late = args[1]
        if len(args) > 2 or not isinstance(late, Constant) or dimension(said) != dimension(over):
            raise ModelError(
                f"{self.kind.name}: the delay of {node} was said in {said}, but the model is integrated over a quantity in {over}.",
                remedy=f"Give it as a number in {over}.",
            )
        return args[0], Constant(float(convert(late.value, said, over)))

    def _delayed(self, args: tuple[Expression, ...], shape: tuple[int, ...], text: str) -> Reference:
        """The unknown, with the cell of its history, the mark of the last break that was passed, and what is done after steps."""
        key = (0, args)
        if key in self._made:
            return self._made[key][0]
        late = args[1]
        value, x = self._quantity("delayed", Variable(), shape), self._quantity(f"{HISTORY}_of", Variable(), shape)
        self._made[key] = (value,)
        # What is remembered stays an unknown, whatever it is made of: the error test sees to it that steps are short enough for it.
        self.equations.append((self._quantity("once", Parameter(1.0), shape) * x - args[0], text))
        history = self._quantity(HISTORY, Parameter(0.0), shape)
        mark = self._quantity(PASSED, Discrete(LONG_BEFORE), shape)
        recorded = self._quantity("recorded", Discrete(0.0), shape)
        now: Expression = Call(DelayFunction("value"), (history, Time(), late, x, mark))
        if len(args) > 2:
            now = apply("where", apply("lt", mark, Constant(LONG_BEFORE / 2)), args[2], now)
        # What was at this instant is x itself, also before it is known after a restart which break was passed.
        now = no_event(where(late > 0.0, now, x))
        self.equations.append((value - now, text))
        earlier = pre(mark)
        if _is_computable(late):
            passing = apply("ge", Time() - late, Call(DelayFunction("next"), (history, earlier)))
        else:
            passing = apply("ge", Call(DelayFunction("ahead"), (history, earlier, Time() - late)), Constant(0.0))
        past = Call(DelayFunction("go_past"), (history, earlier, passing, Time(), late))
        self.assigned.append((mark, past, f"a break of {text}", None))
        self.statements.append(AfterStep((Assign(recorded, _remembered(history, x, late), _NOWHERE),), _NOWHERE))
        if not isinstance(late, Constant):
            never = f"The delay of {text} is negative: what will be in the future, no equation can know."
            self.statements.append(Assertion(apply("ge", late, Constant(0.0)), never, "error", self.place or _NOWHERE))
        return value

    def _unknowns(self, implicit: Implicit, args: tuple[Expression, ...], shape: tuple[int, ...]) -> tuple[Reference, ...]:
        key = (id(implicit), args)
        if key not in self._made:
            node, made = self.kind.representative, []
            for k, name in enumerate(implicit.unknowns):
                declaration = implicit.variable(k, shape)
                declaration.name = self.kind.free_name(f"{name}_state")
                self.census.plant.add_quantity(self.kind, Quantity(declaration.name, declaration, shape))
                made.append(Reference(node, node, declaration.name, shape))
            self._made[key] = tuple(made)
            values = (*made, *args)

            def put(n: Expression) -> Expression | None:
                return values[n.number] if isinstance(n, Slot) else None

            for residual in implicit.residuals:
                self.equations.append((transform(residual, put), f"{implicit.name} of {', '.join(map(str, args))}"))
        return self._made[key]


def _is_computable(late: Expression) -> bool:
    """Whether the time at which a break arrives can be computed. Otherwise it is searched for, and a relation with a time that may
    be 1e300 would have a band as wide as that."""
    return not any(isinstance(n, Reference) and not n.declaration.is_known for n in walk(late)) and is_affine_in_time(late)


def _remembered(history: Expression, x: Expression, late: Expression) -> Expression:
    """What is done after a step: x is added to the history, and what no lookup reaches any more is forgotten."""
    leaves = [n for n in walk(late) if not n.args]
    if isinstance(late, Constant):
        return Call(DelayFunction("record_within"), (history, Time(), x, late))
    if all(isinstance(n, Constant) or (isinstance(n, Reference) and n.declaration.role == "parameter") for n in leaves):
        return Call(DelayFunction("record_while_set"), (history, Time(), x, late))
    return Call(DelayFunction("record"), (history, Time(), x))
