"""Local definitions: an own variable that an equation states as a linear expression of others costs no unknown.

`self.v == self.p.v - self.n.v` with `v` used in this component only: `v` is replaced by its definition wherever it stands, and
computed again when somebody looks at it. Only linear definitions with few unknowns are taken, so that neither the convergence
of iterations nor the sparsity of the Jacobian suffers, and only variables that nobody else sees, differentiates, fixes or bounds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..language.expression import Expression, Reference, Sum, leaves, take, transform
from ..records import dataclass
from .affine import affine, is_linear_in_unknowns, unknowns_of
from .contribution import Coded, Contribution, coded, expressions
from .plant import Kind

if TYPE_CHECKING:
    from .hybrid import Rule
    from .traced import Traced, TracedEquation

_MOST_UNKNOWNS = 3  # in a definition: as many as a two-port's difference with a third term


@dataclass(slots=True, eq=False)
class Definition:
    """`name := expression` in every instance of a kind."""

    name: str
    expression: Expression
    equation: TracedEquation


def eliminate(
    traced: Traced, seen_elsewhere: set[tuple[int, str]], connected: np.ndarray, contribution: Contribution | None = None
) -> list[Definition]:
    """Take local definitions out of a kind's equations; they are replaced in the others (in place)."""
    blocked = _blocked(traced)
    plain = not traced.rules and not any(e.terms for e in [*traced.equations, *traced.initial])
    roots = [e.residual for e in [*traced.equations, *traced.initial]]
    described = contribution.described(roots) if contribution is not None and plain else None
    if contribution is None or described is None:
        return _eliminated(traced, blocked, seen_elsewhere, connected)
    free = [name for name in traced.kind.quantities if _may_go(traced.kind, name, blocked, seen_elsewhere, connected)]
    if not free:
        return []
    shapes = [e.shape for e in [*traced.equations, *traced.initial]]
    key = contribution.key("definitions", described, len(traced.equations), shapes, free)
    held = contribution.find(key)
    if held is not None:
        return _as_before(traced, held, described.objects)
    before = list(traced.equations)
    found = _eliminated(traced, blocked, seen_elsewhere, connected)
    after = [d.expression for d in found] + [e.residual for e in [*before, *traced.initial]]
    code = coded(after, described.objects) if found else Coded("", [])
    if code is not None:
        contribution.keep(key, [[[before.index(d.equation), d.name] for d in found], code])
    return found


def _as_before(traced: Traced, held: Any, leaves: list[Expression]) -> list[Definition]:
    """What `_eliminated` did to the same equations earlier."""
    which, code = held
    if not which:
        return []
    after = expressions(code, leaves)
    found = [Definition(name, after[k], traced.equations[place]) for k, (place, name) in enumerate(which)]
    for equation, residual in zip([*traced.equations, *traced.initial], after[len(found) :], strict=True):
        equation.residual = residual
    gone = {place for place, _ in which}
    traced.equations = [e for k, e in enumerate(traced.equations) if k not in gone]
    return found


def _eliminated(traced: Traced, blocked: set[str], seen_elsewhere: set[tuple[int, str]], connected: np.ndarray) -> list[Definition]:
    kind = traced.kind
    found: list[Definition] = []
    remaining = list(traced.equations)
    for equation in list(remaining):
        definition = _definition(kind, equation, blocked, seen_elsewhere, connected)
        if definition is None:
            continue
        remaining.remove(equation)
        found.append(definition)
        others: list[TracedEquation | Rule] = [*remaining, *traced.initial, *traced.rules]
        for other in others:
            other.residual = _substituted(other.residual, kind, definition)
            other.terms = [_substituted(t, kind, definition) for t in other.terms]
        for earlier in found[:-1]:
            earlier.expression = _substituted(earlier.expression, kind, definition)
    traced.equations = remaining
    return found


def _blocked(traced: Traced) -> set[str]:
    """Own variables that must stay: differentiated, or held in a sum (whose many rows would each repeat the definition)."""
    blocked: set[str] = set()
    blocked.update(r.target.name for r in traced.rules if r.role == "reinit" and r.target is not None)
    for equation in traced.reducible:
        for node in leaves(equation.residual, *equation.terms):
            if isinstance(node, Reference) and node.order:
                blocked.add(node.name)
        for term in equation.terms:
            blocked.update(r.name for r in unknowns_of(term))
    for name, quantity in traced.kind.quantities.items():
        said = [m.modifications[name] for m in traced.kind.members if name in m.modifications]
        if quantity.declaration.start is not None or any(m.get("fixed") or m.get("start") is not None for m in said):
            blocked.add(name)  # somebody said where it starts; a definition has no start
        ends = [quantity.declaration.min, quantity.declaration.max, *(m.get(end) for m in said for end in ("min", "max"))]
        if any(end is not None for end in ends):
            blocked.add(name)  # nor is a definition held to a range, or seen to leave it
    return blocked


