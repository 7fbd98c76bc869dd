"""Events on families: relations become frozen cells with a crossing function each, statements become rules that are rows too.

A relation `a < b` in an equation is replaced by a *cell*: a known value that is constant between events, one for each row. Its
crossing function a - b is one more template, evaluated by the same machine code as equations are. What `when`, `assign`, `reinit`
and transitions say becomes *rules*: expressions over unknowns, cells and the cells' values before the event (`pre`), with a target.
Everything below treats cells as it treats parameters, so that sparsity, index reduction and explicit variables need no word of
events.

Within `where(live, a < b, cell)` the relation itself stays: while a start is sought, Newton's method sees it as it is written.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import field, replace

import numpy as np

from ..errors import Location, ModelError
from ..language.declarations import Declaration, Discrete, Parameter, Variable
from ..language.derivative import der
from ..language.events import AfterStep, Assertion, Assign, Crossing, Reinit, Terminate, When, pre
from ..language.expression import (
    Call,
    Constant,
    Expression,
    Mark,
    Operation,
    Reference,
    Shape,
    Sum,
    Time,
    apply,
    leaves,
    rebuild,
    transform,
    walk,
)
from ..language.operators import RELATIONS
from ..language.tables import SplineFunction, Table
from ..records import dataclass
from .durations import holds_or_not_for_long
from .pieces import piece, position
from .plant import Kind, Plant, Quantity
from .template import Family
from .turning import ends_where_it_turns

ROLES = (
    "relation", "timed", "crossing", "update", "reinit", "guess", "snapshot", "stop", "assertion", "step", "clock_start",
    "clock_period", "slide_slope", "slide_share", "slide_decay", "corner",
)  # fmt: skip

_STEPS = frozenset(("sign", "floor", "ceil"))
_FROZEN = frozenset((*RELATIONS, "min", "max", "abs", "sign", "floor", "ceil", "where"))


@dataclass(slots=True, eq=False)
class Rule:
    """One row for each instance and element: what `residual` is worth goes to `target` (or is looked at), depending on the role.

    The field names are those of `TracedEquation`, since rules pass through the same reductions.
    """

    role: str
    residual: Expression
    shape: Shape
    text: str
    location: Location | None
    target: Reference | None = None
    detail: str = ""  # operator of a relation, direction and kind of a crossing, message of a stop
    band: Reference | None = None  # of a relation: how far beyond zero it switches
    plain: bool = False  # of an assignment: only another name for what unknowns, time and parameters say
    stair: Reference | None = None  # of a relation: the value of `floor` or `ceil` that it ends
    knots: np.ndarray | None = None  # of a table: where its argument meets a corner
    since: Reference | None = None  # of an assertion that waits: when its condition began to fail
    terms: list[Expression] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class RuleBlock:
    """Consecutive rows of one role that one rule of one kind makes."""

    start: int
    count: int
    kind: Kind
    rule: Rule


@dataclass(slots=True, eq=False)
class Part:
    """All rules of one role."""

    families: list[Family]
    blocks: list[RuleBlock]
    targets: np.ndarray  # known cells, or (for "reinit") unknowns
    signs: np.ndarray  # of the targets; -1 where a state is the negative of its unknown
    bands: np.ndarray  # known cells, of relations

    @property
    def count(self) -> int:
        return self.blocks[-1].start + self.blocks[-1].count if self.blocks else 0

    def block(self, row: int) -> RuleBlock:
        return self.blocks[int(np.searchsorted([b.start for b in self.blocks], row, side="right")) - 1]

    def statement(self, row: int) -> int:
        """The first row of what a statement says of one component, of which `row` is an element."""
        block = self.block(row)
        return row - (row - block.start) % max(int(np.prod(block.rule.shape)), 1)


@dataclass(slots=True, eq=False)
class Hybrid:
    """Everything a run needs to know about events."""

    parts: dict[str, Part]
    cells: np.ndarray  # known cells of all discrete values …
    partners: np.ndarray  # … and of their values before the event

    def mapped(self, change: Callable[[list[Family]], list[Family]]) -> Hybrid:
        """The same with other families."""
        return Hybrid({role: replace(p, families=change(p.families)) for role, p in self.parts.items()}, self.cells, self.partners)


class Freezer:
    """Replaces relations, `min`, `abs`, `pre` and the like in the expressions of one kind; collects the rules this makes."""

    def __init__(self, plant: Plant, kind: Kind, sliding: Iterable[str] = (), broken: Collection[SplineFunction] = ()) -> None:
        """`sliding` are relations, as texts, on whose surface the solution may slide; `broken` tables that are taken piece by
        piece."""
        self.plant, self.kind, self.sliding, self.broken = plant, kind, set(sliding), broken
        self.rules: list[Rule] = []
        self.slides: list[tuple[Expression, str, Location | None]] = []  # residuals of the shares
        self._shares: dict[Expression, Expression] = {}
        self._cells: dict[Expression, Expression] = {}
        self._snapshots: set[str] = set()
        self._frozen: dict[Expression, Expression] = {}
        self._live: dict[Expression, Expression] = {}
        self._place: tuple[str, Location | None] = ("", None)
        self._of_events = False  # whether statements about events are being frozen, not equations

    def freeze(self, expression: Expression, text: str = "", location: Location | None = None) -> Expression:
        """The expression as it is between events."""
        self._place = (text, location)
        if not _may_freeze(expression):
            return expression
        outside = _outside_no_event(expression)
        for node in walk(expression):
            if node not in self._live:
                self._live[node] = self._as_written(node)
            if node in outside and node not in self._frozen:
                self._frozen[node] = self._between_events(node)
        return self._frozen[expression]

    def frozen_already(self, expression: Expression) -> Expression:
        """The expression with the cells of relations that stand in equations too; others make no events for its sake."""

        def leaf(node: Expression) -> Expression | None:
            if isinstance(node, Operation) and node.operator.name == "no_event":
                return node
            return self._frozen.get(node) if node.args else None

        return transform(expression, leaf)

    def as_written(self, expression: Expression, text: str, location: Location | None) -> Expression:
        """An expression of the start, where nothing is frozen yet, and nothing was before."""
        self._place = (text, location)
        plain: dict[Expression, Expression] = {}
        for node in walk(expression):
            name = node.operator.name if isinstance(node, Operation) else ""
            if name in ("pre", "sample"):
                raise self._wrong(f"`{node}` stands in an initial equation, where there is neither an event nor a value before.",
                                  "Leave it out; discrete variables start with their `start`.")  # fmt: skip
            args = tuple(plain[a] for a in node.args)
            plain[node] = args[0] if name == "no_event" else rebuild(node, args) if args else node
        return plain[expression]

    def _as_written(self, node: Expression) -> Expression:
        if isinstance(node, Operation) and node.operator.translated:
            if node.operator.name == "no_event":
                return self._live[node.args[0]]
            frozen = node.operator.name == "pre" and node.args[0] in self._frozen  # what a relation was, its cell tells
            return self._translated(node, self._frozen if frozen else self._live)
        return rebuild(node, tuple(self._live[a] for a in node.args)) if node.args else node

    def _between_events(self, node: Expression) -> Expression:
        if not isinstance(node, Operation):
            if isinstance(node, Call) and isinstance(node.function, SplineFunction):
                return self._table(node, tuple(self._frozen[a] for a in node.args))
            return rebuild(node, tuple(self._frozen[a] for a in node.args)) if node.args else node
        name = node.operator.name
        if name == "no_event":
            return self._live[node.args[0]]
        args = tuple(self._frozen[a] for a in node.args)
        if node.operator.translated:
            return self._translated(node, self._frozen)
        if name in RELATIONS:
            return self._as_said(name, node.args, args)
        if name in ("min", "max"):
            return apply("where", self._as_said("le" if name == "min" else "ge", node.args, args), *args)
        zero = Constant(0.0)
        if name == "abs":
            return apply("where", self._as_said("ge", (node.args[0], zero), (args[0], zero)), args[0], -args[0])
        if name == "sign" and self._slides_at_zero(node.args[0]):
            share = self._share(self._as_said("gt", (node.args[0], zero), (args[0], zero)))
            return 2.0 * share - 1.0
        if name == "sign":
            below = apply("where", self._as_said("lt", (node.args[0], zero), (args[0], zero)), -1.0, 0.0)
            return apply("where", self._as_said("gt", (node.args[0], zero), (args[0], zero)), 1.0, below)
        if name in ("floor", "ceil"):
            return self._stair(name, args[0], self._said(apply(name, node.args[0])))
        if name == "where" and any(n in self._shares for n in walk(args[0])):
            share = self._share(args[0])
            return args[2] + share * (args[1] - args[2])
        found = rebuild(node, args)
        if found is not self._live[node] and ends_where_it_turns(
            node
        ):  # a hair beyond the crossing it has the value that is written
            found = apply("where", apply("finite", found), found, self._live[node])
        return found

    def _as_said(self, name: str, written: tuple[Expression, ...], between: tuple[Expression, ...]) -> Expression:
        """A relation between frozen expressions, called as the user wrote it."""
        return self._relation(name, between[0], between[1], self._said(apply(name, written[0], written[1])))

    def _said(self, written: Expression) -> str:
        """What the user wrote; nothing if it was not the user who wrote it."""
        own = any(isinstance(n, Reference) and n.declaration.auxiliary for n in walk(written))
        return "" if own else str(written)

    def _slides_at_zero(self, x: Expression) -> bool:
        """Whether `sign(x)` is slid along: its two relations have one surface, which needs one share."""
        above, below = (str(apply(name, x, Constant(0.0))) for name in ("gt", "lt"))
        if above in self.sliding or below in self.sliding:
            self.sliding.add(above)
            return True
        return False

    def _share(self, condition: Expression) -> Expression:
        """How much of the first branch a condition takes: 0 or 1, and between them where the solution slides (Filippov)."""
        if condition in self._shares or not condition.args:
            return self._shares.get(condition, condition)
        name = condition.operator.name if isinstance(condition, Operation) else ""
        parts = [self._share(a) for a in condition.args] if name in ("not", "and", "or") else []
        if name == "not":
            return 1.0 - parts[0]
        if name == "and":
            return parts[0] * parts[1]
        return parts[0] + parts[1] - parts[0] * parts[1] if name == "or" else condition

    def _translated(self, node: Operation, done: dict[Expression, Expression]) -> Expression:
        if node.operator.name == "pre":
            return self.before(done[node.args[0]])
        return self._clock(node, done)

    # --- cells ----------------------------------------------------------------------------------------------------------------
    def auxiliary(self, stem: str, declaration: Declaration, shape: Shape) -> Reference:
        """An auxiliary quantity of the kind."""
        name = self.kind.free_name(stem)
        declaration.name, declaration.shape, declaration.auxiliary = name, shape, True
        self.plant.add_quantity(self.kind, Quantity(name, declaration, shape))
        return Reference(self.kind.representative, self.kind.representative, name, shape)

    def _relation(self, name: str, a: Expression, b: Expression, of: str = "", stair: Reference | None = None) -> Expression:
        """A relation's cell. `of` is what it was made for, if not for itself; `stair` what it ends."""
        relation = apply(name, a, b)
        if isinstance(relation, Constant):
            return relation
        if relation in self._cells:
            return self._cells[relation]
        difference = a - b
        leaves = [n for n in walk(between_events(difference)) if not n.args]
        varies = any(isinstance(n, Reference) and not n.declaration.is_known for n in leaves)
        timed = any(isinstance(n, Time) for n in leaves)
        if not varies and not timed:
            self._cells[relation] = relation  # of discrete values and parameters: as constant as they are
            return relation
        cell = self.auxiliary("relation", Discrete(0.0), relation.shape)
        location = self._place[1]
        if not varies and is_affine_in_time(between_events(difference)):
            self._cells[relation] = cell
            hidden = any(isinstance(n, Reference) and n.declaration.auxiliary for n in leaves)
            said = of or (self._place[0] if hidden and self._place[0] else str(relation))
            self.rules.append(Rule("timed", difference, relation.shape, said, location, cell, name))
            return cell
        band = self.auxiliary("band", Parameter(0.0), relation.shape)
        frozen = self._cells[relation] = apply("where", Mark("live"), relation, cell)
        if (of or str(relation)) in self.sliding:
            difference = self._slide(relation, difference, frozen, cell)
        said = of or str(relation)
        self.rules.append(Rule("relation", difference - band, relation.shape, said, location, cell, name, band, stair=stair))
        return frozen

    def _slide(self, relation: Expression, difference: Expression, frozen: Expression, cell: Reference) -> Expression:
        """The share of the relation's first branch becomes an unknown: 0 or 1, or, while the solution slides along the surface
        g = 0, what keeps it there (g' = -κ·g, so that errors decay). Returns the crossing function, which rests meanwhile."""
        text, location = f"sliding along {relation}", self._place[1]
        share = self.auxiliary("share", Variable(start=0.5), relation.shape)
        sliding = self.auxiliary("sliding", Discrete(0.0), relation.shape)
        decay = self.auxiliary("decay", Parameter(0.0), relation.shape)
        slope = der(difference)
        self.slides.append((apply("where", sliding, slope + decay * difference, share - frozen), text, location))
        self.rules.append(Rule("slide_slope", slope, relation.shape, text, location, sliding))
        self.rules.append(Rule("slide_share", share, relation.shape, text, location, cell))
        self.rules.append(Rule("slide_decay", Constant(0.0), relation.shape, text, location, decay))
        for rest in (share, 1.0 - share):
            inside = apply("where", sliding, rest, 0.5)
            self.rules.append(Rule("crossing", inside, relation.shape, text, location, None, "falling knee"))
        self._shares[frozen] = share
        return apply("where", sliding, 1.0, difference)

    def _stair(self, name: str, x: Expression, said: str) -> Expression:
        """`floor` and `ceil` are constant between events as well; their events are where x leaves the present stair."""
        step = apply(name, x)
        if isinstance(step, Constant) or not any(_varies(n) for n in walk(between_events(x))):
            return step
        if step not in self._cells:
            cell = self.auxiliary("stair", Discrete(0.0), step.shape)
            now = self.before(cell)  # what it was compared with when the event began
            top, bottom = (now + 1.0, now) if name == "floor" else (now, now - 1.0)
            up, down = now + 1.0, now - 1.0
            # At an edge x may be rounded to either side, so that what counts is that it was passed. What jumps right onto an edge
            # is on the stair that begins there: relations see to it; time does not jump, but what it is compared with may.
            onto = "ge" if name == "floor" else "gt", "lt" if name == "floor" else "le"
            said = said or str(step)
            above, below = (self._relation(how, x, edge, said, cell) for how, edge in zip(onto, (top, bottom), strict=True))
            if isinstance(above, Reference):
                met = apply("eq", x, up if name == "floor" else down) & ~apply("eq", x, self.before(x))
                above, below = (above | met, below) if name == "floor" else (above, below | met)
            lower = apply("where", below, apply("min", step, down), now)
            value = apply("where", above, apply("max", step, up), lower)
            self.rules.append(Rule("update", value, step.shape, said, self._place[1], cell))
            self._cells[step] = apply("where", Mark("live"), step, cell)
        return self._cells[step]

    def _table(self, call: Call, arguments: tuple[Expression, ...]) -> Expression:
        """What a table is between events. Steps end at the corners of one of time, so that none is overlooked; where corners are
        impulses, to go on to the next piece is an event."""
        timed = len(arguments) == 1 and self._is_linear_in_time(arguments[0])
        if timed and isinstance(call.function.root, Table):
            table = call.function.root
            knots = bent_at(table) if call.function is table else table.x
            self.rules.append(Rule("corner", arguments[0], arguments[0].shape, repr(table), self._place[1], knots=knots))
        if timed or call.function.root not in self.broken:
            return rebuild(call, arguments)
        table, said = call.function.root, self._said(call) or call.function.root.name
        numbers = tuple(self._stair("floor", position(table, k, a), said) for k, a in enumerate(arguments))
        return piece(call, arguments, numbers)

    def _is_linear_in_time(self, argument: Expression) -> bool:
        leaves = [n for n in walk(argument) if not n.args]
        known = any(isinstance(n, Time) for n in leaves) and not any(_is_unknown(n) for n in leaves)
        return known and is_affine_in_time(argument)

    def _clock(self, node: Operation, done: dict[Expression, Expression]) -> Expression:
        start, period = (done[a] for a in node.args)
        key = rebuild(node, (start, period))
        if key not in self._cells:
            text, location = self._place
            for part in walk(start, period):
                if _varies(part) or isinstance(part, Time) or (isinstance(part, Reference) and part.declaration.role == "discrete"):
                    raise ModelError(
                        f"The clock `{node}` depends on `{part}`, which changes during a run.",
                        component=self.kind.name,
                        equation=text,
                        location=location,
                        remedy="Start and period of `ac.sample` are numbers or parameters; for a varying one let a discrete "
                        "variable hold the next time: `ac.when(ac.time >= ac.pre(self.next), ac.assign(self.next, …))`.",
                    )
            cell = self.auxiliary("tick", Discrete(0.0), key.shape)
            self.rules.append(Rule("clock_start", start, key.shape, str(node), location, cell))
            self.rules.append(Rule("clock_period", period, key.shape, str(node), location, cell))
            self._cells[key] = cell
        return self._cells[key]

    def before(self, expression: Expression) -> Expression:
        """The expression over values before the event."""

        def leaf(node: Expression) -> Expression | None:
            if isinstance(node, Operation) and node.operator.name == "where" and isinstance(node.args[0], Mark):
                return self.before(node.args[2])  # a relation: its cell
            if isinstance(node, Mark):
                return Constant(0.0)  # before the start there was no start
            if not isinstance(node, Reference) or node.declaration.role == "parameter" or node.order < 0:
                return None
            if node.name in self._snapshots:
                return None  # it is a value before the event already
            if node.declaration.role == "discrete":
                return Reference(node.root, node.owner, node.name, node.shape, node.picked, -1)
            return self._snapshot(node)

        return transform(expression, leaf)

    def _snapshot(self, node: Reference) -> Expression:
        """A continuous variable's value before the event."""
        if not self._of_events:
            raise self._wrong(
                f"`pre({node})` stands in an equation: between events `{node}` has no value before.",
                f"Use `{node}` itself, or let a discrete variable keep its value: `ac.when(…, ac.assign(self.kept, {node}))`.",
            )
        if node not in self._cells:
            cell = self.auxiliary("before", Discrete(0.0), node.shape)
            self._snapshots.add(cell.name)
            self.rules.append(Rule("snapshot", node, node.shape, f"pre({node})", self._place[1], cell))
            self._cells[node] = cell
        return self._cells[node]

    def _wrong(self, what: str, remedy: str) -> ModelError:
        """A complaint about what is being frozen."""
        text, location = self._place
        return ModelError(what, component=self.kind.name, equation=text, location=location, remedy=remedy)

    # --- statements -----------------------------------------------------------------------------------------------------------
    def add(self, statements: Iterable[object]) -> None:
        self._of_events = True
        for statement in statements:
            if isinstance(statement, When):
                self._when(statement)
            elif isinstance(statement, Assertion):
                self._assertion(statement)
            elif isinstance(statement, Crossing):
                text, place = statement.location.source, statement.location
                expression = self.freeze(statement.expression, text, place)
                detail = f"{statement.direction} {statement.kind}"
                self.rules.append(Rule("crossing", expression, expression.shape, text, place, None, detail))
            elif isinstance(statement, AfterStep):
                for action in statement.actions:
                    self._targeted(
                        "step", action.target, self.freeze(action.value, action.location.source, action.location), action
                    )

    def _assertion(self, statement: Assertion) -> None:
        text, place = statement.location.source, statement.location
        condition, since = holds_or_not_for_long(self, statement)
        said = f"{statement.level} {statement.message}"
        self.rules.append(Rule("assertion", condition, condition.shape, text, place, None, said, since=since))

    def _when(self, statement: When) -> None:
        """One expression for each target: the value of the first branch whose condition became true, else what it was.

        A condition that reads a variable which the statement itself assigns means the value before: `ac.when(self.on & hot, …)`.
        """
        assigned = [a.target for _, actions in statement.branches for a in actions if isinstance(a, Assign)]
        own = {(id(t.owner), t.name) for t in assigned}
        chosen: dict[Expression, list[tuple[Expression, Expression, Assign | Reinit]]] = {}
        taken: Expression = Constant(0.0)
        for number, (condition, actions) in enumerate(statement.branches):
            earlier = transform(condition, lambda n: pre(n) if _is_one_of(n, own) else None)
            frozen = between_events(self.freeze(earlier, statement.location.source, statement.location))
            was = self.before(frozen)
            if any(isinstance(n, Reference) and n.order < 0 for n in walk(frozen)):
                later = transform(frozen, lambda n: Constant(0.0) if isinstance(n, Mark) else None)  # the start lasts for one round
                remembered = self._kept_condition(later, statement.location)
                frozen, was = remembered if later is frozen else frozen, self.before(remembered)
            became = frozen & ~was
            now = became & ~taken if number else became
            taken = taken | became
            self._check_targets(actions)
            for action in actions:
                if isinstance(action, Terminate):
                    place = action.location
                    self.rules.append(Rule("stop", now, now.shape, place.source, place, None, action.message))
                else:
                    value = self.freeze(action.value, action.location.source, action.location)
                    self._check_fits(action.target, value, "a value", action.location.source, action.location)
                    self._check_fits(action.target, condition, "a condition", action.location.source, action.location)
                    chosen.setdefault(action.target, []).append((now, value, action))
        for target, branches in chosen.items():
            action = branches[0][2]
            assert isinstance(target, Reference)
            kept = self.before(target) if isinstance(action, Assign) else target
            for now, value, _ in reversed(branches):
                kept = apply("where", now, value, kept)
            self._targeted("update" if isinstance(action, Assign) else "reinit", target, kept, action)

    def _kept_condition(self, condition: Expression, place: Location) -> Reference:
        """A condition that contains `pre` itself: what it was in the round before cannot be computed, so it is kept."""
        cell = self.auxiliary("condition", Discrete(0.0), condition.shape)
        self.rules.append(Rule("update", condition, condition.shape, place.source, place, cell))
        return cell

    def _check_targets(self, actions: Iterable[object]) -> None:
        """One branch gives a variable one value."""
        seen: set[Expression] = set()
        for action in actions:
            if isinstance(action, (Assign, Reinit)):
                if action.target in seen:
                    self._place = (action.location.source, action.location)
                    raise self._wrong(
                        f"`{action.target}` is assigned twice at one instant.",
                        "Actions are not taken one after the other but all at once: keep the one that is meant, or use another "
                        "variable for what is in between.",
                    )
                seen.add(action.target)

    def _check_fits(self, target: Reference, value: Expression, what: str, text: str, place: Location | None) -> None:
        try:
            fits = np.broadcast_shapes(value.shape, target.shape) == target.shape
        except ValueError:
            fits = False
        if fits:
            return
        remedy = "Give as many values as the variable has elements, or one for all."
        if what == "a condition":
            remedy = (
                "Each element of an array decides for itself: give the variable as many elements as the condition has, or name the "
                "element that is meant."
            )
        self._place = (text, place)
        raise self._wrong(f"`{target}` of shape {target.shape} cannot take {what} of shape {value.shape}.", remedy)

    def _targeted(self, role: str, target: Reference, value: Expression, action: Assign | Reinit) -> None:
        self._check_fits(target, value, "a value", action.location.source, action.location)
        self.rules.append(Rule(role, value, target.shape, action.location.source, action.location, target))

    def assigned(self, target: Reference, value: Expression, text: str, location: Location | None) -> None:
        """`discrete == value`: an assignment at every event."""
        self._of_events = True
        self._check_fits(target, value, "a value", text, location)
        rule = Rule("update", self.freeze(value, text, location), target.shape, text, location, target)
        rule.plain = is_plain_condition(target, value)
        self.rules.append(rule)