def _definition(
    kind: Kind, equation: TracedEquation, blocked: set[str], elsewhere: set[tuple[int, str]], connected: np.ndarray
) -> Definition | None:
    if equation.terms:
        return None
    unknowns = unknowns_of(equation.residual)
    if not 2 <= len(unknowns) <= _MOST_UNKNOWNS + 1 or any(u.order for u in unknowns):
        return None
    form = affine(equation.residual)
    if form is not None and len(form.unknowns) == 2 and not form.knowns and not form.constant:
        return None  # an alias is cheaper still
    for candidate in unknowns:
        if not _is_free(kind, candidate, blocked, elsewhere, connected) or candidate.shape != equation.shape:
            continue
        if any(u.owner is candidate.owner and u.name == candidate.name for u in unknowns if u is not candidate):
            continue  # elements of its own: `y == a - y[::-1]` is a loop
        expression = _solved(equation.residual, candidate)
        if expression is not None and expression.shape in ((), candidate.shape):
            return Definition(candidate.name, expression, equation)
    return None


def _is_free(kind: Kind, candidate: Reference, blocked: set[str], elsewhere: set[tuple[int, str]], connected: np.ndarray) -> bool:
    if candidate.owner is not kind.representative or candidate.picked is not None:
        return False
    return _may_go(kind, candidate.name, blocked, elsewhere, connected)


def _may_go(kind: Kind, name: str, blocked: set[str], elsewhere: set[tuple[int, str]], connected: np.ndarray) -> bool:
    """Whether an own variable is nobody else's concern."""
    quantity = kind.quantities.get(name)
    if quantity is None:
        return False
    if quantity.connector is not None or quantity.role != "variable" or quantity.declaration.fixed is not False:
        return False
    if quantity.declaration.state in ("always", "prefer"):
        return False
    if name in blocked or (kind.index, name) in elsewhere:
        return False
    return not connected[quantity.base : quantity.base + kind.count * quantity.size].any()


def _solved(residual: Expression, unknown: Reference) -> Expression | None:
    """`residual == 0` solved for `unknown` if it stands there once, with coefficient ±1, and all is linear."""
    from ..language.expression import Constant, Operation

    if not is_linear_in_unknowns(residual):
        return None
    coefficient = _literal_coefficient(residual, unknown)
    if coefficient not in (1.0, -1.0):
        return None
    rest = transform(residual, lambda n: Constant(0.0) if n is unknown else None)
    if isinstance(rest, Operation) and rest.operator.name == "neg" and coefficient == 1.0:
        return rest.args[0]
    return -rest if coefficient == 1.0 else rest


def _literal_coefficient(residual: Expression, unknown: Reference) -> float | None:
    from ..language.expression import Constant
    from .differentiate import gradient

    partial = gradient(residual, [unknown]).get(unknown)
    return partial.value if isinstance(partial, Constant) else None


def _substituted(expression: Expression, kind: Kind, definition: Definition) -> Expression:
    def leaf(node: Expression) -> Expression | None:
        if isinstance(node, Reference) and node.owner is kind.representative and node.name == definition.name and not node.order:
            if node.picked is None or definition.expression.shape == ():
                return definition.expression
            return take(definition.expression, node.picked)
        return None

    return transform(expression, leaf)


def seen_from_elsewhere(all_traced: list[Traced]) -> set[tuple[int, str]]:
    """Quantities that another kind's equations, initial equations or parameter bindings name."""
    seen: set[tuple[int, str]] = set()
    for traced in all_traced:
        own = traced.kind.representative
        targets = [r.target for r in traced.rules if r.target is not None]
        seen.update((t.owner.kind.index, t.name) for t in targets if t.owner is not own)
        for equation in traced.reducible:
            for node in leaves(equation.residual, *equation.terms):
                if isinstance(node, Reference) and node.owner is not own:
                    seen.add((node.owner.kind.index, node.name))
                elif isinstance(node, Sum):
                    seen.update((r.owner.kind.index, r.name) for r in unknowns_of(node))
    return seen