def is_plain_condition(target: Reference, value: Expression) -> bool:
    """Whether a discrete variable is nothing but another name for what unknowns, time and parameters say at the moment."""
    if target.picked is not None or target.shape != value.shape:
        return False
    return not any(
        (isinstance(n, Operation) and n.operator.translated)
        or isinstance(n, Mark)
        or (isinstance(n, Reference) and (n.declaration.role == "discrete" or n.order))
        for n in walk(value)
    )


def _may_freeze(expression: Expression) -> bool:
    """Whether there is something in it that is something else between events than as written; in most equations there is not."""
    operators = {node.operator for node in walk(expression) if isinstance(node, Operation)}
    if any(operator.translated or operator.name in _FROZEN for operator in operators):
        return True
    return any(isinstance(node, Call) and isinstance(node.function, SplineFunction) for node in leaves(expression))


def _outside_no_event(expression: Expression) -> set[Expression]:
    """Nodes that are reached without passing `no_event`."""
    found: set[Expression] = set()
    stack = [expression]
    while stack:
        node = stack.pop()
        if node not in found:
            found.add(node)
            if not (isinstance(node, Operation) and node.operator.name == "no_event"):
                stack.extend(node.args)
    return found


def between_events(expression: Expression) -> Expression:
    """What is left of a frozen expression between events: relations are their cells."""

    def cell(node: Expression) -> Expression | None:
        live = isinstance(node, Operation) and node.operator.name == "where" and node.args[0] is Mark("live")
        return between_events(node.args[2]) if live else None

    return transform(expression, cell)


def _is_one_of(node: Expression, own: set[tuple[int, str]]) -> bool:
    return isinstance(node, Reference) and not node.order and (id(node.owner), node.name) in own


def bent_at(table: Table) -> np.ndarray:
    """Where the argument of a table is at a corner."""
    return table.x if table.method == "linear" else table.x[[0, -1]]


def _is_unknown(node: Expression) -> bool:
    return isinstance(node, Reference) and node.declaration.role != "parameter"


def _varies(node: Expression) -> bool:
    return isinstance(node, Time) or (isinstance(node, Reference) and not node.declaration.is_known)


def _may_jump(node: Expression) -> bool:
    """Whether it has steps in time: `floor` in `no_event`, the slope of a table."""
    steps = isinstance(node, Operation) and (node.operator.name in _STEPS or node.operator.logical)
    return (steps or isinstance(node, Call)) and any(isinstance(n, Time) for n in walk(node))


def is_affine_in_time(difference: Expression) -> bool:
    """Whether the slope in time is free of time, so that the crossing can be computed instead of searched."""
    from .differentiate import gradient

    if any(isinstance(n, Sum) or _may_jump(n) for n in walk(difference)):
        return False  # sums are rows of their own, and have no derivative here; of what jumps the derivative tells nothing
    clock = Time()
    slope = gradient(difference, [clock]).get(clock)
    return slope is None or not any(isinstance(n, Time) for n in walk(slope))
